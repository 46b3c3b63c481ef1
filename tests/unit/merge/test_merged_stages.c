// SPDX-License-Identifier: GPL-2.0-only
/* The ten stages of a command, against numbers calculated by hand from the table in the design. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/hash.h"
#include "core/segments.h"
#include "in_range.h"
#include "merge/merged_stages.h"
#include "traffic.h"

/* The ten stages of a command of machines that lack no point. */
static bool merged_stages(const struct nt_record *host, const struct nt_record *target,
			  int64_t stage[NT_MERGED_STAGES_NR])
{
	struct merged_split none;

	merged_split_init(&none, 0, 0);
	return merged_split(&none, host, target, stage);
}

/* The points that either side's record needs, for each shape. */
static const uint16_t needed[NT_SIDES][NT_SHAPES_NR] = {
	[NT_HOST] =
		{
			[NT_SHAPE_READ] = 1 << NT_H_QUEUE_RQ | 1 << NT_H_SEND_CMD | 1 << NT_H_RX |
					  1 << NT_H_C2H | 1 << NT_H_CQE | 1 << NT_H_COMPLETE,
			[NT_SHAPE_INLINE_WRITE] = 1 << NT_H_QUEUE_RQ | 1 << NT_H_SEND_CMD |
						  1 << NT_H_RX | 1 << NT_H_CQE | 1 << NT_H_COMPLETE,
			[NT_SHAPE_R2T_WRITE] = 1 << NT_H_QUEUE_RQ | 1 << NT_H_SEND_CMD |
					       1 << NT_H_R2T_RX | 1 << NT_H_R2T |
					       1 << NT_H_SEND_DATA | 1 << NT_H_RX | 1 << NT_H_CQE |
					       1 << NT_H_COMPLETE,
			[NT_SHAPE_NO_DATA] = 1 << NT_H_QUEUE_RQ | 1 << NT_H_SEND_CMD |
					     1 << NT_H_RX | 1 << NT_H_CQE | 1 << NT_H_COMPLETE,
		},
	[NT_TARGET] =
		{
			[NT_SHAPE_READ] = 1 << NT_T_RX | 1 << NT_T_CMD | 1 << NT_T_EXEC |
					  1 << NT_T_DONE | 1 << NT_T_SEND,
			[NT_SHAPE_INLINE_WRITE] = 1 << NT_T_RX | 1 << NT_T_CMD | 1 << NT_T_EXEC |
						  1 << NT_T_DONE | 1 << NT_T_SEND,
			[NT_SHAPE_R2T_WRITE] = 1 << NT_T_RX | 1 << NT_T_CMD | 1 << NT_T_SEND_R2T |
					       1 << NT_T_DATA_RX | 1 << NT_T_DATA | 1 << NT_T_EXEC |
					       1 << NT_T_DONE | 1 << NT_T_SEND,
			[NT_SHAPE_NO_DATA] = 1 << NT_T_RX | 1 << NT_T_CMD | 1 << NT_T_EXEC |
					     1 << NT_T_DONE | 1 << NT_T_SEND,
		},
};

/* Both sides' points by their own clocks, and the stages that follow from the table. */
static const struct example {
	uint8_t shape;
	uint64_t host[NT_POINTS_MAX];
	uint64_t target[NT_POINTS_MAX];
	int64_t stage[NT_MERGED_STAGES_NR];
} examples[] = {
	{
		.shape = NT_SHAPE_READ,
		.host = {[NT_H_SUBMIT] = 1000,
			 [NT_H_QUEUE_RQ] = 1100,
			 [NT_H_SEND_CMD] = 1350,
			 [NT_H_SENT_CMD] = 1500,
			 [NT_H_RX] = 9000,
			 [NT_H_C2H] = 9040,
			 [NT_H_CQE] = 9100,
			 [NT_H_COMPLETE] = 9107},
		.target = {[NT_T_RX] = 500000,
			   [NT_T_CMD] = 500011,
			   [NT_T_EXEC] = 500034,
			   [NT_T_DONE] = 505034,
			   [NT_T_SEND] = 505051,
			   [NT_T_SENT] = 509999},
		.stage = {[NT_MS_BLK_SUBMISSION] = 100,
			  [NT_MS_NVME_TCP_SUBMISSION] = 250,
			  [NT_MS_NSTACK_SUBMISSION] = 11,
			  [NT_MS_NVMET_TCP_SUBMISSION] = 23,
			  [NT_MS_TARGET_SUBSYSTEM] = 5000,
			  [NT_MS_NVMET_TCP_COMPLETION] = 17,
			  [NT_MS_NETWORK_TRANSMISSION] = 2599, /* 7650 - 5051 */
			  [NT_MS_NSTACK_COMPLETION] = 40,
			  [NT_MS_NVME_TCP_COMPLETION] = 60,
			  [NT_MS_BLK_COMPLETION] = 7},
	},
	{
		.shape = NT_SHAPE_INLINE_WRITE,
		.host = {[NT_H_SUBMIT] = 1000,
			 [NT_H_QUEUE_RQ] = 1200,
			 [NT_H_SEND_CMD] = 1205,
			 [NT_H_SENT_CMD] = 1300,
			 [NT_H_RX] = 4205,
			 [NT_H_CQE] = 4236,
			 [NT_H_COMPLETE] = 4238},
		.target = {[NT_T_RX] = 7000000,
			   [NT_T_CMD] = 7000100,
			   [NT_T_EXEC] = 7000103,
			   [NT_T_DONE] = 7002003,
			   [NT_T_SEND] = 7002010,
			   [NT_T_SENT] = 7002020},
		.stage = {[NT_MS_BLK_SUBMISSION] = 200,
			  [NT_MS_NVME_TCP_SUBMISSION] = 5,
			  [NT_MS_NSTACK_SUBMISSION] = 100,
			  [NT_MS_NVMET_TCP_SUBMISSION] = 3,
			  [NT_MS_TARGET_SUBSYSTEM] = 1900,
			  [NT_MS_NVMET_TCP_COMPLETION] = 7,
			  [NT_MS_NETWORK_TRANSMISSION] = 990, /* 3000 - 2010 */
			  [NT_MS_NSTACK_COMPLETION] = 31,
			  [NT_MS_NVME_TCP_COMPLETION] = 0,
			  [NT_MS_BLK_COMPLETION] = 2},
	},
	{
		.shape = NT_SHAPE_R2T_WRITE,
		.host = {[NT_H_SUBMIT] = 1000,
			 [NT_H_QUEUE_RQ] = 1010,
			 [NT_H_SEND_CMD] = 1030,
			 [NT_H_SENT_CMD] = 1100,
			 [NT_H_R2T_RX] = 2030,
			 [NT_H_R2T] = 2035,
			 [NT_H_SEND_DATA] = 2046,
			 [NT_H_SENT_DATA] = 9000,
			 [NT_H_RX] = 12046,
			 [NT_H_CQE] = 12059,
			 [NT_H_COMPLETE] = 12076},
		.target = {[NT_T_RX] = 50000,
			   [NT_T_CMD] = 50019,
			   [NT_T_SEND_R2T] = 50042,
			   [NT_T_DATA_RX] = 51000,
			   [NT_T_DATA] = 51029,
			   [NT_T_DATA_DONE] = 55000,
			   [NT_T_EXEC] = 55060,
			   [NT_T_DONE] = 60060,
			   [NT_T_SEND] = 60097,
			   [NT_T_SENT] = 60200},
		.stage = {[NT_MS_BLK_SUBMISSION] = 10,
			  [NT_MS_NVME_TCP_SUBMISSION] = 31,    /* 20 + 11 */
			  [NT_MS_NSTACK_SUBMISSION] = 48,      /* 19 + 29 */
			  [NT_MS_NVMET_TCP_SUBMISSION] = 4054, /* 23 + 4031 */
			  [NT_MS_TARGET_SUBSYSTEM] = 5000,
			  [NT_MS_NVMET_TCP_COMPLETION] = 37,
			  [NT_MS_NETWORK_TRANSMISSION] = 1861, /* 1000 - 42, and 10000 - 9097 */
			  [NT_MS_NSTACK_COMPLETION] = 18,      /* 5 + 13 */
			  [NT_MS_NVME_TCP_COMPLETION] = 0,
			  [NT_MS_BLK_COMPLETION] = 17},
	},
	{
		.shape = NT_SHAPE_NO_DATA,
		.host = {[NT_H_SUBMIT] = 1000,
			 [NT_H_QUEUE_RQ] = 1001,
			 [NT_H_SEND_CMD] = 1003,
			 [NT_H_SENT_CMD] = 1010,
			 [NT_H_RX] = 2003,
			 [NT_H_CQE] = 2007,
			 [NT_H_COMPLETE] = 2015},
		.target = {[NT_T_RX] = 100,
			   [NT_T_CMD] = 116,
			   [NT_T_EXEC] = 148,
			   [NT_T_DONE] = 212,
			   [NT_T_SEND] = 340,
			   [NT_T_SENT] = 400},
		.stage = {[NT_MS_BLK_SUBMISSION] = 1,
			  [NT_MS_NVME_TCP_SUBMISSION] = 2,
			  [NT_MS_NSTACK_SUBMISSION] = 16,
			  [NT_MS_NVMET_TCP_SUBMISSION] = 32,
			  [NT_MS_TARGET_SUBSYSTEM] = 64,
			  [NT_MS_NVMET_TCP_COMPLETION] = 128,
			  [NT_MS_NETWORK_TRANSMISSION] = 760, /* 1000 - 240 */
			  [NT_MS_NSTACK_COMPLETION] = 4,
			  [NT_MS_NVME_TCP_COMPLETION] = 0,
			  [NT_MS_BLK_COMPLETION] = 8},
	},
};

static struct nt_record example_record(const struct example *e, enum nt_side side)
{
	const uint64_t *points = side == NT_HOST ? e->host : e->target;
	struct nt_record r = {.side = (uint8_t)side, .shape = e->shape};

	for (unsigned int i = 0; i < NT_POINTS_MAX; i++)
		r.points[i] = points[i];
	return r;
}

static int64_t sum(const int64_t stage[NT_MERGED_STAGES_NR])
{
	int64_t total = 0;

	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		total += stage[i];
	return total;
}

static void must_not_split(const struct nt_record *host, const struct nt_record *target)
{
	static const int64_t zeroes[NT_MERGED_STAGES_NR];
	int64_t stage[NT_MERGED_STAGES_NR];

	memset(stage, 0x55, sizeof(stage));
	assert_false(merged_stages(host, target, stage));
	assert_memory_equal(stage, zeroes, sizeof(stage));
}

static void every_shape_is_split_as_worked_out_by_hand(void **state)
{
	assert_int_equal(ARRAY_SIZE(examples), NT_SHAPE_CORE);
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		struct nt_record host = example_record(&examples[i], NT_HOST);
		struct nt_record target = example_record(&examples[i], NT_TARGET);
		int64_t stage[NT_MERGED_STAGES_NR];

		assert_true(merged_stages(&host, &target, stage));
		for (unsigned int s = 0; s < NT_MERGED_STAGES_NR; s++)
			assert_int_equal(stage[s], examples[i].stage[s]);
		assert_int_equal(sum(stage), host.points[NT_H_COMPLETE] - host.points[NT_H_SUBMIT]);
	}
}

static void stages_come_in_the_order_of_ntprof_and_under_its_names(void **state)
{
	static const char *const names[] = {
		"blk_submission",	"nvme_tcp_submission", "nstack_submission",
		"nvmet_tcp_submission", "target_subsystem",    "nvmet_tcp_completion",
		"network_transmission", "nstack_completion",   "nvme_tcp_completion",
		"blk_completion",
	};

	assert_int_equal(NT_MERGED_STAGES_NR, ARRAY_SIZE(names));
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		assert_string_equal(merged_stage_name(i), names[i]);
	assert_string_equal(merged_stage_name(NT_MERGED_STAGES_NR), "?");
}

static void a_command_without_submit_begins_with_queue_rq(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		struct nt_record host = example_record(&examples[i], NT_HOST);
		struct nt_record target = example_record(&examples[i], NT_TARGET);
		int64_t stage[NT_MERGED_STAGES_NR];

		host.points[NT_H_SUBMIT] = 0;
		assert_true(merged_stages(&host, &target, stage));
		assert_int_equal(stage[NT_MS_BLK_SUBMISSION], 0);
		for (unsigned int s = 1; s < NT_MERGED_STAGES_NR; s++)
			assert_int_equal(stage[s], examples[i].stage[s]);
		assert_int_equal(sum(stage),
				 host.points[NT_H_COMPLETE] - host.points[NT_H_QUEUE_RQ]);
	}
}

/*
 * If the target takes longer than the host waits, its clock is fast. The difference stays in the
 * network's stage.
 */
static void a_target_whose_clock_runs_fast_makes_the_network_negative(void **state)
{
	struct nt_record host = example_record(&examples[0], NT_HOST);
	struct nt_record target = example_record(&examples[0], NT_TARGET);
	int64_t stage[NT_MERGED_STAGES_NR];

	target.points[NT_T_DONE] += 2602;
	target.points[NT_T_SEND] += 2602;
	assert_true(merged_stages(&host, &target, stage));
	assert_int_equal(stage[NT_MS_NETWORK_TRANSMISSION], -3);
	assert_int_equal(stage[NT_MS_TARGET_SUBSYSTEM], 7602);
	assert_int_equal(sum(stage), 8107);
}

/* Everything after the beginning of the response's send runs beside the network. */
static void the_end_of_the_targets_send_takes_no_part(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		struct nt_record host = example_record(&examples[i], NT_HOST);
		struct nt_record target = example_record(&examples[i], NT_TARGET);
		int64_t stage[NT_MERGED_STAGES_NR];

		target.points[NT_T_SENT] += 1000000;
		host.points[NT_H_SENT_CMD] += 5;
		assert_true(merged_stages(&host, &target, stage));
		assert_memory_equal(stage, examples[i].stage, sizeof(stage));
	}
}

static void a_command_that_lacks_a_point_is_not_split(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		for (unsigned int p = 0; p < 2 * NT_POINTS_MAX; p++) {
			enum nt_side side = p < NT_POINTS_MAX ? NT_HOST : NT_TARGET;
			struct nt_record r[NT_SIDES] = {
				example_record(&examples[i], NT_HOST),
				example_record(&examples[i], NT_TARGET),
			};

			if (!(needed[side][examples[i].shape] >> p % NT_POINTS_MAX & 1))
				continue;
			r[side].points[p % NT_POINTS_MAX] = 0;
			must_not_split(&r[NT_HOST], &r[NT_TARGET]);
		}
	}
}

static void a_command_whose_points_run_backwards_is_not_split(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		struct nt_record host = example_record(&examples[i], NT_HOST);
		struct nt_record target = example_record(&examples[i], NT_TARGET);
		uint64_t rx = host.points[NT_H_RX];

		host.points[NT_H_RX] = host.points[NT_H_SEND_CMD] - 1;
		must_not_split(&host, &target);
		host.points[NT_H_RX] = rx;
		target.points[NT_T_DONE] = target.points[NT_T_EXEC] - 1;
		must_not_split(&host, &target);
	}
}

static void sides_that_disagree_on_an_r2t_are_not_split(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(examples); j++) {
			struct nt_record host = example_record(&examples[i], NT_HOST);
			struct nt_record target = example_record(&examples[j], NT_TARGET);

			if ((host.shape == NT_SHAPE_R2T_WRITE) !=
			    (target.shape == NT_SHAPE_R2T_WRITE))
				must_not_split(&host, &target);
		}
	}
}

/* The record as it would be on a machine that lacks the points in @missing. */
static struct nt_record example_without(const struct example *e, enum nt_side side,
					uint32_t missing)
{
	struct nt_record r = example_record(e, side);

	for (unsigned int i = 0; i < NT_POINTS_MAX; i++)
		if (missing & 1u << i)
			r.points[i] = 0;
	return r;
}

/* A joined stage takes the sum of what its parts take where no point is missing. */
static void check_joined(uint32_t host_missing, uint32_t target_missing)
{
	struct merged_split split;

	merged_split_init(&split, host_missing, target_missing);
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		struct nt_record host = example_without(&examples[i], NT_HOST, host_missing);
		struct nt_record target = example_without(&examples[i], NT_TARGET, target_missing);
		int64_t stage[NT_MERGED_STAGES_NR], whole[NT_MERGED_STAGES_NR] = {0};

		if (!merged_split(&split, &host, &target, stage))
			fail_msg("host without 0x%x, target without 0x%x: shape %u has no stages",
				 host_missing, target_missing, host.shape);
		for (unsigned int s = 0; s < NT_MERGED_STAGES_NR; s++)
			whole[split.into[s]] += examples[i].stage[s];
		for (unsigned int s = 0; s < NT_MERGED_STAGES_NR; s++)
			if (stage[s] != whole[s])
				fail_msg(
					"host without 0x%x, target without 0x%x: stage %u of shape %u "
					"takes %lld, not %lld",
					host_missing, target_missing, s, host.shape,
					(long long)stage[s], (long long)whole[s]);
	}
}

/*
 * Points that a machine may lack: all except the first and the last of the host and those that are
 * vital.
 */
#define HOST_MAY_LACK                                                                     \
	(1u << NT_H_SEND_CMD | 1u << NT_H_SENT_CMD | 1u << NT_H_R2T_RX | 1u << NT_H_R2T | \
	 1u << NT_H_SEND_DATA | 1u << NT_H_SENT_DATA | 1u << NT_H_RX | 1u << NT_H_C2H)
#define TARGET_MAY_LACK                                                               \
	(1u << NT_T_RX | 1u << NT_T_SEND_R2T | 1u << NT_T_DATA_RX | 1u << NT_T_DATA | \
	 1u << NT_T_DATA_DONE | 1u << NT_T_EXEC | 1u << NT_T_DONE | 1u << NT_T_SEND)

/* The next subset of @all, 0 after the last one. */
static uint32_t next_set(uint32_t set, uint32_t all)
{
	return (set - all) & all;
}

static void points_that_a_machine_lacks_join_stages_and_lose_nothing(void **state)
{
	uint32_t host = 0, target;

	do {
		target = 0;
		do {
			check_joined(host, target);
			target = next_set(target, TARGET_MAY_LACK);
		} while (target);
		host = next_set(host, HOST_MAY_LACK);
	} while (host);
}

static void joined_stages_have_the_names_of_all_in_them(void **state)
{
	static const struct {
		uint32_t missing[NT_SIDES];
		enum merged_stage stage;
		const char *name;
	} known[] = {
		{{0, 0}, NT_MS_TARGET_SUBSYSTEM, "target_subsystem"},
		{{0, 1u << NT_T_DONE},
		 NT_MS_TARGET_SUBSYSTEM,
		 "target_subsystem+nvmet_tcp_completion"},
		{{0, 1u << NT_T_EXEC},
		 NT_MS_NVMET_TCP_SUBMISSION,
		 "nvmet_tcp_submission+target_subsystem"},
		/*
		 * The target's wait for its data belongs to the network, and so does the send that
		 * runs beside it.
		 */
		{{0, 1u << NT_T_SEND},
		 NT_MS_NVMET_TCP_COMPLETION,
		 "nvmet_tcp_completion+network_transmission"},
		{{0, 1u << NT_T_DATA_RX},
		 NT_MS_NSTACK_SUBMISSION,
		 "nstack_submission+network_transmission"},
		{{0, 1u << NT_T_RX},
		 NT_MS_NSTACK_SUBMISSION,
		 "nstack_submission+network_transmission"},
		{{1u << NT_H_SEND_CMD, 0},
		 NT_MS_NVME_TCP_SUBMISSION,
		 "nvme_tcp_submission+network_transmission"},
		{{1u << NT_H_RX, 0},
		 NT_MS_NETWORK_TRANSMISSION,
		 "network_transmission+nstack_completion"},
		{{1u << NT_H_C2H, 0},
		 NT_MS_NSTACK_COMPLETION,
		 "nstack_completion+nvme_tcp_completion"},
		{{1u << NT_H_RX, 1u << NT_T_SEND},
		 NT_MS_NVMET_TCP_COMPLETION,
		 "nvmet_tcp_completion+network_transmission+nstack_completion"},
	};
	char name[STAGE_NAME_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct merged_split split;

		merged_split_init(&split, known[i].missing[NT_HOST], known[i].missing[NT_TARGET]);
		assert_int_equal(split.into[known[i].stage], known[i].stage);
		assert_string_equal(
			merged_joined_name(split.into, known[i].stage, name, sizeof(name)),
			known[i].name);
	}
}

/*
 * Host, between and target. Whether there was an R2T, only points between the ends show: a side
 * that has none of these need not agree.
 */
static void the_ends_of_both_sides_make_three_stages(void **state)
{
	const uint32_t host_lacks = segments_points(NT_HOST) & ~segments_ends(NT_HOST);
	const uint32_t target_lacks = segments_points(NT_TARGET) & ~segments_ends(NT_TARGET);
	struct merged_split both, host_only, target_only;
	int64_t stage[NT_MERGED_STAGES_NR];
	char name[STAGE_NAME_LEN];

	merged_split_init(&both, host_lacks, target_lacks);
	merged_split_init(&host_only, host_lacks, 0);
	merged_split_init(&target_only, 0, target_lacks);
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		const struct example *e = &examples[i];
		struct nt_record host = example_without(e, NT_HOST, host_lacks);
		struct nt_record target = example_without(e, NT_TARGET, target_lacks);
		struct nt_record whole_host = example_record(e, NT_HOST);
		struct nt_record whole_target = example_record(e, NT_TARGET);
		int64_t of_target = (int64_t)(e->target[NT_T_DONE] - e->target[NT_T_CMD]);
		int64_t submission = (int64_t)(e->host[NT_H_QUEUE_RQ] - e->host[NT_H_SUBMIT]);
		int64_t all = (int64_t)(e->host[NT_H_COMPLETE] - e->host[NT_H_SUBMIT]);

		if (!e->host[NT_H_SUBMIT])
			continue;
		for (int shape = 0; shape < NT_SHAPE_CORE; shape++) {
			host.shape = (__u8)shape;
			assert_true(merged_split(&both, &host, &target, stage));
			assert_int_equal(stage[NT_MS_BLK_SUBMISSION], submission);
			assert_int_equal(stage[NT_MS_NVMET_TCP_SUBMISSION], of_target);
			assert_int_equal(stage[NT_MS_NVME_TCP_SUBMISSION],
					 all - submission - of_target);
			assert_true(merged_split(&host_only, &host, &whole_target, stage));
			assert_int_equal(stage[NT_MS_TARGET_SUBSYSTEM],
					 e->stage[NT_MS_TARGET_SUBSYSTEM]);
		}
		assert_true(merged_split(&target_only, &whole_host, &target, stage));
		assert_int_equal(stage[NT_MS_BLK_COMPLETION], e->stage[NT_MS_BLK_COMPLETION]);
		assert_int_equal(stage[NT_MS_NVMET_TCP_SUBMISSION], of_target);
	}
	assert_string_equal(
		merged_joined_name(both.into, NT_MS_NVMET_TCP_SUBMISSION, name, sizeof(name)),
		"nvmet_tcp_submission+target_subsystem");
	assert_string_equal(
		merged_joined_name(both.into, NT_MS_NVME_TCP_SUBMISSION, name, sizeof(name)),
		"nvme_tcp_submission+nstack_submission+nvmet_tcp_completion+network_transmission+"
		"nstack_completion+nvme_tcp_completion+blk_completion");
}

static void a_point_that_is_missing_by_accident_leaves_no_joined_stage(void **state)
{
	static const int64_t zeroes[NT_MERGED_STAGES_NR];
	int64_t stage[NT_MERGED_STAGES_NR];
	struct merged_split split;

	merged_split_init(&split, 0, 1u << NT_T_DONE);
	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		struct nt_record host = example_record(&examples[i], NT_HOST);
		struct nt_record target =
			example_without(&examples[i], NT_TARGET, 1u << NT_T_DONE | 1u << NT_T_EXEC);

		memset(stage, 0x55, sizeof(stage));
		assert_false(merged_split(&split, &host, &target, stage));
		assert_memory_equal(stage, zeroes, sizeof(stage));
	}
}

/* Another program may write anything into a header. */
/*
 * Where no point is missing, the stages are calculated in another way. The points that are said to
 * be missing here bound no stage, so both ways have to give the same.
 */
static void both_ways_to_the_stages_agree(void **state)
{
	struct merged_split whole, lacking;

	merged_split_init(&whole, 0, 0);
	merged_split_init(&lacking, 1 << NT_H_SENT_CMD, 1 << NT_T_DATA_DONE);
	for (unsigned int n = 0; n < 200000; n++) {
		const struct example *e = &examples[n % ARRAY_SIZE(examples)];
		int64_t a[NT_MERGED_STAGES_NR], b[NT_MERGED_STAGES_NR];
		struct nt_record host = example_without(e, NT_HOST, 0);
		struct nt_record target = example_without(e, NT_TARGET, 0);
		uint64_t random = hash_mix(n + 1);

		/*
		 * A point that is missing or too late, on either side, and shapes that do not
		 * agree.
		 */
		if (random & 1)
			host.points[(random >> 8) % NT_POINTS_MAX] = random & 2 ? 0 : 9050;
		if (random & 4)
			target.points[(random >> 16) % NT_POINTS_MAX] = random & 8 ? 0 : 502000;
		if (!(random >> 24 & 15))
			host.shape = (random >> 32) % (NT_SHAPES_NR + 1);
		if (!(random >> 28 & 15))
			target.shape = (random >> 40) % (NT_SHAPES_NR + 1);
		assert_int_equal(merged_split(&whole, &host, &target, a),
				 merged_split(&lacking, &host, &target, b));
		assert_memory_equal(a, b, sizeof(a));
	}
}

static void no_set_of_missing_points_breaks_anything(void **state)
{
	for (uint32_t missing = 0; missing < 1u << NT_POINTS_MAX; missing++) {
		for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
			struct nt_record host = example_without(&examples[i], NT_HOST, missing);
			struct nt_record target = example_without(&examples[i], NT_TARGET, missing);
			int64_t stage[NT_MERGED_STAGES_NR], at_most;
			struct merged_split split;

			merged_split_init(&split, missing, missing);
			if (!merged_split(&split, &host, &target, stage))
				continue;
			at_most = (int64_t)(examples[i].host[NT_H_COMPLETE] -
					    examples[i].host[NT_H_SUBMIT]);
			for (unsigned int s = 0; s < NT_MERGED_STAGES_NR; s++) {
				assert_true(split.into[s] == STAGE_UNKNOWN || split.into[s] <= s);
				assert_uint_in_range(stage[s] + at_most, 0, 2 * at_most);
				if (split.into[s] != s)
					assert_int_equal(stage[s], 0);
			}
		}
	}
}

/* The first two invariants of the design, for commands of all shapes and for clocks that drift. */
static void stages_of_many_commands_add_up_and_are_not_negative(void **state)
{
	enum { COMMANDS = 50000, DRIFT_PPM = 200 };
	struct traffic_config config = {
		.stream = {{NT_HOST, 0, 0}, {NT_TARGET, 123456789, DRIFT_PPM}},
		.nr_streams = 2,
		.queue = {{.target = 1, .nqn = "nqn.a", .cntlid = 1, .qid = 1, .depth = 16}},
		.nr_queues = 1,
		.seed = 5,
		.percent = {40, 25, 25, 10},
		.network_ns = 1000,
		.device_ns = 80000,
		.think_ns = 5000,
		.commands = COMMANDS,
	};
	struct traffic *t = traffic_new(&config);
	struct nt_record(*seen)[NT_SIDES] = calloc(COMMANDS, sizeof(*seen));
	bool(*came)[NT_SIDES] = calloc(COMMANDS, sizeof(*came));
	unsigned int shapes[NT_SHAPES_NR] = {0};
	struct traffic_record r;

	assert_non_null(seen);
	assert_non_null(came);
	while (traffic_next(t, &r)) {
		struct nt_record *host = &seen[r.id][NT_HOST], *target = &seen[r.id][NT_TARGET];
		int64_t stage[NT_MERGED_STAGES_NR], whole;

		seen[r.id][r.r.side] = r.r;
		came[r.id][r.r.side] = true;
		if (!came[r.id][!r.r.side])
			continue;
		whole = (int64_t)(host->points[NT_H_COMPLETE] - host->points[NT_H_SUBMIT]);
		assert_true(merged_stages(host, target, stage));
		assert_int_equal(sum(stage), whole);
		for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
			assert_true(stage[i] >= -(whole * DRIFT_PPM / 1000000 + 2));
		shapes[host->shape]++;
	}
	assert_int_equal(shapes[0] + shapes[1] + shapes[2] + shapes[3], COMMANDS);
	for (unsigned int i = 0; i < NT_SHAPE_CORE; i++)
		assert_true(shapes[i] > COMMANDS / 20);
	traffic_free(t);
	free(seen);
	free(came);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shape_is_split_as_worked_out_by_hand),
		cmocka_unit_test(stages_come_in_the_order_of_ntprof_and_under_its_names),
		cmocka_unit_test(a_command_without_submit_begins_with_queue_rq),
		cmocka_unit_test(a_target_whose_clock_runs_fast_makes_the_network_negative),
		cmocka_unit_test(the_end_of_the_targets_send_takes_no_part),
		cmocka_unit_test(a_command_that_lacks_a_point_is_not_split),
		cmocka_unit_test(a_command_whose_points_run_backwards_is_not_split),
		cmocka_unit_test(sides_that_disagree_on_an_r2t_are_not_split),
		cmocka_unit_test(points_that_a_machine_lacks_join_stages_and_lose_nothing),
		cmocka_unit_test(joined_stages_have_the_names_of_all_in_them),
		cmocka_unit_test(the_ends_of_both_sides_make_three_stages),
		cmocka_unit_test(a_point_that_is_missing_by_accident_leaves_no_joined_stage),
		cmocka_unit_test(both_ways_to_the_stages_agree),
		cmocka_unit_test(no_set_of_missing_points_breaks_anything),
		cmocka_unit_test(stages_of_many_commands_add_up_and_are_not_negative),
	};

	return cmocka_run_group_tests_name("merged_stages", tests, NULL, NULL);
}
