// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams that are put together byte by byte from docs/stream-format.md, and additions that a later
 * version of the program may make to this one.
 */
#include <errno.h>

#include "streams.h"

/* A buffer to which bytes are appended. */
struct pen {
	uint8_t bytes[4096];
	size_t n;
	uint32_t frames;
};

static void put(struct pen *p, uint64_t v, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		p->bytes[p->n++] = (uint8_t)(v >> (8 * i));
}

static void put_text(struct pen *p, const char *s)
{
	put(p, strlen(s), 1);
	while (*s)
		put(p, (uint8_t)*s++, 1);
}

static struct pen pen_begin(uint32_t version)
{
	struct pen p = {.n = 0};

	for (const char *m = "\x89NTP\r\n\x1a\n"; *m; m++)
		put(&p, (uint8_t)*m, 1);
	put(&p, version, 4);
	return p;
}

/* Return: the position of the frame, for frame_end() */
static size_t frame_begin(struct pen *p, uint16_t type)
{
	size_t at = p->n;

	put(p, 0, 4);
	put(p, type, 2);
	put(p, 0, 2);
	put(p, p->frames++, 4);
	put(p, 0, 8);
	return at;
}

static void frame_end(struct pen *p, size_t at)
{
	put_le32(p->bytes + at, (uint32_t)(p->n - at - HEAD));
	frame_sum(p->bytes + at);
}

static void put_header(struct pen *p, uint32_t missing)
{
	size_t at = frame_begin(p, 1);

	put(p, 1, 1);
	put_text(p, "stock");
	put_text(p, "01234567-89ab-cdef-0123-456789abcdef");
	put_text(p, "a target");
	put_text(p, "6.12.0");
	put_text(p, "ntprof-bpf 0.1.0");
	put(p, 10, 4);
	put(p, missing, 4);
	put_text(p, "--op read");
	put(p, 0, 1);
	frame_end(p, at);
}

static void put_clock(struct pen *p)
{
	put(p, 1000, 8);
	put(p, (uint64_t)-5, 8);
}

static void put_losses(struct pen *p)
{
	put(p, 3, 2);
	put_text(p, "ring_full");
	put(p, 77, 8);
	put_text(p, "of another time");
	put(p, 3, 8);
	put_text(p, "of a later one");
	put(p, 5, 8);
}

/*
 * A read of 4 KiB with the points 0, 1, 6, 7, 8 and 9. Each takes 2 bytes, except the last one with
 * 8.
 */
static void put_read(struct pen *p)
{
	put(p,
	    0x1234 | 0ULL << 16 | 0ULL << 28 | 1ULL << 38 |
		    (1ULL | 1ULL << 2 | 1ULL << 12 | 1ULL << 14 | 1ULL << 16 | 3ULL << 18) << 40,
	    8);
	put(p, 0, 1);
	put(p, 2, 1);
	put(p, 0, 1);
	put(p, 0, 2);
	put(p, 0, 4);
	put(p, 1, 4);
	put(p, 4096, 4);
	put(p, 7, 4);
	put(p, 1, 4);
	put(p, 2, 2);
	put(p, 9, 2);
	put(p, 2048, 4);
	put(p, (1ULL << 23) - 100000, 8);
	for (unsigned int i = 1; i <= 5; i++)
		put(p, 1000 * i, 2);
}

static void put_rest(struct pen *p)
{
	size_t at = frame_begin(p, 2);

	put_clock(p);
	frame_end(p, at);
	at = frame_begin(p, 3);
	put(p, 7, 4);
	put(p, 1, 4);
	put(p, 3, 4);
	put(p, 9, 2);
	put(p, 2, 2);
	put(p, 127, 2);
	put_text(p, "nqn.a");
	put_text(p, "nqn.b");
	put_text(p, "traddr=192.0.2.1");
	frame_end(p, at);
	at = frame_begin(p, 4);
	put_read(p);
	frame_end(p, at);
	at = frame_begin(p, 5);
	put_losses(p);
	frame_end(p, at);
	at = frame_begin(p, 6);
	put(p, 1, 8);
	put_clock(p);
	put_losses(p);
	frame_end(p, at);
}

static void must_next(struct stream_reader *r, enum stream_type type, struct stream_event *e)
{
	memset(e, 0xa5, sizeof(*e));
	if (stream_read(r, e) != 1)
		fail_msg("%s", stream_error(r));
	assert_int_equal(e->type, type);
}

/* Checks what put_rest() has written. */
static void check_rest(struct stream_reader *r)
{
	struct stream_event e;

	must_next(r, STREAM_CLOCK, &e);
	assert_int_equal(e.clock.monotonic_ns, 1000);
	assert_int_equal(e.clock.realtime_ns, -5);
	must_next(r, STREAM_QUEUE, &e);
	assert_int_equal(e.queue.slot, 7);
	assert_int_equal(e.queue.cntlid, 9);
	assert_int_equal(e.queue.qid, 2);
	assert_string_equal(e.queue.subsysnqn, "nqn.a");
	assert_string_equal(e.queue.hostnqn, "nqn.b");
	assert_string_equal(e.queue.address, "traddr=192.0.2.1");
	must_next(r, STREAM_RECORD, &e);
	assert_int_equal(e.record.side, NT_TARGET);
	assert_int_equal(e.record.op, NT_OP_READ);
	assert_int_equal(e.record.cid, 0x1234);
	assert_int_equal(e.record.slba, 2048);
	assert_int_equal(e.record.length, 4096);
	assert_int_equal(e.record.points[NT_T_SENT], 100000);
	assert_int_equal(e.record.points[NT_T_SEND], 99000);
	assert_int_equal(e.record.points[NT_T_RX], 85000);
	assert_int_equal(e.record.points[NT_T_DATA], 0);
	must_next(r, STREAM_LOSSES, &e);
	assert_int_equal(e.losses.count[NT_CNT_RING_FULL], 77);
	assert_int_equal(e.losses.unknown, 3 + 5);
	must_next(r, STREAM_END, &e);
	assert_int_equal(e.end.records, 1);
	assert_int_equal(e.end.clock.monotonic_ns, 1000);
	assert_int_equal(e.end.losses.unknown, 3 + 5);
	assert_int_equal(stream_read(r, &e), 0);
}

static void check_header(const struct stream_header *h)
{
	assert_int_equal(h->side, NT_TARGET);
	assert_string_equal(h->source, "stock");
	assert_string_equal(h->boot_id, "01234567-89ab-cdef-0123-456789abcdef");
	assert_string_equal(h->hostname, "a target");
	assert_string_equal(h->kernel, "6.12.0");
	assert_string_equal(h->program, "ntprof-bpf 0.1.0");
	assert_int_equal(h->sample, 10);
	assert_string_equal(h->selection, "--op read");
	assert_int_equal(h->origins, 0);
}

static void a_recording_of_version_3_says_which_points_are_missing(void **state)
{
	struct pen p = pen_begin(3);
	struct stream_reader *r;
	struct stream_event e;
	int fd;

	put_header(&p, 1 << NT_T_DONE | 1 << NT_T_EXEC);
	put_rest(&p);
	r = reader_of(p.bytes, p.n, &fd);
	must_next(r, STREAM_HEADER, &e);
	check_header(&e.header);
	assert_int_equal(e.header.missing, 1 << NT_T_DONE | 1 << NT_T_EXEC);
	check_rest(r);
	assert_int_equal(stream_longer(r), 0);
	reader_done(r, fd);
}

static void bits_that_are_no_points_are_of_no_account(void **state)
{
	struct pen p = pen_begin(3);
	struct stream_reader *r;
	struct stream_event e;
	int fd;

	put_header(&p, 0xfffff000 | 1 << NT_T_SEND | 1 << NT_TARGET_POINTS_NR);
	put_rest(&p);
	r = reader_of(p.bytes, p.n, &fd);
	must_next(r, STREAM_HEADER, &e);
	assert_int_equal(e.header.missing, 1 << NT_T_SEND);
	reader_done(r, fd);
}

static int status_of(const struct pen *p)
{
	int ret;

	count_events(p->bytes, p->n, &ret);
	return ret;
}

static void a_header_has_all_of_its_fields(void **state)
{
	struct pen p = pen_begin(3);

	put_header(&p, 0);
	p.n -= 2;
	frame_end(&p, PREAMBLE);
	put_rest(&p);
	assert_int_equal(status_of(&p), -EBADMSG);
}

static void a_field_that_older_programs_did_not_write_is_0(void **state)
{
	struct pen p = pen_begin(3);
	struct stream_reader *r;
	struct stream_event e;
	size_t at;
	int fd;

	put_header(&p, 0);
	for (unsigned int i = 0; i < 2; i++) {
		at = frame_begin(&p, STREAM_DEVICE);
		put_text(&p, "nqn.a");
		put(&p, 3, 4);
		put(&p, 1, 4);
		put_text(&p, "nvme0n1");
		if (!i)
			put(&p, 4096, 4);
		frame_end(&p, at);
	}
	at = frame_begin(&p, STREAM_DEVICE);
	put_text(&p, "nqn.a");
	put(&p, 3, 4);
	put(&p, 1, 4);
	put_text(&p, "nvme0n1");
	put(&p, 4096, 3);
	frame_end(&p, at);
	r = reader_of(p.bytes, p.n, &fd);
	must_next(r, STREAM_HEADER, &e);
	must_next(r, STREAM_DEVICE, &e);
	assert_int_equal(e.device.block_bytes, 4096);
	must_next(r, STREAM_DEVICE, &e);
	assert_int_equal(e.device.block_bytes, 0);
	assert_string_equal(e.device.name, "nvme0n1");
	/* Half of a field is damage. */
	assert_int_equal(stream_read(r, &e), -EBADMSG);
	assert_int_equal(stream_longer(r), 0);
	reader_done(r, fd);
}

static void an_origin_of_an_older_program_has_no_process(void **state)
{
	struct pen p = pen_begin(3);
	struct stream_reader *r;
	struct stream_event e;
	size_t at;
	int fd;

	put_header(&p, 0);
	for (unsigned int i = 0; i < 2; i++) {
		at = frame_begin(&p, STREAM_ORIGIN);
		put(&p, 7, 2);
		put(&p, 3, 2);
		put_text(&p, "/a");
		if (!i) {
			put(&p, 4194304, 4);
			put_text(&p, "[kworker/0:1H]");
		}
		frame_end(&p, at);
	}
	at = frame_begin(&p, STREAM_ORIGIN);
	put(&p, 7, 2);
	put(&p, 3, 2);
	put_text(&p, "/a");
	put(&p, 1, 4);
	/* One more than any kernel has. */
	put_text(&p, "0123456789abcdefgh");
	frame_end(&p, at);
	r = reader_of(p.bytes, p.n, &fd);
	must_next(r, STREAM_HEADER, &e);
	must_next(r, STREAM_ORIGIN, &e);
	assert_int_equal(e.origin.pid, 4194304);
	assert_string_equal(e.origin.comm, "[kworker/0:1H]");
	must_next(r, STREAM_ORIGIN, &e);
	assert_int_equal(e.origin.number, 7);
	assert_int_equal(e.origin.cpu, 3);
	assert_string_equal(e.origin.cgroup, "/a");
	assert_int_equal(e.origin.pid, 0);
	assert_string_equal(e.origin.comm, "");
	assert_int_equal(stream_read(r, &e), -EBADMSG);
	assert_int_equal(stream_longer(r), 0);
	reader_done(r, fd);
}

static void fields_behind_those_that_are_known_are_passed_over_and_counted(void **state)
{
	static const enum stream_type types[] = {STREAM_HEADER, STREAM_CLOCK, STREAM_QUEUE,
						 STREAM_LOSSES, STREAM_END};
	struct bytes b = small_stream();
	struct stream_event expected[16], e;
	struct stream_reader *r;
	unsigned int nr = 0;
	int fd;

	r = reader_of(b.p, b.n, &fd);
	while (stream_read(r, &expected[nr]) == 1)
		nr++;
	assert_string_equal(stream_error(r), "");
	reader_done(r, fd);
	for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct bytes c = with_bytes(&b, types[i], "what will be", 12);

		r = reader_of(c.p, c.n, &fd);
		for (unsigned int k = 0; k < nr; k++)
			must_read(r, expected[k]);
		assert_int_equal(stream_read(r, &e), 0);
		assert_int_equal(stream_longer(r), 1);
		assert_int_equal(stream_skipped(r), 0);
		reader_done(r, fd);
		free(c.p);
	}
	free(b.p);
}

/*
 * Frames of a later type, one before each known frame. Together they are longer than what may be
 * skipped in a row.
 */
static void long_recordings_of_later_programs_are_read(void **state)
{
	static const uint8_t unknown[1 << 17];
	const unsigned int rounds = 2 * (16u << 20) / sizeof(unknown);
	struct pen p = pen_begin(3), more;
	struct stream_reader *r;
	struct stream_event e;
	int fd = file_make();
	size_t at;

	put_header(&p, 0);
	assert_int_equal(write(fd, p.bytes, p.n), p.n);
	more.frames = p.frames;
	for (unsigned int i = 0; i < rounds; i++) {
		static uint8_t frame[HEAD + sizeof(unknown)];

		more.n = 0;
		frame_begin(&more, 77);
		memcpy(frame, more.bytes, HEAD);
		put_le32(frame, sizeof(unknown));
		frame_sum(frame);
		assert_int_equal(write(fd, frame, sizeof(frame)), sizeof(frame));
		more.n = 0;
		at = frame_begin(&more, 2);
		put_clock(&more);
		frame_end(&more, at);
		assert_int_equal(write(fd, more.bytes, more.n), more.n);
	}
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r = stream_reader_new(fd);
	must_next(r, STREAM_HEADER, &e);
	for (unsigned int i = 0; i < rounds; i++)
		must_next(r, STREAM_CLOCK, &e);
	assert_int_equal(stream_skipped(r), rounds);
	reader_done(r, fd);
}

static void a_version_that_is_too_new_or_too_old_is_told_so(void **state)
{
	static const struct {
		uint32_t version;
		const char *words;
	} versions[] = {
		{0, "version 0 of the stream format, which is older"},
		{2, "version 2 of the stream format, which is older"},
		{4, "version 4 of the stream format, which is newer"},
		{UINT32_MAX, "version 4294967295 of the stream format, which is newer"},
	};

	for (unsigned int i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct pen p = pen_begin(versions[i].version);
		struct stream_reader *r;
		int fd;

		put_header(&p, 0);
		r = reader_of(p.bytes, p.n, &fd);
		must_fail(r, -EPROTO);
		assert_non_null(strstr(stream_error(r), versions[i].words));
		assert_non_null(strstr(stream_error(r), "this program reads version 3"));
		reader_done(r, fd);
	}
}

static void what_is_written_is_of_version_3(void **state)
{
	struct bytes b = small_stream();

	assert_int_equal(le32(b.p + 8), 3);
	free(b.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_of_version_3_says_which_points_are_missing),
		cmocka_unit_test(bits_that_are_no_points_are_of_no_account),
		cmocka_unit_test(a_header_has_all_of_its_fields),
		cmocka_unit_test(a_field_that_older_programs_did_not_write_is_0),
		cmocka_unit_test(an_origin_of_an_older_program_has_no_process),
		cmocka_unit_test(fields_behind_those_that_are_known_are_passed_over_and_counted),
		cmocka_unit_test(long_recordings_of_later_programs_are_read),
		cmocka_unit_test(a_version_that_is_too_new_or_too_old_is_told_so),
		cmocka_unit_test(what_is_written_is_of_version_3),
	};

	return cmocka_run_group_tests_name("stream_versions", tests, NULL, NULL);
}
