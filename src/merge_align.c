// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds out which two halves are one connection, and how far apart their clocks are: by the offset on
 * which the most pairs of records agree that could be one command.
 */
#include <stdlib.h>

#include "merge_private.h"

/* Records of the half with fewer are looked up in the other, so many in a row... */
#define CHUNK 256
/* ...from so many places, as one side may have begun later. */
#define CHUNKS 8
/* A chunk has no more candidates than this: where all commands look alike, a part of them will do. */
#define CANDIDATES_MAX 8192

/* How many pairs have to agree, and twice as many as agree on anything else. */
#define VOTES_UNKNOWN 8 /* the offset is not known */
#define VOTES_KNOWN 3	/* it is, or is known to be within bounds */
#define VOTES_UNKNOWN_PATIENT 2
#define VOTES_KNOWN_PATIENT 1

struct found {
	struct half *other;
	struct link *link;
	struct offset_vote vote;
	size_t candidates;
};

/* The bounds of every pair that @id could be one command with. Return: how many there are now. */
static size_t candidates_of(const struct merge *m, pending_id id, const struct half *other,
			    const struct offset *prior, struct offset_bounds *b, size_t nr)
{
	const struct pending *e = pending_get(&m->pool, id);
	pending_id c;

	for (c = pending_chain(&m->pool, e->key); c && nr < CANDIDATES_MAX;
	     c = pending_get(&m->pool, c)->chain) {
		const struct pending *p = pending_get(&m->pool, c);
		bool host = other->side == NT_TARGET;

		if (p->owner != other || p->key != e->key || !pending_same(&p->r, &e->r))
			continue;
		if (!offset_bounds(host ? &e->r : &p->r, host ? &p->r : &e->r, &b[nr]))
			continue;
		if (!prior->known || offset_fits(prior, &b[nr]))
			nr++;
	}
	return nr;
}

static bool better(const struct offset_vote *a, const struct offset_vote *b)
{
	return a->votes > b->votes || (a->votes == b->votes && a->rival < b->rival);
}

/* Votes of the chunk of @h that agrees best with @f->other. */
static void vote(const struct merge *m, const struct half *h, struct found *f,
		 struct offset_bounds *bounds)
{
	const struct half *few = h->pending.count < f->other->pending.count ? h : f->other;
	const struct half *many = few == h ? f->other : h;
	uint32_t step = few->pending.count / CHUNKS > CHUNK ? few->pending.count / CHUNKS : CHUNK;
	pending_id id = few->pending.first;
	size_t nr = 0;

	for (uint32_t i = 1; id; i++, id = pending_get(&m->pool, id)->next) {
		struct offset_vote v;

		if ((i - 1) % step < CHUNK)
			nr = candidates_of(m, id, many, &f->link->offset, bounds, nr);
		if (i % step && i < few->pending.count)
			continue;
		if (nr && !offset_vote(bounds, nr, bounds[nr / 2].at, &v) && better(&v, &f->vote)) {
			f->vote = v;
			f->candidates = nr;
		}
		nr = 0;
	}
}

/* The same offset as in the last try, for the same pair? */
static bool confirmed(const struct half *h, const struct found *f)
{
	struct offset before = {.known = true, .now = h->suspected};

	return h->suspect == f->other && offset_fits(&before, &f->vote.best);
}

static bool convincing(const struct half *h, const struct found *f, bool patient)
{
	bool known = f->link && f->link->offset.known;
	size_t need = known	? patient ? VOTES_KNOWN_PATIENT : VOTES_KNOWN
		      : patient ? VOTES_UNKNOWN_PATIENT
				: VOTES_UNKNOWN;

	if (f->vote.votes < need || f->vote.votes < 2 * f->vote.rival)
		return false;
	/*
	 * Where many commands look alike, the right offset may be one that has not been heard of yet:
	 * it has to win again when there is more to go by.
	 */
	return patient || f->candidates <= 2 * f->vote.votes || confirmed(h, f);
}

bool align(struct merge *m, struct half *h, bool patient, uint64_t *at)
{
	struct offset_bounds *bounds = malloc(CANDIDATES_MAX * sizeof(*bounds));
	struct found best = {0};
	size_t rival = 0;
	bool host = h->side == NT_HOST;

	for (unsigned int i = 0; bounds && i < m->nr_halves; i++) {
		struct found f = {.other = m->halves[i]};
		bool partners = h->partner == f.other;

		if (!f.other->pending.count ||
		    (!partners && (h->partner || f.other->partner || !half_compatible(h, f.other))))
			continue;
		f.link = link_get(m, h, f.other);
		if (!f.link)
			break;
		vote(m, h, &f, bounds);
		if (better(&f.vote, &best.vote)) {
			rival = best.vote.votes;
			best = f;
		} else if (f.vote.votes > rival) {
			rival = f.vote.votes;
		}
	}
	free(bounds);
	if (best.vote.rival < rival)
		best.vote.rival = rival;
	if (!best.other || !convincing(h, &best, patient)) {
		h->suspect = best.other;
		h->suspected = best.vote.best;
		return false;
	}
	if (!h->partner)
		half_bind(m, host ? h : best.other, host ? best.other : h, best.link);
	*at = best.vote.best.at;
	/* What many commands have narrowed tells more than these few. */
	if (!best.link->offset.known || offset_loose(&best.link->offset, *at))
		offset_set(&best.link->offset, &best.vote.best);
	return true;
}
