/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The contents of the live view as a JSON object, of an interval or of the whole run; and parts of
 * it for other outputs.
 */
#ifndef NTPROF_VIEW_JSON_BLOCK_H
#define NTPROF_VIEW_JSON_BLOCK_H

#include "core/stats.h"
#include "merge/totals.h"
#include "peer/live_merge.h"
#include "view/columns_groups.h"
#include "view/json.h"

/**
 * json_block() - an object of type "interval" or "summary"
 * @s: statistics
 * @summary: of the whole run, otherwise of the last interval
 * @histogram: each queue has its histogram
 * @peers: merge with commands to add, or NULL
 * @choice: groups to add, or NULL
 */
struct json_object *json_block(const struct stats *s, bool summary, bool histogram,
			       const struct live_merge *peers, const struct group_choice *choice);

/**
 * json_put_side() - add statistics of one side: "run", "queues", "operations", "stages",
 * "population", "errors", "losses"; "loss_queues" if there are any, "losses_added" of an interval
 * @figures: of stages, in addition to the usual ones; NULL: none
 */
void json_put_side(struct json_object *o, const struct stats *s, bool summary, bool histogram,
		   const struct figures *figures);

/** json_losses() - an object with a count for each kind of loss */
struct json_object *json_losses(const uint64_t count[COUNTERS_NR]);

/**
 * json_merged() - totals of merged commands: "totals", "operations", "stages", "queues", "errors"
 */
struct json_object *json_merged(const struct totals *m, const struct figures *figures);

#endif /* NTPROF_VIEW_JSON_BLOCK_H */
