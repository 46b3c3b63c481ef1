// SPDX-License-Identifier: GPL-2.0-only
#include "trace/refusals.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/array.h"

const char *refusals_why(const struct refusals *r, const char *program)
{
	for (size_t i = 0; i < r->nr; i++)
		if (!strcmp(r->of[i].program, program))
			return r->of[i].why;
	return NULL;
}

bool refusals_add(struct refusals *r, const char *program, const char *why)
{
	struct refusal *new = &r->of[r->nr];

	if (r->nr == REFUSALS_MAX || refusals_why(r, program))
		return false;
	snprintf(new->program, sizeof(new->program), "%s", program);
	snprintf(new->why, sizeof(new->why), "%s", why);
	r->nr++;
	return true;
}

/*
 * Whether a line is one of the statistics at the end of each log, also of programs that are not
 * refused (print_verification_stats() in the kernel).
 */
static bool counts(const char *line, size_t len)
{
	static const char *const beginnings[] = {"processed ", "verification time ",
						 "stack depth "};

	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (len >= strlen(beginnings[i]) &&
		    !strncmp(line, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

void refusals_of_log(const char *log, int err, char *buf, size_t size)
{
	const char *reason = NULL;
	size_t reason_len = 0;

	for (const char *line = log; *line;) {
		size_t len = strcspn(line, "\n");

		if (len && !counts(line, len)) {
			reason = line;
			reason_len = len;
		}
		line += len;
		line += *line == '\n';
	}
	/* If the log did not fit, its last line is not the reason. */
	if (reason && err != -ENOSPC)
		snprintf(buf, size, "%.*s", (int)reason_len, reason);
	else
		snprintf(buf, size, "%s", strerror(-err));
}
