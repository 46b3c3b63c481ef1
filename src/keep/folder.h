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
/* "target-000001-20240131T235959Z.ntp" and more, should there be so many. What is called longer is not ours. */
#define FOLDER_NAME_LEN 64
/* Names that others have taken are passed over, so many. */
#define FOLDER_NAMES_TRIED 100
/* What is left to others unless somebody says how much: a share of the file system, but not more than the other one. */
#define FOLDER_KEEP_FREE_PERCENT 15
#define FOLDER_KEEP_FREE_MOST (4ULL << 30)
/* As &folder.keep_free: the above. */
#define FOLDER_KEEP_FREE_DEFAULT UINT64_MAX
/* Why a folder is not taken, besides what errno(3) has: others may write to it, another instance has it, its lock is not ours. */
enum { FOLDER_OF_OTHERS = 4096, FOLDER_IN_USE, FOLDER_LOCK_TAKEN };
/* Room for folder_warning(). */
#define FOLDER_WARNING_LEN (PATH_MAX + 256)

/* One of them, as it was when it was looked at last. */
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
 * folder_open() - see what is there, and keep other instances out
 * @f: @path, @side and limits are set, and @fd is -1; or an open one, of which only its files are looked at again, as long as
 *     @path is still the same folder. folder_close() is due in any case
 *
 * Return: 0, a negative errno, or a negative one of those above.
 */
int folder_open(struct folder *f);

/** folder_error() - what that is, in words */
const char *folder_error(int err);

/** folder_warning() - what is to be said of an open one; Return: whether there is something */
bool folder_warning(const struct folder *f, char text[FOLDER_WARNING_LEN]);

/**
 * folder_make_room() - remove the oldest ones until there is room for one more
 * @bytes: how large that is; @unwritten: so much of it is not on the disk yet
 *
 * Where less is free than is to be left to others, the room is that of older ones only.
 *
 * Return: 0; -EFBIG where it would be larger than all may be together; -ENOSPC where too little is free; or another
 * negative errno.
 */
int folder_make_room(struct folder *f, uint64_t bytes, uint64_t unwritten);

/** folder_next() - what the next one is called; @tried: so many of them others have taken */
void folder_next(struct folder *f, int64_t realtime_ns, unsigned int tried,
		 char name[FOLDER_NAME_LEN]);

/** folder_add() - there is a file more, in the folder @fd: it counts where that is this one */
void folder_add(struct folder *f, int fd, const char *name);

/** folder_close() - let go of it */
void folder_close(struct folder *f);

#endif /* NTPROF_KEEP_FOLDER_H */
