// SPDX-License-Identifier: GPL-2.0-only
/* The files of a folder without a recorder: which are counted, in which order they go, and their
 * names. */
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>

#include "core/array.h"
#include "serve/recorder_made.h"
#include "serve/folder.h"

#define MIB (1ULL << 20)
#define GIB (1ULL << 30)

/* Bytes that are available on a made-up disk of 100 GiB. */
static uint64_t available = 50 * GIB;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved. */
int fstatfs(int fd, struct statfs *fs)
{
	int ret = (int)syscall(SYS_fstatfs, fd, fs);

	fs->f_frsize = 4096;
	fs->f_blocks = (fsblkcnt_t)(100 * GIB / 4096);
	fs->f_bavail = (fsblkcnt_t)(available / 4096);
	return ret;
}

static void make(const struct run *v, const char *name, off_t bytes)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", v->folder, name);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	close(fd);
}

static void numbered(const struct run *v, unsigned int number, off_t bytes)
{
	char name[64];

	snprintf(name, sizeof(name), "host-%06u-20240131T235959Z.ntp", number);
	make(v, name, bytes);
}

static bool there(const struct run *v, unsigned int number)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/host-%06u-20240131T235959Z.ntp", v->folder, number);
	return !access(path, F_OK);
}

static struct folder opened(const struct run *v)
{
	struct folder f = {.side = NT_HOST, .files = 10, .bytes = 1000, .fd = -1, .lock_fd = -1};

	strcpy(f.path, v->folder);
	assert_int_equal(folder_open(&f), 0);
	return f;
}

static void a_name_of_ours_has_a_side_a_number_and_a_time(void **state)
{
	static const struct {
		const char *name;
		uint64_t number; /* 0: not ours */
	} cases[] = {
		{"host-000007-20240131T235959Z.ntp", 7},
		{"host-7-0.ntp", 7},
		{"host-1000000000000000-20240131T235959Z.ntp", 1000000000000000},
		{"host-1234567890123456789-20240131T235959Z.ntp", 0},
		{"target-000007-20240131T235959Z.ntp", 0},
		{"hostx000007-20240131T235959Z.ntp", 0},
		{"host000007-20240131T235959Z.ntp", 0},
		{"host--20240131T235959Z.ntp", 0},
		{"host-000007x.ntp", 0},
		{"host-000007-x.nt", 0},
		{"host-000007-20240131T235959Z.ntp.gz", 0},
		{"host-x-000007.ntp", 0},
		{"ahost-000007-20240131T235959Z.ntp", 0},
		/* What somebody else has called alike. */
		{"host-7-.ntp", 0},
		{"host-7-before-the-upgrade.ntp", 0},
		{"host-20240131-baseline.ntp", 0},
		{"host-000007-20240131T235959Z-kept.ntp", 0},
		{"host-000007-20240131T235959.ntp", 0},
		{"host-000007-20240131T23595XZ.ntp", 0},
		{"host-000007-2024013XT235959Z.ntp", 0},
		{"host-000007-1.ntp", 0},
	};
	struct run *v = *state;

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		char path[PATH_MAX];
		struct folder f;

		make(v, cases[i].name, 10);
		f = opened(v);
		if (f.nr != !!cases[i].number || f.last != cases[i].number)
			fail_msg("%s: %u files", cases[i].name, f.nr);
		assert_int_equal(f.used, cases[i].number ? 10 : 0);
		folder_close(&f);
		snprintf(path, sizeof(path), "%s/%s", v->folder, cases[i].name);
		assert_int_equal(unlink(path), 0);
	}
}

/* A link may lead to another user's file, and a folder cannot be removed as a file. */
static void only_plain_files_count(void **state)
{
	struct run *v = *state;
	char link[PATH_MAX], inner[PATH_MAX];
	struct folder f;

	numbered(v, 1, 10);
	snprintf(link, sizeof(link), "%s/host-000002-20240131T235959Z.ntp", v->folder);
	assert_int_equal(symlink("host-000001-20240131T235959Z.ntp", link), 0);
	snprintf(inner, sizeof(inner), "%s/host-000003-20240131T235959Z.ntp", v->folder);
	assert_int_equal(mkdir(inner, 0700), 0);
	f = opened(v);
	assert_int_equal(f.nr, 1);
	assert_int_equal(f.used, 10);
	assert_int_equal(f.last, 1);
	folder_close(&f);
	unlink(link);
	rmdir(inner);
}

static void files_are_listed_from_the_highest_number_on(void **state)
{
	const unsigned int nr = 150;
	struct run *v = *state;
	struct folder f;

	for (unsigned int i = 1; i <= nr; i++)
		numbered(v, i * 7 % 151, 2);
	f = opened(v);
	assert_int_equal(f.nr, nr);
	assert_int_equal(f.used, 2 * nr);
	assert_int_equal(f.last, nr);
	for (unsigned int i = 0; i < nr; i++)
		assert_int_equal(f.file[i].number, nr - i);
	/* Nothing is counted twice when the folder is looked at again. */
	assert_int_equal(folder_open(&f), 0);
	assert_int_equal(f.nr, nr);
	assert_int_equal(f.used, 2 * nr);
	folder_close(&f);
}

/* Four files of 100 bytes, which may have 1,000 bytes together. */
static void the_oldest_files_make_room(void **state)
{
	struct run *v = *state;
	struct folder f;

	for (unsigned int i = 1; i <= 4; i++)
		numbered(v, i, 100);
	f = opened(v);
	assert_int_equal(folder_make_room(&f, 600, 600), 0);
	assert_int_equal(f.removed, 0);
	assert_int_equal(folder_make_room(&f, 601, 601), 0);
	assert_int_equal(f.removed, 1);
	assert_int_equal(f.freed, 100);
	assert_int_equal(f.used, 300);
	assert_false(there(v, 1));
	assert_true(there(v, 2));
	/* A file that another process has removed makes room as well. */
	assert_int_equal(unlinkat(f.fd, "host-000002-20240131T235959Z.ntp", 0), 0);
	assert_int_equal(folder_make_room(&f, 801, 801), 0);
	assert_false(there(v, 3));
	assert_true(there(v, 4));
	assert_int_equal(f.nr, 1);
	assert_int_equal(folder_make_room(&f, 1001, 1001), -EFBIG);
	assert_true(there(v, 4));
	assert_int_equal(folder_make_room(&f, 1000, 1000), 0);
	assert_int_equal(f.nr, 0);
	assert_int_equal(f.used, 0);
	folder_close(&f);
}

static void a_new_file_is_one_of_so_many(void **state)
{
	struct run *v = *state;
	struct folder f;

	for (unsigned int i = 1; i <= 4; i++)
		numbered(v, i, 1);
	f = opened(v);
	f.files = 5;
	assert_int_equal(folder_make_room(&f, 1, 1), 0);
	assert_int_equal(f.nr, 4);
	f.files = 2;
	assert_int_equal(folder_make_room(&f, 1, 1), 0);
	assert_int_equal(f.nr, 1);
	assert_true(there(v, 4));
	folder_close(&f);
}

/* With too little free, a file has the room of those that were removed for it. */
static void what_was_freed_may_be_used(void **state)
{
	struct folder f = opened(*state);

	f.keep_free = GIB;
	available = 0;
	assert_int_equal(folder_make_room(&f, 100, 100), -ENOSPC);
	f.freed = 100;
	assert_int_equal(folder_make_room(&f, 100, 100), 0);
	assert_int_equal(folder_make_room(&f, 101, 101), -ENOSPC);
	f.keep_free = 0;
	assert_int_equal(folder_make_room(&f, 101, 101), 0);
	available = 50 * GIB;
	folder_close(&f);
}

static void a_name_has_its_number_and_the_time_in_utc(void **state)
{
	struct folder f = opened(*state);
	char name[FOLDER_NAME_LEN];
	unsigned long number = 0;

	setenv("TZ", "XYZ-5", 1);
	tzset();
	folder_next(&f, 1706745599999999999, 0, name);
	assert_string_equal(name, "host-000001-20240131T235959Z.ntp");
	folder_next(&f, 1706745600000000000, 0, name);
	assert_string_equal(name, "host-000002-20240201T000000Z.ntp");
	folder_next(&f, 0, 1, name);
	assert_int_equal(sscanf(name, "host-%lu-19700101T000000Z.ntp", &number), 1);
	assert_true(number > 2 && number <= 1002);
	assert_int_equal(f.last, number);
	f.last = 1234567;
	folder_next(&f, 0, 0, name);
	assert_string_equal(name, "host-1234568-19700101T000000Z.ntp");
	folder_close(&f);
}

static void a_new_file_is_the_first_in_the_list(void **state)
{
	struct run *v = *state;
	struct folder f;
	int other = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	numbered(v, 1, 100);
	f = opened(v);
	numbered(v, 2, 30);
	folder_add(&f, other, "host-000002-20240131T235959Z.ntp");
	folder_add(&f, f.fd, "host-000003-20240131T235959Z.ntp");
	folder_add(&f, f.fd, "nothing of ours");
	assert_int_equal(f.nr, 1);
	folder_add(&f, f.fd, "host-000002-20240131T235959Z.ntp");
	assert_int_equal(f.nr, 2);
	assert_int_equal(f.used, 130);
	assert_int_equal(f.file[0].number, 2);
	assert_int_equal(f.file[0].bytes, 30);
	assert_string_equal(f.file[0].name, "host-000002-20240131T235959Z.ntp");
	assert_int_equal(f.file[1].number, 1);
	folder_close(&f);
	close(other);
}

/* In another folder, numbers go on from the highest of both, and nothing was freed for a file. */
static void numbers_go_up_from_folder_to_folder(void **state)
{
	struct run *v = *state;
	char other[] = "/tmp/ntprof-other.XXXXXX", path[PATH_MAX];
	struct folder f;

	numbered(v, 41, 10);
	f = opened(v);
	f.freed = 1000;
	assert_non_null(mkdtemp(other));
	strcpy(f.path, other);
	assert_int_equal(folder_open(&f), 0);
	assert_int_equal(f.nr, 0);
	assert_int_equal(f.used, 0);
	assert_int_equal(f.last, 41);
	assert_int_equal(f.freed, 0);
	f.last = 7;
	strcpy(f.path, v->folder);
	assert_int_equal(folder_open(&f), 0);
	assert_int_equal(f.nr, 1);
	assert_int_equal(f.last, 41);
	folder_close(&f);
	snprintf(path, sizeof(path), "%s/" LOCK, other);
	unlink(path);
	rmdir(other);
}

/* A lock file that others can open may be locked by them. */
static void a_lock_that_others_can_open_is_none(void **state)
{
	static const mode_t modes[] = {0640, 0620, 0604, 0602};
	struct run *v = *state;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" LOCK, v->folder);
	for (unsigned int i = 0; i < ARRAY_SIZE(modes); i++) {
		struct folder f = {.side = NT_HOST, .fd = -1, .lock_fd = -1};

		make(v, LOCK, 0);
		assert_int_equal(chmod(path, modes[i]), 0);
		strcpy(f.path, v->folder);
		assert_int_equal(folder_open(&f), -FOLDER_LOCK_TAKEN);
		folder_close(&f);
		unlink(path);
	}
}

static void a_lock_file_that_is_gone_is_made_again(void **state)
{
	struct run *v = *state;
	struct folder f = opened(v);
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" LOCK, v->folder);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(folder_open(&f), 0);
	assert_int_equal(access(path, F_OK), 0);
	folder_close(&f);
}

static void a_warning_says_how_much_is_free(void **state)
{
	struct folder f = opened(*state);
	char text[FOLDER_WARNING_LEN], expected[FOLDER_WARNING_LEN];

	assert_false(folder_warning(&f, text));
	f.keep_free = 6 * GIB;
	assert_false(folder_warning(&f, text));
	available = 6 * GIB;
	assert_false(folder_warning(&f, text));
	available = 5 * MIB;
	assert_true(folder_warning(&f, text));
	snprintf(expected, sizeof(expected),
		 "of 6144 MiB that --keep-free leaves to others in %.64s, 5 MiB are free: "
		 "a file takes the room of older ones only",
		 f.path);
	assert_string_equal(text, expected);
	available = 50 * GIB;
	folder_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_name_of_ours_has_a_side_a_number_and_a_time),
		TEST(only_plain_files_count),
		TEST(files_are_listed_from_the_highest_number_on),
		TEST(the_oldest_files_make_room),
		TEST(a_new_file_is_one_of_so_many),
		TEST(what_was_freed_may_be_used),
		TEST(a_name_has_its_number_and_the_time_in_utc),
		TEST(a_new_file_is_the_first_in_the_list),
		TEST(numbers_go_up_from_folder_to_folder),
		TEST(a_lock_that_others_can_open_is_none),
		TEST(a_lock_file_that_is_gone_is_made_again),
		TEST(a_warning_says_how_much_is_free),
	};

	return cmocka_run_group_tests_name("files of a folder", tests, NULL, NULL);
}
