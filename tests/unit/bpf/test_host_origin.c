// SPDX-License-Identifier: GPL-2.0-only
/* A record names the origin of its command, and commands are selected by it. */
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

static int setup(void **state)
{
	host_make();
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
	struct nt_from from = {.pad = 9};

	origin_fill(&from, (struct request *)&rq);
	assert_int_equal(from.cgroup, ID + 3);
	assert_int_equal(from.cpu, 5);
	assert_int_equal(from.pad, 0);
	/* A flush of the block layer has no bio. */
	rq.bio = NULL;
	origin_fill(&from, (struct request *)&rq);
	assert_int_equal(from.cgroup, 0);
	assert_int_equal(from.cpu, 5);
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
		nt_knobs.origins = (__u8)asks;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(origin_is_the_cgroup_of_the_bio_and_the_cpu_of_the_request),
		TEST(cgroup_is_found_at_its_level),
		TEST(only_commands_of_a_cgroup_and_of_those_below_it_are_selected),
		TEST(record_has_its_origin_if_somebody_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
