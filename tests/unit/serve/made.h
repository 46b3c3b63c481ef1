/* SPDX-License-Identifier: GPL-2.0-only */
/* Made-up statistics, and the page of them. Common code of the tests of pages. */
#ifndef NTPROF_SERVE_MADE_H
#define NTPROF_SERVE_MADE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/counters.h"
#include "core/names.h"
#include "core/segments.h"
#include "serve/page.h"
#include "serve/series.h"

#define NQN "nqn.2024-01.io.example:a\\b\"c\"\nd"
#define NQN_LABEL                                            \
	"nqn.2024-01.io.example:a\\\\b\\\"c\\\"\xef\xbf\xbd" \
	"d"

struct made {
	struct stats s;
	struct cost cost;
	struct process_cost process;
	struct page_scrapes scrapes;
	struct keep_counts kept;
	struct page_slow slow[NT_OPS_NR];
	struct totals totals;
	struct totals_stage stages[2];
	struct stream_header header;
	struct stream_losses losses;
	struct merged_source merged;
	struct page_source from;
	const struct page_slow *told;
	uint64_t now_ms;
	uint64_t leave_ns;
	struct page *page;
	char *text;
	size_t size;
};

static inline struct stats_row *row(struct made *m, const char *controller, uint16_t qid,
				    enum nt_op op)
{
	struct stats_row *r = stats_row(&m->s, controller, NQN, qid, op, false);

	assert_non_null(r);
	return r;
}

static inline void count(struct stats_row *r, uint64_t ns, uint64_t bytes)
{
	hist_count(&r->total, ns);
	hist_count(&r->interval, ns);
	r->total.bytes += bytes;
	r->interval.bytes += bytes;
}

static inline struct page *new_page(const struct made *m, enum nt_side side, bool by_queue)
{
	return page_new(side, by_queue, SERIES_DEFAULT, m->now_ms);
}

static inline int begin(void **state)
{
	struct made *m = calloc(1, sizeof(*m));

	m->s.side = NT_HOST;
	m->s.driver = "nvme_tcp";
	m->s.source = "stock";
	snprintf(m->s.kernel, sizeof(m->s.kernel), "6.1.0");
	m->s.controllers = 2;
	m->s.queues = 5;
	m->cost.map_bytes = 12345;
	m->process.cpu_ns = 1500000000;
	m->from = (struct page_source){
		.s = &m->s,
		.cost = &m->cost,
		.process = &m->process,
		.scrapes = &m->scrapes,
		.tracing = true,
		.measures = true,
		.started_ms = 1700000000000,
	};
	m->now_ms = m->from.started_ms;
	m->page = new_page(m, NT_HOST, false);
	*state = m;
	return m->page ? 0 : -1;
}

static inline int end(void **state)
{
	struct made *m = *state;

	page_free(m->page);
	stats_free(&m->s);
	free(m->text);
	free(m);
	return 0;
}

/* Renders the page of the collected figures. */
static inline const char *show(struct made *m, enum exposition_format format)
{
	free(m->text);
	m->text = NULL;
	assert_int_equal(page_render(m->page, &m->from, format, &m->text, &m->size), 0);
	return m->text;
}

/* Ends an interval of a second. */
static inline void collect(struct made *m)
{
	m->now_ms += 1000;
	if (m->from.s)
		assert_int_equal(page_collect(m->page, &m->s, m->told, m->now_ms), 0);
	stats_begin_interval(&m->s);
}

/* The same, and scrapes. */
static inline const char *render(struct made *m, enum exposition_format format)
{
	collect(m);
	return show(m, format);
}

/* The value of a sample, given its complete name and labels. */
static inline uint64_t value(struct made *m, const char *sample)
{
	size_t len = strlen(sample);

	for (const char *at = m->text; (at = strstr(at, sample)); at += len)
		if ((at == m->text || at[-1] == '\n') && at[len] == ' ')
			return strtoull(at + len + 1, NULL, 10);
	fail_msg("no %s in:\n%s", sample, m->text);
	return 0;
}

static inline bool there(const struct made *m, const char *part)
{
	return strstr(m->text, part) != NULL;
}

/* How often the page has a part. */
static inline unsigned int times(const struct made *m, const char *part)
{
	unsigned int n = 0;

	for (const char *at = m->text; (at = strstr(at, part)); at++)
		n++;
	return n;
}

#define LABELS(controller, operation)                                         \
	"{side=\"host\",controller=\"" controller "\",subsysnqn=\"" NQN_LABEL \
	"\",operation=\"" operation "\"}"

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

#endif /* NTPROF_SERVE_MADE_H */
