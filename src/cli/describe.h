/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Descriptions of a run: the header of a stream that is recorded on this machine, and the
 * statistics that views show.
 */
#ifndef NTPROF_CLI_DESCRIBE_H
#define NTPROF_CLI_DESCRIBE_H

#include "cli/run_options.h"
#include "core/stats.h"
#include "stream/stream.h"

/**
 * stream_describe() - fill @h, except for the points that are missing; @source: where the points
 * come from
 */
void stream_describe(struct stream_header *h, const struct run_options *o, enum nt_source source);

/** stats_describe() - fill what is known of @s before tracing begins; the rest stays as it is */
void stats_describe(struct stats *s, const struct run_options *o);

#endif /* NTPROF_CLI_DESCRIBE_H */
