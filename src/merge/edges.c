// SPDX-License-Identifier: GPL-2.0-only
#include "merge/edges.h"

#include <errno.h>
#include <stdlib.h>

#include "core/span.h"

struct times {
	uint64_t began_ns;
	uint64_t ended_ns;
};

/* The bursts of one stream in order of time. */
struct bursts {
	struct times *all;
	size_t nr;
	size_t room;
};

struct edges {
	struct bursts *streams;
	unsigned int nr;
};

struct edges *edges_new(unsigned int nr)
{
	struct edges *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->nr = nr;
	e->streams = calloc(nr + 1, sizeof(*e->streams));
	if (e->streams)
		return e;
	free(e);
	return NULL;
}

int edges_burst(struct edges *e, unsigned int stream, uint64_t began_ns, uint64_t ended_ns)
{
	struct bursts *b = &e->streams[stream];

	if (b->nr == b->room) {
		size_t room = b->room ? 2 * b->room : 16;
		struct times *all = reallocarray(b->all, room, sizeof(*all));

		if (!all)
			return -ENOMEM;
		b->all = all;
		b->room = room;
	}
	b->all[b->nr++] = (struct times){.began_ns = began_ns, .ended_ns = ended_ns};
	return 0;
}

/*
 * Whether one burst covers all of that time. A stream that gives its bursts out of order only gets
 * a wrong answer.
 */
static bool covers(const struct bursts *b, uint64_t from, uint64_t to)
{
	size_t low = 0, high = b->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->all[middle].began_ns <= from)
			low = middle + 1;
		else
			high = middle;
	}
	return low && to <= b->all[low - 1].ended_ns;
}

bool edges_cut(const struct edges *e, const struct merge_connection *c, const struct nt_record *r)
{
	bool host = r->side == NT_HOST;
	unsigned int other = host ? c->target_stream : c->host_stream;
	uint64_t from = record_begin_ns(r), to = record_last_ns(r), offset;

	if (other >= e->nr || !e->streams[other].nr || !from || c->offset_low > c->offset_high)
		return false;
	offset = (uint64_t)c->offset_low + ((uint64_t)c->offset_high - (uint64_t)c->offset_low) / 2;
	if (!host)
		offset = -offset;
	return !covers(&e->streams[other], from + offset, to + offset);
}

void edges_free(struct edges *e)
{
	if (!e)
		return;
	for (unsigned int i = 0; i < e->nr; i++)
		free(e->streams[i].all);
	free(e->streams);
	free(e);
}
