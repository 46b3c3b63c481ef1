/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target's points for an nvmet-tcp that nobody patched: from functions that the compiler kept, and
 * from what every kernel has. docs/points.md says how far each is from the tracepoint of its name.
 *
 * nvmet's own functions serve all transports; what is not TCP's is left after one comparison. So are
 * sockets that are not nvmet's.
 */
#ifndef NTPROF_TARGET_STOCK_BPF_H
#define NTPROF_TARGET_STOCK_BPF_H

#include "target_command.bpf.h"

/* How many bytes nvmet_tcp_try_recv_pdu() asks for first of each PDU: its common header. */
#define PDU_COMMON_HEADER 8
/* What is longer than a PDU and its digest that a target sends is data. */
#define TARGET_PDU_BYTES 28

/* The command that argument @n, a struct nvmet_req, is a part of. */
static __always_inline struct nvmet_tcp_cmd *tcp_cmd_of(void *ctx, __u32 n)
{
	return (void *)(plain_argument(ctx, n) - bpf_core_field_offset(struct nvmet_tcp_cmd, req));
}

/*
 * The queue at this address, NULL if no command of its was seen yet. After a connection has closed, another
 * one with another slot may come to lie at its address.
 */
static __always_inline struct nt_queue *queue_known(__u64 queue)
{
	__u32 slot = *slot_index(queue) - 1;
	struct nt_queue *q = bpf_map_lookup_elem(&queues, &slot);

	return q && q->object == queue && q->gen != q->dead_gen ? q : NULL;
}

/* cmd_of() for plain addresses. */
static __always_inline struct nt_cmd *cmd_at_address(struct nvmet_tcp_queue *queue,
						     struct nvmet_tcp_cmd *cmd)
{
	bool elsewhere;
	struct nt_cmd *c = cmd_by_owner((__u64)cmd, &elsewhere);
	struct nt_queue *q;
	__u32 slot;

	if (c || !elsewhere)
		return c;
	slot = BPF_CORE_READ(queue, idx);
	q = bpf_map_lookup_elem(&queues, &slot);
	c = q ? cmd_find(q, tag_at(queue, cmd)) : NULL;
	return c && c->owner == (__u64)cmd ? c : NULL;
}

static __always_inline struct nt_cmd *cmd_by_address(struct nvmet_tcp_cmd *cmd)
{
	bool elsewhere;
	struct nt_cmd *c = cmd_by_owner((__u64)cmd, &elsewhere);

	return c || !elsewhere ? c : cmd_at_address(BPF_CORE_READ(cmd, queue), cmd);
}

/* nvme_is_write() */
static __always_inline bool is_write(struct nvme_command *sqe)
{
	__u8 opcode = sqe->common.opcode;

	/* A fabrics command has its type where others have the first byte of the NSID. */
	return opcode == NVME_FABRICS_COMMAND ? sqe->common.nsid & 1 : opcode & 1;
}

/*
 * A queue's socket is about to be read. Nobody but the queue's worker, in which we run, reads from it.
 *
 * nvmet_tcp_try_recv_pdu() reads the common header of a PDU and then the rest. The PDU arrived with the packet
 * at the head of the socket's queue when the first byte is read. Where the packet comes between our look and
 * the first read, the second look finds it still, partly read.
 */
static __always_inline void look(struct nt_queue *q, struct sock *sk, __u64 size)
{
	struct nvmet_tcp_queue *queue = (void *)q->object;
	struct sk_buff *skb = sk->sk_receive_queue.next;
	struct tcp_skb_cb *cb;
	struct tcp_sock *tcp;

	if ((__u64)skb == (__u64)sk + bpf_core_field_offset(struct sock, sk_receive_queue))
		skb = NULL;
	if (size == PDU_COMMON_HEADER) {
		/* The last of a PDU may be as long, too. */
		if (q->pdu_time && BPF_CORE_READ(queue, offset))
			return;
		if (skb) {
			q->pdu_time = skb->tstamp;
			return;
		}
		q->pdu_time = 0;
		tcp = bpf_skc_to_tcp_sock(sk);
		if (tcp)
			q->pdu_seq = tcp->copied_seq;
	} else if (skb && !q->pdu_time) {
		cb = (void *)((__u64)skb + bpf_core_field_offset(struct sk_buff, cb));
		if (q->pdu_seq - BPF_CORE_READ(cb, seq) < skb->len)
			q->pdu_time = skb->tstamp;
	}
}

/* Learns what tells our sockets from others; not needed after that. */
SEC("fentry/nvmet_tcp_try_recv_pdu")
int BPF_PROG(stock_try_recv, struct nvmet_tcp_queue *queue)
{
	if (!nt_control.data_ready)
		nt_control.data_ready = data_ready_of(queue->sock->sk);
	return 0;
}

SEC("fentry/kernel_recvmsg")
int BPF_PROG(stock_recvmsg, struct socket *sock, void *msg, void *vec, __u64 num, __u64 size)
{
	struct sock *sk = sock->sk;
	__u64 address = queue_of_socket(sk);
	struct nvmet_tcp_queue *queue = (void *)address;
	struct nt_queue *q;
	__u32 slot;

	if (!address)
		return 0;
	q = queue_known(address);
	if (!q) {
		/* Its first command came before tracing did. */
		slot = BPF_CORE_READ(queue, idx);
		q = bpf_map_lookup_elem(&queues, &slot);
		if (!q)
			return 0;
		if (q->object != address)
			queue_begin(q, queue, slot);
	}
	look(q, sk, size);
	return 0;
}

/* When the PDU arrived whose header has just been received: told once. */
static __always_inline __u64 pdu_arrived(struct nt_queue *q, __u64 now)
{
	__s64 time;

	if (!q)
		return 0;
	time = q->pdu_time;
	q->pdu_time = 0;
	return arrival(time, now);
}

/*
 * The slot of the queue at this address, and what is known of it: mostly not NULL.
 * @connected: Connect, a queue's first command, has been executed
 */
static __always_inline __u32 slot_of(__u64 address, bool connected, struct nt_queue **q)
{
	struct nvmet_tcp_queue *queue = (void *)address;
	__u32 slot;

	*q = connected ? queue_known(address) : NULL;
	if (*q)
		return (*q)->instance;
	slot = BPF_CORE_READ(queue, idx);
	*q = bpf_map_lookup_elem(&queues, &slot);
	return slot;
}

SEC("fentry/nvmet_req_init")
int BPF_PROG(stock_cmd, struct nvmet_req *req, void *cq, struct nvmet_sq *sq,
	     const struct nvmet_fabrics_ops *ops)
{
	struct target_capsule t = {.qid = sq->qid, .has_ctrl = sq->ctrl};
	struct nt_queue *q;

	if (ops->type != NVMF_TRTYPE_TCP)
		return 0;
	t.queue = (void *)(plain_argument(ctx, 2) -
			   bpf_core_field_offset(struct nvmet_tcp_queue, nvme_sq));
	t.cmd = (__u64)tcp_cmd_of(ctx, 0);
	t.slot = slot_of((__u64)t.queue, t.has_ctrl, &q);
	t.now = bpf_ktime_get_ns();
	t.rx = pdu_arrived(q, t.now);
	if (is_skipped(req->cmd, t.qid))
		return nt_control.tracked ? BEGIN_SKIPPED(t.cmd, t.slot, capsule_tag(&t)) : 0;
	return begin(&t, req->cmd);
}

/* Called for each H2C data PDU, and for data in a capsule: then no R2T has been sent. */
SEC("fentry/nvmet_tcp_build_pdu_iovec")
int BPF_PROG(stock_data, struct nvmet_tcp_cmd *cmd)
{
	struct nvmet_tcp_queue *queue = cmd->queue;
	struct nt_cmd *c = cmd_of(queue, cmd);
	struct nt_queue *q;
	__u64 now;

	if (!c || !c->r.points[NT_T_SEND_R2T] || c->r.points[NT_T_DATA])
		return 0;
	now = bpf_ktime_get_ns();
	slot_of((__u64)queue, true, &q);
	c->r.points[NT_T_DATA_RX] = pdu_arrived(q, now);
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
static __always_inline int exec_write(void *ctx, struct nvmet_req *req)
{
	struct nt_cmd *c;

	if (req->ops->type != NVMF_TRTYPE_TCP)
		return 0;
	c = cmd_by_address(tcp_cmd_of(ctx, 0));
	if (c && !c->r.points[NT_T_EXEC])
		c->r.points[NT_T_EXEC] = bpf_ktime_get_ns();
	return 0;
}

#define EXEC_WRITE(function)                                       \
	SEC("fentry/" #function)                                   \
	int BPF_PROG(stock_exec_##function, struct nvmet_req *req) \
	{                                                          \
		return exec_write(ctx, req);                       \
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

static __always_inline int stock_done_of(void *ctx)
{
	struct nt_cmd *c = cmd_by_address(tcp_cmd_of(ctx, 0));

	/* Without exec nothing tells an R2T from the end; but the end comes last. */
	if (c && (NT_IS_MISSING(NT_T_EXEC) || (c->r.points[NT_T_EXEC] && !c->r.points[NT_T_DONE])))
		c->r.points[NT_T_DONE] = bpf_ktime_get_ns();
	return 0;
}

/* See "nested" in control.bpf.h. Called for an R2T as well, see done(). */
SEC("fentry/nvmet_tcp_queue_response")
int BPF_PROG(stock_done_nested, struct nvmet_req *req)
{
	return stock_done_of(ctx);
}

SEC("fentry/nvmet_tcp_queue_response")
int BPF_PROG(stock_done, struct nvmet_req *req)
{
	return stock_done_of(ctx);
}

/* A response goes to the socket: the command's end. */
static __always_inline void respond(struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd,
				    struct nt_cmd *c)
{
	struct nt_queue *q = c ? bpf_map_lookup_elem(&queues, &c->r.slot) : NULL;
	__u64 now;

	if (!q) {
		/* See try_send_response(). */
		if (!nt_knobs.sample_below && !BPF_CORE_READ(cmd, offset) &&
		    (BPF_CORE_READ(queue, nvme_sq.qid) ||
		     BPF_CORE_READ(cmd, req.cmd, common.opcode) != NVME_ADMIN_ASYNC_EVENT))
			count_no_start();
		return;
	}
	now = bpf_ktime_get_ns();
	if (!c->r.points[NT_T_SEND])
		c->r.points[NT_T_SEND] = now;
	/* Nobody but a record's reader asks for it. */
	if (nt_knobs.select != NT_SELECT_NONE)
		c->r.status = BPF_CORE_READ(cmd, req.cqe, status) >> 1;
	cmd_end(q, queue, c, now);
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
	struct nvmet_tcp_queue *queue = cmd->queue;
	struct nt_cmd *c = cmd_of(queue, cmd);

	if (send_begins(c) && !nt_control.data_watched && queue->nvme_sq.sqhd_disabled)
		end_unwatched(queue, c);
	return 0;
}

SEC("fentry/nvmet_try_send_response")
int BPF_PROG(stock_send_response, struct nvmet_tcp_cmd *cmd)
{
	struct nvmet_tcp_queue *queue = cmd->queue;

	respond(queue, cmd, cmd_of(queue, cmd));
	return 0;
}

/* 1: all of the data is with the socket. */
SEC("fexit/nvmet_try_send_data")
int BPF_PROG(stock_send_data_end, struct nvmet_tcp_cmd *cmd, bool last_in_batch, int ret)
{
	struct nvmet_tcp_queue *queue = cmd->queue;

	if (ret == 1 && queue->nvme_sq.sqhd_disabled)
		data_sent(queue, cmd_of(queue, cmd));
	return 0;
}

#define SEND_STATE(name) bpf_core_enum_value(enum nvmet_tcp_send_state, NVMET_TCP_SEND_##name)

/* Where those are inlined: what a queue hands to its socket is told by the state of its command. */
static __always_inline int to_socket(struct socket *sock)
{
	struct nvmet_tcp_queue *queue = (void *)queue_of_socket(sock->sk);
	enum nvmet_tcp_send_state state;
	struct nvmet_tcp_cmd *cmd;
	struct nt_cmd *c;

	if (!queue)
		return 0;
	cmd = BPF_CORE_READ(queue, snd_cmd);
	if (!cmd)
		return 0;
	state = BPF_CORE_READ(cmd, state);
	if (state == SEND_STATE(DATA))
		return 0;
	c = cmd_at_address(queue, cmd);
	if (state == SEND_STATE(RESPONSE)) {
		respond(queue, cmd, c);
	} else if (c && state == SEND_STATE(R2T)) {
		if (!c->r.points[NT_T_SEND_R2T])
			c->r.points[NT_T_SEND_R2T] = bpf_ktime_get_ns();
	} else if (state == SEND_STATE(DATA_PDU)) {
		if (send_begins(c) && !nt_control.data_watched &&
		    BPF_CORE_READ(queue, nvme_sq.sqhd_disabled))
			end_unwatched(queue, c);
	}
	return 0;
}

static __always_inline int socket_took(struct socket *sock, int ret)
{
	struct nvmet_tcp_queue *queue = (void *)queue_of_socket(sock->sk);
	struct nvmet_tcp_cmd *cmd;

	if (!queue || ret <= 0)
		return 0;
	if (!BPF_CORE_READ(queue, nvme_sq.sqhd_disabled))
		return 0;
	cmd = BPF_CORE_READ(queue, snd_cmd);
	if (!cmd || BPF_CORE_READ(cmd, state) != SEND_STATE(DATA) ||
	    BPF_CORE_READ(cmd, wbytes_done) + ret < BPF_CORE_READ(cmd, req.transfer_len))
		return 0;
	data_sent(queue, cmd_at_address(queue, cmd));
	return 0;
}

SEC("fentry/kernel_sendpage")
int BPF_PROG(stock_sendpage, struct socket *sock, void *page, int offset, __u64 size)
{
	return size > TARGET_PDU_BYTES ? 0 : to_socket(sock);
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
