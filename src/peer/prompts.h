/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Peers that ask for something, such as a password, before their streams begin. They get the
 * terminal one after the other, and nothing is drawn over it meanwhile.
 */
#ifndef NTPROF_PEER_PROMPTS_H
#define NTPROF_PEER_PROMPTS_H

#include "peer/peer.h"
#include "peer/terminal.h"

/**
 * struct prompts - use of the terminal by peers
 * @peer: @nr of them; belong to the caller
 * @asking: the peer that has the terminal, or NULL
 * @epoll_fd: has the terminal while it is read here
 * @may_skip: the terminal is read for a return key
 * @skipped: the return key was pressed, so do not wait for peers any longer
 * @over: no peer gets the terminal any more
 * @unread_ns: since when there is a line that @asking has not read, CLOCK_MONOTONIC; 0: there is
 *             none
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

/** prompts_open() - begin; @peer gets @nr peers later. The caller calls prompts_close(). */
void prompts_open(struct prompts *p, struct peer *const *peer, int epoll_fd);

/**
 * prompts_serve() - call it after peers were read, and when the terminal is readable
 *
 * A key such as Ctrl-C that was pressed while a peer had the terminal is for this process as well:
 * it gets that signal.
 */
void prompts_serve(struct prompts *p);

/**
 * prompts_go_on() - call it regularly, before prompts_serve()
 *
 * It lets the peer that has the terminal continue, since a process that stops by itself may do so
 * after an earlier SIGCONT. It also checks whether the terminal is available again.
 *
 * A peer may have asked and then not read any more. It does not need the terminal then, though its
 * stream has not begun: the line that was typed is for this process, and other peers may ask.
 */
void prompts_go_on(struct prompts *p);

/** prompts_settled() - whether no peer will ask any more, or the return key was pressed */
bool prompts_settled(const struct prompts *p);

/** prompts_let_skip() - read the terminal for the return key */
void prompts_let_skip(struct prompts *p);

/** prompts_end() - take back the terminal for good */
void prompts_end(struct prompts *p);

/** prompts_close() - prompts_end(), and release; call it before the peers are released */
void prompts_close(struct prompts *p);

#endif /* NTPROF_PEER_PROMPTS_H */
