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

/* A disk's name, or the path of what a target serves; the end of a longer one is cut. */
#define DEVICE_NAME_LEN 128
/* Of whichever controller of the subsystem. */
#define DEVICE_ANY_INSTANCE (~0u)

/**
 * struct device_name - what the machine calls a namespace whose commands it sees
 * @subsysnqn, @nsid: which namespace
 * @instance: by which controller, N of nvmeN, or DEVICE_ANY_INSTANCE
 * @name: "nvme0n1" on a host, which is the head of all paths where it has several; "/dev/sda" on a target
 */
struct device_name {
	char subsysnqn[NT_NQN_LEN];
	uint32_t instance;
	uint32_t nsid;
	char name[DEVICE_NAME_LEN];
};

/**
 * device_name_of_host() - the disk of a namespace of a controller
 * @sysfs: as device_find()
 * @d: all but @name is filled in; @name is, where there is such a disk
 *
 * Return: whether there is.
 */
bool device_name_of_host(const char *sysfs, struct device_name *d);

/** device_name_of_target() - the same of what is behind a namespace that is served; @configfs: "/sys/kernel/config" */
bool device_name_of_target(const char *configfs, struct device_name *d);

#endif /* NTPROF_CORE_DEVICE_H */
