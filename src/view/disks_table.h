/* SPDX-License-Identifier: GPL-2.0-only */
/* Who uses a target's disks (--disks), as a table and as its columns. */
#ifndef NTPROF_VIEW_DISKS_TABLE_H
#define NTPROF_VIEW_DISKS_TABLE_H

#include <stdio.h>

#include "core/stats.h"
#include "view/columns.h"

enum disk_column {
	DISK_NAME,
	DISK_BY,
	DISK_WHO,
	DISK_REQUESTS,
	DISK_IOPS,
	DISK_BYTES,
	DISK_THROUGHPUT,
	DISK_IN_DEVICE, /* mean */
	DISK_IN_FLIGHT, /* mean */
	DISK_TIME,	/* of all requests, the sum */
	DISK_SHARE,	/* of the time of all requests to the disk */
};

/**
 * struct disk_line - a row, of an interval or of the whole run
 * @all: the time of all requests to its disk
 * @seconds: how long that was
 */
struct disk_line {
	const struct disk_row *row;
	struct disk_use use;
	unsigned __int128 all;
	double seconds;
};

/* Rows are struct disk_line. */
extern const struct columns disk_columns;

/**
 * disk_line_make() - fill @l with row @i
 * @summary: of the whole run, otherwise of the last interval
 *
 * Return: whether it did anything then.
 */
bool disk_line_make(const struct stats *s, size_t i, bool summary, struct disk_line *l);

/** disks_print() - print a table; @width: columns of the terminal */
void disks_print(const struct stats *s, bool summary, FILE *f, unsigned int width);

#endif /* NTPROF_VIEW_DISKS_TABLE_H */
