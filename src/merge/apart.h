/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An array, a controller, a disk or a queue that is slower than the others all the time: its
 * commands typically take much longer in one stage than theirs. Slow commands
 * (causes.h) need not show it: something else may have slowed all of them for a while.
 */
#ifndef NTPROF_MERGE_APART_H
#define NTPROF_MERGE_APART_H

#include "merge/why.h"

/*
 * A stage has to take so many times as long as at the others, and the difference has to be this
 * part of the latency.
 */
#define APART_TIMES 3.0
#define APART_SHARE_MIN 0.2
/* With fewer commands nothing is said of a value. */
#define APART_COMMANDS_MIN 20u
/* A narrower key is taken if its value is so many times as far from the others. */
#define APART_NARROWER 1.3

/**
 * struct apart - the one that is slower than the others
 * @key: WHY_KEYS_NR: there is no such thing
 * @cell: one of its cells
 * @stage: in which stage; NT_MERGED_STAGES_NR: in no one, but in the whole latency
 * @typical_ns: how long that takes, as the mean of the buckets that the times are in: some
 *              commands that take long do not move it
 * @others_ns: how long at the others: the median of what it is at each
 * @others: how many these are
 */
struct apart {
	enum why_key key;
	const struct why_cell *cell;
	unsigned int stage;
	uint64_t typical_ns;
	uint64_t others_ns;
	unsigned int others;
};

/** apart_of() - fill @a for an operation; Return: false if nothing is apart */
bool apart_of(const struct why *w, enum why_op op, struct apart *a);

#endif /* NTPROF_MERGE_APART_H */
