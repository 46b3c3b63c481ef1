// SPDX-License-Identifier: GPL-2.0-only
/* Prints how fast this machine's time stamp counter runs, in kHz: against CLOCK_MONOTONIC_RAW,
 * within some ppm. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

/* Of so many looks at both, the one is taken in which nothing came in between. */
#define TRIES 1000
#define UNMATCHED_NS 200000000

struct both {
	uint64_t tsc;
	uint64_t ns;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct both look(void)
{
	uint64_t shortest = UINT64_MAX;
	struct both best = {0, 0};

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = __rdtsc(), ns = now_ns(), after = __rdtsc();

		if (after - before >= shortest)
			continue;
		shortest = after - before;
		best = (struct both){before + shortest / 2, ns};
	}
	return best;
}

int main(void)
{
	const struct timespec apart = {.tv_nsec = UNMATCHED_NS};
	struct both first = look(), last;

	nanosleep(&apart, NULL);
	last = look();
	printf("%.0f\n", (double)(last.tsc - first.tsc) * 1e6 / (double)(last.ns - first.ns));
	return 0;
}
