// SPDX-License-Identifier: GPL-2.0-only
#include "merge/totals.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/names.h"
#include "core/segments.h"
#include "merge/merged_stages.h"

int totals_init(struct totals *t, unsigned int max_slowest)
{
	memset(t, 0, sizeof(*t));
	t->max_slowest = max_slowest;
	if (!max_slowest)
		return 0;
	t->slowest = calloc(max_slowest, sizeof(*t->slowest));
	return t->slowest ? 0 : -ENOMEM;
}

void totals_free(struct totals *t)
{
	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		for (unsigned int i = 0; i < t->nr_stages[op]; i++)
			free(t->stage[op][i]);
	for (unsigned int i = 0; i < t->nr_rows; i++)
		free(t->row[i]);
	free(t->row);
	for (unsigned int i = 0; i < t->nr_ctrls; i++) {
		totals_free(t->ctrl[i]);
		free(t->ctrl[i]);
	}
	free(t->ctrl);
	free(t->slowest);
	errors_free(&t->errors);
}

/* The slowest are a heap; the fastest of them is first, and is the one that is replaced. */
static void keep_slowest(struct totals *t, const struct slow_command *c)
{
	if (t->nr_slowest == t->max_slowest)
		heap_down(t->slowest, t->nr_slowest, 0, c, sizeof(*c), NULL);
	else
		heap_up(t->slowest, t->nr_slowest++, c, sizeof(*c), NULL);
}

static bool is_slow(const struct totals *t, uint64_t latency)
{
	return t->nr_slowest < t->max_slowest ||
	       (t->max_slowest && latency > t->slowest[0].latency);
}

void totals_by_ctrl(struct totals *t)
{
	t->max_ctrls = TOTALS_CTRLS_MAX;
}

/* Queues that connect again are those of the same controller, whatever its new id. */
static bool is_of_ctrl(const struct totals *ctrl, const struct merge_connection *c)
{
	return ctrl->connection->host_stream == c->host_stream &&
	       ctrl->connection->host_instance == c->host_instance &&
	       !strcmp(ctrl->connection->subsysnqn, c->subsysnqn);
}

/* Return: the totals of a connection's controller; NULL if there is no room for them. */
static struct totals *ctrl_get(struct totals *t, const struct merge_connection *c)
{
	struct totals *new;

	for (unsigned int i = 0; i < t->nr_ctrls; i++)
		if (is_of_ctrl(t->ctrl[i], c))
			return t->ctrl[i];
	if (t->nr_ctrls == t->max_ctrls)
		return NULL;
	new = ARRAY_MAKE(t->ctrl, t->nr_ctrls, t->nr_ctrls, sizeof(*new));
	if (new)
		new->connection = c;
	return new;
}

/* Return: NULL when memory ran out. */
static __attribute__((noinline)) struct totals_row *
row_make(struct totals *t, const struct merge_connection *c, enum nt_op op)
{
	unsigned int i = c->index * NT_OPS_NR + op;

	if (ARRAY_REACH(t->row, t->nr_rows, (c->index + 1) * NT_OPS_NR - 1))
		return NULL;
	t->row[i] = calloc(1, sizeof(*t->row[i]));
	if (!t->row[i])
		return NULL;
	t->row[i]->connection = c;
	t->row[i]->op = op;
	t->row[i]->ctrl = ctrl_get(t, c);
	return t->row[i];
}

static inline __attribute__((always_inline)) struct totals_row *
row_get(struct totals *t, const struct merge_connection *c, enum nt_op op)
{
	unsigned int i = c->index * NT_OPS_NR + op;

	return i < t->nr_rows && t->row[i] ? t->row[i] : row_make(t, c, op);
}

static uint32_t missing_of(const struct totals *t, unsigned int stream)
{
	return machines_get(t->machines, stream)->missing;
}

static unsigned int told_of(const struct totals *t)
{
	return t->machines ? t->machines->told : 0;
}

/* A connection keeps its machines, but their headers may come late. */
static void row_machines(const struct totals *t, struct totals_row *row,
			 const struct merge_connection *c, bool new)
{
	unsigned int told = told_of(t);
	uint32_t host, target;

	if (!new && row->told == told)
		return;
	row->told = told;
	host = missing_of(t, c->host_stream);
	target = missing_of(t, c->target_stream);
	if (!merged_split_renew(&row->how, host, target))
		return;
	memset(row->stage, 0, sizeof(row->stage));
	memset(row->own, 0, sizeof(row->own));
	row->has_stages = false;
	row->plain = false;
}

static uint32_t stages_into(const struct merged_split *how, unsigned int stage)
{
	uint32_t stages = 0;

	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		if (how->into[i] == stage)
			stages |= 1u << i;
	return stages;
}

/* Return: NULL when memory ran out, or with *@full set when there is no room for one more. */
static struct totals_stage *stage_get(struct totals *t, enum nt_op op, uint32_t stages,
				      const char *name, bool *full)
{
	struct totals_stage *stage;

	for (unsigned int i = 0; i < t->nr_stages[op]; i++)
		if (t->stage[op][i]->stages == stages)
			return t->stage[op][i];
	*full = t->nr_stages[op] == TOTALS_STAGES_MAX;
	stage = *full ? NULL : calloc(1, sizeof(*stage));
	if (!stage)
		return NULL;
	stage->stages = stages;
	snprintf(stage->name, sizeof(stage->name), "%s", name);
	t->stage[op][t->nr_stages[op]++] = stage;
	return stage;
}

/*
 * Finds where the stages of commands with this split are counted, and fills @stage where it is
 * NULL. Return: 0 or -ENOMEM.
 */
static int find_stages(struct totals *t, enum nt_op op, const struct merged_split *how,
		       struct totals_stage *stage[NT_MERGED_STAGES_NR], bool *full)
{
	char name[STAGE_NAME_LEN];

	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR && !*full; i++) {
		if (how->into[i] != i || stage[i])
			continue;
		merged_joined_name(how->into, i, name, sizeof(name));
		stage[i] = stage_get(t, op, stages_into(how, i), name, full);
		if (!stage[i] && !*full)
			return -ENOMEM;
	}
	return 0;
}

static int row_find_stages(struct totals *t, struct totals_row *row, bool *full)
{
	if (find_stages(t, row->op, &row->how, row->stage, full) ||
	    (row->ctrl && find_stages(row->ctrl, row->op, &row->how, row->own, full)))
		return -ENOMEM;
	row->has_stages = !*full;
	row->plain = row->has_stages && !row->how.missing[NT_HOST] && !row->how.missing[NT_TARGET];
	return 0;
}

static int row_stages(struct totals *t, struct totals_row *row, bool *full)
{
	*full = false;
	return row->has_stages ? 0 : row_find_stages(t, row, full);
}

static void add_negative(struct totals *t, struct totals_stage *stage, int64_t ns)
{
	t->negative++;
	if (ns < t->most_negative)
		t->most_negative = ns;
	stage->below += ns;
}

/* Return: false if there is no room or memory for the parts of these bits. */
static bool find_parts(struct totals *t, enum nt_op op, uint32_t parts)
{
	bool full = false;

	for (unsigned int i = 0; i < NT_STAGE_PARTS_NR; i++) {
		if (t->part[op][i] || !(parts & 1u << i))
			continue;
		t->part[op][i] = stage_get(t, op, TOTALS_PART_BIT(i), stage_part_name(i), &full);
		if (!t->part[op][i])
			return false;
	}
	return true;
}

/* Counts the parts of these bits in the place of their stages. */
static void add_parts(struct totals *t, enum nt_op op, uint32_t parts,
		      const int64_t part[NT_STAGE_PARTS_NR], bool negative_counts)
{
	for (unsigned int i = 0; i < NT_STAGE_PARTS_NR; i++) {
		struct totals_stage *s = t->part[op][i];

		if (!(parts & 1u << i))
			continue;
		if (part[i] < 0 && negative_counts)
			add_negative(t, s, part[i]);
		else if (part[i] < 0)
			s->below += part[i];
		hist_count(&s->time, part[i] < 0 ? 0 : (uint64_t)part[i]);
	}
}

/*
 * Counts stages by their parts, where these are known. Return: bits of these stages; the others
 * have to be counted as a whole.
 */
static uint32_t add_parted(struct totals *t, struct totals_row *row, const struct merged_split *how,
			   const struct nt_record *host, const struct nt_record *target,
			   const int64_t stage[NT_MERGED_STAGES_NR])
{
	int64_t part[NT_STAGE_PARTS_NR];
	uint32_t parts = stage_parts(how, host, target, stage, part);

	if (!parts || !find_parts(t, row->op, parts) ||
	    (row->ctrl && !find_parts(row->ctrl, row->op, parts)))
		return 0;
	add_parts(t, row->op, parts, part, true);
	for (unsigned int i = 0; i < NT_STAGE_PARTS_NR; i++)
		if (parts & 1u << i)
			row->part[i] += part[i];
	if (row->ctrl)
		add_parts(row->ctrl, row->op, parts, part, false);
	return stages_of_parts(parts);
}

/*
 * @network: the stage that the network is in
 * @at: where stages are counted
 * @own: the same for its controller
 * @parted: bits of the stages that are counted already, by their parts
 * @joined: an arrival of the command may be that of a later packet
 */
static void add_stages(struct totals *t, struct totals_row *row,
		       const int64_t stage[NT_MERGED_STAGES_NR], unsigned int network,
		       struct totals_stage *const at[NT_MERGED_STAGES_NR],
		       struct totals_stage *const own[NT_MERGED_STAGES_NR], uint32_t parted,
		       bool joined)
{
	row->split++;
	if (network < NT_MERGED_STAGES_NR) {
		t->network_ns += stage[network];
		if (joined)
			t->joined_network_ns += stage[network];
	}
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++) {
		struct totals_stage *s = at[i];
		int64_t ns = stage[i];

		if (!s)
			continue;
		row->sum[i] += ns;
		if (parted & 1u << i)
			continue;
		if (ns < 0) {
			add_negative(t, s, ns);
			if (own[i])
				own[i]->below += ns;
			ns = 0;
		}
		hist_count(&s->time, (uint64_t)ns);
		if (own[i])
			hist_count(&own[i]->time, (uint64_t)ns);
	}
}

static void add_unsplit(struct totals *t, struct totals_row *row, uint64_t latency)
{
	t->unsplit++;
	row->unsplit_ns += latency;
	hist_count(&t->unsplit_latency[row->op], latency);
	if (row->ctrl)
		hist_count(&row->ctrl->unsplit_latency[row->op], latency);
}

/* Commands of connections with TLS lack all arrivals, mostly. */
static const struct merged_split *split_lacking(struct totals *t, uint32_t host, uint32_t target)
{
	if (merged_split_renew(&t->lacking, host, target))
		memset(t->lacking_stage, 0, sizeof(t->lacking_stage));
	return &t->lacking;
}

/* Counts the stages of any command. */
static __attribute__((noinline)) void add_split(struct totals *t, struct totals_row *row,
						const struct nt_record *host,
						const struct nt_record *target, uint64_t latency)
{
	bool joined = (host->flags | target->flags) & NT_F_ARRIVAL_JOINED;
	uint32_t host_lacks = row->how.missing[NT_HOST] | record_lacks(host);
	uint32_t target_lacks = row->how.missing[NT_TARGET] | record_lacks(target);
	struct totals_stage **at = row->stage, **own = row->own;
	const struct merged_split *how = &row->how;
	int64_t stage[NT_MERGED_STAGES_NR];
	bool full = false;

	if (host_lacks != how->missing[NT_HOST] || target_lacks != how->missing[NT_TARGET]) {
		how = split_lacking(t, host_lacks, target_lacks);
		at = t->lacking_stage[row->op];
		full = find_stages(t, row->op, how, at, &full) || full;
		if (row->ctrl) {
			split_lacking(row->ctrl, host_lacks, target_lacks);
			own = row->ctrl->lacking_stage[row->op];
			full = find_stages(row->ctrl, row->op, how, own, &full) || full;
		}
	}
	if (!full && merged_split(how, host, target, stage)) {
		uint32_t parted = add_parted(t, row, how, host, target, stage);

		add_stages(t, row, stage, how->into[NT_MS_NETWORK_TRANSMISSION], at, own, parted,
			   joined);
		t->last.into = how->into;
		memcpy(t->last.stage, stage, sizeof(stage));
	} else {
		add_unsplit(t, row, latency);
	}
}

/*
 * The usual command: each of the ten is a stage, and none is negative or in the last bucket.
 * Return: false, and nothing is counted, if it is another.
 */
static inline __attribute__((always_inline)) bool
add_plain(struct totals *t, struct totals_row *row, const struct nt_record *host,
	  const struct nt_record *target, bool joined)
{
	int64_t stage[NT_MERGED_STAGES_NR];
	unsigned int bucket;
	uint64_t bits = 0;

	if (!row->plain || may_have_parts(host, target) || !split_whole(host, target, stage))
		return false;
#define BITS(id, name) bits |= (uint64_t)stage[NT_##id];
	NT_MERGED_STAGES(BITS)
#undef BITS
	if (bits >= 1ULL << NT_MAX_BITS)
		return false;
	row->split++;
	t->network_ns += stage[NT_MS_NETWORK_TRANSMISSION];
	if (joined)
		t->joined_network_ns += stage[NT_MS_NETWORK_TRANSMISSION];
#define COUNT(id, name)                                                              \
	row->sum[NT_##id] += stage[NT_##id];                                         \
	bucket = nt_bucket_of_known((unsigned long long)stage[NT_##id]);             \
	hist_count_in(&row->stage[NT_##id]->time, bucket, (uint64_t)stage[NT_##id]); \
	if (row->ctrl)                                                               \
		hist_count_in(&row->own[NT_##id]->time, bucket, (uint64_t)stage[NT_##id]);
	NT_MERGED_STAGES(COUNT)
#undef COUNT
	t->last.into = row->how.into;
	memcpy(t->last.stage, stage, sizeof(stage));
	return true;
}

/* @target: NULL if there is no record */
static void consider(struct totals *t, uint64_t latency, const struct merge_connection *c,
		     const struct nt_record *host, const struct nt_record *target)
{
	struct slow_command slow;

	if (!is_slow(t, latency))
		return;
	slow = (struct slow_command){
		.latency = latency,
		.alone = !target,
		.missing = {[NT_HOST] = missing_of(t, c->host_stream)},
		.connection = *c,
		.host = *host,
	};
	if (target) {
		slow.missing[NT_TARGET] = missing_of(t, c->target_stream);
		slow.target = *target;
	}
	keep_slowest(t, &slow);
}

void totals_add_single(struct totals *t, const struct merge_connection *c,
		       const struct nt_record *host)
{
	if (!(host->flags & NT_F_CANCELLED))
		return;
	t->cancelled++;
	consider(t, record_latency_ns(host), c, host, NULL);
}

static int add_error(struct totals *t, const struct merge_connection *c, enum nt_op op,
		     uint16_t status)
{
	char controller[32];

	snprintf(controller, sizeof(controller), "nvme%u", c->host_instance);
	return errors_add(&t->errors, controller, c->subsysnqn, c->qid, op, status, 1);
}

int totals_add(struct totals *t, const struct merge_connection *c, const struct nt_record *host,
	       const struct nt_record *target)
{
	/* A stream may give any operation: unknown ones count as NT_OP_OTHER. */
	enum nt_op op = host->op < NT_OPS_NR ? (enum nt_op)host->op : NT_OP_OTHER;
	uint64_t latency = record_latency_ns(host);
	uint32_t joined = (host->flags | target->flags) & NT_F_ARRIVAL_JOINED;
	unsigned int bucket;
	struct totals_row *row;
	bool full = false;

	consider(t, latency, c, host, target);
	t->last.row = NULL;
	t->last.into = NULL;
	/* The time until the host gave up says nothing about the storage. */
	if (host->flags & NT_F_CANCELLED) {
		t->cancelled++;
		return 0;
	}
	if (status_is_error(host->status))
		return add_error(t, c, op, host->status);
	row = row_get(t, c, op);
	if (!row)
		return -ENOMEM;
	if (!row->plain || row->told != told_of(t)) {
		row_machines(t, row, c, !row->commands);
		if (row_stages(t, row, &full))
			return -ENOMEM;
	}
	t->last.row = row;
	t->commands++;
	if (joined)
		t->joined++;
	bucket = nt_bucket(latency);
	row->commands++;
	row->latency_ns += latency;
	hist_count_in(&t->latency[op], bucket, latency);
	t->latency[op].bytes += host->length;
	if (row->ctrl) {
		row->ctrl->commands++;
		hist_count_in(&row->ctrl->latency[op], bucket, latency);
	}
	if (full)
		add_unsplit(t, row, latency);
	else if (!add_plain(t, row, host, target, joined))
		add_split(t, row, host, target, latency);
	return 0;
}

/* Most histograms are empty, and together they are large. */
static void hist_move(struct hist *into, struct hist *from)
{
	if (!from->count)
		return;
	hist_merge(into, from);
	memset(from, 0, sizeof(*from));
}

static int row_move(struct totals *into, struct totals_row *from)
{
	struct totals_row *row = row_get(into, from->connection, from->op);

	if (!row)
		return -ENOMEM;
	row->commands += from->commands;
	row->latency_ns += from->latency_ns;
	row->split += from->split;
	row->unsplit_ns += from->unsplit_ns;
	row->how = from->how;
	from->commands = 0;
	from->latency_ns = 0;
	from->split = 0;
	from->unsplit_ns = 0;
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++) {
		row->sum[i] += from->sum[i];
		from->sum[i] = 0;
	}
	for (unsigned int i = 0; i < NT_STAGE_PARTS_NR; i++) {
		row->part[i] += from->part[i];
		from->part[i] = 0;
	}
	return 0;
}

static int stages_move(struct totals *into, struct totals *from, enum nt_op op)
{
	for (unsigned int i = 0; i < from->nr_stages[op]; i++) {
		struct totals_stage *s = from->stage[op][i], *sum;
		bool full;

		if (!s->time.count)
			continue;
		/* There is room: all stages in @into came from here. */
		sum = stage_get(into, op, s->stages, s->name, &full);
		if (!sum)
			return -ENOMEM;
		hist_move(&sum->time, &s->time);
		sum->below += s->below;
		s->below = 0;
	}
	return 0;
}

int totals_add_op(struct totals *into, const struct totals *from, enum nt_op op)
{
	bool full = false;

	hist_merge(&into->latency[op], &from->latency[op]);
	hist_merge(&into->unsplit_latency[op], &from->unsplit_latency[op]);
	into->commands += from->latency[op].count;
	for (unsigned int i = 0; i < from->nr_stages[op]; i++) {
		const struct totals_stage *s = from->stage[op][i];
		struct totals_stage *sum = stage_get(into, op, s->stages, s->name, &full);

		if (!sum && !full)
			return -ENOMEM;
		if (!sum)
			continue;
		hist_merge(&sum->time, &s->time);
		sum->below += s->below;
	}
	return 0;
}

static void ctrl_clear(struct totals *t)
{
	memset(t->latency, 0, sizeof(t->latency));
	memset(t->unsplit_latency, 0, sizeof(t->unsplit_latency));
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		for (unsigned int i = 0; i < t->nr_stages[op]; i++) {
			memset(&t->stage[op][i]->time, 0, sizeof(t->stage[op][i]->time));
			t->stage[op][i]->below = 0;
		}
	}
	t->commands = 0;
}

/* Moves the totals of controllers, or drops them where @into has none. */
static int ctrls_move(struct totals *into, const struct totals *from)
{
	for (unsigned int i = 0; i < from->nr_ctrls; i++) {
		struct totals *of = from->ctrl[i], *sum;

		if (!of->commands)
			continue;
		sum = ctrl_get(into, of->connection);
		for (unsigned int op = 0; sum && op < NT_OPS_NR; op++)
			if (totals_add_op(sum, of, (enum nt_op)op))
				return -ENOMEM;
		ctrl_clear(of);
	}
	return 0;
}

int totals_fold(struct totals *into, struct totals *from)
{
	if (ctrls_move(into, from))
		return -ENOMEM;
	for (unsigned int i = 0; i < from->nr_rows; i++) {
		if (from->row[i] && from->row[i]->commands && row_move(into, from->row[i]))
			return -ENOMEM;
	}
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		hist_move(&into->latency[op], &from->latency[op]);
		hist_move(&into->unsplit_latency[op], &from->unsplit_latency[op]);
		if (stages_move(into, from, (enum nt_op)op))
			return -ENOMEM;
	}
	if (errors_fold(&into->errors, &from->errors))
		return -ENOMEM;
	into->commands += from->commands;
	into->joined += from->joined;
	into->network_ns += from->network_ns;
	into->joined_network_ns += from->joined_network_ns;
	into->unsplit += from->unsplit;
	into->cancelled += from->cancelled;
	into->negative += from->negative;
	if (from->most_negative < into->most_negative)
		into->most_negative = from->most_negative;
	from->commands = 0;
	from->joined = 0;
	from->network_ns = from->joined_network_ns = 0;
	from->unsplit = from->cancelled = 0;
	from->negative = 0;
	from->most_negative = 0;
	return 0;
}

static int by_latency(const void *a, const void *b)
{
	const struct slow_command *x = a, *y = b;

	return x->latency > y->latency ? -1 : x->latency < y->latency;
}

void totals_sort(struct totals *t)
{
	if (t->nr_slowest)
		qsort(t->slowest, t->nr_slowest, sizeof(t->slowest[0]), by_latency);
}
