// SPDX-License-Identifier: GPL-2.0-only
/* Facts about whole streams: their machines' names, and what their commands asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "merge/places.h"
#include "merge/unmatched.h"

static void add(struct contents *c, uint64_t first, uint64_t nr)
{
	for (uint64_t i = first; i < first + nr; i++) {
		const struct nt_record r = {
			.slba = 8 * i, .length = 4096, .opcode = 2, .nsid = 1, .cid = (uint16_t)i};

		assert_int_equal(contents_add(c, &r), 0);
	}
}

static bool have_common(const struct contents *a, const struct contents *b)
{
	return contents_common(a, b, 10);
}

/* Each differs from the first in one thing that a command asks for. */
static void commands_that_ask_for_something_else_are_not_common(void **state)
{
	static const struct nt_record asks[] = {
		{.slba = 8, .length = 4096, .opcode = 2, .nsid = 1},
		{.slba = 16, .length = 4096, .opcode = 2, .nsid = 1},
		{.slba = 8, .length = 512, .opcode = 2, .nsid = 1},
		{.slba = 8, .length = 4096, .opcode = 1, .nsid = 1},
		{.slba = 8, .length = 4096, .opcode = 2, .nsid = 2},
	};

	for (unsigned int i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		struct contents a = {0}, b = {0};
		struct nt_record same = asks[0];

		/* Which queue it came by does not matter. */
		same.qid = same.cid = 9;
		assert_int_equal(contents_add(&a, &same), 0);
		assert_int_equal(contents_add(&b, &asks[i]), 0);
		assert_int_equal(contents_common(&a, &b, 1), i == 0);
		contents_free(&a);
		contents_free(&b);
	}
}

static void few_commands_do_not_say_that_none_is_common(void **state)
{
	struct contents a = {0}, b = {0};

	assert_true(have_common(&a, &b));
	add(&a, 0, 10);
	assert_true(have_common(&a, &b));
	add(&b, 100, 9);
	assert_true(have_common(&a, &b));
	assert_true(have_common(&b, &a));
	add(&b, 109, 1);
	assert_false(have_common(&a, &b));
	assert_false(have_common(&b, &a));
	/* The same once more is nothing new. */
	add(&b, 109, 1);
	assert_int_equal(b.nr, 10);
	add(&b, 9, 1);
	assert_true(have_common(&a, &b));
	assert_true(have_common(&b, &a));
	contents_free(&a);
	contents_free(&b);
	assert_null(a.key);
}

/* One stream is far longer than the other. The sample of it still has what both have. */
static void a_sample_is_that_of_the_commands(void **state)
{
	struct contents few = {0}, many = {0}, others = {0};

	add(&few, 5000, 400);
	add(&many, 0, CONTENTS_MAX);
	assert_int_equal(many.nr, CONTENTS_MAX);
	assert_int_equal(many.mask, 0);
	add(&many, CONTENTS_MAX, 1);
	assert_int_not_equal(many.mask, 0);
	assert_true(many.nr < CONTENTS_MAX);
	add(&many, CONTENTS_MAX + 1, 10000);
	assert_true(many.nr <= CONTENTS_MAX && many.nr > CONTENTS_MAX / 4);
	assert_true(contents_common(&few, &many, 1));
	assert_true(contents_common(&many, &few, 1));
	add(&others, 100000, 10000);
	assert_false(have_common(&others, &many));
	assert_false(have_common(&many, &others));
	contents_free(&few);
	contents_free(&many);
	contents_free(&others);
}

static struct machine machine(enum nt_side side, const char *name)
{
	struct machine m = {.side = side, .sample = 4, .missing = 6};

	strcpy(m.name, name);
	return m;
}

static const char *name_of(const struct machines *m, unsigned int stream)
{
	return machines_get(m, stream)->name;
}

static void machines_with_one_name_are_told_apart(void **state)
{
	const struct machine host = machine(NT_HOST, "a"), target = machine(NT_TARGET, "a"),
			     none = machine(NT_TARGET, "");
	struct machines m = {0};

	assert_int_equal(machines_init(&m, 5), 0);
	assert_false(machines_get(&m, 0)->known);
	machines_set(&m, 0, &host, "host");
	/* A host and a target of one name are one machine. */
	machines_set(&m, 1, &target, "peer 1");
	assert_string_equal(name_of(&m, 0), "a");
	assert_string_equal(name_of(&m, 1), "a");
	machines_set(&m, 2, &target, "peer 2");
	assert_string_equal(name_of(&m, 2), "a(peer 2)");
	/* Its header comes again. */
	machines_set(&m, 1, &target, "peer 1");
	assert_string_equal(name_of(&m, 1), "a");
	machines_set(&m, 3, &none, "peer 3");
	assert_string_equal(name_of(&m, 3), "peer 3");
	assert_int_equal(m.told, 5);
	assert_true(machines_get(&m, 3)->known);
	assert_int_equal(machines_get(&m, 3)->sample, 4);
	assert_int_equal(machines_get(&m, 3)->missing, 6);
	assert_int_equal(machines_get(&m, 3)->side, NT_TARGET);
	/* Nothing is known of the others. */
	assert_false(machines_get(&m, 4)->known);
	assert_false(machines_get(&m, 5)->known);
	assert_false(machines_get(NULL, 0)->known);
	machines_free(&m);
	assert_false(machines_get(&m, 0)->known);
}

/* The end of a path says more than its beginning. */
static void a_long_label_is_cut_at_its_beginning(void **state)
{
	const struct machine none = machine(NT_TARGET, "");
	char label[MACHINE_LABEL_MAX + 4];
	struct machines m = {0};

	memset(label, 'x', sizeof(label));
	memcpy(label, "abc", 3);
	label[MACHINE_LABEL_MAX + 3] = '\0';
	assert_int_equal(machines_init(&m, 1), 0);
	machines_set(&m, 0, &none, label);
	assert_string_equal(name_of(&m, 0), label + 3);
	machines_set(&m, 0, &none, label + 3);
	assert_string_equal(name_of(&m, 0), label + 3);
	machines_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_that_ask_for_something_else_are_not_common),
		cmocka_unit_test(few_commands_do_not_say_that_none_is_common),
		cmocka_unit_test(a_sample_is_that_of_the_commands),
		cmocka_unit_test(machines_with_one_name_are_told_apart),
		cmocka_unit_test(a_long_label_is_cut_at_its_beginning),
	};

	return cmocka_run_group_tests_name("streams", tests, NULL, NULL);
}
