/* SPDX-License-Identifier: GPL-2.0-only */
/* What the live view shows, an interval or the whole run, as a JSON object; and its parts, for others. */
#ifndef NTPROF_VIEW_JSON_BLOCK_H
#define NTPROF_VIEW_JSON_BLOCK_H

#include "core/stats.h"
#include "merge/totals.h"
#include "peer/live_merge.h"
#include "view/columns_groups.h"
#include "view/json.h"

/**
 * json_block() - of type "interval" or "summary"
 * @s: what was seen
 * @summary: of the whole run, else of the last interval
 * @histogram: each queue has its histogram
 * @peers: whose merged commands to add, or NULL
 * @choice: groups to add, or NULL
 */
struct json_object *json_block(const struct stats *s, bool summary, bool histogram,
			       const struct live_merge *peers, const struct group_choice *choice);

/**
 * json_put_side() - add what one side tells: "run", "queues", "operations", "stages", "errors", "losses"
 * @figures: of stages, besides the usual ones; NULL: these only
 */
void json_put_side(struct json_object *o, const struct stats *s, bool summary, bool histogram,
		   const struct figures *figures);

/** json_losses() - an object with a count for each kind of loss */
struct json_object *json_losses(const uint64_t count[COUNTERS_NR]);

/** json_errors() - commands that ended with an error, which are in no figure: a row for each queue and status */
struct json_object *json_errors(const struct errors *e);

/** json_merged() - what merged commands add up to: "totals", "operations", "stages", "queues", "errors" */
struct json_object *json_merged(const struct totals *m, const struct figures *figures);

#endif /* NTPROF_VIEW_JSON_BLOCK_H */
