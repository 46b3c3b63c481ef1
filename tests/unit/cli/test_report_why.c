// SPDX-License-Identifier: GPL-2.0-only
/* What report says of slow commands: text, the command that it gives, and JSON. */
#include "cli/recordings.h"

#include <json-c/json.h>

#include "core/segments.h"

/* The disk takes 10 ms more for 1 in 30 commands. */
static bool slow_disk(struct nt_record *r)
{
	unsigned int from = r->side == NT_HOST ? NT_H_RX : NT_T_DONE;

	for (unsigned int i = from; (r->slba >> 3) * 7919 % 30 == 7 && i < NT_POINTS_MAX; i++)
		r->points[i] += r->points[i] ? 10 * MS : 0;
	return true;
}

static void make_of(struct recording f[2], unsigned int commands, bool (*edit)(struct nt_record *))
{
	struct traffic_config c = traffic_of_one_queue();

	c.commands = commands;
	c.percent[NT_SHAPE_READ] = 100;
	c.percent[NT_SHAPE_INLINE_WRITE] = c.percent[NT_SHAPE_R2T_WRITE] = 0;
	c.percent[NT_SHAPE_NO_DATA] = 0;
	f[0].edit = f[1].edit = edit;
	snprintf(f[0].header.hostname, sizeof(f[0].header.hostname), "web");
	snprintf(f[1].header.hostname, sizeof(f[1].header.hostname), "stor");
	recordings_make(f, &c);
}

static void make(struct recording f[2], unsigned int commands)
{
	make_of(f, commands, slow_disk);
}

static void both_sides_say_that_it_is_the_disk(void **state)
{
	struct recording f[2] = {0};
	struct result r;

	make(f, 8000);
	RUN(&r, "report", "--why", "--format", "text", f[0].path, f[1].path);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "\nIt is the target's storage: ");
	assert_contains(r.out, "Not the host's block layer");
	/* One line without the option. */
	RUN(&r, "report", "--format", "text", f[0].path, f[1].path);
	assert_contains(r.out, "\nthe slowest 1 % of reads take 10.");
	assert_contains(r.out, "; it is the target's storage: ");
	assert_lacks(r.out, "Look further");
	recordings_free(f, 2);
}

static void too_few_slow_commands_say_how_many_it_takes(void **state)
{
	struct recording f[2] = {0}, longer[2] = {0};
	struct result r;

	make(f, 300);
	RUN(&r, "report", "--why", "--format", "text", f[0].path, f[1].path);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "of slow commands there are only ");
	recordings_free(f, 2);
	make(longer, 600);
	RUN(&r, "report", "--why", "--format", "text", longer[0].path, longer[1].path);
	assert_contains(r.out, ". Commands from p95 on take ");
	assert_contains(r.out, "\nIt is the target's storage: ");
	RUN(&r, "report", "--format", "text", longer[0].path, longer[1].path);
	assert_contains(r.out, "\nthe slowest 5 % of reads take ");
	recordings_free(longer, 2);
}

/* The host gives some commands up, which the target has never seen. */
static bool some_given_up(struct nt_record *r)
{
	if ((r->slba >> 3) % 100 != 5)
		return true;
	r->flags |= NT_F_CANCELLED;
	for (unsigned int i = NT_H_RX; i < NT_H_COMPLETE; i++)
		r->points[i] = 0;
	return r->side == NT_HOST;
}

static void commands_that_were_given_up_are_told(void **state)
{
	struct recording f[2] = {0};
	struct result r;

	make_of(f, 8000, some_given_up);
	RUN(&r, "report", "--why", "--format", "text", f[0].path, f[1].path);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "\nBesides, the host gave up ");
	RUN(&r, "report", "--why", "--format", "json", f[0].path, f[1].path);
	assert_contains(r.out, "\"given_up\":");
	assert_lacks(r.out, "\"given_up\":0,");
	recordings_free(f, 2);
	f[0] = f[1] = (struct recording){0};
	make(f, 8000);
	RUN(&r, "report", "--why", "--format", "text", f[0].path, f[1].path);
	assert_lacks(r.out, "Besides");
	recordings_free(f, 2);
}

/* What happens to nvme0 in the host's recording, which makes the commands of these times. */
static struct recording *flapping;
static uint64_t flaps_at, flap_ns, flap_every;
static bool second_path;

static void put_state(uint32_t instance, enum nt_path_state to, uint64_t ns)
{
	struct stream_event e = {.type = STREAM_PATH,
				 .path = {.ns = ns, .instance = instance, .state = to}};

	snprintf(e.path.subsysnqn, sizeof(e.path.subsysnqn), "%s", "nqn.2024-01.io.example:a");
	recording_put(flapping, &e);
}

static void to_the_array(struct queue_info *q)
{
	snprintf(q->subsysnqn, sizeof(q->subsysnqn), "%s", "nqn.2024-01.io.example:a");
}

static bool with_flaps(struct nt_record *r)
{
	uint64_t ns = record_begin_ns(r);

	if (r->side != NT_HOST)
		return true;
	if (second_path && !flaps_at)
		put_state(1, NT_PATH_LIVE, ns);
	for (flaps_at = flaps_at ?: ns + flap_every; ns > flaps_at + flap_ns;
	     flaps_at += flap_every) {
		put_state(0, NT_PATH_RESETTING, flaps_at);
		put_state(0, NT_PATH_CONNECTING, flaps_at + flap_ns / 4);
		put_state(0, NT_PATH_LIVE, flaps_at + flap_ns);
	}
	return true;
}

static void make_flapping(struct recording f[2], uint64_t ns, uint64_t every)
{
	memset(f, 0, 2 * sizeof(*f));
	flapping = &f[0];
	flaps_at = 0;
	flap_ns = ns;
	flap_every = every;
	f[0].edit_queue = f[1].edit_queue = to_the_array;
	make_of(f, 8000, with_flaps);
}

static void what_waited_for_a_path_is_a_cause_though_no_latency_has_it(void **state)
{
	struct recording f[2];
	static struct result r;

	/* A tenth of the time. */
	make_flapping(f, 2 * MS, 20 * MS);
	RUN(&r, "report", "--why", "--format", "text", f[0].path, f[1].path);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "\nIt is resets: for 20.0ms no path to nqn.2024-01.io.example:a was "
			       "live. About 9.0 % of the commands");
	assert_contains(r.out, " --every 1s\n");
	assert_lacks(r.out, "--where");
	RUN(&r, "report", "--format", "text", f[0].path, f[1].path);
	assert_contains(r.out, "\nresets: for 20.0ms ");
	RUN(&r, "report", "--why", "--format", "json", f[0].path, f[1].path);
	assert_contains(r.out, "\"cause\":\"reset\"");
	RUN(&r, "report", "--why", "--format", "text", f[0].path);
	assert_contains(r.out, "\nIt is resets: for 20.0ms ");
	/* Of a time that is selected: one outage, a half of one, none. */
	RUN(&r, "report", "--why", "--format", "text", "--time", "15ms-30ms", f[0].path, f[1].path);
	assert_contains(r.out, "\nIt is resets: for 2.00ms ");
	RUN(&r, "report", "--why", "--format", "text", "--time", "21ms-36ms", f[0].path, f[1].path);
	assert_contains(r.out, "\nIt is resets: for 1.05ms ");
	RUN(&r, "report", "--why", "--format", "text", "--time", "23ms-38ms", f[0].path);
	assert_lacks(r.out, "resets");
	recordings_free(f, 2);
}

static void outages_that_few_commands_met_are_no_cause(void **state)
{
	struct recording f[2];
	static struct result r;

	/* Less than a hundredth of the time. */
	make_flapping(f, MS, 150 * MS);
	RUN(&r, "report", "--why", "--format", "text", f[0].path, f[1].path);
	assert_lacks(r.out, "resets");
	recordings_free(f, 2);
	/* As often, but for less than the commands take anyway. */
	make_flapping(f, MS / 10, MS);
	RUN(&r, "report", "--why", "--format", "text", f[0].path, f[1].path);
	assert_lacks(r.out, "resets");
	recordings_free(f, 2);
	/* Another path is there meanwhile. */
	second_path = true;
	make_flapping(f, 2 * MS, 20 * MS);
	second_path = false;
	RUN(&r, "report", "--why", "--format", "text", f[0].path, f[1].path);
	assert_lacks(r.out, "resets");
	recordings_free(f, 2);
}

static void one_side_says_what_it_can(void **state)
{
	struct recording f[2] = {0};
	struct result r;

	make(f, 8000);
	RUN(&r, "report", "--why", "--format", "text", f[0].path);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "\nIt is the other side or the network: ");
	assert_contains(r.out, "Not known:");
	RUN(&r, "report", "--why", "--format", "text", f[1].path);
	assert_contains(r.out, "\nIt is the target's storage: ");
	recordings_free(f, 2);
}

/* Words as a shell has them, of a line whose only quotes are around whole words. */
static void split(char *line, char *words[WORDS_MAX])
{
	unsigned int nr = 0;

	for (char *at = line; *at; at += *at == ' ') {
		char end = *at == '\'' ? '\'' : ' ';

		at += end == '\'';
		assert_true(nr < WORDS_MAX - 1);
		words[nr++] = at;
		at = strchrnul(at, end);
		if (*at)
			*at++ = '\0';
	}
	words[nr] = NULL;
}

static void the_command_to_look_further_works_when_it_is_pasted(void **state)
{
	struct recording f[2] = {0};
	char line[1024], *words[WORDS_MAX], selected[64];
	unsigned long slow, of;
	static struct result r;
	const char *at;

	make(f, 8000);
	RUN(&r, "report", "--why", "--format", "text", f[0].path, f[1].path);
	at = strstr(r.out, "Look further: ntprof-bpf ");
	assert_non_null(at);
	at += strlen("Look further: ntprof-bpf ");
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
	at = strstr(r.out, "Evidence: ");
	assert_int_equal(sscanf(at, "Evidence: %lu of %lu commands", &slow, &of), 2);
	split(line, words);
	run_words(&r, words);
	assert_int_equal(r.status, 0);
	snprintf(selected, sizeof(selected), "selected: %lu of 8000 merged commands", slow);
	assert_contains(r.out, selected);
	/* What was selected stays selected. */
	RUN(&r, "report", "--why", "--format", "text", "--where", "latency>1ns", "--queue", "1",
	    "--time", "0-", f[0].path, f[1].path);
	at = strstr(r.out, "Look further: ntprof-bpf ");
	assert_non_null(at);
	at += strlen("Look further: ntprof-bpf ");
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
	assert_contains(line, " --where 'latency>1ns' --queue 1 --time 0- --op read --where 'l");
	split(line, words);
	run_words(&r, words);
	assert_int_equal(r.status, 0);
	assert_lacks(r.out, "selected: nothing");
	recordings_free(f, 2);
}

static struct json_object *get(struct json_object *o, const char *name)
{
	struct json_object *found = NULL;

	json_object_object_get_ex(o, name, &found);
	return found;
}

/* The network takes 10 ms more for half of the commands of a twentieth of the time. */
static bool slow_time(struct nt_record *r)
{
	/* traffic.h makes the block of the number in the other direction. */
	uint32_t id = (uint32_t)(r->slba >> 3) * 244002641u;

	for (unsigned int i = NT_H_RX;
	     r->side == NT_HOST && id / 400 == 10 && id % 2 && i < NT_POINTS_MAX; i++)
		r->points[i] += r->points[i] ? 10 * MS : 0;
	return true;
}

static void the_time_of_slow_commands_is_named_and_selects_them(void **state)
{
	char line[1024], *words[WORDS_MAX], from[16], to[16], both[64];
	unsigned long selected, all;
	struct recording f[2] = {0};
	static struct result r;
	struct json_object *o, *time;
	const char *at;

	make_of(f, 8000, slow_time);
	RUN(&r, "report", "--why", "--format", "text", f[0].path, f[1].path);
	at = strstr(r.out, "\nWhen: ");
	assert_non_null(at);
	at = strstr(at, ", are from ");
	assert_non_null(at);
	assert_int_equal(sscanf(at, ", are from %15s to %15[0-9:], by the host's clock.", from, to),
			 2);
	snprintf(both, sizeof(both), " --time %s-%s --by ", from, to);
	assert_contains(r.out, both);
	at = strstr(r.out, "Look further: ntprof-bpf ") + strlen("Look further: ntprof-bpf ");
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
	split(line, words);
	run_words(&r, words);
	assert_int_equal(r.status, 0);
	at = strstr(r.out, "selected: ");
	assert_int_equal(sscanf(at, "selected: %lu of %lu", &selected, &all), 2);
	assert_in_range(selected, 150, 250);
	/* Without the option it is in one line, too. */
	RUN(&r, "report", "--format", "text", f[0].path, f[1].path);
	snprintf(both, sizeof(both), " of it from %s to %s (--why", from, to);
	assert_contains(r.out, both);
	RUN(&r, "report", "--why", "--format", "json", f[0].path, f[1].path);
	o = json_tokener_parse(r.out);
	time = get(json_object_array_get_idx(get(o, "why"), 0), "time");
	assert_non_null(get(time, "hot_from"));
	assert_true(strcmp(json_object_get_string(get(time, "hot_from")),
			   json_object_get_string(get(time, "hot_to"))) < 0);
	json_object_put(o);
	recordings_free(f, 2);
}

/* The network takes 10 ms more for 1 in 30 commands: to the target, or to the host. */
static bool slow_there(struct nt_record *r)
{
	unsigned int from = r->side == NT_HOST ? NT_H_RX : NT_T_RX;

	for (unsigned int i = from; (r->slba >> 3) * 7919 % 30 == 7 && i < NT_POINTS_MAX; i++)
		r->points[i] += r->points[i] ? 10 * MS : 0;
	return true;
}

static bool slow_back(struct nt_record *r)
{
	return r->side != NT_HOST || slow_there(r);
}

static void the_way_of_the_networks_time_is_said(void **state)
{
	static const struct {
		bool (*edit)(struct nt_record *r);
		const char *said;
		const char *json;
	} cases[] = {
		{slow_there, " % of it on the way to the target", "\"to_target\":0.9"},
		{slow_back, " % of it on the way to the host", "\"to_target\":0"},
		{slow_disk, "It is the target's storage", "\"to_target\":null"},
	};
	static struct result r;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct recording f[2] = {0};

		make_of(f, 8000, cases[i].edit);
		RUN(&r, "report", "--why", "--format", "text", f[0].path, f[1].path);
		assert_contains(r.out, cases[i].said);
		RUN(&r, "report", "--why", "--format", "json", f[0].path, f[1].path);
		assert_contains(r.out, cases[i].json);
		recordings_free(f, 2);
	}
}

static void names_that_a_shell_would_read_are_not_in_that_command(void **state)
{
	struct recording f[2] = {0};
	char folder[] = "/tmp/why.XXXXXX", name[64];
	struct result r;

	make(f, 8000);
	assert_non_null(mkdtemp(folder));
	snprintf(name, sizeof(name), "%s/a $(b).ntp", folder);
	assert_int_equal(symlink(f[0].path, name), 0);
	RUN(&r, "report", "--why", "--format", "text", name, f[1].path);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_contains(r.out, "Look further: ntprof-bpf report FILE... --op read --where ");
	recordings_free(f, 2);
}

static void hostile_queue(struct queue_info *q)
{
	snprintf(q->subsysnqn, sizeof(q->subsysnqn), "nqn\x1b[2J");
}

/* They may come from a configuration that somebody else has written. */
static void options_that_a_terminal_would_obey_are_not_in_that_command(void **state)
{
	struct recording f[2] = {{.edit_queue = hostile_queue}, {.edit_queue = hostile_queue}};
	struct result r;

	make(f, 8000);
	RUN(&r, "report", "--why", "--format", "text", "--nqn", "nqn\x1b[2J", f[0].path, f[1].path);
	assert_contains(r.out, ", and what you selected by\n");
	assert_lacks(r.out, "\x1b");
	recordings_free(f, 2);
}

static struct json_object *schema;

static bool lists(struct json_object *array, struct json_object *value)
{
	for (size_t i = 0; array && i < json_object_array_length(array); i++)
		if (json_object_equal(json_object_array_get_idx(array, i), value))
			return true;
	return false;
}

static bool is_of(const char *type, struct json_object *o)
{
	switch (json_object_get_type(o)) {
	case json_type_null:
		return !strcmp(type, "null");
	case json_type_boolean:
		return !strcmp(type, "boolean");
	case json_type_int:
		return !strcmp(type, "integer") || !strcmp(type, "number");
	case json_type_double:
		return !strcmp(type, "number");
	case json_type_string:
		return !strcmp(type, "string");
	case json_type_array:
		return !strcmp(type, "array");
	default:
		return !strcmp(type, "object");
	}
}

/* The parts of JSON Schema that the definition of "why" uses. */
static void assert_valid(struct json_object *s, struct json_object *o, const char *name)
{
	struct json_object *type = get(s, "type"), *any = get(s, "anyOf"), *members;
	bool right = !type;

	if (any) {
		assert_valid(json_object_array_get_idx(any, o ? 1 : 0), o, name);
		return;
	}
	if (get(s, "enum") && !lists(get(s, "enum"), o))
		fail_msg("%s is not in its enum: %s", name, json_object_to_json_string(o));
	if (json_object_is_type(type, json_type_string))
		right = is_of(json_object_get_string(type), o);
	for (size_t i = 0;
	     json_object_is_type(type, json_type_array) && i < json_object_array_length(type); i++)
		right |= is_of(json_object_get_string(json_object_array_get_idx(type, i)), o);
	if (!right)
		fail_msg("%s is of another type: %s", name, json_object_to_json_string(o));
	for (size_t i = 0;
	     json_object_is_type(o, json_type_array) && i < json_object_array_length(o); i++)
		assert_valid(get(s, "items"), json_object_array_get_idx(o, i), name);
	members = get(s, "properties");
	if (!members || !json_object_is_type(o, json_type_object))
		return;
	assert_int_equal(json_object_object_length(o),
			 json_object_array_length(get(s, "required")));
	json_object_object_foreach(o, key, member)
	{
		struct json_object *of = get(members, key);

		if (!of)
			fail_msg("%s.%s is not in the schema", name, key);
		assert_valid(of, member, key);
	}
}

static void assert_why(struct json_object *array, const char *cause)
{
	struct json_object *s = get(get(schema, "$defs"), "why"), *o;

	assert_int_equal(json_object_array_length(array), 1);
	o = json_object_array_get_idx(array, 0);
	assert_valid(s, o, "why");
	assert_string_equal(json_object_get_string(get(o, "verdict")), "named");
	assert_string_equal(json_object_get_string(get(o, "cause")), cause);
}

static void json_is_as_the_schema_has_it(void **state)
{
	struct recording f[2] = {0};
	struct json_object *o;
	static struct result r;

	schema = json_object_from_file("docs/output.schema.json");
	assert_non_null(schema);
	make(f, 8000);
	RUN(&r, "report", "--why", "--format", "json", f[0].path, f[1].path);
	o = json_tokener_parse(r.out);
	assert_non_null(o);
	assert_why(get(o, "why"), "disk");
	json_object_put(o);
	RUN(&r, "report", "--why", "--format", "json", f[0].path);
	o = json_tokener_parse(r.out);
	assert_why(get(get(json_object_array_get_idx(get(o, "inputs"), 0), "alone"), "why_slow"),
		   "far");
	json_object_put(o);
	RUN(&r, "report", "--format", "json", f[0].path, f[1].path);
	o = json_tokener_parse(r.out);
	assert_null(get(o, "why"));
	json_object_put(o);
	json_object_put(schema);
	recordings_free(f, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_sides_say_that_it_is_the_disk),
		cmocka_unit_test(too_few_slow_commands_say_how_many_it_takes),
		cmocka_unit_test(commands_that_were_given_up_are_told),
		cmocka_unit_test(what_waited_for_a_path_is_a_cause_though_no_latency_has_it),
		cmocka_unit_test(outages_that_few_commands_met_are_no_cause),
		cmocka_unit_test(one_side_says_what_it_can),
		cmocka_unit_test(the_command_to_look_further_works_when_it_is_pasted),
		cmocka_unit_test(the_time_of_slow_commands_is_named_and_selects_them),
		cmocka_unit_test(the_way_of_the_networks_time_is_said),
		cmocka_unit_test(names_that_a_shell_would_read_are_not_in_that_command),
		cmocka_unit_test(options_that_a_terminal_would_obey_are_not_in_that_command),
		cmocka_unit_test(json_is_as_the_schema_has_it),
	};

	return cmocka_run_group_tests(tests, find_program, NULL);
}
