// SPDX-License-Identifier: GPL-2.0-only
/* Stages that only a missing point separates are joined, and no time of the command is lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/names.h"
#include "core/segments.h"
#include "core/stats.h"

#define H(point) (1u << NT_H_##point)
#define T(point) (1u << NT_T_##point)

/* All points are set, in order. Those that the shape does not pass do not matter. */
static struct nt_record record_make(enum nt_side side, enum nt_shape shape)
{
	struct nt_record r = {.side = (__u8)side, .shape = (__u8)shape};

	for (unsigned int i = 0; i < points_nr(side); i++)
		r.points[i] = 1000 + 100 * i * i;
	return r;
}

static const char *name_of(enum nt_side side, uint32_t missing, unsigned int stage)
{
	static char name[256];
	uint8_t into[NT_STAGES_MAX];

	stages_join(side, missing, into);
	assert_int_equal(into[stage], stage);
	return stage_joined_name(side, into, stage, name, sizeof(name));
}

static void without_missing_points_every_stage_is_its_own(void **state)
{
	uint8_t into[NT_STAGES_MAX];

	for (int side = 0; side < NT_SIDES; side++) {
		stages_join(side, 0, into);
		for (unsigned int i = 0; i < stages_nr(side); i++) {
			if (side == NT_HOST && i == NT_HS_DEVICE)
				continue;
			assert_int_equal(into[i], i);
			assert_string_equal(name_of(side, 0, i), stage_name(side, i));
		}
	}
}

static void a_missing_point_joins_the_two_stages_that_it_parts(void **state)
{
	assert_string_equal(name_of(NT_HOST, H(SEND_CMD), NT_HS_NVME_TCP_SUBMISSION),
			    "nvme_tcp_submission+network_and_target");
	assert_string_equal(name_of(NT_HOST, H(C2H), NT_HS_NSTACK_COMPLETION),
			    "nstack_completion+nvme_tcp_completion");
	assert_string_equal(name_of(NT_TARGET, T(DONE), NT_TS_TARGET_SUBSYSTEM),
			    "target_subsystem+nvmet_tcp_completion");
	assert_string_equal(name_of(NT_TARGET, T(SEND_R2T), NT_TS_NVMET_TCP_SUBMISSION),
			    "nvmet_tcp_submission+network_and_host");
}

static void two_missing_points_in_a_row_join_three_stages(void **state)
{
	assert_string_equal(name_of(NT_TARGET, T(EXEC) | T(DONE), NT_TS_NVMET_TCP_SUBMISSION),
			    "nvmet_tcp_submission+target_subsystem+nvmet_tcp_completion");
}

/* A stage that no command passes is not shown, and is joined with no other. */
static void a_host_has_the_stages_of_its_transports(void **state)
{
	const uint32_t ends = segments_points(NT_HOST) & ~segments_ends(NT_HOST);
	uint8_t into[NT_STAGES_MAX];

	stages_join(NT_HOST, 0, into);
	assert_int_equal(into[NT_HS_DEVICE], STAGE_ABSENT);
	stages_join(NT_HOST, NT_WITH_CORE, into);
	for (unsigned int i = 0; i < stages_nr(NT_HOST); i++)
		assert_int_equal(into[i], i);
	stages_join(NT_HOST, NT_WITH_CORE | NT_WITHOUT_TCP, into);
	for (unsigned int i = 0; i < stages_nr(NT_HOST); i++)
		assert_int_equal(into[i], i == NT_HS_BLK_SUBMISSION || i == NT_HS_DEVICE ||
							  i == NT_HS_BLK_COMPLETION
						  ? i
						  : STAGE_ABSENT);
	assert_string_equal(name_of(NT_HOST, NT_WITH_CORE | NT_WITHOUT_TCP | ends, NT_HS_DEVICE),
			    "transport_and_device+blk_completion");
	assert_true(segments_only_ends(NT_HOST, NT_WITH_CORE | NT_WITHOUT_TCP | ends));
}

/* Of another transport than TCP. */
static void a_command_of_any_transport_has_three_stages(void **state)
{
	const uint32_t missing[] = {NT_WITH_CORE, NT_WITH_CORE | NT_WITHOUT_TCP};
	struct nt_record r = record_make(NT_HOST, NT_SHAPE_CORE);
	uint64_t stage[NT_STAGES_MAX];
	uint8_t into[NT_STAGES_MAX];

	for (size_t i = 0; i < 2; i++) {
		assert_true(record_stages_joined(&r, record_missing(&r, missing[i]), into, stage));
		assert_int_equal(stage[NT_HS_BLK_SUBMISSION],
				 r.points[NT_H_QUEUE_RQ] - r.points[NT_H_SUBMIT]);
		assert_int_equal(stage[NT_HS_DEVICE], r.points[NT_H_CQE] - r.points[NT_H_QUEUE_RQ]);
		assert_int_equal(stage[NT_HS_BLK_COMPLETION],
				 r.points[NT_H_COMPLETE] - r.points[NT_H_CQE]);
		assert_int_equal(into[NT_HS_NETWORK_AND_TARGET], STAGE_ABSENT);
	}
	/* A stream that says that there is none has a damaged record. */
	assert_false(record_stages_joined(&r, 0, into, stage));
	assert_int_equal(record_lacks(&r), 0);
	r.points[NT_H_COMPLETE] = r.points[NT_H_CQE] = 0;
	for (unsigned int p = NT_H_SEND_CMD; p < NT_H_CQE; p++)
		r.points[p] = 0;
	assert_int_equal(record_stage_under_way(&r), NT_HS_DEVICE);
	r = record_make(NT_HOST, NT_SHAPE_READ);
	record_stages_joined(&r, record_missing(&r, NT_WITH_CORE), into, stage);
	assert_int_equal(into[NT_HS_DEVICE], STAGE_ABSENT);
}

static void a_stage_without_a_beginning_is_unknown(void **state)
{
	uint8_t into[NT_STAGES_MAX];

	stages_join(NT_TARGET, T(RX), into);
	assert_int_equal(into[NT_TS_NSTACK_SUBMISSION], STAGE_UNKNOWN);
	assert_int_equal(into[NT_TS_NVMET_TCP_SUBMISSION], NT_TS_NVMET_TCP_SUBMISSION);
	/* A stage that is joined with an unknown one is unknown, too. */
	stages_join(NT_TARGET, T(RX) | T(DATA_RX), into);
	assert_int_equal(into[NT_TS_NETWORK_AND_HOST], STAGE_UNKNOWN);
}

/* The names, of a host and of a target that have only the ends; and what they add up to. */
static void the_ends_bound_two_stages_of_a_host_and_one_of_a_target(void **state)
{
	uint64_t stage[NT_STAGES_MAX];
	uint8_t into[NT_STAGES_MAX];

	for (int side = 0; side < NT_SIDES; side++) {
		uint32_t missing = segments_points(side) & ~segments_ends(side);

		assert_true(segments_only_ends(side, missing));
		assert_false(segments_only_ends(side, 0));
		assert_false(segments_only_ends(side, missing & (missing - 1)));
		for (int shape = 0; shape < NT_SHAPE_CORE; shape++) {
			struct nt_record r = record_make(side, shape);

			for (unsigned int i = 0; i < points_nr(side); i++)
				if (!(segments_ends(side) & 1u << i))
					r.points[i] = 0;
			assert_true(record_stages_joined(&r, missing, into, stage));
			if (side == NT_HOST) {
				assert_int_equal(stage[NT_HS_BLK_SUBMISSION],
						 r.points[NT_H_QUEUE_RQ] - r.points[NT_H_SUBMIT]);
				assert_int_equal(stage[NT_HS_NVME_TCP_SUBMISSION],
						 r.points[NT_H_COMPLETE] - r.points[NT_H_QUEUE_RQ]);
			} else {
				assert_int_equal(stage[NT_TS_NVMET_TCP_SUBMISSION],
						 record_latency_ns(&r));
				assert_int_equal(record_latency_ns(&r),
						 r.points[NT_T_DONE] - r.points[NT_T_CMD]);
				r.flags = NT_F_CANCELLED;
				assert_int_equal(record_end_ns(&r), 0);
			}
		}
	}
	assert_string_equal(name_of(NT_HOST, segments_points(NT_HOST) & ~segments_ends(NT_HOST),
				    NT_HS_NVME_TCP_SUBMISSION),
			    "nvme_tcp_submission+network_and_target+nstack_completion+"
			    "nvme_tcp_completion+blk_completion");
	assert_string_equal(name_of(NT_TARGET,
				    segments_points(NT_TARGET) & ~segments_ends(NT_TARGET),
				    NT_TS_NVMET_TCP_SUBMISSION),
			    "nvmet_tcp_submission+network_and_host+target_subsystem");
}

static void joined_stages_add_up_to_the_whole(void **state)
{
	uint64_t stage[NT_STAGES_MAX], sum;
	uint8_t into[NT_STAGES_MAX];

	for (int side = 0; side < NT_SIDES; side++) {
		unsigned int first = side == NT_HOST ? NT_H_SUBMIT : NT_T_RX;
		unsigned int last = points_nr(side) - 1;

		for (int shape = 0; shape < NT_SHAPE_CORE; shape++) {
			/* Any set of the points between the first and the last. */
			for (uint32_t missing = 0; missing < 1u << last; missing += 2) {
				struct nt_record r = record_make(side, shape);

				for (unsigned int i = 0; i < last; i++)
					if (missing & 1u << i)
						r.points[i] = 0;
				assert_true(record_stages_joined(&r, missing, into, stage));
				sum = 0;
				for (unsigned int i = 0; i < NT_STAGES_MAX; i++) {
					sum += stage[i];
					if (into[i] != i)
						assert_int_equal(stage[i], 0);
				}
				assert_int_equal(sum, r.points[last] - r.points[first]);
			}
		}
	}
}

static void a_point_that_is_missing_by_accident_leaves_no_stage(void **state)
{
	struct nt_record r = record_make(NT_TARGET, NT_SHAPE_READ);
	uint64_t stage[NT_STAGES_MAX];
	uint8_t into[NT_STAGES_MAX];

	r.points[NT_T_CMD] = 0;
	r.points[NT_T_DONE] = 0;
	assert_false(record_stages_joined(&r, T(DONE), into, stage));
	for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
		assert_int_equal(stage[i], 0);
}

/*
 * stage_split(), segment by segment of the table. Return: whether all points that are needed are
 * there and in order.
 */
static bool split_by_table(const struct nt_record *r, uint32_t missing, const uint8_t *into,
			   uint64_t *stage)
{
	size_t nr;
	const struct segment *s = segments_of(r->side, &nr);
	uint64_t last = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t from = missing & 1u << s[i].from ? last : r->points[s[i].from];
		uint64_t to = missing & 1u << s[i].to ? from : r->points[s[i].to];
		uint8_t at = into[s[i].stage];

		if (!(s[i].shapes & 1u << r->shape))
			continue;
		last = to;
		/*
		 * The point submit may be missing: it depends on a setting of the disk (iostats).
		 */
		if (at == STAGE_UNKNOWN ||
		    (!from && r->side == NT_HOST && s[i].from == NT_H_SUBMIT))
			continue;
		if (!from || to < from)
			return false;
		stage[at] += to - from;
	}
	return true;
}

static void a_split_is_that_of_the_table(void **state)
{
	uint64_t stage[NT_STAGES_MAX], expected[NT_STAGES_MAX];
	struct stage_split split;
	bool good;

	for (int side = 0; side < NT_SIDES; side++) {
		for (uint32_t missing = 0; missing < 1u << points_nr(side); missing++) {
			stage_split_init(&split, side, missing);
			for (unsigned int i = 0; i < NT_SHAPE_CORE * 3; i++) {
				struct nt_record r = record_make(side, i % NT_SHAPE_CORE);

				/*
				 * All points that exist, then without one more point, then with two
				 * points in the wrong order.
				 */
				for (unsigned int p = 0; p < points_nr(side); p++)
					if (missing & 1u << p)
						r.points[p] = 0;
				if (i / NT_SHAPE_CORE == 1)
					r.points[missing % points_nr(side)] = 0;
				if (i / NT_SHAPE_CORE == 2)
					r.points[missing % points_nr(side)] = 1;
				memset(expected, 0, sizeof(expected));
				good = split_by_table(&r, missing, split.into, expected);
				if (!good)
					memset(expected, 0, sizeof(expected));
				assert_int_equal(stage_split(&split, &r, stage), good);
				assert_memory_equal(stage, expected, sizeof(stage));
			}
		}
	}
}

/* Each point that is reached ends a stage, and the command is in the next stage of the chain. */
static void a_command_under_way_is_in_the_stage_after_its_last_point(void **state)
{
	static const struct {
		enum nt_side side;
		enum nt_shape shape;
		unsigned int last;
		int stage;
	} known[] = {
		{NT_HOST, NT_SHAPE_READ, NT_H_QUEUE_RQ, NT_HS_NVME_TCP_SUBMISSION},
		{NT_HOST, NT_SHAPE_READ, NT_H_SEND_CMD, NT_HS_NETWORK_AND_TARGET},
		{NT_HOST, NT_SHAPE_READ, NT_H_SENT_CMD, NT_HS_NETWORK_AND_TARGET},
		{NT_HOST, NT_SHAPE_READ, NT_H_C2H, NT_HS_NVME_TCP_COMPLETION},
		{NT_HOST, NT_SHAPE_READ, NT_H_CQE, NT_HS_BLK_COMPLETION},
		{NT_HOST, NT_SHAPE_READ, NT_H_COMPLETE, -1},
		{NT_HOST, NT_SHAPE_R2T_WRITE, NT_H_R2T, NT_HS_NVME_TCP_SUBMISSION},
		{NT_HOST, NT_SHAPE_R2T_WRITE, NT_H_SENT_DATA, NT_HS_NETWORK_AND_TARGET},
		{NT_TARGET, NT_SHAPE_READ, NT_T_CMD, NT_TS_NVMET_TCP_SUBMISSION},
		{NT_TARGET, NT_SHAPE_READ, NT_T_EXEC, NT_TS_TARGET_SUBSYSTEM},
		{NT_TARGET, NT_SHAPE_READ, NT_T_SEND, NT_TS_SEND_RESPONSE},
		{NT_TARGET, NT_SHAPE_R2T_WRITE, NT_T_SEND_R2T, NT_TS_NETWORK_AND_HOST},
		{NT_TARGET, NT_SHAPE_R2T_WRITE, NT_T_DATA, NT_TS_NVMET_TCP_SUBMISSION},
		{NT_TARGET, NT_SHAPE_R2T_WRITE, NT_T_DATA_DONE, NT_TS_NVMET_TCP_SUBMISSION},
	};
	struct nt_record r = {.side = NT_HOST};

	assert_int_equal(record_stage_under_way(&r), -1);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		unsigned int r2t = known[i].side == NT_HOST ? NT_H_R2T : NT_T_SEND_R2T;

		r = record_make(known[i].side, known[i].shape);
		for (unsigned int p = known[i].last + 1; p < NT_POINTS_MAX; p++)
			r.points[p] = 0;
		if (known[i].shape != NT_SHAPE_R2T_WRITE)
			r.points[r2t] = 0;
		assert_int_equal(record_stage_under_way(&r), known[i].stage);
	}
}

/*
 * If one arrival is missing, both count as missing: it is unknown which of the stages beside them
 * has the time.
 */
static void a_record_lacks_the_arrivals_of_which_one_is_not_known(void **state)
{
	for (int side = 0; side < NT_SIDES; side++) {
		const unsigned int first = side == NT_HOST ? NT_H_RX : NT_T_RX;
		const unsigned int of_r2t = side == NT_HOST ? NT_H_R2T_RX : NT_T_DATA_RX;
		const uint32_t arrivals = 1u << first | 1u << of_r2t;

		for (int shape = 0; shape < NT_SHAPE_CORE; shape++) {
			struct nt_record r = record_make((enum nt_side)side, (enum nt_shape)shape);

			assert_int_equal(record_lacks(&r), 0);
			r.points[of_r2t] = 0;
			assert_int_equal(record_lacks(&r),
					 shape == NT_SHAPE_R2T_WRITE ? arrivals : 0);
			r.points[first] = 0;
			assert_int_equal(record_lacks(&r), arrivals);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_missing_points_every_stage_is_its_own),
		cmocka_unit_test(a_missing_point_joins_the_two_stages_that_it_parts),
		cmocka_unit_test(two_missing_points_in_a_row_join_three_stages),
		cmocka_unit_test(a_host_has_the_stages_of_its_transports),
		cmocka_unit_test(a_command_of_any_transport_has_three_stages),
		cmocka_unit_test(a_stage_without_a_beginning_is_unknown),
		cmocka_unit_test(the_ends_bound_two_stages_of_a_host_and_one_of_a_target),
		cmocka_unit_test(joined_stages_add_up_to_the_whole),
		cmocka_unit_test(a_point_that_is_missing_by_accident_leaves_no_stage),
		cmocka_unit_test(a_split_is_that_of_the_table),
		cmocka_unit_test(a_record_lacks_the_arrivals_of_which_one_is_not_known),
		cmocka_unit_test(a_command_under_way_is_in_the_stage_after_its_last_point),
	};

	return cmocka_run_group_tests_name("join", tests, NULL, NULL);
}
