// SPDX-License-Identifier: GPL-2.0-only
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* strverscmp() */
#endif
#include "core/errors.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const struct error_count *a, const struct error_count *b)
{
	int c = strverscmp(a->controller, b->controller);

	if (!c)
		c = strcmp(a->peer, b->peer);
	if (!c)
		c = (a->qid > b->qid) - (a->qid < b->qid);
	if (!c)
		c = (a->op > b->op) - (a->op < b->op);
	return c ?: (a->status > b->status) - (a->status < b->status);
}

/* Return: where @key is, or where it belongs. @found: filled */
static size_t find(const struct errors *e, const struct error_count *key, bool *found)
{
	size_t low = 0, high = e->nr;

	*found = false;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int c = compare(key, &e->row[middle]);

		if (!c) {
			*found = true;
			return middle;
		}
		if (c < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static int insert(struct errors *e, size_t at, const struct error_count *key)
{
	struct error_count *row = realloc(e->row, (e->nr + 1) * sizeof(*row));

	if (!row)
		return -ENOMEM;
	memmove(row + at + 1, row + at, (e->nr - at) * sizeof(*row));
	row[at] = *key;
	e->row = row;
	e->nr++;
	return 0;
}

int errors_add(struct errors *e, const char *controller, const char *peer, uint16_t qid,
	       enum nt_op op, uint16_t status, uint64_t n)
{
	struct error_count key = {.qid = qid,
				  .op = op,
				  .status = status == ERRORS_OTHER ? status
								   : status & NT_STATUS_MASK};
	bool found;
	size_t at;
	int err;

	snprintf(key.controller, sizeof(key.controller), "%s", controller);
	snprintf(key.peer, sizeof(key.peer), "%s", peer);
	at = find(e, &key, &found);
	if (!found && e->nr >= ERRORS_MAX) {
		key = (struct error_count){.op = op, .status = ERRORS_OTHER};
		at = find(e, &key, &found);
	}
	if (!found) {
		err = insert(e, at, &key);
		if (err)
			return err;
	}
	e->row[at].interval += n;
	e->row[at].total += n;
	return 0;
}

int errors_fold(struct errors *into, struct errors *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		struct error_count *r = &from->row[i];
		int err;

		if (!r->total)
			continue;
		err = errors_add(into, r->controller, r->peer, r->qid, r->op, r->status, r->total);
		if (err)
			return err;
		r->total = r->interval = 0;
	}
	return 0;
}

void errors_begin_interval(struct errors *e)
{
	for (size_t i = 0; i < e->nr; i++)
		e->row[i].interval = 0;
}

void errors_free(struct errors *e)
{
	free(e->row);
	*e = (struct errors){0};
}
