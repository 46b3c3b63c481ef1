// SPDX-License-Identifier: GPL-2.0-only
#include "view/inputs.h"

#include <inttypes.h>

#include "core/counters.h"
#include "core/names.h"
#include "core/text.h"

void view_input(const struct input *in, FILE *f)
{
	const struct stream_header *h = &in->header;
	const char *error = stream_error(in->reader);

	if (in->begun) {
		text_print(f, in->path, TEXT_HEX);
		fprintf(f, ": %s ", side_name(h->side));
		text_print(f, h->hostname, TEXT_HEX);
		fprintf(f, ", Linux ");
		text_print(f, h->kernel, TEXT_HEX);
		fprintf(f, ", ");
		text_print(f, h->source, TEXT_HEX);
		if (h->sample > 1)
			fprintf(f, ", a sample of 1 in %u", h->sample);
		fprintf(f, ", %" PRIu64 " commands in %.3f s\n", in->records,
			in->last_ns > in->first_ns ? (double)(in->last_ns - in->first_ns) / 1e9
						   : 0);
	}
	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		if (!in->losses.count[c])
			continue;
		text_print(f, in->path, TEXT_HEX);
		fprintf(f, ": loss %s %" PRIu64 "\n", counter_name(c), in->losses.count[c]);
	}
	if (in->losses.unknown) {
		text_print(f, in->path, TEXT_HEX);
		fprintf(f, ": losses of names that this version does not know %" PRIu64 "\n",
			in->losses.unknown);
	}
	if (error[0]) {
		text_print(f, in->path, TEXT_HEX);
		fprintf(f, ": %s%s\n", error, in->begun ? "; what was whole before is used" : "");
	}
}
