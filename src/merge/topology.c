// SPDX-License-Identifier: GPL-2.0-only
#include "merge/topology.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Makes room for one more pointer in an array that has @nr; arrays grow in powers of two. Return: the
 * array, or NULL when memory ran out.
 */
static void *with_room(void *array, unsigned int nr)
{
	if (nr & (nr - 1))
		return array;
	return realloc(array, (nr ? 2 * (size_t)nr : 1) * sizeof(void *));
}

static struct topology_stream *stream_get(struct topology *t, unsigned int stream)
{
	struct topology_stream *grown;

	if (stream < t->nr_streams)
		return &t->streams[stream];
	if (stream >= TOPOLOGY_STREAMS_MAX)
		return NULL;
	grown = realloc(t->streams, (stream + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	memset(grown + t->nr_streams, 0, (stream + 1 - t->nr_streams) * sizeof(*grown));
	t->streams = grown;
	t->nr_streams = stream + 1;
	return &t->streams[stream];
}

static int slots_grow(struct topology_stream *s, uint32_t slot)
{
	struct half **grown;

	if (slot < s->nr_slots)
		return 0;
	grown = realloc(s->by_slot, (slot + 1) * sizeof(struct half *));
	if (!grown)
		return -ENOMEM;
	memset(grown + s->nr_slots, 0, (slot + 1 - s->nr_slots) * sizeof(*grown));
	s->by_slot = grown;
	s->nr_slots = slot + 1;
	return 0;
}

static struct half *half_find(const struct topology_stream *s, uint32_t slot, uint32_t gen)
{
	struct half *h = slot < s->nr_slots ? s->by_slot[slot] : NULL;

	while (h && h->q.gen != gen)
		h = h->older;
	return h;
}

struct half *topology_half(const struct topology *t, unsigned int stream, const struct nt_record *r)
{
	return stream < t->nr_streams ? half_find(&t->streams[stream], r->slot, r->gen) : NULL;
}

int topology_queue(struct topology *t, unsigned int stream, enum nt_side side,
		   const struct queue_info *q)
{
	struct topology_stream *s = stream_get(t, stream);
	struct half *h, **halves;

	if (!s)
		return stream < TOPOLOGY_STREAMS_MAX ? -ENOMEM : 0;
	h = half_find(s, q->slot, q->gen);
	if (h) {
		h->q = *q;
		return 0;
	}
	if (t->nr_halves == TOPOLOGY_HALVES_MAX || q->slot >= TOPOLOGY_SLOTS_MAX)
		return 0;
	halves = with_room(t->halves, t->nr_halves);
	if (!halves)
		return -ENOMEM;
	t->halves = halves;
	if (slots_grow(s, q->slot))
		return -ENOMEM;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->stream = stream;
	h->side = side;
	h->q = *q;
	h->next_try = 1;
	h->older = s->by_slot[q->slot];
	s->by_slot[q->slot] = h;
	t->halves[t->nr_halves++] = h;
	return 0;
}

static bool same_or_unknown(const char *a, const char *b)
{
	return !a[0] || !b[0] || !strcmp(a, b);
}

bool half_compatible(const struct half *a, const struct half *b)
{
	return a->side != b->side && a->stream != b->stream && a->q.cntlid == b->q.cntlid &&
	       a->q.qid == b->q.qid && same_or_unknown(a->q.subsysnqn, b->q.subsysnqn) &&
	       same_or_unknown(a->q.hostnqn, b->q.hostnqn);
}

struct link *topology_link(struct topology *t, const struct half *a, const struct half *b)
{
	const struct half *host = a->side == NT_HOST ? a : b;
	const struct half *target = a->side == NT_HOST ? b : a;
	struct link *l, **links;

	for (unsigned int i = 0; i < t->nr_links; i++) {
		l = t->links[i];
		if (l->host_stream == host->stream && l->target_stream == target->stream)
			return l;
	}
	links = with_room(t->links, t->nr_links);
	if (!links)
		return NULL;
	t->links = links;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->host_stream = host->stream;
	l->target_stream = target->stream;
	t->links[t->nr_links++] = l;
	return l;
}

static void connection_name(struct merge_connection *c, const struct half *h)
{
	if (h->q.subsysnqn[0])
		memcpy(c->subsysnqn, h->q.subsysnqn, sizeof(c->subsysnqn));
	c->cntlid = h->q.cntlid;
	c->qid = h->q.qid;
	if (h->side == NT_HOST) {
		c->host_stream = h->stream;
		c->host_instance = h->q.instance;
	} else {
		c->target_stream = h->stream;
	}
}

/* One that came back after a reconnect goes on where it left off. */
static struct merge_connection *connection_find(const struct topology *t,
						const struct merge_connection *like)
{
	for (unsigned int i = 0; i < t->nr_connections; i++) {
		struct merge_connection *c = t->connections[i];

		if (c->host_stream == like->host_stream &&
		    c->target_stream == like->target_stream && c->cntlid == like->cntlid &&
		    c->qid == like->qid && c->host_instance == like->host_instance &&
		    !strcmp(c->subsysnqn, like->subsysnqn))
			return c;
	}
	return NULL;
}

static struct merge_connection *connection_make(struct topology *t,
						const struct merge_connection *like)
{
	struct merge_connection *c, **all;

	if (t->nr_connections == TOPOLOGY_CONNECTIONS_MAX)
		return NULL;
	all = with_room(t->connections, t->nr_connections);
	if (!all)
		return NULL;
	t->connections = all;
	c = malloc(sizeof(*c));
	if (!c)
		return NULL;
	*c = *like;
	c->index = t->nr_connections;
	t->connections[t->nr_connections++] = c;
	return c;
}

/* Of a half that has no connection yet. */
static struct merge_connection *connection_get(struct topology *t, struct half *h)
{
	struct merge_connection like = {
		.host_stream = MERGE_NO_STREAM,
		.target_stream = MERGE_NO_STREAM,
		.offset_low = 1,
	};
	struct merge_connection *c;

	connection_name(&like, h);
	if (h->partner)
		connection_name(&like, h->partner);
	c = connection_find(t, &like) ?: connection_make(t, &like);
	if (!c)
		return NULL;
	h->connection = c;
	if (h->partner)
		h->partner->connection = c;
	return c;
}

struct merge_connection *topology_connection(struct topology *t, struct half *h)
{
	return h->connection ?: connection_get(t, h);
}

static void take_over(struct merge_connection *c, struct merge_connection *from)
{
	if (!from || from == c)
		return;
	c->host_only += from->host_only;
	c->target_only += from->target_only;
	c->ambiguous += from->ambiguous;
	from->host_only = 0;
	from->target_only = 0;
	from->ambiguous = 0;
}

void topology_bind(struct topology *t, struct half *host, struct half *target, struct link *l)
{
	struct merge_connection *before[] = {host->connection, target->connection};
	struct merge_connection *c;

	host->partner = target;
	target->partner = host;
	host->link = l;
	target->link = l;
	/* What each had on its own so far belongs to their common connection. */
	host->connection = NULL;
	target->connection = NULL;
	c = topology_connection(t, host);
	if (!c)
		return;
	take_over(c, before[0]);
	take_over(c, before[1]);
}

void topology_free(struct topology *t)
{
	for (unsigned int i = 0; i < t->nr_streams; i++)
		free(t->streams[i].by_slot);
	free(t->streams);
	for (unsigned int i = 0; i < t->nr_halves; i++)
		free(t->halves[i]);
	free(t->halves);
	for (unsigned int i = 0; i < t->nr_connections; i++)
		free(t->connections[i]);
	free(t->connections);
	for (unsigned int i = 0; i < t->nr_links; i++)
		free(t->links[i]);
	free(t->links);
}
