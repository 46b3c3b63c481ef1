/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a stream is written: standard output, a pipe, a device or a file. A file is written beside
 * its final name. It gets that name when the header has been written, so a recording that never
 * begins does not replace an older one.
 */
#ifndef NTPROF_STREAM_DESTINATION_H
#define NTPROF_STREAM_DESTINATION_H

#include <stdbool.h>

/* Of the name that a file has at first: before its mark and six hexadecimal digits. */
#define DESTINATION_TEMPORARY ".ntprof-bpf."
#define DESTINATION_TEMPORARY_LEN 32

/**
 * struct destination - where a stream is written
 * @folder_fd: the folder of @name, or -1. It stays the same folder if its path changes
 * @name: in the folder; may be changed before destination_commit()
 * @fd: to write to
 * @mark: what is in @temporary to tell it from those of others
 * @temporary: name of the file until it gets its final one; else ""
 * @unnamed: the file has no name at all so far
 * @force: it may replace an existing file
 */
struct destination {
	int folder_fd;
	const char *name;
	int fd;
	const char *mark;
	char temporary[DESTINATION_TEMPORARY_LEN];
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
 * Return: 0; -EPERM for a file or a link of another user in a shared folder (see trust_planted());
 * -EEXIST for an existing file without @force, and always for anything but a file, pipe or
 * character device (see destination_refuses()); or another negative errno.
 */
int destination_open(struct destination *d, const char *path, bool force);

/**
 * destination_open_in() - begin a file in a folder
 * @folder_fd: the folder; is duplicated
 * @name: in the folder, valid as long as @d; an existing file is not replaced
 * @mark: short, valid as long as @d; so the caller knows the file if it is killed before it has
 *        that name
 *
 * Return: 0 or a negative errno.
 */
int destination_open_in(struct destination *d, int folder_fd, const char *name, const char *mark);

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
