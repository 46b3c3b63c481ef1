/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When to measure, where that is not all the time: for so long, once in each so long. Bursts begin at the
 * multiples of the latter since the epoch of CLOCK_REALTIME, so that machines whose clocks agree measure at the
 * same time, and need not talk about it.
 */
#ifndef NTPROF_CORE_BURST_H
#define NTPROF_CORE_BURST_H

#include <stdbool.h>
#include <stdint.h>

/* The shortest burst, in nanoseconds and in words. Below, most of it would go to attaching. */
#define BURST_MIN_NS 100000000ULL
#define BURST_MIN "100ms"

/**
 * struct burst - the schedule
 * @on_ns: how long one burst is
 * @every_ns: from the beginning of one to that of the next; 0: there are none, and it is measured all the time
 */
struct burst {
	uint64_t on_ns;
	uint64_t every_ns;
};

/**
 * burst_parse() - a schedule as people write it: ON/EVERY, such as 1s/60s
 * @text: two times, each as parse_seconds() takes it
 * @b: filled
 *
 * Return: NULL, or why it is none, in words that follow it.
 */
const char *burst_parse(const char *text, struct burst *b);

/** burst_any() - whether there is a schedule at all */
static inline bool burst_any(const struct burst *b)
{
	return b->every_ns != 0;
}

/**
 * burst_left_ns() - how much of a burst is left
 * @b: a schedule, burst_any()
 * @real_ns: CLOCK_REALTIME
 *
 * Return: nanoseconds until it ends; 0 where there is none now.
 */
uint64_t burst_left_ns(const struct burst *b, int64_t real_ns);

/**
 * burst_next_ns() - when a burst begins or ends the next time
 * @b: a schedule, burst_any()
 * @real_ns: CLOCK_REALTIME
 *
 * Return: CLOCK_REALTIME nanoseconds, after @real_ns.
 */
int64_t burst_next_ns(const struct burst *b, int64_t real_ns);

#endif /* NTPROF_CORE_BURST_H */
