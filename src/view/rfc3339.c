// SPDX-License-Identifier: GPL-2.0-only
#include "view/rfc3339.h"

#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "core/time.h"

#define NS_PER_S 1000000000

char *rfc3339_now(char buf[RFC3339_LEN])
{
	int64_t now = realtime_ns();
	time_t seconds = (time_t)(now / NS_PER_S);
	char text[RFC3339_LEN / 2] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%FT%T", &tm);
	snprintf(buf, RFC3339_LEN, "%s.%09dZ", text, (int)(now % NS_PER_S));
	return buf;
}
