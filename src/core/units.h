/* SPDX-License-Identifier: GPL-2.0-only */
/* Times and sizes as users write them: a number and a unit. */
#ifndef NTPROF_CORE_UNITS_H
#define NTPROF_CORE_UNITS_H

#include <stdint.h>

/**
 * parse_seconds() - parse a time
 * @text: a decimal number and optionally a unit: ns, us, ms, s (the default), m or h
 * @ns: filled with nanoseconds
 *
 * Return: 0, -EINVAL if the text is not a time, -ERANGE if it is negative or beyond 2^63 ns.
 */
int parse_seconds(const char *text, uint64_t *ns);

/**
 * parse_size() - parse a size
 * @text: a whole number and optionally K, M or G, in either case, or KiB, MiB or GiB: powers of
 *        1024. kB is not accepted, because it is 1000 to some programs and 1024 to others
 * @bytes: filled
 *
 * Return: 0, -EINVAL if the text is not a size, -ERANGE if it does not fit.
 */
int parse_size(const char *text, uint64_t *bytes);

#endif /* NTPROF_CORE_UNITS_H */
