// SPDX-License-Identifier: GPL-2.0-only
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
		c = strcmp(a->other, b->other);
	if (!c)
		c = (a->qid > b->qid) - (a->qid < b->qid);
	if (!c)
		c = (a->op > b->op) - (a->op < b->op);
	return c ?: (a->status > b->status) - (a->status < b->status);
}

/* Return: the index of @key, or where it has to be inserted; @found says which. */
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

static void count(struct error_count *row, uint64_t interval, uint64_t total)
{
	row->interval += interval;
	row->total += total;
	if (interval)
		row->quiet = 0;
}

/*
 * Adds the row that has counted nothing for longest to the others. Return: whether there is room
 * now
 */
static bool make_room(struct errors *e)
{
	struct error_count key = {.status = ERRORS_OTHER}, *quiet = NULL;
	bool found;
	size_t at;

	for (size_t i = 0; i < e->nr; i++)
		if (e->row[i].status != ERRORS_OTHER &&
		    e->row[i].quiet > (quiet ? quiet->quiet : 0))
			quiet = &e->row[i];
	if (!quiet)
		return false;
	key.op = quiet->op;
	key.total = quiet->total;
	memmove(quiet, quiet + 1, (size_t)(e->row + --e->nr - quiet) * sizeof(*quiet));
	at = find(e, &key, &found);
	if (found)
		count(&e->row[at], 0, key.total);
	else if (insert(e, at, &key))
		return false;
	return e->nr < ERRORS_MAX;
}

int errors_add(struct errors *e, const char *controller, const char *peer, uint16_t qid,
	       enum nt_op op, uint16_t status, uint64_t n)
{
	return errors_add_of(e, controller, peer, "", qid, op, status, n);
}

int errors_add_of(struct errors *e, const char *controller, const char *peer, const char *other,
		  uint16_t qid, enum nt_op op, uint16_t status, uint64_t n)
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
	snprintf(key.other, sizeof(key.other), "%s", other);
	at = find(e, &key, &found);
	if (!found && e->nr >= ERRORS_MAX) {
		if (!make_room(e))
			key = (struct error_count){.op = op, .status = ERRORS_OTHER};
		at = find(e, &key, &found);
	}
	if (!found) {
		err = insert(e, at, &key);
		if (err)
			return err;
	}
	count(&e->row[at], n, n);
	return 0;
}

int errors_fold(struct errors *into, struct errors *from)
{
	for (size_t i = 0; i < from->nr; i++) {
		struct error_count *r = &from->row[i];
		int err;

		if (!r->total)
			continue;
		err = errors_add_of(into, r->controller, r->peer, r->other, r->qid, r->op,
				    r->status, r->total);
		if (err)
			return err;
		r->total = r->interval = 0;
	}
	return 0;
}

void errors_begin_interval(struct errors *e)
{
	for (size_t i = 0; i < e->nr; i++) {
		e->row[i].quiet += e->row[i].quiet < UINT32_MAX;
		e->row[i].interval = 0;
	}
}

void errors_free(struct errors *e)
{
	free(e->row);
	*e = (struct errors){0};
}
