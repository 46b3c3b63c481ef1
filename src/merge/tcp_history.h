/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What recordings say of the TCP connections of their queues: when one sent a segment again, what
 * limited it in which second, and the first, last and extreme states. Bounded, see the limits.
 */
#ifndef NTPROF_MERGE_TCP_HISTORY_H
#define NTPROF_MERGE_TCP_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "core/hash.h"
#include "core/tcp.h"
#include "shared/record.h"
#include "shared/tcp.h"

/* Connections of a stream whose state is known; those past these are counted. */
#ifndef TCP_HISTORY_QUEUES
#define TCP_HISTORY_QUEUES 4096u
#endif
/* Those of it that have a name and no state so far, 700 bytes each: the oldest gives way. */
#define TCP_HISTORY_NAMED (4 * TCP_HISTORY_QUEUES)
/* Times of all connections of a stream: an hour of 72, and so many segments; 4 and 4 MiB. */
#ifndef TCP_HISTORY_TIMES
#define TCP_HISTORY_TIMES (1u << 18)
#endif

/* Points of a connection's curves, 24 bytes each: past these, each two become one. */
#ifndef TCP_HISTORY_POINTS
#define TCP_HISTORY_POINTS 256u
#endif

/* What limited a connection, as bits. */
enum tcp_limit {
	TCP_BY_WINDOW = 1 << 0, /* the peer's receive window */
	TCP_BY_BUFFER = 1 << 1, /* its own send buffer */
	TCP_BY_CWND = 1 << 2,	/* the congestion window */
};

/*
 * Where a window or a buffer limited a connection for this part of the time between two states, it
 * did. Of a buffer the kernel counts only the time in which all of it has been sent and is not
 * acknowledged: a third to two thirds where it is always full.
 */
#define TCP_WINDOW_MIN 0.5
#define TCP_BUFFER_MIN 0.25

/* Of the times that a command lasts through, so many are looked at. */
#define TCP_LIMITS_SPANNED 64u

/**
 * struct tcp_queue - a connection
 * @controller, @peer, @qid: as in struct tcp_row; "" if the stream has not said
 * @ends: its addresses
 * @past: it found no room, and was counted
 * @first, @last: states; @states: how many were read
 * @first_ns, @last_ns: CLOCK_MONOTONIC of its machine
 * @srtt_us_max, @cwnd_min, @queued_max, @notsent_max: of all states
 * @limit: [@nr_limits] from @first_ns on, the end of each time, and bits of enum tcp_limit
 * @resent: when it sent a segment again; @lost: the same, without what the peer had already
 * @open: of @lost, those of which it is not known yet whether the peer had them, are from here on;
 *        @open_resent, @open_needless: the state's counts before them
 * @point: [@nr_points] of its curves, each of 2^@point_shift states but the last, which has
 *         @in_point of them
 */
struct tcp_queue {
	struct {
		uint32_t slot;
		uint32_t gen;
	} key;
	char controller[32];
	char peer[NT_NQN_LEN];
	uint16_t qid;
	struct queue_ends ends;
	bool past;
	struct nt_tcp_state first;
	struct nt_tcp_state last;
	uint64_t states;
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t srtt_us_max;
	uint32_t cwnd_min;
	uint32_t queued_max;
	uint32_t notsent_max;
	struct tcp_limited {
		uint64_t until_ns;
		uint64_t by;
	} * limit;
	size_t nr_limits;
	struct tcp_times {
		uint64_t *ns;
		size_t nr;
	} resent, lost;
	size_t open;
	uint32_t open_resent;
	uint32_t open_needless;
	struct tcp_point {
		uint64_t ns;	  /* of the last of its states */
		uint32_t srtt_us; /* the longest */
		uint32_t cwnd;	  /* the smallest */
		uint32_t again;	  /* segments sent again until then */
	} * point;
	size_t nr_points;
	unsigned int point_shift;
	unsigned int in_point;
	UT_hash_handle hh;
};

/**
 * struct tcp_stream - the connections of a stream, which take no room from those of others
 * @queues: hash table
 * @named: the same of connections without a state, and without times
 * @limits, @resent: times of all connections
 * @past_queues, @past_times: what found no room
 */
struct tcp_stream {
	struct tcp_queue *queues;
	struct tcp_queue *named;
	unsigned int limits;
	unsigned int resent;
	uint64_t past_queues;
	uint64_t past_times;
};

/**
 * struct tcp_history - all zeroes at first
 * @stream: [@nr_streams]
 * @any_resent: a connection sent a segment again
 * @curves: set by the caller: connections have points
 */
struct tcp_history {
	struct tcp_stream *stream;
	unsigned int nr_streams;
	bool any_resent;
	bool curves;
};

/** tcp_history_queue() - a stream says what a connection is of; Return: 0 or -ENOMEM */
int tcp_history_queue(struct tcp_history *h, unsigned int stream, enum nt_side side,
		      const struct queue_info *info);

/** tcp_history_state() - a stream has the state of a connection; Return: 0 or -ENOMEM */
int tcp_history_state(struct tcp_history *h, unsigned int stream, uint32_t slot, uint32_t gen,
		      uint64_t ns, const struct nt_tcp_state *s);

/* An answer that says that a segment was sent again needlessly comes within this time. */
#define TCP_NEEDLESS_NS 10000000000ULL

/** tcp_history_resent() - a connection sent a segment again; Return: 0 or -ENOMEM */
int tcp_history_resent(struct tcp_history *h, unsigned int stream, const struct nt_resent *r);

/**
 * tcp_history_limits() - what limited the connection of a record from one time of its machine to
 * another one
 *
 * Return: bits of enum tcp_limit; 0: nothing, or it is not known.
 */
unsigned int tcp_history_limits(const struct tcp_history *h, unsigned int stream,
				const struct nt_record *r, uint64_t from, uint64_t until);

/**
 * tcp_history_sent_again() - whether bytes of a command were on their way when their sender's TCP
 * sent a segment of this connection again. Bytes arrive in order, so it waited for them
 * @stream: [side] of each record
 * @record: [side] one of them may be NULL. The times that only it has are not known then, and
 *          the command counts as on its way until it was answered
 * @target_ahead: the target's clock less the host's, nanoseconds
 *
 * Return: NT_F_RETRANSMITTED if so, with NT_F_NEEDLESS if the other side had all of that already:
 * it was slow to acknowledge, and nothing was lost. Else 0.
 */
uint32_t tcp_history_sent_again(const struct tcp_history *h, const unsigned int stream[NT_SIDES],
				const struct nt_record *const record[NT_SIDES],
				int64_t target_ahead);

/**
 * tcp_history_rows() - fill @rows with the connections of a stream whose state was read
 *
 * Figures are of the time from the first state to the last one: the longest round trip time, the
 * smallest congestion window, and the most bytes that waited.
 */
void tcp_history_rows(const struct tcp_history *h, unsigned int stream, struct tcp_rows *rows);

/** tcp_history_first() - the first of the connections of a stream, by @hh; NULL: none */
const struct tcp_queue *tcp_history_first(const struct tcp_history *h, unsigned int stream);

/** tcp_history_past() - how many connections and times of a stream found no room */
uint64_t tcp_history_past(const struct tcp_history *h, unsigned int stream);

/** tcp_history_queue_of() - the connection of a row of tcp_history_rows(); NULL: there is none */
const struct tcp_queue *tcp_history_queue_of(const struct tcp_history *h, unsigned int stream,
					     const struct tcp_row *row);

/** tcp_history_free() - release; @h is as at first */
void tcp_history_free(struct tcp_history *h);

#endif /* NTPROF_MERGE_TCP_HISTORY_H */
