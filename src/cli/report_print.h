/* SPDX-License-Identifier: GPL-2.0-only */
/* The verb report: prints the results. */
#ifndef NTPROF_CLI_REPORT_PRINT_H
#define NTPROF_CLI_REPORT_PRINT_H

#include "cli/report_state.h"

/** report_begin() - print what comes first */
void report_begin(const struct report *r);

/**
 * report_command() - print a command; @host or @target may be NULL. If memory runs out, @r->result
 * is set
 */
void report_command(struct report *r, const struct merge_connection *c,
		    const struct nt_record *host, const struct nt_record *target, bool ambiguous);

/** report_print() - print all the rest, when all is read. Return: 0 or a negative errno */
int report_print(struct report *r);

#endif /* NTPROF_CLI_REPORT_PRINT_H */
