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
 * @unread_ns: since when a line lies there that @asking has not read, CLOCK_MONOTONIC; 0: there is none
 */
struct prompts {
	struct peer *const *peer;
	unsigned int nr;
	struct peer *asking;
	struct terminal terminal;
	int epoll_fd;
	bool may_skip;
	bool skipped;
	bool over;
	uint64_t unread_ns;
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
 *
 * Who has asked and does not read any more has no need of the terminal, though its stream has not begun: a line that was
 * typed and lies there is for this process, and others may ask.
 */
void prompts_go_on(struct prompts *p);

/** prompts_settled() - no peer will ask any more, or somebody has pressed the return key */
bool prompts_settled(const struct prompts *p);

/** prompts_let_skip() - read the terminal for that key */
void prompts_let_skip(struct prompts *p);

/** prompts_end() - the terminal is ours from now on */
void prompts_end(struct prompts *p);

/** prompts_close() - and release; before the peers are */
void prompts_close(struct prompts *p);

#endif /* NTPROF_PEER_PROMPTS_H */
