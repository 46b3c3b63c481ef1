/* SPDX-License-Identifier: GPL-2.0-only */
/* The CPU time and the memory of this process. */
#ifndef NTPROF_SERVE_PROCESS_H
#define NTPROF_SERVE_PROCESS_H

#include <stdint.h>

/**
 * struct process_cost - what this process has used
 * @cpu_ns: user and system time
 * @resident_bytes: 0 if the kernel does not report it
 */
struct process_cost {
	uint64_t cpu_ns;
	uint64_t resident_bytes;
};

/** process_cost() - fill @c */
void process_cost(struct process_cost *c);

#endif /* NTPROF_SERVE_PROCESS_H */
