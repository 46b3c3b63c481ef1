/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps which connections have been announced to a reader of records: the first record of each is
 * preceded by a description of it. The first commands of an admin queue come before its controller
 * has an id and a subsystem. When it has them, it is announced again.
 */
#ifndef NTPROF_TRACE_ANNOUNCE_H
#define NTPROF_TRACE_ANNOUNCE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "trace/tracer.h"

/**
 * struct announced_queue - the announced facts about a slot's connection
 * @gen: the connection that was announced last; 0: none
 * @cntlid: its controller's id
 * @named: it was announced with the name of its subsystem, or will never have one
 */
struct announced_queue {
	uint32_t gen;
	uint16_t cntlid;
	bool named;
};

/**
 * struct announced - begins as all zeroes
 * @queues: [slot]
 * @nr: number of @queues
 */
struct announced {
	struct announced_queue *queues;
	uint32_t nr;
};

/**
 * announce() - whether a record's connection is new, or more is known of it
 * @a: the announced connections; this one is added
 * @t: the tracer of the record
 * @r: record
 * @q: filled when there is something to announce
 *
 * Return: 1 when there is something to announce, 0 when not, -ENOMEM.
 */
int announce(struct announced *a, const struct tracer *t, const struct nt_record *r,
	     struct queue_info *q);

/**
 * announce_describe() - describe a record's connection
 *
 * Return: true if nothing more will be known of it later.
 */
bool announce_describe(const struct tracer *t, const struct nt_record *r, struct queue_info *out);

/** announced_already() - whether announce() has nothing to announce, as is mostly so */
static inline bool announced_already(const struct announced *a, const struct nt_record *r)
{
	const struct announced_queue *told;

	if (r->slot >= a->nr)
		return false;
	told = &a->queues[r->slot];
	/*
	 * Only an admin queue may be asked about repeatedly. Others have a name from the start, and
	 * are busy.
	 */
	return told->gen == r->gen && told->cntlid == r->cntlid && (told->named || r->qid);
}

/** announced_free() - release */
void announced_free(struct announced *a);

#endif /* NTPROF_TRACE_ANNOUNCE_H */
