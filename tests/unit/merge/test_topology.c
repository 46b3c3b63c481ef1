// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which endpoints may be one connection, which streams have the same clock, and to which endpoint a
 * record belongs. An endpoint is one side's view of a connection.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "merge/topology.h"

enum { HOST, TARGET };

/* Two streams, each with one queue in slot 1. */
static struct topology *two_sides(void)
{
	static struct topology t;
	static const struct queue_info q = {.slot = 1, .gen = 1, .cntlid = 7, .qid = 2};

	t = (struct topology){0};
	assert_int_equal(topology_queue(&t, HOST, NT_HOST, &q), 0);
	assert_int_equal(topology_queue(&t, TARGET, NT_TARGET, &q), 0);
	return &t;
}

static struct endpoint *endpoint_of(const struct topology *t, unsigned int stream, uint32_t gen,
				    uint16_t cntlid)
{
	const struct nt_record r = {.slot = 1, .gen = gen, .cntlid = cntlid};

	return topology_endpoint(t, stream, &r);
}

static void endpoints_that_may_be_of_one_connection_agree_in_all_that_is_known(void **state)
{
	static const struct endpoint a = {
		.side = NT_HOST, .q = {.cntlid = 7, .qid = 2, .subsysnqn = "s", .hostnqn = "h"}};
	static const struct {
		struct endpoint b;
		bool may;
	} cases[] = {
		{{.stream = 1, .q = {.cntlid = 7, .qid = 2, .subsysnqn = "s", .hostnqn = "h"}},
		 true},
		{{.stream = 1, .q = {.cntlid = 7, .qid = 2}}, true},
		{{.stream = 0, .q = {.cntlid = 7, .qid = 2}}, false},
		{{.stream = 1, .q = {.cntlid = 8, .qid = 2}}, false},
		{{.stream = 1, .q = {.cntlid = 7, .qid = 3}}, false},
		{{.stream = 1, .q = {.cntlid = 7, .qid = 2, .subsysnqn = "t"}}, false},
		{{.stream = 1, .q = {.cntlid = 7, .qid = 2, .hostnqn = "i"}}, false},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct endpoint b = cases[i].b;

		b.side = NT_TARGET;
		assert_int_equal(endpoint_compatible(&a, &b), cases[i].may);
		assert_int_equal(endpoint_compatible(&b, &a), cases[i].may);
		b.side = NT_HOST;
		assert_false(endpoint_compatible(&a, &b));
	}
}

/* Copies of a running virtual machine have one boot id, but their wall clocks were set again. */
static void streams_of_one_boot_and_one_wall_clock_have_one_clock(void **state)
{
	static const struct {
		uint64_t boot[2], to_wall[2];
		bool one;
	} cases[] = {
		{{5, 5}, {1000, 1000}, true},	  {{5, 5}, {1000, 1001000}, true},
		{{5, 5}, {1001000, 1000}, true},  {{5, 5}, {1000, 1001001}, false},
		{{5, 5}, {1001001, 1000}, false}, {{5, 6}, {1000, 1000}, false},
		{{0, 0}, {1000, 1000}, false},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct topology *t = two_sides();
		const struct endpoint *host = endpoint_of(t, HOST, 1, 7),
				      *target = endpoint_of(t, TARGET, 1, 7);
		struct link *l;

		for (unsigned int k = 0; k < 2; k++) {
			t->streams[k].boot = cases[i].boot[k];
			t->streams[k].to_wall = cases[i].to_wall[k];
		}
		assert_null(topology_link_known(t, host, target));
		l = topology_link(t, target, host);
		assert_non_null(l);
		assert_int_equal(l->offset.known, cases[i].one);
		assert_int_equal(l->host_stream, HOST);
		assert_int_equal(l->target_stream, TARGET);
		assert_ptr_equal(topology_link(t, host, target), l);
		assert_ptr_equal(topology_link_known(t, target, host), l);
		topology_free(t);
	}
}

static void an_endpoint_is_free_when_its_partner_is_gone_or_quiet(void **state)
{
	enum { QUIET_RECORDS = 8, QUIET_NS = 100000000 };
	struct topology *t = two_sides();
	struct endpoint *host = endpoint_of(t, HOST, 1, 7), *target = endpoint_of(t, TARGET, 1, 7);

	assert_true(topology_is_free(t, host));
	topology_bind(t, host, target, topology_link(t, host, target));
	assert_ptr_equal(host->connection, target->connection);
	assert_int_equal(host->connection->host_stream, HOST);
	assert_int_equal(host->connection->target_stream, TARGET);
	/* Halves are free until they are matched after a Connect. */
	assert_true(topology_is_free(t, host) && topology_is_free(t, target));
	host->reconnected = target->reconnected = false;
	assert_false(topology_is_free(t, host) || topology_is_free(t, target));
	target->current = 0;
	assert_true(topology_is_free(t, host));
	assert_false(topology_is_free(t, target));
	target->current = 1;
	t->streams[TARGET].ended = true;
	assert_true(topology_is_free(t, host));
	assert_false(topology_is_free(t, target));
	t->streams[TARGET].ended = false;
	host->matched_ns = 5;
	host->waited = QUIET_RECORDS;
	t->streams[HOST].newest = 5 + QUIET_NS;
	assert_false(topology_is_free(t, host));
	t->streams[HOST].newest++;
	assert_true(topology_is_free(t, host));
	host->waited--;
	assert_false(topology_is_free(t, host));
	topology_free(t);
}

/*
 * Its records were given up under the name of its stream alone. Now they count for the connection.
 */
static void what_an_endpoint_gave_up_goes_with_it(void **state)
{
	struct topology *t = two_sides();
	struct endpoint *host = endpoint_of(t, HOST, 1, 7), *target = endpoint_of(t, TARGET, 1, 7);
	struct merge_connection *alone = topology_connection(t, target), *both;

	assert_int_equal(alone->host_stream, MERGE_NO_STREAM);
	assert_true(alone->offset_low > alone->offset_high);
	/* Another endpoint of that name has given up records as well. */
	alone->target_only = 10;
	alone->ambiguous = 20;
	target->only = 3;
	target->ambiguous = 4;
	topology_bind(t, host, target, topology_link(t, host, target));
	both = host->connection;
	assert_int_equal(alone->target_only, 7);
	assert_int_equal(alone->ambiguous, 16);
	assert_int_equal(both->target_only, 3);
	assert_int_equal(both->host_only, 0);
	assert_int_equal(both->ambiguous, 4);
	assert_int_equal(target->only + target->ambiguous, 0);
	topology_free(t);
}

static void a_record_is_of_its_generation_and_controller(void **state)
{
	struct topology *t = two_sides();
	struct queue_info q = {.slot = 1, .gen = 1, .cntlid = 8, .qid = 2};
	struct endpoint *seven = endpoint_of(t, HOST, 1, 7), *eight;

	assert_int_equal(topology_queue(t, HOST, NT_HOST, &q), 0);
	eight = endpoint_of(t, HOST, 1, 8);
	assert_ptr_not_equal(seven, eight);
	assert_int_equal(seven->current, 0);
	assert_int_equal(eight->current, 1);
	assert_ptr_equal(endpoint_of(t, HOST, 1, 7), seven);
	/* A controller that is not known is the newest one. */
	assert_ptr_equal(endpoint_of(t, HOST, 1, 9), eight);
	assert_null(endpoint_of(t, HOST, 2, 8));
	for (q.gen = 2; q.gen <= TOPOLOGY_GENERATIONS; q.gen++) {
		assert_int_equal(topology_queue(t, HOST, NT_HOST, &q), 0);
		assert_ptr_equal(endpoint_of(t, HOST, q.gen, 8), eight);
	}
	/*
	 * After that many generations the oldest one, which was of the other controller, was
	 * dropped.
	 */
	assert_int_equal(seven->refs, 0);
	assert_ptr_equal(endpoint_of(t, HOST, 1, 7), eight);
	assert_int_equal(topology_queue(t, HOST, NT_HOST, &q), 0);
	assert_null(endpoint_of(t, HOST, 1, 8));
	topology_sweep(t);
	assert_int_equal(t->nr_endpoints, 2);
	topology_free(t);
}

/*
 * A queue that lacked a value and then has it is the same queue. With a different value it is
 * another one.
 */
static void a_queue_that_becomes_known_stays_the_same(void **state)
{
	static const struct {
		struct queue_info before, after;
		bool same;
	} cases[] = {
		{{.cntlid = 0xffff, .qid = 2}, {.cntlid = 7, .qid = 2}, true},
		{{.cntlid = 0, .qid = 2}, {.cntlid = 7, .qid = 2}, true},
		{{.cntlid = 7, .qid = 2},
		 {.cntlid = 7, .qid = 2, .subsysnqn = "s", .hostnqn = "h"},
		 true},
		{{.cntlid = 7, .qid = 2}, {.cntlid = 8, .qid = 2}, false},
		{{.cntlid = 7, .qid = 2}, {.cntlid = 7, .qid = 3}, false},
		{{.cntlid = 7, .qid = 2}, {.cntlid = 7, .qid = 2, .instance = 1}, false},
		{{.cntlid = 7, .subsysnqn = "s"}, {.cntlid = 7, .subsysnqn = "t"}, false},
		{{.cntlid = 7, .hostnqn = "h"}, {.cntlid = 7, .hostnqn = "i"}, false},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		static struct topology t;
		struct queue_info q[2] = {cases[i].before, cases[i].after};

		t = (struct topology){0};
		for (unsigned int k = 0; k < 2; k++) {
			q[k].slot = q[k].gen = 1;
			assert_int_equal(topology_queue(&t, HOST, NT_HOST, &q[k]), 0);
		}
		assert_int_equal(t.nr_endpoints, cases[i].same ? 1 : 2);
		assert_int_equal(endpoint_of(&t, HOST, 1, q[1].cntlid)->q.cntlid, q[1].cntlid);
		topology_free(&t);
	}
}

static void what_is_past_a_limit_is_left_out(void **state)
{
	struct topology *t = two_sides();
	struct queue_info q = {.slot = TOPOLOGY_SLOTS_MAX - 1, .gen = 1, .cntlid = 7, .qid = 2};

	assert_int_equal(topology_queue(t, HOST, NT_HOST, &q), 0);
	assert_false(topology_left_out(t, HOST));
	q.slot++;
	assert_int_equal(topology_queue(t, HOST, NT_HOST, &q), 0);
	assert_true(topology_left_out(t, HOST));
	assert_false(topology_left_out(t, TARGET));
	q.slot = 1;
	assert_int_equal(topology_queue(t, TOPOLOGY_STREAMS_MAX - 1, NT_HOST, &q), 0);
	assert_false(topology_left_out(t, TOPOLOGY_STREAMS_MAX - 1));
	assert_int_equal(topology_queue(t, TOPOLOGY_STREAMS_MAX, NT_HOST, &q), 0);
	assert_true(topology_left_out(t, TOPOLOGY_STREAMS_MAX));
	assert_int_equal(t->open[NT_HOST], 2);
	assert_int_equal(t->open[NT_TARGET], 1);
	topology_free(t);
}

/* Half of all slots is divided among the streams of a side; one of them takes the other half. */
static void slots_are_shared_by_the_streams_of_a_side(void **state)
{
	struct topology *t = two_sides();
	struct queue_info q = {.gen = 1, .cntlid = 7, .qid = 2};
	const uint32_t most = TOPOLOGY_SLOTS_MAX / 4 * 3;

	assert_int_equal(topology_stream_begins(t, 2, NT_TARGET), 0);
	for (; q.slot < most; q.slot++)
		assert_int_equal(topology_queue(t, 2, NT_TARGET, &q), 0);
	assert_false(topology_left_out(t, 2));
	assert_int_equal(topology_queue(t, 2, NT_TARGET, &q), 0);
	assert_true(topology_left_out(t, 2));
	assert_null(topology_endpoint(t, 2, &(struct nt_record){.slot = most, .gen = 1}));
	/* The first stream of the side has one already. */
	for (q.slot = 2; q.slot <= TOPOLOGY_SLOTS_MAX / 4; q.slot++)
		assert_int_equal(topology_queue(t, TARGET, NT_TARGET, &q), 0);
	assert_false(topology_left_out(t, TARGET));
	assert_int_equal(topology_queue(t, TARGET, NT_TARGET, &q), 0);
	assert_true(topology_left_out(t, TARGET));
	/* A slot that is there goes on, and so does the other side. */
	q.slot = 1;
	q.gen++;
	assert_int_equal(topology_queue(t, TARGET, NT_TARGET, &q), 0);
	assert_non_null(endpoint_of(t, TARGET, 2, 7));
	q.slot = 2;
	assert_int_equal(topology_queue(t, HOST, NT_HOST, &q), 0);
	assert_false(topology_left_out(t, HOST));
	topology_stream_restart(t, 2);
	assert_int_equal(topology_queue(t, 2, NT_TARGET, &q), 0);
	assert_non_null(topology_endpoint(t, 2, &(struct nt_record){.slot = 2, .gen = 2}));
	topology_free(t);
}

/*
 * A host calls its one controller by ever new instances, and each time its queue is found to be the
 * target's. What is left is for another host of that target.
 */
static void no_host_takes_the_connections_of_a_target_from_another(void **state)
{
	enum { OTHER_HOST = 2 };
	struct topology *t = two_sides();
	struct queue_info q = {.slot = 1, .cntlid = 7, .qid = 2};
	struct endpoint *target = endpoint_of(t, TARGET, 1, 7), *host;
	unsigned int refused = 0;

	assert_int_equal(topology_stream_begins(t, OTHER_HOST, NT_HOST), 0);
	for (q.gen = 2; q.gen < TOPOLOGY_CONNECTIONS_MAX + 1000; q.gen++) {
		q.instance = q.gen;
		assert_int_equal(topology_queue(t, HOST, NT_HOST, &q), 0);
		host = endpoint_of(t, HOST, q.gen, 7);
		topology_bind(t, host, target, topology_link(t, host, target));
		refused += !topology_connection(t, host);
	}
	assert_true(refused > 0);
	for (q.instance = 0; q.instance < TOPOLOGY_CONNECTIONS_MAX / 4; q.instance++) {
		q.gen = q.instance + 1;
		assert_int_equal(topology_queue(t, OTHER_HOST, NT_HOST, &q), 0);
		host = endpoint_of(t, OTHER_HOST, q.gen, 7);
		topology_bind(t, host, target, topology_link(t, host, target));
		assert_non_null(topology_connection(t, host));
	}
	topology_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			endpoints_that_may_be_of_one_connection_agree_in_all_that_is_known),
		cmocka_unit_test(streams_of_one_boot_and_one_wall_clock_have_one_clock),
		cmocka_unit_test(an_endpoint_is_free_when_its_partner_is_gone_or_quiet),
		cmocka_unit_test(what_an_endpoint_gave_up_goes_with_it),
		cmocka_unit_test(a_record_is_of_its_generation_and_controller),
		cmocka_unit_test(a_queue_that_becomes_known_stays_the_same),
		cmocka_unit_test(what_is_past_a_limit_is_left_out),
		cmocka_unit_test(slots_are_shared_by_the_streams_of_a_side),
		cmocka_unit_test(no_host_takes_the_connections_of_a_target_from_another),
	};

	return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
