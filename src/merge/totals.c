// SPDX-License-Identifier: GPL-2.0-only
#include "merge/totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/span.h"

int totals_init(struct totals *m, unsigned int max_slowest)
{
	memset(m, 0, sizeof(*m));
	m->max_slowest = max_slowest;
	if (!max_slowest)
		return 0;
	m->slowest = calloc(max_slowest, sizeof(*m->slowest));
	return m->slowest ? 0 : -ENOMEM;
}

void totals_free(struct totals *m)
{
	for (unsigned int i = 0; i < m->nr_rows; i++)
		free(m->row[i]);
	free(m->row);
	free(m->slowest);
}

/* The slowest are a heap with the fastest of them on top, the one to give way. */
static void heap_swap(struct totals *m, unsigned int a, unsigned int b)
{
	struct slow_command t = m->slowest[a];

	m->slowest[a] = m->slowest[b];
	m->slowest[b] = t;
}

static void sift_down(struct totals *m)
{
	unsigned int at = 0;

	for (;;) {
		unsigned int child = 2 * at + 1;

		if (child >= m->nr_slowest)
			return;
		if (child + 1 < m->nr_slowest &&
		    m->slowest[child + 1].latency < m->slowest[child].latency)
			child++;
		if (m->slowest[at].latency <= m->slowest[child].latency)
			return;
		heap_swap(m, at, child);
		at = child;
	}
}

static void keep_slowest(struct totals *m, const struct slow_command *c)
{
	unsigned int at;

	if (m->nr_slowest == m->max_slowest) {
		m->slowest[0] = *c;
		sift_down(m);
		return;
	}
	at = m->nr_slowest++;
	m->slowest[at] = *c;
	while (at && m->slowest[at].latency < m->slowest[(at - 1) / 2].latency) {
		heap_swap(m, at, (at - 1) / 2);
		at = (at - 1) / 2;
	}
}

static bool is_slow(const struct totals *m, uint64_t latency)
{
	return m->nr_slowest < m->max_slowest ||
	       (m->max_slowest && latency > m->slowest[0].latency);
}

static struct totals_row *row_get(struct totals *m, const struct merge_connection *c, enum nt_op op)
{
	unsigned int i = c->index * NT_OPS_NR + op;
	struct totals_row **rows;

	if (i >= m->nr_rows) {
		unsigned int nr = (c->index + 1) * NT_OPS_NR;

		rows = realloc(m->row, nr * sizeof(*rows));
		if (!rows)
			return NULL;
		memset(rows + m->nr_rows, 0, (nr - m->nr_rows) * sizeof(*rows));
		m->row = rows;
		m->nr_rows = nr;
	}
	if (!m->row[i]) {
		m->row[i] = calloc(1, sizeof(*m->row[i]));
		if (!m->row[i])
			return NULL;
		m->row[i]->connection = c;
		m->row[i]->op = op;
	}
	return m->row[i];
}

static void add_stages(struct totals *m, struct totals_row *row,
		       const int64_t stage[NT_MERGED_STAGES_NR])
{
	row->split++;
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++) {
		if (stage[i] < 0) {
			m->negative++;
			if (stage[i] < m->most_negative)
				m->most_negative = stage[i];
		}
		row->sum[i] += stage[i];
		if (row->max[i] < stage[i])
			row->max[i] = stage[i];
		hist_count(&m->stage[row->op][i], stage[i] > 0 ? (uint64_t)stage[i] : 0);
	}
}

int totals_add(struct totals *m, const struct merge_connection *c, const struct nt_record *host,
	       const struct nt_record *target)
{
	/* A stream may say anything: NT_OP_OTHER is where the unknown goes. */
	enum nt_op op = host->op < NT_OPS_NR ? (enum nt_op)host->op : NT_OP_OTHER;
	uint64_t begin = record_begin_ns(host), end = record_end_ns(host);
	uint64_t latency = end > begin ? end - begin : 0;
	struct totals_row *row = row_get(m, c, op);
	int64_t stage[NT_MERGED_STAGES_NR];

	if (!row)
		return -ENOMEM;
	hist_count(&row->latency, latency);
	row->latency.bytes += host->length;
	hist_count(&m->latency[op], latency);
	m->latency[op].bytes += host->length;
	if (is_slow(m, latency)) {
		struct slow_command slow = {
			.latency = latency,
			.connection = *c,
			.host = *host,
			.target = *target,
		};

		keep_slowest(m, &slow);
	}
	if (merged_stages(host, target, stage))
		add_stages(m, row, stage);
	else
		m->unsplit++;
	return 0;
}

static void hist_move(struct hist *into, struct hist *from)
{
	hist_merge(into, from);
	memset(from, 0, sizeof(*from));
}

static int row_move(struct totals *into, struct totals_row *from)
{
	struct totals_row *row = row_get(into, from->connection, from->op);

	if (!row)
		return -ENOMEM;
	hist_move(&row->latency, &from->latency);
	row->split += from->split;
	from->split = 0;
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++) {
		row->sum[i] += from->sum[i];
		if (row->max[i] < from->max[i])
			row->max[i] = from->max[i];
		from->sum[i] = 0;
		from->max[i] = 0;
	}
	return 0;
}

int totals_fold(struct totals *into, struct totals *from)
{
	for (unsigned int i = 0; i < from->nr_rows; i++) {
		if (from->row[i] && from->row[i]->latency.count && row_move(into, from->row[i]))
			return -ENOMEM;
	}
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		hist_move(&into->latency[op], &from->latency[op]);
		for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
			hist_move(&into->stage[op][i], &from->stage[op][i]);
	}
	into->unsplit += from->unsplit;
	into->negative += from->negative;
	if (from->most_negative < into->most_negative)
		into->most_negative = from->most_negative;
	from->unsplit = 0;
	from->negative = 0;
	from->most_negative = 0;
	return 0;
}

static int by_latency(const void *a, const void *b)
{
	const struct slow_command *x = a, *y = b;

	return x->latency > y->latency ? -1 : x->latency < y->latency;
}

void totals_sort(struct totals *m)
{
	if (m->nr_slowest)
		qsort(m->slowest, m->nr_slowest, sizeof(m->slowest[0]), by_latency);
}
