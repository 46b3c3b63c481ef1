/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the tests of streams: events, streams in memory, and frames. */
#ifndef NTPROF_STREAMS_H
#define NTPROF_STREAMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

#include "core/counters.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* The sizes in docs/stream-format.md, repeated here on purpose. */
#define PREAMBLE 12
#define HEAD 20
#define PAYLOAD_MAX (256u << 10)

#define SMALL_RECORDS 3

static uint64_t random_state = 88172645463325252ULL;

/* xorshift64: gives the same records in every run. */
static inline uint64_t random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Small and huge numbers are equally likely. */
static inline uint64_t random_width(void)
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
	.sample = 3,
	.missing = 1u << NT_T_DONE | 1u << NT_T_SEND_R2T,
	.selection = "--op read --size 4k",
	.origins = NT_ORIGIN_PLACE | NT_ORIGIN_TASK,
};

static inline struct stream_event clock_event(void)
{
	return (struct stream_event){.type = STREAM_CLOCK,
				     .clock = {.monotonic_ns = UINT64_MAX, .realtime_ns = -5}};
}

static inline struct stream_event queue_event(void)
{
	struct stream_event e = {.type = STREAM_QUEUE,
				 .queue = {.slot = 7,
					   .gen = UINT32_MAX,
					   .instance = 3,
					   .cntlid = 65519,
					   .qid = 4,
					   .sqsize = 127,
					   .address = "traddr=127.0.0.1,trsvcid=4420",
					   .ends = {"127.0.0.1", "2001:db8::1", 40000, 4420},
					   .queues = 129}};

	memset(e.queue.subsysnqn, 'n', NT_NQN_LEN - 1);
	strcpy(e.queue.hostnqn, "nqn.2014-08.org.nvmexpress:h\xc3\xb6st\x1b[1m");
	return e;
}

static inline struct stream_event losses_event(void)
{
	struct stream_event e = {.type = STREAM_LOSSES, .losses = {.unknown = 9}};

	for (unsigned int i = 0; i < COUNTERS_NR; i++)
		e.losses.count[i] = i ? UINT64_MAX / i : 0;
	return e;
}

static inline struct stream_event end_event(uint64_t records)
{
	return (struct stream_event){.type = STREAM_END,
				     .end = {.records = records,
					     .clock = {.monotonic_ns = 1, .realtime_ns = INT64_MAX},
					     .losses = losses_event().losses}};
}

/* Each field gets any value that its type can hold. */
static inline struct stream_event random_record(void)
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
	r->flags = random_width() & NT_F_OF_STREAM;
	r->slba = random64() % 2 ? random_width() : 0;
	for (unsigned int i = 0; i < NT_POINTS_MAX; i++)
		r->points[i] = random64() % 3 ? random_width() : 0;
	return e;
}

struct bytes {
	uint8_t *p;
	size_t n;
};

static inline int file_make(void)
{
	int fd = memfd_create("stream", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static inline int file_of(const uint8_t *p, size_t n)
{
	int fd = file_make();

	assert_int_equal(write(fd, p, n), n);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static inline struct bytes file_bytes(int fd)
{
	struct bytes b = {.n = lseek(fd, 0, SEEK_END)};

	b.p = malloc(b.n);
	assert_non_null(b.p);
	assert_int_equal(pread(fd, b.p, b.n, 0), b.n);
	return b;
}

static inline void must_write(struct stream_writer *w, struct stream_event e)
{
	assert_int_equal(stream_write(w, &e), 0);
}

static inline struct stream_writer *writer_make(int fd)
{
	struct stream_writer *w = stream_writer_new(fd, &header);

	assert_non_null(w);
	return w;
}

/* A stream with each type of frame. It is a few hundred bytes long. */
static inline struct bytes small_stream(void)
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

static inline void assert_event(const struct stream_event *a, const struct stream_event *b)
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
		assert_int_equal(a->header.sample, b->header.sample);
		assert_int_equal(a->header.missing, b->header.missing);
		assert_string_equal(a->header.selection, b->header.selection);
		assert_int_equal(a->header.origins, b->header.origins);
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
	case STREAM_BURST:
		assert_int_equal(a->burst.began_ns, b->burst.began_ns);
		assert_int_equal(a->burst.ended_ns, b->burst.ended_ns);
		break;
	case STREAM_TCP:
		assert_memory_equal(&a->tcp.state, &b->tcp.state, sizeof(a->tcp.state));
		assert_int_equal(a->tcp.slot, b->tcp.slot);
		assert_int_equal(a->tcp.gen, b->tcp.gen);
		assert_int_equal(a->tcp.ns, b->tcp.ns);
		break;
	case STREAM_RESENT:
		assert_memory_equal(&a->resent, &b->resent, sizeof(a->resent));
		break;
	case STREAM_ORIGIN:
		assert_int_equal(a->origin.number, b->origin.number);
		assert_int_equal(a->origin.cpu, b->origin.cpu);
		assert_string_equal(a->origin.cgroup, b->origin.cgroup);
		assert_int_equal(a->origin.pid, b->origin.pid);
		assert_string_equal(a->origin.comm, b->origin.comm);
		break;
	case STREAM_DEVICE:
		assert_string_equal(a->device.subsysnqn, b->device.subsysnqn);
		assert_int_equal(a->device.instance, b->device.instance);
		assert_int_equal(a->device.nsid, b->device.nsid);
		assert_string_equal(a->device.name, b->device.name);
		assert_string_equal(a->device.disk, b->device.disk);
		break;
	case STREAM_DISK:
		assert_int_equal(a->disk.from_ns, b->disk.from_ns);
		assert_int_equal(a->disk.to_ns, b->disk.to_ns);
		assert_string_equal(a->disk.disk, b->disk.disk);
		assert_int_equal(a->disk.user, b->disk.user);
		assert_string_equal(a->disk.who, b->disk.who);
		assert_int_equal(a->disk.requests, b->disk.requests);
		assert_int_equal(a->disk.bytes, b->disk.bytes);
		assert_int_equal(a->disk.ns, b->disk.ns);
		break;
	case STREAM_PATH:
		assert_int_equal(a->path.ns, b->path.ns);
		assert_int_equal(a->path.instance, b->path.instance);
		assert_int_equal(a->path.kind, b->path.kind);
		assert_int_equal(a->path.state, b->path.state);
		assert_int_equal(a->path.attempts, b->path.attempts);
		assert_int_equal(a->path.queues, b->path.queues);
		assert_int_equal(a->path.group, b->path.group);
		assert_int_equal(a->path.cntlid, b->path.cntlid);
		assert_int_equal(a->path.qid, b->path.qid);
		assert_int_equal(a->path.cid, b->path.cid);
		assert_int_equal(a->path.opcode, b->path.opcode);
		assert_string_equal(a->path.subsysnqn, b->path.subsysnqn);
		break;
	case STREAM_END:
		assert_int_equal(a->end.records, b->end.records);
		assert_memory_equal(&a->end.clock, &b->end.clock, sizeof(a->end.clock));
		assert_memory_equal(&a->end.losses, &b->end.losses, sizeof(a->end.losses));
		break;
	}
}

static inline void must_read(struct stream_reader *r, struct stream_event expected)
{
	struct stream_event e;

	memset(&e, 0xa5, sizeof(e));
	if (stream_read(r, &e) != 1)
		fail_msg("%s", stream_error(r));
	assert_event(&e, &expected);
}

static inline void must_fail(struct stream_reader *r, int err)
{
	struct stream_event e;

	assert_int_equal(stream_read(r, &e), err);
	assert_true(*stream_error(r));
	/* The header does not change. */
	assert_int_equal(stream_read(r, &e), err);
}

static inline struct stream_event header_event(void)
{
	return (struct stream_event){.type = STREAM_HEADER, .header = header};
}

static inline struct stream_reader *reader_of(const uint8_t *p, size_t n, int *fd)
{
	struct stream_reader *r;

	*fd = file_of(p, n);
	r = stream_reader_new(*fd);
	assert_non_null(r);
	return r;
}

static inline void reader_done(struct stream_reader *r, int fd)
{
	stream_reader_free(r);
	close(fd);
}

/* Return: the number of events before the stream ends or fails. @ret: how it ended */
static inline unsigned int count_events(const uint8_t *p, size_t n, int *ret)
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

static inline uint32_t le32(const uint8_t *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void put_le32(uint8_t *p, uint32_t v)
{
	for (unsigned int i = 0; i < 4; i++)
		p[i] = v >> (8 * i);
}

/* Corrects the checksums of a frame that was changed. */
static inline void frame_sum(uint8_t *frame)
{
	put_le32(frame + 12, crc32(0, frame + HEAD, le32(frame)));
	put_le32(frame + 16, crc32(0, frame, 16));
}

static inline size_t frame_next(const struct bytes *b, size_t at)
{
	return at + HEAD + le32(b->p + at);
}

static inline size_t frame_find(const struct bytes *b, enum stream_type type)
{
	size_t at = PREAMBLE;

	while (b->p[at + 4] != type)
		at = frame_next(b, at);
	return at;
}

/* Inserts a frame between the clock and the queue of @b. */
static inline struct bytes with_frame(const struct bytes *b, uint16_t type, const void *payload,
				      size_t n)
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

/* Adds @n bytes to the end of a frame of @b, as a later version of the program may. */
static inline struct bytes with_bytes(const struct bytes *b, enum stream_type type,
				      const void *more, size_t n)
{
	size_t at = frame_find(b, type), end = frame_next(b, at);
	struct bytes c = {.n = b->n + n};

	c.p = calloc(1, c.n);
	memcpy(c.p, b->p, end);
	memcpy(c.p + end, more, n);
	memcpy(c.p + end + n, b->p + end, b->n - end);
	put_le32(c.p + at, le32(c.p + at) + (uint32_t)n);
	frame_sum(c.p + at);
	return c;
}

/* The beginning of a stream: its header and a clock. */
static inline int beginning(void)
{
	int fd = file_make();
	struct stream_writer *w = stream_writer_new(fd, &header);
	struct stream_event e = clock_event();

	assert_non_null(w);
	assert_int_equal(stream_write(w, &e), 0);
	assert_int_equal(stream_flush(w), 0);
	stream_writer_free(w);
	return fd;
}

#endif /* NTPROF_STREAMS_H */
