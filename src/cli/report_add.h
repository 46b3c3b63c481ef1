/* SPDX-License-Identifier: GPL-2.0-only */
/* The verb report: each command is given to all that counts commands. */
#ifndef NTPROF_CLI_REPORT_ADD_H
#define NTPROF_CLI_REPORT_ADD_H

#include "cli/report_data.h"

/** report_timeline_add() - add the command that r->merged was given last. Return: 0 or -ENOMEM */
int report_timeline_add(struct report *r, const struct merge_connection *c,
			const struct nt_record *host);

/** report_blocks_add() - add a matched command to @r->blocks. Return: 0 or -ENOMEM */
int report_blocks_add(struct report *r, const struct merge_connection *c,
		      const struct nt_record *host, const struct nt_record *target);

/**
 * report_why_add() - add the command that r->merged was given last to r->why: see why_add()
 */
int report_why_add(struct report *r, const struct merge_connection *c, const struct nt_record *host,
		   const struct nt_record *target, unsigned int stands_for);

/** report_path_event() - an event of a controller of input @i. Return: 0 or -ENOMEM */
int report_path_event(struct report *r, unsigned int i, const struct nt_path_event *e);

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

#endif /* NTPROF_CLI_REPORT_ADD_H */
