/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A made-up target: connections, each with its queue and the commands of the queue. Include it
 * after "bpf/target.h", and define CONNECTIONS and COMMANDS if there are more than one of these.
 */
#ifndef NTPROF_TESTS_BPF_TARGET_MACHINE_H
#define NTPROF_TESTS_BPF_TARGET_MACHINE_H

#ifndef CONNECTIONS
#define CONNECTIONS 1
#endif
#ifndef COMMANDS
#define COMMANDS 1
#endif

static struct {
	struct nvmet_fabrics_ops ops;
	struct nvmet_subsys subsys;
	struct nvmet_ctrl ctrl[CONNECTIONS];
	struct nvmet_tcp_queue queue[CONNECTIONS];
	struct nvmet_tcp_cmd cmd[CONNECTIONS][COMMANDS];
	struct nvme_command sqe[CONNECTIONS][COMMANDS];
	struct nvme_completion cqe;
	struct socket socket[CONNECTIONS];
	struct sock sk[CONNECTIONS];
	struct sk_buff skb;
} m;

/* Makes a TCP connection that has carried nothing yet, in the memory of connection number @i. */
static inline void connection_make(int i, int idx)
{
	memset(&m.queue[i], 0, sizeof(m.queue[i]));
	m.queue[i].sock = &m.socket[i];
	m.queue[i].idx = idx;
	m.queue[i].cmds = m.cmd[i];
	m.queue[i].nr_cmds = COMMANDS;
	m.socket[i].sk = &m.sk[i];
	/*
	 * This sets sk_data_ready as well: the structures of tests have few members, so both lie at
	 * the same place. All sockets have the same function.
	 */
	m.sk[i].sk_receive_queue.next = &m.skb;
	m.sk[i].sk_user_data = &m.queue[i];
}

/* The state before any host connects. connection_make() makes connections. */
static inline void target_make(void)
{
	kernel_reset();
	memset(nt_pdus, 0, sizeof(nt_pdus));
	memset(&m, 0, sizeof(m));
	m.ops.type = NVMF_TRTYPE_TCP;
	m.subsys.subsysnqn = "nqn.subsystem";
	for (int i = 0; i < CONNECTIONS; i++) {
		m.ctrl[i].subsys = &m.subsys;
		strcpy(m.ctrl[i].hostnqn, "nqn.host");
	}
}

/* Releases commands of closed connections, as trace/collect.c does. */
static inline void sweep(void)
{
	for (unsigned int i = 0; i < PIECES * NT_CHUNK_CMDS; i++) {
		struct nt_cmd *c = cmd_at(i);
		__u32 dead = kernel.queues[c->r.slot].dead_gen;

		if (!dead || !in_flight(c) || (__s32)(c->r.gen - dead) > 0)
			continue;
		if (nt_knobs.sample_below && measured(c))
			nt_control.tracked--;
		c->owner |= NT_RELEASED;
		if (!(c->r.flags & NT_F_COUNTED))
			nt_counters[0].n[NT_CNT_DIED]++;
	}
}

#endif /* NTPROF_TESTS_BPF_TARGET_MACHINE_H */
