// SPDX-License-Identifier: GPL-2.0-only
/* What each file of a flight recorder has, what its line says of it, and what a change of options
 * keeps. */
#include "serve/recorder_made.h"
#include "stream/reader.h"

/* More records than the least memory has room for. */
#define TOO_MANY 300000

/* The content of a file. @queues: announcements; @clocks: of them, those before the first record */
struct content {
	uint64_t records;
	unsigned int queues;
	unsigned int clocks;
	bool told[16];
	struct stream_losses losses;
};

/* Reads the only file of the folder, and removes it. */
static struct content content(const struct run *v)
{
	struct content c = {.records = 0};
	struct stream_reader *reader;
	struct stream_event e;
	char path[PATH_MAX];
	uint64_t bytes;
	int fd, ret;

	assert_int_equal(each_file(v, path, &bytes), 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	reader = stream_reader_new(fd);
	assert_non_null(reader);
	while ((ret = stream_read(reader, &e)) == 1) {
		c.clocks += e.type == STREAM_CLOCK && !c.records;
		c.records += e.type == STREAM_RECORD;
		if (e.type == STREAM_QUEUE) {
			c.queues++;
			c.told[e.queue.slot] = true;
		}
		if (e.type == STREAM_END)
			c.losses = e.end.losses;
	}
	assert_int_equal(ret, 0);
	stream_reader_free(reader);
	close(fd);
	unlink(path);
	return c;
}

static void assert_told(const struct run *v, const char *part)
{
	if (!strstr(v->told, part))
		fail_msg("no '%s' in: %s", part, v->told);
}

/* Losses from the beginning of the first block on, however many blocks there are. */
static void losses_begin_with_the_first_block(void **state)
{
	struct stats s = {.side = NT_HOST, .seconds = 1};
	struct run *v = *state;
	struct recorder_options o = options_of(v);

	begin_with(v, &o);
	s.counters_total[NT_CNT_RING_FULL] = 1000;
	recorder_interval(v->r, &s);
	for (unsigned int i = 1; i <= 3; i++) {
		records(v, 10000);
		s.counters_total[NT_CNT_RING_FULL] = 1000 + i;
		s.counters_interval[NT_CNT_RING_FULL] = 1;
		recorder_interval(v->r, &s);
	}
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
	assert_int_equal(content(v).losses.count[NT_CNT_RING_FULL], 3);
	/* Nothing was lost in a file that has nothing. */
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
	assert_told(v, ": 0 records");
	assert_int_equal(content(v).losses.count[NT_CNT_RING_FULL], 0);
}

static void a_file_announces_the_connections_of_its_records_once(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	struct content c;

	begin_with(v, &o);
	records(v, 20000);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
	c = content(v);
	assert_int_equal(c.records, 20000);
	assert_int_equal(c.queues, 7);
	assert_true(c.clocks > 0);
	for (unsigned int i = 0; i < 10; i++)
		record(v, 9 + i % 2, MS);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
	c = content(v);
	assert_int_equal(c.queues, 2);
	assert_true(c.told[9] && c.told[10]);
	/* One of them again, which the ring has known since. */
	record(v, 9, MS);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
	c = content(v);
	assert_int_equal(c.records, 1);
	assert_int_equal(c.queues, 1);
	assert_true(c.told[9]);
}

/* Records that the ring drops are missing in the file that is being written, and in no other one.
 */
static void what_was_dropped_before_it_was_written_is_counted(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	uint64_t before = 0;

	begin_with(v, &o);
	for (unsigned int i = 0; i < 2; i++) {
		struct content c;

		records(v, 100);
		recorder_trigger(v->r, TRIGGER_SIGNAL);
		records(v, TOO_MANY);
		work(v);
		assert_told(v, ", and not all of them: the disk is too slow");
		c = content(v);
		assert_true(c.losses.count[COUNTER_READER_SLOW] > 0);
		assert_int_equal(c.records + c.losses.count[COUNTER_READER_SLOW],
				 v->records - before);
		before = v->records;
	}
	records(v, 100);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
	assert_null(strstr(v->told, "too slow"));
	assert_int_equal(content(v).losses.count[COUNTER_READER_SLOW], 0);
}

static void what_was_written_may_be_dropped(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	struct content c;

	o.after_ns = 3600 * S;
	begin_with(v, &o);
	records(v, 20000);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	recorder_work(v->r);
	records(v, TOO_MANY);
	recorder_finish(v->r, PATIENCE_NS);
	assert_int_equal(v->lines, 1);
	c = content(v);
	assert_true(c.losses.count[COUNTER_READER_SLOW] > 0);
	assert_int_equal(c.records + c.losses.count[COUNTER_READER_SLOW], v->records);
}

/* The pauses are the least that the line can tell. */
static void a_line_says_how_long_before_its_trigger_a_file_begins(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	double before = 0;
	const char *at;

	o.after_ns = 20 * MS;
	begin_with(v, &o);
	record(v, 1, MS);
	usleep(100000);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
	at = strstr(v->told, "records, from ");
	assert_non_null(at);
	assert_int_equal(sscanf(at, "records, from %lf s before", &before), 1);
	assert_true(before >= 0.1);
	/* This one begins after its trigger. */
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	usleep(1000);
	record(v, 1, MS);
	work(v);
	assert_told(v, ": 1 records, from 0.0 s before");
}

static void before_tracing_begins_there_is_nothing_to_write(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	struct keep_counts c;
	char path[PATH_MAX];
	uint64_t bytes;

	v->r = recorder_new(&o, NT_HOST, tell, v);
	assert_non_null(v->r);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	assert_string_equal(v->told, "SIGUSR1: nothing is traced yet");
	assert_int_equal(v->failures, 1);
	recorder_finish(v->r, PATIENCE_NS);
	assert_int_equal(v->lines, 1);
	assert_int_equal(each_file(v, path, &bytes), 0);
	recorder_counts(v->r, &c);
	assert_int_equal(c.triggers[TRIGGER_SIGNAL], 1);
	assert_int_equal(c.triggers[TRIGGER_EXIT], 0);
	assert_int_equal(c.written + c.failed, 0);
}

static void at_the_end_no_file_waits_for_what_comes_after_its_trigger(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);

	o.after_ns = 3600 * S;
	begin_with(v, &o);
	record(v, 1, MS);
	recorder_finish(v->r, PATIENCE_NS);
	assert_told(v, "(exit): 1 records");
	assert_int_equal(v->failures, 0);
	/* Nothing has come since. */
	recorder_finish(v->r, PATIENCE_NS);
	assert_int_equal(v->lines, 1);
}

static void a_condition_that_stays_keeps_its_count(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	struct keep_counts c;
	size_t at;

	assert_null(when_parse(&o.when, "errors>0,latency>5ms,latency(write)>5ms", &at));
	begin_with(v, &o);
	assert_int_equal(o.when.nr, 0);
	record(v, 1, 6 * MS);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	o = options_of(v);
	assert_null(when_parse(&o.when, "latency>5ms,latency>1s", &at));
	assert_int_equal(recorder_change(v->r, &o), 0);
	assert_int_equal(o.when.nr, 0);
	recorder_counts(v->r, &c);
	assert_string_equal(c.trigger_name[0], "latency>5ms");
	assert_int_equal(c.triggers[0], 1);
	assert_string_equal(c.trigger_name[1], "latency>1s");
	assert_int_equal(c.triggers[1], 0);
	assert_null(c.trigger_name[2]);
	assert_int_equal(c.triggers[2], 0);
	assert_string_equal(c.trigger_name[TRIGGER_SIGNAL], "SIGUSR1");
	assert_string_equal(c.trigger_name[TRIGGER_EXIT], "exit");
	assert_int_equal(c.triggers[TRIGGER_EXIT], 0);
}

static void change_when(struct run *v, const char *when)
{
	struct recorder_options o = options_of(v);
	size_t at;

	assert_null(when_parse(&o.when, when, &at));
	assert_int_equal(recorder_change(v->r, &o), 0);
}

static uint64_t triggers_of(const struct run *v, unsigned int i)
{
	struct keep_counts c;

	recorder_counts(v->r, &c);
	return c.triggers[i];
}

static void one_interval(struct run *v, uint64_t errors)
{
	struct stats s = {.side = NT_HOST, .seconds = 1};

	assert_int_equal(errors_add(&s.errors, "nvme0", "", 1, NT_OP_READ, 0x0281, errors), 0);
	recorder_interval(v->r, &s);
	errors_free(&s.errors);
}

/* It triggers once while it is true. `over` keeps what it has gathered. */
static void a_condition_that_stays_goes_on(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	size_t at;

	assert_null(when_parse(&o.when, "errors>0,errors(read)>3 over 1m,latency>5ms", &at));
	begin_with(v, &o);
	record(v, 1, 6 * MS);
	one_interval(v, 2);
	assert_int_equal(triggers_of(v, 0), 1);
	assert_int_equal(triggers_of(v, 2), 1);
	change_when(v, "latency>5ms,errors>0,errors(read)>3 over 1m");
	record(v, 1, 6 * MS);
	assert_int_equal(triggers_of(v, 0), 1);
	one_interval(v, 2);
	assert_int_equal(triggers_of(v, 1), 1);
	assert_int_equal(triggers_of(v, 2), 1);
	change_when(v, "errors(read)>3 over 1m");
	one_interval(v, 0);
	assert_int_equal(triggers_of(v, 0), 1);
	/* One that was not there in between begins anew. */
	change_when(v, "errors>0");
	one_interval(v, 1);
	assert_int_equal(triggers_of(v, 0), 2);
}

/* A scraper takes a counter that falls for one that was reset. */
static void a_condition_that_comes_again_counts_on(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char text[32];
	size_t at;

	assert_null(when_parse(&o.when, "errors>0,latency>5ms", &at));
	begin_with(v, &o);
	record(v, 1, 6 * MS);
	assert_int_equal(triggers_of(v, 1), 1);
	for (unsigned int i = 1; i < WHEN_COUNTED_MAX - 1; i++) {
		snprintf(text, sizeof(text), "latency>%us", i);
		change_when(v, text);
		assert_int_equal(triggers_of(v, 0), 0);
	}
	change_when(v, "latency>5ms");
	assert_int_equal(triggers_of(v, 0), 1);
	record(v, 1, 6 * MS);
	assert_int_equal(triggers_of(v, 0), 2);
	/* The conditions that went first are forgotten. */
	for (unsigned int i = 1; i <= WHEN_COUNTED_MAX; i++) {
		snprintf(text, sizeof(text), "latency>%us", i);
		change_when(v, text);
	}
	change_when(v, "latency>5ms");
	assert_int_equal(triggers_of(v, 0), 0);
}

static void a_change_is_of_what_is_kept_already(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	const uint64_t until = monotonic_ns() + PATIENCE_NS;
	struct keep_counts c;

	begin_with(v, &o);
	records(v, 1000);
	o.keep_ns = MS;
	assert_int_equal(recorder_change(v->r, &o), 0);
	do {
		assert_true(monotonic_ns() < until);
		recorder_work(v->r);
		recorder_counts(v->r, &c);
	} while (c.records);
	assert_int_equal(c.left_out, 0);
}

/* The path would lead to the folder if its end were cut off. */
static void a_path_that_is_too_long_is_refused(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char path[2 * PATH_MAX];
	size_t n = strlen(v->folder);

	memcpy(path, v->folder, n);
	while (n < sizeof(path) - 2)
		n = (size_t)(stpcpy(path + n, "/.") - path);
	path[n] = '\0';
	o.folder = path;
	assert_null(recorder_new(&o, NT_HOST, tell, v));
	assert_int_equal(errno, ENAMETOOLONG);
}

static void a_refused_change_changes_nothing(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	struct keep_counts c;
	size_t at;

	assert_null(when_parse(&o.when, "latency>5ms", &at));
	begin_with(v, &o);
	o = options_of(v);
	o.folder = "/nonexistent/folder";
	o.keep_free = 1ULL << 62;
	o.disk_bytes = 1;
	o.files = 0;
	o.keep_ns = 0;
	o.after_ns = 3600 * S;
	assert_null(when_parse(&o.when, "errors>0", &at));
	assert_int_equal(recorder_change(v->r, &o), -ENOENT);
	assert_int_equal(o.when.nr, 0);
	record(v, 1, 6 * MS);
	work(v);
	assert_told(v, "(latency>5ms: read of 6.000 ms): 1 records");
	assert_int_equal(v->failures, 0);
	recorder_counts(v->r, &c);
	assert_string_equal(c.trigger_name[0], "latency>5ms");
	assert_int_equal(c.files, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(losses_begin_with_the_first_block),
		TEST(a_file_announces_the_connections_of_its_records_once),
		TEST(what_was_dropped_before_it_was_written_is_counted),
		TEST(what_was_written_may_be_dropped),
		TEST(a_line_says_how_long_before_its_trigger_a_file_begins),
		TEST(before_tracing_begins_there_is_nothing_to_write),
		TEST(at_the_end_no_file_waits_for_what_comes_after_its_trigger),
		TEST(a_condition_that_stays_keeps_its_count),
		TEST(a_condition_that_stays_goes_on),
		TEST(a_condition_that_comes_again_counts_on),
		TEST(a_change_is_of_what_is_kept_already),
		TEST(a_path_that_is_too_long_is_refused),
		TEST(a_refused_change_changes_nothing),
	};

	return cmocka_run_group_tests_name("files of the flight recorder", tests, NULL, NULL);
}
