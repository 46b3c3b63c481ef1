// SPDX-License-Identifier: GPL-2.0-only
#include "view/streams.h"

#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"
#include "stream/reader.h"
#include "view/lines.h"
#include "view/losses.h"

static void get_path(const void *row, const struct column *c, struct value *v)
{
	const struct input *in = row;

	value_text(v, in->path);
}

static void get_side(const void *row, const struct column *c, struct value *v)
{
	const struct input *in = row;

	value_text(v, in->begun ? side_name(in->header.side) : "");
	v->none = !in->begun;
}

/* @arg: offset of an array of characters in struct input */
static void get_header_text(const void *row, const struct column *c, struct value *v)
{
	const struct input *in = row;

	value_text(v, (const char *)in + c->arg);
	v->none = !in->begun;
}

static void get_sample(const void *row, const struct column *c, struct value *v)
{
	const struct input *in = row;

	value_natural(v, in->header.sample);
	v->none = !in->begun || in->header.sample <= 1;
}

static void get_commands(const void *row, const struct column *c, struct value *v)
{
	const struct input *in = row;

	value_natural(v, in->records);
	v->none = !in->begun;
}

static void get_duration(const void *row, const struct column *c, struct value *v)
{
	const struct input *in = row;

	value_real(v, input_seconds(in));
	v->none = !in->begun;
}

static void get_bursts(const void *row, const struct column *c, struct value *v)
{
	const struct input *in = row;

	value_natural(v, in->bursts);
	v->none = !in->bursts;
}

static void get_measured(const void *row, const struct column *c, struct value *v)
{
	const struct input *in = row;

	value_real(v, (double)in->burst_ns / 1e9);
	v->none = !in->bursts;
}

static void get_unknown_losses(const void *row, const struct column *c, struct value *v)
{
	const struct input *in = row;

	value_natural(v, in->losses.unknown);
	v->none = !in->losses.unknown;
}

static void get_unknown_frames(const void *row, const struct column *c, struct value *v)
{
	const struct input *in = row;

	value_natural(v, in->begun ? stream_skipped(in->reader) : 0);
	v->none = !v->natural;
}

static void get_longer_frames(const void *row, const struct column *c, struct value *v)
{
	const struct input *in = row;

	value_natural(v, in->begun ? stream_longer(in->reader) : 0);
	v->none = !v->natural;
}

static void get_selection(const void *row, const struct column *c, struct value *v)
{
	const struct input *in = row;

	value_text(v, in->header.selection);
	v->none = !in->begun || !in->header.selection[0];
}

#define HEADER(field) get_header_text, offsetof(struct input, header.field), 0

static const struct column input[] = {
	[INPUT_PATH] = {"path", "path", .unit = UNIT_TEXT, .get = get_path},
	[INPUT_SIDE] = {"side", "side", .unit = UNIT_NAME, .get = get_side},
	[INPUT_HOSTNAME] = {"hostname", "hostname", NULL, UNIT_TEXT, HEADER(hostname)},
	[INPUT_KERNEL] = {"kernel", "kernel", NULL, UNIT_TEXT, HEADER(kernel)},
	[INPUT_SOURCE] = {"source", "source", NULL, UNIT_TEXT, HEADER(source)},
	[INPUT_SAMPLE] = {"sample", "sample", .unit = UNIT_COUNT, .get = get_sample},
	[INPUT_SELECTION] = {"selection", "selection", .unit = UNIT_TEXT, .get = get_selection},
	[INPUT_COMMANDS] = {"commands", "commands", .unit = UNIT_COUNT, .get = get_commands},
	[INPUT_DURATION] = {"duration", "duration", .unit = UNIT_SECONDS, .get = get_duration},
	[INPUT_BURSTS] = {"bursts", "bursts", .unit = UNIT_COUNT, .get = get_bursts},
	[INPUT_MEASURED] = {"measured", "measured", .unit = UNIT_SECONDS, .get = get_measured},
	[INPUT_UNKNOWN_LOSSES] = {"unknown_losses", "unknown losses", .unit = UNIT_COUNT,
				  .get = get_unknown_losses},
	[INPUT_UNKNOWN_FRAMES] = {"unknown_frames", "unknown frames", .unit = UNIT_COUNT,
				  .get = get_unknown_frames},
	[INPUT_LONGER_FRAMES] = {"longer_frames", "longer frames", .unit = UNIT_COUNT,
				 .get = get_longer_frames},
};

const struct columns input_columns = COLUMNS("inputs", input);

static void get_peer_source(const void *row, const struct column *c, struct value *v)
{
	const struct peer_row *p = row;

	value_text(v, p->about.source);
}

static void get_state(const void *row, const struct column *c, struct value *v)
{
#define STATE_NAME(id, name) [PEER_##id] = name,
	static const char *const names[] = {PEER_STATES(STATE_NAME)};
	const struct peer_row *p = row;

	value_text(v, names[p->about.state]);
}

static void get_silent(const void *row, const struct column *c, struct value *v)
{
	const struct peer_row *p = row;

	value_real(v, (double)p->about.silent_ns / 1e9);
	v->none = p->about.state != PEER_STALLED;
}

static void get_why(const void *row, const struct column *c, struct value *v)
{
	const struct peer_row *p = row;

	value_text(v, p->about.why);
	v->none = !p->about.why[0];
}

static void get_exit_status(const void *row, const struct column *c, struct value *v)
{
	const struct peer_row *p = row;

	value_integer(v, p->about.exit_status);
	v->none = !p->about.exit_status;
}

static void get_signal(const void *row, const struct column *c, struct value *v)
{
	const struct peer_row *p = row;

	value_integer(v, p->about.signal);
	v->none = !p->about.signal;
}

static void get_message(const void *row, const struct column *c, struct value *v)
{
	const struct peer_row *p = row;

	value_text(v, p->message ?: "");
	v->none = !p->message;
}

static void get_peer_side(const void *row, const struct column *c, struct value *v)
{
	const struct peer_row *p = row;

	value_text(v, p->about.header ? side_name(p->about.header->side) : "");
	v->none = !p->about.header;
}

/* @arg: offset of an array of characters in the stream's header */
static void get_peer_header_text(const void *row, const struct column *c, struct value *v)
{
	const struct peer_row *p = row;

	value_text(v, p->about.header ? (const char *)p->about.header + c->arg : "");
	v->none = !p->about.header;
}

static void get_peer_commands(const void *row, const struct column *c, struct value *v)
{
	const struct peer_row *p = row;

	value_natural(v, p->about.records);
	v->none = !p->about.header;
}

static void get_peer_sample(const void *row, const struct column *c, struct value *v)
{
	const struct peer_row *p = row;

	value_natural(v, p->about.header ? p->about.header->sample : 0);
	v->none = v->natural <= 1;
}

static void get_peer_unknown_frames(const void *row, const struct column *c, struct value *v)
{
	const struct peer_row *p = row;

	value_natural(v, p->about.skipped);
	v->none = !p->about.skipped;
}

static void get_peer_longer_frames(const void *row, const struct column *c, struct value *v)
{
	const struct peer_row *p = row;

	value_natural(v, p->about.longer);
	v->none = !p->about.longer;
}

static void get_peer_selection(const void *row, const struct column *c, struct value *v)
{
	const struct peer_row *p = row;

	value_text(v, p->about.header ? p->about.header->selection : "");
	v->none = !v->text[0];
}

#define PEER_HEADER(field) get_peer_header_text, offsetof(struct stream_header, field), 0

static const struct column peer[] = {
	[ABOUT_NUMBER] = {"peer", "peer", .unit = UNIT_NUMBER,
			  COLUMN_FIELD(struct peer_row, number)},
	[ABOUT_SOURCE] = {"source", "source", .unit = UNIT_TEXT, .get = get_peer_source},
	[ABOUT_STATE] = {"state", "state", .unit = UNIT_NAME, .get = get_state},
	[ABOUT_SILENT] = {"silent", "silent for", .unit = UNIT_SECONDS, .get = get_silent},
	[ABOUT_WHY] = {"why", "why", .unit = UNIT_NAME, .get = get_why},
	[ABOUT_EXIT_STATUS] = {"exit_status", "exit status", .unit = UNIT_NUMBER,
			       .get = get_exit_status},
	[ABOUT_SIGNAL] = {"signal", "signal", .unit = UNIT_NUMBER, .get = get_signal},
	[ABOUT_MESSAGE] = {"message", "message", .unit = UNIT_TEXT, .get = get_message},
	[ABOUT_SIDE] = {"side", "side", .unit = UNIT_NAME, .get = get_peer_side},
	[ABOUT_HOSTNAME] = {"hostname", "hostname", NULL, UNIT_TEXT, PEER_HEADER(hostname)},
	[ABOUT_KERNEL] = {"kernel", "kernel", NULL, UNIT_TEXT, PEER_HEADER(kernel)},
	[ABOUT_COMMANDS] = {"commands", "commands", .unit = UNIT_COUNT, .get = get_peer_commands},
	[ABOUT_SAMPLE] = {"sample", "sample", .unit = UNIT_COUNT, .get = get_peer_sample},
	[ABOUT_SELECTION] = {"selection", "selection", .unit = UNIT_TEXT,
			     .get = get_peer_selection},
	[ABOUT_UNKNOWN_FRAMES] = {"unknown_frames", "unknown frames", .unit = UNIT_COUNT,
				  .get = get_peer_unknown_frames},
	[ABOUT_LONGER_FRAMES] = {"longer_frames", "longer frames", .unit = UNIT_COUNT,
				 .get = get_peer_longer_frames},
};

const struct columns peer_columns = COLUMNS("peers", peer);

static void get_strays(const void *row, const struct column *c, struct value *v)
{
	const struct live_merge_counts *n = row;

	value_natural(v, n->strays);
	v->none = !n->strays;
}

static void get_past_limits(const void *row, const struct column *c, struct value *v)
{
	const struct live_merge_counts *n = row;

	value_natural(v, n->past_limits);
	v->none = !n->past_limits;
}

static void get_crowded_out(const void *row, const struct column *c, struct value *v)
{
	const struct live_merge_counts *n = row;

	value_natural(v, n->crowded_out);
	v->none = !n->crowded_out;
}

static void get_in_crowd(const void *row, const struct column *c, struct value *v)
{
	const struct live_merge_counts *n = row;

	value_natural(v, n->in_crowd);
	v->none = !n->in_crowd;
}

#define FIELD(field) COLUMN_FIELD(struct live_merge_counts, field)

static const struct column matching[] = {
	[MATCHING_MATCHED] = {"matched", "matched", .unit = UNIT_COUNT, FIELD(matched)},
	[MATCHING_HOST_ONLY] = {"host_only", "host only", .unit = UNIT_COUNT, FIELD(host_only)},
	[MATCHING_TARGET_ONLY] = {"target_only", "target only", .unit = UNIT_COUNT,
				  FIELD(target_only)},
	[MATCHING_AMBIGUOUS] = {"ambiguous", "ambiguous", .unit = UNIT_COUNT, FIELD(ambiguous)},
	[MATCHING_UNDECIDED] = {"undecided", "undecided", .unit = UNIT_COUNT, FIELD(undecided)},
	[MATCHING_STRAYS] = {"strays", "of queues that no stream told of", .unit = UNIT_COUNT,
			     .get = get_strays},
	[MATCHING_PAST_LIMITS] = {"past_limits", "past the limits of connections or slots",
				  .unit = UNIT_COUNT, .get = get_past_limits},
	[MATCHING_CROWDED_OUT] = {"crowded_out", "given up for want of room", .unit = UNIT_COUNT,
				  .get = get_crowded_out},
	[MATCHING_IN_CROWD] = {"in_crowd", "of too many queues of one name", .unit = UNIT_COUNT,
			       .get = get_in_crowd},
	[MATCHING_EARLY] = {"early", "before any peer recorded", .unit = UNIT_COUNT, FIELD(early)},
};

const struct columns matching_columns = COLUMNS("matching", matching);

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
