// SPDX-License-Identifier: GPL-2.0-only
#include "view/json_commands.h"

#include "core/names.h"
#include "core/segments.h"
#include "view/columns_commands.h"
#include "view/story.h"

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

/* @b: NULL for a command of one side */
static void put_all_points(struct json_object *o, const struct nt_record *a,
			   const struct nt_record *b)
{
	struct json_object *points = json_empty();

	put_points(points, a);
	put_points(points, b);
	json_put(o, "points", points);
}

static void put_stages(struct json_object *o, const struct command_stages *s)
{
	struct json_object *stages = s->split ? json_empty() : NULL;

	for (unsigned int i = 0; i < s->nr; i++)
		json_put(stages, s->row[i].stage, json_integer(s->row[i].ns));
	json_put(o, "stages", stages);
}

void json_command_stages(struct json_object *o, const struct nt_record *r, uint32_t missing,
			 uint64_t latency)
{
	struct command_stages stages;

	columns_stages_of_command(&stages, r, missing, latency);
	put_stages(o, &stages);
}

struct json_object *json_command_of_side(const char *controller, const struct nt_record *r,
					 uint32_t missing)
{
	struct json_object *o = json_new("command");
	struct command_row row;

	columns_command_of_side(&row, controller, r);
	json_put_row(o, &command_columns, &row);
	put_all_points(o, r, NULL);
	json_command_stages(o, r, missing, row.latency);
	return o;
}

struct json_object *json_command_in_flight(const char *controller, const struct nt_record *r,
					   uint32_t missing, uint64_t now)
{
	struct json_object *o = json_new("in_flight");
	char name[STAGE_NAME_LEN];
	struct command_row row;

	columns_command_of_side(&row, controller, r);
	row.latency = now - row.first;
	json_put_row(o, &command_columns, &row);
	put_all_points(o, r, NULL);
	json_put(o, "stage",
		 columns_stage_under_way(r, missing, name, sizeof(name)) ? json_text(name) : NULL);
	return o;
}

struct json_object *json_command_merged(const struct machines *m, const struct merge_connection *c,
					const struct nt_record *host,
					const struct nt_record *target, bool ambiguous)
{
	struct json_object *o = json_new("command");
	struct command_stages stages;
	struct command_row row;

	columns_command_merged(&row, c, host, target, ambiguous);
	json_put_row(o, &command_columns, &row);
	put_all_points(o, host, target);
	columns_stages_of_streams(&stages, m, c, host, target, row.latency);
	put_stages(o, &stages);
	return o;
}

struct json_object *json_command_slow(const struct slow_command *c)
{
	const struct nt_record *target = c->alone ? NULL : &c->target, *other;
	struct json_object *o = json_new("command"), *story = json_array();
	struct point_row points[STORY_POINTS_MAX];
	struct command_stages stages = {.split = false};
	struct story_names names;
	struct command_row row;
	unsigned int nr;

	columns_command_merged(&row, &c->connection, &c->host, target, false);
	row.latency = c->latency;
	json_put_row(o, &command_columns, &row);
	/* The time that the host waited before it gave up is not a stage. */
	other = c->host.flags & NT_F_CANCELLED ? NULL : target;
	put_all_points(o, &c->host, other);
	if (other)
		columns_stages_of_merged(&stages, &c->host, other, c->missing, c->latency);
	put_stages(o, &stages);
	nr = story_points(c, &names, points);
	for (unsigned int i = 0; i < nr; i++)
		json_append(story, json_row(&point_columns, &points[i]));
	json_put(o, "story", story);
	return o;
}
