/* SPDX-License-Identifier: GPL-2.0-only */
/* What a flight recorder tells of itself. */
#ifndef NTPROF_KEEP_COUNTS_H
#define NTPROF_KEEP_COUNTS_H

#include <stdint.h>

#include "keep/when.h"

/* What may set it off: conditions, and then these. */
enum { TRIGGER_SIGNAL = WHEN_CONDITIONS_MAX, TRIGGER_EXIT, TRIGGERS_MAX };

/**
 * struct keep_counts - since it began
 * @records: that are kept now, @memory_bytes of memory
 * @seconds: how far back they go
 * @left_out: records that went before their time, or found no memory
 * @triggers: how often it was set off, by what: @trigger_name; NULL where there is no such condition. Also while a file is
 *            being written, which it is in then
 * @written, @failed: files; @removed: to make room for others
 * @files, @disk_bytes: that there are now
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
