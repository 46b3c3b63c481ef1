/* SPDX-License-Identifier: GPL-2.0-only */
/* The verb report: reads the streams side by side, and passes each command on. */
#ifndef NTPROF_CLI_REPORT_READ_H
#define NTPROF_CLI_REPORT_READ_H

#include "cli/report_state.h"

/** report_open() - open @r->nr inputs; prints errors. Return: 0 or a negative errno */
int report_open(struct report *r, char *const *paths);

/**
 * report_prepare() - find out which streams have no other side, and estimate the offsets of clocks
 *
 * Streams that can be read twice are read once for this, and aligned by the commands that they have
 * in common. For pipes the wall clocks have to do until the merge knows better.
 *
 * Return: 0 or a negative errno.
 */
int report_prepare(struct report *r);

/**
 * report_read() - read all streams; damage ends one input, whose data up to there counts. Return: 0
 * or a negative errno
 */
int report_read(struct report *r);

/** report_matched(), report_single() - the callbacks of the merge; @context is a struct report */
void report_matched(void *context, const struct merge_connection *c, const struct nt_record *host,
		    const struct nt_record *target);
void report_single(void *context, const struct merge_connection *c, const struct nt_record *rec,
		   bool ambiguous);

#endif /* NTPROF_CLI_REPORT_READ_H */
