/* SPDX-License-Identifier: GPL-2.0-only */
/* When a peer whose stream is over is started again: soon at first, and less often the longer that does not help. */
#ifndef NTPROF_PEER_AGAIN_H
#define NTPROF_PEER_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "peer/peer.h"

/* How long it is waited for the first time, and at most: twice as long each time. docs/metrics.md says so, too. */
#define AGAIN_FIRST_NS 2000000000ULL
#define AGAIN_MOST_NS 60000000000ULL
/* A stream that went on for so long begins with the first time again. */
#define AGAIN_WELL_NS 60000000000ULL

/**
 * struct again - of a peer; all zeroes at first
 * @wait_ns: the last wait
 * @due_ns: when there is something to do for it; 0: its stream is not over
 * @asked: its processes have been asked to end
 * @began_ns: when its stream was seen to run; 0: not yet
 */
struct again {
	uint64_t wait_ns;
	uint64_t due_ns;
	bool asked;
	uint64_t began_ns;
};

/**
 * again_is_due() - to be called now and then
 * @p: a peer that peer_lasts()
 * @now_ns: CLOCK_MONOTONIC
 *
 * Return: whether peer_again() is to be called; what still runs of it then has had its time.
 */
bool again_is_due(struct again *a, const struct peer *p, uint64_t now_ns);

#endif /* NTPROF_PEER_AGAIN_H */
