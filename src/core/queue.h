/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A queue of a connection as one side knows it. This information goes with the side's records from
 * the tracer through the stream to the merge.
 */
#ifndef NTPROF_CORE_QUEUE_H
#define NTPROF_CORE_QUEUE_H

#include <stdint.h>

#include "core/record.h"

/* The form of sysfs, "traddr=...,trsvcid=...". */
#define QUEUE_ADDRESS_LEN 64

/**
 * struct queue_info - identity of a queue
 * @slot, @gen: as in its records; @gen says which of the connections of the slot it is
 * @instance: N of nvmeN on the host, the target's own queue index
 * @cntlid, @qid, @sqsize: controller id, queue id, size of its submission queue (0's based)
 * @subsysnqn, @hostnqn, @address: "" if unknown; @address on the host only
 */
struct queue_info {
	uint32_t slot;
	uint32_t gen;
	uint32_t instance;
	uint16_t cntlid;
	uint16_t qid;
	uint16_t sqsize;
	char subsysnqn[NT_NQN_LEN];
	char hostnqn[NT_NQN_LEN];
	char address[QUEUE_ADDRESS_LEN];
};

#endif /* NTPROF_CORE_QUEUE_H */
