// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs with one fault each, and healthy ones: does `report --why` name the fault, and blame nothing
 * where there is none?
 *
 *   faults PROGRAM RUNS HEALTHY_RUNS
 *   faults PROGRAM FAULT RUN FOLDER       one run; its streams stay in FOLDER
 *
 * Hosts, queues, workers, the network and disks are simulated as servers that do one thing after
 * the other. The streams are written from docs/stream-format.md alone. Prints a table: the faults
 * down, the verdicts across.
 */
#include <math.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stream.h"

#define US 1000.0
#define MS 1000000.0
#define SECOND (1000 * MS)
#define WALL 1700000000000000000LL
#define HOSTS_MAX 2
#define ARRAYS_MAX 8
#define QUEUES_MAX 64
#define COMMANDS_MAX 60000
#define SERVERS_MAX 32
#define DEPTH_MAX 256

enum fault {
	HEALTHY,
	RESET,
	LOSS,
	R2T,
	NEIGHBOUR,
	FEW_QUEUES,
	ONE_ARRAY,
	ONE_QUEUE,
	LARGE,
	DEEP,
	WINDOW,
	BUFFER,
	CWND,
	BLOCK_LAYER,
	HOST_WORKER,
	TARGET_WORKER,
	DISK,
	NETWORK,
	FAULTS_NR
};

/* As the program names them; the last two are verdicts without a cause. */
static const char *const verdicts[] = {
	"healthy",   "reset",	    "loss",	   "r2t",	    "neighbour", "few_queues",
	"one_array", "one_queue",   "size",	   "depth",	    "window",	 "buffer",
	"cwnd",	     "block_layer", "host_worker", "target_worker", "disk",	 "network",
	"far",	     "mixed",	    "not_known",
};
#define VERDICTS_NR (sizeof(verdicts) / sizeof(verdicts[0]))

/* A part of a machine that does one thing at a time, or as many as it has servers. */
struct server {
	double free_at[SERVERS_MAX];
	unsigned int nr;
};

/* @resent: how often it was sent again: events of the time before are void */
struct flight {
	bool busy;
	unsigned int resent;
	struct command c;
	double host[POINTS], target[POINTS];
};

/* @gap: mean time between commands; 0: one begins when another has ended */
struct queue {
	unsigned int host, array;
	uint16_t qid;
	unsigned int depth;
	double gap;
	struct flight flight[DEPTH_MAX];
	uint16_t uses[DEPTH_MAX];
	struct server host_worker, target_worker;
};

/* What happens to a command, or to a queue, next. */
enum step {
	ARRIVE,
	SUBMIT,
	QUEUE_RQ,
	SEND,
	TARGET_RX,
	TARGET_CMD,
	R2T_RX,
	R2T_SEEN,
	DATA_RX,
	DATA_SEEN,
	EXEC,
	DONE,
	RESPOND,
	HOST_RX,
	COMPLETE,
	LOSE
};

struct event {
	double at;
	enum step step;
	unsigned int queue, tag, resent;
};

/* @burst: how many arrivals are a burst, @one_has_bursts: those of the second array alone; @begun:
 * commands; @back_at: end of the last reset; @needless: what is sent again had arrived */
struct run {
	enum fault fault;
	unsigned int nr_hosts, nr_arrays, nr_queues, queues;
	unsigned int most, begun;
	double writes, large, burst, back_at;
	bool one_has_bursts;
	bool needless;
	uint32_t small_size, large_size, inline_most;
	double network, disk, sigma;
	bool exponential;
	double worker;
	double rtt_per_kib;
	struct server array[ARRAYS_MAX];
	struct queue queue[QUEUES_MAX];
	double reset[8];
	unsigned int nr_resets;
	double busy_from[64], busy_until[64]; /* when the neighbour is there */
	unsigned int nr_busy;
	double offset[HOSTS_MAX + 1];
};

struct recorded {
	double end;
	struct command c;
};

static struct recorded recorded[HOSTS_MAX + 1][COMMANDS_MAX * 2];
static unsigned int nr_recorded[HOSTS_MAX + 1];
static uint64_t state;

static double uniform(double from, double to)
{
	uint64_t x = state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	x ^= x >> 31;
	return from + (to - from) * ((double)(x >> 11) / (double)(1ULL << 53));
}

static bool chance(double part)
{
	return uniform(0, 1) < part;
}

static double waiting(double mean)
{
	return -mean * log(1 - uniform(0, 1));
}

static double lognormal(double median, double sigma)
{
	return median *
	       exp(sigma * sqrt(-2 * log(1 - uniform(0, 1))) * cos(2 * M_PI * uniform(0, 1)));
}

static unsigned int pick(unsigned int from, unsigned int to)
{
	return from + (unsigned int)uniform(0, to - from + 0.999);
}

/* Return: when a server has done what came at @at and takes @takes. */
static double serve(struct server *s, double at, double takes)
{
	unsigned int first = 0;

	for (unsigned int i = 1; i < s->nr; i++)
		if (s->free_at[i] < s->free_at[first])
			first = i;
	if (s->free_at[first] > at)
		at = s->free_at[first];
	return s->free_at[first] = at + takes;
}

/* The faults, each where it acts. */

static double in_block_layer(const struct run *r)
{
	double t = uniform(500, 1500);

	return r->fault == BLOCK_LAYER && chance(0.03) ? t + uniform(3 * MS, 12 * MS) : t;
}

/* When a machine's TCP sent something of a queue again. */
static struct resent {
	double at;
	unsigned int machine, queue;
} resent[2 * COMMANDS_MAX];
static unsigned int nr_resent;

static double at_worker(const struct run *r, const struct queue *q, double at, bool host)
{
	double t = lognormal(r->worker, 0.3), late = 0;

	if (r->fault == (host ? HOST_WORKER : TARGET_WORKER) && chance(0.01))
		late = uniform(2 * MS, 6 * MS);
	if (r->fault == ONE_QUEUE && host && q == &r->queue[1] && chance(0.3))
		late = uniform(1 * MS, 3 * MS);
	/* What has arrived is not acknowledged meanwhile, so the other side sends it again. */
	if (late > 0 && r->needless)
		resent[nr_resent++] = (struct resent){
			.at = at + late / 2,
			.machine = host ? r->nr_hosts : q->host,
			.queue = (unsigned int)(q - r->queue),
		};
	return t + late;
}

/* In some times what the target sends is limited. */
#define TCP_EVERY (10 * MS)
static bool is_limited(const struct run *r, double at)
{
	return r->fault >= WINDOW && r->fault <= CWND && (unsigned int)(at / TCP_EVERY) % 8 == 3;
}

/* @sender: HOST or TARGET */
static double on_wire(const struct run *r, unsigned int queue, unsigned int sender, double at,
		      uint32_t bytes)
{
	double t = r->network + waiting(r->network / 10) + bytes / 1024.0 * r->rtt_per_kib;

	if (r->fault == LOSS && chance(0.02)) {
		double late = uniform(3 * MS, 12 * MS);

		resent[nr_resent++] = (struct resent){
			.at = at + late,
			.machine = sender == HOST ? r->queue[queue].host : r->nr_hosts,
			.queue = queue,
		};
		return t + late;
	}
	if (sender == TARGET && is_limited(r, at) && chance(0.5))
		return t + uniform(3 * MS, 12 * MS);
	return r->fault == NETWORK && chance(0.02) ? t + uniform(3 * MS, 12 * MS) : t;
}

static double at_disk(const struct run *r, const struct queue *q)
{
	double t = r->exponential ? r->disk / 4 + waiting(r->disk) : lognormal(r->disk, r->sigma);

	if (r->fault == ONE_ARRAY && q->array == 1)
		t *= 12;
	return r->fault == DISK && chance(0.03) ? t + uniform(5 * MS, 30 * MS) : t;
}

static uint64_t clock_of(const struct run *r, unsigned int machine, double t)
{
	return (uint64_t)(100000 * SECOND + r->offset[machine] + t);
}

static void keep(const struct run *r, unsigned int machine, struct command c, const double *times)
{
	struct recorded *to = &recorded[machine][nr_recorded[machine]++];

	to->end = 0;
	for (unsigned int i = 0; i < POINTS; i++)
		c.points[i] = times[i] ? clock_of(r, machine, times[i]) : 0;
	for (unsigned int i = 0; i < POINTS; i++)
		to->end = times[i] > to->end ? times[i] : to->end;
	to->c = c;
}

/* Events are a heap, the next one first. */
static struct event event[QUEUES_MAX * (DEPTH_MAX + 1) * 2];
static unsigned int nr_events;

static void plan(double at, enum step step, unsigned int queue, unsigned int tag,
		 unsigned int resent)
{
	unsigned int i = nr_events++;

	for (; i && event[(i - 1) / 2].at > at; i = (i - 1) / 2)
		event[i] = event[(i - 1) / 2];
	event[i] = (struct event){at, step, queue, tag, resent};
}

static struct event next_event(void)
{
	struct event first = event[0], last = event[--nr_events];
	unsigned int i = 0;

	for (unsigned int child; (child = 2 * i + 1) < nr_events; i = child) {
		child += child + 1 < nr_events && event[child + 1].at < event[child].at;
		if (event[child].at >= last.at)
			break;
		event[i] = event[child];
	}
	event[i] = last;
	return first;
}

static void begin(struct run *r, unsigned int queue, unsigned int tag, double at)
{
	struct queue *q = &r->queue[queue];
	struct flight *f = &q->flight[tag];
	bool write = chance(r->writes);

	*f = (struct flight){.busy = true, .resent = f->resent};
	f->c = (struct command){
		.nsid = 1,
		.qid = q->qid,
		.cntlid = (uint16_t)(1 + q->host * ARRAYS_MAX + q->array),
		.length = chance(r->large) ? r->large_size : r->small_size,
		.op = write ? OP_WRITE : OP_READ,
		.opcode = write ? 1 : 2,
		.lba = (uint64_t)uniform(0, 1e9) * 8,
		.cid = (uint16_t)(tag | q->uses[tag]++ << 12),
		.slot = queue,
		.gen = 1,
	};
	if (r->fault == NEIGHBOUR && q->host == 1)
		f->c.length = 131072;
	f->c.shape = !write			    ? SHAPE_READ
		     : f->c.length > r->inline_most ? SHAPE_R2T_WRITE
						    : SHAPE_INLINE_WRITE;
	r->begun++;
	plan(at, SUBMIT, queue, tag, f->resent);
}

/* One command more, or with a fault of depth now and then many. */
static void arrive(struct run *r, unsigned int queue, double at)
{
	struct queue *q = &r->queue[queue];
	bool bursts = r->burst > 0 && (!r->one_has_bursts || q->array == 1);
	unsigned int nr = bursts && chance(r->burst) ? pick(40, 90) : 1;

	for (unsigned int tag = 0; tag < q->depth && nr; tag++) {
		if (q->flight[tag].busy)
			continue;
		begin(r, queue, tag, at);
		nr--;
	}
	plan(at + waiting(q->gap), ARRIVE, queue, 0, 0);
}

/* When the neighbour is there next. */
static double when_busy(const struct run *r, double at)
{
	for (unsigned int i = 0; i < r->nr_busy; i++)
		if (at < r->busy_until[i])
			return at > r->busy_from[i] ? at : r->busy_from[i];
	return -1;
}

static void complete(struct run *r, unsigned int queue, unsigned int tag, double at)
{
	struct queue *q = &r->queue[queue];
	struct flight *f = &q->flight[tag];
	uint32_t flags = f->c.flags;

	keep(r, q->host, f->c, f->host);
	f->c.flags = 0;
	keep(r, r->nr_hosts, f->c, f->target);
	f->c.flags = flags;
	f->busy = false;
	at += uniform(1000, 5000);
	if (r->fault == NEIGHBOUR && q->host == 1)
		at = when_busy(r, at);
	if (!q->gap && at >= 0)
		begin(r, queue, tag, at);
}

/* All connections are lost: what is in flight is sent again later. */
static void lose(struct run *r, double at)
{
	double back = at + uniform(400 * MS, 700 * MS);

	r->back_at = back;
	for (unsigned int i = 0; i < r->nr_queues; i++) {
		for (unsigned int tag = 0; tag < r->queue[i].depth; tag++) {
			struct flight *f = &r->queue[i].flight[tag];
			double submit = f->host[H_SUBMIT];

			if (!f->busy || !submit)
				continue;
			f->resent++;
			memset(f->host, 0, sizeof(f->host));
			memset(f->target, 0, sizeof(f->target));
			f->host[H_SUBMIT] = submit;
			f->c.flags = FLAG_REQUEUED;
			plan(back + uniform(0, MS), QUEUE_RQ, i, tag, f->resent);
		}
	}
}

static void step(struct run *r, const struct event *e)
{
	struct queue *q = &r->queue[e->queue];
	struct flight *f = &q->flight[e->tag];
	double at = e->at, *h = f->host, *t = f->target, next = at;
	uint8_t shape = f->c.shape;
	enum step then = e->step + 1;

	switch (e->step) {
	case SUBMIT:
		h[H_SUBMIT] = at;
		next = at + in_block_layer(r);
		break;
	case QUEUE_RQ:
		/* Nothing is sent while there is no connection. */
		next = h[H_QUEUE_RQ] = at < r->back_at ? r->back_at : at;
		next = serve(&q->host_worker, next, at_worker(r, q, at, true));
		break;
	case SEND:
		h[H_SEND_CMD] = at;
		h[H_SENT_CMD] = at + 300;
		next = at + on_wire(r, e->queue, HOST, at,
				    shape == SHAPE_INLINE_WRITE ? f->c.length : 0);
		break;
	case TARGET_RX:
		t[T_RX] = at;
		next = serve(&q->target_worker, at, at_worker(r, q, at, false));
		break;
	case TARGET_CMD:
		t[T_CMD] = at;
		next = at + 500;
		then = EXEC;
		if (shape != SHAPE_R2T_WRITE)
			break;
		t[T_SEND_R2T] = at + 500;
		next = at + 500 + on_wire(r, e->queue, TARGET, at, 0);
		then = R2T_RX;
		break;
	case R2T_RX:
		h[H_R2T_RX] = at;
		next = serve(&q->host_worker, at, at_worker(r, q, at, true));
		break;
	case R2T_SEEN:
		h[H_R2T] = at;
		h[H_SEND_DATA] = at + 200;
		h[H_SENT_DATA] = at + 300;
		next = at + 200 + on_wire(r, e->queue, HOST, at, f->c.length);
		break;
	case DATA_RX:
		t[T_DATA_RX] = at;
		next = serve(&q->target_worker, at, at_worker(r, q, at, false));
		break;
	case DATA_SEEN:
		t[T_DATA] = at;
		t[T_DATA_DONE] = at + 300;
		next = at + 500;
		break;
	case EXEC:
		t[T_EXEC] = at;
		next = serve(&r->array[q->array], at, at_disk(r, q));
		break;
	case DONE:
		t[T_DONE] = at;
		next = serve(&q->target_worker, at, at_worker(r, q, at, false));
		break;
	case RESPOND:
		t[T_SEND] = at;
		t[T_SENT] = at + 300;
		next = at + on_wire(r, e->queue, TARGET, at, shape == SHAPE_READ ? f->c.length : 0);
		break;
	case HOST_RX:
		h[H_RX] = at;
		next = serve(&q->host_worker, at, at_worker(r, q, at, true));
		break;
	case COMPLETE:
		h[H_C2H] = shape == SHAPE_READ ? at : 0;
		h[H_CQE] = at + 300;
		h[H_COMPLETE] = at + uniform(500, 1500);
		complete(r, e->queue, e->tag, h[H_COMPLETE]);
		return;
	default:
		return;
	}
	plan(next, then, e->queue, e->tag, e->resent);
}

static void run_all(struct run *r)
{
	nr_events = 0;
	for (unsigned int i = 0; i < r->nr_queues; i++) {
		struct queue *q = &r->queue[i];
		double at = r->fault == NEIGHBOUR && q->host == 1 ? when_busy(r, 0) : 0;

		if (q->gap)
			plan(waiting(q->gap), ARRIVE, i, 0, 0);
		for (unsigned int k = 0; !q->gap && k < q->depth; k++)
			begin(r, i, k, at + uniform(0, MS));
	}
	for (unsigned int i = 0; i < r->nr_resets; i++)
		plan(r->reset[i], LOSE, 0, 0, 0);
	while (nr_events && r->begun < r->most) {
		struct event e = next_event();

		if (e.step == ARRIVE)
			arrive(r, e.queue, e.at);
		else if (e.step == LOSE)
			lose(r, e.at);
		else if (e.resent == r->queue[e.queue].flight[e.tag].resent)
			step(r, &e);
	}
}

/* The load: all that is chosen at random, healthy or not. */
static void set_up(struct run *r, enum fault fault, unsigned int shape)
{
	bool closed = shape % 2;

	memset(r, 0, sizeof(*r));
	r->fault = fault;
	r->nr_hosts = fault == NEIGHBOUR ? 2 : 1;
	r->one_has_bursts = fault == DEEP && shape % 2;
	r->nr_arrays = fault == ONE_ARRAY   ? pick(3, 6)
		       : fault == NEIGHBOUR ? 1
		       : r->one_has_bursts  ? pick(2, 4)
					    : pick(1, 2);
	r->needless = (fault == ONE_QUEUE || fault == HOST_WORKER || fault == TARGET_WORKER) &&
		      shape % 3 == 0;
	/* Of a controller with nine. One of them alone is not a fault. */
	r->queues = fault == FEW_QUEUES ? 1 : pick(fault == ONE_QUEUE ? 4 : 2, 6);
	if (fault != ONE_QUEUE && shape % 4 == 2)
		r->queues = 1;
	r->most = pick(20000, 30000);
	r->small_size = 4096;
	r->large_size = 65536;
	r->inline_most = 8192;
	r->writes = chance(0.5) ? uniform(0.1, 0.4) : 0;
	r->network = uniform(10, 40) * US;
	r->disk = uniform(60, 200) * US;
	r->sigma = uniform(0.1, 0.5);
	r->worker = uniform(1, 3) * US;
	r->rtt_per_kib = 80;
	if (fault == HEALTHY) {
		r->exponential = shape % 5 == 2;
		r->large = shape % 5 == 3 ? uniform(0.05, 0.3) : 0;
		r->nr_hosts = shape % 7 == 3 ? 2 : 1;
		r->sigma = shape % 5 == 4 ? uniform(0.5, 0.9) : r->sigma;
		if (shape % 10 == 5)
			r->disk = uniform(2, 8) * MS;
		if (shape % 10 == 6)
			r->network = uniform(0.3, 2) * MS;
	}
	if (fault == R2T) {
		r->writes = uniform(0.6, 1);
		r->large = uniform(0.03, 0.1);
		r->large_size = 16384;
		r->network = uniform(200, 500) * US;
		r->disk = uniform(20, 60) * US;
	}
	if (fault == LARGE) {
		r->large = uniform(0.02, 0.1);
		r->large_size = 1 << 20;
		r->rtt_per_kib = 1000;
		r->writes = 0;
	}
	for (unsigned int a = 0; a < r->nr_arrays; a++)
		r->array[a].nr = fault == DEEP ? 2 : 24;
	for (unsigned int h = 0; h < r->nr_hosts; h++) {
		for (unsigned int a = 0; a < r->nr_arrays; a++) {
			for (unsigned int k = 0; k < r->queues; k++) {
				struct queue *q = &r->queue[r->nr_queues++];

				q->host = h;
				q->array = a;
				q->qid = (uint16_t)(k + 1);
				q->depth = closed ? pick(1, 8) : 128;
				q->gap = closed ? 0 : uniform(8, 20) * r->disk;
				q->host_worker.nr = q->target_worker.nr = 1;
			}
		}
	}
	for (unsigned int i = 0; i < r->nr_queues; i++) {
		struct queue *q = &r->queue[i];

		if (fault == DEEP) {
			q->depth = 128;
			q->gap = uniform(4, 8) * r->disk * r->nr_queues / 2;
			r->burst = 0.004;
		}
		if (fault == FEW_QUEUES) {
			/* Bursts of what one worker has to do alone. */
			r->worker = 12 * US;
			r->disk = uniform(40, 100) * US;
			q->depth = 128;
			q->gap = 60 * US;
			r->burst = 0.002;
		}
		if (fault == NEIGHBOUR && q->host == 1) {
			q->depth = 32;
			q->gap = 0;
		}
		if (fault == NEIGHBOUR && q->host == 0) {
			q->depth = 2;
			q->gap = 0;
		}
	}
	if (fault == NEIGHBOUR) {
		double at = 0;

		r->array[0].nr = 4;
		r->writes = 0;
		for (r->nr_busy = 0; r->nr_busy < 64; r->nr_busy++) {
			at = r->busy_from[r->nr_busy] = at + uniform(150, 300) * MS;
			at = r->busy_until[r->nr_busy] = at + uniform(5, 15) * MS;
		}
	}
	if (fault == RESET) {
		unsigned int all = 0;
		double length;

		r->disk = uniform(1, 2) * MS;
		for (unsigned int i = 0; i < r->nr_queues; i++) {
			r->queue[i].gap = 0;
			r->queue[i].depth = r->nr_queues < 6 ? 64 : 16;
			all += r->queue[i].depth;
		}
		/* The disks have 24 servers each. */
		length = r->most * r->disk * 1.2 /
			 (all < 24 * r->nr_arrays ? all : 24 * r->nr_arrays);
		r->nr_resets = 1 + r->most / 40 / all;
		r->nr_resets = r->nr_resets > 8 ? 8 : r->nr_resets;
		for (unsigned int i = 0; i < r->nr_resets; i++)
			r->reset[i] = length * (i + 0.5) / r->nr_resets + i * 700 * MS;
	}
	for (unsigned int m = 0; m <= r->nr_hosts; m++)
		r->offset[m] = uniform(0, 1000) * SECOND;
}

static int by_end(const void *a, const void *b)
{
	const struct recorded *x = a, *y = b;

	return x->end < y->end ? -1 : x->end > y->end;
}

static int by_time(const void *a, const void *b)
{
	const struct resent *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* After @from, until @until. Return: how many */
static unsigned int write_resent(struct writer *w, const struct run *r, unsigned int machine,
				 unsigned int queue, double from, double until)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < nr_resent && resent[i].at <= until; i++) {
		if (resent[i].machine != machine || resent[i].queue != queue ||
		    resent[i].at <= from)
			continue;
		put(w, queue, 4);
		put(w, 1, 4);
		put(w, clock_of(r, machine, resent[i].at), 8);
		end_frame(w, FRAME_RESENT);
		nr++;
	}
	return nr;
}

/* The states of all queues, which read 1,000 jiffies a second, at the end of each time. */
static void write_states(struct writer *w, const struct run *r, unsigned int machine, double end)
{
	const uint64_t jiffies = TCP_EVERY / MS;
	bool is_target = machine == r->nr_hosts;

	for (unsigned int q = 0; q < r->nr_queues; q++) {
		uint64_t limited = 0;
		unsigned int again = 0;

		for (unsigned int i = 0; i * TCP_EVERY < end + TCP_EVERY && i < 8000; i++) {
			double at = i * TCP_EVERY;
			bool now = is_target && i && is_limited(r, at - TCP_EVERY / 2);
			bool cwnd = now && r->fault == CWND;

			limited += now ? jiffies * 9 / 10 : 0;
			again += write_resent(w, r, machine, q, at - TCP_EVERY, at);
			put(w, q, 4);
			put(w, 1, 4);
			put(w, clock_of(r, machine, at), 8);
			put(w, 50, 4);
			put(w, 10, 4);
			put(w, 10, 4);
			put(w, 0x7fffffff, 4);
			put(w, cwnd ? 10 : 1, 4);
			put(w, 0, 4);
			put(w, 0, 4);
			put(w, again, 4);
			put(w, 1448, 4);
			put(w, 65536, 4);
			put(w, cwnd ? 30000 : 1000, 4);
			put(w, cwnd ? 15520 : 0, 4);
			put(w, i * jiffies, 4);
			put(w, r->fault == WINDOW ? limited : 0, 4);
			put(w, r->fault == BUFFER ? limited : 0, 4);
			put(w, 1000000 + i * jiffies, 8);
			put(w, i * 100000, 8);
			put(w, 0, 8);
			put(w, ~0ULL, 8);
			put_string(w, "cubic");
			put(w, r->needless ? again : 0, 4);
			end_frame(w, FRAME_TCP);
		}
	}
}

static void write_stream(const struct run *r, unsigned int machine, const char *path)
{
	static struct writer w;
	unsigned int side = machine < r->nr_hosts ? HOST : TARGET;
	double tick = 0, now = 0;
	char nqn[64], hostnqn[64];

	qsort(recorded[machine], nr_recorded[machine], sizeof(recorded[machine][0]), by_end);
	w = (struct writer){.f = fopen(path, "w"), .queues = side == HOST ? 9 : 0};
	if (!w.f) {
		perror(path);
		exit(2);
	}
	snprintf(nqn, sizeof(nqn), side == HOST ? "web%u" : "stor%u", machine);
	write_header(&w, side, nqn, machine + 1, 0);
	write_clock(&w, clock_of(r, machine, 0), WALL);
	for (unsigned int i = 0; i < r->nr_queues; i++) {
		const struct queue *q = &r->queue[i];
		struct command c = {.slot = i,
				    .gen = 1,
				    .qid = q->qid,
				    .cntlid = (uint16_t)(1 + q->host * ARRAYS_MAX + q->array)};

		if (side == HOST && q->host != machine)
			continue;
		snprintf(nqn, sizeof(nqn), "nqn.2024-01.io.test:array%u", q->array);
		snprintf(hostnqn, sizeof(hostnqn), "nqn.2024-01.io.test:host%u", q->host);
		write_queue(&w, &c, side == HOST ? q->array : i, nqn, hostnqn);
	}
	end_records(&w);
	write_states(&w, r, machine, recorded[machine][nr_recorded[machine] - 1].end);
	for (unsigned int i = 0; i < nr_recorded[machine]; i++) {
		now = recorded[machine][i].end;
		for (; tick <= now; tick += 200 * MS)
			write_clock(&w, clock_of(r, machine, tick), WALL + (int64_t)tick);
		write_record(&w, &recorded[machine][i].c);
	}
	write_end(&w, clock_of(r, machine, now), WALL + (int64_t)now, 0);
	fclose(w.f);
}

static unsigned int verdict_named(const char *at)
{
	for (unsigned int i = 0; i < VERDICTS_NR; i++) {
		size_t n = strlen(verdicts[i]);

		if (!strncmp(at, verdicts[i], n) && at[n] == '"')
			return i;
	}
	return 0;
}

/* The value of a member of JSON, behind its first quote; NULL: it is no string. */
static const char *member(const char *at, const char *name)
{
	at = at ? strstr(at, name) : NULL;
	at = at ? at + strlen(name) : NULL;
	while (at && (*at == ' ' || *at == ':'))
		at++;
	return at && *at == '"' ? at + 1 : NULL;
}

/* The neighbour is known from the target's recording alone. */
static bool is_recorded(const struct run *r, unsigned int machine)
{
	return r->fault != NEIGHBOUR || machine != 1;
}

/*
 * What the report says of @time of the recordings, or of all if that is NULL: the expected one if
 * any operation has it and none has another; or else the first one that is no "healthy".
 */
static unsigned int ask(const char *program, const char *folder, const struct run *r,
			const char *time)
{
	static char out[1 << 20];
	char line[1024];
	size_t n = (size_t)snprintf(line, sizeof(line), "%s report --why --format json", program);
	unsigned int found = HEALTHY;
	bool any = false, thin = false;
	FILE *f;

	for (unsigned int m = 0; m <= r->nr_hosts; m++)
		if (is_recorded(r, m))
			n += (size_t)snprintf(line + n, sizeof(line) - n, " %s/%u.ntp", folder, m);
	if (time)
		snprintf(line + n, sizeof(line) - n, " --time %s", time);
	f = popen(line, "r");
	n = f ? fread(out, 1, sizeof(out) - 1, f) : 0;
	out[n] = '\0';
	if (!f || pclose(f)) {
		fprintf(stderr, "faults: %s\n", line);
		exit(2);
	}
	for (const char *at = out; (at = strstr(at, "\"verdict\"")); at++) {
		const char *value = member(at, "\"verdict\"");
		unsigned int v = verdict_named(value ? value : "");

		if (value && !strncmp(value, "named", 5))
			v = verdict_named(member(at, "\"cause\"") ? member(at, "\"cause\"") : "");
		/* One operation may have too few commands. */
		if (v == VERDICTS_NR - 1) {
			thin = true;
			continue;
		}
		any = true;
		if (v && found && v != found)
			return v == r->fault ? found : v;
		found = v ? v : found;
	}
	return thin && !any ? (unsigned int)VERDICTS_NR - 1 : found;
}

/* So many times of healthy recordings were asked for, and so many of them were blamed. */
static unsigned int short_runs, short_blamed;

/* Short times have too few commands above p99. */
static void ask_short(const char *program, const char *folder, const struct run *r)
{
	static const char *const times[] = {"100ms-120ms", "300ms-350ms", "500ms-550ms"};

	for (unsigned int i = 0; i < sizeof(times) / sizeof(*times); i++) {
		unsigned int v = ask(program, folder, r, times[i]);

		short_runs++;
		if (v == HEALTHY || v == VERDICTS_NR - 1)
			continue;
		printf("# healthy, %s: %s\n", times[i], verdicts[v]);
		short_blamed++;
	}
}

static unsigned int run_one(const char *program, const char *folder, enum fault fault,
			    unsigned int seed, bool keeps)
{
	static struct run r;
	char path[512];
	unsigned int v;

	state = (uint64_t)(fault + 1) << 32 | seed;
	memset(nr_recorded, 0, sizeof(nr_recorded));
	nr_resent = 0;
	set_up(&r, fault, seed);
	run_all(&r);
	qsort(resent, nr_resent, sizeof(*resent), by_time);
	for (unsigned int m = 0; m <= r.nr_hosts; m++) {
		snprintf(path, sizeof(path), "%s/%u.ntp", folder, m);
		write_stream(&r, m, path);
	}
	v = ask(program, folder, &r, NULL);
	if (fault == HEALTHY)
		ask_short(program, folder, &r);
	if (v != (unsigned int)fault)
		printf("# %s, run %u: %s\n", verdicts[fault], seed, verdicts[v]);
	for (unsigned int m = 0; !keeps && m < HOSTS_MAX + 1; m++) {
		snprintf(path, sizeof(path), "%s/%u.ntp", folder, m);
		unlink(path);
	}
	return v;
}

static unsigned int table[FAULTS_NR][VERDICTS_NR];

static void print_table(void)
{
	printf("# %-14s", "fault");
	for (unsigned int v = 0; v < VERDICTS_NR; v++)
		printf(" %.6s", verdicts[v]);
	printf("\n");
	for (unsigned int i = 0; i < FAULTS_NR; i++) {
		printf("# %-14s", verdicts[i]);
		for (unsigned int v = 0; v < VERDICTS_NR; v++) {
			int width = (int)strlen(verdicts[v]);
			char number[16] = ".";

			if (table[i][v])
				snprintf(number, sizeof(number), "%u", table[i][v]);
			printf(" %*s", width > 6 ? 6 : width, number);
		}
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	char made[] = "/tmp/faults.XXXXXX", *folder;
	unsigned int runs, healthy, bad = 0;

	for (unsigned int i = 0; argc == 5 && i < FAULTS_NR; i++)
		if (!strcmp(argv[2], verdicts[i]))
			return (int)run_one(argv[1], argv[4], (enum fault)i,
					    (unsigned int)strtoul(argv[3], NULL, 10),
					    true) != (int)i;
	if (argc != 4) {
		fprintf(stderr,
			"usage: faults PROGRAM RUNS HEALTHY_RUNS | PROGRAM FAULT RUN FOLDER\n");
		return 2;
	}
	runs = (unsigned int)strtoul(argv[2], NULL, 10);
	healthy = (unsigned int)strtoul(argv[3], NULL, 10);
	folder = mkdtemp(made);
	if (!folder)
		return 2;
	for (unsigned int i = 0; i < FAULTS_NR; i++)
		for (unsigned int seed = 0; seed < (i == HEALTHY ? healthy : runs); seed++)
			table[i][run_one(argv[1], folder, (enum fault)i, seed, false)]++;
	rmdir(folder);
	print_table();
	for (unsigned int i = 0; i < FAULTS_NR; i++) {
		bool right =
			i == HEALTHY ? table[i][HEALTHY] == healthy : table[i][i] * 10 >= runs * 9;

		printf("%s %u - %s: %u of %u\n", right ? "ok" : "not ok", i + 1, verdicts[i],
		       table[i][i], i == HEALTHY ? healthy : runs);
		bad += !right;
	}
	printf("%s %u - healthy for 20 or 50 ms: %u of %u are blamed\n",
	       short_blamed ? "not ok" : "ok", FAULTS_NR + 1, short_blamed, short_runs);
	return bad || short_blamed;
}
