// SPDX-License-Identifier: GPL-2.0-only
#include "view/json_report.h"

#include <stdlib.h>

#include "core/names.h"
#include "core/segments.h"
#include "merge/merge.h"
#include "stream/reader.h"
#include "view/connections.h"
#include "view/groups.h"
#include "view/json_block.h"
#include "view/streams.h"
#include "view/tcp_table.h"

static void put_points(struct json_object *points, const struct nt_record *r)
{
	struct json_object *o;
	struct point_row row[NT_POINTS_MAX];
	unsigned int nr;

	if (!r)
		return;
	o = json_empty();
	nr = columns_points(row, r);
	for (unsigned int i = 0; i < nr; i++)
		json_put(o, point_name(r->side, row[i].point), json_integer(row[i].at));
	json_put(points, side_name(r->side), o);
}

void json_command_stages(struct json_object *o, const struct command_stages *s)
{
	struct json_object *stages = s->split ? json_empty() : NULL;

	for (unsigned int i = 0; i < s->nr; i++)
		json_put(stages, s->row[i].stage, json_integer(s->row[i].ns));
	json_put(o, "stages", stages);
}

struct json_object *json_command(const struct command_line *c)
{
	struct json_object *o = json_new(c->in_flight ? "in_flight" : "command");
	struct json_object *points = json_empty();

	json_put_row(o, &command_columns, &c->row);
	if (c->origin)
		json_put(o, "origin", json_row(&origin_columns, c->origin));
	for (unsigned int side = 0; side < NT_SIDES; side++)
		put_points(points, c->record[side]);
	json_put(o, "points", points);
	if (c->in_flight)
		json_put(o, "stage", c->under_way[0] ? json_text(c->under_way) : NULL);
	else
		json_command_stages(o, &c->stages);
	return o;
}

static void write_points(struct json_line *l, const struct nt_record *r)
{
	unsigned int nr = r ? record_points_nr(r->side) : 0;
	int64_t at;

	if (!r)
		return;
	json_line_open(l, side_name(r->side));
	for (unsigned int i = 0; i < nr; i++)
		if (columns_point(r, i, &at))
			json_line_integer(l, point_name(r->side, record_point(r, i)), at);
	json_line_close(l);
}

int json_command_write(FILE *f, const struct command_line *c)
{
	const struct command_stages *s = &c->stages;
	struct json_line l;

	json_line_begin(&l, f, c->in_flight ? "in_flight" : "command");
	json_line_row(&l, &command_columns, &c->row);
	if (c->origin) {
		json_line_open(&l, "origin");
		json_line_row(&l, &origin_columns, c->origin);
		json_line_close(&l);
	}
	json_line_open(&l, "points");
	for (unsigned int side = 0; side < NT_SIDES; side++)
		write_points(&l, c->record[side]);
	json_line_close(&l);
	if (c->in_flight) {
		json_line_text(&l, "stage", c->under_way[0] ? c->under_way : NULL);
	} else if (!s->split) {
		json_line_text(&l, "stages", NULL);
	} else {
		json_line_open(&l, "stages");
		for (unsigned int i = 0; i < s->nr; i++)
			json_line_integer(&l, s->row[i].stage, s->row[i].ns);
		json_line_close(&l);
	}
	return json_line_end(&l);
}

struct json_object *json_command_slow(const struct slow_command *c, const struct instant *clock)
{
	struct json_object *o, *story = json_array();
	struct point_row points[STORY_POINTS_MAX];
	struct story_names names;
	struct command_line l;
	unsigned int nr;

	command_line_slow(&l, c, clock);
	o = json_command(&l);
	nr = story_points(c, &names, points);
	for (unsigned int i = 0; i < nr; i++)
		json_append(story, json_row(&point_columns, &points[i]));
	json_put(o, "story", story);
	return o;
}

/* The figures that the user asked for; NULL: none. */
static const struct figures *figures_of(const struct json_report *r)
{
	return r->choice ? &r->choice->figures : r->figures;
}

/* Return: NULL if the report is about all commands. */
static struct json_object *selected(const struct json_report *r, uint64_t taken, uint64_t of)
{
	struct json_object *o;

	if (!r->filtered)
		return NULL;
	o = json_empty();
	json_put(o, "commands", json_natural(taken));
	json_put(o, "of", json_natural(of));
	return o;
}

/* Statistics of a stream alone, if none of its commands is matched. */
static struct json_object *alone(const struct json_report *r, unsigned int i)
{
	const struct input *in = &r->inputs[i];
	struct json_object *o;
	unsigned int other;
	uint64_t of, taken;

	if (!in->begun || !unmatched_is(r->unmatched, i))
		return NULL;
	o = json_empty();
	json_put(o, "why", json_text(unmatched_words(unmatched_why(r->unmatched, i, &other))));
	taken = unmatched_taken(r->unmatched, i, &of);
	json_put(o, "selected", selected(r, taken, of));
	json_put_side(o, unmatched_stats(r->unmatched, i, in->header.kernel, in->losses.count),
		      true, false, figures_of(r));
	if (r->details)
		json_put(o, "details",
			 details_json(unmatched_details(r->unmatched, i), r->figures));
	if (r->why && r->why[i].why)
		json_put(o, "why_slow", why_json(&r->why[i]));
	if (r->choice) {
		struct groups *g = unmatched_groups(r->unmatched, i);

		/*
		 * json_append() to NULL marks the line as failed, so json_write() reports that
		 * memory ran out.
		 */
		if (!g)
			json_append(NULL, NULL);
		json_put(o, "groups", g ? groups_json(g, r->choice) : NULL);
	}
	return o;
}

static struct json_object *input_of(const struct json_report *r, unsigned int i)
{
	const struct input *in = &r->inputs[i];
	struct json_object *o = json_row(&input_columns, in);
	const char *error = stream_error(in->reader);

	json_put(o, "error", error[0] ? json_text(error) : NULL);
	json_put(o, "losses", json_losses(in->losses.count));
	json_put(o, "alone", alone(r, i));
	return o;
}

static struct json_object *connection_of(const struct json_report *r,
					 const struct merge_connection *c)
{
	const struct pair_row pair = {
		machines_get(r->machines, c->host_stream),
		machines_get(r->machines, c->target_stream),
	};
	struct json_object *o = json_row(&connection_columns, c);

	json_put_row(o, &pair_columns, &pair);
	return o;
}

static struct json_object *slow_of(const struct json_report *r, unsigned int i)
{
	const struct slow_command *c = &r->merged->slowest[i];
	const struct blocked *b = blocked_of(r->blocked, i);
	struct json_object *o = json_command_slow(c, &r->inputs[c->connection.host_stream].clock);

	if (b)
		json_put(o, "meanwhile", json_row(&blocked_columns, b));
	return o;
}

/* An array for each input, of its connections. */
static struct json_object *tcp_of(const struct json_report *r)
{
	struct json_object *inputs = json_array();

	for (unsigned int i = 0; i < r->nr; i++) {
		struct tcp_rows rows = {.asked = true};
		struct json_object *input = json_array();

		tcp_history_rows(r->tcp, i, &rows);
		for (size_t k = 0; k < rows.nr; k++)
			json_append(input, json_row(&tcp_columns, &rows.row[k]));
		json_append(inputs, input);
		tcp_rows_free(&rows);
	}
	return inputs;
}

static void put_path_events(struct json_object *o, const struct json_report *r)
{
	const struct path_events *p = r->path_events;
	struct json_object *events = json_array();

	for (size_t i = 0; i < p->nr; i++) {
		const struct nt_path_event *e = path_events_at(p, i);
		struct json_object *event = json_row(&path_event_columns, e);

		json_put(event, "input", json_text(r->inputs[e->input].path));
		json_append(events, event);
	}
	json_put(o, "path_events", events);
	json_put(o, "path_events_past", json_natural(p->total - p->nr));
}

struct json_object *json_report(const struct json_report *r)
{
	struct json_object *o = json_new("report"), *inputs = json_array();
	struct json_object *connections = json_array(), *slowest = json_array();
	const struct merge_connection **c = connections_in_order(r->merge);

	for (unsigned int i = 0; i < r->nr; i++)
		json_append(inputs, input_of(r, i));
	for (unsigned int i = 0; c && c[i]; i++)
		if (columns_connection_any(c[i]))
			json_append(connections, connection_of(r, c[i]));
	/* That memory ran out is told by json_write(). */
	if (!c)
		json_append(NULL, NULL);
	free(c);
	for (unsigned int i = 0; i < r->merged->nr_slowest; i++)
		json_append(slowest, slow_of(r, i));
	json_put(o, "inputs", inputs);
	json_put(o, "connections", connections);
	json_put(o, "strays", json_row(&stray_columns, merge_strays(r->merge)));
	json_put(o, "outside_bursts", json_natural(r->cut));
	json_put(o, "selected", selected(r, r->nr_taken, r->nr_matched));
	if (r->limits)
		json_put(o, "limits", limits_json(r->limits));
	json_put(o, "merged", json_merged(r->merged, figures_of(r)));
	json_put(o, "slowest", slowest);
	if (r->details)
		json_put(o, "details", details_json(r->details, r->figures));
	if (r->groups)
		json_put(o, "groups", groups_json(r->groups, r->choice));
	if (r->tcp) {
		json_put(o, "tcp", tcp_of(r));
		json_put(o, "retransmitted", json_natural(r->nr_retransmitted));
	}
	if (r->why)
		json_put(o, "why", why_json(&r->why[r->nr]));
	if (r->path_events->total)
		put_path_events(o, r);
	return o;
}
