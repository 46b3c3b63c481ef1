// SPDX-License-Identifier: GPL-2.0-only
#include "peer/prompts.h"

#include <signal.h>
#include <sys/epoll.h>

#include "core/time.h"

/* A process that reads the terminal takes a line at once, but a busy machine may run it late. */
#define UNREAD_NS 5000000000ULL

void prompts_open(struct prompts *p, struct peer *const *peer, int epoll_fd)
{
	*p = (struct prompts){.peer = peer, .epoll_fd = epoll_fd};
	terminal_open(&p->terminal);
}

/*
 * Begins or stops to read the terminal. While a peer asks, it is not read here, because what is
 * typed is the peer's answer.
 */
static void read_terminal(const struct prompts *p, bool on)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = p->terminal.fd};

	if (p->may_skip)
		epoll_ctl(p->epoll_fd, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, p->terminal.fd, &e);
}

static void lend(struct prompts *p, struct peer *peer)
{
	if (!peer_asks(peer) || !terminal_lend(&p->terminal, peer_group(peer)))
		return;
	read_terminal(p, false);
	p->asking = peer;
	p->unread_ns = 0;
}

static void take_back(struct prompts *p)
{
	if (!p->asking)
		return;
	terminal_take_back(&p->terminal);
	read_terminal(p, true);
	p->asking = NULL;
}

/*
 * A key such as Ctrl-C is for all processes of the group that has the terminal, and for no others.
 * This process gets it here.
 */
static void take_interrupt(struct prompts *p, struct peer *peer)
{
	int interrupt = peer_interrupt(peer);

	/*
	 * A peer that stops by itself is not our concern. The end of a peer may be known before the
	 * reason for it.
	 */
	if (!interrupt || (interrupt == SIGTSTP && peer != p->asking))
		return;
	take_back(p);
	/*
	 * Ctrl-Z also stops the processes that started this program, such as sudo. This process
	 * continues when they do.
	 */
	if (interrupt == SIGTSTP)
		kill(0, SIGTSTP);
	else
		raise(interrupt);
}

static void stop_skipping(struct prompts *p)
{
	read_terminal(p, false);
	p->may_skip = false;
}

bool prompts_settled(const struct prompts *p)
{
	for (unsigned int i = 0; i < p->nr && !p->skipped; i++) {
		if (!peer_settled(p->peer[i]))
			return false;
	}
	return true;
}

void prompts_serve(struct prompts *p)
{
	for (unsigned int i = 0; i < p->nr; i++)
		take_interrupt(p, p->peer[i]);
	if (p->asking && peer_settled(p->asking))
		take_back(p);
	for (unsigned int i = 0; i < p->nr && !p->asking && !p->over; i++)
		lend(p, p->peer[i]);
	if (!p->may_skip || p->asking)
		return;
	p->skipped |= terminal_return_key(&p->terminal);
	if (prompts_settled(p))
		stop_skipping(p);
	else if (!terminal_ours(&p->terminal))
		/*
		 * Input stays there for the process that it is for. If the terminal is gone, it
		 * would only signal hangups.
		 */
		read_terminal(p, false);
}

/* If the peer asks for more, it is stopped again, and this is reported. */
static void take_back_unread(struct prompts *p)
{
	uint64_t now = monotonic_ns();

	if (!terminal_unread(&p->terminal)) {
		p->unread_ns = 0;
	} else if (!p->unread_ns) {
		p->unread_ns = now;
	} else if (now - p->unread_ns >= UNREAD_NS) {
		peer_answered(p->asking);
		take_back(p);
		/* The next peer that asks must not take this line for its answer. */
		if (p->may_skip)
			p->skipped |= terminal_return_key(&p->terminal);
		else
			terminal_forget(&p->terminal);
	}
}

void prompts_go_on(struct prompts *p)
{
	if (!p->asking) {
		read_terminal(p, true);
		return;
	}
	kill(-peer_group(p->asking), SIGCONT);
	take_back_unread(p);
}

void prompts_let_skip(struct prompts *p)
{
	if (p->terminal.fd < 0 || p->may_skip)
		return;
	p->may_skip = true;
	read_terminal(p, !p->asking);
}

void prompts_end(struct prompts *p)
{
	p->over = true;
	take_back(p);
	stop_skipping(p);
}

void prompts_close(struct prompts *p)
{
	prompts_end(p);
	terminal_close(&p->terminal);
}
