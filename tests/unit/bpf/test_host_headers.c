// SPDX-License-Identifier: GPL-2.0-only
/* Which queue's header is copied to an address, where several addresses share an entry. */
#include "bpf/host.h"

#define BASE 0xffff888100000000ULL
#define ALIKE (NT_HEADER_WAYS + 2)

/* Addresses that share an entry. */
static __u64 alike[ALIKE];

static int setup(void **state)
{
	unsigned int n = 0;

	kernel_reset();
	memset(nt_headers, 0, sizeof(nt_headers));
	for (__u64 at = BASE; n < ALIKE; at += NT_HEADER_ALIGN)
		if (header_entry(at, 0) == header_entry(BASE, 0))
			alike[n++] = at;
	return 0;
}

static void learn(__u32 slot, __u64 address)
{
	header_learn(queue_at(slot), slot, address);
	assert_int_equal(queue_at(slot)->header, address);
}

static void assert_is_of(__u32 slot, __u64 address)
{
	const struct nt_header *h = header_find(address);

	assert_non_null(h);
	assert_int_equal(h->slot, slot);
	assert_int_equal(h->address, address);
}

static unsigned int entries(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < 1u << NT_HEADER_BITS; i++)
		n += nt_headers[i].address != 0;
	return n;
}

static void header_is_known_by_each_of_its_bytes_and_no_other(void **state)
{
	learn(3, BASE);
	for (__u64 at = 0; at < 24 + 4; at++)
		assert_int_equal(header_find(BASE + at)->slot, 3);
	assert_null(header_find(BASE + 24 + 4));
	assert_null(header_find(BASE - 1));
	assert_null(header_find(alike[1]));
}

static void queues_of_one_place_are_told_apart(void **state)
{
	for (__u32 i = 0; i < NT_HEADER_WAYS; i++) {
		assert_null(header_find(alike[i]));
		learn(i, alike[i]);
		/* Learning an address again takes no second place. */
		learn(i, alike[i]);
		assert_int_equal(entries(), i + 1);
	}
	for (__u32 i = 0; i < NT_HEADER_WAYS; i++)
		assert_is_of(i, alike[i]);
	/* No place is free: the oldest address is dropped. */
	learn(NT_HEADER_WAYS, alike[NT_HEADER_WAYS]);
	assert_is_of(NT_HEADER_WAYS, alike[NT_HEADER_WAYS]);
	assert_null(header_find(alike[0]));
	for (__u32 i = 1; i < NT_HEADER_WAYS; i++)
		assert_is_of(i, alike[i]);
	assert_int_equal(entries(), NT_HEADER_WAYS);
}

static void entry_of_a_queue_that_has_other_memory_is_taken(void **state)
{
	for (__u32 i = 0; i < NT_HEADER_WAYS; i++)
		learn(i, alike[i]);
	learn(3, BASE + 0x1000000);
	learn(9, alike[ALIKE - 1]);
	assert_is_of(9, alike[ALIKE - 1]);
	assert_is_of(3, BASE + 0x1000000);
	for (__u32 i = 0; i < NT_HEADER_WAYS; i++)
		if (i != 3)
			assert_is_of(i, alike[i]);
	/* Queue 5 gets the address that was queue 2's. */
	learn(5, alike[2]);
	assert_is_of(5, alike[2]);
	assert_int_equal(entries(), NT_HEADER_WAYS + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(header_is_known_by_each_of_its_bytes_and_no_other),
		TEST(queues_of_one_place_are_told_apart),
		TEST(entry_of_a_queue_that_has_other_memory_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
