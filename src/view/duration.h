/* SPDX-License-Identifier: GPL-2.0-only */
/* Durations and other numbers in a readable form: three significant digits. */
#ifndef NTPROF_VIEW_DURATION_H
#define NTPROF_VIEW_DURATION_H

#include <stddef.h>

/**
 * duration_format() - format a duration
 * @buf: filled with at most 8 characters, e.g. "870ns", "12.3us", "4.56ms", "1.20s", and a sign if
 *       negative
 * @size: of @buf, at least 2
 * @ns: nanoseconds
 *
 * Return: @buf.
 */
char *duration_format(char *buf, size_t size, double ns);

/**
 * number_format() - three significant digits below 100, whole numbers above
 *
 * Return: @buf.
 */
char *number_format(char *buf, size_t size, double n);

#endif /* NTPROF_VIEW_DURATION_H */
