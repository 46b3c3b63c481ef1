// SPDX-License-Identifier: GPL-2.0-only
#include "core/symbols.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The longest name that the kernel keeps (KSYM_NAME_LEN in include/linux/kallsyms.h, since Linux
 * 6.1).
 */
#define NAME_MAX_LEN 512

struct symbol {
	uint64_t address;
	char *name;
};

struct symbols {
	struct symbol *symbol;
	size_t nr, room;
	bool hidden; /* there are functions, but at least one has the address 0 */
};

/* Return: 0 or -ENOMEM. */
static int add(struct symbols *s, uint64_t address, const char *name)
{
	if (s->nr == s->room) {
		size_t room = s->room ? 2 * s->room : 4096;
		struct symbol *more = reallocarray(s->symbol, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->symbol = more;
		s->room = room;
	}
	s->symbol[s->nr].address = address;
	s->symbol[s->nr].name = strdup(name);
	return s->symbol[s->nr++].name ? 0 : -ENOMEM;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/*
 * Reads functions. @first: stop after the first function that has an address. Return: 0 or a
 * negative errno.
 */
static int read_some(struct symbols *s, FILE *f, bool first)
{
	char name[NAME_MAX_LEN + 1], type, *line = NULL;
	uint64_t address;
	size_t size = 0;
	int err = 0;

	while (!err && !(first && s->nr) && getline(&line, &size, f) >= 0) {
		if (sscanf(line, "%" SCNx64 " %c %512s", &address, &type, name) != 3)
			continue;
		if (tolower(type) != 't' && tolower(type) != 'w')
			continue;
		s->hidden |= !address;
		if (address)
			err = add(s, address, name);
	}
	if (!err && ferror(f))
		err = -EIO;
	free(line);
	return err;
}

/* symbols_read(), or only its first function if @first. */
static struct symbols *read_file(const char *path, bool first)
{
	struct symbols *s = calloc(1, sizeof(*s));
	FILE *f = fopen(path, "re");
	int err = -ENOMEM;

	if (s && f)
		err = read_some(s, f, first);
	else if (s)
		err = -errno;
	if (f)
		fclose(f);
	if (!err && !s->nr)
		err = s->hidden ? -EPERM : -ENODATA;
	if (err) {
		symbols_free(s);
		errno = -err;
		return NULL;
	}
	qsort(s->symbol, s->nr, sizeof(*s->symbol), by_address);
	return s;
}

struct symbols *symbols_read(const char *path)
{
	return read_file(path, false);
}

int symbols_check(const char *path)
{
	struct symbols *s = read_file(path, true);
	int err = s ? 0 : -errno;

	symbols_free(s);
	return err;
}

const char *symbols_find(const struct symbols *s, uint64_t address)
{
	size_t low = 0, high = s->nr;

	/* At the end, high - 1 is the last symbol that does not begin after @address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->symbol[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return high ? s->symbol[high - 1].name : NULL;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr; i++)
		free(s->symbol[i].name);
	free(s->symbol);
	free(s);
}
