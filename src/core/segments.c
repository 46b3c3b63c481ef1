// SPDX-License-Identifier: GPL-2.0-only
#include "core/segments.h"

#include <stdio.h>
#include <string.h>

#include "core/array.h"
#include "core/names.h"

#define STAGE_NONE 0xff
#define POINT_NONE 0xff

const struct segment *segments_of(enum nt_side side, size_t *nr)
{
#define SEGMENT(st, sh, from, to) {NT_##st, sh, NT_##from, NT_##to},
	static const struct segment host[] = {NT_HOST_SEGMENTS(SEGMENT) NT_CORE_SEGMENTS(SEGMENT)};
	static const struct segment target[] = {NT_TARGET_SEGMENTS(SEGMENT)};
#undef SEGMENT

	*nr = side == NT_HOST ? ARRAY_SIZE(host) : ARRAY_SIZE(target);
	return side == NT_HOST ? host : target;
}

uint32_t segments_points(enum nt_side side)
{
	size_t nr;
	const struct segment *s = segments_of(side, &nr);
	uint32_t points = 0;

	for (size_t i = 0; i < nr; i++)
		points |= 1u << s[i].from | 1u << s[i].to;
	return points;
}

uint32_t segments_ends(enum nt_side side)
{
	return side == NT_HOST ? 1u << NT_H_SUBMIT | 1u << NT_H_QUEUE_RQ | 1u << NT_H_COMPLETE
			       : 1u << NT_T_CMD | 1u << NT_T_DONE;
}

bool segments_only_ends(enum nt_side side, uint32_t missing)
{
	return (segments_points(side) & ~missing) == segments_ends(side);
}

uint32_t segments_stages_at(enum nt_side side, unsigned int point)
{
	size_t nr;
	const struct segment *s = segments_of(side, &nr);
	uint32_t stages = 0;

	for (size_t i = 0; i < nr; i++)
		if (s[i].from == point || s[i].to == point)
			stages |= 1u << s[i].stage;
	return stages;
}

int segments_stage_ending(enum nt_side side, unsigned int point, unsigned int shape)
{
	size_t nr;
	const struct segment *s = segments_of(side, &nr);
	int stage = -1;

	for (size_t i = 0; i < nr; i++)
		if (s[i].to == point && s[i].shapes & 1u << shape)
			stage = s[i].stage;
	return stage;
}

int record_stage_under_way(const struct nt_record *r)
{
	unsigned int asked = r->side == NT_HOST ? NT_H_R2T : NT_T_SEND_R2T;
	unsigned int shapes = r->side == NT_HOST && r->shape == NT_SHAPE_CORE ? NT_SHAPES_CORE
			      : r->points[asked]			      ? NT_SHAPES_R2T
									      : NT_SHAPES_NOT_R2T;
	uint32_t bounds = segments_points(r->side);
	unsigned int last = NT_POINTS_MAX;
	const struct segment *s;
	size_t nr;

	while (last > 0 && !(bounds & 1u << (last - 1) && r->points[last - 1]))
		last--;
	s = segments_of(r->side, &nr);
	for (size_t i = 0; last && i < nr; i++)
		if (s[i].from == last - 1 && s[i].shapes & shapes)
			return s[i].stage;
	return -1;
}

bool stage_may_be_absent(enum nt_side side, unsigned int stage)
{
	size_t nr;
	const struct segment *s = segments_of(side, &nr);
	unsigned int shapes = 0;

	for (size_t i = 0; i < nr; i++)
		if (s[i].stage == stage)
			shapes |= s[i].shapes;
	return (shapes & NT_SHAPES_ALL) != NT_SHAPES_ALL && shapes != NT_SHAPES_CORE;
}

static void join(uint8_t into[NT_STAGES_MAX], uint8_t a, uint8_t b)
{
	uint8_t first = into[a] < into[b] ? into[a] : into[b];
	uint8_t other = into[a] < into[b] ? into[b] : into[a];

	for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
		if (into[i] == other)
			into[i] = first;
}

/* Bits of the shapes that commands have; @missing as in stages_join(). */
static unsigned int shapes_seen(enum nt_side side, uint32_t missing)
{
	if (side != NT_HOST)
		return NT_SHAPES_ALL;
	return (missing & NT_WITHOUT_TCP ? 0 : NT_SHAPES_ALL) |
	       (missing & NT_WITH_CORE ? NT_SHAPES_CORE : 0);
}

void stages_join(enum nt_side side, uint32_t missing, uint8_t into[NT_STAGES_MAX])
{
	unsigned int shapes = shapes_seen(side, missing), passed = 0;
	const struct segment *s;
	size_t nr;
	bool unknown[NT_STAGES_MAX] = {false};

	s = segments_of(side, &nr);
	for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
		into[i] = (uint8_t)i;
	for (unsigned int shape = 0; shape < NT_SHAPES_NR; shape++) {
		uint8_t before = STAGE_NONE; /* stage of the segment before, in this shape */
		bool ends = true;

		for (size_t i = 0; i < nr; i++) {
			if (!(s[i].shapes & shapes & 1u << shape))
				continue;
			passed |= 1u << s[i].stage;
			if (missing & 1u << s[i].from) {
				bool bounded = !(missing & 1u << s[i].to);

				/*
				 * Only its beginning would have a name: what it joins is known
				 * without it.
				 */
				if (before != STAGE_NONE && unknown[s[i].stage] && !bounded) {
					ends = false;
					continue;
				}
				if (before == STAGE_NONE)
					unknown[s[i].stage] = true;
				else
					join(into, before, s[i].stage);
			}
			before = s[i].stage;
			ends = !(missing & 1u << s[i].to);
		}
		/* No stage follows that it could be joined with. */
		if (!ends)
			unknown[before] = true;
	}
	/* A stage that is joined with an unknown stage is unknown, too. */
	for (unsigned int k = 0; k < NT_STAGES_MAX; k++) {
		uint8_t group = into[k];

		for (unsigned int i = 0; unknown[k] && i < NT_STAGES_MAX; i++)
			if (group != STAGE_UNKNOWN && into[i] == group)
				into[i] = STAGE_UNKNOWN;
	}
	for (unsigned int i = 0; i < stages_nr(side); i++)
		if (!(passed & 1u << i))
			into[i] = STAGE_ABSENT;
}

static void shape_init(struct stage_shape *shape, const struct stage_split *s, unsigned int of)
{
	size_t nr;
	const struct segment *segment = segments_of(s->side, &nr);
	uint8_t last = POINT_NONE;

	shape->nr = 0;
	for (size_t i = 0; i < nr; i++) {
		uint8_t from, to, at = s->into[segment[i].stage];

		if (!(segment[i].shapes & 1u << of))
			continue;
		from = s->missing & 1u << segment[i].from ? last : segment[i].from;
		to = s->missing & 1u << segment[i].to ? from : segment[i].to;
		last = to;
		if (from == to || from == POINT_NONE || at >= NT_STAGES_MAX)
			continue;
		shape->part[shape->nr].from = from;
		shape->part[shape->nr].to = to;
		shape->part[shape->nr++].at = at;
	}
}

/* A finer point, and the point that its time is from. */
struct fine {
	const char *name;
	unsigned int from;
};

static const struct fine *fine_of(enum nt_side side, unsigned int fine)
{
#define FINE(id, name, from, what) [NT_##id] = {name, NT_##from},
	static const struct fine host[NT_FINE_MAX] = {NT_HOST_FINE(FINE)};
	static const struct fine target[NT_FINE_MAX] = {NT_TARGET_FINE(FINE)};
#undef FINE

	return side == NT_HOST ? &host[fine] : &target[fine];
}

const char *fine_name(enum nt_side side, unsigned int fine)
{
	return fine < NT_FINE_MAX ? fine_of(side, fine)->name : NULL;
}

const char *wait_name(enum nt_wait wait)
{
#define WAIT(id, name, what) [NT_##id] = name,
	static const char *const names[NT_WAITS_NR] = {NT_WAITS(WAIT)};
#undef WAIT

	return names[wait];
}

uint64_t record_fine_ns(const struct nt_record *r, unsigned int fine)
{
	uint64_t from = r->points[fine_of(r->side, fine)->from];

	return from && r->fine[fine] ? from + r->fine[fine] - 1 : 0;
}

unsigned int record_cpu(const struct nt_record *r, unsigned int point)
{
#define CPU(id, point) [NT_##point] = 1 + NT_##id,
	static const uint8_t of[NT_SIDES][NT_POINTS_MAX] = {
		[NT_HOST] = {NT_HOST_CPUS(CPU)},
		[NT_TARGET] = {NT_TARGET_CPUS(CPU)},
	};
#undef CPU
	unsigned int nr;

	/* It is in the place of disk_rq. */
	if (point == NT_FILE_WORK)
		point = NT_TD_ISSUE;
	nr = point < NT_POINTS_MAX ? of[r->side == NT_TARGET][point] : 0;
	return nr && r->cpu[nr - 1] ? r->cpu[nr - 1] - 1u : RECORD_NO_CPU;
}

bool record_queued(const struct nt_record *r, unsigned int *nr, const char **mutex)
{
	unsigned int queued = r->side == NT_HOST ? r->cpu[NT_H_QUEUED] : 0;

	if (!NT_QUEUED_NR(queued))
		return false;
	*nr = NT_QUEUED_NR(queued) - 1;
	*mutex = queued & NT_QUEUED_LOCKED ? "held" : queued & NT_QUEUED_FREE ? "free" : NULL;
	return true;
}

void stage_split_init(struct stage_split *s, enum nt_side side, uint32_t missing)
{
	s->side = side;
	s->missing = missing;
	s->shapes = (uint8_t)shapes_seen(side, missing);
	stages_join(side, missing, s->into);
	for (unsigned int i = 0; i < NT_SHAPES_NR; i++)
		shape_init(&s->shape[i], s, i);
}

bool stage_split(const struct stage_split *s, const struct nt_record *r,
		 uint64_t stage[NT_STAGES_MAX])
{
	const struct stage_shape *shape;
	unsigned int i = 0;

	memset(stage, 0, NT_STAGES_MAX * sizeof(*stage));
	/* A damaged stream may contain any value. */
	if (r->side != s->side || r->shape >= NT_SHAPES_NR || !(s->shapes & 1u << r->shape))
		return false;
	shape = &s->shape[r->shape];
	/* The point submit may be missing: it depends on a setting of the disk (iostats). */
	if (s->side == NT_HOST && shape->nr && shape->part[0].from == NT_H_SUBMIT &&
	    !r->points[NT_H_SUBMIT])
		i++;
	for (; i < shape->nr; i++) {
		uint64_t from = r->points[shape->part[i].from];
		uint64_t to = r->points[shape->part[i].to];

		if (!from || to < from) {
			memset(stage, 0, NT_STAGES_MAX * sizeof(*stage));
			return false;
		}
		stage[shape->part[i].at] += to - from;
	}
	return true;
}

uint32_t record_lacks(const struct nt_record *r)
{
	bool host = r->side == NT_HOST;
	unsigned int first = host ? NT_H_RX : NT_T_RX, of_r2t = host ? NT_H_R2T_RX : NT_T_DATA_RX;

	if (host && r->shape == NT_SHAPE_CORE)
		return 0;
	if (r->points[first] && (r->shape != NT_SHAPE_R2T_WRITE || r->points[of_r2t]))
		return 0;
	return host ? NT_HOST_ARRIVALS : NT_TARGET_ARRIVALS;
}

uint32_t record_missing(const struct nt_record *r, uint32_t missing)
{
	if (r->side == NT_HOST && r->shape == NT_SHAPE_CORE)
		return missing | NT_WITH_CORE | NT_WITHOUT_TCP;
	return (missing & ~NT_WITH_CORE) | record_lacks(r);
}

bool record_stages_joined(const struct nt_record *r, uint32_t missing, uint8_t into[NT_STAGES_MAX],
			  uint64_t stage[NT_STAGES_MAX])
{
	struct stage_split s;

	stage_split_init(&s, r->side, missing);
	memcpy(into, s.into, sizeof(s.into));
	return stage_split(&s, r, stage);
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
