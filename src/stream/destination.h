/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a stream goes: standard output, a pipe, a device, or a file, which is written beside its name and
 * gets that when its header is out, so that a recording that never begins takes no other one's place.
 */
#ifndef NTPROF_STREAM_DESTINATION_H
#define NTPROF_STREAM_DESTINATION_H

#include <stdbool.h>

/**
 * struct destination - where to
 * @path: as the user names it
 * @fd: to write to
 * @temporary: what the file is called as long as it has not its name; else NULL
 * @unnamed: the file has no name at all so far
 * @force: it may take the place of another one
 */
struct destination {
	const char *path;
	int fd;
	char *temporary;
	bool unnamed;
	bool force;
};

/**
 * destination_open() - open it
 * @d: filled; destination_close() is due where this succeeds
 * @path: valid as long as @d; "-" is standard output, and so is a link to it such as /dev/stdout
 * @force: a file of that name, or a symbolic link to one, is to be replaced
 *
 * A FIFO is waited for until somebody reads. Nothing that is there is changed.
 *
 * Return: 0; -EEXIST for a file without @force, or for what is neither file, pipe nor character device with or
 * without it, see destination_refuses(); or another negative errno.
 */
int destination_open(struct destination *d, const char *path, bool force);

/** destination_refuses() - what @path is, if that is why it cannot be one, such as "a directory"; else NULL */
const char *destination_refuses(const char *path);

/**
 * destination_commit() - give a file its name; nothing to do for others, nor a second time
 *
 * Return: 0 or a negative errno; -EEXIST when somebody else has made such a file meanwhile.
 */
int destination_commit(struct destination *d);

/** destination_close() - close; what has not got its name is removed; Return: 0 or a negative errno */
int destination_close(struct destination *d);

#endif /* NTPROF_STREAM_DESTINATION_H */
