// SPDX-License-Identifier: GPL-2.0-only
#include "view/head.h"

#include "core/names.h"
#include "core/stats.h"
#include "view/lines.h"

static void get_side(const void *row, const struct column *c, struct value *v)
{
	const struct stats *s = row;

	value_text(v, side_name(s->side));
}

static void get_source(const void *row, const struct column *c, struct value *v)
{
	const struct stats *s = row;

	value_text(v, s->source);
	v->none = !s->source;
}

static bool waiting(const struct stats *s)
{
	return !s->driver || !s->driver[0];
}

static void get_driver(const void *row, const struct column *c, struct value *v)
{
	const struct stats *s = row;

	value_text(v, s->driver);
	v->none = waiting(s);
}

static void get_waiting_for(const void *row, const struct column *c, struct value *v)
{
	const struct stats *s = row;

	value_text(v, driver_name(s->side));
	v->none = !waiting(s);
}

static void get_sample(const void *row, const struct column *c, struct value *v)
{
	const struct stats *s = row;

	value_natural(v, s->sample);
	v->none = s->sample <= 1;
}

static void get_selected(const void *row, const struct column *c, struct value *v)
{
	const struct stats *s = row;

	value_natural(v, s->selected);
}

static void get_passed(const void *row, const struct column *c, struct value *v)
{
	const struct stats *s = row;

	value_real(v, s->passed);
	v->none = !burst_any(&s->burst);
}

static void get_bursts(const void *row, const struct column *c, struct value *v)
{
	const struct stats *s = row;

	value_natural(v, s->bursts);
	v->none = !burst_any(&s->burst);
}

static void get_burst_on(const void *row, const struct column *c, struct value *v)
{
	const struct stats *s = row;

	value_real(v, (double)s->burst.on_ns / 1e9);
	v->none = !burst_any(&s->burst);
}

static void get_burst_every(const void *row, const struct column *c, struct value *v)
{
	const struct stats *s = row;

	value_real(v, (double)s->burst.every_ns / 1e9);
	v->none = !burst_any(&s->burst);
}

/* Values that only a tracer has, and a recording does not. */
#define GET_OF_TRACER(field)                                                              \
	static void get_##field(const void *row, const struct column *c, struct value *v) \
	{                                                                                 \
		const struct stats *s = row;                                              \
                                                                                          \
		(void)c;                                                                  \
		value_natural(v, s->field);                                               \
		v->none = s->recorded;                                                    \
	}
GET_OF_TRACER(probes)
GET_OF_TRACER(controllers)
GET_OF_TRACER(queues)

static void get_seconds(const void *row, const struct column *c, struct value *v)
{
	const struct stats *s = row;

	value_real(v, s->seconds);
	v->none = s->recorded;
}

#define FIELD(field) COLUMN_FIELD(struct stats, field)

static const struct column run[] = {
	[RUN_SIDE] = {"side", "side", .unit = UNIT_NAME, .get = get_side},
	[RUN_KERNEL] = {"kernel", "kernel", .unit = UNIT_TEXT,
			COLUMN_TEXT_FIELD(struct stats, kernel)},
	[RUN_SOURCE] = {"source", "source", .unit = UNIT_NAME, .get = get_source},
	[RUN_DRIVER] = {"driver", "driver", .unit = UNIT_NAME, .get = get_driver},
	[RUN_WAITING_FOR] = {"waiting_for", "waiting for", .unit = UNIT_NAME,
			     .get = get_waiting_for},
	[RUN_PROBES] = {"probes", "probes", .unit = UNIT_COUNT, .get = get_probes},
	[RUN_CONTROLLERS] = {"controllers", "controllers", .unit = UNIT_COUNT,
			     .get = get_controllers},
	[RUN_QUEUES] = {"queues", "queues", .unit = UNIT_COUNT, .get = get_queues},
	[RUN_SAMPLE] = {"sample", "sample", .unit = UNIT_COUNT, .get = get_sample},
	[RUN_SELECTED] = {"selected", "selected", .unit = UNIT_FLAG, .get = get_selected},
	[RUN_INTERVAL] = {"interval", "interval", .unit = UNIT_SECONDS, .get = get_seconds},
	[RUN_ELAPSED] = {"elapsed", "elapsed", .unit = UNIT_SECONDS, FIELD(elapsed)},
	[RUN_PASSED] = {"passed", "passed", .unit = UNIT_SECONDS, .get = get_passed},
	[RUN_BURSTS] = {"bursts", "bursts", .unit = UNIT_COUNT, .get = get_bursts},
	[RUN_BURST_ON] = {"burst_on", "burst", .unit = UNIT_SECONDS, .get = get_burst_on},
	[RUN_BURST_EVERY] = {"burst_every", "every", .unit = UNIT_SECONDS, .get = get_burst_every},
};

const struct columns run_columns = COLUMNS("run", run);

static void get_all(const void *row, const struct column *c, struct value *v)
{
	const struct sample_row *r = row;

	value_natural(v, r->all);
	v->none = !r->all;
}

static const struct column sample[] = {
	[SAMPLE_MEASURED] = {"measured", "measured", .unit = UNIT_COUNT,
			     COLUMN_FIELD(struct sample_row, measured)},
	[SAMPLE_ALL] = {"all", "all", .unit = UNIT_COUNT, .get = get_all},
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
		PHRASE("not a fair one, of too few distinct commands: ", SAMPLE_MEASURED),
		PHRASE(" of ", SAMPLE_ALL),
	};
	struct sample_row row;

	if (!stats_sample(s, summary, &row.measured, &row.all))
		return;
	if (!s->counted)
		row.all = 0;
	WRAP_LINE(w, &sample_columns, unfair, &row);
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
