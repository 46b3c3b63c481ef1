// SPDX-License-Identifier: GPL-2.0-only
/* The places of names and numbers in tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/hash.h"

#define NUMBERS 1000
#define MASK 0xffu
/* Of so many numbers, some 4 share one of 256 places; 30 never do. */
#define TOGETHER 30

static void assert_spread(const unsigned int place[NUMBERS])
{
	unsigned int nr[MASK + 1] = {0};

	for (size_t i = 0; i < NUMBERS; i++)
		assert_in_range(++nr[place[i] & MASK], 1, TOGETHER);
}

/* They would share a place if the program used the constants. */
static void chosen_numbers_have_places_apart(void **state)
{
	const uint64_t before[2] = {hash_secret[0], hash_secret[1]};
	unsigned int pair[NUMBERS], bytes[NUMBERS];
	uint64_t pairs[NUMBERS], texts[NUMBERS];
	size_t nr = 0;

	for (uint64_t i = 0; nr < NUMBERS; i++)
		if (!(hash_pair(i, 7) & MASK))
			pairs[nr++] = i;
	nr = 0;
	for (uint64_t i = 0; nr < NUMBERS; i++)
		if (!(hash_bytes(&i, sizeof(i)) & MASK))
			texts[nr++] = i;
	hash_seed();
	assert_true(hash_secret[0] != before[0] && hash_secret[1] != before[1]);
	for (size_t i = 0; i < NUMBERS; i++) {
		pair[i] = hash_pair(pairs[i], 7);
		bytes[i] = hash_bytes(&texts[i], sizeof(texts[i]));
	}
	assert_spread(pair);
	assert_spread(bytes);
	memcpy(hash_secret, before, sizeof(before));
}

/* A secret that is only added would leave these together, whatever it is. */
static void high_bits_reach_the_place(void **state)
{
	unsigned int first[NUMBERS], second[NUMBERS], bytes[NUMBERS];

	for (uint64_t i = 0; i < NUMBERS; i++) {
		const uint64_t high = i << 54;

		first[i] = hash_pair(high, 1);
		second[i] = hash_pair(1, high);
		bytes[i] = hash_bytes(&high, sizeof(high));
	}
	assert_spread(first);
	assert_spread(second);
	assert_spread(bytes);
}

static void all_bytes_count(void **state)
{
	char text[] = "0123456789abcdef0123";

	for (size_t length = 1; length < sizeof(text); length++) {
		unsigned int whole = hash_bytes(text, length);

		assert_int_not_equal(whole, hash_bytes(text, length - 1));
		text[length - 1] ^= 1;
		assert_int_not_equal(whole, hash_bytes(text, length));
		text[length - 1] ^= 1;
	}
}

/* A product with 0 would be 0 for all. */
static void no_number_hides_the_other(void **state)
{
	static const uint64_t zero[] = {0x9e3779b97f4a7c15ULL, 0xff51afd7ed558ccdULL};

	for (uint64_t i = 1; i < NUMBERS; i++) {
		assert_true(hash_two(i, zero[1]) != hash_two(0, zero[1]));
		assert_true(hash_two(zero[0], i) != hash_two(zero[0], 0));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chosen_numbers_have_places_apart),
		cmocka_unit_test(high_bits_reach_the_place),
		cmocka_unit_test(all_bytes_count),
		cmocka_unit_test(no_number_hides_the_other),
	};

	return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
