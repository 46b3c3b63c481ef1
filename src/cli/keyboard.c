// SPDX-License-Identifier: GPL-2.0-only
#include "cli/keyboard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <termios.h>
#include <unistd.h>

#include "core/array.h"

/*
 * Signals that end a process without running any more of its code: after an error, or sent by
 * others.
 */
static const int fatal[] = {SIGABRT, SIGBUS,  SIGFPE,  SIGILL,	SIGQUIT, SIGSEGV,
			    SIGSYS,  SIGTRAP, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};

/*
 * File-wide, because signal handlers need it.
 * @before: the terminal's modes for other programs: whole lines, with echo
 * @taken: our modes are set
 * @old: earlier actions of the signals: SIGTSTP, SIGCONT, then those in fatal[]
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

/* May be called from a signal handler. In the background, the modes belong to another process. */
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
	/* A peer may have had the terminal in between, and have left it in line mode. */
	if (keyboard.taken && !(now.c_lflag & ICANON))
		return true;
	/* Without ICANON, the modes are those of a program that died without restoring them. */
	if (now.c_lflag & ICANON)
		keyboard.before = now;
	now.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	now.c_cc[VMIN] = 1;
	now.c_cc[VTIME] = 0;
	keyboard.taken = 1;
	/* TCSANOW does not wait for output, which a stopped terminal does not take. */
	if (tcsetattr(keyboard.fd, TCSANOW, &now))
		keyboard.taken = 0;
	return keyboard.taken;
}

/* Stops the process here, as without a handler. */
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

/* A shell may have had the terminal in between. It may be ours again, or not. */
static void on_continue(int sig)
{
	int saved = errno;

	keyboard_leave();
	errno = saved;
}

/* The raised signal kills the process when the handler returns. */
static void on_fatal(int sig)
{
	keyboard_leave();
	for (size_t i = 0; i < ARRAY_SIZE(fatal); i++) {
		if (fatal[i] == sig)
			sigaction(sig, &keyboard.old[2 + i], NULL);
	}
	raise(sig);
}

/* A signal that is ignored stays ignored. */
static void handle(int sig, void (*handler)(int), struct sigaction *old)
{
	/* SA_RESTART: system calls continue; epoll_wait() returns in any case, see signal(7). */
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
	/* Not standard input: O_NONBLOCK there would change it for other processes as well. */
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
