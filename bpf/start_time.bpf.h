/* SPDX-License-Identifier: GPL-2.0-only */
/* When the block layer began with a request. All requests are typed. */
#ifndef NTPROF_START_TIME_BPF_H
#define NTPROF_START_TIME_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/*
 * From Linux 6.18 on, which is when the enum got its name, a request whose time is not needed keeps
 * the time of its last use. On older kernels it has none. A flush that the block layer makes itself
 * is the only flush request that is part of a flush sequence. It gets a new time each time
 * (blk_kick_flush()).
 */
enum rqf_flags___named { __RQF_FLUSH_SEQ___named = 2, __RQF_IO_STAT___named = 8 };

struct request___flags {
	__u32 rq_flags;
} __attribute__((preserve_access_index));

/*
 * When the block layer began with a request.
 * @rq: typed
 * @flush: it is known to be a Flush
 * Return: 0 if the block layer did not read the clock
 */
static __always_inline __u64 start_time(struct request *rq, bool flush)
{
	struct request___flags *flags = (void *)rq;
	__u32 timed;

	if (!bpf_core_enum_value_exists(enum rqf_flags___named, __RQF_IO_STAT___named))
		return rq->start_time_ns;
	timed = 1u << bpf_core_enum_value(enum rqf_flags___named, __RQF_IO_STAT___named);
	if (flush)
		timed |= 1u << bpf_core_enum_value(enum rqf_flags___named, __RQF_FLUSH_SEQ___named);
	return flags->rq_flags & timed ? rq->start_time_ns : 0;
}

#endif /* NTPROF_START_TIME_BPF_H */
