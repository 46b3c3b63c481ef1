// SPDX-License-Identifier: GPL-2.0-only
/* The line that a configuration file and a command line make: which option replaces which, and
 * where each is from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/config.h"
#include "core/array.h"

#define WORDS_MAX 8

/* Return: the status of config_read() with a file of this text and these words */
static int read_text(struct config_line *l, const struct verb *verb, const char *text,
		     char *const words[WORDS_MAX])
{
	char path[] = "/tmp/ntprof-words.XXXXXX",
	     *argv[WORDS_MAX + 3] = {"program", "--config", path};
	int fd = mkstemp(path), argc = 3, status;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	for (; words[argc - 3]; argc++)
		argv[argc] = words[argc - 3];
	status = config_read(l, all_verbs, verb, argc, argv);
	unlink(path);
	return status;
}

/* @line: the words in place of --config and its argument: those of the file with their lines */
static void assert_line(const struct verb *verb, const char *text, char *const words[WORDS_MAX],
			const char *line)
{
	struct config_line l;
	char said[512] = "";

	assert_int_equal(read_text(&l, verb, text, words), 0);
	assert_null(l.argv[l.argc]);
	assert_string_equal(l.argv[0], "program");
	for (int i = 1; i < l.argc; i++) {
		if (!l.origins[i] && !strcmp(l.argv[i], "--config")) {
			i++;
			continue;
		}
		snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s%s%s", l.argv[i],
			 l.origins[i] ? strrchr(l.origins[i], ':') : "", i < l.argc - 1 ? " " : "");
	}
	config_free(&l);
	assert_string_equal(said, line);
}

static void only_a_later_level_replaces_an_option(void **state)
{
	static const char text[] = "[live]\nsample = 3\n[all]\nsample = 5\nsize = 4k\nsize = 8k\n";

	assert_line(&verb_live, text, (char *[WORDS_MAX]){NULL},
		    "--sample=3:2 --size=4k:5 --size=8k:6 ");
	assert_line(&verb_live, text, (char *[WORDS_MAX]){"--size=1k", "x"},
		    "--sample=3:2 --size=1k x");
	assert_line(&verb_live, text, (char *[WORDS_MAX]){"--samp", "9", "--siz=1"},
		    "--samp 9 --siz=1");
	assert_line(&verb_serve, text, (char *[WORDS_MAX]){NULL},
		    "--sample=5:4 --size=4k:5 --size=8k:6 ");
	assert_line(&verb_report, text, (char *[WORDS_MAX]){"x"}, "--size=4k:5 --size=8k:6 x");
}

/* What excludes an option replaces it as well, in both directions. */
static void an_option_replaces_what_it_excludes(void **state)
{
	static const char text[] = "[all]\nhost = 1\ninterval = 5\n[live]\nburst = 1s/60s\n";

	assert_line(&verb_live, text, (char *[WORDS_MAX]){NULL}, "--host:2 --burst=1s/60s:5 ");
	assert_line(&verb_live, text, (char *[WORDS_MAX]){"-i", "1"}, "--host:2 -i 1");
	assert_line(&verb_live, text, (char *[WORDS_MAX]){"--target"}, "--burst=1s/60s:5 --target");
	assert_line(&verb_live, "[live]\ntarget = 1\n", (char *[WORDS_MAX]){"--host"}, "--host");
	assert_line(&verb_serve, text, (char *[WORDS_MAX]){"--burst=1s/9s"},
		    "--host:2 --burst=1s/9s");
}

/* These are combined, so a section may have them several times; another one is an error. */
static void some_options_may_be_repeated(void **state)
{
	static const char *const repeated[] = {"peer", "ctrl", "nsid",	"queue", "op",
					       "size", "lba",  "stats", "by"};
	static const char *const once[] = {"sample", "interval", "device", "nqn", "count"};
	struct config_line l;
	char text[64], line[64];

	for (size_t i = 0; i < ARRAY_SIZE(repeated); i++) {
		snprintf(text, sizeof(text), "[live]\n%s=a\n%s=b\n", repeated[i], repeated[i]);
		snprintf(line, sizeof(line), "--%s=a:2 --%s=b:3 ", repeated[i], repeated[i]);
		assert_line(&verb_live, text, (char *[WORDS_MAX]){NULL}, line);
	}
	assert_line(&verb_report, "[report]\nwhere=a\nwhere=b\n", (char *[WORDS_MAX]){NULL},
		    "--where=a:2 --where=b:3 ");
	for (size_t i = 0; i < ARRAY_SIZE(once); i++) {
		snprintf(text, sizeof(text), "[live]\n%s=a\n%s=b\n", once[i], once[i]);
		assert_int_equal(read_text(&l, &verb_live, text, (char *[WORDS_MAX]){NULL}),
				 EX_USAGE);
		config_free(&l);
	}
}

/* An option that has no argument is not there if the file says no. */
static void what_is_off_is_not_in_the_line(void **state)
{
	assert_line(&verb_live, "[all]\nhost = no\nverbose = yes\n", (char *[WORDS_MAX]){NULL},
		    "--verbose:3 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_later_level_replaces_an_option),
		cmocka_unit_test(an_option_replaces_what_it_excludes),
		cmocka_unit_test(some_options_may_be_repeated),
		cmocka_unit_test(what_is_off_is_not_in_the_line),
	};

	return cmocka_run_group_tests_name("options of files and of the line", tests, NULL, NULL);
}
