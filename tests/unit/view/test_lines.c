// SPDX-License-Identifier: GPL-2.0-only
/* Lines of text from columns: phrases, headings, lines for scripts and lines of commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "view/columns.h"
#include "view/commands.h"
#include "view/json_report.h"
#include "view/lines.h"

struct disk {
	char name[8];
	uint32_t heads;
	int64_t seek;
};

enum { DISK_NAME, DISK_HEADS, DISK_SEEK };

static void get_seek(const void *row, const struct column *c, struct value *v)
{
	const struct disk *d = row;

	value_integer(v, d->seek);
	v->none = !d->seek;
}

static const struct column disk[] = {
	[DISK_NAME] = {"name", "name", .unit = UNIT_TEXT, COLUMN_FIELD(struct disk, name)},
	[DISK_HEADS] = {"heads", "heads", .brief = "hd", .unit = UNIT_COUNT,
			COLUMN_FIELD(struct disk, heads)},
	[DISK_SEEK] = {"seek", "seek", .unit = UNIT_NANOSECONDS, .get = get_seek},
};

static const struct columns disks = COLUMNS("disks", disk);

static const struct phrase sentence[] = {
	PHRASE(NULL, DISK_NAME, .after = ":"),
	PHRASE(" ", DISK_HEADS, .after = " head", .plural = true),
	PHRASE(", seeks in ", DISK_SEEK, .after = " ns"),
};

static const struct phrase table[] = {
	PHRASE(NULL, DISK_NAME, .width = -6),
	PHRASE("  ", DISK_HEADS, .style = LINE_CELL, .width = 5),
	PHRASE(" ", DISK_SEEK, .style = LINE_CELL, .width = 8),
};

static const struct disk one = {"sd\033", 1, 0};
static const struct disk two = {"sdb", 2, -4200};

static FILE *out;
static char *written;
static size_t size;

static int out_open(void **state)
{
	out = open_memstream(&written, &size);
	return out ? 0 : -1;
}

static int out_free(void **state)
{
	fclose(out);
	free(written);
	return 0;
}

/*
 * Checks the text that was written since the last check: it is @text, or with @whole false ends
 * with it.
 */
static void assert_ending(const char *text, bool whole)
{
	size_t skipped;

	assert_int_equal(fclose(out), 0);
	assert_true(strlen(text) <= size);
	skipped = whole ? 0 : size - strlen(text);
	assert_string_equal(written + skipped, text);
	free(written);
	assert_int_equal(out_open(NULL), 0);
}

static void assert_written(const char *text)
{
	assert_ending(text, true);
}

static void phrases_without_a_value_are_left_out(void **state)
{
	LINE_PRINT(out, &disks, sentence, &one);
	assert_written("sd\\x1b: 1 head");
	LINE_PRINT(out, &disks, sentence, &two);
	assert_written("sdb: 2 heads, seeks in -4200 ns");
}

static void lines_in_memory_are_the_same_and_are_cut(void **state)
{
	char buf[64];

	assert_string_equal(
		line_format(buf, sizeof(buf), &disks, sentence, ARRAY_SIZE(sentence), &two),
		"sdb: 2 heads, seeks in -4200 ns");
	assert_string_equal(line_format(buf, 10, &disks, sentence, ARRAY_SIZE(sentence), &two),
			    "sdb: 2 he");
}

static void cells_stand_under_their_headings(void **state)
{
	line_titles(out, &disks, table, ARRAY_SIZE(table), false);
	assert_written("name    heads     seek");
	line_titles(out, &disks, table, ARRAY_SIZE(table), true);
	assert_written("name       hd     seek");
	LINE_PRINT(out, &disks, table, &one);
	assert_written("sd\\x1b      1        -");
	LINE_PRINT(out, &disks, table, &two);
	assert_written("sdb         2  -4.20us");
}

static void a_table_has_the_width_of_its_cells_and_leaves_out_what_is_dispensable(void **state)
{
	static const unsigned char dispensable[] = {DISK_SEEK};
	struct table t = {
		.columns = &disks,
		.dispensable = dispensable,
		.nr_dispensable = ARRAY_SIZE(dispensable),
	};

	table_add(&t, DISK_NAME, NULL, 0);
	table_add(&t, DISK_HEADS, " | ", 3);
	table_add(&t, DISK_SEEK, NULL, 0);
	table_measure(&t, &one);
	table_measure(&t, &two);
	assert_int_equal(table_lay_out(&t, TABLE_WIDE), 6 + 3 + 3 + 2 + 7);
	table_titles(&t, out);
	table_row(&t, &one, out);
	table_row(&t, &two, out);
	assert_written("name   | heads     seek\n"
		       "sd\\x1b |   1        -\n"
		       "sdb    |   2  -4.20us\n");
	assert_int_equal(table_lay_out(&t, TABLE_BRIEF), 6 + 3 + 3 + 1 + 7);
	table_titles(&t, out);
	assert_written("name   |  hd    seek\n");
	assert_int_equal(table_lay_out(&t, TABLE_BRIEF + 1), 6 + 3 + 3);
	table_titles(&t, out);
	table_line(&t, &two, out);
	assert_written("name   |  hd\nsdb    |   2");
}

static void lines_for_scripts_always_have_as_many_words(void **state)
{
	static const unsigned char columns[] = {DISK_SEEK, DISK_NAME};

	line_values(out, "disk", &disks, columns, ARRAY_SIZE(columns), &one);
	assert_written("disk - sd\\x1b\n");
	line_values(out, "disk", &disks, columns, ARRAY_SIZE(columns), &two);
	assert_written("disk -4200 sdb\n");
}

static void items_wrap_where_the_line_is_full(void **state)
{
	struct wrap w = {.f = out, .width = 20};

	wrap_text(&w, "disks:");
	WRAP_LINE(&w, &disks, sentence, &one);
	wrap_text(&w, "x");
	assert_written("disks:\n  sd\\x1b: 1 head  x");
}

/* A read with points that are 10 us apart on the host and 1 us apart on the target. */
static struct nt_record record_make(enum nt_side side)
{
	struct nt_record r = {
		.side = side,
		.op = NT_OP_READ,
		.opcode = 2,
		.shape = NT_SHAPE_READ,
		.cid = 0x1001,
		.qid = 3,
		.cntlid = 1,
		.nsid = 1,
		.length = 4096,
		.slba = 77,
	};
	static const unsigned int host[] = {NT_H_SUBMIT, NT_H_QUEUE_RQ, NT_H_SEND_CMD, NT_H_RX,
					    NT_H_C2H,	 NT_H_CQE,	NT_H_COMPLETE};
	static const unsigned int target[] = {NT_T_RX,	 NT_T_CMD,  NT_T_EXEC,
					      NT_T_DONE, NT_T_SEND, NT_T_SENT};

	for (unsigned int i = 0; side == NT_HOST && i < ARRAY_SIZE(host); i++)
		r.points[host[i]] = 5000000000ull + i * 10000;
	for (unsigned int i = 0; side == NT_TARGET && i < ARRAY_SIZE(target); i++)
		r.points[target[i]] = 9000000000ull + i * 1000;
	return r;
}

static const struct merge_connection connection = {
	.subsysnqn = "nqn.a",
	.cntlid = 1,
	.qid = 3,
	.matched = 1,
	.offset_low = 3999974000,
	.offset_high = 3999978000,
};

#define WHAT "cid=0x1001 op=read opcode=0x02 shape=read nsid=1 slba=77 length=4096 status=0x0"

static const struct instant no_clock;

static void print_side(const struct nt_record *r, uint32_t missing, uint64_t now)
{
	struct command_line l;

	command_line_of_side(&l, "nvme0", r, missing, &(struct instant){.monotonic_ns = now});
	command_line_print(&l, out);
}

static void print_merged(const struct nt_record *host, const struct nt_record *target,
			 bool ambiguous)
{
	struct command_line l;

	command_line_merged(&l, NULL, &connection, host, target, ambiguous, &no_clock);
	command_line_print(&l, out);
}

static void traced_command_has_its_points_and_its_sides_stages(void **state)
{
	struct nt_record r = record_make(NT_HOST);

	print_side(&r, 0, 0);
	assert_written("5.000000000 host nvme0 q3 " WHAT " latency=60000 | submit=0 queue_rq=10000 "
		       "send_cmd=20000 rx=30000 c2h=40000 cqe=50000 complete=60000 | "
		       "blk_submission=10000 nvme_tcp_submission=10000 network_and_target=10000 "
		       "nstack_completion=10000 nvme_tcp_completion=10000 blk_completion=10000\n");
	r.points[NT_H_SEND_CMD] = 0;
	r.flags = NT_F_REQUEUED | NT_F_NO_CQE | NT_F_CANCELLED;
	print_side(&r, 1u << NT_H_SEND_CMD, 0);
	assert_written("5.000000000 host nvme0 q3 " WHAT " requeued no_cqe cancelled latency=60000 "
		       "| submit=0 queue_rq=10000 rx=30000 c2h=40000 cqe=50000 complete=60000 | "
		       "blk_submission=10000 nvme_tcp_submission+network_and_target=20000 "
		       "nstack_completion=10000 nvme_tcp_completion=10000 blk_completion=10000\n");
	print_side(&r, 0, 0);
	assert_ending("complete=60000 | unsplit\n", false);
}

static void command_in_flight_has_its_age_and_the_stage_that_it_is_in(void **state)
{
	struct nt_record r = record_make(NT_HOST);

	for (unsigned int i = NT_H_RX; i < NT_POINTS_MAX; i++)
		r.points[i] = 0;
	/* These values are left from the command before. */
	r.shape = NT_SHAPE_R2T_WRITE;
	r.flags = NT_F_IN_FLIGHT;
	print_side(&r, 0, 7500000123ull);
	assert_written("5.000000000 host nvme0 q3 cid=0x1001 op=read opcode=0x02 nsid=1 slba=77 "
		       "length=4096 still in flight after 2500000123 | submit=0 queue_rq=10000 "
		       "send_cmd=20000 | in network_and_target\n");
	r.points[NT_H_SEND_CMD] = 0;
	print_side(&r, 1u << NT_H_SEND_CMD, 7500000123ull);
	assert_ending("queue_rq=10000 | in nvme_tcp_submission+network_and_target\n", false);
	r = record_make(NT_HOST);
	r.flags = NT_F_WAS_OVERDUE;
	r.points[NT_H_C2H] = 0;
	print_side(&r, 0, 0);
	assert_written("5.000000000 host nvme0 q3 " WHAT " was_overdue latency=60000 | submit=0 "
		       "queue_rq=10000 send_cmd=20000 rx=30000 cqe=50000 complete=60000 | "
		       "unsplit\n");
}

static void merged_command_has_both_sides_points_and_the_ten_stages(void **state)
{
	struct nt_record host = record_make(NT_HOST), target = record_make(NT_TARGET);

	print_merged(&host, &target, false);
	assert_written("5.000000000 merged nqn.a cntlid=1 q3 " WHAT " latency=60000 | host "
		       "submit=0 queue_rq=10000 send_cmd=20000 rx=30000 c2h=40000 cqe=50000 "
		       "complete=60000 | target rx=0 cmd=1000 exec=2000 done=3000 send=4000 "
		       "sent=5000 | stages blk_submission=10000 nvme_tcp_submission=10000 "
		       "nstack_submission=1000 nvmet_tcp_submission=1000 target_subsystem=1000 "
		       "nvmet_tcp_completion=1000 network_transmission=6000 "
		       "nstack_completion=10000 nvme_tcp_completion=10000 blk_completion=10000\n");
	print_merged(NULL, &target, false);
	assert_written("9.000000000 target_only nqn.a cntlid=1 q3 " WHAT " latency=5000 | target "
		       "rx=0 cmd=1000 exec=2000 done=3000 send=4000 sent=5000 | stages "
		       "nstack_submission=1000 nvmet_tcp_submission=1000 network_and_host=0 "
		       "target_subsystem=1000 nvmet_tcp_completion=1000 send_response=1000\n");
	print_merged(&host, NULL, true);
	assert_written("5.000000000 ambiguous nvme0 nqn.a cntlid=1 q3 " WHAT " latency=60000 | "
		       "host submit=0 queue_rq=10000 send_cmd=20000 rx=30000 c2h=40000 cqe=50000 "
		       "complete=60000 | stages blk_submission=10000 nvme_tcp_submission=10000 "
		       "network_and_target=10000 nstack_completion=10000 "
		       "nvme_tcp_completion=10000 blk_completion=10000\n");
	target.points[NT_T_EXEC] = 0;
	print_merged(&host, &target, false);
	assert_ending("sent=5000 | unsplit\n", false);
}

static void story_has_both_sides_on_the_hosts_clock(void **state)
{
	const struct slow_command slow = {
		.latency = 60000,
		.connection = connection,
		.host = record_make(NT_HOST),
		.target = record_make(NT_TARGET),
	};
	static const char *const lines[] = {
		"read of 4096 bytes, read, LBA 77, status 0x0, nqn.a cntlid 1 queue 3 cid 0x1001: 60.0us\n",
		"\n         0.000 us  host   submit                                   |           |\n",
		"\n        10.000 us  host   queue_rq   blk_submission         10.0us |==         |\n",
		"\n        24.000 us    target rx       network to target      4.00us |   --      |\n",
		"\n        25.000 us    target cmd      nstack_submission      1.00us |    =      |\n",
		/* A wait for the other machine is shown by that machine's lines. */
		"\n        30.000 us  host   rx         network to host        2.00us |     -     |\n",
		"\n        60.000 us  host   complete   blk_completion         10.0us |         ==|\n",
		"\n  network_transmission          6.000 us   10.0 %\n",
		"\n  blk_completion               10.000 us   16.7 %\n",
	};

	story_print(&slow, &no_clock, out, 80);
	assert_int_equal(fflush(out), 0);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		if (!strstr(written, lines[i]))
			fail_msg("\"%s\" is not in:\n%s", lines[i], written);
}

/* They stand between exec and done, and end the parts of target_subsystem. */
static void story_has_the_points_of_the_targets_disk(void **state)
{
	struct slow_command slow = {
		.latency = 60000,
		.connection = connection,
		.host = record_make(NT_HOST),
		.target = record_make(NT_TARGET),
	};
	__u64 *at = slow.target.points;
	struct story_names names;
	struct point_row points[STORY_POINTS_MAX];
	unsigned int nr, found = 0;

	at[NT_TD_ISSUE] = at[NT_T_EXEC] + 100;
	at[NT_TD_DONE] = at[NT_T_DONE] - 30;
	nr = story_points(&slow, &names, points);
	for (unsigned int i = 1; i + 2 < nr; i++) {
		if (points[i].side != NT_TARGET || points[i].point != NT_TD_ISSUE)
			continue;
		found++;
		assert_int_equal(points[i - 1].point, NT_T_EXEC);
		assert_string_equal(points[i].stage, "target_block_layer");
		assert_int_equal(points[i].took, 100);
		assert_int_equal(points[i + 1].point, NT_TD_DONE);
		assert_string_equal(points[i + 1].stage, "device");
		assert_int_equal(points[i + 1].took, at[NT_TD_DONE] - at[NT_TD_ISSUE]);
		assert_string_equal(points[i + 2].stage, "target_subsystem");
	}
	assert_int_equal(found, 1);
	story_print(&slow, &no_clock, out, 80);
	assert_int_equal(fflush(out), 0);
	assert_non_null(strstr(written, "    target disk_rq  target_block_layer"));
}

static void story_has_the_worker_of_the_targets_file(void **state)
{
	struct slow_command slow = {
		.latency = 60000,
		.connection = connection,
		.host = record_make(NT_HOST),
		.target = record_make(NT_TARGET),
	};
	struct story_names names;
	struct point_row points[STORY_POINTS_MAX];
	unsigned int nr, found = 0;

	slow.target.flags |= NT_F_FILE | NT_F_CACHED;
	slow.target.points[NT_TD_ISSUE] = slow.target.points[NT_T_EXEC] + 100;
	nr = story_points(&slow, &names, points);
	for (unsigned int i = 0; i < nr; i++) {
		if (points[i].side != NT_TARGET || points[i].point != NT_FILE_WORK)
			continue;
		found++;
		assert_string_equal(points[i].stage, "target_file_wait");
		assert_int_equal(points[i].took, 100);
	}
	assert_int_equal(found, 1);
	story_print(&slow, &no_clock, out, 80);
	assert_int_equal(fflush(out), 0);
	assert_non_null(strstr(written, "    target file_work target_file_wait"));
	assert_non_null(strstr(written, ", page cache, "));
}

static void story_has_the_command_of_the_targets_disk(void **state)
{
	struct slow_command slow = {
		.latency = 60000,
		.connection = connection,
		.host = record_make(NT_HOST),
		.target = record_make(NT_TARGET),
		.disk = "/dev/nvme3n1",
	};

	slow.target.disk = NT_DISK_COMMAND(2, 0x7011);
	story_print(&slow, &no_clock, out, 80);
	assert_int_equal(fflush(out), 0);
	assert_null(strstr(written, "it is the command"));
	slow.target.points[NT_TD_ISSUE] = slow.target.points[NT_T_EXEC] + 100;
	slow.target.points[NT_TD_DONE] = slow.target.points[NT_T_EXEC] + 200;
	story_print(&slow, &no_clock, out, 80);
	assert_int_equal(fflush(out), 0);
	assert_non_null(strstr(
		written, "\n  at /dev/nvme3n1 it is the command of queue 2 with cid 0x7011\n"));
	/* The recording has no name of the disk. */
	slow.disk = NULL;
	story_print(&slow, &no_clock, out, 80);
	assert_int_equal(fflush(out), 0);
	assert_non_null(strstr(written, "\n  at its disk it is the command of queue 2 "));
}

static void story_has_the_cpus_of_points(void **state)
{
	struct slow_command slow = {
		.latency = 60000,
		.connection = connection,
		.host = record_make(NT_HOST),
		.target = record_make(NT_TARGET),
	};

	story_print(&slow, &no_clock, out, 80);
	assert_int_equal(fflush(out), 0);
	assert_null(strstr(written, "CPU"));
	assert_null(strstr(written, "send list"));
	slow.host.cpu[NT_HC_QUEUE_RQ] = 1 + 12;
	slow.host.cpu[NT_HC_SEND_CMD] = 1 + 12;
	slow.host.cpu[NT_HC_COMPLETE] = 1 + 0;
	slow.host.cpu[NT_H_QUEUED] = (1 + 5) | NT_QUEUED_LOCKED;
	slow.target.cpu[NT_TC_CMD] = slow.target.cpu[NT_TC_SENT] = 1 + 3;
	story_print(&slow, &no_clock, out, 80);
	assert_int_equal(fflush(out), 0);
	assert_non_null(strstr(written, "host   queue_rq   CPU 12 blk_submission"));
	assert_non_null(strstr(written, "target cmd      CPU 3  nstack_submission"));
	assert_non_null(strstr(
		written, "\n  the host's points are on several CPUs: 12, from complete on 0\n"));
	assert_null(strstr(written, "the target's points are on"));
	assert_non_null(
		strstr(written,
		       "\n  5 before it on its connection's send list, and send_mutex was held\n"));
	slow.host.cpu[NT_H_QUEUED] = 1 + NT_QUEUED_MOST;
	story_print(&slow, &no_clock, out, 80);
	assert_int_equal(fflush(out), 0);
	assert_non_null(
		strstr(written, "\n  256 or more before it on its connection's send list\n"));
}

/* The diagram has as much room as the line leaves; without enough there is none. */
static void story_has_a_diagram_if_there_is_room(void **state)
{
	const struct slow_command slow = {
		.latency = 60000,
		.connection = connection,
		.host = record_make(NT_HOST),
		.target = record_make(NT_TARGET),
	};

	story_print(&slow, &no_clock, out, 76);
	assert_int_equal(fflush(out), 0);
	assert_non_null(strstr(written, "\n        10.000 us  host   queue_rq   blk_submission"
					"         10.0us\n"));
	assert_null(strchr(written, '|'));
	story_print(&slow, &no_clock, out, 1000);
	assert_int_equal(fflush(out), 0);
	assert_non_null(strstr(written, " 10.0us |==========                                      "
					"            |\n"));
}

/* Without an arrival, the stage of the network ends later, and lasts from what is known. */
static void story_of_a_command_without_arrivals_joins_their_stages(void **state)
{
	struct slow_command slow = {
		.latency = 60000,
		.connection = connection,
		.host = record_make(NT_HOST),
		.target = record_make(NT_TARGET),
	};
	struct story_names names;
	struct point_row points[STORY_POINTS_MAX];
	unsigned int nr, found = 0;

	slow.host.points[NT_H_RX] = 0;
	nr = story_points(&slow, &names, points);
	for (unsigned int i = 0; i < nr; i++) {
		if (points[i].side != NT_HOST || points[i].point != NT_H_C2H)
			continue;
		found++;
		assert_string_equal(points[i].stage, "network_and_target+nstack_completion");
		assert_true(points[i].crosses && points[i].has_took);
		assert_int_equal(points[i].took, 20000);
	}
	assert_int_equal(found, 1);
}

static void others_of_unknown_connections_are_told_if_there_are_some(void **state)
{
	struct blocked b = {.disk = 2, .disk_ns = 3000};

	story_print_blocked(&b, true, out);
	assert_int_equal(fflush(out), 0);
	assert_non_null(strstr(written, "did 2, of these 0 of other hosts, each in 1.50us\n"));
	assert_null(strstr(written, "it may have done"));
	b.disk_unknown = 7;
	story_print_blocked(&b, true, out);
	assert_int_equal(fflush(out), 0);
	assert_non_null(strstr(written, "1.50us\n             it may have done 7 more, of "
					"connections whose names are not known\n"));
}

static void processes_of_the_target_have_their_share_of_the_disk(void **state)
{
	struct blocked b = {.disk = 2, .disk_ns = 3000, .use_ns = 4000};

	story_print_blocked(&b, true, out);
	assert_int_equal(fflush(out), 0);
	assert_non_null(strstr(written,
			       "1.50us\n             of its disk's time then, processes of the "
			       "target itself had 0.0 %\n"));
	b.local_ns = 3000;
	snprintf(b.local, sizeof(b.local), "/a\x1b[2J");
	story_print_blocked(&b, true, out);
	assert_int_equal(fflush(out), 0);
	assert_non_null(strstr(written, "had 75.0 %, most of it /a\\x1b[2J\n"));
	/* Of a command that is the host's alone nothing is known. */
	story_print_blocked(&b, false, out);
	assert_int_equal(fflush(out), 0);
	assert_null(strstr(strstr(written, "75.0 %") + 1, "75.0 %"));
}

static void must_tell(const struct slow_command *slow, const char *end, bool target)
{
	story_print(slow, &no_clock, out, 80);
	assert_int_equal(fflush(out), 0);
	assert_non_null(strstr(written, ", status 0x0, cancelled, nqn.a"));
	assert_non_null(strstr(written, end));
	assert_true(target == !!strstr(written, "target rx"));
	assert_null(strstr(written, "\n  blk_completion "));
}

/*
 * A command that timed out has no response. What either side knows of it is one story all the same.
 */
static void story_of_a_command_that_was_given_up_says_how_it_ended(void **state)
{
	struct slow_command slow = {
		.latency = 30000000000ULL,
		.connection = connection,
		.host = record_make(NT_HOST),
		.target = record_make(NT_TARGET),
	};

	slow.host.flags |= NT_F_CANCELLED;
	slow.host.points[NT_H_RX] = slow.host.points[NT_H_C2H] = slow.host.points[NT_H_CQE] = 0;
	must_tell(&slow, "target had sent one.\n", true);
	slow.target.points[NT_T_SEND] = slow.target.points[NT_T_SENT] = 0;
	must_tell(&slow, "target had sent none.\n", true);
	slow.target.flags |= NT_F_CANCELLED;
	must_tell(&slow, "target had it until its\n  connection closed: it died.\n", true);
}

/* The time that the host waited before it gave up is no stage, even if all points are there. */
static void json_of_a_command_that_was_given_up_has_no_stages(void **state)
{
	struct slow_command slow = {
		.connection = connection,
		.host = record_make(NT_HOST),
		.target = record_make(NT_TARGET),
	};
	struct json_object *o, *stages;

	for (unsigned int cancelled = 0; cancelled < 2; cancelled++) {
		slow.host.flags |= cancelled ? NT_F_CANCELLED : 0;
		o = json_command_slow(&slow, &no_clock);
		assert_true(json_object_object_get_ex(o, "stages", &stages));
		assert_int_equal(stages == NULL, cancelled);
		json_object_put(o);
	}
}

static void story_of_a_command_that_the_target_knows_nothing_of_is_the_hosts(void **state)
{
	struct slow_command slow = {
		.latency = 30000000000ULL,
		.alone = true,
		.connection = connection,
		.host = record_make(NT_HOST),
	};

	slow.host.flags |= NT_F_CANCELLED;
	must_tell(&slow, "target has no record\n  of it", false);
}

#define LINE_TEST(f) cmocka_unit_test_setup_teardown(f, out_open, out_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LINE_TEST(phrases_without_a_value_are_left_out),
		LINE_TEST(lines_in_memory_are_the_same_and_are_cut),
		LINE_TEST(cells_stand_under_their_headings),
		LINE_TEST(a_table_has_the_width_of_its_cells_and_leaves_out_what_is_dispensable),
		LINE_TEST(lines_for_scripts_always_have_as_many_words),
		LINE_TEST(items_wrap_where_the_line_is_full),
		LINE_TEST(traced_command_has_its_points_and_its_sides_stages),
		LINE_TEST(command_in_flight_has_its_age_and_the_stage_that_it_is_in),
		LINE_TEST(merged_command_has_both_sides_points_and_the_ten_stages),
		LINE_TEST(story_has_the_points_of_the_targets_disk),
		LINE_TEST(story_has_the_worker_of_the_targets_file),
		LINE_TEST(story_has_the_command_of_the_targets_disk),
		LINE_TEST(story_has_the_cpus_of_points),
		LINE_TEST(story_has_a_diagram_if_there_is_room),
		LINE_TEST(story_of_a_command_without_arrivals_joins_their_stages),
		LINE_TEST(processes_of_the_target_have_their_share_of_the_disk),
		LINE_TEST(others_of_unknown_connections_are_told_if_there_are_some),
		LINE_TEST(story_has_both_sides_on_the_hosts_clock),
		LINE_TEST(story_of_a_command_that_was_given_up_says_how_it_ended),
		LINE_TEST(json_of_a_command_that_was_given_up_has_no_stages),
		LINE_TEST(story_of_a_command_that_the_target_knows_nothing_of_is_the_hosts),
	};

	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
