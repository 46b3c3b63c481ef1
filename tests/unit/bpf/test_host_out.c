// SPDX-License-Identifier: GPL-2.0-only
/* TCP's numbers of what a host sends (--points fine); when it leaves TCP is in test_out.c. */
#include "bpf/host.h"

#define QUEUES 2

#include "bpf/host_machine.h"

static struct nt_cmd *begin(void)
{
	struct request *rq = &m.requests[0].rq;
	struct nvme_tcp_cmd_pdu pdu = {.cmd = m.requests[0].sqe};

	queue_rq(NULL, rq, &pdu, 1, NULL, NULL, NULL, &m.queues[0][1]);
	return cmd_of(&m.queues[0][1], 1, rq);
}

static void a_command_that_is_sent_again_has_the_numbers_of_the_last_time(void **state)
{
	static struct tcp_sock___stream tcp;
	struct nt_cmd *c;

	host_make();
	nt_knobs.fine = true;
	m.requests[0].sqe = (struct nvme_command){
		.common = {.opcode = NVME_CMD_WRITE, .command_id = 0x1000, .nsid = 1}};
	request_make(&m.requests[0].rq, &m.requests[0].req, &m.requests[0].sqe);
	c = begin();
	assert_non_null(c);
	tcp.write_seq = ~0u;
	cmd_sends(c, &tcp.sk, NT_H_SEND_CMD);
	/* The socket has taken a part. */
	tcp.write_seq += 50;
	cmd_sends(c, &tcp.sk, NT_H_SEND_CMD);
	tcp.write_seq += 22;
	cmd_sends(c, &tcp.sk, NT_H_SEND_DATA);
	assert_int_equal(c->r.seq[NT_HF_OUT], ~0u);
	assert_int_equal(c->r.seq[NT_HF_DATA_OUT], 71);
	m.requests[0].req.req.retries++;
	c = begin();
	assert_int_equal(c->r.seq[NT_HF_OUT], 0);
	tcp.write_seq = 1000;
	cmd_sends(c, &tcp.sk, NT_H_SEND_CMD);
	assert_int_equal(c->r.seq[NT_HF_OUT], 1000);
	assert_int_equal(c->r.seq[NT_HF_DATA_OUT], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_that_is_sent_again_has_the_numbers_of_the_last_time),
	};

	return cmocka_run_group_tests_name("numbers of PDUs", tests, NULL, NULL);
}
