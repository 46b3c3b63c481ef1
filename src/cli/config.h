/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --config FILE: options from an INI file, which are put before those of the command line, so that
 * one parser reads both. The sections are [all] and the verbs; the keys are the long names of
 * options. The sections of ntprof's configuration file are understood as well
 * (cli/config_ntprof.h).
 */
#ifndef NTPROF_CLI_CONFIG_H
#define NTPROF_CLI_CONFIG_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/verbs.h"

/* Options that one file can give. */
#define CONFIG_WORDS_MAX 256
/*
 * The longest line, with its terminator: room for an NQN, a path or a command. A longer line is an
 * error.
 */
#define CONFIG_LINE_MAX 4096
/* A longer file is an error: it is no configuration. */
#define CONFIG_BYTES_MAX (1u << 20)

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

/* The arguments of the last config_read() can be read again, with the present contents of the file.
 */

/**
 * config_searches() - whether reading the file again needs CAP_DAC_READ_SEARCH
 *
 * This is so if the file is in a folder of another user, such as the one that called sudo, or if
 * only that user may read it.
 */
bool config_searches(void);

/**
 * config_reload() - read the command line again, in a process of its own
 * @parse: called in that process with the line; fills @result, of @size bytes, which must not
 *         contain pointers
 *
 * An error in the line prints a message and ends that process only, as it would end this program at
 * its start. Options that have changed and are not OPTION_RELOADS are named in messages. The caller
 * waits for the process, for about a second at most.
 *
 * Return: 0 with @result filled, or a negative errno, -ECANCELED if a message has been printed.
 */
int config_reload(void (*parse)(int argc, char **argv, void *context, void *result), void *context,
		  void *result, size_t size);

/* Finds the options of a command line before a verb parses it. */

/* More than all verbs have. */
#define SCAN_OPTIONS_MAX 128

/* struct scan - the options of some verbs, each once; those that argp adds come first */
struct scan {
	const struct argp_option *options[SCAN_OPTIONS_MAX];
	unsigned int nr;
	struct option longs[SCAN_OPTIONS_MAX + 1];
	char shorts[2 * SCAN_OPTIONS_MAX + 2];
};

/* Results of scan_next(): an index of @options, SCAN_HELP and above, or one of those below 0. */
enum { SCAN_ERROR = -3, SCAN_WORD, SCAN_END, SCAN_HELP, SCAN_OWN = SCAN_HELP + 3 };

/** scan_begin() - begin with the options of these verbs; the last one is NULL */
void scan_begin(struct scan *s, const struct verb *const *verbs);

/**
 * scan_next() - the next option or word of a line; as of getopt(3), optarg is an option's argument
 * and optind the index behind it
 *
 * Return: SCAN_HELP up to SCAN_OWN for an option that argp adds and acts on at once; SCAN_OWN and
 * above for another one; SCAN_ERROR for one that no verb has.
 */
int scan_next(struct scan *s, int argc, char **argv);

/** verb_option() - the option of @verb with this long name; NULL if there is none */
const struct argp_option *verb_option(const struct verb *verb, const char *name);

#endif /* NTPROF_CLI_CONFIG_H */
