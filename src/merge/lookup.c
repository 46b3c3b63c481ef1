// SPDX-License-Identifier: GPL-2.0-only
#include "merge/lookup.h"

#include "core/hash.h"
#include "merge/pending.h"

/*
 * The most matches of one record that are marked as doubtful; also the most records that are tried
 * where no time is known.
 */
#define DOUBTED_MAX 64
/*
 * The most records that are tried for one record, whether they match or not. A command id is used
 * for one command at a time, so hardly more than one can be in a window. If there are more, the
 * stream is wrong, and it is not known which one matches.
 */
#define TRIED_MAX 256
/*
 * The most endpoints of one stream that are asked for one record of a queue without a partner. With
 * more, the merge cannot tell them apart, and looks for no partner among them (merge/align.c). A
 * stream may have many that are not compatible, and the host may have many such records.
 */
#define ALIKE_TRIED_MAX 64

/*
 * Computes the bounds of the offset from a record of @side and one of the other side. Return: false
 * if they cannot be one command.
 */
static inline __attribute__((always_inline)) bool pair_bounds(enum nt_side side,
							      const struct nt_record *r,
							      const struct pending *p, double rate,
							      struct offset_bounds *b)
{
	if (!pending_same(&p->r, r))
		return false;
	return side == NT_HOST ? offset_bounds(r, &p->r, rate, b)
			       : offset_bounds(&p->r, r, rate, b);
}

/*
 * The other side's records of a group that may agree with an offset, from the newest on. A command
 * arrives after it was sent. As a tag is used for one command at a time, of the host's records of
 * one tag those that began earlier also ended earlier.
 */
struct window {
	const struct pending_pool *pool;
	enum nt_side side; /* of the record */
	uint64_t oldest;   /* target's records that began before this do not agree */
	uint64_t until;	   /* host's records that ended before this do not agree */
	double rate;	   /* at which the offset changes */
};

static uint64_t minus(uint64_t ns, int64_t less)
{
	return ns - (uint64_t)less;
}

/* The most by which the offset changes. */
static int64_t moves(double rate, uint64_t from, uint64_t until)
{
	int64_t gained = offset_gained(rate, from, until);

	return offset_drift_ns(until - from) + (gained < 0 ? -gained : gained);
}

static bool before(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0;
}

/* Return: @id if it is still in the window, else 0. */
static pending_id window_check(const struct window *w, pending_id id)
{
	const struct pending *p = pending_get(w->pool, id);

	if (!id)
		return 0;
	if (w->side == NT_HOST)
		return before(p->from_ns, w->oldest) ? 0 : id;
	/* A target may go on with a command that the host gave up. */
	if (p->r.flags & NT_F_CANCELLED)
		return id;
	return before(offset_until(&p->r),
		      w->until - (uint64_t)moves(w->rate, p->from_ns, offset_until(&p->r)))
		       ? 0
		       : id;
}

/*
 * Return: whether the window may have any record; @newest: the latest beginning of a record in it
 */
static bool window_set(struct window *w, const struct pending_pool *pool, enum nt_side side,
		       const struct nt_record *r, const struct offset *o, uint64_t *newest)
{
	uint64_t from = offset_from(r), until = offset_until(r);
	int64_t slack = OFFSET_SLACK_NS + moves(o->rate, from, until);
	struct offset_bounds now;

	*w = (struct window){.pool = pool, .side = side, .rate = o->rate};
	if (!from || !until)
		return false;
	if (side == NT_HOST) {
		now = offset_at(o, from);
		w->oldest = minus(from, -now.low + slack);
		*newest = minus(until, -now.high - slack);
	} else {
		now = offset_at(o, minus(from, o->now.low));
		*newest = minus(from, now.low - slack);
		w->until = minus(until, now.high + slack);
	}
	return true;
}

static pending_id window_open(struct window *w, const struct pending_pool *pool, enum nt_side side,
			      const struct nt_record *r, const struct offset *o,
			      struct pending_group *g)
{
	uint64_t newest;

	if (!window_set(w, pool, side, r, o, &newest))
		return 0;
	return window_check(w, pending_seek(pool, g, newest));
}

/* The same for a key with a single entry. */
static __attribute__((noinline)) pending_id
window_only(struct window *w, const struct pending_pool *pool, enum nt_side side,
	    const struct nt_record *r, const struct offset *o, pending_id id)
{
	uint64_t newest;

	if (!window_set(w, pool, side, r, o, &newest) ||
	    before(newest, pending_get(pool, id)->from_ns))
		return 0;
	return window_check(w, id);
}

static pending_id window_next(const struct window *w, pending_id id)
{
	return window_check(w, pending_get(w->pool, id)->older_alike);
}

/*
 * Whether a pair agrees with the offset as it was when it was last narrowed. The clocks may have
 * drifted since, so other pairs may agree, too. But a pair that agrees here would pass the window
 * and offset_fits() as well, so these need not be asked.
 */
static bool agrees_at_once(const struct offset *o, enum nt_side side, const struct nt_record *r,
			   const struct pending *p, const struct offset_bounds *b)
{
	const struct offset_bounds *now = &o->now;
	int64_t sent, answered;

	if (side == NT_HOST) {
		sent = (int64_t)(p->from_ns - b->at);
		answered = (int64_t)(p->from_ns - offset_until(r));
	} else {
		sent = (int64_t)(offset_from(r) - b->at);
		answered = (int64_t)(offset_until(r) - offset_until(&p->r));
	}
	return o->rate == 0 && sent >= now->low && answered <= now->high && b->high >= now->low &&
	       b->low <= now->high;
}

/* For a key with a single entry. */
static void lookup_only(const struct pending_pool *pool, const struct endpoint *h,
			const struct nt_record *r, const struct offset *o, pending_id id,
			struct lookup *l)
{
	const struct pending *p = pending_get(pool, id);
	struct window w;

	if (!pair_bounds(h->side, r, p, o->rate, &l->bounds))
		return;
	if (!agrees_at_once(o, h->side, r, p, &l->bounds) &&
	    (!window_only(&w, pool, h->side, r, o, id) || !offset_fits(o, &l->bounds)))
		return;
	l->id = id;
	l->nr = 1;
}

/* For a key with several entries. */
static __attribute__((noinline)) void
lookup_group(const struct pending_pool *pool, const struct endpoint *h, const struct nt_record *r,
	     const struct offset *o, struct pending_group *g, struct lookup *l)
{
	struct window w;
	pending_id id = window_open(&w, pool, h->side, r, o, g);
	unsigned int tried = 0;

	for (; id && l->nr < 2; id = window_next(&w, id)) {
		struct offset_bounds b;

		if (tried++ == TRIED_MAX) {
			l->nr = 2;
			return;
		}
		if (!pair_bounds(h->side, r, pending_get(pool, id), o->rate, &b) ||
		    !offset_fits(o, &b))
			continue;
		l->id = id;
		l->bounds = b;
		l->nr++;
	}
}

void lookup_partner(const struct pending_pool *pool, const struct endpoint *h,
		    const struct nt_record *r, uint64_t key, const struct offset *o,
		    struct lookup *l)
{
	struct pending_found f = pending_find(pool, key, h->partner);

	l->nr = 0;
	l->any = f.group || f.only;
	if (f.only)
		lookup_only(pool, h, r, o, f.only, l);
	else if (f.group)
		lookup_group(pool, h, r, o, f.group, l);
}

/* For a group without a known offset: if one record matches, all count as matches. */
static bool doubt_all(struct pending_pool *pool, enum nt_side side, const struct nt_record *r,
		      struct pending_group *g)
{
	pending_id id = g->newest;

	for (unsigned int i = 0; id && i < DOUBTED_MAX; i++) {
		struct offset_bounds b;

		if (pair_bounds(side, r, pending_get(pool, id), 0, &b)) {
			pending_doubt_all(pool, g);
			return true;
		}
		id = pending_get(pool, id)->older_alike;
	}
	return false;
}

static bool doubt_partner(struct pending_pool *pool, const struct endpoint *h,
			  const struct nt_record *r, struct pending_group *g, bool given_up)
{
	const struct offset *o = &h->link->offset;
	struct window w;
	unsigned int nr = 0, tried = 0;
	pending_id id;

	if (!o->known)
		return doubt_all(pool, h->side, r, g);
	id = window_open(&w, pool, h->side, r, o, g);
	for (; id && nr < DOUBTED_MAX; id = window_next(&w, id)) {
		struct pending *p = pending_get(pool, id);
		struct offset_bounds b;

		if (tried++ == TRIED_MAX)
			return true;
		if (pair_bounds(h->side, r, p, o->rate, &b) && offset_fits(o, &b)) {
			p->doubtful = true;
			p->forsaken |= given_up;
			nr++;
		}
	}
	return nr;
}

/* lookup_doubt() at one endpoint, which may be the partner */
static bool doubt_at(struct pending_pool *pool, const struct endpoint *h,
		     const struct endpoint *other, const struct nt_record *r, uint64_t key,
		     bool given_up)
{
	struct pending_group *g = other->pending.count ? pending_alike(pool, key, other) : NULL;

	if (!g)
		return false;
	return h->partner ? doubt_partner(pool, h, r, g, given_up) : doubt_all(pool, h->side, r, g);
}

bool lookup_doubt(struct pending_pool *pool, const struct topology *t, const struct endpoint *h,
		  const struct nt_record *r, uint64_t key, bool given_up)
{
	const struct endpoint *first = h->partner ? NULL : topology_alike(t, h);
	bool any = h->partner && doubt_at(pool, h, h->partner, r, key, given_up);

	for (; first; first = first->next_stream) {
		const struct endpoint *other = first;

		for (unsigned int tried = 0;
		     other && other->stream == first->stream && tried < ALIKE_TRIED_MAX;
		     other = other->next_alike, tried++)
			if (!other->partner && endpoint_compatible(h, other) &&
			    doubt_at(pool, h, other, r, key, given_up))
				any = true;
	}
	return any;
}

size_t lookup_candidates(const struct pending_pool *pool, pending_id id,
			 const struct endpoint *other, const struct offset *prior,
			 struct offset_bounds *b, size_t nr, size_t max)
{
	const struct pending *e = pending_get(pool, id);
	enum nt_side side = other->side == NT_HOST ? NT_TARGET : NT_HOST;
	struct pending_group *g = pending_alike(pool, e->key, other);
	struct window w;
	pending_id c = 0;

	if (g)
		c = prior->known ? window_open(&w, pool, side, &e->r, prior, g) : g->newest;
	for (unsigned int tried = 0; c && nr < max && tried < TRIED_MAX; tried++) {
		const struct pending *p = pending_get(pool, c);

		if (pair_bounds(side, &e->r, p, prior->rate, &b[nr]) &&
		    (!prior->known || offset_fits(prior, &b[nr])))
			nr++;
		c = prior->known ? window_next(&w, c) : p->older_alike;
	}
	return nr;
}

/* Marks a key that has come again, in the low bit of its hash. */
#define AGAIN 1U

/* A command id does not come again within this many commands. */
#define FEW 8

/*
 * The least time from a command of one connection to that of the next with the same id: meanwhile a
 * controller is deleted, and another one connects.
 */
#define CONNECT_NS 1000000

/*
 * Whether the command ids of a connection are only tags, as far as it shows: before Linux 5.15, of
 * other initiators, and where no tag has been used again.
 */
static bool has_old_ids(const struct endpoint *h)
{
	return !((h->cids | h->partner->cids) & ~PENDING_TAG_MASK);
}

/*
 * Uses the endpoint's number, not its address: matching depends on the hash and has to be the same
 * in every run.
 */
static uint64_t hash_of(const struct endpoint *h, uint64_t key)
{
	return hash_two(key, h->number);
}

static uint64_t place_of(uint64_t hash)
{
	return hash >> 32 & (RECURRING_MAX - 1);
}

void recurring_note(struct recurring *c, struct endpoint *h, const struct nt_record *r,
		    uint64_t key)
{
	uint64_t hash = hash_of(h, key);
	uint32_t low = (uint32_t)hash, *recent = &c->recent[place_of(hash)];

	h->cids |= r->cid;
	if (h->link && h->side == NT_HOST)
		h->link->cids |= h->cids;
	*recent = (low & ~AGAIN) | ((*recent | AGAIN) == (low | AGAIN));
}

static bool has_recurred(const struct recurring *c, const struct endpoint *h, uint64_t key)
{
	uint64_t hash = hash_of(h, key);

	return c->recent[place_of(hash)] == ((uint32_t)hash | AGAIN);
}

bool recurring_recurs(const struct recurring *c, const struct endpoint *h, uint64_t key)
{
	return has_recurred(c, h, key) || has_recurred(c, h->partner, key);
}

bool recurring_is_certain(const struct recurring *c, const struct pending_pool *pool,
			  const struct endpoint *h, const struct nt_record *r, pending_id self,
			  uint64_t key, const struct offset *o, pending_id id)
{
	const struct nt_record *other = &pending_get(pool, id)->r;
	const struct nt_record *host = h->side == NT_HOST ? r : other;
	const struct nt_record *target = h->side == NT_HOST ? other : r;
	int64_t between = -OFFSET_CROSSED_NS;
	struct offset_bounds now;
	struct lookup back;

	if (pending_get(pool, id)->forsaken)
		return false;
	if (!recurring_recurs(c, h, key))
		return true;
	lookup_partner(pool, h->partner, other, key, o, &back);
	if (back.nr > 1 || (back.nr == 1 && back.id != self))
		return false;
	if (h->link->unmatched[NT_HOST] >= FEW && h->link->unmatched[NT_TARGET] >= FEW)
		return false;
	if (!has_old_ids(h))
		return true;
	if (h->link->cids & ~PENDING_TAG_MASK)
		between = CONNECT_NS;
	now = offset_at(o, offset_from(host));
	return (int64_t)(offset_until(target) - offset_from(host)) > now.high - between &&
	       (int64_t)(offset_from(target) - offset_until(host)) < now.low + between;
}

__attribute__((noinline)) bool recurring_recall(const struct recurring *c, const struct endpoint *h,
						const struct nt_record *r, uint64_t key,
						bool even_if_loose, struct offset *then)
{
	const struct link *l = h->link;
	uint64_t at = endpoint_began_at(h, r, &l->offset), lasts = offset_until(r) - offset_from(r);
	bool later = at > l->offset.now.at;

	offset_then(&l->offset, at, then);
	if (later && l->unmatched[NT_HOST] < FEW && l->unmatched[NT_TARGET] < FEW)
		return true;
	if (later && !even_if_loose)
		return false;
	return !offset_vague(then, at) || has_old_ids(h) || !recurring_recurs(c, h, key) ||
	       (uint64_t)offset_drift_ns(offset_apart(at, then->now.at)) <= 2 * lasts;
}
