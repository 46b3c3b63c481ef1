// SPDX-License-Identifier: GPL-2.0-only
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

/*
 * The largest pipe that an ordinary user may have, so that the recorder need not wait in a burst.
 */
#define PIPE_BYTES (1 << 20)
/* Exit statuses of shells for a command that cannot be run. */
#define STATUS_NOT_RUN 126
#define STATUS_NOT_FOUND 127
/* How often tail(1) looks for new data, as it cannot be notified when its standard input grows. */
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
 * The process that started us may have ignored any signal. signal(3) refuses the signals that the C
 * library keeps for itself, so this uses the system call. The kernel's struct sigaction
 * (include/linux/signal_types.h) of all zeroes means SIG_DFL.
 */
static void default_signals(void)
{
	static const unsigned long by_default[4];
	sigset_t none;

	/* SIGKILL and SIGSTOP cannot be changed; that they fail does no harm. */
	for (int s = 1; s < NSIG; s++)
		syscall(SYS_rt_sigaction, s, by_default, NULL, NSIG / 8);
	/*
	 * `systemctl kill` sends SIGUSR1, which serve handles, to all processes of a service. ssh
	 * would die of it.
	 */
	signal(SIGUSR1, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A command that is a service, too, must not notify our service manager, sd_notify(3). */
static void leave_manager(void)
{
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_PID");
	unsetenv("WATCHDOG_USEC");
}

/*
 * The command gets only the two pipes. With another descriptor of ours, the reader of that one
 * would not see its end, or a guard would not see our end.
 */
static void take_descriptors(const struct start *s)
{
	/*
	 * First move both out of the range 0 to 2, so that dup2() does not overwrite one with the
	 * other.
	 */
	int out = fcntl(s->out, F_DUPFD, STDERR_FILENO + 1);
	int err = fcntl(s->err, F_DUPFD, STDERR_FILENO + 1);

	if (out < 0 || err < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		_exit(STATUS_NOT_RUN);
	close(STDIN_FILENO);
	close_range(STDERR_FILENO + 1, ~0u, 0);
}

/* Becomes the command, in a child of the guard and in the guard's process group. */
static void become(void *context)
{
	const struct start *s = context;
	enum source_kind kind = source_kind(s->source);
	pid_t guard = getppid();
	int err;

	default_signals();
	leave_manager();
	take_descriptors(s);
	/*
	 * 0 is the lowest free descriptor, so open() returns standard input. If the source is a
	 * FIFO, this waits until another process opens it for writing.
	 */
	if (open(kind == SOURCE_COMMAND ? "/dev/null" : s->source, O_RDONLY) != STDIN_FILENO)
		give_up(s->source, errno, STATUS_NOT_RUN);
	err = peer_user_become(s->user);
	if (err)
		give_up("cannot become the user who called sudo", -err, STATUS_NOT_RUN);
	/*
	 * The kernel clears this when credentials change (prctl(2)), so set it afterwards. The
	 * guard may have ended by now.
	 */
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

/* All signals are blocked, so that none of our handlers runs in the child. */
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
	/* The parent does this as well, as either process may come first. */
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
	/* The guard has not been waited for, so no other process can have its id. */
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
