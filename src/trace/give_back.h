/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What queues have taken out of the pools (core/pools.h) goes back when they have gone: states, notes of packets, and
 * their places in the index by address. Histograms: histograms.h.
 */
#ifndef NTPROF_TRACE_GIVE_BACK_H
#define NTPROF_TRACE_GIVE_BACK_H

#include <stdint.h>

struct tracer;

/** give_back_init() - once the programs are loaded; give_back_free() releases it. Return: 0 or -ENOMEM */
int give_back_init(struct tracer *t);
void give_back_free(struct tracer *t);

/**
 * give_back() - at each interval, after in_flight_bury()
 *
 * A queue is gone when its connection has closed (target), or its controller is not in sysfs any more (host), for two
 * intervals.
 */
void give_back(struct tracer *t);

/**
 * give_back_keep() - all queues that are connected may begin to be used at once, before user space runs again: what they
 * take then stays, and so does what those needed that were connected when tracing began
 * @queues: that are known to be connected
 * @pieces: of states, for these
 */
void give_back_keep(struct tracer *t, uint32_t queues, uint32_t pieces);

/** give_back_supply() - see to it that programs find something to take; soon after they call */
void give_back_supply(struct tracer *t);

#endif /* NTPROF_TRACE_GIVE_BACK_H */
