// SPDX-License-Identifier: GPL-2.0-only
#include "view/html_charts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/histograms.h"
#include "view/html_write.h"
#include "view/lines.h"

/* Units of a picture: its size, and what is around the plot. The style sheet scales the text. */
#define WIDTH 960
#define LEFT 84
#define RIGHT 16
#define TOP 14
#define BOTTOM 34
/* Numbers of marks that are nearer to each other are left out. */
#define NUMBER_GAP 16

/**
 * struct axis - one axis of a plot
 * @low, @high: values at its ends; if @log their logarithms
 * @from, @to: where the ends are drawn
 */
struct axis {
	bool log;
	double low, high;
	double from, to;
};

struct plot {
	FILE *f;
	struct axis x, y;
};

static double place(const struct axis *a, double v)
{
	v = a->log ? log10(v > 1 ? v : 1) : v;
	v = a->high > a->low ? (v - a->low) / (a->high - a->low) : 0.5;
	return a->from + (a->to - a->from) * v;
}

/* The shortest logarithmic axis: it has one of 1, 2 and 5 times a power of ten. */
#define LOG_SPAN_MIN 0.4

/* An axis from @low to @high. */
static void axis_set(struct axis *a, double low, double high, bool log)
{
	a->log = log;
	a->low = log ? log10(low > 1 ? low : 1) : low;
	a->high = log ? log10(high > 1 ? high : 1) : high;
	if (log && a->high - a->low < LOG_SPAN_MIN) {
		a->low = (a->low + a->high - LOG_SPAN_MIN) / 2;
		a->high = a->low + LOG_SPAN_MIN;
	} else if (log) {
		a->high += (a->high - a->low) / 20;
	} else if (a->high <= a->low) {
		a->high = a->low + 1;
	}
}

/* A round number near @span / @parts. */
static double step_of(double span, unsigned int parts)
{
	double raw = span / parts, power = pow(10, floor(log10(raw > 0 ? raw : 1)));

	return power * (raw / power > 5 ? 10 : raw / power > 2 ? 5 : raw / power > 1 ? 2 : 1);
}

enum label { LABEL_DURATION, LABEL_TIME, LABEL_COUNT, LABEL_BYTES, LABEL_NUMBER, LABEL_NONE };

/* 1500 is "1.5k". */
static void print_count(FILE *f, double v, double base, const char *const *unit)
{
	for (; v >= base; unit++)
		v /= base;
	fprintf(f, "%.3g%s", v, *unit);
}

static void print_label(FILE *f, enum label label, double v)
{
	static const char *const counts[] = {"", "k", "M", "G", "T", "P", "E", "Z"};
	static const char *const bytes[] = {"B/s",  "kB/s", "MB/s", "GB/s",
					    "TB/s", "PB/s", "EB/s", "ZB/s"};
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	unsigned int i = 0;

	if (label == LABEL_COUNT)
		print_count(f, v, 1000, counts);
	else if (label == LABEL_BYTES)
		print_count(f, v, 1000, bytes);
	else if (label == LABEL_NUMBER)
		fprintf(f, "%.0f", v);
	if (label > LABEL_TIME)
		return;
	while (i < ARRAY_SIZE(units) - 1 && fabs(v) < units[i].ns)
		i++;
	fprintf(f, "%.3g%s", v / units[i].ns, v ? units[i].unit : "s");
}

static void grid_x(const struct plot *p, double v, enum label label)
{
	double at = place(&p->x, v);

	fprintf(p->f, "<path class=g d='M%.1f %.1fV%.1f'/><text x=%.1f y=%.1f class=m>", at,
		p->y.to, p->y.from, at, p->y.from + 22);
	print_label(p->f, label, v);
	fputs("</text>", p->f);
}

static void grid_y(const struct plot *p, double v, enum label label)
{
	double at = place(&p->y, v);

	fprintf(p->f, "<path class=g d='M%.1f %.1fH%.1f'/><text x=%.1f y=%.1f class=e>", p->x.from,
		at, p->x.to, p->x.from - 7, at + 4);
	print_label(p->f, label, v);
	fputs("</text>", p->f);
}

static void grid(const struct plot *p, const struct axis *a, enum label label,
		 void (*line)(const struct plot *p, double v, enum label label), unsigned int parts)
{
	static const double thirds[] = {0, 0.30103, 0.69897};
	double span = a->high - a->low, v;
	double step = a->log ? ceil(span / 6) : step_of(span, parts);

	/* Decades; if there are few of them 2 and 5 times each as well. */
	for (unsigned int k = 0; (v = (floor(a->low / step) + k) * step) <= a->high + step / 1e6;
	     k++)
		for (size_t i = 0; i < (a->log && span < 2.5 ? ARRAY_SIZE(thirds) : 1); i++) {
			double at = v + thirds[i];

			if (at >= a->low - step / 1e6 && at <= a->high + step / 1e6)
				line(p, a->log ? pow(10, at) : at, label);
		}
}

/* Begins a picture whose axes have their ranges. @title: what it shows, for those who do not see
 * it. */
static void plot_begin(struct plot *p, const char *title, int height, enum label x, enum label y)
{
	p->x.from = LEFT;
	p->x.to = WIDTH - RIGHT;
	p->y.from = height - BOTTOM;
	p->y.to = TOP;
	fprintf(p->f, "<svg viewBox='0 0 %d %d' role=img aria-label='%s'>", WIDTH, height, title);
	grid(p, &p->x, x, grid_x, 6);
	if (y != LABEL_NONE)
		grid(p, &p->y, y, grid_y, 4);
}

static void plot_end(const struct plot *p)
{
	fputs("</svg>\n", p->f);
}

int html_figure(struct html_figure *f, const struct timeline *t, unsigned int commands,
		unsigned int least)
{
	unsigned int join = 0;
	uint64_t all = 0, nr;

	for (unsigned int i = 0; i < t->time.nr; i++)
		all += t->bin[i].h.count;
	nr = t->time.nr;
	while (nr > least && all / commands < nr) {
		nr = (nr + 1) / 2;
		join++;
	}
	*f = (struct html_figure){
		.width_ns = 1ULL << (t->time.shift + join),
		.from_ns = (t->time.base >> join) << (t->time.shift + join),
	};
	f->bin = calloc(nr + 1, sizeof(*f->bin));
	if (!f->bin)
		return -ENOMEM;
	for (unsigned int i = 0; i < t->time.nr; i++) {
		unsigned int at =
			(unsigned int)(((t->time.base + i) >> join) - (t->time.base >> join));

		timeline_bin_merge(&f->bin[at], &t->bin[i]);
		f->nr = at + 1;
	}
	return 0;
}

void html_figure_free(struct html_figure *f)
{
	free(f->events.line);
	free(f->tcp);
	free(f->bin);
}

static double seconds_of(const struct html_figure *t)
{
	return (double)t->width_ns / 1e9;
}

static void time_axis(struct plot *p, const struct html_figure *t)
{
	axis_set(&p->x, 0, (double)t->width_ns * t->nr, false);
}

/* Values of a bin; negative: none. */
typedef double value_of(const struct html_figure *t, const struct timeline_bin *b);

static double p50_of(const struct html_figure *t, const struct timeline_bin *b)
{
	return b->h.count ? (double)hist_percentile(&b->h, 50) : -1;
}

static double p99_of(const struct html_figure *t, const struct timeline_bin *b)
{
	return hist_tells(&b->h, 99 * HIST_PARTS_OF_PERCENT) ? (double)hist_percentile(&b->h, 99)
							     : -1;
}

static double max_of(const struct html_figure *t, const struct timeline_bin *b)
{
	return b->h.count ? (double)b->h.max : -1;
}

#define RATE(name, member)                                                            \
	static double name(const struct html_figure *t, const struct timeline_bin *b) \
	{                                                                             \
		return (double)(member) / seconds_of(t);                              \
	}
RATE(reads_of, b->count[TIMELINE_READ])
RATE(writes_of, b->count[TIMELINE_WRITE])
RATE(others_of, b->count[TIMELINE_OTHER])
RATE(read_bytes_of, b->bytes[TIMELINE_READ])
RATE(write_bytes_of, b->bytes[TIMELINE_WRITE])

static double in_flight_of(const struct html_figure *t, const struct timeline_bin *b)
{
	return (double)b->h.sum / (double)t->width_ns;
}

static double srtt_of(const struct html_figure *t, const struct timeline_bin *b)
{
	return t->tcp[b - t->bin].srtt_ns;
}

static double cwnd_of(const struct html_figure *t, const struct timeline_bin *b)
{
	return t->tcp[b - t->bin].cwnd;
}

static double again_of(const struct html_figure *t, const struct timeline_bin *b)
{
	return t->tcp[b - t->bin].again < 0 ? -1 : t->tcp[b - t->bin].again / seconds_of(t);
}

/**
 * struct series - a curve
 * @label: how its values are written
 */
struct series {
	const char *name;
	const char *class;
	value_of *get;
	enum label label;
};

static const struct series latencies[] = {
	{"max", "c3", max_of, LABEL_DURATION},
	{"p99", "c2", p99_of, LABEL_DURATION},
	{"p50", "c1", p50_of, LABEL_DURATION},
};
static const struct series rates[] = {
	{"reads", "c1", reads_of, LABEL_COUNT},
	{"writes", "c2", writes_of, LABEL_COUNT},
	{"others", "c3", others_of, LABEL_COUNT},
};
static const struct series bytes[] = {
	{"read", "c1", read_bytes_of, LABEL_BYTES},
	{"written", "c2", write_bytes_of, LABEL_BYTES},
};
static const struct series srtt[] = {{"srtt", "c2", srtt_of, LABEL_DURATION}};
static const struct series cwnd[] = {{"cwnd", "c1", cwnd_of, LABEL_COUNT}};
static const struct series again[] = {{"sent again", "c3", again_of, LABEL_COUNT}};

static bool any(const struct html_figure *t, const struct series *s)
{
	for (unsigned int i = 0; i < t->nr; i++)
		if (s->get(t, &t->bin[i]) > 0)
			return true;
	return false;
}

/* A point without neighbours is a dash. */
static void curve(const struct plot *p, const struct html_figure *t, const struct series *s)
{
	bool on = false;

	fprintf(p->f, "<path class='l %s' d='", s->class);
	for (unsigned int i = 0; i < t->nr; i++) {
		double v = s->get(t, &t->bin[i]);
		double x = place(&p->x, (double)t->width_ns * (i + 0.5)), y = place(&p->y, v);
		bool alone = !on && (i + 1 == t->nr || s->get(t, &t->bin[i + 1]) < 0);

		if (v >= 0 && alone)
			fprintf(p->f, "M%.1f %.1fh8", x - 4, y);
		else if (v >= 0)
			fprintf(p->f, "%c%.1f %.1f", on ? 'L' : 'M', x, y);
		on = v >= 0;
	}
	fputs("'/>", p->f);
}

static void legend(FILE *f, const struct html_figure *t, const struct series *s, size_t nr)
{
	fputs("<p class=legend>", f);
	for (size_t i = 0; i < nr; i++)
		if (any(t, &s[i]))
			fprintf(f, "<span class=%s>%s</span> ", s[i].class, s[i].name);
	fputs("</p>", f);
}

/* Marks bins in which commands failed. */
static void marks(const struct plot *p, const struct html_figure *t)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		double at = place(&p->x, (double)t->width_ns * (i + 0.5));

		if (t->bin[i].failed)
			fprintf(p->f,
				"<path class=bad d='M%.1f %dl-6 -10h12z'><title>%" PRIu64
				" failed</title></path>",
				at, TOP, t->bin[i].failed);
	}
}

/* Events before and after all commands have no mark. */
static bool has_mark(const struct html_figure *t, size_t event)
{
	int64_t after = t->events.line[event].after_ns;

	return after >= 0 && (uint64_t)after <= t->width_ns * t->nr;
}

/* Lines at the times of events, with their numbers; @texts: and what they are. */
static void events_draw(const struct plot *p, const struct html_figure *t, bool texts)
{
	char text[PATH_EVENT_TEXT_LEN];
	double last = 0;

	for (size_t i = 0; i < t->events.nr; i++) {
		const struct path_line *l = &t->events.line[i];
		double at = place(&p->x, (double)l->after_ns);

		if (!has_mark(t, i))
			continue;
		fprintf(p->f, "<path class=ev d='M%.1f %.0fV%.0f'>", at, p->y.to, p->y.from);
		if (texts) {
			fprintf(p->f, "<title>%zu: ", i + 1);
			html_text(p->f, path_event_text(l->e, text));
			fputs("</title>", p->f);
		}
		fputs("</path>", p->f);
		if (last && at - last < NUMBER_GAP)
			continue;
		fprintf(p->f, "<text class=m x=%.1f y=%.0f>%zu</text>", at, p->y.to - 3, i + 1);
		last = at;
	}
}

/* The values for the script that draws curves which can be zoomed. */
static void data_of(FILE *f, const struct html_figure *t, const struct series *s, size_t nr)
{
	const char *comma = "";

	fputs("<script type='application/json'>{\"labels\":[\"time\"", f);
	for (size_t i = 0; i < nr; i++)
		if (any(t, &s[i]))
			fprintf(f, ",\"%s\"", s[i].name);
	fputs("],\"rows\":[", f);
	for (unsigned int i = 0; i < t->nr; i++) {
		fprintf(f, "%s[%.9g", comma, seconds_of(t) * (i + 0.5));
		comma = ",";
		for (size_t k = 0; k < nr; k++) {
			double v = s[k].get(t, &t->bin[i]);

			if (any(t, &s[k]))
				fprintf(f, v < 0 ? ",null" : ",%.6g", v);
		}
		fputs("]", f);
	}
	fputs("],\"failed\":[", f);
	comma = "";
	for (unsigned int i = 0; i < t->nr && s == latencies; i++) {
		if (!t->bin[i].failed)
			continue;
		fprintf(f, "%s%.9g", comma, seconds_of(t) * (i + 0.5));
		comma = ",";
	}
	fputs("],\"events\":[", f);
	comma = "";
	for (size_t i = 0; i < t->events.nr; i++) {
		if (!has_mark(t, i))
			continue;
		fprintf(f, "%s[%.9g,%zu]", comma, (double)t->events.line[i].after_ns / 1e9, i + 1);
		comma = ",";
	}
	fputs("]}</script>", f);
}

static void curves(FILE *f, const struct html_figure *t, const struct series *s, size_t nr,
		   const char *title, const char *id)
{
	enum label label = s->label;
	struct plot p = {.f = f};
	double low = 0, high = 0;

	for (size_t k = 0; k < nr; k++)
		for (unsigned int i = 0; i < t->nr; i++) {
			double v = s[k].get(t, &t->bin[i]);

			if (v > 0 && (v < low || !low))
				low = v;
			if (v > high)
				high = v;
		}
	if (!high)
		return;
	time_axis(&p, t);
	axis_set(&p.y, label == LABEL_DURATION ? low : 0, high * 1.02, label == LABEL_DURATION);
	fprintf(f,
		"<figure class=zoom id='%s' data-log=%d data-label=%d><figcaption>%s</figcaption>",
		id, label == LABEL_DURATION, (int)label, title);
	legend(f, t, s, nr);
	plot_begin(&p, title, label == LABEL_DURATION ? 280 : 180, LABEL_TIME, label);
	for (size_t k = 0; k < nr; k++)
		if (any(t, &s[k]))
			curve(&p, t, &s[k]);
	if (s == latencies)
		marks(&p, t);
	events_draw(&p, t, s == latencies);
	plot_end(&p);
	data_of(f, t, s, nr);
	fputs("</figure>\n", f);
}

static void number_cell(FILE *f, double v, enum label label)
{
	if (v < 0) {
		fputs("<td>-", f);
		return;
	}
	fprintf(f, "<td data-v=%.9g>", v);
	print_label(f, label, v);
}

static void details_begin(FILE *f)
{
	fputs("<details><summary>Figures as a table</summary><div class=scroll tabindex=0 "
	      "role=region aria-label=table><table><thead><tr>",
	      f);
}

static void details_end(FILE *f)
{
	fputs("</table></div></details>\n", f);
}

/* Pictures with one axis of time, and below them a table of all. */
struct part {
	const struct series *s;
	size_t nr;
	const char *title;
	const char *unit;
};

static void parts_put(FILE *f, const struct html_figure *t, const struct part *parts,
		      unsigned int nr, const char *id)
{
	char name[64];

	for (unsigned int i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "%s-over-time-%u", id, i);
		curves(f, t, parts[i].s, parts[i].nr, parts[i].title, name);
	}
	details_begin(f);
	fputs("<th>from", f);
	for (unsigned int i = 0; i < nr; i++)
		for (size_t k = 0; k < parts[i].nr; k++)
			fprintf(f, "<th>%s%s", parts[i].s[k].name, parts[i].unit);
	fputs(t->tcp ? "<tbody>" : "<th>failed<tbody>", f);
	for (unsigned int i = 0; i < t->nr; i++) {
		fputs("<tr>", f);
		number_cell(f, (double)t->width_ns * i, LABEL_TIME);
		for (unsigned int l = 0; l < nr; l++)
			for (size_t k = 0; k < parts[l].nr; k++)
				number_cell(f, parts[l].s[k].get(t, &t->bin[i]),
					    parts[l].s[k].label);
		if (!t->tcp)
			number_cell(f, (double)t->bin[i].failed, LABEL_NUMBER);
	}
	details_end(f);
}

void html_over_time(FILE *f, const struct html_figure *t, const char *id)
{
	static const struct part parts[] = {
		{latencies, ARRAY_SIZE(latencies), "Latency", ""},
		{rates, ARRAY_SIZE(rates), "Commands a second (IOPS)", ""},
		{bytes, ARRAY_SIZE(bytes), "Data a second", " bytes"},
	};

	parts_put(f, t, parts, ARRAY_SIZE(parts), id);
}

void html_tcp_over_time(FILE *f, const struct html_figure *t, const char *id)
{
	static const struct part parts[] = {
		{srtt, ARRAY_SIZE(srtt), "Round trip time (the longest)", ""},
		{cwnd, ARRAY_SIZE(cwnd), "Congestion window (the smallest), segments", ""},
		{again, ARRAY_SIZE(again), "Segments sent again a second", " a second"},
	};

	parts_put(f, t, parts, ARRAY_SIZE(parts), id);
}

/**
 * struct map - counts in two dimensions: the parts of the time, and @rows lines
 * @count: gives the one of a column and a row
 * @first: the line of all latencies that is the first one here
 * @lba: of addresses
 */
struct map {
	const struct html_figure *t;
	unsigned int rows;
	uint64_t (*count)(const struct map *m, unsigned int x, unsigned int y);
	unsigned int first;
	const struct timeline_axis *lba;
};

/* Colours of a map: counts from 1 on, by the logarithm. */
#define LEVELS 8
/* Columns of a map's table. */
#define MAP_COLUMNS 8u

static unsigned int level_of(uint64_t count, uint64_t most)
{
	double share = most > 1 ? log((double)count) / log((double)most) : 1;

	return (unsigned int)(share * (LEVELS - 1) + 0.5);
}

/* A path for each colour: runs of cells, as lines that are as thick as a cell is high. */
static void map_draw(const struct plot *p, const struct map *m)
{
	double wide = (p->x.to - p->x.from) / m->t->nr;
	double high = (p->y.from - p->y.to) / m->rows;
	uint64_t most = 0;

	for (unsigned int x = 0; x < m->t->nr; x++)
		for (unsigned int y = 0; y < m->rows; y++)
			most = m->count(m, x, y) > most ? m->count(m, x, y) : most;
	for (unsigned int level = 0; level < LEVELS; level++) {
		fprintf(p->f, "<path class='h h%u' stroke-width=%.2f d='", level, high + 0.3);
		for (unsigned int y = 0; y < m->rows; y++)
			for (unsigned int x = 0, k; x < m->t->nr; x = k) {
				for (k = x; k < m->t->nr && m->count(m, k, y) &&
					    level_of(m->count(m, k, y), most) == level;
				     k++)
					;
				if (k == x)
					k++;
				else
					fprintf(p->f, "M%.1f %.1fh%.1f", p->x.from + x * wide,
						p->y.from - (y + 0.5) * high, (k - x) * wide + 0.2);
			}
		fputs("'/>", p->f);
	}
}

static void map_legend(FILE *f)
{
	fputs("<p class=legend>few ", f);
	for (unsigned int i = 0; i < LEVELS; i++)
		fprintf(f, "<i class=h%u></i>", i);
	fputs(" many commands (logarithmic)</p>", f);
}

/* @per: rows of the map in one row of the table; @name: prints what a row is. */
static void map_table(FILE *f, const struct map *m, unsigned int per,
		      void (*name)(FILE *f, const struct map *m, unsigned int y))
{
	unsigned int columns = m->t->nr < MAP_COLUMNS ? m->t->nr : MAP_COLUMNS;

	details_begin(f);
	fputs("<th>commands", f);
	for (unsigned int c = 0; c < columns; c++) {
		unsigned int first = m->t->nr * c / columns;

		fputs("<th>from ", f);
		print_label(f, LABEL_TIME, (double)(m->t->width_ns * first));
	}
	fputs("<tbody>", f);
	for (unsigned int y = m->rows - m->rows % per + per; y; y -= per) {
		unsigned int low = y - per;

		if (low >= m->rows)
			continue;
		fputs("<tr><th>", f);
		name(f, m, low);
		for (unsigned int c = 0; c < columns; c++) {
			uint64_t n = 0;

			for (unsigned int x = m->t->nr * c / columns;
			     x < m->t->nr * (c + 1) / columns; x++)
				for (unsigned int k = low; k < low + per && k < m->rows; k++)
					n += m->count(m, x, k);
			fprintf(f, "<td>%" PRIu64, n);
		}
	}
	details_end(f);
}

/* Buckets in one line of the heat map: four lines for each power of two. */
#define HEAT_BUCKETS 8u
/* The fewest lines: two powers of two. In less than a decade there are more labels. */
#define HEAT_LINES_MIN 8u
#define HEAT_LINES_DECADE 14u

static uint64_t heat_of(const struct map *m, unsigned int x, unsigned int y)
{
	const uint64_t *b = m->t->bin[x].h.buckets;
	uint64_t n = 0;

	for (unsigned int i = (m->first + y) * HEAT_BUCKETS;
	     i < (m->first + y + 1) * HEAT_BUCKETS && i < NT_BUCKETS; i++)
		n += b[i];
	return n;
}

static void heat_name(FILE *f, const struct map *m, unsigned int y)
{
	print_label(f, LABEL_DURATION, (double)nt_bucket_low((m->first + y) * HEAT_BUCKETS));
	fputs(" and more", f);
}

/* The first line, and behind the last one, in which a command is; or more lines around it. */
static void heat_range(const struct html_figure *t, unsigned int *first, unsigned int *end)
{
	*first = NT_BUCKETS;
	*end = 0;
	for (unsigned int i = 0; i < NT_BUCKETS; i++) {
		uint64_t n = 0;

		for (unsigned int x = 0; x < t->nr && !n; x++)
			n += t->bin[x].h.buckets[i];
		if (!n)
			continue;
		*first = i / HEAT_BUCKETS < *first ? i / HEAT_BUCKETS : *first;
		*end = i / HEAT_BUCKETS + 1;
	}
	while (*end > *first && *end - *first < HEAT_LINES_MIN) {
		if (*first && (*end - *first) % 2)
			--*first;
		else
			++*end;
	}
}

/* Where a latency is drawn: buckets are nearly logarithmic, so labels go where they are counted. */
static void heat_labels(const struct plot *p, const struct map *m)
{
	static const unsigned char parts[] = {1, 2, 5};
	double high = (p->y.from - p->y.to) / m->rows;

	for (uint64_t ns = 1; ns < 100000000000; ns *= 10)
		for (size_t i = 0; i < (m->rows < HEAT_LINES_DECADE ? ARRAY_SIZE(parts) : 1); i++) {
			double at = (double)nt_bucket(ns * parts[i]) / HEAT_BUCKETS - m->first;

			if (at < 0 || at > m->rows)
				continue;
			at = p->y.from - at * high;
			fprintf(p->f, "<path class=g d='M%d %.1fH%d'/><text x=%d y=%.1f class=e>",
				LEFT, at, WIDTH - RIGHT, LEFT - 7, at + 4);
			print_label(p->f, LABEL_DURATION, (double)(ns * parts[i]));
			fputs("</text>", p->f);
		}
}

void html_heat_map(FILE *f, const struct html_figure *t)
{
	struct map m = {.t = t, .count = heat_of};
	struct plot p = {.f = f};
	unsigned int end;

	heat_range(t, &m.first, &end);
	if (end <= m.first)
		return;
	m.rows = end - m.first;
	time_axis(&p, t);
	fputs("<figure>", f);
	map_legend(f);
	plot_begin(&p, "Heat map of latency over time", 360, LABEL_TIME, LABEL_NONE);
	heat_labels(&p, &m);
	map_draw(&p, &m);
	events_draw(&p, t, false);
	plot_end(&p);
	map_table(f, &m, 4, heat_name);
	fputs("</figure>\n", f);
}

static uint64_t lba_of(const struct map *m, unsigned int x, unsigned int y)
{
	return m->t->bin[x].lba[y];
}

static void lba_name(FILE *f, const struct map *m, unsigned int y)
{
	fprintf(f, "LBA %" PRIu64 " and more", (m->lba->base + y) << m->lba->shift);
}

void html_addresses(FILE *f, const struct html_figure *t, const struct timeline_axis *lba)
{
	struct map m = {.t = t, .rows = lba->nr, .count = lba_of, .lba = lba};
	struct plot p = {.f = f};

	time_axis(&p, t);
	axis_set(&p.y, (double)(lba->base << lba->shift),
		 (double)((lba->base + lba->nr) << lba->shift), false);
	fputs("<figure>", f);
	map_legend(f);
	plot_begin(&p, "Addresses over time", 320, LABEL_TIME, LABEL_COUNT);
	map_draw(&p, &m);
	plot_end(&p);
	map_table(f, &m, 8, lba_name);
	fputs("</figure>\n", f);
}

void html_in_flight(FILE *f, const struct html_figure *t)
{
	static const struct series *const shown[] = {&latencies[1], &latencies[2]};
	struct plot p = {.f = f};
	double low = 0, high = 0, most = 0;

	for (unsigned int i = 0; i < t->nr; i++) {
		double p50 = p50_of(t, &t->bin[i]), p99 = p99_of(t, &t->bin[i]);

		if (p50 > 0 && (p50 < low || !low))
			low = p50;
		high = fmax(high, fmax(p50, p99));
		most = fmax(most, in_flight_of(t, &t->bin[i]));
	}
	if (!high)
		return;
	axis_set(&p.x, 0, most * 1.02, false);
	axis_set(&p.y, low, high, true);
	fputs("<figure><p class='legend dots'><span class=c2>p99</span> <span class=c1>p50</span> of each part of "
	      "the time</p>",
	      f);
	plot_begin(&p, "Latency by commands in flight", 320, LABEL_COUNT, LABEL_DURATION);
	for (unsigned int k = 0; k < ARRAY_SIZE(shown); k++)
		for (unsigned int i = 0; i < t->nr; i++) {
			double v = shown[k]->get(t, &t->bin[i]);

			if (v > 0)
				fprintf(f,
					k ? "<circle class='d %s' cx=%.1f cy=%.1f r=3.5 />"
					  : "<path class='d %s' d='M%.1f %.1fm0 -5l5 5-5 5-5-5z'/>",
					shown[k]->class, place(&p.x, in_flight_of(t, &t->bin[i])),
					place(&p.y, v));
		}
	plot_end(&p);
	details_begin(f);
	fputs("<th>from<th>in flight<th>p50<th>p99<tbody>", f);
	for (unsigned int i = 0; i < t->nr; i++) {
		if (!t->bin[i].h.count)
			continue;
		fputs("<tr>", f);
		number_cell(f, (double)t->width_ns * i, LABEL_TIME);
		number_cell(f, in_flight_of(t, &t->bin[i]), LABEL_COUNT);
		number_cell(f, p50_of(t, &t->bin[i]), LABEL_DURATION);
		number_cell(f, p99_of(t, &t->bin[i]), LABEL_DURATION);
	}
	details_end(f);
	fputs("</figure>\n", f);
}

void html_distribution(FILE *f, const struct hist *h, const char *op)
{
	uint64_t counts[OCTAVES_NR], sum = 0, most = 0;
	unsigned int first = NT_BUCKETS, last = 0;
	struct plot p = {.f = f};

	for (unsigned int i = 0; i < NT_BUCKETS; i += HEAT_BUCKETS) {
		uint64_t n = 0;

		for (unsigned int k = i; k < i + HEAT_BUCKETS && k < NT_BUCKETS; k++)
			n += h->buckets[k];
		if (!n)
			continue;
		most = n > most ? n : most;
		first = i < first ? i : first;
		last = i;
	}
	if (!most)
		return;
	axis_set(&p.x, (double)nt_bucket_low(first), (double)nt_bucket_low(last + HEAT_BUCKETS),
		 true);
	axis_set(&p.y, 0, (double)most, false);
	fprintf(f,
		"<figure><figcaption>%s</figcaption><p class=legend><span class=c1>commands</span> "
		"<span class=c2>not longer than this, up to 100 %%</span></p>",
		op);
	plot_begin(&p, "Distribution of latencies", 240, LABEL_DURATION, LABEL_COUNT);
	fputs("<path class='f c1' d='", f);
	for (unsigned int i = first; i <= last; i += HEAT_BUCKETS) {
		double x = place(&p.x, (double)nt_bucket_low(i));
		uint64_t n = 0;

		for (unsigned int k = i; k < i + HEAT_BUCKETS && k < NT_BUCKETS; k++)
			n += h->buckets[k];
		if (n)
			fprintf(f, "M%.1f %.1fV%.1fH%.1fV%.1fz", x, p.y.from,
				place(&p.y, (double)n),
				place(&p.x, (double)nt_bucket_low(i + HEAT_BUCKETS)), p.y.from);
	}
	fprintf(f, "'/><path class='l c2' d='M%.1f %.1f", p.x.from, p.y.from);
	for (unsigned int i = first; i < last + HEAT_BUCKETS && i < NT_BUCKETS; i++) {
		sum += h->buckets[i];
		if (h->buckets[i])
			fprintf(f, "L%.1f %.1f", place(&p.x, (double)nt_bucket_low(i + 1)),
				p.y.from + (p.y.to - p.y.from) * (double)sum / (double)h->count);
	}
	fprintf(f, "H%.1f'/>", p.x.to);
	plot_end(&p);
	details_begin(f);
	fputs("<th>from<th>to<th>commands<th>share<th>cumulative<tbody>", f);
	octaves_count(h, counts);
	sum = 0;
	for (unsigned int i = 0; i < OCTAVES_NR; i++) {
		struct scale_row row = octaves_row(i, i + 1, counts[i]);

		sum += counts[i];
		if (!counts[i])
			continue;
		fputs("<tr>", f);
		number_cell(f, (double)row.from, LABEL_DURATION);
		number_cell(f, row.endless ? -1 : (double)row.to, LABEL_DURATION);
		fprintf(f, "<td>%" PRIu64 "<td>%.2f %%<td>%.2f %%", counts[i],
			100.0 * (double)counts[i] / (double)h->count,
			100.0 * (double)sum / (double)h->count);
	}
	details_end(f);
	fputs("</figure>\n", f);
}

void html_spark(FILE *f, const struct timeline_spark *spark, unsigned int nr)
{
	double most = 0;

	for (unsigned int i = 0; i < nr; i++)
		if (spark[i].count)
			most = fmax(most, (double)spark[i].sum / (double)spark[i].count);
	fputs("<svg class=spark viewBox='0 0 132 22' aria-hidden=true><path class='f c1' d='", f);
	for (unsigned int i = 0; i < nr; i++) {
		double v = spark[i].count ? (double)spark[i].sum / (double)spark[i].count : 0;

		if (v > 0)
			fprintf(f, "M%.1f 22v-%.1fh%.1fV22z", 132.0 * i / nr, 21 * v / most,
				132.0 / nr);
	}
	fputs("'/></svg>", f);
}
