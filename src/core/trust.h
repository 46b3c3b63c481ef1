/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds out who owns a file, and who else can change or replace it. So files of other users are not
 * written to by mistake, and cannot choose which commands are run.
 */
#ifndef NTPROF_CORE_TRUST_H
#define NTPROF_CORE_TRUST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Room for a path and some words. */
#define TRUST_WHY_LEN 4352

/**
 * trust_parse_id() - read a user or group id
 *
 * (uid_t)-1 and (gid_t)-1 are no valid ids, credentials(7). Return: 0 with @id set, or -EINVAL, also for NULL.
 */
int trust_parse_id(const char *text, uint32_t *id);

/** trust_uid() - whether @uid is root, this process's user, or the caller of sudo (SUDO_UID) */
bool trust_uid(uid_t uid);

/** trust_alone() - whether only such users may write to the file of @st, and no group */
bool trust_alone(const struct stat *st);

/**
 * trust_planted() - whether another user may have made a file in order that we use it
 * @folder: the folder that it is in
 * @st: the file, or the link itself
 *
 * These are the rules of the kernel's fs.protected_fifos, fs.protected_regular and
 * fs.protected_symlinks, which may be off: others may write to the folder, and the file belongs
 * neither to us (trust_uid()) nor to the owner of the folder.
 */
bool trust_planted(const struct stat *folder, const struct stat *st);

/**
 * trust_config() - whether no other user can change or replace a file
 * @fd: the file
 * @path: where it was opened
 * @why: filled if the result is false, in words that follow the path
 *
 * The file and all folders above it must be ours, and not writable by others. Folders with the
 * sticky bit may be writable, as others cannot replace our files there.
 */
bool trust_config(int fd, const char *path, char why[TRUST_WHY_LEN]);

#endif /* NTPROF_CORE_TRUST_H */
