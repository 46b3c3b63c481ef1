// SPDX-License-Identifier: GPL-2.0-only
#include "trace/pool.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of what is taken, the part that more is kept ready for than half a bank. */
#define RESERVE_PART 8

int pool_init(struct pool *p)
{
	size_t items = (size_t)p->per_bank * p->max_banks;

	p->bank = calloc(p->max_banks, sizeof(*p->bank));
	p->items = calloc(items, sizeof(*p->items));
	p->free = calloc(items, sizeof(*p->free));
	return p->bank && p->items && p->free ? 0 : -ENOMEM;
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
	uint32_t nobodys = p->nr_banks ? 1 : 0;

	return pool_items(p) - p->nr_free - in_ring(p) - nobodys;
}

size_t pool_bytes(const struct pool *p)
{
	uint32_t banks = p->nr_banks && p->first ? p->nr_banks - 1 : p->nr_banks;

	return (size_t)banks * p->per_bank * p->item_bytes;
}

/*
 * The list is taken from at its end, and what is in lower banks comes first: programs reach the first one for less.
 */
static void add_bank(struct pool *p, void *at)
{
	uint32_t first = p->nr_banks * p->per_bank, nr = p->per_bank - (first ? 0 : 1);

	p->bank[p->nr_banks++] = at;
	memmove(p->free + nr, p->free, p->nr_free * sizeof(*p->free));
	for (uint32_t i = 0; i < nr; i++)
		p->free[i] = first + p->per_bank - 1 - i;
	p->nr_free += nr;
	p->items[0] = POOL_OUT;
}

bool pool_supply(struct pool *p, uint32_t expected)
{
	uint32_t wanted = p->per_bank / 2, ready = in_ring(p), part;
	bool added = false;
	void *at;

	part = pool_taken(p) / RESERVE_PART;
	if (wanted < part)
		wanted = part;
	if (wanted < expected)
		wanted = expected;
	while (ready + p->nr_free < wanted && p->nr_banks < p->max_banks) {
		at = p->first && !p->nr_banks ? p->first : p->add(p);
		if (!at)
			break;
		add_bank(p, at);
		added = true;
	}
	/* Half of what is kept ready. */
	__atomic_store_n(&p->ring->low, (part > p->per_bank / 2 ? part : p->per_bank / 2) / 2,
			 __ATOMIC_RELAXED);
	while (ready < NT_FREE_MAX && p->nr_free) {
		uint32_t nr = p->free[--p->nr_free];

		p->items[nr] = POOL_OUT;
		p->numbers[p->ring->given & (NT_FREE_MAX - 1)] = (__u16)nr;
		/* Who finds that it is given finds the number. */
		__atomic_store_n(&p->ring->given, p->ring->given + 1, __ATOMIC_RELEASE);
		ready++;
	}
	if (p->used_most < pool_taken(p))
		p->used_most = pool_taken(p);
	return added;
}

void pool_wait(const struct pool *p)
{
	__u32 first = 0;

	/* It is there already; for a map of maps the system call waits for an RCU grace period. */
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
}

void pool_close(struct pool *p)
{
	for (uint32_t i = 0; p->outer_fd && i < p->nr_banks; i++)
		if (p->bank[i] != p->first)
			munmap(p->bank[i], (size_t)p->per_bank * p->item_bytes);
	free(p->bank);
	free(p->items);
	free(p->free);
	*p = (struct pool){0};
}
