// SPDX-License-Identifier: GPL-2.0-only
/* Which figure is where on the page, and which metric leaves out which rows and commands. */
#include "serve/made.h"

#include "core/array.h"

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
		"ntprof_recorder_newest_file_timestamp_seconds{side=\"host\",file=\"host-000001-20231114T221320Z.ntp\"} 1700000000.5",
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
				       .disk_bytes = 29,
				       .newest = "host-000001-20231114T221320Z.ntp",
				       .newest_ns = 1700000000500000000};
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

/* Only the first ones wait: they come after the 0. */
static void errors_are_on_the_page_of_their_interval(void **state)
{
	struct made *m = *state;

	count(row(m, "nvme7", 1, NT_OP_READ), 5000, 0);
	render(m, EXPOSITION_OPENMETRICS);
	for (unsigned int n = 1; n <= 3; n++) {
		assert_int_equal(errors_add(&m->s.errors, "nvme7", NQN, 1, NT_OP_READ, 0x281, 1),
				 0);
		render(m, EXPOSITION_OPENMETRICS);
		assert_int_equal(value(m, "ntprof_command_errors_total" LABELS("nvme7", "read")),
				 n);
		assert_int_equal(value(m,
				       "ntprof_command_error_statuses_total{side=\"host\","
				       "controller=\"nvme7\",subsysnqn=\"" NQN_LABEL
				       "\",operation=\"read\",status=\"unrecovered_read_error\"}"),
				 n);
	}
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

/* Totals: they go on in an interval without any request. */
static void disks_have_a_series_for_each_user(void **state)
{
#define DISK(name, by, who) \
	"ntprof_disk_" name "_total{side=\"host\",disk=\"sda\",by=\"" by "\",who=\"" who "\"}"
	struct made *m = *state;
	const struct nt_disk_use use = {.requests = 3, .bytes = 4096, .ns = 2000000000};

	render(m, EXPOSITION_OPENMETRICS);
	assert_false(there(m, "ntprof_disk_"));
	assert_int_equal(disk_rows_add(&m->s.disks, "sda", DISK_HOST, "nqn.a", &use), 0);
	assert_int_equal(disk_rows_add(&m->s.disks, "sda", DISK_CGROUP, "/b\"", &use), 0);
	disk_rows_begin(&m->s.disks, 1700000005000);
	assert_int_equal(disk_rows_add(&m->s.disks, "sda", DISK_HOST, "nqn.a", &use), 0);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, DISK("requests", "host", "nqn.a")), 6);
	assert_int_equal(value(m, DISK("bytes", "host", "nqn.a")), 8192);
	assert_int_equal(value(m, DISK("busy_seconds", "host", "nqn.a")), 4);
	assert_int_equal(value(m, DISK("requests", "cgroup", "/b\\\"")), 3);
	/* One that comes later began to count then. */
	assert_int_equal(disk_rows_add(&m->s.disks, "sda", DISK_HOST, "nqn.b", &use), 0);
	render(m, EXPOSITION_OPENMETRICS);
	assert_true(there(m, "ntprof_disk_requests_created{side=\"host\",disk=\"sda\",by=\"host\","
			     "who=\"nqn.b\"} 1700000005.000\n"));
}

/* 16,384 requests at a time have taken 2^64 ns on the 14th day. */
static void times_of_disks_outlive_the_machine(void **state)
{
	struct made *m = *state;
	const struct nt_disk_use use = {.requests = 1, .ns = UINT64_MAX};

	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(disk_rows_add(&m->s.disks, "sda", DISK_HOST, "a", &use), 0);
	assert_int_equal(disk_rows_add(&m->s.disks, "sda", DISK_HOST, "b", &use), 0);
	disk_rows_end(&m->s.disks);
	assert_true(m->s.disks.row[0].of_total == 4 * (unsigned __int128)UINT64_MAX);
	render(m, EXPOSITION_OPENMETRICS);
	assert_true(there(m, DISK("busy_seconds", "host", "a") " 55340232221.128654845\n"));
}

/* As of disks. The sums are of all connections of a host. */
static void times_of_connections_outlive_the_machine(void **state)
{
	struct made *m = *state;
	struct tcp_row *r;

	for (unsigned int i = 0; i < 3; i++) {
		tcp_rows_begin(&m->s.tcp);
		r = connection(m, "nvme0", 1);
		r->seconds = 8589934592;
		r->busy = 1;
		render(m, EXPOSITION_OPENMETRICS);
	}
	assert_true(there(m, TCP("busy_seconds_total", "nvme0") " 25769803776.0\n"));
}

/* A scraper refuses a page that has a series twice. */
static void disk_users_that_are_shown_alike_are_one_series(void **state)
{
	static const char *const hosts[] = {"a\xff", "b", "a\xfe"};
	struct made *m = *state;
	const struct nt_disk_use use = {.requests = 3, .bytes = 4096, .ns = 2000000000};
	const char *series = DISK("requests", "host", "a\xef\xbf\xbd");

	for (unsigned int i = 0; i < ARRAY_SIZE(hosts); i++)
		assert_int_equal(disk_rows_add(&m->s.disks, "sda", DISK_HOST, hosts[i], &use), 0);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, series), 6);
	assert_null(strstr(strstr(m->text, series) + 1, series));
	assert_int_equal(value(m, DISK("requests", "host", "b")), 3);
}

/*
 * A counter that falls is taken for one that began anew: what is left of it would be counted once
 * more.
 */
static void a_disk_user_that_gives_way_takes_nothing_from_one_shown_alike(void **state)
{
	struct made *m = *state;
	const struct nt_disk_use use = {.requests = 3, .bytes = 4096, .ns = 2000000000};
	const char *series = DISK("requests", "host", "a\xef\xbf\xbd");
	char host[16];

	assert_int_equal(disk_rows_add(&m->s.disks, "sda", DISK_HOST, "a\xff", &use), 0);
	disk_rows_begin(&m->s.disks, 1700000000000);
	disk_rows_begin(&m->s.disks, 1700000000000);
	assert_int_equal(disk_rows_add(&m->s.disks, "sda", DISK_HOST, "a\xfe", &use), 0);
	for (unsigned int i = 2; i < DISK_ROWS_MAX; i++) {
		snprintf(host, sizeof(host), "b%u", i);
		assert_int_equal(disk_rows_add(&m->s.disks, "sda", DISK_HOST, host, &use), 0);
	}
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, series), 6);
	assert_int_equal(disk_rows_add(&m->s.disks, "sda", DISK_HOST, "c", &use), 0);
	render(m, EXPOSITION_OPENMETRICS);
	assert_in_range(value(m, series), 6, 6);
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
	assert_int_equal(value(m, TCP("connections", "nvme255")), 1);
	assert_int_equal(value(m, "ntprof_tcp_unread_connections{side=\"host\"}"), 0);
	assert_false(there(m, TCP("connections", "nvme256")));
	assert_int_equal(value(m, "ntprof_tcp_connections{side=\"host\",controller=\"" SERIES_OTHER
				  "\",subsysnqn=\"" SERIES_OTHER "\"}"),
			 44);
}

static void tcp_connections_that_are_not_read_are_counted(void **state)
{
	struct made *m = *state;

	for (unsigned int i = 0; i < TCP_ROWS_MAX; i++)
		connection(m, "nvme0", (uint16_t)i);
	assert_null(tcp_rows_add(&m->s.tcp));
	assert_null(tcp_rows_add(&m->s.tcp));
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_tcp_unread_connections{side=\"host\"}"), 2);
}

static void assert_once(struct made *m, const char *name)
{
	char labels[EXPOSITION_LABELS_LEN] = "side=\"host\"", series[EXPOSITION_LABELS_LEN + 32];
	const char *at;

	exposition_label(labels, "controller", name);
	exposition_label(labels, "subsysnqn", series_own_name(name));
	snprintf(series, sizeof(series), "\nntprof_tcp_connections{%s} ", labels);
	at = strstr(m->text, series);
	assert_non_null(at);
	assert_null(strstr(at + 1, series));
}

/* As many as have series. They are connected and ask for nothing, or have gone. */
static void come_by_names(struct made *m, unsigned int *names, uint16_t qid)
{
	for (unsigned int i = 0; i < 256; i++) {
		char name[32];

		snprintf(name, sizeof(name), "name%u", ++*names);
		connection(m, name, qid)->sent = 1;
	}
}

#define FOLDED "ntprof_folded_series{side=\"host\"}"

/* Who connects by ever new names takes no room from those that have queues for reads and writes. */
static void tcp_series_of_io_queues_have_room(void **state)
{
	struct made *m = *state;
	unsigned int names = 0;

	/* They are connected still. */
	come_by_names(m, &names, 0);
	connection(m, "nvme0", 1)->sent = 7;
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, TCP("sent_bytes_total", "nvme0")), 7);
	/* They have gone, and others come. */
	for (unsigned int i = 0; i < 8; i++) {
		tcp_rows_begin(&m->s.tcp);
		if (i % 2 == 0)
			come_by_names(m, &names, 0);
		render(m, EXPOSITION_OPENMETRICS);
	}
	for (unsigned int i = 0; i < 2; i++) {
		tcp_rows_begin(&m->s.tcp);
		if (i)
			come_by_names(m, &names, 0);
		connection(m, "nvme1", 0)->sent = 2;
		connection(m, "nvme1", 1)->sent = 5;
		tcp_rows_sort(&m->s.tcp);
		render(m, EXPOSITION_OPENMETRICS);
		assert_int_equal(value(m, TCP("sent_bytes_total", "nvme1")), 7 * (i + 1));
	}
	assert_int_equal(value(m, FOLDED), 256);
	/* And of these there are only so many an hour, too. */
	for (unsigned int i = 0; i < 8; i++) {
		tcp_rows_begin(&m->s.tcp);
		if (i % 2 == 0)
			come_by_names(m, &names, 1);
		render(m, EXPOSITION_OPENMETRICS);
	}
	tcp_rows_begin(&m->s.tcp);
	come_by_names(m, &names, 1);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, FOLDED), 256);
}

/* Names that come and go take the place of no other for good. */
static void tcp_series_without_a_connection_give_way(void **state)
{
	struct made *m = *state;

	for (unsigned int i = 0; i < 300; i++) {
		char name[16];

		snprintf(name, sizeof(name), "gone%u", i);
		connection(m, name, 1)->sent = 10;
	}
	render(m, EXPOSITION_OPENMETRICS);
	tcp_rows_begin(&m->s.tcp);
	render(m, EXPOSITION_OPENMETRICS);
	connection(m, "nvme0", 1)->sent = 5;
	connection(m, "nvme1", 1)->sent = 6;
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, TCP("sent_bytes_total", "nvme0")), 5);
	assert_int_equal(value(m, TCP("sent_bytes_total", "nvme1")), 6);
	assert_int_equal(value(m,
			       "ntprof_tcp_sent_bytes_total{side=\"host\",controller=\"" SERIES_GONE
			       "\",subsysnqn=\"" SERIES_GONE "\"}"),
			 20);
	assert_int_equal(
		value(m, "ntprof_tcp_sent_bytes_total{side=\"host\",controller=\"" SERIES_OTHER
			 "\",subsysnqn=\"" SERIES_OTHER "\"}"),
		440);
	snprintf(connection(m, SERIES_GONE, 1)->peer, sizeof(((struct tcp_row *)0)->peer), "%s",
		 SERIES_GONE);
	render(m, EXPOSITION_OPENMETRICS);
	assert_once(m, SERIES_GONE);
}

#define HOST_NAMED(name) "{side=\"target\",hostnqn=\"" name "\""

/* It is not counted with those that gave way, or have no room. */
static void a_host_may_be_called_as_those_gone_or_the_others_are(void **state)
{
	static const char *const names[] = {SERIES_OTHER, SERIES_GONE};
	struct made *m = *state;

	m->s.side = NT_TARGET;
	page_free(m->page);
	m->page = page_new(NT_TARGET, false, 4, m->now_ms);
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		struct tcp_row *r = connection(m, "cntlid 1", 1);

		snprintf(r->peer, sizeof(r->peer), "%s", names[i]);
		r->sent = i + 1;
	}
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_tcp_sent_bytes_total" HOST_NAMED("(other)") "}"), 1);
	assert_int_equal(value(m, "ntprof_tcp_sent_bytes_total" HOST_NAMED("(gone)") "}"), 2);
	assert_false(there(m, HOST_NAMED(SERIES_OTHER)));
	assert_false(there(m, HOST_NAMED(SERIES_GONE)));
}

static unsigned int created_s(struct made *m, const char *series)
{
	char name[EXPOSITION_LABELS_LEN + 64];

	snprintf(name, sizeof(name), "%s", series);
	return (unsigned int)(value(m, name) - m->from.started_ms / 1000);
}

/* A counter that begins again at 0 says so. */
static void a_tcp_series_that_comes_again_was_made_then(void **state)
{
	struct made *m = *state;

	connection(m, "nvme0", 1)->sent = 7;
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(created_s(m, TCP("sent_bytes_created", "nvme0")), 0);
	for (unsigned int i = 0; i < 4; i++) {
		tcp_rows_begin(&m->s.tcp);
		for (unsigned int k = 0; i % 2 && k < 300; k++) {
			char name[16];

			snprintf(name, sizeof(name), "other%u", k);
			connection(m, name, 1)->sent = 1;
		}
		render(m, EXPOSITION_OPENMETRICS);
	}
	assert_false(there(m, TCP("sent_bytes_total", "nvme0")));
	tcp_rows_begin(&m->s.tcp);
	render(m, EXPOSITION_OPENMETRICS);
	connection(m, "nvme0", 1)->sent = 2;
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, TCP("sent_bytes_total", "nvme0")), 2);
	assert_int_equal(created_s(m, TCP("sent_bytes_created", "nvme0")), 6);
}

/* A scraper refuses a page that has a series twice. */
static void tcp_names_that_are_shown_alike_are_one_series(void **state)
{
	static const char *const names[] = {"a\xff", "a\xfe", SERIES_OTHER, SERIES_GONE};
	struct made *m = *state;

	for (unsigned int i = 0; i < 300; i++) {
		char name[16];
		struct tcp_row *r;

		snprintf(name, sizeof(name), "nvme%u", i);
		r = connection(m, i < ARRAY_SIZE(names) ? names[i] : name, 1);
		if (i < ARRAY_SIZE(names))
			snprintf(r->peer, sizeof(r->peer), "%s", names[i]);
	}
	render(m, EXPOSITION_OPENMETRICS);
	for (unsigned int i = 1; i < ARRAY_SIZE(names); i++)
		assert_once(m, names[i]);
}

static void events(struct made *m, struct nt_path_event e, unsigned int n)
{
	snprintf(e.subsysnqn, sizeof(e.subsysnqn), "n\"q");
	while (n--)
		assert_int_equal(path_events_add(&m->s.path_events, &e), 0);
}

#define PATH(controller, event, state)                                    \
	"ntprof_path_events_total{side=\"host\",controller=\"" controller \
	"\",subsysnqn=\"n\\\"q\",event=\"" event "\",state=\"" state "\"}"
#define PATH_OTHERS                                                                        \
	"ntprof_path_events_total{side=\"host\",controller=\"other\",subsysnqn=\"other\"," \
	"event=\"other\",state=\"\"}"

static void events_of_controllers_are_counted_by_kind(void **state)
{
	struct made *m = *state;

	render(m, EXPOSITION_OPENMETRICS);
	assert_false(there(m, "ntprof_path_events"));
	events(m, (struct nt_path_event){.instance = 1, .state = NT_PATH_CONNECTING}, 3);
	events(m, (struct nt_path_event){.instance = 1, .kind = NT_PATH_TIMEOUT}, 2);
	render(m, EXPOSITION_OPENMETRICS);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, PATH("nvme1", "state", "connecting")), 3);
	assert_int_equal(value(m, PATH("nvme1", "io_timeout", "")), 2);
	/* More than are kept until the page is made. */
	events(m, (struct nt_path_event){.instance = 2, .state = NT_PATH_LIVE},
	       PATH_EVENTS_MAX + 5);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, PATH("nvme2", "state", "live")), PATH_EVENTS_MAX);
	assert_int_equal(value(m, PATH_OTHERS), 5);
	/* More than have a series of their own, of which two are there. */
	for (unsigned int i = 0; i < 300; i++)
		events(m, (struct nt_path_event){.instance = 10 + i, .state = NT_PATH_LIVE}, 1);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, PATH_OTHERS), 5 + 300 - (256 - 3));
}

/* Rules and dashboards leave out what is together with others. */
static void events_of_a_subsystem_called_as_those_gone_are_its_own(void **state)
{
	struct nt_path_event e = {.instance = 1, .state = NT_PATH_CONNECTING, .subsysnqn = "gone"};
	struct made *m = *state;

	assert_int_equal(path_events_add(&m->s.path_events, &e), 0);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_path_events_total{side=\"host\",controller=\"nvme1\","
				  "subsysnqn=\"(gone)\",event=\"state\",state=\"connecting\"}"),
			 1);
}

#define PATH_GONE                                                                        \
	"ntprof_path_events_total{side=\"host\",controller=\"gone\",subsysnqn=\"gone\"," \
	"event=\"gone\",state=\"\"}"

/* As where volumes are attached and detached: each is a subsystem, and takes the next free number.
 */
static void events_of_controllers_that_are_over_give_way(void **state)
{
	struct nt_path_event e = {.instance = 7};
	struct made *m = *state;

	events(m, (struct nt_path_event){.instance = 1, .state = NT_PATH_LIVE}, 1);
	for (unsigned int i = 0; i < 200; i++) {
		snprintf(e.subsysnqn, sizeof(e.subsysnqn), "volume%u", i);
		e.state = NT_PATH_LIVE;
		assert_int_equal(path_events_add(&m->s.path_events, &e), 0);
		e.state = NT_PATH_DELETING;
		assert_int_equal(path_events_add(&m->s.path_events, &e), 0);
		render(m, EXPOSITION_OPENMETRICS);
	}
	events(m, (struct nt_path_event){.instance = 2, .state = NT_PATH_CONNECTING}, 3);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, PATH("nvme1", "state", "live")), 1);
	assert_int_equal(value(m, PATH("nvme2", "state", "connecting")), 3);
	assert_int_equal(value(m, PATH_GONE), 400 + 2 - 256);
	assert_false(there(m, PATH_OTHERS));
	assert_true(there(m, "ntprof_path_events_created{side=\"host\",controller=\"nvme2\","
			     "subsysnqn=\"n\\\"q\",event=\"state\",state=\"connecting\"} "
			     "1700000200.000\n"));
}

/* Without its end having been seen: another one has the number of the controller. */
static void events_of_a_number_that_another_has_give_way(void **state)
{
	struct nt_path_event e = {.instance = 7, .state = NT_PATH_LIVE};
	struct made *m = *state;

	for (unsigned int i = 0; i < 300; i++) {
		snprintf(e.subsysnqn, sizeof(e.subsysnqn), "volume%u", i);
		assert_int_equal(path_events_add(&m->s.path_events, &e), 0);
	}
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, PATH_GONE), 300 - 256);
	assert_false(there(m, PATH_OTHERS));
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
	static const struct page_slow slow = {"nvme0", 2, 0x4d, 5000, 1700000001234, "", 0, 0};
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

/* Another connection has had the controller's name, in the same interval. */
static void an_exemplar_is_of_its_connection(void **state)
{
	static const char *const nqn[] = {"nqn.2024-01.io.example:a", "nqn.2024-01.io.example:b"};
	struct made *m = *state;

	m->slow[NT_OP_READ] = (struct page_slow){"nvme0", 2, 77, 5000, 1, "", 4, 9};
	m->told = m->slow;
	for (unsigned int i = 0; i < 2; i++) {
		struct stats_row *r = stats_row(&m->s, "nvme0", nqn[i], 2, NT_OP_READ, false);

		assert_non_null(r);
		r->slot = 4;
		r->who = 9 + i;
		count(r, i ? 5000 : 1500, 4096);
	}
	render(m, EXPOSITION_OPENMETRICS);
	assert_non_null(strstr(m->text, " # {"));
	assert_null(strstr(strstr(m->text, " # {") + 1, " # {"));
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
		m->slow[NT_OP_READ] = (struct page_slow){"nvme0", 2, 1, 5000, 1, stage, 0, 0};
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
		TEST(errors_are_on_the_page_of_their_interval),
		TEST(commands_at_the_device_are_a_targets),
		TEST(stages_beside_a_missing_point_are_one),
		TEST(tcp_connections_are_added_up_by_controller),
		TEST(disks_have_a_series_for_each_user),
		TEST(times_of_disks_outlive_the_machine),
		TEST(times_of_connections_outlive_the_machine),
		TEST(disk_users_that_are_shown_alike_are_one_series),
		TEST(a_disk_user_that_gives_way_takes_nothing_from_one_shown_alike),
		TEST(tcp_controllers_past_the_limit_are_others),
		TEST(tcp_connections_that_are_not_read_are_counted),
		TEST(tcp_series_without_a_connection_give_way),
		TEST(tcp_series_of_io_queues_have_room),
		TEST(a_host_may_be_called_as_those_gone_or_the_others_are),
		TEST(a_tcp_series_that_comes_again_was_made_then),
		TEST(tcp_names_that_are_shown_alike_are_one_series),
		TEST(events_of_controllers_are_counted_by_kind),
		TEST(events_of_a_subsystem_called_as_those_gone_are_its_own),
		TEST(events_of_controllers_that_are_over_give_way),
		TEST(events_of_a_number_that_another_has_give_way),
		TEST(an_exemplar_is_at_its_row_alone),
		TEST(an_exemplar_is_of_its_connection),
		TEST(an_exemplar_with_long_labels_is_left_out),
	};

	return cmocka_run_group_tests_name("figures of the page", tests, NULL, NULL);
}
