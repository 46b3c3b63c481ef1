/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One file of a flight recorder while it is written: blocks of a ring as a stream. The file gets
 * its name when it is complete and on the disk. Otherwise it disappears.
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

/* Size of the buffer for bytes that the disk has not taken yet. */
#define FILE_BUFFER_BYTES (1u << 20)

/**
 * struct keep_file - a file
 * @path: for messages; "" before the file has begun
 * @name: name in its folder
 * @number: counts files from 1 on; see &ring_queue.told
 * @next: number of the first block that is not in the file
 * @losses: counters when the file's first block began
 * @first_ns: when that block began; 0: the file has no block
 * @ended: everything that belongs into the file is in @out
 * @full: there is no room for more
 * @crowded: there is none because of --keep-free
 * @named: the file has its name
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
 * keep_file_open() - begin a file
 * @f: filled; the caller has set @number and @next
 *
 * Return: 0 or a negative errno.
 */
int keep_file_open(struct keep_file *f, struct folder *in, const struct stream_header *header,
		   int64_t realtime_ns);

/**
 * keep_file_feed() - write complete blocks, as far as the buffer has room for them
 * @r: ring; it keeps the blocks that are written
 * @in: folder; its older files are removed to make room
 *
 * Return: 1 when there are no more blocks, 0 when some have to wait, or a negative errno. @f->full
 * is set if the file ends because there is no more room.
 */
int keep_file_feed(struct keep_file *f, struct ring *r, struct folder *in);

/**
 * keep_file_end() - write the end of the stream, after all blocks of @r
 *
 * Return: 0, -EAGAIN when the buffer has no room yet, or a negative errno.
 */
int keep_file_end(struct keep_file *f, const struct ring *r);

/**
 * keep_file_commit() - bring the file one step nearer to its name; call again until it is not 0
 * @in: folder that counts the file once it has its name
 *
 * Return: 1 when the file has its name and would survive a power cut, 0 when the disk has not taken
 * all of it, or a negative errno. The file may have its name in spite of an error.
 */
int keep_file_commit(struct keep_file *f, struct folder *in);

/**
 * keep_file_hurry() - like keep_file_commit(), but without waiting for the disk
 *
 * The file gets its name if all of it has been written, even if that is not on the disk yet.
 */
int keep_file_hurry(struct keep_file *f, struct folder *in);

/** keep_file_close() - release; a file without its name disappears */
void keep_file_close(struct keep_file *f);

#endif /* NTPROF_KEEP_FILE_H */
