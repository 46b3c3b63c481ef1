// SPDX-License-Identifier: GPL-2.0-only
/* The output of the view, read back as text. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/counters.h"
#include "core/array.h"
#include "core/names.h"
#include "view/lines.h"
#include "view/view.h"

#define US 1000ull
#define MS (1000 * US)

static void hist_add(struct hist *h, uint64_t ns, uint64_t bytes, uint64_t times)
{
	h->count += times;
	h->sum += ns * times;
	h->bytes += bytes * times;
	if (ns > h->max)
		h->max = ns;
	h->buckets[nt_bucket(ns)] += times;
}

static void row_add(struct stats_row *row, uint64_t ns, uint64_t bytes, uint64_t times)
{
	assert_non_null(row);
	hist_add(&row->interval, ns, bytes, times);
	hist_add(&row->total, ns, bytes, times);
}

static void stage_add(struct stats *s, enum nt_op op, unsigned int stage, uint64_t ns,
		      uint64_t times)
{
	hist_add(&s->stage_interval[op][stage], ns, 0, times);
	hist_add(&s->stage_total[op][stage], ns, 0, times);
}

/* Three reads on one controller and writes on the next, in a second of a run of ten seconds. */
static struct stats stats_make(void)
{
	struct stats s = {
		.side = NT_HOST,
		.kernel = "6.1.0-56-amd64",
		.driver = "nvme_tcp",
		.source = "tracepoints",
		.probes = 9,
		.controllers = 2,
		.queues = 6,
		.seconds = 1,
		.elapsed = 10,
	};

	row_add(stats_row(&s, "nvme0", "nqn.2024-01.org.example:one", 1, NT_OP_READ, false),
		100 * US, 4096, 2);
	row_add(stats_row(&s, "nvme0", "nqn.2024-01.org.example:one", 2, NT_OP_READ, false),
		200 * US, 4096, 1);
	row_add(stats_row(&s, "nvme10", "nqn.2024-01.org.example:two", 1, NT_OP_WRITE, false),
		10 * MS, 1000000, 500);
	for (unsigned int i = 0; i < NT_HOST_STAGES_NR; i++) {
		if (i == NT_HS_DEVICE)
			continue;
		stage_add(&s, NT_OP_READ, i, i == NT_HS_NETWORK_AND_TARGET ? 80 * US : 4 * US, 3);
		stage_add(&s, NT_OP_WRITE, i, i == NT_HS_NVME_TCP_COMPLETION ? 0 : 2 * MS, 500);
	}
	return s;
}

static char *view_render(int (*show)(const struct stats *s, struct view_options *o),
			 const struct stats *s, struct view_options o)
{
	char *text = NULL;
	size_t size = 0;

	o.out = open_memstream(&text, &size);
	assert_non_null(o.out);
	assert_int_equal(show(s, &o), 0);
	assert_int_equal(fclose(o.out), 0);
	assert_int_equal(strlen(text), size);
	return text;
}

static const struct view_options pipe_ascii = {.columns = 132};
static const struct view_options pipe_unicode = {.columns = 132, .unicode = true};

/* Removes escape sequences, so that the text is what stays on the screen. */
static void escapes_strip(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == '\033') {
			while (*from && !strchr("HJK", *from))
				from++;
			assert_true(*from);
			continue;
		}
		*to++ = *from;
	}
	*to = '\0';
}

static size_t line_columns(const char *line)
{
	size_t n = 0;

	for (; *line && *line != '\n'; line++)
		n += ((unsigned char)*line & 0xc0) != 0x80;
	return n;
}

static size_t lines_widest(const char *text)
{
	size_t widest = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (line_columns(line) > widest)
			widest = line_columns(line);
	}
	return widest;
}

static size_t newlines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void assert_contains(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("\"%s\" is not in:\n%s", what, text);
}

static void assert_lacks(const char *text, const char *what)
{
	if (strstr(text, what))
		fail_msg("\"%s\" is in:\n%s", what, text);
}

/* @line: a whole line */
static void assert_has_line(const char *text, const char *line)
{
	char wanted[512];

	snprintf(wanted, sizeof(wanted), "\n%s\n", line);
	assert_contains(text, wanted);
}

/* Checks that a line begins with these words, with any blanks between them. */
static void assert_has_row(const char *text, const char *words)
{
	const char *line = text;

	while (line) {
		const char *l = line + (*line == '\n'), *w = words;

		while (*w && *l && *l != '\n') {
			if (*w == ' ' && *l == ' ') {
				w += strspn(w, " ");
				l += strspn(l, " ");
			} else if (*w++ != *l++) {
				break;
			}
		}
		if (!*w && w[-1] == l[-1] && (!*l || strchr(" \n", *l)))
			return;
		line = strchr(line + (*line == '\n'), '\n');
	}
	fail_msg("no row \"%s\" in:\n%s", words, text);
}

static void durations_have_three_digits_and_the_right_unit(void **state)
{
	static const struct {
		double ns;
		const char *text;
	} known[] = {
		{0, "0ns"},
		{1, "1ns"},
		{870, "870ns"},
		{999, "999ns"},
		{999.4, "999ns"},
		{999.5, "1.00us"},
		{1000, "1.00us"},
		{1234, "1.23us"},
		{9990, "9.99us"},
		{9994, "9.99us"},
		{9996, "10.0us"},
		{12345, "12.3us"},
		{99940, "99.9us"},
		{99960, "100us"},
		{100000, "100us"},
		{999400, "999us"},
		{999500, "1.00ms"},
		{999900, "1.00ms"},
		{4560000, "4.56ms"},
		{999.9e6, "1.00s"},
		{1.2e9, "1.20s"},
		{68.72e9, "68.7s"},
		{1234e9, "1234s"},
		{86400e9, "86400s"},
		{(double)UINT64_MAX, "1.8e+10s"},
		/* Clocks that drift apart give negative times. */
		{-0.4, "0ns"},
		{-3, "-3ns"},
		{-12345, "-12.3us"},
	};
	char buf[16];

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		assert_string_equal(duration_format(buf, sizeof(buf), known[i].ns), known[i].text);
}

static void durations_take_at_most_eight_characters(void **state)
{
	double ns = 0.01;
	char buf[64];

	while (ns < 2e19) {
		assert_true(strlen(duration_format(buf, sizeof(buf), ns)) <= 8);
		ns *= 1.0007;
	}
}

static void interval_says_what_is_traced(void **state)
{
	struct stats s = stats_make();
	char *text = view_render(view_interval, &s, pipe_ascii);

	assert_has_line(text, "ntprof-bpf --host  kernel 6.1.0-56-amd64  "
			      "tracepoints of nvme_tcp: 9 probes  2 controllers, 6 queues  "
			      "interval 1.0 s  elapsed 10 s");
	free(text);
	s.controllers = s.queues = s.probes = 1;
	text = view_render(view_interval, &s, pipe_ascii);
	assert_contains(text, "nvme_tcp: 1 probe  1 controller, 1 queue  ");
	free(text);
	stats_free(&s);
}

static void missing_module_is_waited_for_by_name(void **state)
{
	struct stats s = {.side = NT_HOST, .kernel = "6.1", .driver = "", .source = "tracepoints"};
	char *text = view_render(view_interval, &s, pipe_ascii);

	assert_contains(text, "waiting for nvme_tcp: modprobe nvme-tcp  ");
	assert_lacks(text, "probes");
	assert_has_line(text, "no commands");
	free(text);
	s.side = NT_TARGET;
	text = view_render(view_interval, &s, pipe_ascii);
	assert_contains(text, "ntprof-bpf --target");
	assert_contains(text, "waiting for nvmet_tcp: modprobe nvmet-tcp  ");
	free(text);
}

static void interval_has_a_row_for_each_controller_queue_and_operation(void **state)
{
	struct stats s = stats_make();
	char *text = view_render(view_interval, &s, pipe_ascii);

	assert_has_row(text, "controller queue op IOPS MB/s inflight oldest p50 p90 p99 p99.9 max");
	assert_has_row(text, "nvme0 1 read 2.00 0.01 0 - 99.3us - - - 100us");
	assert_has_row(text, "nvme0 2 read 1.00 0.00 0 - - - - - 200us");
	assert_has_row(text, "nvme10 1 write 500 500 0 - 10.0ms 10.0ms 10.0ms - 10.0ms");
	assert_true(strstr(text, "nvme0 ") < strstr(text, "nvme10 "));
	free(text);
	stats_free(&s);
}

static void rows_without_commands_in_the_interval_are_left_out(void **state)
{
	struct stats s = stats_make();
	char *text;

	stats_begin_interval(&s);
	row_add(stats_row(&s, "nvme0", "nqn.2024-01.org.example:one", 1, NT_OP_READ, false),
		100 * US, 4096, 1);
	text = view_render(view_interval, &s, pipe_ascii);
	assert_has_row(text, "nvme0 1 read");
	assert_lacks(text, "nvme10");
	assert_lacks(text, "write ");
	free(text);
	text = view_render(view_summary, &s, pipe_ascii);
	assert_has_row(text, "nvme10 1 write 500");
	free(text);
	stats_free(&s);
}

static void shared_histograms_are_of_all_queues(void **state)
{
	struct stats s = stats_make();
	char *text;

	row_add(stats_row(&s, "nvme0", "nqn.2024-01.org.example:one", 0, NT_OP_FLUSH, true), MS, 0,
		1);
	text = view_render(view_interval, &s, pipe_ascii);
	assert_has_row(text, "nvme0 all flush 1.00");
	free(text);
	stats_free(&s);
}

static void peers_of_controllers_are_named(void **state)
{
	struct stats s = stats_make();
	char *text = view_render(view_interval, &s, pipe_ascii);

	assert_has_line(text, "nvme0: nqn.2024-01.org.example:one (subsystem NQN)");
	assert_has_line(text, "nvme10: nqn.2024-01.org.example:two (subsystem NQN)");
	free(text);
	stats_free(&s);
}

static void controllers_of_one_name_and_two_peers_are_told_apart(void **state)
{
	struct stats s = {.side = NT_TARGET, .driver = "nvmet_tcp", .source = "tracepoints"};
	char *text;

	row_add(stats_row(&s, "cntlid 1", "nqn.host-b", 1, NT_OP_READ, false), MS, 0, 1);
	row_add(stats_row(&s, "cntlid 1", "nqn.host-a", 1, NT_OP_READ, false), MS, 0, 1);
	row_add(stats_row(&s, "cntlid 2", "nqn.host-a", 1, NT_OP_READ, false), MS, 0, 1);
	text = view_render(view_interval, &s, pipe_ascii);
	assert_has_row(text, "cntlid 1#1 1 read");
	assert_has_row(text, "cntlid 1#2 1 read");
	assert_has_row(text, "cntlid 2 1 read");
	assert_has_line(text, "cntlid 1#1: nqn.host-a (host NQN)");
	assert_has_line(text, "cntlid 1#2: nqn.host-b (host NQN)");
	assert_has_line(text, "cntlid 2: nqn.host-a (host NQN)");
	free(text);
	stats_free(&s);
}

static void peer_names_cannot_steer_the_terminal(void **state)
{
	struct stats s = {.side = NT_TARGET, .driver = "nvmet_tcp", .source = "tracepoints"};
	char *text;

	row_add(stats_row(&s, "cntlid 1", "nqn\033[2J\n\xc3\xa4\x9b\x7f", 1, NT_OP_READ, false), MS,
		0, 1);
	text = view_render(view_interval, &s, pipe_unicode);
	assert_has_line(text, "cntlid 1: nqn?[2J????? (host NQN)");
	free(text);
	stats_free(&s);
}

static void rows_have_histograms_on_one_scale(void **state)
{
	struct stats s = stats_make();
	char *text = view_render(view_interval, &s, pipe_unicode);

	/* 100 us is in the first octave from 65.5 us, 200 us in the next, 10 ms in the eighth. */
	assert_contains(text, "100us  █\n");
	assert_contains(text, "200us   █\n");
	assert_contains(text, "10.0ms         █\n");
	assert_has_line(text, "histograms: 65.5us to 16.8ms, a factor of 2 each character");
	free(text);
	text = view_render(view_interval, &s, pipe_ascii);
	assert_contains(text, "10.0ms         @\n");
	free(text);
	stats_free(&s);
}

static void height_in_a_histogram_follows_the_count(void **state)
{
	struct stats s = {.driver = "nvme_tcp", .source = "tracepoints", .seconds = 1};
	struct stats_row *row = stats_row(&s, "nvme0", "", 1, NT_OP_READ, false);
	char *text;

	row_add(row, 1024, 0, 1000);
	row_add(row, 2048, 0, 500);
	row_add(row, 8192, 0, 1);
	text = view_render(view_interval, &s, pipe_unicode);
	assert_contains(text, "  █▅ ▁\n");
	free(text);
	text = view_render(view_interval, &s, pipe_ascii);
	assert_contains(text, "  @+ .\n");
	free(text);
	stats_free(&s);
}

static void stages_are_shown_with_their_share_even_when_zero(void **state)
{
	struct stats s = stats_make();
	char *text = view_render(view_interval, &s, pipe_ascii);

	assert_has_row(text, "op stage mean p50 p99 max share");
	assert_has_row(text, "read network_and_target 80.0us 80.0us - 80.0us 80.0 %");
	assert_has_row(text, "read blk_submission 4.00us 4.00us - 4.00us 4.0 %");
	assert_has_row(text, "write nvme_tcp_completion 0ns 0ns 0ns 0ns 0.0 %");
	assert_has_row(text, "write blk_completion 2.00ms 2.00ms 2.00ms 2.00ms 20.0 %");
	assert_lacks(text, "flush");
	/* 80 % and 20 % of 40 columns */
	assert_contains(text, " 80.0 % @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@\n");
	assert_contains(text, " 20.0 % @@@@@@@@\n");
	free(text);
	stats_free(&s);
}

static void commands_that_could_not_be_split_leave_their_stages_empty(void **state)
{
	struct stats s = {.driver = "nvme_tcp", .source = "tracepoints", .seconds = 1};
	char *text;

	row_add(stats_row(&s, "nvme0", "", 1, NT_OP_FLUSH, false), MS, 0, 1);
	text = view_render(view_interval, &s, pipe_ascii);
	assert_has_row(text, "flush blk_submission - - - - 0.0 %");
	free(text);
	stats_free(&s);
}

static void summary_says_how_many_commands_are_in_the_stages(void **state)
{
	struct stats s = stats_make();
	char *text;

	text = view_render(view_summary, &s, pipe_ascii);
	assert_lacks(text, "stages of ");
	free(text);
	row_add(stats_row(&s, "nvme0", "nqn.2024-01.org.example:one", 1, NT_OP_READ, false), MS,
		4096, 7);
	text = view_render(view_summary, &s, pipe_ascii);
	assert_has_line(text, "stages of 503 of 510 commands: the others could not be split");
	free(text);
	stats_free(&s);
}

static void target_shows_the_stages_of_the_target(void **state)
{
	struct stats s = {.side = NT_TARGET, .driver = "nvmet_tcp", .source = "tracepoints"};
	char *text;

	row_add(stats_row(&s, "cntlid 1", "", 1, NT_OP_READ, false), MS, 0, 1);
	text = view_render(view_interval, &s, pipe_ascii);
	for (unsigned int i = 0; i < NT_TARGET_STAGES_NR; i++)
		assert_contains(text, stage_name(NT_TARGET, i));
	assert_lacks(text, "blk_submission");
	free(text);
	stats_free(&s);
}

static void losses_are_all_shown_even_zero(void **state)
{
	struct stats s = stats_make();
	char wanted[64], *text;

	s.counters_total[NT_CNT_RING_FULL] = 7;
	s.counters_interval[NT_CNT_RING_FULL] = 2;
	s.counters_total[NT_CNT_DIED] = 5;
	text = view_render(view_interval, &s, pipe_ascii);
	assert_contains(text, "\nlosses:  cancelled=0  died=5  ");
	assert_contains(text, "  ring_full=7(+2)  ");
	for (unsigned int c = 0; c < COUNTER_IN_FLIGHT; c++) {
		snprintf(wanted, sizeof(wanted), "  %s=%llu", counter_name(c),
			 (unsigned long long)s.counters_total[c]);
		assert_contains(text, wanted);
	}
	/* During the run they are no loss. */
	assert_lacks(text, "in_flight");
	free(text);
	stats_free(&s);
}

/* The number of queues is given in each text, and in JSON. */
static void what_is_past_a_limit_tells_of_how_many_queues(void **state)
{
	struct view_options json = {.format = FORMAT_JSON};
	struct stats s = stats_make();
	char wanted[256], *text;

	s.counters_total[NT_CNT_NO_SLOT] = 3;
	s.counters_queues[NT_CNT_NO_SLOT] = 1;
	s.counters_total[NT_CNT_HIST_FULL] = 264;
	s.counters_interval[NT_CNT_HIST_FULL] = 7;
	s.counters_queues[NT_CNT_HIST_FULL] = 12;
	text = view_render(view_interval, &s, pipe_ascii);
	assert_contains(text,
			"  no_slot=3 of 1 queue  hist_full=264(+7) of 12 queues  ring_full=0");
	free(text);
	text = view_render(view_summary, &s, pipe_ascii);
	snprintf(wanted, sizeof(wanted), "loss hist_full 264  # %s, of 12 queues",
		 counter_help(NT_CNT_HIST_FULL));
	assert_has_line(text, wanted);
	free(text);
	text = view_render(view_interval, &s, json);
	assert_contains(text, "\"loss_queues\":{\"no_slot\":1,\"hist_full\":12}");
	free(text);
	memset(s.counters_queues, 0, sizeof(s.counters_queues));
	text = view_render(view_interval, &s, json);
	assert_lacks(text, "loss_queues");
	free(text);
	stats_free(&s);
}

static void errors_are_shown_where_there_are_any(void **state)
{
	struct stats s = stats_make();
	char *text;

	text = view_render(view_interval, &s, pipe_ascii);
	assert_lacks(text, "errors,");
	free(text);
	for (int i = 0; i < 2; i++) {
		errors_begin_interval(&s.errors);
		assert_int_equal(
			errors_add(&s.errors, "nvme0", "nqn.one", 1, NT_OP_READ, 0x4006, 3), 0);
	}
	assert_int_equal(errors_add(&s.errors, "nvme0", "nqn.one", 0, NT_OP_ADMIN, 0x2, 1), 0);
	errors_begin_interval(&s.errors);
	assert_int_equal(errors_add(&s.errors, "nvme0", "nqn.one", 1, NT_OP_READ, 0x4006, 1), 0);
	text = view_render(view_interval, &s, pipe_ascii);
	assert_contains(text, "\nerrors, in no histogram:  "
			      "nvme0 q0 admin invalid_field_in_command=1  "
			      "nvme0 q1 read internal_error=7(+1)\n");
	free(text);
	text = view_render(view_summary, &s, pipe_ascii);
	assert_contains(text,
			"\nerror admin invalid_field_in_command 1 status=0x002 q0 nvme0 nqn.one"
			"  # errors are in no histogram\n"
			"error read internal_error 7 status=0x006 q1 nvme0 nqn.one\n");
	free(text);
	stats_free(&s);
}

static void full_histograms_have_the_same_buckets_in_every_row(void **state)
{
	struct stats s = stats_make();
	struct view_options o = pipe_ascii;
	static const char bucket[] = "\n[  4.19ms,   8.39ms) ";
	unsigned int times = 0;
	char *text;

	o.histogram = true;
	text = view_render(view_interval, &s, o);
	for (const char *at = text; (at = strstr(at, bucket)); at++)
		times++;
	assert_int_equal(times, 3);
	assert_has_line(text, "nvme0 queue 1 read: 2 commands, mean 100us");
	assert_has_line(text, "nvme10 queue 1 write: 500 commands, mean 10.0ms");
	assert_has_row(
		text,
		"[ 65.5us, 131us) 2 100.0 % |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
		"@@@@@@@@@@|");
	assert_has_row(
		text,
		"[ 8.39ms, 16.8ms) 500 100.0 % |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
		"@@@@@@@@@@@@@@|");
	assert_lacks(text, "[  16.8ms,");
	free(text);
	o.histogram = false;
	text = view_render(view_interval, &s, o);
	assert_lacks(text, "[ ");
	free(text);
	stats_free(&s);
}

static void extreme_durations_fit_the_histograms(void **state)
{
	struct stats s = {.driver = "nvme_tcp", .source = "tracepoints", .seconds = 1};
	struct stats_row *row = stats_row(&s, "nvme0", "", 1, NT_OP_READ, false);
	struct view_options o = {.histogram = true, .columns = 132};
	char *text;

	row_add(row, 0, 0, 1);
	row_add(row, 1ull << 40, 0, 1);
	text = view_render(view_interval, &s, o);
	assert_contains(text, "\n[     0ns,      2ns) ");
	assert_contains(text, "\n[   68.7s,      inf) ");
	free(text);
	o.redraw = true;
	o.columns = 80;
	text = view_render(view_interval, &s, o);
	assert_contains(text, "histograms: 0ns to inf, ");
	free(text);
	stats_free(&s);
}

static void pipe_gets_blocks_apart_by_empty_lines_and_under_a_time(void **state)
{
	struct stats s = stats_make();
	char *text = view_render(view_interval, &s, pipe_ascii);
	int year, n = 0;

	assert_int_equal(sscanf(text, "%4d-%*2d-%*2d %*2d:%*2d:%*2d %*5s%n", &year, &n), 1);
	assert_true(n > 0 && text[n] == '\n');
	assert_ptr_equal(strstr(text, "\n\n"), text + strlen(text) - 2);
	assert_lacks(text, "\033");
	free(text);
	stats_free(&s);
}

static void pipe_lines_are_never_cut(void **state)
{
	struct stats s = {.side = NT_TARGET, .driver = "nvmet_tcp", .source = "tracepoints"};
	struct view_options o = {.columns = 40};
	char peer[NT_NQN_LEN], line[NT_NQN_LEN + 64], *text;

	memset(peer, 'n', sizeof(peer) - 1);
	peer[sizeof(peer) - 1] = '\0';
	row_add(stats_row(&s, "cntlid 1", peer, 1, NT_OP_READ, false), MS, 0, 1);
	text = view_render(view_interval, &s, o);
	snprintf(line, sizeof(line), "cntlid 1: %s (host NQN)", peer);
	assert_contains(text, line);
	assert_contains(text, "  reader_slow=0\n");
	free(text);
	stats_free(&s);
}

static void ascii_has_no_other_bytes(void **state)
{
	struct stats s = stats_make();
	struct view_options o = pipe_ascii;

	o.histogram = true;
	for (int redraw = 0; redraw < 2; redraw++) {
		char *text;

		o.redraw = redraw;
		o.lines = redraw ? 200 : 0;
		text = view_render(view_interval, &s, o);
		for (const char *c = text; *c; c++)
			assert_true((unsigned char)*c < 128);
		free(text);
		text = view_render(view_summary, &s, o);
		for (const char *c = text; *c; c++)
			assert_true((unsigned char)*c < 128);
		free(text);
	}
	stats_free(&s);
}

static void terminal_of_any_size_is_never_overrun(void **state)
{
	struct stats s = stats_make();

	for (unsigned int columns = 1; columns < 200; columns += 7) {
		for (unsigned int lines = 1; lines < 90; lines++) {
			struct view_options o = {
				.histogram = lines % 2,
				.unicode = lines % 3,
				.redraw = true,
				.columns = columns,
				.lines = lines,
			};
			char *text = view_render(view_interval, &s, o);

			assert_memory_equal(text, "\033[H", 3);
			escapes_strip(text);
			assert_true(lines_widest(text) <= columns);
			/* One line less, because a newline on the last line would scroll. */
			assert_true(newlines(text) <= lines - 1);
			free(text);
		}
	}
	stats_free(&s);
}

static void terminal_of_80_columns_shows_every_column_and_the_histogram(void **state)
{
	struct stats s = stats_make();
	struct view_options o = {.unicode = true, .redraw = true, .columns = 80, .lines = 100};
	char *text = view_render(view_interval, &s, o);

	escapes_strip(text);
	assert_has_row(text, "ctrl qid op IOPS MB/s infl oldest p50 p90 p99 p99.9 max");
	assert_contains(text, "10.0ms    █\n");
	assert_contains(text, "\nno losses\n");
	free(text);
	stats_free(&s);
}

static void redraw_erases_the_rest_of_what_was_there(void **state)
{
	struct stats s = stats_make();
	struct view_options o = {.redraw = true, .columns = 118, .lines = 100};
	char *text = view_render(view_interval, &s, o);
	const char *line = text;

	/* Every line except the last one, where the screen below is erased. */
	for (; strchr(line, '\n'); line = strchr(line, '\n') + 1) {
		const char *end = strchr(line, '\n');

		assert_memory_equal(end - 3, "\033[K", 3);
	}
	assert_string_equal(line, "\033[J");
	free(text);
	stats_free(&s);
}

static void full_line_is_not_erased_at_its_end(void **state)
{
	struct stats s = stats_make();
	struct view_options o = {.redraw = true, .columns = 10, .lines = 100};
	char *text = view_render(view_interval, &s, o);

	assert_memory_equal(text, "\033[Hntprof-bpf\n", 14);
	free(text);
	stats_free(&s);
}

static void too_many_rows_leave_room_for_stages_and_losses(void **state)
{
	struct stats s = stats_make();
	struct view_options o = {.redraw = true, .columns = 132, .lines = 40};
	char *text;

	for (uint16_t qid = 3; qid < 100; qid++)
		row_add(stats_row(&s, "nvme0", "nqn.2024-01.org.example:one", qid, NT_OP_READ,
				  false),
			MS, 4096, 1);
	text = view_render(view_interval, &s, o);
	escapes_strip(text);
	assert_int_equal(newlines(text), 39);
	assert_has_row(text, "nvme0 1 read");
	assert_has_row(text, "total all all 600");
	assert_has_row(text, "blk_completion host");
	assert_contains(text, "\nno losses");
	/*
	 * 100 rows in 40 lines, less the head, losses, stages (13), heading, total and this note:
	 * there is no room for the legend.
	 */
	assert_contains(text, " more rows\n");
	assert_lacks(text, "subsystem NQN");
	free(text);
	stats_free(&s);
}

static void empty_lines_go_before_anything_is_left_out(void **state)
{
	struct stats s = stats_make();
	struct view_options o = {.redraw = true, .columns = 132, .lines = 100};
	char *text = view_render(view_interval, &s, o);
	unsigned int spaced, needed;

	escapes_strip(text);
	assert_contains(text, "\n\n");
	spaced = (unsigned int)newlines(text);
	free(text);
	needed = spaced - 4; /* head, rows, legend, stages, losses */
	o.lines = needed;
	text = view_render(view_interval, &s, o);
	escapes_strip(text);
	assert_lacks(text, "\n\n");
	assert_lacks(text, "left out");
	free(text);
	o.lines = needed - 1;
	text = view_render(view_interval, &s, o);
	/* Lines that only explain are dropped first. */
	assert_lacks(text, "nvme0: nqn");
	assert_has_row(text, "nvme0 2 read");
	assert_has_row(text, "blk_completion host");
	free(text);
	stats_free(&s);
}

static void summary_counts_commands_and_losses_for_scripts(void **state)
{
	struct stats s = stats_make();
	char wanted[256], *text;

	s.counters_total[NT_CNT_DIED] = 5;
	s.counters_total[COUNTER_IN_FLIGHT] = 1;
	text = view_render(view_summary, &s, pipe_ascii);
	assert_has_line(text, "summary of 10.0 s");
	assert_has_line(text, "commands read 3");
	assert_has_line(text, "commands write 500");
	assert_lacks(text, "commands flush");
	assert_has_line(text, "loss cancelled 0");
	snprintf(wanted, sizeof(wanted), "loss died 5  # %s", counter_help(NT_CNT_DIED));
	assert_has_line(text, wanted);
	assert_contains(text, "\nloss in_flight 1  # ");
	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		snprintf(wanted, sizeof(wanted), "\nloss %s %llu", counter_name(c),
			 (unsigned long long)s.counters_total[c]);
		assert_contains(text, wanted);
	}
	free(text);
	stats_free(&s);
}

static void summary_rates_are_averages_of_the_run(void **state)
{
	struct stats s = stats_make();
	char *text = view_render(view_summary, &s, pipe_ascii);

	assert_has_row(text, "controller queue op commands IOPS MB/s inflight");
	assert_has_row(text, "nvme10 1 write 500 50.0 50.0 0.50 10.0ms");
	free(text);
	stats_free(&s);
}

/* Rates are per time that was measured, and the heading says how long that was. */
static void bursts_are_told_with_how_long_was_measured(void **state)
{
	struct stats s = stats_make();
	char *text;

	s.burst = (struct burst){.on_ns = 1000000000, .every_ns = 60000000000};
	s.bursts = 10;
	s.passed = 600;
	s.counters_total[COUNTER_BURST_EDGE] = 17;
	text = view_render(view_interval, &s, pipe_ascii);
	assert_contains(text, "  burst 10, of 1.0 s every 60.0 s  measured 10.0 s of 600.0 s\n");
	assert_contains(text, " burst_edge=17");
	assert_lacks(text, "interval ");
	free(text);
	/* The times have all of their digits. */
	s.burst = (struct burst){.on_ns = 250000000, .every_ns = 1000125001};
	text = view_render(view_interval, &s, pipe_ascii);
	assert_contains(text, "  burst 10, of 0.25 s every 1.000125001 s  measured");
	free(text);
	s.burst = (struct burst){.on_ns = 1000000000, .every_ns = 60000000000};
	text = view_render(view_summary, &s, pipe_ascii);
	assert_has_line(text,
			"summary of 10 bursts of 1.0 s every 60.0 s, measured 10.0 s of 600.0 s: "
			"rates and latencies are of the bursts");
	assert_has_row(text, "nvme10 1 write 500 50.0 50.0 0.50 10.0ms");
	assert_has_line(text,
			"loss burst_edge 17  # commands that began before a burst or ended after "
			"it, and are in no figure");
	free(text);
	stats_free(&s);
}

static void summary_on_a_terminal_is_whole(void **state)
{
	struct stats s = stats_make();
	struct view_options o = {.redraw = true, .columns = 80, .lines = 5};
	char *text = view_render(view_summary, &s, o);

	assert_memory_equal(text, "\033[H\033[J", 6);
	assert_contains(text, "nvme_tcp_completion");
	assert_has_line(text, "no losses");
	assert_lacks(text, "left out");
	/* The tables have the same. */
	assert_lacks(text, "commands read 3");
	free(text);
	stats_free(&s);
}

static void run_of_no_time_has_no_rates(void **state)
{
	struct stats s = stats_make();
	char *text;

	s.seconds = s.elapsed = 0;
	text = view_render(view_interval, &s, pipe_ascii);
	assert_has_row(text, "nvme0 1 read 0 0 0 - 99.3us");
	free(text);
	text = view_render(view_summary, &s, pipe_ascii);
	assert_has_row(text, "nvme0 1 read 2 0 0 0 99.3us");
	free(text);
	stats_free(&s);
}

static void full_disk_is_an_error(void **state)
{
	struct stats s = stats_make();
	struct view_options o = pipe_ascii;

	o.out = fopen("/dev/full", "w");
	if (!o.out)
		skip();
	assert_int_equal(view_interval(&s, &o), -EIO);
	assert_int_equal(view_summary(&s, &o), -EIO);
	fclose(o.out);
	stats_free(&s);
}

/* A pipe stands for the terminal: what matters is that it is not read. */
static void terminal_that_is_stopped_gets_no_block_behind_another(void **state)
{
	struct view_options o = {.columns = 80, .lines = 24, .redraw = true};
	struct stats s = stats_make();
	char text[4096];
	int p[2];

	assert_int_equal(pipe(p), 0);
	while (write(p[1], text, 1) == 1 && fcntl(p[1], F_SETFL, O_NONBLOCK) == 0)
		;
	assert_int_equal(fcntl(p[1], F_SETFL, 0), 0);
	o.output = output_new(p[1], 1 << 20);
	assert_non_null(o.output);
	assert_int_equal(view_interval(&s, &o), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(view_interval(&s, &o), -EAGAIN);
	/* The last block is worth waiting for. */
	assert_int_equal(view_summary(&s, &o), 0);
	/* The output is idle a little after its last byte has come. */
	assert_int_equal(fcntl(p[0], F_SETFL, O_NONBLOCK), 0);
	while (!output_idle(o.output))
		assert_true(read(p[0], text, sizeof(text)) > 0 || errno == EAGAIN);
	assert_int_equal(view_interval(&s, &o), 0);
	close(p[0]);
	while (output_error(o.output) != -EPIPE)
		usleep(1000);
	assert_int_equal(view_interval(&s, &o), -EPIPE);
	output_free(o.output);
	close(p[1]);
	stats_free(&s);
}

static void pipe_that_is_not_read_loses_whole_blocks(void **state)
{
	struct view_options o = pipe_ascii;
	struct stats s = stats_make();
	int p[2], err;

	assert_int_equal(pipe(p), 0);
	o.output = output_new(p[1], 65536);
	assert_non_null(o.output);
	do {
		err = view_interval(&s, &o);
	} while (!err);
	assert_int_equal(err, -EAGAIN);
	output_free(o.output);
	close(p[0]);
	close(p[1]);
	stats_free(&s);
}

static void stream_that_is_no_terminal_gets_plain_blocks(void **state)
{
	struct view_options o;
	FILE *f = tmpfile();

	assert_non_null(f);
	/* The struct may contain anything from the stack. */
	memset(&o, 0xff, sizeof(o));
	view_setup(&o, f);
	assert_false(o.histogram);
	assert_null(o.peers);
	assert_ptr_equal(o.out, f);
	assert_false(o.redraw);
	assert_int_equal(o.lines, 0);
	assert_int_equal(o.columns, 132);
	/* Without setlocale() this is the C locale. */
	assert_false(o.unicode);
	fclose(f);
}

static void terminal_that_tells_no_size_is_asked_for_in_the_environment(void **state)
{
	struct view_options o = {.redraw = true};

	o.out = tmpfile();
	assert_non_null(o.out);
	setenv("COLUMNS", "100", 1);
	setenv("LINES", "50", 1);
	view_resize(&o);
	assert_int_equal(o.columns, 100);
	assert_int_equal(o.lines, 50);
	setenv("COLUMNS", "-3", 1);
	setenv("LINES", "many", 1);
	view_resize(&o);
	assert_int_equal(o.columns, 80);
	assert_int_equal(o.lines, 24);
	unsetenv("COLUMNS");
	unsetenv("LINES");
	fclose(o.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_have_three_digits_and_the_right_unit),
		cmocka_unit_test(durations_take_at_most_eight_characters),
		cmocka_unit_test(interval_says_what_is_traced),
		cmocka_unit_test(missing_module_is_waited_for_by_name),
		cmocka_unit_test(interval_has_a_row_for_each_controller_queue_and_operation),
		cmocka_unit_test(rows_without_commands_in_the_interval_are_left_out),
		cmocka_unit_test(shared_histograms_are_of_all_queues),
		cmocka_unit_test(peers_of_controllers_are_named),
		cmocka_unit_test(controllers_of_one_name_and_two_peers_are_told_apart),
		cmocka_unit_test(peer_names_cannot_steer_the_terminal),
		cmocka_unit_test(rows_have_histograms_on_one_scale),
		cmocka_unit_test(height_in_a_histogram_follows_the_count),
		cmocka_unit_test(stages_are_shown_with_their_share_even_when_zero),
		cmocka_unit_test(commands_that_could_not_be_split_leave_their_stages_empty),
		cmocka_unit_test(summary_says_how_many_commands_are_in_the_stages),
		cmocka_unit_test(target_shows_the_stages_of_the_target),
		cmocka_unit_test(losses_are_all_shown_even_zero),
		cmocka_unit_test(what_is_past_a_limit_tells_of_how_many_queues),
		cmocka_unit_test(errors_are_shown_where_there_are_any),
		cmocka_unit_test(full_histograms_have_the_same_buckets_in_every_row),
		cmocka_unit_test(extreme_durations_fit_the_histograms),
		cmocka_unit_test(pipe_gets_blocks_apart_by_empty_lines_and_under_a_time),
		cmocka_unit_test(pipe_lines_are_never_cut),
		cmocka_unit_test(ascii_has_no_other_bytes),
		cmocka_unit_test(terminal_of_any_size_is_never_overrun),
		cmocka_unit_test(terminal_of_80_columns_shows_every_column_and_the_histogram),
		cmocka_unit_test(redraw_erases_the_rest_of_what_was_there),
		cmocka_unit_test(full_line_is_not_erased_at_its_end),
		cmocka_unit_test(too_many_rows_leave_room_for_stages_and_losses),
		cmocka_unit_test(empty_lines_go_before_anything_is_left_out),
		cmocka_unit_test(summary_counts_commands_and_losses_for_scripts),
		cmocka_unit_test(summary_rates_are_averages_of_the_run),
		cmocka_unit_test(bursts_are_told_with_how_long_was_measured),
		cmocka_unit_test(summary_on_a_terminal_is_whole),
		cmocka_unit_test(run_of_no_time_has_no_rates),
		cmocka_unit_test(full_disk_is_an_error),
		cmocka_unit_test(terminal_that_is_stopped_gets_no_block_behind_another),
		cmocka_unit_test(pipe_that_is_not_read_loses_whole_blocks),
		cmocka_unit_test(stream_that_is_no_terminal_gets_plain_blocks),
		cmocka_unit_test(terminal_that_tells_no_size_is_asked_for_in_the_environment),
	};

	return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
