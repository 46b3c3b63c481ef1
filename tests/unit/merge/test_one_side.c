// SPDX-License-Identifier: GPL-2.0-only
/* What one side's stream shows by itself, however often its queues reconnect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <malloc.h>
#include <cmocka.h>

#include "merge/unmatched.h"

#define QUEUES 65
#define RECONNECTS 10000
/* Memory that more rows may take. Without a limit it would be gigabytes. */
#define HELD_BYTES (64u << 20)

static void run(struct one_side *o, uint16_t ids)
{
	for (uint32_t gen = 1; gen <= RECONNECTS; gen++) {
		for (uint16_t qid = 1; qid <= QUEUES; qid++) {
			struct queue_info q = {.slot = qid,
					       .gen = gen,
					       .qid = qid,
					       .cntlid = (uint16_t)(1 + gen % ids),
					       .hostnqn = "nqn.host"};
			struct nt_record r = {.side = NT_TARGET,
					      .op = NT_OP_READ,
					      .slot = qid,
					      .gen = gen,
					      .qid = qid,
					      .points = {[NT_T_RX] = 1000, [NT_T_SENT] = 2000}};

			assert_int_equal(one_side_queue(o, &q), 0);
			if (qid == 1)
				assert_int_equal(one_side_record(o, &r, 0), 0);
		}
	}
}

static void errors_are_counted_apart(void **state)
{
	const struct queue_info q = {
		.slot = 1, .gen = 1, .qid = 3, .cntlid = 7, .hostnqn = "nqn.host"};
	const uint64_t losses[COUNTERS_NR] = {0};
	struct nt_record r = {.side = NT_TARGET,
			      .op = NT_OP_READ,
			      .slot = 1,
			      .gen = 1,
			      .status = 0x4286,
			      .points = {[NT_T_RX] = 1000, [NT_T_SENT] = 2000}};
	struct one_side *o = one_side_new(NT_TARGET);
	const struct stats *s;

	assert_non_null(o);
	assert_int_equal(one_side_queue(o, &q), 0);
	assert_int_equal(one_side_record(o, &r, 0), 0);
	r.status = 0;
	assert_int_equal(one_side_record(o, &r, 0), 0);
	s = one_side_stats(o, "6.1", 1, losses, 1);
	assert_int_equal(s->nr_rows, 1);
	assert_int_equal(s->rows[0]->total.count, 1);
	assert_int_equal(s->errors.nr, 1);
	assert_string_equal(s->errors.row[0].controller, "cntlid 7");
	assert_int_equal(s->errors.row[0].qid, 3);
	assert_int_equal(s->errors.row[0].status, 0x286);
	assert_int_equal(s->errors.row[0].total, 1);
	one_side_free(o);
}

static uint64_t commands(const struct stats *s, bool shared)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->nr_rows; i++)
		n += s->rows[i]->shared == shared ? s->rows[i]->total.count : 0;
	return n;
}

static void queues_are_known_however_often_they_reconnect(void **state)
{
	const uint64_t losses[COUNTERS_NR] = {0};
	struct one_side *o = one_side_new(NT_TARGET);
	const struct stats *s;

	assert_non_null(o);
	run(o, 4);
	s = one_side_stats(o, "6.1", 1, losses, 1);
	assert_int_equal(s->nr_rows, 4);
	assert_int_equal(commands(s, false), RECONNECTS);
	one_side_free(o);
}

static void ids_that_never_come_back_share_what_there_is(void **state)
{
	const uint64_t losses[COUNTERS_NR] = {0};
	struct one_side *o = one_side_new(NT_TARGET);
	size_t before = mallinfo2().uordblks;
	const struct stats *s;

	assert_non_null(o);
	run(o, 60000);
	s = one_side_stats(o, "6.1", 1, losses, 1);
	print_message("# %zu rows, %zu bytes\n", s->nr_rows, mallinfo2().uordblks - before);
	assert_true(mallinfo2().uordblks - before <= HELD_BYTES);
	assert_int_equal(commands(s, false) + commands(s, true), RECONNECTS);
	assert_true(commands(s, true) > 0);
	one_side_free(o);
}

static void rows_have_the_transport_of_their_queue(void **state)
{
	const uint64_t losses[COUNTERS_NR] = {0};
	const struct queue_info pcie = {
		.slot = 1, .gen = 1, .qid = 1, .transport = NT_TRANSPORT_PCIE};
	const struct nt_record r = {.side = NT_HOST,
				    .op = NT_OP_READ,
				    .shape = NT_SHAPE_CORE,
				    .slot = 1,
				    .gen = 1,
				    .qid = 1,
				    .points = {[NT_H_SUBMIT] = 1000, [NT_H_COMPLETE] = 2000}};
	struct one_side *o = one_side_new(NT_HOST);
	const struct stats *s;

	assert_non_null(o);
	assert_int_equal(one_side_queue(o, &pcie), 0);
	assert_int_equal(one_side_record(o, &r, 0), 0);
	s = one_side_stats(o, "6.1", 1, losses, 1);
	assert_int_equal(s->nr_rows, 1);
	assert_int_equal(s->rows[0]->transport, NT_TRANSPORT_PCIE);
	one_side_free(o);
}

static const struct stats *with_read(struct one_side *o, uint64_t rx, uint64_t lacking)
{
	const uint64_t losses[COUNTERS_NR] = {[NT_CNT_ARRIVAL_MISSING] = lacking};
	const struct nt_record r = {.side = NT_HOST,
				    .op = NT_OP_READ,
				    .slot = 1,
				    .gen = 1,
				    .qid = 1,
				    .points = {[NT_H_SUBMIT] = 1000,
					       [NT_H_QUEUE_RQ] = 2000,
					       [NT_H_SEND_CMD] = 4000,
					       [NT_H_RX] = rx,
					       [NT_H_C2H] = 50000,
					       [NT_H_CQE] = 51000,
					       [NT_H_COMPLETE] = 52000}};

	assert_int_equal(one_side_record(o, &r, 0), 0);
	return one_side_stats(o, "6.12", 1, losses, 1);
}

/*
 * Without arrivals the network's stage includes the network stack's time. The joined stage has both
 * names, unless other records have arrivals.
 */
static void records_without_arrivals_are_in_stages(void **state)
{
	struct one_side *o = one_side_new(NT_HOST);
	const struct stats *s;
	const struct hist *h;

	assert_non_null(o);
	s = with_read(o, 0, 1);
	h = s->stage_total[NT_OP_READ];
	assert_int_equal(h[NT_HS_NETWORK_AND_TARGET].count, 1);
	assert_int_equal(h[NT_HS_NETWORK_AND_TARGET].sum, 46000);
	assert_int_equal(h[NT_HS_NSTACK_COMPLETION].count, 0);
	assert_int_equal(h[NT_HS_BLK_COMPLETION].sum, 1000);
	assert_int_equal(s->missing, NT_HOST_ARRIVALS);
	s = with_read(o, 40000, 1);
	assert_int_equal(h[NT_HS_NETWORK_AND_TARGET].sum, 46000 + 36000);
	assert_int_equal(h[NT_HS_NSTACK_COMPLETION].sum, 10000);
	assert_int_equal(s->missing, 0);
	one_side_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_are_counted_apart),
		cmocka_unit_test(queues_are_known_however_often_they_reconnect),
		cmocka_unit_test(ids_that_never_come_back_share_what_there_is),
		cmocka_unit_test(records_without_arrivals_are_in_stages),
		cmocka_unit_test(rows_have_the_transport_of_their_queue),
	};

	return cmocka_run_group_tests_name("one_side", tests, NULL, NULL);
}
