/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrival times of packets, which the kernel notes while the loader has it do so (struct rx_clock).
 *
 * They are CLOCK_REALTIME, which somebody may set while a packet waits to be read, before the loader
 * has heard of it or after. So what is not young is held against a look at the clocks of our own:
 * CLOCK_TAI differs from CLOCK_REALTIME by a number of seconds that the loader knows, and is set
 * along with it.
 */
#ifndef NTPROF_ARRIVAL_BPF_H
#define NTPROF_ARRIVAL_BPF_H

#include "control.bpf.h"

/*
 * For tests/bench/overhead alone, which compares with it: stamps are taken as they are, whether packets were joined or the
 * clock was set.
 */
#ifndef NT_PLAIN_ARRIVALS
#define NT_PLAIN_ARRIVALS 0
#endif

/* A packet that seems to have waited for longer was stamped before the wall clock was set. */
#define NT_ARRIVAL_MAX_AGE_NS (10ULL * 1000 * 1000 * 1000)
/* What is younger is not worth a look at the clock: no step can have moved it by more. */
#define NT_ARRIVAL_YOUNG_NS 20000ULL
/* Two looks at clocks, one behind the other, that are further apart were interrupted. */
#define NT_CLOCK_TORN_NS 20000ULL
#define NT_CLOCK_LOOKS 3
/* How long a packet may well have waited; a step that matters is longer, mostly. */
#define NT_ARRIVAL_DOUBT_NS (1000ULL * 1000 * 1000)
/* How exactly it is known when the clock was not set yet. */
#define NT_CLOCK_LOOK_NS (10ULL * 1000 * 1000)

/* Whether programs can read CLOCK_TAI: since Linux 6.1. */
static __always_inline bool has_tai(void)
{
	return bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_ktime_get_tai_ns);
}

static __always_inline bool same_offset(__s64 offset, __s64 other)
{
	return (__u64)(offset - other + NT_CLOCK_TORN_NS) <= 2 * NT_CLOCK_TORN_NS;
}

/*
 * CLOCK_REALTIME - CLOCK_MONOTONIC as it is now: @known, if it is still that. 0: it cannot be told.
 * @now: CLOCK_MONOTONIC, of a moment ago
 */
static __always_inline __s64 real_offset_now(__s64 known, __u64 now)
{
	__u64 before, after;
	__s64 real;

	if (!has_tai())
		return known;
	real = bpf_ktime_get_tai_ns() - nt_control.tai_offset;
	if (same_offset(real - now, known))
		return known;
	for (int i = 0; i < NT_CLOCK_LOOKS; i++) {
		before = bpf_ktime_get_ns();
		real = bpf_ktime_get_tai_ns() - nt_control.tai_offset;
		after = bpf_ktime_get_ns();
		/* A look that was interrupted may tell all the same that the clock was not set. */
		if ((__s64)(real - before) >= known - (__s64)NT_CLOCK_TORN_NS &&
		    (__s64)(real - after) <= known + (__s64)NT_CLOCK_TORN_NS)
			return known;
		if (after - before <= NT_CLOCK_TORN_NS)
			return (__s64)(real - before);
	}
	return 0;
}

/*
 * The wall clock is @current before ours. Whoever is the first to see that it was set notes it; where
 * two are at once, both write the same, but for when.
 */
static __always_inline void offset_seen(__s64 current, __u64 now)
{
	__s64 seen = nt_control.seen_offset;

	if (!same_offset(current, seen)) {
		nt_control.offset_before = seen;
		nt_control.set_after = nt_control.looked_ns;
		nt_control.set_ns = now;
		/* Who finds this finds the rest. */
		asm volatile("" ::: "memory");
		nt_control.seen_offset = current;
	}
	/* Read by all CPUs: not to be written more often than needed. */
	if (now - nt_control.looked_ns > NT_CLOCK_LOOK_NS)
		nt_control.looked_ns = now;
}

/*
 * The same as arrival(), for what is not young: by the wall clock as it is, unless the packet would
 * have come when that was not set yet; or as it was, unless it would have come later. None where both
 * are possible, nor, while a step is not long ago, where it would have waited for so long that there
 * may have been two of them. Not static, so that it is verified once.
 */
__noinline __u64 arrival_held(__u64 recv_time, __u64 now)
{
	__s64 current = real_offset_now(nt_control.real_offset, now);
	__u64 at, before;
	bool is, was;

	if (!current)
		return 0;
	offset_seen(current, now);
	at = recv_time - current;
	is = at <= now && at >= nt_control.set_after && now - at <= NT_ARRIVAL_MAX_AGE_NS;
	before = recv_time - nt_control.offset_before;
	was = before <= nt_control.set_ns && before <= now && now - before <= NT_ARRIVAL_DOUBT_NS;
	if (now - nt_control.set_ns < NT_ARRIVAL_MAX_AGE_NS)
		is = is && now - at <= NT_ARRIVAL_DOUBT_NS;
	if (is == was)
		return 0;
	return is ? at : before;
}

/*
 * CLOCK_REALTIME arrival time of a packet, @recv_time, as CLOCK_MONOTONIC; 0 where it is unknown or
 * absurd: a packet cannot arrive after it is read, which is @now, nor wait for long.
 */
static __always_inline __u64 arrival(__u64 recv_time, __u64 now)
{
	__u64 at;

	if (!recv_time)
		return 0;
	at = recv_time - nt_control.real_offset;
	if (now - at < NT_ARRIVAL_YOUNG_NS)
		return at;
	if (NT_PLAIN_ARRIVALS)
		return now - at < NT_ARRIVAL_MAX_AGE_NS ? at : 0;
	return arrival_held(recv_time, now);
}

#endif /* NTPROF_ARRIVAL_BPF_H */
