// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors that programs have counted by connection get the name of that connection. This test stands
 * in for the map.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>
#include <cmocka.h>
#include <errno.h>

#include "core/array.h"
#include "core/stats.h"
#include "trace/connections.h"
#include "trace/histograms.h"
#include "trace/private.h"

#define SLOTS 4
#define STATUS 0x281

static struct {
	struct nt_error key[NT_ERRORS];
	uint64_t count[NT_ERRORS];
	int nr;
} map;

static struct {
	struct nt_control control;
	struct nt_queue queues[SLOTS];
	struct nt_names names[SLOTS];
	struct tracer t;
	struct stats s;
} m;

static int find(const void *key)
{
	for (int i = 0; i < map.nr; i++)
		if (!memcmp(&map.key[i], key, sizeof(map.key[i])))
			return i;
	return -1;
}

int bpf_map_get_next_key(int fd, const void *key, void *next)
{
	int at = key ? find(key) + 1 : 0;

	if (at == map.nr)
		return -ENOENT;
	memcpy(next, &map.key[at], sizeof(map.key[at]));
	return 0;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	int at = find(key);

	if (at < 0)
		return -ENOENT;
	memcpy(value, &map.count[at], sizeof(map.count[at]));
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	int at = find(key);

	assert_true(at >= 0);
	map.nr--;
	map.key[at] = map.key[map.nr];
	map.count[at] = map.count[map.nr];
	return 0;
}

static int setup(void **state)
{
	memset(&map, 0, sizeof(map));
	memset(&m, 0, sizeof(m));
	m.t = (struct tracer){
		.o = {.side = NT_TARGET},
		.object = {.control = &m.control, .queues = m.queues, .names = m.names},
		.nr_slots = SLOTS,
	};
	return connections_init(&m.t) ?: trace_errors_init(&m.t);
}

static int teardown(void **state)
{
	trace_errors_free(&m.t);
	connections_free(&m.t);
	stats_free(&m.s);
	return 0;
}

/* Generation @gen takes the slot. @name: of its host, as user space learns it; NULL: it does not */
static void come(uint32_t slot, uint32_t gen, const char *name)
{
	struct nt_identity i = {.slot = slot, .who = gen, .cntlid = 3};

	m.queues[slot].gen = gen;
	if (!name)
		return;
	snprintf(i.names.hostnqn, sizeof(i.names.hostnqn), "%s", name);
	snprintf(i.names.subsysnqn, sizeof(i.names.subsysnqn), "nqn.%s", name);
	connections_learn(&m.t, &i);
}

static void fail_of(uint32_t slot, uint32_t gen, uint64_t n)
{
	struct nt_error e = {.slot = slot, .who = gen, .op = NT_OP_READ, .status = STATUS};
	int at = find(&e);

	if (at < 0) {
		at = map.nr++;
		map.key[at] = e;
		map.count[at] = 0;
	}
	map.count[at] += n;
}

static void interval(void)
{
	stats_begin_interval(&m.s);
	assert_int_equal(trace_errors_collect(&m.t, &m.s), 0);
	connections_tidy(&m.t);
	m.control.epoch++;
}

static void assert_errors(const char *name, uint64_t total)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m.s.errors.nr; i++)
		if (!strcmp(m.s.errors.row[i].peer, name))
			n += m.s.errors.row[i].total;
	assert_int_equal(n, total);
}

static void connections_of_one_slot_have_errors_of_their_own(void **state)
{
	come(1, 1, "a");
	fail_of(1, 1, 100);
	come(1, 2, "b");
	fail_of(1, 2, 10);
	come(1, 3, "c");
	fail_of(1, 3, 1);
	interval();
	assert_errors("a", 100);
	assert_errors("b", 10);
	assert_errors("c", 1);
	fail_of(1, 3, 1);
	interval();
	assert_errors("a", 100);
	assert_errors("c", 2);
}

static void errors_have_the_subsystem_where_rows_have_it(void **state)
{
	for (unsigned int by_other = 0; by_other < 2; by_other++) {
		m.s.by_other = by_other;
		come(1, 1 + by_other, "a");
		fail_of(1, 1 + by_other, 1);
		interval();
		assert_int_equal(m.s.errors.nr, 1 + by_other);
		assert_string_equal(m.s.errors.row[by_other].other, by_other ? "nqn.a" : "");
	}
}

/* For serve, a host without a row is gone, and alerts leave out errors of hosts that are gone. */
static void who_has_only_errors_has_a_row(void **state)
{
	come(1, 1, "a");
	fail_of(1, 1, 1);
	come(2, 1, NULL);
	fail_of(2, 1, 1);
	interval();
	assert_int_equal(m.s.nr_rows, 1);
	assert_string_equal(m.s.rows[0]->peer, "a");
	assert_int_equal(m.s.rows[0]->op, NT_OP_READ);
	assert_false(m.s.rows[0]->shared);
	assert_int_equal(connections_fold(&m.t, &m.s, 1), 0);
	assert_int_equal(m.s.rows[0]->ended_ns, 0);
	come(1, 2, NULL);
	assert_int_equal(connections_fold(&m.t, &m.s, 2), 0);
	assert_int_equal(m.s.rows[0]->ended_ns, 2);
}

/* A host connects again. Errors of its old connection are read after reads of the new one. */
static void a_row_stays_that_of_the_connection_that_is_there(void **state)
{
	const struct queue_ident *id;

	come(1, 1, "a");
	interval();
	m.queues[1].dead_gen = 1;
	fail_of(1, 1, 1);
	come(2, 1, "a");
	id = connections_identify(&m.t, 2, 1);
	assert_non_null(connections_row(&m.t, &m.s, id, 2, NT_OP_READ));
	interval();
	assert_int_equal(m.s.nr_rows, 1);
	assert_int_equal(connections_fold(&m.t, &m.s, 1), 0);
	assert_int_equal(m.s.rows[0]->ended_ns, 0);
}

/* For the target, a Connect that it refused belongs to no host. */
static void errors_of_who_never_had_a_name_are_told_without_one(void **state)
{
	come(1, 1, NULL);
	fail_of(1, 1, 5);
	interval();
	/* It may still get a name. */
	assert_int_equal(m.s.errors.nr, 0);
	come(1, 2, NULL);
	interval();
	assert_errors("", 5);
	/* When tracing has ended, none will come. */
	fail_of(1, 2, 3);
	interval();
	assert_errors("", 5);
	m.t.detached = true;
	interval();
	assert_errors("", 8);
}

static uint64_t errors_of(enum nt_op op)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m.s.errors.nr; i++)
		n += m.s.errors.row[i].op == op ? m.s.errors.row[i].interval : 0;
	return n;
}

/* One host may have taken all the room. A condition may ask for errors of reads. */
static void errors_without_room_are_counted_as_nobody_s(void **state)
{
	/* Who only connects has errors of admin commands, which are no I/O queue's. */
	static const unsigned int n[][NT_OPS_NR] = {{[NT_OP_READ] = 3},
						    {[NT_OP_READ] = 2, [NT_OP_ADMIN] = 5},
						    {[NT_OP_FABRICS] = 1},
						    {0}};

	for (unsigned int i = 0; i < ARRAY_SIZE(n); i++) {
		stats_begin_interval(&m.s);
		for (unsigned int op = 0; op < NT_OPS_NR; op++)
			m.control.errors_past[op] += n[i][op];
		assert_int_equal(trace_errors_collect(&m.t, &m.s), 0);
		for (unsigned int op = 0; op < NT_OPS_NR; op++)
			assert_int_equal(errors_of((enum nt_op)op), n[i][op]);
	}
	for (size_t i = 0; i < m.s.errors.nr; i++)
		assert_int_equal(m.s.errors.row[i].status, ERRORS_OTHER);
	assert_errors("", 11);
}

/* A host that keeps trying for days must not fill the map. */
static void entries_of_those_that_are_gone_are_removed(void **state)
{
	come(2, 7, "stays");
	fail_of(2, 7, 1);
	for (uint32_t gen = 1; gen <= 3 * NT_ERRORS; gen++) {
		come(1, gen, "again");
		fail_of(1, gen, 1);
		if (gen % 5 == 0)
			interval();
		assert_true(map.nr < 16);
	}
	come(1, 3 * NT_ERRORS + 1, "again");
	interval();
	interval();
	assert_int_equal(map.nr, 1);
	assert_errors("again", 3 * NT_ERRORS);
	assert_errors("stays", 1);
	/* Its errors are still counted. */
	fail_of(2, 7, 1);
	interval();
	assert_errors("stays", 2);
}

static void what_goes_makes_room_for_who_connects(void **state)
{
	come(1, 1, "goes");
	fail_of(1, 1, 2);
	map.key[map.nr] = map.key[0];
	map.key[map.nr].op = NT_OP_FABRICS;
	map.count[map.nr++] = 1;
	m.control.errors_connecting = 5;
	interval();
	assert_int_equal(map.nr, 2);
	come(1, 2, "comes");
	interval();
	interval();
	assert_int_equal(map.nr, 0);
	assert_int_equal(m.control.errors_connecting, 4);
	assert_errors("goes", 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(connections_of_one_slot_have_errors_of_their_own),
		TEST(errors_have_the_subsystem_where_rows_have_it),
		TEST(who_has_only_errors_has_a_row),
		TEST(a_row_stays_that_of_the_connection_that_is_there),
		TEST(errors_of_who_never_had_a_name_are_told_without_one),
		TEST(errors_without_room_are_counted_as_nobody_s),
		TEST(entries_of_those_that_are_gone_are_removed),
		TEST(what_goes_makes_room_for_who_connects),
	};

	return cmocka_run_group_tests_name("errors", tests, NULL, NULL);
}
