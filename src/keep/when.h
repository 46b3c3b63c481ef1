/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When the flight recorder writes what it has: conditions on commands and on what intervals come to. docs/recorder.md has
 * the grammar.
 */
#ifndef NTPROF_KEEP_WHEN_H
#define NTPROF_KEEP_WHEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/record.h"
#include "core/stats.h"

/* More are refused. */
#define WHEN_CONDITIONS_MAX 16
/* As written, blanks left out; longer ones are refused. It is a label of metrics. */
#define WHEN_TEXT_LEN 64
/* The longest time that a percentile or errors are of. */
#define WHEN_OVER_MAX_NS 600000000000ULL
#define WHEN_OVER_MAX "10m"
/* Such a time is made of so many parts at most: by one of them, or by an interval, it may be longer. */
#define WHEN_PARTS 64

enum when_kind { WHEN_LATENCY, WHEN_PERCENTILE, WHEN_ERRORS, WHEN_OLDEST };

/* What happened in a part of the time, from @began_ns of CLOCK_MONOTONIC on; 0: in none. */
struct when_part {
	uint64_t began_ns;
	uint64_t errors;
	struct hist latencies;
};

/**
 * struct when_condition - one of them
 * @text: as it was written
 * @op: of this operation; NT_OPS_NR: of all of I/O queues
 * @parts: of HIST_PARTS, of a percentile
 * @limit: nanoseconds, or errors, that are to be exceeded
 * @over_ns: 0: of an interval
 * @now: it is true in this interval; @before: it was in the last one
 * @part: WHEN_PARTS + 1 of them, the newest at @newest; NULL before the first interval, and without @over_ns
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

/** struct when - any of them is enough; all zero is none */
struct when {
	struct when_condition condition[WHEN_CONDITIONS_MAX];
	unsigned int nr;
};

/**
 * when_parse() - add conditions
 * @text: "latency>5ms, p99(read)>2ms over 10s"
 * @at: where something is wrong, set to its place in @text, from 1
 *
 * Return: NULL, or what is wrong, in words that follow the place.
 */
const char *when_parse(struct when *w, const char *text, size_t *at);

/**
 * when_record() - a command has ended
 *
 * Return: the condition that it makes true, which in the interval before was not; NULL if it does not.
 */
const struct when_condition *when_record(struct when *w, const struct nt_record *r);

/**
 * when_interval() - an interval has ended
 * @s: it
 * @now_ns: CLOCK_MONOTONIC
 *
 * Return: the first condition that it makes true, which at the end of the one before was not; NULL if there is none.
 */
const struct when_condition *when_interval(struct when *w, const struct stats *s, uint64_t now_ns);

/** when_free() - release what it has gathered; there is no condition then */
void when_free(struct when *w);

#endif /* NTPROF_KEEP_WHEN_H */
