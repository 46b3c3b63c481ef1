/* SPDX-License-Identifier: GPL-2.0-only */
/* The verb report: reading the streams side by side, and what becomes of each command. */
#ifndef NTPROF_CLI_REPORT_READ_H
#define NTPROF_CLI_REPORT_READ_H

#include "cli/report_state.h"

/** report_open() - open @r->nr inputs; what is wrong is said; Return: 0 or a negative errno */
int report_open(struct report *r, char *const *paths);

/**
 * report_prepare() - read every stream once, and find out which are alone
 *
 * Streams that can be read again are lined up by what they have in common; for the others the wall clocks have to do
 * until the merge knows better.
 * Return: 0 or a negative errno.
 */
int report_prepare(struct report *r);

/** report_read() - read all there is; damage ends one input, what was whole before it counts; Return: as above */
int report_read(struct report *r);

/** report_matched(), report_single() - what @context, a struct report, is called back with by its merge */
void report_matched(void *context, const struct merge_connection *c, const struct nt_record *host,
		    const struct nt_record *target);
void report_single(void *context, const struct merge_connection *c, const struct nt_record *rec,
		   bool ambiguous);

#endif /* NTPROF_CLI_REPORT_READ_H */
