// SPDX-License-Identifier: GPL-2.0-only
#include "merge/counts.h"
#include "merge/axis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The offset between two streams' clocks, by the connection that was matched last. */
struct edge {
	unsigned int host;
	unsigned int target;
	uint64_t offset; /* target's clock - host's */
	uint64_t at_ns;	 /* host's clock */
};

static bool tells(const struct merge_connection *c, unsigned int nr)
{
	return c->matched && c->offset_low <= c->offset_high && c->host_stream < nr &&
	       c->target_stream < nr;
}

static void edge_add(struct edge *edges, unsigned int *nr, const struct merge_connection *c)
{
	unsigned int i = 0;

	while (i < *nr && (edges[i].host != c->host_stream || edges[i].target != c->target_stream))
		i++;
	if (i < *nr && edges[i].at_ns >= c->offset_at_ns)
		return;
	edges[i] = (struct edge){
		.host = c->host_stream,
		.target = c->target_stream,
		.offset = (uint64_t)c->offset_low +
			  ((uint64_t)c->offset_high - (uint64_t)c->offset_low) / 2,
		.at_ns = c->offset_at_ns,
	};
	if (i == *nr)
		++*nr;
}

/* Places the streams that are linked to a placed stream, until none is left. */
static void place_linked(const struct edge *edges, unsigned int nr, int64_t *to_common,
			 bool *placed)
{
	bool again = true;

	while (again) {
		again = false;
		for (unsigned int i = 0; i < nr; i++) {
			const struct edge *e = &edges[i];

			if (placed[e->host] == placed[e->target])
				continue;
			if (placed[e->host])
				to_common[e->target] =
					(int64_t)((uint64_t)to_common[e->host] - e->offset);
			else
				to_common[e->host] =
					(int64_t)((uint64_t)to_common[e->target] + e->offset);
			placed[e->host] = placed[e->target] = again = true;
		}
	}
}

int axis_correct(const struct merge *m, unsigned int nr, int64_t *to_common, bool *linked)
{
	unsigned int connections = merge_connections(m), nr_edges = 0;
	struct edge *edges = calloc(connections + 1, sizeof(*edges));
	bool *placed = calloc(nr, sizeof(*placed));
	int err = edges && placed ? 0 : -ENOMEM;

	memset(linked, 0, nr * sizeof(*linked));
	for (unsigned int i = 0; !err && i < connections; i++) {
		const struct merge_connection *c = merge_connection(m, i);

		if (!tells(c, nr))
			continue;
		edge_add(edges, &nr_edges, c);
		linked[c->host_stream] = linked[c->target_stream] = true;
	}
	for (unsigned int i = 0; !err && i < nr; i++) {
		if (!linked[i] || placed[i])
			continue;
		placed[i] = true;
		place_linked(edges, nr_edges, to_common, placed);
	}
	free(edges);
	free(placed);
	return err;
}
