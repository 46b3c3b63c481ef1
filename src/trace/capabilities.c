// SPDX-License-Identifier: GPL-2.0-only
#include "trace/capabilities.h"

#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

bool capabilities_lack(char *lacks, size_t size)
{
	static const struct {
		unsigned int capability;
		const char *name;
		bool implied; /* by CAP_SYS_ADMIN */
	} needed[] = {
		{CAP_BPF, "CAP_BPF", true},
		{CAP_PERFMON, "CAP_PERFMON", true},
		{CAP_SYS_ADMIN, "CAP_SYS_ADMIN", false},
	};
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
	size_t used = 0;
	bool all;

	lacks[0] = '\0';
	/*
	 * The C library has no function for it. If the kernel does not answer, it will refuse the
	 * programs itself.
	 */
	if (syscall(SYS_capget, &header, data))
		return false;
	all = data[CAP_TO_INDEX(CAP_SYS_ADMIN)].effective & CAP_TO_MASK(CAP_SYS_ADMIN);
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		const unsigned int c = needed[i].capability;

		if ((all && needed[i].implied) ||
		    (data[CAP_TO_INDEX(c)].effective & CAP_TO_MASK(c)))
			continue;
		if (used < size)
			used += (size_t)snprintf(lacks + used, size - used, "%s%s",
						 used ? ", " : "", needed[i].name);
	}
	return used != 0;
}
