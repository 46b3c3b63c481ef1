// SPDX-License-Identifier: GPL-2.0-only
#include "merge/pattern.h"

#include <errno.h>
#include <stdlib.h>

#include "core/hash.h"
#include "core/span.h"

/* A trial begins at so many records of the half with fewer, as either side may have begun later... */
#define PLACES 8
/* ...and goes on for so many. */
#define LENGTH 1024
/* The most offsets on trial: what waits at most, by the 16 command ids that Linux gives a tag in turn. */
#define TRIALS_MAX (PENDING_MAX / 16)
/* Looked up in all trials of one call: loads without any irregularity come to no end. */
#define STEPS_MAX (1u << 17)
/* A trial ends when so many more records found nobody than did: of those that are lost a third find nobody. */
#define MISSES_MAX 4
/* Of one group, records that are looked at for one time. */
#define NEIGHBOURS 3
/* Groups that are looked at in one call; a power of two. */
#define GROUPS_MAX 8192

/*
 * So many records in a row, and so many times as many as on any other offset, of which there are hundreds:
 * how far those come by chance tells how far one may.
 */
#define VOTES_MIN 64
#define VOTES_MIN_PATIENT 16
#define RIVALS_TIMES 4

struct place {
	uint64_t from_ns;
	pending_id id;
};

/* Of the half with more records, those of one group by their time. */
struct segment {
	const struct pending_group *group;
	uint32_t first, nr;
};

struct trial {
	struct offset_bounds now;
	uint32_t explained, in_range;
	int32_t misses;
};

struct search {
	const struct pending_pool *pool;
	const struct half *few, *many;
	enum nt_side side;	  /* of the half with fewer */
	uint64_t begin, end;	  /* of the other half, its clock */
	struct segment *segments; /* hash table */
	unsigned int nr_segments;
	struct place *places;
	uint32_t nr_places;
	struct trial *trials;
	unsigned int steps;
};

/* Return: NULL if no record of the other half has the key, or there are too many keys. */
static const struct segment *segment_of(struct search *s, uint64_t key)
{
	const struct pending_group *g = pending_alike(s->pool, key, s->many);
	struct segment *segment;
	size_t i = hash_mix(key);
	uint32_t nr = 0;

	if (!g)
		return NULL;
	while ((segment = &s->segments[i % GROUPS_MAX])->group && segment->group != g)
		i++;
	if (segment->group)
		return segment;
	if (s->nr_segments == GROUPS_MAX / 2)
		return NULL;
	s->nr_segments++;
	for (pending_id id = g->newest; id; id = pending_get(s->pool, id)->older_alike)
		nr++;
	*segment = (struct segment){.group = g, .first = s->nr_places, .nr = nr};
	s->nr_places += nr;
	for (pending_id id = g->newest; id; id = pending_get(s->pool, id)->older_alike)
		s->places[segment->first + --nr] =
			(struct place){.from_ns = pending_get(s->pool, id)->from_ns, .id = id};
	return segment;
}

static bool bounds_of(const struct search *s, const struct nt_record *r, pending_id other,
		      struct offset_bounds *b)
{
	const struct nt_record *o = &pending_get(s->pool, other)->r;

	return pending_same(r, o) &&
	       (s->side == NT_HOST ? offset_bounds(r, o, b) : offset_bounds(o, r, b));
}

/* The first of a segment that began after a time. */
static uint32_t first_after(const struct search *s, const struct segment *segment, uint64_t ns)
{
	uint32_t low = segment->first, high = low + segment->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if ((int64_t)(s->places[middle].from_ns - ns) > 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Whether @r finds somebody on the offset of a trial, which follows it then. */
static bool explains(const struct search *s, const struct segment *segment,
		     const struct nt_record *r, struct trial *t)
{
	uint64_t from = offset_from(r);
	uint32_t i;

	if (!segment)
		return false;
	/* A target's record that arrived after this one was sent; a host's that was sent before it arrived. */
	i = s->side == NT_HOST
		    ? first_after(s, segment, from + (uint64_t)t->now.low - OFFSET_SLACK_NS)
		    : first_after(s, segment, from - (uint64_t)t->now.low + OFFSET_SLACK_NS) - 1;
	for (unsigned int n = 0; n < NEIGHBOURS; n++) {
		struct offset_bounds b;

		/* Below the first it wraps. */
		if (i - segment->first >= segment->nr)
			return false;
		if (bounds_of(s, r, s->places[i].id, &b) && offset_follow(&t->now, &b))
			return true;
		i += s->side == NT_HOST ? 1 : -1u;
	}
	return false;
}

static bool in_range(const struct search *s, const struct nt_record *r, const struct trial *t)
{
	uint64_t end = record_last_ns(r);

	end = s->side == NT_HOST ? end + (uint64_t)t->now.low : end - (uint64_t)t->now.high;
	return (int64_t)(end - s->begin) >= 0 && (int64_t)(end - s->end) <= 0;
}

/* Offsets of the record @id. Return: how many there are, 0 also if they are too many. */
static unsigned int begin_trials(struct search *s, pending_id id, const struct offset *prior)
{
	const struct nt_record *r = &pending_get(s->pool, id)->r;
	const struct segment *segment = segment_of(s, pending_get(s->pool, id)->key);
	unsigned int nr = 0;

	if (!segment || segment->nr > TRIALS_MAX)
		return 0;
	for (uint32_t i = 0; i < segment->nr; i++) {
		struct trial *t = &s->trials[nr];

		*t = (struct trial){.explained = 1, .in_range = 1};
		if (bounds_of(s, r, s->places[segment->first + i].id, &t->now) &&
		    (!prior->known || offset_fits(prior, &t->now)))
			nr++;
	}
	return nr;
}

static void step(struct search *s, const struct nt_record *r, const struct segment *segment,
		 struct trial *t)
{
	s->steps++;
	if (explains(s, segment, r, t)) {
		t->explained++;
		t->in_range++;
		t->misses -= t->misses > 0;
	} else if (in_range(s, r, t)) {
		t->in_range++;
		t->misses++;
	}
}

static bool elsewhere(const struct trial *a, const struct trial *b)
{
	return a->now.low > b->now.high || b->now.low > a->now.high;
}

static void judge(const struct trial *trials, unsigned int nr, struct pattern *p)
{
	const struct trial *best = &trials[0];

	*p = (struct pattern){0};
	for (unsigned int i = 1; i < nr; i++) {
		if (trials[i].explained > best->explained)
			best = &trials[i];
	}
	for (unsigned int i = 0; i < nr; i++) {
		if (&trials[i] != best && trials[i].explained > p->vote.rival &&
		    elsewhere(&trials[i], best))
			p->vote.rival = trials[i].explained;
	}
	p->vote.best = best->now;
	p->vote.votes = best->explained;
	p->in_range = best->in_range;
}

/* Goes on from the record @id until all is known. */
static void run_trials(struct search *s, pending_id id, const struct offset *prior,
		       struct pattern *p)
{
	unsigned int nr = begin_trials(s, id, prior), alive = nr;

	*p = (struct pattern){0};
	if (!nr)
		return;
	for (unsigned int i = 1; i < LENGTH && alive; i++) {
		const struct segment *segment;

		id = pending_get(s->pool, id)->next;
		if (!id || s->steps >= STEPS_MAX)
			break;
		segment = segment_of(s, pending_get(s->pool, id)->key);
		/* Those that have ended are kept behind those that have not. */
		for (unsigned int k = 0; k < alive;) {
			struct trial *t = &s->trials[k];

			step(s, &pending_get(s->pool, id)->r, segment, t);
			if (t->misses > MISSES_MAX) {
				struct trial ended = *t;

				*t = s->trials[--alive];
				s->trials[alive] = ended;
			} else {
				k++;
			}
		}
	}
	judge(s->trials, nr, p);
}

static void search(struct search *s, const struct offset *prior, struct pattern *p)
{
	uint32_t every = s->few->pending.count / PLACES + 1, n = 0;
	struct pattern found;

	for (pending_id id = s->few->pending.first; id && s->steps < STEPS_MAX;
	     id = pending_get(s->pool, id)->next) {
		if (n++ % every)
			continue;
		run_trials(s, id, prior, &found);
		if (found.vote.votes > p->vote.votes)
			*p = found;
		if (pattern_convinces(p, false))
			return;
	}
}

int pattern_find(const struct pending_pool *pool, const struct half *few, const struct half *many,
		 const struct offset *prior, struct pattern *p)
{
	struct search s = {
		.pool = pool,
		.few = few,
		.many = many,
		.side = few->side,
		.segments = calloc(GROUPS_MAX, sizeof(*s.segments)),
		.places = malloc((many->pending.count + 1) * sizeof(*s.places)),
		.trials = malloc(TRIALS_MAX * sizeof(*s.trials)),
	};
	int err = s.segments && s.places && s.trials ? 0 : -ENOMEM;

	*p = (struct pattern){0};
	if (!err && few->pending.count && many->pending.count) {
		s.begin = record_last_ns(&pending_get(pool, many->pending.first)->r);
		s.end = record_last_ns(&pending_get(pool, many->pending.last)->r);
		search(&s, prior, p);
	}
	free(s.segments);
	free(s.places);
	free(s.trials);
	return err;
}

bool pattern_convinces(const struct pattern *p, bool patient)
{
	size_t votes = p->vote.votes;

	if (votes < (patient ? VOTES_MIN_PATIENT : VOTES_MIN) ||
	    votes < RIVALS_TIMES * p->vote.rival)
		return false;
	/* As many as that explain only a part of what they should have are another load's. */
	return 10 * votes >= (votes < VOTES_MIN ? 9 : 6) * p->in_range;
}
