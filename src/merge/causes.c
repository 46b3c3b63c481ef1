// SPDX-License-Identifier: GPL-2.0-only
#include "merge/causes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/hash.h"

/* What is near the median. */
#define MID_FROM 45.0
#define MID_TO 55.0
/*
 * How far the slow commands are from the median follows from p75 if all have one spread: by 7 times
 * p75 - p50 for an exponential one, by 7 to 12 for lognormal ones of a sigma of 0.5 to 0.9,
 * whatever constant time is added. A tail is what is above that, or so many times the median.
 */
#define SPREAD_TIMES 15.0
#define SPREAD_RATIO 15.0
/* A value of a key explains the tail: of the slow commands and of all, and how p99 compares. */
#define KEY_TAIL_MIN 0.6
#define KEY_LIFT_MIN 1.6
#define KEY_P99_TIMES 2.0
/* One that is contained in another is named if it has as much of the tail, but far fewer commands.
 */
#define KEY_AS_MUCH 0.9
#define KEY_FEWER 0.67
/* With fewer commands the p99 of a value says nothing. */
#define KEY_COMMANDS_MIN 20u
/* A time is hot if it has so many times the slow commands that it would have by its commands. */
#define HOT_TIMES 3.0
#define HOT_DEVIATIONS 4.0
#define HOT_TAIL_MIN 0.6
#define HOT_SHARE_MAX 0.4
/* Larger writes wait for an R2T by design. */
#define IN_CAPSULE_MAX 32768u
/* Queues that a controller has besides a hot one. */
#define QUEUES_MIN 4u
/* What takes less than so many times as long as near the median takes as long as ever. */
#define AS_EVER 1.5
/* So many times as many commands come through in a time as usual: it is the load that grew. */
#define MORE_THROUGH 1.5
/* Blocks of time are drawn so often. The numbers are the same in every run. */
#define DRAWS 400u
#define SEED 0x6e7470726f66ULL
/* Commands that waited for a live controller are as many, of all, as those from p99 on. */
#define WAITED_MIN 0.01
/* More than this without stages, and stages say nothing. */
#define UNSPLIT_MAX 0.3
/* The leading place has at least this part, with 95 % confidence. */
#define LOW_MIN 0.35

const char *cause_place_words(enum cause_place place)
{
#define PLACE_WORDS(id, words) [PLACE_##id] = words,
	static const char *const words[] = {CAUSE_PLACES(PLACE_WORDS)};

	return words[place];
}

static const struct {
	const char *name;
	double least;
	const char *words;
} rules[] = {
#define RULE(id, name, least, words) [CAUSE_##id] = {name, least, words},
	CAUSE_RULES(RULE)};

const char *cause_name(enum cause cause)
{
	return rules[cause].name;
}

const char *cause_words(enum cause cause)
{
	return rules[cause].words;
}

double cause_least(enum cause cause)
{
	return rules[cause].least;
}

const char *cause_sure_name(enum cause_sure sure)
{
	static const char *const names[] = {"named", "healthy", "mixed", "not_known"};

	return names[sure];
}

/* Of a command of both sides, of one of the host's alone, and of the target's. */
static const uint8_t merged_place[NT_MERGED_STAGES_NR] = {
	[NT_MS_BLK_SUBMISSION] = PLACE_BLOCK,	      [NT_MS_NVME_TCP_SUBMISSION] = PLACE_HOST,
	[NT_MS_NSTACK_SUBMISSION] = PLACE_TARGET,     [NT_MS_NVMET_TCP_SUBMISSION] = PLACE_TARGET,
	[NT_MS_TARGET_SUBSYSTEM] = PLACE_DISK,	      [NT_MS_NVMET_TCP_COMPLETION] = PLACE_TARGET,
	[NT_MS_NETWORK_TRANSMISSION] = PLACE_NETWORK, [NT_MS_NSTACK_COMPLETION] = PLACE_HOST,
	[NT_MS_NVME_TCP_COMPLETION] = PLACE_HOST,     [NT_MS_BLK_COMPLETION] = PLACE_HOST,
};
static const uint8_t side_place[NT_SIDES][NT_STAGES_MAX] = {
	[NT_HOST] = {[NT_HS_BLK_SUBMISSION] = PLACE_BLOCK,
		     [NT_HS_NVME_TCP_SUBMISSION] = PLACE_HOST,
		     [NT_HS_NETWORK_AND_TARGET] = PLACE_FAR,
		     [NT_HS_NSTACK_COMPLETION] = PLACE_HOST,
		     [NT_HS_NVME_TCP_COMPLETION] = PLACE_HOST,
		     [NT_HS_DEVICE] = PLACE_FAR,
		     [NT_HS_BLK_COMPLETION] = PLACE_HOST},
	[NT_TARGET] = {[NT_TS_NSTACK_SUBMISSION] = PLACE_TARGET,
		       [NT_TS_NVMET_TCP_SUBMISSION] = PLACE_TARGET,
		       [NT_TS_NETWORK_AND_HOST] = PLACE_FAR,
		       [NT_TS_TARGET_SUBSYSTEM] = PLACE_DISK,
		       [NT_TS_NVMET_TCP_COMPLETION] = PLACE_TARGET,
		       [NT_TS_SEND_RESPONSE] = PLACE_FAR},
};

/* A stage that is joined with the network's time is a part of that. */
enum cause_place tail_place(const struct tail *t, const struct why *w, unsigned int stage)
{
	uint32_t joined = w->joined[stage] | 1u << stage;

	if (t->host && t->target)
		return joined & 1u << NT_MS_NETWORK_TRANSMISSION ? PLACE_NETWORK
								 : merged_place[stage];
	if (stage >= NT_STAGES_MAX)
		return PLACE_UNKNOWN;
	for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
		if (joined & 1u << i && side_place[t->host ? NT_HOST : NT_TARGET][i] == PLACE_FAR)
			return PLACE_FAR;
	return side_place[t->host ? NT_HOST : NT_TARGET][stage];
}

static double share(double part, double all)
{
	return all > 0 ? part / all : 0;
}

/* What a bin, or all of them, has of both bands. */
struct bands {
	struct why_sum mid, slow;
	uint64_t commands;
};

static void bands_add(struct bands *b, const struct why_bin *bin, enum why_op op,
		      const unsigned int mid[2], unsigned int slow)
{
	for (unsigned int i = 0; i < NT_BUCKETS; i++) {
		const struct why_sum *chunk = bin->chunk[op][i / WHY_CHUNK];
		const struct why_sum *sum = chunk ? &chunk[i % WHY_CHUNK] : NULL;

		if (!chunk) {
			i |= WHY_CHUNK - 1;
			continue;
		}
		if (!sum->count)
			continue;
		b->commands += sum->count;
		if (i >= mid[0] && i <= mid[1])
			why_sum_add(&b->mid, sum);
		if (i >= slow)
			why_sum_add(&b->slow, sum);
	}
}

static double excess_in(const struct tail *t, const struct bands *b)
{
	return (double)b->slow.ns - (double)b->slow.count * (double)t->p50_ns;
}

static double mean(double sum, const struct why_sum *of)
{
	return of->count ? sum / (double)of->count : 0;
}

/* By how much the slow ones exceed the others, in each stage and place. */
static void attribute(const struct tail *t, const struct why *w, const struct why_sum *mid,
		      const struct why_sum *slow, double stage_gap[NT_MERGED_STAGES_NR],
		      double place_gap[PLACES_NR], double *gap)
{
	double rest;

	*gap = rest = mean((double)slow->ns, slow) - mean((double)mid->ns, mid);
	memset(place_gap, 0, PLACES_NR * sizeof(*place_gap));
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++) {
		stage_gap[i] =
			mean((double)slow->stage[i], slow) - mean((double)mid->stage[i], mid);
		place_gap[tail_place(t, w, i)] += stage_gap[i];
		rest -= stage_gap[i];
	}
	place_gap[PLACE_UNKNOWN] += rest;
}

/*
 * The way of the network's time. That of commands near the median is taken off, and with it the
 * clocks' offset but for its bounds, which have to be small beside the rest.
 */
#define BOUNDS_SHARE_MAX 0.1

static double to_target_of(const struct tail *t)
{
	const struct why_sum *s = &t->slow, *m = &t->mid;
	double all = t->stage_gap[NT_MS_NETWORK_TRANSMISSION], bounds, way;

	if (!t->host || !t->target || !s->two_way.count || !m->two_way.count || all <= 0)
		return NAN;
	bounds = (double)s->two_way.bounds / (double)s->two_way.count +
		 (double)m->two_way.bounds / (double)m->two_way.count;
	way = (double)s->two_way.to_target / (double)s->two_way.count -
	      (double)m->two_way.to_target / (double)m->two_way.count;
	if (bounds / 2 > BOUNDS_SHARE_MAX * all)
		return NAN;
	return way < 0 ? 0 : way > all ? 1 : way / all;
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * The interval of the leading place's share: commands of one time depend on each other, so times
 * are drawn, not commands.
 */
static void draw(struct tail *t, const struct why *w, const struct bands *bin)
{
	double shares[DRAWS];
	uint64_t state = SEED;
	unsigned int nr = 0;

	for (unsigned int i = 0; i < DRAWS; i++) {
		double stage_gap[NT_MERGED_STAGES_NR], place_gap[PLACES_NR], gap;
		struct bands sum = {.commands = 0};

		for (unsigned int k = 0; k < w->nr_bins; k++) {
			const struct bands *b = &bin[next_random(&state) % w->nr_bins];

			if (b->mid.count)
				why_sum_add(&sum.mid, &b->mid);
			if (b->slow.count)
				why_sum_add(&sum.slow, &b->slow);
		}
		if (!sum.mid.count || !sum.slow.count)
			continue;
		attribute(t, w, &sum.mid, &sum.slow, stage_gap, place_gap, &gap);
		if (gap > 0)
			shares[nr++] = place_gap[t->lead] / gap;
	}
	qsort(shares, nr, sizeof(*shares), by_number);
	t->low = nr ? shares[nr / 40] : 0;
	t->high = nr ? shares[nr - 1 - nr / 40] : 1;
}

/* Bins of a time are looked at together: a few slow commands in each of them are many. */
#define HOT_BINS_MAX 8u

/* Sets those of @hot that are of a time with far more slow commands than its commands make likely.
 */
static void find_hot(const struct why *w, const struct bands *bin, double rate, bool hot[WHY_BINS])
{
	for (unsigned int nr = 1; nr <= HOT_BINS_MAX; nr *= 2)
		for (unsigned int i = 0; i + nr <= w->nr_bins; i++) {
			double expected = 0, slow = 0;

			for (unsigned int k = i; k < i + nr; k++) {
				expected += rate * (double)bin[k].commands;
				slow += (double)bin[k].slow.count;
			}
			if (slow < HOT_TIMES * expected ||
			    slow < expected + HOT_DEVIATIONS * sqrt(expected + 1))
				continue;
			for (unsigned int k = i; k < i + nr; k++)
				hot[k] |= bin[k].slow.count &&
					  (double)bin[k].slow.count >=
						  HOT_TIMES * rate * (double)bin[k].commands;
		}
}

/* The first and the last bin are not recorded as a whole. */
static void find_times(struct tail *t, const struct why *w, const struct bands *bin)
{
	double bin_seconds = (double)(1ULL << w->shift) / 1e9;
	double rate = share((double)t->slow.count, (double)t->commands);
	double all = (double)t->slow.ns - (double)t->slow.count * (double)t->p50_ns;
	bool hot[WHY_BINS] = {false};

	find_hot(w, bin, rate, hot);
	for (unsigned int i = 0; i < w->nr_bins; i++) {
		t->seconds += bin_seconds;
		t->slow_seconds += bin[i].slow.count ? bin_seconds : 0;
		if (!hot[i])
			continue;
		if (!t->hot_to_ns)
			t->hot_from_ns = (w->base + i) << w->shift;
		t->hot_to_ns = (w->base + i + 1) << w->shift;
		t->hot_seconds += bin_seconds;
		t->hot_tail += share(excess_in(t, &bin[i]), all);
		t->hot_share += share((double)bin[i].commands, (double)t->commands);
	}
}

/* Keys. */

/* By how much the slow commands exceed the median, all together. */
static double excess_of(const struct tail *t, const struct hist *h)
{
	double ns = 0;

	for (unsigned int i = nt_bucket(t->from_ns); i < NT_BUCKETS; i++)
		ns += (double)h->buckets[i] * ((double)nt_bucket_low(i) - (double)t->p50_ns);
	return ns;
}

static uint64_t p99_of(const struct hist *h)
{
	return h->count >= KEY_COMMANDS_MIN ? hist_percentile(h, 99) : 0;
}

/* Fills @k for the value that the cell @first has. */
static void weigh(const struct tail *t, const struct why *w, enum why_key key,
		  const struct why_cell *first, struct tail_key *k)
{
	struct hist in = {0}, out = {0};

	*k = (struct tail_key){.key = key, .cell = first};
	for (unsigned int i = 0; i < w->nr_cells; i++) {
		const struct why_cell *cell = w->cell[i];

		if (cell->key != why_cells_of(key) || cell->op != t->op)
			continue;
		hist_merge(why_same_value(key, first, cell) ? &in : &out, &cell->h);
	}
	k->share = share((double)in.count, (double)(in.count + out.count));
	k->of_tail = share(excess_of(t, &in), excess_of(t, &in) + excess_of(t, &out));
	k->p50_ns = hist_percentile(&in, 50);
	k->p99_ns = p99_of(&in);
	k->others_p50_ns = hist_percentile(&out, 50);
	k->others_p99_ns = p99_of(&out);
}

static bool explains(const struct tail_key *k)
{
	return k->of_tail >= KEY_TAIL_MIN && k->of_tail >= KEY_LIFT_MIN * k->share && k->p99_ns &&
	       k->others_p99_ns && (double)k->p99_ns >= KEY_P99_TIMES * (double)k->others_p99_ns;
}

/* Whether a cell is the first one of its value; @others: the number of other values. */
static bool is_first(const struct tail *t, const struct why *w, enum why_key key, unsigned int at)
{
	for (unsigned int i = 0; i < at; i++)
		if (w->cell[i]->key == why_cells_of(key) && w->cell[i]->op == t->op &&
		    why_same_value(key, w->cell[i], w->cell[at]))
			return false;
	return true;
}

/* The value of one key that has most of the slow commands. Return: whether it explains the tail. */
static bool find_value(const struct tail *t, const struct why *w, enum why_key key,
		       struct tail_key *best)
{
	double all = excess_of(t, &w->latency[t->op]);
	unsigned int values = 0;

	best->of_tail = -1;
	for (unsigned int i = 0; i < w->nr_cells; i++) {
		const struct why_cell *cell = w->cell[i];
		struct tail_key k;

		if (cell->key != why_cells_of(key) || cell->op != t->op || !is_first(t, w, key, i))
			continue;
		values++;
		/* A value with little of it is not looked at. */
		if (why_cells_of(key) == key && excess_of(t, &cell->h) < KEY_TAIL_MIN * all)
			continue;
		weigh(t, w, key, cell, &k);
		if (k.of_tail > best->of_tail)
			*best = k;
	}
	best->others = values ? values - 1 : 0;
	return best->of_tail >= 0 && explains(best);
}

/* From the widest key to the narrowest. */
static void find_key(struct tail *t, const struct why *w)
{
	t->key.key = WHY_KEYS_NR;
	for (unsigned int key = 0; key < WHY_KEYS_NR; key++) {
		struct tail_key k;

		/* Without the host's recording it is not known which controller is whose. */
		if ((key == WHY_TARGET && !t->target) || !find_value(t, w, (enum why_key)key, &k))
			continue;
		if (t->key.key == WHY_KEYS_NR || (k.of_tail >= KEY_AS_MUCH * t->key.of_tail &&
						  k.share <= KEY_FEWER * t->key.share))
			t->key = k;
	}
}

/*
 * Commands that come while no controller of their array is live: with multipath they wait without a
 * request, so they are in no latency. They come as often as at other times.
 */
static void find_outages(struct tail *t, const struct why *w)
{
	for (unsigned int i = 0; t->host && i < w->nr_ctrls; i++) {
		double up = t->seconds * 1e9 - w->ctrl[i].down_ns, commands = 0, rate;
		const struct merge_connection *of = NULL;

		if (w->ctrl[i].down_ns <= 0 || up <= 0)
			continue;
		for (unsigned int k = 0; k < w->nr_cells; k++) {
			const struct why_cell *cell = w->cell[k];

			if (cell->key != WHY_QUEUE || cell->op != t->op ||
			    cell->c->host_stream != w->ctrl[i].stream ||
			    hash_text(0, cell->c->subsysnqn) != w->ctrl[i].nqn)
				continue;
			commands += (double)cell->h.count;
			of = cell->c;
		}
		if (!of)
			continue;
		rate = commands / up;
		t->waited += rate * w->ctrl[i].down_ns;
		t->waited_ns += rate * w->ctrl[i].down_ns2 / 2;
		t->down_seconds += w->ctrl[i].down_ns / 1e9;
		t->downs += !t->down || strcmp(t->down->subsysnqn, of->subsysnqn) != 0;
		t->down = of;
	}
}

/* The figures of the rules. */

/* Whether the recordings that are there have stages of a place. */
static bool is_told(const struct tail *t, enum cause_place place)
{
	switch (place) {
	case PLACE_BLOCK:
	case PLACE_HOST:
		return t->host;
	case PLACE_TARGET:
	case PLACE_DISK:
		return t->target;
	case PLACE_NETWORK:
		return t->host && t->target;
	default:
		return true;
	}
}

static double place(const struct tail *t, enum cause_place place)
{
	double unknown = share(t->place_gap[PLACE_UNKNOWN], t->gap_ns);

	if (unknown > UNSPLIT_MAX || !is_told(t, place))
		return NAN;
	return share(t->place_gap[place], t->gap_ns);
}

/* Whether the commands that waited for a live controller are as many and as slow as slow ones. */
static bool waits_unseen(const struct tail *t)
{
	return t->commands >= CAUSE_SLOW_MIN && t->waited >= WAITED_MIN * (double)t->commands &&
	       t->waited_ns / t->waited >= (CAUSE_RATIO_MIN - 1) * (double)t->p50_ns;
}

/* Of the slow commands, those in times with resets, if most others are from other times. */
static double figure_reset(const struct tail *t, const struct why *w, const struct bands *bin)
{
	double unseen = waits_unseen(t) ? t->waited_ns : 0;
	double all = (double)t->slow.ns - (double)t->slow.count * (double)t->p50_ns;
	double slow = 0, mid = 0;

	for (unsigned int i = 0; i < w->nr_bins; i++) {
		/* Commands that wait for the reset began before it. */
		if (!w->bin[i].failed && (i + 1 == w->nr_bins || !w->bin[i + 1].failed))
			continue;
		slow += excess_in(t, &bin[i]);
		mid += (double)bin[i].mid.count;
	}
	if (mid * 2 > (double)t->mid.count)
		slow = 0;
	return share(slow + unseen, all + unseen);
}

/*
 * The wait for an R2T, if the slow commands had one, those near the median mostly none, and they
 * are small enough for a capsule.
 */
static double figure_r2t(const struct tail *t)
{
	if (t->op != WHY_WRITE || !t->host)
		return t->host ? 0 : NAN;
	if (mean((double)t->slow.r2t, &t->slow) < 0.8 || mean((double)t->mid.r2t, &t->mid) > 0.5 ||
	    t->slow.r2t_bytes > IN_CAPSULE_MAX * t->slow.r2t)
		return 0;
	return share(mean((double)t->slow.r2t_ns, &t->slow) - mean((double)t->mid.r2t_ns, &t->mid),
		     t->gap_ns);
}

static double work_of(const struct why_sum *s)
{
	return s->usual ? (double)s->meanwhile / (double)s->usual * (1 << WHY_USUAL_SHIFT) : NAN;
}

/*
 * How much more the target did for other hosts while it had the slow commands than while it had
 * those near the median. Where the disk is slow for all, it does less.
 */
static double figure_neighbour(const struct tail *t, const struct why *w)
{
	double slow = work_of(&t->slow), mid = work_of(&t->mid);
	double there = place(t, PLACE_DISK) + place(t, PLACE_TARGET);

	if (t->target && !w->several_hosts)
		return 0;
	if (isnan(slow) || isnan(mid) || isnan(there))
		return NAN;
	/* More than usual, not only more than near the median. */
	return there < 0.5 || slow < 1.5 ? 0 : slow / (mid > 0.1 ? mid : 0.1);
}

static double ahead_of(const struct why_sum *s)
{
	return s->followed ? 1 + (double)s->ahead / (double)s->followed : NAN;
}

/*
 * Whether the slow commands wait in the block layer, and what is below it takes as long as ever:
 * what it lets through at a time is less than that could do.
 */
static bool held_back(const struct tail *t, const struct why *w)
{
	double below = mean((double)t->mid.ns, &t->mid);

	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		below -= tail_place(t, w, i) == PLACE_BLOCK ? t->stage_mid[i] : 0;
	return place(t, PLACE_BLOCK) >= rules[CAUSE_BLOCK].least &&
	       t->gap_ns - t->place_gap[PLACE_BLOCK] < (AS_EVER - 1) * below;
}

/*
 * Little's law: if each command takes the same time, latency grows with the commands ahead. A stall
 * lets latency grow more than these.
 */
static double figure_depth(const struct tail *t, const struct why *w)
{
	double more = ahead_of(&t->slow) / ahead_of(&t->mid);

	if (isnan(more))
		return NAN;
	return more < 2 || held_back(t, w) ? 0 : share(more, t->ratio);
}

/*
 * Whether the array, queue or CPU that has the slow commands is as quick as the others, and just
 * had more to do now and then: slow commands have more others ahead of them than their time
 * explains. Where an array is slow, no more come through.
 */
static bool had_more(const struct tail *t, const struct why *w)
{
	return figure_depth(t, w) >= MORE_THROUGH && t->key.key <= WHY_CPU && t->key.p50_ns &&
	       (double)t->key.p50_ns < AS_EVER * (double)t->key.others_p50_ns;
}

/*
 * The busiest queue's part of its controller's commands, if the controller has others. Slow
 * commands wait for those ahead of them, and not at the storage, which all queues share: what holds
 * up one command holds it up on any queue.
 */
static double figure_few_queues(const struct tail *t, const struct why *w)
{
	double most = 0;

	if (!t->host)
		return NAN;
	if (place(t, PLACE_DISK) >= rules[CAUSE_DISK].least ||
	    !(figure_depth(t, w) >= rules[CAUSE_DEPTH].least))
		return 0;
	for (unsigned int i = 0; i < w->nr_ctrls; i++) {
		double in = 0, busiest = 0;

		if (w->ctrl[i].queues < QUEUES_MIN)
			continue;
		for (unsigned int k = 0; k < w->nr_cells; k++) {
			const struct why_cell *cell = w->cell[k];

			if (cell->key != WHY_QUEUE || cell->op != t->op ||
			    cell->c->host_stream != w->ctrl[i].stream ||
			    cell->c->host_instance != w->ctrl[i].instance)
				continue;
			in += (double)cell->h.count;
			if ((double)cell->h.count > busiest)
				busiest = (double)cell->h.count;
		}
		/* A controller with few of the commands says little. */
		if (in * 2 >= (double)t->commands && share(busiest, in) > most)
			most = share(busiest, in);
	}
	return most;
}

/*
 * What commands that had something of their connection against them have of what slow ones exceed
 * the median by, if it is time of the network, or of drivers that wait for a socket, and far fewer
 * of those near the median had it.
 */
static double figure_tcp(const struct tail *t, const struct why *w, enum why_part part)
{
	const double all = (double)t->slow.ns - (double)t->slow.count * (double)t->p50_ns;
	double there = share(t->place_gap[PLACE_NETWORK] + t->place_gap[PLACE_HOST] +
				     t->place_gap[PLACE_TARGET] + t->place_gap[PLACE_FAR],
			     t->gap_ns);
	double slow = (double)t->slow.part[part].ns -
		      (double)t->slow.part[part].count * (double)t->p50_ns;

	if (!w->has_tcp)
		return NAN;
	if (there < 0.5 ||
	    share((double)t->mid.part[part].count, (double)t->mid.count) * KEY_LIFT_MIN >
		    share(slow, all))
		return 0;
	return share(slow, all);
}

static double key_figure(const struct tail *t, unsigned int from, unsigned int to)
{
	return t->key.key >= from && t->key.key <= to ? t->key.of_tail : 0;
}

static void compute(struct tail *t, const struct why *w, const struct bands *bin)
{
	double *f = t->figure;

	f[CAUSE_RESET] = figure_reset(t, w, bin);
	f[CAUSE_LOSS] = figure_tcp(t, w, WHY_RETRANSMITTED);
	f[CAUSE_R2T] = figure_r2t(t);
	f[CAUSE_NEIGHBOUR] = figure_neighbour(t, w);
	f[CAUSE_FEW_QUEUES] = figure_few_queues(t, w);
	/* An array that is as quick as ever is not the cause. */
	f[CAUSE_ARRAY] =
		held_back(t, w) || had_more(t, w) ? 0 : key_figure(t, WHY_ARRAY, WHY_DEVICE);
	f[CAUSE_QUEUE] = had_more(t, w) ? 0 : key_figure(t, WHY_QUEUE, WHY_CPU);
	f[CAUSE_SIZE] = key_figure(t, WHY_SIZE, WHY_SIZE);
	f[CAUSE_DEPTH] = figure_depth(t, w);
	f[CAUSE_WINDOW] = figure_tcp(t, w, WHY_BY_WINDOW);
	f[CAUSE_BUFFER] = figure_tcp(t, w, WHY_BY_BUFFER);
	f[CAUSE_CWND] = figure_tcp(t, w, WHY_BY_CWND);
	f[CAUSE_BLOCK] = place(t, PLACE_BLOCK);
	f[CAUSE_HOST_WORKER] = place(t, PLACE_HOST);
	f[CAUSE_TARGET_WORKER] = place(t, PLACE_TARGET);
	f[CAUSE_DISK] = place(t, PLACE_DISK);
	f[CAUSE_NETWORK] = place(t, PLACE_NETWORK);
	f[CAUSE_FAR] = place(t, PLACE_FAR);
}

/* Whether there is a tail at all, and not just the spread that the faster half has as well. */
static bool stands_out(const struct tail *t, const struct why *w)
{
	double p50 = (double)t->p50_ns, spread;

	/* One round trip more is not three times the median. */
	if (t->ratio >= CAUSE_RATIO_R2T && t->figure[CAUSE_R2T] >= rules[CAUSE_R2T].least)
		return true;
	if (t->ratio < CAUSE_RATIO_MIN)
		return false;
	if (t->key.key != WHY_KEYS_NR)
		return true;
	if (t->hot_tail >= HOT_TAIL_MIN && t->hot_share <= HOT_SHARE_MAX)
		return true;
	/* TCP itself says that it held these back, and not those near the median. */
	for (unsigned int i = CAUSE_WINDOW; i <= CAUSE_CWND; i++)
		if (t->figure[i] >= rules[i].least)
			return true;
	spread = (double)hist_percentile(&w->latency[t->op], 75) - p50;
	/* Buckets are that wide. */
	if (spread < p50 / NT_SUB_BUCKETS)
		spread = p50 / NT_SUB_BUCKETS;
	return t->gap_ns >= SPREAD_TIMES * spread || t->ratio >= SPREAD_RATIO;
}

static void judge(struct tail *t, const struct why *w)
{
	t->unseen = waits_unseen(t) && t->figure[CAUSE_RESET] >= rules[CAUSE_RESET].least;
	if (t->unseen) {
		t->sure = CAUSE_NAMED;
		t->cause = CAUSE_RESET;
		return;
	}
	if (t->slow.count < CAUSE_SLOW_MIN || t->gap_ns <= 0) {
		t->sure = t->gap_ns <= 0 && t->slow.count ? CAUSE_HEALTHY : CAUSE_THIN;
		return;
	}
	if (!stands_out(t, w)) {
		t->sure = CAUSE_HEALTHY;
		return;
	}
	for (unsigned int i = 0; i < CAUSES_NR; i++) {
		if (!(t->figure[i] >= rules[i].least))
			continue;
		t->cause = (enum cause)i;
		t->sure = i >= CAUSE_BLOCK && t->low < LOW_MIN ? CAUSE_THIN : CAUSE_NAMED;
		return;
	}
	t->sure = share(t->place_gap[PLACE_UNKNOWN], t->gap_ns) > UNSPLIT_MAX ? CAUSE_THIN
									      : CAUSE_MIXED;
}

/* tail_of() with the commands from @percent on as the slow ones. */
static bool tail_from(const struct why *w, enum why_op op, bool host, bool target,
		      unsigned int percent, struct tail *t)
{
	const struct hist *h = &w->latency[op];
	const unsigned int mid[2] = {nt_bucket(hist_percentile(h, MID_FROM)),
				     nt_bucket(hist_percentile(h, MID_TO))};
	struct bands *bin, all = {.commands = 0};
	unsigned int slow;

	*t = (struct tail){
		.op = op, .host = host, .target = target, .commands = h->count, .percent = percent};
	t->key.key = WHY_KEYS_NR;
	bin = h->count ? calloc(WHY_BINS, sizeof(*bin)) : NULL;
	if (!bin)
		return false;
	t->p50_ns = hist_percentile(h, 50);
	t->p99_ns = hist_percentile(h, 99);
	slow = nt_bucket(hist_percentile(h, percent));
	t->from_ns = nt_bucket_low(slow);
	for (unsigned int i = 0; i < w->nr_bins; i++) {
		bands_add(&bin[i], &w->bin[i], op, mid, slow);
		why_sum_add(&all.mid, &bin[i].mid);
		why_sum_add(&all.slow, &bin[i].slow);
	}
	t->mid = all.mid;
	t->slow = all.slow;
	attribute(t, w, &t->mid, &t->slow, t->stage_gap, t->place_gap, &t->gap_ns);
	t->to_target = to_target_of(t);
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		t->stage_mid[i] = mean((double)t->mid.stage[i], &t->mid);
	t->ratio = share(mean((double)t->slow.ns, &t->slow), mean((double)t->mid.ns, &t->mid));
	for (unsigned int i = 1; i < PLACES_NR; i++)
		if (t->place_gap[i] > t->place_gap[t->lead])
			t->lead = (enum cause_place)i;
	find_times(t, w, bin);
	find_outages(t, w);
	find_key(t, w);
	if (t->gap_ns > 0)
		draw(t, w, bin);
	compute(t, w, bin);
	judge(t, w);
	free(bin);
	return true;
}

/*
 * Further down there are ever more commands that are only the spread of all: they may hide a cause,
 * so nothing follows there if none is named. A recording that is long enough for a sample of its
 * commands (@w->sample) has enough from p99 on.
 */
bool tail_of(const struct why *w, enum why_op op, bool host, bool target, struct tail *t)
{
	static const unsigned char lower[] = {98, 95};
	struct tail at;

	if (!tail_from(w, op, host, target, 99, t))
		return false;
	for (unsigned int i = 0; i < ARRAY_SIZE(lower) && t->slow.count < CAUSE_SLOW_MIN; i++)
		if (tail_from(w, op, host, target, lower[i], &at) && at.sure == CAUSE_NAMED)
			*t = at;
	return true;
}
