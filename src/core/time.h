/* SPDX-License-Identifier: GPL-2.0-only */
/* The clocks of records, when bursts are, and times as text. */
#ifndef NTPROF_CORE_TIME_H
#define NTPROF_CORE_TIME_H

#include <stdbool.h>
#include <stdint.h>

/* CLOCK_MONOTONIC and CLOCK_REALTIME of one instant, nanoseconds. */
struct instant {
	uint64_t monotonic_ns;
	int64_t realtime_ns;
};

/**
 * monotonic_ns() - CLOCK_MONOTONIC in nanoseconds, as bpf_ktime_get_ns()
 *
 * It is the clock of the machine, in a time namespace as well (time_namespaces(7)), because BPF
 * programs use the clock of the machine.
 */
uint64_t monotonic_ns(void);

/**
 * time_shift() - the shift of CLOCK_MONOTONIC in a file like /proc/self/timens_offsets, in
 * nanoseconds; 0 if there is no such file
 */
int64_t time_shift(const char *path);

/** realtime_ns() - CLOCK_REALTIME in nanoseconds */
int64_t realtime_ns(void);

/** instant_now() - both clocks at one instant; they are read again if other tasks ran in between */
struct instant instant_now(void);

/**
 * instant_wall() - CLOCK_REALTIME of a time of CLOCK_MONOTONIC, by both clocks at another instant;
 * 0 if that is not known, which has a @monotonic_ns of 0
 */
static inline int64_t instant_wall(const struct instant *known, uint64_t monotonic_ns)
{
	uint64_t since = monotonic_ns - known->monotonic_ns;

	return known->monotonic_ns ? (int64_t)((uint64_t)known->realtime_ns + since) : 0;
}

/** ns_add() - the sum of two durations from an untrusted source; UINT64_MAX if it overflows */
static inline uint64_t ns_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/*
 * When to measure, where ntprof does not measure all the time: for a fixed time in each fixed
 * period. Bursts begin at multiples of the period since the epoch of CLOCK_REALTIME. So machines
 * with synchronized clocks measure at the same time, without any communication.
 */

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

/* The wall clock in the format of RFC 3339, in UTC. */

/* "2031-05-23T12:00:00.000000000Z", with room for years with more digits. */
#define RFC3339_LEN 80

/**
 * struct wall_time - a time of the wall clock, as users write it
 * @dated: with a date; otherwise it is of any day
 * @zoned: with an offset from UTC; otherwise it is in the local time zone
 * @year, @month, @day: the date, @month from 1
 * @seconds: after midnight, as the clock shows them
 * @ns: and nanoseconds
 * @offset: seconds that the zone is ahead of UTC
 */
struct wall_time {
	bool dated;
	bool zoned;
	int year;
	int month;
	int day;
	int seconds;
	int ns;
	int offset;
};

/**
 * wall_time_parse() - parse HH:MM[:SS[.NS]], a date as YYYY-MM-DD, or both with T or a blank in
 * between, and then perhaps Z or +HH:MM
 *
 * Return: 0, or -EINVAL; there is no 24:00, and no 30 February.
 */
int wall_time_parse(const char *text, struct wall_time *t);

/**
 * wall_time_on() - when a time is
 * @near: if the time is not @dated: a time of CLOCK_REALTIME on the day in question
 * @days: so many days after that day
 * @last: if the clock shows the time twice, because it was set back: the second of both
 *
 * A time that the clock leaves out is as late after midnight as it would be without that.
 *
 * Return: CLOCK_REALTIME nanoseconds.
 */
int64_t wall_time_on(const struct wall_time *t, int64_t near, int days, bool last);

/* "2031-05-23 12:00:00.000 +0200", with the same room. */
#define LOCAL_TIME_LEN RFC3339_LEN

/** local_time_format() - a time of CLOCK_REALTIME in the local time zone, to the ms; Return: @buf
 */
char *local_time_format(char buf[LOCAL_TIME_LEN], int64_t realtime_ns);

/** rfc3339_format() - a time of CLOCK_REALTIME in nanoseconds, to the nanosecond; Return: @buf */
char *rfc3339_format(char buf[RFC3339_LEN], int64_t realtime_ns);

/** rfc3339_now() - the current time; Return: @buf */
char *rfc3339_now(char buf[RFC3339_LEN]);

#endif /* NTPROF_CORE_TIME_H */
