// SPDX-License-Identifier: GPL-2.0-only
/* Arrays that grow, sorted arrays, and heaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/array.h"

/* Numbers that come in no order, each once: 7 has no factor in common with 1000. */
#define NUMBERS 1000
#define NUMBER(i) ((i)*7 % NUMBERS)

static void elements_are_inserted_where_they_belong(void **state)
{
	unsigned int *array = NULL, nr = 0;

	for (unsigned int i = 0; i < NUMBERS; i++) {
		size_t at = BISECT(k, 0, nr, array[k] < NUMBER(i));
		unsigned int *new = ARRAY_INSERT(array, nr, at);

		assert_non_null(new);
		*new = NUMBER(i);
	}
	assert_int_equal(nr, NUMBERS);
	for (unsigned int i = 0; i < NUMBERS; i++)
		assert_int_equal(array[i], i);
	assert_int_equal(BISECT(k, 10, NUMBERS, array[k] <= 500), 501);
	assert_int_equal(BISECT(k, 10, NUMBERS, array[k] < 5), 10);
	assert_int_equal(BISECT(k, 10, 20, array[k] < 500), 20);
	free(array);
}

static void an_array_may_lose_elements_and_grow_again(void **state)
{
	static const unsigned int sizes[] = {9, 3, 8, 0, 5};
	unsigned int *array = NULL, nr = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		while (nr < sizes[i]) {
			unsigned int *new = ARRAY_INSERT(array, nr, nr);

			assert_non_null(new);
			*new = nr;
		}
		nr = sizes[i];
		for (unsigned int k = 0; k < nr; k++)
			assert_int_equal(array[k], k + 1);
	}
	free(array);
}

struct pair {
	int a, b;
};

static void rows_are_zero_and_stay_where_they_are(void **state)
{
	struct pair **row = NULL, *first;
	unsigned int nr = 0;

	first = ARRAY_MAKE(row, nr, 0, sizeof(*first));
	first->b = 1;
	for (int i = 0; i < 100; i++) {
		const struct pair *made = ARRAY_MAKE(row, nr, 0, sizeof(*made));

		assert_non_null(made);
		assert_ptr_equal(made, row[0]);
		assert_int_equal(made->b, 0);
	}
	assert_ptr_equal(row[100], first);
	while (nr)
		free(row[--nr]);
	free(row);
}

static void elements_that_are_reached_over_are_zero(void **state)
{
	struct pair *array = NULL;
	unsigned int nr = 0;

	assert_int_equal(ARRAY_REACH(array, nr, 3), 0);
	assert_int_equal(nr, 4);
	array[3].b = 1;
	assert_int_equal(ARRAY_REACH(array, nr, 1), 0);
	assert_int_equal(nr, 4);
	assert_int_equal(ARRAY_REACH(array, nr, 50), 0);
	assert_int_equal(nr, 51);
	assert_int_equal(array[3].b, 1);
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(array[i].a | (array[i].b && i != 3), 0);
	free(array);
}

struct entry {
	uint64_t key;
	size_t *at;
};

static void entry_moved(void *element, size_t at)
{
	*((struct entry *)element)->at = at;
}

static void the_lowest_key_of_a_heap_comes_first(void **state)
{
	struct entry heap[NUMBERS];
	size_t at[NUMBERS];

	for (size_t i = 0; i < NUMBERS; i++) {
		const struct entry e = {NUMBER(i), &at[NUMBER(i)]};

		heap_up(heap, i, &e, sizeof(e), entry_moved);
	}
	for (size_t nr = NUMBERS; nr; nr--) {
		const struct entry last = heap[nr - 1];

		assert_int_equal(heap[0].key, NUMBERS - nr);
		heap_down(heap, nr - 1, 0, &last, sizeof(last), entry_moved);
		for (size_t i = 0; i + 1 < nr; i++)
			assert_int_equal(at[heap[i].key], i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(elements_are_inserted_where_they_belong),
		cmocka_unit_test(an_array_may_lose_elements_and_grow_again),
		cmocka_unit_test(rows_are_zero_and_stay_where_they_are),
		cmocka_unit_test(elements_that_are_reached_over_are_zero),
		cmocka_unit_test(the_lowest_key_of_a_heap_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
