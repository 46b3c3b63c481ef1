/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which BPF programs set a point on this kernel. The table of ways is in probes_table.c. The
 * kernel's type information shows here which of them work, and so which one is used for each point.
 */
#ifndef NTPROF_TRACE_PROBES_H
#define NTPROF_TRACE_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/points.h"
#include "trace/probes_table.h"

struct bpf_object;
struct object;
struct refusals;

struct probes;

/**
 * probes_new() - examine the running kernel
 * @side: host or target
 * @obj: its BPF object, open and not loaded, which says what its programs attach to. Stays the
 *       caller's
 * @refused: programs that this kernel is known not to take. Copied as far as it is needed
 *
 * Return: release it with probes_free(); NULL with errno set if there is no memory, or the kernel
 * has no type information.
 */
struct probes *probes_new(enum nt_side side, struct bpf_object *obj,
			  const struct refusals *refused);
void probes_free(struct probes *p);

/** probes_module_loaded() - whether the driver is loaded */
bool probes_module_loaded(const struct probes *p);

/** probes_module_btf() - whether the loaded driver has type information */
bool probes_module_btf(const struct probes *p);

/**
 * probes_works() - whether a way works on this kernel
 * @why: filled with the reason where it does not; @size bytes. May be NULL
 */
bool probes_works(struct probes *p, const struct probe_way *w, char *why, size_t size);

/** probes_way() - the best way to get @point from @source, or NULL */
const struct probe_way *probes_way(struct probes *p, enum nt_source source, unsigned int point);

/** probes_points() - bits of the points that @source can set on this kernel */
uint32_t probes_points(struct probes *p, enum nt_source source);

/**
 * probes_source() - the source to use if none is asked for: tracepoints where the driver has all,
 * else stock
 */
enum nt_source probes_source(struct probes *p);

/**
 * probes_select() - make the object load the programs of the best way to each point, and no others
 * @o: the object that @p was made with
 * @source: the source of the points
 * @points: bits of the points wanted
 */
void probes_select(struct probes *p, struct object *o, enum nt_source source, uint32_t points);

#endif /* NTPROF_TRACE_PROBES_H */
