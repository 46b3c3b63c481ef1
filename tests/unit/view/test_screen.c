// SPDX-License-Identifier: GPL-2.0-only
/* What the screen shows at once, at the sizes that terminals have. */
#include "view/drawn.h"
#include "view/screen.h"

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

static void no_commands_but_those_of_before_are_counted(void **state)
{
	stats_free(&t.s);
	controllers_known("connecting", 8);
	both.now_ns = two[0].since_ns;
	draw();
	assert_seen("nvme0 connecting, 8 in flight since before tracing");
	assert_seen("no commands but 8 from before tracing");
	both.now_ns = 20 * SECOND;
	controllers_known("live", 0);
	draw();
	assert_seen("no commands");
	assert_int_equal(find("no commands but", 0), -1);
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
	assert_seen("20 controllers that are not live");
}

/* The row with the oldest command is first and in red, and the stage is known though none ended. */
static void stalled_rows_are_first_and_their_stage_is_known(void **state)
{
	struct stats_row *row;
	struct nt_record r = {.side = NT_HOST, .op = NT_OP_WRITE};
	struct stalls stalls = {.nr = 0};

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
		assert_seen("stalled: nvme0 2 write for 12.0s in netw");
		assert_seen(">nvme0 2 write");
		ASSERT_ORDER(" total", ">nvme0 2 write");
	}
	assert_seen("stalled: nvme0 2 write for 12.0s in network_and_target (network+target)");
	/* It is told when it is over, too. */
	t.o.stalls = &stalls;
	t.s.passed = 15;
	stalls_look(&stalls, &t.s, monotonic_ns());
	stalls_look(&stalls, &t.s, monotonic_ns());
	draw();
	assert_int_equal(find("stalled 1 time", 0), -1);
	row->waiting = (struct waiting){.oldest_ns = 900 * MS};
	stalls_look(&stalls, &t.s, monotonic_ns());
	row->waiting = (struct waiting){.oldest_ns = 2000 * MS};
	stalls_look(&stalls, &t.s, monotonic_ns());
	row->waiting = (struct waiting){.oldest_ns = 0};
	stalls_look(&stalls, &t.s, monotonic_ns());
	draw();
	assert_seen("stalled 2 times since ");
	assert_null(strstr(t.line[find("stalled 2 times", 0)], " or before"));
	assert_non_null(strstr(t.line[find("stalled 2 times", 0)],
			       ", for up to 12.0s, at last nvme0 2 write"));
	/* What stalled from the beginning on may have done so before. */
	t.s.passed = 2.5;
	stalls = (struct stalls){.nr = 0};
	row->waiting = (struct waiting){.oldest_ns = 2000 * MS};
	stalls_look(&stalls, &t.s, monotonic_ns());
	row->waiting = (struct waiting){.oldest_ns = 0};
	stalls_look(&stalls, &t.s, monotonic_ns());
	draw();
	assert_non_null(strstr(t.line[find("stalled 1 time", 0)], " or before, for up to 2.00s"));
	row->waiting = (struct waiting){.commands = 1, .oldest_ns = 12000 * MS};
	t.o.stalls = NULL;
	draw();
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
	/* The oldest are first. */
	r.op = NT_OP_READ;
	r.points[NT_H_SUBMIT] = 10 * SECOND;
	stats_wait(stats_row(&t.s, "nvme0", ONE, 2, NT_OP_READ, false), &r, true, 13 * SECOND);
	draw();
	ASSERT_ORDER("write network_and_target network+target 1 12.0s",
		     "read network_and_target network+target 1 3.00s");
	assert_seen(
		"stalled: nvme0 2 write for 12.0s in network_and_target (network+target) and 1 more");
	/* That of the oldest command has its name there. */
	r.points[NT_H_SUBMIT] = 11 * SECOND;
	stats_wait(stats_row(&t.s, "nvme1", TWO, 1, NT_OP_READ, false), &r, true, 13 * SECOND);
	draw();
	assert_seen(
		"stalled: nvme0 2 write for 12.0s in network_and_target (network+target) and 2 more "
		"(2 controllers)");
}

/* One line a stage, the figures of reads and writes beside each other, with where it is. */
static void stages_have_operations_beside_each_other(void **state)
{
	size(1);
	draw();
	ASSERT_ORDER(" ctrl", " read write", "stage mean p99 share mean p99 share",
		     "blk_submission 42.6us 150us 16.7 % 333us 332us 16.7 %");
	size(2);
	draw();
	ASSERT_ORDER(" controller", " read write", "stage where mean p99 share mean p99 share",
		     "blk_submission host 42.", "network_and_target network+target 42.",
		     "blk_completion host 42.");
	/* More of them where there is room, and the number of those that find none. */
	commands("nvme0", ONE, 2, NT_OP_FLUSH, 10 * MS, 100);
	commands("nvme0", ONE, 2, NT_OP_DISCARD, MS, 1);
	draw();
	assert_seen(" read write flush +1 more");
	size(3);
	draw();
	assert_seen(" read write flush discard");
	size(1);
	draw();
	assert_seen(" read flush +2 more");
	/* 40 columns have the shares. */
	size(0);
	t.o.lines = 24;
	draw();
	assert_seen("stage share share");
}

static void the_worst_row_is_seen_at_40_by_10(void **state)
{
	for (uint16_t qid = 3; qid < 40; qid++)
		commands("nvme0", ONE, qid, NT_OP_READ, 100 * US, 100);
	size(0);
	press("ss");
	assert_seen(" ctrl qid op IOPS oldest p99");
	assert_seen(" total all all");
	assert_seen(">nvme0 1 read 300 1.00ms");
	assert_seen("... 40 more rows");
}

/* One that has no room may be the slow one. */
static void all_stages_are_visible_beside_many_rows(void **state)
{
	for (uint16_t qid = 3; qid < 40; qid++)
		commands("nvme0", ONE, qid, NT_OP_READ, 100 * US, 100);
	t.o.columns = 80;
	t.o.lines = 18;
	draw();
	assert_seen("blk_submission");
	assert_seen("blk_completion");
	assert_seen(" total all all");
	assert_seen(">nvme1");
	/* The largest ones when there is no room for all. */
	for (unsigned int lines = 10; lines < 15; lines++) {
		t.o.lines = lines;
		draw();
		assert_seen("largest");
		assert_int_equal(find("...", (size_t)find("largest", 0)), -1);
		assert_seen(">nvme1");
	}
	for (unsigned int i = 0; i < 100; i++)
		hist_count(&t.s.stage_interval[NT_OP_READ][4], 100 * MS);
	t.o.columns = 40;
	t.o.lines = 10;
	draw();
	assert_seen("largest 1 of 6");
	assert_seen("nvme_tcp_completion");
}

static void tab_changes_the_table_that_is_scrolled(void **state)
{
	size(0);
	press("\t");
	assert_non_null(strstr(t.raw, "stage"));
	assert_int_equal(find("blk_completion", 0), -1);
	press_key(KEY_END);
	assert_seen("blk_completion");
	assert_seen("... 2 rows above");
	press("k");
	assert_int_equal(t.state.cursor, 0);
	/* There are no other tables. */
	press("\t");
	assert_int_equal(t.state.focus, VIEW_FOCUS_ROWS);
	press("j");
	assert_int_equal(t.state.cursor, 1);
	t.o.histogram = true;
	press("\t\t");
	assert_int_equal(t.state.focus, VIEW_FOCUS_HISTOGRAMS);
}

/* Adds what has been counted as an interval that ends at @now. */
static void ended(uint64_t now)
{
	assert_int_equal(stats_remember(&t.s, now), 0);
}

/* 50 commands a second have no p99, those of ten seconds have one. */
static void percentiles_of_few_commands_are_those_of_ten_seconds(void **state)
{
	for (uint64_t second = 1; second <= 20; second++) {
		stats_begin_interval(&t.s);
		commands("nvme0", ONE, 1, NT_OP_READ, second <= 15 ? 4 * MS : 2 * MS, 50);
		commands("nvme1", TWO, 1, NT_OP_READ, MS, 100);
		ended(100 * SECOND + second * SECOND);
		size(1);
		draw();
		if (second == 1)
			assert_seen(" nvme0 1 read 50.0 0 0 - 1.00s 4.00ms -");
	}
	assert_seen(" nvme0 1 read 50.0 0 0 - 10.0s ");
	assert_non_null(strstr(t.line[find(" nvme0 1 read", 0)], "4.0"));
	/* So does the page of a row. */
	press("j");
	press_key(KEY_ENTER);
	assert_seen("ctrl qid op IOPS MB/s infl oldest over p50");
	assert_seen("nvme0 1 read 50.0 0 0 - 10.0s ");
	press_key(KEY_ESCAPE);
	press("k");
	/* An interval that has enough shows its own. */
	assert_seen(">nvme1 1 read 100 0 0 - 1.00s 1.00ms 1.00ms 1.00ms");
	for (uint64_t second = 21; second <= 27; second++) {
		stats_begin_interval(&t.s);
		commands("nvme0", ONE, 1, NT_OP_READ, 2 * MS, 50);
		ended(100 * SECOND + second * SECOND);
	}
	draw();
	assert_seen(">nvme0 1 read 50.0 0 0 - 10.0s 2.00ms 2.00ms 2.00ms");
	/* A row is there as long as any of the ten seconds has commands of it. */
	assert_seen(" nvme1 1 read 0 0 0 - ");
	for (uint64_t second = 28; second <= 60; second++) {
		stats_begin_interval(&t.s);
		ended(100 * SECOND + second * SECOND);
	}
	draw();
	assert_seen("no commands");
	assert_null(t.s.rows[0]->recent);
}

/* Groups of --by have no column for it, and rows of recordings no ten seconds. */
static void groups_say_below_what_their_latencies_are_of(void **state)
{
	struct group_choice choice = {.grouping.by = {.nr = 1, .key = {GROUP_CTRL}}};

	t.o.choice = t.state.choice = &choice;
	for (uint64_t second = 1; second <= 3; second++) {
		stats_begin_interval(&t.s);
		commands("nvme0", ONE, 1, NT_OP_READ, 4 * MS, 50);
		ended(100 * SECOND + second * SECOND);
	}
	size(2);
	draw();
	assert_seen(">nvme0 50.0 0");
	assert_seen("latencies of rows with fewer than 100 commands are of the last 3.00s");
}

/* Groups that are made of records have ten seconds, too, and stay for as long. */
static void groups_of_records_have_percentiles_of_ten_seconds(void **state)
{
	struct group_choice choice = {.grouping.by = {.nr = 1, .key = {GROUP_SIZE}}};
	struct live_groups *groups;
	struct group_name name = {.size = 4096};
	struct nt_record r = {.side = NT_HOST,
			      .length = 4096,
			      .points = {[NT_H_SUBMIT] = 1, [NT_H_COMPLETE] = 1 + 4 * MS}};

	groups = live_groups_new(&choice.grouping.by);
	assert_non_null(groups);
	choice.live_groups = groups;
	t.o.choice = t.state.choice = &choice;
	for (uint64_t second = 1; second <= 30; second++) {
		stats_begin_interval(&t.s);
		for (unsigned int i = 0; i < 50 && second <= 9; i++)
			assert_int_equal(live_groups_add(groups, &name, &r), 0);
		assert_int_equal(live_groups_interval(groups, &t.s), 0);
		assert_int_equal(live_groups_remember(groups, &t.s, second * SECOND), 0);
		size(2);
		draw();
		if (second == 1)
			assert_seen("> 4096 50 0 50.0 0.20 - - 4.00ms 4.00ms - 4.00ms");
		if (second == 9) {
			assert_seen("> 4096 50 0 50.0 0.20 - - 4.00ms 4.00ms 4.00ms");
			assert_seen("latencies of rows with fewer than 100 commands are of the "
				    "last 9.00s");
		}
		if (second == 12)
			assert_seen("> 4096 0 0 0 0 - - 4.00ms 4.00ms 4.00ms");
	}
	assert_seen("no commands");
	live_groups_free(groups);
}

static void stages_of_few_commands_have_a_p99_of_ten_seconds(void **state)
{
	struct stage_memory memory[2] = {{.nr = 0}};

	t.o.memory = memory;
	size(2);
	for (unsigned int second = 1; second <= 9; second++) {
		stats_begin_interval(&t.s);
		commands("nvme0", ONE, 1, NT_OP_READ, 6 * MS, 50);
		t.o.again = false;
		draw();
		/* A key that draws it again adds nothing. */
		t.o.again = true;
		draw();
		if (second == 1)
			assert_seen("blk_submission host 1.00ms - 16.7 %");
	}
	assert_int_equal(memory[0].stage[0].recent->h.count, 450);
	assert_seen("p99: last 9.00s");
	assert_seen("blk_submission host 1.00ms 1.00ms 16.7 %");
	stats_begin_interval(&t.s);
	commands("nvme0", ONE, 1, NT_OP_READ, 12 * MS, 100);
	t.o.again = false;
	draw();
	assert_seen("blk_submission host 2.00ms 2.00ms 16.7 %");
	assert_int_equal(find("p99 of", 0), -1);
	stage_memory_free(&memory[0]);
}

static void a_row_has_a_history_of_its_p99(void **state)
{
	for (uint64_t second = 1; second <= 16; second++) {
		stats_begin_interval(&t.s);
		commands("nvme0", ONE, 1, NT_OP_READ, second % 4 ? MS : 8 * MS, 1000);
		ended(100 * SECOND + second * SECOND);
	}
	size(2);
	draw();
	assert_seen(" controller queue op");
	assert_non_null(strstr(t.line[find(" controller", 0)], " history"));
	assert_non_null(strstr(t.line[find(">nvme0", 0)], " ...@...@...@...@ "));
	t.o.unicode = true;
	t.o.columns = 200;
	draw();
	assert_non_null(strstr(t.raw, "\u2581\u2581\u2581\u2588\u2581\u2581\u2581\u2588 "));
	t.o.unicode = false;
	size(1);
	draw();
	assert_non_null(strstr(t.line[find(">nvme0", 0)], " ...@...@ "));
	size(0);
	draw();
	assert_seen(">nvme0 1 read");
	assert_null(strstr(t.line[find(">nvme0", 0)], "...@"));
}

static void the_heading_is_marked_in_unicode_where_there_is_any(void **state)
{
	t.o.unicode = true;
	draw();
	assert_non_null(strstr(t.raw, " IOPS\u25bc "));
	press("r");
	assert_non_null(strstr(t.raw, " IOPS\u25b2 "));
	t.o.unicode = false;
}

/* Where the column is whose heading this is. */
static size_t oldest_at(void)
{
	int heading = find(" c", 0);
	const char *oldest = heading < 0 ? NULL : strstr(t.line[heading], "oldest");

	assert_non_null(oldest);
	return (size_t)(oldest - t.line[heading]);
}

static void columns_keep_their_width(void **state)
{
	size_t at;

	commands("nvme0", ONE, 1, NT_OP_READ, 100 * US, 1000000);
	draw();
	at = oldest_at();
	stats_begin_interval(&t.s);
	commands("nvme0", ONE, 1, NT_OP_READ, 100 * US, 1);
	draw();
	assert_int_equal(oldest_at(), at);
	/* Another terminal begins anew. */
	t.o.columns = 79;
	draw();
	assert_int_not_equal(oldest_at(), at);
}

static void disk_and_address_are_there_where_there_is_room(void **state)
{
	controllers_known("live", 0);
	t.state.controllers = &both;
	size(2);
	draw();
	assert_seen(" controller device address queue op");
	assert_seen(" nvme0 nvme0n1 10.0.0.1:4420 1 read");
	assert_seen(">nvme1 - - 1 read");
	size(1);
	draw();
	assert_seen(" ctrl qid op");
	press("g");
	size(3);
	draw();
	assert_seen(">nvme0 nvme0n1 10.0.0.1:4420 all all");
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

/* A matched read of @ns, most of it in the network. */
static void matched(struct totals *m, const struct merge_connection *c, uint64_t ns)
{
	const struct nt_record host = {.side = NT_HOST,
				       .points = {[NT_H_SUBMIT] = 1000,
						  [NT_H_QUEUE_RQ] = 1010,
						  [NT_H_SEND_CMD] = 1030,
						  [NT_H_RX] = 1030 + ns,
						  [NT_H_C2H] = 1040 + ns,
						  [NT_H_CQE] = 1050 + ns,
						  [NT_H_COMPLETE] = 1060 + ns}};
	const struct nt_record target = {.side = NT_TARGET,
					 .points = {[NT_T_RX] = 100,
						    [NT_T_CMD] = 110,
						    [NT_T_EXEC] = 120,
						    [NT_T_DONE] = 130,
						    [NT_T_SEND] = 140,
						    [NT_T_SENT] = 150}};

	assert_int_equal(totals_add(m, c, &host, &target), 0);
}

/* Draws the page of a row, with the merged commands @m. */
static const char *page(const struct totals *m, size_t row)
{
	static char text[8192];
	struct visible_rows p;
	struct block b;
	FILE *f = fmemopen(text, sizeof(text), "w");

	assert_non_null(f);
	block_init(&b, &t.s, false, false, 120);
	assert_int_equal(visible_rows_make(&p, &t.s, &t.state, false), 0);
	assert_true(row < p.nr);
	t.state.row = (struct view_row){.qid = p.row[row].row->qid, .op = p.row[row].row->op};
	memcpy(t.state.row.controller, p.row[row].row->controller, sizeof(t.state.row.controller));
	memcpy(t.state.row.peer, p.row[row].row->peer, sizeof(t.state.row.peer));
	assert_int_equal(page_row_print(&b, &p, &t.state, m, f), 0);
	visible_rows_free(&p);
	fclose(f);
	return text;
}

/* nvme1 has one queue, nvme0 has two, of which one is as slow as a network in trouble. */
static void merged_stages_of_a_row_are_those_of_its_controller(void **state)
{
	struct merge_connection c[] = {{.index = 0, .host_instance = 0, .qid = 1},
				       {.index = 1, .host_instance = 0, .qid = 2},
				       {.index = 2, .host_instance = 1, .qid = 1}};
	struct totals m;
	const char *text;

	snprintf(c[0].subsysnqn, sizeof(c[0].subsysnqn), ONE);
	snprintf(c[1].subsysnqn, sizeof(c[1].subsysnqn), ONE);
	snprintf(c[2].subsysnqn, sizeof(c[2].subsysnqn), TWO);
	assert_int_equal(totals_init(&m, 0), 0);
	totals_by_ctrl(&m);
	for (unsigned int i = 0; i < 100; i++) {
		matched(&m, &c[0], 100 * US);
		matched(&m, &c[1], 900 * US);
		matched(&m, &c[2], 50 * US);
	}
	text = page(&m, 0);
	assert_non_null(strstr(text, "nvme1, queue 1, read"));
	assert_non_null(strstr(text, "stages of these merged read:"));
	assert_non_null(strstr(text, "network_transmission   50.0us"));
	text = page(&m, 1);
	assert_non_null(strstr(text, "nvme0, queue 1, read"));
	assert_non_null(strstr(text, "stages of the merged read of all queues of nvme0:"));
	assert_non_null(strstr(text, "network_transmission    500us"));
	assert_non_null(strstr(text, "of this queue, means of 100 merged commands"));
	totals_free(&m);
	/* Where controllers are not counted by themselves, the page says so. */
	assert_int_equal(totals_init(&m, 0), 0);
	matched(&m, &c[0], 100 * US);
	assert_non_null(strstr(page(&m, 1), "stages of all merged read of ALL CONTROLLERS:"));
	totals_free(&m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_controller_that_is_not_live_is_in_the_head),
		TEST(a_live_controller_that_answers_nothing_of_before_is_too),
		TEST(controllers_that_find_no_room_are_counted),
		TEST(no_commands_but_those_of_before_are_counted),
		TEST(stalled_rows_are_first_and_their_stage_is_known),
		TEST(stages_have_operations_beside_each_other),
		TEST(the_worst_row_is_seen_at_40_by_10),
		TEST(all_stages_are_visible_beside_many_rows),
		TEST(tab_changes_the_table_that_is_scrolled),
		TEST(percentiles_of_few_commands_are_those_of_ten_seconds),
		TEST(groups_say_below_what_their_latencies_are_of),
		TEST(groups_of_records_have_percentiles_of_ten_seconds),
		TEST(merged_stages_of_a_row_are_those_of_its_controller),
		TEST(stages_of_few_commands_have_a_p99_of_ten_seconds),
		TEST(a_row_has_a_history_of_its_p99),
		TEST(the_heading_is_marked_in_unicode_where_there_is_any),
		TEST(columns_keep_their_width),
		TEST(disk_and_address_are_there_where_there_is_room),
		TEST(probes_that_missed_alone_are_no_alarm),
		TEST(another_screen_is_entered_once_and_left_with_the_summary),
		TEST(the_summary_of_a_screen_has_no_zeroes),
	};

	return cmocka_run_group_tests_name("screen", tests, NULL, NULL);
}
