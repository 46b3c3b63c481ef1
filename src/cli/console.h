/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Standard error while a run is under way: a terminal that is stopped (Ctrl-S) holds up nobody who has
 * something to tell.
 */
#ifndef NTPROF_CLI_CONSOLE_H
#define NTPROF_CLI_CONSOLE_H

#include <stdbool.h>

/**
 * console_open() - from now on the stream stderr does not wait. What finds no room is lost, and that is told when
 * there is room again; so progress is told only when console_idle(). fileno(stderr) is -1 meanwhile.
 *
 * Return: 0 or a negative errno.
 */
int console_open(void);

/** console_idle() - whether all that was told has been taken */
bool console_idle(void);

/**
 * console_close() - hand over the rest, and make stderr what it was; without console_open() it does nothing
 * @hurry_fd: -1, or readable when there is no time to wait for a terminal
 */
void console_close(int hurry_fd);

#endif /* NTPROF_CLI_CONSOLE_H */
