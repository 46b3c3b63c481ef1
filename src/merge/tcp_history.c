// SPDX-License-Identifier: GPL-2.0-only
#include "merge/tcp_history.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/segments.h"

static struct tcp_queue *find_in(struct tcp_queue *table, uint32_t slot, uint32_t gen)
{
	const struct tcp_queue like = {.key = {.slot = slot, .gen = gen}};
	struct tcp_queue *q;

	HASH_FIND(hh, table, &like.key, sizeof(like.key), q);
	return q;
}

static struct tcp_queue *find(const struct tcp_history *h, unsigned int stream, uint32_t slot,
			      uint32_t gen)
{
	return stream < h->nr_streams ? find_in(h->stream[stream].queues, slot, gen) : NULL;
}

/* Return: NULL when memory ran out */
static struct tcp_stream *stream_of(struct tcp_history *h, unsigned int stream)
{
	return ARRAY_REACH(h->stream, h->nr_streams, stream) ? NULL : &h->stream[stream];
}

static struct tcp_queue *make(uint32_t slot, uint32_t gen)
{
	struct tcp_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->key.slot = slot;
	q->key.gen = gen;
	return q;
}

/*
 * Return: the connection, a new one if need be; NULL, see errno: ENOSPC is counted.
 * @s: set to its stream
 */
static struct tcp_queue *get(struct tcp_history *h, unsigned int stream, uint32_t slot,
			     uint32_t gen, struct tcp_stream **s)
{
	struct tcp_queue *q;

	*s = stream_of(h, stream);
	errno = ENOMEM;
	if (!*s)
		return NULL;
	q = find_in((*s)->queues, slot, gen);
	if (q)
		return q;
	q = find_in((*s)->named, slot, gen);
	errno = ENOSPC;
	if (HASH_COUNT((*s)->queues) >= TCP_HISTORY_QUEUES) {
		/* One without a name counts each time. */
		(*s)->past_queues += !q || !q->past;
		if (q)
			q->past = true;
		return NULL;
	}
	if (q)
		HASH_DEL((*s)->named, q);
	else
		q = make(slot, gen);
	errno = ENOMEM;
	if (!q)
		return NULL;
	HASH_ADD(hh, (*s)->queues, key, sizeof(q->key), q);
	return hash_kept(q) ? q : NULL;
}

/* The same for a name, which takes no room from connections that have a state. */
static struct tcp_queue *get_named(struct tcp_history *h, unsigned int stream, uint32_t slot,
				   uint32_t gen)
{
	struct tcp_stream *s = stream_of(h, stream);
	struct tcp_queue *q;

	if (!s)
		return NULL;
	q = find_in(s->queues, slot, gen) ?: find_in(s->named, slot, gen);
	if (q)
		return q;
	if (HASH_COUNT(s->named) >= TCP_HISTORY_NAMED)
		hash_drop(s->named, s->named);
	q = make(slot, gen);
	if (!q)
		return NULL;
	HASH_ADD(hh, s->named, key, sizeof(q->key), q);
	return hash_kept(q) ? q : NULL;
}

int tcp_history_queue(struct tcp_history *h, unsigned int stream, enum nt_side side,
		      const struct queue_info *info)
{
	struct tcp_queue *q = get_named(h, stream, info->slot, info->gen);

	if (!q)
		return -ENOMEM;
	q->qid = info->qid;
	q->ends = info->ends;
	if (side == NT_HOST)
		snprintf(q->controller, sizeof(q->controller), "nvme%u", info->instance);
	else
		snprintf(q->controller, sizeof(q->controller), "cntlid %u", info->cntlid);
	snprintf(q->peer, sizeof(q->peer), "%s", side == NT_HOST ? info->subsysnqn : info->hostnqn);
	return 0;
}

/* Whether @least of the time was @now - @before. */
static bool is_much(uint32_t now, uint32_t before, uint64_t time, double least)
{
	return time && (double)(now - before) >= least * (double)time;
}

static void point_join(struct tcp_point *into, const struct tcp_point *from)
{
	into->ns = from->ns;
	into->srtt_us = from->srtt_us > into->srtt_us ? from->srtt_us : into->srtt_us;
	into->cwnd = from->cwnd < into->cwnd ? from->cwnd : into->cwnd;
	into->again = from->again;
}

/* Makes one point of each two, which are all full. */
static void points_fold(struct tcp_queue *q)
{
	for (size_t i = 0; i < q->nr_points / 2; i++) {
		q->point[i] = q->point[2 * i];
		point_join(&q->point[i], &q->point[2 * i + 1]);
	}
	q->nr_points /= 2;
	q->point_shift++;
}

/* Return: 0 or -ENOMEM */
static int point_add(struct tcp_queue *q, uint64_t ns, const struct nt_tcp_state *s)
{
	const struct tcp_point p = {ns, s->srtt_us, s->snd_cwnd, s->total_retrans};
	struct tcp_point *at;

	if (q->nr_points && q->in_point < 1ULL << q->point_shift) {
		point_join(&q->point[q->nr_points - 1], &p);
		q->in_point++;
		return 0;
	}
	if (q->nr_points == TCP_HISTORY_POINTS)
		points_fold(q);
	/* An array that has become shorter has its room still. */
	if (q->point_shift) {
		at = &q->point[q->nr_points++];
	} else {
		at = ARRAY_INSERT(q->point, q->nr_points, q->nr_points);
		if (!at)
			return -ENOMEM;
	}
	*at = p;
	q->in_point = 1;
	return 0;
}

/*
 * Of what was sent again since the last answer of this kind, the peer had half or more already: it
 * was slow to acknowledge. Those before the first state are not counted in it.
 */
static void find_needless(struct tcp_queue *q, uint64_t ns, const struct nt_tcp_state *s)
{
	uint32_t needless = s->dsack_dups - q->open_needless;
	uint32_t resent = s->total_retrans - q->open_resent;

	if (q->states && !needless && resent && q->lost.nr > q->open &&
	    ns - q->lost.ns[q->lost.nr - 1] < TCP_NEEDLESS_NS)
		return;
	if (q->states && needless && needless >= resent / 2 + resent % 2)
		q->lost.nr = q->open;
	q->open = q->lost.nr;
	q->open_needless = s->dsack_dups;
	q->open_resent = s->total_retrans;
}

int tcp_history_state(struct tcp_history *h, unsigned int stream, uint32_t slot, uint32_t gen,
		      uint64_t ns, const struct nt_tcp_state *s)
{
	struct tcp_stream *of;
	struct tcp_queue *q = get(h, stream, slot, gen, &of);
	struct tcp_limited *limit;
	unsigned int by = 0;

	if (!q)
		return errno == ENOSPC ? 0 : -ENOMEM;
	if (q->states && ns <= q->last_ns)
		return 0;
	find_needless(q, ns, s);
	if (q->states) {
		uint64_t time = s->jiffies - q->last.jiffies;

		if (is_much(s->rwnd_limited, q->last.rwnd_limited, time, TCP_WINDOW_MIN))
			by |= TCP_BY_WINDOW;
		if (is_much(s->sndbuf_limited, q->last.sndbuf_limited, time, TCP_BUFFER_MIN))
			by |= TCP_BY_BUFFER;
		by |= s->notsent && s->unacked >= s->snd_cwnd ? TCP_BY_CWND : 0;
	} else {
		q->first = *s;
		q->first_ns = ns;
	}
	if (!q->states++ || s->snd_cwnd < q->cwnd_min)
		q->cwnd_min = s->snd_cwnd;
	if (s->srtt_us > q->srtt_us_max)
		q->srtt_us_max = s->srtt_us;
	if (s->queued > q->queued_max)
		q->queued_max = s->queued;
	if (s->notsent > q->notsent_max)
		q->notsent_max = s->notsent;
	q->last = *s;
	q->last_ns = ns;
	if (h->curves && point_add(q, ns, s))
		return -ENOMEM;
	/* Times of one kind, one after the other, are one. */
	if (q->nr_limits && q->limit[q->nr_limits - 1].by == by) {
		q->limit[q->nr_limits - 1].until_ns = ns;
		return 0;
	}
	if (of->limits == TCP_HISTORY_TIMES) {
		of->past_times++;
		return 0;
	}
	limit = ARRAY_INSERT(q->limit, q->nr_limits, q->nr_limits);
	if (!limit)
		return -ENOMEM;
	of->limits++;
	*limit = (struct tcp_limited){.until_ns = ns, .by = by};
	return 0;
}

int tcp_history_resent(struct tcp_history *h, unsigned int stream, const struct nt_resent *r)
{
	struct tcp_stream *of;
	struct tcp_queue *q = get(h, stream, r->slot, r->gen, &of);
	uint64_t *at, *lost;

	if (!q)
		return errno == ENOSPC ? 0 : -ENOMEM;
	/* In order, but for a program that was interrupted. */
	if (q->resent.nr && r->ns <= q->resent.ns[q->resent.nr - 1])
		return 0;
	if (of->resent == TCP_HISTORY_TIMES) {
		of->past_times++;
		return 0;
	}
	at = ARRAY_INSERT(q->resent.ns, q->resent.nr, q->resent.nr);
	if (!at)
		return -ENOMEM;
	*at = r->ns;
	lost = ARRAY_INSERT(q->lost.ns, q->lost.nr, q->lost.nr);
	if (!lost)
		return -ENOMEM;
	*lost = r->ns;
	of->resent++;
	h->any_resent = true;
	return 0;
}

unsigned int tcp_history_limits(const struct tcp_history *h, unsigned int stream,
				const struct nt_record *r, uint64_t from, uint64_t until)
{
	const struct tcp_queue *q = find(h, stream, r->slot, r->gen);
	size_t low = 0, high = q ? q->nr_limits : 0;
	unsigned int by = 0;

	if (!q || until < q->first_ns)
		return 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (q->limit[middle].until_ns < from)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i < q->nr_limits && i < low + TCP_LIMITS_SPANNED; i++) {
		by |= (unsigned int)q->limit[i].by;
		if (q->limit[i].until_ns >= until)
			break;
	}
	return by;
}

/* Whether one of @t is after @from and before @until. */
static bool between(const struct tcp_times *t, uint64_t from, uint64_t until)
{
	size_t low = 0, high = t->nr;

	if (!from || until <= from)
		return false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->ns[middle] <= from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->nr && t->ns[low] < until;
}

/* Return: as tcp_history_sent_again() has it, of what @q sent from @from on until it was there. */
static uint32_t sent_again(const struct tcp_queue *q, uint64_t from, uint64_t until)
{
	if (!between(&q->resent, from, until))
		return 0;
	return NT_F_RETRANSMITTED | (between(&q->lost, from, until) ? 0 : NT_F_NEEDLESS);
}

/* Of two parts of the way: nothing was lost if that is so of each that had to do with it. */
static uint32_t either(uint32_t a, uint32_t b)
{
	return !a ? b : !b ? a : (a & b) | NT_F_RETRANSMITTED;
}

uint32_t tcp_history_sent_again(const struct tcp_history *h, const unsigned int stream[NT_SIDES],
				const struct nt_record *const record[NT_SIDES],
				int64_t target_ahead)
{
	const struct nt_record *host = record[NT_HOST], *target = record[NT_TARGET];
	const uint64_t ahead = (uint64_t)target_ahead;
	const struct tcp_queue *q;
	uint32_t again = 0;

	if (!h->any_resent)
		return 0;
	q = host ? find(h, stream[NT_HOST], host->slot, host->gen) : NULL;
	if (q && target)
		again = either(
			sent_again(q, host->points[NT_H_SEND_CMD],
				   (target->points[NT_T_CMD] ?: target->points[NT_T_RX]) - ahead),
			sent_again(q, host->points[NT_H_SEND_DATA],
				   (target->points[NT_T_DATA] ?: target->points[NT_T_DATA_RX]) -
					   ahead));
	else if (q)
		again = sent_again(q, host->points[NT_H_SEND_CMD], record_end_ns(host));
	q = target ? find(h, stream[NT_TARGET], target->slot, target->gen) : NULL;
	if (q && !host)
		again = either(
			sent_again(q, target->points[NT_T_SEND_R2T],
				   target->points[NT_T_DATA] ?: target->points[NT_T_DATA_RX]),
			sent_again(q, target->points[NT_T_SEND], record_end_ns(target)));
	else if (q)
		again = either(again, either(sent_again(q, target->points[NT_T_SEND_R2T],
							(host->points[NT_H_R2T]
								 ?: host->points[NT_H_R2T_RX]) +
								ahead),
					     sent_again(q, target->points[NT_T_SEND],
							record_end_ns(host) + ahead)));
	return again;
}

static double part(uint32_t last, uint32_t first, uint64_t time)
{
	return time ? (double)(last - first) / (double)time : 0;
}

static void addresses(struct nt_tcp_state *s, const struct queue_ends *e)
{
	int family = strchr(e->local, ':') ? AF_INET6 : AF_INET;

	if (inet_pton(family, e->local, s->local) != 1 ||
	    inet_pton(family, e->remote, s->peer) != 1)
		return;
	s->family = (uint16_t)family;
	s->local_port = e->local_port;
	s->peer_port = e->remote_port;
}

const struct tcp_queue *tcp_history_first(const struct tcp_history *h, unsigned int stream)
{
	return stream < h->nr_streams ? h->stream[stream].queues : NULL;
}

void tcp_history_rows(const struct tcp_history *h, unsigned int stream, struct tcp_rows *rows)
{
	tcp_rows_begin(rows);
	for (const struct tcp_queue *q = tcp_history_first(h, stream); q; q = q->hh.next) {
		const struct nt_tcp_state *a = &q->first, *b = &q->last;
		uint64_t time = b->jiffies - a->jiffies;
		struct tcp_row *row = q->states ? tcp_rows_add(rows) : NULL;

		if (!row)
			continue;
		snprintf(row->controller, sizeof(row->controller), "%s", q->controller);
		snprintf(row->peer, sizeof(row->peer), "%s", q->peer);
		row->qid = q->qid;
		row->slot = q->key.slot;
		row->gen = q->key.gen;
		row->now = q->last;
		row->now.srtt_us = q->srtt_us_max;
		row->now.snd_cwnd = q->cwnd_min;
		row->now.queued = q->queued_max;
		row->now.notsent = q->notsent_max;
		addresses(&row->now, &q->ends);
		row->seconds = (double)(q->last_ns - q->first_ns) / 1e9;
		row->sent = b->bytes_sent - a->bytes_sent;
		row->retransmitted = b->total_retrans - a->total_retrans;
		row->busy = part(b->busy, a->busy, time);
		row->rwnd_limited = part(b->rwnd_limited, a->rwnd_limited, time);
		row->sndbuf_limited = part(b->sndbuf_limited, a->sndbuf_limited, time);
	}
	tcp_rows_sort(rows);
}

uint64_t tcp_history_past(const struct tcp_history *h, unsigned int stream)
{
	const struct tcp_stream *s = stream < h->nr_streams ? &h->stream[stream] : NULL;

	return s ? s->past_queues + s->past_times : 0;
}

const struct tcp_queue *tcp_history_queue_of(const struct tcp_history *h, unsigned int stream,
					     const struct tcp_row *row)
{
	return find(h, stream, row->slot, row->gen);
}

void tcp_history_free(struct tcp_history *h)
{
	for (unsigned int i = 0; i < h->nr_streams; i++) {
		for (const struct tcp_queue *q = h->stream[i].queues; q; q = q->hh.next) {
			free(q->limit);
			free(q->resent.ns);
			free(q->lost.ns);
			free(q->point);
		}
		hash_free(h->stream[i].queues);
		hash_free(h->stream[i].named);
	}
	free(h->stream);
	*h = (struct tcp_history){.stream = NULL};
}
