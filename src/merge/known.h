/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The connections that a merge tells of: all that there ever were, found by who they are.
 */
#ifndef NTPROF_MERGE_KNOWN_H
#define NTPROF_MERGE_KNOWN_H

#include "merge/connection.h"

/*
 * A queue whose controller gets another id with each reconnect is a connection with each of so many; the
 * last of them goes by the newest id from then on. When half of all are taken, every queue has one.
 */
#define KNOWN_PER_QUEUE 16
/* They are looked for by streams, instance and queue id. */
#define KNOWN_BUCKETS 16384

/* @c: where it stays; @next: of the same bucket, older */
struct known_entry {
	struct merge_connection c;
	struct known_entry *next;
};

/* In the order in which they came; all zero at the beginning. */
struct known {
	struct known_entry **all;
	unsigned int nr;
	struct known_entry *bucket[KNOWN_BUCKETS];
};

/**
 * known_get() - the connection of a name, made when it is new
 * @k: connections
 * @like: has its name: streams, instance, subsystem, controller and queue id
 * @max: how many there may be
 *
 * One that came back after a reconnect goes on where it left off.
 *
 * Return: valid until known_free(); NULL past the limit, or when memory ran out.
 */
struct merge_connection *known_get(struct known *k, const struct merge_connection *like,
				   unsigned int max);

/** known_free() - release what it has */
void known_free(struct known *k);

#endif /* NTPROF_MERGE_KNOWN_H */
