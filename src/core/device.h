/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the namespace of a block device of this machine in sysfs. With native multipath the device
 * is a multipath head: its commands go through any controller of its subsystem. Otherwise it
 * belongs to one controller.
 */
#ifndef NTPROF_CORE_DEVICE_H
#define NTPROF_CORE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"

/**
 * struct device - a namespace, as this machine sees it
 * @subsysnqn: NQN of its subsystem
 * @nsid: its namespace id
 * @head: its commands go through all controllers of the subsystem; otherwise through @instance, N
 *        of nvmeN
 */
struct device {
	char subsysnqn[NT_NQN_LEN];
	uint32_t nsid;
	bool head;
	uint32_t instance;
};

/**
 * device_find() - look a device up
 * @sysfs: mount point of sysfs: "/sys"
 * @path: a block device, such as /dev/nvme0n1 or a link to it; or its name
 * @d: filled
 *
 * Return: NULL, or why it is not such a device, in words that follow the path in a message.
 */
const char *device_find(const char *sysfs, const char *path, struct device *d);

/*
 * Length of a disk's name, or of the path of a target's backing device. Only the end of a longer
 * one is cut.
 */
#define DEVICE_NAME_LEN 128
/* Any controller of the subsystem. */
#define DEVICE_ANY_INSTANCE (~0u)

/**
 * struct device_name - the machine's name for the device of a namespace
 * @subsysnqn, @nsid: which namespace
 * @instance: which controller, N of nvmeN, or DEVICE_ANY_INSTANCE
 * @name: "nvme0n1" on a host, which is the multipath head if there are several paths; "/dev/sda" on
 *        a target
 */
struct device_name {
	char subsysnqn[NT_NQN_LEN];
	uint32_t instance;
	uint32_t nsid;
	char name[DEVICE_NAME_LEN];
};

/**
 * device_name_of_host() - find the disk of a namespace of a controller
 * @sysfs: as for device_find()
 * @d: all but @name is set by the caller; @name is filled if there is such a disk
 *
 * Return: whether there is such a disk.
 */
bool device_name_of_host(const char *sysfs, struct device_name *d);

/**
 * device_name_of_target() - find the backing device of a namespace that the target exports; as
 * device_name_of_host(), with @configfs "/sys/kernel/config"
 */
bool device_name_of_target(const char *configfs, struct device_name *d);

#endif /* NTPROF_CORE_DEVICE_H */
