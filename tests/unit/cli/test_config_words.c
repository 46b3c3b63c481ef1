// SPDX-License-Identifier: GPL-2.0-only
/* The options of a configuration file and of the command line: which replaces which, and the line
 * they make. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/config.h"
#include "core/hash.h"

static struct config_words words;

static int tear_down(void **state)
{
	config_words_free(&words);
	memset(&words, 0, sizeof(words));
	return 0;
}

/* Adds an option of line @line of the file, or, with @line 0, of the command line. */
static void add(const char *option, unsigned int line, enum config_level level)
{
	char text[64];

	snprintf(text, sizeof(text), "--%s", option);
	assert_true(config_words_add(&words, option, line ? strdup(text) : NULL, line, level));
}

static void only_a_later_level_replaces_an_option(void **state)
{
	add("sample", 3, CONFIG_OF_VERB);
	assert_true(config_words_replaced(&words, "sample", CONFIG_OF_ALL));
	assert_false(config_words_replaced(&words, "sample", CONFIG_OF_VERB));
	assert_false(config_words_replaced(&words, "sample", CONFIG_OF_LINE));
	assert_false(config_words_replaced(&words, "samples", CONFIG_OF_ALL));
	add("buffer", 0, CONFIG_OF_LINE);
	assert_true(config_words_replaced(&words, "buffer", CONFIG_OF_ALL));
	assert_true(config_words_replaced(&words, "buffer", CONFIG_OF_VERB));
	assert_false(config_words_replaced(&words, "buffer", CONFIG_OF_LINE));
}

/* What excludes an option replaces it as well, in both directions. */
static void an_option_replaces_what_it_excludes(void **state)
{
	static const char *const rivals[][2] = {{"host", "target"},
						{"target", "host"},
						{"interval", "burst"},
						{"burst", "interval"}};

	for (unsigned int i = 0; i < ARRAY_SIZE(rivals); i++) {
		add(rivals[i][0], 0, CONFIG_OF_LINE);
		assert_true(config_words_replaced(&words, rivals[i][1], CONFIG_OF_VERB));
		assert_false(config_words_replaced(&words, rivals[(i + 2) % 4][0], CONFIG_OF_VERB));
		assert_false(config_words_replaced(&words, rivals[(i + 2) % 4][1], CONFIG_OF_VERB));
		tear_down(state);
	}
}

static void an_option_is_found_at_its_level(void **state)
{
	add("host", 2, CONFIG_OF_ALL);
	add("host", 5, CONFIG_OF_VERB);
	add("sample", 7, CONFIG_OF_VERB);
	assert_true(config_words_has(&words, "host", CONFIG_OF_ALL));
	assert_true(config_words_has(&words, "host", CONFIG_OF_VERB));
	assert_false(config_words_has(&words, "host", CONFIG_OF_LINE));
	assert_false(config_words_has(&words, "sample", CONFIG_OF_ALL));
	assert_int_equal(config_words_before(&words, "host", CONFIG_OF_ALL), 2);
	assert_int_equal(config_words_before(&words, "host", CONFIG_OF_VERB), 5);
	assert_int_equal(config_words_before(&words, "host", CONFIG_OF_LINE), 0);
	assert_int_equal(config_words_before(&words, "sample", CONFIG_OF_ALL), 0);
}

/* These are combined, so a section may have them several times. */
static void some_options_may_be_repeated(void **state)
{
	static const char *const repeated[] = {"peer", "where", "ctrl", "nsid",	 "queue",
					       "op",   "size",	"lba",	"stats", "by"};
	static const char *const once[] = {"sample", "interval", "device", "nqn", "output", "host"};

	for (unsigned int i = 0; i < ARRAY_SIZE(repeated); i++) {
		add(repeated[i], i + 1, CONFIG_OF_ALL);
		assert_int_equal(config_words_before(&words, repeated[i], CONFIG_OF_ALL), 0);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(once); i++) {
		add(once[i], i + 1, CONFIG_OF_ALL);
		assert_int_equal(config_words_before(&words, once[i], CONFIG_OF_ALL), i + 1);
	}
}

/* Another user who may write the file must not decide about these. */
static void options_that_act_are_known(void **state)
{
	static const char *const acting[] = {
		"peer",	 "peer-as-root", "output", "force",	 "dir",	 "listen", "files",
		"bytes", "keep-free",	 "keep",   "keep-bytes", "when", "after"};
	static const char *const harmless[] = {"host", "target",   "interval", "sample",
					       "op",   "duration", "peers",    "out"};

	for (unsigned int i = 0; i < ARRAY_SIZE(acting); i++)
		assert_true(config_words_act(acting[i]));
	for (unsigned int i = 0; i < ARRAY_SIZE(harmless); i++)
		assert_false(config_words_act(harmless[i]));
}

static void there_is_room_for_256_options(void **state)
{
	for (unsigned int i = 0; i < 256; i++)
		add("peer", i + 1, CONFIG_OF_ALL);
	assert_false(config_words_add(&words, "peer", strdup("--peer"), 257, CONFIG_OF_ALL));
	assert_int_equal(words.nr, 256);
}

static void line_free(struct config_line *l, int argc)
{
	for (int i = 0; i < l->argc; i++) {
		if (!l->origins[i])
			continue;
		free(l->argv[i]);
		free(l->origins[i]);
	}
	assert_true(l->argc >= argc);
	free(l->argv);
	free(l->origins);
}

/* The file's options are between the program's name and the words of the command line. */
static void a_line_has_the_files_options_first(void **state)
{
	char *argv[] = {"ntprof-bpf", "--target", "x", NULL};
	static const char *const expected[] = {"ntprof-bpf", "--sample", "--peer",
					       "--peer",     "--target", "x"};
	static const char *const origins[] = {NULL, "a.conf:4", "a.conf:5", "a.conf:6", NULL, NULL};
	struct config_line l = {.argc = 0};

	add("target", 0, CONFIG_OF_LINE);
	add("host", 2, CONFIG_OF_ALL);
	add("sample", 3, CONFIG_OF_ALL);
	add("sample", 4, CONFIG_OF_VERB);
	add("peer", 5, CONFIG_OF_VERB);
	add("peer", 6, CONFIG_OF_VERB);
	assert_int_equal(config_words_put(&words, "a.conf", 3, argv, &l), 0);
	assert_int_equal(l.argc, ARRAY_SIZE(expected));
	for (unsigned int i = 0; i < ARRAY_SIZE(expected); i++) {
		assert_string_equal(l.argv[i], expected[i]);
		if (origins[i])
			assert_string_equal(l.origins[i], origins[i]);
		else
			assert_null(l.origins[i]);
	}
	assert_null(l.argv[l.argc]);
	line_free(&l, 3);
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_a_later_level_replaces_an_option),
		TEST(an_option_replaces_what_it_excludes),
		TEST(an_option_is_found_at_its_level),
		TEST(some_options_may_be_repeated),
		TEST(options_that_act_are_known),
		TEST(there_is_room_for_256_options),
		TEST(a_line_has_the_files_options_first),
	};

	return cmocka_run_group_tests_name("options of files and of the line", tests, NULL, NULL);
}
