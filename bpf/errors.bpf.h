/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands that ended with a status other than success, counted by queue, operation and status.
 * They are rare, so their cost does not matter. Their duration is not a latency, so they are in no
 * histogram.
 *
 * Context: where a command ends, interrupts included. Additions are atomic. User space reads
 * differences. When a connection is gone, and its entry has not changed for an interval, user space
 * removes the entry.
 */
#ifndef NTPROF_ERRORS_BPF_H
#define NTPROF_ERRORS_BPF_H

#include "control.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NT_ERRORS);
	__type(key, struct nt_error);
	__type(value, __u64);
} errors SEC(".maps");

static __always_inline bool is_error(const struct nt_record *r)
{
	return r->status & NT_STATUS_MASK;
}

/* Counts a command that failed. @r: its record, with the status. @who: see struct nt_identity */
static __always_inline void error_count(const struct nt_record *r, __u32 who)
{
	struct nt_error key = {
		.slot = r->slot,
		.who = who,
		.status = r->status & NT_STATUS_MASK,
		.op = r->op,
	};
	__u64 none = 0, *n = bpf_map_lookup_elem(&errors, &key);

	if (!n) {
		/*
		 * Another CPU may add it at the same time. Then the entry of the first one stays.
		 */
		bpf_map_update_elem(&errors, &key, &none, BPF_NOEXIST);
		n = bpf_map_lookup_elem(&errors, &key);
	}
	if (n)
		__sync_fetch_and_add(n, 1);
	else
		count(NT_CNT_ERRORS_FULL);
}

#endif /* NTPROF_ERRORS_BPF_H */
