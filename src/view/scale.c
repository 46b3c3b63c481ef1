// SPDX-License-Identifier: GPL-2.0-only
#include "view/scale.h"

#include <string.h>

#define NS_PER_US 1000ULL

static uint64_t from_of(const struct scale *s, unsigned int bucket)
{
	if (bucket < 2)
		return bucket ? s->min_ns : 0;
	return s->min_ns + (NS_PER_US << (s->shift + bucket - 2));
}

static uint64_t middle_of(const struct hist *h, unsigned int bucket)
{
	uint64_t low = nt_bucket_low(bucket), middle = low;

	if (bucket != NT_OVERFLOW_BUCKET)
		middle += (nt_bucket_low(bucket + 1) - low) / 2;
	return middle < h->max ? middle : h->max;
}

unsigned int scale_count(const struct scale *s, const struct hist *h,
			 struct scale_row row[SCALE_BUCKETS])
{
	unsigned int first = SCALE_BUCKETS, last = 0, at = 0;

	memset(row, 0, SCALE_BUCKETS * sizeof(*row));
	for (unsigned int i = 0; i < SCALE_BUCKETS; i++) {
		row[i].from = from_of(s, i);
		row[i].endless = i == SCALE_BUCKETS - 1;
		row[i].to = row[i].endless ? UINT64_MAX : from_of(s, i + 1);
	}
	for (unsigned int i = 0; i < NT_BUCKETS; i++) {
		if (!h->buckets[i])
			continue;
		while (at < SCALE_BUCKETS - 1 && middle_of(h, i) >= row[at].to)
			at++;
		row[at].commands += h->buckets[i];
		first = at < first ? at : first;
		last = at;
	}
	if (first == SCALE_BUCKETS)
		return 0;
	memmove(row, row + first, (last - first + 1) * sizeof(*row));
	return last - first + 1;
}

static void get_to(const void *row, const struct column *c, struct value *v)
{
	const struct scale_row *r = row;

	if (r->endless)
		value_text(v, "inf");
	else
		value_natural(v, r->to);
}

static const struct column scale[] = {
	[SCALE_FROM] = {"from", "from", .unit = UNIT_NANOSECONDS,
			COLUMN_FIELD(struct scale_row, from)},
	[SCALE_TO] = {"to", "to", .unit = UNIT_NANOSECONDS, .get = get_to},
	[SCALE_COMMANDS] = {"commands", "commands", .unit = UNIT_COUNT,
			    COLUMN_FIELD(struct scale_row, commands)},
};

const struct columns scale_columns = COLUMNS("scale", scale);
