// SPDX-License-Identifier: GPL-2.0-only
/*
 * The name of a command by each key of --by, which of its values count, and the name of a machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "merge/places.h"

static struct grouping by_keys(const char *keys)
{
	struct grouping how = {0};
	char wrong[GROUP_WRONG_LEN] = "";

	if (!group_by_parse(&how.by, keys, wrong))
		fail_msg("%s: %s", keys, wrong);
	return how;
}

static const struct nt_record record = {
	.op = NT_OP_WRITE,
	.qid = 9,
	.nsid = 4,
	.length = 8192,
	/* A write fault with the DNR bit, which is no part of the status. */
	.status = 0x4280,
	.points = {[NT_H_SUBMIT] = 5000, [NT_H_COMPLETE] = 5700},
};
static const struct merge_connection connection = {
	.host_instance = 3, .cntlid = 7, .qid = 2, .subsysnqn = "nqn.a", .hostnqn = "nqn.h"};
static const struct queue_info queue = {
	.instance = 3, .cntlid = 7, .qid = 2, .subsysnqn = "nqn.a", .hostnqn = "nqn.h"};
static const struct group_recorder recorder = {
	.source = {[NT_HOST] = "stock", [NT_TARGET] = "tracepoints"},
	.stream = 5,
	.began_ns = 4000};

static void a_name_has_what_is_asked_for(void **state)
{
	const struct grouping all = by_keys("op,queue,size,nsid,status,source,ctrl,nqn,host");
	const struct grouping op = by_keys("op");
	struct group_name both, host, target, plain;

	group_name_merged(&both, &all.by, &connection, &record, &recorder);
	assert_int_equal(both.op, NT_OP_WRITE);
	assert_int_equal(both.queue, 2);
	assert_int_equal(both.size, 8192);
	assert_int_equal(both.nsid, 4);
	assert_int_equal(both.status, 0x4280 & NT_STATUS_MASK);
	assert_false(both.cancelled || both.shared);
	assert_string_equal(both.source, "stock/tracepoints");
	assert_string_equal(both.ctrl, "nvme3");
	assert_string_equal(both.nqn, "nqn.a");
	assert_string_equal(both.host, "nqn.h");
	group_name_side(&host, &all.by, NT_HOST, &queue, &record, &recorder);
	assert_memory_equal(&host, &both, sizeof(both));
	group_name_side(&target, &all.by, NT_TARGET, &queue, &record, &recorder);
	assert_string_equal(target.ctrl, "cntlid 7");
	assert_true(target.ctrl_of != host.ctrl_of);
	group_name_merged(&plain, &op.by, &connection, &record, &recorder);
	assert_string_equal(plain.ctrl, "");
	assert_string_equal(plain.source, "");
	assert_string_equal(plain.nqn, "");
	assert_string_equal(plain.host, "");
	group_name_side(&plain, &op.by, NT_HOST, &queue, &record, &recorder);
	assert_string_equal(plain.ctrl, "");
	assert_string_equal(plain.nqn, "");
	assert_string_equal(plain.host, "");
}

static void a_machine_and_a_single_source_are_named(void **state)
{
	const struct grouping how = by_keys("ctrl,source");
	struct group_recorder who = recorder;
	struct group_name a, b;

	who.machine = "db1";
	who.source[NT_TARGET] = NULL;
	group_name_merged(&a, &how.by, &connection, &record, &who);
	assert_string_equal(a.ctrl, "db1:nvme3");
	assert_string_equal(a.source, "stock");
	who.source[NT_TARGET] = who.source[NT_HOST];
	who.source[NT_HOST] = NULL;
	who.stream++;
	group_name_side(&b, &how.by, NT_TARGET, &queue, &record, &who);
	assert_string_equal(b.ctrl, "db1:cntlid 7");
	assert_string_equal(b.source, "stock");
	assert_true(a.ctrl_of != b.ctrl_of);
}

static void a_queue_that_nobody_told_of_has_no_name(void **state)
{
	const struct grouping how = by_keys("ctrl,nqn,host");
	struct group_name n;

	group_name_side(&n, &how.by, NT_HOST, NULL, &record, &recorder);
	assert_true(n.shared);
	assert_int_equal(n.queue, 0);
	assert_string_equal(n.ctrl, "");
	assert_int_equal(n.op, NT_OP_WRITE);
}

static void a_status_is_what_the_command_set_calls_it(void **state)
{
	const struct grouping how = by_keys("status");
	struct nt_record r = record;
	struct group_name n;

	r.op = NT_OP_FABRICS;
	group_name_side(&n, &how.by, NT_HOST, &queue, &r, &recorder);
	assert_int_equal(n.status, (0x4280 & NT_STATUS_MASK) | GROUP_STATUS_FABRICS);
	r.status = 0;
	group_name_side(&n, &how.by, NT_HOST, &queue, &r, &recorder);
	assert_int_equal(n.status, 0);
	r = record;
	r.op = NT_OPS_NR;
	r.flags = NT_F_CANCELLED;
	group_name_side(&n, &how.by, NT_HOST, &queue, &r, &recorder);
	assert_true(n.cancelled);
	assert_int_equal(n.status, 0);
	assert_int_equal(n.op, NT_OP_OTHER);
}

/*
 * The latency of a command that failed counts only where such commands are groups of their own, and
 * if it is known.
 */
static void what_failed_has_a_latency_only_by_status(void **state)
{
	static const struct {
		const char *keys;
		uint16_t status, flags;
		bool measured, counts;
	} cases[] = {
		{"op", 0, 0, true, true},
		{"op", 0x281, 0, true, false},
		{"status", 0x281, 0, true, true},
		{"status", 0x281, 0, false, false},
		{"op", 0, NT_F_CANCELLED, true, false},
		{"status", 0, NT_F_CANCELLED, true, true},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct grouping how = by_keys(cases[i].keys);
		struct groups *g = groups_new(&how);
		struct nt_record r = record;
		struct group_row row;
		struct group_name n;

		r.status = cases[i].status;
		r.flags = cases[i].flags;
		if (!cases[i].measured)
			r.points[NT_H_COMPLETE] = 0;
		group_name_side(&n, &how.by, NT_HOST, &queue, &r, &recorder);
		assert_int_equal(groups_add_record(g, &n, &r, &recorder), 0);
		assert_int_equal(groups_finish(g, 0, 0, 0), 0);
		groups_total(g, &row);
		assert_int_equal(row.cell->count, cases[i].counts);
		assert_int_equal(row.cell->failed, !cases[i].counts);
		assert_int_equal(row.cell->sum, cases[i].counts ? 700 : 0);
		assert_int_equal(row.cell->min, cases[i].counts ? 700 : 0);
		assert_int_equal(row.cell->stand_for, cases[i].counts);
		groups_free(g);
	}
}

static void a_command_of_a_sample_stands_for_others(void **state)
{
	const struct grouping how = by_keys("op");
	struct group_recorder who = recorder;
	struct groups *g = groups_new(&how);
	struct group_name n;
	struct group_row row;

	group_name_side(&n, &how.by, NT_HOST, &queue, &record, &recorder);
	for (who.sample = 0; who.sample < 4; who.sample++) {
		struct nt_record r = record;

		r.status = 0;
		assert_int_equal(groups_add_record(g, &n, &r, &who), 0);
	}
	assert_int_equal(groups_finish(g, 0, 0, 0), 0);
	groups_total(g, &row);
	assert_int_equal(row.cell->count, 4);
	assert_int_equal(row.cell->stand_for, 1 + 1 + 2 + 3);
	assert_int_equal(row.cell->stand_for_bytes, 7 * 8192);
	groups_free(g);
}

static void machines_of_one_name_are_told_apart_by_their_streams(void **state)
{
	struct machine what = {.side = NT_HOST, .name = "db1", .sample = 7};
	struct machines m = {0};

	assert_int_equal(machines_init(&m, 5), 0);
	machines_set(&m, 0, &what, "a.ntp");
	assert_string_equal(machines_get(&m, 0)->name, "db1");
	assert_int_equal(machines_get(&m, 0)->sample, 7);
	/* A host and a target with one name are one machine. */
	what.side = NT_TARGET;
	machines_set(&m, 1, &what, "b.ntp");
	assert_string_equal(machines_get(&m, 1)->name, "db1");
	machines_set(&m, 2, &what, "c.ntp");
	assert_string_equal(machines_get(&m, 2)->name, "db1(c.ntp)");
	/* The same stream again is not another one. */
	machines_set(&m, 1, &what, "b.ntp");
	assert_string_equal(machines_get(&m, 1)->name, "db1");
	what.name[0] = '\0';
	machines_set(&m, 3, &what, "/0123456789/0123456789/0123456789/0123456789");
	assert_string_equal(machines_get(&m, 3)->name, "3456789/0123456789/0123456789/0123456789");
	assert_int_equal(m.told, 5);
	assert_false(machines_get(&m, 4)->known);
	assert_true(machines_get(&m, 3)->known);
	assert_false(machines_get(&m, 5)->known);
	assert_false(machines_get(NULL, 0)->known);
	machines_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_has_what_is_asked_for),
		cmocka_unit_test(a_machine_and_a_single_source_are_named),
		cmocka_unit_test(a_queue_that_nobody_told_of_has_no_name),
		cmocka_unit_test(a_status_is_what_the_command_set_calls_it),
		cmocka_unit_test(what_failed_has_a_latency_only_by_status),
		cmocka_unit_test(a_command_of_a_sample_stands_for_others),
		cmocka_unit_test(machines_of_one_name_are_told_apart_by_their_streams),
	};

	return cmocka_run_group_tests_name("group names", tests, NULL, NULL);
}
