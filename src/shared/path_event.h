/* SPDX-License-Identifier: GPL-2.0-only */
/* What happened to a controller of a host, as bpf/path_events.bpf.h sees it. */
#ifndef NTPROF_SHARED_PATH_EVENT_H
#define NTPROF_SHARED_PATH_EVENT_H

#include "shared/record.h"

enum nt_path_kind {
	NT_PATH_STATE,	    /* it has another state */
	NT_PATH_FAILED,	    /* an attempt to reconnect failed */
	NT_PATH_TIMEOUT,    /* a command was in flight for too long */
	NT_PATH_KEEP_ALIVE, /* the same of a Keep Alive */
	NT_PATH_ANA,	    /* a group of namespaces has another state for this path */
	NT_PATH_KINDS_NR
};

/* enum nvme_ctrl_state (drivers/nvme/host/nvme.h), from 5.14 to 7.3. */
enum nt_path_state {
	NT_PATH_NEW,
	NT_PATH_LIVE,
	NT_PATH_RESETTING,
	NT_PATH_CONNECTING,
	NT_PATH_DELETING,
	NT_PATH_DELETING_NOIO,
	NT_PATH_DEAD,
	NT_PATH_STATES_NR
};

/**
 * struct nt_path_event - an event; members that its kind does not have are 0
 * @ns: CLOCK_MONOTONIC
 * @instance: N of nvmeN
 * @kind: enum nt_path_kind
 * @state: enum nt_path_state; of NT_PATH_ANA the state of the group (NVMe 2.0, 5.16.1.13)
 * @attempts: attempts to reconnect so far, of NT_PATH_STATE and NT_PATH_FAILED
 * @queues: of NT_PATH_STATE: queues that it has, the admin queue included
 * @group: of NT_PATH_ANA: its identifier
 * @cntlid: controller id
 * @qid, @cid, @opcode: of a command that was in flight for too long
 * @subsysnqn: of its subsystem
 * @input: set by user space alone: number of the stream that it is from
 */
struct nt_path_event {
	__u64 ns;
	__u32 instance;
	__u16 kind;
	__u16 state;
	__u32 attempts;
	__u32 queues;
	__u32 group;
	__u16 cntlid;
	__u16 qid;
	__u16 cid;
	__u16 opcode;
	char subsysnqn[NT_NQN_LEN];
	__u32 input;
};

#endif /* NTPROF_SHARED_PATH_EVENT_H */
