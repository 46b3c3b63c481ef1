/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The fate of a command, decided in the first program that sees it: it is measured, only counted,
 * or left out. A command that is left out has no state, so no other program finds one.
 *
 * Whether a queue is selected is decided once: when it is connected or, if that was not seen, at
 * its first command. A Connect comes before it is known which queue it makes. So it is measured,
 * and dropped when it ends if its queue is not selected.
 */
#ifndef NTPROF_SELECT_BPF_H
#define NTPROF_SELECT_BPF_H

#include "control.bpf.h"

/*
 * Submission queue entries: the operation of a command, and whether it is in the sample. An entry
 * is a pointer whose type the verifier knows (typed), or a copy on the stack. So it is read by
 * plain loads, and not with bpf_probe_read_kernel().
 */

/* NVM and fabrics opcodes that have an operation of their own (NVM Command Set 1.0, figure 13). */
enum {
	NVME_CMD_FLUSH = 0x00,
	NVME_CMD_WRITE = 0x01,
	NVME_CMD_READ = 0x02,
	NVME_CMD_COMPARE = NT_OPCODE_COMPARE,
	NVME_CMD_WRITE_ZEROES = 0x08,
	NVME_CMD_DSM = 0x09,
	NVME_ADMIN_ASYNC_EVENT = 0x0c,
	NVME_FABRICS_COMMAND = 0x7f,
};

/*
 * The operation of each opcode on I/O queues, XORed with NT_OP_OTHER: an opcode that the table
 * leaves out has 0, and is NT_OP_OTHER.
 */
#define OP(id) NT_OP_##id ^ NT_OP_OTHER
static const __u8 nt_io_op[256] = {
	[NVME_CMD_FLUSH] = OP(FLUSH), [NVME_CMD_WRITE] = OP(WRITE),
	[NVME_CMD_READ] = OP(READ),   [NVME_CMD_WRITE_ZEROES] = OP(WRITE_ZEROES),
	[NVME_CMD_DSM] = OP(DISCARD), [NVME_FABRICS_COMMAND] = OP(FABRICS),
};
#undef OP

static __always_inline __u8 op_of(__u8 opcode, bool admin)
{
	if (admin)
		return opcode == NVME_FABRICS_COMMAND ? NT_OP_FABRICS : NT_OP_ADMIN;
	return nt_io_op[opcode] ^ NT_OP_OTHER;
}

/*
 * The SLBA is read as two dwords, because the verifier knows an entry by the first member of its
 * union, the common one.
 */
static __always_inline __u64 slba_of(struct nvme_command *e)
{
	return (__u64)e->common.cdw11 << 32 | e->common.cdw10;
}

/*
 * Number of measured commands of each class: see nt_alike(). Additions are not atomic. Few of them
 * are lost, because few commands are measured.
 */
__u32 nt_alikes[NT_ALIKE] = {};

/*
 * Whether a command is in the sample. Both sides decide the same for the same command; see
 * shared/selection.h.
 */
static __always_inline bool sqe_sampled(struct nvme_command *e, __u32 qid)
{
	__u32 mix;

	if (!nt_knobs.sample_below)
		return true;
	mix = nt_sample_mix(qid, e->common.command_id, e->common.dptr.sgl.length, slba_of(e));
	if (mix >= nt_knobs.sample_below)
		return false;
	nt_alikes[nt_alike(mix)]++;
	return true;
}

/*
 * Type of an SGL data block descriptor whose data are in the capsule, behind the entry (NVMe/TCP
 * 1.0, 3.5).
 */
#define NVME_SGL_IN_CAPSULE 0x01

/*
 * The shape of a command by its entry, where no point between the ends shows it. NVMe Base 2.0,
 * 3.3.3.1: bit 0 of an opcode says host to controller data transfer.
 */
static __always_inline __u8 shape_of_entry(struct nvme_command *e)
{
	if (!e->common.dptr.sgl.length)
		return NT_SHAPE_NO_DATA;
	if (!(e->common.opcode & 1))
		return NT_SHAPE_READ;
	return e->common.dptr.sgl.type == NVME_SGL_IN_CAPSULE ? NT_SHAPE_INLINE_WRITE
							      : NT_SHAPE_R2T_WRITE;
}

/* Fills the members that a command outside the sample needs, and resets the flags. */
static __always_inline void record_counted(struct nt_record *r, struct nvme_command *e, bool admin)
{
	r->op = op_of(e->common.opcode, admin);
	r->cid = e->common.command_id;
	r->length = e->common.dptr.sgl.length;
	r->flags = admin ? NT_F_ADMIN_QUEUE : 0;
	r->status = 0;
}

/* Fills what a record says of the entry, and resets the flags. */
static __always_inline void record_sqe(struct nt_record *r, struct nvme_command *e, bool admin)
{
	__u8 opcode = e->common.opcode;

	r->opcode = opcode;
	r->op = op_of(opcode, admin);
	r->cid = e->common.command_id;
	r->length = e->common.dptr.sgl.length;
	r->flags = admin ? NT_F_ADMIN_QUEUE : 0;
	r->status = 0;
	/* Only records need the rest. */
	if (nt_knobs.select == NT_SELECT_NONE)
		return;
	if (nt_knobs.ends)
		r->shape = shape_of_entry(e);
	r->nsid = e->common.nsid;
	r->slba = 0;
	if (!admin && (opcode == NVME_CMD_READ || opcode == NVME_CMD_WRITE ||
		       opcode == NVME_CMD_WRITE_ZEROES || opcode == NVME_CMD_COMPARE))
		r->slba = slba_of(e);
}

enum nt_fate {
	NT_LEAVE,   /* not selected, or neither in the sample nor counted */
	NT_COUNT,   /* selected, and not in the sample */
	NT_MEASURE, /* all others */
};

/* Whether a command is selected by what it asks for. */
static __always_inline bool sqe_selected(struct nvme_command *e, __u32 qid)
{
	__u8 opcode = e->common.opcode;

	return nt_selects_command(&nt_knobs.only, op_of(opcode, qid == 0), opcode,
				  e->common.dptr.sgl.length, e->common.nsid, slba_of(e));
}

/*
 * Whether a command is left out by its operation alone. Then the other members of its entry need
 * not be read. Each load costs a check of the address, which the kernel adds. @e: typed
 */
static __always_inline bool operation_left_out(struct nvme_command *e, __u32 qid)
{
	__u32 ops = nt_knobs.only.ops;

	return ops && !(ops >> op_of(e->common.opcode, qid == 0) & 1);
}

/*
 * Whether the opcode alone shows that a command is left out, on an admin queue as well as on an I/O
 * queue. Never true for Fabrics commands, as these make connections, nor if admin commands are
 * selected. Call it only if operations are selected. @e: typed
 */
static __always_inline bool opcode_skipped(struct nvme_command *e)
{
	__u32 ops = nt_knobs.only.ops;
	__u8 opcode = e->common.opcode;

	return !(ops >> NT_OP_ADMIN & 1) && opcode != NVME_FABRICS_COMMAND &&
	       !(ops >> op_of(opcode, false) & 1);
}

static __always_inline enum nt_fate sqe_fate(struct nvme_command *e, __u32 qid)
{
	if (nt_knobs.selects & NT_BY_COMMAND && !sqe_selected(e, qid))
		return NT_LEAVE;
	if (sqe_sampled(e, qid))
		return NT_MEASURE;
	return nt_knobs.count_all ? NT_COUNT : NT_LEAVE;
}

/*
 * Whether two strings are the same; bpf_strncmp() exists since Linux 5.17 only. @name: NT_NQN_LEN
 * bytes at most; @wanted: a constant
 */
static __always_inline bool is_named(const char *name, const volatile char *wanted)
{
	for (__u32 i = 0; i < NT_NQN_LEN; i++) {
		char c = name[i];

		if (c != wanted[i])
			return false;
		if (!c)
			break;
	}
	return true;
}

/* @n: NULL where the names are not known */
static __always_inline bool names_selected(const struct nt_names *n)
{
	if (nt_knobs.only.subsysnqn[0] && (!n || !is_named(n->subsysnqn, nt_knobs.only.subsysnqn)))
		return false;
	return !nt_knobs.only.hostnqn[0] || (n && is_named(n->hostnqn, nt_knobs.only.hostnqn));
}

/*
 * Decides whether a queue is left out, when it is announced, and again when more is known of it.
 * This is rare.
 * @cntlid: NT_CNTLID_NONE where it is not known
 */
static __noinline void queue_select(struct nt_queue *q, enum nt_side side, __u16 cntlid, __u16 qid,
				    const struct nt_names *n)
{
	q->left_out = !nt_selects_ids(&nt_knobs.only, side == NT_HOST, q->instance, cntlid, qid) ||
		      !names_selected(n);
}

/* Whether commands that begin now are left out. Before the queue is identified, none is. */
static __always_inline bool queue_left_out(const struct nt_queue *q)
{
	return nt_knobs.selects & NT_BY_QUEUE && q->left_out && q->identified == q->gen;
}

/* Whether a measured command is dropped when it ends, because its queue is not selected. */
static __always_inline bool queue_drops(const struct nt_queue *q, const struct nt_record *r)
{
	return nt_knobs.selects & NT_BY_QUEUE && q->left_out && r->gen == q->gen;
}

#endif /* NTPROF_SELECT_BPF_H */
