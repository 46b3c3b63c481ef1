// SPDX-License-Identifier: GPL-2.0-only
#include "trace/announce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"

bool announce_describe(const struct tracer *t, const struct nt_record *r, struct queue_info *out)
{
	bool gone;

	tracer_queue(t, r->slot, r->gen, out);
	gone = out->gen != r->gen;
	out->gen = r->gen;
	out->cntlid = r->cntlid;
	out->qid = r->qid;
	/* The slot belongs to another connection by now. */
	if (gone)
		out->address[0] = '\0';
	return gone || out->subsysnqn[0];
}

int announce(struct announced *a, const struct tracer *t, const struct nt_record *r,
	     struct queue_info *q)
{
	struct announced_queue *told;
	bool new, named;

	if (announced_already(a, r))
		return 0;
	if (ARRAY_REACH(a->queues, a->nr, r->slot))
		return -ENOMEM;
	told = &a->queues[r->slot];
	new = told->gen != r->gen || told->cntlid != r->cntlid;
	named = announce_describe(t, r, q);
	if (!new && !named)
		return 0;
	*told = (struct announced_queue){.gen = r->gen, .cntlid = r->cntlid, .named = named};
	return 1;
}

void announced_free(struct announced *a)
{
	free(a->queues);
}
