// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for the merge of this host with peers, as live and serve run it. The records are
 * those of a play (scenario.h): hosts of it are this host, and its targets are peers, which send
 * their records as streams. In between, by actions of four bytes, streams are damaged or break off,
 * commands say something, end and are started again, time passes, and the
 * figures are shown. Commands are made up (made_up.h). Besides what the sanitizers see, it asserts
 * that:
 *  - nothing that a peer does is an error of the merge;
 *  - each record of the host and of peers is matched, given up, waiting or counted as left out;
 *  - text of peers that is shown has no character that a terminal obeys;
 *  - descriptors are closed once, and all processes have ended.
 *
 * Bytes: number of peers, and whether they are started again; number of actions; actions; the play.
 */
#include <stdio.h>

#include "core/names.h"
#include "made_up.h"
#include "peer/live_merge.h"
#include "scenario.h"
#include "seen.h"
#include "serve/page.h"
#include "view/connections.h"
#include "view/lines.h"
#include "view/peers.h"
#include "view/streams.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ACTIONS_MAX 24
/* The host adds records and peers are read in turn, so many events at a time. */
#define TURN 8

enum action {
	ACT_SAY,
	ACT_DAMAGE,
	ACT_CLOSE,
	ACT_REPORT,
	ACT_DIE,
	ACT_WAIT,
	ACT_INTERVAL,
	ACT_ADD_UP,
	ACT_KEY,
	ACT_START,
	ACT_SHOW,
	ACT_OTHER_HEADER,
	ACT_END,
	ACTIONS_NR,
};

static struct scenario play;

/*
 * @fed: records of the host that the merge was given
 * @told: as live prints before its screen
 * @merged: as serve has it
 */
struct run {
	struct live_merge *l;
	unsigned int nr;
	uint64_t fed;
	uint8_t header;
	uint64_t told[MADE_PEERS];
	struct merged *merged;
};

static void check_counts(const struct run *r)
{
	struct live_merge_counts n;
	struct peer_about a;
	uint64_t fed = r->fed;

	for (unsigned int i = 0; i < r->nr; i++) {
		peer_about(live_merge_peer(r->l, i), &a);
		fed += a.records;
	}
	live_merge_counts(r->l, &n);
	ASSERT(2 * n.matched + n.host_only + n.target_only + n.ambiguous + n.undecided + n.strays +
		       n.past_limits + n.early ==
	       fed);
	ASSERT(live_merge_totals(r->l, false)->commands + live_merge_last(r->l)->commands +
		       live_merge_totals(r->l, true)->commands <=
	       n.matched);
}

/* All that live and serve print of peers and of merged commands. */
static void print(struct run *r, FILE *f)
{
	char labels[EXPOSITION_LABELS_LEN] = "";
	struct merged_source from;
	struct exposition e = {.f = f};

	for (unsigned int i = 0; i < r->nr; i++) {
		peers_print_messages(r->l, i, r->header & 1, &r->told[i], f);
		peers_print_waiting(r->l, i, f);
	}
	peers_print(r->l, false, f, 80);
	peers_print(r->l, true, f, WRAP_NEVER);
	for (unsigned int i = 0; i < r->nr; i++) {
		live_merge_peer_stats(r->l, i);
		unmatched_print(live_merge_unmatched(r->l), live_merge_stream(i),
				live_merge_machines(r->l), f);
	}
	ASSERT(!connections_print(live_merge_merge(r->l), live_merge_machines(r->l), f));
	ASSERT(!connections_print_stages(live_merge_totals(r->l, true), NULL, NULL, f, WRAP_NEVER));
	merged_fill(&from, r->l);
	exposition_label(labels, "side", "host");
	merged_put(r->merged, &e, labels, &from);
}

static void show(struct run *r)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	ASSERT(f);
	print(r, f);
	ASSERT(!fclose(f));
	seen_check(text, n);
	free(text);
	check_counts(r);
}

/* Lines of a recorder, of ssh and of other commands. */
static void say(struct made_pipe *p, uint8_t which, uint8_t n)
{
	static const char *const lines[] = {
		WAITING_FOR_MODULE "nvmet_tcp\n",      "root@target's password: ", "\n",
		"\r\x1b[2J\x1b]0;x\x07\xe2\x80\xae\n", "\xff\xfe\xc3\n",	   "\0a\0",
		"peer 1: running; host only 5\n"};
	const char *line = lines[which % ARRAY_SIZE(lines)];

	for (unsigned int i = 0; i <= n % 32u; i++)
		made_put(p, line, which % ARRAY_SIZE(lines) == 5 ? 3 : strlen(line));
}

static void report(struct made_peer *p, uint8_t a)
{
	static const int keys[] = {SIGINT, SIGQUIT, SIGHUP};

	if (a % 4 == 0)
		made_report(p, GUARD_ENDED, (a >> 2) - 32);
	else
		made_report(p, GUARD_INTERRUPTED, keys[(a >> 2) % ARRAY_SIZE(keys)]);
}

/* The peer's recorder begins, or begins once more in the same stream, which is damage. */
static void header(const struct run *r, unsigned int i)
{
	struct stream_header h = {.side = r->header == i + 1 ? NT_HOST : NT_TARGET,
				  .source = "stock",
				  .boot_id = "01234567-89ab-cdef-0123-456789abcdef",
				  .hostname = "m\xc3\xa9\x1b[31m",
				  .kernel = "6.1.0\n",
				  .program = "0.1.0",
				  .selection = "--op read\x1b[1m",
				  .sample = i,
				  .missing = r->header >> 4};

	h.boot_id[0] += (char)i;
	made_header(&made.peer[i], &h);
}

static void flush(const struct run *r)
{
	for (unsigned int i = 0; i < r->nr; i++)
		if (made.peer[i].writer)
			stream_flush(made.peer[i].writer);
}

static void turn(const struct run *r)
{
	flush(r);
	ASSERT(!live_merge_ready(r->l));
}

static void act(struct run *r, const uint8_t b[4])
{
	struct made_peer *p = &made.peer[b[2] % r->nr];
	struct stream_event end = {.type = STREAM_END};
	struct made_pipe *pipe = b[3] & 1 ? &p->err : &p->out;

	switch (b[1] % ACTIONS_NR) {
	case ACT_SAY:
		say(&p->err, b[3] & 7, b[3] >> 3);
		break;
	case ACT_DAMAGE:
		flush(r);
		if (p->out.size > p->out.at)
			p->out.data[p->out.at + b[3] * 7u % (p->out.size - p->out.at)] ^=
				1 << b[2] % 8;
		break;
	case ACT_CLOSE:
		pipe->ended = true;
		pipe->error = b[3] & 2 ? EIO : 0;
		break;
	case ACT_REPORT:
		report(p, b[3]);
		break;
	case ACT_DIE:
		if (p->child)
			made_dies(p->child);
		break;
	case ACT_WAIT:
		made.now += (uint64_t)(b[2] + 1) << b[3] % 34;
		break;
	case ACT_INTERVAL:
		ASSERT(!live_merge_interval(r->l));
		break;
	case ACT_ADD_UP:
		ASSERT(!live_merge_add_up(r->l));
		break;
	case ACT_KEY:
		live_merge_interrupt(r->l, b[2] % r->nr);
		break;
	case ACT_START:
		made.start_fails = b[3] & 1;
		if (p->child)
			p->child->stubborn = b[3] & 2;
		break;
	case ACT_SHOW:
		show(r);
		break;
	case ACT_OTHER_HEADER:
		r->header = b[3];
		header(r, b[2] % r->nr);
		break;
	default:
		made_event(p, &end);
	}
	turn(r);
	check_counts(r);
}

static void feed_host(struct run *r, const struct scenario_event *e)
{
	struct queue_info q;

	if (e->type == STREAM_QUEUE) {
		q = scenario_queue_info(&e->queue, NT_HOST);
		ASSERT(!live_merge_queue(r->l, &q));
	} else if (e->type == STREAM_RECORD) {
		r->fed++;
		ASSERT(!live_merge_record(r->l, &e->record));
	}
}

static void feed_peer(const struct run *r, unsigned int i, const struct scenario_event *e)
{
	struct stream_event s = {.type = (enum stream_type)e->type};

	if (!made.peer[i].writer)
		header(r, i);
	switch (e->type) {
	case STREAM_QUEUE:
		s.queue = scenario_queue_info(&e->queue, NT_TARGET);
		break;
	case STREAM_RECORD:
		s.record = e->record;
		break;
	case STREAM_CLOCK:
		s.clock = (struct instant){.monotonic_ns = e->number, .realtime_ns = INT64_MAX};
		break;
	case STREAM_LOSSES:
		s.losses.count[e->number % COUNTERS_NR] = e->number;
		break;
	default:
		return;
	}
	made_event(&made.peer[i], &s);
}

static void feed(struct run *r, const struct scenario_event *e)
{
	if (e->type == SCENARIO_EXPIRE) {
		made.now += e->number % 10000000000ULL;
		ASSERT(!live_merge_tend(r->l));
	} else if (play.stream[e->stream].side == NT_HOST) {
		feed_host(r, e);
	} else {
		feed_peer(r, e->stream / 2 % r->nr, e);
	}
}

/* Actions come in between events: the first byte of each says after how many of 256 parts of them.
 */
static void play_all(struct run *r, const uint8_t *actions, unsigned int nr_actions)
{
	unsigned int next = 0;

	for (unsigned int i = 0; i <= play.nr_events; i++) {
		while (next < nr_actions &&
		       (i == play.nr_events ||
			actions[4 * next] * (uint64_t)play.nr_events <= 256ULL * i))
			act(r, actions + 4 * next++);
		if (i == play.nr_events)
			break;
		feed(r, &play.event[play.order[i]]);
		if (i % TURN == TURN - 1)
			turn(r);
	}
}

static void finish(struct run *r, uint8_t kind)
{
	struct live_merge_counts n;

	flush(r);
	made.hurry = kind & 0x40;
	if (kind & 0x80)
		return;
	ASSERT(live_merge_finish(r->l, -1) >= 0);
	live_merge_counts(r->l, &n);
	ASSERT(!n.undecided);
	show(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned int nr_actions;
	struct run r = {.nr = 0};
	uint8_t kind;

	if (size < 2)
		return 0;
	kind = data[0];
	nr_actions = data[1] % (ACTIONS_MAX + 1);
	if (2 + 4 * (size_t)nr_actions > size)
		nr_actions = (unsigned int)(size - 2) / 4;
	scenario_make(&play, data + 2 + 4 * (size_t)nr_actions, size - 2 - 4 * (size_t)nr_actions);
	made_begin();
	r.nr = 1 + kind % MADE_PEERS;
	made.peer[0].is_file = kind & 0x10;
	r.l = kind & 0x20 ? live_merge_new_lasting(NT_HOST, made_source, r.nr, NULL)
			  : live_merge_new(NT_HOST, made_source, r.nr, NULL);
	r.merged = merged_new();
	ASSERT(r.l && r.merged);
	play_all(&r, data + 2, nr_actions);
	finish(&r, kind);
	merged_free(r.merged);
	live_merge_free(r.l);
	made_end();
	return 0;
}
