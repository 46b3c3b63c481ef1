/* SPDX-License-Identifier: GPL-2.0-only */
/* The verb report: how near the traffic of recordings came to what network and drives can carry. */
#ifndef NTPROF_CLI_REPORT_LIMITS_H
#define NTPROF_CLI_REPORT_LIMITS_H

#include "cli/report_state.h"

/** report_limits_open() - before the first record, where there are limits; Return: 0 or -ENOMEM */
int report_limits_open(struct report *r);

/**
 * report_limits_record() - a record of an input: its data went over the network, whatever is selected
 *
 * Counted are hosts' records, or targets' where no host is there: nothing goes twice.
 * Return: 0 or -ENOMEM.
 */
int report_limits_record(struct report *r, unsigned int i, const struct nt_record *rec);

/** report_limits_finish() - all has been read; Return: 0 or -ENOMEM */
int report_limits_finish(struct report *r);

#endif /* NTPROF_CLI_REPORT_LIMITS_H */
