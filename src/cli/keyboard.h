/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads keys as they are pressed, without echo. While this program has the terminal, it sets the
 * terminal's modes. It restores them at its end, when it is stopped, and when it dies. There is one
 * terminal.
 */
#ifndef NTPROF_CLI_KEYBOARD_H
#define NTPROF_CLI_KEYBOARD_H

#include <stdbool.h>

/**
 * keyboard_open() - find the terminal, and change nothing yet; keyboard_close() is due
 *
 * Return: a descriptor to wait for and to read from without blocking, as long as keyboard_taken();
 * -1 if standard input is not the controlling terminal.
 */
int keyboard_open(void);

/**
 * keyboard_take() - set the modes, if this process is in the foreground. Ctrl-C, Ctrl-Z and the
 * like still send signals
 *
 * Return: whether the modes are set.
 */
bool keyboard_take(void);

/** keyboard_leave() - restore the terminal's modes */
void keyboard_leave(void);

/**
 * keyboard_taken() - whether the modes are set; false after the process was stopped, as other
 * programs may have changed them since
 */
bool keyboard_taken(void);

/** keyboard_ours() - whether this process may read the terminal, because it is in the foreground */
bool keyboard_ours(void);

/** keyboard_close() - restore the modes, and release */
void keyboard_close(void);

#endif /* NTPROF_CLI_KEYBOARD_H */
