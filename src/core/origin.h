/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a host's command comes from: the CPU that submitted it, and the cgroup of its bio. Records have the number of
 * an origin; who numbers them tells each before its first record.
 */
#ifndef NTPROF_CORE_ORIGIN_H
#define NTPROF_CORE_ORIGIN_H

#include <stdint.h>

#include "core/record.h"

/* The path of a cgroup; the end of a longer one is cut. */
#define ORIGIN_CGROUP_LEN 256

/* In 12 bits of a record's flags; 0: it has none. */
#define ORIGIN_OF(flags) ((flags) >> NT_F_ORIGIN_SHIFT & NT_ORIGIN_MASK)
/* Origins past the most that have a number: of several CPUs or cgroups. */
#define ORIGIN_OTHERS NT_ORIGIN_MASK
/* Where it is not known. */
#define ORIGIN_NO_CPU 0xffff

/**
 * struct origin - where commands come from
 * @number: 1 to ORIGIN_OTHERS
 * @cpu: that submitted them, or ORIGIN_NO_CPU
 * @cgroup: as /proc/PID/cgroup has it, "/" is the root; "" where the command has none, as a flush of the block layer
 */
struct origin {
	uint16_t number;
	uint16_t cpu;
	char cgroup[ORIGIN_CGROUP_LEN];
};

#endif /* NTPROF_CORE_ORIGIN_H */
