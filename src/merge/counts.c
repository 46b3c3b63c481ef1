// SPDX-License-Identifier: GPL-2.0-only
#include "merge/counts.h"

#include <stddef.h>

#include "merge/merge.h"
#include "merge/offset.h"
#include "merge/private.h"

uint64_t merge_crowded_out(const struct merge *m)
{
	return m->crowded_out;
}

uint64_t merge_in_crowd(const struct merge *m)
{
	return m->in_crowd;
}

uint64_t merge_unknown(const struct merge *m)
{
	return m->unknown;
}

uint64_t merge_past_limits(const struct merge *m)
{
	return m->past_limits;
}

unsigned int merge_connections(const struct merge *m)
{
	return m->t.known.nr;
}

const struct merge_connection *merge_connection(const struct merge *m, unsigned int i)
{
	struct merge_connection *c;

	if (i >= m->t.known.nr)
		return NULL;
	c = &m->t.known.all[i]->c;
	for (unsigned int l = 0; l < m->t.nr_links; l++) {
		if (m->t.links[l]->host_stream == c->host_stream &&
		    m->t.links[l]->target_stream == c->target_stream) {
			c->drift_ppm = offset_drift_ppm(&m->t.links[l]->offset);
			c->jumps = m->t.links[l]->offset.jumps;
		}
	}
	return c;
}
