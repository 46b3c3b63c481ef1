/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sample of what the commands of a stream asked for. It depends on the commands alone which of
 * them are in the sample, so two streams of the same commands have the same ones in theirs.
 */
#ifndef NTPROF_MERGE_CONTENTS_H
#define NTPROF_MERGE_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"

/* The most keys that are kept; when there are more, about half of them are dropped. */
#define CONTENTS_MAX 512

/**
 * struct contents - the sample; all zero at the beginning
 * @key: a hash table of 2 * CONTENTS_MAX keys, 0 is free; NULL before the first key
 * @nr: number of keys
 * @mask: only keys with all these bits clear are kept
 */
struct contents {
	uint64_t *key;
	unsigned int nr;
	uint64_t mask;
};

/** contents_add() - add a command; Return: 0 or -ENOMEM */
int contents_add(struct contents *c, const struct nt_record *r);

/**
 * contents_common() - whether two samples have a key in common
 *
 * Return: true also when either has fewer than @enough keys, too few to say that they have none.
 */
bool contents_common(const struct contents *a, const struct contents *b, unsigned int enough);

/** contents_free() - release; the sample can be used again */
void contents_free(struct contents *c);

#endif /* NTPROF_MERGE_CONTENTS_H */
