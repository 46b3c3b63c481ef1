/* SPDX-License-Identifier: GPL-2.0-only */
/* The clocks of streams, and what is forgotten when a stream restarts: see merge_restart(). */
#ifndef NTPROF_MERGE_TOPOLOGY_RESTART_H
#define NTPROF_MERGE_TOPOLOGY_RESTART_H

#include "merge/topology.h"

/**
 * topology_stream_restart() - forget all of a stream, also its clock; it has not ended any more.
 * None of its records may wait.
 */
void topology_stream_restart(struct topology *t, unsigned int stream);

/** topology_clock() - a stream gives its clocks; only the first call counts */
void topology_clock(struct topology *t, unsigned int stream, const char *boot_id,
		    const struct instant *now);

/* Records of a stream come in the order in which commands ended, give or take this time. */
#define PASSED_NS 1000000000ULL
/*
 * A clock has jumped if this many records of each side had no match, or this many in a row are too
 * old.
 */
#define LOST_AFTER 16
/**
 * topology_take_time() - a record of a stream ended at @end. A clock that jumped back goes on from
 * there.
 */
static inline void topology_take_time(struct topology_stream *s, uint64_t end)
{
	s->behind = end + PASSED_NS < s->newest ? s->behind + 1 : 0;
	if (s->newest < end || s->behind == LOST_AFTER) {
		s->newest = end;
		s->behind = 0;
	}
}

/**
 * topology_forget_offset() - the offset of two streams was wrong: all their endpoints look for it
 * again
 */
void topology_forget_offset(struct topology *t, struct link *l);

#endif /* NTPROF_MERGE_TOPOLOGY_RESTART_H */
