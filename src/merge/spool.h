/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands in the order in which they began, however many: they come in the order in which they
 * ended, and one may have taken longer than millions of others. They are sorted in runs, in a file,
 * and the runs are merged when they are read.
 */
#ifndef NTPROF_MERGE_SPOOL_H
#define NTPROF_MERGE_SPOOL_H

#include <stdint.h>

/* Commands that are sorted in memory at a time: 2 MiB. Each run needs 4 KiB when it is read. */
#ifndef SPOOL_RUN
#define SPOOL_RUN 65536u
#endif

/**
 * struct spool_command - a command; what its members mean is the caller's business, but the first
 * @begin_ns: commands are read in this order
 */
struct spool_command {
	uint64_t begin_ns;
	uint64_t latency_ns;
	uint64_t offset;
	uint32_t length;
	uint16_t queue;
	uint8_t file;
	uint8_t op;
};

struct spool;

/** spool_new() - @fd: an empty file, which stays the caller's; NULL when memory ran out */
struct spool *spool_new(int fd);

/** spool_add() - Return: 0 or a negative errno */
int spool_add(struct spool *s, const struct spool_command *c);

/** spool_read() - begin to read, when all are added; Return: 0 or a negative errno */
int spool_read(struct spool *s);

/** spool_next() - fill @c with the next command; Return: 1, 0 after the last one, or a negative
 * errno */
int spool_next(struct spool *s, struct spool_command *c);

/** spool_free() - release; NULL is fine */
void spool_free(struct spool *s);

#endif /* NTPROF_MERGE_SPOOL_H */
