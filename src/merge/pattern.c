// SPDX-License-Identifier: GPL-2.0-only
#include "merge/pattern.h"

#include <errno.h>
#include <stdlib.h>

#include "core/hash.h"
#include "core/segments.h"

/*
 * Trials begin at this many places of the endpoint with fewer records, as either side may have
 * begun later. Each covers PATTERN_LENGTH records.
 */
#define PLACES 8
/*
 * The most offsets that are tried: the most records that wait, divided by the 16 command ids that
 * Linux gives one tag in turn.
 */
#define TRIALS_MAX (PENDING_MAX / 16)
/* A trial ends when the records without a pair outnumber those with one by more than this. */
#define MISSES_MAX 5
/* The most records of one group that are compared for one time. */
#define NEIGHBOURS 3
/* The most entries of the table of groups, which is half full then; a power of two. */
#define GROUPS_MAX 8192

/*
 * The best offset has to explain this many times as many records as any other. There are hundreds
 * of wrong offsets: the best of them shows how far chance gets.
 */
#define RIVALS_TIMES 4
#define EXPLAINED_PERCENT                                                                        \
	90 /* of those that should have a pair: a wrong offset explains less, or its rivals more \
	    */
/*
 * At least this many other offsets have to be tried and found wrong; else it is not known how far
 * chance gets. If they are few, they have to have explained even less.
 */
#define REFUTED_MIN 3
#define REFUTED_MANY 8
#define RIVALS_TIMES_FEW 32

struct trial_place {
	uint64_t from_ns;
	pending_id id;
};

/* The records of one group of the endpoint with more records, sorted by time. */
struct sorted_group {
	const struct pending_group *group;
	uint32_t first, nr;
};

struct trial {
	struct offset_bounds now;
	pending_id with; /* pair of the first record */
	uint32_t explained, in_range;
	uint64_t width_ns; /* sum of the widths of the bounds of all pairs */
	int32_t misses;
	bool ended;
};

/*
 * @few, @many: records of @few are looked up among those of @many
 * @self: both are one endpoint, which is compared with itself; times agree within @self_ns
 */
struct search {
	const struct pending_pool *pool;
	const struct endpoint *few, *many;
	enum nt_side side; /* of @few */
	bool self;
	int64_t self_ns;
	uint64_t begin, end;	       /* when the other endpoint recorded, by its own clock */
	struct sorted_group *segments; /* hash table of @room entries, a power of two */
	unsigned int room, nr_segments;
	struct trial_place *places;
	uint32_t nr_places;
	struct trial *trials;
	unsigned int steps, steps_max;
};

/* Return: NULL if no record of the other endpoint has the key, or there are too many keys. */
static const struct sorted_group *segment_of(struct search *s, uint64_t key)
{
	const struct pending_group *g = pending_alike(s->pool, key, s->many);
	struct sorted_group *segment;
	size_t i = hash_pair(key, 0);
	uint32_t nr = 0;

	if (!g)
		return NULL;
	while ((segment = &s->segments[i % s->room])->group && segment->group != g)
		i++;
	if (segment->group)
		return segment;
	if (s->nr_segments == GROUPS_MAX / 2)
		return NULL;
	s->nr_segments++;
	for (pending_id id = g->newest; id; id = pending_get(s->pool, id)->older_alike)
		nr++;
	*segment = (struct sorted_group){.group = g, .first = s->nr_places, .nr = nr};
	s->nr_places += nr;
	for (pending_id id = g->newest; id; id = pending_get(s->pool, id)->older_alike)
		s->places[segment->first + --nr] = (struct trial_place){
			.from_ns = pending_get(s->pool, id)->from_ns, .id = id};
	return segment;
}

/* Computes the bounds of the time between a record and a later or earlier one of the same side. */
static bool bounds_of_self(const struct search *s, const struct nt_record *r,
			   const struct nt_record *o, struct offset_bounds *b)
{
	int64_t from = (int64_t)(offset_from(o) - offset_from(r));
	int64_t until = (int64_t)(offset_until(o) - offset_until(r));

	*b = (struct offset_bounds){
		.low = (from > until ? from : until) - s->self_ns,
		.high = (from < until ? from : until) + s->self_ns,
		.at = offset_from(r),
	};
	return o != r && b->low <= b->high;
}

static bool bounds_of(const struct search *s, const struct nt_record *r, pending_id other,
		      struct offset_bounds *b)
{
	const struct nt_record *o = &pending_get(s->pool, other)->r;

	if (!pending_same(r, o))
		return false;
	if (s->self)
		return bounds_of_self(s, r, o, b);
	return s->side == NT_HOST ? offset_bounds(r, o, 0, b) : offset_bounds(o, r, 0, b);
}

static bool forward(const struct search *s)
{
	return s->self || s->side == NT_HOST;
}

/* Return: the first record of a segment that began after a time. */
static uint32_t first_after(const struct search *s, const struct sorted_group *segment, uint64_t ns)
{
	return (uint32_t)BISECT(i, segment->first, segment->first + segment->nr,
				(int64_t)(s->places[i].from_ns - ns) <= 0);
}

/* Whether @r has a pair at the offset of a trial. If so, the offset follows the pair. */
static bool explains(const struct search *s, const struct sorted_group *segment,
		     const struct nt_record *r, struct trial *t)
{
	uint64_t from = offset_from(r);
	uint32_t i;

	if (!segment)
		return false;
	/*
	 * Forward: the target's records that arrived after @r was sent. Else: the host's that were
	 * sent before @r arrived.
	 */
	i = forward(s) ? first_after(s, segment, from + (uint64_t)t->now.low - OFFSET_SLACK_NS)
		       : first_after(s, segment, from - (uint64_t)t->now.low + OFFSET_SLACK_NS) - 1;
	for (unsigned int n = 0; n < NEIGHBOURS; n++) {
		struct offset_bounds b;

		/* Before the first record the index wraps. */
		if (i - segment->first >= segment->nr)
			return false;
		if (bounds_of(s, r, s->places[i].id, &b) && offset_follow(&t->now, &b, 0)) {
			t->width_ns += (uint64_t)(b.high - b.low);
			return true;
		}
		i += forward(s) ? 1 : -1u;
	}
	return false;
}

static bool in_range(const struct search *s, const struct nt_record *r, const struct trial *t)
{
	uint64_t end = record_last_ns(r);

	end = forward(s) ? end + (uint64_t)t->now.low : end - (uint64_t)t->now.high;
	return (int64_t)(end - s->begin) >= 0 && (int64_t)(end - s->end) <= 0;
}

/*
 * Begins a trial for each possible pair of the record @id. Return: number of trials; 0 also if they
 * would be too many.
 */
static unsigned int begin_trials(struct search *s, pending_id id, const struct offset *prior)
{
	const struct nt_record *r = &pending_get(s->pool, id)->r;
	const struct sorted_group *segment = segment_of(s, pending_get(s->pool, id)->key);
	unsigned int nr = 0;

	if (!segment || segment->nr > TRIALS_MAX)
		return 0;
	for (uint32_t i = 0; i < segment->nr; i++) {
		struct trial *t = &s->trials[nr];

		*t = (struct trial){.explained = 1, .in_range = 1};
		t->with = s->places[segment->first + i].id;
		if (bounds_of(s, r, t->with, &t->now) &&
		    (!prior || !prior->known || offset_fits(prior, &t->now)))
			nr++;
	}
	return nr;
}

static void step(struct search *s, const struct nt_record *r, const struct sorted_group *segment,
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

/* Return: the trial that lasted longest. @rival: records that the best different offset explains */
static const struct trial *judge(const struct trial *trials, unsigned int nr, size_t *rival)
{
	const struct trial *best = &trials[0];

	*rival = 0;
	for (unsigned int i = 1; i < nr; i++) {
		if (trials[i].explained > best->explained)
			best = &trials[i];
	}
	for (unsigned int i = 0; i < nr; i++) {
		if (&trials[i] != best && trials[i].explained > *rival &&
		    elsewhere(&trials[i], best))
			*rival = trials[i].explained;
	}
	return best;
}

/* Tries all offsets of the record @id on the records that follow. Return: number of trials. */
static unsigned int run_trials(struct search *s, pending_id id, const struct offset *prior)
{
	unsigned int nr = begin_trials(s, id, prior), alive = nr;

	for (unsigned int i = 1; i < PATTERN_LENGTH && alive; i++) {
		const struct sorted_group *segment;

		id = pending_get(s->pool, id)->next;
		if (!id || s->steps >= s->steps_max)
			break;
		segment = segment_of(s, pending_get(s->pool, id)->key);
		/* Trials that have ended are kept behind those that have not. */
		for (unsigned int k = 0; k < alive;) {
			struct trial *t = &s->trials[k];

			step(s, &pending_get(s->pool, id)->r, segment, t);
			if (t->misses > MISSES_MAX) {
				struct trial ended = *t;

				ended.ended = true;
				*t = s->trials[--alive];
				s->trials[alive] = ended;
			} else {
				k++;
			}
		}
	}
	return nr;
}

static size_t nr_ended(const struct trial *trials, unsigned int nr)
{
	size_t ended = 0;

	for (unsigned int i = 0; i < nr; i++)
		ended += trials[i].ended;
	return ended;
}

static int search_begin(struct search *s)
{
	/* Each group has a record. Clearing the largest table would take longer than most searches.
	 */
	for (s->room = 1; s->room < GROUPS_MAX && s->room < 2 * s->many->pending.count;)
		s->room *= 2;
	s->segments = calloc(s->room, sizeof(*s->segments));
	s->places = malloc((s->many->pending.count + 1) * sizeof(*s->places));
	s->trials = malloc(TRIALS_MAX * sizeof(*s->trials));
	if (!s->segments || !s->places || !s->trials)
		return -ENOMEM;
	s->begin = record_last_ns(&pending_get(s->pool, s->many->pending.first)->r);
	s->end = record_last_ns(&pending_get(s->pool, s->many->pending.last)->r);
	return 0;
}

static void search_end(struct search *s)
{
	free(s->segments);
	free(s->places);
	free(s->trials);
}

/*
 * Finds how many records from @id on an endpoint repeats at another time. So many records in step
 * with another endpoint prove nothing, so they count as a rival. Times agree within @within_ns, as
 * those of the two endpoints have to.
 */
static int find_repeats(const struct pending_pool *pool, const struct endpoint *h, pending_id id,
			int64_t within_ns, unsigned int steps_max, struct pattern *p)
{
	struct search s = {
		.pool = pool,
		.few = h,
		.many = h,
		.side = h->side,
		.self = true,
		.self_ns = within_ns,
		.steps_max = steps_max,
	};
	int err = search_begin(&s);
	unsigned int nr = err ? 0 : run_trials(&s, id, NULL);
	size_t ended = nr_ended(s.trials, nr);

	for (unsigned int i = 0; i < nr; i++) {
		if (s.trials[i].explained > p->vote.rival)
			p->vote.rival = s.trials[i].explained;
	}
	if (p->refuted > ended)
		p->refuted = ended;
	search_end(&s);
	return err;
}

static bool convinces(const struct pattern *p)
{
	return pattern_convinces(p, false);
}

/* Tries the pattern from several places, until one convinces. */
static int search(struct search *s, const struct offset *prior, struct pattern *p)
{
	uint32_t every = s->few->pending.count / PLACES + 1, n = 0;
	pending_id id = s->few->pending.first;
	int err = 0;

	for (; id && !err && !convinces(p) && s->steps < s->steps_max;
	     id = pending_get(s->pool, id)->next) {
		struct pattern found = {0};
		const struct trial *t;
		unsigned int nr;

		if (n++ % every)
			continue;
		nr = run_trials(s, id, prior);
		if (!nr)
			continue;
		t = judge(s->trials, nr, &found.vote.rival);
		found.vote.best = t->now;
		found.vote.votes = t->explained;
		found.lasted = !t->ended;
		found.in_range = t->in_range;
		found.refuted = nr_ended(s->trials, nr);
		if (found.vote.votes <= p->vote.votes)
			continue;
		if (pattern_convinces(&found, true))
			err = find_repeats(s->pool, s->many, t->with,
					   (int64_t)(t->width_ns / t->explained), s->steps_max,
					   &found);
		*p = found;
	}
	return err;
}

int pattern_find(const struct pending_pool *pool, const struct endpoint *few,
		 const struct endpoint *many, const struct offset *prior, unsigned int steps_max,
		 struct pattern *p)
{
	struct search s = {
		.pool = pool, .few = few, .many = many, .side = few->side, .steps_max = steps_max};
	int err;

	*p = (struct pattern){0};
	if (!few->pending.count || !many->pending.count)
		return 0;
	err = search_begin(&s);
	if (!err)
		err = search(&s, prior, p);
	search_end(&s);
	return err;
}

bool pattern_convinces(const struct pattern *p, bool patient)
{
	size_t votes = p->vote.votes;
	size_t times = p->refuted < REFUTED_MANY ? RIVALS_TIMES_FEW : RIVALS_TIMES;

	return p->lasted && p->refuted >= REFUTED_MIN && votes >= times * p->vote.rival &&
	       votes >= pattern_least(patient) && 100 * votes >= EXPLAINED_PERCENT * p->in_range;
}
