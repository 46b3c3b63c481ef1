// SPDX-License-Identifier: GPL-2.0-only
/* What an interval takes of a histogram in which a program counts meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/stats.h"
#include "shared/buckets.h"
#include "trace/histograms.h"
#include "trace/private.h"

static struct {
	struct tracer t;
	struct nt_knobs knobs;
	struct nt_hist h; /* the one that CPUs share: it needs no pool */
	struct stats s;
} m;

static int setup(void **state)
{
	memset(&m, 0, sizeof(m));
	m.t.object.knobs = &m.knobs;
	m.t.object.hists_shared = &m.h;
	return histograms_init(&m.t);
}

static int teardown(void **state)
{
	histograms_free(&m.t);
	stats_free(&m.s);
	return 0;
}

/* A program counts a duration, as hist_count() of bpf/histograms.bpf.h. */
static void count_in(uint32_t epoch, uint64_t ns)
{
	if (m.h.max_epoch[epoch & 1] != epoch)
		m.h.max[epoch & 1] = 0;
	m.h.max_epoch[epoch & 1] = epoch;
	if (m.h.max[epoch & 1] < ns)
		m.h.max[epoch & 1] = ns;
	m.h.buckets[nt_bucket(ns)]++;
	m.h.sum += ns;
}

/* Return: the longest of interval @epoch; @count: filled, how many there were */
static uint64_t longest_of(uint32_t epoch, uint64_t *count)
{
	struct stats_row *row = stats_others(&m.s, NT_OP_OTHER);

	assert_non_null(row);
	memset(&row->interval, 0, sizeof(row->interval));
	assert_int_equal(histograms_rows(&m.t, &m.s, epoch), 0);
	*count = row->interval.count;
	return row->interval.max;
}

/*
 * The next interval has begun on the CPU when its program counts, and this read takes the duration.
 * The maximum that the program noted for the next interval stays. So the longest of that interval
 * is known by its bucket alone: it is never longer than what the bucket holds.
 */
static void what_ends_during_a_read_is_in_one_interval(void **state)
{
	const uint64_t longest = 50000, next[] = {2000, longest - 1};
	uint64_t count, max;

	for (uint32_t i = 0; i < 2; i++) {
		uint32_t epoch = 1 + 2 * i;

		count_in(epoch, 1000);
		count_in(epoch + 1, longest);
		assert_int_equal(longest_of(epoch, &count), longest);
		assert_int_equal(count, 2);
		count_in(epoch + 1, next[i]);
		max = longest_of(epoch + 1, &count);
		assert_int_equal(count, 1);
		assert_true(max >= next[i]);
		assert_int_equal(nt_bucket(max), nt_bucket(next[i]));
		/* It is exact again in the one after that. */
		count_in(epoch + 2, 1500);
		assert_int_equal(longest_of(epoch + 2, &count), 1500);
		assert_int_equal(count, 1);
	}
	assert_int_equal(stats_others(&m.s, NT_OP_OTHER)->total.count, 8);
	assert_int_equal(stats_others(&m.s, NT_OP_OTHER)->total.max, longest);
}

/* A program adds the bytes of a command after all else. Where this reads before that, they are in
 * the next interval. */
static void bytes_that_come_during_a_read_are_in_the_next_interval(void **state)
{
	uint64_t count;

	count_in(1, 1000);
	m.h.others++;
	longest_of(1, &count);
	assert_int_equal(count, 1);
	assert_int_equal(stats_others(&m.s, NT_OP_OTHER)->total.bytes, 0);
	m.h.bytes += 4096;
	m.h.other_bytes += 512;
	longest_of(2, &count);
	assert_int_equal(count, 0);
	assert_int_equal(stats_others(&m.s, NT_OP_OTHER)->total.bytes, 4096);
	assert_int_equal(stats_others(&m.s, NT_OP_OTHER)->others_total.commands, 1);
	assert_int_equal(stats_others(&m.s, NT_OP_OTHER)->others_total.bytes, 512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_ends_during_a_read_is_in_one_interval, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			bytes_that_come_during_a_read_are_in_the_next_interval, setup, teardown),
	};

	return cmocka_run_group_tests_name("histograms", tests, NULL, NULL);
}
