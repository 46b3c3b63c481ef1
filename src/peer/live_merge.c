// SPDX-License-Identifier: GPL-2.0-only
#include "peer/live_merge.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "core/array.h"
#include "core/names.h"
#include "core/time.h"
#include "merge/merge.h"
#include "peer/child.h"

static void look(struct restart *a, const struct peer *p, uint64_t now_ns)
{
	const enum peer_state state = peer_state(p);

	/* A peer that waits for its module works as expected, so it counts as running. */
	if (!a->began_ns && (state == PEER_RUNNING || state == PEER_WAITING))
		a->began_ns = now_ns;
}

/* The stream is over: sets how long to wait. */
static void begin_to_wait(struct restart *a, uint64_t now_ns)
{
	const bool well = a->began_ns && now_ns - a->began_ns >= RESTART_WELL_NS;

	if (well || !a->wait_ns)
		a->wait_ns = RESTART_FIRST_NS;
	else
		a->wait_ns = a->wait_ns < RESTART_MOST_NS / 2 ? 2 * a->wait_ns : RESTART_MOST_NS;
	a->due_ns = now_ns + a->wait_ns;
	a->asked = false;
	a->began_ns = 0;
}

bool restart_is_due(struct restart *a, const struct peer *p, uint64_t now_ns)
{
	if (!peer_over(p)) {
		look(a, p, now_ns);
		return false;
	}
	if (!a->due_ns)
		begin_to_wait(a, now_ns);
	if (now_ns < a->due_ns)
		return false;
	/* Processes may be left if the command closed its output, or if its stream was refused. */
	if (!peer_gone(p) && !a->asked) {
		peer_ask_to_end(p);
		a->asked = true;
		a->due_ns = now_ns + PEER_STOP_NS;
		return false;
	}
	a->due_ns = 0;
	return true;
}

/*
 * The longest time to read peers in one go, divided equally among them. Then the caller has its
 * turn, to add this machine's records.
 */
#define TURN_NS 20000000ULL
/* A record waits this long until the other side of its connection is found; see merge_expire(). */
#define EXPIRE_NS 5000000000ULL
/* The time at the end for peers to send the rest; a recorder sends every 200 ms. */
#define LINGER_NS 600000000ULL

/* Numbers of the streams in the merge: this machine's, then the peers' in their order. */
#define OWN_STREAM 0
#define PEER_STREAM 1

/*
 * @side: of this machine
 * @peer: @nr of them
 * @over: the merge knows that the peer's stream has ended
 * @restart: restarts of each peer
 * @starter: process that starts peers again; NULL: each is started once
 * @epoll_fd: everything that can be read from peers, and @again_fd
 * @again_fd: readable if the time ended before everything was read or tended
 * @restarting: the merge is giving up what waits, before the peer restarts
 * @tending: records that are late are left, or peers that restart
 * @interval: matched commands since the last live_merge_interval()
 * @last: those of the interval before
 * @total: those of all intervals before that
 * @why: of all intervals; NULL in a lasting merge
 * @together: [stream] a command of the stream was matched, so its own statistics are not needed
 * @recording: a peer has sent more than its header
 * @early: number of this machine's commands from before that
 * @first_ns: [stream] when the first of its commands that were matched began, by its own clock
 * @before: [stream] commands from before that of which this machine has no record
 * @result: 0, or why on_matched() failed; kept here, as the merge cannot pass it on
 * @reading: index of the peer that is being read, for on_event()
 */
struct live_merge {
	enum nt_side side;
	struct peer *peer[PEERS_MAX];
	bool over[PEERS_MAX];
	bool restarting[PEERS_MAX];
	struct restart restart[PEERS_MAX];
	struct starter *starter;
	unsigned int nr;
	int epoll_fd;
	int again_fd;
	bool tending;
	struct merge *merge;
	struct machines machines;
	struct unmatched *unmatched;
	struct totals interval;
	struct totals last;
	struct totals total;
	struct why *why;
	bool together[PEER_STREAM + PEERS_MAX];
	bool recording;
	uint64_t early;
	uint64_t first_ns[PEER_STREAM + PEERS_MAX];
	uint64_t before[PEER_STREAM + PEERS_MAX];
	int result;
	unsigned int reading;
};

/* Of the commands that are not slow one in so many is counted, for so many. */
#define LIVE_WHY_SAMPLE 16u

/* When a host's command began, by this machine's clock. */
static uint64_t begin_here(const struct live_merge *l, const struct merge_connection *c,
			   const struct nt_record *host)
{
	return record_begin_ns(host) + (l->side == NT_HOST ? 0 : connection_offset(c));
}

/* Return: 0 or -ENOMEM. @host: of the command that totals_add() was given last */
static int add_why(struct live_merge *l, const struct merge_connection *c,
		   const struct nt_record *host, const struct nt_record *target)
{
	const struct totals *m = &l->interval;
	unsigned int stands_for = why_stands_for(l->why, host);
	const struct why_command command = {
		.c = c,
		.r = host,
		.target = target,
		.begin_ns = begin_here(l, c, host),
		.cpu = ORIGIN_NO_CPU,
		.nr = m->last.into ? NT_MERGED_STAGES_NR : 0,
		.stage = m->last.stage,
		.into = m->last.into,
	};

	if (stands_for && why_add(l->why, &command, stands_for))
		return -ENOMEM;
	return why_to_follow(l->why) ? why_follow(l->why, c, host) : 0;
}

static unsigned int peer_stream(const struct live_merge *l, const struct merge_connection *c)
{
	return l->side == NT_HOST ? c->target_stream : c->host_stream;
}

static void on_matched(void *context, const struct merge_connection *c,
		       const struct nt_record *host, const struct nt_record *target)
{
	struct live_merge *l = context;
	const uint64_t began = record_begin_ns(l->side == NT_HOST ? target : host);
	uint64_t *first = &l->first_ns[peer_stream(l, c)];

	if (!*first || began < *first)
		*first = began;
	if (!l->together[c->host_stream] || !l->together[c->target_stream]) {
		unmatched_matched(l->unmatched, c->host_stream, c->target_stream);
		l->together[c->host_stream] = l->together[c->target_stream] = true;
	}
	if (totals_add(&l->interval, c, host, target) ||
	    (l->why && l->interval.last.row && add_why(l, c, host, target)))
		l->result = -ENOMEM;
}

static void on_single(void *context, const struct merge_connection *c, const struct nt_record *r,
		      bool ambiguous)
{
	struct live_merge *l = context;
	unsigned int stream = peer_stream(l, c);

	if (!ambiguous && r->side != l->side &&
	    (!l->first_ns[stream] || record_last_ns(r) < l->first_ns[stream]))
		l->before[stream]++;
}

static void watch(const struct live_merge *l, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	if (fd >= 0)
		epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &e);
}

static void watch_peer(const struct live_merge *l, const struct peer *p)
{
	int fd[PEER_FDS];

	peer_fds(p, fd);
	for (unsigned int i = 0; i < PEER_FDS; i++)
		watch(l, fd[i]);
}

static enum nt_side other_side(const struct live_merge *l)
{
	return l->side == NT_HOST ? NT_TARGET : NT_HOST;
}

/* Return: 0, or -1 with errno set. */
static int add_peer(struct live_merge *l, const char *source, const struct peer_user *user)
{
	enum nt_side side = other_side(l);
	struct peer *p;

	if (merge_stream(l->merge, PEER_STREAM + l->nr, side))
		return -1;
	p = l->starter ? peer_new_lasting(source, side, l->starter, l->nr)
		       : peer_new(source, side, user);
	if (!p)
		return -1;
	l->peer[l->nr++] = p;
	watch_peer(l, p);
	return 0;
}

static struct live_merge *begin(enum nt_side side, char *const *sources, unsigned int nr,
				const struct peer_user *user, bool lasting)
{
	struct merge_callbacks callbacks = {.matched = on_matched, .single = on_single};
	struct live_merge *l = calloc(1, sizeof(*l));
	int saved;

	if (!l)
		return NULL;
	l->side = side;
	callbacks.context = l;
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	l->again_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	l->merge = merge_new(&callbacks);
	l->unmatched = unmatched_new(PEER_STREAM + nr);
	if (!l->unmatched || l->epoll_fd < 0 || l->again_fd < 0 || !l->merge ||
	    totals_init(&l->interval, 0) || totals_init(&l->last, 0) || totals_init(&l->total, 0) ||
	    machines_init(&l->machines, PEER_STREAM + nr))
		goto fail;
	l->interval.machines = l->last.machines = l->total.machines = &l->machines;
	/* Only the live view shows single controllers, and only those of an interval. */
	if (!lasting) {
		totals_by_ctrl(&l->interval);
		totals_by_ctrl(&l->last);
		l->why = why_new(LIVE_WHY_SAMPLE);
		if (!l->why)
			goto fail;
	}
	live_merge_lacks(l, 0);
	if (unmatched_begin(l->unmatched, OWN_STREAM, &(struct unmatched_header){.side = side}))
		goto fail;
	l->starter = lasting ? starter_new(sources, nr, user) : NULL;
	if (lasting && !l->starter)
		goto fail;
	watch(l, l->again_fd);
	for (unsigned int i = 0; i < nr; i++)
		if (add_peer(l, sources[i], user))
			goto fail;
	return l;

fail:
	saved = errno;
	live_merge_free(l);
	errno = saved;
	return NULL;
}

struct live_merge *live_merge_new(enum nt_side side, char *const *sources, unsigned int nr,
				  const struct peer_user *user)
{
	return begin(side, sources, nr, user, false);
}

struct live_merge *live_merge_new_lasting(enum nt_side side, char *const *sources, unsigned int nr,
					  const struct peer_user *user)
{
	return begin(side, sources, nr, user, true);
}

void live_merge_free(struct live_merge *l)
{
	if (!l)
		return;
	for (unsigned int i = 0; i < l->nr; i++)
		peer_kill(l->peer[i]);
	for (unsigned int i = 0; i < l->nr; i++)
		peer_free(l->peer[i]);
	starter_free(l->starter);
	if (l->epoll_fd > 0)
		close(l->epoll_fd);
	if (l->again_fd > 0)
		close(l->again_fd);
	merge_free(l->merge);
	totals_free(&l->interval);
	totals_free(&l->last);
	totals_free(&l->total);
	machines_free(&l->machines);
	unmatched_free(l->unmatched);
	why_free(l->why);
	free(l);
}

enum nt_side live_merge_side(const struct live_merge *l)
{
	return l->side;
}

int live_merge_fd(const struct live_merge *l)
{
	return l->epoll_fd;
}

void live_merge_lacks(struct live_merge *l, uint32_t missing)
{
	struct machine m = {.side = l->side, .missing = missing};

	if (gethostname(m.name, sizeof(m.name) - 1))
		m.name[0] = '\0';
	machines_set(&l->machines, OWN_STREAM, &m, side_name(l->side));
}

/* Return: 0 or -ENOMEM. */
static int tell_machine(struct live_merge *l, const struct stream_header *h)
{
	struct machine m = {.side = h->side, .sample = h->sample, .missing = h->missing};
	struct unmatched_header a = {.side = h->side,
				     .sample = h->sample,
				     .missing = h->missing,
				     .figures = !l->starter};
	char label[32];

	snprintf(m.name, sizeof(m.name), "%s", h->hostname);
	snprintf(a.boot_id, sizeof(a.boot_id), "%s", h->boot_id);
	snprintf(label, sizeof(label), "peer %u", l->reading + 1);
	machines_set(&l->machines, PEER_STREAM + l->reading, &m, label);
	l->together[OWN_STREAM] = l->together[PEER_STREAM + l->reading] = false;
	return unmatched_begin(l->unmatched, PEER_STREAM + l->reading, &a);
}

/* Return: 0 or -ENOMEM. */
static int take_record(struct live_merge *l, unsigned int stream, const struct nt_record *r)
{
	int ret = l->together[stream] ? 0 : unmatched_record(l->unmatched, stream, r);

	return ret ?: merge_record(l->merge, stream, r) ?: l->result;
}

static int on_event(void *context, const struct stream_event *e)
{
	struct live_merge *l = context;
	unsigned int stream = PEER_STREAM + l->reading;

	l->recording |= e->type != STREAM_HEADER;
	switch (e->type) {
	case STREAM_HEADER:
		return tell_machine(l, &e->header);
	case STREAM_CLOCK:
		unmatched_clock(l->unmatched, stream, &e->clock);
		return 0;
	case STREAM_BURST:
		unmatched_burst(l->unmatched, stream, burst_length_ns(&e->burst));
		return 0;
	case STREAM_QUEUE:
		return unmatched_queue(l->unmatched, stream, &e->queue)
			       ?: merge_queue(l->merge, stream, other_side(l), &e->queue);
	case STREAM_RECORD:
		return take_record(l, stream, &e->record);
	default:
		return 0;
	}
}

/*
 * The end of a stream may decide about many records that wait, which takes time. So a turn has one
 * end at most.
 *
 * Return: 1 if a peer has more, 0 if everything has been read, or a negative errno.
 */
static int read_all(struct live_merge *l)
{
	int more = 0;

	for (l->reading = 0; l->reading < l->nr; l->reading++) {
		int ret = peer_read(l->peer[l->reading], on_event, l,
				    monotonic_ns() + TURN_NS / l->nr);

		if (ret < 0)
			return ret;
		more |= ret;
		if (!ret && !l->over[l->reading] && peer_over(l->peer[l->reading])) {
			l->over[l->reading] = !merge_end_some(l->merge, PEER_STREAM + l->reading);
			return 1;
		}
	}
	return more;
}

/*
 * Restarts peers whose streams are over. If that fails, the peer is shown as refused, and tried
 * again later.
 *
 * Return: whether the merge has more to do before one of them restarts.
 */
static bool start_again(struct live_merge *l)
{
	const uint64_t now = monotonic_ns();
	bool more = false;

	for (unsigned int i = 0; l->starter && i < l->nr; i++) {
		struct peer *p = l->peer[i];

		/* The restart waits until the merge knows that the stream is over. */
		if (!peer_lasts(p) || (peer_over(p) && !l->over[i]) ||
		    (!l->restarting[i] && !restart_is_due(&l->restart[i], p, now)))
			continue;
		l->restarting[i] = merge_restart(l->merge, PEER_STREAM + i);
		if (l->restarting[i]) {
			more = true;
			continue;
		}
		l->over[i] = peer_restart(p) != 0;
		if (l->over[i])
			merge_end(l->merge, PEER_STREAM + i);
		else
			watch_peer(l, p);
	}
	return more;
}

int live_merge_ready(struct live_merge *l)
{
	uint64_t n;
	int ret;

	if (read(l->again_fd, &n, sizeof(n)) < 0 && errno != EAGAIN)
		return -errno;
	if (l->tending) {
		l->tending = merge_expire(l->merge, EXPIRE_NS);
		l->tending |= start_again(l);
	}
	ret = read_all(l);
	n = 1;
	if ((ret > 0 || (!ret && l->tending)) && write(l->again_fd, &n, sizeof(n)) < 0 &&
	    errno != EAGAIN)
		return -errno;
	return ret < 0 ? ret : 0;
}

int live_merge_queue(struct live_merge *l, const struct queue_info *q)
{
	return unmatched_queue(l->unmatched, OWN_STREAM, q)
		       ?: merge_queue(l->merge, OWN_STREAM, l->side, q);
}

int live_merge_record(struct live_merge *l, const struct nt_record *r)
{
	/* No peer was recording yet, so none has the other side of the command. */
	if (!l->recording) {
		l->early++;
		return 0;
	}
	return take_record(l, OWN_STREAM, r);
}

int live_merge_tend(struct live_merge *l)
{
	struct instant now = instant_now();

	unmatched_clock(l->unmatched, OWN_STREAM, &now);
	l->tending = true;
	return live_merge_ready(l) ?: l->result;
}

int live_merge_interval(struct live_merge *l)
{
	return totals_fold(&l->total, &l->last)	    ?:
	       totals_fold(&l->last, &l->interval) ?: live_merge_tend(l);
}

/* Return: 0 or -ENOMEM. */
static int add_up(struct live_merge *l)
{
	return totals_fold(&l->total, &l->last) ?: totals_fold(&l->total, &l->interval);
}

int live_merge_add_up(struct live_merge *l)
{
	return add_up(l) ?: live_merge_tend(l);
}

int live_merge_interrupt(struct live_merge *l, unsigned int i)
{
	return peer_interrupt(l->peer[i]);
}

static bool all_are(const struct live_merge *l, bool (*so)(const struct peer *p))
{
	for (unsigned int i = 0; i < l->nr; i++) {
		if (!so(l->peer[i]))
			return false;
	}
	return true;
}

/*
 * Reads until @so is true of all peers, until @until_ns, or, if @enough, until no record waits for
 * its other side.
 *
 * Return: 0, 1 if @hurry_fd became readable, or a negative errno.
 */
static int read_until(struct live_merge *l, bool (*so)(const struct peer *p), uint64_t until_ns,
		      bool enough, int hurry_fd)
{
	while (!all_are(l, so) && !(enough && !merge_pending(l->merge))) {
		uint64_t now = monotonic_ns();
		struct pollfd f[] = {
			{.fd = l->epoll_fd, .events = POLLIN},
			{.fd = hurry_fd, .events = POLLIN},
		};
		int ret;

		if (now >= until_ns)
			return 0;
		poll(f, ARRAY_SIZE(f), (int)((until_ns - now) / 1000000) + 1);
		ret = live_merge_ready(l) ?: f[1].revents != 0;
		if (ret)
			return ret;
	}
	return 0;
}

int live_merge_finish(struct live_merge *l, int hurry_fd)
{
	int ret;

	ret = read_until(l, peer_over, monotonic_ns() + LINGER_NS, true, hurry_fd);
	for (unsigned int i = 0; i < l->nr; i++)
		peer_stop(l->peer[i]);
	if (!ret)
		ret = read_until(l, peer_gone, monotonic_ns() + PEER_STOP_NS, false, hurry_fd);
	if (ret < 0)
		return ret;
	merge_finish(l->merge);
	return add_up(l) ?: l->result;
}

void live_merge_counts(const struct live_merge *l, struct live_merge_counts *n)
{
	const struct merge_strays *strays = merge_strays(l->merge);
	const struct merge_connection *c;

	*n = (struct live_merge_counts){
		.undecided = merge_pending(l->merge),
		.strays = strays->records,
		.past_limits = strays->past_limits,
		.crowded_out = strays->crowded_out,
		.in_crowd = strays->in_crowd,
		.early = l->early,
	};
	for (unsigned int i = 0; (c = merge_connection(l->merge, i)); i++) {
		n->matched += c->matched;
		n->host_only += c->host_only;
		n->target_only += c->target_only;
		n->ambiguous += c->ambiguous;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(l->before); i++)
		if (l->first_ns[i]) {
			n->early += l->before[i];
			*(l->side == NT_HOST ? &n->target_only : &n->host_only) -= l->before[i];
		}
}

const struct peer *live_merge_peer(const struct live_merge *l, unsigned int i)
{
	return i < l->nr ? l->peer[i] : NULL;
}

const struct totals *live_merge_totals(const struct live_merge *l, bool of_all)
{
	return of_all ? &l->total : &l->interval;
}

const struct totals *live_merge_last(const struct live_merge *l)
{
	return &l->last;
}

const struct machines *live_merge_machines(const struct live_merge *l)
{
	return &l->machines;
}

unsigned int live_merge_stream(unsigned int i)
{
	return PEER_STREAM + i;
}

const struct why *live_merge_why(const struct live_merge *l)
{
	return l->why;
}

const struct unmatched *live_merge_unmatched(const struct live_merge *l)
{
	return l->unmatched;
}

const struct stats *live_merge_peer_stats(const struct live_merge *l, unsigned int i)
{
	struct peer_about about;

	if (i >= l->nr || !unmatched_is(l->unmatched, PEER_STREAM + i))
		return NULL;
	peer_about(l->peer[i], &about);
	return about.header ? unmatched_stats(l->unmatched, PEER_STREAM + i, about.header->kernel,
					      about.losses->count)
			    : NULL;
}

const struct merge *live_merge_merge(const struct live_merge *l)
{
	return l->merge;
}
