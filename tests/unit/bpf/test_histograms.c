// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a histogram counts, whose it is, and how the queue of a socket is found: by the tables that
 * the programs of both sides share.
 */
#include "bpf/host.h"

#define PAGE 4096
#define SLOT 3
#define WHO 9

static int setup(void **state)
{
	kernel_reset();
	memset(nt_past, 0, sizeof(nt_past));
	nt_control.epoch = 4;
	return 0;
}

static void end_of(__u32 who, __u64 latency)
{
	const struct nt_record r = {.slot = SLOT, .op = NT_OP_WRITE, .length = PAGE};

	latency_count(&kernel.queues[SLOT], &r, who, kernel.cpu, latency);
}

static void end_of_other(void)
{
	const struct nt_record r = {.slot = SLOT, .op = NT_OP_WRITE, .length = PAGE};

	others_count(&kernel.queues[SLOT], &r, WHO);
}

static struct nt_hist *own(void)
{
	return hist_at(kernel.queues[SLOT].hist[NT_OP_WRITE]);
}

static void no_histogram_is_left(void)
{
	nt_pools[NT_POOL_HISTS].taken = nt_pools[NT_POOL_HISTS].given;
}

/* A histogram of its own, or the one that is shared where none is left. */
static void assert_counts(const struct nt_hist *(*get)(void))
{
	const struct nt_hist *h;

	end_of(WHO, 500);
	end_of(WHO, 300);
	h = get();
	assert_int_equal(h->sum, 800);
	assert_int_equal(h->bytes, 2 * PAGE);
	assert_int_equal(h->buckets[nt_bucket(500)], 1);
	assert_int_equal(h->buckets[nt_bucket(300)], 1);
	assert_int_equal(h->max[0], 500);
	assert_int_equal(h->max_epoch[0], 4);
	/* Of the next interval, and the one after that. The reader reads the one before. */
	nt_control.epoch = 5;
	end_of(WHO, 100);
	assert_int_equal(h->max[1], 100);
	assert_int_equal(h->max_epoch[1], 5);
	assert_int_equal(h->max[0], 500);
	nt_control.epoch = 6;
	end_of(WHO, 50);
	end_of(WHO, 40);
	assert_int_equal(h->max[0], 50);
	assert_int_equal(h->max_epoch[0], 6);
	assert_int_equal(h->max[1], 100);
	assert_int_equal(h->sum, 990);
	end_of_other();
	end_of_other();
	assert_int_equal(h->others, 2);
	assert_int_equal(h->other_bytes, 2 * PAGE);
	assert_int_equal(h->bytes, 5 * PAGE);
	assert_int_equal(h->sum, 990);
}

static const struct nt_hist *get_own(void)
{
	return own();
}

static const struct nt_hist *get_shared(void)
{
	return &kernel.shared;
}

static void a_histogram_counts_all_of_a_command(void **state)
{
	assert_counts(get_own);
	assert_int_equal(counted(NT_CNT_HIST_FULL), 0);
	assert_int_equal(kernel.shared.others, 0);
}

static void the_shared_histogram_counts_all_of_a_command(void **state)
{
	no_histogram_is_left();
	assert_counts(get_shared);
	assert_int_equal(counted(NT_CNT_HIST_FULL), 7);
	assert_int_equal(queues_past(NT_PAST_HISTS), 1);
	/* Number 0 belongs to no queue. */
	assert_int_equal(hist_at(0)->key, 0);
	assert_int_equal(hist_at(0)->sum, 0);
}

/* As many as the loader has made, a power of two. */
static void cpus_share_histograms_by_their_number(void **state)
{
	no_histogram_is_left();
	nt_knobs.shared_mask = 3;
	kernel.cpu = 6;
	end_of(WHO, 1);
	assert_int_equal(kernel.shared_nr, 2);
	kernel.cpu = 3;
	end_of(WHO, 1);
	assert_int_equal(kernel.shared_nr, 3);
}

static void without_histograms_nothing_is_counted(void **state)
{
	nt_knobs.no_histograms = 1;
	end_of(WHO, 500);
	nt_knobs.no_histograms = 0;
	assert_int_equal(nt_pools[NT_POOL_HISTS].taken, 0);
	assert_int_equal(own()->sum, 0);
}

/* Each CPU has its own. The queue keeps the number of the first one, until a connection is new. */
static void a_histogram_belongs_to_a_cpu_and_a_connection(void **state)
{
	__u16 first;

	end_of(WHO, 500);
	first = kernel.queues[SLOT].hist[NT_OP_WRITE];
	kernel.cpu = 1;
	end_of(WHO, 70);
	end_of(WHO, 30);
	assert_int_equal(nt_pools[NT_POOL_HISTS].taken, 2);
	assert_int_equal(kernel.queues[SLOT].hist[NT_OP_WRITE], first);
	assert_int_equal(hist_at(first)->sum, 500);
	end_of(WHO + 1, 20);
	assert_int_equal(nt_pools[NT_POOL_HISTS].taken, 3);
	assert_int_not_equal(kernel.queues[SLOT].hist[NT_OP_WRITE], first);
	assert_int_equal(own()->sum, 20);
	assert_int_equal(own()->key, NT_HIST_KEY(SLOT, WHO + 1, NT_OP_WRITE, 1));
}

/* User space has given back those that were before it in its bucket. */
static void what_is_gone_from_a_bucket_hides_nothing(void **state)
{
	const __u64 key = NT_HIST_KEY(SLOT, WHO, NT_OP_WRITE, 0);
	struct nt_hist_bucket *b = &nt_hist_index[nt_hist_hash(key) >> (32 - NT_HIST_INDEX_BITS)];

	end_of(WHO, 500);
	b->at[1] = b->at[0];
	b->at[0] = NT_HIST_GONE;
	kernel.queues[SLOT].hist[NT_OP_WRITE] = 0;
	end_of(WHO, 300);
	assert_int_equal(nt_pools[NT_POOL_HISTS].taken, 1);
	assert_int_equal(own()->sum, 800);
	/* Their places are used again. */
	memset(b, 0, sizeof(*b));
	for (unsigned int i = 0; i < NT_HIST_WAYS; i++)
		b->at[i] = NT_HIST_GONE;
	memset(own(), 0, sizeof(*own()));
	end_of(WHO, 70);
	assert_int_equal(counted(NT_CNT_HIST_FULL), 0);
	assert_int_equal(nt_pools[NT_POOL_HISTS].taken, 2);
	assert_int_equal(own()->sum, 70);
	assert_int_equal(b->at[0] & NT_HIST_NR_MASK, kernel.queues[SLOT].hist[NT_OP_WRITE]);
}

/* Addresses of the same bucket. Return: the @nr th */
static __u64 address_of(unsigned int nr)
{
	const __u64 base = 0xffff888000000000;
	const struct nt_slot_bucket *b = slot_bucket(slot_hash(base));

	for (__u64 address = base;; address += 64)
		if (slot_bucket(slot_hash(address)) == b && !nr--)
			return address;
}

static __u32 slot_at(__u64 address)
{
	__u32 slot = 0;
	const struct nt_queue *q = queue_by_index(address, &slot);

	assert_ptr_equal(q, slot < SLOTS ? &kernel.queues[slot] : NULL);
	return slot;
}

static unsigned int entries(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < NT_SLOT_WAYS; i++)
		n += slot_bucket(slot_hash(address_of(0)))->at[i] != 0;
	return n;
}

static void a_queue_is_found_by_its_address(void **state)
{
	assert_int_equal(slot_at(address_of(0)), ~0u);
	slot_index_set(address_of(0), 0);
	slot_index_set(address_of(1), 5);
	assert_int_equal(slot_at(address_of(0)), 0);
	assert_int_equal(slot_at(address_of(1)), 5);
	assert_int_equal(slot_at(address_of(2)), ~0u);
	/* Another queue at the address of one that is gone. */
	slot_index_set(address_of(1), 6);
	assert_int_equal(slot_at(address_of(1)), 6);
	/* A slot whose queue has another address now. */
	slot_index_set(address_of(2), 6);
	assert_int_equal(slot_at(address_of(2)), 6);
	assert_int_equal(slot_at(address_of(1)), ~0u);
	assert_int_equal(entries(), 2);
}

/* In a full bucket, one of the others gives way. */
static void a_full_bucket_has_the_newest(void **state)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < NT_SLOT_WAYS; i++)
		slot_index_set(address_of(i), i);
	for (unsigned int i = 0; i < NT_SLOT_WAYS; i++)
		assert_int_equal(slot_at(address_of(i)), i);
	slot_index_set(address_of(NT_SLOT_WAYS), NT_SLOT_WAYS);
	assert_int_equal(slot_at(address_of(NT_SLOT_WAYS)), NT_SLOT_WAYS);
	for (unsigned int i = 0; i < NT_SLOT_WAYS; i++)
		found += slot_at(address_of(i)) == i;
	assert_int_equal(found, NT_SLOT_WAYS - 1);
}

/* User space looks for commands in flight only where one has begun. */
static void a_queue_knows_when_a_command_began_last(void **state)
{
	queue_begins(&kernel.queues[SLOT]);
	assert_int_equal(kernel.queues[SLOT].begun, 4);
	nt_control.epoch = 5;
	queue_begins(&kernel.queues[SLOT]);
	assert_int_equal(kernel.queues[SLOT].begun, 5);
}

static void only_sockets_of_the_driver_have_a_queue(void **state)
{
	static char function;
	struct sock sk = {.sk_receive_queue.next = (void *)&function, .sk_user_data = &function};

	nt_control.data_ready = (__u64)&function;
	assert_int_equal(queue_address_of(&sk), (__u64)&function);
	nt_control.data_ready++;
	assert_int_equal(queue_address_of(&sk), 0);
}

/* User space is called when few are left, and when none is. */
static void a_pool_calls_when_it_runs_out(void **state)
{
	static const unsigned int calls_after[] = {0, 1, 1, 2, 2};

	memset(nt_pools, 0, sizeof(nt_pools));
	pool_fill(NT_POOL_JOINS, 5);
	nt_pools[NT_POOL_JOINS].low = 2;
	for (__u32 i = 0; i < 5; i++) {
		assert_int_equal(nt_take(NT_POOL_JOINS), i < 4 ? i + 1 : 0);
		assert_int_equal(kernel.calls, calls_after[i]);
	}
	/* The numbers go around. */
	nt_pools[NT_POOL_JOINS].taken = nt_pools[NT_POOL_JOINS].given = NT_FREE_MAX;
	nt_free[NT_POOL_JOINS][0] = 7;
	nt_pools[NT_POOL_JOINS].given++;
	assert_int_equal(nt_take(NT_POOL_JOINS), 7);
	assert_int_equal(nt_take(NT_POOLS_NR), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, setup)
		TEST(a_histogram_counts_all_of_a_command),
		TEST(the_shared_histogram_counts_all_of_a_command),
		TEST(cpus_share_histograms_by_their_number),
		TEST(without_histograms_nothing_is_counted),
		TEST(a_histogram_belongs_to_a_cpu_and_a_connection),
		TEST(what_is_gone_from_a_bucket_hides_nothing),
		TEST(a_queue_is_found_by_its_address),
		TEST(a_full_bucket_has_the_newest),
		TEST(a_queue_knows_when_a_command_began_last),
		TEST(only_sockets_of_the_driver_have_a_queue),
		TEST(a_pool_calls_when_it_runs_out),
	};

	return cmocka_run_group_tests_name("histograms", tests, NULL, NULL);
}
