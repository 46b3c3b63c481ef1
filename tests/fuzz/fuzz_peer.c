// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for peers: what a hostile command sends as its stream and on its standard error,
 * when it ends and is started again. The first byte says how many peers
 * there are, and their kind. Then come steps of four bytes: an event, a peer and two
 * numbers; some have text behind them. Commands are made up (made_up.h). Besides what the
 * sanitizers see, it asserts that:
 *  - a stream's header comes first, and is of the side that is needed; nothing comes after an end;
 *  - commands and losses are counted over all starts;
 *  - a peer that is refused has a reason, and its messages are lines;
 *  - descriptors are closed once, and processes have ended when the peer is released.
 */
#include <stdint.h>
#include <stdlib.h>

#include "made_up.h"
#include "peer/peer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An error that comes from nowhere else. */
#define STOP (-ENOTRECOVERABLE)

enum step {
	STEP_SEND,  /* bytes of the stream */
	STEP_FRAME, /* the same as a frame's payload; the frame is right */
	STEP_SAY,   /* on its standard error */
	STEP_HEADER,
	STEP_EVENT,
	STEP_DAMAGE, /* a byte that was not read yet */
	STEP_CLOSE,
	STEP_REPORT,
	STEP_DIE,
	STEP_READ,
	STEP_AGAIN,
	STEP_STOP,
	STEP_WAIT,
	STEP_KEY,
	STEPS_NR,
};

/*
 * @events: of this start; @recording: one was not the header
 * @records: of all starts
 * @stop_at: the event at which the caller has an error, 0: none
 * @again: how often it was started again; @stopped: for good
 */
struct known {
	struct peer *p;
	enum nt_side side;
	uint64_t events;
	uint64_t records;
	uint64_t stop_at;
	uint64_t again;
	bool stopped;
};

/* Of one input. */
struct play {
	unsigned int nr;
	bool lasting;
	struct known of[MADE_PEERS];
};

static int on_event(void *context, const struct stream_event *e)
{
	struct known *k = context;

	ASSERT(!peer_over(k->p));
	ASSERT((e->type == STREAM_HEADER) == !k->events);
	k->events++;
	if (e->type == STREAM_HEADER)
		ASSERT(e->header.side == k->side);
	if (e->type == STREAM_RECORD) {
		ASSERT(e->record.side == k->side);
		k->records++;
	}
	return k->events == k->stop_at ? STOP : 0;
}

static void check_messages(const struct peer_about *a)
{
	const struct messages *m = a->messages;

	ASSERT(a->first_message <= m->nr && m->nr - a->first_message <= MESSAGES_LINES);
	for (uint64_t i = a->first_message; i < m->nr; i++) {
		const char *line = messages_line(m, i);

		ASSERT(line && line[0] && strlen(line) < MESSAGES_LINE_LEN);
		ASSERT(!strpbrk(line, "\r\n"));
	}
	ASSERT(!messages_line(m, m->nr));
}

static void check(const struct known *k)
{
	struct peer_about a;

	peer_about(k->p, &a);
	ASSERT(a.state < PEER_STATES_NR && a.state == peer_state(k->p));
	ASSERT(a.records == k->records && a.restarts == k->again);
	ASSERT(!a.header == !k->events || (a.header && a.header->side != k->side));
	ASSERT(a.state != PEER_REFUSED || a.why[0]);
	ASSERT(a.state != PEER_REFUSED || peer_over(k->p));
	ASSERT(!a.exit_status || !a.signal);
	ASSERT(!peer_over(k->p) || peer_settled(k->p));
	ASSERT(!peer_gone(k->p) || peer_over(k->p));
	check_messages(&a);
}

static void step_read(struct known *k, uint8_t a, uint8_t b)
{
	const uint64_t until = b ? UINT64_MAX : 0;
	int ret;

	k->stop_at = a ? k->events + a : 0;
	/* Until nothing more can be read at once, as the program does when a descriptor stays
	 * readable. */
	do
		ret = peer_read(k->p, on_event, k, until);
	while (ret == 1);
	ASSERT(!ret || (ret == STOP && k->events == k->stop_at));
}

/* Numbers and texts of a header, of few bytes. */
static void step_header(const struct known *k, struct made_peer *p, uint8_t a, uint8_t b)
{
	struct stream_header h = {.side = a & 1 ? (enum nt_side) !k->side : k->side,
				  .source = "stock\x1b",
				  .boot_id = "01234567-89ab-cdef-0123-456789abcdef",
				  .kernel = "6.1.0\n",
				  .program = "0.1.0",
				  .sample = a >> 4,
				  .missing = b,
				  .origins = a >> 1 & 1};

	memset(h.hostname, b, a >> 2 & 1 ? sizeof(h.hostname) - 1 : 1);
	memset(h.selection, a, b & 1 ? sizeof(h.selection) - 1 : 0);
	made_header(p, &h);
}

static void step_event(const struct known *k, struct made_peer *p, uint8_t a, uint8_t b)
{
	static const enum stream_type types[] = {STREAM_CLOCK,	STREAM_QUEUE, STREAM_RECORD,
						 STREAM_LOSSES, STREAM_END,   STREAM_ORIGIN,
						 STREAM_BURST,	STREAM_DEVICE};
	struct stream_event e = {.type = types[a % ARRAY_SIZE(types)]};

	switch (e.type) {
	case STREAM_RECORD:
		e.record = (struct nt_record){.side = k->side,
					      .op = b % NT_OPS_NR,
					      .cid = b,
					      .points = {b, b + 1, b + 2}};
		for (unsigned int i = 0; i < 1u << (a >> 5); i++)
			made_event(p, &e);
		if (p->writer)
			stream_flush(p->writer);
		return;
	case STREAM_LOSSES:
		e.losses.count[b % COUNTERS_NR] = UINT64_MAX >> (a >> 3);
		break;
	case STREAM_END:
		e.end.losses.count[b % COUNTERS_NR] = a;
		break;
	case STREAM_QUEUE:
		memset(e.queue.subsysnqn, b, a >> 3);
		break;
	case STREAM_ORIGIN:
		memset(e.origin.cgroup, b, a >> 3);
		memset(e.origin.comm, b, a >> 4);
		break;
	case STREAM_DEVICE:
		memset(e.device.name, b, a >> 4);
		break;
	default:
		e.clock.monotonic_ns = (uint64_t)b << (a >> 3);
	}
	made_event(p, &e);
}

static void damage(struct made_pipe *p, uint8_t a, uint8_t b)
{
	size_t left = p->size - p->at;

	if (left)
		p->data[p->at + ((size_t)a << 3 | b >> 5) % left] ^= b ?: 1;
}

static void step_close(struct made_peer *p, uint8_t a, uint8_t b)
{
	static const int errors[] = {EINTR, EIO, EPIPE, 0};
	struct made_pipe *pipe = a & 1 ? &p->err : &p->out;

	if (a & 2)
		pipe->error = errors[b % ARRAY_SIZE(errors)];
	else
		pipe->ended = true;
}

/* What a guard may say of its command. */
static void step_report(struct made_peer *p, uint8_t a, uint8_t b)
{
	static const int keys[] = {SIGINT, SIGQUIT, SIGHUP};

	if (a % 4 == 0)
		made_report(p, GUARD_ENDED, (int8_t)b);
	else
		made_report(p, GUARD_INTERRUPTED, keys[b % ARRAY_SIZE(keys)]);
}

/* As live_merge.c does it when the stream is over: nothing of it is read any more. */
static void step_again(struct play *y, struct known *k, uint8_t a)
{
	int err;

	if (!y->lasting || !peer_lasts(k->p) || k->stopped)
		return;
	if (!peer_over(k->p))
		return;
	made.start_fails = a == 1;
	err = peer_restart(k->p);
	ASSERT(!err == !peer_over(k->p));
	made.start_fails = false;
	k->again++;
	k->events = 0;
}

static void step_stop(struct known *k, struct made_peer *p, uint8_t a)
{
	if (p->child)
		p->child->stubborn = a & 1;
	if (a & 2) {
		k->stopped = true;
		peer_stop(k->p);
	} else if (peer_over(k->p)) {
		peer_ask_to_end(k->p);
	}
}

/* Return: how many bytes of @text the step has taken. */
static size_t with_text(struct made_peer *p, enum step step, const uint8_t *b, size_t left)
{
	const uint8_t *text = b + 4;
	size_t n = b[2] < left - 4 ? b[2] : left - 4;

	if (!p->child)
		return n;
	if (step == STEP_SEND)
		made_put(&p->out, text, n);
	else if (step == STEP_FRAME)
		made_frame(p, b[3], text, n);
	else
		made_put(&p->err, text, n);
	return n;
}

/* Return: where the next step is. */
static size_t play_step(struct play *y, const uint8_t *b, size_t left)
{
	const unsigned int i = b[1] % y->nr;
	struct made_peer *p = &made.peer[i];
	struct known *k = &y->of[i];
	enum step step = (enum step)(b[0] % STEPS_NR);

	switch (step) {
	case STEP_SEND:
	case STEP_FRAME:
	case STEP_SAY:
		return 4 + with_text(p, step, b, left);
	case STEP_HEADER:
		step_header(k, p, b[2], b[3]);
		break;
	case STEP_EVENT:
		step_event(k, p, b[2], b[3]);
		break;
	case STEP_DAMAGE:
		damage(&p->out, b[2], b[3]);
		break;
	case STEP_CLOSE:
		step_close(p, b[2], b[3]);
		break;
	case STEP_REPORT:
		step_report(p, b[2], b[3]);
		break;
	case STEP_DIE:
		if (p->child)
			made_dies(p->child);
		break;
	case STEP_READ:
		step_read(k, b[2], b[3]);
		break;
	case STEP_AGAIN:
		step_again(y, k, b[2]);
		break;
	case STEP_STOP:
		step_stop(k, p, b[2]);
		break;
	case STEP_WAIT:
		made.now += (uint64_t)(b[2] + 1) << b[3] % 36;
		break;
	default:
		peer_interrupt(k->p);
		ASSERT(!peer_interrupt(k->p));
	}
	check(k);
	return 4;
}

static void begin(struct play *y, uint8_t kind)
{
	struct starter *s;

	y->nr = 1 + kind % MADE_PEERS;
	y->lasting = kind & 0x10;
	s = y->lasting ? starter_new(made_source, y->nr, NULL) : NULL;
	made.peer[0].is_file = kind & 0x20;
	for (unsigned int i = 0; i < y->nr; i++) {
		struct known *k = &y->of[i];

		k->side = kind & 0x40 ? NT_HOST : NT_TARGET;
		k->p = y->lasting ? peer_new_lasting(made_source[i], k->side, s, i)
				  : peer_new(made_source[i], k->side, NULL);
		ASSERT(k->p);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct play y = {.nr = 0};

	if (!size)
		return 0;
	made_begin();
	begin(&y, data[0]);
	for (size_t at = 1; size - at >= 4;)
		at += play_step(&y, data + at, size - at);
	for (unsigned int i = 0; i < y.nr; i++)
		peer_free(y.of[i].p);
	made_end();
	return 0;
}
