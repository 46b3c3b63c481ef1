// SPDX-License-Identifier: GPL-2.0-only
/* The metrics of merged commands and of peers: which figure is in which sample. */
#include "serve/made.h"

#include <unistd.h>

#include "core/time.h"

/* To start a command may take long on a busy machine. */
#define PATIENCE_NS 60000000000ULL

/* Two peers, each with figures of its own. */
static void merge_two(struct made *m, struct stream_header header[2],
		      struct stream_losses losses[2])
{
	memset(header, 0, 2 * sizeof(*header));
	memset(losses, 0, 2 * sizeof(*losses));
	m->totals.cancelled = 21;
	m->totals.unsplit = 22;
	m->totals.joined = 23;
	m->totals.negative = 24;
	assert_int_equal(errors_add(&m->totals.errors, "nvme0", "nqn", 1, NT_OP_READ, 0x281, 3), 0);
	errors_begin_interval(&m->totals.errors);
	assert_int_equal(errors_add(&m->totals.errors, "nvme0", "nqn", 1, NT_OP_WRITE, 0x281, 4),
			 0);
	m->merged = (struct merged_source){.totals = &m->totals,
					   .counts = {.matched = 1,
						      .host_only = 2,
						      .target_only = 3,
						      .ambiguous = 4,
						      .undecided = 5,
						      .strays = 6,
						      .past_limits = 7,
						      .crowded_out = 8,
						      .in_crowd = 9,
						      .early = 10},
					   .nr = 2};
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(header[i].hostname, sizeof(header[i].hostname), "host%u", i);
		snprintf(header[i].kernel, sizeof(header[i].kernel), "6.%u", i);
		losses[i].count[NT_CNT_RING_FULL] = 50 + i;
		losses[i].count[COUNTER_IN_FLIGHT] = 99;
		losses[i].unknown = 80 + i;
		m->merged.peer[i] = (struct peer_about){.state = i ? PEER_DIED : PEER_STALLED,
							.header = &header[i],
							.losses = &losses[i],
							.restarts = 30 + i,
							.records = 40 + i,
							.skipped = 60 + i,
							.longer = 70 + i,
							.silent_ns = (i + 1) * 1500000000ULL};
	}
	m->from.merged = &m->merged;
}

static void assert_all_there(const struct made *m, const char *const *samples, size_t nr)
{
	char line[256];

	for (size_t i = 0; i < nr; i++) {
		snprintf(line, sizeof(line), "\n%s\n", samples[i]);
		if (!there(m, line))
			fail_msg("no %s in:\n%s", samples[i], m->text);
	}
}

#define ALL_THERE(m, samples) assert_all_there(m, samples, sizeof(samples) / sizeof((samples)[0]))

static void each_record_and_loss_is_in_its_sample(void **state)
{
#define RESULT(result, n) "ntprof_merged_records_total{side=\"host\",result=\"" result "\"} " n
#define LOSS(reason, n) "ntprof_merged_losses_total{side=\"host\",reason=\"" reason "\"} " n
	static const char *const samples[] = {
		RESULT("matched", "1"),
		RESULT("host_only", "2"),
		RESULT("target_only", "3"),
		RESULT("ambiguous", "4"),
		RESULT("strays", "6"),
		RESULT("past_limits", "7"),
		RESULT("early", "10"),
		LOSS("cancelled", "21"),
		LOSS("errors", "7"),
		LOSS("unsplit", "22"),
		LOSS("arrival_joined", "23"),
		LOSS("negative_stages", "24"),
		LOSS("crowded_out", "8"),
		LOSS("in_crowd", "9"),
		"ntprof_merged_undecided_records{side=\"host\"} 5",
	};
	struct stream_header header[2];
	struct stream_losses losses[2];
	struct made *m = *state;

	merge_two(m, header, losses);
	render(m, EXPOSITION_OPENMETRICS);
	ALL_THERE(m, samples);
	/* Those that wait may become fewer; nothing else may. */
	m->merged.counts = (struct live_merge_counts){.undecided = 4};
	render(m, EXPOSITION_OPENMETRICS);
	for (unsigned int i = 0; i < 7; i++)
		assert_true(there(m, samples[i]));
	assert_int_equal(value(m, "ntprof_merged_undecided_records{side=\"host\"}"), 4);
	errors_free(&m->totals.errors);
}

static void each_peer_has_its_figures(void **state)
{
#define OF(peer, metric, labels, n) \
	"ntprof_peer_" metric "{side=\"host\",peer=\"" peer "\"" labels "} " n
	static const char *const samples[] = {
		OF("1", "info", ",hostname=\"host0\",kernel=\"6.0\"", "1"),
		OF("2", "info", ",hostname=\"host1\",kernel=\"6.1\"", "1"),
		OF("1", "restarts_total", "", "30"),
		OF("2", "restarts_total", "", "31"),
		OF("1", "silent_seconds", "", "1.5"),
		OF("2", "silent_seconds", "", "3.0"),
		OF("1", "records_total", "", "40"),
		OF("2", "records_total", "", "41"),
		OF("1", "losses_total", ",reason=\"ring_full\"", "50"),
		OF("2", "losses_total", ",reason=\"ring_full\"", "51"),
		OF("1", "losses_total", ",reason=\"unknown_losses\"", "80"),
		OF("2", "losses_total", ",reason=\"unknown_losses\"", "81"),
		OF("1", "losses_total", ",reason=\"unknown_frames\"", "60"),
		OF("2", "losses_total", ",reason=\"unknown_frames\"", "61"),
		OF("1", "losses_total", ",reason=\"longer_frames\"", "70"),
		OF("2", "losses_total", ",reason=\"longer_frames\"", "71"),
	};
	struct stream_header header[2];
	struct stream_losses losses[2];
	struct made *m = *state;

	merge_two(m, header, losses);
	render(m, EXPOSITION_OPENMETRICS);
	ALL_THERE(m, samples);
	/* Only losses that there were; and commands in flight are none. */
	for (unsigned int i = 0; i < COUNTERS_NR; i++) {
		char sample[128];

		snprintf(sample, sizeof(sample), "peer=\"1\",reason=\"%s\"}", counter_name(i));
		assert_int_equal(there(m, sample), i == NT_CNT_RING_FULL);
	}
	/* A peer that reports less than it did has not lost less. */
	losses[1].count[NT_CNT_RING_FULL] = 1;
	render(m, EXPOSITION_OPENMETRICS);
	ALL_THERE(m, samples);
	errors_free(&m->totals.errors);
}

static void a_peer_is_in_one_of_all_states(void **state)
{
	static const char *const names[PEER_STATES_NR] = {
#define NAME(id, name) name,
		PEER_STATES(NAME)
#undef NAME
	};
	struct stream_header header[2];
	struct stream_losses losses[2];
	struct made *m = *state;

	merge_two(m, header, losses);
	for (unsigned int is = 0; is < PEER_STATES_NR; is++) {
		m->merged.peer[1].state = (enum peer_state)is;
		render(m, EXPOSITION_OPENMETRICS);
		for (unsigned int i = 0; i < PEER_STATES_NR; i++) {
			char sample[128];

			snprintf(sample, sizeof(sample),
				 "ntprof_peer_state{side=\"host\",peer=\"2\",state=\"%s\"}",
				 names[i]);
			assert_int_equal(value(m, sample), i == is);
		}
	}
	errors_free(&m->totals.errors);
}

static void latencies_and_stages_are_by_operation(void **state)
{
	struct made *m = *state;

	m->stages[0] = (struct totals_stage){.stages = 1, .name = "first"};
	m->stages[1] = (struct totals_stage){.stages = 2, .name = "last"};
	hist_count(&m->stages[0].time, 1000000000);
	hist_count(&m->stages[1].time, 2000000000);
	m->totals.stage[NT_OP_WRITE][0] = &m->stages[0];
	m->totals.stage[NT_OP_WRITE][1] = &m->stages[1];
	m->totals.nr_stages[NT_OP_WRITE] = 2;
	hist_count(&m->totals.latency[NT_OP_WRITE], 3000000000);
	hist_count(&m->totals.latency[NT_OP_READ], 4000000000);
	hist_count(&m->totals.unsplit_latency[NT_OP_READ], 5000000000);
	m->merged.totals = &m->totals;
	m->from.merged = &m->merged;
	render(m, EXPOSITION_OPENMETRICS);
#define SUM(metric, op, more, n)                                                                \
	"ntprof_merged_" metric "_duration_seconds_sum{side=\"host\",operation=\"" op "\"" more \
	"} " n
	ALL_THERE(m, ((const char *const[]){
			     SUM("command", "write", "", "3.0"),
			     SUM("command", "read", "", "4.0"),
			     SUM("stage", "write", ",stage=\"first\"", "1.0"),
			     SUM("stage", "write", ",stage=\"last\"", "2.0"),
			     SUM("stage", "read", ",stage=\"unsplit\"", "5.0"),
		     }));
	/* Operations without commands have no samples. */
	assert_false(there(m, "operation=\"write\",stage=\"unsplit\""));
	assert_false(there(m, "operation=\"discard\""));
}

/* Two commands that end at once, and a record from before either has recorded. */
static void what_a_live_merge_has_is_taken(void **state)
{
	static const struct peer_user myself;
	char first[] = "exit 1", second[] = "exit 2", *sources[] = {first, second};
	const uint64_t until = monotonic_ns() + PATIENCE_NS;
	const struct nt_record r = {.side = NT_HOST};
	struct live_merge *l = live_merge_new(NT_HOST, sources, 2, &myself);
	struct merged_source from;

	assert_non_null(l);
	assert_int_equal(live_merge_record(l, &r), 0);
	do {
		assert_true(monotonic_ns() < until);
		usleep(1000);
		assert_int_equal(live_merge_ready(l), 0);
		merged_fill(&from, l);
		assert_int_equal(from.nr, 2);
	} while (!from.peer[0].exit_status || !from.peer[1].exit_status);
	assert_ptr_equal(from.totals, live_merge_totals(l, true));
	assert_int_equal(from.counts.early, 1);
	assert_string_equal(from.peer[0].source, "exit 1");
	assert_string_equal(from.peer[1].source, "exit 2");
	assert_int_equal(from.peer[0].exit_status, 1);
	assert_int_equal(from.peer[1].exit_status, 2);
	live_merge_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_record_and_loss_is_in_its_sample),
		TEST(each_peer_has_its_figures),
		TEST(a_peer_is_in_one_of_all_states),
		TEST(latencies_and_stages_are_by_operation),
		TEST(what_a_live_merge_has_is_taken),
	};

	return cmocka_run_group_tests_name("metrics of merged commands", tests, NULL, NULL);
}
