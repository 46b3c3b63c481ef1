/* SPDX-License-Identifier: GPL-2.0-only */
/* The verbs, one file each. */
#ifndef NTPROF_CLI_VERBS_H
#define NTPROF_CLI_VERBS_H

#include <argp.h>

/**
 * struct verb - a verb of the program
 * @name: the word on the command line
 * @summary: a line for the list of verbs
 * @argp: its options and its help text
 * @main: parses the options and runs the verb; @argv[0] is the program's name for messages and
 *        help, and the verb's name is not among the other words. Returns the program's exit status.
 */
struct verb {
	const char *name;
	const char *summary;
	const struct argp *argp;
	int (*main)(int argc, char **argv);
};

/* Flags of options in argp tables, in bits that argp has no use for. */
/* It can be given several times, and the values are combined. */
#define OPTION_REPEATS 0x1000
/*
 * It runs a command, writes to a path, replaces or removes files, listens, or decides about the
 * flight recorder, which replaces all of its files if it is set off without end, and takes memory.
 * A file that other users may write to does not give it.
 */
#define OPTION_ACTS 0x2000
/* SIGHUP changes it; all others take a restart. */
#define OPTION_RELOADS 0x4000

/* All verbs, in the order in which the help lists them; the last one is NULL. */
extern const struct verb *const all_verbs[];

extern const struct verb verb_live;   /* the live view; also without a verb */
extern const struct verb verb_trace;  /* one line a command, on standard output */
extern const struct verb verb_record; /* raw records, to a file or a pipe */
extern const struct verb verb_report; /* merges recorded streams; needs neither root nor BPF */
/*
 * Shows which points this kernel offers. Exits with 0 if all points that bound stages are there, 1
 * on an error, 2 if some are there, 3 if too few for tracing.
 */
extern const struct verb verb_probes;
extern const struct verb verb_serve;  /* OpenMetrics by HTTP */
extern const struct verb verb_stacks; /* the kernel stacks that submit commands */
extern const struct verb verb_paths;  /* from the CPUs of each queue to its network card */

#endif /* NTPROF_CLI_VERBS_H */
