/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One file of a flight recorder while it is written: the blocks of a ring, as a stream. It has its name when it is whole
 * and on the disk, and is gone otherwise.
 */
#ifndef NTPROF_KEEP_FILE_H
#define NTPROF_KEEP_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/output.h"
#include "keep/folder.h"
#include "keep/ring.h"
#include "stream/destination.h"
#include "stream/writer.h"

/* What the disk has not taken yet. */
#define FILE_BUFFER_BYTES (1u << 20)

/**
 * struct keep_file - a file
 * @number: counts files, from 1 on: see &ring_queue.told
 * @next: the first block that is not in it
 * @losses: when the first of its blocks began
 * @first_ns: when that was; 0: it has none
 * @ended: all that belongs into it is in @out
 * @full: there is no room for more of it; @crowded: because of --keep-free
 * @named: it has its name
 * @path: for messages; "" before the file has begun. @name: in its folder
 */
struct keep_file {
	char path[PATH_MAX + FOLDER_NAME_LEN];
	char name[FOLDER_NAME_LEN];
	int64_t realtime_ns;
	uint64_t number;
	uint64_t next;
	uint64_t losses[COUNTERS_NR];
	uint64_t first_ns;
	bool ended;
	bool full;
	bool crowded;
	bool named;
	struct destination to;
	struct output *out;
	struct stream_writer *w;
};

/**
 * keep_file_open() - begin one
 * @f: filled; @number and @next are the caller's
 *
 * Return: 0 or a negative errno.
 */
int keep_file_open(struct keep_file *f, struct folder *in, const struct stream_header *header,
		   int64_t realtime_ns);

/**
 * keep_file_feed() - write blocks that have ended, as far as there is room for them at once
 * @r: ring; those of it that are written stay there
 * @in: older files are removed from it to make room
 *
 * Return: 1 when there are no more, 0 when some have to wait, or a negative errno; @f->full is set where that was the end.
 */
int keep_file_feed(struct keep_file *f, struct ring *r, struct folder *in);

/** keep_file_end() - that was all of @r; Return: 0, -EAGAIN when it has to wait, or a negative errno */
int keep_file_end(struct keep_file *f, const struct ring *r);

/**
 * keep_file_commit() - go on to its name: 1 when it has that, and a power cut would leave it; 0 when the disk has not taken
 * all of it, or a negative errno: then it may have its name all the same
 * @in: where it is counted then
 */
int keep_file_commit(struct keep_file *f, struct folder *in);

/** keep_file_hurry() - give it its name, if all of it is written: what the disk has of it is not waited for. As above */
int keep_file_hurry(struct keep_file *f, struct folder *in);

/** keep_file_close() - release; what has not got its name is gone */
void keep_file_close(struct keep_file *f);

#endif /* NTPROF_KEEP_FILE_H */
