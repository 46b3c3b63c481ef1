/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the state of the queues' TCP connections, with &tracer_options.tcp. */
#ifndef NTPROF_TRACE_TCP_STATE_H
#define NTPROF_TRACE_TCP_STATE_H

#include "core/stats.h"
#include "shared/tcp.h"

struct tracer;

/**
 * tcp_open() - load the program that reads a connection's state; tcp_close() releases it
 *
 * Return: 0 or a negative errno.
 */
int tcp_open(struct tracer *t);
void tcp_close(struct tracer *t);

/**
 * tcp_collect() - fill &stats.tcp: a row for each queue that is connected, and whose name is known
 * @now: CLOCK_MONOTONIC nanoseconds
 *
 * Return: 0 or a negative errno.
 */
int tcp_collect(struct tracer *t, struct stats *s, uint64_t now);

/**
 * tcp_watch() - have segments noted that a connection sends again
 * @sockets: map of bpf/tcp.bpf.c
 * @before: address of the socket that @of->slot had until now. Another one may have it by now: then
 *          it stays that one's. 0: none
 * @sock: address of its socket; 0: it is gone
 */
void tcp_watch(int sockets, uint64_t before, uint64_t sock, const struct nt_resent *of);

#endif /* NTPROF_TRACE_TCP_STATE_H */
