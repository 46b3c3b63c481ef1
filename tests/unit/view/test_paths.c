// SPDX-License-Identifier: GPL-2.0-only
/* Paths as text, as folded lines, as CSV and as JSON: all have the same figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "view/paths.h"

static const char *const names[] = {"nvme_tcp_queue_rq", "blk_mq_submit_bio",
				    "blk_mq_flush_plug_list", "x,\"y\""};

static const char *name_of(const void *context, uint64_t address)
{
	return names[address - 1];
}

static void add(struct paths *paths, uint64_t commands, uint64_t ns, uint64_t a, uint64_t b,
		uint64_t c)
{
	const struct nt_stack s = {{a, b, c}};
	struct path_figures f = {.commands = commands};

	for (uint64_t i = 0; i < commands; i++)
		hist_count(&f.latency, ns);
	assert_int_equal(paths_add(paths, &s, 0, name_of, NULL, &f), 0);
}

static struct paths_run run = {.kernel = "6.1.0", .elapsed_ns = 2500000000, .sample = 10};

/* Return: the printed text, to be freed. */
static char *printed(const struct paths *paths, int (*print)(const struct paths *paths, FILE *f))
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	assert_int_equal(print(paths, f), 0);
	assert_int_equal(fclose(f), 0);
	return text;
}

static uint64_t shown;

static int print_text(const struct paths *paths, FILE *f)
{
	paths_print(paths, &run, shown, f);
	return 0;
}

static int print_json(const struct paths *paths, FILE *f)
{
	return paths_print_json(paths, &run, f);
}

static void fill(struct paths *paths)
{
	add(paths, 3, 1000, 1, 2, 0);
	add(paths, 5, 2000, 1, 3, 4);
	add(paths, 1, 3000, 1, 0, 0);
	paths_sort(paths);
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void text_has_kinds_and_the_stacks_of_most_commands(void **state)
{
	struct paths paths = {0};
	char *text;

	fill(&paths);
	shown = 1;
	text = printed(&paths, print_text);
	has(text, "kernel 6.1.0 | 2.5 s | sample of 1 command in 10 | 9 commands\n");
	has(text, "\nplug_flush              5   55.6 % ");
	has(text, "\ndirect_issue            3   33.3 % ");
	has(text, "\nplug_flush, 5 commands, 55.6 %, mean 2.00us\n    nvme_tcp_queue_rq\n"
		  "    blk_mq_flush_plug_list\n    x,\"y\"\n");
	has(text, "\n2 more paths, 4 commands (--paths shows them)\n");
	has(text, "\nno losses\n");
	assert_null(strstr(text, "requeue"));
	free(text);
	paths.lost[PATH_LOST_MISSED] = 7;
	shown = 3;
	text = printed(&paths, print_text);
	has(text, "\nlosses:\nprobe_missed 7  # ");
	assert_null(strstr(text, "more path"));
	free(text);
	paths_free(&paths);
}

static void nothing_seen_is_told(void **state)
{
	struct paths paths = {0};
	char *text = printed(&paths, print_text);

	has(text, "| 0 commands\nno command was given to the driver\n");
	free(text);
}

static void folded_lines_begin_outermost(void **state)
{
	struct paths paths = {0};
	char *text;

	fill(&paths);
	text = printed(&paths, paths_print_folded);
	assert_string_equal(text, "plug_flush;x,\"y\";blk_mq_flush_plug_list;nvme_tcp_queue_rq 5\n"
				  "direct_issue;blk_mq_submit_bio;nvme_tcp_queue_rq 3\n"
				  "other;nvme_tcp_queue_rq 1\n");
	free(text);
	paths_free(&paths);
}

static void csv_quotes_what_holds_separators(void **state)
{
	struct paths paths = {0};
	char *text;

	fill(&paths);
	text = printed(&paths, paths_print_csv);
	has(text, "kind,commands,share,ended,before_driver,mean,p50,p99,max,functions\r\n"
		  "plug_flush,5,");
	has(text,
	    ",5,,2000,2000,,2000,\"x,\"\"y\"\";blk_mq_flush_plug_list;nvme_tcp_queue_rq\"\r\n");
	free(text);
	paths_free(&paths);
}

static void json_has_functions_innermost_first(void **state)
{
	struct paths paths = {0};
	char *text;

	fill(&paths);
	paths.lost[PATH_LOST_NO_ROOM] = 2;
	text = printed(&paths, print_json);
	has(text, "{\"type\":\"stacks\",\"schema_version\":1,");
	has(text, "\"elapsed_seconds\":2.5,\"sample\":10,");
	has(text,
	    "\"functions\":[\"nvme_tcp_queue_rq\",\"blk_mq_flush_plug_list\",\"x,\\\"y\\\"\"]");
	has(text,
	    "\"losses\":{\"stack_no_room\":2,\"untimed\":0,\"stack_unread\":0,\"probe_missed\":0}}\n");
	free(text);
	paths_free(&paths);
}

/* Every command is a sample of 1 in 1, which goes without saying in a text. */
static void all_commands_are_no_sample(void **state)
{
	struct paths paths = {0};
	const struct paths_run before = run;
	char *text;

	fill(&paths);
	for (run.sample = 0; run.sample < 2; run.sample++) {
		text = printed(&paths, print_text);
		assert_null(strstr(text, "sample"));
		free(text);
		text = printed(&paths, print_json);
		has(text, "\"sample\":1,");
		free(text);
	}
	run = before;
	paths_free(&paths);
}

static void no_stack_is_shown_and_none_is_missed_where_none_was_wanted(void **state)
{
	struct paths paths = {0};
	char *text;

	fill(&paths);
	shown = 0;
	text = printed(&paths, print_text);
	has(text, "\nplug_flush              5   55.6 % ");
	assert_null(strstr(text, "nvme_tcp_queue_rq"));
	assert_null(strstr(text, "more path"));
	free(text);
	shown = 2;
	text = printed(&paths, print_text);
	has(text, "\n1 more path, 1 command (--paths shows them)\n");
	free(text);
	paths_free(&paths);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_has_kinds_and_the_stacks_of_most_commands),
		cmocka_unit_test(nothing_seen_is_told),
		cmocka_unit_test(all_commands_are_no_sample),
		cmocka_unit_test(no_stack_is_shown_and_none_is_missed_where_none_was_wanted),
		cmocka_unit_test(folded_lines_begin_outermost),
		cmocka_unit_test(csv_quotes_what_holds_separators),
		cmocka_unit_test(json_has_functions_innermost_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
