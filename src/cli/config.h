/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --config FILE: options from an INI file, which are put before those of the command line, so that
 * one parser reads both. The sections are [all] and the verbs; the keys are the long names of
 * options. The sections of ntprof's configuration file are understood as well
 * (cli/config_ntprof.h).
 */
#ifndef NTPROF_CLI_CONFIG_H
#define NTPROF_CLI_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/verbs.h"

/*
 * The options of a configuration file and those of the command line, and which of them replace
 * which.
 */

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

/**
 * config_read() - put the file's options before those of the line
 * @l: filled; release it with config_free() in any case
 * @verbs: all verbs; the last one is NULL
 * @verb: the verb that will parse the line
 * @argc, @argv: the line, without the verb's name; the words have to stay valid as long as @l
 *
 * Without --config the line stays as it is. An option of the line replaces the file's, and an
 * option of the verb's section replaces that of [all].
 *
 * Return: 0, or the program's exit status, with a message on standard error that names file and
 * line.
 */
int config_read(struct config_line *l, const struct verb *const *verbs, const struct verb *verb,
		int argc, char **argv);

/** config_free() - release; @l may be all zeroes */
void config_free(struct config_line *l);

/*
 * Reads the lines of a configuration file. The path may name anything, so memory is bounded and
 * opening does not block.
 */

/*
 * The longest line, with its terminator: room for an NQN, a path or a command. A longer line is an
 * error.
 */
#define CONFIG_LINE_MAX 4096
/* A longer file is an error: it is no configuration. */
#define CONFIG_BYTES_MAX (1u << 20)

/**
 * struct config_file - a file while it is read
 * @f: NULL before config_file_open() and after config_file_close()
 * @line: number of the last line that was read, from 1
 * @text: that line, without the line feed and without blanks at its start
 */
struct config_file {
	FILE *f;
	unsigned int line;
	size_t bytes;
	char text[CONFIG_LINE_MAX];
};

/**
 * config_file_open() - open a file; @c: all zeroes
 *
 * Files that would block, such as a FIFO, are refused.
 *
 * Return: NULL, or the reason for the failure, to follow "cannot read PATH: ".
 */
const char *config_file_open(struct config_file *c, const char *path);

/**
 * config_file_next() - read a line
 * @wrong: the error, or NULL at the end of the file; a text to follow the line's number
 *
 * Return: whether there is a line.
 */
int config_file_next(struct config_file *c, const char **wrong);

/** config_file_close() - close; @c may be not open */
void config_file_close(struct config_file *c);

/*
 * Scans a command line before a verb parses it, with the options of all verbs at once: the verb may
 * come after options with arguments, and an option may belong to another verb.
 */

struct scan;

/**
 * scan_new() - collect the options of all verbs
 * @verbs: all verbs; the last one is NULL
 *
 * Return: release it with scan_free(); NULL if memory ran out.
 */
struct scan *scan_new(const struct verb *const *verbs);

/**
 * scan_verb() - find the verb's name
 * @s: from scan_new()
 * @argc, @argv: from main()
 * @help: set if --help comes before the verb
 *
 * Return: index of the first word that is neither an option nor an option's argument; 0 if there is
 * none, or if an option that no verb has comes before it.
 */
int scan_verb(const struct scan *s, int argc, char **argv, bool *help);

/**
 * scan_foreign() - find an option that only other verbs have
 * @s: from scan_new()
 * @verb: the verb that will parse the line
 * @argc, @argv: the line, without the verb's name
 *
 * Return: the long name of the first one; NULL if there is none before --help or before an option
 * that no verb has.
 */
const char *scan_foreign(const struct scan *s, const struct verb *verb, int argc, char **argv);

/**
 * scan_each() - call a function for each option of a line
 * @s: from scan_new()
 * @argc, @argv: the line, without the verb's name
 * @fn: gets the option's long name, which stays valid, and its argument or NULL
 *
 * Return: whether the whole line was scanned: false if it has --help or an option that no verb has.
 */
bool scan_each(const struct scan *s, int argc, char **argv,
	       void (*fn)(void *context, const char *option, const char *arg), void *context);

/**
 * scan_option() - the long name of an option that @verb has, as in its table; @argument: set if it
 * takes one
 */
const char *scan_option(const struct verb *verb, const char *option, bool *argument);

/** scan_has() - whether @verb has the option with the long name @option */
bool scan_has(const struct verb *verb, const char *option);

/** scan_free() - NULL is fine */
void scan_free(struct scan *s);

#endif /* NTPROF_CLI_CONFIG_H */
