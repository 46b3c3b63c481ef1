// SPDX-License-Identifier: GPL-2.0-only
#include "view/html.h"

#include <errno.h>
#include <html.inc.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/names.h"
#include "core/time.h"
#include "merge/merge.h"
#include "view/connections.h"
#include "view/html_parts.h"
#include "view/html_write.h"
#include "view/lines.h"
#include "view/losses.h"
#include "view/streams.h"

/* More rows of a table than users look at. */
#define ROWS_MAX 200u
#define NONCE_LEN 16

/* Of dygraphs, which make puts into the program if it is installed; see debian/copyright. */
static const char dygraph_licence[] =
	"Copyright (c) 2006, 2009, 2011, 2012, 2013, 2017\n"
	"Dan Vanderkam <danvdk@gmail.com>\n"
	"Copyright (c) 2011 Paul Felix <paul.eric.felix@gmail.com>\n"
	"Copyright (c) 2011, 2013 Robert Konigsberg <konigsberg@google.com>\n"
	"Copyright (c) 2013 David Eberlein <david.eberlein@ch.sauter-bc.com>\n"
	"Copyright (c) 2013 Google, Inc.\n"
	"Copyright (c) 2014 mirabilos <m@mirbsd.org>\n"
	"Copyright (c) 2015 Petr Shevtsov <petr.shevtsov@gmail.com>\n"
	"Copyright (c) 2022, 2023 mirabilos <t.glaser@tarent.de>\n"
	"Deutsche Telekom LLCTO\n"
	"and numerous contributors (see git log)\n"
	"Copyright (c) 2013, 2014 James Halliday <mail@substack.net>\n"
	"Copyright (c) 2013 Roman Shtylman <shtylman@gmail.com>\n"
	"Copyright (c) 2013 Esa-Matti Suuronen <esa-matti@suuronen.org>\n"
	"Copyright (c) 2018 Philipp Simon Schmidt <github@philippsimon.de>\n"
	"\n"
	"Permission is hereby granted, free of charge, to any person\n"
	"obtaining a copy of this software and associated documentation\n"
	"files (the \"Software\"), to deal in the Software without\n"
	"restriction, including without limitation the rights to use,\n"
	"copy, modify, merge, publish, distribute, sublicense, and/or sell\n"
	"copies of the Software, and to permit persons to whom the\n"
	"Software is furnished to do so, subject to the following\n"
	"conditions:\n"
	"\n"
	"The above copyright notice and this permission notice shall be\n"
	"included in all copies or substantial portions of the Software.\n"
	"\n"
	"THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND,\n"
	"EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES\n"
	"OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND\n"
	"NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT\n"
	"HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY,\n"
	"WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING\n"
	"FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR\n"
	"OTHER DEALINGS IN THE SOFTWARE.\n";

/* Whether something is not in the recording that happened. */
static bool is_damaged(const struct input *in)
{
	bool lost = stream_error(in->reader)[0];

	for (unsigned int i = 0; i < COUNTERS_NR; i++)
		lost |= counter_is_loss(i) && in->losses.count[i];
	return lost;
}

static int put_input(FILE *f, const struct input *in, const char *class)
{
	struct html_print p;
	int err = html_print_begin(&p);

	if (err)
		return err;
	inputs_print(in, NULL, p.f);
	return html_print_end(&p, f, class);
}

static int put_recordings(FILE *f, const struct json_report *r)
{
	static const unsigned char shown[] = {
		INPUT_SIDE,	INPUT_HOSTNAME, INPUT_KERNEL, INPUT_SOURCE, INPUT_COMMANDS,
		INPUT_DURATION, INPUT_BEGAN,	INPUT_ENDED,  INPUT_PATH,
	};
	int err = 0;

	fputs("<section id=recordings><h2>What was recorded</h2>", f);
	html_table_begin(f, "all", "inputs");
	html_heads(f, &input_columns, shown, ARRAY_SIZE(shown));
	fputs("<tbody>\n", f);
	for (unsigned int i = 0; i < r->nr; i++) {
		fputs("<tr>", f);
		html_cells(f, &input_columns, shown, ARRAY_SIZE(shown), &r->inputs[i]);
	}
	html_table_end(f);
	for (unsigned int i = 0; !err && i < r->nr; i++)
		if (is_damaged(&r->inputs[i]))
			err = put_input(f, &r->inputs[i], "lost");
	fputs("<details><summary>In words</summary>", f);
	for (unsigned int i = 0; !err && i < r->nr; i++)
		err = put_input(f, &r->inputs[i], "small");
	fputs("</details></section>\n", f);
	return err;
}

static int put_merged(FILE *f, const struct json_report *r, const struct timeline *t)
{
	struct html_subject *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	*s = (struct html_subject){.r = r, .t = t, .merged = r->merged, .id = "merged"};
	for (unsigned int i = 0; i < r->nr; i++)
		if (r->inputs[i].begun && r->inputs[i].header.side == NT_HOST) {
			s->stream = i;
			break;
		}
	memcpy(s->latency, r->merged->latency, sizeof(s->latency));
	columns_stages_merged(&s->stages, r->merged);
	html_navigation(f, s);
	err = html_parts(f, s, put_recordings);
	free(s);
	return err;
}

/* A recording of which nothing is matched. @first: nothing is above it. */
static int put_alone(FILE *f, const struct json_report *r, unsigned int i, bool first)
{
	const struct input *in = &r->inputs[i];
	struct html_subject *s = calloc(1, sizeof(*s));
	struct html_print p;
	char id[16];
	int err = s ? html_print_begin(&p) : -ENOMEM;

	if (!s || err)
		goto out;
	snprintf(id, sizeof(id), "input%u", i);
	*s = (struct html_subject){
		.r = r,
		.t = unmatched_timeline(r->unmatched, i),
		.side = unmatched_stats(r->unmatched, i, in->header.kernel, in->losses.count),
		.stream = i,
		.id = id,
	};
	inputs_print_unmatched(in, r->unmatched, i, r->machines, p.f);
	fputs("<h1>", f);
	html_text(f, in->path);
	fputs("</h1>", f);
	err = html_print_end(&p, f, "alone");
	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		columns_hist_add_up(s->side, true, (enum nt_op)op, &s->latency[op]);
	columns_stages_of_side(&s->stages, s->side, true);
	if (first)
		html_navigation(f, s);
	if (!err)
		err = html_parts(f, s, first ? put_recordings : NULL);
out:
	free(s);
	return err;
}

static void put_figures(FILE *f, const struct json_report *r)
{
	const struct merge_connection *c;

	fputs("<section id=figures><h2>Figures</h2>", f);
	fputs("<h3>Connections</h3>", f);
	html_table_begin(f, "all", "connections");
	html_heads(f, &connection_columns, HTML_ALL(&connection_columns));
	fputs("<tbody>\n", f);
	for (unsigned int i = 0, nr = 0; nr < ROWS_MAX && (c = merge_connection(r->merge, i));
	     i++) {
		if (!columns_connection_any(c))
			continue;
		nr++;
		fputs("<tr>", f);
		html_cells(f, &connection_columns, HTML_ALL(&connection_columns), c);
	}
	html_table_end(f);
	if (r->merged->errors.nr) {
		fputs("<h3>Errors</h3>", f);
		html_table_begin(f, "all", "errors");
		html_heads(f, &error_columns, HTML_ALL(&error_columns));
		fputs("<tbody>\n", f);
		for (size_t i = 0; i < r->merged->errors.nr && i < ROWS_MAX; i++) {
			fputs("<tr>", f);
			html_cells(f, &error_columns, HTML_ALL(&error_columns),
				   &r->merged->errors.row[i]);
		}
		html_table_end(f);
	}
	fputs("<p>All figures, exactly, for programs:</p><pre>ntprof-bpf report --format json", f);
	for (unsigned int i = 0; i < r->nr; i++) {
		fputs(" ", f);
		html_text(f, r->inputs[i].path);
	}
	fputs("</pre></section>\n", f);
}

/* A number that those who choose the names in a recording do not know. Return: 0 or -errno. */
static int make_nonce(char nonce[2 * NONCE_LEN + 1])
{
	unsigned char bytes[NONCE_LEN];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	for (unsigned int i = 0; i < NONCE_LEN; i++)
		snprintf(nonce + 2 * (size_t)i, 3, "%02x", bytes[i]);
	return 0;
}

static void put_head(FILE *f, const char *nonce)
{
	fprintf(f,
		HTML_BEGINS
		"<html lang=en><head><meta charset=utf-8>"
		"<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src "
		"'unsafe-inline'; script-src 'nonce-%s'; base-uri 'none'; form-action 'none'\">\n"
		"<meta name=viewport content='width=device-width, initial-scale=1'>"
		"<meta name=generator content='ntprof-bpf " NTPROF_VERSION "'>"
		"<title>NVMe/TCP latency</title>\n<style>%s%s</style></head>\n<body>",
		nonce, dygraph_css, html_css);
}

static void put_tail(FILE *f, const char *nonce)
{
	struct value v;

	value_time(&v, realtime_ns());
	fprintf(f, "<footer><p class=small>ntprof-bpf " NTPROF_VERSION ", %s. %s</p></footer>\n",
		v.text,
		dygraph_js[0]
			? "Curves over time are drawn by dygraphs (MIT licence, in this file)."
			: "Built without dygraphs: curves over time cannot be zoomed.");
	if (dygraph_js[0])
		fprintf(f, "<!-- dygraphs:\n%s-->\n<script nonce=%s>%s</script>\n", dygraph_licence,
			nonce, dygraph_js);
	fprintf(f, "<script nonce=%s>%s</script>\n</body></html>\n", nonce, html_js);
}

int html_report(FILE *f, const struct json_report *r, const struct timeline *merged)
{
	char nonce[2 * NONCE_LEN + 1];
	bool first = !r->merged->commands;
	int err = make_nonce(nonce);

	if (err)
		return err;
	put_head(f, nonce);
	fputs("<header><h1>NVMe/TCP latency</h1></header><main>\n", f);
	if (r->merged->commands)
		err = put_merged(f, r, merged);
	for (unsigned int i = 0; !err && i < r->nr; i++) {
		if (!r->inputs[i].begun || !unmatched_is(r->unmatched, i))
			continue;
		err = put_alone(f, r, i, first);
		first = false;
	}
	if (!err && first) {
		if (r->filtered && r->nr_matched)
			fprintf(f,
				"<p class=verdict>Selected: %" PRIu64 " of %" PRIu64
				" merged commands.</p>",
				r->nr_taken, r->nr_matched);
		err = put_recordings(f, r);
	}
	if (!err)
		put_figures(f, r);
	fputs("</main>\n", f);
	put_tail(f, nonce);
	return err;
}

/* Comparisons. */

static void put_line(void *context, const char *line)
{
	FILE *f = context;

	fputs("<p>", f);
	html_text(f, line);
	fputs("</p>\n", f);
}

/* A colour for each stage of a side, or of merged commands. */
static char colours_of(const struct comparison *v)
{
	enum nt_side side = v->c->blocks[COMPARE_AFTER].side;

	return side == NT_SIDES ? 's' : "ab"[side];
}

/* What the colours are. */
static void put_keys(FILE *f, const struct comparison *v)
{
	char name[STAGE_NAME_LEN];

	fputs("<p class='legend keys'>", f);
	for (unsigned int d = BLOCKS_STAGE(0); d < BLOCKS_DURATIONS; d++) {
		bool there = false;

		for (unsigned int i = 0; i < v->c->nr_kinds; i++)
			there |= v->c->kind[i].of[d].there;
		if (there)
			fprintf(f, "<span><i class='%c%u'></i>%s</span> ", colours_of(v),
				d - BLOCKS_STAGE(0),
				comparison_duration(name, sizeof(name), v->c, d));
	}
	fputs("</p>", f);
}

/* The stages of a kind in one recording; @whole: nanoseconds of the whole width. */
static void put_stages(FILE *f, const struct comparison *v, const struct compare_kind *k,
		       unsigned int when, double whole)
{
	const struct compare_shift *all = &k->of[BLOCKS_LATENCY].of[COMPARE_MEAN];
	char name[STAGE_NAME_LEN], time[16];

	fprintf(f, "<tr><th scope=row>%s<td class=n data-v=%.9g>%s<td class=bar><div class=stack>",
		comparison_when(when), all->value[when],
		duration_format(time, sizeof(time), all->value[when]));
	for (unsigned int d = BLOCKS_STAGE(0); d < BLOCKS_DURATIONS; d++) {
		double ns = k->of[d].there ? k->of[d].of[COMPARE_MEAN].value[when] : 0;
		double share = whole > 0 ? 100 * ns / whole : 0;

		if (share <= 0)
			continue;
		comparison_duration(name, sizeof(name), v->c, d);
		fprintf(f, "<span class='%c%u' style='width:%.2f%%' title='%s %s'>", colours_of(v),
			d - BLOCKS_STAGE(0), share, name, duration_format(time, sizeof(time), ns));
		if (share >= 12)
			fputs(name, f);
		fputs("</span>", f);
	}
	fputs("</div>", f);
}

static void put_kind(FILE *f, const struct comparison *v, const struct compare_kind *k)
{
	const double *mean = k->of[BLOCKS_LATENCY].of[COMPARE_MEAN].value;
	double whole = mean[0] > mean[1] ? mean[0] : mean[1];
	struct kind_row row;

	comparison_kind(&row, k);
	fprintf(f, "<h3>%s %s</h3>", op_name(row.op), row.size);
	if (row.why) {
		fprintf(f, "<p>not compared: %s</p>\n", row.why);
		return;
	}
	fputs("<div class=scroll><table class=bands><tbody>\n", f);
	for (unsigned int w = 0; w < COMPARE_WHENS; w++)
		put_stages(f, v, k, w, whole);
	html_table_end(f);
}

static int put_files(FILE *f, const struct comparison *v)
{
	int err = 0;

	for (unsigned int w = 0; !err && w < COMPARE_WHENS; w++) {
		fprintf(f, "<h3>%s</h3>", comparison_when(w));
		for (unsigned int i = 0; !err && i < v->of[w].nr; i++)
			err = put_input(f, &v->of[w].inputs[i],
					is_damaged(&v->of[w].inputs[i]) ? "lost" : "small");
	}
	return err;
}

static void put_shift(void *context, const struct shift_row *row)
{
	FILE *f = context;

	fputs("<tr>", f);
	html_cells(f, &shift_columns, HTML_ALL(&shift_columns), row);
}

int html_comparison(FILE *f, const struct comparison *v)
{
	char nonce[2 * NONCE_LEN + 1], verdict[COMPARISON_LINE_LEN];
	struct load_row row[COMPARE_WHENS];
	int err = make_nonce(nonce);

	if (err)
		return err;
	put_head(f, nonce);
	fputs("<header><h1>NVMe/TCP latency: two recordings</h1></header><main>\n"
	      "<section id=answer><p class=verdict>",
	      f);
	html_text(f, comparison_verdict(v, verdict));
	fputs("</p>\n", f);
	comparison_notes(v, put_line, f);
	fputs("</section>\n", f);
	if (!v->why) {
		fputs("<section id=stages><h2>What the mean is made of</h2>", f);
		put_keys(f, v);
		for (unsigned int i = 0; i < v->c->nr_kinds; i++)
			put_kind(f, v, &v->c->kind[i]);
		fputs("</section>\n<section id=loads><h2>Load</h2>", f);
		for (unsigned int w = 0; w < COMPARE_WHENS; w++)
			comparison_load(&row[w], v->c, w);
		html_table(f, "all", "loads", &load_columns, (const char *)row, COMPARE_WHENS,
			   sizeof(row[0]));
		fputs("</section>\n<section id=shifts><h2>Figures</h2>"
		      "<p>All intervals hold together in 99 of 100 comparisons.</p>",
		      f);
		html_table_begin(f, "all", "shifts");
		html_heads(f, &shift_columns, HTML_ALL(&shift_columns));
		fputs("<tbody>\n", f);
		comparison_shifts(v, put_shift, f);
		html_table_end(f);
		fputs("</section>\n", f);
	}
	fputs("<section id=recordings><h2>What was recorded</h2>", f);
	err = put_files(f, v);
	fputs("</section></main>\n", f);
	put_tail(f, nonce);
	return err;
}
