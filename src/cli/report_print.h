/* SPDX-License-Identifier: GPL-2.0-only */
/* The verb report: the results that it prints. */
#ifndef NTPROF_CLI_REPORT_PRINT_H
#define NTPROF_CLI_REPORT_PRINT_H

#include "cli/report_data.h"

/** report_begin() - print the first part */
void report_begin(const struct report *r);

/**
 * report_command() - print a command; @host or @target may be NULL. If memory runs out, @r->result
 * is set
 */
void report_command(struct report *r, const struct merge_connection *c,
		    const struct nt_record *host, const struct nt_record *target, bool ambiguous);

/** report_print() - print all the rest, when all is read. Return: 0 or a negative errno */
int report_print(struct report *r);

/**
 * report_lacks() - whether no recording has the keys asked for: keys that only hosts know, or
 * origins
 * @r: all headers are read
 *
 * If so, a message on standard error says which recording would have it.
 */
bool report_lacks(const struct report *r);

/**
 * report_no_device() - whether no recording has the device that commands are selected by
 * @r: all is read
 *
 * If so, a message on standard error names the devices that there are.
 */
bool report_no_device(const struct report *r);

/* How near the recorded traffic came to the rates that network and drives can carry. */

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

#endif /* NTPROF_CLI_REPORT_PRINT_H */
