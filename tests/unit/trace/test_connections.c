// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many queues there are, and who they are connected to, from the state that BPF programs keep
 * of each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/hash.h"
#include "core/time.h"
#include "trace/connections.h"
#include "trace/private.h"

#define SLOTS 16

static struct nt_queue queues[SLOTS];
static struct nt_names names[SLOTS];

/* Makes a connection that is established and identified. */
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
	/* Queues are counted again in each interval. */
	for (unsigned int i = 0; i < 2; i++) {
		connections_count(&t, &s);
		assert_int_equal(s.controllers, controllers);
		assert_int_equal(s.queues, nr_queues);
	}
	connections_free(&t);
}

/* /proc/net/tcp, in which 1144 and 1145 are ports 4420 and 4421. */
static void connections_of_others_are_not_the_targets(void **state)
{
	static const char text[] =
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
		/* it listens */
		"   0: 0100007F:1144 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 10312 1 00000000b18ba9a4 100 0 0 10 0\n"
		/* the host's end, and those of the target at both ports */
		"   1: 0100007F:AEAC 0100007F:1144 01 00000000:00000000 00:00000000 00000000     0        0 13940 2 00000000ad64cbe1 20 0 0 10 -1\n"
		"   2: 0100007F:1144 0100007F:AEAC 01 00000000:00000000 00:00000000 00000000     0        0 11850 1 00000000fe0a05d2 20 0 0 10 -1\n"
		"   3: 0100007F:1145 0100007F:AEAE 01 00000080:00000040 01:0000001B 00000000     0        0 11851 1 00000000fe0a05d3 20 0 0 10 -1\n"
		/* a user's socket at another address, and one that it does not accept */
		"   4: 0200007F:1144 0100007F:92AC 01 00000000:00000000 00:00000000 00000000  1000        0 11852 1 00000000fe0a05d4 20 0 0 10 -1\n"
		"   5: 0200007F:1144 0100007F:92AE 01 00000000:00000000 00:00000000 00000000     0        0 0 1 00000000fe0a05d5 20 0 0 10 -1\n"
		"   6: 0200007F:1144 0100007F:92B0 01 00000000:00000000 00:00000000 00000000  1000        0 0 1 00000000fe0a05d6 20 0 0 10 -1\n";
	static const uint16_t ports[] = {4420, 4421};
	char path[] = "/tmp/ntprof-sockets.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	assert_int_equal(connections_established(path, ports, 2), 2);
	assert_int_equal(connections_established(path, ports, 1), 1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(connections_established(path, ports, 2), 0);
}

static void controllers_are_counted_once_wherever_their_queues_are(void **state)
{
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
	memset(queues, 0, sizeof(queues));
	connect_queue(0, "nqn.a", 1);
	connect_queue(1, "nqn.a", 2);
	connect_queue(2, "nqn.a", 3);
	queues[1].dead_gen = queues[1].gen;
	queues[2].identified--;
	must_count(1, 1);
}

/*
 * No machine has a controller with this number. The address of an existing one would be read from
 * sysfs.
 */
#define INSTANCE 40404

static struct nt_controller controllers[INSTANCE + 1];

static struct tracer tracer_of(enum nt_side side)
{
	return (struct tracer){
		.o = {.side = side},
		.object = {.queues = queues, .names = names, .controllers = controllers},
		.nr_slots = SLOTS};
}

static void a_target_queue_has_the_names_of_its_own_generation(void **state)
{
	struct tracer t = tracer_of(NT_TARGET);
	struct queue_info q;

	connect_queue(5, "nqn.a", 7);
	strcpy(names[5].hostnqn, "nqn.h");
	queues[5].qid = 2;
	queues[5].sqsize = 128;
	connections_queue(&t, 5, 3, &q);
	assert_int_equal(q.slot, 5);
	assert_int_equal(q.gen, 3);
	assert_int_equal(q.cntlid, 7);
	assert_int_equal(q.qid, 2);
	assert_int_equal(q.sqsize, 128);
	assert_string_equal(q.subsysnqn, "nqn.a");
	assert_string_equal(q.hostnqn, "nqn.h");
	/* The names of an earlier connection of the slot are not known. */
	connections_queue(&t, 5, 2, &q);
	assert_int_equal(q.gen, 3);
	assert_string_equal(q.subsysnqn, "");
	assert_string_equal(q.hostnqn, "");
	/* Before the Connect is answered nothing is known. */
	queues[5].gen = 4;
	connections_queue(&t, 5, 4, &q);
	assert_int_equal(q.gen, 4);
	assert_int_equal(q.cntlid, NT_CNTLID_NONE);
	assert_int_equal(q.qid, 0);
	assert_int_equal(q.sqsize, 0);
	assert_string_equal(q.subsysnqn, "");
}

static void a_host_queue_has_the_names_of_its_controller(void **state)
{
	struct tracer t = tracer_of(NT_HOST);
	struct nt_controller *c = &controllers[INSTANCE];
	struct queue_info q;

	queues[5] = (struct nt_queue){.object = 1,
				      .gen = 4,
				      .identified = 4,
				      .cntlid = 7,
				      .qid = 2,
				      .instance = INSTANCE,
				      .controller = 8};
	*c = (struct nt_controller){.named = {9, 8}};
	strcpy(c->names[0].subsysnqn, "nqn.now");
	strcpy(c->names[0].hostnqn, "nqn.h");
	strcpy(c->names[1].subsysnqn, "nqn.before");
	connections_queue(&t, 5, 4, &q);
	assert_int_equal(q.instance, INSTANCE);
	assert_int_equal(q.cntlid, 7);
	assert_string_equal(q.subsysnqn, "nqn.now");
	assert_string_equal(q.hostnqn, "nqn.h");
	assert_string_equal(q.address, "");
	/* A generation with the other parity belongs to the controller before. */
	connections_queue(&t, 5, 3, &q);
	assert_string_equal(q.subsysnqn, "nqn.before");
	/* The names of another controller have replaced its names. */
	c->named[0] = 11;
	connections_queue(&t, 5, 4, &q);
	assert_string_equal(q.subsysnqn, "");
	/* A host's slot determines the queue id, even before the Connect is answered. */
	queues[5].gen = 6;
	connections_queue(&t, 5, 6, &q);
	assert_int_equal(q.qid, 2);
	assert_int_equal(q.cntlid, NT_CNTLID_NONE);
}

/*
 * The first commands of a disk come before the kernel knows its subsystem, and sysfs shows another
 * name or none. What they count waits for the name.
 */
static void a_disk_waits_for_its_name(void **state)
{
	struct tracer t = tracer_of(NT_HOST);
	struct nt_controller *c = &controllers[INSTANCE];
	const struct nt_identity unnamed = {.slot = 4, .who = 8, .instance = INSTANCE};
	struct nt_control control = {.epoch = 1};
	const struct queue_ident *id;

	t.object.control = &control;
	for (unsigned int slot = 4; slot < 6; slot++)
		queues[slot] = (struct nt_queue){.object = 1,
						 .gen = 4,
						 .identified = 4,
						 .qid = (uint16_t)(slot - 4),
						 .instance = INSTANCE,
						 .controller = 8,
						 .transport = NT_TRANSPORT_PCIE};
	*c = (struct nt_controller){.named = {9}};
	connections_learn(&t, &unnamed);
	for (unsigned int slot = 4; slot < 6; slot++) {
		assert_null(connections_identify(&t, slot, 8));
		assert_false(connections_unknown(&t, slot, 8));
	}
	strcpy(c->names[0].subsysnqn, "nqn.disk");
	for (unsigned int slot = 4; slot < 6; slot++) {
		id = connections_identify(&t, slot, 8);
		assert_non_null(id);
		assert_string_equal(id->peer, "nqn.disk");
		assert_int_equal(id->transport, NT_TRANSPORT_PCIE);
	}
	hash_free(t.ident);
}

/* A program names a controller by its first queue, which need not be its admin queue. */
static void an_admin_queue_that_is_seen_late_has_its_transport(void **state)
{
	struct nt_queue queues[8] = {0};
	struct nt_control control = {0};
	struct tracer t = {.o.side = NT_HOST,
			   .nr_slots = 8,
			   .object = {.queues = queues, .control = &control}};
	const struct nt_identity named = {.slot = 4, .who = 8, .names.subsysnqn = "nqn.disk"};

	connections_learn(&t, &named);
	queues[4] = (struct nt_queue){.controller = 8, .transport = NT_TRANSPORT_PCIE};
	assert_int_equal(connections_identify(&t, 4, 8)->transport, NT_TRANSPORT_PCIE);
	/* Another controller has the slot. */
	queues[4] = (struct nt_queue){.controller = 9, .transport = NT_TRANSPORT_TCP};
	assert_int_equal(connections_identify(&t, 4, 8)->transport, NT_TRANSPORT_PCIE);
	hash_free(t.ident);
}

/* Whoever may connect chooses how many names a slot has in an interval. */
static void thousands_of_names_of_a_slot_are_found_fast(void **state)
{
	const uint32_t nr = 30000;
	struct nt_queue queue = {.gen = 0};
	struct nt_control control = {0};
	struct tracer t = {.o.side = NT_TARGET,
			   .nr_slots = 1,
			   .object = {.queues = &queue, .control = &control}};
	const uint64_t began = monotonic_ns();

	for (uint32_t who = 1; who <= nr; who++)
		connections_learn(&t, &(struct nt_identity){.who = who, .cntlid = (uint16_t)who});
	for (uint32_t who = 1; who <= nr; who++)
		assert_int_equal(connections_identify(&t, 0, who)->cntlid, who);
	/* 0.03 s; 4 s where each is compared with all others */
	assert_true(monotonic_ns() - began < 500000000);
	hash_free(t.ident);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connections_of_others_are_not_the_targets),
		cmocka_unit_test(controllers_are_counted_once_wherever_their_queues_are),
		cmocka_unit_test(what_is_gone_or_not_known_yet_is_not_counted),
		cmocka_unit_test(a_target_queue_has_the_names_of_its_own_generation),
		cmocka_unit_test(a_host_queue_has_the_names_of_its_controller),
		cmocka_unit_test(a_disk_waits_for_its_name),
		cmocka_unit_test(an_admin_queue_that_is_seen_late_has_its_transport),
		cmocka_unit_test(thousands_of_names_of_a_slot_are_found_fast),
	};

	return cmocka_run_group_tests_name("connections", tests, NULL, NULL);
}
