// SPDX-License-Identifier: GPL-2.0-only
#include "view/block.h"

#include "view/octaves.h"

void block_init(struct block *b, const struct stats *s, bool summary, bool unicode,
		unsigned int width)
{
	bool any = false;

	*b = (struct block){.s = s, .summary = summary, .unicode = unicode, .width = width};
	for (size_t i = 0; i < s->nr_rows; i++) {
		uint64_t counts[OCTAVES_NR];

		octaves_count(&s->rows[i]->total, counts);
		for (unsigned int k = 0; k < OCTAVES_NR; k++) {
			if (!counts[k])
				continue;
			if (!any || k < b->low)
				b->low = k;
			if (!any || k >= b->high)
				b->high = k + 1;
			any = true;
		}
	}
}
