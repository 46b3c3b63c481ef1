/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the framed stream from a file, or from a pipe without ever waiting. Nothing that it reads
 * is trusted; memory is bounded for any input.
 */
#ifndef NTPROF_STREAM_READER_H
#define NTPROF_STREAM_READER_H

#include <stdint.h>

#include "stream/stream.h"

struct stream_reader;

/**
 * stream_reader_new() - begin to read
 * @fd: file, pipe or socket; may be non-blocking; the caller closes it
 *
 * Return: the reader, or NULL with errno set. It takes some 130 KiB, and 190 KiB more if a frame is
 * longer than those that writers make.
 */
struct stream_reader *stream_reader_new(int fd);

/**
 * stream_read() - read the next event
 * @r: reader
 * @e: filled
 *
 * After an error other than -EAGAIN it returns the same again. stream_error() has a message with
 * the place.
 *
 * Return:
 * * 1 - there is an event
 * * 0 - the stream ended well, after its STREAM_END
 * * -EAGAIN - a non-blocking fd has no whole frame yet
 * * -ENODATA - the input ended without the closing frame; all whole frames have been delivered
 * * -EPROTO - not a stream of ours, or of another version
 * * -EBADMSG - a frame is damaged
 * * -ENOMEM, or an errno of read()
 */
int stream_read(struct stream_reader *r, struct stream_event *e);

/**
 * stream_error() - a line about the last error of stream_read(), with the byte offset; "" if none
 */
const char *stream_error(const struct stream_reader *r);

/** stream_offset() - offset of the frame being read, bytes */
uint64_t stream_offset(const struct stream_reader *r);

/** stream_skipped() - number of frames read so far that were skipped, as their type is not known */
uint64_t stream_skipped(const struct stream_reader *r);

/**
 * stream_longer() - number of frames read so far with unknown fields at their end, which were
 * skipped
 */
uint64_t stream_longer(const struct stream_reader *r);

/** stream_reader_free() - release; does not close the fd; NULL is fine */
void stream_reader_free(struct stream_reader *r);

#endif /* NTPROF_STREAM_READER_H */
