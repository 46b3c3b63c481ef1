// SPDX-License-Identifier: GPL-2.0-only
#include "view/event.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/counters.h"
#include "core/array.h"
#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"
#include "shared/selection.h"
#include "view/commands.h"
#include "view/json_report.h"
#include "view/lines.h"

/* The kind of commands to which a row applies. */
enum of { OF_IO, OF_ADMIN, OF_FABRICS };

struct word {
	__u64 value;
	const char *word;
};

/* NVMe Base 2.0, figure 273 (CNS). */
static const struct word cns[] = {
	{0x00, "namespace"},
	{0x01, "controller"},
	{0x02, "active_namespaces"},
	{0x03, "namespace_descriptors"},
	{0x04, "nvm_set_list"},
	{0x05, "namespace_of_command_set"},
	{0x06, "controller_of_command_set"},
	{0x07, "active_namespaces_of_command_set"},
	{0x08, "namespace_independent_of_command_set"},
	{0x10, "allocated_namespaces"},
	{0x11, "allocated_namespace"},
	{0x12, "controllers_of_namespace"},
	{0x13, "controllers"},
	{0x14, "primary_controller_capabilities"},
	{0x15, "secondary_controllers"},
	{0x16, "namespace_granularity"},
	{0x17, "uuids"},
	{0x18, "domains"},
	{0x19, "endurance_groups"},
	{0x1c, "command_sets"},
};

/* NVMe Base 2.0, figure 202 (log page identifiers); NVMe over Fabrics 1.1, 5.3. */
static const struct word log_page[] = {
	{0x00, "supported_log_pages"},
	{0x01, "error_information"},
	{0x02, "health_information"},
	{0x03, "firmware_slots"},
	{0x04, "changed_namespaces"},
	{0x05, "commands_supported_and_effects"},
	{0x06, "device_self_test"},
	{0x07, "telemetry_host"},
	{0x08, "telemetry_controller"},
	{0x09, "endurance_group"},
	{0x0c, "asymmetric_namespace_access"},
	{0x0d, "persistent_event"},
	{0x12, "features_supported_and_effects"},
	{0x70, "discovery"},
	{0x80, "reservation_notification"},
	{0x81, "sanitize_status"},
};

/* NVMe Base 2.0, figure 317 (feature identifiers). */
static const struct word feature[] = {
	{0x01, "arbitration"},
	{0x02, "power_management"},
	{0x03, "lba_range_type"},
	{0x04, "temperature_threshold"},
	{0x05, "error_recovery"},
	{0x06, "volatile_write_cache"},
	{0x07, "number_of_queues"},
	{0x08, "interrupt_coalescing"},
	{0x09, "interrupt_vector_configuration"},
	{0x0a, "write_atomicity_normal"},
	{0x0b, "asynchronous_event_configuration"},
	{0x0c, "autonomous_power_state_transition"},
	{0x0d, "host_memory_buffer"},
	{0x0e, "timestamp"},
	{0x0f, "keep_alive_timer"},
	{0x10, "host_controlled_thermal_management"},
	{0x16, "host_behavior_support"},
	{0x19, "command_set_profile"},
	{0x80, "software_progress_marker"},
	{0x81, "host_identifier"},
	{0x82, "reservation_notification_mask"},
	{0x83, "reservation_persistence"},
	{0x84, "namespace_write_protection"},
};

/* NVMe Base 2.0, figure 35 (controller properties). */
static const struct word property[] = {
	{0x00, "cap"}, {0x08, "vs"}, {0x14, "cc"}, {0x1c, "csts"}, {0x20, "nssr"}, {0x68, "crto"},
};

/* Zoned Namespace Command Set 1.1, 3.4 (zone send and receive actions). */
static const struct word zone_send[] = {
	{0x01, "close"},
	{0x02, "finish"},
	{0x03, "open"},
	{0x04, "reset"},
	{0x05, "offline"},
	{0x10, "set_zone_descriptor_extension"},
	{0x11, "flush_explicit_zrwa_range"},
};

static const struct word zone_receive[] = {{0x00, "report"}, {0x01, "extended_report"}};

static const struct word select_words[] = {
	{0, "current"},
	{1, "default"},
	{2, "saved"},
	{3, "supported_capabilities"},
};

/*
 * A field of @bits bits that begins at bit @shift of a dword, 10 to 15. A field that does not fit
 * continues in the next dword.
 */
struct field {
	enum of of;
	__u8 opcode; /* or the type of a Fabrics command */
	const char *name;
	__u8 dword;
	__u8 shift;
	__u8 bits;
	const struct word *words;
	__u8 nr_words;
};

#define WORDS(w) .words = (w), .nr_words = ARRAY_SIZE(w)

static const struct field fields[] = {
	/* NVM Command Set 1.0, 3.2 */
	{OF_IO, 0x01, "nlb", 12, 0, 16, .words = NULL},
	{OF_IO, 0x01, "fua", 12, 30, 1, .words = NULL},
	{OF_IO, 0x01, "lr", 12, 31, 1, .words = NULL},
	{OF_IO, 0x02, "nlb", 12, 0, 16, .words = NULL},
	{OF_IO, 0x02, "fua", 12, 30, 1, .words = NULL},
	{OF_IO, 0x02, "lr", 12, 31, 1, .words = NULL},
	{OF_IO, 0x05, "nlb", 12, 0, 16, .words = NULL},
	{OF_IO, 0x05, "fua", 12, 30, 1, .words = NULL},
	{OF_IO, 0x08, "nlb", 12, 0, 16, .words = NULL},
	{OF_IO, 0x08, "deac", 12, 25, 1, .words = NULL},
	{OF_IO, 0x09, "nr", 10, 0, 8, .words = NULL},
	{OF_IO, 0x09, "ad", 11, 2, 1, .words = NULL},
	/* Zoned Namespace Command Set 1.1, 3.4 */
	{OF_IO, 0x79, "slba", 10, 0, 64, .words = NULL},
	{OF_IO, 0x79, "zsa", 13, 0, 8, WORDS(zone_send)},
	{OF_IO, 0x79, "selall", 13, 8, 1, .words = NULL},
	{OF_IO, 0x7a, "slba", 10, 0, 64, .words = NULL},
	{OF_IO, 0x7a, "numd", 12, 0, 32, .words = NULL},
	{OF_IO, 0x7a, "zra", 13, 0, 8, WORDS(zone_receive)},
	{OF_IO, 0x7d, "zslba", 10, 0, 64, .words = NULL},
	{OF_IO, 0x7d, "nlb", 12, 0, 16, .words = NULL},
	{OF_IO, 0x7d, "fua", 12, 30, 1, .words = NULL},
	/* NVMe Base 2.0, 5 */
	{OF_ADMIN, 0x02, "lid", 10, 0, 8, WORDS(log_page)},
	{OF_ADMIN, 0x02, "lsp", 10, 8, 7, .words = NULL},
	{OF_ADMIN, 0x02, "rae", 10, 15, 1, .words = NULL},
	{OF_ADMIN, 0x02, "numd", 10, 16, 32, .words = NULL}, /* NUMDL, NUMDU */
	{OF_ADMIN, 0x02, "lpo", 12, 0, 64, .words = NULL},
	{OF_ADMIN, 0x06, "cns", 10, 0, 8, WORDS(cns)},
	{OF_ADMIN, 0x06, "cntid", 10, 16, 16, .words = NULL},
	{OF_ADMIN, 0x06, "csi", 11, 24, 8, .words = NULL},
	{OF_ADMIN, 0x08, "sqid", 10, 0, 16, .words = NULL},
	{OF_ADMIN, 0x08, "cid", 10, 16, 16, .words = NULL},
	{OF_ADMIN, 0x09, "fid", 10, 0, 8, WORDS(feature)},
	{OF_ADMIN, 0x09, "sv", 10, 31, 1, .words = NULL},
	{OF_ADMIN, 0x09, "value", 11, 0, 32, .words = NULL},
	{OF_ADMIN, 0x0a, "fid", 10, 0, 8, WORDS(feature)},
	{OF_ADMIN, 0x0a, "sel", 10, 8, 3, WORDS(select_words)},
	{OF_ADMIN, 0x0d, "sel", 10, 0, 4, .words = NULL},
	{OF_ADMIN, 0x10, "fs", 10, 0, 3, .words = NULL},
	{OF_ADMIN, 0x10, "ca", 10, 3, 3, .words = NULL},
	{OF_ADMIN, 0x11, "numd", 10, 0, 32, .words = NULL},
	{OF_ADMIN, 0x11, "ofst", 11, 0, 32, .words = NULL},
	{OF_ADMIN, 0x14, "stc", 10, 0, 4, .words = NULL},
	{OF_ADMIN, 0x15, "sel", 10, 0, 4, .words = NULL},
	{OF_ADMIN, 0x80, "lbaf", 10, 0, 4, .words = NULL},
	{OF_ADMIN, 0x80, "ses", 10, 9, 3, .words = NULL},
	{OF_ADMIN, 0x81, "secp", 10, 24, 8, .words = NULL},
	{OF_ADMIN, 0x81, "tl", 11, 0, 32, .words = NULL},
	{OF_ADMIN, 0x82, "secp", 10, 24, 8, .words = NULL},
	{OF_ADMIN, 0x82, "al", 11, 0, 32, .words = NULL},
	{OF_ADMIN, 0x84, "sanact", 10, 0, 3, .words = NULL},
	/* NVMe over Fabrics 1.1, 3: bytes 40 and on */
	{OF_FABRICS, 0x00, "size", 10, 0, 3, .words = NULL},
	{OF_FABRICS, 0x00, "ofst", 11, 0, 32, WORDS(property)},
	{OF_FABRICS, 0x00, "value", 12, 0, 64, .words = NULL},
	{OF_FABRICS, 0x01, "recfmt", 10, 0, 16, .words = NULL},
	{OF_FABRICS, 0x01, "qid", 10, 16, 16, .words = NULL},
	{OF_FABRICS, 0x01, "sqsize", 11, 0, 16, .words = NULL},
	{OF_FABRICS, 0x01, "cattr", 11, 16, 8, .words = NULL},
	{OF_FABRICS, 0x01, "kato", 12, 0, 32, .words = NULL},
	{OF_FABRICS, 0x04, "size", 10, 0, 3, .words = NULL},
	{OF_FABRICS, 0x04, "ofst", 11, 0, 32, WORDS(property)},
	{OF_FABRICS, 0x05, "spsp", 10, 8, 16, .words = NULL},
	{OF_FABRICS, 0x05, "secp", 10, 24, 8, .words = NULL},
	{OF_FABRICS, 0x05, "tl", 11, 0, 32, .words = NULL},
	{OF_FABRICS, 0x06, "spsp", 10, 8, 16, .words = NULL},
	{OF_FABRICS, 0x06, "secp", 10, 24, 8, .words = NULL},
	{OF_FABRICS, 0x06, "al", 11, 0, 32, .words = NULL},
};

/* Fields of a result, dwords 0 and 1 of a completion queue entry. */
static const struct field results[] = {
	/* NVMe Base 2.0, 5.15 and 5.27.1: of the feature */
	{OF_ADMIN, 0x09, "value", 0, 0, 32, .words = NULL},
	{OF_ADMIN, 0x0a, "value", 0, 0, 32, .words = NULL},
	/* Zoned Namespace Command Set 1.1, 3.4: the LBA that data were written to */
	{OF_IO, 0x7d, "alba", 0, 0, 64, .words = NULL},
	/* NVMe over Fabrics 1.1, 3.3 and 3.5 */
	{OF_FABRICS, 0x01, "cntlid", 0, 0, 16, .words = NULL},
	{OF_FABRICS, 0x01, "authreq", 0, 16, 16, .words = NULL},
	{OF_FABRICS, 0x04, "value", 0, 0, 64, .words = NULL},
};

/* @entry: @nr dwords */
static __u64 value_of(const __u32 *entry, unsigned int nr, const struct field *f)
{
	__u64 low = entry[f->dword], high = f->dword + 1u < nr ? entry[f->dword + 1] : 0;
	__u64 value = (high << 32 | low) >> f->shift;

	return f->bits < 64 ? value & ((1ULL << f->bits) - 1) : value;
}

static const char *word_of(const struct field *f, __u64 value)
{
	for (unsigned int i = 0; i < f->nr_words; i++)
		if (f->words[i].value == value)
			return f->words[i].word;
	return NULL;
}

/* The fields of the command of @r that a @table of @rows has. @entry: @nr dwords */
static unsigned int fields_find(const struct nt_record *r, const struct field *table, size_t rows,
				const __u32 *entry, unsigned int nr, struct sqe_field *found)
{
	enum of of = r->op == NT_OP_FABRICS ? OF_FABRICS : r->op == NT_OP_ADMIN ? OF_ADMIN : OF_IO;
	__u8 opcode = of == OF_FABRICS ? opcode_fabrics_type(r) : r->opcode;
	unsigned int n = 0;

	for (size_t i = 0; i < rows && n < FIELDS_MAX; i++) {
		const struct field *f = &table[i];
		__u64 value;

		if (f->of != of || f->opcode != opcode)
			continue;
		value = value_of(entry, nr, f);
		found[n++] = (struct sqe_field){f->name, value, word_of(f, value)};
	}
	return n;
}

unsigned int fields_of(const struct nt_record *r, struct sqe_field found[FIELDS_MAX])
{
	const struct nt_begun *b = (const struct nt_begun *)r;
	const struct nt_ended *e = (const struct nt_ended *)r;
	__u32 result[2];

	if (r->flags & NT_F_BEGUN)
		return fields_find(r, fields, ARRAY_SIZE(fields), b->sqe, ARRAY_SIZE(b->sqe),
				   found);
	if (!(e->answer.known & NT_A_RESULT) || r->status & NT_STATUS_MASK)
		return 0;
	result[0] = (__u32)e->answer.result;
	result[1] = (__u32)(e->answer.result >> 32);
	return fields_find(r, results, ARRAY_SIZE(results), result, ARRAY_SIZE(result), found);
}

static bool begins(const void *row)
{
	const struct event_row *e = row;

	return e->r && e->r->flags & NT_F_BEGUN;
}

/* Dword @n of the submission queue entry. */
static __u32 dword(const struct event_row *row, unsigned int n)
{
	return ((const struct nt_begun *)row->r)->sqe[n];
}

static const struct nt_answer *answer_of(const struct event_row *row)
{
	return &((const struct nt_ended *)row->r)->answer;
}

/* Whether the end of a command tells @what, of NT_A_*. */
static bool is_told(const struct event_row *row, unsigned int what)
{
	return !begins(row) && answer_of(row)->known & what;
}

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
	value_natural(v, v->none ? 0 : dword(e, 0) >> 8 & 0xff);
}

/* The driver maps the data of other transports after this: nothing points to them yet. */
static bool is_unmapped(const void *row)
{
	return ((const struct event_row *)row)->r->shape == NT_SHAPE_CORE;
}

/*
 * How the data are pointed to: by PRPs, or by the SGL descriptor of which byte 15 is the type
 * (NVMe Base 2.0, 3.3.3.1 and 4.1.2; NVMe/TCP 1.0, 3.4.1.2).
 */
static const char *data_pointer(const struct event_row *row)
{
	if (!row->r->length || is_unmapped(row))
		return NULL;
	if (!(dword(row, 0) >> 14 & 3))
		return "prp";
	switch (dword(row, 9) >> 24) {
	case 0x01:
		return "in_capsule";
	case 0x5a:
		return "transport_sgl";
	case 0x40:
	case 0x4f:
		return "keyed_sgl";
	default:
		return "sgl";
	}
}

static void get_data(const void *row, const struct column *c, struct value *v)
{
	const struct event_row *e = row;
	const char *kind = begins(e) ? data_pointer(e) : NULL;

	v->none = !kind;
	value_text(v, kind ?: "");
}

static void get_result(const void *row, const struct column *c, struct value *v)
{
	const struct event_row *e = row;

	v->none = !is_told(e, NT_A_RESULT);
	value_natural(v, v->none ? 0 : answer_of(e)->result);
}

static void get_sq_head(const void *row, const struct column *c, struct value *v)
{
	const struct event_row *e = row;

	v->none = !is_told(e, NT_A_SQ_HEAD);
	value_natural(v, v->none ? 0 : answer_of(e)->sq_head);
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

	v->none = !is_told(e, NT_A_RETRIES);
	value_natural(v, v->none ? 0 : answer_of(e)->retries);
}

#define FIELD(member) COLUMN_FIELD(struct event_row, member)
#define OF_RECORD(member) COLUMN_AT(struct event_row, r, member)
#define FLAG(bit) OF_RECORD(flags), .arg = NT_F_##bit, .least = 1

static void get_time(const void *row, const struct column *c, struct value *v)
{
	const struct event_row *r = row;

	value_time(v, r->wall_ns);
}

static const struct column event[] = {
	[EVENT_TIME] = COLUMN("time", NAME, .get = get_time),
	[EVENT_MONOTONIC] = COLUMN("monotonic_ns", INSTANT, FIELD(time)),
	[EVENT_SIDE] = COLUMN("side", NAME, OF_RECORD(side), .words = WORD_SIDE),
	[EVENT_CONTROLLER] = COLUMN("controller", NAME, FIELD(controller)),
	[EVENT_QUEUE] = COLUMN("queue", NUMBER, OF_RECORD(qid)),
	[EVENT_CID] = COLUMN("cid", CODE, OF_RECORD(cid), .digits = 4),
	[EVENT_COMMAND] = COLUMN("command", NAME, .get = get_command),
	[EVENT_OPCODE] = COLUMN("opcode", CODE, OF_RECORD(opcode), .digits = 2),
	[EVENT_NSID] = COLUMN("nsid", NUMBER, .get = get_nsid),
	[EVENT_SLBA] = COLUMN("slba", NUMBER, .get = get_slba),
	[EVENT_LENGTH] = COLUMN("length", BYTES, OF_RECORD(length)),
	[EVENT_DISK] = COLUMN("disk", TEXT, FIELD(disk), .least = 1),
	[EVENT_DATA] = COLUMN("data", NAME, .get = get_data),
	[EVENT_FLAGS] = COLUMN("flags", CODE, .get = get_flags, .digits = 2),
	[EVENT_REQUEUED] = COLUMN("requeued", FLAG, FLAG(REQUEUED)),
	[EVENT_STATUS] = COLUMN("status", CODE, OF_RECORD(status), .digits = 1, .none = begins),
	[EVENT_STATUS_NAME] = {"status_name", "status", .unit = UNIT_NAME, .get = get_status_name},
	[EVENT_RESULT] = COLUMN("result", CODE, .get = get_result, .digits = 1),
	[EVENT_SQ_HEAD] = COLUMN("sq_head", NUMBER, .get = get_sq_head),
	[EVENT_RETRIES] = COLUMN("retries", COUNT, .get = get_retries),
	[EVENT_CANCELLED] = COLUMN("cancelled", FLAG, FLAG(CANCELLED)),
	[EVENT_LATENCY] = COLUMN("latency", NANOSECONDS, FIELD(latency), .none = begins),
};

const struct columns event_columns = COLUMNS("events", event);

static void get_dword(const void *row, const struct column *c, struct value *v)
{
	value_natural(v, dword(row, c->arg));
}

/* Pointers have two dwords. */
static void get_dwords(const void *row, const struct column *c, struct value *v)
{
	v->none = is_unmapped(row);
	value_natural(v, v->none ? 0 : (__u64)dword(row, c->arg + 1) << 32 | dword(row, c->arg));
}

#define DWORD(name, n) COLUMN(name, CODE, .get = get_dword, .arg = (n), .digits = 1)
#define DWORDS(name, n) COLUMN(name, CODE, .get = get_dwords, .arg = (n), .digits = 1)

/* What an entry has besides the columns of events (NVMe Base 2.0, 3.3.3.1). */
enum {
	RAW_CDW2,
	RAW_CDW3,
	RAW_MPTR,
	RAW_DPTR,
	RAW_DPTR2,
	RAW_CDW10,
	RAW_CDW11,
	RAW_CDW12,
	RAW_CDW13,
	RAW_CDW14,
	RAW_CDW15,
};

static const struct column raw[] = {
	[RAW_CDW2] = DWORD("cdw2", 2),	  [RAW_CDW3] = DWORD("cdw3", 3),
	[RAW_MPTR] = DWORDS("mptr", 4),	  [RAW_DPTR] = DWORDS("dptr", 6),
	[RAW_DPTR2] = DWORDS("dptr2", 8), [RAW_CDW10] = DWORD("cdw10", 10),
	[RAW_CDW11] = DWORD("cdw11", 11), [RAW_CDW12] = DWORD("cdw12", 12),
	[RAW_CDW13] = DWORD("cdw13", 13), [RAW_CDW14] = DWORD("cdw14", 14),
	[RAW_CDW15] = DWORD("cdw15", 15),
};

const struct columns raw_columns = COLUMNS("entries", raw);

enum { LOST_TIME, LOST_MONOTONIC, LOST_EVENTS, LOST_WHY };

static const struct column lost[] = {
	[LOST_TIME] = COLUMN("time", NAME, .get = get_time),
	[LOST_MONOTONIC] = COLUMN("monotonic_ns", INSTANT, FIELD(time)),
	[LOST_EVENTS] = COLUMN("events", COUNT, FIELD(lost)),
	[LOST_WHY] = COLUMN("loss", NAME, FIELD(why)),
};

const struct columns lost_columns = COLUMNS("lost_events", lost);

void event_init(struct event_row *row, const char *controller, const struct nt_record *r,
		uint32_t missing, const struct instant *now)
{
	uint64_t begun = r->side == NT_HOST ? r->points[NT_H_QUEUE_RQ] : r->points[NT_T_CMD];

	*row = (struct event_row){.r = r, .controller = controller, .missing = missing};
	if (r->flags & NT_F_LOST) {
		row->lost = r->slba;
		row->time = r->points[0];
		row->why = counter_name(NT_CNT_RING_FULL);
	} else {
		row->time = r->flags & NT_F_BEGUN ? begun : record_last_ns(r);
		row->latency = record_latency_ns(r);
	}
	row->wall_ns = instant_wall(now, row->time);
}

void event_init_slow(struct event_row *row, uint64_t lines, const struct event_row *next)
{
	*row = (struct event_row){
		.lost = lines,
		.time = next->time,
		.wall_ns = next->wall_ns,
		.why = counter_name(COUNTER_READER_SLOW),
	};
}

static void print_fields(const struct nt_record *r, FILE *f)
{
	struct sqe_field fields[FIELDS_MAX];
	unsigned int nr = fields_of(r, fields);

	for (unsigned int i = 0; i < nr; i++) {
		if (fields[i].word)
			fprintf(f, " %s=%s", fields[i].name, fields[i].word);
		else
			fprintf(f, " %s=%" PRIu64, fields[i].name, (uint64_t)fields[i].value);
	}
}

static void print_raw(const struct event_row *row, FILE *f)
{
	static const struct phrase rest[] = {
		PHRASE(" cdw2=", RAW_CDW2),   PHRASE(" cdw3=", RAW_CDW3),
		PHRASE(" mptr=", RAW_MPTR),   PHRASE(" dptr=", RAW_DPTR),
		PHRASE(" dptr2=", RAW_DPTR2), PHRASE(" cdw10=", RAW_CDW10),
		PHRASE(" cdw11=", RAW_CDW11), PHRASE(" cdw12=", RAW_CDW12),
		PHRASE(" cdw13=", RAW_CDW13), PHRASE(" cdw14=", RAW_CDW14),
		PHRASE(" cdw15=", RAW_CDW15),
	};

	fputs(" |", f);
	LINE_PRINT(f, &raw_columns, rest, row);
}

static const struct command_stages *stages_of(const struct event_row *row,
					      struct command_stages *stages)
{
	columns_stages_of_command(stages, row->r, row->missing, row->latency);
	return stages;
}

void event_print(const struct event_row *row, FILE *f)
{
	static const struct phrase where[] = {
		PHRASE(NULL, EVENT_MONOTONIC),
		PHRASE(" ", EVENT_SIDE),
		PHRASE(" ", EVENT_CONTROLLER),
		PHRASE(" q", EVENT_QUEUE),
	};
	static const struct phrase what[] = {
		PHRASE(" cid=", EVENT_CID),	  PHRASE(" ", EVENT_COMMAND),
		PHRASE(" opcode=", EVENT_OPCODE), PHRASE(" nsid=", EVENT_NSID),
		PHRASE(" slba=", EVENT_SLBA),	  PHRASE(" length=", EVENT_LENGTH),
	};
	static const struct phrase how[] = {
		PHRASE(" data=", EVENT_DATA),	       PHRASE(" flags=", EVENT_FLAGS),
		PHRASE(" requeued", EVENT_REQUEUED),   PHRASE(" status=", EVENT_STATUS),
		PHRASE(" ", EVENT_STATUS_NAME),	       PHRASE(" result=", EVENT_RESULT),
		PHRASE(" sq_head=", EVENT_SQ_HEAD),    PHRASE(" retries=", EVENT_RETRIES),
		PHRASE(" cancelled", EVENT_CANCELLED), PHRASE(" latency=", EVENT_LATENCY),
	};
	static const struct phrase missed[] = {
		PHRASE(NULL, LOST_MONOTONIC),
		PHRASE(" lost ", LOST_EVENTS, .after = " event", .plural = true),
		PHRASE(": ", LOST_WHY),
	};
	struct command_stages stages;

	if (row->lost) {
		LINE_PRINT(f, &lost_columns, missed, row);
	} else {
		LINE_PRINT(f, &event_columns, where, row);
		fputs(begins(row) ? " begin" : " end", f);
		LINE_PRINT(f, &event_columns, what, row);
		if (row->disk) {
			fputs(" disk=", f);
			text_print(f, row->disk, TEXT_WORD);
		}
		LINE_PRINT(f, &event_columns, how, row);
		print_fields(row->r, f);
		if (begins(row) && row->raw)
			print_raw(row, f);
		if (!begins(row))
			command_stages_print(stages_of(row, &stages), "", f);
		if (row->origin) {
			fputs(" |", f);
			origin_print(row->origin, f);
		}
	}
	fputs("\n", f);
}

static struct json_object *json_fields(const struct nt_record *r)
{
	struct json_object *o = json_empty();
	struct sqe_field fields[FIELDS_MAX];
	unsigned int nr = fields_of(r, fields);

	for (unsigned int i = 0; i < nr; i++)
		json_put(o, fields[i].name,
			 fields[i].word ? json_text(fields[i].word)
					: json_natural(fields[i].value));
	return o;
}

struct json_object *event_json(const struct event_row *row)
{
	struct command_stages stages;
	struct json_object *o;

	if (row->lost) {
		o = json_new("lost");
		json_put_row(o, &lost_columns, row);
		return o;
	}
	o = json_new(begins(row) ? "submission" : "completion");
	json_put_row(o, &event_columns, row);
	json_put(o, "fields", json_fields(row->r));
	if (begins(row) && row->raw)
		json_put(o, "entry", json_row(&raw_columns, row));
	if (!begins(row))
		json_command_stages(o, stages_of(row, &stages));
	if (row->origin)
		json_put(o, "origin", json_row(&origin_columns, row->origin));
	return o;
}
