/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command as a JSON object: its columns; "points", with an object for each known side, in
 * nanoseconds after that side's first point; and "stages" in nanoseconds, null if some are unknown.
 */
#ifndef NTPROF_VIEW_JSON_COMMANDS_H
#define NTPROF_VIEW_JSON_COMMANDS_H

#include "merge/machines.h"
#include "merge/merge.h"
#include "merge/totals.h"
#include "view/json.h"

/**
 * json_command_of_side() - an object of type "command"; the parameters are those of
 * command_print_side()
 */
struct json_object *json_command_of_side(const char *controller, const struct nt_record *r,
					 uint32_t missing);

/** json_command_stages() - add "stages"; @latency: latency of the command */
void json_command_stages(struct json_object *o, const struct nt_record *r, uint32_t missing,
			 uint64_t latency);

/**
 * json_command_in_flight() - an object of type "in_flight"; the parameters are those of
 * command_print_in_flight()
 *
 * The latency is the age. "stage" is the stage that the command is in; null if unknown.
 */
struct json_object *json_command_in_flight(const char *controller, const struct nt_record *r,
					   uint32_t missing, uint64_t now);

/**
 * json_command_merged() - an object of type "command"; the parameters are those of
 * command_print_merged()
 */
struct json_object *json_command_merged(const struct machines *m, const struct merge_connection *c,
					const struct nt_record *host,
					const struct nt_record *target, bool ambiguous);

/**
 * json_command_slow() - the same for one of the slowest commands; "story" has all points in the
 * order of time
 */
struct json_object *json_command_slow(const struct slow_command *c);

#endif /* NTPROF_VIEW_JSON_COMMANDS_H */
