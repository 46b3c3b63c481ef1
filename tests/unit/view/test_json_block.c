// SPDX-License-Identifier: GPL-2.0-only
/* The live view's block as JSON: which members it has, and which rows are in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/names.h"
#include "shared/buckets.h"
#include "view/json_block.h"

#define MS 1000000ULL

static struct stats stats;

static void count(struct stats_row *row, uint64_t ns, unsigned int interval, unsigned int total)
{
	for (unsigned int i = 0; i < interval; i++)
		hist_count(&row->interval, ns);
	for (unsigned int i = 0; i < total; i++)
		hist_count(&row->total, ns);
}

static struct stats_row *row(uint16_t qid, enum nt_op op)
{
	return stats_row(&stats, "nvme0", "nqn.x", qid, op, false);
}

/* The stages of a host that has TCP alone. */
#define STAGES_NR (NT_HOST_STAGES_NR - 1)

/*
 * In ten seconds 3 reads and 2 writes, in the last second one read. Flushes are outside the sample.
 * Queue 4 had nothing, queue 5 has a command in flight.
 */
static int set_up(void **state)
{
	stats = (struct stats){.side = NT_HOST,
			       .driver = "nvme_tcp",
			       .source = "stock",
			       .seconds = 1,
			       .elapsed = 10};
	count(row(1, NT_OP_READ), MS, 1, 3);
	count(row(2, NT_OP_WRITE), 2 * MS, 0, 2);
	row(3, NT_OP_FLUSH)->others_total.commands = 7;
	row(4, NT_OP_OTHER);
	row(5, NT_OP_READ)->waiting.commands = 1;
	for (unsigned int i = 0; i < NT_HOST_STAGES_NR; i++) {
		if (i == NT_HS_DEVICE)
			continue;
		hist_count(&stats.stage_interval[NT_OP_READ][i], MS / STAGES_NR);
		hist_count(&stats.stage_total[NT_OP_READ][i], MS / STAGES_NR);
	}
	stats.counters_total[NT_CNT_RING_FULL] = 5;
	stats.counters_interval[NT_CNT_RING_FULL] = 2;
	return 0;
}

static int tear_down(void **state)
{
	stats_free(&stats);
	return 0;
}

static struct json_object *find(struct json_object *o, const char *name)
{
	struct json_object *m = NULL;

	return json_object_object_get_ex(o, name, &m) ? m : NULL;
}

static struct json_object *member(struct json_object *o, const char *name)
{
	struct json_object *m = find(o, name);

	if (!m)
		fail_msg("there is no %s", name);
	return m;
}

static int64_t number(struct json_object *o, const char *name)
{
	return json_object_get_int64(member(o, name));
}

static struct json_object *at(struct json_object *array, size_t i)
{
	return json_object_array_get_idx(array, i);
}

/* The values of a member of all rows of a table, with a blank behind each. */
static void assert_rows(struct json_object *o, const char *table, const char *name,
			const char *expected)
{
	struct json_object *rows = member(o, table);
	char text[512] = "";

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		strcat(text, json_object_get_string(member(at(rows, i), name)));
		strcat(text, " ");
	}
	assert_string_equal(text, expected);
}

static void a_summary_is_of_the_run_and_an_interval_of_its_second(void **state)
{
	struct json_object *run = json_block(&stats, true, false, NULL, NULL);
	struct json_object *last = json_block(&stats, false, false, NULL, NULL);

	assert_string_equal(json_object_get_string(member(run, "type")), "summary");
	assert_string_equal(json_object_get_string(member(last, "type")), "interval");
	assert_non_null(member(run, "time"));
	assert_rows(run, "queues", "queue", "1 2 3 5 ");
	assert_rows(last, "queues", "queue", "1 5 ");
	assert_rows(run, "queues", "commands", "3 2 7 0 ");
	assert_rows(last, "queues", "commands", "1 0 ");
	assert_rows(run, "operations", "op", "read write flush ");
	assert_rows(run, "operations", "commands", "3 2 7 ");
	assert_rows(run, "operations", "measured", "3 2 0 ");
	assert_rows(last, "operations", "op", "read ");
	assert_int_equal(number(member(run, "losses"), "ring_full"), 5);
	assert_int_equal(number(member(last, "losses"), "ring_full"), 5);
	assert_int_equal(number(member(last, "losses_added"), "ring_full"), 2);
	assert_null(find(run, "losses_added"));
	json_object_put(run);
	json_object_put(last);
}

static void what_was_not_asked_for_is_not_there(void **state)
{
	struct json_object *o = json_block(&stats, true, false, NULL, NULL);
	static const char *const names[] = {"groups", "peers", "matching", "merged", "loss_queues"};

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		assert_null(find(o, names[i]));
	assert_null(find(at(member(o, "queues"), 0), "histogram"));
	json_object_put(o);
}

static void every_kind_of_loss_has_a_count(void **state)
{
	struct json_object *o = json_losses(stats.counters_total);

	assert_int_equal(json_object_object_length(o), COUNTERS_NR);
	for (unsigned int c = 0; c < COUNTERS_NR; c++)
		assert_int_equal(number(o, counter_name(c)), c == NT_CNT_RING_FULL ? 5 : 0);
	json_object_put(o);
}

static void losses_past_a_limit_name_their_queues(void **state)
{
	struct json_object *o, *queues;

	stats.counters_queues[NT_CNT_NO_START] = 6;
	o = json_block(&stats, true, false, NULL, NULL);
	queues = member(o, "loss_queues");
	assert_int_equal(json_object_object_length(queues), 1);
	assert_int_equal(number(queues, "no_start"), 6);
	json_object_put(o);
}

/* The last bucket has no upper bound. */
static void a_histogram_has_the_buckets_that_are_not_empty(void **state)
{
	const unsigned int bucket = nt_bucket(MS);
	struct json_object *o, *h;

	count(row(1, NT_OP_READ), UINT64_MAX / 4, 0, 2);
	o = json_block(&stats, true, true, NULL, NULL);
	h = member(at(member(o, "queues"), 0), "histogram");
	assert_int_equal(json_object_array_length(h), 2);
	assert_int_equal(json_object_array_length(at(h, 0)), 3);
	assert_int_equal(json_object_get_int64(at(at(h, 0), 0)), nt_bucket_low(bucket));
	assert_int_equal(json_object_get_int64(at(at(h, 0), 1)), nt_bucket_low(bucket + 1));
	assert_int_equal(json_object_get_int64(at(at(h, 0), 2)), 3);
	assert_int_equal(json_object_get_int64(at(at(h, 1), 0)), nt_bucket_low(NT_OVERFLOW_BUCKET));
	assert_null(at(at(h, 1), 1));
	assert_int_equal(json_object_get_int64(at(at(h, 1), 2)), 2);
	json_object_put(o);
}

static void an_error_has_a_row_from_its_first_command_on(void **state)
{
	struct json_object *o;

	assert_int_equal(errors_add(&stats.errors, "nvme0", "nqn.x", 1, NT_OP_READ, 0x281, 4), 0);
	assert_int_equal(errors_add(&stats.errors, "nvme0", "nqn.x", 1, NT_OP_READ, 6, 0), 0);
	o = json_block(&stats, true, false, NULL, NULL);
	assert_int_equal(json_object_array_length(member(o, "errors")), 1);
	assert_rows(o, "errors", "total", "4 ");
	json_object_put(o);
}

/* What nothing gives is left out, and the stages of a figure that was asked for have it besides. */
static void stages_have_the_figures_that_were_asked_for(void **state)
{
	struct group_choice c = {.grouping = {.by = {.nr = 0}}};
	struct json_object *o = json_block(&stats, true, false, NULL, &c), *stage;

	stage = at(member(o, "stages"), 0);
	assert_int_equal(json_object_array_length(member(o, "stages")), 2 * STAGES_NR);
	assert_string_equal(json_object_get_string(member(stage, "stage")), "blk_submission");
	assert_null(find(stage, "min"));
	assert_non_null(member(o, "groups"));
	assert_null(find(member(o, "population"), "min"));
	json_object_put(o);
	assert_null(figures_parse(&c.figures, "min,p10,mean"));
	o = json_block(&stats, true, false, NULL, &c);
	stage = at(member(o, "stages"), 0);
	assert_true(number(stage, "min") > 0);
	assert_true(json_object_object_get_ex(stage, "p10", NULL));
	assert_true(json_object_object_get_ex(stage, "p99", NULL));
	assert_int_equal(number(stage, "mean"), MS / STAGES_NR);
	json_object_put(o);
}

static void staged(struct stats_row *r, uint64_t ns, unsigned int times)
{
	struct stats_stages *of = stats_stages_make(&stats, r);

	assert_non_null(of);
	for (unsigned int k = 0; k < times; k++)
		for (unsigned int i = 0; i < NT_HOST_STAGES_NR; i++)
			if (i != NT_HS_DEVICE)
				hist_count(&of->total[i], ns);
}

/* Each controller and group has its own stages, if these have all of its commands. */
static void stages_are_by_controller(void **state)
{
	struct group_choice c = {.grouping = {.by = {.nr = 1, .key = {GROUP_CTRL}}}};
	struct stats_row *slow = stats_row(&stats, "nvme7", "nqn.slow", 1, NT_OP_READ, false);
	struct json_object *o, *of, *group;

	count(slow, 60 * MS, 0, 4);
	staged(slow, 10 * MS, 4);
	staged(row(1, NT_OP_READ), MS / 10, 3);
	staged(row(2, NT_OP_WRITE), MS / 5, 2);
	row(2, NT_OP_WRITE)->unstaged_total = true;
	o = json_block(&stats, true, false, NULL, &c);
	assert_int_equal(json_object_array_length(member(o, "controller_stages")), 2);
	of = at(member(o, "controller_stages"), 0);
	assert_string_equal(json_object_get_string(member(of, "controller")), "nvme0");
	assert_int_equal(json_object_array_length(member(of, "stages")), STAGES_NR);
	assert_int_equal(number(at(member(of, "stages"), 0), "mean"), MS / 10);
	assert_int_equal(number(at(member(of, "stages"), 0), "commands"), 3);
	of = at(member(o, "controller_stages"), 1);
	assert_string_equal(json_object_get_string(member(of, "controller")), "nvme7");
	assert_string_equal(json_object_get_string(member(of, "peer")), "nqn.slow");
	assert_int_equal(number(at(member(of, "stages"), 1), "mean"), 10 * MS);
	/* Not all writes of nvme0 are in its stages. */
	group = at(member(member(o, "groups"), "rows"), 0);
	assert_null(find(group, "stages"));
	group = at(member(member(o, "groups"), "rows"), 1);
	assert_string_equal(json_object_get_string(member(group, "ctrl")), "nvme7");
	assert_int_equal(number(member(group, "stages"), "blk_completion"), 10 * MS);
	assert_non_null(find(group, "longest_stage"));
	json_object_put(o);
}

static void a_stage_that_nothing_gives_is_left_out(void **state)
{
	struct json_object *o;

	stats_free(&stats);
	stats = (struct stats){.side = NT_TARGET, .driver = "nvmet_tcp", .source = "stock"};
	count(row(1, NT_OP_READ), MS, 0, 1);
	stats.missing = 1u << NT_T_RX;
	o = json_block(&stats, true, false, NULL, NULL);
	for (size_t i = 0; i < json_object_array_length(member(o, "stages")); i++)
		assert_string_not_equal(
			json_object_get_string(member(at(member(o, "stages"), i), "stage")),
			"nstack_submission");
	assert_true(json_object_array_length(member(o, "stages")) > 0);
	json_object_put(o);
}

static void merged_operations_are_those_that_had_commands(void **state)
{
	static struct totals m;
	struct json_object *o;

	hist_count(&m.latency[NT_OP_WRITE], MS);
	o = json_merged(&m, NULL);
	assert_rows(o, "operations", "op", "write ");
	assert_int_equal(json_object_array_length(member(o, "queues")), 0);
	assert_int_equal(json_object_array_length(member(o, "errors")), 0);
	assert_non_null(member(o, "totals"));
	assert_non_null(member(o, "stages"));
	json_object_put(o);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_summary_is_of_the_run_and_an_interval_of_its_second),
		TEST(what_was_not_asked_for_is_not_there),
		TEST(every_kind_of_loss_has_a_count),
		TEST(losses_past_a_limit_name_their_queues),
		TEST(a_histogram_has_the_buckets_that_are_not_empty),
		TEST(an_error_has_a_row_from_its_first_command_on),
		TEST(stages_have_the_figures_that_were_asked_for),
		TEST(stages_are_by_controller),
		TEST(a_stage_that_nothing_gives_is_left_out),
		TEST(merged_operations_are_those_that_had_commands),
	};

	return cmocka_run_group_tests_name("blocks as JSON", tests, NULL, NULL);
}
