// SPDX-License-Identifier: GPL-2.0-only
#include "peer/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

void terminal_open(struct terminal *t)
{
	*t = (struct terminal){.fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)};
}

/*
 * The disposition is one for the whole process. A signal mask would be one thread's, and other
 * threads write to the terminal.
 */
static void ignore_ttou(struct terminal *t)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGTTOU, &ignore, &t->ttou);
}

static void heed_ttou(const struct terminal *t)
{
	sigaction(SIGTTOU, &t->ttou, NULL);
}

/*
 * Turns on lines and echo, so that an answer can be corrected while it is typed. They stay on
 * afterwards: a program that reads single keys turns them off again, but may be stopped before
 * that.
 */
static void take_lines(struct terminal *t)
{
	const tcflag_t lines = ICANON | ECHO;

	if ((t->modes.c_lflag & lines) == lines)
		return;
	t->modes.c_lflag |= lines;
	tcsetattr(t->fd, TCSANOW, &t->modes);
}

bool terminal_lend(struct terminal *t, pid_t group)
{
	if (!terminal_ours(t) || tcgetattr(t->fd, &t->modes))
		return false;
	take_lines(t);
	ignore_ttou(t);
	if (tcsetpgrp(t->fd, group)) {
		heed_ttou(t);
		return false;
	}
	t->lent_to = group;
	kill(-group, SIGCONT);
	return true;
}

void terminal_take_back(struct terminal *t)
{
	if (!t->lent_to)
		return;
	/* A shell may have given the terminal to another group meanwhile. */
	if (tcgetpgrp(t->fd) == t->lent_to) {
		tcsetpgrp(t->fd, getpgrp());
		/*
		 * A process that was killed while it read a password has left the terminal without
		 * echo.
		 */
		tcsetattr(t->fd, TCSANOW, &t->modes);
	}
	t->lent_to = 0;
	heed_ttou(t);
}

bool terminal_ours(const struct terminal *t)
{
	return t->fd >= 0 && !t->lent_to && tcgetpgrp(t->fd) == getpgrp();
}

bool terminal_unread(const struct terminal *t)
{
	int bytes = 0;

	/* A process in the background may ask for that as well, tty_ioctl(4). */
	return t->fd >= 0 && !ioctl(t->fd, FIONREAD, &bytes) && bytes > 0;
}

void terminal_forget(const struct terminal *t)
{
	if (terminal_ours(t))
		tcflush(t->fd, TCIFLUSH);
}

bool terminal_return_key(const struct terminal *t)
{
	struct pollfd p = {.fd = t->fd, .events = POLLIN};
	char line[256];

	/* A process in the background that reads is stopped. */
	if (!terminal_ours(t) || poll(&p, 1, 0) <= 0)
		return false;
	return read(t->fd, line, sizeof(line)) > 0;
}

void terminal_close(struct terminal *t)
{
	terminal_take_back(t);
	if (t->fd >= 0)
		close(t->fd);
	t->fd = -1;
}
