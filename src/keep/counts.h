/* SPDX-License-Identifier: GPL-2.0-only */
/* The counters of a flight recorder. */
#ifndef NTPROF_KEEP_COUNTS_H
#define NTPROF_KEEP_COUNTS_H

#include <stdint.h>

#include "keep/when.h"

/* What can start a file: the conditions come first, then these. */
enum { TRIGGER_SIGNAL = WHEN_CONDITIONS_MAX, TRIGGER_EXIT, TRIGGERS_MAX };

/**
 * struct keep_counts - counters since the recorder began
 * @records: records that are kept now, in @memory_bytes of memory
 * @seconds: age of the oldest one
 * @left_out: records that were dropped before their time, or that found no memory
 * @trigger_name: what each trigger is called; NULL where there is no such condition
 * @triggers: how often each one fired. One that fires while a file is being written is counted,
 *            too, and its records are in that file.
 * @written, @failed: files
 * @removed: files that were removed to make room for others
 * @files, @disk_bytes: number and size of the files that exist now
 */
struct keep_counts {
	uint64_t records;
	uint64_t memory_bytes;
	double seconds;
	uint64_t left_out;
	const char *trigger_name[TRIGGERS_MAX];
	uint64_t triggers[TRIGGERS_MAX];
	uint64_t written;
	uint64_t failed;
	uint64_t removed;
	uint64_t files;
	uint64_t disk_bytes;
};

#endif /* NTPROF_KEEP_COUNTS_H */
