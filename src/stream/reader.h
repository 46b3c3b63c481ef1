/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the framed stream from a file, or from a pipe without ever waiting. Nothing that it reads
 * is trusted; memory is bounded for any input.
 */
#ifndef NTPROF_STREAM_READER_H
#define NTPROF_STREAM_READER_H

#include <stdbool.h>
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

/*
 * A recorded stream to read: from a file, a FIFO or standard input. Keeps what the stream says
 * about itself, and how far it has been read on the axis of time that several inputs share.
 */

/**
 * struct input - one stream
 * @path: as the user gave it
 * @again: it can be read a second time
 * @unfed: a FIFO that may have no writer yet
 * @begun: the header has been read: @header is valid
 * @ended: nothing more will come; @result says why
 * @lined_up: @to_common has been corrected, and clock frames no longer change it
 * @to_common: what to add to its CLOCK_MONOTONIC for the common axis, nanoseconds
 * @now: when the last command that was read ended, on the common axis; INT64_MIN before the first
 * @clock: its two clocks when the recording began; all zero if it does not tell
 * @last_clock: the same when it was read last
 * @first_ns: when the first command began, its own clock
 * @end_ns: @last_ns at the end, if it is read a second time; 0: not known
 * @last_ns: the last point of any command, its own clock; see input_seconds()
 * @bursts, @burst_ns: number of bursts in which it was recorded, and their time in all; 0: recorded
 *                     all the time
 * @names_gone: names of connections and disks that gave way to others; the report sets it
 * @tcp_past: TCP connections and times of these that found no room; the report sets it
 * @result: 0 or the last error of stream_read()
 */
struct input {
	const char *path;
	int fd;
	bool again;
	bool unfed;
	bool begun;
	bool ended;
	bool lined_up;
	struct stream_reader *reader;
	struct stream_header header;
	uint64_t names_gone;
	uint64_t tcp_past;
	struct stream_losses losses;
	int64_t to_common;
	int64_t now;
	struct instant clock;
	struct instant last_clock;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t end_ns;
	uint64_t records;
	uint64_t bursts;
	uint64_t burst_ns;
	int result;
};

/** input_open() - open an input; @path may be "-", standard input; Return: 0 or a negative errno */
int input_open(struct input *in, const char *path);

/** input_same() - whether both are the same file or pipe */
bool input_same(const struct input *a, const struct input *b);

/**
 * input_read() - read the next event, and note what it says about the input itself
 * @in: input
 * @e: filled
 *
 * Return: 1; or 0 at the end or after an error: see @in->result.
 */
int input_read(struct input *in, struct stream_event *e);

/**
 * input_seconds() - from the beginning of the first command to the last point of any; never
 * negative
 */
double input_seconds(const struct input *in);

/** input_rewind() - read again from the beginning; Return: 0 or a negative errno */
int input_rewind(struct input *in);

/**
 * input_failed() - whether it was not a stream or was damaged; a stream that breaks off is neither
 */
bool input_failed(const struct input *in);

/** input_close() - release */
void input_close(struct input *in);

#endif /* NTPROF_STREAM_READER_H */
