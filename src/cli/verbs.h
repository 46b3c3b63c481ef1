/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verbs, one file each.
 */
#ifndef NTPROF_CLI_VERBS_H
#define NTPROF_CLI_VERBS_H

#include "cli/options.h"

/** verb_live() - the live view; Return: the program's exit status */
int verb_live(const struct options *o);

/** verb_trace() - one line a command on standard output; Return: the program's exit status */
int verb_trace(const struct options *o);

/** verb_record() - raw records into a file or pipe; Return: the program's exit status */
int verb_record(const struct options *o);

/** verb_report() - merge recorded streams; needs no root and no BPF; Return: the exit status */
int verb_report(const struct options *o);

/** verb_probes() - what this kernel offers; Return: 0 every point, 1 error, 2 some, 3 too few to trace */
int verb_probes(const struct options *o);

#endif /* NTPROF_CLI_VERBS_H */
