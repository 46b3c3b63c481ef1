/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands in flight that have been reported as overdue. So each is reported once, and
 * recognized when it ends. There are at most as many as states of commands in flight
 * (shared/pools.h).
 */
#ifndef NTPROF_CORE_OVERDUE_H
#define NTPROF_CORE_OVERDUE_H

#include <stdbool.h>
#include <stddef.h>

#include "shared/record.h"

struct overdue;

/** overdue_new() - an empty set; NULL if memory ran out */
struct overdue *overdue_new(void);

/**
 * overdue_tell() - a scan of the commands in flight has found an overdue command
 *
 * Return: 1 if the caller has to report it, 0 if it was reported before, or -ENOMEM.
 */
int overdue_tell(struct overdue *o, const struct nt_record *r);

/**
 * overdue_looked() - a scan of all commands in flight is over
 *
 * A command that two scans in a row have not found ended without a record: it was lost, or its
 * connection closed. It is forgotten then. After only one scan its record may still be on its way.
 */
void overdue_looked(struct overdue *o);

/**
 * overdue_ended() - a command has ended, and is forgotten
 *
 * Return: whether it was reported as overdue.
 */
bool overdue_ended(struct overdue *o, const struct nt_record *r);

/** overdue_count() - how many commands are in the set */
size_t overdue_count(const struct overdue *o);

/** overdue_free() - release; @o may be NULL */
void overdue_free(struct overdue *o);

#endif /* NTPROF_CORE_OVERDUE_H */
