// SPDX-License-Identifier: GPL-2.0-only
#include "view/json_schema.h"

#include <json-c/json_object.h>
#include <stdio.h>

#include "core/counters.h"
#include "core/names.h"
#include "core/segments.h"
#include "merge/merged_stages.h"
#include "view/columns.h"
#include "view/columns_groups.h"
#include "view/columns_queues.h"
#include "view/commands.h"
#include "view/connections.h"
#include "view/event.h"
#include "view/groups.h"
#include "view/head.h"
#include "view/json.h"
#include "view/limits.h"
#include "view/losses.h"
#include "view/paths.h"
#include "view/stages.h"
#include "view/streams.h"

/*
 * Builds the parts of a JSON Schema (draft 2020-12). A function that makes an object returns a new
 * one. The object into which it is put owns it.
 */

/** schema_types() - { "type": [...] }; @types: words separated by blanks */
static struct json_object *schema_types(const char *types)
{
	struct json_object *o = json_empty(), *list = json_array();
	char word[16];
	int length;

	for (; sscanf(types, "%15s%n", word, &length) == 1; types += length)
		json_append(list, json_text(word));
	json_put(o, "type", list);
	return o;
}

/** schema_described() - add a description to @schema, and return it */
static struct json_object *schema_described(struct json_object *schema, const char *text)
{
	json_put(schema, "description", json_text(text));
	return schema;
}

/** schema_of() - a value of @types, with a description */
static struct json_object *schema_of(const char *types, const char *text)
{
	return schema_described(schema_types(types), text);
}

/** schema_list() - an array of @items */
static struct json_object *schema_list(struct json_object *items)
{
	struct json_object *o = schema_types("array");

	json_put(o, "items", items);
	return o;
}

/** schema_object() - an object that may have only the members that the next two functions add */
static struct json_object *schema_object(void)
{
	struct json_object *o = schema_types("object");

	json_put(o, "properties", json_empty());
	json_put(o, "additionalProperties", json_object_new_boolean(false));
	return o;
}

/** schema_part() - the value of @name in @o; NULL if there is none */
static struct json_object *schema_part(struct json_object *o, const char *name)
{
	struct json_object *found = NULL;

	json_object_object_get_ex(o, name, &found);
	return found;
}

/** schema_may_have() - add an optional member @name to @object */
static void schema_may_have(struct json_object *object, const char *name,
			    struct json_object *schema)
{
	json_put(schema_part(object, "properties"), name, schema);
}

/** schema_requires() - make the member @name of @object a required one */
static void schema_requires(struct json_object *object, const char *name)
{
	/*
	 * json-c versions print an empty list differently, so a list is made only for its first
	 * element.
	 */
	if (!schema_part(object, "required"))
		json_put(object, "required", json_array());
	json_append(schema_part(object, "required"), json_text(name));
}

/** schema_has() - add a required member @name to @object */
static void schema_has(struct json_object *object, const char *name, struct json_object *schema)
{
	schema_may_have(object, name, schema);
	schema_requires(object, name);
}

/** schema_or_null() - allow null as well for @schema, and return it */
static struct json_object *schema_or_null(struct json_object *schema)
{
	json_append(schema_part(schema, "type"), json_text("null"));
	return schema;
}

/** schema_column() - the type of the values of one column */
static struct json_object *schema_column(const struct column *c)
{
	char text[128];

	snprintf(text, sizeof(text), "%s: %s", c->title, unit_name(c->unit));
	switch (c->unit) {
	case UNIT_NAME:
	case UNIT_TEXT:
		return schema_of("string null", text);
	case UNIT_FLAG:
		return schema_of("boolean", text);
	case UNIT_NUMBER:
		/* The value may be "all", for all queues. */
		return schema_of("integer string null", text);
	case UNIT_CODE:
	case UNIT_INSTANT:
		return schema_of("integer null", text);
	default:
		return schema_of("number null", text);
	}
}

/** schema_has_columns() - add a required member to @object for each column of @t */
static void schema_has_columns(struct json_object *object, const struct columns *t)
{
	for (unsigned int i = 0; i < t->nr; i++)
		schema_has(object, t->column[i].name, schema_column(&t->column[i]));
}

/** schema_longer_row() - a row of @t to which the caller adds more members */
static struct json_object *schema_longer_row(const struct columns *t)
{
	struct json_object *o = schema_object();

	schema_has_columns(o, t);
	return o;
}

static struct json_object *reference_to(const char *name)
{
	struct json_object *o = json_empty();
	char text[64];

	snprintf(text, sizeof(text), "#/$defs/%s", name);
	json_put(o, "$ref", json_text(text));
	return o;
}

/**
 * schema_defined() - a reference to @name in @defs; if it is not defined yet, @make makes the
 * definition
 */
static struct json_object *schema_defined(struct json_object *defs, const char *name,
					  struct json_object *(*make)(struct json_object *defs))
{
	if (!schema_part(defs, name))
		json_put(defs, name, make(defs));
	return reference_to(name);
}

/** schema_row() - a reference to a row of @t, which is defined in @defs */
static struct json_object *schema_row(struct json_object *defs, const struct columns *t)
{
	if (!schema_part(defs, t->name))
		json_put(defs, t->name, schema_longer_row(t));
	return reference_to(t->name);
}

static struct json_object *make_losses(struct json_object *defs)
{
	struct json_object *o = schema_object();

	for (unsigned int c = 0; c < COUNTERS_NR; c++)
		schema_has(o, counter_name(c), schema_of("integer", counter_help(c)));
	return o;
}

static struct json_object *losses(struct json_object *defs)
{
	return schema_defined(defs, "lost", make_losses);
}

/* The losses that have a number of queues. */
static struct json_object *loss_queues(void)
{
	struct json_object *o = schema_object();

	schema_may_have(o, counter_name(NT_CNT_NO_SLOT),
			schema_of("integer", "queues that they are of"));
	schema_may_have(o, counter_name(NT_CNT_HIST_FULL),
			schema_of("integer", "queues that they are of"));
	return o;
}

static struct json_object *histogram(void)
{
	return schema_described(
		schema_list(schema_list(schema_types("integer null"))),
		"[from, to, commands]: nanoseconds, to is exclusive, and null where it is "
		"without end");
}

static struct json_object *queues(void)
{
	struct json_object *row = schema_longer_row(&queue_columns);

	schema_may_have(row, "histogram", histogram());
	return schema_list(row);
}

static void has_percentiles(struct json_object *o)
{
	struct json_object *patterns = json_empty();

	json_put(patterns, "^p[0-9]{1,2}(_[0-9]{1,7})?$",
		 schema_of("number null", "a percentile: nanoseconds"));
	json_put(o, "patternProperties", patterns);
}

/* The usual figures, and those that can be asked for. */
static struct json_object *make_stage(struct json_object *defs)
{
	struct json_object *o = schema_longer_row(&stage_columns);

	schema_may_have(o, "min", schema_of("number null", "nanoseconds"));
	has_percentiles(o);
	return o;
}

static void has_side(struct json_object *o, struct json_object *defs)
{
	schema_has(o, "run", schema_row(defs, &run_columns));
	schema_has(o, "queues", queues());
	schema_has(o, "operations", schema_list(schema_row(defs, &operation_columns)));
	schema_has(o, "stages", schema_list(schema_defined(defs, "stages", make_stage)));
	schema_has(o, "population", schema_row(defs, &population_columns));
	schema_has(o, "errors", schema_list(schema_row(defs, &error_columns)));
	schema_has(o, "losses", losses(defs));
	schema_may_have(o, "loss_queues", loss_queues());
}

static struct json_object *make_merged(struct json_object *defs)
{
	struct json_object *o = schema_object();

	schema_has(o, "totals", schema_row(defs, &merging_columns));
	schema_has(o, "operations", schema_list(schema_row(defs, &operation_columns)));
	schema_has(o, "stages", schema_list(schema_defined(defs, "stages", make_stage)));
	schema_has(o, "queues", schema_list(schema_row(defs, &merged_columns)));
	schema_has(o, "errors", schema_list(schema_row(defs, &error_columns)));
	return o;
}

static struct json_object *merged(struct json_object *defs)
{
	return schema_defined(defs, "merged", make_merged);
}

/* The number of commands that the following figures are of; null if they are of all. */
static struct json_object *selected(void)
{
	struct json_object *o = schema_object();

	schema_has(o, "commands", schema_types("integer"));
	schema_has(o, "of", schema_types("integer"));
	return schema_described(schema_or_null(o),
				"commands that the figures are of; null: all of them");
}

/* A row has the keys and figures that the user asked for. */
static struct json_object *make_group(struct json_object *defs)
{
	struct json_object *o = schema_object();
	static const enum groups_for tables[] = {GROUPS_FOR_LIVE, GROUPS_FOR_REPORT};
	struct group_choice every = {.grouping = {.every_ns = 1}};
	struct group_table t;

	for (unsigned int i = 0; i < GROUP_KEYS_NR; i++)
		every.grouping.by.key[every.grouping.by.nr++] = (unsigned char)i;
	figures_parse(&every.figures, "mean,min,max");
	for (size_t k = 0; k < ARRAY_SIZE(tables); k++) {
		group_table_make(&t, &every, tables[k], true, false);
		for (unsigned int i = 0; i < t.columns.nr; i++)
			if (!schema_part(schema_part(o, "properties"), t.column[i].name))
				schema_may_have(o, t.column[i].name, schema_column(&t.column[i]));
	}
	has_percentiles(o);
	schema_may_have(o, "histogram", histogram());
	schema_requires(o, "commands");
	return o;
}

/* The keys, and the figures that the user asked for. */
static struct json_object *make_detail(struct json_object *defs)
{
	struct json_object *o = schema_object();
	struct figures figures = {.nr = 0};
	struct detail_table t;

	figures_parse(&figures, "mean,min,max");
	detail_table_make(&t, &figures);
	for (unsigned int i = 0; i < t.columns.nr; i++)
		(i < t.columns.nr - figures.nr ? schema_has : schema_may_have)(
			o, t.column[i].name, schema_column(&t.column[i]));
	has_percentiles(o);
	return o;
}

/* @recorded: in a report, otherwise in a live view */
static struct json_object *groups_of(struct json_object *defs, bool recorded)
{
	struct json_object *o = schema_object(), *either, *list;

	schema_has(o, "by", schema_list(schema_types("string")));
	schema_has(o, "rows", schema_list(schema_defined(defs, "group", make_group)));
	schema_has(o, "late",
		   schema_of(recorded ? "integer" : "integer null",
			     "commands that are in no number of those in flight"));
	if (!recorded)
		return o;
	either = json_empty();
	list = json_array();
	json_append(list, schema_types("null"));
	json_append(list, schema_defined(defs, "group", make_group));
	json_put(either, "anyOf", list);
	schema_has(o, "every", schema_of("integer null", "nanoseconds of an interval"));
	schema_has(o, "others",
		   schema_described(
			   either,
			   "commands of groups, or rows, past the limits; null: there are none"));
	schema_has(o, "total", schema_defined(defs, "group", make_group));
	schema_has(o, "left_out", schema_of("integer", "rows without commands that are not there"));
	return o;
}

/* Statistics of an input alone, if none of its commands is matched; null otherwise. */
static struct json_object *alone(struct json_object *defs, bool why)
{
	struct json_object *o = schema_object();

	if (why) {
		schema_has(o, "why", schema_types("string"));
		schema_has(o, "selected", selected());
		schema_may_have(o, "groups", groups_of(defs, true));
		schema_may_have(o, "details",
				schema_list(schema_defined(defs, "detail", make_detail)));
	}
	has_side(o, defs);
	return schema_or_null(o);
}

static struct json_object *peers(struct json_object *defs)
{
	struct json_object *row = schema_longer_row(&peer_columns);

	schema_has(row, "messages", schema_list(schema_types("string")));
	schema_has(row, "losses", losses(defs));
	schema_has(row, "alone", alone(defs, false));
	return schema_list(row);
}

/* A line of output. */
static struct json_object *line(const char *type)
{
	struct json_object *o = schema_object(), *only = json_empty();

	json_put(only, "const", json_text(type));
	schema_has(o, "type", only);
	return o;
}

static struct json_object *block(struct json_object *defs, bool summary)
{
	struct json_object *o = line(summary ? "summary" : "interval");

	schema_has(o, "time", schema_of("string", "RFC 3339"));
	has_side(o, defs);
	if (!summary)
		schema_has(o, "losses_added", losses(defs));
	schema_may_have(o, "groups", groups_of(defs, false));
	schema_may_have(o, "limits", schema_list(schema_row(defs, &limit_columns)));
	schema_may_have(o, "peers", peers(defs));
	schema_may_have(o, "matching", schema_row(defs, &matching_columns));
	schema_may_have(o, "merged", merged(defs));
	return o;
}

static struct json_object *points_of(enum nt_side side)
{
	struct json_object *o = schema_object();

	for (unsigned int i = 0; i < points_nr(side); i++)
		schema_may_have(o, point_name(side, i), schema_types("integer"));
	return o;
}

static struct json_object *points(void)
{
	struct json_object *o = schema_object();

	schema_may_have(o, side_name(NT_HOST), points_of(NT_HOST));
	schema_may_have(o, side_name(NT_TARGET), points_of(NT_TARGET));
	return schema_described(o, "nanoseconds after the first one of that side");
}

/* Names of stages that are joined have "+" between them. */
static struct json_object *stages(void)
{
	struct json_object *o = schema_types("object null");

	json_put(o, "additionalProperties", schema_types("integer"));
	return schema_described(o, "nanoseconds; null where not all can be told");
}

static struct json_object *command(const char *type)
{
	struct json_object *o = line(type);

	schema_has_columns(o, &command_columns);
	schema_has(o, "points", points());
	return o;
}

static struct json_object *whole_command(struct json_object *defs, bool story)
{
	struct json_object *o = command("command");

	schema_has(o, "stages", stages());
	if (story)
		schema_has(o, "story", schema_list(schema_row(defs, &point_columns)));
	return o;
}

static struct json_object *in_flight(void)
{
	struct json_object *o = command("in_flight");

	schema_has(o, "stage", schema_types("string null"));
	return schema_described(o, "a command that has not ended; its latency is its age");
}

/* A command begins: a line of --events. */
static struct json_object *submission(void)
{
	struct json_object *o = line("submission"), *fields = schema_types("object");

	schema_has_columns(o, &event_columns);
	json_put(fields, "additionalProperties", schema_types("string integer"));
	schema_has(
		o, "fields",
		schema_described(
			fields, "of dwords 10 to 15 of its submission queue entry, by its opcode"));
	return o;
}

static struct json_object *completion(void)
{
	struct json_object *o = line("completion");

	schema_has_columns(o, &event_columns);
	schema_has(o, "stages", stages());
	return o;
}

static struct json_object *lost(void)
{
	struct json_object *o = line("lost");

	schema_has_columns(o, &lost_columns);
	return schema_described(
		o,
		"events, or commands that ended, between the one before and the one behind this");
}

static struct json_object *end(struct json_object *defs)
{
	struct json_object *o = line("end");

	schema_has(o, "time", schema_of("string", "RFC 3339"));
	schema_has(o, "losses", losses(defs));
	return o;
}

static struct json_object *report(struct json_object *defs)
{
	struct json_object *o = line("report"), *input = schema_longer_row(&input_columns);
	struct json_object *connection = schema_longer_row(&connection_columns);

	schema_has(input, "error", schema_types("string null"));
	schema_has(input, "losses", losses(defs));
	schema_has(input, "alone", alone(defs, true));
	schema_has_columns(connection, &pair_columns);
	schema_has(o, "inputs", schema_list(input));
	schema_has(o, "connections", schema_list(connection));
	schema_has(o, "strays", schema_row(defs, &stray_columns));
	schema_has(
		o, "outside_bursts",
		schema_of(
			"integer",
			"records of one side only, because no burst of the other side was there for them"));
	schema_has(o, "selected", selected());
	schema_may_have(o, "limits", schema_list(schema_row(defs, &limit_columns)));
	schema_has(o, "merged", merged(defs));
	schema_has(o, "slowest", schema_list(whole_command(defs, true)));
	schema_may_have(o, "groups", groups_of(defs, true));
	schema_may_have(o, "details", schema_list(schema_defined(defs, "detail", make_detail)));
	return o;
}

static struct json_object *stacks(void)
{
	struct json_object *o = line("stacks"), *path = schema_longer_row(&path_kind_columns);
	struct json_object *lost = schema_object();

	schema_has(path, "functions",
		   schema_described(schema_list(schema_types("string")), "the innermost first"));
	for (unsigned int i = 0; i < PATH_LOSSES_NR; i++)
		schema_has(lost, path_loss_name(i), schema_of("integer", path_loss_meaning(i)));
	schema_has(o, "time", schema_of("string", "RFC 3339"));
	schema_has(o, "kernel", schema_types("string"));
	schema_has(o, "elapsed", schema_of("number", "seconds"));
	schema_has(o, "sample", schema_of("integer", "one command in so many was looked at"));
	schema_has(o, "kinds", schema_list(schema_longer_row(&path_kind_columns)));
	schema_has(o, "paths", schema_list(path));
	schema_has(o, "losses", lost);
	return o;
}

/* A way to a point. @taken: false for a way that is not used, which has a reason. */
static struct json_object *way(bool taken)
{
	struct json_object *o = schema_object();

	schema_has(o, "source", schema_types("string"));
	schema_has(o, "sees", schema_types("string"));
	if (!taken)
		schema_has(o, "passed_over", schema_types("string"));
	return taken ? schema_or_null(o) : o;
}

static struct json_object *probes(void)
{
	struct json_object *o = line("probes"), *side = schema_object(), *point = schema_object();

	schema_has(point, "point", schema_types("string"));
	schema_has(point, "probe", way(true));
	schema_has(point, "alternatives", schema_list(way(false)));
	schema_has(point, "stages", schema_list(schema_types("string")));
	schema_has(side, "side", schema_types("string"));
	schema_has(side, "driver", schema_types("string"));
	schema_has(side, "loaded", schema_types("boolean"));
	schema_has(side, "source", schema_types("string"));
	schema_has(side, "coverage", schema_types("string"));
	schema_has(side, "tried", schema_of("boolean", "as root: the programs have been loaded"));
	schema_has(side, "points", schema_list(point));
	schema_has(side, "stages", schema_list(schema_types("string")));
	schema_has(side, "to_do", schema_types("string"));
	schema_has(o, "kernel", schema_types("string"));
	schema_has(o, "sides", schema_list(side));
	return o;
}

int json_schema_print(FILE *f)
{
	struct json_object *o = json_empty(), *lines = json_array(), *defs = json_empty();

	json_put(o, "$schema", json_text("https://json-schema.org/draft/2020-12/schema"));
	json_put(o, "title", json_text("A line of ntprof-bpf --format json"));
	json_append(lines, block(defs, false));
	json_append(lines, block(defs, true));
	json_append(lines, whole_command(defs, false));
	json_append(lines, in_flight());
	json_append(lines, submission());
	json_append(lines, completion());
	json_append(lines, lost());
	json_append(lines, end(defs));
	json_append(lines, report(defs));
	json_append(lines, stacks());
	json_append(lines, probes());
	json_put(o, "oneOf", lines);
	json_put(o, "$defs", defs);
	return json_write_pretty(f, o);
}
