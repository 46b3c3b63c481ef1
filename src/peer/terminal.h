/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The terminal that this program runs at, which only one process group can read at a time: lent to a peer's that
 * asks for a password, and taken back.
 */
#ifndef NTPROF_PEER_TERMINAL_H
#define NTPROF_PEER_TERMINAL_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

/**
 * struct terminal - the controlling terminal
 * @fd: -1 if there is none
 * @lent_to: process group that has it, or 0
 * @modes: as they were before that, but with lines and echo
 * @ttou: what SIGTTOU did before that. It is ignored meanwhile: whoever writes in the background, or takes the
 *        terminal back, may get it, termios(3), and it stops all of the process
 */
struct terminal {
	int fd;
	pid_t lent_to;
	struct termios modes;
	struct sigaction ttou;
};

/** terminal_open() - find it; terminal_close() is due */
void terminal_open(struct terminal *t);

/**
 * terminal_lend() - make @group the foreground process group, and let it go on, with lines and echo
 *
 * Return: false where it is not ours to lend: there is none, or this program runs in the background.
 */
bool terminal_lend(struct terminal *t, pid_t group);

/** terminal_take_back() - make it ours again, in the modes that it had; fine where nobody has it */
void terminal_take_back(struct terminal *t);

/** terminal_ours() - this process may read it: it is there, not lent, and not somebody else's by now */
bool terminal_ours(const struct terminal *t);

/** terminal_unread() - whether a line was typed that nobody has read, whoever has the terminal */
bool terminal_unread(const struct terminal *t);

/** terminal_forget() - what was typed is for nobody */
void terminal_forget(const struct terminal *t);

/** terminal_return_key() - takes what was typed; Return: whether there is a line; false where it is not ours */
bool terminal_return_key(const struct terminal *t);

/** terminal_close() - take it back, and release */
void terminal_close(struct terminal *t);

#endif /* NTPROF_PEER_TERMINAL_H */
