// SPDX-License-Identifier: GPL-2.0-only
/*
 * The effect of keys on the screen, which is drawn with 80 columns and 24 lines and read back line
 * by line.
 */
#include "view/drawn.h"

static void rows_are_sorted_by_what_s_says(void **state)
{
	draw();
	assert_int_equal(t.nr, 24);
	ASSERT_ORDER(" ctrl", " total all all 1000", ">nvme1 1 read", " nvme0 1 read",
		     " nvme0 2 read", " nvme0 2 write");
	assert_non_null(strstr(last_line(), "s:IOPS"));
	press("s");
	assert_non_null(strstr(last_line(), "s:p99"));
	ASSERT_ORDER(" total", ">nvme0 2 write", " nvme0 2 read", " nvme0 1 read", " nvme1 1 read");
	press("s");
	ASSERT_ORDER(" total", ">nvme0 1 read", " nvme1 1 read", " nvme0 2 read", " nvme0 2 write");
	press("s");
	assert_non_null(strstr(last_line(), "s:oldest"));
	ASSERT_ORDER(" total", ">nvme1 1 read", " nvme0 1 read", " nvme0 2 read", " nvme0 2 write");
	/* The one that is sorted by is marked, with the direction. */
	assert_seen(" ctrl qid op IOPS MB/s infl oldestv");
	press("r");
	assert_seen(" ctrl qid op IOPS MB/s infl oldest^");
	ASSERT_ORDER(" total", ">nvme0 1 read", " nvme1 1 read", " nvme0 2 write", " nvme0 2 read");
	press("rs");
	assert_non_null(strstr(last_line(), "s:MB/s"));
	assert_seen(" ctrl qid op IOPS MB/sv");
	press("s");
	assert_non_null(strstr(last_line(), "s:name"));
	ASSERT_ORDER(" ctrl^", " total", ">nvme0 1 read", " nvme0 2 read", " nvme0 2 write",
		     " nvme1 1 read");
	press("r");
	ASSERT_ORDER(" ctrlv", " total", ">nvme1 1 read", " nvme0 2 write", " nvme0 2 read",
		     " nvme0 1 read");
	press("rs");
	assert_non_null(strstr(last_line(), "s:IOPS"));
}

/* A few commands that take long are not below many that do not, for want of a p99. */
static void rows_without_a_p99_are_sorted_by_their_longest(void **state)
{
	commands("nvme2", TWO, 1, NT_OP_READ, 1 * MS, 98);
	press("s");
	ASSERT_ORDER(">nvme0 2 write", " nvme2 1 read", " nvme0 2 read", " nvme1 1 read");
	commands("nvme2", TWO, 1, NT_OP_READ, 100 * MS, 1);
	draw();
	ASSERT_ORDER(">nvme2 1 read", " nvme0 2 write", " nvme1 1 read");
}

/* Its page does not show how long commands of others took. */
static void the_page_of_a_row_that_hangs_has_no_stages_of_others(void **state)
{
	struct stats_row *row = stats_row(&t.s, "nvme2", TWO, 1, NT_OP_READ, false);

	row->waiting = (struct waiting){.commands = 3, .oldest_ns = 3000 * MS};
	draw();
	assert_seen(">nvme2 1 read");
	press_key(KEY_ENTER);
	assert_seen("nvme2, queue 1, read");
	assert_seen("no command of these rows has ended in this block");
	assert_int_equal(find("read network_and_target", 0), -1);
	press_key(KEY_ESCAPE);
	press("/");
	press("nvme2\r");
	assert_seen("no command of these rows has ended in this block");
	assert_int_equal(find("network_and_target", 0), -1);
}

static void rows_are_added_up_by_what_g_says(void **state)
{
	press("g");
	assert_non_null(strstr(last_line(), "g:ctrl"));
	ASSERT_ORDER(" total all all 1000", ">nvme0 all all 600", " nvme1 all all 400");
	press("g");
	ASSERT_ORDER(">all 1 all 700", " all 2 all 300");
	press("g");
	ASSERT_ORDER(">all all read 900", " all all write 100");
	press("g");
	assert_non_null(strstr(last_line(), "g:nqn"));
	ASSERT_ORDER(">....example:one all all 600", " ....example:two all all 400");
	press("g");
	ASSERT_ORDER(">nvme1 1 read 400", " nvme0 2 write");
}

/* The total is that of the visible rows. */
static void filter_takes_rows_that_match_every_word(void **state)
{
	static const struct {
		const char *typed;
		const char *total;
	} filters[] = {
		{"nvme1", " total all all 400"},   {"NVME1", " total all all 400"},
		{"read", " total all all 900"},	   {"q2", " total all all 300"},
		{"2 read", " total all all 200"},  {"example:one", " total all all 600"},
		{" write ", " total all all 100"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		press("/");
		while (t.state.filter[0])
			press("\177");
		press(filters[i].typed);
		assert_int_equal(find("filter: ", 0), 23);
		assert_seen(filters[i].total);
		press_key(KEY_ENTER);
		assert_seen(filters[i].total);
		assert_non_null(strstr(last_line(), filters[i].typed));
	}
	press("/x");
	press_key(KEY_ESCAPE);
	assert_seen(" total all all 100");
	press("/none such");
	press_key(KEY_ENTER);
	assert_seen("no row matches the filter");
	assert_seen(" total all all 0");
	press_key(KEY_ENTER);
	assert_int_equal(t.state.page, VIEW_TABLE);
}

static void filter_ends_where_its_room_does(void **state)
{
	press("/");
	for (int i = 0; i < 200; i++)
		press("\303\244");
	assert_int_equal(strlen(t.state.filter), VIEW_FILTER_LEN - 1);
	/* A truncated character at the end counts as one. */
	press("\177\177");
	assert_int_equal(strlen(t.state.filter), VIEW_FILTER_LEN - 4);
	press("\033");
	assert_string_equal(t.state.filter, "");
}

static void marked_row_is_seen_wherever_it_is(void **state)
{
	for (uint16_t qid = 10; qid < 100; qid++)
		commands("nvme3", TWO, qid, NT_OP_FLUSH, 10 * US, 1);
	draw();
	assert_seen(">nvme1 1 read");
	assert_true(find("... ", 0) > 0);
	assert_non_null(strstr(t.line[find("... ", 0)], "more rows"));
	for (unsigned int i = 0; i < 93; i++)
		press("j");
	assert_seen(" total all all 1090");
	assert_seen(">nvme3 99 flush");
	assert_non_null(strstr(t.line[find("... ", 0)], "rows above"));
	press("j");
	assert_seen(">nvme3 99 flush");
	press_key(KEY_UP);
	assert_seen(">nvme3 98 flush");
	assert_non_null(strstr(t.line[find("... ", 0)], " rows above, 1 below"));
	press_key(KEY_PAGE_UP);
	assert_seen(">nvme3 88 flush");
	press_key(KEY_HOME);
	assert_seen(">nvme1 1 read");
	press_key(KEY_END);
	assert_seen(">nvme3 99 flush");
	press("/nvme0");
	assert_seen(">nvme0 1 read");
}

static void row_has_a_page_with_its_stages_and_histogram(void **state)
{
	t.o.lines = 40;
	press("j");
	press_key(KEY_ENTER);
	assert_seen("nvme0, queue 1, read");
	assert_seen("nvme0 1 read 300");
	assert_seen("nvme0: " ONE " (subsystem NQN)");
	assert_seen("stages of all read of ALL CONTROLLERS:");
	assert_seen("read blk_completion");
	assert_int_equal(find("write", 0), -1);
	assert_seen("[  65.5us,    131us)         300  100.0 % |@@@");
	assert_non_null(strstr(last_line(), "q:back"));
	/* Other rows have more commands now, but the chosen row is still shown. */
	commands("nvme2", TWO, 7, NT_OP_READ, MS, 500);
	draw();
	assert_seen("nvme0 1 read 300");
	stats_begin_interval(&t.s);
	draw();
	assert_seen("no commands in this interval");
	press_key(KEY_ESCAPE);
	assert_int_equal(t.state.page, VIEW_TABLE);
	press_key(KEY_ENTER);
	assert_int_equal(t.state.page, VIEW_TABLE);
	assert_seen("no commands");
}

/* Each stage of the controller's commands of @op took @ns. The machine's took far longer. */
static void stages_of(const char *controller, const char *peer, enum nt_op op, uint64_t ns,
		      uint64_t times)
{
	struct stats_row *row =
		stats_row(&t.s, controller, peer, op == NT_OP_READ ? 1 : 2, op, false);
	struct stats_stages *of = stats_stages_make(&t.s, row);

	assert_non_null(of);
	for (uint64_t i = 0; i < times; i++)
		for (unsigned int k = 0; k < NT_HOST_STAGES_NR; k += k + 1 == NT_HS_DEVICE ? 2 : 1)
			hist_count(&of->interval[k], ns);
}

static void stages_by_controller(void)
{
	stages_of("nvme0", ONE, NT_OP_READ, 70 * US, 500);
	stages_of("nvme0", ONE, NT_OP_WRITE, 300 * US, 100);
	stages_of("nvme1", TWO, NT_OP_READ, 8 * US, 400);
}

/* Where commands end now and then, the page has what is known of all of them. */
static void the_page_of_a_row_that_hangs_now_has_its_stages_of_before(void **state)
{
	struct stats_row *row;
	struct stats_stages *of;

	commands("nvme2", TWO, 1, NT_OP_READ, 50 * US, 400);
	row = stats_row(&t.s, "nvme2", TWO, 1, NT_OP_READ, false);
	of = stats_stages_make(&t.s, row);
	assert_non_null(of);
	for (unsigned int k = 0; k < NT_HOST_STAGES_NR; k += k + 1 == NT_HS_DEVICE ? 2 : 1)
		hist_count(&of->total[k], 8 * US);
	stats_begin_interval(&t.s);
	row->waiting = (struct waiting){.commands = 3, .oldest_ns = 3000 * MS};
	t.o.lines = 60;
	draw();
	assert_seen(">nvme2 1 read");
	press_key(KEY_ENTER);
	assert_seen("no command of these rows has ended in this block");
	assert_seen("stages of these read since tracing began:");
	assert_seen("read blk_completion 8.00us");
}

/* Stages are by controller and operation; what a page has of them, it says. */
static void stages_of_a_page_are_those_of_its_controller(void **state)
{
	stages_by_controller();
	t.o.lines = 60;
	press_key(KEY_ENTER);
	assert_seen("nvme1, queue 1, read");
	assert_seen("stages of these read:");
	assert_seen("read blk_completion 8.00us");
	press_key(KEY_ESCAPE);
	press("j");
	press_key(KEY_ENTER);
	assert_seen("nvme0, queue 1, read");
	assert_seen("stages of the read of all queues of nvme0:");
	assert_seen("read blk_completion 70.0us");
	press_key(KEY_ESCAPE);
	press("g");
	press_key(KEY_ENTER);
	assert_seen("nvme0, all queues, all operations");
	assert_seen("stages of these commands:");
	assert_seen("read blk_completion 70.0us");
	assert_seen("write blk_completion 300us");
	/* Where some of a row's commands are not in them, they are nobody's. */
	stats_row(&t.s, "nvme0", ONE, 2, NT_OP_READ, false)->unstaged_interval = true;
	draw();
	assert_seen("stages of all commands of ALL CONTROLLERS:");
}

static void stages_below_a_filter_are_those_of_its_rows(void **state)
{
	stages_by_controller();
	draw();
	assert_int_equal(find("of these rows", 0), -1);
	t.o.lines = 60;
	press("/nvme1");
	press_key(KEY_ENTER);
	assert_seen("of these rows read");
	assert_seen("blk_completion host 8.00us");
	strcpy(t.state.filter, "q1");
	draw();
	assert_seen("of all queues read");
	strcpy(t.state.filter, "q2 write");
	draw();
	assert_seen("of these rows write");
	assert_seen("blk_completion host 300us");
	stats_row(&t.s, "nvme0", ONE, 2, NT_OP_WRITE, false)->unstaged_interval = true;
	draw();
	assert_seen("ALL CONTROLLERS read write");
}

static void group_has_a_page_too(void **state)
{
	t.o.lines = 60;
	press("g");
	press_key(KEY_ENTER);
	assert_seen("nvme0, all queues, all operations");
	assert_seen("nvme0 all all 600");
	assert_seen("read blk_submission");
	assert_seen("write blk_submission");
}

static void page_that_is_too_long_is_scrolled(void **state)
{
	press_key(KEY_ENTER);
	assert_seen("nvme1, queue 1, read");
	assert_non_null(strstr(t.line[find("... ", 0)], " more lines"));
	press_key(KEY_END);
	assert_seen("nvme1, queue 1, read");
	assert_non_null(strstr(t.line[find("... ", 0)], " lines above"));
	assert_seen("[  1.05ms,   2.10ms)           0  100.0 % |");
	press_key(KEY_UP);
	assert_non_null(strstr(t.line[find("... ", 0)], " lines above, 1 below"));
	for (int i = 0; i < 10; i++)
		press_key(KEY_PAGE_UP);
	assert_non_null(strstr(t.line[find("... ", 0)], " more lines"));
}

static void losses_are_one_line_and_a_page(void **state)
{
	draw();
	assert_seen("no losses");
	t.s.counters_total[NT_CNT_DIED] = 5;
	t.s.counters_total[NT_CNT_RING_FULL] = 7;
	t.s.counters_interval[NT_CNT_RING_FULL] = 2;
	t.s.counters_total[COUNTER_IN_FLIGHT] = 3;
	draw();
	assert_seen("losses:  died=5  ring_full=7(+2)");
	for (unsigned int c = 0; c < COUNTERS_NR; c++)
		t.s.counters_total[c] = 1000000;
	draw();
	assert_true(strlen(t.line[find("losses:", 0)]) <= 80);
	assert_non_null(strstr(t.line[find("losses:", 0)], "  and more"));
	press("l");
	t.o.lines = 64;
	draw();
	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		char wanted[64];

		snprintf(wanted, sizeof(wanted), "%s 1000000", counter_name(c));
		assert_true(c == COUNTER_IN_FLIGHT || find(wanted, 0) > 0);
		assert_true(strlen(counter_advice(c)) > 10);
	}
	press("l");
	assert_int_equal(t.state.page, VIEW_TABLE);
}

/* Without --tcp the page says how to have it. */
static void tcp_connections_have_a_page(void **state)
{
	struct tcp_row *r;

	draw();
	press("t");
	assert_seen("they are not read: start with --tcp");
	t.s.tcp.asked = true;
	draw();
	assert_seen("no connection is known yet");
	r = tcp_rows_add(&t.s.tcp);
	assert_non_null(r);
	snprintf(r->controller, sizeof(r->controller), "nvme0");
	r->qid = 3;
	r->seconds = 1;
	r->retransmitted = 2;
	r->now = (struct nt_tcp_state){.srtt_us = 250, .snd_cwnd = 10, .total_retrans = 9};
	draw();
	assert_seen("ctrl qid srtt cwnd");
	assert_seen("nvme0 3 250us 10");
	for (unsigned int i = 0; i < t.nr; i++)
		assert_true(strlen(t.line[i]) <= 80);
	press("t");
	assert_int_equal(t.state.page, VIEW_TABLE);
	tcp_rows_free(&t.s.tcp);
	t.s.tcp.asked = false;
}

static void keys_are_told(void **state)
{
	press("?");
	assert_seen("keys");
	ASSERT_ORDER("s ", "g ", "/ ", "Enter ", "Escape ", "p ", "+ - ", "l ", "q ");
	press("?");
	assert_seen(" total");
	t.state.keys = false;
	draw();
	assert_int_equal(find("?:help", 0), -1);
	/* No row is marked either. */
	assert_seen("total");
	assert_seen("nvme1 ");
}

static void pause_and_interval_are_told_on_the_last_line(void **state)
{
	press("p");
	assert_true(t.state.paused);
	assert_int_equal(find("PAUSED", 0), 23);
	press("p");
	assert_false(t.state.paused);
	press("+");
	assert_non_null(strstr(last_line(), "-/+:2.00s"));
	press("---");
	assert_non_null(strstr(last_line(), "-/+:200ms"));
	press("--------");
	assert_int_equal(t.state.interval_ns, 100 * MS);
	press("++++++++++++++++++");
	assert_int_equal(t.state.interval_ns, 60000 * MS);
	t.state.interval_ns = 700 * MS;
	press("+");
	assert_int_equal(t.state.interval_ns, 1000 * MS);
	t.state.interval_ns = 700 * MS;
	press("-");
	assert_int_equal(t.state.interval_ns, 500 * MS);
	/* With bursts the interval is that of the bursts. */
	t.state.interval_ns = 0;
	press("+");
	assert_int_equal(t.state.interval_ns, 0);
	assert_non_null(strstr(last_line(), "-/+:burst"));
}

static void q_quits_but_in_a_filter_it_is_a_letter(void **state)
{
	press("/q");
	assert_string_equal(t.state.filter, "q");
	press("\n");
	press("?q");
	assert_int_equal(t.state.page, VIEW_TABLE);
	assert_int_equal(pressed(&t.state, 'q', &t.s), PRESSED_QUIT);
	assert_int_equal(pressed(&t.state, 'Z', &t.s), PRESSED_NOTHING);
	/* Nothing has been measured yet. */
	assert_int_equal(pressed(&t.state, KEY_ENTER, NULL), PRESSED_DRAW);
	assert_int_equal(pressed(&t.state, KEY_DOWN, NULL), PRESSED_DRAW);
	assert_int_equal(pressed(&t.state, 'q', NULL), PRESSED_QUIT);
}

static void every_size_and_page_fits(void **state)
{
	t.s.counters_total[NT_CNT_DIED] = 5;
	for (int colour = 0; colour < 2; colour++) {
		for (unsigned int lines = 2; lines < 60; lines++) {
			t.o.lines = lines;
			t.o.columns = 1 + lines * 7 % 130;
			t.o.colour = colour;
			for (int page = VIEW_TABLE; page <= VIEW_HELP; page++) {
				t.state.page = page;
				t.state.top = 1000;
				draw();
				/* Even if nothing else has room, the key line has. */
				assert_memory_equal(last_line(), "?:help",
						    strlen(last_line()) < 6 ? strlen(last_line())
									    : 6);
			}
		}
	}
}

static void colour_is_there_only_where_it_is_wanted(void **state)
{
	size_t size;

	for (int colour = 0; colour < 2; colour++) {
		free(t.text);
		t.text = NULL;
		t.o.colour = colour;
		t.o.out = open_memstream(&t.text, &size);
		assert_non_null(t.o.out);
		t.s.counters_total[NT_CNT_DIED] = 5;
		assert_int_equal(view_interval(&t.s, &t.o), 0);
		fclose(t.o.out);
		/* Information that a colour gives is also given by words or by a mark. */
		assert_non_null(strstr(t.text, ">nvme1"));
		assert_int_equal(!!strstr(t.text, "\033[7m>nvme1"), colour);
		assert_int_equal(!!strstr(t.text, "\033[31mlosses:"), colour);
		assert_int_equal(!!strchr(t.text, 'm') && !!strstr(t.text, "\033[m"), colour);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rows_are_sorted_by_what_s_says),
		TEST(rows_without_a_p99_are_sorted_by_their_longest),
		TEST(the_page_of_a_row_that_hangs_has_no_stages_of_others),
		TEST(the_page_of_a_row_that_hangs_now_has_its_stages_of_before),
		TEST(rows_are_added_up_by_what_g_says),
		TEST(filter_takes_rows_that_match_every_word),
		TEST(filter_ends_where_its_room_does),
		TEST(marked_row_is_seen_wherever_it_is),
		TEST(row_has_a_page_with_its_stages_and_histogram),
		TEST(stages_of_a_page_are_those_of_its_controller),
		TEST(stages_below_a_filter_are_those_of_its_rows),
		TEST(group_has_a_page_too),
		TEST(page_that_is_too_long_is_scrolled),
		TEST(losses_are_one_line_and_a_page),
		TEST(tcp_connections_have_a_page),
		TEST(keys_are_told),
		TEST(pause_and_interval_are_told_on_the_last_line),
		TEST(q_quits_but_in_a_filter_it_is_a_letter),
		TEST(every_size_and_page_fits),
		TEST(colour_is_there_only_where_it_is_wanted),
	};

	return cmocka_run_group_tests_name("pressed", tests, NULL, NULL);
}
