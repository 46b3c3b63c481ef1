/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands in flight, read from their states in the kernel. The states are mapped, and read while
 * programs write them, which costs the programs nothing.
 */
#ifndef NTPROF_TRACE_IN_FLIGHT_H
#define NTPROF_TRACE_IN_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/stats.h"
#include "shared/record.h"

struct tracer;

/**
 * in_flight_init() - allocate what this needs; in_flight_free() releases it
 *
 * Return: 0 or -ENOMEM
 */
int in_flight_init(struct tracer *t);
void in_flight_free(struct tracer *t);

/** in_flight_count() - count them all, also those of closed connections that were not swept yet */
uint64_t in_flight_count(struct tracer *t);

/** in_flight_any() - whether an I/O queue had a command in this interval or the last */
bool in_flight_any(const struct tracer *t);

/**
 * in_flight_untrack() - let programs leave at once again where no selected command is in flight;
 * call at each interval. See enum nt_tracked
 */
void in_flight_untrack(struct tracer *t);

/** in_flight_knows_device() - whether the points show which commands are at the device */
bool in_flight_knows_device(const struct tracer *t);

/**
 * in_flight_rows() - fill &stats_row.waiting
 * @t: tracer
 * @s: stats_begin_interval() has been called; missing rows are created
 * @now: CLOCK_MONOTONIC nanoseconds; a command that begins later has the age that it has when it is
 *       found
 *
 * Return: 0 or -ENOMEM.
 */
int in_flight_rows(struct tracer *t, struct stats *s, uint64_t now);

/**
 * in_flight_look() - hand commands that have become overdue to &tracer_options.on_record
 *
 * To be called when all waiting records have been taken. It looks each time that a fraction of the
 * threshold has passed, so that commands are reported soon after they pass the threshold.
 * Return: 0 or -ENOMEM.
 */
int in_flight_look(struct tracer *t);

/**
 * in_flight_ended() - a command has ended
 * @r: its record
 * @marked: room for a copy; may be @r
 *
 * Return: @r, or @marked with NT_F_WAS_OVERDUE if the command was reported before.
 */
const struct nt_record *in_flight_ended(struct tracer *t, const struct nt_record *r,
					struct nt_record *marked);

/**
 * in_flight_bury() - release and count the commands of connections that have closed; target
 *
 * Each connection is handled once, when its generation or a later one of its slot is found to have
 * closed. The record of each command, marked NT_F_CANCELLED, goes to &tracer_options.on_record if
 * such records are asked for. Records that wait until their answers leave TCP go there as well.
 */
void in_flight_bury(struct tracer *t);

/**
 * in_flight_take_waiting() - hand records that wait until their answers leave TCP to
 * &tracer_options.on_record, at the end: without that point. See &nt_cmd.out
 *
 * Return: how many there were.
 */
int in_flight_take_waiting(struct tracer *t);

/**
 * in_flight_cut_off() - release all commands in flight, when no program is attached or runs any
 * more
 *
 * Return: how many there were.
 */
uint64_t in_flight_cut_off(struct tracer *t);

#endif /* NTPROF_TRACE_IN_FLIGHT_H */
