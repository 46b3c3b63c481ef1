// SPDX-License-Identifier: GPL-2.0-only
#include "merge/merged_stages.h"

#include <stdio.h>
#include <string.h>

#include "core/array.h"
#include "core/names.h"
#include "core/segments.h"

#define STAGE_NAME(id, name) [NT_##id] = name,

const char *merged_stage_name(unsigned int stage)
{
	static const char *const names[] = {NT_MERGED_STAGES(STAGE_NAME)};

	return stage < ARRAY_SIZE(names) ? names[stage] : "?";
}

const char *stage_part_name(enum stage_part part)
{
#define PART_NAME(id, name, stage) [NT_##id] = name,
	static const char *const names[] = {NT_STAGE_PARTS(PART_NAME)};

	return names[part];
}

enum merged_stage stage_of_part(enum stage_part part)
{
#define PART_STAGE(id, name, stage) [NT_##id] = NT_##stage,
	static const enum merged_stage stages[] = {NT_STAGE_PARTS(PART_STAGE)};

	return stages[part];
}

uint32_t stages_of_parts(uint32_t parts)
{
	uint32_t stages = 0;

	for (; parts; parts &= parts - 1)
		stages |= 1u << stage_of_part((enum stage_part)__builtin_ctz(parts));
	return stages;
}

static bool network_parts(const struct nt_record *host, const struct nt_record *target,
			  int64_t network, int64_t *part)
{
	const bool r2t = host->shape == NT_SHAPE_R2T_WRITE;
	int64_t of_host, of_target;

	if (!host->fine[NT_HF_OUT] || !target->fine[NT_TF_OUT])
		return false;
	if (r2t && (!host->fine[NT_HF_DATA_OUT] || !target->fine[NT_TF_R2T_OUT]))
		return false;
	/* Each is 1 more than its time. */
	of_host = (int64_t)host->fine[NT_HF_OUT] - 1;
	of_target = (int64_t)target->fine[NT_TF_OUT] - 1;
	if (r2t) {
		of_host += (int64_t)host->fine[NT_HF_DATA_OUT] - 1;
		of_target += (int64_t)target->fine[NT_TF_R2T_OUT] - 1;
	}
	part[NT_SP_HOST_SEND_QUEUE] = of_host;
	part[NT_SP_TARGET_SEND_QUEUE] = of_target;
	part[NT_SP_WIRE] = (int64_t)((uint64_t)network - (uint64_t)(of_host + of_target));
	return true;
}

/* @first, @nr: the waits of a stage; @part: filled with these, and with what they leave of @ns */
static bool wait_parts(const struct nt_record *r, enum nt_wait first, unsigned int nr, int64_t ns,
		       int64_t *part)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (!r->wait[first + i])
			return false;
		part[i] = (int64_t)r->wait[first + i] - 1;
		if (part[i] > ns)
			return false;
		ns -= part[i];
	}
	part[nr] = ns;
	return true;
}

#define BIT(part) (1u << NT_##part)

/* Its exec and done are there, and in order. Return: bits of its parts */
static uint32_t file_parts(const struct nt_record *target, int64_t *part)
{
	const __u64 *at = target->points;
	enum stage_part rest =
		target->flags & NT_F_CACHED ? NT_SP_TARGET_PAGE_CACHE : NT_SP_TARGET_FILE_IO;
	bool waited = at[NT_TD_ISSUE];
	__u64 begin = waited ? at[NT_TD_ISSUE] : at[NT_T_EXEC];

	if ((!waited && rest == NT_SP_TARGET_FILE_IO) || begin < at[NT_T_EXEC] ||
	    at[NT_T_DONE] < begin)
		return 0;
	part[NT_SP_TARGET_FILE_WAIT] = (int64_t)(begin - at[NT_T_EXEC]);
	part[rest] = (int64_t)(at[NT_T_DONE] - begin);
	return 1u << rest | (waited ? BIT(SP_TARGET_FILE_WAIT) : 0);
}

/* The same. */
static uint32_t disk_parts(const struct nt_record *target, int64_t *part)
{
	const __u64 *at = target->points;

	if (target->flags & NT_F_FILE)
		return file_parts(target, part);
	if (!at[NT_TD_ISSUE] || at[NT_TD_ISSUE] < at[NT_T_EXEC] ||
	    at[NT_TD_DONE] < at[NT_TD_ISSUE] || at[NT_T_DONE] < at[NT_TD_DONE])
		return 0;
	part[NT_SP_TARGET_BLOCK_LAYER] = (int64_t)(at[NT_TD_ISSUE] - at[NT_T_EXEC]);
	part[NT_SP_DEVICE] = (int64_t)(at[NT_TD_DONE] - at[NT_TD_ISSUE]);
	part[NT_SP_TARGET_BLOCK_DONE] = (int64_t)(at[NT_T_DONE] - at[NT_TD_DONE]);
	return BIT(SP_TARGET_BLOCK_LAYER) | BIT(SP_DEVICE) | BIT(SP_TARGET_BLOCK_DONE);
}

static bool is_alone(const struct merged_split *how, unsigned int stage)
{
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		if ((how->into[i] == stage) != (i == stage))
			return false;
	return true;
}

uint32_t stage_parts(const struct merged_split *how, const struct nt_record *host,
		     const struct nt_record *target, const int64_t stage[NT_MERGED_STAGES_NR],
		     int64_t part[NT_STAGE_PARTS_NR])
{
	static const struct {
		enum merged_stage stage;
		enum nt_side side;
		enum nt_wait first;
		unsigned int nr;
		enum stage_part part;
	} waits[] = {
		{NT_MS_NVME_TCP_SUBMISSION, NT_HOST, NT_W_SEND_WAKEUP, 1, NT_SP_HOST_SEND_WAKEUP},
		{NT_MS_NSTACK_SUBMISSION, NT_TARGET, NT_W_STACK, 2, NT_SP_TARGET_STACK},
		{NT_MS_NVMET_TCP_COMPLETION, NT_TARGET, NT_W_SEND_WAKEUP, 1,
		 NT_SP_TARGET_SEND_WAKEUP},
		{NT_MS_NSTACK_COMPLETION, NT_HOST, NT_W_STACK, 2, NT_SP_HOST_STACK},
	};
	uint32_t known = 0;

	if (!may_have_parts(host, target))
		return 0;
	if (is_alone(how, NT_MS_NETWORK_TRANSMISSION) &&
	    network_parts(host, target, stage[NT_MS_NETWORK_TRANSMISSION], part))
		known |= BIT(SP_HOST_SEND_QUEUE) | BIT(SP_WIRE) | BIT(SP_TARGET_SEND_QUEUE);
	if (is_alone(how, NT_MS_TARGET_SUBSYSTEM))
		known |= disk_parts(target, part);
	for (unsigned int i = 0; i < ARRAY_SIZE(waits); i++)
		if (is_alone(how, waits[i].stage) &&
		    wait_parts(waits[i].side == NT_HOST ? host : target, waits[i].first,
			       waits[i].nr, stage[waits[i].stage], part + waits[i].part))
			known |= ((2u << waits[i].nr) - 1) << waits[i].part;
	return known;
}

const char *merged_joined_name(const uint8_t into[NT_MERGED_STAGES_NR], unsigned int stage,
			       char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR && used < size; i++) {
		if (into[i] == stage)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? "+" : "",
						 merged_stage_name(i));
	}
	return buf;
}

static void join(uint8_t into[NT_MERGED_STAGES_NR], unsigned int a, unsigned int b)
{
	uint8_t first = into[a] < into[b] ? into[a] : into[b];
	uint8_t other = into[a] < into[b] ? into[b] : into[a];

	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		if (into[i] == other)
			into[i] = first;
}

/* Makes a stage unknown, and all stages that it is joined with. */
static void unknown(uint8_t into[NT_MERGED_STAGES_NR], unsigned int stage)
{
	uint8_t group = into[stage];

	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		if (into[i] == group)
			into[i] = STAGE_UNKNOWN;
}

/*
 * Whether a stage of a side is joined with others there, and stays apart in the ten. Of a target
 * that has only the ends, the wait of an R2T write for its data is in what else the target does.
 */
static bool stays_apart(const struct merged_split *s, int side, unsigned int stage)
{
	return side == NT_TARGET && stage == NT_TS_NETWORK_AND_HOST &&
	       segments_only_ends(NT_TARGET, s->missing[NT_TARGET]);
}

/* Joins stages of the ten as points are missing. @own: split of each side */
static void join_sides(struct merged_split *s, const struct stage_split own[NT_SIDES])
{
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		s->into[i] = (uint8_t)i;
	for (int side = 0; side < NT_SIDES; side++) {
		const uint8_t *into = own[side].into, *of = merged_of[side];

		for (unsigned int i = 0; i < stages_nr((enum nt_side)side); i++) {
			if (stays_apart(s, side, i))
				continue;
			if (into[i] < NT_STAGES_MAX)
				join(s->into, of[i], of[into[i]]);
			else if (side == NT_TARGET)
				join(s->into, of[i], NT_MS_NETWORK_TRANSMISSION);
		}
	}
	for (unsigned int i = 0; i < NT_HOST_STAGES_NR; i++)
		if (own[NT_HOST].into[i] == STAGE_UNKNOWN)
			unknown(s->into, merged_of[NT_HOST][i]);
}

/*
 * The stage of the ten that gets the time of a side's own stage. The target's time is subtracted
 * from the host's wait, and the rest of the wait is the network's. So the target's own network time
 * is not added: it is in that rest already.
 */
static uint8_t whose(const struct merged_split *s, int side, uint8_t own)
{
	uint8_t at = s->into[merged_of[side][own]];

	if (at == STAGE_UNKNOWN || (side == NT_TARGET && at == s->into[NT_MS_NETWORK_TRANSMISSION]))
		return NT_MERGED_NOWHERE;
	return at;
}

static void parts_init(struct merged_split *s, int side, const struct stage_split *own)
{
	for (unsigned int shape = 0; shape < NT_SHAPES_NR; shape++) {
		const struct stage_shape *of = &own->shape[shape];
		struct merged_parts *p = &s->parts[side][shape];

		p->nr = of->nr;
		for (unsigned int i = 0; i < of->nr; i++) {
			p->part[i].from = of->part[i].from;
			p->part[i].to = of->part[i].to;
			p->part[i].at = whose(s, side, of->part[i].at);
		}
	}
}

void merged_split_init(struct merged_split *s, uint32_t host_missing, uint32_t target_missing)
{
	struct stage_split own[NT_SIDES];

	s->made = true;
	s->missing[NT_HOST] = host_missing;
	s->missing[NT_TARGET] = target_missing;
	for (int side = 0; side < NT_SIDES; side++)
		stage_split_init(&own[side], (enum nt_side)side, s->missing[side]);
	join_sides(s, own);
	for (int side = 0; side < NT_SIDES; side++)
		parts_init(s, side, &own[side]);
}

bool merged_split_renew(struct merged_split *s, uint32_t host_missing, uint32_t target_missing)
{
	if (s->made && s->missing[NT_HOST] == host_missing &&
	    s->missing[NT_TARGET] == target_missing)
		return false;
	merged_split_init(s, host_missing, target_missing);
	return true;
}

/*
 * Adds the parts of a record to @stage, and those that belong to a stage also to @sum. Return:
 * whether all points are there and in order.
 */
static bool add_parts(const struct merged_parts *p, unsigned int first, const struct nt_record *r,
		      uint64_t stage[NT_MERGED_STAGES_NR + 1], uint64_t *sum)
{
	uint64_t nobodys = stage[NT_MERGED_NOWHERE];

	for (unsigned int i = first; i < p->nr; i++) {
		uint64_t from = r->points[p->part[i].from], to = r->points[p->part[i].to];

		if (!from || to < from)
			return false;
		stage[p->part[i].at] += to - from;
		*sum += to - from;
	}
	*sum -= stage[NT_MERGED_NOWHERE] - nobodys;
	return true;
}

static bool split_missing(const struct merged_split *s, const struct nt_record *host,
			  const struct nt_record *target, int64_t result[NT_MERGED_STAGES_NR])
{
	/* The last one is for time that is in no stage. */
	uint64_t stage[NT_MERGED_STAGES_NR + 1] = {0};
	uint8_t network = s->into[NT_MS_NETWORK_TRANSMISSION];
	uint64_t all = 0, spent = 0;
	const struct merged_parts *p;
	bool no_submit;

	/* A damaged stream may say anything. */
	if (host->side != NT_HOST || target->side != NT_TARGET || host->shape >= NT_SHAPE_CORE ||
	    target->shape >= NT_SHAPE_CORE)
		return false;
	/* A side that has no R2T's point takes the shape from what was asked for. */
	if (!(s->missing[NT_HOST] & 1u << NT_H_R2T) &&
	    !(s->missing[NT_TARGET] & 1u << NT_T_SEND_R2T) &&
	    (host->shape == NT_SHAPE_R2T_WRITE) != (target->shape == NT_SHAPE_R2T_WRITE))
		return false;
	p = &s->parts[NT_HOST][host->shape];
	/* iostats of the disk may be off: then submit is missing. */
	no_submit = p->nr && p->part[0].from == NT_H_SUBMIT && !host->points[NT_H_SUBMIT];
	if (!add_parts(p, no_submit, host, stage, &all) ||
	    !add_parts(&s->parts[NT_TARGET][target->shape], 0, target, stage, &spent))
		return false;
	if (network == STAGE_UNKNOWN)
		all += spent;
	else
		stage[network] -= spent;
	memcpy(result, stage, NT_MERGED_STAGES_NR * sizeof(result[0]));
	/*
	 * A stream may call points missing so that a stage is unknown, though the latency has its
	 * time.
	 */
	return all == record_latency_ns(host);
}

bool merged_split(const struct merged_split *s, const struct nt_record *host,
		  const struct nt_record *target, int64_t stage[NT_MERGED_STAGES_NR])
{
	bool told;

	if (s->missing[NT_HOST] || s->missing[NT_TARGET])
		told = split_missing(s, host, target, stage);
	else
		told = split_whole(host, target, stage);
	if (!told)
		memset(stage, 0, NT_MERGED_STAGES_NR * sizeof(stage[0]));
	return told;
}
