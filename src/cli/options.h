/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options that more than one verb has, each group of them with its own table and its own result, and what
 * verbs need to read theirs.
 */
#ifndef NTPROF_CLI_OPTIONS_H
#define NTPROF_CLI_OPTIONS_H

#include <argp.h>
#include <stdint.h>

#include "cli/run.h"
#include "core/points.h"
#include "core/select.h"
#include "view/format.h"

/*
 * The groups, to be children of a verb's table. What a group fills in is the child's input, and holds the
 * default before the command line is read. Keys of long options are a table's own. An option that several
 * verbs have has an argument in all of them or in none, because the verb may come after its options.
 */
extern const struct argp side_argp;   /* enum nt_side: NT_SIDES if none is named */
extern const struct argp source_argp; /* enum nt_source */
extern const struct argp
	measure_argp; /* struct run_options, of which a sample, a duration and whether to explain */
extern const struct argp run_argp;	 /* struct run_options: what every verb that traces has */
extern const struct argp blocks_argp;	 /* uint64_t: end after so many blocks */
extern const struct argp commands_argp;	 /* uint64_t: end after so many commands */
extern const struct argp histogram_argp; /* bool */
extern const struct argp format_argp;	 /* enum output_format */
extern const struct argp select_argp;	 /* struct select: by what is known when a command begins */
extern const struct argp limits_argp;	 /* struct limits: what network and drives can carry */
extern const struct argp
	config_argp; /* none: what the file says comes before the line, see cli/config.h */
extern const struct argp ended_argp; /* struct select: by how a command ended */

/* What run_argp fills in, before the command line is read. */
#define RUN_OPTIONS_DEFAULT                                                       \
	{                                                                         \
		.side = NT_SIDES, .source = NT_SOURCES, .interval_ns = 1000000000 \
	}

/* The sections of a help text, in their order. */
enum options_section {
	SECTION_SIDE = 1,
	SECTION_RUN,
	SECTION_SELECT,
	SECTION_VERBOSE,
	SECTION_NOTES,
};

/**
 * options_parse() - read a verb's command line
 * @argp: the verb's table
 * @argc, @argv: as the verb got them
 * @result: input of @argp's parser
 *
 * --help and --version print and exit with 0. Anything that is wrong gets a message and an exit
 * status of 64 (EX_USAGE), so this only returns when the command line was right.
 */
void options_parse(const struct argp *argp, int argc, char **argv, void *result);

/**
 * options_origins() - where words of the line that is about to be read come from
 * @origins: of each word "FILE:LINE" or NULL; needed as long as the line is being read. NULL: it is people's
 * @nr: how many words there are
 */
void options_origins(const char *const *origins, int nr);

/** options_origin() - "FILE:LINE" of the option that is being read, NULL where it is the command line's own */
const char *options_origin(const struct argp_state *state);

/** options_device() - at the end of a line: look up the device that commands are selected by, if there is one */
void options_device(const struct argp_state *state, struct select *s);

/** options_error() - say what is wrong and where the help is; exits with 64, does not return */
void options_error(const struct argp_state *state, const char *format, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/** options_no_word() - for ARGP_KEY_ARG of a verb that takes options only; does not return */
void options_no_word(const struct argp_state *state, const char *word) __attribute__((noreturn));

/**
 * options_time() - an option's argument that is a time, in nanoseconds
 * @state: of the parser
 * @option: its name
 * @text: the argument
 * @least: less is refused
 * @least_text: how people write @least
 */
uint64_t options_time(const struct argp_state *state, const char *option, const char *text,
		      uint64_t least, const char *least_text);

/** options_count() - an option's argument that is a number from 1 to @most */
uint64_t options_count(const struct argp_state *state, const char *option, const char *text,
		       uint64_t most);

#endif /* NTPROF_CLI_OPTIONS_H */
