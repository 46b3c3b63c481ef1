/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the merge share: merge.c, merge_topology.c and merge_align.c. */
#ifndef NTPROF_MERGE_PRIVATE_H
#define NTPROF_MERGE_PRIVATE_H

#include "merge/merge.h"
#include "merge/offset.h"
#include "merge/pending.h"

/* More than any machine has; a stream that tells of more is not taken at its word. */
#define HALVES_MAX 8192
#define CONNECTIONS_MAX 4096
#define STREAMS_MAX 1024
#define SLOTS_MAX 65536

/* The clocks of a host's and a target's stream. */
struct link {
	unsigned int host_stream;
	unsigned int target_stream;
	struct offset offset;
	uint64_t unmatched[NT_SIDES]; /* records that had to wait since the last match */
};

/*
 * A connection's queue as one stream tells of it. The other side's half is its @partner, once it is
 * known which one that is.
 */
struct half {
	unsigned int stream;
	enum nt_side side;
	struct queue_info q;
	struct half *older; /* the connection that had the slot before */
	struct half *partner;
	struct link *link; /* with the partner's stream */
	struct merge_connection *connection;
	struct pending_list pending;
	uint64_t waited;      /* records that had to wait since the last match */
	uint64_t next_try;    /* when so many have, look for the partner or the offset again */
	uint64_t aged_try;    /* not before the stream's @newest is here */
	struct half *suspect; /* whom the last try found, with this offset, but not surely enough */
	struct offset_bounds suspected;
};

struct merge_stream {
	struct half **by_slot; /* the newest of a slot */
	uint32_t nr_slots;
	uint64_t newest; /* when the last command ended, its own clock */
};

struct merge {
	struct merge_callbacks callbacks;
	struct pending_pool pool;
	struct merge_stream *streams;
	unsigned int nr_streams;
	struct half **halves;
	unsigned int nr_halves;
	struct merge_connection **connections;
	unsigned int nr_connections;
	struct link **links;
	unsigned int nr_links;
	uint64_t unknown;
};

/** half_of() - the half that a record belongs to, NULL if nobody told of it */
struct half *half_of(const struct merge *m, unsigned int stream, const struct nt_record *r);

/** half_connection() - the half's connection, made when it is new; NULL when there are too many */
struct merge_connection *half_connection(struct merge *m, struct half *h);

/** half_compatible() - whether two halves may be of one connection, by all that is known of them */
bool half_compatible(const struct half *a, const struct half *b);

/** half_bind() - from now on they are partners, over @l */
void half_bind(struct merge *m, struct half *host, struct half *target, struct link *l);

/** link_get() - the link between two halves' streams, made when it is new; NULL when memory ran out */
struct link *link_get(struct merge *m, const struct half *a, const struct half *b);

/** topology_free() - release streams, halves, connections and links */
void topology_free(struct merge *m);

/**
 * align() - look for the partner of a half, or for the offset between their clocks, or both
 * @m: merge
 * @h: a half whose records wait
 * @patient: it has waited long enough: decide by what there is
 *
 * Return: true when found; records of @h and its partner can be matched from @at of the host's clock.
 */
bool align(struct merge *m, struct half *h, bool patient, uint64_t *at);

#endif /* NTPROF_MERGE_PRIVATE_H */
