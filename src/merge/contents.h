/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sample of what the commands of a stream asked for. Which ones are in it depends on what they asked for
 * alone, so that two streams of the same commands have the same in theirs.
 */
#ifndef NTPROF_MERGE_CONTENTS_H
#define NTPROF_MERGE_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"

/* The most that are kept; when there are more, every second is dropped. */
#define CONTENTS_MAX 512

/**
 * struct contents - all zero at the beginning
 * @key: a hash table of 2 * CONTENTS_MAX keys, 0 where there is none; NULL before the first
 * @nr: how many there are
 * @mask: only keys that have these bits clear are kept
 */
struct contents {
	uint64_t *key;
	unsigned int nr;
	uint64_t mask;
};

/** contents_add() - a command; Return: 0 or -ENOMEM */
int contents_add(struct contents *c, const struct nt_record *r);

/**
 * contents_common() - whether both have something in common
 *
 * Return: true also when either has fewer than @enough to say that they have not.
 */
bool contents_common(const struct contents *a, const struct contents *b, unsigned int enough);

/** contents_free() - release, and begin anew */
void contents_free(struct contents *c);

#endif /* NTPROF_MERGE_CONTENTS_H */
