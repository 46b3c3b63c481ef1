// SPDX-License-Identifier: GPL-2.0-only
#include "core/disks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/text.h"

const char *disk_user_name(unsigned int user)
{
	static const char *const names[DISK_USERS_NR] = {
		[DISK_HOST] = "host",	  [DISK_CGROUP] = "cgroup", [DISK_KERNEL] = "kernel",
		[DISK_OTHERS] = "others", [DISK_GONE] = "gone",
	};

	return user < DISK_USERS_NR ? names[user] : "";
}

static void use_add(struct disk_use *to, const struct disk_use *use)
{
	to->requests += use->requests;
	to->bytes += use->bytes;
	to->ns += use->ns;
}

static bool is_limited(enum disk_user user)
{
	return user == DISK_HOST || user == DISK_CGROUP;
}

static int compare(const struct disk_row *a, const struct disk_row *b)
{
	return strcmp(a->disk, b->disk) ?: (int)a->user - (int)b->user ?: strcmp(a->who, b->who);
}

/* Return: where @key is, or has to be inserted */
static size_t find(const struct disk_rows *d, const struct disk_row *key, bool *found)
{
	size_t from = 0, to = d->nr;

	*found = false;
	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int order = compare(&d->row[middle], key);

		*found |= !order;
		if (order < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Return: the row, made if there is none; NULL: no memory */
static struct disk_row *row_of(struct disk_rows *d, const struct disk_row *key)
{
	struct disk_row *row;
	bool found;
	size_t at = find(d, key, &found);

	if (found)
		return &d->row[at];
	row = ARRAY_INSERT(d->row, d->nr, at);
	if (!row)
		return NULL;
	*row = *key;
	row->created_ms = d->since_ms;
	d->limited += is_limited(key->user);
	return row;
}

/*
 * Adds the row that is quiet for longest to those of its disk that are gone, and removes it. It
 * gives way to a new one of @user.
 */
static int make_room(struct disk_rows *d, enum disk_user user)
{
	struct turnover *turnover = &d->turnover[user];
	struct disk_row gone = {.user = DISK_GONE}, *to;
	size_t at = d->nr;

	if (turnover->max && !turnover_any(turnover))
		return 0;
	for (size_t i = 0; i < d->nr; i++)
		if (is_limited(d->row[i].user) && d->row[i].quiet &&
		    (at == d->nr || d->row[i].quiet > d->row[at].quiet))
			at = i;
	if (at == d->nr)
		return 0;
	memcpy(gone.disk, d->row[at].disk, sizeof(gone.disk));
	to = row_of(d, &gone);
	if (!to)
		return -ENOMEM;
	/* That row is behind this one, which has kept its place. */
	use_add(&to->total, &d->row[at].total);
	memmove(&d->row[at], &d->row[at + 1], (d->nr - at - 1) * sizeof(*d->row));
	d->nr--;
	d->limited--;
	if (turnover->max)
		turnover_take(turnover);
	return 0;
}

void disk_rows_hourly(struct disk_rows *d)
{
	turnover_init(&d->turnover[DISK_HOST], DISK_ROWS_MAX);
	turnover_init(&d->turnover[DISK_CGROUP], DISK_ROWS_MAX);
}

void disk_rows_begin(struct disk_rows *d, uint64_t since_ms)
{
	turnover_add(&d->turnover[DISK_HOST], d->since_ms, since_ms);
	turnover_add(&d->turnover[DISK_CGROUP], d->since_ms, since_ms);
	d->since_ms = since_ms;
	for (size_t i = 0; i < d->nr; i++) {
		d->row[i].quiet = d->row[i].interval.requests ? 0 : d->row[i].quiet + 1;
		d->row[i].interval = (struct disk_use){0};
	}
}

int disk_rows_add(struct disk_rows *d, const char *disk, enum disk_user user, const char *who,
		  const struct nt_disk_use *use)
{
	const struct disk_use more = {use->requests, use->bytes, use->ns};
	struct disk_row key = {.user = user}, *row;
	bool found;

	snprintf(key.disk, sizeof(key.disk), "%s", disk);
	text_copy(key.who, sizeof(key.who), who, TEXT_SEEN);
	find(d, &key, &found);
	if (!found && is_limited(user) && d->limited >= DISK_ROWS_MAX) {
		int err = make_room(d, user);

		if (err)
			return err;
		if (d->limited >= DISK_ROWS_MAX) {
			key.user = DISK_OTHERS;
			key.who[0] = '\0';
		}
	}
	row = row_of(d, &key);
	if (!row)
		return -ENOMEM;
	row->quiet = 0;
	use_add(&row->interval, &more);
	use_add(&row->total, &more);
	return 0;
}

void disk_rows_end(struct disk_rows *d)
{
	for (size_t from = 0, to; from < d->nr; from = to) {
		unsigned __int128 interval = 0, total = 0;

		for (to = from; to < d->nr && !strcmp(d->row[to].disk, d->row[from].disk); to++) {
			interval += d->row[to].interval.ns;
			total += d->row[to].total.ns;
		}
		for (size_t i = from; i < to; i++) {
			d->row[i].of_interval = interval;
			d->row[i].of_total = total;
		}
	}
}

void disk_rows_free(struct disk_rows *d)
{
	free(d->row);
	*d = (struct disk_rows){0};
}
