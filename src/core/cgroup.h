/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cgroups that I/O is of: by their paths, as people name them, and by their ids, as the kernel does. In the unified
 * hierarchy (v2), or in that of the blkio controller (v1).
 */
#ifndef NTPROF_CORE_CGROUP_H
#define NTPROF_CORE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct cgroup_place - a cgroup of this machine
 * @id: number of its directory
 * @level: how far it is below the root
 */
struct cgroup_place {
	uint64_t id;
	uint32_t level;
};

/** cgroup_path() - a path as /proc/PID/cgroup has it: without where the file system is mounted; Return: NULL, or why it is none */
const char *cgroup_path(const char *text, char *path, size_t size);

/**
 * cgroup_find() - look one up whose I/O can be told from that of others
 * @path: of cgroup_path()
 * @c: filled
 *
 * Return: NULL, or why it is none, in words that follow it.
 */
const char *cgroup_find(const char *path, struct cgroup_place *c);

/** cgroup_name() - the path of the cgroup that has the id; "cgroup ID" where it is gone, or not to be seen; Return: @buf */
char *cgroup_name(uint64_t id, char *buf, size_t size);

/** cgroup_in() - whether a cgroup is another one, or below it; both as cgroup_path() has them */
bool cgroup_in(const char *cgroup, const char *above);

#endif /* NTPROF_CORE_CGROUP_H */
