// SPDX-License-Identifier: GPL-2.0-only
/* The framed stream: what is written is read, and what was not written is refused. */
#define _GNU_SOURCE /* memfd_create() */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <zlib.h>
#include <cmocka.h>

#include "stream.h"

/* docs/stream-format.md, written here a second time on purpose. */
#define PREAMBLE 12
#define HEAD 20
#define PAYLOAD_MAX (256u << 10)

#define MANY_RECORDS 100000
#define SMALL_RECORDS 3

static uint64_t random_state = 88172645463325252ULL;

/* xorshift64: the same records in every run. */
static uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Small and huge numbers alike. */
static uint64_t random_width(void)
{
	return random64() >> (random64() % 64);
}

static const struct stream_header header = {
	.side = NT_TARGET,
	.source = "tracepoints",
	.boot_id = "01234567-89ab-cdef-0123-456789abcdef",
	.hostname = "a target",
	.kernel = "6.1.0",
	.program = "0.1.0",
};

static struct stream_event clock_event(void)
{
	return (struct stream_event){.type = STREAM_CLOCK,
				     .clock = {.monotonic_ns = UINT64_MAX, .realtime_ns = -5}};
}

static struct stream_event queue_event(void)
{
	struct stream_event e = {.type = STREAM_QUEUE,
				 .queue = {.slot = 7,
					   .gen = UINT32_MAX,
					   .instance = 3,
					   .cntlid = 65519,
					   .qid = 4,
					   .sqsize = 127,
					   .address = "traddr=127.0.0.1,trsvcid=4420"}};

	memset(e.queue.subsysnqn, 'n', NT_NQN_LEN - 1);
	strcpy(e.queue.hostnqn, "nqn.2014-08.org.nvmexpress:h\xc3\xb6st\x1b[1m");
	return e;
}

static struct stream_event losses_event(void)
{
	struct stream_event e = {.type = STREAM_LOSSES, .losses = {.unknown = 9}};

	for (unsigned int i = 0; i < STATS_COUNTERS_NR; i++)
		e.losses.count[i] = i ? UINT64_MAX / i : 0;
	return e;
}

static struct stream_event end_event(uint64_t records)
{
	return (struct stream_event){.type = STREAM_END,
				     .end = {.records = records,
					     .clock = {.monotonic_ns = 1, .realtime_ns = INT64_MAX},
					     .losses = losses_event().losses}};
}

/* Every field any value that its type can hold. */
static struct stream_event random_record(void)
{
	struct stream_event e = {.type = STREAM_RECORD};
	struct nt_record *r = &e.record;

	r->side = header.side;
	r->op = random64() % NT_OPS_NR;
	r->opcode = random64();
	r->shape = random64() % NT_SHAPES_NR;
	r->cid = random64();
	r->status = random_width();
	r->qid = random_width();
	r->cntlid = random_width();
	r->slot = random_width();
	r->gen = random_width();
	r->nsid = random_width();
	r->length = random_width();
	r->flags = random_width();
	r->slba = random64() % 2 ? random_width() : 0;
	for (unsigned int i = 0; i < NT_POINTS_MAX; i++)
		r->points[i] = random64() % 3 ? random_width() : 0;
	return e;
}

/* What a run of mixed I/O looks like: 4 queues, reads, inline writes and R2T writes of a few sizes. */
static struct stream_event typical_record(enum nt_side side, uint64_t *now)
{
	static const uint16_t passes[NT_SIDES][NT_SHAPES_NR] = {
		[NT_HOST] = {0xf0f, 0xd0f, 0xdff, 0xd0f},
		[NT_TARGET] = {0x3c3, 0x3c3, 0x3ff, 0x3c3},
	};
	static const uint8_t shapes[] = {NT_SHAPE_READ, NT_SHAPE_READ, NT_SHAPE_INLINE_WRITE,
					 NT_SHAPE_R2T_WRITE};
	static const uint32_t kib[] = {4, 4, 8, 16, 64, 128};
	struct stream_event e = {.type = STREAM_RECORD};
	struct nt_record *r = &e.record;
	uint64_t t;

	r->side = side;
	r->shape = shapes[random64() % 4];
	r->op = r->shape == NT_SHAPE_READ ? NT_OP_READ : NT_OP_WRITE;
	r->opcode = r->op == NT_OP_READ ? 2 : 1;
	r->cid = random64();
	r->qid = 1 + random64() % 4;
	r->cntlid = 1;
	r->slot = r->qid;
	r->gen = 1;
	r->nsid = 1;
	r->length = (r->shape == NT_SHAPE_INLINE_WRITE ? 4 : kib[random64() % 6]) << 10;
	r->slba = (random64() % (1ULL << 33)) & ~7ULL;
	*now += random64() % 20000;
	t = *now;
	for (int i = NT_POINTS_MAX - 1; i >= 0; i--) {
		if (!(passes[side][r->shape] >> i & 1))
			continue;
		r->points[i] = t;
		/* From a microsecond to a millisecond, evenly by order of magnitude. */
		t -= 1000 + random64() % (1000ULL << random64() % 11);
	}
	return e;
}

struct bytes {
	uint8_t *p;
	size_t n;
};

static int file_make(void)
{
	int fd = memfd_create("stream", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static int file_of(const uint8_t *p, size_t n)
{
	int fd = file_make();

	assert_int_equal(write(fd, p, n), n);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static struct bytes file_bytes(int fd)
{
	struct bytes b = {.n = lseek(fd, 0, SEEK_END)};

	b.p = malloc(b.n);
	assert_non_null(b.p);
	assert_int_equal(pread(fd, b.p, b.n, 0), b.n);
	return b;
}

static void must_write(struct stream_writer *w, struct stream_event e)
{
	assert_int_equal(stream_write(w, &e), 0);
}

static struct stream_writer *writer_make(int fd)
{
	struct stream_writer *w = stream_writer_new(fd, &header);

	assert_non_null(w);
	return w;
}

/* A stream with each type of frame, a few hundred bytes long. */
static struct bytes small_stream(void)
{
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);
	struct bytes b;

	random_state = 1;
	must_write(w, clock_event());
	must_write(w, queue_event());
	for (unsigned int i = 0; i < SMALL_RECORDS; i++)
		must_write(w, random_record());
	must_write(w, (struct stream_event){.type = STREAM_LOSSES, .losses = {.unknown = 2}});
	must_write(w, random_record());
	must_write(w, (struct stream_event){.type = STREAM_END});
	assert_int_equal(stream_bytes(w), lseek(fd, 0, SEEK_CUR));
	stream_writer_free(w);
	b = file_bytes(fd);
	close(fd);
	return b;
}

static void assert_event(const struct stream_event *a, const struct stream_event *b)
{
	assert_int_equal(a->type, b->type);
	switch (a->type) {
	case STREAM_HEADER:
		assert_int_equal(a->header.side, b->header.side);
		assert_string_equal(a->header.source, b->header.source);
		assert_string_equal(a->header.boot_id, b->header.boot_id);
		assert_string_equal(a->header.hostname, b->header.hostname);
		assert_string_equal(a->header.kernel, b->header.kernel);
		assert_string_equal(a->header.program, b->header.program);
		break;
	case STREAM_CLOCK:
		assert_memory_equal(&a->clock, &b->clock, sizeof(a->clock));
		break;
	case STREAM_QUEUE:
		assert_int_equal(a->queue.slot, b->queue.slot);
		assert_int_equal(a->queue.gen, b->queue.gen);
		assert_int_equal(a->queue.instance, b->queue.instance);
		assert_int_equal(a->queue.cntlid, b->queue.cntlid);
		assert_int_equal(a->queue.qid, b->queue.qid);
		assert_int_equal(a->queue.sqsize, b->queue.sqsize);
		assert_string_equal(a->queue.subsysnqn, b->queue.subsysnqn);
		assert_string_equal(a->queue.hostnqn, b->queue.hostnqn);
		assert_string_equal(a->queue.address, b->queue.address);
		break;
	case STREAM_RECORD:
		assert_memory_equal(&a->record, &b->record, sizeof(a->record));
		break;
	case STREAM_LOSSES:
		assert_memory_equal(&a->losses, &b->losses, sizeof(a->losses));
		break;
	case STREAM_END:
		assert_int_equal(a->end.records, b->end.records);
		assert_memory_equal(&a->end.clock, &b->end.clock, sizeof(a->end.clock));
		assert_memory_equal(&a->end.losses, &b->end.losses, sizeof(a->end.losses));
		break;
	}
}

static void must_read(struct stream_reader *r, struct stream_event expected)
{
	struct stream_event e;

	memset(&e, 0xa5, sizeof(e));
	if (stream_read(r, &e) != 1)
		fail_msg("%s", stream_error(r));
	assert_event(&e, &expected);
}

static void must_fail(struct stream_reader *r, int err)
{
	struct stream_event e;

	assert_int_equal(stream_read(r, &e), err);
	assert_true(*stream_error(r));
	/* It stays so. */
	assert_int_equal(stream_read(r, &e), err);
}

static struct stream_event header_event(void)
{
	return (struct stream_event){.type = STREAM_HEADER, .header = header};
}

static struct stream_reader *reader_of(const uint8_t *p, size_t n, int *fd)
{
	struct stream_reader *r;

	*fd = file_of(p, n);
	r = stream_reader_new(*fd);
	assert_non_null(r);
	return r;
}

static void reader_done(struct stream_reader *r, int fd)
{
	stream_reader_free(r);
	close(fd);
}

/* Events that a stream has before it ends or fails; *@ret says how. */
static unsigned int count_events(const uint8_t *p, size_t n, int *ret)
{
	struct stream_event e;
	unsigned int events = 0;
	int fd;
	struct stream_reader *r = reader_of(p, n, &fd);

	while ((*ret = stream_read(r, &e)) == 1)
		events++;
	assert_int_equal(!!*ret, !!*stream_error(r));
	reader_done(r, fd);
	return events;
}

static uint32_t le32(const uint8_t *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put_le32(uint8_t *p, uint32_t v)
{
	for (unsigned int i = 0; i < 4; i++)
		p[i] = v >> (8 * i);
}

/* Makes the checksums of a frame right again after it was changed. */
static void frame_sum(uint8_t *frame)
{
	put_le32(frame + 12, crc32(0, frame + HEAD, le32(frame)));
	put_le32(frame + 16, crc32(0, frame, 16));
}

static size_t frame_next(const struct bytes *b, size_t at)
{
	return at + HEAD + le32(b->p + at);
}

static size_t frame_find(const struct bytes *b, enum stream_type type)
{
	size_t at = PREAMBLE;

	while (b->p[at + 4] != type)
		at = frame_next(b, at);
	return at;
}

static void every_type_of_event_comes_back(void **state)
{
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);
	struct stream_reader *r;
	struct stream_event e, record = random_record();

	(void)state;
	must_write(w, clock_event());
	must_write(w, queue_event());
	must_write(w, record);
	must_write(w, losses_event());
	must_write(w, end_event(12345));
	stream_writer_free(w);
	lseek(fd, 0, SEEK_SET);
	r = stream_reader_new(fd);
	must_read(r, header_event());
	assert_int_equal(stream_offset(r), PREAMBLE);
	must_read(r, clock_event());
	must_read(r, queue_event());
	must_read(r, record);
	must_read(r, losses_event());
	/* The writer has counted the records by itself. */
	must_read(r, end_event(1));
	assert_int_equal(stream_read(r, &e), 0);
	assert_int_equal(stream_read(r, &e), 0);
	assert_string_equal(stream_error(r), "");
	assert_int_equal(stream_skipped(r), 0);
	reader_done(r, fd);
}

static void records_of_any_values_come_back(void **state)
{
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);
	struct stream_reader *r;
	struct stream_event e;

	(void)state;
	random_state = 2;
	for (unsigned int i = 0; i < MANY_RECORDS; i++)
		must_write(w, random_record());
	must_write(w, (struct stream_event){.type = STREAM_END});
	stream_writer_free(w);
	lseek(fd, 0, SEEK_SET);
	r = stream_reader_new(fd);
	must_read(r, header_event());
	random_state = 2;
	for (unsigned int i = 0; i < MANY_RECORDS; i++)
		must_read(r, random_record());
	assert_int_equal(stream_read(r, &e), 1);
	assert_int_equal(stream_read(r, &e), 0);
	reader_done(r, fd);
}

static void records_of_many_connections_and_kinds_come_back(void **state)
{
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);
	struct stream_reader *r;
	struct stream_event e = {.type = STREAM_RECORD, .record.side = NT_TARGET};

	(void)state;
	for (unsigned int i = 0; i < MANY_RECORDS; i++) {
		e.record.slot = i % 5000;
		e.record.length = i % 1500;
		must_write(w, e);
	}
	assert_int_equal(stream_flush(w), 0);
	stream_writer_free(w);
	lseek(fd, 0, SEEK_SET);
	r = stream_reader_new(fd);
	must_read(r, header_event());
	for (unsigned int i = 0; i < MANY_RECORDS; i++) {
		e.record.slot = i % 5000;
		e.record.length = i % 1500;
		must_read(r, e);
	}
	must_fail(r, -ENODATA);
	reader_done(r, fd);
}

static void a_typical_record_takes_at_most_45_bytes(void **state)
{
	(void)state;
	for (enum nt_side side = 0; side < NT_SIDES; side++) {
		struct stream_header h = header;
		int fd = file_make();
		struct stream_writer *w;
		uint64_t now = 1000000000000;

		h.side = side;
		w = stream_writer_new(fd, &h);
		random_state = 3;
		for (unsigned int i = 0; i < MANY_RECORDS; i++)
			must_write(w, typical_record(side, &now));
		assert_int_equal(stream_flush(w), 0);
		print_message("# %s: %.1f bytes per record\n", side_name(side),
			      (double)stream_bytes(w) / MANY_RECORDS);
		assert_true(stream_bytes(w) <= 45ULL * MANY_RECORDS);
		stream_writer_free(w);
		close(fd);
	}
}

static void a_frame_of_records_has_at_most_64_kib(void **state)
{
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);
	struct bytes b;

	(void)state;
	for (unsigned int i = 0; i < 10000; i++)
		must_write(w, random_record());
	stream_writer_free(w);
	b = file_bytes(fd);
	for (size_t at = PREAMBLE; at < b.n; at = frame_next(&b, at))
		assert_true(frame_next(&b, at) - at <= 64 << 10);
	free(b.p);
	close(fd);
}

static void what_is_not_flushed_is_not_written(void **state)
{
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);
	off_t before = lseek(fd, 0, SEEK_CUR);

	(void)state;
	must_write(w, random_record());
	assert_int_equal(lseek(fd, 0, SEEK_CUR), before);
	assert_int_equal(stream_bytes(w), before);
	assert_int_equal(stream_flush(w), 0);
	assert_true(lseek(fd, 0, SEEK_CUR) > before);
	stream_writer_free(w);
	close(fd);
}

static void a_stream_cut_anywhere_gives_what_was_whole(void **state)
{
	struct bytes b = small_stream();
	/* Of each frame: where it ends, and the events up to there. */
	size_t next = PREAMBLE;
	unsigned int events = 0, whole = 0;
	int ret;

	(void)state;
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

	(void)state;
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

	(void)state;
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

	(void)state;
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

	(void)state;
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

	(void)state;
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

	(void)state;
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
	/* A single byte, too. */
	count_events(p, b.n + 1, &ret);
	assert_int_equal(ret, -EBADMSG);
	/* The first one was cut between two frames. */
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

	(void)state;
	b.p[8] = 77;
	r = reader_of(b.p, b.n, &fd);
	must_fail(r, -EPROTO);
	assert_non_null(strstr(stream_error(r), "version 77"));
	assert_non_null(strstr(stream_error(r), "version 1"));
	reader_done(r, fd);
	free(b.p);
}

static void text_is_refused_at_its_first_byte(void **state)
{
	struct stream_reader *r;
	int p[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(write(p[1], "s", 1), 1);
	r = stream_reader_new(p[0]);
	/* The pipe stays open, as that of a peer which waits for something. */
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

	(void)state;
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

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		put_le32(b.p + at, lengths[i]);
		put_le32(b.p + at + 16, crc32(0, b.p + at, 16));
		assert_int_equal(count_events(b.p, b.n, &ret), 1);
		assert_int_equal(ret, -EBADMSG);
	}
	free(b.p);
}

/* Puts a frame between the clock and the queue of @b and counts on. */
static struct bytes with_frame(const struct bytes *b, uint16_t type, const void *payload, size_t n)
{
	size_t at = frame_find(b, STREAM_QUEUE);
	struct bytes c = {.n = b->n + HEAD + n};
	uint8_t *f;

	c.p = calloc(1, c.n);
	memcpy(c.p, b->p, at);
	f = c.p + at;
	put_le32(f, n);
	f[4] = type;
	f[5] = type >> 8;
	put_le32(f + 8, le32(b->p + at + 8));
	memcpy(f + HEAD, payload, n);
	frame_sum(f);
	memcpy(f + HEAD + n, b->p + at, b->n - at);
	for (size_t next = at + HEAD + n; next < c.n; next = frame_next(&c, next)) {
		put_le32(c.p + next + 8, le32(c.p + next + 8) + 1);
		frame_sum(c.p + next);
	}
	return c;
}

static void unknown_frames_are_skipped_and_counted(void **state)
{
	struct bytes b = small_stream(), c = with_frame(&b, 4711, "what will be", 12),
		     d = with_frame(&c, 0, "", 0);
	struct stream_event e;
	struct stream_reader *r;
	unsigned int events = 0;
	int fd, ret;

	(void)state;
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

static void endless_unknown_frames_are_refused(void **state)
{
	struct bytes b = small_stream();
	size_t at = frame_find(&b, STREAM_CLOCK), n = 32 << 20, frames = n / (HEAD + PAYLOAD_MAX);
	uint8_t *p = calloc(1, n);
	struct stream_reader *r;
	struct stream_event e;
	int fd;

	(void)state;
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

static void unknown_flags_are_refused(void **state)
{
	struct bytes b = small_stream();
	size_t at = frame_find(&b, STREAM_CLOCK);
	int ret;

	(void)state;
	b.p[at + 6] = 1;
	frame_sum(b.p + at);
	assert_int_equal(count_events(b.p, b.n, &ret), 1);
	assert_int_equal(ret, -EPROTO);
	free(b.p);
}

static void a_frame_with_wrong_contents_is_refused(void **state)
{
	/* Too short, too long, a string past the end, one too long for its field, a NUL within. */
	static const struct {
		uint16_t type;
		const char *payload;
		size_t n;
	} frames[] = {
		{STREAM_CLOCK, "", 0},
		{STREAM_CLOCK, "1234567812345678", 15},
		{STREAM_CLOCK, "1234567812345678x", 17},
		{STREAM_LOSSES, "\1\0\5abc", 6},
		{STREAM_LOSSES, "\0\0x", 3},
		{STREAM_LOSSES, "\xff\xff", 2},
		{STREAM_LOSSES, "\1\0\3a\0b12345678", 14},
		{STREAM_LOSSES,
		 "\1\0\100aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa12345678",
		 75},
		{STREAM_QUEUE, "123412341212", 12},
		{STREAM_RECORD, "", 0},
		{STREAM_RECORD, "\0\0\0\0\0\0\0\0", 8},
		/* Kind and connection defined, a point promised. */
		{STREAM_RECORD,
		 "\0\0\0\0\0\3\0\0"
		 "12312123412341234"
		 "123412341212",
		 37},
		/* The second of the numbers, before the first. */
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
		/* Operation and shape out of range. */
		{STREAM_RECORD,
		 "\0\0\0\0\0\0\0\0"
		 "\x8\0\0"
		 "12123412341234"
		 "123412341212",
		 37},
		{STREAM_RECORD,
		 "\0\0\0\0\0\0\0\0"
		 "\0\0\4"
		 "12123412341234"
		 "123412341212",
		 37},
	};
	struct bytes b = small_stream();
	int ret;

	(void)state;
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
	struct bytes b = small_stream(), c = with_frame(&b, STREAM_RECORD,
							"\x34\x12\0\0\x40\x07\0\0"
							"\1\1\2\3\4\5\0\0\0\6\0\0\0\0\x10\0\0"
							"\7\0\0\0\x8\0\0\0\x9\0\xa\0"
							"\x78\x56\x34\x12"
							"\1\0"
							"\0\0\x80\0\0\0\0\0",
							51);
	struct stream_event e;
	struct stream_reader *r;
	int fd;

	(void)state;
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

static void a_slow_pipe_gives_eagain_and_then_everything(void **state)
{
	struct bytes b = small_stream();
	struct stream_event e;
	struct stream_reader *r;
	unsigned int events = 0, all;
	int p[2], ret;

	(void)state;
	all = count_events(b.p, b.n, &ret);
	assert_int_equal(pipe2(p, O_NONBLOCK), 0);
	r = stream_reader_new(p[0]);
	for (size_t i = 0; i < b.n; i++) {
		assert_int_equal(stream_read(r, &e), -EAGAIN);
		assert_int_equal(write(p[1], b.p + i, 1), 1);
		while (i + 1 < b.n && (ret = stream_read(r, &e)) == 1)
			events++;
	}
	assert_int_equal(stream_read(r, &e), 1);
	assert_int_equal(e.type, STREAM_END);
	assert_int_equal(events + 1, all);
	/* More may come as long as the other end is open. */
	assert_int_equal(stream_read(r, &e), -EAGAIN);
	close(p[1]);
	assert_int_equal(stream_read(r, &e), 0);
	stream_reader_free(r);
	close(p[0]);
	free(b.p);
}

static void a_full_pipe_is_waited_for(void **state)
{
	struct stream_event e;
	struct stream_reader *r;
	pid_t child;
	int p[2], status;

	(void)state;
	assert_int_equal(pipe(p), 0);
	child = fork();
	assert_true(child >= 0);
	random_state = 4;
	if (!child) {
		struct stream_writer *w;
		int bad = 0;

		close(p[0]);
		fcntl(p[1], F_SETFL, O_NONBLOCK);
		w = stream_writer_new(p[1], &header);
		for (unsigned int i = 0; i < 20000; i++) {
			e = random_record();
			bad |= stream_write(w, &e);
		}
		e = end_event(0);
		bad |= stream_write(w, &e);
		stream_writer_free(w);
		_exit(!!bad);
	}
	close(p[1]);
	r = stream_reader_new(p[0]);
	must_read(r, header_event());
	for (unsigned int i = 0; i < 20000; i++)
		must_read(r, random_record());
	must_read(r, end_event(20000));
	assert_int_equal(stream_read(r, &e), 0);
	stream_reader_free(r);
	close(p[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void after_an_error_nothing_is_written(void **state)
{
	int fd = open("/dev/full", O_WRONLY), file = file_make();
	struct stream_event e = random_record();
	struct stream_writer *w;
	off_t size;

	(void)state;
	assert_null(stream_writer_new(fd, &header));
	assert_int_equal(errno, ENOSPC);
	close(fd);
	w = writer_make(file);
	e.record.side = NT_HOST;
	size = lseek(file, 0, SEEK_CUR);
	assert_int_equal(stream_write(w, &e), -EINVAL);
	e.record.side = NT_TARGET;
	assert_int_equal(stream_write(w, &e), -EINVAL);
	assert_int_equal(stream_flush(w), -EINVAL);
	assert_int_equal(lseek(file, 0, SEEK_CUR), size);
	stream_writer_free(w);
	close(file);
}

static void nothing_is_written_after_the_end(void **state)
{
	int fd = file_make();
	struct stream_writer *w = writer_make(fd);
	struct stream_event e = random_record();

	(void)state;
	must_write(w, end_event(0));
	assert_int_equal(stream_write(w, &e), -EINVAL);
	stream_writer_free(w);
	close(fd);
}

static void a_failing_read_is_told(void **state)
{
	int fd = open("/", O_RDONLY | O_DIRECTORY);
	struct stream_reader *r = stream_reader_new(fd);

	(void)state;
	must_fail(r, -EISDIR);
	reader_done(r, fd);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Not a test: `test_stream speed` prints records per second. */
static int speed(void)
{
	enum { RECORDS = 4000000 };
	struct stream_event *e = malloc(sizeof(*e) * 4096), got;
	int fd = file_make();
	struct stream_header h = header;
	struct stream_writer *w;
	struct stream_reader *r;
	uint64_t now = 1000000000000, records = 0;
	double begin;

	h.side = NT_HOST;
	for (unsigned int i = 0; i < 4096; i++)
		e[i] = typical_record(NT_HOST, &now);
	w = stream_writer_new(fd, &h);
	begin = seconds();
	for (unsigned int i = 0; i < RECORDS; i++)
		stream_write(w, &e[i % 4096]);
	stream_write(w, &(struct stream_event){.type = STREAM_END});
	printf("written: %.1f M records/s, %.1f bytes per record\n",
	       RECORDS / (seconds() - begin) / 1e6, (double)stream_bytes(w) / RECORDS);
	stream_writer_free(w);
	for (unsigned int round = 0; round < 3; round++) {
		lseek(fd, 0, SEEK_SET);
		r = stream_reader_new(fd);
		records = 0;
		begin = seconds();
		while (stream_read(r, &got) == 1)
			records += got.type == STREAM_RECORD;
		printf("read: %.1f M records/s\n", records / (seconds() - begin) / 1e6);
		stream_reader_free(r);
	}
	close(fd);
	free(e);
	return records != RECORDS;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_of_event_comes_back),
		cmocka_unit_test(records_of_any_values_come_back),
		cmocka_unit_test(records_of_many_connections_and_kinds_come_back),
		cmocka_unit_test(a_typical_record_takes_at_most_45_bytes),
		cmocka_unit_test(a_frame_of_records_has_at_most_64_kib),
		cmocka_unit_test(what_is_not_flushed_is_not_written),
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
		cmocka_unit_test(endless_unknown_frames_are_refused),
		cmocka_unit_test(unknown_flags_are_refused),
		cmocka_unit_test(a_frame_with_wrong_contents_is_refused),
		cmocka_unit_test(a_hand_made_record_is_understood),
		cmocka_unit_test(a_slow_pipe_gives_eagain_and_then_everything),
		cmocka_unit_test(a_full_pipe_is_waited_for),
		cmocka_unit_test(after_an_error_nothing_is_written),
		cmocka_unit_test(nothing_is_written_after_the_end),
		cmocka_unit_test(a_failing_read_is_told),
	};

	if (argc > 1 && !strcmp(argv[1], "speed"))
		return speed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
