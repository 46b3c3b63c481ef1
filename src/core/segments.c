// SPDX-License-Identifier: GPL-2.0-only
#include "core/segments.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/stats.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define STAGE_NONE 0xff

struct segment {
	uint8_t stage, shapes, from, to;
};

#define SEGMENT(st, sh, from, to) {NT_##st, sh, NT_##from, NT_##to},
static const struct segment host[] = {NT_HOST_SEGMENTS(SEGMENT)};
static const struct segment target[] = {NT_TARGET_SEGMENTS(SEGMENT)};
#undef SEGMENT

static void join(uint8_t into[NT_STAGES_MAX], uint8_t a, uint8_t b)
{
	uint8_t first = into[a] < into[b] ? into[a] : into[b];
	uint8_t other = into[a] < into[b] ? into[b] : into[a];

	for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
		if (into[i] == other)
			into[i] = first;
}

void stages_join(enum nt_side side, uint32_t missing, uint8_t into[NT_STAGES_MAX])
{
	const struct segment *s = side == NT_HOST ? host : target;
	size_t nr = side == NT_HOST ? ARRAY_SIZE(host) : ARRAY_SIZE(target);
	bool unknown[NT_STAGES_MAX] = {false};

	for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
		into[i] = (uint8_t)i;
	for (unsigned int shape = 0; shape < NT_SHAPES_NR; shape++) {
		uint8_t before = STAGE_NONE; /* stage of the segment before, in this shape */

		for (size_t i = 0; i < nr; i++) {
			if (!(s[i].shapes & 1u << shape))
				continue;
			if (missing & 1u << s[i].from) {
				if (before == STAGE_NONE)
					unknown[s[i].stage] = true;
				else
					join(into, before, s[i].stage);
			}
			before = s[i].stage;
		}
	}
	/* What is one with an unknown stage is as unknown. */
	for (unsigned int k = 0; k < NT_STAGES_MAX; k++) {
		uint8_t group = into[k];

		for (unsigned int i = 0; unknown[k] && i < NT_STAGES_MAX; i++)
			if (group != STAGE_UNKNOWN && into[i] == group)
				into[i] = STAGE_UNKNOWN;
	}
}

bool record_stages_joined(const struct nt_record *r, uint32_t missing, uint8_t into[NT_STAGES_MAX],
			  uint64_t stage[NT_STAGES_MAX])
{
	const struct segment *s = r->side == NT_HOST ? host : target;
	size_t nr = r->side == NT_HOST ? ARRAY_SIZE(host) : ARRAY_SIZE(target);
	uint64_t last = 0;

	stages_join(r->side, missing, into);
	if (!missing)
		return record_stages(r, stage);
	memset(stage, 0, NT_STAGES_MAX * sizeof(*stage));
	for (size_t i = 0; i < nr; i++) {
		uint64_t from = missing & 1u << s[i].from ? last : r->points[s[i].from];
		uint64_t to = missing & 1u << s[i].to ? from : r->points[s[i].to];
		bool unknown = into[s[i].stage] == STAGE_UNKNOWN;

		if (!(s[i].shapes & 1u << r->shape))
			continue;
		last = to;
		/* submit depends on a setting of the disk. */
		if (unknown || (!from && r->side == NT_HOST && s[i].from == NT_H_SUBMIT))
			continue;
		if (!from || to < from) {
			memset(stage, 0, NT_STAGES_MAX * sizeof(*stage));
			return false;
		}
		stage[into[s[i].stage]] += to - from;
	}
	return true;
}

const char *stage_joined_name(enum nt_side side, const uint8_t into[NT_STAGES_MAX],
			      unsigned int stage, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < stages_nr(side); i++) {
		if (into[i] != stage)
			continue;
		used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? "+" : "",
					 stage_name(side, i));
		if (used >= size)
			break;
	}
	return buf;
}
