// SPDX-License-Identifier: GPL-2.0-only
#include "core/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)
/* The kernel follows as many: path_resolution(7). */
#define LINKS_MAX 40

int trust_parse_id(const char *text, uint32_t *id)
{
	unsigned long n;
	char *end;

	if (!text || text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	n = strtoul(text, &end, 10);
	if (*end || errno || n >= UINT32_MAX)
		return -EINVAL;
	*id = (uint32_t)n;
	return 0;
}

/* Return: whether sudo started this process, with @uid set. Only root trusts the variable. */
static bool sudo_caller(uid_t *uid)
{
	return !geteuid() && !trust_parse_id(getenv("SUDO_UID"), uid);
}

bool trust_uid(uid_t uid)
{
	uid_t caller;

	return !uid || uid == geteuid() || (sudo_caller(&caller) && uid == caller);
}

bool trust_alone(const struct stat *st)
{
	return trust_uid(st->st_uid) && !(st->st_mode & OTHERS_WRITE);
}

bool trust_planted(const struct stat *folder, const struct stat *st)
{
	/*
	 * In a sticky folder, write permission of the group matters as well: fs.protected_fifos=2.
	 */
	mode_t others = folder->st_mode & S_ISVTX ? OTHERS_WRITE : S_IWOTH;

	return (folder->st_mode & others) && !trust_uid(st->st_uid) && st->st_uid != folder->st_uid;
}

/* Where @fd is. @fd may be a link itself. Without /proc the path is not known. */
static void path_of(int fd, char buf[PATH_MAX])
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, buf, PATH_MAX - 1);
	buf[n < 0 ? 0 : n] = '\0';
}

static int refuse(struct trust_walk *w, int fd, const char *how, const char *what)
{
	char path[PATH_MAX];

	path_of(fd, path);
	snprintf(w->why, sizeof(w->why), "is %s %s, which %s", how, path[0] ? path : "a folder",
		 what);
	return -EPERM;
}

/* Checks a folder or a link that was opened as @fd. */
static int check_ours(struct trust_walk *w, int fd, const struct stat *st)
{
	const char *how = S_ISLNK(st->st_mode) ? "reached by" : "in";

	if (!trust_uid(st->st_uid))
		return refuse(w, fd, how, "is another user's");
	if (S_ISDIR(st->st_mode) && (st->st_mode & OTHERS_WRITE) && !(st->st_mode & S_ISVTX))
		return refuse(w, fd, how, "others may write to (chmod go-w)");
	return 0;
}

/* Checks the folder or link @name that was opened as @fd. Return: 0 or a negative errno. */
static int check_step(struct trust_walk *w, const char *name, int fd, const struct stat *st)
{
	struct stat folder;

	if (w->rule == TRUST_OURS)
		return check_ours(w, fd, st);
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return 0;
	if (fstat(w->fd, &folder))
		return -errno;
	return trust_planted(&folder, st) ? -EPERM : 0;
}

/* Goes on in folder @fd. Return: 0, or a negative errno if @fd is -1. */
static int enter(struct trust_walk *w, int fd)
{
	int err = fd < 0 ? -errno : 0;

	if (err)
		return err;
	if (w->fd >= 0)
		close(w->fd);
	w->fd = fd;
	return 0;
}

static int enter_root(struct trust_walk *w)
{
	int err = enter(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
	struct stat st;

	if (!err && fstat(w->fd, &st))
		err = -errno;
	return err || w->rule != TRUST_OURS ? err : check_ours(w, w->fd, &st);
}

/* Puts @text before the rest of the way. Return: 0 or a negative errno. */
static int put_before(struct trust_walk *w, const char *text)
{
	size_t n = strlen(text), rest = strlen(w->rest);

	if (n + rest >= sizeof(w->rest))
		return -ENAMETOOLONG;
	memmove(w->rest + n, w->rest, rest + 1);
	memcpy(w->rest, text, n);
	return 0;
}

bool trust_in_proc(int folder_fd)
{
	struct statfs fs;

	return !fstatfs(folder_fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* Replaces a link, which was opened as @fd, by its text. Return: 0 or a negative errno. */
static int expand(struct trust_walk *w, int fd)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(fd, "", text, sizeof(text));
	int err;

	if (n < 0)
		return -errno;
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	if (n == sizeof(text))
		return -ENAMETOOLONG;
	text[n] = '\0';
	err = put_before(w, text);
	return err || text[0] != '/' ? err : enter_root(w);
}

/*
 * Opens a step itself, even if it is a link. So the file that is checked is the one that is used,
 * whatever others do meanwhile. O_DIRECTORY is tried first, because only then an automounter mounts
 * the folder.
 */
static int open_step(const struct trust_walk *w, const char *name)
{
	const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(w->fd, name, flags | O_DIRECTORY);

	return fd < 0 && errno == ENOTDIR ? openat(w->fd, name, flags) : fd;
}

/*
 * Takes the step @name, which was opened as @fd. @last: no other step follows.
 * Return: 0; 1 if @name is the file; or a negative errno.
 */
static int take(struct trust_walk *w, const char *name, int fd, bool last)
{
	bool by_kernel = w->rule == TRUST_NOT_PLANTED && trust_in_proc(w->fd);
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (last && (!S_ISLNK(st.st_mode) || by_kernel))
		return 1;
	err = check_step(w, name, fd, &st);
	if (err)
		return err;
	if (S_ISLNK(st.st_mode) && !by_kernel)
		return expand(w, fd);
	if (S_ISLNK(st.st_mode))
		return enter(w, openat(w->fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC));
	return enter(w, openat(fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* Takes the next step. Return: as take() */
static int step(struct trust_walk *w)
{
	const char *from = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(from, "/");
	bool last = !from[n];
	char name[NAME_MAX + 1];
	int fd, ret = 1;

	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, n ? from : ".", n ?: 1);
	name[n ?: 1] = '\0';
	memmove(w->rest, from + n, strlen(from + n) + 1);
	if (n && (!last || w->follow)) {
		fd = open_step(w, name);
		if (fd < 0)
			return -errno;
		ret = take(w, name, fd, last);
		close(fd);
	}
	if (ret == 1)
		strcpy(w->rest, name);
	return ret;
}

/* Return: 0 or a negative errno */
static int begin(struct trust_walk *w, const char *path)
{
	char folder[PATH_MAX];
	int err = put_before(w, path);

	if (!err && !path[0])
		err = -ENOENT;
	if (!err && path[0] != '/' && w->rule == TRUST_OURS)
		err = !getcwd(folder, sizeof(folder)) ? -errno : put_before(w, "/") ?: put_before(w, folder);
	if (err)
		return err;
	return w->rest[0] == '/' ? enter_root(w)
				 : enter(w, open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

int trust_walk(struct trust_walk *w, const char *path, enum trust_rule rule, bool follow)
{
	int ret;

	*w = (struct trust_walk){.fd = -1, .rule = rule, .follow = follow};
	ret = begin(w, path);
	while (!ret)
		ret = step(w);
	if (ret == 1)
		return 0;
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	return ret;
}

/* Checks the way to the file of @st. Return: as trust_config() */
static bool way_alone(const struct stat *st, const char *path, char why[TRUST_WHY_LEN])
{
	struct trust_walk w;
	struct stat there;
	int err = trust_walk(&w, path, TRUST_OURS, true);

	if (!err) {
		if (fstatat(w.fd, w.rest, &there, AT_SYMLINK_NOFOLLOW))
			err = -errno;
		else if (there.st_dev != st->st_dev || there.st_ino != st->st_ino)
			err = -ENOENT;
		close(w.fd);
	}
	if (w.why[0])
		memcpy(why, w.why, TRUST_WHY_LEN);
	else if (err)
		snprintf(why, TRUST_WHY_LEN, "is not where it was: %s", strerror(-err));
	return !err;
}

bool trust_config(int fd, const char *path, char why[TRUST_WHY_LEN])
{
	struct stat st;

	if (fstat(fd, &st)) {
		snprintf(why, TRUST_WHY_LEN, "cannot be looked at: %s", strerror(errno));
		return false;
	}
	if (!trust_uid(st.st_uid)) {
		snprintf(why, TRUST_WHY_LEN, "is another user's");
		return false;
	}
	/* Devices such as /dev/null may be writable by all. */
	if (!S_ISCHR(st.st_mode) && !trust_alone(&st)) {
		snprintf(why, TRUST_WHY_LEN, "is a file that others may write to (chmod go-w)");
		return false;
	}
	/* A file without a name, such as a shell's here-document, is in no folder. */
	return !st.st_nlink || way_alone(&st, path, why);
}
