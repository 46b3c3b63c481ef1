// SPDX-License-Identifier: GPL-2.0-only
#include "view/lacks.h"

#include "core/names.h"
#include "core/segments.h"

void lacks_print(FILE *f, const char *before, enum nt_side side, uint32_t missing,
		 const char *after)
{
	const char *between = "lacks the points ";

	missing &= segments_points(side);
	if (!missing)
		return;
	fputs(before, f);
	for (unsigned int i = 0; i < points_nr(side); i++) {
		if (!(missing & 1u << i))
			continue;
		fprintf(f, "%s%s", between, point_name(side, i));
		between = ", ";
	}
	fputs(after, f);
}
