/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options that several verbs have, in groups with a table and a result of their own, and what verbs
 * need to parse their own options.
 */
#ifndef NTPROF_CLI_OPTIONS_H
#define NTPROF_CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/run.h"
#include "core/select.h"
#include "peer/live_merge.h"
#include "shared/points.h"
#include "view/columns_groups.h"
#include "view/view.h"

/*
 * The groups, to be children of a verb's argp table. Each group fills in its child's input, which
 * holds the defaults before. Each table has its own keys for long options. An option of several
 * verbs has an argument in all of them or in none, because the verb may come after its options.
 */
extern const struct argp side_argp;	     /* enum nt_side: NT_SIDES if none is named */
extern const struct argp source_argp;	     /* enum nt_source */
extern const struct argp measure_argp;	     /* struct run_options: sample, duration, verbose */
extern const struct argp run_argp;	     /* struct run_options: for verbs that trace */
extern const struct argp blocks_argp;	     /* uint64_t: end after this many blocks */
extern const struct argp commands_argp;	     /* uint64_t: end after this many commands */
extern const struct argp histogram_argp;     /* bool */
extern const struct argp format_argp;	     /* enum output_format */
extern const struct argp report_format_argp; /* the same, with lines */
extern const struct argp select_argp;	/* struct select: by facts known when a command begins */
extern const struct argp limits_argp;	/* struct limits: what network and drives can carry */
extern const struct argp config_argp;	/* none: see cli/config.h */
extern const struct argp standard_argp; /* none: --help and the like, which all verbs have */
extern const struct argp ended_argp;	/* struct select: by how a command ended */

/* The defaults for run_argp. */
#define RUN_OPTIONS_DEFAULT                                                       \
	{                                                                         \
		.side = NT_SIDES, .source = NT_SOURCES, .interval_ns = 1000000000 \
	}

/*
 * The sections of a help text, in order. Within a section, options are in the order of the tables:
 * those of a table before those of its children.
 */
enum options_section {
	SECTION_WATCH = 1,
	SECTION_SELECT,
	SECTION_SHOW,
	SECTION_TIME,
	SECTION_FLIGHT,
	SECTION_OUTPUT,
	SECTION_OTHER,
	SECTION_NOTES,
};

/**
 * options_parse() - read a verb's command line
 * @argp: the verb's table
 * @argc, @argv: as the verb got them
 * @result: input of @argp's parser
 *
 * --help and --version print and exit with 0. Any error prints a message and exits with 64
 * (EX_USAGE), so this returns only if the command line is right.
 */
void options_parse(const struct argp *argp, int argc, char **argv, void *result);

/**
 * options_origins() - set the origins of the words of the line that is parsed next
 * @origins: for each word "FILE:LINE", or NULL if it is from the command line; needed until the
 *           line is parsed. NULL: all are from the command line
 * @nr: number of words
 */
void options_origins(const char *const *origins, int nr);

/** options_error() - print the fault, and how to get help; exits with 64, does not return */
void options_error(const struct argp_state *state, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/** options_no_word() - for ARGP_KEY_ARG of a verb that takes options only; does not return */
void options_no_word(const struct argp_state *state, const char *word) __attribute__((noreturn));

/**
 * options_time() - parse an option's argument that is a time; an error does not return
 * @state: of the parser
 * @option: the option's name
 * @text: the argument
 * @least: the least time that is allowed
 * @least_text: @least as users write it
 *
 * Return: nanoseconds.
 */
uint64_t options_time(const struct argp_state *state, const char *option, const char *text,
		      uint64_t least, const char *least_text);

/** options_count() - parse an option's argument that is a number from 1 to @most */
uint64_t options_count(const struct argp_state *state, const char *option, const char *text,
		       uint64_t most);

/*
 * The options for the groups that rows are made of, and for their figures: a child of a verb's argp
 * table.
 */

extern const struct argp group_argp; /* struct group_options */

/**
 * struct group_options - the groups and figures that were asked for
 * @who: GROUP_LIVE or GROUP_REPORT
 * @by, @stats: --by and --stats were given
 */
struct group_options {
	unsigned int who;
	bool by;
	bool stats;
	struct group_choice choice;
};

/**
 * group_options_end() - call at the end of the command line: if figures were asked for without
 * groups, sets the default groups, which are ctrl,queue,op for live and op for report
 */
void group_options_end(struct group_options *o);

/* The options for peers: a child of a verb's argp table. */

/**
 * struct peer_options - the peers
 * @source: @nr commands that bring a stream of the other side, or files
 * @machine: the name of the machine that a command stands for; NULL where a command or file was
 * given
 * @as_root: run the commands as root also if another user called sudo
 */
struct peer_options {
	char *source[PEERS_MAX];
	const char *machine[PEERS_MAX];
	unsigned int nr;
	bool as_root;
};

extern const struct argp peer_argp; /* struct peer_options */

/**
 * peer_options_end() - call at the end of the command line: what is the name of a machine becomes
 * the command that it stands for
 * @side: of this machine; peers record the other one
 * @fine: with finer points, which need peers
 */
void peer_options_end(const struct argp_state *state, struct peer_options *o, enum nt_side side,
		      bool fine);

/* Error messages with names that come from outside, such as those of files. */

/**
 * message() - print a line on standard error, after "ntprof-bpf: "
 *
 * Control characters, which a terminal would obey, and bytes that are not UTF-8 become question
 * marks.
 */
__attribute__((format(printf, 1, 2))) void message(const char *format, ...);

#endif /* NTPROF_CLI_OPTIONS_H */
