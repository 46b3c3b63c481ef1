/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Submission queue entries: what a command asks for, and whether it is in the sample. An entry is
 * typed, or a copy on the stack. It is read by plain loads, not by helper.
 */
#ifndef NTPROF_SUBMISSION_BPF_H
#define NTPROF_SUBMISSION_BPF_H

#include "control.bpf.h"

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

/* Additions are not atomic: few of them are lost, because few commands are measured. */
__u32 nt_alikes[NT_ALIKE] = {};

/*
 * Whether a command is in the sample. Both sides decide the same for the same command; see
 * core/sample.h.
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

/* Fills what is kept of a command that is only counted, and resets the flags. */
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
	r->nsid = e->common.nsid;
	r->slba = 0;
	if (!admin && (opcode == NVME_CMD_READ || opcode == NVME_CMD_WRITE ||
		       opcode == NVME_CMD_WRITE_ZEROES || opcode == NVME_CMD_COMPARE))
		r->slba = slba_of(e);
}

#endif /* NTPROF_SUBMISSION_BPF_H */
