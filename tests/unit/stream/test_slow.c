// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams with a reader that is slow, stops, or has no room: every frame is whole, and every record
 * is there or counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>

#include "streams.h"

#define LONG_NS 60000000000ULL
#define SHORT_NS 20000000ULL
#define SLOW COUNTER_READER_SLOW

/**
 * struct slow - a writer, the descriptor that its stream is read from, and its records
 * @written, @left_out: number of records. Each record has its number in slba, beginning with 0
 */
struct slow {
	int reader;
	int fd;
	struct output *o;
	struct stream_writer *w;
	uint64_t written;
	uint64_t left_out;
};

static struct slow slow_of(int reader, int fd, size_t buffer)
{
	struct slow s = {.reader = reader, .fd = fd, .o = output_new(fd, buffer)};

	assert_non_null(s.o);
	s.w = stream_writer_to(s.o, &header);
	assert_non_null(s.w);
	return s;
}

static struct slow slow_pipe_of(size_t buffer)
{
	int p[2];

	assert_int_equal(pipe(p), 0);
	return slow_of(p[0], p[1], buffer);
}

static struct slow slow_pipe(void)
{
	return slow_pipe_of(STREAM_BUFFER_MIN);
}

static void slow_done(struct slow *s)
{
	stream_writer_free(s->w);
	output_free(s->o);
	close(s->fd);
	if (s->reader >= 0 && s->reader != s->fd)
		close(s->reader);
}

/* Return: as stream_write_record(). */
static int one_more(struct slow *s)
{
	struct stream_event e = random_record();
	int err;

	e.record.slba = s->written + s->left_out;
	if (stream_left_out(s->w)) {
		s->left_out++;
		return 0;
	}
	err = stream_write_record(s->w, &e.record);
	s->written += !err;
	return err;
}

static void until_records_are_left_out(struct slow *s, unsigned int nr)
{
	while (s->left_out < nr)
		assert_int_equal(one_more(s), 0);
}

/* What a reader has found. */
struct found {
	uint64_t records;
	uint64_t missing; /* gaps in the numbers of records */
	uint64_t told;	  /* the number in the last losses frame */
	uint64_t next;
	bool ended;
	uint64_t end_records;
};

/*
 * Reads a stream. The losses frame for a gap must come before the first record after it. @until:
 * number of records; UINT64_MAX: to the end
 */
static struct found find(struct stream_reader *r, uint64_t until)
{
	struct found f = {0};
	struct stream_event e;

	while (!f.ended && f.records < until && stream_read(r, &e) == 1) {
		if (e.type == STREAM_LOSSES)
			f.told = e.losses.count[SLOW];
		if (e.type == STREAM_END) {
			f.ended = true;
			f.end_records = e.end.records;
			f.told = e.end.losses.count[SLOW];
		}
		if (e.type != STREAM_RECORD)
			continue;
		f.missing += e.record.slba - f.next;
		f.next = e.record.slba + 1;
		f.records++;
		assert_int_equal(f.told, f.missing);
	}
	return f;
}

/* Records are left out, and bursts go on. The stream has its end all the same. */
static void bursts_while_nobody_reads_end_no_stream(void **state)
{
	const struct stream_event burst = {.type = STREAM_BURST,
					   .burst = {.began_ns = 1, .ended_ns = 2}},
				  losses = {.type = STREAM_LOSSES}, end = {.type = STREAM_END};
	struct slow s = slow_pipe();
	struct stream_reader *r;
	struct found f;

	random_state = 7;
	until_records_are_left_out(&s, 10);
	for (unsigned int i = 0; i < 5000; i++) {
		assert_int_equal(stream_write(s.w, &burst), 0);
		assert_int_equal(stream_write(s.w, &losses), 0);
		assert_int_equal(stream_flush(s.w), 0);
	}
	assert_int_equal(stream_write(s.w, &end), 0);
	assert_int_equal(stream_flush(s.w), 0);
	r = stream_reader_new(s.reader);
	f = find(r, UINT64_MAX);
	assert_true(f.ended);
	assert_int_equal(f.records, s.written);
	stream_reader_free(r);
	slow_done(&s);
}

static void a_file_has_every_record_or_that_it_is_missing(void **state)
{
	struct slow s = slow_of(-1, file_make(), STREAM_BUFFER_MIN);
	struct stream_event end = {.type = STREAM_END}, e;
	struct stream_reader *r;
	struct found f;

	random_state = 5;
	s.reader = s.fd;
	while (s.written < 100000)
		assert_int_equal(one_more(&s), 0);
	assert_int_equal(stream_write(s.w, &end), 0);
	stream_flush(s.w);
	assert_int_equal(output_settle(s.o, -1, LONG_NS), 0);
	lseek(s.fd, 0, SEEK_SET);
	r = stream_reader_new(s.reader);
	f = find(r, UINT64_MAX);
	assert_int_equal(stream_read(r, &e), 0);
	assert_true(f.ended);
	assert_int_equal(f.records, s.written);
	assert_int_equal(f.end_records, s.written);
	assert_int_equal(f.told, s.left_out);
	assert_int_equal(stream_reader_slow(s.w), s.left_out);
	assert_int_equal(stream_records(s.w), s.written);
	stream_reader_free(r);
	slow_done(&s);
}

/* The writer and the reader take turns. At the end the rest is read. */
static void what_a_slow_reader_misses_is_told_where_it_is_missing(void **state)
{
	struct slow s = slow_pipe();
	struct stream_reader *r = stream_reader_new(s.reader);
	struct stream_event end = {.type = STREAM_END}, e;
	uint64_t records = 0, next = 0, told = 0, missing = 0;
	bool ended = false;

	random_state = 6;
	for (int turn = 0; turn < 5; turn++) {
		uint64_t left_out = s.left_out, written;

		while (s.left_out < left_out + 100)
			assert_int_equal(one_more(&s), 0);
		stream_write(s.w, &(struct stream_event){.type = STREAM_LOSSES});
		written = s.written;
		if (turn == 4)
			assert_int_equal(stream_write(s.w, &end), 0);
		stream_flush(s.w);
		while (turn == 4 ? !ended : records < written) {
			assert_int_equal(stream_read(r, &e), 1);
			if (e.type == STREAM_LOSSES)
				told = e.losses.count[SLOW];
			if (e.type == STREAM_END) {
				told = e.end.losses.count[SLOW];
				ended = true;
			}
			if (e.type != STREAM_RECORD)
				continue;
			missing += e.record.slba - next;
			next = e.record.slba + 1;
			records++;
			assert_int_equal(told, missing);
		}
	}
	assert_int_equal(records, s.written);
	assert_int_equal(told, s.left_out);
	stream_reader_free(r);
	slow_done(&s);
}

static void losses_of_others_are_told_with_it(void **state)
{
	struct slow s = slow_pipe();
	struct stream_reader *r = stream_reader_new(s.reader);
	struct stream_event e = losses_event();
	bool told = false;

	until_records_are_left_out(&s, 1);
	/* The losses are not written while the reader is slow, but they are kept. */
	assert_int_equal(stream_write(s.w, &e), 0);
	find(r, s.written - 1);
	/* The last record is written together with the next ones. */
	while (!told) {
		struct stream_event got;

		assert_int_equal(one_more(&s), 0);
		stream_flush(s.w);
		assert_int_equal(stream_read(r, &got), 1);
		if (got.type != STREAM_LOSSES)
			continue;
		told = true;
		e.losses.count[SLOW] = s.left_out;
		assert_memory_equal(got.losses.count, e.losses.count, sizeof(e.losses.count));
	}
	stream_reader_free(r);
	slow_done(&s);
}

static void a_reader_that_does_not_read_costs_no_memory_and_no_time(void **state)
{
	struct slow s = slow_pipe();

	until_records_are_left_out(&s, 1000000);
	assert_true(stream_bytes(s.w) <= STREAM_BUFFER_MIN + 2 * 65536);
	slow_done(&s);
}

static void an_end_that_nobody_waits_for_comes_in_place_of_what_was_not_read(void **state)
{
	struct slow s = slow_pipe();
	struct stream_event end = {.type = STREAM_END};
	struct stream_reader *r = stream_reader_new(s.reader);
	struct found f;

	until_records_are_left_out(&s, 10);
	/* The writing thread has begun. If it had not, not even the end would be written. */
	assert_int_equal(poll(&(struct pollfd){s.reader, POLLIN, 0}, 1, -1), 1);
	assert_int_equal(stream_write(s.w, &end), 0);
	assert_int_equal(output_settle(s.o, -1, SHORT_NS), -ETIMEDOUT);
	assert_int_equal(stream_cut(s.w, &end), 0);
	f = find(r, UINT64_MAX);
	assert_true(f.ended);
	assert_int_equal(f.end_records, f.records);
	assert_int_equal(f.records, stream_records(s.w));
	assert_true(f.records > 0 && f.records < s.written);
	assert_int_equal(f.told, s.written + s.left_out - f.records);
	stream_reader_free(r);
	slow_done(&s);
}

/* Records that were in no frame yet are left out as well, and counted. */
static void an_end_in_place_of_what_was_gathered_tells_of_it(void **state)
{
	struct slow s = slow_pipe();
	struct stream_event end = {.type = STREAM_END};
	struct stream_reader *r = stream_reader_new(s.reader);
	struct found f;

	stream_flush(s.w);
	assert_int_equal(output_settle(s.o, -1, LONG_NS), 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(one_more(&s), 0);
	assert_int_equal(stream_cut(s.w, &end), 0);
	f = find(r, UINT64_MAX);
	assert_true(f.ended);
	assert_int_equal(f.records, 0);
	assert_int_equal(f.told, 3);
	stream_reader_free(r);
	slow_done(&s);
}

/* Takes bytes out of the pipe. */
static void take(const struct slow *s, size_t bytes)
{
	char to[4096];
	ssize_t n;

	for (; bytes; bytes -= (size_t)n) {
		n = read(s->reader, to, bytes < sizeof(to) ? bytes : sizeof(to));
		assert_true(n > 0);
	}
}

/*
 * If the writer resumed as soon as there is room, it would fall behind again with every frame that
 * is read. A read makes as much room, and the pipe another 64 KiB. The writer fell behind
 * when there was room for less than two frames.
 */
static void records_go_on_when_half_of_the_buffer_is_empty(void **state)
{
	const size_t size = 1 << 20, read_first = 100000;
	struct slow s = slow_pipe_of(size);

	until_records_are_left_out(&s, 1);
	take(&s, read_first);
	while (output_room(s.o) < read_first)
		usleep(1000);
	assert_true(stream_left_out(s.w));
	while (output_room(s.o) < size / 2)
		take(&s, 4096);
	assert_false(stream_left_out(s.w));
	slow_done(&s);
}

static void a_reader_that_goes_ends_the_stream(void **state)
{
	struct slow s = slow_pipe();
	struct stream_event end = {.type = STREAM_END};
	int err;

	close(s.reader);
	s.reader = -1;
	do {
		err = one_more(&s);
	} while (!err);
	assert_int_equal(err, -EPIPE);
	assert_int_equal(stream_write(s.w, &end), -EPIPE);
	assert_int_equal(stream_cut(s.w, &end), -EPIPE);
	slow_done(&s);
}

static void a_full_disk_leaves_a_stream_that_is_whole_and_ends(void **state)
{
	struct stream_event end = {.type = STREAM_END}, e;
	struct slow s = slow_of(-1, file_make(), STREAM_BUFFER_MIN);
	struct rlimit old, limit;
	struct stream_reader *r;
	struct found f;
	int err;

	s.reader = s.fd;
	random_state = 7;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 1000000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	do {
		err = one_more(&s);
	} while (!err);
	assert_int_equal(err, -EFBIG);
	assert_int_equal(stream_write(s.w, &end), -EFBIG);
	assert_int_equal(stream_cut(s.w, &end), 0);
	assert_int_equal(output_settle(s.o, -1, LONG_NS), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(lseek(s.fd, 0, SEEK_END), stream_bytes(s.w));
	lseek(s.fd, 0, SEEK_SET);
	r = stream_reader_new(s.reader);
	f = find(r, UINT64_MAX);
	assert_int_equal(stream_read(r, &e), 0);
	assert_true(f.ended);
	assert_int_equal(f.end_records, f.records);
	assert_true(f.records > 1000);
	assert_int_equal(f.records, stream_records(s.w));
	stream_reader_free(r);
	slow_done(&s);
}

static void a_disk_without_room_for_the_header_has_no_stream(void **state)
{
	struct stream_event end = {.type = STREAM_END};
	int fd = open("/dev/full", O_WRONLY);
	struct slow s;

	if (fd < 0)
		skip();
	s = slow_of(-1, fd, STREAM_BUFFER_MIN);
	stream_flush(s.w);
	assert_int_equal(output_settle(s.o, -1, LONG_NS), -ENOSPC);
	assert_int_equal(stream_cut(s.w, &end), -ENOSPC);
	slow_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_has_every_record_or_that_it_is_missing),
		cmocka_unit_test(bursts_while_nobody_reads_end_no_stream),
		cmocka_unit_test(what_a_slow_reader_misses_is_told_where_it_is_missing),
		cmocka_unit_test(losses_of_others_are_told_with_it),
		cmocka_unit_test(a_reader_that_does_not_read_costs_no_memory_and_no_time),
		cmocka_unit_test(an_end_that_nobody_waits_for_comes_in_place_of_what_was_not_read),
		cmocka_unit_test(an_end_in_place_of_what_was_gathered_tells_of_it),
		cmocka_unit_test(records_go_on_when_half_of_the_buffer_is_empty),
		cmocka_unit_test(a_reader_that_goes_ends_the_stream),
		cmocka_unit_test(a_full_disk_leaves_a_stream_that_is_whole_and_ends),
		cmocka_unit_test(a_disk_without_room_for_the_header_has_no_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
