// SPDX-License-Identifier: GPL-2.0-only
#include "trace/kernel.h"

#include <stdio.h>
#include <string.h>
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

bool kernel_has_module(const char *name)
{
	char path[96], state[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/module/%s", name);
	if (access(path, F_OK))
		return false;
	/* A driver that is built into the kernel has no initstate. */
	snprintf(path, sizeof(path), "/sys/module/%s/initstate", name);
	f = fopen(path, "re");
	if (!f)
		return true;
	if (!fgets(state, sizeof(state), f))
		state[0] = '\0';
	fclose(f);
	return !strncmp(state, "live", 4);
}

bool kernel_ends_locally(void)
{
	unsigned int major, minor;

	return version(&major, &minor) && !older_than(major, minor, LOCAL_MAJOR, LOCAL_MINOR);
}
