// SPDX-License-Identifier: GPL-2.0-only
#include "view/json_schema.h"

#include "core/counters.h"
#include "core/names.h"
#include "core/segments.h"
#include "merge/merged_stages.h"
#include "view/columns_commands.h"
#include "view/columns_connections.h"
#include "view/columns_errors.h"
#include "view/columns_groups.h"
#include "view/columns_hist.h"
#include "view/columns_paths.h"
#include "view/columns_queues.h"
#include "view/columns_run.h"
#include "view/columns_stages.h"
#include "view/columns_streams.h"
#include "view/details.h"
#include "view/event.h"
#include "view/json.h"
#include "view/limits.h"

/* { "type": [...] }: the words of @types, which blanks part */
static struct json_object *of_types(const char *types)
{
	struct json_object *o = json_empty(), *list = json_array();
	char word[16];
	int length;

	for (; sscanf(types, "%15s%n", word, &length) == 1; types += length)
		json_append(list, json_text(word));
	json_put(o, "type", list);
	return o;
}

static struct json_object *described(struct json_object *schema, const char *text)
{
	json_put(schema, "description", json_text(text));
	return schema;
}

/* { "type": "array", "items": @items } */
static struct json_object *list_of(struct json_object *items)
{
	struct json_object *o = of_types("array");

	json_put(o, "items", items);
	return o;
}

/* An object that has these and no other members; more are added by member(). */
static struct json_object *closed(void)
{
	struct json_object *o = of_types("object");

	json_put(o, "properties", json_empty());
	json_put(o, "required", json_array());
	json_put(o, "additionalProperties", json_object_new_boolean(false));
	return o;
}

static struct json_object *part(struct json_object *o, const char *name)
{
	struct json_object *found = NULL;

	json_object_object_get_ex(o, name, &found);
	return found;
}

static void may_have(struct json_object *object, const char *name, struct json_object *schema)
{
	json_put(part(object, "properties"), name, schema);
}

static void has(struct json_object *object, const char *name, struct json_object *schema)
{
	may_have(object, name, schema);
	json_append(part(object, "required"), json_text(name));
}

static struct json_object *or_null(struct json_object *schema)
{
	json_append(part(schema, "type"), json_text("null"));
	return schema;
}

static struct json_object *of_column(const struct column *c)
{
	char text[128];

	snprintf(text, sizeof(text), "%s: %s", c->title, unit_name(c->unit));
	switch (c->unit) {
	case UNIT_NAME:
	case UNIT_TEXT:
		return described(of_types("string null"), text);
	case UNIT_FLAG:
		return described(of_types("boolean"), text);
	case UNIT_NUMBER:
		/* "all" queues */
		return described(of_types("integer string null"), text);
	case UNIT_CODE:
	case UNIT_INSTANT:
		return described(of_types("integer null"), text);
	default:
		return described(of_types("number null"), text);
	}
}

static void has_columns(struct json_object *object, const struct columns *t)
{
	for (unsigned int i = 0; i < t->nr; i++)
		has(object, t->column[i].name, of_column(&t->column[i]));
}

/* A row that has more than its columns. */
static struct json_object *of_longer_row(const struct columns *t)
{
	struct json_object *o = closed();

	has_columns(o, t);
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

/* What is in several places is defined in one, by its name. */
static struct json_object *defined(struct json_object *defs, const char *name,
				   struct json_object *(*make)(struct json_object *defs))
{
	if (!part(defs, name))
		json_put(defs, name, make(defs));
	return reference_to(name);
}

static struct json_object *of_row(struct json_object *defs, const struct columns *t)
{
	if (!part(defs, t->name))
		json_put(defs, t->name, of_longer_row(t));
	return reference_to(t->name);
}

static struct json_object *make_losses(struct json_object *defs)
{
	struct json_object *o = closed();

	for (unsigned int c = 0; c < COUNTERS_NR; c++)
		has(o, counter_name(c), described(of_types("integer"), counter_help(c)));
	(void)defs;
	return o;
}

static struct json_object *losses(struct json_object *defs)
{
	return defined(defs, "lost", make_losses);
}

static struct json_object *histogram(void)
{
	return described(list_of(list_of(of_types("integer null"))),
			 "[from, to, commands]: nanoseconds, to is exclusive, and null where it is "
			 "without end");
}

static struct json_object *queues(void)
{
	struct json_object *row = of_longer_row(&queue_columns);

	may_have(row, "histogram", histogram());
	return list_of(row);
}

static void has_side(struct json_object *o, struct json_object *defs)
{
	has(o, "run", of_row(defs, &run_columns));
	has(o, "queues", queues());
	has(o, "operations", list_of(of_row(defs, &operation_columns)));
	has(o, "stages", list_of(of_row(defs, &stage_columns)));
	has(o, "population", of_row(defs, &population_columns));
	has(o, "errors", list_of(of_row(defs, &error_columns)));
	has(o, "losses", losses(defs));
}

static struct json_object *make_merged(struct json_object *defs)
{
	struct json_object *o = closed();

	has(o, "totals", of_row(defs, &merging_columns));
	has(o, "operations", list_of(of_row(defs, &operation_columns)));
	has(o, "stages", list_of(of_row(defs, &stage_columns)));
	has(o, "queues", list_of(of_row(defs, &merged_columns)));
	has(o, "errors", list_of(of_row(defs, &error_columns)));
	return o;
}

static struct json_object *merged(struct json_object *defs)
{
	return defined(defs, "merged", make_merged);
}

/* Of how many commands the figures are that follow; null where they are of all. */
static struct json_object *selected(void)
{
	struct json_object *o = closed();

	has(o, "commands", of_types("integer"));
	has(o, "of", of_types("integer"));
	return described(or_null(o), "commands that the figures are of; null: all of them");
}

static void has_percentiles(struct json_object *o)
{
	struct json_object *patterns = json_empty();

	json_put(patterns, "^p[0-9]{1,2}(_[0-9]{1,7})?$",
		 described(of_types("number null"), "a percentile: nanoseconds"));
	json_put(o, "patternProperties", patterns);
}

/* A row has those of the keys and figures that were asked for. */
static struct json_object *make_group(struct json_object *defs)
{
	struct json_object *o = closed();
	static const enum groups_for tables[] = {GROUPS_FOR_LIVE, GROUPS_FOR_REPORT};
	struct group_choice every = {.grouping = {.every_ns = 1}};
	struct group_table t;

	(void)defs;
	for (unsigned int i = 0; i < GROUP_KEYS_NR; i++)
		if (group_key_told((enum group_key)i))
			every.grouping.by.key[every.grouping.by.nr++] = (unsigned char)i;
	figures_parse(&every.figures, "mean,min,max");
	for (size_t k = 0; k < ARRAY_SIZE(tables); k++) {
		group_table_make(&t, &every, tables[k], true, false);
		for (unsigned int i = 0; i < t.columns.nr; i++)
			if (!part(part(o, "properties"), t.column[i].name))
				may_have(o, t.column[i].name, of_column(&t.column[i]));
	}
	has_percentiles(o);
	may_have(o, "histogram", histogram());
	json_append(part(o, "required"), json_text("commands"));
	return o;
}

/* Its keys, and the figures that were asked for. */
static struct json_object *make_detail(struct json_object *defs)
{
	struct json_object *o = closed();
	struct figures figures = {.nr = 0};
	struct detail_table t;

	(void)defs;
	figures_parse(&figures, "mean,min,max");
	detail_table_make(&t, &figures);
	for (unsigned int i = 0; i < t.columns.nr; i++)
		(i < t.columns.nr - figures.nr ? has : may_have)(o, t.column[i].name,
								 of_column(&t.column[i]));
	has_percentiles(o);
	return o;
}

/* @recorded: in a report, else in a live view */
static struct json_object *groups_of(struct json_object *defs, bool recorded)
{
	struct json_object *o = closed(), *either, *list;

	has(o, "by", list_of(of_types("string")));
	has(o, "rows", list_of(defined(defs, "group", make_group)));
	if (!recorded)
		return o;
	either = json_empty();
	list = json_array();
	json_append(list, of_types("null"));
	json_append(list, defined(defs, "group", make_group));
	json_put(either, "anyOf", list);
	has(o, "every", described(of_types("integer null"), "nanoseconds of an interval"));
	has(o, "others",
	    described(either,
		      "commands of groups, or rows, past the limits; null: there are none"));
	has(o, "total", defined(defs, "group", make_group));
	has(o, "left_out",
	    described(of_types("integer"), "rows without commands that are not there"));
	has(o, "late",
	    described(of_types("integer"), "commands that are in no number of those in flight"));
	return o;
}

/* What a machine tells by itself of whose commands none is matched; null of others. */
static struct json_object *alone(struct json_object *defs, bool why)
{
	struct json_object *o = closed();

	if (why) {
		has(o, "why", of_types("string"));
		has(o, "selected", selected());
		may_have(o, "groups", groups_of(defs, true));
		may_have(o, "details", list_of(defined(defs, "detail", make_detail)));
	}
	has_side(o, defs);
	return or_null(o);
}

static struct json_object *peers(struct json_object *defs)
{
	struct json_object *row = of_longer_row(&peer_columns);

	has(row, "messages", list_of(of_types("string")));
	has(row, "losses", losses(defs));
	has(row, "alone", alone(defs, false));
	return list_of(row);
}

/* A line. */
static struct json_object *line(const char *type)
{
	struct json_object *o = closed(), *only = json_empty();

	json_put(only, "const", json_text(type));
	has(o, "type", only);
	return o;
}

static struct json_object *block(struct json_object *defs, bool summary)
{
	struct json_object *o = line(summary ? "summary" : "interval");

	has(o, "time", described(of_types("string"), "RFC 3339"));
	has_side(o, defs);
	if (!summary)
		has(o, "losses_added", losses(defs));
	may_have(o, "groups", groups_of(defs, false));
	may_have(o, "limits", list_of(of_row(defs, &limit_columns)));
	may_have(o, "peers", peers(defs));
	may_have(o, "matching", of_row(defs, &matching_columns));
	may_have(o, "merged", merged(defs));
	return o;
}

static struct json_object *points_of(enum nt_side side)
{
	struct json_object *o = closed();

	for (unsigned int i = 0; i < points_nr(side); i++)
		may_have(o, point_name(side, i), of_types("integer"));
	return o;
}

static struct json_object *points(void)
{
	struct json_object *o = closed();

	may_have(o, side_name(NT_HOST), points_of(NT_HOST));
	may_have(o, side_name(NT_TARGET), points_of(NT_TARGET));
	return described(o, "nanoseconds after the first one of that side");
}

/* The names of stages that are one are joined with "+". */
static struct json_object *stages(void)
{
	struct json_object *o = of_types("object null");

	json_put(o, "additionalProperties", of_types("integer"));
	return described(o, "nanoseconds; null where not all can be told");
}

static struct json_object *command(const char *type)
{
	struct json_object *o = line(type);

	has_columns(o, &command_columns);
	has(o, "points", points());
	return o;
}

static struct json_object *whole_command(struct json_object *defs, bool story)
{
	struct json_object *o = command("command");

	has(o, "stages", stages());
	if (story)
		has(o, "story", list_of(of_row(defs, &point_columns)));
	return o;
}

static struct json_object *in_flight(void)
{
	struct json_object *o = command("in_flight");

	has(o, "stage", of_types("string null"));
	return described(o, "a command that has not ended; its latency is its age");
}

/* Of --events: a command begins. */
static struct json_object *submission(void)
{
	struct json_object *o = line("submission"), *fields = of_types("object");

	has_columns(o, &event_columns);
	json_put(fields, "additionalProperties", of_types("string integer"));
	has(o, "fields",
	    described(fields, "of dwords 10 to 15 of its submission queue entry, by its opcode"));
	return o;
}

static struct json_object *completion(void)
{
	struct json_object *o = line("completion");

	has_columns(o, &event_columns);
	return o;
}

static struct json_object *lost(void)
{
	struct json_object *o = line("lost");

	has_columns(o, &lost_columns);
	return described(o, "events between the one before and the one behind this");
}

static struct json_object *end(struct json_object *defs)
{
	struct json_object *o = line("end");

	has(o, "time", described(of_types("string"), "RFC 3339"));
	has(o, "losses", losses(defs));
	return o;
}

static struct json_object *report(struct json_object *defs)
{
	struct json_object *o = line("report"), *input = of_longer_row(&input_columns);
	struct json_object *connection = of_longer_row(&connection_columns);

	has(input, "error", of_types("string null"));
	has(input, "losses", losses(defs));
	has(input, "alone", alone(defs, true));
	has_columns(connection, &pair_columns);
	has(o, "inputs", list_of(input));
	has(o, "connections", list_of(connection));
	has(o, "strays", of_row(defs, &stray_columns));
	has(o, "outside_bursts",
	    described(
		    of_types("integer"),
		    "records of one side only, because no burst of the other side was there for them"));
	has(o, "selected", selected());
	has(o, "merged", merged(defs));
	has(o, "slowest", list_of(whole_command(defs, true)));
	may_have(o, "groups", groups_of(defs, true));
	may_have(o, "details", list_of(defined(defs, "detail", make_detail)));
	return o;
}

static struct json_object *stacks(void)
{
	struct json_object *o = line("stacks"), *path = of_longer_row(&path_kind_columns);
	struct json_object *lost = closed();

	has(path, "functions", described(list_of(of_types("string")), "the innermost first"));
	for (unsigned int i = 0; i < PATH_LOSSES_NR; i++)
		has(lost, path_loss_name(i), described(of_types("integer"), path_loss_meaning(i)));
	has(o, "time", described(of_types("string"), "RFC 3339"));
	has(o, "kernel", of_types("string"));
	has(o, "elapsed", described(of_types("number"), "seconds"));
	has(o, "sample", described(of_types("integer"), "one command in so many was looked at"));
	has(o, "kinds", list_of(of_longer_row(&path_kind_columns)));
	has(o, "paths", list_of(path));
	has(o, "losses", lost);
	return o;
}

/* A way to a point; of one that is not taken, why. */
static struct json_object *way(bool taken)
{
	struct json_object *o = closed();

	has(o, "source", of_types("string"));
	has(o, "sees", of_types("string"));
	if (!taken)
		has(o, "passed_over", of_types("string"));
	return taken ? or_null(o) : o;
}

static struct json_object *probes(void)
{
	struct json_object *o = line("probes"), *side = closed(), *point = closed();

	has(point, "point", of_types("string"));
	has(point, "probe", way(true));
	has(point, "alternatives", list_of(way(false)));
	has(point, "stages", list_of(of_types("string")));
	has(side, "side", of_types("string"));
	has(side, "driver", of_types("string"));
	has(side, "loaded", of_types("boolean"));
	has(side, "source", of_types("string"));
	has(side, "coverage", of_types("string"));
	has(side, "tried",
	    described(of_types("boolean"), "as root: the programs have been loaded"));
	has(side, "points", list_of(point));
	has(side, "stages", list_of(of_types("string")));
	has(side, "to_do", of_types("string"));
	has(o, "kernel", of_types("string"));
	has(o, "sides", list_of(side));
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
