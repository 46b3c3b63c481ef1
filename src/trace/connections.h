/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names of controllers and connections. The programs note them: on the host when a controller
 * is first seen or connected, on the target when Connect was executed. Numbers and addresses of a
 * host's controllers come from sysfs.
 */
#ifndef NTPROF_TRACE_CONNECTIONS_H
#define NTPROF_TRACE_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device.h"
#include "core/stats.h"

struct queue_ident;
struct tracer;

/**
 * connections_init() - allocate what names need; connections_free() releases it
 *
 * Return: 0 or -ENOMEM
 */
int connections_init(struct tracer *t);
void connections_free(struct tracer *t);

/**
 * struct connections_now - controllers and queues connected before tracing begins
 * @highest_instance: the highest N of the host's controllers nvmeN; 0 if there is none
 * @most_queues: the most queues that one of the host's controllers has
 * @queues: queues of all of the host's controllers, or connections of a target
 * @pieces: pieces of states (NT_CHUNK_CMDS) that their commands can need
 */
struct connections_now {
	uint32_t highest_instance;
	uint32_t most_queues;
	uint32_t queues;
	uint32_t pieces;
};

/**
 * connections_now() - fill @now for a side: from sysfs, or from configfs and the established
 * sockets; @transports: of a host
 */
void connections_now(enum nt_side side, unsigned int transports, struct connections_now *now);

/**
 * connections_established() - the connections that the target has accepted at one of @nr @ports
 * @path: /proc/net/tcp, or a file like it. Others may listen at such a port of another address
 */
uint32_t connections_established(const char *path, const uint16_t *ports, unsigned int nr);

/** connections_count() - fill the numbers of controllers and queues of @s */
void connections_count(const struct tracer *t, struct stats *s);

/* Names that are kept at a time: twice as many as connections can have a histogram. */
#define CONNECTIONS_NAMED_MAX 65536

/** connections_learn() - keep the identity that a program has sent, up to CONNECTIONS_NAMED_MAX */
void connections_learn(struct tracer *t, const struct nt_identity *i);

/**
 * connections_identify() - the name of a connection
 * @slot: its slot
 * @who: which of the connections that had the slot, see struct nt_identity
 *
 * A target's connection has no name before its Connect command has ended, and a host's controller
 * of PCIe none before it is part of a subsystem; their counts wait in the kernel until then.
 *
 * Return: the name, valid until the next connections_tidy(), or NULL if it is not known yet, or no
 * longer: see connections_unknown().
 */
const struct queue_ident *connections_identify(struct tracer *t, uint32_t slot, uint32_t who);

/**
 * connections_row() - the row of an operation of a connection, made when it is new; see stats_row()
 * @id: of connections_identify()
 * @slot: its slot
 *
 * The row of a connection that is there stays its own, if one that is closed had the same name.
 */
struct stats_row *connections_row(const struct tracer *t, struct stats *s,
				  const struct queue_ident *id, uint32_t slot, enum nt_op op);

/** connections_fold() - once an interval is collected: rows of connections that ended give way.
 * Return: 0 or -ENOMEM */
int connections_fold(const struct tracer *t, struct stats *s, uint64_t now);

/** connections_who() - @who of the connection to which the record of a command in flight belongs */
uint32_t connections_who(const struct tracer *t, const struct nt_record *r);

/**
 * connections_gone() - whether connection @who of a slot has closed, or another one has its slot
 */
bool connections_gone(const struct tracer *t, uint32_t slot, uint32_t who);

/**
 * connections_unknown() - whether a connection that connections_identify() does not find will never
 * have a name
 *
 * This is so if the connection is gone and everything that programs have sent has been read, or if
 * tracing is over. Otherwise its counts wait in the kernel.
 */
bool connections_unknown(struct tracer *t, uint32_t slot, uint32_t who);

/** connections_tidy() - at each interval: remove names that are not needed any more */
void connections_tidy(struct tracer *t);

/** connections_controller_name() - see tracer_controller_name() */
void connections_controller_name(const struct tracer *t, const struct nt_record *r, char *buf,
				 size_t size);

/** connections_queue() - see tracer_queue() */
void connections_queue(const struct tracer *t, uint32_t slot, uint32_t gen, struct queue_info *q);

/**
 * connections_forget() - forget all connections; call while no program is attached
 *
 * The slots may belong to other connections by now. The next command of each slot finds that out.
 * Counts of the earlier connections keep their names.
 */
void connections_forget(struct tracer *t);

/** connections_new_burst() - forget what programs between the ends noted in the last burst */
void connections_new_burst(struct tracer *t);

#endif /* NTPROF_TRACE_CONNECTIONS_H */
