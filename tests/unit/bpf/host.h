/* SPDX-License-Identifier: GPL-2.0-only */
/* The host's programs and their maps. */
#ifndef NTPROF_TESTS_BPF_HOST_H
#define NTPROF_TESTS_BPF_HOST_H

#define PROGRAMS "host.bpf.c"
#include "bpf/kernel.h"

/* The map of requests that wait in the block layer. */
#define INSERTED_MAX 4
static struct {
	__u64 rq; /* 0: free */
	struct inserted_by by;
} waiting[INSERTED_MAX];

/* @rq: 0: a free place. Return: INSERTED_MAX: none */
static unsigned int waiting_at(__u64 rq)
{
	unsigned int i = 0;

	while (i < INSERTED_MAX && waiting[i].rq != rq)
		i++;
	return i;
}

void *bpf_map_lookup_elem(void *map, const void *key)
{
	bool found;
	void *value;

	if (map == &inserted) {
		unsigned int at = waiting_at(*(const __u64 *)key);

		return at < INSERTED_MAX ? &waiting[at].by : NULL;
	}
	value = lookup(map, key, &found);

	if (found)
		return value;
	assert_ptr_equal(map, &controllers);
	return entry(kernel.controllers, sizeof(kernel.controllers[0]), SLOTS, key);
}

long bpf_map_delete_elem(void *map, const void *key)
{
	unsigned int at = waiting_at(*(const __u64 *)key);

	assert_ptr_equal(map, &inserted);
	assert_uint_in_range(at, 0, INSERTED_MAX - 1);
	waiting[at].rq = 0;
	return 0;
}

long bpf_map_update_elem(void *map, const void *key, const void *value, __u64 flags)
{
	unsigned int at;

	if (map == &inserted) {
		assert_int_equal(flags, BPF_ANY);
		at = waiting_at(*(const __u64 *)key);
		if (at == INSERTED_MAX)
			at = waiting_at(0);
		assert_uint_in_range(at, 0, INSERTED_MAX - 1);
		waiting[at].rq = *(const __u64 *)key;
		memcpy(&waiting[at].by, value, sizeof(waiting[at].by));
		return 0;
	}
	assert_ptr_equal(map, &errors);
	assert_int_equal(flags, BPF_NOEXIST);
	return error_update(key, value);
}

/*
 * Fills in what the block layer and the driver know of a request with the entry @sqe. The caller
 * has set the hardware context of @rq and its tag.
 */
static inline void request_make(struct request *rq, struct nvme_tcp_request *req,
				const struct nvme_command *sqe)
{
	__u8 opcode = sqe->common.opcode;

	rq->cmd_flags = opcode == NVME_CMD_READ	   ? REQ_OP_READ
			: opcode == NVME_CMD_WRITE ? REQ_OP_WRITE
						   : REQ_OP_WRITE + 1;
	rq->__data_len = sqe->common.dptr.sgl.length;
	rq->mq_hctx->driver_data = req->queue;
	req->req.genctr = sqe->common.command_id >> NVME_CID_TAG_BITS;
}

#endif /* NTPROF_TESTS_BPF_HOST_H */
