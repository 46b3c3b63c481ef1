// SPDX-License-Identifier: GPL-2.0-only
#include "stream/destination.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/time.h"
#include "core/trust.h"

/* In the folder of the file. The name does not depend on the file's, so it is never too long. */
#define TEMPORARY_NAME DESTINATION_TEMPORARY "%s%06x"
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

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Tries names for the temporary file until @make() succeeds, or fails for another reason than that
 * a file has this name. Return: as @make(), which is create_temporary() or link_temporary()
 */
static int make_temporary(struct destination *d, int (*make)(const struct destination *d))
{
	int ret = -EEXIST;

	for (unsigned int i = 0; i < NAMES_TRIED && ret == -EEXIST; i++) {
		snprintf(d->temporary, sizeof(d->temporary), TEMPORARY_NAME, d->mark,
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
 * Makes a new file in the folder, which only its owner may read. It has no name if the file system
 * supports that. Then nothing is left of it if this process is killed.
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

/* Each link is checked as with fs.protected_symlinks, which may be off in the kernel. */
static int follow_to_special(struct destination *d, const char *path)
{
	struct trust_walk w;
	struct stat folder, st;
	int err = trust_walk(&w, path, TRUST_NOT_PLANTED, true);

	if (err)
		return err;
	if (fstat(w.fd, &folder) || fstatat(w.fd, w.rest, &st, AT_SYMLINK_NOFOLLOW))
		err = -errno;
	else if (trust_planted(&folder, &st))
		err = -EPERM;
	else
		/* Only a link in /proc has not been followed yet: it leads to an open file. */
		err = open_special(d, w.fd, w.rest, S_ISLNK(st.st_mode) ? 0 : O_NOFOLLOW);
	close(w.fd);
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
			return follow_to_special(d, path);
	}
	/* A file, or a link to one. The link is replaced, and not the file that it leads to. */
	return d->force ? begin_file(d) : -EEXIST;
}

int destination_open(struct destination *d, const char *path, bool force)
{
	struct trust_walk w;
	int err;

	*d = (struct destination){
		.folder_fd = -1, .name = name_of(path), .fd = -1, .mark = "", .force = force};
	if (!strcmp(path, "-")) {
		d->fd = dup(STDOUT_FILENO);
		return d->fd < 0 ? -errno : 0;
	}
	if (destination_refuses(path))
		return -EEXIST;
	if (!d->name[0])
		return path[0] ? -EISDIR : -ENOENT;
	err = trust_walk(&w, path, TRUST_NOT_PLANTED, false);
	if (err)
		return err;
	d->folder_fd = w.fd;
	err = open_there(d, path);
	if (err)
		close(d->folder_fd);
	return err;
}

int destination_open_in(struct destination *d, int folder_fd, const char *name, const char *mark)
{
	int err;

	*d = (struct destination){.folder_fd = fcntl(folder_fd, F_DUPFD_CLOEXEC, 0),
				  .name = name,
				  .fd = -1,
				  .mark = mark};
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
	int fd, err;

	if (!linkat(d->folder_fd, d->temporary, d->folder_fd, d->name, 0))
		return unlinkat(d->folder_fd, d->temporary, 0) ? -errno : 0;
	if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
		return -errno;
	fd = openat(d->folder_fd, d->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	close(fd);
	if (!renameat(d->folder_fd, d->temporary, d->folder_fd, d->name))
		return 0;
	err = -errno;
	unlinkat(d->folder_fd, d->name, 0);
	return err;
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
