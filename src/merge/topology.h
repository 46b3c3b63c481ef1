/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which streams, queues, connections and pairs of clocks a merge knows of. A connection is made of two
 * halves, each what one stream tells of its queue; which two belong together others find out.
 */
#ifndef NTPROF_MERGE_TOPOLOGY_H
#define NTPROF_MERGE_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/queue.h"
#include "core/record.h"
#include "core/span.h"
#include "core/time.h"
#include "merge/known.h"
#include "merge/offset.h"
#include "merge/pending.h"

/*
 * Limits, so that a stream which tells of more is not taken at its word; docs/merging.md has them. Records of queues past them
 * are counted by merge_past_limits(). Memory grows with what is there: some 150 MiB where all connections are, besides the records that wait.
 */
#ifndef TOPOLOGY_CONNECTIONS_MAX
#define TOPOLOGY_CONNECTIONS_MAX 65536
#endif
/* A connection has two. */
#define TOPOLOGY_HALVES_MAX (2 * TOPOLOGY_CONNECTIONS_MAX)
/* So many of one controller id and queue id: each is compared with the others, and of so many nothing is told apart. */
#define TOPOLOGY_ALIKE_MAX 8192
#define TOPOLOGY_STREAMS_MAX 1024
/* Of one stream: a slot's number is below this. A recorder has no higher ones. */
#define TOPOLOGY_SLOTS_MAX 262144
/* Identities of a slot that its records may still name: those of the last connects, the newest first. */
#define TOPOLOGY_GENERATIONS 4
/* Halves that no slot leads to any more and none waits at; they come back with their controller id. */
#ifndef TOPOLOGY_IDLE_MAX
#define TOPOLOGY_IDLE_MAX 1024
#endif
/* With more than these, so many records may wait at halves that each have too few to find a partner that there is no room. */
#ifndef TOPOLOGY_MANY_HALVES
#define TOPOLOGY_MANY_HALVES 4096
#endif
/* Halves are looked for by controller and queue id. */
#define TOPOLOGY_BUCKETS 65536

/* The clocks of a host's and a target's stream. */
struct link {
	unsigned int host_stream;
	unsigned int target_stream;
	struct offset offset;
	uint64_t unmatched[NT_SIDES]; /* records that had to wait since the last match */
};

/*
 * A connection's queue as one stream tells of it: an identity (names, controller id, queue id, the
 * host's instance), whatever slots and generations it had. The other side's half is its @partner, once
 * it is known which one that is, until another one turns out to be.
 */
struct half {
	unsigned int stream;
	enum nt_side side;
	struct queue_info q;
	unsigned int index;			  /* in the topology's array */
	uint64_t number;			  /* in the order in which they came, from 1 */
	struct half *next_alike, *previous_alike; /* of the same bucket... */
	struct half *next_same;			  /* ...and by identity */
	unsigned int refs;			  /* generations that lead here... */
	unsigned int current; /* ...and those of them that are the newest of their slot */
	bool reconnected;     /* and not matched since: the partner may be another */
	struct half *partner;
	struct link *link; /* with the partner's stream */
	struct merge_connection *connection;
	uint64_t only, ambiguous; /* records given up and counted there, while without a partner */
	struct pending_list pending;
	uint64_t matched_ns; /* the stream's @newest at the last match */
	uint16_t cids;	     /* bits of the command ids of its records */
	uint64_t waited;     /* records that had to wait since the last match */
	uint64_t next_try;   /* when so many have, look for the partner or the offset again */
	uint64_t aged_try;   /* not before the stream's @newest is here */
	unsigned int vain;   /* tries since, where all looked alike */
	bool crowded;	     /* too many had the same name to tell them apart at the last try */
	bool alike;	     /* hardly anything told the commands apart at the last try */
	enum pending_chance chance; /* of those that wait... */
	bool over;		    /* ...and whether nobody can have one of them any more */
	uint64_t rated;		    /* the topology's @changes then */
};

/* Which halves the records of a slot belong to. */
struct topology_slot {
	struct topology_generation {
		struct half *half;
		uint32_t gen;
	} generation[TOPOLOGY_GENERATIONS];
};

/*
 * What a stream has told of. @known: it is there; nothing more comes when it has @ended. @left_out: it has told of queues that
 * are past a limit.
 */
struct topology_stream {
	bool known, ended, left_out;
	enum nt_side side;
	struct topology_slot **by_slot;
	uint32_t nr_slots;
	uint64_t newest;     /* when the last command ended, its own clock */
	uint64_t boot;	     /* a hash of the boot id, 0: not known */
	uint64_t to_wall;    /* what its wall clock was ahead at the first clock frame */
	unsigned int behind; /* records in a row that ended long before @newest */
};

/*
 * Connections and links stay where they are until topology_free(); so does a half as long as a slot
 * leads to it or a record waits at it. All zero at the beginning.
 */
struct topology {
	struct topology_stream *streams;
	unsigned int nr_streams;
	struct half **halves;
	unsigned int nr_halves;
	struct half *bucket[TOPOLOGY_BUCKETS];
	uint32_t nr_alike[TOPOLOGY_BUCKETS]; /* halves of a bucket */
	struct half *identity[TOPOLOGY_BUCKETS];
	unsigned int max_halves; /* there is room for */
	uint64_t halves_made;
	unsigned int swept;    /* how many halves the last sweep left... */
	unsigned int unled;    /* ...of which no slot led to so many, but records waited there */
	unsigned int released; /* that no slot leads to any more since then */
	unsigned int refused;  /* for lack of room, while there were such */
	struct known known;
	struct link **links;
	unsigned int nr_links;
	unsigned int open[NT_SIDES]; /* streams that are known and have not ended */
	unsigned int ended[NT_SIDES];
	uint64_t changes; /* of halves, partners and streams */
};

/** topology_stream_begins() - there is a stream, though it may not have told of anything; 0 or -ENOMEM */
int topology_stream_begins(struct topology *t, unsigned int stream, enum nt_side side);

/**
 * topology_queue() - a stream tells of a queue
 * @t: topology
 * @stream: number of the stream
 * @side: of that stream
 * @q: copied; of a queue that is known already what is told now counts
 *
 * Return: 0, also for a queue past one of the limits above, or -ENOMEM.
 */
int topology_queue(struct topology *t, unsigned int stream, enum nt_side side,
		   const struct queue_info *q);

/**
 * topology_is_crowded() - whether there are many halves
 *
 * It may be because records wait at each, too few for it to find its partner by itself. So often halves that none waits at
 * are dropped, too.
 */
static inline bool topology_is_crowded(const struct topology *t)
{
	return t->nr_halves > TOPOLOGY_MANY_HALVES && t->nr_halves >= t->swept + TOPOLOGY_IDLE_MAX;
}

/** topology_left_out() - whether a stream told of queues that are past a limit */
static inline bool topology_left_out(const struct topology *t, unsigned int stream)
{
	return stream >= TOPOLOGY_STREAMS_MAX ||
	       (stream < t->nr_streams && t->streams[stream].left_out);
}

/** topology_half_of() - the half that a record of a slot belongs to, NULL if nobody told of it */
struct half *topology_half_of(const struct topology_slot *slot, const struct nt_record *r);

/**
 * topology_half() - the half that a record of @stream belongs to, NULL if nobody told of it
 *
 * A queue that is told of again under one generation with another controller id is two halves: the
 * record's own id says which. Mostly it is of the newest.
 */
static inline struct half *topology_half(const struct topology *t, unsigned int stream,
					 const struct nt_record *r)
{
	const struct topology_slot *slot;
	struct half *h;

	if (stream >= t->nr_streams || r->slot >= t->streams[stream].nr_slots)
		return NULL;
	slot = t->streams[stream].by_slot[r->slot];
	if (!slot)
		return NULL;
	h = slot->generation[0].half;
	if (h && slot->generation[0].gen == r->gen && h->q.cntlid == r->cntlid)
		return h;
	return topology_half_of(slot, r);
}

/** topology_alike() - the first half that may have the ids of @h; the others follow by next_alike */
struct half *topology_alike(const struct topology *t, const struct half *h);

/** topology_is_free() - whether a half may get a partner: it has none, or one that has gone quiet */
bool topology_is_free(const struct topology *t, const struct half *h);

/** topology_connection() - the half's connection, made when it is new; NULL past the limit or -ENOMEM */
struct merge_connection *topology_connection(struct topology *t, struct half *h);

/** topology_bind() - from now on they are partners, over @l, and those that they had are no longer */
void topology_bind(struct topology *t, struct half *host, struct half *target, struct link *l);

/** topology_link() - the link between two halves' streams, made when it is new; NULL: -ENOMEM */
struct link *topology_link(struct topology *t, const struct half *a, const struct half *b);

/** topology_link_known() - the same, NULL when there is none yet */
struct link *topology_link_known(const struct topology *t, const struct half *a,
				 const struct half *b);

/** topology_sweep() - drop halves that nothing leads to and none waits at */
void topology_sweep(struct topology *t);

/**
 * topology_is_id() - whether that is a controller's id
 *
 * While its Connect has not been answered it has none: what the host asks with (NVMe over Fabrics 1.1, 3.3), or what Linux has
 * until then. Ids of nvmet begin with 1.
 */
static inline bool topology_is_id(uint16_t cntlid)
{
	return cntlid != NT_CNTLID_NONE && cntlid;
}

/** half_partner_waits() - whether records wait at the half's partner */
static inline bool half_partner_waits(const struct half *h)
{
	return h->partner && h->partner->pending.count;
}

/** half_began_at() - host's clock when a command of the half, of either side, began, more or less */
static inline uint64_t half_began_at(const struct half *h, const struct nt_record *r,
				     const struct offset *o)
{
	if (h->side == NT_HOST)
		return r->points[NT_H_SEND_CMD] ?: r->points[NT_H_QUEUE_RQ];
	return record_begin_ns(r) - (uint64_t)o->now.high;
}

/** half_compatible() - whether two halves may be of one connection, by all that is known of them */
bool half_compatible(const struct half *a, const struct half *b);

/** topology_free() - release what it has; not the topology itself */
void topology_free(struct topology *t);

#endif /* NTPROF_MERGE_TOPOLOGY_H */
