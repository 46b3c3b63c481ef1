// SPDX-License-Identifier: GPL-2.0-only
#include "trace/kernel.h"

#include <stdio.h>
#include <sys/utsname.h>

#define LOCAL_MAJOR 6
#define LOCAL_MINOR 1

/* The running kernel's version; false if it tells none. */
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

bool kernel_ends_locally(void)
{
	unsigned int major, minor;

	return version(&major, &minor) && !older_than(major, minor, LOCAL_MAJOR, LOCAL_MINOR);
}
