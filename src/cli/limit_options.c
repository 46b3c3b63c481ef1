// SPDX-License-Identifier: GPL-2.0-only
/* The options for the rates that network and drives can carry. */
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "view/limits.h"

#define BYTES_PER_MB 1e6

enum { KEY_NETWORK_LIMIT = 0x100, KEY_DRIVE_LIMIT };

/* Return: bytes per second. */
static double parse_limit(const struct argp_state *state, const char *option, const char *text)
{
	double rate = 0;
	char *end = NULL;

	/* strtod() would also take hexadecimal, infinity and leading space. */
	if (strspn(text, "0123456789.") == strlen(text))
		rate = strtod(text, &end);
	if (!end || end == text || *end || !(rate > 0))
		options_error(state, "%s %s: not a rate in MB/s (such as 1250)", option, text);
	return rate * BYTES_PER_MB;
}

static error_t parse_limits(int key, char *arg, struct argp_state *state)
{
	struct limits *l = state->input;

	switch (key) {
	case KEY_NETWORK_LIMIT:
		l->network = parse_limit(state, "--network-limit", arg);
		return 0;
	case KEY_DRIVE_LIMIT:
		l->drive = parse_limit(state, "--drive-limit", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option limits_options[] = {
	{"network-limit", KEY_NETWORK_LIMIT, "RATE", 0,
	 "What the network carries in each direction, in MB/s (10^6 bytes): reads, or writes, that come within 90 % of "
	 "it are marked",
	 SECTION_RUN},
	{"drive-limit", KEY_DRIVE_LIMIT, "RATE", 0,
	 "What the drive of a controller does, in MB/s: controllers within 90 % of it are marked",
	 SECTION_RUN},
	{0},
};

const struct argp limits_argp = {.options = limits_options, .parser = parse_limits};
