// SPDX-License-Identifier: GPL-2.0-only
/* Which cache lines a target's commands of two CPUs share: see lines.h. */
#define LINES_SLOT(queue) (1 + (queue))
#define LINES_OF "bpf/target.h"
#include "bpf/lines.h"

#define KINDS 4
#define CONNECTIONS 2
#define COMMANDS (2 * KINDS)

#include "bpf/target_machine.h"
#include "bpf/target_steps.h"

static struct {
	const struct lines_how *how;
	struct tcp_sock___stream tcp[CONNECTIONS];
	__u16 cid;
} net;

static const struct accesses_place *lines_places(unsigned int *nr)
{
	static const struct accesses_place places[] = {
		LINES_PLACES(LINES("pdus", nt_pdus), LINES("sockets", kernel.sockets),
			     LINES(NULL, net)),
	};

	*nr = sizeof(places) / sizeof(places[0]);
	return places;
}

/* Whether what comes between the ends of a command has programs. */
static bool has_middle(void)
{
	return !net.how->ends || net.how->bursts;
}

/* A packet with the first bytes of a PDU comes. Where asked for, others were joined with it. */
static void packet_comes(int i)
{
	struct tcp_skb_cb *cb = (void *)m.skb.cb;
	struct sock *sk = &net.tcp[i].sk;
	struct sk_buff waits = {.sk = sk};

	cb->seq = net.tcp[i].rcv_nxt;
	cb->end_seq = net.tcp[i].rcv_nxt += 72;
	*(struct tcp_skb_cb *)waits.cb = (struct tcp_skb_cb){cb->end_seq, cb->end_seq + 1};
	m.skb.sk = sk;
	m.skb.tstamp = (ktime_t)kernel.now;
	if (net.how->joins) {
		packet_waits(NULL, sk, &waits);
		packet_joined(NULL, &m.skb);
	}
	if (net.how->fine)
		data_ready(NULL, sk);
}

/* What was handed to the socket leaves TCP. */
static void packet_goes(int i)
{
	struct sk_buff skb = {};
	struct tcp_skb_cb *cb = (void *)skb.cb;

	cb->seq = net.tcp[i].write_seq;
	cb->end_seq = net.tcp[i].write_seq += 24;
	if (net.how->fine)
		packet_leaves(NULL, &net.tcp[i].sk, &skb);
}

static void begin(struct nvmet_tcp_cmd *cmd, int i, bool asks)
{
	unsigned long long work[] = {(__u64)cmd->queue};
	bool write = cmd->req.cmd->common.opcode == NVME_CMD_WRITE;

	packet_comes(i);
	if (net.how->fine)
		io_work(work, (void *)cmd->queue);
	cmd->rbytes_done = asks ? 0 : cmd->req.transfer_len;
	capsule_comes(cmd, has_middle() ? (__s64)kernel.now : 0);
	/* In the structures of tests the members of TLS and data_ready are one. */
	if (kernel.queues[LINES_SLOT(i)].opaque)
		kernel.queues[LINES_SLOT(i)].opaque = 0;
	if (asks) {
		answer_is_queued(cmd, false);
		cmd->rbytes_done = cmd->req.transfer_len;
	}
	if (!has_middle())
		return;
	if (asks) {
		r2t_is_sent(cmd);
		packet_goes(i);
		packet_comes(i);
		h2c_data_come(cmd, (__s64)kernel.now);
	}
	if (write)
		data_are_received(cmd);
	execution_begins(cmd, write, 0);
	if (cmd->req.cmd->common.opcode == NVME_CMD_READ)
		execute(&cmd->req, 0);
}

static void end(struct nvmet_tcp_cmd *cmd, int i)
{
	unsigned long long work[] = {(__u64)cmd->queue};

	if (cmd->req.cmd->common.opcode == NVME_CMD_READ && !net.how->fails) {
		data_pdu_is_sent(cmd);
		packet_goes(i);
		data_are_taken(cmd, 0, (int)cmd->req.transfer_len);
	}
	response_is_sent(cmd);
	packet_goes(i);
	if (net.how->fine)
		io_work_end(work, (void *)cmd->queue);
}

/* The device says on @cpu that it has executed a command. */
static void lines_pass(unsigned int cpu, unsigned int of, unsigned int worker)
{
	static const struct {
		__u8 opcode;
		bool asks;
		__u32 length;
	} kinds[KINDS] = {
		{NVME_CMD_READ, false, 4096},
		{NVME_CMD_WRITE, false, 4096},
		{NVME_CMD_WRITE, true, 32768},
		{NVME_CMD_FLUSH, false, 0},
	};
	int i = (int)of;

	for (unsigned int k = 0; k < KINDS; k++) {
		unsigned int n = 2 * k + cpu;
		struct nvmet_tcp_cmd *cmd = &m.cmd[i][n];
		struct nvme_command *e = &m.sqe[i][n];

		*e = (struct nvme_command){.common = {.opcode = kinds[k].opcode, .nsid = 1}};
		e->common.command_id = net.cid++;
		e->common.dptr.sgl.length = kinds[k].length;
		e->common.dptr.sgl.type = kinds[k].asks ? 0x5a : NVME_SGL_IN_CAPSULE;
		cmd->queue = &m.queue[i];
		cmd->req = (struct nvmet_req){.cmd = e,
					      .cqe = &m.cqe,
					      .sq = &m.queue[i].nvme_sq,
					      .ops = &m.ops,
					      .transfer_len = kinds[k].length};
		m.cqe.status = 0;
		lines_on(worker);
		begin(cmd, i, kinds[k].asks);
		m.cqe.status = net.how->fails ? 0x281 << 1 : 0;
		lines_on(cpu);
		answer_is_queued(cmd, false);
		answer_is_queued(cmd, true);
		lines_on(worker);
		if (has_middle())
			end(cmd, i);
	}
	accesses_of(ACCESSES_CPUS);
	kernel.nr_records = kernel.nr_begun = 0;
}

static void lines_begin(unsigned int source, const struct lines_how *how)
{
	target_make();
	memset(&run, 0, sizeof(run));
	memset(&net, 0, sizeof(net));
	run.source = (enum source)source;
	net.how = how;
	lines_knobs(how);
	nt_control.data_watched = 1;
	nt_control.data_ready = kernel.learned.data_ready = (__u64)&m.skb;
	for (int i = 0; i < CONNECTIONS; i++) {
		connection_make(i, LINES_SLOT(i));
		m.socket[i].sk = &net.tcp[i].sk;
		net.tcp[i].sk.sk_receive_queue.next = &m.skb;
		net.tcp[i].sk.sk_user_data = &m.queue[i];
		m.queue[i].nvme_sq.ctrl = &m.ctrl[i];
		m.queue[i].nvme_sq.qid = 1;
		m.queue[i].nvme_sq.size = 128;
	}
}

/* On the CPUs devices say that they have executed commands. The histograms: see test_host_lines.c.
 */
static const struct lines_case cases[] = {
	{{.name = "counts"}, "", "", "cmds:8 "},
	{{.name = "ends", .ends = true}, "", "hists:3 ", "cmds:8 "},
	{{.name = "bursts", .ends = true, .bursts = true}, "", "hists:3 ", "hists:3 cmds:8 "},
	{{.name = "selects", .selects = true}, "", "", "cmds:6 "},
	{{.name = "records", .records = true}, "ring:1 ", "", "cmds:8 "},
	{{.name = "sample", .sample_below = ~0u}, "tracked:1 alikes:1 ", "", "tracked:1 cmds:8 "},
	{{.name = "others", .sample_below = 1}, "", "", ""},
	{{.name = "joins", .joins = true}, "", "", "cmds:8 "},
	{{.name = "fine", .records = true, .fine = true}, "ring:1 ", "", "cmds:8 taken:4 "},
	{{.name = "fails", .fails = true}, "tracked:1 errors:1 ", "", "cmds:8 "},
};

static void commands_of_two_queues_share_no_line(void **state)
{
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (enum source source = 0; source < SOURCES; source++) {
			lines_check(&cases[i], source, KINDS, false);
			assert_int_equal(accesses_lines(0, "index", false), KINDS);
			assert_int_equal(accesses_lines(0, "index", true), 0);
		}
	}
}

static void commands_of_one_queue_share_what_they_must(void **state)
{
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (enum source source = 0; source < SOURCES; source++)
			lines_check(&cases[i], source, KINDS, true);
}

static void what_others_read_is_in_order(void **state)
{
	for (enum source source = 0; source < SOURCES; source++)
		lines_check_order(source, &cases[0].how);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_of_two_queues_share_no_line),
		cmocka_unit_test(commands_of_one_queue_share_what_they_must),
		cmocka_unit_test(what_others_read_is_in_order),
	};

	return cmocka_run_group_tests_name("target_lines", tests, NULL, NULL);
}
