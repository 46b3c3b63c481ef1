// SPDX-License-Identifier: GPL-2.0-only
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* renameat2(), mkostemp() */
#endif
#include "stream/destination.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/time.h"

/* In the folder of the file. The name does not depend on the file's, so it is never too long. */
#define TEMPORARY_RANDOM "XXXXXX"
#define TEMPORARY_NAME ".ntprof-bpf." TEMPORARY_RANDOM
/* Names to try before giving up. */
#define NAMES_TRIED 100

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

/* Return: the length of the folder's part of the path. */
static size_t folder_of(const struct destination *d)
{
	const char *slash = strrchr(d->path, '/');

	return slash ? (size_t)(slash + 1 - d->path) : 0;
}

/* Makes a file without a name, which is removed if this process ends. Return: as open_beside(). */
static int open_unnamed(struct destination *d, size_t folder)
{
	char *path = folder ? strndup(d->path, folder) : strdup(".");

	if (!path)
		return -ENOMEM;
	d->fd = open(path, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	free(path);
	return d->fd < 0 ? -errno : 0;
}

/* Return: 0 or -ENOMEM. */
static int choose_temporary(struct destination *d, size_t folder)
{
	if (asprintf(&d->temporary, "%.*s" TEMPORARY_NAME, (int)folder, d->path) >= 0)
		return 0;
	d->temporary = NULL;
	return -ENOMEM;
}

/*
 * Makes a new file in the folder of @path, readable by its owner only; without a name if the file
 * system supports that.
 */
static int open_beside(struct destination *d)
{
	size_t folder = folder_of(d);

	if (!d->path[folder])
		return d->path[0] ? -EISDIR : -ENOENT;
	d->unnamed = !open_unnamed(d, folder);
	if (d->unnamed)
		return 0;
	if (choose_temporary(d, folder))
		return -ENOMEM;
	d->fd = mkostemp(d->temporary, O_CLOEXEC);
	if (d->fd >= 0)
		return 0;
	free(d->temporary);
	d->temporary = NULL;
	return -errno;
}

static bool is_special(const struct stat *st)
{
	return S_ISFIFO(st->st_mode) || S_ISCHR(st->st_mode);
}

/*
 * Checks the type again after open(): another process may have replaced the pipe by a file, or by a
 * link to one.
 */
static int open_special(struct destination *d)
{
	struct stat st;
	int fd = open(d->path, O_WRONLY | O_NOCTTY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!is_special(&st))
		err = -EEXIST;
	if (err)
		close(fd);
	else
		d->fd = fd;
	return err;
}

int destination_open(struct destination *d, const char *path, bool force)
{
	struct stat st, link;

	*d = (struct destination){.path = path, .fd = -1, .force = force};
	if (!strcmp(path, "-")) {
		d->fd = dup(STDOUT_FILENO);
		return d->fd < 0 ? -errno : 0;
	}
	if (destination_refuses(path))
		return -EEXIST;
	if (lstat(path, &link))
		return errno == ENOENT ? open_beside(d) : -errno;
	if (!stat(path, &st)) {
		/* /dev/stdout, whatever type it is. */
		if (S_ISLNK(link.st_mode) && is_stdout(&st)) {
			d->fd = dup(STDOUT_FILENO);
			return d->fd < 0 ? -errno : 0;
		}
		if (is_special(&st))
			return open_special(d);
	}
	/* A file, or a link to one; links are not followed. */
	return force ? open_beside(d) : -EEXIST;
}

/*
 * Renames without replacing a file, where renameat2() lacks RENAME_NOREPLACE: by a hard link, or,
 * where these are not supported, by making an empty file first that reserves the name.
 */
static int rename_new(const char *from, const char *to)
{
	int fd;

	if (!link(from, to))
		return unlink(from) ? -errno : 0;
	if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	close(fd);
	return rename(from, to) ? -errno : 0;
}

/*
 * Without CAP_DAC_READ_SEARCH the file has to be linked by its name in /proc: open(2), O_TMPFILE.
 */
static int link_unnamed(const struct destination *d, const char *path)
{
	char name[32];

	if (!linkat(d->fd, "", AT_FDCWD, path, AT_EMPTY_PATH))
		return 0;
	if (errno != ENOENT)
		return -errno;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", d->fd);
	return linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

/* linkat() cannot replace a file: the file gets a temporary name beside it, to be renamed. */
static int name_beside(struct destination *d)
{
	char *random;

	if (choose_temporary(d, folder_of(d)))
		return -ENOMEM;
	random = d->temporary + strlen(d->temporary) - strlen(TEMPORARY_RANDOM);
	for (unsigned int i = 0; i < NAMES_TRIED; i++) {
		int err;

		snprintf(random, strlen(TEMPORARY_RANDOM) + 1, "%06x",
			 (unsigned int)(monotonic_ns() + i) & 0xffffff);
		err = link_unnamed(d, d->temporary);
		if (!err || err != -EEXIST)
			return err;
	}
	return -EEXIST;
}

int destination_commit(struct destination *d)
{
	int err = 0;

	if (d->unnamed) {
		err = d->force ? name_beside(d) : link_unnamed(d, d->path);
		d->unnamed = err != 0;
		if (err) {
			free(d->temporary);
			d->temporary = NULL;
			return err;
		}
	}
	if (!d->temporary)
		return 0;
	if (renameat2(AT_FDCWD, d->temporary, AT_FDCWD, d->path, d->force ? 0 : RENAME_NOREPLACE))
		err = -errno;
	/* File systems and kernels without flags have rename(). */
	if (err == -EINVAL || err == -ENOSYS)
		err = d->force ? (rename(d->temporary, d->path) ? -errno : 0)
			       : rename_new(d->temporary, d->path);
	if (err)
		return err;
	free(d->temporary);
	d->temporary = NULL;
	return 0;
}

int destination_close(struct destination *d)
{
	int err = close(d->fd) ? -errno : 0;

	if (d->temporary)
		unlink(d->temporary);
	free(d->temporary);
	*d = (struct destination){.fd = -1};
	return err;
}
