/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing to a descriptor that may not take it: whole pieces go into a buffer of bounded size, and a
 * thread writes them, in order. Whoever puts them in never waits, whatever is behind the descriptor (a
 * pipe that nobody reads, a terminal after Ctrl-S, a disk that stalls), and the descriptor's flags,
 * which other programs share, stay as they are.
 */
#ifndef NTPROF_CORE_OUTPUT_H
#define NTPROF_CORE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output;

/* So many pieces have room whatever output_room() says. */
#define OUTPUT_SPARE_PIECES 16

/**
 * struct output_rest - what was taken back
 * @pieces: how many, @bytes long together
 * @weight: sum of their weights
 */
struct output_rest {
	unsigned int pieces;
	uint64_t weight;
	uint64_t bytes;
};

/**
 * output_new() - begin to write
 * @fd: where to; stays the caller's, who must not write to it before output_free()
 * @size: of the buffer, bytes
 *
 * Return: the output, or NULL with errno set.
 */
struct output *output_new(int fd, size_t size);

/**
 * output_put() - append a piece
 * @o: output
 * @p, @n: its bytes, which are copied
 * @weight: what it counts for in struct output_rest
 *
 * It is written by the time that as much as one write takes is there, or by output_flush(). A piece
 * that is larger than the buffer is taken when nothing else is in it.
 *
 * Return: 0; -EAGAIN when there is no room, and then nothing of it will be written; -EPIPE when the reader is
 * gone, or another negative errno, after which nothing more is written.
 */
int output_put(struct output *o, const void *p, size_t n, unsigned int weight);

/** output_flush() - have all that was put written as soon as the descriptor takes it; does not wait */
void output_flush(struct output *o);

/**
 * output_sync() - have a file or a folder on the disk, fsync(2), behind all that was put; does not wait
 * @fd: which; stays the caller's, who must not close it before output_idle() or output_free()
 *
 * One at a time. What it fails with is output_error(); a file system that cannot do it has none.
 */
void output_sync(struct output *o, int fd);

/** output_room() - bytes that there is room for; 0 when there are too many pieces */
size_t output_room(struct output *o);

/** output_idle() - whether nothing waits to be written, nor for the disk */
bool output_idle(struct output *o);

/** output_written() - bytes of the pieces that are written whole */
uint64_t output_written(struct output *o);

/** output_error() - 0 or what output_put() would return; known also when nothing is put */
int output_error(struct output *o);

/** output_event_fd() - readable once output_error() is not 0; to be waited for, not read */
int output_event_fd(const struct output *o);

/**
 * output_settle() - wait until all is written, and on the disk where that was asked for
 * @o: output
 * @hurry_fd: -1, or a descriptor that is readable when there is no time to wait
 * @patience_ns: how long to wait from then on
 *
 * Return: 0 when all is written, -ETIMEDOUT when it is not, or output_error().
 */
int output_settle(struct output *o, int hurry_fd, uint64_t patience_ns);

/**
 * output_cut() - take back the pieces whose writing has not begun
 * @o: output
 * @rest: filled
 *
 * After an error, too, where that left whole pieces only: a regular file ends with the last whole piece
 * then, and it can be tried to write another one behind.
 *
 * Return: 0 or output_error().
 */
int output_cut(struct output *o, struct output_rest *rest);

/**
 * output_free() - stop writing at once and release; NULL is fine. What a kernel that does not answer keeps in
 * a write is not waited for, and not released.
 */
void output_free(struct output *o);

#endif /* NTPROF_CORE_OUTPUT_H */
