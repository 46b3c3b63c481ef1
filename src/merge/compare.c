// SPDX-License-Identifier: GPL-2.0-only
#include "merge/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "merge/stretches.h"

/* All intervals hold together but for this probability; latencies and stages have half of it each.
 */
#define OUTSIDE 0.01
/* A load is another one by chance with this probability. */
#define LOAD_OUTSIDE 0.05
/* A stretch is at least this long. */
#define STRETCH_NS 1000000000ULL

static const struct figure {
	const char *name;
	uint32_t parts;
} figures[] = {
#define FIGURE(id, name, parts) [COMPARE_##id] = {name, parts},
	COMPARE_FIGURES(FIGURE)};

const char *compare_figure_name(enum compare_figure figure)
{
	return figures[figure].name;
}

/* Draws. */

/**
 * struct drawn - what is drawn of a recording
 * @row: @nr blocks, without those in which nothing was recorded if it was recorded in bursts
 * @weight: COMPARE_DRAWS times @nr
 */
struct drawn {
	unsigned int nr;
	uint16_t row[BLOCKS_MAX];
	uint16_t *weight;
};

static bool block_empty(const struct blocks *b, unsigned int block)
{
	for (unsigned int i = 0; i < b->nr_kinds; i++)
		if (b->kind[i]->block[block])
			return false;
	return true;
}

static void drawn_rows(struct drawn *d, const struct blocks *b)
{
	d->nr = 0;
	for (unsigned int i = 0; i < b->nr; i++)
		if (!b->measured_ns || !block_empty(b, i))
			d->row[d->nr++] = (uint16_t)i;
}

/* Return: how many blocks a second has. */
static unsigned int second_of(const struct blocks *b)
{
	return (unsigned int)((STRETCH_NS + (1ULL << b->shift) - 1) >> b->shift);
}

/* @length: at most @d->nr. Return: 0 or -ENOMEM. */
static int draw_all(struct drawn *d, unsigned int length)
{
	uint64_t state = STRETCHES_SEED;

	if (!d->weight)
		d->weight = calloc((size_t)COMPARE_DRAWS * BLOCKS_MAX, sizeof(*d->weight));
	if (!d->weight)
		return -ENOMEM;
	for (unsigned int i = 0; i < COMPARE_DRAWS; i++)
		stretches_draw(d->weight + (size_t)i * d->nr, d->nr, length, &state);
	return 0;
}

/* Histograms that are drawn. */

/**
 * struct part - commands of a kind that are compared with their like
 * @share: of all that are compared, in either recording
 */
struct part {
	const struct blocks_kind *kind;
	double share;
};

/**
 * struct sample - a duration of one part
 * @bucket: @columns of them are used
 * @n: [row * columns + column] durations
 */
struct sample {
	unsigned int columns;
	uint16_t bucket[NT_BUCKETS];
	double sum[BLOCKS_MAX];
	double count[BLOCKS_MAX];
	float *n;
};

static const struct blocks_hist *hist_of(const struct part *p, unsigned int block,
					 unsigned int duration)
{
	const struct blocks_cell *cell = p->kind->block[block];

	return cell && cell->of[duration].count ? &cell->of[duration] : NULL;
}

static int sample_make(struct sample *s, const struct blocks *b, const struct drawn *d,
		       const struct part *p, unsigned int duration)
{
	bool used[BLOCKS_PIECES * NT_SUB_BUCKETS] = {false};

	s->columns = 0;
	for (unsigned int i = 0; i < d->nr; i++) {
		const struct blocks_hist *h = hist_of(p, d->row[i], duration);

		s->count[i] = h ? (double)h->count : 0;
		s->sum[i] = h ? h->sum : 0;
		for (unsigned int k = 0; h && k < NT_BUCKETS; k++)
			if (!h->piece[k / NT_SUB_BUCKETS])
				k |= NT_SUB_BUCKETS - 1;
			else if (blocks_bucket(b, h, k))
				used[k] = true;
	}
	for (unsigned int k = 0; k < NT_BUCKETS; k++)
		if (used[k])
			s->bucket[s->columns++] = (uint16_t)k;
	s->n = calloc((size_t)d->nr * s->columns + 1, sizeof(*s->n));
	if (!s->n)
		return -ENOMEM;
	for (unsigned int i = 0; i < d->nr; i++) {
		const struct blocks_hist *h = hist_of(p, d->row[i], duration);

		for (unsigned int k = 0; h && k < s->columns; k++)
			s->n[(size_t)i * s->columns + k] = (float)blocks_bucket(b, h, s->bucket[k]);
	}
	return 0;
}

/**
 * struct mix - a distribution
 * @share: [bucket] of all durations
 */
struct mix {
	double mean;
	double share[NT_BUCKETS];
};

/* Adds one part. @weight: NULL: each row once. Return: the share that it has. */
static double mix_add(struct mix *m, const struct sample *s, unsigned int nr, double share,
		      const uint16_t *weight)
{
	double n[NT_BUCKETS], count = 0, sum = 0;

	memset(n, 0, s->columns * sizeof(n[0]));
	for (unsigned int i = 0; i < nr; i++) {
		const float *row = s->n + (size_t)i * s->columns;
		double times = weight ? weight[i] : 1;

		if (times <= 0 || s->count[i] <= 0)
			continue;
		count += times * s->count[i];
		sum += times * s->sum[i];
		for (unsigned int k = 0; k < s->columns; k++)
			n[k] += times * (double)row[k];
	}
	if (count <= 0)
		return 0;
	m->mean += share * sum / count;
	for (unsigned int k = 0; k < s->columns; k++)
		m->share[s->bucket[k]] += share * n[k] / count;
	return share;
}

/* Return: false if there is nothing in it. */
static bool mix_make(struct mix *m, const struct sample *s, const struct part *p,
		     unsigned int nr_parts, unsigned int nr, const uint16_t *weight)
{
	double all = 0;

	memset(m, 0, sizeof(*m));
	for (unsigned int i = 0; i < nr_parts; i++)
		all += mix_add(m, &s[i], nr, p[i].share, weight);
	if (all <= 0)
		return false;
	m->mean /= all;
	for (unsigned int k = 0; k < NT_BUCKETS; k++)
		m->share[k] /= all;
	return true;
}

/* All percentiles at once. Durations are taken to be spread evenly within their bucket. */
static void mix_figures(const struct mix *m, double value[COMPARE_FIGURES_NR])
{
	unsigned int next = COMPARE_MEAN + 1, last = 0;
	double below = 0;

	value[COMPARE_MEAN] = m->mean;
	for (unsigned int k = 0; k < NT_BUCKETS && next < COMPARE_FIGURES_NR; k++) {
		double low = (double)nt_bucket_low(k);
		double width = (double)nt_bucket_low(k + 1) - low;

		if (m->share[k] <= 0)
			continue;
		last = k;
		for (; next < COMPARE_FIGURES_NR; next++) {
			double want = figures[next].parts / (double)HIST_PARTS - below;

			if (want > m->share[k])
				break;
			value[next] = low + width * want / m->share[k];
		}
		below += m->share[k];
	}
	for (; next < COMPARE_FIGURES_NR; next++)
		value[next] = (double)nt_bucket_low(last + 1);
}

/* P(b > a), half of the equal ones included. */
static double mix_greater(const struct mix *a, const struct mix *b)
{
	double below = 0, greater = 0;

	for (unsigned int k = 0; k < NT_BUCKETS; k++) {
		greater += b->share[k] * (below + a->share[k] / 2);
		below += a->share[k];
	}
	return greater;
}

/* Comparison of a kind. */

/**
 * struct side - a kind in one recording
 * @part: by commands in flight, or one
 * @length: blocks of a stretch
 */
struct side {
	const struct blocks *b;
	struct part part[BLOCKS_DEPTHS];
	unsigned int nr_parts;
	struct drawn drawn;
	unsigned int length;
	struct sample *sample;
};

static double count_of(const struct blocks_kind *k)
{
	double n = 0;

	for (unsigned int i = 0; k && i < BLOCKS_MAX; i++)
		if (k->block[i])
			n += (double)k->block[i]->of[BLOCKS_LATENCY].count;
	return n;
}

static const struct blocks_kind *kind_of(const struct blocks *b, enum nt_op op, unsigned int size,
					 unsigned int depth)
{
	uint8_t at = b->at[op][size][depth];

	return at && b->kind[at - 1]->op == op ? b->kind[at - 1] : NULL;
}

/* Finds what is compared of a kind, and sets @k->overlap. */
static void parts_make(struct compare_kind *k, struct side side[COMPARE_WHENS])
{
	double all[COMPARE_WHENS] = {0}, least;

	for (unsigned int w = 0; w < COMPARE_WHENS; w++)
		for (unsigned int d = 0; d < BLOCKS_DEPTHS; d++)
			all[w] += count_of(kind_of(side[w].b, k->op, k->size, d));
	k->overlap = 0;
	side[0].nr_parts = side[1].nr_parts = 0;
	for (unsigned int d = 0; d < BLOCKS_DEPTHS; d++) {
		const struct blocks_kind *of[COMPARE_WHENS];

		least = 1;
		for (unsigned int w = 0; w < COMPARE_WHENS; w++) {
			of[w] = kind_of(side[w].b, k->op, k->size, d);
			if (count_of(of[w]) < 2 * COMPARE_BEYOND_MIN)
				least = 0;
			else
				least = fmin(least, count_of(of[w]) / all[w]);
		}
		if (least <= 0)
			continue;
		k->overlap += least;
		for (unsigned int w = 0; w < COMPARE_WHENS; w++)
			side[w].part[side[w].nr_parts++] = (struct part){of[w], least};
	}
}

static unsigned int longer(unsigned int a, const double *series, unsigned int nr)
{
	unsigned int length = stretch_length(series, nr);

	return a > length ? a : length;
}

/* The longest stretch of several series: the mean latency, and the shares above p50 and p99. */
static int length_find(struct side *s)
{
	static const unsigned char above[] = {COMPARE_P50, COMPARE_P99};
	double mean[BLOCKS_MAX], share[BLOCKS_MAX], value[COMPARE_FIGURES_NR];
	const struct drawn *d = &s->drawn;
	struct mix *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	s->length = second_of(s->b);
	if (!mix_make(m, s->sample, s->part, s->nr_parts, d->nr, NULL))
		goto out;
	mix_figures(m, value);
	for (unsigned int i = 0; i < d->nr; i++) {
		double count = 0, sum = 0;

		for (unsigned int p = 0; p < s->nr_parts; p++) {
			count += s->sample[p].count[i];
			sum += s->sample[p].sum[i];
		}
		mean[i] = count > 0 ? sum / count : value[COMPARE_MEAN];
	}
	s->length = longer(s->length, mean, d->nr);
	for (unsigned int a = 0; a < ARRAY_SIZE(above); a++) {
		unsigned int from = nt_bucket((uint64_t)value[above[a]]);

		for (unsigned int i = 0; i < d->nr; i++) {
			double count = 0, more = 0;

			for (unsigned int p = 0; p < s->nr_parts; p++) {
				const struct sample *of = &s->sample[p];

				count += of->count[i];
				for (unsigned int k = of->columns; k-- && of->bucket[k] > from;)
					more += (double)of->n[(size_t)i * of->columns + k];
			}
			share[i] = count > 0 ? more / count
					     : 1 - figures[above[a]].parts / (double)HIST_PARTS;
		}
		s->length = longer(s->length, share, d->nr);
	}
out:
	free(m);
	return 0;
}

static void samples_free(struct side *s)
{
	for (unsigned int p = 0; s->sample && p < s->nr_parts; p++)
		free(s->sample[p].n);
	free(s->sample);
	s->sample = NULL;
}

static int samples_make(struct side *s, unsigned int duration)
{
	s->sample = calloc(s->nr_parts + 1, sizeof(*s->sample));
	if (!s->sample)
		return -ENOMEM;
	for (unsigned int p = 0; p < s->nr_parts; p++)
		if (sample_make(&s->sample[p], s->b, &s->drawn, &s->part[p], duration))
			return -ENOMEM;
	return 0;
}

/* Fills in the figures of one recording, and their standard errors. Return: how many there are. */
static double figures_draw(const struct side *s, struct mix *m, double value[COMPARE_FIGURES_NR],
			   double error[COMPARE_FIGURES_NR])
{
	double sum[COMPARE_FIGURES_NR] = {0}, squares[COMPARE_FIGURES_NR] = {0}, count = 0,
	       draws = 0;
	double stretches = (double)s->drawn.nr / s->length;
	struct mix drawn;

	for (unsigned int p = 0; p < s->nr_parts; p++)
		for (unsigned int i = 0; i < s->drawn.nr; i++)
			count += s->sample[p].count[i];
	if (!mix_make(m, s->sample, s->part, s->nr_parts, s->drawn.nr, NULL))
		return 0;
	mix_figures(m, value);
	for (unsigned int i = 0; i < COMPARE_DRAWS; i++) {
		const uint16_t *weight = s->drawn.weight + (size_t)i * s->drawn.nr;
		double of[COMPARE_FIGURES_NR];

		if (!mix_make(&drawn, s->sample, s->part, s->nr_parts, s->drawn.nr, weight))
			continue;
		mix_figures(&drawn, of);
		draws++;
		for (unsigned int f = 0; f < COMPARE_FIGURES_NR; f++) {
			sum[f] += of[f] - value[f];
			squares[f] += (of[f] - value[f]) * (of[f] - value[f]);
		}
	}
	/* As of any sample, the variance of N stretches is N / (N - 1) of what is among them. */
	for (unsigned int f = 0; f < COMPARE_FIGURES_NR; f++) {
		double variance =
			draws > 1 ? (squares[f] - sum[f] * sum[f] / draws) / (draws - 1) : 0;

		error[f] = sqrt(fmax(0, variance) * stretches / (stretches - 1));
	}
	return count;
}

/* Whether so many durations are enough for a figure. */
static bool enough(double count, unsigned int figure)
{
	double beyond = 1 - figures[figure].parts / (double)HIST_PARTS;

	if (figure == COMPARE_MEAN)
		beyond = 0.5;
	return count * beyond >= COMPARE_BEYOND_MIN;
}

static double square(double x)
{
	return x * x;
}

static void shift_make(struct compare_shift *s, const double stretches[COMPARE_WHENS])
{
	double before = square(s->error[COMPARE_BEFORE]), after = square(s->error[COMPARE_AFTER]);
	double below = square(before) / (stretches[COMPARE_BEFORE] - 1) +
		       square(after) / (stretches[COMPARE_AFTER] - 1);

	s->freedom = below > 0 ? square(before + after) / below : stretches[COMPARE_BEFORE];
	s->finding = COMPARE_SAME;
}

/* @nr_figures: the first so many are compared */
static int duration_compare(struct compare_kind *k, struct side side[COMPARE_WHENS],
			    unsigned int duration, unsigned int nr_figures)
{
	struct compare_duration *to = &k->of[duration];
	struct mix *mix = calloc(COMPARE_WHENS, sizeof(*mix));
	double value[COMPARE_WHENS][COMPARE_FIGURES_NR], error[COMPARE_WHENS][COMPARE_FIGURES_NR];
	double count[COMPARE_WHENS];
	int err = mix ? 0 : -ENOMEM;

	for (unsigned int w = 0; !err && w < COMPARE_WHENS; w++) {
		err = samples_make(&side[w], duration);
		if (!err)
			count[w] = figures_draw(&side[w], &mix[w], value[w], error[w]);
		samples_free(&side[w]);
	}
	if (!err && count[COMPARE_BEFORE] > 0 && count[COMPARE_AFTER] > 0) {
		to->there = true;
		to->greater = mix_greater(&mix[COMPARE_BEFORE], &mix[COMPARE_AFTER]);
		for (unsigned int f = 0; f < COMPARE_FIGURES_NR; f++) {
			for (unsigned int w = 0; w < COMPARE_WHENS; w++) {
				to->of[f].value[w] = value[w][f];
				to->of[f].error[w] = error[w][f];
			}
			if (f < nr_figures && enough(count[COMPARE_BEFORE], f) &&
			    enough(count[COMPARE_AFTER], f))
				shift_make(&to->of[f], k->stretches);
		}
	}
	free(mix);
	return err;
}

/* Whether both recordings have a stage, joined with the same others. */
static bool stage_alike(const struct compare *c, unsigned int stage)
{
	const struct blocks *a = &c->blocks[COMPARE_BEFORE], *b = &c->blocks[COMPARE_AFTER];

	if (a->side != b->side || a->mixed || b->mixed || a->into[stage] != stage)
		return false;
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		if ((a->into[i] == stage) != (b->into[i] == stage))
			return false;
	return true;
}

static int kind_compare(struct compare *c, struct compare_kind *k)
{
	struct side side[COMPARE_WHENS] = {{.b = &c->blocks[COMPARE_BEFORE]},
					   {.b = &c->blocks[COMPARE_AFTER]}};
	int err = 0;

	parts_make(k, side);
	if (!k->commands[COMPARE_BEFORE] || !k->commands[COMPARE_AFTER])
		k->why = COMPARE_ONLY_ONE;
	else if (!enough((double)k->commands[COMPARE_BEFORE], COMPARE_MEAN) ||
		 !enough((double)k->commands[COMPARE_AFTER], COMPARE_MEAN))
		k->why = COMPARE_FEW;
	else if (k->overlap < COMPARE_OVERLAP_MIN)
		k->why = COMPARE_APART;
	for (unsigned int w = 0; !err && !k->why && w < COMPARE_WHENS; w++) {
		struct side *s = &side[w];

		drawn_rows(&s->drawn, s->b);
		err = samples_make(s, BLOCKS_LATENCY) ?: length_find(s);
		samples_free(s);
		k->stretch_seconds[w] = ldexp(s->length, (int)s->b->shift) / 1e9;
		k->stretches[w] = (double)s->drawn.nr / s->length;
		if (k->stretches[w] < STRETCHES_MIN)
			k->why = COMPARE_SHORT;
		else if (!err)
			err = draw_all(&s->drawn, s->length);
	}
	for (unsigned int d = 0; !err && !k->why && d < BLOCKS_DURATIONS; d++)
		if (d == BLOCKS_LATENCY || stage_alike(c, d - BLOCKS_STAGE(0)))
			err = duration_compare(
				k, side, d, c->by_depth ? COMPARE_MATCHED_NR : COMPARE_FIGURES_NR);
	free(side[COMPARE_BEFORE].drawn.weight);
	free(side[COMPARE_AFTER].drawn.weight);
	return err;
}

/* Intervals that hold together. */

static unsigned int figures_count(const struct compare *c, bool stages)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < c->nr_kinds; i++)
		for (unsigned int d = 0; d < BLOCKS_DURATIONS; d++)
			for (unsigned int f = 0; f < COMPARE_FIGURES_NR; f++)
				nr += (d != BLOCKS_LATENCY) == stages &&
				      c->kind[i].of[d].of[f].finding != COMPARE_UNKNOWN;
	return nr;
}

/* @least: a shift by less is none */
static void shift_judge(struct compare_shift *s, unsigned int together, double least)
{
	double shift = s->value[COMPARE_AFTER] - s->value[COMPARE_BEFORE], half;

	half = student_quantile(OUTSIDE / 2 / together, s->freedom) *
	       hypot(s->error[COMPARE_BEFORE], s->error[COMPARE_AFTER]);
	s->low = shift - half;
	s->high = shift + half;
	s->finding = s->low > least	? COMPARE_SLOWER
		     : s->high < -least ? COMPARE_FASTER
					: COMPARE_SAME;
}

static void judge_all(struct compare *c)
{
	c->figures = figures_count(c, false);
	c->stages = figures_count(c, true);
	for (unsigned int i = 0; i < c->nr_kinds; i++) {
		struct compare_duration *of = c->kind[i].of;
		double least =
			COMPARE_LEAST * of[BLOCKS_LATENCY].of[COMPARE_MEAN].value[COMPARE_BEFORE];

		for (unsigned int d = 0; d < BLOCKS_DURATIONS; d++)
			for (unsigned int f = 0; f < COMPARE_FIGURES_NR; f++)
				if (of[d].of[f].finding != COMPARE_UNKNOWN)
					shift_judge(&of[d].of[f],
						    d == BLOCKS_LATENCY ? c->figures : c->stages,
						    least);
	}
}

/* Loads. */

enum { SERIES_COUNT, SERIES_BYTES, SERIES_NS, SERIES_READS, SERIES_NR };

static void loads_of(const double sum[SERIES_NR], double seconds, double sample,
		     double load[COMPARE_LOADS_NR])
{
	double count = sum[SERIES_COUNT] > 0 ? sum[SERIES_COUNT] : 1;

	seconds = seconds > 0 ? seconds : 1;
	load[COMPARE_LOAD_RATE] = sum[SERIES_COUNT] * sample / seconds;
	load[COMPARE_LOAD_BYTES] = sum[SERIES_BYTES] * sample / seconds;
	/* J. Little, 1961: in flight are as many as begin, times how long each takes. */
	load[COMPARE_LOAD_DEPTH] = sum[SERIES_NS] / 1e9 * sample / seconds;
	load[COMPARE_LOAD_SIZE] = sum[SERIES_BYTES] / count;
	load[COMPARE_LOAD_READS] = sum[SERIES_READS] / count;
}

static void series_make(const struct blocks *b, const struct drawn *d,
			double series[SERIES_NR][BLOCKS_MAX])
{
	memset(series, 0, SERIES_NR * sizeof(series[0]));
	for (unsigned int i = 0; i < d->nr; i++) {
		for (unsigned int k = 0; k < b->nr_kinds; k++) {
			const struct blocks_cell *cell = b->kind[k]->block[d->row[i]];

			if (!cell)
				continue;
			series[SERIES_COUNT][i] += (double)cell->of[BLOCKS_LATENCY].count;
			series[SERIES_BYTES][i] += (double)cell->bytes;
			series[SERIES_NS][i] += cell->of[BLOCKS_LATENCY].sum;
			if (b->kind[k]->op == NT_OP_READ)
				series[SERIES_READS][i] += (double)cell->of[BLOCKS_LATENCY].count;
		}
	}
}

/* Return: how many stretches there are, 0: too few; or -ENOMEM */
static double load_draw(const struct compare *c, unsigned int w, double value[COMPARE_LOADS_NR],
			double error[COMPARE_LOADS_NR])
{
	double series[SERIES_NR][BLOCKS_MAX], sum[SERIES_NR], of[COMPARE_LOADS_NR];
	const struct blocks *b = &c->blocks[w];
	double sample = c->sample[w] > 1 ? c->sample[w] : 1;
	struct drawn d = {.nr = 0};
	unsigned int length;

	drawn_rows(&d, b);
	series_make(b, &d, series);
	length = longer(second_of(b), series[SERIES_COUNT], d.nr);
	length = longer(length, series[SERIES_NS], d.nr);
	memset(error, 0, COMPARE_LOADS_NR * sizeof(*error));
	memset(sum, 0, sizeof(sum));
	for (unsigned int s = 0; s < SERIES_NR; s++)
		for (unsigned int i = 0; i < d.nr; i++)
			sum[s] += series[s][i];
	loads_of(sum, blocks_seconds(b), sample, value);
	if (length * STRETCHES_MIN > d.nr)
		length = d.nr / STRETCHES_MIN;
	if (!length)
		return 0;
	if (draw_all(&d, length))
		return -ENOMEM;
	for (unsigned int n = 0; n < COMPARE_DRAWS; n++) {
		memset(sum, 0, sizeof(sum));
		for (unsigned int s = 0; s < SERIES_NR; s++)
			for (unsigned int i = 0; i < d.nr; i++)
				sum[s] += d.weight[(size_t)n * d.nr + i] * series[s][i];
		loads_of(sum, blocks_seconds(b), sample, of);
		for (unsigned int l = 0; l < COMPARE_LOADS_NR; l++)
			error[l] += square(of[l] - value[l]) / COMPARE_DRAWS;
	}
	for (unsigned int l = 0; l < COMPARE_LOADS_NR; l++)
		error[l] = sqrt(error[l]);
	free(d.weight);
	return (double)d.nr / length;
}

static int direction(const struct compare_load *l)
{
	return !l->differs ? 0 : l->value[COMPARE_AFTER] > l->value[COMPARE_BEFORE] ? 1 : -1;
}

/*
 * Latency depends on the load. But it is no other load if only one of the rate and of what is in
 * flight is another: an application that keeps as many in flight has fewer commands a second where
 * each takes longer, and one that begins as many a second has more in flight. If one is higher and
 * the other one lower, commands take another time as well.
 */
static int loads_compare(struct compare *c)
{
	double value[COMPARE_WHENS][COMPARE_LOADS_NR], error[COMPARE_WHENS][COMPARE_LOADS_NR];
	double stretches[COMPARE_WHENS], t = 0;
	int way;

	for (unsigned int w = 0; w < COMPARE_WHENS; w++) {
		stretches[w] = load_draw(c, w, value[w], error[w]);
		if (stretches[w] < 0)
			return -ENOMEM;
	}
	if (stretches[0] > 1 && stretches[1] > 1)
		t = student_quantile(LOAD_OUTSIDE / COMPARE_LOADS_NR,
				     fmin(stretches[0], stretches[1]) - 1);
	for (unsigned int l = 0; l < COMPARE_LOADS_NR; l++) {
		struct compare_load *load = &c->load[l];
		double shift = fabs(value[COMPARE_AFTER][l] - value[COMPARE_BEFORE][l]);
		double of = l == COMPARE_LOAD_READS ? 1 : value[COMPARE_BEFORE][l];

		load->value[COMPARE_BEFORE] = value[COMPARE_BEFORE][l];
		load->value[COMPARE_AFTER] = value[COMPARE_AFTER][l];
		load->differs =
			t > 0 && shift > COMPARE_LOAD_SHARE * of &&
			shift > t * hypot(error[COMPARE_BEFORE][l], error[COMPARE_AFTER][l]);
	}
	way = direction(&c->load[COMPARE_LOAD_RATE]);
	c->loads_differ = (way && way == direction(&c->load[COMPARE_LOAD_DEPTH])) ||
			  c->load[COMPARE_LOAD_SIZE].differs || c->load[COMPARE_LOAD_READS].differs;
	return 0;
}

/* All kinds. */

static bool is_io(enum nt_op op)
{
	return op != NT_OP_ADMIN && op != NT_OP_FABRICS && op < NT_OPS_NR;
}

static double time_of(const struct compare *c, const struct compare_kind *k)
{
	double ns = 0;

	for (unsigned int w = 0; w < COMPARE_WHENS; w++)
		for (unsigned int i = 0; i < c->blocks[w].nr_kinds; i++) {
			const struct blocks_kind *of = c->blocks[w].kind[i];

			for (unsigned int n = 0;
			     of->op == k->op && of->size == k->size && n < BLOCKS_MAX; n++)
				ns += of->block[n] ? of->block[n]->of[BLOCKS_LATENCY].sum : 0;
		}
	return ns;
}

static struct compare_kind *kind_named(struct compare *c, const struct blocks_kind *of)
{
	struct compare_kind *k;

	for (unsigned int i = 0; i < c->nr_kinds; i++)
		if (c->kind[i].op == of->op && c->kind[i].size == of->size)
			return &c->kind[i];
	if (c->nr_kinds == COMPARE_KINDS_MAX)
		return NULL;
	k = &c->kind[c->nr_kinds++];
	*k = (struct compare_kind){.op = of->op, .size = of->size, .least = UINT32_MAX};
	return k;
}

/* Lists the kinds, without admin commands beside I/O. */
static void kinds_list(struct compare *c)
{
	bool io = false;

	for (unsigned int w = 0; w < COMPARE_WHENS; w++)
		for (unsigned int i = 0; i < c->blocks[w].nr_kinds; i++)
			io |= is_io(c->blocks[w].kind[i]->op);
	for (unsigned int w = 0; w < COMPARE_WHENS; w++) {
		for (unsigned int i = 0; i < c->blocks[w].nr_kinds; i++) {
			const struct blocks_kind *of = c->blocks[w].kind[i];
			struct compare_kind *k;

			if (of->op == NT_OPS_NR || (io && !is_io(of->op)))
				continue;
			k = kind_named(c, of);
			if (!k)
				continue;
			k->commands[w] += (uint64_t)count_of(of);
			k->least = of->least < k->least ? of->least : k->least;
			k->most = of->most > k->most ? of->most : k->most;
		}
	}
	for (unsigned int i = 1; i < c->nr_kinds; i++) {
		struct compare_kind k = c->kind[i];
		double ns = time_of(c, &k);
		unsigned int at = i;

		for (; at && time_of(c, &c->kind[at - 1]) < ns; at--)
			c->kind[at] = c->kind[at - 1];
		c->kind[at] = k;
	}
}

int compare_again(struct compare *c)
{
	const uint32_t none[NT_SIDES] = {0};
	struct blocks *a = &c->blocks[COMPARE_BEFORE], *b = &c->blocks[COMPARE_AFTER];
	uint32_t missing[NT_SIDES] = {a->lacks[NT_HOST] | b->lacks[NT_HOST],
				      a->lacks[NT_TARGET] | b->lacks[NT_TARGET]};
	bool by_depth = c->by_depth, again = false;
	int err;

	if (!a->commands || !b->commands)
		return 0;
	if (a->side != b->side) {
		if (c->only != NT_SIDES || (a->side != NT_SIDES && b->side != NT_SIDES))
			return 0;
		c->only = a->side == NT_SIDES ? b->side : a->side;
		memcpy(missing, none, sizeof(missing));
		again = true;
	} else {
		for (unsigned int w = 0; w < COMPARE_WHENS; w++)
			again |= c->blocks[w].mixed ||
				 memcmp(c->blocks[w].lacks, missing, sizeof(missing)) != 0;
		again &= memcmp(a->missing, missing, sizeof(missing)) != 0;
		err = loads_compare(c);
		if (err)
			return err;
		if (c->loads_differ && !by_depth && c->sample[0] <= 1 && c->sample[1] <= 1)
			by_depth = again = true;
	}
	if (!again)
		return 0;
	c->by_depth = by_depth;
	for (unsigned int w = 0; w < COMPARE_WHENS; w++) {
		blocks_clear(&c->blocks[w]);
		c->blocks[w].by_depth = by_depth;
		memcpy(c->blocks[w].missing, missing, sizeof(missing));
	}
	return 1;
}

int compare_solve(struct compare *c)
{
	int err;

	c->kind = calloc(COMPARE_KINDS_MAX, sizeof(*c->kind));
	if (!c->kind)
		return -ENOMEM;
	if (c->blocks[COMPARE_BEFORE].side != c->blocks[COMPARE_AFTER].side)
		return 0;
	err = loads_compare(c);
	kinds_list(c);
	for (unsigned int i = 0; !err && i < c->nr_kinds; i++) {
		/* If they could not be read once more nothing is known of equal loads. */
		if (c->loads_differ && !c->by_depth)
			c->kind[i].why = COMPARE_APART;
		else
			err = kind_compare(c, &c->kind[i]);
	}
	if (!err)
		judge_all(c);
	return err;
}

void compare_free(struct compare *c)
{
	blocks_clear(&c->blocks[COMPARE_BEFORE]);
	blocks_clear(&c->blocks[COMPARE_AFTER]);
	free(c->kind);
}

/* The answer. */

bool compare_above(const struct compare *c, const struct compare_shift *s)
{
	return s->finding == COMPARE_SLOWER && s->low > c->tolerance * s->value[COMPARE_BEFORE];
}

/* Finds the stage that has shifted most: in the direction of a latency, if that has shifted. */
static void find_stage(const struct compare_kind *k, struct compare_answer *a)
{
	enum compare_finding way = k->of[BLOCKS_LATENCY].of[a->figure].finding;
	const unsigned char tried[] = {(unsigned char)a->figure, COMPARE_MEAN};

	for (unsigned int t = 0; t < ARRAY_SIZE(tried) && !a->duration; t++) {
		double most = 0;

		for (unsigned int d = BLOCKS_STAGE(0); d < BLOCKS_DURATIONS; d++) {
			const struct compare_shift *s = &k->of[d].of[tried[t]];
			double shift = fabs(s->value[COMPARE_AFTER] - s->value[COMPARE_BEFORE]);

			if (s->finding <= COMPARE_SAME || shift <= most ||
			    (way != COMPARE_SAME && s->finding != way))
				continue;
			most = shift;
			a->duration = d;
			a->stage_figure = (enum compare_figure)tried[t];
		}
	}
}

struct compare_answer compare_kind_answer(const struct compare *c, const struct compare_kind *k)
{
	struct compare_answer a = {.outcome = COMPARE_NOTHING, .kind = k};

	for (unsigned int f = 0; f < COMPARE_FIGURES_NR; f++) {
		const struct compare_shift *s = &k->of[BLOCKS_LATENCY].of[f];
		enum compare_outcome o = s->finding == COMPARE_UNKNOWN	? COMPARE_NOTHING
					 : compare_above(c, s)		? COMPARE_REGRESSION
					 : s->finding == COMPARE_SLOWER ? COMPARE_WORSE
					 : s->finding == COMPARE_FASTER ? COMPARE_IMPROVED
									: COMPARE_NO_SHIFT;

		if (o <= a.outcome)
			continue;
		a.outcome = o;
		a.figure = (enum compare_figure)f;
	}
	if (a.outcome != COMPARE_NOTHING)
		find_stage(k, &a);
	return a;
}

struct compare_answer compare_answer(const struct compare *c)
{
	struct compare_answer most = {.outcome = COMPARE_NOTHING};

	for (unsigned int i = 0; i < c->nr_kinds; i++) {
		struct compare_answer a = compare_kind_answer(c, &c->kind[i]);

		if (a.outcome > most.outcome ||
		    (a.outcome == most.outcome && most.outcome == COMPARE_NO_SHIFT &&
		     most.duration == BLOCKS_LATENCY))
			most = a;
	}
	return most;
}

double compare_unseen(const struct compare *c)
{
	double most = 0;

	for (unsigned int i = 0; i < c->nr_kinds; i++) {
		const struct compare_shift *s = &c->kind[i].of[BLOCKS_LATENCY].of[COMPARE_MEAN];
		double half = (s->high - s->low) / 2, before = s->value[COMPARE_BEFORE];

		if (s->finding != COMPARE_UNKNOWN && before > 0 && half > most * before)
			most = half / before;
	}
	return most;
}
