// SPDX-License-Identifier: GPL-2.0-only
/* Every column that is printed as JSON has its property in the schema, and every property its
 * column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <glob.h>
#include <json-c/json.h>

#include "core/counters.h"
#include "core/array.h"
#include "core/names.h"
#include "core/paths.h"
#include "view/columns.h"
#include "view/columns_groups.h"
#include "view/columns_queues.h"
#include "view/commands.h"
#include "view/comparison.h"
#include "view/connections.h"
#include "view/disks_table.h"
#include "view/event.h"
#include "view/groups.h"
#include "view/head.h"
#include "view/histograms.h"
#include "view/json.h"
#include "view/limits.h"
#include "view/losses.h"
#include "view/path_events.h"
#include "view/paths.h"
#include "view/queue_map.h"
#include "view/stages.h"
#include "view/streams.h"
#include "view/tcp_table.h"

static struct json_object *schema;

static struct json_object *part(struct json_object *o, const char *name)
{
	struct json_object *found = NULL;

	if (!json_object_object_get_ex(o, name, &found))
		fail_msg("docs/output.schema.json has no \"%s\" there", name);
	return found;
}

static struct json_object *definition(const char *name)
{
	return part(part(schema, "$defs"), name);
}

static bool requires(struct json_object *object, const char *name)
{
	struct json_object *required = part(object, "required");

	for (size_t i = 0; i < json_object_array_length(required); i++)
		if (!strcmp(json_object_get_string(json_object_array_get_idx(required, i)), name))
			return true;
	return false;
}

/* The types of JSON that the values of a unit have, and its name. */
static const struct {
	const char *types, *name;
} units[] = {
	[UNIT_NAME] = {"[\"string\",\"null\"]", "name"},
	[UNIT_TEXT] = {"[\"string\",\"null\"]", "text"},
	[UNIT_FLAG] = {"\"boolean\"", "flag"},
	/* The value may be "all", for all queues. */
	[UNIT_NUMBER] = {"[\"integer\",\"string\",\"null\"]", "number"},
	[UNIT_CODE] = {"[\"integer\",\"null\"]", "code"},
	[UNIT_COUNT] = {"[\"number\",\"null\"]", "count"},
	[UNIT_BYTES] = {"[\"number\",\"null\"]", "bytes"},
	[UNIT_NANOSECONDS] = {"[\"number\",\"null\"]", "nanoseconds"},
	[UNIT_SECONDS] = {"[\"number\",\"null\"]", "seconds"},
	[UNIT_INSTANT] = {"[\"integer\",\"null\"]", "instant"},
	[UNIT_SHARE] = {"[\"number\",\"null\"]", "share"},
	[UNIT_PER_SECOND] = {"[\"number\",\"null\"]", "per_second"},
	[UNIT_BYTES_PER_SECOND] = {"[\"number\",\"null\"]", "bytes_per_second"},
	[UNIT_PPM] = {"[\"number\",\"null\"]", "ppm"},
};

static void assert_property(const char *object, struct json_object *properties, const char *name,
			    const char *types, const char *description)
{
	char expected[256];
	const char *text;

	snprintf(expected, sizeof(expected), "{\"type\":%s,\"description\":\"%s\"}", types,
		 description);
	text = json_object_to_json_string_ext(
		part(properties, name), JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (strcmp(text, expected))
		fail_msg("%s.%s is %s instead of %s", object, name, text, expected);
}

static void assert_column(const char *object, const struct column *c)
{
	/* A report's rows have the depth that their commands found, which is the same figure there.
	 */
	const char *title = strcmp(c->name, "mean_in_flight") ? c->title : "inflight";
	char description[128];

	snprintf(description, sizeof(description), "%s: %s", title, units[c->unit].name);
	assert_property(object, part(definition(object), "properties"), c->name,
			units[c->unit].types, description);
}

static bool has_column(const struct columns *t, const char *name)
{
	for (unsigned int i = 0; t && i < t->nr; i++)
		if (!strcmp(t->column[i].name, name))
			return true;
	return false;
}

/* @more: names, with blanks around them */
static bool has_word(const char *more, const char *name)
{
	char word[64];

	snprintf(word, sizeof(word), " %s ", name);
	return strstr(more, word);
}

/* Tables of src/view, where their rows are in the schema, and the other members of such a row. */
static const struct place {
	const char *symbol, *definition;
	const struct columns *columns, *also;
	const char *more;
} tables[] = {
	{"command_columns", "commands", &command_columns, NULL, " points origin "},
	{"connection_columns", "connections", &connection_columns, &pair_columns, ""},
	{"error_columns", "errors", &error_columns, NULL, ""},
	{"event_columns", "events", &event_columns, NULL, ""},
	{"raw_columns", "entries", &raw_columns, NULL, ""},
	{"input_columns", "inputs", &input_columns, NULL, " error losses alone "},
	{"controller_columns", "controller_states", &controller_columns, NULL, ""},
	{"waiting_columns", "waiting", &waiting_columns, NULL, ""},
	{"kind_columns", "kinds", &kind_columns, NULL, ""},
	{"limit_columns", "limits", &limit_columns, NULL, ""},
	{"load_columns", "loads", &load_columns, NULL, ""},
	{"lost_columns", "lost_events", &lost_columns, NULL, ""},
	{"origin_columns", "origins", &origin_columns, NULL, ""},
	{"matching_columns", "matching", &matching_columns, NULL, ""},
	{"mapped_controller_columns", "mapped_controllers", &mapped_controller_columns, NULL, ""},
	{"mapped_queue_columns", "mapped_queues", &mapped_queue_columns, NULL, ""},
	{"merged_columns", "merged_queues", &merged_columns, NULL, ""},
	{"merging_columns", "merging", &merging_columns, NULL, ""},
	{"operation_columns", "operations", &operation_columns, NULL, ""},
	{"pair_columns", "connections", &pair_columns, &connection_columns, ""},
	{"path_kind_columns", "path_kinds", &path_kind_columns, NULL, ""},
	{"path_event_columns", "path_events", &path_event_columns, NULL, " input "},
	{"peer_columns", "peers", &peer_columns, NULL, " messages losses alone "},
	{"point_columns", "points", &point_columns, NULL, ""},
	{"population_columns", "population", &population_columns, NULL, ""},
	{"queue_columns", "queues", &queue_columns, NULL, " histogram "},
	{"run_columns", "run", &run_columns, NULL, ""},
	{"stage_columns", "stages", &stage_columns, NULL, " min "},
	{"shift_columns", "shifts", &shift_columns, NULL, ""},
	{"blocked_columns", "meanwhile", &blocked_columns, NULL, ""},
	{"disk_columns", "disks", &disk_columns, NULL, ""},
	{"tcp_columns", "tcp", &tcp_columns, NULL, ""},
	{"stray_columns", "strays", &stray_columns, NULL, ""},
	/* Not in JSON. */
	{.symbol = "command_stage_columns"},
	{.symbol = "loss_columns"},
	{.symbol = "path_columns"},
	{.symbol = "path_loss_columns"},
	{.symbol = "sample_columns"},
	{.symbol = "scale_columns"},
};

static void a_row_has_the_columns_of_its_table(void **state)
{
	for (size_t k = 0; k < ARRAY_SIZE(tables); k++) {
		const struct place *t = &tables[k];
		struct json_object *object;

		if (!t->definition)
			continue;
		object = definition(t->definition);
		for (unsigned int i = 0; i < t->columns->nr; i++) {
			assert_column(t->definition, &t->columns->column[i]);
			assert_true(requires(object, t->columns->column[i].name));
		}
		json_object_object_foreach(part(object, "properties"), name, property)
		{
			if (!has_column(t->columns, name) && !has_column(t->also, name) &&
			    !has_word(t->more, name))
				fail_msg("%s.%s is no column", t->definition, name);
			(void)property;
		}
	}
}

static bool ends_with(const char *name, const char *ending)
{
	size_t n = strlen(name), m = strlen(ending);

	return n >= m && !strcmp(name + n - m, ending);
}

/* A name may say its unit; what is in seconds has to. */
static void check_unit(const char *name, const char *description)
{
	bool seconds = ends_with(description, ": seconds") || !strcmp(description, "seconds");

	if (seconds != ends_with(name, "_seconds"))
		fail_msg("%s: '%s': what is in seconds, and nothing else, ends in _seconds", name,
			 description);
	if (ends_with(name, "_ns") && !strstr(description, "nanoseconds") &&
	    !ends_with(description, ": instant"))
		fail_msg("%s: '%s': not in nanoseconds", name, description);
	if (ends_with(name, "_bytes") && !strstr(description, "bytes"))
		fail_msg("%s: '%s': not in bytes", name, description);
}

static void check_units(struct json_object *o)
{
	struct json_object *properties, *text;

	if (json_object_is_type(o, json_type_array))
		for (size_t i = 0; i < json_object_array_length(o); i++)
			check_units(json_object_array_get_idx(o, i));
	if (!json_object_is_type(o, json_type_object))
		return;
	if (json_object_object_get_ex(o, "properties", &properties) &&
	    json_object_is_type(properties, json_type_object)) {
		json_object_object_foreach(properties, name, property)
		{
			if (json_object_is_type(property, json_type_object) &&
			    json_object_object_get_ex(property, "description", &text))
				check_unit(name, json_object_get_string(text));
		}
	}
	json_object_object_foreach(o, key, member)
	{
		(void)key;
		check_units(member);
	}
}

static void names_of_members_say_their_unit(void **state)
{
	check_units(schema);
}

/* Each kind of line has the version of the schema behind its type. */
static void each_line_has_the_version_of_the_schema(void **state)
{
	struct json_object *kinds = part(schema, "oneOf");

	for (size_t i = 0; i < json_object_array_length(kinds); i++) {
		struct json_object *kind = json_object_array_get_idx(kinds, i);
		struct json_object *version =
			part(part(part(kind, "properties"), "schema_version"), "const");

		assert_true(requires(kind, "schema_version"));
		assert_int_equal(json_object_get_int(version), JSON_SCHEMA_VERSION);
	}
}

static bool is_listed(const char *symbol)
{
	for (size_t k = 0; k < ARRAY_SIZE(tables); k++)
		if (!strcmp(symbol, tables[k].symbol))
			return true;
	return false;
}

/* Tests are run from the root of the tree. */
static void no_table_is_forgotten(void **state)
{
	char line[256], symbol[64];
	size_t found = 0;
	glob_t headers;

	assert_int_equal(glob("src/view/*.h", 0, NULL, &headers), 0);
	for (size_t i = 0; i < headers.gl_pathc; i++) {
		FILE *f = fopen(headers.gl_pathv[i], "re");

		assert_non_null(f);
		while (fgets(line, sizeof(line), f)) {
			if (sscanf(line, "extern const struct columns %63[a-z_];", symbol) != 1)
				continue;
			if (!is_listed(symbol))
				fail_msg("tables[] lacks %s", symbol);
			found++;
		}
		fclose(f);
	}
	globfree(&headers);
	assert_int_equal(found, ARRAY_SIZE(tables));
}

/* @seen: the names of the columns of @t are added */
static void assert_may_have(const char *object, const struct columns *t, struct json_object *seen)
{
	for (unsigned int i = 0; i < t->nr; i++) {
		assert_column(object, &t->column[i]);
		json_object_object_add(seen, t->column[i].name, NULL);
	}
}

static void assert_no_others(const char *object, struct json_object *seen, const char *more)
{
	json_object_object_foreach(part(definition(object), "properties"), name, property)
	{
		if (!json_object_object_get_ex(seen, name, NULL) && !has_word(more, name))
			fail_msg("%s.%s is no column", object, name);
		(void)property;
	}
	json_object_put(seen);
}

static void groups_may_have_every_key_and_figure(void **state)
{
	static const enum groups_for outputs[] = {GROUPS_FOR_LIVE, GROUPS_FOR_REPORT};
	struct group_choice every = {.grouping = {.every_ns = 1}};
	struct json_object *seen = json_object_new_object();
	struct group_table t;

	for (unsigned int i = 0; i < GROUP_KEYS_NR; i++)
		every.grouping.by.key[every.grouping.by.nr++] = (unsigned char)i;
	assert_null(figures_parse(&every.figures, "mean,min,max"));
	for (size_t k = 0; k < ARRAY_SIZE(outputs); k++) {
		group_table_make(&t, &every, outputs[k], true, false);
		assert_may_have("groups", &t.columns, seen);
		group_table_make(&t, &every, outputs[k], false, false);
		assert_may_have("groups", &t.columns, seen);
	}
	every.live_groups = (const void *)&every;
	group_table_make(&t, &every, GROUPS_FOR_LIVE, true, false);
	assert_may_have("groups", &t.columns, seen);
	assert_null(group_bounds_parse(&every.grouping.by, "4k"));
	group_table_make(&t, &every, GROUPS_FOR_REPORT, true, false);
	assert_may_have("groups", &t.columns, seen);
	assert_no_others("groups", seen, " histogram stages ");
	assert_true(requires(definition("groups"), "commands"));
}

static void details_may_have_every_figure(void **state)
{
	struct json_object *seen = json_object_new_object();
	struct figures figures = {.nr = 0};
	struct detail_table t;

	assert_null(figures_parse(&figures, "mean,min,max"));
	detail_table_make(&t, &figures);
	assert_may_have("details", &t.columns, seen);
	for (unsigned int i = 0; i < t.columns.nr - figures.nr; i++)
		assert_true(requires(definition("details"), t.column[i].name));
	assert_no_others("details", seen, "");
}

static void every_loss_is_described(void **state)
{
	struct json_object *losses = definition("losses"), *paths = definition("path_losses");

	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		assert_property("losses", part(losses, "properties"), counter_name(c),
				"\"integer\"", counter_help(c));
		assert_true(requires(losses, counter_name(c)));
	}
	assert_int_equal(json_object_object_length(part(losses, "properties")), COUNTERS_NR);
	for (unsigned int i = 0; i < PATH_LOSSES_NR; i++) {
		assert_property("path_losses", part(paths, "properties"), path_loss_name(i),
				"\"integer\"", path_loss_meaning(i));
		assert_true(requires(paths, path_loss_name(i)));
	}
	assert_int_equal(json_object_object_length(part(paths, "properties")), PATH_LOSSES_NR);
}

static void every_point_is_named(void **state)
{
	static const enum nt_side sides[] = {NT_HOST, NT_TARGET};
	struct json_object *both = part(definition("points_of_sides"), "properties");

	for (size_t s = 0; s < ARRAY_SIZE(sides); s++) {
		struct json_object *points = part(part(both, side_name(sides[s])), "properties");
		/* A file has one of its own in the place of one of a disk. */
		unsigned int nr = record_points_nr(sides[s]) + (sides[s] == NT_TARGET);

		for (unsigned int i = 0; i < nr; i++)
			part(points, point_name(sides[s], i));
		assert_int_equal(json_object_object_length(points), nr);
	}
}

static int setup(void **state)
{
	schema = json_object_from_file("docs/output.schema.json");
	return !schema;
}

static int teardown(void **state)
{
	json_object_put(schema);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_has_the_columns_of_its_table),
		cmocka_unit_test(no_table_is_forgotten),
		cmocka_unit_test(names_of_members_say_their_unit),
		cmocka_unit_test(each_line_has_the_version_of_the_schema),
		cmocka_unit_test(groups_may_have_every_key_and_figure),
		cmocka_unit_test(details_may_have_every_figure),
		cmocka_unit_test(every_loss_is_described),
		cmocka_unit_test(every_point_is_named),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
