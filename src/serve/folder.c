// SPDX-License-Identifier: GPL-2.0-only
#include "serve/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "core/names.h"
#include "core/time.h"
#include "core/trust.h"
#include "stream/destination.h"

#define NS_PER_SECOND 1000000000
/* Digits of a number at least: up to 999999, names sort as their numbers do. */
#define NUMBER_DIGITS "06"
#define DIGITS "0123456789"
/* A longer number is not one of ours. */
#define NUMBER_DIGITS_MAX 18
/*
 * A file found with a higher number was not written by us, and counts as the oldest one. Otherwise
 * the next number could have more digits than NUMBER_DIGITS_MAX.
 */
#define NUMBER_FOUND_MAX 1000000000000000ULL
/*
 * If a name is taken, the next number is higher by up to this, at random. Another user cannot take
 * all these names in advance.
 */
#define NUMBERS_PASSED_MAX 1000

/* Whether @text is a time as folder_next() writes it: 20240131T235959Z, or 0 without a clock. */
static bool is_time(const char *text, size_t len)
{
	return (len == 1 && *text == '0') ||
	       (len == 16 && strspn(text, DIGITS) == 8 && text[8] == 'T' &&
		strspn(text + 9, DIGITS) == 6 && text[15] == 'Z');
}

/*
 * Return: whether @name is a file name of this side; @number is set then. Other files that are
 * called alike, such as host-2-before-the-upgrade.ntp, were not written by a recorder.
 */
static bool is_ours(const struct folder *f, const char *name, uint64_t *number)
{
	const char *side = side_name(f->side);
	size_t n = strlen(side), len = strlen(name), digits;

	if (strncmp(name, side, n) != 0 || name[n] != '-' || len < 4 || len >= FOLDER_NAME_LEN ||
	    strcmp(name + len - 4, ".ntp") != 0)
		return false;
	name += n + 1;
	digits = strspn(name, DIGITS);
	if (!digits || digits > NUMBER_DIGITS_MAX || name[digits] != '-' ||
	    !is_time(name + digits + 1, strlen(name + digits + 1) - strlen(".ntp")))
		return false;
	*number = strtoull(name, NULL, 10);
	return true;
}

const char *folder_mark(const struct folder *f)
{
	return f->side == NT_HOST ? "host." : "target.";
}

/* Return: whether @name is that of a file of this side before it has its final name. */
static bool is_unfinished(const struct folder *f, const char *name)
{
	const size_t before = strlen(DESTINATION_TEMPORARY), mark = strlen(folder_mark(f));

	return !strncmp(name, DESTINATION_TEMPORARY, before) &&
	       !strncmp(name + before, folder_mark(f), mark) &&
	       strspn(name + before + mark, "0123456789abcdef") == 6 && !name[before + mark + 6];
}

/*
 * If others may write to the folder, they can link or move a file of this user into it. Files that
 * the recorder writes have one link and mode 0600.
 */
static bool is_planted(const struct folder *f, const struct stat *st)
{
	return f->shared && (st->st_nlink != 1 || (st->st_mode & (S_IRWXG | S_IRWXO)));
}

/* Return: 0, or -ENOENT if there is no such file that belongs to this user. */
static int look_at(const struct folder *f, const char *name, uint64_t *bytes)
{
	struct stat st;

	if (fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
	    st.st_uid != geteuid() || is_planted(f, &st))
		return -ENOENT;
	*bytes = (uint64_t)st.st_size;
	return 0;
}

/* Makes room for one more file. Return: 0 or -ENOMEM. */
static int reserve(struct folder *f)
{
	unsigned int room = f->room ? 2 * f->room : 64;
	struct folder_file *file;

	if (f->nr < f->room)
		return 0;
	file = reallocarray(f->file, room, sizeof(*file));
	if (!file)
		return -ENOMEM;
	f->file = file;
	f->room = room;
	return 0;
}

/* Return: as fcntl(2). The kernel releases the lock when the process ends, or closes the file. */
static int lock_file(int fd)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	return fcntl(fd, F_SETLK, &whole);
}

void folder_claim(int fd)
{
	lock_file(fd);
}

/*
 * The folder's lock does not tell that the writer of a file has ended: the file system may have no
 * locks, and the lock file may have been removed.
 */
static bool was_left(const struct folder *f, const char *name)
{
	int fd = openat(f->fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
	bool left = fd >= 0 && !lock_file(fd);

	if (fd >= 0)
		close(fd);
	return left;
}

static int newer_first(const void *a, const void *b)
{
	const struct folder_file *x = a, *y = b;

	return (x->number < y->number) - (x->number > y->number);
}

/*
 * Lists this user's files. @first: nothing was written before, so what is unfinished was left by
 * another process, if that has ended. Return: 0 or a negative errno.
 */
static int list(struct folder *f, bool first)
{
	/* closedir() closes this descriptor as well, so it has to be one of its own. */
	int fd = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!d) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (e = readdir(d))) {
		uint64_t number, bytes;

		if (first && f->lock_fd >= 0 && is_unfinished(f, e->d_name) &&
		    !look_at(f, e->d_name, &bytes) && was_left(f, e->d_name))
			unlinkat(f->fd, e->d_name, 0);
		if (!is_ours(f, e->d_name, &number) || look_at(f, e->d_name, &bytes))
			continue;
		err = reserve(f);
		if (err)
			break;
		if (number > NUMBER_FOUND_MAX)
			number = 0;
		f->file[f->nr] = (struct folder_file){.number = number, .bytes = bytes};
		strcpy(f->file[f->nr++].name, e->d_name);
		f->used += bytes;
	}
	closedir(d);
	if (f->nr)
		qsort(f->file, f->nr, sizeof(*f->file), newer_first);
	f->last = f->nr ? f->file[0].number : 0;
	return err;
}

/* Checks the known files again, as some may have been removed. */
static void look_again(struct folder *f)
{
	unsigned int nr = 0;

	f->used = 0;
	for (unsigned int i = 0; i < f->nr; i++) {
		if (look_at(f, f->file[i].name, &f->file[i].bytes))
			continue;
		f->used += f->file[i].bytes;
		f->file[nr++] = f->file[i];
	}
	f->nr = nr;
}

/*
 * Takes a lock that belongs to the process (fcntl(2)). The kernel releases it when the process
 * ends, and children do not inherit it. Closing any descriptor of the lock file would release it as
 * well, so there is only one.
 *
 * Return: as folder_open()
 */
static int lock(struct folder *f)
{
	char name[FOLDER_NAME_LEN];
	struct stat st;
	int err = 0;

	snprintf(name, sizeof(name), ".ntprof-bpf.%s.lock", side_name(f->side));
	f->lock_fd =
		openat(f->fd, name,
		       O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	err = f->lock_fd < 0 ? -errno : 0;
	/* On a full disk the lock file cannot be made. lock_again() tries that again. */
	if (err && fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return err == -ENOSPC || err == -EDQUOT ? 0 : err;
	if (err || fstat(f->lock_fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & (S_IRWXG | S_IRWXO)) || is_planted(f, &st))
		err = -FOLDER_LOCK_TAKEN;
	else if (lock_file(f->lock_fd) && (errno == EAGAIN || errno == EACCES))
		err = -FOLDER_IN_USE;
	if (err && f->lock_fd >= 0) {
		close(f->lock_fd);
		f->lock_fd = -1;
	}
	return err;
}

/* The lock file may have been removed, for example by systemd-tmpfiles. Return: as lock() */
static int lock_again(struct folder *f)
{
	struct stat st;

	if (f->lock_fd >= 0 && !fstat(f->lock_fd, &st) && st.st_nlink)
		return 0;
	if (f->lock_fd >= 0)
		close(f->lock_fd);
	return lock(f);
}

/*
 * Opens the folder, and checks it and the way to it. Return: a descriptor, or a negative errno;
 * -FOLDER_OF_OTHERS if other users could remove files, or choose where new files are made.
 */
static int open_ours(const char *path)
{
	char whole[PATH_MAX + 2];
	struct trust_walk w;
	int fd, err;

	if (!path[0])
		return -ENOENT;
	/* With a slash at the end, the folder itself is checked as a step of the way. */
	snprintf(whole, sizeof(whole), "%s/", path);
	err = trust_walk(&w, whole, TRUST_OURS, true);
	if (err)
		return err == -EPERM ? -FOLDER_OF_OTHERS : err;
	fd = openat(w.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = fd < 0 ? -errno : fd;
	close(w.fd);
	return err;
}

int folder_open(struct folder *f)
{
	struct folder new = {.lock_fd = -1};
	struct stat st;
	int err;

	new.fd = open_ours(f->path);
	if (new.fd < 0)
		return new.fd;
	err = fstat(new.fd, &st) ? -errno : 0;
	f->shared = !err && !trust_alone(&st);
	if (!err && f->fd >= 0 && st.st_dev == f->dev && st.st_ino == f->ino) {
		close(new.fd);
		look_again(f);
		return lock_again(f) ?: reserve(f);
	}
	new.side = f->side;
	new.shared = f->shared;
	err = err ?: lock(&new) ?: list(&new, f->fd < 0) ?: reserve(&new);
	if (err) {
		folder_close(&new);
		return err;
	}
	folder_close(f);
	f->fd = new.fd;
	f->lock_fd = new.lock_fd;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->file = new.file;
	f->nr = new.nr;
	f->room = new.room;
	f->used = new.used;
	f->freed = f->spare = 0;
	f->robbed = false;
	/* Numbers only go up, also when the folder changes. */
	f->last = f->last > new.last ? f->last : new.last;
	return 0;
}

const char *folder_error(int err)
{
	switch (err) {
	case -FOLDER_IN_USE:
		return "another ntprof-bpf has files of this side there";
	case -FOLDER_OF_OTHERS:
		return "it, a folder above it or a link on the way is another user's, or others may write there "
		       "(chmod go-w); namei -l shows which";
	case -FOLDER_LOCK_TAKEN:
		return "its .ntprof-bpf.SIDE.lock is not a file of ours alone";
	default:
		return strerror(-err);
	}
}

/*
 * Sets @available to the free bytes and @keep to the bytes that are left to others. Return: 0, or
 * -ENOSYS where the file system does not report them.
 */
static int disk(const struct folder *f, uint64_t *available, uint64_t *keep)
{
	struct statfs fs;
	uint64_t unit;

	if (fstatfs(f->fd, &fs) || !fs.f_blocks)
		return -ENOSYS;
	unit = (uint64_t)(fs.f_frsize ?: fs.f_bsize);
	*available = (uint64_t)fs.f_bavail * unit;
	*keep = f->keep_free;
	if (*keep == FOLDER_KEEP_FREE_DEFAULT)
		*keep = (uint64_t)fs.f_blocks * unit / 100 * FOLDER_KEEP_FREE_PERCENT;
	if (f->keep_free == FOLDER_KEEP_FREE_DEFAULT && *keep > FOLDER_KEEP_FREE_MOST)
		*keep = FOLDER_KEEP_FREE_MOST;
	return 0;
}

bool folder_warning(const struct folder *f, char text[FOLDER_WARNING_LEN])
{
	uint64_t available, keep;

	if (f->shared)
		snprintf(
			text, FOLDER_WARNING_LEN,
			"others may write to %s: they can fill it; /var/lib/ntprof-bpf is for that",
			f->path);
	else if (!disk(f, &available, &keep) && available < keep)
		snprintf(text, FOLDER_WARNING_LEN,
			 "of %" PRIu64 " MiB that --keep-free leaves to others in %s, %" PRIu64
			 " MiB are free: a file takes the room of older ones only",
			 keep >> 20, f->path, available >> 20);
	else
		return false;
	return true;
}

/* @bytes: size of the file; @unwritten: bytes of it that are not on the disk yet */
static bool leaves_free(struct folder *f, uint64_t bytes, uint64_t unwritten)
{
	uint64_t available, keep;

	/* With --keep-free 0, files are written until the disk is full. */
	if (!f->keep_free || bytes <= f->freed || disk(f, &available, &keep))
		return true;
	if (available < keep || available - keep < unwritten)
		return false;
	f->robbed = false;
	return true;
}

/* Return: whether the new file fits where all older ones are removed for want of free bytes */
static bool older_suffice(const struct folder *f, uint64_t bytes, uint64_t unwritten)
{
	uint64_t available, keep;

	return bytes <= f->freed + f->used ||
	       (!disk(f, &available, &keep) && available + f->used >= keep + unwritten);
}

static int remove_oldest(struct folder *f)
{
	const struct folder_file *oldest = &f->file[f->nr - 1];

	/* Another process may have removed the file. */
	if (unlinkat(f->fd, oldest->name, 0) && errno != ENOENT)
		return -errno;
	f->nr--;
	f->used -= oldest->bytes;
	f->freed += oldest->bytes;
	f->removed++;
	return 0;
}

void folder_begin_file(struct folder *f)
{
	uint64_t available, keep;

	if (disk(f, &available, &keep) || available >= keep)
		f->freed = 0;
	f->spare = f->freed;
}

void folder_end_file(struct folder *f, uint64_t bytes)
{
	f->freed -= bytes < f->freed ? bytes : f->freed;
}

void folder_lost_room(struct folder *f)
{
	if (f->freed > f->spare)
		f->robbed = true;
	f->freed = 0;
}

int folder_make_room(struct folder *f, uint64_t bytes, uint64_t unwritten)
{
	if (bytes > f->bytes)
		return -EFBIG;
	for (;;) {
		bool fits = f->nr < f->files && f->used <= f->bytes - bytes, leaves = true;
		int err;

		if (fits)
			leaves = leaves_free(f, bytes, unwritten);
		if (fits && leaves)
			return 0;
		if (!f->nr)
			return leaves ? -EFBIG : -ENOSPC;
		if (!leaves && (f->robbed || !older_suffice(f, bytes, unwritten)))
			return -ENOSPC;
		err = remove_oldest(f);
		if (err)
			return err;
	}
}

void folder_next(struct folder *f, int64_t realtime_ns, unsigned int tried,
		 char name[FOLDER_NAME_LEN])
{
	time_t seconds = (time_t)(realtime_ns / NS_PER_SECOND);
	char when[32];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm))
		snprintf(when, sizeof(when), "0");
	if (tried)
		f->last += monotonic_ns() % NUMBERS_PASSED_MAX;
	snprintf(name, FOLDER_NAME_LEN, "%s-%" NUMBER_DIGITS PRIu64 "-%s.ntp", side_name(f->side),
		 ++f->last, when);
}

void folder_add(struct folder *f, int fd, const char *name)
{
	struct folder_file new;
	struct stat st;

	if (fstat(fd, &st) || st.st_dev != f->dev || st.st_ino != f->ino ||
	    !is_ours(f, name, &new.number) || look_at(f, name, &new.bytes))
		return;
	snprintf(new.name, sizeof(new.name), "%s", name);
	memmove(f->file + 1, f->file, f->nr * sizeof(*f->file));
	f->file[0] = new;
	f->nr++;
	f->used += new.bytes;
}

void folder_close(struct folder *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->lock_fd >= 0)
		close(f->lock_fd);
	free(f->file);
	f->file = NULL;
	f->nr = f->room = 0;
	f->used = 0;
	f->fd = f->lock_fd = -1;
}
