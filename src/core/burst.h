/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When to measure, where ntprof does not measure all the time: for a fixed time in each fixed
 * period. Bursts begin at multiples of the period since the epoch of CLOCK_REALTIME. So machines
 * with synchronized clocks measure at the same time, without any communication.
 */
#ifndef NTPROF_CORE_BURST_H
#define NTPROF_CORE_BURST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The shortest burst, in nanoseconds and as text. A shorter burst would mostly be spent on
 * attaching.
 */
#define BURST_MIN_NS 100000000ULL
#define BURST_MIN "100ms"

/**
 * struct burst - the schedule
 * @on_ns: length of one burst
 * @every_ns: from the beginning of one burst to the beginning of the next; 0: there is no schedule,
 *            and ntprof measures all the time
 */
struct burst {
	uint64_t on_ns;
	uint64_t every_ns;
};

/**
 * burst_parse() - parse a schedule: ON/EVERY, such as 1s/60s
 * @text: two times, each as parse_seconds() takes it
 * @b: filled
 *
 * Return: NULL, or why the text is wrong, in words that follow the text in a message.
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
 * Return: nanoseconds until the current burst ends; 0 between two bursts.
 */
uint64_t burst_left_ns(const struct burst *b, int64_t real_ns);

/**
 * burst_next_ns() - when a burst begins or ends the next time
 * @b: a schedule, burst_any()
 * @real_ns: CLOCK_REALTIME
 *
 * Return: CLOCK_REALTIME nanoseconds, later than @real_ns.
 */
int64_t burst_next_ns(const struct burst *b, int64_t real_ns);

#endif /* NTPROF_CORE_BURST_H */
