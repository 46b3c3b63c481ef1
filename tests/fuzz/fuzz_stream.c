// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for the reader of the stream. Besides what the sanitizers see, it asserts that:
 *  - each event is valid: enumerations in range, strings terminated;
 *  - the same comes from a non-blocking pipe, piece by piece, as from a file;
 *  - an error stays, and is reported;
 *  - the events can be written, and read the same again.
 *
 * Random bytes do not pass a checksum. So the mutator makes most inputs' checksums and sequence
 * numbers right again, and what lies behind them is reached.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "asserts.h"
#include "stream/codec.h"
#include "stream/reader.h"
#include "stream/writer.h"

#define INPUT_MAX 65536
/* Records may take more than they did in the input, which is under no obligation to be compact. */
#define SINK_SIZE (16 * INPUT_MAX)
/* The shortest record has RECORD_HEAD_LEN bytes, and other events grow by less. */
#define EVENTS_SIZE (INPUT_MAX / RECORD_HEAD_LEN * sizeof(struct nt_record))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/*
 * What readers read from, by the numbers of descriptors that no process has: files and pipes would
 * take most of the time. @arrived of @size bytes can be read, @at is where; a pipe may be open for
 * more.
 */
struct source {
	const uint8_t *data;
	size_t size;
	size_t arrived;
	size_t at;
	bool open;
};

#define SOURCE_FD (1 << 30)
enum { SOURCE_FILE, SOURCE_PIPE, SOURCE_COPY, SOURCES };
static struct source sources[SOURCES];

/* The linker puts it in the place of read() (--wrap=read). */
ssize_t __real_read(int fd, void *buffer, size_t n);
ssize_t __wrap_read(int fd, void *buffer, size_t n);

ssize_t __wrap_read(int fd, void *buffer, size_t n)
{
	struct source *s;

	if (fd < SOURCE_FD)
		return __real_read(fd, buffer, n);
	s = &sources[fd - SOURCE_FD];
	if (n > s->arrived - s->at)
		n = s->arrived - s->at;
	if (!n && s->open) {
		errno = EAGAIN;
		return -1;
	}
	memcpy(buffer, s->data + s->at, n);
	s->at += n;
	return (ssize_t)n;
}

/* Return: a reader of @data; @arrived bytes of it can be read at once. */
static struct stream_reader *reader_of(unsigned int source, const uint8_t *data, size_t size,
				       size_t arrived)
{
	struct stream_reader *r = stream_reader_new(SOURCE_FD + (int)source);

	ASSERT(r);
	sources[source] = (struct source){
		.data = data, .size = size, .arrived = arrived, .open = arrived < size};
	return r;
}

/* @piece more bytes come through the pipe, or it is closed. */
static void feed(struct source *s, size_t piece)
{
	if (s->arrived == s->size)
		s->open = false;
	else
		s->arrived += piece < s->size - s->arrived ? piece : s->size - s->arrived;
}

/*
 * Where writers write to, by another such number: @written bytes of @data. The linker puts it in
 * the place of write().
 */
#define SINK_FD (SOURCE_FD + SOURCES)
static struct {
	size_t written;
	uint8_t data[SINK_SIZE];
} sink;

ssize_t __real_write(int fd, const void *buffer, size_t n);
ssize_t __wrap_write(int fd, const void *buffer, size_t n);

ssize_t __wrap_write(int fd, const void *buffer, size_t n)
{
	if (fd != SINK_FD)
		return __real_write(fd, buffer, n);
	ASSERT(n <= sizeof(sink.data) - sink.written);
	memcpy(sink.data + sink.written, buffer, n);
	sink.written += n;
	return (ssize_t)n;
}

static void check_string(const char *s, size_t size)
{
	ASSERT(memchr(s, 0, size));
}

#define CHECK_ARRAY(s) check_string(s, sizeof(s))

static void check_event(const struct stream_event *e)
{
	switch (e->type) {
	case STREAM_HEADER:
		ASSERT(e->header.side < NT_SIDES);
		CHECK_ARRAY(e->header.source);
		CHECK_ARRAY(e->header.boot_id);
		CHECK_ARRAY(e->header.hostname);
		CHECK_ARRAY(e->header.kernel);
		CHECK_ARRAY(e->header.program);
		CHECK_ARRAY(e->header.selection);
		break;
	case STREAM_QUEUE:
		CHECK_ARRAY(e->queue.subsysnqn);
		CHECK_ARRAY(e->queue.hostnqn);
		CHECK_ARRAY(e->queue.address);
		break;
	case STREAM_ORIGIN:
		CHECK_ARRAY(e->origin.cgroup);
		CHECK_ARRAY(e->origin.comm);
		break;
	case STREAM_DEVICE:
		CHECK_ARRAY(e->device.subsysnqn);
		CHECK_ARRAY(e->device.name);
		CHECK_ARRAY(e->device.disk);
		break;
	case STREAM_PATH:
		CHECK_ARRAY(e->path.subsysnqn);
		break;
	case STREAM_TCP:
		CHECK_ARRAY(e->tcp.state.congestion);
		break;
	case STREAM_DISK:
		CHECK_ARRAY(e->disk.disk);
		CHECK_ARRAY(e->disk.who);
		break;
	case STREAM_RECORD:
		ASSERT(e->record.side < NT_SIDES);
		ASSERT(e->record.op < NT_OPS_NR);
		ASSERT(e->record.shape < NT_SHAPES_NR);
		break;
	case STREAM_CLOCK:
	case STREAM_LOSSES:
	case STREAM_END:
	case STREAM_BURST:
	case STREAM_RESENT:
		break;
	default:
		ASSERT(!"a known type");
	}
}

/* Bytes of an event that are its, behind which there is padding. */
static size_t event_size(const struct stream_event *e)
{
	switch (e->type) {
	case STREAM_HEADER:
		return sizeof(e->header);
	case STREAM_CLOCK:
		return sizeof(e->clock);
	case STREAM_QUEUE:
		return offsetof(struct queue_info, address) + sizeof(e->queue.address);
	case STREAM_RECORD:
		return sizeof(e->record);
	case STREAM_LOSSES:
		return sizeof(e->losses);
	case STREAM_END:
		return sizeof(e->end);
	case STREAM_BURST:
		return sizeof(e->burst);
	case STREAM_ORIGIN:
		return sizeof(e->origin);
	case STREAM_DEVICE:
		return sizeof(e->device);
	case STREAM_PATH:
		return offsetof(struct nt_path_event, input);
	case STREAM_TCP:
		return sizeof(e->tcp);
	case STREAM_RESENT:
		return sizeof(e->resent);
	case STREAM_DISK:
		return offsetof(struct disk_sample, user) + sizeof(e->disk.user);
	}
	ASSERT(!"a known type");
	return 0;
}

/* All members of an event begin where its header does; that one's padding is 0 before the first
 * event. */
static bool same_event(const struct stream_event *a, const struct stream_event *b)
{
	return a->type == b->type && !memcmp(&a->header, &b->header, event_size(a));
}

/* The events, one behind the other, to be compared with those of the copy. */
struct events {
	size_t size;
	uint8_t bytes[EVENTS_SIZE];
};

static void events_add(struct events *all, const struct stream_event *e)
{
	size_t n = event_size(e);

	ASSERT(n <= sizeof(all->bytes) - all->size);
	memcpy(all->bytes + all->size, &e->header, n);
	all->size += n;
}

static void check_error(struct stream_reader *r, int ret)
{
	struct stream_event e;

	ASSERT(ret == 0 || ret == -ENODATA || ret == -EPROTO || ret == -EBADMSG);
	ASSERT(!ret == !*stream_error(r));
	ASSERT(stream_read(r, &e) == ret);
}

/*
 * Reads the input as a file, and as a pipe through which it comes in pieces; writes the events to
 * the sink, and notes them in @all. Return: how it ended.
 */
static int read_both(const uint8_t *data, size_t size, struct events *all)
{
	/* Some 16 pieces; of a short input each byte may be one. */
	size_t piece = 1 + crc32(0, data, size) % (1 + size / 8);
	struct stream_reader *a = reader_of(SOURCE_FILE, data, size, size);
	struct stream_reader *b = reader_of(SOURCE_PIPE, data, size, 0);
	struct stream_event e = {0}, f = {0};
	struct stream_writer *w = NULL;
	int ret;

	do {
		ret = stream_read(a, &e);
		while (stream_read(b, &f) == -EAGAIN)
			feed(&sources[SOURCE_PIPE], piece);
		ASSERT(stream_offset(a) == stream_offset(b) || ret <= 0);
		if (ret != 1)
			break;
		ASSERT(same_event(&e, &f));
		check_event(&e);
		events_add(all, &e);
		if (e.type == STREAM_HEADER)
			w = stream_writer_new(SINK_FD, &e.header);
		else
			ASSERT(!stream_write(w, &e));
	} while (1);
	ASSERT(stream_read(b, &f) == ret);
	ASSERT(!strcmp(stream_error(a), stream_error(b)));
	check_error(a, ret);
	if (w)
		ASSERT(!stream_flush(w));
	stream_writer_free(w);
	stream_reader_free(a);
	stream_reader_free(b);
	return ret;
}

static void read_copy(const struct events *all, int end)
{
	struct stream_event e = {0};
	struct stream_reader *r;
	size_t at = 0;
	int ret;

	r = reader_of(SOURCE_COPY, sink.data, sink.written, sink.written);
	while ((ret = stream_read(r, &e)) == 1) {
		size_t n = event_size(&e);

		ASSERT(n <= all->size - at && !memcmp(all->bytes + at, &e.header, n));
		at += n;
	}
	ASSERT(at == all->size);
	/* A whole stream with something behind it has a whole copy. */
	ASSERT(ret == 0 || (end && ret == -ENODATA));
	stream_reader_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct events all;
	int end;

	if (size > INPUT_MAX)
		return -1;
	all.size = sink.written = 0;
	end = read_both(data, size, &all);
	read_copy(&all, end);
	return 0;
}

/* Makes checksums right, or, as that alone seldom leads far, the whole head of each frame. */
static void repair(uint8_t *data, size_t size, bool sums_only)
{
	uint32_t sequence = 0;
	size_t at = PREAMBLE_LEN;

	if (size < PREAMBLE_LEN)
		return;
	memcpy(data, STREAM_MAGIC, STREAM_MAGIC_LEN);
	put_le32(data + STREAM_MAGIC_LEN, STREAM_VERSION);
	while (size - at >= FRAME_HEAD_LEN) {
		uint8_t *frame = data + at;
		size_t left = size - at - FRAME_HEAD_LEN;
		uint32_t len = get_le32(frame);

		if (len > left)
			len = left;
		if (!sums_only) {
			put_le32(frame, len);
			put_le16(frame + 4,
				 sequence ? frame[4] % (STREAM_CPUS + 2) : STREAM_HEADER);
			put_le16(frame + 6, 0);
			put_le32(frame + 8, sequence++);
		}
		put_le32(frame + 12, crc32(0, frame + FRAME_HEAD_LEN, len));
		put_le32(frame + 16, crc32(0, frame, FRAME_HEAD_SUMMED));
		at += FRAME_HEAD_LEN + len;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed)
{
	size = LLVMFuzzerMutate(data, size, max);
	if (seed % 8)
		repair(data, size, seed % 8 == 1);
	return size;
}
