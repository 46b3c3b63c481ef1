// SPDX-License-Identifier: GPL-2.0-only
/* Which streams, queues, connections and pairs of clocks a merge knows of. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "merge/private.h"

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

static struct merge_stream *stream_get(struct merge *m, unsigned int stream)
{
	struct merge_stream *grown;

	if (stream < m->nr_streams)
		return &m->streams[stream];
	if (stream >= STREAMS_MAX)
		return NULL;
	grown = realloc(m->streams, (stream + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	memset(grown + m->nr_streams, 0, (stream + 1 - m->nr_streams) * sizeof(*grown));
	m->streams = grown;
	m->nr_streams = stream + 1;
	return &m->streams[stream];
}

static int slots_grow(struct merge_stream *s, uint32_t slot)
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

static struct half *half_find(const struct merge_stream *s, uint32_t slot, uint32_t gen)
{
	struct half *h = slot < s->nr_slots ? s->by_slot[slot] : NULL;

	while (h && h->q.gen != gen)
		h = h->older;
	return h;
}

struct half *half_of(const struct merge *m, unsigned int stream, const struct nt_record *r)
{
	return stream < m->nr_streams ? half_find(&m->streams[stream], r->slot, r->gen) : NULL;
}

int merge_queue(struct merge *m, unsigned int stream, enum nt_side side, const struct queue_info *q)
{
	struct merge_stream *s = stream_get(m, stream);
	struct half *h, **halves;

	if (!s)
		return stream < STREAMS_MAX ? -ENOMEM : 0;
	h = half_find(s, q->slot, q->gen);
	if (h) {
		h->q = *q;
		return 0;
	}
	/* Its records will be counted as unknown. */
	if (m->nr_halves == HALVES_MAX || q->slot >= SLOTS_MAX)
		return 0;
	halves = with_room(m->halves, m->nr_halves);
	if (!halves || slots_grow(s, q->slot))
		return -ENOMEM;
	m->halves = halves;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->stream = stream;
	h->side = side;
	h->q = *q;
	h->next_try = 1;
	h->older = s->by_slot[q->slot];
	s->by_slot[q->slot] = h;
	m->halves[m->nr_halves++] = h;
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

struct link *link_get(struct merge *m, const struct half *a, const struct half *b)
{
	const struct half *host = a->side == NT_HOST ? a : b;
	const struct half *target = a->side == NT_HOST ? b : a;
	struct link *l, **links;

	for (unsigned int i = 0; i < m->nr_links; i++) {
		l = m->links[i];
		if (l->host_stream == host->stream && l->target_stream == target->stream)
			return l;
	}
	links = with_room(m->links, m->nr_links);
	if (!links)
		return NULL;
	m->links = links;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	l->host_stream = host->stream;
	l->target_stream = target->stream;
	m->links[m->nr_links++] = l;
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
static struct merge_connection *connection_find(const struct merge *m,
						const struct merge_connection *like)
{
	for (unsigned int i = 0; i < m->nr_connections; i++) {
		struct merge_connection *c = m->connections[i];

		if (c->host_stream == like->host_stream &&
		    c->target_stream == like->target_stream && c->cntlid == like->cntlid &&
		    c->qid == like->qid && c->host_instance == like->host_instance &&
		    !strcmp(c->subsysnqn, like->subsysnqn))
			return c;
	}
	return NULL;
}

static struct merge_connection *connection_make(struct merge *m,
						const struct merge_connection *like)
{
	struct merge_connection *c, **all;

	if (m->nr_connections == CONNECTIONS_MAX)
		return NULL;
	all = with_room(m->connections, m->nr_connections);
	if (!all)
		return NULL;
	m->connections = all;
	c = malloc(sizeof(*c));
	if (!c)
		return NULL;
	*c = *like;
	c->index = m->nr_connections;
	m->connections[m->nr_connections++] = c;
	return c;
}

/* Of a half that has no connection yet. */
static struct merge_connection *connection_get(struct merge *m, struct half *h)
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
	c = connection_find(m, &like) ?: connection_make(m, &like);
	if (!c)
		return NULL;
	h->connection = c;
	if (h->partner)
		h->partner->connection = c;
	return c;
}

struct merge_connection *half_connection(struct merge *m, struct half *h)
{
	return h->connection ?: connection_get(m, h);
}

int merge_connection_order(const struct merge_connection *a, const struct merge_connection *b)
{
	int order = strcmp(a->subsysnqn, b->subsysnqn);

	if (!order)
		order = (int)a->cntlid - (int)b->cntlid;
	if (!order)
		order = (int)a->qid - (int)b->qid;
	return order ? order : (a->index > b->index) - (a->index < b->index);
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

void half_bind(struct merge *m, struct half *host, struct half *target, struct link *l)
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
	c = half_connection(m, host);
	if (!c)
		return;
	take_over(c, before[0]);
	take_over(c, before[1]);
}

void topology_free(struct merge *m)
{
	for (unsigned int i = 0; i < m->nr_streams; i++)
		free(m->streams[i].by_slot);
	free(m->streams);
	for (unsigned int i = 0; i < m->nr_halves; i++)
		free(m->halves[i]);
	free(m->halves);
	for (unsigned int i = 0; i < m->nr_connections; i++)
		free(m->connections[i]);
	free(m->connections);
	for (unsigned int i = 0; i < m->nr_links; i++)
		free(m->links[i]);
	free(m->links);
}
