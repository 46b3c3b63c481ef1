/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The points of a target's disk, with --points fine: when a request with a bio of the command is
 * given to the driver of the disk (block_rq_issue), and when the driver has ended it
 * (block_rq_complete).
 *
 * nvmet ends its bios with nvmet_bio_done(), and has them lead to the command. Their addresses come
 * from the loader. A bio that the block layer splits off, and one that nvmet adds to a long
 * transfer, ends with bio_chain_endio() and leads to the bio that it is a part of. A driver that
 * makes a disk of others (dm, md) has bios of its own: its commands have no such points. A command
 * that a passthru target hands on to a controller is a request, which ends with
 * nvmet_passthru_req_done() and leads to it. Where a disk is one of NVMe, its own command is noted.
 *
 * Of files with buffered I/O: when nvmet's worker begins with a command, and whether the page cache
 * answered it. nvmet asks a file system that can say so to answer at once or not at all
 * (IOCB_NOWAIT), and only then queues the command for the worker (nvmet_file_execute_rw()). Other
 * file systems are asked by the worker alone.
 *
 * Context: a request is issued in the task or worker that executes the command, or in another one
 * of the block layer; it ends in any context. Commands of files end in the task that asks.
 */
#ifndef NTPROF_DISK_BPF_H
#define NTPROF_DISK_BPF_H

#include "request.bpf.h"
#include "target_command.bpf.h"

/* CO-RE: the address of a function as a plain pointer. */
struct bio___plain {
	struct bio___plain *bi_next;
	void *bi_end_io;
	void *bi_private;
} __attribute__((preserve_access_index));
struct gendisk___named {
	char disk_name[32];
} __attribute__((preserve_access_index));
struct request_queue___named {
	struct gendisk___named *disk;
} __attribute__((preserve_access_index));
struct request___bios {
	struct bio___plain *bio;
	void *end_io;
	void *end_io_data;
	struct request_queue___named *q;
	struct blk_mq_hw_ctx *mq_hctx;
} __attribute__((preserve_access_index));

/* CO-RE: the disk of a namespace. */
struct gendisk___holds {
	struct list_head___next {
		struct list_head___next *next;
	} slave_bdevs;
} __attribute__((preserve_access_index));
struct block_device___disk {
	struct gendisk___holds *bd_disk;
} __attribute__((preserve_access_index));
struct nvmet_ns___bdev {
	struct block_device___disk *bdev;
	void *file;
	bool buffered_io;
} __attribute__((preserve_access_index));

/* CO-RE: a request to a file. @iocb is of the last time that the file system was asked. */
struct kiocb___asked {
	void *ki_filp;
	int ki_flags;
} __attribute__((preserve_access_index));
struct nvmet_req___file {
	struct {
		struct kiocb___asked iocb;
		struct work_struct___data work;
	} f;
} __attribute__((preserve_access_index));

/* CO-RE: how many bytes of bios a task has submitted. Without CONFIG_TASK_IO_ACCOUNTING empty */
struct task_struct___reads {
	int pid;
	struct {
		__u64 read_bytes;
	} ioac;
} __attribute__((preserve_access_index));

/* Of @ki_flags: IOCB_NOWAIT, which is RWF_NOWAIT of include/uapi/linux/fs.h. */
#define NT_IOCB_NOWAIT 8

/*
 * A request has at most this many bios: two commands of 512 bytes in each KiB of a request of
 * 128 KiB. Commands of those that follow have no points of a disk.
 */
#define NT_BIOS_MAX 256
/* A bio leads to its command by at most this many others: each has 256 pages (BIO_MAX_VECS). */
#define NT_CHAIN_MAX 16

/*
 * The command of a bio that is a part of @bio. Not static, so that it is verified once.
 * @bio: plain address
 * Return: as bio_command()
 */
__noinline __u64 bio_chain_command(__u64 bio)
{
	for (int i = 0; i < NT_CHAIN_MAX; i++) {
		struct bio___plain *b = (void *)bio;
		__u64 end = (__u64)BPF_CORE_READ(b, bi_end_io);

		bio = (__u64)BPF_CORE_READ(b, bi_private);
		if (end == nt_knobs.bio_done)
			return bio;
		if (end != nt_knobs.bio_chained)
			return 0;
	}
	return 0;
}

/* The plain address of the struct nvmet_req of a bio, 0 if it is not of nvmet. @bio: typed */
static __always_inline __u64 bio_command(struct bio___plain *bio)
{
	__u64 end = (__u64)bio->bi_end_io;

	if (end == nt_knobs.bio_done)
		return plain_number((__u64)bio->bi_private);
	if (nt_knobs.bio_chained && end == nt_knobs.bio_chained)
		return bio_chain_command(plain_number((__u64)bio->bi_private));
	return 0;
}

/*
 * A request with a bio of a command is issued or ended at @now. The first issue and the last end
 * count. Not static, so that it is verified once.
 * @req: plain address of the struct nvmet_req, which need not be of TCP
 * @point: enum nt_disk_point
 * @disk: see nt_disk_command()
 */
__noinline int disk_reach(__u64 req, __u32 point, __u64 now, __u32 disk)
{
	__u64 cmd = req - bpf_core_field_offset(struct nvmet_tcp_cmd, req);
	struct nt_cmd *c = cmd_of_plain((void *)cmd);
	__u64 *points;

	if (!c)
		return 0;
	points = c->r.points;
	if (!points[NT_T_EXEC] || points[NT_T_DONE])
		return 0;
	if (point == NT_TD_ISSUE) {
		if (points[NT_TD_ISSUE])
			return 0;
		points[NT_TD_ISSUE] = now;
		c->r.disk = disk;
		cpu_note(owner_of(c), NT_TC_DISK_ISSUE);
	} else if (points[NT_TD_ISSUE] && now > points[NT_TD_DONE]) {
		points[NT_TD_DONE] = now;
		cpu_note(owner_of(c), NT_TC_DISK_DONE);
	}
	return 0;
}

/* Whether a disk is made of others: its list of these is not empty. @disk: plain address */
static __always_inline bool is_stacked(struct gendisk___holds *disk)
{
	__u64 list = (__u64)disk + bpf_core_field_offset(struct gendisk___holds, slave_bdevs);

	return bpf_core_field_exists(disk->slave_bdevs) &&
	       (__u64)BPF_CORE_READ(disk, slave_bdevs.next) != list;
}

/* Whether a file system was asked last to answer at once or not at all. */
static __always_inline bool asked_at_once(struct nvmet_req___file *req)
{
	return BPF_CORE_READ(req, f.iocb.ki_flags) & NT_IOCB_NOWAIT;
}

/*
 * The worker begins with command @c. If the file system was asked before, it could not answer at
 * once. Then it has begun to read already: what the worker reads tells nothing. Otherwise the
 * request still has what an earlier one to a file left there, which may be another file.
 * @req: plain address
 */
static __always_inline void file_begins(struct nt_cmd *c, struct nvmet_req *req)
{
	struct task_struct___reads *task = (void *)bpf_get_current_task_btf();
	struct nvmet_ns___bdev *ns = (void *)BPF_CORE_READ(req, ns);
	struct nvmet_req___file *asked = (void *)req;

	c->reader = 0;
	if (!asked_at_once(asked) ||
	    BPF_CORE_READ(asked, f.iocb.ki_filp) != BPF_CORE_READ(ns, file)) {
		if (!bpf_core_field_exists(task->ioac.read_bytes))
			return;
		c->reader = task->pid;
		c->read = (__u32)task->ioac.read_bytes;
	}
	c->r.points[NT_TD_ISSUE] = bpf_ktime_get_ns();
	cpu_note(owner_of(c), NT_TC_DISK_ISSUE);
}

/*
 * Notes how the file of a read or write was asked that has been executed.
 * @req: plain address
 * Return: false if that is not known: direct I/O, or the worker was not seen to begin
 */
static __always_inline bool file_executed(struct nt_cmd *c, struct nvmet_req *req)
{
	struct task_struct___reads *task = (void *)bpf_get_current_task_btf();

	if (c->r.op != NT_OP_READ && c->r.op != NT_OP_WRITE)
		return false;
	if (asked_at_once((void *)req)) {
		c->r.flags |= NT_F_FILE | NT_F_CACHED;
		return true;
	}
	if (!c->r.points[NT_TD_ISSUE])
		return false;
	c->r.flags |= NT_F_FILE;
	if (c->r.op == NT_OP_READ && c->reader && c->reader == (__u32)task->pid &&
	    bpf_core_field_exists(task->ioac.read_bytes) && c->read == (__u32)task->ioac.read_bytes)
		c->r.flags |= NT_F_CACHED;
	return true;
}

/*
 * The disk of command @c was not seen, or not to end. If the command has one, or a file, it is
 * counted why. This is rare, or else the disk is slow anyway.
 * @req: plain address
 */
static __always_inline void disk_count(struct nt_cmd *c, struct nvmet_req *req)
{
	struct nvmet_ns___bdev *ns = (void *)BPF_CORE_READ(req, ns);
	struct block_device___disk *bdev;
	struct gendisk___holds *disk;

	if (!ns || c->r.flags & NT_F_ADMIN_QUEUE)
		return;
	bdev = BPF_CORE_READ(ns, bdev);
	if (!bdev && BPF_CORE_READ(ns, buffered_io) && file_executed(c, req))
		return;
	disk = bdev ? BPF_CORE_READ(bdev, bd_disk) : NULL;
	count(disk && is_stacked(disk) ? NT_CNT_DISK_STACKED : NT_CNT_DISK_UNSEEN);
}

/*
 * To executed: command @c, in flight, has its point done.
 * @req: typed
 */
static __always_inline void disk_executed(struct nt_cmd *c, struct nvmet_req *req)
{
	c->r.points[NT_T_DONE] = bpf_ktime_get_ns();
	if (!nt_knobs.fine)
		return;
	cpu_note(owner_of(c), NT_TC_DONE);
	if (nt_knobs.disk_points && !c->r.points[NT_TD_DONE] && !req->cqe->status)
		disk_count(c, (void *)plain_number((__u64)req));
}

/*
 * What a request is to a disk of NVMe, of any transport: see nt_disk_command(). The driver has
 * prepared it before it says that it is issued.
 * @rq: typed
 */
static __always_inline __u32 disk_command(struct request___bios *rq)
{
	struct nvme_request *req = nvme_part((struct request *)rq);
	struct gendisk___named *disk;

	if (!bpf_core_field_exists(((struct nvme_request *)0)->cmd) ||
	    !bpf_core_field_exists(rq->q->disk))
		return 0;
	/* Where nvme_core is not loaded no program may get to the offsets below. */
	asm volatile("" : "+r"(req));
	disk = rq->q->disk;
	if (!disk || disk->disk_name[0] != 'n' || disk->disk_name[1] != 'v' ||
	    disk->disk_name[2] != 'm' || disk->disk_name[3] != 'e')
		return 0;
	return NT_DISK_COMMAND(rq->mq_hctx->queue_num + 1,
			       BPF_CORE_READ(req, cmd, common.command_id));
}

/*
 * Requests of all disks come here: what is not nvmet's is left after one look at its first bio, or
 * at what it ends with.
 * @rq: typed
 */
static __always_inline int disk_reached(struct request___bios *rq, __u32 point)
{
	struct bio___plain *bio = rq->bio;
	__u64 now = 0, req;
	__u32 disk = 0;

	for (int i = 0; i < NT_BIOS_MAX && bio; i++) {
		req = bio_command(bio);
		if (!req && !i)
			break;
		if (!now) {
			now = bpf_ktime_get_ns();
			disk = point == NT_TD_ISSUE ? disk_command(rq) : 0;
		}
		if (req)
			disk_reach(req, point, now, disk);
		bio = bio->bi_next;
	}
	if (nt_knobs.passthru_done && !now && (__u64)rq->end_io == nt_knobs.passthru_done)
		disk_reach(plain_number((__u64)rq->end_io_data), point, bpf_ktime_get_ns(),
			   point == NT_TD_ISSUE ? disk_command(rq) : 0);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int NT_PROG_MEASURING(disk_issue, struct request___bios *rq)
{
	return disk_reached(rq, NT_TD_ISSUE);
}

SEC("tp_btf/block_rq_complete")
int NT_PROG_MEASURING(disk_done, struct request___bios *rq)
{
	return disk_reached(rq, NT_TD_DONE);
}

SEC("fentry/nvmet_file_buffered_io_work")
int NT_PROG_MEASURING(file_work, struct work_struct___data *work)
{
	__u64 req = plain_argument(ctx, 0) - bpf_core_field_offset(struct nvmet_req___file, f.work);
	__u64 cmd = req - bpf_core_field_offset(struct nvmet_tcp_cmd, req);
	struct nt_cmd *c = cmd_of_plain((void *)cmd);

	if (c && c->r.points[NT_T_EXEC] && !c->r.points[NT_T_DONE])
		file_begins(c, (void *)req);
	return 0;
}

#endif /* NTPROF_DISK_BPF_H */
