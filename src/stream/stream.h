/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The framed stream that `record` writes and `report` and --peer read: what one side of one machine
 * saw. docs/stream-format.md describes every byte. Knows neither BPF nor merging.
 */
#ifndef NTPROF_STREAM_STREAM_H
#define NTPROF_STREAM_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "core/counters.h"
#include "core/queue.h"
#include "core/record.h"
#include "core/time.h"

#define STREAM_VERSION 2
/* Largest frame that a writer makes, bytes; a reader takes four times that. */
#define STREAM_FRAME_MAX 65536
#define STREAM_NAME_LEN 65
#define STREAM_LOSS_NAME_LEN 64

/* Who recorded. First frame of every stream. */
struct stream_header {
	enum nt_side side;
	char source[16];  /* "tracepoints" */
	char boot_id[37]; /* /proc/sys/kernel/random/boot_id: one clock */
	char hostname[STREAM_NAME_LEN];
	char kernel[STREAM_NAME_LEN];
	char program[32]; /* version of ntprof-bpf that wrote it */
	uint32_t sample;  /* about one command in so many was measured; 0 and 1: every one */
};

/* Losses so far, by name, so that either end may know more of them than the other. */
struct stream_losses {
	uint64_t count[COUNTERS_NR];
	uint64_t unknown; /* sum of those whose name this program does not know */
};

/* Last frame of a stream that ended well. */
struct stream_end {
	uint64_t records; /* before it; the writer counts them itself */
	struct instant clock;
	struct stream_losses losses;
};

enum stream_type {
	STREAM_HEADER = 1,
	STREAM_CLOCK,
	STREAM_QUEUE,
	STREAM_RECORD, /* many of them share a frame on the wire */
	STREAM_LOSSES,
	STREAM_END,
};

/* One thing read. Valid until the next stream_read() of the same reader. */
struct stream_event {
	enum stream_type type;
	union {
		struct stream_header header;
		struct instant clock;
		struct queue_info
			queue; /* told before the first record of it, and again when more is known */
		struct nt_record record;
		struct stream_losses losses;
		struct stream_end end;
	};
};

struct stream_writer;
struct stream_reader;

/**
 * stream_writer_new() - begin a stream
 * @fd: where to; stays the caller's
 * @header: written at once
 *
 * Return: the writer, or NULL with errno set.
 */
struct stream_writer *stream_writer_new(int fd, const struct stream_header *header);

/**
 * stream_write() - append one event
 * @w: writer
 * @e: any type but STREAM_HEADER. Records are gathered into a frame, which is written when it is full
 *     (64 KiB) or by stream_flush(); all else is written at once, after the records before it.
 *
 * Return: 0 or a negative errno; after an error nothing more is written.
 */
int stream_write(struct stream_writer *w, const struct stream_event *e);

/** stream_write_record() - the same for a STREAM_RECORD by itself, of which there are many */
int stream_write_record(struct stream_writer *w, const struct nt_record *r);

/** stream_flush() - write the records gathered so far; Return: 0 or a negative errno */
int stream_flush(struct stream_writer *w);

/** stream_bytes() - bytes of all frames written so far, gathered records not included */
uint64_t stream_bytes(const struct stream_writer *w);

/** stream_writer_free() - release; does not flush, does not close the fd; NULL is fine */
void stream_writer_free(struct stream_writer *w);

/**
 * stream_reader_new() - begin to read
 * @fd: file, pipe or socket; may be non-blocking; stays the caller's
 *
 * Return: the reader, or NULL with errno set. Memory is bounded by the largest frame (256 KiB).
 */
struct stream_reader *stream_reader_new(int fd);

/**
 * stream_read() - the next event
 * @r: reader
 * @e: filled
 *
 * Return: 1 when there is one; 0 at the end of a stream that ended well (after its STREAM_END); -EAGAIN
 * when a non-blocking fd has no whole frame yet; -ENODATA when the input ends without the closing
 * frame (all whole frames have been delivered); -EPROTO when it is no stream of ours or of another
 * version; -EBADMSG when a frame is damaged; else an errno of read(). After an error other than
 * -EAGAIN it returns the same again. stream_error() says what and where.
 */
int stream_read(struct stream_reader *r, struct stream_event *e);

/** stream_error() - one line on the last error of stream_read(), with the byte offset; "" if none */
const char *stream_error(const struct stream_reader *r);

/** stream_offset() - offset of the frame being read, bytes */
uint64_t stream_offset(const struct stream_reader *r);

/** stream_skipped() - frames of types that this program does not know, read so far and passed over */
uint64_t stream_skipped(const struct stream_reader *r);

/** stream_reader_free() - release; does not close the fd; NULL is fine */
void stream_reader_free(struct stream_reader *r);

#endif /* NTPROF_STREAM_STREAM_H */
