// SPDX-License-Identifier: GPL-2.0-only
/* A host and its peers, as a live view or serve runs them: records, and the totals that count them.
 */
#include "peer/testing.h"
#include "traffic.h"

#include "in_range.h"
#include "merge/merge.h"

#define MS 1000000ULL
#define SENT_AT 4000000000ULL /* CLOCK_MONOTONIC of a target's clock frame */

static struct traffic_config config;

/* Reads that take 6 s in all. */
static int configure(void **state)
{
	static const unsigned int reads[NT_SHAPES_NR] = {100};

	config = traffic_of_one_queue();
	memcpy(config.percent, reads, sizeof(reads));
	config.think_ns = 100 * MS;
	return 0;
}

/* What a peer's stream is like: a target's, or with @of_host that of a host. */
struct target {
	bool of_host;
	const char *hostname;
	const char *nqn; /* NULL: the host's */
	uint32_t sample, missing;
	uint64_t most; /* records; 0: all */
};

/* Return: fd of the stream, which has its end. @source: filled with a command that sends it */
static int stream_of_target(const struct target *of, char source[64])
{
	enum nt_side side = of->of_host ? NT_HOST : NT_TARGET;
	struct stream_header h = {.side = side, .sample = of->sample, .missing = of->missing};
	struct stream_event e = {.type = STREAM_CLOCK, .clock = {.monotonic_ns = SENT_AT}};
	struct traffic *t = traffic_new(&config);
	struct stream_writer *w;
	struct traffic_record r;
	int fd = file_make();
	uint64_t n = 0;

	snprintf(h.hostname, sizeof(h.hostname), "%s", of->hostname ?: "");
	snprintf(h.kernel, sizeof(h.kernel), "6.1 of %.9s", h.hostname);
	w = stream_writer_new(fd, &h);
	assert_non_null(w);
	must_write(w, e);
	e = (struct stream_event){.type = STREAM_QUEUE,
				  .queue = traffic_stream_queue(&config, 0, side)};
	if (of->nqn)
		snprintf(e.queue.subsysnqn, sizeof(e.queue.subsysnqn), "%s", of->nqn);
	must_write(w, e);
	while (traffic_next(t, &r)) {
		if (r.r.side != side || (of->most && n == of->most))
			continue;
		n++;
		must_write(w, (struct stream_event){.type = STREAM_RECORD, .record = r.r});
	}
	must_write(w, (struct stream_event){.type = STREAM_END, .end = {.records = n}});
	stream_writer_free(w);
	traffic_free(t);
	snprintf(source, 64, "cat /proc/%d/fd/%d", (int)getpid(), fd);
	return fd;
}

/* But for the first @skip. */
static void add_own_but(struct live_merge *l, enum nt_side side, unsigned int skip)
{
	struct queue_info q = traffic_stream_queue(&config, 0, side);
	struct traffic *t = traffic_new(&config);
	struct traffic_record r;

	assert_int_equal(live_merge_queue(l, &q), 0);
	while (traffic_next(t, &r))
		if (r.r.side == side && !(skip && skip--))
			assert_int_equal(live_merge_record(l, &r.r), 0);
	traffic_free(t);
}

static void add_own(struct live_merge *l, enum nt_side side)
{
	add_own_but(l, side, 0);
}

static void add_host(struct live_merge *l)
{
	add_own(l, NT_HOST);
}

static struct live_merge_counts counts(const struct live_merge *l)
{
	struct live_merge_counts n;

	live_merge_counts(l, &n);
	return n;
}

static bool over(const struct live_merge *l, unsigned int i)
{
	return peer_over(live_merge_peer(l, i));
}

/* A peer that has sent all it has. */
static struct live_merge *merge_with(const struct target *of, int *fd)
{
	char source[64];
	struct live_merge *l;

	*fd = stream_of_target(of, source);
	l = start(source);
	READ_UNTIL(l, over(l, 0));
	return l;
}

static uint64_t in_interval(const struct live_merge *l)
{
	return live_merge_totals(l, false)->commands;
}

static uint64_t in_last(const struct live_merge *l)
{
	return live_merge_last(l)->commands;
}

static uint64_t in_all(const struct live_merge *l)
{
	return live_merge_totals(l, true)->commands;
}

/* A command is in the totals of one interval, of the last one after that, and of all at the end. */
static void totals_go_from_interval_to_interval(void **state)
{
	int fd;
	struct live_merge *l = merge_with(&(struct target){.hostname = "stor"}, &fd);
	uint64_t matched;

	add_host(l);
	matched = counts(l).matched;
	assert_uint_in_range(matched, 1, config.commands);
	assert_int_equal(in_interval(l), matched);
	assert_int_equal(in_last(l), 0);
	assert_int_equal(in_all(l), 0);
	assert_int_equal(live_merge_interval(l), 0);
	assert_int_equal(in_last(l), matched);
	assert_int_equal(in_all(l), 0);
	assert_int_equal(in_interval(l) + in_last(l), counts(l).matched);
	assert_int_equal(live_merge_interval(l), 0);
	assert_int_equal(in_all(l), matched);
	assert_int_equal(in_interval(l) + in_last(l) + in_all(l), counts(l).matched);
	assert_int_equal(live_merge_finish(l, -1), 0);
	assert_int_equal(counts(l).matched, config.commands);
	assert_int_equal(in_all(l), config.commands);
	assert_int_equal(in_last(l), 0);
	assert_int_equal(in_interval(l), 0);
	live_merge_free(l);
	close(fd);
}

static void everything_is_added_up_when_only_totals_are_shown(void **state)
{
	int fd;
	struct live_merge *l = merge_with(&(struct target){.hostname = "stor"}, &fd);
	uint64_t matched;

	add_host(l);
	assert_int_equal(live_merge_interval(l), 0);
	matched = counts(l).matched;
	assert_int_equal(live_merge_add_up(l), 0);
	assert_uint_in_range(in_all(l), matched, config.commands);
	assert_int_equal(in_last(l), 0);
	/* Totals know the machines, and so which points are lacking. */
	assert_ptr_equal(live_merge_totals(l, true)->machines, live_merge_machines(l));
	assert_ptr_equal(live_merge_totals(l, false)->machines, live_merge_machines(l));
	live_merge_free(l);
	close(fd);
}

/* The same commands, seen from the target: its peer is the host. */
static void a_target_is_merged_with_its_host(void **state)
{
	char source[64], *sources[] = {source};
	int fd = stream_of_target(&(struct target){.of_host = true, .hostname = "web"}, source);
	struct live_merge *l = live_merge_new(NT_TARGET, sources, 1, &myself);
	const struct merge_connection *c;

	assert_non_null(l);
	READ_UNTIL(l, over(l, 0));
	add_own(l, NT_TARGET);
	assert_int_equal(live_merge_finish(l, -1), 0);
	assert_int_equal(counts(l).matched, config.commands);
	assert_int_equal(in_all(l), config.commands);
	c = merge_connection(live_merge_merge(l), 0);
	assert_string_equal(machines_get(live_merge_machines(l), c->host_stream)->name, "web");
	assert_int_equal(machines_get(live_merge_machines(l), c->target_stream)->side, NT_TARGET);
	live_merge_free(l);
	close(fd);
	/* One that records the same side is refused. */
	fd = stream_of_target(&(struct target){.hostname = "stor"}, source);
	l = live_merge_new(NT_TARGET, sources, 1, &myself);
	assert_non_null(l);
	READ_UNTIL(l, over(l, 0));
	assert_string_equal(about(l).why, "it records a target; a host is needed");
	live_merge_free(l);
	close(fd);
}

/* The target told of the first 300 of 500. */
static void what_became_of_each_record_is_counted(void **state)
{
	int fd;
	struct live_merge *l = merge_with(&(struct target){.hostname = "stor", .most = 300}, &fd);
	struct live_merge_counts n;

	add_host(l);
	assert_int_equal(live_merge_finish(l, -1), 0);
	n = counts(l);
	assert_int_equal(n.matched, 300);
	assert_int_equal(n.host_only, config.commands - 300);
	assert_int_equal(n.target_only, 0);
	assert_int_equal(n.undecided, 0);
	assert_int_equal(n.strays + n.past_limits + n.early, 0);
	assert_int_equal(in_all(l), 300);
	assert_int_equal(in_interval(l) + in_last(l), 0);
	live_merge_free(l);
	close(fd);
}

/* The host was traced for a shorter time. */
static void records_of_the_target_alone_are_counted(void **state)
{
	int fd;
	struct live_merge *l = merge_with(&(struct target){.hostname = "stor"}, &fd);
	struct live_merge_counts n;
	const uint64_t all = config.commands;

	config.commands = 300;
	add_host(l);
	assert_int_equal(live_merge_finish(l, -1), 0);
	n = counts(l);
	assert_uint_in_range(n.matched, 1, 300);
	assert_int_equal(n.matched + n.target_only, all);
	assert_int_equal(n.matched + n.host_only, 300);
	live_merge_free(l);
	close(fd);
}

/* By the streams' time they have waited for more than 5 s. */
static void records_that_wait_for_long_are_given_up(void **state)
{
	int fd;
	struct live_merge *l =
		merge_with(&(struct target){.hostname = "stor", .nqn = "nqn.other"}, &fd);
	uint64_t before;

	add_host(l);
	before = counts(l).undecided;
	assert_int_equal(live_merge_tend(l), 0);
	assert_true(counts(l).undecided < before);
	assert_int_not_equal(counts(l).host_only, 0);
	live_merge_free(l);
	close(fd);
}

/* None of the host's records has another half as long as no peer records. */
static void records_from_before_any_peer_recorded_are_early(void **state)
{
	char source[128];
	struct bytes b;
	struct stream_event e;
	struct live_merge *l;
	const struct nt_record r = {.side = NT_HOST};
	int fd = beginning();
	long header_bytes;

	b = file_bytes(fd);
	header_bytes = (long)frame_next(&b, PREAMBLE);
	snprintf(source, sizeof(source), "head -c %ld /proc/%d/fd/%d; sleep 1000", header_bytes,
		 (int)getpid(), fd);
	l = start(source);
	assert_int_equal(live_merge_record(l, &r), 0);
	READ_UNTIL(l, about(l).header);
	assert_int_equal(live_merge_record(l, &r), 0);
	assert_int_equal(live_merge_record(l, &r), 0);
	assert_int_equal(counts(l).early, 3);
	assert_int_equal(counts(l).strays, 0);
	live_merge_free(l);
	/* With its first clock, it records. The queue of this record is not known. */
	snprintf(source, sizeof(source), "cat /proc/%d/fd/%d; sleep 1000", (int)getpid(), fd);
	l = start(source);
	READ_UNTIL(l, about(l).state == PEER_RUNNING);
	assert_int_equal(live_merge_record(l, &r), 0);
	assert_int_equal(counts(l).early, 0);
	assert_int_equal(counts(l).strays, 1);
	e = clock_event();
	assert_int_equal(unmatched_began_ns(live_merge_unmatched(l), live_merge_stream(0)),
			 e.clock.monotonic_ns);
	live_merge_free(l);
	close(fd);
	free(b.p);
}

/* This machine began to record later than its peer. */
static void records_of_a_peer_from_before_this_machine_recorded_are_early(void **state)
{
	int fd;
	struct live_merge *l = merge_with(&(struct target){.hostname = "stor"}, &fd);
	struct live_merge_counts n;

	add_own_but(l, NT_HOST, 200);
	assert_int_equal(live_merge_finish(l, -1), 0);
	n = counts(l);
	assert_in_range(n.matched, 290, 300);
	/* A command that is slower than those before it may have begun before the first. */
	assert_in_range(n.early, 190, 200);
	assert_int_equal(n.matched + n.target_only + n.early + n.ambiguous, config.commands);
	live_merge_free(l);
	close(fd);
}

static void machines_are_known_by_their_headers(void **state)
{
	const struct target of[] = {{.sample = 4, .missing = 1u << NT_T_DONE},
				    {.sample = 8, .missing = 1u << NT_T_SEND_R2T}};
	char text[2][64], *sources[] = {text[0], text[1]};
	int fd[] = {stream_of_target(&of[0], text[0]), stream_of_target(&of[1], text[1])};
	struct live_merge *l = live_merge_new(NT_HOST, sources, 2, &myself);
	char own[65] = "";

	assert_non_null(l);
	live_merge_lacks(l, 1u << NT_H_R2T);
	READ_UNTIL(l, over(l, 0) && over(l, 1));
	for (unsigned int i = 0; i < 2; i++) {
		const struct machine *m =
			machines_get(live_merge_machines(l), live_merge_stream(i));
		char name[16];

		/* They have no name of their own. */
		snprintf(name, sizeof(name), "peer %u", i + 1);
		assert_true(m->known);
		assert_string_equal(m->name, name);
		assert_int_equal(m->side, NT_TARGET);
		assert_int_equal(m->sample, of[i].sample);
		assert_int_equal(m->missing, of[i].missing);
		close(fd[i]);
	}
	assert_int_equal(gethostname(own, sizeof(own) - 1), 0);
	assert_string_equal(machines_get(live_merge_machines(l), 0)->name, own);
	assert_int_equal(machines_get(live_merge_machines(l), 0)->missing, 1u << NT_H_R2T);
	assert_int_equal(machines_get(live_merge_machines(l), 0)->side, NT_HOST);
	assert_null(live_merge_peer(l, 2));
	live_merge_free(l);
}

/* Only the first one has what the host has. */
static void a_peer_has_figures_of_its_own_until_it_is_matched(void **state)
{
	const struct target of[] = {{.hostname = "one"},
				    {.hostname = "two", .nqn = "nqn.other", .most = 7}};
	char text[2][64], *sources[] = {text[0], text[1]};
	int fd[] = {stream_of_target(&of[0], text[0]), stream_of_target(&of[1], text[1])};
	struct live_merge *l = live_merge_new(NT_HOST, sources, 2, &myself);

	assert_non_null(l);
	assert_null(live_merge_peer_stats(l, 0));
	READ_UNTIL(l, over(l, 0) && over(l, 1));
	assert_string_equal(live_merge_peer_stats(l, 0)->kernel, "6.1 of one");
	assert_string_equal(live_merge_peer_stats(l, 1)->kernel, "6.1 of two");
	assert_null(live_merge_peer_stats(l, 2));
	add_host(l);
	assert_int_equal(live_merge_finish(l, -1), 0);
	assert_null(live_merge_peer_stats(l, 0));
	assert_non_null(live_merge_peer_stats(l, 1));
	assert_false(unmatched_is(live_merge_unmatched(l), live_merge_stream(0)));
	assert_true(unmatched_is(live_merge_unmatched(l), live_merge_stream(1)));
	live_merge_free(l);
	close(fd[0]);
	close(fd[1]);
}

/* What a loop waits for: output, messages and reports. */
static void the_descriptor_is_readable_when_there_is_something_to_do(void **state)
{
	char text[128];
	char *sources[] = {text, "echo x >&2; sleep 1000", "exit 1"};
	int fd = beginning();

	snprintf(text, sizeof(text), "cat /proc/%d/fd/%d; sleep 1000", (int)getpid(), fd);
	for (unsigned int i = 0; i < ARRAY_SIZE(sources); i++) {
		struct live_merge *l = start(sources[i]);
		struct pollfd ready = {live_merge_fd(l), POLLIN, 0};

		assert_int_equal(poll(&ready, 1, (int)(PATIENCE_NS / MS)), 1);
		live_merge_free(l);
	}
	close(fd);
}

/* All of them are asked to end, and waited for. */
static void finishing_ends_every_peer(void **state)
{
	char *sources[] = {"exit 1",
			   "trap 'sleep 0.3; exit' TERM; echo x >&2; while :; do sleep 0.1; done",
			   "exec sleep 1000"};
	struct live_merge *l = live_merge_new(NT_HOST, sources, 3, &myself);
	struct peer_about a;

	assert_non_null(l);
	READ_UNTIL(l, (peer_about(live_merge_peer(l, 1), &a), a.messages->nr));
	assert_int_equal(live_merge_finish(l, -1), 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_true(peer_gone(live_merge_peer(l, i)));
	live_merge_free(l);
}

/* serve starts a peer again. No figures of its own are kept. */
static void a_peer_that_is_started_again_is_read_again(void **state)
{
	char source[64], *sources[] = {source};
	int fd = stream_of_target(&(struct target){.hostname = "stor"}, source);
	struct live_merge *l = live_merge_new_lasting(NT_HOST, sources, 1, &myself);
	struct pollfd ready;
	uint64_t matched;

	assert_non_null(l);
	READ_UNTIL(l, over(l, 0));
	assert_null(live_merge_peer_stats(l, 0));
	assert_true(unmatched_is(live_merge_unmatched(l), live_merge_stream(0)));
	add_host(l);
	matched = counts(l).matched;
	assert_int_not_equal(matched, 0);
	assert_false(unmatched_is(live_merge_unmatched(l), live_merge_stream(0)));
	WAIT_FOR((live_merge_tend(l), about(l).restarts == 1));
	assert_false(over(l, 0));
	ready = (struct pollfd){live_merge_fd(l), POLLIN, 0};
	assert_int_equal(poll(&ready, 1, (int)(PATIENCE_NS / MS)), 1);
	READ_UNTIL(l, over(l, 0));
	assert_int_equal(about(l).records, 2 * config.commands);
	/* Nothing of the new stream is matched so far. */
	assert_true(unmatched_is(live_merge_unmatched(l), live_merge_stream(0)));
	assert_int_not_equal(unmatched_began_ns(live_merge_unmatched(l), 0), 0);
	live_merge_free(l);
	close(fd);
}

struct slow {
	uint64_t until_ns;
	unsigned int events;
};

/* Takes all of the turn. */
static int take_slowly(void *context, const struct stream_event *e)
{
	struct slow *s = context;

	while (monotonic_ns() <= s->until_ns)
		poll(NULL, 0, 1);
	s->events++;
	return 0;
}

/* Only records are so cheap that the clock is not read for each. */
static void a_turn_ends_behind_a_queue_that_is_late(void **state)
{
	struct stream_header h = {.side = NT_TARGET};
	struct stream_event e = {.type = STREAM_QUEUE};
	int fd = file_make();
	struct stream_writer *w = stream_writer_new(fd, &h);
	struct slow s = {0};
	struct peer *p;
	char source[64];

	assert_non_null(w);
	for (e.queue.slot = 0; e.queue.slot < 100; e.queue.slot++)
		must_write(w, e);
	must_write(w, (struct stream_event){.type = STREAM_END});
	stream_writer_free(w);
	snprintf(source, sizeof(source), "cat /proc/%d/fd/%d", (int)getpid(), fd);
	p = peer_new(source, NT_TARGET, &myself);
	assert_non_null(p);
	be_patient();
	while (!peer_over(p)) {
		unsigned int before = s.events;

		s.until_ns = monotonic_ns() + MS;
		assert_true(s.until_ns < give_up_ns);
		assert_true(peer_read(p, take_slowly, &s, s.until_ns) >= 0);
		assert_uint_in_range(s.events - before, 0, 2);
	}
	assert_int_equal(s.events, 102);
	peer_free(p);
	close(fd);
}

static void one_stream_ends_in_a_turn(void **state)
{
	enum { PEERS = 4 };
	char source[PEERS][64], *sources[PEERS];
	int fd[PEERS];
	struct live_merge *l;
	unsigned int before, ended = 0;

	for (unsigned int i = 0; i < PEERS; i++) {
		fd[i] = stream_of_target(&(struct target){.hostname = "stor"}, source[i]);
		sources[i] = source[i];
	}
	l = live_merge_new(NT_HOST, sources, PEERS, &myself);
	assert_non_null(l);
	be_patient();
	while (ended < PEERS) {
		assert_true(monotonic_ns() < give_up_ns);
		/* Meanwhile all of them send more. */
		poll(NULL, 0, 50);
		assert_int_equal(live_merge_ready(l), 0);
		before = ended;
		ended = 0;
		for (unsigned int i = 0; i < PEERS; i++)
			ended += over(l, i);
		assert_uint_in_range(ended, before, before + 1);
	}
	live_merge_free(l);
	for (unsigned int i = 0; i < PEERS; i++)
		close(fd[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup(name, configure)
		TEST(totals_go_from_interval_to_interval),
		TEST(everything_is_added_up_when_only_totals_are_shown),
		TEST(a_target_is_merged_with_its_host),
		TEST(what_became_of_each_record_is_counted),
		TEST(records_of_the_target_alone_are_counted),
		TEST(records_that_wait_for_long_are_given_up),
		TEST(records_from_before_any_peer_recorded_are_early),
		TEST(records_of_a_peer_from_before_this_machine_recorded_are_early),
		TEST(machines_are_known_by_their_headers),
		TEST(a_peer_has_figures_of_its_own_until_it_is_matched),
		TEST(the_descriptor_is_readable_when_there_is_something_to_do),
		TEST(finishing_ends_every_peer),
		TEST(a_peer_that_is_started_again_is_read_again),
		TEST(a_turn_ends_behind_a_queue_that_is_late),
		TEST(one_stream_ends_in_a_turn),
	};

	return cmocka_run_group_tests_name("live merge", tests, NULL, NULL);
}
