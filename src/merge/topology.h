/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The streams, queues, connections and pairs of clocks that a merge knows. A connection has two
 * endpoints: an endpoint is one stream's view of a queue. align.h finds out which two endpoints
 * belong together.
 */
#ifndef NTPROF_MERGE_TOPOLOGY_H
#define NTPROF_MERGE_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/device.h"
#include "core/segments.h"
#include "core/time.h"
#include "merge/connection.h"
#include "merge/offset.h"
#include "merge/pending.h"
#include "shared/record.h"

/* All connections that a merge has had, found by their identity. */

/*
 * A controller may get another id with each reconnect. Its queue then is a connection for each of
 * this many ids; the newest connection takes over all further ids. When half of all connections are
 * taken, only a queue without any gets a new one.
 */
#define KNOWN_PER_QUEUE 16
/* The identity of a queue is its streams, instance, subsystem and queue id. */
#ifndef KNOWN_BUCKETS
#define KNOWN_BUCKETS 16384
#endif

/*
 * @c: never moves
 * @next: of the same bucket of identities
 * @next_queue: of the same bucket of queues, which has the newest connection of each queue
 * @nr: connections of the queue; valid in the newest
 */
struct known_entry {
	struct merge_connection c;
	struct known_entry *next, *next_queue;
	unsigned int nr;
};

/* Connections in the order in which they came; all zero at the beginning. */
struct known {
	struct known_entry **all;
	unsigned int nr;
	struct known_entry *bucket[KNOWN_BUCKETS];
	struct known_entry *queue[KNOWN_BUCKETS];
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

/*
 * Limits, as a stream may give any number of queues; docs/merging.md lists them. Records of queues
 * past the limits are counted by merge_strays(). Memory grows with the number of
 * connections and slots: some 210 MiB for the most, and 2 MiB for each stream, without the records
 * that wait.
 */
/*
 * The most endpoints of all streams of one side, and the most connections: those with a target are
 * the target's, the others the host's. Of these, as of slots, half is divided equally among the
 * streams of the side, so that none can take it from another. The other half is for the first that
 * need it.
 */
#ifndef TOPOLOGY_CONNECTIONS_MAX
#define TOPOLOGY_CONNECTIONS_MAX 65536
#endif
/* Of both sides. */
#define TOPOLOGY_ENDPOINTS_MAX (2 * TOPOLOGY_CONNECTIONS_MAX)
/*
 * The most endpoints of one stream with one controller id and queue id. Each is compared with the
 * others, and among so many none can be distinguished.
 */
#define TOPOLOGY_ALIKE_MAX 1024
#define TOPOLOGY_STREAMS_MAX 1024
/*
 * The number of a stream's slot is below this: a recorder has no higher ones. All streams of a side
 * together have so many.
 */
#ifndef TOPOLOGY_SLOTS_MAX
#define TOPOLOGY_SLOTS_MAX 262144
#endif
/*
 * Identities of a slot that its records may still refer to: those of the last connects, newest
 * first.
 */
#define TOPOLOGY_GENERATIONS 4
/*
 * Halves that no slot leads to and without waiting records; they come back with their controller
 * id.
 */
#ifndef TOPOLOGY_IDLE_MAX
#define TOPOLOGY_IDLE_MAX 1024
#endif
/*
 * With more endpoints than this, the records that wait may fill the pool while each endpoint has
 * too few to find a partner.
 */
#ifndef TOPOLOGY_MANY_ENDPOINTS
#define TOPOLOGY_MANY_ENDPOINTS 4096
#endif
/* A sweep looks at all endpoints, so it comes only when one for every so many has come since. */
#define TOPOLOGY_SWEEP_SHARE 16
/* Buckets of endpoints are chosen by controller id and queue id. */
#ifndef TOPOLOGY_BUCKETS
#define TOPOLOGY_BUCKETS 65536
#endif

/* A hundred hosts that are all connected to a hundred targets have ten thousand links. */
#define TOPOLOGY_LINK_BUCKETS 4096

/* The clocks of a host's and a target's stream. @next: of the same bucket */
struct link {
	unsigned int host_stream;
	unsigned int target_stream;
	struct link *next;
	struct offset offset;
	uint64_t unmatched[NT_SIDES]; /* records that had to wait since the last match */
	uint16_t cids;		      /* bits of the command ids of the host's records */
};

/*
 * A connection's queue as one stream sees it. It has one identity (names, controller id, queue id,
 * the host's instance), and may have had several slots and generations. @partner is the other
 * side's endpoint, NULL until it is known; it changes if another endpoint turns out to be the right
 * one.
 */
struct endpoint {
	unsigned int stream;
	enum nt_side side;
	struct queue_info q;
	unsigned int index; /* in topology.endpoints */
	uint64_t number;    /* in the order in which endpoints came, from 1 */
	/* Of the same side, in the same bucket of endpoints. Those of a stream are together. */
	struct endpoint *next_alike, *previous_alike;
	/*
	 * Valid in the first of a stream: the first of the next one, how many the stream has, and
	 * whether the last try of any endpoint had too many without leaving these out.
	 */
	struct endpoint *next_stream;
	unsigned int nr_alike;
	bool left_out;
	struct endpoint *next_same; /* in the same bucket of identities */
	unsigned int refs;	    /* generations that lead to this endpoint... */
	unsigned int current;	    /* ...and how many of them are the newest of their slot */
	bool reconnected; /* connected again and not matched since: the partner may be another */
	struct endpoint *partner;
	struct link *link; /* clocks of this stream and the partner's */
	struct merge_connection *connection;
	uint64_t only, ambiguous; /* records given up without a partner, counted in @connection */
	struct pending_list pending;
	uint64_t matched_ns; /* the stream's @newest at the last match */
	uint16_t cids;	     /* bits of the command ids of its records */
	uint64_t waited;     /* records that had to wait since the last match */
	uint64_t next_try;   /* when @waited is this, look for the partner or the offset again */
	uint64_t aged_try;   /* look again when the stream's @newest has come to this */
	bool expiring;	     /* merge_expire() is giving up its late records */
	bool ending;	     /* merge_end_some() is giving up its records */
	unsigned int vain;   /* failed tries since then where all commands looked alike */
	bool crowded; /* at the last try, too many endpoints had the same name to tell them apart */
	bool alike;   /* at the last try, hardly anything told the commands apart */
	enum pending_likelihood likelihood; /* of the waiting records */
	bool over;			    /* no other endpoint can come for them any more */
	uint64_t rated; /* topology.changes when @likelihood and @over were set */
};

/* The endpoints that the records of a slot belong to, newest first. */
struct topology_slot {
	struct topology_generation {
		struct endpoint *endpoint;
		uint32_t gen;
	} generation[TOPOLOGY_GENERATIONS];
};

/* What all streams of a side share. */
enum topology_share {
	SHARE_ENDPOINTS,
	SHARE_CONNECTIONS,
	SHARE_OF_BOTH, /* connections of both sides, which are of a host as well */
	SHARE_SLOTS,
	SHARES_NR,
};

/*
 * A stream.
 * @known: it is there
 * @ended: no more records will come
 * @left_out: it gave queues past a limit
 * @nr: how many it has
 */
struct topology_stream {
	bool known, ended, left_out;
	enum nt_side side;
	unsigned int nr[SHARES_NR];
	struct topology_slot **by_slot;
	uint32_t nr_slots;
	uint64_t newest;     /* when the last command ended, by its own clock */
	uint64_t boot;	     /* a hash of the boot id, 0: not known */
	uint64_t to_wall;    /* how far its wall clock was ahead at the first clock frame */
	unsigned int behind; /* records in a row that ended long before @newest */
};

/*
 * All zero at the beginning. Connections and links never move until topology_free(). Neither does a
 * half as long as a slot leads to it or a record waits at it.
 */
struct topology {
	struct topology_stream *streams;
	unsigned int nr_streams;
	struct endpoint **endpoints;
	unsigned int nr_endpoints;
	struct endpoint *bucket[NT_SIDES][TOPOLOGY_BUCKETS];
	struct endpoint *identity[TOPOLOGY_BUCKETS];
	uint64_t endpoints_made;
	unsigned int unswept; /* endpoints that were made or refused since the last sweep */
	struct known known;
	struct link **links;
	unsigned int nr_links;
	struct link *link_bucket[TOPOLOGY_LINK_BUCKETS];
	unsigned int open[NT_SIDES]; /* streams that are known and have not ended */
	unsigned int ended[NT_SIDES];
	uint64_t changes; /* counts changes of endpoints, partners and streams */
};

/**
 * topology_stream_begins() - a stream is there, maybe without queues so far; Return: 0 or -ENOMEM
 */
int topology_stream_begins(struct topology *t, unsigned int stream, enum nt_side side);

/**
 * topology_queue() - a stream gives a queue
 * @t: topology
 * @stream: number of the stream
 * @side: of that stream
 * @q: copied; for a queue that is known already, it replaces the earlier copy
 *
 * Return: 0, also for a queue past one of the limits above, or -ENOMEM.
 */
int topology_queue(struct topology *t, unsigned int stream, enum nt_side side,
		   const struct queue_info *q);

/** topology_sweep_after() - endpoints that are made or refused between two sweeps */
static inline unsigned int topology_sweep_after(const struct topology *t)
{
	unsigned int share = t->nr_endpoints / TOPOLOGY_SWEEP_SHARE;

	return share < TOPOLOGY_IDLE_MAX ? TOPOLOGY_IDLE_MAX : share;
}

/**
 * topology_is_crowded() - whether a sweep is due and there are many endpoints
 *
 * There may be records waiting at each of them, too few for it to find its partner by itself. Once
 * they have looked for it, topology_sweep() drops endpoints without records.
 */
static inline bool topology_is_crowded(const struct topology *t)
{
	return t->nr_endpoints > TOPOLOGY_MANY_ENDPOINTS && t->unswept >= topology_sweep_after(t);
}

/** topology_left_out() - whether a stream gave queues that are past a limit */
static inline bool topology_left_out(const struct topology *t, unsigned int stream)
{
	return stream >= TOPOLOGY_STREAMS_MAX ||
	       (stream < t->nr_streams && t->streams[stream].left_out);
}

/**
 * topology_endpoint_of() - the endpoint that a record of a slot belongs to, NULL if it was not
 * announced
 */
struct endpoint *topology_endpoint_of(const struct topology_slot *slot, const struct nt_record *r);

/**
 * topology_endpoint() - the endpoint that a record of @stream belongs to, NULL if it was not
 * announced
 *
 * A queue that was announced twice in one generation, with two controller ids, has two endpoints:
 * the id in the record decides. Mostly it is that of the newest.
 */
static inline struct endpoint *topology_endpoint(const struct topology *t, unsigned int stream,
						 const struct nt_record *r)
{
	const struct topology_slot *slot;
	struct endpoint *h;

	if (stream >= t->nr_streams || r->slot >= t->streams[stream].nr_slots)
		return NULL;
	slot = t->streams[stream].by_slot[r->slot];
	if (!slot)
		return NULL;
	h = slot->generation[0].endpoint;
	if (h && slot->generation[0].gen == r->gen && h->q.cntlid == r->cntlid)
		return h;
	return topology_endpoint_of(slot, r);
}

/**
 * topology_alike() - the first endpoint of the other side in the bucket of the ids of @h; the
 * others follow by next_alike
 */
struct endpoint *topology_alike(const struct topology *t, const struct endpoint *h);

/** topology_alike_beside() - the same of the side of @h; the endpoints of a stream are together */
struct endpoint *topology_alike_beside(const struct topology *t, const struct endpoint *h);

/**
 * topology_is_free() - whether an endpoint may get a partner: it has none, or may have lost its
 * partner
 */
bool topology_is_free(const struct topology *t, const struct endpoint *h);

/**
 * topology_connection() - the endpoint's connection, made if needed; NULL past the limit or without
 * memory
 */
struct merge_connection *topology_connection(struct topology *t, struct endpoint *h);

/** topology_bind() - make two endpoints partners, over @l; their former partners have none then */
void topology_bind(struct topology *t, struct endpoint *host, struct endpoint *target,
		   struct link *l);

/** topology_link() - the link between two endpoints' streams, made if needed; NULL: -ENOMEM */
struct link *topology_link(struct topology *t, const struct endpoint *a, const struct endpoint *b);

/** topology_link_of() - the link of a host's and a target's stream; NULL if there is none yet */
struct link *topology_link_of(const struct topology *t, unsigned int host_stream,
			      unsigned int target_stream);

/** topology_link_known() - topology_link(), but NULL if there is none yet */
struct link *topology_link_known(const struct topology *t, const struct endpoint *a,
				 const struct endpoint *b);

/** topology_sweep() - drop endpoints that no slot leads to and that no record waits at */
void topology_sweep(struct topology *t);

/**
 * topology_is_id() - whether this is a controller's id
 *
 * Until its Connect is answered, a controller has none, but what the host asks with (NVMe over
 * Fabrics 1.1, 3.3), or the value that Linux has before. Ids of nvmet begin with 1.
 */
static inline bool topology_is_id(uint16_t cntlid)
{
	return cntlid != NT_CNTLID_NONE && cntlid;
}

/** endpoint_partner_waits() - whether records wait at the endpoint's partner */
static inline bool endpoint_partner_waits(const struct endpoint *h)
{
	return h->partner && h->partner->pending.count;
}

/** endpoint_began_at() - about when a command of the endpoint, on either side, began by the host's
 * clock */
static inline uint64_t endpoint_began_at(const struct endpoint *h, const struct nt_record *r,
					 const struct offset *o)
{
	if (h->side == NT_HOST)
		return r->points[NT_H_SEND_CMD] ?: r->points[NT_H_QUEUE_RQ];
	return record_begin_ns(r) - (uint64_t)o->now.high;
}

/** endpoint_compatible() - whether two endpoints may be of one connection, as far as they are known
 */
bool endpoint_compatible(const struct endpoint *a, const struct endpoint *b);

/** topology_is_same_queue() - whether one queue was recorded twice; both have the same commands */
bool topology_is_same_queue(const struct topology *t, const struct endpoint *a,
			    const struct endpoint *b);

/** topology_compete() - whether two queues of one side may have the same partner, by their names */
bool topology_compete(const struct topology *t, const struct endpoint *a, const struct endpoint *b);

/** topology_free() - release all that it has; not the topology itself */
void topology_free(struct topology *t);

/* The clocks of streams, and what a stream's restart drops: see merge_restart(). */

/**
 * topology_stream_restart() - forget all of a stream, also its clock; it has not ended any more.
 * None of its records may wait.
 */
void topology_stream_restart(struct topology *t, unsigned int stream);

/** topology_clock() - a stream gives its clocks; only the first call counts */
void topology_clock(struct topology *t, unsigned int stream, const char *boot_id,
		    const struct instant *now);

/* Records of a stream come in the order in which commands ended, give or take this time. */
#define PASSED_NS 1000000000ULL
/*
 * A clock has jumped if this many records of each side had no match, or this many in a row are too
 * old.
 */
#define LOST_AFTER 16
/**
 * topology_take_time() - a record of a stream ended at @end. A clock that jumped back goes on from
 * there.
 */
static inline void topology_take_time(struct topology_stream *s, uint64_t end)
{
	s->behind = end + PASSED_NS < s->newest ? s->behind + 1 : 0;
	if (s->newest < end || s->behind == LOST_AFTER) {
		s->newest = end;
		s->behind = 0;
	}
}

/**
 * topology_forget_offset() - the offset of two streams was wrong: all their endpoints look for it
 * again
 */
void topology_forget_offset(struct topology *t, struct link *l);

#endif /* NTPROF_MERGE_TOPOLOGY_H */
