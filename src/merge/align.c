// SPDX-License-Identifier: GPL-2.0-only
#include "merge/align.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/span.h"
#include "merge/agreement.h"
#include "merge/lookup.h"
#include "merge/offset.h"
#include "merge/pattern.h"

/* Records of the half with fewer are looked up in the other, so many in a row... */
#define CHUNK 256
/* ...from so many places, as one side may have begun later. */
#define CHUNKS 8
/* A record that fits more than this of the other side does not vote: it says little, and costs the most. */
#define ALIKE_MAX 16
#define CANDIDATES_MAX (CHUNK * ALIKE_MAX + 1)

/* How many pairs have to agree, and twice as many as agree on anything else. */
#define VOTES_UNKNOWN 8 /* the offset is not known */
#define VOTES_KNOWN 3	/* it is, or is known to be within bounds */
#define VOTES_UNKNOWN_PATIENT 2
#define VOTES_KNOWN_PATIENT 1
/* Others might be the partner as well, and may not have told as much yet (mirrors do all in step). */
#define VOTES_CONTENDED 64

/* More controllers than one machine connects to under one name and one id, on targets that are copies. */
#define CROWD_MAX 64

/*
 * What speaks for one half as the partner of another.
 * @known: the offset is, well enough to tell commands apart
 * @addressed: records that have a partner if the vote is right, and nobody else at all, each of another
 *             place on the medium; commands of none (flush), or of the same, look alike
 */
struct found {
	struct half *other;
	struct link *link;
	struct offset_vote vote;
	bool known;
	size_t addressed;
	pending_id from;   /* where the records that voted begin */
	size_t in_pattern; /* votes of pattern_find(), whether it is sure or not */
	bool alike;	   /* hardly anything tells the records apart */
	bool by_pattern;   /* but pattern_find() did, and is sure */
};

/* So many commands with a place of their own have to agree where the offset is not known. */
static size_t addressed_least(const struct found *f, bool patient)
{
	if (patient)
		return VOTES_UNKNOWN_PATIENT;
	return f->link->offset.known ? VOTES_KNOWN : VOTES_UNKNOWN;
}

/* Places on the medium, of as many as a chunk has; all zero at the beginning. */
struct places {
	uint64_t slba[2 * CHUNK];
};

/* Whether @slba, which is not 0, was not there yet. */
static bool places_add(struct places *p, uint64_t slba)
{
	uint64_t i = hash_mix(slba) % (2 * CHUNK);

	while (p->slba[i] && p->slba[i] != slba)
		i = (i + 1) % (2 * CHUNK);
	if (p->slba[i])
		return false;
	p->slba[i] = slba;
	return true;
}

/*
 * How many of a chunk of records of @few, from @from on, the vote explains that could be nobody else's. @from becomes the
 * first that it explains.
 */
static size_t addressed(const struct pending_pool *pool, pending_id *from, const struct half *many,
			const struct offset_vote *vote)
{
	struct offset voted = {.known = true, .now = vote->best, .rate = vote->rate};
	const struct offset any = {0};
	struct places places = {0};
	pending_id id = *from;
	bool found = false;
	size_t nr = 0;

	for (unsigned int i = 0; id && i < CHUNK; i++, id = pending_get(pool, id)->next) {
		const struct nt_record *r = &pending_get(pool, id)->r;
		struct offset_bounds b[2];

		if (!lookup_candidates(pool, id, many, &voted, b, 0, 1))
			continue;
		if (!found)
			*from = id;
		found = true;
		nr += r->slba && lookup_candidates(pool, id, many, &any, b, 0, 2) == 1 &&
		      places_add(&places, r->slba);
	}
	return nr;
}

/* Places of a chunk of records from @id on, @need of them at the most. */
static size_t count_places(const struct pending_pool *pool, pending_id id, size_t need)
{
	struct places places = {0};
	size_t nr = 0;

	for (unsigned int i = 0; id && i < CHUNK && nr < need; i++) {
		const struct pending *e = pending_get(pool, id);

		nr += e->r.slba && places_add(&places, e->r.slba);
		id = e->next;
	}
	return nr;
}

/*
 * Whether a chunk of records of @few, from @id on, has so many that could be one record of @many only, each of
 * another place: else no vote of theirs tells the offset, see convincing().
 */
static bool may_address(const struct pending_pool *pool, pending_id id, const struct half *many,
			size_t need)
{
	const struct offset any = {0};
	struct places places = {0};
	size_t nr = 0;

	if (count_places(pool, id, need) < need)
		return false;
	for (unsigned int i = 0; id && i < CHUNK && nr < need; i++) {
		const struct pending *e = pending_get(pool, id);
		struct offset_bounds b[2];

		nr += e->r.slba && lookup_candidates(pool, id, many, &any, b, 0, 2) == 1 &&
		      places_add(&places, e->r.slba);
		id = e->next;
	}
	return nr >= need;
}

/* Candidates of those records of a chunk from @id on that have at most @each. Return: how many there are. */
static size_t collect(const struct pending_pool *pool, pending_id id, const struct half *many,
		      const struct offset *prior, size_t each, struct offset_bounds *bounds)
{
	size_t nr = 0;

	for (unsigned int i = 0; id && i < CHUNK; i++, id = pending_get(pool, id)->next) {
		size_t found =
			lookup_candidates(pool, id, many, prior, bounds, nr, nr + ALIKE_MAX + 1) -
			nr;

		if (found <= each)
			nr += found;
	}
	return nr;
}

/* Where hardly any record has a place of its own on the medium, the pattern of all is what there is to go by. */
static void vote_by_pattern(const struct pending_pool *pool, const struct half *few,
			    const struct half *many, bool patient, struct found *f)
{
	struct pattern p;

	if (few->pending.count < pattern_least(patient))
		return;
	f->alike = true;
	if (pattern_find(pool, few, many, &f->link->offset, &p))
		return;
	f->in_pattern = p.vote.votes;
	if (!pattern_convinces(&p, patient))
		return;
	f->by_pattern = true;
	f->vote = p.vote;
}

/* How far apart the chunks of a half begin. */
static uint32_t step_of(const struct half *few)
{
	return few->pending.count / CHUNKS > CHUNK ? few->pending.count / CHUNKS : CHUNK;
}

/* Whether any chunk of @few has enough records that are like one of @many only to convince by these. */
static bool any_may_address(const struct pending_pool *pool, const struct half *few,
			    const struct half *many, size_t need)
{
	uint32_t step = step_of(few), i = 0;

	for (pending_id id = few->pending.first; id; id = pending_get(pool, id)->next, i++) {
		if (i % step == 0 && may_address(pool, id, many, need))
			return true;
	}
	return false;
}

/*
 * What the records of a chunk from @id on say that have @each candidates at the most, @fast: if the offset changes as fast
 * as they say. Return: how many candidates there are.
 */
static size_t vote_of(const struct pending_pool *pool, pending_id id, const struct half *many,
		      const struct offset *prior, size_t each, bool fast,
		      struct offset_bounds *bounds, struct offset_vote *v)
{
	size_t nr = collect(pool, id, many, prior, each, bounds);
	double rate = prior->rate, slopes[CHUNK];

	if (!nr)
		return 0;
	if (fast)
		rate = offset_rate(bounds, nr, slopes);
	return offset_vote(bounds, nr, bounds[nr / 2].at, rate, v) ? 0 : nr;
}

/* Votes of the chunk of @few that agrees best with @many. Return: its first record, 0 if there are none. */
static pending_id vote_by_chunks(const struct pending_pool *pool, const struct half *few,
				 const struct half *many, struct found *f,
				 struct offset_bounds *bounds)
{
	const struct offset *prior = &f->link->offset;
	uint32_t step = step_of(few), i = 0;
	pending_id best = 0;

	for (pending_id id = few->pending.first; id; id = pending_get(pool, id)->next, i++) {
		struct offset_vote v = {0}, fast;
		size_t nr;

		if (i % step)
			continue;
		nr = vote_of(pool, id, many, prior, ALIKE_MAX, false, bounds, &v);
		/* In regular load those that look alike agree on other offsets, too. */
		if (nr && v.votes < 2 * v.rival)
			nr = vote_of(pool, id, many, prior, 1, false, bounds, &v);
		/* A clock may be slewed so fast that only neighbours agree. */
		if (!prior->known && v.votes < nr / 2 &&
		    vote_of(pool, id, many, prior, 1, true, bounds, &fast) &&
		    offset_vote_is_better(&fast, &v))
			v = fast;
		if (nr && offset_vote_is_better(&v, &f->vote)) {
			f->vote = v;
			best = id;
		}
	}
	return best;
}

static bool knows_clocks_at(const struct link *l, uint64_t at)
{
	struct offset then;

	offset_then(&l->offset, at, &then);
	return !offset_vague(&then, at);
}

/* Whether so many wait, or for so long, that agreement_convinces() may be true. */
static bool long_enough(const struct pending_pool *pool, const struct half *few)
{
	return few->pending.count >= AGREEMENT_RECORDS ||
	       offset_apart(pending_get(pool, few->pending.last)->from_ns,
			    pending_get(pool, few->pending.first)->from_ns) >= AGREEMENT_NS;
}

/*
 * What speaks for @f->other. @alone: nobody else's votes are compared with these, so that those which cannot
 * convince need not be counted.
 */
static void vote(const struct pending_pool *pool, const struct half *h, bool patient, bool alone,
		 struct found *f, struct offset_bounds *bounds)
{
	const struct half *few = h->pending.count < f->other->pending.count ? h : f->other;
	const struct half *many = few == h ? f->other : h;
	bool known = f->known;
	bool may_address =
		!known && alone && any_may_address(pool, few, many, addressed_least(f, patient));
	pending_id best = 0;

	/* They will agree, but not convince. */
	if (may_address && !patient && !f->link->offset.known && !long_enough(pool, few))
		return;
	if (known || !alone || may_address)
		best = vote_by_chunks(pool, few, many, f, bounds);
	if (best)
		f->addressed = addressed(pool, &best, many, &f->vote);
	f->from = best;
	if (!known && f->addressed < VOTES_UNKNOWN)
		vote_by_pattern(pool, few, many, patient, f);
	/* Records may be left from a time of which the clocks are not known. */
	if (known && best)
		f->known = knows_clocks_at(f->link, f->vote.best.at);
}

static bool convincing(const struct found *f, bool patient, bool contended)
{
	size_t need = !f->known ? addressed_least(f, patient)
		      : patient ? VOTES_KNOWN_PATIENT
				: VOTES_KNOWN;

	/* Commands that look alike agree on some offset by chance. */
	if (!f->known && !f->by_pattern && f->addressed < need)
		return false;
	if (contended && (!patient || f->by_pattern))
		need = VOTES_CONTENDED;
	return f->vote.votes >= need && f->vote.votes >= 2 * f->vote.rival;
}

/* Whether all that both have in common agrees with what some voted for, which then is as exact as all of that tells. */
static bool agreed(const struct pending_pool *pool, const struct half *h, bool patient,
		   struct found *f)
{
	const struct half *few = h->pending.count < f->other->pending.count ? h : f->other;
	enum agreement_need need;
	struct agreement a;

	/* Those that belong together, and whose clocks are known, go on where they were. */
	if (f->by_pattern || !f->from || (f->known && h->partner == f->other))
		return true;
	if (agreement_find(pool, few, few == h ? f->other : h, f->from, &f->vote, &a))
		return false;
	need = f->known		       ? AGREEMENT_KNOWN
	       : f->link->offset.known ? AGREEMENT_PRIOR
				       : AGREEMENT_UNKNOWN;
	f->vote.best = a.best;
	f->vote.rate = a.rate;
	/* What one that has a partner has left is little, and may be like another's. */
	if (need < AGREEMENT_KNOWN && h->partner != f->other && (h->partner || f->other->partner))
		patient = false;
	return agreement_convinces(&a, need + patient);
}

/*
 * Whether @other may be the partner of @h: it is already, or either may get another. One that no slot
 * leads to any more can only be of records that wait.
 */
static bool eligible(const struct topology *t, const struct half *h, const struct half *other)
{
	if (h->partner == other)
		return true;
	return half_compatible(h, other) && (other->current || other->pending.count) &&
	       topology_is_free(t, h) && topology_is_free(t, other);
}

static size_t votes_of(const struct found *f)
{
	return f->in_pattern > f->vote.votes ? f->in_pattern : f->vote.votes;
}

/*
 * Whether records wait at more than CROWD_MAX halves of the same stream and names, or at so many that may
 * be the partner. They are left alone: each would be compared with all others.
 */
static bool is_crowd(const struct topology *t, const struct half *h)
{
	unsigned int same = 0, others = 0;

	if (!topology_is_free(t, h))
		return false;
	for (const struct half *k = topology_alike(t, h); k; k = k->next_alike) {
		if (!k->pending.count)
			continue;
		if (k->stream == h->stream)
			same += k->q.cntlid == h->q.cntlid && k->q.qid == h->q.qid &&
				!strcmp(k->q.subsysnqn, h->q.subsysnqn);
		else
			others += eligible(t, h, k);
		if (same > CROWD_MAX || others > CROWD_MAX)
			return true;
	}
	return false;
}

/* How many may be the partner of @h and have records. */
static unsigned int voters(const struct topology *t, const struct half *h)
{
	unsigned int nr = 0;

	for (const struct half *other = topology_alike(t, h); other; other = other->next_alike)
		nr += other->pending.count && eligible(t, h, other);
	return nr;
}

/* Whether the clocks of @h and another are known well enough to tell what waits at it apart. */
static bool knows_clocks(const struct pending_pool *pool, const struct half *h,
			 const struct link *l)
{
	const struct nt_record *last = &pending_get(pool, h->pending.last)->r;

	return l->offset.known && !offset_loose(&l->offset, half_began_at(h, last, &l->offset));
}

/* Finds the best partner of @h that has none yet, or its partner. Return: false on lack of memory. */
static bool look_for(struct topology *t, const struct pending_pool *pool, struct half *h,
		     bool patient, struct offset_bounds *bounds, struct found *best,
		     bool *contended)
{
	bool alone = voters(t, h) == 1;
	size_t rival = 0;

	for (struct half *other = topology_alike(t, h); other; other = other->next_alike) {
		struct found f = {.other = other};

		if (!eligible(t, h, other))
			continue;
		*contended |= best->other != NULL;
		f.link = topology_link(t, h, other);
		if (!f.link)
			return false;
		f.known = knows_clocks(pool, h, f.link);
		if (other->pending.count)
			vote(pool, h, patient, alone, &f, bounds);
		h->alike |= f.alike;
		if (!best->other || offset_vote_is_better(&f.vote, &best->vote)) {
			if (rival < votes_of(best))
				rival = votes_of(best);
			*best = f;
		} else if (votes_of(&f) > rival) {
			rival = votes_of(&f);
		}
	}
	if (best->vote.rival < rival)
		best->vote.rival = rival;
	return true;
}

/* Others of the side of @h may have as good a claim to the partner that it has found. */
static void look_back(struct topology *t, const struct pending_pool *pool, const struct half *h,
		      bool patient, struct offset_bounds *bounds, struct found *best,
		      bool *contended)
{
	const struct half *claimant = topology_alike(t, h);

	if (h->partner == best->other)
		return;
	for (; claimant; claimant = claimant->next_alike) {
		struct found f = {.other = best->other, .link = best->link, .known = best->known};

		if (claimant == h || claimant->stream != h->stream ||
		    !eligible(t, f.other, claimant) || !topology_is_free(t, claimant))
			continue;
		*contended = true;
		if (claimant->pending.count && f.other->pending.count)
			vote(pool, claimant, patient, false, &f, bounds);
		if (best->vote.rival < votes_of(&f))
			best->vote.rival = votes_of(&f);
	}
}

/* align_possible(), if they are no crowd. */
static bool any_eligible(const struct topology *t, const struct half *h, const struct half *but,
			 bool known)
{
	for (struct half *other = topology_alike(t, h); other; other = other->next_alike) {
		const struct link *l;

		if (other == but || !other->pending.count || !eligible(t, h, other))
			continue;
		l = topology_link_known(t, h, other);
		if (!known || (l && l->offset.known))
			return true;
	}
	return false;
}

bool align_possible(const struct topology *t, const struct half *h, const struct half *but,
		    bool known)
{
	return !is_crowd(t, h) && any_eligible(t, h, but, known);
}

bool align_half(struct topology *t, const struct pending_pool *pool, struct half *h, bool patient,
		struct offset_bounds *from)
{
	bool host = h->side == NT_HOST, contended = false;
	struct offset_bounds *bounds = NULL;
	struct found best = {0};
	bool found;

	h->alike = false;
	h->crowded = is_crowd(t, h);
	if (!h->crowded && any_eligible(t, h, NULL, false))
		bounds = malloc(CANDIDATES_MAX * sizeof(*bounds));
	found = bounds && look_for(t, pool, h, patient, bounds, &best, &contended) &&
		best.vote.votes;

	if (found)
		look_back(t, pool, h, patient, bounds, &best, &contended);
	free(bounds);
	if (!found || !convincing(&best, patient, contended) || !agreed(pool, h, patient, &best))
		return false;
	if (h->partner != best.other)
		topology_bind(t, host ? h : best.other, host ? best.other : h, best.link);
	*from = best.vote.best;
	offset_jumped(&best.link->offset, from);
	/* What many commands have narrowed tells more than these few. */
	if (!best.link->offset.known || offset_loose(&best.link->offset, from->at))
		offset_set(&best.link->offset, &best.vote.best, best.vote.rate);
	return true;
}
