// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page for made-up statistics. With NTPROF_PAGES=DIR it is written to files there, to test it
 * with other parsers: tests/formats/openmetrics.
 */
#include "serve/made.h"

#include "hostile.h"

/* Writes the page to a file where other parsers look for it. */
static void give(const struct made *m, const char *name)
{
	const char *directory = getenv("NTPROF_PAGES");
	char path[4096];
	FILE *f;

	if (!directory)
		return;
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(m->text, 1, m->size, f), m->size);
	assert_int_equal(fclose(f), 0);
}

static void rows_of_a_controller_are_added_up(void **state)
{
	struct made *m = *state;

	count(row(m, "nvme0", 1, NT_OP_READ), 5000, 4096);
	count(row(m, "nvme0", 2, NT_OP_READ), 7000, 8192);
	row(m, "nvme0", 2, NT_OP_READ)->others_interval = (struct workload){10, 100};
	count(row(m, "nvme0", 2, NT_OP_WRITE), 9000, 512);
	row(m, "nvme0", 1, NT_OP_READ)->waiting =
		(struct waiting){.commands = 3, .oldest_ns = 2000000000, .at_device = 0};
	row(m, "nvme0", 2, NT_OP_READ)->waiting =
		(struct waiting){.commands = 4, .oldest_ns = 1000000000, .at_device = 0};
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_command_duration_seconds_count" LABELS("nvme0", "read")),
			 2);
	assert_int_equal(value(m, "ntprof_commands_total" LABELS("nvme0", "read")), 12);
	assert_int_equal(value(m, "ntprof_commands_total" LABELS("nvme0", "write")), 1);
	assert_int_equal(value(m, "ntprof_command_bytes_total" LABELS("nvme0", "read")), 12388);
	assert_int_equal(value(m, "ntprof_commands_in_flight" LABELS("nvme0", "read")), 7);
	assert_true(there(m, "ntprof_oldest_command_seconds" LABELS("nvme0", "read") " 2.0\n"));
	assert_false(there(m, "queue=\""));
	assert_string_equal(m->text + m->size - strlen("# EOF\n"), "# EOF\n");
}

static void queues_are_apart_where_that_was_asked_for(void **state)
{
	struct made *m = *state;

	page_free(m->page);
	m->page = new_page(m, NT_HOST, true);
	count(row(m, "nvme0", 1, NT_OP_READ), 5000, 0);
	count(row(m, "nvme0", 2, NT_OP_READ), 5000, 0);
	render(m, EXPOSITION_OPENMETRICS);
	assert_true(there(m, "queue=\"1\",operation=\"read\"} 1\n"));
	assert_true(there(m, "queue=\"2\",operation=\"read\"} 1\n"));
}

#define CONTROLLER_INFO(controller, transport)                          \
	"ntprof_controller_info{side=\"host\",controller=\"" controller \
	"\",subsysnqn=\"" NQN_LABEL "\",transport=\"" transport "\"} 1\n"

static void a_controller_has_its_transport_once(void **state)
{
	struct made *m = *state;
	struct stats_row *r;

	for (uint16_t qid = 0; qid < 3; qid++)
		count(row(m, "nvme0", qid, NT_OP_READ), 5000, 0);
	r = row(m, "nvme1", 1, NT_OP_READ);
	r->transport = NT_TRANSPORT_PCIE;
	count(r, 5000, 0);
	/* Another one had its name, and is not forgotten yet. */
	r = row(m, "nvme1", 0, NT_OP_READ);
	r->ended_ns = 1;
	count(r, 5000, 0);
	render(m, EXPOSITION_OPENMETRICS);
	assert_true(there(m, CONTROLLER_INFO("nvme0", "tcp")));
	assert_true(there(m, CONTROLLER_INFO("nvme1", "pcie")));
	assert_int_equal(times(m, "ntprof_controller_info{"), 2);
}

static void a_controller_without_series_has_no_transport(void **state)
{
	struct made *m = *state;

	page_free(m->page);
	m->page = page_new(NT_HOST, false, 1, m->now_ms);
	count(row(m, "nvme0", 1, NT_OP_READ), 5000, 0);
	count(row(m, "nvme1", 1, NT_OP_READ), 5000, 0);
	render(m, EXPOSITION_OPENMETRICS);
	assert_true(there(m, CONTROLLER_INFO("nvme0", "tcp")));
	assert_int_equal(times(m, "ntprof_controller_info{"), 1);
}

static void errors_are_by_status(void **state)
{
	struct made *m = *state;

	assert_int_equal(errors_add(&m->s.errors, "nvme0", "nqn", 1, NT_OP_READ, 0x281, 3), 0);
	assert_int_equal(errors_add(&m->s.errors, "nvme0", "nqn", 2, NT_OP_READ, 0x281, 4), 0);
	assert_int_equal(errors_add(&m->s.errors, "nvme0", "nqn", 2, NT_OP_READ, 0x7ff, 5), 0);
	assert_int_equal(errors_add(&m->s.errors, "", "", 0, NT_OP_READ, ERRORS_OTHER, 6), 0);
	render(m, EXPOSITION_OPENMETRICS);
#define ERRORS(controller, nqn)                                                                    \
	"ntprof_command_errors_total{side=\"host\",controller=\"" controller "\",subsysnqn=\"" nqn \
	"\",operation=\"read\"}"
#define STATUSES(controller, nqn, status)                                            \
	"ntprof_command_error_statuses_total{side=\"host\",controller=\"" controller \
	"\",subsysnqn=\"" nqn "\",operation=\"read\",status=\"" status "\"}"
	assert_false(there(m, "status="));
	/* A scraper has to see 0 first, or it cannot see an increase. */
	assert_int_equal(value(m, ERRORS("nvme0", "nqn")), 0);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, ERRORS("nvme0", "nqn")), 12);
	assert_int_equal(value(m, STATUSES("nvme0", "nqn", "unrecovered_read_error")), 7);
	assert_int_equal(value(m, STATUSES("nvme0", "nqn", "0x7ff")), 5);
	assert_int_equal(value(m, STATUSES("other", "other", "other")), 6);
}

/* Errors are 0 before anything fails, for every operation. Empty histograms have no samples. */
static void errors_are_told_as_0_from_the_beginning(void **state)
{
	struct made *m = *state;

	count(row(m, "nvme0", 0, NT_OP_FABRICS), 5000, 0);
	render(m, EXPOSITION_OPENMETRICS);
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		char sample[512];

		snprintf(sample, sizeof(sample),
			 "ntprof_command_errors_total{side=\"host\",controller=\"nvme0\","
			 "subsysnqn=\"" NQN_LABEL "\",operation=\"%s\"}",
			 op_name((enum nt_op)op));
		assert_int_equal(value(m, sample), 0);
	}
	assert_int_equal(value(m, "ntprof_commands_total" LABELS("nvme0", "read")), 0);
	assert_false(there(m, "ntprof_command_duration_seconds_count" LABELS("nvme0", "read")));
	assert_int_equal(errors_add(&m->s.errors, "nvme0", NQN, 1, NT_OP_DISCARD, 0x281, 60), 0);
	render(m, EXPOSITION_OPENMETRICS);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_command_errors_total" LABELS("nvme0", "discard")), 60);
}

/* serve collects more often than it is scraped. */
static void errors_wait_for_the_scrape_of_their_0(void **state)
{
	struct made *m = *state;

	count(row(m, "nvme0", 1, NT_OP_READ), 5000, 0);
	collect(m);
	assert_int_equal(errors_add(&m->s.errors, "nvme0", NQN, 1, NT_OP_READ, 0x281, 60), 0);
	for (unsigned int i = 0; i < 3; i++)
		collect(m);
	show(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_command_errors_total" LABELS("nvme0", "read")), 0);
	assert_false(there(m, "status="));
	collect(m);
	show(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_command_errors_total" LABELS("nvme0", "read")), 60);
}

/* Each counter is in one family. Commands in flight are not a counter. */
static void every_counter_is_told_once(void **state)
{
	struct made *m = *state;

	for (unsigned int i = 0; i < COUNTERS_NR; i++)
		m->s.counters_total[i] = 1000 + i;
	render(m, EXPOSITION_OPENMETRICS);
	for (unsigned int i = 0; i < COUNTERS_NR; i++) {
		char number[16];
		const char *at;

		snprintf(number, sizeof(number), "} %u\n", 1000 + i);
		at = strstr(m->text, number);
		if (i == COUNTER_IN_FLIGHT) {
			assert_null(at);
			continue;
		}
		if (!at || strstr(at + 1, number))
			fail_msg("%s is not told once", counter_name(i));
	}
	assert_int_equal(value(m, "ntprof_command_retries_total{side=\"host\"}"),
			 1000 + NT_CNT_REQUEUED);
	assert_int_equal(value(m, "ntprof_losses_total{side=\"host\",reason=\"ring_full\"}"),
			 1000 + NT_CNT_RING_FULL);
}

static void what_is_past_a_limit_tells_of_how_many_queues(void **state)
{
	struct made *m = *state;

	m->s.counters_queues[NT_CNT_HIST_FULL] = 12;
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_loss_queues{side=\"host\",reason=\"hist_full\"}"), 12);
	assert_int_equal(value(m, "ntprof_loss_queues{side=\"host\",reason=\"no_slot\"}"), 0);
}

#define STAGE_OF(who, operation, stage)                                                      \
	"{side=\"host\",controller=\"" who "\",subsysnqn=\"" who "\",operation=\"" operation \
	"\",stage=\"" stage "\"}"

/* Counts times of a stage of the next interval. @row: whose; NULL: of no controller */
static void count_stage(struct made *m, struct stats_row *row, enum nt_op op, unsigned int stage,
			uint64_t ns, unsigned int times)
{
	struct stats_stages *of = row ? stats_stages_make(&m->s, row) : NULL;

	for (unsigned int i = 0; i < times; i++) {
		hist_count(&m->s.stage_interval[op][stage], ns);
		if (of)
			hist_count(&of->interval[stage], ns);
	}
}

static void stages_have_their_names(void **state)
{
	struct made *m = *state;

	count_stage(m, NULL, NT_OP_WRITE, NT_HS_NETWORK_AND_TARGET, 3000, 1);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_stage_duration_seconds_count" STAGE_OF(
					  "other", "write", "network_and_target")),
			 1);
	assert_false(there(m, "stage=\"blk_submission\""));
}

/* Each controller has its own, and those of none are the others'. They do not fall. */
static void stages_are_by_controller(void **state)
{
	struct stats_row *fast, *slow;
	struct made *m = *state;

	fast = row(m, "nvme0", 1, NT_OP_READ);
	slow = row(m, "nvme1", 1, NT_OP_READ);
	count_stage(m, fast, NT_OP_READ, NT_HS_NETWORK_AND_TARGET, 100000, 5);
	count_stage(m, slow, NT_OP_READ, NT_HS_NETWORK_AND_TARGET, 8000000, 3);
	count_stage(m, NULL, NT_OP_READ, NT_HS_NETWORK_AND_TARGET, 1000, 2);
	for (unsigned int i = 0; i < 2; i++) {
		render(m, EXPOSITION_OPENMETRICS);
		assert_int_equal(
			value(m,
			      "ntprof_stage_duration_seconds_count{side=\"host\",controller=\"nvme0\","
			      "subsysnqn=\"" NQN_LABEL "\",operation=\"read\","
			      "stage=\"network_and_target\"}"),
			5);
		assert_true(there(
			m, "ntprof_stage_duration_seconds_sum{side=\"host\",controller=\"nvme1\","
			   "subsysnqn=\"" NQN_LABEL "\",operation=\"read\","
			   "stage=\"network_and_target\"} 0.024\n"));
		assert_int_equal(value(m, "ntprof_stage_duration_seconds_count" STAGE_OF(
						  "other", "read", "network_and_target")),
				 2);
	}
}

/* There are as many series of stages as of rows, six for a controller's operation. */
static void stages_of_too_many_controllers_are_under_other(void **state)
{
	const unsigned int most = SERIES_DEFAULT / NT_HOST_STAGES_NR;
	struct made *m = *state;
	char name[32];

	for (unsigned int i = 0; i < most + 2; i++) {
		snprintf(name, sizeof(name), "nvme%u", 100 + i);
		count_stage(m, row(m, name, 1, NT_OP_READ), NT_OP_READ, NT_HS_BLK_COMPLETION, 5000,
			    2);
	}
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_stage_duration_seconds_count" STAGE_OF("other", "read",
										 "blk_completion")),
			 4);
	assert_int_equal(value(m, "ntprof_folded_series{side=\"host\"}"), 2);
}

#define SEVERAL(who, operation) \
	"{side=\"host\",controller=\"" who "\",subsysnqn=\"" who "\",operation=\"" operation "\"}"
#define OTHERS SEVERAL("other", "read")

/* A controller that sorts before the others comes later. It must not displace their series. */
static void too_many_rows_are_under_other_and_stay_there(void **state)
{
	struct made *m = *state;
	char name[32];

	for (unsigned int i = 0; i < SERIES_DEFAULT; i++) {
		snprintf(name, sizeof(name), "nvme%u", 100 + i);
		count(row(m, name, 1, NT_OP_READ), 5000, 0);
	}
	render(m, EXPOSITION_OPENMETRICS);
	assert_false(there(m, "controller=\"other\""));
	assert_int_equal(value(m, "ntprof_folded_series{side=\"host\"}"), 0);
	count(row(m, "nvme1", 1, NT_OP_READ), 5000, 0);
	count(row(m, "nvme2", 1, NT_OP_READ), 5000, 0);
	count(row(m, "nvme2", 1, NT_OP_READ), 5000, 0);
	render(m, EXPOSITION_OPENMETRICS);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_commands_total" LABELS("nvme100", "read")), 1);
	assert_int_equal(value(m, "ntprof_commands_total" OTHERS), 3);
	assert_int_equal(value(m, "ntprof_command_duration_seconds_count" OTHERS), 3);
	assert_int_equal(value(m, "ntprof_folded_series{side=\"host\"}"), 2);
}

/*
 * The creation time of a series is the beginning of the interval in which it was found; the process
 * is older than that.
 */
static void counters_say_since_when_and_never_again(void **state)
{
	struct made *m = *state;

	m->from.s = NULL;
	render(m, EXPOSITION_OPENMETRICS);
	assert_true(there(m, "\nntprof_http_connections_created{side=\"host\"} 1700000000.000\n"));
	m->from.s = &m->s;
	count(row(m, "nvme0", 1, NT_OP_READ), 5000, 0);
	for (unsigned int i = 0; i < 2; i++) {
		render(m, EXPOSITION_OPENMETRICS);
		assert_true(there(m, "\nprocess_cpu_seconds_created 1700000000.000\n"));
		assert_true(there(
			m, "\nntprof_http_connections_created{side=\"host\"} 1700000000.000\n"));
		assert_true(there(m, "\nntprof_commands_created" LABELS(
					     "nvme0", "read") " 1700000000.000\n"));
	}
	count(row(m, "nvme1", 1, NT_OP_READ), 5000, 0);
	render(m, EXPOSITION_OPENMETRICS);
	assert_true(
		there(m, "\nntprof_commands_created" LABELS("nvme1", "read") " 1700000003.000\n"));
}

/* The sum of 8,192 commands in flight for a year. */
static void a_sum_goes_on_beyond_64_bits(void **state)
{
	struct made *m = *state;
	struct stats_row *r = row(m, "nvme0", 1, NT_OP_READ);

	for (unsigned int i = 0; i < 3; i++) {
		count(r, 5000, 0);
		r->interval.sum = UINT64_MAX;
		m->s.stage_interval[NT_OP_READ][NT_HS_NETWORK_AND_TARGET].count = 1;
		m->s.stage_interval[NT_OP_READ][NT_HS_NETWORK_AND_TARGET].buckets[5] = 1;
		m->s.stage_interval[NT_OP_READ][NT_HS_NETWORK_AND_TARGET].sum = UINT64_MAX;
		render(m, EXPOSITION_OPENMETRICS);
	}
	assert_true(there(m, "\nntprof_command_duration_seconds_sum" LABELS(
				     "nvme0", "read") " 55340232221.128654845\n"));
	assert_true(there(m, "operation=\"read\",stage=\"network_and_target\"} "
			     "55340232221.128654845\n"));
	m->totals.latency[NT_OP_READ] = r->total;
	m->totals.latency[NT_OP_READ].sum = 3 * (unsigned __int128)UINT64_MAX;
	m->merged.totals = &m->totals;
	m->from.merged = &m->merged;
	render(m, EXPOSITION_OPENMETRICS);
	assert_true(there(m, "\nntprof_merged_command_duration_seconds_sum{side=\"host\",operation="
			     "\"read\"} 55340232221.128654845\n"));
}

/* Return: NULL after the last line. With sanitizers strstr() would read all the rest each time. */
static const char *next_line(const char *at)
{
	at = strchr(at, '\n');
	return at && at[1] ? at + 1 : NULL;
}

/* The sum of all samples of a counter, whatever their labels. */
static uint64_t all(const struct made *m, const char *name)
{
	size_t len = strlen(name);
	uint64_t n = 0;

	for (const char *at = m->text; at; at = next_line(at))
		if (!strncmp(at, name, len) && at[len] == '{')
			n += strtoull(strchr(at, '}') + 2, NULL, 10);
	return n;
}

static struct stats_row *row_of_host(struct made *m, unsigned int host, unsigned int cntlid,
				     uint16_t qid, enum nt_op op)
{
	char controller[32], nqn[32];
	struct stats_row *r;

	snprintf(controller, sizeof(controller), "cntlid %u", cntlid);
	snprintf(nqn, sizeof(nqn), "nqn.host%u", host);
	r = stats_row_of(&m->s, controller, nqn, "nqn.sub", qid, op, false);
	assert_non_null(r);
	r->who = 1;
	return r;
}

/* Return: how many of the first @hosts hosts have a row for @op on the page. */
static unsigned int hosts_with(const struct made *m, unsigned int hosts, const char *op)
{
	static const char row[] = "ntprof_commands_total{side=\"target\",subsysnqn=\"nqn.sub\","
				  "hostnqn=\"nqn.host";
	unsigned int n = 0;
	char rest[64];

	snprintf(rest, sizeof(rest), "\",operation=\"%s\"} ", op);
	for (const char *at = m->text; at; at = next_line(at)) {
		char *end;

		if (strncmp(at, row, strlen(row)) != 0)
			continue;
		n += strtoul(at + strlen(row), &end, 10) < hosts &&
		     !strncmp(end, rest, strlen(rest));
	}
	return n;
}

/* Hosts connect first, and read and write later. Only reads and writes find room. */
static void hosts_come(struct made *m, unsigned int hosts, unsigned int series)
{
	m->s.side = NT_TARGET;
	m->s.by_other = true;
	page_free(m->page);
	m->page = page_new(NT_TARGET, false, series, m->now_ms);
	for (unsigned int i = 0; i < hosts; i++) {
		count(row_of_host(m, i, i + 1, 0, NT_OP_FABRICS), 5000, 0);
		count(row_of_host(m, i, i + 1, 0, NT_OP_ADMIN), 5000, 0);
	}
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(all(m, "ntprof_commands_total"), 2 * hosts);
	for (unsigned int i = 0; i < hosts; i++) {
		count(row_of_host(m, i, i + 1, 1, NT_OP_READ), 5000, 4096);
		count(row_of_host(m, i, i + 1, 1, NT_OP_WRITE), 5000, 4096);
	}
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(all(m, "ntprof_commands_total"), 4 * hosts);
	assert_int_equal(all(m, "ntprof_command_duration_seconds_count"), 4 * hosts);
	assert_false(there(m, "cntlid"));
}

static void ten_hosts_have_a_series_for_all_that_they_do(void **state)
{
	struct made *m = *state;

	hosts_come(m, 10, SERIES_DEFAULT);
	assert_int_equal(hosts_with(m, 10, "read"), 10);
	assert_int_equal(hosts_with(m, 10, "admin"), 10);
	assert_int_equal(value(m, "ntprof_folded_series{side=\"target\"}"), 0);
}

static void reads_and_writes_of_128_hosts_come_first(void **state)
{
	struct made *m = *state;

	hosts_come(m, 128, SERIES_DEFAULT);
	assert_int_equal(hosts_with(m, 128, "read"), 128);
	assert_int_equal(hosts_with(m, 128, "write"), 128);
	assert_int_equal(hosts_with(m, 128, "admin"), 0);
	assert_int_equal(value(m, "ntprof_folded_series{side=\"target\"}"), 2 * 128);
}

static void a_thousand_hosts_need_as_many_as_were_asked_for(void **state)
{
	struct made *m = *state;

	hosts_come(m, 1000, SERIES_DEFAULT);
	assert_int_equal(hosts_with(m, 1000, "read") + hosts_with(m, 1000, "write"), 256);
	assert_int_equal(hosts_with(m, 1000, "admin"), 0);
	hosts_come(m, 1000, 2000);
	assert_int_equal(hosts_with(m, 1000, "read"), 1000);
	assert_int_equal(hosts_with(m, 1000, "write"), 1000);
}

static bool always(const void *context, const struct stats_row *r)
{
	return r->who != 0;
}

/* Ends all connections and removes their rows, except rows that read in this interval. */
static void all_leave(struct made *m)
{
	m->leave_ns += 2 * STATS_ENDED_NS;
	assert_int_equal(stats_fold(&m->s, m->leave_ns, always, NULL), 0);
	assert_int_equal(stats_fold(&m->s, m->leave_ns + STATS_ENDED_NS, always, NULL), 0);
}

#define HOST0(metric) \
	metric "{side=\"target\",subsysnqn=\"nqn.sub\",hostnqn=\"nqn.host0\",operation=\"read\"}"
#define HOSTS_GONE(metric, op) \
	metric "{side=\"target\",subsysnqn=\"gone\",hostnqn=\"gone\",operation=\"" op "\"}"

/*
 * While there is room, a host that connects again continues its series, whatever its controller is
 * called then.
 */
static void a_host_that_comes_again_counts_on(void **state)
{
	struct made *m = *state;

	hosts_come(m, 10, SERIES_DEFAULT);
	all_leave(m);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(m->s.nr_rows, 4);
	assert_int_equal(value(m, HOST0("ntprof_commands_total")), 1);
	assert_int_equal(value(m, "ntprof_gone_rows_total{side=\"target\"}"), 40);
	count(row_of_host(m, 0, 99, 1, NT_OP_READ), 5000, 4096);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, HOST0("ntprof_commands_total")), 2);
	assert_false(there(m, "\"gone\""));
}

/*
 * Other hosts need the room. The old counts move to the row of those that are gone, and the host's
 * series begins again.
 */
static void series_of_hosts_that_left_give_way(void **state)
{
	struct made *m = *state;
	char sample[256];

	hosts_come(m, 128, SERIES_DEFAULT);
	all_leave(m);
	render(m, EXPOSITION_OPENMETRICS);
	for (unsigned int i = 128; i < 256; i++) {
		count(row_of_host(m, i, i + 1, 1, NT_OP_READ), 5000, 4096);
		count(row_of_host(m, i, i + 1, 1, NT_OP_WRITE), 5000, 4096);
	}
	render(m, EXPOSITION_OPENMETRICS);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(hosts_with(m, 256, "read"), 128);
	assert_int_equal(value(m, HOSTS_GONE("ntprof_commands_total", "read")), 128);
	assert_int_equal(value(m, HOSTS_GONE("ntprof_command_duration_seconds_count", "write")),
			 128);
	assert_int_equal(all(m, "ntprof_commands_total"), 4 * 128 + 2 * 128);
	assert_int_equal(all(m, "ntprof_command_bytes_total"), 4096 * 4 * 128);
	all_leave(m);
	/* As many have given way as may within an hour. */
	m->now_ms += 60000;
	render(m, EXPOSITION_OPENMETRICS);
	count(row_of_host(m, 0, 999, 1, NT_OP_READ), 5000, 4096);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, HOST0("ntprof_commands_total")), 1);
	snprintf(sample, sizeof(sample), HOST0("\nntprof_commands_created") " %llu.000\n",
		 (unsigned long long)m->now_ms / 1000 - 1);
	assert_true(there(m, sample));
	assert_int_equal(all(m, "ntprof_commands_total"), 4 * 128 + 2 * 128 + 1);
}

/*
 * A host that only connects, under any names, takes neither the series of hosts that read and write
 * nor more memory.
 */
static void strangers_displace_nobody(void **state)
{
	struct made *m = *state;
	uint64_t n;

	hosts_come(m, 120, SERIES_DEFAULT);
	n = 4 * 120;
	for (unsigned int i = 0; i < 5000; i++) {
		count(row_of_host(m, 1000 + i, 7, 0, NT_OP_FABRICS), 5000, 0);
		n++;
		if (i % 200)
			continue;
		for (unsigned int k = 0; k < 120; k++)
			row_of_host(m, k, k + 1, 1, NT_OP_READ)->who = 0;
		render(m, EXPOSITION_OPENMETRICS);
		assert_int_equal(all(m, "ntprof_commands_total"), n);
		all_leave(m);
	}
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(hosts_with(m, 120, "read"), 120);
	assert_true(m->size < 2000000);
}

static void what_found_no_histogram_is_under_other(void **state)
{
	struct made *m = *state;
	struct stats_row *r = stats_row(&m->s, "(others)", "", 0, NT_OP_OTHER, true);

	count(r, 5000, 0);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_commands_total" SEVERAL("other", "other")), 1);
}

static void before_the_first_collection_there_is_a_page(void **state)
{
	struct made *m = *state;

	m->from.s = NULL;
	m->from.tracing = false;
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_tracing{side=\"host\"}"), 0);
	assert_int_equal(value(m, "ntprof_bpf_map_bytes{side=\"host\"}"), 12345);
}

static void runs_are_told_where_the_kernel_counts_them(void **state)
{
	struct made *m = *state;

	m->cost.nr = 1;
	snprintf(m->cost.program[0].name, sizeof(m->cost.program[0].name), "queue_rq");
	render(m, EXPOSITION_OPENMETRICS);
	assert_false(there(m, "ntprof_bpf_runs"));
	m->cost.counts_runs = true;
	m->cost.program[0].runs = 7;
	m->cost.program[0].ns = 7000;
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_bpf_runs_total{side=\"host\",program=\"queue_rq\"}"), 7);
	assert_true(there(
		m, "ntprof_bpf_run_seconds_total{side=\"host\",program=\"queue_rq\"} 0.000007\n"));
}

static void a_target_names_its_subsystems_and_hosts(void **state)
{
	struct made *m = *state;
	struct stats_row *r;

	page_free(m->page);
	m->page = new_page(m, NT_TARGET, false);
	m->s.side = NT_TARGET;
	m->s.waiting_at_device = true;
	m->s.by_other = true;
	r = stats_row_of(&m->s, "cntlid 1", NQN, "nqn.sub", 1, NT_OP_READ, false);
	count(r, 5000, 0);
	assert_int_equal(
		errors_add_of(&m->s.errors, "cntlid 1", NQN, "nqn.sub", 1, NT_OP_WRITE, 0x281, 3),
		0);
	r->waiting = (struct waiting){.commands = 4, .oldest_ns = 1000000000, .at_device = 2};
	render(m, EXPOSITION_OPENMETRICS);
#define TARGET_LABELS(operation)                                                                  \
	"{side=\"target\",subsysnqn=\"nqn.sub\",hostnqn=\"" NQN_LABEL "\",operation=\"" operation \
	"\""
	assert_int_equal(value(m, "ntprof_commands_at_device" TARGET_LABELS("read") "}"), 2);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, "ntprof_command_error_statuses_total" TARGET_LABELS(
					  "write") ",status=\"unrecovered_read_error\"}"),
			 3);
	give(m, "target");
}

/*
 * Any NQN is possible, but two samples with the same labels are not. Nor is a subsystem left out by
 * rules that leave out what is together.
 */
static void a_subsystem_may_be_called_as_the_others_are(void **state)
{
	static const char *const names[] = {SERIES_OTHER, SERIES_GONE};
	struct made *m = *state;

	m->s.side = NT_TARGET;
	m->s.by_other = true;
	page_free(m->page);
	m->page = page_new(NT_TARGET, false, 4, m->now_ms);
	for (unsigned int i = 0; i < 6; i++) {
		const char *name = i < 4 ? names[i % 2] : i == 4 ? "x" : "y";

		count(stats_row_of(&m->s, "cntlid 1", name, name, 1, NT_OP_READ, false), 5000, 0);
		render(m, EXPOSITION_OPENMETRICS);
	}
#define SHARED(what)                                                                     \
	"\nntprof_commands_total{side=\"target\",subsysnqn=\"" what "\",hostnqn=\"" what \
	"\",operation=\"read\"} "
	assert_true(there(m, SHARED("(other)") "2\n"));
	assert_true(there(m, SHARED("(gone)") "2\n"));
	assert_null(strstr(m->text, SHARED("other")));
	assert_null(strstr(m->text, SHARED("gone")));
}

/*
 * The exemplar is at the bucket that counts the command and nowhere else, and not in the older
 * format.
 */
static void a_slow_command_is_an_exemplar(void **state)
{
	struct page_slow slow[NT_OPS_NR] = {
		[NT_OP_READ] = {"nvme0", 2, 77, 5000, 1700000001234, "network_and_target", 0, 0},
		[NT_OP_WRITE] = {"nvme1", 2, 78, 5000, 1700000001234, "", 0, 0},
	};
	struct made *m = *state;

	count(row(m, "nvme0", 1, NT_OP_READ), 1000, 4096);
	count(row(m, "nvme0", 2, NT_OP_READ), 5000, 4096);
	count(row(m, "nvme0", 2, NT_OP_WRITE), 5000, 4096);
	m->told = slow;
	render(m, EXPOSITION_OPENMETRICS);
	assert_true(there(m, "operation=\"read\",le=\"0.000008192\"} 2 # "
			     "{cid=\"77\",queue=\"2\",stage=\"network_and_target\"} 0.000005 "
			     "1700000001.234\n"));
	assert_null(strstr(strstr(m->text, " # {") + 1, " # {"));
	show(m, EXPOSITION_PROMETHEUS);
	assert_false(there(m, " # {"));
}

/*
 * Adds two stages (one of them is two of the ten), a command that could not be split, and a peer.
 */
static void merge_some(struct made *m)
{
	m->stages[0] = (struct totals_stage){.stages = 1, .name = "blk_submission"};
	m->stages[1] =
		(struct totals_stage){.stages = 6, .name = "nvme_tcp_submission+nstack_submission"};
	for (unsigned int i = 0; i < 2; i++) {
		m->totals.stage[NT_OP_READ][i] = &m->stages[i];
		hist_count(&m->stages[i].time, 3000 + i);
	}
	m->totals.nr_stages[NT_OP_READ] = 2;
	hist_count(&m->totals.latency[NT_OP_READ], 6001);
	hist_count(&m->totals.latency[NT_OP_READ], 5000);
	hist_count(&m->totals.unsplit_latency[NT_OP_READ], 5000);
	m->totals.unsplit = 1;
	m->totals.cancelled = 2;
	snprintf(m->header.hostname, sizeof(m->header.hostname), "a \"target\"");
	m->losses.count[NT_CNT_RING_FULL] = 5;
	m->merged = (struct merged_source){
		.totals = &m->totals,
		.counts = {.matched = 4, .host_only = 7, .undecided = 3, .crowded_out = 1},
		.nr = 2,
		.peer = {{.state = PEER_RUNNING,
			  .header = &m->header,
			  .losses = &m->losses,
			  .records = 11,
			  .silent_ns = 1500000000},
			 {.state = PEER_STARTING, .losses = &m->losses}},
	};
	m->from.merged = &m->merged;
}

static void hostile_names_are_harmless(void **state)
{
	struct made *m = *state;
	struct stats_row *r;

	merge_some(m);
	r = stats_row_of(&m->s, HOSTILE, HOSTILE, HOSTILE, 1, NT_OP_READ, false);
	assert_non_null(r);
	count(r, 5000, 1);
	m->s.by_other = true;
	assert_int_equal(errors_add(&m->s.errors, HOSTILE, HOSTILE, 1, NT_OP_READ, 0x281, 1), 0);
	snprintf(m->s.kernel, sizeof(m->s.kernel), "%s", HOSTILE);
	snprintf(m->header.hostname, sizeof(m->header.hostname), "%s", HOSTILE);
	snprintf(m->header.kernel, sizeof(m->header.kernel), "%s", HOSTILE);
	m->slow[NT_OP_READ] =
		(struct page_slow){.qid = 2, .ns = 5000, .ended_ms = 1, .stage = "blk_submission"};
	strcpy(m->slow[NT_OP_READ].controller, "=\x1b[2J\x9b\xc2\x9b\xe2\x80\xae\"\n");
	m->told = m->slow;
	for (unsigned int i = 0; i < EXPOSITION_FORMATS; i++) {
		const char *text = render(m, (enum exposition_format)i);

		assert_text_is_harmless(text);
		assert_non_null(strstr(text, "controller=\"=" HOSTILE_MARK));
		assert_non_null(strstr(text, "subsysnqn=\"=" HOSTILE_MARK));
		assert_non_null(strstr(text, "hostname=\"=" HOSTILE_MARK));
		assert_non_null(strstr(text, "kernel=\"=" HOSTILE_MARK));
	}
}

#define MERGED(name) "ntprof_merged_" name "{side=\"host\",operation=\"read\""

static void what_was_merged_is_told(void **state)
{
	struct made *m = *state;

	render(m, EXPOSITION_OPENMETRICS);
	assert_false(there(m, "ntprof_merged"));
	assert_false(there(m, "ntprof_peer"));
	merge_some(m);
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, MERGED("command_duration_seconds_count") "}"), 2);
	assert_int_equal(
		value(m, MERGED("stage_duration_seconds_count") ",stage=\"blk_submission\"}"), 1);
	assert_true(there(
		m, MERGED("stage_duration_seconds_sum") ",stage=\"nvme_tcp_submission+"
							"nstack_submission\"} 0.000003001\n"));
	assert_true(
		there(m, MERGED("stage_duration_seconds_sum") ",stage=\"unsplit\"} 0.000005\n"));
	assert_false(there(m, "operation=\"write\""));
	assert_int_equal(value(m, "ntprof_merged_losses_total{side=\"host\",reason=\"unsplit\"}"),
			 1);
	assert_int_equal(value(m, "ntprof_merged_losses_total{side=\"host\",reason=\"cancelled\"}"),
			 2);
	assert_int_equal(value(m, "ntprof_merged_undecided_records{side=\"host\"}"), 3);
}

#define RECORDS(result) "ntprof_merged_records_total{side=\"host\",result=\"" result "\"}"

/* Records may move to another connection, and a peer may send anything. */
static void what_became_of_records_does_not_fall(void **state)
{
	struct made *m = *state;

	merge_some(m);
	render(m, EXPOSITION_OPENMETRICS);
	m->merged.counts.host_only = 6;
	m->losses.count[NT_CNT_RING_FULL] = 1;
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, RECORDS("host_only")), 7);
	assert_int_equal(value(m, "ntprof_peer_losses_total{side=\"host\",peer=\"1\",reason="
				  "\"ring_full\"}"),
			 5);
	m->merged.counts.host_only = 9;
	render(m, EXPOSITION_OPENMETRICS);
	assert_int_equal(value(m, RECORDS("host_only")), 9);
	assert_int_equal(value(m, RECORDS("matched")), 4);
}

static void a_peer_is_in_one_state(void **state)
{
	struct made *m = *state;

	merge_some(m);
	render(m, EXPOSITION_OPENMETRICS);
#define STATE(peer, state) "ntprof_peer_state{side=\"host\",peer=\"" peer "\",state=\"" state "\"}"
	assert_int_equal(value(m, STATE("1", "running")), 1);
	assert_int_equal(value(m, STATE("1", "starting")), 0);
	assert_int_equal(value(m, STATE("2", "starting")), 1);
	assert_true(there(m, "ntprof_peer_info{side=\"host\",peer=\"1\",hostname=\"a "
			     "\\\"target\\\"\",kernel=\"\"} 1\n"));
	assert_false(there(m, "ntprof_peer_info{side=\"host\",peer=\"2\""));
	assert_true(there(m, "ntprof_peer_silent_seconds{side=\"host\",peer=\"1\"} 1.5\n"));
	assert_int_equal(value(m, "ntprof_peer_records_total{side=\"host\",peer=\"1\"}"), 11);
}

/* The line of a metric in docs/metrics.md. */
static void doc_line(char *line, size_t size, const struct metric *m)
{
	static const char *const suffixes[METRIC_TYPES] = {
		[METRIC_COUNTER] = "_total",
		[METRIC_INFO] = "_info",
		[METRIC_GAUGE] = "",
		[METRIC_HISTOGRAM] = "",
	};

	snprintf(line, size, "| `%s%s` | %s | %s | %s |\n", m->name, suffixes[m->type],
		 metric_type_name(m->type), m->labels, m->help);
}

/* Tests run in the root of the source tree. */
static void the_documentation_has_this_table(void **state)
{
	FILE *f = fopen("docs/metrics.md", "re");
	char line[512], expected[512];
	unsigned int id = 0, lacks;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, "| `ntprof_", 10) && strncmp(line, "| `process_", 11))
			continue;
		assert_true(id < METRICS_NR);
		doc_line(expected, sizeof(expected), metric_of(id++));
		assert_string_equal(line, expected);
	}
	fclose(f);
	lacks = METRICS_NR - id;
	for (; id < METRICS_NR; id++) {
		doc_line(expected, sizeof(expected), metric_of(id));
		print_error("docs/metrics.md lacks: %s", expected);
	}
	assert_int_equal(lacks, 0);
}

static bool ends_with(const char *text, const char *with)
{
	size_t n = strlen(text), k = strlen(with);

	return n > k && !strcmp(text + n - k, with);
}

static void a_name_ends_with_its_unit(void **state)
{
	for (unsigned int id = 0; id < METRICS_NR; id++) {
		const struct metric *m = metric_of(id);

		assert_true(!m->unit[0] || ends_with(m->name, m->unit));
		assert_null(strpbrk(m->help, "\\\n"));
	}
}

/* Fills everything that there can be. */
static void fill(struct made *m)
{
	for (unsigned int i = 0; i < 500; i++) {
		count(row(m, i % 2 ? "nvme0" : "nvme1", i % 3, i % NT_OPS_NR), 700ULL << i % 37,
		      4096);
		hist_count(&m->s.stage_interval[i % NT_OPS_NR][i % NT_HOST_STAGES_NR],
			   300ULL << i % 37);
	}
	m->s.waiting_at_device = true;
	m->kept.trigger_name[0] = "p99(read) > 2ms over 10s";
	m->kept.triggers[0] = 3;
	m->kept.newest = "host-000001-20231114T221320Z.ntp";
	m->kept.newest_ns = 1700000000000000000;
	m->from.kept = &m->kept;
	m->slow[NT_OP_WRITE] =
		(struct page_slow){"nvme0", 1, 4097, 700, 1700000001234, "blk_submission", 0, 0};
	m->told = m->slow;
	for (unsigned int i = 0; i < COUNTERS_NR; i++)
		m->s.counters_total[i] = i;
	assert_int_equal(errors_add(&m->s.errors, "nvme0", "nqn", 1, NT_OP_READ, 0x281, 3), 0);
	assert_non_null(tcp_rows_add(&m->s.tcp));
	assert_int_equal(disk_rows_add(&m->s.disks, "sda", DISK_HOST, "nqn",
				       &(struct nt_disk_use){.requests = 1}),
			 0);
	assert_int_equal(path_events_add(&m->s.path_events, &(struct nt_path_event){.ns = 1}), 0);
	m->cost.nr = 1;
	m->cost.counts_runs = true;
	snprintf(m->cost.program[0].name, sizeof(m->cost.program[0].name), "queue_rq");
	merge_some(m);
}

static void every_metric_is_on_the_page(void **state)
{
	struct made *m = *state;
	char begins[128];

	fill(m);
	render(m, EXPOSITION_PROMETHEUS);
	count(row(m, "nvme0", 1, NT_OP_WRITE), 700, 4096);
	render(m, EXPOSITION_PROMETHEUS);
	give(m, "prometheus");
	show(m, EXPOSITION_OPENMETRICS);
	give(m, "openmetrics");
	for (unsigned int id = 0; id < METRICS_NR; id++) {
		snprintf(begins, sizeof(begins), "# TYPE %s %s\n", metric_of(id)->name,
			 metric_type_name(metric_of(id)->type));
		if (!there(m, begins))
			fail_msg("not on the page: %s", begins);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rows_of_a_controller_are_added_up),
		TEST(queues_are_apart_where_that_was_asked_for),
		TEST(a_subsystem_may_be_called_as_the_others_are),
		TEST(a_slow_command_is_an_exemplar),
		TEST(a_controller_has_its_transport_once),
		TEST(a_controller_without_series_has_no_transport),
		TEST(errors_are_by_status),
		TEST(errors_wait_for_the_scrape_of_their_0),
		TEST(every_counter_is_told_once),
		TEST(what_is_past_a_limit_tells_of_how_many_queues),
		TEST(stages_have_their_names),
		TEST(stages_are_by_controller),
		TEST(stages_of_too_many_controllers_are_under_other),
		TEST(errors_are_told_as_0_from_the_beginning),
		TEST(counters_say_since_when_and_never_again),
		TEST(a_sum_goes_on_beyond_64_bits),
		TEST(ten_hosts_have_a_series_for_all_that_they_do),
		TEST(reads_and_writes_of_128_hosts_come_first),
		TEST(a_thousand_hosts_need_as_many_as_were_asked_for),
		TEST(a_host_that_comes_again_counts_on),
		TEST(series_of_hosts_that_left_give_way),
		TEST(strangers_displace_nobody),
		TEST(too_many_rows_are_under_other_and_stay_there),
		TEST(what_found_no_histogram_is_under_other),
		TEST(before_the_first_collection_there_is_a_page),
		TEST(runs_are_told_where_the_kernel_counts_them),
		TEST(a_target_names_its_subsystems_and_hosts),
		TEST(what_was_merged_is_told),
		TEST(hostile_names_are_harmless),
		TEST(what_became_of_records_does_not_fall),
		TEST(a_peer_is_in_one_state),
		TEST(a_name_ends_with_its_unit),
		TEST(every_metric_is_on_the_page),
		cmocka_unit_test(the_documentation_has_this_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
