// SPDX-License-Identifier: GPL-2.0-only
#include "bpf/host.h"

#define QID 1

#define QUEUES (QID + 1)

#include "bpf/host_machine.h"

static int setup(void **state)
{
	host_make();
	return 0;
}

static void set_socket(void *ready, void *user_data)
{
	/*
	 * This sets sk_data_ready as well: the structures of tests have few members, so both lie at
	 * the same place.
	 */
	m.sk.sk_receive_queue.next = ready;
	m.sk.sk_user_data = user_data;
}

/*
 * Otherwise sockets of others would be taken for the driver's, and the driver's would be unknown.
 */
static void function_of_a_socket_that_is_given_back_is_not_learnt(void **state)
{
	static char functions[2];
	__u64 original = (__u64)&functions[0];

	nt_control.data_ready = 5;
	set_socket(&functions[0], &m.queues[0][QID]);
	data_ready_learn(&m.sk, (__u64)&m.queues[0][QID], original);
	assert_int_equal(nt_control.data_ready, 5);
	set_socket(&functions[0], NULL);
	data_ready_learn(&m.sk, (__u64)&m.queues[0][QID], original);
	assert_int_equal(nt_control.data_ready, 5);
	/* The same before the driver has taken the socket. */
	set_socket(&functions[1], NULL);
	data_ready_learn(&m.sk, (__u64)&m.queues[0][QID], 0);
	assert_int_equal(nt_control.data_ready, 5);
	set_socket(&functions[1], &m.queues[0][QID]);
	data_ready_learn(&m.sk, (__u64)&m.queues[0][QID], original);
	assert_int_equal(nt_control.data_ready, (__u64)&functions[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(function_of_a_socket_that_is_given_back_is_not_learnt,
				       setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
