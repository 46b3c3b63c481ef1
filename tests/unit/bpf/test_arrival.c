// SPDX-License-Identifier: GPL-2.0-only
#include "bpf/host.h"

#define SECOND 1000000000LL
#define MS 1000000LL
#define QID 1
#define QUEUES (QID + 1)
#define SLOT QID
#define OFFSET (1000 * SECOND) /* CLOCK_REALTIME - CLOCK_MONOTONIC at the start */
#define FIRST_SEQ 0xffffff00u  /* sequence numbers wrap after the first packets */

#include "bpf/host_machine.h"

/* Sets the wall clock to CLOCK_MONOTONIC + @offset. */
static void set_wall_clock(__s64 offset)
{
	kernel.tai = offset + nt_control.tai_offset;
}

static void set_socket(void *ready, void *user_data)
{
	/*
	 * This sets sk_data_ready as well: the structures of tests have few members, so both lie at
	 * the same place.
	 */
	m.sk.sk_receive_queue.next = ready;
	m.sk.sk_user_data = user_data;
}

static void submit_of(__u8 opcode)
{
	struct nvme_tcp_cmd_pdu pdu = {};

	/* With a Fabrics opcode this is a Connect. */
	m.requests[0].sqe = (struct nvme_command){
		.common = {.opcode = opcode, .nsid = 1, .dptr.sgl.length = 4096},
	};
	pdu.cmd = m.requests[0].sqe;
	m.requests[0].rq.start_time_ns = kernel.now += 100;
	queue_rq(NULL, &m.requests[0].rq, &pdu, QID, NULL, NULL, NULL, &m.queues[0][QID]);
}

static void submit(void)
{
	submit_of(NVME_CMD_READ);
}

static int setup(void **state)
{
	host_make();
	kernel.now = 100 * SECOND;
	nt_control.real_offset = OFFSET;
	nt_control.seen_offset = OFFSET;
	nt_control.looked_ns = kernel.now;
	nt_control.tai_offset = 37 * SECOND;
	set_wall_clock(OFFSET);
	set_socket(&m, &m.queues[0][QID]);
	submit();
	/*
	 * The program took the pointer to the socket's functions for TLS: both lie at the same
	 * place here.
	 */
	kernel.queues[SLOT].opaque = 0;
	m.skb.sk = &m.sk;
	return 0;
}

/*
 * The stamp of a packet that came @ago ns ago, when CLOCK_REALTIME was @offset ahead of
 * CLOCK_MONOTONIC.
 */
static __u64 stamped(__s64 ago, __s64 offset)
{
	return kernel.now - ago + offset;
}

static void assert_arrived(__u64 recv_time, __s64 ago)
{
	__u64 now = kernel.now, at = arrival(recv_time, now);

	assert_uint_in_range(at, now - ago - NT_CLOCK_TORN_NS, now - ago + NT_CLOCK_TORN_NS);
}

/* Steps of the clock by seconds, back and forth, and how long packets have waited. */
#define EACH_STEP(step) for (__s64 step = -5 * SECOND; step <= 5 * SECOND; step += 10 * SECOND)
#define EACH_AGE(age) for (__s64 age = 10000; age < 200 * MS; age *= 7)

static void packet_that_waited_is_of_its_time(void **state)
{
	EACH_AGE(age)
	assert_arrived(stamped(age, OFFSET), age);
	assert_int_equal(arrival(0, kernel.now), 0);
	assert_int_equal(arrival(stamped(20 * SECOND, OFFSET), kernel.now), 0);
	assert_int_equal(arrival(stamped(-MS, OFFSET), kernel.now), 0);
}

/* @told: the loader has noticed the step; else it is stopped */
static void steps(bool told)
{
	__s64 offset = OFFSET;

	EACH_STEP(step)
	{
		EACH_AGE(age)
		{
			kernel.now += SECOND;
			assert_arrived(stamped(age, offset), age);
			kernel.now += SECOND / 4;
			set_wall_clock(offset + step);
			if (told)
				nt_control.real_offset = offset + step;
			assert_arrived(stamped(age, offset), age);
			kernel.now += age;
			assert_arrived(stamped(age, offset + step), age);
			offset += step;
		}
	}
}

static void step_that_nobody_has_told_of_does_not_reach_an_arrival(void **state)
{
	steps(false);
}

static void step_that_was_told_of_does_not_reach_what_was_stamped_before(void **state)
{
	steps(true);
}

/* The clock was set twice between two looks. In between it may have been anything. */
static void packet_that_saw_several_steps_has_no_arrival(void **state)
{
	EACH_STEP(step)
	{
		setup(NULL);
		kernel.now += SECOND / 4;
		set_wall_clock(OFFSET + 2 * step);
		assert_int_equal(arrival(stamped(MS, OFFSET + step), kernel.now), 0);
		assert_arrived(stamped(MS, OFFSET + 2 * step), MS);
	}
}

/*
 * A packet that seems to have waited for long has no arrival either, as long as two steps may have
 * happened in that time.
 */
static void long_wait_after_a_step_is_not_believed_for_a_while(void **state)
{
	const __s64 offset = OFFSET + 5 * SECOND;

	kernel.now += SECOND;
	set_wall_clock(offset);
	assert_arrived(stamped(MS, offset), MS);
	kernel.now += 5 * SECOND;
	assert_int_equal(arrival(stamped(2 * SECOND, offset), kernel.now), 0);
	assert_arrived(stamped(SECOND / 2, offset), SECOND / 2);
	kernel.now += 6 * SECOND;
	assert_arrived(stamped(2 * SECOND, offset), 2 * SECOND);
}

/*
 * The step is smaller than the time that packets wait. A packet that may have come before or after
 * the step has no arrival.
 */
static void small_step_leaves_no_wrong_arrival(void **state)
{
	set_wall_clock(OFFSET + MS);
	kernel.now += 100 * MS;
	assert_int_equal(arrival(stamped(3 * MS, OFFSET), kernel.now), 0);
	assert_int_equal(arrival(stamped(3 * MS, OFFSET + MS), kernel.now), 0);
	kernel.now += 100 * MS;
	assert_arrived(stamped(3 * MS, OFFSET + MS), 3 * MS);
}

static void leap_seconds_that_become_known_are_no_step(void **state)
{
	kernel.tai -= 37 * SECOND;
	EACH_AGE(age)
	assert_arrived(stamped(age, OFFSET), age);
}

/*
 * Puts the bytes [@begin, @end) of the stream into @skb, which was stamped @ago ns ago. Nothing
 * else waits.
 */
static void packet(struct sk_buff *skb, __u32 begin, __u32 end, __s64 ago)
{
	struct tcp_skb_cb *cb = (void *)skb->cb;

	cb->seq = FIRST_SEQ + begin;
	cb->end_seq = FIRST_SEQ + end;
	skb->len = end - begin;
	skb->tstamp = stamped(ago, OFFSET);
}

/* The kernel joins @len more bytes, stamped @ago ns ago, with the packet that waits. */
static void join(__u32 len, __s64 ago)
{
	struct tcp_skb_cb *cb = (void *)m.skb.cb;

	packet_joined(NULL, &m.skb);
	cb->end_seq += len;
	m.skb.len += len;
	m.skb.tstamp = stamped(ago, OFFSET);
}

/*
 * Receives the first data PDU of a new command. @at: place of its header's last byte in the stream
 *
 * Return: the record of the command
 */
static const struct nt_record *receive(__u32 at)
{
	const struct tcp_skb_cb *cb = (void *)m.skb.cb;
	struct nvme_tcp_data_pdu pdu = {.hdr.type = nvme_tcp_c2h_data};
	struct nt_cmd *c;

	submit();
	kernel.queues[SLOT].opaque = 0;
	pdu_received(&kernel.queues[SLOT], &pdu, &m.skb, FIRST_SEQ + at - cb->seq);
	c = cmd_by_tag(&kernel.queues[SLOT], 0);
	assert_non_null(c);
	return &c->r;
}

static void assert_received(__u32 at, __s64 ago)
{
	__u64 since = kernel.now;
	const struct nt_record *r = receive(at);

	assert_false(r->flags & NT_F_ARRIVAL_JOINED);
	assert_uint_in_range(r->points[NT_H_RX], since - ago - 50000, since - ago + 50000);
}

static void assert_unknown(__u32 at)
{
	assert_true(receive(at)->flags & NT_F_ARRIVAL_JOINED);
}

static void joined_packets_keep_their_times(void **state)
{
	packet(&m.skb, 0, 100, 40 * MS);
	join(200, 30 * MS);
	join(1, 20 * MS);
	join(99, 10 * MS);
	assert_received(0, 40 * MS);
	assert_received(99, 40 * MS);
	assert_received(100, 30 * MS);
	assert_received(299, 30 * MS);
	assert_received(300, 20 * MS);
	assert_received(301, 10 * MS);
	assert_received(399, 10 * MS);
	assert_int_equal(counted(NT_CNT_ARRIVAL_JOINED), 0);
}

static void packet_that_nothing_is_joined_to_has_its_own_stamp(void **state)
{
	packet(&m.skb, 0, 100, 40 * MS);
	assert_received(50, 40 * MS);
	assert_int_equal(kernel.queues[SLOT].joins, 0);
	join(100, 30 * MS);
	packet(&m.skb, 200, 300, 20 * MS);
	assert_received(250, 20 * MS);
}

/* Packets that came before stamping was switched on have no time. */
static void packet_without_a_stamp_that_is_joined_has_no_arrival(void **state)
{
	packet(&m.skb, 0, 100, 40 * MS);
	m.skb.tstamp = 0;
	join(100, 30 * MS);
	assert_int_equal(receive(50)->points[NT_H_RX], 0);
	assert_received(150, 30 * MS);
}

/*
 * The kernel may find afterwards that the two packets cannot be joined. The note is true all the
 * same.
 */
static void join_that_does_not_come_about_changes_nothing(void **state)
{
	packet(&m.skb, 0, 100, 40 * MS);
	packet_joined(NULL, &m.skb);
	assert_received(50, 40 * MS);
	packet(&m.skb, 100, 200, 30 * MS);
	join(100, 20 * MS);
	assert_received(150, 30 * MS);
	assert_received(250, 20 * MS);
}

/* @next comes while a task owns the socket, and waits in the backlog behind @tail. */
static void wait_behind(struct sk_buff *tail, struct sk_buff *next)
{
	/*
	 * This is the tail of the backlog as well: the structures of tests have few members, so
	 * both lie at the same place.
	 */
	set_socket(tail, &m.queues[0][QID]);
	nt_control.data_ready = kernel.learned.data_ready = (__u64)tail;
	packet_waits(NULL, &m.sk, next);
}

/*
 * Two packets are joined while a task owns the socket. Then TCP joins the result, as one packet,
 * with the end of the receive queue.
 */
static void packets_joined_in_the_backlog_keep_their_times(void **state)
{
	struct sk_buff tail = {}, next = {};

	packet(&m.skb, 0, 100, 40 * MS);
	packet(&tail, 100, 200, 30 * MS);
	packet(&next, 200, 300, 20 * MS);
	wait_behind(&tail, &next);
	join(200, 20 * MS);
	assert_received(50, 40 * MS);
	assert_received(150, 30 * MS);
	assert_received(250, 20 * MS);
}

/*
 * The bytes [76, 100) wait, and come again in the backlog while a task owns the socket. The next
 * packet is joined with the repeated bytes.
 */
static void sent_again_and_joined(void)
{
	struct sk_buff again = {}, next = {};

	packet(&again, 76, 100, 30 * MS);
	packet(&next, 100, 200, 20 * MS);
	wait_behind(&again, &next);
}

static void bytes_that_are_sent_again_came_when_they_did_first(void **state)
{
	packet(&m.skb, 0, 100, 40 * MS);
	sent_again_and_joined();
	assert_received(99, 40 * MS);
	packet(&m.skb, 76, 200, 20 * MS);
	assert_received(199, 20 * MS);
	assert_int_equal(counted(NT_CNT_ARRIVAL_JOINED), 0);
}

static void what_is_noted_and_sent_again_changes_nothing(void **state)
{
	struct sk_buff again = {};

	packet(&m.skb, 0, 100, 40 * MS);
	join(100, 30 * MS);
	join(100, 20 * MS);
	for (__u32 begin = 0; begin < 200; begin += 100) {
		packet(&again, begin, 200, 10 * MS);
		again.sk = &m.sk;
		packet_joined(NULL, &again);
	}
	assert_received(50, 40 * MS);
	assert_received(150, 30 * MS);
	assert_received(250, 20 * MS);
	assert_int_equal(counted(NT_CNT_ARRIVAL_JOINED), 0);
}

/* An acknowledgement has no bytes, but leaves its stamp. */
static void acknowledgement_that_is_joined_in_the_backlog_changes_nothing(void **state)
{
	struct sk_buff tail = {}, next = {};

	packet(&m.skb, 0, 100, 40 * MS);
	packet(&tail, 100, 200, 30 * MS);
	for (int i = 0; i < 2; i++) {
		packet(&next, 200, 200, 25 * MS);
		wait_behind(&tail, &next);
		tail.tstamp = next.tstamp;
	}
	join(100, 25 * MS);
	join(100, 20 * MS);
	assert_received(50, 40 * MS);
	assert_received(150, 30 * MS);
	assert_received(250, 20 * MS);
	assert_int_equal(counted(NT_CNT_ARRIVAL_JOINED), 0);
}

/*
 * Bytes arrived out of order. When the gap is filled, TCP joins the later bytes and their stamp
 * with the packet that filled it.
 */
static void bytes_that_came_behind_what_follows_them_keep_their_time(void **state)
{
	packet(&m.skb, 0, 100, 20 * MS);
	join(100, 40 * MS);
	assert_received(50, 20 * MS);
	assert_received(150, 40 * MS);
	assert_int_equal(counted(NT_CNT_ARRIVAL_JOINED), 0);
}

/*
 * The bytes are sent again in two parts. The first part begins where the received packet begins, or
 * inside it.
 */
static void bytes_that_are_sent_again_in_parts_are_told_as_unknown(void **state)
{
	struct sk_buff again = {}, next = {};

	for (__u32 begin = 0; begin <= 20; begin += 20) {
		setup(NULL);
		packet(&m.skb, 0, 100, 40 * MS);
		packet(&again, begin, 80, 30 * MS);
		packet(&next, 80, 100, 30 * MS);
		wait_behind(&again, &next);
		assert_unknown(50);
		assert_received(90, 40 * MS);
	}
}

static void more_joins_than_are_kept_are_told_as_unknown(void **state)
{
	__u32 n = NT_JOINS_KEPT + 10;

	packet(&m.skb, 0, 100, 40 * MS);
	for (__u32 i = 1; i <= n; i++)
		join(100, 30 * MS);
	assert_unknown(50);
	assert_unknown(9 * 100 + 50);
	assert_received(10 * 100 + 50, 30 * MS);
	assert_received(n * 100 + 50, 30 * MS);
	assert_int_equal(counted(NT_CNT_ARRIVAL_JOINED), 2);
	/* Notes of bytes that were read make room. */
	for (__u32 i = 1; i < NT_JOINS_KEPT; i++)
		join(100, 20 * MS);
	assert_received((n + 1) * 100 + 50, 20 * MS);
}

/* The next join would overwrite that note, perhaps while another CPU reads it. */
static void note_that_gives_way_next_is_not_relied_on(void **state)
{
	__u32 slots = NT_JOIN_SLOTS;

	packet(&m.skb, 0, 100, 40 * MS);
	for (__u32 i = 1; i < slots; i++)
		join(100, 30 * MS);
	assert_received(50, 40 * MS);
	setup(NULL);
	packet(&m.skb, 0, 100, 40 * MS);
	for (__u32 i = 1; i <= slots; i++)
		join(100, 30 * MS);
	assert_unknown(50);
	assert_received(150, 30 * MS);
}

static struct {
	const volatile void *head;
	unsigned int looks;
} beside;

/*
 * Another CPU joins one more packet while this one reads the notes, between its two reads of their
 * number.
 */
static void join_beside(const volatile void *at)
{
	if (at != beside.head || ++beside.looks != 2)
		return;
	on_atomic = NULL;
	join(100, 20 * MS);
}

static void notes_that_give_way_while_they_are_read_are_not_relied_on(void **state)
{
	for (__u32 first = 0; first < 200; first += 100) {
		setup(NULL);
		packet(&m.skb, 0, 100, 40 * MS);
		for (__u32 i = 1; i <= NT_JOINS_KEPT; i++)
			join(100, 30 * MS);
		beside.head = &joins_of(&kernel.queues[SLOT])->rings[NT_JOINED_RECEIVED].head;
		beside.looks = 0;
		on_atomic = join_beside;
		assert_unknown(first + 50);
		assert_int_equal(beside.looks, 2);
	}
}

/* Only the distance between head and tail counts: both are numbers that wrap. */
static void notes_are_found_behind_the_end_of_their_numbers(void **state)
{
	struct nt_join_ring *r;

	packet(&m.skb, 0, 100, 40 * MS);
	join(100, 30 * MS);
	assert_received(50, 40 * MS);
	r = &joins_of(&kernel.queues[SLOT])->rings[NT_JOINED_RECEIVED];
	r->head = r->read = ~0u - 2;
	packet(&m.skb, 1000, 1100, 40 * MS);
	for (__u32 i = 1; i <= NT_JOINS_KEPT + 1; i++)
		join(100, 30 * MS);
	assert_unknown(1050);
	assert_received(1150, 30 * MS);
}

static void what_was_sent_again_is_told_as_unknown(void **state)
{
	packet(&m.skb, 1000, 1100, 40 * MS);
	join(100, 30 * MS);
	packet(&m.skb, 0, 500, 20 * MS);
	join(500, 10 * MS);
	assert_unknown(400);
	packet(&m.skb, 2000, 2100, 5 * MS);
	assert_received(2050, 5 * MS);
}

/*
 * The program that sees a response was skipped. Until the next command the queue is unknown, and
 * joins are not noted. @tail: the last packet that waits in the backlog while a task owns the
 * socket
 */
static void response_is_missed(__u32 received, struct sk_buff *tail)
{
	kernel.queues[SLOT].queue = 0;
	join(100, 25 * MS);
	m.rcv_nxt = FIRST_SEQ + received;
	/*
	 * This is the tail of the backlog as well: the structures of tests have few members, so
	 * both lie at the same place.
	 */
	set_socket(tail, &m.queues[0][QID]);
	nt_control.data_ready = kernel.learned.data_ready = (__u64)tail;
}

static void what_waits_when_a_queue_is_known_anew_is_told_as_unknown(void **state)
{
	struct sk_buff tail = {};

	for (int waits = 0; waits < 2; waits++) {
		setup(NULL);
		packet(&m.skb, 0, 100, 40 * MS);
		join(200, 30 * MS);
		packet(&tail, 400, waits ? 500 : 400, 22 * MS);
		response_is_missed(400, &tail);
		assert_unknown(50);
		assert_unknown(250);
		assert_unknown(350);
		join(100, 20 * MS);
		join(100, 10 * MS);
		if (waits)
			assert_unknown(450);
		else
			assert_received(450, 20 * MS);
		assert_received(550, 10 * MS);
	}
}

static void connection_that_is_new_has_nothing_that_waits(void **state)
{
	packet(&m.skb, 0, 100, 40 * MS);
	join(200, 30 * MS);
	m.rcv_nxt = FIRST_SEQ + 5000;
	submit_of(NVME_FABRICS_COMMAND);
	/* The command is answered. */
	kernel.queues[SLOT].identified = kernel.queues[SLOT].gen;
	packet(&m.skb, 1000, 1100, 20 * MS);
	join(200, 10 * MS);
	assert_received(1050, 20 * MS);
}

static void queue_without_room_for_joins_is_told_as_unknown(void **state)
{
	nt_pools[NT_POOL_JOINS].taken = nt_pools[NT_POOL_JOINS].given;
	packet(&m.skb, 0, 100, 40 * MS);
	assert_received(50, 40 * MS);
	join(100, 30 * MS);
	assert_unknown(50);
}

/* When the queue connects again, the pool may have room. */
static void queue_that_lacked_room_for_joins_asks_again(void **state)
{
	nt_pools[NT_POOL_JOINS].taken = nt_pools[NT_POOL_JOINS].given;
	packet(&m.skb, 0, 100, 40 * MS);
	join(100, 30 * MS);
	assert_unknown(50);
	nt_pools[NT_POOL_JOINS].taken = 0;
	joins_begin(&kernel.queues[SLOT], &m.sk, true);
	kernel.queues[SLOT].opaque = 0;
	packet(&m.skb, 1000, 1100, 40 * MS);
	join(100, 30 * MS);
	assert_received(1050, 40 * MS);
}

static void without_the_programs_nothing_is_known(void **state)
{
	nt_knobs.joins_unseen = 1;
	packet(&m.skb, 0, 100, 40 * MS);
	assert_unknown(50);
	nt_knobs.joins_unseen = 0;
	assert_received(50, 40 * MS);
	/* Some runs of the programs that see joins were skipped. */
	nt_control.joins_missed = 1;
	assert_unknown(50);
}

static void sockets_of_others_are_left_alone(void **state)
{
	struct sock other = {.sk_user_data = &m.queues[0][QID]};
	struct sk_buff skb = {.sk = &other};

	packet(&skb, 0, 100, 40 * MS);
	packet_joined(NULL, &skb);
	skb.sk = NULL;
	packet_joined(NULL, &skb);
	packet_waits(NULL, &other, &skb);
	assert_int_equal(nt_pools[NT_POOL_JOINS].taken, 0);
}

/* The driver copies the header of a new command's data PDU from the first bytes of @skb. */
static const struct nt_record *copy_header(const struct sk_buff *skb, const struct sk_buff *within)
{
	struct nvme_tcp_data_pdu pdu = {.hdr.type = nvme_tcp_c2h_data};

	submit();
	kernel.queues[SLOT].opaque = 0;
	memcpy(m.headers[QID].bytes, &pdu, sizeof(pdu));
	/* For a packet inside @skb the function calls itself, and the inner call returns first. */
	if (within)
		stock_recv_pdu(NULL, within, 0, m.headers[QID].bytes, HOST_PDU_BYTES, 0);
	stock_recv_pdu(NULL, skb, 0, m.headers[QID].bytes, HOST_PDU_BYTES, 0);
	return &cmd_by_tag(&kernel.queues[SLOT], 0)->r;
}

/*
 * The header's last byte is the last one of a packet. Another packet is joined before the header is
 * read.
 */
static void header_that_ends_with_its_packet_came_with_that(void **state)
{
	struct nvme_tcp_data_pdu pdu = {.hdr.type = nvme_tcp_c2h_data};
	const struct nt_record *r;

	for (int offset = 0; offset < 2; offset++) {
		setup(NULL);
		packet(&m.skb, 0, HOST_PDU_BYTES + offset, 40 * MS);
		join(100, 30 * MS);
		submit();
		kernel.queues[SLOT].opaque = 0;
		memcpy(m.headers[QID].bytes, &pdu, sizeof(pdu));
		stock_recv_pdu(NULL, &m.skb, offset, m.headers[QID].bytes, HOST_PDU_BYTES, 0);
		r = &cmd_by_tag(&kernel.queues[SLOT], 0)->r;
		assert_uint_in_range(kernel.now - r->points[NT_H_RX], 40 * MS, 41 * MS);
	}
}

/* A patched driver reports where in the stream the header that it received ends. */
static void place_that_a_patched_driver_tells_is_that_of_its_byte(void **state)
{
	struct nvme_tcp_data_pdu data = {.hdr.type = nvme_tcp_c2h_data};
	struct nvme_tcp_rsp_pdu rsp = {.hdr.type = nvme_tcp_rsp};
	struct nvme_tcp_queue *q = &m.queues[0][QID];
	struct nvme_tcp_r2t_pdu r2t = {.command_id = 0};
	const struct nt_record *r;

	for (int which = 0; which < 3; which++) {
		for (__u32 at = 99; at <= 100; at++) {
			struct socket *sock = q->sock;

			setup(NULL);
			packet(&m.skb, 0, 100, 40 * MS);
			join(100, 30 * MS);
			/*
			 * This is the place in the stream as well: the structures of tests have few
			 * members, so both lie at the same place.
			 */
			q->sock = (void *)(unsigned long)(FIRST_SEQ + at);
			if (which == 0)
				handle_c2h_data(NULL, &m.requests[0].rq, QID, 0,
						(__u64)m.skb.tstamp, &data, q);
			else if (which == 1)
				handle_r2t(NULL, &m.requests[0].rq, &r2t, QID, (__u64)m.skb.tstamp,
					   q);
			else
				process_nvme_cqe(NULL, &m.requests[0].rq, &rsp, QID,
						 (__u64)m.skb.tstamp, q);
			q->sock = sock;
			r = &cmd_by_tag(&kernel.queues[SLOT], 0)->r;
			assert_false(r->flags & NT_F_ARRIVAL_JOINED);
			assert_uint_in_range(
				kernel.now - r->points[which == 1 ? NT_H_R2T_RX : NT_H_RX],
				at < 100 ? 40 * MS : 30 * MS, at < 100 ? 41 * MS : 31 * MS);
		}
	}
}

static void packets_within_another_have_its_arrival(void **state)
{
	struct sock sender = {.sk_user_data = &sender};
	struct sk_buff within = {};
	const struct nt_record *r;

	packet(&m.skb, 0, 1000, 10 * MS);
	for (int i = 0; i < 2; i++) {
		r = copy_header(&m.skb, &within);
		assert_int_equal(r->points[NT_H_RX], m.skb.tstamp - OFFSET);
		assert_false(r->flags & NT_F_ARRIVAL_JOINED);
		/*
		 * The packet inside belongs to the sender's socket: the connection is from this
		 * machine to itself.
		 */
		within.sk = &sender;
	}
	/* The driver is giving its socket back. */
	m.sk.sk_user_data = NULL;
	assert_int_equal(copy_header(&m.skb, NULL)->points[NT_H_RX], m.skb.tstamp - OFFSET);
}

static void arrivals_of_tls_are_not_told(void **state)
{
	struct nvme_tcp_data_pdu pdu = {.hdr.type = nvme_tcp_c2h_data};
	const struct nt_cmd *c;
	struct nt_join p;

	packet(&m.skb, 0, 100, 40 * MS);
	p = packet_of(&m.skb);
	kernel.queues[SLOT].opaque = 0;
	assert_received(50, 40 * MS);
	joins_begin(&kernel.queues[SLOT], &m.sk, true);
	assert_true(kernel.queues[SLOT].opaque);
	assert_int_equal(cmd_arrival(cmd_by_tag(&kernel.queues[SLOT], 0), &kernel.queues[SLOT], &p,
				     0, kernel.now),
			 0);
	/* Packets that TLS has decrypted belong to no socket. */
	m.skb.sk = NULL;
	memset(m.headers[QID].bytes, 0, sizeof(m.headers[QID].bytes));
	submit();
	assert_true(kernel.queues[SLOT].opaque);
	memcpy(m.headers[QID].bytes, &pdu, sizeof(pdu));
	stock_recv_pdu(NULL, &m.skb, 0, m.headers[QID].bytes, HOST_PDU_BYTES, 0);
	c = cmd_by_tag(&kernel.queues[SLOT], 0);
	assert_int_equal(c->r.points[NT_H_RX], 0);
	assert_int_not_equal(c->r.points[NT_H_C2H], 0);
}

/* Some decrypted packets still belong to a socket, but not to the queue's. */
static void what_tls_has_decrypted_is_within_no_packet(void **state)
{
	struct nvme_tcp_data_pdu pdu = {.hdr.type = nvme_tcp_c2h_data};
	struct sock other = {.sk_user_data = &other};

	submit();
	kernel.queues[SLOT].opaque = 1;
	m.skb.sk = &other;
	memcpy(m.headers[QID].bytes, &pdu, sizeof(pdu));
	stock_recv_pdu(NULL, &m.skb, 0, m.headers[QID].bytes, HOST_PDU_BYTES, 0);
	assert_int_not_equal(cmd_by_tag(&kernel.queues[SLOT], 0)->r.points[NT_H_C2H], 0);
}

/* The response to the command in flight comes after @wait ns, and the command ends. */
static const struct nt_record *end_after(__s64 wait)
{
	struct nvme_tcp_rsp_pdu rsp = {.hdr.type = nvme_tcp_rsp};

	kernel.now += wait;
	pdu_received(&kernel.queues[SLOT], &rsp, &m.skb, 0);
	rq_complete(NULL, &m.requests[0].rq, 0);
	return last_record();
}

/* The sum of a stage's times, in nanoseconds, of all @nr commands of an operation. */
static __u64 stage_sum(enum nt_op op, enum nt_host_stage stage, __u64 nr)
{
	const __u64 key = NT_HIST_KEY(last_record()->slot,
				      queue_at(last_record()->slot)->controller, op, kernel.cpu);
	const struct nt_stage_hist *h = &stages_with(key)->h[stage];
	__u64 n = 0;

	for (unsigned int b = 0; b < NT_STAGE_BUCKETS; b++)
		n += h->buckets[b];
	assert_int_equal(n, nr);
	return h->sum;
}

static __u64 all_stages(enum nt_op op, __u64 stacks)
{
	__u64 sum = 0;

	for (int i = 0; i < NT_HOST_STAGES_NR; i++) {
		bool stack = i == NT_HS_NSTACK_COMPLETION;
		bool absent =
			i == NT_HS_DEVICE || (i == NT_HS_NVME_TCP_COMPLETION && op != NT_OP_READ);

		sum += stage_sum(op, i, stack ? stacks : !absent);
	}
	return sum;
}

static void with_tls_the_network_stack_is_in_the_networks_stage(void **state)
{
	struct nvme_tcp_data_pdu data = {.hdr.type = nvme_tcp_c2h_data};
	const struct nt_join p = packet_of(&m.skb);
	const struct nt_record *r;

	m.requests[0].rq.bio = (struct bio *)&m;
	submit();
	kernel.queues[SLOT].opaque = 1;
	cmd_reach(cmd_by_tag(&kernel.queues[SLOT], 0), NT_H_SEND_CMD);
	kernel.now += 30 * MS;
	pdu_received(&kernel.queues[SLOT], &data, &m.skb, 0);
	r = end_after(MS);
	assert_int_equal(r->points[NT_H_RX], 0);
	assert_false(r->flags & NT_F_UNSPLIT);
	assert_int_equal(stage_sum(NT_OP_READ, NT_HS_NETWORK_AND_TARGET, 1),
			 r->points[NT_H_C2H] - r->points[NT_H_SEND_CMD]);
	assert_int_equal(all_stages(NT_OP_READ, 0),
			 r->points[NT_H_COMPLETE] - r->points[NT_H_SUBMIT]);

	submit_of(NVME_CMD_WRITE);
	kernel.queues[SLOT].opaque = 1;
	cmd_reach(cmd_by_tag(&kernel.queues[SLOT], 0), NT_H_SEND_CMD);
	kernel.now += 20 * MS;
	cmd_asked(cmd_by_tag(&kernel.queues[SLOT], 0), 0,
		  cmd_arrival(cmd_by_tag(&kernel.queues[SLOT], 0), &kernel.queues[SLOT], &p, 0,
			      kernel.now),
		  kernel.now);
	cmd_reach(cmd_by_tag(&kernel.queues[SLOT], 0), NT_H_SEND_DATA);
	r = end_after(10 * MS);
	assert_false(r->flags & NT_F_UNSPLIT);
	assert_int_equal(stage_sum(NT_OP_WRITE, NT_HS_NETWORK_AND_TARGET, 1),
			 r->points[NT_H_R2T] - r->points[NT_H_SEND_CMD] + r->points[NT_H_CQE] -
				 r->points[NT_H_SEND_DATA]);
	assert_int_equal(all_stages(NT_OP_WRITE, 0),
			 r->points[NT_H_COMPLETE] - r->points[NT_H_SUBMIT]);
	assert_int_equal(counted(NT_CNT_POINT_MISSING), 0);
	assert_int_equal(counted(NT_CNT_ARRIVAL_MISSING), 2);
}

/* The command has no response at all, so it is not its arrival that is unknown. */
static void without_an_answer_no_stage_is_known(void **state)
{
	m.requests[0].rq.bio = (struct bio *)&m;
	submit();
	kernel.queues[SLOT].opaque = 1;
	cmd_reach(cmd_by_tag(&kernel.queues[SLOT], 0), NT_H_SEND_CMD);
	rq_complete(NULL, &m.requests[0].rq, 0);
	assert_true(last_record()->flags & NT_F_UNSPLIT);
	assert_int_equal(counted(NT_CNT_POINT_MISSING), 1);
	assert_int_equal(counted(NT_CNT_ARRIVAL_MISSING), 0);
}

#define CASE(test) cmocka_unit_test_setup(test, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(packet_that_waited_is_of_its_time),
		CASE(step_that_nobody_has_told_of_does_not_reach_an_arrival),
		CASE(step_that_was_told_of_does_not_reach_what_was_stamped_before),
		CASE(packet_that_saw_several_steps_has_no_arrival),
		CASE(long_wait_after_a_step_is_not_believed_for_a_while),
		CASE(small_step_leaves_no_wrong_arrival),
		CASE(leap_seconds_that_become_known_are_no_step),
		CASE(joined_packets_keep_their_times),
		CASE(packet_that_nothing_is_joined_to_has_its_own_stamp),
		CASE(join_that_does_not_come_about_changes_nothing),
		CASE(packet_without_a_stamp_that_is_joined_has_no_arrival),
		CASE(packets_joined_in_the_backlog_keep_their_times),
		CASE(bytes_that_are_sent_again_came_when_they_did_first),
		CASE(what_is_noted_and_sent_again_changes_nothing),
		CASE(acknowledgement_that_is_joined_in_the_backlog_changes_nothing),
		CASE(bytes_that_came_behind_what_follows_them_keep_their_time),
		CASE(bytes_that_are_sent_again_in_parts_are_told_as_unknown),
		CASE(more_joins_than_are_kept_are_told_as_unknown),
		CASE(note_that_gives_way_next_is_not_relied_on),
		CASE(notes_that_give_way_while_they_are_read_are_not_relied_on),
		CASE(notes_are_found_behind_the_end_of_their_numbers),
		CASE(what_was_sent_again_is_told_as_unknown),
		CASE(what_waits_when_a_queue_is_known_anew_is_told_as_unknown),
		CASE(connection_that_is_new_has_nothing_that_waits),
		CASE(queue_without_room_for_joins_is_told_as_unknown),
		CASE(queue_that_lacked_room_for_joins_asks_again),
		CASE(without_the_programs_nothing_is_known),
		CASE(sockets_of_others_are_left_alone),
		CASE(header_that_ends_with_its_packet_came_with_that),
		CASE(place_that_a_patched_driver_tells_is_that_of_its_byte),
		CASE(packets_within_another_have_its_arrival),
		CASE(arrivals_of_tls_are_not_told),
		CASE(what_tls_has_decrypted_is_within_no_packet),
		CASE(with_tls_the_network_stack_is_in_the_networks_stage),
		CASE(without_an_answer_no_stage_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
