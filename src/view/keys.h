/* SPDX-License-Identifier: GPL-2.0-only */
/* What a terminal sends when keys are pressed, as keys: a character each, or a sequence that begins with an escape. */
#ifndef NTPROF_VIEW_KEYS_H
#define NTPROF_VIEW_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that wait to be looked at: what is typed ahead beyond that is lost. */
#define KEYS_MAX 256

/* A key is its character, or one of these. */
enum key {
	KEY_NONE = 0,
	KEY_BACKSPACE = 8,
	KEY_ENTER = '\n',
	KEY_ESCAPE = 27,
	KEY_DELETE = 127, /* what most terminals send for the backspace key */
	KEY_UP = 256,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
};

/** struct keys - bytes that have come and are no key yet, @nr of them; {0} is empty */
struct keys {
	char byte[KEYS_MAX];
	size_t nr;
};

/** keys_put() - @n more bytes have come */
void keys_put(struct keys *k, const char *bytes, size_t n);

/**
 * keys_next() - take the next key
 *
 * Return: the key; KEY_NONE where there is none, or only the beginning of a sequence. A sequence of a key that has no
 * name here is skipped.
 */
int keys_next(struct keys *k);

/** keys_partial() - after KEY_NONE: whether there is the beginning of a sequence */
static inline bool keys_partial(const struct keys *k)
{
	return k->nr != 0;
}

/** keys_give_up() - the rest of the sequence does not come. Return: KEY_ESCAPE if that key is all there is, else KEY_NONE */
int keys_give_up(struct keys *k);

#endif /* NTPROF_VIEW_KEYS_H */
