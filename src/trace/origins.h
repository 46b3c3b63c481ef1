/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers the origins of a host's commands, so that a record has room for them. When all numbers
 * are used, further origins share one.
 */
#ifndef NTPROF_TRACE_ORIGINS_H
#define NTPROF_TRACE_ORIGINS_H

#include "core/origin.h"

struct origins;

/** origins_new() - with no origin yet; NULL when memory ran out */
struct origins *origins_new(void);

/**
 * origins_number() - the number of an origin, which gets one when it is new; ORIGIN_OTHERS where
 * there are too many, or no memory
 */
unsigned int origins_number(struct origins *o, const struct nt_from *from);

/** origins_get() - fill @origin with what a number stands for */
void origins_get(const struct origins *o, unsigned int number, struct origin *origin);

/** origins_free() - release; NULL is fine */
void origins_free(struct origins *o);

#endif /* NTPROF_TRACE_ORIGINS_H */
