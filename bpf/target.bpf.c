// SPDX-License-Identifier: GPL-2.0-only
/*
 * The target's programs. The programs that set points come from one of two sources: tracepoints of
 * a patched driver, or probes of a stock one. The end of a connection comes from
 * inet_sock_set_state in both. src/trace/probes.c says which program sets which point, and
 * src/trace/probes.c decides which of them are loaded.
 */
/* See stages.bpf.h. A test has both sides. */
#ifndef NT_SIDES_HERE
#define NT_SIDES_HERE (1u << NT_TARGET)
#endif
#include "target_command.bpf.h"

/*
 * Commands of a connection that has closed will not be answered. User space counts and releases
 * them. @sk: typed, of any connection of the machine
 */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(sock_set_state, struct sock *sk, int oldstate, int newstate)
{
	__u64 key = (__u64)sk;
	struct nt_served *serves;
	struct nt_outs *o;
	struct nt_queue *q;

	if (newstate != TCP_CLOSE)
		return 0;
	serves = bpf_map_lookup_elem(&sockets, &key);
	if (!serves)
		return 0;
	q = bpf_map_lookup_elem(&queues, &serves->slot);
	/* Earlier connections in the slot are closed, too. A later one in the same slot is not. */
	if (q && (__s32)(serves->gen - q->dead_gen) > 0)
		q->dead_gen = serves->gen;
	bpf_map_delete_elem(&sockets, &key);
	/* Answers that have not left TCP never do: their records wait no longer. */
	o = nt_knobs.fine && !nt_knobs.no_outs ? bpf_sk_storage_get(&outs, sk, NULL, 0) : NULL;
	if (o)
		outs_take(o, true, 0, 0);
	return 0;
}

#include "target_tracepoints.bpf.h"
#include "target_stock.bpf.h"
#include "disk_use.bpf.h"
#if !NT_PLAIN_ARRIVALS
#include "joined.bpf.h"
#endif

/* CO-RE: the work of a queue. */
struct nvmet_tcp_queue___works {
	struct work_struct___data io_work;
} __attribute__((preserve_access_index));
#define NT_DRIVER "nvmet_tcp"
#define NT_DRIVER_QUEUE struct nvmet_tcp_queue___works
#include "worker_programs.bpf.h"

char LICENSE[] SEC("license") = "GPL";
