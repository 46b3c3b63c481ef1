/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When to start a peer again after its stream is over: soon at first, and later each time that it
 * does not help.
 */
#ifndef NTPROF_PEER_RESTART_H
#define NTPROF_PEER_RESTART_H

#include <stdbool.h>
#include <stdint.h>

#include "peer/peer.h"

/*
 * The first wait and the longest one; each wait is twice as long as the one before. docs/metrics.md
 * names these times, too.
 */
#define RESTART_FIRST_NS 2000000000ULL
#define RESTART_MOST_NS 60000000000ULL
/* After a stream that went on for this long, the first wait is used again. */
#define RESTART_WELL_NS 60000000000ULL

/**
 * struct restart - the restarts of a peer; all zeroes at first
 * @wait_ns: the last wait
 * @due_ns: when the next step is due; 0: the stream is not over
 * @asked: its processes have been asked to end
 * @began_ns: when its stream was first seen running; 0: not yet
 */
struct restart {
	uint64_t wait_ns;
	uint64_t due_ns;
	bool asked;
	uint64_t began_ns;
};

/**
 * restart_is_due() - call it regularly
 * @p: a peer for which peer_lasts() is true
 * @now_ns: CLOCK_MONOTONIC
 *
 * Return: whether the caller has to call peer_restart(). Processes that still run then have had
 * PEER_STOP_NS to end.
 */
bool restart_is_due(struct restart *a, const struct peer *p, uint64_t now_ns);

#endif /* NTPROF_PEER_RESTART_H */
