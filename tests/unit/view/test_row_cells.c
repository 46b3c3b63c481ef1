// SPDX-License-Identifier: GPL-2.0-only
/* What each column says of a command, of its points, of a connection, of a run and of a queue. */
#include "core/names.h"
#include "view/columns_queues.h"
#include "view/commands.h"
#include "view/connections.h"
#include "view/head.h"
#include "view/row_cells.h"

static const struct nt_record record = {
	.side = NT_HOST,
	.op = NT_OP_READ,
	.opcode = 2,
	.shape = NT_SHAPE_READ,
	.cid = 0x1005,
	.status = 0x281,
	.qid = 3,
	.cntlid = 9,
	.nsid = 4,
	.length = 8192,
	.slba = 77,
	.points = {[NT_H_QUEUE_RQ] = 2000000100,
		   [NT_H_SEND_CMD] = 2000000300,
		   [NT_H_COMPLETE] = 2000001100},
	.cpu = {[NT_H_QUEUED] = (1 + 4) | NT_QUEUED_LOCKED},
};

static void a_command_of_one_side_is_that_of_its_record(void **state)
{
	static const char *const cells[] = {
		"time -",	   "monotonic_ns 2.000000100",
		"seen host",	   "controller nvme7",
		"subsystem -",	   "cntlid -",
		"queue 3",	   "cid 0x1005",
		"op read",	   "opcode 0x02",
		"shape read",	   "nsid 4",
		"slba 77",	   "length 8192",
		"status 0x281",	   "error unrecovered_read_error",
		"requeued -",	   "no_cqe -",
		"cancelled -",	   "arrival_joined -",
		"retransmitted -", "page_cache -",
		"disk_queue -",	   "disk_cid -",
		"queued 4",	   "send_mutex held",
		"was_overdue -",   "latency 1000",
	};
	struct command_row row;

	columns_command_of_side(&row, "nvme7", &record);
	assert_cells(&command_columns, &row, cells);
}

/* Its status and its shape are known when it has ended. */
static void a_command_in_flight_has_no_end(void **state)
{
	static const char *const cells[] = {
		"time -",	   "monotonic_ns 2.000000100",
		"seen host",	   "controller -",
		"subsystem -",	   "cntlid -",
		"queue 3",	   "cid 0x1005",
		"op read",	   "opcode 0x02",
		"shape -",	   "nsid 4",
		"slba 77",	   "length 8192",
		"status -",	   "error -",
		"requeued ",	   "no_cqe -",
		"cancelled -",	   "arrival_joined -",
		"retransmitted -", "page_cache -",
		"disk_queue -",	   "disk_cid -",
		"queued 4",	   "send_mutex -",
		"was_overdue -",   "latency 1000",
	};
	struct nt_record r = record;
	struct command_row row;

	r.flags = NT_F_IN_FLIGHT | NT_F_REQUEUED;
	/* As a kernel with PREEMPT_RT has it. */
	r.cpu[NT_H_QUEUED] = 1 + 4;
	columns_command_of_side(&row, NULL, &r);
	assert_cells(&command_columns, &row, cells);
}

static void a_merged_command_has_the_names_of_its_connection(void **state)
{
	static const char *const cells[] = {
		"time -",	   "monotonic_ns 2.000000100",
		"seen merged",	   "controller nvme6",
		"subsystem nqn.s", "cntlid 12",
		"queue 5",	   "cid 0x1005",
		"op read",	   "opcode 0x02",
		"shape read",	   "nsid 4",
		"slba 77",	   "length 8192",
		"status 0x0",	   "error -",
		"requeued -",	   "no_cqe ",
		"cancelled ",	   "arrival_joined ",
		"retransmitted -", "page_cache ",
		"disk_queue 3",	   "disk_cid 0x7011",
		"queued 4",	   "send_mutex held",
		"was_overdue ",	   "latency 1000",
	};
	const struct merge_connection c = {
		.subsysnqn = "nqn.s", .cntlid = 12, .qid = 5, .host_instance = 6};
	const struct nt_record target = {.side = NT_TARGET,
					 .flags = NT_F_ARRIVAL_JOINED | NT_F_CACHED,
					 .points = {[NT_TD_DONE] = 1},
					 .disk = NT_DISK_COMMAND(3, 0x7011)};
	struct nt_record r = record;
	struct command_row row;

	r.status = 0;
	r.flags = NT_F_NO_CQE | NT_F_CANCELLED | NT_F_WAS_OVERDUE;
	columns_command_merged(&row, &c, &r, &target, false);
	assert_cells(&command_columns, &row, cells);
}

static void a_command_is_seen_by_those_who_have_it(void **state)
{
	static const struct {
		bool host, target, ambiguous;
		const char *seen, *controller;
	} cases[] = {
		{true, true, false, "merged", "nvme6"},
		{true, false, false, "host_only", "nvme6"},
		{false, true, false, "target_only", "cntlid 12"},
		{true, false, true, "ambiguous", "nvme6"},
		{false, true, true, "ambiguous", "cntlid 12"},
	};
	const struct merge_connection c = {.cntlid = 12, .host_instance = 6};
	const struct nt_record target = {.side = NT_TARGET,
					 .flags = NT_F_ARRIVAL_JOINED | NT_F_CACHED,
					 .points = {[NT_TD_DONE] = 1},
					 .disk = NT_DISK_COMMAND(3, 0x7011)};
	struct command_row row;
	struct value v;

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		columns_command_merged(&row, &c, cases[i].host ? &record : NULL,
				       cases[i].target ? &target : NULL, cases[i].ambiguous);
		assert_string_equal(row.seen, cases[i].seen);
		assert_string_equal(row.controller, cases[i].controller);
		columns_get(&command_columns, COMMAND_ARRIVAL_JOINED, &row, &v);
		assert_int_equal(v.none, !cases[i].target);
	}
}

static void a_damaged_command_took_no_time(void **state)
{
	struct nt_record r = {.side = NT_HOST,
			      .points = {[NT_H_SUBMIT] = 500, [NT_H_COMPLETE] = 400}};
	struct command_row row;

	columns_command_of_side(&row, NULL, &r);
	assert_int_equal(row.first, 500);
	assert_int_equal(row.latency, 0);
}

static void points_count_from_the_first_one_that_is_there(void **state)
{
	static const char *const first[] = {"at 0",   "since -", "side host", "point queue_rq",
					    "stage ", "took -",	 "cpu -"};
	static const char *const last[] = {"at 1000", "since 0", "side host", "point complete",
					   "stage ",  "took -",	 "cpu -"};
	struct point_row rows[NT_POINTS_MAX];

	assert_int_equal(columns_points(rows, &record), 3);
	rows[0].first = true;
	assert_cells(&point_columns, &rows[0], first);
	assert_int_equal(rows[1].at, 200);
	assert_cells(&point_columns, &rows[2], last);
}

static void a_stage_has_its_share_of_the_command(void **state)
{
	static const char *const cells[] = {"stage s", "time -50", "share -0.250"};
	static const char *const none[] = {"stage s", "time 50", "share 0.000"};
	const struct command_stage_row row = {"s", -50, 200}, zero = {"s", 50, 0};

	assert_cells(&command_stage_columns, &row, cells);
	assert_cells(&command_stage_columns, &zero, none);
}

/* The offset is the middle of what it may be, give or take half of that. */
static void a_connection_has_a_clock_if_its_commands_tell(void **state)
{
	static const char *const known[] = {
		"subsystem nqn.s", "cntlid 12",		"queue 5",
		"matched 1",	   "host_only 2",	"target_only 3",
		"ambiguous 4",	   "clock_offset -400", "clock_offset_error 100",
		"drift -1.500",	   "clock_jumps 6",
	};
	static const char *const unknown[] = {
		"subsystem ?",		"cntlid 0",	 "queue 0",	  "matched 0",
		"host_only 0",		"target_only 0", "ambiguous 0",	  "clock_offset -",
		"clock_offset_error -", "drift -",	 "clock_jumps -",
	};
	static const char *const exact[] = {
		"subsystem ?",		"cntlid 0",	 "queue 0",	  "matched 0",
		"host_only 0",		"target_only 0", "ambiguous 0",	  "clock_offset 7",
		"clock_offset_error 0", "drift 0.000",	 "clock_jumps -",
	};
	struct merge_connection c = {
		.subsysnqn = "nqn.s",
		.cntlid = 12,
		.qid = 5,
		.matched = 1,
		.host_only = 2,
		.target_only = 3,
		.ambiguous = 4,
		.offset_low = -500,
		.offset_high = -300,
		.drift_ppm = -1.5,
		.jumps = 6,
	};

	assert_cells(&connection_columns, &c, known);
	c = (struct merge_connection){.offset_low = 1, .offset_high = -1};
	assert_cells(&connection_columns, &c, unknown);
	c = (struct merge_connection){.offset_low = 7, .offset_high = 7};
	assert_cells(&connection_columns, &c, exact);
}

static void joined_arrivals_have_a_share_of_the_network(void **state)
{
	static const char *const some[] = {
		"commands 9",	      "some_unsplit 2",	    "some_joined 4", "arrival_joined 4",
		"joined_share 0.750", "joined_network 300", "file_reads -",  "page_cache -",
		"page_cache_share -", "unsplit 2",	    "cancelled 1",   "negative_stages 5",
		"worst -30",
	};
	static const char *const none[] = {
		"commands 9",	    "some_unsplit -", "some_joined -",
		"arrival_joined 0", "joined_share -", "joined_network 0",
		"file_reads -",	    "page_cache -",   "page_cache_share -",
		"unsplit 0",	    "cancelled 0",    "negative_stages 0",
		"worst 0",
	};
	static struct totals m;

	m.commands = 9;
	assert_cells(&merging_columns, &m, none);
	m.unsplit = 2;
	m.joined = 4;
	m.joined_network_ns = 300;
	m.network_ns = 400;
	m.cancelled = 1;
	m.negative = 5;
	m.most_negative = -30;
	assert_cells(&merging_columns, &m, some);
}

/* Waits for a worker and commands of disks are none. */
static void reads_of_files_are_those_that_say_where_they_were(void **state)
{
	static const char *const none_cached[] = {
		"commands 0",	    "some_unsplit -", "some_joined -",
		"arrival_joined 0", "joined_share -", "joined_network 0",
		"file_reads 3",	    "page_cache 0",   "page_cache_share 0.000",
		"unsplit 0",	    "cancelled 0",    "negative_stages 0",
		"worst 0",
	};
	static const char *const some_cached[] = {
		"commands 0",	    "some_unsplit -", "some_joined -",
		"arrival_joined 0", "joined_share -", "joined_network 0",
		"file_reads 4",	    "page_cache 1",   "page_cache_share 0.250",
		"unsplit 0",	    "cancelled 0",    "negative_stages 0",
		"worst 0",
	};
	static struct totals_stage stage[] = {
		{.stages = TOTALS_PART_BIT(NT_SP_TARGET_FILE_WAIT), .time = {.count = 7}},
		{.stages = TOTALS_PART_BIT(NT_SP_DEVICE), .time = {.count = 9}},
		{.stages = TOTALS_PART_BIT(NT_SP_TARGET_FILE_IO), .time = {.count = 3}},
		{.stages = TOTALS_PART_BIT(NT_SP_TARGET_PAGE_CACHE), .time = {.count = 1}},
	};
	static struct totals m;

	for (unsigned int i = 0; i < ARRAY_SIZE(stage); i++)
		m.stage[NT_OP_READ][i] = m.stage[NT_OP_WRITE][i] = &stage[i];
	m.nr_stages[NT_OP_WRITE] = 4;
	m.nr_stages[NT_OP_READ] = 3;
	assert_cells(&merging_columns, &m, none_cached);
	m.nr_stages[NT_OP_READ] = 4;
	assert_cells(&merging_columns, &m, some_cached);
}

static void a_run_is_described_by_its_options(void **state)
{
	static const char *const live[] = {
		"side host",
		"kernel 6.1",
		"source stock",
		"driver nvme_tcp",
		"waiting_for -",
		"probes 3",
		"controllers 4",
		"queues 5",
		"sample -",
		"ends ",
		"stages_on_seconds -",
		"stages_every_seconds -",
		"selected ",
		"interval_seconds 0.500",
		"elapsed_seconds 10.000",
		"passed_seconds -",
		"bursts -",
		"burst_on_seconds -",
		"burst_every_seconds -",
	};
	static const char *const waiting[] = {
		"side target",
		"kernel 6.1",
		"source -",
		"driver -",
		"waiting_for nvmet_tcp",
		"probes 3",
		"controllers 4",
		"queues 5",
		"sample 2",
		"ends ",
		"stages_on_seconds -",
		"stages_every_seconds -",
		"selected ",
		"interval_seconds 0.500",
		"elapsed_seconds 10.000",
		"passed_seconds 60.000",
		"bursts 7",
		"burst_on_seconds 1.500",
		"burst_every_seconds 30.000",
	};
	static const char *const recorded[] = {
		"side host",
		"kernel 6.1",
		"source stock",
		"driver nvme_tcp",
		"waiting_for -",
		"probes -",
		"controllers -",
		"queues -",
		"sample -",
		"ends ",
		"stages_on_seconds -",
		"stages_every_seconds -",
		"selected ",
		"interval_seconds -",
		"elapsed_seconds 10.000",
		"passed_seconds -",
		"bursts -",
		"burst_on_seconds -",
		"burst_every_seconds -",
	};
	struct stats s = {
		.side = NT_HOST,
		.kernel = "6.1",
		.source = "stock",
		.driver = "nvme_tcp",
		.probes = 3,
		.controllers = 4,
		.queues = 5,
		.sample = 1,
		.seconds = 0.5,
		.elapsed = 10,
		.passed = 60,
		.bursts = 7,
	};

	assert_cells(&run_columns, &s, live);
	s.recorded = true;
	assert_cells(&run_columns, &s, recorded);
	s.recorded = false;
	s.side = NT_TARGET;
	s.driver = "";
	s.source = NULL;
	s.sample = 2;
	s.burst = (struct burst){.on_ns = 1500000000, .every_ns = 30000000000};
	assert_cells(&run_columns, &s, waiting);
	s.driver = NULL;
	assert_cells(&run_columns, &s, waiting);
}

static struct stats_row *queue(struct stats *s, const char *peer, uint16_t qid, bool shared)
{
	struct stats_row *r = stats_row(s, "nvme0", peer, qid, NT_OP_READ, shared);

	assert_non_null(r);
	return r;
}

/* Two controllers have one name one after the other, and differ by number. */
static void a_queue_is_described_by_its_row(void **state)
{
	static const char *const first[] = {
		"controller nvme0#1",
		"peer nqn.a",
		"queue 1",
		"op read",
		"commands 4",
		"measured 2",
		"iops 8.000",
		"throughput 6000.000",
		"mean_in_flight 0.008",
		"in_flight 3",
		"left 3",
		"oldest 70",
		"at_device 2",
		"mean 1000000.000",
		"p50 1000000",
		"p90 -",
		"p99 -",
		"p99_9 -",
		"max 1000000",
		"transport -",
	};
	static const char *const second[] = {
		"controller nvme0#2",
		"peer nqn.b",
		"queue all",
		"op read",
		"commands 0",
		"measured 0",
		"iops 0.000",
		"throughput 0.000",
		"mean_in_flight 0.000",
		"in_flight 0",
		"left 0",
		"oldest -",
		"at_device 0",
		"mean -",
		"p50 -",
		"p90 -",
		"p99 -",
		"p99_9 -",
		"max -",
		"transport -",
	};
	struct stats s = {.side = NT_TARGET, .seconds = 0.5, .waiting_at_device = true};
	struct stats_row *r = queue(&s, "nqn.a", 1, false);
	struct queue_row q = {.row = NULL};
	struct value v;

	queue(&s, "nqn.b", 0, true);
	hist_count(&r->interval, 1000000);
	hist_count(&r->interval, 1000000);
	r->interval.bytes = 1000;
	r->others_interval = (struct workload){2, 2000};
	r->waiting = (struct waiting){.commands = 3, .oldest_ns = 70, .at_device = 2};
	assert_true(columns_queues_next(&q, &s, false));
	assert_cells(&queue_columns, &q, first);
	assert_true(columns_queues_next(&q, &s, false));
	assert_cells(&queue_columns, &q, second);
	assert_false(columns_queues_any(&q));
	s.rows[1]->waiting.commands = 1;
	assert_true(columns_queues_any(&q));
	/* Neither is in a recording, nor does every machine know its device. */
	s.recorded = true;
	s.waiting_at_device = false;
	columns_get(&queue_columns, QUEUE_WAITING, &q, &v);
	assert_true(v.none);
	columns_get(&queue_columns, QUEUE_AT_DEVICE, &q, &v);
	assert_true(v.none);
	stats_free(&s);
}

static void controllers_of_one_name_are_numbered(void **state)
{
	static const char *const names[] = {"nvme0",   "nvme1#1", "nvme1#1", "nvme1#2",
					    "nvme1#3", "nvme1#3", "nvme2",   "nvme2"};
	struct stats s = {.side = NT_HOST, .by_other = true};
	struct queue_row q = {.row = NULL};
	struct value v;

	stats_row_of(&s, "nvme0", "nqn.a", "host.a", 1, NT_OP_READ, false);
	stats_row_of(&s, "nvme1", "nqn.a", "host.a", 1, NT_OP_READ, false);
	stats_row_of(&s, "nvme1", "nqn.a", "host.a", 2, NT_OP_READ, false);
	stats_row_of(&s, "nvme1", "nqn.a", "host.b", 1, NT_OP_READ, false);
	stats_row_of(&s, "nvme1", "nqn.b", "host.b", 1, NT_OP_READ, false);
	stats_row_of(&s, "nvme1", "nqn.b", "host.b", 1, NT_OP_WRITE, false);
	stats_row_of(&s, "nvme2", "nqn.b", "host.b", 1, NT_OP_READ, false);
	stats_row_of(&s, "nvme2", "nqn.b", "host.b", 2, NT_OP_READ, false);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_true(columns_queues_next(&q, &s, false));
		columns_get(&queue_columns, QUEUE_CONTROLLER, &q, &v);
		assert_string_equal(v.text, names[i]);
	}
	assert_false(columns_queues_next(&q, &s, false));
	stats_free(&s);
}

/* Rates of a sample are estimates, unless it has too few commands for one. */
static void a_sample_is_scaled_if_it_is_a_fair_one(void **state)
{
	struct stats s = {.side = NT_HOST, .seconds = 1, .sample = 10};
	struct stats_row *r = queue(&s, "nqn.a", 1, false);
	struct queue_row q = {.row = NULL};
	struct value v;

	for (unsigned int i = 0; i < NT_ALIKE; i++)
		s.alike_interval[i] = 1;
	for (unsigned int i = 0; i < NT_ALIKE; i++)
		hist_count(&r->interval, 1000000);
	r->interval.bytes = 512;
	assert_true(columns_queues_next(&q, &s, false));
	assert_false(q.unknown);
	assert_int_equal(q.all.commands, 10 * NT_ALIKE);
	assert_int_equal(q.all.bytes, 5120);
	memset(s.alike_interval, 0, sizeof(s.alike_interval));
	s.alike_interval[0] = NT_ALIKE;
	q = (struct queue_row){.row = NULL};
	assert_true(columns_queues_next(&q, &s, false));
	assert_true(q.unknown);
	for (unsigned int c = QUEUE_IOPS; c <= QUEUE_IN_FLIGHT; c++) {
		columns_get(&queue_columns, c, &q, &v);
		assert_true(v.none);
	}
	stats_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_of_one_side_is_that_of_its_record),
		cmocka_unit_test(a_command_in_flight_has_no_end),
		cmocka_unit_test(a_merged_command_has_the_names_of_its_connection),
		cmocka_unit_test(a_command_is_seen_by_those_who_have_it),
		cmocka_unit_test(a_damaged_command_took_no_time),
		cmocka_unit_test(points_count_from_the_first_one_that_is_there),
		cmocka_unit_test(a_stage_has_its_share_of_the_command),
		cmocka_unit_test(a_connection_has_a_clock_if_its_commands_tell),
		cmocka_unit_test(joined_arrivals_have_a_share_of_the_network),
		cmocka_unit_test(reads_of_files_are_those_that_say_where_they_were),
		cmocka_unit_test(a_run_is_described_by_its_options),
		cmocka_unit_test(a_queue_is_described_by_its_row),
		cmocka_unit_test(controllers_of_one_name_are_numbered),
		cmocka_unit_test(a_sample_is_scaled_if_it_is_a_fair_one),
	};

	return cmocka_run_group_tests_name("cells of rows", tests, NULL, NULL);
}
