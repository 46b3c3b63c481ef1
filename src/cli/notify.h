/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports this process's state to a service manager, by the protocol of sd_notify(3): datagrams to
 * the socket in $NOTIFY_SOCKET. Without that variable, nothing is sent.
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
 * notify_open() - connect to the service manager; call it once, before confine_loading() forbids
 * connect()
 *
 * Return: 1 if there is one, 0 if not, or a negative errno.
 */
int notify_open(void);

/**
 * notify() - send @state, lines such as those above, without waiting
 *
 * Return: 1 if it was sent, 0 if there is no service manager, or a negative errno.
 */
int notify(const char *state);

/**
 * notify_watchdog_ns() - how often to send NOTIFY_ALIVE: half of the time that the watchdog allows,
 * 0 without a watchdog
 */
uint64_t notify_watchdog_ns(void);

#endif /* NTPROF_CLI_NOTIFY_H */
