// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host's points, from the tracepoints of a patched nvme-tcp and from block_rq_complete; those for a
 * driver that nobody patched are in host_stock.bpf.h. src/trace/probes.c says which program feeds which point,
 * and decides which of them are loaded.
 */
#include "host_command.bpf.h"

/* See "nested" in control.bpf.h. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(rq_complete_nested, struct request *rq)
{
	return complete(rq, true);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(rq_complete, struct request *rq)
{
	return complete(rq, false);
}

#include "host_tracepoints.bpf.h"
#include "host_stock.bpf.h"

char LICENSE[] SEC("license") = "GPL";
