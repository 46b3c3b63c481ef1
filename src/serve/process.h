/* SPDX-License-Identifier: GPL-2.0-only */
/* What this process has taken so far. */
#ifndef NTPROF_SERVE_PROCESS_H
#define NTPROF_SERVE_PROCESS_H

#include <stdint.h>

/**
 * struct process_cost - of this process
 * @cpu_ns: user and system
 * @resident_bytes: 0 where the kernel does not tell
 */
struct process_cost {
	uint64_t cpu_ns;
	uint64_t resident_bytes;
};

/** process_cost() - fill @c */
void process_cost(struct process_cost *c);

#endif /* NTPROF_SERVE_PROCESS_H */
