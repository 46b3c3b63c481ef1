// SPDX-License-Identifier: GPL-2.0-only
/* The HTTP server where the process has no descriptor left for a client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "serve/http.h"

#define GET "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
/* Longer than even a busy machine needs. */
#define PATIENCE_MS 120000
#define TURNS 5

static int render(void *context, enum exposition_format format, char **text, size_t *size)
{
	*text = strdup("# EOF\n");
	assert_non_null(*text);
	*size = strlen(*text);
	return 0;
}

static bool is_readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) > 0;
}

static void take_turn(struct http *h)
{
	assert_true(is_readable(http_fd(h), PATIENCE_MS));
	assert_int_equal(http_ready(h), 0);
}

/* Its request has been sent. */
static void connect_to(const struct http *h, int fd)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	unsigned int port;

	assert_int_equal(sscanf(http_address(h), "http://127.0.0.1:%u/", &port), 1);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	to.sin_port = htons((in_port_t)port);
	assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(send(fd, GET, strlen(GET), 0), strlen(GET));
}

/* Return: how many descriptors the process could have before */
static rlim_t allow_descriptors(rlim_t nr)
{
	struct rlimit limit;
	rlim_t before;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	before = limit.rlim_cur;
	limit.rlim_cur = nr;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return before;
}

static void a_client_that_cannot_be_accepted_waits_and_costs_nothing(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), free_fd;
	unsigned int quiet = 0;
	char why[512], text[1024];
	struct http *h = http_open("127.0.0.1:0", render, NULL, why, sizeof(why));
	rlim_t before;
	ssize_t n;

	if (!h)
		fail_msg("%s", why);
	free_fd = dup(fd);
	assert_int_equal(close(free_fd), 0);
	before = allow_descriptors((rlim_t)free_fd);
	connect_to(h, fd);
	for (unsigned int i = 0; i < TURNS; i++) {
		take_turn(h);
		quiet += !is_readable(http_fd(h), 0);
	}
	allow_descriptors(before);
	assert_true(quiet > 0);
	while (!is_readable(fd, 0))
		take_turn(h);
	n = recv(fd, text, sizeof(text) - 1, 0);
	assert_true(n > 0);
	text[n] = '\0';
	assert_memory_equal(text, "HTTP/1.1 200 OK\r\n", 17);
	assert_int_equal(http_scrapes(h)->connections, 1);
	close(fd);
	http_close(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_that_cannot_be_accepted_waits_and_costs_nothing),
	};

	return cmocka_run_group_tests_name("http", tests, NULL, NULL);
}
