/* SPDX-License-Identifier: GPL-2.0-only */
/* The stages of a command. */
#ifndef NTPROF_STAGES_BPF_H
#define NTPROF_STAGES_BPF_H

#include "histograms.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NT_OPS_NR);
	__type(key, __u32);
	__type(value, struct nt_stage_hists);
} stages SEC(".maps");

/* Of a point that is asked for by itself. */
#define NT_IS_MISSING(point) (nt_knobs.missing & 1u << (point))

/*
 * One row of a side's table of segments, where @r, @shape, @missing, @stage, @broken and @last, the end of
 * the segment before, are at hand: each segment begins where the one before ends. A point that nothing
 * gives is taken to be there; the two stages that it parts are added up in the end, so this is seen by
 * nobody.
 */
#define NT_SUM_SEGMENT(st, shapes, from, to)                              \
	if (1u << shape & (shapes)) {                                     \
		__u64 ends = missing & 1u << (to) ? last : r->points[to]; \
                                                                          \
		if (ends < last)                                          \
			broken = true;                                    \
		stage[st] += ends - last;                                 \
		last = ends;                                              \
	}
#define NT_SEGMENT(st, shapes, from, to) NT_SUM_SEGMENT(NT_##st, shapes, NT_##from, NT_##to)
#define NT_PASSED(st, shapes, from, to) | (1u << shape & (shapes) ? 1u << NT_##st : 0)

/*
 * Defines two functions of a side, for constants or variables @shape and @missing (points that nothing
 * gives):
 * NAME_split(r, shape, missing, stage) fills the stages, which are 0 before; true if a point that this
 * shape needs is not there, or out of order. @first: where the side's segments begin; @optional: may be 0.
 * NAME_passed(shape): bits of the stages that it passes.
 */
#define NT_DEFINE_STAGES(name, segments, first, optional)                                           \
	static __always_inline bool name##_split(const struct nt_record *r, const __u32 shape,      \
						 const __u32 missing, __u64 *stage)                 \
	{                                                                                           \
		__u64 last = missing & 1u << (first) ? 0 : r->points[first];                        \
		bool broken = !last && !(optional) && !(missing & 1u << (first));                   \
                                                                                                    \
		segments(NT_SEGMENT) return broken;                                                 \
	}                                                                                           \
	static __always_inline __u32 name##_passed(const __u32 shape)                               \
	{                                                                                           \
		return 0 segments(NT_PASSED);                                                       \
	}                                                                                           \
	static __always_inline bool name##_count(struct nt_record *r, const __u32 shape,            \
						 struct nt_stage_hists *s, __u32 epoch)             \
	{                                                                                           \
		struct nt_stage_hists *turned;                                                      \
		__u64 stage[NT_STAGES_MAX] = {};                                                    \
                                                                                                    \
		if (name##_split(r, shape, 0, stage))                                               \
			return false;                                                               \
		if (nt_knobs.no_histograms)                                                         \
			return true;                                                                \
		turned = max_at(s, epoch);                                                          \
		_Pragma("unroll") for (int i = 0; i < NT_STAGES_MAX;                                \
				       i++) if (name##_passed(shape) & 1u << i)                     \
			hist_count(&s->h[i], &turned->h[i], stage[i]);                              \
		return true;                                                                        \
	}                                                                                           \
	static __always_inline bool name##_count_some(struct nt_record *r, __u32 shape,             \
						      struct nt_stage_hists *s, __u32 epoch,        \
						      __u32 unknown)                                \
	{                                                                                           \
		__u64 stage[NT_STAGES_MAX] = {};                                                    \
                                                                                                    \
		if (name##_split(r, shape, nt_knobs.missing, stage))                                \
			return false;                                                               \
		if (nt_knobs.no_histograms)                                                         \
			return true;                                                                \
		stages_count(s, stage, name##_passed(shape) & ~unknown, epoch);                     \
		return true;                                                                        \
	}                                                                                           \
	/* Counts the stages of a command; false if it cannot be split. @unknown: bits of stages */ \
	static __always_inline bool name##_stages(struct nt_record *r, __u32 shape, __u32 unknown)  \
	{                                                                                           \
		__u32 op = r->op, epoch = nt_control.epoch;                                         \
		struct nt_stage_hists *s = NULL;                                                    \
                                                                                                    \
		if (!nt_knobs.no_histograms) {                                                      \
			s = bpf_map_lookup_elem(&stages, &op);                                      \
			if (!s)                                                                     \
				return false;                                                       \
			stages_turn(s, epoch);                                                      \
		}                                                                                   \
		if (nt_knobs.missing || unknown)                                                    \
			return name##_count_some(r, shape, s, epoch, unknown);                      \
		switch (shape) {                                                                    \
		case NT_SHAPE_READ:                                                                 \
			return name##_count(r, NT_SHAPE_READ, s, epoch);                            \
		case NT_SHAPE_INLINE_WRITE:                                                         \
			return name##_count(r, NT_SHAPE_INLINE_WRITE, s, epoch);                    \
		case NT_SHAPE_R2T_WRITE:                                                            \
			return name##_count(r, NT_SHAPE_R2T_WRITE, s, epoch);                       \
		default:                                                                            \
			return name##_count(r, NT_SHAPE_NO_DATA, s, epoch);                         \
		}                                                                                   \
	}

/* They turn together; the first one, which says so, comes last. */
static __always_inline void stages_turn(struct nt_stage_hists *s, __u32 epoch)
{
	if (s->h[0].max_epoch[epoch & 1] == epoch)
		return;
	for (int i = NT_STAGES_MAX - 1; i >= 0; i--)
		hist_turn(&s->h[i], epoch);
}

/* Where points are missing: a stage that cannot be parted from another is added to that one. */
static __always_inline void stages_count(struct nt_stage_hists *s, __u64 *stage, __u32 passed,
					 __u32 epoch)
{
	for (int i = NT_STAGES_MAX - 1; i > 0; i--) {
		for (int k = 0; k < i; k++) {
			if (nt_knobs.into[i] != k)
				continue;
			stage[k] += stage[i];
			if (passed & 1u << i)
				passed |= 1u << k;
			passed &= ~(1u << i);
		}
	}
	for (int i = 0; i < NT_STAGES_MAX; i++)
		if (passed & 1u << i)
			hist_count(&s->h[i], max_at(&s->h[i], epoch), stage[i]);
}

#endif /* NTPROF_STAGES_BPF_H */
