/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A made-up host: controllers with their queues, and requests. Include it after "bpf/host.h" and
 * define QUEUES, the number of queues of a controller with its admin queue. Define CTRLS and
 * REQUESTS if there are more than one of these.
 */
#ifndef NTPROF_TESTS_BPF_HOST_MACHINE_H
#define NTPROF_TESTS_BPF_HOST_MACHINE_H

#ifndef CTRLS
#define CTRLS 1
#endif
#ifndef REQUESTS
#define REQUESTS 1
#endif

_Static_assert(HOST_PDU_BYTES <= NT_HEADER_ALIGN, "room for a header");

static struct {
	struct blk_mq_ops___plain mq_ops[2]; /* of I/O queues, of admin queues */
	struct request_queue rq_queue[2];
	struct blk_mq_hw_ctx hctx[QUEUES];
	struct nvmf_host host;
	struct nvmf_ctrl_options opts[CTRLS];
	struct nvme_tcp_ctrl ctrl[CTRLS];
	struct nvme_tcp_queue queues[CTRLS][QUEUES];
	struct socket sockets[CTRLS][QUEUES];
	struct sock sks[CTRLS][QUEUES];
	struct socket socket;
	struct sock sk;
	__u32 rcv_nxt; /* of struct tcp_sock, which begins with the struct sock above */
	struct sk_buff skb;
	struct {
		struct request rq;
		struct nvme_tcp_request req; /* directly behind the request: blk_mq_rq_to_pdu() */
		struct nvme_command sqe;
	} requests[REQUESTS];
	/*
	 * Aligned as kmalloc() aligns them, and adjacent. Those of the first controller belong to
	 * its queues.
	 */
	struct {
		char bytes[NT_HEADER_ALIGN];
	} __attribute__((aligned(NT_HEADER_ALIGN))) headers[2 * QUEUES];
	__u16 cid;
	bool stock;
} m;

/*
 * The state before any request is submitted. The last queue of the first controller has @socket.
 * All requests belong to the last queue of the first controller.
 */
static inline void host_make(void)
{
	kernel_reset();
	memset(nt_headers, 0, sizeof(nt_headers));
	memset(&m, 0, sizeof(m));
	m.socket.sk = &m.sk;
	for (int admin = 0; admin < 2; admin++) {
		m.mq_ops[admin].queue_rq = &m.mq_ops;
		m.rq_queue[admin].mq_ops = (const struct blk_mq_ops *)&m.mq_ops[admin];
	}
	nt_control.queue_rq = kernel.learned.queue_rq = (__u64)&m.mq_ops;
	for (int qid = 0; qid < QUEUES; qid++)
		m.hctx[qid].queue_num = qid - 1;
	for (int i = 0; i < CTRLS; i++) {
		m.ctrl[i].ctrl.opts = &m.opts[i];
		m.ctrl[i].queues = m.queues[i];
		for (int qid = 0; qid < QUEUES; qid++) {
			m.queues[i][qid].ctrl = &m.ctrl[i];
			m.sks[i][qid].sk_user_data = &m.queues[i][qid];
			m.sockets[i][qid].sk = &m.sks[i][qid];
			m.queues[i][qid].sock = &m.sockets[i][qid];
			m.queues[i][qid].pdu = i ? NULL : &m.headers[qid];
		}
	}
	m.queues[0][QUEUES - 1].sock = &m.socket;
	for (int i = 0; i < REQUESTS; i++) {
		m.requests[i].req.queue = &m.queues[0][QUEUES - 1];
		m.requests[i].req.req.ctrl = &m.ctrl[0].ctrl;
		m.requests[i].req.req.cmd = &m.requests[i].sqe;
		m.requests[i].rq = (struct request){.q = m.rq_queue,
						    .mq_hctx = &m.hctx[QUEUES - 1],
						    .bio = (struct bio *)&m, /* not failed over */
						    .tag = i,
						    .state = MQ_RQ_COMPLETE};
	}
}

#endif /* NTPROF_TESTS_BPF_HOST_MACHINE_H */
