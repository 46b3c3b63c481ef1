// SPDX-License-Identifier: GPL-2.0-only
#include "merge/filter.h"

#include <stdio.h>
#include <string.h>

#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"

/* Room for any time that parse_seconds() reads. */
#define TIME_LEN 32

bool filter_any(const struct filter *f)
{
	return nt_selects_by(&f->select.by) || f->select.cgroup[0] || f->select.device ||
	       f->select.failed || f->select.slower_ns || f->to_ns || f->nr;
}

#define TIME_WRONG "not FROM-TO (such as 1s-1.5s, 10- or -500ms)"

const char *filter_time(struct filter *f, const char *text)
{
	const char *dash = strchr(text, '-');
	uint64_t from = 0, to = UINT64_MAX;
	char first[TIME_LEN];

	if (!dash || dash - text >= TIME_LEN || (dash == text && !dash[1]))
		return TIME_WRONG;
	snprintf(first, sizeof(first), "%.*s", (int)(dash - text), text);
	if ((first[0] && parse_seconds(first, &from)) || (dash[1] && parse_seconds(dash + 1, &to)))
		return TIME_WRONG;
	if (to <= from)
		return "ends before it begins";
	f->from_ns = from;
	f->to_ns = to;
	return NULL;
}

static bool is_name(const char *name, const char *text, size_t length)
{
	return strlen(name) == length && !memcmp(name, text, length);
}

/*
 * Finds the stages with the name of the first @length bytes of @text. Return: whether there are
 * any.
 */
static bool find_stage(struct filter_condition *c, const char *text, size_t length)
{
	bool found = false;

	c->latency = is_name("latency", text, length);
	c->merged = FILTER_NO_STAGE;
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		if (is_name(merged_stage_name(i), text, length))
			c->merged = (uint8_t)i;
	found = c->latency || c->merged != FILTER_NO_STAGE;
	for (unsigned int side = 0; side < NT_SIDES; side++) {
		c->of_side[side] = FILTER_NO_STAGE;
		for (unsigned int i = 0; i < stages_nr((enum nt_side)side); i++) {
			if (!is_name(stage_name((enum nt_side)side, i), text, length))
				continue;
			c->of_side[side] = (uint8_t)i;
			found = true;
		}
	}
	return found;
}

/* Return: the text behind the relation; NULL if there is none. */
static const char *parse_relation(const char *text, enum filter_relation *relation)
{
	bool or_same = text[0] && text[1] == '=';

	switch (text[0]) {
	case '>':
		*relation = or_same ? FILTER_ABOVE_OR : FILTER_ABOVE;
		break;
	case '<':
		*relation = or_same ? FILTER_BELOW_OR : FILTER_BELOW;
		break;
	case '=':
		*relation = FILTER_SAME;
		break;
	default:
		return NULL;
	}
	return text + 1 + or_same;
}

const char *filter_where(struct filter *f, const char *text)
{
	size_t length = strcspn(text, "<>=");
	struct filter_condition c;
	const char *time = parse_relation(text + length, &c.relation);

	if (!time || parse_seconds(time, &c.ns))
		return "not STAGE>TIME, or with >=, <, <= or = (such as network_transmission>1ms)";
	if (!find_stage(&c, text, length))
		return "no stage of this name, nor latency: see ntprof-bpf probes, and the ten of report";
	if (f->nr == FILTER_CONDITIONS_MAX)
		return "too many, the most are 16 conditions";
	f->condition[f->nr++] = c;
	return NULL;
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

static bool in_time(const struct filter *f, const struct nt_record *r, uint64_t began_ns)
{
	uint64_t begin = record_begin_ns(r) ?: record_last_ns(r);
	uint64_t after = begin > began_ns ? begin - began_ns : 0;

	return !f->to_ns || (after >= f->from_ns && after < f->to_ns);
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
		  uint64_t began_ns)
{
	uint64_t stage[NT_STAGES_MAX];

	if (!selects_record(&f->select, r) || !in_time(f, r, began_ns) ||
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
			 const struct nt_record *r, uint32_t missing, uint64_t began_ns)
{
	enum nt_side side = r->side == NT_HOST ? NT_HOST : NT_TARGET;
	struct stage_split how;

	if (!takes_connection(f, c, side))
		return false;
	stage_split_init(&how, side, missing | record_lacks(r));
	return filter_takes(f, r, &how, began_ns);
}

bool filter_takes_matched(struct filter *f, const struct merge_connection *c,
			  const struct nt_record *host, const struct nt_record *target,
			  const uint32_t missing[NT_SIDES], uint64_t began_ns)
{
	const uint32_t lacks[NT_SIDES] = {
		[NT_HOST] = missing[NT_HOST] | record_lacks(host),
		[NT_TARGET] = missing[NT_TARGET] | record_lacks(target),
	};
	int64_t stage[NT_MERGED_STAGES_NR];

	if (!takes_connection(f, c, NT_HOST) || !selects_record(&f->select, host) ||
	    !in_time(f, host, began_ns) || !latencies_hold(f, record_latency_ns(host)))
		return false;
	if (!any_stage(f))
		return true;
	if (!f->has_how || f->how.missing[NT_HOST] != lacks[NT_HOST] ||
	    f->how.missing[NT_TARGET] != lacks[NT_TARGET])
		merged_split_init(&f->how, lacks[NT_HOST], lacks[NT_TARGET]);
	f->has_how = true;
	if (!merged_split(&f->how, host, target, stage))
		return false;
	for (unsigned int i = 0; i < f->nr; i++) {
		const struct filter_condition *k = &f->condition[i];
		unsigned int at = k->merged;

		if (k->latency)
			continue;
		at = at < NT_MERGED_STAGES_NR ? f->how.into[at] : NT_MERGED_NOWHERE;
		if (at >= NT_MERGED_STAGES_NR || !holds(k, stage[at]))
			return false;
	}
	return true;
}

double filter_seconds(const struct filter *f, uint64_t began_ns, uint64_t first_ns,
		      uint64_t last_ns)
{
	uint64_t from = first_ns, to = last_ns;

	if (f->to_ns && began_ns + f->from_ns > from)
		from = began_ns + f->from_ns;
	if (f->to_ns && f->to_ns < UINT64_MAX - began_ns && began_ns + f->to_ns < to)
		to = began_ns + f->to_ns;
	return to > from ? (double)(to - from) / 1e9 : 0;
}

void filter_bounds(const struct filter *f, uint64_t *from, uint64_t *to)
{
	if (!f->to_ns)
		return;
	if (f->from_ns > *from)
		*from = f->from_ns;
	if (f->to_ns < *to)
		*to = f->to_ns;
}
