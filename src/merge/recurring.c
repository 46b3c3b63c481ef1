// SPDX-License-Identifier: GPL-2.0-only
#include "merge/recurring.h"

#include "core/hash.h"
#include "merge/lookup.h"
#include "merge/pending.h"

/* Marks a key that has come again, in the low bit of its hash. */
#define AGAIN 1U

/* A command id does not come again within this many commands. */
#define FEW 8

/*
 * Whether the command ids of a connection are only tags: before Linux 5.15, and of other
 * initiators.
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
	now = offset_at(o, offset_from(host));
	return (int64_t)(offset_until(target) - offset_from(host)) > now.high + OFFSET_CROSSED_NS &&
	       (int64_t)(offset_from(target) - offset_until(host)) < now.low - OFFSET_CROSSED_NS;
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
