/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the commands that a stream recorded in bursts cannot have: those that did not pass within
 * one burst. Knows when the bursts of each stream were, by its own clock.
 */
#ifndef NTPROF_MERGE_EDGES_H
#define NTPROF_MERGE_EDGES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"
#include "merge/connection.h"

struct edges;

/** edges_new() - for @nr streams, without bursts so far; NULL when memory ran out */
struct edges *edges_new(unsigned int nr);

/**
 * edges_burst() - a stream was recorded from @began_ns to @ended_ns; bursts come in order of time
 *
 * Return: 0 or -ENOMEM.
 */
int edges_burst(struct edges *e, unsigned int stream, uint64_t began_ns, uint64_t ended_ns);

/**
 * edges_cut() - whether the other side's stream was not recorded for all of a command
 * @e: edges
 * @c: the command's connection; its offset converts times to the other clock
 * @r: the record of one side
 *
 * Return: false also where that is not known, or where the stream was recorded all the time.
 */
bool edges_cut(const struct edges *e, const struct merge_connection *c, const struct nt_record *r);

/** edges_free() - release; NULL is fine */
void edges_free(struct edges *e);

#endif /* NTPROF_MERGE_EDGES_H */
