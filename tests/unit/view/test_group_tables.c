// SPDX-License-Identifier: GPL-2.0-only
/* Recorded groups as lines of text, as CSV and as JSON: which rows, how wide, and which words stand
 * below. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "view/groups.h"

#define US 1000ULL
#define MS 1000000ULL
#define S 1000000000ULL

static struct group_choice choice_of(const char *by, const char *figures, uint64_t every_ns)
{
	struct group_choice c = {.grouping = {.every_ns = every_ns}};
	char wrong[GROUP_WRONG_LEN];

	if (by[0] && !group_by_parse(&c.grouping.by, by, wrong))
		fail_msg("%s: %s", by, wrong);
	if (figures[0])
		assert_null(figures_parse(&c.figures, figures));
	return c;
}

/* Adds a command that begins @at_ns after the beginning; @latency 0: it failed. */
static void add(struct groups *g, const struct group_name *name, uint64_t at_ns, uint64_t latency)
{
	const struct group_command c = {.after_ns = at_ns,
					.at_ns = at_ns + 1,
					.latency = latency,
					.bytes = 4096,
					.failed = !latency,
					.stands_for = 1};

	assert_int_equal(groups_add(g, name, &c), 0);
}

static struct group_name named(enum nt_op op, const char *nqn, const char *host, uint16_t queue)
{
	struct group_name name;

	memset(&name, 0, sizeof(name));
	name.op = (uint8_t)op;
	name.queue = queue;
	strcpy(name.nqn, nqn);
	strcpy(name.host, host);
	return name;
}

/* Two seconds: two reads, then, 1.5 s from the beginning, a write, and another one that failed. */
static struct groups *some(const struct group_choice *c)
{
	const struct group_name reads =
		named(NT_OP_READ, "nqn.2014-08.org.example:disks", "nqn.a", 1);
	const struct group_name writes =
		named(NT_OP_WRITE, "nqn.2014-08.org.example:disks", "nqn.b", 2);
	struct groups *g = groups_new(&c->grouping);

	assert_non_null(g);
	add(g, &reads, 0, 100 * US);
	add(g, &reads, 50 * US, 300 * US);
	add(g, &writes, 1500 * MS, 2 * MS);
	add(g, &writes, 1600 * MS, 0);
	assert_int_equal(groups_finish(g, 0, 2 * S, 0), 0);
	return g;
}

static char *printed(const struct groups *g, const struct group_choice *c, unsigned int width)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	groups_print(g, c, f, width, false, NULL);
	fclose(f);
	return text;
}

/* The lines of a table by @by, on a line of any length. */
static void assert_printed(const char *by, const char *figures, uint64_t every_ns,
			   const char *lines)
{
	const struct group_choice c = choice_of(by, figures, every_ns);
	struct groups *g = some(&c);
	char *text = printed(g, &c, 200);

	assert_string_equal(text, lines);
	free(text);
	groups_free(g);
}

static void a_table_has_the_total_and_then_the_groups(void **state)
{
	assert_printed(
		"op,queue", "mean,max", 0,
		"op     queue  commands  failed  IOPS  MB/s  depth  deepest    mean     max\n"
		"total      -         3       1  1.50  0.01   1.33        2   800us  2.00ms\n"
		"read       1         2       0  1.00  0.00   1.50        2   200us   300us\n"
		"write      2         1       1  0.50  0.00   1.00        1  2.00ms  2.00ms\n");
}

/* The total is of no interval. */
static void intervals_have_their_beginning_in_thousandths(void **state)
{
	assert_printed("op", "max", S,
		       " from  op     commands  failed  IOPS  MB/s  depth  deepest     max\n"
		       "    -  total         3       1  1.50  0.01   1.33        2  2.00ms\n"
		       "0.000  read          2       0  2.00  0.01   1.50        2   300us\n"
		       "0.000  write         0       0     0     0      -        -       -\n"
		       "1.000  read          0       0     0     0      -        -       -\n"
		       "1.000  write         1       1  1.00  0.00   1.00        1  2.00ms\n");
}

static void without_a_key_the_first_cell_says_what_a_line_is(void **state)
{
	assert_printed("", "max", 0,
		       "row    commands  failed  IOPS  MB/s  depth  deepest     max\n"
		       "total         3       1  1.50  0.01   1.33        2  2.00ms\n"
		       "group         3       1  1.50  0.01   1.33        2  2.00ms\n");
}

static void a_name_is_whole_below_the_table_once(void **state)
{
	assert_printed("nqn,host", "max", 0,
		       "nqn        host   commands  failed  IOPS  MB/s  depth  deepest     max\n"
		       "total      -             3       1  1.50  0.01   1.33        2  2.00ms\n"
		       "...:disks  nqn.a         2       0  1.00  0.00   1.50        2   300us\n"
		       "...:disks  nqn.b         1       1  0.50  0.00   1.00        1  2.00ms\n"
		       "...:disks: nqn.2014-08.org.example:disks (subsystem NQN)\n"
		       "nqn.a: nqn.a (host NQN)\n"
		       "nqn.b: nqn.b (host NQN)\n");
}

/* Two reads by queue 1 and a write by queue 2, whose first stage takes a tenth; the others are
 * joined. */
static struct groups *split(const struct group_choice *c)
{
	static const uint64_t latency[] = {1000 * US, 3000 * US, 5000 * US};
	struct groups *g = groups_new(&c->grouping);

	assert_non_null(g);
	for (unsigned int i = 0; i < ARRAY_SIZE(latency); i++) {
		struct group_split s = {.of = NT_SIDES, .nr = NT_MERGED_STAGES_NR};
		const struct group_command of = {.after_ns = i,
						 .at_ns = i + 1,
						 .latency = latency[i],
						 .stands_for = 1,
						 .split = &s};
		const struct group_name name =
			i < 2 ? named(NT_OP_READ, "", "", 1) : named(NT_OP_WRITE, "", "", 2);

		s.ns[0] = (int64_t)latency[i] / 10;
		s.ns[1] = (int64_t)latency[i] - s.ns[0];
		for (unsigned int k = 1; k < NT_MERGED_STAGES_NR; k++)
			s.into[k] = k < 3 ? 1 : (uint8_t)k;
		assert_int_equal(groups_add(g, &name, &of), 0);
	}
	assert_int_equal(groups_finish(g, 0, S, 0), 0);
	return g;
}

/* Below the rows: what the group's latency is made of. A line has as many groups as fit into it. */
static void each_group_has_its_stages(void **state)
{
	static const struct {
		const char *by;
		unsigned int width;
		const char *lines[4];
	} cases[] = {
		{"op,queue",
		 200,
		 {"\nmean of each stage\n", " total read 1 write 2\n",
		  "blk_submission                        host         300us  200us   500us\n",
		  "nvme_tcp_submission+nstack_submission host+target 2.70ms 1.80ms  4.50ms\n"}},
		{"op,queue",
		 60,
		 {"\nmean of each stage\n", "  total read 1\n", " 300us  200us\n",
		  "\ngroups without a column here: 1; --format csv has all\n"}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct group_choice c = choice_of(cases[i].by, "max", 0);
		struct groups *g = split(&c);
		char *text = printed(g, &c, cases[i].width);

		for (size_t k = 0; k < ARRAY_SIZE(cases[i].lines); k++)
			if (!strstr(text, cases[i].lines[k]))
				fail_msg("'%s' is not in:\n%s", cases[i].lines[k], text);
		free(text);
		groups_free(g);
	}
}

/* Of two hosts, one does not tell two of the stages apart. */
static void stages_that_one_group_joins_are_one_in_all(void **state)
{
	const struct group_choice c = choice_of("op", "max", 0);
	struct groups *g = groups_new(&c.grouping);
	char *text;

	for (unsigned int i = 0; i < 2; i++) {
		const struct group_name name = named(i ? NT_OP_WRITE : NT_OP_READ, "", "", 1);
		struct group_split s = {.of = NT_SIDES, .nr = NT_MERGED_STAGES_NR};
		const struct group_command of = {
			.at_ns = 1, .latency = MS, .stands_for = 1, .split = &s};

		for (unsigned int k = 0; k < NT_MERGED_STAGES_NR; k++)
			s.into[k] = i || k != 2 ? (uint8_t)k : 1;
		s.ns[1] = i ? 300 * US : MS;
		s.ns[2] = i ? 700 * US : 0;
		assert_int_equal(groups_add(g, &name, &of), 0);
	}
	assert_int_equal(groups_finish(g, 0, S, 0), 0);
	text = printed(g, &c, 200);
	if (!strstr(text,
		    "\nnvme_tcp_submission+nstack_submission host+target 1.00ms 1.00ms 1.00ms\n") ||
	    strstr(text, "\nnstack_submission "))
		fail_msg("%.500s", strstr(text, "\nstage"));
	free(text);
	groups_free(g);
}

/* Cgroups have names of 200 characters, of which the ends tell them apart, and users choose. */
static void headings_of_long_names_differ(void **state)
{
	static const char *const cgroups[] = {
		"/kubepods.slice/kubepods-burstable.slice/a",
		"/kubepods.slice/kubepods-burstable.slice/b",
		"/user.slice/1000/kubepods-burstable.slice/a",
	};
	const struct group_choice c = choice_of("cgroup,op", "max", 0);
	struct group_split s = {.of = NT_SIDES, .nr = NT_MERGED_STAGES_NR};
	const struct group_command of = {.at_ns = 1, .latency = MS, .stands_for = 1, .split = &s};
	struct groups *g = groups_new(&c.grouping);
	char *text;

	for (unsigned int k = 0; k < NT_MERGED_STAGES_NR; k++)
		s.into[k] = (uint8_t)k;
	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(cgroups); i++) {
		struct group_name name = named(i & 1 ? NT_OP_WRITE : NT_OP_READ, "", "", 1);

		strcpy(name.cgroup, cgroups[i / 2]);
		assert_int_equal(groups_add(g, &name, &of), 0);
	}
	assert_int_equal(groups_finish(g, 0, S, 0), 0);
	text = printed(g, &c, 400);
	if (!strstr(text,
		    " total #1...ble.slice/a read #2...le.slice/a write #3...ble.slice/b read "
		    "#4...le.slice/b write #5...ble.slice/a read #6...le.slice/a write\n"))
		fail_msg("%.200s", strstr(text, "\nstage"));
	free(text);
	groups_free(g);
}

/* One group has the total's, which the report shows. */
static void a_single_group_has_no_stages_of_its_own(void **state)
{
	const struct group_choice c = choice_of("nqn", "max", 0);
	struct groups *g = split(&c);
	char *text = printed(g, &c, 200);

	assert_null(strstr(text, "mean of each stage"));
	free(text);
	groups_free(g);
}

/* Several groups may be of one host, as may several be of one subsystem. */
static void a_host_of_two_subsystems_is_named_once(void **state)
{
	const struct group_choice c = choice_of("nqn,host", "max", 0);
	const struct group_name one = named(NT_OP_READ, "nqn.x", "nqn.host", 1);
	const struct group_name two = named(NT_OP_READ, "nqn.y", "nqn.host", 1);
	struct groups *g = groups_new(&c.grouping);
	char *text;

	add(g, &one, 0, MS);
	add(g, &two, 0, MS);
	assert_int_equal(groups_finish(g, 0, S, 0), 0);
	text = printed(g, &c, 200);
	assert_string_equal(strstr(text, "nqn.x: "), "nqn.x: nqn.x (subsystem NQN)\n"
						     "nqn.host: nqn.host (host NQN)\n"
						     "nqn.y: nqn.y (subsystem NQN)\n");
	free(text);
	groups_free(g);
}

static void a_name_is_printed_in_the_style_that_is_asked_for(void **state)
{
	struct group_name name = named(NT_OP_READ, "nqn.\033x", "", 1);
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	group_print_names(&name, TEXT_HEX, f);
	fputs("and ", f);
	group_print_names(&name, TEXT_MARK, f);
	fclose(f);
	assert_string_equal(text, "nqn.?x: nqn.\\x1bx (subsystem NQN)\n"
				  "and nqn.?x: nqn.?x (subsystem NQN)\n");
	free(text);
}

/* Each layout has its headings, and is used on a line as long as its own and on no shorter one. */
static void a_narrow_line_gives_up_one_thing_after_another(void **state)
{
	static const char *const headings[] = {
		"op     queue  commands  failed  IOPS  MB/s  depth  deepest    mean     max",
		"op    queue commands failed IOPS MB/s depth deepest   mean    max",
		"op    qid cmds fail IOPS MB/s depth deep   mean    max",
		"op    qid cmds fail IOPS MB/s depth   mean    max",
		"op    qid cmds fail IOPS MB/s   mean    max",
		"op    qid cmds fail IOPS   mean    max",
		"op    qid cmds fail   mean    max",
	};
	const struct group_choice c = choice_of("op,queue", "mean,max", 0);
	struct groups *g = some(&c);

	for (unsigned int i = 0; i < ARRAY_SIZE(headings); i++) {
		unsigned int width = (unsigned int)strlen(headings[i]);
		char *fits = printed(g, &c, width), *narrow = printed(g, &c, width - 1);

		fits[strcspn(fits, "\n")] = narrow[strcspn(narrow, "\n")] = '\0';
		assert_string_equal(fits, headings[i]);
		assert_string_equal(narrow, headings[i + (i + 1 < ARRAY_SIZE(headings))]);
		free(fits);
		free(narrow);
	}
	groups_free(g);
}

/* That no command failed is worth less on a narrow line than how many there were in a second. */
static void failures_that_are_none_give_way(void **state)
{
	const struct group_choice c = choice_of("op", "max", 0);
	const struct group_name name = named(NT_OP_READ, "", "", 1);
	struct groups *g = groups_new(&c.grouping);
	char *text;

	add(g, &name, 0, MS);
	assert_int_equal(groups_finish(g, 0, S, 0), 0);
	text = printed(g, &c, 25);
	assert_string_equal(text, "op    cmds IOPS    max\n"
				  "total    1 1.00 1.00ms\n"
				  "read     1 1.00 1.00ms\n");
	free(text);
	groups_free(g);
}

static void histograms_are_of_groups_and_not_of_the_total(void **state)
{
	struct group_choice c = choice_of("op", "max", 0);
	struct groups *g;
	char *text;

	c.scale = (struct scale){.on = true, .min_ns = 50 * US, .shift = 6};
	g = some(&c);
	text = printed(g, &c, 60);
	assert_null(strstr(text, "op total: "));
	assert_non_null(strstr(text, "\nop read: 2 commands\n"));
	assert_non_null(strstr(text, "\nop write: 1 commands\n"));
	free(text);
	c.scale.on = false;
	text = printed(g, &c, 60);
	assert_null(strstr(text, "commands\n"));
	free(text);
	groups_free(g);
}

static char *lines_of_csv(const struct groups *g, const struct group_choice *c)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	groups_csv_header(c, f);
	groups_csv(g, c, "in", f);
	fclose(f);
	return text;
}

static void csv_has_the_total_last(void **state)
{
	const struct group_choice c = choice_of("op", "min,max", 0);
	struct groups *g = some(&c);
	char *text = lines_of_csv(g, &c);

	assert_string_equal(text, "input,row,op,commands,failed,iops,throughput,mean_in_flight,"
				  "max_in_flight,min,max,longest_stage,longest_share\r\n"
				  "in,group,read,2,0,1,4096,1.5,2,100000,300000,,\r\n"
				  "in,group,write,1,1,0.5,2048,1,1,2000000,2000000,,\r\n"
				  "in,total,,3,1,1.5,6144,1.33333333333333,2,100000,2000000,,\r\n");
	free(text);
	groups_free(g);
}

static struct json_object *member(struct json_object *o, const char *name)
{
	struct json_object *m = NULL;

	if (!json_object_object_get_ex(o, name, &m))
		fail_msg("there is no %s", name);
	return m;
}

static int64_t number(struct json_object *o, const char *name)
{
	return json_object_get_int64(member(o, name));
}

static void json_has_what_was_asked_for_and_what_is_missing(void **state)
{
	const struct group_choice every = choice_of("op,queue", "", S),
				  all = choice_of("op", "", 0);
	struct groups *g = some(&every);
	struct json_object *o = groups_json(g, &every), *rows = member(o, "rows");

	assert_string_equal(json_object_to_json_string_ext(member(o, "by"), JSON_C_TO_STRING_PLAIN),
			    "[\"op\",\"queue\"]");
	assert_int_equal(number(o, "every"), S);
	assert_int_equal(json_object_array_length(rows), 4);
	assert_int_equal(number(json_object_array_get_idx(rows, 0), "commands"), 2);
	assert_int_equal(number(json_object_array_get_idx(rows, 3), "failed"), 1);
	assert_false(
		json_object_object_get_ex(json_object_array_get_idx(rows, 0), "histogram", NULL));
	assert_null(member(o, "others"));
	assert_int_equal(number(member(o, "total"), "commands"), 3);
	assert_int_equal(number(o, "left_out"), 0);
	assert_int_equal(number(o, "late"), 0);
	json_object_put(o);
	groups_free(g);
	g = some(&all);
	o = groups_json(g, &all);
	assert_null(member(o, "every"));
	json_object_put(o);
	groups_free(g);
}

/* Two commands of groups past the first 1,024 ones; one failed. */
static struct groups *too_many(const struct group_choice *c)
{
	struct groups *g = groups_new(&c->grouping);
	struct group_name name = named(NT_OP_READ, "", "", 1);

	for (name.nsid = 1; name.nsid <= GROUPS_MAX; name.nsid++)
		add(g, &name, 0, US);
	add(g, &name, 0, US);
	add(g, &name, 0, 0);
	assert_int_equal(groups_finish(g, 0, S, 0), 0);
	return g;
}

static void commands_without_a_row_are_others(void **state)
{
	const struct group_choice c = choice_of("nsid", "max", 0);
	struct groups *g = too_many(&c);
	struct json_object *o = groups_json(g, &c);
	char *text = printed(g, &c, 80), *csv = lines_of_csv(g, &c);

	assert_non_null(strstr(
		text, "\nothers: 2 commands of groups or intervals past the first 1024 groups, "
		      "86400 rows, or 524288 pieces of histograms\n"));
	assert_non_null(strstr(text, "\nothers         1"));
	assert_int_equal(number(member(o, "others"), "commands"), 1);
	assert_int_equal(number(member(o, "others"), "failed"), 1);
	assert_int_equal(json_object_array_length(member(o, "rows")), 1024);
	assert_non_null(strstr(csv, "\nin,group,1024,1,0,"));
	assert_non_null(strstr(csv, "\nin,others,,1,1,"));
	assert_non_null(strstr(csv, "\nin,total,,1025,1,"));
	json_object_put(o);
	free(text);
	free(csv);
	groups_free(g);
}

/* Of 100,001 seconds the first and the last have a command. */
static void empty_rows_that_would_be_too_many_are_counted(void **state)
{
	const struct group_choice c = choice_of("op", "max", S);
	const struct group_name name = named(NT_OP_READ, "", "", 1);
	struct groups *g = groups_new(&c.grouping);
	struct json_object *o;
	char *text;

	add(g, &name, 0, US);
	add(g, &name, 100000 * S, US);
	assert_int_equal(groups_finish(g, 0, 100001 * S, 0), 0);
	text = printed(g, &c, 80);
	assert_non_null(strstr(text, "\nrows without commands that are left out: 99999\n"));
	assert_null(strstr(text, "that are in no number of those in flight"));
	o = groups_json(g, &c);
	assert_int_equal(number(o, "left_out"), 99999);
	assert_int_equal(number(o, "late"), 0);
	json_object_put(o);
	free(text);
	groups_free(g);
}

/* A command came when more than wait had begun and ended after it had begun. */
static void a_command_that_came_too_late_is_counted(void **state)
{
	const struct group_choice c = choice_of("op", "max", 0);
	const struct group_name name = named(NT_OP_READ, "", "", 1);
	struct groups *g = groups_new(&c.grouping);
	struct json_object *o;
	char *text;

	for (unsigned int i = 0; i <= FLIGHTS_MAX; i++)
		add(g, &name, 10 + i, 1);
	add(g, &name, 0, MS);
	assert_int_equal(groups_finish(g, 0, S, 0), 0);
	text = printed(g, &c, 80);
	assert_non_null(strstr(text, "\ncommands that are in no number of those in flight: 1\n"));
	assert_null(strstr(text, "left out"));
	o = groups_json(g, &c);
	assert_int_equal(number(o, "left_out"), 0);
	assert_int_equal(number(o, "late"), 1);
	json_object_put(o);
	free(text);
	groups_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_has_the_total_and_then_the_groups),
		cmocka_unit_test(intervals_have_their_beginning_in_thousandths),
		cmocka_unit_test(without_a_key_the_first_cell_says_what_a_line_is),
		cmocka_unit_test(a_name_is_whole_below_the_table_once),
		cmocka_unit_test(each_group_has_its_stages),
		cmocka_unit_test(stages_that_one_group_joins_are_one_in_all),
		cmocka_unit_test(headings_of_long_names_differ),
		cmocka_unit_test(a_single_group_has_no_stages_of_its_own),
		cmocka_unit_test(a_host_of_two_subsystems_is_named_once),
		cmocka_unit_test(a_name_is_printed_in_the_style_that_is_asked_for),
		cmocka_unit_test(a_narrow_line_gives_up_one_thing_after_another),
		cmocka_unit_test(failures_that_are_none_give_way),
		cmocka_unit_test(histograms_are_of_groups_and_not_of_the_total),
		cmocka_unit_test(csv_has_the_total_last),
		cmocka_unit_test(json_has_what_was_asked_for_and_what_is_missing),
		cmocka_unit_test(commands_without_a_row_are_others),
		cmocka_unit_test(empty_rows_that_would_be_too_many_are_counted),
		cmocka_unit_test(a_command_that_came_too_late_is_counted),
	};

	return cmocka_run_group_tests_name("tables of groups", tests, NULL, NULL);
}
