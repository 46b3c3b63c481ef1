// SPDX-License-Identifier: GPL-2.0-only
#include "core/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/array.h"

/*
 * The mount points of the hierarchies that account I/O, in the order in which they are tried. The
 * last one is a prefix of the others.
 */
static const char *const mounts[] = {"/sys/fs/cgroup/blkio", "/sys/fs/cgroup/unified",
				     "/sys/fs/cgroup"};
/*
 * Inode number of the directory of each hierarchy's root, unless a cgroup namespace hides the
 * levels above.
 */
#define ROOT_ID 1
/* Prefix of the name of a cgroup with an unknown path. A known path begins with a slash. */
#define NUMBERED "cgroup "
/* d_path() appends this to the path of a directory that has been removed. */
#define GONE " (deleted)"
/* FILEID_KERNFS of include/linux/exportfs.h. */
#define HANDLE_KERNFS 0xfe

const char *cgroup_path(const char *text, char *path, size_t size)
{
	const char *rest = text;
	size_t length;

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		length = strlen(mounts[i]);
		if (strncmp(text, mounts[i], length) || (text[length] && text[length] != '/'))
			continue;
		rest = text + length;
		break;
	}
	rest += strspn(rest, "/");
	length = strlen(rest);
	while (length && rest[length - 1] == '/')
		length--;
	if (!*text)
		return "not a cgroup (such as system.slice/fio.service)";
	if (length + 2 > size)
		return "too long, the most are 254 bytes";
	snprintf(path, size, "/%.*s", (int)length, rest);
	return NULL;
}

static bool has_file(const char *dir, const char *name)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path) &&
	       !access(path, F_OK);
}

/* Whether the file cgroup.controllers of the directory lists the "io" controller. */
static bool has_io(const char *dir)
{
	char path[PATH_MAX], words[256] = "", *word, *rest = words;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/cgroup.controllers", dir) >= (int)sizeof(path))
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(words, sizeof(words), f))
		words[0] = '\0';
	fclose(f);
	while ((word = strsep(&rest, " \n")))
		if (!strcmp(word, "io"))
			return true;
	return false;
}

/*
 * Finds how many levels a directory is below the root of its hierarchy. Return: false if the root
 * was not reached.
 */
static bool level_of(const char *dir, uint32_t *level)
{
	char path[PATH_MAX];
	struct stat st;

	if (snprintf(path, sizeof(path), "%s", dir) >= (int)sizeof(path))
		return false;
	for (*level = 0; !stat(path, &st); ++*level) {
		if (st.st_ino == ROOT_ID)
			return true;
		if (strlen(path) + sizeof("/..") > sizeof(path) || *level > NAME_MAX)
			return false;
		strcat(path, "/..");
	}
	return false;
}

const char *cgroup_find(const char *path, struct cgroup_place *c)
{
	char dir[PATH_MAX];
	struct statfs fs;
	struct stat st;
	bool v2;

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		if (snprintf(dir, sizeof(dir), "%s%s", mounts[i], path) >= (int)sizeof(dir) ||
		    stat(dir, &st) || !S_ISDIR(st.st_mode) || statfs(dir, &fs))
			continue;
		v2 = fs.f_type == CGROUP2_SUPER_MAGIC;
		if (!v2 && (fs.f_type != CGROUP_SUPER_MAGIC || !has_file(dir, "blkio.reset_stats")))
			continue;
		if (!level_of(dir, &c->level))
			return "it cannot be told where it is: run this in the machine's own cgroup "
			       "namespace";
		/* Without the io controller, the kernel accounts its I/O to its parent. */
		if (v2 && c->level && !has_io(dir))
			return "its I/O is not told from its parent's: write +io to that one's "
			       "cgroup.subtree_control";
		c->id = st.st_ino;
		return NULL;
	}
	return "no such cgroup of the io controller on this machine, below /sys/fs/cgroup";
}

/*
 * The handle that name_to_handle_at() gives for a cgroup: see kernfs_encode_fh() in
 * fs/kernfs/mount.c.
 */
union handle {
	struct file_handle h;
	char room[sizeof(struct file_handle) + sizeof(uint64_t)];
};

/*
 * Whether the path is at or below the mount point, and still exists. A directory that is not
 * visible there has another path, or "(unreachable)" in front of it.
 */
static bool is_below(const char *path, const char *mount)
{
	size_t length = strlen(path), end = strlen(GONE), prefix = strlen(mount);

	return !strncmp(path, mount, prefix) && (!path[prefix] || path[prefix] == '/') &&
	       (length < end || strcmp(path + length - end, GONE) != 0);
}

static bool name_in(const char *mount, uint64_t id, char *buf, size_t size)
{
	char self[64], found[PATH_MAX];
	union handle handle = {.h = {.handle_bytes = sizeof(id), .handle_type = HANDLE_KERNFS}};
	int mount_fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
	ssize_t length = -1;

	if (mount_fd < 0)
		return false;
	memcpy(handle.h.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(mount_fd, &handle.h, O_PATH | O_CLOEXEC);
	close(mount_fd);
	if (fd < 0)
		return false;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	length = readlink(self, found, sizeof(found) - 1);
	close(fd);
	if (length < 0)
		return false;
	found[length] = '\0';
	return is_below(found, mount) && !cgroup_path(found, buf, size);
}

char *cgroup_name(uint64_t id, char *buf, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++)
		if (name_in(mounts[i], id, buf, size))
			return buf;
	snprintf(buf, size, NUMBERED "%" PRIu64, id);
	return buf;
}

bool cgroup_in(const char *cgroup, const char *above)
{
	size_t length = strlen(above);

	/* The root includes cgroups with an unknown path. */
	if (!strcmp(above, "/"))
		return cgroup[0] == '/' || !strncmp(cgroup, NUMBERED, strlen(NUMBERED));
	return !strncmp(cgroup, above, length) && (!cgroup[length] || cgroup[length] == '/');
}
