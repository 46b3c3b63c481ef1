/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verb report: the options that select commands by what only recordings have, and how many
 * commands were in flight when one began, which takes a reading of the recordings before all else.
 */
#ifndef NTPROF_CLI_REPORT_FILTER_H
#define NTPROF_CLI_REPORT_FILTER_H

#include <argp.h>

#include "cli/report_data.h"
#include "stream/stream.h"

/* --time, --where, --max-inflight, --pid and --comm; the input is a struct filter. */
extern const struct argp filter_argp;

/**
 * report_depths_add() - a record of the first reading of input @i; Return: 0 or -ENOMEM
 *
 * This and the functions below do nothing unless the filter asks for it.
 */
int report_depths_add(struct report *r, unsigned int i, const struct nt_record *rec);

/** report_depths_finish() - the first reading is over; Return: 0 or -ENOMEM */
int report_depths_finish(struct report *r);

/** report_depths_mark() - an event of the second reading: sets NT_F_CROWDED of a record */
void report_depths_mark(const struct report *r, unsigned int i, struct stream_event *e);

/** report_depths_lack() - whether an input cannot say it; a message has been printed then */
bool report_depths_lack(const struct report *r);

/** report_depths_told() - say on standard error of how many commands it is not known */
void report_depths_told(const struct report *r);

/** report_depths_free() - release */
void report_depths_free(struct report *r);

#endif /* NTPROF_CLI_REPORT_FILTER_H */
