// SPDX-License-Identifier: GPL-2.0-only
#include "cli/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/text.h"
#include "core/time.h"

#define NS_PER_US 1000

/*
 * Any user may write to the manager's socket, and fill its queue. The kernel lets those that wait
 * in turn: so long at most.
 */
#define TURN_MS 200

/* File-wide, as a process has one service manager. @unsent: states that found no room */
static int notify_fd = -1;
static char unsent[256];

int notify_open(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *name = getenv("NOTIFY_SOCKET");
	size_t len = name ? strlen(name) : 0;
	const struct timeval turn = {.tv_usec = TURN_MS * 1000};
	socklen_t size;

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
	if (setsockopt(notify_fd, SOL_SOCKET, SO_SNDTIMEO, &turn, sizeof(turn)) ||
	    connect(notify_fd, (const struct sockaddr *)&to, size)) {
		int err = -errno;

		close(notify_fd);
		notify_fd = -1;
		return err;
	}
	return 1;
}

int notify(const char *state)
{
	char all[sizeof(unsent) + 128];
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
