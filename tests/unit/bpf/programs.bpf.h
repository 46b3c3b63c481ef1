/* SPDX-License-Identifier: GPL-2.0-only */
/* Defines what programs.h declares. Include it after kernel.h. */
#include "bpf/programs.h"

_Static_assert(PROGRAMS_SLOTS == SLOTS && PROGRAMS_JOINS == JOINS, "as in kernel.h");

/* The first bank is a variable. The others exist as long as the map has all items of a bank. */
#define BANKS_OF(p, id, first, items, table, per_item)                                            \
	do {                                                                                      \
		(p)->bank[id][0] = first;                                                         \
		for (__u32 b_ = 1; b_ < PROGRAMS_BANKS && (b_ + 1) << items##_BITS <= (per_item); \
		     b_++)                                                                        \
			(p)->bank[id][b_] = &(table)[(size_t)b_ << (items##_ENTRY_BITS)];         \
	} while (0)
#define NT_CMDS_ENTRY_BITS NT_BANK_CMDS_BITS
#define NT_HISTS_ENTRY_BITS NT_HISTS_BITS
#define NT_STAGES_ENTRY_BITS NT_STAGES_BITS

void programs_begin(struct programs *p)
{
	kernel_reset();
	memset(nt_pools, 0, sizeof(nt_pools));
	memset(nt_past, 0, sizeof(nt_past));
	memset(nt_alikes, 0, sizeof(nt_alikes));
	nt_knobs.qid_stride = PROGRAMS_QID_STRIDE;
	for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
		nt_knobs.into[i] = i;
	memset(p, 0, sizeof(*p));
	p->knobs = (struct nt_knobs *)&nt_knobs;
	p->control = &nt_control;
	p->counters = nt_counters;
	p->hist_index = nt_hist_index;
	p->stages_of = nt_stages_of;
	p->slot_index = nt_slot_index;
	p->past = nt_past;
	p->pools = nt_pools;
	for (unsigned int i = 0; i < NT_POOLS_NR; i++)
		p->free[i] = nt_free[i];
	BANKS_OF(p, NT_POOL_CMDS, nt_first_cmds, NT_CMDS, kernel.cmds, PIECES);
	BANKS_OF(p, NT_POOL_HISTS, nt_first_hists, NT_HISTS, kernel.hists, HISTS);
	BANKS_OF(p, NT_POOL_STAGES, nt_first_stages, NT_STAGES, kernel.stages, STAGES);
	p->bank[NT_POOL_JOINS][0] = kernel.joins;
	p->joins_bytes = sizeof(kernel.joins[0]);
	p->calls = &kernel.calls;
	p->hists_shared = &kernel.shared;
	p->alikes = nt_alikes;
	p->queues = kernel.queues;
	p->names = kernel.names;
	p->controllers = kernel.controllers;
}
