// SPDX-License-Identifier: GPL-2.0-only
/* What the live view shows of a host and a peer: their merged stages, or why there are none. */
#include <poll.h>

#include "core/time.h"
#include "streams.h"
#include "traffic.h"
#include "view/view.h"

#define US 1000ULL
#define MS (1000 * US)
#define SECOND (1000 * MS)
/* To start a command may take this long on a busy machine. */
#define PATIENCE_NS (20 * SECOND)

/* What the target's stream contains, and what the host lacks. */
struct pair {
	uint32_t host_lacks;
	uint32_t target_lacks;
	uint64_t other_lba; /* added to the LBAs of the target's records */
	const char *target_nqn;
	bool slow_disk;
	struct view_state *page;
	bool hangs; /* a command of the host is in flight for 3 s */
};

/*
 * Reads with pauses, which take 6 s in all: a live merge gives up records that are 5 s late by the
 * streams' time.
 */
static struct traffic_config config;

static int configure(void **state)
{
	static const unsigned int reads[NT_SHAPES_NR] = {100};

	config = traffic_of_one_queue();
	memcpy(config.percent, reads, sizeof(reads));
	config.think_ns = 100 * MS;
	return 0;
}

static void lack(struct nt_record *r, uint32_t missing)
{
	for (unsigned int i = 0; i < NT_POINTS_MAX; i++)
		if (missing & 1u << i)
			r->points[i] = 0;
}

/* The disk takes 10 ms more for 1 in 30 commands. */
static void slow_down(struct nt_record *r)
{
	unsigned int from = r->side == NT_HOST ? NT_H_RX : NT_T_DONE;

	for (unsigned int i = from; (r->slba >> 3) * 7919 % 30 == 7 && i < NT_POINTS_MAX; i++)
		r->points[i] += r->points[i] ? 10 * MS : 0;
}

/* Return: fd of the target's stream. */
static int target_stream(const struct pair *p, char path[40])
{
	struct stream_header h = {
		.side = NT_TARGET, .hostname = "stor", .missing = p->target_lacks};
	struct stream_event e = {.type = STREAM_QUEUE};
	struct traffic *t = traffic_new(&config);
	struct traffic_record r;
	struct stream_writer *w;
	int fd = file_make();

	w = stream_writer_new(fd, &h);
	assert_non_null(w);
	e.queue = traffic_stream_queue(&config, 0, NT_TARGET);
	if (p->target_nqn)
		snprintf(e.queue.subsysnqn, sizeof(e.queue.subsysnqn), "%s", p->target_nqn);
	must_write(w, e);
	while (traffic_next(t, &r)) {
		if (r.r.side != NT_TARGET)
			continue;
		e = (struct stream_event){.type = STREAM_RECORD, .record = r.r};
		e.record.slba += p->other_lba;
		if (p->slow_disk)
			slow_down(&e.record);
		lack(&e.record, p->target_lacks);
		must_write(w, e);
	}
	must_write(w, (struct stream_event){.type = STREAM_END});
	stream_writer_free(w);
	traffic_free(t);
	snprintf(path, 40, "/proc/%d/fd/%d", (int)getpid(), fd);
	return fd;
}

static void host_records(struct live_merge *l, const struct pair *p)
{
	struct queue_info q = traffic_stream_queue(&config, 0, NT_HOST);
	struct traffic *t = traffic_new(&config);
	struct traffic_record r;

	assert_int_equal(live_merge_queue(l, &q), 0);
	while (traffic_next(t, &r)) {
		if (r.r.side != NT_HOST)
			continue;
		lack(&r.r, p->host_lacks);
		if (p->slow_disk)
			slow_down(&r.r);
		assert_int_equal(live_merge_record(l, &r.r), 0);
	}
	traffic_free(t);
}

/* @state: of a screen of 132 columns; NULL: a pipe */
static char *show(const struct live_merge *l,
		  int (*what)(const struct stats *s, struct view_options *o),
		  struct view_state *state, bool hangs)
{
	static struct stats s = {.side = NT_HOST, .driver = "nvme_tcp", .source = "stock"};
	struct queue_info q = traffic_stream_queue(&config, 0, NT_HOST);
	char controller[32];
	struct view_options o = {.columns = 132, .peers = l, .state = state, .redraw = state};
	char *text = NULL;
	size_t size = 0;

	snprintf(controller, sizeof(controller), "nvme%u", q.instance);
	stats_row(&s, controller, q.subsysnqn, q.qid, NT_OP_READ, false)->waiting =
		(struct waiting){.commands = 1, .oldest_ns = hangs ? 3 * SECOND : 0};
	o.out = open_memstream(&text, &size);
	assert_non_null(o.out);
	assert_int_equal(what(&s, &o), 0);
	fclose(o.out);
	stats_free(&s);
	s.rows = NULL;
	s.nr_rows = 0;
	return text;
}

/* Runs both sides to their end. @interval, @summary: the text that is shown */
static void run(const struct pair *p, char **interval, char **summary)
{
	const struct peer_user myself = {.other = false};
	uint64_t until = monotonic_ns() + PATIENCE_NS;
	char path[40], command[64], *sources[] = {command};
	int fd = target_stream(p, path);
	struct live_merge *l;

	snprintf(command, sizeof(command), "cat %s", path);
	l = live_merge_new(NT_HOST, sources, 1, &myself);
	assert_non_null(l);
	live_merge_lacks(l, p->host_lacks);
	while (!peer_over(live_merge_peer(l, 0))) {
		struct pollfd f = {.fd = live_merge_fd(l), .events = POLLIN};

		assert_true(monotonic_ns() < until);
		poll(&f, 1, 100);
		assert_int_equal(live_merge_ready(l), 0);
	}
	host_records(l, p);
	if (p->hangs)
		assert_int_equal(live_merge_interval(l), 0);
	*interval = show(l, view_interval, p->page, p->hangs);
	assert_int_equal(live_merge_finish(l, -1), 0);
	*summary = show(l, view_summary, p->page, false);
	live_merge_free(l);
	close(fd);
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

static void stages_beside_points_that_either_side_lacks_are_joined(void **state)
{
	static const struct {
		struct pair pair;
		const char *joined[2];
	} known[] = {
		{{.host_lacks = 1u << NT_H_SEND_CMD},
		 {"read          nvme_tcp_submission+network_transmission ",
		  "merged_stage read nvme_tcp_submission+network_transmission "}},
		{{.target_lacks = 1u << NT_T_DONE},
		 {"read          target_subsystem+nvmet_tcp_completion ",
		  "merged_stage read target_subsystem+nvmet_tcp_completion "}},
	};
	char *interval, *summary;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		run(&known[i].pair, &interval, &summary);
		assert_contains(interval, known[i].joined[0]);
		assert_contains(summary, known[i].joined[1]);
		assert_contains(summary, "stages of 500 merged commands; they add up");
		assert_contains(summary, "unsplit 0\n");
		assert_contains(summary, ", target stor\n");
		assert_lacks(summary, "nothing of it is matched");
		if (known[i].pair.target_lacks)
			assert_contains(interval, ", lacks the points done");
		free(interval);
		free(summary);
	}
}

static void a_peer_that_does_not_match_tells_its_own_figures_and_why(void **state)
{
	static const struct {
		struct pair pair;
		const char *reason;
	} known[] = {
		{{.target_nqn = "nqn.2024-01.org.example:two"}, "they have no subsystem in common"},
		{{.other_lba = 1ULL << 40}, "no command of one asks for what a command of the "},
	};
	char *interval, *summary, wanted[256];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		run(&known[i].pair, &interval, &summary);
		snprintf(wanted, sizeof(wanted), "\npeer 1: nothing of it is matched, with host ");
		assert_contains(interval, wanted);
		assert_contains(summary, wanted);
		assert_contains(interval, known[i].reason);
		assert_contains(summary, known[i].reason);
		assert_contains(interval, "\npeer 1 by itself, since it began:\n");
		assert_contains(interval, "cntlid 1");
		assert_contains(interval, "read  send_response ");
		assert_contains(summary, "read  send_response ");
		free(interval);
		free(summary);
	}
}

static void a_page_and_the_summary_say_why_slow_commands_are_slow(void **state)
{
	struct view_state page = {.page = VIEW_WHY};
	const struct pair pair = {.slow_disk = true, .page = &page};
	const struct traffic_config was = config;
	char *interval, *summary;

	config.commands = 4000;
	config.think_ns /= 8;
	run(&pair, &interval, &summary);
	config = was;
	assert_contains(interval, "why slow commands are slow, of the whole run");
	assert_contains(interval, "read: p99 10.");
	assert_contains(interval, "It is the target's storage: ");
	assert_contains(interval, "Evidence: ");
	assert_lacks(interval, "Look further");
	assert_contains(summary, "\nthe slowest 1 % of reads take 10.");
	assert_contains(summary, "; it is the target's storage: ");
	assert_lacks(summary, "--why");
	free(interval);
	free(summary);
}

static void what_hangs_is_in_the_stage_of_those_before_it(void **state)
{
	const struct pair pair = {.hangs = true};
	char *interval, *summary;

	run(&pair, &interval, &summary);
	assert_contains(interval, "\nstalled: nvme");
	assert_contains(interval, " before that: ");
	assert_contains(strstr(interval, " before that: "), " % of the time in ");
	assert_lacks(summary, " before that: ");
	free(interval);
	free(summary);
}

static void without_a_peer_that_page_says_what_it_takes(void **state)
{
	struct view_state page = {.page = VIEW_WHY};
	char *text = show(NULL, view_interval, &page, false);

	assert_contains(text, "it takes both machines: start with --peer");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stages_beside_points_that_either_side_lacks_are_joined),
		cmocka_unit_test(a_page_and_the_summary_say_why_slow_commands_are_slow),
		cmocka_unit_test(what_hangs_is_in_the_stage_of_those_before_it),
		cmocka_unit_test(without_a_peer_that_page_says_what_it_takes),
		cmocka_unit_test(a_peer_that_does_not_match_tells_its_own_figures_and_why),
	};

	return cmocka_run_group_tests_name("live_merged", tests, configure, NULL);
}
