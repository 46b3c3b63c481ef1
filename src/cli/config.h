/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --config FILE: options out of an INI file, as words that the option parser takes before those of the command
 * line. Its sections are [all] and the verbs, its keys the long names of their options; the sections of ntprof's
 * configuration file are understood as well: cli/config_ntprof.h.
 */
#ifndef NTPROF_CLI_CONFIG_H
#define NTPROF_CLI_CONFIG_H

#include "cli/verbs.h"

/* A line that is longer is refused: room for an NQN, a path or a command. */
#define CONFIG_LINE_MAX 4096
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

/**
 * config_read() - put the file's options before those of the line
 * @l: filled; release it with config_free() in any case
 * @verbs: all verbs; the last one is NULL
 * @verb: the one that will read the line
 * @argc, @argv: the line, without the verb's name; its words are needed as long as @l is
 *
 * Without --config the line is what it was. An option of the line takes the place of the file's, and one of
 * the verb's section that of [all].
 *
 * Return: 0, or the program's exit status with a message on standard error: what is wrong, by file and line.
 */
int config_read(struct config_line *l, const struct verb *const *verbs, const struct verb *verb,
		int argc, char **argv);

/** config_free() - also of one that is all zeroes */
void config_free(struct config_line *l);

#endif /* NTPROF_CLI_CONFIG_H */
