// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths as a flame graph. With NTPROF_FLAME=FILE in the environment the graph stays there: a
 * browser opens it in tests/formats/html.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "view/flame.h"

/* A name that ends an attribute, an element, a script and a comment. */
#define NAME "x\"/></text></svg>]]></script>--><script>alert(1)</script>&\x01'"

static const char *const names[] = {"nvme_tcp_queue_rq", "blk_mq_submit_bio",
				    "blk_mq_flush_plug_list", NAME, "io_submit_one"};

static const char *name_of(const void *context, uint64_t address)
{
	return names[address - 1];
}

static void add(struct paths *paths, uint64_t commands, const uint64_t *frames, size_t nr)
{
	struct nt_stack s = {{0}};
	struct path_figures f = {.commands = commands};

	memcpy(s.frames, frames, nr * sizeof(*frames));
	assert_int_equal(paths_add(paths, &s, 0, name_of, NULL, &f), 0);
}

#define ADD(paths, commands, ...)                             \
	add(paths, commands, (const uint64_t[]){__VA_ARGS__}, \
	    sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static char *drawn(const struct paths *paths)
{
	const struct paths_run run = {.kernel = "6.1.0<&", .elapsed_ns = 2500000000, .sample = 10};
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_int_equal(flame_print(paths, &run, f), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

/* Of the frame of that title. Return: its first command and how many it has */
static uint64_t place_of(const char *text, const char *title, uint64_t *commands)
{
	unsigned long long x, w;
	const char *at = strstr(text, title), *data = NULL;

	assert_non_null(at);
	for (const char *p = text; (p = strstr(p, "data-x=")) && p < at; p++)
		data = p;
	assert_non_null(data);
	assert_int_equal(sscanf(data, "data-x=\"%llu\" data-w=\"%llu\"", &x, &w), 2);
	*commands = w;
	return x;
}

static void fill(struct paths *paths)
{
	ADD(paths, 30, 1, 2, 5);
	ADD(paths, 50, 1, 3, 5);
	ADD(paths, 15, 1, 3, 4);
	ADD(paths, 5, 1);
	paths_sort(paths);
}

static void a_function_is_as_wide_as_its_commands_and_stands_on_its_caller(void **state)
{
	uint64_t n, low, high, all;
	struct paths paths = {0};
	char *text, *kept = getenv("NTPROF_FLAME");
	FILE *f;

	fill(&paths);
	text = drawn(&paths);
	assert_int_equal(strncmp(text, FLAME_BEGINS, strlen(FLAME_BEGINS)), 0);
	has(text, "<title>all: 100 commands, 100.0 %</title>");
	has(text, "<title>plug_flush: 65 commands, 65.0 %</title>");
	has(text, "a sample of 1 command in 10");
	has(text, "kernel 6.1.0&lt;&amp; | 2.5 s");
	low = place_of(text, "<title>plug_flush: 65", &all);
	assert_int_equal(all, 65);
	high = place_of(text, "<title>io_submit_one: 50 commands", &n);
	assert_int_equal(n, 50);
	assert_true(high >= low && high + n <= low + all);
	if (kept) {
		f = fopen(kept, "w");
		assert_non_null(f);
		fputs(text, f);
		fclose(f);
	}
	free(text);
	paths_free(&paths);
}

static void names_are_text(void **state)
{
	struct paths paths = {0};
	char *text;

	fill(&paths);
	text = drawn(&paths);
	has(text, "x&quot;/&gt;&lt;/text&gt;&lt;/svg&gt;]]&gt;&lt;/script&gt;");
	assert_null(strstr(text, "<script>alert"));
	assert_null(strchr(text, 1));
	free(text);
	paths_free(&paths);
}

static void no_command_is_an_empty_graph(void **state)
{
	struct paths paths = {0};
	char *text = drawn(&paths);

	has(text, "</svg>\n");
	has(text, ">0 commands on their way");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_as_wide_as_its_commands_and_stands_on_its_caller),
		cmocka_unit_test(names_are_text),
		cmocka_unit_test(no_command_is_an_empty_graph),
	};

	return cmocka_run_group_tests_name("flame", tests, NULL, NULL);
}
