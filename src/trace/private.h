/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tracer.c (loading) and collect.c (reading) share, and nobody else sees.
 */
#ifndef NTPROF_TRACE_PRIVATE_H
#define NTPROF_TRACE_PRIVATE_H

#include <bpf/libbpf.h>

#include "core/control.h"
#include "trace/clock.h"
#include "trace/tracer.h"

struct nt_host;
struct nt_target;

/* A connection's name, kept because its slot may belong to the next one when its counts are read. */
struct queue_ident {
	uint32_t gen;
	char controller[32];
	char peer[NT_NQN_LEN];
	uint16_t qid;
};

/*
 * What was read from one histogram the last time; 32-bit counts wrap, differences do not mind.
 * @epoch: the interval that ended then
 */
struct hist_seen {
	uint32_t epoch;
	uint64_t sum;
	uint64_t bytes;
	uint32_t buckets[NT_BUCKETS];
};

/* More than either side has. */
#define TRACER_PROGRAMS_MAX 64

struct tracer {
	struct tracer_options o;
	enum nt_source source;
	uint32_t missing; /* bits of points that bound stages and that nothing here gives */
	uint8_t into[NT_STAGES_MAX]; /* see stages_join() */
	struct rx_clock clock;
	struct nt_host *host;
	struct nt_target *target;
	struct bpf_object *obj;
	struct ring_buffer *ring;
	unsigned int attached;
	unsigned int cpus;

	/* Shared with the running BPF programs. */
	struct nt_control *control;
	struct nt_queue *queues;
	struct nt_cmd *cmds;
	struct nt_names *names; /* target only */
	uint32_t nr_slots;
	uint32_t nr_hists;

	int hists_fd;
	int stages_fd;

	/* Reading. */
	struct {
		int fd;
		int twin_fd; /* of its "nested" twin, -1 without */
	} running[TRACER_PROGRAMS_MAX];
	unsigned int nr_running;
	void *percpu;		      /* room for one value of hists or stages on every CPU */
	struct hist_seen *hist_seen;  /* [nr_hists] */
	struct hist_seen *stage_seen; /* [NT_OPS_NR * NT_STAGES_MAX] */
	/* Commands that the kernel has counted in a stage, and those that did not pass it. */
	uint64_t stage_counted[NT_OPS_NR][NT_STAGES_MAX];
	uint64_t stage_zeros[NT_OPS_NR][NT_STAGES_MAX];
	struct queue_ident (*ident)[2];	 /* [nr_slots][bank] */
	uint32_t stage_epoch[NT_OPS_NR]; /* the interval at whose end they were looked at last */
	uint32_t ops_seen;		 /* bits of operations that some queue has a histogram of */
	uint32_t *swept_gen;		 /* [nr_slots] */
	uint64_t counters_seen[COUNTERS_NR];
	uint64_t began_ns;
	bool always_nested; /* programs for what is interrupted are always needed */
	bool nested_detached;
	uint64_t attached_ns;
	uint64_t collected_ns;
};

/** collect_init() - allocate what reading needs; collect_free() releases it. Return: 0 or -ENOMEM */
int collect_init(struct tracer *t);
void collect_free(struct tracer *t);

#endif /* NTPROF_TRACE_PRIVATE_H */
