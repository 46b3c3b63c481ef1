/* SPDX-License-Identifier: GPL-2.0-only */
/* serve in a process of its own, with a tracer that traces made-up commands, and clients of it. */
#ifndef NTPROF_CLI_SERVER_H
#define NTPROF_CLI_SERVER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <cmocka.h>

#define TRACER_CONFINED
#include "cli/config.h"
#include "cli/tracer.h"
#include "cli/verbs.h"
#include "core/array.h"
#include "core/time.h"

/* Longer than even a busy machine needs. */
#define PATIENCE_MS 120000

struct server {
	pid_t pid;
	int told; /* its standard error */
	struct sockaddr_storage address;
	socklen_t size;
};

static unsigned int rows_to_fill;
/* Words of its command line, in addition to those that all servers have. */
static char *more_words[16];

/* Adds a command in each collection. */
static inline void fill(struct stats *s)
{
	char name[32];

	s->probes = 11;
	for (unsigned int i = 0; i < rows_to_fill; i++) {
		struct stats_row *r;

		snprintf(name, sizeof(name), "nvme%u", i);
		r = stats_row(s, name, "nqn.2024-01.io.example:subsystem", 1, NT_OP_READ, false);
		hist_count(&r->interval, 5000);
		hist_merge(&r->total, &r->interval);
	}
}

/* NULL: that of the configuration */
static const char *interval = "-i100ms";

static inline void child(const char *listen, int told)
{
	static const struct verb *const verbs[] = {&verb_serve, NULL};
	char *words[32] = {"serve", "--host", "--listen", (char *)listen};
	struct config_line l;
	int nr = 4;

	if (interval)
		words[nr++] = (char *)interval;
	for (unsigned int i = 0; more_words[i]; i++)
		words[nr++] = more_words[i];

	/* The server must not outlive a test that fails. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* It is ignored if tests are run with nohup. */
	signal(SIGHUP, SIG_DFL);
	dup2(told, STDERR_FILENO);
	traced.fill = fill;
	if (config_read(&l, verbs, &verb_serve, nr, words))
		_exit(EXIT_FAILURE);
	_exit(verb_serve.main(l.argc, l.argv));
}

/*
 * Reads lines of the server until they contain @what. The lines after that stay for the next call,
 * however many of them came at once.
 */
static inline void wait_told(const struct server *v, char *text, size_t size, const char *what)
{
	size_t nr = 0;

	text[0] = '\0';
	while (!nr || text[nr - 1] != '\n' || !strstr(text, what)) {
		struct pollfd p = {.fd = v->told, .events = POLLIN};

		if (poll(&p, 1, PATIENCE_MS) <= 0)
			fail_msg("never '%s', but: %s", what, text);
		if (nr == size - 1 || read(v->told, text + nr, 1) <= 0)
			fail_msg("it ended, or said more than was expected: %s", text);
		text[++nr] = '\0';
	}
}

static inline void start(struct server *v, unsigned int rows, const char *listen)
{
	int p[2];

	assert_int_equal(pipe(p), 0);
	rows_to_fill = rows;
	v->pid = fork();
	assert_true(v->pid >= 0);
	if (!v->pid)
		child(listen, p[1]);
	close(p[1]);
	v->told = p[0];
}

/*
 * Starts it at any port of @address, a number; clients connect to 127.0.0.1.
 * @text: filled with what it said; @size bytes
 */
static inline void start_told(struct server *v, unsigned int rows, const char *address, char *text,
			      size_t size)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&v->address;
	char listen[32], serving[64];
	const char *at;

	snprintf(listen, sizeof(listen), "%s:0", address);
	snprintf(serving, sizeof(serving), "serving http://%s:", address);
	start(v, rows, listen);
	wait_told(v, text, size, "/metrics\n");
	at = strstr(text, serving);
	assert_non_null(at);
	memset(&v->address, 0, sizeof(v->address));
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in->sin_port = htons((in_port_t)atoi(at + strlen(serving)));
	v->size = sizeof(*in);
}

static inline void start_at(struct server *v, unsigned int rows, const char *address)
{
	char text[512];

	start_told(v, rows, address, text, sizeof(text));
}

static inline void start_tcp(struct server *v, unsigned int rows)
{
	start_at(v, rows, "127.0.0.1");
}

static inline void stop_server(struct server *v)
{
	int status;

	kill(v->pid, SIGTERM);
	assert_int_equal(waitpid(v->pid, &status, 0), v->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	close(v->told);
}

static inline int connect_to(const struct server *v)
{
	int fd = socket(v->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&v->address, v->size), 0);
	return fd;
}

/* The server may have closed the connection by now. */
static inline void send_text(int fd, const char *text)
{
	size_t len = strlen(text);

	while (len) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

		if (n < 0)
			return;
		text += n;
		len -= (size_t)n;
	}
}

/* Receives until the server closes the connection; the caller frees the text. */
static inline char *receive(int fd)
{
	size_t size = 1 << 16, nr = 0;
	char *text = malloc(size);

	assert_non_null(text);
	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		ssize_t n;

		assert_true(poll(&p, 1, PATIENCE_MS) > 0);
		n = recv(fd, text + nr, size - 1 - nr, 0);
		if (n <= 0)
			break;
		nr += (size_t)n;
		if (nr == size - 1) {
			size *= 2;
			text = realloc(text, size);
			assert_non_null(text);
		}
	}
	text[nr] = '\0';
	close(fd);
	return text;
}

static inline char *ask(const struct server *v, const char *request)
{
	int fd = connect_to(v);

	send_text(fd, request);
	return receive(fd);
}

#define GET "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"

static inline void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in: %.2000s", part, text);
}

static inline void assert_whole(const char *text)
{
	size_t len = strlen(text);

	assert_memory_equal(text, "HTTP/1.1 200 OK\r\n", 17);
	assert_has(text,
		   "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n");
	assert_true(len > 6);
	assert_string_equal(text + len - 6, "# EOF\n");
}

/* The value of a sample on a page; 0 if it is not there. */
static inline uint64_t sample(const char *page, const char *name)
{
	const char *at = strstr(page, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* The same on the newest page. */
static inline uint64_t number(const struct server *v, const char *name)
{
	char *text = ask(v, GET);
	uint64_t n;

	/* The server cuts off a client that a busy machine lets send nothing for 2 s. */
	for (unsigned int i = 0; i < 5 && !text[0]; i++) {
		free(text);
		text = ask(v, GET);
	}
	n = sample(text, name);
	assert_whole(text);
	free(text);
	return n;
}

#define READS \
	"\nntprof_commands_total{side=\"host\",controller=\"nvme0\",subsysnqn=\"nqn.2024-01.io.example:subsystem\",operation=\"read\"} "

/* Checks that collections continue: the number of commands grows. */
static inline void assert_goes_on(const struct server *v)
{
	const uint64_t before = number(v, READS), until = monotonic_ns() + PATIENCE_MS * 1000000ULL;

	while (number(v, READS) <= before + 1)
		assert_true(monotonic_ns() < until);
}

static inline uint64_t resident(const struct server *v)
{
	unsigned long long pages = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", v->pid);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*u %llu", &pages), 1);
	fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Sanitizers keep released memory. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif

static inline void assert_resident(const struct server *v, uint64_t most)
{
#if !__has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
	assert_true(resident(v) < most);
#else
#endif
}

#endif /* NTPROF_CLI_SERVER_H */
