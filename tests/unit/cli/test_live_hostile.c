// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output of live and trace, in each format, about controllers, queues, cgroups and a peer with
 * hostile names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <cmocka.h>

#include "cli/tracer.h"
#include "cli/verbs.h"
#include "core/array.h"
#include "core/time.h"
#include "hostile.h"
#include "in_range.h"
#include "stream/writer.h"
#include "traffic.h"

#define TEXT_MAX (1 << 20)
#define RECORDS 40

static struct queue_info hostile_queue_of(const struct traffic_config *c, enum nt_side side)
{
	struct queue_info q = traffic_stream_queue(c, 0, side);

	snprintf(q.subsysnqn, sizeof(q.subsysnqn), "%s", HOSTILE);
	snprintf(q.hostnqn, sizeof(q.hostnqn), "%s", HOSTILE);
	snprintf(q.address, sizeof(q.address), "%s", HOSTILE);
	return q;
}

static void fill(struct stats *s)
{
	struct stats_row *r = stats_row_of(s, HOSTILE, HOSTILE, "+" HOSTILE, 1, NT_OP_READ, false);

	s->seconds = 0.1;
	s->elapsed += s->seconds;
	s->passed = s->elapsed;
	for (unsigned int i = 0; r && i < 1000; i++) {
		hist_count(&r->interval, 1000000);
		hist_count(&r->total, 1000000);
	}
	if (r)
		r->others_interval = r->others_total = (struct workload){1, 1 << 30};
	errors_add(&s->errors, HOSTILE, HOSTILE, 1, NT_OP_READ, 0x281, 3);
}

static struct nt_record records[RECORDS];

static void make(struct nt_record *r, uint64_t n)
{
	*r = records[n % RECORDS];
	if (n % 5 == 0)
		r->status = 0x281;
}

/*
 * Makes the records of a host and a target's stream of the same commands. Return: descriptor of the
 * stream.
 */
static int both_sides(void)
{
	static struct traffic_config c;
	static struct queue_info host;
	struct stream_header h = {.side = NT_TARGET};
	struct stream_event clock = {.type = STREAM_CLOCK, .clock = instant_now()},
			    queue = {.type = STREAM_QUEUE};
	struct traffic_record r;
	struct stream_writer *w;
	struct traffic *t;
	unsigned int nr = 0;
	int fd = memfd_create("target", MFD_CLOEXEC);

	c = traffic_of_one_queue();
	c.commands = RECORDS;
	host = hostile_queue_of(&c, NT_HOST);
	snprintf(h.hostname, sizeof(h.hostname), "%s", HOSTILE);
	snprintf(h.kernel, sizeof(h.kernel), "%s", HOSTILE);
	snprintf(h.program, sizeof(h.program), "=\x1b[2J");
	snprintf(h.source, sizeof(h.source), "=\x1b[2J");
	w = stream_writer_new(fd, &h);
	assert_non_null(w);
	queue.queue = hostile_queue_of(&c, NT_TARGET);
	assert_false(stream_write(w, &clock) || stream_write(w, &queue));
	t = traffic_new(&c);
	while (traffic_next(t, &r)) {
		struct stream_event e = {.type = STREAM_RECORD, .record = r.r};

		if (r.r.side == NT_TARGET)
			assert_int_equal(stream_write(w, &e), 0);
		else if (nr < RECORDS)
			records[nr++] = r.r;
	}
	assert_int_equal(stream_flush(w), 0);
	stream_writer_free(w);
	traffic_free(t);
	traced.queue = &host;
	traced.make = make;
	traced.name = HOSTILE;
	traced.fill = fill;
	return fd;
}

static int run_verb(char **words)
{
	uint64_t nr = RECORDS;
	int n = 0;

	while (words[n])
		n++;
	traced.records_fd = eventfd((unsigned int)nr, EFD_CLOEXEC | EFD_NONBLOCK);
	return (strcmp(words[0], "live") ? verb_trace.main : verb_live.main)(n, words);
}

static void read_back(int fd, char *text)
{
	ssize_t n = pread(fd, text, TEXT_MAX - 1, 0);

	assert_uint_in_range(n, 0, TEXT_MAX - 2);
	text[n] = '\0';
	close(fd);
}

static char out_text[TEXT_MAX], err_text[TEXT_MAX];

/*
 * Runs a command and keeps its output. Return: whether the format is possible with these options.
 */
static bool run(char **words)
{
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC), status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		exit(run_verb(words));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	read_back(out, out_text);
	read_back(err, err_text);
	if (WIFEXITED(status) && WEXITSTATUS(status) == EX_USAGE)
		return false;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail_msg("%s %s: status 0x%x: %s", words[0], words[2], status, err_text);
	return true;
}

static const struct {
	char *option;
	void (*assert_harmless)(const char *text);
} formats[] = {
	{"--format=text", assert_text_is_harmless},
	{"--format=json", assert_json_is_harmless},
	{"--format=csv", assert_csv_is_harmless},
};

static void names_are_harmless_in_every_format(void **state)
{
	static char peer[256];
	static char *const options[][6] = {
		{"live", "--host", "-i100ms", "-n2", "--drive-limit=1"},
		{"live", "--host", "-i100ms", "-n2", "--histogram"},
		{"live", "--host", "-i100ms", "-n2", "--min-latency=1us"},
		{"live", "--host", "-i100ms", "-n2",
		 "--by=ctrl,nqn,host,path,cgroup,device,status,pid,comm"},
		{"live", "--target", "-i100ms", "-n2", "--by=ctrl,nqn,host"},
		{"live", "--host", "-i100ms", "-n3", "--peer", peer},
		{"trace", "--host", "-d200ms", "--summary"},
		{"trace", "--host", "-d200ms"},
		{"trace", "--host", "-d200ms", "--origin"},
		{"trace", "--host", "-d200ms", "--events"},
	};
	int target = both_sides();
	unsigned int shown = 0;

	snprintf(peer, sizeof(peer),
		 "cat /proc/%d/fd/%d; printf '" HOSTILE_MARK
		 "\\033[2J\\302\\233\\233\\342\\200\\256\\n' >&2; sleep 1000",
		 (int)getpid(), target);
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(formats); k++) {
			char *words[8] = {NULL};

			memcpy(words, options[i], sizeof(options[i]));
			words[words[5] ? 6 : words[4] ? 5 : words[3] ? 4 : 3] = formats[k].option;
			if (!run(words))
				continue;
			shown++;
			formats[k].assert_harmless(out_text);
			assert_text_is_harmless(err_text);
			if (!strstr(out_text, HOSTILE_MARK) && !strstr(err_text, HOSTILE_MARK))
				fail_msg("%s %s: the name is not there: %s%s", words[0], words[4],
					 out_text, err_text);
		}
	}
	assert_true(shown >= 2 * ARRAY_SIZE(options));
	close(target);
}

/*
 * Reads the screen until it has @text. The view's own sequences are ASCII, and none of them is [2J.
 */
static void see(int terminal, const char *text)
{
	const uint64_t until = monotonic_ns() + 60000000000ULL;
	size_t nr = 0;

	out_text[0] = '\0';
	while (!strstr(out_text, text)) {
		struct pollfd p = {.fd = terminal, .events = POLLIN};
		ssize_t n =
			poll(&p, 1, 100) > 0 ? read(terminal, out_text + nr, TEXT_MAX - 1 - nr) : 0;

		assert_true(n >= 0 && monotonic_ns() < until);
		nr += (size_t)n;
		out_text[nr] = '\0';
	}
	/* The line was drawn, and so was the text after it. */
	assert_seen(out_text, "\r\n\x1b");
	assert_null(strstr(out_text, "\x1b[2J"));
}

static void names_are_harmless_on_the_screen(void **state)
{
	static const struct winsize size = {.ws_row = 60, .ws_col = 200};
	/* The marked row alone, its whole histogram, losses, other groups, and a filter. */
	static const char filter[] = "/" HOSTILE_MARK "\r";
	static const char *const keys[] = {"\r", "\r", "l", "g", filter, "q"};
	char *words[] = {"live", "--host", "-i100ms", "--drive-limit=1", NULL};
	int terminal, status, target = both_sides();
	pid_t pid;

	pid = forkpty(&terminal, NULL, NULL, &size);
	assert_true(pid >= 0);
	if (!pid) {
		setenv("TERM", "xterm", 1);
		setenv("LC_ALL", "C.UTF-8", 1);
		exit(run_verb(words));
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		see(terminal, HOSTILE_MARK);
		assert_int_equal(write(terminal, keys[i], strlen(keys[i])), strlen(keys[i]));
	}
	see(terminal, "summary of");
	while (read(terminal, out_text, TEXT_MAX - 1) > 0)
		;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	close(terminal);
	close(target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_harmless_in_every_format),
		cmocka_unit_test(names_are_harmless_on_the_screen),
	};

	return cmocka_run_group_tests_name("live_hostile", tests, NULL, NULL);
}
