// SPDX-License-Identifier: GPL-2.0-only
#include "core/pieces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int pieces_init(struct pieces *q, size_t size, unsigned int max)
{
	*q = (struct pieces){.size = size, .max = max};
	q->buffer = malloc(size);
	q->piece = malloc(max * sizeof(*q->piece));
	return q->buffer && q->piece ? 0 : -ENOMEM;
}

void pieces_free(struct pieces *q)
{
	free(q->buffer);
	free(q->piece);
}

static struct piece *piece_at(const struct pieces *q, unsigned int i)
{
	return &q->piece[(q->first_piece + i) % q->max];
}

const struct piece *pieces_at(const struct pieces *q, unsigned int i)
{
	return piece_at(q, i);
}

static bool make_room(struct pieces *q, size_t n)
{
	uint8_t *grown;

	/*
	 * An empty queue begins at the start of the buffer again, so it keeps using the same
	 * memory.
	 */
	if (!q->nr)
		q->first = q->first_piece = 0;
	if (q->nr == q->max)
		return false;
	if (n <= q->size - q->used)
		return true;
	if (q->nr)
		return false;
	grown = realloc(q->buffer, n);
	if (!grown)
		return false;
	q->buffer = grown;
	q->size = n;
	return true;
}

bool pieces_put(struct pieces *q, const void *p, size_t n, unsigned int weight)
{
	size_t at, till_end;

	if (!make_room(q, n))
		return false;
	at = (q->first + q->used) % q->size;
	till_end = q->size - at;
	if (n <= till_end) {
		memcpy(q->buffer + at, p, n);
	} else {
		memcpy(q->buffer + at, p, till_end);
		memcpy(q->buffer, (const uint8_t *)p + till_end, n - till_end);
	}
	q->used += n;
	*piece_at(q, q->nr++) = (struct piece){n, weight};
	return true;
}

int pieces_front(const struct pieces *q, size_t max, struct iovec iov[2], unsigned int *nr)
{
	size_t till_end = q->size - q->first, len = 0;

	*nr = 0;
	do {
		len += piece_at(q, (*nr)++)->len;
	} while (*nr < q->nr && len + piece_at(q, *nr)->len <= max);
	iov[0] = (struct iovec){q->buffer + q->first, len};
	if (len <= till_end)
		return 1;
	iov[0].iov_len = till_end;
	iov[1] = (struct iovec){q->buffer, len - till_end};
	return 2;
}

void pieces_drop(struct pieces *q)
{
	size_t len = piece_at(q, 0)->len;

	q->first = (q->first + len) % q->size;
	q->used -= len;
	q->first_piece = (q->first_piece + 1) % q->max;
	q->nr--;
}

struct piece pieces_drop_last(struct pieces *q)
{
	struct piece last = *piece_at(q, --q->nr);

	q->used -= last.len;
	return last;
}
