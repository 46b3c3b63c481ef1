// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many events were missed by programs that have a twin. This test stands in for the kernel's
 * counts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "core/array.h"
#include "trace/missed.h"
#include "trace/private.h"

/* In this test a program is a pointer to its name. Its number here is its file descriptor. */
static const char *const names[] = {"rq_complete_nested", "rq_complete", "timed_out",
				    "packet_joined", "packet_waits"};
enum program { NESTED, OWN, ALONE, JOINED, WAITS };
static uint64_t misses[ARRAY_SIZE(names)];

struct bpf_program *bpf_object__next_program(const struct bpf_object *obj, struct bpf_program *prev)
{
	unsigned int i = 0;

	while (prev && names[i++] != (const char *)prev)
		;
	return i < ARRAY_SIZE(names) ? (struct bpf_program *)names[i] : NULL;
}

struct bpf_program *bpf_object__find_program_by_name(const struct bpf_object *obj, const char *name)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return (struct bpf_program *)names[i];
	return NULL;
}

const char *bpf_program__name(const struct bpf_program *program)
{
	return (const char *)program;
}

int bpf_program__fd(const struct bpf_program *program)
{
	for (int i = 0; i < (int)ARRAY_SIZE(names); i++)
		if (names[i] == (const char *)program)
			return i;
	return -EINVAL;
}

int bpf_obj_get_info_by_fd(int fd, void *info, __u32 *size)
{
	((struct bpf_prog_info *)info)->recursion_misses = misses[fd];
	return 0;
}

static void begin(void)
{
	memset(misses, 0, sizeof(misses));
}

static void what_one_of_two_has_seen_is_not_missed(void **state)
{
	struct tracer t = {0};

	begin();
	assert_int_equal(missed_total(&t), 0);
	misses[OWN] = 5;
	assert_int_equal(missed_total(&t), 0);
	misses[NESTED] = 3;
	assert_int_equal(missed_total(&t), 3);
	misses[ALONE] = 7;
	assert_int_equal(missed_total(&t), 10);
}

static void without_a_twin_each_is_missed(void **state)
{
	struct tracer t = {0};

	begin();
	misses[OWN] = 5;
	misses[NESTED] = 1;
	missed_twin(&t, names[NESTED], false);
	assert_int_equal(missed_total(&t), 1);
	/* The twin is not attached, so it misses nothing. */
	misses[OWN] += 8;
	assert_int_equal(missed_total(&t), 9);
	missed_twin(&t, names[NESTED], true);
	assert_int_equal(missed_total(&t), 9);
	/* Earlier misses say nothing about later ones. */
	misses[OWN] += 2;
	assert_int_equal(missed_total(&t), 9);
	misses[NESTED] += 4;
	assert_int_equal(missed_total(&t), 11);
	assert_int_equal(missed_total(&t), 11);
}

/* A program without a twin has nothing that could be attached. */
static void what_was_skipped_asks_for_its_twin(void **state)
{
	struct tracer t = {0};

	begin();
	misses[ALONE] = 7;
	misses[NESTED] = 1;
	assert_false(missed_by_first(&t, false));
	misses[OWN] = 1;
	assert_true(missed_by_first(&t, false));
	assert_false(missed_by_first(&t, true));
}

/* Arrivals are in doubt until a look finds no more skipped runs. */
static void skipped_joins_are_told_to_the_programs(void **state)
{
	struct nt_control control = {0};
	struct tracer t = {.object.control = &control};

	begin();
	misses[OWN] = misses[ALONE] = 7;
	for (int program = JOINED; program <= WAITS; program++) {
		missed_joins_tell(&t);
		assert_int_equal(control.joins_missed, 0);
		misses[program]++;
		missed_joins_tell(&t);
		assert_int_equal(control.joins_missed, 1);
	}
	missed_joins_tell(&t);
	assert_int_equal(control.joins_missed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_one_of_two_has_seen_is_not_missed),
		cmocka_unit_test(without_a_twin_each_is_missed),
		cmocka_unit_test(what_was_skipped_asks_for_its_twin),
		cmocka_unit_test(skipped_joins_are_told_to_the_programs),
	};

	return cmocka_run_group_tests_name("missed", tests, NULL, NULL);
}
