// SPDX-License-Identifier: GPL-2.0-only
#include "view/columns.h"

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
