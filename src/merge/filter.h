/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which recorded commands a report is of: a selection as tracing knows it, and what only recordings tell, when a
 * command began and how long its stages took.
 */
#ifndef NTPROF_MERGE_FILTER_H
#define NTPROF_MERGE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/select.h"
#include "core/segments.h"
#include "merge/connection.h"
#include "merge/merged_stages.h"

/* Conditions that one report may have: one for each stage, and both ends of some of them. */
#define FILTER_CONDITIONS_MAX 16u

enum filter_relation { FILTER_ABOVE, FILTER_ABOVE_OR, FILTER_BELOW, FILTER_BELOW_OR, FILTER_SAME };

/* In place of a stage: the command takes no part of its name, but is measured as a whole. */
#define FILTER_NO_STAGE 0xff

/**
 * struct filter_condition - such as network_transmission>1ms
 * @latency: of the whole command; else of a stage:
 * @merged: one of the ten, FILTER_NO_STAGE if none has the name
 * @of_side: [side] one of the side's, FILTER_NO_STAGE if none has the name
 * @relation: what it has to be to @ns
 */
struct filter_condition {
	bool latency;
	uint8_t merged;
	uint8_t of_side[NT_SIDES];
	enum filter_relation relation;
	uint64_t ns;
};

/**
 * struct filter - all of what is given has to be so; all zeroes: every command
 * @select: by what the records say
 * @from_ns, @to_ns: when it began, after its recording did; @to_ns 0: at any time
 * @condition: @nr of them
 * @how: of the machines that were asked for last, where @has_how
 */
struct filter {
	struct select select;
	uint64_t from_ns;
	uint64_t to_ns;
	struct filter_condition condition[FILTER_CONDITIONS_MAX];
	unsigned int nr;
	struct merged_split how;
	bool has_how;
};

/** filter_any() - whether there may be a command that is not in it */
bool filter_any(const struct filter *f);

/**
 * filter_time(), filter_where() - read the argument of an option: FROM-TO, of which one may be left out, and
 * STAGE>TIME
 *
 * Return: NULL, or why it is none, in words that follow it.
 */
const char *filter_time(struct filter *f, const char *text);
const char *filter_where(struct filter *f, const char *text);

/**
 * filter_takes_matched() - whether a command is in it
 * @f: its @how may be filled anew
 * @c: its connection
 * @host, @target: its records
 * @missing: [side] bits of the points that nothing gives on its machines
 * @began_ns: when the host's recording did, its CLOCK_MONOTONIC
 */
bool filter_takes_matched(struct filter *f, const struct merge_connection *c,
			  const struct nt_record *host, const struct nt_record *target,
			  const uint32_t missing[NT_SIDES], uint64_t began_ns);

/** filter_takes_single() - the same of a command of which there is only one side's record */
bool filter_takes_single(const struct filter *f, const struct merge_connection *c,
			 const struct nt_record *r, uint32_t missing, uint64_t began_ns);

/**
 * filter_takes() - the same of a command whose queue is known to be in it, by selects_queue()
 * @how: its machine's
 */
bool filter_takes(const struct filter *f, const struct nt_record *r, const struct stage_split *how,
		  uint64_t began_ns);

/**
 * filter_seconds() - how much of a recording is in it
 * @began_ns: when the recording did
 * @first_ns, @last_ns: when the first of all its commands began, and the last one ended
 */
double filter_seconds(const struct filter *f, uint64_t began_ns, uint64_t first_ns,
		      uint64_t last_ns);

/** filter_bounds() - what is left of a time from @from to @to, both nanoseconds after a recording began */
void filter_bounds(const struct filter *f, uint64_t *from, uint64_t *to);

#endif /* NTPROF_MERGE_FILTER_H */
