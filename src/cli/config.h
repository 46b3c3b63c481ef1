/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --config FILE: options from an INI file, which are put before those of the command line, so that
 * one parser reads both. The sections are [all] and the verbs; the keys are the long names of
 * options. The sections of ntprof's configuration file are understood as well
 * (cli/config_ntprof.h).
 */
#ifndef NTPROF_CLI_CONFIG_H
#define NTPROF_CLI_CONFIG_H

#include "cli/config_words.h"
#include "cli/verbs.h"

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

#endif /* NTPROF_CLI_CONFIG_H */
