// SPDX-License-Identifier: GPL-2.0-only
/* How long each stage of a command took, by those of its points that are there. */
#define NT_SIDES_HERE ~0u
#include "bpf/host.h"

/* Points are so far apart that no two sums of differences are equal. */
#define AT(point) (1000 + (100ULL << (point)))
#define D(from, to) (AT(to) - AT(from))
#define NONE ~0ULL
#define UNKNOWN 0xff /* an unknown stage: see stages_join() */
#define OP NT_OP_WRITE
#define CPU 5

static const __u8 apart[NT_STAGES_MAX] = {0, 1, 2, 3, 4, 5, 6};

static int setup(void **state)
{
	kernel_reset();
	nt_knobs.missing = 0;
	nt_knobs.no_histograms = 0;
	memcpy((void *)nt_knobs.into, apart, sizeof(apart));
	return 0;
}

/*
 * @lacking: bits of the points that this command does not have
 * @missing, @into: as the loader sets them
 * @took: NONE: the stage is not counted
 */
static const struct {
	enum nt_side side;
	enum nt_shape shape;
	__u32 lacking, missing, unknown;
	__u8 into[NT_STAGES_MAX];
	__u64 took[NT_STAGES_MAX];
	bool lacks_arrivals;
} cases[] = {
#define H(point) NT_H_##point
#define T(point) NT_T_##point
#define HD(from, to) D(H(from), H(to))
#define TD(from, to) D(T(from), T(to))
#define HOST_BEGIN HD(SUBMIT, QUEUE_RQ), HD(QUEUE_RQ, SEND_CMD)
#define TARGET_END TD(EXEC, DONE), TD(DONE, SEND), TD(SEND, SENT)
	{NT_HOST,
	 NT_SHAPE_READ,
	 0,
	 0,
	 0,
	 {0, 1, 2, 3, 4, 5, 6},
	 {HOST_BEGIN, HD(SEND_CMD, RX), HD(RX, C2H), HD(C2H, CQE), NONE, HD(CQE, COMPLETE)},
	 false},
	{NT_HOST,
	 NT_SHAPE_INLINE_WRITE,
	 0,
	 0,
	 0,
	 {0, 1, 2, 3, 4, 5, 6},
	 {HOST_BEGIN, HD(SEND_CMD, RX), HD(RX, CQE), NONE, NONE, HD(CQE, COMPLETE)},
	 false},
	{NT_HOST,
	 NT_SHAPE_NO_DATA,
	 0,
	 0,
	 0,
	 {0, 1, 2, 3, 4, 5, 6},
	 {HOST_BEGIN, HD(SEND_CMD, RX), HD(RX, CQE), NONE, NONE, HD(CQE, COMPLETE)},
	 false},
	{NT_HOST,
	 NT_SHAPE_R2T_WRITE,
	 0,
	 0,
	 0,
	 {0, 1, 2, 3, 4, 5, 6},
	 {HD(SUBMIT, QUEUE_RQ), HD(QUEUE_RQ, SEND_CMD) + HD(R2T, SEND_DATA),
	  HD(SEND_CMD, R2T_RX) + HD(SEND_DATA, RX), HD(R2T_RX, R2T) + HD(RX, CQE), NONE, NONE,
	  HD(CQE, COMPLETE)},
	 false},
	/* Points that one command does not have. */
	{NT_HOST,
	 NT_SHAPE_READ,
	 1u << NT_H_SUBMIT,
	 0,
	 1u << NT_HS_BLK_SUBMISSION,
	 {0, 1, 2, 3, 4, 5, 6},
	 {NONE, HD(QUEUE_RQ, SEND_CMD), HD(SEND_CMD, RX), HD(RX, C2H), HD(C2H, CQE), NONE,
	  HD(CQE, COMPLETE)},
	 false},
	{NT_HOST,
	 NT_SHAPE_READ,
	 1u << NT_H_RX,
	 0,
	 0,
	 {0, 1, 2, 3, 4, 5, 6},
	 {HOST_BEGIN, HD(SEND_CMD, C2H), NONE, HD(C2H, CQE), NONE, HD(CQE, COMPLETE)},
	 true},
	{NT_HOST,
	 NT_SHAPE_NO_DATA,
	 1u << NT_H_RX | 1u << NT_H_C2H,
	 0,
	 0,
	 {0, 1, 2, 3, 4, 5, 6},
	 {HOST_BEGIN, HD(SEND_CMD, CQE), NONE, NONE, NONE, HD(CQE, COMPLETE)},
	 true},
	{NT_HOST,
	 NT_SHAPE_R2T_WRITE,
	 1u << NT_H_R2T_RX,
	 0,
	 0,
	 {0, 1, 2, 3, 4, 5, 6},
	 {HD(SUBMIT, QUEUE_RQ), HD(QUEUE_RQ, SEND_CMD) + HD(R2T, SEND_DATA),
	  HD(SEND_CMD, R2T) + HD(SEND_DATA, RX), NONE, NONE, NONE, HD(CQE, COMPLETE)},
	 true},
	/* Points that the kernel does not have. */
	{NT_HOST,
	 NT_SHAPE_READ,
	 1u << NT_H_C2H,
	 1u << NT_H_C2H,
	 0,
	 {0, 1, 2, 3, 3, 5, 6},
	 {HOST_BEGIN, HD(SEND_CMD, RX), HD(RX, CQE), NONE, NONE, HD(CQE, COMPLETE)},
	 false},
	{NT_HOST,
	 NT_SHAPE_READ,
	 NT_HOST_ARRIVALS,
	 NT_HOST_ARRIVALS,
	 0,
	 {0, 1, 2, 2, 4, 5, 6},
	 {HOST_BEGIN, HD(SEND_CMD, C2H), NONE, HD(C2H, CQE), NONE, HD(CQE, COMPLETE)},
	 false},
	{NT_HOST,
	 NT_SHAPE_R2T_WRITE,
	 NT_HOST_ARRIVALS,
	 NT_HOST_ARRIVALS,
	 0,
	 {0, 1, 2, 2, 4, 5, 6},
	 {HD(SUBMIT, QUEUE_RQ), HD(QUEUE_RQ, SEND_CMD) + HD(R2T, SEND_DATA),
	  HD(SEND_CMD, R2T) + HD(SEND_DATA, CQE), NONE, NONE, NONE, HD(CQE, COMPLETE)},
	 false},
	{NT_TARGET,
	 NT_SHAPE_READ,
	 0,
	 0,
	 0,
	 {0, 1, 2, 3, 4, 5, 6},
	 {TD(RX, CMD), TD(CMD, EXEC), NONE, TARGET_END, NONE},
	 false},
	{NT_TARGET,
	 NT_SHAPE_INLINE_WRITE,
	 0,
	 0,
	 0,
	 {0, 1, 2, 3, 4, 5, 6},
	 {TD(RX, CMD), TD(CMD, EXEC), NONE, TARGET_END, NONE},
	 false},
	{NT_TARGET,
	 NT_SHAPE_NO_DATA,
	 0,
	 0,
	 0,
	 {0, 1, 2, 3, 4, 5, 6},
	 {TD(RX, CMD), TD(CMD, EXEC), NONE, TARGET_END, NONE},
	 false},
	{NT_TARGET,
	 NT_SHAPE_R2T_WRITE,
	 0,
	 0,
	 0,
	 {0, 1, 2, 3, 4, 5, 6},
	 {TD(RX, CMD) + TD(DATA_RX, DATA), TD(CMD, SEND_R2T) + TD(DATA, EXEC),
	  TD(SEND_R2T, DATA_RX), TARGET_END, NONE},
	 false},
	{NT_TARGET,
	 NT_SHAPE_READ,
	 1u << NT_T_RX,
	 0,
	 0,
	 {0, 1, 2, 3, 4, 5, 6},
	 {NONE, TD(CMD, EXEC), NONE, TARGET_END, NONE},
	 true},
	{NT_TARGET,
	 NT_SHAPE_R2T_WRITE,
	 1u << NT_T_DATA_RX,
	 0,
	 0,
	 {0, 1, 2, 3, 4, 5, 6},
	 {NONE, TD(CMD, SEND_R2T) + TD(DATA, EXEC), TD(SEND_R2T, DATA), TARGET_END, NONE},
	 true},
	{NT_TARGET,
	 NT_SHAPE_READ,
	 1u << NT_T_EXEC,
	 1u << NT_T_EXEC,
	 0,
	 {0, 1, 2, 1, 4, 5, 6},
	 {TD(RX, CMD), TD(CMD, DONE), NONE, NONE, TD(DONE, SEND), TD(SEND, SENT), NONE},
	 false},
	{NT_TARGET,
	 NT_SHAPE_R2T_WRITE,
	 1u << NT_T_EXEC,
	 1u << NT_T_EXEC,
	 0,
	 {0, 1, 2, 1, 4, 5, 6},
	 {TD(RX, CMD) + TD(DATA_RX, DATA), TD(CMD, SEND_R2T) + TD(DATA, DONE),
	  TD(SEND_R2T, DATA_RX), NONE, TD(DONE, SEND), TD(SEND, SENT), NONE},
	 false},
	{NT_TARGET,
	 NT_SHAPE_READ,
	 1u << NT_T_DONE | 1u << NT_T_SEND,
	 1u << NT_T_DONE | 1u << NT_T_SEND,
	 0,
	 {0, 1, 2, 3, 3, 3, 6},
	 {TD(RX, CMD), TD(CMD, EXEC), NONE, TD(EXEC, SENT), NONE, NONE, NONE},
	 false},
	/* A reader of the record does not take the first stage for a known one either. */
	{NT_TARGET,
	 NT_SHAPE_READ,
	 NT_TARGET_ARRIVALS,
	 NT_TARGET_ARRIVALS,
	 0,
	 {UNKNOWN, 1, UNKNOWN, 3, 4, 5, 6},
	 {AT(NT_T_CMD), TD(CMD, EXEC), NONE, TARGET_END, NONE},
	 false},
};

static void make_record(struct nt_record *r, enum nt_shape shape, __u32 lacking)
{
	*r = (struct nt_record){.op = OP, .shape = shape};
	for (unsigned int i = 0; i < NT_POINTS_MAX; i++)
		r->points[i] = lacking & 1u << i ? 0 : AT(i);
}

static bool count_case(enum nt_side side, struct nt_record *r, __u32 unknown)
{
	return side == NT_HOST
		       ? stages_count(NT_HOST, r, r->shape, unknown, CPU, NT_STAGES_SHARED)
		       : stages_count(NT_TARGET, r, r->shape, unknown, CPU, NT_STAGES_SHARED);
}

static void stages_are_those_of_the_shape_and_of_the_points(void **state)
{
	for (unsigned int c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct nt_record r, before;
		const struct nt_stage_hist *h;

		setup(state);
		nt_control.epoch = 3;
		nt_knobs.missing = cases[c].missing;
		memcpy((void *)nt_knobs.into, cases[c].into, sizeof(apart));
		make_record(&r, cases[c].shape, cases[c].lacking);
		before = r;
		assert_true(count_case(cases[c].side, &r, cases[c].unknown));
		assert_memory_equal(&r, &before, sizeof(r));
		assert_int_equal(counted(NT_CNT_ARRIVAL_MISSING), cases[c].lacks_arrivals);
		assert_int_equal(counted(NT_CNT_POINT_MISSING), 0);
		assert_int_equal(nt_stages_of[CPU].at[OP], 1);
		h = nt_first_stages[1].h;
		assert_int_equal(h[0].key, OP + 1);
		for (unsigned int i = 0; i < NT_STAGES_MAX; i++) {
			const bool is_counted = cases[c].took[i] != NONE;
			const __u64 took = is_counted ? cases[c].took[i] : 0;

			assert_int_equal(h[i].sum, took);
			assert_int_equal(h[i].max[1], took);
			assert_int_equal(h[i].max[0], 0);
			assert_int_equal(h[i].max_epoch[1], 3);
			assert_int_equal(h[i].buckets[nt_bucket(took) / 4], is_counted);
		}
	}
}

/* An interval may end after stages_count() has looked at it: see stages_lacking(). */
static void a_maximum_is_in_the_interval_in_which_it_is_counted(void **state)
{
	struct nt_stage_hists *s = &nt_first_stages[1];
	struct nt_record r;

	nt_control.epoch = 3;
	make_record(&r, NT_SHAPE_READ, 1u << NT_H_RX);
	assert_true(count_case(NT_HOST, &r, 0));
	nt_control.epoch = 4;
	r.points[NT_H_COMPLETE] += 1000000;
	assert_int_equal(stages_lacking(&r, s, NT_HOST, NT_SHAPE_READ, 0), 1);
	r.points[NT_H_COMPLETE] -= 1000000;
	assert_true(count_case(NT_HOST, &r, 0));
	assert_true(s->h[NT_HS_BLK_COMPLETION].max[0] > 1000000);
}

/*
 * A command is in no stage if it lacks a point, or has one before its predecessor. A point at the
 * same time as its predecessor is in order.
 */
static void what_lacks_a_point_is_in_no_stage(void **state)
{
	static const __u32 needed[NT_SIDES][2] = {
		{1u << H(QUEUE_RQ) | 1u << H(SEND_CMD) | 1u << H(CQE) | 1u << H(COMPLETE),
		 1u << H(R2T) | 1u << H(SEND_DATA)},
		{1u << T(CMD) | 1u << T(EXEC) | 1u << T(DONE) | 1u << T(SEND) | 1u << T(SENT),
		 1u << T(SEND_R2T) | 1u << T(DATA)},
	};

	for (enum nt_side side = NT_HOST; side < NT_SIDES; side++)
		for (unsigned int shape = 0; shape < NT_SHAPE_CORE; shape++)
			for (unsigned int point = 1; point < NT_POINTS_MAX; point++) {
				const bool is_r2t = shape == NT_SHAPE_R2T_WRITE;
				bool is_needed = needed[side][0] >> point & 1 ||
						 (is_r2t && needed[side][1] >> point & 1) ||
						 (side == NT_HOST && shape == NT_SHAPE_READ &&
						  point == NT_H_C2H);
				struct nt_record r;

				if ((side == NT_HOST ? NT_HOST_ARRIVALS : NT_TARGET_ARRIVALS) >>
					    point &
				    1)
					continue;
				setup(state);
				make_record(&r, shape, 1u << point);
				assert_int_equal(count_case(side, &r, 0), !is_needed);
				for (unsigned int i = 0; i < NT_STAGES_MAX && is_needed; i++)
					assert_int_equal(nt_first_stages[1].h[i].sum, 0);
				make_record(&r, shape, 0);
				for (unsigned int i = 0; i < NT_POINTS_MAX; i++)
					r.points[i] = 5000;
				assert_true(count_case(side, &r, 0));
				r.points[point]--;
				assert_int_equal(count_case(side, &r, 0), !is_needed);
				assert_int_equal(counted(NT_CNT_ARRIVAL_MISSING), 0);
			}
	/* It is not counted as lacking arrivals either. */
	for (enum nt_side side = NT_HOST; side < NT_SIDES; side++) {
		struct nt_record r;

		setup(state);
		make_record(&r, NT_SHAPE_READ,
			    side == NT_HOST ? 1u << H(RX) | 1u << H(CQE)
					    : 1u << T(RX) | 1u << T(DONE));
		assert_false(count_case(side, &r, 0));
		assert_int_equal(counted(NT_CNT_ARRIVAL_MISSING), 0);
	}
}

static void without_histograms_it_is_still_told_what_is_lacking(void **state)
{
	struct nt_record r;

	nt_knobs.no_histograms = 1;
	for (__u32 lacking = 0; lacking < 2; lacking++) {
		make_record(&r, NT_SHAPE_READ, lacking << NT_H_RX);
		assert_true(count_case(NT_HOST, &r, 0));
		make_record(&r, NT_SHAPE_READ, 1u << NT_H_CQE | lacking << NT_H_RX);
		assert_false(count_case(NT_HOST, &r, 0));
	}
	assert_int_equal(counted(NT_CNT_ARRIVAL_MISSING), 1);
	assert_int_equal(nt_pools[NT_POOL_STAGES].taken, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(stages_are_those_of_the_shape_and_of_the_points),
		TEST(what_lacks_a_point_is_in_no_stage),
		TEST(a_maximum_is_in_the_interval_in_which_it_is_counted),
		TEST(without_histograms_it_is_still_told_what_is_lacking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
