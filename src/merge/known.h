/* SPDX-License-Identifier: GPL-2.0-only */
/* All connections that a merge has had, found by their identity. */
#ifndef NTPROF_MERGE_KNOWN_H
#define NTPROF_MERGE_KNOWN_H

#include "merge/connection.h"

/*
 * A controller may get another id with each reconnect. Its queue then is a connection for each of
 * this many ids; the newest connection takes over all further ids. When half of all connections are
 * taken, only a queue without any gets a new one.
 */
#define KNOWN_PER_QUEUE 16
/* Buckets are chosen by streams, instance and queue id. */
#ifndef KNOWN_BUCKETS
#define KNOWN_BUCKETS 16384
#endif

/* @c: never moves; @next: older one of the same bucket */
struct known_entry {
	struct merge_connection c;
	struct known_entry *next;
};

/* Connections in the order in which they came; all zero at the beginning. */
struct known {
	struct known_entry **all;
	unsigned int nr;
	struct known_entry *bucket[KNOWN_BUCKETS];
};

/**
 * known_get() - find the connection of an identity, or make it
 * @k: connections
 * @like: has the identity: streams, instance, subsystem, controller and queue id
 * @max: the most connections that there may be
 *
 * After a reconnect a connection goes on where it left off.
 *
 * Return: valid until known_free(); NULL past the limit, or when memory ran out.
 */
struct merge_connection *known_get(struct known *k, const struct merge_connection *like,
				   unsigned int max);

/** known_free() - release all connections */
void known_free(struct known *k);

#endif /* NTPROF_MERGE_KNOWN_H */
