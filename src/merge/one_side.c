// SPDX-License-Identifier: GPL-2.0-only
#include "merge/one_side.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "core/segments.h"
#include "core/span.h"
#include "core/text.h"

/* More than any machine has; commands of the rest are shown together. */
#define QUEUES_MAX 4096

struct queue {
	uint32_t slot;
	uint32_t gen;
	uint16_t qid;
	char controller[32];
	char peer[NT_NQN_LEN];
	struct stats_row *row[NT_OPS_NR];
};

struct one_side {
	struct stats s;
	struct queue *queues;
	unsigned int nr;
	unsigned int last; /* records of a queue come in a row */
};

struct one_side *one_side_new(enum nt_side side)
{
	struct one_side *d = calloc(1, sizeof(*d));

	if (d)
		d->s.side = side;
	return d;
}

void one_side_free(struct one_side *d)
{
	if (!d)
		return;
	stats_free(&d->s);
	free(d->queues);
	free(d);
}

static struct queue *find(struct one_side *d, uint32_t slot, uint32_t gen)
{
	for (unsigned int n = 0; n < d->nr; n++) {
		unsigned int i = (d->last + n) % d->nr;

		if (d->queues[i].slot == slot && d->queues[i].gen == gen) {
			d->last = i;
			return &d->queues[i];
		}
	}
	return NULL;
}

int one_side_queue(struct one_side *d, const struct queue_info *q)
{
	struct queue *known = find(d, q->slot, q->gen), *grown;
	bool host = d->s.side == NT_HOST;

	if (known || d->nr == QUEUES_MAX)
		return 0;
	grown = realloc(d->queues, (d->nr + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	d->queues = grown;
	known = &grown[d->nr++];
	*known = (struct queue){.slot = q->slot, .gen = q->gen, .qid = q->qid};
	if (host)
		snprintf(known->controller, sizeof(known->controller), "nvme%u", q->instance);
	else
		snprintf(known->controller, sizeof(known->controller), "cntlid %u", q->cntlid);
	snprintf(known->peer, sizeof(known->peer), "%s", host ? q->subsysnqn : q->hostnqn);
	return 0;
}

int one_side_record(struct one_side *d, const struct nt_record *r)
{
	struct queue *q = d->nr ? find(d, r->slot, r->gen) : NULL;
	enum nt_op op = r->op < NT_OPS_NR ? (enum nt_op)r->op : NT_OP_OTHER;
	uint64_t first = record_begin_ns(r), last = record_end_ns(r);
	uint64_t stage[NT_STAGES_MAX];
	struct stats_row *row;

	/* Those that ended otherwise are in the stream's losses. */
	if ((r->flags & NT_F_CANCELLED) || !first || last < first)
		return 0;
	row = q && q->row[op] ? q->row[op]
			      : stats_row(&d->s, q ? q->controller : "", q ? q->peer : "",
					  q ? q->qid : 0, op, !q);
	if (!row)
		return -ENOMEM;
	if (q)
		q->row[op] = row;
	hist_count(&row->total, last - first);
	row->total.bytes += r->length;
	if (!record_stages(r, stage))
		return 0;
	for (unsigned int i = 0; i < stages_nr(d->s.side); i++)
		hist_count(&d->s.stage_total[op][i], stage[i]);
	return 0;
}

const struct stats *one_side_stats(struct one_side *d, const char *kernel, uint32_t sample,
				   const uint64_t losses[COUNTERS_NR], double seconds)
{
	text_copy(d->s.kernel, sizeof(d->s.kernel), kernel, TEXT_MARK);
	d->s.driver = driver_name(d->s.side);
	d->s.source = "recorded";
	d->s.sample = sample;
	d->s.elapsed = seconds;
	memcpy(d->s.counters_total, losses, sizeof(d->s.counters_total));
	return &d->s;
}
