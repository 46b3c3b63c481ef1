/* SPDX-License-Identifier: GPL-2.0-only */
/* A file that a verb writes besides what it prints: beside its name until it is whole. */
#ifndef NTPROF_CLI_WRITTEN_H
#define NTPROF_CLI_WRITTEN_H

#include <stdbool.h>
#include <stdio.h>

#include "stream/destination.h"

/* Room for how a file begins. */
#define WRITTEN_BEGINS_MAX 64

/**
 * struct written - the file
 * @option: that names it
 * @begins: how such a file begins, @len bytes: another one is not replaced, as it may be a
 * recording
 * @gzip: a file whose name ends with ".gz" is compressed
 * @path: set by written_open()
 * @f: to write to; NULL if it is not open, or finished
 * @open: it needs written_close()
 */
struct written {
	const char *option;
	const char *begins;
	size_t len;
	bool gzip;
	const char *path;
	struct destination to;
	FILE *f;
	bool open;
};

/** written_open() - Return: false if it cannot be opened, after a message */
bool written_open(struct written *w, const char *path);

/** written_finish() - all is written: give it its name; Return: 0, or -ECANCELED after a message */
int written_finish(struct written *w);

/** written_close() - close; a file that is not finished is removed; nothing if it is not open */
void written_close(struct written *w);

#endif /* NTPROF_CLI_WRITTEN_H */
