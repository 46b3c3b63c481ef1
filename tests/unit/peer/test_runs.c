// SPDX-License-Identifier: GPL-2.0-only
/*
 * The figures of a peer's stream, and which of them go on when the peer is started again: counters
 * do, nothing else.
 */
#include "peer/driven.h"

#define MANY_RECORDS 2500

static void assert_losses(uint64_t first, uint64_t runs, uint64_t unknown)
{
	const struct stream_losses *l = told().losses;

	for (unsigned int i = 0; i < COUNTERS_NR; i++)
		assert_int_equal(l->count[i], first + runs * i);
	assert_int_equal(l->unknown, unknown);
}

static void losses_are_those_told_last_of_each_run(void **state)
{
	int cut = losing_stream(false), whole = losing_stream(true);

	sends(cut, "exit 1");
	reads_to_its_end();
	assert_losses(10, 1, 5);
	starts_again();
	assert_losses(10, 1, 5);
	sends(whole, "true");
	reads_to_its_end();
	assert_int_equal(told().state, PEER_ENDED);
	assert_losses(110, 2, 12);
	starts_again();
	sends(cut, "exit 1");
	reads_to_its_end();
	assert_losses(120, 3, 17);
	close(cut);
	close(whole);
}

/* A recorder of a later version sends frames of another type, or with more fields. */
static void frames_that_are_not_known_are_counted_over_all_runs(void **state)
{
	struct bytes small = small_stream(), strange = with_frame(&small, 999, "xyz", 3),
		     b = with_bytes(&strange, STREAM_CLOCK, "abcd", 4);
	int fd = stream_of(&b);

	for (unsigned int i = 1; i <= 3; i++) {
		sends(fd, "true");
		reads_to_its_end();
		assert_int_equal(told().state, PEER_ENDED);
		assert_int_equal(told().skipped, i);
		assert_int_equal(told().longer, i);
		assert_int_equal(told().records, i * (SMALL_RECORDS + 1));
		starts_again();
		assert_int_equal(told().skipped, i);
		assert_int_equal(told().longer, i);
	}
	close(fd);
	free(small.p);
	free(strange.p);
	free(b.p);
}

static void after_a_start_nothing_has_come(void **state)
{
	int fd = beginning(), alone = header_of(NT_TARGET);

	assert_int_equal(told().state, PEER_STARTING);
	assert_null(told().header);
	assert_false(peer_settled(run.p));
	sends(fd, "exit 3");
	reads_to_its_end();
	assert_int_equal(told().state, PEER_DIED);
	assert_int_equal(told().exit_status, 3);
	assert_string_equal(told().header->hostname, "a target");
	assert_true(peer_settled(run.p));
	starts_again();
	assert_int_equal(told().state, PEER_STARTING);
	assert_null(told().header);
	assert_int_equal(told().exit_status, 0);
	assert_false(peer_over(run.p) || peer_settled(run.p) || peer_gone(run.p));
	/* A header alone does not make it run, though the run before did. */
	sends(alone, "sleep 1000");
	WAIT_FOR((read_some(), told().header));
	assert_int_equal(told().state, PEER_WAITING);
	assert_true(peer_settled(run.p));
	starts_again();
	does("echo waiting for module nvmet_tcp >&2; exit 4");
	reads_to_its_end();
	assert_int_equal(told().exit_status, 4);
	starts_again();
	assert_int_equal(told().state, PEER_STARTING);
	assert_false(peer_settled(run.p));
	/* It closes its output, and goes on. How the run before ended does not matter. */
	does("exec >&-; sleep 1000");
	WAIT_FOR((read_some(), peer_over(run.p)));
	assert_int_equal(told().state, PEER_DIED);
	assert_int_equal(told().exit_status, 0);
	assert_string_not_equal(told().why, "");
	assert_true(peer_settled(run.p));
	assert_false(peer_gone(run.p));
	close(fd);
	close(alone);
}

static void a_line_that_was_cut_off_ends_with_its_run(void **state)
{
	does("printf half >&2; exit 1");
	reads_to_its_end();
	starts_again();
	assert_int_equal(told().first_message, 1);
	does("echo whole >&2" STEP);
	WAIT_FOR(has_said(2));
	assert_string_equal(messages_line(told().messages, 0), "half");
	assert_string_equal(messages_line(told().messages, 1), "whole");
	/* Those of the run before are of no interest. */
	assert_int_equal(told().first_message, 1);
}

/* Other peers have their turn after so many events, however many there are. */
static void time_that_is_over_ends_a_turn(void **state)
{
	struct stream_event r = {.type = STREAM_RECORD, .record = {.side = NT_TARGET}};
	int fd = file_make(), done[2];
	struct stream_writer *w = writer_make(fd);
	char then[64], end;

	for (unsigned int i = 0; i < MANY_RECORDS; i++)
		must_write(w, r);
	assert_int_equal(stream_flush(w), 0);
	stream_writer_free(w);
	assert_int_equal(pipe2(done, O_CLOEXEC), 0);
	snprintf(then, sizeof(then), "echo >/proc/%d/fd/%d; sleep 1000", (int)getpid(), done[1]);
	sends(fd, then);
	assert_int_equal(read(done[0], &end, 1), 1);
	for (unsigned int i = 1; i <= 2; i++) {
		assert_int_equal(peer_read(run.p, on_event, NULL, 0), 1);
		assert_int_equal(run.events, i);
	}
	assert_int_equal(peer_read(run.p, on_event, NULL, UINT64_MAX), 0);
	assert_int_equal(run.events, MANY_RECORDS + 1);
	assert_int_equal(told().records, MANY_RECORDS);
	close(fd);
	close(done[0]);
	close(done[1]);
}

static int refuse(void *context, const struct stream_event *e)
{
	return -ENOMEM;
}

static void what_becomes_of_an_event_is_returned(void **state)
{
	int fd = beginning();

	sends(fd, "sleep 1000");
	WAIT_FOR(peer_read(run.p, refuse, NULL, UINT64_MAX) == -ENOMEM);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(losses_are_those_told_last_of_each_run),
		TEST(frames_that_are_not_known_are_counted_over_all_runs),
		TEST(after_a_start_nothing_has_come),
		TEST(a_line_that_was_cut_off_ends_with_its_run),
		TEST(time_that_is_over_ends_a_turn),
		TEST(what_becomes_of_an_event_is_returned),
	};

	return cmocka_run_group_tests_name("runs of a peer", tests, NULL, NULL);
}
