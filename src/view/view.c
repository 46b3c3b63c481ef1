// SPDX-License-Identifier: GPL-2.0-only
/* The terminal's face: puts the parts of a block together and shows it. */
#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "core/names.h"
#include "view/screen.h"
#include "core/segments.h"
#include "view/view.h"
#include "view/block.h"

/* A terminal that does not tell its size: that of the VT100. */
#define DEFAULT_COLUMNS 80
#define DEFAULT_LINES 24
/* What bars may take where nothing has a width. */
#define PIPE_COLUMNS 132

#define NO_WRAP (~0u)

/* Those of the summary's percentiles line, as in the columns of the rows. */
static const double view_percents[] = {50, 90, 99, 99.9};

/* Items of one line, two spaces apart, that go on indented on the next one where it is full. */
struct wrap {
	FILE *f;
	unsigned int width;
	unsigned int used;
	bool more; /* past the first line */
};

static void __attribute__((format(printf, 2, 3))) wrap_item(struct wrap *w, const char *fmt, ...)
{
	unsigned int len;
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	len = (unsigned int)strlen(text);
	if (w->used && w->used + 2 + len > w->width) {
		fputs("\n", w->f);
		w->used = 0;
		w->more = true;
	}
	fprintf(w->f, "%s%s", w->used || w->more ? "  " : "", text);
	w->used += len + (w->used || w->more ? 2 : 0);
}

static const char *plural(unsigned int n)
{
	return n == 1 ? "" : "s";
}

static void head_print(const struct block *b, FILE *f, unsigned int width)
{
	const struct stats *s = b->s;
	struct wrap w = {.f = f, .width = width};

	if (b->summary)
		fprintf(f, "summary of %.1f s\n", s->elapsed);
	wrap_item(&w, "ntprof-bpf --%s", side_name(s->side));
	wrap_item(&w, "kernel %s", s->kernel);
	if (s->driver && s->driver[0]) {
		wrap_item(&w, "%s of %s: %u probe%s", s->source, s->driver, s->probes,
			  plural(s->probes));
		wrap_item(&w, "%u controller%s, %u queue%s", s->controllers, plural(s->controllers),
			  s->queues, plural(s->queues));
	} else {
		wrap_item(&w, "waiting for %s", driver_name(s->side));
	}
	if (s->sample > 1)
		wrap_item(&w, "sample of 1 command in %u", s->sample);
	if (!b->summary) {
		wrap_item(&w, "interval %.1f s", s->seconds);
		wrap_item(&w, "elapsed %.0f s", s->elapsed);
	}
	fputs("\n", f);
}

static void losses_print(const struct block *b, FILE *f, unsigned int width)
{
	struct wrap w = {.f = f, .width = width};

	wrap_item(&w, "losses:");
	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		unsigned long long total = b->s->counters_total[c];
		unsigned long long added = b->s->counters_interval[c];

		/* What is in flight is known when the run ends. */
		if (c == COUNTER_IN_FLIGHT)
			continue;
		if (added)
			wrap_item(&w, "%s=%llu(+%llu)", counter_name(c), total, added);
		else
			wrap_item(&w, "%s=%llu", counter_name(c), total);
	}
	fputs("\n", f);
}

/* All latencies of an operation, whatever the queue. */
static void operation_hist(const struct block *b, enum nt_op op, struct hist *h)
{
	memset(h, 0, sizeof(*h));
	for (size_t i = 0; i < b->s->nr_rows; i++)
		if (b->s->rows[i]->op == op)
			hist_merge(h, block_hist(b, b->s->rows[i]));
}

/*
 * For scripts as much as for people: plain numbers, durations in nanoseconds.
 * commands OP COUNT; percentiles OP P50 P90 P99 P99.9 MAX; stage OP STAGE MEAN P50 P99 MAX SUM.
 */
static void operation_print(const struct block *b, enum nt_op op, bool numbers, FILE *f)
{
	uint8_t into[NT_STAGES_MAX];
	struct hist h;
	char name[256];

	operation_hist(b, op, &h);
	if (!h.count)
		return;
	fprintf(f, "commands %s %" PRIu64 "\n", op_name(op), h.count);
	if (!numbers)
		return;
	fprintf(f, "percentiles %s", op_name(op));
	for (size_t i = 0; i < sizeof(view_percents) / sizeof(view_percents[0]); i++)
		fprintf(f, " %" PRIu64, hist_percentile(&h, view_percents[i]));
	fprintf(f, " %" PRIu64 "\n", h.max);
	stages_join(b->s->side, b->s->missing, into);
	for (unsigned int i = 0; i < stages_nr(b->s->side); i++) {
		const struct hist *stage = block_stage(b, op, i);

		if (into[i] != i)
			continue;
		fprintf(f, "stage %s %s %.0f %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			op_name(op), stage_joined_name(b->s->side, into, i, name, sizeof(name)),
			hist_mean(stage), hist_percentile(stage, 50), hist_percentile(stage, 99),
			stage->max, stage->sum);
	}
}

/* @numbers: for a script; on a terminal the tables above say the same. */
static void totals_print(const struct block *b, bool numbers, FILE *f)
{
	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		operation_print(b, op, numbers, f);
	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		unsigned long long n = b->s->counters_total[c];

		fprintf(f, "loss %s %llu", counter_name(c), n);
		if (n)
			fprintf(f, "  # %s", counter_help(c));
		fputs("\n", f);
	}
}

uint64_t block_commands(const struct block *b, enum nt_op op)
{
	uint64_t n = 0;

	for (size_t i = 0; i < b->s->nr_rows; i++) {
		if (b->s->rows[i]->op == op)
			n += block_hist(b, b->s->rows[i])->count;
	}
	return n;
}

void octaves_count(const struct hist *h, uint64_t counts[VIEW_OCTAVES])
{
	memset(counts, 0, VIEW_OCTAVES * sizeof(*counts));
	for (unsigned int i = 0; i < NT_BUCKETS; i++)
		counts[63 - __builtin_clzll(nt_bucket_low(i) | 1)] += h->buckets[i];
}

char *octave_bound(char *buf, size_t size, unsigned int octave)
{
	if (octave >= VIEW_OCTAVES)
		snprintf(buf, size, "inf");
	else if (!octave)
		snprintf(buf, size, "0ns");
	else
		view_duration(buf, size, (double)(1ull << octave));
	return buf;
}

void row_label(const struct stats *s, size_t index, char *buf, size_t size)
{
	const struct stats_row *row = s->rows[index];
	unsigned int before = 0, after = 0;

	for (size_t i = index; i > 0 && !strcmp(s->rows[i - 1]->controller, row->controller); i--)
		before += strcmp(s->rows[i - 1]->peer, s->rows[i]->peer) != 0;
	for (size_t i = index + 1; i < s->nr_rows; i++) {
		if (strcmp(s->rows[i]->controller, row->controller))
			break;
		after += strcmp(s->rows[i - 1]->peer, s->rows[i]->peer) != 0;
	}
	if (before + after)
		snprintf(buf, size, "%s#%u", row->controller, before + 1);
	else
		snprintf(buf, size, "%s", row->controller[0] ? row->controller : "all");
}

void row_queue(const struct stats_row *row, char *buf, size_t size)
{
	if (row->shared)
		snprintf(buf, size, "all");
	else
		snprintf(buf, size, "%u", row->qid);
}

static void block_init(struct block *b, const struct stats *s, const struct view_options *o,
		       bool summary)
{
	bool any = false;

	*b = (struct block){
		.s = s,
		.summary = summary,
		.unicode = o->unicode,
		.width = o->columns ? o->columns : PIPE_COLUMNS,
		.seconds = summary ? s->elapsed : s->seconds,
	};
	if (!o->redraw && b->width > PIPE_COLUMNS)
		b->width = PIPE_COLUMNS;
	for (size_t i = 0; i < s->nr_rows; i++) {
		uint64_t counts[VIEW_OCTAVES];

		octaves_count(&s->rows[i]->total, counts);
		for (unsigned int k = 0; k < VIEW_OCTAVES; k++) {
			if (!counts[k])
				continue;
			if (!any || k < b->low)
				b->low = k;
			if (!any || k >= b->high)
				b->high = k + 1;
			any = true;
		}
	}
}

/* A pipe's reader cannot know when a block was written, nor where the next one begins. */
static void plain_begin(FILE *out)
{
	char text[64] = "";
	time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(text, sizeof(text), "%F %T %z", &tm);
	fprintf(out, "%s\n", text);
}

/* In one piece, so that no half-drawn screen is seen. */
static int frame_write(const struct frame *f, const struct view_options *o, const struct block *b)
{
	char *text = NULL;
	size_t size = 0;
	FILE *m = open_memstream(&text, &size);
	int err = 0;

	if (!m)
		return -ENOMEM;
	if (o->redraw && !b->summary) {
		frame_redraw(f, m, b->width, o->lines);
	} else if (o->redraw) {
		/* The last thing there is to see, so all of it: let it scroll. */
		fputs("\033[H\033[J", m);
		frame_print(f, m);
	} else {
		plain_begin(m);
		frame_print(f, m);
		fputs("\n", m);
	}
	if (ferror(m))
		err = -ENOMEM;
	if (fclose(m))
		err = -ENOMEM;
	if (!err && (fwrite(text, 1, size, o->out) != size || fflush(o->out)))
		err = -EIO;
	free(text);
	return err;
}

/* Return: whether the stages have been shown. */
static bool extra_show(const struct view_options *o, const struct block *b, const struct frame *f)
{
	const struct view_extra_place v = {
		.stages = f->part[FRAME_MERGED],
		.connections = f->part[FRAME_CONNECTIONS],
		.peers = f->part[FRAME_PEERS],
		.summary = b->summary,
		.width = b->width,
		.unicode = b->unicode,
	};

	return o->extra && o->extra(o->context, &v);
}

static int block_show(const struct stats *s, const struct view_options *o, bool summary)
{
	unsigned int wrap;
	struct frame f;
	struct block b;
	int err;

	block_init(&b, s, o, summary);
	/* Where lines cannot be too long, one thing is one line. */
	wrap = o->redraw ? b.width : NO_WRAP;
	err = frame_open(&f);
	if (err)
		goto out;
	head_print(&b, f.part[FRAME_HEAD], wrap);
	block_rows(&b, f.part[FRAME_ROWS], f.part[FRAME_LEGEND]);
	if (!extra_show(o, &b, &f) || summary)
		block_stages(&b, f.part[FRAME_STAGES]);
	if (o->histogram)
		block_histograms(&b, f.part[FRAME_HISTOGRAMS]);
	if (summary)
		totals_print(&b, !o->redraw, f.part[FRAME_LOSSES]);
	else
		losses_print(&b, f.part[FRAME_LOSSES], wrap);
	err = frame_close(&f);
	if (!err)
		err = frame_write(&f, o, &b);
out:
	frame_free(&f);
	return err;
}

int view_interval(const struct stats *s, const struct view_options *o)
{
	return block_show(s, o, false);
}

int view_summary(const struct stats *s, const struct view_options *o)
{
	return block_show(s, o, true);
}

char *view_duration(char *buf, size_t size, double ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	const size_t last = sizeof(units) / sizeof(units[0]) - 1;
	size_t u = 0;
	double v;

	/* 999.5 of a unit would be printed as 1000 of it. */
	if (ns < 999.5) {
		snprintf(buf, size, "%.0fns", ns > 0 ? ns : 0);
		return buf;
	}
	while (u < last && ns / units[u].ns >= 999.5)
		u++;
	v = ns / units[u].ns;
	if (v >= 9999999.5) /* not a latency, but it must not break the columns */
		snprintf(buf, size, "%.1e%s", v, units[u].name);
	else
		snprintf(buf, size, "%.*f%s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, units[u].name);
	return buf;
}

static unsigned int size_from_env(const char *name, unsigned int otherwise)
{
	const char *text = getenv(name);
	long n = text ? strtol(text, NULL, 10) : 0;

	/* Beyond that it is no terminal's size. */
	return n > 0 && n <= 10000 ? (unsigned int)n : otherwise;
}

void view_resize(struct view_options *o)
{
	struct winsize ws = {0};

	if (!o->redraw)
		return;
	/* A serial line succeeds with a size of 0 x 0. */
	if (ioctl(fileno(o->out), TIOCGWINSZ, &ws))
		memset(&ws, 0, sizeof(ws));
	o->columns = ws.ws_col ? ws.ws_col : size_from_env("COLUMNS", DEFAULT_COLUMNS);
	o->lines = ws.ws_row ? ws.ws_row : size_from_env("LINES", DEFAULT_LINES);
}

void view_setup(struct view_options *o, FILE *out)
{
	const char *term = getenv("TERM");

	*o = (struct view_options){
		.out = out,
		.unicode = !strcmp(nl_langinfo(CODESET), "UTF-8"),
		/* Emacs' shell and the like are terminals that cannot move the cursor. */
		.redraw = isatty(fileno(out)) && !(term && !strcmp(term, "dumb")),
		.columns = PIPE_COLUMNS,
	};
	view_resize(o);
}
