// SPDX-License-Identifier: GPL-2.0-only
/* Which cache lines a host's commands of two CPUs share: see lines.h. */
/* Two queues of tests may lie in one line, and then have one entry of the index of slots. */
#define LINES_SLOT(queue) (1 + 2 * (queue))
#define LINES_OF "bpf/host.h"
#include "bpf/lines.h"

#include <errno.h>

#define QUEUES 4
#define KINDS 4
#define REQUESTS (2 * KINDS)

#include "bpf/host_machine.h"

enum source { TRACEPOINTS, FUNCTIONS, MESSAGES, SOURCES };

static struct {
	enum source source;
	const struct lines_how *how;
	struct tcp_sock___stream tcp[QUEUES];
	struct socket socket[QUEUES];
	struct sk_buff tail; /* of backlogs */
	bool moves;	     /* a request has another tag each time */
} run;

static const struct accesses_place *lines_places(unsigned int *nr)
{
	static const struct accesses_place places[] = {
		LINES_PLACES(LINES("headers", nt_headers)),
	};

	*nr = sizeof(places) / sizeof(places[0]);
	return places;
}

static void submit(struct request *rq, struct nvme_tcp_queue *queue, int qid)
{
	struct nvme_tcp_request *req = driver_part(rq);
	struct nvme_tcp_cmd_pdu pdu = {.cmd = *req->req.cmd};

	request_make(rq, req, req->req.cmd);
	if (run.source == TRACEPOINTS) {
		queue_rq(NULL, rq, &pdu, qid, NULL, NULL, NULL, queue);
		queue_rq_nested(NULL, rq, &pdu, qid, NULL, NULL, NULL, queue);
	} else {
		stock_queue_rq(NULL, rq);
		stock_queue_rq_nested(NULL, rq);
	}
	/* In the structures of tests the members of TLS and data_ready are one. */
	if (kernel.queues[qid].opaque)
		kernel.queues[qid].opaque = 0;
}

static void send(struct request *rq, struct nvme_tcp_queue *queue, int qid, bool data)
{
	struct nvme_tcp_request *req = driver_part(rq);
	unsigned long long of_request[] = {(__u64)req}, of_queue[] = {(__u64)queue};
	struct msghdr msg = {.msg_iter.count = data ? 24 : 72};

	queue->request = req;
	if (run.source == MESSAGES)
		stock_sendmsg(NULL, queue->sock, &msg);
	else if (run.source == FUNCTIONS && data)
		stock_send_data(of_request, req);
	else if (run.source == FUNCTIONS)
		stock_send_cmd(of_request, req);
	else if (data)
		try_send_data_pdu(NULL, rq, NULL, qid, 0, queue);
	else
		try_send_cmd_pdu(NULL, rq, NULL, qid, 0, queue);
	queue->request = NULL;
	if (run.source == TRACEPOINTS)
		done_send_req(NULL, rq, qid, queue);
	else
		stock_sent(of_queue, queue, 1);
}

/* A packet with the header of a PDU comes. Where asked for, others were joined with it. */
static struct sk_buff packet(int qid)
{
	struct tcp_sock___stream *tcp = &run.tcp[qid];
	struct sk_buff skb = {.sk = &tcp->sk, .tstamp = (ktime_t)kernel.now};
	struct tcp_skb_cb *cb = (void *)skb.cb, *tail = (void *)run.tail.cb;

	tail->seq = tcp->rcv_nxt;
	tail->end_seq = cb->seq = tcp->rcv_nxt += 1;
	cb->end_seq = tcp->rcv_nxt += HOST_PDU_BYTES;
	if (run.how->joins) {
		packet_waits(NULL, &tcp->sk, &skb);
		packet_joined(NULL, &skb);
	}
	if (run.how->fine)
		data_ready(NULL, &tcp->sk);
	return skb;
}

static void receive(struct request *rq, struct nvme_tcp_queue *queue, int qid, void *pdu, int type)
{
	struct sk_buff skb = packet(qid);

	if (run.source != TRACEPOINTS) {
		memcpy(queue->pdu, pdu, sizeof(struct nvme_tcp_rsp_pdu));
		stock_recv_pdu(NULL, &skb, 0, queue->pdu, HOST_PDU_BYTES, 0);
	} else if (type == nvme_tcp_r2t) {
		handle_r2t(NULL, rq, pdu, qid, (__u64)skb.tstamp, queue);
	} else if (type == nvme_tcp_c2h_data) {
		handle_c2h_data(NULL, rq, qid, 4096, (__u64)skb.tstamp, pdu, queue);
		recv_data(NULL, rq, qid, 4096, (__u64)skb.tstamp, pdu, queue);
	} else {
		process_nvme_cqe(NULL, rq, pdu, qid, (__u64)skb.tstamp, queue);
	}
}

/* What comes between the ends of a command. */
static void middle(struct request *rq, struct nvme_tcp_queue *queue, int qid, bool asks)
{
	__u16 cid = driver_part(rq)->req.cmd->common.command_id;
	struct nvme_tcp_rsp_pdu rsp = {.hdr.type = nvme_tcp_rsp, .cqe.command_id = cid};
	/* In the structures of tests the type of an R2T lies in its command id. */
	union {
		struct nvme_tcp_rsp_pdu room;
		struct nvme_tcp_r2t_pdu r2t;
		struct nvme_tcp_data_pdu data;
	} pdu = {};
	unsigned long long work[] = {(__u64)queue};

	if (run.how->fine)
		io_work(work, (void *)queue);
	send(rq, queue, qid, false);
	if (asks) {
		pdu.r2t.command_id = cid;
		receive(rq, queue, qid, &pdu, nvme_tcp_r2t);
		send(rq, queue, qid, true);
	} else if (driver_part(rq)->req.cmd->common.opcode == NVME_CMD_READ) {
		pdu.data.hdr.type = nvme_tcp_c2h_data;
		pdu.data.command_id = cid;
		receive(rq, queue, qid, &pdu, nvme_tcp_c2h_data);
	}
	rsp.cqe.status = run.how->fails ? 0x281 << 1 : 0;
	receive(rq, queue, qid, &rsp, nvme_tcp_rsp);
	if (run.how->fine)
		io_work_end(work, (void *)queue);
}

/* Each kind has a request of its own, and a tag next to that of the other CPU. */
static void lines_pass(unsigned int cpu, unsigned int of, unsigned int worker)
{
	static const struct {
		__u8 opcode;
		__u16 tag, length;
		bool asks;
	} kinds[KINDS] = {
		{NVME_CMD_READ, 2, 4096, false},
		{NVME_CMD_WRITE, 4, 4096, false},
		{NVME_CMD_WRITE, nvme_tcp_r2t, 32768, true},
		{NVME_CMD_FLUSH, 6, 0, false},
	};
	int qid = LINES_SLOT((int)of);
	struct nvme_tcp_queue *queue = &m.queues[0][qid];

	for (unsigned int k = 0; k < KINDS; k++) {
		struct request *rq = &m.requests[cpu * KINDS + k].rq;
		struct nvme_command *e = &m.requests[cpu * KINDS + k].sqe;

		rq->mq_hctx = &m.hctx[qid];
		driver_part(rq)->queue = queue;
		driver_part(rq)->req.status = run.how->fails ? 0x281 : 0;
		rq->tag = kinds[k].tag + (int)cpu * (kinds[k].asks ? 256 : 1) +
			  (run.moves && m.cid & 0x4000 ? 512 : 0);
		rq->start_time_ns = kernel.now;
		*e = (struct nvme_command){.common = {.opcode = kinds[k].opcode, .nsid = 1}};
		e->common.command_id = (__u16)((m.cid += 0x1000) | rq->tag);
		e->common.cdw10 = m.cid;
		e->common.dptr.sgl.length = kinds[k].length;
		lines_on(cpu);
		submit(rq, queue, qid);
		lines_on(worker);
		if (!run.how->ends || run.how->bursts)
			middle(rq, queue, qid, kinds[k].asks);
		lines_on(cpu);
		rq_complete(NULL, rq, run.how->fails ? -EIO : 0);
		rq_complete_nested(NULL, rq, run.how->fails ? -EIO : 0);
	}
	accesses_of(ACCESSES_CPUS);
	kernel.nr_records = kernel.nr_begun = 0;
}

static void lines_begin(unsigned int source, const struct lines_how *how)
{
	host_make();
	memset(&run, 0, sizeof(run));
	run.source = (enum source)source;
	run.how = how;
	lines_knobs(how);
	nt_control.data_ready = kernel.learned.data_ready = (__u64)&run.tail;
	for (int qid = 0; qid < QUEUES; qid++) {
		run.socket[qid].sk = &run.tcp[qid].sk;
		/* And so are those of the function that is called for data, and of the backlog. */
		run.tcp[qid].sk.sk_receive_queue.next = &run.tail;
		run.tcp[qid].sk.sk_user_data = &m.queues[0][qid];
		m.queues[0][qid].sock = &run.socket[qid];
	}
}

/*
 * A queue's worker hands states on. The histograms: in a queue's entry is that of the first CPU, by
 * whose key the other one sees that it is not its own. With a sample, measured commands are
 * numbered.
 */
static const struct lines_case cases[] = {
	{{.name = "counts"}, "", "hists:3 ", "cmds:12 "},
	{{.name = "ends", .ends = true}, "", "hists:3 ", ""},
	{{.name = "bursts", .ends = true, .bursts = true}, "", "hists:3 ", "cmds:12 "},
	{{.name = "selects", .selects = true}, "", "hists:2 ", "cmds:9 "},
	{{.name = "records", .records = true}, "ring:1 ", "hists:3 ring:1 ", "cmds:12 "},
	{{.name = "sample", .sample_below = ~0u},
	 "tracked:1 alikes:1 ",
	 "tracked:1 alikes:1 hists:3 ",
	 "tracked:1 cmds:12 "},
	{{.name = "others", .sample_below = 1}, "", "hists:3 ", ""},
	{{.name = "joins", .joins = true}, "", "hists:3 ", "cmds:12 "},
	{{.name = "fine", .records = true, .fine = true},
	 "ring:1 ",
	 "hists:3 ring:1 ",
	 "cmds:12 taken:4 "},
	{{.name = "fails", .fails = true},
	 "tracked:1 errors:1 ",
	 "tracked:1 errors:1 ",
	 "cmds:12 "},
};

static void commands_of_two_queues_share_no_line(void **state)
{
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (enum source source = 0; source < SOURCES; source++)
			lines_check(&cases[i], source, KINDS, false);
}

static void commands_of_one_queue_share_what_they_must(void **state)
{
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (enum source source = 0; source < SOURCES; source++)
			lines_check(&cases[i], source, KINDS, true);
}

/* An I/O scheduler gives a request another tag each time. Without one it keeps its tag. */
static void the_index_is_written_only_for_another_tag(void **state)
{
	for (enum source source = 0; source < SOURCES; source++) {
		for (int moves = 0; moves < 2; moves++) {
			lines_begin(source, &cases[0].how);
			run.moves = moves;
			lines_count(false);
			for (unsigned int cpu = 0; cpu < 2; cpu++) {
				assert_int_equal(accesses_lines(cpu, "index", false), KINDS);
				assert_int_equal(accesses_lines(cpu, "index", true),
						 moves ? KINDS : 0);
			}
		}
	}
}

static int is_set(const void *at)
{
	return *(const __u32 *)at != 0;
}

static int is_not_set(const void *at)
{
	return !is_set(at);
}

static void what_others_read_is_in_order(void **state)
{
	static struct accesses_order orders[] = {
		{.name = "controller: that it is nobody's, names",
		 .first = LINES_MEMBER(kernel.controllers, struct nt_controller, named),
		 .first_when = is_set,
		 .then = LINES_MEMBER(kernel.controllers, struct nt_controller, names)},
		{.name = "controller: names, whose they are",
		 .first = LINES_MEMBER(kernel.controllers, struct nt_controller, names),
		 .then = LINES_MEMBER(kernel.controllers, struct nt_controller, named),
		 .then_when = is_not_set},
	};

	for (enum source source = 0; source < SOURCES; source++)
		lines_check_order(source, &cases[0].how);
	m.opts[0].subsysnqn = "subsystem";
	/* The third controller has the place of the first one. */
	for (int i = 0; i < 3; i++) {
		accesses_order(orders, sizeof(orders) / sizeof(orders[0]));
		kernel.controllers[0].last += 1;
		kernel.queues[LINES_SLOT(0)].identified = 0;
		lines_pass_all(false, 1);
	}
	lines_are_in_order(orders, sizeof(orders) / sizeof(orders[0]));
}

/* The wall clock is set while a packet waits. */
static void a_step_of_the_clock_is_seen_whole(void **state)
{
	static struct accesses_order orders[] = {
		{.name = "clock: when it was set, that it was",
		 .first = LINES_OF_CONTROL(offset_before, set_ns),
		 .then = LINES_OF_CONTROL(seen_offset, seen_offset)},
		{.name = "clock: that it was set, when",
		 .loads = 1,
		 .first = LINES_OF_CONTROL(seen_offset, seen_offset),
		 .then = LINES_OF_CONTROL(offset_before, set_ns)},
	};

	lines_begin(TRACEPOINTS, &cases[0].how);
	nt_control.real_offset = kernel.tai = NT_CLOCK_TORN_NS * 100;
	accesses_order(orders, 2);
	/* It is seen, and then known. */
	for (int i = 0; i < 2; i++)
		arrival_held(kernel.now, kernel.now + 2 * NT_ARRIVAL_YOUNG_NS);
	lines_are_in_order(orders, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_of_two_queues_share_no_line),
		cmocka_unit_test(commands_of_one_queue_share_what_they_must),
		cmocka_unit_test(the_index_is_written_only_for_another_tag),
		cmocka_unit_test(what_others_read_is_in_order),
		cmocka_unit_test(a_step_of_the_clock_is_seen_whole),
	};

	return cmocka_run_group_tests_name("host_lines", tests, NULL, NULL);
}
