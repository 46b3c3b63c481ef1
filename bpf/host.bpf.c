// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host's programs. Those that fill points come from one of two sources, and complete from
 * block_rq_complete in both. src/trace/probes_table.c says which program feeds which point, and
 * src/trace/probes.c decides which of them are loaded.
 */
#include "host_command.bpf.h"

/* See "nested" in control.bpf.h. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(rq_complete_nested, struct request *rq, int error)
{
	return request_end(rq, error, true);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(rq_complete, struct request *rq, int error)
{
	return request_end(rq, error, false);
}

/* nvme-tcp is told that a request is out for too long. It may yet get another while, or end. */
SEC("fentry/nvme_tcp_timeout")
int BPF_PROG(timed_out, struct request *rq)
{
	count(NT_CNT_TIMEOUTS);
	return 0;
}

#include "host_tracepoints.bpf.h"
#include "host_stock.bpf.h"
#include "joined.bpf.h"

char LICENSE[] SEC("license") = "GPL";
