/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the machine itself says of its controllers and disks: states, addresses, names, and how many
 * commands the block layer has in flight. So commands are seen that began before tracing, of which
 * no program has seen anything.
 */
#ifndef NTPROF_CORE_CONTROLLERS_H
#define NTPROF_CORE_CONTROLLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/stats.h"

/* The names of a controller's disks, the end of a longer list is cut. */
#define CONTROLLER_DEVICES_LEN 64
/* "traddr:trsvcid" with an IPv6 address. */
#define CONTROLLER_ADDRESS_LEN 64

/**
 * struct controller - a controller; or, on a target, a disk that it exports
 * @name, @peer: as of its rows, see struct stats_row; a target's disk has its path, or that of what
 *               a longer one leads to, and ""
 * @state: as the kernel names it: "live", "connecting"; "" if not known
 * @address: of the machine at the other end; "" if not known
 * @devices: its disks, with commas between them
 * @since_ns: CLOCK_MONOTONIC time at which the state was first seen
 * @changed: another state was seen before, so it began then; otherwise it may be older
 * @in_flight: commands that the block layer has in flight
 * @traced: commands that the tracer has in flight
 * @before: at most so many of them began before tracing
 * @ended_ns: CLOCK_MONOTONIC time at which commands were last seen to have ended; or at which
 *            tracing began, or it was first seen after that
 * @look: number of the last call that found it
 */
struct controller {
	char name[32];
	char peer[NT_NQN_LEN];
	char state[16];
	char address[CONTROLLER_ADDRESS_LEN];
	char devices[CONTROLLER_DEVICES_LEN];
	uint64_t since_ns;
	bool changed;
	uint64_t in_flight;
	uint64_t traced;
	uint64_t before;
	uint64_t ended_ns;
	uint64_t look;
};

/**
 * struct controllers - all of a side; zeroes at first
 * @row: @nr of them, in the order of their names
 * @look: number of calls of controllers_look()
 * @now_ns: CLOCK_MONOTONIC time of the last one
 */
struct controllers {
	struct controller *row;
	size_t nr;
	uint64_t look;
	uint64_t now_ns;
};

/**
 * controllers_look() - read all of them
 * @c: filled
 * @sysfs: mount point of sysfs: "/sys"
 * @s: an interval that has just ended, with the side and the commands that the tracer has in flight
 * @now: CLOCK_MONOTONIC nanoseconds
 *
 * Nothing is read of a quiet interval, unless it is the first one or disks had commands in flight
 * the last time.
 * What cannot be read is not known. A target's controllers have no state on Linux before 6.11.
 *
 * Return: 0 or -ENOMEM.
 */
int controllers_look(struct controllers *c, const char *sysfs, const struct stats *s, uint64_t now);

/** controllers_find() - the controller of a row; NULL if there is none */
const struct controller *controllers_find(const struct controllers *c, const struct stats_row *row);

/** controller_is_up() - whether it takes commands, as far as is known */
bool controller_is_up(const struct controller *c);

/** controller_stalls() - whether commands from before tracing are in flight, and none ends */
bool controller_stalls(const struct controllers *c, const struct controller *row);

/** controllers_before() - commands in flight that began before tracing, at most; @c: or NULL */
uint64_t controllers_before(const struct controllers *c);

/** controllers_free() - release */
void controllers_free(struct controllers *c);

#endif /* NTPROF_CORE_CONTROLLERS_H */
