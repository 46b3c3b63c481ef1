/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of commands in flight: one struct nt_cmd each. Queues take states out of a pool, in
 * pieces of 128. Nothing here allocates memory or takes a lock.
 *
 * The member @owner of a state says which command it belongs to, and whether that is in flight:
 *
 *   0            free: no command has used it yet
 *   address      in flight: the address of the host's struct request, or of the target's struct
 *                nvmet_tcp_cmd. These live as long as their connection, and serve many commands
 *   address | 1  released: that command has ended (NT_RELEASED; addresses of structures are
 *                multiples of 8)
 *   address | 2  in flight, but not in the sample: the command is counted when it ends, and passes
 *                no state of the tables below before that (NT_UNMEASURED)
 *   address | 3  released: such a command has ended
 *
 *   free, released  -- cmd_begin() -->    in flight
 *   in flight       -- cmd_release() -->  released: the end was seen, or will certainly not come
 *   in flight       -- cmd_begin() -->    in flight: the end was not seen, which has been counted
 *
 * The points of a command in flight say how far it has come. A point is 0 until the command reaches
 * it. When cmd_begin() is called, only the points of the beginning are set. The columns are the
 * shapes: Read, Inline write, R2T write (T) and No data. An x means that commands of this shape
 * pass the state; the program of that row moves them there. Where stock programs are separated by
 * "or", a kernel has one of them (src/trace/probes.c).
 *
 * On the host, where a command is in flight from nvme_tcp_queue_rq() to block_rq_complete:
 *
 * state      points            R I T N  tracepoints        stock probes
 * begun      submit, queue_rq  x x x x  queue_rq,          stock_queue_rq, stock_queue_rq_nested
 *                                       queue_rq_nested
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
 * executing  exec              x     x  exec_read_req        stock_exec_* (req->execute); without
 *                                                            data, stock_cmd
 *                                x x    exec_write_req       stock_exec_*
 * executed   done              x x x x  queue_response       stock_done, stock_done_nested
 * answering  send              x        try_send_data_pdu    stock_send_data_pdu, or as send_r2t
 *                                x x x  try_send_response    stock_send_response, or as send_r2t
 * released   sent              x x x x  try_send_response    stock_send_response, or as send_r2t
 *            sent, without CQE x        try_send_data        stock_send_data_end, or
 *                                                            stock_sendpage_end, or
 *                                                            stock_sendmsg_end
 *            connection closed x x x x  the loader, when sock_set_state has seen it
 *
 * Two events move a command from any of the host's states to released: rq_complete, where the
 * command was cancelled, and the beginning of the next command with the same request. If a program
 * runs several times for a command (several R2Ts, many data PDUs, a send in parts), its first run
 * sets the point. For sent_data, data_done, exec and cqe, the last run does.
 *
 * Context: on the host, begun and sending happen in a task that submits or in the queue's worker;
 * everything that is received, in that worker or in a task that polls; complete, in one of those or
 * in a softirq. On the target, everything happens in the queue's worker, except for done: that
 * happens wherever the device completes, hard interrupts included. A program stays on its CPU.
 * Interrupts may occur within it. Where the kernel preempts tasks, other tasks may run within it,
 * too: within a program on a function always, within one on a tracepoint on newer kernels, such as
 * 7.3.
 *
 * No lock protects a state. The driver does not begin the next state of a command on one CPU before
 * it has finished the previous one on another. There is one exception: the host may find that it
 * has sent a command after the answer has come, and after the tag was given to another command (see
 * cmd_sent()). Code that looks for a state by something that may be stale verifies what it finds:
 * see the functions below.
 */
#ifndef NTPROF_STATE_BPF_H
#define NTPROF_STATE_BPF_H

#include "addresses.bpf.h"
#include "pools.bpf.h"

/*
 * A queue takes a piece for each 128 of its tags when the first of these is used. It keeps the
 * piece until user space gives it back: when the queue is gone, and none of its commands is in
 * flight.
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

/* The first bank. */
struct nt_cmd nt_first_cmds[1 << NT_BANK_CMDS_BITS] = {};

/*
 * The place of a state: the number of its piece, and its index in that piece. Place 0 means that
 * there is no state: it lies in piece 0, which no queue ever has, so its state never has an owner.
 */
#define NT_NOWHERE 0

/*
 * Leads from the address of an owner to the place of the state that it had last. Several owners
 * share an entry, which belongs to the last of them. So a reader has to verify the owner.
 */
#define NT_INDEX_BITS 17
__u32 nt_index[1 << NT_INDEX_BITS] = {};

static __always_inline __u32 *index_of(__u64 owner)
{
	return &nt_index[hashed(owner, NT_INDEX_BITS)];
}

/* Never NULL for a place in an existing piece, but the verifier does not know that. */
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

/*
 * Two CPUs that take a piece at the same time agree on one of the two. This is rare.
 * Return: 0 if no piece is left
 */
static __noinline __u32 chunk_claim(struct nt_queue *q, __u32 nr)
{
	__u32 chunk = nt_take(NT_POOL_CMDS), seen;

	if (!chunk)
		return 0;
	seen = __sync_val_compare_and_swap(&q->chunk[masked(nr, NT_CHUNKS_PER_QUEUE - 1)], 0,
					   chunk);
	return seen ?: chunk;
}

/*
 * The place of the state of command @tag of a queue. The queue takes a piece if it has none for
 * this tag.
 */
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

/* Whether a command is in flight, measured or only counted. */
static __always_inline bool in_flight(const struct nt_cmd *c)
{
	return c->owner && !(c->owner & NT_RELEASED);
}

static __always_inline bool measured(const struct nt_cmd *c)
{
	return c->owner && !(c->owner & (NT_RELEASED | NT_UNMEASURED));
}

/* Whether @c, which is in flight, is only counted. */
static __always_inline bool only_counted(const struct nt_cmd *c)
{
	return nt_knobs.count_all && c->owner & NT_UNMEASURED;
}

/*
 * As none_is_measured(), for callers that have checked that measured commands are counted
 * (@tracks).
 */
static __always_inline bool none_is_tracked(void)
{
	/* Volatile: keeps the compiler from reading it where the result is not needed. */
	return !*(volatile __u32 *)&nt_control.tracked;
}

/*
 * Whether no command in flight is measured. Then a program that only handles measured ones can
 * return.
 */
static __always_inline bool none_is_measured(void)
{
	return nt_knobs.tracks && none_is_tracked();
}

/* Whether no command in flight has a state: none is measured, and none is only counted. */
static __always_inline bool none_has_a_state(void)
{
	return !nt_knobs.count_all && none_is_measured();
}

/*
 * Whether every command has a state. Then an end without a state means that the beginning was not
 * seen.
 */
static __always_inline bool all_have_states(void)
{
	return !nt_knobs.selects && (!nt_knobs.sample_below || nt_knobs.count_all);
}

/* The owner of a state in flight, measured or only counted. */
static __always_inline __u64 owner_of(const struct nt_cmd *c)
{
	return nt_knobs.count_all ? c->owner & ~NT_UNMEASURED : c->owner;
}

/*
 * The address that an owner was made from: without its mark, which is a constant. The verifier
 * forbids arithmetic with a typed pointer, so the mark is taken from the state's owner and not
 * added to the address that it is compared with.
 */
static __always_inline __u64 unmarked(__u64 owner, const __u64 mark)
{
	if (mark) {
		owner -= mark;
		/* Otherwise the compiler may add it to the other side of the comparison. */
		asm volatile("" : "+r"(owner));
	}
	return owner;
}

/*
 * Whether an owner may still have a state when the index has not led to it: if its entry holds the
 * place of another owner.
 * @place: the owner's entry of the index. If it was never used, the owner has no state. Where all
 *         commands have states, the answer is yes all the same, so that a state that is not found
 *         is counted
 */
static __always_inline bool is_elsewhere(__u32 place)
{
	return place != NT_NOWHERE || all_have_states();
}

/*
 * Finds a state by the index. Verified: it is in flight, measured, and belongs to @owner.
 * @mark: see unmarked()
 * @elsewhere: filled; whether a state that is not found here may still be found by its queue and
 *             tag
 */
static __always_inline struct nt_cmd *cmd_by_owner(__u64 owner, const __u64 mark, bool *elsewhere)
{
	struct nt_cmd *c;
	__u32 place;

	*elsewhere = false;
	if (none_is_measured())
		return NULL;
	place = *index_of(owner);
	c = cmd_at(place);
	if (c && unmarked(c->owner, mark) == owner)
		return c;
	*elsewhere = is_elsewhere(place) && (!c || unmarked(owner_of(c), mark) != owner);
	return NULL;
}

/* As cmd_by_owner(), where a command ends: it may be measured, or only counted. */
static __always_inline struct nt_cmd *cmd_any_by_owner(__u64 owner, const __u64 mark,
						       bool *elsewhere)
{
	struct nt_cmd *c;
	__u32 place;

	if (!nt_knobs.count_all)
		return cmd_by_owner(owner, mark, elsewhere);
	*elsewhere = false;
	place = *index_of(owner);
	c = cmd_at(place);
	if (c && unmarked(owner_of(c), mark) == owner)
		return c;
	*elsewhere = is_elsewhere(place);
	return NULL;
}

/*
 * Finds a state by queue and tag. Not verified: it may be in flight or not, and may belong to any
 * owner.
 * Return: NULL if there is no place for this tag
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

/*
 * Finds a state by queue, which may be NULL, and tag. Verified: in flight, measured, and of @owner.
 */
static __always_inline struct nt_cmd *cmd_by_tag_and_owner(const struct nt_queue *q, __u32 tag,
							   __u64 owner, const __u64 mark)
{
	struct nt_cmd *c = q ? cmd_by_tag(q, tag) : NULL;

	return c && unmarked(c->owner, mark) == owner ? c : NULL;
}

/* As cmd_by_tag_and_owner(), where a command ends: it may be measured, or only counted. */
static __always_inline struct nt_cmd *cmd_any_by_tag_and_owner(const struct nt_queue *q, __u32 tag,
							       __u64 owner, const __u64 mark)
{
	struct nt_cmd *c = q ? cmd_by_tag(q, tag) : NULL;

	return c && unmarked(owner_of(c), mark) == owner ? c : NULL;
}

/*
 * The command in flight at @address, found by the index, or else by queue and tag. NULL where its
 * beginning was not seen, or where it is only counted. @queue and @tag are evaluated only if the
 * index does not lead to the command, which is rare.
 */
#define CMD_FIND(address, queue, tag) CMD_FIND_BY(cmd, address, 0, queue, tag)

/* As CMD_FIND(), where a command ends: it may be measured, or only counted. */
#define CMD_FIND_ANY(address, queue, tag) CMD_FIND_BY(cmd_any, address, 0, queue, tag)

#define CMD_FIND_BY(cmd, address, mark, queue, tag)                                      \
	({                                                                               \
		__u64 owner_ = (__u64)(address);                                         \
		bool elsewhere_;                                                         \
		struct nt_cmd *found_ = cmd##_by_owner(owner_, (mark), &elsewhere_);     \
                                                                                         \
		if (!found_ && elsewhere_)                                               \
			found_ = cmd##_by_tag_and_owner((queue), (tag), owner_, (mark)); \
		found_;                                                                  \
	})

/* Whether state @c, which may be NULL, is that of @owner's last command, in flight or released. */
static __always_inline bool is_last_of(const struct nt_cmd *c, __u64 owner)
{
	return c && (c->owner & ~(NT_RELEASED | NT_UNMEASURED)) == owner;
}

/*
 * Whether a command of @owner that is only counted may be in flight, where none is measured. For
 * programs that return at once: it calls nothing, and says yes where it would have to.
 */
static __always_inline bool may_be_counted(__u64 owner)
{
	const struct nt_cmd *c;
	__u32 place;

	if (!nt_knobs.count_all)
		return false;
	place = *index_of(owner);
	if (place >= 1u << NT_BANK_CMDS_BITS)
		return true;
	c = &nt_first_cmds[masked(place, (1u << NT_BANK_CMDS_BITS) - 1)];
	return place != NT_NOWHERE && (in_flight(c) || !is_last_of(c, owner));
}

/*
 * Finds a state by the index. Verified: it is that of @owner's last command, in flight or released,
 * on the same connection. So it is also the place of @owner's next command, because a target's
 * command keeps its tag as long as the connection lives. A host's request does not keep its tag.
 */
static __always_inline struct nt_cmd *cmd_by_last_owner(const struct nt_queue *q, __u32 slot,
							__u64 owner)
{
	struct nt_cmd *c = cmd_at(*index_of(owner));

	return is_last_of(c, owner) && c->r.slot == slot && c->r.gen == q->gen ? c : NULL;
}

/*
 * Takes the place of command @tag of a queue. From now on the index leads from @owner to it. A
 * command may still be in flight there.
 * @mark: see unmarked()
 * @left: filled; the state of a command of @owner that is in flight under another tag; mostly NULL
 * Return: NULL if no place is left
 */
static __always_inline struct nt_cmd *cmd_claim(struct nt_queue *q, __u32 tag, __u64 owner,
						const __u64 mark, struct nt_cmd **left)
{
	__u32 place = place_claim(q, tag), *entry;
	struct nt_cmd *before;

	*left = NULL;
	if (place == NT_NOWHERE)
		return NULL;
	entry = index_of(owner);
	if (*entry != place) {
		before = cmd_at(*entry);
		if (before && unmarked(owner_of(before), mark) == owner)
			*left = before;
		*entry = place;
	}
	return cmd_at(place);
}

/*
 * Command @c is in flight from now on. Its record and the points of its beginning are already
 * filled.
 * @wanted: it is measured; otherwise it is only counted
 */
static __always_inline void cmd_begin(struct nt_cmd *c, __u64 owner, bool wanted)
{
	if (nt_knobs.sample_below && measured(c) != wanted)
		__sync_fetch_and_add(&nt_control.tracked, wanted ? 1 : -1);
	/*
	 * Publish last: user space that sees the command in flight must also see the fields above.
	 */
	in_order();
	/*
	 * The verifier allows no bit operation on @owner where that is a typed pointer, but on the
	 * copy.
	 */
	*(volatile __u64 *)&c->owner = owner;
	if (!wanted)
		*(volatile __u64 *)&c->owner |= NT_UNMEASURED;
	/* See enum nt_tracked. Without a sample each command that begins is measured. */
	if (nt_knobs.tracks && !nt_knobs.sample_below &&
	    *(volatile __u32 *)&nt_control.tracked != NT_TRACKED_SOME)
		*(volatile __u32 *)&nt_control.tracked = NT_TRACKED_SOME;
}

/*
 * The burst of all points that is on, 0 without one. The record of a command in flight has that in
 * which it began in the place of the controller id, which only records need.
 */
static __always_inline __u16 burst_now(void)
{
	return nt_knobs.stages ? nt_control.burst : 0;
}

/* Whether only the ends of a command have points, or its burst is over. */
static __always_inline bool only_ends(const struct nt_record *r)
{
	if (!nt_knobs.stages)
		return nt_knobs.ends;
	return !r->cntlid || r->cntlid != burst_now();
}

/* Ends a command. @c: in flight */
static __always_inline void cmd_release(struct nt_cmd *c)
{
	if (nt_knobs.sample_below && measured(c))
		__sync_fetch_and_add(&nt_control.tracked, -1);
	c->owner |= NT_RELEASED;
	/* User space that copies it must not take what the next command here writes for its own. */
	in_order();
}

/* Sets @point of @c, which may be NULL, to the current time if it is not set yet. */
static __always_inline void cmd_reach(struct nt_cmd *c, __u32 point)
{
	if (c && !c->r.points[point])
		c->r.points[point] = bpf_ktime_get_ns();
}

#endif /* NTPROF_STATE_BPF_H */
