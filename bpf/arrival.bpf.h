/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrival times of packets, which the kernel notes while the loader has it do so (struct rx_clock).
 */
#ifndef NTPROF_ARRIVAL_BPF_H
#define NTPROF_ARRIVAL_BPF_H

#include "control.bpf.h"

/* A packet that seems to have waited for longer was stamped before the wall clock was set. */
#define NT_ARRIVAL_MAX_AGE_NS (10ULL * 1000 * 1000 * 1000)

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
	if (at > now || now - at > NT_ARRIVAL_MAX_AGE_NS)
		return 0;
	return at;
}

#endif /* NTPROF_ARRIVAL_BPF_H */
