// SPDX-License-Identifier: GPL-2.0-only
#include "trace/tcp_state.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/tcp.h"
#include "trace/connections.h"
#include "trace/private.h"

#include "tcp.skel.h"

/* A queue's connection when it was read the last time; @ns: 0: it was not. */
struct tcp_before {
	uint64_t ns;
	uint32_t gen;
	uint32_t total_retrans;
	uint32_t busy;
	uint32_t rwnd_limited;
	uint32_t sndbuf_limited;
	uint64_t jiffies;
	uint64_t bytes_sent;
	uint64_t sock;
};

struct tcp_reader {
	struct nt_tcp *bpf;
	struct ring_buffer *resent;
	struct tcp_rows *into; /* during a collection */
	uint64_t read_ns;      /* when the states were read; 0: they were not */
	int fd;
	struct tcp_before *before; /* [nr_slots] */
};

static int on_resent(void *context, void *data, size_t size)
{
	struct tcp_rows *rows = ((struct tcp_reader *)context)->into;
	struct nt_resent *at;

	at = size >= sizeof(*at) ? ARRAY_INSERT(rows->resent, rows->nr_resent, rows->nr_resent)
				 : NULL;
	if (at)
		memcpy(at, data, sizeof(*at));
	return 0;
}

/*
 * @queues: the tracer's map of where they lie
 * @watches: with the program that runs when TCP sends again
 * Return: 0 or a negative errno
 */
static int load(struct tcp_reader *r, int queues, bool watches)
{
	int err;

	r->bpf = nt_tcp__open();
	if (!r->bpf)
		return errno ? -errno : -ENOMEM;
	bpf_program__set_autoload(r->bpf->progs.tcp_resent, watches);
	bpf_program__set_autoload(r->bpf->progs.queue_sockets, false);
	err = watches ? bpf_program__set_attach_target(r->bpf->progs.tcp_resent, 0,
						       "tcp_retransmit_skb")
		      : 0;
	err = err ?: bpf_map__reuse_fd(r->bpf->maps.kernel_queues, queues);
	err = err ?: nt_tcp__load(r->bpf);
	if (!err && watches) {
		r->bpf->links.tcp_resent = bpf_program__attach_trace(r->bpf->progs.tcp_resent);
		err = r->bpf->links.tcp_resent ? 0 : -errno;
	}
	if (!err && watches) {
		r->resent = ring_buffer__new(bpf_map__fd(r->bpf->maps.resent), on_resent, r, NULL);
		err = r->resent ? 0 : -errno;
	}
	if (!err)
		return 0;
	nt_tcp__destroy(r->bpf);
	r->bpf = NULL;
	return err;
}

int tcp_open(struct tracer *t)
{
	struct tcp_reader *r;
	int err, queues;

	if (!t->o.tcp)
		return 0;
	r = t->tcp = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->before = calloc(t->nr_slots, sizeof(*r->before));
	if (!r->before)
		return -ENOMEM;
	/* Without the tracepoint the states are read all the same. */
	queues = bpf_map__fd(object_map(&t->object, "kernel_queues"));
	err = load(r, queues, true);
	if (err)
		err = load(r, queues, false);
	if (!err)
		r->fd = bpf_program__fd(r->bpf->progs.tcp_state);
	return err;
}

void tcp_close(struct tracer *t)
{
	if (!t->tcp)
		return;
	ring_buffer__free(t->tcp->resent);
	if (t->tcp->bpf)
		nt_tcp__destroy(t->tcp->bpf);
	free(t->tcp->before);
	free(t->tcp);
	t->tcp = NULL;
}

static bool state_read(const struct tcp_reader *r, const struct nt_queue *q, uint32_t slot,
		       uint32_t gen, struct nt_tcp_state *state)
{
	struct bpf_test_run_opts run = {
		.sz = sizeof(run), .ctx_in = state, .ctx_size_in = sizeof(*state)};

	*state = (struct nt_tcp_state){.slot = slot};
	if (bpf_prog_test_run_opts(r->fd, &run) || !state->known)
		return false;
	/* Another connection may have come in the meantime. */
	return __atomic_load_n(&q->gen, __ATOMIC_RELAXED) == gen &&
	       __atomic_load_n(&q->dead_gen, __ATOMIC_RELAXED) != gen;
}

static double share(uint32_t now, uint32_t before, uint64_t time)
{
	uint32_t grown = now - before;

	return !time ? 0 : grown > time ? 1 : (double)grown / (double)time;
}

static void difference(struct tcp_row *row, const struct tcp_before *b, uint64_t now)
{
	const struct nt_tcp_state *s = &row->now;
	uint64_t time = s->jiffies - b->jiffies;

	row->seconds = (double)(now - b->ns) / 1e9;
	row->sent = s->bytes_sent - b->bytes_sent;
	row->retransmitted = s->total_retrans - b->total_retrans;
	row->busy = share(s->busy, b->busy, time);
	row->rwnd_limited = share(s->rwnd_limited, b->rwnd_limited, time);
	row->sndbuf_limited = share(s->sndbuf_limited, b->sndbuf_limited, time);
}

static void remember(struct tcp_before *b, const struct nt_tcp_state *s, uint32_t gen, uint64_t now)
{
	*b = (struct tcp_before){
		.ns = now,
		.gen = gen,
		.total_retrans = s->total_retrans,
		.busy = s->busy,
		.rwnd_limited = s->rwnd_limited,
		.sndbuf_limited = s->sndbuf_limited,
		.jiffies = s->jiffies,
		.bytes_sent = s->bytes_sent,
		.sock = s->sock,
	};
}

void tcp_watch(int sockets, uint64_t before, uint64_t sock, const struct nt_resent *of)
{
	struct nt_resent is;

	if (before && before != sock && !bpf_map_lookup_elem(sockets, &before, &is) &&
	    is.slot == of->slot)
		bpf_map_delete_elem(sockets, &before);
	if (sock)
		bpf_map_update_elem(sockets, &sock, of, BPF_ANY);
}

/* The connection of @slot is @gen now, at @sock; 0: it is gone. */
static void watch(const struct tcp_reader *r, struct tcp_before *b, uint64_t sock, uint32_t slot,
		  uint32_t gen)
{
	const struct nt_resent of = {.slot = slot, .gen = gen};

	if (b->sock != sock || (sock && b->gen != gen))
		tcp_watch(bpf_map__fd(r->bpf->maps.sockets), b->sock, sock, &of);
	b->sock = sock;
}

int tcp_collect(struct tracer *t, struct stats *s, uint64_t now)
{
	if (!t->tcp)
		return 0;
	s->tcp.asked = true;
	tcp_rows_begin(&s->tcp);
	t->tcp->into = &s->tcp;
	if (t->tcp->resent) {
		ring_buffer__consume(t->tcp->resent);
		s->tcp.resent_lost = t->tcp->bpf->bss->nt_resent_lost;
	}
	if (t->tcp->read_ns && now - t->tcp->read_ns < t->o.tcp_every_ns)
		return 0;
	t->tcp->read_ns = now;
	for (uint32_t slot = 0; slot < t->nr_slots; slot++) {
		const struct nt_queue *q = &t->object.queues[slot];
		struct tcp_before *b = &t->tcp->before[slot];
		uint32_t gen = __atomic_load_n(&q->gen, __ATOMIC_RELAXED);
		const struct queue_ident *id;
		struct nt_tcp_state state;
		struct tcp_row *row;

		if (!q->object || q->dead_gen == gen) {
			watch(t->tcp, b, 0, slot, gen);
			continue;
		}
		id = connections_identify(t, slot, t->o.side == NT_HOST ? q->controller : gen);
		if (!id || !state_read(t->tcp, q, slot, gen, &state))
			continue;
		row = tcp_rows_add(&s->tcp);
		if (!row)
			continue;
		snprintf(row->controller, sizeof(row->controller), "%s", id->controller);
		snprintf(row->peer, sizeof(row->peer), "%s", id->peer);
		row->qid = id->qid;
		row->slot = slot;
		row->gen = gen;
		row->now = state;
		if (b->ns && b->gen == gen && state.bytes_sent >= b->bytes_sent)
			difference(row, b, now);
		watch(t->tcp, b, state.sock, slot, gen);
		remember(b, &state, gen, now);
	}
	tcp_rows_sort(&s->tcp);
	return 0;
}
