/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Conditions on commands and on intervals that make the flight recorder write a file.
 * docs/recorder.md has the grammar.
 */
#ifndef NTPROF_SERVE_WHEN_H
#define NTPROF_SERVE_WHEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/stats.h"
#include "shared/path_event.h"
#include "shared/record.h"

/* Limit of the number of conditions; more are refused. */
#define WHEN_CONDITIONS_MAX 16
/*
 * Limit of a condition's text as written, without the blanks around it. A longer one is refused.
 * The text is a label of metrics.
 */
#define WHEN_TEXT_LEN 64
/*
 * The most conditions whose counts are kept, also while SIGHUP brings others. There have to be more
 * than the old and the new ones of one change together. Past the limit, the count of the condition
 * that was used the longest time ago is lost, and begins again at 0.
 */
#define WHEN_COUNTED_MAX 256
/* The longest time after `over`. */
#define WHEN_OVER_MAX_NS 600000000000ULL
#define WHEN_OVER_MAX "10m"
/*
 * The time after `over` is divided into this many parts at most. The real time may be longer by one
 * part or by one interval.
 */
#define WHEN_PARTS 64

enum when_kind { WHEN_LATENCY, WHEN_PERCENTILE, WHEN_ERRORS, WHEN_OLDEST, WHEN_STATE };

/*
 * Errors and latencies of one part of the time, which begins at @began_ns (CLOCK_MONOTONIC). If
 * that is 0, the part is not used yet.
 */
struct when_part {
	uint64_t began_ns;
	uint64_t errors;
	struct hist latencies;
};

/**
 * struct when_condition - a condition
 * @text: as the user wrote it
 * @op: operation that it is about; NT_OPS_NR: all operations of I/O queues
 * @parts: percentile, in HIST_PARTS
 * @limit: nanoseconds or errors; the condition is true above that. Of WHEN_STATE enum nt_path_state
 * @over_ns: the time after `over`; 0: the condition is about one interval
 * @now: true in this interval
 * @before: true in the last interval
 * @part: WHEN_PARTS + 1 parts, the newest at @newest; NULL before the first interval, and without
 *        @over_ns
 */
struct when_condition {
	char text[WHEN_TEXT_LEN];
	enum when_kind kind;
	unsigned int op;
	uint32_t parts;
	uint64_t limit;
	uint64_t over_ns;
	bool now;
	bool before;
	struct when_part *part;
	unsigned int newest;
};

/** struct when - conditions: one has to be true; all zeroes: none */
struct when {
	struct when_condition condition[WHEN_CONDITIONS_MAX];
	unsigned int nr;
};

/**
 * when_parse() - add conditions; one that is there already is not added again
 * @text: for example "latency>5ms, p99(read)>2ms over 10s"
 * @at: set to the place of the first error in @text, counted from 1
 *
 * Return: NULL, or the fault, in words that follow the place.
 */
const char *when_parse(struct when *w, const char *text, size_t *at);

/**
 * when_record() - check a command that has ended
 *
 * Return: the condition that became true by it and was not true in the last interval, or NULL.
 */
const struct when_condition *when_record(struct when *w, const struct nt_record *r);

/**
 * when_interval() - check an interval that has ended
 * @s: statistics of the interval
 * @now_ns: CLOCK_MONOTONIC
 *
 * Return: the first condition that is true now and was not true in the last interval, or NULL.
 */
const struct when_condition *when_interval(struct when *w, const struct stats *s, uint64_t now_ns);

/**
 * when_event() - check what happened to a controller
 *
 * Return: the condition that became true by it and was not true in the last interval, or NULL.
 */
const struct when_condition *when_event(struct when *w, const struct nt_path_event *e);

/** when_go_on() - conditions that are in @before as well go on with what they have seen */
void when_go_on(struct when *w, struct when *before);

/** when_free() - release, and remove all conditions */
void when_free(struct when *w);

/* The counters of a flight recorder. */

/* Triggers, which start a file: the conditions come first, then these. */
enum { TRIGGER_SIGNAL = WHEN_CONDITIONS_MAX, TRIGGER_EXIT, TRIGGERS_MAX };

/**
 * struct keep_counts - counters since the recorder began
 * @records: records that are kept now, in @memory_bytes of memory
 * @seconds: age of the oldest one
 * @left_out: records that were dropped before their time, or that found no memory
 * @unnamed: names of connections and namespaces that found no room, see struct ring
 * @trigger_name: name of each trigger; NULL where there is no such condition
 * @triggers: how often each one fired. One that fires while a file is being written is counted,
 *            too, and its records are in that file, or in the next one if that one takes no more.
 * @written, @failed: files
 * @removed: files that were removed to make room for others
 * @files, @disk_bytes: number and size of the files that exist now
 * @newest: name of the file that was written last, without its folder; NULL before the
 *          first one
 * @newest_ns: when that file was set off, since 1970
 * @disk_seconds: how long the disk has not answered; 0: it is asked for nothing
 */
struct keep_counts {
	uint64_t records;
	uint64_t memory_bytes;
	double seconds;
	uint64_t left_out;
	uint64_t unnamed;
	const char *trigger_name[TRIGGERS_MAX];
	uint64_t triggers[TRIGGERS_MAX];
	uint64_t written;
	uint64_t failed;
	uint64_t removed;
	uint64_t files;
	uint64_t disk_bytes;
	const char *newest;
	int64_t newest_ns;
	double disk_seconds;
};

#endif /* NTPROF_SERVE_WHEN_H */
