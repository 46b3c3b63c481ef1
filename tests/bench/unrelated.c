// SPDX-License-Identifier: GPL-2.0-only
/*
 * unrelated - TCP over loopback that has nothing to do with NVMe:
 *
 *   unrelated stream SECONDS      one process writes, the other one reads 64 KiB at a time
 *   unrelated messages SECONDS    4 KiB back and forth
 *
 * Prints the time that a read, or a message and its answer, took on average: nanoseconds.
 */
#include <arpa/inet.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Transfers that are not measured. */
#define WARM_UP 1000

static char buffer[64 << 10];

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static bool receive(int fd, size_t size)
{
	return recv(fd, buffer, size, MSG_WAITALL) == (ssize_t)size;
}

static bool transfer(int fd, size_t size)
{
	return send(fd, buffer, size, MSG_NOSIGNAL) == (ssize_t)size;
}

/* The other process: until the connection is closed. */
static void other(int fd, bool messages, size_t size)
{
	while (messages ? receive(fd, size) && transfer(fd, size) : transfer(fd, size))
		;
	_exit(0);
}

static int fail(const char *what)
{
	perror(what);
	return 1;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	bool messages = argc == 3 && !strcmp(argv[1], "messages"), warm = false;
	size_t size = messages ? 4 << 10 : sizeof(buffer);
	int seconds = argc == 3 ? atoi(argv[2]) : 0, listener, fd;
	long long now, began, n = 0;

	if (argc != 3 || (!messages && strcmp(argv[1], "stream")) || seconds < 1) {
		fputs("usage: unrelated stream|messages SECONDS\n", stderr);
		return 64;
	}
	listener = socket(AF_INET, SOCK_STREAM, 0);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&address, &length) ||
	    connect(fd, (struct sockaddr *)&address, length))
		return fail("connect");
	switch (fork()) {
	case -1:
		return fail("fork");
	case 0:
		close(fd);
		other(accept(listener, NULL, NULL), messages, size);
	}
	began = now_ns();
	for (now = began; now < began + seconds * 1000000000LL; now = now_ns()) {
		if ((messages && !transfer(fd, size)) || !receive(fd, size))
			return fail("transfer");
		/* TCP's windows grow at first. */
		if (++n == WARM_UP && !warm) {
			warm = true;
			n = 0;
			began = now_ns();
		}
	}
	printf("%lld\n", (now - began) / n);
	return 0;
}
