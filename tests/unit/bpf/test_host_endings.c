// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the host's commands are said to have ended where programs were skipped, and where the host
 * gave a command up.
 */
#include "bpf/host.h"

#define QUEUES 3
#define REQUESTS 4

#define DNR 0x4000 /* bit of a status: do not retry */

#include "bpf/host_machine.h"

/* Requests have a bio while they have not ended. */
static struct bio {
	int unused;
} bio;

/* A PDU as long as it is on the wire: the structures of tests have fewer members. */
union pdu {
	char bytes[HOST_PDU_BYTES];
	struct nvme_tcp_rsp_pdu rsp;
	struct nvme_tcp_data_pdu data;
};

static int setup(void **state)
{
	host_make();
	nt_control.began_ns = 1;
	for (int i = 0; i < REQUESTS; i++)
		m.requests[i].rq.bio = &bio;
	return 0;
}

static int setup_stock(void **state)
{
	setup(state);
	m.stock = true;
	return 0;
}

/* The driver has the request. No program has run yet. */
static void make(int i, int qid, __u8 opcode)
{
	struct request *rq = &m.requests[i].rq;

	m.requests[i].sqe = (struct nvme_command){
		.common = {.opcode = opcode, .command_id = (m.cid += 0x1000) | i, .nsid = 1}};
	m.requests[i].sqe.common.dptr.sgl.length = opcode == NVME_CMD_FLUSH ? 0 : 4096;
	m.requests[i].req.queue = &m.queues[0][qid];
	m.requests[i].req.req.status = 0;
	m.requests[i].req.req.flags = 0;
	m.requests[i].req.req.retries = 0;
	rq->mq_hctx = &m.hctx[qid];
	rq->start_time_ns = kernel.now += 100;
	request_make(rq, &m.requests[i].req, &m.requests[i].sqe);
}

/* Runs the programs that see a command begin. */
static void issue(int i, int qid)
{
	struct request *rq = &m.requests[i].rq;
	struct nvme_tcp_cmd_pdu pdu = {.cmd = m.requests[i].sqe};

	if (m.stock)
		stock_queue_rq(NULL, rq);
	else
		queue_rq(NULL, rq, &pdu, qid, NULL, NULL, NULL, &m.queues[0][qid]);
}

static void submit(int i, int qid, __u8 opcode)
{
	make(i, qid, opcode);
	issue(i, qid);
	cmd_reach(cmd_of(&m.queues[0][qid], qid, &m.requests[i].rq), NT_H_SEND_CMD);
}

/* The driver copies a part of a header, on any CPU. */
static void copy(int qid, const union pdu *pdu, size_t from, size_t size)
{
	const struct sk_buff skb = {.sk = &m.sk, .tstamp = (ktime_t)kernel.now};
	char *to = (char *)m.queues[0][qid].pdu + from;

	memcpy(to, pdu->bytes + from, size);
	stock_recv_pdu(NULL, &skb, 0, to, (int)size, 0);
}

static union pdu response(int i, __u16 status)
{
	union pdu pdu = {
		.rsp = {.hdr.type = nvme_tcp_rsp,
			.cqe = {.command_id = m.requests[i].sqe.common.command_id,
				.status = status << 1}},
	};

	m.requests[i].req.req.status = status;
	return pdu;
}

/* The last data PDU of a read, so that no CQE follows. */
static union pdu data(int i)
{
	return (union pdu){
		.data = {.hdr = {.type = nvme_tcp_c2h_data, .flags = NVME_TCP_F_DATA_SUCCESS},
			 .command_id = m.requests[i].sqe.common.command_id},
	};
}

/* @seen: false: the program that sees the response is skipped */
static void answer(int i, int qid, bool seen)
{
	union pdu pdu = response(i, 0);

	if (!seen)
		return;
	if (m.stock)
		copy(qid, &pdu, 0, HOST_PDU_BYTES);
	else
		process_nvme_cqe(NULL, &m.requests[i].rq, &pdu.rsp, qid, 0, &m.queues[0][qid]);
}

static void receive(int i, int qid)
{
	union pdu pdu = data(i);

	if (m.stock)
		copy(qid, &pdu, 0, HOST_PDU_BYTES);
	else
		handle_c2h_data(NULL, &m.requests[i].rq, qid, 4096, 0, &pdu.data,
				&m.queues[0][qid]);
}

static void complete(int i)
{
	struct request *rq = &m.requests[i].rq;

	/* Linux passes an error to the block layer as another number. */
	rq_complete(NULL, rq, m.requests[i].req.req.status ? 10 : 0);
}

static void answer_that_was_not_seen_is_no_cancellation(void **state)
{
	submit(0, 1, NVME_CMD_WRITE);
	answer(0, 1, false);
	complete(0);
	assert_int_equal(counted(NT_CNT_CANCELLED), 0);
	assert_int_equal(counted(NT_CNT_POINT_MISSING), 1);
	assert_int_equal(latencies(), 1);
	assert_true(last_record()->flags & NT_F_UNSPLIT);
	assert_false(last_record()->flags & NT_F_CANCELLED);
}

static void cancel(int i, __u16 status, __u8 flags)
{
	m.requests[i].req.req.status = status;
	m.requests[i].req.req.flags = flags;
}

static void assert_cancelled(__u64 n)
{
	assert_int_equal(counted(NT_CNT_CANCELLED), n);
	assert_int_equal(counted(NT_CNT_POINT_MISSING), 0);
	assert_int_equal(latencies(), 0);
	assert_true(last_record()->flags & NT_F_CANCELLED);
}

static void what_the_host_gives_up_is_cancelled(void **state)
{
	submit(0, 1, NVME_CMD_READ);
	cancel(0, NVME_SC_HOST_ABORTED_CMD, NVME_REQ_CANCELLED);
	complete(0);
	assert_cancelled(1);
	/* nvme_tcp_complete_timed_out() */
	submit(0, 1, NVME_CMD_READ);
	cancel(0, NVME_SC_HOST_ABORTED_CMD, 0);
	complete(0);
	assert_cancelled(2);
	submit(0, 1, NVME_CMD_READ);
	cancel(0, NVME_SC_HOST_PATH_ERROR, 0);
	complete(0);
	assert_cancelled(3);
}

/* Since Linux 6.6 nvme_failover_req() clears the status. */
static void what_fails_over_is_cancelled_though_its_status_is_cleared(void **state)
{
	submit(0, 1, NVME_CMD_FLUSH);
	cancel(0, 0, NVME_REQ_CANCELLED);
	complete(0);
	assert_cancelled(1);
	submit(0, 1, NVME_CMD_READ);
	cancel(0, 0, NVME_REQ_CANCELLED);
	m.requests[0].rq.bio = NULL;
	complete(0);
	assert_cancelled(2);
	/* It timed out while the controller was not live, so the flag is not set. */
	submit(0, 1, NVME_CMD_READ);
	cancel(0, 0, 0);
	m.requests[0].rq.bio = NULL;
	complete(0);
	assert_cancelled(3);
}

/* A request that was cancelled and is sent again keeps the flag (nvme_retry_req()). */
static void what_was_cancelled_and_sent_again_ends_as_it_does(void **state)
{
	submit(0, 1, NVME_CMD_READ);
	cancel(0, 0, NVME_REQ_CANCELLED);
	complete(0);
	assert_int_equal(counted(NT_CNT_CANCELLED), 0);
	assert_int_equal(counted(NT_CNT_POINT_MISSING), 1);
	assert_int_equal(latencies(), 1);
	submit(0, 1, NVME_CMD_WRITE);
	cancel(0, DNR | 0x006, NVME_REQ_CANCELLED);
	complete(0);
	assert_int_equal(counted(NT_CNT_CANCELLED), 0);
	assert_int_equal(errors_of(NT_OP_WRITE, 0x006), 1);
}

/* The same for a read that has no CQE. */
static void read_without_cqe_that_was_sent_again_ends_with_its_data(void **state)
{
	union pdu pdu;

	submit(0, 1, NVME_CMD_READ);
	m.requests[0].req.req.flags = NVME_REQ_CANCELLED;
	receive(0, 1);
	pdu = data(0);
	recv_data(NULL, &m.requests[0].rq, 1, 4096, 0, &pdu.data, &m.queues[0][1]);
	complete(0);
	assert_int_equal(counted(NT_CNT_CANCELLED), 0);
	assert_int_equal(latencies(), 1);
	assert_true(last_record()->flags & NT_F_NO_CQE);
}

static void read_without_cqe_that_is_cut_is_cancelled(void **state)
{
	union pdu pdu;

	submit(0, 1, NVME_CMD_READ);
	receive(0, 1);
	/* Some of the last data have come. */
	pdu = data(0);
	recv_data(NULL, &m.requests[0].rq, 1, 512, 0, &pdu.data, &m.queues[0][1]);
	cancel(0, 0, NVME_REQ_CANCELLED);
	m.requests[0].rq.bio = NULL;
	complete(0);
	assert_cancelled(1);
}

static void read_without_cqe_ends_with_its_data(void **state)
{
	union pdu pdu;

	submit(0, 1, NVME_CMD_READ);
	receive(0, 1);
	pdu = data(0);
	recv_data(NULL, &m.requests[0].rq, 1, 4096, 0, &pdu.data, &m.queues[0][1]);
	complete(0);
	assert_int_equal(counted(NT_CNT_CANCELLED), 0);
	assert_int_equal(latencies(), 1);
	assert_true(last_record()->flags & NT_F_NO_CQE);
}

/*
 * The response was copied but not accepted: its digest is wrong, or it says that all data have come
 * when they have not. The host resets the controller 5 s later. Then it fails over, which since
 * Linux 6.6 clears the status, or ends the command.
 */
static void what_is_given_up_after_its_answer_was_copied_is_cancelled(void **state)
{
	static const __u16 statuses[] = {0, NVME_SC_HOST_ABORTED_CMD, NVME_SC_HOST_ABORTED_CMD};

	for (int i = 0; i < 3; i++) {
		submit(0, 1, NVME_CMD_READ);
		answer(0, 1, true);
		kernel.now += 5000000000;
		cancel(0, statuses[i], NVME_REQ_CANCELLED);
		m.requests[0].rq.bio = i < 2 ? NULL : &bio;
		/* A failover reports no error to the block layer. */
		rq_complete(NULL, &m.requests[0].rq, i < 2 ? 0 : 10);
		assert_cancelled(i + 1);
	}
	assert_int_equal(counted(NT_CNT_FAILOVERS), 2);
	assert_int_equal(kernel.nr_errors, 0);
}

/* A flush never has a bio of its own. */
static void flush_whose_answer_was_not_seen_is_no_failover(void **state)
{
	submit(0, 1, NVME_CMD_FLUSH);
	m.requests[0].rq.bio = NULL;
	answer(0, 1, false);
	complete(0);
	assert_int_equal(counted(NT_CNT_CANCELLED), 0);
	assert_int_equal(latencies(), 1);
}

/*
 * The program that sees commands begin was skipped. A command that was answered must have been
 * sent.
 */
static void what_ends_unbegun_was_sent_unless_the_host_says_otherwise(void **state)
{
	/* From here on the queue is known. */
	submit(0, 1, NVME_CMD_READ);
	answer(0, 1, true);
	complete(0);
	for (int i = 0; i < 2; i++) {
		make(1, 1, i ? NVME_CMD_READ : NVME_CMD_FLUSH);
		answer(1, 1, true);
		complete(1);
		assert_int_equal(counted(NT_CNT_NO_START), i + 1);
	}
	make(1, 1, NVME_CMD_READ);
	m.requests[1].req.req.status = 0x281;
	complete(1);
	assert_int_equal(counted(NT_CNT_NO_START), 3);
	assert_int_equal(counted(NT_CNT_NEVER_SENT), 0);

	make(1, 1, NVME_CMD_READ);
	cancel(1, DNR | NVME_SC_HOST_PATH_ERROR, 0);
	complete(1);
	assert_int_equal(counted(NT_CNT_NEVER_SENT), 1);
	/* It fails over to another path. */
	make(1, 1, NVME_CMD_READ);
	m.requests[1].rq.bio = NULL;
	complete(1);
	assert_int_equal(counted(NT_CNT_NEVER_SENT), 2);
	/* Without iostats there is no start time. */
	make(1, 1, NVME_CMD_WRITE);
	m.requests[1].rq.start_time_ns = 0;
	cancel(1, NVME_SC_HOST_PATH_ERROR, 0);
	complete(1);
	assert_int_equal(counted(NT_CNT_NEVER_SENT), 3);
	/* The command may have been in flight when tracing began. */
	nt_control.began_ns = kernel.now + 1000;
	make(1, 1, NVME_CMD_WRITE);
	cancel(1, NVME_SC_HOST_PATH_ERROR, 0);
	complete(1);
	assert_int_equal(counted(NT_CNT_NEVER_SENT), 3);
	assert_int_equal(counted(NT_CNT_NO_START), 4);
	assert_int_equal(latencies(), 1);
}

/* A request that never reached the driver, and one that ends before beginnings are seen. */
static void end_that_tells_nothing_is_not_counted(void **state)
{
	submit(0, 1, NVME_CMD_READ);
	answer(0, 1, true);
	complete(0);
	make(1, 1, NVME_CMD_READ);
	m.requests[1].rq.state = MQ_RQ_IDLE;
	complete(1);
	m.requests[1].rq.state = MQ_RQ_COMPLETE;
	nt_control.began_ns = 0;
	complete(1);
	assert_int_equal(counted(NT_CNT_NO_START), 0);
	nt_control.began_ns = 1;
	m.requests[1].rq.q = &(struct request_queue){.mq_ops = (void *)&bio};
	complete(1);
	assert_int_equal(counted(NT_CNT_NO_START), 0);
	m.requests[1].rq.q = m.rq_queue;
	complete(1);
	assert_int_equal(counted(NT_CNT_NO_START), 1);
}

/* The request's queue calls another driver's function. */
static void request_of_another_driver_is_left_alone(void **state)
{
	struct blk_mq_ops___plain ops = {.queue_rq = &ops};
	struct request_queue queue = {.mq_ops = (void *)&ops};

	m.stock = true;
	make(0, 1, NVME_CMD_READ);
	m.requests[0].rq.q = &queue;
	issue(0, 1);
	stock_queue_rq_nested(NULL, &m.requests[0].rq);
	assert_int_equal(nt_pools[NT_POOL_CMDS].taken, 0);
	complete(0);
	assert_int_equal(counted(NT_CNT_NO_START), 0);
}

/* stock_end also sees the end of cancelled requests. */
static void read_without_cqe_is_answered_unless_it_is_given_up(void **state)
{
	m.stock = true;
	submit(0, 1, NVME_CMD_READ);
	receive(0, 1);
	assert_int_equal(nt_control.no_sqflow, 1);
	m.requests[0].req.req.status = NVME_SC_HOST_ABORTED_CMD;
	stock_end(NULL, &m.requests[0].rq);
	assert_int_equal(cmd_by_tag(queue_at(1), 0)->r.points[NT_H_CQE], 0);
	m.requests[0].req.req.status = 0;
	stock_end(NULL, &m.requests[0].rq);
	assert_int_not_equal(cmd_by_tag(queue_at(1), 0)->r.points[NT_H_CQE], 0);
	/* If a CQE comes all the same, it counts. */
	answer(0, 1, true);
	complete(0);
	assert_int_equal(last_record()->flags, 0);
	/* A header that was not received completely says nothing. */
	submit(0, 1, NVME_CMD_WRITE);
	*(union pdu *)m.queues[0][1].pdu = response(0, 0);
	stock_recv_pdu(NULL, &m.skb, 0, m.queues[0][1].pdu, HOST_PDU_BYTES, -14);
	assert_int_equal(cmd_by_tag(queue_at(1), 0)->r.points[NT_H_CQE], 0);
}

/*
 * Before Linux 6.6 a failover keeps the status, which shows that the command was sent. It was in
 * flight when tracing began, which its start time of 0 cannot show.
 */
static void what_fails_over_unbegun_was_sent_if_its_status_says_so(void **state)
{
	static const __u16 statuses[] = {NVME_SC_HOST_ABORTED_CMD, 0x303};

	submit(0, 1, NVME_CMD_READ);
	answer(0, 1, true);
	complete(0);
	for (int i = 0; i < 2; i++) {
		make(1, 1, NVME_CMD_WRITE);
		m.requests[1].rq.start_time_ns = 0;
		m.requests[1].rq.bio = NULL;
		cancel(1, statuses[i], 0);
		complete(1);
		assert_int_equal(counted(NT_CNT_NO_START), i + 1);
	}
	assert_int_equal(counted(NT_CNT_NEVER_SENT), 0);
}

/*
 * A write with a flush ends twice: first as a write, then once more without bytes when the whole
 * flush sequence is done (blk_flush_restore_request()).
 */
static void write_of_a_flush_sequence_ends_once(void **state)
{
	submit(0, 1, NVME_CMD_WRITE);
	answer(0, 1, true);
	complete(0);
	m.requests[0].rq.__data_len = 0;
	complete(0);
	assert_int_equal(latencies(), 1);
	assert_int_equal(counted(NT_CNT_NO_START), 0);
	assert_int_equal(counted(NT_CNT_NEVER_SENT), 0);
}

#define assert_seen(i)                                                                     \
	do {                                                                               \
		complete(i);                                                               \
		assert_int_equal(counted(NT_CNT_CANCELLED), 0);                            \
		assert_int_equal(counted(NT_CNT_POINT_MISSING), 0);                        \
		assert_int_not_equal(last_record()->points[NT_H_CQE], 0);                  \
		assert_int_equal(last_record()->cid, m.requests[i].sqe.common.command_id); \
	} while (0)

/* The task that receives is preempted by other receiving tasks, and continues on another CPU. */
static void headers_are_of_the_queue_that_they_are_copied_to(void **state)
{
	union pdu first, second;

	m.stock = true;
	submit(0, 1, NVME_CMD_WRITE);
	submit(1, 2, NVME_CMD_WRITE);
	first = response(0, 0);
	second = response(1, 0);
	copy(1, &first, 0, 10);
	copy(2, &second, 0, 20);
	copy(1, &first, 10, HOST_PDU_BYTES - 10);
	copy(2, &second, 20, HOST_PDU_BYTES - 20);
	assert_seen(0);
	assert_seen(1);
}

static void headers_of_queues_that_lie_close_are_told_apart(void **state)
{
	m.stock = true;
	for (int round = 0; round < 3; round++) {
		for (int qid = 1; qid < QUEUES; qid++) {
			submit(qid, qid, NVME_CMD_WRITE);
			answer(qid, qid, true);
			assert_seen(qid);
		}
	}
}

static void queue_that_is_connected_again_has_other_memory(void **state)
{
	m.stock = true;
	submit(0, 1, NVME_CMD_WRITE);
	answer(0, 1, true);
	assert_seen(0);
	m.queues[0][2].pdu = &m.headers[1];
	m.queues[0][1].pdu = &m.headers[2];
	for (int qid = 1; qid < QUEUES; qid++) {
		submit(0, qid, NVME_FABRICS_COMMAND);
		answer(0, qid, true);
		assert_seen(0);
	}
	for (int qid = 1; qid < QUEUES; qid++) {
		submit(0, qid, NVME_CMD_WRITE);
		answer(0, qid, true);
		assert_seen(0);
	}
}

/* The program that sees Connect was skipped. */
static void queue_with_unknown_memory_is_known_again_after_a_command(void **state)
{
	m.stock = true;
	submit(0, 1, NVME_CMD_WRITE);
	answer(0, 1, true);
	assert_seen(0);
	m.queues[0][1].pdu = &m.headers[QUEUES];
	submit(0, 1, NVME_CMD_WRITE);
	answer(0, 1, true);
	complete(0);
	assert_int_equal(counted(NT_CNT_POINT_MISSING), 1);
	nt_counters[kernel.cpu].n[NT_CNT_POINT_MISSING] = 0;
	submit(0, 1, NVME_CMD_WRITE);
	answer(0, 1, true);
	assert_seen(0);
}

/* Queues come and go as long as the machine runs. Entries are used again. */
static void memory_of_queues_that_have_gone_is_not_kept(void **state)
{
	static char memory[1 << NT_HEADER_BITS][NT_HEADER_ALIGN]
		__attribute__((aligned(NT_HEADER_ALIGN)));

	for (unsigned int n = 0; n < 4u << NT_HEADER_BITS; n++) {
		__u32 slot = n % SLOTS;
		char *at = memory[n * 7919 % (1 << NT_HEADER_BITS)];

		header_learn(queue_at(slot), slot, (__u64)at);
		assert_int_equal(header_find((__u64)at + 8)->slot, slot);
		/* All queues that are connected now. */
		for (__u32 i = 0; i <= n && i < SLOTS; i++) {
			const struct nt_header *h = header_find(kernel.queues[i].header);

			assert_non_null(h);
			assert_int_equal(h->slot, i);
		}
	}
}

/* @status: of the CQE; @host: the status that the host ends it with */
static void end_with(int i, int qid, __u8 opcode, __u16 status, __u16 host)
{
	union pdu pdu;

	submit(i, qid, opcode);
	pdu = response(i, status);
	if (m.stock)
		copy(qid, &pdu, 0, HOST_PDU_BYTES);
	else
		process_nvme_cqe(NULL, &m.requests[i].rq, &pdu.rsp, qid, kernel.now,
				 &m.queues[0][qid]);
	m.requests[i].req.req.status = host;
	complete(i);
}

static void errors_are_counted_by_status_and_are_no_latencies(void **state)
{
	end_with(0, 1, NVME_CMD_READ, DNR | 0x006, DNR | 0x006);
	end_with(0, 1, NVME_CMD_READ, DNR | 0x006, DNR | 0x006);
	end_with(0, 1, NVME_CMD_WRITE, 0x286, 0x286);
	end_with(0, 2, NVME_CMD_WRITE, DNR | 0x286, DNR | 0x286);
	assert_int_equal(kernel.nr_errors, 3);
	assert_int_equal(errors_of(NT_OP_READ, 0x006), 2);
	assert_int_equal(errors_of(NT_OP_WRITE, 0x286), 2);
	assert_int_equal(latencies(), 0);
	assert_int_equal(counted(NT_CNT_CANCELLED), 0);
	assert_int_equal(counted(NT_CNT_POINT_MISSING), 0);
	assert_int_equal(kernel.nr_records, 4);
	assert_int_equal(last_record()->status, DNR | 0x286);
	/* The next command of that request is no error. */
	submit(0, 1, NVME_CMD_WRITE);
	answer(0, 1, true);
	complete(0);
	assert_int_equal(latencies(), 1);
	assert_int_equal(last_record()->status, 0);
}

/* The data do not match their digest. The CQE does not show that. */
static void error_that_the_host_finds_is_counted(void **state)
{
	end_with(0, 1, NVME_CMD_READ, 0, 0x004);
	assert_int_equal(errors_of(NT_OP_READ, 0x004), 1);
	assert_int_equal(latencies(), 0);
	assert_int_equal(last_record()->status, 0x004);
	/* The status of the CQE takes precedence over that. */
	end_with(0, 1, NVME_CMD_READ, 0x281, 0x004);
	assert_int_equal(errors_of(NT_OP_READ, 0x281), 1);
	assert_int_equal(last_record()->status, 0x281);
}

static void errors_without_room_are_counted_as_such(void **state)
{
	for (__u16 status = 1; status <= ERRORS_MAX + 3; status++)
		end_with(0, 1, NVME_CMD_READ, status, status);
	assert_int_equal(kernel.nr_errors, ERRORS_MAX);
	assert_int_equal(counted(NT_CNT_ERRORS_FULL), 3);
	assert_int_equal(nt_control.errors_past[NT_OP_READ], 3);
	end_with(0, 0, 0x06, 1, 1);
	assert_int_equal(counted(NT_CNT_ERRORS_FULL), 4);
	assert_int_equal(nt_control.errors_past[NT_OP_READ], 3);
	assert_int_equal(nt_control.errors_past[NT_OP_ADMIN], 1);
	end_with(0, 1, NVME_CMD_READ, 1, 1);
	assert_int_equal(errors_of(NT_OP_READ, 1), 2);
}

/*
 * Sends a command again as the kernel does since Linux 6.1. The generation in a command id grows
 * when the command is answered (nvme_try_complete_req()), so a command that a reset cancelled is
 * sent again with the id that it had. The driver counts how often it is sent again
 * (nvme_retry_req()).
 */
static void send_again(int i, bool seen)
{
	struct request *rq = &m.requests[i].rq;

	m.requests[i].req.req.retries++;
	kernel.now += 10000000000;
	if (seen)
		stock_queue_rq(NULL, rq);
	stock_queue_rq_nested(NULL, rq);
}

static void command_that_is_sent_again_begins_anew_whichever_program_sees_it(void **state)
{
	const struct nt_cmd *c;

	m.stock = true;
	submit(0, 1, NVME_CMD_READ);
	stock_queue_rq_nested(NULL, &m.requests[0].rq);
	assert_int_equal(counted(NT_CNT_REQUEUED), 0);
	c = cmd_of(&m.queues[0][1], 1, &m.requests[0].rq);
	for (int seen = 0; seen < 4; seen++) {
		send_again(0, seen % 2);
		assert_int_equal(counted(NT_CNT_REQUEUED), seen + 1);
		assert_int_equal(c->r.points[NT_H_QUEUE_RQ], kernel.now);
		assert_int_equal(c->r.points[NT_H_SEND_CMD], 0);
		assert_true(c->r.flags & NT_F_REQUEUED);
		/* It is not always sent before the next reset. */
		if (seen == 1)
			cmd_reach(cmd_of(&m.queues[0][1], 1, &m.requests[0].rq), NT_H_SEND_CMD);
	}
	assert_int_equal(counted(NT_CNT_OVERWRITTEN), 0);
}

/* Without iostats, and for admin commands since Linux 6.12, the block layer notes no start time. */
static void without_start_times_an_unseen_end_is_told_from_a_retry(void **state)
{
	for (__u64 n = 1; n <= 3; n++) {
		make(0, 1, NVME_CMD_READ);
		m.requests[0].rq.start_time_ns = 0;
		issue(0, 1);
		assert_int_equal(counted(NT_CNT_OVERWRITTEN), n - 1);
		m.requests[0].req.req.retries++;
		issue(0, 1);
		assert_int_equal(counted(NT_CNT_REQUEUED), n);
	}
}

/*
 * A command that is left out is counted neither as a retry nor as one that ended unseen. The
 * command that its request had in flight is counted as one that ended unseen.
 */
static void what_is_left_out_is_no_retry_without_start_times(void **state)
{
	static const struct nt_selection writes = {.ops = 1u << NT_OP_WRITE};

	knobs_select(&writes);
	for (int opcode = NVME_CMD_WRITE; opcode <= NVME_CMD_READ; opcode++) {
		make(0, 1, (__u8)opcode);
		m.requests[0].rq.start_time_ns = 0;
		issue(0, 1);
	}
	assert_int_equal(counted(NT_CNT_OVERWRITTEN), 1);
	assert_int_equal(counted(NT_CNT_REQUEUED), 0);
}

/* An ANA state ends a path. The status is gone by the time the request ends. */
static void failovers_are_counted(void **state)
{
	m.requests[0].rq.bio = NULL;
	end_with(0, 1, NVME_CMD_READ, 0x302, 0);
	assert_int_equal(counted(NT_CNT_FAILOVERS), 1);
	assert_int_equal(errors_of(NT_OP_READ, 0x302), 1);
	submit(0, 1, NVME_CMD_READ);
	cancel(0, 0, NVME_REQ_CANCELLED);
	complete(0);
	assert_int_equal(counted(NT_CNT_FAILOVERS), 2);
	assert_int_equal(counted(NT_CNT_CANCELLED), 1);
}

static void timeouts_are_counted(void **state)
{
	submit(0, 1, NVME_CMD_READ);
	timed_out(NULL, &m.requests[0].rq);
	assert_int_equal(counted(NT_CNT_TIMEOUTS), 1);
}

/* A command outside the sample has no CQE in its state, but the host knows its status. */
static void errors_outside_the_sample_are_counted(void **state)
{
	__u64 others = 0;

	knobs_sample(1, true);
	nt_knobs.select = NT_SELECT_NONE;
	end_with(0, 1, NVME_CMD_READ, 0x006, DNR | 0x006);
	end_with(1, 1, NVME_CMD_READ, 0, 0);
	submit(2, 1, NVME_CMD_READ);
	cancel(2, NVME_SC_HOST_ABORTED_CMD, NVME_REQ_CANCELLED);
	complete(2);
	/* It is sent again after that, and fails over, which clears its status. */
	submit(2, 1, NVME_CMD_READ);
	cancel(2, DNR | 0x006, NVME_REQ_CANCELLED);
	complete(2);
	submit(3, 1, NVME_CMD_READ);
	cancel(3, 0, NVME_REQ_CANCELLED);
	m.requests[3].rq.bio = NULL;
	complete(3);
	for (unsigned int h = 0; h < HISTS; h++)
		others += hist_at(h)->others;
	assert_int_equal(others, 1);
	assert_int_equal(errors_of(NT_OP_READ, 0x006), 2);
	assert_int_equal(counted(NT_CNT_CANCELLED), 2);
	assert_int_equal(counted(NT_CNT_FAILOVERS), 1);
}

/*
 * The block layer ends a command on the CPU that receives the response, or lets another CPU do that
 * in an interrupt.
 */
static void commands_that_end_on_another_cpu_are_told(void **state)
{
	for (__u32 cpu = 0; cpu < 8; cpu++) {
		kernel.cpu = cpu;
		submit(0, 1 + cpu % 2, NVME_CMD_READ);
		/* Any CPU may send it. */
		kernel.cpu = cpu / 3;
		answer(0, 1 + cpu % 2, true);
		complete(0);
	}
	assert_int_equal(nt_control.redirected, 0);
	/* A command that is given up ends wherever the host handles that. */
	submit(0, 1, NVME_CMD_READ);
	kernel.cpu = 5;
	cancel(0, NVME_SC_HOST_ABORTED_CMD, NVME_REQ_CANCELLED);
	complete(0);
	assert_int_equal(nt_control.redirected, 0);
	/* A Keep Alive ends in an interrupt of its own. */
	submit(0, 0, 0x18);
	answer(0, 0, true);
	kernel.cpu = 6;
	complete(0);
	assert_int_equal(nt_control.redirected, 0);
	submit(0, 1, NVME_CMD_READ);
	answer(0, 1, true);
	kernel.cpu = 7;
	complete(0);
	assert_int_equal(nt_control.redirected, 1);
}

/* It is queued again after a reset, with the same tag or with another one. */
static void command_that_is_queued_again_is_marked(void **state)
{
	for (int other = 0; other < 2; other++) {
		submit(0, 1, NVME_CMD_WRITE);
		m.requests[0].rq.tag += other;
		m.requests[0].sqe.common.command_id += other;
		m.requests[0].req.req.retries++;
		issue(0, 1);
		answer(0, 1, true);
		complete(0);
		assert_true(last_record()->flags & NT_F_REQUEUED);
		assert_int_equal(counted(NT_CNT_REQUEUED), other + 1);
		assert_int_equal(counted(NT_CNT_OVERWRITTEN), 0);
	}
	submit(0, 1, NVME_CMD_WRITE);
	answer(0, 1, true);
	complete(0);
	assert_false(last_record()->flags & NT_F_REQUEUED);
}

/* The data that a Connect sends are not those of a write. */
static void shape_is_what_came_of_the_command(void **state)
{
	static const struct {
		__u8 opcode, shape;
		bool data;
	} cases[] = {
		{NVME_CMD_FLUSH, NT_SHAPE_NO_DATA, false},
		{NVME_CMD_WRITE, NT_SHAPE_INLINE_WRITE, false},
		{NVME_CMD_READ, NT_SHAPE_READ, true},
		{NVME_CMD_READ, NT_SHAPE_NO_DATA, false},
		{NVME_FABRICS_COMMAND, NT_SHAPE_NO_DATA, false},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		submit(0, 1, cases[i].opcode);
		if (cases[i].data)
			receive(0, 1);
		answer(0, 1, true);
		complete(0);
		assert_int_equal(last_record()->shape, cases[i].shape);
	}
}

/* The driver hands a request, or a part of it, to the socket. */
static void send_begins(int i)
{
	unsigned long long ctx[] = {(__u64)&m.requests[i].req};

	if (m.stock)
		stock_send_cmd(ctx, &m.requests[i].req);
	else
		cmd_reach(cmd_of(m.requests[i].req.queue, 1, &m.requests[i].rq), NT_H_SEND_CMD);
}

/* The send has ended. @ret: return value of nvme_tcp_try_send() */
static void send_ends(int i, int qid, int ret)
{
	unsigned long long ctx[] = {(__u64)&m.queues[0][qid]};

	if (m.stock)
		stock_sent(ctx, &m.queues[0][qid], ret);
	else
		done_send_req(NULL, &m.requests[i].rq, qid, &m.queues[0][qid]);
}

static __u64 point_of(int i, int qid, enum nt_host_point point)
{
	return cmd_by_tag(queue_at(qid), m.requests[i].rq.tag)->r.points[point];
}

/*
 * The program sees the end of a send after the command has ended, when another command has its tag.
 */
static void end_of_a_send_is_not_that_of_the_next_command(void **state)
{
	make(0, 1, NVME_CMD_WRITE);
	issue(0, 1);
	send_begins(0);
	answer(0, 1, true);
	complete(0);
	make(0, 1, NVME_CMD_WRITE);
	issue(0, 1);
	send_ends(0, 1, 1);
	assert_int_equal(point_of(0, 1, NT_H_SENT_CMD), 0);
	send_begins(0);
	send_ends(0, 1, 1);
	assert_int_not_equal(point_of(0, 1, NT_H_SENT_CMD), 0);
}

static void send_that_fails_is_not_over(void **state)
{
	make(0, 1, NVME_CMD_WRITE);
	issue(0, 1);
	send_begins(0);
	send_ends(0, 1, -32);
	assert_int_not_equal(point_of(0, 1, NT_H_SEND_CMD), 0);
	assert_int_equal(point_of(0, 1, NT_H_SENT_CMD), 0);
}

/* The response to a command that was given up comes when another command has its tag. */
static void late_answer_is_not_that_of_the_next_command(void **state)
{
	union pdu late;

	submit(0, 1, NVME_CMD_WRITE);
	late = response(0, 0);
	submit(0, 1, NVME_CMD_WRITE);
	copy(1, &late, 0, HOST_PDU_BYTES);
	assert_int_equal(point_of(0, 1, NT_H_CQE), 0);
	answer(0, 1, true);
	assert_int_not_equal(point_of(0, 1, NT_H_CQE), 0);
}

/* The digest follows the header, in as many pieces as there are packets. */
static void header_is_known_by_the_end_of_its_digest(void **state)
{
	const size_t whole = HOST_PDU_BYTES + HOST_PDU_DIGEST_BYTES;
	const struct sk_buff skb = {.sk = &m.sk};
	char *to = (char *)m.queues[0][1].pdu;
	union pdu pdu;

	for (size_t cut = HOST_PDU_BYTES - 1; cut < whole; cut++) {
		submit(0, 1, NVME_CMD_WRITE);
		pdu = response(0, 0);
		memcpy(to, pdu.bytes, sizeof(pdu.bytes));
		stock_recv_pdu(NULL, &skb, 0, to, (int)cut, 0);
		stock_recv_pdu(NULL, &skb, 0, to + cut, (int)(whole - cut), 0);
		assert_int_not_equal(point_of(0, 1, NT_H_CQE), 0);
		complete(0);
	}
}

/* Hands @size bytes to the socket by the function that this kernel has for it. */
static void hand_to_socket(int function, size_t size)
{
	struct msghdr msg = {.msg_iter.count = size};

	if (function == 0)
		stock_sendpage(NULL, &m.socket, NULL, 0, size);
	else if (function == 1)
		stock_no_sendpage(NULL, &m.socket, NULL, 0, size);
	else
		stock_sendmsg(NULL, &m.socket, &msg);
}

/* A capsule has 8 + 64 bytes and its digest (NVMe/TCP 1.0, 3.6.2.5). */
static void capsule_with_its_digest_is_no_data(void **state)
{
	for (int function = 0; function < 3; function++) {
		make(0, 1, NVME_CMD_WRITE);
		issue(0, 1);
		m.queues[0][1].request = &m.requests[0].req;
		m.sk.sk_user_data = &m.queues[0][1];
		nt_control.data_ready = kernel.learned.data_ready = data_ready_of(&m.sk);
		hand_to_socket(function, 8 + 64 + 4 + 1);
		assert_int_equal(point_of(0, 1, NT_H_SEND_CMD), 0);
		hand_to_socket(function, 8 + 64 + 4);
		assert_int_not_equal(point_of(0, 1, NT_H_SEND_CMD), 0);
	}
}

#define TRACEPOINT(test) cmocka_unit_test_setup(test, setup)
#define STOCK(test)                                           \
	{                                                     \
		"stock_" #test, test, setup_stock, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TRACEPOINT(answer_that_was_not_seen_is_no_cancellation),
		STOCK(answer_that_was_not_seen_is_no_cancellation),
		TRACEPOINT(what_the_host_gives_up_is_cancelled),
		STOCK(what_the_host_gives_up_is_cancelled),
		TRACEPOINT(what_fails_over_is_cancelled_though_its_status_is_cleared),
		STOCK(what_fails_over_is_cancelled_though_its_status_is_cleared),
		TRACEPOINT(what_was_cancelled_and_sent_again_ends_as_it_does),
		STOCK(what_was_cancelled_and_sent_again_ends_as_it_does),
		TRACEPOINT(read_without_cqe_that_was_sent_again_ends_with_its_data),
		TRACEPOINT(read_without_cqe_that_is_cut_is_cancelled),
		TRACEPOINT(read_without_cqe_ends_with_its_data),
		TRACEPOINT(what_is_given_up_after_its_answer_was_copied_is_cancelled),
		STOCK(what_is_given_up_after_its_answer_was_copied_is_cancelled),
		TRACEPOINT(flush_whose_answer_was_not_seen_is_no_failover),
		STOCK(flush_whose_answer_was_not_seen_is_no_failover),
		TRACEPOINT(what_ends_unbegun_was_sent_unless_the_host_says_otherwise),
		STOCK(what_ends_unbegun_was_sent_unless_the_host_says_otherwise),
		TRACEPOINT(end_that_tells_nothing_is_not_counted),
		STOCK(end_that_tells_nothing_is_not_counted),
		TRACEPOINT(request_of_another_driver_is_left_alone),
		TRACEPOINT(read_without_cqe_is_answered_unless_it_is_given_up),
		TRACEPOINT(what_fails_over_unbegun_was_sent_if_its_status_says_so),
		STOCK(what_fails_over_unbegun_was_sent_if_its_status_says_so),
		TRACEPOINT(write_of_a_flush_sequence_ends_once),
		STOCK(write_of_a_flush_sequence_ends_once),
		TRACEPOINT(errors_are_counted_by_status_and_are_no_latencies),
		STOCK(errors_are_counted_by_status_and_are_no_latencies),
		TRACEPOINT(error_that_the_host_finds_is_counted),
		STOCK(error_that_the_host_finds_is_counted),
		TRACEPOINT(errors_without_room_are_counted_as_such),
		TRACEPOINT(failovers_are_counted),
		STOCK(failovers_are_counted),
		TRACEPOINT(command_that_is_sent_again_begins_anew_whichever_program_sees_it),
		TRACEPOINT(without_start_times_an_unseen_end_is_told_from_a_retry),
		STOCK(without_start_times_an_unseen_end_is_told_from_a_retry),
		TRACEPOINT(what_is_left_out_is_no_retry_without_start_times),
		STOCK(what_is_left_out_is_no_retry_without_start_times),
		TRACEPOINT(timeouts_are_counted),
		TRACEPOINT(errors_outside_the_sample_are_counted),
		STOCK(errors_outside_the_sample_are_counted),
		TRACEPOINT(commands_that_end_on_another_cpu_are_told),
		STOCK(commands_that_end_on_another_cpu_are_told),
		TRACEPOINT(command_that_is_queued_again_is_marked),
		STOCK(command_that_is_queued_again_is_marked),
		TRACEPOINT(shape_is_what_came_of_the_command),
		STOCK(shape_is_what_came_of_the_command),
		TRACEPOINT(end_of_a_send_is_not_that_of_the_next_command),
		STOCK(end_of_a_send_is_not_that_of_the_next_command),
		STOCK(send_that_fails_is_not_over),
		STOCK(late_answer_is_not_that_of_the_next_command),
		STOCK(header_is_known_by_the_end_of_its_digest),
		STOCK(capsule_with_its_digest_is_no_data),
		TRACEPOINT(headers_are_of_the_queue_that_they_are_copied_to),
		TRACEPOINT(headers_of_queues_that_lie_close_are_told_apart),
		TRACEPOINT(queue_that_is_connected_again_has_other_memory),
		TRACEPOINT(queue_with_unknown_memory_is_known_again_after_a_command),
		TRACEPOINT(memory_of_queues_that_have_gone_is_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
