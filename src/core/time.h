/* SPDX-License-Identifier: GPL-2.0-only */
/* The clocks of records. */
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
 * It is the clock of the machine, in a time namespace as well (time_namespaces(7)), because BPF
 * programs use the clock of the machine.
 */
uint64_t monotonic_ns(void);

/**
 * time_shift() - the shift of CLOCK_MONOTONIC in a file like /proc/self/timens_offsets, in
 * nanoseconds; 0 if there is no such file
 */
int64_t time_shift(const char *path);

/** realtime_ns() - CLOCK_REALTIME in nanoseconds */
int64_t realtime_ns(void);

/** instant_now() - both clocks at one instant; they are read again if other tasks ran in between */
struct instant instant_now(void);

/** ns_add() - the sum of two durations from an untrusted source; UINT64_MAX if it overflows */
static inline uint64_t ns_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

#endif /* NTPROF_CORE_TIME_H */
