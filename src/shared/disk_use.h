/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the backing disks of a target are used for, and by whom, as bpf/disk_use.bpf.h counts it:
 * see --disks.
 */
#ifndef NTPROF_SHARED_DISK_USE_H
#define NTPROF_SHARED_DISK_USE_H

#include "shared/record.h"

/* Disks of one target. Those that come later are not counted, see NT_CNT_DISKS_FULL. */
#define NT_DISKS 128
/* Users of all of them, each with its counts on each CPU. Later ones are counted together. */
#define NT_DISK_USERS 1024
/* Requests that drivers of these disks have at a time: as many as 16 disks with 1,024 places. */
#define NT_DISK_REQUESTS 16384
/* DISK_NAME_LEN in include/linux/blkdev.h */
#define NT_DISK_NAME_LEN 32

/* The block layer's own requests, such as flushes: they have no bio. */
#define NT_DISK_NOBODY 0ULL
/* Users that found no room. */
#define NT_DISK_OTHERS (~0ULL)
/* A host: its NQN can be empty, as nvmet asks for none. */
#define NT_DISK_OF_HOST (~1ULL)

/**
 * struct nt_disk_user - who uses which disk
 * @disk: its sequence number, which no other disk gets (struct gendisk, @diskseq)
 * @cgroup: id of the cgroup that the first bio of a request belongs to, NT_DISK_NOBODY,
 *          NT_DISK_OTHERS or NT_DISK_OF_HOST
 * @host: NQN of the host whose command it is; "" if it is not nvmet's
 */
struct nt_disk_user {
	__u64 disk;
	__u64 cgroup;
	char host[NT_NQN_LEN];
};

/**
 * struct nt_disk_use - what it did there
 * @requests: that have ended
 * @bytes: of their data
 * @ns: from issue to end, the sum of all of them
 */
struct nt_disk_use {
	__u64 requests;
	__u64 bytes;
	__u64 ns;
};

#endif /* NTPROF_SHARED_DISK_USE_H */
