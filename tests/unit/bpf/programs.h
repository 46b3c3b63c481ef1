/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs of a side, compiled for this machine, and the memory that they share with user
 * space.
 */
#ifndef NTPROF_TESTS_BPF_PROGRAMS_H
#define NTPROF_TESTS_BPF_PROGRAMS_H

#include "shared/control.h"
#include "shared/pools.h"

#define PROGRAMS_SLOTS 32
#define PROGRAMS_QID_STRIDE 8
#define PROGRAMS_JOINS 16 /* in one bank */
#define PROGRAMS_BANKS 4  /* banks of a pool, at most */

/**
 * struct programs - the memory that programs and user space share
 * @bank: the banks of each pool; NULL where there is none
 */
struct programs {
	struct nt_knobs *knobs;
	struct nt_control *control;
	struct nt_counters *counters;
	struct nt_hist_bucket *hist_index;
	struct nt_stages_of *stages_of;
	struct nt_slot_bucket *slot_index;
	struct nt_past *past;
	struct nt_pool *pools;
	__u16 *free[NT_POOLS_NR];
	void *bank[NT_POOLS_NR][PROGRAMS_BANKS];
	__u32 joins_bytes;   /* size of one item */
	unsigned int *calls; /* how often user space was called */
	struct nt_hist *hists_shared;
	__u32 *alikes;
	struct nt_queue *queues;
	struct nt_names *names;
	struct nt_controller *controllers;
};

/**
 * programs_begin() - put everything into the state after loading, with empty pools; @p: filled
 */
void programs_begin(struct programs *p);

/**
 * simulate() - run the program of simulated.bpf.h; @arguments: a struct simulated
 */
int simulate(__u64 *arguments);

#endif /* NTPROF_TESTS_BPF_PROGRAMS_H */
