/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Uses the pools of a side as its programs do, for connections and commands that are made up.
 * tests/bench/sizes.c has it as a part of the side's object, and tests/unit/trace/turnover.h
 * compiles it for this machine. SIDE: NT_HOST or NT_TARGET
 */
#include "bpf/simulated.h"

static __always_inline int begin(struct nt_queue *q, const struct simulated *s)
{
	struct nt_cmd *left, *c = cmd_claim(q, s->tag, s->owner, 0, &left);

	if (!c) {
		count_past(NT_PAST_SLOTS, s->slot);
		return 0;
	}
	if (in_flight(c))
		count(c->r.gen == q->gen ? NT_CNT_OVERWRITTEN : NT_CNT_DIED);
	__builtin_memset(c->r.points, 0, sizeof(c->r.points));
	c->r.op = s->op;
	c->r.length = 4096;
	c->r.slot = s->slot;
	c->r.gen = q->gen;
	c->r.points[0] = bpf_ktime_get_ns();
	queue_begins(q);
	cmd_begin(c, s->owner, true);
	return 0;
}

static __always_inline int end(struct nt_queue *q, const struct simulated *s)
{
	struct nt_cmd *c;
	bool elsewhere;
	__s32 stages;
	__u64 now;

	c = cmd_any_by_owner(s->owner, 0, &elsewhere);
	if (!c)
		c = cmd_any_by_tag_and_owner(q, s->tag, s->owner, 0);
	if (!c) {
		count(NT_CNT_NO_START);
		return 0;
	}
	cmd_release(c);
	now = bpf_ktime_get_ns();
	/* All points are equally far apart. */
	for (int i = 0; i < NT_POINTS_MAX; i++)
		c->r.points[i] = now + i * 1000;
	stages =
		latency_count(q, &c->r, SIDE == NT_HOST ? q->controller : c->r.gen, s->cpu, 100000);
	stages_count(SIDE, &c->r, NT_SHAPE_NO_DATA, 0, s->cpu, stages);
	return 0;
}

/* @ctx: the arguments, a struct simulated */
static __always_inline int simulated_run(__u64 *ctx)
{
	struct simulated s = {.what = ctx[0],
			      .slot = ctx[1],
			      .owner = ctx[2],
			      .tag = ctx[3],
			      .op = ctx[4],
			      .cpu = ctx[5]};
	struct nt_queue *q = queue_at(s.slot);

	if (!q || s.slot >= nt_knobs.slots) {
		count_past(NT_PAST_SLOTS, s.slot);
		return 0;
	}
	switch (s.what) {
	case SIMULATED_CONNECT:
		slot_seen(s.slot);
		slot_index_set(s.owner, s.slot);
		return 0;
	case SIMULATED_BEGIN:
		return begin(q, &s);
	case SIMULATED_END:
		return end(q, &s);
	case SIMULATED_JOIN:
		joins_claim(q);
	}
	return 0;
}
