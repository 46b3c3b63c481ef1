// SPDX-License-Identifier: GPL-2.0-only
/*
 * The target's programs. Those that fill points come from one of two sources, and the end of a
 * connection from inet_sock_set_state in both. src/trace/probes_table.c says which program feeds
 * which point, and src/trace/probes.c decides which of them are loaded.
 */
#include "target_command.bpf.h"

/*
 * Commands of a connection that has closed will not be answered; user space counts and releases
 * them. @sk: typed, of any connection of the machine
 */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(sock_set_state, struct sock *sk, int oldstate, int newstate)
{
	__u64 key = (__u64)sk;
	struct nt_served *serves;
	struct nt_queue *q;

	if (newstate != TCP_CLOSE)
		return 0;
	serves = bpf_map_lookup_elem(&sockets, &key);
	if (!serves)
		return 0;
	q = bpf_map_lookup_elem(&queues, &serves->slot);
	/* Connections that had its slot before are closed, too; one that has it now is not. */
	if (q && (__s32)(serves->gen - q->dead_gen) > 0)
		q->dead_gen = serves->gen;
	bpf_map_delete_elem(&sockets, &key);
	return 0;
}

#include "target_tracepoints.bpf.h"
#include "target_stock.bpf.h"
#if !NT_PLAIN_ARRIVALS
#include "joined.bpf.h"
#endif

char LICENSE[] SEC("license") = "GPL";
