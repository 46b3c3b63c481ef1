// SPDX-License-Identifier: GPL-2.0-only
#include "peer/live_merge.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "trace/announce.h"
#include "core/clock.h"
#include "merge/merge.h"
#include "merge/totals.h"
#include "cli/options.h"
#include "peer/peer.h"
#include "view/ten_stages.h"

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

struct peers {
	struct peer *peer[OPTIONS_PEERS_MAX];
	unsigned int nr;
	int epoll_fd;
	int again_fd; /* readable when a turn ended before there was nothing left to read */
	struct announced announced;
	struct merge *merge;
	struct merged interval;
	struct merged total;
	bool recording;	      /* any peer does */
	uint64_t early;	      /* commands of before that */
	int result;	      /* of what the merge called back for */
	unsigned int reading; /* whose event it is */
};

static void on_matched(void *context, const struct merge_connection *c,
		       const struct nt_record *host, const struct nt_record *target)
{
	struct peers *p = context;

	if (merged_add(&p->interval, c, host, target))
		p->result = -ENOMEM;
}

static void watch(const struct peers *p, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	if (fd >= 0)
		epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, fd, &e);
}

struct peers *peers_new(char *const *sources, unsigned int nr)
{
	struct merge_callbacks callbacks = {.matched = on_matched};
	struct peers *p = calloc(1, sizeof(*p));
	int fd[2];

	if (!p)
		goto fail;
	callbacks.context = p;
	p->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	p->again_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->merge = merge_new(&callbacks);
	if (p->epoll_fd < 0 || p->again_fd < 0 || !p->merge || merged_init(&p->interval, 0) ||
	    merged_init(&p->total, 0))
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
	fprintf(stderr, "ntprof-bpf: cannot start the peers: %s\n", strerror(errno));
	peers_free(p);
	return NULL;
}

void peers_free(struct peers *p)
{
	if (!p)
		return;
	for (unsigned int i = 0; i < p->nr; i++)
		peer_free(p->peer[i]);
	if (p->epoll_fd > 0)
		close(p->epoll_fd);
	if (p->again_fd > 0)
		close(p->again_fd);
	announced_free(&p->announced);
	merge_free(p->merge);
	merged_free(&p->interval);
	merged_free(&p->total);
	free(p);
}

int peers_fd(const struct peers *p)
{
	return p->epoll_fd;
}

static int on_event(void *context, const struct stream_event *e)
{
	struct peers *p = context;
	unsigned int stream = HOST_STREAM + 1 + p->reading;

	p->recording |= e->type != STREAM_HEADER;
	if (e->type == STREAM_QUEUE)
		return merge_queue(p->merge, stream, NT_TARGET, &e->queue);
	if (e->type == STREAM_RECORD)
		return merge_record(p->merge, stream, &e->record) ?: p->result;
	return 0;
}

/* Return: 1 when a peer has more, 0 when all has been read, or a negative errno. */
static int read_all(struct peers *p, uint64_t until_ns)
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

int peers_ready(struct peers *p)
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

int peers_record(struct peers *p, const struct tracer *t, const struct nt_record *r)
{
	struct stream_queue q;
	int ret = announce(&p->announced, t, r, &q);

	if (ret > 0)
		ret = merge_queue(p->merge, HOST_STREAM, NT_HOST, &q);
	/* Nobody can have the other side of it. */
	if (!p->recording) {
		p->early++;
		return ret;
	}
	return ret ?: merge_record(p->merge, HOST_STREAM, r) ?: p->result;
}

int peers_interval(struct peers *p)
{
	int ret = merged_fold(&p->total, &p->interval);

	if (ret)
		return ret;
	merge_expire(p->merge, EXPIRE_NS);
	ret = peers_ready(p);
	return ret ?: p->result;
}

static bool all_over(const struct peers *p)
{
	for (unsigned int i = 0; i < p->nr; i++) {
		if (!peer_over(p->peer[i]))
			return false;
	}
	return true;
}

/* Reads until @until_ns, or until nothing can come, or, if @enough, until nothing is missed. */
static int read_until(struct peers *p, uint64_t until_ns, bool enough)
{
	while (!all_over(p) && !(enough && !merge_pending(p->merge))) {
		uint64_t now = monotonic_ns();
		struct pollfd f = {.fd = p->epoll_fd, .events = POLLIN};
		int ret;

		if (now >= until_ns)
			return 0;
		poll(&f, 1, (int)((until_ns - now) / 1000000) + 1);
		ret = peers_ready(p);
		if (ret)
			return ret;
	}
	return 0;
}

int peers_finish(struct peers *p)
{
	int ret = read_until(p, monotonic_ns() + LINGER_NS, true);

	for (unsigned int i = 0; i < p->nr; i++)
		peer_stop(p->peer[i]);
	if (!ret)
		ret = read_until(p, monotonic_ns() + STOP_NS, false);
	if (ret)
		return ret;
	merge_finish(p->merge);
	ret = merged_fold(&p->total, &p->interval);
	return ret ?: p->result;
}

static void print_peers(const struct peers *p, const struct view_extra_place *v)
{
	for (unsigned int i = 0; i < p->nr; i++) {
		const struct stream_losses *l = peer_losses(p->peer[i]);

		fprintf(v->peers, "peer %u ", i + 1);
		peer_print(p->peer[i], v->peers);
		for (unsigned int c = 0; c < STATS_COUNTERS_NR; c++) {
			if (!l->count[c])
				continue;
			if (v->summary)
				fprintf(v->peers, "\npeer %u loss %s %" PRIu64, i + 1,
					stats_counter_name(c), l->count[c]);
			else
				fprintf(v->peers, ", lost %s=%" PRIu64, stats_counter_name(c),
					l->count[c]);
		}
		fprintf(v->peers, "\n");
	}
}

/* What became of the records so far, all connections together. */
static void print_matching(const struct peers *p, FILE *f)
{
	uint64_t matched = 0, host_only = 0, target_only = 0, ambiguous = 0;
	const struct merge_connection *c;

	for (unsigned int i = 0; (c = merge_connection(p->merge, i)); i++) {
		matched += c->matched;
		host_only += c->host_only;
		target_only += c->target_only;
		ambiguous += c->ambiguous;
	}
	fprintf(f,
		"matched %" PRIu64 ", host only %" PRIu64 ", target only %" PRIu64
		", ambiguous %" PRIu64 ", undecided %" PRIu64 ", before any peer recorded %" PRIu64
		"\n",
		matched, host_only, target_only, ambiguous, merge_pending(p->merge), p->early);
}

bool peers_view(void *context, const struct view_extra_place *v)
{
	const struct peers *p = context;
	const struct merged *m = v->summary ? &p->total : &p->interval;
	bool any = false;

	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		any |= m->latency[op].count != 0;
	view_merged_stages(m, v->stages, v->width, v->unicode);
	view_merged_connections(m, v->connections);
	print_peers(p, v);
	print_matching(p, v->peers);
	if (v->summary) {
		view_connections(p->merge, v->peers);
		view_merged_numbers(m, v->peers);
	}
	return any;
}
