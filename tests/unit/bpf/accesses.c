// SPDX-License-Identifier: GPL-2.0-only
#include "bpf/accesses.h"
#undef __builtin_memcpy
#undef __builtin_memset

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINES_MAX 4096 /* lines that a CPU uses */

struct line {
	uintptr_t number;
	unsigned int place;
	bool written;
};

static struct {
	struct accesses_order *orders;
	unsigned int nr_orders;
	const struct accesses_place *places;
	unsigned int nr_places;
	unsigned int cpu; /* ACCESSES_CPUS: nothing is counted */
	struct {
		struct line lines[LINES_MAX];
		unsigned int nr;
	} cpus[ACCESSES_CPUS];
} a = {.cpu = ACCESSES_CPUS};

void accesses_begin(const struct accesses_place *places, unsigned int nr)
{
	a.places = places;
	a.nr_places = nr;
	for (unsigned int cpu = 0; cpu < ACCESSES_CPUS; cpu++)
		a.cpus[cpu].nr = 0;
}

void accesses_of(unsigned int cpu)
{
	a.cpu = cpu;
}

static struct line *line_find(unsigned int cpu, uintptr_t number)
{
	for (unsigned int i = 0; i < a.cpus[cpu].nr; i++)
		if (a.cpus[cpu].lines[i].number == number)
			return &a.cpus[cpu].lines[i];
	return NULL;
}

/* The line has the place of what is written there, or else of what was read last. */
static void line_use(uintptr_t number, unsigned int place, bool write)
{
	struct line *l = line_find(a.cpu, number);

	if (!l) {
		assert(a.cpus[a.cpu].nr < LINES_MAX);
		l = &a.cpus[a.cpu].lines[a.cpus[a.cpu].nr++];
		*l = (struct line){.number = number};
	}
	if (write || !l->written)
		l->place = place;
	l->written |= write;
}

/* The stack of the one thread ends where its environment is. */
static bool is_on_stack(uintptr_t at)
{
	return at >= (uintptr_t)__builtin_frame_address(0) && at < (uintptr_t)environ;
}

static unsigned int place_of(uintptr_t at)
{
	unsigned int i = 0;

	while (i < a.nr_places && at - (uintptr_t)a.places[i].at >= a.places[i].size)
		i++;
	return i;
}

void accesses_order(struct accesses_order *orders, unsigned int nr)
{
	a.orders = orders;
	a.nr_orders = nr;
}

/* Whether an access is of such a member, or begins in one. */
static bool is_of(const struct accesses_members *m, uintptr_t at, unsigned long size)
{
	uintptr_t from = (uintptr_t)m->at, offset;

	if (at < from || at >= from + m->stride * m->nr)
		return false;
	offset = (at - from) % m->stride;
	return offset + size > m->offset && offset < m->offset + m->size;
}

static void look_at_order(uintptr_t at, unsigned long size, bool write)
{
	for (unsigned int i = 0; i < a.nr_orders; i++) {
		struct accesses_order *o = &a.orders[i];
		const void *what = (const void *)at;

		if (!o->loads != write)
			continue;
		if (o->has_first && is_of(&o->then, at, size) &&
		    (!o->then_when || o->then_when(what))) {
			o->seen++;
			o->wrong += o->open;
		}
		if (is_of(&o->first, at, size) && (!o->first_when || o->first_when(what)))
			o->has_first = o->open = true;
	}
}

static void barrier(void)
{
	for (unsigned int i = 0; i < a.nr_orders; i++)
		a.orders[i].open = false;
}

static void use(const volatile void *address, unsigned long size, bool write)
{
	uintptr_t at = (uintptr_t)address;
	unsigned int place;

	look_at_order(at, size, write);
	if (a.cpu == ACCESSES_CPUS || !size || is_on_stack(at))
		return;
	place = place_of(at);
	if (place < a.nr_places && !a.places[place].name)
		return;
	if (place < a.nr_places && a.places[place].whole) {
		line_use((uintptr_t)a.places[place].at / ACCESSES_LINE, place, write);
		return;
	}
	for (uintptr_t n = at / ACCESSES_LINE; n <= (at + size - 1) / ACCESSES_LINE; n++)
		line_use(n, place, write);
}

static const char *name_of(unsigned int place)
{
	return place < a.nr_places ? a.places[place].name : "?";
}

/* The place of a line that both use, one or both by writing. Return: NULL: it is not such a line */
static const char *shared_place(const struct line *l, const struct line *other)
{
	if (!other || !(l->written || other->written))
		return NULL;
	return name_of(l->written ? l->place : other->place);
}

const char *accesses_shared(unsigned int cpu, unsigned int other)
{
	static char text[512];
	const char *last = "";
	size_t len = 0;

	text[0] = '\0';
	for (unsigned int place = 0; place <= a.nr_places; place++) {
		const char *name = name_of(place), *at;
		unsigned int n = 0;

		if (!name || !strcmp(name, last))
			continue;
		last = name;
		for (unsigned int i = 0; i < a.cpus[cpu].nr; i++) {
			const struct line *l = &a.cpus[cpu].lines[i];

			at = shared_place(l, line_find(other, l->number));
			n += at && !strcmp(at, name);
		}
		if (n)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s:%u ", name, n);
		assert(len < sizeof(text));
	}
	return text;
}

unsigned int accesses_lines(unsigned int cpu, const char *name, int written)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < a.cpus[cpu].nr; i++) {
		const struct line *l = &a.cpus[cpu].lines[i];

		if (!name || !strcmp(name_of(l->place), name))
			n += l->written || !written;
	}
	return n;
}

void *accesses_copy(void *to, const void *from, unsigned long size)
{
	use(from, size, false);
	use(to, size, true);
	return memcpy(to, from, size);
}

void *accesses_set(void *to, int byte, unsigned long size)
{
	use(to, size, true);
	return memset(to, byte, size);
}

/*
 * What compilers call. Tests have one thread, so atomic operations need not be atomic. One that
 * changes nothing takes the line from other CPUs all the same. Each is a full barrier, as those
 * whose result is asked for are.
 */
#define ACCESS(name, size, writes)     \
	void __tsan_##name(void *at)   \
	{                              \
		use(at, size, writes); \
	}
#define PLAIN(size)                               \
	ACCESS(read##size, size, false)           \
	ACCESS(write##size, size, true)           \
	ACCESS(unaligned_read##size, size, false) \
	ACCESS(unaligned_write##size, size, true)
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

#define CHANGES(bits, name, result)                                                                \
	uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t n, \
						    int order)                                     \
	{                                                                                          \
		uint##bits##_t was = *at;                                                          \
                                                                                                   \
		barrier();                                                                         \
		use(at, sizeof(*at), true);                                                        \
		barrier();                                                                         \
		*at = result;                                                                      \
		return was;                                                                        \
	}
#define ATOMIC(bits)                                                                               \
	CHANGES(bits, exchange, n)                                                                 \
	CHANGES(bits, fetch_add, was + n)                                                          \
	CHANGES(bits, fetch_sub, was - n)                                                          \
	CHANGES(bits, fetch_or, was | n)                                                           \
	uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                 \
		volatile uint##bits##_t *at, uint##bits##_t from, uint##bits##_t to, int order,    \
		int failed)                                                                        \
	{                                                                                          \
		uint##bits##_t was = *at;                                                          \
                                                                                                   \
		barrier();                                                                         \
		use(at, sizeof(*at), true);                                                        \
		barrier();                                                                         \
		if (was == from)                                                                   \
			*at = to;                                                                  \
		return was;                                                                        \
	}                                                                                          \
	int __tsan_atomic##bits##_compare_exchange_strong(volatile uint##bits##_t *at,             \
							  uint##bits##_t *from, uint##bits##_t to, \
							  int order, int failed)                   \
	{                                                                                          \
		uint##bits##_t was = *from;                                                        \
                                                                                                   \
		*from = __tsan_atomic##bits##_compare_exchange_val(at, was, to, order, failed);    \
		return *from == was;                                                               \
	}
ATOMIC(32)
ATOMIC(64)

void __tsan_read_range(void *at, unsigned long size)
{
	use(at, size, false);
}

void __tsan_write_range(void *at, unsigned long size)
{
	use(at, size, true);
}

void *__tsan_memcpy(void *to, const void *from, unsigned long size)
{
	return accesses_copy(to, from, size);
}

void *__tsan_memset(void *to, int byte, unsigned long size)
{
	return accesses_set(to, byte, size);
}

void __tsan_init(void)
{
}

void __tsan_func_entry(void *from)
{
}

void __tsan_func_exit(void)
{
}
