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

/* Adds @size bytes; a carriage return, as in a progress line, begins a new line. */
static void messages_add(struct messages *m, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		char *line;

		if (text[i] == '\n' || text[i] == '\r') {
			m->ended = true;
			continue;
		}
		if (m->ended || !m->nr) {
			m->nr++;
			m->len = 0;
		}
		m->ended = false;
		line = m->line[(m->nr - 1) % MESSAGES_LINES];
		/* A NUL byte would hide the rest of the line. */
		if (m->len < MESSAGES_LINE_LEN - 1)
			line[m->len++] = text[i] ? text[i] : ' ';
		line[m->len] = '\0';
	}
}

const char *messages_line(const struct messages *m, uint64_t i)
{
	return i < m->nr && i + MESSAGES_LINES >= m->nr ? m->line[i % MESSAGES_LINES] : NULL;
}

/* Totals of a peer's earlier recordings, before it was started again. */
struct before {
	struct stream_losses losses;
	uint64_t skipped;
	uint64_t longer;
};

/* The clock is read once for this many records that come together, and for each other event. */
#define CLOCK_EVERY 64

struct peer {
	char *source;
	enum source_kind kind;
	enum nt_side side;
	struct starter *starter; /* NULL: started once, without a starter */
	unsigned int index;	 /* of its source at the starter */
	bool lasts;		 /* it can be started again */
	uint64_t restarts;
	struct before before_this;
	struct child child;
	bool ended;    /* the command has ended: */
	int end_value; /* see GUARD_ENDED */
	int interrupt; /* what was pressed at the terminal, a signal's number, or 0 */
	struct stream_reader *reader;
	struct stream_header header;
	struct stream_losses losses;
	bool begun;	/* the header has come */
	bool waiting;	/* the recorder has said that its module is not loaded */
	bool recording; /* more than the header has come */
	bool over;
	bool stopped; /* we have stopped it; its state before: */
	enum peer_state before;
	int result;	     /* of the last stream_read() */
	const char *refused; /* why we refused it; NULL: only the reader may have refused it */
	uint64_t heard_ns;
	uint64_t records;
	struct messages messages;
	uint64_t early_messages; /* those before the header */
	uint64_t old_messages;	 /* those from before it was started last */
};

static void end_child(struct peer *p)
{
	if (p->starter)
		starter_end(p->starter, &p->child);
	else
		child_end(&p->child);
}

/* @user: NULL with a starter, which knows the user. Return: 0 or a negative errno */
static int start(struct peer *p, const struct peer_user *user)
{
	int err = p->starter ? starter_start(p->starter, p->index, &p->child)
			     : child_start(&p->child, p->source, p->kind, user);

	p->result = -EAGAIN;
	p->heard_ns = monotonic_ns();
	if (err)
		return err;
	p->reader = stream_reader_new(p->child.out);
	return p->reader ? 0 : -ENOMEM;
}

/* Return: @p, or NULL with errno set. */
static struct peer *begin(struct peer *p, const char *source, enum nt_side side,
			  const struct peer_user *user)
{
	int err;

	p->side = side;
	p->kind = source_kind(source);
	p->source = strdup(source);
	err = p->source ? start(p, user) : -ENOMEM;
	if (!err)
		return p;
	peer_free(p);
	errno = -err;
	return NULL;
}

struct peer *peer_new(const char *source, enum nt_side side, const struct peer_user *user)
{
	struct peer *p = calloc(1, sizeof(*p));

	return p ? begin(p, source, side, user) : NULL;
}

struct peer *peer_new_lasting(const char *source, enum nt_side side, struct starter *starter,
			      unsigned int index)
{
	struct peer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->starter = starter;
	p->index = index;
	p->lasts = !starter_has_file(starter, index);
	return begin(p, source, side, NULL);
}

static void losses_add(struct stream_losses *to, const struct stream_losses *l)
{
	for (unsigned int i = 0; i < COUNTERS_NR; i++)
		to->count[i] += l->count[i];
	to->unknown += l->unknown;
}

/* Sets the losses of this recording and of those before it. */
static void take_losses(struct peer *p, const struct stream_losses *l)
{
	p->losses = p->before_this.losses;
	losses_add(&p->losses, l);
}

int peer_restart(struct peer *p)
{
	int err;

	end_child(p);
	p->before_this.losses = p->losses;
	p->before_this.skipped += p->reader ? stream_skipped(p->reader) : 0;
	p->before_this.longer += p->reader ? stream_longer(p->reader) : 0;
	stream_reader_free(p->reader);
	p->reader = NULL;
	p->restarts++;
	p->ended = p->begun = p->waiting = p->recording = p->over = false;
	p->interrupt = p->end_value = 0;
	p->refused = NULL;
	/* What comes now does not continue an incomplete line. */
	p->messages.ended = true;
	p->old_messages = p->early_messages = p->messages.nr;
	err = start(p, NULL);
	if (!err)
		return 0;
	p->refused = "it cannot be started again";
	p->over = true;
	return err;
}

bool peer_lasts(const struct peer *p)
{
	return p->lasts;
}

void peer_fds(const struct peer *p, int fd[PEER_FDS])
{
	fd[0] = p->child.out;
	fd[1] = p->child.err;
	fd[2] = p->child.report_fd;
}

/*
 * A recorder whose module is not loaded has no stream yet. Its message shows that the login is
 * done.
 */
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
		case GUARD_INTERRUPTED:
			p->interrupt = r.value;
			break;
		}
	}
}

/* Closes the pipe, which shows the command that nothing more is read. */
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
		take_losses(p, &e->losses);
		break;
	case STREAM_END:
		take_losses(p, &e->end.losses);
		break;
	case STREAM_CLOCK:
	case STREAM_QUEUE:
	case STREAM_BURST:
	case STREAM_ORIGIN:
	case STREAM_DEVICE:
	case STREAM_TCP:
	case STREAM_RESENT:
	case STREAM_DISK:
	case STREAM_PATH:
		break;
	}
	p->recording = true;
}

int peer_read(struct peer *p, int (*event)(void *context, const struct stream_event *e),
	      void *context, uint64_t until_ns)
{
	struct stream_event e;
	int err;

	/*
	 * The reports come first: when the end of the command is known, all its messages can be
	 * read.
	 */
	read_reports(p);
	read_messages(p);
	for (unsigned int n = 0; !p->over; n++) {
		bool late = false;

		p->result = stream_read(p->reader, &e);
		if (p->result == -EAGAIN)
			return 0;
		if (n % CLOCK_EVERY == 0 || p->result <= 0 || e.type != STREAM_RECORD) {
			p->heard_ns = monotonic_ns();
			late = p->heard_ns >= until_ns;
		}
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
		if (late)
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

/*
 * The first message that is still of interest. Of a peer that is well, messages of ssh or of the
 * recorder from before its stream began are not.
 */
static uint64_t first_message(const struct peer *p, enum peer_state state)
{
	uint64_t first = p->messages.nr > MESSAGES_LINES ? p->messages.nr - MESSAGES_LINES : 0;
	bool well = state == PEER_RUNNING || state == PEER_WAITING || state == PEER_ENDED;

	if (first < p->old_messages)
		first = p->old_messages;
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
		.skipped = p->before_this.skipped,
		.longer = p->before_this.longer,
		.restarts = p->restarts,
	};

	if (p->reader) {
		a->skipped += stream_skipped(p->reader);
		a->longer += stream_longer(p->reader);
	}
	a->first_message = first_message(p, a->state);
	if (a->state == PEER_REFUSED)
		a->why = p->refused ?: stream_error(p->reader);
	/* Its last data are missing then, such as its final losses. */
	if (p->stopped && !peer_gone(p) && !a->why[0])
		a->why = "it did not end in time when it was asked to";
	if (a->state != PEER_DIED)
		return;
	/* If the command failed before its stream began, the exit status is the reason. */
	if (p->begun || !p->ended || !p->end_value)
		a->why = stream_error(p->reader);
	if (p->ended && p->end_value > 0)
		a->exit_status = p->end_value;
	if (p->ended && p->end_value < 0)
		a->signal = -p->end_value;
}

bool peer_is_command(const struct peer *p)
{
	return p->kind == SOURCE_COMMAND;
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

void peer_ask_to_end(const struct peer *p)
{
	child_signal(&p->child, SIGTERM);
	/* A stopped process handles the signal only after SIGCONT. */
	child_signal(&p->child, SIGCONT);
}

void peer_stop(struct peer *p)
{
	if (p->stopped)
		return;
	p->before = peer_state(p);
	p->stopped = true;
	peer_ask_to_end(p);
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

void peer_kill(struct peer *p)
{
	child_kill(&p->child);
}

void peer_free(struct peer *p)
{
	if (!p)
		return;
	end_child(p);
	stream_reader_free(p->reader);
	free(p->source);
	free(p);
}
