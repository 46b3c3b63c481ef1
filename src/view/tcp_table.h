/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of the queues' TCP connections as a table, and as its columns. */
#ifndef NTPROF_VIEW_TCP_TABLE_H
#define NTPROF_VIEW_TCP_TABLE_H

#include <stdio.h>

#include "core/tcp.h"
#include "view/columns.h"

enum tcp_column {
	TCP_CONTROLLER,
	TCP_PEER,
	TCP_QUEUE,
	TCP_LOCAL,
	TCP_REMOTE,
	TCP_SRTT,
	TCP_RTTVAR,
	TCP_CWND,
	TCP_SSTHRESH, /* no value before the first loss */
	TCP_UNACKED,
	TCP_LOST,
	TCP_RETRANS,
	TCP_RETRANSMITTED,	 /* ever */
	TCP_RETRANSMITTED_ADDED, /* in the interval */
	TCP_SENT,		 /* in the interval */
	TCP_QUEUED,
	TCP_NOTSENT,
	TCP_EXPECTED, /* see tcp_expected_ns() */
	TCP_WINDOW,
	TCP_BUSY,
	TCP_RWND_LIMITED,
	TCP_SNDBUF_LIMITED,
	TCP_MSS,
	TCP_PACING,
	TCP_CONGESTION,
};

/* Rows are struct tcp_row. */
extern const struct columns tcp_columns;

/** tcp_print() - print a table with a line for each connection; @width: columns of the terminal */
void tcp_print(const struct tcp_rows *t, FILE *f, unsigned int width);

#endif /* NTPROF_VIEW_TCP_TABLE_H */
