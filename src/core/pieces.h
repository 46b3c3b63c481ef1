/* SPDX-License-Identifier: GPL-2.0-only */
/* A queue of pieces of bytes, in a buffer of bounded size. The caller provides locking. */
#ifndef NTPROF_CORE_PIECES_H
#define NTPROF_CORE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct piece {
	size_t len;
	unsigned int weight; /* the caller decides what this counts */
};

/**
 * struct pieces - the queue
 * @buffer, @size: a ring of bytes; @used bytes from @first on are taken
 * @piece, @max: a ring of pieces; @nr pieces from @first_piece on are taken
 */
struct pieces {
	uint8_t *buffer;
	size_t size;
	size_t first;
	size_t used;
	struct piece *piece;
	unsigned int max;
	unsigned int first_piece;
	unsigned int nr;
};

/**
 * pieces_init() - an empty queue of @size bytes and @max pieces
 *
 * Return: 0 or -ENOMEM. In both cases the caller calls pieces_free().
 */
int pieces_init(struct pieces *q, size_t size, unsigned int max);
void pieces_free(struct pieces *q);

/**
 * pieces_put() - append a piece, a copy of @n bytes; @n is at least 1
 *
 * If the queue is empty and the piece is larger than the whole buffer, the buffer grows.
 *
 * Return: whether there was room.
 */
bool pieces_put(struct pieces *q, const void *p, size_t n, unsigned int weight);

/** pieces_at() - piece number @i of the pieces that wait, from 0 on */
const struct piece *pieces_at(const struct pieces *q, unsigned int i);

/**
 * pieces_front() - what to write next: the first piece, and the pieces behind it as long as the sum
 * is at most @max bytes
 * @iov: filled with the place of the bytes, which is one part or two
 * @nr: set to the number of pieces
 *
 * The queue must not be empty. The bytes stay in place until the pieces are dropped.
 *
 * Return: number of parts.
 */
int pieces_front(const struct pieces *q, size_t max, struct iovec iov[2], unsigned int *nr);

/** pieces_drop() - remove the first piece */
void pieces_drop(struct pieces *q);

/**
 * pieces_drop_last() - remove the last piece
 *
 * Return: the removed piece.
 */
struct piece pieces_drop_last(struct pieces *q);

#endif /* NTPROF_CORE_PIECES_H */
