// SPDX-License-Identifier: GPL-2.0-only
/* Which records reach user space, with which content, and when user space is woken. */
#include "bpf/host.h"

#define WAKE_BYTES 1000

static struct nt_queue queue;

static int setup(void **state)
{
	kernel_reset();
	queue = (struct nt_queue){.gen = 3, .identified = 3, .qid = 4, .cntlid = 5};
	nt_knobs.wake_bytes = WAKE_BYTES;
	nt_knobs.failed = nt_knobs.events = nt_knobs.tells_lost = 0;
	return 0;
}

static int teardown(void **state)
{
	setup(state);
	nt_knobs.wake_bytes = 0;
	return 0;
}

static struct nt_record made(void)
{
	return (struct nt_record){.op = NT_OP_READ, .gen = 3, .cid = 7, .length = 4096};
}

static void submit(struct nt_record r, __u64 latency)
{
	record_submit(&r, NT_HOST, &queue, latency);
}

/* Waking it for each record would cost more than all else. */
static void user_space_is_woken_when_enough_waits(void **state)
{
	static const struct nt_from from = {.cpu = 9};
	static const __u64 unread[] = {0, WAKE_BYTES - 1, WAKE_BYTES, WAKE_BYTES + 1};
	struct nvme_command sqe = {0};
	struct nt_record r = made();

	for (unsigned int i = 0; i < sizeof(unread) / sizeof(unread[0]); i++) {
		nt_knobs.events = 0;
		kernel.unread = unread[i];
		kernel.wakes = 0;
		submit(made(), 1);
		assert_int_equal(kernel.wakes, unread[i] >= WAKE_BYTES);
		record_submit_from(&r, NT_HOST, &queue, 1, &from, 0);
		assert_int_equal(kernel.originated.from.cpu, 9);
		assert_int_equal(kernel.originated.r.cid, 7);
		assert_int_equal(kernel.wakes, 2 * (unread[i] >= WAKE_BYTES));
		nt_knobs.events = 1;
		event_submit(event_begin(&r, NT_HOST, &queue, &sqe));
		assert_int_equal(kernel.wakes, 3 * (unread[i] >= WAKE_BYTES));
	}
	assert_int_equal(kernel.nr_records, 4);
	assert_int_equal(kernel.nr_begun, 4);
}

static void records_are_those_that_are_asked_for(void **state)
{
	static const struct {
		enum nt_select select;
		bool failed;
		__u64 latency;
		__u16 status;
		__u32 flags;
		bool there;
	} known[] = {
		{NT_SELECT_NONE, false, 1000, 0, 0, false},
		{NT_SELECT_ALL, false, 0, 0, 0, true},
		{NT_SELECT_SLOWER, false, 499, 0, 0, false},
		{NT_SELECT_SLOWER, false, 500, 0, 0, true},
		{NT_SELECT_ALL, true, 500, 0, 0, false},
		{NT_SELECT_ALL, true, 500, 0x281, 0, true},
		{NT_SELECT_ALL, true, 500, 0, NT_F_CANCELLED, true},
		/* Do Not Retry and More are no status. */
		{NT_SELECT_ALL, true, 500, 0x4000, 0, false},
		{NT_SELECT_SLOWER, true, 499, 0x281, 0, false},
	};

	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct nt_record r = made();

		setup(NULL);
		nt_knobs.slower_ns = 500;
		nt_knobs.select = known[i].select;
		nt_knobs.failed = known[i].failed;
		r.status = known[i].status;
		r.flags = known[i].flags;
		submit(r, known[i].latency);
		assert_int_equal(kernel.nr_records, known[i].there);
	}
}

/* A host's slot keeps its queue id; of a target's, nothing is known before Connect. */
static void a_record_names_the_connection_that_is_known(void **state)
{
	struct nt_record r = made();

	submit(r, 1);
	assert_int_equal(last_record()->qid, 4);
	assert_int_equal(last_record()->cntlid, 5);
	assert_int_equal(last_record()->side, NT_HOST);
	r.gen = 2;
	submit(r, 1);
	assert_int_equal(last_record()->qid, 4);
	assert_int_equal(last_record()->cntlid, NT_CNTLID_NONE);
	record_submit(&r, NT_TARGET, &queue, 1);
	assert_int_equal(last_record()->qid, 0);
	assert_int_equal(last_record()->cntlid, NT_CNTLID_NONE);
	assert_int_equal(last_record()->side, NT_TARGET);
}

static void an_event_has_what_the_command_asks_for(void **state)
{
	struct nvme_command sqe = {.common = {.opcode = 2,
					      .flags = 0x40,
					      .command_id = 7,
					      .cdw2 = {2, 3},
					      .metadata = 0x500000004,
					      .cdw10 = 10,
					      .cdw11 = 11,
					      .cdw12 = 12,
					      .cdw13 = 13,
					      .cdw14 = 14,
					      .cdw15 = 15}};
	const struct nt_begun *b = kernel.begun;
	struct nt_record r = made();

	event_begin(&r, NT_HOST, &queue, &sqe);
	assert_int_equal(kernel.nr_begun, 0);
	nt_knobs.events = 1;
	r.flags = NT_F_CONNECT | NT_F_ARRIVAL_JOINED;
	event_begin(&r, NT_HOST, &queue, &sqe);
	assert_int_equal(kernel.nr_begun, 1);
	assert_int_equal(b->r.flags, NT_F_ARRIVAL_JOINED | NT_F_BEGUN);
	assert_int_equal(b->r.cid, 7);
	assert_int_equal(b->r.qid, 4);
	assert_int_equal(b->r.cntlid, 5);
	assert_int_equal(b->sqe[0], 7 << 16 | 0x40 << 8 | 2);
	for (__u32 i = 2; i < 6; i++)
		assert_int_equal(b->sqe[i], i);
	for (__u32 i = 10; i < 16; i++)
		assert_int_equal(b->sqe[i], i);
	assert_int_equal(b->from.cpu, NT_CPU_NONE);
}

/* Losses come before the next record, with the time; those that find no room are kept. */
static void losses_wait_for_room(void **state)
{
	nt_knobs.tells_lost = 1;
	kernel.ring_is_full = true;
	submit(made(), 1);
	submit(made(), 1);
	submit(made(), 1);
	assert_int_equal(counted(NT_CNT_RING_FULL), 3);
	assert_int_equal(nt_control.events_lost, 3);
	assert_int_equal(kernel.lost, 0);
	kernel.ring_is_full = false;
	submit(made(), 1);
	assert_int_equal(kernel.lost, 3);
	assert_int_equal(kernel.lost_ns, kernel.now);
	assert_int_equal(nt_control.events_lost, 0);
	submit(made(), 1);
	assert_int_equal(kernel.lost, 3);
	assert_int_equal(kernel.nr_records, 2);
}

static void what_is_marked_twice_is_counted_once(void **state)
{
	struct nt_record r = made();

	record_joined(&r);
	record_joined(&r);
	assert_int_equal(r.flags, NT_F_ARRIVAL_JOINED);
	assert_int_equal(counted(NT_CNT_ARRIVAL_JOINED), 1);
	record_unsplit(&r);
	assert_int_equal(r.flags, NT_F_ARRIVAL_JOINED | NT_F_UNSPLIT);
	assert_int_equal(counted(NT_CNT_POINT_MISSING), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(user_space_is_woken_when_enough_waits),
		TEST(records_are_those_that_are_asked_for),
		TEST(a_record_names_the_connection_that_is_known),
		TEST(an_event_has_what_the_command_asks_for),
		TEST(losses_wait_for_room),
		TEST(what_is_marked_twice_is_counted_once),
	};

	return cmocka_run_group_tests_name("records", tests, NULL, NULL);
}
