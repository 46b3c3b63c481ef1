/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Peers' commands may ask for something, such as a password, before their streams begin. They get
 * the terminal for that, one after the other, before anything is drawn.
 */
#ifndef NTPROF_PEER_PROMPTS_H
#define NTPROF_PEER_PROMPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "peer/live_merge.h"

/* How long a peer has the terminal: as long as sshd waits for a login, LoginGraceTime. */
#define PROMPT_NS 120000000000ULL

/**
 * prompts_terminal() - open the controlling terminal; the caller closes it
 *
 * Return: a descriptor, or -1 if there is no terminal, or this program runs in the background.
 */
int prompts_terminal(void);

/**
 * prompts_answer() - lend the terminal to a peer's command until its stream has begun or is over,
 * and read all peers meanwhile
 * @i: number of the peer; a file or a FIFO asks for nothing, so nothing is waited for then
 * @terminal: of prompts_terminal()
 * @hurry_fd: ends the wait when it is readable; -1 if there is none
 * @until_ns: a command that has not begun by then is ended; CLOCK_MONOTONIC
 * @heard: called when the peer may have written messages; with @all also an incomplete line, such
 *         as a question, is to be shown
 * @context: its first argument
 *
 * Lines and echo are on meanwhile, and Ctrl-Z is off. A key such as Ctrl-C goes to the processes of
 * the group that has the terminal. This process gets that signal afterwards, as if it had been
 * pressed here.
 *
 * Return: 0 or a negative errno of live_merge_ready().
 */
int prompts_answer(struct live_merge *l, unsigned int i, int terminal, int hurry_fd,
		   uint64_t until_ns, void (*heard)(void *context, unsigned int i, bool all),
		   void *context);

#endif /* NTPROF_PEER_PROMPTS_H */
