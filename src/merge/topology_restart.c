// SPDX-License-Identifier: GPL-2.0-only
#include "merge/topology_restart.h"

#include <stdlib.h>

#include "core/group.h"

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
	s->boot = group_hash(0, boot_id);
	s->to_wall = (uint64_t)now->realtime_ns - now->monotonic_ns;
}

/* Removes the references of a slot to its endpoints. */
static void forget_slot(struct topology *t, struct topology_slot *slot)
{
	struct topology_generation *g = slot->generation;

	if (g[0].endpoint)
		g[0].endpoint->current--;
	for (unsigned int i = 0; i < TOPOLOGY_GENERATIONS && g[i].endpoint; i++)
		if (!--g[i].endpoint->refs)
			t->released++;
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
			forget_slot(t, s->by_slot[slot]);
	free(s->by_slot);
	s->by_slot = NULL;
	s->nr_slots = 0;
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
