// SPDX-License-Identifier: GPL-2.0-only
#include "core/burst.h"

#include <stdio.h>
#include <string.h>

#include "core/units.h"

/* Longer than any useful spelling of a time that parse_seconds() takes. */
#define TIME_LEN 32

const char *burst_parse(const char *text, struct burst *b)
{
	const char *slash = strchr(text, '/');
	char on[TIME_LEN];
	struct burst got;

	if (!slash || slash - text >= TIME_LEN)
		return "not ON/EVERY (such as 1s/60s)";
	snprintf(on, sizeof(on), "%.*s", (int)(slash - text), text);
	if (parse_seconds(on, &got.on_ns) || parse_seconds(slash + 1, &got.every_ns))
		return "not ON/EVERY (such as 1s/60s)";
	if (got.on_ns < BURST_MIN_NS)
		return "too short, the least is " BURST_MIN;
	if (got.on_ns >= got.every_ns)
		return "ON has to be shorter than EVERY";
	/*
	 * With a shorter gap, ntprof would notice the end of a burst after the next one has begun.
	 */
	if (got.every_ns - got.on_ns < BURST_MIN_NS)
		return "too little in between, the least is " BURST_MIN;
	*b = got;
	return NULL;
}

/* The time since the last burst began, or since a burst would have begun. */
static uint64_t phase(const struct burst *b, int64_t real_ns)
{
	int64_t rest = real_ns % (int64_t)b->every_ns;

	/* The time is before 1970 where a machine's clock has lost its setting. */
	return (uint64_t)(rest < 0 ? rest + (int64_t)b->every_ns : rest);
}

uint64_t burst_left_ns(const struct burst *b, int64_t real_ns)
{
	uint64_t since = phase(b, real_ns);

	return since < b->on_ns ? b->on_ns - since : 0;
}

int64_t burst_next_ns(const struct burst *b, int64_t real_ns)
{
	uint64_t since = phase(b, real_ns);

	return real_ns + (int64_t)((since < b->on_ns ? b->on_ns : b->every_ns) - since);
}
