/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NTPROF_FUZZ_ASSERTS_H
#define NTPROF_FUZZ_ASSERTS_H

#include <stdio.h>
#include <stdlib.h>

#define ASSERT(condition)                                                               \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                        \
		}                                                                       \
	} while (0)

#endif /* NTPROF_FUZZ_ASSERTS_H */
