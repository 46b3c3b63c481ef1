// SPDX-License-Identifier: GPL-2.0-only
/* The columns of groups: which a table has, what a cell says of a name, and the figures of latency.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "view/columns_groups.h"
#include "view/groups.h"
#include "view/lines.h"

/* All keys, in the order of enum group_key. */
static const char *const keys[] = {"ctrl", "nqn",    "host",   "queue",	   "op",   "size",
				   "nsid", "status", "source", "device",   "path", "cgroup",
				   "cpu",  "pid",    "comm",   "container"};

static struct group_choice choice_of(const char *by, const char *figures)
{
	struct group_choice c = {.grouping = {.every_ns = 0}};
	char wrong[GROUP_WRONG_LEN];

	if (by[0] && !group_by_parse(&c.grouping.by, by, wrong))
		fail_msg("%s: %s", by, wrong);
	if (figures[0])
		assert_null(figures_parse(&c.figures, figures));
	return c;
}

static unsigned int column_of(const struct group_table *t, const char *name)
{
	for (unsigned int i = 0; i < t->columns.nr; i++)
		if (!strcmp(t->column[i].name, name))
			return i;
	fail_msg("there is no column %s", name);
	return 0;
}

/* Return: what people read in the column @name of a row; "-": nothing. */
static const char *said(const struct group_table *t, const char *name, const struct queue_row *q)
{
	static char cell[CELL_LEN];
	unsigned int i = column_of(t, name);
	struct value v;

	columns_get(&t->columns, i, q, &v);
	return cell_format(cell, sizeof(cell), &t->column[i], &v);
}

/* Return: the whole number in the column @name; UINT64_MAX: there is none. */
static uint64_t number(const struct group_table *t, const char *name, const struct queue_row *q)
{
	struct value v;

	columns_get(&t->columns, column_of(t, name), q, &v);
	assert_int_equal(v.type, VALUE_NATURAL);
	return v.none ? UINT64_MAX : v.natural;
}

/* @by: one key; @what: GROUPS_FOR_REPORT has names whole, GROUPS_FOR_REPORT_TEXT has them short */
static const char *key_said(const char *by, enum groups_for what, const struct group_name *name)
{
	const struct group_choice c = choice_of(by, "");
	struct queue_row q = {.group = name};
	struct group_table t;

	group_table_make(&t, &c, what, true, false);
	return said(&t, by, &q);
}

static void each_key_shows_its_part_of_the_name(void **state)
{
	static const struct group_name name = {
		.ctrl = "nvme3",
		.nqn = "nqn.2014-08.org.example:disks",
		.nqn_twin = 2,
		.host = "nqn.2014-08.org.example:hosta",
		.host_twin = 3,
		.queue = 7,
		.op = NT_OP_WRITE,
		.size = 4096,
		.nsid = 5,
		.status = 0x006,
		.source = "stock",
		.device = "nvme0n1",
		.path = "traddr=10.0.0.1",
		.cgroup = "/system.slice",
		.cpu = 6,
		.pid = 4194304,
		.comm = "fio",
		.container = "0123456789ab",
	};
	static const char *const whole[] = {"nvme3",
					    "nqn.2014-08.org.example:disks",
					    "nqn.2014-08.org.example:hosta",
					    "7",
					    "write",
					    "4096",
					    "5",
					    "internal_error",
					    "stock",
					    "nvme0n1",
					    "traddr=10.0.0.1",
					    "/system.slice",
					    "6",
					    "4194304",
					    "fio",
					    "0123456789ab"};

	for (unsigned int k = 0; k < ARRAY_SIZE(keys); k++) {
		assert_string_equal(key_said(keys[k], GROUPS_FOR_REPORT, &name), whole[k]);
		assert_string_equal(key_said(keys[k], GROUPS_FOR_LIVE, &name), whole[k]);
		if (k == GROUP_NQN || k == GROUP_HOST)
			continue;
		assert_string_equal(key_said(keys[k], GROUPS_FOR_REPORT_TEXT, &name), whole[k]);
		assert_string_equal(key_said(keys[k], GROUPS_FOR_LIVE_TEXT, &name), whole[k]);
	}
	assert_string_equal(key_said("nqn", GROUPS_FOR_REPORT_TEXT, &name), "...:disks#2");
	assert_string_equal(key_said("host", GROUPS_FOR_LIVE_TEXT, &name), "...:hosta#3");
}

static void an_unknown_part_of_a_name_has_no_value(void **state)
{
	static const char *const unknown[] = {"ctrl",	"nqn", "host", "source", "device",   "path",
					      "cgroup", "cpu", "pid",  "comm",	 "container"};
	static const struct group_name name = {.cpu = ORIGIN_NO_CPU};

	for (unsigned int i = 0; i < ARRAY_SIZE(unknown); i++) {
		assert_string_equal(key_said(unknown[i], GROUPS_FOR_REPORT, &name), "-");
		assert_string_equal(key_said(unknown[i], GROUPS_FOR_REPORT_TEXT, &name), "-");
	}
}

static void numbers_of_a_name_may_be_0(void **state)
{
	static const struct group_name name = {.queue = 0};

	assert_string_equal(key_said("queue", GROUPS_FOR_REPORT, &name), "0");
	assert_string_equal(key_said("size", GROUPS_FOR_REPORT, &name), "0");
	assert_string_equal(key_said("nsid", GROUPS_FOR_REPORT, &name), "0");
	assert_string_equal(key_said("cpu", GROUPS_FOR_REPORT, &name), "0");
	assert_string_equal(key_said("status", GROUPS_FOR_REPORT, &name), "success");
}

static void commands_of_several_queues_are_of_all(void **state)
{
	static const struct group_name name = {.queue = 3, .shared = true};

	assert_string_equal(key_said("queue", GROUPS_FOR_REPORT, &name), "all");
}

/* Fabrics commands have status codes of their own: 181h is the busy controller of a Connect. */
static void a_status_has_the_name_of_its_command_set(void **state)
{
	static const struct {
		uint16_t status;
		bool cancelled;
		const char *name;
	} cases[] = {
		{0x000, false, "success"},
		{0x006, false, "internal_error"},
		{0x181, false, "invalid_protection_information"},
		{0x181 | GROUP_STATUS_FABRICS, false, "connect_controller_busy"},
		{0x7ff, false, "0x7ff"},
		{0x7ff | GROUP_STATUS_FABRICS, false, "0x7ff"},
		{0x006, true, "cancelled"},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct group_name name = {.status = cases[i].status,
						.cancelled = cases[i].cancelled};

		assert_string_equal(key_said("status", GROUPS_FOR_REPORT, &name), cases[i].name);
	}
}

/* In a table the first key says it instead of a column; programs read the column "row". */
static void the_total_and_the_others_are_no_group(void **state)
{
	static const struct group_name names[] = {
		{.kind = GROUP_ONE, .op = NT_OP_READ, .nsid = 1},
		{.kind = GROUP_OTHERS, .op = NT_OPS_NR},
		{.kind = GROUP_TOTAL, .op = NT_OPS_NR},
	};
	static const char *const kinds[] = {"group", "others", "total"};
	const struct group_choice c = choice_of("nsid,op", ""), all = choice_of("", "");
	struct group_table t;

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		struct queue_row q = {.group = &names[i]};

		group_table_make(&t, &c, GROUPS_FOR_REPORT, true, false);
		assert_string_equal(said(&t, "row", &q), kinds[i]);
		assert_string_equal(said(&t, "nsid", &q), i ? "-" : "1");
		assert_string_equal(said(&t, "op", &q), i ? "-" : "read");
		group_table_make(&t, &c, GROUPS_FOR_REPORT_TEXT, true, false);
		assert_string_equal(said(&t, "nsid", &q), i ? kinds[i] : "1");
		assert_string_equal(said(&t, "op", &q), i ? "-" : "read");
		group_table_make(&t, &all, GROUPS_FOR_REPORT_TEXT, true, false);
		assert_string_equal(said(&t, "row", &q), kinds[i]);
	}
}

static void names_of(const struct group_table *t, char *text, size_t size)
{
	size_t used = 0;

	for (unsigned int i = 0; i < t->columns.nr; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "",
					 t->column[i].name);
	for (unsigned int i = 0; i < t->nr_dispensable; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : " | ",
					 t->column[t->dispensable[i]].name);
	assert_true(used < size);
}

/* The names of the columns; behind the bar, those that a narrow line leaves out, in that order. */
static void each_output_has_its_columns(void **state)
{
	static const struct {
		enum groups_for what;
		bool tallied, summary, none_failed;
		const char *names;
	} cases[] = {
		{GROUPS_FOR_REPORT_TEXT, false, true, false,
		 "op commands failed iops throughput mean_in_flight max_in_flight min longest_stage longest_share"
		 " | max_in_flight mean_in_flight throughput iops longest_share longest_stage"},
		{GROUPS_FOR_REPORT_TEXT, false, true, true,
		 "op commands failed iops throughput mean_in_flight max_in_flight min longest_stage longest_share"
		 " | max_in_flight mean_in_flight throughput failed iops longest_share longest_stage"},
		{GROUPS_FOR_REPORT, false, true, false,
		 "row op commands failed iops throughput mean_in_flight max_in_flight min longest_stage longest_share"
		 " | max_in_flight mean_in_flight throughput iops longest_share longest_stage"},
		{GROUPS_FOR_LIVE_TEXT, false, false, false,
		 "op iops throughput in_flight oldest min longest_stage longest_share"
		 " | throughput oldest longest_share longest_stage"},
		{GROUPS_FOR_LIVE_TEXT, false, true, false,
		 "op commands iops throughput mean_in_flight oldest min longest_stage longest_share"
		 " | throughput mean_in_flight oldest longest_share longest_stage"},
		{GROUPS_FOR_LIVE, false, true, false,
		 "op commands measured iops throughput mean_in_flight max_in_flight in_flight oldest min"
		 " longest_stage longest_share"
		 " | throughput mean_in_flight oldest longest_share longest_stage"},
		{GROUPS_FOR_LIVE_TEXT, true, true, false,
		 "op commands failed iops throughput mean_in_flight max_in_flight min"
		 " | failed max_in_flight throughput mean_in_flight"},
		{GROUPS_FOR_LIVE, true, false, false,
		 "op commands measured failed iops throughput mean_in_flight max_in_flight min"
		 " | failed max_in_flight throughput mean_in_flight"},
		{GROUPS_FOR_REPORT, true, true, false,
		 "row op commands failed iops throughput mean_in_flight max_in_flight min longest_stage longest_share"
		 " | max_in_flight mean_in_flight throughput iops longest_share longest_stage"},
	};
	struct group_choice c = choice_of("op", "min");
	struct live_groups *live_groups = live_groups_new(&c.grouping.by);
	struct group_table t;
	char text[512];

	assert_non_null(live_groups);
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		c.live_groups = cases[i].tallied ? live_groups : NULL;
		group_table_make(&t, &c, cases[i].what, cases[i].summary, cases[i].none_failed);
		names_of(&t, text, sizeof(text));
		assert_string_equal(text, cases[i].names);
		assert_string_equal(t.column[t.first_key].name, "op");
	}
	live_groups_free(live_groups);
}

/* Intervals have a column before the keys, and the usual figures are those without a choice. */
static void intervals_and_usual_figures_have_columns(void **state)
{
	struct group_choice c = choice_of("queue,size", "");
	struct group_table t;
	char text[512];

	c.grouping.every_ns = 1;
	group_table_make(&t, &c, GROUPS_FOR_REPORT, true, false);
	names_of(&t, text, sizeof(text));
	assert_string_equal(
		text,
		"row from_seconds queue size commands failed iops throughput mean_in_flight max_in_flight"
		" mean p50 p99 max longest_stage longest_share"
		" | max_in_flight mean_in_flight throughput iops longest_share longest_stage");
	assert_string_equal(t.column[t.first_key].name, "queue");
	assert_string_equal(t.column[t.first_key].brief, "qid");
	assert_int_equal(t.column[column_of(&t, "from_seconds")].unit, UNIT_SECONDS);
	assert_int_equal(t.column[column_of(&t, "queue")].unit, UNIT_NUMBER);
	assert_int_equal(t.column[column_of(&t, "size")].unit, UNIT_BYTES);
	assert_int_equal(t.column[column_of(&t, "p50")].unit, UNIT_NANOSECONDS);
	assert_string_equal(t.column[column_of(&t, "failed")].brief, "fail");
	assert_string_equal(t.column[column_of(&t, "max_in_flight")].brief, "deep");
	c = choice_of("", "");
	group_table_make(&t, &c, GROUPS_FOR_LIVE, true, false);
	assert_string_equal(t.column[0].name, "commands");
}

/* Three commands of 1,001, 2,000 and 9,000 ns, and two that failed, in half a second. */
static struct groups *some(void)
{
	static const uint64_t latencies[] = {2000, 1001, 9000, 0, 0};
	const struct grouping how = {.by = {.nr = 0}};
	struct group_name name;
	struct groups *g = groups_new(&how);

	assert_non_null(g);
	memset(&name, 0, sizeof(name));
	for (unsigned int i = 0; i < ARRAY_SIZE(latencies); i++) {
		const struct group_command c = {.at_ns = 100 * i + 1,
						.latency = latencies[i],
						.bytes = 1000,
						.failed = !latencies[i],
						.stands_for = 1};

		assert_int_equal(groups_add(g, &name, &c), 0);
	}
	assert_int_equal(groups_finish(g, 0, 500000000, 0), 0);
	return g;
}

/* Reads of two stages, some of which the machine cannot tell apart, and one that was not split. */
static void a_group_names_the_stage_that_most_of_its_time_is_in(void **state)
{
	const struct group_choice c = choice_of("op", "mean");
	struct group_split own = {.of = NT_TARGET, .nr = NT_TARGET_STAGES_NR}, lacking;
	struct groups *g = groups_new(&c.grouping);
	struct group_command k = {.at_ns = 1, .latency = 1000, .stands_for = 1, .split = &own};
	struct json_object *o, *row, *stages;
	struct group_name name;
	struct group_row r;
	struct group_table t;
	struct queue_row q;
	static struct hist h;

	assert_non_null(g);
	memset(&name, 0, sizeof(name));
	for (unsigned int i = 0; i < own.nr; i++)
		own.into[i] = (uint8_t)i;
	own.ns[NT_TS_TARGET_SUBSYSTEM] = 700;
	own.ns[NT_TS_NVMET_TCP_COMPLETION] = 300;
	lacking = own;
	lacking.into[NT_TS_NVMET_TCP_COMPLETION] = NT_TS_TARGET_SUBSYSTEM;
	lacking.ns[NT_TS_TARGET_SUBSYSTEM] = 1000;
	lacking.ns[NT_TS_NVMET_TCP_COMPLETION] = 0;
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(groups_add(g, &name, &k), 0);
	name.op = NT_OP_WRITE;
	k.split = &lacking;
	assert_int_equal(groups_add(g, &name, &k), 0);
	k.split = NULL;
	assert_int_equal(groups_add(g, &name, &k), 0);
	name.op = NT_OP_FLUSH;
	assert_int_equal(groups_add(g, &name, &k), 0);
	assert_int_equal(groups_finish(g, 0, 1000, 0), 0);
	group_table_make(&t, &c, GROUPS_FOR_REPORT, true, false);
	groups_row(g, 0, &r);
	columns_groups_row(&q, &h, &r);
	assert_string_equal(said(&t, "longest_stage", &q), "target_subsystem");
	assert_string_equal(said(&t, "longest_share", &q), "70.0 %");
	/* Half of the writes' time is in no stage. */
	groups_row(g, 1, &r);
	columns_groups_row(&q, &h, &r);
	assert_string_equal(said(&t, "longest_stage", &q), "target_subsystem+nvmet_tcp_completion");
	assert_string_equal(said(&t, "longest_share", &q), "50.0 %");
	groups_row(g, 2, &r);
	columns_groups_row(&q, &h, &r);
	assert_string_equal(said(&t, "longest_stage", &q), "-");
	assert_string_equal(said(&t, "longest_share", &q), "-");
	o = groups_json(g, &c);
	assert_true(json_object_object_get_ex(o, "rows", &row));
	assert_true(
		json_object_object_get_ex(json_object_array_get_idx(row, 1), "stages", &stages));
	assert_non_null(strstr(json_object_to_json_string_ext(stages, JSON_C_TO_STRING_PLAIN),
			       "\"target_subsystem+nvmet_tcp_completion\":1000"));
	assert_true(
		json_object_object_get_ex(json_object_array_get_idx(row, 2), "stages", &stages));
	assert_null(stages);
	json_object_put(o);
	groups_free(g);
}

static void figures_are_of_the_commands_that_ended_well(void **state)
{
	const struct group_choice c = choice_of("", "min,mean,max,p50");
	struct groups *g = some();
	struct group_row r;
	struct group_table t;
	struct queue_row q;
	static struct hist h;

	groups_row(g, 0, &r);
	columns_groups_row(&q, &h, &r);
	group_table_make(&t, &c, GROUPS_FOR_REPORT, true, false);
	assert_int_equal(number(&t, "commands", &q), 3);
	assert_int_equal(number(&t, "failed", &q), 2);
	assert_int_equal(number(&t, "min", &q), 1001);
	assert_int_equal(number(&t, "max", &q), 9000);
	assert_string_equal(said(&t, "mean", &q), "4.00us");
	assert_string_equal(said(&t, "iops", &q), "6.00");
	assert_string_equal(said(&t, "throughput", &q), "0.01");
	/* They saw one, two and three commands in flight. */
	assert_string_equal(said(&t, "mean_in_flight", &q), "2.00");
	assert_int_equal(number(&t, "max_in_flight", &q), 3);
	/* A histogram alone knows the shortest latency by its bucket. */
	q.min = 0;
	assert_int_equal(number(&t, "min", &q), hist_min(&h));
	assert_true(hist_min(&h) <= 1001 && hist_min(&h) > 900);
	groups_free(g);
}

static void a_group_without_commands_has_counts_only(void **state)
{
	static const char *const none[] = {"min", "mean",	    "max",
					   "p50", "mean_in_flight", "max_in_flight"};
	static const struct group_name name = {.op = NT_OP_READ};
	const struct group_choice c = choice_of("", "min,mean,max,p50");
	const struct group_row r = {.name = &name, .seconds = 0};
	struct group_table t;
	struct queue_row q;
	static struct hist h;

	columns_groups_row(&q, &h, &r);
	group_table_make(&t, &c, GROUPS_FOR_REPORT, true, false);
	for (unsigned int i = 0; i < ARRAY_SIZE(none); i++)
		assert_string_equal(said(&t, none[i], &q), "-");
	assert_string_equal(said(&t, "commands", &q), "0");
	assert_string_equal(said(&t, "failed", &q), "0");
	assert_string_equal(said(&t, "iops", &q), "0");
}

/* Others were in flight with the commands of a sample, so their number is not known. */
static void a_sample_stands_for_all_commands(void **state)
{
	static const struct group_name name = {.op = NT_OP_READ};
	struct group_cell cell = {.count = 3,
				  .sum = 30,
				  .stand_for = 300,
				  .stand_for_bytes = 4000000,
				  .in_flight = {.count = 3, .sum = 6, .most = 2}};
	const struct group_row r = {.name = &name, .cell = &cell, .seconds = 2};
	const struct group_choice c = choice_of("", "");
	struct group_table t;
	struct queue_row q;
	static struct hist h;

	columns_groups_row(&q, &h, &r);
	group_table_make(&t, &c, GROUPS_FOR_REPORT, true, false);
	assert_string_equal(said(&t, "commands", &q), "3");
	assert_string_equal(said(&t, "iops", &q), "150");
	assert_string_equal(said(&t, "throughput", &q), "2.00");
	assert_string_equal(said(&t, "mean_in_flight", &q), "-");
	assert_string_equal(said(&t, "max_in_flight", &q), "-");
	cell.stand_for = 3;
	columns_groups_row(&q, &h, &r);
	assert_string_equal(said(&t, "mean_in_flight", &q), "2.00");
	assert_string_equal(said(&t, "max_in_flight", &q), "2");
}

static void an_interval_may_begin_at_0(void **state)
{
	struct group_choice c = choice_of("", "");
	static const struct group_name name = {.op = NT_OP_READ};
	struct group_row r = {.name = &name, .has_from = true, .from_ns = 0};
	struct group_table t;
	struct queue_row q;
	static struct hist h;

	c.grouping.every_ns = 1000000;
	group_table_make(&t, &c, GROUPS_FOR_REPORT, true, false);
	columns_groups_row(&q, &h, &r);
	assert_string_equal(said(&t, "from_seconds", &q), "0");
	r.from_ns = 1500000000;
	columns_groups_row(&q, &h, &r);
	assert_string_equal(said(&t, "from_seconds", &q), "1.50");
	r.has_from = false;
	columns_groups_row(&q, &h, &r);
	assert_string_equal(said(&t, "from_seconds", &q), "-");
}

static void so_many_figures_fit(void **state)
{
	struct figures f = {.nr = 0};

	assert_null(figures_parse(&f, "mean,min,max,p10,p20,p30,p40,p50,p60,p70,p80,p90"));
	assert_int_equal(f.nr, 12);
	assert_non_null(figures_parse(&f, "p99"));
	assert_int_equal(f.nr, 12);
	f.nr = 0;
	assert_null(figures_parse(&f, "p99.9"));
	assert_int_equal(f.figure[0].parts, 999000000);
	assert_int_equal(f.figure[0].kind, FIGURE_PERCENTILE);
	assert_non_null(figures_parse(&f, "min,p99.90"));
	assert_int_equal(f.nr, 2);
	assert_string_equal(f.figure[1].name, "min");
	assert_int_equal(f.figure[1].kind, FIGURE_MIN);
}

static void a_number_with_something_behind_it_is_no_percentile(void **state)
{
	static const char *const wrong[] = {"p99.9x", "p99.9.9", "p99x", "p99.",  "p99.12345678",
					    "p000",   "p999",	 "q50",	 "mean ", "MAX"};

	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct figures f = {.nr = 0};

		if (!figures_parse(&f, wrong[i]) || f.nr)
			fail_msg("'%s' is taken", wrong[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_key_shows_its_part_of_the_name),
		cmocka_unit_test(an_unknown_part_of_a_name_has_no_value),
		cmocka_unit_test(numbers_of_a_name_may_be_0),
		cmocka_unit_test(commands_of_several_queues_are_of_all),
		cmocka_unit_test(a_status_has_the_name_of_its_command_set),
		cmocka_unit_test(the_total_and_the_others_are_no_group),
		cmocka_unit_test(each_output_has_its_columns),
		cmocka_unit_test(intervals_and_usual_figures_have_columns),
		cmocka_unit_test(a_group_names_the_stage_that_most_of_its_time_is_in),
		cmocka_unit_test(figures_are_of_the_commands_that_ended_well),
		cmocka_unit_test(a_group_without_commands_has_counts_only),
		cmocka_unit_test(a_sample_stands_for_all_commands),
		cmocka_unit_test(an_interval_may_begin_at_0),
		cmocka_unit_test(so_many_figures_fit),
		cmocka_unit_test(a_number_with_something_behind_it_is_no_percentile),
	};

	return cmocka_run_group_tests_name("columns of groups", tests, NULL, NULL);
}
