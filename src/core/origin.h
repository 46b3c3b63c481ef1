/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a host's command comes from: the CPU that submitted it, and the cgroup of its bio. A record
 * has only the number of its origin. The module that assigns a number announces the origin before
 * the first record that has the number.
 */
#ifndef NTPROF_CORE_ORIGIN_H
#define NTPROF_CORE_ORIGIN_H

#include <stdint.h>

#include "core/record.h"

/* Length of a cgroup's path; the end of a longer path is cut. */
#define ORIGIN_CGROUP_LEN 256

/* The origin is in 12 bits of a record's flags; 0: the record has none. */
#define ORIGIN_OF(flags) ((flags) >> NT_F_ORIGIN_SHIFT & NT_ORIGIN_MASK)
/* Number for all origins for which no number was left. It stands for several CPUs or cgroups. */
#define ORIGIN_OTHERS NT_ORIGIN_MASK
/* The CPU is not known. */
#define ORIGIN_NO_CPU 0xffff

/**
 * struct origin - where commands come from
 * @number: 1 to ORIGIN_OTHERS
 * @cpu: the CPU that submitted them, or ORIGIN_NO_CPU
 * @cgroup: as in /proc/PID/cgroup, "/" is the root; "" if the command has none, such as a flush of
 *          the block layer
 */
struct origin {
	uint16_t number;
	uint16_t cpu;
	char cgroup[ORIGIN_CGROUP_LEN];
};

#endif /* NTPROF_CORE_ORIGIN_H */
