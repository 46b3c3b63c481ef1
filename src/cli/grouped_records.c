// SPDX-License-Identifier: GPL-2.0-only
#include "cli/grouped_records.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "merge/group_names.h"

int grouped_records_open(struct grouped_records *t, const struct group_by *by)
{
	t->by = *by;
	t->live_groups = live_groups_new(by);
	return announced_names_init(&t->announced_names) ?: t->live_groups ? 0 : -ENOMEM;
}

/* Return: 0 or -ENOMEM. */
static int keep_queue(struct grouped_records *t, const struct queue_info *q)
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

int grouped_records_record(struct grouped_records *t, const struct tracer *tracer,
			   const struct nt_record *r)
{
	struct group_recorder who = {.places = t->announced_names.places};
	const struct queue_info *queue = NULL;
	struct group_name name;
	struct device_name d;
	struct queue_info q;
	struct origin o;
	int new = announced_names_queue(&t->announced_names, tracer, r, &q);

	if (new < 0 || (new &&keep_queue(t, &q)) ||
	    (group_has(&t->by, GROUP_DEVICE) &&
	     announced_names_device(&t->announced_names, r, &d) < 0) ||
	    (group_by_needs(&t->by, GROUP_OF_ORIGIN) != GROUP_KEYS_NR &&
	     announced_names_origin(&t->announced_names, tracer, r, &o) < 0))
		return -ENOMEM;
	if (r->slot < t->nr_queues && t->queue[r->slot].gen == r->gen)
		queue = &t->queue[r->slot];
	who.source[r->side] = source_name(tracer_source(tracer));
	group_name_side(&name, &t->by, r->side, queue, r, &who);
	return live_groups_add(t->live_groups, &name, r);
}

void grouped_records_close(struct grouped_records *t)
{
	live_groups_free(t->live_groups);
	announced_names_free(&t->announced_names);
	free(t->queue);
}
