/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a flight recorder, which are called SIDE-NUMBER-TIME.ntp. A higher number means a
 * newer file, whatever the clock said. Only this user's files of one side count. Their number and
 * their total size are limited, and the oldest file is removed first. Files of other users are left
 * alone, whatever their names are. So are links that others made to files of this user.
 */
#ifndef NTPROF_SERVE_FOLDER_H
#define NTPROF_SERVE_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "shared/points.h"

/* Files of a side, the highest value of --files. */
#define FOLDER_FILES_MAX 10000
/*
 * "target-000001-20240131T235959Z.ntp", with room for more digits. Files with longer names are
 * ignored.
 */
#define FOLDER_NAME_LEN 64
/* The most names that are tried for a new file, if files of these names exist. */
#define FOLDER_NAMES_TRIED 100
/* Default of --keep-free: this share of the file system, but not more than that many bytes. */
#define FOLDER_KEEP_FREE_PERCENT 15
#define FOLDER_KEEP_FREE_MOST (4ULL << 30)
/* Value of &folder.keep_free for that default. */
#define FOLDER_KEEP_FREE_DEFAULT UINT64_MAX
/*
 * Errors besides those of errno(3): other users may write to the folder or change the way to it,
 * another instance uses it, the lock file is not this user's alone.
 */
enum { FOLDER_OF_OTHERS = 4096, FOLDER_IN_USE, FOLDER_LOCK_TAKEN };
/* Room for folder_warning(). */
#define FOLDER_WARNING_LEN (PATH_MAX + 256)

/* One of this user's files, as folder_open() or folder_add() found it. */
struct folder_file {
	uint64_t number;
	uint64_t bytes;
	char name[FOLDER_NAME_LEN];
};

/**
 * struct folder - a folder, and what is known of its files since folder_open()
 * @files, @bytes: limits
 * @keep_free: bytes of the file system that are left to others
 * @fd: the folder; -1 before it is open
 * @lock_fd: lock file, or -1
 * @dev, @ino: device and inode of the folder
 * @shared: other users may write to the folder, but not remove this user's files
 * @file: the files, the newest first; @nr of them, with room for @room
 * @used: total size in bytes
 * @last: the highest number
 * @freed: bytes of the files that were removed for the file that is being written, and @spare
 * @spare: what was removed for files before it, and is more than they took
 * @robbed: others took these bytes before it was written. No more files are removed for want of
 *          @keep_free until as much is free
 * @removed: number of files removed since the beginning
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
	uint64_t spare;
	bool robbed;
	uint64_t removed;
};

/** folder_mark() - in the name of a file without its final name: see destination_open_in() */
const char *folder_mark(const struct folder *f);

/**
 * folder_claim() - a recorder that starts in this folder does not remove the file as left over
 * @fd: of a file that has folder_mark() in its name
 */
void folder_claim(int fd);

/**
 * folder_open() - list the files, and lock out other instances
 * @f: @path, @side and limits are set by the caller, and @fd is -1 the first time. If it is open
 *     already and @path is still the same folder, only the known files are checked again. The
 *     caller calls folder_close() in any case. The first time, files are removed that an instance
 *     of this side has left, because it was killed before they had their names.
 *
 * Return: 0, a negative errno, or one of the errors above, negative.
 */
int folder_open(struct folder *f);

/** folder_error() - an error of folder_open() in words */
const char *folder_error(int err);

/** folder_warning() - a warning for the user about an open folder; Return: whether there is one */
bool folder_warning(const struct folder *f, char text[FOLDER_WARNING_LEN]);

/**
 * folder_begin_file() - begin to make room for another file
 *
 * While less than @keep_free is free, it may use what was removed for those before it as well.
 */
void folder_begin_file(struct folder *f);

/** folder_end_file() - the file has its name; @bytes: its size */
void folder_end_file(struct folder *f, uint64_t bytes);

/** folder_lost_room() - the file failed, because others took the room that it was given */
void folder_lost_room(struct folder *f);

/**
 * folder_make_room() - remove the oldest files until one more file fits
 * @bytes: size of the new file
 * @unwritten: how many of these bytes are not on the disk yet
 *
 * If less than @keep_free is free, the new file may only use the room of the files that were
 * removed for it. If all of them together have too little, none is removed.
 *
 * Return: 0; -EFBIG if the new file would be larger than all files together may be; -ENOSPC if too
 * little is free; or another negative errno.
 */
int folder_make_room(struct folder *f, uint64_t bytes, uint64_t unwritten);

/** folder_next() - the name of the next file; @tried: number of names that were taken */
void folder_next(struct folder *f, int64_t realtime_ns, unsigned int tried,
		 char name[FOLDER_NAME_LEN]);

/** folder_add() - count a new file, if the folder @fd is this one */
void folder_add(struct folder *f, int fd, const char *name);

/** folder_close() - release, and unlock */
void folder_close(struct folder *f);

#endif /* NTPROF_SERVE_FOLDER_H */
