/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tells a service manager how it is going, by the protocol of sd_notify(3): datagrams to the socket that $NOTIFY_SOCKET
 * names. Without one nothing is told.
 */
#ifndef NTPROF_CLI_NOTIFY_H
#define NTPROF_CLI_NOTIFY_H

#include <stdint.h>

#define NOTIFY_READY "READY=1\n"
#define NOTIFY_RELOADING "RELOADING=1\n"
#define NOTIFY_STOPPING "STOPPING=1\n"
#define NOTIFY_ALIVE "WATCHDOG=1\n"
#define NOTIFY_STATUS "STATUS="

/**
 * notify_open() - once, before this process gives up connecting (cli/confine.h): to who wants to know
 *
 * Return: 1 if somebody does, 0 if not, or a negative errno.
 */
int notify_open(void);

/**
 * notify() - tell it @state: lines such as those above. It is not waited for
 *
 * Return: 1 if it has been told, 0 if nobody wants to know (notify_open()), or a negative errno.
 */
int notify(const char *state);

/** notify_watchdog_ns() - how often to tell NOTIFY_ALIVE: half of what is demanded of this process, 0 if nothing is */
uint64_t notify_watchdog_ns(void);

#endif /* NTPROF_CLI_NOTIFY_H */
