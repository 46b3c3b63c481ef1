/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which BPF programs give a point on this kernel. The table of ways is in probes_table.c; this decides,
 * from the kernel's type information, which of them work here, and which one each point takes.
 */
#ifndef NTPROF_TRACE_PROBES_H
#define NTPROF_TRACE_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/points.h"

struct bpf_object;
struct bpf_program;

/* Programs of one way, at most. */
#define PROBES_WAY_PROGRAMS 13

/**
 * struct probe_way - a way to get some points
 * @side: host or target
 * @source: whose programs they are
 * @points: bit N is point N of the side
 * @programs: all of them are needed but those that begin with '?', which are taken where they work;
 *            NULL ends the list
 * @unless: a program, or NULL: where that one's function exists, the driver does not go this way
 * @sees: what exactly is seen, for people
 */
struct probe_way {
	enum nt_side side;
	enum nt_source source;
	uint32_t points;
	const char *programs[PROBES_WAY_PROGRAMS];
	const char *sees;
	const char *unless;
};

/* All ways; of those with the same side, source and point the first that works is the best. */
extern const struct probe_way probe_ways[];
extern const size_t probe_ways_nr;

/**
 * probe_programs() - a side's programs in the order in which a command meets them
 * @side: host or target
 *
 * To be attached from last to first, so that a command's beginning is seen only once all that follows
 * it is. The first ones, up to and including that which probe_begins(), see the beginning.
 *
 * Return: names, NULL-terminated.
 */
const char *const *probe_programs(enum nt_side side);

/** probe_begins() - whether the program @name is the one that sees commands begin */
bool probe_begins(const char *name);

/** probe_stands_in() - whether the program @name takes what another was skipped for: a "nested" one */
bool probe_stands_in(const char *name);

/**
 * probe_watches_data() - whether the program @name only sees the end of reads that have no CQE
 *
 * Such reads there are on connections without SQ flow control.
 */
bool probe_watches_data(const char *name);

/** probe_vital_points() - those without which no command is seen, or none ends */
uint32_t probe_vital_points(enum nt_side side);

struct probes;

/**
 * probes_new() - look at the running kernel
 * @side: host or target
 * @obj: its BPF object, open and not loaded: says what its programs attach to. Stays the caller's
 *
 * Return: release it with probes_free(); NULL with errno set if there is no memory, or the kernel has
 * no type information.
 */
struct probes *probes_new(enum nt_side side, struct bpf_object *obj);
void probes_free(struct probes *p);

/** probes_module_loaded() - whether the driver is */
bool probes_module_loaded(const struct probes *p);

/** probes_module_btf() - whether the loaded driver has type information */
bool probes_module_btf(const struct probes *p);

/**
 * probes_works() - whether a way works on this kernel
 * @why: where it does not, filled with the reason; @size bytes. May be NULL
 */
bool probes_works(const struct probes *p, const struct probe_way *w, char *why, size_t size);

/** probes_way() - the best way to get @point from @source, or NULL */
const struct probe_way *probes_way(const struct probes *p, enum nt_source source,
				   unsigned int point);

/** probes_points() - bits of the points that @source gives on this kernel */
uint32_t probes_points(const struct probes *p, enum nt_source source);

/**
 * probes_source() - the source that is used when nobody asks for one: tracepoints where the driver has
 * all of them, else stock
 */
enum nt_source probes_source(const struct probes *p);

/**
 * probes_select() - have the object load the programs of the best way to each point, and no others
 * @source: of which source
 * @points: bits of the points wanted
 */
void probes_select(struct probes *p, enum nt_source source, uint32_t points);

#endif /* NTPROF_TRACE_PROBES_H */
