/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verb report: how near the recorded traffic came to the rates that network and drives can
 * carry.
 */
#ifndef NTPROF_CLI_REPORT_LIMITS_H
#define NTPROF_CLI_REPORT_LIMITS_H

#include "cli/report_state.h"

/**
 * report_limits_open() - call before the first record, if there are limits. Return: 0 or -ENOMEM
 */
int report_limits_open(struct report *r);

/**
 * report_limits_record() - count a record of an input, selected or not, because its data went over
 * the network
 *
 * Hosts' records are counted, or those of targets if there is no host, so that nothing is counted
 * twice.
 *
 * Return: 0 or -ENOMEM.
 */
int report_limits_record(struct report *r, unsigned int i, const struct nt_record *rec);

/** report_limits_finish() - call when all is read. Return: 0 or -ENOMEM */
int report_limits_finish(struct report *r);

#endif /* NTPROF_CLI_REPORT_LIMITS_H */
