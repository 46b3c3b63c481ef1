// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE /* pipe2(), F_SETPIPE_SZ, close_range() */
#include "peer/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The most that an ordinary user may have: a burst then does not make the recorder wait. */
#define PIPE_BYTES (1 << 20)
/* As shells have it: what cannot be run. */
#define STATUS_NOT_RUN 126
#define STATUS_NOT_FOUND 127
/* How often tail(1) looks: of standard input it is not told when it grows. */
#define TAIL_SECONDS "0.2"

enum source_kind { SOURCE_COMMAND, SOURCE_FILE, SOURCE_FIFO };

struct start {
	const char *source;
	const struct peer_user *user;
	int out;
	int err;
};

static enum source_kind source_kind(const char *source)
{
	struct stat st;

	if (stat(source, &st))
		return SOURCE_COMMAND;
	if (S_ISFIFO(st.st_mode))
		return SOURCE_FIFO;
	return S_ISREG(st.st_mode) ? SOURCE_FILE : SOURCE_COMMAND;
}

bool child_is_file(const char *source)
{
	return source_kind(source) == SOURCE_FILE;
}

static void __attribute__((noreturn)) give_up(const char *what, int err, int status)
{
	dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(err));
	_exit(status);
}

/*
 * signal(3) refuses those that the C library has for itself; who started us may have ignored them all the same.
 * All zeroes is the kernel's struct sigaction (include/linux/signal_types.h) for SIG_DFL.
 */
static void default_signals(void)
{
	static const unsigned long by_default[4];
	sigset_t none;

	/* SIGKILL and SIGSTOP cannot be other. */
	for (int s = 1; s < NSIG; s++)
		syscall(SYS_rt_sigaction, s, by_default, NULL, NSIG / 8);
	/* serve takes that one, and `systemctl kill` sends it to all processes of a service: ssh would die of it. */
	signal(SIGUSR1, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* What the command would say to a service manager is not said of it, sd_notify(3). */
static void leave_manager(void)
{
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_PID");
	unsetenv("WATCHDOG_USEC");
}

/* Only those two of ours are left: another one would keep its reader from the end, or a guard from ours. */
static void take_descriptors(const struct start *s)
{
	/* Neither may be one that the other one gets. */
	int out = fcntl(s->out, F_DUPFD, STDERR_FILENO + 1);
	int err = fcntl(s->err, F_DUPFD, STDERR_FILENO + 1);

	if (out < 0 || err < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		_exit(STATUS_NOT_RUN);
	close(STDIN_FILENO);
	close_range(STDERR_FILENO + 1, ~0u, 0);
}

/* A child of the guard, and of its group: becomes the command. */
static void become(void *context)
{
	const struct start *s = context;
	enum source_kind kind = source_kind(s->source);
	pid_t guard = getppid();
	int err;

	default_signals();
	leave_manager();
	take_descriptors(s);
	/* The lowest one is free: standard input. A FIFO that nobody writes yet keeps us here. */
	if (open(kind == SOURCE_COMMAND ? "/dev/null" : s->source, O_RDONLY) != STDIN_FILENO)
		give_up(s->source, errno, STATUS_NOT_RUN);
	err = peer_user_become(s->user);
	if (err)
		give_up("cannot become the user who called sudo", -err, STATUS_NOT_RUN);
	/* Cleared where credentials change, prctl(2), so after that; the guard may be gone by now. */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != guard)
		_exit(STATUS_NOT_RUN);
	if (kind == SOURCE_FIFO)
		execlp("cat", "cat", (char *)NULL);
	else if (kind == SOURCE_FILE)
		execlp("tail", "tail", "-c", "+1", "-f", "-s", TAIL_SECONDS, (char *)NULL);
	else
		execl("/bin/sh", "sh", "-c", s->source, (char *)NULL);
	give_up("cannot run it", errno, STATUS_NOT_FOUND);
}

/* No handler and no default action of ours runs in the child before it has its own. */
static pid_t fork_guard(int report_fd, struct start *s)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (!pid) {
		if (setpgid(0, 0))
			_exit(EXIT_FAILURE);
		guard_run(report_fd, become, s);
	}
	/* Here as well: whoever comes first. */
	if (pid > 0)
		setpgid(pid, pid);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static void close_both(const int fd[2])
{
	for (int i = 0; i < 2; i++) {
		if (fd[i] >= 0)
			close(fd[i]);
	}
}

int child_start(struct child *c, const char *source, const struct peer_user *user)
{
	int report[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, ret;
	struct start s = {.source = source, .user = user};

	*c = (struct child){.report_fd = -1, .out = -1, .err = -1};
	signal(SIGCHLD, SIG_DFL);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, report) ||
	    pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		goto fail;
	s.out = out[1];
	s.err = err[1];
	c->group = fork_guard(report[1], &s);
	if (c->group < 0)
		goto fail;
	close(report[1]);
	close(out[1]);
	close(err[1]);
	c->report_fd = report[0];
	c->out = out[0];
	c->err = err[0];
	fcntl(c->out, F_SETFL, O_NONBLOCK);
	fcntl(c->err, F_SETFL, O_NONBLOCK);
	fcntl(c->out, F_SETPIPE_SZ, PIPE_BYTES);
	return 0;

fail:
	ret = -errno;
	c->group = 0;
	close_both(report);
	close_both(out);
	close_both(err);
	return ret;
}

bool child_report(struct child *c, struct guard_report *r)
{
	ssize_t n;

	if (c->report_fd < 0)
		return false;
	n = recv(c->report_fd, r, sizeof(*r), MSG_DONTWAIT);
	if (n == sizeof(*r))
		return true;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	close(c->report_fd);
	c->report_fd = -1;
	return false;
}

void child_signal(const struct child *c, int signal)
{
	/* The guard, ended or not, has not been waited for, so its id is nobody else's. */
	if (c->group > 0)
		kill(-c->group, signal);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void child_kill(struct child *c)
{
	if (c->group > 0) {
		child_signal(c, SIGKILL);
		close_fd(&c->report_fd);
		close_fd(&c->out);
		close_fd(&c->err);
	}
	c->group = 0;
}

void child_end(struct child *c)
{
	const pid_t guard = c->group;

	child_kill(c);
	while (guard > 0 && waitpid(guard, NULL, 0) < 0 && errno == EINTR)
		;
}
