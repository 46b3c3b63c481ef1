/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flight recorder keeps the latest records. When a trigger fires, it writes them as a stream,
 * and with them the records of some time afterwards. It never waits for a disk: a thread writes
 * (core/output.h), others ask the file system (core/job.h), and recorder_work() feeds them.
 */
#ifndef NTPROF_SERVE_RECORDER_H
#define NTPROF_SERVE_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "core/stats.h"
#include "serve/when.h"
#include "stream/stream.h"

/* Room for a line about a file: its path and what triggered it. */
#define RECORDER_LINE_LEN 4864

/**
 * struct recorder_options - what the user asked for
 * @keep_ns: how long records are kept; 0: there is no recorder
 * @after_ns: how long a file goes on after its trigger
 * @memory_bytes: memory for the records
 * @folder: where files are written
 * @files, @disk_bytes: limits of the number of files and of their total size
 * @keep_free: bytes of the disk that are left to others, or FOLDER_KEEP_FREE_DEFAULT
 * @when: conditions; the recorder takes ownership
 */
struct recorder_options {
	uint64_t keep_ns;
	uint64_t after_ns;
	uint64_t memory_bytes;
	const char *folder;
	unsigned int files;
	uint64_t disk_bytes;
	uint64_t keep_free;
	struct when when;
};

/* When a disk has not answered for so long, a line says so. Only tests change it. */
extern uint64_t recorder_patience_ns;

/** recorder_tell_fn - takes a line of text for the user; @failed: the line reports a failure */
typedef void recorder_tell_fn(void *context, bool failed, const char *line);

struct recorder;

/**
 * recorder_new() - begin to keep records
 * @o: @when is moved out of it, also on failure; @folder is copied
 * @tell: called for each file, with @context
 *
 * Return: NULL with errno set, to ENOMEM or to an error of folder_open(), which folder_error() puts
 * into words.
 */
struct recorder *recorder_new(struct recorder_options *o, enum nt_side side, recorder_tell_fn *tell,
			      void *context);

/**
 * recorder_change() - use other limits, folder and conditions from now on
 * @o: as of recorder_new()
 *
 * Where the disk does not answer within half a second, @tell gets a line, and the options are used
 * once it answers. With another folder they are used when the file that is being written has ended,
 * and @tell gets a line as well. If the folder is refused then, @tell gets another one.
 *
 * Return: 0, -EBUSY while an earlier change waits for the disk, or another negative errno.
 */
int recorder_change(struct recorder *r, struct recorder_options *o);

/** recorder_begin() - tracing has begun, so the header of streams is known */
void recorder_begin(struct recorder *r, const struct stream_header *header);

/**
 * recorder_record() - add a command that has ended; Return: whether the caller has to call
 * recorder_queue()
 */
bool recorder_record(struct recorder *r, const struct nt_record *rec);

/** recorder_queue() - say which connection the last record belongs to */
void recorder_queue(struct recorder *r, const struct queue_info *q);

/**
 * recorder_device() - say what the namespace of the last record is called; once for each namespace
 */
void recorder_device(struct recorder *r, const struct device_name *d);

/** recorder_event() - something happened to a host's controller */
void recorder_event(struct recorder *r, const struct nt_path_event *e);

/** recorder_interval() - an interval has ended */
void recorder_interval(struct recorder *r, const struct stats *s);

/**
 * recorder_trigger() - write the records that are kept, and those that follow
 * @trigger: TRIGGER_SIGNAL or TRIGGER_EXIT
 */
void recorder_trigger(struct recorder *r, unsigned int trigger);

/** recorder_work() - continue to write, without waiting; call it often */
void recorder_work(struct recorder *r);

/**
 * recorder_finish() - write what has not been written, as no more records come
 *
 * It waits for that, but not longer than @patience_ns.
 */
void recorder_finish(struct recorder *r, uint64_t patience_ns);

/** recorder_counts() - fill @c; its strings are valid until recorder_change() or recorder_free() */
void recorder_counts(const struct recorder *r, struct keep_counts *c);

/** recorder_free() - release; an incomplete file disappears. NULL is fine */
void recorder_free(struct recorder *r);

#endif /* NTPROF_SERVE_RECORDER_H */
