// SPDX-License-Identifier: GPL-2.0-only
#include "view/head.h"

#include "view/columns_run.h"
#include "view/lines.h"
#include "view/wrap.h"

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
static const struct phrase waiting[] = {PHRASE("waiting for ", RUN_WAITING_FOR)};
static const struct phrase sample[] = {PHRASE("sample of 1 command in ", RUN_SAMPLE)};
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
		WRAP_LINE(&w, &run_columns, waiting, s);
	}
	if (s->sample > 1)
		WRAP_LINE(&w, &run_columns, sample, s);
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
