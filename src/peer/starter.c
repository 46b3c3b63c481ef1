// SPDX-License-Identifier: GPL-2.0-only
#include "peer/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/rights.h"
#include "core/time.h"

/* `ps` shows this name, and `pkill` with the program's name does not match it. */
#define NAME "ntprof-peers"
/* Its only descriptor, besides /dev/null as its standard ones. */
#define SOCKET_FD (STDERR_FILENO + 1)
/*
 * The most guards that are ending at a time: they were asked to kill their command, and have not
 * ended yet. A peer has one, and rarely a second. At the limit one of them is killed.
 */
#define ENDING_MAX 64
/* Time from one check whether they have ended to the next. */
#define ENDING_MS 50
/* The program gives the starter this time to end by itself, and then kills it. */
#define END_MS 1000

/* The descriptors of a child that a reply carries. */
enum { REPORT, OUT, ERR, FDS };

struct starter {
	pid_t pid;
	int fd; /* -1: nothing can be started any more */
	enum source_kind *kind;
	char *const *source; /* valid until it is forked */
	unsigned int nr;
};

/* In the starter: guards that are ending. If one has not ended at @until_ns, it is killed. */
struct ending {
	pid_t guard[ENDING_MAX];
	uint64_t until_ns[ENDING_MAX];
	unsigned int nr;
};

/*
 * A request. @forget: 0: start source @i. Otherwise the id of a guard that was asked to kill its
 * command: wait for its end, which makes its id free.
 */
struct request {
	unsigned int i;
	pid_t forget;
};

struct reply {
	int err;
	pid_t group;
};

/* Room for the descriptors of a message, cmsg(3). */
union control {
	char buf[CMSG_SPACE(FDS * sizeof(int))];
	struct cmsghdr align;
};

static void send_reply(const struct child *c, int err)
{
	const int fd[FDS] = {[REPORT] = c->report_fd, [OUT] = c->out, [ERR] = c->err};
	struct reply r = {.err = err, .group = c->group};
	struct iovec v = {.iov_base = &r, .iov_len = sizeof(r)};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	union control control = {.buf = {0}};
	struct cmsghdr *h;

	if (!err) {
		m.msg_control = control.buf;
		m.msg_controllen = sizeof(control.buf);
		h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(h), fd, sizeof(fd));
	}
	/* If the receiver is gone, the descriptors are closed, and the guard sees that. */
	sendmsg(SOCKET_FD, &m, MSG_NOSIGNAL);
}

static void start(const char *source, enum source_kind kind, const struct peer_user *user)
{
	struct child c;
	int err = child_start(&c, source, kind, user);

	send_reply(&c, err);
	if (err)
		return;
	close(c.report_fd);
	close(c.out);
	close(c.err);
}

static void wait_for_guards(struct ending *e)
{
	const uint64_t now = monotonic_ns();

	for (unsigned int i = e->nr; i--;) {
		/* At the limit one is killed, which makes room for the next. */
		if (!guard_wait(e->guard[i], e->nr == ENDING_MAX ? now : e->until_ns[i]))
			continue;
		e->nr--;
		e->guard[i] = e->guard[e->nr];
		e->until_ns[i] = e->until_ns[e->nr];
	}
}

static void forget(struct ending *e, pid_t guard)
{
	e->guard[e->nr] = guard;
	e->until_ns[e->nr++] = monotonic_ns() + GUARD_END_NS;
	wait_for_guards(e);
}

/* The program waits END_MS for this. A guard that is left continues without the starter. */
static void __attribute__((noreturn)) end(struct ending *e)
{
	while (e->nr) {
		wait_for_guards(e);
		poll(NULL, 0, 1);
	}
	_exit(EXIT_SUCCESS);
}

/* It never blocks until a guard has ended, because other peers have to be started meanwhile. */
static void __attribute__((noreturn)) serve(const struct starter *s, const struct peer_user *user)
{
	struct pollfd p = {.fd = SOCKET_FD, .events = POLLIN};
	struct ending ending = {.nr = 0};
	struct request q;

	for (;;) {
		ssize_t n;

		if (poll(&p, 1, ending.nr ? ENDING_MS : -1) == 0) {
			wait_for_guards(&ending);
			continue;
		}
		n = recv(SOCKET_FD, &q, sizeof(q), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(q) || q.i >= s->nr)
			end(&ending);
		if (q.forget)
			forget(&ending, q.forget);
		else
			start(s->source[q.i], s->kind[q.i], user);
	}
}

/*
 * Keeps only the capabilities that are needed to start and end commands.
 */
static void keep_rights(const struct peer_user *user)
{
	uint64_t keep = RIGHT(CAP_KILL) | RIGHT(CAP_DAC_READ_SEARCH);

	if (!user->other && !user->bare)
		return;
	if (user->other)
		keep |= RIGHT(CAP_SETUID) | RIGHT(CAP_SETGID);
	rights_reduce(keep);
}

/* In a session of its own, commands have no terminal, and cannot join a process group of ours. */
static void __attribute__((noreturn))
be_starter(int fd, const struct starter *s, const struct peer_user *user)
{
	int null = open("/dev/null", O_RDWR), kept = fcntl(fd, F_DUPFD, SOCKET_FD);

	prctl(PR_SET_NAME, NAME, 0, 0, 0);
	if (setsid() < 0)
		_exit(EXIT_FAILURE);
	for (int i = STDIN_FILENO; i < SOCKET_FD; i++)
		if (dup2(null, i) < 0)
			_exit(EXIT_FAILURE);
	if (dup2(kept, SOCKET_FD) < 0 || fcntl(SOCKET_FD, F_SETFD, FD_CLOEXEC))
		_exit(EXIT_FAILURE);
	close_range(SOCKET_FD + 1, ~0u, 0);
	keep_rights(user);
	serve(s, user);
}

/*
 * All signals stay blocked in the starter. Keys at a terminal are not for it, and it ends when the
 * program does.
 */
static pid_t fork_starter(int fd, const struct starter *s, const struct peer_user *user)
{
	sigset_t all, before;
	pid_t pid;

	signal(SIGCHLD, SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (!pid)
		be_starter(fd, s, user);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

struct starter *starter_new(char *const *sources, unsigned int nr, const struct peer_user *user)
{
	const struct timeval patience = {.tv_sec = STARTER_PATIENCE_NS / 1000000000};
	struct starter *s = calloc(1, sizeof(*s));
	int fd[2], saved;

	if (!s)
		return NULL;
	s->fd = -1;
	s->source = sources;
	s->nr = nr;
	s->kind = calloc(nr, sizeof(*s->kind));
	if (!s->kind || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd)) {
		free(s->kind);
		free(s);
		return NULL;
	}
	for (unsigned int i = 0; i < nr; i++)
		s->kind[i] = source_kind(sources[i]);
	s->pid = fork_starter(fd[1], s, user);
	saved = errno;
	close(fd[1]);
	s->fd = fd[0];
	if (s->pid > 0 &&
	    !setsockopt(s->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) &&
	    !setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)))
		return s;
	starter_free(s);
	errno = saved;
	return NULL;
}

static void give_up(struct starter *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* Return: whether the request was sent. */
static bool ask(struct starter *s, const struct request *q)
{
	if (s->fd < 0)
		return false;
	if (send(s->fd, q, sizeof(*q), MSG_NOSIGNAL) == sizeof(*q))
		return true;
	give_up(s);
	return false;
}

static bool take_fds(struct msghdr *m, int fd[FDS])
{
	const struct cmsghdr *h = CMSG_FIRSTHDR(m);

	if (!h || h->cmsg_type != SCM_RIGHTS || h->cmsg_len != CMSG_LEN(FDS * sizeof(int)))
		return false;
	memcpy(fd, CMSG_DATA(h), FDS * sizeof(int));
	return true;
}

/* Return: 0 with @r set, and with @fd set unless @r has an error; or a negative errno. */
static int take_reply(const struct starter *s, struct reply *r, int fd[FDS])
{
	struct iovec v = {.iov_base = r, .iov_len = sizeof(*r)};
	union control control = {.buf = {0}};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = control.buf,
			   .msg_controllen = sizeof(control.buf)};
	ssize_t n;

	do
		n = recvmsg(s->fd, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(*r))
		return -EPIPE;
	if (r->err)
		return 0;
	return take_fds(&m, fd) ? 0 : -EPIPE;
}

int starter_start(struct starter *s, unsigned int i, struct child *c)
{
	struct reply r = {.err = 0};
	int fd[FDS];

	*c = (struct child){.report_fd = -1, .out = -1, .err = -1};
	if (!ask(s, &(struct request){.i = i}))
		return -EPIPE;
	if (take_reply(s, &r, fd)) {
		give_up(s);
		return -EPIPE;
	}
	if (r.err)
		return r.err;
	*c = (struct child){
		.group = r.group, .report_fd = fd[REPORT], .out = fd[OUT], .err = fd[ERR]};
	return 0;
}

void starter_end(struct starter *s, struct child *c)
{
	child_kill(c);
	/* The starter may wait for the guard from now on. Then another process may get its id. */
	if (c->group > 0)
		ask(s, &(struct request){.forget = c->group});
	if (c->report_fd >= 0)
		close(c->report_fd);
	*c = (struct child){.report_fd = -1, .out = -1, .err = -1};
}

bool starter_has_file(const struct starter *s, unsigned int i)
{
	return s->kind[i] == SOURCE_FILE;
}

void starter_free(struct starter *s)
{
	if (!s)
		return;
	if (s->fd >= 0) {
		struct pollfd p = {.fd = s->fd, .events = POLLIN};

		/* The socket becomes readable when the starter closes its end. */
		shutdown(s->fd, SHUT_WR);
		poll(&p, 1, END_MS);
		close(s->fd);
	}
	if (s->pid > 0) {
		kill(s->pid, SIGKILL);
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(s->kind);
	free(s);
}
