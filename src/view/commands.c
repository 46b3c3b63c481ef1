// SPDX-License-Identifier: GPL-2.0-only
#include "view/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"
#include "view/histograms.h"
#include "view/lines.h"

static uint64_t first_point(const struct nt_record *r)
{
	for (unsigned int i = 0; i < NT_POINTS_MAX; i++)
		if (r->points[i])
			return r->points[i];
	return 0;
}

static void row_init(struct command_row *row, const struct nt_record *r)
{
	uint64_t last = record_last_ns(r);

	*row = (struct command_row){.r = r, .first = first_point(r), .disk = nt_disk_command(r)};
	/* A damaged stream may have the points in any order. */
	row->latency = last > row->first ? last - row->first : 0;
}

void columns_command_of_side(struct command_row *row, const char *controller,
			     const struct nt_record *r)
{
	row_init(row, r);
	row->seen = side_name(r->side);
	row->controller = controller;
}

/* As "%s%u" would, which takes longer than the rest of a row. */
static void name_number(char *name, const char *what, uint32_t number)
{
	char digits[NATURAL_LEN];
	size_t length = strlen(what), nr = text_natural(digits, number);

	memcpy(name, what, length);
	memcpy(name + length, digits, nr);
	name[length + nr] = '\0';
}

void columns_command_merged(struct command_row *row, const struct merge_connection *c,
			    const struct nt_record *host, const struct nt_record *target,
			    bool ambiguous)
{
	row_init(row, host ?: target);
	row->c = c;
	row->controller = row->name;
	name_number(row->name, host ? "nvme" : "cntlid ", host ? c->host_instance : c->cntlid);
	row->other_flags = host && target ? target->flags : 0;
	row->disk = target ? nt_disk_command(target) : 0;
	row->seen = host && target ? "merged"
		    : ambiguous	   ? "ambiguous"
		    : host	   ? "host_only"
				   : "target_only";
}

static void get_queue(const void *row, const struct column *c, struct value *v)
{
	const struct command_row *r = row;

	value_natural(v, r->c ? r->c->qid : r->r->qid);
}

/* The status and the shape of a command are known only when it has ended. */
static bool in_flight(const void *row)
{
	const struct command_row *r = row;

	return r->r->flags & NT_F_IN_FLIGHT;
}

static void get_error(const void *row, const struct column *c, struct value *v)
{
	const struct command_row *r = row;

	value_text(v, status_name(r->r->op, r->r->status));
	v->none = r->r->flags & NT_F_IN_FLIGHT || !status_is_error(r->r->status);
}

/*
 * Whether either side has the flag: stages of a merged command depend on the arrivals of both
 * sides, and what is below a target only the target knows.
 */
static void get_either(const void *row, const struct column *c, struct value *v)
{
	const struct command_row *r = row;

	value_natural(v, ((r->r->flags | r->other_flags) & c->arg) != 0);
	v->none = !v->natural;
}

static void get_time(const void *row, const struct column *c, struct value *v)
{
	const struct command_row *r = row;

	value_time(v, r->wall_ns);
}

static void get_disk(const void *row, const struct column *c, struct value *v)
{
	const struct command_row *r = row;

	value_natural(v, c->arg ? NT_DISK_CID(r->disk) : NT_DISK_QID(r->disk));
	v->none = !r->disk;
}

static void get_queued(const void *row, const struct column *c, struct value *v)
{
	const struct command_row *r = row;
	const char *mutex = NULL;
	unsigned int nr = 0;

	v->none = !record_queued(r->r, &nr, &mutex) || (c->arg && !mutex);
	value_natural(v, nr);
	if (c->arg)
		value_text(v, mutex ?: "");
}

#define FIELD(member) COLUMN_FIELD(struct command_row, member)
#define OF_RECORD(member) COLUMN_AT(struct command_row, r, member)
#define OF_CONNECTION(member) COLUMN_AT(struct command_row, c, member)
#define FLAG(bit) OF_RECORD(flags), .arg = NT_F_##bit, .least = 1

static const struct column command[] = {
	[COMMAND_TIME] = COLUMN("time", NAME, .get = get_time),
	[COMMAND_MONOTONIC] = COLUMN("monotonic_ns", INSTANT, FIELD(first)),
	[COMMAND_SEEN] = COLUMN("seen", NAME, FIELD(seen)),
	[COMMAND_CONTROLLER] = COLUMN("controller", NAME, FIELD(controller)),
	[COMMAND_SUBSYSTEM] = COLUMN("subsystem", TEXT, OF_CONNECTION(subsysnqn)),
	[COMMAND_CNTLID] = COLUMN("cntlid", NUMBER, OF_CONNECTION(cntlid)),
	[COMMAND_QUEUE] = COLUMN("queue", NUMBER, .get = get_queue),
	[COMMAND_CID] = COLUMN("cid", CODE, OF_RECORD(cid), .digits = 4),
	[COMMAND_OP] = COLUMN("op", NAME, OF_RECORD(op), .words = WORD_OP),
	[COMMAND_OPCODE] = COLUMN("opcode", CODE, OF_RECORD(opcode), .digits = 2),
	[COMMAND_SHAPE] =
		COLUMN("shape", NAME, OF_RECORD(shape), .words = WORD_SHAPE, .none = in_flight),
	[COMMAND_NSID] = COLUMN("nsid", NUMBER, OF_RECORD(nsid)),
	[COMMAND_SLBA] = COLUMN("slba", NUMBER, OF_RECORD(slba)),
	[COMMAND_LENGTH] = COLUMN("length", BYTES, OF_RECORD(length)),
	[COMMAND_STATUS] =
		COLUMN("status", CODE, OF_RECORD(status), .digits = 1, .none = in_flight),
	[COMMAND_ERROR] = COLUMN("error", NAME, .get = get_error),
	[COMMAND_REQUEUED] = COLUMN("requeued", FLAG, FLAG(REQUEUED)),
	[COMMAND_NO_CQE] = COLUMN("no_cqe", FLAG, FLAG(NO_CQE)),
	[COMMAND_CANCELLED] = COLUMN("cancelled", FLAG, FLAG(CANCELLED)),
	[COMMAND_ARRIVAL_JOINED] = {"arrival_joined", "arrival joined", .unit = UNIT_FLAG,
				    .get = get_either, .arg = NT_F_ARRIVAL_JOINED},
	[COMMAND_RETRANSMITTED] = COLUMN("retransmitted", FLAG, FLAG(RETRANSMITTED)),
	[COMMAND_PAGE_CACHE] = {"page_cache", "page cache", .unit = UNIT_FLAG, .get = get_either,
				.arg = NT_F_CACHED},
	[COMMAND_DISK_QUEUE] = COLUMN("disk_queue", NUMBER, .get = get_disk),
	[COMMAND_DISK_CID] = COLUMN("disk_cid", CODE, .get = get_disk, .arg = 1, .digits = 4),
	[COMMAND_QUEUED] = COLUMN("queued", NUMBER, .get = get_queued),
	[COMMAND_SEND_MUTEX] = COLUMN("send_mutex", NAME, .get = get_queued, .arg = 1),
	[COMMAND_WAS_OVERDUE] = {"was_overdue", "was overdue", .unit = UNIT_FLAG,
				 FLAG(WAS_OVERDUE)},
	[COMMAND_LATENCY] = COLUMN("latency", NANOSECONDS, FIELD(latency)),
};

const struct columns command_columns = COLUMNS("commands", command);

static bool no_cpu(const void *row)
{
	const struct origin *o = row;

	return !o || o->cpu == ORIGIN_NO_CPU;
}

#define OF_ORIGIN(member) COLUMN_FIELD(struct origin, member)

static const struct column origin[] = {
	[ORIGIN_CPU] = COLUMN("cpu", NUMBER, OF_ORIGIN(cpu), .none = no_cpu),
	[ORIGIN_PID] = COLUMN("pid", NUMBER, OF_ORIGIN(pid), .least = 1),
	[ORIGIN_COMM] = COLUMN("comm", TEXT, OF_ORIGIN(comm), .least = 1),
	[ORIGIN_CGROUP] = COLUMN("cgroup", TEXT, OF_ORIGIN(cgroup), .least = 1),
};

const struct columns origin_columns = COLUMNS("origins", origin);

static bool is_first(const void *row)
{
	return ((const struct point_row *)row)->first;
}

static bool no_took(const void *row)
{
	return !((const struct point_row *)row)->has_took;
}

static bool no_point_cpu(const void *row)
{
	return ((const struct point_row *)row)->cpu == RECORD_NO_CPU;
}

static void get_point(const void *row, const struct column *c, struct value *v)
{
	const struct point_row *r = row;

	value_text(v, point_name(r->side, r->point));
}

#define OF_POINT(member) COLUMN_FIELD(struct point_row, member)

static const struct column point[] = {
	[POINT_AT] = COLUMN("at", NANOSECONDS, OF_POINT(at)),
	[POINT_SINCE] = COLUMN("since", NANOSECONDS, OF_POINT(since), .none = is_first),
	[POINT_SIDE] = COLUMN("side", NAME, OF_POINT(side), .words = WORD_SIDE),
	[POINT_POINT] = COLUMN("point", NAME, .get = get_point),
	[POINT_STAGE] = COLUMN("stage", NAME, OF_POINT(stage)),
	[POINT_TOOK] = COLUMN("took", NANOSECONDS, OF_POINT(took), .none = no_took),
	[POINT_CPU] = COLUMN("cpu", NUMBER, OF_POINT(cpu), .none = no_point_cpu),
};

const struct columns point_columns = COLUMNS("points", point);

/* @from: the time that points are shown from, on the clock of the side. */
static unsigned int points_from(struct point_row rows[NT_POINTS_MAX], const struct nt_record *r,
				uint64_t from)
{
	unsigned int nr = 0, all = record_points_nr(r->side);

	for (unsigned int i = 0; i < all; i++)
		/* A damaged stream may have the points in any order. */
		if (r->points[i])
			rows[nr++] = (struct point_row){
				.side = r->side,
				.point = record_point(r, i),
				.at = (int64_t)(r->points[i] - from),
				.stage = "",
				.cpu = record_cpu(r, i),
			};
	return nr;
}

bool columns_point(const struct nt_record *r, unsigned int point, int64_t *at)
{
	*at = (int64_t)(r->points[point] - first_point(r));
	return r->points[point];
}

unsigned int columns_points(struct point_row rows[NT_POINTS_MAX], const struct nt_record *r)
{
	return points_from(rows, r, first_point(r));
}

static void get_share(const void *row, const struct column *c, struct value *v)
{
	const struct command_stage_row *r = row;

	value_real(v, r->latency ? (double)r->ns / (double)r->latency : 0);
}

static const struct column stage[] = {
	[COMMAND_STAGE_STAGE] =
		COLUMN("stage", NAME, COLUMN_FIELD(struct command_stage_row, stage)),
	[COMMAND_STAGE_TIME] =
		COLUMN("time", NANOSECONDS, COLUMN_FIELD(struct command_stage_row, ns)),
	[COMMAND_STAGE_SHARE] = COLUMN("share", SHARE, .get = get_share),
};

const struct columns command_stage_columns = COLUMNS("command_stages", stage);

/* Adds a stage, or several that are joined. */
static void stage_add(struct command_stages *s, unsigned int stage, const char *name, int64_t ns,
		      uint64_t latency)
{
	s->stage[s->nr] = (unsigned char)stage;
	s->row[s->nr] = (struct command_stage_row){name, ns, latency};
	s->nr++;
}

void columns_stages_of_command(struct command_stages *s, const struct nt_record *r,
			       uint32_t missing, uint64_t latency)
{
	uint64_t ns[NT_STAGES_MAX];
	uint8_t into[NT_STAGES_MAX];

	s->nr = 0;
	s->split = record_stages_joined(r, record_missing(r, missing), into, ns);
	for (unsigned int i = 0; s->split && i < stages_nr(r->side); i++) {
		if (into[i] != i)
			continue;
		stage_joined_name(r->side, into, i, s->name[s->nr], sizeof(s->name[0]));
		stage_add(s, i, s->name[s->nr], (int64_t)ns[i], latency);
	}
}

static void stages_of_merged(struct command_stages *s, const struct nt_record *host,
			     const struct nt_record *target, const uint32_t missing[NT_SIDES],
			     uint64_t latency)
{
	/* Most commands are split as the one before. */
	static struct merged_split how;
	static char name[NT_MERGED_STAGES_NR][STAGE_NAME_LEN];
	int64_t ns[NT_MERGED_STAGES_NR];

	if (merged_split_renew(&how, missing[NT_HOST] | record_lacks(host),
			       missing[NT_TARGET] | record_lacks(target)))
		for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++)
			merged_joined_name(how.into, i, name[i], sizeof(name[i]));
	s->nr = 0;
	s->split = merged_split(&how, host, target, ns);
	for (unsigned int i = 0; s->split && i < NT_MERGED_STAGES_NR; i++)
		if (how.into[i] == i)
			stage_add(s, i, name[i], ns[i], latency);
}

/* Sets the stage that a command is in, which has not ended. */
static void set_under_way(struct command_line *l, const struct nt_record *r, uint32_t missing)
{
	int stage = record_stage_under_way(r);
	uint8_t into[NT_STAGES_MAX];

	l->under_way[0] = '\0';
	stages_join(r->side, missing, into);
	if (stage >= 0 && into[stage] < NT_STAGES_MAX)
		stage_joined_name(r->side, into, into[stage], l->under_way, sizeof(l->under_way));
}

static void no_stages(struct command_stages *s)
{
	s->split = false;
	s->nr = 0;
}

void command_line_of_side(struct command_line *l, const char *controller, const struct nt_record *r,
			  uint32_t missing, const struct instant *now)
{
	columns_command_of_side(&l->row, controller, r);
	l->origin = NULL;
	l->has_origin = false;
	l->row.wall_ns = instant_wall(now, l->row.first);
	l->record[NT_HOST] = r->side == NT_HOST ? r : NULL;
	l->record[NT_TARGET] = r->side == NT_HOST ? NULL : r;
	l->in_flight = r->flags & NT_F_IN_FLIGHT;
	l->stages_of = r->side;
	if (l->in_flight) {
		l->row.latency = now->monotonic_ns - l->row.first;
		no_stages(&l->stages);
		set_under_way(l, r, missing);
	} else {
		columns_stages_of_command(&l->stages, r, missing, l->row.latency);
	}
}

static void line_of_both(struct command_line *l, const struct merge_connection *c,
			 const struct nt_record *host, const struct nt_record *target,
			 bool ambiguous)
{
	columns_command_merged(&l->row, c, host, target, ambiguous);
	l->origin = NULL;
	l->has_origin = false;
	l->record[NT_HOST] = host;
	l->record[NT_TARGET] = target;
	l->in_flight = false;
	l->stages_of = host && target ? NT_SIDES : l->row.r->side;
}

void command_line_merged(struct command_line *l, const struct machines *m,
			 const struct merge_connection *c, const struct nt_record *host,
			 const struct nt_record *target, bool ambiguous,
			 const struct instant *clock)
{
	const uint32_t missing[NT_SIDES] = {
		[NT_HOST] = machines_get(m, c->host_stream)->missing,
		[NT_TARGET] = machines_get(m, c->target_stream)->missing,
	};

	line_of_both(l, c, host, target, ambiguous);
	l->row.wall_ns = instant_wall(clock, l->row.first);
	if (host && target)
		stages_of_merged(&l->stages, host, target, missing, l->row.latency);
	else
		columns_stages_of_command(&l->stages, l->row.r, missing[l->row.r->side],
					  l->row.latency);
}

void command_line_slow(struct command_line *l, const struct slow_command *c,
		       const struct instant *clock)
{
	line_of_both(l, &c->connection, &c->host, c->alone ? NULL : &c->target, false);
	l->origin = c->origin;
	l->row.wall_ns = instant_wall(clock, l->row.first);
	l->row.latency = c->latency;
	/* The time that the host waited before it gave up is not a stage. */
	if (c->host.flags & NT_F_CANCELLED)
		l->record[NT_TARGET] = NULL;
	no_stages(&l->stages);
	if (l->record[NT_TARGET])
		stages_of_merged(&l->stages, &c->host, &c->target, c->missing, c->latency);
}

static void print_what(FILE *f, const struct command_row *row)
{
	static const struct phrase how_long[] = {
		PHRASE(" was_overdue", COMMAND_WAS_OVERDUE),
		PHRASE(" latency=", COMMAND_LATENCY),
	};
	static const struct phrase how_long_so_far[] = {
		PHRASE(" still in flight after ", COMMAND_LATENCY),
	};
	static const struct phrase what[] = {
		PHRASE(NULL, COMMAND_MONOTONIC),
		PHRASE(" ", COMMAND_SEEN),
		PHRASE(" ", COMMAND_CONTROLLER),
		PHRASE(" ", COMMAND_SUBSYSTEM),
		PHRASE(" cntlid=", COMMAND_CNTLID),
		PHRASE(" q", COMMAND_QUEUE),
		PHRASE(" cid=", COMMAND_CID),
		PHRASE(" op=", COMMAND_OP),
		PHRASE(" opcode=", COMMAND_OPCODE),
		PHRASE(" shape=", COMMAND_SHAPE),
		PHRASE(" nsid=", COMMAND_NSID),
		PHRASE(" slba=", COMMAND_SLBA),
		PHRASE(" length=", COMMAND_LENGTH),
		PHRASE(" status=", COMMAND_STATUS),
		PHRASE(" error=", COMMAND_ERROR),
		PHRASE(" requeued", COMMAND_REQUEUED),
		PHRASE(" no_cqe", COMMAND_NO_CQE),
		PHRASE(" cancelled", COMMAND_CANCELLED),
		PHRASE(" arrival_joined", COMMAND_ARRIVAL_JOINED),
		PHRASE(" retransmitted", COMMAND_RETRANSMITTED),
		PHRASE(" page_cache", COMMAND_PAGE_CACHE),
		PHRASE(" disk_queue=", COMMAND_DISK_QUEUE),
		PHRASE(" disk_cid=", COMMAND_DISK_CID),
		PHRASE(" queued=", COMMAND_QUEUED),
		PHRASE(" send_mutex=", COMMAND_SEND_MUTEX),
	};
	LINE_PRINT(f, &command_columns, what, row);
	if (row->r->flags & NT_F_IN_FLIGHT)
		LINE_PRINT(f, &command_columns, how_long_so_far, row);
	else
		LINE_PRINT(f, &command_columns, how_long, row);
}

static void print_points(FILE *f, const struct nt_record *r)
{
	static const struct phrase pair[] = {PHRASE(" ", POINT_POINT), PHRASE("=", POINT_AT)};
	static const struct phrase cpu[] = {PHRASE(" ", POINT_POINT), PHRASE("_cpu=", POINT_CPU)};
	struct point_row rows[NT_POINTS_MAX];
	unsigned int nr = columns_points(rows, r);

	for (unsigned int i = 0; i < nr; i++)
		LINE_PRINT(f, &point_columns, pair, &rows[i]);
	for (unsigned int i = 0; i < nr; i++)
		if (rows[i].cpu != RECORD_NO_CPU)
			LINE_PRINT(f, &point_columns, cpu, &rows[i]);
	for (unsigned int i = 0; i < NT_FINE_MAX; i++) {
		uint64_t at = record_fine_ns(r, i);

		if (at)
			fprintf(f, " %s=%" PRId64, fine_name(r->side, i),
				(int64_t)(at - first_point(r)));
		if (r->seq[i])
			fprintf(f, " %s_seq=%u", fine_name(r->side, i), r->seq[i]);
	}
	for (unsigned int i = 0; i < NT_WAITS_NR; i++)
		if (r->wait[i])
			fprintf(f, " %s_ns=%u", wait_name((enum nt_wait)i), r->wait[i] - 1);
}

void command_stages_print(const struct command_stages *s, const char *before, FILE *f)
{
	static const struct phrase pair[] = {
		PHRASE(" ", COMMAND_STAGE_STAGE),
		PHRASE("=", COMMAND_STAGE_TIME),
	};

	fprintf(f, " |%s", s->split ? before : " unsplit");
	for (unsigned int i = 0; i < s->nr; i++)
		LINE_PRINT(f, &command_stage_columns, pair, &s->row[i]);
}

/* Names may have blanks, which would look like the end of a word. */
void origin_print(const struct origin *o, FILE *f)
{
	static const struct phrase numbers[] = {
		PHRASE(" cpu=", ORIGIN_CPU),
		PHRASE(" pid=", ORIGIN_PID),
	};

	fputs(" from", f);
	LINE_PRINT(f, &origin_columns, numbers, o);
	if (o->comm[0])
		fputs(" comm=", f);
	text_print(f, o->comm, TEXT_WORD);
	if (o->cgroup[0])
		fputs(" cgroup=", f);
	text_print(f, o->cgroup, TEXT_WORD);
}

void command_line_print(const struct command_line *l, FILE *f)
{
	struct command_row row = l->row;
	bool merged = row.c;

	/*
	 * A command that the target has seen is identified by the controller id, which both sides
	 * know. It is printed next.
	 */
	if (merged && l->record[NT_TARGET])
		row.controller = NULL;
	print_what(f, &row);
	for (unsigned int side = 0; side < NT_SIDES; side++) {
		if (!l->record[side])
			continue;
		fprintf(f, " |%s%s", merged ? " " : "", merged ? side_name(side) : "");
		print_points(f, l->record[side]);
	}
	if (!l->in_flight)
		command_stages_print(&l->stages, merged ? " stages" : "", f);
	else if (l->under_way[0])
		fprintf(f, " | in %s", l->under_way);
	if (l->origin) {
		fputs(" |", f);
		origin_print(l->origin, f);
	}
	fputs("\n", f);
}

/* Width of microseconds with three decimals: up to 100 s, and those of a stage. */
#define AT_WIDTH 12
#define TIME_WIDTH 14
/* Width of a duration, of the longest name of a stage, and of the bars. */
#define TOOK_WIDTH 8
#define STAGE_WIDTH 20
#define GANTT_MIN 8u
#define GANTT_MAX 60u

static int by_time(const void *a, const void *b)
{
	const struct point_row *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->point < y->point ? -1 : x->point > y->point;
}

static void names_init(struct story_side *n, enum nt_side side, uint32_t missing)
{
	stage_split_init(&n->how, side, missing);
	for (unsigned int i = 0; i < stages_nr(side); i++)
		stage_joined_name(side, n->how.into, i, n->name[i], sizeof(n->name[i]));
}

/* Sets the part of target_subsystem that ends with a point of a disk or file. */
static void set_part(struct point_row *row, const struct nt_record *r)
{
	bool device = row->point == NT_TD_DONE;
	unsigned int from = device ? (unsigned int)NT_TD_ISSUE : (unsigned int)NT_T_EXEC;
	unsigned int to = device ? NT_TD_DONE : NT_TD_ISSUE;

	row->stage = stage_part_name(device			  ? NT_SP_DEVICE
				     : row->point == NT_FILE_WORK ? NT_SP_TARGET_FILE_WAIT
								  : NT_SP_TARGET_BLOCK_LAYER);
	row->has_took = r->points[from];
	row->took = row->has_took ? (int64_t)(r->points[to] - r->points[from]) : 0;
}

/* Sets the stage that ends with a point of @r, if one does and is known. */
static void set_stage(struct point_row *row, const struct story_side *n, const struct nt_record *r)
{
	const struct stage_shape *shape = &n->how.shape[r->shape < NT_SHAPES_NR ? r->shape : 0];
	unsigned int wait = row->side == NT_HOST ? (unsigned int)NT_HS_NETWORK_AND_TARGET
						 : (unsigned int)NT_TS_NETWORK_AND_HOST;

	if (row->side == NT_TARGET && row->point >= NT_TARGET_POINTS_NR) {
		set_part(row, r);
		return;
	}
	for (unsigned int i = 0; i < shape->nr; i++) {
		unsigned int from = shape->part[i].from, stage = shape->part[i].at;

		if (shape->part[i].to != row->point || stage >= NT_STAGES_MAX)
			continue;
		row->stage = n->name[stage];
		row->crosses = n->how.into[wait] == stage;
		row->has_took = r->points[from];
		row->took = row->has_took ? (int64_t)(r->points[row->point] - r->points[from]) : 0;
	}
}

static void story_what(const struct command_row *row, FILE *f)
{
	static const struct phrase what[] = {
		PHRASE(NULL, COMMAND_OP),
		PHRASE(" of ", COMMAND_LENGTH, .after = " bytes"),
		PHRASE(", ", COMMAND_SHAPE),
		PHRASE(", LBA ", COMMAND_SLBA),
		PHRASE(", status ", COMMAND_STATUS),
		PHRASE(", cancelled", COMMAND_CANCELLED),
		PHRASE(", page cache", COMMAND_PAGE_CACHE),
		PHRASE(", ", COMMAND_SUBSYSTEM),
		PHRASE(" cntlid ", COMMAND_CNTLID),
		PHRASE(" queue ", COMMAND_QUEUE),
		PHRASE(" cid ", COMMAND_CID),
		PHRASE(": ", COMMAND_LATENCY, .after = "\n", .style = LINE_CELL),
	};

	char text[LOCAL_TIME_LEN];

	LINE_PRINT(f, &command_columns, what, row);
	if (row->wall_ns)
		fprintf(f, "  at %s\n", local_time_format(text, row->wall_ns));
}

/*
 * A line of the diagram: which part of @width columns, the whole time, the stage took. Waits for
 * the other machine are empty, as that machine's lines show what it did. @mark: what it is made of
 */
static void print_bar(const struct point_row *row, int64_t whole, unsigned int width, char mark,
		      FILE *f)
{
	int64_t from = (int64_t)((uint64_t)row->at - (uint64_t)row->took), columns = (int64_t)width;
	int64_t first = whole > 0 ? (int64_t)((__int128)from * columns / whole) : 0;
	int64_t end = whole > 0 ? (int64_t)(((__int128)row->at * columns + whole - 1) / whole) : 0;

	first = first < 0 ? 0 : first >= columns ? columns - 1 : first;
	end = end > columns ? columns : end <= first ? first + 1 : end;
	fputs(" |", f);
	for (int64_t i = 0; i < columns; i++)
		fputc(row->has_took && !row->crosses && i >= first && i < end ? mark : ' ', f);
	fputs("|", f);
}

/* @mark: what its bar is made of; @cpu: width of a CPU, 0: none is known */
static void print_point(const struct point_row *row, int64_t whole, unsigned int bar, char mark,
			unsigned int cpu, FILE *f)
{
	static const struct phrase point[] = {
		PHRASE("  ", POINT_AT, .after = " us", .style = LINE_MICROSECONDS,
		       .width = AT_WIDTH),
	};
	static const struct phrase host[] = {
		PHRASE("  ", POINT_SIDE, .width = -6),
		PHRASE(" ", POINT_POINT, .width = -10),
	};
	/* Indent the target's points, to distinguish them from the host's. */
	static const struct phrase target[] = {
		PHRASE("    ", POINT_SIDE, .width = -6),
		PHRASE(" ", POINT_POINT, .width = -8),
	};
	static const struct phrase stage[] = {
		PHRASE(" ", POINT_STAGE, .width = -STAGE_WIDTH),
		PHRASE(" ", POINT_TOOK, .style = LINE_CELL, .width = TOOK_WIDTH),
	};

	LINE_PRINT(f, &point_columns, point, row);
	if (row->side == NT_HOST)
		LINE_PRINT(f, &point_columns, host, row);
	else
		LINE_PRINT(f, &point_columns, target, row);
	if (cpu && row->cpu != RECORD_NO_CPU)
		fprintf(f, " CPU %-*u", (int)cpu, row->cpu);
	else if (cpu)
		fprintf(f, "%*s", (int)cpu + 5, "");
	if (row->stage[0] && !row->crosses)
		LINE_PRINT(f, &point_columns, stage, row);
	else if (bar)
		fprintf(f, " %*s", STAGE_WIDTH + 1 + TOOK_WIDTH, "");
	if (bar)
		print_bar(row, whole, bar, mark, f);
	fputs("\n", f);
}

/* Prints how a command ended that was not answered. */
static void print_end(const struct slow_command *c, FILE *f)
{
	if (!(c->host.flags & NT_F_CANCELLED))
		return;
	fputs("  The host gave it up without an answer (timeout, reset or abort); the target ", f);
	if (c->alone)
		fputs("has no record\n  of it: it never arrived, or died with its connection.\n",
		      f);
	else if (c->target.flags & NT_F_CANCELLED)
		fputs("had it until its\n  connection closed: it died.\n", f);
	else if (c->target.points[NT_T_SEND])
		fputs("had sent one.\n", f);
	else
		fputs("had sent none.\n", f);
}

/* The width of the longest number of a CPU among points; 0: none is known. */
static unsigned int cpu_width(const struct point_row *points, unsigned int nr)
{
	unsigned int width = 0;

	for (unsigned int i = 0; i < nr; i++) {
		int n = points[i].cpu != RECORD_NO_CPU ? snprintf(NULL, 0, "%u", points[i].cpu) : 0;

		width = (unsigned int)n > width ? (unsigned int)n : width;
	}
	return width;
}

/* Where a side's points were on different CPUs: which, in the order of the points. */
static void story_cpus(const struct point_row *points, unsigned int nr, FILE *f)
{
	for (unsigned int side = 0; side < NT_SIDES; side++) {
		unsigned int before = RECORD_NO_CPU, moves = 0;

		for (unsigned int i = 0; i < nr; i++) {
			const struct point_row *p = &points[i];

			if (p->side != (enum nt_side)side || p->cpu == RECORD_NO_CPU)
				continue;
			if (before != RECORD_NO_CPU && p->cpu != before && !moves++)
				fprintf(f, "  the %s's points are on several CPUs: %u",
					side_name(p->side), before);
			if (before != RECORD_NO_CPU && p->cpu != before)
				fprintf(f, ", from %s on %u", point_name(p->side, p->point),
					p->cpu);
			before = p->cpu;
		}
		if (moves)
			fputs("\n", f);
	}
}

/* What it found to be sent on its connection. */
static void story_queued(const struct nt_record *host, FILE *f)
{
	const char *mutex;
	unsigned int nr;

	if (record_queued(host, &nr, &mutex))
		fprintf(f, "  %u%s before it on its connection's send list%s%s\n", nr,
			nr == NT_QUEUED_MOST ? " or more" : "",
			mutex ? ", and send_mutex was " : "", mutex ?: "");
}

/* The command that a target's disk of NVMe had for it. */
static void story_disk(const struct command_row *row, const char *disk, FILE *f)
{
	static const struct phrase command[] = {
		PHRASE(" it is the command of queue ", COMMAND_DISK_QUEUE),
		PHRASE(" with cid ", COMMAND_DISK_CID, .after = "\n"),
	};

	if (!row->disk)
		return;
	fputs("  at ", f);
	text_print(f, disk ?: "its disk", TEXT_HEX);
	LINE_PRINT(f, &command_columns, command, row);
}

static void story_stages(const struct command_line *l, FILE *f)
{
	static const struct phrase line[] = {
		PHRASE("  ", COMMAND_STAGE_STAGE, .width = -20),
		PHRASE(" ", COMMAND_STAGE_TIME, .after = " us", .style = LINE_MICROSECONDS,
		       .width = TIME_WIDTH),
		PHRASE("  ", COMMAND_STAGE_SHARE, .after = "\n", .style = LINE_CELL, .width = 7),
	};

	if (l->record[NT_TARGET] && !l->stages.split)
		fputs("  unsplit: not all of its stages are known\n", f);
	for (unsigned int i = 0; i < l->stages.nr; i++)
		LINE_PRINT(f, &command_stage_columns, line, &l->stages.row[i]);
}

unsigned int story_points(const struct slow_command *c, struct story_names *names,
			  struct point_row points[STORY_POINTS_MAX])
{
	uint64_t zero = c->host.points[NT_H_SUBMIT] ?: c->host.points[NT_H_QUEUE_RQ];
	uint64_t offset = connection_offset(&c->connection);
	unsigned int nr;

	for (int side = 0; side < NT_SIDES; side++)
		names_init(&names->side[side], (enum nt_side)side,
			   side == NT_HOST ? record_missing(&c->host, c->missing[side])
			   : c->alone	   ? c->missing[side]
					   : record_missing(&c->target, c->missing[side]));
	nr = points_from(points, &c->host, zero);
	if (!c->alone)
		nr += points_from(points + nr, &c->target, zero + offset);
	qsort(points, nr, sizeof(points[0]), by_time);
	for (unsigned int i = 0; i < nr; i++) {
		enum nt_side side = points[i].side;

		set_stage(&points[i], &names->side[side], side == NT_HOST ? &c->host : &c->target);
		points[i].first = !i;
		points[i].since =
			i ? (int64_t)((uint64_t)points[i].at - (uint64_t)points[i - 1].at) : 0;
	}
	return nr;
}

unsigned int story_points_of_side(const struct nt_record *r, uint32_t missing,
				  struct story_names *names, struct point_row points[NT_POINTS_MAX])
{
	struct story_side *n = &names->side[r->side];
	unsigned int nr = columns_points(points, r);

	names_init(n, (enum nt_side)r->side, record_missing(r, missing));
	qsort(points, nr, sizeof(points[0]), by_time);
	for (unsigned int i = 0; i < nr; i++) {
		set_stage(&points[i], n, r);
		points[i].first = !i;
		points[i].since =
			i ? (int64_t)((uint64_t)points[i].at - (uint64_t)points[i - 1].at) : 0;
	}
	return nr;
}

#define NOT_SENT INT64_MIN

/*
 * The network, each way: what arrives was sent by the other machine last. Together these times are
 * network_transmission, which has no points of its own. @row: its stage and time are set then.
 * @sent: [side] when it last sent, or NOT_SENT. Return: whether the point is such an arrival
 */
static bool set_network(struct point_row *row, int64_t sent[NT_SIDES])
{
	static const uint32_t sends[NT_SIDES] = {
		[NT_HOST] = 1u << NT_H_SEND_CMD | 1u << NT_H_SEND_DATA,
		[NT_TARGET] = 1u << NT_T_SEND_R2T | 1u << NT_T_SEND,
	};
	static const uint32_t arrivals[NT_SIDES] = {
		[NT_HOST] = NT_HOST_ARRIVALS, [NT_TARGET] = NT_TARGET_ARRIVALS};
	const enum nt_side other = row->side == NT_HOST ? NT_TARGET : NT_HOST;

	if (sends[row->side] & 1u << row->point)
		sent[row->side] = row->at;
	if (!(arrivals[row->side] & 1u << row->point) || sent[other] == NOT_SENT)
		return false;
	row->stage = row->side == NT_HOST ? "network to host" : "network to target";
	row->crosses = false;
	row->has_took = true;
	row->took = (int64_t)((uint64_t)row->at - (uint64_t)sent[other]);
	return true;
}

void story_print(const struct slow_command *c, const struct instant *clock, FILE *f,
		 unsigned int width)
{
	/* What a line has before its bar, and the bar's ends. */
	const unsigned int before =
		2 + AT_WIDTH + 3 + 2 + 6 + 1 + 10 + 1 + STAGE_WIDTH + 1 + TOOK_WIDTH + 3;
	struct point_row points[STORY_POINTS_MAX];
	int64_t sent[NT_SIDES] = {NOT_SENT, NOT_SENT};
	struct story_names names;
	unsigned int nr = story_points(c, &names, points), cpu = cpu_width(points, nr);
	int64_t whole = nr ? points[nr - 1].at : 0;
	struct command_line l;
	unsigned int bar = bar_width(width, before + (cpu ? cpu + 5 : 0), 0, GANTT_MAX);

	if (bar < GANTT_MIN)
		bar = 0;
	command_line_slow(&l, c, clock);
	story_what(&l.row, f);
	if (l.origin) {
		fputs(" ", f);
		origin_print(l.origin, f);
		fputs("\n", f);
	}
	for (unsigned int i = 0; i < nr; i++) {
		bool network = !c->alone && set_network(&points[i], sent);

		print_point(&points[i], whole, bar, network ? '-' : '=', cpu, f);
	}
	story_cpus(points, nr, f);
	story_queued(&c->host, f);
	print_end(c, f);
	story_disk(&l.row, c->disk, f);
	story_stages(&l, f);
}

/* What others did meanwhile. */

enum {
	BLOCKED_AHEAD,
	BLOCKED_OVERTOOK,
	BLOCKED_SENT,
	BLOCKED_TO_TARGET,
	BLOCKED_TO_HOST,
	BLOCKED_HANDLED,
	BLOCKED_ANSWERED,
	BLOCKED_DISK,
	BLOCKED_DISK_OTHERS,
	BLOCKED_DISK_MEAN,
	BLOCKED_DISK_UNKNOWN,
	BLOCKED_LOCAL_SHARE,
	BLOCKED_LOCAL,
};

static void get_disk_mean(const void *row, const struct column *c, struct value *v)
{
	const struct blocked *b = row;

	value_natural(v, b->disk ? b->disk_ns / b->disk : 0);
	v->none = !b->disk;
}

static void get_local_share(const void *row, const struct column *c, struct value *v)
{
	const struct blocked *b = row;

	value_real(v, b->use_ns ? (double)b->local_ns / (double)b->use_ns : 0);
	v->none = !b->use_ns;
}

static void get_local(const void *row, const struct column *c, struct value *v)
{
	const struct blocked *b = row;

	value_text(v, b->local);
	v->none = !b->local_ns;
}

#define OF_BLOCKED(member) COLUMN_FIELD(struct blocked, member)

static const struct column blocked[] = {
	[BLOCKED_AHEAD] = COLUMN("ahead", COUNT, OF_BLOCKED(ahead)),
	[BLOCKED_OVERTOOK] = COLUMN("overtook", COUNT, OF_BLOCKED(overtook)),
	[BLOCKED_SENT] = COLUMN("sent", COUNT, OF_BLOCKED(sent)),
	[BLOCKED_TO_TARGET] = {"bytes_to_target", "to target", .unit = UNIT_BYTES,
			       OF_BLOCKED(to_target)},
	[BLOCKED_TO_HOST] = {"bytes_to_host", "to host", .unit = UNIT_BYTES, OF_BLOCKED(to_host)},
	[BLOCKED_HANDLED] = COLUMN("handled", COUNT, OF_BLOCKED(handled)),
	[BLOCKED_ANSWERED] = COLUMN("answered", COUNT, OF_BLOCKED(answered)),
	[BLOCKED_DISK] = COLUMN("disk", COUNT, OF_BLOCKED(disk)),
	[BLOCKED_DISK_OTHERS] = {"disk_other_hosts", "disk, other hosts", .unit = UNIT_COUNT,
				 OF_BLOCKED(disk_others)},
	[BLOCKED_DISK_MEAN] = {"disk_mean", "disk, mean", .unit = UNIT_NANOSECONDS,
			       .get = get_disk_mean},
	[BLOCKED_DISK_UNKNOWN] = {"disk_unknown", "disk, unknown connections", .unit = UNIT_COUNT,
				  OF_BLOCKED(disk_unknown), .least = 1},
	[BLOCKED_LOCAL_SHARE] = {"disk_local_share", "disk, the target's own", .unit = UNIT_SHARE,
				 .get = get_local_share},
	[BLOCKED_LOCAL] = {"disk_local", "disk, most of its own", .unit = UNIT_TEXT,
			   .get = get_local},
};

const struct columns blocked_columns = COLUMNS("meanwhile", blocked);

void story_print_blocked(const struct blocked *b, bool target, FILE *f)
{
	static const struct phrase queue[] = {
		PHRASE("  meanwhile, of other commands: its queue ended ", BLOCKED_AHEAD,
		       .after = " that came before it"),
		PHRASE(", and ", BLOCKED_OVERTOOK, .after = " that came after it"),
		PHRASE("; its host sent ", BLOCKED_SENT, .after = " first"),
	};
	static const struct phrase way[] = {
		PHRASE("\n             on its connection before it: ", BLOCKED_TO_TARGET,
		       .after = " bytes of data to the target"),
		PHRASE(", ", BLOCKED_TO_HOST, .after = " to the host"),
	};
	static const struct phrase worker[] = {
		PHRASE("\n             the target's worker took ", BLOCKED_HANDLED,
		       .after = " first"),
		PHRASE(", and answered ", BLOCKED_ANSWERED),
		PHRASE("; its disk did ", BLOCKED_DISK),
	};
	static const struct phrase disk[] = {
		PHRASE(", of these ", BLOCKED_DISK_OTHERS, .after = " of other hosts"),
		PHRASE(", each in ", BLOCKED_DISK_MEAN, .style = LINE_CELL),
	};
	static const struct phrase unknown[] = {
		PHRASE("\n             it may have done ", BLOCKED_DISK_UNKNOWN,
		       .after = " more, of connections whose names are not known"),
	};
	static const struct phrase use[] = {
		PHRASE("\n             of its disk's time then, processes of the target itself had ",
		       BLOCKED_LOCAL_SHARE, .style = LINE_CELL),
	};
	static const struct phrase most[] = {
		PHRASE(", most of it ", BLOCKED_LOCAL),
	};

	if (!b)
		return;
	LINE_PRINT(f, &blocked_columns, queue, b);
	if (target && (b->to_target || b->to_host))
		LINE_PRINT(f, &blocked_columns, way, b);
	if (target)
		LINE_PRINT(f, &blocked_columns, worker, b);
	if (target && b->disk)
		LINE_PRINT(f, &blocked_columns, disk, b);
	if (target && b->disk_unknown)
		LINE_PRINT(f, &blocked_columns, unknown, b);
	if (target && b->use_ns)
		LINE_PRINT(f, &blocked_columns, use, b);
	if (target && b->local_ns)
		LINE_PRINT(f, &blocked_columns, most, b);
	fputs("\n", f);
}
