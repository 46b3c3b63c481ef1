// SPDX-License-Identifier: GPL-2.0-only
#include "view/block.h"

#include "view/octaves.h"

void block_init(struct block *b, const struct stats *s, bool summary, bool unicode,
		unsigned int width)
{
	unsigned int lowest = NT_BUCKETS, highest = 0;

	*b = (struct block){.s = s, .summary = summary, .unicode = unicode, .width = width};
	/*
	 * There may be thousands of rows. In each row, look only at buckets outside the range that
	 * earlier rows gave.
	 */
	for (size_t i = 0; i < s->nr_rows; i++) {
		const struct hist *h = &s->rows[i]->total;
		const uint64_t *buckets = h->buckets;
		unsigned int k = 0;

		while (k < lowest && !buckets[k])
			k++;
		if (k == NT_BUCKETS)
			continue;
		if (buckets[k])
			highest = k > highest ? k : highest;
		lowest = k;
		for (k = nt_bucket(h->max); k > highest && !buckets[k]; k--)
			;
		highest = k > highest ? k : highest;
	}
	if (lowest == NT_BUCKETS)
		return;
	b->low = octaves_of(lowest);
	b->high = octaves_of(highest) + 1;
}
