// SPDX-License-Identifier: GPL-2.0-only
#include "view/apart.h"

#include "core/names.h"
#include "core/text.h"

void apart_print(const struct apart *a, unsigned int stream, const struct machines *m, FILE *f)
{
	unsigned int other;
	enum apart_reason why = apart_why(a, stream, &other);
	const struct machine *at = machines_get(m, other);

	fputs("nothing of it is matched", f);
	if (other != stream) {
		fprintf(f, ", with %s ", side_name(at->side));
		text_print(f, at->name, TEXT_HEX);
	}
	fprintf(f, ": %s", apart_words(why));
}
