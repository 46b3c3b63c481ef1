// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of points, stages and segments: stages add up to the whole, and the tables are those
 * of the design.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/counters.h"
#include "core/array.h"
#include "core/names.h"
#include "core/segments.h"
#include "core/stats.h"

#define ROUNDS 1000
#define END NT_POINTS_MAX

/* The points that each shape needs, in order. They are repeated here on purpose. */
static const unsigned int needed[NT_SIDES][NT_SHAPES_NR][NT_POINTS_MAX + 1] =
	{
		[NT_HOST] =
			{
				[NT_SHAPE_READ] = {NT_H_SUBMIT, NT_H_QUEUE_RQ, NT_H_SEND_CMD,
						   NT_H_RX, NT_H_C2H, NT_H_CQE, NT_H_COMPLETE, END},
				[NT_SHAPE_INLINE_WRITE] = {NT_H_SUBMIT, NT_H_QUEUE_RQ,
							   NT_H_SEND_CMD, NT_H_RX, NT_H_CQE,
							   NT_H_COMPLETE, END},
				[NT_SHAPE_R2T_WRITE] = {NT_H_SUBMIT, NT_H_QUEUE_RQ, NT_H_SEND_CMD,
							NT_H_R2T_RX,
							NT_H_R2T, NT_H_SEND_DATA, NT_H_RX, NT_H_CQE,
							NT_H_COMPLETE, END},
				[NT_SHAPE_NO_DATA] = {NT_H_SUBMIT, NT_H_QUEUE_RQ,
						      NT_H_SEND_CMD, NT_H_RX, NT_H_CQE,
						      NT_H_COMPLETE, END},
			},
		[NT_TARGET] =
			{
				[NT_SHAPE_READ] = {NT_T_RX, NT_T_CMD, NT_T_EXEC, NT_T_DONE,
						   NT_T_SEND, NT_T_SENT, END},
				[NT_SHAPE_INLINE_WRITE] = {NT_T_RX, NT_T_CMD, NT_T_EXEC, NT_T_DONE,
							   NT_T_SEND, NT_T_SENT, END},
				[NT_SHAPE_R2T_WRITE] = {NT_T_RX, NT_T_CMD, NT_T_SEND_R2T,
							NT_T_DATA_RX, NT_T_DATA, NT_T_EXEC,
							NT_T_DONE, NT_T_SEND, NT_T_SENT, END},
				[NT_SHAPE_NO_DATA] = {NT_T_RX, NT_T_CMD, NT_T_EXEC,
						      NT_T_DONE, NT_T_SEND, NT_T_SENT, END},
			},
};

static unsigned int needed_nr(unsigned int side, unsigned int shape)
{
	unsigned int n = 0;

	while (needed[side][shape][n] != END)
		n++;
	return n;
}

/* A record with only the points that its shape needs, strictly increasing. */
static struct nt_record record_make(unsigned int side, unsigned int shape)
{
	struct nt_record r = {.side = (__u8)side, .shape = (__u8)shape};
	uint64_t t = 1 + (uint64_t)random();

	for (unsigned int i = 0; needed[side][shape][i] != END; i++) {
		r.points[needed[side][shape][i]] = t;
		t += 1 + (uint64_t)random() % 10000000;
	}
	return r;
}

static uint64_t stages_sum(const uint64_t stage[NT_STAGES_MAX])
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
		sum += stage[i];
	return sum;
}

/* Splits a record of a machine where no point is missing. */
static bool split(const struct nt_record *r, uint64_t stage[NT_STAGES_MAX])
{
	uint8_t into[NT_STAGES_MAX];

	return record_stages_joined(r, 0, into, stage);
}

static void stages_of_every_shape_add_up_to_the_whole(void **state)
{
	for (unsigned int side = 0; side < NT_SIDES; side++) {
		for (unsigned int shape = 0; shape < NT_SHAPE_CORE; shape++) {
			unsigned int first = needed[side][shape][0];
			unsigned int last = needed[side][shape][needed_nr(side, shape) - 1];

			for (int i = 0; i < ROUNDS; i++) {
				struct nt_record r = record_make(side, shape);
				uint64_t stage[NT_STAGES_MAX];

				assert_true(split(&r, stage));
				assert_int_equal(stages_sum(stage),
						 r.points[last] - r.points[first]);
			}
		}
	}
}

static void points_of_other_shapes_change_nothing(void **state)
{
	for (unsigned int side = 0; side < NT_SIDES; side++) {
		for (unsigned int shape = 0; shape < NT_SHAPE_CORE; shape++) {
			struct nt_record r = record_make(side, shape);
			uint64_t stage[NT_STAGES_MAX], again[NT_STAGES_MAX];

			assert_true(split(&r, stage));
			for (unsigned int p = 0; p < NT_POINTS_MAX; p++) {
				if (!r.points[p])
					r.points[p] = (uint64_t)random();
			}
			assert_true(split(&r, again));
			assert_memory_equal(stage, again, sizeof(stage));
		}
	}
}

static void a_missing_point_leaves_no_stage(void **state)
{
	static const uint64_t zero[NT_STAGES_MAX];

	for (unsigned int side = 0; side < NT_SIDES; side++) {
		for (unsigned int shape = 0; shape < NT_SHAPE_CORE; shape++) {
			for (unsigned int i = 0; i < needed_nr(side, shape); i++) {
				struct nt_record r = record_make(side, shape);
				uint64_t stage[NT_STAGES_MAX];

				if (side == NT_HOST && needed[side][shape][i] == NT_H_SUBMIT)
					continue;
				r.points[needed[side][shape][i]] = 0;
				assert_false(split(&r, stage));
				assert_memory_equal(stage, zero, sizeof(zero));
			}
		}
	}
}

static void without_submit_a_host_record_begins_at_queue_rq(void **state)
{
	for (unsigned int shape = 0; shape < NT_SHAPE_CORE; shape++) {
		struct nt_record r = record_make(NT_HOST, shape);
		uint64_t stage[NT_STAGES_MAX], sum = 0;

		r.points[NT_H_SUBMIT] = 0;
		assert_true(split(&r, stage));
		assert_int_equal(stage[NT_HS_BLK_SUBMISSION], 0);
		for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
			sum += stage[i];
		assert_int_equal(sum, r.points[NT_H_COMPLETE] - r.points[NT_H_QUEUE_RQ]);
	}
}

static void two_points_out_of_order_leave_no_stage(void **state)
{
	static const uint64_t zero[NT_STAGES_MAX];

	for (unsigned int side = 0; side < NT_SIDES; side++) {
		for (unsigned int shape = 0; shape < NT_SHAPE_CORE; shape++) {
			const unsigned int *p = needed[side][shape];

			for (unsigned int i = 0; i + 1 < needed_nr(side, shape); i++) {
				struct nt_record r = record_make(side, shape);
				uint64_t stage[NT_STAGES_MAX], t = r.points[p[i]];

				r.points[p[i]] = r.points[p[i + 1]];
				r.points[p[i + 1]] = t;
				assert_false(split(&r, stage));
				assert_memory_equal(stage, zero, sizeof(zero));
			}
		}
	}
}

static void equal_points_are_in_order(void **state)
{
	for (unsigned int side = 0; side < NT_SIDES; side++) {
		for (unsigned int shape = 0; shape < NT_SHAPE_CORE; shape++) {
			struct nt_record r = record_make(side, shape);
			uint64_t stage[NT_STAGES_MAX];

			for (unsigned int p = 0; p < NT_POINTS_MAX; p++)
				r.points[p] = r.points[p] ? 4711 : 0;
			assert_true(split(&r, stage));
			assert_int_equal(stages_sum(stage), 0);
		}
	}
}

static void nonsense_side_or_shape_has_no_stage(void **state)
{
	struct nt_record r = record_make(NT_HOST, NT_SHAPE_READ);
	uint64_t stage[NT_STAGES_MAX];

	r.shape = NT_SHAPES_NR;
	assert_false(split(&r, stage));
	r.shape = NT_SHAPE_READ;
	r.side = NT_SIDES;
	assert_false(split(&r, stage));
}

/* The times are distinct powers of ten, so that a stage's sum shows which segments it contains. */
static void host_r2t_write_adds_its_second_round_trip(void **state)
{
	struct nt_record r = {.side = NT_HOST, .shape = NT_SHAPE_R2T_WRITE};
	uint64_t stage[NT_STAGES_MAX];

	r.points[NT_H_SUBMIT] = 1000000000;
	r.points[NT_H_QUEUE_RQ] = r.points[NT_H_SUBMIT] + 1;
	r.points[NT_H_SEND_CMD] = r.points[NT_H_QUEUE_RQ] + 10;
	r.points[NT_H_SENT_CMD] = r.points[NT_H_SEND_CMD] + 50;
	r.points[NT_H_R2T_RX] = r.points[NT_H_SEND_CMD] + 100;
	r.points[NT_H_R2T] = r.points[NT_H_R2T_RX] + 1000;
	r.points[NT_H_SEND_DATA] = r.points[NT_H_R2T] + 10000;
	r.points[NT_H_SENT_DATA] = r.points[NT_H_SEND_DATA] + 50000;
	r.points[NT_H_RX] = r.points[NT_H_SEND_DATA] + 100000;
	r.points[NT_H_CQE] = r.points[NT_H_RX] + 1000000;
	r.points[NT_H_COMPLETE] = r.points[NT_H_CQE] + 10000000;
	assert_true(split(&r, stage));
	assert_int_equal(stage[NT_HS_BLK_SUBMISSION], 1);
	assert_int_equal(stage[NT_HS_NVME_TCP_SUBMISSION], 10010);
	assert_int_equal(stage[NT_HS_NETWORK_AND_TARGET], 100100);
	assert_int_equal(stage[NT_HS_NSTACK_COMPLETION], 1001000);
	assert_int_equal(stage[NT_HS_NVME_TCP_COMPLETION], 0);
	assert_int_equal(stage[NT_HS_BLK_COMPLETION], 10000000);
}

static void host_read_splits_its_completion_at_the_data(void **state)
{
	struct nt_record r = {.side = NT_HOST, .shape = NT_SHAPE_READ};
	uint64_t stage[NT_STAGES_MAX];

	r.points[NT_H_SUBMIT] = 1000000000;
	r.points[NT_H_QUEUE_RQ] = r.points[NT_H_SUBMIT] + 1;
	r.points[NT_H_SEND_CMD] = r.points[NT_H_QUEUE_RQ] + 10;
	r.points[NT_H_RX] = r.points[NT_H_SEND_CMD] + 100;
	r.points[NT_H_C2H] = r.points[NT_H_RX] + 1000;
	r.points[NT_H_CQE] = r.points[NT_H_C2H] + 10000;
	r.points[NT_H_COMPLETE] = r.points[NT_H_CQE] + 100000;
	assert_true(split(&r, stage));
	assert_int_equal(stage[NT_HS_BLK_SUBMISSION], 1);
	assert_int_equal(stage[NT_HS_NVME_TCP_SUBMISSION], 10);
	assert_int_equal(stage[NT_HS_NETWORK_AND_TARGET], 100);
	assert_int_equal(stage[NT_HS_NSTACK_COMPLETION], 1000);
	assert_int_equal(stage[NT_HS_NVME_TCP_COMPLETION], 10000);
	assert_int_equal(stage[NT_HS_BLK_COMPLETION], 100000);
}

static void target_r2t_write_waits_for_network_and_host(void **state)
{
	struct nt_record r = {.side = NT_TARGET, .shape = NT_SHAPE_R2T_WRITE};
	uint64_t stage[NT_STAGES_MAX];

	r.points[NT_T_RX] = 1000000000;
	r.points[NT_T_CMD] = r.points[NT_T_RX] + 1;
	r.points[NT_T_SEND_R2T] = r.points[NT_T_CMD] + 10;
	r.points[NT_T_DATA_RX] = r.points[NT_T_SEND_R2T] + 100;
	r.points[NT_T_DATA] = r.points[NT_T_DATA_RX] + 1000;
	r.points[NT_T_DATA_DONE] = r.points[NT_T_DATA] + 5000;
	r.points[NT_T_EXEC] = r.points[NT_T_DATA] + 10000;
	r.points[NT_T_DONE] = r.points[NT_T_EXEC] + 100000;
	r.points[NT_T_SEND] = r.points[NT_T_DONE] + 1000000;
	r.points[NT_T_SENT] = r.points[NT_T_SEND] + 10000000;
	assert_true(split(&r, stage));
	assert_int_equal(stage[NT_TS_NSTACK_SUBMISSION], 1001);
	assert_int_equal(stage[NT_TS_NVMET_TCP_SUBMISSION], 10010);
	assert_int_equal(stage[NT_TS_NETWORK_AND_HOST], 100);
	assert_int_equal(stage[NT_TS_TARGET_SUBSYSTEM], 100000);
	assert_int_equal(stage[NT_TS_NVMET_TCP_COMPLETION], 1000000);
	assert_int_equal(stage[NT_TS_SEND_RESPONSE], 10000000);
}

static void only_r2t_writes_wait_for_the_host(void **state)
{
	for (unsigned int shape = 0; shape < NT_SHAPE_CORE; shape++) {
		struct nt_record r = record_make(NT_TARGET, shape);
		uint64_t stage[NT_STAGES_MAX];

		assert_true(split(&r, stage));
		if (shape == NT_SHAPE_R2T_WRITE)
			assert_int_not_equal(stage[NT_TS_NETWORK_AND_HOST], 0);
		else
			assert_int_equal(stage[NT_TS_NETWORK_AND_HOST], 0);
	}
}

static void stages_have_the_names_of_the_design(void **state)
{
	static const char *const host[] = {
		"blk_submission",    "nvme_tcp_submission", "network_and_target",
		"nstack_completion", "nvme_tcp_completion", "transport_and_device",
		"blk_completion",
	};
	static const char *const target[] = {
		"nstack_submission", "nvmet_tcp_submission", "network_and_host",
		"target_subsystem",  "nvmet_tcp_completion", "send_response",
	};

	assert_int_equal(stages_nr(NT_HOST), ARRAY_SIZE(host));
	assert_int_equal(stages_nr(NT_TARGET), ARRAY_SIZE(target));
	for (unsigned int i = 0; i < ARRAY_SIZE(host); i++)
		assert_string_equal(stage_name(NT_HOST, i), host[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(target); i++)
		assert_string_equal(stage_name(NT_TARGET, i), target[i]);
}

static void points_have_the_names_of_the_design(void **state)
{
	static const char *const host[] = {
		"submit",    "queue_rq",  "send_cmd", "sent_cmd", "r2t_rx", "r2t",
		"send_data", "sent_data", "rx",	      "c2h",	  "cqe",    "complete",
	};
	static const char *const target[] = {
		"rx",	     "cmd",  "send_r2t", "data_rx", "data",
		"data_done", "exec", "done",	 "send",    "sent",
	};

	assert_int_equal(points_nr(NT_HOST), ARRAY_SIZE(host));
	assert_int_equal(points_nr(NT_TARGET), ARRAY_SIZE(target));
	for (unsigned int i = 0; i < ARRAY_SIZE(host); i++)
		assert_string_equal(point_name(NT_HOST, i), host[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(target); i++)
		assert_string_equal(point_name(NT_TARGET, i), target[i]);
}

static void names_out_of_range_are_unknown(void **state)
{
	assert_string_equal(stage_name(NT_HOST, NT_HOST_STAGES_NR), "unknown");
	assert_string_equal(stage_name(NT_TARGET, NT_TARGET_STAGES_NR), "unknown");
	assert_string_equal(point_name(NT_HOST, NT_HOST_POINTS_NR), "unknown");
	assert_string_equal(point_name(NT_TARGET, NT_TD_ISSUE), "disk_rq");
	assert_string_equal(point_name(NT_TARGET, NT_TD_DONE), "disk_end");
	assert_string_equal(point_name(NT_TARGET, NT_FILE_WORK), "file_work");
	assert_string_equal(point_name(NT_TARGET, NT_FILE_CACHE), "page_cache");
	assert_string_equal(point_name(NT_TARGET, NT_FILE_POINTS_END), "unknown");
	assert_string_equal(op_name(NT_OPS_NR), "unknown");
	assert_string_equal(shape_name(NT_SHAPES_NR), "unknown");
	assert_string_equal(side_name(NT_SIDES), "unknown");
	assert_string_equal(counter_name(COUNTERS_NR), "unknown");
	assert_string_equal(counter_help(COUNTERS_NR), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stages_of_every_shape_add_up_to_the_whole),
		cmocka_unit_test(points_of_other_shapes_change_nothing),
		cmocka_unit_test(a_missing_point_leaves_no_stage),
		cmocka_unit_test(without_submit_a_host_record_begins_at_queue_rq),
		cmocka_unit_test(two_points_out_of_order_leave_no_stage),
		cmocka_unit_test(equal_points_are_in_order),
		cmocka_unit_test(nonsense_side_or_shape_has_no_stage),
		cmocka_unit_test(host_r2t_write_adds_its_second_round_trip),
		cmocka_unit_test(host_read_splits_its_completion_at_the_data),
		cmocka_unit_test(target_r2t_write_waits_for_network_and_host),
		cmocka_unit_test(only_r2t_writes_wait_for_the_host),
		cmocka_unit_test(stages_have_the_names_of_the_design),
		cmocka_unit_test(points_have_the_names_of_the_design),
		cmocka_unit_test(names_out_of_range_are_unknown),
	};

	return cmocka_run_group_tests_name("points", tests, NULL, NULL);
}
