/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which commands of a recording found fewer than a number of others, or less than a number of bytes
 * of their data, in flight on their queue.
 * Records come when commands have ended, and what was in flight when one began may end later, so a
 * recording is read once for this before it is read for all else. Memory: one bit for each record.
 */
#ifndef NTPROF_MERGE_DEPTHS_H
#define NTPROF_MERGE_DEPTHS_H

#include <stdbool.h>
#include <stdint.h>

#include "shared/record.h"

/* The most queues of a recording; of commands of further ones it is not known. */
#ifndef DEPTHS_QUEUES_MAX
#define DEPTHS_QUEUES_MAX 65536u
#endif

/*
 * The most commands that wait to be counted, 10 MiB: of a command during which this many others of
 * the recording began and ended it is not known. More than FLIGHTS_MAX, as these are the slow ones.
 */
#ifndef DEPTHS_WAIT_MAX
#define DEPTHS_WAIT_MAX 262144u
#endif

struct depths;

/**
 * depths_new() - no records yet
 * @few, @bytes: a command that found fewer than these, and less data of them, is taken; 0: any
 *
 * Return: NULL when memory ran out.
 */
struct depths *depths_new(uint32_t few, uint64_t bytes);

/**
 * depths_add() - the next record of the first reading
 *
 * Counted are the commands of the same slot and generation that have a record, itself not: those
 * that began before it, or with it and were counted before it, and that ended after it began.
 *
 * Return: 0 or -ENOMEM.
 */
int depths_add(struct depths *d, const struct nt_record *r);

/** depths_finish() - the first reading is over; Return: 0 or -ENOMEM */
int depths_finish(struct depths *d);

/** depths_take() - the next record of the second reading; Return: whether it is taken */
bool depths_take(struct depths *d);

/**
 * depths_unknown() - records of which it is not known: without a beginning or an end, of a queue
 * past the limit, or late, see &struct flights
 */
uint64_t depths_unknown(const struct depths *d);

/** depths_free() - release; NULL is fine */
void depths_free(struct depths *d);

#endif /* NTPROF_MERGE_DEPTHS_H */
