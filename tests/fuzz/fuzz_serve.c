// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for what serve and its flight recorder take from outside. The first byte says
 * what the rest is:
 *
 *   0  what a client sends: where it is answered the status is counted, and a page is whole; the
 * next ones are answered, too 1  conditions of --when: refused at a character that is there, or
 * each of them is the same when it is read alone 2  names that hosts, targets and peers give
 * themselves: each line of the page is one that a scraper can read, and each line of CSV has the
 * fields of its header
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "asserts.h"
#include "real_read.h"
#include "seen.h"
#include "serve/http.h"
#include "serve/page.h"
#include "serve/series.h"
#include "serve/when.h"
#include "view/columns_queues.h"
#include "view/csv.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PAGE "page\n# EOF\n"
/*
 * So often the server has its turn, until it has answered and closed: half of a request it leaves
 * alone until the client is gone, or has taken too long.
 */
#define TURNS 16
/* After so many requests there is one that is right. */
#define RIGHT_EVERY 64

static struct http *http;
static struct sockaddr_un at;
/* A directory that only this process knows, for its socket. */
static char directory[] = "/tmp/ntprof-fuzz.XXXXXX";

static int render(void *context, enum exposition_format format, char **text, size_t *size)
{
	*text = strdup(PAGE);
	*size = strlen(PAGE);
	return *text ? 0 : -ENOMEM;
}

static void leave(void)
{
	http_close(http);
	rmdir(directory);
}

static uint64_t responses(void)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < PAGE_CODES_NR; i++)
		n += http_scrapes(http)->responses[i];
	return n;
}

/* Of all that came for one connection. @counted: an answer of ours was counted meanwhile */
static void check_answer(const char *text, size_t size, bool counted)
{
	static const char ok[] = "HTTP/1.1 200 OK\r\n";
	const char *body = size ? strstr(text, "\r\n\r\n") : NULL;

	ASSERT(!size || (!strncmp(text, "HTTP/1.", 7) && body));
	if (!size || strncmp(text, ok, strlen(ok)) != 0)
		return;
	ASSERT(counted);
	/* HEAD has none. */
	ASSERT(!body[4] || !strcmp(body + 4, PAGE));
}

static void try_request(const uint8_t *data, size_t size)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	uint64_t before = responses();
	char text[1 << 14];
	size_t nr = 0;
	ssize_t n = -1;

	ASSERT(fd >= 0 && !connect(fd, (struct sockaddr *)&at, sizeof(at)));
	ASSERT(!size || send(fd, data, size, MSG_NOSIGNAL) == (ssize_t)size);
	shutdown(fd, SHUT_WR);
	for (unsigned int i = 0; n && i < TURNS; i++) {
		ASSERT(!http_ready(http));
		while ((n = recv(fd, text + nr, sizeof(text) - 1 - nr, 0)) > 0)
			nr += (size_t)n;
		/* What it has not read is lost with the connection. */
		if (n < 0 && errno == ECONNRESET)
			n = 0;
	}
	text[nr] = '\0';
	close(fd);
	ASSERT(!http_ready(http));
	ASSERT(responses() - before <= 1);
	check_answer(text, nr, responses() != before);
	http_stale(http);
}

static void try_right(void)
{
	static const char get[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
	uint64_t before = http_scrapes(http)->responses[PAGE_CODE_200];

	try_request((const uint8_t *)get, strlen(get));
	ASSERT(http_scrapes(http)->responses[PAGE_CODE_200] == before + 1);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char listen[128], why[128];

	ASSERT(mkdtemp(directory));
	at.sun_family = AF_UNIX;
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/socket", directory);
	snprintf(listen, sizeof(listen), "unix:%s", at.sun_path);
	http = http_open(listen, render, NULL, why, sizeof(why));
	ASSERT(http);
	atexit(leave);
	try_right();
	return 0;
}

static void check_condition(const struct when_condition *c)
{
	struct when alone = {.nr = 0};
	size_t where;

	ASSERT(!when_parse(&alone, c->text, &where));
	ASSERT(alone.nr == 1);
	ASSERT(alone.condition[0].kind == c->kind && alone.condition[0].op == c->op &&
	       alone.condition[0].parts == c->parts && alone.condition[0].limit == c->limit &&
	       alone.condition[0].over_ns == c->over_ns);
	when_free(&alone);
}

static void try_when(const char *text)
{
	const struct nt_record r = {.points = {[NT_H_SUBMIT] = 1, [NT_H_COMPLETE] = UINT64_MAX}};
	struct stats s = {.side = NT_HOST};
	struct when w = {.nr = 0};
	size_t where = 0;
	const char *wrong = when_parse(&w, text, &where);

	if (wrong) {
		ASSERT(wrong[0] && where >= 1 && where <= strlen(text) + 1);
	} else {
		ASSERT(w.nr >= 1 && w.nr <= WHEN_CONDITIONS_MAX);
		for (unsigned int i = 0; i < w.nr; i++)
			check_condition(&w.condition[i]);
		when_record(&w, &r);
		when_interval(&w, &s, 1);
		when_interval(&w, &s, UINT64_MAX);
	}
	when_free(&w);
}

/* The next string of the input, "" behind its end. */
static const char *take(const char **p, const char *end)
{
	const char *text = *p;

	if (text >= end)
		return "";
	*p += strlen(text) + 1;
	return text;
}

/* {name="value",...}: Return: behind it. */
static const char *check_labels(const char *c)
{
	do {
		ASSERT(*++c >= 'a' && *c <= 'z');
		c += strspn(c, "abcdefghijklmnopqrstuvwxyz_");
		ASSERT(c[0] == '=' && c[1] == '"');
		for (c += 2; *c != '"'; c++) {
			ASSERT(*c && *c != '\n');
			if (*c == '\\')
				ASSERT(*++c == '\\' || *c == '"' || *c == 'n');
		}
	} while (*++c == ',');
	ASSERT(*c == '}');
	return c + 1;
}

/* A sample, without or with an exemplar. Return: behind its line end. */
static const char *check_sample(const char *c)
{
	ASSERT(!strncmp(c, "ntprof_", 7) || !strncmp(c, "process_", 8));
	c += strspn(c, "abcdefghijklmnopqrstuvwxyz_");
	if (*c == '{')
		c = check_labels(c);
	ASSERT(c[0] == ' ' && c[1] >= '0' && c[1] <= '9');
	c += 1 + strspn(c + 1, "0123456789.e+-");
	if (!strncmp(c, " # ", 3)) {
		c = check_labels(c + 3);
		c += strspn(c, " 0123456789.");
	}
	ASSERT(*c == '\n');
	return c + 1;
}

static void check_page(const char *text, size_t size)
{
	const char *c = text;

	ASSERT(strlen(text) == size);
	seen_check(text, size);
	for (c = text; *c;) {
		if (*c != '#')
			c = check_sample(c);
		else
			c = strchr(c, '\n') + 1;
	}
}

/* RFC 4180. Return: behind the line end, with how many fields there were. */
static const char *check_line(const char *c, unsigned int *fields)
{
	for (*fields = 1;; *fields += 1, c++) {
		const char *begin = c + (*c == '"');

		/* A spreadsheet takes that for a formula. */
		ASSERT(*begin != '=' && *begin != '+' && *begin != '@');
		if (*c == '"') {
			for (c++; *c != '"' || c[1] == '"'; c++) {
				ASSERT(*c);
				c += *c == '"';
			}
			c++;
		} else {
			c += strcspn(c, "\",\r\n");
		}
		if (*c == ',')
			continue;
		c += *c == '\r';
		ASSERT(*c == '\n');
		return c + 1;
	}
}

static void check_csv(const char *text, size_t size)
{
	const char *c = text;
	unsigned int all, fields;

	seen_check(text, size);
	ASSERT(strlen(text) == size);
	for (c = check_line(c, &all); *c;) {
		c = check_line(c, &fields);
		ASSERT(fields == all);
	}
}

/* What live and trace print as CSV of a queue and of its commands. */
static void try_csv(const struct stats *s, const char *controller)
{
	struct nt_record r = {.side = NT_HOST, .op = NT_OP_READ, .nsid = 1, .length = 4096};
	struct origin from = {.cpu = 1, .pid = 1};
	struct instant now = {0};
	struct command_line l;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	ASSERT(f);
	csv_block_header(f, &queue_columns);
	csv_queues(f, s, false);
	csv_queues(f, s, true);
	ASSERT(!fclose(f));
	check_csv(text, size);
	free(text);
	for (unsigned int i = 0; i < NT_POINTS_MAX; i++)
		r.points[i] = 1000 * (i + 1);
	f = open_memstream(&text, &size);
	ASSERT(f);
	csv_commands_header(f, NT_HOST, true);
	snprintf(from.comm, sizeof(from.comm), "%s", controller);
	snprintf(from.cgroup, sizeof(from.cgroup), "%s", controller);
	for (unsigned int i = 0; i < 3; i++) {
		if (i == 2) {
			r.flags = NT_F_IN_FLIGHT;
			now.monotonic_ns = 5000;
		}
		command_line_of_side(&l, controller, &r, i == 1 ? 1u << NT_H_RX : 0, &now);
		l.has_origin = true;
		l.origin = i ? NULL : &from;
		csv_command(f, &l);
	}
	ASSERT(!fclose(f));
	check_csv(text, size);
	free(text);
}

static void try_names(const char *p, const char *end)
{
	const struct cost cost = {.nr = 0};
	const struct process_cost process = {.cpu_ns = 1};
	const struct page_scrapes scrapes = {.connections = 1};
	const struct stream_losses losses = {.count = {1}};
	struct page_slow slow[NT_OPS_NR] = {0};
	struct stats s = {.side = NT_HOST, .source = "stock", .driver = "nvme_tcp"};
	struct totals totals = {.commands = 1};
	struct stream_header header = {.side = NT_TARGET};
	struct merged_source merged = {
		.totals = &totals,
		.nr = 1,
		.peer = {{.state = PEER_RUNNING, .header = &header, .losses = &losses}}};
	const struct page_source from = {.s = &s,
					 .cost = &cost,
					 .process = &process,
					 .scrapes = &scrapes,
					 .merged = &merged};
	const char *controller = take(&p, end), *nqn = take(&p, end);
	struct stats_row *r = stats_row(&s, controller, nqn, 1, NT_OP_READ, false);
	struct page *page = page_new(NT_HOST, true, SERIES_DEFAULT, 0);

	ASSERT(r && page);
	hist_count(&r->interval, 5000);
	snprintf(slow[NT_OP_READ].controller, sizeof(slow[0].controller), "%s", controller);
	slow[NT_OP_READ].qid = 1;
	slow[NT_OP_READ].ns = 5000;
	slow[NT_OP_READ].stage = "blk_submission";
	snprintf(header.hostname, sizeof(header.hostname), "%s", take(&p, end));
	snprintf(header.kernel, sizeof(header.kernel), "%s", take(&p, end));
	snprintf(s.kernel, sizeof(s.kernel), "%s", take(&p, end));
	errors_add(&s.errors, controller, nqn, 1, NT_OP_READ, 0x281, 1);
	ASSERT(!page_collect(page, &s, slow, 1));
	for (unsigned int i = 0; i < EXPOSITION_FORMATS; i++) {
		char *text;
		size_t size;

		ASSERT(!page_render(page, &from, (enum exposition_format)i, &text, &size));
		check_page(text, size);
		free(text);
	}
	page_free(page);
	try_csv(&s, controller);
	stats_free(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static unsigned int requests;
	char *text;

	if (!size)
		return 0;
	text = malloc(size);
	ASSERT(text);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	if (data[0] % 3 == 0) {
		try_request(data + 1, size - 1);
		if (++requests % RIGHT_EVERY == 0)
			try_right();
	} else if (data[0] % 3 == 1) {
		try_when(text);
	} else {
		try_names(text, text + size);
	}
	free(text);
	return 0;
}
