/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gives back what queues have taken out of the pools (shared/pools.h) when they are gone: states,
 * notes of packets, and their entries in the index by address. For histograms see histograms.h.
 */
#ifndef NTPROF_TRACE_GIVE_BACK_H
#define NTPROF_TRACE_GIVE_BACK_H

#include <stdint.h>

struct tracer;

/**
 * give_back_init() - allocate what this needs, after the programs are loaded; give_back_free()
 * releases it
 *
 * Return: 0 or -ENOMEM
 */
int give_back_init(struct tracer *t);
void give_back_free(struct tracer *t);

/**
 * give_back() - give back unused items; call at each interval, after in_flight_bury()
 *
 * A queue is gone when its connection has closed (target), or its controller is not in sysfs any
 * more (host), for two intervals.
 */
void give_back(struct tracer *t);

/**
 * give_back_keep() - set how many items are kept ready
 * @queues: number of queues that are known to be connected
 * @pieces: pieces of states for these
 *
 * All connected queues may begin to be used at once, before user space runs again. So what they
 * need is kept ready, and at least what those queues needed that were connected when tracing began.
 */
void give_back_keep(struct tracer *t, uint32_t queues, uint32_t pieces);

/** give_back_supply() - make sure that programs find items to take; call it soon after they ask */
void give_back_supply(struct tracer *t);

#endif /* NTPROF_TRACE_GIVE_BACK_H */
