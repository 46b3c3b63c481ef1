// SPDX-License-Identifier: GPL-2.0-only
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* renameat2(), O_TMPFILE */
#endif
#include "stream/destination.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/time.h"
#include "core/trust.h"

/* In the folder of the file. The name does not depend on the file's, so it is never too long. */
#define TEMPORARY_NAME ".ntprof-bpf.%06x"
/* Names to try before giving up. */
#define NAMES_TRIED 100
/* The kernel follows as many: path_resolution(7). */
#define LINKS_MAX 40

static bool is_stdout(const struct stat *st)
{
	struct stat out;

	return !fstat(STDOUT_FILENO, &out) && out.st_dev == st->st_dev && out.st_ino == st->st_ino;
}

const char *destination_refuses(const char *path)
{
	static const struct {
		mode_t type;
		const char *name;
	} kinds[] = {
		{S_IFDIR, "a directory"},
		{S_IFBLK, "a block device"},
		{S_IFSOCK, "a socket"},
	};
	struct stat st;

	if (!strcmp(path, "-") || stat(path, &st))
		return NULL;
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((st.st_mode & S_IFMT) == kinds[i].type)
			return kinds[i].name;
	return NULL;
}

/*
 * Opens folder @name of @folder_fd, which is closed. What another user may have put there is
 * refused, be it a folder or a link. Return: a descriptor, or -1 with errno set.
 */
static int enter(int folder_fd, const char *name)
{
	bool plain = !strcmp(name, ".") || !strcmp(name, "..");
	struct stat folder, st;
	int fd = -1, err = 0;

	if (fstat(folder_fd, &folder) || fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		err = errno;
	else if (!plain && trust_planted(&folder, &st))
		err = EPERM;
	else
		fd = openat(folder_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (!err && fd < 0)
		err = errno;
	close(folder_fd);
	errno = err;
	return fd;
}

/* Opens the folder of @path, relative to @at, step by step. Return: as enter() */
static int open_folder(int at, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = strndup(path, slash ? (size_t)(slash - path) : 0), *name, *rest;
	int fd;

	if (!folder)
		return -1;
	fd = openat(at, path[0] == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	name = strtok_r(folder, "/", &rest);
	for (; name && fd >= 0; name = strtok_r(NULL, "/", &rest))
		fd = enter(fd, name);
	free(folder);
	return fd;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Tries names for the temporary file until @make() succeeds. Return: as @make(), see the two below. */
static int make_temporary(struct destination *d, int (*make)(const struct destination *d))
{
	int ret = -EEXIST;

	for (unsigned int i = 0; i < NAMES_TRIED && ret == -EEXIST; i++) {
		snprintf(d->temporary, sizeof(d->temporary), TEMPORARY_NAME,
			 (unsigned int)(monotonic_ns() + i) & 0xffffff);
		ret = make(d);
	}
	if (ret < 0)
		d->temporary[0] = '\0';
	return ret;
}

static int create_temporary(const struct destination *d)
{
	int fd = openat(d->folder_fd, d->temporary,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/*
 * Makes a new file in the folder, readable by its owner only; without a name if the file system
 * supports that: it is removed then if this process ends.
 */
static int begin_file(struct destination *d)
{
	d->fd = openat(d->folder_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	d->unnamed = d->fd >= 0;
	if (d->unnamed)
		return 0;
	d->fd = make_temporary(d, create_temporary);
	return d->fd < 0 ? d->fd : 0;
}

static bool is_special(const struct stat *st)
{
	return S_ISFIFO(st->st_mode) || S_ISCHR(st->st_mode);
}

/* Links in /proc lead to open files. They can be opened, but their text is not a path. */
static bool in_proc(int folder_fd)
{
	struct statfs fs;

	return !fstatfs(folder_fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/*
 * Checks the type again after open(): another process may have replaced the pipe by a file, or by a
 * link to one.
 */
static int open_special(struct destination *d, int folder_fd, const char *name, int flags)
{
	struct stat folder, st;
	int fd = openat(folder_fd, name, O_WRONLY | O_NOCTTY | O_CLOEXEC | flags), err = 0;

	if (fd < 0)
		return errno == ELOOP ? -EEXIST : -errno;
	if (fstat(fd, &st) || fstat(folder_fd, &folder))
		err = -errno;
	else if (!is_special(&st))
		err = -EEXIST;
	else if (flags && trust_planted(&folder, &st))
		err = -EPERM;
	if (err)
		close(fd);
	else
		d->fd = fd;
	return err;
}

/*
 * Follows one step of @path, which is relative to *@folder_fd. A link is replaced by its text, and
 * *@folder_fd by the folder of the link; anything else is opened. Each link is checked as with
 * fs.protected_symlinks, which may be off in the kernel.
 *
 * Return: 0 or a negative errno.
 */
static int step(struct destination *d, int *folder_fd, char path[PATH_MAX])
{
	int next = open_folder(*folder_fd, path);
	const char *name = name_of(path);
	struct stat folder, st;
	char link[PATH_MAX];
	ssize_t n;

	if (next < 0)
		return -errno;
	close(*folder_fd);
	*folder_fd = next;
	if (fstat(next, &folder) || fstatat(next, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (trust_planted(&folder, &st))
		return -EPERM;
	if (!S_ISLNK(st.st_mode) || in_proc(next))
		return open_special(d, next, name, S_ISLNK(st.st_mode) ? 0 : O_NOFOLLOW);
	n = readlinkat(next, name, link, sizeof(link) - 1);
	if (n < 0)
		return -errno;
	link[n] = '\0';
	strcpy(path, link);
	return 0;
}

static int follow_to_special(struct destination *d)
{
	int folder_fd = fcntl(d->folder_fd, F_DUPFD_CLOEXEC, 0), err = folder_fd < 0 ? -errno : 0;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", d->name);
	for (unsigned int i = 0; !err && d->fd < 0; i++)
		err = i < LINKS_MAX ? step(d, &folder_fd, path) : -ELOOP;
	if (folder_fd >= 0)
		close(folder_fd);
	return err;
}

/* Return: as destination_open() */
static int open_there(struct destination *d, const char *path)
{
	struct stat st, link, folder;

	if (fstat(d->folder_fd, &folder))
		return -errno;
	if (fstatat(d->folder_fd, d->name, &link, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? begin_file(d) : -errno;
	if (trust_planted(&folder, &link))
		return -EPERM;
	if (!stat(path, &st)) {
		/* /dev/stdout, whatever type it is. */
		if (S_ISLNK(link.st_mode) && is_stdout(&st)) {
			d->fd = dup(STDOUT_FILENO);
			return d->fd < 0 ? -errno : 0;
		}
		if (is_special(&st))
			return follow_to_special(d);
	}
	/* A file, or a link to one; links are not followed. */
	return d->force ? begin_file(d) : -EEXIST;
}

int destination_open(struct destination *d, const char *path, bool force)
{
	int err;

	*d = (struct destination){.folder_fd = -1, .name = name_of(path), .fd = -1, .force = force};
	if (!strcmp(path, "-")) {
		d->fd = dup(STDOUT_FILENO);
		return d->fd < 0 ? -errno : 0;
	}
	if (destination_refuses(path))
		return -EEXIST;
	if (!d->name[0])
		return path[0] ? -EISDIR : -ENOENT;
	d->folder_fd = open_folder(AT_FDCWD, path);
	err = d->folder_fd < 0 ? -errno : open_there(d, path);
	if (err && d->folder_fd >= 0)
		close(d->folder_fd);
	return err;
}

int destination_open_in(struct destination *d, int folder_fd, const char *name)
{
	int err;

	*d = (struct destination){
		.folder_fd = fcntl(folder_fd, F_DUPFD_CLOEXEC, 0), .name = name, .fd = -1};
	if (d->folder_fd < 0)
		return -errno;
	err = begin_file(d);
	if (err)
		close(d->folder_fd);
	return err;
}

/*
 * Renames without replacing a file, where renameat2() lacks RENAME_NOREPLACE: by a hard link, or,
 * where these are not supported, by making an empty file first that reserves the name.
 */
static int rename_new(const struct destination *d)
{
	int fd;

	if (!linkat(d->folder_fd, d->temporary, d->folder_fd, d->name, 0))
		return unlinkat(d->folder_fd, d->temporary, 0) ? -errno : 0;
	if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	fd = openat(d->folder_fd, d->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	close(fd);
	return renameat(d->folder_fd, d->temporary, d->folder_fd, d->name) ? -errno : 0;
}

/*
 * Without CAP_DAC_READ_SEARCH the file has to be linked by its name in /proc: open(2), O_TMPFILE.
 */
static int link_unnamed(const struct destination *d, const char *name)
{
	char own[32];

	if (!linkat(d->fd, "", d->folder_fd, name, AT_EMPTY_PATH))
		return 0;
	if (errno != ENOENT)
		return -errno;
	snprintf(own, sizeof(own), "/proc/self/fd/%d", d->fd);
	return linkat(AT_FDCWD, own, d->folder_fd, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

static int link_temporary(const struct destination *d)
{
	return link_unnamed(d, d->temporary);
}

int destination_commit(struct destination *d)
{
	int err = 0;

	if (d->unnamed) {
		/* linkat() cannot replace a file: the file gets a temporary name, to be renamed. */
		err = d->force ? make_temporary(d, link_temporary) : link_unnamed(d, d->name);
		d->unnamed = err != 0;
	}
	if (err || !d->temporary[0])
		return err;
	if (renameat2(d->folder_fd, d->temporary, d->folder_fd, d->name,
		      d->force ? 0 : RENAME_NOREPLACE))
		err = -errno;
	/* File systems and kernels without flags have renameat(). */
	if ((err == -EINVAL || err == -ENOSYS) && !d->force)
		err = rename_new(d);
	else if (err == -EINVAL || err == -ENOSYS)
		err = renameat(d->folder_fd, d->temporary, d->folder_fd, d->name) ? -errno : 0;
	if (!err)
		d->temporary[0] = '\0';
	return err;
}

int destination_close(struct destination *d)
{
	int err = close(d->fd) ? -errno : 0;

	if (d->temporary[0])
		unlinkat(d->folder_fd, d->temporary, 0);
	if (d->folder_fd >= 0)
		close(d->folder_fd);
	*d = (struct destination){.folder_fd = -1, .fd = -1};
	return err;
}
