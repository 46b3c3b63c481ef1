// SPDX-License-Identifier: GPL-2.0-only
/*
 * A record names the origin of its command, with the process that submitted it, and commands are
 * selected by their cgroup.
 */
#include "bpf/host.h"

#define QID 1
#define QUEUES (QID + 1)
#define ID 77 /* id of a cgroup */

#include "bpf/host_machine.h"

/* Cgroups from the root down. The last one is that of the bio. */
static struct kernfs_node___origin nodes[4];
static struct cgroup___origin levels[4];
static struct blkcg___origin blkcg;
static struct blkcg_gq___origin blkg;
static struct bio___origin bio;
static struct blk_mq_ctx___origin cpu;
static struct request___origin rq;
/* A process of two threads, another process, and a kernel thread. */
static struct task_struct___origin tasks[4] = {
	{.tgid = 70, .group_leader = &tasks[0], .comm = "leader"},
	{.tgid = 70, .group_leader = &tasks[0], .comm = "thread"},
	{.tgid = 80, .group_leader = &tasks[2], .comm = "\x1b[2J\"\n'other"},
	{.tgid = 90, .group_leader = &tasks[3], .flags = PF_KTHREAD, .comm = "kworker/0:1H"},
};

static int setup(void **state)
{
	host_make();
	memset(waiting, 0, sizeof(waiting));
	nt_knobs.origins = 0;
	kernel.task = &tasks[0];
	for (int i = 0; i < 4; i++) {
		nodes[i].id = ID + (__u64)i;
		levels[i].kn = &nodes[i];
	}
	blkcg.css.cgroup = &levels[3];
	blkg.blkcg = &blkcg;
	bio.bi_blkg = &blkg;
	cpu.cpu = 5;
	rq = (struct request___origin){.bio = &bio, .mq_ctx = &cpu};
	return 0;
}

static void origin_is_the_cgroup_of_the_bio_and_the_cpu_of_the_request(void **state)
{
	const struct nt_task task = {.pid = 7, .comm = "fio"};
	struct nt_from from;

	memset(&from, 9, sizeof(from));
	nt_knobs.origins = NT_ORIGIN_PLACE;
	origin_fill(&from, (struct request *)&rq, &task);
	assert_int_equal(from.cgroup, ID + 3);
	assert_int_equal(from.cpu, 5);
	/* Two origins are the same if all of their bytes are. */
	assert_memory_equal(&from.task, &(struct nt_task){.pid = 0}, sizeof(from.task));
	/* A flush of the block layer has no bio. */
	rq.bio = NULL;
	origin_fill(&from, (struct request *)&rq, &task);
	assert_int_equal(from.cgroup, 0);
	assert_int_equal(from.cpu, 5);
}

static void an_origin_has_the_parts_that_are_asked_for(void **state)
{
	const struct nt_task task = {.pid = 7, .comm = "fio"};
	struct nt_from from;

	nt_knobs.origins = NT_ORIGIN_TASK;
	origin_fill(&from, (struct request *)&rq, &task);
	assert_int_equal(from.cgroup, 0);
	assert_int_equal(from.cpu, NT_CPU_NONE);
	assert_int_equal(from.task.pid, 7);
	assert_string_equal(from.task.comm, "fio");
	nt_knobs.origins = NT_ORIGIN_PLACE | NT_ORIGIN_TASK;
	origin_fill(&from, (struct request *)&rq, &task);
	assert_int_equal(from.cgroup, ID + 3);
	assert_int_equal(from.cpu, 5);
	assert_int_equal(from.task.pid, 7);
}

/*
 * @at: memory that serves as a cgroup and the list of its ancestors. The structures of tests have
 * few members: the ancestors lie where the cgroup's members do, and its level inside the second
 * one.
 */
static struct cgroup___origin *cgroup_at(struct cgroup___origin *at[4], int level)
{
	struct cgroup___origin *cgroup = (void *)at;

	at[0] = &levels[0];
	at[2] = &levels[2];
	at[3] = &levels[3];
	cgroup->level = level;
	return cgroup;
}

static void cgroup_is_found_at_its_level(void **state)
{
	struct cgroup___origin *at[4] = {0}, *cgroup = cgroup_at(at, 3);

	assert_int_equal(ancestor_id(cgroup, 0), ID);
	assert_int_equal(ancestor_id(cgroup, 2), ID + 2);
	assert_int_equal(ancestor_id(cgroup, 3), ID + 3);
	assert_int_equal(ancestor_id(cgroup, 4), 0);
	cgroup->level = 2;
	assert_int_equal(ancestor_id(cgroup, 3), 0);
	at[2] = NULL;
	assert_int_equal(ancestor_id(cgroup, 2), 0);
}

static enum nt_fate fate_of(__u64 cgroup, __u32 level, __u8 opcode, __u32 ops)
{
	struct nvme_command e = {.common = {.opcode = opcode}};
	const struct nt_selection s = {.cgroup = cgroup, .cgroup_level = level, .ops = ops};

	knobs_select(&s);
	return request_fate((struct request *)&rq, &e, QID);
}

static void only_commands_of_a_cgroup_and_of_those_below_it_are_selected(void **state)
{
	struct cgroup___origin *at[4] = {0};

	blkcg.css.cgroup = cgroup_at(at, 3);
	assert_int_equal(fate_of(ID + 2, 2, NVME_CMD_READ, 0), NT_MEASURE);
	assert_int_equal(fate_of(ID + 3, 3, NVME_CMD_READ, 0), NT_MEASURE);
	assert_int_equal(fate_of(ID + 2, 3, NVME_CMD_READ, 0), NT_LEAVE);
	assert_int_equal(fate_of(ID + 3, 4, NVME_CMD_READ, 0), NT_LEAVE);
	assert_int_equal(fate_of(0, 0, NVME_CMD_READ, 0), NT_MEASURE);
	/* The other conditions of the selection hold as well. */
	assert_int_equal(fate_of(ID + 2, 2, NVME_CMD_READ, 1u << NT_OP_WRITE), NT_LEAVE);
	assert_int_equal(fate_of(ID + 2, 2, NVME_CMD_WRITE, 1u << NT_OP_WRITE), NT_MEASURE);
	rq.bio = NULL;
	assert_int_equal(fate_of(ID + 2, 2, NVME_CMD_READ, 0), NT_LEAVE);
	assert_int_equal(fate_of(0, 0, NVME_CMD_READ, 0), NT_MEASURE);
}

/*
 * In the structures of this test the bio lies where a request's queue is, and its CPU where its
 * hardware context is.
 */
static void record_has_its_origin_if_somebody_asks(void **state)
{
	struct request *r = &m.requests[0].rq;

	for (unsigned int asks = 0; asks < 2; asks++) {
		nt_knobs.origins = asks ? NT_ORIGIN_PLACE : 0;
		kernel.nr_records = 0;
		m.requests[0].sqe.common.opcode = NVME_CMD_READ;
		m.requests[0].sqe.common.dptr.sgl.length = 4096;
		r->start_time_ns = kernel.now;
		request_make(r, &m.requests[0].req, &m.requests[0].sqe);
		stock_queue_rq(NULL, r);
		/* One of the commands fails. */
		m.requests[0].req.req.status = asks ? 0x281 : 0;
		rq_complete(NULL, r, asks ? 10 : 0);
		assert_int_equal(kernel.nr_records, !asks);
	}
	nt_knobs.origins = 0;
	assert_int_equal(kernel.originated.r.op, NT_OP_READ);
	assert_int_equal(kernel.originated.r.slot, QID);
	assert_int_equal(kernel.originated.r.status, 0x281);
	assert_int_equal(kernel.originated.from.cgroup, (__u64)m.mq_ops[0].queue_rq);
	assert_int_equal(kernel.originated.from.cpu, (__u32)(__u64)m.hctx[QID].driver_data);
}

static bool is_waiting;

/* The driver gets the request of the machine from task @by. */
static void begins(unsigned int by)
{
	if (!is_waiting && !m.requests[0].req.req.retries)
		m.requests[0].rq.start_time_ns = ++kernel.now;
	is_waiting = false;
	m.requests[0].sqe.common.opcode = NVME_CMD_READ;
	m.requests[0].sqe.common.dptr.sgl.length = 4096;
	request_make(&m.requests[0].rq, &m.requests[0].req, &m.requests[0].sqe);
	kernel.task = &tasks[by];
	stock_queue_rq(NULL, &m.requests[0].rq);
}

/* Task @by puts the request into a queue of the block layer. */
static void waits(unsigned int by)
{
	if (!m.requests[0].req.req.retries)
		m.requests[0].rq.start_time_ns = ++kernel.now;
	is_waiting = true;
	kernel.task = &tasks[by];
	rq_insert(NULL, &m.requests[0].rq);
}

/* The command ends in an interrupt, whose current task has nothing to do with it. */
static void ends_as_of(__u32 pid, const char *comm)
{
	struct nt_task *task = &kernel.originated.from.task;
	char whole[NT_COMM_LEN] = "";

	kernel.task = &tasks[2];
	rq_complete(NULL, &m.requests[0].rq, 0);
	assert_int_equal(task->pid, pid);
	strncpy(whole, comm, sizeof(whole) - 1);
	assert_memory_equal(task->comm, whole, sizeof(whole));
	assert_int_equal(kernel.originated.from.cpu, NT_CPU_NONE);
	assert_int_equal(waiting_at(0), 0);
}

static void a_command_is_of_the_process_whose_thread_submits_it(void **state)
{
	nt_knobs.origins = NT_ORIGIN_TASK;
	begins(1);
	ends_as_of(70, "leader");
	begins(2);
	ends_as_of(80, tasks[2].comm);
	begins(3);
	ends_as_of(90 | NT_TASK_KERNEL, "kworker/0:1H");
}

/* With an I/O scheduler, whoever runs the queue hands over what others have put there. */
static void a_command_that_has_waited_is_of_who_submitted_it(void **state)
{
	nt_knobs.origins = NT_ORIGIN_TASK;
	/* The first command of all as well. */
	waits(1);
	begins(3);
	ends_as_of(70, "leader");
	waits(2);
	begins(0);
	ends_as_of(80, tasks[2].comm);
	/* The note was of that command alone. */
	begins(0);
	ends_as_of(70, "leader");
	/* A request was merged into another one. */
	waits(0);
	waits(2);
	begins(3);
	ends_as_of(80, tasks[2].comm);
	/* One that had begun earlier was merged into this one. */
	waits(2);
	m.requests[0].rq.start_time_ns--;
	begins(3);
	ends_as_of(80, tasks[2].comm);
	/* Nothing was seen of a request but that it waited. The next one does not. */
	waits(2);
	is_waiting = false;
	begins(0);
	ends_as_of(70, "leader");
}

/*
 * Where iostats is off, requests have no start time, or, since Linux 6.18, that of an earlier use.
 * The note of a command that is left out must not be there for the next one.
 */
static void without_start_times_a_note_is_of_one_use_of_a_request(void **state)
{
	enum { NR = 3 };
	static const struct nt_selection left_out[NR] = {
		{.ops = 1u << NT_OP_WRITE},
		{.sizes = {.nr = 1, .range = {{8192, 8192}}}},
		{.nsids = {.nr = 1, .range = {{9, 9}}}},
	};

	nt_knobs.origins = NT_ORIGIN_TASK;
	/* The first command tells which requests are the driver's. */
	begins(0);
	ends_as_of(70, "leader");
	for (unsigned int i = 0; i < 2 * NR; i++) {
		m.requests[0].rq.start_time_ns = i % 2;
		kernel.task = &tasks[2];
		rq_insert(NULL, &m.requests[0].rq);
		assert_int_equal(waiting_at(0), 1);
		knobs_select(&left_out[i / 2]);
		is_waiting = true;
		begins(3);
		assert_int_equal(waiting_at(0), 0);
		knobs_select(&(struct nt_selection){0});
		is_waiting = true;
		begins(0);
		ends_as_of(70, "leader");
	}
	/* One that is only counted. */
	knobs_sample(1, true);
	rq_insert(NULL, &m.requests[0].rq);
	is_waiting = true;
	begins(3);
	assert_int_equal(waiting_at(0), 0);
	knobs_sample(0, false);
}

static void a_command_that_is_sent_again_stays_who_submitted_it(void **state)
{
	nt_knobs.origins = NT_ORIGIN_TASK;
	begins(2);
	m.requests[0].req.req.retries = 1;
	waits(3);
	begins(3);
	ends_as_of(80, tasks[2].comm);
	assert_true(kernel.originated.r.flags & NT_F_REQUEUED);
	/* With an I/O scheduler, it has another tag then. */
	m.requests[0].req.req.retries = 0;
	begins(2);
	m.requests[0].req.req.retries = 1;
	m.requests[0].rq.tag = 1;
	begins(3);
	ends_as_of(80, tasks[2].comm);
	assert_true(kernel.originated.r.flags & NT_F_REQUEUED);
	m.requests[0].req.req.retries = 0;
}

static void requests_of_other_drivers_are_not_noted(void **state)
{
	struct request_queue other = {.mq_ops = (void *)&other};

	nt_knobs.origins = NT_ORIGIN_TASK;
	/* The first command tells which requests are the driver's. */
	begins(0);
	ends_as_of(70, "leader");
	m.requests[0].rq.q = &other;
	waits(0);
	assert_int_equal(waiting_at(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(origin_is_the_cgroup_of_the_bio_and_the_cpu_of_the_request),
		TEST(cgroup_is_found_at_its_level),
		TEST(only_commands_of_a_cgroup_and_of_those_below_it_are_selected),
		TEST(record_has_its_origin_if_somebody_asks),
		TEST(an_origin_has_the_parts_that_are_asked_for),
		TEST(a_command_is_of_the_process_whose_thread_submits_it),
		TEST(a_command_that_has_waited_is_of_who_submitted_it),
		TEST(without_start_times_a_note_is_of_one_use_of_a_request),
		TEST(a_command_that_is_sent_again_stays_who_submitted_it),
		TEST(requests_of_other_drivers_are_not_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
