/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a host's command comes from: the cgroup of its bio, which says to whom the I/O belongs,
 * whichever task submits it, the CPU that made its request, and the task that submitted it. Nothing
 * here runs unless it is asked for, which .rodata says.
 */
#ifndef NTPROF_ORIGIN_BPF_H
#define NTPROF_ORIGIN_BPF_H

#include "cgroup.bpf.h"
#include "control.bpf.h"
#include "queues.bpf.h"
#include "select.bpf.h"

/* CO-RE: @ancestors since Linux 6.1, @ancestor_ids before. */
struct cgroup___ancestors {
	struct cgroup___origin *ancestors[1];
} __attribute__((preserve_access_index));

struct cgroup___ids {
	__u64 ancestor_ids[1];
} __attribute__((preserve_access_index));

struct task_struct___origin {
	unsigned int flags;
	int tgid;
	struct task_struct___origin *group_leader;
	char comm[NT_COMM_LEN];
} __attribute__((preserve_access_index));

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */

/* @start: when the block layer began with the request: a note of an earlier one is older */
struct inserted_by {
	__u64 start;
	struct nt_task task;
};

/*
 * Who put a request into a queue of the block layer, by the address of the request. Another task,
 * mostly a worker, may hand it to the driver later: with an I/O scheduler, or when the task that
 * submits it goes to sleep. A request that is handed over at once is not here. The oldest give way:
 * requests that were merged into others stay until then. There is no such map where tasks are not
 * asked for.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64);
	__type(value, struct inserted_by);
} inserted SEC(".maps");

static __always_inline void task_now(struct nt_task *t)
{
	struct task_struct___origin *task = (void *)bpf_get_current_task_btf();
	struct task_struct___origin *leader = task->group_leader;

	t->pid = (__u32)task->tgid | (task->flags & PF_KTHREAD ? NT_TASK_KERNEL : 0);
	/* What is behind the terminator is part of a key of user space. */
	__builtin_memset(t->comm, 0, sizeof(t->comm));
	bpf_probe_read_kernel_str(t->comm, sizeof(t->comm), leader->comm);
}

/*
 * A request of any driver goes into a queue of the block layer. Until the first I/O command is
 * seen, it is not known which requests are of nvme-tcp, and all are noted. @rq: typed
 */
static __always_inline void task_insert(struct request *rq)
{
	__u64 ops = (__u64)rq->q->mq_ops, owner = (__u64)rq;
	const struct nt_learned *l = learned_now();
	struct inserted_by by = {};

	if (!l || (l->mq_ops[0] && ops != l->mq_ops[0] && ops != l->mq_ops[1]))
		return;
	by.start = rq->start_time_ns;
	task_now(&by.task);
	bpf_map_update_elem(&inserted, &owner, &by, BPF_ANY);
}

/* Whether requests have no notes, by knobs alone: see task_take(). */
static __always_inline bool no_notes(void)
{
	return !(nt_knobs.origins & NT_ORIGIN_TASK);
}

/*
 * Takes the note of a request that the driver has got, also if its command is left out: where
 * iostats is off and there is no I/O scheduler, requests have no start time, or an earlier one
 * since Linux 6.18, and the next command of the request would be of who submitted this one. The
 * start may be older than when it was noted: that of a request which was merged into it. @rq: typed
 * @noted: filled; its @pid is 0 if there is no note
 */
static __always_inline void task_take(struct nt_task *noted, struct request *rq)
{
	const struct inserted_by *by;
	__u64 owner = (__u64)rq;

	noted->pid = 0;
	if (no_notes())
		return;
	by = bpf_map_lookup_elem(&inserted, &owner);
	if (!by)
		return;
	if (by->start >= rq->start_time_ns)
		__builtin_memcpy(noted, &by->task, sizeof(*noted));
	bpf_map_delete_elem(&inserted, &owner);
}

/*
 * Fills in who submitted a request that the driver has got from the current task.
 * @again: it is sent again, and @t is filled
 */
static __always_inline void task_begin(struct nt_task *t, const struct nt_task *noted, bool again)
{
	if (!again && noted->pid)
		__builtin_memcpy(t, noted, sizeof(*t));
	else if (!again)
		task_now(t);
}

/*
 * The id of the ancestor of @cgroup that is @level levels below the root.
 * Return: 0 if @cgroup itself is nearer to the root
 */
static __always_inline __u64 ancestor_id(struct cgroup___origin *cgroup, __u32 level)
{
	struct cgroup___origin *ancestor = NULL;
	__u64 id = 0;

	if ((__u32)BPF_CORE_READ(cgroup, level) < level)
		return 0;
	if (bpf_core_field_exists(((struct cgroup___ancestors *)0)->ancestors)) {
		bpf_probe_read_kernel(
			&ancestor, sizeof(ancestor),
			(void *)cgroup +
				bpf_core_field_offset(struct cgroup___ancestors, ancestors) +
				level * sizeof(ancestor));
		return ancestor ? BPF_CORE_READ(ancestor, kn, id) : 0;
	}
	bpf_probe_read_kernel(&id, sizeof(id),
			      (void *)cgroup +
				      bpf_core_field_offset(struct cgroup___ids, ancestor_ids) +
				      level * sizeof(id));
	return id;
}

/* Whether a request belongs to the selected cgroup, or to one below it. */
static __always_inline bool cgroup_selected(struct request *rq)
{
	struct cgroup___origin *cgroup = cgroup_of((void *)rq);

	return cgroup && ancestor_id(cgroup, nt_knobs.only.cgroup_level) == nt_knobs.only.cgroup;
}

/* As sqe_fate(), and by the request as well. */
static __always_inline enum nt_fate request_fate(struct request *rq, struct nvme_command *e,
						 __u32 qid)
{
	enum nt_fate fate = sqe_fate(e, qid);

	if (nt_knobs.selects & NT_BY_CGROUP && fate != NT_LEAVE && !cgroup_selected(rq))
		return NT_LEAVE;
	return fate;
}

/*
 * For a request that ends. Its bio is still there: the block layer ends the bio later. @task: who
 * submitted it
 */
static __always_inline void origin_fill(struct nt_from *from, struct request *rq,
					const struct nt_task *task)
{
	struct cgroup___origin *cgroup;

	from->cgroup = 0;
	from->cpu = NT_CPU_NONE;
	if (nt_knobs.origins & NT_ORIGIN_PLACE) {
		cgroup = cgroup_of((void *)rq);
		from->cgroup = cgroup ? BPF_CORE_READ(cgroup, kn, id) : 0;
		from->cpu = BPF_CORE_READ((struct request___origin *)rq, mq_ctx, cpu);
	}
	if (nt_knobs.origins & NT_ORIGIN_TASK)
		__builtin_memcpy(&from->task, task, sizeof(from->task));
	else
		__builtin_memset(&from->task, 0, sizeof(from->task));
}

#endif /* NTPROF_ORIGIN_BPF_H */
