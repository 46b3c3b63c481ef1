// SPDX-License-Identifier: GPL-2.0-only
#include "merge/one_side.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

struct recorded {
	struct stats s;
	struct queue *queues;
	unsigned int nr;
	unsigned int last; /* records of a queue come in a row */
};

struct recorded *recorded_new(void)
{
	return calloc(1, sizeof(struct recorded));
}

void recorded_free(struct recorded *d)
{
	if (!d)
		return;
	stats_free(&d->s);
	free(d->queues);
	free(d);
}

static struct queue *find(struct recorded *d, uint32_t slot, uint32_t gen)
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

/* Others chose it, and a terminal will show it. */
static void copy_plain(char *to, size_t size, const char *from)
{
	size_t i;

	for (i = 0; i + 1 < size && from[i]; i++)
		to[i] = from[i] > ' ' && from[i] <= '~' ? from[i] : '?';
	to[i] = '\0';
}

int recorded_queue(struct recorded *d, enum nt_side side, const struct stream_queue *q)
{
	struct queue *known = find(d, q->slot, q->gen), *grown;

	d->s.side = side;
	if (known || d->nr == QUEUES_MAX)
		return 0;
	grown = realloc(d->queues, (d->nr + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	d->queues = grown;
	known = &grown[d->nr++];
	*known = (struct queue){.slot = q->slot, .gen = q->gen, .qid = q->qid};
	if (side == NT_HOST)
		snprintf(known->controller, sizeof(known->controller), "nvme%u", q->instance);
	else
		snprintf(known->controller, sizeof(known->controller), "cntlid %u", q->cntlid);
	copy_plain(known->peer, sizeof(known->peer), side == NT_HOST ? q->subsysnqn : q->hostnqn);
	return 0;
}

static void hist_count(struct hist *h, uint64_t ns)
{
	h->buckets[nt_bucket(ns)]++;
	h->count++;
	h->sum += ns;
	if (h->max < ns)
		h->max = ns;
}

int recorded_record(struct recorded *d, const struct nt_record *r)
{
	struct queue *q = d->nr ? find(d, r->slot, r->gen) : NULL;
	enum nt_op op = r->op < NT_OPS_NR ? (enum nt_op)r->op : NT_OP_OTHER;
	bool host = d->s.side == NT_HOST;
	uint64_t first = host ? r->points[NT_H_SUBMIT] ?: r->points[NT_H_QUEUE_RQ]
			      : r->points[NT_T_RX] ?: r->points[NT_T_CMD];
	uint64_t last = r->points[host ? (unsigned int)NT_H_COMPLETE : (unsigned int)NT_T_SENT];
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

const struct stats *recorded_stats(struct recorded *d, const struct stream_header *h,
				   const struct stream_losses *losses, double seconds)
{
	d->s.side = h->side;
	copy_plain(d->s.kernel, sizeof(d->s.kernel), h->kernel);
	d->s.driver = h->side == NT_HOST ? "nvme_tcp" : "nvmet_tcp";
	d->s.source = "recorded";
	d->s.sample = h->sample;
	d->s.elapsed = seconds;
	memcpy(d->s.counters_total, losses->count, sizeof(d->s.counters_total));
	return &d->s;
}
