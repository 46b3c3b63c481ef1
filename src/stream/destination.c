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

/* Beside the file, and whatever that is called, short enough to be a name. */
#define TEMPORARY_NAME ".ntprof-bpf.XXXXXX"

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

/* A file of ours, made anew and readable by its owner only, in the folder of @path. */
static int open_beside(struct destination *d)
{
	const char *slash = strrchr(d->path, '/');
	size_t folder = slash ? (size_t)(slash + 1 - d->path) : 0;

	if (!d->path[folder])
		return d->path[0] ? -EISDIR : -ENOENT;
	if (asprintf(&d->temporary, "%.*s" TEMPORARY_NAME, (int)folder, d->path) < 0) {
		d->temporary = NULL;
		return -ENOMEM;
	}
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

/* What was a pipe may be somebody's file by the time that it is opened, or a link to one. */
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
		/* /dev/stdout, whatever that is. */
		if (S_ISLNK(link.st_mode) && is_stdout(&st)) {
			d->fd = dup(STDOUT_FILENO);
			return d->fd < 0 ? -errno : 0;
		}
		if (is_special(&st))
			return open_special(d);
	}
	/* A file, or a link to one, which is not followed. */
	return force ? open_beside(d) : -EEXIST;
}

/* Where renameat2() does not know how to spare what is there. */
static int link_new(const char *from, const char *to)
{
	if (link(from, to))
		return -errno;
	return unlink(from) ? -errno : 0;
}

int destination_commit(struct destination *d)
{
	int err = 0;

	if (!d->temporary)
		return 0;
	if (renameat2(AT_FDCWD, d->temporary, AT_FDCWD, d->path, d->force ? 0 : RENAME_NOREPLACE))
		err = -errno;
	if (err == -EINVAL || err == -ENOSYS)
		err = link_new(d->temporary, d->path);
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
