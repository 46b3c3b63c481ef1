/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes the framed stream. Every frame is written with one write(), so a kill cuts at most the
 * last one. A writer with a struct output never waits: while the reader is slow, records are left
 * out and counted as reader_slow, and a losses frame takes their place. A writer with a descriptor
 * waits.
 */
#ifndef NTPROF_STREAM_WRITER_H
#define NTPROF_STREAM_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/output.h"
#include "stream/stream.h"

/*
 * Makes frames of records before it is known whether they will be written. stream_write_gathered()
 * then puts them into a stream as they are.
 */

/* Room to make a frame in. The encoder may write up to GATHERED_SLACK bytes past its end. */
#define GATHERED_SLACK 8
#define GATHERED_BYTES (STREAM_FRAME_MAX + GATHERED_SLACK)

/**
 * struct gathered - a frame
 * @len: length of its payload in bytes
 * @records: number of records in it
 * @frame: room for the head of the frame, then the payload
 */
struct gathered {
	size_t len;
	unsigned int records;
	uint8_t frame[GATHERED_BYTES];
};

struct gatherer;

/** gatherer_new() - makes frames one after another; NULL when memory ran out */
struct gatherer *gatherer_new(void);

/** gather_begin() - begin a frame in @to; records go there from now on */
void gather_begin(struct gatherer *g, struct gathered *to);

/**
 * gather() - append a record
 * @g: gatherer, after gather_begin()
 * @r: record; its side is that of the stream
 * @first: set to whether it is the first one of its connection in this frame
 *
 * Return: 0; -ENOSPC when the frame is full, without the record; -EINVAL for a record that no
 * stream may have; -ENOMEM.
 */
int gather(struct gatherer *g, const struct nt_record *r, bool *first);

/** gatherer_free() - release; NULL is fine. Frames belong to the caller. */
void gatherer_free(struct gatherer *g);

struct stream_writer;

/**
 * stream_writer_new() - begin a stream
 * @fd: to write to; the caller closes it
 * @header: written at once
 *
 * Return: the writer, or NULL with errno set.
 */
struct stream_writer *stream_writer_new(int fd, const struct stream_header *header);

/** stream_writer_to() - stream_writer_new() for an output of at least STREAM_BUFFER_MIN bytes */
struct stream_writer *stream_writer_to(struct output *out, const struct stream_header *header);

/* The least room of an output for a stream: a few of its frames. */
#define STREAM_BUFFER_MIN (4 * STREAM_FRAME_MAX)

/**
 * stream_write() - append one event
 * @w: writer
 * @e: any type but STREAM_HEADER. Records are gathered in a frame, which is written when it is full
 *     (64 KiB) or by stream_flush(). All other events are written at once, after the records before
 *     them.
 *     While records are left out, those that can be are, too: losses, clocks and bursts.
 *
 * Return: 0 or a negative errno; after an error nothing more is written.
 */
int stream_write(struct stream_writer *w, const struct stream_event *e);

/**
 * stream_write_record() - stream_write() of a STREAM_RECORD, without an event around it, as there
 * are many
 */
int stream_write_record(struct stream_writer *w, const struct nt_record *r);

/**
 * stream_write_gathered() - append a frame of records that has been made already
 * @g: frame; its head is filled in
 *
 * Return: 0; -EAGAIN when the output has no room for it now, and nothing was done; or another
 * negative errno.
 */
int stream_write_gathered(struct stream_writer *w, struct gathered *g);

/**
 * stream_left_out() - whether the next record has to be left out, because the reader is slow
 *
 * If so, it is counted, and the caller goes on with the next one. Call it before each record, and
 * before the queue of that record is written.
 */
bool stream_left_out(struct stream_writer *w);

/**
 * stream_leave_out() - count a record that could not be written, because the output takes no more
 */
void stream_leave_out(struct stream_writer *w);

/** stream_leave_out_many() - the same for @n records */
void stream_leave_out_many(struct stream_writer *w, uint64_t n);

/**
 * stream_cut() - end a stream when the output did not take all of it
 * @w: writer of stream_writer_to()
 * @e: STREAM_END, which may have been written before
 *
 * Takes back what the output has not begun to write, counts its records as reader_slow, and appends
 * @e. This also works after an error that left whole frames, such as a full disk.
 *
 * Return: 0 or a negative errno.
 */
int stream_cut(struct stream_writer *w, const struct stream_event *e);

/** stream_flush() - write the records gathered so far; Return: 0 or a negative errno */
int stream_flush(struct stream_writer *w);

/** stream_bytes() - bytes of all frames written so far, and of that of the gathered records */
uint64_t stream_bytes(const struct stream_writer *w);

/** stream_records() - records written so far, with gathered ones, without those taken back */
uint64_t stream_records(const struct stream_writer *w);

/** stream_reader_slow() - number of records that were left out */
uint64_t stream_reader_slow(const struct stream_writer *w);

/** stream_writer_free() - release; does not flush, does not close the fd; NULL is fine */
void stream_writer_free(struct stream_writer *w);

#endif /* NTPROF_STREAM_WRITER_H */
