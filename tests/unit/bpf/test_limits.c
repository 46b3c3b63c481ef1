// SPDX-License-Identifier: GPL-2.0-only
/*
 * The edge of each fixed size (docs/sizes.md): the last item that has room, and what happens to the
 * next one.
 */
#include "bpf/host.h"

#define QID 1
#define TAG 5
#define PAGE 4096
#define TAGS_MAX 4096
#define QUEUES 16

#include "bpf/host_machine.h"

static int setup(void **state)
{
	host_make();
	memset(nt_past, 0, sizeof(nt_past));
	return 0;
}

/* A read of queue @qid of controller @instance begins. */
static void submit(unsigned int instance, unsigned int qid, __u32 tag)
{
	m.ctrl[0].ctrl.instance = (int)instance;
	m.requests[0].rq =
		(struct request){.q = m.rq_queue, .mq_hctx = &m.hctx[QID], .tag = (int)tag};
	m.requests[0].req.queue = &m.queues[0][qid];
	m.requests[0].req.req.ctrl = &m.ctrl[0].ctrl;
	m.requests[0].sqe = (struct nvme_command){
		.common = {.opcode = NVME_CMD_READ, .command_id = (__u16)tag, .nsid = 1},
	};
	m.requests[0].sqe.common.dptr.sgl.length = PAGE;
	m.requests[0].rq.start_time_ns = kernel.now += 100;
	request_make(&m.requests[0].rq, &m.requests[0].req, &m.requests[0].sqe);
	m.requests[0].req.req.cmd = &m.requests[0].sqe;
	stock_queue_rq(NULL, &m.requests[0].rq);
	/*
	 * This program cannot know that a command without a state was counted already, so it leaves
	 * it alone.
	 */
	stock_queue_rq_nested(NULL, &m.requests[0].rq);
}

static const __u32 instances = SLOTS / 8; /* qid_stride of kernel.h */

static void slots_seen_reach_to_the_highest(void **state)
{
	nt_control.slots_seen = 0;
	slot_seen(5);
	assert_int_equal(nt_control.slots_seen, 6);
	slot_seen(2);
	assert_int_equal(nt_control.slots_seen, 6);
	submit(instances - 1, 7, TAG);
	assert_int_equal(nt_control.slots_seen, instances * 8);
}

static void controllers_beyond_the_map_are_told_by_their_queues(void **state)
{
	/*
	 * All controllers have the same queues here, so that the address of a queue would lead to
	 * its slot.
	 */
	submit(instances - 1, 7, TAG);
	assert_int_equal(counted(NT_CNT_NO_SLOT), 0);
	assert_int_equal(nt_pools[NT_POOL_CMDS].taken, 1);
	for (unsigned int round = 1; round <= 3; round++) {
		for (unsigned int qid = 0; qid < 7; qid++)
			submit(instances, qid, TAG);
		submit(instances + 1, QID, TAG);
		assert_int_equal(counted(NT_CNT_NO_SLOT), 8 * round);
		assert_int_equal(queues_past(NT_PAST_SLOTS), 8);
	}
	assert_int_equal(nt_pools[NT_POOL_CMDS].taken, 1);
	assert_int_equal(queues_past(NT_PAST_HISTS), 0);
	/* Each queue counts as one of its own, as long as there are bits. */
	for (unsigned int i = 0; i < 20; i++)
		for (unsigned int qid = 0; qid < 7; qid++)
			submit(instances + i, qid, TAG);
	assert_int_equal(queues_past(NT_PAST_SLOTS), 20 * 7);
	submit(instances + NT_PAST_QUEUES / 8, 0, TAG);
	assert_int_equal(queues_past(NT_PAST_SLOTS), 20 * 7);
	submit(instances + 20 + NT_PAST_QUEUES / 8, 0, TAG);
	assert_int_equal(queues_past(NT_PAST_SLOTS), 20 * 7 + 1);
}

/* 512 CPUs with three queues for each, and controllers with high numbers. */
static void slots_beyond_the_last_are_not_given(void **state)
{
	const __u64 address = 0xffff888000000000, other = address + 0x1000;
	const __u32 stride = 2048, last = NT_SLOTS_MAX - 1;
	__u32 slot;

	assert_int_equal(nt_host_slots(127, stride), 127 * stride);
	assert_int_equal(nt_host_slots(128, stride), 127 * stride);
	assert_int_equal(nt_host_slots(1000000, 1), NT_SLOTS_MAX);
	slot_index_set(address, last);
	slot_index_set(other, last - 1);
	queue_by_index(address, &slot);
	assert_int_equal(slot, last);
	queue_by_index(other, &slot);
	assert_int_equal(slot, last - 1);
}

/* They are not taken for queues of the next controller. */
static void queue_ids_beyond_a_controllers_are_told(void **state)
{
	submit(0, 7, TAG);
	assert_int_equal(counted(NT_CNT_NO_SLOT), 0);
	submit(0, 8, TAG);
	submit(0, 9, TAG);
	assert_int_equal(counted(NT_CNT_NO_SLOT), 2);
	assert_int_equal(queues_past(NT_PAST_SLOTS), 2);
	assert_int_equal(kernel.queues[8].gen, 0);
}

static void tags_beyond_the_last_are_told(void **state)
{
	submit(0, QID, TAGS_MAX - 1);
	assert_int_equal(counted(NT_CNT_NO_SLOT), 0);
	assert_true(in_flight(cmd_by_tag(queue_at(QID), TAGS_MAX - 1)));
	submit(0, QID, TAGS_MAX);
	assert_int_equal(counted(NT_CNT_NO_SLOT), 1);
	assert_int_equal(queues_past(NT_PAST_SLOTS), 1);
}

static void states_beyond_the_last_piece_are_told(void **state)
{
	nt_pools[NT_POOL_CMDS].taken = nt_pools[NT_POOL_CMDS].given - 1;
	submit(0, 1, TAG);
	assert_int_equal(counted(NT_CNT_NO_SLOT), 0);
	for (unsigned int qid = 2; qid < 5; qid++)
		submit(0, qid, TAG);
	assert_int_equal(counted(NT_CNT_NO_SLOT), 3);
	assert_int_equal(queues_past(NT_PAST_SLOTS), 3);
	/* A queue that has a piece continues. Another one continues as soon as there is a piece. */
	submit(0, 1, TAG + 1);
	pool_fill(NT_POOL_CMDS, 2);
	submit(0, 2, TAG);
	assert_int_equal(counted(NT_CNT_NO_SLOT), 3);
}

static void end_command(__u32 slot, enum nt_op op)
{
	const struct nt_record r = {.slot = slot, .op = op, .length = PAGE};

	latency_count(&kernel.queues[slot], &r, 0, kernel.cpu, 1000);
}

static void histograms_beyond_the_last_are_told(void **state)
{
	nt_pools[NT_POOL_HISTS].taken = nt_pools[NT_POOL_HISTS].given - 1;
	end_command(0, NT_OP_READ);
	assert_int_equal(counted(NT_CNT_HIST_FULL), 0);
	for (__u32 slot = 1; slot < 6; slot++) {
		end_command(slot, NT_OP_READ);
		end_command(slot, NT_OP_WRITE);
	}
	assert_int_equal(counted(NT_CNT_HIST_FULL), 10);
	assert_int_equal(queues_past(NT_PAST_HISTS), 5);
	assert_int_equal(kernel.shared.bytes, 10 * PAGE);
	/* Commands that --sample leaves out are counted there, too. */
	others_count(&kernel.queues[6], &(struct nt_record){.slot = 6, .op = NT_OP_READ}, 0);
	assert_int_equal(queues_past(NT_PAST_HISTS), 6);
	end_command(0, NT_OP_READ);
	assert_int_equal(counted(NT_CNT_HIST_FULL), 11);
}

static __u32 bucket_of(__u32 slot, __u32 cpu)
{
	return nt_hist_hash(NT_HIST_KEY(slot, 0, NT_OP_READ, cpu)) >> (32 - NT_HIST_INDEX_BITS);
}

/* Tries as many CPUs as it takes to find histograms with the same hash. */
static void histograms_that_hash_alike_beyond_the_last_are_told(void **state)
{
	const __u32 bucket = bucket_of(0, 0);
	unsigned int n = 0;

	for (kernel.cpu = 0; n <= NT_HIST_WAYS; kernel.cpu++) {
		if (bucket_of(0, kernel.cpu) != bucket)
			continue;
		assert_int_equal(counted(NT_CNT_HIST_FULL), 0);
		end_command(0, NT_OP_READ);
		n++;
	}
	assert_int_equal(counted(NT_CNT_HIST_FULL), 1);
	assert_int_equal(queues_past(NT_PAST_HISTS), 1);
	kernel.cpu = 0;
	end_command(0, NT_OP_READ);
	assert_int_equal(counted(NT_CNT_HIST_FULL), 1);
}

/* A read of queue @slot, which ends on CPU @cpu. Return: as latency_count() */
static __s32 end_with_stages(__u32 slot, enum nt_op op, __u32 cpu)
{
	struct nt_record r = {.slot = slot, .op = op};
	__s32 nr = latency_count(&kernel.queues[slot], &r, 0, cpu, 1000);

	for (int i = 0; i < NT_POINTS_MAX; i++)
		r.points[i] = 1000 + i;
	assert_true(stages_count(NT_HOST, &r, NT_SHAPE_READ, 0, cpu, nr));
	return nr;
}

/*
 * A queue that finds no stages of its own counts in those of its CPU and operation, for which some
 * are kept. A command that finds none there either is in no stage.
 */
static void stages_beyond_the_last_are_told(void **state)
{
	nt_knobs.stages_kept = 1;
	nt_pools[NT_POOL_STAGES].taken = nt_pools[NT_POOL_STAGES].given - 2;
	assert_int_equal(end_with_stages(1, NT_OP_READ, 0), STAGES - 2);
	assert_int_equal(end_with_stages(2, NT_OP_READ, 0), NT_STAGES_SHARED);
	assert_int_equal(nt_stages_of[0].at[NT_OP_READ], STAGES - 1);
	assert_int_equal(stages_at(STAGES - 1)->h[0].key, NT_OP_READ + 1);
	assert_int_equal(counted(NT_CNT_HIST_FULL), 0);
	assert_int_equal(end_with_stages(3, NT_OP_READ, 0), NT_STAGES_SHARED);
	assert_int_equal(counted(NT_CNT_HIST_FULL), 0);
	assert_int_equal(stages_at(STAGES - 1)->h[NT_HS_BLK_SUBMISSION].buckets[0], 2);
	assert_int_equal(end_with_stages(2, NT_OP_READ, 1), NT_STAGES_SHARED);
	assert_int_equal(counted(NT_CNT_HIST_FULL), 1);
	assert_int_equal(end_with_stages(1, NT_OP_READ, 0), STAGES - 2);
	assert_int_equal(counted(NT_CNT_HIST_FULL), 1);
	assert_int_equal(stages_at(STAGES - 2)->h[NT_HS_BLK_SUBMISSION].buckets[0], 2);
}

/* Those of admin and Fabrics commands are shared, however many there are. */
static void admin_commands_take_no_stages_of_a_queue(void **state)
{
	for (__u32 slot = 1; slot < 4; slot++) {
		assert_int_equal(end_with_stages(slot, NT_OP_ADMIN, 0), NT_STAGES_SHARED);
		assert_int_equal(end_with_stages(slot, NT_OP_FABRICS, 0), NT_STAGES_SHARED);
	}
	assert_int_equal(nt_pools[NT_POOL_STAGES].taken, 2);
	assert_int_equal(end_with_stages(1, NT_OP_OTHER, 0), 3);
	/* User space lets a queue try again. */
	hist_at(kernel.queues[1].hist[NT_OP_OTHER])->stages = 0;
	assert_int_equal(end_with_stages(1, NT_OP_OTHER, 0), 4);
}

/*
 * Without notes arrivals are unknown. A queue that got no room does not ask again with each packet.
 */
static void notes_beyond_the_last_make_arrivals_unknown(void **state)
{
	nt_pools[NT_POOL_JOINS].taken = nt_pools[NT_POOL_JOINS].given - 1;
	assert_non_null(joins_claim(&kernel.queues[1]));
	assert_null(joins_claim(&kernel.queues[2]));
	assert_int_equal(kernel.queues[2].joins, NT_JOINS_LACKING);
	assert_non_null(joins_of(&kernel.queues[1]));
}

static void cpus_beyond_the_last_share_counters(void **state)
{
	kernel.cpu = NT_CPUS - 1;
	count(NT_CNT_TIMEOUTS);
	kernel.cpu = NT_CPUS;
	count(NT_CNT_TIMEOUTS);
	kernel.cpu = 0;
	count(NT_CNT_TIMEOUTS);
	assert_int_equal(nt_counters[NT_CPUS - 1].n[NT_CNT_TIMEOUTS], 1);
	assert_int_equal(nt_counters[0].n[NT_CNT_TIMEOUTS], 2);
	assert_int_equal(counted(NT_CNT_TIMEOUTS), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(slots_seen_reach_to_the_highest),
		TEST(controllers_beyond_the_map_are_told_by_their_queues),
		TEST(slots_beyond_the_last_are_not_given),
		TEST(queue_ids_beyond_a_controllers_are_told),
		TEST(tags_beyond_the_last_are_told),
		TEST(states_beyond_the_last_piece_are_told),
		TEST(histograms_beyond_the_last_are_told),
		TEST(histograms_that_hash_alike_beyond_the_last_are_told),
		TEST(stages_beyond_the_last_are_told),
		TEST(admin_commands_take_no_stages_of_a_queue),
		TEST(notes_beyond_the_last_make_arrivals_unknown),
		TEST(cpus_beyond_the_last_share_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
