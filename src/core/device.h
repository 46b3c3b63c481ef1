/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which namespace a block device of this machine is: what sysfs says of it. With multipath it is a head, whose
 * commands go by any controller of its subsystem; else it is one controller's.
 */
#ifndef NTPROF_CORE_DEVICE_H
#define NTPROF_CORE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"

/**
 * struct device - a namespace, as this machine has it
 * @subsysnqn: of its subsystem
 * @nsid: its id there
 * @head: its commands go by all controllers of the subsystem; else by @instance, N of nvmeN
 */
struct device {
	char subsysnqn[NT_NQN_LEN];
	uint32_t nsid;
	bool head;
	uint32_t instance;
};

/**
 * device_find() - look a device up
 * @sysfs: where it is mounted: "/sys"
 * @path: a block device, such as /dev/nvme0n1 or a link to it; or its name
 * @d: filled
 *
 * Return: NULL, or why it is none, in words that follow it.
 */
const char *device_find(const char *sysfs, const char *path, struct device *d);

#endif /* NTPROF_CORE_DEVICE_H */
