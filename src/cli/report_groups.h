/* SPDX-License-Identifier: GPL-2.0-only */
/* The verb report: merged commands in groups (--by, --every), and what is printed of all groups. */
#ifndef NTPROF_CLI_REPORT_GROUPS_H
#define NTPROF_CLI_REPORT_GROUPS_H

#include "cli/report_state.h"

/** report_groups_seen() - a command is merged, whether it is selected or not */
void report_groups_seen(struct report *r, const struct merge_connection *c,
			const struct nt_record *host);

/** report_groups_add() - it is selected; @target: NULL of one that the host gave up; Return: 0 or -ENOMEM */
int report_groups_add(struct report *r, const struct merge_connection *c,
		      const struct nt_record *host, const struct nt_record *target);

/** report_groups_finish() - all has been read; Return: 0 or -ENOMEM */
int report_groups_finish(struct report *r);

/** report_groups_csv() - print all groups, of merged commands and of inputs by themselves; Return: 0 or -ENOMEM */
int report_groups_csv(struct report *r);

/**
 * report_lacks() - whether no recording tells what is asked for: what only hosts know, or where commands come from
 * @r: all headers have been read
 *
 * It is told on standard error then, with what does.
 */
bool report_lacks(const struct report *r);

/**
 * report_no_device() - whether no recording has a device of the name that commands are selected by
 * @r: all has been read
 *
 * It is told on standard error then, with the names that there are.
 */
bool report_no_device(const struct report *r);

#endif /* NTPROF_CLI_REPORT_GROUPS_H */
