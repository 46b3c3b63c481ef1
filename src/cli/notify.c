// SPDX-License-Identifier: GPL-2.0-only
#include "cli/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/array.h"
#include "core/rights.h"
#include "core/text.h"
#include "core/time.h"

#define NS_PER_US 1000

/*
 * Any user may write to the manager's socket, and fill its queue. The kernel lets those that wait
 * in turn: so long at most.
 */
#define TURN_MS 200
/* `ps` shows this name, and `pkill` with the program's name does not match it. */
#define NAME "ntprof-notify"

/*
 * File-wide, as a process has one service manager. @notify_fd: the socket of the manager, or of the
 * process that has it; @unsent: states that found no room
 */
static int notify_fd = -1;
static char unsent[256];
/* The longest message: a state, after those that were unsent. */
#define MESSAGE_LEN (sizeof(unsent) + 128)

/* Limits how long a send waits for room. Return: as setsockopt(2) */
static int limit_wait(int fd)
{
	const struct timeval turn = {.tv_usec = TURN_MS * 1000};

	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &turn, sizeof(turn));
}

/*
 * Return: whether @text has no other lines than this program sends. For systemd a carriage return
 * ends a line as well, and others may go on behind a zero byte.
 */
static bool is_ours(const char *text, size_t len)
{
	static const char *const ours[] = {NOTIFY_READY, NOTIFY_RELOADING, NOTIFY_STOPPING,
					   NOTIFY_ALIVE, NOTIFY_STATUS};

	if (strlen(text) != len || strchr(text, '\r'))
		return false;
	while (*text) {
		size_t i = 0;

		while (i < ARRAY_SIZE(ours) && strncmp(text, ours[i], strlen(ours[i])))
			i++;
		if (i == ARRAY_SIZE(ours))
			return false;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return true;
}

/* Sends @text to the manager at @fd as if process @pid did, for which CAP_SYS_ADMIN is needed. */
static ssize_t send_as(int fd, pid_t pid, char *text, size_t len)
{
	const struct ucred who = {.pid = pid, .uid = geteuid(), .gid = getegid()};
	union {
		char buf[CMSG_SPACE(sizeof(who))];
		struct cmsghdr align;
	} control = {.buf = {0}};
	struct iovec v = {.iov_base = text, .iov_len = len};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = control.buf,
			   .msg_controllen = sizeof(control.buf)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_CREDENTIALS;
	h->cmsg_len = CMSG_LEN(sizeof(who));
	memcpy(CMSG_DATA(h), &who, sizeof(who));
	return sendmsg(fd, &m, MSG_NOSIGNAL);
}

/* Passes on what process @pid sends, until that ends. */
static void __attribute__((noreturn)) pass_on(int from, int to, pid_t pid)
{
	char text[MESSAGE_LEN];
	ssize_t n;

	prctl(PR_SET_NAME, NAME, 0, 0, 0);
	if (dup2(from, STDIN_FILENO) < 0 || dup2(to, STDOUT_FILENO) < 0 ||
	    close_range(STDERR_FILENO, ~0u, 0) || rights_reduce(RIGHT(CAP_SYS_ADMIN)))
		_exit(EXIT_FAILURE);
	while ((n = recv(STDIN_FILENO, text, sizeof(text) - 1, 0)) > 0) {
		text[n] = '\0';
		while (is_ours(text, (size_t)n) &&
		       send_as(STDOUT_FILENO, pid, text, (size_t)n) < 0 && errno == EAGAIN)
			;
	}
	_exit(EXIT_SUCCESS);
}

/*
 * Gives the manager's socket to a process of its own. By MAINPID= and WATCHDOG=trigger, systemd
 * takes any process of the machine for the service's, and kills it, if root says so. So the process
 * that reads what strangers send cannot say so. Others than root, or without CAP_SYS_ADMIN, cannot
 * send in the name of another process, and keep the socket.
 * Return: 0 or a negative errno
 */
static int hand_over(void)
{
	sigset_t all, before;
	pid_t self = getpid(), pid;
	int fd[2];

	if (geteuid() || !(rights_effective() & RIGHT(CAP_SYS_ADMIN)))
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd))
		return -errno;
	/* It ends with this process, and not by a signal that all of the service's get. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (!pid)
		pass_on(fd[1], notify_fd, self);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(fd[1]);
	close(notify_fd);
	notify_fd = fd[0];
	return pid > 0 && !limit_wait(notify_fd) ? 0 : -errno;
}

int notify_open(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *name = getenv("NOTIFY_SOCKET");
	size_t len = name ? strlen(name) : 0;
	socklen_t size;
	int err;

	if (notify_fd >= 0)
		close(notify_fd);
	notify_fd = -1;
	unsent[0] = '\0';
	if (!len)
		return 0;
	if ((name[0] != '/' && name[0] != '@') || len >= sizeof(to.sun_path))
		return -EINVAL;
	memcpy(to.sun_path, name, len);
	/*
	 * A name in the abstract namespace begins with a zero byte and has none at its end:
	 * unix(7).
	 */
	if (name[0] == '@')
		to.sun_path[0] = '\0';
	size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (notify_fd < 0)
		return -errno;
	err = limit_wait(notify_fd) || connect(notify_fd, (const struct sockaddr *)&to, size)
		      ? -errno
		      : hand_over();
	if (!err)
		return 1;
	close(notify_fd);
	notify_fd = -1;
	return err;
}

int notify(const char *state)
{
	char all[MESSAGE_LEN];
	int len;

	if (notify_fd < 0)
		return 0;
	len = snprintf(all, sizeof(all), "%s%s", unsent, state);
	if (send(notify_fd, all, (size_t)len, MSG_NOSIGNAL) >= 0) {
		unsent[0] = '\0';
		return 1;
	}
	if (errno != EAGAIN)
		return -errno;
	if (!strcmp(state, NOTIFY_ALIVE))
		return -EAGAIN;
	/* Of states that are too many the last one counts. */
	if ((size_t)len < sizeof(unsent))
		memcpy(unsent, all, (size_t)len + 1);
	else
		snprintf(unsent, sizeof(unsent), "%s", state);
	return -EAGAIN;
}

/* Return: whether @text is a number without anything else. */
static int number_of(const char *text, uint64_t *n)
{
	char *end;

	if (!text || text[0] < '0' || text[0] > '9')
		return 0;
	errno = 0;
	*n = strtoull(text, &end, 10);
	return !errno && !*end;
}

uint64_t notify_watchdog_ns(void)
{
	const char *whose = getenv("WATCHDOG_PID");
	uint64_t pid, us;

	if (whose && (!number_of(whose, &pid) || pid != (uint64_t)getpid()))
		return 0;
	if (!number_of(getenv("WATCHDOG_USEC"), &us) || us > UINT64_MAX / NS_PER_US)
		return 0;
	return us * NS_PER_US / 2;
}

/*
 * Whether standard error goes to the journal. JOURNAL_STREAM is "DEVICE:INODE" of a journal's
 * descriptor, but standard error may have been redirected since: systemd.exec(5).
 */
static bool is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;
	char *end;

	if (!stream || fstat(STDERR_FILENO, &st))
		return false;
	device = strtoull(stream, &end, 10);
	if (*end != ':')
		return false;
	inode = strtoull(end + 1, &end, 10);
	return !*end && device == st.st_dev && inode == st.st_ino;
}

void journal(enum journal_priority priority, const char *format, ...)
{
	char line[8192];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	text_harmless(line);
	/* One call for the whole line, because other threads and processes write there, too. */
	if (is_journal())
		fprintf(stderr, "<%d>%s\n", (int)priority, line);
	else
		fprintf(stderr, "ntprof-bpf: %s\n", line);
}

#define NS_PER_SECOND 1000000000ULL

uint64_t changes_slept_ns(void)
{
	struct timespec t = {0};
	uint64_t monotonic = monotonic_ns(), boot;

	clock_gettime(CLOCK_BOOTTIME, &t);
	boot = (uint64_t)t.tv_sec * NS_PER_SECOND + (uint64_t)t.tv_nsec;
	return boot > monotonic ? boot - monotonic : 0;
}

bool changes_look(struct changes *c, unsigned int controllers, uint64_t slept_ns, char *line,
		  size_t size)
{
	const struct changes before = *c;

	c->looked = true;
	c->connected = controllers != 0;
	c->ever = before.ever || c->connected;
	/* A suspension that is too short to report is added to the next one. */
	if (!before.looked || slept_ns > before.slept_ns + CHANGES_SLEEP_MIN_NS)
		c->slept_ns = slept_ns;
	if (before.looked && c->slept_ns != before.slept_ns) {
		snprintf(
			line, size,
			"this machine was suspended for %.1f s: tracing goes on; the latencies of commands in "
			"flight leave this time out",
			(double)(slept_ns - before.slept_ns) / (double)NS_PER_SECOND);
		/* The change of the connection is reported by the next call. */
		c->connected = before.connected;
		return true;
	}
	if (before.connected == c->connected || !before.ever)
		return false;
	snprintf(line, size, "%s",
		 c->connected ? "a controller is connected again"
			      : "no controller is connected any more: tracing goes on");
	return true;
}
