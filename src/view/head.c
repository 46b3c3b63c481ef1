// SPDX-License-Identifier: GPL-2.0-only
#include "view/head.h"

#include <inttypes.h>
#include <string.h>

#include "core/names.h"
#include "core/stats.h"
#include "core/time.h"
#include "view/lines.h"
#include "view/stages.h"

static bool waiting(const struct stats *s)
{
	return !s->driver || !s->driver[0];
}

static void get_waiting_for(const void *row, const struct column *c, struct value *v)
{
	const struct stats *s = row;

	value_text(v, module_traced(s->side, s->transports));
	v->none = !waiting(s);
}

static bool no_bursts(const void *row)
{
	return !burst_any(&((const struct stats *)row)->burst);
}

static bool no_stages(const void *row)
{
	return !burst_any(&((const struct stats *)row)->stages_burst);
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
	[RUN_ENDS] = COLUMN("ends", FLAG, FIELD(ends)),
	[RUN_STAGES_ON] = {"stages_on_seconds", "stages", .unit = UNIT_SECONDS,
			   FIELD(stages_burst.on_ns), .none = no_stages},
	[RUN_STAGES_EVERY] = {"stages_every_seconds", "every", .unit = UNIT_SECONDS,
			      FIELD(stages_burst.every_ns), .none = no_stages},
	[RUN_SELECTED] = COLUMN("selected", FLAG, FIELD(selected)),
	[RUN_INTERVAL] = {"interval_seconds", "interval", .unit = UNIT_SECONDS, FIELD(seconds),
			  .none = recorded},
	[RUN_ELAPSED] = {"elapsed_seconds", "elapsed", .unit = UNIT_SECONDS, FIELD(elapsed)},
	[RUN_PASSED] = {"passed_seconds", "passed", .unit = UNIT_SECONDS, FIELD(passed),
			.none = no_bursts},
	[RUN_BURSTS] = COLUMN("bursts", COUNT, FIELD(bursts), .none = no_bursts),
	[RUN_BURST_ON] = {"burst_on_seconds", "burst", .unit = UNIT_SECONDS, FIELD(burst.on_ns),
			  .none = no_bursts},
	[RUN_BURST_EVERY] = {"burst_every_seconds", "every", .unit = UNIT_SECONDS,
			     FIELD(burst.every_ns), .none = no_bursts},
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
static const struct phrase brief[] = {
	PHRASE("--", RUN_SIDE),
	PHRASE(" ", RUN_ELAPSED, .after = " s", .digits = 0),
};
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
static const struct phrase ends[] = {PHRASE("ends of commands only", RUN_ENDS)};
static const struct phrase stages[] = {
	PHRASE("stages of ", RUN_STAGES_ON, .digits = 1),
	PHRASE(" s every ", RUN_STAGES_EVERY, .after = " s", .digits = 1),
};
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

#define CONTROLLER(member) COLUMN_AT(struct controller_row, c, member)

static void get_older(const void *row, const struct column *c, struct value *v)
{
	value_natural(v, 1);
	v->none = ((const struct controller_row *)row)->c->changed;
}

static const struct column controller[] = {
	[CONTROLLER_NAME] = COLUMN("controller", TEXT, CONTROLLER(name)),
	[CONTROLLER_PEER] = COLUMN("peer", TEXT, CONTROLLER(peer), .least = 1),
	[CONTROLLER_DEVICES] = COLUMN("devices", TEXT, CONTROLLER(devices), .least = 1),
	[CONTROLLER_ADDRESS] = COLUMN("address", TEXT, CONTROLLER(address), .least = 1),
	[CONTROLLER_STATE] = COLUMN("state", TEXT, CONTROLLER(state), .least = 1),
	[CONTROLLER_STATE_FOR] =
		COLUMN("state_for", NANOSECONDS, COLUMN_FIELD(struct controller_row, state_ns)),
	[CONTROLLER_STATE_OLDER] = COLUMN("state_older", FLAG, .get = get_older),
	[CONTROLLER_IN_FLIGHT] = COLUMN("in_flight", COUNT, CONTROLLER(in_flight)),
	[CONTROLLER_BEFORE] = COLUMN("in_flight_before", COUNT, CONTROLLER(before), .least = 1),
	[CONTROLLER_QUIET] =
		COLUMN("quiet", NANOSECONDS, COLUMN_FIELD(struct controller_row, quiet_ns)),
};

const struct columns controller_columns = COLUMNS("controllers", controller);

/* Room for the numbers of controllers in each state. */
#define STATES_LEN 128

/* "3 live, 1 connecting": in the order in which the states are first met. */
static const char *states_format(const struct controllers *c, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; c && i < c->nr; i++) {
		const char *state = c->row[i].state;
		size_t same = 0, before = 0;

		for (size_t k = 0; k < c->nr; k++) {
			same += !strcmp(c->row[k].state, state);
			before += k < i && !strcmp(c->row[k].state, state);
		}
		if (!state[0] || before || used >= size)
			continue;
		used += (size_t)snprintf(buf + used, size - used, "%s%zu %s", used ? ", " : "",
					 same, state);
	}
	return buf;
}

void head_print(const struct stats *s, const struct controllers *c, bool summary, FILE *f,
		unsigned int width)
{
	struct wrap w = {.f = f, .width = width};
	bool bursts = burst_any(&s->burst);
	char text[STATES_LEN];

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
		snprintf(text, sizeof(text), "waiting for %s: %s",
			 module_traced(s->side, s->transports),
			 module_load(s->side, s->transports));
		wrap_text(&w, text);
	}
	if (!summary && states_format(c, text, sizeof(text))[0])
		wrap_text(&w, text);
	if (s->sample > 1)
		WRAP_LINE(&w, &run_columns, sample_line, s);
	if (burst_any(&s->stages_burst))
		WRAP_LINE(&w, &run_columns, stages, s);
	else if (s->ends)
		WRAP_LINE(&w, &run_columns, ends, s);
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

void head_print_brief(const struct stats *s, const struct controllers *c, FILE *f)
{
	struct wrap w = {.f = f, .width = WRAP_NEVER};
	char states[STATES_LEN];

	WRAP_LINE(&w, &run_columns, brief, s);
	if (!s->driver || !s->driver[0])
		WRAP_LINE(&w, &run_columns, waiting_line, s);
	else if (states_format(c, states, sizeof(states))[0])
		wrap_text(&w, states);
	unfair_print(s, false, &w);
	fputs("\n", f);
}

static bool needs_alarm(const struct controllers *c, const struct controller *row)
{
	return !controller_is_up(row) || controller_stalls(c, row);
}

/* The most important comes first, because a narrow terminal cuts the line. */
static void alarm_print(const struct controllers *c, const struct controller *at, FILE *f)
{
	static const struct phrase state[] = {
		PHRASE(NULL, CONTROLLER_NAME),
		PHRASE(" ", CONTROLLER_STATE),
	};
	static const struct phrase since[] = {
		PHRASE(" for ", CONTROLLER_STATE_FOR, .style = LINE_CELL),
		PHRASE(" or longer", CONTROLLER_STATE_OLDER),
	};
	static const struct phrase rest[] = {
		PHRASE(", ", CONTROLLER_BEFORE, .after = " in flight since before tracing"),
		PHRASE(", none ended for ", CONTROLLER_QUIET, .style = LINE_CELL),
		PHRASE("  ", CONTROLLER_DEVICES),
		PHRASE(" at ", CONTROLLER_ADDRESS),
	};
	const struct controller_row row = columns_controller_row(c, at);

	LINE_PRINT(f, &controller_columns, state, &row);
	if (!controller_is_up(at) && row.state_ns)
		LINE_PRINT(f, &controller_columns, since, &row);
	LINE_PRINT(f, &controller_columns, rest, &row);
	fputs("\n", f);
}

static bool is_same_controller(const struct stats_row *a, const struct stats_row *b)
{
	return !strcmp(a->controller, b->controller) && !strcmp(a->peer, b->peer);
}

/* The controller is that of the oldest command. */
static void stalled_print(const struct stats *s, FILE *f)
{
	static const struct phrase oldest[] = {
		PHRASE(" for ", WAITING_OLDEST, .style = LINE_CELL),
		PHRASE(" in ", WAITING_STAGE),
		PHRASE(" (", WAITING_WHERE, .after = ")"),
	};
	const struct stats_row *oldest_row = stats_stalled(s), *before = NULL;
	struct waiting_rows rows;
	size_t stalled = 0, controllers = 0;

	for (size_t i = 0; i < s->nr_rows; i++) {
		const struct stats_row *row = s->rows[i];

		if (row->waiting.oldest_ns < STATS_STALLED_NS)
			continue;
		/* The rows of a controller are neighbours. */
		controllers += !before || !is_same_controller(before, row);
		before = row;
		stalled++;
	}
	if (!oldest_row)
		return;
	columns_waiting(&rows, s);
	/* As its row has them: controller, queue and operation. */
	fprintf(f, "stalled: %s %u %s", oldest_row->controller, oldest_row->qid,
		op_name(oldest_row->op));
	if (rows.nr)
		LINE_PRINT(f, &waiting_columns, oldest, &rows.row[0]);
	if (stalled > 1)
		fprintf(f, " and %zu more", stalled - 1);
	if (controllers > 1)
		fprintf(f, " (%zu controllers)", controllers);
	fputs("\n", f);
}

void stalls_print(const struct stalls *t, FILE *f)
{
	const struct instant now = instant_now();
	char since[LOCAL_TIME_LEN], longest[16];
	const char *clock;

	if (!t->nr)
		return;
	clock = strchr(local_time_format(since, instant_wall(&now, t->first_ns)), ' ');
	fprintf(f, "stalled %" PRIu64 " time%s since%.9s%s, for up to %s, at last %s %u %s\n",
		t->nr, t->nr == 1 ? "" : "s", clock, t->at_once ? " or before" : "",
		duration_format(longest, sizeof(longest), (double)t->longest_ns), t->controller,
		t->qid, op_name(t->op));
}

void alarms_print(const struct stats *s, const struct controllers *c, unsigned int most, FILE *f)
{
	size_t nr = 0, shown = 0;

	for (size_t i = 0; c && i < c->nr; i++)
		nr += needs_alarm(c, &c->row[i]);
	for (size_t i = 0; i < (c ? c->nr : 0); i++) {
		if (!needs_alarm(c, &c->row[i]))
			continue;
		if (shown + 1 == most && nr > most)
			break;
		alarm_print(c, &c->row[i], f);
		shown++;
	}
	if (nr > shown)
		fprintf(f, "%s%zu %scontrollers that are not live, or do not answer\n",
			shown ? "... " : "", nr - shown, shown ? "more " : "");
	stalled_print(s, f);
}

struct json_object *controllers_json(const struct controllers *c)
{
	struct json_object *rows = json_array();

	for (size_t i = 0; i < c->nr; i++) {
		const struct controller_row row = columns_controller_row(c, &c->row[i]);

		json_append(rows, json_row(&controller_columns, &row));
	}
	return rows;
}
