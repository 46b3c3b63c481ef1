// SPDX-License-Identifier: GPL-2.0-only
#include "merge/agreement.h"

#include <errno.h>
#include <stdlib.h>

#include "core/hash.h"
#include "core/segments.h"
#include "merge/lookup.h"

/*
 * The comparison takes this many records in a row, or the records of this much time. In that time
 * the rate of a clock hardly changes.
 */
#ifndef STRETCH
#define STRETCH 2048
#endif
#define STRETCH_NS 10000000000ULL
#define TABLE (2 * STRETCH)
/*
 * A pair of records with an offset that differs from the candidate by more than this part of the
 * stretch is chance: its address came again. The offset of pairs from two runs of one program
 * drifts away from the candidate slowly, so such pairs stay nearer.
 */
#define NEAR_PART 8
#define NEAR_LEAST_NS 1000000
/*
 * The share of pairs that has to agree, in eighths: of all pairs, and of the first and the last
 * quarter of the stretch.
 */
#define SHARE 7
#define SHARE_OF_QUARTER 6

/*
 * With fewer unique addresses than this, if they are less than half of all, pairs are found by
 * their times. Where commands follow each other faster than they are answered, many pairs agree by
 * chance. So the stretch has to last this many times as long as the bounds of its pairs are wide.
 */
#define UNIQUE 8
#define WIDTHS 256
/* The share of the stretch's records that has to agree then, in quarters. */
#define BY_TIME 3
/* Unique addresses that have to agree for each one that does not. */
#define UNIQUE_TIMES 16
/*
 * Instead of a long stretch: votes for the offset, and how many times more than for any other
 * offset.
 */
#define VOTES 64
#define RIVALS_TIMES 32
/*
 * Pairs that have to agree where fewer than two addresses are unique and no more records will come.
 */
#define PATIENT 32

/*
 * An address (LBA and namespace) of the endpoint with fewer records, and the record of the other
 * endpoint that has it. The address is unique if both endpoints have it once.
 */
struct address {
	uint64_t hash; /* 0: free */
	pending_id other;
	bool again;	/* the address occurs twice in one of the endpoints */
	uint64_t at[2]; /* [endpoint] when its last record with the address began */
};

/*
 * An endpoint repeats itself if this many addresses come again, and those that come again after the
 * same time outnumber the others by this many eighths of all.
 */
#define REPEATS_LEAST 8
#define REPEATS_EIGHTHS 5

/*
 * A record of the endpoint with fewer records, and the bounds of its possible pair. @at: place in
 * the stretch
 */
struct pair {
	size_t at;
	struct offset_bounds b;
	bool fits;
	bool unique; /* no other record of either side has this address */
};

/*
 * The usual time @ns after which an address comes again in an endpoint. It was measured @nr times;
 * @count is the counter of the majority vote.
 */
struct period {
	uint64_t ns;
	size_t nr, count;
};

struct comparison {
	const struct pending_pool *pool;
	const struct endpoint *few, *many;
	uint64_t begin, end; /* when the other endpoint recorded, by its own clock */
	int64_t near;
	uint64_t within;
	struct period period[2];
	struct address address[TABLE];
	struct pair pair[STRETCH];
	size_t nr;
	struct offset_bounds fitting[STRETCH];
	double slope[STRETCH];
	double rate;
};

/* Return: 0 if the record has no address. */
static uint64_t hash_of(const struct nt_record *r)
{
	return r->slba ? hash_two(r->slba, r->nsid) ?: 1 : 0;
}

static struct address *address_of(struct comparison *c, uint64_t hash)
{
	size_t i = hash_pair(hash, 0) % TABLE;

	while (c->address[i].hash && c->address[i].hash != hash)
		i = (i + 1) % TABLE;
	return &c->address[i];
}

/*
 * Whether a stretch that begins with the record @from includes the record @id, which is its number
 * @at.
 */
static bool in_stretch(const struct comparison *c, pending_id from, pending_id id, size_t at)
{
	return id && at < STRETCH &&
	       offset_apart(pending_get(c->pool, id)->from_ns,
			    pending_get(c->pool, from)->from_ns) <= STRETCH_NS;
}

/*
 * Counts an address that may have come again. The usual time is found by majority vote (Boyer and
 * Moore). Two times are the same if they differ by no more than @within, the width of the bounds
 * that tell commands apart.
 */
static void period_add(struct period *p, uint64_t *last, uint64_t now, uint64_t within)
{
	uint64_t ns = now - *last;
	bool first = !*last;

	*last = now;
	if (first)
		return;
	p->nr++;
	if (!p->count)
		p->ns = ns;
	if (offset_apart(p->ns, ns) <= within)
		p->count++;
	else
		p->count--;
}

/*
 * Collects the addresses of a stretch, and for each address the record of the other endpoint that
 * has it.
 */
static void take_addresses(struct comparison *c, pending_id from)
{
	size_t at = 0;

	for (pending_id id = from; in_stretch(c, from, id, at); at++) {
		const struct pending *e = pending_get(c->pool, id);
		uint64_t hash = hash_of(&e->r);

		if (hash) {
			struct address *a = address_of(c, hash);

			a->again = a->hash;
			a->hash = hash;
			period_add(&c->period[0], &a->at[0], e->from_ns, c->within);
		}
		id = e->next;
	}
	for (pending_id id = c->many->pending.first; id; id = pending_get(c->pool, id)->next) {
		const struct nt_record *r = &pending_get(c->pool, id)->r;
		uint64_t hash = hash_of(r), end = record_last_ns(r);
		struct address *a = hash ? address_of(c, hash) : NULL;

		/* Not just those of the first and the last record: a clock may have jumped. */
		c->begin = end < c->begin ? end : c->begin;
		c->end = end > c->end ? end : c->end;
		if (!a || !a->hash)
			continue;
		a->again |= a->other != 0;
		a->other = id;
		period_add(&c->period[1], &a->at[1], pending_get(c->pool, id)->from_ns, c->within);
	}
}

static int64_t middle(const struct offset_bounds *b)
{
	return b->low + (b->high - b->low) / 2;
}

/*
 * Whether two bounds are so near each other that two runs of one program could be drifting apart.
 */
static bool is_near(const struct comparison *c, const struct offset_bounds *a,
		    const struct offset_bounds *b)
{
	int64_t apart = middle(a) - middle(b);

	return apart <= c->near && -apart <= c->near;
}

/* Whether the other endpoint was recording when a record was made, by the candidate offset. */
static bool in_range(const struct comparison *c, const struct nt_record *r,
		     const struct offset_bounds *now)
{
	uint64_t end = record_last_ns(r);

	end = c->few->side == NT_HOST ? end + (uint64_t)now->low : end - (uint64_t)now->high;
	return (int64_t)(end - c->begin) >= 0 && (int64_t)(end - c->end) <= 0;
}

/*
 * Makes a pair of a record and the only record of the other endpoint with its address.
 *
 * Return: whether the candidate offset may explain the pair. Two runs of one program ask for the
 * same blocks with other command ids, or the second run is faster than the first.
 */
static bool pair_by_address(const struct comparison *c, const struct nt_record *r, pending_id other,
			    struct offset_bounds *now, struct pair *p)
{
	const struct nt_record *o = &pending_get(c->pool, other)->r;
	const struct nt_record *host = c->few->side == NT_HOST ? r : o;
	const struct nt_record *target = c->few->side == NT_HOST ? o : r;
	bool possible = pending_same(r, o) && offset_bounds(host, target, c->rate, &p->b);

	if (!possible) {
		p->b.at = offset_from(host);
		p->b.low = p->b.high = (int64_t)(offset_from(target) - p->b.at);
		if (!offset_sane(p->b.low))
			return false;
	}
	p->fits = possible && offset_follow(now, &p->b, c->rate);
	return p->fits || is_near(c, &p->b, now);
}

/* The same for a record with an address that comes again: the pair is found by time. */
static bool pair_by_time(const struct comparison *c, pending_id id, struct offset_bounds *now,
			 struct pair *p)
{
	struct offset prior = {.known = true, .now = *now, .rate = c->rate};
	struct offset_bounds b[2];
	size_t nr = lookup_candidates(c->pool, id, c->many, &prior, b, 0, 2);

	if (nr == 1) {
		p->b = b[0];
		p->fits = offset_follow(now, &p->b, c->rate);
		return true;
	}
	prior.now.low -= c->near;
	prior.now.high += c->near;
	p->fits = false;
	return !nr && lookup_candidates(c->pool, id, c->many, &prior, &p->b, 0, 1);
}

static void walk(struct comparison *c, pending_id from, const struct offset_bounds *vote)
{
	struct offset_bounds now = *vote;
	size_t at = 0;

	for (pending_id id = from; in_stretch(c, from, id, at); at++) {
		const struct nt_record *r = &pending_get(c->pool, id)->r;
		uint64_t hash = hash_of(r);
		const struct address *a = hash ? address_of(c, hash) : NULL;
		struct pair *p = &c->pair[c->nr];
		bool only = a && a->other && !a->again;

		p->at = at;
		p->unique = only;
		/*
		 * A pair that fits counts even if the target ended the command long after the host.
		 */
		if ((only ? pair_by_address(c, r, a->other, &now, p)
			  : pair_by_time(c, id, &now, p)) &&
		    (p->fits || in_range(c, r, &now)))
			c->nr++;
		id = pending_get(c->pool, id)->next;
	}
}

/* Return: the bounds at another instant, if the offset changes at exactly @rate. */
static struct offset_bounds straight(const struct offset_bounds *b, uint64_t at, double rate)
{
	int64_t gained = offset_gained(rate, b->at, at);

	return (struct offset_bounds){.low = b->low + gained, .high = b->high + gained, .at = at};
}

static bool share_fits(const struct pair *p, size_t nr, unsigned int share)
{
	size_t fit = 0;

	for (size_t i = 0; i < nr; i++)
		fit += p[i].fits;
	return fit * 8 >= nr * share;
}

/* Votes on the offset of the pairs that fit, if it changes at exactly @rate. */
static int vote_at_rate(struct comparison *c, uint64_t at, double rate, struct offset_vote *v)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++) {
		if (c->pair[i].fits)
			c->fitting[nr++] = straight(&c->pair[i].b, at, rate);
	}
	return offset_vote(c->fitting, nr, at, 0, v);
}

/*
 * Keeps as fitting only the pairs that fit the offset on which most of them agree, if it changes at
 * the rate that they give, or at the rate of before. In a short time the middles of the bounds move
 * by more than the clocks, such as when one way of the network becomes slower.
 */
static int straighten(struct comparison *c, struct agreement *a)
{
	uint64_t at = c->nr ? c->pair[c->nr / 2].b.at : 0;
	struct offset_vote v, before;
	size_t nr = 0;
	double rate;
	int err;

	for (size_t i = 0; i < c->nr; i++) {
		if (c->pair[i].fits)
			c->fitting[nr++] = c->pair[i].b;
	}
	rate = offset_rate(c->fitting, nr, c->slope);
	err = vote_at_rate(c, at, rate, &v) ?: vote_at_rate(c, at, c->rate, &before);
	if (err)
		return err;
	if (before.votes >= v.votes) {
		v = before;
		rate = c->rate;
	}
	a->best = v.best;
	a->rate = c->rate != 0 ? rate : 0;
	for (size_t i = 0; i < c->nr; i++) {
		struct pair *p = &c->pair[i];
		struct offset_bounds b = straight(&p->b, at, rate);

		p->fits = p->fits && b.low <= v.best.high + OFFSET_SLACK_NS &&
			  b.high >= v.best.low - OFFSET_SLACK_NS;
	}
	return 0;
}

static void count(const struct comparison *c, pending_id from, struct agreement *a)
{
	size_t first = STRETCH, last = 0, at = 0;
	uint64_t began = 0;

	for (size_t i = 0; i < c->nr; i++) {
		const struct pair *p = &c->pair[i];

		a->agree += p->fits;
		a->width_ns += p->fits ? (uint64_t)(p->b.high - p->b.low) : 0;
		a->unique += p->fits && p->unique;
		a->unlike += !p->fits && p->unique;
		if (p->fits && first == STRETCH)
			first = p->at;
		if (p->fits)
			last = p->at;
	}
	a->disagree = c->nr - a->agree;
	a->lasts = share_fits(c->pair, c->nr / 4, SHARE_OF_QUARTER) &&
		   share_fits(c->pair + c->nr - c->nr / 4, c->nr / 4, SHARE_OF_QUARTER);
	if (!a->agree)
		return;
	a->records = last - first + 1;
	for (pending_id id = from; at <= last; at++, id = pending_get(c->pool, id)->next) {
		uint64_t ns = pending_get(c->pool, id)->from_ns;

		if (at == first)
			began = ns;
		if (at == last)
			a->ns = offset_apart(ns, began);
	}
}

static uint64_t end_of(const struct pending_pool *pool, pending_id id)
{
	return record_last_ns(&pending_get(pool, id)->r);
}

int agreement_find(const struct pending_pool *pool, const struct endpoint *few,
		   const struct endpoint *many, pending_id from, const struct offset_vote *vote,
		   struct agreement *a)
{
	struct comparison *c = calloc(1, sizeof(*c));
	uint64_t lasts;
	int err;

	*a = (struct agreement){.vote = *vote, .waiting = few->pending.count};
	if (!c)
		return -ENOMEM;
	c->pool = pool;
	c->few = few;
	c->many = many;
	c->begin = UINT64_MAX;
	lasts = offset_apart(end_of(pool, few->pending.last), end_of(pool, from));
	if (lasts > STRETCH_NS)
		lasts = STRETCH_NS;
	c->near = lasts / NEAR_PART < NEAR_LEAST_NS ? NEAR_LEAST_NS : (int64_t)(lasts / NEAR_PART);
	c->within = (uint64_t)(vote->best.high - vote->best.low) + 2 * OFFSET_SLACK_NS;
	take_addresses(c, from);
	for (unsigned int i = 0; i < 2; i++)
		a->repeats |= c->period[i].nr >= REPEATS_LEAST &&
			      c->period[i].count * 8 >= c->period[i].nr * REPEATS_EIGHTHS;
	c->rate = vote->rate;
	walk(c, from, &vote->best);
	err = straighten(c, a);
	if (!err)
		count(c, from, a);
	free(c);
	return err;
}

bool agreement_is_refuted(const struct agreement *a)
{
	return a->unlike >= UNIQUE && a->unique < UNIQUE_TIMES * a->unlike;
}

/* Whether more pairs agree than chance would bring together. */
static bool is_no_chance(const struct agreement *a)
{
	if (a->unique >= UNIQUE || 2 * a->unique >= a->agree)
		return a->unique >= UNIQUE_TIMES * a->unlike;
	if (a->agree * 4 < a->records * BY_TIME)
		return false;
	return a->ns * a->agree >= WIDTHS * a->width_ns ||
	       (a->vote.votes >= VOTES && a->vote.votes >= RIVALS_TIMES * a->vote.rival);
}

bool agreement_convinces(const struct agreement *a, enum agreement_need need)
{
	static const struct {
		size_t agree;
		bool long_enough;
	} least[] = {
		[AGREEMENT_UNKNOWN] = {32, true}, [AGREEMENT_UNKNOWN_PATIENT] = {2, false},
		[AGREEMENT_PRIOR] = {3, false},	  [AGREEMENT_PRIOR_PATIENT] = {2, false},
		[AGREEMENT_KNOWN] = {1, false},	  [AGREEMENT_KNOWN_PATIENT] = {1, false},
	};

	if (a->agree < least[need].agree)
		return false;
	if (least[need].long_enough && a->records < AGREEMENT_RECORDS && a->ns < AGREEMENT_NS)
		return false;
	if (need < AGREEMENT_KNOWN && (a->repeats || !is_no_chance(a)))
		return false;
	/* So few records have to be beyond doubt. */
	if ((need == AGREEMENT_UNKNOWN_PATIENT || need == AGREEMENT_PRIOR_PATIENT) &&
	    a->unique < 2 && a->agree < PATIENT)
		return false;
	/* Two different runs have this few pairs in common by chance. */
	if (need == AGREEMENT_UNKNOWN_PATIENT && a->agree < UNIQUE &&
	    (a->vote.rival || 2 * a->agree < a->waiting))
		return false;
	return a->agree * 8 >= (a->agree + a->disagree) * SHARE && a->lasts;
}
