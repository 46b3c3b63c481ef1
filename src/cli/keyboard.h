/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keys as they are pressed, unseen: the terminal's modes while this program has it, and what they were whenever it has
 * not: after the end, while it is stopped, and when it dies. There is one terminal.
 */
#ifndef NTPROF_CLI_KEYBOARD_H
#define NTPROF_CLI_KEYBOARD_H

#include <stdbool.h>

/**
 * keyboard_open() - find it; nothing is changed yet. keyboard_close() is due
 *
 * Return: a descriptor to wait for and read from without waiting, as long as keyboard_taken(); -1 if standard input is not
 * the terminal that this process belongs to.
 */
int keyboard_open(void);

/**
 * keyboard_take() - from now on keys come as they are pressed, if this process is in the foreground; Ctrl-C, Ctrl-Z and the
 * like are signals as before
 *
 * Return: whether it is so.
 */
bool keyboard_take(void);

/** keyboard_leave() - the terminal is what it was */
void keyboard_leave(void);

/** keyboard_taken() - false also after the process was stopped: what the terminal is by then, others know */
bool keyboard_taken(void);

/** keyboard_ours() - whether this process may read it: it is in the foreground */
bool keyboard_ours(void);

/** keyboard_close() - leave it, and release */
void keyboard_close(void);

#endif /* NTPROF_CLI_KEYBOARD_H */
