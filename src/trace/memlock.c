// SPDX-License-Identifier: GPL-2.0-only
#include "trace/memlock.h"

#include <inttypes.h>
#include <stdio.h>

/*
 * Linux 6.4 and later count all memory of a map. This includes what leads to the elements of a
 * hash, which is most of a small one. Earlier kernels count what the elements take.
 */
size_t memlock_of(int fd)
{
	char path[64], line[128];
	uint64_t bytes = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fd >= 0 ? fopen(path, "re") : NULL;
	if (!f)
		return 0;
	while (!bytes && fgets(line, sizeof(line), f))
		sscanf(line, "memlock: %" SCNu64, &bytes);
	fclose(f);
	return (size_t)bytes;
}
