// SPDX-License-Identifier: GPL-2.0-only
#include "merge/groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/names.h"
#include "core/segments.h"
#include "core/time.h"

/*
 * Adds a command to those of a group that are in flight. Return: 1, 0 if there is no room, or
 * -ENOMEM.
 */
static int begins(struct flights_group *g, const struct flight *c, struct flights_seen *seen)
{
	const struct flights_end end = {c->end, c->bytes};

	while (g->nr && g->end[0].ns <= c->begin) {
		const struct flights_end last = g->end[--g->nr];

		g->bytes -= g->end[0].bytes;
		heap_down(g->end, g->nr, 0, &last, sizeof(last), NULL);
	}
	if (g->nr == FLIGHTS_OF_GROUP_MAX)
		return 0;
	if (!ARRAY_INSERT(g->end, g->nr, g->nr))
		return -ENOMEM;
	heap_up(g->end, g->nr - 1, &end, sizeof(end), NULL);
	g->bytes += c->bytes;
	seen->count++;
	seen->sum += g->nr;
	if (g->nr > seen->most)
		seen->most = g->nr;
	return 1;
}

static int tell(struct flights *f, const struct flight *c)
{
	int told = begins(&f->all, c, f->seen), told_too;

	if (told < 0)
		return told;
	told_too = begins(c->group, c, c->seen);
	if (told_too > 0 && f->told)
		f->told(f->context, c, c->group);
	f->late += !told || !told_too;
	return told_too < 0 ? told_too : 0;
}

/* Counts the waiting command that began first. */
static int pop(struct flights *f)
{
	struct flight first = f->wait[0], moved = f->wait[--f->nr];

	heap_down(f->wait, f->nr, 0, &moved, sizeof(moved), NULL);
	f->frontier = first.begin;
	return tell(f, &first);
}

int flights_add(struct flights *f, const struct flight *command)
{
	unsigned int most = f->most ?: FLIGHTS_MAX;
	int err = 0;

	if (command->begin < f->frontier) {
		f->late++;
		return 0;
	}
	if (!f->wait)
		f->wait = malloc(most * sizeof(*f->wait));
	if (!f->wait)
		return -ENOMEM;
	if (f->nr == most)
		err = pop(f);
	if (err)
		return err;
	if (command->begin < f->frontier) {
		f->late++;
		return 0;
	}
	heap_up(f->wait, f->nr++, command, sizeof(*command), NULL);
	return 0;
}

int flights_until(struct flights *f, uint64_t ns)
{
	int err = 0;

	while (!err && f->nr && f->wait[0].begin < ns)
		err = pop(f);
	return err;
}

int flights_finish(struct flights *f)
{
	int err = 0;

	while (!err && f->nr)
		err = pop(f);
	return err;
}

void flights_free(struct flights *f)
{
	free(f->wait);
	flights_group_free(&f->all);
	*f = (struct flights){.nr = 0};
}

void flights_group_free(struct flights_group *g)
{
	free(g->end);
	*g = (struct flights_group){.nr = 0};
}

#define SECOND_NS 1000000000ULL
/* A minute and some: more is allocated by doubling. */
#define SECONDS_FIRST 64u

/* A group in an interval; without intervals there is one, number 0. */
struct cell_key {
	const struct group *group;
	uint64_t interval;
};

struct cell {
	struct cell_key key;
	struct group_cell c;
	UT_hash_handle hh;
};

/**
 * struct group - one group
 * @at: its place in the order of names
 * @recent: the cell that was counted in last
 * @kin: groups that differ in the path alone have the same number
 */
struct group {
	struct group_name name;
	size_t at;
	struct flights_group in_flight;
	struct group_seconds seconds;
	struct cell *recent;
	size_t kin;
};

/* @cell: NULL: no commands; @all_paths: commands of all groups of its kin in the interval */
struct row {
	const struct group *group;
	const struct group_cell *cell;
	uint64_t interval;
	uint64_t all_paths;
};

struct groups {
	struct grouping how;
	struct group_rows rows; /* struct group */
	struct cell *cells;	/* hash table */
	size_t nr_cells;
	size_t nr_pieces;     /* of cells */
	uint64_t first, last; /* intervals that have commands */
	struct flights flights;
	struct flights_group others_in_flight;
	struct group_seconds others_seconds;
	struct group_seconds total_seconds;
	size_t nr_seconds; /* of all of them */
	bool in_bursts;
	struct group_name total_name;
	struct group_name others_name;
	struct group_cell total;
	struct group_cell others;
	struct row *row;
	size_t nr_rows;
	uint64_t left_out;
	uint64_t from_ns;
	uint64_t to_ns;
	double seconds;
};

/* Pieces of cells, of all groups that there are: each recording that is shown alone has its own. */
static size_t pieces_taken;

struct groups *groups_new(const struct grouping *how)
{
	struct groups *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->how = *how;
	g->rows = (struct group_rows){.by = how->by, .most = GROUPS_MAX};
	g->total_name.kind = GROUP_TOTAL;
	g->others_name.kind = GROUP_OTHERS;
	g->total_name.op = g->others_name.op = NT_OPS_NR;
	g->first = UINT64_MAX;
	g->flights.seen = &g->total.in_flight;
	return g;
}

const struct grouping *groups_how(const struct groups *g)
{
	return &g->how;
}

static void cell_clear(struct group_cell *c)
{
	for (size_t i = 0; i < GROUP_PIECES; i++)
		free(c->piece[i]);
}

void groups_free(struct groups *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->rows.nr; i++) {
		flights_group_free(&((struct group *)g->rows.row[i])->in_flight);
		free(((struct group *)g->rows.row[i])->seconds.count);
	}
	free(g->others_seconds.count);
	free(g->total_seconds.count);
	group_rows_free(&g->rows);
	for (struct cell *cell = g->cells; cell; cell = cell->hh.next)
		cell_clear(&cell->c);
	pieces_taken -= g->nr_pieces;
	hash_free(g->cells);
	flights_group_free(&g->others_in_flight);
	flights_free(&g->flights);
	cell_clear(&g->total);
	cell_clear(&g->others);
	free(g->row);
	free(g);
}

static int cell_new(struct groups *g, const struct cell_key *key, unsigned int hash,
		    struct cell **made)
{
	struct cell *cell = calloc(1, sizeof(*cell));

	if (!cell)
		return -ENOMEM;
	cell->key = *key;
	HASH_ADD_BYHASHVALUE(hh, g->cells, key, sizeof(*key), hash, cell);
	if (!hash_kept(cell))
		return -ENOMEM;
	g->nr_cells++;
	if (key->interval < g->first)
		g->first = key->interval;
	if (key->interval > g->last)
		g->last = key->interval;
	*made = cell;
	return 0;
}

/*
 * The cell of a group at a time. Return: NULL where there is no room, or, with *@err set, when
 * memory ran out.
 */
static struct group_cell *cell_get(struct groups *g, struct group *group, uint64_t after_ns,
				   int *err)
{
	const struct cell_key key = {group, g->how.every_ns ? after_ns / g->how.every_ns : 0};
	unsigned int hash = hash_pair((uintptr_t)group, key.interval);
	struct cell *cell = group->recent;

	if (cell && cell->key.interval == key.interval)
		return &cell->c;
	HASH_FIND_BYHASHVALUE(hh, g->cells, &key, sizeof(key), hash, cell);
	if (!cell && g->nr_cells < GROUP_CELLS_MAX)
		*err = cell_new(g, &key, hash, &cell);
	if (!cell)
		return NULL;
	group->recent = cell;
	return &cell->c;
}

/* Adds commands to a second. Return: 0 or -ENOMEM */
static int second_add(struct groups *g, struct group_seconds *s, uint64_t second, uint32_t commands)
{
	size_t nr = s->nr ?: SECONDS_FIRST;

	while (nr <= second && nr < GROUP_SECONDS_MAX)
		nr *= 2;
	if (second >= nr || nr - s->nr > GROUP_SECONDS_MAX - g->nr_seconds) {
		s->past = true;
		return 0;
	}
	if (nr > s->nr) {
		uint32_t *count = reallocarray(s->count, nr, sizeof(*count));

		if (!count)
			return -ENOMEM;
		memset(count + s->nr, 0, (nr - s->nr) * sizeof(*count));
		g->nr_seconds += nr - s->nr;
		s->count = count;
		s->nr = nr;
	}
	s->count[second] += commands;
	return 0;
}

static int seconds_merge(struct groups *g, struct group_seconds *to,
			 const struct group_seconds *from)
{
	int err = 0;

	to->past |= from->past;
	for (size_t i = from->nr; !err && i-- > 0;)
		if (from->count[i])
			err = second_add(g, to, i, from->count[i]);
	return err;
}

static int by_count(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

bool group_lows_rate(const struct group_lows *l, uint32_t parts, uint32_t *rate)
{
	uint64_t nr = l->of && l->to > l->from ? l->to - l->from : 0, rank, none;
	uint32_t rest = parts < HIST_PARTS / 2 ? parts : HIST_PARTS - parts, *sorted;
	size_t some;

	if (!rest || nr < (HIST_PARTS + rest - 1) / rest)
		return false;
	rank = (uint64_t)(((unsigned __int128)nr * parts + HIST_PARTS - 1) / HIST_PARTS);
	some = l->of->nr > l->from ? l->of->nr - l->from : 0;
	some = some < nr ? some : nr;
	none = nr - some;
	*rate = 0;
	if (rank <= none)
		return true;
	sorted = malloc(some * sizeof(*sorted));
	if (!sorted)
		return false;
	memcpy(sorted, l->of->count + l->from, some * sizeof(*sorted));
	qsort(sorted, some, sizeof(*sorted), by_count);
	*rate = sorted[rank - none - 1];
	free(sorted);
	return true;
}

static void stages_add(struct group_stages *to, const struct group_split *split)
{
	to->of = split->of;
	to->commands++;
	for (unsigned int i = 0; i < split->nr; i++) {
		if (split->into[i] >= NT_MERGED_STAGES_NR)
			continue;
		to->joined[split->into[i]] |= 1u << i;
		if (split->into[i] == i)
			to->sum[i] += split->ns[i];
	}
}

static void stages_merge(struct group_stages *to, const struct group_stages *from)
{
	if (!from->commands)
		return;
	to->of = from->of;
	to->commands += from->commands;
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR; i++) {
		to->joined[i] |= from->joined[i];
		to->sum[i] += from->sum[i];
	}
}

const char *group_stages_name(const struct group_stages *s, unsigned int stage, char *buf,
			      size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < NT_MERGED_STAGES_NR && used < size; i++)
		if (s->joined[stage] & 1u << i)
			used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? "+" : "",
						 s->of == NT_SIDES ? merged_stage_name(i)
								   : stage_name(s->of, i));
	return buf;
}

static uint64_t **piece_of(struct group_cell *cell, const struct group_command *c)
{
	return &cell->piece[nt_bucket(c->latency) / NT_SUB_BUCKETS];
}

/* Whether the piece that a command is counted in is there, or may be made. */
static bool piece_take(struct groups *g, struct group_cell *cell, const struct group_command *c)
{
	if (c->failed || *piece_of(cell, c))
		return true;
	if (pieces_taken == GROUP_PIECES_MAX)
		return false;
	g->nr_pieces++;
	pieces_taken++;
	return true;
}

static int cell_add(struct group_cell *cell, const struct group_command *c)
{
	unsigned int bucket = nt_bucket(c->latency);
	uint64_t **piece = piece_of(cell, c);

	if (c->failed) {
		cell->failed++;
		return 0;
	}
	if (!*piece)
		*piece = calloc(NT_SUB_BUCKETS, sizeof(**piece));
	if (!*piece)
		return -ENOMEM;
	(*piece)[bucket % NT_SUB_BUCKETS]++;
	if (!cell->count || c->latency < cell->min)
		cell->min = c->latency;
	if (c->latency > cell->max)
		cell->max = c->latency;
	cell->count++;
	cell->sum += c->latency;
	if (c->split)
		stages_add(&cell->stages, c->split);
	cell->bytes += c->bytes;
	cell->stand_for += c->stands_for;
	cell->stand_for_bytes += (uint64_t)c->bytes * c->stands_for;
	return 0;
}

/* Adds all but what was seen in flight. Return: 0 or -ENOMEM */
static int cell_merge(struct group_cell *to, const struct group_cell *from)
{
	if (from->count && (!to->count || from->min < to->min))
		to->min = from->min;
	if (from->max > to->max)
		to->max = from->max;
	to->count += from->count;
	to->sum += from->sum;
	to->bytes += from->bytes;
	to->failed += from->failed;
	to->stand_for += from->stand_for;
	to->stand_for_bytes += from->stand_for_bytes;
	stages_merge(&to->stages, &from->stages);
	for (unsigned int i = 0; i < GROUP_PIECES; i++) {
		if (from->piece[i] && !to->piece[i])
			to->piece[i] = calloc(NT_SUB_BUCKETS, sizeof(*to->piece[i]));
		if (from->piece[i] && !to->piece[i])
			return -ENOMEM;
		for (unsigned int k = 0; from->piece[i] && k < NT_SUB_BUCKETS; k++)
			to->piece[i][k] += from->piece[i][k];
	}
	return 0;
}

/* The total is what all cells add up to: counting it with each command would take as long again. */
static int make_total(struct groups *g)
{
	int err = cell_merge(&g->total, &g->others);

	for (const struct cell *cell = g->cells; !err && cell; cell = cell->hh.next)
		err = cell_merge(&g->total, &cell->c);
	for (size_t i = 0; !err && g->how.seconds && i < g->rows.nr; i++)
		err = seconds_merge(g, &g->total_seconds,
				    &((struct group *)g->rows.row[i])->seconds);
	return err ?: seconds_merge(g, &g->total_seconds, &g->others_seconds);
}

int groups_add(struct groups *g, const struct group_name *name, const struct group_command *c)
{
	struct flight flight = {.begin = c->at_ns, .end = c->at_ns + c->latency};
	struct group *group = group_row(&g->rows, name, sizeof(*group));
	struct group_cell *cell = NULL;
	int err = group || errno == ENOSPC ? 0 : -ENOMEM;

	if (group)
		cell = cell_get(g, group, c->after_ns, &err);
	if (err)
		return err;
	if (cell && !piece_take(g, cell, c))
		cell = NULL;
	flight.group = cell ? &group->in_flight : &g->others_in_flight;
	cell = cell ?: &g->others;
	flight.seen = &cell->in_flight;
	if (cell_add(cell, c))
		return -ENOMEM;
	if (g->how.seconds && !c->failed &&
	    second_add(g, cell == &g->others ? &g->others_seconds : &group->seconds,
		       c->after_ns / SECOND_NS, 1))
		return -ENOMEM;
	return c->latency ? flights_add(&g->flights, &flight) : 0;
}

static struct group_name *name_at(void *context, size_t i)
{
	const struct group_rows *rows = context;

	return rows->row[i];
}

static int by_time(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->interval != y->interval)
		return x->interval < y->interval ? -1 : 1;
	return x->group->at < y->group->at ? -1 : x->group->at > y->group->at;
}

/*
 * Makes the rows, also those without commands, unless there are too many: an interval in which
 * nothing happened is worth knowing.
 */
static int make_rows(struct groups *g)
{
	uint64_t intervals = g->nr_cells ? g->last - g->first + 1 : 0, all;
	size_t nr = g->rows.nr;
	bool many = __builtin_mul_overflow(intervals, nr, &all);
	bool dense = !many && all <= GROUP_CELLS_MAX;

	g->nr_rows = dense ? (size_t)all : 0;
	g->row = calloc((dense ? (size_t)all : g->nr_cells) + 1, sizeof(*g->row));
	if (!g->row)
		return -ENOMEM;
	for (size_t i = 0; i < g->nr_rows; i++)
		g->row[i] = (struct row){g->rows.row[i % nr], NULL, g->first + i / nr, 0};
	for (const struct cell *cell = g->cells; cell; cell = cell->hh.next) {
		const struct group *group = cell->key.group;
		uint64_t interval = cell->key.interval;
		size_t at = dense ? (interval - g->first) * nr + group->at : g->nr_rows++;

		g->row[at] = (struct row){group, &cell->c, interval, 0};
	}
	if (!dense)
		qsort(g->row, g->nr_rows, sizeof(*g->row), by_time);
	g->left_out = many ? UINT64_MAX : all - g->nr_rows;
	return 0;
}

static int by_rest(const void *a, const void *b, void *rest)
{
	const struct group *const *x = a, *const *y = b;

	return group_name_order(&(*x)->name, &(*y)->name, rest);
}

/* Groups with a path, in the order of what else they are. Return: 0 or -ENOMEM */
static int find_kin(struct groups *g)
{
	struct group **sorted = calloc(g->rows.nr + 1, sizeof(struct group *));
	struct group_by rest = {.nr = 0};

	if (!sorted)
		return -ENOMEM;
	/* A path belongs to one controller. */
	for (unsigned int i = 0; i < g->how.by.nr; i++)
		if (g->how.by.key[i] != GROUP_PATH && g->how.by.key[i] != GROUP_CTRL)
			rest.key[rest.nr++] = g->how.by.key[i];
	for (size_t i = 0; i < g->rows.nr; i++)
		sorted[i] = g->rows.row[i];
	if (g->rows.nr)
		qsort_r(sorted, g->rows.nr, sizeof(struct group *), by_rest, &rest);
	for (size_t i = 1; i < g->rows.nr; i++)
		sorted[i]->kin =
			sorted[i - 1]->kin +
			(group_name_order(&sorted[i - 1]->name, &sorted[i]->name, &rest) != 0);
	free(sorted);
	return 0;
}

/* Rows are in the order of their intervals. Return: 0 or -ENOMEM */
static int add_up_paths(struct groups *g)
{
	uint64_t *sum = calloc(g->rows.nr + 1, sizeof(*sum));
	size_t next;
	int err = sum ? find_kin(g) : -ENOMEM;

	for (size_t i = 0; !err && i < g->nr_rows; i = next) {
		for (next = i; next < g->nr_rows && g->row[next].interval == g->row[i].interval;
		     next++)
			if (g->row[next].cell)
				sum[g->row[next].group->kin] += g->row[next].cell->stand_for;
		for (size_t k = i; k < next; k++)
			g->row[k].all_paths = sum[g->row[k].group->kin];
		for (size_t k = i; k < next; k++)
			sum[g->row[k].group->kin] = 0;
	}
	free(sum);
	return err;
}

int groups_finish(struct groups *g, uint64_t from_ns, uint64_t to_ns, uint64_t measured_ns)
{
	int err = flights_finish(&g->flights);

	g->from_ns = from_ns;
	g->to_ns = to_ns;
	g->seconds = to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : 0;
	g->in_bursts = measured_ns;
	if (measured_ns)
		g->seconds = (double)measured_ns / 1e9;
	for (size_t i = 0; i < g->rows.nr; i++)
		((struct group *)g->rows.row[i])->at = i;
	group_names_tell_apart(name_at, &g->rows, g->rows.nr);
	err = err ?: make_total(g) ?: make_rows(g);
	return !err && group_has(&g->how.by, GROUP_PATH) ? add_up_paths(g) : err;
}

size_t groups_nr(const struct groups *g)
{
	return g->rows.nr;
}

const struct group_name *groups_name(const struct groups *g, size_t i)
{
	return g->rows.row[i];
}

size_t groups_rows(const struct groups *g)
{
	return g->nr_rows;
}

/* Return: the length of an interval, without what lies outside the recording. */
static double seconds_of(const struct groups *g, uint64_t from, uint64_t to)
{
	if (from < g->from_ns)
		from = g->from_ns;
	if (to > g->to_ns)
		to = g->to_ns;
	return to > from ? (double)(to - from) / 1e9 : 0;
}

/* The whole seconds between two times. */
static struct group_lows lows_of(const struct groups *g, const struct group_seconds *s,
				 const struct group_cell *cell, uint64_t from, uint64_t to)
{
	bool known = g->how.seconds && !g->in_bursts && !s->past &&
		     (!cell || cell->stand_for == cell->count);

	return (struct group_lows){
		.of = known ? s : NULL,
		.from = from / SECOND_NS + !!(from % SECOND_NS),
		.to = to / SECOND_NS,
	};
}

void groups_row(const struct groups *g, size_t i, struct group_row *r)
{
	const struct row *row = &g->row[i];
	uint64_t every = g->how.every_ns, from = g->from_ns, to = g->to_ns;

	*r = (struct group_row){
		.name = &row->group->name,
		.cell = row->cell,
		.all_paths = row->all_paths,
		.has_from = every,
		.from_ns = row->interval * every,
		.seconds = g->seconds,
	};
	if (every) {
		uint64_t end = ns_add(r->from_ns, every);

		r->seconds = seconds_of(g, r->from_ns, end);
		from = r->from_ns > from ? r->from_ns : from;
		to = end < to ? end : to;
	}
	r->lows = lows_of(g, &row->group->seconds, row->cell, from, to);
}

void groups_total(const struct groups *g, struct group_row *r)
{
	*r = (struct group_row){.name = &g->total_name, .cell = &g->total, .seconds = g->seconds};
	r->lows = lows_of(g, &g->total_seconds, r->cell, g->from_ns, g->to_ns);
}

bool groups_others(const struct groups *g, struct group_row *r)
{
	*r = (struct group_row){.name = &g->others_name, .cell = &g->others, .seconds = g->seconds};
	r->lows = lows_of(g, &g->others_seconds, r->cell, g->from_ns, g->to_ns);
	return g->others.count || g->others.failed;
}

uint64_t groups_left_out(const struct groups *g)
{
	return g->left_out;
}

uint64_t groups_late(const struct groups *g)
{
	return g->flights.late;
}

void group_cell_hist(const struct group_cell *c, struct hist *h)
{
	memset(h, 0, sizeof(*h));
	hist_account(h, c->count, c->sum, c->bytes, c->max);
	for (unsigned int i = 0; i < GROUP_PIECES; i++)
		for (unsigned int k = 0; c->piece[i] && k < NT_SUB_BUCKETS; k++)
			if (i * NT_SUB_BUCKETS + k < NT_BUCKETS)
				h->buckets[i * NT_SUB_BUCKETS + k] = c->piece[i][k];
}

/* @next, @next_failed, @next_seen: of the current interval, which is not over yet. */
struct live_group {
	struct live_groups_row shown;
	struct hist next;
	uint64_t next_failed;
	struct flights_seen next_seen;
	struct flights_group in_flight;
};

struct live_groups {
	struct group_rows rows; /* struct live_group */
	struct live_group others;
	bool any_others;
	struct live_group all; /* only what its commands saw in flight is used */
	struct flights flights;
	uint64_t
		/* nothing that began before this was in flight at the end of the last interval */
		told_until;
};

struct live_groups *live_groups_new(const struct group_by *by)
{
	struct live_groups *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->rows = (struct group_rows){.by = *by, .most = LIVE_GROUPS_MAX};
	t->others.shown.name.kind = GROUP_OTHERS;
	t->others.shown.name.op = NT_OPS_NR;
	t->flights.seen = &t->all.next_seen;
	return t;
}

static void group_free(struct live_group *g)
{
	flights_group_free(&g->in_flight);
	recent_free(g->shown.row.recent);
}

void live_groups_free(struct live_groups *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->rows.nr; i++)
		group_free(t->rows.row[i]);
	group_rows_free(&t->rows);
	group_free(&t->others);
	flights_free(&t->flights);
	free(t);
}

int live_groups_add(struct live_groups *t, const struct group_name *name, const struct nt_record *r)
{
	bool well = !(r->flags & NT_F_CANCELLED) && !status_is_error(r->status);
	uint64_t latency = record_latency_ns(r), begin = record_begin_ns(r);
	unsigned int bucket = nt_bucket(latency);
	struct flight flight = {.begin = begin, .end = ns_add(begin, latency)};
	struct live_group *g = group_row(&t->rows, name, sizeof(*g));

	if (!g && errno != ENOSPC)
		return -ENOMEM;
	if (!g) {
		t->any_others = true;
		g = &t->others;
	}
	flight.group = &g->in_flight;
	flight.seen = &g->next_seen;
	if (latency && flights_add(&t->flights, &flight))
		return -ENOMEM;
	/*
	 * The latency of a failed command counts only in groups by status, as in groups of recorded
	 * commands.
	 */
	if (!well && (!latency || !group_has(&t->rows.by, GROUP_STATUS))) {
		g->next_failed++;
		g->shown.failed_total++;
		return 0;
	}
	hist_count_in(&g->next, bucket, latency);
	hist_count_in(&g->shown.row.total, bucket, latency);
	g->next.bytes += r->length;
	g->shown.row.total.bytes += r->length;
	return 0;
}

/* Moves the new numbers in flight to the last interval, and adds them to the run. */
static void group_seen(struct live_group *g)
{
	struct flights_seen *total = &g->shown.seen_total, *next = &g->next_seen;

	total->count += next->count;
	total->sum += next->sum;
	if (next->most > total->most)
		total->most = next->most;
	g->shown.seen_interval = *next;
	*next = (struct flights_seen){.count = 0};
}

static void group_interval(struct live_group *g)
{
	struct hist *shown = &g->shown.row.interval;

	group_seen(g);
	g->shown.failed_interval = g->next_failed;
	g->next_failed = 0;
	if (hist_empty(shown) && hist_empty(&g->next))
		return;
	*shown = g->next;
	memset(&g->next, 0, sizeof(g->next));
}

/* When the oldest command began that is in flight; if there is none, the time of the look. */
static uint64_t oldest_began(const struct stats *s)
{
	uint64_t oldest = 0;

	for (size_t i = 0; i < s->nr_rows; i++)
		if (s->rows[i]->waiting.oldest_ns > oldest)
			oldest = s->rows[i]->waiting.oldest_ns;
	return s->looked_ns > oldest ? s->looked_ns - oldest : 0;
}

int live_groups_interval(struct live_groups *t, const struct stats *s)
{
	int err = flights_until(&t->flights, t->told_until);

	t->told_until = oldest_began(s);
	for (size_t i = 0; i < t->rows.nr; i++)
		group_interval(t->rows.row[i]);
	group_interval(&t->others);
	group_seen(&t->all);
	return err;
}

int live_groups_remember(struct live_groups *t, const struct stats *s, uint64_t now)
{
	const uint64_t ns = (uint64_t)(s->seconds * 1e9);
	int err = recent_add(&t->others.shown.row.recent, &t->others.shown.row.interval, now, ns);

	for (size_t i = 0; !err && i < t->rows.nr; i++) {
		struct stats_row *row = &((struct live_group *)t->rows.row[i])->shown.row;

		err = recent_add(&row->recent, &row->interval, now, ns);
	}
	return err;
}

int live_groups_finish(struct live_groups *t)
{
	int err = flights_finish(&t->flights);

	for (size_t i = 0; i < t->rows.nr; i++)
		group_seen(t->rows.row[i]);
	group_seen(&t->others);
	group_seen(&t->all);
	return err;
}

const struct flights_seen *live_groups_seen(const struct live_groups *t, bool summary)
{
	return summary ? &t->all.shown.seen_total : &t->all.shown.seen_interval;
}

uint64_t live_groups_late(const struct live_groups *t)
{
	return t->flights.late;
}

size_t live_groups_nr(const struct live_groups *t)
{
	return t->rows.nr + t->any_others;
}

const struct live_groups_row *live_groups_row(const struct live_groups *t, size_t i)
{
	const struct live_group *g = i < t->rows.nr ? t->rows.row[i] : &t->others;

	return &g->shown;
}
