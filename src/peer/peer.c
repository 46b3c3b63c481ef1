// SPDX-License-Identifier: GPL-2.0-only
#include "peer/peer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/names.h"
#include "core/time.h"
#include "peer/child.h"
#include "stream/reader.h"

/* Events, of those that have come together, between two looks at the clock. */
#define CLOCK_EVERY 1024

struct peer {
	char *source;
	enum nt_side side;
	struct child child;
	bool ended;    /* the command has: */
	int end_value; /* see GUARD_ENDED */
	bool asks;     /* it was stopped when it tried to use the terminal */
	int interrupt; /* what was pressed at the terminal, a signal's number, or 0 */
	struct stream_reader *reader;
	struct stream_header header;
	struct stream_losses losses;
	bool begun;	/* the header has come */
	bool waiting;	/* or the recorder has said that its module is not loaded */
	bool recording; /* and more than that */
	bool over;
	bool stopped; /* by us, which then was its state: */
	enum peer_state before;
	int result;	     /* of the last stream_read() */
	const char *refused; /* why, where the reader has no objection */
	uint64_t heard_ns;
	uint64_t records;
	struct messages messages;
	uint64_t early_messages; /* those before the header */
};

struct peer *peer_new(const char *source, enum nt_side side, const struct peer_user *user)
{
	struct peer *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return NULL;
	p->side = side;
	p->result = -EAGAIN;
	p->source = strdup(source);
	err = p->source ? child_start(&p->child, source, user) : -ENOMEM;
	if (!err) {
		p->reader = stream_reader_new(p->child.out);
		err = p->reader ? 0 : -ENOMEM;
	}
	p->heard_ns = monotonic_ns();
	if (!err)
		return p;
	peer_free(p);
	errno = -err;
	return NULL;
}

void peer_fds(const struct peer *p, int fd[PEER_FDS])
{
	fd[0] = p->child.out;
	fd[1] = p->child.err;
	fd[2] = p->child.report_fd;
}

/* A recorder has no stream before its module is there; but who wanted a password has had it. */
static bool says_waiting(const struct messages *m)
{
	const char *line = m->nr ? messages_line(m, m->nr - 1) : NULL;

	return line && m->ended && !strncmp(line, WAITING_FOR_MODULE, strlen(WAITING_FOR_MODULE));
}

static void read_messages(struct peer *p)
{
	char text[512];

	for (int i = 0; p->child.err >= 0 && i < 64; i++) {
		ssize_t n = read(p->child.err, text, sizeof(text));

		if (n > 0) {
			messages_add(&p->messages, text, (size_t)n);
			p->waiting |= says_waiting(&p->messages);
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			close(p->child.err);
			p->child.err = -1;
		} else {
			return;
		}
	}
}

static void read_reports(struct peer *p)
{
	struct guard_report r;

	while (child_report(&p->child, &r)) {
		switch (r.kind) {
		case GUARD_ENDED:
			p->ended = true;
			p->end_value = r.value;
			break;
		case GUARD_STOPPED:
			p->asks |= r.value == SIGTTIN || r.value == SIGTTOU;
			if (r.value == SIGTSTP)
				p->interrupt = SIGTSTP;
			break;
		case GUARD_INTERRUPTED:
			p->interrupt = r.value;
			break;
		}
	}
}

/* It has nothing more to say, or nothing that we want to hear: closing tells it so. */
static void end_reading(struct peer *p)
{
	p->over = true;
	close(p->child.out);
	p->child.out = -1;
}

static void take(struct peer *p, const struct stream_event *e)
{
	switch (e->type) {
	case STREAM_HEADER:
		p->header = e->header;
		p->begun = true;
		read_messages(p);
		p->early_messages = p->messages.nr;
		if (p->header.side != p->side)
			p->refused = p->side == NT_TARGET ? "it records a host; a target is needed"
							  : "it records a target; a host is needed";
		return;
	case STREAM_RECORD:
		p->records++;
		break;
	case STREAM_LOSSES:
		p->losses = e->losses;
		break;
	case STREAM_END:
		p->losses = e->end.losses;
		break;
	case STREAM_CLOCK:
	case STREAM_QUEUE:
	case STREAM_BURST:
	case STREAM_ORIGIN:
	case STREAM_DEVICE:
		break;
	}
	p->recording = true;
}

int peer_read(struct peer *p, int (*event)(void *context, const struct stream_event *e),
	      void *context, uint64_t until_ns)
{
	struct stream_event e;
	int err;

	/* In this order: who is known to have ended has said all that we read then. */
	read_reports(p);
	read_messages(p);
	for (unsigned int n = 0; !p->over; n++) {
		p->result = stream_read(p->reader, &e);
		if (p->result == -EAGAIN)
			return 0;
		if (n % CLOCK_EVERY == 0 || p->result <= 0)
			p->heard_ns = monotonic_ns();
		if (p->result <= 0) {
			end_reading(p);
			return 0;
		}
		take(p, &e);
		if (p->refused) {
			end_reading(p);
			return 0;
		}
		err = event(context, &e);
		if (err)
			return err;
		if (n % CLOCK_EVERY == CLOCK_EVERY - 1 && monotonic_ns() >= until_ns)
			return 1;
	}
	return 0;
}

enum peer_state peer_state(const struct peer *p)
{
	if (p->refused)
		return PEER_REFUSED;
	if (p->over && p->result == 0)
		return PEER_ENDED;
	if (p->over && p->result != -ENODATA)
		return PEER_REFUSED;
	if (p->stopped)
		return p->before;
	if (p->over)
		return PEER_DIED;
	if (!p->begun)
		return p->waiting ? PEER_WAITING : PEER_STARTING;
	if (!p->recording)
		return PEER_WAITING;
	return monotonic_ns() > p->heard_ns + PEER_STALL_NS ? PEER_STALLED : PEER_RUNNING;
}

/* A recorder says little. What it, or who logs in for it, said before its stream began is of no more interest. */
static uint64_t first_message(const struct peer *p, enum peer_state state)
{
	uint64_t first = p->messages.nr > MESSAGES_LINES ? p->messages.nr - MESSAGES_LINES : 0;
	bool well = state == PEER_RUNNING || state == PEER_WAITING || state == PEER_ENDED;

	return well && p->begun && p->early_messages > first ? p->early_messages : first;
}

void peer_about(const struct peer *p, struct peer_about *a)
{
	*a = (struct peer_about){
		.source = p->source,
		.state = peer_state(p),
		.silent_ns = monotonic_ns() - p->heard_ns,
		.why = "",
		.messages = &p->messages,
		.header = p->begun ? &p->header : NULL,
		.records = p->records,
		.losses = &p->losses,
		.skipped = stream_skipped(p->reader),
		.longer = stream_longer(p->reader),
	};
	a->first_message = first_message(p, a->state);
	if (a->state == PEER_REFUSED)
		a->why = p->refused ?: stream_error(p->reader);
	if (a->state == PEER_STARTING && p->asks)
		a->why = "it asks for something at the terminal";
	/* What it still had to say, such as its last losses, is not known then. */
	if (p->stopped && !peer_gone(p) && !a->why[0])
		a->why = "it did not end in time when it was asked to";
	if (a->state != PEER_DIED)
		return;
	/* Of a command that failed before it said anything, that is the reason. */
	if (p->begun || !p->ended || !p->end_value)
		a->why = stream_error(p->reader);
	if (p->ended && p->end_value > 0)
		a->exit_status = p->end_value;
	if (p->ended && p->end_value < 0)
		a->signal = -p->end_value;
}

bool peer_asks(const struct peer *p)
{
	return p->asks && !peer_settled(p);
}

void peer_answered(struct peer *p)
{
	p->asks = false;
}

int peer_interrupt(struct peer *p)
{
	int interrupt = p->interrupt;

	p->interrupt = 0;
	return interrupt;
}

pid_t peer_group(const struct peer *p)
{
	return p->child.group;
}

void peer_stop(struct peer *p)
{
	if (p->stopped)
		return;
	p->before = peer_state(p);
	p->stopped = true;
	child_signal(&p->child, SIGTERM);
	/* One that is stopped does not hear of it before it goes on. */
	child_signal(&p->child, SIGCONT);
}

bool peer_over(const struct peer *p)
{
	return p->over;
}

bool peer_settled(const struct peer *p)
{
	return p->begun || p->waiting || p->over;
}

bool peer_gone(const struct peer *p)
{
	return p->over && p->child.report_fd < 0;
}

void peer_free(struct peer *p)
{
	if (!p)
		return;
	child_end(&p->child);
	stream_reader_free(p->reader);
	free(p->source);
	free(p);
}
