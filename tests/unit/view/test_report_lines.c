// SPDX-License-Identifier: GPL-2.0-only
/* The lines of a report and of the end of a run: inputs, errors, merged commands, and parts of
 * lines. */
#include "streams.h"

#include "core/array.h"
#include "core/names.h"
#include "core/segments.h"
#include "view/connections.h"
#include "view/histograms.h"
#include "view/json_report.h"
#include "view/lines.h"
#include "view/losses.h"
#include "view/numbers.h"
#include "view/path_events.h"
#include "view/stages.h"
#include "view/streams.h"

#define MS 1000000ULL

static char *text;
static size_t size;

static FILE *begin(void)
{
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	return f;
}

static void assert_written(FILE *f, const char *expected)
{
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, expected);
	free(text);
	text = NULL;
}

static void missing_points_that_bound_stages_are_named(void **state)
{
	FILE *f = begin();

	lacks_print(f, "it ", NT_HOST, 1u << NT_H_QUEUE_RQ, ".");
	lacks_print(f, " it ", NT_HOST, 1u << NT_H_RX | 1u << NT_H_QUEUE_RQ, ";\n");
	lacks_print(f, "it ", NT_HOST, 0, "\n");
	lacks_print(f, "it ", NT_TARGET, 1u << NT_T_EXEC, "\n");
	/* No stage ends there. */
	lacks_print(f, "it ", NT_HOST, 1u << NT_H_SENT_CMD, "\n");
	lacks_print(f, "it ", NT_TARGET, segments_points(NT_TARGET) & ~segments_ends(NT_TARGET),
		    "\n");
	assert_written(f, "it lacks the points queue_rq. it lacks the points queue_rq, rx;\n"
			  "it lacks the points exec\n"
			  "it has only the ends of commands (--points ends)\n");
}

static void a_bar_is_as_long_as_its_share(void **state)
{
	static const struct {
		double share;
		bool unicode;
		unsigned int columns;
		const char *bar;
	} cases[] = {
		{0, false, 0, ""},
		{0.04, false, 0, ""},
		{0.05, false, 1, "@"},
		{0.5, false, 5, "@@@@@"},
		{1, false, 10, "@@@@@@@@@@"},
		{7, false, 10, "@@@@@@@@@@"},
		{-1, false, 0, ""},
		{0, true, 0, ""},
		{0.0001, true, 1, "▏"},
		{0.1, true, 1, "█"},
		{0.15, true, 2, "█▌"},
		{1, true, 10, "██████████"},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		FILE *f = begin();

		assert_int_equal(bar_draw(f, cases[i].share, 10, cases[i].unicode),
				 cases[i].columns);
		assert_written(f, cases[i].bar);
	}
}

static void a_bar_has_the_room_that_is_left(void **state)
{
	assert_int_equal(bar_width(80, 20, 8, 60), 60);
	assert_int_equal(bar_width(79, 20, 8, 60), 59);
	assert_int_equal(bar_width(200, 20, 8, 60), 60);
	assert_int_equal(bar_width(29, 20, 8, 60), 9);
	assert_int_equal(bar_width(25, 20, 8, 60), 8);
	assert_int_equal(bar_width(10, 20, 8, 60), 8);
}

static void a_level_is_one_of_eight(void **state)
{
	assert_string_equal(bar_level(0, true), " ");
	assert_string_equal(bar_level(-1, false), " ");
	assert_string_equal(bar_level(0.01, false), ".");
	assert_string_equal(bar_level(0.124, true), "▁");
	assert_string_equal(bar_level(0.125, true), "▂");
	assert_string_equal(bar_level(0.99, false), "@");
	assert_string_equal(bar_level(1, true), "█");
	assert_string_equal(bar_level(3, false), "@");
}

static void errors_of_no_command_are_left_out(void **state)
{
	struct errors e = {.nr = 0};
	FILE *f = begin();

	errors_print_interval(&e, f, WRAP_NEVER);
	errors_print_run(&e, "error", f);
	assert_written(f, "");
	assert_int_equal(errors_add(&e, "nvme0", "nqn.x", 3, NT_OP_READ, 0x281, 4), 0);
	assert_int_equal(errors_add(&e, "nvme0", "nqn.x", 3, NT_OP_WRITE, 6, 0), 0);
	assert_int_equal(errors_add(&e, "nvme1", "nqn.y", 4, NT_OP_WRITE, 6, 1), 0);
	f = begin();
	errors_print_run(&e, "error", f);
	assert_written(f, "error read unrecovered_read_error 4 status=0x281 q3 nvme0 nqn.x  "
			  "# errors are in no histogram\n"
			  "error write internal_error 1 status=0x006 q4 nvme1 nqn.y\n");
	f = begin();
	errors_print_interval(&e, f, WRAP_NEVER);
	assert_written(f, "errors, in no histogram:  nvme0 q3 read unrecovered_read_error=4(+4)  "
			  "nvme1 q4 write internal_error=1(+1)\n");
	errors_free(&e);
}

/* A stream of the target with a sample, a selection and points that its kernel lacks. */
static void an_input_says_what_it_is_and_what_is_missing(void **state)
{
	struct bytes b = small_stream(), c = with_frame(&b, 4711, "x", 1),
		     d = with_bytes(&c, STREAM_CLOCK, "z", 1);
	struct input in = {.path = "a.ntp", .begun = true, .header = header};
	struct input beside = {.path = "b.ntp"};
	struct stream_event e;
	FILE *f;
	int fd;

	in.reader = reader_of(d.p, d.n, &fd);
	while (stream_read(in.reader, &e) == 1)
		;
	in.records = 77;
	in.first_ns = 1000 * MS;
	in.last_ns = 3500 * MS;
	in.bursts = 1;
	in.burst_ns = 1500 * MS;
	in.losses.unknown = 9;
	in.losses.count[NT_CNT_RING_FULL] = 3;
	f = begin();
	inputs_print(&in, NULL, f);
	assert_written(
		f,
		"a.ntp: target a target, Linux 6.1.0, tracepoints, a sample of 1 in 3, 77 "
		"commands within 2.500 s, in 1 burst of together 1.500 s\n"
		"a.ntp: recorded were only commands of --op read --size 4k: counts and rates are of these\n"
		"a.ntp: its kernel lacks the points send_r2t, done\n"
		"a.ntp: loss ring_full 3  # records dropped because the ring buffer was full\n"
		"a.ntp: losses of names that this version does not know 9\n"
		"a.ntp: frames of types that this version does not know 1\n"
		"a.ntp: frames with fields that this version does not know 1\n");
	/* Its wall clock is ahead of the other one's, and both axes are one. */
	in.clock = (struct instant){.monotonic_ns = 5000 * MS, .realtime_ns = 18005000 * MS};
	in.to_common = -4000 * (int64_t)MS;
	beside.clock = (struct instant){.monotonic_ns = 2000 * MS, .realtime_ns = 1500 * MS};
	beside.to_common = -1000 * (int64_t)MS;
	for (int s = -1; s < 2; s++) {
		char *text = NULL;
		size_t size;

		beside.clock.realtime_ns = in.clock.realtime_ns + s * 3661000 * (int64_t)MS;
		f = open_memstream(&text, &size);
		inputs_print(&in, &beside, f);
		fclose(f);
		assert_int_equal(!strstr(text, "by its clock, which is 1:01:01 "), !s);
		assert_true(!s || strstr(text, s < 0 ? "ahead of that of b.ntp\n"
						     : "behind that of b.ntp\n"));
		free(text);
	}
	reader_done(in.reader, fd);
	/* The last frame is cut. */
	in = (struct input){
		.path = "b.ntp",
		.begun = true,
		.header = {.side = NT_HOST, .hostname = "h", .kernel = "6", .source = "stock"}};
	in.reader = reader_of(b.p, b.n - 5, &fd);
	while (stream_read(in.reader, &e) == 1)
		;
	f = begin();
	inputs_print(&in, NULL, f);
	assert_written(f, "b.ntp: host h, Linux 6, stock, 0 commands within 0.000 s\n"
			  "b.ntp: byte 1036: the recording breaks off in the middle of a frame; "
			  "what was whole before is used\n");
	reader_done(in.reader, fd);
	in = (struct input){.path = "c.ntp"};
	in.reader = reader_of((const uint8_t *)"no stream at all", 16, &fd);
	while (stream_read(in.reader, &e) == 1)
		;
	f = begin();
	inputs_print(&in, NULL, f);
	assert_written(f, "c.ntp: byte 0: not a recording of ntprof-bpf\n");
	reader_done(in.reader, fd);
	free(b.p);
	free(c.p);
	free(d.p);
}

static struct merge_connection one = {
	.subsysnqn = "nqn.s", .cntlid = 2, .qid = 5, .host_instance = 6, .target_stream = 1};
static struct merge_connection other = {
	.subsysnqn = "nqn.s", .cntlid = 2, .qid = 4, .host_instance = 6, .target_stream = 1};

/* Reads of two queues, one that could not be split, and a failed write. */
static struct totals *merged(void)
{
	static struct totals_row rows[3] = {
		{.connection = &one,
		 .op = NT_OP_READ,
		 .commands = 2,
		 .latency_ns = 4000,
		 .split = 1,
		 .unsplit_ns = 1000},
		{.connection = &other,
		 .op = NT_OP_READ,
		 .commands = 1,
		 .latency_ns = 500,
		 .split = 1},
		{.connection = &other, .op = NT_OP_WRITE},
	};
	static struct totals_row *list[] = {&rows[0], NULL, &rows[1], &rows[2]};
	static struct totals m;

	memset(&m, 0, sizeof(m));
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++) {
		rows[0].how.into[i] = rows[1].how.into[i] = (uint8_t)i;
		rows[0].sum[i] = 300;
		rows[1].sum[i] = 50;
	}
	rows[1].how.into[NT_MS_NSTACK_SUBMISSION] = NT_MS_NVME_TCP_SUBMISSION;
	hist_count(&m.latency[NT_OP_READ], 3000);
	hist_count(&m.latency[NT_OP_READ], 1000);
	hist_count(&m.latency[NT_OP_READ], 500);
	hist_count(&m.unsplit_latency[NT_OP_READ], 1000);
	m.row = list;
	m.nr_rows = ARRAY_SIZE(list);
	m.commands = 3;
	m.unsplit = 1;
	m.joined = 2;
	m.joined_network_ns = 100;
	m.network_ns = 350;
	m.cancelled = 4;
	m.negative = 1;
	m.most_negative = -7;
	assert_int_equal(errors_add(&m.errors, "nvme6", "nqn.s", 5, NT_OP_WRITE, 6, 8), 0);
	return &m;
}

static void merged_commands_are_numbers_for_scripts(void **state)
{
	struct totals *m = merged();
	FILE *f = begin();

	assert_int_equal(numbers_print_merged(m, f), 0);
	assert_written(
		f,
		"merged read 3 1500 1000 - 3000 4500\n"
		"merged_stage read unsplit 1000 - - 1000 1000\n"
		"merged_queue nqn.s 2 4 read 1 50 50 50 50 50 50 50 50 50 50 0 0 ? ?\n"
		"merged_queue nqn.s 2 5 read 2 300 300 300 300 300 300 300 300 300 300 1 1000 ? ?\n"
		"merged_error write internal_error 8 status=0x006 q5 nvme6 nqn.s  # errors are "
		"in no histogram\n"
		"arrival_joined 2 network 100\n"
		"unsplit 1\n"
		"cancelled 4\n"
		"negative_stages 1 worst -7\n");
	errors_free(&m->errors);
}

static void reads_of_files_have_a_line_for_people_and_one_for_scripts(void **state)
{
	static struct totals_stage stage[] = {
		{.stages = TOTALS_PART_BIT(NT_SP_TARGET_FILE_IO), .name = "target_file_io"},
		{.stages = TOTALS_PART_BIT(NT_SP_TARGET_PAGE_CACHE), .name = "target_page_cache"},
	};
	static struct totals m;
	FILE *f = begin();

	m.commands = 4;
	for (unsigned int i = 0; i < 4; i++) {
		hist_count(&m.latency[NT_OP_READ], 100);
		hist_count(&stage[!i].time, 100);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(stage); i++)
		m.stage[NT_OP_READ][i] = &stage[i];
	m.nr_stages[NT_OP_READ] = ARRAY_SIZE(stage);
	stages_print_merged(&m, STAGES_WHERE, NULL, f, WRAP_NEVER, false);
	assert_int_equal(fclose(f), 0);
	assert_non_null(strstr(text, "page cache: 1 of 4 reads of files (25.0 %)\n"));
	free(text);
	f = begin();
	assert_int_equal(numbers_print_merged(&m, f), 0);
	assert_int_equal(fclose(f), 0);
	assert_non_null(strstr(text, "\nfile_reads 4 page_cache 1\n"));
	free(text);
	/* Others have none. */
	stage[0].stages = 1u << NT_MS_NETWORK_TRANSMISSION;
	stage[1].stages = 1u << NT_MS_TARGET_SUBSYSTEM;
	f = begin();
	stages_print_merged(&m, STAGES_WHERE, NULL, f, WRAP_NEVER, false);
	assert_int_equal(fclose(f), 0);
	assert_non_null(strstr(text, "; they add up to the latency of all\nop "));
	free(text);
	text = NULL;
}

/* With more than two machines, each line says which two it is of. */
static void a_table_of_connections_names_machines_if_there_are_several(void **state)
{
	const struct machine host = {.side = NT_HOST, .name = "alpha"};
	const struct machine target = {.side = NT_TARGET, .name = "beta-beta"};
	struct totals *m = merged();
	struct machines machines;
	FILE *f = begin();

	assert_int_equal(connections_print_stages(m, NULL, NULL, f, WRAP_NEVER), 0);
	assert_written(
		f,
		"host     cntlid queue  op            commands     mean  unsplit  blk_sub  "
		"tcp_sub nstk_sub nvmt_sub   subsys nvmt_cmp  network nstk_cmp  tcp_cmp  blk_cmp\n"
		"nvme6         2     4  read                 1    500ns        0     50ns     "
		"50ns        -     50ns     50ns     50ns     50ns     50ns     50ns     50ns\n"
		"nvme6         2     5  read                 2   2.00us        1    300ns    "
		"300ns    300ns    300ns    300ns    300ns    300ns    300ns    300ns    300ns\n");
	/* A stage is there, or it is not. */
	f = begin();
	assert_int_equal(connections_print_stages(m, NULL, NULL, f, 89), 0);
	assert_written(
		f,
		"host     cntlid queue  op            commands     mean  unsplit  blk_sub  tcp_sub\n"
		"nvme6         2     4  read                 1    500ns        0     50ns     50ns\n"
		"nvme6         2     5  read                 2   2.00us        1    300ns    300ns\n");
	assert_int_equal(machines_init(&machines, 3), 0);
	machines_set(&machines, 0, &host, "a");
	machines_set(&machines, 1, &target, "b");
	m->machines = &machines;
	f = begin();
	assert_int_equal(connections_print_stages(m, NULL, NULL, f, WRAP_NEVER), 0);
	assert_written(
		f,
		"from   to         host     cntlid queue  op            commands     mean  "
		"unsplit  blk_sub  tcp_sub nstk_sub nvmt_sub   subsys nvmt_cmp  network nstk_cmp  tcp_cmp  blk_cmp\n"
		"alpha  beta-beta  nvme6         2     4  read                 1    500ns      "
		"  0     50ns     50ns        -     50ns     50ns     50ns     50ns     50ns     50ns     50ns\n"
		"alpha  beta-beta  nvme6         2     5  read                 2   2.00us      "
		"  1    300ns    300ns    300ns    300ns    300ns    300ns    300ns    300ns    300ns    300ns\n");
	m->nr_rows = 0;
	f = begin();
	assert_int_equal(connections_print_stages(m, NULL, NULL, f, WRAP_NEVER), 0);
	assert_written(f, "");
	errors_free(&m->errors);
	machines_free(&machines);
}

static const struct nt_record read_of_host = {
	.side = NT_HOST,
	.op = NT_OP_READ,
	.opcode = 2,
	.shape = NT_SHAPE_READ,
	.points = {[NT_H_SUBMIT] = 1000,
		   [NT_H_QUEUE_RQ] = 1100,
		   [NT_H_SEND_CMD] = 1300,
		   [NT_H_RX] = 2000,
		   [NT_H_C2H] = 2100,
		   [NT_H_CQE] = 2200,
		   [NT_H_COMPLETE] = 2500},
};

static void assert_member(struct json_object *o, const char *name, const char *expected)
{
	struct json_object *m = NULL;

	assert_true(json_object_object_get_ex(o, name, &m));
	assert_string_equal(m ? json_object_to_json_string_ext(m, JSON_C_TO_STRING_PLAIN) : "null",
			    expected);
}

static void assert_written_as_objects(const struct command_line *l)
{
	char *text[2];
	size_t size[2];

	for (unsigned int i = 0; i < 2; i++) {
		FILE *f = open_memstream(&text[i], &size[i]);

		assert_non_null(f);
		assert_int_equal(i ? json_command_write(f, l) : json_write(f, json_command(l)), 0);
		fclose(f);
	}
	assert_string_equal(text[1], text[0]);
	free(text[0]);
	free(text[1]);
}

/* Names with characters that have to be escaped are as in objects as well. */
static void names_of_any_bytes_are_written_as_in_objects(void **state)
{
	static const char *const names[] = {"a\"b\\c/d", "\n\t\x7f", "\xff\xc3\xa9", "\u200b\u202e",
					    ""};
	struct command_line l;

	command_line_of_side(&l, "nvme0", &read_of_host, 0, &(struct instant){.monotonic_ns = 0});
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		l.row.controller = names[i];
		assert_written_as_objects(&l);
	}
}

static struct json_object *command_of(const struct nt_record *r, uint64_t now)
{
	struct command_line l;

	command_line_of_side(&l, "nvme0", r, 0, &(struct instant){.monotonic_ns = now});
	assert_written_as_objects(&l);
	return json_command(&l);
}

static void a_command_has_its_points_and_stages(void **state)
{
	const char *points =
		"{\"host\":{\"submit\":0,\"queue_rq\":100,\"send_cmd\":300,\"rx\":1000,"
		"\"c2h\":1100,\"cqe\":1200,\"complete\":1500}}";
	struct nt_record r = read_of_host;
	struct json_object *o = command_of(&r, 0);

	assert_member(o, "type", "\"command\"");
	assert_member(o, "points", points);
	assert_member(o, "latency", "1500");
	assert_member(
		o, "stages",
		""
		"{\"blk_submission\":100,\"nvme_tcp_submission\":200,"
		"\"network_and_target\":700,"
		"\"nstack_completion\":100,\"nvme_tcp_completion\":100,\"blk_completion\":300}");
	json_object_put(o);
	r.points[NT_H_RX] = 0;
	o = command_of(&r, 0);
	assert_member(o, "stages",
		      "{\"blk_submission\":100,\"nvme_tcp_submission\":200,"
		      "\"network_and_target+nstack_completion\":800,"
		      "\"nvme_tcp_completion\":100,\"blk_completion\":300}");
	json_object_put(o);
	memset(r.points, 0, sizeof(r.points));
	r.points[NT_H_SUBMIT] = 1000;
	r.points[NT_H_QUEUE_RQ] = 1100;
	r.flags = NT_F_IN_FLIGHT;
	o = command_of(&r, 9000);
	assert_member(o, "type", "\"in_flight\"");
	assert_member(o, "latency", "8000");
	assert_member(o, "points", "{\"host\":{\"submit\":0,\"queue_rq\":100}}");
	assert_member(o, "stage", "\"nvme_tcp_submission\"");
	json_object_put(o);
}

static void the_last_five_events_are_told_and_the_others_counted(void **state)
{
	struct stats s = {.looked_ns = 10 * MS};
	FILE *f = begin();

	for (unsigned int i = 0; i < 3; i++)
		path_events_add(&s.path_events,
				&(struct nt_path_event){.ns = i * MS, .state = NT_PATH_LIVE});
	path_events_interval(&s.path_events);
	path_events_print(&s, false, f);
	for (unsigned int i = 4; i < 8; i++)
		path_events_add(&s.path_events, &(struct nt_path_event){.ns = i * MS,
									.instance = i,
									.state = NT_PATH_DEAD});
	path_events_interval(&s.path_events);
	path_events_print(&s, false, f);
	fputs("all\n", f);
	s.path_events.lost = 2;
	path_events_print(&s, true, f);
	assert_written(f, "8.00ms ago: nvme0 live\n9.00ms ago: nvme0 live\n10.0ms ago: nvme0 live\n"
			  "3.00ms ago: nvme7 dead\n4.00ms ago: nvme6 dead\n5.00ms ago: nvme5 dead\n"
			  "6.00ms ago: nvme4 dead\n"
			  "all\n"
			  "3.00ms ago: nvme7 dead\n4.00ms ago: nvme6 dead\n5.00ms ago: nvme5 dead\n"
			  "6.00ms ago: nvme4 dead\n8.00ms ago: nvme0 live\n"
			  "earlier events of controllers: 2\n"
			  "events of controllers that found no room: 2\n");
	path_events_free(&s.path_events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing_points_that_bound_stages_are_named),
		cmocka_unit_test(a_bar_is_as_long_as_its_share),
		cmocka_unit_test(a_bar_has_the_room_that_is_left),
		cmocka_unit_test(a_level_is_one_of_eight),
		cmocka_unit_test(errors_of_no_command_are_left_out),
		cmocka_unit_test(an_input_says_what_it_is_and_what_is_missing),
		cmocka_unit_test(merged_commands_are_numbers_for_scripts),
		cmocka_unit_test(reads_of_files_have_a_line_for_people_and_one_for_scripts),
		cmocka_unit_test(a_table_of_connections_names_machines_if_there_are_several),
		cmocka_unit_test(names_of_any_bytes_are_written_as_in_objects),
		cmocka_unit_test(a_command_has_its_points_and_stages),
		cmocka_unit_test(the_last_five_events_are_told_and_the_others_counted),
	};

	return cmocka_run_group_tests_name("lines of a report", tests, NULL, NULL);
}
