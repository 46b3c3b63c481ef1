// SPDX-License-Identifier: GPL-2.0-only
/* Commands that are sorted in a file. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "merge/spool.h"

/* Adds @nr commands that began at any time, and reads them. @mask: of the times; few mean equal
 * ones */
static void check_order(uint64_t nr, uint64_t mask)
{
	int fd = memfd_create("spool", 0);
	struct spool *s = spool_new(fd);
	uint64_t sum = 0, last = 0, n = 0, random = 1;
	struct spool_command c;
	int got;

	assert_non_null(s);
	for (uint64_t i = 0; i < nr; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		c = (struct spool_command){.begin_ns = random & mask, .offset = i};
		assert_int_equal(spool_add(s, &c), 0);
	}
	assert_int_equal(spool_read(s), 0);
	while ((got = spool_next(s, &c)) > 0) {
		assert_true(c.begin_ns >= last);
		last = c.begin_ns;
		sum += c.offset;
		n++;
	}
	assert_int_equal(got, 0);
	assert_int_equal(spool_next(s, &c), 0);
	assert_int_equal(n, nr);
	assert_int_equal(sum, nr ? nr * (nr - 1) / 2 : 0);
	spool_free(s);
	close(fd);
}

static void commands_come_in_the_order_of_their_beginnings(void **state)
{
	static const uint64_t numbers[] = {0,
					   1,
					   2,
					   127,
					   128,
					   129,
					   SPOOL_RUN - 1,
					   SPOOL_RUN,
					   SPOOL_RUN + 1,
					   5 * SPOOL_RUN + 200};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		check_order(numbers[i], ~0ULL);
		check_order(numbers[i], 7);
	}
}

static void a_full_disk_is_an_error(void **state)
{
	int fd = open("/dev/full", O_RDWR);
	struct spool *s = spool_new(fd);
	struct spool_command c = {.begin_ns = 1};

	assert_true(fd >= 0);
	assert_int_equal(spool_add(s, &c), 0);
	assert_int_equal(spool_read(s), -ENOSPC);
	spool_free(s);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_come_in_the_order_of_their_beginnings),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests_name("spool", tests, NULL, NULL);
}
