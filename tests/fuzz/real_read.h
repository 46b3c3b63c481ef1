/* SPDX-License-Identifier: GPL-2.0-only */
/* For targets that read files: see the Makefile, by which others read from memory. */
#ifndef NTPROF_TESTS_FUZZ_REAL_READ_H
#define NTPROF_TESTS_FUZZ_REAL_READ_H

#include <sys/types.h>

ssize_t __real_read(int fd, void *buffer, size_t n);
ssize_t __wrap_read(int fd, void *buffer, size_t n);

ssize_t __wrap_read(int fd, void *buffer, size_t n)
{
	return __real_read(fd, buffer, n);
}

#endif /* NTPROF_TESTS_FUZZ_REAL_READ_H */
