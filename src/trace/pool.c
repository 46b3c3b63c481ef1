// SPDX-License-Identifier: GPL-2.0-only
#include "trace/pool.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Items kept ready: 1/RESERVE_PART of those taken, or half a bank if that is more. */
#define RESERVE_PART 16
/* Banks go when there has been more than enough for this many intervals. */
#define SPARE_INTERVALS 10

int pool_init(struct pool *p)
{
	size_t items = (size_t)p->per_bank * p->max_banks;

	p->bank = calloc(p->max_banks, sizeof(*p->bank));
	p->bank_free = calloc(p->max_banks, sizeof(*p->bank_free));
	p->bank_goes = calloc(p->max_banks, sizeof(*p->bank_goes));
	p->items = calloc(items, sizeof(*p->items));
	p->free = calloc(items, sizeof(*p->free));
	return p->bank && p->bank_free && p->bank_goes && p->items && p->free ? 0 : -ENOMEM;
}

uint32_t pool_items(const struct pool *p)
{
	return p->nr_banks * p->per_bank;
}

static uint32_t in_ring(const struct pool *p)
{
	return p->ring->given - __atomic_load_n(&p->ring->taken, __ATOMIC_ACQUIRE);
}

uint32_t pool_taken(const struct pool *p)
{
	uint32_t nobodys = p->nr_there ? 1 : 0;

	return p->nr_there * p->per_bank - p->nr_free - in_ring(p) - nobodys;
}

size_t pool_bytes(const struct pool *p)
{
	uint32_t banks = p->nr_there && p->first ? p->nr_there - 1 : p->nr_there;

	return banks * (p->bank_bytes ?: p->per_bank * p->item_bytes);
}

/*
 * Lower numbers come last, and so are given out first: the first bank costs programs less, and
 * higher banks may go.
 */
static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? 1 : -(*x > *y);
}

static void add_bank(struct pool *p, uint32_t bank, void *at)
{
	uint32_t first = bank * p->per_bank, nr = p->per_bank - (first ? 0 : 1);

	p->bank[bank] = at;
	p->nr_there++;
	if (p->nr_banks <= bank)
		p->nr_banks = bank + 1;
	for (uint32_t i = 0; i < nr; i++)
		p->free[p->nr_free++] = first + p->per_bank - 1 - i;
	p->unsorted = true;
	p->items[0] = POOL_OUT;
}

/* Return: false if there can be no more banks, or there is no memory. */
static bool grow(struct pool *p)
{
	uint32_t bank = 0;
	void *at;

	while (bank < p->nr_banks && p->bank[bank])
		bank++;
	if (bank == p->max_banks)
		return false;
	at = p->first && !bank ? p->first : p->add(p, bank);
	if (at)
		add_bank(p, bank, at);
	return at;
}

/* Items that are kept ready: half a bank, or a part of those taken if that is more. */
static uint32_t reserve(const struct pool *p)
{
	uint32_t part = pool_taken(p) / RESERVE_PART;

	return part > p->per_bank / 2 ? part : p->per_bank / 2;
}

/* Items that have to be free: @keep, or as many as @least needs if that is more. */
static uint32_t at_least(const struct pool *p, uint32_t keep)
{
	uint32_t taken = pool_taken(p), rest = p->least > taken ? p->least - taken : 0;

	return keep > rest ? keep : rest;
}

/*
 * Write the slot before advancing @given (release): a program that sees @given must see the number.
 */
static void ring_put(struct pool *p, uint32_t nr)
{
	p->numbers[p->ring->given & (NT_FREE_MAX - 1)] = (__u16)nr;
	__atomic_store_n(&p->ring->given, p->ring->given + 1, __ATOMIC_RELEASE);
}

bool pool_supply(struct pool *p, uint32_t expected)
{
	uint32_t wanted = reserve(p), ready = in_ring(p);
	bool added = false;

	/* Programs call when half of the reserve is left. */
	__atomic_store_n(&p->ring->low, p->kept + wanted / 2, __ATOMIC_RELAXED);
	wanted = p->kept + at_least(p, wanted > expected ? wanted : expected);
	while (ready + p->nr_free < wanted && grow(p))
		added = true;
	if (p->unsorted && ready < NT_FREE_MAX)
		qsort(p->free, p->nr_free, sizeof(*p->free), by_number);
	p->unsorted = p->unsorted && ready == NT_FREE_MAX;
	while (ready < NT_FREE_MAX && p->nr_free) {
		uint32_t nr = p->free[--p->nr_free];

		p->items[nr] = POOL_OUT;
		ring_put(p, nr);
		ready++;
	}
	if (p->used_most < pool_taken(p))
		p->used_most = pool_taken(p);
	return added;
}

/* Takes a number out of the ring, as programs do. Return: 0 if there is none. */
static uint32_t ring_take(struct pool *p)
{
	uint32_t taken = __atomic_load_n(&p->ring->taken, __ATOMIC_ACQUIRE), nr;

	do {
		if (taken == p->ring->given)
			return 0;
		nr = p->numbers[taken & (NT_FREE_MAX - 1)];
	} while (!__atomic_compare_exchange_n(&p->ring->taken, &taken, taken + 1, false,
					      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return nr;
}

static void count_free(struct pool *p)
{
	memset(p->bank_free, 0, p->max_banks * sizeof(*p->bank_free));
	for (uint32_t i = 0; i < p->nr_free; i++)
		p->bank_free[p->free[i] / p->per_bank]++;
}

static void count_ring(struct pool *p)
{
	uint32_t taken = __atomic_load_n(&p->ring->taken, __ATOMIC_ACQUIRE);

	for (; taken != p->ring->given; taken++)
		p->bank_free[p->numbers[taken & (NT_FREE_MAX - 1)] / p->per_bank]++;
}

/*
 * Chooses the highest banks that can go. @spare: items that are free; @keep of them stay.
 * Return: whether there are any
 */
static bool choose(struct pool *p, uint32_t spare, uint32_t keep)
{
	bool any = false;

	count_free(p);
	count_ring(p);
	for (uint32_t b = p->nr_banks; b-- > 0;) {
		p->bank_goes[b] = b && p->bank[b] && p->bank_free[b] == p->per_bank &&
				  spare >= keep + p->per_bank;
		spare -= p->bank_goes[b] ? p->per_bank : 0;
		any |= p->bank_goes[b];
	}
	return any;
}

/*
 * Takes the numbers of banks that can go out of the ring, and puts all others at its end. One at a
 * time, so that programs find the others there.
 */
static void withdraw(struct pool *p)
{
	for (uint32_t n = in_ring(p); n; n--) {
		uint32_t nr = ring_take(p);

		if (!nr)
			return;
		if (!p->bank_goes[nr / p->per_bank]) {
			ring_put(p, nr);
			continue;
		}
		p->items[nr] = POOL_FREE;
		p->free[p->nr_free++] = nr;
		p->unsorted = true;
	}
}

static bool remove_bank(struct pool *p, uint32_t bank)
{
	uint32_t kept = 0;

	if (!p->remove(p, bank))
		return false;
	for (uint32_t i = 0; i < p->nr_free; i++)
		if (p->free[i] / p->per_bank != bank)
			p->free[kept++] = p->free[i];
	p->nr_free = kept;
	p->bank[bank] = NULL;
	p->nr_there--;
	while (!p->bank[p->nr_banks - 1])
		p->nr_banks--;
	return true;
}

/* A program may have taken an item of a bank before it was withdrawn. Then the bank stays. */
bool pool_shrink(struct pool *p)
{
	uint32_t spare = in_ring(p) + p->nr_free, keep = p->kept + at_least(p, 2 * reserve(p));
	bool any = false;

	if (p->nr_there < 2 || spare < keep + p->per_bank) {
		p->spare_for = 0;
		return false;
	}
	if (++p->spare_for <= SPARE_INTERVALS)
		return false;
	p->spare_for = 0;
	if (!choose(p, spare, keep))
		return false;
	withdraw(p);
	count_free(p);
	for (uint32_t b = p->nr_banks; b-- > 1;)
		if (p->bank_goes[b] && p->bank_free[b] == p->per_bank)
			any |= remove_bank(p, b);
	return any;
}

void pool_wait(const struct pool *p)
{
	__u32 first = 0;

	/*
	 * The entry is there already. For a map of maps, the system call waits for an RCU grace
	 * period.
	 */
	if (p->grace.outer_fd)
		bpf_map_update_elem(p->grace.outer_fd, &first, &p->grace.inner_fd, BPF_ANY);
}

int pool_grace_open(struct pool_grace *g)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	__u32 first = 0;

	g->outer_fd = -1;
	g->inner_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "nothing", sizeof(__u32), sizeof(__u32), 1,
				     NULL);
	if (g->inner_fd < 0)
		return g->inner_fd;
	opts.inner_map_fd = (__u32)g->inner_fd;
	g->outer_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "grace", sizeof(__u32),
				     sizeof(__u32), 1, &opts);
	if (g->outer_fd < 0)
		return g->outer_fd;
	return bpf_map_update_elem(g->outer_fd, &first, &g->inner_fd, BPF_ANY);
}

void pool_grace_close(struct pool_grace *g)
{
	if (g->outer_fd > 0)
		close(g->outer_fd);
	if (g->inner_fd > 0)
		close(g->inner_fd);
	*g = (struct pool_grace){0};
}

static void mark_ring(const struct pool *p, uint8_t *used)
{
	uint32_t taken = __atomic_load_n(&p->ring->taken, __ATOMIC_ACQUIRE);

	for (; taken != p->ring->given; taken++)
		used[p->numbers[taken & (NT_FREE_MAX - 1)]] = 1;
}

void pool_look(struct pool *p, uint8_t *used, bool (*fn)(void *context, uint32_t nr), void *context)
{
	uint32_t taken = __atomic_load_n(&p->ring->taken, __ATOMIC_ACQUIRE);
	bool waited = false;

	mark_ring(p, used);
	used[0] = 1;
	p->look = false;
	for (uint32_t nr = 0; nr < pool_items(p); nr++) {
		if (p->items[nr] == POOL_FREE)
			continue;
		if (used[nr]) {
			p->items[nr] = POOL_OUT;
			continue;
		}
		p->look = true;
		if (p->items[nr] == POOL_OUT) {
			p->items[nr] = POOL_UNUSED;
			continue;
		}
		if (!waited)
			pool_wait(p);
		waited = true;
		if (fn(context, nr))
			pool_give_back(p, nr);
	}
	p->looked_taken = taken;
}

void pool_give_back(struct pool *p, uint32_t nr)
{
	memset(pool_at(p, nr), 0, p->item_bytes);
	p->items[nr] = POOL_FREE;
	p->free[p->nr_free++] = nr;
	p->unsorted = true;
}

void pool_close(struct pool *p)
{
	for (uint32_t i = 0; p->outer_fd && i < p->nr_banks; i++)
		if (p->bank[i] && p->bank[i] != p->first)
			munmap(p->bank[i], (size_t)p->per_bank * p->item_bytes);
	free(p->bank);
	free(p->bank_free);
	free(p->bank_goes);
	free(p->items);
	free(p->free);
	*p = (struct pool){0};
}
