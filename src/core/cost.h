/* SPDX-License-Identifier: GPL-2.0-only */
/* What tracing costs, as far as the kernel tells: memory that maps take, and how long its programs ran. */
#ifndef NTPROF_CORE_COST_H
#define NTPROF_CORE_COST_H

#include <stdbool.h>
#include <stdint.h>

/* More than either side has programs. */
#define COST_PROGRAMS_MAX 128

/* A program as the sources name it. */
#define COST_NAME_LEN 48

/**
 * struct cost_program - one BPF program
 * @runs: how often it was run
 * @ns: how long that took, all CPUs together
 */
struct cost_program {
	char name[COST_NAME_LEN];
	uint64_t runs;
	uint64_t ns;
};

/**
 * struct cost - since tracing began
 * @map_bytes: locked memory of all maps
 * @counts_runs: the kernel counts runs (kernel.bpf_stats_enabled), or has; else @program tells nothing
 * @program: @nr of them, those that are loaded
 */
struct cost {
	uint64_t map_bytes;
	bool counts_runs;
	unsigned int nr;
	struct cost_program program[COST_PROGRAMS_MAX];
};

#endif /* NTPROF_CORE_COST_H */
