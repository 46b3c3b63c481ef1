// SPDX-License-Identifier: GPL-2.0-only
/* The flight recorder while its disk hangs: each call that waits for it waits until a test goes on.
 */
#include <pthread.h>
#include <semaphore.h>

#include "serve/folder.h"
#include "serve/recorder_made.h"
#include "stream/reader.h"
#include "stream/destination.h"

enum place { NOWHERE, OPEN_FOLDER, MAKE_ROOM, OPEN_FILE, MAKE_MORE_ROOM, NAME_FILE, CLOSE_FILE };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum place hangs;
	bool waits;
	bool fails;
	bool opened;	    /* used by jobs only */
	useconds_t slow;    /* changes only while no job runs */
	unsigned int asked; /* how often it was slow */
} disk = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Which place hangs from now on, and none that waits any more. */
static void hang(enum place place)
{
	pthread_mutex_lock(&disk.lock);
	disk.hangs = place;
	disk.waits = false;
	pthread_cond_broadcast(&disk.changed);
	pthread_mutex_unlock(&disk.lock);
}

static void reach(enum place place)
{
	pthread_mutex_lock(&disk.lock);
	while (disk.hangs == place) {
		disk.waits = true;
		pthread_cond_broadcast(&disk.changed);
		pthread_cond_wait(&disk.changed, &disk.lock);
	}
	pthread_mutex_unlock(&disk.lock);
}

/* No room can be had. */
static void break_down(bool fails)
{
	pthread_mutex_lock(&disk.lock);
	disk.fails = fails;
	pthread_mutex_unlock(&disk.lock);
}

/* @flag: of the disk */
static bool is_set(const bool *flag)
{
	bool set;

	pthread_mutex_lock(&disk.lock);
	set = *flag;
	pthread_mutex_unlock(&disk.lock);
	return set;
}

/* After so many looks at a job that still ran it ends, before the next look; 0: it does not. */
static unsigned int ends_late;
static unsigned int looks;

int __real_sem_clockwait(sem_t *s, clockid_t id, const struct timespec *until);
int __wrap_sem_clockwait(sem_t *s, clockid_t id, const struct timespec *until);
int __wrap_sem_clockwait(sem_t *s, clockid_t id, const struct timespec *until)
{
	int ret = __real_sem_clockwait(s, id, until), ended = 0;

	looks++;
	if (!ret || errno != ETIMEDOUT || !ends_late || --ends_late)
		return ret;
	hang(NOWHERE);
	while (!ended) {
		usleep(200);
		sem_getvalue(s, &ended);
	}
	errno = ETIMEDOUT;
	return ret;
}

static bool no_threads;
/* Of the threads that are made from now on, each second one cannot be: those that write files. */
static bool no_writers;

int __real_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *arg)
{
	static bool second;

	second = no_writers && !second;
	return no_threads || (no_writers && !second) ? EAGAIN
						     : __real_pthread_create(t, a, run, arg);
}

int __real_folder_open(struct folder *f);
int __wrap_folder_open(struct folder *f);
int __wrap_folder_open(struct folder *f)
{
	disk.opened = false;
	reach(OPEN_FOLDER);
	return __real_folder_open(f);
}

int __real_folder_make_room(struct folder *f, uint64_t bytes, uint64_t unwritten);
int __wrap_folder_make_room(struct folder *f, uint64_t bytes, uint64_t unwritten);
int __wrap_folder_make_room(struct folder *f, uint64_t bytes, uint64_t unwritten)
{
	reach(disk.opened ? MAKE_MORE_ROOM : MAKE_ROOM);
	usleep(disk.slow);
	__atomic_fetch_add(&disk.asked, 1, __ATOMIC_SEQ_CST);
	return is_set(&disk.fails) ? -EIO : __real_folder_make_room(f, bytes, unwritten);
}

int __real_destination_open_in(struct destination *d, int folder_fd, const char *name,
			       const char *mark);
int __wrap_destination_open_in(struct destination *d, int folder_fd, const char *name,
			       const char *mark);
int __wrap_destination_open_in(struct destination *d, int folder_fd, const char *name,
			       const char *mark)
{
	reach(OPEN_FILE);
	disk.opened = true;
	return __real_destination_open_in(d, folder_fd, name, mark);
}

int __real_destination_commit(struct destination *d);
int __wrap_destination_commit(struct destination *d);
int __wrap_destination_commit(struct destination *d)
{
	reach(NAME_FILE);
	return __real_destination_commit(d);
}

int __real_destination_close(struct destination *d);
int __wrap_destination_close(struct destination *d);
int __wrap_destination_close(struct destination *d)
{
	reach(CLOSE_FILE);
	return __real_destination_close(d);
}

/* The recorder goes on until its disk hangs. It never waits longer than a moment. */
static void work_until_it_waits(struct run *v)
{
	const uint64_t until = monotonic_ns() + PATIENCE_NS;

	while (!is_set(&disk.waits)) {
		assert_true(monotonic_ns() < until);
		recorder_work(v->r);
		usleep(200);
	}
}

static void begin_to_hang(struct run *v, struct recorder_options *o)
{
	begin_with(v, o);
	job_moment_ns = 0;
	alarm(120);
}

static int threads(void)
{
	struct dirent **names = NULL;
	int n = scandir("/proc/self/task", &names, NULL, NULL);

	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return n;
}

/* Before a recorder has any. */
static int threads_at_first;

/* @work: the recorder's, or NULL; @more: how many threads there are besides the first ones then */
static void jobs_end(struct recorder *work, int more)
{
	const uint64_t until = monotonic_ns() + PATIENCE_NS;

	hang(NOWHERE);
	while (threads() != threads_at_first + more) {
		assert_true(monotonic_ns() < until);
		if (work)
			recorder_work(work);
		usleep(200);
	}
	alarm(0);
}

/* The first block's room is there when a file has begun. */
static void records_for(struct run *v, enum place at)
{
	records(v, at == MAKE_MORE_ROOM ? 20000 : 1000);
}

static void a_disk_that_hangs_holds_up_nothing(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	unsigned int files = 0;
	struct keep_counts c;
	char path[PATH_MAX];
	uint64_t bytes;

	begin_to_hang(v, &o);
	for (enum place at = OPEN_FOLDER; at <= CLOSE_FILE; at++) {
		records_for(v, at);
		jobs_end(v->r, 0);
		hang(at);
		recorder_trigger(v->r, TRIGGER_SIGNAL);
		work_until_it_waits(v);
		/* Records and requests to write them are taken meanwhile. */
		records(v, 1000);
		for (unsigned int i = 0; i < 100; i++)
			recorder_work(v->r);
		recorder_counts(v->r, &c);
		assert_in_range(c.files, files, files + (at == CLOSE_FILE));
		hang(NOWHERE);
		if (at != CLOSE_FILE)
			work(v);
		v->heard = v->lines;
		recorder_trigger(v->r, TRIGGER_SIGNAL);
		work(v);
		files += 2;
		assert_int_equal(each_file(v, path, &bytes), files);
	}
	assert_int_equal(v->failures, 0);
	jobs_end(v->r, 0);
}

/* One line, however often the disk is asked; none while a file only waits for more records. */
static void a_disk_that_hangs_is_told(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	struct keep_counts c;

	recorder_patience_ns = PATIENCE_NS;
	o.after_ns = 2 * S;
	begin_to_hang(v, &o);
	v->heard = v->lines;
	records(v, 1000);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	do {
		recorder_work(v->r);
		recorder_counts(v->r, &c);
	} while (c.disk_seconds > 0);
	assert_int_equal(v->lines, v->heard);
	work(v);
	assert_non_null(strstr(v->told, "wrote "));
	recorder_patience_ns = 100 * MS;
	hang(OPEN_FOLDER);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
	assert_non_null(strstr(v->told, "has not answered"));
	for (unsigned int i = 0; i < 1000; i++) {
		recorder_trigger(v->r, TRIGGER_SIGNAL);
		recorder_work(v->r);
		usleep(200);
	}
	assert_int_equal(v->lines, v->heard);
	recorder_counts(v->r, &c);
	assert_true(c.disk_seconds > 0.3);
	hang(NOWHERE);
	work(v);
	assert_non_null(strstr(v->told, "wrote "));
	/* What closes the file. */
	do {
		recorder_work(v->r);
		recorder_counts(v->r, &c);
	} while (c.disk_seconds > 0);
	/* It may be that of a folder which is new. */
	hang(OPEN_FOLDER);
	o.folder = "/nowhere";
	assert_int_equal(recorder_change(v->r, &o), 0);
	v->heard = v->lines;
	work(v);
	assert_non_null(strstr(v->told, "the disk of /nowhere has not answered"));
	hang(NOWHERE);
	jobs_end(v->r, 0);
	recorder_patience_ns = PATIENCE_NS;
}

/* Return: number of events of controllers in the newest file */
static unsigned int events_in(const struct run *v)
{
	struct stream_reader *r;
	struct stream_event e;
	unsigned int nr = 0;
	char path[PATH_MAX];
	uint64_t bytes;
	int fd;

	assert_true(each_file(v, path, &bytes) > 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	r = stream_reader_new(fd);
	assert_non_null(r);
	while (stream_read(r, &e) == 1)
		nr += e.type == STREAM_PATH;
	stream_reader_free(r);
	close(fd);
	return nr;
}

static void what_set_a_file_off_is_in_it_however_late_the_disk_is(void **state)
{
	struct nt_path_event e = {.kind = NT_PATH_STATE, .state = 4, .instance = 7};
	struct run *v = *state;
	struct recorder_options o = options_of(v);

	o.keep_ns = S / 2;
	begin_to_hang(v, &o);
	records(v, 100);
	e.ns = monotonic_ns();
	recorder_event(v->r, &e);
	hang(OPEN_FOLDER);
	v->heard = v->lines;
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work_until_it_waits(v);
	usleep(600000);
	hang(NOWHERE);
	work(v);
	assert_non_null(strstr(v->told, " 100 records"));
	assert_int_equal(events_in(v), 1);
	jobs_end(v->r, 0);
}

/*
 * A change waits for whatever the file has asked, which is no disk that does not answer; then it is
 * made, and the next file is written as well.
 */
static void a_change_waits_for_the_answer_to_a_file(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);

	o.after_ns = S / 5;
	begin_to_hang(v, &o);
	for (enum place at = OPEN_FOLDER; at <= NAME_FILE; at++) {
		records_for(v, at);
		jobs_end(v->r, 0);
		alarm(120);
		v->heard = v->lines;
		hang(at);
		recorder_trigger(v->r, TRIGGER_SIGNAL);
		work_until_it_waits(v);
		assert_int_equal(recorder_change(v->r, &o), 0);
		assert_int_equal(recorder_change(v->r, &o), 0);
		assert_int_equal(v->lines, v->heard);
		hang(NOWHERE);
		for (unsigned int files = 0; files < 2; files++) {
			work(v);
			assert_non_null(strstr(v->told, "wrote "));
			v->heard = v->lines;
			recorder_trigger(v->r, TRIGGER_SIGNAL);
		}
		work(v);
	}
	assert_int_equal(v->failures, 0);
	jobs_end(v->r, 0);
}

/* Its records end before the disk has taken it: what fires then is in the next one. */
static void what_fires_when_a_file_has_its_records_has_a_file_of_its_own(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char path[PATH_MAX];
	uint64_t bytes;

	o.keep_ns = S;
	begin_to_hang(v, &o);
	records(v, 100);
	hang(NAME_FILE);
	v->heard = v->lines;
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work_until_it_waits(v);
	records(v, 50);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	records(v, 20);
	/* Records do not age while a file waits for them. */
	for (unsigned int i = 0; i < 1200; i++) {
		recorder_work(v->r);
		usleep(1000);
	}
	hang(NOWHERE);
	work(v);
	assert_non_null(strstr(v->told, " 100 records"));
	work(v);
	assert_non_null(strstr(v->told, " 70 records"));
	/* Nor has the end a file if there is nothing more. */
	hang(NAME_FILE);
	records(v, 5);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work_until_it_waits(v);
	recorder_trigger(v->r, TRIGGER_EXIT);
	hang(NOWHERE);
	work(v);
	assert_non_null(strstr(v->told, " 5 records"));
	for (unsigned int i = 0; i < 100; i++) {
		recorder_work(v->r);
		usleep(200);
	}
	assert_int_equal(each_file(v, path, &bytes), 3);
	assert_int_equal(v->failures, 0);
	jobs_end(v->r, 0);
}

static void *answer_later(void *unused)
{
	usleep(100000);
	hang(NOWHERE);
	return unused;
}

static void the_end_writes_what_came_while_the_disk_took_a_file(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	pthread_t later;

	begin_to_hang(v, &o);
	records(v, 100);
	hang(NAME_FILE);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work_until_it_waits(v);
	records(v, 50);
	assert_int_equal(pthread_create(&later, NULL, answer_later, NULL), 0);
	recorder_finish(v->r, PATIENCE_NS);
	pthread_join(later, NULL);
	assert_non_null(strstr(v->told, "(exit): 50 records"));
	assert_int_equal(v->failures, 0);
	jobs_end(v->r, 0);
}

/* Also if a file is triggered while the last one is closed. */
static void a_change_that_waited_comes_before_the_next_file(void **state)
{
	struct run *v = *state, *other = calloc(1, sizeof(*other));
	struct recorder_options o = options_of(v);

	strcpy(other->folder, "/tmp/ntprof-keep.XXXXXX");
	assert_non_null(mkdtemp(other->folder));
	o.after_ns = S / 5;
	begin_to_hang(v, &o);
	records(v, 100);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	for (unsigned int i = 0; i < 100; i++) {
		recorder_work(v->r);
		usleep(200);
	}
	o.folder = other->folder;
	assert_int_equal(recorder_change(v->r, &o), 0);
	v->heard = v->lines;
	hang(CLOSE_FILE);
	work(v);
	assert_non_null(strstr(v->told, v->folder));
	records(v, 10);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work_until_it_waits(v);
	hang(NOWHERE);
	work(v);
	assert_non_null(strstr(v->told, other->folder));
	jobs_end(v->r, 0);
	recorder_free(v->r);
	v->r = NULL;
	teardown((void **)&other);
}

/* A job for one file must not end as that of the next one. */
static void what_a_failed_file_asked_for_is_not_the_next_one_s(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);

	o.disk_bytes = 1;
	begin_to_hang(v, &o);
	records(v, 1000);
	hang(MAKE_ROOM);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work_until_it_waits(v);
	hang(NOWHERE);
	work(v);
	assert_int_equal(v->failures, 1);
	assert_non_null(strstr(v->told, "is not written"));
	jobs_end(v->r, 0);
}

/* @other: below the folder of @v */
static void remove_folder(struct run *v, const char *other)
{
	char path[PATH_MAX];
	uint64_t bytes;

	strcpy(v->folder, other);
	while (each_file(v, path, &bytes))
		unlink(path);
	snprintf(path, sizeof(path), "%s/" LOCK, other);
	unlink(path);
	rmdir(other);
	*strrchr(v->folder, '/') = '\0';
}

static void options_wait_for_the_disk(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char other[80], path[PATH_MAX];
	uint64_t bytes;

	snprintf(other, sizeof(other), "%s/other", v->folder);
	assert_int_equal(mkdir(other, 0700), 0);
	begin_to_hang(v, &o);
	hang(OPEN_FOLDER);
	o.folder = other;
	assert_int_equal(recorder_change(v->r, &o), 0);
	assert_non_null(strstr(v->told, "the disk does not answer"));
	assert_int_equal(recorder_change(v->r, &o), -EBUSY);
	for (unsigned int i = 0; i < 100; i++)
		recorder_work(v->r);
	hang(NOWHERE);
	v->heard = v->lines;
	records(v, 10);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
	assert_int_equal(each_file(v, path, &bytes), 0);
	assert_non_null(strstr(v->told, "/other/host-000001-"));
	/* A refusal that comes late has a line. */
	hang(OPEN_FOLDER);
	o.folder = "/nowhere";
	assert_int_equal(recorder_change(v->r, &o), 0);
	v->heard = v->lines;
	hang(NOWHERE);
	work(v);
	assert_non_null(strstr(v->told, "cannot keep files in /nowhere: No such file"));
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
	assert_non_null(strstr(v->told, "/other/host-000002-"));
	jobs_end(v->r, 0);
	remove_folder(v, other);
}

/*
 * A file of a disk that answers each question late. Return: how many microseconds of a turn were
 * spent on answers at most, whatever else the machine did meanwhile
 */
static unsigned int longest_turn_us(struct run *v)
{
	unsigned int most = 0, before;

	disk.slow = 8000;
	v->heard = v->lines;
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	while (v->lines == v->heard) {
		before = __atomic_load_n(&disk.asked, __ATOMIC_SEQ_CST);
		recorder_work(v->r);
		before = __atomic_load_n(&disk.asked, __ATOMIC_SEQ_CST) - before;
		most = before > most ? before : most;
	}
	assert_true(most);
	most *= disk.slow;
	disk.slow = 0;
	assert_int_equal(v->failures, 0);
	return most;
}

/* It answers each question within the moment that the recorder waits, as NFS does. */
static void a_slow_disk_holds_up_no_turn_for_long(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);

	o.memory_bytes = 64ULL << 20;
	begin_with(v, &o);
	records(v, 400000);
	assert_true(longest_turn_us(v) < 500000);
}

static void nor_where_there_are_many_namespaces_and_events(void **state)
{
	struct device_name d = {.subsysnqn = "nqn.x", .name = "nvme0n1"};
	struct nt_path_event e = {.kind = NT_PATH_STATE};
	struct run *v = *state;
	struct recorder_options o = options_of(v);

	begin_with(v, &o);
	records(v, 10);
	for (d.nsid = 1; d.nsid <= 300; d.nsid++)
		recorder_device(v->r, &d);
	assert_true(longest_turn_us(v) < 500000);
	for (unsigned int i = 0; i < 300; i++) {
		e.ns = monotonic_ns();
		recorder_event(v->r, &e);
	}
	records(v, 10);
	assert_true(longest_turn_us(v) < 500000);
}

static void the_end_does_not_wait_for_ever(void **state)
{
	struct run *v = *state;

	for (enum place at = OPEN_FOLDER; at <= NAME_FILE; at++) {
		struct recorder_options o = options_of(v);

		begin_to_hang(v, &o);
		records_for(v, at);
		hang(at);
		/* Longer than even a busy machine takes to come to that place. */
		recorder_finish(v->r, 2 * S);
		assert_int_equal(v->failures, at);
		assert_non_null(strstr(v->told, "is not written (exit): Connection timed out"));
		/* This leaves alone what the thread uses. */
		recorder_free(v->r);
		jobs_end(NULL, at >= MAKE_MORE_ROOM);
		if (at != NAME_FILE)
			recorder_free(v->r);
	}
}

/* Each look is a turn of a millisecond at least. */
static void the_end_sleeps_while_it_waits_for_a_name(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);

	begin_to_hang(v, &o);
	records(v, 1000);
	hang(NAME_FILE);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work_until_it_waits(v);
	looks = 0;
	recorder_finish(v->r, 200 * MS);
	assert_in_range(looks, 1, 300);
	jobs_end(NULL, 1);
}

static void a_name_that_is_given_at_the_last_moment_is_told(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char path[PATH_MAX];
	uint64_t bytes;

	begin_to_hang(v, &o);
	records(v, 1000);
	hang(NAME_FILE);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work_until_it_waits(v);
	/* One look is for the file as it always is, and one because the time is over. */
	ends_late = 2;
	recorder_finish(v->r, 0);
	assert_int_equal(each_file(v, path, &bytes), 1);
	assert_non_null(strstr(v->told, "wrote "));
	jobs_end(v->r, 0);
}

/* While new options wait for the disk, the folder is still the old one. */
static void a_failure_names_the_folder_that_files_are_in(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);

	begin_to_hang(v, &o);
	records(v, 1000);
	hang(OPEN_FOLDER);
	o.folder = "/nowhere";
	assert_int_equal(recorder_change(v->r, &o), 0);
	recorder_finish(v->r, 0);
	assert_non_null(strstr(v->told, "is not written (exit): Connection timed out"));
	assert_null(strstr(v->told, "/nowhere"));
	jobs_end(NULL, 0);
}

static void without_a_thread_nothing_waits_for_the_disk(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);

	alarm(120);
	no_threads = true;
	assert_null(recorder_new(&o, NT_HOST, tell, v));
	no_threads = false;
	alarm(0);
	assert_int_equal(errno, ENOMEM);
}

static unsigned int descriptors(void)
{
	unsigned int nr = 0;

	for (int fd = 0; fd < 1024; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/* The thread of a file may end, and close what it has, a while after the file. */
static void assert_descriptors(unsigned int nr)
{
	for (unsigned int tries = 0; tries < 1000 && descriptors() != nr; tries++)
		usleep(10000);
	assert_int_equal(descriptors(), nr);
}

/* Where there may be one more task, the thread of the job has it, and is not gone at once. */
static void without_a_thread_to_write_it_a_file_fails(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	unsigned int before;

	begin_with(v, &o);
	records(v, 1000);
	before = descriptors();
	no_writers = true;
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	for (unsigned int i = 0; i < 100; i++)
		recorder_work(v->r);
	no_writers = false;
	print_message("# %u descriptors, %u after 100 turns\n", before, descriptors());
	assert_int_equal(v->failures, 1);
	recorder_work(v->r);
	assert_descriptors(before);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	v->heard = v->lines;
	work(v);
	assert_non_null(strstr(v->told, "wrote "));
}

/* There is no thread from the line about a file on, until it is to be closed. */
static void tell_and_lack(void *context, bool failed, const char *line)
{
	tell(context, failed, line);
	no_threads = true;
}

static void without_a_thread_to_close_it_a_file_is_closed_later(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	unsigned int before;

	v->r = recorder_new(&o, NT_HOST, tell_and_lack, v);
	assert_non_null(v->r);
	recorder_begin(v->r, &header);
	before = descriptors();
	for (unsigned int i = 0; i < 20; i++) {
		records(v, 1000);
		recorder_trigger(v->r, TRIGGER_SIGNAL);
		work(v);
		no_threads = false;
		recorder_work(v->r);
	}
	print_message("# %u descriptors, %u after 20 files\n", before, descriptors());
	assert_int_equal(v->failures, 0);
	assert_descriptors(before);
}

/* What the lines say. */
static uint64_t in_files;

static void tell_and_add(void *context, bool failed, const char *line)
{
	tell(context, failed, line);
	if (!strncmp(line, "wrote ", strlen("wrote ")))
		in_files += strtoull(strstr(line, "): ") + strlen("): "), NULL, 10);
}

static unsigned int below(unsigned int n)
{
	return (unsigned int)random() % n;
}

static struct recorder_options any_options(const struct run *v)
{
	struct recorder_options o = options_of(v);

	o.memory_bytes = 64ULL << 20;
	o.after_ns = below(20) * MS;
	return o;
}

static void anything(struct run *v, const char *other)
{
	struct recorder_options o;

	switch (below(11)) {
	case 0:
		hang((enum place)below(CLOSE_FILE + 1));
		break;
	case 1:
		hang(NOWHERE);
		break;
	case 2:
		break_down(!is_set(&disk.fails));
		break;
	case 3:
	case 4:
		recorder_trigger(v->r, TRIGGER_SIGNAL);
		break;
	case 5:
		o = any_options(v);
		if (!below(3))
			o.folder = below(4) ? other : "/nowhere";
		recorder_change(v->r, &o);
		break;
	case 6:
		records(v, below(4) ? below(300) : 12000);
		break;
	default:
		for (unsigned int turns = below(60); turns; turns--) {
			recorder_work(v->r);
			if (!below(4))
				usleep(below(500));
		}
	}
}

/* Both with and without the end of the run. */
static void each_record_is_in_one_file_whatever_comes_first(void **state)
{
	struct run *v = *state;
	char other[80];
	uint64_t until;

	snprintf(other, sizeof(other), "%s/other", v->folder);
	assert_int_equal(mkdir(other, 0700), 0);
	for (unsigned int round = 1; round <= 20; round++) {
		struct recorder_options o;
		unsigned int failures;

		srandom(round);
		o = any_options(v);
		v->records = in_files = 0;
		v->r = recorder_new(&o, NT_HOST, tell_and_add, v);
		assert_non_null(v->r);
		recorder_begin(v->r, &header);
		job_moment_ns = 0;
		alarm(120);
		for (unsigned int steps = 20 + below(60); steps; steps--)
			anything(v, other);
		hang(NOWHERE);
		break_down(false);
		failures = v->failures;
		if (round % 2)
			recorder_finish(v->r, PATIENCE_NS);
		else
			recorder_trigger(v->r, TRIGGER_SIGNAL);
		until = monotonic_ns() + PATIENCE_NS;
		while (in_files != v->records && monotonic_ns() < until) {
			/* A file may still hear that there was no room; its records are kept. */
			if (v->failures != failures)
				recorder_trigger(v->r, TRIGGER_SIGNAL);
			failures = v->failures;
			recorder_work(v->r);
			usleep(200);
		}
		print_message("# round %u: %llu records\n", round, (unsigned long long)v->records);
		assert_int_equal(in_files, v->records);
		jobs_end(v->r, 0);
		recorder_free(v->r);
		v->r = NULL;
		job_moment_ns = PATIENCE_NS;
	}
	remove_folder(v, other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_disk_that_hangs_holds_up_nothing),
		TEST(a_disk_that_hangs_is_told),
		TEST(what_set_a_file_off_is_in_it_however_late_the_disk_is),
		TEST(a_change_waits_for_the_answer_to_a_file),
		TEST(what_fires_when_a_file_has_its_records_has_a_file_of_its_own),
		TEST(the_end_writes_what_came_while_the_disk_took_a_file),
		TEST(a_change_that_waited_comes_before_the_next_file),
		TEST(what_a_failed_file_asked_for_is_not_the_next_one_s),
		TEST(options_wait_for_the_disk),
		TEST(a_slow_disk_holds_up_no_turn_for_long),
		TEST(nor_where_there_are_many_namespaces_and_events),
		TEST(the_end_does_not_wait_for_ever),
		TEST(the_end_sleeps_while_it_waits_for_a_name),
		TEST(a_name_that_is_given_at_the_last_moment_is_told),
		TEST(a_failure_names_the_folder_that_files_are_in),
		TEST(without_a_thread_nothing_waits_for_the_disk),
		TEST(without_a_thread_to_write_it_a_file_fails),
		TEST(without_a_thread_to_close_it_a_file_is_closed_later),
		TEST(each_record_is_in_one_file_whatever_comes_first),
	};

	threads_at_first = threads();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
