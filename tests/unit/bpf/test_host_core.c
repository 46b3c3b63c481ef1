// SPDX-License-Identifier: GPL-2.0-only
/* Commands of controllers whose transport is not TCP, beside those of TCP. */
#include "bpf/host.h"

#define PCIE 0
#define TCP 1
#define CTRLS 2
#define STRIDE 8

/* Any address, by which the queues of a driver are known. */
static struct blk_mq_ops___plain operations[CTRLS][2] __attribute__((aligned(64)));
static const struct nvme_ctrl_ops ctrl_ops[CTRLS] = {{.name = "pcie"}, {.name = "tcp"}};
static struct blk_mq_tag_set *const io_tags = (void *)0x1000;
static struct nvme_subsystem subsys[2] = {{.subnqn = "nqn.first"}, {.subnqn = "nqn.second"}};

static struct {
	struct nvme_ctrl ctrl[CTRLS];
	struct request_queue admin[CTRLS], disk[CTRLS];
	struct blk_mq_hw_ctx hctx[2];
	struct {
		struct request rq;
		struct nvme_request req; /* directly behind the request: blk_mq_rq_to_pdu() */
	} request;
	struct nvme_command sqe;
	__u16 cid;
} k;

static int setup(void **state)
{
	kernel_reset();
	memset(&k, 0, sizeof(k));
	nt_knobs.missing = nt_knobs.ends = nt_knobs.no_histograms = 0;
	nt_knobs.transports = 1u << NT_TRANSPORT_PCIE;
	for (int i = 0; i < NT_STAGES_MAX; i++)
		((__u8 *)nt_knobs.into)[i] = i;
	for (int i = 0; i < CTRLS; i++) {
		k.ctrl[i] = (struct nvme_ctrl){
			.instance = i,
			.cntlid = 7,
			.sqsize = 1023,
			.ops = &ctrl_ops[i],
			.tagset = io_tags,
			.subsys = &subsys[0],
		};
		k.admin[i].mq_ops = (const struct blk_mq_ops *)&operations[i][0];
		k.disk[i].mq_ops = (const struct blk_mq_ops *)&operations[i][1];
		k.disk[i].queuedata = &k;
		k.disk[i].tag_set = io_tags;
	}
	k.hctx[1].queue_num = 1;
	return 0;
}

/* @qid: 0, or 2: that of the second hardware context */
static void prepare(int i, int qid, __u8 opcode, __u32 bytes)
{
	k.request.rq = (struct request){
		.q = qid ? &k.disk[i] : &k.admin[i],
		.mq_hctx = &k.hctx[qid != 0],
		.tag = 3,
		.__data_len = bytes,
		.start_time_ns = kernel.now += 100,
		.bio = (struct bio *)&k,
		.state = MQ_RQ_COMPLETE,
	};
	k.request.req = (struct nvme_request){.cmd = &k.sqe, .ctrl = &k.ctrl[i]};
	k.sqe = (struct nvme_command){
		.common = {.opcode = opcode, .command_id = k.cid += 0x1000, .nsid = 1, .cdw10 = 3},
	};
	/* No lengths: a driver of PCIe has addresses there. */
	k.sqe.common.dptr.sgl.length = 0xdead;
}

static void begin(void)
{
	kernel.now += 1000;
	core_setup(NULL, &k.request.rq, &k.sqe);
}

/* Programs of TCP see each end as well. */
static void end(__u16 status)
{
	k.request.req.status = status;
	kernel.now += 20000;
	core_cqe(NULL, &k.request.rq);
	core_cqe_nested(NULL, &k.request.rq);
	kernel.now += 300;
	core_complete(NULL, &k.request.rq, status ? 10 : 0);
	core_complete_nested(NULL, &k.request.rq, status ? 10 : 0);
	rq_complete(NULL, &k.request.rq, status ? 10 : 0);
}

static const struct nt_queue *queue_is(int i, int qid)
{
	return &kernel.queues[i * STRIDE + qid];
}

static void nothing_is_lost(void)
{
	for (int i = 0; i < NT_COUNTERS_NR; i++)
		assert_int_equal(counted(i), 0);
}

static __u64 took(const struct nt_record *r, int from, int to)
{
	return r->points[to] - r->points[from];
}

static void a_command_is_split_by_what_nvme_core_sees(void **state)
{
	const struct nt_record *r;
	const struct nt_stage_hist *h;

	prepare(PCIE, 2, NVME_CMD_READ, 8192);
	begin();
	core_setup_nested(NULL, &k.request.rq, &k.sqe);
	end(0);
	nothing_is_lost();
	assert_int_equal(kernel.nr_records, 1);
	r = last_record();
	assert_int_equal(r->shape, NT_SHAPE_CORE);
	assert_int_equal(r->op, NT_OP_READ);
	assert_int_equal(r->length, 8192);
	assert_int_equal(r->qid, 2);
	assert_int_equal(r->cntlid, 7);
	assert_int_equal(r->points[NT_H_SUBMIT], k.request.rq.start_time_ns);
	assert_in_range(took(r, NT_H_SUBMIT, NT_H_QUEUE_RQ), 1000, 1999);
	assert_in_range(took(r, NT_H_QUEUE_RQ, NT_H_CQE), 20000, 20999);
	assert_in_range(took(r, NT_H_CQE, NT_H_COMPLETE), 300, 1299);
	assert_int_equal(r->points[NT_H_SEND_CMD] | r->points[NT_H_RX], 0);
	h = nt_first_stages[1].h;
	assert_int_equal(h[NT_HS_BLK_SUBMISSION].sum, took(r, NT_H_SUBMIT, NT_H_QUEUE_RQ));
	assert_int_equal(h[NT_HS_DEVICE].sum, took(r, NT_H_QUEUE_RQ, NT_H_CQE));
	assert_int_equal(h[NT_HS_BLK_COMPLETION].sum, took(r, NT_H_CQE, NT_H_COMPLETE));
	assert_int_equal(h[NT_HS_NVME_TCP_SUBMISSION].sum + h[NT_HS_NETWORK_AND_TARGET].sum, 0);
	assert_int_equal(queue_is(PCIE, 2)->transport, NT_TRANSPORT_PCIE);
	assert_int_equal(queue_is(PCIE, 2)->sqsize, 1023);
	assert_string_equal(kernel.controllers[PCIE].names[1].subsysnqn, "nqn.first");
}

static void with_the_ends_alone_the_rest_is_one_stage(void **state)
{
	const struct nt_stage_hist *h = nt_first_stages[1].h;
	__u64 first;

	nt_knobs.ends = 1;
	prepare(PCIE, 2, NVME_CMD_READ, 8192);
	begin();
	kernel.now += 20000;
	core_complete(NULL, &k.request.rq, 0);
	nothing_is_lost();
	first = took(last_record(), NT_H_QUEUE_RQ, NT_H_COMPLETE);
	assert_int_equal(h[NT_HS_DEVICE].sum, first);
	nt_knobs.transports |= NT_OF_TCP;
	prepare(PCIE, 2, NVME_CMD_READ, 8192);
	begin();
	kernel.now += 500;
	core_complete(NULL, &k.request.rq, 0);
	assert_int_equal(h[NT_HS_DEVICE].sum, first);
	assert_int_equal(h[NT_HS_NVME_TCP_SUBMISSION].sum,
			 took(last_record(), NT_H_QUEUE_RQ, NT_H_COMPLETE));
	nt_knobs.ends = 0;
}

static void transports_that_are_not_selected_are_left_alone(void **state)
{
	prepare(TCP, 2, NVME_CMD_READ, 4096);
	begin();
	end(0);
	nt_knobs.transports |= NT_OF_TCP;
	prepare(TCP, 2, NVME_CMD_READ, 4096);
	begin();
	end(0);
	nothing_is_lost();
	assert_int_equal(kernel.nr_records, 0);
	assert_int_equal(queue_is(TCP, 2)->object, 0);
	nt_knobs.transports = 1u << NT_TRANSPORT_LOOP;
	prepare(PCIE, 2, NVME_CMD_READ, 4096);
	begin();
	end(0);
	assert_int_equal(kernel.nr_records, 0);
}

static __u32 length_of(int qid, __u8 opcode, __u32 bytes)
{
	prepare(PCIE, qid, opcode, bytes);
	begin();
	end(0);
	return last_record()->length;
}

static void lengths_are_of_data_that_move(void **state)
{
	assert_int_equal(length_of(2, NVME_CMD_WRITE, 512), 512);
	assert_int_equal(length_of(2, NVME_CMD_FLUSH, 0), 0);
	assert_int_equal(length_of(2, NVME_CMD_WRITE_ZEROES, 1 << 20), 0);
	/* Four ranges. */
	assert_int_equal(length_of(2, NVME_CMD_DSM, 1 << 20), 64);
	/* On the admin queue the opcodes are others: these are none of I/O. */
	assert_int_equal(length_of(0, 0x08, 4096), 4096);
	assert_int_equal(last_record()->qid, 0);
	assert_int_equal(last_record()->op, NT_OP_ADMIN);
}

/* Fabrics commands of I/O queues go through a request queue without data of its own. */
static void a_fabrics_command_is_of_the_queue_that_it_goes_through(void **state)
{
	prepare(PCIE, 2, NVME_FABRICS_COMMAND, 1024);
	k.request.rq.q = &k.admin[PCIE];
	k.admin[PCIE].tag_set = io_tags;
	begin();
	end(0);
	assert_int_equal(last_record()->qid, 2);
}

static void an_error_is_the_status_of_the_answer(void **state)
{
	prepare(PCIE, 2, NVME_CMD_READ, 4096);
	begin();
	end(0x4281);
	nothing_is_lost();
	assert_int_equal(last_record()->status, 0x4281);
	assert_int_not_equal(last_record()->points[NT_H_CQE], 0);
	assert_int_equal(nt_first_hists[1].sum, 0);
}

static void what_the_host_gives_up_was_not_answered(void **state)
{
	prepare(PCIE, 2, NVME_CMD_READ, 4096);
	begin();
	end(NVME_SC_HOST_ABORTED_CMD);
	assert_int_equal(counted(NT_CNT_CANCELLED), 1);
	assert_int_equal(last_record()->points[NT_H_CQE], 0);
	assert_true(last_record()->flags & NT_F_CANCELLED);
}

static void a_command_that_is_sent_again_begins_again(void **state)
{
	prepare(PCIE, 2, NVME_CMD_READ, 4096);
	begin();
	k.request.req.status = NVME_SC_HOST_ABORTED_CMD;
	core_cqe(NULL, &k.request.rq);
	k.request.req.retries = 1;
	begin();
	end(0);
	assert_int_equal(counted(NT_CNT_REQUEUED), 1);
	assert_int_equal(counted(NT_CNT_OVERWRITTEN), 0);
	assert_int_equal(kernel.nr_records, 1);
	assert_true(last_record()->flags & NT_F_REQUEUED);
}

/* The driver had no memory: nothing was sent. */
static void a_command_that_is_prepared_again_is_no_other_one(void **state)
{
	prepare(PCIE, 2, NVME_CMD_READ, 4096);
	begin();
	begin();
	end(0);
	nothing_is_lost();
	assert_in_range(took(last_record(), NT_H_SUBMIT, NT_H_QUEUE_RQ), 2000, 2999);
	prepare(PCIE, 2, NVME_CMD_READ, 4096);
	begin();
	prepare(PCIE, 2, NVME_CMD_READ, 4096);
	begin();
	assert_int_equal(counted(NT_CNT_OVERWRITTEN), 1);
}

/* It is identified after its first commands, and lies where the one before it did. */
static void another_controller_of_the_same_name_has_another_number(void **state)
{
	__u16 number;

	prepare(PCIE, 0, 0x06, 4096);
	begin();
	end(0);
	prepare(PCIE, 2, NVME_CMD_READ, 4096);
	begin();
	end(0);
	number = queue_is(PCIE, 2)->controller;
	k.ctrl[PCIE].subsys = NULL;
	prepare(PCIE, 0, 0x06, 4096);
	begin();
	end(0);
	assert_int_equal(queue_is(PCIE, 0)->controller, number + 1);
	assert_int_not_equal(queue_is(PCIE, 0)->identified, queue_is(PCIE, 0)->gen);
	prepare(PCIE, 0, 0x06, 4096);
	begin();
	end(0);
	assert_int_equal(queue_is(PCIE, 0)->controller, number + 1);
	k.ctrl[PCIE].subsys = &subsys[1];
	prepare(PCIE, 2, NVME_CMD_READ, 4096);
	begin();
	end(0);
	assert_int_equal(queue_is(PCIE, 2)->controller, number + 1);
	assert_string_equal(kernel.controllers[PCIE].names[(number + 1) & 1].subsysnqn,
			    "nqn.second");
	nothing_is_lost();
}

/* The driver of PCIe says it; others do not. */
static void events_have_the_head_of_the_submission_queue(void **state)
{
	const struct nt_answer *a = &kernel.ended.answer;

	nt_knobs.events = 1;
	prepare(PCIE, 2, NVME_CMD_READ, 4096);
	begin();
	core_sq(NULL, &k.request.rq, 0, 1);
	end(0);
	assert_int_equal(a->known, NT_A_RETRIES | NT_A_RESULT | NT_A_SQ_HEAD);
	assert_int_equal(a->sq_head, 0);
	prepare(PCIE, 2, NVME_CMD_READ, 4096);
	begin();
	core_sq(NULL, &k.request.rq, 0xfffe, 1);
	end(0);
	assert_int_equal(a->sq_head, 0xfffe);
	prepare(PCIE, 2, NVME_CMD_READ, 4096);
	begin();
	end(0);
	assert_int_equal(a->known, NT_A_RETRIES | NT_A_RESULT);
	/* It was not begun. */
	core_sq(NULL, &k.request.rq, 7, 1);
	nt_knobs.events = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_command_is_split_by_what_nvme_core_sees, setup),
		cmocka_unit_test_setup(with_the_ends_alone_the_rest_is_one_stage, setup),
		cmocka_unit_test_setup(transports_that_are_not_selected_are_left_alone, setup),
		cmocka_unit_test_setup(lengths_are_of_data_that_move, setup),
		cmocka_unit_test_setup(a_fabrics_command_is_of_the_queue_that_it_goes_through,
				       setup),
		cmocka_unit_test_setup(an_error_is_the_status_of_the_answer, setup),
		cmocka_unit_test_setup(what_the_host_gives_up_was_not_answered, setup),
		cmocka_unit_test_setup(a_command_that_is_sent_again_begins_again, setup),
		cmocka_unit_test_setup(a_command_that_is_prepared_again_is_no_other_one, setup),
		cmocka_unit_test_setup(another_controller_of_the_same_name_has_another_number,
				       setup),
		cmocka_unit_test_setup(events_have_the_head_of_the_submission_queue, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
