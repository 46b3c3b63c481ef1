// SPDX-License-Identifier: GPL-2.0-only
#include "peer/prompts.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include "core/array.h"
#include "core/time.h"

/* Time from one look at a peer that says nothing to the next. */
#define LOOK_MS 100

/**
 * struct loan - the terminal, lent to a process group
 * @fd: the terminal
 * @group: the process group, or 0 if it could not be lent
 * @modes: modes before it was lent
 * @ttou: disposition of SIGTTOU before it was lent. The signal is ignored meanwhile: a process in
 *        the background that writes, or takes the terminal back, may get it (termios(3)), and it
 *        stops the whole process. A signal mask would be one thread's, and other threads write to
 *        the terminal.
 */
struct loan {
	int fd;
	pid_t group;
	struct termios modes;
	struct sigaction ttou;
};

int prompts_terminal(void)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0 || tcgetpgrp(fd) == getpgrp())
		return fd;
	close(fd);
	return -1;
}

static void lend(struct loan *t, pid_t group)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct termios modes;

	if (tcgetattr(t->fd, &t->modes))
		return;
	modes = t->modes;
	modes.c_lflag |= ICANON | ECHO;
	/* It would stop the command only, and the shell would not know. */
	modes.c_cc[VSUSP] = _POSIX_VDISABLE;
	tcsetattr(t->fd, TCSANOW, &modes);
	sigaction(SIGTTOU, &ignore, &t->ttou);
	t->group = group;
	tcsetpgrp(t->fd, group);
}

static void take_back(const struct loan *t)
{
	if (!t->group)
		return;
	/* A shell may have given the terminal to another group meanwhile. */
	if (tcgetpgrp(t->fd) == t->group)
		tcsetpgrp(t->fd, getpgrp());
	/* A command that was killed while it read a password has left the terminal without echo. */
	tcsetattr(t->fd, TCSANOW, &t->modes);
	sigaction(SIGTTOU, &t->ttou, NULL);
}

/* The guard of a command that failed may still have a key to report until it ends. */
static bool answered(const struct peer *p)
{
	return peer_settled(p) && (!peer_over(p) || peer_gone(p));
}

/* Return: 0 or a negative errno of live_merge_ready(). */
static int wait_for(struct live_merge *l, unsigned int i, int hurry_fd, uint64_t until_ns,
		    void (*heard)(void *context, unsigned int i, bool all), void *context)
{
	const struct peer *p = live_merge_peer(l, i);
	struct pollfd f[] = {
		{.fd = live_merge_fd(l), .events = POLLIN},
		{.fd = hurry_fd, .events = POLLIN},
	};
	int err = 0, n;

	while (!err && !answered(p) && !f[1].revents && monotonic_ns() < until_ns) {
		/* It may have tried to use the terminal before it had it, and was stopped then. */
		kill(-peer_group(p), SIGCONT);
		n = poll(f, ARRAY_SIZE(f), LOOK_MS);
		err = live_merge_ready(l);
		heard(context, i, n == 0);
		if (peer_over(p))
			peer_ask_to_end(p);
	}
	if (!err && !answered(p) && !f[1].revents)
		peer_ask_to_end(p);
	heard(context, i, true);
	return err;
}

int prompts_answer(struct live_merge *l, unsigned int i, int terminal, int hurry_fd,
		   uint64_t until_ns, void (*heard)(void *context, unsigned int i, bool all),
		   void *context)
{
	struct loan t = {.fd = terminal};
	int err, interrupt;

	if (!peer_is_command(live_merge_peer(l, i)))
		return 0;
	lend(&t, peer_group(live_merge_peer(l, i)));
	err = wait_for(l, i, hurry_fd, until_ns, heard, context);
	take_back(&t);
	interrupt = live_merge_interrupt(l, i);
	if (interrupt)
		raise(interrupt);
	return err;
}
