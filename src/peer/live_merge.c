// SPDX-License-Identifier: GPL-2.0-only
#include "peer/live_merge.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/time.h"

/* So long peers are read before the host's records and the terminal have their turn again. */
#define TURN_NS 20000000ULL
/* A record whose other side has not come by then is given up: a stalled peer may come back. */
#define EXPIRE_NS 5000000000ULL
/*
 * At the end: for peers to send what they still have, of which a recorder sends every 200 ms, and then to
 * end: to detach a probe on a function takes the kernel long, and stock probes are many.
 */
#define LINGER_NS 600000000ULL
#define STOP_NS 10000000000ULL

/* The host's stream, the peers' are 1 and up. */
#define HOST_STREAM 0

struct live_merge {
	struct peer *peer[PEERS_MAX];
	unsigned int nr;
	int epoll_fd;
	int again_fd; /* readable when a turn ended before there was nothing left to read */
	struct merge *merge;
	struct totals interval;
	struct totals total;
	bool recording;	      /* any peer does */
	uint64_t early;	      /* commands of before that */
	int result;	      /* of what the merge called back for */
	unsigned int reading; /* whose event it is */
};

static void on_matched(void *context, const struct merge_connection *c,
		       const struct nt_record *host, const struct nt_record *target)
{
	struct live_merge *p = context;

	if (totals_add(&p->interval, c, host, target))
		p->result = -ENOMEM;
}

static void watch(const struct live_merge *p, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	if (fd >= 0)
		epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, fd, &e);
}

struct live_merge *live_merge_new(char *const *sources, unsigned int nr)
{
	struct merge_callbacks callbacks = {.matched = on_matched};
	struct live_merge *p = calloc(1, sizeof(*p));
	int fd[2], saved;

	if (!p)
		return NULL;
	callbacks.context = p;
	p->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	p->again_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->merge = merge_new(&callbacks);
	if (p->epoll_fd < 0 || p->again_fd < 0 || !p->merge || totals_init(&p->interval, 0) ||
	    totals_init(&p->total, 0))
		goto fail;
	watch(p, p->again_fd);
	for (; p->nr < nr; p->nr++) {
		p->peer[p->nr] = peer_new(sources[p->nr], NT_TARGET);
		if (!p->peer[p->nr])
			goto fail;
		peer_fds(p->peer[p->nr], fd);
		watch(p, fd[0]);
		watch(p, fd[1]);
	}
	return p;

fail:
	saved = errno;
	live_merge_free(p);
	errno = saved;
	return NULL;
}

void live_merge_free(struct live_merge *p)
{
	if (!p)
		return;
	for (unsigned int i = 0; i < p->nr; i++)
		peer_free(p->peer[i]);
	if (p->epoll_fd > 0)
		close(p->epoll_fd);
	if (p->again_fd > 0)
		close(p->again_fd);
	merge_free(p->merge);
	totals_free(&p->interval);
	totals_free(&p->total);
	free(p);
}

int live_merge_fd(const struct live_merge *p)
{
	return p->epoll_fd;
}

static int on_event(void *context, const struct stream_event *e)
{
	struct live_merge *p = context;
	unsigned int stream = HOST_STREAM + 1 + p->reading;

	p->recording |= e->type != STREAM_HEADER;
	if (e->type == STREAM_QUEUE)
		return merge_queue(p->merge, stream, NT_TARGET, &e->queue);
	if (e->type == STREAM_RECORD)
		return merge_record(p->merge, stream, &e->record) ?: p->result;
	return 0;
}

/* Return: 1 when a peer has more, 0 when all has been read, or a negative errno. */
static int read_all(struct live_merge *p, uint64_t until_ns)
{
	int more = 0;

	for (p->reading = 0; p->reading < p->nr; p->reading++) {
		int ret = peer_read(p->peer[p->reading], on_event, p, until_ns);

		if (ret < 0)
			return ret;
		more |= ret;
	}
	return more;
}

int live_merge_ready(struct live_merge *p)
{
	uint64_t n;
	int ret;

	if (read(p->again_fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return -errno;
	ret = read_all(p, monotonic_ns() + TURN_NS);
	n = 1;
	if (ret > 0 && write(p->again_fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return -errno;
	return ret < 0 ? ret : 0;
}

int live_merge_queue(struct live_merge *p, const struct queue_info *q)
{
	return merge_queue(p->merge, HOST_STREAM, NT_HOST, q);
}

int live_merge_record(struct live_merge *p, const struct nt_record *r)
{
	/* Nobody can have the other side of it. */
	if (!p->recording) {
		p->early++;
		return 0;
	}
	return merge_record(p->merge, HOST_STREAM, r) ?: p->result;
}

int live_merge_interval(struct live_merge *p)
{
	int ret = totals_fold(&p->total, &p->interval);

	if (ret)
		return ret;
	merge_expire(p->merge, EXPIRE_NS);
	ret = live_merge_ready(p);
	return ret ?: p->result;
}

static bool all_over(const struct live_merge *p)
{
	for (unsigned int i = 0; i < p->nr; i++) {
		if (!peer_over(p->peer[i]))
			return false;
	}
	return true;
}

/* Reads until @until_ns, or until nothing can come, or, if @enough, until nothing is missed. */
static int read_until(struct live_merge *p, uint64_t until_ns, bool enough)
{
	while (!all_over(p) && !(enough && !merge_pending(p->merge))) {
		uint64_t now = monotonic_ns();
		struct pollfd f = {.fd = p->epoll_fd, .events = POLLIN};
		int ret;

		if (now >= until_ns)
			return 0;
		poll(&f, 1, (int)((until_ns - now) / 1000000) + 1);
		ret = live_merge_ready(p);
		if (ret)
			return ret;
	}
	return 0;
}

int live_merge_finish(struct live_merge *p)
{
	int ret = read_until(p, monotonic_ns() + LINGER_NS, true);

	for (unsigned int i = 0; i < p->nr; i++)
		peer_stop(p->peer[i]);
	if (!ret)
		ret = read_until(p, monotonic_ns() + STOP_NS, false);
	if (ret)
		return ret;
	merge_finish(p->merge);
	ret = totals_fold(&p->total, &p->interval);
	return ret ?: p->result;
}

void live_merge_counts(const struct live_merge *p, struct live_merge_counts *n)
{
	const struct merge_connection *c;

	*n = (struct live_merge_counts){
		.undecided = merge_pending(p->merge),
		.early = p->early,
	};
	for (unsigned int i = 0; (c = merge_connection(p->merge, i)); i++) {
		n->matched += c->matched;
		n->host_only += c->host_only;
		n->target_only += c->target_only;
		n->ambiguous += c->ambiguous;
	}
}

const struct peer *live_merge_peer(const struct live_merge *p, unsigned int i)
{
	return i < p->nr ? p->peer[i] : NULL;
}

const struct totals *live_merge_totals(const struct live_merge *p, bool of_all)
{
	return of_all ? &p->total : &p->interval;
}

const struct merge *live_merge_merge(const struct live_merge *p)
{
	return p->merge;
}
