// SPDX-License-Identifier: GPL-2.0-only
#include "peer/restart.h"

#include "peer/guard.h"

static void look(struct restart *a, const struct peer *p, uint64_t now_ns)
{
	const enum peer_state state = peer_state(p);

	/* A peer that waits for its module works as expected, so that counts as well. */
	if (!a->began_ns && (state == PEER_RUNNING || state == PEER_WAITING))
		a->began_ns = now_ns;
}

/* The stream is over: sets how long to wait. */
static void begin_to_wait(struct restart *a, uint64_t now_ns)
{
	const bool well = a->began_ns && now_ns - a->began_ns >= RESTART_WELL_NS;

	if (well || !a->wait_ns)
		a->wait_ns = RESTART_FIRST_NS;
	else
		a->wait_ns = a->wait_ns < RESTART_MOST_NS / 2 ? 2 * a->wait_ns : RESTART_MOST_NS;
	a->due_ns = now_ns + a->wait_ns;
	a->asked = false;
	a->began_ns = 0;
}

bool restart_is_due(struct restart *a, const struct peer *p, uint64_t now_ns)
{
	if (!peer_over(p)) {
		look(a, p, now_ns);
		return false;
	}
	if (!a->due_ns)
		begin_to_wait(a, now_ns);
	if (now_ns < a->due_ns)
		return false;
	/* Processes may be left if the command closed its output, or if its stream was refused. */
	if (!peer_gone(p) && !a->asked) {
		peer_ask_to_end(p);
		a->asked = true;
		a->due_ns = now_ns + PEER_STOP_NS;
		return false;
	}
	a->due_ns = 0;
	return true;
}
