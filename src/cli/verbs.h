/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verbs, one file each.
 */
#ifndef NTPROF_CLI_VERBS_H
#define NTPROF_CLI_VERBS_H

#include <argp.h>

/**
 * struct verb - what the program can be asked to do
 * @name: the word on the command line
 * @summary: a line for the list of verbs
 * @argp: its options, and its help text
 * @main: parses its options and does it; @argv[0] is the program's name in messages and help, the verb is
 *	not among the rest. Returns the program's exit status
 */
struct verb {
	const char *name;
	const char *summary;
	const struct argp *argp;
	int (*main)(int argc, char **argv);
};

extern const struct verb verb_live;   /* the live view, which is also what no verb means */
extern const struct verb verb_trace;  /* one line a command on standard output */
extern const struct verb verb_record; /* raw records into a file or pipe */
extern const struct verb verb_report; /* merge recorded streams; needs no root and no BPF */
/* What this kernel offers; exits with 0 for every point that bounds a stage, 1 for an error, 2 for some, 3 for too few. */
extern const struct verb verb_probes;
extern const struct verb verb_serve;  /* OpenMetrics by HTTP */
extern const struct verb verb_stacks; /* kernel stacks that submit commands */

#endif /* NTPROF_CLI_VERBS_H */
