// SPDX-License-Identifier: GPL-2.0-only
#include "cli/changes.h"

#include <stdio.h>
#include <time.h>

#include "core/time.h"

#define NS_PER_SECOND 1000000000ULL

uint64_t changes_slept_ns(void)
{
	struct timespec t = {0};
	uint64_t monotonic = monotonic_ns(), boot;

	clock_gettime(CLOCK_BOOTTIME, &t);
	boot = (uint64_t)t.tv_sec * NS_PER_SECOND + (uint64_t)t.tv_nsec;
	return boot > monotonic ? boot - monotonic : 0;
}

bool changes_look(struct changes *c, unsigned int controllers, uint64_t slept_ns, char *line,
		  size_t size)
{
	const struct changes before = *c;

	c->looked = true;
	c->connected = controllers != 0;
	c->ever = before.ever || c->connected;
	/* A suspension that is too short to report is added to the next one. */
	if (!before.looked || slept_ns > before.slept_ns + CHANGES_SLEEP_MIN_NS)
		c->slept_ns = slept_ns;
	if (before.looked && c->slept_ns != before.slept_ns) {
		snprintf(
			line, size,
			"this machine was suspended for %.1f s: tracing goes on, and what was in flight took "
			"so much longer than is told",
			(double)(slept_ns - before.slept_ns) / (double)NS_PER_SECOND);
		/* The change of the connection is reported by the next call. */
		c->connected = before.connected;
		return true;
	}
	if (before.connected == c->connected || !before.ever)
		return false;
	snprintf(line, size, "%s",
		 c->connected ? "a controller is connected again"
			      : "no controller is connected any more: tracing goes on");
	return true;
}
