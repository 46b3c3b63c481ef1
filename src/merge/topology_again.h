/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known of streams' clocks, and what is forgotten when a stream begins again: see merge_again(). */
#ifndef NTPROF_MERGE_TOPOLOGY_AGAIN_H
#define NTPROF_MERGE_TOPOLOGY_AGAIN_H

#include "merge/topology.h"

/** topology_stream_again() - what a stream told is forgotten, its clock included; no record of it may wait. It has not ended */
void topology_stream_again(struct topology *t, unsigned int stream);

/** topology_clock() - a stream tells of its clock; what it says first counts */
void topology_clock(struct topology *t, unsigned int stream, const char *boot_id,
		    const struct instant *now);

/* Records of a stream come in the order in which their commands ended, but for this. */
#define PASSED_NS 1000000000ULL
/* So many records of each side without one match, or of one in a row that are too old: a clock has jumped. */
#define LOST_AFTER 16
/** topology_take_time() - a record of a stream ended at @end. A clock that has jumped back goes on from there */
static inline void topology_take_time(struct topology_stream *s, uint64_t end)
{
	s->behind = end + PASSED_NS < s->newest ? s->behind + 1 : 0;
	if (s->newest < end || s->behind == LOST_AFTER) {
		s->newest = end;
		s->behind = 0;
	}
}

/** topology_forget_offset() - what was known of two streams' clocks is wrong: all halves look for it again */
void topology_forget_offset(struct topology *t, struct link *l);

#endif /* NTPROF_MERGE_TOPOLOGY_AGAIN_H */
