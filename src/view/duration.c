// SPDX-License-Identifier: GPL-2.0-only
#include "view/duration.h"

#include <stdio.h>

#include "core/array.h"

/*
 * Decimals that give a number of three significant digits. The limits are below 10 and 100, because
 * 9.995 would be printed as 10.00.
 */
static int decimals(double v)
{
	return v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
}

char *duration_format(char *buf, size_t size, double ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	const size_t last = ARRAY_SIZE(units) - 1;
	size_t u = 0;
	double v;

	if (ns <= -0.5) {
		buf[0] = '-';
		duration_format(buf + 1, size - 1, -ns);
		return buf;
	}
	/* 999.5 or more of a unit would be printed as 1000, so it is printed in the next unit. */
	if (ns < 999.5) {
		snprintf(buf, size, "%.0fns", ns > 0 ? ns : 0);
		return buf;
	}
	while (u < last && ns / units[u].ns >= 999.5)
		u++;
	v = ns / units[u].ns;
	if (v >= 9999999.5) /* not a realistic latency, but the columns must stay aligned */
		snprintf(buf, size, "%.1e%s", v, units[u].name);
	else
		snprintf(buf, size, "%.*f%s", decimals(v), v, units[u].name);
	return buf;
}

char *number_format(char *buf, size_t size, double n)
{
	if (n == 0)
		snprintf(buf, size, "0");
	else
		snprintf(buf, size, "%.*f", decimals(n), n);
	return buf;
}
