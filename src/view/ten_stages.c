// SPDX-License-Identifier: GPL-2.0-only
#include "view/ten_stages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/bars.h"
#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"
#include "view/view.h"
#include "view/block.h"

/* Columns of the table of stages besides the bar, see view_merged_stages(). */
#define STAGES_WIDTH (12 + 2 + 20 + 4 * (1 + 8) + 2 + 7 + 1)
/* Longer bars tell no more. */
#define BAR_MAX 40
#define BAR_MIN 4

static unsigned int bar_width(unsigned int width)
{
	unsigned int bar = width > STAGES_WIDTH ? width - STAGES_WIDTH : 0;

	return bar < BAR_MIN ? BAR_MIN : bar > BAR_MAX ? BAR_MAX : bar;
}

void view_merged_stages(const struct totals *m, FILE *f, unsigned int width, bool unicode)
{
	bool titles = false;

	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		double whole = 0;

		for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
			whole += (double)m->stage[op][i].sum;
		if (!m->latency[op].count)
			continue;
		if (!titles)
			fprintf(f, "%-12s  %-20s %8s %8s %8s %8s  %7s\n", "op", "stage", "mean",
				"p50", "p99", "max", "share");
		titles = true;
		for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++) {
			const struct hist *h = &m->stage[op][i];
			double share = whole > 0 ? (double)h->sum / whole : 0;
			double v[] = {hist_mean(h), (double)hist_percentile(h, 50),
				      (double)hist_percentile(h, 99), (double)h->max};
			char text[VIEW_DURATION];

			fprintf(f, "%-12s  %-20s", op_name(op), merged_stage_name(i));
			for (size_t k = 0; k < sizeof(v) / sizeof(v[0]); k++)
				fprintf(f, " %8s",
					h->count ? view_duration(text, sizeof(text), v[k]) : "-");
			fprintf(f, "  %5.1f %%%s", share * 100, share > 0 ? " " : "");
			bar_draw(f, share, bar_width(width), unicode);
			fputs("\n", f);
		}
	}
}

static int by_name(const void *a, const void *b)
{
	const struct totals_row *const *x = a, *const *y = b;
	int order = merge_connection_order((*x)->connection, (*y)->connection);

	return order ? order : (int)(*x)->op - (int)(*y)->op;
}

/* The rows that have commands, in the order of their names; to be freed. NULL when memory ran out. */
static const struct totals_row **rows_sorted(const struct totals *m, unsigned int *nr)
{
	const struct totals_row **rows = calloc(m->nr_rows + 1, sizeof(*rows));

	*nr = 0;
	for (unsigned int i = 0; rows && i < m->nr_rows; i++) {
		if (m->row[i] && m->row[i]->latency.count)
			rows[(*nr)++] = m->row[i];
	}
	if (rows)
		qsort(rows, *nr, sizeof(*rows), by_name);
	return rows;
}

/* Ten columns need short titles; in the order of the stages. */
static const char *const short_names[NT_MERGED_STAGES_NR] = {
	[NT_MS_BLK_SUBMISSION] = "blk_sub",	  [NT_MS_NVME_TCP_SUBMISSION] = "tcp_sub",
	[NT_MS_NSTACK_SUBMISSION] = "nstk_sub",	  [NT_MS_NVMET_TCP_SUBMISSION] = "nvmt_sub",
	[NT_MS_TARGET_SUBSYSTEM] = "subsys",	  [NT_MS_NVMET_TCP_COMPLETION] = "nvmt_cmp",
	[NT_MS_NETWORK_TRANSMISSION] = "network", [NT_MS_NSTACK_COMPLETION] = "nstk_cmp",
	[NT_MS_NVME_TCP_COMPLETION] = "tcp_cmp",  [NT_MS_BLK_COMPLETION] = "blk_cmp",
};

void view_merged_connections(const struct totals *m, FILE *f)
{
	const struct totals_row **rows;
	char text[VIEW_DURATION];
	unsigned int nr;

	rows = rows_sorted(m, &nr);
	for (unsigned int r = 0; r < nr; r++) {
		const struct totals_row *row = rows[r];
		const struct merge_connection *c = row->connection;

		if (!r) {
			fprintf(f, "%-8s %6s %5s  %-12s %9s %8s", "host", "cntlid", "queue", "op",
				"commands", "mean");
			for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
				fprintf(f, " %8s", short_names[i]);
			fputs("\n", f);
		}
		fprintf(f, "nvme%-4u %6u %5u  %-12s %9" PRIu64 " %8s", c->host_instance, c->cntlid,
			c->qid, op_name(row->op), row->latency.count,
			view_duration(text, sizeof(text), hist_mean(&row->latency)));
		for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++) {
			double mean = row->split ? (double)row->sum[i] / (double)row->split : 0;

			fprintf(f, " %8s",
				row->split ? view_duration(text, sizeof(text), mean) : "-");
		}
		fputs("\n", f);
	}
	free(rows);
}

static void print_hist(FILE *f, const struct hist *h)
{
	fprintf(f, " %.0f %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", hist_mean(h),
		hist_percentile(h, 50), hist_percentile(h, 99), h->max, h->sum);
}

void view_merged_numbers(const struct totals *m, FILE *f)
{
	const struct totals_row **rows;
	unsigned int nr;

	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		if (!m->latency[op].count)
			continue;
		fprintf(f, "merged %s %" PRIu64, op_name(op), m->latency[op].count);
		print_hist(f, &m->latency[op]);
		for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++) {
			fprintf(f, "merged_stage %s %s", op_name(op), merged_stage_name(i));
			print_hist(f, &m->stage[op][i]);
		}
	}
	rows = rows_sorted(m, &nr);
	for (unsigned int r = 0; r < nr; r++) {
		const struct totals_row *row = rows[r];

		fprintf(f, "merged_queue ");
		text_print(f, row->connection->subsysnqn, TEXT_HEX);
		fprintf(f, " %u %u %s %" PRIu64, row->connection->cntlid, row->connection->qid,
			op_name(row->op), row->latency.count);
		for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
			fprintf(f, " %" PRId64, row->sum[i]);
		fputs("\n", f);
	}
	free(rows);
	fprintf(f, "unsplit %" PRIu64 "\n", m->unsplit);
	fprintf(f, "negative_stages %" PRIu64 " worst %" PRId64 "\n", m->negative,
		m->most_negative);
}

/* A point on the time axis of both sides: nanoseconds of the host's clock after the first one. */
struct step {
	int64_t at;
	enum nt_side side;
	unsigned int point;
};

static int by_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->point < y->point ? -1 : x->point > y->point;
}

/* The stage that ends with a point; "" if none does. */
static const char *stage_ending(enum nt_side side, unsigned int point, unsigned int shape)
{
	int stage = segments_stage_ending(side, point, shape);

	return stage < 0 ? "" : stage_name(side, (unsigned int)stage);
}

void view_merged_story(const struct slow_command *c, FILE *f)
{
	uint64_t first = c->host.points[NT_H_SUBMIT] ?: c->host.points[NT_H_QUEUE_RQ];
	uint64_t offset =
		(uint64_t)c->connection.offset_low +
		((uint64_t)c->connection.offset_high - (uint64_t)c->connection.offset_low) / 2;
	struct step steps[2 * NT_POINTS_MAX];
	int64_t stage[NT_MERGED_STAGES_NR];
	char d[VIEW_DURATION];
	unsigned int n = 0;

	for (unsigned int i = 0; i < points_nr(NT_HOST); i++)
		if (c->host.points[i])
			steps[n++] =
				(struct step){(int64_t)(c->host.points[i] - first), NT_HOST, i};
	for (unsigned int i = 0; i < points_nr(NT_TARGET); i++)
		if (c->target.points[i])
			steps[n++] = (struct step){(int64_t)(c->target.points[i] - offset - first),
						   NT_TARGET, i};
	qsort(steps, n, sizeof(steps[0]), by_time);

	fprintf(f, "%s of %u bytes, %s, LBA %" PRIu64 ", status 0x%x, ", op_name(c->host.op),
		c->host.length, shape_name(c->host.shape), (uint64_t)c->host.slba, c->host.status);
	text_print(f, c->connection.subsysnqn, TEXT_HEX);
	fprintf(f, " cntlid %u queue %u cid 0x%04x: %s\n", c->connection.cntlid, c->connection.qid,
		c->host.cid, view_duration(d, sizeof(d), (double)c->latency));
	for (unsigned int i = 0; i < n; i++) {
		fprintf(f, "  %14.3f us", (double)steps[i].at / 1e3);
		if (i)
			fprintf(f, "  +%12.3f us",
				(double)steps[i].at / 1e3 - (double)steps[i - 1].at / 1e3);
		else
			fprintf(f, "  %16s", "");
		fprintf(f, "  %*s%-6s %-10s %s\n", steps[i].side == NT_HOST ? 0 : 4, "",
			side_name(steps[i].side), point_name(steps[i].side, steps[i].point),
			stage_ending(steps[i].side, steps[i].point,
				     steps[i].side == NT_HOST ? c->host.shape : c->target.shape));
	}
	if (!merged_stages(&c->host, &c->target, stage))
		return;
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		fprintf(f, "  %-20s %14.3f us  %5.1f %%\n", merged_stage_name(i),
			(double)stage[i] / 1e3,
			c->latency ? 100.0 * (double)stage[i] / (double)c->latency : 0.0);
}

void view_connection(const struct merge_connection *c, FILE *f)
{
	/* Its counts went to another one when its other side became known. */
	if (!c->matched && !c->host_only && !c->target_only && !c->ambiguous)
		return;
	fprintf(f, "connection ");
	text_print(f, c->subsysnqn[0] ? c->subsysnqn : "?", TEXT_HEX);
	fprintf(f,
		" cntlid %u queue %u: matched %" PRIu64 ", host only %" PRIu64
		", target only %" PRIu64 ", ambiguous %" PRIu64,
		c->cntlid, c->qid, c->matched, c->host_only, c->target_only, c->ambiguous);
	if (c->offset_low <= c->offset_high) {
		uint64_t half = ((uint64_t)c->offset_high - (uint64_t)c->offset_low) / 2;

		fprintf(f, ", clock offset %" PRId64 " ns +- %" PRIu64 " ns, drift %.1f ppm",
			(int64_t)((uint64_t)c->offset_low + half), half, c->drift_ppm);
	}
	fprintf(f, "\n");
}

static int by_order(const void *a, const void *b)
{
	const struct merge_connection *const *x = a, *const *y = b;

	return merge_connection_order(*x, *y);
}

int view_connections(const struct merge *m, FILE *f)
{
	unsigned int nr = merge_connections(m);
	const struct merge_connection **c = calloc(nr + 1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr; i++)
		c[i] = merge_connection(m, i);
	qsort(c, nr, sizeof(*c), by_order);
	for (unsigned int i = 0; i < nr; i++)
		view_connection(c[i], f);
	free(c);
	return 0;
}
