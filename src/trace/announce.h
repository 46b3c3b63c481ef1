/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which connections a reader of records has been told of: the first record of each is preceded by who
 * it is. The first commands of an admin queue come before its controller has an id and a subsystem;
 * when it has, it is told of again.
 */
#ifndef NTPROF_TRACE_ANNOUNCE_H
#define NTPROF_TRACE_ANNOUNCE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/queue.h"
#include "trace/tracer.h"

/**
 * struct announced_queue - what has been told of a slot's connection
 * @gen: the connection last told of; 0: none
 * @cntlid: its controller's id
 * @named: with the name of its subsystem, or where there will be none
 */
struct announced_queue {
	uint32_t gen;
	uint16_t cntlid;
	bool named;
};

/**
 * struct announced - begins as all zeroes
 * @queues: [slot]
 * @nr: how many of them there are
 */
struct announced {
	struct announced_queue *queues;
	uint32_t nr;
};

/**
 * announce() - whether a record's connection is new, or more is known of it
 * @a: what has been announced; from now on that one is, too
 * @t: whose record it is
 * @r: record
 * @q: filled when there is something to tell
 *
 * Return: 1 when there is something to tell, 0 when not, -ENOMEM.
 */
int announce(struct announced *a, const struct tracer *t, const struct nt_record *r,
	     struct queue_info *q);

/**
 * announce_describe() - who a record's connection is
 *
 * Return: whether no more will be known of it than there is now.
 */
bool announce_describe(const struct tracer *t, const struct nt_record *r, struct queue_info *out);

/** announced_already() - whether announce() has nothing to tell, as is the rule */
static inline bool announced_already(const struct announced *a, const struct nt_record *r)
{
	const struct announced_queue *told;

	if (r->slot >= a->nr)
		return false;
	told = &a->queues[r->slot];
	/* Only an admin queue may be asked again and again: others are born with a name, and busy. */
	return told->gen == r->gen && told->cntlid == r->cntlid && (told->named || r->qid);
}

/** announced_free() - release */
void announced_free(struct announced *a);

#endif /* NTPROF_TRACE_ANNOUNCE_H */
