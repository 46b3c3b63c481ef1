// SPDX-License-Identifier: GPL-2.0-only
#include "view/columns.h"

#include <string.h>

#include "core/names.h"

#define FIELD(type) (*(const type *)((const void *)((const char *)row + c->arg)))

void columns_field_u8(const void *row, const struct column *c, struct value *v)
{
	value_natural(v, FIELD(uint8_t));
}

void columns_field_u16(const void *row, const struct column *c, struct value *v)
{
	value_natural(v, FIELD(uint16_t));
}

void columns_field_u32(const void *row, const struct column *c, struct value *v)
{
	value_natural(v, FIELD(uint32_t));
}

void columns_field_u64(const void *row, const struct column *c, struct value *v)
{
	value_natural(v, FIELD(uint64_t));
}

void columns_field_s64(const void *row, const struct column *c, struct value *v)
{
	value_integer(v, FIELD(int64_t));
}

void columns_field_real(const void *row, const struct column *c, struct value *v)
{
	value_real(v, FIELD(double));
}

void columns_field_text(const void *row, const struct column *c, struct value *v)
{
	value_text(v, &FIELD(char));
}

const char *unit_name(enum unit unit)
{
#define UNIT_NAME_OF(id, name) [UNIT_##id] = name,
	static const char *const names[] = {UNITS(UNIT_NAME_OF)};

	return unit < UNITS_NR ? names[unit] : "unknown";
}

double value_number(const struct value *v)
{
	switch (v->type) {
	case VALUE_NATURAL:
		return (double)v->natural;
	case VALUE_INTEGER:
		return (double)v->integer;
	case VALUE_REAL:
		return v->real;
	default:
		return 0;
	}
}

void columns_hist_op(const void *row, const struct column *c, struct value *v)
{
	const struct hist_row *r = row;

	value_text(v, r->op < NT_OPS_NR ? op_name(r->op) : "all");
}

void columns_hist_all(const void *row, const struct column *c, struct value *v)
{
	const struct hist_row *r = row;

	value_natural(v, r->h->count + r->others);
}

void columns_hist_count(const void *row, const struct column *c, struct value *v)
{
	const struct hist_row *r = row;

	value_natural(v, r->h->count);
}

void columns_hist_mean(const void *row, const struct column *c, struct value *v)
{
	const struct hist_row *r = row;

	value_real(v, hist_mean(r->h));
	v->none = !r->h->count;
}

void columns_hist_percentile(const void *row, const struct column *c, struct value *v)
{
	const struct hist_row *r = row;

	v->none = !hist_tells(r->h, c->arg);
	value_natural(v,
		      v->none ? 0 : hist_percentile(r->h, (double)c->arg / HIST_PARTS_OF_PERCENT));
}

void columns_hist_max(const void *row, const struct column *c, struct value *v)
{
	const struct hist_row *r = row;

	value_natural(v, r->h->max);
	v->none = !r->h->count;
}

void columns_hist_sum(const void *row, const struct column *c, struct value *v)
{
	const struct hist_row *r = row;

	value_natural_sum(v, r->h->sum);
}

static const struct column operation[] = {
	[OPERATION_OP] = COLUMN_OP,
	[OPERATION_COMMANDS] = COLUMN_COMMANDS,
	[OPERATION_MEASURED] = COLUMN_MEASURED,
	[OPERATION_MEAN] = COLUMN_MEAN,
	[OPERATION_P50] = COLUMN_P50,
	[OPERATION_P90] = COLUMN_P90,
	[OPERATION_P99] = COLUMN_P99,
	[OPERATION_P99_9] = COLUMN_P99_9,
	[OPERATION_MAX] = COLUMN_MAX,
	[OPERATION_SUM] = COLUMN_SUM,
};

const struct columns operation_columns = COLUMNS("operations", operation);

uint64_t columns_hist_add_up(const struct stats *s, bool summary, enum nt_op op, struct hist *h)
{
	uint64_t others = 0;

	memset(h, 0, sizeof(*h));
	for (size_t i = 0; i < s->nr_rows; i++) {
		const struct stats_row *r = s->rows[i];

		if (r->op != op)
			continue;
		hist_merge(h, columns_hist_of(r, summary));
		others += summary ? r->others_total.commands : r->others_interval.commands;
	}
	return others;
}
