/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line: what the user asked for, checked.
 */
#ifndef NTPROF_CLI_OPTIONS_H
#define NTPROF_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/points.h"
#include "peer/live_merge.h"

enum verb {
	VERB_LIVE, /* the default one, which has no name */
	VERB_TRACE,
	VERB_RECORD,
	VERB_REPORT,
	VERB_PROBES,
	VERBS_NR,
};

/* More hosts and targets than anybody would look at together. */
#define REPORT_FILES_MAX 256u
/* Of fewer commands than one in so many nobody learns anything. */
#define SAMPLE_MAX 1000000u

/**
 * struct options - what to do
 * @verb: which of them
 * @side: host or target
 * @source: where points come from; NT_SOURCES is the best that there is
 * @any_side: probes: no side was named, so both are meant
 * @json: probes: print JSON
 * @interval_ns: time between two blocks of the live view
 * @duration_ns: end after this time; 0 is never
 * @count: end after this many intervals (live view) or commands (trace, record); 0 is never
 * @sample: measure about one command in so many; 0 and 1: every one
 * @slower_ns: trace only commands that took at least this long
 * @summary: trace: print the summary of the run as well, on standard error
 * @output: record: where to, "-" is standard output
 * @force: record: replace a file that exists
 * @max_bytes: record: end before the stream gets larger; 0 is never
 * @peers, @nr_peers: live: commands that bring a target's stream, or files; at most PEERS_MAX
 * @files, @nr_files: report: the streams to read
 * @slowest: report: tell the story of so many of the slowest commands
 * @commands: report: a line for each command
 * @histogram: print full-size histograms
 * @verbose: explain
 */
struct options {
	enum verb verb;
	enum nt_side side;
	enum nt_source source;
	uint64_t interval_ns;
	uint64_t duration_ns;
	uint64_t count;
	uint64_t slower_ns;
	uint32_t sample;
	char *peers[PEERS_MAX];
	unsigned int nr_peers;
	char **files;
	unsigned int nr_files;
	unsigned int slowest;
	bool commands;
	const char *output;
	uint64_t max_bytes;
	bool any_side;
	bool json;
	bool force;
	bool summary;
	bool histogram;
	bool verbose;
};

/**
 * options_parse() - read the command line
 * @o: filled
 * @argc, @argv: as main() got them
 *
 * --help and --version print and exit with 0. Anything that is wrong gets a message and an exit
 * status of 64 (EX_USAGE), so this only returns when the command line was right.
 */
void options_parse(struct options *o, int argc, char **argv);

#endif /* NTPROF_CLI_OPTIONS_H */
