/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the framed stream, from a file or, without ever waiting, from a pipe. Nothing that it reads is
 * trusted; memory is bounded, whatever comes.
 */
#ifndef NTPROF_STREAM_READER_H
#define NTPROF_STREAM_READER_H

#include <stdint.h>

#include "stream/stream.h"

struct stream_reader;

/**
 * stream_reader_new() - begin to read
 * @fd: file, pipe or socket; may be non-blocking; stays the caller's
 *
 * Return: the reader, or NULL with errno set. It takes some 130 KiB, and 190 KiB more when a frame comes that
 * is longer than writers make them.
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
 * version; -EBADMSG when a frame is damaged; -ENOMEM; else an errno of read(). After an error other than
 * -EAGAIN it returns the same again. stream_error() says what and where.
 */
int stream_read(struct stream_reader *r, struct stream_event *e);

/** stream_error() - one line on the last error of stream_read(), with the byte offset; "" if none */
const char *stream_error(const struct stream_reader *r);

/** stream_offset() - offset of the frame being read, bytes */
uint64_t stream_offset(const struct stream_reader *r);

/** stream_skipped() - frames of types that this program does not know, read so far and passed over */
uint64_t stream_skipped(const struct stream_reader *r);

/** stream_longer() - frames with fields that this program does not know, read so far, fields passed over */
uint64_t stream_longer(const struct stream_reader *r);

/** stream_reader_free() - release; does not close the fd; NULL is fine */
void stream_reader_free(struct stream_reader *r);

#endif /* NTPROF_STREAM_READER_H */
