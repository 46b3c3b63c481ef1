/* SPDX-License-Identifier: GPL-2.0-only */
/* Arrays that grow, sorted arrays, and heaps. User space only. */
#ifndef NTPROF_CORE_ARRAY_H
#define NTPROF_CORE_ARRAY_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** ARRAY_SIZE() - number of elements of an array; it does not work for a pointer */
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Room for one more element at @at. The array has room for the next power of two. */
static inline void *array_insert(void *array, size_t nr, size_t at, size_t size)
{
	char *grown = array;

	if (!(nr & (nr - 1)))
		grown = reallocarray(array, nr ? 2 * nr : 1, size);
	if (grown && at < nr)
		memmove(grown + (at + 1) * size, grown + at * size, (nr - at) * size);
	return grown;
}

/**
 * ARRAY_INSERT() - insert an element at place @at into an array of @nr elements
 *
 * The array is NULL at first, and only grows by ARRAY_INSERT() and ARRAY_MAKE().
 *
 * Return: the element, not initialized; NULL: memory ran out.
 */
#define ARRAY_INSERT(array, nr, at)                                                       \
	({                                                                                \
		size_t at_ = (at);                                                        \
		__typeof__(array) grown_ = array_insert(array, nr, at_, sizeof(*grown_)); \
                                                                                          \
		if (grown_) {                                                             \
			(array) = grown_;                                                 \
			grown_ += at_;                                                    \
			(nr)++;                                                           \
		}                                                                         \
		grown_;                                                                   \
	})

/**
 * ARRAY_MAKE() - allocate @size bytes, all zero, and insert a pointer to them at place @at into an
 * array of @nr pointers
 *
 * Return: the pointer; NULL: memory ran out.
 */
#define ARRAY_MAKE(array, nr, at, size)                                             \
	({                                                                          \
		__typeof__(*(array)) made_ = calloc(1, size);                       \
		__typeof__(array) to_ = made_ ? ARRAY_INSERT(array, nr, at) : NULL; \
                                                                                    \
		if (to_)                                                            \
			*to_ = made_;                                               \
		else                                                                \
			free(made_);                                                \
		to_ ? made_ : NULL;                                                 \
	})

/* Room for element @at, and zeroes from @nr on; NULL: memory ran out. */
static inline void *array_reach(void *array, size_t nr, size_t at, size_t size)
{
	char *grown = reallocarray(array, at + 1, size);

	if (grown)
		memset(grown + nr * size, 0, (at + 1 - nr) * size);
	return grown;
}

/**
 * ARRAY_REACH() - let an array of @nr elements have an element @at; new elements are all zero
 *
 * Return: 0 or -ENOMEM.
 */
#define ARRAY_REACH(array, nr, at)                                                           \
	({                                                                                   \
		size_t at_ = (at);                                                           \
		__typeof__(array) grown_ =                                                   \
			at_ < (nr) ? (array) : array_reach(array, nr, at_, sizeof(*grown_)); \
                                                                                             \
		if (grown_ && at_ >= (nr)) {                                                 \
			(array) = grown_;                                                    \
			(nr) = (__typeof__(nr))(at_ + 1);                                    \
		}                                                                            \
		grown_ ? 0 : -ENOMEM;                                                        \
	})

/**
 * BISECT() - the first number from @from to @to, without @to, for which a condition does not hold;
 * @to if it holds for all
 * @i: names the number in @condition; if @condition holds for a number, it holds for all below
 */
#define BISECT(i, from, to, condition)                        \
	({                                                    \
		size_t low_ = (from), high_ = (to);           \
                                                              \
		while (low_ < high_) {                        \
			size_t i = low_ + (high_ - low_) / 2; \
                                                              \
			if (condition)                        \
				low_ = i + 1;                 \
			else                                  \
				high_ = i;                    \
		}                                             \
		low_;                                         \
	})

/*
 * Heaps: arrays whose elements begin with a uint64_t, the key. The element with the lowest key is
 * the first one. @size: bytes of an element, a constant. @moved: called with an element and its new
 * place, or NULL.
 */
typedef void heap_moved(void *element, size_t at);

static inline __attribute__((always_inline)) uint64_t heap_key(const void *element)
{
	uint64_t key;

	memcpy(&key, element, sizeof(key));
	return key;
}

static inline __attribute__((always_inline)) void
heap_put(char *heap, size_t at, const void *element, size_t size, heap_moved *moved)
{
	memcpy(heap + at * size, element, size);
	if (moved)
		moved(heap + at * size, at);
}

/** heap_up() - put @element, which is no part of the heap, in place @at, or above if it belongs
 * there */
static inline __attribute__((always_inline)) void
heap_up(void *heap, size_t at, const void *element, size_t size, heap_moved *moved)
{
	char *h = heap;

	for (; at && heap_key(h + (at - 1) / 2 * size) > heap_key(element); at = (at - 1) / 2)
		heap_put(h, at, h + (at - 1) / 2 * size, size, moved);
	heap_put(h, at, element, size, moved);
}

/** heap_down() - the same, or below; @nr: number of elements */
static inline __attribute__((always_inline)) void
heap_down(void *heap, size_t nr, size_t at, const void *element, size_t size, heap_moved *moved)
{
	char *h = heap;

	for (size_t child; (child = 2 * at + 1) < nr; at = child) {
		if (child + 1 < nr && heap_key(h + (child + 1) * size) < heap_key(h + child * size))
			child++;
		if (heap_key(h + child * size) >= heap_key(element))
			break;
		heap_put(h, at, h + child * size, size, moved);
	}
	heap_put(h, at, element, size, moved);
}

#endif /* NTPROF_CORE_ARRAY_H */
