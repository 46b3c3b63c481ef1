/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The target's points for an unpatched nvmet-tcp: from functions that the compiler kept, and from
 * what every kernel has. docs/points.md says how far each is from the tracepoint of its name.
 *
 * nvmet's own functions serve all transports, and the functions of sockets serve the whole machine.
 * Programs on them return after one comparison where the call is not for nvmet-tcp.
 */
#ifndef NTPROF_TARGET_STOCK_BPF_H
#define NTPROF_TARGET_STOCK_BPF_H

#include "disk.bpf.h"
#include "target_command.bpf.h"

/*
 * When a PDU arrived: the arrival of the packet from which the driver copies the first byte of it.
 */

/* Bytes that nvmet_tcp_try_recv_pdu() asks for first of each PDU: its common header. */
#define PDU_COMMON_HEADER 8

/*
 * Finds a queue by the address of its struct nvmet_tcp_queue. Verified: it is the queue that was
 * last seen there, and it is not known to have closed. After a connection has closed, another one
 * with another slot may lie at its address.
 * @slot: filled, if there is one
 * Return: NULL if none was seen there
 */
static __always_inline struct nt_queue *queue_by_address(__u64 address, __u32 *slot)
{
	struct nt_queue *q = queue_by_index(address, slot);

	return q && q->object == address && q->gen != q->dead_gen ? q : NULL;
}

/*
 * Finds a queue by the slot that the struct nvmet_tcp_queue at a plain address says, which the
 * driver has set by now. @slot: filled
 */
static __always_inline struct nt_queue *queue_by_idx(__u64 address, __u32 *slot)
{
	*slot = BPF_CORE_READ((struct nvmet_tcp_queue *)address, idx);
	return queue_at(*slot);
}

/* The value of @pdu_time of struct nt_queue for the byte at @offset of packet @skb, typed. */
static __always_inline __s64 stamp_resolved(struct nt_queue *q, const struct sk_buff *skb,
					    int offset)
{
	const struct nt_join p = packet_of(skb);
	__s64 tstamp;

	return joins_resolve(q, p.begin + offset, &p, &tstamp) ? tstamp : -tstamp;
}

/*
 * CO-RE: where the driver gathers the bytes before the data of a PDU. In the kernel it is a union.
 */
struct nvmet_tcp_queue___gathers {
	struct nvme_tcp_cmd_pdu pdu;
} __attribute__((preserve_access_index));

/*
 * CO-RE: since Linux 6.4, @kvec shares its place with this structure. The verifier takes a load of
 * @kvec for one of the first member here, which is no pointer of the kernel's.
 */
struct iovec___first {
	void *iov_base;
} __attribute__((preserve_access_index));
struct iov_iter___first {
	struct iovec___first __ubuf_iovec;
} __attribute__((preserve_access_index));

/* CO-RE: found by its name, as its number is not the same on all kernels. */
enum iter_type___named { ITER_KVEC___named = 1 };

/*
 * The address to which the next bytes are copied. @to: typed
 * Return: 0 where it is no buffer of the kernel
 */
static __always_inline __u64 copied_to(struct iov_iter *to)
{
	const struct kvec *vec;
	__u64 base = 0;

	if (to->iter_type != bpf_core_enum_value(enum iter_type___named, ITER_KVEC___named))
		return 0;
	vec = to->kvec;
	if (!bpf_core_field_exists(((struct iov_iter___first *)0)->__ubuf_iovec))
		return (__u64)vec->iov_base;
	bpf_probe_read_kernel(&base, sizeof(base),
			      (void *)((__u64)vec + bpf_core_field_offset(struct kvec, iov_base)));
	return base;
}

/*
 * The first byte of a PDU is about to be copied from packet @skb, typed, where it is at @offset.
 * The noted time belongs to the PDU until the next one begins, or until pdu_arrived() has returned
 * it. This runs in the queue's worker, which holds the lock of the socket. Nothing else reads from
 * the socket, so nothing is joined with the packet meanwhile.
 */
static __always_inline void note_arrival(struct nt_queue *q, const struct sk_buff *skb, int offset)
{
	struct nt_worker *w = worker_of(q);
	__s64 tstamp = skb->tstamp;

	if (w)
		w->seq = packet_begin(skb) + offset;

	/* Where nothing was joined the stamp is right, whichever byte is read. */
	q->pdu_time = !q->joins && !joins_unseen() ? tstamp : stamp_resolved(q, skb, offset);
}

/*
 * Notes what distinguishes the sockets of nvmet-tcp from others. The loader then detaches this
 * program.
 */
SEC("fentry/nvmet_tcp_try_recv_pdu")
int BPF_PROG(stock_try_recv, struct nvmet_tcp_queue *queue)
{
	struct nvmet_tcp_queue___plain *plain = (void *)queue;

	if (!nt_control.data_ready)
		data_ready_learn(queue->sock->sk, (__u64)queue, (__u64)plain->data_ready);
	return 0;
}

/*
 * Bytes are copied from a packet to the reader of a socket. nvmet_tcp_try_recv_pdu() asks for the
 * common header of a PDU first, and has it copied to where the queue gathers it. That address leads
 * to the queue. The packet from which all of these bytes are still to be copied has the first byte.
 * Other copies, of the rest, of data and of other sockets, return at once, or lead to no queue.
 */
SEC("fentry/skb_copy_datagram_iter")
int BPF_PROG(stock_copied, const struct sk_buff *skb, int offset, struct iov_iter *to)
{
	struct nt_queue *q;
	struct sock *sk;
	__u64 address;
	__u32 slot;

	if (to->count != PDU_COMMON_HEADER)
		return 0;
	address = copied_to(to);
	if (!address)
		return 0;
	address -= bpf_core_field_offset(struct nvmet_tcp_queue___gathers, pdu);
	q = queue_by_address(address, &slot);
	if (!q) {
		/* Its first command came before tracing began. */
		sk = skb->sk;
		if (!sk || queue_of_sock(sk) != address)
			return 0;
		q = queue_by_idx(address, &slot);
		if (!q)
			return 0;
		if (q->object != address)
			queue_begin(q, (void *)address, slot);
	}
	if (!q->opaque)
		note_arrival(q, skb, offset);
	return 0;
}

/*
 * When the PDU arrived whose header has just been received, CLOCK_MONOTONIC.
 * @q: may be NULL
 * @joined: filled; the time may be that of a later packet
 * Return: 0 where it is unknown, or was returned before
 */
static __always_inline __u64 pdu_arrived(struct nt_queue *q, __u64 now, bool *joined)
{
	__s64 time;

	*joined = false;
	if (!q)
		return 0;
	time = q->pdu_time;
	q->pdu_time = 0;
	*joined = time < 0;
	return arrival(time < 0 ? -time : time, now);
}

/* Where that PDU begins in the stream. Only finer points need it. */
static __always_inline __u32 noted_seq(const struct nt_queue *q)
{
	const struct nt_worker *w = worker_of(q);

	return w ? w->seq : 0;
}

/* The longest PDU without data that a target sends, with its digest. Anything longer is data. */
#define TARGET_PDU_BYTES 28

/* The plain address of the command that contains argument @n, a struct nvmet_req. */
static __always_inline struct nvmet_tcp_cmd *tcp_cmd_of(void *ctx, __u32 n)
{
	return (void *)(plain_argument(ctx, n) - bpf_core_field_offset(struct nvmet_tcp_cmd, req));
}

/* As cmd_of_plain(), where a command ends: it may be measured, or only counted. */
static __always_inline struct nt_cmd *cmd_any_of_plain(struct nvmet_tcp_cmd *cmd)
{
	struct nvmet_tcp_queue *queue;
	bool elsewhere;
	struct nt_cmd *c = cmd_any_by_owner((__u64)cmd, 0, &elsewhere);

	if (c || !elsewhere)
		return c;
	queue = BPF_CORE_READ(cmd, queue);
	return cmd_any_by_tag_and_owner(queue_at(BPF_CORE_READ(queue, idx)),
					tag_of_plain(queue, cmd), (__u64)cmd, 0);
}

/*
 * Finds a queue by the address of its struct nvmet_tcp_queue, whether or not a command of it was
 * seen.
 * @connected: Connect, a queue's first command, has been executed. Anything seen earlier at this
 *             address belongs to another connection
 * @slot: filled
 * Return: NULL if the map has no such slot
 */
static __always_inline struct nt_queue *queue_find(__u64 address, bool connected, __u32 *slot)
{
	struct nt_queue *q = connected ? queue_by_address(address, slot) : NULL;

	return q ?: queue_by_idx(address, slot);
}

/* @sq_argument: the number of @sq among the arguments of nvmet_req_init() */
static __always_inline int capsule_received(void *ctx, struct nvmet_req *req, struct nvmet_sq *sq,
					    const struct nvmet_fabrics_ops *ops, __u32 sq_argument)
{
	struct target_capsule t = {};
	struct nvme_command *sqe;
	struct nt_queue *q;
	enum nt_fate fate;

	if (ops->type != NVMF_TRTYPE_TCP)
		return 0;
	t.qid = sq->qid;
	t.has_ctrl = sq->ctrl;
	/* Loaded once: the kernel checks the address of each load. */
	sqe = req->cmd;
	fate = operation_left_out(sqe, t.qid) ? NT_LEAVE : sqe_fate(sqe, t.qid);
	t.queue = (void *)(plain_argument(ctx, sq_argument) -
			   bpf_core_field_offset(struct nvmet_tcp_queue, nvme_sq));
	q = queue_find((__u64)t.queue, t.has_ctrl, &t.slot);
	t.q = q;
	if (is_skipped(sqe, fate)) {
		if (q)
			q->pdu_time = 0;
		if (!nt_control.tracked && !nt_knobs.count_all)
			return 0;
		t.cmd = (__u64)tcp_cmd_of(ctx, 0);
		return capsule_skip(&t);
	}
	t.cmd = (__u64)tcp_cmd_of(ctx, 0);
	t.now = bpf_ktime_get_ns();
	if (!nt_knobs.ends || burst_now())
		capsule_arrived(&t, pdu_arrived(q, t.now, &t.joined));
	t.seq = noted_seq(q);
	return capsule_begin(&t, sqe, fate);
}

/*
 * Whether capsule_received() returns at once because of the command's opcode: see capsule_skip().
 * The arrival that was noted for it is then cleared. Queues of other transports are not known here.
 * @req: typed
 * @sq_argument: see capsule_received()
 */
static __always_inline bool capsule_leaves(void *ctx, struct nvmet_req *req, __u32 sq_argument)
{
	struct nt_queue *q;
	__u32 slot;

	if (!none_is_tracked() || !opcode_skipped(req->cmd))
		return false;
	if (nt_knobs.count_all && may_be_counted((__u64)tcp_cmd_of(ctx, 0)))
		return false;
	q = queue_by_address(plain_argument(ctx, sq_argument) -
				     bpf_core_field_offset(struct nvmet_tcp_queue, nvme_sq),
			     &slot);
	if (!q)
		return false;
	q->pdu_time = 0;
	return true;
}

SEC("fentry/nvmet_req_init")
int NT_PROG_LEAVING(nt_knobs.only.ops, capsule_leaves(ctx, (void *)ctx[0], 2), stock_cmd,
		    struct nvmet_req *req, void *cq, struct nvmet_sq *sq,
		    const struct nvmet_fabrics_ops *ops)
{
	return capsule_received(ctx, req, sq, ops, 2);
}

/* From Linux 6.18 on, @cq is no argument: the submission queue knows its completion queue. */
SEC("fentry/nvmet_req_init")
int NT_PROG_LEAVING(nt_knobs.only.ops, capsule_leaves(ctx, (void *)ctx[0], 1), stock_cmd_no_cq,
		    struct nvmet_req *req, struct nvmet_sq *sq, const struct nvmet_fabrics_ops *ops)
{
	return capsule_received(ctx, req, sq, ops, 1);
}

/*
 * Data are about to be received for a command. This is called for each H2C data PDU, and for data
 * in a capsule, where no R2T has been sent. @cmd: typed
 */
static __always_inline int data_come(struct nvmet_tcp_cmd *cmd)
{
	struct nvmet_tcp_queue *queue = cmd->queue;
	struct nt_cmd *c = cmd_of(queue, cmd);
	__u64 now, rx;
	bool joined;

	if (!c || !c->r.points[NT_T_SEND_R2T] || c->r.points[NT_T_DATA])
		return 0;
	now = bpf_ktime_get_ns();
	rx = pdu_arrived(queue_of_cmd(c), now, &joined);
	cmd_receiving(c, noted_seq(queue_of_cmd(c)), rx, joined, now);
	return 0;
}

SEC("fentry/nvmet_tcp_build_pdu_iovec")
int NT_PROG_SELDOM(stock_data, struct nvmet_tcp_cmd *cmd)
{
	seldom_ran(NT_SELDOM_stock_data);
	return data_come(cmd);
}

/* The name of that function in Linux 5.15, except for the last of its stable releases. */
SEC("fentry/nvmet_tcp_map_pdu_iovec")
int NT_PROG_SELDOM(stock_data_map, struct nvmet_tcp_cmd *cmd)
{
	seldom_ran(NT_SELDOM_stock_data_map);
	return data_come(cmd);
}

/* At the entry of req->execute() of reads, and of commands that bring data. */
static __always_inline int executing(void *ctx, struct nvmet_req *req)
{
	if (none_is_measured() || req->ops->type != NVMF_TRTYPE_TCP)
		return 0;
	cmd_reach(cmd_of_plain(tcp_cmd_of(ctx, 0)), NT_T_EXEC);
	return 0;
}

#define EXECUTING(function)                                              \
	SEC("fentry/" #function)                                         \
	int NT_PROG_SELDOM(stock_exec_##function, struct nvmet_req *req) \
	{                                                                \
		seldom_ran(NT_SELDOM_stock_exec_##function);             \
		return executing(ctx, req);                              \
	}
EXECUTING(nvmet_bdev_execute_rw)
EXECUTING(nvmet_bdev_execute_dsm)
EXECUTING(nvmet_bdev_execute_zone_append)
EXECUTING(nvmet_file_execute_rw)
EXECUTING(nvmet_file_execute_dsm)
EXECUTING(nvmet_passthru_execute_cmd)
EXECUTING(nvmet_execute_set_features)
EXECUTING(nvmet_execute_admin_connect)
EXECUTING(nvmet_execute_io_connect)
EXECUTING(nvmet_execute_auth_send)

/*
 * nvmet_tcp_queue_response() runs for a command whose execution was not seen: this is its end, or
 * its R2T. Not all functions that execute writes have a program: those of reservations and of some
 * features have none. Such a command counts as executing from the time its data began to come. The
 * functions of plain writes all have one: if that was skipped, the point is missing.
 * @req: typed
 * Return: whether it is the end
 */
static __always_inline bool executed_unwatched(struct nt_cmd *c, struct nvmet_req *req)
{
	if (c->r.op == NT_OP_WRITE || !is_write(req->cmd) || req->cqe->status)
		return false;
	if (!c->r.points[NT_T_SEND_R2T] && req->cmd->common.dptr.sgl.type != NVME_SGL_IN_CAPSULE)
		return false;
	c->r.points[NT_T_EXEC] = c->r.points[NT_T_DATA] ?: c->r.points[NT_T_CMD];
	return true;
}

/*
 * To executed. Notes the status as well, because it is at hand here. For an R2T, which comes here
 * too, it is success.
 * @ctx: of a program at the entry of nvmet_tcp_queue_response(), which is TCP's own
 * @req: typed
 */
static __always_inline int executed(void *ctx, struct nvmet_req *req)
{
	struct nvmet_tcp_cmd *cmd;
	struct nt_cmd *c;
	__u16 status;

	if (none_has_a_state())
		return 0;
	if (nt_knobs.ends) {
		cmd = tcp_cmd_of(ctx, 0);
		return CMD_END_QUEUED(req, cmd, cmd_any_of_plain(cmd));
	}
	if (none_is_measured() && !req->cqe->status)
		return 0;
	c = cmd_of_plain(tcp_cmd_of(ctx, 0));
	/* The other one of the two programs has done this. */
	if (c && c->r.points[NT_T_DONE] && !NT_IS_MISSING(NT_T_EXEC))
		return 0;
	status = req->cqe->status;
	/* An R2T comes here before exec. Where no program sets exec, the last run counts. */
	if (c && (NT_IS_MISSING(NT_T_EXEC) || c->r.points[NT_T_EXEC] || executed_unwatched(c, req)))
		disk_executed(c, req);
	if (status) {
		c = cmd_any_of_plain(tcp_cmd_of(ctx, 0));
		if (c)
			c->r.status = status >> 1;
	}
	return 0;
}

/* See "nested" in control.bpf.h. */
SEC("fentry/nvmet_tcp_queue_response")
int NT_PROG_COUNTING(stock_done_nested, struct nvmet_req *req)
{
	return executed(ctx, req);
}

SEC("fentry/nvmet_tcp_queue_response")
int NT_PROG_COUNTING(stock_done, struct nvmet_req *req)
{
	return executed(ctx, req);
}

/*
 * A response goes to the socket. @queue, @cmd: typed, or plain addresses
 * @c: the command in flight at @cmd, NULL where its beginning was not seen
 * @sk: see OUT_SOCKET()
 */
static __always_inline void respond(struct nvmet_tcp_queue *queue, struct nvmet_tcp_cmd *cmd,
				    struct nt_cmd *c, struct sock *sk)
{
	struct nt_queue *q = c ? queue_of_cmd(c) : NULL;
	__u64 now;

	if (!q) {
		/* See try_send_response(). */
		if (!nt_knobs.stages && all_have_states() && !BPF_CORE_READ(cmd, offset))
			count_unbegun_of(queue, cmd);
		return;
	}
	if (only_counted(c)) {
		cmd_end(q, c, 0);
		return;
	}
	now = bpf_ktime_get_ns();
	if (!c->r.points[NT_T_SEND])
		cmd_sends(c, sk, NT_T_SEND, now);
	/* executed() was skipped, and has not noted the status. */
	if (!c->r.points[NT_T_DONE])
		c->r.status = BPF_CORE_READ(cmd, req.cqe, status) >> 1;
	cmd_end(q, c, now);
}

SEC("fentry/nvmet_try_send_r2t")
int BPF_PROG(stock_send_r2t, struct nvmet_tcp_cmd *cmd)
{
	cmd_asking(cmd_of(cmd->queue, cmd), OUT_SOCKET(cmd->queue->sock->sk));
	return 0;
}

SEC("fentry/nvmet_try_send_data_pdu")
int BPF_PROG(stock_send_data_pdu, struct nvmet_tcp_cmd *cmd)
{
	struct nvmet_tcp_queue *queue = cmd->queue;
	struct nt_cmd *c = cmd_any_of(queue, cmd);

	if (cmd_answers(c, OUT_SOCKET(queue->sock->sk)) && !nt_control.data_watched &&
	    queue->nvme_sq.sqhd_disabled)
		cmd_end_unwatched(c);
	return 0;
}

SEC("fentry/nvmet_try_send_response")
int BPF_PROG(stock_send_response, struct nvmet_tcp_cmd *cmd)
{
	struct nvmet_tcp_queue *queue = cmd->queue;

	respond(queue, cmd, cmd_any_of(queue, cmd), OUT_SOCKET(queue->sock->sk));
	return 0;
}

/* The function returns 1 when the socket has taken all of the data. */
SEC("fexit/nvmet_try_send_data")
int BPF_PROG(stock_send_data_end, struct nvmet_tcp_cmd *cmd, bool last_in_batch, int ret)
{
	struct nvmet_tcp_queue *queue = cmd->queue;

	if (ret == 1 && queue->nvme_sq.sqhd_disabled)
		cmd_end_by_data(cmd_any_of(queue, cmd));
	return 0;
}

#define SEND_STATE(name) bpf_core_enum_value(enum nvmet_tcp_send_state, NVMET_TCP_SEND_##name)

/* Whether a read in flight may end without a CQE. */
static __always_inline bool has_no_sqflow(const struct nt_cmd *c)
{
	const struct nt_queue *q = queue_of_cmd(c);
	struct nvmet_tcp_queue *queue;

	if (q && c->r.gen == q->identified)
		return q->no_sqflow;
	queue = (void *)kernel_queue_at(c->r.slot);
	return queue && BPF_CORE_READ(queue, nvme_sq.sqhd_disabled);
}

/*
 * Whether the bytes that go to the socket for a measured command begin its data, as far as
 * this is known without reading the driver's state: the command was executed successfully, and its
 * data come first (nvmet_tcp_need_data_out()). If the run for the data was skipped, the response is
 * taken for them: the end of the command is then one that was not seen, and counted as such.
 * @c: may be NULL
 */
static __always_inline bool begins_data(const struct nt_cmd *c)
{
	return c && !only_counted(c) && c->r.points[NT_T_DONE] && !c->r.points[NT_T_SEND] &&
	       c->r.length && !c->r.status && !(c->r.opcode & 1) && c->r.op != NT_OP_FABRICS;
}

/* The first data of a read go to the socket. @c: NULL where its beginning was not seen */
static __always_inline void data_go(struct nt_cmd *c, struct sock *sk)
{
	if (cmd_answers(c, sk) && !nt_control.data_watched && has_no_sqflow(c))
		cmd_end_unwatched(c);
}

/*
 * Leads from the place of a PDU in memory to the owner of its command. Before Linux 6.5, drivers
 * hand PDUs to a socket by page, and each owner has memory of its own for each of its PDUs, as long
 * as its connection lives. So where a PDU was seen before, the driver's structures need not be read
 * by helper. PDUs share an entry, which belongs to the last of them.
 */
struct nt_pdu nt_pdus[1 << NT_PDUS_BITS] = {};

/*
 * The place of a PDU: its page, argument 1 of kernel_sendpage(), and its offset in the page. The
 * addresses of all pages have equal 16 highest bits, and no page is larger than 64 KiB.
 */
static __always_inline __u64 pdu_place(void *ctx, int offset)
{
	return plain_argument(ctx, 1) ^ (__u64)offset << 48;
}

static __always_inline struct nt_pdu *pdu_at(__u64 place)
{
	__u32 mix = (__u32)(place >> 6) ^ (__u32)(place >> 48) * 0x85ebca6bu;

	return &nt_pdus[mix * NT_SPREAD >> (32 - NT_PDUS_BITS)];
}

/* Command @c, in flight, has its PDU at @place. @ends: NT_PDU_ENDS or 0 */
static __always_inline void pdu_learn(const struct nt_cmd *c, __u64 place, __u32 ends)
{
	struct nt_pdu *p = pdu_at(place);
	__u64 owner = owner_of(c);

	p->owner = owner;
	p->slot = c->r.slot | ends;
	p->gen = c->r.gen;
	p->check = place ^ owner;
}

/*
 * The owner of the command whose PDU was seen at @place before. Not verified: its connection may
 * have closed. @p: filled, with the entry
 * Return: 0 if none was seen there
 */
static __always_inline __u64 pdu_owner(__u64 place, const struct nt_pdu **p)
{
	__u64 owner;

	*p = pdu_at(place);
	owner = (*p)->owner;
	return ((*p)->check ^ owner) == place ? owner : 0;
}

/* Whether @c, in flight, came by the connection on which its PDU was seen at the place of @p. */
static __always_inline bool is_of_pdu(const struct nt_cmd *c, const struct nt_pdu *p)
{
	return c->r.slot == (p->slot & ~NT_PDU_ENDS) && c->r.gen == p->gen;
}

/*
 * A PDU that goes to a socket, and the command that it belongs to. @queue and @cmd are NULL where
 * nothing of them needs to be read: a known PDU's come from memory that user space can write.
 */
struct to_send {
	struct nvmet_tcp_queue *queue;
	struct nvmet_tcp_cmd *cmd;
	struct nt_cmd *c; /* NULL where its beginning was not seen */
	enum nvmet_tcp_send_state state;
};

/*
 * A PDU that was seen at @place before goes to the socket: it is one of data, or a response.
 * @sk: typed
 * @s: filled
 * Return: false if that is not known, or if the command is not in flight
 */
static __always_inline bool pdu_known(struct sock *sk, __u64 place, struct to_send *s)
{
	const struct nt_pdu *p;
	__u64 owner = pdu_owner(place, &p);
	struct nt_queue *q;
	bool elsewhere;

	if (!owner)
		return false;
	s->c = cmd_any_by_owner(owner, 0, &elsewhere);
	if (!s->c || !is_of_pdu(s->c, p))
		return false;
	q = queue_of_cmd(s->c);
	if (!q || q->queue != (__u64)sk || q->gen != s->c->r.gen || q->gen == q->dead_gen)
		return false;
	/* respond() has to read the status. */
	if (!only_counted(s->c) && !s->c->r.points[NT_T_DONE])
		return false;
	s->queue = NULL;
	s->cmd = NULL;
	s->state = p->slot & NT_PDU_ENDS && !begins_data(s->c) ? SEND_STATE(RESPONSE)
							       : SEND_STATE(DATA_PDU);
	return true;
}

/* The same from the driver's state. @place: 0 if it is not known */
static __always_inline bool pdu_read(struct sock *sk, __u64 place, struct to_send *s)
{
	struct nvmet_tcp_queue *queue = (void *)queue_of_sock(sk);
	enum nvmet_tcp_send_state state;
	struct nvmet_tcp_cmd *cmd;

	if (!queue)
		return false;
	cmd = BPF_CORE_READ(queue, snd_cmd);
	if (!cmd)
		return false;
	state = BPF_CORE_READ(cmd, state);
	s->queue = queue;
	s->cmd = cmd;
	s->c = cmd_any_of_plain(cmd);
	if (place && s->c && (state == SEND_STATE(RESPONSE) || state == SEND_STATE(DATA_PDU)))
		pdu_learn(s->c, place, state == SEND_STATE(RESPONSE) ? NT_PDU_ENDS : 0);
	s->state = begins_data(s->c) ? SEND_STATE(DATA_PDU) : state;
	return true;
}

/*
 * For kernels where those functions are inlined. The driver's state of the command says what its
 * queue hands to the socket. What follows from that is here once: it is so long that the jumps of a
 * program that has it twice hardly reach (32,767 instructions).
 * @sock: typed
 * @place: of the PDU, 0 if it is not known
 */
static __always_inline int to_socket(struct socket *sock, __u64 place)
{
	struct to_send s;

	if (none_has_a_state())
		return 0;
	if (!(place && pdu_known(sock->sk, place, &s)) && !pdu_read(sock->sk, place, &s))
		return 0;
	if (s.state == SEND_STATE(RESPONSE)) {
		respond(s.queue, s.cmd, s.c, OUT_SOCKET(sock->sk));
	} else if (s.state == SEND_STATE(R2T)) {
		if (s.c && !only_counted(s.c))
			cmd_asking(s.c, OUT_SOCKET(sock->sk));
	} else if (s.state == SEND_STATE(DATA_PDU)) {
		data_go(s.c, OUT_SOCKET(sock->sk));
	}
	return 0;
}

/* The socket has taken @ret bytes. @sock: typed */
static __always_inline int socket_took(struct socket *sock, int ret)
{
	struct nvmet_tcp_queue *queue;
	struct nvmet_tcp_cmd *cmd;

	/* This is set before the first data of such a connection are sent. */
	if (!nt_control.no_sqflow || none_has_a_state())
		return 0;
	queue = (void *)queue_of_sock(sock->sk);
	if (!queue || ret <= 0)
		return 0;
	if (!BPF_CORE_READ(queue, nvme_sq.sqhd_disabled))
		return 0;
	cmd = BPF_CORE_READ(queue, snd_cmd);
	if (!cmd || BPF_CORE_READ(cmd, state) != SEND_STATE(DATA) ||
	    BPF_CORE_READ(cmd, wbytes_done) + ret < BPF_CORE_READ(cmd, req.transfer_len))
		return 0;
	cmd_end_by_data(cmd_any_of_plain(cmd));
	return 0;
}

SEC("fentry/kernel_sendpage")
int NT_PROG_COUNTING(stock_sendpage, struct socket *sock, void *page, int offset, __u64 size)
{
	return size > TARGET_PDU_BYTES ? 0 : to_socket(sock, pdu_place(ctx, offset));
}

SEC("fexit/kernel_sendpage")
int BPF_PROG(stock_sendpage_end, struct socket *sock, void *page, int offset, __u64 size, int flags,
	     int ret)
{
	return socket_took(sock, ret);
}

SEC("fentry/sock_sendmsg")
int NT_PROG_COUNTING(stock_sendmsg, struct socket *sock, struct msghdr *msg)
{
	return msg->msg_iter.count > TARGET_PDU_BYTES ? 0 : to_socket(sock, 0);
}

SEC("fexit/sock_sendmsg")
int BPF_PROG(stock_sendmsg_end, struct socket *sock, void *msg, int ret)
{
	return socket_took(sock, ret);
}

#endif /* NTPROF_TARGET_STOCK_BPF_H */
