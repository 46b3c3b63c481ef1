// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a request began, on kernels from Linux 6.18 on: a request whose time is not asked for keeps
 * the time of its last use.
 */
#define KERNEL_IS_NEW
#include "bpf/host.h"

#define FLUSH_SEQ (1u << 2)
#define IO_STAT (1u << 8)

/* The structures of tests have few members: a queue's flags lie where the request has its queue. */
static __u64 start_of(__u32 flags, bool flush)
{
	struct request rq = {.q = (void *)(unsigned long)flags, .start_time_ns = 5};

	return start_time(&rq, flush);
}

static void start_time_is_that_of_a_request_that_is_timed(void **state)
{
	kernel_reset();
	assert_int_equal(start_of(IO_STAT, false), 5);
	assert_int_equal(start_of(IO_STAT | FLUSH_SEQ, true), 5);
	assert_int_equal(start_of(FLUSH_SEQ, true), 5);
	assert_int_equal(start_of(IO_STAT, true), 5);
	assert_int_equal(start_of(FLUSH_SEQ, false), 0);
	for (int flush = 0; flush < 2; flush++)
		assert_int_equal(start_of(~(IO_STAT | FLUSH_SEQ), flush), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start_time_is_that_of_a_request_that_is_timed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
