// SPDX-License-Identifier: GPL-2.0-only
#include "merge/topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/group.h"
#include "core/hash.h"

static uint64_t hash_of_queue(const struct merge_connection *c)
{
	uint64_t streams = (uint64_t)c->host_stream << 32 | c->target_stream;
	uint64_t queue = (uint64_t)c->host_instance << 16 | c->qid;

	return hash_text(hash_two(streams, queue) ^ hash_secret[0], c->subsysnqn);
}

static struct known_entry **known_bucket(struct known *k, const struct merge_connection *c)
{
	return &k->bucket[hash_pair(hash_of_queue(c), c->cntlid) % KNOWN_BUCKETS];
}

static bool same_queue(const struct merge_connection *a, const struct merge_connection *b)
{
	return a->host_stream == b->host_stream && a->target_stream == b->target_stream &&
	       a->qid == b->qid && a->host_instance == b->host_instance &&
	       !strcmp(a->subsysnqn, b->subsysnqn);
}

/* Return: what leads to the newest connection of a queue, or to NULL. */
static struct known_entry **newest_of(struct known *k, const struct merge_connection *like)
{
	struct known_entry **at = &k->queue[hash_pair(hash_of_queue(like), 0) % KNOWN_BUCKETS];

	while (*at && !same_queue(&(*at)->c, like))
		at = &(*at)->next_queue;
	return at;
}

/*
 * Finds a connection. If the queue has as many connections as it may have, the newest one takes
 * over the new controller id.
 */
static struct merge_connection *find(struct known *k, const struct merge_connection *like,
				     unsigned int max)
{
	unsigned int most = k->nr < max / 2 ? KNOWN_PER_QUEUE : 1;
	struct known_entry *e = *known_bucket(k, like), *newest, **at;

	while (e && !(e->c.cntlid == like->cntlid && same_queue(&e->c, like)))
		e = e->next;
	if (e)
		return &e->c;
	newest = *newest_of(k, like);
	/* Without a host's instance the connections may be of several controllers. */
	if (!newest || newest->nr < most || (like->host_stream == MERGE_NO_STREAM && most > 1))
		return NULL;
	at = known_bucket(k, &newest->c);
	while (*at != newest)
		at = &(*at)->next;
	*at = newest->next;
	newest->c.cntlid = like->cntlid;
	at = known_bucket(k, &newest->c);
	newest->next = *at;
	*at = newest;
	return &newest->c;
}

static struct merge_connection *make(struct known *k, const struct merge_connection *like,
				     unsigned int max)
{
	struct known_entry *e, **bucket = known_bucket(k, like), **newest = newest_of(k, like);

	if (k->nr >= max)
		return NULL;
	e = ARRAY_MAKE(k->all, k->nr, k->nr, sizeof(*e));
	if (!e)
		return NULL;
	e->c = *like;
	e->c.index = k->nr - 1;
	e->next = *bucket;
	*bucket = e;
	e->nr = *newest ? (*newest)->nr + 1 : 1;
	e->next_queue = *newest ? (*newest)->next_queue : NULL;
	*newest = e;
	return &e->c;
}

struct merge_connection *known_get(struct known *k, const struct merge_connection *like,
				   unsigned int max)
{
	return find(k, like, max) ?: make(k, like, max);
}

void known_free(struct known *k)
{
	for (unsigned int i = 0; i < k->nr; i++)
		free(k->all[i]);
	free(k->all);
}

/*
 * Copies of a virtual machine that was running have one boot id, but separate clocks. The wall
 * clock of each was set anew, so it is ahead of CLOCK_MONOTONIC by another time.
 */
#define ONE_CLOCK_NS 1000000
/* An endpoint may get another partner after this many waiting records, and this long without a
 * match. */
#define QUIET_RECORDS 8
#define QUIET_NS 100000000ULL

static struct topology_stream *stream_get(struct topology *t, unsigned int stream)
{
	if (stream >= TOPOLOGY_STREAMS_MAX || ARRAY_REACH(t->streams, t->nr_streams, stream))
		return NULL;
	return &t->streams[stream];
}

int topology_stream_begins(struct topology *t, unsigned int stream, enum nt_side side)
{
	struct topology_stream *s = stream_get(t, stream);

	if (!s)
		return stream < TOPOLOGY_STREAMS_MAX ? -ENOMEM : 0;
	if (s->known)
		return 0;
	s->known = true;
	s->side = side;
	t->open[side]++;
	t->changes++;
	return 0;
}

/* Whether a stream may have @nr more of what all streams of its side share. */
static bool has_share(const struct topology *t, unsigned int stream, enum topology_share what,
		      unsigned int nr)
{
	static const unsigned int max[SHARES_NR] = {
		[SHARE_ENDPOINTS] = TOPOLOGY_CONNECTIONS_MAX,
		[SHARE_CONNECTIONS] = TOPOLOGY_CONNECTIONS_MAX,
		[SHARE_OF_BOTH] = TOPOLOGY_CONNECTIONS_MAX,
		[SHARE_SLOTS] = TOPOLOGY_SLOTS_MAX,
	};
	enum nt_side side = t->streams[stream].side;
	unsigned int streams = t->open[side] + t->ended[side];
	unsigned int own = max[what] / 2 / streams, common = max[what] - streams * own;
	unsigned int then = t->streams[stream].nr[what] + nr;

	if (then <= own)
		return true;
	for (unsigned int i = 0; i < t->nr_streams; i++) {
		unsigned int has = i == stream ? then : t->streams[i].nr[what];

		if (t->streams[i].side != side || has <= own)
			continue;
		if (has - own > common)
			return false;
		common -= has - own;
	}
	return true;
}

static bool has_slot(const struct topology_stream *s, uint32_t slot)
{
	return slot < s->nr_slots && s->by_slot[slot];
}

/* Return: NULL when memory ran out. */
static struct topology_slot *slot_get(struct topology_stream *s, uint32_t slot)
{
	uint32_t twice = 2 * s->nr_slots;

	if (slot >= s->nr_slots &&
	    ARRAY_REACH(s->by_slot, s->nr_slots, slot < twice ? twice - 1 : slot))
		return NULL;
	if (!s->by_slot[slot]) {
		s->by_slot[slot] = calloc(1, sizeof(struct topology_slot));
		s->nr[SHARE_SLOTS] += s->by_slot[slot] != NULL;
	}
	return s->by_slot[slot];
}

struct endpoint *topology_endpoint_of(const struct topology_slot *slot, const struct nt_record *r)
{
	struct endpoint *newest = NULL;

	for (unsigned int i = 0; i < TOPOLOGY_GENERATIONS && slot->generation[i].endpoint; i++) {
		struct endpoint *h = slot->generation[i].endpoint;

		if (slot->generation[i].gen != r->gen)
			continue;
		if (h->q.cntlid == r->cntlid)
			return h;
		if (!newest)
			newest = h;
	}
	return newest;
}

static unsigned int bucket_of(const struct endpoint *h)
{
	return hash_pair(h->q.cntlid, h->q.qid) % TOPOLOGY_BUCKETS;
}

struct endpoint *topology_alike(const struct topology *t, const struct endpoint *h)
{
	return t->bucket[h->side == NT_HOST ? NT_TARGET : NT_HOST][bucket_of(h)];
}

struct endpoint *topology_alike_beside(const struct topology *t, const struct endpoint *h)
{
	return t->bucket[h->side][bucket_of(h)];
}

/* Return: the first of the stream in the bucket of @h. */
static struct endpoint *first_of_stream(const struct topology *t, const struct endpoint *h)
{
	struct endpoint *first = topology_alike_beside(t, h);

	while (first && first->stream != h->stream)
		first = first->next_stream;
	return first;
}

/* The hash covers exactly what endpoint_find() compares. */
static struct endpoint **identity_of(struct topology *t, const struct endpoint *h)
{
	uint64_t instance = h->side == NT_HOST ? h->q.instance : 0;
	uint64_t ids = (uint64_t)h->q.cntlid << 16 | h->q.qid;
	uint64_t names = hash_text(h->stream ^ hash_secret[0], h->q.subsysnqn);

	names = hash_text(names, h->q.hostnqn);
	return &t->identity[hash_pair(instance << 32 | ids, names) % TOPOLOGY_BUCKETS];
}

static void bucket_add(struct topology *t, struct endpoint *h)
{
	struct endpoint **bucket = &t->bucket[h->side][bucket_of(h)],
			**identity = identity_of(t, h);
	struct endpoint *first = first_of_stream(t, h);

	if (first) {
		first->nr_alike++;
		h->next_alike = first->next_alike;
		first->next_alike = h;
	} else {
		h->nr_alike = 1;
		h->next_alike = h->next_stream = *bucket;
		*bucket = h;
	}
	h->previous_alike = first;
	if (h->next_alike)
		h->next_alike->previous_alike = h;
	h->next_same = *identity;
	*identity = h;
}

static void bucket_remove(struct topology *t, struct endpoint *h)
{
	struct endpoint *first = first_of_stream(t, h), *next = h->next_alike;
	struct endpoint **at = &t->bucket[h->side][bucket_of(h)];

	first->nr_alike--;
	if (next)
		next->previous_alike = h->previous_alike;
	if (h->previous_alike)
		h->previous_alike->next_alike = next;
	if (first == h) {
		if (h->nr_alike) {
			next->nr_alike = h->nr_alike;
			next->next_stream = h->next_stream;
		}
		while (*at != h)
			at = &(*at)->next_stream;
		*at = next;
	}
	at = identity_of(t, h);
	while (*at != h)
		at = &(*at)->next_same;
	*at = h->next_same;
}

static bool same_names(const struct queue_info *a, const struct queue_info *b)
{
	return !strcmp(a->subsysnqn, b->subsysnqn) && !strcmp(a->hostnqn, b->hostnqn);
}

static struct endpoint *endpoint_find(struct topology *t, const struct endpoint *like)
{
	for (struct endpoint *h = *identity_of(t, like); h; h = h->next_same) {
		if (h->stream == like->stream && h->side == like->side &&
		    h->q.cntlid == like->q.cntlid && h->q.qid == like->q.qid &&
		    (h->side == NT_TARGET || h->q.instance == like->q.instance) &&
		    same_names(&h->q, &like->q))
			return h;
	}
	return NULL;
}

static void unbind(struct topology *t, struct endpoint *h)
{
	struct endpoint *p = h->partner;

	if (!p)
		return;
	t->changes++;
	h->partner = p->partner = NULL;
	h->link = p->link = NULL;
	h->connection = p->connection = NULL;
}

/* A dropped endpoint loses only what can be found out again. */
static void drop(struct topology *t, struct endpoint *h)
{
	struct endpoint *last = t->endpoints[--t->nr_endpoints];

	unbind(t, h);
	t->changes++;
	bucket_remove(t, h);
	t->endpoints[h->index] = last;
	last->index = h->index;
	t->streams[h->stream].nr[SHARE_ENDPOINTS]--;
	free(h);
}

static bool is_idle(const struct endpoint *h)
{
	return !h->refs && !h->pending.count;
}

void topology_sweep(struct topology *t)
{
	for (unsigned int i = 0; i < t->nr_endpoints;) {
		if (is_idle(t->endpoints[i]))
			drop(t, t->endpoints[i]);
		else
			i++;
	}
	t->unswept = 0;
}

/* Whether a stream may have one more endpoint with these ids. */
static bool has_room_alike(const struct topology *t, const struct endpoint *like)
{
	const struct endpoint *first = first_of_stream(t, like);

	return !first || first->nr_alike < TOPOLOGY_ALIKE_MAX;
}

/* Whether there is room for @nr more endpoints of a stream, and for one more like this. */
static bool has_room(const struct topology *t, const struct endpoint *like, unsigned int nr)
{
	return has_share(t, like->stream, SHARE_ENDPOINTS, nr) && has_room_alike(t, like);
}

/* Return: NULL past the limit, or when memory ran out: *@err says which. */
static struct endpoint *endpoint_make(struct topology *t, const struct endpoint *like, int *err)
{
	struct endpoint *h;

	*err = 0;
	if (t->unswept >= topology_sweep_after(t))
		topology_sweep(t);
	t->unswept++;
	if (!has_room(t, like, 1))
		return NULL;
	*err = -ENOMEM;
	h = ARRAY_MAKE(t->endpoints, t->nr_endpoints, t->nr_endpoints, sizeof(*h));
	if (!h)
		return NULL;
	*h = *like;
	h->index = t->nr_endpoints - 1;
	h->number = ++t->endpoints_made;
	h->next_try = 1;
	t->streams[h->stream].nr[SHARE_ENDPOINTS]++;
	t->changes++;
	bucket_add(t, h);
	*err = 0;
	return h;
}

/* Makes @h the newest endpoint of @slot. */
static void slot_lead(struct topology *t, struct topology_slot *slot, uint32_t gen,
		      struct endpoint *h)
{
	struct topology_generation *g = slot->generation;
	struct endpoint *released;
	unsigned int i = 0;

	/* An endpoint that is there already moves to the front; else the oldest gives way. */
	while (i < TOPOLOGY_GENERATIONS - 1 && g[i].endpoint &&
	       !(g[i].endpoint == h && g[i].gen == gen))
		i++;
	h->refs++;
	h->current++;
	if (g[0].endpoint)
		g[0].endpoint->current--;
	released = g[i].endpoint;
	memmove(g + 1, g, i * sizeof(*g));
	g[0] = (struct topology_generation){.endpoint = h, .gen = gen};
	if (!released)
		return;
	released->refs--;
	/* It may come back, so it stays where a sweep comes before there is no room. */
	if (is_idle(released) && !has_room(t, released, topology_sweep_after(t)))
		drop(t, released);
}

/* Whether an endpoint @a may become @b: only its unknown members differ. */
static bool becomes_known(const struct queue_info *a, const struct queue_info *b)
{
	return (a->cntlid == b->cntlid || !topology_is_id(a->cntlid)) && a->qid == b->qid &&
	       a->instance == b->instance &&
	       (!a->subsysnqn[0] || !strcmp(a->subsysnqn, b->subsysnqn)) &&
	       (!a->hostnqn[0] || !strcmp(a->hostnqn, b->hostnqn));
}

static bool same_or_unknown(const char *a, const char *b)
{
	return !a[0] || !b[0] || !strcmp(a, b);
}

/* Whether two endpoints have the same ids and names, as far as they are known. */
static bool same_ids(const struct endpoint *a, const struct endpoint *b)
{
	return a->q.cntlid == b->q.cntlid && a->q.qid == b->q.qid &&
	       same_or_unknown(a->q.subsysnqn, b->q.subsysnqn) &&
	       same_or_unknown(a->q.hostnqn, b->q.hostnqn);
}

bool endpoint_compatible(const struct endpoint *a, const struct endpoint *b)
{
	return a->side != b->side && a->stream != b->stream && same_ids(a, b);
}

/* Whether two streams are of one machine. */
static bool one_clock(const struct topology *t, unsigned int a, unsigned int b)
{
	const struct topology_stream *x = &t->streams[a], *y = &t->streams[b];

	return x->boot && x->boot == y->boot &&
	       offset_apart(x->to_wall, y->to_wall) <= ONE_CLOCK_NS;
}

bool topology_is_same_queue(const struct topology *t, const struct endpoint *a,
			    const struct endpoint *b)
{
	return a->stream != b->stream && one_clock(t, a->stream, b->stream) &&
	       (a->side == NT_TARGET || a->q.instance == b->q.instance);
}

bool topology_compete(const struct topology *t, const struct endpoint *a, const struct endpoint *b)
{
	return a != b && a->side == b->side && same_ids(a, b) && !topology_is_same_queue(t, a, b);
}

bool topology_is_free(const struct topology *t, const struct endpoint *h)
{
	return !h->partner || h->reconnected || !h->partner->current ||
	       t->streams[h->partner->stream].ended ||
	       (h->waited >= QUIET_RECORDS &&
		t->streams[h->stream].newest > h->matched_ns + QUIET_NS);
}

static unsigned int link_bucket_of(unsigned int host_stream, unsigned int target_stream)
{
	return hash_pair(host_stream, target_stream) % TOPOLOGY_LINK_BUCKETS;
}

struct link *topology_link_of(const struct topology *t, unsigned int host_stream,
			      unsigned int target_stream)
{
	struct link *l = t->link_bucket[link_bucket_of(host_stream, target_stream)];

	while (l && (l->host_stream != host_stream || l->target_stream != target_stream))
		l = l->next;
	return l;
}

struct link *topology_link_known(const struct topology *t, const struct endpoint *a,
				 const struct endpoint *b)
{
	const struct endpoint *host = a->side == NT_HOST ? a : b;
	const struct endpoint *target = a->side == NT_HOST ? b : a;

	return topology_link_of(t, host->stream, target->stream);
}

/*
 * If two streams have one clock, their offset is known before any command; votes only confirm it.
 */
static struct link *with_offset(const struct topology *t, struct link *l)
{
	if (!l->offset.known && one_clock(t, l->host_stream, l->target_stream))
		offset_set(&l->offset,
			   &(struct offset_bounds){.at = t->streams[l->host_stream].newest}, 0);
	return l;
}

struct link *topology_link(struct topology *t, const struct endpoint *a, const struct endpoint *b)
{
	struct link *l = topology_link_known(t, a, b), **bucket;

	if (l)
		return with_offset(t, l);
	l = ARRAY_MAKE(t->links, t->nr_links, t->nr_links, sizeof(*l));
	if (!l)
		return NULL;
	l->host_stream = a->side == NT_HOST ? a->stream : b->stream;
	l->target_stream = a->side == NT_HOST ? b->stream : a->stream;
	bucket = &t->link_bucket[link_bucket_of(l->host_stream, l->target_stream)];
	l->next = *bucket;
	*bucket = l;
	return with_offset(t, l);
}

static void connection_name(struct merge_connection *c, const struct endpoint *h)
{
	if (h->q.subsysnqn[0])
		memcpy(c->subsysnqn, h->q.subsysnqn, sizeof(c->subsysnqn));
	if (h->q.hostnqn[0])
		memcpy(c->hostnqn, h->q.hostnqn, sizeof(c->hostnqn));
	c->cntlid = h->q.cntlid;
	c->qid = h->q.qid;
	if (h->side == NT_HOST) {
		c->host_stream = h->stream;
		c->host_instance = h->q.instance;
	} else {
		c->target_stream = h->stream;
	}
}

/* The connection of an endpoint without one, by its identity. */
static struct merge_connection *connection_get(struct topology *t, struct endpoint *h)
{
	struct merge_connection like = {
		.host_stream = MERGE_NO_STREAM,
		.target_stream = MERGE_NO_STREAM,
		.offset_low = 1,
	};
	struct merge_connection *c;
	unsigned int nr = t->known.nr, stream;
	bool both = h->partner, room;

	connection_name(&like, h);
	if (both)
		connection_name(&like, h->partner);
	stream = like.target_stream != MERGE_NO_STREAM ? like.target_stream : like.host_stream;
	room = has_share(t, stream, SHARE_CONNECTIONS, 1) &&
	       (!both || has_share(t, like.host_stream, SHARE_OF_BOTH, 1));
	c = known_get(&t->known, &like, room ? NT_SIDES * TOPOLOGY_CONNECTIONS_MAX : 0);
	t->streams[stream].nr[SHARE_CONNECTIONS] += t->known.nr - nr;
	if (both)
		t->streams[like.host_stream].nr[SHARE_OF_BOTH] += t->known.nr - nr;
	if (!c)
		return NULL;
	memcpy(c->hostnqn, like.hostnqn, sizeof(c->hostnqn));
	h->connection = c;
	if (h->partner)
		h->partner->connection = c;
	return c;
}

struct merge_connection *topology_connection(struct topology *t, struct endpoint *h)
{
	return h->connection ?: connection_get(t, h);
}

/* Moves the counts that @h got while it had no partner from @from to @c. */
static void take_over(struct merge_connection *c, struct merge_connection *from, struct endpoint *h)
{
	if (c && from && from != c) {
		uint64_t *to = h->side == NT_HOST ? &c->host_only : &c->target_only;

		*to += h->only;
		*(h->side == NT_HOST ? &from->host_only : &from->target_only) -= h->only;
		c->ambiguous += h->ambiguous;
		from->ambiguous -= h->ambiguous;
	}
}

void topology_bind(struct topology *t, struct endpoint *host, struct endpoint *target,
		   struct link *l)
{
	struct merge_connection *before[2], *c;

	unbind(t, host);
	unbind(t, target);
	before[0] = host->connection;
	before[1] = target->connection;
	t->changes++;
	host->partner = target;
	target->partner = host;
	host->link = l;
	target->link = l;
	host->connection = NULL;
	target->connection = NULL;
	c = topology_connection(t, host);
	take_over(c, before[0], host);
	take_over(c, before[1], target);
	host->only = host->ambiguous = 0;
	target->only = target->ambiguous = 0;
}

/* Completes the identity of an endpoint. The connection of the former identity loses its counts. */
static void rename_endpoint(struct topology *t, struct endpoint *h, const struct queue_info *q)
{
	struct merge_connection *before = h->connection;

	bucket_remove(t, h);
	h->q = *q;
	bucket_add(t, h);
	if (h->partner)
		return;
	h->connection = NULL;
	if (before)
		take_over(topology_connection(t, h), before, h);
}

int topology_queue(struct topology *t, unsigned int stream, enum nt_side side,
		   const struct queue_info *q)
{
	struct endpoint like = {.stream = stream, .side = side, .q = *q}, *h, *newest;
	int err = topology_stream_begins(t, stream, side);
	struct topology_stream *s;
	struct topology_slot *slot;
	bool again;

	if (err || stream >= TOPOLOGY_STREAMS_MAX)
		return err;
	s = &t->streams[stream];
	if (q->slot >= TOPOLOGY_SLOTS_MAX ||
	    (!has_slot(s, q->slot) && !has_share(t, stream, SHARE_SLOTS, 1))) {
		s->left_out = true;
		return 0;
	}
	slot = slot_get(s, q->slot);
	if (!slot)
		return -ENOMEM;
	newest = slot->generation[0].endpoint;
	again = newest && slot->generation[0].gen == q->gen;
	/*
	 * Its records wait there, so it gets the name, even if an earlier connection had the same.
	 */
	if (again && newest->refs == 1 && becomes_known(&newest->q, q) &&
	    (bucket_of(newest) == bucket_of(&like) || has_room_alike(t, &like))) {
		rename_endpoint(t, newest, q);
		return 0;
	}
	/* Two endpoints without an id may be of two controllers. */
	h = topology_is_id(q->cntlid) ? endpoint_find(t, &like) : NULL;
	if (!h) {
		h = endpoint_make(t, &like, &err);
		s->left_out |= !h;
		if (!h)
			return err;
	}
	h->q = *q;
	if (again && newest == h)
		return 0;
	slot_lead(t, slot, q->gen, h);
	h->reconnected = true;
	return 0;
}

void topology_free(struct topology *t)
{
	for (unsigned int i = 0; i < t->nr_streams; i++) {
		for (uint32_t slot = 0; slot < t->streams[i].nr_slots; slot++)
			free(t->streams[i].by_slot[slot]);
		free(t->streams[i].by_slot);
	}
	free(t->streams);
	for (unsigned int i = 0; i < t->nr_endpoints; i++)
		free(t->endpoints[i]);
	free(t->endpoints);
	known_free(&t->known);
	for (unsigned int i = 0; i < t->nr_links; i++)
		free(t->links[i]);
	free(t->links);
}

void topology_forget_offset(struct topology *t, struct link *l)
{
	l->offset.known = false;
	l->offset.rate = 0;
	l->offset.nr = 0;
	for (unsigned int i = 0; i < t->nr_endpoints; i++) {
		if (t->endpoints[i]->link == l)
			t->endpoints[i]->next_try = 0;
	}
	l->unmatched[NT_HOST] = 0;
	l->unmatched[NT_TARGET] = 0;
	t->changes++;
}

void topology_clock(struct topology *t, unsigned int stream, const char *boot_id,
		    const struct instant *now)
{
	struct topology_stream *s;

	if (stream >= t->nr_streams || t->streams[stream].boot || !boot_id[0])
		return;
	s = &t->streams[stream];
	s->boot = hash_text(0, boot_id);
	s->to_wall = (uint64_t)now->realtime_ns - now->monotonic_ns;
}

/* Removes the references of a slot to its endpoints. */
static void forget_slot(struct topology_slot *slot)
{
	struct topology_generation *g = slot->generation;

	if (g[0].endpoint)
		g[0].endpoint->current--;
	for (unsigned int i = 0; i < TOPOLOGY_GENERATIONS && g[i].endpoint; i++)
		g[i].endpoint->refs--;
	free(slot);
}

static void forget_clock(struct topology *t, unsigned int stream)
{
	for (unsigned int i = 0; i < t->nr_links; i++) {
		struct link *l = t->links[i];

		if (l->host_stream != stream && l->target_stream != stream)
			continue;
		topology_forget_offset(t, l);
		l->offset = (struct offset){.known = false};
	}
}

void topology_stream_restart(struct topology *t, unsigned int stream)
{
	struct topology_stream *s;

	if (stream >= t->nr_streams)
		return;
	s = &t->streams[stream];
	for (uint32_t slot = 0; slot < s->nr_slots; slot++)
		if (s->by_slot[slot])
			forget_slot(s->by_slot[slot]);
	free(s->by_slot);
	s->by_slot = NULL;
	s->nr_slots = 0;
	s->nr[SHARE_SLOTS] = 0;
	s->newest = 0;
	s->boot = 0;
	if (s->ended) {
		s->ended = false;
		t->ended[s->side]--;
		t->open[s->side]++;
	}
	topology_sweep(t);
	forget_clock(t, stream);
	t->changes++;
}
