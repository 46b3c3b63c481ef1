// SPDX-License-Identifier: GPL-2.0-only
#include "merge/clock_alignment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/segments.h"
#include "merge/merge.h"
#include "merge/offset.h"
#include "merge/pending.h"

/*
 * The most samples of a stream; when there are more, half of the keys are dropped in all streams.
 */
#ifndef SAMPLES_MAX
#define SAMPLES_MAX 16384
#endif
/* A key that more commands than this have says nothing: these commands are left out. */
#define ALIKE_MAX 16
/*
 * Bits for marks of hot keys, which are left out. A bit is chosen by a hash of the key; a power of
 * two.
 */
#define HOT_BITS 65536
/*
 * The most pauses of a stream. The longest are kept: when there are more, the shorter half is
 * dropped.
 */
#define PAUSES_MAX 1024
/*
 * Both sides saw the same pause if its two lengths differ by no more than this, as commands take
 * different times to arrive.
 */
#define PAUSE_AGREE_NS 100000
/*
 * Queues of a stream with a remembered last command; another queue at the same place replaces it.
 */
#define QUEUES_MAX 1024
/* The most differences of time that are compared for two streams. */
#define DIFFERENCES_MAX (4 * SAMPLES_MAX)
/*
 * Two offsets agree if they differ by no more than this and the drift of the clocks: a command
 * takes some time.
 */
#define AGREE_NS 20000000LL
/* Offsets that have to agree; they also have to be twice as many as agree on any other offset. */
#define VOTES_MIN 3
#define VOTES_MIN_PAUSES 16

/* @pause: how long the queue had sent nothing before; only for samples of pauses */
struct sample {
	uint64_t key;
	uint64_t at;
	uint64_t pause;
};

struct last_of_queue {
	uint32_t slot;
	uint32_t gen;
	uint64_t at;
};

struct samples {
	enum nt_side side;
	struct sample *s;
	unsigned int nr;
	struct sample *pauses;
	unsigned int nr_pauses;
	uint64_t shortest; /* shortest pause that is kept */
	struct last_of_queue *last;
	uint64_t first_ns, last_ns;
};

/*
 * Commands are sampled by what they asked for. Where all ask for the same, the longest pauses are
 * compared, which both sides see alike.
 */
struct clock_alignment {
	struct samples *streams;
	unsigned int nr;
	uint64_t mask; /* only keys with these bits clear are samples */
	uint64_t hot[HOT_BITS / 64];
	int64_t *differences;
};

struct clock_alignment *clock_alignment_new(unsigned int nr)
{
	struct clock_alignment *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->nr = nr;
	l->streams = calloc(nr, sizeof(*l->streams));
	l->differences = malloc(DIFFERENCES_MAX * sizeof(*l->differences));
	if (l->streams && l->differences)
		return l;
	clock_alignment_free(l);
	return NULL;
}

static void samples_free(struct samples *s)
{
	free(s->s);
	free(s->pauses);
	free(s->last);
}

void clock_alignment_free(struct clock_alignment *l)
{
	if (!l)
		return;
	for (unsigned int i = 0; l->streams && i < l->nr; i++)
		samples_free(&l->streams[i]);
	free(l->streams);
	free(l->differences);
	free(l);
}

static int by_key(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int by_pause(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return x->pause > y->pause ? -1 : x->pause < y->pause;
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static unsigned int alike(const struct sample *s, unsigned int nr, unsigned int from)
{
	unsigned int i = from;

	while (i < nr && s[i].key == s[from].key)
		i++;
	return i - from;
}

/* The place comes from high bits of the key, as @mask looks at low ones. */
static bool is_hot(const struct clock_alignment *l, uint64_t key)
{
	return l->hot[key >> 48 >> 6] & 1ULL << (key >> 48 & 63);
}

/* Marks the hot keys: those that many samples of a stream have. */
static void find_hot(struct clock_alignment *l, struct samples *s)
{
	unsigned int n;

	if (s->nr)
		qsort(s->s, s->nr, sizeof(*s->s), by_key);
	for (unsigned int i = 0; i < s->nr; i += n) {
		uint64_t place = s->s[i].key >> 48;

		n = alike(s->s, s->nr, i);
		if (n > ALIKE_MAX)
			l->hot[place >> 6] |= 1ULL << (place & 63);
	}
}

/* Drops the samples that @mask or a mark excludes. */
static void sort_out(const struct clock_alignment *l, struct samples *s)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < s->nr; i++) {
		if (!(s->s[i].key & l->mask) && !is_hot(l, s->s[i].key))
			s->s[kept++] = s->s[i];
	}
	s->nr = kept;
}

/* Makes room in @full. Dropping hot keys may be enough; else half of all keys are dropped. */
static void thin_out(struct clock_alignment *l, struct samples *full)
{
	find_hot(l, full);
	sort_out(l, full);
	if (full->nr <= SAMPLES_MAX / 2)
		return;
	l->mask = l->mask << 1 | 1;
	for (unsigned int i = 0; i < l->nr; i++)
		sort_out(l, &l->streams[i]);
}

/* Return: how long the queue of @r had sent nothing before; 0: not known. */
static uint64_t pause_before(struct samples *s, const struct nt_record *r, uint64_t at)
{
	struct last_of_queue *last = &s->last[r->slot % QUEUES_MAX];
	uint64_t before = last->at;

	if (last->slot != r->slot || last->gen != r->gen)
		before = 0;
	else if (at < before)
		return 0;
	*last = (struct last_of_queue){.slot = r->slot, .gen = r->gen, .at = at};
	return before ? at - before : 0;
}

static void add_pause(struct samples *s, uint64_t key, uint64_t at, uint64_t pause)
{
	if (pause <= s->shortest)
		return;
	if (s->nr_pauses == PAUSES_MAX) {
		qsort(s->pauses, s->nr_pauses, sizeof(*s->pauses), by_pause);
		s->nr_pauses /= 2;
		s->shortest = s->pauses[s->nr_pauses - 1].pause;
	}
	s->pauses[s->nr_pauses++] = (struct sample){.key = key, .at = at, .pause = pause};
}

static int samples_make(struct samples *s, enum nt_side side)
{
	s->side = side;
	s->s = malloc(SAMPLES_MAX * sizeof(*s->s));
	s->pauses = malloc(PAUSES_MAX * sizeof(*s->pauses));
	s->last = calloc(QUEUES_MAX, sizeof(*s->last));
	s->first_ns = UINT64_MAX;
	return s->s && s->pauses && s->last ? 0 : -ENOMEM;
}

int clock_alignment_add(struct clock_alignment *l, unsigned int stream, const struct nt_record *r)
{
	uint64_t key = pending_key(r, r->cntlid, r->qid);
	struct samples *s = &l->streams[stream];
	uint64_t at = r->side == NT_HOST ? r->points[NT_H_SEND_CMD] : r->points[NT_T_CMD];
	int err;

	if (!at)
		return 0;
	if (!s->last) {
		err = samples_make(s, (enum nt_side)r->side);
		if (err)
			return err;
	}
	if (at < s->first_ns)
		s->first_ns = at;
	if (at > s->last_ns)
		s->last_ns = at;
	add_pause(s, key, at, pause_before(s, r, at));
	if (key & l->mask || is_hot(l, key))
		return 0;
	if (s->nr == SAMPLES_MAX)
		thin_out(l, s);
	if (!(key & l->mask) && !is_hot(l, key))
		s->s[s->nr++] = (struct sample){.key = key, .at = at};
	return 0;
}

static bool agree(const struct sample *a, const struct sample *b)
{
	return (a->pause > b->pause ? a->pause - b->pause : b->pause - a->pause) <= PAUSE_AGREE_NS;
}

/*
 * Fills @d with the time of @b less the time of @a for all pairs of samples that may be one
 * command. Keys with more than @most samples are skipped.
 */
static unsigned int differences(const struct sample *a, unsigned int nr_a, const struct sample *b,
				unsigned int nr_b, unsigned int most, int64_t *d)
{
	unsigned int i = 0, j = 0, nr = 0;

	while (i < nr_a && j < nr_b) {
		unsigned int in_a = alike(a, nr_a, i), in_b = alike(b, nr_b, j);
		bool both = a[i].key == b[j].key;

		for (unsigned int x = 0; both && in_a <= most && in_b <= most && x < in_a; x++) {
			for (unsigned int y = 0; y < in_b && nr < DIFFERENCES_MAX; y++) {
				if (agree(&a[i + x], &b[j + y]))
					d[nr++] = (int64_t)(b[j + y].at - a[i + x].at);
			}
		}
		if (both) {
			i += in_a;
			j += in_b;
		} else if (a[i].key < b[j].key) {
			i += in_a;
		} else {
			j += in_b;
		}
	}
	return nr;
}

static uint64_t duration(const struct samples *s)
{
	return s->last_ns > s->first_ns ? s->last_ns - s->first_ns : 0;
}

/*
 * Finds the range of at most @window in the sorted @d that has the most elements, without the
 * elements from @but_low to @but_high. Return: how many it has; they are @low to @high.
 */
static unsigned int densest(const int64_t *d, unsigned int nr, int64_t window, unsigned int but_low,
			    unsigned int but_high, unsigned int *low, unsigned int *high)
{
	unsigned int first = 0, best = 0;

	for (unsigned int i = 0; i < nr; i++) {
		if (i >= but_low && i <= but_high) {
			first = i + 1;
			continue;
		}
		while ((uint64_t)d[i] - (uint64_t)d[first] > (uint64_t)window)
			first++;
		if (i - first + 1 > best) {
			best = i - first + 1;
			*low = first;
			*high = i;
		}
	}
	return best;
}

/* Finds the value on which the first @nr differences agree, if at least @least do. */
static bool decide(struct clock_alignment *l, unsigned int nr, int64_t window, unsigned int least,
		   int64_t *result)
{
	unsigned int low = 0, high = 0, other_low, other_high;
	unsigned int votes, rival;

	qsort(l->differences, nr, sizeof(*l->differences), by_value);
	votes = densest(l->differences, nr, window, nr, nr, &low, &high);
	rival = densest(l->differences, nr, window, low, high, &other_low, &other_high);
	if (votes < least || votes < 2 * rival)
		return false;
	*result = l->differences[low + (high - low) / 2];
	return true;
}

/* Finds the time of @b less the time of @a, if the samples agree on it. */
static bool difference(struct clock_alignment *l, const struct samples *a, const struct samples *b,
		       int64_t *result)
{
	uint64_t lasted = duration(a) > duration(b) ? duration(a) : duration(b);
	int64_t window = AGREE_NS + offset_drift_ns(lasted);
	unsigned int nr = differences(a->s, a->nr, b->s, b->nr, ALIKE_MAX, l->differences);

	if (decide(l, nr, window, VOTES_MIN, result))
		return true;
	nr = differences(a->pauses, a->nr_pauses, b->pauses, b->nr_pauses, PAUSES_MAX,
			 l->differences);
	return decide(l, nr, window, VOTES_MIN_PAUSES, result);
}

/*
 * Places the streams that have commands in common with stream @first, which stays where it is, or
 * with a stream that was placed so. Every two streams are compared once at most. @order: room for
 * all streams
 */
static void place(struct clock_alignment *l, int64_t *to_common, bool *placed, unsigned int *order,
		  unsigned int first)
{
	unsigned int nr = 1;

	placed[first] = true;
	order[0] = first;
	for (unsigned int done = 0; done < nr; done++) {
		unsigned int k = order[done];

		for (unsigned int i = 0; i < l->nr; i++) {
			int64_t d;

			if (placed[i] || l->streams[i].side == l->streams[k].side ||
			    !difference(l, &l->streams[k], &l->streams[i], &d))
				continue;
			to_common[i] = (int64_t)((uint64_t)to_common[k] - (uint64_t)d);
			placed[i] = true;
			order[nr++] = i;
		}
	}
}

int clock_alignment_solve(struct clock_alignment *l, int64_t *to_common)
{
	bool *placed = calloc(l->nr, sizeof(*placed));
	unsigned int *order = calloc(l->nr, sizeof(*order));
	int err = placed && order ? 0 : -ENOMEM;

	/* A key that is hot in one stream is left out in all. */
	for (unsigned int i = 0; !err && i < l->nr; i++)
		find_hot(l, &l->streams[i]);
	for (unsigned int i = 0; !err && i < l->nr; i++) {
		struct samples *s = &l->streams[i];

		sort_out(l, s);
		if (s->nr_pauses)
			qsort(s->pauses, s->nr_pauses, sizeof(*s->pauses), by_key);
	}
	/*
	 * The first stream of each group without common commands stays where its wall clock says.
	 */
	for (unsigned int i = 0; !err && i < l->nr; i++) {
		if (!placed[i])
			place(l, to_common, placed, order, i);
	}
	free(placed);
	free(order);
	return err;
}

/* The offset between two streams' clocks, by the connection that was matched last. */
struct edge {
	unsigned int host;
	unsigned int target;
	uint64_t offset; /* target's clock - host's */
	uint64_t at_ns;	 /* host's clock */
};

static bool tells(const struct merge_connection *c, unsigned int nr)
{
	return c->matched && c->offset_low <= c->offset_high && c->host_stream < nr &&
	       c->target_stream < nr;
}

static void edge_add(struct edge *edges, unsigned int *nr, const struct merge_connection *c)
{
	unsigned int i = 0;

	while (i < *nr && (edges[i].host != c->host_stream || edges[i].target != c->target_stream))
		i++;
	if (i < *nr && edges[i].at_ns >= c->offset_at_ns)
		return;
	edges[i] = (struct edge){
		.host = c->host_stream,
		.target = c->target_stream,
		.offset = (uint64_t)c->offset_low +
			  ((uint64_t)c->offset_high - (uint64_t)c->offset_low) / 2,
		.at_ns = c->offset_at_ns,
	};
	if (i == *nr)
		++*nr;
}

/* Places the streams that are linked to a placed stream, until none is left. */
static void place_linked(const struct edge *edges, unsigned int nr, int64_t *to_common,
			 bool *placed)
{
	bool again = true;

	while (again) {
		again = false;
		for (unsigned int i = 0; i < nr; i++) {
			const struct edge *e = &edges[i];

			if (placed[e->host] == placed[e->target])
				continue;
			if (placed[e->host])
				to_common[e->target] =
					(int64_t)((uint64_t)to_common[e->host] - e->offset);
			else
				to_common[e->host] =
					(int64_t)((uint64_t)to_common[e->target] + e->offset);
			placed[e->host] = placed[e->target] = again = true;
		}
	}
}

int axis_correct(const struct merge *m, unsigned int nr, int64_t *to_common, bool *linked)
{
	unsigned int connections = merge_connections(m), nr_edges = 0;
	struct edge *edges = calloc(connections + 1, sizeof(*edges));
	bool *placed = calloc(nr, sizeof(*placed));
	int err = edges && placed ? 0 : -ENOMEM;

	memset(linked, 0, nr * sizeof(*linked));
	for (unsigned int i = 0; !err && i < connections; i++) {
		const struct merge_connection *c = merge_connection(m, i);

		if (!tells(c, nr))
			continue;
		edge_add(edges, &nr_edges, c);
		linked[c->host_stream] = linked[c->target_stream] = true;
	}
	for (unsigned int i = 0; !err && i < nr; i++) {
		if (!linked[i] || placed[i])
			continue;
		placed[i] = true;
		place_linked(edges, nr_edges, to_common, placed);
	}
	free(edges);
	free(placed);
	return err;
}

struct times {
	uint64_t began_ns;
	uint64_t ended_ns;
};

/* The bursts of one stream in order of time. */
struct bursts {
	struct times *all;
	size_t nr;
};

struct edges {
	struct bursts *streams;
	unsigned int nr;
};

struct edges *edges_new(unsigned int nr)
{
	struct edges *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->nr = nr;
	e->streams = calloc(nr + 1, sizeof(*e->streams));
	if (e->streams)
		return e;
	free(e);
	return NULL;
}

int edges_burst(struct edges *e, unsigned int stream, uint64_t began_ns, uint64_t ended_ns)
{
	struct bursts *b = &e->streams[stream];

	struct times *burst = ARRAY_INSERT(b->all, b->nr, b->nr);

	if (!burst)
		return -ENOMEM;
	*burst = (struct times){.began_ns = began_ns, .ended_ns = ended_ns};
	return 0;
}

/*
 * Whether one burst covers all of that time. A stream that gives its bursts out of order only gets
 * a wrong answer.
 */
static bool covers(const struct bursts *b, uint64_t from, uint64_t to)
{
	size_t after = BISECT(i, 0, b->nr, b->all[i].began_ns <= from);

	return after && to <= b->all[after - 1].ended_ns;
}

bool edges_cut(const struct edges *e, const struct merge_connection *c, const struct nt_record *r)
{
	bool host = r->side == NT_HOST;
	unsigned int other = host ? c->target_stream : c->host_stream;
	uint64_t from = record_begin_ns(r), to = record_last_ns(r), offset;

	if (other >= e->nr || !e->streams[other].nr || !from || c->offset_low > c->offset_high)
		return false;
	offset = connection_offset(c);
	if (!host)
		offset = -offset;
	return !covers(&e->streams[other], from + offset, to + offset);
}

void edges_free(struct edges *e)
{
	if (!e)
		return;
	for (unsigned int i = 0; i < e->nr; i++)
		free(e->streams[i].all);
	free(e->streams);
	free(e);
}
