/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happens to the controllers of a host: another state, an attempt to reconnect that failed, a
 * command that was in flight for too long, another ANA state. No program is on the way of a
 * command. src/trace/path_events.c says which of them are left out where a kernel lacks a function.
 *
 * Context: kernel workers and tasks. They may sleep, and run for several controllers at once. All
 * reads are by helper: a controller that is removed meanwhile does no harm.
 */
#ifndef NTPROF_PATH_EVENTS_BPF_H
#define NTPROF_PATH_EVENTS_BPF_H

#include "shared/path_event.h"
#include "state.bpf.h"
#include "transport.bpf.h"

/* CO-RE: members that no other program reads. */
struct nvme_ctrl___path {
	int nr_reconnects;
	__u32 queue_count;
} __attribute__((preserve_access_index));

struct work___path {
	int unused;
};

struct nvme_tcp_ctrl___path {
	struct work___path connect_work;
} __attribute__((preserve_access_index));

/* include/linux/nvme.h */
struct nvme_ana_group_desc___path {
	__le32 grpid;
	__u8 state;
} __attribute__((preserve_access_index));

/* NVMe 2.0, figure 187 */
#define KEEP_ALIVE 0x18

/* Some 900 events, which user space reads as they come. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 << 10);
} path_events SEC(".maps");

/* The state that each ANA group was last seen in, by controller and group. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u8);
} path_groups SEC(".maps");

/* Events that found no room. */
__u64 path_lost = 0;

/* Return: NULL if the controller is of another transport, or without room, which is counted */
static __always_inline struct nt_path_event *path_begin(struct nvme_ctrl *ctrl,
							enum nt_path_kind kind)
{
	struct nvmf_ctrl_options *opts = BPF_CORE_READ(ctrl, opts);
	struct nt_path_event *e;

	if (!(nt_knobs.transports & 1u << (transport_of(ctrl) & 31)))
		return NULL;
	e = bpf_ringbuf_reserve(&path_events, sizeof(*e), 0);
	if (!e) {
		__sync_fetch_and_add(&path_lost, 1);
		return NULL;
	}
	__builtin_memset(e, 0, offsetof(struct nt_path_event, subsysnqn));
	e->ns = bpf_ktime_get_ns();
	e->kind = kind;
	e->instance = BPF_CORE_READ(ctrl, instance);
	e->cntlid = BPF_CORE_READ(ctrl, cntlid);
	if (opts)
		bpf_probe_read_kernel_str(e->subsysnqn, sizeof(e->subsysnqn),
					  BPF_CORE_READ(opts, subsysnqn));
	else
		subsysnqn_read(e->subsysnqn, sizeof(e->subsysnqn), ctrl);
	return e;
}

SEC("fexit/nvme_change_ctrl_state")
int BPF_PROG(path_state, struct nvme_ctrl *ctrl, int state, bool changed)
{
	struct nvme_ctrl___path *c = (void *)ctrl;
	struct nt_path_event *e = changed ? path_begin(ctrl, NT_PATH_STATE) : NULL;

	if (!e)
		return 0;
	e->state = state;
	e->attempts = BPF_CORE_READ(c, nr_reconnects);
	e->queues = BPF_CORE_READ(c, queue_count);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/* The number of attempts is 0 after one that succeeded, which the state tells. */
SEC("fexit/nvme_tcp_reconnect_ctrl_work")
int BPF_PROG(path_failed, void *work)
{
	struct nvme_ctrl *ctrl;
	struct nt_path_event *e;
	__u64 address = 0;
	__u32 attempts;

	/* A plain number, which can be calculated with. */
	bpf_probe_read_kernel(&address, sizeof(address), &work);
	address -= bpf_core_field_offset(struct nvme_tcp_ctrl___path, connect_work);
	ctrl = (void *)(address + bpf_core_field_offset(struct nvme_tcp_ctrl, ctrl));
	attempts = BPF_CORE_READ((struct nvme_ctrl___path *)ctrl, nr_reconnects);
	e = attempts ? path_begin(ctrl, NT_PATH_FAILED) : NULL;
	if (!e)
		return 0;
	e->attempts = attempts;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

SEC("fentry/nvme_tcp_timeout")
int BPF_PROG(path_timeout, struct request *rq)
{
	struct nvme_tcp_request *req = (void *)((__u64)rq + bpf_core_type_size(struct request));
	struct nvme_ctrl *ctrl = BPF_CORE_READ(req, req.ctrl);
	struct nvme_tcp_queue *queue = BPF_CORE_READ(req, queue);
	struct nvme_command *sqe = BPF_CORE_READ(req, req.cmd);
	__u64 bytes = bpf_core_type_size(struct nvme_tcp_queue);
	__u64 first = (__u64)BPF_CORE_READ(queue, ctrl, queues);
	struct nt_path_event *e = path_begin(ctrl, NT_PATH_TIMEOUT);

	if (!e)
		return 0;
	e->qid = bytes ? ((__u64)queue - first) / bytes : 0;
	e->cid = BPF_CORE_READ(sqe, common.command_id);
	e->opcode = BPF_CORE_READ(sqe, common.opcode);
	if (!e->qid && e->opcode == KEEP_ALIVE)
		e->kind = NT_PATH_KEEP_ALIVE;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/*
 * The same of PCIe. What leads to the controller is the same for all drivers. The queues of
 * namespaces have data of their own, that of admin commands has not (nvme_req_qid()).
 */
SEC("fentry/nvme_timeout")
int BPF_PROG(path_timeout_pcie, struct request *rq)
{
	struct nvme_request *req = (void *)((__u64)rq + bpf_core_type_size(struct request));
	struct nvme_ctrl *ctrl = BPF_CORE_READ(req, ctrl);
	struct nvme_command *sqe = BPF_CORE_READ(req, cmd);
	struct nt_path_event *e = path_begin(ctrl, NT_PATH_TIMEOUT);

	if (!e)
		return 0;
	if (BPF_CORE_READ(rq, q, queuedata))
		e->qid = BPF_CORE_READ(rq, mq_hctx, queue_num) + 1;
	e->cid = BPF_CORE_READ(sqe, common.command_id);
	e->opcode = BPF_CORE_READ(sqe, common.opcode);
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/* Runs for each group of each ANA log page: mostly its state is what it was. */
SEC("fentry/nvme_update_ana_state")
int BPF_PROG(path_ana, struct nvme_ctrl *ctrl, void *group)
{
	struct nvme_ana_group_desc___path *desc = group;
	__u8 state = BPF_CORE_READ(desc, state), *known;
	__u32 id = BPF_CORE_READ(desc, grpid);
	__u64 key = (__u64)BPF_CORE_READ(ctrl, instance) << 32 | id;
	struct nt_path_event *e;

	known = bpf_map_lookup_elem(&path_groups, &key);
	if (known && *known == state)
		return 0;
	bpf_map_update_elem(&path_groups, &key, &state, BPF_ANY);
	e = path_begin(ctrl, NT_PATH_ANA);
	if (!e)
		return 0;
	e->group = id;
	e->state = state;
	bpf_ringbuf_submit(e, 0);
	return 0;
}

#endif /* NTPROF_PATH_EVENTS_BPF_H */
