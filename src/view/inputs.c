// SPDX-License-Identifier: GPL-2.0-only
#include "view/inputs.h"

#include "core/segments.h"
#include "stream/reader.h"
#include "view/why_unmatched.h"
#include "view/columns_losses.h"
#include "view/columns_streams.h"
#include "view/lacks.h"
#include "view/lines.h"

static const struct phrase path[] = {PHRASE(NULL, INPUT_PATH, .after = ": ")};

/* Prints how much of the stream this version could not read. */
static void unknown_print(const struct input *in, FILE *f)
{
	static const struct phrase losses[] = {
		PHRASE("losses of names that this version does not know ", INPUT_UNKNOWN_LOSSES,
		       .after = "\n"),
	};
	static const struct phrase frames[] = {
		PHRASE("frames of types that this version does not know ", INPUT_UNKNOWN_FRAMES,
		       .after = "\n"),
	};
	static const struct phrase longer[] = {
		PHRASE("frames with fields that this version does not know ", INPUT_LONGER_FRAMES,
		       .after = "\n"),
	};

	if (in->losses.unknown) {
		LINE_PRINT(f, &input_columns, path, in);
		LINE_PRINT(f, &input_columns, losses, in);
	}
	if (stream_skipped(in->reader)) {
		LINE_PRINT(f, &input_columns, path, in);
		LINE_PRINT(f, &input_columns, frames, in);
	}
	if (stream_longer(in->reader)) {
		LINE_PRINT(f, &input_columns, path, in);
		LINE_PRINT(f, &input_columns, longer, in);
	}
}

static void losses_print(const struct input *in, FILE *f)
{
	static const struct phrase loss[] = {PHRASE("loss ", LOSS_LOSS),
					     PHRASE(" ", LOSS_TOTAL, .after = "\n")};

	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		const struct loss_row row = {.counter = c, .total = in->losses.count[c]};

		if (!row.total)
			continue;
		LINE_PRINT(f, &input_columns, path, in);
		LINE_PRINT(f, &loss_columns, loss, &row);
	}
}

void inputs_print(const struct input *in, FILE *f)
{
	static const struct phrase line[] = {
		PHRASE(NULL, INPUT_SIDE),
		PHRASE(" ", INPUT_HOSTNAME),
		PHRASE(", Linux ", INPUT_KERNEL),
		PHRASE(", ", INPUT_SOURCE),
		PHRASE(", a sample of 1 in ", INPUT_SAMPLE),
		PHRASE(", ", INPUT_COMMANDS, .after = " commands"),
		PHRASE(" in ", INPUT_DURATION, .after = " s", .digits = 3),
		PHRASE(", in ", INPUT_BURSTS, .after = " burst", .plural = true),
		PHRASE(" of together ", INPUT_MEASURED, .after = " s", .digits = 3),
	};
	static const struct phrase selection[] = {
		PHRASE("recorded were only commands of ", INPUT_SELECTION,
		       .after = ": counts and rates are of these\n"),
	};
	const char *error = stream_error(in->reader);

	if (in->begun) {
		LINE_PRINT(f, &input_columns, path, in);
		LINE_PRINT(f, &input_columns, line, in);
		fputs("\n", f);
	}
	if (in->begun && in->header.selection[0]) {
		LINE_PRINT(f, &input_columns, path, in);
		LINE_PRINT(f, &input_columns, selection, in);
	}
	if (in->begun && in->header.missing & segments_points(in->header.side)) {
		LINE_PRINT(f, &input_columns, path, in);
		lacks_print(f, "its kernel ", in->header.side, in->header.missing, "\n");
	}
	losses_print(in, f);
	unknown_print(in, f);
	if (error[0]) {
		LINE_PRINT(f, &input_columns, path, in);
		fprintf(f, "%s%s\n", error, in->begun ? "; what was whole before is used" : "");
	}
}

void inputs_print_unmatched(const struct input *in, const struct unmatched *a, unsigned int stream,
			    const struct machines *m, FILE *f)
{
	LINE_PRINT(f, &input_columns, path, in);
	unmatched_print(a, stream, m, f);
	fputs("; by itself it tells:\n", f);
}
