// SPDX-License-Identifier: GPL-2.0-only
#include "merge/align.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/segments.h"
#include "merge/agreement.h"
#include "merge/lookup.h"
#include "merge/offset.h"
#include "merge/pattern.h"

/* This many records in a row of the endpoint with fewer records are looked up in the other
 * endpoint... */
#define CHUNK 256
/* ...beginning at this many places, as one side may have begun later. */
#define CHUNKS 8
/* A record with more candidates than this does not vote: it says little and costs the most. */
#define ALIKE_MAX 16
#define CANDIDATES_MAX (CHUNK * ALIKE_MAX + 1)

/* Pairs that have to agree; they also have to be twice as many as agree on any other offset. */
#define VOTES_UNKNOWN 8 /* the offset is not known */
#define VOTES_KNOWN 3	/* it is known, or known within bounds */
#define VOTES_UNKNOWN_PATIENT 2
#define VOTES_KNOWN_PATIENT 1
/* Where other endpoints may be the partner, too: mirrors work in step, and may have sent less yet.
 */
#define VOTES_CONTENDED 64

/* More controllers of one name and id than a machine connects to, where targets are copies. */
#define CROWD_MAX 64
/* More than these take no more time together. */
#define CROWD_FEW 4

/*
 * The most votes for an endpoint, even if they do not convince: what it competes with.
 * @in_chunk: of a chunk
 * @in_pattern: of a pattern, at the offset @of_pattern
 * @scaled: those of a chunk, had it been as long as a pattern
 */
struct claim {
	size_t in_chunk, in_pattern, scaled;
	struct offset_bounds of_pattern;
};

/*
 * The evidence that one endpoint is the partner of another.
 * @known: the offset is known well enough to tell commands apart
 * @claimed: votes of another endpoint that claims @other
 * @addressed: records that pair with exactly one record of the other endpoint, and do so by the
 * vote; each has another LBA. Commands without an LBA (flush), or with the same LBA, look alike and
 * do not count.
 */
struct found {
	struct endpoint *other;
	struct link *link;
	struct offset_vote vote;
	bool known;
	size_t claimed;
	size_t addressed;
	pending_id from;    /* the first record that voted */
	unsigned int steps; /* the most of one search for a pattern */
	struct claim claim;
	bool alike;	 /* hardly anything tells the records apart */
	bool by_pattern; /* but pattern_find() found an offset, and is sure */
};

/* How many commands with an LBA of their own have to agree where the offset is not known. */
static size_t addressed_least(const struct found *f, bool patient)
{
	if (patient)
		return VOTES_UNKNOWN_PATIENT;
	return f->link->offset.known ? VOTES_KNOWN : VOTES_UNKNOWN;
}

/* A set of LBAs with room for those of one chunk; all zero at the beginning. */
struct positions {
	uint64_t slba[2 * CHUNK];
};

/* Adds @slba, which is not 0. Return: whether it is new. */
static bool places_add(struct positions *p, uint64_t slba)
{
	uint64_t i = hash_pair(slba, 0) % (2 * CHUNK);

	while (p->slba[i] && p->slba[i] != slba)
		i = (i + 1) % (2 * CHUNK);
	if (p->slba[i])
		return false;
	p->slba[i] = slba;
	return true;
}

/*
 * Counts the records of a chunk that pair with exactly one record of @many, and do so by the vote.
 * The chunk begins at @from, which becomes the first record that the vote explains.
 */
static size_t addressed(const struct pending_pool *pool, pending_id *from,
			const struct endpoint *many, const struct offset_vote *vote)
{
	struct offset voted = {.known = true, .now = vote->best, .rate = vote->rate};
	const struct offset any = {0};
	struct positions places = {0};
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

/* Counts the different LBAs of a chunk of records from @id on, up to @need. */
static size_t count_places(const struct pending_pool *pool, pending_id id, size_t need)
{
	struct positions places = {0};
	size_t nr = 0;

	for (unsigned int i = 0; id && i < CHUNK && nr < need; i++) {
		const struct pending *e = pending_get(pool, id);

		nr += e->r.slba && places_add(&places, e->r.slba);
		id = e->next;
	}
	return nr;
}

/*
 * Whether a chunk of records from @id on has @need records with different LBAs that pair with
 * exactly one record of @many. If not, their votes cannot convince: see convincing().
 */
static bool may_address(const struct pending_pool *pool, pending_id id, const struct endpoint *many,
			size_t need)
{
	const struct offset any = {0};
	struct positions places = {0};
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

/* Collects the candidates of a chunk's records that have at most @each. Return: how many. */
static size_t collect(const struct pending_pool *pool, pending_id id, const struct endpoint *many,
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

/* Votes by the pattern of the times of all records: hardly any record has an LBA of its own. */
static void vote_by_pattern(const struct pending_pool *pool, const struct endpoint *few,
			    const struct endpoint *many, bool patient, struct found *f)
{
	struct pattern p;

	if (few->pending.count < pattern_least(patient))
		return;
	f->alike = true;
	if (pattern_find(pool, few, many, &f->link->offset, f->steps, &p))
		return;
	/* A pattern that convinces competes with any longer one. */
	f->claim.in_pattern = pattern_convinces(&p, true) ? PATTERN_LENGTH : p.vote.votes;
	f->claim.of_pattern = p.vote.best;
	if (!pattern_convinces(&p, patient))
		return;
	f->by_pattern = true;
	f->vote = p.vote;
}

/* The distance between the beginnings of two chunks. */
static uint32_t step_of(const struct endpoint *few)
{
	return few->pending.count / CHUNKS > CHUNK ? few->pending.count / CHUNKS : CHUNK;
}

/* Whether any chunk of @few may convince by records with one candidate only: may_address(). */
static bool any_may_address(const struct pending_pool *pool, const struct endpoint *few,
			    const struct endpoint *many, size_t need)
{
	uint32_t step = step_of(few), i = 0;

	for (pending_id id = few->pending.first; id; id = pending_get(pool, id)->next, i++) {
		if (i % step == 0 && may_address(pool, id, many, need))
			return true;
	}
	return false;
}

/*
 * Lets the records of a chunk from @id on vote that have at most @each candidates. @fast: use the
 * rate that these records give. Return: how many candidates there are.
 */
static size_t vote_of(const struct pending_pool *pool, pending_id id, const struct endpoint *many,
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

static void raise_to(size_t *most, size_t votes)
{
	*most = votes > *most ? votes : *most;
}

/* Finds the chunk of @few that agrees best with @many. Return: its first record, or 0. */
static pending_id vote_by_chunks(const struct pending_pool *pool, const struct endpoint *few,
				 const struct endpoint *many, struct found *f,
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
		raise_to(&f->claim.in_chunk, v.votes);
		/* In regular load, records that look alike agree on other offsets, too. */
		if (nr && v.votes < 2 * v.rival)
			nr = vote_of(pool, id, many, prior, 1, false, bounds, &v);
		/* A clock may be slewed so fast that only records near each other in time agree. */
		if (!prior->known && v.votes < nr / 2 &&
		    vote_of(pool, id, many, prior, 1, true, bounds, &fast) &&
		    offset_vote_is_better(&fast, &v))
			v = fast;
		raise_to(&f->claim.in_chunk, v.votes);
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

/* Whether enough records wait, or for long enough, that agreement_convinces() may be true. */
static bool long_enough(const struct pending_pool *pool, const struct endpoint *few)
{
	return few->pending.count >= AGREEMENT_RECORDS ||
	       offset_apart(pending_get(pool, few->pending.last)->from_ns,
			    pending_get(pool, few->pending.first)->from_ns) >= AGREEMENT_NS;
}

/* The most records of @few that a pattern covers, at least a chunk. */
static size_t pattern_length(const struct endpoint *few)
{
	size_t nr = few->pending.count < PATTERN_LENGTH ? few->pending.count : PATTERN_LENGTH;

	return nr > CHUNK ? nr : CHUNK;
}

/*
 * Collects the evidence for @f->other. @alone: no other endpoint competes, so votes that cannot
 * convince need not be counted.
 */
static void vote(const struct pending_pool *pool, const struct endpoint *h, bool patient,
		 bool alone, struct found *f, struct offset_bounds *bounds)
{
	const struct endpoint *few = h->pending.count < f->other->pending.count ? h : f->other;
	const struct endpoint *many = few == h ? f->other : h;
	bool known = f->known;
	bool may_address =
		!known && alone && any_may_address(pool, few, many, addressed_least(f, patient));
	pending_id best = 0;

	/* Even if they agree, they will not convince. */
	if (may_address && !patient && !f->link->offset.known && !long_enough(pool, few))
		return;
	if (known || !alone || may_address)
		best = vote_by_chunks(pool, few, many, f, bounds);
	f->claim.scaled = f->claim.in_chunk * pattern_length(few) / CHUNK;
	if (best)
		f->addressed = addressed(pool, &best, many, &f->vote);
	f->from = best;
	if (!known && f->addressed < VOTES_UNKNOWN)
		vote_by_pattern(pool, few, many, patient, f);
	/* Records may be left from a time at which the clocks are not known. */
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
	return f->vote.votes >= need && f->vote.votes >= 2 * f->vote.rival &&
	       f->vote.votes >= 2 * f->claimed;
}

/* Whether nearly all common commands agree with the vote, which becomes as exact as they are. */
static bool agreed(const struct pending_pool *pool, const struct endpoint *h, bool patient,
		   struct found *f)
{
	const struct endpoint *few = h->pending.count < f->other->pending.count ? h : f->other;
	enum agreement_need need;
	struct offset_vote v = f->vote;
	struct agreement a;

	/* Partners with known clocks go on where they were. */
	if (f->by_pattern || !f->from || (f->known && h->partner == f->other))
		return true;
	if (v.votes < VOTES_CONTENDED)
		raise_to(&v.rival, f->claimed);
	if (agreement_find(pool, few, few == h ? f->other : h, f->from, &v, &a))
		return false;
	need = f->known		       ? AGREEMENT_KNOWN
	       : f->link->offset.known ? AGREEMENT_PRIOR
				       : AGREEMENT_UNKNOWN;
	f->vote.best = a.best;
	f->vote.rate = a.rate;
	/* An endpoint with another partner has few records left; they may be like another
	 * endpoint's. */
	if (need < AGREEMENT_KNOWN && h->partner != f->other && (h->partner || f->other->partner))
		patient = false;
	return agreement_convinces(&a, need + patient);
}

/*
 * Whether @other may be the partner of @h: it is the partner already, or both may get a new one. If
 * no slot leads to @other any more, it only counts while records wait at it.
 */
static bool eligible(const struct topology *t, const struct endpoint *h,
		     const struct endpoint *other)
{
	if (h->partner == other)
		return true;
	return endpoint_compatible(h, other) && (other->current || other->pending.count) &&
	       topology_is_free(t, h) && topology_is_free(t, other);
}

/* The votes of endpoints that compete with @best. */
static size_t votes_against(const struct found *best, const struct claim *c)
{
	size_t votes = best->by_pattern ? c->scaled : c->in_chunk;

	return c->in_pattern > votes ? c->in_pattern : votes;
}

/*
 * Adds what is not there to compare: records that were given up as ambiguous, and those to come of
 * a stream that has not begun, which may repeat themselves like others.
 */
static void claim_add_unheard(const struct topology *t, const struct endpoint *h, struct claim *c)
{
	const struct topology_stream *s = &t->streams[h->stream];

	raise_to(&c->in_chunk, h->ambiguous);
	raise_to(&c->scaled, !s->newest && !s->ended ? PATTERN_LENGTH : h->ambiguous);
}

static void claim_add(struct claim *to, const struct claim *c)
{
	raise_to(&to->in_chunk, c->in_chunk);
	raise_to(&to->in_pattern, c->in_pattern);
	raise_to(&to->scaled, c->scaled);
}

/* Whether @h is compared with @k: it competes, or may be the partner, and records wait at it. */
static bool is_compared(const struct topology *t, const struct endpoint *h,
			const struct endpoint *k)
{
	return k->pending.count &&
	       (k->side != h->side ? eligible(t, h, k) : k == h || topology_compete(t, h, k));
}

/*
 * Counts the endpoints of the stream that @first is the first of and that @h is compared with; @max
 * at the most.
 */
static unsigned int count_of_stream(const struct topology *t, const struct endpoint *h,
				    const struct endpoint *first, unsigned int max)
{
	unsigned int nr = 0;

	for (const struct endpoint *k = first; k && k->stream == first->stream && nr < max;
	     k = k->next_alike)
		nr += is_compared(t, h, k);
	return nr;
}

/* Return: @first, or else the first of the next stream that is not left out */
static struct endpoint *without_left_out(struct endpoint *first)
{
	while (first && first->left_out)
		first = first->next_stream;
	return first;
}

/* Return: the next endpoint of the list of @k, without those of streams that are left out */
static struct endpoint *next_compared(const struct endpoint *k)
{
	struct endpoint *next = k->next_alike;

	return next && next->stream != k->stream ? without_left_out(next) : next;
}

static void take_all(struct endpoint *list)
{
	for (struct endpoint *k = list; k; k = k->next_stream)
		k->left_out = false;
}

/*
 * Counts the endpoints of a list that @h is compared with. If they are too many, the streams that
 * have more than an equal share of them are left out, so that no stream can hide those of others.
 *
 * Return: how many are left; CROWD_MAX + 1 if they are none, or if the stream of @h is left out.
 * @some: set if any are left out
 */
static unsigned int count_compared(const struct topology *t, const struct endpoint *h,
				   struct endpoint *list, bool *some)
{
	unsigned int all = 0, streams = 0, left = 0, share, nr;

	for (struct endpoint *k = list; k; k = k->next_stream) {
		nr = count_of_stream(t, h, k, CROWD_MAX + 1);
		if (nr > CROWD_MAX && k->side == h->side && k->stream == h->stream)
			return CROWD_MAX + 1;
		all += nr;
		streams += nr > 0;
	}
	if (all <= CROWD_MAX)
		return all;
	*some = true;
	share = CROWD_MAX / streams;
	for (struct endpoint *k = list; k; k = k->next_stream) {
		nr = count_of_stream(t, h, k, CROWD_MAX + 1);
		if (nr <= share) {
			left += nr;
			continue;
		}
		if (k->side == h->side && k->stream == h->stream)
			return CROWD_MAX + 1;
		k->left_out = true;
	}
	return left ?: CROWD_MAX + 1;
}

/*
 * Return: at how many endpoints that compete records wait, or at how many possible partners,
 * whichever are more; CROWD_MAX + 1 at the most; 0 if none of the other side has its ids. @some:
 * set if endpoints of other streams are left out of the comparison
 */
static unsigned int crowd_of(const struct topology *t, const struct endpoint *h, bool *some)
{
	unsigned int same, others;

	*some = false;
	if (!topology_alike(t, h))
		return 0;
	take_all(topology_alike_beside(t, h));
	take_all(topology_alike(t, h));
	if (!topology_is_free(t, h))
		return 0;
	same = count_compared(t, h, topology_alike_beside(t, h), some);
	if (same > CROWD_MAX)
		return same;
	others = count_compared(t, h, topology_alike(t, h), some);
	return same > others ? same : others;
}

/* Such endpoints are left alone: each would be compared with all others. */
static bool is_crowd(const struct topology *t, const struct endpoint *h)
{
	bool some;

	return crowd_of(t, h, &some) > CROWD_MAX;
}

/*
 * The most steps of one search for a pattern. A stream can have queues that look alike in order
 * that each is compared with each, so together they take no more than a few.
 */
static unsigned int steps_of(unsigned int crowd)
{
	return crowd > CROWD_FEW ? PATTERN_STEPS_MAX / crowd * CROWD_FEW : PATTERN_STEPS_MAX;
}

/* How many endpoints may be the partner of @h and have records. */
static unsigned int voters(const struct topology *t, const struct endpoint *h)
{
	unsigned int nr = 0;

	for (const struct endpoint *other = without_left_out(topology_alike(t, h)); other;
	     other = next_compared(other))
		nr += other->pending.count && eligible(t, h, other);
	return nr;
}

/* Whether the offset of @l is known well enough to tell the records that wait at @h apart. */
static bool knows_clocks(const struct pending_pool *pool, const struct endpoint *h,
			 const struct link *l)
{
	const struct nt_record *last = &pending_get(pool, h->pending.last)->r;

	return l->offset.known && !offset_loose(&l->offset, endpoint_began_at(h, last, &l->offset));
}

/* Finds the best of the endpoints that may be the partner of @h. Return: false on lack of memory.
 */
static bool look_for(struct topology *t, const struct pending_pool *pool, struct endpoint *h,
		     bool patient, unsigned int steps, struct offset_bounds *bounds,
		     struct found *best, bool *contended)
{
	bool alone = voters(t, h) == 1;
	struct claim others = {0};

	for (struct endpoint *other = without_left_out(topology_alike(t, h)); other;
	     other = next_compared(other)) {
		struct found f = {.other = other, .steps = steps};

		if (!eligible(t, h, other))
			continue;
		*contended |= best->other != NULL;
		f.link = topology_link(t, h, other);
		if (!f.link)
			return false;
		f.known = knows_clocks(pool, h, f.link);
		if (other->pending.count)
			vote(pool, h, patient, alone, &f, bounds);
		claim_add_unheard(t, other, &f.claim);
		h->alike |= f.alike;
		if (!best->other || offset_vote_is_better(&f.vote, &best->vote)) {
			claim_add(&others, &best->claim);
			*best = f;
		} else {
			claim_add(&others, &f.claim);
		}
	}
	raise_to(&best->vote.rival, votes_against(best, &others));
	return true;
}

/* Whether a claim on an endpoint is of another run of one program. */
static bool is_refuted(const struct pending_pool *pool, const struct endpoint *claimant,
		       const struct found *f)
{
	const struct endpoint *few =
		claimant->pending.count < f->other->pending.count ? claimant : f->other;
	struct agreement a;

	return f->from &&
	       !agreement_find(pool, few, few == claimant ? f->other : claimant, f->from, &f->vote,
			       &a) &&
	       agreement_is_refuted(&a);
}

/* Computes when @h recorded, by the clock of the endpoint that it claims. */
static void claimed_time(const struct pending_pool *pool, const struct endpoint *h,
			 const struct found *f, uint64_t *begin, uint64_t *end)
{
	bool pattern = f->claim.in_pattern > f->claim.scaled;
	const struct offset_bounds *b = pattern ? &f->claim.of_pattern : &f->vote.best;
	int64_t to = h->side == NT_HOST ? b->low : -b->low;

	*begin = pending_get(pool, h->pending.first)->from_ns + (uint64_t)to;
	*end = record_last_ns(&pending_get(pool, h->pending.last)->r) + (uint64_t)to;
}

/* Whether two endpoints claim records of a third one that are of different times. */
static bool in_turn(const struct pending_pool *pool, const struct endpoint *h,
		    const struct found *f, const struct endpoint *other, const struct found *g)
{
	uint64_t begin[2], end[2];

	claimed_time(pool, h, f, &begin[0], &end[0]);
	claimed_time(pool, other, g, &begin[1], &end[1]);
	return (int64_t)(begin[0] - end[1]) > 0 || (int64_t)(begin[1] - end[0]) > 0;
}

/*
 * Lets other endpoints on the side of @h compete for the partner that @h has found, also those of
 * other streams: machines may be copies that do the same at the same time. Return: false on lack of
 * memory.
 */
static bool look_back(struct topology *t, const struct pending_pool *pool, const struct endpoint *h,
		      bool patient, struct offset_bounds *bounds, struct found *best,
		      bool *contended)
{
	const struct endpoint *claimant = without_left_out(topology_alike_beside(t, h));

	if (h->partner == best->other)
		return true;
	/* Whatever the others claim, it does not convince again. */
	for (; claimant && convincing(best, patient, *contended);
	     claimant = next_compared(claimant)) {
		struct found f = {.other = best->other, .steps = best->steps};
		bool elsewhere = claimant->stream != h->stream;
		size_t votes;

		if (claimant == h || !eligible(t, f.other, claimant) ||
		    !topology_is_free(t, claimant) || topology_is_same_queue(t, h, claimant))
			continue;
		f.link = topology_link(t, claimant, f.other);
		if (!f.link)
			return false;
		f.known = claimant->pending.count && knows_clocks(pool, claimant, f.link);
		if (claimant->pending.count && f.other->pending.count)
			vote(pool, claimant, patient, false, &f, bounds);
		if (votes_against(best, &f.claim) &&
		    (in_turn(pool, h, best, claimant, &f) ||
		     (elsewhere && is_refuted(pool, claimant, &f))))
			f.claim = (struct claim){0};
		claim_add_unheard(t, claimant, &f.claim);
		votes = votes_against(best, &f.claim);
		*contended |= votes || !elsewhere || !claimant->pending.count;
		raise_to(&best->claimed, votes);
	}
	return true;
}

/* align_possible() without the check for too many endpoints. */
static bool any_eligible(const struct topology *t, const struct endpoint *h,
			 const struct endpoint *but, bool known)
{
	for (struct endpoint *other = without_left_out(topology_alike(t, h)); other;
	     other = next_compared(other)) {
		const struct link *l;

		if (other == but || !other->pending.count || !eligible(t, h, other))
			continue;
		l = topology_link_known(t, h, other);
		if (!known || (l && l->offset.known))
			return true;
	}
	return false;
}

bool align_possible(const struct topology *t, const struct endpoint *h, const struct endpoint *but,
		    bool known)
{
	return !is_crowd(t, h) && any_eligible(t, h, but, known);
}

bool align_endpoint(struct topology *t, const struct pending_pool *pool, struct endpoint *h,
		    bool patient, struct offset_bounds *from)
{
	bool host = h->side == NT_HOST, contended;
	struct offset_bounds *bounds = NULL;
	struct found best = {0};
	unsigned int crowd = crowd_of(t, h, &contended);
	bool some_left_out = contended;
	bool found;

	/* What is left out may have records like these, so nothing less convinces. */
	patient = patient && !some_left_out;
	h->alike = false;
	h->crowded = crowd > CROWD_MAX;
	if (!h->crowded && any_eligible(t, h, NULL, false))
		bounds = malloc(CANDIDATES_MAX * sizeof(*bounds));
	found = bounds &&
		look_for(t, pool, h, patient, steps_of(crowd), bounds, &best, &contended) &&
		best.vote.votes && look_back(t, pool, h, patient, bounds, &best, &contended);
	free(bounds);
	if (!found || (some_left_out && best.by_pattern) ||
	    !convincing(&best, patient, contended) || !agreed(pool, h, patient, &best))
		return false;
	if (h->partner != best.other)
		topology_bind(t, host ? h : best.other, host ? best.other : h, best.link);
	*from = best.vote.best;
	offset_jumped(&best.link->offset, from);
	/* Bounds that many commands have narrowed are better than those of these few. */
	if (!best.link->offset.known || offset_loose(&best.link->offset, from->at))
		offset_set(&best.link->offset, &best.vote.best, best.vote.rate);
	return true;
}
