// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing where it is not accepted: pipes, a terminal, a file with a size limit, and /dev/full.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/output.h"

#define SIZE 262144
#define PIECE 1000
#define LONG_NS 60000000000ULL
#define SHORT_NS 20000000ULL

struct joint {
	int reader;
	int writer;
	struct output *o;
};

static struct joint joint_of(int reader, int writer)
{
	struct joint j = {reader, writer, output_new(writer, SIZE)};

	assert_non_null(j.o);
	return j;
}

static struct joint pipe_make(void)
{
	int p[2];

	assert_int_equal(pipe(p), 0);
	return joint_of(p[0], p[1]);
}

static void joint_done(struct joint *j)
{
	output_free(j->o);
	close(j->writer);
	if (j->reader >= 0)
		close(j->reader);
}

/* Piece number @i. Its bytes contain the number. */
static const uint8_t *piece(unsigned int i)
{
	static uint8_t p[PIECE];

	memset(p, 'a' + i % 26, sizeof(p));
	memcpy(p, &i, sizeof(i));
	p[PIECE - 1] = '\n';
	return p;
}

/* Adds pieces until there is no room. Return: how many */
static unsigned int fill(struct output *o)
{
	unsigned int n = 0;
	int err;

	while (!(err = output_put(o, piece(n), PIECE, 1)))
		n++;
	assert_int_equal(err, -EAGAIN);
	return n;
}

/* Waits until the thread has written as much as fits without a reader. */
static void wait_until_stuck(struct output *o)
{
	uint64_t before = UINT64_MAX;

	output_flush(o);
	while (output_settle(o, -1, SHORT_NS) == -ETIMEDOUT && output_written(o) != before)
		before = output_written(o);
}

static void read_all(int fd, uint8_t *p, size_t n)
{
	while (n) {
		ssize_t got = read(fd, p, n);

		assert_true(got > 0);
		p += got;
		n -= (size_t)got;
	}
}

static void must_read(int fd, unsigned int first, unsigned int nr)
{
	uint8_t p[PIECE];

	for (unsigned int i = first; i < first + nr; i++) {
		read_all(fd, p, sizeof(p));
		assert_memory_equal(p, piece(i), PIECE);
	}
}

/* Waits for the event that reports an error. */
static void must_fail(struct output *o, int err)
{
	struct pollfd p = {.fd = output_event_fd(o), .events = POLLIN};

	assert_int_equal(poll(&p, 1, (int)(LONG_NS / 1000000)), 1);
	assert_int_equal(output_error(o), err);
	assert_int_equal(output_put(o, "", 1, 0), err);
	assert_int_equal(output_settle(o, -1, LONG_NS), err);
}

static void what_is_put_is_written_in_order(void **state)
{
	struct joint j = pipe_make();

	for (unsigned int i = 0; i < 10000; i += 10) {
		for (unsigned int k = i; k < i + 10; k++)
			assert_int_equal(output_put(j.o, piece(k), PIECE, 1), 0);
		output_flush(j.o);
		must_read(j.reader, i, 10);
	}
	assert_int_equal(output_settle(j.o, -1, LONG_NS), 0);
	assert_true(output_idle(j.o));
	assert_int_equal(output_written(j.o), 10000 * PIECE);
	joint_done(&j);
}

static void a_write_s_worth_needs_no_flush(void **state)
{
	struct joint j = pipe_make();

	for (unsigned int i = 0; i < 70; i++)
		assert_int_equal(output_put(j.o, piece(i), PIECE, 1), 0);
	must_read(j.reader, 0, 60);
	joint_done(&j);
}

static void a_reader_that_does_not_read_costs_no_more_than_the_buffer(void **state)
{
	struct joint j = pipe_make();
	unsigned int n = fill(j.o), more;

	wait_until_stuck(j.o);
	more = fill(j.o);
	assert_true((n + more) * PIECE <= SIZE + 2 * 65536);
	assert_true(output_room(j.o) < PIECE);
	assert_int_equal(fcntl(j.writer, F_GETFL) & O_NONBLOCK, 0);
	joint_done(&j);
}

static void a_reader_that_comes_back_finds_whole_pieces(void **state)
{
	struct joint j = pipe_make();
	unsigned int n;

	n = fill(j.o);
	wait_until_stuck(j.o);
	must_read(j.reader, 0, n);
	assert_int_equal(output_settle(j.o, -1, LONG_NS), 0);
	assert_int_equal(output_put(j.o, piece(7), PIECE, 1), 0);
	output_flush(j.o);
	must_read(j.reader, 7, 1);
	joint_done(&j);
}

static void a_piece_larger_than_the_buffer_goes_alone(void **state)
{
	struct joint j = pipe_make();
	size_t n = 3 * SIZE;
	uint8_t *large = malloc(n), *got = malloc(n);

	assert_non_null(large);
	assert_non_null(got);
	for (size_t i = 0; i < n; i++)
		large[i] = (uint8_t)(i * 7 + i / 256);
	assert_int_equal(output_put(j.o, large, n, 1), 0);
	assert_int_equal(output_put(j.o, large, n, 1), -EAGAIN);
	output_flush(j.o);
	read_all(j.reader, got, n);
	assert_memory_equal(got, large, n);
	free(large);
	free(got);
	joint_done(&j);
}

static void who_waits_for_a_reader_that_does_not_read_is_hurried(void **state)
{
	struct joint j = pipe_make();
	int hurry = eventfd(0, 0);
	uint64_t one = 1;

	fill(j.o);
	assert_int_equal(write(hurry, &one, sizeof(one)), sizeof(one));
	assert_int_equal(output_settle(j.o, hurry, SHORT_NS), -ETIMEDOUT);
	assert_int_equal(output_error(j.o), 0);
	close(hurry);
	joint_done(&j);
}

static void what_has_not_begun_is_taken_back(void **state)
{
	struct joint j = pipe_make();
	struct output_rest rest;

	fill(j.o);
	wait_until_stuck(j.o);
	fill(j.o);
	assert_int_equal(output_cut(j.o, &rest), 0);
	assert_true(rest.pieces > 0);
	assert_int_equal(rest.weight, rest.pieces);
	assert_int_equal(rest.bytes, (uint64_t)rest.pieces * PIECE);
	assert_int_equal(output_put(j.o, "the end", 7, 1), 0);
	output_flush(j.o);
	/* A piece that was begun is complete, and the last piece follows it directly. */
	for (;;) {
		uint8_t p[PIECE];
		unsigned int i;

		read_all(j.reader, p, 7);
		if (!memcmp(p, "the end", 7))
			break;
		read_all(j.reader, p + 7, PIECE - 7);
		memcpy(&i, p, sizeof(i));
		assert_memory_equal(p, piece(i), PIECE);
	}
	assert_int_equal(output_settle(j.o, -1, LONG_NS), 0);
	joint_done(&j);
}

static void a_reader_that_goes_is_noticed_without_writing(void **state)
{
	struct joint j = pipe_make();

	close(j.reader);
	j.reader = -1;
	must_fail(j.o, -EPIPE);
	joint_done(&j);
}

static void a_reader_that_goes_while_the_pipe_is_full_is_noticed(void **state)
{
	struct joint j = pipe_make();
	struct output_rest rest;

	fill(j.o);
	wait_until_stuck(j.o);
	close(j.reader);
	j.reader = -1;
	must_fail(j.o, -EPIPE);
	assert_int_equal(output_cut(j.o, &rest), -EPIPE);
	joint_done(&j);
}

static void a_socket_is_written_and_its_reader_watched(void **state)
{
	struct joint j;
	int s[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	j = joint_of(s[0], s[1]);
	assert_int_equal(output_put(j.o, piece(0), PIECE, 1), 0);
	output_flush(j.o);
	must_read(j.reader, 0, 1);
	/* A peer that sends no more may still read, like ssh when its input has ended. */
	assert_int_equal(shutdown(j.reader, SHUT_WR), 0);
	assert_int_equal(output_put(j.o, piece(1), PIECE, 1), 0);
	output_flush(j.o);
	must_read(j.reader, 1, 1);
	fill(j.o);
	wait_until_stuck(j.o);
	assert_int_equal(fcntl(j.writer, F_GETFL) & O_NONBLOCK, 0);
	close(j.reader);
	j.reader = -1;
	must_fail(j.o, -EPIPE);
	joint_done(&j);
}

static struct joint terminal_make(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	if (master < 0 || grantpt(master) || unlockpt(master))
		skip();
	return joint_of(master, open(ptsname(master), O_RDWR | O_NOCTTY));
}

static void a_terminal_that_is_stopped_holds_nobody_up(void **state)
{
	struct joint j = terminal_make();
	char got[64];

	assert_int_equal(tcflow(j.writer, TCOOFF), 0);
	assert_int_equal(output_put(j.o, "shown", 5, 1), 0);
	assert_int_equal(output_settle(j.o, -1, SHORT_NS), -ETIMEDOUT);
	assert_false(output_idle(j.o));
	fill(j.o);
	assert_int_equal(output_settle(j.o, -1, SHORT_NS), -ETIMEDOUT);
	assert_int_equal(fcntl(j.writer, F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(tcflow(j.writer, TCOON), 0);
	read_all(j.reader, (uint8_t *)got, 5);
	assert_memory_equal(got, "shown", 5);
	joint_done(&j);
}

static void a_terminal_that_is_stopped_can_be_left(void **state)
{
	struct joint j = terminal_make();

	assert_int_equal(tcflow(j.writer, TCOOFF), 0);
	fill(j.o);
	output_flush(j.o);
	output_free(j.o);
	/* The close waits until the terminal has shown everything. */
	assert_int_equal(tcflow(j.writer, TCOON), 0);
	close(j.reader);
	close(j.writer);
}

static void a_terminal_that_goes_is_noticed(void **state)
{
	struct joint j = terminal_make();

	close(j.reader);
	j.reader = -1;
	must_fail(j.o, -EPIPE);
	joint_done(&j);
}

static void a_full_device_is_an_error(void **state)
{
	int fd = open("/dev/full", O_WRONLY);
	struct output *o;

	if (fd < 0)
		skip();
	o = output_new(fd, SIZE);
	assert_int_equal(output_put(o, piece(0), PIECE, 1), 0);
	output_flush(o);
	must_fail(o, -ENOSPC);
	output_free(o);
	close(fd);
}

static void a_full_disk_leaves_whole_pieces_and_room_for_a_last_one(void **state)
{
	struct rlimit old, limit;
	struct output_rest rest;
	struct output *o;
	uint8_t p[PIECE];
	int fd = memfd_create("disk", MFD_CLOEXEC);

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 10 * PIECE + 100;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	o = output_new(fd, SIZE);
	for (unsigned int i = 0; i < 20; i++)
		assert_int_equal(output_put(o, piece(i), PIECE, 2), 0);
	output_flush(o);
	must_fail(o, -EFBIG);
	assert_int_equal(output_written(o), 10 * PIECE);
	assert_int_equal(lseek(fd, 0, SEEK_END), 10 * PIECE);
	assert_int_equal(output_cut(o, &rest), 0);
	assert_int_equal(rest.pieces, 10);
	assert_int_equal(rest.weight, 20);
	assert_int_equal(output_put(o, "end", 3, 0), 0);
	assert_int_equal(output_settle(o, -1, LONG_NS), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 10 * PIECE + 3);
	lseek(fd, 0, SEEK_SET);
	must_read(fd, 0, 10);
	read_all(fd, p, 3);
	assert_memory_equal(p, "end", 3);
	output_free(o);
	close(fd);
}

static void a_descriptor_that_others_made_nonblocking_is_waited_for(void **state)
{
	struct joint j = pipe_make();
	unsigned int n;

	assert_int_equal(fcntl(j.writer, F_SETFL, O_NONBLOCK), 0);
	n = fill(j.o);
	wait_until_stuck(j.o);
	must_read(j.reader, 0, n);
	assert_int_equal(output_settle(j.o, -1, LONG_NS), 0);
	joint_done(&j);
}

static void signals_are_left_to_the_others(void **state)
{
	struct joint j = pipe_make();
	sigset_t set, before, pending;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	assert_int_equal(kill(getpid(), SIGTERM), 0);
	assert_int_equal(output_put(j.o, piece(0), PIECE, 1), 0);
	output_flush(j.o);
	must_read(j.reader, 0, 1);
	sigpending(&pending);
	assert_true(sigismember(&pending, SIGTERM));
	signal(SIGTERM, SIG_IGN);
	sigprocmask(SIG_SETMASK, &before, NULL);
	signal(SIGTERM, SIG_DFL);
	joint_done(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_put_is_written_in_order),
		cmocka_unit_test(a_write_s_worth_needs_no_flush),
		cmocka_unit_test(a_reader_that_does_not_read_costs_no_more_than_the_buffer),
		cmocka_unit_test(a_reader_that_comes_back_finds_whole_pieces),
		cmocka_unit_test(a_piece_larger_than_the_buffer_goes_alone),
		cmocka_unit_test(who_waits_for_a_reader_that_does_not_read_is_hurried),
		cmocka_unit_test(what_has_not_begun_is_taken_back),
		cmocka_unit_test(a_reader_that_goes_is_noticed_without_writing),
		cmocka_unit_test(a_reader_that_goes_while_the_pipe_is_full_is_noticed),
		cmocka_unit_test(a_socket_is_written_and_its_reader_watched),
		cmocka_unit_test(a_terminal_that_is_stopped_holds_nobody_up),
		cmocka_unit_test(a_terminal_that_is_stopped_can_be_left),
		cmocka_unit_test(a_terminal_that_goes_is_noticed),
		cmocka_unit_test(a_full_device_is_an_error),
		cmocka_unit_test(a_full_disk_leaves_whole_pieces_and_room_for_a_last_one),
		cmocka_unit_test(a_descriptor_that_others_made_nonblocking_is_waited_for),
		cmocka_unit_test(signals_are_left_to_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
