/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recorded commands as a trace for Perfetto (https://ui.perfetto.dev): a process for each machine,
 * a track for each queue and tag, with the stages nested in the commands, arrows from host to
 * target and back, and counters over time. All times are those of the hosts' clocks.
 *
 * The format is protobuf, of perfetto's protos/perfetto/trace/trace_packet.proto and
 * track_event/track_event.proto.
 */
#ifndef NTPROF_VIEW_PERFETTO_H
#define NTPROF_VIEW_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/path_events.h"
#include "merge/places.h"
#include "merge/tcp_history.h"
#include "merge/timeline.h"
#include "stream/reader.h"

/* Commands in a file, unless the user wants another number: some 100 MB. */
#define PERFETTO_COMMANDS 200000u
#define PERFETTO_COMMANDS_MAX 10000000u

/* TCP connections with counters, each of TCP_HISTORY_POINTS points: 8 MB. */
#define PERFETTO_CONNECTIONS 256u

/* The first packet, by which a file that may be replaced is known. */
#define PERFETTO_BEGINS "\x0a\x15\x50\x01\x68\x01\xe2\x03\x0e\x08\x01\x12\x0antprof-bpf"

struct perfetto;

/** perfetto_new() - at most @max commands; NULL when memory ran out */
struct perfetto *perfetto_new(unsigned int max);

/**
 * perfetto_add() - a command of connection @c; one of @host and @target may be NULL
 * @to_common: of the side whose clock is taken: the host's, or the target's without a host
 *
 * When there are more commands than fit, half of those that stay are the slowest, the others every
 * 2nd, 4th and so on.
 *
 * Return: 0 or -ENOMEM.
 */
int perfetto_add(struct perfetto *p, const struct merge_connection *c, const struct nt_record *host,
		 const struct nt_record *target, int64_t to_common);

/**
 * struct perfetto_about - what a trace has besides commands
 * @m: names of machines
 * @inputs: their clocks
 * @t: for counters, or NULL
 * @tcp: for counters of connections, with curves
 * @events: of controllers
 */
struct perfetto_about {
	const struct machines *m;
	const struct input *inputs;
	const struct timeline *t;
	const struct tcp_history *tcp;
	const struct path_events *events;
};

/**
 * perfetto_write() - write the trace; nothing may be added after this
 * @left_out: set to the number of commands that found no room
 * @connections: the same of TCP connections
 *
 * Return: 0 or -ENOMEM.
 */
int perfetto_write(struct perfetto *p, const struct perfetto_about *about, FILE *f,
		   uint64_t *left_out, uint64_t *connections);

/** perfetto_free() - release; NULL is fine */
void perfetto_free(struct perfetto *p);

#endif /* NTPROF_VIEW_PERFETTO_H */
