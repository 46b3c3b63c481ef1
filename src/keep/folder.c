// SPDX-License-Identifier: GPL-2.0-only
#include "keep/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/names.h"

#define NS_PER_SECOND 1000000000
/* So many digits at least, so that names are sorted as numbers are for long. */
#define NUMBER_DIGITS "06"

/* Return: whether @name is one of this side's, of number @number. */
static bool is_ours(const struct folder *f, const char *name, uint64_t *number)
{
	const char *side = side_name(f->side);
	size_t n = strlen(side), len = strlen(name);
	char *end;

	if (strncmp(name, side, n) != 0 || name[n] != '-' || len < 4 ||
	    strcmp(name + len - 4, ".ntp") != 0 || name[n + 1] < '0' || name[n + 1] > '9')
		return false;
	errno = 0;
	*number = strtoull(name + n + 1, &end, 10);
	return !errno && *end == '-';
}

/* One after the other; @oldest: filled with the name of the lowest number, "" without any. */
static int look(struct folder *f, char oldest[NAME_MAX + 1], uint64_t *oldest_bytes)
{
	DIR *d = opendir(f->path);
	uint64_t number, lowest = UINT64_MAX;
	const struct dirent *e;
	struct stat st;

	if (!d)
		return -errno;
	f->nr = 0;
	f->used = 0;
	oldest[0] = '\0';
	while (f->nr < FOLDER_FILES_MAX && (e = readdir(d))) {
		if (!is_ours(f, e->d_name, &number) ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		f->nr++;
		f->used += (uint64_t)st.st_size;
		if (f->last < number)
			f->last = number;
		if (number >= lowest)
			continue;
		lowest = number;
		*oldest_bytes = (uint64_t)st.st_size;
		snprintf(oldest, NAME_MAX + 1, "%s", e->d_name);
	}
	closedir(d);
	return 0;
}

int folder_look(struct folder *f)
{
	char oldest[NAME_MAX + 1];
	uint64_t bytes;

	return look(f, oldest, &bytes);
}

static int remove_one(struct folder *f, const char *name)
{
	char path[PATH_MAX + NAME_MAX + 2];

	snprintf(path, sizeof(path), "%s/%s", f->path, name);
	/* Somebody else may have taken it away. */
	if (unlink(path) && errno != ENOENT)
		return -errno;
	f->removed++;
	return 0;
}

int folder_make_room(struct folder *f, uint64_t bytes)
{
	char oldest[NAME_MAX + 1];
	uint64_t oldest_bytes = 0;
	int err;

	if (bytes > f->bytes)
		return -EFBIG;
	/* As it was known to be: others only take away. */
	if (f->nr < f->files && f->used + bytes <= f->bytes)
		return 0;
	for (;;) {
		err = look(f, oldest, &oldest_bytes);
		if (err || (f->nr < f->files && f->used + bytes <= f->bytes))
			return err;
		if (!oldest[0])
			return -EFBIG;
		err = remove_one(f, oldest);
		if (err)
			return err;
	}
}

int folder_next(struct folder *f, int64_t realtime_ns, char *path, size_t size)
{
	time_t seconds = (time_t)(realtime_ns / NS_PER_SECOND);
	char when[32];
	struct tm tm;
	int n;

	if (!gmtime_r(&seconds, &tm) || !strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm))
		snprintf(when, sizeof(when), "0");
	n = snprintf(path, size, "%s/%s-%" NUMBER_DIGITS PRIu64 "-%s.ntp", f->path,
		     side_name(f->side), f->last + 1, when);
	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	f->last++;
	return 0;
}
