/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The terminal of this program. Only one process group can read it at a time, so it is lent to a
 * peer's group that asks for a password, and taken back.
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
 * @modes: modes before it was lent, but with lines and echo
 * @ttou: disposition of SIGTTOU before it was lent. The signal is ignored meanwhile: a process in
 *        the background that writes, or takes the terminal back, may get it (termios(3)), and it
 *        stops the whole process.
 */
struct terminal {
	int fd;
	pid_t lent_to;
	struct termios modes;
	struct sigaction ttou;
};

/** terminal_open() - open the terminal; the caller calls terminal_close() */
void terminal_open(struct terminal *t);

/**
 * terminal_lend() - make @group the foreground process group, and let it continue, with lines and
 * echo
 *
 * Return: false if it cannot be lent: there is no terminal, or this program runs in the background.
 */
bool terminal_lend(struct terminal *t, pid_t group);

/** terminal_take_back() - take it back, and restore its modes; fine if it is not lent */
void terminal_take_back(struct terminal *t);

/**
 * terminal_ours() - whether this process may read it: it exists, is not lent, and no other group
 * has it
 */
bool terminal_ours(const struct terminal *t);

/** terminal_unread() - whether there is a line that no process has read */
bool terminal_unread(const struct terminal *t);

/** terminal_forget() - discard what was typed */
void terminal_forget(const struct terminal *t);

/**
 * terminal_return_key() - discard what was typed; Return: whether there was a line; false if the
 * terminal is not ours
 */
bool terminal_return_key(const struct terminal *t);

/** terminal_close() - take it back, and release */
void terminal_close(struct terminal *t);

#endif /* NTPROF_PEER_TERMINAL_H */
