/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes the framed stream: every frame with one write(), so that a kill cuts at most the last one.
 */
#ifndef NTPROF_STREAM_WRITER_H
#define NTPROF_STREAM_WRITER_H

#include <stdint.h>

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

#endif /* NTPROF_STREAM_WRITER_H */
