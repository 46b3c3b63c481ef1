// SPDX-License-Identifier: GPL-2.0-only
#include "core/device.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SUBSYSTEM "nvme-subsys"

/* Reads the first line of a sysfs attribute. Return: whether @dir has the attribute. */
static bool attribute(const char *dir, const char *name, char *value, size_t size)
{
	char path[PATH_MAX + 64];
	bool there;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	if (!f)
		return false;
	there = fgets(value, (int)size, f);
	fclose(f);
	if (there)
		value[strcspn(value, "\n")] = '\0';
	return there;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * Finds the sysfs directory of a device: by device number if @path is a block device node,
 * otherwise by name.
 * @dir: PATH_MAX bytes. Return: whether the directory exists.
 */
static bool find_dir(const char *sysfs, const char *path, char *dir)
{
	char link[PATH_MAX];
	struct stat st;

	if (!stat(path, &st) && S_ISBLK(st.st_mode))
		snprintf(link, sizeof(link), "%s/dev/block/%u:%u", sysfs, major(st.st_rdev),
			 minor(st.st_rdev));
	else
		snprintf(link, sizeof(link), "%s/class/block/%s", sysfs, last_part(path));
	return last_part(path)[0] && realpath(link, dir);
}

static bool is_tcp(const char *controller)
{
	char transport[16];

	return attribute(controller, "transport", transport, sizeof(transport)) &&
	       !strcmp(transport, "tcp");
}

/* Whether any controller of the subsystem uses TCP. The directory has a link to each controller. */
static bool any_is_tcp(const char *subsystem)
{
	char path[PATH_MAX + NAME_MAX + 2];
	struct dirent *e;
	bool any = false;
	DIR *d = opendir(subsystem);

	while (d && !any && (e = readdir(d))) {
		if (strncmp(e->d_name, "nvme", 4) || !isdigit((unsigned char)e->d_name[4]))
			continue;
		snprintf(path, sizeof(path), "%s/%s", subsystem, e->d_name);
		any = is_tcp(path);
	}
	if (d)
		closedir(d);
	return any;
}

const char *device_find(const char *sysfs, const char *path, struct device *d)
{
	char dir[PATH_MAX], link[PATH_MAX + 16], owner[PATH_MAX], value[32], *end;
	const char *name;

	if (!find_dir(sysfs, path, dir))
		return "no such block device on this machine";
	if (attribute(dir, "partition", value, sizeof(value)))
		return "a partition: take the whole device, and --lba for a part of it";
	snprintf(link, sizeof(link), "%s/device", dir);
	if (!attribute(dir, "nsid", value, sizeof(value)) || !realpath(link, owner) ||
	    !attribute(owner, "subsysnqn", d->subsysnqn, sizeof(d->subsysnqn)))
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
	if (d->head ? !any_is_tcp(owner) : !is_tcp(owner))
		return "not connected by NVMe/TCP";
	return NULL;
}

/*
 * Whether an entry of a controller's directory is one of its namespaces: "nvme0n1", or the path
 * "nvme0c1n1".
 */
static bool is_namespace(const char *name, unsigned int *subsystem, unsigned int *head)
{
	unsigned int path;
	int end = 0;

	if (sscanf(name, "nvme%un%u%n", subsystem, head, &end) == 2 && end && !name[end])
		return true;
	end = 0;
	return sscanf(name, "nvme%uc%un%u%n", subsystem, &path, head, &end) == 3 && end &&
	       !name[end];
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
		if (!is_namespace(e->d_name, &subsystem, &head))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		found = attribute(path, "nsid", value, sizeof(value)) &&
			strtoul(value, NULL, 10) == d->nsid;
	}
	if (entries)
		closedir(entries);
	if (found)
		snprintf(d->name, sizeof(d->name), "nvme%un%u", subsystem, head);
	return found;
}

bool device_name_of_target(const char *configfs, struct device_name *d)
{
	char dir[PATH_MAX];

	/* An NQN that would lead to another directory cannot be the name of a directory there. */
	if (!d->subsysnqn[0] || strchr(d->subsysnqn, '/') || d->subsysnqn[0] == '.')
		return false;
	snprintf(dir, sizeof(dir), "%s/nvmet/subsystems/%s/namespaces/%u", configfs, d->subsysnqn,
		 d->nsid);
	return attribute(dir, "device_path", d->name, sizeof(d->name)) && d->name[0];
}
