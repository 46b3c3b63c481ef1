// SPDX-License-Identifier: GPL-2.0-only
#include "merge/one_side.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/names.h"
#include "core/sample.h"
#include "core/segments.h"
#include "core/span.h"
#include "core/statuses.h"
#include "core/text.h"
#include "merge/group_names.h"

/*
 * The most connections that records may refer to: more than a machine has at a time. The first one
 * added gives way.
 */
#define ONE_SIDE_QUEUES_MAX 4096
/*
 * The most rows. A controller that reconnects with another id gets new ones. Commands past the
 * limit share the row of unknown queues.
 */
#define ONE_SIDE_ROWS_MAX 2048

/* Identity of a record's queue: one of the connections that had the slot. */
struct queue_key {
	uint32_t slot;
	uint32_t gen;
};

struct queue {
	struct queue_key key;
	struct queue_info info;
	uint16_t qid;
	char controller[32];
	char peer[NT_NQN_LEN];
	bool selected;
	struct stats_row *row[NT_OPS_NR];
	UT_hash_handle hh;
};

struct one_side {
	struct stats s;
	struct stage_split how, lacking; /* of records that lack arrivals */
	struct queue *queues;		 /* hash table */
	const struct filter *filter;
	const struct places *places;
	uint64_t taken;
	struct details *details;
	struct groups *groups;
	char source[GROUP_SOURCE_LEN];
	uint32_t sample;
};

struct one_side *one_side_new(enum nt_side side)
{
	struct one_side *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->s.side = side;
	one_side_lacks(o, 0);
	return o;
}

void one_side_lacks(struct one_side *o, uint32_t missing)
{
	o->s.missing = missing;
	stage_split_init(&o->how, o->s.side, missing);
	stage_split_init(&o->lacking, o->s.side,
			 missing | (o->s.side == NT_HOST ? NT_HOST_ARRIVALS : NT_TARGET_ARRIVALS));
}

void one_side_filter(struct one_side *o, const struct filter *f)
{
	o->filter = f;
}

void one_side_places(struct one_side *o, const struct places *p)
{
	o->places = p;
}

int one_side_groups(struct one_side *o, const struct grouping *how, const char *source,
		    uint32_t sample)
{
	o->groups = groups_new(how);
	snprintf(o->source, sizeof(o->source), "%s", source);
	o->sample = sample;
	return o->groups ? 0 : -ENOMEM;
}

int one_side_details(struct one_side *o)
{
	o->details = details_new();
	return o->details ? 0 : -ENOMEM;
}

const struct details *one_side_detailed(const struct one_side *o)
{
	return o->details;
}

struct groups *one_side_grouped(struct one_side *o)
{
	return o->groups;
}

void one_side_free(struct one_side *o)
{
	struct queue *q;

	if (!o)
		return;
	stats_free(&o->s);
	groups_free(o->groups);
	details_free(o->details);
	while (o->queues) {
		q = o->queues;
		HASH_DEL(o->queues, q);
		free(q);
	}
	free(o);
}

static struct queue *queue_find(const struct one_side *o, const struct queue_key *key)
{
	struct queue *q;

	HASH_FIND_BYHASHVALUE(hh, o->queues, key, sizeof(*key), hash_pair(key->slot, key->gen), q);
	return q;
}

static bool is_selected(const struct one_side *o, const struct queue_info *info)
{
	return !o->filter || selects_queue(&o->filter->select.by, o->s.side, info);
}

int one_side_queue(struct one_side *o, const struct queue_info *info)
{
	const struct queue_key key = {.slot = info->slot, .gen = info->gen};
	bool host = o->s.side == NT_HOST;
	struct queue *q;

	q = queue_find(o, &key);
	if (q) {
		/* More of its identity may be known now. */
		q->selected = is_selected(o, info);
		q->info = *info;
		return 0;
	}
	/* The first of a table of uthash is the one that was added first. */
	if (HASH_COUNT(o->queues) == ONE_SIDE_QUEUES_MAX) {
		q = o->queues;
		HASH_DEL(o->queues, q);
		free(q);
	}
	q = calloc(1, sizeof(*q));
	if (!q)
		return -ENOMEM;
	q->key = key;
	q->info = *info;
	q->qid = info->qid;
	q->selected = is_selected(o, info);
	if (host)
		snprintf(q->controller, sizeof(q->controller), "nvme%u", info->instance);
	else
		snprintf(q->controller, sizeof(q->controller), "cntlid %u", info->cntlid);
	snprintf(q->peer, sizeof(q->peer), "%s", host ? info->subsysnqn : info->hostnqn);
	HASH_ADD_BYHASHVALUE(hh, o->queues, key, sizeof(key), hash_pair(key.slot, key.gen), q);
	if (hash_added(q))
		return 0;
	free(q);
	return -ENOMEM;
}

/* Return: the row of a queue. Past the limit, or if @q is NULL, the row that all others share. */
static struct stats_row *row_get(struct one_side *o, const struct queue *q, enum nt_op op)
{
	if (!q || o->s.nr_rows >= ONE_SIDE_ROWS_MAX)
		return stats_row(&o->s, "", "", 0, op, true);
	return stats_row(&o->s, q->controller, q->peer, q->qid, op, false);
}

static int count_error(struct one_side *o, const struct queue *q, enum nt_op op, uint16_t status)
{
	return errors_add(&o->s.errors, q ? q->controller : "", q ? q->peer : "", q ? q->qid : 0,
			  op, status, 1);
}

static const struct stage_split *how_of(const struct one_side *o, const struct nt_record *r)
{
	return record_lacks(r) ? &o->lacking : &o->how;
}

/* @q: NULL if the stream has not announced the queue */
static bool takes(const struct one_side *o, const struct queue *q, const struct nt_record *r,
		  uint64_t began_ns)
{
	static const struct queue_info unknown;

	if (!o->filter)
		return true;
	return (q ? q->selected : is_selected(o, &unknown)) &&
	       places_takes(o->places, &o->filter->select, r) &&
	       filter_takes(o->filter, r, how_of(o, r), began_ns);
}

static int count_group(struct one_side *o, const struct queue *q, const struct nt_record *r,
		       uint64_t began_ns)
{
	struct group_recorder who = {
		.began_ns = began_ns,
		.sample = o->sample,
		.places = o->places,
	};
	struct group_name name;

	who.source[o->s.side] = o->source;
	group_name_side(&name, &groups_how(o->groups)->by, o->s.side, q ? &q->info : NULL, r, &who);
	return groups_add_record(o->groups, &name, r, &who);
}

int one_side_record(struct one_side *o, const struct nt_record *r, uint64_t began_ns)
{
	const struct queue_key key = {.slot = r->slot, .gen = r->gen};
	struct queue *q = queue_find(o, &key);
	enum nt_op op = r->op < NT_OPS_NR ? (enum nt_op)r->op : NT_OP_OTHER;
	uint64_t first = record_begin_ns(r), last = record_end_ns(r);
	const struct stage_split *how = how_of(o, r);
	uint64_t stage[NT_STAGES_MAX];
	struct stats_row *row;

	if (!takes(o, q, r, began_ns))
		return 0;
	o->taken++;
	if (o->groups && ((r->flags & NT_F_CANCELLED) || (first && last >= first)) &&
	    count_group(o, q, r, began_ns))
		return -ENOMEM;
	/* Commands that were given up, or lack a time, are in the stream's losses. */
	if ((r->flags & NT_F_CANCELLED) || !first || last < first)
		return 0;
	if (status_is_error(r->status))
		return count_error(o, q, op, r->status);
	row = q && q->row[op] ? q->row[op] : row_get(o, q, op);
	if (!row)
		return -ENOMEM;
	if (q)
		q->row[op] = row;
	hist_count(&row->total, last - first);
	row->total.bytes += r->length;
	o->s.alike_total[nt_alike(nt_sample_mix(r->qid, r->cid, r->length, r->slba))]++;
	if (o->details && details_add(o->details, o->s.side == NT_HOST ? r : NULL,
				      o->s.side == NT_TARGET ? r : NULL))
		return -ENOMEM;
	if (!stage_split(how, r, stage))
		return 0;
	for (unsigned int i = 0; i < stages_nr(o->s.side); i++)
		if (how->into[i] == i)
			hist_count(&o->s.stage_total[op][i], stage[i]);
	return 0;
}

uint64_t one_side_taken(const struct one_side *o)
{
	return o->taken;
}

const struct stats *one_side_stats(struct one_side *o, const char *kernel, uint32_t sample,
				   const uint64_t losses[COUNTERS_NR], double seconds)
{
	text_copy(o->s.kernel, sizeof(o->s.kernel), kernel, TEXT_MARK);
	o->s.driver = driver_name(o->s.side);
	o->s.source = "recorded";
	o->s.recorded = true;
	o->s.sample = sample;
	o->s.selected = o->filter;
	o->s.elapsed = seconds;
	memcpy(o->s.counters_total, losses, sizeof(o->s.counters_total));
	stats_lacks(&o->s, o->how.missing);
	return &o->s;
}
