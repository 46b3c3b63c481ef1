// SPDX-License-Identifier: GPL-2.0-only
#include "merge/merge.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/segments.h"
#include "merge/align.h"
#include "merge/lookup.h"
#include "merge/offset.h"
#include "merge/pending.h"
#include "merge/topology.h"

struct merge {
	struct merge_callbacks callbacks;
	struct pending_pool pool;
	struct topology t;
	struct merge_strays strays;
	struct recurring recurring;
	bool in_round;		    /* try_some() has not tried all endpoints yet */
	unsigned int next_patient;  /* the one that it goes on with */
	unsigned int next_ended;    /* the same of merge_end_some() */
	unsigned int next_expiring; /* the one that merge_expire() goes on with */
};

/*
 * Decides whether counterparts of waiting records may still come. That depends on which streams
 * of the other side are there, and which have ended.
 */

/*
 * How much longer the record of a cancelled command waits for the target's record. The target's
 * tracer sends that record when it looks at the commands in flight and finds the connection closed.
 * The target may close the connection only when no Keep Alive has come for long: Keep Alive
 * Timeouts are mostly 5 s to 30 s.
 */
#define LIKELIHOOD_GIVEN_UP_NS 60000000000ULL

/**
 * likelihood_is_settled() - whether the endpoint has a partner and the offset of their clocks is
 * known, and so how far the partner's stream has come
 */
static inline bool likelihood_is_settled(const struct endpoint *h)
{
	return h->partner && h->link->offset.known;
}

/**
 * likelihood_has_passed() - whether the counterpart of a waiting record will not come any more
 * @t: topology
 * @h: the record's endpoint
 * @r: the record
 * @margin: nanoseconds by which the other stream has to have passed the end of the record, as
 *          records do not come exactly in order
 *
 * A record of the host is late when the target's stream has passed its end: the target has sent its
 * answer before that. The other way round nothing follows: an answer may take any time from the
 * target to the host's completion. Where the other stream has ended, the record's own stream has to
 * have gone on by @margin.
 */
static inline bool likelihood_has_passed(const struct topology *t, const struct endpoint *h,
					 const struct nt_record *r, uint64_t margin)
{
	uint64_t end = record_last_ns(r);

	if (h->over)
		return t->streams[h->stream].newest > end + margin;
	if (!likelihood_is_settled(h) || h->side != NT_HOST)
		return false;
	if (r->flags & NT_F_CANCELLED)
		margin += LIKELIHOOD_GIVEN_UP_NS;
	end += (uint64_t)h->link->offset.now.high;
	return t->streams[h->partner->stream].newest > end + margin;
}

/**
 * likelihood_stream_ends() - a stream has ended
 *
 * Return: false if it is not known, or had ended before.
 */
static bool likelihood_stream_ends(struct topology *t, unsigned int stream)
{
	struct topology_stream *s;

	if (stream >= t->nr_streams || !t->streams[stream].known || t->streams[stream].ended)
		return false;
	s = &t->streams[stream];
	s->ended = true;
	t->open[s->side]--;
	t->ended[s->side]++;
	t->changes++;
	return true;
}

/* Whether an endpoint other than the partner may have records of @h, now or later. */
static bool has_candidate(const struct topology *t, const struct endpoint *h)
{
	const struct endpoint *other = topology_alike(t, h);

	for (; other; other = other->next_alike) {
		if (other != h->partner && endpoint_compatible(h, other) &&
		    (other->pending.count || !t->streams[other->stream].ended))
			return true;
	}
	return false;
}

/**
 * likelihood_rate() - find out how likely it is that counterparts of an endpoint's records come,
 * and whether none can come any more
 */
static void likelihood_rate(const struct topology *t, struct endpoint *h)
{
	enum nt_side other = h->side == NT_HOST ? NT_TARGET : NT_HOST;
	bool ended = h->partner && t->streams[h->partner->stream].ended;
	/* Possible partners are known only when the controller has an id. */
	bool nameless = !topology_is_id(h->q.cntlid) && !t->streams[h->stream].ended;

	h->rated = t->changes;
	h->over = false;
	if (h->partner && !ended && h->link->offset.known) {
		h->likelihood = h->side == NT_HOST ? PENDING_AHEAD : PENDING_OWED;
	} else if ((h->partner && !ended) || nameless || has_candidate(t, h)) {
		h->likelihood = PENDING_STRANGE;
	} else {
		h->likelihood = PENDING_NOBODY;
		/*
		 * An open stream of the other side without queues may be that of a restarted
		 * tracer.
		 */
		h->over = t->ended[other] && (!t->open[other] || ended);
	}
}

/**
 * likelihood_has_expired() - likelihood_has_passed(), or the partner is not known and the record is
 * @age_ns old
 */
static bool likelihood_has_expired(const struct topology *t, const struct endpoint *h,
				   const struct nt_record *r, uint64_t age_ns)
{
	if (likelihood_is_settled(h) && !h->over && t->streams[h->partner->stream].newest)
		return likelihood_has_passed(t, h, r, age_ns);
	return t->streams[h->stream].newest > record_last_ns(r) + age_ns;
}

/* After this time an endpoint is matched with the records that there are. */
#define AGED_NS 500000000ULL
/* Next try after AGED_NS / 4, and four times that after each failed one if all look alike: 8 s. */
#define VAIN_MAX 3
/* Records that have to come between two tries, at most, where more and more wait for nothing. */
#define TRY_EVERY 16384
/* One match outweighs this many records without one: at a wrong offset, some match by chance. */
#define MATCH_COUNTS 4
/* A record this much behind others of its stream may be the first after its clock jumped back. */
#define LATE_NS 1000000

/* This many waiting records take some MiB. */
#define MUCH 16384

struct merge *merge_new(const struct merge_callbacks *callbacks)
{
	struct merge *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->callbacks = *callbacks;
	if (pending_init(&m->pool)) {
		merge_free(m);
		return NULL;
	}
	return m;
}

void merge_free(struct merge *m)
{
	if (!m)
		return;
	pending_free(&m->pool);
	topology_free(&m->t);
	free(m);
}

/* Updates the chance of the records that wait at @h. */
static void rate(struct merge *m, struct endpoint *h)
{
	enum pending_likelihood before = h->likelihood;

	if (h->rated == m->t.changes)
		return;
	likelihood_rate(&m->t, h);
	if (h->likelihood != before)
		pending_rate(&m->pool, &h->pending, h->likelihood);
}

static void is_matched(const struct merge *m, struct endpoint *h)
{
	h->waited = 0;
	h->next_try = 4;
	h->reconnected = false;
	h->matched_ns = m->t.streams[h->stream].newest;
}

static inline __attribute__((always_inline)) void deliver(struct merge *m, struct endpoint *h,
							  const struct nt_record *r,
							  const struct nt_record *other)
{
	struct merge_connection *c = h->connection ?: topology_connection(&m->t, h);

	for (unsigned int side = 0; side < NT_SIDES; side++)
		h->link->unmatched[side] -= h->link->unmatched[side] < MATCH_COUNTS
						    ? h->link->unmatched[side]
						    : MATCH_COUNTS;
	is_matched(m, h);
	is_matched(m, h->partner);
	if (!c) {
		m->strays.past_limits += 2;
		return;
	}
	c->matched++;
	c->offset_low = h->link->offset.now.low;
	c->offset_high = h->link->offset.now.high;
	c->offset_at_ns = h->link->offset.now.at;
	if (m->callbacks.matched)
		m->callbacks.matched(m->callbacks.context, c, h->side == NT_HOST ? r : other,
				     h->side == NT_HOST ? other : r);
}

/* A record whose counterpart will not come. */
static void single(struct merge *m, struct endpoint *h, const struct nt_record *r, bool ambiguous)
{
	struct merge_connection *c = topology_connection(&m->t, h);

	m->strays.in_crowd += h->crowded;
	if (!c) {
		m->strays.past_limits++;
		return;
	}
	if (!h->partner)
		(*(ambiguous ? &h->ambiguous : &h->only))++;
	if (ambiguous)
		c->ambiguous++;
	else if (h->side == NT_HOST)
		c->host_only++;
	else
		c->target_only++;
	if (m->callbacks.single)
		m->callbacks.single(m->callbacks.context, c, r, ambiguous);
}

/*
 * Looks for the counterpart of @r at the partner, and delivers both if exactly one fits. @unasked:
 * set if no record asks for the same. Return: the entry that was removed, 0 if none.
 */
static inline __attribute__((always_inline)) pending_id
match_now(struct merge *m, struct endpoint *h, const struct nt_record *r, uint64_t key,
	  bool even_if_loose, bool *unasked)
{
	const struct offset *o = &h->link->offset;
	struct offset then;
	struct lookup l;

	if (!o->known)
		return 0;
	if (offset_vague(o, endpoint_began_at(h, r, o))) {
		if (!recurring_recall(&m->recurring, h, r, key, even_if_loose, &then))
			return 0;
		o = &then;
	}
	lookup_partner(&m->pool, h, r, key, o, &l);
	*unasked = !l.any;
	if (l.nr > 1)
		lookup_doubt(&m->pool, &m->t, h, r, key, false);
	if (l.nr != 1 || !recurring_is_certain(&m->recurring, &m->pool, h, r, 0, key, o, l.id))
		return 0;
	pending_remove(&m->pool, &h->partner->pending, l.id);
	offset_learn(&h->link->offset, &l.bounds);
	/* It stays readable: nothing is added meanwhile. */
	deliver(m, h, r, &pending_get(&m->pool, l.id)->r);
	if (offset_is_refuted(&h->link->offset))
		topology_forget_offset(&m->t, h->link);
	return l.id;
}

static __attribute__((noinline)) pending_id match(struct merge *m, struct endpoint *h,
						  const struct nt_record *r, uint64_t key,
						  bool even_if_loose, bool *unasked)
{
	return match_now(m, h, r, key, even_if_loose, unasked);
}

/*
 * Removes a waiting record for good, with its counterpart if that is found now. Return: the entry
 * of the other endpoint, 0 if none.
 */
static pending_id give_up(struct merge *m, pending_id id)
{
	struct pending *e = pending_get(&m->pool, id);
	struct endpoint *h = e->owner;
	/* Both stay readable: nothing is added meanwhile. */
	const struct nt_record *r = &e->r;
	bool doubtful = pending_is_doubtful(&m->pool, e);
	bool unasked = h->partner && !endpoint_partner_waits(h);
	pending_id other = 0;

	pending_remove(&m->pool, &h->pending, id);
	if (endpoint_partner_waits(h) && !e->forsaken)
		other = match(m, h, r, e->key, true, &unasked);
	if (!other)
		single(m, h, r,
		       (!unasked && lookup_doubt(&m->pool, &m->t, h, r, e->key, true)) || doubtful);
	return other;
}

static void drop_passed(struct merge *m, struct endpoint *h)
{
	while (h->pending.first &&
	       likelihood_has_passed(&m->t, h, &pending_get(&m->pool, h->pending.first)->r,
				     PASSED_NS)) {
		give_up(m, h->pending.first);
		pending_expect_removal(&m->pool, h->pending.first);
	}
}

/*
 * @h is a host's endpoint. The host does not reuse a tag before the command that had it is
 * completed. So if the target's record with the tag of @r is older, its host's record should be
 * here by now. The target's record is given up after the time by which records may be out of order.
 */
static void drop_reused(struct merge *m, struct endpoint *h, const struct nt_record *r)
{
	uint64_t newest = m->t.streams[h->stream].newest;
	pending_id id, next;
	uint64_t began;

	if (!likelihood_is_settled(h) || !pending_tag(&m->pool, h->partner, r->cid))
		return;
	began = endpoint_began_at(h, r, &h->link->offset);
	began += (uint64_t)offset_at(&h->link->offset, began).low;
	pending_tag_reused(&m->pool, h->partner, r->cid, began, newest);
	for (id = pending_tag(&m->pool, h->partner, r->cid); id; id = next) {
		struct pending *e = pending_get(&m->pool, id);

		next = e->next_tag;
		if (!pending_has_tag(e, h->partner, r->cid))
			continue;
		/* Entries behind this one were marked later still. */
		if (!e->reused_ns || newest <= e->reused_ns + PASSED_NS)
			return;
		/* The other endpoint that is removed, too, may be the next entry. */
		if (give_up(m, id) == next)
			return;
	}
}

/* Matches a waiting record by an offset that follows the records, forwards or @back in time. */
static void settle_one(struct merge *m, struct endpoint *h, pending_id id, struct offset *o,
		       bool back)
{
	const struct pending *e = pending_get(&m->pool, id);
	struct nt_record r = e->r, other;
	uint64_t key = e->key;
	struct lookup l;

	if (!endpoint_partner_waits(h) || e->forsaken ||
	    offset_vague(o, endpoint_began_at(h, &r, o)))
		return;
	lookup_partner(&m->pool, h, &r, key, o, &l);
	if (l.nr > 1)
		lookup_doubt(&m->pool, &m->t, h, &r, key, false);
	if (l.nr != 1 || !recurring_is_certain(&m->recurring, &m->pool, h, &r, id, key, o, l.id))
		return;
	other = pending_get(&m->pool, l.id)->r;
	pending_remove(&m->pool, &h->partner->pending, l.id);
	pending_remove(&m->pool, &h->pending, id);
	if (back) {
		offset_learn_back(o, &l.bounds);
	} else {
		offset_learn(o, &l.bounds);
		offset_learn(&h->link->offset, &l.bounds);
	}
	deliver(m, h, &r, &other);
}

/* Matches the records that wait at @h: from @from on, and then back from there to the first. */
static void settle(struct merge *m, struct endpoint *h, const struct offset_bounds *from)
{
	struct offset then, back;
	pending_id id, next, middle;

	offset_then(&h->link->offset, from->at, &then);
	if (offset_vague(&then, from->at))
		offset_set(&then, from, then.rate);
	back = then;
	for (middle = h->pending.first; middle; middle = pending_get(&m->pool, middle)->next) {
		if (endpoint_began_at(h, &pending_get(&m->pool, middle)->r, &then) >= from->at)
			break;
	}
	/* A matched entry is free: its links must not be read afterwards. */
	next = middle ? pending_get(&m->pool, middle)->previous : h->pending.last;
	for (id = middle; id; id = middle) {
		middle = pending_get(&m->pool, id)->next;
		settle_one(m, h, id, &then, false);
	}
	for (id = next; id; id = next) {
		next = pending_get(&m->pool, id)->previous;
		settle_one(m, h, id, &back, true);
	}
}

/* Whether the oldest record of @h has waited for long, by the clock of its own stream. */
static bool aged(const struct merge *m, const struct endpoint *h)
{
	uint64_t newest = m->t.streams[h->stream].newest;

	return h->pending.first && newest >= h->aged_try &&
	       newest > record_last_ns(&pending_get(&m->pool, h->pending.first)->r) + AGED_NS;
}

static __attribute__((noinline)) void try_align(struct merge *m, struct endpoint *h, bool patient)
{
	uint64_t newest = m->t.streams[h->stream].newest;
	struct offset_bounds from;

	/* Records that have expired are given up only after a patient try. */
	if (patient)
		h->aged_try = newest + (AGED_NS / 4 << 2 * h->vain);

	/* Partners with a well known offset need no search as long as they are partners. */
	if (h->partner && h->link->offset.known && !align_possible(&m->t, h, h->partner, false) &&
	    !offset_loose(&h->link->offset,
			  endpoint_began_at(h, &pending_get(&m->pool, h->pending.last)->r,
					    &h->link->offset)))
		return;
	if (!align_endpoint(&m->t, &m->pool, h, patient, &from)) {
		h->vain = h->alike && h->vain < VAIN_MAX ? h->vain + 1 : h->vain;
		return;
	}
	h->vain = 0;
	h->link->unmatched[NT_HOST] = 0;
	h->link->unmatched[NT_TARGET] = 0;
	m->t.changes++;
	rate(m, h);
	rate(m, h->partner);
	settle(m, h, &from);
}

/* The most records that may wait: more where there are many queues. */
static uint32_t room_of(const struct merge *m)
{
	uint32_t room = PENDING_PER_ENDPOINT * m->t.nr_endpoints;

	if (room < PENDING_MAX)
		return PENDING_MAX;
	return room < PENDING_POOL_MAX ? room : PENDING_POOL_MAX;
}

/*
 * Gives up the oldest record of those with the least chance, and its counterpart if that is found
 * now. Before, its endpoint looks for a partner: with few records it needs offsets that others have
 * found.
 */
static __attribute__((noinline)) void make_room(struct merge *m)
{
	struct endpoint *h = pending_get(&m->pool, pending_least(&m->pool))->owner;
	uint64_t newest = m->t.streams[h->stream].newest;

	if (!h->partner && newest >= h->aged_try) {
		h->aged_try = newest + AGED_NS / 4;
		if (align_possible(&m->t, h, NULL, true))
			try_align(m, h, true);
	}
	if (m->pool.count >= room_of(m)) {
		m->strays.crowded_out++;
		give_up(m, pending_least(&m->pool));
		pending_expect_removal(&m->pool, pending_least(&m->pool));
	}
}

static __attribute__((noinline)) void wait_for_other(struct merge *m, struct endpoint *h,
						     const struct nt_record *r, uint64_t key)
{
	if (m->pool.count >= room_of(m))
		make_room(m);
	rate(m, h);
	pending_add(&m->pool, &h->pending, h, r, key, h->likelihood);
	h->waited++;
	if (h->link) {
		struct link *l = h->link;

		l->unmatched[h->side]++;
		if (l->offset.known && l->unmatched[NT_HOST] > LOST_AFTER &&
		    l->unmatched[NT_TARGET] > LOST_AFTER)
			topology_forget_offset(&m->t, l);
	}
	if (h->waited >= h->next_try) {
		try_align(m, h, false);
		if (h->waited < h->next_try)
			return;
		/* After a failed search in many records, wait for twice as many. */
		h->next_try =
			h->waited + (h->waited < TRY_EVERY || h->alike ? h->waited : TRY_EVERY);
	} else if (h->partner && h->link->offset.known && aged(m, h)) {
		try_align(m, h, true);
	}
}

static void try_one_patiently(struct merge *m, struct endpoint *h)
{
	if (h->pending.count)
		try_align(m, h, true);
}

static void try_patiently(struct merge *m)
{
	for (unsigned int i = 0; i < m->t.nr_endpoints; i++)
		try_one_patiently(m, m->t.endpoints[i]);
}

/* Endpoints that are tried with each queue: with all at once, a queue took seconds. */
#define TRIED_WITH_A_QUEUE 64

/* Goes on with a round of patient tries, of all endpoints there are, and sweeps after it. */
static void try_some(struct merge *m)
{
	unsigned int until = m->next_patient + TRIED_WITH_A_QUEUE;

	for (; m->next_patient < m->t.nr_endpoints && m->next_patient < until; m->next_patient++)
		try_one_patiently(m, m->t.endpoints[m->next_patient]);
	if (m->next_patient < m->t.nr_endpoints)
		return;
	topology_sweep(&m->t);
	m->in_round = false;
}

int merge_queue(struct merge *m, unsigned int stream, enum nt_side side, const struct queue_info *q)
{
	if (!m->in_round && topology_is_crowded(&m->t)) {
		m->in_round = true;
		m->next_patient = 0;
	}
	if (m->in_round)
		try_some(m);
	return topology_queue(&m->t, stream, side, q);
}

int merge_record(struct merge *m, unsigned int stream, const struct nt_record *r)
{
	struct endpoint *h = topology_endpoint(&m->t, stream, r);
	uint64_t end = record_last_ns(r), key;
	bool unasked, late;

	if (!h) {
		(*(topology_left_out(&m->t, stream) ? &m->strays.past_limits
						    : &m->strays.records))++;
		return 0;
	}
	late = end + LATE_NS < m->t.streams[stream].newest;
	topology_take_time(&m->t.streams[stream], end);
	/* A target records NVMe/TCP alone: there is no other half to wait for. */
	if (h->q.transport != NT_TRANSPORT_TCP) {
		single(m, h, r, false);
		return 0;
	}
	/* No controller id in the key: it may become known later, and partners share it anyway. */
	key = pending_key(r, 0, h->q.qid);
	recurring_note(&m->recurring, h, r, key);
	/* If few records wait, all of them are in the cache. */
	if (m->pool.count > MUCH) {
		pending_expect(&m->pool, key, h);
		if (endpoint_partner_waits(h))
			pending_expect(&m->pool, key, h->partner);
	}
	if (!endpoint_partner_waits(h) || (late && recurring_recurs(&m->recurring, h, key)) ||
	    !match_now(m, h, r, key, false, &unasked))
		wait_for_other(m, h, r, key);
	if (h->side == NT_HOST || h->over)
		drop_passed(m, h);
	if (h->side == NT_HOST && endpoint_partner_waits(h))
		drop_reused(m, h, r);
	return 0;
}

uint64_t merge_pending(const struct merge *m)
{
	return m->pool.count;
}

void merge_clock(struct merge *m, unsigned int stream, const char *boot_id,
		 const struct instant *now)
{
	topology_clock(&m->t, stream, boot_id, now);
}

/* Whether the counterpart of the oldest record of @h is no longer expected. */
static bool has_expired(const struct merge *m, const struct endpoint *h, uint64_t age_ns)
{
	return h->pending.first &&
	       likelihood_has_expired(&m->t, h, &pending_get(&m->pool, h->pending.first)->r,
				      age_ns);
}

/*
 * What a turn does at most. A try takes tens of milliseconds where thousands of queues look alike.
 */
#define TURN_TRIES 1
#define TURN_RECORDS 4096

/* Gives up the oldest record of @h, if some are @left; Return: false if none is. */
static bool give_up_one(struct merge *m, struct endpoint *h, unsigned int *left)
{
	if (!*left)
		return false;
	--*left;
	give_up(m, h->pending.first);
	pending_expect_removal(&m->pool, h->pending.first);
	return true;
}

bool merge_expire(struct merge *m, uint64_t age_ns)
{
	unsigned int tries = TURN_TRIES, records = TURN_RECORDS;

	/* All endpoints try first: offsets that large connections find help the small ones. */
	for (; m->next_expiring < m->t.nr_endpoints; m->next_expiring++) {
		struct endpoint *h = m->t.endpoints[m->next_expiring];

		h->expiring = has_expired(m, h, age_ns);
		if (!h->expiring || m->t.streams[h->stream].newest < h->aged_try)
			continue;
		if (!tries--)
			return true;
		try_align(m, h, true);
	}
	for (unsigned int i = 0; i < m->t.nr_endpoints; i++) {
		struct endpoint *h = m->t.endpoints[i];

		while (h->expiring && has_expired(m, h, age_ns))
			if (!give_up_one(m, h, &records))
				return true;
		h->expiring = false;
	}
	m->next_expiring = 0;
	return false;
}

int merge_stream(struct merge *m, unsigned int stream, enum nt_side side)
{
	return topology_stream_begins(&m->t, stream, side);
}

bool merge_end_some(struct merge *m, unsigned int stream)
{
	unsigned int tries = TURN_TRIES, records = TURN_RECORDS;

	if (likelihood_stream_ends(&m->t, stream))
		m->next_ended = 0;
	for (; m->next_ended < m->t.nr_endpoints; m->next_ended++) {
		struct endpoint *h = m->t.endpoints[m->next_ended];

		rate(m, h);
		if (h->over && h->pending.count && !h->ending) {
			if (!tries--)
				return true;
			h->ending = true;
			try_align(m, h, true);
		}
		while (h->over && h->pending.first)
			if (!give_up_one(m, h, &records))
				return true;
		h->ending = false;
	}
	m->next_ended = 0;
	return false;
}

bool merge_restart(struct merge *m, unsigned int stream)
{
	unsigned int records = TURN_RECORDS;

	for (unsigned int i = 0; i < m->t.nr_endpoints; i++) {
		struct endpoint *h = m->t.endpoints[i];

		while (h->stream == stream && h->pending.first)
			if (!give_up_one(m, h, &records))
				return true;
	}
	topology_stream_restart(&m->t, stream);
	return false;
}

void merge_finish(struct merge *m)
{
	/* Twice: offsets that large connections find help the small ones. */
	try_patiently(m);
	try_patiently(m);
	for (unsigned int i = 0; i < m->t.nr_endpoints; i++) {
		while (m->t.endpoints[i]->pending.first)
			give_up(m, m->t.endpoints[i]->pending.first);
	}
}

const struct merge_strays *merge_strays(const struct merge *m)
{
	return &m->strays;
}

unsigned int merge_connections(const struct merge *m)
{
	return m->t.known.nr;
}

const struct merge_connection *merge_connection(const struct merge *m, unsigned int i)
{
	struct merge_connection *c;
	const struct link *l;

	if (i >= m->t.known.nr)
		return NULL;
	c = &m->t.known.all[i]->c;
	l = topology_link_of(&m->t, c->host_stream, c->target_stream);
	if (l) {
		c->drift_ppm = offset_drift_ppm(&l->offset);
		c->jumps = l->offset.jumps;
	}
	return c;
}
