// SPDX-License-Identifier: GPL-2.0-only
#include "view/columns_losses.h"

static void get_loss(const void *row, const struct column *c, struct value *v)
{
	const struct loss_row *r = row;

	value_text(v, counter_name(r->counter));
}

static void get_meaning(const void *row, const struct column *c, struct value *v)
{
	const struct loss_row *r = row;

	value_text(v, counter_help(r->counter));
}

static void get_added(const void *row, const struct column *c, struct value *v)
{
	const struct loss_row *r = row;

	value_natural(v, r->added);
	v->none = !r->added;
}

static void get_queues(const void *row, const struct column *c, struct value *v)
{
	const struct loss_row *r = row;

	value_natural(v, r->queues);
	v->none = !r->queues;
}

static const struct column loss[] = {
	[LOSS_LOSS] = {"loss", "loss", .unit = UNIT_NAME, .get = get_loss},
	[LOSS_TOTAL] = {"total", "total", .unit = UNIT_COUNT, COLUMN_FIELD(struct loss_row, total)},
	[LOSS_ADDED] = {"added", "added", .unit = UNIT_COUNT, .get = get_added},
	[LOSS_QUEUES] = {"queues", "queues", .unit = UNIT_COUNT, .get = get_queues},
	[LOSS_MEANING] = {"meaning", "meaning", .unit = UNIT_NAME, .get = get_meaning},
};

const struct columns loss_columns = COLUMNS("losses", loss);
