/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clocks that records are told in.
 */
#ifndef NTPROF_CORE_TIME_H
#define NTPROF_CORE_TIME_H

#include <stdint.h>

/* CLOCK_MONOTONIC and CLOCK_REALTIME of one instant, nanoseconds. */
struct instant {
	uint64_t monotonic_ns;
	int64_t realtime_ns;
};

/**
 * monotonic_ns() - CLOCK_MONOTONIC in nanoseconds, as bpf_ktime_get_ns()
 *
 * It is the machine's, in a time namespace as well (time_namespaces(7)): what BPF programs note is of that.
 */
uint64_t monotonic_ns(void);

/** time_shift() - by how many nanoseconds a file as /proc/self/timens_offsets says that CLOCK_MONOTONIC is shifted; 0 without */
int64_t time_shift(const char *path);

/** realtime_ns() - CLOCK_REALTIME in nanoseconds */
int64_t realtime_ns(void);

/** instant_now() - both clocks at one instant: read again if other tasks ran in between */
struct instant instant_now(void);

/** ns_add() - the sum of two durations for which nobody vouches: no more than there can be */
static inline uint64_t ns_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

#endif /* NTPROF_CORE_TIME_H */
