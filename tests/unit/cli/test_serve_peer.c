// SPDX-License-Identifier: GPL-2.0-only
/* serve with peers: the figures of merged commands, and that no kind of peer disturbs scrapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <limits.h>
#include <linux/landlock.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "cli/server.h"
#include "core/names.h"
#include "merge/merged_stages.h"
#include "serve/exposition.h"
#include "stream/writer.h"
#include "traffic.h"

#define COMMANDS 500
/* More than a pipe holds. */
#define COMMANDS_OF_A_FLOOD 400000

/* The host's records of the first commands, by number. */
static struct nt_record host_records[2 * COMMANDS];
static struct queue_info host_queue;

struct place {
	char folder[64];
	char stream[96];
	char source[512];
};

static void make(struct nt_record *r, uint64_t n)
{
	*r = host_records[n % ARRAY_SIZE(host_records)];
}

/*
 * Writes the target's stream of the commands @from to @to, and keeps the host's records of the
 * first ones.
 */
static void record(const struct place *p, uint64_t from, uint64_t to)
{
	const struct stream_header header = {.side = NT_TARGET,
					     .source = "stock",
					     .hostname = "a \"target\"",
					     .kernel = "6.1.0"};
	struct traffic_config config = traffic_of_one_queue();
	struct stream_event clock = {.type = STREAM_CLOCK, .clock = instant_now()},
			    queue = {.type = STREAM_QUEUE};
	int fd = open(p->stream, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct stream_writer *w = stream_writer_new(fd, &header);
	struct traffic_record out;
	struct traffic *t;

	assert_non_null(w);
	config.commands = to;
	host_queue = traffic_stream_queue(&config, 0, NT_HOST);
	queue.queue = traffic_stream_queue(&config, 0, NT_TARGET);
	assert_int_equal(stream_write(w, &clock), 0);
	assert_int_equal(stream_write(w, &queue), 0);
	t = traffic_new(&config);
	while (traffic_next(t, &out)) {
		struct stream_event e = {.type = STREAM_RECORD, .record = out.r};

		if (out.r.side == NT_TARGET && out.id >= from)
			assert_int_equal(stream_write(w, &e), 0);
		else if (out.r.side == NT_HOST && out.id < ARRAY_SIZE(host_records))
			host_records[out.id] = out.r;
	}
	traffic_free(t);
	assert_int_equal(stream_flush(w), 0);
	stream_writer_free(w);
	close(fd);
}

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	*state = p;
	strcpy(p->folder, "/tmp/ntprof-serve-peer.XXXXXX");
	if (!mkdtemp(p->folder))
		return -1;
	snprintf(p->stream, sizeof(p->stream), "%s/stream", p->folder);
	traced.records_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	traced.make = make;
	traced.queue = &host_queue;
	memset(more_words, 0, sizeof(more_words));
	return traced.records_fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	DIR *d = opendir(p->folder);
	const struct dirent *e;

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	rmdir(p->folder);
	close(traced.records_fd);
	free(p);
	return 0;
}

static void start_with(struct server *v, struct place *p, const char *source)
{
	snprintf(p->source, sizeof(p->source), "%s", source);
	more_words[0] = "--peer";
	more_words[1] = p->source;
	start_tcp(v, 1);
}

/* Waits until the page has that number. */
static void wait_number(const struct server *v, const char *sample, uint64_t n)
{
	const uint64_t until = monotonic_ns() + PATIENCE_MS * 1000000ULL;

	while (number(v, sample) != n) {
		if (monotonic_ns() > until)
			fail_msg("never %" PRIu64 ": %s", n, sample);
		usleep(5000);
	}
}

#define STATE(state) "\nntprof_peer_state{side=\"host\",peer=\"1\",state=\"" state "\"} "

static void wait_state(const struct server *v, const char *state)
{
	char sample[128];

	snprintf(sample, sizeof(sample), STATE("%s"), state);
	wait_number(v, sample, 1);
}

/*
 * Waits until the peer has sent more than its header. A peer that sends nothing more is running for
 * a few seconds only, which a client on a busy machine may miss.
 */
static void wait_recording(const struct server *v)
{
	const uint64_t until = monotonic_ns() + PATIENCE_MS * 1000000ULL;
	bool there = false;

	while (!there) {
		char *page = ask(v, GET);

		there = sample(page, STATE("running")) || sample(page, STATE("stalled"));
		free(page);
		if (monotonic_ns() > until)
			fail_msg("it never records");
	}
}

#define RECORDS(result) "\nntprof_merged_records_total{side=\"host\",result=\"" result "\"} "

/* The number of a sample; seconds as nanoseconds. */
static uint64_t value(const char *page, const char *sample, bool seconds)
{
	const char *at = strstr(page, sample), *point;
	uint64_t n, ns = 0;
	char *end;

	if (!at)
		fail_msg("no %s", sample);
	n = strtoull(at + strlen(sample), &end, 10);
	if (!seconds)
		return n;
	assert_true(*end == '.');
	point = end + 1;
	for (unsigned int i = 0; i < 9; i++)
		ns = ns * 10 + (*point >= '0' && *point <= '9' ? (uint64_t)(*point++ - '0') : 0);
	return n * 1000000000 + ns;
}

/* Checks that each bucket includes the one before it, and the last one includes all. */
static void assert_cumulative(const char *page, const char *name, const char *labels,
			      uint64_t count)
{
	char begins[256];
	uint64_t before = 0;
	unsigned int nr = 0;

	snprintf(begins, sizeof(begins), "\n%s_bucket{%s,le=", name, labels);
	for (const char *at = page; (at = strstr(at, begins)); at++) {
		uint64_t n = strtoull(strstr(at, "\"} ") + 3, NULL, 10);

		assert_true(n >= before);
		before = n;
		nr++;
	}
	assert_int_equal(nr, EXPOSITION_BUCKETS);
	assert_int_equal(before, count);
}

#define DURATION "ntprof_merged_command_duration_seconds"
#define STAGE "ntprof_merged_stage_duration_seconds"

/*
 * Checks an operation: each stage counts all of its commands, and the sums of the stages add up to
 * the latencies to the nanosecond.
 */
static uint64_t assert_operation(const char *page, enum nt_op op)
{
	char labels[128], sample[256];
	uint64_t count, sum, stages = 0;
	static const char *const names[] = {
#define NAME(id, name) name,
		NT_MERGED_STAGES(NAME)
#undef NAME
	};

	snprintf(labels, sizeof(labels), "side=\"host\",operation=\"%s\"", op_name(op));
	snprintf(sample, sizeof(sample), "\n" DURATION "_count{%s} ", labels);
	count = value(page, sample, false);
	snprintf(sample, sizeof(sample), "\n" DURATION "_sum{%s} ", labels);
	sum = value(page, sample, true);
	assert_cumulative(page, DURATION, labels, count);
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(labels, sizeof(labels), "side=\"host\",operation=\"%s\",stage=\"%s\"",
			 op_name(op), names[i]);
		snprintf(sample, sizeof(sample), "\n" STAGE "_count{%s} ", labels);
		assert_int_equal(value(page, sample, false), count);
		snprintf(sample, sizeof(sample), "\n" STAGE "_sum{%s} ", labels);
		stages += value(page, sample, true);
		assert_cumulative(page, STAGE, labels, count);
	}
	assert_int_equal(stages, sum);
	return count;
}

static void come(uint64_t records)
{
	assert_int_equal(write(traced.records_fd, &records, sizeof(records)), sizeof(records));
}

static void what_both_sides_told_of_is_in_ten_stages(void **state)
{
	static const enum nt_op ops[] = {NT_OP_READ, NT_OP_WRITE, NT_OP_FLUSH, NT_OP_DISCARD};
	uint64_t n, of_host[NT_OPS_NR] = {0};
	struct place *p = *state;
	char source[128], *page;
	struct server v;

	record(p, 0, COMMANDS);
	for (unsigned int i = 0; i < COMMANDS; i++)
		of_host[host_records[i].op]++;
	snprintf(source, sizeof(source), "cat %s; sleep 1000", p->stream);
	start_with(&v, p, source);
	wait_recording(&v);
	come(COMMANDS);
	wait_number(&v, RECORDS("matched"), COMMANDS);
	/* The next collection adds what was matched to the histograms. */
	assert_goes_on(&v);
	page = ask(&v, GET);
	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++) {
		n = assert_operation(page, ops[i]);
		assert_int_equal(n, of_host[ops[i]]);
	}
	assert_int_equal(value(page, RECORDS("host_only"), false), 0);
	assert_int_equal(value(page, RECORDS("early"), false), 0);
	assert_int_equal(
		value(page,
		      "\nntprof_merged_losses_total{side=\"host\",reason=\"negative_stages\"} ",
		      false),
		0);
	assert_has(page,
		   "\nntprof_peer_info{side=\"host\",peer=\"1\",hostname=\"a \\\"target\\\"\","
		   "kernel=\"6.1.0\"} 1\n");
	assert_int_equal(
		value(page, "\nntprof_peer_records_total{side=\"host\",peer=\"1\"} ", false),
		COMMANDS);
	free(page);
	stop_server(&v);
}

static void a_flight_recorder_has_the_same_records(void **state)
{
	struct place *p = *state;
	char source[128], text[4096];
	struct server v;

	record(p, 0, COMMANDS);
	snprintf(source, sizeof(source), "cat %s; sleep 1000", p->stream);
	more_words[2] = "--keep=30s";
	more_words[3] = "--dir";
	more_words[4] = p->folder;
	more_words[5] = "--when=errors>0";
	start_with(&v, p, source);
	wait_recording(&v);
	come(COMMANDS);
	wait_number(&v, RECORDS("matched"), COMMANDS);
	assert_int_equal(number(&v, "\nntprof_recorder_records{side=\"host\"} "), COMMANDS);
	kill(v.pid, SIGTERM);
	wait_told(&v, text, sizeof(text), "(exit): 500 records");
	stop_server(&v);
}

static void records_from_before_a_peer_are_early(void **state)
{
	struct place *p = *state;
	struct server v;

	record(p, 0, COMMANDS);
	start_with(&v, p, "sleep 1000");
	come(7);
	wait_number(&v, RECORDS("early"), 7);
	stop_server(&v);
}

static void whatever_a_peer_does_scrapes_go_on(void **state)
{
	struct place *p = *state;
	char cut[256], ends[256];
	const struct {
		const char *source;
		const char *state;
		const char *told;
	} cases[] = {
		{"echo no >&2; exit 3", "died", "peer 1: died, exit status 3; it says: no\n"},
		{"/no/such/command", "died", "peer 1: died, exit status 127"},
		{"kill -KILL $$", "died", "peer 1: died, killed by signal 9"},
		{"echo hello; sleep 1000", "refused", "peer 1: refused: "},
		{"cat /dev/urandom", "refused", "peer 1: refused: "},
		{"sleep 1000", "starting", "peer 1: starting\n"},
		{"yes >&2", "starting", "peer 1: starting\n"},
		{cut, "died", "peer 1: died, exit status 0: "},
		{ends, "stalled", "peer 1: stalled, target a \"target\"\n"},
		{"kill -STOP $$", "starting", "peer 1: starting\n"},
	};
	struct server v;
	char text[4096];

	record(p, 0, COMMANDS);
	snprintf(cut, sizeof(cut), "head -c 4000 %s", p->stream);
	snprintf(ends, sizeof(ends), "cat %s; sleep 1000", p->stream);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		start_with(&v, p, cases[i].source);
		wait_state(&v, cases[i].state);
		come(3);
		assert_goes_on(&v);
		wait_told(&v, text, sizeof(text), cases[i].told);
		stop_server(&v);
	}
}

#define RESTARTS "\nntprof_peer_restarts_total{side=\"host\",peer=\"1\"} "

/* By then serve may not execute anything. The numbers of both recordings are added. */
static void a_command_that_has_ended_is_started_again(void **state)
{
	struct place *p = *state;
	char source[320], go[128], text[4096];
	struct server v;
	int fd;

	record(p, 0, 2 * COMMANDS);
	record(p, 0, COMMANDS);
	snprintf(go, sizeof(go), "%s/go", p->folder);
	snprintf(source, sizeof(source),
		 "cat %s; until rm %s 2>/dev/null; do sleep 0.1; done; exit 3", p->stream, go);
	start_with(&v, p, source);
	for (unsigned int i = 0; i < 2; i++) {
		wait_number(&v, RESTARTS, i);
		wait_recording(&v);
		come(COMMANDS);
		wait_number(&v, RECORDS("matched"), (i + 1) * COMMANDS);
		record(p, COMMANDS, 2 * COMMANDS);
		fd = open(go, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		assert_true(fd >= 0);
		close(fd);
		wait_told(&v, text, sizeof(text), "peer 1: died, exit status 3");
	}
	/* It was told in between that the second run has begun. */
	assert_has(text, "peer 1: started again");
	assert_has(text, ", target a \"target\"\n");
	assert_int_equal(number(&v, "\nntprof_peer_records_total{side=\"host\",peer=\"1\"} "),
			 2 * COMMANDS);
	/* The peer waits for its restart. */
	stop_server(&v);
}

/* The failure and the first restart are logged; later ones are only counted. */
static void one_that_fails_each_time_is_told_of_once(void **state)
{
	struct place *p = *state;
	struct server v;
	char text[4096];
	ssize_t n;

	start_with(&v, p, "echo no >&2; exit 3");
	wait_number(&v, RESTARTS, 2);
	assert_goes_on(&v);
	kill(v.pid, SIGTERM);
	n = read(v.told, text, sizeof(text) - 1);
	assert_true(n > 0);
	text[n] = '\0';
	assert_has(text, "peer 1: died, exit status 3; it says: no\n");
	assert_has(text, "peer 1: started again");
	assert_null(strstr(strstr(text, "peer 1: died") + 1, "peer 1: died"));
	assert_null(strstr(strstr(text, "peer 1: started") + 1, "peer 1: started"));
	stop_server(&v);
}

/* The page of a service may be asked for once a minute, or once an hour. */
static void peers_are_looked_after_within_an_interval(void **state)
{
	struct place *p = *state;
	struct server v;
	char text[4096];

	interval = "-i1h";
	start_with(&v, p, "echo no >&2; exit 3");
	interval = "-i100ms";
	wait_told(&v, text, sizeof(text), "peer 1: died, exit status 3; it says: no\n");
	wait_told(&v, text, sizeof(text), "peer 1: started again");
	stop_server(&v);
}

/* Far more data than is read in one turn. */
static void a_flood_of_a_peer_lets_scrapes_through(void **state)
{
	struct place *p = *state;
	char source[128];
	struct server v;

	record(p, 0, COMMANDS_OF_A_FLOOD);
	snprintf(source, sizeof(source), "cat %s; sleep 1000", p->stream);
	start_with(&v, p, source);
	assert_goes_on(&v);
	wait_number(&v, "\nntprof_peer_records_total{side=\"host\",peer=\"1\"} ",
		    COMMANDS_OF_A_FLOOD);
	assert_goes_on(&v);
	stop_server(&v);
}

/* The peer reports its own Cap and NoNewPrivs lines. */
static void a_peer_has_nothing_of_what_serve_has(void **state)
{
	struct place *p = *state;
	struct server v;
	char text[4096];

	start_with(
		&v, p,
		"echo $(sed -nE 's/^(CapPrm|CapEff|NoNewPrivs):[^0-9]*0*//p' /proc/self/status) >&2; "
		"exit 1");
	wait_told(&v, text, sizeof(text), "peer 1: died");
	assert_has(text, "it says: 1\n");
	stop_server(&v);
}

/* Shared with serve: the process to look into, threads of serve that tried, and how many could. */
static struct {
	int command;
	unsigned int threads, tried, opened;
} * memory;
static char memory_path[32];

static void open_memory(int sig)
{
	int fd = open(memory_path, O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		__atomic_add_fetch(&memory->opened, 1, __ATOMIC_SEQ_CST);
	}
	__atomic_add_fetch(&memory->tried, 1, __ATOMIC_SEQ_CST);
}

/* Runs in serve. Threads that write take no other signal: core/output.c. */
static void open_memory_in_each_thread(void)
{
	const struct dirent *e;
	DIR *d;

	if (!__atomic_load_n(&memory->command, __ATOMIC_SEQ_CST) || memory->threads)
		return;
	snprintf(memory_path, sizeof(memory_path), "/proc/%d/mem", memory->command);
	signal(SIGRTMIN, open_memory);
	d = opendir("/proc/self/task");
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' &&
		    !syscall(SYS_tgkill, getpid(), atoi(e->d_name), SIGRTMIN))
			memory->threads++;
	closedir(d);
}

static void no_thread_opens_the_memory_of_a_command(void **state)
{
	const uint64_t until = monotonic_ns() + PATIENCE_MS * 1000000ULL;
	struct place *p = *state;
	char source[256], path[96];
	int command = 0;
	struct server v;

	if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 1) {
		print_message("this kernel has no Landlock\n");
		skip();
	}
	memory = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	traced.collecting = open_memory_in_each_thread;
	snprintf(path, sizeof(path), "%s/command", p->folder);
	snprintf(source, sizeof(source), "echo $$ >%s; sleep 1000", path);
	start_with(&v, p, source);
	while (command < 1 && monotonic_ns() < until) {
		FILE *f = fopen(path, "re");

		if (f && fscanf(f, "%d\n", &command) != 1)
			command = 0;
		if (f)
			fclose(f);
		usleep(5000);
	}
	__atomic_store_n(&memory->command, command, __ATOMIC_SEQ_CST);
	while ((__atomic_load_n(&memory->tried, __ATOMIC_SEQ_CST) < 2 ||
		memory->tried < memory->threads) &&
	       monotonic_ns() < until)
		usleep(5000);
	stop_server(&v);
	traced.collecting = NULL;
	assert_true(memory->threads >= 2);
	/* The signal comes once more when the thread is to end. */
	assert_true(memory->tried >= memory->threads);
	assert_int_equal(memory->opened, 0);
	munmap(memory, sizeof(*memory));
}

/* A change of --peer is reported, and the peer stays as it was. */
static void another_peer_takes_a_restart(void **state)
{
	struct place *p = *state;
	char config[128], text[4096];
	struct server v;
	FILE *f;

	snprintf(config, sizeof(config), "%s/ini", p->folder);
	for (unsigned int i = 0; i < 2; i++) {
		f = fopen(config, "we");
		assert_non_null(f);
		fprintf(f, "[serve]\npeer = \"sleep 100%u\"\n", i);
		fclose(f);
		if (i)
			break;
		more_words[0] = "--config";
		more_words[1] = config;
		start_tcp(&v, 1);
	}
	kill(v.pid, SIGHUP);
	wait_told(&v, text, sizeof(text), "read the configuration again");
	assert_has(text, "--peer is another now, which takes a restart: it stays");
	unlink(config);
	stop_server(&v);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_both_sides_told_of_is_in_ten_stages),
		TEST(a_flight_recorder_has_the_same_records),
		TEST(records_from_before_a_peer_are_early),
		TEST(whatever_a_peer_does_scrapes_go_on),
		TEST(a_command_that_has_ended_is_started_again),
		TEST(one_that_fails_each_time_is_told_of_once),
		TEST(a_flood_of_a_peer_lets_scrapes_through),
		TEST(a_peer_has_nothing_of_what_serve_has),
		TEST(no_thread_opens_the_memory_of_a_command),
		TEST(peers_are_looked_after_within_an_interval),
		TEST(another_peer_takes_a_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
