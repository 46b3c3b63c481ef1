/* SPDX-License-Identifier: GPL-2.0-only */
/* The members of a merge. Include merge/merge.h first. */
#ifndef NTPROF_MERGE_PRIVATE_H
#define NTPROF_MERGE_PRIVATE_H

#include "merge/pending.h"
#include "merge/recurring.h"
#include "merge/topology.h"

struct merge {
	struct merge_callbacks callbacks;
	struct pending_pool pool;
	struct topology t;
	uint64_t unknown, past_limits;
	uint64_t crowded_out;
	uint64_t in_crowd;
	struct recurring recurring;
};

#endif /* NTPROF_MERGE_PRIVATE_H */
