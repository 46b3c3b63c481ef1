/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cmocka 2 deprecates assert_in_range() in favour of assert_uint_in_range(). cmocka 1 does not have
 * the latter.
 */
#ifndef NTPROF_TESTS_IN_RANGE_H
#define NTPROF_TESTS_IN_RANGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#ifndef assert_uint_in_range
#define assert_uint_in_range assert_in_range
#endif

#endif /* NTPROF_TESTS_IN_RANGE_H */
