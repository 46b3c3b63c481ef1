// SPDX-License-Identifier: GPL-2.0-only
#include "peer/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/array.h"
#include "core/rights.h"
#include "core/time.h"

/*
 * A name of its own, so that `ps` shows the difference and `pkill` with the program's name does not
 * match.
 */
#define NAME "ntprof-peer"
/* The only descriptor of a guard, besides /dev/null as its standard ones. */
#define REPORT_FD (STDERR_FILENO + 1)

/**
 * struct guard - the state of a guard
 * @report_fd: socket for reports; it ends when the program has ended
 * @signal_fd: signals for the guard
 * @command: process id; 0 when it has ended
 */
struct guard {
	int report_fd;
	int signal_fd;
	pid_t command;
};

static void tell(const struct guard *g, enum guard_report_kind kind, int value)
{
	struct guard_report r = {.kind = kind, .value = value};

	/* If this fails, the program has ended or is about to. */
	send(g->report_fd, &r, sizeof(r), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Reports changes of such children. Return: whether any are left. */
static bool wait_for(struct guard *g, idtype_t type, id_t id)
{
	for (;;) {
		siginfo_t si = {.si_pid = 0};

		if (waitid(type, id, &si, WEXITED | WSTOPPED | WNOHANG))
			return errno == EINTR;
		if (!si.si_pid)
			return true;
		if (si.si_code == CLD_STOPPED) {
			tell(g, GUARD_STOPPED, si.si_status);
		} else if (si.si_pid == g->command) {
			g->command = 0;
			tell(g, GUARD_ENDED,
			     si.si_code == CLD_EXITED ? si.si_status : -si.si_status);
		}
	}
}

/*
 * Returns whether any process is left. Orphans of the group become children of the guard
 * (PR_SET_CHILD_SUBREAPER), so it sees all of them. The command itself may have left the group.
 */
static bool any_left(struct guard *g)
{
	bool command = g->command && wait_for(g, P_PID, (id_t)g->command);

	return wait_for(g, P_PGID, (id_t)getpgrp()) || (command && g->command);
}

/*
 * Passes SIGTERM of the group, which the guard got as well, on to a command that has left the
 * group.
 */
static void pass_on(const struct guard *g, int signal)
{
	pid_t group = g->command ? getpgid(g->command) : -1;

	if (group <= 0 || group == getpgrp())
		return;
	kill(-group, signal);
	kill(-group, SIGCONT);
}

static void take_signals(const struct guard *g)
{
	struct signalfd_siginfo si;

	while (read(g->signal_fd, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGTERM)
			pass_on(g, SIGTERM);
		else if (si.ssi_signo != SIGCHLD && si.ssi_code == SI_KERNEL)
			tell(g, GUARD_INTERRUPTED, (int)si.ssi_signo);
	}
}

/* Ends all processes of the group, because the program has ended. */
static void __attribute__((noreturn)) end_all(struct guard *g)
{
	uint64_t now = monotonic_ns(), until = now + PEER_STOP_NS;

	kill(0, SIGTERM);
	kill(0, SIGCONT);
	for (; now < until && any_left(g); now = monotonic_ns()) {
		struct pollfd p = {.fd = g->signal_fd, .events = POLLIN};

		poll(&p, 1, (int)((until - now) / 1000000) + 1);
		take_signals(g);
	}
	/*
	 * The guard is in the group, so this kills it as well. A command outside the group is
	 * killed when the guard ends.
	 */
	kill(0, SIGKILL);
	_exit(EXIT_FAILURE);
}

static void __attribute__((noreturn)) watch(struct guard *g)
{
	struct pollfd p[] = {
		{.fd = g->signal_fd, .events = POLLIN},
		{.fd = g->report_fd, .events = POLLIN},
	};

	while (any_left(g)) {
		poll(p, ARRAY_SIZE(p), -1);
		take_signals(g);
		if (p[1].revents)
			end_all(g);
	}
	/* The signal that ended the last process may have been meant for the program, too. */
	take_signals(g);
	_exit(EXIT_SUCCESS);
}

/*
 * Closes all descriptors but @report_fd, as an open one would hide the end of a pipe or socket from
 * its reader. Return: the new number of @report_fd.
 */
static int keep_only(int report_fd)
{
	int null = open("/dev/null", O_RDWR), kept = fcntl(report_fd, F_DUPFD, REPORT_FD);

	for (int fd = STDIN_FILENO; fd < REPORT_FD; fd++) {
		if (dup2(null, fd) < 0)
			_exit(EXIT_FAILURE);
	}
	if (dup2(kept, REPORT_FD) < 0 || fcntl(REPORT_FD, F_SETFD, FD_CLOEXEC))
		_exit(EXIT_FAILURE);
	close_range(REPORT_FD + 1, ~0u, 0);
	return REPORT_FD;
}

/*
 * If SIGTERM came before the command was there, the command has not got it. Signals wait, as they
 * are blocked here.
 */
static void repeat_early_sigterm(void)
{
	sigset_t waiting;

	if (!sigpending(&waiting) && sigismember(&waiting, SIGTERM) == 1)
		kill(0, SIGTERM);
}

void guard_run(int report_fd, void (*start)(void *context), void *context)
{
	struct guard g = {0};
	sigset_t mine;

	prctl(PR_SET_NAME, NAME, 0, 0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	g.command = fork();
	if (!g.command)
		start(context);
	repeat_early_sigterm();
	/* The guard only ends processes, which may belong to another user. */
	rights_reduce(RIGHT(CAP_KILL));
	g.report_fd = keep_only(report_fd);
	sigemptyset(&mine);
	sigaddset(&mine, SIGCHLD);
	sigaddset(&mine, SIGINT);
	sigaddset(&mine, SIGQUIT);
	sigaddset(&mine, SIGHUP);
	sigaddset(&mine, SIGTERM);
	g.signal_fd = signalfd(-1, &mine, SFD_NONBLOCK | SFD_CLOEXEC);
	if (g.command < 0 || g.signal_fd < 0) {
		tell(&g, GUARD_ENDED, EXIT_FAILURE);
		kill(0, SIGKILL);
	}
	watch(&g);
}
