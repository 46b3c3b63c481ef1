/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes streams out of a few bytes: machines, connections between them, and what becomes of
 * commands. Random records would never match. So bytes are steps of a play, four bytes each, and
 * one step is as much as "128 reads of one block, whose target's records are lost"; time runs in
 * between. A play need not be possible: identities collide, clocks jump and wrap,
 * records are nonsense.
 */
#ifndef NTPROF_FUZZ_SCENARIO_H
#define NTPROF_FUZZ_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "asserts.h"
#include "stream/stream.h"

#define SCENARIO_STREAMS 6
#define SCENARIO_CONNECTIONS 16
/* Records are the slowest: some thousands take a few milliseconds. */
#ifndef SCENARIO_RECORDS_MAX
#define SCENARIO_RECORDS_MAX 2000u
#endif
#define SCENARIO_STEPS_MAX 3000u
/* Queues by the 100,000: in a few inputs only, which begin with SCENARIO_MANY. */
#define SCENARIO_MANY 0xe7
#ifndef SCENARIO_QUEUES_MAX
#define SCENARIO_QUEUES_MAX 1000u
#endif
#define SCENARIO_QUEUES_MANY 110000u
#define SCENARIO_EVENTS_MAX (SCENARIO_RECORDS_MAX + SCENARIO_STEPS_MAX + SCENARIO_QUEUES_MANY)
/* Events that are not the stream's: what a caller of the merge does now and then. */
#define SCENARIO_EXPIRE 0x100

enum scenario_step {
	STEP_COMMANDS, /* twice, as it is what all others are for */
	STEP_MORE_COMMANDS,
	STEP_CONNECT,
	STEP_RECONNECT,
	STEP_WAIT,
	STEP_CLOCK,
	STEP_LAG,
	STEP_SILENCE,
	STEP_NONSENSE,
	STEP_QUEUES,
	STEP_REPEAT,
	STEP_EXPIRE,
	STEP_LOSSES,
	STEPS_NR,
};

/* @queue.name picks one of a few names. */
struct scenario_queue {
	uint32_t slot;
	uint32_t gen;
	uint32_t instance;
	uint16_t cntlid;
	uint16_t qid;
	uint8_t name;
};

/* @at: when it comes, of a clock that none of the machines has; @stream: whose it is */
struct scenario_event {
	uint64_t at;
	unsigned int type;
	unsigned int stream;
	union {
		struct nt_record record;
		struct scenario_queue queue;
		uint64_t number;
	};
};

/* One end of a connection. */
struct scenario_end {
	unsigned int stream;
	struct scenario_queue q;
};

struct scenario_connection {
	struct scenario_end end[NT_SIDES];
	uint16_t cid;
};

/* @clock: what a machine's clock is ahead; @lag: how much later its records come; @silent: they
 * don't */
struct scenario_stream {
	enum nt_side side;
	uint64_t clock;
	uint64_t lag;
	bool silent;
};

struct scenario {
	uint64_t now;
	uint64_t random;
	uint64_t block;
	unsigned int nr_streams;
	unsigned int nr_events;
	unsigned int nr_records;
	unsigned int nr_queues;
	unsigned int max_queues;
	unsigned int nr_steps;
	struct scenario_stream stream[SCENARIO_STREAMS];
	struct scenario_connection connection[SCENARIO_CONNECTIONS];
	struct scenario_event event[SCENARIO_EVENTS_MAX];
	unsigned int order[SCENARIO_EVENTS_MAX]; /* events in the order in which they come */
};

static inline uint64_t scenario_random(struct scenario *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random;
}

static inline struct scenario_event *scenario_add(struct scenario *s, unsigned int stream,
						  unsigned int type, uint64_t at)
{
	struct scenario_event *e = &s->event[s->nr_events];

	ASSERT(s->nr_events < SCENARIO_EVENTS_MAX);
	s->nr_events++;
	e->at = at + s->stream[stream].lag;
	e->type = type;
	e->stream = stream;
	return e;
}

static inline void scenario_announce(struct scenario *s, const struct scenario_end *end)
{
	if (s->nr_queues++ < s->max_queues)
		scenario_add(s, end->stream, STREAM_QUEUE, s->now)->queue = end->q;
}

/* The record is on its way; its points are the world's, and become its machine's. */
static inline void scenario_record(struct scenario *s, unsigned int stream,
				   const struct nt_record *r, uint64_t at)
{
	struct nt_record *to;

	if (s->stream[stream].silent || s->nr_records++ >= SCENARIO_RECORDS_MAX)
		return;
	to = &scenario_add(s, stream, STREAM_RECORD, at)->record;
	*to = *r;
	to->side = s->stream[stream].side;
	for (unsigned int i = 0; i < NT_POINTS_MAX; i++) {
		if (to->points[i])
			to->points[i] += s->stream[stream].clock;
	}
}

/* A stream of @side; which one @pick says, where there are several. */
static inline unsigned int scenario_stream_of(const struct scenario *s, enum nt_side side,
					      unsigned int pick)
{
	unsigned int of_side = (s->nr_streams + (side == NT_HOST)) / 2;

	/* Hosts and targets take turns; one stream alone is a host's, and both ends of all. */
	return of_side ? 2 * (pick % of_side) + (side == NT_TARGET) : 0;
}

/*
 * @a: which connection; @b: controller and queue id, of few, so that they collide; @c: between
 * which machines, and names. Ids 0 and 0xffff are those of a controller that has none yet.
 */
static inline void step_connect(struct scenario *s, uint8_t a, uint8_t b, uint8_t c)
{
	static const uint16_t ids[] = {1, 2, 3, 4, 0, 0xffff, 1, 7};
	struct scenario_connection *k = &s->connection[a % SCENARIO_CONNECTIONS];

	for (unsigned int side = 0; side < NT_SIDES; side++) {
		struct scenario_end *e = &k->end[side];

		e->stream = scenario_stream_of(s, side, side == NT_HOST ? c : c >> 2);
		e->q = (struct scenario_queue){
			.slot = a & 0x80 ? b % 4 : a % SCENARIO_CONNECTIONS,
			.gen = e->q.gen + 1,
			.instance = c >> 6,
			.cntlid = ids[b % 8],
			.qid = b >> 3 & 7,
			.name = c >> 4 & 3,
		};
		if (!(a >> (4 + side) & 1))
			scenario_announce(s, e);
	}
}

/* @b: what the two ends know of it; @c: the new controller id */
static inline void step_reconnect(struct scenario *s, uint8_t a, uint8_t b, uint8_t c)
{
	struct scenario_connection *k = &s->connection[a % SCENARIO_CONNECTIONS];

	for (unsigned int side = 0; side < NT_SIDES; side++) {
		struct scenario_end *e = &k->end[side];

		if (b & 1)
			e->q.gen++;
		if (b & 2)
			e->q.cntlid = b & 4 ? c : e->q.cntlid + 1;
		if (b & 8)
			e->q.slot = b & 16 ? c : e->q.slot + 1;
		if (b >> (6 + side) & 1)
			scenario_announce(s, e);
	}
}

/* Both records of a command that begins now, and takes @network ns each way and @device ns. */
static inline void scenario_points(const struct scenario *s, struct nt_record *host,
				   struct nt_record *target, uint64_t network, uint64_t device)
{
	uint64_t h = s->now, t = s->now + 1000 + network, back;

	target->points[NT_T_RX] = t;
	target->points[NT_T_CMD] = t += 700;
	host->points[NT_H_SUBMIT] = h;
	host->points[NT_H_QUEUE_RQ] = h += 500;
	host->points[NT_H_SEND_CMD] = h += 500;
	host->points[NT_H_SENT_CMD] = h += 900;
	if (host->shape == NT_SHAPE_R2T_WRITE) {
		target->points[NT_T_SEND_R2T] = t += 300;
		host->points[NT_H_R2T_RX] = h = t + network;
		host->points[NT_H_R2T] = h += 200;
		host->points[NT_H_SEND_DATA] = h += 300;
		target->points[NT_T_DATA_RX] = t = h + network;
		target->points[NT_T_DATA] = t += 400;
		target->points[NT_T_DATA_DONE] = t += 100;
		host->points[NT_H_SENT_DATA] = h += 100;
	}
	target->points[NT_T_EXEC] = t += 200;
	target->points[NT_T_DONE] = t += device;
	target->points[NT_T_SEND] = t += 250;
	target->points[NT_T_SENT] = t + 300;
	host->points[NT_H_RX] = back = t + network;
	if (host->shape == NT_SHAPE_READ)
		host->points[NT_H_C2H] = back += 350;
	host->points[NT_H_CQE] = back += 150;
	host->points[NT_H_COMPLETE] = back + 450;
}

/* @b: what they ask for, under which ids, and which records get lost */
static inline void scenario_ask(struct scenario *s, struct scenario_connection *k, unsigned int i,
				uint8_t b, struct nt_record *r)
{
	const uint64_t address[] = {++s->block, 8, 0, s->block % 4};
	const uint16_t cid[] = {k->cid++, 5, scenario_random(s) % 4096,
				(uint16_t)(i % 4 | i / 4 << 12)};

	r->slba = address[b & 3];
	r->cid = cid[b >> 2 & 3];
	r->opcode = r->slba ? 2 : 0;
	r->op = r->slba ? NT_OP_READ : NT_OP_FLUSH;
	r->shape = r->slba ? NT_SHAPE_READ : NT_SHAPE_NO_DATA;
	if (b >> 4 & 1 && r->slba) {
		r->opcode = 1;
		r->op = NT_OP_WRITE;
		r->shape = NT_SHAPE_R2T_WRITE;
	}
	r->nsid = 1;
	r->length = r->slba ? 4096 : 0;
}

/*
 * @a: on which connection, and how many; @b: see scenario_ask(); @c: how long they take, and how
 * soon they follow each other
 */
static inline void step_commands(struct scenario *s, uint8_t a, uint8_t b, uint8_t c)
{
	struct scenario_connection *k = &s->connection[a % SCENARIO_CONNECTIONS];
	unsigned int nr = 1u << (a >> 4 & 7);
	uint64_t interval = 64ULL << (c & 15), device = 1000ULL << (c >> 4) * 2 % 26;

	for (unsigned int i = 0; i < nr && s->nr_records < SCENARIO_RECORDS_MAX; i++) {
		struct nt_record r = {0}, side[NT_SIDES];

		scenario_ask(s, k, i, b, &r);
		for (unsigned int n = 0; n < NT_SIDES; n++) {
			const struct scenario_end *e = &k->end[n];

			side[n] = r;
			side[n].slot = e->q.slot;
			side[n].gen = e->q.gen;
			side[n].cntlid = e->q.cntlid;
			side[n].qid = e->q.qid;
		}
		scenario_points(s, &side[NT_HOST], &side[NT_TARGET],
				5000 + scenario_random(s) % 5000, device);
		if (a & 0x80 && i % 3 == 0)
			side[i % 2].points[scenario_random(s) % NT_POINTS_MAX] = 0;
		for (unsigned int n = 0; n < NT_SIDES; n++) {
			unsigned int last = n == NT_HOST ? NT_H_COMPLETE : NT_T_SENT;

			if (!(b >> (5 + n) & 1) || (b >> 7 && i % 2))
				scenario_record(s, k->end[n].stream, &side[n],
						side[n].points[last]);
		}
		s->now += interval + scenario_random(s) % interval;
	}
}

/* Near 0, near its end, where it wraps soon; or off by something. */
static inline void step_clock(struct scenario *s, uint8_t a, uint8_t b, uint8_t c)
{
	const uint64_t clock[] = {1000ULL << (c & 31), -s->now, -s->now - (1000ULL << (c & 31)),
				  -s->now + INT64_MAX - (1000ULL << (c & 31)),
				  (uint64_t)c << (b >> 3 & 31) << 24};
	struct scenario_stream *stream = &s->stream[a % s->nr_streams];

	stream->clock = clock[b % 5];
	if (a & 0x80) {
		struct scenario_event *e = scenario_add(s, a % s->nr_streams, STREAM_CLOCK, s->now);

		e->number = s->now + stream->clock;
	}
}

/* A record of any values, of a queue that may exist. */
static inline void step_nonsense(struct scenario *s, uint8_t a, uint8_t b)
{
	const struct scenario_connection *k = &s->connection[b % SCENARIO_CONNECTIONS];
	const struct scenario_end *e = &k->end[b >> 4 & 1];
	struct nt_record r = {.slot = e->q.slot, .gen = e->q.gen, .cntlid = e->q.cntlid};

	r.qid = e->q.qid;
	r.op = scenario_random(s) % NT_OPS_NR;
	r.shape = scenario_random(s) % NT_SHAPES_NR;
	r.opcode = a;
	r.cid = b >> 5;
	r.flags = scenario_random(s) % 64;
	for (unsigned int i = 0; i < NT_POINTS_MAX; i++) {
		uint64_t any = scenario_random(s);

		if (any % 4)
			r.points[i] = any % 4 == 1 ? any >> any / 4 % 64 : s->now + any % 100000;
	}
	scenario_record(s, a % s->nr_streams, &r, s->now);
}

/* One stream announces many queues; some have equal ids. */
static inline void step_queues(struct scenario *s, uint8_t a, uint8_t b, uint8_t c)
{
	unsigned int nr = 1u << b % 17, from = c << (a >> 4);

	for (unsigned int i = from; i < from + nr && s->nr_queues < s->max_queues; i++) {
		struct scenario_end e = {
			.stream = a % s->nr_streams,
			.q = {.slot = c & 1 ? i : i % 64,
			      .gen = i,
			      .instance = c & 2 ? i : 0,
			      .cntlid = c & 4 ? i : 1,
			      .qid = c & 8 ? 1 : i,
			      .name = c >> 4 & 3},
		};

		scenario_announce(s, &e);
	}
}

static inline void scenario_play(struct scenario *s, const uint8_t *p, size_t nr, bool repeated)
{
	for (size_t i = 0; i < nr && s->nr_steps < SCENARIO_STEPS_MAX; i++) {
		uint8_t a = p[4 * i + 1], b = p[4 * i + 2], c = p[4 * i + 3];

		s->nr_steps++;
		switch (p[4 * i] % STEPS_NR) {
		case STEP_COMMANDS:
		case STEP_MORE_COMMANDS:
			step_commands(s, a, b, c);
			break;
		case STEP_CONNECT:
			step_connect(s, a, b, c);
			break;
		case STEP_RECONNECT:
			step_reconnect(s, a, b, c);
			break;
		case STEP_WAIT:
			s->now += (uint64_t)(b + 1) << a % 40;
			break;
		case STEP_CLOCK:
			step_clock(s, a, b, c);
			break;
		case STEP_LAG:
			s->stream[a % s->nr_streams].lag = (uint64_t)b << c % 32;
			break;
		case STEP_SILENCE:
			s->stream[a % s->nr_streams].silent ^= true;
			break;
		case STEP_NONSENSE:
			step_nonsense(s, a, b);
			break;
		case STEP_QUEUES:
			step_queues(s, a, b, c);
			break;
		case STEP_REPEAT:
			/* The steps before this one, once they have been played. */
			for (unsigned int k = 0; !repeated && k < a; k++) {
				size_t back = b % 8 < i ? b % 8 : i;

				scenario_play(s, p + 4 * (i - back), back, true);
			}
			break;
		case STEP_EXPIRE:
			scenario_add(s, 0, SCENARIO_EXPIRE, s->now)->number = (uint64_t)b << a % 32;
			break;
		case STEP_LOSSES:
			scenario_add(s, a % s->nr_streams, STREAM_LOSSES, s->now)->number =
				(uint64_t)b << c % 64;
			break;
		}
	}
}

/* qsort() has no context. */
static const struct scenario_event *scenario_sorted;

static inline int scenario_earlier(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;
	uint64_t at_x = scenario_sorted[x].at, at_y = scenario_sorted[y].at;

	if (at_x != at_y)
		return at_x < at_y ? -1 : 1;
	return x < y ? -1 : 1;
}

/* @p: nothing, or one byte for the streams and one for how much there may be, then steps */
static inline void scenario_make(struct scenario *s, const uint8_t *p, size_t size)
{
	memset(s, 0, offsetof(struct scenario, event));
	s->nr_streams = size ? 1 + p[0] % SCENARIO_STREAMS : 1;
	s->max_queues =
		size > 1 && p[1] == SCENARIO_MANY ? SCENARIO_QUEUES_MANY : SCENARIO_QUEUES_MAX;
	s->now = 1000000000;
	s->random = 88172645463325252ULL;
	for (unsigned int i = 0; i < s->nr_streams; i++) {
		s->stream[i].side = i % 2 ? NT_TARGET : NT_HOST;
		s->stream[i].clock = i * 3600000000000ULL;
	}
	if (size > 2)
		scenario_play(s, p + 2, (size - 2) / 4, false);
	for (unsigned int i = 0; i < s->nr_events; i++)
		s->order[i] = i;
	scenario_sorted = s->event;
	qsort(s->order, s->nr_events, sizeof(s->order[0]), scenario_earlier);
}

/* What a stream says of the queue; names may be what no terminal should see. */
static inline struct queue_info scenario_queue_info(const struct scenario_queue *q,
						    enum nt_side side)
{
	static const char *const names[] = {"", "nqn.2024-01.org.example:a", "nqn.b\x1b[2J\xc3\xb6",
					    "=\xff%s\n,\"'"};
	struct queue_info i = {.slot = q->slot,
			       .gen = q->gen,
			       .instance = q->instance,
			       .cntlid = q->cntlid,
			       .qid = q->qid,
			       .sqsize = 127};

	/* A host may not know the names yet. */
	strcpy(i.subsysnqn, names[q->name]);
	strcpy(i.hostnqn, names[side == NT_HOST && q->name == 1 ? 0 : q->name]);
	strcpy(i.address, names[q->name]);
	return i;
}

#endif /* NTPROF_FUZZ_SCENARIO_H */
