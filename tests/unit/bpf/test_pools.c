// SPDX-License-Identifier: GPL-2.0-only
/* What programs take from the pools: as many items as they use, each for one purpose. */
#include "bpf/host.h"

#define CPUS 8

static struct nt_queue *const queue = &kernel.queues[3];
static const struct nt_record read_of_queue = {.slot = 3, .op = NT_OP_READ, .length = 4096};

static int setup(void **state)
{
	kernel_reset();
	return 0;
}

static __u64 durations(const struct nt_hist *h)
{
	__u64 n = 0;

	for (unsigned int b = 0; b < NT_BUCKETS; b++)
		n += h->buckets[b];
	return n;
}

static void a_cpu_that_ends_commands_has_a_histogram_and_no_other(void **state)
{
	for (int round = 0; round < 3; round++)
		for (kernel.cpu = 0; kernel.cpu < CPUS; kernel.cpu++)
			latency_count(queue, &read_of_queue, queue->gen, kernel.cpu, 1000);
	assert_int_equal(nt_pools[NT_POOL_HISTS].taken, CPUS);
	for (__u32 nr = 1; nr <= CPUS; nr++) {
		assert_int_equal(durations(hist_at(nr)), 3);
		assert_int_equal(hist_at(nr)->bytes, 3 * 4096);
	}
	assert_int_equal(latencies(), 3 * CPUS);
}

static void queues_operations_and_connections_are_apart(void **state)
{
	struct nt_record r = read_of_queue;

	latency_count(queue, &r, queue->gen, kernel.cpu, 1000);
	r.op = NT_OP_WRITE;
	latency_count(queue, &r, queue->gen, kernel.cpu, 1000);
	queue->gen++;
	latency_count(queue, &r, queue->gen, kernel.cpu, 1000);
	r.slot = 4;
	latency_count(&kernel.queues[4], &r, 0, kernel.cpu, 1000);
	assert_int_equal(nt_pools[NT_POOL_HISTS].taken, 4);
}

/*
 * Two places are used in turn. A value that an earlier interval left there does not count for this
 * one.
 */
static void maximum_is_that_of_its_interval(void **state)
{
	static const __u64 longest[] = {5000, 400, 30, 6000};
	struct nt_record r = read_of_queue;

	for (nt_control.epoch = 1; nt_control.epoch <= 4; nt_control.epoch++) {
		const __u64 ns = longest[nt_control.epoch - 1];
		const __u32 at = nt_control.epoch & 1;

		const __s32 nr = latency_count(queue, &r, 0, kernel.cpu, ns);

		assert_int_equal(nr, 1);
		assert_int_equal(latency_count(queue, &r, 0, kernel.cpu, ns - 1), nr);
		assert_int_equal(hist_at(1)->max[at], ns);
		for (int i = 0; i < NT_POINTS_MAX; i++)
			r.points[i] = i * ns;
		assert_true(stages_count(NT_HOST, &r, NT_SHAPE_NO_DATA, 0, kernel.cpu, nr));
		for (int i = 0; i < NT_STAGES_MAX; i++) {
			const struct nt_stage_hist *h = &stages_at(1)->h[i];

			if (!(stages_passed(NT_HOST, NT_SHAPE_NO_DATA) & 1u << i))
				continue;
			/* A stage may be several points long. */
			assert_int_not_equal(h->max[at], 0);
			assert_uint_in_range(h->max[at], ns, NT_POINTS_MAX * ns);
			assert_int_equal(h->max_epoch[at], nt_control.epoch);
		}
	}
}

/*
 * Gives the histogram back as user space does: no entry leads to it any more, and it is all zeroes.
 */
static void histogram_that_was_given_back_is_nobodys(void **state)
{
	__u16 nr;

	latency_count(queue, &read_of_queue, queue->gen, kernel.cpu, 1000);
	nr = queue->hist[NT_OP_READ];
	memset(hist_at(nr), 0, sizeof(*hist_at(nr)));
	latency_count(queue, &read_of_queue, queue->gen, kernel.cpu, 1000);
	assert_int_equal(durations(hist_at(nr)), 0);
	assert_int_equal(nt_pools[NT_POOL_HISTS].taken, 2);
	latency_count(queue, &read_of_queue, queue->gen, kernel.cpu, 1000);
	assert_int_equal(nt_pools[NT_POOL_HISTS].taken, 2);
	assert_int_equal(latencies(), 2);
}

static void without_a_histogram_left_all_are_counted_together(void **state)
{
	struct nt_record r = read_of_queue;

	nt_pools[NT_POOL_HISTS].taken = nt_pools[NT_POOL_HISTS].given;
	for (kernel.cpu = 0; kernel.cpu < CPUS; kernel.cpu++) {
		latency_count(queue, &r, queue->gen, kernel.cpu, 1000);
		r.slot = kernel.cpu;
		others_count(queue, &r, queue->gen);
	}
	assert_int_equal(durations(&kernel.shared), CPUS);
	assert_int_equal(kernel.shared.others, CPUS);
	assert_int_equal(kernel.shared.bytes, CPUS * 4096);
	assert_int_equal(counted(NT_CNT_HIST_FULL), 2 * CPUS);
}

/* Each queue counts once, up to any number of queues. */
static void queues_past_a_limit_are_told_apart(void **state)
{
	memset(nt_past, 0, sizeof(nt_past));
	for (int round = 0; round < 2; round++)
		for (__u32 slot = 0; slot < 1000; slot++)
			count_past(NT_PAST_SLOTS, slot);
	count_past(NT_PAST_HISTS, NT_PAST_QUEUES - 1);
	assert_int_equal(queues_past(NT_PAST_SLOTS), 1000);
	assert_int_equal(queues_past(NT_PAST_HISTS), 1);
	assert_int_equal(counted(NT_CNT_NO_SLOT), 2000);
	assert_int_equal(counted(NT_CNT_HIST_FULL), 1);
}

static void user_space_is_called_before_there_is_nothing_left(void **state)
{
	nt_pools[NT_POOL_JOINS].low = 5;
	while (pool_left(NT_POOL_JOINS) > 5) {
		assert_int_equal(kernel.calls, 0);
		assert_int_not_equal(nt_take(NT_POOL_JOINS), 0);
	}
	assert_int_equal(kernel.calls, 1);
	while (pool_left(NT_POOL_JOINS))
		assert_int_not_equal(nt_take(NT_POOL_JOINS), 0);
	assert_int_equal(kernel.calls, 2);
	assert_int_equal(nt_take(NT_POOL_JOINS), 0);
	assert_int_equal(nt_take(NT_POOLS_NR), 0);
}

/* The numbers of the ring wrap, whichever item is there. */
static void pool_is_a_ring(void **state)
{
	struct nt_pool *p = &nt_pools[NT_POOL_HISTS];

	for (int again = 0; again < 2; again++) {
		const __u32 begin = again ? ~0u - 1 : NT_FREE_MAX - 2;

		p->taken = p->given = begin;
		for (__u16 nr = 5; nr < 9; nr++)
			nt_free[NT_POOL_HISTS][p->given++ % NT_FREE_MAX] = nr;
		for (__u32 nr = 5; nr < 9; nr++)
			assert_int_equal(nt_take(NT_POOL_HISTS), nr);
		assert_int_equal(nt_take(NT_POOL_HISTS), 0);
		assert_int_equal(p->taken, p->given);
	}
}

static void deep_queue_takes_a_piece_for_each_128_tags(void **state)
{
	struct nt_cmd *c, *left;

	for (__u32 tag = 0; tag < 4096; tag++) {
		c = cmd_claim(queue, tag, 0x10000 + tag * 64, 0, &left);
		assert_non_null(c);
		assert_ptr_equal(c, cmd_by_tag(queue, tag));
	}
	assert_int_equal(nt_pools[NT_POOL_CMDS].taken, 32);
	for (__u32 tag = 0; tag < 4096; tag++)
		cmd_by_tag(queue, tag)->owner++;
	for (__u32 tag = 0; tag < 4096; tag++)
		assert_int_equal(cmd_by_tag(queue, tag)->owner, 1);
	assert_null(cmd_claim(queue, 4096, 64, 0, &left));
}

/*
 * Each item has memory of its own in whichever bank it is. The number of an item that does not
 * exist leads to NULL.
 */
static void items_of_all_banks_are_apart(void **state)
{
	for (__u32 i = 0; i < PIECES * NT_CHUNK_CMDS; i++)
		cmd_at(i)->owner = i + 1;
	for (__u32 nr = 0; nr < HISTS; nr++)
		hist_at(nr)->key = nr + 1;
	for (__u32 nr = 0; nr < STAGES; nr++)
		stages_at(nr)->h[0].key = nr + 1;
	for (__u32 i = 0; i < PIECES * NT_CHUNK_CMDS; i++)
		assert_int_equal(cmd_at(i)->owner, i + 1);
	for (__u32 nr = 0; nr < HISTS; nr++)
		assert_int_equal(hist_at(nr)->key, nr + 1);
	for (__u32 nr = 0; nr < STAGES; nr++)
		assert_int_equal(stages_at(nr)->h[0].key, nr + 1);
	assert_null(cmd_at(PIECES * NT_CHUNK_CMDS));
	assert_null(hist_at(HISTS));
	assert_null(stages_at(STAGES));
}

/* There are as many slots as the map has queues here. */
static void queues_are_found_by_their_addresses(void **state)
{
	__u32 slot;

	for (__u32 i = 0; i < SLOTS; i++)
		slot_index_set(0xffff888000001000 + i * 0x800, i);
	for (__u32 i = 0; i < SLOTS; i++) {
		assert_ptr_equal(queue_by_index(0xffff888000001000 + i * 0x800, &slot),
				 &kernel.queues[i]);
		assert_int_equal(slot, i);
	}
	assert_null(queue_by_index(0xffff888000000000, &slot));
}

/* An entry is used again where two addresses have the same place. */
static void queue_at_another_address_is_not_found_at_the_one_before(void **state)
{
	const __u64 first = 0xffff888000001000;
	__u64 other = first + 0x800;
	unsigned int used = 0;
	__u32 slot;

	while (slot_bucket(slot_hash(other)) != slot_bucket(slot_hash(first)))
		other += 0x800;
	slot_index_set(first, 5);
	slot_index_set(other, 5);
	slot_index_set(other, 5);
	queue_by_index(other, &slot);
	assert_int_equal(slot, 5);
	queue_by_index(first, &slot);
	assert_int_equal(slot, ~0u);
	/* Another queue gets an entry of its own; at the same address it gets the same entry. */
	slot_index_set(first, 4);
	slot_index_set(other, 6);
	queue_by_index(first, &slot);
	assert_int_equal(slot, 4);
	queue_by_index(other, &slot);
	assert_int_equal(slot, 6);
	for (unsigned int i = 0; i < NT_SLOT_WAYS; i++)
		used += slot_bucket(slot_hash(first))->at[i] != 0;
	assert_int_equal(used, 2);
}

static void thousands_of_queues_have_their_places_in_the_index(void **state)
{
	const __u32 queues_nr = 4096;
	unsigned int found = 0;
	__u32 slot;

	for (__u32 i = 0; i < queues_nr; i++)
		slot_index_set(0xffff888000001000 + i * 0x800, i);
	for (__u32 i = 0; i < queues_nr; i++) {
		queue_by_index(0xffff888000001000 + i * 0x800, &slot);
		found += slot == i;
	}
	assert_uint_in_range(found, queues_nr - queues_nr / 100, queues_nr);
}

/* Commands with neighbouring tags may be on different CPUs. */
static void states_of_two_commands_share_no_cache_line(void **state)
{
	struct nt_queue *q = queue_at(0);

	assert_int_equal(sizeof(struct nt_cmd) % 64, 0);
	for (__u32 tag = 0; tag < 2 * NT_CHUNK_CMDS; tag++)
		assert_int_equal((__u64)cmd_at(place_claim(q, tag)) % 64, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(a_cpu_that_ends_commands_has_a_histogram_and_no_other),
		TEST(queues_operations_and_connections_are_apart),
		TEST(maximum_is_that_of_its_interval),
		TEST(histogram_that_was_given_back_is_nobodys),
		TEST(without_a_histogram_left_all_are_counted_together),
		TEST(queues_past_a_limit_are_told_apart),
		TEST(user_space_is_called_before_there_is_nothing_left),
		TEST(pool_is_a_ring),
		TEST(deep_queue_takes_a_piece_for_each_128_tags),
		TEST(items_of_all_banks_are_apart),
		TEST(states_of_two_commands_share_no_cache_line),
		TEST(queues_are_found_by_their_addresses),
		TEST(queue_at_another_address_is_not_found_at_the_one_before),
		TEST(thousands_of_queues_have_their_places_in_the_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
