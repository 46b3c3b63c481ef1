/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reports to the service manager and its journal.
 *
 * The protocol for the state is sd_notify(3): datagrams to the socket in $NOTIFY_SOCKET. Without
 * that variable, nothing is sent.
 */
#ifndef NTPROF_CLI_NOTIFY_H
#define NTPROF_CLI_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOTIFY_READY "READY=1\n"
#define NOTIFY_RELOADING "RELOADING=1\n"
#define NOTIFY_STOPPING "STOPPING=1\n"
#define NOTIFY_ALIVE "WATCHDOG=1\n"
#define NOTIFY_STATUS "STATUS="

/**
 * notify_open() - connect to the service manager; call it once, before confine_loading() forbids
 * connect(), and before the first thread is made
 *
 * Of root with CAP_SYS_ADMIN a process of its own has the connection, which ends with this one. It
 * passes on the lines above and no others.
 *
 * Return: 1 if there is one, 0 if not, or a negative errno.
 */
int notify_open(void);

/**
 * notify() - send @state, lines such as those above; it waits for a moment if there is no room
 *
 * Return: 1 if it was sent, 0 if there is no service manager, or a negative errno; with -EAGAIN the
 * next call sends it as well, but for NOTIFY_ALIVE.
 */
int notify(const char *state);

/**
 * notify_watchdog_ns() - how often to send NOTIFY_ALIVE: half of the time that the watchdog allows,
 * 0 without a watchdog
 */
uint64_t notify_watchdog_ns(void);

/*
 * Lines for the journal, on standard error. If standard error is the journal's stream
 * ($JOURNAL_STREAM), each begins with its priority, as in sd-daemon(3).
 */

/* Values of syslog(3). */
enum journal_priority { JOURNAL_WARNING = 4, JOURNAL_NOTICE = 5 };

/** journal() - print a line; @format is without a line feed */
void journal(enum journal_priority priority, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Events of a machine that is traced for months and that belong into its journal, each reported
 * once.
 */

/* Shorter suspensions cannot be measured, because the two clocks are read one after the other. */
#define CHANGES_SLEEP_MIN_NS 100000000ULL

/**
 * struct changes - the state at the last call of changes_look(); all zeroes before
 * @looked: there has been such a call
 * @ever: a controller has been connected at some time
 * @connected: a controller is connected
 * @slept_ns: how long the machine was suspended since it was started
 */
struct changes {
	bool looked;
	bool ever;
	bool connected;
	uint64_t slept_ns;
};

/**
 * changes_slept_ns() - how long this machine was suspended since it was started
 *
 * This is CLOCK_BOOTTIME minus CLOCK_MONOTONIC, which does not count suspensions.
 */
uint64_t changes_slept_ns(void);

/**
 * changes_look() - compare with the last call
 * @controllers: number of connected controllers
 * @slept_ns: from changes_slept_ns()
 * @line: filled with the message, of @size bytes
 *
 * Return: whether there is a message.
 */
bool changes_look(struct changes *c, unsigned int controllers, uint64_t slept_ns, char *line,
		  size_t size);

#endif /* NTPROF_CLI_NOTIFY_H */
