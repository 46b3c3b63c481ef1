// SPDX-License-Identifier: GPL-2.0-only
#include "cli/slowest.h"

#include <string.h>

#include "core/names.h"
#include "core/segments.h"
#include "core/time.h"

#define NS_PER_MS 1000000

void slowest_record(struct slowest *s, const struct nt_record *r)
{
	uint64_t ns = record_latency_ns(r);

	if (r->op >= NT_OPS_NR || ns <= s->ns[r->op] || (r->status & NT_STATUS_MASK) ||
	    (r->flags & NT_F_CANCELLED))
		return;
	s->ns[r->op] = ns;
	s->record[r->op] = *r;
}

static const char *longest_stage(const struct nt_record *r, const struct tracer *t)
{
	uint64_t stage[NT_STAGES_MAX];
	uint8_t into[NT_STAGES_MAX];
	enum nt_side side = r->side == NT_HOST ? NT_HOST : NT_TARGET;
	unsigned int most = 0;

	if (!record_stages_joined(r, record_missing(r, tracer_missing(t)), into, stage))
		return "";
	for (unsigned int i = 0; i < stages_nr(side); i++)
		if (into[i] == i && (into[most] != most || stage[i] > stage[most]))
			most = i;
	return into[most] == most ? stage_name(side, most) : "";
}

void slowest_interval(struct slowest *s, const struct tracer *t)
{
	struct instant now = instant_now();

	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		const struct nt_record *r = &s->record[op];
		struct page_slow *to = &s->told[op];
		uint64_t end;

		*to = (struct page_slow){.ns = s->ns[op], .stage = ""};
		if (!s->ns[op])
			continue;
		end = record_end_ns(r);
		tracer_controller_name(t, r, to->controller, sizeof(to->controller));
		to->qid = r->qid;
		to->slot = r->slot;
		to->who = tracer_who(t, r);
		to->cid = r->cid;
		to->stage = longest_stage(r, t);
		to->ended_ms =
			(uint64_t)(now.realtime_ns - (int64_t)(now.monotonic_ns - end)) / NS_PER_MS;
		s->ns[op] = 0;
	}
}
