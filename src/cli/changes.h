/* SPDX-License-Identifier: GPL-2.0-only */
/* What happens to a machine that is traced for months, and that its journal should have: told once when it happens. */
#ifndef NTPROF_CLI_CHANGES_H
#define NTPROF_CLI_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shorter ones are told by no clock: the two are read one after the other. */
#define CHANGES_SLEEP_MIN_NS 100000000ULL

/**
 * struct changes - as it was when it was looked at last; all zero before
 * @slept_ns: how long the machine was suspended since it was started
 * @connected: somebody is; @ever: somebody was
 */
struct changes {
	bool looked;
	bool ever;
	bool connected;
	uint64_t slept_ns;
};

/** changes_slept_ns() - how long this machine was suspended since it was started: what CLOCK_MONOTONIC leaves out */
uint64_t changes_slept_ns(void);

/**
 * changes_look() - what is another than it was
 * @controllers: connected now
 * @slept_ns: of changes_slept_ns()
 * @line: filled with what to tell, of @size bytes
 *
 * Return: whether there is something to tell.
 */
bool changes_look(struct changes *c, unsigned int controllers, uint64_t slept_ns, char *line,
		  size_t size);

#endif /* NTPROF_CLI_CHANGES_H */
