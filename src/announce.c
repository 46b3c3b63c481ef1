// SPDX-License-Identifier: GPL-2.0-only
#include "announce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void describe(const struct tracer *t, const struct nt_record *r, struct stream_queue *out)
{
	struct tracer_queue q;

	tracer_queue(t, r->slot, &q);
	*out = (struct stream_queue){
		.slot = r->slot,
		.gen = r->gen,
		.instance = q.instance,
		.cntlid = r->cntlid,
		.qid = r->qid,
		.sqsize = q.sqsize,
	};
	/* The slot may have gone to another connection since: then only what the record says is sure. */
	if (q.gen != r->gen)
		return;
	memcpy(out->subsysnqn, q.subsysnqn, sizeof(out->subsysnqn));
	memcpy(out->hostnqn, q.hostnqn, sizeof(out->hostnqn));
	memcpy(out->address, q.address, sizeof(out->address));
}

int announce(struct announced *a, const struct tracer *t, const struct nt_record *r,
	     struct stream_queue *q)
{
	uint32_t *grown;

	if (r->slot >= a->nr) {
		grown = realloc(a->gen, (r->slot + 1) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		memset(grown + a->nr, 0, (r->slot + 1 - a->nr) * sizeof(*grown));
		a->gen = grown;
		a->nr = r->slot + 1;
	}
	if (a->gen[r->slot] == r->gen)
		return 0;
	a->gen[r->slot] = r->gen;
	describe(t, r, q);
	return 1;
}

void announced_free(struct announced *a)
{
	free(a->gen);
}
