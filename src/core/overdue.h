/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands in flight that have been told to be overdue, so that each is told once, and known again when
 * it ends. As many as are in flight at a time; no more than there are states for (core/pools.h).
 */
#ifndef NTPROF_CORE_OVERDUE_H
#define NTPROF_CORE_OVERDUE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/record.h"

struct overdue;

/** overdue_new() - with none; NULL when memory ran out */
struct overdue *overdue_new(void);

/**
 * overdue_tell() - a look at what is in flight has found a command overdue
 *
 * Return: 1 if that is to be told, 0 if it has been, or -ENOMEM.
 */
int overdue_tell(struct overdue *o, const struct nt_record *r);

/**
 * overdue_looked() - a look at all that is in flight is over
 *
 * What two looks in a row have not found has ended without a record (it was lost, or the connection
 * closed), and is forgotten. After one the record may still be on its way.
 */
void overdue_looked(struct overdue *o);

/** overdue_ended() - a command has ended; it is forgotten. Return: whether it was told */
bool overdue_ended(struct overdue *o, const struct nt_record *r);

/** overdue_count() - how many are known */
size_t overdue_count(const struct overdue *o);

/** overdue_free() - release; NULL is fine */
void overdue_free(struct overdue *o);

#endif /* NTPROF_CORE_OVERDUE_H */
