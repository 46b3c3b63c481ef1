// SPDX-License-Identifier: GPL-2.0-only
#include "view/octaves.h"

#include <string.h>

void octaves_count(const struct hist *h, uint64_t counts[OCTAVES_NR])
{
	memset(counts, 0, OCTAVES_NR * sizeof(*counts));
	for (unsigned int i = 0; i < NT_BUCKETS; i++)
		counts[octaves_of(i)] += h->buckets[i];
}

static void bound(unsigned int octave, struct value *v)
{
	if (octave >= OCTAVES_NR)
		value_text(v, "inf");
	else
		value_natural(v, octave ? 1ull << octave : 0);
}

static void get_from(const void *row, const struct column *c, struct value *v)
{
	const struct octaves_row *r = row;

	bound(r->low, v);
}

static void get_to(const void *row, const struct column *c, struct value *v)
{
	const struct octaves_row *r = row;

	bound(r->high, v);
}

static const struct column octaves[] = {
	[OCTAVES_FROM] = {"from", "from", .unit = UNIT_NANOSECONDS, .get = get_from},
	[OCTAVES_TO] = {"to", "to", .unit = UNIT_NANOSECONDS, .get = get_to},
	[OCTAVES_COMMANDS] = {"commands", "commands", .unit = UNIT_COUNT,
			      COLUMN_FIELD(struct octaves_row, commands)},
};

const struct columns octaves_columns = COLUMNS("histogram", octaves);
