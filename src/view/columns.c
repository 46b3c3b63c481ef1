// SPDX-License-Identifier: GPL-2.0-only
#include "view/columns.h"

#include <stdio.h>
#include <string.h>

#include "core/counters.h"
#include "core/names.h"
#include "core/paths.h"
#include "core/time.h"

#define MEMBER_AS(type) (*(const type *)member)

void value_time(struct value *v, int64_t realtime_ns)
{
	_Static_assert(sizeof(v->buf) >= RFC3339_LEN, "a time fits");
	v->none = !realtime_ns;
	v->buf[0] = '\0';
	value_text(v, v->none ? v->buf : rfc3339_format(v->buf, realtime_ns));
}

static void copy_number(const void *member, enum member_type type, struct value *v)
{
	switch (type) {
	case MEMBER_U8:
		return value_natural(v, MEMBER_AS(uint8_t));
	case MEMBER_U16:
		return value_natural(v, MEMBER_AS(uint16_t));
	case MEMBER_U32:
		return value_natural(v, MEMBER_AS(uint32_t));
	case MEMBER_U64:
		return value_natural(v, MEMBER_AS(uint64_t));
	case MEMBER_U128:
		return value_natural_sum(v, MEMBER_AS(unsigned __int128));
	case MEMBER_S32:
		return value_integer(v, MEMBER_AS(int));
	case MEMBER_S64:
		return value_integer(v, MEMBER_AS(int64_t));
	case MEMBER_S128:
		return value_integer_sum(v, MEMBER_AS(__int128));
	case MEMBER_BOOL:
		return value_natural(v, MEMBER_AS(bool));
	default:
		return value_real(v, MEMBER_AS(double));
	}
}

static const char *word_of(enum column_words words, unsigned int n)
{
#define WORD_OF(id, word) \
	case WORD_##id:   \
		return word;
	switch (words) {
		COLUMN_WORDS(WORD_OF)
	default:
		return "";
	}
}

void columns_copy(const void *row, const struct column *c, struct value *v)
{
	const char *in = row;

	if (c->follow)
		in = *(const char *const *)(const void *)(in + c->pointer);
	v->none = !in || (c->none && c->none(row));
	if (c->type == MEMBER_TEXT || c->type == MEMBER_POINTER) {
		if (in && c->type == MEMBER_POINTER)
			in = *(const char *const *)(const void *)(in + c->offset);
		else if (in)
			in += c->offset;
		value_text(v, in ?: "");
		v->none |= !in || (c->least && !v->text[0]);
		return;
	}
	if (in)
		copy_number(in + c->offset, c->type, v);
	else
		value_natural(v, 0);
	if (c->unit == UNIT_FLAG && c->arg)
		v->natural = (v->natural & c->arg) != 0;
	if (c->least && v->natural < c->least) {
		v->zero = !v->none && c->unit == UNIT_COUNT && c->least == 1;
		v->none = true;
	}
	if (c->words)
		value_text(v, v->none ? "" : word_of(c->words, (unsigned int)v->natural));
	else if (c->unit == UNIT_SECONDS && v->type == VALUE_NATURAL)
		value_real(v, (double)v->natural / 1e9);
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

void columns_hist_min(const void *row, const struct column *c, struct value *v)
{
	const struct hist_row *r = row;

	value_natural(v, hist_min(r->h));
	v->none = !r->h->count;
}

void columns_hist_max(const void *row, const struct column *c, struct value *v)
{
	const struct hist_row *r = row;

	value_natural(v, r->h->max);
	v->none = !r->h->count;
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
