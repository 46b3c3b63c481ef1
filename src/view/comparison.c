// SPDX-License-Identifier: GPL-2.0-only
#include "view/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "core/counters.h"
#include "core/names.h"
#include "core/text.h"
#include "merge/stretches.h"
#include "view/json_block.h"
#include "view/lines.h"
#include "view/stages.h"
#include "view/streams.h"

#define LINE_LEN COMPARISON_LINE_LEN

static const char *const when_name[] = {[COMPARE_BEFORE] = "before", [COMPARE_AFTER] = "after"};

const char *comparison_when(unsigned int when)
{
	return when_name[when];
}

#define LOAD(id) COLUMN_FIELD(struct load_row, load[COMPARE_LOAD_##id])

static const struct column load[] = {
	[LOAD_WHEN] = COLUMN("when", NAME, COLUMN_FIELD(struct load_row, when)),
	[LOAD_SECONDS] = {"measured_seconds", "seconds", .unit = UNIT_SECONDS,
			  COLUMN_FIELD(struct load_row, seconds)},
	[LOAD_COMMANDS] = COLUMN("commands", COUNT, COLUMN_FIELD(struct load_row, commands)),
	[LOAD_RATE] = {"iops", "IOPS", .unit = UNIT_PER_SECOND, LOAD(RATE)},
	[LOAD_BYTES] = {"throughput", "MB/s", .unit = UNIT_BYTES_PER_SECOND, LOAD(BYTES)},
	[LOAD_DEPTH] = {"in_flight", "in flight", .unit = UNIT_COUNT, LOAD(DEPTH)},
	[LOAD_SIZE] = {"mean_bytes", "mean size", .unit = UNIT_BYTES, LOAD(SIZE)},
	[LOAD_READS] = {"reads", "reads", .unit = UNIT_SHARE, LOAD(READS)},
};

const struct columns load_columns = COLUMNS("loads", load);

#define KIND(member) COLUMN_AT(struct kind_row, k, member)

static const struct column kind[] = {
	[KIND_OP] = COLUMN("op", NAME, COLUMN_FIELD(struct kind_row, op), .words = WORD_OP),
	[KIND_SIZE] = COLUMN("size", NAME, COLUMN_FIELD(struct kind_row, size)),
	[KIND_COMMANDS_BEFORE] = {"commands_before", "before", .unit = UNIT_COUNT,
				  KIND(commands[COMPARE_BEFORE])},
	[KIND_COMMANDS_AFTER] = {"commands_after", "after", .unit = UNIT_COUNT,
				 KIND(commands[COMPARE_AFTER])},
	[KIND_COMPARED] = {"compared", "compared", .unit = UNIT_SHARE, KIND(overlap)},
	[KIND_STRETCH_BEFORE] = {"stretch_before_seconds", "stretch", .unit = UNIT_SECONDS,
				 KIND(stretch_seconds[COMPARE_BEFORE])},
	[KIND_STRETCH_AFTER] = {"stretch_after_seconds", "after", .unit = UNIT_SECONDS,
				KIND(stretch_seconds[COMPARE_AFTER])},
	[KIND_WHY] = COLUMN("why", NAME, COLUMN_FIELD(struct kind_row, why)),
};

const struct columns kind_columns = COLUMNS("kinds", kind);

#define FIELD(member) COLUMN_FIELD(struct shift_row, member)
#define SHIFT(member) COLUMN_AT(struct shift_row, s, member)

/* A stage that took no time has no share of it. */
static bool has_no_share(const void *row)
{
	return ((const struct shift_row *)row)->s->value[COMPARE_BEFORE] <= 0;
}

static const struct column shift[] = {
	[SHIFT_OP] = COLUMN("op", NAME, FIELD(op), .words = WORD_OP),
	[SHIFT_SIZE] = COLUMN("size", NAME, FIELD(size)),
	[SHIFT_DURATION] = COLUMN("duration", NAME, FIELD(duration)),
	[SHIFT_WHERE] = COLUMN("where", NAME, FIELD(where), .least = 1),
	[SHIFT_MACHINE] = COLUMN("machine", TEXT, FIELD(machine), .least = 1),
	[SHIFT_FIGURE] = COLUMN("figure", NAME, FIELD(figure)),
	[SHIFT_FINDING] = COLUMN("finding", NAME, FIELD(finding)),
	[SHIFT_BEFORE] = COLUMN("before", NANOSECONDS, SHIFT(value[COMPARE_BEFORE])),
	[SHIFT_AFTER] = COLUMN("after", NANOSECONDS, SHIFT(value[COMPARE_AFTER])),
	[SHIFT_SHIFT] = COLUMN("shift", NANOSECONDS, FIELD(shift)),
	[SHIFT_LOW] = {"low", "from", .unit = UNIT_NANOSECONDS, SHIFT(low)},
	[SHIFT_HIGH] = {"high", "to", .unit = UNIT_NANOSECONDS, SHIFT(high)},
	[SHIFT_SHARE] = {"shift_share", "shift", .unit = UNIT_SHARE, FIELD(share[0]),
			 .none = has_no_share},
	[SHIFT_SHARE_LOW] = {"low_share", "from", .unit = UNIT_SHARE, FIELD(share[1]),
			     .none = has_no_share},
	[SHIFT_SHARE_HIGH] = {"high_share", "to", .unit = UNIT_SHARE, FIELD(share[2]),
			      .none = has_no_share},
	[SHIFT_GREATER] = {"greater", "P(after>)", .unit = UNIT_SHARE, FIELD(greater)},
};

const struct columns shift_columns = COLUMNS("shifts", shift);

/* Names. */

static void put_bytes(char *buf, size_t size, uint32_t bytes)
{
	static const char units[] = "kMG";
	size_t at = strlen(buf);
	unsigned int u = 0;

	for (; u < 3 && bytes && bytes % 1024 == 0; u++)
		bytes /= 1024;
	snprintf(buf + at, size - at, "%" PRIu32 "%.1s", bytes, u ? &units[u - 1] : "");
}

/* "4k", "5k-8k", or "" if there are no data. */
static void size_name(char *buf, size_t size, const struct compare_kind *k)
{
	buf[0] = '\0';
	if (!k->most || k->least > k->most)
		return;
	put_bytes(buf, size, k->least);
	if (k->least == k->most)
		return;
	strcat(buf, "-");
	put_bytes(buf, size, k->most);
}

static const char *kind_why(const struct compare_kind *k)
{
	static const char *const words[] = {
		[COMPARE_COMPARED] = NULL,
		[COMPARE_ONLY_ONE] = "one of the recordings has none",
		[COMPARE_FEW] = "there are too few",
		[COMPARE_SHORT] = "the recordings are too short",
		[COMPARE_APART] = "too few of them were found under the same load",
	};

	return words[k->why];
}

char *comparison_duration(char *buf, size_t size, const struct compare *c, unsigned int duration)
{
	const struct blocks *b = &c->blocks[COMPARE_AFTER];
	unsigned int stage = duration - BLOCKS_STAGE(0);

	if (duration == BLOCKS_LATENCY)
		snprintf(buf, size, "latency");
	else if (b->side == NT_SIDES)
		merged_joined_name(b->into, stage, buf, size);
	else
		stage_joined_name(b->side, b->into, stage, buf, size);
	return buf;
}

/* 0 for the latency. */
static unsigned int duration_where(const struct compare *c, unsigned int duration)
{
	const struct blocks *b = &c->blocks[COMPARE_AFTER];

	if (duration == BLOCKS_LATENCY)
		return 0;
	return stages_where(b->side, b->into, duration - BLOCKS_STAGE(0));
}

/* Machines. */

/* What the machines of a name add to the mean of a duration. */
static double machine_mean(const struct comparison *v, unsigned int when, const char *name,
			   enum nt_side side, const struct compare_kind *k, unsigned int duration)
{
	const struct blocks *b = &v->c->blocks[when];
	double sum = 0;

	for (unsigned int i = 0; i < b->nr_kinds; i++) {
		const struct blocks_kind *of = b->kind[i];

		for (unsigned int s = 0; of->op == k->op && of->size == k->size &&
					 s < of->nr_machines && s < v->of[when].nr;
		     s++)
			if (v->of[when].inputs[s].header.side == side &&
			    !strcmp(machines_get(v->of[when].machines, s)->name, name))
				sum += of->machine[s].sum[duration];
	}
	return k->commands[when] ? sum / (double)k->commands[when] : 0;
}

/* Return: the name of the machine in which a duration has shifted most that way, or "". */
static const char *machine_of(const struct comparison *v, const struct compare_kind *k,
			      unsigned int duration, bool slower)
{
	unsigned int where = duration_where(v->c, duration);
	enum nt_side side = where == STAGE_AT_HOST ? NT_HOST : NT_TARGET;
	const struct comparison_recording *after = &v->of[COMPARE_AFTER];
	const char *found = "";
	double most = 0;

	if (where != STAGE_AT_HOST && where != STAGE_AT_TARGET)
		return "";
	for (unsigned int s = 0; s < after->nr; s++) {
		const char *name = machines_get(after->machines, s)->name;
		double shift;

		if (!after->inputs[s].begun || after->inputs[s].header.side != side)
			continue;
		shift = machine_mean(v, COMPARE_AFTER, name, side, k, duration) -
			machine_mean(v, COMPARE_BEFORE, name, side, k, duration);
		shift = slower ? shift : -shift;
		if (*found && shift <= most)
			continue;
		most = shift;
		found = name;
	}
	return found;
}

/* Rows. */

void comparison_load(struct load_row *row, const struct compare *c, unsigned int when)
{
	*row = (struct load_row){.when = when_name[when],
				 .seconds = blocks_seconds(&c->blocks[when]),
				 .commands = c->blocks[when].commands};
	for (unsigned int i = 0; i < COMPARE_LOADS_NR; i++)
		row->load[i] = c->load[i].value[when];
}

void comparison_kind(struct kind_row *row, const struct compare_kind *k)
{
	*row = (struct kind_row){.k = k, .op = k->op, .why = kind_why(k)};
	size_name(row->size, sizeof(row->size), k);
}

/* Return: whether there is such a row. */
static bool shift_row(struct shift_row *row, const struct comparison *v,
		      const struct compare_kind *k, unsigned int duration, unsigned int figure)
{
	static const char *const findings[] = {
		[COMPARE_SAME] = "same",
		[COMPARE_FASTER] = "faster",
		[COMPARE_SLOWER] = "slower",
	};
	const struct compare_shift *s = &k->of[duration].of[figure];
	double before = s->value[COMPARE_BEFORE];

	if (!k->of[duration].there || s->finding == COMPARE_UNKNOWN)
		return false;
	*row = (struct shift_row){
		.op = k->op,
		.where = stages_where_name(duration_where(v->c, duration)),
		.machine = machine_of(v, k, duration, s->value[COMPARE_AFTER] >= before),
		.figure = compare_figure_name((enum compare_figure)figure),
		.finding = findings[s->finding],
		.s = s,
		.shift = s->value[COMPARE_AFTER] - before,
		.greater = k->of[duration].greater,
	};
	if (before > 0) {
		row->share[0] = row->shift / before;
		row->share[1] = s->low / before;
		row->share[2] = s->high / before;
	}
	size_name(row->size, sizeof(row->size), k);
	comparison_duration(row->duration, sizeof(row->duration), v->c, duration);
	return true;
}

/* Words. */

static __attribute__((format(printf, 2, 3))) void add(char *text, const char *format, ...)
{
	size_t at = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + at, LINE_LEN - at, format, args);
	va_end(args);
}

static void add_kind(char *text, const struct compare_kind *k)
{
	char size[KIND_SIZE_LEN];

	size_name(size, sizeof(size), k);
	add(text, "%s%s%s", op_name(k->op), *size ? " " : "", size);
}

/* "mean 210us, +10.2us (+5.1 %, sure: +4.2 % to +6.0 %)" */
static void add_shift(char *text, enum compare_figure figure, const struct compare_shift *s)
{
	double before = s->value[COMPARE_BEFORE], shifted = s->value[COMPARE_AFTER] - before;
	char now[32], by[32];

	add(text, "%s %s, %s%s", compare_figure_name(figure),
	    duration_format(now, sizeof(now), s->value[COMPARE_AFTER]), shifted < 0 ? "" : "+",
	    duration_format(by, sizeof(by), shifted));
	if (before > 0)
		add(text, " (%+.1f %%, surely %+.1f to %+.1f %%)", shifted / before * 100,
		    s->low / before * 100, s->high / before * 100);
}

/* ", most of it in target_subsystem (target stor): +9.8us" */
static void add_stage(char *text, const struct comparison *v, const struct compare_answer *a)
{
	const struct compare_shift *s = &a->kind->of[a->duration].of[a->stage_figure];
	double shifted = s->value[COMPARE_AFTER] - s->value[COMPARE_BEFORE];
	char name[STAGE_NAME_LEN], machine[MACHINE_NAME_LEN * 4], by[32];

	if (a->duration == BLOCKS_LATENCY) {
		add(text, "; no stage alone explains it");
		return;
	}
	comparison_duration(name, sizeof(name), v->c, a->duration);
	text_copy(machine, sizeof(machine), machine_of(v, a->kind, a->duration, shifted > 0),
		  TEXT_HEX);
	add(text, "; it is in %s (%s%s%s): %s %s%s", name,
	    stages_where_name(duration_where(v->c, a->duration)), *machine ? " " : "", machine,
	    compare_figure_name(a->stage_figure), shifted < 0 ? "" : "+",
	    duration_format(by, sizeof(by), shifted));
}

/* "read 4k is slower: mean ...; it is in ..." */
static void add_answer(char *text, const struct comparison *v, const struct compare_answer *a)
{
	add_kind(text, a->kind);
	add(text, a->outcome == COMPARE_IMPROVED ? " is faster: " : " is slower: ");
	add_shift(text, a->figure, &a->kind->of[BLOCKS_LATENCY].of[a->figure]);
	add_stage(text, v, a);
}

static void add_nothing(char *text, const struct comparison *v)
{
	const struct compare *c = v->c;

	add(text, "nothing can be said: ");
	if (v->why) {
		add(text, "%s", v->why);
		return;
	}
	if (!c->nr_kinds) {
		add(text, "no command ended well");
		return;
	}
	add_kind(text, &c->kind[0]);
	add(text, ": %s", kind_why(&c->kind[0]) ?: "there are too few");
	if (c->kind[0].why == COMPARE_SHORT)
		for (unsigned int w = 0; w < COMPARE_WHENS; w++)
			add(text, "%s%.0f stretches of %.2g s %s", w ? ", " : " (",
			    floor(c->kind[0].stretches[w]), c->kind[0].stretch_seconds[w],
			    when_name[w]);
	if (c->kind[0].why == COMPARE_SHORT)
		add(text, "; %u are the least)", STRETCHES_MIN);
}

/* The answer, in one line. */
static void add_verdict(char *text, const struct comparison *v)
{
	struct compare_answer a = {.outcome = COMPARE_NOTHING};
	double percent = v->c->tolerance * 100, unseen = compare_unseen(v->c) * 100;

	if (!v->why)
		a = compare_answer(v->c);
	switch (a.outcome) {
	case COMPARE_NOTHING:
		add_nothing(text, v);
		break;
	case COMPARE_NO_SHIFT:
		if (a.duration != BLOCKS_LATENCY) {
			add(text,
			    "no evidence of a regression above %.15g %%: no latency has surely "
			    "shifted; of ",
			    percent);
			add_kind(text, a.kind);
			add(text, " a stage has");
			add_stage(text, v, &a);
			break;
		}
		add(text, "no difference found");
		add(text,
		    unseen > percent ? ", but the mean may be another one by up to %.1f %%: no "
				       "evidence of a regression above %.15g %%"
				     : ": no mean is another one by more than %.1f %%; no evidence "
				       "of a regression above %.15g %%",
		    unseen, percent);
		break;
	case COMPARE_IMPROVED:
		add_answer(text, v, &a);
		break;
	case COMPARE_WORSE:
		add(text, "no evidence of a regression above %.15g %%, but ", percent);
		add_answer(text, v, &a);
		break;
	case COMPARE_REGRESSION:
		add(text, "regression: ");
		add_answer(text, v, &a);
		break;
	}
}

/* What else there is to say, in whole lines. */

/* @line: called with each line */
static void notes(const struct comparison *v, void (*line)(void *context, const char *text),
		  void *context)
{
	const struct compare *c = v->c;
	struct compare_answer first = compare_answer(c);
	char text[LINE_LEN];

	for (unsigned int i = 0; i < c->nr_kinds; i++) {
		const struct compare_kind *k = &c->kind[i];
		struct compare_answer a = compare_kind_answer(c, k);

		text[0] = '\0';
		if (a.outcome > COMPARE_NO_SHIFT && k != first.kind) {
			add_answer(text, v, &a);
		} else if (k->why) {
			add_kind(text, k);
			add(text, " is not compared: %s", kind_why(k));
		}
		if (text[0])
			line(context, text);
	}
	if (c->only != NT_SIDES) {
		snprintf(text, sizeof(text),
			 "only the %ss' recordings are compared: one side has no others",
			 side_name(c->only));
		line(context, text);
	}
	if (c->loads_differ) {
		const char *before = "the loads differ in ";

		text[0] = '\0';
		for (unsigned int l = 0; l < COMPARE_LOADS_NR; l++) {
			if (!c->load[l].differs)
				continue;
			add(text, "%s%s", before, load[LOAD_RATE + l].title);
			before = ", ";
		}
		add(text, c->by_depth ? ": commands are compared with those that found as many in "
					"flight"
				      : ": nothing is known of equal loads in a sample");
		for (unsigned int i = 0; c->by_depth && i < c->nr_kinds; i++) {
			if (c->kind[i].why)
				continue;
			add(text, ", ");
			add_kind(text, &c->kind[i]);
			add(text, " %.0f %% of them", c->kind[i].overlap * 100);
		}
		line(context, text);
	}
}

/* Adds the values of a column that only this recording has. Return: whether there are any. */
static bool add_own(char *text, const struct comparison *v, unsigned int when, unsigned int column)
{
	const struct comparison_recording *mine = &v->of[when], *other = &v->of[!when];
	bool any = false;

	for (unsigned int i = 0; i < mine->nr; i++) {
		char name[VALUE_TEXT_LEN * 4];
		struct value x, y;
		unsigned int k = 0;

		columns_get(&input_columns, column, &mine->inputs[i], &x);
		for (; k < other->nr; k++) {
			columns_get(&input_columns, column, &other->inputs[k], &y);
			if (mine->inputs[i].header.side == other->inputs[k].header.side &&
			    x.none == y.none && (x.none || !strcmp(x.text, y.text)))
				break;
		}
		if (k < other->nr)
			continue;
		text_copy(name, sizeof(name), x.none ? "none" : x.text, TEXT_HEX);
		add(text, " %s", name);
		any = true;
	}
	return any;
}

/* What is another one in the two recordings, besides the load. */
static void differences(const struct comparison *v, void (*line)(void *context, const char *text),
			void *context)
{
	static const struct {
		const char *what;
		unsigned char column;
	} things[] = {
		{"machine", INPUT_HOSTNAME},
		{"kernel", INPUT_KERNEL},
		{"source of points", INPUT_SOURCE},
		{"selection while recording", INPUT_SELECTION},
	};
	char text[LINE_LEN];

	for (unsigned int t = 0; t < ARRAY_SIZE(things); t++) {
		bool any;

		snprintf(text, sizeof(text), "another %s: before", things[t].what);
		any = add_own(text, v, COMPARE_BEFORE, things[t].column);
		add(text, ", after");
		if (add_own(text, v, COMPARE_AFTER, things[t].column) || any)
			line(context, text);
	}
	for (unsigned int w = 0; w < COMPARE_WHENS; w++) {
		uint64_t lost = 0;

		for (unsigned int i = 0; i < v->of[w].nr; i++)
			for (unsigned int n = 0; n < COUNTERS_NR; n++)
				lost += counter_is_loss(n) ? v->of[w].inputs[i].losses.count[n] : 0;
		if (!lost && !v->c->blocks[w].others && !v->c->blocks[w].late)
			continue;
		snprintf(text, sizeof(text), "%s lost %" PRIu64, when_name[w], lost);
		if (v->c->blocks[w].others)
			add(text, "; %" PRIu64 " are of too many kinds to be compared",
			    v->c->blocks[w].others);
		if (v->c->blocks[w].late)
			add(text, "; of %" PRIu64 " it is not known what they found in flight",
			    v->c->blocks[w].late);
		line(context, text);
	}
}

char *comparison_verdict(const struct comparison *v, char line[COMPARISON_LINE_LEN])
{
	line[0] = '\0';
	add_verdict(line, v);
	return line;
}

void comparison_notes(const struct comparison *v, void (*line)(void *context, const char *text),
		      void *context)
{
	if (v->why)
		return;
	notes(v, line, context);
	differences(v, line, context);
}

void comparison_shifts(const struct comparison *v,
		       void (*put)(void *context, const struct shift_row *row), void *context)
{
	struct shift_row row;

	for (unsigned int i = 0; i < v->c->nr_kinds; i++)
		for (unsigned int d = 0; d < BLOCKS_DURATIONS; d++)
			for (unsigned int g = 0; g < COMPARE_FIGURES_NR; g++)
				if (shift_row(&row, v, &v->c->kind[i], d, g))
					put(context, &row);
}

/* Text. */

struct text {
	FILE *f;
	unsigned int width;
};

static void print_line(void *context, const char *line)
{
	struct text *t = context;
	struct wrap w = {.f = t->f, .width = t->width};

	wrap_words(&w, line);
	fputs("\n", t->f);
}

static void print_loads(const struct compare *c, FILE *f)
{
	struct table t = {.columns = &load_columns};
	struct load_row row[COMPARE_WHENS];

	fputs("\n", f);
	for (unsigned int i = 0; i < load_columns.nr; i++)
		table_add(&t, i, NULL, 0);
	for (unsigned int w = 0; w < COMPARE_WHENS; w++) {
		comparison_load(&row[w], c, w);
		table_measure(&t, &row[w]);
	}
	table_lay_out(&t, TABLE_WIDE);
	table_titles(&t, f);
	for (unsigned int w = 0; w < COMPARE_WHENS; w++)
		table_row(&t, &row[w], f);
}

static bool is_shown(const struct comparison *v, const struct shift_row *row, bool stages)
{
	return !stages || v->verbose || row->s->finding != COMPARE_SAME;
}

/* A table of the latencies, or of the stages that have shifted. */
static void print_shifts(const struct comparison *v, bool stages, FILE *f, unsigned int width)
{
	static const unsigned char shown[] = {
		SHIFT_OP,     SHIFT_SIZE,   SHIFT_DURATION, SHIFT_WHERE,   SHIFT_MACHINE,
		SHIFT_FIGURE, SHIFT_BEFORE, SHIFT_AFTER,    SHIFT_SHIFT,   SHIFT_LOW,
		SHIFT_HIGH,   SHIFT_SHARE,  SHIFT_GREATER,  SHIFT_FINDING,
	};
	static const unsigned char dispensable[] = {SHIFT_GREATER, SHIFT_MACHINE};
	struct table t = {.columns = &shift_columns,
			  .dispensable = dispensable,
			  .nr_dispensable = ARRAY_SIZE(dispensable)};
	unsigned int layout = TABLE_WIDE, rows = 0;
	struct shift_row row;

	for (unsigned int i = 0; i < ARRAY_SIZE(shown); i++)
		if (stages || (shown[i] != SHIFT_WHERE && shown[i] != SHIFT_MACHINE))
			table_add(&t, shown[i], NULL, 0);
	for (unsigned int pass = 0; pass < 2; pass++) {
		for (unsigned int i = 0; i < v->c->nr_kinds; i++)
			for (unsigned int d = stages; d < (stages ? BLOCKS_DURATIONS : 1u); d++)
				for (unsigned int g = 0; g < COMPARE_FIGURES_NR; g++) {
					if (!shift_row(&row, v, &v->c->kind[i], d, g) ||
					    !is_shown(v, &row, stages))
						continue;
					rows++;
					if (pass)
						table_row(&t, &row, f);
					else
						table_measure(&t, &row);
				}
		if (!rows)
			return;
		if (pass)
			break;
		while (table_lay_out(&t, layout) > width &&
		       layout < TABLE_BRIEF + ARRAY_SIZE(dispensable))
			layout++;
		fputs("\n", f);
		table_titles(&t, f);
	}
}

static void print_sure(const struct compare *c, struct text *t)
{
	char text[LINE_LEN] = "";

	if (!c->figures)
		return;
	add(text,
	    "All intervals here hold together with 99 %%: %u of latencies, %u of stages. "
	    "Stretches of %.2g s were drawn, of %.2g s after, %u times.",
	    c->figures, c->stages, c->kind[0].stretch_seconds[COMPARE_BEFORE],
	    c->kind[0].stretch_seconds[COMPARE_AFTER], COMPARE_DRAWS);
	print_line(t, text);
}

void comparison_print(const struct comparison *v, FILE *f, unsigned int width)
{
	struct text t = {f, width};
	char text[LINE_LEN];

	print_line(&t, comparison_verdict(v, text));
	comparison_notes(v, print_line, &t);
	if (!v->why) {
		print_shifts(v, false, f, width);
		print_shifts(v, true, f, width);
		print_loads(v->c, f);
		fputs("\n", f);
		print_sure(v->c, &t);
	}
	for (unsigned int w = 0; w < COMPARE_WHENS; w++) {
		fprintf(f, "\n%s:\n", when_name[w]);
		for (unsigned int i = 0; i < v->of[w].nr; i++)
			inputs_print(&v->of[w].inputs[i], NULL, f);
	}
}

int comparison_status(const struct comparison *v)
{
	struct compare_answer a = {.outcome = COMPARE_NOTHING};

	if (!v->why)
		a = compare_answer(v->c);
	return a.outcome == COMPARE_NOTHING	 ? COMPARISON_FAILED
	       : a.outcome == COMPARE_REGRESSION ? COMPARISON_REGRESSION
						 : COMPARISON_NO_REGRESSION;
}

/* JSON. */

static void append_line(void *context, const char *line)
{
	json_append(context, json_text(line));
}

static void append_shift(void *context, const struct shift_row *row)
{
	json_append(context, json_row(&shift_columns, row));
}

static struct json_object *input_json(const struct input *in)
{
	struct json_object *o = json_row(&input_columns, in);
	const char *error = stream_error(in->reader);

	json_put(o, "error", error[0] ? json_text(error) : NULL);
	json_put(o, "losses", json_losses(in->losses.count));
	json_put(o, "alone", NULL);
	return o;
}

struct json_object *comparison_json(const struct comparison *v)
{
	static const char *const words[] = {
		[COMPARE_NOTHING] = "nothing",	     [COMPARE_NO_SHIFT] = "no_difference",
		[COMPARE_IMPROVED] = "faster",	     [COMPARE_WORSE] = "slower",
		[COMPARE_REGRESSION] = "regression",
	};
	struct json_object *o = json_new("comparison"), *lines = json_array();
	struct json_object *shifts = json_array();
	struct json_object *loads = json_array(), *kinds = json_array(), *differ = json_array();
	struct compare_answer a = {.outcome = COMPARE_NOTHING};
	char text[LINE_LEN];

	if (!v->why)
		a = compare_answer(v->c);
	json_put(o, "outcome", json_text(words[a.outcome]));
	json_put(o, "exit_status", json_integer(comparison_status(v)));
	json_put(o, "verdict", json_text(comparison_verdict(v, text)));
	comparison_notes(v, append_line, lines);
	json_put(o, "notes", lines);
	json_put(o, "tolerance", json_real(v->c->tolerance));
	for (unsigned int w = 0; w < COMPARE_WHENS; w++) {
		struct json_object *inputs = json_array();
		struct load_row row;

		comparison_load(&row, v->c, w);
		json_append(loads, json_row(&load_columns, &row));
		for (unsigned int i = 0; i < v->of[w].nr; i++)
			json_append(inputs, input_json(&v->of[w].inputs[i]));
		json_put(o, when_name[w], inputs);
	}
	json_put(o, "loads", loads);
	for (unsigned int l = 0; l < COMPARE_LOADS_NR; l++)
		if (v->c->load[l].differs)
			json_append(differ, json_text(load[LOAD_RATE + l].name));
	json_put(o, "differ", differ);
	json_put(o, "loads_differ", json_flag(v->c->loads_differ));
	json_put(o, "matched_by_load", json_flag(v->c->by_depth));
	for (unsigned int i = 0; i < v->c->nr_kinds; i++) {
		struct kind_row row;

		comparison_kind(&row, &v->c->kind[i]);
		json_append(kinds, json_row(&kind_columns, &row));
	}
	json_put(o, "kinds", kinds);
	comparison_shifts(v, append_shift, shifts);
	json_put(o, "shifts", shifts);
	return o;
}
