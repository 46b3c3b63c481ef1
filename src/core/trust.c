// SPDX-License-Identifier: GPL-2.0-only
#include "core/trust.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

int trust_parse_id(const char *text, uint32_t *id)
{
	unsigned long n;
	char *end;

	if (!text || text[0] < '0' || text[0] > '9')
		return -EINVAL;
	errno = 0;
	n = strtoul(text, &end, 10);
	if (*end || errno || n >= UINT32_MAX)
		return -EINVAL;
	*id = (uint32_t)n;
	return 0;
}

/* Return: whether sudo started this process, with @uid set. Only root trusts the variable. */
static bool sudo_caller(uid_t *uid)
{
	return !geteuid() && !trust_parse_id(getenv("SUDO_UID"), uid);
}

bool trust_uid(uid_t uid)
{
	uid_t caller;

	return !uid || uid == geteuid() || (sudo_caller(&caller) && uid == caller);
}

bool trust_alone(const struct stat *st)
{
	return trust_uid(st->st_uid) && !(st->st_mode & OTHERS_WRITE);
}

bool trust_planted(const struct stat *folder, const struct stat *st)
{
	/*
	 * In a sticky folder, write permission of the group matters as well: fs.protected_fifos=2.
	 */
	mode_t others = folder->st_mode & S_ISVTX ? OTHERS_WRITE : S_IWOTH;

	return (folder->st_mode & others) && !trust_uid(st->st_uid) && st->st_uid != folder->st_uid;
}

/* Checks a folder and all folders above it. @path: is changed */
static bool folders_alone(char *path, char why[TRUST_WHY_LEN])
{
	for (;;) {
		char *slash = strrchr(path, '/');
		struct stat st;

		if (stat(path, &st)) {
			snprintf(why, TRUST_WHY_LEN, "is in %s: %s", path, strerror(errno));
			return false;
		}
		if (!trust_uid(st.st_uid)) {
			snprintf(why, TRUST_WHY_LEN, "is in %s, which is another user's", path);
			return false;
		}
		if ((st.st_mode & OTHERS_WRITE) && !(st.st_mode & S_ISVTX)) {
			snprintf(why, TRUST_WHY_LEN,
				 "is in %s, which others may write to (chmod go-w)", path);
			return false;
		}
		if (!slash || !path[1])
			return true;
		slash[slash == path] = '\0';
	}
}

/* Checks the owner of the file or link @path, its real folder, and all folders above that. */
static bool place_alone(const char *path, char why[TRUST_WHY_LEN])
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX], real[PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash + 1 - path) : 1,
		 slash ? path : ".");
	if (lstat(path, &st) || !realpath(folder, real)) {
		snprintf(why, TRUST_WHY_LEN, "is not where it was: %s", strerror(errno));
		return false;
	}
	if (!trust_uid(st.st_uid)) {
		snprintf(why, TRUST_WHY_LEN, "is another user's");
		return false;
	}
	return folders_alone(real, why);
}

bool trust_config(int fd, const char *path, char why[TRUST_WHY_LEN])
{
	char real[PATH_MAX];
	struct stat st;

	if (fstat(fd, &st)) {
		snprintf(why, TRUST_WHY_LEN, "cannot be looked at: %s", strerror(errno));
		return false;
	}
	if (!trust_uid(st.st_uid)) {
		snprintf(why, TRUST_WHY_LEN, "is another user's");
		return false;
	}
	/* Devices such as /dev/null may be writable by all. */
	if (!S_ISCHR(st.st_mode) && !trust_alone(&st)) {
		snprintf(why, TRUST_WHY_LEN, "is a file that others may write to (chmod go-w)");
		return false;
	}
	/* A file without a name, such as a shell's here-document, is in no folder. */
	if (!st.st_nlink)
		return true;
	if (!realpath(path, real)) {
		snprintf(why, TRUST_WHY_LEN, "is not where it was: %s", strerror(errno));
		return false;
	}
	return place_alone(path, why) && place_alone(real, why);
}
