// SPDX-License-Identifier: GPL-2.0-only
/* How many controllers and queues a target has, from what BPF programs leave of each queue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace/connections.h"
#include "trace/private.h"

#define SLOTS 16

static struct nt_queue queues[SLOTS];
static struct nt_names names[SLOTS];

/* Of a connection that is there and known. */
static void connect_queue(unsigned int slot, const char *subsysnqn, uint16_t cntlid)
{
	queues[slot] = (struct nt_queue){
		.object = 0x1000 + slot, .gen = 3, .identified = 3, .cntlid = cntlid};
	snprintf(names[slot].subsysnqn, sizeof(names[slot].subsysnqn), "%s", subsysnqn);
}

static void must_count(unsigned int controllers, unsigned int nr_queues)
{
	struct tracer t = {.o = {.side = NT_TARGET},
			   .object = {.queues = queues, .names = names},
			   .nr_slots = SLOTS};
	struct stats s = {.controllers = 99, .queues = 99};

	assert_int_equal(connections_init(&t), 0);
	/* Once an interval. */
	for (unsigned int i = 0; i < 2; i++) {
		connections_count(&t, &s);
		assert_int_equal(s.controllers, controllers);
		assert_int_equal(s.queues, nr_queues);
	}
	connections_free(&t);
}

static void controllers_are_counted_once_wherever_their_queues_are(void **state)
{
	(void)state;
	memset(queues, 0, sizeof(queues));
	must_count(0, 0);
	connect_queue(14, "nqn.a", 1);
	must_count(1, 1);
	connect_queue(2, "nqn.b", 1);
	connect_queue(3, "nqn.a", 2);
	connect_queue(4, "nqn.a", 1);
	connect_queue(7, "nqn.b", 1);
	connect_queue(9, "nqn.a", 1);
	must_count(3, 6);
}

static void what_is_gone_or_not_known_yet_is_not_counted(void **state)
{
	(void)state;
	memset(queues, 0, sizeof(queues));
	connect_queue(0, "nqn.a", 1);
	connect_queue(1, "nqn.a", 2);
	connect_queue(2, "nqn.a", 3);
	queues[1].dead_gen = queues[1].gen;
	queues[2].identified--;
	must_count(1, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(controllers_are_counted_once_wherever_their_queues_are),
		cmocka_unit_test(what_is_gone_or_not_known_yet_is_not_counted),
	};

	return cmocka_run_group_tests_name("connections", tests, NULL, NULL);
}
