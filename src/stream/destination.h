/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a stream is written: standard output, a pipe, a device or a file. A file is written beside
 * its final name. It gets that name when the header has been written, so a recording that never
 * begins does not replace an older one.
 */
#ifndef NTPROF_STREAM_DESTINATION_H
#define NTPROF_STREAM_DESTINATION_H

#include <stdbool.h>

/**
 * struct destination - where a stream is written
 * @path: as the user gave it
 * @fd: to write to
 * @temporary: name of the file until it gets its final one; else NULL
 * @unnamed: the file has no name at all so far
 * @force: it may replace an existing file
 */
struct destination {
	const char *path;
	int fd;
	char *temporary;
	bool unnamed;
	bool force;
};

/**
 * destination_open() - open a destination
 * @d: filled; needs destination_close() if this succeeds
 * @path: valid as long as @d; "-" is standard output, and so is a link to it such as /dev/stdout
 * @force: replace a file, or a symbolic link to a file, of that name
 *
 * Waits for the reader of a FIFO. Existing files are not changed.
 *
 * Return: 0; -EEXIST for an existing file without @force, and always for anything but a file, pipe
 * or character device (see destination_refuses()); or another negative errno.
 */
int destination_open(struct destination *d, const char *path, bool force);

/**
 * destination_refuses() - why @path cannot be a destination: its type, such as "a directory"; else
 * NULL
 */
const char *destination_refuses(const char *path);

/**
 * destination_commit() - give a file its final name; does nothing for other types, or the second
 * time
 *
 * Return: 0 or a negative errno; -EEXIST if another process has made such a file meanwhile.
 */
int destination_commit(struct destination *d);

/**
 * destination_close() - close; a file without its final name is removed; Return: 0 or a negative
 * errno
 */
int destination_close(struct destination *d);

#endif /* NTPROF_STREAM_DESTINATION_H */
