// SPDX-License-Identifier: GPL-2.0-only
/* Which figure is where on the page, and which metric leaves out which rows and commands. */
#include "serve/made.h"

static void each_figure_is_in_its_metric(void **state)
{
	static const char *const samples[] = {
		"ntprof_controllers{side=\"host\"} 2",
		"ntprof_queues{side=\"host\"} 5",
		"ntprof_gone_rows_total{side=\"host\"} 11",
		"ntprof_bpf_programs{side=\"host\"} 17",
		"ntprof_bpf_map_bytes{side=\"host\"} 12345",
		"ntprof_sample_ratio{side=\"host\"} 0.25",
		"ntprof_tracing{side=\"host\"} 1",
		"ntprof_tracer_info{side=\"host\",source=\"stock\",driver=\"nvme_tcp\",kernel=\"6.1.0\"} 1",
		"process_cpu_seconds_total 1.5",
		"process_resident_memory_bytes 777",
		"process_start_time_seconds 1700000000.0",
		"ntprof_recorder_records{side=\"host\"} 21",
		"ntprof_recorder_memory_bytes{side=\"host\"} 22",
		"ntprof_recorder_kept_seconds{side=\"host\"} 2.5",
		"ntprof_recorder_left_out_total{side=\"host\"} 23",
		"ntprof_recorder_unnamed_total{side=\"host\"} 19",
		"ntprof_recorder_triggers_total{side=\"host\",trigger=\"timeouts > 0\"} 24",
		"ntprof_recorder_triggers_total{side=\"host\",trigger=\"signal\"} 0",
		"ntprof_recorder_files_total{side=\"host\",result=\"written\"} 25",
		"ntprof_recorder_files_total{side=\"host\",result=\"failed\"} 26",
		"ntprof_recorder_files_total{side=\"host\",result=\"removed\"} 27",
		"ntprof_recorder_folder_files{side=\"host\"} 28",
		"ntprof_recorder_folder_bytes{side=\"host\"} 29",
		"ntprof_http_connections_total{side=\"host\"} 31",
		"ntprof_http_overdue_total{side=\"host\"} 32",
		"ntprof_http_displaced_total{side=\"host\"} 33",
		"ntprof_http_responses_total{side=\"host\",code=\"200\"} 40",
		"ntprof_http_responses_total{side=\"host\",code=\"404\"} 41",
		"ntprof_http_responses_total{side=\"host\",code=\"405\"} 42",
		"ntprof_http_responses_total{side=\"host\",code=\"421\"} 43",
		"ntprof_http_responses_total{side=\"host\",code=\"503\"} 44",
	};
	struct made *m = *state;

	m->s.sample = 4;
	m->s.rows_gone = 11;
	m->s.probes = 17;
	m->process.resident_bytes = 777;
	m->kept = (struct keep_counts){.records = 21,
				       .memory_bytes = 22,
				       .seconds = 2.5,
				       .left_out = 23,
				       .unnamed = 19,
				       .written = 25,
				       .failed = 26,
				       .removed = 27,
				       .files = 28,
				       .disk_bytes = 29};
	m->kept.trigger_name[0] = "timeouts > 0";
	m->kept.triggers[0] = 24;
	m->kept.trigger_name[TRIGGER_SIGNAL] = "signal";
	m->from.kept = &m->kept;
	m->scrapes = (struct page_scrapes){.connections = 31, .overdue = 32, .displaced = 33};
	for (unsigned int i = 0; i < PAGE_CODES_NR; i++)
		m->scrapes.responses[i] = 40 + i;
	render(m, EXPOSITION_OPENMETRICS);
	for (unsigned int i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		char line[256];

		snprintf(line, sizeof(line), "\n%s\n", samples[i]);
		if (!there(m, line))
			fail_msg("no %s in:\n%s", samples[i], m->text);
	}
}

/* Between two bursts. The module is loaded all the time. */
static void without_programs_none_is_attached(void **state)
{
	struct made *m = *state;

	m->s.probes = 17;
	m->from.measures = false;
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_bpf_programs{side=\"host\"}"), 0);
	assert_int_equal(value(m, "ntprof_tracing{side=\"host\"}"), 1);
}

static void programs_have_figures_of_their_own(void **state)
{
	struct made *m = *state;

	m->cost.counts_runs = true;
	m->cost.nr = 2;
	m->cost.program[0] = (struct cost_program){"first", 3, 1000000000};
	m->cost.program[1] = (struct cost_program){"second", 4, 2000000000};
	render(m, EXPOSITION_OPENMETRICS);
	assert_true(there(m, "_runs_total{side=\"host\",program=\"first\"} 3\n"));
	assert_true(there(m, "_runs_total{side=\"host\",program=\"second\"} 4\n"));
	assert_true(there(m, "_seconds_total{side=\"host\",program=\"first\"} 1.0\n"));
	assert_true(there(m, "_seconds_total{side=\"host\",program=\"second\"} 2.0\n"));
}

/* Whether the errors of an operation are on the page, for a series with these other labels. */
static bool has_errors(const struct made *m, const char *labels, enum nt_op op)
{
	char sample[256];

	snprintf(sample, sizeof(sample), "%s,operation=\"%s\"} 0\n", labels, op_name(op));
	for (const char *at = m->text; (at = strstr(at, "ntprof_command_errors_total{")); at++) {
		const char *end = strchr(at, '\n') + 1, *found = strstr(at, sample);

		if (found && found + strlen(sample) == end)
			return true;
	}
	return false;
}

/* A discovery controller has admin and fabrics commands only. */
static void a_discovery_subsystem_has_no_reads(void **state)
{
	struct made *m = *state;
	struct stats_row *r = stats_row(&m->s, "nvme5", "nqn.2014-08.org.nvmexpress.discovery", 0,
					NT_OP_ADMIN, false);

	assert_non_null(r);
	count(r, 5000, 0);
	render(m, EXPOSITION_OPENMETRICS);
	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		assert_int_equal(has_errors(m, "subsysnqn=\"nqn.2014-08.org.nvmexpress.discovery\"",
					    (enum nt_op)op),
				 op == NT_OP_ADMIN || op == NT_OP_FABRICS);
}

static void a_queue_has_the_operations_of_its_kind(void **state)
{
	struct made *m = *state;

	page_free(m->page);
	m->page = new_page(m, NT_HOST, true);
	count(row(m, "nvme0", 0, NT_OP_ADMIN), 5000, 0);
	count(row(m, "nvme0", 3, NT_OP_READ), 5000, 0);
	render(m, EXPOSITION_OPENMETRICS);
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		assert_int_equal(has_errors(m, "queue=\"0\"", (enum nt_op)op),
				 op == NT_OP_ADMIN || op == NT_OP_FABRICS);
		assert_int_equal(has_errors(m, "queue=\"3\"", (enum nt_op)op), op != NT_OP_ADMIN);
	}
}

/* Commands that were not measured, and commands that wait, count without any latency. */
static void rows_without_latencies_count(void **state)
{
	struct made *m = *state;

	row(m, "nvme0", 1, NT_OP_READ)->others_interval = (struct workload){10, 100};
	row(m, "nvme0", 1, NT_OP_WRITE)->waiting =
		(struct waiting){.commands = 3, .oldest_ns = 2000000000, .at_device = 0};
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_commands_total" LABELS("nvme0", "read")), 10);
	assert_int_equal(value(m, "ntprof_command_bytes_total" LABELS("nvme0", "read")), 100);
	assert_int_equal(value(m, "ntprof_commands_in_flight" LABELS("nvme0", "write")), 3);
	assert_int_equal(value(m, "ntprof_commands_in_flight" LABELS("nvme0", "read")), 0);
}

/* It needs no series, so it is not under "other" either. */
static void a_row_that_counted_nothing_takes_no_series(void **state)
{
	struct made *m = *state;

	page_free(m->page);
	m->page = page_new(NT_HOST, false, 1, m->now_ms);
	row(m, "nvme0", 1, NT_OP_READ);
	row(m, "nvme0", 1, NT_OP_WRITE);
	row(m, "nvme0", 1, NT_OP_DISCARD);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_folded_series{side=\"host\"}"), 0);
	count(row(m, "nvme0", 1, NT_OP_WRITE), 5000, 0);
	count(row(m, "nvme0", 1, NT_OP_READ), 5000, 0);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_folded_series{side=\"host\"}"), 1);
}

static void only_errors_of_the_interval_are_added(void **state)
{
	struct made *m = *state;

	assert_int_equal(errors_add(&m->s.errors, "nvme7", NQN, 1, NT_OP_READ, 0x281, 2), 0);
	stats_begin_interval(&m->s);
	render(m, EXPOSITION_OPENMETRICS);
	assert_false(there(m, "nvme7"));
	assert_int_equal(errors_add(&m->s.errors, "nvme7", NQN, 1, NT_OP_READ, 0x281, 3), 0);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(errors_add(&m->s.errors, "nvme7", NQN, 1, NT_OP_READ, 0x281, 4), 0);
	render(m, EXPOSITION_OPENMETRICS);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_command_errors_total" LABELS("nvme7", "read")), 7);
}

static void commands_at_the_device_are_a_targets(void **state)
{
	struct made *m = *state;

	for (unsigned int told = 0; told < 2; told++) {
		m->s.waiting_at_device = told;
		row(m, "nvme0", 1, NT_OP_READ)->waiting =
			(struct waiting){.commands = 3, .oldest_ns = 1000, .at_device = 2};
		row(m, "nvme0", 2, NT_OP_READ)->waiting =
			(struct waiting){.commands = 4, .oldest_ns = 1000, .at_device = 3};
		render(m, EXPOSITION_OPENMETRICS);
		assert_int_equal(there(m, "ntprof_commands_at_device"), told);
	}
	assert_int_equal(value(m, "ntprof_commands_at_device" LABELS("nvme0", "read")), 5);
}

static struct tcp_row *connection(struct made *m, const char *controller, uint16_t qid)
{
	struct tcp_row *r = tcp_rows_add(&m->s.tcp);

	assert_non_null(r);
	snprintf(r->controller, sizeof(r->controller), "%s", controller);
	snprintf(r->peer, sizeof(r->peer), "%s", "nqn");
	r->qid = qid;
	return r;
}

/* Counters go on when a connection has ended; gauges are of those that are there. */
static void tcp_connections_are_added_up_by_controller(void **state)
{
#define TCP(name, controller) \
	"ntprof_tcp_" name "{side=\"host\",controller=\"" controller "\",subsysnqn=\"nqn\"}"
	struct made *m = *state;

	render(m, EXPOSITION_OPENMETRICS);
	assert_false(there(m, "ntprof_tcp_"));
	for (uint16_t qid = 1; qid <= 2; qid++) {
		struct tcp_row *r = connection(m, "nvme0", qid);

		r->seconds = 2;
		r->retransmitted = 3;
		r->sent = 1000;
		r->rwnd_limited = 0.25;
		r->now = (struct nt_tcp_state){
			.srtt_us = 100U * qid, .snd_cwnd = 10U * qid, .queued = 50, .notsent = 20};
	}
	connection(m, "nvme1", 1)->now.snd_cwnd = 7;
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, TCP("connections", "nvme0")), 2);
	assert_true(there(m, TCP("smoothed_rtt_seconds", "nvme0") " 0.0002\n"));
	assert_int_equal(value(m, TCP("congestion_window_segments", "nvme0")), 10);
	assert_int_equal(value(m, TCP("congestion_window_segments", "nvme1")), 7);
	assert_int_equal(value(m, TCP("unacknowledged_bytes", "nvme0")), 100);
	assert_int_equal(value(m, TCP("unsent_bytes", "nvme0")), 40);
	assert_int_equal(value(m, TCP("sent_bytes_total", "nvme0")), 2000);
	assert_int_equal(value(m, TCP("retransmitted_segments_total", "nvme0")), 6);
	assert_int_equal(value(m, TCP("window_limited_seconds_total", "nvme0")), 1);
	tcp_rows_begin(&m->s.tcp);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, TCP("connections", "nvme0")), 0);
	assert_int_equal(value(m, TCP("retransmitted_segments_total", "nvme0")), 6);
}

/* Names past the limit are in one series. */
static void tcp_controllers_past_the_limit_are_others(void **state)
{
	struct made *m = *state;

	for (unsigned int i = 0; i < 300; i++) {
		char name[16];

		snprintf(name, sizeof(name), "nvme%u", i);
		connection(m, name, 1)->now.snd_cwnd = 5;
	}
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, TCP("connections", "nvme254")), 1);
	assert_false(there(m, TCP("connections", "nvme255")));
	assert_int_equal(value(m, "ntprof_tcp_connections{side=\"host\",controller=\"" SERIES_OTHER
				  "\",subsysnqn=\"" SERIES_OTHER "\"}"),
			 45);
}

/* Without the point between them, two stages are one. */
static void stages_beside_a_missing_point_are_one(void **state)
{
	uint8_t into[NT_STAGES_MAX];
	struct made *m = *state;
	unsigned int joined = 0, told = 0;

	m->s.missing = 1u << NT_H_SEND_CMD;
	for (unsigned int i = 0; i < stages_nr(NT_HOST); i++)
		hist_count(&m->s.stage_interval[NT_OP_READ][i], 1000 + i);
	render(m, EXPOSITION_OPENMETRICS);
	assert_true(there(m, "stage=\"nvme_tcp_submission+network_and_target\"} 1\n"));
	assert_false(there(m, "stage=\"nvme_tcp_submission\""));
	assert_false(there(m, "stage=\"network_and_target\""));
	stages_join(NT_HOST, m->s.missing, into);
	for (unsigned int i = 0; i < stages_nr(NT_HOST); i++)
		joined += into[i] != i;
	assert_int_not_equal(joined, 0);
	for (const char *at = m->text; (at = strstr(at, "\nntprof_stage_duration_seconds_count{"));
	     at++)
		told++;
	assert_int_equal(told, stages_nr(NT_HOST) - joined);
}

/* Nor does a row of another controller, queue or kind of row; nor one without such a command. */
static void an_exemplar_is_at_its_row_alone(void **state)
{
	static const struct page_slow slow = {"nvme0", 2, 0x4d, 5000, 1700000001234, ""};
	static const struct {
		const char *controller;
		unsigned int qid;
		bool shared;
		uint64_t ns;
		bool there;
	} rows[] = {
		{"nvme0", 2, false, 5000, true},  {"nvme1", 2, false, 5000, false},
		{"nvme0", 1, false, 5000, false}, {"nvme0", 2, true, 5000, false},
		{"nvme0", 2, false, 0, false},
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct made *m;

		end(state);
		assert_int_equal(begin(state), 0);
		m = *state;
		m->slow[NT_OP_READ] = slow;
		m->slow[NT_OP_READ].ns = rows[i].ns;
		m->told = m->slow;
		count(stats_row(&m->s, rows[i].controller, NQN, rows[i].qid, NT_OP_READ,
				rows[i].shared),
		      5000, 4096);
		render(m, EXPOSITION_OPENMETRICS);
		assert_int_equal(there(m, " # {"), rows[i].there);
		/* A stage that is not known is left out. */
		if (rows[i].there)
			assert_true(
				there(m, " # {cid=\"77\",queue=\"2\"} 0.000005 1700000001.234\n"));
		/* The next interval has no such command. */
		m->told = NULL;
		render(m, EXPOSITION_OPENMETRICS);
		assert_false(there(m, " # {"));
	}
}

/* Its labels have room up to the last byte. */
static void an_exemplar_with_long_labels_is_left_out(void **state)
{
	const size_t others = strlen("cid=\"1\",queue=\"2\",stage=\"\"");
	struct made *m = *state;
	char stage[EXPOSITION_EXEMPLAR_LEN];

	for (size_t len = EXPOSITION_EXEMPLAR_LEN - 1; len <= EXPOSITION_EXEMPLAR_LEN; len++) {
		memset(stage, 'x', sizeof(stage));
		stage[len - others] = '\0';
		m->slow[NT_OP_READ] = (struct page_slow){"nvme0", 2, 1, 5000, 1, stage};
		m->told = m->slow;
		count(row(m, "nvme0", 2, NT_OP_READ), 5000, 4096);
		render(m, EXPOSITION_OPENMETRICS);
		assert_int_equal(there(m, stage), len < EXPOSITION_EXEMPLAR_LEN);
		assert_int_equal(there(m, " # {"), len < EXPOSITION_EXEMPLAR_LEN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_figure_is_in_its_metric),
		TEST(without_programs_none_is_attached),
		TEST(programs_have_figures_of_their_own),
		TEST(a_discovery_subsystem_has_no_reads),
		TEST(a_queue_has_the_operations_of_its_kind),
		TEST(rows_without_latencies_count),
		TEST(a_row_that_counted_nothing_takes_no_series),
		TEST(only_errors_of_the_interval_are_added),
		TEST(commands_at_the_device_are_a_targets),
		TEST(stages_beside_a_missing_point_are_one),
		TEST(tcp_connections_are_added_up_by_controller),
		TEST(tcp_controllers_past_the_limit_are_others),
		TEST(an_exemplar_is_at_its_row_alone),
		TEST(an_exemplar_with_long_labels_is_left_out),
	};

	return cmocka_run_group_tests_name("figures of the page", tests, NULL, NULL);
}
