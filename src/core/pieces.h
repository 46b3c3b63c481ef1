/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A queue of pieces of bytes, in a buffer of bounded size. Whoever shares one protects it.
 */
#ifndef NTPROF_CORE_PIECES_H
#define NTPROF_CORE_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct piece {
	size_t len;
	unsigned int weight; /* whatever it counts for */
};

/**
 * struct pieces - the queue
 * @buffer, @size: a ring of bytes, of which @used from @first on are taken
 * @piece, @max: a ring, of which @nr from @first_piece on are taken
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

/** pieces_init() - an empty queue of @size bytes and @max pieces; 0 or -ENOMEM. pieces_free() is due. */
int pieces_init(struct pieces *q, size_t size, unsigned int max);
void pieces_free(struct pieces *q);

/**
 * pieces_put() - append a piece, a copy of @n bytes, of which there is one at least
 *
 * One that is larger than the whole buffer makes that larger, when the queue is empty.
 *
 * Return: whether there was room.
 */
bool pieces_put(struct pieces *q, const void *p, size_t n, unsigned int weight);

/** pieces_at() - the piece number @i of those that wait, from 0 on */
const struct piece *pieces_at(const struct pieces *q, unsigned int i);

/**
 * pieces_front() - what to write next: the first piece, and those behind it as long as all are at most
 * @max bytes
 * @iov: filled with where their bytes are: in one part or in two
 * @nr: set to how many pieces it is
 *
 * Of a queue that is not empty. The bytes stay where they are until the pieces are dropped.
 *
 * Return: how many parts.
 */
int pieces_front(const struct pieces *q, size_t max, struct iovec iov[2], unsigned int *nr);

/** pieces_drop() - remove the first piece */
void pieces_drop(struct pieces *q);

/** pieces_drop_last() - remove the last piece; Return: what it was */
struct piece pieces_drop_last(struct pieces *q);

#endif /* NTPROF_CORE_PIECES_H */
