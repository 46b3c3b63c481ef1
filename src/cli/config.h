/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --config FILE: options out of an INI file, as words that the option parser takes before those of the command
 * line. Its sections are [all] and the verbs, its keys the long names of their options; the sections of ntprof's
 * configuration file are understood as well: cli/config_ntprof.h.
 */
#ifndef NTPROF_CLI_CONFIG_H
#define NTPROF_CLI_CONFIG_H

#include "cli/config_words.h"
#include "cli/verbs.h"

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
