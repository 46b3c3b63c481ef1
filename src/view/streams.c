// SPDX-License-Identifier: GPL-2.0-only
#include "view/streams.h"

#include <inttypes.h>

#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"
#include "core/time.h"
#include "stream/reader.h"
#include "view/lines.h"
#include "view/losses.h"

static bool not_begun(const void *row)
{
	return !((const struct input *)row)->begun;
}

static bool no_bursts(const void *row)
{
	return !((const struct input *)row)->bursts;
}

static void get_duration(const void *row, const struct column *c, struct value *v)
{
	const struct input *in = row;

	value_real(v, input_seconds(in));
	v->none = !in->begun;
}

/* @arg: INPUT_UNKNOWN_FRAMES or INPUT_LONGER_FRAMES */
static void get_frames(const void *row, const struct column *c, struct value *v)
{
	const struct input *in = row;
	uint64_t (*const count)(const struct stream_reader *r) =
		c->arg == INPUT_LONGER_FRAMES ? stream_longer : stream_skipped;

	value_natural(v, in->begun ? count(in->reader) : 0);
	v->none = !v->natural;
}

/* When the recording began, or the last command of it ended, by its machine's clocks; 0: not known.
 */
static int64_t wall_of(const struct input *in, unsigned int column)
{
	if (column == INPUT_BEGAN || !in->last_ns)
		return in->clock.realtime_ns;
	return instant_wall(&in->clock, in->last_ns);
}

/* @arg: INPUT_BEGAN or INPUT_ENDED */
static void get_wall(const void *row, const struct column *c, struct value *v)
{
	value_time(v, wall_of(row, c->arg));
}

#define FIELD(member) COLUMN_FIELD(struct input, member)
#define HEADER(member) FIELD(header.member), .none = not_begun

static const struct column input[] = {
	[INPUT_PATH] = COLUMN("path", TEXT, FIELD(path)),
	[INPUT_SIDE] = COLUMN("side", NAME, HEADER(side), .words = WORD_SIDE),
	[INPUT_HOSTNAME] = COLUMN("hostname", TEXT, HEADER(hostname)),
	[INPUT_KERNEL] = COLUMN("kernel", TEXT, HEADER(kernel)),
	[INPUT_SOURCE] = COLUMN("source", TEXT, HEADER(source)),
	[INPUT_SAMPLE] = COLUMN("sample", COUNT, HEADER(sample), .least = 2),
	[INPUT_SELECTION] = COLUMN("selection", TEXT, HEADER(selection), .least = 1),
	[INPUT_COMMANDS] = COLUMN("commands", COUNT, FIELD(records), .none = not_begun),
	[INPUT_DURATION] = {"duration_seconds", "duration", .unit = UNIT_SECONDS,
			    .get = get_duration},
	[INPUT_BEGAN] = COLUMN("began", NAME, .get = get_wall, .arg = INPUT_BEGAN),
	[INPUT_ENDED] = COLUMN("ended", NAME, .get = get_wall, .arg = INPUT_ENDED),
	[INPUT_BURSTS] = COLUMN("bursts", COUNT, FIELD(bursts), .least = 1),
	[INPUT_MEASURED] = {"measured_seconds", "measured", .unit = UNIT_SECONDS, FIELD(burst_ns),
			    .none = no_bursts},
	[INPUT_UNKNOWN_LOSSES] = {"unknown_losses", "unknown losses", .unit = UNIT_COUNT,
				  FIELD(losses.unknown), .least = 1},
	[INPUT_NAMES_GONE] = {"names_gone", "names gone", .unit = UNIT_COUNT, FIELD(names_gone),
			      .least = 1},
	[INPUT_TCP_PAST] = {"tcp_past", "TCP past", .unit = UNIT_COUNT, FIELD(tcp_past),
			    .least = 1},
	[INPUT_UNKNOWN_FRAMES] = {"unknown_frames", "unknown frames", .unit = UNIT_COUNT,
				  .get = get_frames, .arg = INPUT_UNKNOWN_FRAMES},
	[INPUT_LONGER_FRAMES] = {"longer_frames", "longer frames", .unit = UNIT_COUNT,
				 .get = get_frames, .arg = INPUT_LONGER_FRAMES},
};

const struct columns input_columns = COLUMNS("inputs", input);

static void get_state(const void *row, const struct column *c, struct value *v)
{
#define STATE_NAME(id, name) [PEER_##id] = name,
	static const char *const names[] = {PEER_STATES(STATE_NAME)};
	const struct peer_row *p = row;

	value_text(v, names[p->about.state]);
}

static bool not_stalled(const void *row)
{
	return ((const struct peer_row *)row)->about.state != PEER_STALLED;
}

static bool no_header(const void *row)
{
	return !((const struct peer_row *)row)->about.header;
}

#define ABOUT(member) COLUMN_FIELD(struct peer_row, member)
#define PEER_HEADER(member) COLUMN_AT(struct peer_row, about.header, member)

static const struct column peer[] = {
	[ABOUT_NUMBER] = COLUMN("peer", NUMBER, ABOUT(number)),
	[ABOUT_SOURCE] = COLUMN("source", TEXT, ABOUT(about.source)),
	[ABOUT_STATE] = COLUMN("state", NAME, .get = get_state),
	[ABOUT_SILENT] = {"silent_seconds", "silent for", .unit = UNIT_SECONDS,
			  ABOUT(about.silent_ns), .none = not_stalled},
	[ABOUT_WHY] = COLUMN("why", NAME, ABOUT(about.why), .least = 1),
	[ABOUT_EXIT_STATUS] = {"exit_status", "exit status", .unit = UNIT_NUMBER,
			       ABOUT(about.exit_status), .least = 1},
	[ABOUT_SIGNAL] = COLUMN("signal", NUMBER, ABOUT(about.signal), .least = 1),
	[ABOUT_MESSAGE] = COLUMN("message", TEXT, ABOUT(message)),
	[ABOUT_SIDE] = COLUMN("side", NAME, PEER_HEADER(side), .words = WORD_SIDE),
	[ABOUT_HOSTNAME] = COLUMN("hostname", TEXT, PEER_HEADER(hostname)),
	[ABOUT_KERNEL] = COLUMN("kernel", TEXT, PEER_HEADER(kernel)),
	[ABOUT_COMMANDS] = COLUMN("commands", COUNT, ABOUT(about.records), .none = no_header),
	[ABOUT_SAMPLE] = COLUMN("sample", COUNT, PEER_HEADER(sample), .least = 2),
	[ABOUT_SELECTION] = COLUMN("selection", TEXT, PEER_HEADER(selection), .least = 1),
	[ABOUT_UNKNOWN_LOSSES] = {"unknown_losses", "unknown losses", .unit = UNIT_COUNT,
				  COLUMN_AT(struct peer_row, about.losses, unknown), .least = 1},
	[ABOUT_UNKNOWN_FRAMES] = {"unknown_frames", "unknown frames", .unit = UNIT_COUNT,
				  ABOUT(about.skipped), .least = 1},
	[ABOUT_LONGER_FRAMES] = {"longer_frames", "longer frames", .unit = UNIT_COUNT,
				 ABOUT(about.longer), .least = 1},
};

const struct columns peer_columns = COLUMNS("peers", peer);

#define MATCHING(member) .unit = UNIT_COUNT, COLUMN_FIELD(struct live_merge_counts, member)

static const struct column matching[] = {
	[MATCHING_MATCHED] = {"matched", "matched", MATCHING(matched)},
	[MATCHING_HOST_ONLY] = {"host_only", "host only", MATCHING(host_only)},
	[MATCHING_TARGET_ONLY] = {"target_only", "target only", MATCHING(target_only)},
	[MATCHING_AMBIGUOUS] = {"ambiguous", "ambiguous", MATCHING(ambiguous)},
	[MATCHING_UNDECIDED] = {"undecided", "undecided", MATCHING(undecided)},
	[MATCHING_STRAYS] = {"strays", "of queues that no stream announced", MATCHING(strays),
			     .least = 1},
	[MATCHING_PAST_LIMITS] = {"past_limits", "past the limits of connections or slots",
				  MATCHING(past_limits), .least = 1},
	[MATCHING_CROWDED_OUT] = {"crowded_out", "given up for want of room", MATCHING(crowded_out),
				  .least = 1},
	[MATCHING_IN_CROWD] = {"in_crowd", "unmatched: too many queues share an NQN",
			       MATCHING(in_crowd), .least = 1},
	[MATCHING_EARLY] = {"early", "before both recorded", MATCHING(early)},
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
	if (segments_only_ends(side, missing)) {
		fprintf(f, "has only the ends of commands (--points ends)%s", after);
		return;
	}
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

/* Prints a line of its own if there is a value. */
static void note_print(const struct input *in, const struct phrase *p, FILE *f)
{
	struct value v;

	columns_get(&input_columns, p->column, in, &v);
	if (v.none)
		return;
	LINE_PRINT(f, &input_columns, path, in);
	line_print(f, &input_columns, p, 1, in);
}

static void losses_print(const struct input *in, FILE *f)
{
	static const struct phrase loss[] = {
		PHRASE("loss ", LOSS_LOSS),
		PHRASE(" ", LOSS_TOTAL),
		PHRASE("  # ", LOSS_MEANING, .after = "\n"),
	};

	for (unsigned int c = 0; c < COUNTERS_NR; c++) {
		const struct loss_row row = {.counter = c, .total = in->losses.count[c]};

		if (!row.total)
			continue;
		LINE_PRINT(f, &input_columns, path, in);
		LINE_PRINT(f, &loss_columns, loss, &row);
	}
}

/* How far the wall clock is ahead of that of another recording, in seconds. */
static int64_t ahead_of(const struct input *in, const struct input *beside)
{
	const int64_t ns_per_s = 1000000000;
	uint64_t here =
		(uint64_t)in->clock.realtime_ns - in->clock.monotonic_ns - (uint64_t)in->to_common;
	uint64_t there = (uint64_t)beside->clock.realtime_ns - beside->clock.monotonic_ns -
			 (uint64_t)beside->to_common;

	return (int64_t)(here - there) / ns_per_s;
}

/* ", which is 5:00:01 ahead of that of host.ntp", if it is a second or more */
static void ahead_print(const struct input *in, const struct input *beside, FILE *f)
{
	int64_t s = beside && beside->clock.realtime_ns ? ahead_of(in, beside) : 0;
	uint64_t n = s < 0 ? -(uint64_t)s : (uint64_t)s;

	if (!s)
		return;
	fprintf(f, ", which is %" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " %s that of ", n / 3600,
		n / 60 % 60, n % 60, s > 0 ? "ahead of" : "behind");
	text_print(f, beside->path, TEXT_HEX);
}

void inputs_print(const struct input *in, const struct input *beside, FILE *f)
{
	static const struct phrase line[] = {
		PHRASE(NULL, INPUT_SIDE),
		PHRASE(" ", INPUT_HOSTNAME),
		PHRASE(", Linux ", INPUT_KERNEL),
		PHRASE(", ", INPUT_SOURCE),
		PHRASE(", a sample of 1 in ", INPUT_SAMPLE),
		PHRASE(", ", INPUT_COMMANDS, .after = " commands"),
		PHRASE(" within ", INPUT_DURATION, .after = " s", .digits = 3),
		PHRASE(", in ", INPUT_BURSTS, .after = " burst", .plural = true),
		PHRASE(" of together ", INPUT_MEASURED, .after = " s", .digits = 3),
	};
	static const struct phrase selection =
		PHRASE("recorded were only commands of ", INPUT_SELECTION,
		       .after = ": counts and rates are of these\n");
	static const struct phrase counts[] = {
		PHRASE("names of connections and disks that gave way to later ones ",
		       INPUT_NAMES_GONE, .after = "\n"),
		PHRASE("TCP connections and times that found no room ", INPUT_TCP_PAST,
		       .after = "\n"),
		PHRASE("losses of names that this version does not know ", INPUT_UNKNOWN_LOSSES,
		       .after = "\n"),
		PHRASE("frames of types that this version does not know ", INPUT_UNKNOWN_FRAMES,
		       .after = "\n"),
		PHRASE("frames with fields that this version does not know ", INPUT_LONGER_FRAMES,
		       .after = "\n"),
	};
	const char *error = stream_error(in->reader);

	if (in->begun) {
		LINE_PRINT(f, &input_columns, path, in);
		LINE_PRINT(f, &input_columns, line, in);
		fputs("\n", f);
	}
	if (in->clock.realtime_ns) {
		char began[LOCAL_TIME_LEN], ended[LOCAL_TIME_LEN];

		LINE_PRINT(f, &input_columns, path, in);
		fprintf(f, "recorded %s to %s, by its clock",
			local_time_format(began, wall_of(in, INPUT_BEGAN)),
			local_time_format(ended, wall_of(in, INPUT_ENDED)));
		ahead_print(in, beside, f);
		fputs("\n", f);
	}
	note_print(in, &selection, f);
	if (in->begun && in->header.missing & segments_points(in->header.side)) {
		LINE_PRINT(f, &input_columns, path, in);
		lacks_print(f,
			    segments_only_ends(in->header.side, in->header.missing) ? "it "
										    : "its kernel ",
			    in->header.side, in->header.missing, "\n");
	}
	losses_print(in, f);
	for (unsigned int i = 0; i < ARRAY_SIZE(counts); i++)
		note_print(in, &counts[i], f);
	if (error[0]) {
		LINE_PRINT(f, &input_columns, path, in);
		fprintf(f, "%s%s\n", error, in->begun ? "; what was whole before is used" : "");
	}
}

void inputs_print_unmatched(const struct input *in, const struct unmatched *a, unsigned int stream,
			    const struct machines *m, FILE *f)
{
	unsigned int other;

	LINE_PRINT(f, &input_columns, path, in);
	if (unmatched_why(a, stream, &other) != UNMATCHED_NOBODY)
		unmatched_print(a, stream, m, f);
	else if (in->header.side == NT_HOST)
		fputs("host only; add the target's recording for network and target stages", f);
	else
		fputs("target only; add the host's recording for network and host stages", f);
	fputs("\n", f);
}
