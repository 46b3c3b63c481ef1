/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page that a scraper gets: each metric of serve/exposition.h, from the last collection. It
 * reads nothing itself; the caller passes all figures.
 */
#ifndef NTPROF_SERVE_PAGE_H
#define NTPROF_SERVE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/counters.h"
#include "core/stats.h"
#include "merge/totals.h"
#include "peer/live_merge.h"
#include "serve/exposition.h"
#include "serve/when.h"

/**
 * struct process_cost - what this process has used
 * @cpu_ns: user and system time
 * @resident_bytes: 0 if the kernel does not report it
 */
struct process_cost {
	uint64_t cpu_ns;
	uint64_t resident_bytes;
};

/** process_cost() - fill @c */
void process_cost(struct process_cost *c);

/* The metrics of peers, and of merged commands. */

/**
 * struct merged_source - what the metrics are made of
 * @totals: of all merged commands
 * @counts: what became of records
 * @peer: @nr of them
 */
struct merged_source {
	const struct totals *totals;
	struct live_merge_counts counts;
	struct peer_about peer[PEERS_MAX];
	unsigned int nr;
};

/** merged_fill() - fill @from; valid until the peers are read again */
void merged_fill(struct merged_source *from, const struct live_merge *l);

struct merged;

/**
 * merged_new() - state for merged_put(): the figures that scrapers have seen; NULL if memory ran
 * out
 */
struct merged *merged_new(void);

/**
 * merged_put() - write the metrics
 * @m: updated
 * @labels: labels of each sample, from exposition_label()
 */
void merged_put(struct merged *m, struct exposition *e, const char *labels,
		const struct merged_source *from);

/** merged_free() - release; NULL is fine */
void merged_free(struct merged *m);

/* The HTTP statuses of answers; each one is counted. */
#define PAGE_CODES(X) X(200) X(404) X(405) X(421) X(503)

#define PAGE_CODE_ENUM(code) PAGE_CODE_##code,
enum page_code { PAGE_CODES(PAGE_CODE_ENUM) PAGE_CODES_NR };

/** page_code() - the status as a number */
unsigned int page_code(enum page_code code);

/**
 * struct page_scrapes - what became of connections so far
 * @connections: accepted
 * @overdue: closed because they took too long
 * @displaced: closed to make room for newer ones
 * @responses: answers by status
 */
struct page_scrapes {
	uint64_t connections;
	uint64_t overdue;
	uint64_t displaced;
	uint64_t responses[PAGE_CODES_NR];
};

/**
 * struct page_slow - the slowest command of an operation in the last interval
 * @ns: how long it took; 0: there is none
 * @ended_ms: when it ended, milliseconds since 1970
 * @stage: the stage that took longest; "" if that is not known
 * @slot, @who: its connection, see struct stats_row
 */
struct page_slow {
	char controller[32];
	uint16_t qid;
	uint16_t cid;
	uint64_t ns;
	uint64_t ended_ms;
	const char *stage;
	uint32_t slot;
	uint32_t who;
};

/**
 * struct page_source - what the page is made of
 * @s: statistics of the last collection; NULL before the first one
 * @kept: counts of the flight recorder; NULL without one
 * @merged: peers and merged commands; NULL without peers
 * @tracing: the driver's module is loaded
 * @measures: programs are attached, which they are not between two bursts
 * @started_ms: when the process began, milliseconds since 1970; the counters that page_collect()
 *              does not take count since then
 */
struct page_source {
	const struct stats *s;
	const struct cost *cost;
	const struct process_cost *process;
	const struct page_scrapes *scrapes;
	const struct keep_counts *kept;
	const struct merged_source *merged;
	bool tracing;
	bool measures;
	uint64_t started_ms;
};

struct page;

/**
 * page_new() - begin the page of a run
 * @side: the side that is traced
 * @by_queue: each queue has its own series
 * @series: most rows with series of their own
 * @now_ms: milliseconds since 1970
 *
 * Return: NULL if memory ran out.
 */
struct page *page_new(enum nt_side side, bool by_queue, unsigned int series, uint64_t now_ms);

/**
 * page_collect() - add what an interval has counted
 * @s: the statistics; rows note their series here
 * @slow: [NT_OPS_NR]; NULL if there are no records to find them in
 * @now_ms: milliseconds since 1970
 *
 * Return: 0 or -ENOMEM.
 */
int page_collect(struct page *p, const struct stats *s, const struct page_slow *slow,
		 uint64_t now_ms);

/**
 * page_render() - make the text
 * @text: set to memory of @size bytes, which the caller frees
 *
 * Return: 0 or -ENOMEM.
 */
int page_render(struct page *p, const struct page_source *from, enum exposition_format format,
		char **text, size_t *size);

/** page_free() - release; NULL is fine */
void page_free(struct page *p);

#endif /* NTPROF_SERVE_PAGE_H */
