// SPDX-License-Identifier: GPL-2.0-only
#include "view/html_tcp.h"

#include <errno.h>
#include <stdlib.h>

#include "view/html_write.h"
#include "view/tcp_table.h"

/* More rows of a table than users look at. */
#define ROWS_MAX 100u

/* Nanoseconds of the recording's clock after the first bin of a picture. */
static int64_t after_ns(const struct html_tcp_of *of, const struct html_figure *t, uint64_t ns)
{
	return (int64_t)(ns + of->add_ns - t->from_ns);
}

/* From the point before to a point of a connection, in parts of the time, from part @first on. */
struct tcp_span {
	double from, to;
	unsigned int first, last;
	uint32_t again;
};

/* Return: whether a part of the picture is in it. */
static bool span_of(const struct html_tcp_of *of, const struct html_figure *t, unsigned int parts,
		    const struct tcp_queue *q, size_t point, struct tcp_span *span)
{
	const struct tcp_point *p = &q->point[point], *before = point ? p - 1 : p;
	double part = (double)t->width_ns * t->nr / parts;

	span->from = (double)after_ns(of, t, before->ns) / part;
	span->to = (double)after_ns(of, t, p->ns) / part;
	if (span->to < 0 || span->from >= parts)
		return false;
	span->first = span->from > 0 ? (unsigned int)span->from : 0;
	span->last = span->to < parts ? (unsigned int)span->to : parts - 1;
	span->again = p->again - before->again;
	return true;
}

/* What of the segments that were sent again is in a part. */
static double again_in(const struct tcp_span *span, unsigned int part)
{
	double from = span->from > part ? span->from : part;
	double to = span->to < part + 1 ? span->to : part + 1;

	return span->to > span->from ? span->again * (to - from) / (span->to - span->from) : 0;
}

static int tcp_bins(const struct html_tcp_of *of, struct html_figure *t)
{
	struct tcp_span span;

	t->tcp = calloc(t->nr + 1, sizeof(*t->tcp));
	if (!t->tcp)
		return -ENOMEM;
	for (unsigned int b = 0; b < t->nr; b++)
		t->tcp[b] = (struct html_tcp_bin){-1, -1, -1};
	for (const struct tcp_queue *q = tcp_history_first(of->h, of->stream); q; q = q->hh.next)
		for (size_t i = 0; i < q->nr_points; i++) {
			const double ns = 1000.0 * q->point[i].srtt_us, cwnd = q->point[i].cwnd;

			if (!span_of(of, t, t->nr, q, i, &span))
				continue;
			for (unsigned int b = span.first; b <= span.last; b++) {
				struct html_tcp_bin *bin = &t->tcp[b];

				if (ns > 0 && ns > bin->srtt_ns)
					bin->srtt_ns = ns;
				bin->cwnd = bin->cwnd < 0 || cwnd < bin->cwnd ? cwnd : bin->cwnd;
				bin->again = (bin->again > 0 ? bin->again : 0) + again_in(&span, b);
			}
		}
	return 0;
}

/* The same of one connection, as small as a word. */
static void put_sparks(FILE *f, const struct html_tcp_of *of, const struct html_figure *t,
		       const struct tcp_queue *q)
{
	enum { SRTT, CWND, AGAIN, CURVES };
	struct timeline_spark spark[CURVES][TIMELINE_SPARKS] = {0};
	struct tcp_span span;

	for (size_t i = 0; q && i < q->nr_points; i++) {
		if (!span_of(of, t, TIMELINE_SPARKS, q, i, &span))
			continue;
		for (unsigned int b = span.first; b <= span.last; b++) {
			spark[SRTT][b].count++;
			spark[SRTT][b].sum += q->point[i].srtt_us;
			spark[CWND][b].count++;
			spark[CWND][b].sum += q->point[i].cwnd;
			spark[AGAIN][b].count = 1;
			spark[AGAIN][b].sum += (uint64_t)(1000 * again_in(&span, b));
		}
	}
	for (unsigned int i = 0; i < CURVES; i++) {
		fputs("<td>", f);
		html_spark(f, spark[i], TIMELINE_SPARKS);
	}
}

int html_tcp(FILE *f, struct html_figure *t, const struct html_tcp_of *of, const char *id)
{
	int err = tcp_bins(of, t);

	if (err)
		return err;
	html_tcp_over_time(f, t, id);
	html_table_begin(f, id, "rows");
	html_heads(f, &tcp_columns, HTML_ALL(&tcp_columns));
	fputs("<th class=t>srtt over time<th class=t>cwnd over time<th class=t>sent again over time"
	      "<tbody>\n",
	      f);
	for (size_t i = 0; i < of->rows->nr && i < ROWS_MAX; i++) {
		const struct tcp_row *row = &of->rows->row[i];

		fputs("<tr>", f);
		html_cells(f, &tcp_columns, HTML_ALL(&tcp_columns), row);
		put_sparks(f, of, t, tcp_history_queue_of(of->h, of->stream, row));
	}
	html_table_end(f);
	if (of->rows->nr > ROWS_MAX)
		fprintf(f, "<p>%zu more.</p>", of->rows->nr - ROWS_MAX);
	return 0;
}
