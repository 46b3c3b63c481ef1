/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Peers that ask for something, such as a password, before their streams begin: each has the terminal in its
 * turn, and nobody draws over it.
 */
#ifndef NTPROF_PEER_PROMPTS_H
#define NTPROF_PEER_PROMPTS_H

#include "peer/peer.h"
#include "peer/terminal.h"

/**
 * struct prompts - who has the terminal
 * @peer: @nr of them; belong to the caller
 * @asking: which of them has it, or NULL
 * @epoll_fd: gets the terminal while it is read here
 * @may_skip: it is read for a return key, which says @skipped: nobody waits for peers to begin any more
 * @over: no peer gets it any more
 */
struct prompts {
	struct peer *const *peer;
	unsigned int nr;
	const struct peer *asking;
	struct terminal terminal;
	int epoll_fd;
	bool may_skip;
	bool skipped;
	bool over;
};

/** prompts_open() - @peer has @nr peers, once they are there; prompts_close() is due */
void prompts_open(struct prompts *p, struct peer *const *peer, int epoll_fd);

/**
 * prompts_serve() - after peers were read, or there is something to read from the terminal
 *
 * What was pressed while a peer had the terminal, such as Ctrl-C, is for this process as well: it gets that
 * signal.
 */
void prompts_serve(struct prompts *p);

/**
 * prompts_go_on() - now and then, before prompts_serve(): a process that stops by itself may do so after it was told
 * to go on; and a terminal that was somebody else's may be ours by now
 */
void prompts_go_on(const struct prompts *p);

/** prompts_settled() - no peer will ask any more, or somebody has pressed the return key */
bool prompts_settled(const struct prompts *p);

/** prompts_let_skip() - read the terminal for that key */
void prompts_let_skip(struct prompts *p);

/** prompts_end() - the terminal is ours from now on */
void prompts_end(struct prompts *p);

/** prompts_close() - and release; before the peers are */
void prompts_close(struct prompts *p);

#endif /* NTPROF_PEER_PROMPTS_H */
