// SPDX-License-Identifier: GPL-2.0-only
#include "core/pages.h"

#include <sys/mman.h>

/*
 * Not malloc(): sanitizers write a shadow byte for each eight bytes that malloc() returns, whether
 * they are touched or not.
 */
void *pages_reserve(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

void pages_release(void *at, size_t size)
{
	if (at)
		munmap(at, size);
}
