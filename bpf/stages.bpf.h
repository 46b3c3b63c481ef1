/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Splits a command that has ended into its stages, and counts each stage in the histogram of its
 * operation. shared/points.h says what a stage is: each row of a side's table of segments becomes
 * straight-line code here, once for each shape. @side is a constant in every function, and is
 * NT_OF_CORE for a host's command of another transport than TCP.
 *
 * Context and protection: see histograms.bpf.h.
 */
#ifndef NTPROF_STAGES_BPF_H
#define NTPROF_STAGES_BPF_H

#include "histograms.bpf.h"

/* The stage histograms that a CPU's commands of an operation share; 0 if none yet. */
struct nt_stages_of nt_stages_of[NT_CPUS] = {};

/*
 * The stage histograms that CPU @cpu, the current one, shares for operation @op. Takes some if
 * there are none. Only a program that interrupts this one can do the same meanwhile. Return: NULL
 * if none are left
 */
static __always_inline struct nt_stage_hists *stages_shared(__u32 op, __u32 cpu)
{
	__u32 nr, seen;
	__u32 *at = &nt_stages_of[cpu & (NT_CPUS - 1)].at[op & (NT_OPS_NR - 1)];
	struct nt_stage_hists *s;

	nr = *at;
	if (!nr) {
		nr = nt_take(NT_POOL_STAGES);
		if (!nr)
			return NULL;
		seen = __sync_val_compare_and_swap(at, 0, nr);
		if (seen)
			nr = seen;
	}
	s = stages_at(nr);
	if (s && !s->h[0].key)
		s->h[0].key = op + 1;
	return s;
}

#define NT_OF_CORE NT_SIDES

/* NT_SIDES_HERE, of the file that includes this one: bits of the sides that it has commands of. */

/* Whether nothing on this kernel sets @point. The verifier knows the result. */
#define NT_IS_MISSING(point) (nt_knobs.missing & 1u << (point))

/*
 * A row of the table: the segment begins at @last, where the one before it ended. Where the point
 * at its end is missing, the segment ends at @last, too. stages_count_joined() adds up the two
 * stages that this point would separate.
 */
#define NT_SUM_SEGMENT(st, shapes, from, to)                              \
	if (1u << shape & (shapes)) {                                     \
		__u64 ends = missing & 1u << (to) ? last : r->points[to]; \
                                                                          \
		signs |= ends - last;                                     \
		stage[st] += ends - last;                                 \
		last = ends;                                              \
	}
#define NT_SEGMENT(st, shapes, from, to) NT_SUM_SEGMENT(NT_##st, shapes, NT_##from, NT_##to)
#define NT_PASSED(st, shapes, from, to) | (1u << shape & (shapes) ? 1u << NT_##st : 0)

/*
 * Splits a command into its stages.
 * @missing: bits of the points that nothing on this kernel sets
 * @stage: zeroes, to which the nanoseconds of each stage are added
 * Return: false if a point that this shape needs is not there, or out of order
 */
static __always_inline bool stages_split(const enum nt_side side, const struct nt_record *r,
					 const __u32 shape, const __u32 missing, __u64 *stage)
{
	const __u32 first = side == NT_TARGET ? NT_T_RX : NT_H_SUBMIT;
	__u64 last = missing & 1u << first ? 0 : r->points[first];
	/*
	 * The highest bit is set by a stage below 0, and by a first point that is not there. A
	 * request has a start time only if its disk's setting "iostats" is on.
	 */
	__u64 signs = side == NT_TARGET && !(missing & 1u << first) ? last - 1 : 0;

	if (side == NT_HOST) {
		NT_HOST_SEGMENTS(NT_SEGMENT)
	} else if (side == NT_OF_CORE) {
		NT_CORE_SEGMENTS(NT_SEGMENT)
	} else {
		NT_TARGET_SEGMENTS(NT_SEGMENT)
	}
	return (__s64)signs >= 0;
}

/* Bits of the stages that a shape passes. */
static __always_inline __u32 stages_passed(const enum nt_side side, const __u32 shape)
{
	return side == NT_HOST	    ? 0 NT_HOST_SEGMENTS(NT_PASSED)
	       : side == NT_OF_CORE ? 0 NT_CORE_SEGMENTS(NT_PASSED)
				    : 0 NT_TARGET_SEGMENTS(NT_PASSED);
}

static __always_inline int stages_nr_of(const enum nt_side side)
{
	return side == NT_TARGET ? (int)NT_TARGET_STAGES_NR : (int)NT_HOST_STAGES_NR;
}

/*
 * All stage histograms of an operation begin an interval together. The first one says whether they
 * have, so it is changed last: a program that interrupts this one and finds it unchanged does the
 * rest again.
 */
static __always_inline void stages_turn(struct nt_stage_hists *s, __u32 epoch)
{
	if (s->h[0].max_epoch[epoch & 1] == epoch)
		return;
	for (int i = NT_STAGES_MAX - 1; i >= 0; i--)
		hist_turn(&s->h[i].head, epoch);
}

/* Counts a duration of a stage. @turned: as in hist_count() */
static __always_inline void stage_count(struct nt_stage_hist *h, struct nt_stage_hist *turned,
					__u64 ns)
{
	hist_count(&h->head, &turned->head, &h->buckets[NT_STAGE_BUCKET(nt_bucket(ns))], ns);
}

/* Counts the stages where no point is missing. @shape: a constant. Return: as stages_split() */
static __always_inline bool stages_count_shape(const enum nt_side side, const struct nt_record *r,
					       const __u32 shape, struct nt_stage_hists *s,
					       __u32 epoch)
{
	struct nt_stage_hists *turned;
	__u64 stage[NT_STAGES_MAX] = {};

	if (!stages_split(side, r, shape, 0, stage))
		return false;
	if (nt_knobs.no_histograms)
		return true;
	turned = max_at(s, epoch);
	_Pragma("unroll") for (int i = 0; i < NT_STAGES_MAX; i++)
	{
		if (stages_passed(side, shape) & 1u << i)
			stage_count(&s->h[i], &turned->h[i], stage[i]);
	}
	return true;
}

/*
 * Counts the stages where points are missing: a stage that cannot be separated from another one is
 * added to that.
 * @shape: a constant
 * @s: NULL where nothing is counted
 * @unknown: bits of the stages that are not counted
 */
static __always_inline bool stages_count_joined(const enum nt_side side, const struct nt_record *r,
						const __u32 shape, struct nt_stage_hists *s,
						__u32 epoch, __u32 unknown)
{
	__u64 stage[NT_STAGES_MAX] = {};
	__u32 passed;

	if (!stages_split(side, r, shape, nt_knobs.missing, stage))
		return false;
	if (!s)
		return true;
	passed = stages_passed(side, shape) & ~unknown;
	for (int i = stages_nr_of(side) - 1; i > 0; i--) {
		for (int k = 0; k < i; k++) {
			if (nt_knobs.into[i] != k)
				continue;
			stage[k] += stage[i];
			if (passed & 1u << i)
				passed |= 1u << k;
			passed &= ~(1u << i);
		}
	}
	for (int i = 0; i < stages_nr_of(side); i++)
		if (passed & 1u << i)
			stage_count(&s->h[i], max_at(&s->h[i], epoch), stage[i]);
	return true;
}

/*
 * Bits of the arrivals that a command needs and that are not known, although its kernel has the
 * points, as with TLS.
 */
static __always_inline __u32 arrivals_lacking(const enum nt_side side, const struct nt_record *r,
					      __u32 shape)
{
	const __u32 first = side == NT_HOST ? NT_H_RX : NT_T_RX;
	const __u32 of_r2t = side == NT_HOST ? NT_H_R2T_RX : NT_T_DATA_RX;
	__u32 lacking = 0;

	if (side == NT_OF_CORE)
		return 0;
	if (!r->points[first])
		lacking = 1u << first;
	if (shape == NT_SHAPE_R2T_WRITE && !r->points[of_r2t])
		lacking |= 1u << of_r2t;
	return lacking & ~nt_knobs.missing;
}

/*
 * Sets the arrivals that are not known to the time at which the PDU was read, or clears them again.
 * So the stage of the network contains the time in the network stack as well, which is counted
 * nowhere else.
 * @lacking: bits of these arrivals
 * @known: sets them; otherwise they are cleared
 */
static __always_inline void arrivals_set(const enum nt_side side, struct nt_record *r,
					 __u32 lacking, bool known)
{
	__u64 *points = r->points;

	if (side == NT_HOST) {
		if (lacking & 1u << NT_H_RX)
			points[NT_H_RX] = known ? points[NT_H_C2H] ?: points[NT_H_CQE] : 0;
		if (lacking & 1u << NT_H_R2T_RX)
			points[NT_H_R2T_RX] = known ? points[NT_H_R2T] : 0;
	} else {
		if (lacking & 1u << NT_T_RX)
			points[NT_T_RX] = known ? points[NT_T_CMD] : 0;
		if (lacking & 1u << NT_T_DATA_RX)
			points[NT_T_DATA_RX] = known ? points[NT_T_DATA] : 0;
	}
}

/* As stages_lacking(), of a side that is a constant. */
static __always_inline bool stages_lacking_of(const enum nt_side side, struct nt_record *r,
					      struct nt_stage_hists *s, __u32 shape, __u32 unknown)
{
	const __u32 stack = side == NT_HOST ? NT_HS_NSTACK_COMPLETION : NT_TS_NSTACK_SUBMISSION;
	__u32 epoch = nt_control.epoch, lacking = arrivals_lacking(side, r, shape);
	bool split;

	/* An interval may have begun since stages_count() has looked. */
	if (s)
		stages_turn(s, epoch);
	if (lacking)
		unknown |= 1u << stack;
	arrivals_set(side, r, lacking, true);
	if (side == NT_OF_CORE)
		split = stages_count_joined(side, r, NT_SHAPE_CORE, s, epoch, unknown);
	else if (shape == NT_SHAPE_READ)
		split = stages_count_joined(side, r, NT_SHAPE_READ, s, epoch, unknown);
	else if (shape == NT_SHAPE_INLINE_WRITE)
		split = stages_count_joined(side, r, NT_SHAPE_INLINE_WRITE, s, epoch, unknown);
	else if (shape == NT_SHAPE_R2T_WRITE)
		split = stages_count_joined(side, r, NT_SHAPE_R2T_WRITE, s, epoch, unknown);
	else
		split = stages_count_joined(side, r, NT_SHAPE_NO_DATA, s, epoch, unknown);
	arrivals_set(side, r, lacking, false);
	if (split && lacking)
		count(NT_CNT_ARRIVAL_MISSING);
	return split;
}

int stages_lacking(struct nt_record *r, struct nt_stage_hists *s, __u32 side, __u32 shape,
		   __u32 unknown);

/*
 * Counts the stages of a command of which not all is known. A global function: the verifier goes
 * through it once, and not once for each way to get here.
 * @r: not NULL, which the verifier does not know
 * @s: NULL where nothing is counted
 * @side, @shape, @unknown, Return: as stages_count()
 */
__noinline int stages_lacking(struct nt_record *r, struct nt_stage_hists *s, __u32 side,
			      __u32 shape, __u32 unknown)
{
	if (!r)
		return false;
	if (NT_SIDES_HERE & 1u << NT_TARGET && side == NT_TARGET)
		return stages_lacking_of(NT_TARGET, r, s, shape, unknown);
	if (NT_SIDES_HERE & 1u << NT_OF_CORE && side == NT_OF_CORE)
		return stages_lacking_of(NT_OF_CORE, r, s, shape, unknown);
	if (NT_SIDES_HERE & 1u << NT_HOST && side == NT_HOST)
		return stages_lacking_of(NT_HOST, r, s, shape, unknown);
	return false;
}

/*
 * Counts the stages that the ends of a host's command bound: blk_submission, and all that follows
 * it. The tables of segments and @into say the same.
 * @s: NULL where nothing is counted
 * @unknown, Return: as stages_count()
 */
static __always_inline bool ends_count(const enum nt_side side, const struct nt_record *r,
				       struct nt_stage_hists *s, __u32 epoch, __u32 unknown)
{
	const __u64 begun = r->points[NT_H_QUEUE_RQ];
	/* Commands of all transports have one such stage where there are any of TCP. */
	const __u32 rest = side == NT_OF_CORE && !(nt_knobs.transports & NT_OF_TCP)
				   ? NT_HS_DEVICE
				   : NT_HS_NVME_TCP_SUBMISSION;
	struct nt_stage_hists *turned;

	if (begun < r->points[NT_H_SUBMIT])
		return false;
	if (!s)
		return true;
	turned = max_at(s, epoch);
	if (!unknown)
		stage_count(&s->h[NT_HS_BLK_SUBMISSION], &turned->h[NT_HS_BLK_SUBMISSION],
			    begun - r->points[NT_H_SUBMIT]);
	stage_count(&s->h[rest], &turned->h[rest], r->points[NT_H_COMPLETE] - begun);
	return true;
}

/*
 * Counts the stages of a command that has ended.
 * @cpu: the current one
 * @nr: what latency_count() has returned
 * @unknown: bits of the stages that are not known for this command
 * Return: false if it cannot be split: see stages_split(). Nothing is counted then
 */
static __always_inline bool stages_count(const enum nt_side side, struct nt_record *r, __u32 shape,
					 __u32 unknown, __u32 cpu, __s32 nr)
{
	__u32 op = r->op, epoch = nt_control.epoch;
	struct nt_stage_hists *s = NULL;

	/* The only stage that is known is the latency: user space has it from there. */
	if (nt_knobs.ends && !nt_knobs.stages && side == NT_TARGET)
		return true;
	if (!nt_knobs.no_histograms) {
		s = nr > 0 ? stages_at(nr) : stages_shared(op, cpu);
		if (!s) {
			count(NT_CNT_HIST_FULL);
			return true;
		}
		stages_turn(s, epoch);
	}
	if (nt_knobs.ends && !nt_knobs.stages)
		return ends_count(side, r, s, epoch, unknown);
	if ((side != NT_OF_CORE && nt_knobs.missing) || unknown || arrivals_lacking(side, r, shape))
		return stages_lacking(r, s, side, shape, unknown);
	if (side == NT_OF_CORE)
		return stages_count_shape(side, r, NT_SHAPE_CORE, s, epoch);
	switch (shape) {
	case NT_SHAPE_READ:
		return stages_count_shape(side, r, NT_SHAPE_READ, s, epoch);
	case NT_SHAPE_INLINE_WRITE:
		return stages_count_shape(side, r, NT_SHAPE_INLINE_WRITE, s, epoch);
	case NT_SHAPE_R2T_WRITE:
		return stages_count_shape(side, r, NT_SHAPE_R2T_WRITE, s, epoch);
	default:
		return stages_count_shape(side, r, NT_SHAPE_NO_DATA, s, epoch);
	}
}

#endif /* NTPROF_STAGES_BPF_H */
