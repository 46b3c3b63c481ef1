// SPDX-License-Identifier: GPL-2.0-only
#include "view/head.h"

#include "core/names.h"
#include "core/stats.h"
#include "view/lines.h"

static bool waiting(const struct stats *s)
{
	return !s->driver || !s->driver[0];
}

static void get_waiting_for(const void *row, const struct column *c, struct value *v)
{
	const struct stats *s = row;

	value_text(v, driver_name(s->side));
	v->none = !waiting(s);
}

static bool no_bursts(const void *row)
{
	return !burst_any(&((const struct stats *)row)->burst);
}

/* Values that only a tracer has, and a recording does not. */
static bool recorded(const void *row)
{
	return ((const struct stats *)row)->recorded;
}

#define FIELD(member) COLUMN_FIELD(struct stats, member)

static const struct column run[] = {
	[RUN_SIDE] = COLUMN("side", NAME, FIELD(side), .words = WORD_SIDE),
	[RUN_KERNEL] = COLUMN("kernel", TEXT, FIELD(kernel)),
	[RUN_SOURCE] = COLUMN("source", NAME, FIELD(source)),
	[RUN_DRIVER] = COLUMN("driver", NAME, FIELD(driver), .least = 1),
	[RUN_WAITING_FOR] = {"waiting_for", "waiting for", .unit = UNIT_NAME,
			     .get = get_waiting_for},
	[RUN_PROBES] = COLUMN("probes", COUNT, FIELD(probes), .none = recorded),
	[RUN_CONTROLLERS] = COLUMN("controllers", COUNT, FIELD(controllers), .none = recorded),
	[RUN_QUEUES] = COLUMN("queues", COUNT, FIELD(queues), .none = recorded),
	[RUN_SAMPLE] = COLUMN("sample", COUNT, FIELD(sample), .least = 2),
	[RUN_SELECTED] = COLUMN("selected", FLAG, FIELD(selected)),
	[RUN_INTERVAL] = COLUMN("interval", SECONDS, FIELD(seconds), .none = recorded),
	[RUN_ELAPSED] = COLUMN("elapsed", SECONDS, FIELD(elapsed)),
	[RUN_PASSED] = COLUMN("passed", SECONDS, FIELD(passed), .none = no_bursts),
	[RUN_BURSTS] = COLUMN("bursts", COUNT, FIELD(bursts), .none = no_bursts),
	[RUN_BURST_ON] = {"burst_on", "burst", .unit = UNIT_SECONDS, FIELD(burst.on_ns),
			  .none = no_bursts},
	[RUN_BURST_EVERY] = {"burst_every", "every", .unit = UNIT_SECONDS, FIELD(burst.every_ns),
			     .none = no_bursts},
};

const struct columns run_columns = COLUMNS("run", run);

static const struct column sample[] = {
	[SAMPLE_MEASURED] = COLUMN("measured", COUNT, COLUMN_FIELD(struct sample_row, measured)),
	[SAMPLE_ALL] = COLUMN("all", COUNT, COLUMN_FIELD(struct sample_row, all), .least = 1),
};

const struct columns sample_columns = COLUMNS("sample", sample);

static const struct phrase summary_of[] = {
	PHRASE("summary of ", RUN_ELAPSED, .after = " s\n", .digits = 1)};
static const struct phrase side[] = {PHRASE("ntprof-bpf --", RUN_SIDE)};
static const struct phrase kernel[] = {PHRASE("kernel ", RUN_KERNEL)};
static const struct phrase source[] = {
	PHRASE(NULL, RUN_SOURCE),
	PHRASE(" of ", RUN_DRIVER),
	PHRASE(": ", RUN_PROBES, .after = " probe", .plural = true),
};
static const struct phrase connected[] = {
	PHRASE(NULL, RUN_CONTROLLERS, .after = " controller", .plural = true),
	PHRASE(", ", RUN_QUEUES, .after = " queue", .plural = true),
};
static const struct phrase waiting_line[] = {PHRASE("waiting for ", RUN_WAITING_FOR)};
static const struct phrase sample_line[] = {PHRASE("sample of 1 command in ", RUN_SAMPLE)};
static const struct phrase selected[] = {PHRASE("selected commands only", RUN_SELECTED)};
static const struct phrase interval[] = {
	PHRASE("interval ", RUN_INTERVAL, .after = " s", .digits = 1)};
static const struct phrase elapsed[] = {
	PHRASE("elapsed ", RUN_ELAPSED, .after = " s", .digits = 0)};

static const struct phrase burst[] = {
	PHRASE("burst ", RUN_BURSTS),
	PHRASE(", of ", RUN_BURST_ON, .style = LINE_NEEDED, .digits = 1),
	PHRASE(" s every ", RUN_BURST_EVERY, .after = " s", .style = LINE_NEEDED, .digits = 1),
};
static const struct phrase measured[] = {
	PHRASE("measured ", RUN_ELAPSED, .digits = 1),
	PHRASE(" s of ", RUN_PASSED, .after = " s", .digits = 1),
};
/* The summary of a run with bursts begins with these instead. */
static const struct phrase summary_of_bursts[] = {
	PHRASE("summary of ", RUN_BURSTS, .after = " burst", .plural = true),
	PHRASE(" of ", RUN_BURST_ON, .style = LINE_NEEDED, .digits = 1),
	PHRASE(" s every ", RUN_BURST_EVERY, .after = " s", .style = LINE_NEEDED, .digits = 1),
	PHRASE(", measured ", RUN_ELAPSED, .digits = 1),
	PHRASE(" s of ", RUN_PASSED, .after = " s: rates and latencies are of the bursts\n",
	       .digits = 1),
};

/*
 * Says that a sample is not fair: its latencies are those of a few commands that are repeated, or
 * it is empty.
 */
static void unfair_print(const struct stats *s, bool summary, struct wrap *w)
{
	static const struct phrase unfair[] = {
		PHRASE("sample too small (too few distinct commands): ", SAMPLE_MEASURED),
		PHRASE(" of ", SAMPLE_ALL),
	};
	struct sample_row row;

	if (!stats_sample(s, summary, &row.measured, &row.all))
		return;
	if (!s->counted)
		row.all = 0;
	WRAP_LINE(w, &sample_columns, unfair, &row);
}

void head_print_unfair(const struct stats *s, FILE *f)
{
	struct wrap w = {.f = f, .width = WRAP_NEVER};

	unfair_print(s, true, &w);
	fputs(w.used ? "\n" : "", f);
}

void head_print(const struct stats *s, bool summary, FILE *f, unsigned int width)
{
	struct wrap w = {.f = f, .width = width};
	bool bursts = burst_any(&s->burst);

	if (summary && bursts)
		LINE_PRINT(f, &run_columns, summary_of_bursts, s);
	else if (summary)
		LINE_PRINT(f, &run_columns, summary_of, s);
	WRAP_LINE(&w, &run_columns, side, s);
	WRAP_LINE(&w, &run_columns, kernel, s);
	if (s->driver && s->driver[0]) {
		WRAP_LINE(&w, &run_columns, source, s);
		if (!s->recorded)
			WRAP_LINE(&w, &run_columns, connected, s);
	} else {
		WRAP_LINE(&w, &run_columns, waiting_line, s);
	}
	if (s->sample > 1)
		WRAP_LINE(&w, &run_columns, sample_line, s);
	if (s->selected)
		WRAP_LINE(&w, &run_columns, selected, s);
	unfair_print(s, summary, &w);
	if (!summary && bursts) {
		WRAP_LINE(&w, &run_columns, burst, s);
		WRAP_LINE(&w, &run_columns, measured, s);
	} else if (!summary) {
		WRAP_LINE(&w, &run_columns, interval, s);
		WRAP_LINE(&w, &run_columns, elapsed, s);
	}
	fputs("\n", f);
}
