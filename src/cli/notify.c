// SPDX-License-Identifier: GPL-2.0-only
#include "cli/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NS_PER_US 1000

/* File-wide, as a process has one service manager. */
static int notify_fd = -1;

int notify_open(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const char *name = getenv("NOTIFY_SOCKET");
	size_t len = name ? strlen(name) : 0;
	socklen_t size;

	if (notify_fd >= 0)
		close(notify_fd);
	notify_fd = -1;
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
	notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (notify_fd < 0)
		return -errno;
	if (connect(notify_fd, (const struct sockaddr *)&to, size)) {
		int err = -errno;

		close(notify_fd);
		notify_fd = -1;
		return err;
	}
	return 1;
}

int notify(const char *state)
{
	if (notify_fd < 0)
		return 0;
	return send(notify_fd, state, strlen(state), MSG_NOSIGNAL) < 0 ? -errno : 1;
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
