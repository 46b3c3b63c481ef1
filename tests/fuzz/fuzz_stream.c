// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for the reader of the stream. Besides what the sanitizers see, it asserts that:
 *  - what is delivered is valid: enumerations in range, strings terminated;
 *  - the same comes from a non-blocking pipe, piece by piece, as from a file;
 *  - an error stays, and is told;
 *  - what was read can be written, and reads the same again.
 *
 * Random bytes do not pass a checksum. So the mutator makes most inputs' checksums and sequence
 * numbers right again, and what lies behind them is reached.
 */
#define _GNU_SOURCE /* memfd_create() */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "stream/format.h"
#include "stream/reader.h"
#include "stream/writer.h"

/* A pipe holds as much without blocking. */
#define INPUT_MAX 65536

#define ASSERT(condition)                                                               \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                        \
		}                                                                       \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

static int file_of(const uint8_t *data, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	ASSERT(fd >= 0);
	ASSERT(write(fd, data, size) == (ssize_t)size);
	ASSERT(!lseek(fd, 0, SEEK_SET));
	return fd;
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
		break;
	case STREAM_QUEUE:
		CHECK_ARRAY(e->queue.subsysnqn);
		CHECK_ARRAY(e->queue.hostnqn);
		CHECK_ARRAY(e->queue.address);
		break;
	case STREAM_RECORD:
		ASSERT(e->record.side < NT_SIDES);
		ASSERT(e->record.op < NT_OPS_NR);
		ASSERT(e->record.shape < NT_SHAPES_NR);
		break;
	case STREAM_CLOCK:
	case STREAM_LOSSES:
	case STREAM_END:
		break;
	default:
		ASSERT(!"a known type");
	}
}

/* Padding and what a type does not use are 0, so that events can be compared byte by byte. */
static int read_event(struct stream_reader *r, struct stream_event *e)
{
	memset(e, 0, sizeof(*e));
	return stream_read(r, e);
}

static void check_error(struct stream_reader *r, int ret)
{
	struct stream_event e;

	ASSERT(ret == 0 || ret == -ENODATA || ret == -EPROTO || ret == -EBADMSG);
	ASSERT(!ret == !*stream_error(r));
	ASSERT(read_event(r, &e) == ret);
}

/* Reads @file, and the same bytes from a pipe; writes the events to @copy. Return: how it ended. */
static int read_both(int file, int copy, const uint8_t *data, size_t size)
{
	size_t fed = 0, piece = 1 + size % 997;
	struct stream_reader *a, *b;
	struct stream_writer *w = NULL;
	struct stream_event e, f;
	int p[2], ret;

	ASSERT(!pipe2(p, O_NONBLOCK));
	a = stream_reader_new(file);
	b = stream_reader_new(p[0]);
	ASSERT(a && b);
	do {
		ret = read_event(a, &e);
		while (read_event(b, &f) == -EAGAIN) {
			if (fed == size) {
				close(p[1]);
				p[1] = -1;
			} else {
				size_t n = piece < size - fed ? piece : size - fed;

				ASSERT(write(p[1], data + fed, n) == (ssize_t)n);
				fed += n;
			}
		}
		ASSERT(stream_offset(a) == stream_offset(b) || ret <= 0);
		if (ret != 1)
			break;
		ASSERT(!memcmp(&e, &f, sizeof(e)));
		check_event(&e);
		if (e.type == STREAM_HEADER)
			w = stream_writer_new(copy, &e.header);
		else
			ASSERT(!stream_write(w, &e));
	} while (1);
	ASSERT(read_event(b, &f) == ret);
	ASSERT(!strcmp(stream_error(a), stream_error(b)));
	check_error(a, ret);
	if (w)
		ASSERT(!stream_flush(w));
	stream_writer_free(w);
	stream_reader_free(a);
	stream_reader_free(b);
	close(p[0]);
	if (p[1] >= 0)
		close(p[1]);
	return ret;
}

static void compare_copy(int file, int copy, int end)
{
	struct stream_reader *a = stream_reader_new(file), *b = stream_reader_new(copy);
	struct stream_event e, f;
	unsigned int events = 0;
	int ret;

	ASSERT(a && b);
	for (; read_event(a, &e) == 1; events++) {
		ASSERT(read_event(b, &f) == 1);
		ASSERT(!memcmp(&e, &f, sizeof(e)));
	}
	ret = read_event(b, &f);
	/* A whole stream with something behind it has a whole copy. */
	ASSERT(ret == 0 || (end && ret == -ENODATA));
	stream_reader_free(a);
	stream_reader_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int file, copy, end;

	if (size > INPUT_MAX)
		return -1;
	file = file_of(data, size);
	copy = file_of(NULL, 0);
	end = read_both(file, copy, data, size);
	lseek(file, 0, SEEK_SET);
	lseek(copy, 0, SEEK_SET);
	compare_copy(file, copy, end);
	close(file);
	close(copy);
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
	if (get_le32(data + STREAM_MAGIC_LEN) != STREAM_VERSION_OLDEST)
		put_le32(data + STREAM_MAGIC_LEN, STREAM_VERSION);
	while (size - at >= FRAME_HEAD_LEN) {
		uint8_t *frame = data + at;
		size_t left = size - at - FRAME_HEAD_LEN;
		uint32_t len = get_le32(frame);

		if (len > left)
			len = left;
		if (!sums_only) {
			put_le32(frame, len);
			put_le16(frame + 4, sequence ? frame[4] % (STREAM_END + 2) : STREAM_HEADER);
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
