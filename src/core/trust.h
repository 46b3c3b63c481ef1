/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds out who owns a file, and who else can change or replace it. So files of other users are not
 * written to by mistake, and cannot choose which commands are run.
 */
#ifndef NTPROF_CORE_TRUST_H
#define NTPROF_CORE_TRUST_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Room for a path and some words. */
#define TRUST_WHY_LEN 4352

/**
 * trust_parse_id() - read a user or group id
 *
 * (uid_t)-1 and (gid_t)-1 are no valid ids, credentials(7). Return: 0 with @id set, or -EINVAL,
 * also for NULL.
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

/** enum trust_rule - what may not lie on the way to a file */
enum trust_rule {
	/* A folder or a link that another user may have made in order that we use it:
	   trust_planted(). */
	TRUST_NOT_PLANTED,
	/* A folder or a link that another user can change, replace or remove. */
	TRUST_OURS,
};

/**
 * struct trust_walk - the way to a file
 * @fd: the folder of the file, opened with O_PATH; -1 after an error
 * @rest: the name of the file in @fd; "." if the path ends in a slash
 * @why: after -EPERM by TRUST_OURS, in words that follow the path; else ""
 * @rule, @follow, @links: how it is walked, and how many links were followed
 */
struct trust_walk {
	int fd;
	char rest[PATH_MAX];
	char why[TRUST_WHY_LEN];
	enum trust_rule rule;
	bool follow;
	unsigned int links;
};

/**
 * trust_walk() - walk a path step by step, links included, and check each step
 * @w: filled; the caller closes @fd if this succeeds
 * @path: to walk
 * @rule: which parts of the way are refused. With TRUST_OURS folders with the sticky bit may
 *        be writable by others, as these cannot replace our files there; and a relative path is
 *        walked from / on
 * @follow: a link to the file is part of the way. With TRUST_NOT_PLANTED a link in /proc is not:
 *          such links lead to open files, and their text is not a path
 *
 * The file itself is not checked, and need not exist unless @follow is set.
 *
 * Return: 0, -EPERM if a part of the way is refused, or another negative errno.
 */
int trust_walk(struct trust_walk *w, const char *path, enum trust_rule rule, bool follow);

/**
 * trust_in_proc() - whether a folder is one of /proc, whose links lead to open files: they can be
 * opened, but their text is not a path
 */
bool trust_in_proc(int folder_fd);

/**
 * trust_config() - whether no other user can change or replace a file
 * @fd: the file
 * @path: where it was opened
 * @why: filled if the result is false, in words that follow the path
 *
 * The file is ours and not writable by others, and so is the way to it: trust_walk(), TRUST_OURS.
 */
bool trust_config(int fd, const char *path, char why[TRUST_WHY_LEN]);

#endif /* NTPROF_CORE_TRUST_H */
