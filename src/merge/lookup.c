// SPDX-License-Identifier: GPL-2.0-only
#include "merge/lookup.h"

static enum nt_side other_side(enum nt_side side)
{
	return side == NT_HOST ? NT_TARGET : NT_HOST;
}

/* What a record of @side and one of the other say of the offset, if they can be one command. */
static bool pair_bounds(enum nt_side side, const struct nt_record *r, const struct pending *p,
			struct offset_bounds *b)
{
	if (!pending_same(&p->r, r))
		return false;
	return side == NT_HOST ? offset_bounds(r, &p->r, b) : offset_bounds(&p->r, r, b);
}

void lookup_partner(const struct pending_pool *pool, const struct half *h,
		    const struct nt_record *r, uint64_t key, const struct offset *o,
		    struct lookup *l)
{
	pending_id id;

	l->nr = 0;
	for (id = pending_alike_of(pool, key, other_side(h->side)); id;
	     id = pending_get(pool, id)->next_alike) {
		const struct pending *p = pending_get(pool, id);
		struct offset_bounds b;

		if (p->owner != h->partner || !pair_bounds(h->side, r, p, &b) ||
		    !offset_fits(o, &b))
			continue;
		l->id = id;
		l->bounds = b;
		l->nr++;
	}
}

unsigned int lookup_doubt(struct pending_pool *pool, const struct half *h,
			  const struct nt_record *r, uint64_t key)
{
	unsigned int nr = 0;
	pending_id id;

	for (id = pending_alike_of(pool, key, other_side(h->side)); id;
	     id = pending_get(pool, id)->next_alike) {
		struct pending *p = pending_get(pool, id);
		const struct half *o = p->owner;
		struct offset_bounds b;

		if (h->partner ? o != h->partner : o->partner || !half_compatible(h, o))
			continue;
		if (pair_bounds(h->side, r, p, &b) &&
		    (!h->link || offset_fits(&h->link->offset, &b))) {
			p->doubtful = true;
			nr++;
		}
	}
	return nr;
}

size_t lookup_candidates(const struct pending_pool *pool, pending_id id, const struct half *other,
			 const struct offset *prior, struct offset_bounds *b, size_t nr, size_t max)
{
	const struct pending *e = pending_get(pool, id);
	enum nt_side side = other_side(other->side);
	pending_id c;

	for (c = pending_alike_of(pool, e->key, other->side); c && nr < max;
	     c = pending_get(pool, c)->next_alike) {
		const struct pending *p = pending_get(pool, c);

		if (p->owner != other || !pair_bounds(side, &e->r, p, &b[nr]))
			continue;
		if (!prior->known || offset_fits(prior, &b[nr]))
			nr++;
	}
	return nr;
}
