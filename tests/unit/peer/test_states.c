// SPDX-License-Identifier: GPL-2.0-only
/* The states of a peer, why it is in one, and which of its messages are of interest then. */
#include "peer/driven.h"

#include "in_range.h"

/* The line is complete when its end has come. Later text changes nothing. */
static void a_recorder_waits_once_it_has_said_so(void **state)
{
	does("printf 'waiting for module nvmet_tc' >&2" STEP "echo p >&2" STEP
	     "echo more >&2; sleep 1000");
	WAIT_FOR((read_some(), told().messages->nr == 1));
	assert_false(told().messages->ended);
	assert_int_equal(told().state, PEER_STARTING);
	assert_false(peer_settled(run.p));
	goes_on();
	WAIT_FOR(has_said(1));
	assert_int_equal(told().state, PEER_WAITING);
	assert_true(peer_settled(run.p));
	goes_on();
	WAIT_FOR(has_said(2));
	assert_int_equal(told().state, PEER_WAITING);
}

/* It is not the first line that counts, nor one that only contains these words. */
static void other_lines_do_not_say_that_it_waits(void **state)
{
	does("echo not waiting for module nvmet_tcp >&2; sleep 1000");
	WAIT_FOR(has_said(1));
	assert_int_equal(told().state, PEER_STARTING);
	starts_again();
	does("echo banner >&2; echo waiting for module nvmet_tcp >&2; sleep 1000");
	WAIT_FOR(has_said(3));
	assert_int_equal(told().state, PEER_WAITING);
}

static void only_the_last_lines_are_of_interest(void **state)
{
	does("for i in $(seq 20); do echo line $i >&2; done; exit 1");
	reads_to_its_end();
	assert_int_equal(told().messages->nr, 20);
	assert_int_equal(told().first_message, 20 - MESSAGES_LINES);
	assert_string_equal(messages_line(told().messages, told().first_message), "line 5");
}

/* What came before the stream is of interest as long as the peer is not well. */
static void lines_before_the_stream_matter_only_in_trouble(void **state)
{
	int alone = header_of(NT_TARGET), begun = beginning(), whole = losing_stream(true);
	const struct {
		int fd;
		const char *then;
		enum peer_state state;
		uint64_t first;
	} runs[] = {
		{alone, "sleep 1000", PEER_WAITING, 1},
		{begun, "sleep 1000", PEER_RUNNING, 1},
		{whole, "true", PEER_ENDED, 1},
		{begun, "exit 1", PEER_DIED, 0},
	};

	for (unsigned int i = 0, before = 0; i < ARRAY_SIZE(runs); i++, before++) {
		char line[256];

		snprintf(line, sizeof(line), "echo banner >&2; cat /proc/%d/fd/%d; %s",
			 (int)getpid(), runs[i].fd, runs[i].then);
		does(line);
		WAIT_FOR((read_some(), told().state == runs[i].state));
		assert_int_equal(told().messages->nr, before + 1);
		assert_int_equal(told().first_message, before + runs[i].first);
		starts_again();
	}
	close(alone);
	close(begun);
	close(whole);
}

/* More than is read at one go has come before the header: 16,000 lines of 3 bytes. */
static void all_that_came_before_the_header_is_early(void **state)
{
	int fd = beginning(), done[2];
	char line[256], end;

	assert_int_equal(pipe2(done, O_CLOEXEC), 0);
	snprintf(line, sizeof(line),
		 "yes hi | head -n 16000 >&2; cat /proc/%d/fd/%d; echo >/proc/%d/fd/%d; sleep 1000",
		 (int)getpid(), fd, (int)getpid(), done[1]);
	does(line);
	assert_int_equal(read(done[0], &end, 1), 1);
	WAIT_FOR((read_some(), told().state == PEER_RUNNING));
	WAIT_FOR(has_said(16000));
	assert_int_equal(told().first_message, 16000);
	close(fd);
	close(done[0]);
	close(done[1]);
}

/* Nothing of its stream is taken. */
static void a_stream_of_the_wrong_side_is_refused(void **state)
{
	int host = header_of(NT_HOST), target = beginning();
	char source[64];

	sends(host, "sleep 1000");
	WAIT_FOR((read_some(), peer_over(run.p)));
	assert_int_equal(told().state, PEER_REFUSED);
	assert_string_equal(told().why, "it records a host; a target is needed");
	assert_int_equal(run.events, 0);
	assert_false(peer_gone(run.p));
	peer_free(run.p);
	snprintf(source, sizeof(source), "cat /proc/%d/fd/%d", (int)getpid(), target);
	run.p = peer_new(source, NT_HOST, &myself);
	assert_non_null(run.p);
	reads_to_its_end();
	assert_int_equal(told().state, PEER_REFUSED);
	assert_string_equal(told().why, "it records a target; a host is needed");
	assert_int_equal(run.events, 0);
	close(host);
	close(target);
}

/* The exit status is the reason if no stream began, or if nothing else is known. */
static void why_a_peer_died_is_told_once(void **state)
{
	int fd = beginning();

	does("exit 5");
	reads_to_its_end();
	assert_string_equal(told().why, "");
	assert_int_equal(told().exit_status, 5);
	assert_int_equal(told().signal, 0);
	starts_again();
	does("exit 0");
	reads_to_its_end();
	assert_int_equal(told().state, PEER_DIED);
	assert_string_not_equal(told().why, "");
	assert_int_equal(told().exit_status, 0);
	starts_again();
	sends(fd, "exit 6");
	reads_to_its_end();
	assert_string_not_equal(told().why, "");
	assert_int_equal(told().exit_status, 6);
	starts_again();
	does("kill -KILL $$");
	reads_to_its_end();
	assert_string_equal(told().why, "");
	assert_int_equal(told().exit_status, 0);
	assert_int_equal(told().signal, SIGKILL);
	close(fd);
}

static void a_peer_that_we_stop_keeps_its_state(void **state)
{
	int fd = beginning();

	sends(fd, "sleep 1000");
	WAIT_FOR((read_some(), told().state == PEER_RUNNING));
	peer_stop(run.p);
	assert_string_equal(told().why, "it did not end in time when it was asked to");
	reads_to_its_end();
	assert_int_equal(told().state, PEER_RUNNING);
	assert_string_equal(told().why, "");
	close(fd);
}

/* A process that is stopped gets its SIGTERM when it continues. */
static void a_stopped_process_can_be_asked_to_end(void **state)
{
	does("trap 'echo ends >&2; exit' TERM; echo stops >&2; kill -STOP $$; sleep 1000");
	WAIT_FOR(has_said(1));
	peer_ask_to_end(run.p);
	WAIT_FOR((read_some(), peer_gone(run.p)));
	assert_int_equal(told().messages->nr, 2);
}

/* A peer that was silent for 3 s is stalled, until something comes. */
static void a_silent_peer_is_stalled(void **state)
{
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);
	char line[256];
	uint64_t began;
	long first;

	must_write(w, clock_event());
	assert_int_equal(stream_flush(w), 0);
	first = (long)stream_bytes(w);
	must_write(w, clock_event());
	assert_int_equal(stream_flush(w), 0);
	stream_writer_free(w);
	snprintf(line, sizeof(line),
		 "f=/proc/%d/fd/%d; head -c %ld $f" STEP "tail -c +%ld $f; sleep 1000",
		 (int)getpid(), fd, first, first + 1);
	began = monotonic_ns();
	does(line);
	WAIT_FOR((read_some(), told().state == PEER_RUNNING));
	assert_int_equal(run.events, 2);
	WAIT_FOR((read_some(), told().state == PEER_STALLED));
	assert_true(monotonic_ns() - began >= PEER_STALL_NS);
	assert_uint_in_range(told().silent_ns, PEER_STALL_NS, monotonic_ns() - began);
	began = monotonic_ns();
	goes_on();
	WAIT_FOR((read_some(), run.events == 3));
	assert_uint_in_range(told().silent_ns, 0, monotonic_ns() - began);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_recorder_waits_once_it_has_said_so),
		TEST(other_lines_do_not_say_that_it_waits),
		TEST(only_the_last_lines_are_of_interest),
		TEST(lines_before_the_stream_matter_only_in_trouble),
		TEST(all_that_came_before_the_header_is_early),
		TEST(a_stream_of_the_wrong_side_is_refused),
		TEST(why_a_peer_died_is_told_once),
		TEST(a_peer_that_we_stop_keeps_its_state),
		TEST(a_stopped_process_can_be_asked_to_end),
		TEST(a_silent_peer_is_stalled),
	};

	return cmocka_run_group_tests_name("states of a peer", tests, NULL, NULL);
}
