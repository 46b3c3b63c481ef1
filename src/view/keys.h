/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Turns what a terminal sends into keys. A key is a character, or a sequence that begins with an
 * escape.
 */
#ifndef NTPROF_VIEW_KEYS_H
#define NTPROF_VIEW_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that wait to be read as keys. Bytes that do not fit are lost. */
#define KEYS_MAX 256

/* A key is its character, or one of these. */
enum key {
	KEY_NONE = 0,
	KEY_BACKSPACE = 8,
	KEY_ENTER = '\n',
	KEY_ESCAPE = 27,
	KEY_DELETE = 127, /* most terminals send this for the backspace key */
	KEY_UP = 256,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
};

/** struct keys - @nr bytes that have come and are not read as keys yet; {0} is empty */
struct keys {
	char byte[KEYS_MAX];
	size_t nr;
};

/** keys_put() - append @n bytes that have come */
void keys_put(struct keys *k, const char *bytes, size_t n);

/**
 * keys_next() - take the next key
 *
 * Return: the key; KEY_NONE if there is none, or only the beginning of a sequence. Sequences of
 * other keys are skipped.
 */
int keys_next(struct keys *k);

/** keys_partial() - after KEY_NONE: whether the beginning of a sequence waits */
static inline bool keys_partial(const struct keys *k)
{
	return k->nr != 0;
}

/**
 * keys_give_up() - drop the beginning of a sequence, because the rest has not come
 *
 * Return: KEY_ESCAPE if an escape is all that has come, otherwise KEY_NONE.
 */
int keys_give_up(struct keys *k);

#endif /* NTPROF_VIEW_KEYS_H */
