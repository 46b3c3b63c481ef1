/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of the TCP connections of a side's queues, at the end of an interval. */
#ifndef NTPROF_CORE_TCP_H
#define NTPROF_CORE_TCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/record.h"
#include "shared/tcp.h"

/*
 * The most connections whose state is read: each takes a system call and a row of half a kilobyte
 * at each interval. More are counted.
 */
#ifndef TCP_ROWS_MAX
#define TCP_ROWS_MAX NT_TCP_SOCKETS
#endif

/**
 * struct tcp_row - a queue's connection
 * @controller, @peer, @qid: as in struct stats_row
 * @slot, @gen: as in struct nt_record
 * @now: state at the end of the interval
 * @seconds: time since the state was read before; 0: it was not
 * @sent, @retransmitted: bytes that were sent in this time, and segments that were sent again
 * @busy, @rwnd_limited, @sndbuf_limited: shares of this time, see struct nt_tcp_state
 */
struct tcp_row {
	char controller[32];
	char peer[NT_NQN_LEN];
	uint16_t qid;
	uint32_t slot;
	uint32_t gen;
	struct nt_tcp_state now;
	double seconds;
	uint64_t sent;
	uint32_t retransmitted;
	double busy;
	double rwnd_limited;
	double sndbuf_limited;
};

/**
 * struct tcp_rows - all of them, by controller and queue; zeroes at first
 * @asked: the states are read at all
 * @past: connections beyond TCP_ROWS_MAX
 * @resent: @nr_resent times at which a connection sent a segment again, since the last collection
 * @resent_lost: such times that found no room, since the beginning
 */
struct tcp_rows {
	bool asked;
	struct tcp_row *row;
	size_t nr;
	size_t past;
	struct nt_resent *resent;
	size_t nr_resent;
	uint64_t resent_lost;
};

/** tcp_rows_begin() - drop all rows, at the beginning of an interval */
void tcp_rows_begin(struct tcp_rows *t);

/** tcp_rows_add() - a new row, all zeroes; NULL if there is no room, which is counted, or no memory
 */
struct tcp_row *tcp_rows_add(struct tcp_rows *t);

/** tcp_rows_sort() - sort by controller and queue, with numbers by their value */
void tcp_rows_sort(struct tcp_rows *t);

/**
 * tcp_expected_ns() - how long what waits to be sent takes to be acknowledged, if each window takes
 * a round trip: ceil(segments / congestion window) * srtt
 */
uint64_t tcp_expected_ns(const struct nt_tcp_state *s);

/** tcp_rows_free() - release; @t is empty then */
void tcp_rows_free(struct tcp_rows *t);

#endif /* NTPROF_CORE_TCP_H */
