// SPDX-License-Identifier: GPL-2.0-only
#include "core/array.h"
#include "merge/merged_stages.h"

#include <string.h>

#include "core/segments.h"

/* Stages that either side measures by itself. */
static const struct {
	enum merged_stage merged;
	unsigned int own;
} from_host[] =
	{
		{NT_MS_BLK_SUBMISSION, NT_HS_BLK_SUBMISSION},
		{NT_MS_NVME_TCP_SUBMISSION, NT_HS_NVME_TCP_SUBMISSION},
		{NT_MS_NSTACK_COMPLETION, NT_HS_NSTACK_COMPLETION},
		{NT_MS_NVME_TCP_COMPLETION, NT_HS_NVME_TCP_COMPLETION},
		{NT_MS_BLK_COMPLETION, NT_HS_BLK_COMPLETION},
},
  from_target[] = {
	  {NT_MS_NSTACK_SUBMISSION, NT_TS_NSTACK_SUBMISSION},
	  {NT_MS_NVMET_TCP_SUBMISSION, NT_TS_NVMET_TCP_SUBMISSION},
	  {NT_MS_TARGET_SUBSYSTEM, NT_TS_TARGET_SUBSYSTEM},
	  {NT_MS_NVMET_TCP_COMPLETION, NT_TS_NVMET_TCP_COMPLETION},
};

const char *merged_stage_name(unsigned int stage)
{
#define STAGE_NAME(id, name) [NT_##id] = name,
	static const char *const names[] = {NT_MERGED_STAGES(STAGE_NAME)};

	return stage < ARRAY_SIZE(names) ? names[stage] : "?";
}

bool merged_stages(const struct nt_record *host, const struct nt_record *target,
		   int64_t stage[NT_MERGED_STAGES_NR])
{
	uint64_t h[NT_STAGES_MAX], t[NT_STAGES_MAX];
	int64_t network;

	memset(stage, 0, NT_MERGED_STAGES_NR * sizeof(stage[0]));
	if ((host->shape == NT_SHAPE_R2T_WRITE) != (target->shape == NT_SHAPE_R2T_WRITE) ||
	    !record_stages(host, h) || !record_stages(target, t))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(from_host); i++)
		stage[from_host[i].merged] = (int64_t)h[from_host[i].own];
	/* What the target spent while the host waited for it; the rest of the wait is the network. */
	network = (int64_t)h[NT_HS_NETWORK_AND_TARGET];
	for (size_t i = 0; i < ARRAY_SIZE(from_target); i++) {
		stage[from_target[i].merged] = (int64_t)t[from_target[i].own];
		network -= (int64_t)t[from_target[i].own];
	}
	stage[NT_MS_NETWORK_TRANSMISSION] = network;
	return true;
}
