// SPDX-License-Identifier: GPL-2.0-only
/* The ring of records: which connections it knows, and what a reader has missed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/time.h"
#include "serve/ring.h"

#define S 1000000000ULL
#define KEPT_NS (3600 * S)
/* With this many connections, the ring removes those without records. */
#define MANY 256

static void add(struct ring *r, unsigned int slot)
{
	const uint64_t now = monotonic_ns();
	const struct nt_record rec = {
		.side = NT_HOST, .op = NT_OP_READ, .slot = slot, .gen = 1, .points = {now, now}};
	const struct queue_info q = {.slot = slot, .gen = 1, .subsysnqn = "nqn.x"};

	if (ring_add(r, &rec, now))
		assert_int_equal(ring_tell(r, &q), 0);
}

/* Adds a block with one record of each connection. */
static void add_block(struct ring *r, unsigned int connections)
{
	for (unsigned int slot = 0; slot < connections; slot++)
		add(r, slot);
	ring_end_block(r);
}

static int setup(void **state)
{
	static struct ring r;

	*state = &r;
	return ring_init(&r, KEPT_NS, RING_BYTES_MIN);
}

static int teardown(void **state)
{
	ring_free(*state);
	return 0;
}

static void connections_are_known_as_long_as_there_are_records_of_them(void **state)
{
	struct ring *r = *state;

	add_block(r, MANY);
	assert_int_equal(HASH_COUNT(r->queues), MANY);
	add(r, MANY);
	assert_int_equal(HASH_COUNT(r->queues), MANY + 1);
}

static void connections_without_records_are_forgotten(void **state)
{
	struct ring *r = *state;

	add_block(r, MANY);
	ring_age(r, monotonic_ns() + 2 * KEPT_NS);
	assert_null(r->oldest);
	add(r, MANY);
	assert_int_equal(HASH_COUNT(r->queues), 1);
}

static bool knows(const struct ring *r, unsigned int slot)
{
	struct ring_queue key = {.key = {.slot = slot, .gen = 1}}, *found;

	HASH_FIND(hh, r->queues, &key.key, sizeof(key.key), found);
	return found;
}

static void connections_past_the_last_are_counted_until_others_have_no_records(void **state)
{
	struct ring *r = *state;

	add_block(r, RING_QUEUES_MAX);
	assert_true(knows(r, RING_QUEUES_MAX - 1));
	assert_int_equal(r->unnamed, 0);
	/* Once for each block that has records of it. */
	for (uint64_t block = 1; block <= 3; block++) {
		add(r, RING_QUEUES_MAX);
		add(r, RING_QUEUES_MAX);
		assert_false(knows(r, RING_QUEUES_MAX));
		assert_int_equal(r->unnamed, block);
		ring_end_block(r);
	}
	ring_age(r, monotonic_ns() + 2 * KEPT_NS);
	add(r, RING_QUEUES_MAX);
	assert_true(knows(r, RING_QUEUES_MAX));
	assert_int_equal(r->unnamed, 3);
}

static void names_of_namespaces_that_give_way_are_counted(void **state)
{
	struct ring *r = *state;

	for (struct device_name d = {.nsid = 1}; d.nsid <= RING_DEVICES_MAX + 2; d.nsid++) {
		assert_int_equal(ring_tell_device(r, &d), 0);
		assert_int_equal(r->unnamed,
				 d.nsid > RING_DEVICES_MAX ? d.nsid - RING_DEVICES_MAX : 0);
	}
	assert_int_equal(HASH_COUNT(r->devices), RING_DEVICES_MAX);
}

/*
 * Blocks of one, two and three records all give way to others; the reader is at another block each
 * time.
 */
static void what_goes_before_it_is_read_is_missed(void **state)
{
	static const uint64_t missed[] = {0, 6, 5, 3, 0};
	struct ring *r = *state;

	r->max = 3;
	for (uint64_t reader = 0; reader < sizeof(missed) / sizeof(missed[0]); reader++) {
		const uint64_t first = r->numbers;

		for (unsigned int n = 1; n <= 3; n++)
			add_block(r, n);
		r->missed = 0;
		r->reader = reader ? first + reader : 0;
		for (unsigned int n = 1; n <= 3; n++)
			add_block(r, 10);
		assert_int_equal(r->kept, 30);
		assert_int_equal(r->missed, missed[reader]);
	}
}

/* Between a trigger and the first write may lie a pause of the whole machine. */
static void what_a_reader_waits_for_does_not_age(void **state)
{
	struct ring *r = *state;

	for (unsigned int n = 1; n <= 3; n++)
		add_block(r, n);
	r->reader = 2;
	ring_age(r, monotonic_ns() + 2 * KEPT_NS);
	assert_int_equal(r->kept, 5);
	assert_int_equal(r->missed, 0);
	assert_int_equal(ring_from(r, r->reader)->records.records, 2);
	r->reader = 3;
	ring_age(r, monotonic_ns() + 2 * KEPT_NS);
	assert_int_equal(r->kept, 3);
	r->reader = 0;
	ring_age(r, monotonic_ns() + 2 * KEPT_NS);
	assert_int_equal(r->kept, 0);
	assert_int_equal(r->missed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(connections_are_known_as_long_as_there_are_records_of_them),
		TEST(connections_without_records_are_forgotten),
		TEST(connections_past_the_last_are_counted_until_others_have_no_records),
		TEST(names_of_namespaces_that_give_way_are_counted),
		TEST(what_goes_before_it_is_read_is_missed),
		TEST(what_a_reader_waits_for_does_not_age),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
