/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cgroups to which I/O belongs: users name them by path, the kernel by id. They are in the unified
 * hierarchy (v2), or in the hierarchy of the blkio controller (v1).
 */
#ifndef NTPROF_CORE_CGROUP_H
#define NTPROF_CORE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct cgroup_place - a cgroup of this machine
 * @id: inode number of its directory
 * @level: how many levels it is below the root
 */
struct cgroup_place {
	uint64_t id;
	uint32_t level;
};

/**
 * cgroup_path() - convert a path to the form of /proc/PID/cgroup, without the mount point
 *
 * Return: NULL, or why the text is not a cgroup.
 */
const char *cgroup_path(const char *text, char *path, size_t size);

/**
 * cgroup_find() - look up a cgroup whose I/O the kernel accounts separately
 * @path: of cgroup_path()
 * @c: filled
 *
 * Return: NULL, or why there is no such cgroup, in words that follow the path in a message.
 */
const char *cgroup_find(const char *path, struct cgroup_place *c);

/**
 * cgroup_name() - the path of the cgroup with the id, or "cgroup ID" if it is gone or not visible
 *
 * Return: @buf.
 */
char *cgroup_name(uint64_t id, char *buf, size_t size);

/** cgroup_in() - whether @cgroup is @above or below it; both have the form of cgroup_path() */
bool cgroup_in(const char *cgroup, const char *above);

#endif /* NTPROF_CORE_CGROUP_H */
