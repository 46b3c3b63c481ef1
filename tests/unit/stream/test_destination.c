// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a stream is written. An existing file stays until the recording has begun, and a special
 * file is never replaced.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "stream/destination.h"

/* What the file system does not support. The functions below replace libc's. */
static struct {
	bool unnamed, flags, links, room;
} lacks;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved. */
int openat(int at, const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	if (lacks.unnamed && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, at, path, flags, mode);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved. */
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags)
{
	if (lacks.flags && flags) {
		errno = EINVAL;
		return -1;
	}
	return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved. */
int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
	if (lacks.room) {
		errno = ENOSPC;
		return -1;
	}
	return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved. */
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
	if (lacks.links && !flags) {
		errno = EPERM;
		return -1;
	}
	return (int)syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
}

static char folder[] = "/tmp/ntprof-destination.XXXXXX";

static int enter(void **state)
{
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int leave(void **state)
{
	return chdir("/") || rmdir(folder);
}

static void put(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void make(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);

	assert_true(fd >= 0);
	put(fd, text);
	close(fd);
}

static void assert_file(const char *path, const char *text)
{
	char got[64] = "";
	int fd = open(path, O_RDONLY | O_NOFOLLOW);

	assert_true(fd >= 0);
	assert_true(read(fd, got, sizeof(got) - 1) >= 0);
	close(fd);
	assert_string_equal(got, text);
}

static unsigned int files(void)
{
	DIR *d = opendir(".");
	unsigned int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void a_recording_gets_its_name_when_it_has_begun(void **state)
{
	struct destination d;
	struct stat st;

	assert_int_equal(destination_open(&d, "new", false), 0);
	put(d.fd, "stream");
	assert_int_equal(access("new", F_OK), -1);
	assert_int_equal(destination_commit(&d), 0);
	assert_int_equal(destination_commit(&d), 0);
	assert_file("new", "stream");
	put(d.fd, " on");
	assert_int_equal(destination_close(&d), 0);
	assert_file("new", "stream on");
	assert_int_equal(stat("new", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(files(), 1);
	unlink("new");
}

static void a_recording_that_never_begins_leaves_the_old_one(void **state)
{
	struct destination d;

	make("old", "old");
	assert_int_equal(destination_open(&d, "old", true), 0);
	put(d.fd, "new");
	assert_int_equal(destination_close(&d), 0);
	assert_file("old", "old");
	assert_int_equal(files(), 1);
	unlink("old");
}

static void a_recording_that_begins_takes_the_old_one_s_place(void **state)
{
	struct destination d;
	char path[300];

	snprintf(path, sizeof(path), "%s/old", folder);
	make("old", "old");
	assert_int_equal(destination_open(&d, path, true), 0);
	put(d.fd, "new");
	assert_file("old", "old");
	assert_int_equal(destination_commit(&d), 0);
	assert_int_equal(destination_close(&d), 0);
	assert_file("old", "new");
	assert_int_equal(files(), 1);
	unlink("old");
}

static void a_file_that_comes_meanwhile_is_kept(void **state)
{
	struct destination d;

	assert_int_equal(destination_open(&d, "new", false), 0);
	make("new", "another's");
	assert_int_equal(destination_commit(&d), -EEXIST);
	assert_int_equal(destination_close(&d), 0);
	assert_file("new", "another's");
	assert_int_equal(files(), 1);
	unlink("new");
}

/* A file is written, named, replaced and kept, whatever the file system lacks. */
static void a_file_system_may_lack_much(void **state)
{
	for (unsigned int i = 0; i < 8; i++) {
		lacks.unnamed = i & 1;
		lacks.flags = i & 2;
		lacks.links = i & 4;
		a_recording_gets_its_name_when_it_has_begun(NULL);
		a_recording_that_never_begins_leaves_the_old_one(NULL);
		a_recording_that_begins_takes_the_old_one_s_place(NULL);
		a_file_that_comes_meanwhile_is_kept(NULL);
	}
	memset(&lacks, 0, sizeof(lacks));
}

static void a_file_that_cannot_be_named_leaves_nothing(void **state)
{
	struct destination d;

	lacks.unnamed = lacks.flags = lacks.links = lacks.room = true;
	assert_int_equal(destination_open(&d, "new", false), 0);
	put(d.fd, "new");
	assert_int_equal(destination_commit(&d), -ENOSPC);
	assert_int_equal(destination_close(&d), 0);
	memset(&lacks, 0, sizeof(lacks));
	assert_int_equal(files(), 0);
}

/* Like kill -9, at any time before the header is written. */
static void a_recorder_that_is_killed_leaves_nothing(void **state)
{
	int fd = open(".", O_TMPFILE | O_WRONLY, 0600), status;

	if (fd < 0)
		skip();
	close(fd);
	for (int force = 0; force < 2; force++) {
		pid_t pid = fork();

		if (!pid) {
			struct destination d;

			if (!destination_open(&d, "new", force) && write(d.fd, "x", 1) == 1)
				kill(getpid(), SIGKILL);
			_exit(1);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		assert_int_equal(files(), 0);
	}
}

static void an_existing_file_is_refused(void **state)
{
	struct destination d;

	make("old", "old");
	assert_int_equal(symlink("nothing", "link"), 0);
	assert_int_equal(destination_open(&d, "old", false), -EEXIST);
	assert_int_equal(destination_open(&d, "link", false), -EEXIST);
	assert_null(destination_refuses("old"));
	assert_null(destination_refuses("link"));
	assert_file("old", "old");
	assert_int_equal(files(), 2);
	unlink("old");
	unlink("link");
}

static void a_link_is_replaced_and_not_followed(void **state)
{
	struct destination d;

	make("victim", "victim");
	assert_int_equal(symlink("victim", "link"), 0);
	assert_int_equal(destination_open(&d, "link", true), 0);
	put(d.fd, "new");
	assert_int_equal(destination_commit(&d), 0);
	assert_int_equal(destination_close(&d), 0);
	assert_file("victim", "victim");
	assert_file("link", "new");
	unlink("victim");
	unlink("link");
}

static void a_character_device_is_written_to(void **state)
{
	struct destination d;
	struct stat st;

	assert_int_equal(symlink("/dev/null", "null"), 0);
	for (int force = 0; force < 2; force++) {
		assert_int_equal(destination_open(&d, "null", force), 0);
		put(d.fd, "stream");
		assert_int_equal(destination_commit(&d), 0);
		assert_int_equal(destination_close(&d), 0);
		assert_int_equal(destination_open(&d, "/dev/null", force), 0);
		put(d.fd, "stream");
		assert_int_equal(destination_commit(&d), 0);
		assert_int_equal(destination_close(&d), 0);
	}
	assert_int_equal(lstat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(files(), 1);
	unlink("null");
}

static void *exchange(void *until)
{
	while (!__atomic_load_n((bool *)until, __ATOMIC_RELAXED))
		renameat2(AT_FDCWD, "one", AT_FDCWD, "other", RENAME_EXCHANGE);
	return NULL;
}

/* Another user who may write to the folder can replace a name at any time. */
static void a_name_that_changes_meanwhile_is_not_written_to(void **state)
{
	struct destination d;
	pthread_t thread;
	bool over = false;

	make("victim", "victim");
	assert_int_equal(symlink("/dev/null", "one"), 0);
	assert_int_equal(symlink("victim", "other"), 0);
	assert_int_equal(pthread_create(&thread, NULL, exchange, &over), 0);
	for (int i = 0; i < 20000; i++) {
		if (destination_open(&d, "one", false))
			continue;
		put(d.fd, "stream");
		destination_close(&d);
	}
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_file("victim", "victim");
	assert_int_equal(files(), 3);
	unlink("victim");
	unlink("one");
	unlink("other");
}

static void a_fifo_is_written_to(void **state)
{
	struct destination d;
	char got[6];
	int reader;

	assert_int_equal(mkfifo("fifo", 0600), 0);
	reader = open("fifo", O_RDONLY | O_NONBLOCK);
	assert_int_equal(destination_open(&d, "fifo", true), 0);
	put(d.fd, "stream");
	assert_int_equal(destination_commit(&d), 0);
	assert_int_equal(destination_close(&d), 0);
	assert_int_equal(read(reader, got, sizeof(got)), sizeof(got));
	assert_memory_equal(got, "stream", 6);
	close(reader);
	assert_int_equal(files(), 1);
	unlink("fifo");
}

static void other_special_files_are_refused_and_stay(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	struct destination d;
	struct stat st;

	assert_int_equal(mkdir("folder", 0700), 0);
	assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof(address)), 0);
	for (int force = 0; force < 2; force++) {
		assert_int_equal(destination_open(&d, "folder", force), -EEXIST);
		assert_int_equal(destination_open(&d, "socket", force), -EEXIST);
	}
	assert_string_equal(destination_refuses("folder"), "a directory");
	assert_string_equal(destination_refuses("socket"), "a socket");
	assert_int_equal(destination_open(&d, "none/", true), -EISDIR);
	assert_int_equal(destination_open(&d, "none/file", true), -ENOENT);
	assert_int_equal(destination_open(&d, "", true), -ENOENT);
	if (!mknod("block", S_IFBLK | 0600, 0)) {
		assert_int_equal(destination_open(&d, "block", true), -EEXIST);
		assert_string_equal(destination_refuses("block"), "a block device");
		assert_int_equal(lstat("block", &st), 0);
		assert_true(S_ISBLK(st.st_mode));
		unlink("block");
	}
	assert_int_equal(files(), 2);
	close(s);
	unlink("socket");
	rmdir("folder");
}

static void a_link_to_standard_output_is_that(void **state)
{
	struct destination d;
	int file = open("out", O_RDWR | O_CREAT, 0600), before = dup(STDOUT_FILENO);

	fflush(stdout);
	assert_int_equal(symlink("/proc/self/fd/1", "stdout"), 0);
	assert_int_equal(dup2(file, STDOUT_FILENO), STDOUT_FILENO);
	if (!destination_open(&d, "stdout", true)) {
		put(d.fd, "stream");
		destination_close(&d);
	}
	assert_int_equal(dup2(before, STDOUT_FILENO), STDOUT_FILENO);
	assert_file("out", "stream");
	assert_int_equal(files(), 2);
	close(file);
	close(before);
	unlink("out");
	unlink("stdout");
}

#define OTHER_USER 1234

/* A folder as /tmp is, @mode, of @owner, and in it what another user has put there. */
static void plant(mode_t mode, uid_t owner, mode_t type)
{
	assert_int_equal(mkdir("shared", 0700), 0);
	assert_int_equal(chmod("shared", mode), 0);
	assert_int_equal(mknod("shared/his", type | 0666, type == S_IFCHR ? makedev(1, 3) : 0), 0);
	assert_int_equal(chmod("shared/his", 0666), 0);
	assert_int_equal(lchown("shared/his", OTHER_USER, OTHER_USER), 0);
	assert_int_equal(chown("shared", owner, owner), 0);
}

static void clear_planted(void)
{
	unlink("shared/his");
	rmdir("shared");
}

/* Root's recording is not for them. The kernel's fs.protected_fifos is often off. */
static void what_another_user_has_put_there_is_refused(void **state)
{
	static const struct {
		mode_t mode;
		uid_t owner;
		mode_t type;
		int result;
	} cases[] = {
		{01777, 0, S_IFIFO, -EPERM},	{01777, 0, S_IFREG, -EPERM},
		{01777, 0, S_IFCHR, -EPERM},	{01770, 0, S_IFIFO, -EPERM},
		{0777, 0, S_IFIFO, -EPERM},	{01777, OTHER_USER, S_IFIFO, 0},
		{0755, 0, S_IFIFO, 0},		{01755, 0, S_IFIFO, 0},
		{01777, 5678, S_IFIFO, -EPERM}, {0755, 0, S_IFREG, 0},
	};
	struct destination d;

	if (geteuid())
		skip();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int reader, err;

		plant(cases[i].mode, cases[i].owner, cases[i].type);
		reader = open("shared/his", O_RDONLY | O_NONBLOCK);
		err = destination_open(&d, "shared/his", true);
		if (err != cases[i].result)
			fail_msg("case %zu: %d", i, err);
		if (!err)
			destination_close(&d);
		close(reader);
		clear_planted();
	}
}

/* A folder on the way, or a link to one, that another user has put into a folder as /tmp is. */
static void a_folder_on_the_way_is_not_another_users(void **state)
{
	struct destination d;

	if (geteuid())
		skip();
	plant(01777, 0, S_IFIFO);
	assert_int_equal(mkdir("ours", 0700), 0);
	assert_int_equal(mkdir("shared/rec", 0755), 0);
	assert_int_equal(symlink("../ours", "shared/link"), 0);
	/* Both are root's. */
	assert_int_equal(destination_open(&d, "shared/rec/a", false), 0);
	destination_close(&d);
	assert_int_equal(destination_open(&d, "./shared//link/../ours/a", false), 0);
	destination_close(&d);
	assert_int_equal(lchown("shared/rec", OTHER_USER, OTHER_USER), 0);
	assert_int_equal(lchown("shared/link", OTHER_USER, OTHER_USER), 0);
	assert_int_equal(destination_open(&d, "shared/rec/a", false), -EPERM);
	assert_int_equal(destination_open(&d, "shared/link/a", true), -EPERM);
	/* Where only root may put something, another user's folder is meant. */
	assert_int_equal(chmod("shared", 0755), 0);
	assert_int_equal(destination_open(&d, "shared/rec/a", false), 0);
	destination_close(&d);
	unlink("shared/link");
	rmdir("shared/rec");
	rmdir("ours");
	clear_planted();
}

/* A link of ours may lead through a place where others put things. */
static void a_link_on_the_way_leads_through_no_link_of_others(void **state)
{
	struct destination d;

	if (geteuid())
		skip();
	plant(01777, 0, S_IFIFO);
	assert_int_equal(mkdir("ours", 0700), 0);
	assert_int_equal(mkdir("ours/rec", 0700), 0);
	assert_int_equal(symlink("../ours", "shared/link"), 0);
	assert_int_equal(symlink("shared/link/rec", "way"), 0);
	assert_int_equal(destination_open(&d, "way/a", false), 0);
	destination_close(&d);
	assert_int_equal(lchown("shared/link", OTHER_USER, OTHER_USER), 0);
	assert_int_equal(destination_open(&d, "way/a", false), -EPERM);
	assert_int_equal(destination_open(&d, "way/a", true), -EPERM);
	unlink("way");
	unlink("shared/link");
	rmdir("ours/rec");
	rmdir("ours");
	clear_planted();
}

/* The one who called sudo is the one who asked. */
static void what_the_caller_of_sudo_has_put_there_is_taken(void **state)
{
	struct destination d;
	int reader;

	if (geteuid())
		skip();
	plant(01777, 0, S_IFIFO);
	reader = open("shared/his", O_RDONLY | O_NONBLOCK);
	setenv("SUDO_UID", "1234", 1);
	assert_int_equal(destination_open(&d, "shared/his", false), 0);
	destination_close(&d);
	setenv("SUDO_UID", "5678", 1);
	assert_int_equal(destination_open(&d, "shared/his", false), -EPERM);
	setenv("SUDO_UID", "1234x", 1);
	assert_int_equal(destination_open(&d, "shared/his", false), -EPERM);
	unsetenv("SUDO_UID");
	close(reader);
	clear_planted();
}

/* Neither by a link of theirs, which fs.protected_symlinks is about, nor by one of ours. */
static void a_link_leads_to_nothing_that_is_refused(void **state)
{
	struct destination d;
	int reader;

	if (geteuid())
		skip();
	plant(01777, 0, S_IFIFO);
	reader = open("shared/his", O_RDONLY | O_NONBLOCK);
	assert_int_equal(symlink("shared/his", "ours"), 0);
	assert_int_equal(destination_open(&d, "ours", false), -EPERM);
	assert_int_equal(symlink("../ours", "shared/back"), 0);
	assert_int_equal(destination_open(&d, "shared/back", false), -EPERM);
	close(reader);
	unlink("ours");
	unlink("shared/back");
	assert_int_equal(mkfifo("ours", 0600), 0);
	assert_int_equal(symlink("../ours", "shared/link"), 0);
	reader = open("ours", O_RDONLY | O_NONBLOCK);
	assert_int_equal(destination_open(&d, "shared/link", false), 0);
	destination_close(&d);
	assert_int_equal(lchown("shared/link", OTHER_USER, OTHER_USER), 0);
	assert_int_equal(destination_open(&d, "shared/link", false), -EPERM);
	close(reader);
	unlink("shared/link");
	unlink("ours");
	clear_planted();
	assert_int_equal(symlink("round", "round"), 0);
	assert_int_equal(destination_open(&d, "round", false), -EEXIST);
	unlink("round");
}

/* bash's >(COMMAND) is called so. */
static void a_pipe_that_is_open_is_written_to(void **state)
{
	struct destination d;
	char path[32], got[6];
	int p[2];

	assert_int_equal(pipe(p), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", p[1]);
	assert_int_equal(destination_open(&d, path, false), 0);
	put(d.fd, "stream");
	assert_int_equal(destination_close(&d), 0);
	assert_int_equal(read(p[0], got, sizeof(got)), sizeof(got));
	close(p[0]);
	close(p[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_gets_its_name_when_it_has_begun),
		cmocka_unit_test(a_recording_that_never_begins_leaves_the_old_one),
		cmocka_unit_test(a_recording_that_begins_takes_the_old_one_s_place),
		cmocka_unit_test(a_file_system_may_lack_much),
		cmocka_unit_test(a_file_that_cannot_be_named_leaves_nothing),
		cmocka_unit_test(a_recorder_that_is_killed_leaves_nothing),
		cmocka_unit_test(an_existing_file_is_refused),
		cmocka_unit_test(a_file_that_comes_meanwhile_is_kept),
		cmocka_unit_test(a_link_is_replaced_and_not_followed),
		cmocka_unit_test(a_character_device_is_written_to),
		cmocka_unit_test(a_name_that_changes_meanwhile_is_not_written_to),
		cmocka_unit_test(a_fifo_is_written_to),
		cmocka_unit_test(other_special_files_are_refused_and_stay),
		cmocka_unit_test(a_link_to_standard_output_is_that),
		cmocka_unit_test(what_another_user_has_put_there_is_refused),
		cmocka_unit_test(what_the_caller_of_sudo_has_put_there_is_taken),
		cmocka_unit_test(a_folder_on_the_way_is_not_another_users),
		cmocka_unit_test(a_link_on_the_way_leads_through_no_link_of_others),
		cmocka_unit_test(a_link_leads_to_nothing_that_is_refused),
		cmocka_unit_test(a_pipe_that_is_open_is_written_to),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
