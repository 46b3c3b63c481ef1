// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every command that begins is counted as ended, in flight or lost, whatever part of the commands
 * is sampled.
 */
#include "bpf/host.h"

#include <errno.h>
#include <stdlib.h>

#define QID 1
#define QUEUES (QID + 1)
#define REQUESTS 8
#define TAGS 12

#include "bpf/host_machine.h"

/* The state of the made-up driver. */
static struct {
	struct {
		/* the generation in its command id, which nvme_try_complete_req() raises */
		__u16 generation;
		bool out;
	} requests[REQUESTS];
	unsigned int submissions;
	__u16 last_id;
	bool misses; /* some ends are missed */
	bool ends;   /* only the ends of commands have programs */
} done;

static int setup(void **state)
{
	host_make();
	memset(&done, 0, sizeof(done));
	nt_knobs.select = NT_SELECT_NONE;
	nt_control.began_ns = 1;
	memset(nt_alikes, 0, sizeof(nt_alikes));
	return 0;
}

static struct nt_cmd *state_of(int i)
{
	struct nt_cmd *c = cmd_by_tag(queue_at(QID), m.requests[i].rq.tag);

	assert_non_null(c);
	return c;
}

static void submit(int i, __u8 opcode, __u64 slba)
{
	struct request *rq = &m.requests[i].rq;
	struct nvme_tcp_cmd_pdu pdu;

	m.requests[i].sqe = (struct nvme_command){
		.common = {.opcode = opcode,
			   .command_id = done.requests[i].generation | rq->tag,
			   .nsid = 1},
	};
	m.requests[i].sqe.common.dptr.sgl.length = 4096;
	m.requests[i].sqe.common.cdw10 = slba;
	m.requests[i].req.req.status = 0;
	done.requests[i].out = true;
	done.submissions++;
	done.last_id = m.requests[i].sqe.common.command_id;
	request_make(rq, &m.requests[i].req, &m.requests[i].sqe);
	pdu.cmd = m.requests[i].sqe;
	if (m.stock) {
		/*
		 * The program is skipped now and then; the other one stands in for it. With the
		 * ends alone and without start times it cannot know that an end was missed as well.
		 */
		if (random() % 3 || (done.ends && done.misses && !rq->start_time_ns))
			stock_queue_rq(NULL, rq);
		stock_queue_rq_nested(NULL, rq);
	} else {
		if (random() % 3 || (done.ends && done.misses && !rq->start_time_ns))
			queue_rq(NULL, rq, &pdu, QID, NULL, NULL, NULL, &m.queues[0][QID]);
		queue_rq_nested(NULL, rq, &pdu, QID, NULL, NULL, NULL, &m.queues[0][QID]);
	}
}

static void end(int i, bool answered)
{
	struct request *rq = &m.requests[i].rq;
	struct nvme_tcp_rsp_pdu rsp = {
		.hdr.type = nvme_tcp_rsp,
		.cqe = {.command_id = m.requests[i].sqe.common.command_id},
	};

	done.requests[i].out = false;
	if (answered)
		done.requests[i].generation += 0x1000;
	if (!answered)
		m.requests[i].req.req.status = NVME_SC_HOST_PATH_ERROR;
	else if (done.ends)
		;
	else if (m.stock)
		pdu_received(&kernel.queues[QID], &rsp, &m.skb, 0);
	else
		process_nvme_cqe(NULL, rq, &rsp, QID, 0, &m.queues[0][QID]);
	if (random() % 2)
		rq_complete(NULL, rq, nt_knobs.ends && !answered ? -EIO : 0);
	rq_complete_nested(NULL, rq, nt_knobs.ends && !answered ? -EIO : 0);
}

static bool tag_in_use(int tag)
{
	for (int i = 0; i < REQUESTS; i++)
		if (done.requests[i].out && m.requests[i].rq.tag == tag)
			return true;
	return false;
}

static void step(bool iostats)
{
	int i = random() % REQUESTS;
	struct request *rq = &m.requests[i].rq;
	__u8 opcode = random() % 20 ? NVME_CMD_READ : NVME_FABRICS_COMMAND;
	bool fabrics = m.requests[i].sqe.common.opcode == NVME_FABRICS_COMMAND;
	__u64 slba = random() % 1000;

	/* The driver does not send Fabrics commands again. */
	if (!done.requests[i].out || (!fabrics && random() % 8 == 0)) {
		/*
		 * The request begins, or begins again after a response or a reset; then its start
		 * time stays.
		 */
		if (done.requests[i].out) {
			opcode = m.requests[i].sqe.common.opcode;
			slba = m.requests[i].sqe.common.cdw10;
			done.requests[i].generation += random() % 2 ? 0x1000 : 0;
			m.requests[i].req.req.retries++;
		} else {
			rq->start_time_ns = iostats ? kernel.now += 100 : 0;
			m.requests[i].req.req.retries = 0;
		}
		done.requests[i].out = false;
		do
			rq->tag = random() % TAGS;
		while (tag_in_use(rq->tag));
		submit(i, opcode, slba);
	} else if (done.misses && random() % 10 == 0) {
		done.requests[i].generation += 0x1000;
		done.requests[i].out = false;
	} else {
		end(i, random() % 4);
	}
}

struct count {
	__u64 ended, in_flight, measured;
};

static struct count count_all_of(void)
{
	struct count n = {.ended = counted(NT_CNT_CANCELLED)};

	for (unsigned int h = 0; h < HISTS; h++) {
		n.ended += hist_at(h)->others;
		for (unsigned int b = 0; b < NT_BUCKETS; b++)
			n.ended += hist_at(h)->buckets[b];
	}
	for (unsigned int c = 0; c < PIECES * NT_CHUNK_CMDS; c++) {
		n.in_flight += in_flight(cmd_at(c));
		n.measured += measured(cmd_at(c));
	}
	return n;
}

static void run_of(__u32 below, bool all, bool stock, bool iostats, bool misses, bool ends)
{
	struct count n;
	__u64 begun = 0;

	setup(NULL);
	nt_knobs.ends = done.ends = ends;
	m.stock = stock;
	done.misses = misses;
	knobs_sample(below, all);
	for (int i = 0; i < 3000; i++)
		step(iostats);
	n = count_all_of();
	if (below)
		assert_tracked(n.measured);
	assert_int_equal(counted(NT_CNT_NO_START), 0);
	assert_int_equal(counted(NT_CNT_NEVER_SENT), 0);
	if (!misses)
		assert_int_equal(counted(NT_CNT_OVERWRITTEN), 0);
	/*
	 * Programs that do not count the commands outside the sample know only of the measured
	 * ones.
	 */
	for (unsigned int i = 0; i < NT_ALIKE; i++)
		begun += nt_alikes[i];
	if (!below || all)
		begun = done.submissions;
	assert_int_equal(begun, n.ended + n.in_flight + counted(NT_CNT_OVERWRITTEN) +
					counted(NT_CNT_REQUEUED));
	assert_int_equal(ends && counted(NT_CNT_POINT_MISSING), 0);
	nt_knobs.ends = 0;
}

/*
 * Counted are Reads of the lower half of the LBAs. A command that begins a connection is known all
 * the same.
 */
static void what_is_left_out_is_counted_nowhere(void **state)
{
	struct nt_selection s = {.ops = 1u << NT_OP_READ, .lbas = {1, {{0, 499}}}};
	struct count n;
	__u64 begun;

	srandom(2);
	for (int how = 0; how < 16; how++) {
		setup(NULL);
		m.stock = how & 1;
		done.misses = how & 2;
		knobs_select(&s);
		if (how & 8)
			knobs_sample(1u << 31, how & 4);
		begun = 0;
		for (int i = 0; i < 3000; i++) {
			unsigned int before = done.submissions;

			step(true);
			if (done.submissions == before)
				continue;
			/* The request that was submitted last has the last command id. */
			for (int k = 0; k < REQUESTS; k++) {
				struct nvme_command *e = &m.requests[k].sqe;

				if (done.requests[k].out && e->common.command_id == done.last_id)
					begun += e->common.opcode == NVME_CMD_READ &&
						 e->common.cdw10 < 500;
			}
		}
		n = count_all_of();
		assert_tracked(n.measured);
		assert_int_equal(counted(NT_CNT_NO_START), 0);
		assert_int_equal(counted(NT_CNT_NEVER_SENT), 0);
		if (how & 8 && !(how & 4)) {
			begun = 0;
			for (unsigned int i = 0; i < NT_ALIKE; i++)
				begun += nt_alikes[i];
		}
		assert_int_not_equal(begun, 0);
		assert_int_equal(begun, n.ended + n.in_flight + counted(NT_CNT_OVERWRITTEN) +
						counted(NT_CNT_REQUEUED));
	}
}

/* Commands that are counted in a stage that all of them pass. */
static __u64 split(void)
{
	__u64 n = 0;

	for (unsigned int i = 0; i < STAGES; i++)
		for (unsigned int b = 0; b < NT_STAGE_BUCKETS; b++)
			n += stages_at(i)->h[NT_HS_NVME_TCP_SUBMISSION].buckets[b];
	return n;
}

/*
 * Programs of all points come and go under load. A command has stages if it began and ended in the
 * same burst of them, and is counted once in any case.
 */
static void switches_between_ends_and_all_lose_and_double_nothing(void **state)
{
	__u16 began[REQUESTS] = {0};

	for (int stock = 0; stock < 2; stock++) {
		bool attached = false;
		__u64 expected = 0;
		struct count n;

		setup(NULL);
		srandom(3);
		m.stock = stock;
		memset(nt_first_stages, 0, sizeof(nt_first_stages));
		done.ends = true;
		nt_knobs.ends = nt_knobs.stages = 1;
		/* Arrivals are another matter. */
		nt_knobs.missing = NT_HOST_ARRIVALS;
		nt_knobs.into[NT_HS_NSTACK_COMPLETION] = NT_HS_NETWORK_AND_TARGET;
		for (int i = 0, switches = 0; switches < 10000; i++) {
			int k = random() % REQUESTS;
			struct request *rq = &m.requests[k].rq;
			bool answered = random() % 8;
			__u16 now;

			kernel.now += 10;
			if (random() % 4 == 0) {
				/* The number comes after the programs, and goes before them. */
				if (!attached) {
					attached = true;
				} else if (!nt_control.burst && random() % 2) {
					nt_control.burst = (__u32)switches++ % 65535 + 1;
				} else {
					attached = nt_control.burst;
					nt_control.burst = 0;
				}
				continue;
			}
			if (!done.requests[k].out) {
				rq->start_time_ns = kernel.now;
				m.requests[k].req.req.retries = 0;
				do
					rq->tag = random() % TAGS;
				while (tag_in_use(rq->tag));
				began[k] = nt_control.burst;
				submit(k, NVME_CMD_READ, 1);
				if (attached && stock)
					cmd_sending(&m.requests[k].req, NULL);
				else if (attached)
					try_send_cmd_pdu(NULL, rq, NULL, QID, 0, &m.queues[0][QID]);
				continue;
			}
			done.ends = !attached;
			now = nt_control.burst;
			expected += answered && now && now == began[k];
			end(k, answered);
			done.ends = true;
		}
		n = count_all_of();
		assert_int_equal(done.submissions, n.ended + n.in_flight);
		assert_int_equal(counted(NT_CNT_OVERWRITTEN), 0);
		assert_int_equal(counted(NT_CNT_NO_START), 0);
		assert_int_equal(counted(NT_CNT_POINT_MISSING), 0);
		assert_int_not_equal(expected, 0);
		assert_int_equal(split(), expected);
	}
	nt_knobs.ends = nt_knobs.stages = nt_knobs.missing = nt_control.burst = 0;
	nt_knobs.into[NT_HS_NSTACK_COMPLETION] = NT_HS_NSTACK_COMPLETION;
}

static void begun_is_ended_in_flight_or_lost(void **state)
{
	srandom(1);
	for (int round = 0; round < 10; round++) {
		for (int how = 0; how < 8; how++) {
			run_of(0, false, how & 1, how & 2, round % 2, how & 4);
			run_of(1u << 31, true, how & 1, how & 2, round % 2, how & 4);
			run_of(1u << 28, true, how & 1, how & 2, round % 2, how & 4);
			run_of(1u << 31, false, how & 1, how & 2, round % 2, how & 4);
		}
	}
}

static void end_surely(int i)
{
	end(i, true);
	rq_complete(NULL, &m.requests[i].rq, 0);
}

/*
 * With events, each command gives one event at its begin and one at its end. The number of events
 * that found no room comes before the next event.
 */
static void an_event_comes_when_a_command_begins_and_one_when_it_ends(void **state)
{
	const struct nt_begun *b = kernel.begun;

	for (int stock = 0; stock < 2; stock++) {
		setup(NULL);
		m.stock = stock;
		nt_knobs.select = NT_SELECT_ALL;
		nt_knobs.events = nt_knobs.tells_lost = 1;
		m.requests[0].rq.start_time_ns = kernel.now;
		submit(0, NVME_CMD_READ, 0x123456789);
		assert_int_equal(kernel.nr_begun, 1);
		assert_int_equal(kernel.nr_records, 0);
		assert_int_equal(b->r.flags & (NT_F_BEGUN | NT_F_CONNECT), NT_F_BEGUN);
		assert_int_equal(b->r.opcode, NVME_CMD_READ);
		assert_int_equal(b->r.cid, done.last_id);
		assert_int_equal(b->r.qid, QID);
		assert_int_equal(b->sqe[10], 0x23456789);
		m.requests[0].req.req.retries = 3;
		end_surely(0);
		assert_int_equal(kernel.nr_begun, 1);
		assert_int_equal(kernel.nr_records, 1);
		assert_int_equal(kernel.records[0].cid, b->r.cid);
		assert_false(kernel.records[0].flags & NT_F_BEGUN);
		assert_int_equal(kernel.ended.answer.retries, 3);
		assert_int_equal(kernel.lost, 0);

		kernel.ring_is_full = true;
		submit(1, NVME_CMD_READ, 1);
		end_surely(1);
		submit(2, NVME_CMD_READ, 1);
		assert_int_equal(counted(NT_CNT_RING_FULL), 3);
		kernel.ring_is_full = false;
		end_surely(2);
		assert_int_equal(kernel.lost, 3);
		assert_int_equal(kernel.nr_records, 2);
		submit(3, NVME_CMD_READ, 1);
		assert_int_equal(kernel.lost, 3);
		assert_int_equal(kernel.nr_begun, 2);
		nt_knobs.events = nt_knobs.tells_lost = 0;
	}
}

/* Losses are reported before the next record, if that was asked for. */
static void without_events_none_comes(void **state)
{
	for (unsigned int tells = 0; tells < 2; tells++) {
		setup(NULL);
		nt_knobs.select = NT_SELECT_ALL;
		nt_knobs.tells_lost = (__u8)tells;
		submit(0, NVME_CMD_READ, 1);
		kernel.ring_is_full = true;
		end_surely(0);
		assert_int_equal(kernel.nr_begun, 0);
		assert_int_equal(nt_control.events_lost, tells);
		assert_int_equal(counted(NT_CNT_RING_FULL), 1);
		kernel.ring_is_full = false;
		submit(0, NVME_CMD_READ, 1);
		assert_int_equal(kernel.lost, 0);
		end_surely(0);
		assert_int_equal(kernel.lost, tells);
		assert_int_equal(kernel.nr_records, 1);
		nt_knobs.tells_lost = 0;
	}
}

/* User space may read states at any time. */
static void begin_is_not_that_of_another(void)
{
	const struct nt_cmd *c = state_of(0);

	if (in_flight(c))
		assert_true(!c->r.points[NT_H_QUEUE_RQ] ||
			    c->r.points[NT_H_QUEUE_RQ] == kernel.now);
}

static void age_is_never_that_of_the_command_before(void **state)
{
	for (int how = 0; how < 8; how++) {
		setup(NULL);
		nt_knobs.ends = done.ends = how & 4;
		m.stock = how & 1;
		knobs_sample(1, true);
		/* The command before is measured, or not. */
		knobs_sample(how & 2 ? ~0u : 1, true);
		submit(0, NVME_CMD_READ, 1);
		assert_int_equal(measured(state_of(0)), !!(how & 2));
		assert_int_not_equal(state_of(0)->r.points[NT_H_QUEUE_RQ], 0);
		end(0, true);
		knobs_sample(1, true);
		kernel.now += 1000000;
		kernel.on_clock = begin_is_not_that_of_another;
		submit(0, NVME_CMD_READ, 2);
		kernel.on_clock = NULL;
		assert_true(in_flight(state_of(0)));
		assert_int_equal(state_of(0)->r.points[NT_H_QUEUE_RQ], kernel.now);
	}
	nt_knobs.ends = 0;
}

/* What has only the ends takes how a command ended from its request. */
static void with_the_ends_alone_a_record_says_how_its_command_ended(void **state)
{
	static const struct {
		__u16 status; /* of the request */
		int error;
		__u32 flags;
	} ends[] = {
		{0, 0, 0},
		{0x4281, -EIO, 0},
		{NVME_SC_HOST_PATH_ERROR, -EIO, NT_F_CANCELLED},
	};

	for (unsigned int i = 0; i < 2 * sizeof(ends) / sizeof(ends[0]); i++) {
		const struct nt_record *r = &kernel.records[0];
		struct request *rq = &m.requests[0].rq;
		struct nvme_tcp_cmd_pdu pdu;
		unsigned int how = i / 2;

		setup(NULL);
		nt_knobs.ends = 1;
		nt_knobs.select = NT_SELECT_ALL;
		m.stock = i % 2;
		rq->start_time_ns = kernel.now - 5000;
		m.requests[0].sqe = (struct nvme_command){
			.common = {.opcode = NVME_CMD_WRITE, .command_id = 0x3000 | rq->tag},
		};
		m.requests[0].sqe.common.dptr.sgl.length = 65536;
		request_make(rq, &m.requests[0].req, &m.requests[0].sqe);
		pdu.cmd = m.requests[0].sqe;
		if (m.stock)
			stock_queue_rq(NULL, rq);
		else
			queue_rq(NULL, rq, &pdu, QID, NULL, NULL, NULL, &m.queues[0][QID]);
		m.requests[0].req.req.status = ends[how].status;
		rq_complete(NULL, rq, ends[how].error);
		assert_int_equal(kernel.nr_records, 1);
		assert_int_equal(r->cid, 0x3000 | rq->tag);
		assert_int_equal(r->flags & (NT_F_CANCELLED | NT_F_CONNECT), ends[how].flags);
		if (!ends[how].flags)
			assert_int_equal(r->status, ends[how].status);
		assert_int_equal(r->shape, NT_SHAPE_R2T_WRITE);
		assert_int_equal(r->points[NT_H_SUBMIT], rq->start_time_ns);
		assert_true(r->points[NT_H_QUEUE_RQ] && r->points[NT_H_COMPLETE]);
		assert_int_equal(r->points[NT_H_CQE], 0);
	}
	nt_knobs.ends = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_comes_when_a_command_begins_and_one_when_it_ends),
		cmocka_unit_test(without_events_none_comes),
		cmocka_unit_test_setup(begun_is_ended_in_flight_or_lost, setup),
		cmocka_unit_test(switches_between_ends_and_all_lose_and_double_nothing),
		cmocka_unit_test_setup(what_is_left_out_is_counted_nowhere, setup),
		cmocka_unit_test_setup(age_is_never_that_of_the_command_before, setup),
		cmocka_unit_test(with_the_ends_alone_a_record_says_how_its_command_ended),
	};

	return cmocka_run_group_tests_name("host_counted", tests, NULL, NULL);
}
