/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of commands in flight: one struct nt_cmd each, in pieces that queues take out of a pool. Nothing here
 * allocates or locks.
 *
 * Whose a state is, its @owner says:
 *
 *   0            free: no command has had it yet
 *   address      in flight: of the host's struct request, or the target's struct nvmet_tcp_cmd, at
 *                this address. They live as long as their connection, and serve many commands
 *   address | 1  released: that command has ended (NT_RELEASED; addresses of structures are multiples
 *                of 8)
 *   address | 2  in flight, and not in the sample: it is counted when it ends, and passes no state of
 *                the tables below in between (NT_UNMEASURED)
 *   address | 3  released: such a command has ended
 *
 *   free, released  -- cmd_begin() -->    in flight
 *   in flight       -- cmd_release() -->  released: the end was seen, or is known not to come
 *   in flight       -- cmd_begin() -->    in flight: the end was not seen, and has been counted so
 *
 * How far a command in flight has come, its points say. A point is 0 until it is reached;
 * cmd_begin() is called with all of them 0 but those of the beginning. The columns are the shapes:
 * Read, Inline write, R2T write (T) and No data; x: commands of this shape pass the state, and the
 * program of that row moves them there. Of stock programs with "or" between them there is one on a
 * kernel (src/trace/probes_table.c).
 *
 * On the host, where a command is in flight from nvme_tcp_queue_rq() to block_rq_complete:
 *
 * state      points            R I T N  tracepoints        stock probes
 * begun      submit, queue_rq  x x x x  queue_rq           stock_queue_rq, stock_queue_rq_nested
 * sending    send_cmd          x x x x  try_send_cmd_pdu   stock_send_cmd, or stock_sendpage and
 *                                                          stock_no_sendpage, or stock_sendmsg
 * sent       sent_cmd          x x x x  done_send_req      stock_sent
 * asked      r2t_rx, r2t           x    handle_r2t         stock_recv_pdu
 * sending    send_data             x    try_send_data_pdu  stock_send_data, or as send_cmd
 * sent       sent_data             x    done_send_req      stock_sent
 * answering  rx, c2h           x        handle_c2h_data    stock_recv_pdu
 * answered   cqe, and          x x x x  process_nvme_cqe   stock_recv_pdu
 *            rx if not c2h
 *            cqe, without CQE  x        recv_data          stock_in_short, or stock_end
 * released   complete          x x x x  rq_complete; rq_complete_nested where that was interrupted
 *
 * On the target, where a command is in flight from its capsule to its response:
 *
 * state      points            R I T N  tracepoints          stock probes
 * begun      rx, cmd           x x x x  done_recv_pdu        stock_cmd; stock_copied has noted rx
 * asking     send_r2t              x    try_send_r2t         stock_send_r2t, or stock_sendpage, or
 *                                                            stock_sendmsg
 * receiving  data_rx, data         x    handle_h2c_data_pdu  stock_data
 * received   data_done           x x    try_recv_data        (nothing shows it)
 * executing  exec              x     x  exec_read_req        stock_exec_read
 *                                x x    exec_write_req       stock_exec_* (req->execute)
 * executed   done              x x x x  queue_response       stock_done, stock_done_nested
 * answering  send              x        try_send_data_pdu    stock_send_data_pdu, or as send_r2t
 *                                x x x  try_send_response    stock_send_response, or as send_r2t
 * released   sent              x x x x  try_send_response    stock_send_response, or as send_r2t
 *            sent, without CQE x        try_send_data        stock_send_data_end, or
 *                                                            stock_sendpage_end, or
 *                                                            stock_sendmsg_end
 *            connection closed x x x x  the loader, when sock_set_state has seen it
 *
 * From any of the host's states to released: rq_complete, where the command was cancelled, and the
 * beginning of the next command with that request. Where a program runs several times (several
 * R2Ts, many data PDUs, a send in parts), the first time counts, but for sent_data, data_done, exec
 * and cqe, where the last does.
 *
 * Context: the host's begun and sending are in a task that submits or in the queue's worker, what
 * it receives in that worker or in a task that polls; complete is in one of those or in a softirq.
 * The target's are in the queue's worker, but for done, which is wherever the device says so, hard
 * interrupts included. Programs stay on their CPU; interrupts may come in them, and where the kernel preempts tasks, other
 * tasks: in those on functions, and from some kernel on, as 7.3, in those on tracepoints.
 *
 * No lock protects a state. The driver does not begin the next state of a command on one CPU before
 * it is done with the one before on another, with one exception: the host may find that it has sent
 * a command after the answer has come, and after its tag was given to another one (see cmd_sent()).
 * Whoever looks for a state by something that may be stale verifies what it finds: see the
 * functions below.
 */
#ifndef NTPROF_STATE_BPF_H
#define NTPROF_STATE_BPF_H

#include "addresses.bpf.h"
#include "pools.bpf.h"

/*
 * A queue takes a piece of these for each 128 of its tags when the first of them is used, and keeps it until user
 * space gives it back: when the queue has gone, and none of its commands is in flight.
 */
#define NT_BANK_CMDS_BITS (NT_CMDS_BITS + NT_CHUNK_BITS)
struct cmd_bank {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1 << NT_BANK_CMDS_BITS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct nt_cmd));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, NT_CMDS_BANKS);
	__type(key, __u32);
	__array(values, struct cmd_bank);
} cmd_banks SEC(".maps");

/* The first bank; pieces have cache lines of their own. */
struct nt_cmd nt_first_cmds[1 << NT_BANK_CMDS_BITS] __attribute__((aligned(64))) = {};

/*
 * Of a state among all: its piece, and which it is there; 0, in the piece that no queue has, where there is none. What
 * is there was never anybody's.
 */
#define NT_NOWHERE 0

/*
 * By the address of its owner, the place of the state that it had last. Several owners
 * share an entry, which belongs to the last of them: who reads it verifies the owner.
 */
#define NT_INDEX_BITS 17
__u32 nt_index[1 << NT_INDEX_BITS] = {};

static __always_inline __u32 *index_of(__u64 owner)
{
	return &nt_index[hashed(owner, NT_INDEX_BITS)];
}

/* NULL never, where a piece has that place, but the verifier does not know. */
static __always_inline struct nt_cmd *cmd_at(__u32 place)
{
	__u32 nr, at;
	void *bank;

	if (is_likely(place < 1u << NT_BANK_CMDS_BITS))
		return &nt_first_cmds[masked(place, (1u << NT_BANK_CMDS_BITS) - 1)];
	nr = place >> NT_BANK_CMDS_BITS;
	at = place & ((1u << NT_BANK_CMDS_BITS) - 1);
	bank = bpf_map_lookup_elem(&cmd_banks, &nr);
	return bank ? bpf_map_lookup_elem(bank, &at) : NULL;
}

static __always_inline __u32 place_in(__u32 chunk, __u32 tag)
{
	return chunk << NT_CHUNK_BITS | (tag & (NT_CHUNK_CMDS - 1));
}

/* Two CPUs that both take one agree on one of the two. This is rare. Return: 0 if there is none left */
static __noinline __u32 chunk_claim(struct nt_queue *q, __u32 nr)
{
	__u32 chunk = nt_take(NT_POOL_CMDS), seen;

	if (!chunk)
		return 0;
	seen = __sync_val_compare_and_swap(&q->chunk[masked(nr, NT_CHUNKS_PER_QUEUE - 1)], 0,
					   chunk);
	return seen ?: chunk;
}

/* Where the state of command @tag of a queue is; the queue takes a piece if it has none for this tag. */
static __always_inline __u32 place_claim(struct nt_queue *q, __u32 tag)
{
	__u32 nr = tag >> NT_CHUNK_BITS;
	__u32 chunk;

	if (nr >= NT_CHUNKS_PER_QUEUE)
		return NT_NOWHERE;
	chunk = q->chunk[masked(nr, NT_CHUNKS_PER_QUEUE - 1)];
	if (!chunk)
		chunk = chunk_claim(q, nr);
	return chunk ? place_in(chunk, tag) : NT_NOWHERE;
}

/* Measured, or only counted. */
static __always_inline bool in_flight(const struct nt_cmd *c)
{
	return c->owner && !(c->owner & NT_RELEASED);
}

static __always_inline bool measured(const struct nt_cmd *c)
{
	return c->owner && !(c->owner & (NT_RELEASED | NT_UNMEASURED));
}

/* @c: in flight; it is only counted. */
static __always_inline bool only_counted(const struct nt_cmd *c)
{
	return nt_knobs.count_all && c->owner & NT_UNMEASURED;
}

/* The same as none_is_measured() where it is known to be counted. */
static __always_inline bool none_is_tracked(void)
{
	/* Volatile: not to be read where nobody asks. */
	return !*(volatile __u32 *)&nt_control.tracked;
}

/* Whether no command in flight is measured, so that what is about one that is can be left at once. */
static __always_inline bool none_is_measured(void)
{
	return nt_knobs.tracks && none_is_tracked();
}

/* The same of states: nor is one counted. */
static __always_inline bool none_has_a_state(void)
{
	return !nt_knobs.count_all && none_is_measured();
}

/* Whether every command has a state, so that an end without one tells of a beginning not seen. */
static __always_inline bool all_have_states(void)
{
	return !nt_knobs.selects && (!nt_knobs.sample_below || nt_knobs.count_all);
}

/* Whose a state in flight is, measured or only counted. */
static __always_inline __u64 owner_of(const struct nt_cmd *c)
{
	return nt_knobs.count_all ? c->owner & ~NT_UNMEASURED : c->owner;
}

/*
 * Whether an owner whose entry of the index is @place, which has not led to its state, may still have one: if the entry is
 * another's. One whose entry was never used has none; where all commands have states it is looked for all the same, as
 * not to find it is counted.
 */
static __always_inline bool is_elsewhere(__u32 place)
{
	return place != NT_NOWHERE || all_have_states();
}

/*
 * By the index. Verified: in flight, measured, and of @owner.
 * @elsewhere: filled; whether one that is not found so may still be found by its queue and tag
 */
static __always_inline struct nt_cmd *cmd_by_owner(__u64 owner, bool *elsewhere)
{
	struct nt_cmd *c;
	__u32 place;

	*elsewhere = false;
	if (none_is_measured())
		return NULL;
	place = *index_of(owner);
	c = cmd_at(place);
	if (c && c->owner == owner)
		return c;
	*elsewhere = is_elsewhere(place) && (!c || owner_of(c) != owner);
	return NULL;
}

/* The same, where a command ends: whether it is measured, or only counted. */
static __always_inline struct nt_cmd *cmd_any_by_owner(__u64 owner, bool *elsewhere)
{
	struct nt_cmd *c;
	__u32 place;

	if (!nt_knobs.count_all)
		return cmd_by_owner(owner, elsewhere);
	*elsewhere = false;
	place = *index_of(owner);
	c = cmd_at(place);
	if (c && owner_of(c) == owner)
		return c;
	*elsewhere = is_elsewhere(place);
	return NULL;
}

/*
 * By queue and tag. Not verified: it may be in flight or not, and of any owner. NULL if there is no
 * place.
 */
static __always_inline struct nt_cmd *cmd_by_tag(const struct nt_queue *q, __u32 tag)
{
	__u32 nr = tag >> NT_CHUNK_BITS;
	__u32 chunk;

	if (nr >= NT_CHUNKS_PER_QUEUE)
		return NULL;
	chunk = q->chunk[masked(nr, NT_CHUNKS_PER_QUEUE - 1)];
	return chunk ? cmd_at(place_in(chunk, tag)) : NULL;
}

/* By queue, which may be NULL, and tag. Verified: in flight, measured, and of @owner. */
static __always_inline struct nt_cmd *cmd_by_tag_and_owner(const struct nt_queue *q, __u32 tag,
							   __u64 owner)
{
	struct nt_cmd *c = q ? cmd_by_tag(q, tag) : NULL;

	return c && c->owner == owner ? c : NULL;
}

/* The same, where a command ends: whether it is measured, or only counted. */
static __always_inline struct nt_cmd *cmd_any_by_tag_and_owner(const struct nt_queue *q, __u32 tag,
							       __u64 owner)
{
	struct nt_cmd *c = q ? cmd_by_tag(q, tag) : NULL;

	return c && owner_of(c) == owner ? c : NULL;
}

/*
 * The command in flight of @address, by the index or else by queue and tag: NULL where its
 * beginning was not seen, or where it is only counted. @queue and @tag are evaluated only where the
 * index does not lead to it, which is rare.
 */
#define CMD_FIND(address, queue, tag) CMD_FIND_BY(cmd, address, queue, tag)

/* The same, where a command ends: whether it is measured, or only counted. */
#define CMD_FIND_ANY(address, queue, tag) CMD_FIND_BY(cmd_any, address, queue, tag)

#define CMD_FIND_BY(cmd, address, queue, tag)                                    \
	({                                                                       \
		__u64 owner_ = (__u64)(address);                                 \
		bool elsewhere_;                                                 \
		struct nt_cmd *found_ = cmd##_by_owner(owner_, &elsewhere_);     \
                                                                                 \
		if (!found_ && elsewhere_)                                       \
			found_ = cmd##_by_tag_and_owner((queue), (tag), owner_); \
		found_;                                                          \
	})

/* Whether a state, or NULL, is that of @owner's last command, in flight or released. */
static __always_inline bool is_last_of(const struct nt_cmd *c, __u64 owner)
{
	return c && (c->owner & ~(NT_RELEASED | NT_UNMEASURED)) == owner;
}

/*
 * By the index. Verified: it was that of @owner's last command, in flight or released, on the same
 * connection, so that it is where its next one belongs, too. The target's commands have one tag for
 * as long as their connection lives; the host's requests have not.
 */
static __always_inline struct nt_cmd *cmd_by_last_owner(const struct nt_queue *q, __u32 slot,
							__u64 owner)
{
	struct nt_cmd *c = cmd_at(*index_of(owner));

	return is_last_of(c, owner) && c->r.slot == slot && c->r.gen == q->gen ? c : NULL;
}

/*
 * The place of command @tag of a queue, where the index leads from @owner from now on; NULL if
 * there is none left. What is there may still be in flight.
 * @left: filled: the state of a command of @owner that is in flight under another tag; NULL mostly
 */
static __always_inline struct nt_cmd *cmd_claim(struct nt_queue *q, __u32 tag, __u64 owner,
						struct nt_cmd **left)
{
	__u32 place = place_claim(q, tag), *entry;
	struct nt_cmd *before;

	*left = NULL;
	if (place == NT_NOWHERE)
		return NULL;
	entry = index_of(owner);
	if (*entry != place) {
		before = cmd_at(*entry);
		if (before && owner_of(before) == owner)
			*left = before;
		*entry = place;
	}
	return cmd_at(place);
}

/*
 * @c, whose record and points are those of the beginning, is in flight from now on.
 * @wanted: it is measured, else only counted
 */
static __always_inline void cmd_begin(struct nt_cmd *c, __u64 owner, bool wanted)
{
	if (nt_knobs.tracks && measured(c) != wanted)
		__sync_fetch_and_add(&nt_control.tracked, wanted ? 1 : -1);
	/* User space, which finds it in flight, finds the rest as well. */
	asm volatile("" ::: "memory");
	/* @owner may be a typed pointer, which the verifier does not let take a bit: its copy does. */
	*(volatile __u64 *)&c->owner = owner;
	if (!wanted)
		*(volatile __u64 *)&c->owner |= NT_UNMEASURED;
}

/* @c: in flight */
static __always_inline void cmd_release(struct nt_cmd *c)
{
	if (nt_knobs.tracks && measured(c))
		__sync_fetch_and_add(&nt_control.tracked, -1);
	c->owner |= NT_RELEASED;
}

/* @c, or NULL, has reached @point now, if that is for the first time. */
static __always_inline void cmd_reach(struct nt_cmd *c, __u32 point)
{
	if (c && !c->r.points[point])
		c->r.points[point] = bpf_ktime_get_ns();
}

#endif /* NTPROF_STATE_BPF_H */
