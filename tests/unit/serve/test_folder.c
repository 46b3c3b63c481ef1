// SPDX-License-Identifier: GPL-2.0-only
/*
 * The folder of a flight recorder, which other users may use as well: which files are counted and
 * removed, which users are locked out, and how much of the disk is left to others.
 */
#include <stdbool.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <time.h>

#include "serve/recorder_made.h"
#include "serve/folder.h"

#define OTHER_USER 1234
#define GIB (1ULL << 30)

/* Number of calls of fstatat(). */
static unsigned long looked;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved. */
int fstatat(int fd, const char *path, struct stat *st, int flags)
{
	looked++;
	return (int)syscall(SYS_newfstatat, fd, path, st, flags);
}

/* The file system has no O_TMPFILE, as NFS and FAT. */
static bool no_unnamed;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved. */
int openat(int at, const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	if (no_unnamed && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, at, path, flags, mode);
}

/* The file system has no locks, as NFS and FUSE may have none. */
static bool no_locks;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved. */
int fcntl(int fd, int command, ...)
{
	va_list args;
	void *arg;

	va_start(args, command);
	arg = va_arg(args, void *);
	va_end(args);
	if (no_locks && command == F_SETLK) {
		errno = ENOLCK;
		return -1;
	}
	return (int)syscall(SYS_fcntl, fd, command, arg);
}

/*
 * A made-up disk of @bytes, with @free bytes available to ordinary users; 0: the real disk.
 * @full: nothing can be written
 */
static struct {
	uint64_t bytes, free;
	bool full;
} disk;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved. */
ssize_t writev(int fd, const struct iovec *iov, int nr)
{
	if (!disk.full)
		return syscall(SYS_writev, fd, iov, nr);
	errno = ENOSPC;
	return -1;
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's are reserved. */
int fstatfs(int fd, struct statfs *fs)
{
	int ret = (int)syscall(SYS_fstatfs, fd, fs);

	if (!ret && disk.bytes) {
		fs->f_frsize = 4096;
		fs->f_blocks = (fsblkcnt_t)(disk.bytes / 4096);
		fs->f_bfree = fs->f_blocks;
		fs->f_bavail = (fsblkcnt_t)(disk.free / 4096);
	}
	return ret;
}

/* Return: the path of @name, valid until the next call */
static const char *path_of(const struct run *v, const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", v->folder, name);
	return path;
}

static void make(const struct run *v, const char *name, off_t bytes, uid_t owner)
{
	int fd = open(path_of(v, name), O_CREAT | O_EXCL | O_WRONLY, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	assert_int_equal(fchown(fd, owner, (gid_t)-1), 0);
	close(fd);
}

static bool there(const struct run *v, const char *name)
{
	struct stat st;

	return !lstat(path_of(v, name), &st);
}

static void write_one(struct run *v)
{
	records(v, 100);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
}

static void files_of_others_do_not_count(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	struct keep_counts c;

	if (geteuid())
		skip();
	make(v, "host-999999-20240131T235959Z.ntp", 2LL << 30, OTHER_USER);
	make(v, "host-18446744073709551615-20240131T235959Z.ntp", 0, OTHER_USER);
	make(v, "host-000000-20240131T235959Z.ntp", 0, OTHER_USER);
	make(v, "host-000004-20240131T235959Z.ntp", 1000, geteuid());
	begin_with(v, &o);
	write_one(v);
	assert_int_equal(v->failures, 0);
	assert_non_null(strstr(v->told, "/host-000005-"));
	recorder_counts(v->r, &c);
	assert_int_equal(c.files, 2);
	assert_int_equal(c.removed, 0);
	assert_true(c.disk_bytes < 1 << 20);
	assert_true(there(v, "host-999999-20240131T235959Z.ntp"));
	assert_true(there(v, "host-000000-20240131T235959Z.ntp"));
	assert_true(there(v, "host-000004-20240131T235959Z.ntp"));
}

/*
 * Others can give a file of this user a second name, or move it, into a folder that they may write
 * to. In a folder that is this user's alone all files count.
 */
static void what_others_link_or_move_does_not_count(void **state)
{
	static const mode_t modes[] = {01777, 0700};
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char log[PATH_MAX];
	struct keep_counts c;

	make(v, "log", 2LL << 30, geteuid());
	strcpy(log, path_of(v, "log"));
	assert_int_equal(link(log, path_of(v, "host-999998-20240131T235959Z.ntp")), 0);
	make(v, "host-999999-20240131T235959Z.ntp", 2LL << 30, geteuid());
	assert_int_equal(chmod(path_of(v, "host-999999-20240131T235959Z.ntp"), 0644), 0);
	make(v, "host-000004-20240131T235959Z.ntp", 1000, geteuid());
	for (unsigned int i = 0; i < ARRAY_SIZE(modes); i++) {
		assert_int_equal(chmod(v->folder, modes[i]), 0);
		begin_with(v, &o);
		recorder_counts(v->r, &c);
		assert_int_equal(c.files, i ? 4 : 1);
		/* There is a warning for the sticky folder. */
		v->heard = v->lines;
		write_one(v);
		recorder_counts(v->r, &c);
		assert_int_equal(c.removed, i ? 4 : 0);
		assert_int_equal(c.files, i ? 1 : 2);
		assert_int_equal(there(v, "host-000004-20240131T235959Z.ntp"), !i);
		recorder_free(v->r);
		v->r = NULL;
		o = options_of(v);
	}
}

/* The limits hold for what is written after a file with a very high number was found. */
static void a_very_high_number_is_that_of_the_oldest(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	struct keep_counts c;

	o.files = 2;
	make(v, "host-999999999999999999-20240131T235959Z.ntp", 1000, geteuid());
	make(v, "host-000007-20240131T235959Z.ntp", 1000, geteuid());
	begin_with(v, &o);
	write_one(v);
	assert_non_null(strstr(v->told, "/host-000008-"));
	recorder_counts(v->r, &c);
	assert_int_equal(c.files, 2);
	assert_false(there(v, "host-999999999999999999-20240131T235959Z.ntp"));
	assert_true(there(v, "host-000007-20240131T235959Z.ntp"));
}

/*
 * No file, not even one of this user, may have the highest number, as there would be no next one.
 */
static void there_is_a_number_after_any_other(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);

	make(v, "host-18446744073709551615-20240131T235959Z.ntp", 0, geteuid());
	make(v, "host-000007-20240131T235959Z.ntp", 0, geteuid());
	begin_with(v, &o);
	write_one(v);
	assert_non_null(strstr(v->told, "/host-000008-"));
}

/* Another user who may write to the folder can take names. Then the recorder tries others. */
static void a_name_that_is_taken_is_passed_over(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	time_t now = time(NULL);
	char name[64], time[32];
	struct tm tm;

	begin_with(v, &o);
	for (int pass = 0; pass < 2; pass++) {
		for (time_t at = now; at < now + 600; at++) {
			assert_non_null(gmtime_r(&at, &tm));
			strftime(time, sizeof(time), "%Y%m%dT%H%M%SZ", &tm);
			for (int i = 1; i <= 3; i++) {
				snprintf(name, sizeof(name), "host-00000%d-%s.ntp", i, time);
				assert_int_equal(pass ? rmdir(path_of(v, name))
						      : mkdir(path_of(v, name), 0700),
						 0);
			}
		}
		if (!pass)
			write_one(v);
	}
	assert_int_equal(v->failures, 0);
	assert_non_null(strstr(v->told, "wrote "));
	/* The next number is higher. */
	*strstr(v->told, ".ntp") = '\0';
	snprintf(name, sizeof(name), "%s.ntp", strrchr(v->told, '/') + 1);
	write_one(v);
	assert_true(strcmp(strrchr(v->told, '/') + 1, name) > 0);
}

/* The loop that traces waits while files are looked at. */
static void many_files_are_looked_at_once(void **state)
{
	const unsigned int many = 3000;
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	struct keep_counts c;
	char name[64];

	for (unsigned int i = 1; i <= many; i++) {
		snprintf(name, sizeof(name), "host-%06u-20240131T235959Z.ntp", i);
		make(v, name, 0, geteuid());
	}
	o.files = 2;
	looked = 0;
	begin_with(v, &o);
	write_one(v);
	assert_true(looked <= 2 * many + 10);
	recorder_counts(v->r, &c);
	assert_int_equal(c.files, 2);
	assert_int_equal(c.removed, many - 1);
	assert_true(there(v, "host-003000-20240131T235959Z.ntp"));
	looked = 0;
	write_one(v);
	assert_true(looked < 10);
	assert_false(there(v, "host-003000-20240131T235959Z.ntp"));
}

/* Another process may remove files to get room. */
static void what_is_removed_meanwhile_counts_no_more(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	struct keep_counts c;

	make(v, "host-000001-20240131T235959Z.ntp", 1000, geteuid());
	make(v, "host-000002-20240131T235959Z.ntp", 1000, geteuid());
	o.files = 3;
	begin_with(v, &o);
	write_one(v);
	unlink(path_of(v, "host-000002-20240131T235959Z.ntp"));
	write_one(v);
	recorder_counts(v->r, &c);
	assert_int_equal(c.files, 3);
	assert_int_equal(c.removed, 0);
	assert_true(there(v, "host-000001-20240131T235959Z.ntp"));
}

static bool starts(struct run *v, enum nt_side side)
{
	struct recorder_options o = options_of(v);

	v->r = recorder_new(&o, side, tell, v);
	return v->r;
}

/* A recorder in a process of its own. Returns when @begin has ended there; that must succeed. */
static pid_t instance(struct run *v, bool (*begin)(struct run *v, enum nt_side side),
		      enum nt_side side)
{
	int p[2];
	char ok;
	pid_t pid;

	assert_int_equal(pipe(p), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (begin(v, side) && write(p[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(p[1]);
	assert_int_equal(read(p[0], &ok, 1), 1);
	close(p[0]);
	return pid;
}

static pid_t other_instance(struct run *v, enum nt_side side)
{
	return instance(v, starts, side);
}

static void end_instance(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Two instances would remove each other's files. */
static void a_side_of_a_folder_has_one_instance(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	pid_t other = other_instance(v, NT_HOST);

	assert_null(recorder_new(&o, NT_HOST, tell, v));
	assert_int_equal(errno, FOLDER_IN_USE);
	end_instance(other);
	/* The lock stays, whatever is changed. */
	begin_with(v, &o);
	o = options_of(v);
	o.files = 1;
	assert_int_equal(recorder_change(v->r, &o), 0);
	write_one(v);
	if (!fork()) {
		o = options_of(v);
		_exit(recorder_new(&o, NT_HOST, tell, v) || errno != FOLDER_IN_USE);
	}
	int status;

	assert_true(wait(&status) > 0);
	assert_int_equal(status, 0);
	end_instance(other_instance(v, NT_TARGET));
	/* If the lock file is removed, the first instance that comes has the lock. */
	unlink(path_of(v, LOCK));
	other = other_instance(v, NT_HOST);
	v->failures = 0;
	write_one(v);
	assert_int_equal(v->failures, 1);
	assert_non_null(strstr(v->told, "another ntprof-bpf"));
	end_instance(other);
	unlink(path_of(v, LOCK));
	write_one(v);
	assert_int_equal(v->failures, 1);
	assert_true(there(v, LOCK));
	unlink(path_of(v, ".ntprof-bpf.target.lock"));
}

/* The result of checking the folder again stays, although the change is refused. */
static void a_change_that_is_refused_leaves_the_folder_as_it_is(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char first[PATH_MAX];
	uint64_t bytes;
	pid_t other;
	int taken;

	begin_with(v, &o);
	for (unsigned int i = 0; i < 4; i++)
		write_one(v);
	assert_int_equal(each_file(v, first, &bytes), 4);
	unlink(first);
	/* Remove the lock file, so that another instance gets the lock. */
	unlink(path_of(v, LOCK));
	other = other_instance(v, NT_HOST);
	o = options_of(v);
	o.files = 1;
	assert_int_equal(recorder_change(v->r, &o), -FOLDER_IN_USE);
	/* This gets the number of a descriptor that the recorder has closed. */
	taken = dup(STDERR_FILENO);
	end_instance(other);
	unlink(path_of(v, LOCK));
	v->failures = 0;
	/* Three files are left and 16 are allowed, so no file has to go. */
	write_one(v);
	assert_int_equal(v->failures, 0);
	assert_int_equal(each_file(v, first, &bytes), 4);
	recorder_free(v->r);
	v->r = NULL;
	assert_int_equal(fcntl(taken, F_GETFD), 0);
	close(taken);
}

static void refused(struct run *v, int err)
{
	struct recorder_options o = options_of(v);

	assert_null(recorder_new(&o, NT_HOST, tell, v));
	assert_int_equal(errno, err);
}

static void a_lock_of_others_is_none(void **state)
{
	struct run *v = *state;

	assert_int_equal(symlink("victim", path_of(v, LOCK)), 0);
	refused(v, FOLDER_LOCK_TAKEN);
	assert_false(there(v, "victim"));
	unlink(path_of(v, LOCK));
	assert_int_equal(mkfifo(path_of(v, LOCK), 0600), 0);
	refused(v, FOLDER_LOCK_TAKEN);
	unlink(path_of(v, LOCK));
	/* Any user who may open the lock file could lock it. */
	make(v, LOCK, 0, geteuid());
	assert_int_equal(chmod(path_of(v, LOCK), 0640), 0);
	refused(v, FOLDER_LOCK_TAKEN);
	unlink(path_of(v, LOCK));
	if (geteuid())
		return;
	make(v, LOCK, 0, OTHER_USER);
	refused(v, FOLDER_LOCK_TAKEN);
}

/* Another user can link a file of this one there, whose lock then keeps out its own users. */
static void a_lock_with_two_names_is_none_where_others_may_write(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char file[PATH_MAX];

	make(v, "passwords", 0, geteuid());
	snprintf(file, sizeof(file), "%s", path_of(v, "passwords"));
	assert_int_equal(chmod(file, 0600), 0);
	assert_int_equal(link(file, path_of(v, LOCK)), 0);
	assert_int_equal(chmod(v->folder, 01777), 0);
	refused(v, FOLDER_LOCK_TAKEN);
	unlink(file);
	begin_with(v, &o);
}

static void a_folder_that_others_may_write_to_is_refused(void **state)
{
	struct run *v = *state;
	struct recorder_options o;

	assert_int_equal(chmod(v->folder, 0777), 0);
	refused(v, FOLDER_OF_OTHERS);
	assert_int_equal(chmod(v->folder, 0770), 0);
	refused(v, FOLDER_OF_OTHERS);
	if (!geteuid()) {
		assert_int_equal(chmod(v->folder, 0755), 0);
		assert_int_equal(chown(v->folder, OTHER_USER, OTHER_USER), 0);
		refused(v, FOLDER_OF_OTHERS);
		assert_int_equal(chown(v->folder, 0, 0), 0);
	}
	assert_int_equal(v->lines, 0);
	/* Permissions as of /tmp cause a warning. */
	assert_int_equal(chmod(v->folder, 01777), 0);
	o = options_of(v);
	begin_with(v, &o);
	assert_int_equal(v->failures, 1);
	assert_non_null(strstr(v->told, "others may write to"));
	v->heard = v->lines;
	write_one(v);
	assert_int_equal(v->failures, 1);
	/*
	 * The folder becomes writable by all later: no file is written there, and records are kept.
	 */
	assert_int_equal(chmod(v->folder, 0777), 0);
	write_one(v);
	assert_int_equal(v->failures, 2);
	assert_non_null(strstr(v->told, "its records are kept on"));
}

static void taken(struct run *v)
{
	struct recorder_options o = options_of(v);

	v->r = recorder_new(&o, NT_HOST, tell, v);
	assert_non_null(v->r);
	recorder_free(v->r);
	v->r = NULL;
	unlink(path_of(v, LOCK));
}

/*
 * Another user who may replace a folder above it, or a link that leads to it, chooses where files
 * go.
 */
static void a_way_that_others_may_change_is_refused(void **state)
{
	struct run *v = *state, below = {0}, linked = {0};

	assert_int_equal(mkdir(path_of(v, "above"), 0700), 0);
	assert_int_equal(mkdir(path_of(v, "above/rec"), 0700), 0);
	assert_int_equal(symlink("above", path_of(v, "link")), 0);
	snprintf(below.folder, sizeof(below.folder), "%.40s/above/rec", v->folder);
	snprintf(linked.folder, sizeof(linked.folder), "%.40s/link/rec", v->folder);
	taken(&below);
	taken(&linked);
	assert_int_equal(chmod(path_of(v, "above"), 0777), 0);
	refused(&below, FOLDER_OF_OTHERS);
	refused(&linked, FOLDER_OF_OTHERS);
	assert_int_equal(chmod(path_of(v, "above"), 0770), 0);
	refused(&below, FOLDER_OF_OTHERS);
	assert_int_equal(chmod(path_of(v, "above"), 01777), 0);
	taken(&below);
	taken(&linked);
	if (!geteuid()) {
		assert_int_equal(lchown(path_of(v, "link"), OTHER_USER, OTHER_USER), 0);
		assert_int_equal(chmod(v->folder, 01777), 0);
		taken(&below);
		refused(&linked, FOLDER_OF_OTHERS);
		assert_int_equal(chown(path_of(v, "above"), OTHER_USER, OTHER_USER), 0);
		refused(&below, FOLDER_OF_OTHERS);
		assert_int_equal(chmod(path_of(v, "above"), 0755), 0);
		refused(&below, FOLDER_OF_OTHERS);
		/* The caller of sudo may choose. */
		setenv("SUDO_UID", "1234", 1);
		taken(&below);
		taken(&linked);
		unsetenv("SUDO_UID");
	}
	unlink(path_of(v, "link"));
	rmdir(below.folder);
	rmdir(path_of(v, "above"));
}

/* Files go to the folder that has the path now. */
static void a_folder_that_is_another_one_now_is_looked_at(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	struct run was = *v;

	make(v, "host-000008-20240131T235959Z.ntp", 0, geteuid());
	begin_with(v, &o);
	strcat(was.folder, ".was");
	assert_int_equal(rename(v->folder, was.folder), 0);
	write_one(v);
	assert_int_equal(v->failures, 1);
	assert_int_equal(mkdir(v->folder, 0700), 0);
	write_one(v);
	assert_int_equal(v->failures, 1);
	assert_true(there(v, LOCK));
	assert_non_null(strstr(v->told, "/host-000009-"));
	assert_true(there(&was, "host-000008-20240131T235959Z.ntp"));
	was.r = NULL;
	unlink(path_of(&was, "host-000008-20240131T235959Z.ntp"));
	unlink(path_of(&was, LOCK));
	assert_int_equal(rmdir(was.folder), 0);
}

/*
 * The recorder gets another folder while a file is written. The file stays in the folder where it
 * began.
 */
static void a_file_stays_in_its_folder(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char folder[sizeof(v->folder)];
	struct keep_counts c;

	o.after_ns = 200 * MS;
	begin_with(v, &o);
	records(v, 100);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	strcpy(folder, v->folder);
	strcpy(v->folder, "/tmp/ntprof-keep.XXXXXX");
	assert_non_null(mkdtemp(v->folder));
	o = options_of(v);
	assert_int_equal(recorder_change(v->r, &o), 0);
	v->heard = v->lines;
	work(v);
	assert_int_equal(v->failures, 0);
	assert_non_null(strstr(v->told, folder));
	recorder_counts(v->r, &c);
	assert_int_equal(c.files, 0);
	write_one(v);
	assert_non_null(strstr(v->told, v->folder));
	recorder_counts(v->r, &c);
	assert_int_equal(c.files, 1);
	recorder_free(v->r);
	v->r = NULL;

	struct run *first = calloc(1, sizeof(*first));

	strcpy(first->folder, folder);
	teardown((void **)&first);
}

/*
 * The file takes the room of older ones of the folder in which it began. An option of files that
 * comes meanwhile replaces the one before.
 */
static void a_file_takes_no_room_of_another_folder(void **state)
{
	struct run *v = *state, *other = calloc(1, sizeof(*other));
	struct recorder_options o = options_of(v);
	char unused[] = "/tmp/ntprof-keep.XXXXXX";
	struct keep_counts c;
	size_t at;

	strcpy(other->folder, unused);
	assert_non_null(mkdtemp(other->folder));
	assert_non_null(mkdtemp(unused));
	make(other, "host-000007-20240131T235959Z.ntp", 8192, geteuid());
	o.files = 1;
	o.after_ns = 3600 * S;
	begin_with(v, &o);
	records(v, 100);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	recorder_work(v->r);
	o.folder = unused;
	assert_null(when_parse(&o.when, "errors>7", &at));
	assert_int_equal(recorder_change(v->r, &o), 0);
	assert_non_null(strstr(v->told, "a file is being written"));
	o.folder = other->folder;
	o.when = (struct when){.nr = 0};
	assert_null(when_parse(&o.when, "errors>8", &at));
	assert_int_equal(recorder_change(v->r, &o), 0);
	/* More than there was room for. */
	records(v, 500000);
	assert_true(there(other, "host-000007-20240131T235959Z.ntp"));
	recorder_finish(v->r, PATIENCE_NS);
	assert_int_equal(v->failures, 0);
	assert_true(there(other, "host-000007-20240131T235959Z.ntp"));
	recorder_counts(v->r, &c);
	assert_int_equal(c.removed, 0);
	assert_string_equal(c.trigger_name[0], "errors>8");
	/* The next one goes there. */
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	recorder_finish(v->r, PATIENCE_NS);
	assert_non_null(strstr(v->told, other->folder));
	assert_false(there(other, "host-000007-20240131T235959Z.ntp"));
	assert_int_equal(rmdir(unused), 0);
	teardown((void **)&other);
}

static void one_with_free(struct run *v, uint64_t keep_free, uint64_t free, unsigned int nr)
{
	struct recorder_options o = options_of(v);

	disk.bytes = 100 * GIB;
	disk.free = free;
	o.keep_free = keep_free;
	begin_with(v, &o);
	v->heard = v->lines;
	records(v, nr);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	work(v);
	recorder_free(v->r);
	v->r = NULL;
	memset(&disk, 0, sizeof(disk));
}

/* The limit is exact: one page more or less decides. */
static void as_much_is_left_free_as_is_said(void **state)
{
	static const struct {
		uint64_t bytes, keep_free, least;
	} cases[] = {
		{100 * GIB, 1 * GIB, 1 * GIB},
		{100 * GIB, FOLDER_KEEP_FREE_DEFAULT, FOLDER_KEEP_FREE_MOST},
		{10 * GIB, FOLDER_KEEP_FREE_DEFAULT, 10 * GIB / 100 * FOLDER_KEEP_FREE_PERCENT},
		{10 * GIB, 0, 0},
	};
	struct run *v = *state;
	struct folder f = {.side = NT_HOST, .files = 16, .bytes = 1 << 20, .fd = -1, .lock_fd = -1};
	const uint64_t bytes = 8192;

	strcpy(f.path, v->folder);
	assert_int_equal(folder_open(&f), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		disk.bytes = cases[i].bytes;
		f.keep_free = cases[i].keep_free;
		disk.free = (cases[i].least + 4095) / 4096 * 4096 + bytes;
		assert_int_equal(folder_make_room(&f, bytes, bytes), 0);
		disk.free -= 4096;
		assert_int_equal(folder_make_room(&f, bytes, bytes), cases[i].least ? -ENOSPC : 0);
		/* Bytes that are on the disk already are not needed again. */
		assert_int_equal(folder_make_room(&f, bytes, bytes - 4096), 0);
	}
	memset(&disk, 0, sizeof(disk));
	folder_close(&f);
}

/* Others can fill the disk, but that alone removes no recording. */
static void a_file_takes_the_room_of_older_ones_only(void **state)
{
	const off_t old = 300 << 10;
	struct run *v = *state;
	char name[64];

	one_with_free(v, 1 * GIB, 0, 100);
	assert_int_equal(v->failures, 2);
	assert_non_null(strstr(v->told, strerror(ENOSPC)));
	assert_non_null(strstr(v->told, "--keep-free"));
	assert_false(there(v, "host-000001-20240131T235959Z.ntp"));
	for (unsigned int i = 1; i <= 4; i++) {
		snprintf(name, sizeof(name), "host-00000%u-20240131T235959Z.ntp", i);
		make(v, name, old, geteuid());
	}
	v->failures = 0;
	/* There is only one warning. */
	one_with_free(v, 1 * GIB, 0, 100);
	assert_int_equal(v->failures, 1);
	assert_non_null(strstr(v->told, "/host-000005-"));
	assert_false(there(v, "host-000001-20240131T235959Z.ntp"));
	assert_true(there(v, "host-000002-20240131T235959Z.ntp"));
	/* With enough room no file is removed. */
	v->failures = 0;
	one_with_free(v, 1 * GIB, 2 * GIB, 100000);
	assert_int_equal(v->failures, 0);
	assert_true(there(v, "host-000002-20240131T235959Z.ntp"));
}

static void make_many(const struct run *v, unsigned int nr, off_t bytes)
{
	char name[64];

	for (unsigned int i = 1; i <= nr; i++) {
		snprintf(name, sizeof(name), "host-%06u-20240131T235959Z.ntp", i);
		make(v, name, bytes, geteuid());
	}
}

/* Recordings of a quiet machine are small: a file takes as many as it needs, or none. */
static void small_ones_are_not_removed_in_vain(void **state)
{
	struct run *v = *state;
	char path[PATH_MAX];
	uint64_t bytes;

	make_many(v, 3, 2000);
	one_with_free(v, 1 * GIB, 0, 100);
	assert_non_null(strstr(v->told, strerror(ENOSPC)));
	assert_true(there(v, "host-000001-20240131T235959Z.ntp"));
	assert_true(there(v, "host-000003-20240131T235959Z.ntp"));
	while (each_file(v, path, &bytes))
		unlink(path);
	make_many(v, 10, 8000);
	one_with_free(v, 1 * GIB, 0, 100);
	assert_non_null(strstr(v->told, "/host-000011-"));
	assert_false(there(v, "host-000001-20240131T235959Z.ntp"));
	assert_true(there(v, "host-000005-20240131T235959Z.ntp"));
}

static void write_many(struct run *v, unsigned int files)
{
	for (unsigned int i = 0; i < files; i++) {
		v->heard = v->lines;
		records(v, 20000);
		recorder_trigger(v->r, TRIGGER_SIGNAL);
		work(v);
	}
}

/* However many are written while too little is free: all together stay as large, but for one. */
static void files_one_after_another_replace_as_many(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	uint64_t before, after, removed;
	struct keep_counts c;
	char path[PATH_MAX];

	disk.bytes = 100 * GIB;
	disk.free = 2 * GIB;
	o.keep_free = 1 * GIB;
	begin_with(v, &o);
	write_many(v, 8);
	assert_int_equal(each_file(v, path, &before), 8);
	disk.free = 0;
	write_many(v, 12);
	assert_in_range(each_file(v, path, &after), 7, 8);
	assert_true(after <= before && after >= before / 8 * 7 - (64 << 10));
	/* What is over counts no more when there was room. */
	disk.free = 2 * GIB;
	write_many(v, 1);
	recorder_counts(v->r, &c);
	removed = c.removed;
	disk.free = 0;
	write_many(v, 1);
	recorder_counts(v->r, &c);
	assert_true(c.removed > removed);
	assert_int_equal(c.failed, 0);
	memset(&disk, 0, sizeof(disk));
}

/* They cost what was removed for one file, and not as much for each trigger. */
static void others_that_take_that_room_cost_one_file(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	struct keep_counts c;
	char name[64];

	for (unsigned int i = 1; i <= 4; i++) {
		snprintf(name, sizeof(name), "host-00000%u-20240131T235959Z.ntp", i);
		make(v, name, 300 << 10, geteuid());
	}
	disk.bytes = 100 * GIB;
	disk.free = 0;
	disk.full = true;
	o.keep_free = 1 * GIB;
	begin_with(v, &o);
	for (unsigned int i = 0; i < 4; i++) {
		/* In the end there is room again. */
		disk.free = i < 3 ? 0 : 2 * GIB;
		disk.full = i < 3;
		v->heard = v->lines;
		records(v, 100);
		recorder_trigger(v->r, TRIGGER_SIGNAL);
		work(v);
	}
	recorder_counts(v->r, &c);
	assert_int_equal(c.failed, 3);
	assert_int_equal(c.written, 1);
	assert_int_equal(c.removed, 1);
	assert_true(there(v, "host-000002-20240131T235959Z.ntp"));
	memset(&disk, 0, sizeof(disk));
}

/* A part of the records is better than none, and the log says so. */
static void a_file_ends_where_no_room_is_left(void **state)
{
	struct run *v = *state;
	char path[PATH_MAX];
	uint64_t bytes;

	make(v, "host-000001-20240131T235959Z.ntp", 300 << 10, geteuid());
	one_with_free(v, 1 * GIB, 0, 100000);
	assert_non_null(strstr(v->told, "ended early: --keep-free is reached"));
	assert_int_equal(each_file(v, path, &bytes), 1);
	assert_true(bytes <= 300 << 10);
	assert_true(bytes >= 100 << 10);
}

static bool writes(struct run *v, enum nt_side side)
{
	struct recorder_options o = options_of(v);

	no_unnamed = true;
	o.after_ns = 3600 * S;
	begin_with(v, &o);
	records(v, 20000);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	for (unsigned int i = 0; i < 100; i++) {
		recorder_work(v->r);
		usleep(1000);
	}
	return true;
}

/* A host's recorder that writes a file. */
static pid_t other_that_writes(struct run *v)
{
	return instance(v, writes, NT_HOST);
}

/* Otherwise each kill, such as for want of memory, costs as much as a file may take. */
static void what_a_killed_recorder_has_left_is_removed(void **state)
{
	static const char *const others[] = {".ntprof-bpf.target.00beef", ".ntprof-bpf.00beef",
					     ".ntprof-bpf.host.00beef0", ".ntprof-bpf.host.00beeg"};
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char path[PATH_MAX], of_other[] = ".ntprof-bpf.host.00beef";
	uint64_t bytes;

	for (unsigned int i = 0; i < 3; i++)
		end_instance(other_that_writes(v));
	assert_true(each_file(v, path, &bytes) >= 1 && bytes > 0);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		make(v, others[i], 1, geteuid());
	if (!geteuid())
		make(v, of_other, 1, OTHER_USER);
	begin_with(v, &o);
	assert_int_equal(each_file(v, path, &bytes), ARRAY_SIZE(others) + !geteuid());
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_true(there(v, others[i]));
	assert_true(geteuid() || there(v, of_other));
}

/* The folder's lock does not keep others out where there are no locks, or where it was removed. */
static void what_another_recorder_writes_is_not_removed(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char path[PATH_MAX];
	uint64_t bytes;

	for (unsigned int i = 0; i < 2; i++) {
		pid_t other;

		no_locks = !i;
		other = other_that_writes(v);
		if (i)
			unlink(path_of(v, LOCK));
		begin_with(v, &o);
		assert_int_equal(each_file(v, path, &bytes), 1);
		recorder_free(v->r);
		v->r = NULL;
		end_instance(other);
		no_locks = false;
		begin_with(v, &o);
		assert_int_equal(each_file(v, path, &bytes), 0);
		recorder_free(v->r);
		v->r = NULL;
	}
}

/* The file that is being written is not what was left, when its folder is taken again. */
static void a_file_that_is_written_stays_when_options_change(void **state)
{
	struct run *v = *state;
	struct recorder_options o = options_of(v);
	char other[80], path[PATH_MAX];
	uint64_t bytes;

	snprintf(other, sizeof(other), "%s.other", v->folder);
	assert_int_equal(mkdir(other, 0700), 0);
	no_unnamed = true;
	o.after_ns = 3600 * S;
	begin_with(v, &o);
	records(v, 1000);
	recorder_trigger(v->r, TRIGGER_SIGNAL);
	recorder_work(v->r);
	o.folder = other;
	assert_int_equal(recorder_change(v->r, &o), 0);
	o.folder = v->folder;
	assert_int_equal(recorder_change(v->r, &o), 0);
	recorder_finish(v->r, PATIENCE_NS);
	no_unnamed = false;
	assert_int_equal(v->failures, 0);
	assert_int_equal(each_file(v, path, &bytes), 1);
	snprintf(path, sizeof(path), "%s/" LOCK, other);
	unlink(path);
	assert_int_equal(rmdir(other), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_of_others_do_not_count),
		TEST(what_others_link_or_move_does_not_count),
		TEST(a_very_high_number_is_that_of_the_oldest),
		TEST(there_is_a_number_after_any_other),
		TEST(a_name_that_is_taken_is_passed_over),
		TEST(many_files_are_looked_at_once),
		TEST(what_is_removed_meanwhile_counts_no_more),
		TEST(a_side_of_a_folder_has_one_instance),
		TEST(a_change_that_is_refused_leaves_the_folder_as_it_is),
		TEST(a_lock_of_others_is_none),
		TEST(a_lock_with_two_names_is_none_where_others_may_write),
		TEST(a_folder_that_others_may_write_to_is_refused),
		TEST(a_way_that_others_may_change_is_refused),
		TEST(a_folder_that_is_another_one_now_is_looked_at),
		TEST(a_file_stays_in_its_folder),
		TEST(a_file_takes_no_room_of_another_folder),
		TEST(as_much_is_left_free_as_is_said),
		TEST(a_file_takes_the_room_of_older_ones_only),
		TEST(small_ones_are_not_removed_in_vain),
		TEST(files_one_after_another_replace_as_many),
		TEST(others_that_take_that_room_cost_one_file),
		TEST(what_a_killed_recorder_has_left_is_removed),
		TEST(what_another_recorder_writes_is_not_removed),
		TEST(a_file_that_is_written_stays_when_options_change),
		TEST(a_file_ends_where_no_room_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
