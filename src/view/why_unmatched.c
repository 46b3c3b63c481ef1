// SPDX-License-Identifier: GPL-2.0-only
#include "view/why_unmatched.h"

#include "core/names.h"
#include "core/text.h"

void unmatched_print(const struct unmatched *a, unsigned int stream, const struct machines *m,
		     FILE *f)
{
	unsigned int other;
	enum unmatched_reason why = unmatched_why(a, stream, &other);
	const struct machine *at = machines_get(m, other);

	fputs("nothing of it is matched", f);
	if (other != stream) {
		fprintf(f, ", with %s ", side_name(at->side));
		text_print(f, at->name, TEXT_HEX);
	}
	fprintf(f, ": %s", unmatched_words(why));
}
