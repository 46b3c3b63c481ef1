/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who uses the backing disks of a target, with --disks: hosts by NQN, and all others of this
 * machine by cgroup. A disk counts from the first request on that is of nvmet. Requests of
 * all disks come to both programs, which leave those of others after one lookup. A request counts
 * for the one to whom its first bio belongs: the block layer merges no bios of two cgroups, and
 * those of two hosts only where they follow each other. A command that a passthru target hands on
 * to a controller is a request of its host.
 *
 * Context: see disk.bpf.h. All commands count, also those that are not selected or not in a sample.
 */
#ifndef NTPROF_DISK_USE_BPF_H
#define NTPROF_DISK_USE_BPF_H

#include "cgroup.bpf.h"
#include "disk.bpf.h"
#include "shared/disk_use.h"

/* CO-RE: @diskseq since Linux 5.15, as well as the disk of a queue. */
struct gendisk___use {
	__u64 diskseq;
	char disk_name[NT_DISK_NAME_LEN];
} __attribute__((preserve_access_index));
struct request_queue___use {
	struct gendisk___use *disk;
} __attribute__((preserve_access_index));
struct request___use {
	struct bio___plain *bio;
	struct request_queue___use *q;
	__u32 cmd_flags;
	__u32 __data_len;
	__u64 start_time_ns;
	void *end_io;
	void *end_io_data;
} __attribute__((preserve_access_index));

/* Operations of the block layer that have no data (include/linux/blk_types.h). */
#define REQ_OP_BITS 0xff
enum { REQ_OP_DISCARD = 3, REQ_OP_SECURE_ERASE = 5, REQ_OP_WRITE_ZEROES = 9 };

/* By their sequence numbers: the name of each. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NT_DISKS);
	__type(key, __u64);
	__type(value, char[NT_DISK_NAME_LEN]);
} disks SEC(".maps");

/* A request that its driver has: when it was issued, and bytes of its data. */
struct disk_request {
	__u64 ns;
	__u64 bytes;
};

/* By address. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NT_DISK_REQUESTS);
	__type(key, __u64);
	__type(value, struct disk_request);
} disk_requests SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, NT_DISK_USERS);
	__type(key, struct nt_disk_user);
	__type(value, struct nt_disk_use);
} disk_uses SEC(".maps");

/* What an element of @disk_uses is at first. */
static const struct nt_disk_use unused;

/* Typed; NULL for a queue of admin commands. @rq: typed */
static __always_inline struct gendisk___use *use_disk(struct request___use *rq)
{
	return bpf_core_field_exists(rq->q->disk) ? rq->q->disk : NULL;
}

/* Whether there is room for a disk. This is rare. @disk: typed */
static __always_inline bool use_begin(struct gendisk___use *disk, __u64 seq)
{
	struct nt_disk_user others = {.disk = seq, .cgroup = NT_DISK_OTHERS};
	char name[NT_DISK_NAME_LEN] = {};

	bpf_probe_read_kernel_str(name, sizeof(name), disk->disk_name);
	/* Before the disk is there, as it may find no room later. */
	bpf_map_update_elem(&disk_uses, &others, &unused, BPF_NOEXIST);
	return !bpf_map_update_elem(&disks, &seq, name, BPF_ANY);
}

/*
 * The plain address of the struct nvmet_req of a request, 0 if it is not of nvmet. A command that a
 * passthru target hands on is a request without a bio of nvmet. @rq: typed
 */
static __always_inline __u64 use_command(struct request___use *rq)
{
	struct bio___plain *bio = rq->bio;
	__u64 req = bio ? bio_command(bio) : 0;

	if (!req && nt_knobs.passthru_done && (__u64)rq->end_io == nt_knobs.passthru_done)
		req = plain_number((__u64)rq->end_io_data);
	return req;
}

/* Whose a request is. @rq: typed; @u: all zeroes but @disk */
static __always_inline void use_whose(struct nt_disk_user *u, struct request___use *rq)
{
	__u64 req = use_command(rq);
	struct cgroup___origin *cgroup;
	struct nvmet_ctrl *ctrl;

	if (!req && !rq->bio)
		return;
	if (!req) {
		cgroup = cgroup_of((void *)rq);
		u->cgroup = cgroup ? BPF_CORE_READ(cgroup, kn, id) : NT_DISK_NOBODY;
		return;
	}
	u->cgroup = NT_DISK_OF_HOST;
	ctrl = BPF_CORE_READ((struct nvmet_req *)req, sq, ctrl);
	bpf_probe_read_kernel_str(
		u->host, sizeof(u->host),
		(void *)((__u64)ctrl + bpf_core_field_offset(struct nvmet_ctrl, hostnqn)));
}

/* The counts of @u on this CPU, or those of all that found no room, or NULL if these did not. */
static __always_inline struct nt_disk_use *use_of(struct nt_disk_user *u)
{
	struct nt_disk_use *use = bpf_map_lookup_elem(&disk_uses, u);

	if (use)
		return use;
	bpf_map_update_elem(&disk_uses, u, &unused, BPF_NOEXIST);
	use = bpf_map_lookup_elem(&disk_uses, u);
	if (use)
		return use;
	u->cgroup = NT_DISK_OTHERS;
	__builtin_memset(u->host, 0, sizeof(u->host));
	return bpf_map_lookup_elem(&disk_uses, u);
}

/* @rq: typed */
static __always_inline __u64 use_bytes(struct request___use *rq)
{
	__u32 op = rq->cmd_flags & REQ_OP_BITS;

	if (op == REQ_OP_DISCARD || op == REQ_OP_SECURE_ERASE || op == REQ_OP_WRITE_ZEROES)
		return 0;
	return rq->__data_len;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(disk_use_issue, struct request___use *rq)
{
	struct gendisk___use *disk = use_disk(rq);
	__u64 seq, owner = (__u64)rq;
	struct disk_request is, *was;

	if (!disk)
		return 0;
	seq = disk->diskseq;
	if (!bpf_map_lookup_elem(&disks, &seq)) {
		if (!use_command(rq))
			return 0;
		if (!use_begin(disk, seq)) {
			count(NT_CNT_DISKS_FULL);
			return 0;
		}
	}
	is.ns = bpf_ktime_get_ns();
	is.bytes = use_bytes(rq);
	if (!bpf_map_update_elem(&disk_requests, &owner, &is, BPF_NOEXIST))
		return 0;
	/*
	 * A driver that was busy gets a request again: the first time counts. But the end of an
	 * earlier request with this address may have been missed.
	 */
	was = bpf_map_lookup_elem(&disk_requests, &owner);
	if (!was)
		count(NT_CNT_DISKS_FULL);
	else if (was->ns < rq->start_time_ns)
		*was = is;
	return 0;
}

/* Whether this is of the time that figures are of. Attaching and detaching take long. */
static __always_inline bool use_measured(const struct disk_request *is)
{
	__u64 began = nt_control.began_ns;

	return began && is->ns >= began;
}

/* A driver may end a request in parts: it counts with the last one. @rq: typed */
static __always_inline int use_ended(struct request___use *rq, __u32 bytes)
{
	__u64 owner = (__u64)rq, now;
	struct disk_request *is = bpf_map_lookup_elem(&disk_requests, &owner);
	struct nt_disk_user user = {};
	struct gendisk___use *disk;
	struct nt_disk_use *use;

	disk = is ? use_disk(rq) : NULL;
	if (!disk || bytes < rq->__data_len)
		return 0;
	if (!use_measured(is)) {
		bpf_map_delete_elem(&disk_requests, &owner);
		return 0;
	}
	now = bpf_ktime_get_ns();
	user.disk = disk->diskseq;
	use_whose(&user, rq);
	use = use_of(&user);
	if (use) {
		use->requests++;
		use->bytes += is->bytes;
		use->ns += now - is->ns;
	} else {
		count(NT_CNT_DISKS_FULL);
	}
	bpf_map_delete_elem(&disk_requests, &owner);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(disk_use_end, struct request___use *rq, int error, unsigned int bytes)
{
	return use_ended(rq, bytes);
}

/*
 * Some disks end their requests in a task, and others in an interrupt, which may come while the
 * program runs for one of the former.
 */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(disk_use_end_nested, struct request___use *rq, int error, unsigned int bytes)
{
	return use_ended(rq, bytes);
}

#endif /* NTPROF_DISK_USE_BPF_H */
