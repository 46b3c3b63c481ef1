// SPDX-License-Identifier: GPL-2.0-only
#include "core/units.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"

int parse_seconds(const char *text, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"", 1e9},	 {"ns", 1},	  {"us", 1e3},	    {"ms", 1e6},
		     {"s", 1e9}, {"m", 60 * 1e9}, {"h", 3600 * 1e9}};
	double value;
	char *end;

	/* strtod() would also take hexadecimal, infinity and leading space. */
	if (!*text || strspn(text, "0123456789.") == 0)
		return *text == '-' ? -ERANGE : -EINVAL;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return -EINVAL;
	value = strtod(text, &end);
	if (end == text)
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(end, units[i].unit))
			continue;
		value *= units[i].ns;
		if (!(value < 9.2e18))
			return -ERANGE;
		*ns = (uint64_t)llround(value);
		return 0;
	}
	return -EINVAL;
}

int parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGkmg";
	unsigned long long n;
	const char *unit;
	int shift = 0;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno)
		return -ERANGE;
	if (*end) {
		unit = strchr(units, *end);
		if (!unit || (end[1] && strcmp(end + 1, "iB") != 0))
			return -EINVAL;
		shift = 10 * (int)((unit - units) % 3 + 1);
	}
	if (n > UINT64_MAX >> shift)
		return -ERANGE;
	*bytes = n << shift;
	return 0;
}
