// SPDX-License-Identifier: GPL-2.0-only
/* Which commands a sample has: about one in N, equally of every tag, address, length and queue. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "shared/selection.h"

#define TAGS 128
#define GENERATIONS 16

/*
 * Five standard deviations of a binomial distribution: one correct sample in two million is
 * outside.
 */
static bool plausible(double got, double tries, double p)
{
	double off = got - tries * p;

	return off * off <= 25 * tries * p * (1 - p);
}

static bool visible(unsigned int n, unsigned int qid, unsigned int cid, unsigned int length,
		    uint64_t slba)
{
	return nt_sample_mix(qid, cid, length, slba) < nt_sample_threshold(n);
}

/* The command id of Linux: 12 bits of tag, and above them a counter of the tag's uses. */
static unsigned int cid_of(unsigned int tag, unsigned int use)
{
	return use % GENERATIONS << 12 | tag;
}

/* The rows of the table from which others implement the sample. */
static void the_documented_values_are_those(void **state)
{
	FILE *f = fopen("docs/stream-format.md", "r");
	unsigned int qid, cid, length, result, rows = 0;
	unsigned long long lba;
	char line[1024];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "| %u | 0x%x | %u | 0x%llx | 0x%x |", &qid, &cid, &length, &lba,
			   &result) != 5)
			continue;
		assert_int_equal(nt_sample_mix(qid, cid, length, lba), result);
		rows++;
	}
	fclose(f);
	assert_int_equal(rows, 7);
}

static void one_and_none_are_all(void **state)
{
	assert_int_equal(nt_sample_threshold(0), 0);
	assert_int_equal(nt_sample_threshold(1), 0);
}

static void about_one_in_n(void **state)
{
	static const unsigned int ns[] = {2, 3, 10, 64, 1000};

	for (size_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		unsigned int got = 0, tries = 2000000;

		for (unsigned int k = 0; k < tries; k++)
			got += visible(ns[i], 1, cid_of(k % TAGS, k / TAGS), 4096, 8ULL * k);
		assert_true(plausible(got, tries, 1.0 / ns[i]));
	}
}

static void no_tag_is_favoured(void **state)
{
	const unsigned int n = 16, uses = 16384;

	/* Each command has an address of its own, one after the other, as in a sequential load. */
	for (unsigned int tag = 0; tag < TAGS; tag++) {
		unsigned int got = 0;

		for (unsigned int use = 0; use < uses; use++)
			got += visible(n, 1, cid_of(tag, use), 4096,
				       (uint64_t)(use * TAGS + tag) * 8);
		assert_true(plausible(got, uses, 1.0 / n));
	}
}

static void no_address_is_favoured(void **state)
{
	const unsigned int n = 16;

	/*
	 * A region that is read again and again: each of its blocks is sampled from time to time.
	 */
	for (uint64_t slba = 0; slba < 8 * 256; slba += 8) {
		unsigned int got = 0, tries = 0;

		for (unsigned int tag = 0; tag < TAGS; tag++)
			for (unsigned int use = 0; use < GENERATIONS; use++, tries++)
				got += visible(n, 1, cid_of(tag, use), 4096, slba);
		assert_true(plausible(got, tries, 1.0 / n));
	}
}

static void no_length_or_queue_is_favoured(void **state)
{
	const unsigned int n = 16, tries = 65536;

	for (unsigned int length = 512; length <= 1 << 20; length *= 2) {
		for (unsigned int qid = 0; qid < 8; qid++) {
			unsigned int got = 0;

			for (unsigned int k = 0; k < tries; k++)
				got += visible(n, qid, cid_of(k % TAGS, k / TAGS), length,
					       (uint64_t)k * (length / 512));
			assert_true(plausible(got, tries, 1.0 / n));
		}
	}
}

static void a_smaller_sample_is_part_of_a_larger_one(void **state)
{
	for (unsigned int k = 0; k < 1000000; k++) {
		unsigned int cid = cid_of(k % TAGS, k / TAGS);

		if (visible(100, 1, cid, 4096, 8ULL * k))
			assert_true(visible(10, 1, cid, 4096, 8ULL * k));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_documented_values_are_those),
		cmocka_unit_test(one_and_none_are_all),
		cmocka_unit_test(about_one_in_n),
		cmocka_unit_test(no_tag_is_favoured),
		cmocka_unit_test(no_address_is_favoured),
		cmocka_unit_test(no_length_or_queue_is_favoured),
		cmocka_unit_test(a_smaller_sample_is_part_of_a_larger_one),
	};

	return cmocka_run_group_tests_name("sample", tests, NULL, NULL);
}
