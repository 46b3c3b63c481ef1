// SPDX-License-Identifier: GPL-2.0-only
/* The verb trace into a file, with a tracer that traces what the test sets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "cli/tracer.h"
#include "cli/verbs.h"
#include "core/array.h"

#define BURST 100000
#define MORE 10
#define DISK_BYTES 200000

/* The number after @words in @text; 0 if they are not there. */
static unsigned long number_behind(const char *text, const char *words)
{
	const char *at = strstr(text, words);

	return at ? strtoul(at + strlen(words), NULL, 10) : 0;
}

static unsigned long lines_of(int fd)
{
	static char text[DISK_BYTES];
	ssize_t n = pread(fd, text, sizeof(text), 0);
	unsigned long lines = 0;

	for (ssize_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	assert_true(n > 0 && text[n - 1] == '\n');
	return lines;
}

static void a_full_disk_leaves_no_line_that_is_not_counted(void **state)
{
	char *words[] = {"trace", "--host", "-d", "5", NULL};
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO), status;
	int told = memfd_create("told", MFD_CLOEXEC), disk = memfd_create("disk", MFD_CLOEXEC);
	const uint64_t nr = BURST;
	struct rlimit old, limit;
	char text[4096] = "";

	traced.records_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_int_equal(write(traced.records_fd, &nr, sizeof(nr)), sizeof(nr));
	fflush(stdout);
	dup2(disk, STDOUT_FILENO);
	dup2(told, STDERR_FILENO);
	getrlimit(RLIMIT_FSIZE, &old);
	limit = old;
	limit.rlim_cur = DISK_BYTES;
	setrlimit(RLIMIT_FSIZE, &limit);
	status = verb_trace.main(ARRAY_SIZE(words) - 1, words);
	setrlimit(RLIMIT_FSIZE, &old);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	assert_int_equal(status, EXIT_FAILURE);
	assert_true(pread(told, text, sizeof(text) - 1, 0) > 0);
	assert_int_equal(lines_of(disk) + number_behind(text, "the last ") +
				 number_behind(text, "reader_slow "),
			 BURST);
	close(traced.records_fd);
	close(told);
	close(disk);
	close(out);
	close(err);
}

/*
 * Whether a process has taken all events, and its main thread waits for more: it sleeps each time
 * that it is looked at, for a second.
 */
static bool has_handed_on(pid_t pid)
{
	struct pollfd p = {.fd = traced.records_fd, .events = POLLIN};
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	for (unsigned int i = 0; i < 20; i++) {
		FILE *f = fopen(path, "r");

		if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			_exit(1);
		fclose(f);
		if (state != 'S' || poll(&p, 1, 0))
			return false;
		usleep(50000);
	}
	return true;
}

/*
 * Starts a reader that waits first. When it has read everything that waited, a few more events
 * come.
 *
 * @in, @out: the pipe; @to: gets the bytes. Return: process id.
 */
static pid_t read_late(int in, int out, int to)
{
	static char text[65536];
	const uint64_t more = MORE;
	bool told = false;
	pid_t pid = fork();
	ssize_t n;

	assert_true(pid >= 0);
	if (pid)
		return pid;
	close(out);
	while (!has_handed_on(getppid()))
		usleep(10000);
	while ((n = read(in, text, sizeof(text))) > 0) {
		struct pollfd p = {.fd = in, .events = POLLIN};

		if (write(to, text, (size_t)n) != n)
			_exit(1);
		/* These are in one burst, too. */
		if (told)
			kill(getppid(), SIGINT);
		if (!told && poll(&p, 1, 1000) == 0) {
			told = true;
			if (write(traced.records_fd, &more, sizeof(more)) != sizeof(more))
				_exit(1);
		}
	}
	_exit(n || !told);
}

/*
 * Sums up the numbers after "lost " in all lines, or counts the lines of commands that have ended.
 */
static unsigned long total_of(FILE *f, bool lost, unsigned long *last)
{
	unsigned long n = 0, nr = 0;
	char *line = NULL;
	size_t size = 0;

	rewind(f);
	while (getline(&line, &size, f) > 0) {
		nr++;
		if (strstr(line, " lost ") && lost)
			*last = nr;
		n += lost ? number_behind(line, " lost ") : strstr(line, " latency=") != NULL;
	}
	free(line);
	return n;
}

static void assert_lost_in_its_place(char **words, int nr_words)
{
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO), p[2], status, ended;
	int told = memfd_create("told", MFD_CLOEXEC), got = memfd_create("got", MFD_CLOEXEC);
	unsigned long lines, lost, at = 0, none = 0;
	const uint64_t nr = BURST;
	char text[4096] = "";
	pid_t reader;
	FILE *f;

	traced.records_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_int_equal(write(traced.records_fd, &nr, sizeof(nr)), sizeof(nr));
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	fflush(stdout);
	reader = read_late(p[0], p[1], got);
	dup2(p[1], STDOUT_FILENO);
	close(p[1]);
	dup2(told, STDERR_FILENO);
	status = verb_trace.main(nr_words, words);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	assert_int_equal(waitpid(reader, &ended, 0), reader);
	assert_int_equal(ended, 0);
	assert_int_equal(status, EXIT_SUCCESS);
	assert_true(pread(told, text, sizeof(text) - 1, 0) > 0);
	f = fdopen(got, "r");
	assert_non_null(f);
	lines = total_of(f, false, &none);
	lost = total_of(f, true, &at);
	assert_true(lost > 0);
	assert_int_equal(lost, number_behind(text, "reader_slow "));
	assert_int_equal(lines + lost, BURST + MORE);
	/* The line about lost events is after those that were written, and before the next ones. */
	assert_int_equal(at, lines + 1 - MORE);
	fclose(f);
	close(p[0]);
	close(traced.records_fd);
	close(told);
	close(out);
	close(err);
}

static void lines_that_nobody_read_in_time_are_told_where_they_were(void **state)
{
	char *events[] = {"trace", "--host", "--events", "-d", "60", NULL};
	char *commands[] = {"trace", "--host", "-d", "60", NULL};

	assert_lost_in_its_place(events, ARRAY_SIZE(events) - 1);
	assert_lost_in_its_place(commands, ARRAY_SIZE(commands) - 1);
}

/* Return: the exit status. @lines: standard output; @told: standard error */
static int trace_into(int lines, int told, char **words, int nr_words)
{
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO), status;

	fflush(stdout);
	dup2(lines, STDOUT_FILENO);
	dup2(told, STDERR_FILENO);
	status = verb_trace.main(nr_words, words);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	return status;
}

/* A reader of CSV need not know whether the driver was loaded. */
static void the_header_of_csv_does_not_wait_for_the_module(void **state)
{
	char *words[] = {"trace", "--host", "--format", "csv", "-d", "0.2", NULL};
	int told = memfd_create("told", MFD_CLOEXEC), lines = memfd_create("lines", MFD_CLOEXEC);
	int status;
	char text[4096] = "";

	traced.absent = true;
	status = trace_into(lines, told, words, ARRAY_SIZE(words) - 1);
	traced.absent = false;
	assert_int_equal(status, EXIT_SUCCESS);
	assert_int_equal(lines_of(lines), 1);
	assert_true(pread(lines, text, sizeof(text) - 1, 0) > 0);
	assert_non_null(strstr(text, ",latency,"));
	assert_true(pread(told, text, sizeof(text) - 1, 0) > 0);
	assert_non_null(strstr(text, "waiting for module nvme_tcp: modprobe nvme-tcp\n"));
	close(told);
	close(lines);
}

static void every_other_is_told_while_it_is_in_flight(struct nt_record *r, uint64_t n)
{
	r->flags = n % 2 ? 0 : NT_F_IN_FLIGHT;
}

/* An overdue command has two lines, but counts as one. */
static void so_many_commands_are_told_as_were_asked_for(void **state)
{
	char *words[] = {"trace", "--host", "--format", "csv", "-n", "4", "-d", "60", NULL};
	int told = memfd_create("told", MFD_CLOEXEC), lines = memfd_create("lines", MFD_CLOEXEC);
	int status;
	const uint64_t nr = 100;

	traced.nr = 0;
	traced.make = every_other_is_told_while_it_is_in_flight;
	traced.records_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_int_equal(write(traced.records_fd, &nr, sizeof(nr)), sizeof(nr));
	status = trace_into(lines, told, words, ARRAY_SIZE(words) - 1);
	traced.make = NULL;
	assert_int_equal(status, EXIT_SUCCESS);
	assert_int_equal(lines_of(lines), 1 + 2 * 4);
	close(traced.records_fd);
	close(told);
	close(lines);
}

static void every_other_has_an_origin(struct nt_record *r, uint64_t n)
{
	r->flags = n % 2 ? 9u << NT_F_ORIGIN_SHIFT : 0;
}

/* @format: "text" and so on. Return: what two commands have, of which the second has an origin */
static const char *lines_with_origins(char *format)
{
	char *words[] = {"trace", "--host", "--origin", "--format", format,
			 "-n",	  "2",	    "-d",	"60",	    NULL};
	int told = memfd_create("told", MFD_CLOEXEC), lines = memfd_create("lines", MFD_CLOEXEC);
	static char text[8192];
	const uint64_t nr = 2;
	ssize_t n;

	traced.nr = 0;
	traced.make = every_other_has_an_origin;
	traced.records_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_int_equal(write(traced.records_fd, &nr, sizeof(nr)), sizeof(nr));
	assert_int_equal(trace_into(lines, told, words, ARRAY_SIZE(words) - 1), EXIT_SUCCESS);
	traced.make = NULL;
	assert_true(traced.origins_pass);
	n = pread(lines, text, sizeof(text) - 1, 0);
	assert_true(n > 0);
	text[n] = '\0';
	close(traced.records_fd);
	close(told);
	close(lines);
	return text;
}

/* Blanks of names do not end a word of the line. */
static void a_line_says_where_its_command_comes_from(void **state)
{
	const char *text = lines_with_origins("text"), *from = strstr(text, " | from");

	assert_non_null(from);
	assert_true(strchr(text, '\n') < from);
	assert_string_equal(from, " | from cpu=1 pid=79 comm=a\\x20b cgroup=/9\n");
	text = lines_with_origins("json");
	from = strstr(text, "\"origin\":{\"cpu\":1,\"pid\":79,\"comm\":\"a b\",\"cgroup\":\"/9\"}");
	assert_non_null(from);
	assert_true(strchr(text, '\n') < from);
	text = lines_with_origins("csv");
	from = strstr(text, ",cpu,pid,comm,cgroup\r\n");
	assert_non_null(from);
	from = strstr(from, ",,,,\r\n");
	assert_non_null(from);
	assert_non_null(strstr(from, ",1,79,a b,/9\r\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_that_nobody_read_in_time_are_told_where_they_were),
		cmocka_unit_test(a_full_disk_leaves_no_line_that_is_not_counted),
		cmocka_unit_test(the_header_of_csv_does_not_wait_for_the_module),
		cmocka_unit_test(so_many_commands_are_told_as_were_asked_for),
		cmocka_unit_test(a_line_says_where_its_command_comes_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
