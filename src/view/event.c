// SPDX-License-Identifier: GPL-2.0-only
#include "view/event.h"

#include <inttypes.h>

#include "core/counters.h"
#include "core/names.h"
#include "core/opcodes.h"
#include "core/selection.h"
#include "core/span.h"
#include "core/statuses.h"
#include "view/command.h"
#include "view/fields.h"
#include "view/json_commands.h"
#include "view/lines.h"

static bool begins(const struct event_row *row)
{
	return row->r && row->r->flags & NT_F_BEGUN;
}

static const struct nt_begun *begun_of(const struct event_row *row)
{
	return (const struct nt_begun *)row->r;
}

static void get_side(const void *row, const struct column *c, struct value *v)
{
	const struct event_row *e = row;

	value_text(v, side_name(e->r->side));
}

static void get_controller(const void *row, const struct column *c, struct value *v)
{
	const struct event_row *e = row;

	value_text(v, e->controller);
}

#define GET_OF_RECORD(field)                                                              \
	static void get_##field(const void *row, const struct column *c, struct value *v) \
	{                                                                                 \
		const struct event_row *e = row;                                          \
                                                                                          \
		(void)c;                                                                  \
		value_natural(v, e->r->field);                                            \
	}
GET_OF_RECORD(qid)
GET_OF_RECORD(cid)
GET_OF_RECORD(opcode)
GET_OF_RECORD(length)

static void get_command(const void *row, const struct column *c, struct value *v)
{
	const struct event_row *e = row;

	value_text(v, opcode_name(e->r->op, e->r->opcode, opcode_fabrics_type(e->r)));
}

/* A Fabrics command has its type in the field of the NSID. */
static void get_nsid(const void *row, const struct column *c, struct value *v)
{
	const struct event_row *e = row;

	v->none = e->r->op == NT_OP_FABRICS;
	value_natural(v, v->none ? 0 : e->r->nsid);
}

static void get_slba(const void *row, const struct column *c, struct value *v)
{
	const struct event_row *e = row;

	v->none = !nt_has_lba(e->r->op, e->r->opcode);
	value_natural(v, e->r->slba);
}

static void get_flags(const void *row, const struct column *c, struct value *v)
{
	const struct event_row *e = row;

	v->none = !begins(e);
	value_natural(v, v->none ? 0 : begun_of(e)->sqe_flags);
}

/* @arg: NT_F_* */
static void get_flag(const void *row, const struct column *c, struct value *v)
{
	const struct event_row *e = row;

	value_natural(v, (e->r->flags & c->arg) != 0);
	v->none = !v->natural;
}

static void get_status(const void *row, const struct column *c, struct value *v)
{
	const struct event_row *e = row;

	v->none = begins(e);
	value_natural(v, e->r->status);
}

static void get_status_name(const void *row, const struct column *c, struct value *v)
{
	const struct event_row *e = row;

	v->none = begins(e);
	value_text(v, status_name(e->r->op, e->r->status));
}

/* Only the host retries commands. */
static void get_retries(const void *row, const struct column *c, struct value *v)
{
	const struct event_row *e = row;

	v->none = begins(e) || e->r->side != NT_HOST;
	value_natural(v, e->r->flags >> NT_F_RETRIES_SHIFT & 0xff);
}

static void get_latency(const void *row, const struct column *c, struct value *v)
{
	const struct event_row *e = row;

	v->none = begins(e);
	value_natural(v, e->latency);
}

static void get_why(const void *row, const struct column *c, struct value *v)
{
	const struct event_row *e = row;

	value_text(v, e->why);
}

static const struct column event[] = {
	[EVENT_TIME] = {"time", "time", .unit = UNIT_INSTANT, COLUMN_FIELD(struct event_row, time)},
	[EVENT_SIDE] = {"side", "side", .unit = UNIT_NAME, .get = get_side},
	[EVENT_CONTROLLER] = {"controller", "controller", .unit = UNIT_NAME, .get = get_controller},
	[EVENT_QUEUE] = {"queue", "queue", .unit = UNIT_NUMBER, .get = get_qid},
	[EVENT_CID] = {"cid", "cid", .unit = UNIT_CODE, .get = get_cid, .digits = 4},
	[EVENT_COMMAND] = {"command", "command", .unit = UNIT_NAME, .get = get_command},
	[EVENT_OPCODE] = {"opcode", "opcode", .unit = UNIT_CODE, .get = get_opcode, .digits = 2},
	[EVENT_NSID] = {"nsid", "nsid", .unit = UNIT_NUMBER, .get = get_nsid},
	[EVENT_SLBA] = {"slba", "slba", .unit = UNIT_NUMBER, .get = get_slba},
	[EVENT_LENGTH] = {"length", "length", .unit = UNIT_BYTES, .get = get_length},
	[EVENT_FLAGS] = {"flags", "flags", .unit = UNIT_CODE, .get = get_flags, .digits = 2},
	[EVENT_REQUEUED] = {"requeued", "requeued", .unit = UNIT_FLAG, .get = get_flag,
			    .arg = NT_F_REQUEUED},
	[EVENT_STATUS] = {"status", "status", .unit = UNIT_CODE, .get = get_status, .digits = 1},
	[EVENT_STATUS_NAME] = {"status_name", "status", .unit = UNIT_NAME, .get = get_status_name},
	[EVENT_RETRIES] = {"retries", "retries", .unit = UNIT_COUNT, .get = get_retries},
	[EVENT_CANCELLED] = {"cancelled", "cancelled", .unit = UNIT_FLAG, .get = get_flag,
			     .arg = NT_F_CANCELLED},
	[EVENT_LATENCY] = {"latency", "latency", .unit = UNIT_NANOSECONDS, .get = get_latency},
};

const struct columns event_columns = COLUMNS("events", event);

enum { LOST_TIME, LOST_EVENTS, LOST_WHY };

static const struct column lost[] = {
	[LOST_TIME] = {"time", "time", .unit = UNIT_INSTANT, COLUMN_FIELD(struct event_row, time)},
	[LOST_EVENTS] = {"events", "events", .unit = UNIT_COUNT,
			 COLUMN_FIELD(struct event_row, lost)},
	[LOST_WHY] = {"loss", "loss", .unit = UNIT_NAME, .get = get_why},
};

const struct columns lost_columns = COLUMNS("lost_events", lost);

void event_init(struct event_row *row, const char *controller, const struct nt_record *r,
		uint32_t missing)
{
	uint64_t begun = r->side == NT_HOST ? r->points[NT_H_QUEUE_RQ] : r->points[NT_T_CMD];

	*row = (struct event_row){.r = r, .controller = controller, .missing = missing};
	if (r->flags & NT_F_LOST) {
		row->lost = r->slba;
		row->time = r->points[0];
		row->why = counter_name(NT_CNT_RING_FULL);
		return;
	}
	row->time = r->flags & NT_F_BEGUN ? begun : record_last_ns(r);
	row->latency = record_latency_ns(r);
}

void event_init_slow(struct event_row *row, uint64_t lines, uint64_t time)
{
	*row = (struct event_row){
		.lost = lines,
		.time = time,
		.why = counter_name(COUNTER_READER_SLOW),
	};
}

static void print_fields(const struct nt_begun *b, FILE *f)
{
	struct sqe_field fields[FIELDS_MAX];
	unsigned int nr = fields_of(b, fields);

	for (unsigned int i = 0; i < nr; i++) {
		if (fields[i].word)
			fprintf(f, " %s=%s", fields[i].name, fields[i].word);
		else
			fprintf(f, " %s=%" PRIu64, fields[i].name, (uint64_t)fields[i].value);
	}
}

void event_print(const struct event_row *row, FILE *f)
{
	static const struct phrase where[] = {
		PHRASE(NULL, EVENT_TIME),
		PHRASE(" ", EVENT_SIDE),
		PHRASE(" ", EVENT_CONTROLLER),
		PHRASE(" q", EVENT_QUEUE),
	};
	static const struct phrase what[] = {
		PHRASE(" cid=", EVENT_CID),	    PHRASE(" ", EVENT_COMMAND),
		PHRASE(" opcode=", EVENT_OPCODE),   PHRASE(" nsid=", EVENT_NSID),
		PHRASE(" slba=", EVENT_SLBA),	    PHRASE(" length=", EVENT_LENGTH),
		PHRASE(" flags=", EVENT_FLAGS),	    PHRASE(" requeued", EVENT_REQUEUED),
		PHRASE(" status=", EVENT_STATUS),   PHRASE(" ", EVENT_STATUS_NAME),
		PHRASE(" retries=", EVENT_RETRIES), PHRASE(" cancelled", EVENT_CANCELLED),
		PHRASE(" latency=", EVENT_LATENCY),
	};
	static const struct phrase missed[] = {
		PHRASE(NULL, LOST_TIME),
		PHRASE(" lost ", LOST_EVENTS, .after = " event", .plural = true),
		PHRASE(": ", LOST_WHY),
	};

	if (row->lost) {
		LINE_PRINT(f, &lost_columns, missed, row);
	} else {
		LINE_PRINT(f, &event_columns, where, row);
		fputs(begins(row) ? " begin" : " end", f);
		LINE_PRINT(f, &event_columns, what, row);
		if (begins(row))
			print_fields(begun_of(row), f);
		else
			command_print_stages(f, row->r, row->missing, row->latency);
	}
	fputs("\n", f);
}

static struct json_object *json_fields(const struct nt_begun *b)
{
	struct json_object *o = json_empty();
	struct sqe_field fields[FIELDS_MAX];
	unsigned int nr = fields_of(b, fields);

	for (unsigned int i = 0; i < nr; i++)
		json_put(o, fields[i].name,
			 fields[i].word ? json_text(fields[i].word)
					: json_natural(fields[i].value));
	return o;
}

struct json_object *event_json(const struct event_row *row)
{
	struct json_object *o;

	if (row->lost) {
		o = json_new("lost");
		json_put_row(o, &lost_columns, row);
		return o;
	}
	o = json_new(begins(row) ? "submission" : "completion");
	json_put_row(o, &event_columns, row);
	if (begins(row))
		json_put(o, "fields", json_fields(begun_of(row)));
	else
		json_command_stages(o, row->r, row->missing, row->latency);
	return o;
}
