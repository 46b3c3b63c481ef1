// SPDX-License-Identifier: GPL-2.0-only
#include "view/columns_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "core/text.h"

#define NS_PER_US 1000ULL

static uint64_t from_of(const struct scale *s, unsigned int bucket)
{
	if (bucket < 2)
		return bucket ? s->min_ns : 0;
	return s->min_ns + (NS_PER_US << (s->shift + bucket - 2));
}

static uint64_t middle_of(const struct hist *h, unsigned int bucket)
{
	uint64_t low = nt_bucket_low(bucket), middle = low;

	if (bucket != NT_OVERFLOW_BUCKET)
		middle += (nt_bucket_low(bucket + 1) - low) / 2;
	return middle < h->max ? middle : h->max;
}

unsigned int scale_count(const struct scale *s, const struct hist *h,
			 struct scale_row row[SCALE_BUCKETS])
{
	unsigned int first = SCALE_BUCKETS, last = 0, at = 0;

	memset(row, 0, SCALE_BUCKETS * sizeof(*row));
	for (unsigned int i = 0; i < SCALE_BUCKETS; i++) {
		row[i].from = from_of(s, i);
		row[i].endless = i == SCALE_BUCKETS - 1;
		row[i].to = row[i].endless ? UINT64_MAX : from_of(s, i + 1);
	}
	for (unsigned int i = 0; i < NT_BUCKETS; i++) {
		if (!h->buckets[i])
			continue;
		while (at < SCALE_BUCKETS - 1 && middle_of(h, i) >= row[at].to)
			at++;
		row[at].commands += h->buckets[i];
		first = at < first ? at : first;
		last = at;
	}
	if (first == SCALE_BUCKETS)
		return 0;
	memmove(row, row + first, (last - first + 1) * sizeof(*row));
	return last - first + 1;
}

void scale_accumulate(struct scale_row *row, unsigned int nr)
{
	uint64_t all = 0, below = 0, thousandths;

	for (unsigned int i = 0; i < nr; i++)
		all += row[i].commands;
	for (unsigned int i = 0; i < nr; i++) {
		below += row[i].commands;
		/* Rounded down: 100 % is every command. */
		thousandths = all ? below * 1000 / all : 0;
		row[i].cumulative = (double)thousandths / 1000;
	}
}

static void get_to(const void *row, const struct column *c, struct value *v)
{
	const struct scale_row *r = row;

	if (r->endless)
		value_text(v, "inf");
	else
		value_natural(v, r->to);
}

static const struct column scale[] = {
	[SCALE_FROM] = COLUMN("from", NANOSECONDS, COLUMN_FIELD(struct scale_row, from)),
	[SCALE_TO] = COLUMN("to", NANOSECONDS, .get = get_to),
	[SCALE_COMMANDS] = COLUMN("commands", COUNT, COLUMN_FIELD(struct scale_row, commands)),
	[SCALE_CUMULATIVE] =
		COLUMN("cumulative", SHARE, COLUMN_FIELD(struct scale_row, cumulative)),
};

const struct columns scale_columns = COLUMNS("scale", scale);

/*
 * Different spellings of a percentile get the same name, such as "p99_9", and the same title, such
 * as "p99.9".
 */
static void percentile_name(struct figure *f)
{
	bool low = f->kind == FIGURE_LOW;
	unsigned int whole = f->parts / HIST_PARTS_OF_PERCENT % 100;
	unsigned int rest = f->parts % HIST_PARTS_OF_PERCENT;
	int digits = HIST_PERCENT_DIGITS;

	for (; rest && rest % 10 == 0; rest /= 10)
		digits--;
	snprintf(f->name, sizeof(f->name), rest ? "%sp%u_%0*u" : "%sp%u", low ? "iops_" : "", whole,
		 digits, rest);
	snprintf(f->title, sizeof(f->title), rest ? "%sp%u.%0*u" : "%sp%u", low ? "iops-" : "",
		 whole, digits, rest);
}

static const char *figure_add(void *context, char *word)
{
	struct figures *f = context;
	static const char *const names[] = {
		[FIGURE_MEAN] = "mean", [FIGURE_MIN] = "min", [FIGURE_MAX] = "max"};
	static const char low[] = "iops-";
	struct figure new = {.kind = FIGURE_PERCENTILE};

	for (unsigned int i = 0; i < FIGURE_PERCENTILE; i++) {
		if (strcmp(names[i], word) != 0)
			continue;
		new.kind = (enum figure_kind)i;
		snprintf(new.name, sizeof(new.name), "%s", names[i]);
		snprintf(new.title, sizeof(new.title), "%s", names[i]);
	}
	if (new.kind == FIGURE_PERCENTILE) {
		if (!strncmp(word, low, strlen(low))) {
			new.kind = FIGURE_LOW;
			word += strlen(low);
		}
		new.parts = hist_parts_parse(word);
		if (!new.parts)
			return "there are mean, min, max, and percentiles above p0 and below p100, such as "
			       "p99.9 and iops-p1";
		percentile_name(&new);
	}
	for (unsigned int i = 0; i < f->nr; i++)
		if (!strcmp(f->figure[i].name, new.name))
			return "one is there twice";
	if (f->nr == FIGURES_MAX)
		return "too many, the most are 12";
	f->figure[f->nr++] = new;
	return NULL;
}

const char *figures_parse(struct figures *f, const char *text)
{
	return words_each(text, figure_add, f);
}

/* @arg of a key's column: the key, and these bits: */
#define ARG_TEXT 0x100u	 /* the value is for text output */
#define ARG_FIRST 0x200u /* the first key; in text it shows the kind of the row */

static const char *const kinds[] = {
	[GROUP_ONE] = "group", [GROUP_OTHERS] = "others", [GROUP_TOTAL] = "total"};

static void get_kind(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;

	value_text(v, kinds[q->group->kind]);
}

static void get_status(const struct group_name *name, struct value *v)
{
	bool fabrics = name->status & GROUP_STATUS_FABRICS;
	const char *text;

	if (name->cancelled) {
		value_text(v, "cancelled");
		return;
	}
	text = status_name(fabrics ? NT_OP_FABRICS : NT_OP_OTHER, name->status & NT_STATUS_MASK);
	if (name->status & NT_STATUS_MASK && !strcmp(text, "unknown")) {
		snprintf(v->buf, sizeof(v->buf), "0x%03x", name->status & NT_STATUS_MASK);
		text = v->buf;
	}
	value_text(v, text);
}

/* Different opcodes without a name of their own are different groups. */
static void get_opcode(const struct group_name *name, struct value *v)
{
	enum nt_op op = name->opcode & GROUP_OPCODE_FABRICS ? NT_OP_FABRICS
			: name->opcode & GROUP_OPCODE_ADMIN ? NT_OP_ADMIN
							    : NT_OP_OTHER;
	uint8_t number = name->opcode & 0xff;
	const char *text = opcode_name(op, number, number);

	if (!strcmp(text, "reserved") || !strcmp(text, "vendor_specific")) {
		snprintf(v->buf, sizeof(v->buf), "%s%s_0x%02x",
			 op == NT_OP_OTHER ? "" : op_name(op), op == NT_OP_OTHER ? text : "",
			 number);
		text = v->buf;
	}
	value_text(v, text);
}

/* A class of sizes, such as "<=4k". */
static void get_size_class(const struct group_name *name, struct value *v)
{
	static const char units[] = "\0kMG";
	uint32_t n = name->size;
	unsigned int unit = 0;

	for (; n && n % 1024 == 0; n /= 1024)
		unit++;
	snprintf(v->buf, sizeof(v->buf), "%s%u%.1s",
		 name->size_is == GROUP_SIZE_ABOVE ? ">" : "<=", n, units + unit);
	value_text(v, v->buf);
}

/* The NQN is shown whole, or only its end. */
static void get_nqn(const char *nqn, unsigned int twin, bool whole, struct value *v)
{
	if (whole)
		value_text(v, nqn);
	else
		value_text(v, group_name_short(v->buf, nqn, twin));
	v->none = !nqn[0];
}

static bool no_cpu(const void *row)
{
	return ((const struct queue_row *)row)->group->cpu == ORIGIN_NO_CPU;
}

static bool no_pid(const void *row)
{
	return !((const struct queue_row *)row)->group->pid;
}

#define KEY(member) COLUMN_AT(struct queue_row, group, member)

/* Keys that are members of the name. */
static const struct column keys[GROUP_KEYS_NR] = {
	[GROUP_CTRL] = {KEY(ctrl), .least = 1},
	[GROUP_QUEUE] = {KEY(queue)},
	[GROUP_OP] = {KEY(op), .words = WORD_OP},
	[GROUP_SIZE] = {KEY(size)},
	[GROUP_NSID] = {KEY(nsid)},
	[GROUP_SOURCE] = {KEY(source), .least = 1},
	[GROUP_DEVICE] = {KEY(device), .least = 1},
	[GROUP_PATH] = {KEY(path), .least = 1},
	[GROUP_CGROUP] = {KEY(cgroup), .least = 1},
	[GROUP_CPU] = {KEY(cpu), .none = no_cpu},
	[GROUP_PID] = {KEY(pid), .none = no_pid},
	[GROUP_COMM] = {KEY(comm), .least = 1},
	[GROUP_CONTAINER] = {KEY(container), .least = 1},
};

static void get_key(const void *row, const struct column *c, struct value *v)
{
	const struct group_name *name = ((const struct queue_row *)row)->group;
	unsigned int key = c->arg & ~(ARG_TEXT | ARG_FIRST);

	if (name->kind != GROUP_ONE) {
		value_text(v, kinds[name->kind]);
		v->none = !(c->arg & ARG_FIRST) || !(c->arg & ARG_TEXT);
	} else if (key == GROUP_NQN) {
		get_nqn(name->nqn, name->nqn_twin, !(c->arg & ARG_TEXT), v);
	} else if (key == GROUP_HOST) {
		get_nqn(name->host, name->host_twin, !(c->arg & ARG_TEXT), v);
	} else if (key == GROUP_STATUS) {
		get_status(name, v);
	} else if (key == GROUP_OPCODE) {
		get_opcode(name, v);
	} else if (key == GROUP_SIZE && name->size_is != GROUP_SIZE_EXACT) {
		get_size_class(name, v);
	} else if (key == GROUP_QUEUE && name->shared) {
		value_text(v, "all");
	} else {
		columns_copy(row, &keys[key], v);
	}
}

static bool no_from(const void *row)
{
	return !((const struct queue_row *)row)->has_from;
}

static void get_min(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;

	value_natural(v, q->min ?: hist_min(q->base.h));
	v->none = !q->base.h->count;
}

static void get_seen_mean(const void *row, const struct column *c, struct value *v)
{
	const struct flights_seen *s = ((const struct queue_row *)row)->seen;

	value_real(v, s && s->count ? (double)s->sum / (double)s->count : 0);
	v->none = !s || !s->count;
}

/* The longest stage of a group that has any. Return: NULL if none is known. */
static const __int128 *longest(const struct queue_row *q)
{
	const struct group_stages *s = q->stages;
	const __int128 *most = NULL;

	for (unsigned int i = 0; s && i < NT_MERGED_STAGES_NR; i++)
		if (s->joined[i] && (!most || s->sum[i] > *most))
			most = &s->sum[i];
	return most && *most > 0 ? most : NULL;
}

static void get_longest(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;
	const __int128 *most = longest(q);

	v->none = !most;
	value_text(v, "");
	if (most)
		value_text(v, group_stages_name(q->stages, (unsigned int)(most - q->stages->sum),
						v->buf, sizeof(v->buf)));
}

static void get_longest_share(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;
	const __int128 *most = longest(q);

	v->none = !most || q->latency <= 0;
	value_real(v, v->none ? 0 : (double)*most / q->latency);
}

/* Of the commands that could have taken each of the paths. */
static void get_path_share(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;

	v->none = !q->all_paths;
	value_real(v, v->none ? 0 : (double)q->all.commands / (double)q->all_paths);
}

static const struct {
	enum unit unit;
	const char *brief;
} key_units[GROUP_KEYS_NR] = {
	[GROUP_CTRL] = {UNIT_TEXT, NULL},   [GROUP_NQN] = {UNIT_TEXT, NULL},
	[GROUP_HOST] = {UNIT_TEXT, NULL},   [GROUP_QUEUE] = {UNIT_NUMBER, "qid"},
	[GROUP_OP] = {UNIT_NAME, NULL},	    [GROUP_SIZE] = {UNIT_BYTES, NULL},
	[GROUP_NSID] = {UNIT_NUMBER, NULL}, [GROUP_STATUS] = {UNIT_NAME, NULL},
	[GROUP_SOURCE] = {UNIT_TEXT, NULL}, [GROUP_DEVICE] = {UNIT_TEXT, NULL},
	[GROUP_PATH] = {UNIT_TEXT, NULL},   [GROUP_CGROUP] = {UNIT_TEXT, NULL},
	[GROUP_CPU] = {UNIT_NUMBER, NULL},  [GROUP_PID] = {UNIT_NUMBER, NULL},
	[GROUP_COMM] = {UNIT_TEXT, NULL},   [GROUP_CONTAINER] = {UNIT_TEXT, NULL},
	[GROUP_OPCODE] = {UNIT_NAME, NULL},
};

static bool saw_none(const void *row)
{
	const struct queue_row *q = row;

	return !q->seen || !q->seen->most;
}

static const struct column row_kind = COLUMN("row", NAME, .get = get_kind);
static const struct column from = {"from_seconds", "from", .unit = UNIT_SECONDS,
				   COLUMN_FIELD(struct queue_row, from_ns), .none = no_from};
static const struct column failed =
	COLUMN("failed", COUNT, .brief = "fail", COLUMN_FIELD(struct queue_row, failed));
/* Number of commands in flight when a command began, including that command. */
static const struct column seen_mean = {"mean_in_flight", "depth", .unit = UNIT_COUNT,
					.get = get_seen_mean};
static const struct column seen_most = {"max_in_flight",
					"deepest",
					.brief = "deep",
					.unit = UNIT_COUNT,
					COLUMN_AT(struct queue_row, seen, most),
					.least = 1,
					.none = saw_none};

static const struct column longest_stage = {"longest_stage", "most time in", .unit = UNIT_NAME,
					    .get = get_longest};
static const struct column longest_share = {"longest_share", "share", .unit = UNIT_SHARE,
					    .get = get_longest_share};

static const struct column path_share = {"path_share", "of paths", .unit = UNIT_SHARE,
					 .get = get_path_share};

static unsigned char add(struct group_table *t, const struct column *c)
{
	t->column[t->columns.nr] = *c;
	return (unsigned char)t->columns.nr++;
}

static unsigned char add_queue(struct group_table *t, enum queue_column c)
{
	return add(t, &queue_columns.column[c]);
}

static void add_keys(struct group_table *t, const struct group_by *by, bool text)
{
	for (unsigned int i = 0; i < by->nr; i++) {
		enum group_key key = (enum group_key)by->key[i];
		bool class = key == GROUP_SIZE && by->nr_bounds;
		struct column c = {
			.name = group_key_column(by, key),
			.title = group_key_name(key),
			.brief = key_units[key].brief,
			.unit = class ? UNIT_NAME : key_units[key].unit,
			.get = get_key,
			.arg = key | (text ? ARG_TEXT : 0) | (i ? 0 : ARG_FIRST),
		};

		add(t, &c);
	}
}

unsigned int figures_columns(struct column *column, const struct figures *f,
			     const figure_getter get[FIGURE_KINDS])
{
	for (unsigned int i = 0; i < f->nr; i++)
		column[i] = (struct column){
			.name = f->figure[i].name,
			.title = f->figure[i].title,
			.unit = f->figure[i].kind == FIGURE_LOW ? UNIT_PER_SECOND
								: UNIT_NANOSECONDS,
			.get = get[f->figure[i].kind],
			.arg = f->figure[i].parts,
		};
	return f->nr;
}

void figures_usual(struct figures *f)
{
	if (!f->nr)
		figures_parse(f, "mean,p50,p99,max");
}

const struct figure *figures_low(const struct figures *f)
{
	for (unsigned int i = 0; i < f->nr; i++)
		if (f->figure[i].kind == FIGURE_LOW)
			return &f->figure[i];
	return NULL;
}

void figures_of_latency(struct figures *f)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < f->nr; i++)
		if (f->figure[i].kind != FIGURE_LOW)
			f->figure[nr++] = f->figure[i];
	f->nr = nr;
	figures_usual(f);
}

static void get_low(const void *row, const struct column *c, struct value *v)
{
	const struct queue_row *q = row;
	uint32_t rate = 0;

	v->none = !group_lows_rate(&q->lows, c->arg, &rate);
	value_real(v, rate);
}

static void add_figures(struct group_table *t)
{
	static const figure_getter get[] = {
		[FIGURE_MEAN] = columns_hist_mean,
		[FIGURE_MIN] = get_min,
		[FIGURE_MAX] = columns_hist_max,
		[FIGURE_PERCENTILE] = columns_hist_percentile,
		[FIGURE_LOW] = get_low,
	};

	t->columns.nr += figures_columns(t->column + t->columns.nr, &t->figures, get);
}

/*
 * Records exist only for commands that have ended, so they do not show what is in flight now. The
 * table has the numbers that commands saw in flight when they began.
 */
static void add_tallied(struct group_table *t, bool text)
{
	unsigned char throughput, mean;

	add_queue(t, QUEUE_COMMANDS);
	if (!text)
		add_queue(t, QUEUE_MEASURED);
	t->dispensable[t->nr_dispensable++] = add(t, &failed);
	add_queue(t, QUEUE_IOPS);
	throughput = add_queue(t, QUEUE_THROUGHPUT);
	mean = add(t, &seen_mean);
	t->dispensable[t->nr_dispensable++] = add(t, &seen_most);
	t->dispensable[t->nr_dispensable++] = throughput;
	t->dispensable[t->nr_dispensable++] = mean;
}

static void add_live(struct group_table *t, bool text, bool summary)
{
	if (!text || summary)
		add_queue(t, QUEUE_COMMANDS);
	if (!text)
		add_queue(t, QUEUE_MEASURED);
	add_queue(t, QUEUE_IOPS);
	t->dispensable[t->nr_dispensable++] = add_queue(t, QUEUE_THROUGHPUT);
	if (!text || summary)
		t->dispensable[t->nr_dispensable++] = add_queue(t, QUEUE_IN_FLIGHT);
	/* Nothing in the kernel counts the commands in flight when a command begins. */
	if (!text)
		add(t, &seen_most);
	if (!text || !summary)
		add_queue(t, QUEUE_WAITING);
	t->dispensable[t->nr_dispensable++] = add_queue(t, QUEUE_OLDEST);
}

static void add_recorded(struct group_table *t, const struct group_by *by, bool none_failed)
{
	unsigned char fail, iops, mean, most, throughput;

	add_queue(t, QUEUE_COMMANDS);
	if (group_has(by, GROUP_PATH))
		add(t, &path_share);
	fail = add(t, &failed);
	iops = add_queue(t, QUEUE_IOPS);
	throughput = add_queue(t, QUEUE_THROUGHPUT);
	mean = add(t, &seen_mean);
	most = add(t, &seen_most);
	t->dispensable[t->nr_dispensable++] = most;
	t->dispensable[t->nr_dispensable++] = mean;
	t->dispensable[t->nr_dispensable++] = throughput;
	if (none_failed)
		t->dispensable[t->nr_dispensable++] = fail;
	t->dispensable[t->nr_dispensable++] = iops;
}

void group_table_make(struct group_table *t, const struct group_choice *c, enum groups_for what,
		      bool summary, bool none_failed)
{
	bool text = what == GROUPS_FOR_LIVE_TEXT || what == GROUPS_FOR_REPORT_TEXT;
	bool live = what == GROUPS_FOR_LIVE_TEXT || what == GROUPS_FOR_LIVE;

	memset(t, 0, sizeof(*t));
	t->columns.name = "groups";
	t->columns.column = t->column;
	t->figures = c->figures;
	figures_usual(&t->figures);
	if (what == GROUPS_FOR_REPORT || (!live && !c->grouping.by.nr))
		add(t, &row_kind);
	if (c->grouping.every_ns)
		add(t, &from);
	t->first_key = t->columns.nr;
	add_keys(t, &c->grouping.by, text);
	if (live && c->live_groups)
		add_tallied(t, text);
	else if (live)
		add_live(t, text, summary);
	else
		add_recorded(t, &c->grouping.by, none_failed);
	add_figures(t);
	/* Those of a live view's records are not added up by group. */
	if (!live || !c->live_groups) {
		unsigned char stage = add(t, &longest_stage), share = add(t, &longest_share);

		t->dispensable[t->nr_dispensable++] = share;
		t->dispensable[t->nr_dispensable++] = stage;
	}
}

void group_table_show(struct table *shown, const struct group_table *t)
{
	*shown = (struct table){
		.columns = &t->columns,
		.dispensable = t->dispensable,
		.nr_dispensable = t->nr_dispensable,
	};
	for (unsigned int i = 0; i < t->columns.nr; i++)
		table_add(shown, i, NULL, 0);
}

void columns_groups_row(struct queue_row *q, struct hist *h, const struct group_row *r)
{
	static const struct group_cell none;
	const struct group_cell *cell = r->cell ?: &none;

	group_cell_hist(cell, h);
	*q = (struct queue_row){
		.base = {.h = h, .op = r->name->op},
		.all = {.commands = cell->stand_for, .bytes = cell->stand_for_bytes},
		.index = QUEUE_ROW_OWN,
		.per_second = r->seconds > 0 ? 1 / r->seconds : 0,
		.group = r->name,
		/* A sample does not contain all commands that were in flight. */
		.seen = cell->stand_for == cell->count ? &cell->in_flight : NULL,
		.stages = cell->stages.commands ? &cell->stages : NULL,
		.latency = (double)cell->sum,
		.min = cell->min,
		.failed = cell->failed,
		.all_paths = r->all_paths,
		.from_ns = r->from_ns,
		.has_from = r->has_from,
		.lows = r->lows,
	};
}
