// SPDX-License-Identifier: GPL-2.0-only
/* What an input knows of the stream that it reads, and what it reports at the end. */
#include <errno.h>
#include <fcntl.h>

#include "core/array.h"
#include "stream/reader.h"
#include "streams.h"

/* The wall clock when CLOCK_MONOTONIC is 0. */
#define BOOT 1000000000ULL

static struct stream_event command(uint64_t submit, uint64_t complete)
{
	struct stream_event e = {.type = STREAM_RECORD, .record = {.side = NT_HOST, .length = 1}};

	e.record.points[NT_H_SUBMIT] = submit;
	e.record.points[NT_H_COMPLETE] = complete;
	return e;
}

static struct stream_event clock_at(uint64_t ns)
{
	return (struct stream_event){
		.type = STREAM_CLOCK,
		.clock = {.monotonic_ns = ns, .realtime_ns = (int64_t)(BOOT + ns)}};
}

/* A host's stream with two bursts and four commands that are out of order. */
static int recorded(void)
{
	const struct stream_header host = {.side = NT_HOST, .hostname = "a host", .sample = 3};
	int fd = file_make();
	struct stream_writer *w = stream_writer_new(fd, &host);
	struct stream_event burst = {.type = STREAM_BURST};

	assert_non_null(w);
	must_write(w, clock_at(100));
	burst.burst.began_ns = 100;
	burst.burst.ended_ns = 400;
	must_write(w, burst);
	must_write(w, command(150, 390));
	must_write(w, command(120, 300));
	/* Commands with an unknown beginning, and with an unknown end. */
	must_write(w, command(0, 380));
	must_write(w, command(180, 0));
	burst.burst.began_ns = 500;
	burst.burst.ended_ns = 550;
	must_write(w, burst);
	must_write(w, (struct stream_event){.type = STREAM_LOSSES, .losses = {.unknown = 2}});
	must_write(w, (struct stream_event){.type = STREAM_END, .end = {.losses = {.unknown = 5}}});
	stream_writer_free(w);
	return fd;
}

static void open_fd(struct input *in, int fd)
{
	static char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(input_open(in, path), 0);
}

static unsigned int read_all(struct input *in)
{
	struct stream_event e;
	unsigned int n = 0;

	while (input_read(in, &e))
		n++;
	assert_true(in->ended);
	assert_int_equal(input_read(in, &e), 0);
	return n;
}

static void what_was_read_is_known_however_often(void **state)
{
	int fd = recorded();
	struct input in;

	open_fd(&in, fd);
	assert_true(in.again);
	assert_false(in.unfed || in.begun || in.ended);
	assert_true(in.now == INT64_MIN);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(read_all(&in), 10);
		assert_true(in.begun);
		assert_string_equal(in.header.hostname, "a host");
		assert_int_equal(in.header.sample, 3);
		assert_int_equal(in.records, 4);
		assert_int_equal(in.first_ns, 120);
		assert_int_equal(in.last_ns, 390);
		assert_int_equal(in.bursts, 2);
		assert_int_equal(in.burst_ns, 350);
		assert_int_equal(in.losses.unknown, 5);
		assert_int_equal(in.to_common, BOOT);
		assert_float_equal(input_seconds(&in), 270e-9, 1e-15);
		assert_int_equal(in.result, 0);
		assert_false(input_failed(&in));
		assert_int_equal(input_rewind(&in), 0);
		assert_false(in.begun || in.ended);
		assert_int_equal(in.records + in.first_ns + in.last_ns + in.bursts + in.burst_ns,
				 0);
		assert_true(in.now == INT64_MIN);
	}
	input_close(&in);
	close(fd);
}

/* The position in the recording, on the common time axis of the inputs. */
static void now_is_the_end_of_the_last_command(void **state)
{
	static const int64_t now[] = {100, 100, 390, 300, 380, 180, 180, 180, 180};
	int fd = recorded();
	struct stream_event e;
	struct input in;

	open_fd(&in, fd);
	for (unsigned int lined_up = 0; lined_up < 2; lined_up++) {
		if (lined_up) {
			in.lined_up = true;
			in.to_common = 7;
		}
		assert_true(input_read(&in, &e));
		assert_int_equal(e.type, STREAM_HEADER);
		assert_true(in.now == INT64_MIN);
		for (unsigned int i = 0; i < ARRAY_SIZE(now); i++) {
			assert_true(input_read(&in, &e));
			assert_int_equal(in.now, now[i] + (lined_up ? 7 : (int64_t)BOOT));
		}
		assert_int_equal(input_rewind(&in), 0);
	}
	input_close(&in);
	close(fd);
}

static void a_stream_that_breaks_off_has_not_failed_and_no_stream_has(void **state)
{
	int fd = recorded(), cut;
	struct bytes all = file_bytes(fd);
	struct input in;

	for (unsigned int i = 0; i < 3; i++) {
		static const char none[] = "this is no stream at all, but a text";
		const struct bytes part[] = {
			{all.p, all.n - 1}, {all.p, 0}, {(uint8_t *)none, sizeof(none)}};

		cut = file_of(part[i].p, part[i].n);
		open_fd(&in, cut);
		read_all(&in);
		assert_true(in.result < 0);
		assert_int_equal(input_failed(&in), i > 0);
		input_close(&in);
		close(cut);
	}
	free(all.p);
	close(fd);
}

static void what_cannot_be_read_is_refused(void **state)
{
	struct input in;
	int p[2];

	assert_int_equal(input_open(&in, "/nonexistent"), -ENOENT);
	input_close(&in);
	assert_int_equal(input_open(&in, "/"), -EISDIR);
	input_close(&in);
	/* A pipe can be read only once. */
	assert_int_equal(pipe(p), 0);
	open_fd(&in, p[0]);
	assert_false(in.again);
	assert_false(in.unfed);
	assert_int_equal(input_rewind(&in), -ESPIPE);
	input_close(&in);
	close(p[0]);
	close(p[1]);
}

static void the_same_file_is_known(void **state)
{
	int one = recorded(), other = recorded();
	struct input a, b, c;

	open_fd(&a, one);
	open_fd(&b, one);
	open_fd(&c, other);
	assert_true(input_same(&a, &b));
	assert_false(input_same(&a, &c));
	input_close(&a);
	input_close(&b);
	input_close(&c);
	close(one);
	close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_read_is_known_however_often),
		cmocka_unit_test(now_is_the_end_of_the_last_command),
		cmocka_unit_test(a_stream_that_breaks_off_has_not_failed_and_no_stream_has),
		cmocka_unit_test(what_cannot_be_read_is_refused),
		cmocka_unit_test(the_same_file_is_known),
	};

	return cmocka_run_group_tests_name("input", tests, NULL, NULL);
}
