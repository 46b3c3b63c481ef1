// SPDX-License-Identifier: GPL-2.0-only
/* When requests of a target's disk are issued and end, and how files are asked (--points fine). */
#include "bpf/target.h"

#define COMMANDS 3
#include "bpf/target_machine.h"
#include "bpf/target_steps.h"

/* What the driver and the block layer call when a bio ends, and what others have called. */
enum {
	NVMET_BIO_DONE = 0x1000,
	BIO_CHAIN_ENDIO = 0x2000,
	CLONE_ENDIO = 0x3000,
	PASSTHRU_DONE = 0x4000,
};

static struct {
	struct gendisk___holds disk;
	struct block_device___disk bdev;
	struct nvmet_ns___bdev ns;
	struct bio___plain bio[300];
	struct gendisk___named named;
	struct request_queue___named queue;
	struct blk_mq_hw_ctx hctx;
	struct nvme_command sqe; /* the disk's own */
	/* A driver's part is directly behind the request: blk_mq_rq_to_pdu() */
	union {
		struct request___bios rq;
		struct {
			struct request whole;
			struct nvme_request nvme;
		};
	};
} disk;

/* The next read of the clock gives @t. */
static void clock_at(__u64 t)
{
	kernel.now = t - 100;
}

static const struct nt_record *record_of(int tag)
{
	return &cmd_at(*index_of((__u64)&m.cmd[0][tag]))->r;
}

static __u64 disk_point(int tag, enum nt_disk_point point)
{
	return record_of(tag)->points[point];
}

/* Command @tag is executed at @t. */
static void executes(int tag, __u8 opcode, __u64 t)
{
	struct nvmet_tcp_cmd *cmd = &m.cmd[0][tag];

	m.sqe[0][tag] = (struct nvme_command){.common = {.opcode = opcode, .nsid = 1}};
	m.sqe[0][tag].common.dptr.sgl.length = opcode == NVME_CMD_FLUSH ? 0 : 4096;
	cmd->queue = &m.queue[0];
	cmd->req = (struct nvmet_req){.cmd = &m.sqe[0][tag],
				      .cqe = &m.cqe,
				      .sq = &m.queue[0].nvme_sq,
				      .ns = (void *)&disk.ns,
				      .ops = &m.ops,
				      .transfer_len = 4096};
	clock_at(t - 1000);
	capsule_comes(cmd, 0);
	clock_at(t);
	execution_begins(cmd, true, 0);
}

static void ends(int tag, __u64 t)
{
	clock_at(t);
	answer_is_queued(&m.cmd[0][tag], false);
}

/* Bio @i is the one of command @tag that ends it. */
static struct bio___plain *bio_of(int i, int tag)
{
	disk.bio[i] = (struct bio___plain){
		.bi_end_io = (void *)NVMET_BIO_DONE,
		.bi_private = &m.cmd[0][tag].req,
	};
	return &disk.bio[i];
}

/* Bio @i is a part of @parent. */
static struct bio___plain *bio_part(int i, struct bio___plain *parent)
{
	disk.bio[i] = (struct bio___plain){
		.bi_end_io = (void *)BIO_CHAIN_ENDIO,
		.bi_private = parent,
	};
	return &disk.bio[i];
}

static void issue(struct bio___plain *bio, __u64 t)
{
	disk.rq.bio = bio;
	clock_at(t);
	disk_issue(NULL, &disk.rq);
}

static void complete(struct bio___plain *bio, __u64 t)
{
	disk.rq.bio = bio;
	clock_at(t);
	disk_done(NULL, &disk.rq);
}

static int setup(void **state)
{
	target_make();
	connection_make(0, 0);
	m.ctrl[0].cntlid = 5;
	m.queue[0].nvme_sq.ctrl = &m.ctrl[0];
	m.queue[0].nvme_sq.qid = 1;
	memset(&disk, 0, sizeof(disk));
	strcpy(disk.named.disk_name, "nullb0");
	disk.queue.disk = &disk.named;
	disk.rq.q = &disk.queue;
	disk.rq.mq_hctx = &disk.hctx;
	disk.nvme.cmd = &disk.sqe;
	disk.disk.slave_bdevs.next = &disk.disk.slave_bdevs;
	disk.bdev.bd_disk = &disk.disk;
	disk.ns.bdev = &disk.bdev;
	nt_knobs.bio_done = NVMET_BIO_DONE;
	nt_knobs.bio_chained = BIO_CHAIN_ENDIO;
	nt_knobs.fine = nt_knobs.no_outs = nt_knobs.disk_points = true;
	run.source = (enum source)(uintptr_t)*state;
	return 0;
}

static int teardown(void **state)
{
	nt_knobs.bio_done = nt_knobs.bio_chained = nt_knobs.passthru_done = 0;
	nt_knobs.fine = nt_knobs.no_outs = nt_knobs.disk_points = false;
	return 0;
}

static int setup_stock(void **state)
{
	*state = (void *)FUNCTIONS;
	return setup(state);
}

static int setup_patched(void **state)
{
	*state = (void *)TRACEPOINTS;
	return setup(state);
}

static void a_request_is_issued_and_ends(void **state)
{
	executes(0, NVME_CMD_READ, 5000);
	issue(bio_of(0, 0), 7000);
	assert_int_equal(disk_point(0, NT_TD_ISSUE), 7000);
	assert_int_equal(disk_point(0, NT_TD_DONE), 0);
	complete(&disk.bio[0], 9000);
	ends(0, 9500);
	assert_int_equal(disk_point(0, NT_TD_DONE), 9000);
	assert_int_equal(record_of(0)->points[NT_T_DONE], 9500);
	assert_int_equal(counted(NT_CNT_DISK_UNSEEN), 0);

	/* The next command in its place begins without them. */
	executes(0, NVME_CMD_READ, 15000);
	assert_int_equal(disk_point(0, NT_TD_ISSUE), 0);
	assert_int_equal(disk_point(0, NT_TD_DONE), 0);
}

static void requests_that_were_merged_are_of_all_their_commands(void **state)
{
	executes(0, NVME_CMD_WRITE, 5000);
	executes(1, NVME_CMD_WRITE, 6000);
	executes(2, NVME_CMD_WRITE, 6500);
	bio_of(0, 0)->bi_next = bio_of(1, 1);
	/* One of somebody else, in the middle of it. */
	disk.bio[1].bi_next = &disk.bio[2];
	disk.bio[2] = (struct bio___plain){.bi_end_io = (void *)CLONE_ENDIO,
					   .bi_private = &m.cmd[0][2].req,
					   .bi_next = bio_of(3, 2)};
	issue(&disk.bio[0], 8000);
	complete(&disk.bio[0], 9000);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(disk_point(i, NT_TD_ISSUE), 8000);
		assert_int_equal(disk_point(i, NT_TD_DONE), 9000);
	}
}

static void the_first_issue_and_the_last_end_count(void **state)
{
	executes(0, NVME_CMD_WRITE, 5000);
	bio_of(0, 0);
	/* The front was split off. The driver was busy first, and part of it ends before the rest.
	 */
	issue(bio_part(1, &disk.bio[0]), 6000);
	issue(&disk.bio[1], 7000);
	issue(&disk.bio[0], 7100);
	complete(&disk.bio[0], 8000);
	complete(&disk.bio[1], 8500);
	complete(&disk.bio[1], 9000);
	ends(0, 9500);
	assert_int_equal(disk_point(0, NT_TD_ISSUE), 6000);
	assert_int_equal(disk_point(0, NT_TD_DONE), 9000);
}

static void a_long_transfer_is_a_chain_of_bios(void **state)
{
	struct bio___plain *last = bio_of(0, 0);

	executes(0, NVME_CMD_WRITE, 5000);
	for (int i = 1; i < NT_CHAIN_MAX + 1; i++)
		last = bio_part(i, last);
	issue(last, 6000);
	assert_int_equal(disk_point(0, NT_TD_ISSUE), 6000);
	complete(last, 7000);
	assert_int_equal(disk_point(0, NT_TD_DONE), 7000);

	/* One that is too long, or not a command's. */
	executes(1, NVME_CMD_WRITE, 15000);
	last = bio_of(0, 1);
	for (int i = 1; i < NT_CHAIN_MAX + 2; i++)
		last = bio_part(i, last);
	issue(last, 16000);
	assert_int_equal(disk_point(1, NT_TD_ISSUE), 0);
	disk.bio[0].bi_end_io = (void *)CLONE_ENDIO;
	issue(&disk.bio[1], 17000);
	assert_int_equal(disk_point(1, NT_TD_ISSUE), 0);
}

static void bios_past_the_most_of_a_request_are_left_out(void **state)
{
	executes(0, NVME_CMD_WRITE, 5000);
	executes(1, NVME_CMD_WRITE, 6000);
	for (int i = 0; i < NT_BIOS_MAX; i++)
		bio_of(i, 0)->bi_next = &disk.bio[i + 1];
	bio_of(NT_BIOS_MAX, 1);
	issue(&disk.bio[0], 8000);
	assert_int_equal(disk_point(0, NT_TD_ISSUE), 8000);
	assert_int_equal(disk_point(1, NT_TD_ISSUE), 0);
	issue(&disk.bio[1], 8100);
	assert_int_equal(disk_point(1, NT_TD_ISSUE), 8100);
}

static void requests_of_others_are_left_at_once(void **state)
{
	__u64 now;

	executes(0, NVME_CMD_READ, 5000);
	disk.bio[0] = (struct bio___plain){.bi_end_io = (void *)CLONE_ENDIO,
					   .bi_private = &m.cmd[0][0].req,
					   .bi_next = bio_of(1, 0)};
	now = kernel.now;
	issue(&disk.bio[0], now + 100);
	complete(&disk.bio[0], now + 100);
	issue(NULL, now + 100);
	/* The clock was not read. */
	assert_int_equal(kernel.now, now);
	assert_int_equal(disk_point(0, NT_TD_ISSUE), 0);
}

static void what_is_not_of_the_execution_is_no_point(void **state)
{
	struct nvmet_tcp_cmd other = {.queue = &m.queue[0]};

	/* An end whose issue was not seen. */
	executes(0, NVME_CMD_READ, 5000);
	complete(bio_of(0, 0), 6000);
	assert_int_equal(disk_point(0, NT_TD_DONE), 0);
	ends(0, 7000);
	assert_int_equal(counted(NT_CNT_DISK_UNSEEN), 1);
	/* It was executed. */
	issue(&disk.bio[0], 8000);
	assert_int_equal(disk_point(0, NT_TD_ISSUE), 0);

	/* A command that was not seen to begin, of this or another transport. */
	bio_of(0, 0)->bi_private = &other.req;
	issue(&disk.bio[0], 9000);
	complete(&disk.bio[0], 9000);
	assert_int_equal(disk_point(0, NT_TD_ISSUE), 0);
}

static void commands_without_points_are_counted_by_their_disk(void **state)
{
	/* A disk that takes bios, not requests. */
	executes(0, NVME_CMD_READ, 5000);
	ends(0, 6000);
	assert_int_equal(counted(NT_CNT_DISK_UNSEEN), 1);
	/* One that is made of others. */
	disk.disk.slave_bdevs.next = (void *)&disk.bdev;
	executes(0, NVME_CMD_READ, 5000);
	issue(NULL, 5500);
	ends(0, 6000);
	assert_int_equal(counted(NT_CNT_DISK_STACKED), 1);
	assert_int_equal(counted(NT_CNT_DISK_UNSEEN), 1);
	/* A file. */
	disk.ns.bdev = NULL;
	executes(0, NVME_CMD_WRITE, 5000);
	ends(0, 6000);
	assert_int_equal(counted(NT_CNT_DISK_UNSEEN), 2);
	/* It failed. */
	executes(0, NVME_CMD_READ, 5000);
	m.cqe.status = 2 << 1;
	ends(0, 6000);
	m.cqe.status = 0;
	/* It has no namespace. */
	executes(0, NVME_CMD_WRITE, 5000);
	m.cmd[0][0].req.ns = NULL;
	ends(0, 6000);
	/* It is an admin command. */
	m.queue[0].nvme_sq.qid = 0;
	executes(0, NVME_CMD_WRITE, 5000);
	ends(0, 6000);
	m.queue[0].nvme_sq.qid = 1;
	/* Points of a disk are not asked for. */
	nt_knobs.fine = nt_knobs.no_outs = nt_knobs.disk_points = false;
	executes(0, NVME_CMD_READ, 5000);
	ends(0, 6000);
	assert_int_equal(counted(NT_CNT_DISK_UNSEEN), 2);
	assert_int_equal(counted(NT_CNT_DISK_STACKED), 1);
}

static void a_command_is_handed_on_to_a_controller(void **state)
{
	nt_knobs.passthru_done = PASSTHRU_DONE;
	disk.rq.end_io = (void *)PASSTHRU_DONE;
	disk.rq.end_io_data = &m.cmd[0][0].req;
	executes(0, NVME_CMD_READ, 5000);
	m.cmd[0][0].req.ns = NULL;
	disk.bio[0] = (struct bio___plain){.bi_end_io = (void *)CLONE_ENDIO};
	issue(&disk.bio[0], 7000);
	complete(&disk.bio[0], 9000);
	ends(0, 9500);
	assert_int_equal(disk_point(0, NT_TD_ISSUE), 7000);
	assert_int_equal(disk_point(0, NT_TD_DONE), 9000);
	/* One without data. */
	executes(0, NVME_CMD_FLUSH, 15000);
	issue(NULL, 17000);
	complete(NULL, 19000);
	assert_int_equal(disk_point(0, NT_TD_ISSUE), 17000);
	/* A request of somebody else, which its owner's function ends. */
	disk.rq.end_io = (void *)CLONE_ENDIO;
	executes(0, NVME_CMD_READ, 25000);
	issue(&disk.bio[0], 27000);
	assert_int_equal(disk_point(0, NT_TD_ISSUE), 0);
	/* This kernel has no such targets. */
	nt_knobs.passthru_done = 0;
	disk.rq.end_io = NULL;
	issue(&disk.bio[0], 28000);
	assert_int_equal(disk_point(0, NT_TD_ISSUE), 0);
}

/* As its record has it when it is handed over. */
static __u32 command_at_disk(int tag)
{
	struct nt_record r = *record_of(tag);

	r.side = NT_TARGET;
	return nt_disk_command(&r);
}

static void a_disk_of_nvme_has_a_command_of_its_own(void **state)
{
	disk.hctx.queue_num = 2;
	disk.sqe.common.command_id = 0x7011;
	/* This one is none of NVMe. */
	executes(0, NVME_CMD_READ, 5000);
	issue(bio_of(0, 0), 7000);
	complete(&disk.bio[0], 9000);
	assert_int_equal(command_at_disk(0), 0);
	strcpy(disk.named.disk_name, "nvme3n1");
	executes(1, NVME_CMD_READ, 15000);
	issue(bio_of(1, 1), 17000);
	/* The command is that of the request that was issued first. */
	disk.sqe.common.command_id = 0x7012;
	issue(&disk.bio[1], 17500);
	assert_int_equal(command_at_disk(1), 0);
	complete(&disk.bio[1], 19000);
	assert_int_equal(command_at_disk(1), NT_DISK_COMMAND(3, 0x7011));
	/* Its place has another command, which is given to no disk. */
	ends(1, 19500);
	executes(1, NVME_CMD_READ, 25000);
	assert_int_equal(command_at_disk(1), 0);
	/* A command that a passthru target hands on. */
	nt_knobs.passthru_done = PASSTHRU_DONE;
	disk.rq.end_io = (void *)PASSTHRU_DONE;
	disk.rq.end_io_data = &m.cmd[0][2].req;
	executes(2, NVME_CMD_FLUSH, 35000);
	issue(NULL, 37000);
	complete(NULL, 39000);
	assert_int_equal(command_at_disk(2), NT_DISK_COMMAND(3, 0x7012));
}

/*
 * Files. Here a request's iocb lies over other members: ki_filp is @cmd, and ki_flags is the low
 * half of @cqe, of which IOCB_NOWAIT is bit 3.
 */
static struct {
	struct nvme_completion waits __attribute__((aligned(16)));
	struct {
		__u64 before;
		struct nvme_completion at_once;
	} __attribute__((aligned(16)));
} cqes;

/* The file system is asked for command @tag: at once or not at all, or until it is answered. */
static void file_asked(int tag, bool at_once)
{
	m.cmd[0][tag].req.cqe = at_once ? &cqes.at_once : &cqes.waits;
}

static void file_executes(int tag, __u8 opcode, __u64 t)
{
	disk.ns.bdev = NULL;
	disk.ns.file = &m.sqe[0][tag];
	disk.ns.buffered_io = true;
	executes(tag, opcode, t);
	file_asked(tag, false);
}

/* The worker begins with command @tag at @t, and asks the file system. */
static void worker_begins_with(int tag, struct task_struct___reads *worker, __u64 t)
{
	struct nvmet_req___file *req = (void *)&m.cmd[0][tag].req;
	__u64 args[] = {(__u64)&req->f.work};

	kernel.task = worker;
	clock_at(t);
	file_work(args, (void *)args[0]);
	file_asked(tag, false);
}

#define FILE_FLAGS (NT_F_FILE | NT_F_CACHED)

static void assert_file(int tag, __u32 flags, __u64 began)
{
	assert_int_equal(record_of(tag)->flags & FILE_FLAGS, flags);
	assert_int_equal(disk_point(tag, NT_TD_ISSUE), began);
	assert_int_equal(disk_point(tag, NT_TD_DONE), 0);
	assert_int_equal(counted(NT_CNT_DISK_UNSEEN), 0);
}

static void a_file_answers_at_once(void **state)
{
	file_executes(0, NVME_CMD_READ, 5000);
	file_asked(0, true);
	ends(0, 6000);
	assert_file(0, NT_F_FILE | NT_F_CACHED, 0);
	file_executes(0, NVME_CMD_WRITE, 15000);
	file_asked(0, true);
	ends(0, 16000);
	assert_file(0, NT_F_FILE | NT_F_CACHED, 0);
}

/* What was asked at once has begun to read: that the worker itself reads nothing says nothing. */
static void a_file_that_could_not_answer_at_once_had_to_read(void **state)
{
	struct task_struct___reads worker = {.pid = 7};

	file_executes(0, NVME_CMD_READ, 5000);
	file_asked(0, true);
	worker_begins_with(0, &worker, 7000);
	ends(0, 9000);
	assert_file(0, NT_F_FILE, 7000);
}

static void a_file_that_only_the_worker_asks_has_read_what_the_worker_has(void **state)
{
	struct task_struct___reads worker = {.pid = 7, .ioac = {.read_bytes = 5ULL << 32}};
	struct task_struct___reads other = worker;

	file_executes(0, NVME_CMD_READ, 5000);
	worker_begins_with(0, &worker, 7000);
	ends(0, 9000);
	assert_file(0, NT_F_FILE | NT_F_CACHED, 7000);

	file_executes(0, NVME_CMD_READ, 15000);
	worker_begins_with(0, &worker, 17000);
	worker.ioac.read_bytes += 4096;
	ends(0, 19000);
	assert_file(0, NT_F_FILE, 17000);

	/* It was another file that was asked at once, for an earlier command. */
	file_executes(0, NVME_CMD_READ, 25000);
	file_asked(0, true);
	disk.ns.file = &disk;
	worker_begins_with(0, &worker, 27000);
	ends(0, 29000);
	assert_file(0, NT_F_FILE | NT_F_CACHED, 27000);

	/* Another task ends it. */
	other.pid++;
	file_executes(0, NVME_CMD_READ, 35000);
	worker_begins_with(0, &worker, 37000);
	kernel.task = &other;
	ends(0, 39000);
	assert_file(0, NT_F_FILE, 37000);

	/* A write. */
	file_executes(0, NVME_CMD_WRITE, 45000);
	worker_begins_with(0, &worker, 47000);
	ends(0, 49000);
	assert_file(0, NT_F_FILE, 47000);
}

static void what_is_not_known_of_a_file_is_counted(void **state)
{
	struct task_struct___reads worker = {.pid = 7};

	/* The worker was not seen to begin. */
	file_executes(0, NVME_CMD_READ, 5000);
	ends(0, 6000);
	assert_int_equal(record_of(0)->flags & FILE_FLAGS, 0);
	assert_int_equal(counted(NT_CNT_DISK_UNSEEN), 1);
	/* Direct I/O. */
	file_executes(0, NVME_CMD_READ, 15000);
	disk.ns.buffered_io = false;
	file_asked(0, true);
	ends(0, 16000);
	assert_int_equal(record_of(0)->flags & FILE_FLAGS, 0);
	assert_int_equal(counted(NT_CNT_DISK_UNSEEN), 2);
	/* A flush has a worker of its own. */
	file_executes(0, NVME_CMD_FLUSH, 25000);
	file_asked(0, true);
	ends(0, 26000);
	assert_int_equal(record_of(0)->flags & FILE_FLAGS, 0);
	assert_int_equal(counted(NT_CNT_DISK_UNSEEN), 3);
	/* The worker begins with a command that has ended, or that was not seen to begin. */
	worker_begins_with(0, &worker, 27000);
	assert_int_equal(disk_point(0, NT_TD_ISSUE), 0);
	m.cmd[0][1].queue = &m.queue[0];
	worker_begins_with(1, &worker, 28000);
	/* A disk is none. */
	disk.ns.buffered_io = false;
	disk.ns.bdev = &disk.bdev;
	executes(0, NVME_CMD_READ, 35000);
	issue(bio_of(0, 0), 36000);
	complete(&disk.bio[0], 37000);
	file_asked(0, true);
	ends(0, 38000);
	assert_int_equal(record_of(0)->flags & FILE_FLAGS, 0);
	assert_int_equal(disk_point(0, NT_TD_ISSUE), 36000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name)                                  \
	{#name, name, setup_stock, teardown, NULL}, \
		{#name " (tracepoints)", name, setup_patched, teardown, NULL}
		TEST(a_request_is_issued_and_ends),
		TEST(requests_that_were_merged_are_of_all_their_commands),
		TEST(the_first_issue_and_the_last_end_count),
		TEST(a_long_transfer_is_a_chain_of_bios),
		TEST(bios_past_the_most_of_a_request_are_left_out),
		TEST(requests_of_others_are_left_at_once),
		TEST(what_is_not_of_the_execution_is_no_point),
		TEST(commands_without_points_are_counted_by_their_disk),
		TEST(a_command_is_handed_on_to_a_controller),
		TEST(a_disk_of_nvme_has_a_command_of_its_own),
		TEST(a_file_answers_at_once),
		TEST(a_file_that_could_not_answer_at_once_had_to_read),
		TEST(a_file_that_only_the_worker_asks_has_read_what_the_worker_has),
		TEST(what_is_not_known_of_a_file_is_counted),
	};

	return cmocka_run_group_tests_name("points of a target's disk", tests, NULL, NULL);
}
