// SPDX-License-Identifier: GPL-2.0-only
/* The help texts of the program and of its verbs. */
#include "cli/testing.h"

#define COLUMNS 80

static void assert_fits(const char *text)
{
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		if (strcspn(line, "\n") > COLUMNS)
			fail_msg("wider than %d columns: %.*s", COLUMNS, (int)strcspn(line, "\n"),
				 line);
}

static void every_help_is_at_most_80_columns_wide(void **state)
{
	struct result r;

	RUN(&r, "--help");
	assert_int_equal(r.status, 0);
	assert_string_equal(r.err, "");
	assert_fits(r.out);
	RUN(&r, "--usage");
	assert_int_equal(r.status, 0);
	assert_fits(r.out);
	for (const struct verb *const *v = all_verbs; *v; v++) {
		RUN(&r, (char *)(*v)->name, "--help");
		assert_int_equal(r.status, 0);
		assert_string_equal(r.err, "");
		assert_fits(r.out);
		RUN(&r, (char *)(*v)->name, "--usage");
		assert_int_equal(r.status, 0);
		assert_fits(r.out);
	}
}

/* argp breaks lines beyond its margin, and continues them in column 0. */
static void assert_examples_are_whole(const char *help)
{
	const char *line = strstr(help, "\nExamples:\n");

	assert_non_null(line);
	for (line += strlen("\nExamples:\n"); *line && *line != '\n'; line = strchr(line, '\n') + 1)
		if (strncmp(line, "  ", 2))
			fail_msg("an example is broken before: %s", line);
}

static void help_gives_examples_of_every_verb(void **state)
{
	char example[64];
	struct result r;

	for (const struct verb *const *v = all_verbs; *v; v++) {
		/* Without a verb it is the live view, also in the examples. */
		bool live = !strcmp((*v)->name, "live");

		if (!strcmp((*v)->name, "help"))
			continue;
		RUN(&r, (char *)(*v)->name, "--help");
		assert_examples_are_whole(r.out);
		snprintf(example, sizeof(example), "\n  ntprof-bpf %s ",
			 live ? "--host" : (*v)->name);
		assert_contains(strstr(r.out, "\nExamples:\n"), example);
	}
	RUN(&r, "--help");
	assert_examples_are_whole(r.out);
}

static void help_is_the_same_however_it_is_asked_for(void **state)
{
	struct result r, other;

	for (const struct verb *const *v = all_verbs; *v; v++) {
		char *name = (char *)(*v)->name;

		RUN(&r, name, "--help");
		RUN(&other, "help", name);
		assert_int_equal(other.status, 0);
		assert_string_equal(other.out, r.out);
		RUN(&other, "--help", name);
		assert_string_equal(other.out, r.out);
		RUN(&other, name, "-?");
		assert_string_equal(other.out, r.out);
		RUN(&other, name, "-h");
		assert_string_equal(other.out, r.out);
		RUN(&other, "-h", name);
		assert_string_equal(other.out, r.out);
	}
	RUN(&r, "--help");
	RUN(&other, "help");
	assert_int_equal(other.status, 0);
	assert_string_equal(other.out, r.out);
	RUN(&other, "-h");
	assert_string_equal(other.out, r.out);
	RUN(&other, "--host", "--help");
	assert_string_equal(other.out, r.out);
}

/* Options are in groups, those that are needed first come first. */
static void help_is_in_the_order_of_use(void **state)
{
	static const char *const headings[] = {
		"\nWhat to watch:\n      --host ",
		"\nWhich commands:\n",
		"\nWhat to show:\n",
		"\nWhen, how long, how many:\n",
		"\nOutput:\n",
		"\nOther:\n",
		"\n\nExamples:\n",
	};
	const char *at;
	struct result r;

	RUN(&r, "live", "--help");
	at = r.out;
	for (size_t i = 0; i < ARRAY_SIZE(headings); i++) {
		assert_contains(at, headings[i]);
		at = strstr(at, headings[i]) + 1;
	}
}

static void help_has_a_line_for_every_verb(void **state)
{
	char line[64];
	struct result r;

	RUN(&r, "--help");
	for (const struct verb *const *v = all_verbs; *v; v++) {
		snprintf(line, sizeof(line), "\n  %-8s ", (*v)->name);
		assert_contains(r.out, line);
	}
	assert_contains(r.out, "ntprof-bpf help VERB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_help_is_at_most_80_columns_wide),
		cmocka_unit_test(help_gives_examples_of_every_verb),
		cmocka_unit_test(help_is_the_same_however_it_is_asked_for),
		cmocka_unit_test(help_is_in_the_order_of_use),
		cmocka_unit_test(help_has_a_line_for_every_verb),
	};

	return cmocka_run_group_tests_name("help", tests, find_program, NULL);
}
