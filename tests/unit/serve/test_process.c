// SPDX-License-Identifier: GPL-2.0-only
/* What the process says of itself, against what the kernel says in other places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <cmocka.h>

#include "in_range.h"
#include "serve/page.h"

#define MS 1000000ULL

static uint64_t cpu_ns(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
	return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

/* The two clocks of the kernel may differ by a tick. */
static void the_time_of_the_processor_is_the_kernels(void **state)
{
	struct process_cost c;
	uint64_t before, after;

	while (cpu_ns() < 100 * MS)
		;
	before = cpu_ns();
	process_cost(&c);
	after = cpu_ns();
	assert_uint_in_range(c.cpu_ns, before - 20 * MS, after + 20 * MS);
}

static void memory_that_is_used_is_counted(void **state)
{
	const size_t size = 64 << 20;
	struct process_cost before, after;
	void *more;

	process_cost(&before);
	more = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(more != MAP_FAILED);
	memset(more, 1, size);
	process_cost(&after);
	/* A sanitizer takes some besides. */
	assert_uint_in_range(after.resident_bytes - before.resident_bytes, size - size / 8,
			     size + size / 2);
	munmap(more, size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_time_of_the_processor_is_the_kernels),
		cmocka_unit_test(memory_that_is_used_is_counted),
	};

	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
