// SPDX-License-Identifier: GPL-2.0-only
#include "cli/keyboard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <termios.h>
#include <unistd.h>

#include "core/array.h"

/* Those that end a process which has done something wrong, or was told to, without anything of it running any more. */
static const int fatal[] = {SIGABRT, SIGBUS,  SIGFPE,  SIGILL,	SIGQUIT, SIGSEGV,
			    SIGSYS,  SIGTRAP, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};

/*
 * Signal handlers have nothing else to go by.
 * @before: the modes that others use, which are lines with echo
 * @taken: others than these are set
 * @old: what the signals did before: SIGTSTP, SIGCONT, then those that are fatal
 */
static struct {
	int fd;
	struct termios before;
	volatile sig_atomic_t taken;
	struct sigaction old[2 + ARRAY_SIZE(fatal)];
} keyboard = {.fd = -1};

bool keyboard_ours(void)
{
	return keyboard.fd >= 0 && tcgetpgrp(keyboard.fd) == getpgrp();
}

bool keyboard_taken(void)
{
	return keyboard.taken;
}

/* Also in a signal handler. In the background its modes are somebody else's. */
void keyboard_leave(void)
{
	if (keyboard.taken && keyboard_ours())
		tcsetattr(keyboard.fd, TCSANOW, &keyboard.before);
	keyboard.taken = 0;
}

bool keyboard_take(void)
{
	struct termios now;

	if (!keyboard_ours() || tcgetattr(keyboard.fd, &now))
		return false;
	/* A peer may have had it in between, and has left lines. */
	if (keyboard.taken && !(now.c_lflag & ICANON))
		return true;
	/* Who is not in these has been left by somebody who died. */
	if (now.c_lflag & ICANON)
		keyboard.before = now;
	now.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	now.c_cc[VMIN] = 1;
	now.c_cc[VTIME] = 0;
	keyboard.taken = 1;
	/* Not after somebody else's output: a terminal may be stopped. */
	if (tcsetattr(keyboard.fd, TCSANOW, &now))
		keyboard.taken = 0;
	return keyboard.taken;
}

/* It stops here, as it would have without a handler. */
static void on_stop(int sig)
{
	struct sigaction stop = {.sa_handler = SIG_DFL}, own;
	int saved = errno;
	sigset_t set, mask;

	keyboard_leave();
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigaction(sig, &stop, &own);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &set, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(sig, &own, NULL);
	errno = saved;
}

/* A shell may have had the terminal meanwhile, and has given it back, or not. */
static void on_continue(int sig)
{
	int saved = errno;

	(void)sig;
	keyboard_leave();
	errno = saved;
}

/* It dies of it when this returns. */
static void on_fatal(int sig)
{
	keyboard_leave();
	for (size_t i = 0; i < ARRAY_SIZE(fatal); i++) {
		if (fatal[i] == sig)
			sigaction(sig, &keyboard.old[2 + i], NULL);
	}
	raise(sig);
}

/* What is ignored stays so. */
static void handle(int sig, void (*handler)(int), struct sigaction *old)
{
	/* Whoever waits in a system call goes on; epoll_wait() returns in any case, signal(7). */
	struct sigaction own = {.sa_handler = handler, .sa_flags = SA_RESTART};

	sigaction(sig, NULL, old);
	if (old->sa_handler != SIG_IGN)
		sigaction(sig, &own, NULL);
}

int keyboard_open(void)
{
	int fd;

	if (!isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) < 0)
		return -1;
	/* Not standard input itself: its flags are those of other processes, too. */
	fd = open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (tcgetattr(fd, &keyboard.before)) {
		close(fd);
		return -1;
	}
	keyboard.fd = fd;
	handle(SIGTSTP, on_stop, &keyboard.old[0]);
	handle(SIGCONT, on_continue, &keyboard.old[1]);
	for (size_t i = 0; i < ARRAY_SIZE(fatal); i++)
		handle(fatal[i], on_fatal, &keyboard.old[2 + i]);
	return fd;
}

void keyboard_close(void)
{
	if (keyboard.fd < 0)
		return;
	keyboard_leave();
	sigaction(SIGTSTP, &keyboard.old[0], NULL);
	sigaction(SIGCONT, &keyboard.old[1], NULL);
	for (size_t i = 0; i < ARRAY_SIZE(fatal); i++)
		sigaction(fatal[i], &keyboard.old[2 + i], NULL);
	close(keyboard.fd);
	keyboard.fd = -1;
}
