// SPDX-License-Identifier: GPL-2.0-only
#include "serve/tcp_series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "serve/series.h"

/* As many series as serve has label sets by default; each takes half a kilobyte. */
#ifndef TCP_SERIES_MAX
#define TCP_SERIES_MAX 256
#endif

/*
 * Connections with the same labels. Gauges are of the last interval, and zero where nothing is
 * connected; counters have grown while it was watched. @lived: the last interval with a connection;
 * @io: it had one of a queue for reads and writes then
 */
struct tcp_sum {
	char *labels;
	uint64_t created_ms;
	uint64_t lived;
	bool io;
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

/*
 * @interval: its number, from 1 on; it began at @since_ms and ended at @now_ms
 * @of: @nr series, TCP_SERIES_MAX at most. One without a connection gives way to another, and one
 *      without queues for reads and writes to one with these. What it counted is added to @gone.
 * @others: connections for which there is no series, of @folded label sets
 * @turnover: [true]: limits which series give way to those with such queues; [false]: to the rest
 * @past: connections whose state was not read
 */
struct tcp_series {
	enum nt_side side;
	const char *side_label;
	uint64_t interval;
	uint64_t since_ms;
	uint64_t now_ms;
	struct tcp_sum *of;
	size_t nr;
	struct tcp_sum others;
	struct tcp_sum gone;
	struct turnover turnover[2];
	uint64_t past;
	size_t folded;
};

/* A target's controllers get another id with each connect: its series are those of hosts. */
static void labels_of(const struct tcp_series *t, const char *controller, const char *peer,
		      char labels[EXPOSITION_LABELS_LEN])
{
	snprintf(labels, EXPOSITION_LABELS_LEN, "%s", t->side_label);
	if (t->side == NT_HOST)
		exposition_label(labels, "controller", controller);
	exposition_label(labels, t->side == NT_HOST ? "subsysnqn" : "hostnqn", peer);
}

static char *labels_of_all(const struct tcp_series *t, const char *name)
{
	char labels[EXPOSITION_LABELS_LEN];

	labels_of(t, name, name, labels);
	return strdup(labels);
}

struct tcp_series *tcp_series_new(enum nt_side side, const char *side_label, uint64_t now_ms)
{
	struct tcp_series *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->side = side;
	t->side_label = side_label;
	t->now_ms = t->others.created_ms = t->gone.created_ms = now_ms;
	turnover_init(&t->turnover[false], TCP_SERIES_MAX);
	turnover_init(&t->turnover[true], TCP_SERIES_MAX);
	t->others.labels = labels_of_all(t, SERIES_OTHER);
	t->gone.labels = labels_of_all(t, SERIES_GONE);
	if (t->others.labels && t->gone.labels)
		return t;
	tcp_series_free(t);
	return NULL;
}

/*
 * Whether one that has queues for reads and writes, or has not (@io), may take the place. Those of
 * this interval may still come, so one of the last interval stays.
 */
static bool gives_way(const struct tcp_series *t, const struct tcp_sum *sum, bool io)
{
	return t->interval - sum->lived > 1 || (io && !sum->io);
}

/* Makes room for one more series. Return: whether there is room */
static bool make_room(struct tcp_series *t, bool io)
{
	struct tcp_sum *first = NULL, *gone = &t->gone;

	if (t->nr < TCP_SERIES_MAX)
		return true;
	for (size_t i = 0; turnover_any(&t->turnover[io]) && i < t->nr; i++)
		if (gives_way(t, &t->of[i], io) && (!first || t->of[i].lived < first->lived))
			first = &t->of[i];
	if (!first)
		return false;
	gone->lived = t->interval;
	gone->sent += first->sent;
	gone->retransmitted += first->retransmitted;
	gone->busy += first->busy;
	gone->rwnd_limited += first->rwnd_limited;
	gone->sndbuf_limited += first->sndbuf_limited;
	turnover_take(&t->turnover[io]);
	free(first->labels);
	*first = t->of[--t->nr];
	return true;
}

/*
 * Names are compared as they are shown, as two may be shown alike. @io: the connections have a
 * queue for reads and writes
 */
static struct tcp_sum *sum_of(struct tcp_series *t, const struct tcp_row *r, bool io)
{
	char labels[EXPOSITION_LABELS_LEN];
	struct tcp_sum *sum, new = {.created_ms = t->since_ms};

	labels_of(t, r->controller, series_own_name(r->peer), labels);
	for (size_t i = 0; i < t->nr; i++)
		if (!strcmp(t->of[i].labels, labels))
			return &t->of[i];
	if (!make_room(t, io)) {
		t->folded++;
		return &t->others;
	}
	new.labels = strdup(labels);
	sum = new.labels ? ARRAY_INSERT(t->of, t->nr, t->nr) : NULL;
	if (!sum) {
		free(new.labels);
		return &t->others;
	}
	*sum = new;
	return sum;
}

static void begin_interval(struct tcp_sum *sum)
{
	sum->connections = sum->srtt_us = sum->cwnd = sum->queued = sum->notsent = 0;
}

static bool same_names(const struct tcp_row *a, const struct tcp_row *b)
{
	return !strcmp(a->controller, b->controller) && !strcmp(a->peer, b->peer);
}

/* Whether a queue for reads and writes is among those of the names of @r; rows are sorted. */
static bool has_io(const struct tcp_rows *rows, const struct tcp_row *r)
{
	const struct tcp_row *last = r;

	while (last + 1 < rows->row + rows->nr && same_names(last + 1, r))
		last++;
	return last->qid;
}

void tcp_series_take(struct tcp_series *t, const struct tcp_rows *rows, uint64_t now_ms)
{
	struct tcp_sum *sum = NULL;
	bool io = false;

	t->interval++;
	t->since_ms = t->now_ms;
	t->now_ms = now_ms;
	turnover_add(&t->turnover[false], t->since_ms, now_ms);
	turnover_add(&t->turnover[true], t->since_ms, now_ms);
	t->past = rows->past;
	t->folded = 0;
	for (size_t i = 0; i < t->nr; i++)
		begin_interval(&t->of[i]);
	begin_interval(&t->others);
	begin_interval(&t->gone);
	for (size_t i = 0; i < rows->nr; i++) {
		const struct tcp_row *r = &rows->row[i];

		/* The rows are sorted, so the queues of a controller follow each other. */
		if (!i || !same_names(r, r - 1)) {
			io = has_io(rows, r);
			sum = sum_of(t, r, io);
		}
		sum->io = io || (sum->io && sum->lived == t->interval);
		sum->lived = t->interval;
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

size_t tcp_series_folded(const struct tcp_series *t)
{
	return t->folded;
}

static void put(struct exposition *e, enum metric_id id, const struct tcp_sum *sum)
{
	const char *labels = sum->labels;
	const double ns = 1e9;

	if (!sum->lived)
		return;

	e->created_ms = sum->created_ms;
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
		exposition_ns(e, labels, (unsigned __int128)(sum->busy * ns));
		break;
	case METRIC_TCP_WINDOW_LIMITED:
		exposition_ns(e, labels, (unsigned __int128)(sum->rwnd_limited * ns));
		break;
	default:
		exposition_ns(e, labels, (unsigned __int128)(sum->sndbuf_limited * ns));
	}
}

void tcp_series_put(const struct tcp_series *t, struct exposition *e)
{
	const bool any = t->nr || t->others.lived || t->gone.lived;
	const uint64_t created_ms = e->created_ms;

	for (enum metric_id id = METRIC_TCP_CONNECTIONS; any && id <= METRIC_TCP_BUFFER_LIMITED;
	     id++) {
		exposition_begin(e, id);
		for (size_t i = 0; i < t->nr; i++)
			put(e, id, &t->of[i]);
		put(e, id, &t->others);
		put(e, id, &t->gone);
	}
	e->created_ms = created_ms;
	if (!any)
		return;
	exposition_begin(e, METRIC_TCP_UNREAD);
	exposition_value(e, t->side_label, t->past);
}

void tcp_series_free(struct tcp_series *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr; i++)
		free(t->of[i].labels);
	free(t->of);
	free(t->others.labels);
	free(t->gone.labels);
	free(t);
}
