/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Standard error during a run. A terminal that is stopped (Ctrl-S) does not block the thread that
 * prints a message.
 */
#ifndef NTPROF_CLI_CONSOLE_H
#define NTPROF_CLI_CONSOLE_H

#include <stdbool.h>

/**
 * console_open() - from now on writing to stderr does not block
 *
 * Messages that find no room are lost, and a line says so when there is room again. For this reason
 * progress is printed only when console_idle(). fileno(stderr) is -1 until console_close().
 *
 * Return: 0 or a negative errno.
 */
int console_open(void);

/** console_idle() - whether all messages have been written */
bool console_idle(void);

/**
 * console_close() - write the rest, and restore stderr; does nothing without console_open()
 * @hurry_fd: readable when there is no time to wait for a terminal; or -1
 */
void console_close(int hurry_fd);

#endif /* NTPROF_CLI_CONSOLE_H */
