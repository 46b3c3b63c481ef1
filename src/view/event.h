/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events: a command begins, a command ends, or some of these events were lost. Each is a line of
 * text or a JSON object.
 */
#ifndef NTPROF_VIEW_EVENT_H
#define NTPROF_VIEW_EVENT_H

#include <stdio.h>

#include "core/device.h"
#include "core/time.h"
#include "shared/record.h"
#include "view/columns.h"
#include "view/json.h"

/**
 * struct event_row - an event
 * @r: of a struct nt_begun or nt_ended, see &tracer_options.events
 * @controller: name of its controller
 * @time: CLOCK_MONOTONIC nanoseconds: when the driver got the command, or when the command ended
 * @wall_ns: the same by CLOCK_REALTIME, 0: not known
 * @latency: nanoseconds, if the command has ended
 * @missing: bits of the points that nothing gives, for its stages: see core/segments.h
 * @disk: this machine's name for the disk of its namespace, set by the caller; NULL: not known
 * @origin: where it comes from, set by the caller; NULL: not known
 * @raw: show the whole submission queue entry, set by the caller
 * @lost: if the event reports lost events: their number
 * @why: the kind of loss, "ring_full" or "reader_slow"
 */
struct event_row {
	const struct nt_record *r;
	const char *controller;
	uint64_t time;
	int64_t wall_ns;
	uint64_t latency;
	uint32_t missing;
	const char *disk;
	const struct origin *origin;
	bool raw;
	uint64_t lost;
	const char *why;
};

enum event_column {
	EVENT_TIME, /* RFC 3339; no value if the wall clock is not known */
	EVENT_MONOTONIC,
	EVENT_SIDE,
	EVENT_CONTROLLER,
	EVENT_QUEUE,
	EVENT_CID,
	EVENT_COMMAND, /* the name of its opcode */
	EVENT_OPCODE,
	EVENT_NSID,
	EVENT_SLBA,
	EVENT_LENGTH,
	EVENT_DISK,
	EVENT_DATA, /* how its data are pointed to */
	EVENT_FLAGS,
	EVENT_REQUEUED,
	EVENT_STATUS,
	EVENT_STATUS_NAME,
	EVENT_RESULT,
	EVENT_SQ_HEAD,
	EVENT_RETRIES,
	EVENT_CANCELLED,
	EVENT_LATENCY,
};

/* Rows are struct event_row. */
extern const struct columns event_columns;

/* The rest of a submission queue entry. Rows are struct event_row of commands that begin. */
extern const struct columns raw_columns;

/* Rows are struct event_row that report a loss. */
extern const struct columns lost_columns;

/**
 * event_init() - fill @row for a record of the side that is traced
 * @missing: as in struct event_row
 * @now: for its time by the wall clock
 */
void event_init(struct event_row *row, const char *controller, const struct nt_record *r,
		uint32_t missing, const struct instant *now);

/**
 * event_init_slow() - fill @row: the reader of the output was too slow for @lines lines, which are
 * lost. @next: the next event
 */
void event_init_slow(struct event_row *row, uint64_t lines, const struct event_row *next);

/** event_print() - print one line */
void event_print(const struct event_row *row, FILE *f);

/** event_json() - an object of type "submission", "completion" or "lost" */
struct json_object *event_json(const struct event_row *row);

/* The fields of a submission queue entry or of a result, which depend on the command. */

/* No command has more fields. */
#define FIELDS_MAX 8

/**
 * struct sqe_field - a field
 * @name: the abbreviation of the NVMe specifications, in lower case
 * @value: its value
 * @word: name of that value; NULL if it has no name
 */
struct sqe_field {
	const char *name;
	__u64 value;
	const char *word;
};

/**
 * fields_of() - fill @found with the fields that a command has in dwords 10 to 15, or in its result
 * @r: of a struct nt_begun, or of a struct nt_ended, which has none if the command failed
 *
 * Return: number of fields.
 */
unsigned int fields_of(const struct nt_record *r, struct sqe_field found[FIELDS_MAX]);

#endif /* NTPROF_VIEW_EVENT_H */
