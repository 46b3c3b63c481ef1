// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams that are cut, damaged, rearranged or made by hand: they are refused, and whatever came
 * whole before is used.
 */
#include <errno.h>

#include "stream/reader.h"
#include "streams.h"

static void a_stream_cut_anywhere_gives_what_was_whole(void **state)
{
	struct bytes b = small_stream();
	/* The end of the current frame, and the number of events up to there. */
	size_t next = PREAMBLE;
	unsigned int events = 0, whole = 0;
	int ret;

	for (size_t n = 0; n < b.n; n++) {
		if (n >= PREAMBLE && n == frame_next(&b, next)) {
			events += b.p[next + 4] == STREAM_RECORD && whole == 3 ? SMALL_RECORDS : 1;
			whole++;
			next = n;
		}
		assert_int_equal(count_events(b.p, n, &ret), events);
		assert_int_equal(ret, -ENODATA);
	}
	assert_int_equal(count_events(b.p, b.n, &ret), events + 1);
	assert_int_equal(ret, 0);
	free(b.p);
}

static void no_flipped_bit_goes_unnoticed(void **state)
{
	struct bytes b = small_stream();
	int ret;

	for (size_t bit = 0; bit < b.n * 8; bit++) {
		size_t before = 0, at = PREAMBLE, events;

		b.p[bit / 8] ^= 1 << bit % 8;
		events = count_events(b.p, b.n, &ret);
		if (ret != -EBADMSG && ret != -EPROTO)
			fail_msg("bit %zu: %d", bit, ret);
		b.p[bit / 8] ^= 1 << bit % 8;
		for (; frame_next(&b, at) <= bit / 8; at = frame_next(&b, at))
			before += before == 3 ? SMALL_RECORDS : 1;
		if (bit / 8 >= PREAMBLE)
			assert_int_equal(events, before);
		else
			assert_int_equal(events, 0);
	}
	free(b.p);
}

static void damage_is_told_with_its_offset(void **state)
{
	struct bytes b = small_stream();
	size_t at = frame_find(&b, STREAM_RECORD);
	struct stream_event e;
	char where[32];
	int fd;
	struct stream_reader *r;

	b.p[at + HEAD + 5] ^= 0x10;
	r = reader_of(b.p, b.n, &fd);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(stream_read(r, &e), 1);
	must_fail(r, -EBADMSG);
	assert_int_equal(stream_offset(r), at);
	snprintf(where, sizeof(where), "byte %zu: ", at);
	assert_memory_equal(stream_error(r), where, strlen(where));
	reader_done(r, fd);
	free(b.p);
}

static void a_record_before_the_header_is_refused(void **state)
{
	struct bytes b = small_stream();
	size_t at = frame_find(&b, STREAM_RECORD);
	int ret, fd;
	struct stream_reader *r;

	memmove(b.p + PREAMBLE, b.p + at, b.n - at);
	b.n -= at - PREAMBLE;
	r = reader_of(b.p, b.n, &fd);
	must_fail(r, -EPROTO);
	reader_done(r, fd);
	put_le32(b.p + PREAMBLE + 8, 0);
	frame_sum(b.p + PREAMBLE);
	assert_int_equal(count_events(b.p, b.n, &ret), 0);
	assert_int_equal(ret, -EPROTO);
	free(b.p);
}

static void a_missing_or_repeated_frame_is_refused(void **state)
{
	struct bytes b = small_stream();
	size_t at = frame_find(&b, STREAM_CLOCK), next = frame_next(&b, at);
	uint8_t *p = malloc(2 * b.n);
	int ret;

	memcpy(p, b.p, at);
	memcpy(p + at, b.p + next, b.n - next);
	assert_int_equal(count_events(p, b.n - (next - at), &ret), 1);
	assert_int_equal(ret, -EBADMSG);
	memcpy(p, b.p, next);
	memcpy(p + next, b.p + at, b.n - at);
	assert_int_equal(count_events(p, b.n + next - at, &ret), 2);
	assert_int_equal(ret, -EBADMSG);
	free(p);
	free(b.p);
}

static void a_second_header_is_refused(void **state)
{
	struct bytes b = small_stream();
	size_t at = frame_find(&b, STREAM_CLOCK);
	uint8_t *p = malloc(2 * b.n);
	int ret;

	memcpy(p, b.p, at);
	memcpy(p + at, b.p + PREAMBLE, at - PREAMBLE);
	put_le32(p + at + 8, 1);
	frame_sum(p + at);
	assert_int_equal(count_events(p, at + at - PREAMBLE, &ret), 1);
	assert_int_equal(ret, -EPROTO);
	free(p);
	free(b.p);
}

static void concatenated_streams_are_refused(void **state)
{
	struct bytes b = small_stream();
	uint8_t *p = malloc(2 * b.n);
	size_t end = frame_find(&b, STREAM_END);
	struct stream_event e;
	struct stream_reader *r;
	int fd, ret;

	memcpy(p, b.p, b.n);
	memcpy(p + b.n, b.p, b.n);
	r = reader_of(p, 2 * b.n, &fd);
	do {
		assert_int_equal(stream_read(r, &e), 1);
	} while (e.type != STREAM_END);
	must_fail(r, -EBADMSG);
	assert_int_equal(stream_offset(r), b.n);
	assert_non_null(strstr(stream_error(r), "data after the end"));
	reader_done(r, fd);
	/* A single byte more is refused as well. */
	count_events(p, b.n + 1, &ret);
	assert_int_equal(ret, -EBADMSG);
	/* The first stream was cut between two frames. */
	memcpy(p + end, b.p, b.n);
	r = reader_of(p, end + b.n, &fd);
	do {
		ret = stream_read(r, &e);
	} while (ret == 1);
	assert_int_equal(ret, -EBADMSG);
	assert_non_null(strstr(stream_error(r), "another stream"));
	reader_done(r, fd);
	free(p);
	free(b.p);
}

static void another_version_is_refused_by_number(void **state)
{
	struct bytes b = small_stream();
	struct stream_reader *r;
	int fd;

	b.p[8] = 77;
	r = reader_of(b.p, b.n, &fd);
	must_fail(r, -EPROTO);
	assert_non_null(strstr(stream_error(r), "version 77"));
	assert_non_null(strstr(stream_error(r), "reads version 3"));
	reader_done(r, fd);
	free(b.p);
}

static void text_is_refused_at_its_first_byte(void **state)
{
	struct stream_reader *r;
	int p[2];

	assert_int_equal(pipe(p), 0);
	assert_int_equal(write(p[1], "s", 1), 1);
	r = stream_reader_new(p[0]);
	/* The pipe stays open, like that of a peer that waits for something. */
	must_fail(r, -EPROTO);
	assert_non_null(strstr(stream_error(r), "not a recording"));
	stream_reader_free(r);
	close(p[0]);
	close(p[1]);
}

static void a_stream_that_passed_a_terminal_is_refused(void **state)
{
	static const char changed[] = "\x89NTP\r\r\n\x1a\r\n\x01\0\0";
	struct stream_reader *r;
	int fd;

	r = reader_of((const uint8_t *)changed, sizeof(changed), &fd);
	must_fail(r, -EPROTO);
	assert_non_null(strstr(stream_error(r), "terminal"));
	reader_done(r, fd);
}

static void a_huge_length_is_refused(void **state)
{
	static const uint32_t lengths[] = {PAYLOAD_MAX + 1, 1u << 31, UINT32_MAX};
	struct bytes b = small_stream();
	size_t at = frame_find(&b, STREAM_CLOCK);
	int ret;

	for (unsigned int i = 0; i < 3; i++) {
		put_le32(b.p + at, lengths[i]);
		put_le32(b.p + at + 16, crc32(0, b.p + at, 16));
		assert_int_equal(count_events(b.p, b.n, &ret), 1);
		assert_int_equal(ret, -EBADMSG);
	}
	free(b.p);
}

static void unknown_frames_are_skipped_and_counted(void **state)
{
	struct bytes b = small_stream(), c = with_frame(&b, 4711, "what will be", 12),
		     d = with_frame(&c, 0, "", 0);
	struct stream_event e;
	struct stream_reader *r;
	unsigned int events = 0;
	int fd, ret;

	r = reader_of(d.p, d.n, &fd);
	while ((ret = stream_read(r, &e)) == 1)
		events++;
	assert_int_equal(ret, 0);
	assert_int_equal(events, count_events(b.p, b.n, &ret));
	assert_int_equal(stream_skipped(r), 2);
	reader_done(r, fd);
	free(b.p);
	free(c.p);
	free(d.p);
}

/*
 * A reader begins with room for the frames that writers make. Here it has to enlarge its buffer in
 * the middle of a stream.
 */
static void what_lies_around_a_frame_of_any_length_is_read(void **state)
{
	static const size_t lengths[] = {STREAM_FRAME_MAX - 2 * HEAD,
					 STREAM_FRAME_MAX - HEAD - 1,
					 STREAM_FRAME_MAX - HEAD,
					 STREAM_FRAME_MAX - HEAD + 1,
					 STREAM_FRAME_MAX,
					 PAYLOAD_MAX - 1,
					 PAYLOAD_MAX};
	uint8_t *payload = calloc(1, PAYLOAD_MAX);
	struct bytes b = small_stream();
	unsigned int all;
	int ret;

	all = count_events(b.p, b.n, &ret);
	for (unsigned int i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct bytes c = with_frame(&b, 99, payload, lengths[i]),
			     d = with_frame(&c, 99, payload, PAYLOAD_MAX);

		assert_int_equal(count_events(c.p, c.n, &ret), all);
		assert_int_equal(ret, 0);
		assert_int_equal(count_events(d.p, d.n, &ret), all);
		assert_int_equal(ret, 0);
		free(c.p);
		free(d.p);
	}
	free(payload);
	free(b.p);
}

static void endless_unknown_frames_are_refused(void **state)
{
	struct bytes b = small_stream();
	size_t at = frame_find(&b, STREAM_CLOCK), n = 32 << 20, frames = n / (HEAD + PAYLOAD_MAX);
	uint8_t *p = calloc(1, n);
	struct stream_reader *r;
	struct stream_event e;
	int fd;

	memcpy(p, b.p, at);
	for (size_t i = 0; i + 1 < frames; i++) {
		uint8_t *f = p + at + i * (HEAD + PAYLOAD_MAX);

		put_le32(f, PAYLOAD_MAX);
		f[4] = 99;
		put_le32(f + 8, i + 1);
		frame_sum(f);
	}
	r = reader_of(p, n, &fd);
	assert_int_equal(stream_read(r, &e), 1);
	must_fail(r, -EPROTO);
	assert_true(stream_skipped(r) < 70);
	reader_done(r, fd);
	free(p);
	free(b.p);
}

static void a_side_that_is_none_is_refused(void **state)
{
	struct bytes b = small_stream();
	int ret;

	b.p[PREAMBLE + HEAD] = NT_SIDES;
	frame_sum(b.p + PREAMBLE);
	assert_int_equal(count_events(b.p, b.n, &ret), 0);
	assert_int_equal(ret, -EBADMSG);
	free(b.p);
}

static void an_end_that_counts_otherwise_is_refused(void **state)
{
	struct bytes b = small_stream();
	size_t at = frame_find(&b, STREAM_END);
	unsigned int events;
	int ret;

	events = count_events(b.p, b.n, &ret);
	assert_int_equal(ret, 0);
	b.p[at + HEAD]++;
	frame_sum(b.p + at);
	assert_int_equal(count_events(b.p, b.n, &ret), events - 1);
	assert_int_equal(ret, -EBADMSG);
	free(b.p);
}

static void unknown_flags_are_refused(void **state)
{
	struct bytes b = small_stream();
	size_t at = frame_find(&b, STREAM_CLOCK);
	int ret;

	b.p[at + 6] = 1;
	frame_sum(b.p + at);
	assert_int_equal(count_events(b.p, b.n, &ret), 1);
	assert_int_equal(ret, -EPROTO);
	free(b.p);
}

static void a_frame_with_wrong_contents_is_refused(void **state)
{
	/*
	 * A payload that is too short, a string beyond the end, one that is too long for its field,
	 * and a NUL inside one.
	 */
	static const struct {
		uint16_t type;
		const char *payload;
		size_t n;
	} frames[] = {
		{STREAM_CLOCK, "", 0},
		{STREAM_CLOCK, "1234567812345678", 15},
		{STREAM_LOSSES, "\1\0\5abc", 6},
		{STREAM_LOSSES, "\xff\xff", 2},
		{STREAM_LOSSES, "\1\0\3a\0b12345678", 14},
		{STREAM_LOSSES,
		 "\1\0\100aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa12345678",
		 75},
		{STREAM_QUEUE, "123412341212", 12},
		{STREAM_RECORD, "", 0},
		{STREAM_RECORD, "\0\0\0\0\0\0\0\0", 8},
		/*
		 * The kind and the connection are defined, and a point is announced that is
		 * missing.
		 */
		{STREAM_RECORD,
		 "\0\0\0\0\0\3\0\0"
		 "\0\0\0"
		 "12123412341234"
		 "123412341212",
		 37},
		/* Connection 1, and then kind 1, where number 0 is not defined yet. */
		{STREAM_RECORD,
		 "\0\0\0\x10\0\0\0\0"
		 "\0\0\0"
		 "12123412341234"
		 "123412341212",
		 37},
		{STREAM_RECORD,
		 "\0\0\1\0\0\0\0\0"
		 "\0\0\0"
		 "12123412341234"
		 "123412341212",
		 37},
		/* The operation and the shape are out of range. */
		{STREAM_RECORD,
		 "\0\0\0\0\0\0\0\0"
		 "\x8\0\0"
		 "12123412341234"
		 "123412341212",
		 37},
		{STREAM_RECORD,
		 "\0\0\0\0\0\0\0\0"
		 "\0\0\5"
		 "12123412341234"
		 "123412341212",
		 37},
	};
	struct bytes b = small_stream();
	int ret;

	for (unsigned int i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		struct bytes c = with_frame(&b, frames[i].type, frames[i].payload, frames[i].n);
		unsigned int events = count_events(c.p, c.n, &ret);

		if (events != 2 || ret != -EBADMSG)
			fail_msg("frame %u: %u events, then %d", i, events, ret);
		free(c.p);
	}
	free(b.p);
}

static void a_hand_made_record_is_understood(void **state)
{
	static const char payload[] = "\x34\x12\0\0\x40\x07\0\0"
				      "\1\1\2\3\4\5\0\0\0\6\0\0\0\0\x10\0\0"
				      "\7\0\0\0\x8\0\0\0\x9\0\xa\0"
				      "\x78\x56\x34\x12"
				      "\1\0"
				      "\0\0\x80\0\0\0\0\0";
	struct bytes b = small_stream(),
		     c = with_frame(&b, STREAM_RECORD, payload, sizeof(payload) - 1);
	struct stream_event e;
	struct stream_reader *r;
	int fd;

	r = reader_of(c.p, c.n, &fd);
	assert_int_equal(stream_read(r, &e), 1);
	assert_int_equal(stream_read(r, &e), 1);
	if (stream_read(r, &e) != 1)
		fail_msg("%s", stream_error(r));
	assert_int_equal(e.type, STREAM_RECORD);
	assert_int_equal(e.record.side, NT_TARGET);
	assert_int_equal(e.record.op, NT_OP_WRITE);
	assert_int_equal(e.record.opcode, 1);
	assert_int_equal(e.record.shape, NT_SHAPE_R2T_WRITE);
	assert_int_equal(e.record.cid, 0x1234);
	assert_int_equal(e.record.status, 0x403);
	assert_int_equal(e.record.flags, 5);
	assert_int_equal(e.record.nsid, 6);
	assert_int_equal(e.record.length, 4096);
	assert_int_equal(e.record.slot, 7);
	assert_int_equal(e.record.gen, 8);
	assert_int_equal(e.record.qid, 9);
	assert_int_equal(e.record.cntlid, 10);
	assert_int_equal(e.record.slba, 0x12345678);
	assert_int_equal(e.record.points[1], (1 << 23) - 1);
	assert_true(e.record.points[0] == (uint64_t)-1);
	reader_done(r, fd);
	free(b.p);
	free(c.p);
}

static void bursts_of_more_time_than_there_is_do_not_add_up_to_little(void **state)
{
	const struct stream_burst bursts[] = {{1, UINT64_MAX}, {5, 3}, {1, 1000}};
	struct stream_event e = clock_event();
	struct stream_writer *w;
	struct input in;
	char path[32];
	int fd;

	fd = file_make();
	w = writer_make(fd);
	must_write(w, e);
	for (int i = 0; i < 3; i++)
		must_write(w, (struct stream_event){.type = STREAM_BURST, .burst = bursts[i]});
	must_write(w, (struct stream_event){.type = STREAM_END});
	stream_writer_free(w);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd);
	assert_int_equal(input_open(&in, path), 0);
	while (input_read(&in, &e))
		;
	assert_int_equal(in.result, 0);
	assert_int_equal(in.bursts, 3);
	assert_true(in.burst_ns == UINT64_MAX);
	input_close(&in);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stream_cut_anywhere_gives_what_was_whole),
		cmocka_unit_test(no_flipped_bit_goes_unnoticed),
		cmocka_unit_test(damage_is_told_with_its_offset),
		cmocka_unit_test(a_record_before_the_header_is_refused),
		cmocka_unit_test(a_missing_or_repeated_frame_is_refused),
		cmocka_unit_test(a_second_header_is_refused),
		cmocka_unit_test(concatenated_streams_are_refused),
		cmocka_unit_test(another_version_is_refused_by_number),
		cmocka_unit_test(text_is_refused_at_its_first_byte),
		cmocka_unit_test(a_stream_that_passed_a_terminal_is_refused),
		cmocka_unit_test(a_huge_length_is_refused),
		cmocka_unit_test(unknown_frames_are_skipped_and_counted),
		cmocka_unit_test(what_lies_around_a_frame_of_any_length_is_read),
		cmocka_unit_test(endless_unknown_frames_are_refused),
		cmocka_unit_test(a_side_that_is_none_is_refused),
		cmocka_unit_test(an_end_that_counts_otherwise_is_refused),
		cmocka_unit_test(unknown_flags_are_refused),
		cmocka_unit_test(a_frame_with_wrong_contents_is_refused),
		cmocka_unit_test(a_hand_made_record_is_understood),
		cmocka_unit_test(bursts_of_more_time_than_there_is_do_not_add_up_to_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
