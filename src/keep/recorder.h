/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The flight recorder: keeps the records of the last while, and writes them, and those of some time after, as a stream when
 * something sets it off. It never waits for a disk: a thread writes (core/output.h), and recorder_work() feeds it.
 */
#ifndef NTPROF_KEEP_RECORDER_H
#define NTPROF_KEEP_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "core/stats.h"
#include "keep/counts.h"
#include "keep/when.h"
#include "stream/stream.h"

/* Room for a line that is told: a path and what set it off. */
#define RECORDER_LINE_LEN 4864

/**
 * struct recorder_options - what was asked
 * @keep_ns: how long records are kept; 0: there is no recorder
 * @after_ns: for how long after it was set off a file goes on
 * @memory_bytes: for what is kept
 * @folder: where files are written
 * @files, @disk_bytes: so many, and so large, they are at most
 * @keep_free: bytes of the disk that are left to others, or FOLDER_KEEP_FREE_DEFAULT
 * @when: conditions, which the recorder takes over
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

/** recorder_tell_fn - a line for people. @failed: something went wrong */
typedef void recorder_tell_fn(void *context, bool failed, const char *line);

struct recorder;

/**
 * recorder_new() - begin to keep
 * @o: @when is moved out of it, also on failure; @folder is copied
 * @tell: called for each file, with @context
 *
 * Return: NULL with errno set: that of @folder as folder_open() has it, which folder_error() says in words, or ENOMEM.
 */
struct recorder *recorder_new(struct recorder_options *o, enum nt_side side, recorder_tell_fn *tell,
			      void *context);

/** recorder_change() - other limits, folder and conditions from now on, as recorder_new(); 0 or a negative errno */
int recorder_change(struct recorder *r, struct recorder_options *o);

/** recorder_begin() - what streams begin with is known: tracing has begun */
void recorder_begin(struct recorder *r, const struct stream_header *header);

/** recorder_record() - a command has ended. Return: whether recorder_queue() is to be told whose it is */
bool recorder_record(struct recorder *r, const struct nt_record *rec);

/** recorder_queue() - whose the last record is */
void recorder_queue(struct recorder *r, const struct queue_info *q);

/** recorder_device() - what the namespace of the last record is called, once */
void recorder_device(struct recorder *r, const struct device_name *d);

/** recorder_interval() - an interval has ended */
void recorder_interval(struct recorder *r, const struct stats *s);

/** recorder_trigger() - write what there is, and what comes. @trigger: TRIGGER_SIGNAL or TRIGGER_EXIT */
void recorder_trigger(struct recorder *r, unsigned int trigger);

/** recorder_work() - go on writing, as far as that does not take waiting; to be called often */
void recorder_work(struct recorder *r);

/** recorder_finish() - nothing comes any more: write what has not been, and wait for that, for @patience_ns at most */
void recorder_finish(struct recorder *r, uint64_t patience_ns);

/** recorder_counts() - fill @c; its names are valid until recorder_change() or recorder_free() */
void recorder_counts(const struct recorder *r, struct keep_counts *c);

/** recorder_free() - release; a file that is not whole is gone. NULL is fine */
void recorder_free(struct recorder *r);

#endif /* NTPROF_KEEP_RECORDER_H */
