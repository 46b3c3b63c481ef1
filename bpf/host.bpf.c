// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host's programs. The programs that set points come from one of two sources: tracepoints of a
 * patched driver, or probes of a stock one. The point complete comes from block_rq_complete in
 * both. Controllers of other transports than TCP have programs of their own. src/trace/probes.c
 * says which program sets which point, and decides which of them are loaded.
 */
/* See stages.bpf.h. A test has both sides. */
#ifndef NT_SIDES_HERE
#define NT_SIDES_HERE (1u << NT_HOST | 1u << NT_OF_CORE)
#endif
#include "host_command.bpf.h"

/* See "nested" in control.bpf.h. */
SEC("tp_btf/block_rq_complete")
int NT_PROG_COUNTING(rq_complete_nested, struct request *rq, int error)
{
	return request_end(rq, error, true, false);
}

SEC("tp_btf/block_rq_complete")
int NT_PROG_COUNTING(rq_complete, struct request *rq, int error)
{
	return request_end(rq, error, false, false);
}

/* nvme-tcp learns that a request has been in flight for too long. It may get more time, or end. */
SEC("fentry/nvme_tcp_timeout")
int BPF_PROG(timed_out, struct request *rq)
{
	if (nt_knobs.selects) {
		struct nt_cmd *c = CMD_FIND_ANY(rq, queue_of_request(rq), rq->tag);
		struct nt_queue *q = c ? queue_of_cmd(c) : NULL;

		if (!q || queue_drops(q, &c->r))
			return 0;
	}
	count(NT_CNT_TIMEOUTS);
	return 0;
}

/* Runs in the task that submits the request, or in the worker that sends one again. */
SEC("tp_btf/block_rq_insert")
int BPF_PROG(rq_insert, struct request *rq)
{
	task_insert(rq);
	return 0;
}

#include "host_tracepoints.bpf.h"
#include "host_stock.bpf.h"
#include "host_core.bpf.h"
#include "path_events.bpf.h"
#if !NT_PLAIN_ARRIVALS
#include "joined.bpf.h"
#endif

/* CO-RE: the work of a queue. */
struct nvme_tcp_queue___works {
	struct work_struct___data io_work;
} __attribute__((preserve_access_index));
#define NT_DRIVER "nvme_tcp"
#define NT_DRIVER_QUEUE struct nvme_tcp_queue___works
#include "worker_programs.bpf.h"

char LICENSE[] SEC("license") = "GPL";
