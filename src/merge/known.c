// SPDX-License-Identifier: GPL-2.0-only
#include "merge/known.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"

/* By the parts of the identity that never change, without the subsystem. */
static struct known_entry **bucket_of(struct known *k, const struct merge_connection *c)
{
	uint64_t streams = (uint64_t)c->host_stream << 32 | c->target_stream;
	uint64_t queue = (uint64_t)c->host_instance << 16 | c->qid;

	return &k->bucket[hash_pair(streams, queue) % KNOWN_BUCKETS];
}

/*
 * Finds a connection. If the queue has as many connections as it may have, the last one takes over
 * the new controller id.
 */
static struct merge_connection *find(struct known *k, const struct merge_connection *like,
				     unsigned int max)
{
	unsigned int most = k->nr < max / 2 ? KNOWN_PER_QUEUE : 1;
	struct merge_connection *last = NULL;
	unsigned int nr = 0;

	for (struct known_entry *e = *bucket_of(k, like); e; e = e->next) {
		struct merge_connection *c = &e->c;

		if (c->host_stream != like->host_stream ||
		    c->target_stream != like->target_stream || c->qid != like->qid ||
		    c->host_instance != like->host_instance ||
		    strcmp(c->subsysnqn, like->subsysnqn) != 0)
			continue;
		if (c->cntlid == like->cntlid)
			return c;
		/* The newest come first. */
		if (!nr++)
			last = c;
	}
	/* Without a host's instance the connections may be of several controllers. */
	if (nr < most || (like->host_stream == MERGE_NO_STREAM && most > 1))
		return NULL;
	last->cntlid = like->cntlid;
	return last;
}

static struct merge_connection *make(struct known *k, const struct merge_connection *like,
				     unsigned int max)
{
	struct known_entry *e, **bucket = bucket_of(k, like);

	if (k->nr == max)
		return NULL;
	/* The array grows in powers of two. */
	if (!(k->nr & (k->nr - 1))) {
		struct known_entry **all =
			realloc(k->all, (k->nr ? 2 * (size_t)k->nr : 1) * sizeof(*all));

		if (!all)
			return NULL;
		k->all = all;
	}
	e = malloc(sizeof(*e));
	if (!e)
		return NULL;
	e->c = *like;
	e->c.index = k->nr;
	e->next = *bucket;
	*bucket = e;
	k->all[k->nr++] = e;
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
