/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that a configuration file says, beside those of the command line: which of them takes whose place. */
#ifndef NTPROF_CLI_CONFIG_WORDS_H
#define NTPROF_CLI_CONFIG_WORDS_H

#include <stdbool.h>

/* Options that one file gives. */
#define CONFIG_WORDS_MAX 256

/**
 * struct config_line - a command line with what its file says
 * @argc, @argv: in place of main()'s: the program's name, the file's options, the line's words
 * @origins: of each word in @argv "FILE:LINE", NULL where it is the command line's own
 */
struct config_line {
	int argc;
	char **argv;
	char **origins;
};

/* Who says an option: section [all], that of the verb, the command line. What comes later takes its place. */
enum config_level { CONFIG_OF_ALL, CONFIG_OF_VERB, CONFIG_OF_LINE };

/**
 * struct config_word - an option that is said
 * @option: its long name
 * @text: as the parser takes it, allocated; NULL of the command line's
 */
struct config_word {
	const char *option;
	char *text;
	unsigned int line;
	enum config_level level;
};

/** struct config_words - @nr of them; begins as all zeroes */
struct config_words {
	struct config_word word[CONFIG_WORDS_MAX];
	unsigned int nr;
};

/** config_words_add() - one more; @text belongs to it then, and is released where there is no room; Return: whether there was */
bool config_words_add(struct config_words *w, const char *option, char *text, unsigned int line,
		      enum config_level level);

/** config_words_act() - whether an option names a command or a path to write to, or allows more to those */
bool config_words_act(const char *option);

/** config_words_has() - whether it is said there */
bool config_words_has(const struct config_words *w, const char *option, enum config_level level);

/**
 * config_words_before() - whether an option that can be given once is there already, in the same place
 *
 * Return: the line that says so; 0 if none does, or if the option can be given several times, and then means all of it.
 */
unsigned int config_words_before(const struct config_words *w, const char *option,
				 enum config_level level);

/** config_words_replaced() - whether what is said in another place takes that of @option at @level */
bool config_words_replaced(const struct config_words *w, const char *option,
			   enum config_level level);

/**
 * config_words_put() - the command line with what is left of the file's options in front
 * @path: of the file
 * @argc, @argv, @l: see config_read()
 *
 * Return: 0 or -ENOMEM.
 */
int config_words_put(struct config_words *w, const char *path, int argc, char **argv,
		     struct config_line *l);

/** config_words_free() - release */
void config_words_free(struct config_words *w);

#endif /* NTPROF_CLI_CONFIG_WORDS_H */
