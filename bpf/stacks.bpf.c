// SPDX-License-Identifier: GPL-2.0-only
/*
 * The programs of the verb stacks, which trace nothing else. They take a kernel stack each time
 * that nvme-tcp gets a request, or that nvme_core prepares one for another driver, with how many
 * commands came that way and how long they took.
 *
 * stack_begin() and stack_begin_core() run in tasks, stack_end() in tasks and interrupts. If a
 * program is running on a CPU already, the kernel skips its run there, and counts it for user space
 * (recursion_misses). So what a program keeps on its CPU (@scratch) cannot change under it. Two
 * programs add to the counts of one CPU, and one may interrupt the other: additions are atomic.
 */
#include "start_time.bpf.h"
#include "transport.bpf.h"

#include <bpf/bpf_tracing.h>

#include "shared/selection.h"
#include "shared/stacks.h"

/* include/linux/blk_types.h, include/linux/blk-mq.h */
#define REQ_OP_BITS 8
#define REQ_OP_FLUSH 2
#define REQ_OP_DRV_IN 34
#define REQ_OP_DRV_OUT 35
#define BLK_MQ_NO_TAG (-1)
#define HCTX_TYPE_POLL 2

struct request___path {
	unsigned int cmd_flags;
	int internal_tag;
} __attribute__((preserve_access_index));

struct blk_mq_hw_ctx___path {
	unsigned short type;
} __attribute__((preserve_access_index));

/* Threshold of the sample, see nt_sample_threshold(); 0: every command is looked at. */
const volatile __u32 stacks_below = 0;

/* Other transports than TCP whose commands are looked at: bits 1 << enum nt_transport. */
const volatile __u32 stacks_transports = 0;

/* The first value of a new key. It is too large for the stack of a program, which has 512 bytes. */
const volatile struct nt_stack_count stacks_none = {};

__u64 stacks_losses[NT_STACK_LOSSES] = {};

/* A command in flight. */
struct begun {
	struct nt_stack_key key;
	__u64 submit;	/* when the block layer began with it, or 0 */
	__u64 queue_rq; /* when the driver got it */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NT_STACK_COMMANDS);
	__type(key, __u64); /* address of its request */
	__type(value, struct begun);
} begun SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NT_STACKS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, struct nt_stack);
} stacks SEC(".maps");

/* A stack has one or two keys. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 2 * NT_STACKS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct nt_stack_key);
	__type(value, struct nt_stack_count);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nt_stack);
} scratch SEC(".maps");

static __always_inline void lose(enum nt_stack_loss which)
{
	__sync_fetch_and_add(&stacks_losses[which], 1);
}

/*
 * One round of multiplying and folding for each frame. Stacks that differ in one address only have
 * different keys, except for one pair in 2^64.
 */
static __always_inline __u64 hash_of(const struct nt_stack *s, __u32 frames)
{
	__u64 h = frames;

	for (__u32 i = 0; i < NT_STACK_DEPTH; i++) {
		if (i >= frames)
			break;
		h = (h ^ s->frames[i]) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	return h;
}

/* Reads the stack of the running task, and keeps it under its key. Return: the key, or 0 */
static __always_inline __u64 stack_of_task(void *ctx)
{
	struct nt_stack *s;
	__u32 zero = 0;
	__u64 key;
	long bytes;

	s = bpf_map_lookup_elem(&scratch, &zero);
	if (!s)
		return 0;
	bytes = bpf_get_stack(ctx, s, sizeof(*s), 0);
	if (bytes <= 0) {
		lose(NT_STACK_UNREAD);
		return 0;
	}
	key = hash_of(s, (__u32)bytes / sizeof(s->frames[0]));
	if (bpf_map_lookup_elem(&stacks, &key))
		return key;
	/* The rest of a longer stack, read earlier, may be behind the last frame. */
	for (__u32 i = 0; i < NT_STACK_DEPTH; i++)
		if (i >= (__u32)bytes / sizeof(s->frames[0]))
			s->frames[i] = 0;
	bpf_map_update_elem(&stacks, &key, s, BPF_NOEXIST);
	/* Another CPU may have added it first. */
	if (bpf_map_lookup_elem(&stacks, &key))
		return key;
	lose(NT_STACK_NO_ROOM);
	return 0;
}

static __always_inline struct nt_stack_count *count_of(const struct nt_stack_key *key)
{
	struct nt_stack_count *c = bpf_map_lookup_elem(&counts, key);

	if (c)
		return c;
	bpf_map_update_elem(&counts, key, (const void *)&stacks_none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&counts, key);
}

static __always_inline __u32 flags_of(struct request *rq)
{
	struct request___path *r = (void *)rq;
	struct blk_mq_hw_ctx___path *hctx = (void *)rq->mq_hctx;
	__u32 op = r->cmd_flags & ((1u << REQ_OP_BITS) - 1);
	__u32 flags = 0;

	if (hctx->type == HCTX_TYPE_POLL)
		flags |= NT_STACK_POLLED;
	if (op == REQ_OP_DRV_IN || op == REQ_OP_DRV_OUT)
		flags |= NT_STACK_PASSTHROUGH;
	if (r->internal_tag != BLK_MQ_NO_TAG)
		flags |= NT_STACK_SCHEDULED;
	return flags;
}

static __always_inline __u64 submitted(struct request *rq)
{
	struct request___path *r = (void *)rq;

	return start_time(rq, (r->cmd_flags & ((1u << REQ_OP_BITS) - 1)) == REQ_OP_FLUSH);
}

/* @rq: typed, which a driver gets now */
static __always_inline int request_begins(void *ctx, struct request *rq)
{
	struct begun b = {.queue_rq = bpf_ktime_get_ns()};
	__u64 owner = (__u64)rq;
	struct nt_stack_count *c;

	if (stacks_below && bpf_get_prandom_u32() >= stacks_below)
		goto out;
	b.key.stack = stack_of_task(ctx);
	if (!b.key.stack)
		goto out;
	b.key.flags = flags_of(rq);
	b.submit = submitted(rq);
	c = count_of(&b.key);
	if (!c) {
		lose(NT_STACK_NO_ROOM);
		goto out;
	}
	__sync_fetch_and_add(&c->commands, 1);
	if (bpf_map_update_elem(&begun, &owner, &b, BPF_ANY)) {
		lose(NT_STACK_UNTIMED);
		goto out;
	}
	return 0;
out:
	/*
	 * The last command of this request may have ended unseen. The end of this one must not be
	 * taken for its end.
	 */
	bpf_map_delete_elem(&begun, &owner);
	return 0;
}

SEC("fentry/nvme_tcp_queue_rq")
int BPF_PROG(stack_begin, struct blk_mq_hw_ctx *hctx, const struct blk_mq_queue_data *bd)
{
	return request_begins(ctx, bd->rq);
}

SEC("tp_btf/nvme_setup_cmd")
int BPF_PROG(stack_begin_core, struct request *rq, struct nvme_command *cmd)
{
	struct nvme_request *req;

	if (!rq)
		return 0;
	req = (void *)((__u64)rq + bpf_core_type_size(struct request));
	if (!(stacks_transports & 1u << (transport_of(BPF_CORE_READ(req, ctrl)) & 31)))
		return 0;
	return request_begins(ctx, rq);
}

static __always_inline void raise_to(__u64 *max, __u64 ns)
{
	for (int i = 0; i < 4; i++) {
		__u64 old = *(volatile __u64 *)max;

		if (old >= ns || __sync_val_compare_and_swap(max, old, ns) == old)
			return;
	}
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(stack_end, struct request *rq, int error)
{
	__u64 owner = (__u64)rq, now, ns;
	struct nt_stack_count *c;
	struct begun *found, b;

	found = bpf_map_lookup_elem(&begun, &owner);
	if (!found)
		return 0;
	b = *found;
	bpf_map_delete_elem(&begun, &owner);
	c = count_of(&b.key);
	if (!c) {
		lose(NT_STACK_UNTIMED);
		return 0;
	}
	now = bpf_ktime_get_ns();
	ns = now - (b.submit ?: b.queue_rq);
	__sync_fetch_and_add(&c->buckets[nt_bucket(ns)], 1);
	__sync_fetch_and_add(&c->latency_ns, ns);
	raise_to(&c->latency_max_ns, ns);
	if (b.submit) {
		__sync_fetch_and_add(&c->waited, 1);
		__sync_fetch_and_add(&c->waited_ns, b.queue_rq - b.submit);
	}
	__sync_fetch_and_add(&c->ended, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
