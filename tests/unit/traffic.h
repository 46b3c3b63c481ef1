/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Simulated NVMe/TCP traffic: the records that a host and a target make of the same commands, in
 * the order in which they make them, and which records belong together. The same configuration
 * gives the same records in every run.
 */
#ifndef NTPROF_TRAFFIC_H
#define NTPROF_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/device.h"
#include "shared/record.h"

/* Value of the clock when the simulation begins, so that no point is 0. */
#define TRAFFIC_EPOCH_NS 1000000000000ULL
#define TRAFFIC_STREAMS_MAX 6
#define TRAFFIC_QUEUES_MAX 64
/* Linux keeps the tag in the low 12 bits of a command id, and counts uses of the tag above them. */
#define TRAFFIC_TAG_BITS 12

/*
 * One side of one machine. Its clock reads TRAFFIC_EPOCH_NS + @offset_ns when the simulation
 * begins.
 */
struct traffic_stream {
	enum nt_side side;
	int64_t offset_ns;
	int drift_ppm;
};

/**
 * struct traffic_queue - one queue of one connection
 * @host, @target: indices of its two streams
 * @nqn: of the subsystem
 * @slot, @gen: as in both sides' records; the target's slot is 100 more
 * @target_gen: the target's generation, if it is another one; else 0
 * @depth: number of tags; all are busy
 * @start_ns, @end_ns: when it is used, from the beginning of the simulation; 0: always
 * @stall_ns, @stall_end_ns: a period. Responses that are sent in it arrive at its end. With
 *                           @stall_device, commands that reach the storage in it are done at its
 *                           end instead
 * @mirror: 1 + index of the queue with the same commands; 0: it has its own
 */
struct traffic_queue {
	unsigned int host, target;
	const char *nqn;
	uint16_t cntlid, qid;
	uint32_t slot, gen, target_gen, instance;
	unsigned int depth;
	uint64_t start_ns, end_ns;
	uint64_t stall_ns, stall_end_ns;
	bool stall_device;
	unsigned int mirror;
};

/**
 * struct traffic_config - what to simulate; copied, except the names of subsystems
 * @seed: not 0
 * @percent: of each shape; a tenth of the inline writes are discards
 * @same_content: all commands of a kind have one LBA; else each has its own
 * @hot_percent: percentage of the reads that are of one block
 * @late_percent, @late_ns: percentage of the responses that are delayed, and by how much; later
 *                          responses are not delayed
 * @regular: a step takes the same time in every command
 * @spread_percent: difference between the shortest and the longest time of a step as a percentage
 *                  of its average, without outliers; 0: 100
 * @network_ns, @device_ns, @think_ns: average times in one direction of the wire, in the target's
 *                                     storage, and between a completion and the tag's next use
 * @reorder_ns: how far records may come out of order
 * @commands: number of commands; 0: until all queues have ended
 */
struct traffic_config {
	struct traffic_stream stream[TRAFFIC_STREAMS_MAX];
	struct traffic_queue queue[TRAFFIC_QUEUES_MAX];
	unsigned int nr_streams, nr_queues;
	uint64_t seed;
	unsigned int percent[NT_SHAPES_NR];
	bool same_content;
	unsigned int hot_percent;
	unsigned int late_percent;
	uint64_t late_ns;
	bool regular;
	unsigned int spread_percent;
	uint64_t network_ns, device_ns, think_ns, reorder_ns;
	uint64_t commands;
};

/**
 * struct traffic_record - one record that comes out
 * @id: number of the command, from 0: equal in the two records of one command
 * @at_ns: when it comes out, by the simulation's own clock
 * @stream, @queue: indices into the configuration
 */
struct traffic_record {
	uint64_t id;
	uint64_t at_ns;
	unsigned int stream, queue;
	struct nt_record r;
};

/* A binary heap of future events. */
struct traffic_heap {
	struct traffic_event {
		uint64_t at_ns;
		unsigned int what;
	} * event;
	unsigned int nr, max;
};

enum traffic_state { TRAFFIC_IDLE, TRAFFIC_AT_TARGET };

/*
 * A tag and the command that uses it. Points are in the simulation's time until the record comes
 * out.
 */
struct traffic_tag {
	enum traffic_state state;
	unsigned int queue, tag, generation;
	struct traffic_tag *mirror;
	uint64_t free_at_ns;
	uint64_t id;
	struct nt_record host, target;
};

struct traffic {
	struct traffic_config config;
	uint64_t random;
	uint64_t commands;
	/* The ends of a TCP connection deliver in order. This is the latest time of each kind. */
	struct traffic_order {
		uint64_t sent, received, cmd, answered, answer_received;
	} order[TRAFFIC_QUEUES_MAX];
	struct traffic_tag *tag;
	unsigned int nr_tags;
	struct traffic_heap life; /* events of tags */
	struct traffic_heap out;  /* indices of @record */
	struct traffic_record *record;
	unsigned int *unused;
	unsigned int nr_unused, nr_records;
};

static inline void *traffic_must(void *p)
{
	if (!p)
		abort();
	return p;
}

static inline void traffic_push(struct traffic_heap *h, uint64_t at_ns, unsigned int what)
{
	unsigned int i = h->nr++;

	if (h->nr > h->max) {
		h->max = h->max ? 2 * h->max : 64;
		h->event = traffic_must(realloc(h->event, h->max * sizeof(*h->event)));
	}
	for (; i && h->event[(i - 1) / 2].at_ns > at_ns; i = (i - 1) / 2)
		h->event[i] = h->event[(i - 1) / 2];
	h->event[i] = (struct traffic_event){at_ns, what};
}

static inline struct traffic_event traffic_pop(struct traffic_heap *h)
{
	struct traffic_event top = h->event[0], last = h->event[--h->nr];
	unsigned int i = 0, child;

	while ((child = 2 * i + 1) < h->nr) {
		if (child + 1 < h->nr && h->event[child + 1].at_ns < h->event[child].at_ns)
			child++;
		if (h->event[child].at_ns >= last.at_ns)
			break;
		h->event[i] = h->event[child];
		i = child;
	}
	h->event[i] = last;
	return top;
}

/* xorshift64; the upper half, scaled to a number below @n. */
static inline uint64_t traffic_random(struct traffic *t, uint64_t n)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return (t->random >> 32) * n >> 32;
}

/*
 * The time of a step that takes @mean_ns on average. It is at least half of that, and rarely much
 * longer.
 */
static inline uint64_t traffic_step(struct traffic *t, uint64_t mean_ns)
{
	uint64_t r, spread = mean_ns;

	if (t->config.regular)
		return mean_ns;
	r = traffic_random(t, 1024);
	if (!r)
		return mean_ns * (2 + traffic_random(t, 16));
	if (t->config.spread_percent)
		spread = mean_ns * t->config.spread_percent / 100;
	return mean_ns - spread / 2 + spread * r / 1024;
}

static inline uint64_t traffic_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The time of @bytes on a wire of 10 Gbit/s. */
static inline uint64_t traffic_wire_ns(uint32_t bytes)
{
	return bytes * 4ULL / 5;
}

static inline uint64_t traffic_clock(const struct traffic_stream *s, uint64_t ns)
{
	int64_t since = (int64_t)(ns - TRAFFIC_EPOCH_NS);

	return ns + (uint64_t)(since / 1000 * s->drift_ppm / 1000 + s->offset_ns);
}

/* Chooses what the command asks for. */
static inline void traffic_content(struct traffic *t, struct traffic_tag *c)
{
	static const uint32_t r2t_lengths[] = {64 << 10, 128 << 10, 256 << 10, 512 << 10};
	struct nt_record *h = &c->host;
	unsigned int percent = (unsigned int)traffic_random(t, 100), shape = 0;

	while (shape < NT_SHAPE_NO_DATA && percent >= t->config.percent[shape])
		percent -= t->config.percent[shape++];
	h->shape = (uint8_t)shape;
	h->nsid = 1;
	/* 8 LBAs of 512 bytes each, far from 0 and not in the order of their numbers. */
	h->slba = t->config.same_content ? 4096 : (c->id * 2654435761ULL % (1ULL << 32)) * 8;
	switch (shape) {
	case NT_SHAPE_READ:
		h->op = NT_OP_READ;
		h->opcode = 2;
		h->length = 4096;
		if (t->config.hot_percent && traffic_random(t, 100) < t->config.hot_percent)
			h->slba = 4096;
		break;
	case NT_SHAPE_INLINE_WRITE:
		h->op = NT_OP_WRITE;
		h->opcode = 1;
		h->length = 4096;
		/* Dataset Management carries a list of ranges, and has no LBA of its own. */
		if (!t->config.same_content && !traffic_random(t, 10)) {
			h->op = NT_OP_DISCARD;
			h->opcode = 9;
			h->length = 16;
			h->slba = 0;
		}
		break;
	case NT_SHAPE_R2T_WRITE:
		h->op = NT_OP_WRITE;
		h->opcode = 1;
		h->length = r2t_lengths[t->config.same_content ? 0 : traffic_random(t, 4)];
		break;
	default:
		h->op = NT_OP_FLUSH;
		h->slba = 0;
		break;
	}
}

/* When something happens that is due at @at, if the queue may stall then. */
static inline uint64_t traffic_stalled(const struct traffic_queue *q, uint64_t at)
{
	uint64_t since = at - TRAFFIC_EPOCH_NS;

	return since < q->stall_ns || since >= q->stall_end_ns ? at
							       : TRAFFIC_EPOCH_NS + q->stall_end_ns;
}

/* From the beginning of the request until the target's storage is done. */
static inline void traffic_go(struct traffic *t, struct traffic_tag *c, uint64_t now)
{
	struct traffic_order *o = &t->order[c->queue];
	__u64 *h = c->host.points, *g = c->target.points;
	uint64_t net = t->config.network_ns;
	uint32_t capsule = c->host.shape == NT_SHAPE_INLINE_WRITE ? c->host.length : 0;

	h[NT_H_SUBMIT] = now;
	h[NT_H_QUEUE_RQ] = now + traffic_step(t, 1000);
	o->sent = traffic_max(o->sent + 300, h[NT_H_QUEUE_RQ] + traffic_step(t, 2000));
	h[NT_H_SEND_CMD] = o->sent;
	h[NT_H_SENT_CMD] = o->sent + traffic_step(t, 4000) + traffic_wire_ns(capsule);
	o->received = traffic_max(o->received, o->sent + traffic_step(t, net));
	g[NT_T_RX] = o->received;
	o->cmd = traffic_max(o->cmd + 200, g[NT_T_RX] + traffic_step(t, 5000));
	g[NT_T_CMD] = o->cmd;
	now = o->cmd;
	if (c->host.shape == NT_SHAPE_R2T_WRITE) {
		g[NT_T_SEND_R2T] = now + traffic_step(t, 2000);
		h[NT_H_R2T_RX] = g[NT_T_SEND_R2T] + traffic_step(t, net);
		h[NT_H_R2T] = h[NT_H_R2T_RX] + traffic_step(t, 5000);
		h[NT_H_SEND_DATA] = h[NT_H_R2T] + traffic_step(t, 3000);
		h[NT_H_SENT_DATA] = h[NT_H_SEND_DATA] + traffic_wire_ns(c->host.length);
		g[NT_T_DATA_RX] = h[NT_H_SEND_DATA] + traffic_step(t, net);
		g[NT_T_DATA] = g[NT_T_DATA_RX] + traffic_step(t, 5000);
		now = g[NT_T_DATA] + traffic_wire_ns(c->host.length);
		g[NT_T_DATA_DONE] = now;
	}
	g[NT_T_EXEC] = now + traffic_step(t, 2000);
	g[NT_T_DONE] = g[NT_T_EXEC] + traffic_step(t, t->config.device_ns);
	if (t->config.queue[c->queue].stall_device)
		g[NT_T_DONE] = traffic_stalled(&t->config.queue[c->queue], g[NT_T_DONE]);
}

/* From the target's storage to the host's completion. */
static inline void traffic_return(struct traffic *t, struct traffic_tag *c)
{
	struct traffic_order *o = &t->order[c->queue];
	__u64 *h = c->host.points, *g = c->target.points;
	uint64_t data = c->host.shape == NT_SHAPE_READ ? traffic_wire_ns(c->host.length) : 0;

	o->answered = traffic_max(o->answered + 200, g[NT_T_DONE] + traffic_step(t, 3000));
	g[NT_T_SEND] = o->answered;
	/*
	 * If an interrupt comes in between, the target may notice that the send has ended long
	 * after the host has the response.
	 */
	g[NT_T_SENT] = o->answered + traffic_step(t, traffic_random(t, 64) ? 4000 : 100000) + data;
	o->answer_received = traffic_max(o->answer_received,
					 o->answered + traffic_step(t, t->config.network_ns));
	if (!t->config.queue[c->queue].stall_device)
		o->answer_received =
			traffic_stalled(&t->config.queue[c->queue], o->answer_received);
	h[NT_H_RX] = o->answer_received;
	if (t->config.late_percent && traffic_random(t, 100) < t->config.late_percent)
		h[NT_H_RX] += t->config.late_ns;
	h[NT_H_CQE] = h[NT_H_RX] + traffic_step(t, 5000);
	if (c->host.shape == NT_SHAPE_READ) {
		h[NT_H_C2H] = h[NT_H_CQE];
		h[NT_H_CQE] += traffic_step(t, 1000) + data;
	}
	h[NT_H_COMPLETE] = h[NT_H_CQE] + traffic_step(t, 1000);
}

static inline void traffic_out(struct traffic *t, const struct traffic_tag *c, enum nt_side side)
{
	const struct traffic_queue *q = &t->config.queue[c->queue];
	const struct nt_record *from = side == NT_HOST ? &c->host : &c->target;
	struct traffic_record *out;
	unsigned int i;

	if (!t->nr_unused) {
		unsigned int nr = t->nr_records ? 2 * t->nr_records : 256;

		t->record = traffic_must(realloc(t->record, nr * sizeof(*t->record)));
		t->unused = traffic_must(realloc(t->unused, nr * sizeof(*t->unused)));
		while (t->nr_records < nr)
			t->unused[t->nr_unused++] = t->nr_records++;
	}
	i = t->unused[--t->nr_unused];
	out = &t->record[i];
	out->id = c->id;
	out->queue = c->queue;
	out->stream = side == NT_HOST ? q->host : q->target;
	out->r = c->host;
	out->r.side = (uint8_t)side;
	out->r.slot = side == NT_HOST ? q->slot : q->slot + 100;
	out->r.gen = side == NT_HOST || !q->target_gen ? q->gen : q->target_gen;
	for (unsigned int p = 0; p < NT_POINTS_MAX; p++)
		out->r.points[p] = !from->points[p] ? 0
						    : traffic_clock(&t->config.stream[out->stream],
								    from->points[p]);
	out->at_ns = from->points[side == NT_HOST ? NT_H_COMPLETE : NT_T_SENT];
	if (t->config.reorder_ns)
		out->at_ns += traffic_random(t, t->config.reorder_ns);
	traffic_push(&t->out, out->at_ns, i);
}

static inline void traffic_submit(struct traffic *t, struct traffic_tag *c, uint64_t now,
				  const struct traffic_tag *like)
{
	const struct traffic_queue *q = &t->config.queue[c->queue];

	c->state = TRAFFIC_AT_TARGET;
	c->id = t->commands++;
	memset(&c->host, 0, sizeof(c->host));
	memset(c->target.points, 0, sizeof(c->target.points));
	if (like) {
		c->host = like->host;
		memset(c->host.points, 0, sizeof(c->host.points));
	} else {
		traffic_content(t, c);
	}
	c->host.cntlid = q->cntlid;
	c->host.qid = q->qid;
	c->host.gen = q->gen;
	c->host.cid = (uint16_t)(++c->generation << TRAFFIC_TAG_BITS | c->tag);
	traffic_go(t, c, now);
	traffic_push(&t->life, c->target.points[NT_T_DONE], (unsigned int)(c - t->tag));
}

/* The next event of a tag: its command is submitted, or the target's storage is done with it. */
static inline void traffic_live(struct traffic *t, struct traffic_event e)
{
	struct traffic_tag *c = &t->tag[e.what];
	const struct traffic_queue *q = &t->config.queue[c->queue];

	if (c->state == TRAFFIC_IDLE) {
		if ((t->config.commands && t->commands >= t->config.commands) ||
		    (q->end_ns && e.at_ns >= TRAFFIC_EPOCH_NS + q->end_ns))
			return;
		traffic_submit(t, c, e.at_ns, NULL);
		if (c->mirror)
			traffic_submit(t, c->mirror, e.at_ns, c);
		return;
	}
	traffic_return(t, c);
	traffic_out(t, c, NT_HOST);
	traffic_out(t, c, NT_TARGET);
	c->state = TRAFFIC_IDLE;
	c->free_at_ns = c->host.points[NT_H_COMPLETE];
	/* A mirrored command and its mirror are both done before the next one begins. */
	if (c->mirror) {
		if (c->mirror->state != TRAFFIC_IDLE)
			return;
		c->mirror->free_at_ns = c->free_at_ns =
			traffic_max(c->free_at_ns, c->mirror->free_at_ns);
		if (q->mirror)
			c = c->mirror;
	}
	traffic_push(&t->life, c->free_at_ns + traffic_step(t, t->config.think_ns),
		     (unsigned int)(c - t->tag));
}

/* Never fails. */
static inline struct traffic *traffic_new(const struct traffic_config *config)
{
	struct traffic *t = traffic_must(calloc(1, sizeof(*t)));
	unsigned int first[TRAFFIC_QUEUES_MAX], n = 0;

	t->config = *config;
	t->random = config->seed;
	for (unsigned int i = 0; i < config->nr_queues; i++)
		t->nr_tags += config->queue[i].depth;
	t->tag = traffic_must(calloc(t->nr_tags, sizeof(*t->tag)));
	for (unsigned int i = 0; i < config->nr_queues; i++) {
		const struct traffic_queue *q = &config->queue[i];

		first[i] = n;
		for (unsigned int tag = 0; tag < q->depth; tag++, n++) {
			t->tag[n].queue = i;
			t->tag[n].tag = tag;
			if (q->mirror) {
				t->tag[n].mirror = &t->tag[first[q->mirror - 1] + tag];
				t->tag[n].mirror->mirror = &t->tag[n];
				continue;
			}
			traffic_push(&t->life,
				     TRAFFIC_EPOCH_NS + q->start_ns +
					     traffic_step(t, 1 + config->think_ns),
				     n);
		}
	}
	return t;
}

/* Gives the next record, in the order of at_ns. Return: false when there are no more */
static inline bool traffic_next(struct traffic *t, struct traffic_record *out)
{
	struct traffic_event e;

	/*
	 * A record comes out after the events that made it. So a record is next if its time is not
	 * after that of the next event.
	 */
	while (t->life.nr && !(t->out.nr && t->out.event[0].at_ns <= t->life.event[0].at_ns))
		traffic_live(t, traffic_pop(&t->life));
	if (!t->out.nr)
		return false;
	e = traffic_pop(&t->out);
	*out = t->record[e.what];
	t->unused[t->nr_unused++] = e.what;
	return true;
}

/* What a stream of @side says about queue @i. */
static inline struct queue_info traffic_stream_queue(const struct traffic_config *config,
						     unsigned int i, enum nt_side side)
{
	const struct traffic_queue *q = &config->queue[i];
	struct queue_info s = {
		.slot = side == NT_HOST ? q->slot : q->slot + 100,
		.gen = side == NT_HOST || !q->target_gen ? q->gen : q->target_gen,
		.instance = side == NT_HOST ? q->instance : 10 + i,
		.cntlid = q->cntlid,
		.qid = q->qid,
		.sqsize = (uint16_t)(q->depth - 1),
		.address = "traddr=192.0.2.1,trsvcid=4420",
	};

	snprintf(s.subsysnqn, sizeof(s.subsysnqn), "%s", q->nqn);
	snprintf(s.hostnqn, sizeof(s.hostnqn), "nqn.2014-08.org.nvmexpress:uuid:host%u", q->host);
	return s;
}

static inline void traffic_free(struct traffic *t)
{
	free(t->life.event);
	free(t->out.event);
	free(t->record);
	free(t->unused);
	free(t->tag);
	free(t);
}

/*
 * One host, one target and one queue, with commands of all shapes, and enough of them to be
 * matched.
 */
static inline struct traffic_config traffic_of_one_queue(void)
{
	return (struct traffic_config){
		.stream = {{NT_HOST, 0, 0}, {NT_TARGET, 50000000000LL, 0}},
		.nr_streams = 2,
		.queue = {{.target = 1,
			   .nqn = "nqn.2024-01.org.example:one",
			   .cntlid = 1,
			   .qid = 1,
			   .slot = 1,
			   .gen = 1,
			   .depth = 8}},
		.nr_queues = 1,
		.seed = 7,
		.percent = {40, 20, 30, 10},
		.network_ns = 20000,
		.device_ns = 100000,
		.think_ns = 50000,
		.commands = 500,
	};
}

#endif /* NTPROF_TRAFFIC_H */
