// SPDX-License-Identifier: GPL-2.0-only
#include "view/json_block.h"

#include <json-c/linkhash.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "merge/unmatched.h"
#include "shared/buckets.h"
#include "view/columns.h"
#include "view/columns_queues.h"
#include "view/connections.h"
#include "view/disks_table.h"
#include "view/groups.h"
#include "view/head.h"
#include "view/histograms.h"
#include "view/losses.h"
#include "view/path_events.h"
#include "view/stages.h"
#include "view/streams.h"
#include "view/tcp_table.h"

struct json_object *json_losses(const uint64_t count[COUNTERS_NR])
{
	struct json_object *o = json_empty();

	for (unsigned int c = 0; c < COUNTERS_NR; c++)
		json_put(o, counter_name(c), json_natural(count[c]));
	return o;
}

/*
 * For each counter of commands past a limit, the number of queues that these belong to, if it is
 * known. NULL if there are none.
 */
static struct json_object *loss_queues(const struct stats *s)
{
	struct json_object *o = NULL;

	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		if (!s->counters_queues[c])
			continue;
		o = o ?: json_empty();
		json_put(o, counter_name(c), json_natural(s->counters_queues[c]));
	}
	return o;
}

/* A row for each queue and status of commands that ended with an error. */
static struct json_object *json_errors(const struct errors *e)
{
	struct json_object *rows = json_array();

	for (size_t i = 0; i < e->nr; i++)
		if (e->row[i].total)
			json_append(rows, json_row(&error_columns, &e->row[i]));
	return rows;
}

/*
 * The buckets that are not empty: from, to (exclusive; null: no upper bound) in nanoseconds, and
 * the count.
 */
static struct json_object *histogram_of(const struct hist *h)
{
	struct json_object *buckets = json_array();

	for (unsigned int i = 0; i < NT_BUCKETS; i++) {
		const bool endless = i == NT_OVERFLOW_BUCKET;

		json_bucket(buckets, &(struct scale_row){
					     .from = nt_bucket_low(i),
					     .to = endless ? UINT64_MAX : nt_bucket_low(i + 1),
					     .endless = endless,
					     .commands = h->buckets[i],
				     });
	}
	return buckets;
}

static struct json_object *queues_of(const struct stats *s, bool summary, bool histogram)
{
	struct json_object *queues = json_array();
	struct queue_row row = {.row = NULL};

	while (columns_queues_next(&row, s, summary)) {
		struct json_object *o;

		if (!columns_queues_any(&row))
			continue;
		o = json_row(&queue_columns, &row);
		if (histogram)
			json_put(o, "histogram", histogram_of(row.base.h));
		json_append(queues, o);
	}
	return queues;
}

static struct json_object *operations_of(const struct stats *s, bool summary)
{
	struct json_object *operations = json_array();

	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		struct hist h;
		struct hist_row row = {.h = &h, .op = op};

		row.others = columns_hist_add_up(s, summary, op, &h);
		if (h.count || row.others)
			json_append(operations, json_row(&operation_columns, &row));
	}
	return operations;
}

/* A stage, with the columns of @table that the usual row does not have. */
static struct json_object *stage_of(const struct stage_table *table, const struct stage_row *row)
{
	struct json_object *o = json_row(&stage_columns, row), *more;

	if (!table)
		return o;
	more = json_row(&table->columns, row);
	json_object_object_foreach(more, name, value)
	{
		if (!json_object_object_get_ex(o, name, NULL))
			json_put(o, name, json_object_get(value));
	}
	json_object_put(more);
	return o;
}

/* @figures: in addition to the usual ones; NULL or empty: none */
static void put_stages(struct json_object *stages, const struct stage_rows *rows,
		       const struct figures *figures)
{
	struct stage_table table;

	stage_table_make(&table, figures);
	for (unsigned int i = 0; i < rows->nr; i++)
		if (!rows->row[i].unknown)
			json_append(stages, stage_of(figures && figures->nr ? &table : NULL,
						     &rows->row[i]));
}

static struct json_object *stages_of(const struct stage_rows *rows, const struct figures *figures)
{
	struct json_object *stages = json_array();

	put_stages(stages, rows, figures);
	return stages;
}

/* Whether the rows are of one controller. */
static bool same_controller(const struct stats_row *a, const struct stats_row *b)
{
	return !strcmp(a->controller, b->controller) && !strcmp(a->peer, b->peer) &&
	       !strcmp(a->other, b->other);
}

/* A controller, named as in its rows. Its stages are appended to @stages. */
static struct json_object *controller_of(const struct queue_row *row, struct json_object *stages)
{
	static const unsigned char names[] = {QUEUE_CONTROLLER, QUEUE_PEER};
	struct json_object *o = json_empty();

	for (unsigned int k = 0; k < ARRAY_SIZE(names); k++) {
		struct value v;

		columns_get(&queue_columns, names[k], row, &v);
		json_put(o, queue_columns.column[names[k]].name, json_text(v.text));
	}
	json_put(o, "stages", stages);
	return o;
}

/*
 * The stages of each controller, by operation. An operation that lacks commands is left out, as its
 * stages would not be those of the rows.
 */
static struct json_object *controller_stages(const struct stats *s, bool summary,
					     const struct figures *figures)
{
	struct json_object *all = json_array(), *stages = NULL;
	bool *done = calloc(s->nr_stages + 1, sizeof(*done));
	const struct stats_row *last = NULL;
	struct queue_row row = {.row = NULL};
	struct stage_rows rows;

	if (!done)
		json_append(NULL, NULL);
	for (size_t i = 0; done && i < s->nr_rows; i++)
		if (summary ? s->rows[i]->unstaged_total : s->rows[i]->unstaged_interval)
			done[stats_stages_at(s, s->rows[i])] = true;
	while (done && columns_queues_next(&row, s, summary)) {
		size_t at;

		if (hist_empty(row.base.h))
			continue;
		at = stats_stages_at(s, row.row);
		if (at == s->nr_stages || done[at])
			continue;
		done[at] = true;
		columns_stages_of_controller(&rows, s, s->stages[at], summary);
		if (!rows.nr)
			continue;
		if (!last || !same_controller(last, row.row)) {
			stages = json_array();
			json_append(all, controller_of(&row, stages));
		}
		last = row.row;
		put_stages(stages, &rows, figures);
	}
	free(done);
	return all;
}

void json_put_side(struct json_object *o, const struct stats *s, bool summary, bool histogram,
		   const struct figures *figures)
{
	struct json_object *past;
	struct stage_rows stages;

	columns_stages_of_side(&stages, s, summary);
	json_put(o, "run", json_row(&run_columns, s));
	json_put(o, "queues", queues_of(s, summary, histogram));
	json_put(o, "operations", operations_of(s, summary));
	json_put(o, "stages", stages_of(&stages, figures));
	json_put(o, "controller_stages", controller_stages(s, summary, figures));
	json_put(o, "population", json_row(&population_columns, &stages));
	json_put(o, "errors", json_errors(&s->errors));
	json_put(o, "losses", json_losses(s->counters_total));
	past = loss_queues(s);
	if (past)
		json_put(o, "loss_queues", past);
	if (!summary)
		json_put(o, "losses_added", json_losses(s->counters_interval));
}

/* A row for each connection that had commands. */
static struct json_object *merged_queues(const struct totals *m)
{
	struct json_object *queues = json_array();
	struct merged_row *rows;
	unsigned int nr = 0;

	rows = columns_merged_rows(m, &nr);
	if (!rows)
		json_append(NULL, NULL);
	for (unsigned int i = 0; i < nr; i++)
		json_append(queues, json_row(&merged_columns, &rows[i]));
	free(rows);
	return queues;
}

struct json_object *json_merged(const struct totals *m, const struct figures *figures)
{
	struct json_object *o = json_empty(), *operations = json_array();
	struct stage_rows stages;

	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		const struct hist_row row = {.h = &m->latency[op], .op = op};

		if (row.h->count)
			json_append(operations, json_row(&operation_columns, &row));
	}
	columns_stages_merged(&stages, m);
	json_put(o, "totals", json_row(&merging_columns, m));
	json_put(o, "operations", operations);
	json_put(o, "stages", stages_of(&stages, figures));
	json_put(o, "queues", merged_queues(m));
	json_put(o, "errors", json_errors(&m->errors));
	return o;
}

static struct json_object *messages_of(const struct messages *m)
{
	struct json_object *lines = json_array();
	uint64_t first = m->nr > MESSAGES_LINES ? m->nr - MESSAGES_LINES : 0;

	for (uint64_t i = first; i < m->nr; i++)
		json_append(lines, json_text(messages_line(m, i)));
	return lines;
}

static struct json_object *peer_of(const struct live_merge *peers, unsigned int i)
{
	const struct stats *alone = live_merge_peer_stats(peers, i);
	struct peer_row row = {.number = i + 1};
	struct json_object *o, *figures = NULL;

	peer_about(live_merge_peer(peers, i), &row.about);
	o = json_row(&peer_columns, &row);
	json_put(o, "messages", messages_of(row.about.messages));
	json_put(o, "losses", json_losses(row.about.losses->count));
	if (alone) {
		figures = json_empty();
		json_put_side(figures, alone, true, false, NULL);
	}
	json_put(o, "alone", figures);
	return o;
}

static void put_peers(struct json_object *o, const struct live_merge *p, bool summary,
		      const struct figures *figures)
{
	struct json_object *peers = json_array();
	struct live_merge_counts counts;

	for (unsigned int i = 0; live_merge_peer(p, i); i++)
		json_append(peers, peer_of(p, i));
	live_merge_counts(p, &counts);
	json_put(o, "peers", peers);
	json_put(o, "matching", json_row(&matching_columns, &counts));
	json_put(o, "merged", json_merged(live_merge_totals(p, summary), figures));
}

static struct json_object *tcp_of(const struct tcp_rows *t)
{
	struct json_object *rows = json_array();

	for (size_t i = 0; i < t->nr; i++)
		json_append(rows, json_row(&tcp_columns, &t->row[i]));
	return rows;
}

static struct json_object *disks_of(const struct stats *s, bool summary)
{
	struct json_object *rows = json_array();
	struct disk_line line;

	for (size_t i = 0; i < s->disks.nr; i++)
		if (disk_line_make(s, i, summary, &line))
			json_append(rows, json_row(&disk_columns, &line));
	return rows;
}

struct json_object *json_block(const struct stats *s, bool summary, bool histogram,
			       const struct live_merge *peers, const struct group_choice *choice)
{
	struct json_object *o = json_new(summary ? "summary" : "interval");
	const struct figures *figures = choice ? &choice->figures : NULL;

	json_put_time(o);
	json_put_side(o, s, summary, histogram, figures);
	if (s->tcp.asked && !summary)
		json_put(o, "tcp", tcp_of(&s->tcp));
	if (s->disks.asked)
		json_put(o, "disks", disks_of(s, summary));
	if (s->side == NT_HOST && !s->recorded)
		json_put(o, "path_events",
			 path_events_json(&s->path_events,
					  summary ? 0 : path_events_of_interval(&s->path_events)));
	if (choice)
		json_put(o, "groups", groups_output_json(s, summary, choice));
	if (peers)
		put_peers(o, peers, summary, figures);
	return o;
}
