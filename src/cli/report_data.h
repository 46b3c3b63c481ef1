/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of the verb report. */
#ifndef NTPROF_CLI_REPORT_DATA_H
#define NTPROF_CLI_REPORT_DATA_H

#include <stdbool.h>
#include <stdio.h>

#include "merge/blocked.h"
#include "merge/blocks.h"
#include "merge/clock_alignment.h"
#include "merge/depths.h"
#include "merge/details.h"
#include "merge/filter.h"
#include "merge/merge.h"
#include "merge/places.h"
#include "merge/tcp_history.h"
#include "merge/timeline.h"
#include "merge/totals.h"
#include "merge/unmatched.h"
#include "merge/why.h"
#include "stream/reader.h"
#include "view/columns_groups.h"
#include "view/limits.h"
#include "view/perfetto.h"
#include "view/view.h"

/**
 * struct report - the state while it reads, groups and prints
 * @inputs: @nr of them
 * @unmatched: [input] its own figures, until something of it is matched
 * @places: [input] its names of places
 * @matched: [input] something of it is matched
 * @alone: [input] there is no recording of the other side to merge with
 * @merged: totals of merged commands
 * @edges: [input] times of its bursts
 * @cut: records of one side only, because the other side's burst did not cover the command
 * @filter: the commands that are reported
 * @depths: [input] which of its commands found few in flight; NULL: @filter does not ask for it
 * @nr_matched, @nr_taken: merged commands, and those of them that @filter selects
 * @commands: print a line for each command
 * @choice: the groups that were asked for; NULL: none
 * @groups: groups of merged commands
 * @how: how the commands of the last pair of machines are split for @groups
 * @limits: the rates that network and drives can carry; NULL: not given
 * @limited: the traffic to compare with them, until @limited_ns
 * @with_stages: show the table of stages beside the groups: figures were asked for, but no groups
 * @figures: of the intervals in @details; NULL without
 * @first_ns, @last_ns: when the first merged command began and the last one ended, after the start
 *                      of their hosts' recordings
 * @burst_ns: [input] time in which it was recorded, if in bursts; 0: all of its time
 * @verbose: show each queue of a connection
 * @timeline: what pictures of merged commands need; NULL: no pictures
 * @html: the file that they are written to; NULL: none
 * @trace: the file that @perfetto is written to; NULL: none
 * @fio: work for fio; NULL: none
 * @blocks: the commands in blocks of time, to be compared with another recording's; NULL: not
 * compared
 * @slowest: how many of merged.slowest all other outputs show
 * @why: where slow commands come from; with @with_why all that is known of it is printed
 * @blocked: what others did meanwhile, of the slowest; NULL: not known
 * @tcp: what the recordings say of their TCP connections; with @with_tcp it is printed
 * @nr_retransmitted: matched commands with NT_F_RETRANSMITTED
 * @files: names of the inputs
 * @pcap: filters for captures of this many of them
 * @path_events: what happened to hosts' controllers; &nt_path_event.input is their input
 * @input_events: the same of each input, while they are read
 * @format: format of the output
 * @result: error of the merge's callbacks
 */
struct report {
	struct input *inputs;
	struct unmatched *unmatched;
	struct places **places;
	bool *matched;
	bool *alone;
	unsigned int nr;
	struct merge *merge;
	struct machines machines;
	struct totals merged;
	struct edges *edges;
	uint64_t cut;
	struct filter *filter; /* NULL: all of them */
	struct depths **depths;
	uint64_t nr_matched;
	uint64_t nr_taken;
	bool commands;
	const struct group_choice *choice;
	struct groups *groups;
	struct merged_split how;
	struct limits *limits;
	struct groups *limited;
	uint64_t limited_ns;
	bool with_stages;
	const struct figures *figures;
	struct details *details;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t *burst_ns;
	bool verbose;
	struct timeline *timeline;
	FILE *html;
	FILE *trace;
	struct perfetto *perfetto;
	struct fio *fio;
	struct blocks *blocks;
	unsigned int slowest;
	struct blocked_reader *blocked;
	struct why *why;
	bool with_why;
	struct tcp_history tcp;
	bool with_tcp;
	uint64_t nr_retransmitted;
	char **files;
	unsigned int pcap;
	struct path_events path_events;
	struct path_events *input_events;
	enum output_format format;
	int result;
};

/** report_several_hosts() - whether there are recordings of more than one host */
static inline bool report_several_hosts(const struct report *r)
{
	unsigned int hosts = 0;

	for (unsigned int i = 0; i < r->nr; i++)
		hosts += r->inputs[i].begun && r->inputs[i].header.side == NT_HOST;
	return hosts > 1;
}

#endif /* NTPROF_CLI_REPORT_DATA_H */
