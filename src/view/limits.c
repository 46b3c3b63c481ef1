// SPDX-License-Identifier: GPL-2.0-only
#include "view/limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "view/columns_queues.h"
#include "view/lines.h"

#define FIELD(member) COLUMN_FIELD(struct limit_row, member)

static const struct column limit[] = {
	[LIMIT_LIMIT] = COLUMN("limit", NAME, FIELD(limit)),
	[LIMIT_GROUP] = COLUMN("group", TEXT, FIELD(group)),
	[LIMIT_THROUGHPUT] = {"throughput", "MB/s", .unit = UNIT_BYTES_PER_SECOND,
			      FIELD(throughput)},
	[LIMIT_MOST] = {"most", "limit MB/s", .unit = UNIT_BYTES_PER_SECOND, FIELD(most)},
	[LIMIT_SHARE] = {"share", "of limit", .unit = UNIT_SHARE, FIELD(share)},
	[LIMIT_IS_NEAR] = COLUMN("near", FLAG, FIELD(near)),
	[LIMIT_TIMES] = {"times_near", "times near", .unit = UNIT_COUNT, FIELD(times)},
	[LIMIT_INTERVALS] = COLUMN("intervals", COUNT, FIELD(intervals)),
};

const struct columns limit_columns = COLUMNS("limits", limit);

/* Return: the group's row, new if there was none; NULL without memory. */
static struct limit_row *group_of(struct limits *l, const char *limit, const char *group,
				  double most)
{
	struct limit_row *row;

	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->row[i].limit, limit) && !strcmp(l->row[i].group, group))
			return &l->row[i];
	row = ARRAY_INSERT(l->row, l->nr, l->nr);
	if (!row)
		return NULL;
	*row = (struct limit_row){.limit = limit, .most = most};
	snprintf(row->group, sizeof(row->group), "%s", group);
	return row;
}

/* Return: 0 or -ENOMEM. */
static int add(struct limits *l, enum nt_op op, const char *controller, double throughput)
{
	static const char *const directions[] = {"writes", "reads"};
	struct limit_row *r;

	if (l->network > 0) {
		/* All operations but reads send data in the other direction. */
		r = group_of(l, "network", directions[op == NT_OP_READ], l->network);
		if (!r)
			return -ENOMEM;
		r->throughput += throughput;
	}
	if (l->drive > 0) {
		r = group_of(l, "drive", controller[0] ? controller : "all", l->drive);
		if (!r)
			return -ENOMEM;
		r->throughput += throughput;
	}
	return 0;
}

static void begin(struct limits *l)
{
	for (size_t i = 0; i < l->nr; i++)
		l->row[i].throughput = 0;
}

/* @summary: of the whole run, which does not count as an interval */
static void mark(struct limits *l, bool summary)
{
	for (size_t i = 0; i < l->nr; i++) {
		struct limit_row *r = &l->row[i];

		r->share = r->throughput / r->most;
		r->near = r->share >= LIMIT_NEAR;
		r->times += r->near && !summary;
		r->intervals = l->intervals;
	}
}

static int update(struct limits *l, const struct stats *s, bool summary)
{
	struct queue_row q = {.row = NULL};
	int err = 0;

	begin(l);
	while (!err && columns_queues_next(&q, s, summary))
		err = add(l, q.row->op, q.row->controller,
			  q.unknown ? 0 : (double)q.all.bytes * q.per_second);
	mark(l, summary);
	return err;
}

int limits_groups(struct limits *l, const struct groups *g)
{
	double every = (double)groups_how(g)->every_ns / 1e9, seconds;
	size_t nr = groups_rows(g);
	struct group_row r, next;
	int err = 0;

	groups_total(g, &r);
	seconds = r.seconds > every ? r.seconds : every;
	begin(l);
	for (size_t i = 0; !err && i < nr; i++) {
		groups_row(g, i, &r);
		if (r.cell)
			err = add(l, r.name->op, r.name->ctrl,
				  (double)r.cell->stand_for_bytes / every);
		if (i + 1 < nr)
			groups_row(g, i + 1, &next);
		if (i + 1 < nr && next.from_ns == r.from_ns)
			continue;
		l->intervals++;
		mark(l, false);
		begin(l);
	}
	for (size_t i = 0; !err && i < nr; i++) {
		groups_row(g, i, &r);
		if (r.cell)
			err = add(l, r.name->op, r.name->ctrl,
				  (double)r.cell->stand_for_bytes / seconds);
	}
	mark(l, true);
	return err;
}

int limits_interval(struct limits *l, const struct stats *s)
{
	if (!limits_any(l))
		return 0;
	l->intervals++;
	return update(l, s, false);
}

int limits_summary(struct limits *l, const struct stats *s)
{
	return limits_any(l) ? update(l, s, true) : 0;
}

void limits_print_interval(const struct limits *l, FILE *f)
{
	static const struct phrase near[] = {
		PHRASE("near its limit: ", LIMIT_LIMIT, .style = LINE_CELL),
		PHRASE(" ", LIMIT_GROUP, .style = LINE_CELL),
		PHRASE(", ", LIMIT_THROUGHPUT, .style = LINE_CELL),
		PHRASE(" of ", LIMIT_MOST, .style = LINE_CELL),
		PHRASE(" MB/s (", LIMIT_SHARE, .style = LINE_CELL, .after = ")\n"),
	};

	for (size_t i = 0; i < l->nr; i++)
		if (l->row[i].near)
			LINE_PRINT(f, &limit_columns, near, &l->row[i]);
}

void limits_print_summary(const struct limits *l, FILE *f)
{
	static const struct phrase line[] = {
		PHRASE("limit ", LIMIT_LIMIT), PHRASE(" ", LIMIT_GROUP),
		PHRASE(" ", LIMIT_THROUGHPUT), PHRASE(" ", LIMIT_MOST),
		PHRASE(" ", LIMIT_TIMES),      PHRASE(" ", LIMIT_INTERVALS),
	};
	static const struct phrase times[] = {
		PHRASE("  # within 90 % of its limit in ", LIMIT_TIMES),
		PHRASE(" of ", LIMIT_INTERVALS, .after = " interval", .plural = true),
	};
	static const struct phrase whole[] = {
		PHRASE("  # within 90 % of its limit over the whole run: ", LIMIT_SHARE,
		       .style = LINE_CELL),
	};

	for (size_t i = 0; i < l->nr; i++) {
		const struct limit_row *r = &l->row[i];

		LINE_PRINT(f, &limit_columns, line, r);
		if (r->near)
			LINE_PRINT(f, &limit_columns, whole, r);
		else if (r->times)
			LINE_PRINT(f, &limit_columns, times, r);
		fputs("\n", f);
	}
}

struct json_object *limits_json(const struct limits *l)
{
	struct json_object *rows = json_array();

	for (size_t i = 0; i < l->nr; i++)
		json_append(rows, json_row(&limit_columns, &l->row[i]));
	return rows;
}

void limits_free(struct limits *l)
{
	free(l->row);
	l->row = NULL;
	l->nr = 0;
}
