// SPDX-License-Identifier: GPL-2.0-only
/* serve with a flight recorder, with a tracer that traces made-up commands; and its signals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <limits.h>
#include <sys/eventfd.h>
#include <cmocka.h>

#include "cli/server.h"
#include "in_range.h"
#include "merge/places.h"
#include "stream/reader.h"

#define CLIENTS 1000
#define STORM 2000

struct place {
	char folder[64];
	char config[80];
	char *words[16];
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	*state = p;
	strcpy(p->folder, "/tmp/ntprof-flight.XXXXXX");
	if (!mkdtemp(p->folder))
		return -1;
	snprintf(p->config, sizeof(p->config), "%s.ini", p->folder);
	traced.records_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	memset(more_words, 0, sizeof(more_words));
	return traced.records_fd < 0 ? -1 : 0;
}

/*
 * Reads and removes each file of the folder. Each is complete and has records. Return: number of
 * files.
 */
static unsigned int read_files(const struct place *p, bool check)
{
	DIR *d = opendir(p->folder);
	const struct dirent *e;
	unsigned int nr = 0;

	assert_non_null(d);
	while ((e = readdir(d))) {
		struct stream_reader *r;
		struct stream_event event;
		char path[PATH_MAX];
		int fd, ret = 0;

		if (e->d_name[0] == '.')
			continue;
		nr++;
		snprintf(path, sizeof(path), "%s/%s", p->folder, e->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		r = stream_reader_new(fd);
		assert_non_null(r);
		while (check && (ret = stream_read(r, &event)) == 1)
			;
		if (ret)
			fail_msg("%s: %s", path, stream_error(r));
		stream_reader_free(r);
		close(fd);
		unlink(path);
	}
	closedir(d);
	return nr;
}

static int teardown(void **state)
{
	struct place *p = *state;
	char lock[PATH_MAX];

	read_files(p, false);
	snprintf(lock, sizeof(lock), "%s/.ntprof-bpf.host.lock", p->folder);
	unlink(lock);
	rmdir(p->folder);
	unlink(p->config);
	close(traced.records_fd);
	free(p);
	return 0;
}

static void come(uint64_t records)
{
	assert_int_equal(write(traced.records_fd, &records, sizeof(records)), sizeof(records));
}

static void keep_in(struct place *p)
{
	char *words[] = {"--keep", "30s",   "--keep-bytes", "4M",      "--after",
			 "50ms",   "--dir", p->folder,	    "--files", "4"};

	memcpy(more_words, words, sizeof(words));
}

#define RECORDER(metric) "\nntprof_recorder_" metric "{side=\"host\""
#define WRITTEN RECORDER("files_total") ",result=\"written\"} "
#define FAILED RECORDER("files_total") ",result=\"failed\"} "
#define GONE "\nntprof_losses_total{side=\"host\",reason=\"names_gone\"} "
#define SIGNALS RECORDER("triggers_total") ",trigger=\"SIGUSR1\"} "

/* All of that at once: no client waits long, and each file is complete. */
static void a_storm_of_signals_and_scrapes_is_stood(void **state)
{
	static int fds[CLIENTS];
	struct place *p = *state;
	struct server v;
	char *text;

	keep_in(p);
	start_tcp(&v, 1);
	come(50000);
	for (unsigned int i = 0; i < CLIENTS; i++) {
		fds[i] = connect_to(&v);
		send_text(fds[i], GET);
		for (unsigned int k = 0; k < STORM / CLIENTS; k++)
			kill(v.pid, SIGUSR1);
		if (i % 10 == 0)
			come(5000);
	}
	for (unsigned int i = 0; i < CLIENTS; i++) {
		text = receive(fds[i]);
		assert_whole(text);
		free(text);
	}
	while (!number(&v, WRITTEN))
		usleep(20000);
	assert_true(number(&v, SIGNALS) > 0);
	assert_int_equal(number(&v, FAILED), 0);
	assert_goes_on(&v);
	stop_server(&v);
	assert_uint_in_range(read_files(p, true), 1, 4);
}

/* Kept records are written at the end. Without a recorder the signal has no effect. */
static void the_end_writes_what_was_kept(void **state)
{
	struct place *p = *state;
	struct server v;
	char text[4096];

	keep_in(p);
	start_tcp(&v, 1);
	come(100);
	while (number(&v, RECORDER("records") "} ") != 100)
		usleep(20000);
	assert_int_equal(read_files(p, true), 0);
	kill(v.pid, SIGTERM);
	wait_told(&v, text, sizeof(text), "(exit): 100 records");
	stop_server(&v);
	assert_int_equal(read_files(p, true), 1);
	memset(more_words, 0, sizeof(more_words));
	start_tcp(&v, 1);
	kill(v.pid, SIGUSR1);
	wait_told(&v, text, sizeof(text), "nothing is kept without --keep\n");
	assert_goes_on(&v);
	text[0] = '\0';
	stop_server(&v);
}

/* Each is of a connection of its own, in a slot of its own. */
static void of_another_slot(struct nt_record *r, uint64_t n)
{
	/* The last one first: arrays of slots reach their size at once. */
	r->slot = PLACES_MAX + 5 - (uint32_t)n;
	r->gen = 1;
}

/* Each is of a connection of its own, all of them in one slot. */
static void of_another_connection(struct nt_record *r, uint64_t n)
{
	r->gen = (uint32_t)n + 1;
}

/* @make: of which connection each record is */
static void start_with(struct server *v, struct place *p,
		       void (*make)(struct nt_record *r, uint64_t n))
{
	keep_in(p);
	traced.make = make;
	start_tcp(v, 1);
	traced.make = NULL;
}

static void names_that_gave_way_are_counted(void **state)
{
	struct place *p = *state;
	struct server v;

	start_with(&v, p, of_another_slot);
	assert_int_equal(number(&v, GONE), 0);
	come(PLACES_MAX + 5);
	while (!number(&v, GONE))
		usleep(20000);
	assert_int_equal(number(&v, GONE), 5);
	stop_server(&v);
}

/* Those that come and go for months take the memory of those that are there. */
static void names_of_connections_that_were_replaced_are_forgotten(void **state)
{
	struct place *p = *state;
	struct server v;

	start_with(&v, p, of_another_connection);
	come(PLACES_MAX + 5);
	while (number(&v, RECORDER("records") "} ") < PLACES_MAX + 5)
		usleep(20000);
	assert_int_equal(number(&v, GONE), 0);
	stop_server(&v);
}

static void configure(const struct place *p, const char *text)
{
	FILE *f = fopen(p->config, "we");

	assert_non_null(f);
	fprintf(f, "[serve]\nkeep = 30s\ndir = %s\n%s\n", p->folder, text);
	assert_int_equal(fclose(f), 0);
}

static void has(const struct server *v, const char *part, bool wanted)
{
	char *text = ask(v, GET);

	if (!strstr(text, part) == wanted)
		fail_msg("'%s' is%s there", part, wanted ? " not" : "");
	free(text);
}

static void the_configuration_is_read_again(void **state)
{
	struct place *p = *state;
	struct server v;
	char text[4096];

	configure(p, "when = latency>5ms");
	more_words[0] = "--config";
	more_words[1] = p->config;
	start_tcp(&v, 1);
	has(&v, "trigger=\"latency>5ms\"", true);
	configure(p, "when = errors>3\nsample = 5\nqueue = 1\nby = queue");
	kill(v.pid, SIGHUP);
	wait_told(&v, text, sizeof(text), "read the configuration again\n");
	assert_has(text, "--sample is another now");
	assert_has(text, "--queue is another now");
	assert_has(text, "--by is another now");
	assert_null(strstr(text, "--listen"));
	assert_null(strstr(text, "--when"));
	assert_null(strstr(text, "--keep"));
	has(&v, "trigger=\"latency>5ms\"", false);
	has(&v, "trigger=\"errors>3\"", true);
	configure(p, "when = latency>5parsec");
	kill(v.pid, SIGHUP);
	wait_told(&v, text, sizeof(text), "all is as it was\n");
	assert_has(text, "at character 9: not a time");
	configure(p, "when = errors>4\nfiles = 0");
	kill(v.pid, SIGHUP);
	wait_told(&v, text, sizeof(text), "all is as it was\n");
	configure(p, "wehn = errors>4");
	kill(v.pid, SIGHUP);
	wait_told(&v, text, sizeof(text), "all is as it was\n");
	assert_has(text, ":4: unknown key 'wehn'");
	configure(p, "when = errors>4");
	assert_int_equal(chmod(p->config, 0666), 0);
	kill(v.pid, SIGHUP);
	wait_told(&v, text, sizeof(text), "all is as it was\n");
	assert_has(text, "is not taken from a file that others may have written");
	has(&v, "trigger=\"errors>3\"", true);
	assert_goes_on(&v);
	stop_server(&v);
}

/* The pipe of the server's standard error takes no more. */
static void fill_told(const struct server *v)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/2", v->pid);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	while (write(fd, "x", 1) == 1)
		;
	assert_int_equal(errno, EAGAIN);
	close(fd);
}

static void a_configuration_is_taken_where_nobody_reads_messages(void **state)
{
	const uint64_t until = monotonic_ns() + PATIENCE_MS * 1000000ULL;
	static char text[1 << 17];
	struct place *p = *state;
	struct server v;
	bool taken = false;

	configure(p, "when = latency>5ms");
	more_words[0] = "--config";
	more_words[1] = p->config;
	start_tcp(&v, 1);
	fill_told(&v);
	configure(p, "when = errors>3\nsample = 5");
	kill(v.pid, SIGHUP);
	while (!taken) {
		char *page = ask(&v, GET);

		assert_true(monotonic_ns() < until);
		taken = strstr(page, "trigger=\"errors>3\"");
		free(page);
	}
	wait_told(&v, text, sizeof(text), "read the configuration again\n");
	assert_has(text, "xntprof-bpf: --sample is another now, which takes a restart: it stays\n");
	stop_server(&v);
}

static void write_configuration(const struct place *p, const char *text)
{
	FILE *f = fopen(p->config, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* An interval of an hour becomes one of 100 ms, with configuration @was, and then @is. */
static void takes_the_interval(struct place *p, const char *was, const char *is, char text[4096])
{
	struct server v;
	uint64_t before, until;

	write_configuration(p, was);
	more_words[0] = "--config";
	more_words[1] = p->config;
	interval = NULL;
	start_tcp(&v, 1);
	interval = "-i100ms";
	write_configuration(p, is);
	kill(v.pid, SIGHUP);
	wait_told(&v, text, 4096, "read the configuration again\n");
	before = number(&v, READS);
	until = monotonic_ns() + PATIENCE_MS * 1000000ULL;
	/* Bursts are an hour apart. */
	while (number(&v, READS) == before)
		assert_true(monotonic_ns() < until);
	stop_server(&v);
}

static void an_interval_is_taken_whatever_else_is_not(void **state)
{
	struct place *p = *state;
	char was[256], text[4096];

	snprintf(was, sizeof(was), "[serve]\ninterval = 1h\nkeep = 30s\ndir = %s\n", p->folder);
	takes_the_interval(p, was, "[serve]\ninterval = 100ms\n", text);
	assert_has(text, "--keep, which is there or not, is another now");
	takes_the_interval(p, "[serve]\ninterval = 1h\nburst = 200ms/1h\n",
			   "[serve]\ninterval = 100ms\nburst = 200ms/1h\n", text);
}

/* Others are as fast as serve is. */
static void a_flood_of_signals_keeps_no_client_waiting(void **state)
{
	struct place *p = *state;
	struct server v;
	int status;
	pid_t flood;

	configure(p, "when = errors>3");
	more_words[0] = "--config";
	more_words[1] = p->config;
	start_tcp(&v, 1);
	flood = fork();
	assert_true(flood >= 0);
	if (!flood) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (!kill(v.pid, SIGHUP)) {
			char lines[4096];

			/* A pipe that is full would stop it. */
			if (fcntl(v.told, F_SETFL, O_NONBLOCK) ||
			    read(v.told, lines, sizeof(lines)) < 0)
				continue;
		}
		_exit(0);
	}
	for (unsigned int i = 0; i < 3; i++)
		assert_goes_on(&v);
	kill(flood, SIGKILL);
	assert_int_equal(waitpid(flood, &status, 0), flood);
	stop_server(&v);
}

/* Also what needs no folder: the interval of an hour would be seen. */
static void after_an_error_of_the_folder_all_is_as_it_was(void **state)
{
	struct place *p = *state, elsewhere = *p;
	struct server v;
	char text[4096];

	configure(p, "when = latency>5ms\ninterval = 100ms");
	more_words[0] = "--config";
	more_words[1] = p->config;
	interval = NULL;
	start_tcp(&v, 1);
	interval = "-i100ms";
	strcpy(elsewhere.folder, "/nowhere");
	configure(&elsewhere, "when = errors>3\ninterval = 1h");
	kill(v.pid, SIGHUP);
	wait_told(&v, text, sizeof(text), "all is as it was\n");
	has(&v, "trigger=\"latency>5ms\"", true);
	assert_goes_on(&v);
	stop_server(&v);
}

/* The folder and the file belong to another user, as to a caller of sudo. */
static void the_configuration_in_a_home_is_read_again(void **state)
{
	char home[] = "/tmp/ntprof-home.XXXXXX", text[4096];
	struct place *p = *state;
	struct server v;

	if (geteuid())
		skip();
	assert_non_null(mkdtemp(home)); /* mode 0700 */
	snprintf(p->config, sizeof(p->config), "%s/ini", home);
	configure(p, "when = latency>5ms");
	assert_int_equal(chown(p->config, 65534, 65534), 0);
	assert_int_equal(chown(home, 65534, 65534), 0);
	setenv("SUDO_UID", "65534", 1);
	setenv("SUDO_GID", "65534", 1);
	more_words[0] = "--config";
	more_words[1] = p->config;
	start_tcp(&v, 1);
	configure(p, "when = errors>3");
	kill(v.pid, SIGHUP);
	wait_told(&v, text, sizeof(text), "read the configuration again\n");
	has(&v, "trigger=\"errors>3\"", true);
	stop_server(&v);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	assert_int_equal(unlink(p->config), 0);
	assert_int_equal(rmdir(home), 0);
}

/*
 * A process without capabilities cannot be examined for leaks. The sanitizer's message about that
 * would replace the test's output.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_storm_of_signals_and_scrapes_is_stood),
		TEST(the_end_writes_what_was_kept),
		TEST(names_that_gave_way_are_counted),
		TEST(names_of_connections_that_were_replaced_are_forgotten),
		TEST(the_configuration_is_read_again),
		TEST(a_configuration_is_taken_where_nobody_reads_messages),
		TEST(an_interval_is_taken_whatever_else_is_not),
		TEST(a_flood_of_signals_keeps_no_client_waiting),
		TEST(after_an_error_of_the_folder_all_is_as_it_was),
		TEST(the_configuration_in_a_home_is_read_again),
	};
	struct rlimit files;

	/* A configuration that names a folder must not be writable by others. */
	umask(022);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
