// SPDX-License-Identifier: GPL-2.0-only
#include "peer/child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/array.h"
#include "core/rights.h"
#include "core/time.h"
#include "core/trust.h"

/* Variables that sudo sets and that are wrong for a command that runs as sudo's caller. */
static const char *const of_sudo[] = {"SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND", "MAIL"};

static void find_groups(struct peer_user *u)
{
	int nr = PEER_GROUPS_MAX;

	/* If the user has more groups, getgrouplist() fails, but has filled in the first ones. */
	if (!u->name[0]) {
		u->groups[0] = u->gid;
		nr = 1;
	} else if (getgrouplist(u->name, u->gid, u->groups, &nr) < 0) {
		nr = PEER_GROUPS_MAX;
	}
	u->nr_groups = nr;
}

int peer_user_find(struct peer_user *u)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID"),
		   *name = getenv("SUDO_USER");
	const struct passwd *pw;

	memset(u, 0, sizeof(*u));
	if (geteuid() != 0 || !uid)
		return 0;
	if (trust_parse_id(uid, &u->uid))
		return -EINVAL;
	if (u->uid == 0)
		return 0;
	pw = getpwuid(u->uid);
	u->gid = pw ? pw->pw_gid : (gid_t)-1;
	if ((gid || !pw) && trust_parse_id(gid, &u->gid))
		return -EINVAL;
	snprintf(u->name, sizeof(u->name), "%s", pw ? pw->pw_name : name ?: "");
	snprintf(u->home, sizeof(u->home), "%s", pw && pw->pw_dir[0] ? pw->pw_dir : "/");
	snprintf(u->shell, sizeof(u->shell), "%s",
		 pw && pw->pw_shell[0] ? pw->pw_shell : "/bin/sh");
	find_groups(u);
	u->other = true;
	return 0;
}

static int set_environment(const struct peer_user *u)
{
	for (size_t i = 0; i < ARRAY_SIZE(of_sudo); i++)
		unsetenv(of_sudo[i]);
	if (setenv("HOME", u->home, 1) || setenv("SHELL", u->shell, 1))
		return -errno;
	if (!u->name[0])
		return unsetenv("USER") || unsetenv("LOGNAME") ? -errno : 0;
	return setenv("USER", u->name, 1) || setenv("LOGNAME", u->name, 1) ? -errno : 0;
}

/*
 * Root gets capabilities with each program that it executes. PR_SET_NO_NEW_PRIVS prevents that
 * (capabilities(7), prctl(2)). It needs no capability, unlike emptying the bounding set. Where the
 * kernel has Landlock, the command reaches no memory and no root directory of processes that it has
 * not started itself: for those without capabilities its user would be enough.
 */
static int be_bare(void)
{
	int err = rights_reduce(0);

	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	if (!err)
		rights_isolate();
	return err;
}

/*
 * Becomes that user, without any capability, and sets up the environment; in a child.
 *
 * If the user stays the same, only the capabilities that a program would inherit are dropped:
 * inheritable and ambient ones. With &peer_user.bare all are dropped.
 *
 * Return: 0 or a negative errno.
 */
int peer_user_become(const struct peer_user *u)
{
	if (!u->other)
		return u->bare ? be_bare() : rights_reduce(RIGHTS_ALL);
	if (setgroups((size_t)u->nr_groups, u->groups) || setresgid(u->gid, u->gid, u->gid) ||
	    setresuid(u->uid, u->uid, u->uid))
		return -errno;
	/* Securebits may have kept capabilities when the user changed. */
	return rights_reduce(0) ?: set_environment(u);
}

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

/*
 * Reports what has become of processes. Return: whether any is left. Orphans become children of the
 * guard (PR_SET_CHILD_SUBREAPER), so none is left when it has no child.
 */
static bool any_left(struct guard *g)
{
	for (;;) {
		siginfo_t si = {.si_pid = 0};

		if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG))
			return errno == EINTR;
		if (!si.si_pid)
			return true;
		if (si.si_pid != g->command)
			continue;
		g->command = 0;
		tell(g, GUARD_ENDED, si.si_code == CLD_EXITED ? si.si_status : -si.si_status);
	}
}

/*
 * Signals the guard's children, those that have left the group only, or all. Never a group: a
 * command may join one of other processes of its session, which the guard may signal, and the
 * command may not. A child has its id until the guard has waited for it.
 *
 * Return: false if the kernel does not tell (CONFIG_PROC_CHILDREN).
 */
static bool signal_children(int signal, bool outside)
{
	FILE *f = fopen("/proc/thread-self/children", "re");
	int pid;

	if (!f)
		return false;
	while (fscanf(f, "%d", &pid) == 1) {
		if (outside && getpgid(pid) == getpgrp())
			continue;
		kill(pid, signal);
		kill(pid, SIGCONT);
	}
	fclose(f);
	return true;
}

static void take_signals(const struct guard *g)
{
	struct signalfd_siginfo si;

	while (read(g->signal_fd, &si, sizeof(si)) == sizeof(si)) {
		/* The group has got it as well. */
		if (si.ssi_signo == SIGTERM)
			signal_children(SIGTERM, true);
		else if (si.ssi_signo != SIGCHLD && si.ssi_code == SI_KERNEL)
			tell(g, GUARD_INTERRUPTED, (int)si.ssi_signo);
	}
}

/*
 * Waits until a signal comes, such as SIGCHLD, or until @until. Return: whether there is time left
 * and a process.
 */
static bool wait_until(struct guard *g, uint64_t until)
{
	struct pollfd p = {.fd = g->signal_fd, .events = POLLIN};
	uint64_t now = monotonic_ns();

	if (now >= until || !any_left(g))
		return false;
	poll(&p, 1, (int)((until - now) / 1000000) + 1);
	take_signals(g);
	return true;
}

/*
 * Kills all processes. Those whose parents are killed become children of the guard, and are killed
 * next. A command that forks faster than that keeps the guard for PEER_STOP_NS, no longer.
 */
static void __attribute__((noreturn)) kill_all(struct guard *g)
{
	uint64_t until = monotonic_ns() + PEER_STOP_NS;

	while (signal_children(SIGKILL, false) && wait_until(g, until))
		;
	/*
	 * The guard is in the group, so this kills it as well. A command outside the group is
	 * killed when the guard ends.
	 */
	kill(0, SIGKILL);
	_exit(EXIT_FAILURE);
}

/* Ends all processes, because the program has ended or asks for it. */
static void __attribute__((noreturn)) end_all(struct guard *g)
{
	uint64_t until = monotonic_ns() + PEER_STOP_NS;
	char at_once;

	if (recv(g->report_fd, &at_once, sizeof(at_once), MSG_DONTWAIT) == sizeof(at_once))
		kill_all(g);
	kill(0, SIGTERM);
	kill(0, SIGCONT);
	while (wait_until(g, until))
		;
	kill_all(g);
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

/*
 * The largest pipe that an ordinary user may have, so that the recorder need not wait in a burst.
 */
#define PIPE_BYTES (1 << 20)
/* Exit statuses of shells for a command that cannot be run. */
#define STATUS_NOT_RUN 126
#define STATUS_NOT_FOUND 127
/* How often tail(1) looks for new data, as it cannot be notified when its standard input grows. */
#define TAIL_SECONDS "0.2"

/* A shell takes a text without any of these for one word. */
#define SHELL_SPECIAL " \t\n\"$&'();<>\\`|"

#define PLANTED "another user has made it, or a link to it, in a folder that others may write to"

struct start {
	const char *source;
	enum source_kind kind;
	const struct peer_user *user;
	int out;
	int err;
};

/*
 * Whether a shell would run the file of that name, where others may put a program. A shell replaces
 * ~ at the beginning, skips what begins with #, and sets a variable if = comes before a slash.
 */
static bool is_path(const char *source)
{
	const char *slash = strchr(source, '/'), *equal = strchr(source, '=');

	return slash && !(equal && equal < slash) && *source != '~' && *source != '#' &&
	       !strpbrk(source, SHELL_SPECIAL);
}

enum source_kind source_kind(const char *source)
{
	struct stat st = {.st_mode = 0};

	if (!stat(source, &st) && S_ISREG(st.st_mode))
		return SOURCE_FILE;
	if (S_ISFIFO(st.st_mode))
		return SOURCE_FIFO;
	return is_path(source) ? SOURCE_FIFO : SOURCE_COMMAND;
}

static void __attribute__((noreturn)) give_up(const char *what, int err, int status)
{
	dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(err));
	_exit(status);
}

static void __attribute__((noreturn)) refuse(const struct start *s, const char *why)
{
	dprintf(STDERR_FILENO, "%s: %s\n", s->source, why);
	_exit(STATUS_NOT_RUN);
}

/*
 * Refuses what another user has put there in order that we read it, and what is of another kind by
 * now.
 */
static void check_source(const struct start *s, const struct stat *folder, const struct stat *st)
{
	if (trust_planted(folder, st))
		refuse(s, PLANTED);
	if (s->kind == SOURCE_FILE && !S_ISREG(st->st_mode))
		refuse(s, "it is not a file any more");
	if (s->kind == SOURCE_FIFO && !S_ISFIFO(st->st_mode))
		refuse(s, "it is not a FIFO");
}

/*
 * Opens a file or a FIFO as standard input, by a way on which each step is checked. If it is a
 * FIFO, this waits until another process opens it for writing.
 */
static void open_source(const struct start *s)
{
	struct trust_walk w;
	struct stat folder, st;
	int err = trust_walk(&w, s->source, TRUST_NOT_PLANTED, true), fd;
	bool in_proc;

	if (err == -EPERM)
		refuse(s, PLANTED);
	if (err)
		give_up(s->source, -err, err == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN);
	if (fstat(w.fd, &folder) || fstatat(w.fd, w.rest, &st, AT_SYMLINK_NOFOLLOW))
		give_up(s->source, errno, STATUS_NOT_FOUND);
	/* A link that is left is one of /proc, or others have just put it there. */
	in_proc = S_ISLNK(st.st_mode) && trust_in_proc(w.fd);
	if (in_proc && fstatat(w.fd, w.rest, &st, 0))
		give_up(s->source, errno, STATUS_NOT_FOUND);
	check_source(s, &folder, &st);
	fd = openat(w.fd, w.rest, O_RDONLY | O_NOCTTY | (in_proc ? 0 : O_NOFOLLOW));
	/* Others may have replaced it meanwhile. */
	if (fd < 0 || fstat(fd, &st))
		give_up(s->source, errno, STATUS_NOT_RUN);
	check_source(s, &folder, &st);
	close(w.fd);
	if (fd != STDIN_FILENO && (dup2(fd, STDIN_FILENO) < 0 || close(fd)))
		_exit(STATUS_NOT_RUN);
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

/* A command that asks for something then fails at once, and opens no window for it, ssh(1). */
static void leave_terminal(void)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd >= 0) {
		ioctl(fd, TIOCNOTTY);
		close(fd);
	}
	setenv("SSH_ASKPASS_REQUIRE", "never", 0);
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

static void become_user(const struct peer_user *u)
{
	int err = peer_user_become(u);

	if (err)
		give_up("cannot become the user who called sudo", -err, STATUS_NOT_RUN);
}

/* Becomes the command, in a child of the guard and in the guard's process group. */
static void become(void *context)
{
	const struct start *s = context;
	pid_t guard = getppid();

	default_signals();
	leave_manager();
	if (!s->user->terminal)
		leave_terminal();
	take_descriptors(s);
	/* What another user may not read must not be opened for that user. */
	if (s->user->other)
		become_user(s->user);
	/* 0 is the lowest free descriptor, so open() returns standard input. */
	if (s->kind != SOURCE_COMMAND)
		open_source(s);
	else if (open("/dev/null", O_RDONLY) != STDIN_FILENO)
		give_up("/dev/null", errno, STATUS_NOT_RUN);
	if (!s->user->other)
		become_user(s->user);
	/*
	 * The kernel clears this when credentials change (prctl(2)), so set it afterwards. The
	 * guard may have ended by now.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != guard)
		_exit(STATUS_NOT_RUN);
	if (s->kind == SOURCE_FIFO)
		execlp("cat", "cat", (char *)NULL);
	else if (s->kind == SOURCE_FILE)
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

int child_start(struct child *c, const char *source, enum source_kind kind,
		const struct peer_user *user)
{
	int report[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1}, ret;
	struct start s = {.source = source, .kind = kind, .user = user};

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
	if (c->group <= 0 || c->until_ns)
		return;
	c->until_ns = monotonic_ns() + GUARD_END_NS;
	/* What a guard leaves that was killed is killed here, if it is in the group. */
	if (c->report_fd < 0 || send(c->report_fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		child_signal(c, SIGKILL);
	close_fd(&c->out);
	close_fd(&c->err);
}

bool guard_wait(pid_t guard, uint64_t until_ns)
{
	pid_t ended = waitpid(guard, NULL, WNOHANG);

	if (ended)
		return ended > 0 || errno != EINTR;
	if (monotonic_ns() < until_ns)
		return false;
	kill(-guard, SIGKILL);
	while (waitpid(guard, NULL, 0) < 0 && errno == EINTR)
		;
	return true;
}

void child_end(struct child *c)
{
	child_kill(c);
	while (c->group > 0 && !guard_wait(c->group, c->until_ns)) {
		/* The other end is closed when the guard ends. */
		struct pollfd p = {.fd = c->report_fd, .events = 0};

		poll(&p, 1, 10);
	}
	close_fd(&c->report_fd);
	c->group = 0;
}
