/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs of programs that the kernel skipped, because the same program was running on that CPU already. Of a program
 * that has a "nested" twin (bpf/control.bpf.h), either may be skipped without loss while both are attached: an event is
 * missed by both at most as often as by the one that missed fewer.
 */
#ifndef NTPROF_TRACE_MISSED_H
#define NTPROF_TRACE_MISSED_H

#include <stdbool.h>
#include <stdint.h>

struct tracer;

/** missed_of() - runs of one program that were skipped since it was loaded; @fd: -1 is fine */
uint64_t missed_of(int fd);

/**
 * missed_twin() - what was skipped until now is counted as it is: called after a twin has been attached, and before it is
 * detached; programs are loaded
 * @twin: its name
 */
void missed_twin(struct tracer *t, const char *twin, bool attached);

/**
 * missed_by_first() - whether a run was ever skipped of a program that has a twin; programs are loaded
 * @begins: of those that see commands begin, else of all others
 */
bool missed_by_first(struct tracer *t, bool begins);

/** missed_total() - how many runs were skipped, at most, whose events no twin has seen; programs are loaded */
uint64_t missed_total(struct tracer *t);

/**
 * missed_joins_tell() - tell the programs whether runs were skipped, since the last call, of those that see packets being
 * joined: then arrivals may be those of later packets. Programs are loaded
 */
void missed_joins_tell(struct tracer *t);

#endif /* NTPROF_TRACE_MISSED_H */
