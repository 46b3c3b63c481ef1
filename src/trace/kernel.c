// SPDX-License-Identifier: GPL-2.0-only
#include "trace/kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define LOCAL_MAJOR 6
#define LOCAL_MINOR 1

/* Reads the running kernel's version. Return: false if it is unknown */
static bool version(unsigned int *major, unsigned int *minor)
{
	struct utsname u;

	return !uname(&u) && sscanf(u.release, "%u.%u", major, minor) == 2;
}

static bool older_than(unsigned int major, unsigned int minor, unsigned int than_major,
		       unsigned int than_minor)
{
	return major < than_major || (major == than_major && minor < than_minor);
}

bool kernel_too_old(void)
{
	unsigned int major, minor;

	return version(&major, &minor) && older_than(major, minor, KERNEL_MAJOR, KERNEL_MINOR);
}

bool kernel_has_builtin(const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	if (access(path, F_OK))
		return false;
	/* Only what was loaded has a state. */
	snprintf(path, sizeof(path), "/sys/module/%s/initstate", name);
	return access(path, F_OK) != 0;
}

/*
 * The inode number of a file that is there as long as the module is loaded: the kernel counts those
 * of sysfs up (kernfs_new_node() in fs/kernfs/dir.c).
 */
uint64_t kernel_module_id(const char *name)
{
	char path[96], state[16] = "";
	struct stat st;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	if (kernel_has_builtin(name))
		return stat(path, &st) ? 0 : st.st_ino;
	snprintf(path, sizeof(path), "/sys/module/%s/initstate", name);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fstat(fileno(f), &st) || !fgets(state, sizeof(state), f))
		state[0] = '\0';
	fclose(f);
	return strncmp(state, "live", 4) ? 0 : st.st_ino;
}

bool kernel_has_module(const char *name)
{
	return kernel_module_id(name) != 0;
}

bool kernel_ends_locally(void)
{
	unsigned int major, minor;

	return version(&major, &minor) && !older_than(major, minor, LOCAL_MAJOR, LOCAL_MINOR);
}

uint64_t kernel_address(const char *function)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	uint64_t address = 0;
	char *line = NULL;
	size_t size = 0;

	/* "ADDRESS TYPE NAME", followed by a tab and the name of the module. */
	while (f && !address && getline(&line, &size, f) > 0) {
		char *end, *name;
		uint64_t at = strtoull(line, &end, 16);

		name = *end == ' ' ? strchr(end + 1, ' ') : NULL;
		if (!name)
			continue;
		name[1 + strcspn(name + 1, "\t\n")] = '\0';
		if (!strcmp(name + 1, function))
			address = at;
	}
	free(line);
	if (f)
		fclose(f);
	return address;
}

/*
 * Linux 6.4 and later count all memory of a map. This includes what leads to the elements of a
 * hash, which is most of a small one. Earlier kernels count what the elements take.
 */
FILE *kernel_traceable(void)
{
	FILE *f = fopen("/sys/kernel/tracing/available_filter_functions", "re");

	if (!f)
		f = fopen("/sys/kernel/debug/tracing/available_filter_functions", "re");
	return f;
}

size_t memlock_of(int fd)
{
	char path[64], line[128];
	uint64_t bytes = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fd >= 0 ? fopen(path, "re") : NULL;
	if (!f)
		return 0;
	while (!bytes && fgets(line, sizeof(line), f))
		sscanf(line, "memlock: %" SCNu64, &bytes);
	fclose(f);
	return (size_t)bytes;
}
