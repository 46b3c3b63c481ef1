// SPDX-License-Identifier: GPL-2.0-only
/* The slowest command of each operation, for the page of serve. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cli/slowest.h"
#include "core/time.h"
#include "in_range.h"

#define MS 1000000ULL

uint32_t tracer_missing(const struct tracer *t)
{
	return 0;
}

void tracer_controller_name(const struct tracer *t, const struct nt_record *r, char *buf,
			    size_t size)
{
	snprintf(buf, size, "nvme%u", r->slot);
}

uint32_t tracer_who(const struct tracer *t, const struct nt_record *r)
{
	return r->gen + 7;
}

/* A command that ended @ago ns ago and took @ns. */
static struct nt_record took(uint64_t ns, uint64_t ago, uint16_t cid)
{
	const uint64_t end = monotonic_ns() - ago;

	return (struct nt_record){
		.side = NT_HOST,
		.op = NT_OP_READ,
		.cid = cid,
		.slot = 3,
		.gen = 2,
		.points = {[NT_H_SUBMIT] = end - ns, [NT_H_COMPLETE] = end},
	};
}

/*
 * Commands that failed or were given up are in no histogram. Of two commands that took equally
 * long, the first one counts.
 */
static void slowest_is_one_that_ended_well(void **state)
{
	struct slowest s = {.ns = {0}};
	struct nt_record r;

	r = took(5 * MS, 0, 1);
	slowest_record(&s, &r);
	r = took(3 * MS, 0, 2);
	slowest_record(&s, &r);
	r = took(5 * MS, 0, 3);
	slowest_record(&s, &r);
	r = took(7 * MS, 0, 4);
	r.status = 0x281;
	slowest_record(&s, &r);
	r = took(8 * MS, 0, 5);
	r.flags = NT_F_CANCELLED;
	slowest_record(&s, &r);
	slowest_interval(&s, NULL);
	assert_int_equal(s.told[NT_OP_READ].cid, 1);
	assert_int_equal(s.told[NT_OP_READ].ns, 5 * MS);
	assert_string_equal(s.told[NT_OP_READ].controller, "nvme3");
	assert_int_equal(s.told[NT_OP_READ].slot, 3);
	assert_int_equal(s.told[NT_OP_READ].who, 9);
	assert_int_equal(s.told[NT_OP_WRITE].ns, 0);
	/* The next interval begins without any. */
	slowest_interval(&s, NULL);
	assert_int_equal(s.told[NT_OP_READ].ns, 0);
}

static void it_ended_when_the_wall_clock_said_so(void **state)
{
	const uint64_t hour = 3600 * 1000 * MS;
	struct nt_record r = took(5 * MS, hour, 1);
	struct slowest s = {.ns = {0}};
	uint64_t before, after;

	slowest_record(&s, &r);
	before = (uint64_t)realtime_ns();
	slowest_interval(&s, NULL);
	after = (uint64_t)realtime_ns();
	/* To the minute, as a test may be delayed at any point. */
	assert_uint_in_range(s.told[NT_OP_READ].ended_ms, (before - hour) / MS - 60000,
			     (after - hour) / MS + 60000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slowest_is_one_that_ended_well),
		cmocka_unit_test(it_ended_when_the_wall_clock_said_so),
	};

	return cmocka_run_group_tests_name("slowest", tests, NULL, NULL);
}
