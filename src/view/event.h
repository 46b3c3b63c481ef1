/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events: a command begins, a command ends, and where in between some of that was lost; each a line of text, or a JSON
 * object.
 */
#ifndef NTPROF_VIEW_EVENT_H
#define NTPROF_VIEW_EVENT_H

#include <stdio.h>

#include "core/record.h"
#include "view/columns.h"
#include "view/json.h"

/**
 * struct event_row - an event
 * @r: see &tracer_options.events
 * @controller: what its controller is called
 * @time: CLOCK_MONOTONIC nanoseconds: when the driver got the command, or when that ended
 * @latency: nanoseconds, of one that has ended
 * @missing: bits of the points that nothing gives, which bound its stages: see core/segments.h
 * @lost: of an event that tells of others: how many there were
 * @why: where these were lost, "ring_full" or "reader_slow"
 */
struct event_row {
	const struct nt_record *r;
	const char *controller;
	uint64_t time;
	uint64_t latency;
	uint32_t missing;
	uint64_t lost;
	const char *why;
};

enum event_column {
	EVENT_TIME,
	EVENT_SIDE,
	EVENT_CONTROLLER,
	EVENT_QUEUE,
	EVENT_CID,
	EVENT_COMMAND, /* the name of its opcode */
	EVENT_OPCODE,
	EVENT_NSID,
	EVENT_SLBA,
	EVENT_LENGTH,
	EVENT_FLAGS,
	EVENT_REQUEUED,
	EVENT_STATUS,
	EVENT_STATUS_NAME,
	EVENT_RETRIES,
	EVENT_CANCELLED,
	EVENT_LATENCY,
};

/* Of struct event_row. */
extern const struct columns event_columns;

/* Of struct event_row, one that tells of a loss. */
extern const struct columns lost_columns;

/** event_init() - @row is filled, for a record of the side that is traced; @missing: as it has it */
void event_init(struct event_row *row, const char *controller, const struct nt_record *r,
		uint32_t missing);

/** event_init_slow() - @row is filled: @lines were not taken by whoever reads the output. @time: of what comes next */
void event_init_slow(struct event_row *row, uint64_t lines, uint64_t time);

/** event_print() - one line */
void event_print(const struct event_row *row, FILE *f);

/** event_json() - of type "submission", "completion" or "lost" */
struct json_object *event_json(const struct event_row *row);

#endif /* NTPROF_VIEW_EVENT_H */
