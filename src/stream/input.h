/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recorded stream that is read: from a file, a FIFO or standard input. Keeps what the stream says of
 * itself, and how far it has been read on an axis of time that several inputs share.
 */
#ifndef NTPROF_STREAM_INPUT_H
#define NTPROF_STREAM_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "stream/reader.h"
#include "stream/stream.h"

/**
 * struct input - one stream
 * @path: as the user gave it
 * @again: it can be read a second time
 * @unfed: a FIFO that may have no writer yet
 * @begun: the header has been read, @header and @side are valid
 * @ended: nothing more will come; @result says why
 * @lined_up: @to_common has been corrected: what the wall clock says no longer counts
 * @to_common: what to add to its CLOCK_MONOTONIC, nanoseconds
 * @now: when the last command read ended, on the common axis; INT64_MIN before the first
 * @first_ns, @last_ns: its own clock, of the first command's beginning and of the last that is known of
 *     any; see input_seconds()
 * @bursts, @burst_ns: it was recorded in so many bursts, of so much time in all; 0: all the time
 * @result: 0 or what stream_read() returned in the end
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
	struct stream_losses losses;
	int64_t to_common;
	int64_t now;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t records;
	uint64_t bursts;
	uint64_t burst_ns;
	int result;
};

/** input_open() - @path may be "-", standard input; Return: 0 or a negative errno */
int input_open(struct input *in, const char *path);

/** input_same() - whether both are the same file or pipe */
bool input_same(const struct input *a, const struct input *b);

/**
 * input_read() - the next event, and what it means for the input itself
 * @in: input
 * @e: filled
 *
 * Return: 1, or 0 at the end, good or bad: see @in->result.
 */
int input_read(struct input *in, struct stream_event *e);

/** input_seconds() - from the first command's beginning to the last that is known of any, never negative */
double input_seconds(const struct input *in);

/** input_rewind() - begin again; Return: 0 or a negative errno */
int input_rewind(struct input *in);

/** input_failed() - whether it was no stream or was damaged; one that breaks off is neither */
bool input_failed(const struct input *in);

/** input_close() - release */
void input_close(struct input *in);

#endif /* NTPROF_STREAM_INPUT_H */
