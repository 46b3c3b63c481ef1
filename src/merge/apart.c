// SPDX-License-Identifier: GPL-2.0-only
#include "merge/apart.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"

/* The levels of a value of a key: those of the cells that it is made of. */
struct value {
	const struct why_cell *cell;
	struct why_levels levels;
};

struct ranked {
	const struct value *value;
	uint64_t ns;
};

static int by_time(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->ns > y->ns) - (x->ns < y->ns);
}

static uint64_t typical_of(const struct value *v, unsigned int stage)
{
	const struct why_levels *l = &v->levels;
	uint64_t of = stage < NT_MERGED_STAGES_NR ? l->split : l->commands;

	return of ? nt_bucket_low((unsigned int)((l->level[stage] + of / 2) / of)) : 0;
}

/* Adds up the cells of each value. Return: how many values have commands enough. */
static unsigned int values_of(const struct why *w, enum why_op op, enum why_key key,
			      struct value value[WHY_CELLS])
{
	unsigned int nr = 0, enough = 0, at;

	for (unsigned int i = 0; i < w->nr_cells; i++) {
		const struct why_cell *cell = w->cell[i];

		if (cell->key != why_cells_of(key) || cell->op != op)
			continue;
		for (at = 0; at < nr && !why_same_value(key, value[at].cell, cell); at++)
			;
		if (at == nr)
			value[nr++] = (struct value){.cell = cell};
		why_levels_add(&value[at].levels, &cell->levels);
	}
	for (at = 0; at < nr; at++)
		if (value[at].levels.seen >= APART_COMMANDS_MIN)
			value[enough++] = value[at];
	return enough;
}

/* The stage in which one of the values is furthest from the others. Return: whether any is. */
static bool find(const struct value *value, unsigned int nr, struct apart *a)
{
	static const unsigned int latency = NT_MERGED_STAGES_NR;
	struct ranked *ranked = calloc(nr, sizeof(*ranked));
	double far = 0;

	for (unsigned int stage = 0; ranked && nr > 1 && stage <= latency; stage++) {
		const struct ranked *most = &ranked[nr - 1], *median = &ranked[(nr - 2) / 2];
		double all, excess;

		for (unsigned int i = 0; i < nr; i++)
			ranked[i] = (struct ranked){&value[i], typical_of(&value[i], stage)};
		qsort(ranked, nr, sizeof(*ranked), by_time);
		all = (double)typical_of(most->value, latency);
		excess = (double)most->ns - (double)median->ns;
		if ((double)most->ns < APART_TIMES * (double)median->ns ||
		    excess < APART_SHARE_MIN * all || excess <= far)
			continue;
		/* A stage says more than the latency that it makes longer. */
		if (stage == latency && far > 0)
			break;
		far = excess;
		a->cell = most->value->cell;
		a->stage = stage;
		a->typical_ns = most->ns;
		a->others_ns = median->ns;
		a->others = nr - 1;
	}
	free(ranked);
	return far > 0;
}

bool apart_of(const struct why *w, enum why_op op, struct apart *a)
{
	static const enum why_key keys[] = {WHY_ARRAY, WHY_CTRL, WHY_DEVICE, WHY_QUEUE};
	struct value *value = calloc(WHY_CELLS, sizeof(*value));
	double far = 0;

	a->key = WHY_KEYS_NR;
	for (unsigned int i = 0; value && i < ARRAY_SIZE(keys); i++) {
		struct apart found = {.key = keys[i]};
		double excess;

		if (!find(value, values_of(w, op, keys[i], value), &found))
			continue;
		excess = (double)(found.typical_ns - found.others_ns);
		if (excess <= APART_NARROWER * far)
			continue;
		far = excess;
		*a = found;
	}
	free(value);
	return a->key != WHY_KEYS_NR;
}
