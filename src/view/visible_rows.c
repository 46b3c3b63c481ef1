// SPDX-License-Identifier: GPL-2.0-only
#include "view/visible_rows.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"
#include "view/view_state.h"

/* The names of a row or of a group that a filter is compared with. */
struct names {
	const char *name[8];
	enum nt_op op;
	bool shared;
	unsigned int queue;
};

/* Whether a word is in the names, or is the queue: "nvme0", "uuid:1", "read", "q3", "3". */
static bool word_matches(const char *word, const struct names *n)
{
	char queue[16] = "all";

	if (!n->shared)
		snprintf(queue, sizeof(queue), "q%u", n->queue);
	/* A number matches only the queue id, because most names contain numbers. */
	if (word[0] && !word[strspn(word, "0123456789")])
		return !n->shared && !strcmp(queue + 1, word);
	for (size_t i = 0; i < ARRAY_SIZE(n->name) && n->name[i]; i++)
		if (strcasestr(n->name[i], word))
			return true;
	return strcasestr(op_name(n->op), word) || !strcasecmp(queue, word);
}

static bool matches(const char *filter, const struct names *n)
{
	char words[VIEW_FILTER_LEN], *rest = words;

	snprintf(words, sizeof(words), "%s", filter);
	for (const char *word; (word = strsep(&rest, " "));)
		if (!word_matches(word, n))
			return false;
	return true;
}

static bool row_matches(const char *filter, const struct queue_row *row)
{
	const struct stats_row *r = row->row;
	struct value controller;

	columns_get(&queue_columns, QUEUE_CONTROLLER, row, &controller);
	return matches(filter,
		       &(struct names){{controller.text, r->peer}, r->op, r->shared, r->qid});
}

static bool group_matches(const char *filter, const struct group_name *n)
{
	return matches(filter, &(struct names){{n->ctrl, n->nqn, n->host, n->device, n->path,
						n->cgroup, n->comm, n->container},
					       n->op,
					       n->shared,
					       n->queue});
}

static void workload_add(struct workload *into, const struct workload *from)
{
	into->commands += from->commands;
	into->bytes += from->bytes;
}

static void row_add(struct stats_row *into, const struct stats_row *from)
{
	if (from->recent && into->recent)
		recent_merge(into->recent, from->recent);
	hist_merge(&into->interval, &from->interval);
	hist_merge(&into->total, &from->total);
	workload_add(&into->others_interval, &from->others_interval);
	workload_add(&into->others_total, &from->others_total);
	waiting_add(&into->waiting, &from->waiting);
}

/* Fills @k with the identity of a row. */
static void visible_rows_name(struct view_row *k, const struct stats_row *row)
{
	*k = (struct view_row){.qid = row->qid, .shared = row->shared, .op = row->op};
	memcpy(k->controller, row->controller, sizeof(k->controller));
	memcpy(k->peer, row->peer, sizeof(k->peer));
}

static bool is_named(const struct stats_row *row, const struct view_row *k)
{
	return row->shared == k->shared && (k->shared || row->qid == k->qid) && row->op == k->op &&
	       !strcmp(row->controller, k->controller) && !strcmp(row->peer, k->peer);
}

/*
 * For each choice of the key g, what the rows of one group have in common. The NQN is needed
 * because two controllers may have the same name.
 */
static const struct group_by groups_of_keys[VIEW_GROUPS_NR] = {
	[VIEW_GROUP_CTRL] = {.nr = 2, .key = {GROUP_CTRL, GROUP_NQN}},
	[VIEW_GROUP_QUEUE] = {.nr = 1, .key = {GROUP_QUEUE}},
	[VIEW_GROUP_OP] = {.nr = 1, .key = {GROUP_OP}},
	[VIEW_GROUP_NQN] = {.nr = 2, .key = {GROUP_CTRL, GROUP_NQN}},
};

/* Names a row's group of the key g. Its ctrl is the text in the column of the controller. */
static void key_name(struct group_name *name, const struct queue_row *row, enum view_group group)
{
	char tail[GROUP_SHORT_LEN];
	struct value controller;

	memset(name, 0, sizeof(*name));
	name->op = (uint8_t)row->row->op;
	name->shared = row->row->shared;
	name->queue = row->row->qid;
	columns_get(&queue_columns, QUEUE_CONTROLLER, row, &controller);
	snprintf(name->ctrl, sizeof(name->ctrl), "%s",
		 group == VIEW_GROUP_NQN ? group_name_short(tail, row->row->peer, 0)
					 : controller.text);
	snprintf(name->nqn, sizeof(name->nqn), "%s", row->row->peer);
}

/* Sets the row's identity, which has the text that is shown. */
static void key_identity(struct stats_row *row, const struct group_name *name,
			 enum view_group group)
{
	snprintf(row->controller, sizeof(row->controller), "%.*s", (int)sizeof(row->controller) - 1,
		 name->ctrl);
	snprintf(row->peer, sizeof(row->peer), "%s", name->nqn);
	row->op = name->op;
	row->qid = name->queue;
	row->shared = name->shared || group != VIEW_GROUP_QUEUE;
}

/* Names a row's group of --by. */
static void choice_name(struct group_name *name, const struct stats *s, const struct stats_row *row)
{
	bool host = s->side == NT_HOST;

	memset(name, 0, sizeof(*name));
	name->op = (uint8_t)row->op;
	name->shared = row->shared;
	name->queue = row->qid;
	snprintf(name->ctrl, sizeof(name->ctrl), "%s", row->controller);
	name->ctrl_of = hash_text(hash_text(0, row->peer), row->other);
	snprintf(name->nqn, sizeof(name->nqn), "%s", host ? row->peer : row->other);
	snprintf(name->host, sizeof(name->host), "%s", host ? row->other : row->peer);
	snprintf(name->source, sizeof(name->source), "%s", s->source);
}

/*
 * Sets the row's identity: the controller that its own page shows, and, in place of the peer, a
 * text that is made of the whole name and differs between groups.
 */
static void choice_identity(struct stats_row *row, const struct group_name *name,
			    const struct group_by *by)
{
	uint64_t h = hash_text(hash_text(name->ctrl_of, name->nqn), name->host);

	h = hash_text(hash_text(hash_text(h, name->device), name->path), name->cgroup);
	h = hash_two(hash_text(hash_text(h, name->comm), name->container), name->pid);
	snprintf(row->peer, sizeof(row->peer), "%016llx.%u.%u.%u.%u.%u.%u.%u.%s",
		 (unsigned long long)hash_text(h, name->ctrl), name->queue, name->shared,
		 name->size, name->nsid, name->status, name->cancelled, name->cpu, name->source);
	snprintf(row->controller, sizeof(row->controller), "%.15s", name->ctrl);
	if (!name->ctrl[0])
		snprintf(row->controller, sizeof(row->controller), "group");
	row->op = name->op;
	row->qid = name->queue;
	row->shared = name->shared || !group_has(by, GROUP_QUEUE);
}

/* Adds a row to its group: of --by if @chosen, or of the key g. Return: 0 or -ENOMEM. */
static int group_add(struct visible_rows *p, const struct stats *s, const struct queue_row *row,
		     const struct view_state *l, bool chosen)
{
	struct visible_group *group;
	struct group_name name;

	if (chosen)
		choice_name(&name, s, row->row);
	else
		key_name(&name, row, l->group);
	group = group_row(&p->groups, &name, sizeof(*group));
	if (!group)
		return -ENOMEM;
	group->row.recent = &group->recent;
	row_add(&group->row, row->row);
	p->shown[row->index] = &group->row;
	return 0;
}

/* Adds the groups that are made from records. Return: 0 or -ENOMEM. */
static int add_live_groups(struct visible_rows *p, const struct view_state *l, bool summary)
{
	const struct live_groups *t = l->choice->live_groups;

	for (size_t i = 0; i < live_groups_nr(t); i++) {
		const struct live_groups_row *from = live_groups_row(t, i);
		uint64_t failed = summary ? from->failed_total : from->failed_interval;
		bool recent = !summary && from->row.recent && from->row.recent->h.count;
		struct visible_group *new;

		if (!failed && !recent && !columns_hist_of(&from->row, summary)->count)
			continue;
		p->from++;
		if (l->filter[0] && !group_matches(l->filter, &from->name))
			continue;
		new = ARRAY_MAKE(p->groups.row, p->groups.nr, p->groups.nr, sizeof(*new));
		if (!new)
			return -ENOMEM;
		memcpy(&new->name, &from->name, sizeof(new->name));
		new->row.recent = &new->recent;
		new->failed = failed;
		new->seen = summary ? &from->seen_total : &from->seen_interval;
		row_add(&new->row, &from->row);
		row_add(p->total_row, &from->row);
	}
	return 0;
}

static struct group_name *choice_at(void *context, size_t i)
{
	const struct visible_rows *p = context;

	return p->groups.row[i];
}

static const unsigned char sorted_columns[VIEW_SORTS_NR] = {
	[VIEW_SORT_IOPS] = QUEUE_IOPS,
	[VIEW_SORT_P99] = QUEUE_P99,
	[VIEW_SORT_IN_FLIGHT] = QUEUE_WAITING,
	[VIEW_SORT_OLDEST] = QUEUE_OLDEST,
	[VIEW_SORT_THROUGHPUT] = QUEUE_THROUGHPUT,
	[VIEW_SORT_NAME] = QUEUE_CONTROLLER,
};

const char *visible_rows_sorted(enum view_sort sort)
{
	return queue_columns.column[sorted_columns[sort]].name;
}

/* The value that rows are sorted by: the largest first, rows without a value last. */
static double weight(const struct queue_row *row, enum view_sort sort)
{
	struct value v;

	/* They have the order of their names. */
	if (sort == VIEW_SORT_NAME)
		return 0;
	/* The count sorts rows even if the rate is not known. */
	if (sort == VIEW_SORT_IOPS)
		return (double)row->all.commands;
	if (sort == VIEW_SORT_THROUGHPUT)
		return (double)row->all.bytes;
	/*
	 * Groups that are made from records do not know what is in flight now, so they are sorted
	 * by the mean.
	 */
	if (sort == VIEW_SORT_IN_FLIGHT && row->seen)
		return row->seen->count ? (double)row->seen->sum / (double)row->seen->count : -1;
	columns_get(&queue_columns, sorted_columns[sort], row, &v);
	/* A few commands that take seconds have no p99, and are no better for that. */
	if (v.none && sort == VIEW_SORT_P99)
		columns_get(&queue_columns, QUEUE_MAX, row, &v);
	return v.none ? -1 : value_number(&v);
}

bool visible_rows_stalled(const struct queue_row *row)
{
	return row->row->waiting.oldest_ns >= STATS_STALLED_NS;
}

/* Stalled rows are first, by the age of the oldest command, whatever the order of the others. */
struct weighed {
	uint64_t stalled_ns;
	double weight;
	bool reverse;
	size_t at;
	struct queue_row row;
};

static int by_weight(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->stalled_ns != y->stalled_ns)
		return x->stalled_ns > y->stalled_ns ? -1 : 1;
	/* Rows without a value are last in both directions. */
	if ((x->weight < 0) != (y->weight < 0))
		return x->weight < 0 ? 1 : -1;
	if (x->weight != y->weight)
		return (x->weight > y->weight) != x->reverse ? -1 : 1;
	return (x->at < y->at) != x->reverse ? -1 : 1;
}

/* Return: 0 or -ENOMEM. */
static int sort_rows(struct visible_rows *p, const struct view_state *l)
{
	struct weighed *w = calloc(p->nr + 1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr; i++)
		w[i] = (struct weighed){
			.stalled_ns = visible_rows_stalled(&p->row[i])
					      ? p->row[i].row->waiting.oldest_ns
					      : 0,
			.weight = weight(&p->row[i], l->sort),
			.reverse = l->reverse,
			.at = i,
			.row = p->row[i],
		};
	qsort(w, p->nr, sizeof(*w), by_weight);
	for (size_t i = 0; i < p->nr; i++)
		p->row[i] = w[i].row;
	free(w);
	return 0;
}

/*
 * Commands outside the sample are only counted and have no record, so each record stands for
 * @s->sample commands.
 */
static void estimate(struct queue_row *row, const struct stats *s, const struct group_choice *c)
{
	if (!c->live_groups || s->sample <= 1 || !s->counted)
		return;
	row->all.commands *= s->sample;
	row->all.bytes *= s->sample;
}

/* Commands of other operations have no stages of their controller. */
static bool has_stages(const struct stats_row *row, bool summary)
{
	return row->op < NT_OP_ADMIN && columns_hist_of(row, summary)->count;
}

/* Whether commands of a row, whose stages are at @at, are not in them. */
static bool is_unstaged(const struct stats *s, const struct stats_row *row, size_t at, bool summary)
{
	return at == s->nr_stages || (summary ? row->unstaged_total : row->unstaged_interval);
}

/* Adds the stages of a controller's operation to those of its group. */
static void group_stages_add(struct group_stages *sum, const struct stats *s,
			     const struct stats_stages *of, bool summary)
{
	const struct hist *h = summary ? of->total : of->interval;
	uint8_t into[NT_STAGES_MAX];
	uint64_t most = 0;

	stages_join(s->side, s->missing, into);
	sum->of = s->side;
	for (unsigned int i = 0; i < stages_nr(s->side); i++) {
		if (h[i].count > most)
			most = h[i].count;
		if (into[i] >= NT_STAGES_MAX)
			continue;
		sum->sum[into[i]] += (__int128)h[i].sum;
		sum->joined[into[i]] |= 1u << i;
	}
	sum->commands += most;
}

/* @several: rows of the stages are in another group as well, or are not shown */
struct stages_owner {
	struct visible_group *group;
	bool several;
};

static struct visible_group *group_of(const struct visible_rows *p, size_t i)
{
	char *row = (char *)p->shown[i];

	return row ? (struct visible_group *)(row - offsetof(struct visible_group, row)) : NULL;
}

/*
 * The stages of each group. Those of a controller's operation are in a group only if all of its
 * commands are. Return: 0 or -ENOMEM
 */
static int groups_stages(struct visible_rows *p, const struct stats *s, bool summary)
{
	struct stages_owner *owner = calloc(s->nr_stages + 1, sizeof(*owner));
	bool *seen = calloc(s->nr_stages + 1, sizeof(*seen));

	for (size_t i = 0; owner && seen && i < s->nr_rows; i++) {
		size_t at = stats_stages_at(s, s->rows[i]);

		if (!has_stages(s->rows[i], summary))
			continue;
		owner[at].several |= seen[at] && owner[at].group != group_of(p, i);
		owner[at].group = group_of(p, i);
		seen[at] = true;
	}
	for (size_t i = 0; owner && seen && i < s->nr_rows; i++) {
		struct visible_group *group = group_of(p, i);
		size_t at = stats_stages_at(s, s->rows[i]);

		if (!group || !has_stages(s->rows[i], summary))
			continue;
		group->staged_ns += (double)columns_hist_of(s->rows[i], summary)->sum;
		group->unstaged |= owner[at].several || is_unstaged(s, s->rows[i], at, summary);
	}
	for (size_t i = 0; owner && seen && i < s->nr_stages; i++) {
		if (!owner[i].group)
			continue;
		if (!owner[i].group->unstaged)
			group_stages_add(&owner[i].group->stages, s, s->stages[i], summary);
		group_stages_add(&p->total_stages, s, s->stages[i], summary);
	}
	free(owner);
	free(seen);
	return owner && seen ? 0 : -ENOMEM;
}

/*
 * Sets the members that only groups of --by need, and makes the columns that the user asked for.
 * Return: 0 or -ENOMEM.
 */
static int choice_rows(struct visible_rows *p, const struct stats *s, const struct group_choice *c,
		       bool summary)
{
	static const struct group_name total = {.kind = GROUP_TOTAL, .op = NT_OPS_NR};
	bool all_staged = true, any_staged = false;

	if (!c->live_groups && groups_stages(p, s, summary))
		return -ENOMEM;
	group_names_tell_apart(choice_at, p, p->groups.nr);
	for (size_t i = 0; i < p->nr; i++) {
		const struct visible_group *group = p->groups.row[i];
		struct queue_row *row = &p->row[i];

		row->group = &group->name;
		row->failed = group->failed;
		row->seen = s->sample > 1 ? NULL : group->seen;
		row->stages = group->stages.commands ? &group->stages : NULL;
		row->latency = group->staged_ns;
		p->total.latency += group->staged_ns;
		all_staged &= !group->unstaged;
		any_staged |= row->stages != NULL;
		p->total.failed += row->failed;
		estimate(row, s, c);
	}
	estimate(&p->total, s, c);
	p->total.group = &total;
	if (all_staged && p->total_stages.commands)
		p->total.stages = &p->total_stages;
	/*
	 * The number in flight when a command began includes commands of all groups. So the total
	 * has these figures only if no group is filtered out.
	 */
	if (c->live_groups && s->sample <= 1 && p->nr == p->from)
		p->total.seen = live_groups_seen(c->live_groups, summary);
	p->table = malloc(sizeof(*p->table));
	if (!p->table)
		return -ENOMEM;
	group_table_make(p->table, c, GROUPS_FOR_LIVE_TEXT, summary, false);
	if (!c->live_groups && !any_staged)
		p->table->columns.nr -= GROUP_STAGE_COLUMNS;
	return 0;
}

/* Adds what is not of the interval itself. */
static void rows_complete(struct visible_rows *p, const struct view_state *l, bool summary)
{
	for (size_t i = 0; i < p->nr; i++)
		p->row[i].controller = controllers_find(l->controllers, p->row[i].row);
	if (summary)
		return;
	columns_queues_recent(&p->total);
	for (size_t i = 0; i < p->nr; i++)
		columns_queues_recent(&p->row[i]);
}

int visible_rows_make(struct visible_rows *p, const struct stats *s, const struct view_state *l,
		      bool summary)
{
	bool chosen = l->choice && l->group == VIEW_GROUP_EACH;
	const struct live_groups *live_groups = chosen ? l->choice->live_groups : NULL;
	size_t rows = live_groups ? live_groups_nr(live_groups) : s->nr_rows;
	struct queue_row row = {.row = NULL};

	*p = (struct visible_rows){.total_row = calloc(1, sizeof(*p->total_row)),
				   .total_recent = calloc(1, sizeof(*p->total_recent)),
				   .row = calloc(rows + 1, sizeof(*p->row)),
				   .shown = calloc(s->nr_rows + 1, sizeof(*p->shown))};
	if (!p->total_row || !p->total_recent || !p->row || !p->shown)
		return -ENOMEM;
	p->total_row->recent = p->total_recent;
	p->groups.by = chosen ? l->choice->grouping.by : groups_of_keys[l->group];
	snprintf(p->total_row->controller, sizeof(p->total_row->controller), "total");
	p->total_row->shared = true;
	p->total_row->op = NT_OPS_NR;
	if (live_groups && add_live_groups(p, l, summary))
		return -ENOMEM;
	while (!live_groups && columns_queues_next(&row, s, summary)) {
		int err = 0;

		if (!columns_queues_any(&row))
			continue;
		p->from++;
		if (l->filter[0] && !row_matches(l->filter, &row))
			continue;
		row_add(p->total_row, row.row);
		p->shown[row.index] = s->rows[row.index];
		if (!chosen && l->group == VIEW_GROUP_EACH)
			p->row[p->nr++] = row;
		else
			err = group_add(p, s, &row, l, chosen);
		if (err)
			return err;
	}
	for (size_t i = 0; i < p->groups.nr; i++) {
		struct visible_group *group = p->groups.row[i];

		if (chosen)
			choice_identity(&group->row, &group->name, &p->groups.by);
		else
			key_identity(&group->row, &group->name, l->group);
		columns_queues_own(&p->row[p->nr++], s, &group->row, summary);
	}
	columns_queues_own(&p->total, s, p->total_row, summary);
	if (chosen && choice_rows(p, s, l->choice, summary))
		return -ENOMEM;
	rows_complete(p, l, summary);
	/*
	 * Without keys the user cannot change the order, so rows stay in the order of their names.
	 */
	return chosen && !l->keys ? 0 : sort_rows(p, l);
}

struct stages_sum *visible_rows_stages(const struct visible_rows *p, const struct stats *s,
				       const struct stats_row *row, bool summary)
{
	struct stages_sum *sum = calloc(1, sizeof(*sum));
	/* Bits: commands of the rows are in the stages, and commands of others. */
	unsigned char *has = calloc(s->nr_stages + 1, 1);
	bool any = false;

	for (size_t i = 0; sum && has && i < s->nr_rows; i++) {
		const struct stats_row *r = s->rows[i];
		size_t at = stats_stages_at(s, r);
		bool own = row ? p->shown[i] == row : p->shown[i] != NULL;

		if (!has_stages(r, summary))
			continue;
		has[at] |= own ? 1 : 2;
		if (!own)
			continue;
		any = true;
		sum->commands[r->op] += columns_hist_of(r, summary)->count;
		if (is_unstaged(s, r, at, summary))
			sum->scope = STAGES_OF_ALL;
	}
	if (!any && sum)
		sum->scope = STAGES_OF_NONE;
	for (size_t i = 0; has && any && sum && sum->scope != STAGES_OF_ALL && i < s->nr_stages;
	     i++) {
		const struct stats_stages *of = s->stages[i];

		if (!(has[i] & 1))
			continue;
		if (has[i] & 2)
			sum->scope = STAGES_OF_CONTROLLERS;
		for (unsigned int k = 0; k < stages_nr(s->side); k++)
			hist_merge(&sum->stage[of->op][k],
				   summary ? &of->total[k] : &of->interval[k]);
	}
	if (!has) {
		free(sum);
		sum = NULL;
	}
	free(has);
	return sum;
}

bool visible_rows_is_ctrl(const struct stats *s, const struct stats_row *r,
			  const struct merge_connection *c)
{
	const char *nqn = s->side == NT_HOST ? c->subsysnqn : c->hostnqn;
	char name[sizeof(r->controller)];

	if (r->shared || (nqn[0] && strcmp(r->peer, nqn) != 0))
		return false;
	if (s->side == NT_HOST)
		snprintf(name, sizeof(name), "nvme%u", c->host_instance);
	else
		snprintf(name, sizeof(name), "cntlid %u", c->cntlid);
	return !strcmp(r->controller, name);
}

bool visible_rows_is_of(const struct stats *s, const struct stats_row *r,
			const struct merge_connection *c)
{
	return r->qid == c->qid && visible_rows_is_ctrl(s, r, c);
}

/* Whether a connection's operation is in @row, or, if that is NULL, in any row that is shown. */
static bool is_shown(const struct visible_rows *p, const struct stats *s,
		     const struct stats_row *row, const struct totals_row *t)
{
	for (size_t i = 0; i < s->nr_rows; i++)
		if (s->rows[i]->op == t->op && p->shown[i] && (!row || p->shown[i] == row) &&
		    visible_rows_is_of(s, s->rows[i], t->connection))
			return true;
	return false;
}

bool visible_rows_has(const struct visible_rows *p, const struct stats *s,
		      const struct totals_row *t)
{
	return is_shown(p, s, NULL, t);
}

/* Bits: commands of the rows are in the totals of an operation of a controller, and others. */
struct merged_share {
	const struct totals *ctrl;
	unsigned char op[NT_OPS_NR];
};

static struct merged_share *share_of(struct merged_share *shares, const struct totals *ctrl)
{
	while (shares->ctrl && shares->ctrl != ctrl)
		shares++;
	shares->ctrl = ctrl;
	return shares;
}

int visible_rows_merged(const struct visible_rows *p, const struct stats *s,
			const struct stats_row *row, const struct totals *m, struct totals *into,
			enum stages_scope *scope)
{
	struct merged_share share[TOTALS_CTRLS_MAX + 1] = {{.ctrl = NULL}};
	bool any = false, all = false;
	int err = 0;

	*into = (struct totals){.machines = m->machines};
	*scope = STAGES_OF_ROWS;
	for (unsigned int i = 0; i < m->nr_rows; i++) {
		const struct totals_row *t = m->row[i];
		bool own = t && t->commands && is_shown(p, s, row, t);

		any |= own;
		all |= own && !t->ctrl;
		if (t && t->commands && t->ctrl)
			share_of(share, t->ctrl)->op[t->op] |= own ? 1 : 2;
	}
	if (!any)
		*scope = STAGES_OF_NONE;
	if (all) {
		*scope = STAGES_OF_ALL;
		for (unsigned int op = 0; !err && op < NT_OPS_NR; op++)
			err = totals_add_op(into, m, (enum nt_op)op);
		return err;
	}
	for (const struct merged_share *of = share; of->ctrl; of++) {
		for (unsigned int op = 0; !err && op < NT_OPS_NR; op++) {
			if (!(of->op[op] & 1))
				continue;
			if (of->op[op] & 2)
				*scope = STAGES_OF_CONTROLLERS;
			err = totals_add_op(into, of->ctrl, (enum nt_op)op);
		}
	}
	return err;
}

const struct queue_row *visible_rows_find(const struct visible_rows *p, const struct view_state *l)
{
	for (size_t i = 0; i < p->nr; i++) {
		if (is_named(p->row[i].row, &l->row))
			return &p->row[i];
	}
	return NULL;
}

void visible_rows_free(struct visible_rows *p)
{
	group_rows_free(&p->groups);
	free(p->table);
	free(p->row);
	free(p->total_recent);
	free(p->shown);
	free(p->total_row);
	*p = (struct visible_rows){.nr = 0};
}

/* Lines that a page key moves, for any size of the screen. */
#define PAGE_LINES 10

#define MS 1000000ULL
#define S (1000 * MS)
static const uint64_t intervals[] = {100 * MS, 200 * MS, 500 * MS, S,	  2 * S,
				     5 * S,    10 * S,	 30 * S,   60 * S};

static void interval_change(struct view_state *l, bool longer)
{
	size_t i = 0;

	if (!l->interval_ns)
		return;
	while (i < ARRAY_SIZE(intervals) && intervals[i] < l->interval_ns)
		i++;
	if (longer && i < ARRAY_SIZE(intervals) && intervals[i] == l->interval_ns)
		i++;
	if (longer && i < ARRAY_SIZE(intervals))
		l->interval_ns = intervals[i];
	else if (!longer && i)
		l->interval_ns = intervals[i - 1];
}

/* Bytes after the first of a UTF-8 character are 10xxxxxx (RFC 3629). */
static void filter_shorten(char *filter)
{
	size_t n = strlen(filter);

	while (n && ((unsigned char)filter[--n] & 0xc0) == 0x80)
		;
	filter[n] = '\0';
}

static enum pressed_wish filter_key(struct view_state *l, int key)
{
	size_t n = strlen(l->filter);

	switch (key) {
	case KEY_ESCAPE:
		memcpy(l->filter, l->before, sizeof(l->filter));
		l->typing = false;
		break;
	case '\r':
	case KEY_ENTER:
		l->typing = false;
		break;
	case KEY_BACKSPACE:
	case KEY_DELETE:
		filter_shorten(l->filter);
		break;
	default:
		if (key < ' ' || key > 0xff || n == sizeof(l->filter) - 1)
			return PRESSED_NOTHING;
		l->filter[n] = (char)key;
		l->filter[n + 1] = '\0';
	}
	l->cursor = 0;
	return PRESSED_DRAW;
}

static void filter_begin(struct view_state *l)
{
	memcpy(l->before, l->filter, sizeof(l->before));
	l->typing = true;
}

/* Shows the page of the marked row. */
static void drill_down(struct view_state *l, const struct stats *s)
{
	struct visible_rows p;

	if (s && !visible_rows_make(&p, s, l, false) && l->cursor < p.nr) {
		visible_rows_name(&l->row, p.row[l->cursor].row);
		l->page = VIEW_ROW;
		l->top = 0;
	}
	if (s)
		visible_rows_free(&p);
}

static bool moves_cursor(const struct view_state *l)
{
	return l->page == VIEW_TABLE && l->focus == VIEW_FOCUS_ROWS;
}

static void move(struct view_state *l, long lines)
{
	size_t *at = moves_cursor(l) ? &l->cursor : &l->top;

	*at = lines < 0 && *at < (size_t)-lines ? 0 : *at + (size_t)lines;
}

static size_t rows_nr(const struct view_state *l, const struct stats *s)
{
	struct visible_rows p;
	size_t nr = 0;

	if (!s)
		return 0;
	if (!visible_rows_make(&p, s, l, false))
		nr = p.nr;
	visible_rows_free(&p);
	return nr;
}

static void cursor_keep(struct view_state *l, const struct stats *s)
{
	size_t nr = rows_nr(l, s);

	if (l->cursor >= nr)
		l->cursor = nr ? nr - 1 : 0;
}

static void page(struct view_state *l, enum view_page page)
{
	l->page = l->page == page ? VIEW_TABLE : page;
	l->top = 0;
}

static void group(struct view_state *l)
{
	l->group = (l->group + 1) % VIEW_GROUPS_NR;
	l->page = VIEW_TABLE;
	l->cursor = 0;
}

static bool moves(struct view_state *l, int key)
{
	switch (key) {
	case KEY_UP:
	case 'k':
		move(l, -1);
		return true;
	case KEY_DOWN:
	case 'j':
		move(l, 1);
		return true;
	case KEY_PAGE_UP:
		move(l, -PAGE_LINES);
		return true;
	case KEY_PAGE_DOWN:
	case ' ':
		move(l, PAGE_LINES);
		return true;
	case KEY_HOME:
		l->cursor = moves_cursor(l) ? 0 : l->cursor;
		l->top = 0;
		return true;
	case KEY_END:
		/* Only the code that draws knows where the end is. */
		move(l, INT32_MAX);
		return true;
	default:
		return false;
	}
}

enum pressed_wish pressed(struct view_state *l, int key, const struct stats *s)
{
	if (l->typing)
		return filter_key(l, key);
	if (moves(l, key)) {
		cursor_keep(l, s);
		return PRESSED_DRAW;
	}
	switch (key) {
	case 'q':
		if (l->page == VIEW_TABLE)
			return PRESSED_QUIT;
		l->page = VIEW_TABLE;
		break;
	case 's':
		l->sort = (l->sort + 1) % VIEW_SORTS_NR;
		l->cursor = 0;
		break;
	case 'r':
		l->reverse = !l->reverse;
		l->cursor = 0;
		break;
	case 'g':
		group(l);
		break;
	case '\t':
		l->page = VIEW_TABLE;
		l->focus = (l->focus + 1) % VIEW_FOCUS_NR;
		l->top = 0;
		break;
	case '/':
		l->page = VIEW_TABLE;
		filter_begin(l);
		break;
	case 'p':
		l->paused = !l->paused;
		break;
	case 'l':
		page(l, VIEW_LOSSES);
		break;
	case 't':
		page(l, VIEW_TCP);
		break;
	case 'w':
		page(l, VIEW_WHY);
		break;
	case '?':
	case 'h':
		page(l, VIEW_HELP);
		break;
	case '+':
	case '-':
		interval_change(l, key == '+');
		break;
	case '\r':
	case KEY_ENTER:
	case KEY_RIGHT:
		if (l->page == VIEW_TABLE)
			drill_down(l, s);
		break;
	case KEY_ESCAPE:
	case KEY_LEFT:
	case KEY_BACKSPACE:
	case KEY_DELETE:
		l->page = VIEW_TABLE;
		break;
	default:
		return PRESSED_NOTHING;
	}
	return PRESSED_DRAW;
}
