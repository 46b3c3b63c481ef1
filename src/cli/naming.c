// SPDX-License-Identifier: GPL-2.0-only
#include "cli/naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int naming_init(struct naming *n)
{
	*n = (struct naming){.places = places_new()};
	return n->places ? 0 : -ENOMEM;
}

int naming_queue(struct naming *n, const struct tracer *t, const struct nt_record *r,
		 struct queue_info *q)
{
	int new = announced_already(&n->announced, r) ? 0 : announce(&n->announced, t, r, q);

	if (new > 0 && places_queue(n->places, q))
		return -ENOMEM;
	return new;
}

/* Return: 0 or -ENOMEM. */
static int make_room(struct naming *n, uint32_t slot)
{
	struct naming_seen *grown;

	if (slot < n->nr_seen)
		return 0;
	grown = reallocarray(n->seen, (size_t)slot + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	memset(grown + n->nr_seen, 0, (slot + 1 - n->nr_seen) * sizeof(*grown));
	n->seen = grown;
	n->nr_seen = slot + 1;
	return 0;
}

int naming_device(struct naming *n, const struct nt_record *r, struct device_name *d)
{
	bool found;

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
		if (make_room(n, r->slot))
			return -ENOMEM;
		n->seen[r->slot] = (struct naming_seen){.gen = r->gen, .nsid = r->nsid};
		return 0;
	}
	found = r->side == NT_HOST ? device_name_of_host("/sys", d)
				   : device_name_of_target("/sys/kernel/config", d);
	/* A device without a name is stored as well, so that it is not looked up again. */
	return places_device(n->places, d) ?: found;
}

int naming_origin(struct naming *n, const struct tracer *t, const struct nt_record *r,
		  struct origin *o)
{
	unsigned int number = ORIGIN_OF(r->flags);

	if (!number || n->origin_told[number])
		return 0;
	n->origin_told[number] = true;
	tracer_origin(t, number, o);
	return places_origin(n->places, o) ?: 1;
}

void naming_free(struct naming *n)
{
	announced_free(&n->announced);
	places_free(n->places);
	free(n->seen);
}
