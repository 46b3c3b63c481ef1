// SPDX-License-Identifier: GPL-2.0-only
#include "serve/tcp_series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "serve/series.h"

/* As many controllers as serve has series by default; each takes half a kilobyte. */
#ifndef TCP_SERIES_MAX
#define TCP_SERIES_MAX 256
#endif

/*
 * One controller's, or one host's connections. Gauges are of the last interval, and zero where
 * nothing is connected; counters have grown while it was watched.
 */
struct tcp_sum {
	char controller[sizeof(((struct tcp_row *)NULL)->controller)];
	char peer[sizeof(((struct tcp_row *)NULL)->peer)];
	uint64_t connections;
	uint64_t srtt_us; /* the longest */
	uint64_t cwnd;	  /* the smallest */
	uint64_t queued;
	uint64_t notsent;
	uint64_t sent;
	uint64_t retransmitted;
	double busy; /* seconds */
	double rwnd_limited;
	double sndbuf_limited;
};

struct tcp_series {
	enum nt_side side;
	const char *side_label;
	struct tcp_sum *of; /* the last one of TCP_SERIES_MAX has those that found no room */
	size_t nr;
};

struct tcp_series *tcp_series_new(enum nt_side side, const char *side_label)
{
	struct tcp_series *t = calloc(1, sizeof(*t));

	if (t)
		*t = (struct tcp_series){.side = side, .side_label = side_label};
	return t;
}

/* A target's controllers get another id with each connect: its series are those of hosts. */
static struct tcp_sum *sum_of(struct tcp_series *t, const struct tcp_row *r)
{
	const char *controller = t->side == NT_HOST ? r->controller : "";
	struct tcp_sum *sum;

	for (size_t i = 0; i < t->nr; i++)
		if (!strcmp(t->of[i].peer, r->peer) && !strcmp(t->of[i].controller, controller))
			return &t->of[i];
	if (t->nr == TCP_SERIES_MAX)
		return &t->of[TCP_SERIES_MAX - 1];
	sum = ARRAY_INSERT(t->of, t->nr, t->nr);
	if (!sum)
		return t->nr ? &t->of[t->nr - 1] : NULL;
	*sum = (struct tcp_sum){0};
	if (t->nr == TCP_SERIES_MAX)
		controller = SERIES_OTHER;
	snprintf(sum->controller, sizeof(sum->controller), "%s", controller);
	snprintf(sum->peer, sizeof(sum->peer), "%s",
		 t->nr == TCP_SERIES_MAX ? SERIES_OTHER : r->peer);
	return sum;
}

static bool same_series(const struct tcp_row *a, const struct tcp_row *b)
{
	return !strcmp(a->controller, b->controller) && !strcmp(a->peer, b->peer);
}

void tcp_series_take(struct tcp_series *t, const struct tcp_rows *rows)
{
	struct tcp_sum *sum = NULL;

	for (size_t i = 0; i < t->nr; i++) {
		sum = &t->of[i];
		sum->connections = sum->srtt_us = sum->cwnd = sum->queued = sum->notsent = 0;
	}
	for (size_t i = 0; i < rows->nr; i++) {
		const struct tcp_row *r = &rows->row[i];

		/* The rows are sorted, so the queues of a controller follow each other. */
		if (!i || !same_series(r, r - 1))
			sum = sum_of(t, r);
		if (!sum)
			continue;
		if (!sum->connections++ || r->now.snd_cwnd < sum->cwnd)
			sum->cwnd = r->now.snd_cwnd;
		if (r->now.srtt_us > sum->srtt_us)
			sum->srtt_us = r->now.srtt_us;
		sum->queued += r->now.queued;
		sum->notsent += r->now.notsent;
		sum->sent += r->sent;
		sum->retransmitted += r->retransmitted;
		sum->busy += r->busy * r->seconds;
		sum->rwnd_limited += r->rwnd_limited * r->seconds;
		sum->sndbuf_limited += r->sndbuf_limited * r->seconds;
	}
}

static void put(const struct exposition *e, enum metric_id id, const char *labels,
		const struct tcp_sum *sum)
{
	const double ns = 1e9;

	switch (id) {
	case METRIC_TCP_CONNECTIONS:
		exposition_value(e, labels, sum->connections);
		break;
	case METRIC_TCP_SRTT:
		exposition_ns(e, labels, sum->srtt_us * 1000);
		break;
	case METRIC_TCP_CWND:
		exposition_value(e, labels, sum->cwnd);
		break;
	case METRIC_TCP_QUEUED:
		exposition_value(e, labels, sum->queued);
		break;
	case METRIC_TCP_NOTSENT:
		exposition_value(e, labels, sum->notsent);
		break;
	case METRIC_TCP_SENT:
		exposition_value(e, labels, sum->sent);
		break;
	case METRIC_TCP_RETRANSMITTED:
		exposition_value(e, labels, sum->retransmitted);
		break;
	case METRIC_TCP_BUSY:
		exposition_ns(e, labels, (uint64_t)(sum->busy * ns));
		break;
	case METRIC_TCP_WINDOW_LIMITED:
		exposition_ns(e, labels, (uint64_t)(sum->rwnd_limited * ns));
		break;
	default:
		exposition_ns(e, labels, (uint64_t)(sum->sndbuf_limited * ns));
	}
}

void tcp_series_put(const struct tcp_series *t, struct exposition *e)
{
	for (enum metric_id id = METRIC_TCP_CONNECTIONS; t->nr && id <= METRIC_TCP_BUFFER_LIMITED;
	     id++) {
		exposition_begin(e, id);
		for (size_t i = 0; i < t->nr; i++) {
			char labels[EXPOSITION_LABELS_LEN];

			snprintf(labels, sizeof(labels), "%s", t->side_label);
			if (t->side == NT_HOST)
				exposition_label(labels, "controller", t->of[i].controller);
			exposition_label(labels, t->side == NT_HOST ? "subsysnqn" : "hostnqn",
					 t->of[i].peer);
			put(e, id, labels, &t->of[i]);
		}
	}
}

void tcp_series_free(struct tcp_series *t)
{
	if (t)
		free(t->of);
	free(t);
}
