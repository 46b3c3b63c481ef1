// SPDX-License-Identifier: GPL-2.0-only
/*
 * A file of the flight recorder must survive a power cut once the log has a line about it. These
 * tests replace the C library's fsync(2), and record when it is called and which names and lines
 * there are at that time. machine/flight has a disk that loses power.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/time.h"
#include "serve/recorder.h"
#include "serve/ring.h"

#define S 1000000000ULL
#define PATIENCE_NS (60 * S)

static const struct stream_header header = {.side = NT_HOST, .source = "stock", .boot_id = "x"};

/**
 * asked - calls of fsync(2) by the thread that writes; accessed atomically
 * @files, @folders: number of calls for files and for folders
 * @size: size of the file
 * @names_at_file, @names_at_folder: number of files with a name in the folder at that call
 * @lines_at_folder: number of lines logged at that call
 * @file_error, @folder_error: error to fail with; 0: none
 * @held: the call does not return as long as this is set
 */
static struct {
	unsigned int files, folders;
	uint64_t size;
	unsigned int names_at_file, names_at_folder;
	unsigned int lines_at_folder;
	int file_error, folder_error;
	bool held;
} asked;

struct run {
	char folder[64];
	struct recorder *r;
	char told[RECORDER_LINE_LEN];
	unsigned int lines;
	unsigned int failures;
};

static struct run *running;

#define GET(x) __atomic_load_n(&(x), __ATOMIC_SEQ_CST)
#define SET(x, value) __atomic_store_n(&(x), value, __ATOMIC_SEQ_CST)

/* Return: number of names in the folder; @path: the last of them. */
static unsigned int names(const struct run *v, char path[PATH_MAX])
{
	DIR *d = opendir(v->folder);
	const struct dirent *e;
	unsigned int nr = 0;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, PATH_MAX, "%s/%s", v->folder, e->d_name);
		nr++;
	}
	closedir(d);
	return nr;
}

int fsync(int fd)
{
	char path[PATH_MAX];
	int err;
	struct stat st;

	if (fstat(fd, &st))
		return -1;
	if (S_ISDIR(st.st_mode)) {
		SET(asked.names_at_folder, names(running, path));
		SET(asked.lines_at_folder, GET(running->lines));
		SET(asked.folders, asked.folders + 1);
	} else {
		SET(asked.names_at_file, names(running, path));
		SET(asked.size, (uint64_t)st.st_size);
		SET(asked.files, asked.files + 1);
	}
	/*
	 * A signal interrupts it, as on file systems that allow that. Then everything can be
	 * released.
	 */
	while (GET(asked.held))
		if (usleep(1000))
			return -1;
	err = S_ISDIR(st.st_mode) ? asked.folder_error : asked.file_error;
	if (!err)
		return (int)syscall(SYS_fsync, fd);
	errno = err;
	return -1;
}

static void tell(void *context, bool failed, const char *line)
{
	struct run *v = context;

	snprintf(v->told, sizeof(v->told), "%s", line);
	SET(v->lines, v->lines + 1);
	v->failures += failed;
}

static int setup(void **state)
{
	struct run *v = calloc(1, sizeof(*v));
	struct recorder_options o = {
		.keep_ns = 3600 * S,
		.memory_bytes = RING_BYTES_MIN,
		.folder = v->folder,
		.files = 16,
		.disk_bytes = 1ULL << 30,
	};

	memset(&asked, 0, sizeof(asked));
	strcpy(v->folder, "/tmp/ntprof-durable.XXXXXX");
	*state = running = v;
	if (!mkdtemp(v->folder))
		return -1;
	v->r = recorder_new(&o, NT_HOST, tell, v);
	if (v->r)
		recorder_begin(v->r, &header);
	return v->r ? 0 : -1;
}

static int teardown(void **state)
{
	struct run *v = *state;
	char path[PATH_MAX];

	SET(asked.held, false);
	recorder_free(v->r);
	while (names(v, path))
		unlink(path);
	snprintf(path, sizeof(path), "%s/.ntprof-bpf.host.lock", v->folder);
	unlink(path);
	rmdir(v->folder);
	free(v);
	return 0;
}

static void record(struct run *v)
{
	const uint64_t now = monotonic_ns();
	const struct nt_record r = {
		.side = NT_HOST,
		.gen = 1,
		.points = {[NT_H_SUBMIT] = now - 1000, [NT_H_COMPLETE] = now},
	};
	const struct queue_info q = {.gen = 1, .subsysnqn = "nqn.x"};

	if (recorder_record(v->r, &r))
		recorder_queue(v->r, &q);
}

#define WORK_UNTIL(v, condition)                                        \
	do {                                                            \
		const uint64_t until = monotonic_ns() + PATIENCE_NS;    \
                                                                        \
		while (!(condition)) {                                  \
			if (monotonic_ns() > until)                     \
				fail_msg("never true: %s", #condition); \
			recorder_work((v)->r);                          \
			usleep(200);                                    \
		}                                                       \
	} while (0)

static void assert_told(const struct run *v, const char *part)
{
	if (!strstr(v->told, part))
		fail_msg("no '%s' in: %s", part, v->told);
}

static void data_then_name_then_line(void **state)
{
	struct run *v = *state;
	char path[PATH_MAX];
	struct stat st;

	record(v);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	WORK_UNTIL(v, v->lines);
	assert_told(v, "wrote ");
	assert_null(strstr(v->told, "may not be on the disk"));
	assert_int_equal(names(v, path), 1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(asked.files, 1);
	assert_int_equal(asked.names_at_file, 0);
	assert_int_equal(asked.size, st.st_size);
	assert_int_equal(asked.folders, 1);
	assert_int_equal(asked.names_at_folder, 1);
	assert_int_equal(asked.lines_at_folder, 0);
}

/* Meanwhile records are taken and triggers are counted, and no line is logged. */
static void who_records_does_not_wait_for_the_disk(void **state)
{
	struct keep_counts counts;
	struct run *v = *state;
	char path[PATH_MAX];

	SET(asked.held, true);
	record(v);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	WORK_UNTIL(v, GET(asked.files));
	for (unsigned int i = 0; i < 100; i++) {
		record(v);
		recorder_work(v->r);
	}
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	recorder_counts(v->r, &counts);
	assert_int_equal(counts.triggers[TRIGGER_SIGNAL], 2);
	assert_int_equal(v->lines, 0);
	assert_int_equal(names(v, path), 0);
	SET(asked.held, false);
	WORK_UNTIL(v, v->lines);
	assert_told(v, ": 1 records");
	/* The other records are kept for the next file. */
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	WORK_UNTIL(v, v->lines == 2);
	assert_told(v, ": 100 records");
}

static void what_the_disk_does_not_take_is_no_file(void **state)
{
	struct keep_counts counts;
	struct run *v = *state;
	char path[PATH_MAX];

	asked.file_error = EIO;
	record(v);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	WORK_UNTIL(v, v->lines);
	assert_told(v, "is not written");
	assert_told(v, "Input/output error");
	assert_int_equal(names(v, path), 0);
	recorder_counts(v->r, &counts);
	assert_int_equal(counts.failed, 1);
	asked.file_error = 0;
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	WORK_UNTIL(v, v->lines == 2);
	assert_told(v, ": 1 records");
}

/* The file is complete and has its name. */
static void a_name_that_may_be_lost_is_told(void **state)
{
	struct run *v = *state;
	char path[PATH_MAX];

	asked.folder_error = EIO;
	record(v);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	WORK_UNTIL(v, v->lines);
	assert_told(v, "wrote ");
	assert_told(v, "; it may not be on the disk yet: Input/output error");
	assert_int_equal(v->failures, 1);
	assert_int_equal(names(v, path), 1);
}

static void a_file_system_that_cannot_is_fine(void **state)
{
	struct run *v = *state;

	asked.file_error = asked.folder_error = EINVAL;
	record(v);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	WORK_UNTIL(v, v->lines);
	assert_told(v, "wrote ");
	assert_int_equal(v->failures, 0);
}

/* All of the file is written, so the kernel can go on with it after the process has ended. */
static void the_end_does_not_wait_for_a_disk_that_hangs(void **state)
{
	struct run *v = *state;
	char path[PATH_MAX];

	SET(asked.held, true);
	record(v);
	recorder_finish(v->r, 2 * S);
	assert_told(v, ": 1 records");
	assert_told(v, "; it may not be on the disk yet: Connection timed out");
	assert_int_equal(names(v, path), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(data_then_name_then_line),
		TEST(who_records_does_not_wait_for_the_disk),
		TEST(what_the_disk_does_not_take_is_no_file),
		TEST(a_name_that_may_be_lost_is_told),
		TEST(a_file_system_that_cannot_is_fine),
		TEST(the_end_does_not_wait_for_a_disk_that_hangs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
