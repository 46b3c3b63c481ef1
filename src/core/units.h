/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times and sizes as people write them: a number and a unit.
 */
#ifndef NTPROF_CORE_UNITS_H
#define NTPROF_CORE_UNITS_H

#include <stdint.h>

/**
 * parse_seconds() - a time as people write it
 * @text: a decimal number and optionally a unit: ns, us, ms, s (the default), m or h
 * @ns: filled with nanoseconds
 *
 * Return: 0, -EINVAL if it is no such time, -ERANGE if it is negative or beyond 2^63 ns.
 */
int parse_seconds(const char *text, uint64_t *ns);

/**
 * parse_size() - a size as people write it
 * @text: a whole number and optionally K, M or G, in either case, or KiB, MiB or GiB: powers of 1024. kB is not one,
 *        which is 1000 to some programs and 1024 to others
 * @bytes: filled
 *
 * Return: 0, -EINVAL if it is no such size, -ERANGE if it does not fit.
 */
int parse_size(const char *text, uint64_t *bytes);

#endif /* NTPROF_CORE_UNITS_H */
