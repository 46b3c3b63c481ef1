/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One file of a flight recorder while it is written: blocks of a ring as a stream. The file gets
 * its name when it is complete and on the disk. Otherwise it disappears.
 *
 * A disk may hang for minutes, and may be the one that the conditions are about. So each question
 * to the file system is a job (core/job.h). Functions of jobs are called job_*(). While one runs,
 * nothing else touches what it uses.
 */
#ifndef NTPROF_SERVE_KEEP_FILE_H
#define NTPROF_SERVE_KEEP_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/job.h"
#include "core/output.h"
#include "serve/folder.h"
#include "serve/ring.h"
#include "stream/destination.h"
#include "stream/writer.h"

/* The most that the end frame and a clock take. */
#define KEEP_FILE_END_BYTES 8192

/**
 * struct keep_file - a file
 * @path: for messages; "" before the file has begun
 * @name: name in its folder
 * @next: number of the first block that is not in the file
 * @events: how many of all events of controllers it has, or files before it
 * @losses: counters when the file's first block began
 * @first_ns: when that block began; 0: the file has no block
 * @ended: everything that belongs into the file is in @out
 * @full: there is no room for more
 * @crowded: there is none because of --keep-free
 * @named: the file has its name
 * @in, @job: the recorder's
 * @room: as many bytes of the file may be written
 * @asked, @unwritten: as many are asked for; these of them are not on the disk
 * @turn_ns: when the caller's turn began, see FEED_NS
 */
struct keep_file {
	char path[PATH_MAX + FOLDER_NAME_LEN];
	char name[FOLDER_NAME_LEN];
	int64_t realtime_ns;
	uint64_t next;
	uint64_t events;
	uint64_t losses[COUNTERS_NR];
	uint64_t first_ns;
	bool ended;
	bool full;
	bool crowded;
	bool named;
	uint64_t room;
	uint64_t asked;
	uint64_t unwritten;
	uint64_t turn_ns;
	struct folder *in;
	struct job *job;
	struct destination to;
	struct output *out;
	struct stream_writer *w;
};

/**
 * keep_file_open() - begin a file
 * @f: the caller has set @next, @realtime_ns, @in and @job, and @room to the bytes of what the file
 *     has at least
 *
 * Return: 0, -EAGAIN when the disk has not answered, or another negative errno.
 */
int keep_file_open(struct keep_file *f, const struct stream_header *header);

/** keep_file_opens() - whether the disk was asked to open the file, and the answer was not taken */
bool keep_file_opens(const struct keep_file *f);

/**
 * keep_file_tell() - write an event
 *
 * Return: 0, -EAGAIN when the disk or the buffer has no room yet, or another negative errno.
 */
int keep_file_tell(struct keep_file *f, const struct stream_event *e);

/**
 * keep_file_feed() - write complete blocks, as far as the buffer has room and the turn has time for
 *                    them
 * @r: ring; it keeps the blocks that are written
 *
 * Return: 1 when there are no more blocks, 0 when some have to wait, or a negative errno. @f->full
 * is set if the file ends because there is no more room.
 */
int keep_file_feed(struct keep_file *f, struct ring *r);

/**
 * keep_file_end() - write the end of the stream, after all blocks of @r
 *
 * Return: 0, -EAGAIN when the buffer has no room yet, or a negative errno.
 */
int keep_file_end(struct keep_file *f, const struct ring *r);

/**
 * keep_file_commit() - bring the file one step nearer to its name; call again until it is not 0
 *
 * Return: 1 when the file has its name and would survive a power cut, 0 when the disk has not taken
 * all of it, or a negative errno. The file may have its name in spite of an error.
 */
int keep_file_commit(struct keep_file *f);

/** keep_file_takes_name() - whether what the disk was asked for last was to give the file its name
 */
bool keep_file_takes_name(const struct keep_file *f);

/**
 * keep_file_hurry() - like keep_file_commit(), but without waiting for the disk
 *
 * The file gets its name if all of it has been written, even if that is not on the disk yet.
 */
int keep_file_hurry(struct keep_file *f);

/** keep_file_close() - release all but @f->to, which a job closes */
void keep_file_close(struct keep_file *f);

#endif /* NTPROF_SERVE_KEEP_FILE_H */
