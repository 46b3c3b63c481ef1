// SPDX-License-Identifier: GPL-2.0-only
#include "view/cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "view/duration.h"

#define NS_PER_S 1000000000

/* Same result as "%s%llu", but faster, because outputs have many numbers. */
static void digits_format(char *buf, size_t size, bool negative, uint64_t n)
{
	char text[24], *at = text + sizeof(text);

	*--at = '\0';
	do {
		*--at = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	if (negative)
		*--at = '-';
	memccpy(buf, at, '\0', size);
	buf[size - 1] = '\0';
}

char *cell_exact(char *buf, size_t size, const struct column *c, const struct value *v,
		 unsigned int digits)
{
	buf[0] = '\0';
	if (c->unit == UNIT_FLAG)
		return buf; /* the words around a flag have its meaning */
	if (v->type == VALUE_TEXT)
		text_copy(buf, size, v->text, TEXT_HEX);
	else if (c->unit == UNIT_CODE)
		snprintf(buf, size, "0x%0*" PRIx64, (int)c->digits, v->natural);
	else if (c->unit == UNIT_INSTANT)
		snprintf(buf, size, "%" PRIu64 ".%09" PRIu64, v->natural / NS_PER_S,
			 v->natural % NS_PER_S);
	else if (v->type == VALUE_NATURAL)
		digits_format(buf, size, false, v->natural);
	else if (v->type == VALUE_INTEGER)
		digits_format(buf, size, v->integer < 0,
			      v->integer < 0 ? -(uint64_t)v->integer : (uint64_t)v->integer);
	else
		snprintf(buf, size, "%.*f", (int)digits, v->real);
	return buf;
}

char *cell_format(char *buf, size_t size, const struct column *c, const struct value *v)
{
	if (v->none) {
		snprintf(buf, size, "-");
		return buf;
	}
	if (v->type == VALUE_TEXT)
		return cell_exact(buf, size, c, v, 0);
	switch (c->unit) {
	case UNIT_NANOSECONDS:
		return duration_format(buf, size, value_number(v));
	case UNIT_PER_SECOND:
		return number_format(buf, size, value_number(v));
	case UNIT_BYTES_PER_SECOND:
		return number_format(buf, size, value_number(v) / 1e6);
	case UNIT_SHARE:
		snprintf(buf, size, "%.1f %%", value_number(v) * 100);
		return buf;
	default:
		if (v->type == VALUE_REAL)
			return number_format(buf, size, v->real);
		return cell_exact(buf, size, c, v, 0);
	}
}
