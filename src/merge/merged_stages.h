/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ten stages of a command of which both sides' records are known. They need differences of
 * either machine's own clock only, never one between the two.
 */
#ifndef NTPROF_MERGE_MERGED_STAGES_H
#define NTPROF_MERGE_MERGED_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"

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

/** merged_stage_name() - static string */
const char *merged_stage_name(unsigned int stage);

/**
 * merged_stages() - the ten stages of one command
 * @host, @target: its two records
 * @stage: filled with nanoseconds. The network stage is what the host saw as network and target minus
 *         what the target spent; clocks that drift can make it negative, by their drift over one
 *         command.
 *
 * Return: true when both records have all points that their shapes need, and agree on whether there
 * was an R2T; then the ten add up to host submit (or else queue_rq) to complete. False: @stage is
 * zeroed.
 */
bool merged_stages(const struct nt_record *host, const struct nt_record *target,
		   int64_t stage[NT_MERGED_STAGES_NR]);

#endif /* NTPROF_MERGE_MERGED_STAGES_H */
