/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a flight recorder: SIDE-NUMBER-TIME.ntp, the numbers of which say which is older, whatever the clock was.
 * Of those of a side that are ours there are a bounded number, of bounded size together: the oldest goes first. Files of
 * other users are not ours, whatever they are called.
 */
#ifndef NTPROF_KEEP_FOLDER_H
#define NTPROF_KEEP_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/points.h"

/* Of a side, as many as can be asked for. */
#define FOLDER_FILES_MAX 10000
/* "target-000001-20240131T235959Z.ntp", and more digits. Files with longer names are not ours. */
#define FOLDER_NAME_LEN 64
/* How many names are tried if files of these names exist. */
#define FOLDER_NAMES_TRIED 100
/* Default of --keep-free: a share of the file system, but not more than the second one. */
#define FOLDER_KEEP_FREE_PERCENT 15
#define FOLDER_KEEP_FREE_MOST (4ULL << 30)
/* Value of &folder.keep_free for that default. */
#define FOLDER_KEEP_FREE_DEFAULT UINT64_MAX
/* Errors besides those of errno(3): others may write, another instance uses it, the lock file is not ours. */
enum { FOLDER_OF_OTHERS = 4096, FOLDER_IN_USE, FOLDER_LOCK_TAKEN };
/* Room for folder_warning(). */
#define FOLDER_WARNING_LEN (PATH_MAX + 256)

/* A file of ours, as of the last look. */
struct folder_file {
	uint64_t number;
	uint64_t bytes;
	char name[FOLDER_NAME_LEN];
};

/**
 * struct folder - where they are, and what is known of them since folder_open()
 * @files, @bytes: limits; @keep_free: bytes of its file system that are left to others
 * @fd: it, -1 before; @lock_fd: of the lock, or -1
 * @dev, @ino: which one it is
 * @shared: others may write to it, but not remove what is ours
 * @file: the newest first; @nr of them, @room for more
 * @used: bytes together
 * @last: the highest number
 * @freed: bytes of those that were removed for the file that is written
 * @removed: how many were, since the beginning
 */
struct folder {
	char path[PATH_MAX];
	enum nt_side side;
	unsigned int files;
	uint64_t bytes;
	uint64_t keep_free;
	int fd;
	int lock_fd;
	dev_t dev;
	ino_t ino;
	bool shared;
	struct folder_file *file;
	unsigned int nr;
	unsigned int room;
	uint64_t used;
	uint64_t last;
	uint64_t freed;
	uint64_t removed;
};

/**
 * folder_open() - list the files, and lock out other instances
 * @f: with @path, @side and limits, and @fd -1. If it is open, and @path is still the same folder, only
 *     the known files are checked again. Needs folder_close() in any case
 *
 * Return: 0, a negative errno, or a negative one of those above.
 */
int folder_open(struct folder *f);

/** folder_error() - such an error in words */
const char *folder_error(int err);

/** folder_warning() - what users should know of an open one; Return: whether there is a warning */
bool folder_warning(const struct folder *f, char text[FOLDER_WARNING_LEN]);

/**
 * folder_make_room() - remove the oldest ones until there is room for one more
 * @bytes: how large that is; @unwritten: so much of it is not on the disk yet
 *
 * If less is free than @keep_free, a file may only use what older files had.
 *
 * Return: 0; -EFBIG where it would be larger than all may be together; -ENOSPC where too little is free; or another
 * negative errno.
 */
int folder_make_room(struct folder *f, uint64_t bytes, uint64_t unwritten);

/** folder_next() - the name of the next file; @tried: so many names did exist already */
void folder_next(struct folder *f, int64_t realtime_ns, unsigned int tried,
		 char name[FOLDER_NAME_LEN]);

/** folder_add() - count a new file in the folder @fd, if that is this one */
void folder_add(struct folder *f, int fd, const char *name);

/** folder_close() - release, and unlock */
void folder_close(struct folder *f);

#endif /* NTPROF_KEEP_FOLDER_H */
