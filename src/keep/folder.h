/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a flight recorder: SIDE-NUMBER-TIME.ntp, the numbers of which say which is older, whatever the clock was.
 * Of those of a side there are a bounded number, of bounded size together: the oldest goes first.
 */
#ifndef NTPROF_KEEP_FOLDER_H
#define NTPROF_KEEP_FOLDER_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "core/points.h"

/* Of a side; a folder that has more of them is not looked through to its end. */
#define FOLDER_FILES_MAX 10000
/* "target-000001-20240131T235959Z.ntp" and more, should there be so many. */
#define FOLDER_NAME_LEN 64

/**
 * struct folder - where they are, and what is known of them since folder_look()
 * @files, @bytes: limits
 * @nr: how many there are, @used bytes together
 * @last: the highest number
 * @removed: how many were, since the beginning
 */
struct folder {
	char path[PATH_MAX];
	enum nt_side side;
	unsigned int files;
	uint64_t bytes;
	unsigned int nr;
	uint64_t used;
	uint64_t last;
	uint64_t removed;
};

/** folder_look() - see what is there; Return: 0 or a negative errno */
int folder_look(struct folder *f);

/**
 * folder_make_room() - remove the oldest ones until there is room for one more
 * @bytes: how large that is
 *
 * Return: 0; -EFBIG where it would be larger than all may be together; or a negative errno.
 */
int folder_make_room(struct folder *f, uint64_t bytes);

/** folder_next() - what the next one is called: its path, of @size bytes, and one number more. 0 or -ENAMETOOLONG */
int folder_next(struct folder *f, int64_t realtime_ns, char *path, size_t size);

#endif /* NTPROF_KEEP_FOLDER_H */
