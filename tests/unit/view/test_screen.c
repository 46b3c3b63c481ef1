// SPDX-License-Identifier: GPL-2.0-only
/* What the screen shows at once, at the sizes that terminals have. */
#include "view/drawn.h"

#define SECOND (1000 * MS)

static const struct {
	unsigned int columns, lines;
} sizes[] = {{40, 10}, {80, 24}, {120, 50}, {200, 50}};

static void size(size_t i)
{
	t.o.columns = sizes[i].columns;
	t.o.lines = sizes[i].lines;
}

/* One controller that is connecting, with commands from before tracing, and one that is live. */
static struct controller two[2];
static struct controllers both = {.row = two, .nr = 2, .now_ns = 20 * SECOND};

static void controllers_known(const char *state, uint64_t before)
{
	two[0] = (struct controller){.name = "nvme0",
				     .peer = ONE,
				     .address = "10.0.0.1:4420",
				     .devices = "nvme0n1",
				     .since_ns = 8 * SECOND,
				     .in_flight = before,
				     .before = before,
				     .ended_ns = 8 * SECOND};
	snprintf(two[0].state, sizeof(two[0].state), "%s", state);
	two[1] = (struct controller){.name = "nvme1", .peer = TWO, .state = "live"};
	t.o.controllers = &both;
}

static void a_controller_that_is_not_live_is_in_the_head(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		size(i);
		controllers_known("connecting", 8);
		draw();
		assert_seen("nvme0 connecting for 12.0s or longer, 8");
		two[0].changed = true;
		draw();
		assert_seen("nvme0 connecting for 12.0s, 8 in flight");
		controllers_known("live", 0);
		draw();
		assert_int_equal(find("nvme0 live", 0), -1);
	}
	controllers_known("connecting", 8);
	t.o.columns = 132;
	draw();
	assert_seen("nvme0 connecting for 12.0s or longer, 8 in flight since before tracing, none "
		    "ended for 12.0s nvme0n1 at 10.0.0.1:4420");
	assert_non_null(strstr(t.raw, "1 connecting, 1 live"));
}

static void a_live_controller_that_answers_nothing_of_before_is_too(void **state)
{
	controllers_known("live", 8);
	draw();
	assert_seen("nvme0 live, 8 in flight since before tracing, none ended for 12.0s");
	both.now_ns = 8 * SECOND + 500 * MS;
	draw();
	assert_int_equal(find("nvme0 live", 0), -1);
	both.now_ns = 20 * SECOND;
}

static void controllers_that_find_no_room_are_counted(void **state)
{
	static struct controller many[20];
	const struct controllers all = {.row = many, .nr = 20, .now_ns = SECOND};

	for (size_t i = 0; i < 20; i++) {
		snprintf(many[i].name, sizeof(many[i].name), "nvme%zu", i);
		snprintf(many[i].state, sizeof(many[i].state), "resetting");
	}
	t.o.controllers = &all;
	draw();
	assert_seen("nvme2 resetting");
	assert_seen("... 17 more controllers");
	size(0);
	draw();
	assert_seen("... 20 more controllers");
}

/* The row with the oldest command is first and in red, and the stage is known though none ended. */
static void stalled_rows_are_first_and_their_stage_is_known(void **state)
{
	struct stats_row *row;
	struct nt_record r = {.side = NT_HOST, .op = NT_OP_WRITE};

	stats_begin_interval(&t.s);
	commands("nvme1", TWO, 1, NT_OP_READ, 50 * US, 400);
	row = stats_row(&t.s, "nvme0", ONE, 2, NT_OP_WRITE, false);
	r.points[NT_H_SUBMIT] = SECOND;
	r.points[NT_H_QUEUE_RQ] = SECOND + 1;
	r.points[NT_H_SEND_CMD] = SECOND + 2;
	stats_wait(row, &r, true, 13 * SECOND);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		size(i);
		draw();
		assert_seen("stalled: 1 row, the oldest command for 1");
		assert_seen(">nvme0 2 write");
		ASSERT_ORDER(" total", ">nvme0 2 write");
	}
	assert_seen("stalled: 1 row, the oldest command for 12.0s in network_and_target "
		    "(network+target)");
	t.o.colour = true;
	draw();
	assert_non_null(strstr(t.raw, "\033[31m\033[7m>nvme0"));
	t.state.cursor = 1;
	draw();
	assert_non_null(strstr(t.raw, "\033[31m nvme0"));
	t.o.colour = false;
	stats_begin_interval(&t.s);
	stats_wait(row, &r, true, 13 * SECOND);
	draw();
	assert_seen("no command ended: the stages of those in flight");
	assert_seen("write network_and_target network+target 1 12.0s");
}

static void probes_that_missed_alone_are_no_alarm(void **state)
{
	t.o.colour = true;
	t.s.counters_total[COUNTER_PROBE_MISSED] = 7;
	draw();
	assert_seen("losses: probe_missed=7");
	assert_null(strstr(t.raw, "\033[31m"));
	t.s.counters_total[NT_CNT_DIED] = 1;
	draw();
	assert_non_null(strstr(t.raw, "\033[31mlosses:"));
}

static void another_screen_is_entered_once_and_left_with_the_summary(void **state)
{
	char *text;
	size_t n;

	t.o.alternate = true;
	draw();
	assert_int_equal(strncmp(t.raw, SCREEN_ENTER, strlen(SCREEN_ENTER)), 0);
	draw();
	assert_null(strstr(t.raw, SCREEN_ENTER));
	t.o.out = open_memstream(&text, &n);
	assert_non_null(t.o.out);
	assert_int_equal(view_summary(&t.s, &t.o), 0);
	fclose(t.o.out);
	assert_int_equal(strncmp(text, SCREEN_LEAVE, strlen(SCREEN_LEAVE)), 0);
	assert_false(t.o.entered);
	free(text);
}

static void the_summary_of_a_screen_has_no_zeroes(void **state)
{
	char *text;
	size_t n;

	for (unsigned int losses = 0; losses < 2; losses++) {
		t.s.counters_total[NT_CNT_DIED] = losses;
		t.o.out = open_memstream(&text, &n);
		assert_non_null(t.o.out);
		assert_int_equal(view_summary(&t.s, &t.o), 0);
		fclose(t.o.out);
		assert_null(strstr(text, "loss "));
		assert_int_equal(!!strstr(text, "\nno losses\n"), !losses);
		assert_int_equal(!!strstr(text, "\ndied 1  # "), losses);
		free(text);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_controller_that_is_not_live_is_in_the_head),
		TEST(a_live_controller_that_answers_nothing_of_before_is_too),
		TEST(controllers_that_find_no_room_are_counted),
		TEST(stalled_rows_are_first_and_their_stage_is_known),
		TEST(probes_that_missed_alone_are_no_alarm),
		TEST(another_screen_is_entered_once_and_left_with_the_summary),
		TEST(the_summary_of_a_screen_has_no_zeroes),
	};

	return cmocka_run_group_tests_name("screen", tests, NULL, NULL);
}
