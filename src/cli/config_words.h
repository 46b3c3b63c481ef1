/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options of a configuration file and those of the command line, and which of them replace
 * which.
 */
#ifndef NTPROF_CLI_CONFIG_WORDS_H
#define NTPROF_CLI_CONFIG_WORDS_H

#include <stdbool.h>

/* Options that one file can give. */
#define CONFIG_WORDS_MAX 256

/**
 * struct config_line - a command line that includes the options of a file
 * @argc, @argv: to use in place of main()'s: the program's name, the file's options, the line's
 *               words
 * @origins: for each word in @argv "FILE:LINE", NULL if it is from the command line
 */
struct config_line {
	int argc;
	char **argv;
	char **origins;
};

/*
 * Where an option is given: in section [all], in the verb's section, on the command line. A later
 * one of these replaces an earlier one.
 */
enum config_level { CONFIG_OF_ALL, CONFIG_OF_VERB, CONFIG_OF_LINE };

/**
 * struct config_word - an option that was given
 * @option: its long name
 * @text: as the parser takes it, allocated; NULL if it is from the command line
 */
struct config_word {
	const char *option;
	char *text;
	unsigned int line;
	enum config_level level;
};

/** struct config_words - @nr options; all zeroes at first */
struct config_words {
	struct config_word word[CONFIG_WORDS_MAX];
	unsigned int nr;
};

/**
 * config_words_add() - add an option; takes over @text, and frees it if there is no room
 *
 * Return: whether there was room.
 */
bool config_words_add(struct config_words *w, const char *option, char *text, unsigned int line,
		      enum config_level level);

/**
 * config_words_act() - whether an option names a command or a path to write to, or permits more to
 * these
 */
bool config_words_act(const char *option);

/** config_words_has() - whether the option is given at @level */
bool config_words_has(const struct config_words *w, const char *option, enum config_level level);

/**
 * config_words_before() - find an earlier line of the same level with the same option
 *
 * Return: that line's number; 0 if there is none, or if the option can be given several times.
 */
unsigned int config_words_before(const struct config_words *w, const char *option,
				 enum config_level level);

/** config_words_replaced() - whether an option of a later level replaces @option at @level */
bool config_words_replaced(const struct config_words *w, const char *option,
			   enum config_level level);

/**
 * config_words_put() - make the command line, with the file's options that were not replaced before
 * its words
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
