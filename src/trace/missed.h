/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs of programs that the kernel skipped, because the same program was running on that CPU
 * already. A program may have a "nested" twin (bpf/control.bpf.h). While both are attached, either
 * may be skipped without loss. The events that both have missed are at most as many as the skipped
 * runs of the one that missed fewer.
 */
#ifndef NTPROF_TRACE_MISSED_H
#define NTPROF_TRACE_MISSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/counters.h"

struct tracer;

/** missed_of() - runs of one program that were skipped since it was loaded; @fd: -1 is fine */
uint64_t missed_of(int fd);

/**
 * missed_twin() - settle the runs that were skipped until now, as later ones count differently
 * @twin: its name
 * @attached: it has just been attached; otherwise it is about to be detached
 *
 * Programs are loaded.
 */
void missed_twin(struct tracer *t, const char *twin, bool attached);

/**
 * missed_by_first() - whether a run of a program with a twin was ever skipped; programs are loaded
 * @begins: of the programs that see commands begin; otherwise of all others
 */
bool missed_by_first(struct tracer *t, bool begins);

/** missed_total() - skipped runs whose events no twin has seen, at most; programs are loaded */
uint64_t missed_total(struct tracer *t);

/**
 * missed_joins_tell() - show the programs whether arrivals may be those of later packets
 *
 * They may, if since the last call runs were skipped of the programs that see packets being joined.
 * Programs are loaded.
 */
void missed_joins_tell(struct tracer *t);

/* What a tracer costs: see core/counters.h. */

struct bpf_map;

/**
 * cost_map_bytes() - locked memory of a map, with its values for all CPUs that there may be; 0 if
 * it was not made
 */
size_t cost_map_bytes(const struct tracer *t, const struct bpf_map *m);

/** cost_fill() - see tracer_cost() */
void cost_fill(const struct tracer *t, struct cost *c);

#endif /* NTPROF_TRACE_MISSED_H */
