/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrival times of packets. The kernel notes them while the loader keeps this switched on (struct
 * rx_clock).
 *
 * They are CLOCK_REALTIME. The wall clock may be set while a packet waits to be read, before or
 * after the loader has noticed. So an arrival that is not recent is checked by reading the clocks
 * here: CLOCK_TAI differs from CLOCK_REALTIME by a number of seconds that the loader knows, and
 * both are set together.
 */
#ifndef NTPROF_ARRIVAL_BPF_H
#define NTPROF_ARRIVAL_BPF_H

#include "control.bpf.h"

/*
 * For tests/bench/overhead alone, as the base of a comparison: time stamps are used as they are,
 * even if packets were joined or the clock was set.
 */
#ifndef NT_PLAIN_ARRIVALS
#define NT_PLAIN_ARRIVALS 0
#endif

/* A packet that seems to have waited for longer was stamped before the wall clock was set. */
#define NT_ARRIVAL_MAX_AGE_NS (10ULL * 1000 * 1000 * 1000)
/*
 * A stamp that is younger is used without reading the clock again. It may be that of a packet that
 * has waited for as long as the clock was set back meanwhile: then the arrival is too late by that
 * step. A check would cost every packet a look at set_ns, for a chance of 20 us at each step.
 */
#define NT_ARRIVAL_YOUNG_NS 20000ULL
/* Two clock reads, one directly after the other, that are further apart were interrupted. */
#define NT_CLOCK_TORN_NS 20000ULL
#define NT_CLOCK_LOOKS 3
/* A packet may well have waited for this long. A clock step that matters is mostly larger. */
#define NT_ARRIVAL_DOUBT_NS (1000ULL * 1000 * 1000)
/* How precisely the last time is known at which the clock was not set yet. */
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
 * CLOCK_REALTIME - CLOCK_MONOTONIC at this moment.
 * @known: what it was before; returned if it still holds
 * @now: CLOCK_MONOTONIC, read a moment ago
 * Return: 0 if it cannot be determined
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
		/* Even an interrupted read may show that the clock was not set. */
		if ((__s64)(real - before) >= known - (__s64)NT_CLOCK_TORN_NS &&
		    (__s64)(real - after) <= known + (__s64)NT_CLOCK_TORN_NS)
			return known;
		if (after - before <= NT_CLOCK_TORN_NS)
			return (__s64)(real - before);
	}
	return 0;
}

/*
 * Notes that the wall clock was set, if @current, CLOCK_REALTIME - CLOCK_MONOTONIC, differs from
 * its last value. The first program that sees it notes it. If two see it at once, both write the
 * same values, except for the time.
 */
static __always_inline void offset_seen(__s64 current, __u64 now)
{
	__s64 seen = nt_control.seen_offset;

	if (!same_offset(current, seen)) {
		nt_control.offset_before = seen;
		nt_control.set_after = nt_control.looked_ns;
		nt_control.set_ns = now;
		/* Publish last: a CPU that sees seen_offset must also see the fields above. */
		in_order();
		nt_control.seen_offset = current;
	}
	/* seen_offset was read above: read what was written before it only now. */
	in_order();
	/* All CPUs read this member, so it is not written more often than needed. */
	if (now - nt_control.looked_ns > NT_CLOCK_LOOK_NS)
		nt_control.looked_ns = now;
}

/*
 * As arrival(), for a packet that is not recent. There are two candidates. One is the time by the
 * present wall clock, unless the packet would then have arrived before the clock was set. The other
 * is the time by the previous wall clock, unless the packet would then have arrived after the clock
 * was set. The arrival is unknown where both or neither are possible. For some time after a step,
 * it is also unknown where the packet would have waited for so long that there may have been two
 * steps. Not static, so that it is verified once.
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
 * Converts the CLOCK_REALTIME arrival time of a packet to CLOCK_MONOTONIC.
 * @now: when the packet is read
 * Return: 0 where the time is unknown or impossible: a packet cannot arrive after it is read, and
 * does not wait for long
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
