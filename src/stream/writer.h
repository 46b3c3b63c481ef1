/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes the framed stream: every frame with one write(), so that a kill cuts at most the last one. Into
 * an output it never waits: while the reader is slow, records are left out and counted as reader_slow, and
 * a losses frame stands where they are missing.
 */
#ifndef NTPROF_STREAM_WRITER_H
#define NTPROF_STREAM_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/output.h"
#include "stream/gather.h"
#include "stream/stream.h"

struct stream_writer;

/**
 * stream_writer_new() - begin a stream
 * @fd: where to; stays the caller's
 * @header: written at once
 *
 * Return: the writer, or NULL with errno set.
 */
struct stream_writer *stream_writer_new(int fd, const struct stream_header *header);

/** stream_writer_to() - the same into an output, of STREAM_BUFFER_MIN bytes at least */
struct stream_writer *stream_writer_to(struct output *out, const struct stream_header *header);

/* An output that takes a stream has room for a few of its frames. */
#define STREAM_BUFFER_MIN (4 * STREAM_FRAME_MAX)

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

/**
 * stream_write_gathered() - append a frame of records that has been made already
 * @g: frame, whose head is filled
 *
 * Return: 0; -EAGAIN when the output has no room for it now, and then nothing has happened; or another negative errno.
 */
int stream_write_gathered(struct stream_writer *w, struct gathered *g);

/**
 * stream_left_out() - whether the next record has to be left out, because the reader is slow
 *
 * Then it is counted, and the caller goes on with the one after it. To be asked before each record, and
 * before the queue that it belongs to is told.
 */
bool stream_left_out(struct stream_writer *w);

/** stream_leave_out() - count a record that could not be written, because the output takes no more */
void stream_leave_out(struct stream_writer *w);

/** stream_leave_out_many() - the same for @n of them */
void stream_leave_out_many(struct stream_writer *w, uint64_t n);

/**
 * stream_cut() - end a stream whose output did not take all of it
 * @w: writer into an output, which has been given @e
 * @e: STREAM_END
 *
 * What the output has not begun to write is taken back, its records are counted as reader_slow, and @e comes
 * behind what it has; also after an error that left whole frames, such as a full disk.
 *
 * Return: 0 or a negative errno.
 */
int stream_cut(struct stream_writer *w, const struct stream_event *e);

/** stream_flush() - write the records gathered so far; Return: 0 or a negative errno */
int stream_flush(struct stream_writer *w);

/** stream_bytes() - bytes of all frames written so far, gathered records not included */
uint64_t stream_bytes(const struct stream_writer *w);

/** stream_records() - records written so far, gathered ones included, those taken back not */
uint64_t stream_records(const struct stream_writer *w);

/** stream_reader_slow() - records that were left out */
uint64_t stream_reader_slow(const struct stream_writer *w);

/** stream_writer_free() - release; does not flush, does not close the fd; NULL is fine */
void stream_writer_free(struct stream_writer *w);

#endif /* NTPROF_STREAM_WRITER_H */
