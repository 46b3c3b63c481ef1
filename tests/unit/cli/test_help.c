// SPDX-License-Identifier: GPL-2.0-only
/* The help texts of the program and of its verbs. */
#include "cli/testing.h"

#define COLUMNS 80

/* Options that every verb has. */
static const char *const standard[] = {"help", "usage", "version"};

static void assert_fits(const char *text)
{
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		if (strcspn(line, "\n") > COLUMNS)
			fail_msg("wider than %d columns: %.*s", COLUMNS, (int)strcspn(line, "\n"),
				 line);
}

/* The row of an option begins with its letter in column 2, or with its name in column 6. */
static bool row_of(const char *line, char *name, size_t size)
{
	size_t indent = strspn(line, " "), len;

	if (indent != 2 && indent != 6)
		return false;
	line += indent;
	if (line[0] == '-' && line[1] && line[2] == ',')
		line += strlen("-x, ");
	if (strncmp(line, "--", 2))
		return false;
	len = strcspn(line + 2, "= \n");
	assert_true(len < size);
	memcpy(name, line + 2, len);
	name[len] = '\0';
	return true;
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
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		RUN(&r, (char *)verbs[i].name, "--help");
		assert_int_equal(r.status, 0);
		assert_string_equal(r.err, "");
		assert_fits(r.out);
		RUN(&r, (char *)verbs[i].name, "--usage");
		assert_int_equal(r.status, 0);
		assert_fits(r.out);
	}
}

static void help_of_a_verb_lists_its_options_and_no_other(void **state)
{
	char name[64];
	struct result r;

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		size_t listed = 0, expected = ARRAY_SIZE(standard);

		RUN(&r, (char *)verbs[i].name, "--help");
		for (const char *line = r.out; *line; line += strcspn(line, "\n") + 1) {
			bool known;

			if (!row_of(line, name, sizeof(name)))
				continue;
			known = has(&verbs[i], name);
			for (size_t k = 0; k < ARRAY_SIZE(standard); k++)
				known = known || !strcmp(name, standard[k]);
			if (!known)
				fail_msg("%s --help lists --%s", verbs[i].name, name);
			listed++;
		}
		for (const char *const *o = verbs[i].options; *o; o++)
			expected++;
		if (listed != expected)
			fail_msg("%s --help lists %zu options of %zu", verbs[i].name, listed,
				 expected);
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

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		/* Without a verb it is the live view, also in the examples. */
		bool live = !strcmp(verbs[i].name, "live");

		if (!strcmp(verbs[i].name, "help"))
			continue;
		RUN(&r, (char *)verbs[i].name, "--help");
		assert_examples_are_whole(r.out);
		snprintf(example, sizeof(example), "\n  ntprof-bpf %s ",
			 live ? "--host" : verbs[i].name);
		assert_contains(strstr(r.out, "\nExamples:\n"), example);
	}
	RUN(&r, "--help");
	assert_examples_are_whole(r.out);
}

static void help_is_the_same_however_it_is_asked_for(void **state)
{
	struct result r, other;

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		char *name = (char *)verbs[i].name;

		RUN(&r, name, "--help");
		RUN(&other, "help", name);
		assert_int_equal(other.status, 0);
		assert_string_equal(other.out, r.out);
		RUN(&other, "--help", name);
		assert_string_equal(other.out, r.out);
		RUN(&other, name, "-?");
		assert_string_equal(other.out, r.out);
	}
	RUN(&r, "--help");
	RUN(&other, "help");
	assert_int_equal(other.status, 0);
	assert_string_equal(other.out, r.out);
	RUN(&other, "--host", "--help");
	assert_string_equal(other.out, r.out);
}

static void help_has_a_line_for_every_verb(void **state)
{
	char line[64];
	struct result r;

	RUN(&r, "--help");
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		snprintf(line, sizeof(line), "\n  %-8s ", verbs[i].name);
		assert_contains(r.out, line);
	}
	assert_contains(r.out, "ntprof-bpf help VERB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_help_is_at_most_80_columns_wide),
		cmocka_unit_test(help_of_a_verb_lists_its_options_and_no_other),
		cmocka_unit_test(help_gives_examples_of_every_verb),
		cmocka_unit_test(help_is_the_same_however_it_is_asked_for),
		cmocka_unit_test(help_has_a_line_for_every_verb),
	};

	return cmocka_run_group_tests_name("help", tests, find_program, NULL);
}
