// SPDX-License-Identifier: GPL-2.0-only
#include "core/device.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/hash.h"
#include "core/names.h"

#define SUBSYSTEM "nvme-subsys"

bool device_attribute(const char *dir, const char *name, char *value, size_t size)
{
	char path[PATH_MAX + 64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	/* Without stdio, which would ask for the file's status and take a buffer. */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, value, size - 1);
	close(fd);
	if (n <= 0)
		return false;
	value[n] = '\0';
	value[strcspn(value, "\n")] = '\0';
	/* What the kernel prints of a controller that is part of no subsystem yet. */
	if (strcmp(value, "(efault)") != 0)
		return true;
	value[0] = '\0';
	return false;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Finds the sysfs directory of the block device node @path.
 * @dir: PATH_MAX bytes. Return: whether the directory exists.
 */
static bool find_dir_of_node(const char *sysfs, const char *path, char *dir)
{
	char link[PATH_MAX];
	struct stat st;

	if (stat(path, &st) || !S_ISBLK(st.st_mode))
		return false;
	snprintf(link, sizeof(link), "%s/dev/block/%u:%u", sysfs, major(st.st_rdev),
		 minor(st.st_rdev));
	return realpath(link, dir);
}

/* As find_dir_of_node(), or by name, if @path is no block device node. */
static bool find_dir(const char *sysfs, const char *path, char *dir)
{
	char link[PATH_MAX];

	if (!last_part(path)[0])
		return false;
	if (find_dir_of_node(sysfs, path, dir))
		return true;
	snprintf(link, sizeof(link), "%s/class/block/%s", sysfs, last_part(path));
	return realpath(link, dir);
}

unsigned int transport_of_controller(const char *dir)
{
	char name[32];
	unsigned int i;

	if (!device_attribute(dir, "transport", name, sizeof(name)))
		return 0;
	i = transport_named(name, strlen(name));
	return 1u << (i < NT_TRANSPORTS_NR ? i : (unsigned int)NT_TRANSPORT_OTHER);
}

/* Those of all controllers of a subsystem. The directory has a link to each controller. */
static unsigned int transports_of(const char *subsystem)
{
	char path[PATH_MAX + NAME_MAX + 2];
	unsigned int transports = 0;
	struct dirent *e;
	DIR *d = opendir(subsystem);

	while (d && (e = readdir(d))) {
		if (strncmp(e->d_name, "nvme", 4) || !isdigit((unsigned char)e->d_name[4]))
			continue;
		snprintf(path, sizeof(path), "%s/%s", subsystem, e->d_name);
		transports |= transport_of_controller(path);
	}
	if (d)
		closedir(d);
	return transports;
}

const char *device_find(const char *sysfs, const char *path, struct device *d)
{
	char dir[PATH_MAX], link[PATH_MAX + 16], owner[PATH_MAX], value[32], *end;
	const char *name;

	if (!find_dir(sysfs, path, dir))
		return "no such block device on this machine";
	if (device_attribute(dir, "partition", value, sizeof(value)))
		return "a partition: take the whole device, and --lba for a part of it";
	snprintf(link, sizeof(link), "%s/device", dir);
	if (!device_attribute(dir, "nsid", value, sizeof(value)) || !realpath(link, owner) ||
	    !device_attribute(owner, "subsysnqn", d->subsysnqn, sizeof(d->subsysnqn)))
		return "not an NVMe namespace";
	d->nsid = (uint32_t)strtoul(value, NULL, 10);
	name = last_part(owner);
	d->head = !strncmp(name, SUBSYSTEM, strlen(SUBSYSTEM));
	d->instance = 0;
	if (!d->head) {
		d->instance = (uint32_t)strtoul(name + strcspn(name, "0123456789"), &end, 10);
		if (strncmp(name, "nvme", 4) != 0 || *end)
			return "not an NVMe namespace";
	}
	d->transports = d->head ? transports_of(owner) : transport_of_controller(owner);
	return d->transports ? NULL : "its controller has no transport";
}

bool device_is_namespace(const char *name, unsigned int *subsystem, unsigned int *head)
{
	unsigned int path;
	int end = 0;

	if (sscanf(name, "nvme%un%u%n", subsystem, head, &end) == 2 && end && !name[end])
		return true;
	end = 0;
	return sscanf(name, "nvme%uc%un%u%n", subsystem, &path, head, &end) == 3 && end &&
	       !name[end];
}

/* The logical block of the disk in a directory of sysfs; 0 if it has none. */
static uint32_t block_bytes_of(const char *dir)
{
	char value[32];

	return device_attribute(dir, "queue/logical_block_size", value, sizeof(value))
		       ? (uint32_t)strtoul(value, NULL, 10)
		       : 0;
}

bool device_name_of_host(const char *sysfs, struct device_name *d)
{
	char dir[PATH_MAX], path[PATH_MAX + NAME_MAX + 2], value[32];
	unsigned int subsystem, head;
	bool found = false;
	struct dirent *e;
	DIR *entries;

	snprintf(dir, sizeof(dir), "%s/class/nvme/nvme%u", sysfs, d->instance);
	entries = opendir(dir);
	while (entries && !found && (e = readdir(entries))) {
		if (!device_is_namespace(e->d_name, &subsystem, &head))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		found = device_attribute(path, "nsid", value, sizeof(value)) &&
			strtoul(value, NULL, 10) == d->nsid;
	}
	if (entries)
		closedir(entries);
	if (found) {
		snprintf(d->name, sizeof(d->name), "nvme%un%u", subsystem, head);
		d->block_bytes = block_bytes_of(path);
	}
	return found;
}

/* The disk of a directory of sysfs, which is that of a disk or of a partition. */
static void disk_of(char *dir, char disk[NT_DISK_NAME_LEN])
{
	char value[16];

	if (device_attribute(dir, "partition", value, sizeof(value)))
		*strrchr(dir, '/') = '\0';
	snprintf(disk, NT_DISK_NAME_LEN, "%.*s", NT_DISK_NAME_LEN - 1, last_part(dir));
	/* As sysfs has a slash of the kernel's name. */
	for (char *c = disk; (c = strchr(c, '!'));)
		*c = '/';
}

bool device_name_of_target(const char *configfs, struct device_name *d)
{
	char dir[PATH_MAX];

	/* An NQN with a slash, or such as "..", could lead out of the directory of subsystems. */
	if (!d->subsysnqn[0] || strchr(d->subsysnqn, '/') || d->subsysnqn[0] == '.')
		return false;
	snprintf(dir, sizeof(dir), "%s/nvmet/subsystems/%s/namespaces/%u", configfs, d->subsysnqn,
		 d->nsid);
	if (!device_attribute(dir, "device_path", d->name, sizeof(d->name))) {
		/* A passthru target: its namespaces are those of a controller. */
		snprintf(dir, sizeof(dir), "%s/nvmet/subsystems/%s/passthru", configfs,
			 d->subsysnqn);
		if (!device_attribute(dir, "device_path", d->name, sizeof(d->name)))
			return false;
	}
	if (!d->name[0])
		return false;
	/*
	 * Of a block device; nvmet chooses the block of a file, which may be called as a disk is. A
	 * file may be on a file server that does not answer, so only what is in /dev is looked at.
	 */
	d->block_bytes = 0;
	d->disk[0] = '\0';
	if (!strncmp(d->name, "/dev/", 5) && find_dir_of_node("/sys", d->name, dir)) {
		d->block_bytes = block_bytes_of(dir);
		disk_of(dir, d->disk);
	}
	return true;
}

/*
 * The mount points of the hierarchies that account I/O, in the order in which they are tried. The
 * last one is a prefix of the others.
 */
static const char *const mounts[] = {"/sys/fs/cgroup/blkio", "/sys/fs/cgroup/unified",
				     "/sys/fs/cgroup"};
/*
 * Inode number of the root directory of each hierarchy. The root of a cgroup namespace may have
 * another one, because it is somewhere below.
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
			return "its level is unknown: run this in the machine's own cgroup namespace";
		/* Without the io controller, the kernel accounts a cgroup's I/O to its parent. */
		if (v2 && c->level && !has_io(dir))
			return "its I/O counts as its parent's: write +io to the parent's "
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

/* Digits of the id of a container, and how many of them are shown. */
#define CONTAINER_ID_LEN 64
#define CONTAINER_ID_SHOWN 12
/* Digits of the first part of the UID of a pod. */
#define POD_ID_SHOWN 8

#define HEX "0123456789abcdef"

/* Return: the id in a part of a path, of @len bytes; NULL if it names no container */
static const char *container_id(const char *part, size_t len)
{
	static const char *const before[] = {"crio-", "cri-containerd-", "docker-", "libpod-", ""};
	static const char scope[] = ".scope";

	for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
		size_t skip = strlen(before[i]);
		const char *id = part + skip;

		if (strncmp(part, before[i], skip) != 0 || strspn(id, HEX) != CONTAINER_ID_LEN)
			continue;
		if (len == skip + CONTAINER_ID_LEN ||
		    (len == skip + CONTAINER_ID_LEN + strlen(scope) &&
		     !strncmp(id + CONTAINER_ID_LEN, scope, strlen(scope))))
			return id;
	}
	return NULL;
}

void cgroup_container(const char *path, char name[CONTAINER_LEN])
{
	size_t len;

	name[0] = '\0';
	/* The innermost one counts. A container is inside of its pod. */
	for (const char *part = path; *part; part += len) {
		const char *pod, *id;

		part += *part == '/';
		len = strcspn(part, "/");
		id = container_id(part, len);
		if (id) {
			snprintf(name, CONTAINER_LEN, "%.*s", CONTAINER_ID_SHOWN, id);
			continue;
		}
		/* "pod" begins the part, or stands behind "kubepods-burstable-". */
		pod = strstr(part, "pod");
		while (pod && pod < part + len &&
		       ((pod > part && pod[-1] != '-') || strspn(pod + 3, HEX) != POD_ID_SHOWN))
			pod = strstr(pod + 1, "pod");
		if (pod && pod < part + len)
			snprintf(name, CONTAINER_LEN, "%.*s", 3 + POD_ID_SHOWN, pod);
	}
}

/* @from: the key, as programs send it */
struct known_origin {
	struct nt_from from;
	struct origin o;
	UT_hash_handle hh;
};

struct origins {
	struct known_origin *table; /* hash table */
	struct known_origin *of[ORIGIN_OTHERS];
	unsigned int nr; /* the first number is 1 */
	bool passing;
};

struct origins *origins_new(bool passing)
{
	struct origins *o = calloc(1, sizeof(*o));

	if (o)
		o->passing = passing;
	return o;
}

void origins_free(struct origins *o)
{
	if (o)
		hash_free(o->table);
	free(o);
}

/* Looks up the cgroup's path now: it mostly still exists, because its command has just ended. */
static struct known_origin *add(struct origins *o, const struct nt_from *from, unsigned int hash)
{
	struct known_origin *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->from = *from;
	k->o.number = (uint16_t)(o->nr + 1);
	k->o.cpu = from->cpu < ORIGIN_NO_CPU ? (uint16_t)from->cpu : ORIGIN_NO_CPU;
	if (from->cgroup)
		cgroup_name(from->cgroup, k->o.cgroup, sizeof(k->o.cgroup));
	k->o.pid = from->task.pid & ~NT_TASK_KERNEL;
	snprintf(k->o.comm, sizeof(k->o.comm),
		 from->task.pid & NT_TASK_KERNEL && from->task.comm[0] ? "[%.*s]" : "%.*s",
		 (int)sizeof(from->task.comm), from->task.comm);
	HASH_ADD_BYHASHVALUE(hh, o->table, from, sizeof(k->from), hash, k);
	if (!hash_kept(k))
		return NULL;
	o->of[++o->nr] = k;
	return k;
}

static struct known_origin *find_or_add(struct origins *o, const struct nt_from *from, bool adds)
{
	unsigned int hash = hash_pair(from->cgroup, (uint64_t)from->task.pid << 32 | from->cpu);
	struct known_origin *k;
	uint64_t comm[2];

	/* A process can choose as many names as it likes. */
	memcpy(comm, from->task.comm, sizeof(comm));
	hash ^= hash_pair(comm[0], comm[1]);
	HASH_FIND_BYHASHVALUE(hh, o->table, from, sizeof(*from), hash, k);
	if (!k && adds && o->nr + 1 < ORIGIN_OTHERS)
		k = add(o, from, hash);
	return k;
}

unsigned int origins_number(struct origins *o, const struct nt_from *from)
{
	struct known_origin *k = find_or_add(o, from, o->nr < ORIGINS_OF_PIDS);
	struct nt_from rough = *from;

	if (!k && o->passing) {
		hash_free(o->table);
		o->nr = 0;
		k = find_or_add(o, from, true);
	}
	rough.task.pid &= NT_TASK_KERNEL;
	if (!k)
		k = find_or_add(o, &rough, o->nr < ORIGINS_OF_COMMS);
	rough.task = (struct nt_task){.pid = 0};
	if (!k)
		k = find_or_add(o, &rough, o->nr < ORIGINS_OF_CPUS);
	rough.cpu = NT_CPU_NONE;
	if (!k)
		k = find_or_add(o, &rough, true);
	return k ? k->o.number : ORIGIN_OTHERS;
}

void origins_get(const struct origins *o, unsigned int number, struct origin *origin)
{
	if (number && number <= o->nr) {
		*origin = o->of[number]->o;
		return;
	}
	*origin = (struct origin){.number = (uint16_t)number, .cpu = ORIGIN_NO_CPU};
	snprintf(origin->cgroup, sizeof(origin->cgroup), "(others)");
}
