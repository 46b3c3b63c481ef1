/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who is connected: the names of controllers and connections. The host's are in sysfs; the target's
 * the programs have noted when Connect was executed.
 */
#ifndef NTPROF_TRACE_CONNECTIONS_H
#define NTPROF_TRACE_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/queue.h"
#include "core/stats.h"

struct queue_ident;
struct tracer;

/**
 * connections_init() - allocate what names need; connections_free() releases it. Return: 0 or
 * -ENOMEM
 */
int connections_init(struct tracer *t);
void connections_free(struct tracer *t);

/**
 * struct connections_now - what there is before tracing begins
 * @highest_instance: the highest N of the host's controllers nvmeN; 0 if there is none
 * @most_queues: that a controller of a host has
 * @queues: connections of a target
 * @pieces: of states (NT_CHUNK_CMDS) that commands of them can need
 */
struct connections_now {
	uint32_t highest_instance;
	uint32_t most_queues;
	uint32_t queues;
	uint32_t pieces;
};

/** connections_now() - fill @now of a side: from sysfs, or from configfs and the sockets that there are */
void connections_now(enum nt_side side, struct connections_now *now);

/** connections_count() - fill the numbers of controllers and queues of @s */
void connections_count(const struct tracer *t, struct stats *s);

/* Names that are kept at a time: as many as there can be connections with a histogram, twice. */
#define CONNECTIONS_NAMED_MAX 65536

/** connections_learn() - a program tells who a connection is. Past CONNECTIONS_NAMED_MAX it is not kept */
void connections_learn(struct tracer *t, const struct nt_identity *i);

/**
 * connections_identify() - the name of a connection
 * @slot: its slot
 * @who: which of those that had it, see struct nt_identity
 *
 * A target's connection has no name before its Connect command has ended; its counts wait in the
 * kernel until then.
 *
 * Return: the name, which stays @t's until the next connections_tidy(), or NULL if it is not known yet, or not any more: see
 * connections_unknown().
 */
const struct queue_ident *connections_identify(struct tracer *t, uint32_t slot, uint32_t who);

/** connections_who() - which of the connections of its slot a record, of a command in flight, is of */
uint32_t connections_who(const struct tracer *t, const struct nt_record *r);

/** connections_gone() - whether connection @who of a slot has closed, or another one has the slot */
bool connections_gone(const struct tracer *t, uint32_t slot, uint32_t who);

/**
 * connections_unknown() - whether a connection that connections_identify() does not find will never have a name
 *
 * It is gone, and what programs have told until now is read; or tracing is over. Else its counts wait in the kernel.
 */
bool connections_unknown(struct tracer *t, uint32_t slot, uint32_t who);

/** connections_tidy() - at each interval: names that will not be asked for any more go */
void connections_tidy(struct tracer *t);

/** connections_controller_name() - see tracer_controller_name() */
void connections_controller_name(const struct tracer *t, const struct nt_record *r, char *buf,
				 size_t size);

/** connections_queue() - see tracer_queue() */
void connections_queue(const struct tracer *t, uint32_t slot, uint32_t gen, struct queue_info *q);

/**
 * connections_forget() - what was seen of connections may be of others by now; while no program is attached
 *
 * Whose a slot is is found out again by its next command. Their counts keep their names.
 */
void connections_forget(struct tracer *t);

#endif /* NTPROF_TRACE_CONNECTIONS_H */
