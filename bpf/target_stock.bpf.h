/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target's points for an nvmet-tcp that nobody patched: from functions that the compiler kept, and
 * from what every kernel has. docs/points.md says how far each is from the tracepoint of its name.
 *
 * nvmet's own functions serve all transports; what is not TCP's is left after one comparison. So are
 * sockets that are not nvmet's, which take a look-up.
 */
#ifndef NTPROF_TARGET_STOCK_BPF_H
#define NTPROF_TARGET_STOCK_BPF_H

/* When the PDU that a queue is receiving arrived, and where in the stream it begins; by slot. */
struct pdu_arrival {
	__s64 time; /* CLOCK_REALTIME, 0 if unknown */
	__u32 seq;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pdu_arrival);
} arrivals SEC(".maps");

/* The command of a BTF-typed request, as a plain address: with those the verifier lets us calculate. */
static __always_inline struct nvmet_tcp_cmd *tcp_cmd_of(struct nvmet_req *req)
{
	__u64 typed = (__u64)req, plain = 0;

	bpf_probe_read_kernel(&plain, sizeof(plain), &typed);
	return (void *)(plain - bpf_core_field_offset(struct nvmet_tcp_cmd, req));
}

/* tag_of() for plain addresses. */
static __always_inline __u32 tag_at(struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd)
{
	__u64 connect = (__u64)queue + bpf_core_field_offset(struct nvmet_tcp_queue, connect);
	__u64 cmds;

	if ((__u64)cmd == connect)
		return 0;
	cmds = (__u64)BPF_CORE_READ(queue, cmds);
	return ((__u64)cmd - cmds) / bpf_core_type_size(struct nvmet_tcp_cmd) + 1;
}

/* cmd_in() for plain addresses. */
static __always_inline struct nt_cmd *cmd_at(struct nt_queue *q, struct nvmet_tcp_queue *queue,
					     struct nvmet_tcp_cmd *cmd)
{
	struct nt_cmd *c = cmd_find(q, tag_at(queue, cmd), false);

	if (!c || c->owner != (__u64)cmd)
		return NULL;
	return c;
}

static __always_inline struct nt_cmd *cmd_of_req(struct nvmet_req *req)
{
	struct nvmet_tcp_cmd *cmd = tcp_cmd_of(req);
	struct nvmet_tcp_queue *queue = BPF_CORE_READ(cmd, queue);
	__u32 slot = BPF_CORE_READ(queue, idx);
	struct nt_queue *q = bpf_map_lookup_elem(&queues, &slot);

	return q ? cmd_at(q, queue, cmd) : NULL;
}

/* nvme_is_write() */
static __always_inline bool is_write(struct nvme_command *sqe)
{
	__u8 opcode = sqe->common.opcode;

	/* A fabrics command has its type where others have the first byte of the NSID. */
	return opcode == NVME_FABRICS_COMMAND ? sqe->common.nsid & 1 : opcode & 1;
}

/*
 * Where in the stream the PDU being received began. Nobody but the queue's worker, in which we run,
 * reads from its socket.
 */
static __always_inline __u32 pdu_seq(struct sock *sk, struct nvmet_tcp_queue *queue)
{
	struct tcp_sock *tcp = (void *)sk;

	return BPF_CORE_READ(tcp, copied_seq) - BPF_CORE_READ(queue, offset);
}

/*
 * Note when the PDU being received arrived, unless that is known: the time of the packet at the head
 * of the socket's queue, if that holds the PDU's first byte.
 */
static __always_inline void stamp(struct pdu_arrival *a, struct sock *sk,
				  struct nvmet_tcp_queue *queue)
{
	__u32 seq = pdu_seq(sk, queue);
	struct tcp_skb_cb *cb;
	struct sk_buff *skb;

	if (a->seq == seq && a->time)
		return;
	a->seq = seq;
	a->time = 0;
	skb = BPF_CORE_READ(sk, sk_receive_queue.next);
	if ((__u64)skb == (__u64)sk + bpf_core_field_offset(struct sock, sk_receive_queue))
		return;
	cb = (void *)((__u64)skb + bpf_core_field_offset(struct sk_buff, cb));
	if (seq - BPF_CORE_READ(cb, seq) < BPF_CORE_READ(skb, len))
		a->time = BPF_CORE_READ(skb, tstamp);
}

/* A connection whose first command came before tracing did; its next one's arrival is to be seen. */
SEC("fentry/nvmet_tcp_try_recv_pdu")
int BPF_PROG(stock_try_recv, struct nvmet_tcp_queue *queue)
{
	__u32 slot = queue->idx;
	struct nt_queue *q = bpf_map_lookup_elem(&queues, &slot);

	if (q && q->object != (__u64)queue)
		queue_begin(q, queue, slot);
	return 0;
}

/*
 * nvmet_tcp_try_recv_pdu() reads the common header of a PDU and then the rest: where the packet comes
 * between our look and the first read, the second look finds it still, partly read.
 */
SEC("fentry/kernel_recvmsg")
int BPF_PROG(stock_recvmsg, struct socket *sock)
{
	struct sock *sk = sock->sk;
	struct nvmet_tcp_queue *queue;
	__u64 key = (__u64)sk;
	struct pdu_arrival *a;
	struct nt_queue *q;
	__u32 *slot;

	slot = bpf_map_lookup_elem(&sockets, &key);
	if (!slot)
		return 0;
	q = bpf_map_lookup_elem(&queues, slot);
	a = bpf_map_lookup_elem(&arrivals, slot);
	if (!q || !a)
		return 0;
	queue = (void *)q->object;
	if (BPF_CORE_READ(queue, rcv_state) ==
	    bpf_core_enum_value(enum nvmet_tcp_recv_state, NVMET_TCP_RECV_PDU))
		stamp(a, sk, queue);
	return 0;
}

/* The arrival of the PDU whose header has just been received. */
static __always_inline __u64 pdu_arrived(struct nvmet_tcp_queue *queue, __u32 slot, __u64 now)
{
	struct pdu_arrival *a = bpf_map_lookup_elem(&arrivals, &slot);
	struct sock *sk = BPF_CORE_READ(queue, sock, sk);

	if (!a)
		return 0;
	/* What follows the header in the same packet keeps that one at the head. */
	stamp(a, sk, queue);
	return arrival(a->time, now);
}

SEC("fentry/nvmet_req_init")
int BPF_PROG(stock_cmd, struct nvmet_req *req, void *cq, struct nvmet_sq *sq,
	     const struct nvmet_fabrics_ops *ops)
{
	struct target_capsule t = {.qid = sq->qid, .has_ctrl = sq->ctrl};
	struct nvmet_tcp_queue *queue;
	struct nvmet_tcp_cmd *cmd;

	if (ops->type != NVMF_TRTYPE_TCP)
		return 0;
	t.now = bpf_ktime_get_ns();
	cmd = tcp_cmd_of(req);
	t.cmd = (__u64)cmd;
	queue = BPF_CORE_READ(cmd, queue);
	t.queue = queue;
	t.slot = BPF_CORE_READ(queue, idx);
	t.tag = tag_at(queue, cmd);
	t.rx = pdu_arrived(queue, t.slot, t.now);
	return begin(&t, req->cmd);
}

/* Called for each H2C data PDU, and for data in a capsule: then no R2T has been sent. */
SEC("fentry/nvmet_tcp_build_pdu_iovec")
int BPF_PROG(stock_data, struct nvmet_tcp_cmd *cmd)
{
	struct nvmet_tcp_queue *queue = cmd->queue;
	struct nt_cmd *c = cmd_of(queue, cmd);
	__u64 now;

	if (!c || !c->r.points[NT_T_SEND_R2T] || c->r.points[NT_T_DATA])
		return 0;
	now = bpf_ktime_get_ns();
	c->r.points[NT_T_DATA_RX] = pdu_arrived(queue, queue->idx, now);
	c->r.points[NT_T_DATA] = now;
	return 0;
}

/* What needs no data is executed next. */
SEC("fexit/nvmet_tcp_map_data")
int BPF_PROG(stock_exec_read, struct nvmet_tcp_cmd *cmd, int ret)
{
	if (ret || (is_write(cmd->req.cmd) && cmd->rbytes_done < cmd->req.transfer_len))
		return 0;
	return exec(cmd->queue, cmd);
}

/* req->execute() of commands that bring data. */
static __always_inline int exec_write(struct nvmet_req *req)
{
	struct nt_cmd *c;

	if (req->ops->type != NVMF_TRTYPE_TCP)
		return 0;
	c = cmd_of_req(req);
	if (c && !c->r.points[NT_T_EXEC])
		c->r.points[NT_T_EXEC] = bpf_ktime_get_ns();
	return 0;
}

#define EXEC_WRITE(function)                                       \
	SEC("fentry/" #function)                                   \
	int BPF_PROG(stock_exec_##function, struct nvmet_req *req) \
	{                                                          \
		return exec_write(req);                            \
	}
EXEC_WRITE(nvmet_bdev_execute_rw)
EXEC_WRITE(nvmet_bdev_execute_dsm)
EXEC_WRITE(nvmet_bdev_execute_zone_append)
EXEC_WRITE(nvmet_file_execute_rw)
EXEC_WRITE(nvmet_file_execute_dsm)
EXEC_WRITE(nvmet_passthru_execute_cmd)
EXEC_WRITE(nvmet_execute_set_features)
EXEC_WRITE(nvmet_execute_admin_connect)
EXEC_WRITE(nvmet_execute_io_connect)
EXEC_WRITE(nvmet_execute_auth_send)

static __always_inline int stock_done_of(struct nvmet_req *req)
{
	struct nt_cmd *c = cmd_of_req(req);

	/* Without exec nothing tells an R2T from the end; but the end comes last. */
	if (c && (NT_IS_MISSING(NT_T_EXEC) || (c->r.points[NT_T_EXEC] && !c->r.points[NT_T_DONE])))
		c->r.points[NT_T_DONE] = bpf_ktime_get_ns();
	return 0;
}

/* See "nested" in common.bpf.h. Called for an R2T as well, see done(). */
SEC("fentry/nvmet_tcp_queue_response")
int BPF_PROG(stock_done_nested, struct nvmet_req *req)
{
	return stock_done_of(req);
}

SEC("fentry/nvmet_tcp_queue_response")
int BPF_PROG(stock_done, struct nvmet_req *req)
{
	return stock_done_of(req);
}

/* A response goes to the socket: the command's end. */
static __always_inline void respond(struct nt_queue *q, struct nvmet_tcp_queue *queue,
				    struct nvmet_tcp_cmd *cmd, struct nt_cmd *c)
{
	__u64 now;

	if (!c) {
		/* See try_send_response(). */
		if (nt_began_ns && !BPF_CORE_READ(cmd, offset) &&
		    (BPF_CORE_READ(queue, nvme_sq.qid) ||
		     BPF_CORE_READ(cmd, req.cmd, common.opcode) != NVME_ADMIN_ASYNC_EVENT))
			count(NT_CNT_NO_START);
		return;
	}
	now = bpf_ktime_get_ns();
	if (!c->r.points[NT_T_SEND])
		c->r.points[NT_T_SEND] = now;
	c->r.status = BPF_CORE_READ(cmd, req.cqe, status) >> 1;
	cmd_end(q, queue, c, now);
}

/* The socket has taken the last of a read that ends without CQE. See try_send_data(). */
static __always_inline void data_sent(struct nt_queue *q, struct nvmet_tcp_queue *queue,
				      struct nt_cmd *c)
{
	if (!c) {
		if (nt_began_ns)
			count(NT_CNT_NO_START);
		return;
	}
	c->r.flags |= NT_F_NO_CQE;
	cmd_end(q, queue, c, bpf_ktime_get_ns());
}

SEC("fentry/nvmet_try_send_r2t")
int BPF_PROG(stock_send_r2t, struct nvmet_tcp_cmd *cmd)
{
	struct nt_cmd *c = cmd_of(cmd->queue, cmd);

	if (c && !c->r.points[NT_T_SEND_R2T])
		c->r.points[NT_T_SEND_R2T] = bpf_ktime_get_ns();
	return 0;
}

SEC("fentry/nvmet_try_send_data_pdu")
int BPF_PROG(stock_send_data_pdu, struct nvmet_tcp_cmd *cmd)
{
	struct nt_cmd *c = cmd_of(cmd->queue, cmd);

	if (c && !c->r.points[NT_T_SEND])
		c->r.points[NT_T_SEND] = bpf_ktime_get_ns();
	return 0;
}

SEC("fentry/nvmet_try_send_response")
int BPF_PROG(stock_send_response, struct nvmet_tcp_cmd *cmd)
{
	struct nvmet_tcp_queue *queue = cmd->queue;
	struct nt_queue *q = queue_find(queue);

	if (q)
		respond(q, queue, cmd, cmd_in(q, queue, cmd));
	return 0;
}

/* 1: all of the data is with the socket. */
SEC("fexit/nvmet_try_send_data")
int BPF_PROG(stock_send_data, struct nvmet_tcp_cmd *cmd, bool last_in_batch, int ret)
{
	struct nvmet_tcp_queue *queue = cmd->queue;
	struct nt_queue *q;

	if (ret != 1 || !queue->nvme_sq.sqhd_disabled)
		return 0;
	q = queue_find(queue);
	if (q)
		data_sent(q, queue, cmd_in(q, queue, cmd));
	return 0;
}

/* Where those are inlined: what a queue hands to its socket is told by the state of its command. */
static __always_inline struct nt_queue *queue_of(struct socket *sock)
{
	__u64 key = (__u64)sock->sk;
	__u32 *slot = bpf_map_lookup_elem(&sockets, &key);

	return slot ? bpf_map_lookup_elem(&queues, slot) : NULL;
}

#define SEND_STATE(name) bpf_core_enum_value(enum nvmet_tcp_send_state, NVMET_TCP_SEND_##name)

static __always_inline int to_socket(struct socket *sock)
{
	struct nt_queue *q = queue_of(sock);
	enum nvmet_tcp_send_state state;
	struct nvmet_tcp_queue *queue;
	struct nvmet_tcp_cmd *cmd;
	struct nt_cmd *c;

	if (!q)
		return 0;
	queue = (void *)q->object;
	cmd = BPF_CORE_READ(queue, snd_cmd);
	if (!cmd)
		return 0;
	state = BPF_CORE_READ(cmd, state);
	if (state == SEND_STATE(DATA))
		return 0;
	c = cmd_at(q, queue, cmd);
	if (state == SEND_STATE(RESPONSE)) {
		respond(q, queue, cmd, c);
	} else if (c && state == SEND_STATE(R2T)) {
		if (!c->r.points[NT_T_SEND_R2T])
			c->r.points[NT_T_SEND_R2T] = bpf_ktime_get_ns();
	} else if (c && state == SEND_STATE(DATA_PDU)) {
		if (!c->r.points[NT_T_SEND])
			c->r.points[NT_T_SEND] = bpf_ktime_get_ns();
	}
	return 0;
}

static __always_inline int socket_took(struct socket *sock, int ret)
{
	struct nvmet_tcp_queue *queue;
	struct nvmet_tcp_cmd *cmd;
	struct nt_queue *q;

	if (ret <= 0)
		return 0;
	q = queue_of(sock);
	if (!q)
		return 0;
	queue = (void *)q->object;
	if (!BPF_CORE_READ(queue, nvme_sq.sqhd_disabled))
		return 0;
	cmd = BPF_CORE_READ(queue, snd_cmd);
	if (!cmd || BPF_CORE_READ(cmd, state) != SEND_STATE(DATA) ||
	    BPF_CORE_READ(cmd, wbytes_done) + ret < BPF_CORE_READ(cmd, req.transfer_len))
		return 0;
	data_sent(q, queue, cmd_at(q, queue, cmd));
	return 0;
}

SEC("fentry/kernel_sendpage")
int BPF_PROG(stock_sendpage, struct socket *sock)
{
	return to_socket(sock);
}

SEC("fexit/kernel_sendpage")
int BPF_PROG(stock_sendpage_end, struct socket *sock, void *page, int offset, __u64 size, int flags,
	     int ret)
{
	return socket_took(sock, ret);
}

SEC("fentry/sock_sendmsg")
int BPF_PROG(stock_sendmsg, struct socket *sock)
{
	return to_socket(sock);
}

SEC("fexit/sock_sendmsg")
int BPF_PROG(stock_sendmsg_end, struct socket *sock, void *msg, int ret)
{
	return socket_took(sock, ret);
}

#endif /* NTPROF_TARGET_STOCK_BPF_H */
