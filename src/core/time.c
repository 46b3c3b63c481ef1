// SPDX-License-Identifier: GPL-2.0-only
#include "core/time.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#define NS_PER_SECOND 1000000000
/*
 * The clocks are read until both reads are within INSTANT_NS, because other tasks may run in
 * between. After INSTANT_TRIES tries, the narrowest one is taken.
 */
#define INSTANT_NS 20000
#define INSTANT_TRIES 16

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * NS_PER_SECOND + t.tv_nsec;
}

int64_t time_shift(const char *path)
{
	long long seconds = 0, ns = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return 0;
	if (fscanf(f, "monotonic %lld %lld", &seconds, &ns) != 2)
		seconds = ns = 0;
	fclose(f);
	return seconds * NS_PER_SECOND + ns;
}

/* It never changes: a process with several threads cannot enter another time namespace. */
static int64_t shift;

/*
 * The file describes the namespace of future children. After unshare(2) alone, that is another
 * namespace than our own.
 */
__attribute__((constructor)) static void find_shift(void)
{
	struct stat ours, childrens;

	if (stat("/proc/self/ns/time", &ours) ||
	    stat("/proc/self/ns/time_for_children", &childrens) || ours.st_ino != childrens.st_ino)
		return;
	shift = time_shift("/proc/self/timens_offsets");
}

uint64_t monotonic_ns(void)
{
	return (uint64_t)(clock_ns(CLOCK_MONOTONIC) - shift);
}

int64_t realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

struct instant instant_now(void)
{
	uint64_t narrowest = UINT64_MAX;
	struct instant i = {0};

	for (unsigned int tries = 0; tries < INSTANT_TRIES && narrowest > INSTANT_NS; tries++) {
		uint64_t before = monotonic_ns();
		int64_t wall = realtime_ns();
		uint64_t width = monotonic_ns() - before;

		if (width >= narrowest)
			continue;
		narrowest = width;
		i = (struct instant){.monotonic_ns = before + width / 2, .realtime_ns = wall};
	}
	return i;
}
