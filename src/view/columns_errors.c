// SPDX-License-Identifier: GPL-2.0-only
#include "view/columns_errors.h"

#include "core/names.h"
#include "core/statuses.h"

static bool is_other(const struct error_count *e)
{
	return e->status == ERRORS_OTHER;
}

static void get_controller(const void *row, const struct column *c, struct value *v)
{
	const struct error_count *e = row;

	value_text(v, e->controller);
	v->none = !e->controller[0];
}

static void get_peer(const void *row, const struct column *c, struct value *v)
{
	const struct error_count *e = row;

	value_text(v, e->peer);
	v->none = !e->peer[0];
}

static void get_queue(const void *row, const struct column *c, struct value *v)
{
	const struct error_count *e = row;

	value_natural(v, e->qid);
	v->none = !e->controller[0];
}

static void get_status(const void *row, const struct column *c, struct value *v)
{
	const struct error_count *e = row;

	value_natural(v, is_other(e) ? 0 : e->status);
	v->none = is_other(e);
}

static void get_op(const void *row, const struct column *c, struct value *v)
{
	const struct error_count *e = row;

	value_text(v, op_name(e->op));
}

static void get_name(const void *row, const struct column *c, struct value *v)
{
	const struct error_count *e = row;

	value_text(v, is_other(e) ? "others" : status_name(e->op, e->status));
}

static void get_added(const void *row, const struct column *c, struct value *v)
{
	const struct error_count *e = row;

	value_natural(v, e->interval);
	v->none = !e->interval;
}

static const struct column error[] = {
	[ERROR_CONTROLLER] = {"controller", "controller", .unit = UNIT_NAME, .get = get_controller},
	[ERROR_PEER] = {"peer", "peer", .unit = UNIT_TEXT, .get = get_peer},
	[ERROR_QUEUE] = {"queue", "queue", .unit = UNIT_NUMBER, .get = get_queue},
	[ERROR_STATUS] = {"status", "status", .unit = UNIT_CODE, .get = get_status, .digits = 3},
	[ERROR_OP] = {"op", "op", .unit = UNIT_NAME, .get = get_op},
	[ERROR_NAME] = {"name", "name", .unit = UNIT_NAME, .get = get_name},
	[ERROR_TOTAL] = {"total", "total", .unit = UNIT_COUNT,
			 COLUMN_FIELD(struct error_count, total)},
	[ERROR_ADDED] = {"added", "added", .unit = UNIT_COUNT, .get = get_added},
};

const struct columns error_columns = COLUMNS("errors", error);
