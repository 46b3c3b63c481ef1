// SPDX-License-Identifier: GPL-2.0-only
/* The flight recorder: what it keeps, what it writes, and what becomes of the files. */
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>

#include "serve/recorder_made.h"
#include "stream/reader.h"

/*
 * Reads a file and checks it: it is complete, has each record once and in order, and each record's
 * queue was announced.
 */
static void read_file(const char *path, uint64_t *first, uint64_t *last, uint64_t *nr,
		      struct stream_losses *losses)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;
	struct stream_reader *reader = stream_reader_new(fd);
	struct stream_event e;
	bool told[64] = {false}, ended = false;

	assert_true(fd >= 0);
	assert_non_null(reader);
	*first = *last = *nr = 0;
	while ((ret = stream_read(reader, &e)) == 1) {
		if (e.type == STREAM_QUEUE)
			told[e.queue.slot] = true;
		ended = e.type == STREAM_END;
		if (ended && losses)
			*losses = e.end.losses;
		if (ended)
			assert_int_equal(e.end.records, *nr);
		if (e.type != STREAM_RECORD)
			continue;
		assert_true(told[e.record.slot]);
		assert_true(e.record.slba > *last);
		*first = *first ?: e.record.slba;
		*last = e.record.slba;
		++*nr;
	}
	if (ret)
		fail_msg("%s: %s", path, stream_error(reader));
	assert_true(ended);
	stream_reader_free(reader);
	close(fd);
}

static void a_signal_writes_what_was(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	uint64_t first, last, nr, bytes;
	struct keep_counts c;
	char path[PATH_MAX];

	begin_with(v, &o);
	recorder_counts(v->r, &c);
	assert_null(c.newest);
	records(v, 10000);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
	assert_int_equal(each_file(v, path, &bytes), 1);
	assert_non_null(strstr(path, "/host-000001-"));
	assert_non_null(strstr(v->told, path));
	assert_non_null(strstr(v->told, "SIGUSR1"));
	assert_non_null(strstr(v->told, " 10000 records"));
	read_file(path, &first, &last, &nr, NULL);
	assert_int_equal(first, 1);
	assert_int_equal(last, 10000);
	assert_int_equal(nr, 10000);
	recorder_counts(v->r, &c);
	assert_int_equal(c.triggers[TRIGGER_SIGNAL], 1);
	assert_int_equal(c.written, 1);
	assert_int_equal(c.files, 1);
	assert_int_equal(c.disk_bytes, bytes);
	assert_int_equal(c.left_out, 0);
	assert_int_equal(c.records, 10000);
	assert_string_equal(c.newest, strrchr(path, '/') + 1);
	/* The name has that time in seconds. */
	assert_in_range(realtime_ns() - c.newest_ns, 0, 600000000000);
}

static void name(struct run *v, uint32_t nsid, const char *called)
{
	struct device_name d = {.subsysnqn = "nqn.x", .instance = 3, .nsid = nsid};

	snprintf(d.name, sizeof(d.name), "%s", called);
	recorder_device(v->r, &d);
}

/*
 * The names of the devices in a file, with a blank behind each; @before: only those announced
 * before the first record.
 */
static void devices_of(const char *path, char *text, size_t size, bool before)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stream_reader *reader = stream_reader_new(fd);
	struct stream_event e;
	size_t at = 0;

	assert_non_null(reader);
	text[0] = '\0';
	while (stream_read(reader, &e) == 1 && !(before && e.type == STREAM_RECORD)) {
		if (e.type != STREAM_DEVICE)
			continue;
		assert_string_equal(e.device.subsysnqn, "nqn.x");
		assert_int_equal(e.device.instance, 3);
		at += (size_t)snprintf(text + at, size - at, "%u=%s ", e.device.nsid,
				       e.device.name);
	}
	stream_reader_free(reader);
	close(fd);
}

/*
 * Each file has all names: also those that were announced long ago, and those that come while it is
 * written.
 */
static void devices_are_in_each_file(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char path[PATH_MAX], text[256];
	uint64_t bytes;

	o.after_ns = 300 * MS;
	begin_with(v, &o);
	record(v, 1, MS);
	name(v, 1, "nvme3n1");
	records(v, 3000);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	for (unsigned int i = 0; i < 20; i++)
		recorder_work(v->r);
	record(v, 1, MS);
	name(v, 2, "nvme3n2");
	work(v);
	each_file(v, path, &bytes);
	devices_of(path, text, sizeof(text), true);
	assert_string_equal(text, "1=nvme3n1 ");
	devices_of(path, text, sizeof(text), false);
	assert_string_equal(text, "1=nvme3n1 2=nvme3n2 ");
	unlink(path);
	/* The newest name counts. */
	name(v, 1, "nvme4n1");
	record(v, 1, MS);
	recorder_finish(v->r, PATIENCE_NS);
	each_file(v, path, &bytes);
	devices_of(path, text, sizeof(text), true);
	assert_string_equal(text, "1=nvme4n1 2=nvme3n2 ");
}

/* The states in a file, with a blank behind each. */
static void states_of(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stream_reader *reader = stream_reader_new(fd);
	struct stream_event e;
	size_t at = 0;

	assert_non_null(reader);
	text[0] = '\0';
	while (stream_read(reader, &e) == 1)
		if (e.type == STREAM_PATH)
			at += (size_t)snprintf(text + at, size - at, "%u ", e.path.state);
	stream_reader_free(reader);
	close(fd);
}

static void event(struct run *v, uint16_t state, uint64_t ns)
{
	recorder_event(v->r, &(struct nt_path_event){.state = state, .ns = ns});
}

/* A file has the events from before it and of its time, which the next one does not have. */
static void a_state_sets_off_a_file_that_has_the_events(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char path[PATH_MAX], text[256];
	uint64_t bytes;
	size_t at;

	o.keep_ns = 100 * S;
	o.after_ns = 300 * MS;
	assert_null(when_parse(&o.when, "state=connecting", &at));
	begin_with(v, &o);
	event(v, NT_PATH_DEAD, monotonic_ns() - 200 * S);
	event(v, NT_PATH_RESETTING, monotonic_ns());
	records(v, 100);
	event(v, NT_PATH_CONNECTING, monotonic_ns());
	recorder_work(v->r);
	event(v, NT_PATH_LIVE, monotonic_ns());
	work(v);
	each_file(v, path, &bytes);
	states_of(path, text, sizeof(text));
	assert_string_equal(text, "2 3 1 ");
	assert_non_null(strstr(v->told, "state=connecting: nvme0"));
	unlink(path);
	event(v, NT_PATH_DELETING, monotonic_ns());
	record(v, 1, MS);
	recorder_finish(v->r, PATIENCE_NS);
	each_file(v, path, &bytes);
	states_of(path, text, sizeof(text));
	assert_string_equal(text, "4 ");
}

/* A file that fails takes neither its records nor its events with it. */
static void events_of_a_file_that_failed_are_in_the_next_one(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char path[PATH_MAX], text[256];
	uint64_t bytes;

	o.after_ns = 300 * MS;
	begin_with(v, &o);
	event(v, NT_PATH_RESETTING, monotonic_ns());
	records(v, 100);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	recorder_work(v->r);
	/* Its folder is gone: the file gets no name. */
	snprintf(path, sizeof(path), "%s/" LOCK, v->folder);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(v->folder), 0);
	work(v);
	assert_int_equal(v->failures, 1);
	assert_int_equal(mkdir(v->folder, 0700), 0);
	event(v, NT_PATH_CONNECTING, monotonic_ns());
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
	assert_int_equal(each_file(v, path, &bytes), 1);
	states_of(path, text, sizeof(text));
	assert_string_equal(text, "2 3 ");
}

/* The number of names is limited; the oldest ones are dropped. */
static void of_many_devices_the_last_are_known(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char path[PATH_MAX], *text = malloc(1 << 20);
	uint64_t bytes;

	assert_non_null(text);
	begin_with(v, &o);
	for (uint32_t i = 1; i <= RING_DEVICES_MAX + 2; i++)
		name(v, i, "d");
	record(v, 1, MS);
	recorder_finish(v->r, PATIENCE_NS);
	each_file(v, path, &bytes);
	devices_of(path, text, 1 << 20, true);
	assert_memory_equal(text, "3=d 4=d ", 8);
	assert_non_null(strstr(text, " 4098=d "));
	free(text);
}

/* A record is in one file only. Records that come while a file is written are in that file. */
static void files_follow_one_another(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	uint64_t first, last, nr, bytes, next = 1;
	struct keep_counts c;
	char path[PATH_MAX];
	size_t at;

	o.after_ns = 300 * MS;
	assert_null(when_parse(&o.when, "latency>5ms", &at));
	begin_with(v, &o);
	records(v, 1000);
	record(v, 1, 6 * MS);
	for (unsigned int i = 0; i < 20; i++)
		recorder_trigger(v->r, TRIGGER_SIGNAL);
	records(v, 1000);
	work(v);
	assert_non_null(strstr(v->told, "latency>5ms: read of 6.000 ms"));
	records(v, 500);
	recorder_finish(v->r, PATIENCE_NS);
	assert_non_null(strstr(v->told, "(exit)"));
	recorder_finish(v->r, PATIENCE_NS);
	assert_int_equal(v->lines, 2);
	recorder_counts(v->r, &c);
	assert_int_equal(c.triggers[TRIGGER_SIGNAL], 20);
	assert_int_equal(c.triggers[0], 1);
	assert_string_equal(c.trigger_name[0], "latency>5ms");
	assert_int_equal(c.written, 2);
	for (unsigned int i = 0; i < 2; i++) {
		each_file(v, path, &bytes);
		read_file(path, &first, &last, &nr, NULL);
		assert_int_equal(first, next);
		assert_int_equal(nr, last - first + 1);
		next = last + 1;
		unlink(path);
	}
	assert_int_equal(next, v->records + 1);
}

/* Memory is limited. Records that find no room are counted, and the file has the newest ones. */
static void what_does_not_fit_is_counted(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	uint64_t first, last, nr, bytes;
	struct keep_counts c;
	char path[PATH_MAX];

	begin_with(v, &o);
	records(v, 1000000);
	recorder_counts(v->r, &c);
	assert_true(c.memory_bytes <= RING_BYTES_MIN);
	assert_true(c.left_out > 0);
	assert_int_equal(c.records + c.left_out, 1000000);
	recorder_finish(v->r, PATIENCE_NS);
	each_file(v, path, &bytes);
	read_file(path, &first, &last, &nr, NULL);
	assert_int_equal(last, 1000000);
	assert_int_equal(nr, c.records);
	assert_int_equal(first, c.left_out + 1);
}

static void what_is_old_goes(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	struct keep_counts c;

	o.keep_ns = 64 * MS;
	begin_with(v, &o);
	records(v, 1000);
	do {
		recorder_work(v->r);
		recorder_counts(v->r, &c);
		usleep(1000);
	} while (c.records);
	assert_int_equal(c.left_out, 0);
	assert_int_equal(c.memory_bytes, 0);
	/* The queues of the records are known again. */
	o.keep_ns = 3600 * S;
	assert_int_equal(recorder_change(v->r, &o), 0);
	records(v, 100);
	recorder_finish(v->r, PATIENCE_NS);
	assert_non_null(strstr(v->told, " 100 records"));
}

/* Whoever waited, before the trigger or after it. */
static void what_is_old_at_the_trigger_is_in_no_file(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	struct keep_counts c;

	o.keep_ns = S;
	begin_with(v, &o);
	records(v, 10);
	usleep(100000);
	recorder_work(v->r);
	usleep(1100000);
	records(v, 100);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	usleep(1100000);
	work(v);
	assert_int_equal(v->failures, 0);
	assert_non_null(strstr(v->told, " 100 records"));
	assert_null(strstr(v->told, "too slow"));
	recorder_counts(v->r, &c);
	assert_int_equal(c.left_out, 0);
}

static void losses_are_those_of_its_time(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	struct stats s = {.side = NT_HOST, .seconds = 1};
	uint64_t first, last, nr, bytes;
	struct stream_losses l;
	char path[PATH_MAX];

	begin_with(v, &o);
	s.counters_total[NT_CNT_RING_FULL] = 1000;
	recorder_interval(v->r, &s);
	records(v, 10);
	s.counters_total[NT_CNT_RING_FULL] = 1003;
	recorder_interval(v->r, &s);
	recorder_finish(v->r, PATIENCE_NS);
	each_file(v, path, &bytes);
	read_file(path, &first, &last, &nr, &l);
	assert_int_equal(l.count[NT_CNT_RING_FULL], 3);
	assert_int_equal(l.count[COUNTER_READER_SLOW], 0);
}

/*
 * The order is that of the numbers, whatever the clock says. Files that are not the recorder's
 * stay.
 */
static void the_oldest_goes_first(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char path[PATH_MAX], other[PATH_MAX];
	struct keep_counts c;
	uint64_t bytes;
	int fd;

	/* A file of an earlier run whose clock was ahead. */
	snprintf(other, sizeof(other), "%s/host-000041-20991231T000000Z.ntp", v->folder);
	fd = open(other, O_CREAT | O_WRONLY, 0600);
	close(fd);
	snprintf(other, sizeof(other), "%s/a-file-of-others.ntp", v->folder);
	fd = open(other, O_CREAT | O_WRONLY, 0600);
	close(fd);
	o.files = 3;
	begin_with(v, &o);
	for (unsigned int i = 0; i < 6; i++) {
		records(v, 100);
		recorder_trigger(v->r, TRIGGER_SIGNAL);
		work(v);
	}
	assert_int_equal(v->failures, 0);
	recorder_counts(v->r, &c);
	assert_int_equal(c.files, 3);
	assert_int_equal(c.removed, 4);
	assert_int_equal(each_file(v, path, &bytes), 4);
	assert_string_equal(path, other);
	unlink(path);
	each_file(v, path, &bytes);
	assert_non_null(strstr(path, "/host-000045-"));
}

static void files_are_no_larger_than_all_may_be(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	uint64_t first, last, nr, bytes;
	struct keep_counts c;
	char path[PATH_MAX];

	o.disk_bytes = 1 << 20;
	begin_with(v, &o);
	for (unsigned int i = 0; i < 5; i++) {
		records(v, 20000);
		recorder_trigger(v->r, TRIGGER_SIGNAL);
		work(v);
		assert_true(each_file(v, path, &bytes) > 0);
		assert_true(bytes <= o.disk_bytes);
	}
	assert_int_equal(v->failures, 0);
	/* A file that would exceed the limit alone ends early. */
	records(v, 100000);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
	assert_non_null(strstr(v->told, "ended early"));
	assert_int_equal(each_file(v, path, &bytes), 1);
	assert_true(bytes <= o.disk_bytes);
	read_file(path, &first, &last, &nr, NULL);
	recorder_counts(v->r, &c);
	assert_int_equal(c.written, 6);
	assert_int_equal(c.disk_bytes, bytes);
}

/* Frames of records are 64 KiB, so some of these limits lie within a frame. */
static void a_full_file_is_no_larger_wherever_its_frames_end(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char path[PATH_MAX];
	uint64_t bytes;

	for (unsigned int i = 0; i < 4; i++) {
		o.disk_bytes = (256 + 16 * i) << 10;
		begin_with(v, &o);
		records(v, 20000);
		recorder_trigger(v->r, TRIGGER_SIGNAL);
		work(v);
		assert_non_null(strstr(v->told, "ended early"));
		assert_int_equal(each_file(v, path, &bytes), 1);
		assert_true(bytes <= o.disk_bytes);
		recorder_free(v->r);
		v->r = NULL;
	}
}

static bool say(const char *path, const char *format, unsigned int id)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return false;
	fprintf(f, format, id);
	return !fclose(f);
}

/*
 * Makes a user name space in which we are root and our files have a user and a group, but no other
 * user exists. Return: whether that worked.
 */
static bool own_users(void)
{
	unsigned int uid = getuid(), gid = getgid();

	return !unshare(CLONE_NEWUSER | CLONE_NEWNS) &&
	       say("/proc/self/uid_map", "0 %u 1\n", uid) &&
	       say("/proc/self/setgroups", "deny\n", 0) &&
	       say("/proc/self/gid_map", "0 %u 1\n", gid);
}

/*
 * Moves the run to a file system of @bytes, which needs a name space. Its root is our root
 * directory then: in a name space without other users, the machine's root directory and /tmp are
 * another's.
 *
 * Return: whether that worked.
 */
static bool mount_small(struct run *v, const char *bytes)
{
	char proc[sizeof(v->folder) + 8];

	if (unshare(CLONE_NEWNS) && !own_users())
		return false;
	mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
	snprintf(proc, sizeof(proc), "%s/proc", v->folder);
	if (mount("none", v->folder, "tmpfs", 0, bytes) || mkdir(proc, 0755) ||
	    mount("/proc", proc, NULL, MS_BIND | MS_REC, NULL) || chroot(v->folder))
		return false;
	strcpy(v->folder, "/files");
	return !chdir("/") && !mkdir(v->folder, 0700);
}

static void fill_small_disk(struct run *v)
{
	struct recorder_options o = options_of(v);
	uint64_t first, last, nr, bytes;
	struct keep_counts c;
	char path[PATH_MAX];

	begin_with(v, &o);
	records(v, 100000);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
	assert_int_equal(v->failures, 1);
	assert_non_null(strstr(v->told, strerror(ENOSPC)));
	assert_int_equal(each_file(v, path, &bytes), 0);
	recorder_counts(v->r, &c);
	assert_int_equal(c.failed, 1);
	assert_int_equal(c.written, 0);
	assert_int_equal(c.records, 100000);
	/* It works again with fewer records. */
	recorder_free(v->r);
	v->records = 0;
	o = options_of(v);
	begin_with(v, &o);
	records(v, 100);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
	assert_int_equal(each_file(v, path, &bytes), 1);
	read_file(path, &first, &last, &nr, NULL);
	assert_int_equal(nr, 100);
}

static void a_full_disk_leaves_nothing_half(void **state)
{
	struct run *v = *state;
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (!mount_small(v, "size=256k,mode=700"))
			_exit(77);
		fill_small_disk(v);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* A file that has a name is complete, whenever the recorder is killed. */
static void killed_it_leaves_whole_files(void **state)
{
	struct run *v = *state;
	uint64_t first, last, nr, bytes;
	unsigned int files = 0;
	char path[PATH_MAX];

	for (unsigned int i = 0; i < 20; i++) {
		pid_t pid = fork();
		int status;

		if (!pid) {
			struct recorder_options o = options_of(v);

			begin_with(v, &o);
			for (;;) {
				records(v, 5000);
				recorder_trigger(v->r, TRIGGER_SIGNAL);
				work(v);
			}
		}
		usleep(3000 * i);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		while (each_file(v, path, &bytes)) {
			read_file(path, &first, &last, &nr, NULL);
			assert_int_equal(nr, last - first + 1);
			unlink(path);
			files++;
		}
	}
	assert_true(files > 0);
}

static void what_is_no_folder_is_refused(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);

	o.folder = "/nonexistent/folder";
	assert_null(recorder_new(&o, NT_HOST, tell, v));
	assert_int_equal(errno, ENOENT);
	o = options_of(v);
	begin_with(v, &o);
	o.folder = "/etc/passwd";
	assert_int_equal(recorder_change(v->r, &o), -ENOTDIR);
	/* The recorder still uses the old folder. */
	records(v, 10);
	recorder_finish(v->r, PATIENCE_NS);
	assert_int_equal(v->failures, 0);
	assert_non_null(strstr(v->told, v->folder));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_signal_writes_what_was),
		TEST(devices_are_in_each_file),
		TEST(a_state_sets_off_a_file_that_has_the_events),
		TEST(events_of_a_file_that_failed_are_in_the_next_one),
		TEST(of_many_devices_the_last_are_known),
		TEST(files_follow_one_another),
		TEST(what_does_not_fit_is_counted),
		TEST(what_is_old_goes),
		TEST(what_is_old_at_the_trigger_is_in_no_file),
		TEST(losses_are_those_of_its_time),
		TEST(the_oldest_goes_first),
		TEST(files_are_no_larger_than_all_may_be),
		TEST(a_full_file_is_no_larger_wherever_its_frames_end),
		TEST(a_full_disk_leaves_nothing_half),
		TEST(killed_it_leaves_whole_files),
		TEST(what_is_no_folder_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
