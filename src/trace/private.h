/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files that implement trace/tracer.h share, and no other file uses: types only. */
#ifndef NTPROF_TRACE_PRIVATE_H
#define NTPROF_TRACE_PRIVATE_H

#include "core/counters.h"
#include "core/device.h"
#include "core/hash.h"
#include "core/overdue.h"
#include "core/stats.h"
#include "shared/control.h"
#include "trace/clock.h"
#include "trace/object.h"
#include "trace/options.h"
#include "trace/refusals.h"

/*
 * A connection's name, kept because its slot may belong to the next one when its counts are read.
 * @slot, @who: see struct nt_identity
 * @epoch: the interval in which the connection was last there, or its name needed
 */
struct queue_ident {
	uint32_t slot;
	uint32_t who;
	uint32_t epoch;
	char controller[32];
	char peer[NT_NQN_LEN];
	char other[NT_NQN_LEN]; /* see &stats_row.other */
	uint16_t qid;
	uint16_t cntlid;
	uint8_t transport;
	UT_hash_handle hh;
};

/* The controller of a target's queue. */
struct queue_controller {
	uint16_t cntlid;
	const char *subsysnqn; /* in the object's memory */
};

/*
 * What was read from one histogram the last time. 32-bit counts wrap, which differences allow.
 * @epoch: the interval that ended then
 * @idle: number of intervals in which nothing was new
 * @max: the longest duration then, of the interval @max_epoch
 */
struct seen {
	uint32_t epoch;
	uint32_t idle;
	uint64_t sum;
	uint64_t bytes;
	uint64_t max;
	uint32_t max_epoch;
	struct workload others;
};

struct hist_seen {
	struct seen last;
	uint32_t buckets[NT_BUCKETS];
};

struct stages_seen {
	struct {
		struct seen last;
		uint32_t buckets[NT_STAGE_BUCKETS];
	} of[NT_STAGES_MAX];
};

/*
 * Skipped runs of a program, see trace/missed.h.
 * @twin: the name of its "nested" twin, or NULL; @twin_fd: -1 without a twin
 * @alone: the twin is not attached
 * @joins: it sees packets being joined
 * @settled: what had been counted when the two had missed @own and @of_twin
 */
struct missed {
	int fd;
	int twin_fd;
	const char *twin;
	bool alone;
	bool joins;
	uint64_t own;
	uint64_t of_twin;
	uint64_t settled;
};

/* @epoch: when a slot's states were looked at last; @found: whether one was in flight */
struct slot_look {
	uint32_t epoch;
	bool found;
};

/* Generation @gen of a slot was found gone; 0: none. */
struct slot_gone {
	uint32_t gen;
};

/* More programs than either side has. */
#define TRACER_PROGRAMS_MAX 64

/* Each part is written by the file that is named above it, and all of it by one thread. */
struct tracer {
	/* tracer.c */
	struct tracer_options o;
	struct rx_clock clock;
	struct ring_buffer *ring;
	uint64_t drain_ns;	 /* when the last tracer_drain() began */
	unsigned int drained;	 /* records since the beginning */
	struct origins *origins; /* NULL where not asked for */
	/*
	 * Programs that the kernel has refused so far; load.c and attach.c add to it. It belongs to
	 * the caller, and is NULL once the tracer is open.
	 */
	struct refusals *refused;
	bool detached;	/* tracer_detach() has been called */
	bool measures;	/* false between two bursts */
	bool edges_due; /* a burst has ended, and its commands in flight are not counted yet */
	uint64_t measured_ns;	 /* in all bursts that have ended */
	uint64_t bursts;	 /* that have ended */
	uint64_t burst_began_ns; /* the last of those */
	uint64_t burst_ended_ns;

	/* load.c */
	struct object object;
	enum nt_source source;
	uint32_t missing; /* bits of points that bound stages and that nothing here gives */
	uint8_t into[NT_STAGES_MAX]; /* see stages_join() */
	unsigned int cpus;
	uint32_t nr_slots;
	uint32_t expected; /* pieces of states that connections from before tracing may need */
	int errors_fd;
	struct ring_buffer *calls; /* programs send identities, or that a pool is low */

	/* attach.c */
	bool of_ends[TRACER_PROGRAMS_MAX]; /* of probe_programs(): attached between bursts as well
					    */
	uint16_t burst;	       /* the number of the last one, with &tracer_options.stages */
	unsigned int attached; /* number of programs */
	uint64_t attached_ns;  /* when the last one was attached */
	uint64_t detached_ns;  /* when the first one was detached; 0: none was since */
	/*
	 * Whether programs that stand in are always needed, as far as is known: @always_nested for
	 * all but those of beginnings, @preempts for those as well.
	 */
	bool always_nested;
	bool preempts;

	/* in_flight.c */
	struct overdue *overdue; /* NULL where not asked for */
	uint64_t overdue_looked_ns;
	struct slot_look *looks; /* [nr_slots]: where commands were in flight the last time */
	uint64_t died;		 /* what user space has counted of NT_CNT_DIED */

	/* connections.c */
	struct queue_ident *ident; /* hash table: a slot may have had thousands in an interval */
	struct queue_controller *counted; /* [nr_slots], used while counting */

	/* give_back.c */
	struct slot_gone *gone; /* [nr_slots] */
	uint32_t gens;		/* the sum of all generations the last time */
	uint8_t *instances;	/* [nr_slots / qid_stride]: whether a host's controller is there */

	/* histograms.c */
	void **hist_seen;	       /* [NT_HISTS_BANKS], each of struct hist_seen */
	void **stages_seen;	       /* [NT_STAGES_BANKS], each of struct stages_seen */
	struct hist_seen *shared_seen; /* [shared_mask + 1] */
	/* By operation, of commands whose stages are in those of the machine only. */
	struct stage_counts stages_shared[NT_OPS_NR];
	struct error_seen *errors_seen; /* [NT_ERRORS], @nr_errors of them */
	unsigned int nr_errors;
	uint64_t errors_past[NT_OPS_NR]; /* of &nt_control.errors_past */

	/* missed.c */
	struct missed missed[TRACER_PROGRAMS_MAX];
	unsigned int nr_missed;
	uint64_t joins_missed;

	/* tcp_state.c */
	struct tcp_reader *tcp; /* NULL where not asked for */

	/* disks.c; @counts_disks is of load.c */
	bool counts_disks;
	struct disk_seen *disks_seen;
	struct nt_disk_use *disk_cpus; /* [cpus], used while reading */
	uint64_t disks_ms;	       /* when they were read last, since 1970 */

	/* path_events.c */
	struct path_reader *path_events; /* NULL where not asked for */

	/* collect.c */
	bool quiet;	     /* see &stats.quiet */
	bool idle;	     /* no I/O queue had a command: see tracer_has_worked() */
	uint64_t looked_ns;  /* the last interval that was not */
	uint32_t *swept_gen; /* [nr_slots] */
	uint64_t counters_seen[COUNTERS_NR];
	uint32_t alikes_seen[NT_ALIKE];
	uint64_t began_ns;
	uint64_t collected_ns; /* &measured_ns then */
};

/* No queue was seen in this slot, nor in one behind it. */
static inline uint32_t slots_seen(const struct tracer *t)
{
	uint32_t seen = __atomic_load_n(&t->object.control->slots_seen, __ATOMIC_ACQUIRE);

	return seen < t->nr_slots ? seen : t->nr_slots;
}

/*
 * Whether programs count stages. The one stage that the ends of a target's command bound is its
 * latency.
 */
static inline bool tracer_counts_stages(const struct tracer *t)
{
	return !t->o.ends || t->o.stages || t->o.side == NT_HOST;
}

#endif /* NTPROF_TRACE_PRIVATE_H */
