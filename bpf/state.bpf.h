/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of commands in flight. */
#ifndef NTPROF_STATE_BPF_H
#define NTPROF_STATE_BPF_H

#include "addresses.bpf.h"
#include "control.bpf.h"

/* The first chunk is nobody's: see nt_index. */
struct nt_cmd nt_cmds[NT_CMDS] = {};

static __always_inline struct nt_cmd *cmd_at(__u32 place)
{
	return &nt_cmds[place & (NT_CMDS - 1)];
}

/* Where the state of command @tag of a queue is, NT_NOWHERE if it has no place yet. */
#define NT_NOWHERE 0

static __always_inline __u32 place_in(__u32 chunk, __u32 tag)
{
	return chunk << NT_CHUNK_BITS | (tag & (NT_CHUNK_CMDS - 1));
}

static __always_inline __u32 place_find(const struct nt_queue *q, __u32 tag)
{
	__u32 nr = tag >> NT_CHUNK_BITS;
	__u32 chunk;

	if (nr >= NT_CHUNKS_PER_QUEUE)
		return NT_NOWHERE;
	chunk = q->chunk[nr];
	return chunk ? place_in(chunk, tag) : NT_NOWHERE;
}

/*
 * The same; a queue that has no chunk for this tag yet takes one. Two CPUs that race for it agree on one,
 * and the other is never used.
 */
static __always_inline __u32 place_claim(struct nt_queue *q, __u32 tag)
{
	__u32 nr = tag >> NT_CHUNK_BITS;
	__u32 chunk;

	if (nr >= NT_CHUNKS_PER_QUEUE)
		return NT_NOWHERE;
	chunk = q->chunk[nr];
	if (!chunk) {
		__u32 seen;

		if (nt_control.chunks_used >= NT_CHUNKS)
			return NT_NOWHERE;
		chunk = __sync_fetch_and_add(&nt_control.chunks_used, 1) + 1;
		if (chunk > NT_CHUNKS)
			return NT_NOWHERE;
		seen = __sync_val_compare_and_swap(&q->chunk[nr], 0, chunk);
		if (seen)
			chunk = seen;
	}
	return place_in(chunk, tag);
}

static __always_inline struct nt_cmd *cmd_find(struct nt_queue *q, __u32 tag)
{
	__u32 place = place_find(q, tag);

	return place == NT_NOWHERE ? NULL : cmd_at(place);
}

/*
 * The short way to a command's state: by the address of the kernel's structure for it. An entry belongs to the
 * command that came last, so who reads it sees whether it leads to the right one, and else goes by queue and
 * tag. NT_NOWHERE, which an empty entry says, is a place that is nobody's: chunks are numbered from 1.
 */
#define NT_INDEX_BITS 17
__u32 nt_index[1 << NT_INDEX_BITS] = {};

static __always_inline __u32 *index_of(__u64 owner)
{
	return &nt_index[hashed(owner, NT_INDEX_BITS)];
}

/* A command that has ended leaves its owner's address, marked: addresses of structures are even. */
static __always_inline bool in_flight(const struct nt_cmd *c)
{
	return c->owner && !(c->owner & NT_RELEASED);
}

/*
 * Of a sample there is hardly ever one in flight: how many there are is kept, to leave all others at once.
 * They begin and end here only, so that this stays right.
 */

static __always_inline void cmd_take(struct nt_cmd *c, __u64 owner)
{
	if (nt_knobs.sample_below && !in_flight(c))
		__sync_fetch_and_add(&nt_control.tracked, 1);
	c->owner = owner;
}

static __always_inline void cmd_release(struct nt_cmd *c)
{
	c->owner |= NT_RELEASED;
	if (nt_knobs.sample_below)
		__sync_fetch_and_add(&nt_control.tracked, -1);
}

/* @elsewhere: set when it is not found here, but may be by queue and tag. */
static __always_inline struct nt_cmd *cmd_by_owner(__u64 owner, bool *elsewhere)
{
	struct nt_cmd *c;

	*elsewhere = false;
	if (nt_knobs.sample_below && !nt_control.tracked)
		return NULL;
	c = cmd_at(*index_of(owner));
	if (c->owner == owner)
		return c;
	*elsewhere = true;
	return NULL;
}

/*
 * The place of command @tag of a queue, where its owner will be found from now on. @left: where the owner still
 * is in flight, under another tag, NULL mostly.
 */
static __always_inline struct nt_cmd *cmd_place(struct nt_queue *q, __u32 tag, __u64 owner,
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
		if (before->owner == owner)
			*left = before;
		*entry = place;
	}
	return cmd_at(place);
}

#endif /* NTPROF_STATE_BPF_H */
