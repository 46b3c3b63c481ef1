/* SPDX-License-Identifier: GPL-2.0-only */
/* The verb report: groups of merged commands (--by, --every), and the output of all groups. */
#ifndef NTPROF_CLI_REPORT_GROUPS_H
#define NTPROF_CLI_REPORT_GROUPS_H

#include "cli/report_state.h"

/** report_groups_seen() - call for each merged command, selected or not */
void report_groups_seen(struct report *r, const struct merge_connection *c,
			const struct nt_record *host);

/**
 * report_groups_add() - add a command that is selected
 * @target: NULL if the host gave the command up
 *
 * Return: 0 or -ENOMEM.
 */
int report_groups_add(struct report *r, const struct merge_connection *c,
		      const struct nt_record *host, const struct nt_record *target);

/** report_groups_finish() - call when all is read. Return: 0 or -ENOMEM */
int report_groups_finish(struct report *r);

/**
 * report_groups_csv() - print all groups: of merged commands, and of each input of which nothing
 * was matched
 *
 * Return: 0 or -ENOMEM.
 */
int report_groups_csv(struct report *r);

/**
 * report_lacks() - whether no recording has what was asked for: keys that only hosts know, or
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

#endif /* NTPROF_CLI_REPORT_GROUPS_H */
