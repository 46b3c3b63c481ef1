/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tracing costs, as far as the kernel reports it: the memory of maps, and the run time of BPF
 * programs.
 */
#ifndef NTPROF_CORE_COST_H
#define NTPROF_CORE_COST_H

#include <stdbool.h>
#include <stdint.h>

/* More than the number of programs of either side. */
#define COST_PROGRAMS_MAX 128

/*
 * Room for the name of a program as it is in the source, which is longer than the kernel's own
 * name.
 */
#define COST_NAME_LEN 48

/**
 * struct cost_program - one BPF program
 * @runs: how often it ran
 * @ns: run time on all CPUs together
 */
struct cost_program {
	char name[COST_NAME_LEN];
	uint64_t runs;
	uint64_t ns;
};

/**
 * struct cost - the cost since tracing began
 * @map_bytes: locked memory of all maps
 * @counts_runs: the kernel counts runs (kernel.bpf_stats_enabled), or did so earlier; otherwise
 *               @program has no figures
 * @program: @nr programs that are loaded
 */
struct cost {
	uint64_t map_bytes;
	bool counts_runs;
	unsigned int nr;
	struct cost_program program[COST_PROGRAMS_MAX];
};

#endif /* NTPROF_CORE_COST_H */
