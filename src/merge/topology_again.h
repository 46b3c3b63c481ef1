/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known of clocks, and of a stream that begins again under the number that it had: see merge_again(). */
#ifndef NTPROF_MERGE_TOPOLOGY_AGAIN_H
#define NTPROF_MERGE_TOPOLOGY_AGAIN_H

#include "merge/topology.h"

/** topology_stream_again() - what a stream told is forgotten, its clock included; no record of it may wait. It has not ended */
void topology_stream_again(struct topology *t, unsigned int stream);

/** topology_clock() - a stream tells of its clock; what it says first counts */
void topology_clock(struct topology *t, unsigned int stream, const char *boot_id,
		    const struct instant *now);

/** topology_forget_offset() - what was known of two streams' clocks is wrong: all halves look for it again */
void topology_forget_offset(struct topology *t, struct link *l);

#endif /* NTPROF_MERGE_TOPOLOGY_AGAIN_H */
