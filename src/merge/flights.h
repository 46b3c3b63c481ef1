/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many commands were in flight when one began, out of records that come when commands have ended. Memory is bounded:
 * so many commands wait until all that began before them may have come.
 */
#ifndef NTPROF_MERGE_FLIGHTS_H
#define NTPROF_MERGE_FLIGHTS_H

#include <stdint.h>

/*
 * Commands that are waited with: one that ended only when so many others had begun and ended since its own beginning was
 * not seen by them. It is counted.
 */
#ifndef FLIGHTS_MAX
#define FLIGHTS_MAX 16384u
#endif
/* Commands of one group in flight at a time: 64 queues of the deepest that Linux has. */
#define FLIGHTS_OF_GROUP_MAX 262144u

/** struct flights_seen - by the commands that began: how many were in flight, themselves included */
struct flights_seen {
	uint64_t count;
	uint64_t sum;
	uint64_t most;
};

/** struct flights_group - when those that are in flight end, the first on top of a heap; all 0 at the beginning */
struct flights_group {
	uint64_t *end;
	unsigned int nr;
	unsigned int room;
};

/** struct flight - a command: when it began and ended, of which groups it is, and who is told what it saw */
struct flight {
	uint64_t begin;
	uint64_t end;
	struct flights_group *group[2];
	struct flights_seen *seen[2];
};

/**
 * struct flights - commands that wait, the first that began on top of a heap; all 0 at the beginning
 * @frontier: all that began before has been told
 * @late: commands that came when those that they were in flight with had been told of
 */
struct flights {
	struct flight *wait;
	unsigned int nr;
	uint64_t frontier;
	uint64_t late;
};

/** flights_add() - a command has ended; Return: 0 or -ENOMEM */
int flights_add(struct flights *f, const struct flight *command);

/** flights_until() - all that began before @ns have come: tell them; Return: 0 or -ENOMEM */
int flights_until(struct flights *f, uint64_t ns);

/** flights_finish() - no more will come: tell all; Return: 0 or -ENOMEM */
int flights_finish(struct flights *f);

/** flights_free(), flights_group_free() - release */
void flights_free(struct flights *f);
void flights_group_free(struct flights_group *g);

#endif /* NTPROF_MERGE_FLIGHTS_H */
