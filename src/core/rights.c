// SPDX-License-Identifier: GPL-2.0-only
#include "core/rights.h"

#include <errno.h>
#include <linux/capability.h>
#if __has_include(<linux/landlock.h>)
#include <linux/landlock.h>
#endif
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/array.h"

/* Names of the capabilities that the program may use; others are printed as numbers. */
static const struct {
	unsigned int capability;
	const char *name;
} names[] = {
	{CAP_DAC_OVERRIDE, "CAP_DAC_OVERRIDE"},
	{CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"},
	{CAP_KILL, "CAP_KILL"},
	{CAP_SYS_ADMIN, "CAP_SYS_ADMIN"},
	{CAP_SYSLOG, "CAP_SYSLOG"},
	{CAP_PERFMON, "CAP_PERFMON"},
	{CAP_BPF, "CAP_BPF"},
};

void rights_hide(void)
{
	if (!geteuid() || rights_held())
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* The C library has no function for these system calls, nor for capget(2) and capset(2). */
int rights_isolate(void)
{
#ifdef LANDLOCK_ACCESS_FS_MAKE_BLOCK
	/* The kernel takes no ruleset that refuses nothing. We make no block devices anyway. */
	const struct landlock_ruleset_attr attr = {.handled_access_fs =
							   LANDLOCK_ACCESS_FS_MAKE_BLOCK};
	int fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0), err;

	if (fd < 0)
		return -errno;
	err = syscall(SYS_landlock_restrict_self, fd, 0) ? -errno : 0;
	close(fd);
	return err;
#else
	return -ENOSYS;
#endif
}

static int get(struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3])
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return (int)syscall(SYS_capget, &header, data);
}

uint64_t rights_held(void)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return get(data) ? 0 : data[0].permitted | (uint64_t)data[1].permitted << 32;
}

uint64_t rights_effective(void)
{
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return get(data) ? RIGHTS_ALL : data[0].effective | (uint64_t)data[1].effective << 32;
}

void rights_bound(uint64_t keep)
{
	/*
	 * The kernel refuses numbers that it does not know, and refuses all of them without
	 * CAP_SETPCAP.
	 */
	for (unsigned int c = 0; c < 64; c++)
		if (!(keep & RIGHT(c)))
			prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
}

int rights_reduce(uint64_t keep)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

	rights_bound(keep);
	keep &= rights_held();
	data[0].permitted = data[0].effective = (uint32_t)keep;
	data[1].permitted = data[1].effective = (uint32_t)(keep >> 32);
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

const char *rights_text(uint64_t rights, char *buf, size_t size)
{
	size_t used = 0;

	snprintf(buf, size, "no capability");
	for (unsigned int c = 0; c < 64 && used < size; c++) {
		const char *name = NULL;
		char number[24];

		if (!(rights & RIGHT(c)))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (names[i].capability == c)
				name = names[i].name;
		snprintf(number, sizeof(number), "capability %u", c);
		used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "",
					 name ?: number);
	}
	return buf;
}
