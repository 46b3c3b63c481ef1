// SPDX-License-Identifier: GPL-2.0-only
#include "serve/process.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000ULL + (uint64_t)t->tv_usec * 1000;
}

void process_cost(struct process_cost *c)
{
	struct rusage u;
	unsigned long long resident;
	FILE *f;

	*c = (struct process_cost){0};
	if (!getrusage(RUSAGE_SELF, &u))
		c->cpu_ns = ns_of(&u.ru_utime) + ns_of(&u.ru_stime);
	f = fopen("/proc/self/statm", "re");
	if (!f)
		return;
	/* The second number is the resident set in pages: proc(5), /proc/PID/statm. */
	if (fscanf(f, "%*u %llu", &resident) == 1)
		c->resident_bytes = resident * (uint64_t)sysconf(_SC_PAGESIZE);
	fclose(f);
}
