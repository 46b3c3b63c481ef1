// SPDX-License-Identifier: GPL-2.0-only
#include "view/columns_run.h"

#include "core/names.h"
#include "core/stats.h"

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
