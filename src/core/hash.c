// SPDX-License-Identifier: GPL-2.0-only
#include "core/hash.h"

#include <sys/random.h>

uint64_t hash_secret[2] = {0x9e3779b97f4a7c15ULL, 0xff51afd7ed558ccdULL};

void hash_seed(void)
{
	uint64_t random[2];

	if (getrandom(random, sizeof(random), 0) == sizeof(random))
		memcpy(hash_secret, random, sizeof(random));
}
