/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams that have no matched command: what such a stream shows by itself, and why it does not
 * match, as far as that is known. After the first match the commands of a stream are of no interest
 * here.
 */
#ifndef NTPROF_MERGE_APART_H
#define NTPROF_MERGE_APART_H

#include <stdbool.h>
#include <stdint.h>

#include "core/queue.h"
#include "core/stats.h"
#include "core/time.h"
#include "merge/filter.h"
#include "merge/groups.h"
#include "merge/places.h"

/*
 * X(identifier, words): why nothing is matched. With several streams of the other side, the reason
 * that comes last in this list counts.
 */
#define APART_REASONS(X)                                                                   \
	X(NOBODY, "no stream of the other side is there")                                  \
	X(SILENT, "the other side has told of no commands")                                \
	X(SUBSYSTEM, "they have no subsystem in common")                                   \
	X(QUEUE, "they have no queue in common: controller or queue ids differ")           \
	X(TIME, "they did not record at the same time, as their clocks have it")           \
	X(CONTENT, "no command of one asks for what a command of the other does")          \
	X(SAMPLE, "they measured different samples, and too few commands are in both")     \
	X(AGAIN, "both ask for the same, but at different times, as their clocks have it") \
	X(CLOCKS, "too few commands, or too many that look alike, to tell which belong together")

#define APART_ENUM(id, words) APART_##id,
enum apart_reason { APART_REASONS(APART_ENUM) APART_REASONS_NR };

struct apart;

/** apart_new() - for @nr streams; NULL when memory ran out */
struct apart *apart_new(unsigned int nr);

/**
 * struct apart_header - what the header of a stream says, and what to keep of the stream
 * @side: its side
 * @boot_id: streams with the same boot id share one clock; "": not known
 * @sample: about one command in this many was measured; 0 and 1: every one
 * @missing: bits of the points that no probe gives on that machine
 * @figures: keep the figures that the stream gives by itself
 * @filter: ...of these commands only; NULL: of all. Valid until apart_free()
 * @grouping: ...and count them in groups as well; NULL: in none
 * @detail: ...and keep the intervals between their points
 * @source: where its points come from
 * @places: its names of places, NULL: none; valid until apart_free()
 */
struct apart_header {
	enum nt_side side;
	char boot_id[37];
	uint32_t sample;
	uint32_t missing;
	bool figures;
	const struct filter *filter;
	const struct grouping *grouping;
	bool detail;
	char source[16];
	const struct places *places;
};

/** apart_begin() - a stream begins, for the first time or again; Return: 0 or -ENOMEM */
int apart_begin(struct apart *a, unsigned int stream, const struct apart_header *h);

/** apart_clock() - a stream's two clocks at one instant; ignored before apart_begin() */
void apart_clock(struct apart *a, unsigned int stream, const struct instant *now);

/** apart_queue(), apart_record() - a queue or a record of the stream; Return: 0 or -ENOMEM */
int apart_queue(struct apart *a, unsigned int stream, const struct queue_info *q);
int apart_record(struct apart *a, unsigned int stream, const struct nt_record *r);

/** apart_began_ns() - CLOCK_MONOTONIC of a stream's first clock frame: when its recording began */
uint64_t apart_began_ns(const struct apart *a, unsigned int stream);

/** apart_matched() - a command of these two streams is matched */
void apart_matched(struct apart *a, unsigned int host, unsigned int target);

/** apart_burst() - a stream was recorded in bursts; one of them lasted @ns */
void apart_burst(struct apart *a, unsigned int stream, uint64_t ns);

/** apart_is() - whether a stream has begun and has commands, none of which was matched */
bool apart_is(const struct apart *a, unsigned int stream);

/**
 * apart_why() - why nothing of a stream is matched; @other: set to the stream that is compared
 * with, or to @stream
 */
enum apart_reason apart_why(const struct apart *a, unsigned int stream, unsigned int *other);

/** apart_words() - a reason in words */
const char *apart_words(enum apart_reason why);

/**
 * apart_stats() - the figures of one stream alone
 * @kernel: release of its kernel
 * @losses: [counter] as the stream gives them
 *
 * Return: as one_side_stats(); NULL if its figures are not kept.
 */
const struct stats *apart_stats(struct apart *a, unsigned int stream, const char *kernel,
				const uint64_t losses[COUNTERS_NR]);

/** apart_taken() - how many of a stream's commands its filter takes; @of: set to how many it has */
uint64_t apart_taken(const struct apart *a, unsigned int stream, uint64_t *of);

/**
 * apart_groups() - a stream's groups, finished; call it once; NULL if there are none, or memory ran
 * out
 */
struct groups *apart_groups(struct apart *a, unsigned int stream);

/** apart_details() - a stream's intervals, NULL if they are not kept */
const struct details *apart_details(const struct apart *a, unsigned int stream);

/** apart_free() - release; NULL is fine */
void apart_free(struct apart *a);

#endif /* NTPROF_MERGE_APART_H */
