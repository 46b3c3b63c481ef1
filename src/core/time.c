// SPDX-License-Identifier: GPL-2.0-only
#include "core/time.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/text.h"

#define NS_PER_SECOND 1000000000
/*
 * The clocks are read until both reads are within INSTANT_NS, because other tasks may run in
 * between. After INSTANT_TRIES tries, the narrowest one is taken.
 */
#define INSTANT_NS 20000
#define INSTANT_TRIES 16

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * NS_PER_SECOND + t.tv_nsec;
}

int64_t time_shift(const char *path)
{
	long long seconds = 0, ns = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return 0;
	if (fscanf(f, "monotonic %lld %lld", &seconds, &ns) != 2)
		seconds = ns = 0;
	fclose(f);
	return seconds * NS_PER_SECOND + ns;
}

/* It never changes: a process with several threads cannot enter another time namespace. */
static int64_t shift;

/*
 * The file describes the namespace of future children. After unshare(2) alone, that is another
 * namespace than our own.
 */
__attribute__((constructor)) static void find_shift(void)
{
	struct stat ours, childrens;

	if (stat("/proc/self/ns/time", &ours) ||
	    stat("/proc/self/ns/time_for_children", &childrens) || ours.st_ino != childrens.st_ino)
		return;
	shift = time_shift("/proc/self/timens_offsets");
}

uint64_t monotonic_ns(void)
{
	return (uint64_t)(clock_ns(CLOCK_MONOTONIC) - shift);
}

int64_t realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

struct instant instant_now(void)
{
	uint64_t narrowest = UINT64_MAX;
	struct instant i = {0};

	for (unsigned int tries = 0; tries < INSTANT_TRIES && narrowest > INSTANT_NS; tries++) {
		uint64_t before = monotonic_ns();
		int64_t wall = realtime_ns();
		uint64_t width = monotonic_ns() - before;

		if (width >= narrowest)
			continue;
		narrowest = width;
		i = (struct instant){.monotonic_ns = before + width / 2, .realtime_ns = wall};
	}
	return i;
}

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

#define NS_PER_S 1000000000

/* Splits nanoseconds, which are negative before 1970, into seconds and a @rest that is not. */
static time_t seconds_of(int64_t realtime_ns, int *rest)
{
	int64_t ns = realtime_ns % (int64_t)NS_PER_S;

	ns += ns < 0 ? (int64_t)NS_PER_S : 0;
	*rest = (int)ns;
	return (time_t)((realtime_ns - ns) / (int64_t)NS_PER_S);
}

char *local_time_format(char buf[LOCAL_TIME_LEN], int64_t realtime_ns)
{
	int rest;
	time_t seconds = seconds_of(realtime_ns, &rest);
	char text[LOCAL_TIME_LEN / 2] = "", zone[8] = "";
	struct tm tm;

	if (localtime_r(&seconds, &tm)) {
		strftime(text, sizeof(text), "%F %T", &tm);
		strftime(zone, sizeof(zone), "%z", &tm);
	}
	snprintf(buf, LOCAL_TIME_LEN, "%s.%03d %s", text, rest / 1000000, zone);
	return buf;
}

char *rfc3339_format(char buf[RFC3339_LEN], int64_t realtime_ns)
{
	int rest;
	time_t seconds = seconds_of(realtime_ns, &rest);
	char text[RFC3339_LEN / 2] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%FT%T", &tm);
	snprintf(buf, RFC3339_LEN, "%s.%09dZ", text, rest);
	return buf;
}

char *rfc3339_now(char buf[RFC3339_LEN])
{
	return rfc3339_format(buf, realtime_ns());
}
