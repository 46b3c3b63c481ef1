/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whose a file is, and who else may change it or put another one in its place: what is another user's is not written to
 * as if it were ours, and does not say what is to be run.
 */
#ifndef NTPROF_CORE_TRUST_H
#define NTPROF_CORE_TRUST_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* What a message about a path has room for. */
#define TRUST_WHY_LEN 4352

/** trust_uid() - whether a file of @uid is ours: root's, that of who runs this, or of who called sudo (SUDO_UID) */
bool trust_uid(uid_t uid);

/** trust_alone() - whether none but root, us and who called sudo may write to what @st is of: not by its group, either */
bool trust_alone(const struct stat *st);

/**
 * trust_planted() - whether another user may have put a file where we are to find it
 * @folder: of the folder that it is in, @st: of the file itself, also of a link
 *
 * As fs.protected_fifos, fs.protected_regular and fs.protected_symlinks of the kernel have it, which may be off: the folder
 * is one that others may write to, and the file is neither ours nor the folder's owner's.
 */
bool trust_planted(const struct stat *folder, const struct stat *st);

/**
 * trust_config() - whether nobody else can say what is in a file
 * @fd: the file; @path: as it was opened
 * @why: filled where somebody can, in words that follow the path
 *
 * Neither it nor a folder above it may be another user's or be written to by others; a folder with a sticky bit may, as
 * what is ours stays there.
 */
bool trust_config(int fd, const char *path, char why[TRUST_WHY_LEN]);

#endif /* NTPROF_CORE_TRUST_H */
