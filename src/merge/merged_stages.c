// SPDX-License-Identifier: GPL-2.0-only
#include "merge/merged_stages.h"

#include <stdio.h>
#include <string.h>

#include "core/array.h"
#include "core/names.h"
#include "core/span.h"

/*
 * Which of the ten a side's own stage is, or is within. What the host waits for is the network's, less what
 * the target spent; what the target waits for, and what it does beside the network, are not subtracted.
 */
static const uint8_t merged_of[NT_SIDES][NT_STAGES_MAX] = {
	[NT_HOST] =
		{
			[NT_HS_BLK_SUBMISSION] = NT_MS_BLK_SUBMISSION,
			[NT_HS_NVME_TCP_SUBMISSION] = NT_MS_NVME_TCP_SUBMISSION,
			[NT_HS_NETWORK_AND_TARGET] = NT_MS_NETWORK_TRANSMISSION,
			[NT_HS_NSTACK_COMPLETION] = NT_MS_NSTACK_COMPLETION,
			[NT_HS_NVME_TCP_COMPLETION] = NT_MS_NVME_TCP_COMPLETION,
			[NT_HS_BLK_COMPLETION] = NT_MS_BLK_COMPLETION,
		},
	[NT_TARGET] =
		{
			[NT_TS_NSTACK_SUBMISSION] = NT_MS_NSTACK_SUBMISSION,
			[NT_TS_NVMET_TCP_SUBMISSION] = NT_MS_NVMET_TCP_SUBMISSION,
			[NT_TS_NETWORK_AND_HOST] = NT_MS_NETWORK_TRANSMISSION,
			[NT_TS_TARGET_SUBSYSTEM] = NT_MS_TARGET_SUBSYSTEM,
			[NT_TS_NVMET_TCP_COMPLETION] = NT_MS_NVMET_TCP_COMPLETION,
			[NT_TS_SEND_RESPONSE] = NT_MS_NETWORK_TRANSMISSION,
		},
};

const char *merged_stage_name(unsigned int stage)
{
#define STAGE_NAME(id, name) [NT_##id] = name,
	static const char *const names[] = {NT_MERGED_STAGES(STAGE_NAME)};

	return stage < ARRAY_SIZE(names) ? names[stage] : "?";
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

/* So is what is one with it. */
static void unknown(uint8_t into[NT_MERGED_STAGES_NR], unsigned int stage)
{
	uint8_t group = into[stage];

	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		if (into[i] == group)
			into[i] = STAGE_UNKNOWN;
}

void merged_split_init(struct merged_split *s, uint32_t host_missing, uint32_t target_missing)
{
	s->missing[NT_HOST] = host_missing;
	s->missing[NT_TARGET] = target_missing;
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		s->into[i] = (uint8_t)i;
	for (int side = 0; side < NT_SIDES; side++) {
		const uint8_t *own = s->own[side].into, *of = merged_of[side];

		stage_split_init(&s->own[side], (enum nt_side)side, s->missing[side]);
		for (unsigned int i = 0; i < stages_nr((enum nt_side)side); i++) {
			if (own[i] != STAGE_UNKNOWN)
				join(s->into, of[i], of[own[i]]);
			else if (side == NT_TARGET)
				join(s->into, of[i], NT_MS_NETWORK_TRANSMISSION);
		}
	}
	for (unsigned int i = 0; i < NT_HOST_STAGES_NR; i++)
		if (s->own[NT_HOST].into[i] == STAGE_UNKNOWN)
			unknown(s->into, merged_of[NT_HOST][i]);
}

/* What a stream says is missing may leave a stage unknown whose time is in the latency. */
static uint64_t add_up(const int64_t stage[NT_MERGED_STAGES_NR])
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
		sum += (uint64_t)stage[i];
	return sum;
}

bool merged_split(const struct merged_split *s, const struct nt_record *host,
		  const struct nt_record *target, int64_t stage[NT_MERGED_STAGES_NR])
{
	uint64_t own[NT_SIDES][NT_STAGES_MAX];
	uint8_t network = s->into[NT_MS_NETWORK_TRANSMISSION];

	memset(stage, 0, NT_MERGED_STAGES_NR * sizeof(stage[0]));
	if ((host->shape == NT_SHAPE_R2T_WRITE) != (target->shape == NT_SHAPE_R2T_WRITE) ||
	    !stage_split(&s->own[NT_HOST], host, own[NT_HOST]) ||
	    !stage_split(&s->own[NT_TARGET], target, own[NT_TARGET]))
		return false;
	for (unsigned int i = 0; i < NT_HOST_STAGES_NR; i++) {
		uint8_t at = s->into[merged_of[NT_HOST][i]];

		if (at != STAGE_UNKNOWN)
			stage[at] += (int64_t)own[NT_HOST][i];
	}
	/* What the target spent while the host waited for it; the rest of the wait is the network. */
	for (unsigned int i = 0; i < NT_TARGET_STAGES_NR; i++) {
		uint8_t at = s->into[merged_of[NT_TARGET][i]];

		if (at == network || at == STAGE_UNKNOWN)
			continue;
		stage[at] += (int64_t)own[NT_TARGET][i];
		if (network != STAGE_UNKNOWN)
			stage[network] -= (int64_t)own[NT_TARGET][i];
	}
	if (add_up(stage) == record_latency_ns(host))
		return true;
	memset(stage, 0, NT_MERGED_STAGES_NR * sizeof(stage[0]));
	return false;
}

bool merged_stages(const struct nt_record *host, const struct nt_record *target,
		   int64_t stage[NT_MERGED_STAGES_NR])
{
	struct merged_split none;

	merged_split_init(&none, 0, 0);
	return merged_split(&none, host, target, stage);
}
