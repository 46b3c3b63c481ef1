/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hosts and targets with clocks of their own, what they do, and the records of it.
 *
 * Each time that a command is sent has a number. Both sides' records carry the number where the
 * merge does not look: modulo IDS, it is the nanoseconds from submit to queue_rq on the host, and
 * from exec to done on the target.
 */
#ifndef TRUTH_SIMULATE_H
#define TRUTH_SIMULATE_H

#include <math.h>
#include <stdbool.h>

#include "stream.h"

#define IDS 16384
#define MS 1000000.0
#define SECOND (1000 * MS)
/* Value of a clock without an offset at true time 0. */
#define EPOCH (100000 * SECOND)
#define WALL 1700000000000000000LL
#define MACHINES_MAX 6
#define QUEUES_MAX 9
#define DEPTH_MAX 32
/* See "Queue (3)" of the document. */
#define NO_ID 65535

/*
 * @sequence: seed of the blocks and the times: two jobs with one seed have the same commands
 * @blocks: number of different blocks, read in order if @in_order; 0: any blocks
 * @gap: mean time from one command to the next; 0: a command begins when another one has ended
 * @regular: gaps vary by at most this part of them; 0: they are random
 */
struct job {
	uint64_t sequence;
	unsigned int blocks;
	bool in_order, writes, flushes;
	double gap, regular;
	double start, end;
	unsigned int most; /* number of commands */
};

struct recorded {
	double end;
	struct command c;
};

/* Times are nanoseconds of true time, except those in records. */
struct machine {
	unsigned int side;
	bool recorded;
	char name[16];
	unsigned int boot;
	double offset, ppm, wall_off;
	double jump_at, jump;
	double from, until; /* period of the recording */
	double loss, gap_from, gap_until;
	bool no_arrivals;
	double id_at; /* from when on the ids of controllers are known */
	struct recorded *r;
	unsigned int nr;
	uint64_t lost;
};

struct queue {
	struct machine *host, *target;
	const char *subsysnqn, *hostnqn;
	uint16_t qid, cntlid;
	uint32_t instance, slot[2], gen;
	unsigned int depth;
	bool no_generation, lowest_tag;
	struct job job;
	double reset_at, back_at; /* when the connection is lost, and when it is back */
	double network, device;
	double free_at[DEPTH_MAX];
	uint16_t uses[DEPTH_MAX];
};

/* @theme: set by the caller; @ids: numbers in use; @recorded: by side and number */
struct scenario {
	unsigned int theme;
	struct machine machine[MACHINES_MAX];
	struct queue queue[QUEUES_MAX];
	unsigned int nr_machines, nr_queues;
	unsigned int ids;
	bool recorded[2][IDS];
};

static uint64_t random_state;

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static double uniform_of(uint64_t *state)
{
	return (double)(next_random(state) >> 11) / (double)(1ULL << 53);
}

static double uniform(double from, double to)
{
	return from + (to - from) * uniform_of(&random_state);
}

static bool chance(double part)
{
	return uniform(0, 1) < part;
}

static unsigned int pick(unsigned int from, unsigned int to)
{
	return from + (unsigned int)uniform(0, to - from + 1);
}

static double waiting(uint64_t *state, double mean)
{
	return -mean * log(1 - uniform_of(state));
}

static double delay(double least, double mean)
{
	return least + waiting(&random_state, mean);
}

/* A random number with a uniform logarithm. */
static double scale(double from, double to)
{
	return exp(uniform(log(from), log(to)));
}

static uint64_t clock_of(const struct machine *m, double t)
{
	return (uint64_t)(EPOCH + m->offset + t + t * m->ppm / 1e6 +
			  (m->jump && t >= m->jump_at ? m->jump : 0));
}

static int64_t wall_of(const struct machine *m, double t)
{
	return WALL + (int64_t)(t + m->wall_off);
}

/* Neighbouring commands get numbers that are not neighbours. */
static unsigned int number_in_time(unsigned int id)
{
	return id * 5741 % IDS;
}

/* The first time not before @ns that carries @id, counted from @since. */
static uint64_t carry(uint64_t since, uint64_t ns, unsigned int id)
{
	uint64_t d = ns > since ? ns - since : 0;

	return since + d - d % IDS + number_in_time(id) + (d % IDS > number_in_time(id) ? IDS : 0);
}

static void keep(struct scenario *s, struct machine *m, const struct command *c, unsigned int id,
		 double begin, double end)
{
	bool out = begin < m->from || end > m->until;

	if (out || !m->recorded)
		return;
	if (chance(m->loss) || (end > m->gap_from && end < m->gap_until)) {
		m->lost++;
		return;
	}
	s->recorded[m->side][id] = true;
	m->r[m->nr].c = *c;
	/* Records of several CPUs are slightly out of order. */
	m->r[m->nr++].end = end + uniform(0, 50000);
}

/* Fills in command @n of the job. Return: the time to the next one. */
static double ask(const struct job *j, unsigned int n, struct command *c)
{
	uint64_t state = j->sequence + n;
	uint64_t block = next_random(&state) & 0xffffff, kind = next_random(&state) % 8;
	double gap = j->regular ? j->gap * (1 + j->regular * (2 * uniform_of(&state) - 1))
				: waiting(&state, j->gap);

	c->nsid = 1;
	if (j->flushes && kind == 7) {
		*c = (struct command){.op = OP_FLUSH, .shape = SHAPE_NO_DATA, .nsid = 1};
		return gap;
	}
	if (j->blocks)
		block = j->in_order ? n % j->blocks : block % j->blocks;
	c->op = c->opcode = OP_READ;
	c->opcode = 2;
	c->length = 4096;
	c->shape = SHAPE_READ;
	if (j->writes && kind < 3) {
		c->op = OP_WRITE;
		c->opcode = 1;
		c->length = kind ? 4096 : 65536;
		c->shape = kind ? SHAPE_INLINE_WRITE : SHAPE_R2T_WRITE;
	}
	c->lba = (block << 8) * 8;
	return gap;
}

/* The points of a command that was sent, in true time; 0: not reached */
struct course {
	double host[POINTS], target[POINTS];
};

static void run_course(const struct queue *q, uint8_t shape, double sent, struct course *v)
{
	double t = sent;

	v->host[H_SEND_CMD] = t;
	v->host[H_SENT_CMD] = t + delay(500, 1000);
	t = v->target[T_RX] = t + delay(8000, q->network);
	t = v->target[T_CMD] = t + delay(1000, 8000);
	if (shape == SHAPE_R2T_WRITE) {
		t = v->target[T_SEND_R2T] = t + delay(500, 3000);
		t = v->host[H_R2T_RX] = t + delay(8000, q->network);
		t = v->host[H_R2T] = t + delay(1000, 5000);
		t = v->host[H_SEND_DATA] = t + delay(500, 2000);
		v->host[H_SENT_DATA] = t + delay(500, 1000);
		t = v->target[T_DATA_RX] = t + delay(8000, q->network);
		t = v->target[T_DATA] = t + delay(1000, 5000);
		t = v->target[T_DATA_DONE] = t + delay(500, 2000);
	}
	t = v->target[T_EXEC] = t + delay(500, 2000);
	t = v->target[T_DONE] = t + delay(2 * IDS, q->device);
	t = v->target[T_SEND] = t + delay(1000, 5000);
	v->target[T_SENT] = t + delay(500, 2000);
	t = v->host[H_RX] = t + delay(8000, q->network);
	if (shape == SHAPE_READ)
		t = v->host[H_C2H] = t + delay(1000, 5000);
	t = v->host[H_CQE] = t + delay(1000, 2000);
	v->host[H_COMPLETE] = t + delay(1000, 3000);
}

/* Some points are moved to carry the number. Later points must not be before them. */
static void read_clock(const struct machine *m, const double *times, int from, struct command *c)
{
	uint64_t last = 0;

	for (int i = from; i < POINTS; i++) {
		if (!times[i])
			continue;
		c->points[i] = clock_of(m, times[i]);
		if (c->points[i] < last)
			c->points[i] = last + 1;
		last = c->points[i];
	}
}

static void record_host(struct scenario *s, const struct queue *q, struct command c,
			const struct course *v, double submit, unsigned int id)
{
	struct machine *m = q->host;

	c.slot = q->slot[HOST];
	read_clock(m, v->host, H_SEND_CMD, &c);
	c.points[H_SUBMIT] = clock_of(m, submit);
	c.points[H_QUEUE_RQ] = carry(c.points[H_SUBMIT], c.points[H_SEND_CMD] - 2 * IDS, id);
	if (m->no_arrivals)
		c.points[H_RX] = c.points[H_R2T_RX] = 0;
	keep(s, m, &c, id, submit, v->host[H_COMPLETE]);
}

static void record_target(struct scenario *s, const struct queue *q, struct command c,
			  const struct course *v, unsigned int id)
{
	struct machine *m = q->target;
	uint64_t done;

	c.slot = q->slot[TARGET];
	c.flags = 0;
	read_clock(m, v->target, 0, &c);
	done = carry(c.points[T_EXEC], c.points[T_DONE] - IDS, id);
	c.points[T_DONE] = done < c.points[T_SEND] ? done : c.points[T_DONE];
	if (m->no_arrivals)
		c.points[T_RX] = c.points[T_DATA_RX] = 0;
	keep(s, m, &c, id, v->target[T_RX], v->target[T_SENT]);
}

/* Return: when the tag is free again. */
static double run_command(struct scenario *s, struct queue *q, struct command *c, double at,
			  unsigned int tag)
{
	bool lost_connection;
	struct course v = {0};
	double submit = at;
	unsigned int id;

	at += delay(3 * IDS, 4000);
	if (at > q->reset_at && at < q->back_at)
		at = q->back_at + delay(0, MS);
	c->qid = q->qid;
	c->gen = q->gen + (at >= q->back_at);
	c->cntlid = q->cntlid;
	c->cid = (uint16_t)(tag | (q->no_generation ? 0 : q->uses[tag] << 12));
	id = s->ids++;
	run_course(q, c->shape, at, &v);
	lost_connection = at <= q->reset_at && v.host[H_COMPLETE] > q->reset_at;
	if (!lost_connection) {
		record_target(s, q, *c, &v, id);
		record_host(s, q, *c, &v, submit, id);
		q->uses[tag]++;
		return v.host[H_COMPLETE];
	}
	/*
	 * Even if the target has answered, the host sends the command again, with the id that it
	 * had.
	 */
	if (v.target[T_SENT] < q->back_at)
		record_target(s, q, *c, &v, id);
	id = s->ids++;
	at = q->back_at + delay(0, MS);
	v = (struct course){0};
	run_course(q, c->shape, at, &v);
	c->gen++;
	c->flags |= FLAG_REQUEUED;
	record_target(s, q, *c, &v, id);
	record_host(s, q, *c, &v, submit, id);
	q->uses[tag]++;
	return v.host[H_COMPLETE];
}

static unsigned int free_tag(const struct queue *q, unsigned int last, double at)
{
	unsigned int tag = q->lowest_tag ? 0 : last + 1, soonest = 0;

	for (unsigned int i = 0; i < q->depth; i++, tag++) {
		tag %= q->depth;
		if (q->free_at[tag] <= at)
			return tag;
		if (q->free_at[tag] < q->free_at[soonest])
			soonest = tag;
	}
	return soonest;
}

static void run_queue(struct scenario *s, struct queue *q)
{
	const struct job *j = &q->job;
	double at = j->start;
	unsigned int tag = 0;

	for (unsigned int n = 0; n < j->most && s->ids < IDS - 2; n++) {
		struct command c = {0};
		double gap = ask(j, n, &c), begin;

		tag = free_tag(q, tag, at);
		begin = at > q->free_at[tag] ? at : q->free_at[tag];
		if (begin > j->end)
			break;
		q->free_at[tag] = run_command(s, q, &c, begin, tag) + 20000;
		at = j->gap ? at + gap : begin;
	}
}

static int by_end(const void *a, const void *b)
{
	const struct recorded *x = a, *y = b;

	return x->end < y->end ? -1 : x->end > y->end;
}

/* Writes the queues as they are at true time @now. */
static void write_queues(struct writer *w, const struct scenario *s, const struct machine *m,
			 double now)
{
	for (unsigned int i = 0; i < s->nr_queues; i++) {
		const struct queue *q = &s->queue[i];
		struct command c = {.slot = q->slot[m->side],
				    .gen = q->gen + (now >= q->back_at),
				    .qid = q->qid,
				    .cntlid = now < m->id_at ? NO_ID : q->cntlid};

		if (q->host == m || q->target == m)
			write_queue(w, &c, m->side == HOST ? q->instance : q->slot[TARGET],
				    q->subsysnqn, q->hostnqn);
	}
}

/* Bits of the points that only the arrival of a packet gives. */
static uint32_t missing_of(const struct machine *m)
{
	if (!m->no_arrivals)
		return 0;
	return m->side == HOST ? 1 << H_RX | 1 << H_R2T_RX : 1 << T_RX | 1 << T_DATA_RX;
}

static void write_stream(const struct scenario *s, struct machine *m, const char *path)
{
	static struct writer w;
	double tick = m->nr ? m->r[0].end : 0, back = s->queue[0].back_at, told = 0;

	w = (struct writer){.f = fopen(path, "w")};
	if (!w.f) {
		perror(path);
		exit(2);
	}
	write_header(&w, m->side, m->name, m->boot, missing_of(m));
	write_queues(&w, s, m, told);
	for (unsigned int i = 0; i < m->nr; i++) {
		double now = m->r[i].end;

		for (; tick <= now; tick += 200 * MS)
			write_clock(&w, clock_of(m, tick), wall_of(m, tick));
		if ((told < back && now >= back) || (told < m->id_at && now >= m->id_at))
			write_queues(&w, s, m, told = now);
		if (now < m->id_at)
			m->r[i].c.cntlid = NO_ID;
		write_record(&w, &m->r[i].c);
	}
	if (told < m->id_at)
		write_queues(&w, s, m, m->id_at);
	write_end(&w, clock_of(m, tick), wall_of(m, tick), m->lost);
	fclose(w.f);
}

#endif /* TRUTH_SIMULATE_H */
