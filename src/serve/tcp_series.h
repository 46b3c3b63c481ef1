/* SPDX-License-Identifier: GPL-2.0-only */
/* The metrics of TCP connections: of all queues of a controller, or of a target's host, together.
 */
#ifndef NTPROF_SERVE_TCP_SERIES_H
#define NTPROF_SERVE_TCP_SERIES_H

#include "core/stats.h"
#include "serve/exposition.h"

struct tcp_series;

/** tcp_series_new() - no series yet; @side_label: the label "side"; NULL: no memory */
struct tcp_series *tcp_series_new(enum nt_side side, const char *side_label, uint64_t now_ms);

/**
 * tcp_series_take() - take the rows of an interval
 *
 * Of more than TCP_SERIES_MAX controllers or hosts, those without a connection give way and are
 * added up in the series SERIES_GONE, and so do those without a queue for reads and writes to those
 * with one; within an hour so many as struct turnover lets. The rest is in SERIES_OTHER.
 */
void tcp_series_take(struct tcp_series *t, const struct tcp_rows *rows, uint64_t now_ms);

/** tcp_series_folded() - controllers of the last interval that are in SERIES_OTHER */
size_t tcp_series_folded(const struct tcp_series *t);

/** tcp_series_put() - write all metrics */
void tcp_series_put(const struct tcp_series *t, struct exposition *e);

/** tcp_series_free() - release; NULL is fine */
void tcp_series_free(struct tcp_series *t);

#endif /* NTPROF_SERVE_TCP_SERIES_H */
