// SPDX-License-Identifier: GPL-2.0-only
/* The first lines of a report: they say what the figures show, and no more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "view/verdict.h"

#define US 1000ULL
#define WIDE 200

static struct merge_connection connections[] = {
	{.index = 0, .host_stream = 0, .target_stream = 1, .subsysnqn = "nqn.fast"},
	{.index = 1, .host_stream = 0, .target_stream = 2, .subsysnqn = "nqn.slow"},
	{.index = 2,
	 .host_stream = 0,
	 .target_stream = 1,
	 .subsysnqn = "nqn.fast",
	 .host_instance = 7},
};

/* How long the stages of a command take. */
struct times {
	uint64_t host, network, target;
	uint32_t sender; /* of the network, what the target's sender kept, and 1; 0: not known */
};

static struct machines machines;
static struct totals t;

static int setup(void **state)
{
	static const struct machine machine[] = {
		{.side = NT_HOST, .name = "web"},
		{.side = NT_TARGET, .name = "stor1"},
		{.side = NT_TARGET, .name = "stor2"},
	};

	if (machines_init(&machines, 3) || totals_init(&t, 0))
		return -1;
	for (unsigned int i = 0; i < 3; i++)
		machines_set(&machines, i, &machine[i], "x.ntp");
	t.machines = &machines;
	return 0;
}

static int teardown(void **state)
{
	totals_free(&t);
	machines_free(&machines);
	return 0;
}

static void add(unsigned int connection, enum nt_op op, unsigned int nr, struct times took)
{
	const uint64_t sent = 1000, seen = sent + took.network + took.target;
	struct nt_record host = {
		.side = NT_HOST,
		.op = (uint8_t)op,
		.points = {[NT_H_SUBMIT] = 100,
			   [NT_H_QUEUE_RQ] = 100,
			   [NT_H_SEND_CMD] = sent,
			   [NT_H_RX] = seen,
			   [NT_H_C2H] = seen + took.host,
			   [NT_H_CQE] = seen + took.host,
			   [NT_H_COMPLETE] = seen + took.host},
		.fine = {[NT_HF_OUT] = took.sender ? 1 : 0},
	};
	struct nt_record target = {
		.side = NT_TARGET,
		.op = (uint8_t)op,
		.points = {[NT_T_RX] = 5000,
			   [NT_T_CMD] = 5000,
			   [NT_T_EXEC] = 5000,
			   [NT_T_DONE] = 5000 + took.target,
			   [NT_T_SEND] = 5000 + took.target,
			   [NT_T_SENT] = 5000 + took.target},
		.fine = {[NT_TF_OUT] = took.sender},
	};

	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(totals_add(&t, &connections[connection], &host, &target), 0);
}

static void assert_verdict(unsigned int width, const char *expected)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_int_equal(verdict_print_merged(&t, f, width), 0);
	assert_int_equal(fclose(f), 0);
	assert_string_equal(text, expected);
	free(text);
}

static void it_names_the_stage_its_share_and_its_machine(void **state)
{
	add(0, NT_OP_READ, 100, (struct times){.network = 100 * US, .target = 800 * US});
	assert_verdict(WIDE, "read: p50 893us, p99 893us; 88.8 % of the time in target_subsystem "
			     "(target stor1)\n");
	assert_verdict(60, "read: p50 893us, p99 893us; 88.8 % of the time in\n"
			   "  target_subsystem (target stor1)\n");
}

static void what_takes_the_most_time_is_first(void **state)
{
	add(0, NT_OP_READ, 900, (struct times){.network = 10 * US});
	add(0, NT_OP_WRITE, 100, (struct times){.host = 300 * US});
	add(0, NT_OP_FLUSH, 100, (struct times){.network = 1 * US});
	add(0, NT_OP_ADMIN, 900, (struct times){.network = 1000 * US});
	assert_verdict(WIDE, "write: p50 299us, p99 299us; 99.7 % of the time in nstack_completion "
			     "(host web)\n"
			     "read: p50 10.9us, p99 10.9us; 91.7 % of the time in "
			     "network_transmission (network)\n");
}

static void too_few_commands_say_nothing(void **state)
{
	add(0, NT_OP_READ, VERDICT_COMMANDS_MIN - 1, (struct times){.target = 800 * US});
	add(0, NT_OP_WRITE, 3, (struct times){.target = 1 * US});
	assert_verdict(
		WIDE, "too few commands for a verdict, which takes 100 of an operation: 99 read, 3 "
		      "write\n");
	add(0, NT_OP_READ, 1, (struct times){.target = 800 * US});
	assert_verdict(WIDE, "read: p50 795us, p99 795us; 99.9 % of the time in target_subsystem "
			     "(target stor1)\n");
}

static void a_stage_that_is_longest_is_not_called_most(void **state)
{
	add(0, NT_OP_READ, 100,
	    (struct times){.host = 300 * US, .network = 380 * US, .target = 310 * US});
	assert_verdict(WIDE,
		       "read: p50 991us, p99 991us; the longest stage has 38.3 % of the time: "
		       "network_transmission (network)\n");
}

static void a_part_of_the_network_is_of_the_machine_that_has_most_of_it(void **state)
{
	add(0, NT_OP_READ, 100, (struct times){.network = 1000 * US, .sender = 100 * US});
	add(1, NT_OP_READ, 100, (struct times){.network = 1000 * US, .sender = 900 * US});
	add(2, NT_OP_READ, 100, (struct times){.network = 1000 * US, .sender = 850 * US});
	assert_verdict(WIDE,
		       "read: p50 1.00ms, p99 1.00ms; 61.6 % of the time in target_send_queue "
		       "(target stor1, 51.4 % of it)\n");
}

/* A place may have more in all its stages than another has in the longest one. */
static void a_place_with_more_time_in_all_is_named_as_well(void **state)
{
	struct nt_record host = {
		.side = NT_HOST,
		.points = {[NT_H_SUBMIT] = 1,
			   [NT_H_QUEUE_RQ] = 1 + 30 * US,
			   [NT_H_SEND_CMD] = 1 + 60 * US,
			   [NT_H_RX] = 1 + 100 * US,
			   [NT_H_C2H] = 1 + 100 * US,
			   [NT_H_CQE] = 1 + 100 * US,
			   [NT_H_COMPLETE] = 1 + 100 * US},
	};
	struct nt_record target = {
		.side = NT_TARGET,
		.points = {[NT_T_RX] = 5,
			   [NT_T_CMD] = 5,
			   [NT_T_EXEC] = 5,
			   [NT_T_DONE] = 5 + 40 * US,
			   [NT_T_SEND] = 5 + 40 * US,
			   [NT_T_SENT] = 5 + 40 * US},
	};

	for (unsigned int i = 0; i < 200; i++)
		assert_int_equal(totals_add(&t, &connections[0], &host, &target), 0);
	assert_verdict(WIDE,
		       "read: p50 99.3us, p99 99.3us; the longest stage has 40.0 % of the time: "
		       "target_subsystem (target stor1); all stages of host have 60.0 %\n");
}

static void a_hang_of_a_few_commands_shows_the_longest(void **state)
{
	add(0, NT_OP_READ, 1000, (struct times){.network = 100 * US});
	add(0, NT_OP_READ, 2, (struct times){.network = 900 * US});
	assert_verdict(WIDE, "read: p50 101us, p99 101us; 99.1 % of the time in "
			     "network_transmission (network)\n");
	add(0, NT_OP_READ, 1, (struct times){.network = 30000000 * US});
	assert_verdict(WIDE, "read: p50 101us, p99 101us, max 30.0s; 100.0 % of the time in "
			     "network_transmission (network)\n");
}

static void what_cannot_be_split_is_in_no_stage(void **state)
{
	struct nt_record host = {.side = NT_HOST,
				 .points = {[NT_H_SUBMIT] = 1, [NT_H_COMPLETE] = 1 + 100 * US}};
	struct nt_record target = {.side = NT_TARGET};

	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(totals_add(&t, &connections[0], &host, &target), 0);
	assert_verdict(WIDE,
		       "read: p50 99.3us, p99 99.3us; 100.0 % of the time is of commands that "
		       "could not be split into stages\n");
}

static void a_network_that_may_be_a_wait_for_the_reader_is_called_so(void **state)
{
	add(0, NT_OP_READ, 100, (struct times){.network = 100 * US});
	t.joined = 30;
	t.joined_network_ns = t.network_ns * 3 / 10;
	assert_verdict(WIDE, "read: p50 101us, p99 101us; 99.1 % of the time in "
			     "network_transmission (network); 30.0 % of that may be a wait for the "
			     "reader instead\n");
}

static void nothing_but_given_up_commands_has_no_latency(void **state)
{
	t.cancelled = 4;
	assert_verdict(WIDE, "no command ended well\n");
}

#define VERDICT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		VERDICT_TEST(it_names_the_stage_its_share_and_its_machine),
		VERDICT_TEST(what_takes_the_most_time_is_first),
		VERDICT_TEST(too_few_commands_say_nothing),
		VERDICT_TEST(a_stage_that_is_longest_is_not_called_most),
		VERDICT_TEST(a_part_of_the_network_is_of_the_machine_that_has_most_of_it),
		VERDICT_TEST(a_place_with_more_time_in_all_is_named_as_well),
		VERDICT_TEST(a_hang_of_a_few_commands_shows_the_longest),
		VERDICT_TEST(what_cannot_be_split_is_in_no_stage),
		VERDICT_TEST(a_network_that_may_be_a_wait_for_the_reader_is_called_so),
		VERDICT_TEST(nothing_but_given_up_commands_has_no_latency),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
