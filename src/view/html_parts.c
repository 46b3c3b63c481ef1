// SPDX-License-Identifier: GPL-2.0-only
#include "view/html_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "merge/merge.h"
#include "view/html_charts.h"
#include "view/html_tcp.h"
#include "view/html_write.h"
#include "view/lines.h"
#include "view/path_events.h"
#include "view/verdict.h"

/* More rows of a table than users look at. */
#define ROWS_MAX 100u
/* Operations above the pictures, and those whose stages have one; tables have all. */
#define TILES_MAX 4u
#define LANES_MAX 2u
/* Events of controllers with a mark and a row: the last ones. */
#define EVENTS_MAX 50u
/* Recordings whose TCP connections have pictures and rows, some 60 kB each. */
#define TCP_INPUTS_MAX 4u
/* Parts of the time in these pictures: states are read once a second. */
#define TCP_PARTS_MAX 128u

const char *html_machine(const struct html_subject *s, unsigned int stream)
{
	return machines_get(s->r->machines, stream)->name;
}

static bool is_io(unsigned int op)
{
	return op != NT_OP_ADMIN && op != NT_OP_FABRICS;
}

/* Sorts the operations that have commands, the one that took the most time first. */
static unsigned int operations(const struct html_subject *s, unsigned char op[NT_OPS_NR])
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < NT_OPS_NR; i++) {
		unsigned int at = nr;

		if (!s->latency[i].count)
			continue;
		for (; at && (is_io(op[at - 1]) < is_io(i) ||
			      (is_io(op[at - 1]) == is_io(i) &&
			       s->latency[op[at - 1]].sum < s->latency[i].sum));
		     at--)
			op[at] = op[at - 1];
		op[at] = (unsigned char)i;
		nr++;
	}
	return nr;
}

/* Where slow commands come from, in a line. */
static int put_why(FILE *f, const struct html_subject *s)
{
	const struct why_view *w = &s->r->why[s->merged ? s->r->nr : s->stream];
	struct html_print p;
	int err;

	if (!w->why)
		return 0;
	err = html_print_begin(&p);
	if (err)
		return err;
	why_print_brief(w, p.f, WRAP_NEVER);
	return html_print_end(&p, f, "why");
}

static void put_selected(FILE *f, const struct html_subject *s)
{
	uint64_t of = s->r->nr_matched, taken = s->r->nr_taken;

	if (!s->merged)
		taken = unmatched_taken(s->r->unmatched, s->stream, &of);
	if (s->r->filtered)
		fprintf(f, "<p>Selected: %" PRIu64 " of %" PRIu64 " %scommands.</p>", taken, of,
			s->merged ? "merged " : "");
}

/* The answer. */
static int put_verdict(FILE *f, const struct html_subject *s)
{
	unsigned char op[NT_OPS_NR];
	unsigned int nr = operations(s, op);
	struct html_print p;
	int err = html_print_begin(&p);

	if (!err)
		err = s->merged ? verdict_print_merged(s->merged, p.f, WRAP_NEVER)
				: verdict_print_side(s->side, html_machine(s, s->stream), p.f,
						     WRAP_NEVER);
	if (p.f && html_print_end(&p, f, "verdict"))
		err = -ENOMEM;
	if (!err)
		err = put_why(f, s);
	put_selected(f, s);
	fputs("<div class=tiles>", f);
	for (unsigned int i = 0; i < nr && i < TILES_MAX; i++) {
		const struct hist_row row = {.h = &s->latency[op[i]], .op = op[i]};
		static const unsigned char shown[] = {OPERATION_P50, OPERATION_P99, OPERATION_MAX};
		char buf[CELL_LEN];
		struct value v;

		fprintf(f, "<div><b>%s</b><span>%" PRIu64 " commands</span><dl>", op_name(op[i]),
			row.h->count);
		for (unsigned int k = 0; k < ARRAY_SIZE(shown); k++) {
			const struct column *c = &operation_columns.column[shown[k]];

			columns_get(&operation_columns, shown[k], &row, &v);
			fprintf(f, "<div><dt>%s<dd>%s</div>", c->title,
				cell_format(buf, sizeof(buf), c, &v));
		}
		fputs("</dl></div>", f);
	}
	fputs("</div>\n", f);
	return err;
}

/* Lanes as columns of a grid: where a stage is, or the lanes that it may be in. */
static void put_place(FILE *f, unsigned int where)
{
	unsigned int first = where & STAGE_AT_HOST	? 1
			     : where & STAGE_AT_NETWORK ? 2
			     : where			? 3
							: 1;
	unsigned int end = where & (STAGE_AT_TARGET | STAGE_AT_DEVICE) ? 4
			   : where & STAGE_AT_NETWORK		       ? 3
			   : where				       ? 2
								       : 4;

	fprintf(f, "style='grid-column:%u/%u'", first, end);
}

/* Names of stages may be broken behind each underscore. */
static void put_stage_name(FILE *f, const char *name)
{
	for (; *name; name++) {
		fputc(*name, f);
		if (*name == '_' || *name == '+')
			fputs("<wbr>", f);
	}
}

static void put_lanes(FILE *f, const struct html_subject *s, unsigned int op)
{
	static const unsigned char shown[] = {STAGE_MEAN, STAGE_P99};
	char buf[CELL_LEN];
	struct value v;

	fprintf(f,
		"<figure><figcaption>%s</figcaption><ol class=lanes><li class=lane>host"
		"<li class=lane>network<li class=lane>target",
		op_name(op));
	for (unsigned int i = 0; i < s->stages.nr; i++) {
		const struct stage_row *row = &s->stages.row[i];

		if (row->base.op != op || row->unknown)
			continue;
		columns_get(&stage_columns, STAGE_SHARE, row, &v);
		fprintf(f, "<li class='stage w%u' ", row->where);
		put_place(f, row->where);
		fputs("><b>", f);
		put_stage_name(f, row->stage);
		fprintf(f, "</b><span>%s</span>",
			cell_format(buf, sizeof(buf), &stage_columns.column[STAGE_SHARE], &v));
		fprintf(f, "<i style='width:%.1f%%'></i><small>", v.real > 0 ? 100 * v.real : 0.0);
		for (unsigned int k = 0; k < ARRAY_SIZE(shown); k++) {
			columns_get(&stage_columns, shown[k], row, &v);
			fprintf(f, "%s %s", k ? "<br>p99" : "mean",
				cell_format(buf, sizeof(buf), &stage_columns.column[shown[k]], &v));
		}
		fputs("</small>", f);
	}
	fputs("</ol></figure>\n", f);
}

static int put_stages(FILE *f, const struct html_subject *s)
{
	unsigned char op[NT_OPS_NR];
	unsigned int nr = operations(s, op);

	fputs("<div class=pair>", f);
	for (unsigned int i = 0; i < nr && i < LANES_MAX && is_io(op[i]) == is_io(op[0]); i++)
		put_lanes(f, s, op[i]);
	fputs("</div><details><summary>Figures as a table</summary>", f);
	html_table(f, s->id, "stages", &stage_columns, (const char *)s->stages.row, s->stages.nr,
		   sizeof(s->stages.row[0]));
	fputs("</details>", f);
	return 0;
}

/* Commands in a part of the time of a picture, so that it shows more than single ones. */
#define PER_PART 100u
#define PARTS_MIN 16u
#define PER_COLUMN 20u
#define COLUMNS_MIN 32u

static bool is_about(const struct html_subject *s, unsigned int stream)
{
	return s->merged ? s->r->inputs[stream].begun && !unmatched_is(s->r->unmatched, stream)
			 : stream == s->stream;
}

/* Nanoseconds of a recording's clock after the first bin of a picture. */
static int64_t after_ns(const struct html_subject *s, const struct html_figure *figure,
			unsigned int stream, uint64_t ns)
{
	uint64_t to = s->merged ? (uint64_t)s->r->inputs[stream].to_common : 0;

	return (int64_t)(ns + to - figure->from_ns);
}

/* A picture with marks; @past: set to the events that have none. Return: 0 or -ENOMEM */
static int figure_with_events(struct html_figure *figure, const struct html_subject *s,
			      unsigned int commands, unsigned int least, uint64_t *past)
{
	const struct path_events *p = s->r->path_events;
	struct path_lines *lines = &figure->events;
	int err = html_figure(figure, s->t, commands, least);

	*past = p->total - p->nr;
	if (err || !p->nr)
		return err;
	lines->line = calloc(p->nr, sizeof(*lines->line));
	if (!lines->line) {
		html_figure_free(figure);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->nr; i++) {
		const struct nt_path_event *e = path_events_at(p, i);

		if (is_about(s, e->input))
			lines->line[lines->nr++] = (struct path_line){
				.e = e,
				.after_ns = after_ns(s, figure, e->input, e->ns),
				.machine = html_machine(s, e->input),
			};
	}
	path_lines_sort(lines);
	if (lines->nr > EVENTS_MAX) {
		*past += lines->nr - EVENTS_MAX;
		memmove(lines->line, lines->line + lines->nr - EVENTS_MAX,
			EVENTS_MAX * sizeof(*lines->line));
		lines->nr = EVENTS_MAX;
	}
	return 0;
}

static void put_events(FILE *f, const struct html_subject *s, const struct html_figure *figure,
		       uint64_t past)
{
	const struct path_lines *lines = &figure->events;

	if (!lines->nr)
		return;
	fputs("<h3>Events of controllers</h3>", f);
	html_table_begin(f, s->id, "events");
	fputs("<th scope=col class=n>mark", f);
	html_heads(f, &path_event_columns, HTML_ALL(&path_event_columns));
	fputs("<th scope=col class=n>after<th scope=col class=t>machine<tbody>\n", f);
	for (size_t i = 0; i < lines->nr; i++) {
		const struct path_line *l = &lines->line[i];

		fprintf(f, "<tr><th scope=row data-v=%zu>%zu", i + 1, i + 1);
		html_cells(f, &path_event_columns, HTML_ALL(&path_event_columns), l->e);
		fprintf(f, "<td class=n data-v=%" PRId64 ">%.3f s<td class=t>", l->after_ns,
			(double)l->after_ns / 1e9);
		html_text(f, l->machine);
	}
	html_table_end(f);
	if (past)
		fprintf(f, "<p>Earlier events that have no mark: %" PRIu64 "</p>", past);
}

static int put_over_time(FILE *f, const struct html_subject *s)
{
	struct html_figure figure;
	uint64_t past;
	int err = figure_with_events(&figure, s, PER_PART, PARTS_MIN, &past);
	const struct input *in = &s->r->inputs[s->stream];
	char buf[16];
	struct value v;

	if (err)
		return err;
	value_time(&v, instant_wall(&in->clock,
				    figure.from_ns - (s->merged ? (uint64_t)in->to_common : 0)));
	fprintf(f, "<p>From %s on, by the clock of ", v.none ? "an unknown time" : v.text);
	html_text(f, html_machine(s, s->stream));
	fprintf(f, ". Each part is %s long, but the first and the last one may be shorter.</p>",
		duration_format(buf, sizeof(buf), (double)figure.width_ns));
	if (figure.events.nr)
		fputs("<p>Lines with numbers: events of controllers, see the table below.</p>", f);
	html_over_time(f, &figure, s->id);
	put_events(f, s, &figure, past);
	html_figure_free(&figure);
	return 0;
}

/* The connections of a recording that have their states, if the subject is about it. */
static void tcp_rows_of(const struct html_subject *s, unsigned int stream, struct tcp_rows *rows)
{
	*rows = (struct tcp_rows){.asked = true};
	if (is_about(s, stream))
		tcp_history_rows(s->r->tcp, stream, rows);
}

/* A broken recording may have commands of which none has a beginning: there is no axis then. */
static bool has_tcp(const struct html_subject *s)
{
	const unsigned int nr = s->r->tcp && s->t->time.nr ? s->r->nr : 0;
	const struct tcp_queue *q = NULL;

	for (unsigned int i = 0; !q && i < nr; i++) {
		q = is_about(s, i) ? tcp_history_first(s->r->tcp, i) : NULL;
		while (q && !q->states)
			q = q->hh.next;
	}
	return q;
}

/* Commands in a part of the time, so that there are not more than TCP_PARTS_MAX parts. */
static unsigned int per_tcp_part(const struct html_subject *s)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < s->t->time.nr; i++)
		all += s->t->bin[i].h.count;
	all = all / TCP_PARTS_MAX + 1;
	return all < PER_PART ? PER_PART : all < UINT32_MAX ? (unsigned int)all : UINT32_MAX;
}

static int put_tcp_of(FILE *f, const struct html_subject *s, unsigned int stream,
		      const struct tcp_rows *rows)
{
	uint64_t add = s->merged ? (uint64_t)s->r->inputs[stream].to_common : 0;
	struct html_figure figure;
	uint64_t past;
	char id[64];
	int err = figure_with_events(&figure, s, per_tcp_part(s), PARTS_MIN, &past);

	if (err)
		return err;
	fputs("<h3>", f);
	html_text(f, html_machine(s, stream));
	fputs("</h3>\n", f);
	snprintf(id, sizeof(id), "%s-tcp-%u", s->id, stream);
	err = html_tcp(f, &figure, &(struct html_tcp_of){s->r->tcp, stream, add, rows}, id);
	html_figure_free(&figure);
	return err;
}

static int put_tcp(FILE *f, const struct html_subject *s)
{
	unsigned int shown = 0, past = 0;
	struct tcp_rows rows;
	int err = 0;

	for (unsigned int i = 0; !err && i < s->r->nr; i++) {
		tcp_rows_of(s, i, &rows);
		if (rows.nr && shown < TCP_INPUTS_MAX)
			err = put_tcp_of(f, s, i, &rows);
		past += rows.nr && shown >= TCP_INPUTS_MAX;
		shown += rows.nr && shown < TCP_INPUTS_MAX;
		tcp_rows_free(&rows);
	}
	if (past)
		fprintf(f, "<p>Further recordings of TCP connections: %u</p>", past);
	return err;
}

static int put_heat_map(FILE *f, const struct html_subject *s)
{
	struct html_figure figure;
	uint64_t past;
	int err = figure_with_events(&figure, s, PER_COLUMN, COLUMNS_MIN, &past);

	if (err)
		return err;
	html_heat_map(f, &figure);
	html_figure_free(&figure);
	return 0;
}

static int put_in_flight(FILE *f, const struct html_subject *s)
{
	struct html_figure figure;
	int err = html_figure(&figure, s->t, PER_PART, PARTS_MIN);

	if (err)
		return err;
	html_in_flight(f, &figure);
	html_figure_free(&figure);
	return 0;
}

static bool has_addresses(const struct html_subject *s)
{
	return s->t->lba.nr;
}

static int put_addresses(FILE *f, const struct html_subject *s)
{
	struct html_figure figure;
	int err = html_figure(&figure, s->t, PER_COLUMN, COLUMNS_MIN);

	if (err)
		return err;
	html_addresses(f, &figure, &s->t->lba);
	html_figure_free(&figure);
	return 0;
}

/* Shares of the commands, by how long they took, in parts of HIST_PARTS. */
static const struct {
	const char *name;
	uint32_t from;
	uint32_t to;
} bands[] = {
	{"fastest 50 %", 0, 50 * HIST_PARTS_OF_PERCENT},
	{"p50 to p90", 50 * HIST_PARTS_OF_PERCENT, 90 * HIST_PARTS_OF_PERCENT},
	{"p90 to p99", 90 * HIST_PARTS_OF_PERCENT, 99 * HIST_PARTS_OF_PERCENT},
	{"p99 to p99.9", 99 * HIST_PARTS_OF_PERCENT, 999 * (HIST_PARTS_OF_PERCENT / 10)},
	{"slowest 0.1 %", 999 * (HIST_PARTS_OF_PERCENT / 10), HIST_PARTS},
};

/* The means of the stages of the commands of a band. */
struct made_of {
	double commands;
	double ns[NT_MERGED_STAGES_NR];
	double whole;
};

static uint64_t split_of(const struct timeline_band *b)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < NT_BUCKETS; i++)
		all += b[i].count;
	return all;
}

/* A bucket of which a part is in the band counts with that part. */
static void band_of(const struct timeline_band *b, unsigned int band, double all, struct made_of *m)
{
	double from = all * bands[band].from / HIST_PARTS, to = all * bands[band].to / HIST_PARTS;
	double seen = 0;

	memset(m, 0, sizeof(*m));
	for (unsigned int i = 0; i < NT_BUCKETS; i++) {
		double n = (double)b[i].count, low = seen > from ? seen : from;
		double high = seen + n < to ? seen + n : to;

		seen += n;
		if (high <= low)
			continue;
		m->commands += high - low;
		for (unsigned int k = 0; k < NT_MERGED_STAGES_NR; k++)
			m->ns[k] += (double)b[i].sum[k] * (high - low) / n;
	}
	for (unsigned int k = 0; k < NT_MERGED_STAGES_NR; k++) {
		m->ns[k] = m->commands ? m->ns[k] / m->commands : 0;
		m->whole += m->ns[k] > 0 ? m->ns[k] : 0;
	}
}

static const char *name_of(const struct html_subject *s, unsigned int stage, char *buf, size_t size)
{
	struct group_stages named = {.of = s->merged ? NT_SIDES : s->side->side};

	memcpy(named.joined, s->t->joined, sizeof(named.joined));
	return group_stages_name(&named, stage, buf, size);
}

/* A stage's colour: its place, and its number. */
static void put_band(FILE *f, const struct html_subject *s, unsigned int band,
		     const struct made_of *m)
{
	char name[STAGE_NAME_LEN], time[16];

	fprintf(f,
		"<tr><th scope=row>%s<td class=n data-v=%.9g>%s<td class='n wide'>%.0f<td class=bar>"
		"<div class=stack>",
		bands[band].name, m->whole, duration_format(time, sizeof(time), m->whole),
		m->commands);
	for (unsigned int k = 0; k < NT_MERGED_STAGES_NR; k++) {
		double share = m->whole > 0 ? 100 * m->ns[k] / m->whole : 0;

		if (share <= 0)
			continue;
		name_of(s, k, name, sizeof(name));
		fprintf(f, "<span class='%c%u' style='width:%.2f%%' title='%s %s, %.1f %%'>",
			s->merged ? 's' : "ab"[s->side->side], k, share, name,
			duration_format(time, sizeof(time), m->ns[k]), share);
		if (share >= 12)
			fprintf(f, "%s %.0f %%", name, share);
		fputs("</span>", f);
	}
	fputs("</div>", f);
}

static const char *const kinds[] = {"read", "write", "others"};

/* A row for each stage, a column for each band that has commands. */
static void put_band_figures(FILE *f, const struct html_subject *s, const char *kind,
			     const struct made_of m[ARRAY_SIZE(bands)])
{
	char name[STAGE_NAME_LEN], time[16];

	fputs("<details><summary>Figures as a table</summary>", f);
	snprintf(name, sizeof(name), "bands-%s", kind);
	html_table_begin(f, s->id, name);
	fputs("<th scope=col class=t>stage", f);
	for (unsigned int i = 0; i < ARRAY_SIZE(bands); i++)
		if (m[i].commands >= 1)
			fprintf(f, "<th scope=col class=n>%s", bands[i].name);
	fputs("<tbody>\n", f);
	for (unsigned int k = 0; k < NT_MERGED_STAGES_NR; k++) {
		if (!s->t->joined[k])
			continue;
		fprintf(f, "<tr><th scope=row>%s", name_of(s, k, name, sizeof(name)));
		for (unsigned int i = 0; i < ARRAY_SIZE(bands); i++)
			if (m[i].commands >= 1)
				fprintf(f, "<td class=n data-v=%.9g>%s", m[i].ns[k],
					duration_format(time, sizeof(time), m[i].ns[k]));
	}
	html_table_end(f);
	fputs("</details>", f);
}

/* Half of a single command would be in each band. */
static bool can_be_split(const struct timeline_band *b)
{
	return split_of(b) > 1;
}

static void put_bands_of(FILE *f, const struct html_subject *s, unsigned int kind)
{
	const struct timeline_band *b = s->t->band[kind];
	struct made_of m[ARRAY_SIZE(bands)];

	if (!can_be_split(b))
		return;
	fprintf(f, "<figure><figcaption>%s</figcaption>", kinds[kind]);
	fputs("<div class=scroll tabindex=0 role=region aria-label=bands><table class=bands><thead><tr>"
	      "<th class=t>commands<th class=n>mean<th class='n wide'>how many"
	      "<th class='bar t'>what they are made of<tbody>",
	      f);
	for (unsigned int i = 0; i < ARRAY_SIZE(bands); i++) {
		band_of(b, i, (double)split_of(b), &m[i]);
		if (m[i].commands >= 1)
			put_band(f, s, i, &m[i]);
	}
	fputs("</table></div>", f);
	put_band_figures(f, s, kinds[kind], m);
	fputs("</figure>\n", f);
}

static bool has_bands(const struct html_subject *s)
{
	for (unsigned int kind = 0; kind < TIMELINE_KINDS; kind++)
		if (can_be_split(s->t->band[kind]))
			return true;
	return false;
}

static int put_bands(FILE *f, const struct html_subject *s)
{
	char name[STAGE_NAME_LEN];

	fputs("<p class='legend keys'>", f);
	for (unsigned int k = 0; k < NT_MERGED_STAGES_NR; k++)
		if (s->t->joined[k])
			fprintf(f, "<span><i class='%c%u'></i>%s</span> ",
				s->merged ? 's' : "ab"[s->side->side], k,
				name_of(s, k, name, sizeof(name)));
	fputs("</p>", f);
	for (unsigned int kind = 0; kind < TIMELINE_KINDS; kind++)
		put_bands_of(f, s, kind);
	return 0;
}

/*
 * Rows of what commands have in common. @machine, @controller, @peer: of a queue; "" if they are
 * not known.
 */
struct names {
	const char *machine;
	const char *peer;
	char controller[32];
	unsigned int queue;
	const char *op;
};

static void names_of(const struct html_subject *s, const struct timeline_cell *c, struct names *n)
{
	const struct totals_row *row = c->owner;
	const struct stats_row *one = c->owner;

	*n = (struct names){.machine = html_machine(s, s->stream), .peer = "", .op = ""};
	if (!c->owner) {
		n->machine = html_machine(s, (unsigned int)(c->what >> 16));
	} else if (s->merged) {
		n->machine = html_machine(s, row->connection->host_stream);
		n->peer = row->connection->subsysnqn;
		snprintf(n->controller, sizeof(n->controller), "nvme%u",
			 row->connection->host_instance);
		n->queue = row->connection->qid;
		n->op = op_name(row->op);
	} else {
		n->peer = one->peer;
		snprintf(n->controller, sizeof(n->controller), "%s", one->controller);
		n->queue = one->qid;
		n->op = op_name(one->op);
	}
}

enum by { BY_QUEUE, BY_CONTROLLER, BY_NAMESPACE, BY_SIZE, BY_CPU, BYS };

static bool same(const struct html_subject *s, enum by by, const struct timeline_cell *a,
		 const struct timeline_cell *b)
{
	struct names x, y;

	names_of(s, a, &x);
	names_of(s, b, &y);
	if (by == BY_CPU)
		return a->what == b->what;
	if (by == BY_SIZE)
		return x.op == y.op && a->what == b->what;
	if (by == BY_NAMESPACE)
		return x.op == y.op && a->what == b->what && !strcmp(x.machine, y.machine) &&
		       !strcmp(x.peer, y.peer) && !strcmp(a->disk, b->disk);
	return x.op == y.op && !strcmp(x.machine, y.machine) && !strcmp(x.peer, y.peer) &&
	       !strcmp(x.controller, y.controller) && (by == BY_CONTROLLER || x.queue == y.queue);
}

static int by_time(const void *a, const void *b)
{
	const struct timeline_cell *const *x = a, *const *y = b;

	return (*x)->h.sum > (*y)->h.sum ? -1 : (*x)->h.sum < (*y)->h.sum;
}

static bool is_namespace(const struct timeline_cell *c)
{
	return c->owner && c->what & TIMELINE_NAMESPACE;
}

/* Adds up cells that are the same by a key. Return: their number, -1 if memory ran out. */
static int gather(const struct html_subject *s, enum by by, struct timeline_cell **row)
{
	int nr = 0;

	for (unsigned int i = 0; i < s->t->nr_cells; i++) {
		const struct timeline_cell *cell = s->t->cell[i];
		int at = 0;

		if (!cell->owner != (by == BY_CPU) || is_namespace(cell) != (by == BY_NAMESPACE))
			continue;
		while (at < nr && !same(s, by, row[at], cell))
			at++;
		if (at < nr) {
			hist_merge(&row[at]->h, &cell->h);
			for (unsigned int k = 0; k < TIMELINE_SPARKS; k++) {
				row[at]->spark[k].count += cell->spark[k].count;
				row[at]->spark[k].sum += cell->spark[k].sum;
			}
			continue;
		}
		row[nr] = malloc(sizeof(*row[nr]));
		if (!row[nr])
			return -1;
		*row[nr++] = *cell;
	}
	qsort(row, (size_t)nr, sizeof(*row), by_time);
	return nr;
}

static const struct {
	const char *name;
	const char *heads;
} tables[BYS] = {
	[BY_QUEUE] = {"queues", "<th scope=col class=t>machine<th scope=col class=t>controller"
				"<th scope=col class=n>queue<th scope=col class=t>op"},
	[BY_CONTROLLER] = {"controllers", "<th scope=col class=t>machine"
					  "<th scope=col class=t>controller"
					  "<th scope=col class=t>subsystem or host"
					  "<th scope=col class=t>op"},
	[BY_NAMESPACE] = {"namespaces", "<th scope=col class=t>machine<th scope=col class=t>disk"
					"<th scope=col class=t>subsystem or host"
					"<th scope=col class=n>nsid<th scope=col class=t>op"},
	[BY_SIZE] = {"sizes", "<th scope=col class=n>bytes<th scope=col class=t>op"},
	[BY_CPU] = {"cpus", "<th scope=col class=t>machine<th scope=col class=n>cpu"},
};

static void put_key(FILE *f, const struct html_subject *s, enum by by,
		    const struct timeline_cell *c)
{
	struct names n;

	names_of(s, c, &n);
	fputs("<tr>", f);
	if (by != BY_SIZE) {
		fputs("<td class=t>", f);
		html_text(f, n.machine);
	}
	if (by == BY_QUEUE || by == BY_CONTROLLER) {
		fputs("<td class=t>", f);
		html_text(f, n.controller[0] ? n.controller : "?");
	}
	if (by == BY_NAMESPACE) {
		fputs("<td class=t>", f);
		html_text(f, c->disk[0] ? c->disk : "?");
	}
	if (by == BY_CONTROLLER || by == BY_NAMESPACE) {
		fputs("<td class=t>", f);
		html_text(f, n.peer[0] ? n.peer : "?");
	}
	if (by == BY_NAMESPACE)
		fprintf(f, "<td class=n data-v=%u>%u", (uint32_t)c->what, (uint32_t)c->what);
	if (by == BY_QUEUE)
		fprintf(f, "<td class=n data-v=%u>%u", n.queue, n.queue);
	if (by == BY_SIZE)
		fprintf(f, "<td class=n data-v=%" PRIu64 ">%" PRIu64, c->what, c->what);
	if (by == BY_CPU)
		fprintf(f, "<td class=n data-v=%u>%u", (unsigned int)(c->what & 0xffff),
			(unsigned int)(c->what & 0xffff));
	else
		fprintf(f, "<td class=t>%s", n.op);
}

static unsigned int sparks_of(const struct timeline *t)
{
	uint64_t last = t->time.base + t->time.nr - 1;

	return t->time.nr ? (unsigned int)((last >> TIMELINE_SPARK_SHIFT) -
					   (t->time.base >> TIMELINE_SPARK_SHIFT)) +
				    1
			  : 0;
}

static bool several_namespaces(struct timeline_cell *const *row, int nr)
{
	for (int i = 1; i < nr; i++)
		if (row[i]->what != row[0]->what || strcmp(row[i]->disk, row[0]->disk) != 0)
			return true;
	return false;
}

static int put_rows_by(FILE *f, const struct html_subject *s, enum by by)
{
	static const unsigned char shown[] = {OPERATION_COMMANDS, OPERATION_MEAN,  OPERATION_P50,
					      OPERATION_P99,	  OPERATION_P99_9, OPERATION_MAX};
	struct timeline_cell **row = calloc(s->t->nr_cells + 1, sizeof(*row));
	int nr = row ? gather(s, by, row) : -1;
	bool shows = nr > 0 && (by != BY_NAMESPACE || several_namespaces(row, nr));

	if (shows) {
		fprintf(f, "<h3>%s</h3>", by == BY_CPU ? "CPUs" : tables[by].name);
		html_table_begin(f, s->id, tables[by].name);
		fputs(tables[by].heads, f);
		html_heads(f, &operation_columns, shown, ARRAY_SIZE(shown));
		fputs("<th class=t>mean over time<tbody>\n", f);
	}
	for (int i = 0; shows && i < nr && i < (int)ROWS_MAX; i++) {
		const struct hist_row h = {.h = &row[i]->h};

		put_key(f, s, by, row[i]);
		html_cells(f, &operation_columns, shown, ARRAY_SIZE(shown), &h);
		fputs("<td>", f);
		html_spark(f, row[i]->spark, sparks_of(s->t));
	}
	if (shows)
		html_table_end(f);
	if (shows && nr > (int)ROWS_MAX)
		fprintf(f, "<p>%d more, which took less time.</p>", nr - (int)ROWS_MAX);
	for (unsigned int i = 0; row && i < s->t->nr_cells && row[i]; i++)
		free(row[i]);
	free(row);
	return nr < 0 ? -ENOMEM : 0;
}

static int put_rows(FILE *f, const struct html_subject *s)
{
	int err = 0;

	for (unsigned int by = 0; !err && by < BYS; by++)
		err = put_rows_by(f, s, (enum by)by);
	if (s->t->others)
		fprintf(f,
			"<p>%" PRIu64
			" commands of further queues, namespaces and sizes are in not all tables.</p>",
			s->t->others);
	return err;
}

static int put_distribution(FILE *f, const struct html_subject *s)
{
	unsigned char op[NT_OPS_NR];
	unsigned int nr = operations(s, op);

	fputs("<div class=pair>", f);
	for (unsigned int i = 0; i < nr; i++)
		html_distribution(f, &s->latency[op[i]], op_name(op[i]));
	fputs("</div>", f);
	html_table_begin(f, s->id, "operations");
	html_heads(f, &operation_columns, HTML_ALL(&operation_columns));
	fputs("<tbody>\n", f);
	for (unsigned int i = 0; i < nr; i++) {
		const struct hist_row row = {.h = &s->latency[op[i]], .op = op[i]};

		fputs("<tr>", f);
		html_cells(f, &operation_columns, HTML_ALL(&operation_columns), &row);
	}
	html_table_end(f);
	return 0;
}

static bool has_slowest(const struct html_subject *s)
{
	return s->merged ? s->merged->nr_slowest : s->t->nr_slow;
}

static void put_gantt(FILE *f, const struct point_row *point, int64_t whole)
{
	static const unsigned char shown[] = {POINT_AT, POINT_SIDE, POINT_POINT, POINT_STAGE,
					      POINT_TOOK};
	double all = whole > 0 ? (double)whole : 1, end = 100 * (double)point->at / all;
	double long_ = point->has_took && point->took > 0 ? 100 * (double)point->took / all : 0;

	end = end < 0 ? 0 : end > 100 ? 100 : end;
	long_ = long_ > end ? end : long_;
	fputs("<tr>", f);
	html_cells(f, &point_columns, shown, ARRAY_SIZE(shown), point);
	fprintf(f,
		"<td class=bar><div class=gantt><i class='%s' style='margin-left:%.2f%%;width:%.2f%%'>"
		"</i></div>",
		point->crosses ? "cross" : side_name(point->side), end - long_, long_);
}

/* The columns @what of a row that have a value. */
static void put_what(FILE *f, const struct columns *t, const unsigned char *what, size_t nr,
		     const void *row)
{
	char cell[CELL_LEN];

	for (size_t k = 0; k < nr; k++) {
		const struct column *c = &t->column[what[k]];
		struct value v;

		columns_get(t, what[k], row, &v);
		if (v.none)
			continue;
		fprintf(f, "<div><dt>%s<dd>", c->title);
		html_text(f,
			  v.type == VALUE_TEXT ? v.text : cell_format(cell, sizeof(cell), c, &v));
		fputs("</div>", f);
	}
}

/* @nr: of @points; @i: how many are slower */
static void put_story(FILE *f, const struct command_line *l, const struct point_row *points,
		      unsigned int nr, unsigned int i)
{
	static const unsigned char what[] = {COMMAND_TIME,  COMMAND_SUBSYSTEM, COMMAND_CNTLID,
					     COMMAND_QUEUE, COMMAND_OP,	       COMMAND_LENGTH,
					     COMMAND_SLBA,  COMMAND_STATUS,    COMMAND_LATENCY};
	static const unsigned char from[] = {ORIGIN_CPU, ORIGIN_PID, ORIGIN_COMM, ORIGIN_CGROUP};
	char cell[CELL_LEN];

	fprintf(f, "<details%s><summary>%u: %s, %s</summary>", i ? "" : " open", i + 1,
		op_name(l->row.r->op < NT_OPS_NR ? l->row.r->op : NT_OP_OTHER),
		duration_format(cell, sizeof(cell), (double)l->row.latency));
	fputs("<dl class=what>", f);
	put_what(f, &command_columns, what, ARRAY_SIZE(what), &l->row);
	if (l->origin)
		put_what(f, &origin_columns, from, ARRAY_SIZE(from), l->origin);
	fputs("</dl><div class=scroll tabindex=0 role=region aria-label=command><table class=story>"
	      "<thead><tr><th class=n>at<th class=t>side<th class=t>point<th class=t>stage"
	      "<th class=n>took<th class='bar t'>when<tbody>\n",
	      f);
	for (unsigned int k = 0; k < nr; k++)
		put_gantt(f, &points[k], points[nr - 1].at);
	fputs("</table></div></details>\n", f);
}

static int put_slowest(FILE *f, const struct html_subject *s)
{
	struct point_row points[STORY_POINTS_MAX];
	struct story_names names;
	struct command_line l;

	for (unsigned int i = 0; s->merged && i < s->merged->nr_slowest; i++) {
		const struct slow_command *c = &s->merged->slowest[i];

		command_line_slow(&l, c, &s->r->inputs[c->connection.host_stream].clock);
		put_story(f, &l, points, story_points(c, &names, points), i);
	}
	for (unsigned int i = 0; !s->merged && i < s->t->nr_slow; i++) {
		const struct nt_record *r = &s->t->slow[i].r;

		command_line_of_side(&l, NULL, r, s->side->missing, &s->r->inputs[s->stream].clock);
		put_story(f, &l, points, story_points_of_side(r, s->side->missing, &names, points),
			  i);
	}
	return 0;
}

/*
 * The parts of a subject, from the answer down to what explains it. @any: NULL: there always is
 * something.
 */
static const struct section {
	const char *id;
	const char *title;
	const char *what;
	bool (*any)(const struct html_subject *s);
	int (*put)(FILE *f, const struct html_subject *s);
} sections[] = {
	{"verdict", "Answer", NULL, NULL, put_verdict},
	{"stages-of", "Stages",
	 "What a command passes, from top to bottom: bars are shares of all time.", NULL,
	 put_stages},
	{"over-time", "Over time",
	 "Commands are where they began. Triangles: commands that failed.", NULL, put_over_time},
	{"tcp", "TCP",
	 "The connections of the queues of each machine. Rows have the longest srtt, the smallest cwnd, and the "
	 "most that waited; the rest is of the end, and of all the time.",
	 has_tcp, put_tcp},
	{"heat-map", "Heat map", "How many commands took how long.", NULL, put_heat_map},
	{"bands", "Fast and slow commands",
	 "What they are made of: mean stages of the commands between two percentiles of the latency.",
	 has_bands, put_bands},
	{"rows", "Rows",
	 "Of queues, controllers, namespaces, sizes and CPUs. Those that took the most time come first; a "
	 "heading sorts by its column.",
	 NULL, put_rows},
	{"distribution", "Distribution", NULL, NULL, put_distribution},
	{"in-flight", "In flight",
	 "Latency by how many commands were in flight on average in a part of the time.", NULL,
	 put_in_flight},
	{"addresses", "Addresses", "How many commands began at which logical blocks.",
	 has_addresses, put_addresses},
	{"slowest", "Slowest",
	 "What each of them passed; of both sides on the host's clock. Striped bars are waits for the "
	 "other machine.",
	 has_slowest, put_slowest},
};

/* Where no command is, there is the answer only. */
static bool is_there(const struct html_subject *s, unsigned int i)
{
	return !i || (s->t && s->t->time.nr && (!sections[i].any || sections[i].any(s)));
}

int html_parts(FILE *f, const struct html_subject *s,
	       int (*recordings)(FILE *f, const struct json_report *r))
{
	int err = 0;

	for (unsigned int i = 0; !err && i < ARRAY_SIZE(sections); i++) {
		const struct section *x = &sections[i];

		if (!is_there(s, i))
			continue;
		fprintf(f, "<section id='%s-%s'><h2>%s</h2>\n", s->id, x->id, x->title);
		if (x->what)
			fprintf(f, "<p>%s</p>\n", x->what);
		err = x->put(f, s);
		fputs("</section>\n", f);
		if (!err && !i && recordings)
			err = recordings(f, s->r);
	}
	return err;
}

void html_navigation(FILE *f, const struct html_subject *s)
{
	fputs("<nav aria-label=parts>", f);
	for (unsigned int i = 0; i < ARRAY_SIZE(sections); i++)
		if (is_there(s, i))
			fprintf(f, "<a href='#%s-%s'>%s</a> ", s->id, sections[i].id,
				sections[i].title);
	fputs("<a href='#recordings'>Recordings</a> <a href='#figures'>Figures</a></nav>\n", f);
}
