// SPDX-License-Identifier: GPL-2.0-only
#include "merge/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"

bool filter_any(const struct filter *f)
{
	return nt_selects_by(&f->select.by) || f->select.cgroup[0] || f->select.device ||
	       f->select.pids.nr || f->select.comm[0] || f->select.failed || f->select.slower_ns ||
	       f->nr_times || f->retransmitted || f->max_in_flight || f->max_bytes || f->nr;
}

#define TIME_WRONG                                                             \
	"not FROM-TO or FROM..TO (such as 1s-1.5s, 10-, -500ms, 14:03-14:05, " \
	"2026-11-22T14:03.. or -30s..)"

/* @dots: a minus sign is not what separates FROM from TO. Return: whether it is one. */
static bool parse_instant(const char *text, bool dots, struct filter_instant *i)
{
	*i = (struct filter_instant){.kind = FILTER_OPEN};
	if (!*text)
		return true;
	if (dots && *text == '-') {
		i->kind = FILTER_BEFORE_END;
		return !parse_seconds(text + 1, &i->ns);
	}
	i->kind = FILTER_AFTER;
	if (!parse_seconds(text, &i->ns))
		return true;
	i->kind = FILTER_WALL;
	return !wall_time_parse(text, &i->wall);
}

/* Whether TO is not after FROM, as far as that can be said of any recording. */
static bool is_backwards(const struct filter_instant *from, const struct filter_instant *to)
{
	if (to->kind == FILTER_AFTER && !to->ns)
		return true;
	if (from->kind != to->kind)
		return false;
	if (from->kind == FILTER_AFTER)
		return to->ns <= from->ns;
	if (from->kind == FILTER_BEFORE_END)
		return to->ns >= from->ns;
	if (from->kind == FILTER_OPEN || from->wall.dated != to->wall.dated)
		return false;
	if (from->wall.dated)
		return wall_time_on(&to->wall, 0, 0, true) <=
		       wall_time_on(&from->wall, 0, 0, false);
	/* TO may be on the next day. */
	return to->wall.seconds == from->wall.seconds && to->wall.ns == from->wall.ns;
}

static const char *time_add(struct filter *f, const char *text)
{
	const char *dots = strstr(text, ".."), *end = dots ?: strchr(text, '-');
	struct filter_time t;
	char first[WORD_LEN];

	if (!end || end - text >= WORD_LEN)
		return TIME_WRONG;
	snprintf(first, sizeof(first), "%.*s", (int)(end - text), text);
	if (!parse_instant(first, dots, &t.from) ||
	    !parse_instant(end + (dots ? 2 : 1), dots, &t.to) ||
	    (t.from.kind == FILTER_OPEN && t.to.kind == FILTER_OPEN))
		return TIME_WRONG;
	if (is_backwards(&t.from, &t.to))
		return "ends before it begins";
	if (f->nr_times == FILTER_TIMES_MAX)
		return "too many, the most are 16 times";
	f->time[f->nr_times++] = t;
	return NULL;
}

const char *filter_time(struct filter *f, const char *text)
{
	const unsigned int nr = f->nr_times;
	const char *wrong = NULL;
	char time[2 * WORD_LEN];

	for (bool more = true; !wrong && more; text += strcspn(text, ",") + more) {
		more = text[strcspn(text, ",")];
		wrong = TIME_WRONG;
		if (strcspn(text, ",") < sizeof(time)) {
			snprintf(time, sizeof(time), "%.*s", (int)strcspn(text, ","), text);
			wrong = time_add(f, time);
		}
	}
	if (wrong)
		f->nr_times = nr;
	return wrong;
}

static bool needs_end(const struct filter_time *t)
{
	return t->from.kind == FILTER_BEFORE_END || t->to.kind == FILTER_BEFORE_END;
}

bool filter_needs_end(const struct filter *f)
{
	for (unsigned int i = 0; i < f->nr_times; i++)
		if (needs_end(&f->time[i]))
			return true;
	return false;
}

/* Of an open end: a FROM that was over so long ago is one of the next day. */
#define OVER_NS (12 * 3600 * 1000000000LL)

static bool of_any_day(const struct filter_instant *i)
{
	return i->kind == FILTER_WALL && !i->wall.dated;
}

/* Days from the one on which a recording began, for a FROM without a date. */
static int days_of_from(const struct filter_time *f, int64_t began)
{
	int64_t from = wall_time_on(&f->from.wall, began, 0, false);
	const struct wall_time *to = &f->to.wall;
	bool next_day = to->seconds < f->from.wall.seconds ||
			(to->seconds == f->from.wall.seconds && to->ns < f->from.wall.ns);

	if (!of_any_day(&f->to))
		return (__int128)began - from > OVER_NS;
	for (int day = -1; day < 1; day++)
		if (wall_time_on(to, began, day + next_day, true) > began)
			return day;
	return 1;
}

/* A time of the wall clock on the recording's own clock; 0 if it is before the recording. */
static uint64_t on_its_clock(const struct instant *began, int64_t wall)
{
	if (wall <= began->realtime_ns)
		return 0;
	return ns_add(began->monotonic_ns, (uint64_t)wall - (uint64_t)began->realtime_ns);
}

/* CLOCK_REALTIME of a TO without a date: the first one after FROM, and after the beginning. */
static int64_t to_of_any_day(const struct filter_time *f, const struct instant *began, int64_t from)
{
	int64_t after = from > began->realtime_ns ? from : began->realtime_ns, to;
	int day = 0;

	do
		to = wall_time_on(&f->to.wall, after, day, true);
	while (to <= after && ++day < 3);
	return to;
}

static uint64_t span_end(const struct filter_instant *i, const struct instant *began,
			 uint64_t end_ns)
{
	return i->kind == FILTER_AFTER	      ? i->ns ? ns_add(began->monotonic_ns, i->ns) : 0
	       : i->kind == FILTER_BEFORE_END ? end_ns > i->ns ? end_ns - i->ns : 0
					      : 0;
}

/* One of the times; 0 and 0: nothing. */
static struct filter_part part_of(const struct filter_time *f, const struct instant *began,
				  uint64_t end_ns)
{
	struct filter_part span = {
		.from_ns = span_end(&f->from, began, end_ns),
		.to_ns = span_end(&f->to, began, end_ns),
	};
	bool wall = f->from.kind == FILTER_WALL || f->to.kind == FILTER_WALL;
	int64_t from = INT64_MIN, to;

	if ((wall && !began->realtime_ns) || (needs_end(f) && !end_ns))
		return (struct filter_part){0};
	if (f->from.kind == FILTER_WALL) {
		from = wall_time_on(&f->from.wall, began->realtime_ns,
				    f->from.wall.dated ? 0 : days_of_from(f, began->realtime_ns),
				    false);
		span.from_ns = on_its_clock(began, from);
	} else if (span.from_ns > began->monotonic_ns) {
		from = instant_wall(began, span.from_ns);
	}
	if (f->to.kind == FILTER_WALL) {
		to = of_any_day(&f->to) ? to_of_any_day(f, began, from)
					: wall_time_on(&f->to.wall, 0, 0, true);
		span.to_ns = on_its_clock(began, to);
	} else if (f->to.kind == FILTER_OPEN) {
		span.to_ns = UINT64_MAX;
	}
	return span;
}

static int by_from(const void *a, const void *b)
{
	const struct filter_part *x = a, *y = b;

	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

struct filter_span filter_span(const struct filter *f, const struct instant *began, uint64_t end_ns)
{
	struct filter_span span = {.nr = !f->nr_times,
				   .part = {{.to_ns = f->nr_times ? 0 : UINT64_MAX}}};
	struct filter_part part[FILTER_TIMES_MAX] = {{0}};

	for (unsigned int i = 0; i < f->nr_times; i++)
		part[i] = part_of(&f->time[i], began, end_ns);
	qsort(part, f->nr_times, sizeof(*part), by_from);
	for (unsigned int i = 0; i < f->nr_times; i++) {
		struct filter_part *last = span.nr ? &span.part[span.nr - 1] : NULL;

		if (part[i].to_ns <= part[i].from_ns)
			continue;
		if (!last || part[i].from_ns > last->to_ns)
			span.part[span.nr++] = part[i];
		else if (part[i].to_ns > last->to_ns)
			last->to_ns = part[i].to_ns;
	}
	return span;
}

/* Finds the stages of a name. Return: whether there are any. */
static bool find_stage(struct filter_condition *c, const char *name)
{
	bool found;

	c->latency = !strcmp(name, "latency");
	c->merged = FILTER_NO_STAGE;
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		if (!strcmp(merged_stage_name(i), name))
			c->merged = (uint8_t)i;
	for (unsigned int i = 0; i < NT_STAGE_PARTS_NR; i++)
		if (!strcmp(stage_part_name((enum stage_part)i), name))
			c->merged = (uint8_t)(NT_MERGED_STAGES_NR + i);
	found = c->latency || c->merged != FILTER_NO_STAGE;
	for (unsigned int side = 0; side < NT_SIDES; side++) {
		c->of_side[side] = FILTER_NO_STAGE;
		for (unsigned int i = 0; i < stages_nr((enum nt_side)side); i++) {
			if (strcmp(stage_name((enum nt_side)side, i), name) != 0)
				continue;
			c->of_side[side] = (uint8_t)i;
			found = true;
		}
	}
	return found;
}

/* Return: whether a relation comes next, and is taken. The last one may be == as well. */
static bool take_relation(struct words *w, enum filter_relation *relation)
{
	static const struct {
		char sign;
		enum filter_relation alone, or_same;
	} relations[] = {{'>', FILTER_ABOVE, FILTER_ABOVE_OR},
			 {'<', FILTER_BELOW, FILTER_BELOW_OR},
			 {'=', FILTER_SAME, FILTER_SAME}};

	for (size_t i = 0; i < ARRAY_SIZE(relations); i++) {
		if (!words_take(w, relations[i].sign))
			continue;
		*relation = words_take(w, '=') ? relations[i].or_same : relations[i].alone;
		return true;
	}
	return false;
}

/* Return: the message that there is no such stage, with those that there are. */
static const char *no_stage(void)
{
	static char text[2048];
	int at = snprintf(text, sizeof(text), "no such stage: there are latency");

	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, ", %s", merged_stage_name(i));
	for (unsigned int i = 0; i < NT_STAGE_PARTS_NR; i++)
		at += snprintf(text + at, sizeof(text) - (size_t)at, ", %s",
			       stage_part_name((enum stage_part)i));
	for (unsigned int side = 0; side < NT_SIDES; side++) {
		for (unsigned int i = 0; i < stages_nr((enum nt_side)side); i++) {
			const char *name = stage_name((enum nt_side)side, i);

			if (!strstr(text, name))
				at += snprintf(text + at, sizeof(text) - (size_t)at, ", %s", name);
		}
	}
	return text;
}

#define WHERE_WRONG \
	"not STAGE>TIME, or with >=, <, <= or = (such as network_transmission>1ms), nor retransmitted"

static const char *condition_add(struct filter *f, struct words *w)
{
	char name[WORD_LEN], time[WORD_LEN];
	struct filter_condition c;
	bool relation;

	words_next(w, name);
	if (!strcmp(name, "retransmitted")) {
		f->retransmitted = true;
		return NULL;
	}
	relation = take_relation(w, &c.relation);
	words_next(w, time);
	if (!relation || parse_seconds(time, &c.ns))
		return WHERE_WRONG;
	if (!find_stage(&c, name))
		return no_stage();
	if (f->nr == FILTER_CONDITIONS_MAX)
		return "too many, the most are 16 conditions";
	f->condition[f->nr++] = c;
	return NULL;
}

const char *filter_where(struct filter *f, const char *text)
{
	struct words w = {.p = text};
	unsigned int nr = f->nr;
	const char *wrong;

	do
		wrong = condition_add(f, &w);
	while (!wrong && words_take(&w, ','));
	if (!wrong && !words_take(&w, '\0'))
		wrong = WHERE_WRONG;
	if (wrong)
		f->nr = nr;
	return wrong;
}

/* @ns: a stage between two clocks may be negative */
static bool holds(const struct filter_condition *c, int64_t ns)
{
	int64_t to = c->ns < INT64_MAX ? (int64_t)c->ns : INT64_MAX;

	switch (c->relation) {
	case FILTER_ABOVE:
		return ns > to;
	case FILTER_ABOVE_OR:
		return ns >= to;
	case FILTER_BELOW:
		return ns < to;
	case FILTER_BELOW_OR:
		return ns <= to;
	default:
		return ns == to;
	}
}

/* What readers of a recording have found out of the command. */
static bool found_so(const struct filter *f, const struct nt_record *r)
{
	return (!f->retransmitted || r->flags & NT_F_RETRANSMITTED) &&
	       (!(f->max_in_flight || f->max_bytes) || !(r->flags & NT_F_CROWDED));
}

static bool in_time(const struct filter *f, const struct nt_record *r,
		    const struct filter_span *span)
{
	uint64_t begin = record_begin_ns(r) ?: record_last_ns(r);

	for (unsigned int i = 0; f->nr_times && i < span->nr; i++)
		if (begin >= span->part[i].from_ns && begin < span->part[i].to_ns)
			return true;
	return !f->nr_times;
}

static bool latencies_hold(const struct filter *f, uint64_t ns)
{
	for (unsigned int i = 0; i < f->nr; i++)
		if (f->condition[i].latency && !holds(&f->condition[i], (int64_t)ns))
			return false;
	return true;
}

static bool any_stage(const struct filter *f)
{
	for (unsigned int i = 0; i < f->nr; i++)
		if (!f->condition[i].latency)
			return true;
	return false;
}

bool filter_takes(const struct filter *f, const struct nt_record *r, const struct stage_split *how,
		  const struct filter_span *span)
{
	uint64_t stage[NT_STAGES_MAX];

	if (!selects_record(&f->select, r) || !found_so(f, r) || !in_time(f, r, span) ||
	    !latencies_hold(f, record_latency_ns(r)))
		return false;
	if (!any_stage(f))
		return true;
	if (!stage_split(how, r, stage))
		return false;
	for (unsigned int i = 0; i < f->nr; i++) {
		const struct filter_condition *c = &f->condition[i];
		unsigned int at = c->of_side[how->side];

		if (c->latency)
			continue;
		/* A stage that is joined with another is compared by their common time. */
		at = at < NT_STAGES_MAX ? how->into[at] : STAGE_UNKNOWN;
		if (at >= NT_STAGES_MAX || !holds(c, (int64_t)stage[at]))
			return false;
	}
	return true;
}

static bool takes_connection(const struct filter *f, const struct merge_connection *c,
			     enum nt_side side)
{
	struct queue_info q;

	if (!(nt_selects_by(&f->select.by) & NT_BY_QUEUE))
		return true;
	q = (struct queue_info){.instance = c->host_instance, .cntlid = c->cntlid, .qid = c->qid};
	memcpy(q.subsysnqn, c->subsysnqn, sizeof(q.subsysnqn));
	memcpy(q.hostnqn, c->hostnqn, sizeof(q.hostnqn));
	return selects_queue(&f->select.by, side, &q);
}

bool filter_takes_single(const struct filter *f, const struct merge_connection *c,
			 const struct nt_record *r, uint32_t missing,
			 const struct filter_span *span)
{
	enum nt_side side = r->side == NT_HOST ? NT_HOST : NT_TARGET;
	struct stage_split how;

	if (!takes_connection(f, c, side))
		return false;
	stage_split_init(&how, side, record_missing(r, missing));
	return filter_takes(f, r, &how, span);
}

bool filter_takes_matched(struct filter *f, const struct merge_connection *c,
			  const struct nt_record *host, const struct nt_record *target,
			  const uint32_t missing[NT_SIDES], const struct filter_span *span)
{
	const uint32_t lacks[NT_SIDES] = {
		[NT_HOST] = missing[NT_HOST] | record_lacks(host),
		[NT_TARGET] = missing[NT_TARGET] | record_lacks(target),
	};
	int64_t stage[NT_MERGED_STAGES_NR + NT_STAGE_PARTS_NR];
	uint32_t parts;

	if (!takes_connection(f, c, NT_HOST) || !selects_record(&f->select, host) ||
	    !found_so(f, host) || !in_time(f, host, span) ||
	    !latencies_hold(f, record_latency_ns(host)))
		return false;
	if (!any_stage(f))
		return true;
	merged_split_renew(&f->how, lacks[NT_HOST], lacks[NT_TARGET]);
	if (!merged_split(&f->how, host, target, stage))
		return false;
	parts = stage_parts(&f->how, host, target, stage, stage + NT_MERGED_STAGES_NR);
	for (unsigned int i = 0; i < f->nr; i++) {
		const struct filter_condition *k = &f->condition[i];
		unsigned int at = k->merged;

		if (k->latency)
			continue;
		if (at == FILTER_NO_STAGE)
			return false;
		if (at >= NT_MERGED_STAGES_NR && !(parts & 1u << (at - NT_MERGED_STAGES_NR)))
			return false;
		if (at < NT_MERGED_STAGES_NR && f->how.into[at] == NT_MERGED_NOWHERE)
			return false;
		if (!holds(k, stage[at < NT_MERGED_STAGES_NR ? f->how.into[at] : at]))
			return false;
	}
	return true;
}

/* Nanoseconds of a time that the filter takes. */
static uint64_t taken(const struct filter_span *span, uint64_t first_ns, uint64_t last_ns)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < span->nr; i++) {
		const struct filter_part *p = &span->part[i];
		uint64_t from = p->from_ns > first_ns ? p->from_ns : first_ns;
		uint64_t to = p->to_ns < last_ns ? p->to_ns : last_ns;

		ns += to > from ? to - from : 0;
	}
	return ns;
}

double filter_seconds(const struct filter_span *span, uint64_t first_ns, uint64_t last_ns)
{
	return (double)taken(span, first_ns, last_ns) / 1e9;
}

uint64_t filter_bounds(const struct filter_span *span, uint64_t began_ns, uint64_t *from,
		       uint64_t *to)
{
	const uint64_t first = span->nr ? span->part[0].from_ns : 0;
	const uint64_t last = span->nr ? span->part[span->nr - 1].to_ns : 0;
	uint64_t ns;

	if (first > began_ns && first - began_ns > *from)
		*from = first - began_ns;
	if (last <= began_ns)
		*to = 0;
	else if (last - began_ns < *to)
		*to = last - began_ns;
	ns = taken(span, began_ns + *from, ns_add(began_ns, *to));
	return span->nr > 1 && *to > *from && ns < *to - *from ? ns : 0;
}
