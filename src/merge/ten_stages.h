/* SPDX-License-Identifier: GPL-2.0-only */
/* The names of the ten stages of a matched command: see merge/merged_stages.h. */
#ifndef NTPROF_MERGE_TEN_STAGES_H
#define NTPROF_MERGE_TEN_STAGES_H

#include "core/points.h"

/* In the order of ntprof: on the host, on the target, and back. */
#define NT_MERGED_STAGES(X)                                \
	X(MS_BLK_SUBMISSION, "blk_submission")             \
	X(MS_NVME_TCP_SUBMISSION, "nvme_tcp_submission")   \
	X(MS_NSTACK_SUBMISSION, "nstack_submission")       \
	X(MS_NVMET_TCP_SUBMISSION, "nvmet_tcp_submission") \
	X(MS_TARGET_SUBSYSTEM, "target_subsystem")         \
	X(MS_NVMET_TCP_COMPLETION, "nvmet_tcp_completion") \
	X(MS_NETWORK_TRANSMISSION, "network_transmission") \
	X(MS_NSTACK_COMPLETION, "nstack_completion")       \
	X(MS_NVME_TCP_COMPLETION, "nvme_tcp_completion")   \
	X(MS_BLK_COMPLETION, "blk_completion")

enum merged_stage { NT_MERGED_STAGES(NT_ENUM_STAGE) NT_MERGED_STAGES_NR };

#endif /* NTPROF_MERGE_TEN_STAGES_H */
