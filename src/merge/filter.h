/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decides which recorded commands are in a report: by a selection, as in tracing, and by what only
 * recordings have: when a command began and how long its stages took.
 */
#ifndef NTPROF_MERGE_FILTER_H
#define NTPROF_MERGE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/select.h"
#include "core/segments.h"
#include "core/time.h"
#include "merge/connection.h"
#include "merge/merged_stages.h"

/*
 * The most conditions of one report: one for each stage, and for some of them both a lower and an
 * upper one.
 */
#define FILTER_CONDITIONS_MAX 16u

enum filter_relation { FILTER_ABOVE, FILTER_ABOVE_OR, FILTER_BELOW, FILTER_BELOW_OR, FILTER_SAME };

/* In place of a stage: none of them has the name of the condition. */
#define FILTER_NO_STAGE 0xff

/**
 * struct filter_condition - one condition, such as network_transmission>1ms
 * @latency: it is for the whole command, not for a stage
 * @merged: one of the ten stages, or NT_MERGED_STAGES_NR + a part of the network; FILTER_NO_STAGE
 * if none has the name
 * @of_side: [side] one of the side's own stages, FILTER_NO_STAGE if none has the name
 * @relation: how the time has to compare with @ns
 */
struct filter_condition {
	bool latency;
	uint8_t merged;
	uint8_t of_side[NT_SIDES];
	enum filter_relation relation;
	uint64_t ns;
};

/* What the FROM or the TO of --time is. */
enum filter_instant_kind {
	FILTER_OPEN,	   /* left out */
	FILTER_AFTER,	   /* so long after the recording began */
	FILTER_BEFORE_END, /* so long before its last command ended */
	FILTER_WALL,	   /* by the wall clock of its machine */
};

/** struct filter_instant - FROM or TO; @ns: of FILTER_AFTER and FILTER_BEFORE_END */
struct filter_instant {
	enum filter_instant_kind kind;
	uint64_t ns;
	struct wall_time wall;
};

/* The most times of one report. */
#define FILTER_TIMES_MAX 16u

/**
 * struct filter_span - the times of one recording that a filter takes
 * @part: @nr of them, in order and without overlaps; CLOCK_MONOTONIC of the recording, @to_ns
 *        exclusive
 */
struct filter_span {
	unsigned int nr;
	struct filter_part {
		uint64_t from_ns;
		uint64_t to_ns;
	} part[FILTER_TIMES_MAX];
};

/**
 * struct filter - a command has to meet all that is set; all zeroes: every command is taken
 * @select: what the records say
 * @time: when it began, in any of @nr_times; none: at any time
 * @retransmitted: it has NT_F_RETRANSMITTED
 * @max_in_flight, @max_bytes: it found fewer commands in flight on its queue, or less data of them:
 * it has no NT_F_CROWDED, which is set before; 0: any number
 * @condition: @nr conditions
 * @how: how commands of the last pair of machines are split
 */
struct filter {
	struct select select;
	struct filter_time {
		struct filter_instant from;
		struct filter_instant to;
	} time[FILTER_TIMES_MAX];
	unsigned int nr_times;
	bool retransmitted;
	uint32_t max_in_flight;
	uint64_t max_bytes;
	struct filter_condition condition[FILTER_CONDITIONS_MAX];
	unsigned int nr;
	struct merged_split how;
};

/** filter_any() - whether the filter may leave out any command */
bool filter_any(const struct filter *f);

/**
 * filter_time(), filter_where() - read the argument of an option: times, FROM-TO or FROM..TO (one
 * of them may be left out), and conditions such as STAGE>TIME or "retransmitted", separated by
 * commas
 *
 * Return: NULL, or the fault, in words that follow the argument in a message.
 */
const char *filter_time(struct filter *f, const char *text);
const char *filter_where(struct filter *f, const char *text);

/** filter_needs_end() - whether filter_span() needs the end of recordings */
bool filter_needs_end(const struct filter *f);

/**
 * filter_span() - the times of a recording that the filter takes
 * @began: both clocks when it began; @began->realtime_ns 0: the wall clock is not known
 * @end_ns: when its last command ended, CLOCK_MONOTONIC; 0: not known
 *
 * A time of the wall clock without a date is the first one that is not over when the recording
 * began. That is so of both together where both have none. Of an open end the FROM may be up to 12
 * hours before the beginning. If what it takes is not known it takes nothing.
 */
struct filter_span filter_span(const struct filter *f, const struct instant *began,
			       uint64_t end_ns);

/**
 * filter_takes_matched() - whether the filter takes a matched command
 * @f: its @how may be filled anew
 * @c: the command's connection
 * @host, @target: its records
 * @missing: [side] bits of the points that no probe gives on its machines
 * @span: the time of the host's recording
 */
bool filter_takes_matched(struct filter *f, const struct merge_connection *c,
			  const struct nt_record *host, const struct nt_record *target,
			  const uint32_t missing[NT_SIDES], const struct filter_span *span);

/** filter_takes_single() - the same for a command with a record of one side only */
bool filter_takes_single(const struct filter *f, const struct merge_connection *c,
			 const struct nt_record *r, uint32_t missing,
			 const struct filter_span *span);

/**
 * filter_takes() - the same for a command of a queue that selects_queue() takes
 * @how: how commands of its machine are split
 */
bool filter_takes(const struct filter *f, const struct nt_record *r, const struct stage_split *how,
		  const struct filter_span *span);

/**
 * filter_seconds() - how many seconds of a recording the filter takes
 * @first_ns, @last_ns: when the first of all its commands began, and when the last one ended
 */
double filter_seconds(const struct filter_span *span, uint64_t first_ns, uint64_t last_ns);

/**
 * filter_bounds() - cut a time from @from to @to to what the filter takes; both are nanoseconds
 * after the recording began, at @began_ns
 *
 * Return: nanoseconds that it takes of that; 0 if it takes all.
 */
uint64_t filter_bounds(const struct filter_span *span, uint64_t began_ns, uint64_t *from,
		       uint64_t *to);

#endif /* NTPROF_MERGE_FILTER_H */
