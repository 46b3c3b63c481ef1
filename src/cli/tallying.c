// SPDX-License-Identifier: GPL-2.0-only
#include "cli/tallying.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "merge/group_names.h"

int tallying_open(struct tallying *t, const struct group_by *by)
{
	t->by = *by;
	t->tally = tally_new(by);
	return naming_init(&t->naming) ?: t->tally ? 0 : -ENOMEM;
}

/* Return: 0 or -ENOMEM. */
static int keep_queue(struct tallying *t, const struct queue_info *q)
{
	struct queue_info *grown;

	if (q->slot >= t->nr_queues) {
		grown = reallocarray(t->queue, (size_t)q->slot + 1, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		memset(grown + t->nr_queues, 0, (q->slot + 1 - t->nr_queues) * sizeof(*grown));
		t->queue = grown;
		t->nr_queues = q->slot + 1;
	}
	t->queue[q->slot] = *q;
	return 0;
}

int tallying_record(struct tallying *t, const struct tracer *tracer, const struct nt_record *r)
{
	struct group_recorder who = {.places = t->naming.places};
	const struct queue_info *queue = NULL;
	struct group_name name;
	struct device_name d;
	struct queue_info q;
	struct origin o;
	int new = naming_queue(&t->naming, tracer, r, &q);

	if (new < 0 || (new &&keep_queue(t, &q)) ||
	    (group_has(&t->by, GROUP_DEVICE) && naming_device(&t->naming, r, &d) < 0) ||
	    (group_by_needs(&t->by, GROUP_OF_ORIGIN) != GROUP_KEYS_NR &&
	     naming_origin(&t->naming, tracer, r, &o) < 0))
		return -ENOMEM;
	if (r->slot < t->nr_queues && t->queue[r->slot].gen == r->gen)
		queue = &t->queue[r->slot];
	who.source[r->side] = source_name(tracer_source(tracer));
	group_name_side(&name, &t->by, r->side, queue, r, &who);
	return tally_add(t->tally, &name, r);
}

void tallying_close(struct tallying *t)
{
	tally_free(t->tally);
	naming_free(&t->naming);
	free(t->queue);
}
