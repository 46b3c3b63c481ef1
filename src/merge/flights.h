/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts how many commands were in flight when one began. Records come when commands have ended, so
 * commands wait here until all that began before them may have come. Memory is bounded.
 */
#ifndef NTPROF_MERGE_FLIGHTS_H
#define NTPROF_MERGE_FLIGHTS_H

#include <stdint.h>

/*
 * The most commands that wait. A command during which this many others began and ended is missing
 * in their counts of commands in flight. @late of struct flights counts such commands.
 */
#ifndef FLIGHTS_MAX
#define FLIGHTS_MAX 16384u
#endif
/* The most commands of one group in flight: 64 queues of the greatest depth that Linux has. */
#define FLIGHTS_OF_GROUP_MAX 262144u

/**
 * struct flights_seen - what beginning commands saw: how many were in flight, themselves included
 */
struct flights_seen {
	uint64_t count;
	uint64_t sum;
	uint64_t most;
};

/**
 * struct flights_group - ends of the commands in flight, a heap with the earliest on top; all zero
 * at the beginning
 */
struct flights_group {
	uint64_t *end;
	unsigned int nr;
	unsigned int room;
};

/**
 * struct flight - a command: its beginning and end, its two groups, and where what it saw is added
 */
struct flight {
	uint64_t begin;
	uint64_t end;
	struct flights_group *group[2];
	struct flights_seen *seen[2];
};

/**
 * struct flights - commands that wait, a heap with the earliest beginning on top; all zero at the
 * beginning
 * @frontier: all commands that began before this have been counted
 * @late: commands that are not counted: they came when those that ran at the same time had been
 *        counted, or too many of a group were in flight
 */
struct flights {
	struct flight *wait;
	unsigned int nr;
	uint64_t frontier;
	uint64_t late;
};

/** flights_add() - a command has ended; Return: 0 or -ENOMEM */
int flights_add(struct flights *f, const struct flight *command);

/**
 * flights_until() - all commands that began before @ns have come: count them; Return: 0 or -ENOMEM
 */
int flights_until(struct flights *f, uint64_t ns);

/** flights_finish() - no more commands will come: count all that wait; Return: 0 or -ENOMEM */
int flights_finish(struct flights *f);

/** flights_free(), flights_group_free() - release */
void flights_free(struct flights *f);
void flights_group_free(struct flights_group *g);

#endif /* NTPROF_MERGE_FLIGHTS_H */
