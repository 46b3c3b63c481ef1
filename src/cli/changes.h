/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of a machine that is traced for months and that belong into its journal, each reported
 * once.
 */
#ifndef NTPROF_CLI_CHANGES_H
#define NTPROF_CLI_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shorter suspensions cannot be measured, because the two clocks are read one after the other. */
#define CHANGES_SLEEP_MIN_NS 100000000ULL

/**
 * struct changes - the state at the last call of changes_look(); all zeroes before
 * @looked: there has been such a call
 * @ever: a controller has been connected at some time
 * @connected: a controller is connected
 * @slept_ns: how long the machine was suspended since it was started
 */
struct changes {
	bool looked;
	bool ever;
	bool connected;
	uint64_t slept_ns;
};

/**
 * changes_slept_ns() - how long this machine was suspended since it was started
 *
 * This is CLOCK_BOOTTIME minus CLOCK_MONOTONIC, which does not count suspensions.
 */
uint64_t changes_slept_ns(void);

/**
 * changes_look() - compare with the last call
 * @controllers: number of connected controllers
 * @slept_ns: from changes_slept_ns()
 * @line: filled with the message, of @size bytes
 *
 * Return: whether there is a message.
 */
bool changes_look(struct changes *c, unsigned int controllers, uint64_t slept_ns, char *line,
		  size_t size);

#endif /* NTPROF_CLI_CHANGES_H */
