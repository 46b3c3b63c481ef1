/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command as a JSON object: the columns of what it was, "points" with an object for each side that is known, in
 * nanoseconds after that side's first one, and "stages" in nanoseconds, null where not all can be told.
 */
#ifndef NTPROF_VIEW_JSON_COMMANDS_H
#define NTPROF_VIEW_JSON_COMMANDS_H

#include "merge/machines.h"
#include "merge/merge.h"
#include "merge/totals.h"
#include "view/json.h"

/** json_command_of_side() - of type "command"; takes what command_print_side() does */
struct json_object *json_command_of_side(const char *controller, const struct nt_record *r,
					 uint32_t missing);

/** json_command_stages() - the "stages" of such a line; @latency: of the command */
void json_command_stages(struct json_object *o, const struct nt_record *r, uint32_t missing,
			 uint64_t latency);

/**
 * json_command_in_flight() - of type "in_flight"; takes what command_print_in_flight() does
 *
 * Its latency is its age, and it has the "stage" that it is in, null where that is not known.
 */
struct json_object *json_command_in_flight(const char *controller, const struct nt_record *r,
					   uint32_t missing, uint64_t now);

/** json_command_merged() - of type "command"; takes what command_print_merged() does */
struct json_object *json_command_merged(const struct machines *m, const struct merge_connection *c,
					const struct nt_record *host,
					const struct nt_record *target, bool ambiguous);

/** json_command_slow() - the same of one of the slowest; "story" has all points in the order of time */
struct json_object *json_command_slow(const struct slow_command *c);

#endif /* NTPROF_VIEW_JSON_COMMANDS_H */
