// SPDX-License-Identifier: GPL-2.0-only
#include "view/view_state.h"

#include <string.h>

#include "core/array.h"

#define LOOK_NAME(id, name) name,

const char *view_sort_name(enum view_sort sort)
{
	static const char *const names[] = {VIEW_SORTS(LOOK_NAME)};

	return names[sort];
}

const char *view_group_name(enum view_group group)
{
	static const char *const names[] = {VIEW_GROUPS(LOOK_NAME)};

	return names[group];
}

const char *view_focus_name(enum view_focus focus)
{
	static const char *const names[] = {VIEW_FOCUSES(LOOK_NAME)};

	return names[focus];
}

/* The sequences of xterm, the Linux console, screen and tmux (ECMA-48 CSI and SS3). */
static const struct {
	const char *sequence;
	int key;
} sequences[] = {
	{"\033[A", KEY_UP},   {"\033OA", KEY_UP},	{"\033[B", KEY_DOWN},
	{"\033OB", KEY_DOWN}, {"\033[C", KEY_RIGHT},	{"\033OC", KEY_RIGHT},
	{"\033[D", KEY_LEFT}, {"\033OD", KEY_LEFT},	{"\033[H", KEY_HOME},
	{"\033OH", KEY_HOME}, {"\033[1~", KEY_HOME},	{"\033[7~", KEY_HOME},
	{"\033[F", KEY_END},  {"\033OF", KEY_END},	{"\033[4~", KEY_END},
	{"\033[8~", KEY_END}, {"\033[5~", KEY_PAGE_UP}, {"\033[6~", KEY_PAGE_DOWN},
};

void keys_put(struct keys *k, const char *bytes, size_t n)
{
	if (n > sizeof(k->byte) - k->nr)
		n = sizeof(k->byte) - k->nr;
	memcpy(k->byte + k->nr, bytes, n);
	k->nr += n;
}

static void drop(struct keys *k, size_t n)
{
	k->nr -= n;
	memmove(k->byte, k->byte + n, k->nr);
}

/*
 * Return: length of the sequence in bytes; 0: its end has not come yet. An escape before any other
 * character is the key Escape.
 */
static size_t sequence_length(const struct keys *k)
{
	if (k->nr < 2)
		return 0;
	if (k->byte[1] == 'O')
		return k->nr < 3 ? 0 : 3;
	if (k->byte[1] != '[')
		return 1;
	/*
	 * ECMA-48, 5.4: parameter and intermediate bytes are below the final byte, and no other
	 * bytes are among them.
	 */
	for (size_t i = 2; i < k->nr; i++) {
		if (k->byte[i] < ' ')
			return i;
		if (k->byte[i] >= '@')
			return i + 1;
	}
	/* No key sends a sequence that is as long as the buffer. */
	return k->nr == sizeof(k->byte) ? k->nr : 0;
}

static int sequence_key(const char *bytes, size_t n)
{
	if (n == 1)
		return KEY_ESCAPE;
	for (size_t i = 0; i < ARRAY_SIZE(sequences); i++) {
		if (strlen(sequences[i].sequence) == n && !memcmp(sequences[i].sequence, bytes, n))
			return sequences[i].key;
	}
	return KEY_NONE;
}

int keys_next(struct keys *k)
{
	int key = KEY_NONE;

	while (!key && k->nr) {
		size_t n = 1;

		if (k->byte[0] == KEY_ESCAPE) {
			n = sequence_length(k);
			if (!n)
				return KEY_NONE;
			key = sequence_key(k->byte, n);
		} else {
			key = (unsigned char)k->byte[0];
		}
		drop(k, n);
	}
	return key;
}

int keys_give_up(struct keys *k)
{
	bool alone = k->nr == 1;

	k->nr = 0;
	return alone ? KEY_ESCAPE : KEY_NONE;
}
