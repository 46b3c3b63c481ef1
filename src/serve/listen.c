// SPDX-License-Identifier: GPL-2.0-only
#include "serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/trust.h"

static const char *parse_unix(const char *path, struct sockaddr_storage *address, socklen_t *size)
{
	struct sockaddr_un *un = (struct sockaddr_un *)address;

	if (path[0] != '/')
		return "the path of a socket begins with a /";
	if (strlen(path) >= sizeof(un->sun_path))
		return "the path is too long for a socket";
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, path, strlen(path) + 1);
	*size = sizeof(*un);
	return NULL;
}

static const char *parse_port(const char *text, in_port_t *port)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || errno || n > UINT16_MAX)
		return "a port is a number up to 65535";
	*port = htons((uint16_t)n);
	return NULL;
}

const char *listen_parse(const char *text, struct sockaddr_storage *address, socklen_t *size)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
	struct sockaddr_in *four = (struct sockaddr_in *)address;
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2];
	size_t len;

	memset(address, 0, sizeof(*address));
	if (!strncmp(text, LISTEN_UNIX, strlen(LISTEN_UNIX)))
		return parse_unix(text + strlen(LISTEN_UNIX), address, size);
	if (colon == text) {
		four->sin_family = AF_INET;
		four->sin_addr.s_addr = htonl(INADDR_ANY);
		*size = sizeof(*four);
		return parse_port(colon + 1, &four->sin_port);
	}
	len = colon ? (size_t)(colon - text) : 0;
	if (!len || len >= sizeof(host))
		return "not ADDRESS:PORT or unix:PATH";
	memcpy(host, text, len);
	host[len] = '\0';
	if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		*size = sizeof(*four);
		return parse_port(colon + 1, &four->sin_port);
	}
	if (host[0] != '[' || host[len - 1] != ']')
		return "the address is none in numbers (one of IPv6 is in brackets)";
	host[len - 1] = '\0';
	if (inet_pton(AF_INET6, host + 1, &six->sin6_addr) != 1)
		return "the address is none in numbers";
	six->sin6_family = AF_INET6;
	*size = sizeof(*six);
	return parse_port(colon + 1, &six->sin6_port);
}

bool listen_is_loopback(const struct sockaddr_storage *address)
{
	const struct in6_addr *six = &((const struct sockaddr_in6 *)address)->sin6_addr;
	const struct in_addr *four = &((const struct sockaddr_in *)address)->sin_addr;

	if (address->ss_family == AF_INET)
		return ntohl(four->s_addr) >> 24 == IN_LOOPBACKNET;
	return address->ss_family == AF_INET6 &&
	       (IN6_IS_ADDR_LOOPBACK(six) ||
		(IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == IN_LOOPBACKNET));
}

bool listen_is_loopback_host(const char *host)
{
	static const char name[] = "localhost";
	struct sockaddr_storage address;
	char text[INET6_ADDRSTRLEN + sizeof("[]:65535:0")];
	const char *rest = host + strlen(name);
	in_port_t port;
	socklen_t size;

	if (!strncasecmp(host, name, strlen(name))) {
		rest += *rest == '.';
		return !*rest || (*rest == ':' && !parse_port(rest + 1, &port));
	}
	if (!listen_parse(host, &address, &size))
		return listen_is_loopback(&address);
	/* It may have no port. */
	return snprintf(text, sizeof(text), "%s:0", host) < (int)sizeof(text) &&
	       !listen_parse(text, &address, &size) && listen_is_loopback(&address);
}

/* Return: whether no process listens at the socket any more */
static bool is_left(const struct sockaddr_un *un)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool left;

	if (fd < 0)
		return false;
	left = connect(fd, (const struct sockaddr *)un, sizeof(*un)) && errno == ECONNREFUSED;
	close(fd);
	return left;
}

/* Removes @name of @folder_fd if an earlier process of ours left it behind. Return: as
 * listen_open() */
static int remove_left(const struct sockaddr_un *un, int folder_fd, const char *name)
{
	struct stat st;

	if (fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -LISTEN_NO_SOCKET;
	if (!trust_uid(st.st_uid))
		return -LISTEN_OF_OTHERS;
	if (!is_left(un))
		return -EADDRINUSE;
	return unlinkat(folder_fd, name, 0) && errno != ENOENT ? -errno : 0;
}

/* Others can lock a folder that they can read, so this long at most. */
#define TURN_MS 1000

/*
 * A socket that an instance has bound, and does not listen at yet, looks as if it were left. So
 * those that begin at the same time take turns. Return: a descriptor that ends the turn when it is
 * closed, or -1
 */
static int take_turn(int folder_fd)
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int ms = 0; fd >= 0 && ms < TURN_MS && flock(fd, LOCK_EX | LOCK_NB); ms += 10)
		usleep(10000);
	return fd;
}

/*
 * Makes room for the file of a Unix socket. @turn: see take_turn(). Return: 0, or an error as of
 * listen_open()
 */
static int clear_place(const struct sockaddr_un *un, int *turn)
{
	struct trust_walk w;
	int err = trust_walk(&w, un->sun_path, TRUST_OURS, false);

	if (err)
		return err == -EPERM ? -LISTEN_OF_OTHERS : err;
	*turn = take_turn(w.fd);
	err = remove_left(un, w.fd, w.rest);
	close(w.fd);
	return err;
}

/*
 * The file of the Unix socket that was opened last; a process has one. Another instance may have
 * replaced it with its own.
 */
static struct stat own_file;

static bool is_own_file(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && st.st_dev == own_file.st_dev && st.st_ino == own_file.st_ino;
}

int listen_open(const struct sockaddr_storage *address, socklen_t size, int backlog)
{
	int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1, err = 0, turn = -1;
	mode_t mask;

	if (fd < 0)
		return -errno;
	if (address->ss_family == AF_UNIX)
		err = clear_place((const struct sockaddr_un *)address, &turn);
	else
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	mask = umask(0117);
	if (!err && bind(fd, (const struct sockaddr *)address, size))
		err = -errno;
	umask(mask);
	if (!err && address->ss_family == AF_UNIX)
		lstat(((const struct sockaddr_un *)address)->sun_path, &own_file);
	if (!err && listen(fd, backlog)) {
		err = -errno;
		listen_close(fd);
	} else if (err) {
		close(fd);
	}
	if (turn >= 0)
		close(turn);
	return err ?: fd;
}

const char *listen_error(int err)
{
	switch (err) {
	case -LISTEN_NO_SOCKET:
		return "there is something else than a socket, and it is not replaced";
	case -LISTEN_OF_OTHERS:
		return "what lies there, or a folder or link on the way, is another user's, or others may write to a "
		       "folder (chmod go-w); namei -l shows which";
	default:
		return strerror(-err);
	}
}

/* Return: whether the address of @fd is known. */
static int address_of(int fd, struct sockaddr_storage *address)
{
	socklen_t size = sizeof(*address);

	memset(address, 0, sizeof(*address));
	return !getsockname(fd, (struct sockaddr *)address, &size);
}

void listen_text(int fd, char *buf, size_t size)
{
	char text[INET6_ADDRSTRLEN] = "";
	struct sockaddr_storage a;

	buf[0] = '\0';
	if (!address_of(fd, &a))
		return;
	if (a.ss_family == AF_UNIX) {
		snprintf(buf, size, "%s", ((struct sockaddr_un *)&a)->sun_path);
	} else if (a.ss_family == AF_INET) {
		inet_ntop(AF_INET, &((struct sockaddr_in *)&a)->sin_addr, text, sizeof(text));
		snprintf(buf, size, "%s:%u", text, ntohs(((struct sockaddr_in *)&a)->sin_port));
	} else {
		inet_ntop(AF_INET6, &((struct sockaddr_in6 *)&a)->sin6_addr, text, sizeof(text));
		snprintf(buf, size, "[%s]:%u", text, ntohs(((struct sockaddr_in6 *)&a)->sin6_port));
	}
}

void listen_close(int fd)
{
	struct sockaddr_storage a;

	if (fd < 0)
		return;
	if (address_of(fd, &a) && a.ss_family == AF_UNIX &&
	    is_own_file(((struct sockaddr_un *)&a)->sun_path))
		unlink(((struct sockaddr_un *)&a)->sun_path);
	close(fd);
}
