// SPDX-License-Identifier: GPL-2.0-only
#include "cli/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <termios.h>
#include <unistd.h>

#include "core/hash.h"
#include "core/timer.h"

/*
 * Reads keys as they are pressed, without echo. While this program has the terminal, it sets the
 * terminal's modes. It restores them at its end, when it is stopped, and when it dies.
 */

/*
 * Signals that kill the process at once, so that only their handler can restore the terminal. They
 * come after an error of this program, or from another process.
 */
static const int fatal[] = {SIGABRT, SIGBUS,  SIGFPE,  SIGILL,	SIGQUIT, SIGSEGV,
			    SIGSYS,  SIGTRAP, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};

/*
 * File-wide, because signal handlers need it. There is only one terminal.
 * @before: the terminal's modes before ours, for other programs: whole lines, with echo
 * @taken: our modes are set
 * @screen: the terminal shows its other screen; see browser_screen()
 * @old: earlier actions of the signals: SIGTSTP, SIGCONT, then those in fatal[]
 */
static struct {
	int fd;
	struct termios before;
	volatile sig_atomic_t taken;
	volatile sig_atomic_t screen;
	struct sigaction old[2 + ARRAY_SIZE(fatal)];
} keyboard = {.fd = -1};

/** keyboard_ours() - whether this process may read the terminal, because it is in the foreground */
static bool keyboard_ours(void)
{
	return keyboard.fd >= 0 && tcgetpgrp(keyboard.fd) == getpgrp();
}

/**
 * keyboard_taken() - whether the modes are set; false after the process was stopped, as other
 * programs may have changed them since
 */
static bool keyboard_taken(void)
{
	return keyboard.taken;
}

/** keyboard_leave() - restore the terminal's modes */
/* May be called from a signal handler. In the background, the modes belong to another process. */
static void keyboard_leave(void)
{
	if (keyboard.taken && keyboard_ours())
		tcsetattr(keyboard.fd, TCSANOW, &keyboard.before);
	keyboard.taken = 0;
}

/**
 * keyboard_take() - set the modes, if this process is in the foreground. Ctrl-C, Ctrl-Z and the
 * like still send signals
 *
 * Return: whether the modes are set.
 */
static bool keyboard_take(void)
{
	struct termios now;

	if (!keyboard_ours() || tcgetattr(keyboard.fd, &now))
		return false;
	/* Another program may have left the terminal in line mode: then set the modes again. */
	if (keyboard.taken && !(now.c_lflag & ICANON))
		return true;
	/* Without ICANON, another program has died and not restored the modes: do not keep them. */
	if (now.c_lflag & ICANON)
		keyboard.before = now;
	now.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	now.c_cc[VMIN] = 1;
	now.c_cc[VTIME] = 0;
	keyboard.taken = 1;
	/* TCSANOW does not wait until all output is written. A stopped terminal takes none. */
	if (tcsetattr(keyboard.fd, TCSANOW, &now))
		keyboard.taken = 0;
	return keyboard.taken;
}

/* For signal handlers. The screen is drawn again when this program continues. */
static void keyboard_leave_screen(void)
{
	if (keyboard.screen && keyboard_ours() &&
	    write(keyboard.fd, SCREEN_LEAVE, strlen(SCREEN_LEAVE)) > 0)
		keyboard.screen = 0;
}

/* Stops the process here, as without a handler. */
static void on_stop(int sig)
{
	struct sigaction stop = {.sa_handler = SIG_DFL}, own;
	int saved = errno;
	sigset_t set, mask;

	keyboard_leave_screen();
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

/*
 * A shell may have had the terminal, and changed its modes. browser_update() sets ours again if the
 * terminal is ours.
 */
static void on_continue(int sig)
{
	int saved = errno;

	keyboard_leave();
	errno = saved;
}

/* The raised signal kills the process when the handler returns. */
static void on_fatal(int sig)
{
	keyboard_leave_screen();
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

/**
 * keyboard_open() - open the terminal; its modes are not changed yet
 *
 * Return: a descriptor that does not block, to be read only while keyboard_taken(); the caller
 * calls keyboard_close(). -1 if standard input is not the controlling terminal, or it cannot be
 * opened.
 */
static int keyboard_open(void)
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

/** keyboard_close() - restore the modes, and release */
static void keyboard_close(void)
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

/*
 * The bytes of a key's sequence come together, but a network may separate them. After this time
 * without another byte, Escape is a key of its own.
 */
#define SEQUENCE_NS 50000000ULL
/* Bytes read in one round of the loop; the next round reads the rest. */
#define READ_BYTES 64

int browser_open(struct browser *b, struct view_state *state, bool screen)
{
	*b = (struct browser){.state = state, .keyboard_fd = -1, .timer_fd = -1};
	b->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (b->epoll_fd < 0)
		return -errno;
	if (screen)
		b->keyboard_fd = keyboard_open();
	if (b->keyboard_fd < 0)
		return 0;
	b->timer_fd = timer_new(0, false);
	return b->timer_fd < 0 ? -errno : browser_add(b, b->timer_fd);
}

int browser_add(const struct browser *b, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(b->epoll_fd, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static void read_keyboard(struct browser *b, bool on)
{
	if (b->reads == on)
		return;
	b->reads = on;
	if (on)
		browser_add(b, b->keyboard_fd);
	else
		epoll_ctl(b->epoll_fd, EPOLL_CTL_DEL, b->keyboard_fd, NULL);
}

bool browser_update(struct browser *b)
{
	bool had = b->reads && keyboard_taken(), has;

	if (b->keyboard_fd < 0)
		return false;
	has = keyboard_ours() && keyboard_take();
	read_keyboard(b, has);
	b->state->keys = has;
	return has && !had;
}

/*
 * The keyboard is gone for good. If it stayed in the epoll set, epoll_wait() would report it again
 * and again.
 */
static void lose_keyboard(struct browser *b)
{
	read_keyboard(b, false);
	keyboard_close();
	b->keyboard_fd = -1;
	b->state->keys = false;
	b->state->paused = false;
}

/* Return: whether there was anything. */
static bool take_bytes(struct browser *b)
{
	struct pollfd p = {.fd = b->keyboard_fd, .events = POLLIN};
	char bytes[READ_BYTES];
	ssize_t n;

	/* The kernel stops a background process that reads from its terminal. */
	if (!b->reads || !keyboard_taken() || !keyboard_ours() || poll(&p, 1, 0) <= 0)
		return false;
	n = p.revents & POLLIN ? read(b->keyboard_fd, bytes, sizeof(bytes)) : 0;
	if (n > 0)
		keys_put(&b->keys, bytes, (size_t)n);
	else if (p.revents & (POLLHUP | POLLERR | POLLNVAL))
		lose_keyboard(b);
	return n > 0;
}

void browser_screen(bool shown)
{
	keyboard.screen = shown;
}

static enum pressed_wish more(enum pressed_wish a, enum pressed_wish b)
{
	return a > b ? a : b;
}

enum pressed_wish browser_ready(struct browser *b, const struct stats *s)
{
	enum pressed_wish wish = PRESSED_NOTHING;
	bool late;
	int key;

	if (b->keyboard_fd < 0)
		return wish;
	late = timer_fired(b->timer_fd) != 0;
	if (take_bytes(b))
		late = false;
	while ((key = keys_next(&b->keys)))
		wish = more(wish, pressed(b->state, key, s));
	if (keys_partial(&b->keys) && late) {
		key = keys_give_up(&b->keys);
		wish = more(wish, key ? pressed(b->state, key, s) : PRESSED_NOTHING);
	}
	timer_arm(b->timer_fd, keys_partial(&b->keys) ? SEQUENCE_NS : 0, false);
	return wish;
}

void browser_leave(struct browser *b)
{
	if (b->keyboard_fd < 0)
		return;
	read_keyboard(b, false);
	keyboard_close();
	b->keyboard_fd = -1;
	b->state->keys = false;
}

void browser_close(struct browser *b)
{
	browser_leave(b);
	if (b->timer_fd >= 0)
		close(b->timer_fd);
	if (b->epoll_fd >= 0)
		close(b->epoll_fd);
	b->timer_fd = b->epoll_fd = -1;
}
