/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs that see what waits for a worker: see worker.bpf.h. They are the same for both
 * sources, and return after one lookup for a queue of which no command was seen.
 *
 * NT_DRIVER: the beginning of the names of the driver's functions. NT_DRIVER_QUEUE: its structure
 * for a queue.
 */
#ifndef NTPROF_WORKER_PROGRAMS_BPF_H
#define NTPROF_WORKER_PROGRAMS_BPF_H

SEC("fentry/" NT_DRIVER "_data_ready")
int BPF_PROG(data_ready, struct sock *sk)
{
	struct nt_queue *q;
	__u32 slot;

	q = queue_by_address((__u64)sk->sk_user_data, &slot);
	if (q)
		worker_told(q, sk);
	return 0;
}

/* The queue whose work is the argument of a program. */
static __always_inline struct nt_queue *queue_that_works(void *ctx)
{
	__u32 slot;

	return queue_by_address(
		plain_argument(ctx, 0) - bpf_core_field_offset(NT_DRIVER_QUEUE, io_work), &slot);
}

SEC("fentry/" NT_DRIVER "_io_work")
int BPF_PROG(io_work, struct work_struct___data *work)
{
	struct nt_queue *q = queue_that_works(ctx);

	if (q)
		worker_begins(q);
	return 0;
}

SEC("fexit/" NT_DRIVER "_io_work")
int BPF_PROG(io_work_end, struct work_struct___data *work)
{
	struct nt_queue *q = queue_that_works(ctx);

	if (q)
		worker_ends(q, work);
	return 0;
}

#endif /* NTPROF_WORKER_PROGRAMS_BPF_H */
