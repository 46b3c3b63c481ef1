/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams that have no matched command: what such a stream shows by itself, and why it does not
 * match, as far as that is known. After the first match the commands of a stream are of no interest
 * here.
 */
#ifndef NTPROF_MERGE_UNMATCHED_H
#define NTPROF_MERGE_UNMATCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "core/stats.h"
#include "core/time.h"
#include "merge/blocks.h"
#include "merge/details.h"
#include "merge/filter.h"
#include "merge/groups.h"
#include "merge/places.h"
#include "merge/why.h"
#include "shared/record.h"

/*
 * X(identifier, words): why nothing is matched. With several streams of the other side, the reason
 * that comes last in this list counts.
 */
#define UNMATCHED_REASONS(X)                                                                  \
	X(NOBODY, "no stream of the other side is there")                                     \
	X(SILENT, "the other side has told of no commands")                                   \
	X(SUBSYSTEM, "they have no subsystem in common")                                      \
	X(QUEUE, "they have no queue in common: controller or queue ids differ")              \
	X(TIME, "they did not record at the same time, as their clocks have it")              \
	X(CONTENT, "no command of one asks for what a command of the other does")             \
	X(SAMPLE, "they measured different samples, and too few commands are in both")        \
	X(REPEATED, "both ask for the same, but at different times, as their clocks have it") \
	X(CLOCKS, "too few commands, or too many that look alike, to tell which belong together")

#define UNMATCHED_ENUM(id, words) UNMATCHED_##id,
enum unmatched_reason { UNMATCHED_REASONS(UNMATCHED_ENUM) UNMATCHED_REASONS_NR };

struct unmatched;

/** unmatched_new() - for @nr streams; NULL when memory ran out */
struct unmatched *unmatched_new(unsigned int nr);

/**
 * struct unmatched_header - what the header of a stream says, and what to keep of the stream
 * @side: its side
 * @boot_id: streams with the same boot id share one clock; "": not known
 * @sample: about one command in this many was measured; 0 and 1: every one
 * @missing: bits of the points that no probe gives on that machine
 * @figures: keep the figures that the stream gives by itself
 * @filter: ...of these commands only; NULL: of all. Valid until unmatched_free()
 * @end_ns: when its last command ended, for the filter; 0: not known
 * @grouping: ...and count them in groups as well; NULL: in none
 * @detail: ...and keep the intervals between their points
 * @timeline: ...and keep what pictures of them need
 * @blocks: ...and count them there as well, by the time since the stream began; NULL: nowhere
 * @why: ...and what says where slow ones come from: the sample of why_new(), 0: none
 * @source: where its points come from
 * @places: its names of places, NULL: none; valid until unmatched_free()
 */
struct unmatched_header {
	enum nt_side side;
	char boot_id[37];
	uint32_t sample;
	uint32_t missing;
	bool figures;
	const struct filter *filter;
	uint64_t end_ns;
	const struct grouping *grouping;
	bool detail;
	bool timeline;
	struct blocks *blocks;
	unsigned int why;
	char source[16];
	const struct places *places;
};

/** unmatched_begin() - a stream begins, for the first time or again; Return: 0 or -ENOMEM */
int unmatched_begin(struct unmatched *a, unsigned int stream, const struct unmatched_header *h);

/** unmatched_clock() - a stream's two clocks at one instant; ignored before unmatched_begin() */
void unmatched_clock(struct unmatched *a, unsigned int stream, const struct instant *now);

/** unmatched_queue(), unmatched_record() - a queue or a record of the stream; Return: 0 or -ENOMEM
 */
int unmatched_queue(struct unmatched *a, unsigned int stream, const struct queue_info *q);
int unmatched_record(struct unmatched *a, unsigned int stream, const struct nt_record *r);

/** unmatched_began_ns() - CLOCK_MONOTONIC of a stream's first clock frame: when its recording began
 */
uint64_t unmatched_began_ns(const struct unmatched *a, unsigned int stream);

/** unmatched_span() - the time of a stream that its filter takes, if it has one */
const struct filter_span *unmatched_span(const struct unmatched *a, unsigned int stream);

/**
 * unmatched_path() - a stream says what happened to a controller
 * @all: the figures of all commands, which have outages as those of one side have
 */
void unmatched_path(struct unmatched *a, struct why *all, unsigned int stream,
		    const struct nt_path_event *e);

/** unmatched_matched() - a command of these two streams is matched */
void unmatched_matched(struct unmatched *a, unsigned int host, unsigned int target);

/** unmatched_burst() - a stream was recorded in bursts; one of them lasted @ns */
void unmatched_burst(struct unmatched *a, unsigned int stream, uint64_t ns);

/** unmatched_is() - whether a stream has begun and has commands, and none was matched */
bool unmatched_is(const struct unmatched *a, unsigned int stream);

/**
 * unmatched_why() - why nothing of a stream is matched; @other: set to the stream that is compared
 * with, or to @stream
 */
enum unmatched_reason unmatched_why(const struct unmatched *a, unsigned int stream,
				    unsigned int *other);

/** unmatched_words() - a reason in words */
const char *unmatched_words(enum unmatched_reason why);

/**
 * unmatched_stats() - the figures of one stream alone
 * @kernel: release of its kernel
 * @losses: [counter] as the stream gives them
 *
 * Return: as one_side_stats(); NULL if its figures are not kept.
 */
const struct stats *unmatched_stats(struct unmatched *a, unsigned int stream, const char *kernel,
				    const uint64_t losses[COUNTERS_NR]);

/** unmatched_taken() - how many of a stream's commands its filter takes; @of: set to how many it
 * has */
uint64_t unmatched_taken(const struct unmatched *a, unsigned int stream, uint64_t *of);

/**
 * unmatched_groups() - a stream's groups, finished; call it once; NULL if there are none, or memory
 * ran out
 */
struct groups *unmatched_groups(struct unmatched *a, unsigned int stream);

/** unmatched_details() - a stream's intervals, NULL if they are not kept */
const struct details *unmatched_details(const struct unmatched *a, unsigned int stream);

/**
 * unmatched_timeline() - a stream's commands over time, NULL if they are not kept; the owners of
 * its cells are rows of unmatched_stats()
 */
const struct timeline *unmatched_timeline(const struct unmatched *a, unsigned int stream);

/** unmatched_slow() - what says where its slow commands come from, NULL if it is not kept */
const struct why *unmatched_slow(const struct unmatched *a, unsigned int stream);

/** unmatched_free() - release; NULL is fine */
void unmatched_free(struct unmatched *a);

/*
 * A sample of what the commands of a stream asked for. It depends on the commands alone which of
 * them are in the sample, so two streams of the same commands have the same ones in theirs.
 */

/* The most keys that are kept; when there are more, about half of them are dropped. */
#define CONTENTS_MAX 512

/**
 * struct contents - the sample; all zero at the beginning
 * @key: a hash table of 2 * CONTENTS_MAX keys, 0 is free; NULL before the first key
 * @nr: number of keys
 * @mask: only keys with all these bits clear are kept
 */
struct contents {
	uint64_t *key;
	unsigned int nr;
	uint64_t mask;
};

/** contents_add() - add a command; Return: 0 or -ENOMEM */
int contents_add(struct contents *c, const struct nt_record *r);

/**
 * contents_common() - whether two samples have a key in common
 *
 * Return: true also when either has fewer than @enough keys, too few to say that they have none.
 */
bool contents_common(const struct contents *a, const struct contents *b, unsigned int enough);

/** contents_free() - release; the sample can be used again */
void contents_free(struct contents *c);

/*
 * The figures of one stream alone: the histograms and stages that its live view would have shown,
 * computed from records.
 */

struct one_side;

/** one_side_new() - no records yet; NULL when memory ran out */
struct one_side *one_side_new(enum nt_side side);

/** one_side_queue() - add a queue of the stream; Return: 0 or -ENOMEM */
int one_side_queue(struct one_side *o, const struct queue_info *info);

/**
 * one_side_record() - add a record of the stream
 * @began_ns: when its recording began
 *
 * Return: 0 or -ENOMEM.
 */
int one_side_record(struct one_side *o, const struct nt_record *r, uint64_t began_ns);

/**
 * one_side_stats() - all figures as totals
 * @o: one side
 * @kernel: release of the kernel that was traced
 * @sample: one command in this many was measured; 0 and 1: every one
 * @losses: [counter] as the stream gives them
 * @seconds: from the first command to the last
 *
 * Return: valid until one_side_free().
 */
const struct stats *one_side_stats(struct one_side *o, const char *kernel, uint32_t sample,
				   const uint64_t losses[COUNTERS_NR], double seconds);

/** one_side_free() - release; NULL is fine */
void one_side_free(struct one_side *o);

#endif /* NTPROF_MERGE_UNMATCHED_H */
