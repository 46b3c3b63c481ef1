// SPDX-License-Identifier: GPL-2.0-only
#include "core/time.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
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

const char *burst_parse(const char *text, struct burst *b)
{
	char on[WORD_LEN], every[WORD_LEN];
	struct words w = {.p = text};
	struct burst got;
	bool slash;

	words_next(&w, on);
	slash = words_take(&w, '/');
	words_next(&w, every);
	if (!slash || !words_take(&w, '\0') || parse_seconds(on, &got.on_ns) ||
	    parse_seconds(every, &got.every_ns))
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
	int64_t ns = realtime_ns % (int64_t)NS_PER_S, seconds = realtime_ns / (int64_t)NS_PER_S;

	*rest = (int)(ns < 0 ? ns + (int64_t)NS_PER_S : ns);
	return (time_t)(ns < 0 ? seconds - 1 : seconds);
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
	/* Many commands begin in the same second. */
	static _Thread_local char text[RFC3339_LEN / 2];
	static _Thread_local time_t of;
	static _Thread_local size_t length;
	char digits[NATURAL_LEN];
	int rest;
	time_t seconds = seconds_of(realtime_ns, &rest);
	struct tm tm;

	if (seconds != of || !text[0]) {
		text[0] = '\0';
		if (gmtime_r(&seconds, &tm))
			strftime(text, sizeof(text), "%FT%T", &tm);
		of = seconds;
		length = strlen(text);
	}
	memcpy(buf, text, length);
	/* Nine digits: a 1 in front of them keeps the zeros. */
	text_natural(digits, 1000000000u + (unsigned int)rest);
	digits[0] = '.';
	memcpy(buf + length, digits, 10);
	memcpy(buf + length + 10, "Z", 2);
	return buf;
}

char *rfc3339_now(char buf[RFC3339_LEN])
{
	return rfc3339_format(buf, realtime_ns());
}

/* Reads a number of @least to @most digits. Return: the text behind it; NULL if there are none. */
static const char *digits(const char *at, unsigned int least, unsigned int most, int *value)
{
	size_t nr = strspn(at, "0123456789");

	if (nr < least || nr > most)
		return NULL;
	*value = (int)strtol(at, NULL, 10);
	return at + nr;
}

/* HH:MM[:SS[.NS]]. Return: the text behind it, or NULL. */
static const char *parse_clock(const char *at, struct wall_time *t)
{
	int hour, minute, second = 0;

	at = digits(at, 1, 2, &hour);
	at = at && *at == ':' ? digits(at + 1, 2, 2, &minute) : NULL;
	if (at && *at == ':')
		at = digits(at + 1, 2, 2, &second);
	if (!at || hour > 23 || minute > 59 || second > 59)
		return NULL;
	t->seconds = (hour * 60 + minute) * 60 + second;
	if (*at != '.')
		return at;
	for (int unit = 100000000; *++at >= '0' && *at <= '9'; unit /= 10)
		t->ns += (*at - '0') * unit;
	return at[-1] == '.' ? NULL : at;
}

/* Z, +HH:MM or -HH:MM, or nothing. Return: whether it is one of them. */
static bool parse_zone(const char *at, struct wall_time *t)
{
	int sign = *at == '-' ? -1 : 1, hour = 0, minute = 0;

	if (!*at)
		return true;
	t->zoned = true;
	if (!strcmp(at, "Z"))
		return true;
	if (*at != '+' && *at != '-')
		return false;
	at = digits(at + 1, 2, 2, &hour);
	at = at && *at == ':' ? digits(at + 1, 2, 2, &minute) : NULL;
	t->offset = sign * (hour * 60 + minute) * 60;
	return at && !*at && hour < 24 && minute < 60;
}

/* Years that CLOCK_REALTIME can be in as 64 bits of nanoseconds. */
#define YEAR_MIN 1970
#define YEAR_MAX 2261

static bool is_date(const struct wall_time *t)
{
	struct tm tm = {.tm_year = t->year - 1900, .tm_mon = t->month - 1, .tm_mday = t->day};

	return t->year >= YEAR_MIN && t->year <= YEAR_MAX && t->month >= 1 && t->month <= 12 &&
	       timegm(&tm) != -1 && tm.tm_mday == t->day;
}

int wall_time_parse(const char *text, struct wall_time *t)
{
	const char *at = digits(text, 4, 4, &t->year);

	*t = (struct wall_time){.dated = at, .year = at ? t->year : 0};
	if (!at) {
		at = parse_clock(text, t);
		return at && !*at ? 0 : -EINVAL;
	}
	at = *at == '-' ? digits(at + 1, 2, 2, &t->month) : NULL;
	at = at && *at == '-' ? digits(at + 1, 2, 2, &t->day) : NULL;
	if (!at || !is_date(t))
		return -EINVAL;
	if (!*at)
		return 0;
	at = *at == 'T' || *at == ' ' ? parse_clock(at + 1, t) : NULL;
	return at && parse_zone(at, t) ? 0 : -EINVAL;
}

/* The clock shows @tm, which may be in summer time, in standard time, or in both, or in neither. */
static time_t local_time(const struct tm *tm, bool last)
{
	time_t found = -1;

	for (int summer = 0; summer < 2; summer++) {
		struct tm try = *tm, shown;
		time_t at;

		try.tm_isdst = summer;
		at = mktime(&try);
		if (at == -1 || !localtime_r(&at, &shown) || shown.tm_hour != tm->tm_hour ||
		    shown.tm_min != tm->tm_min || shown.tm_sec != tm->tm_sec)
			continue;
		if (found == -1 || (last ? at > found : at < found))
			found = at;
	}
	if (found == -1) {
		struct tm try = *tm;

		try.tm_isdst = 0;
		found = mktime(&try);
	}
	return found;
}

int64_t wall_time_on(const struct wall_time *t, int64_t near, int days, bool last)
{
	int rest;
	time_t day = seconds_of(near, &rest), at;
	struct tm tm = {0};
	int64_t ns;

	if (!t->dated && localtime_r(&day, &tm))
		tm.tm_mday += days;
	if (t->dated)
		tm = (struct tm){
			.tm_year = t->year - 1900, .tm_mon = t->month - 1, .tm_mday = t->day};
	tm.tm_hour = t->seconds / 3600;
	tm.tm_min = t->seconds / 60 % 60;
	tm.tm_sec = t->seconds % 60;
	at = t->zoned ? timegm(&tm) - t->offset : local_time(&tm, last);
	/* A damaged recording may say that it began at the end of time. */
	if (__builtin_mul_overflow((int64_t)at, (int64_t)NS_PER_S, &ns) ||
	    __builtin_add_overflow(ns, t->ns, &ns))
		return at < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}
