// SPDX-License-Identifier: GPL-2.0-only
#include "core/time.h"

#include <time.h>

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

uint64_t monotonic_ns(void)
{
	return (uint64_t)clock_ns(CLOCK_MONOTONIC);
}

int64_t realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

struct instant instant_now(void)
{
	struct instant i = {.monotonic_ns = monotonic_ns()};

	i.realtime_ns = realtime_ns();
	return i;
}
