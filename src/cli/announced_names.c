// SPDX-License-Identifier: GPL-2.0-only
#include "cli/announced_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"

int announced_names_init(struct announced_names *n)
{
	*n = (struct announced_names){.places = places_new()};
	return n->places ? 0 : -ENOMEM;
}

int announced_names_queue(struct announced_names *n, const struct tracer *t,
			  const struct nt_record *r, struct queue_info *q)
{
	uint32_t before;
	int new;

	if (announced_already(&n->announced, r))
		return 0;
	before = r->slot < n->announced.nr ? n->announced.queues[r->slot].gen : 0;
	new = announce(&n->announced, t, r, q);
	if (new <= 0)
		return new;
	/* If there is a late record of that connection after all, it is announced again. */
	if (before && before != r->gen)
		places_forget(n->places, r->slot, before);
	return places_queue(n->places, q) ? -ENOMEM : new;
}

/*
 * Whether the other side refused the command before it mattered which namespace it is for: opcode,
 * field, namespace, sequence, authentication. A host can send such commands with any number, and to
 * look up a name takes a thousand times longer than the rest.
 */
static bool is_refused(const struct nt_record *r)
{
	static const uint16_t statuses[] = {0x001, 0x002, 0x00b, 0x00c, 0x191};

	for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
		if ((r->status & NT_STATUS_MASK) == statuses[i])
			return true;
	return false;
}

int announced_names_device(struct announced_names *n, const struct nt_record *r,
			   struct device_name *d)
{
	bool found;

	if (is_refused(r))
		return 0;
	if (r->slot < n->nr_seen && n->seen[r->slot].gen == r->gen &&
	    n->seen[r->slot].nsid == r->nsid)
		return 0;
	/*
	 * The names of an admin queue's connection may not be known yet, so the device is asked for
	 * again.
	 */
	if (!places_ask(n->places, r, d)) {
		if (!r->qid)
			return 0;
		if (ARRAY_REACH(n->seen, n->nr_seen, r->slot))
			return -ENOMEM;
		n->seen[r->slot] = (struct announced_names_seen){.gen = r->gen, .nsid = r->nsid};
		return 0;
	}
	found = r->side == NT_HOST ? device_name_of_host("/sys", d)
				   : device_name_of_target("/sys/kernel/config", d);
	/* A device without a name is stored as well, so that it is not looked up again. */
	return places_device(n->places, d) ?: found;
}

int announced_names_origin(struct announced_names *n, const struct tracer *t,
			   const struct nt_record *r, struct origin *o)
{
	unsigned int number = ORIGIN_OF(r->flags);

	if (!number || n->origin_told[number])
		return 0;
	n->origin_told[number] = true;
	tracer_origin(t, number, o);
	return places_origin(n->places, o) ?: 1;
}

void announced_names_free(struct announced_names *n)
{
	announced_free(&n->announced);
	places_free(n->places);
	free(n->seen);
}
