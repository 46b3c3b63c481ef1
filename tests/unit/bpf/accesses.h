/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which cache lines code reads and writes. It is compiled so that each of its loads and stores
 * calls a function of accesses.c, which counts them by line (-fsanitize=thread, without the
 * library of that sanitizer; see the Makefile). Include it before everything else.
 */
#ifndef NTPROF_TESTS_BPF_ACCESSES_H
#define NTPROF_TESTS_BPF_ACCESSES_H

#define ACCESSES_LINE 64ul
#define ACCESSES_CPUS 3

/**
 * struct accesses_place - a part of the memory
 * @name: NULL: accesses to it are not counted
 * @whole: it counts as one line
 */
struct accesses_place {
	const char *name;
	const void *at;
	unsigned long size;
	int whole;
};

/**
 * accesses_begin() - forget all accesses
 * @places: an address belongs to the first one that has it. Memory without a place is counted,
 *          except for the stack. The array stays
 */
void accesses_begin(const struct accesses_place *places, unsigned int nr);

/**
 * accesses_of() - accesses that follow are those of @cpu; ACCESSES_CPUS: they are not counted
 */
void accesses_of(unsigned int cpu);

/**
 * accesses_shared() - the lines that two CPUs have used, one or both by writing
 *
 * Return: "NAME:LINES " for each name of a place, in the order of these; "?" is the name of memory
 * without one. Valid until the next call
 */
const char *accesses_shared(unsigned int cpu, unsigned int other);

/**
 * accesses_lines() - number of lines of a place that @cpu has used
 * @name: of the place; NULL: all lines
 * @written: count only those that it has written
 */
unsigned int accesses_lines(unsigned int cpu, const char *name, int written);

/* Members of an array of structures: @size bytes at @offset of each of @nr. */
struct accesses_members {
	const void *at;
	unsigned long stride, nr, offset, size;
};

/**
 * struct accesses_order - a store that must not be seen before another one, or a load that must not
 * be done before another one, on machines that keep no order: a barrier has to be in between
 * @first, @then: the two accesses, of one CPU. All others are left out
 * @first_when, @then_when: called with the address before an access: whether it counts. NULL: it
 *                           always does
 * @loads: loads count, and not stores
 * @seen: filled; how often one was followed by the other
 * @wrong: filled; how often without a barrier
 */
struct accesses_order {
	const char *name;
	struct accesses_members first, then;
	int (*first_when)(const void *at);
	int (*then_when)(const void *at);
	int loads;
	unsigned int seen, wrong;
	int has_first, open;
};

/**
 * accesses_order() - look at the order of accesses from now on. The array stays
 */
void accesses_order(struct accesses_order *orders, unsigned int nr);

/* Compilers count no loads and stores of these. */
void *accesses_copy(void *to, const void *from, unsigned long size);
void *accesses_set(void *to, int byte, unsigned long size);
#define __builtin_memcpy accesses_copy
#define __builtin_memset accesses_set

#endif /* NTPROF_TESTS_BPF_ACCESSES_H */
