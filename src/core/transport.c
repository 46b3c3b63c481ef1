// SPDX-License-Identifier: GPL-2.0-only
#include "core/transport.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "core/device.h"
#include "core/names.h"

unsigned int transports_there(const char *sysfs)
{
	char path[PATH_MAX];
	unsigned int there = 0;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "%s/class/nvme", sysfs);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		if (snprintf(path, sizeof(path), "%s/class/nvme/%s", sysfs, e->d_name) <
		    (int)sizeof(path))
			there |= transport_of_controller(path);
	}
	if (d)
		closedir(d);
	return there;
}

unsigned int transports_default(const char *sysfs, bool tcp)
{
	unsigned int others = tcp ? 0 : transports_there(sysfs) & NT_NOT_OF_TCP;

	return others ?: NT_OF_TCP;
}

unsigned int transports_parse(const char *text)
{
	unsigned int transports = 0;

	for (;;) {
		size_t len = strcspn(text, ",");
		unsigned int i = transport_named(text, len);

		if (i == NT_TRANSPORTS_NR)
			return 0;
		transports |= 1u << i;
		if (!text[len])
			return transports;
		text += len + 1;
	}
}

const char *transports_text(unsigned int transports, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < NT_TRANSPORTS_NR && used < size; i++)
		if (transports & 1u << i)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? "," : "",
						 transport_name(i));
	return buf;
}
