/* SPDX-License-Identifier: GPL-2.0-only */
/* The wall clock in the format of RFC 3339, in UTC. */
#ifndef NTPROF_VIEW_RFC3339_H
#define NTPROF_VIEW_RFC3339_H

/* "2031-05-23T12:00:00.000000000Z", with room for years with more digits. */
#define RFC3339_LEN 80

/**
 * rfc3339_now() - the current time, to the nanosecond
 *
 * Return: @buf.
 */
char *rfc3339_now(char buf[RFC3339_LEN]);

#endif /* NTPROF_VIEW_RFC3339_H */
