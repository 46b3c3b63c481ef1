// SPDX-License-Identifier: GPL-2.0-only
#include "merge/flights.h"

#include <errno.h>
#include <stdlib.h>

static void ends_down(struct flights_group *g)
{
	uint64_t moved = g->end[g->nr];
	unsigned int at = 0, child;

	while ((child = 2 * at + 1) < g->nr) {
		if (child + 1 < g->nr && g->end[child + 1] < g->end[child])
			child++;
		if (g->end[child] >= moved)
			break;
		g->end[at] = g->end[child];
		at = child;
	}
	g->end[at] = moved;
}

static void ends_up(struct flights_group *g, uint64_t end)
{
	unsigned int at = g->nr++;

	for (; at && g->end[(at - 1) / 2] > end; at = (at - 1) / 2)
		g->end[at] = g->end[(at - 1) / 2];
	g->end[at] = end;
}

/*
 * Adds a command to those of a group that are in flight. Return: 1, 0 if there is no room, or
 * -ENOMEM.
 */
static int begins(struct flights_group *g, const struct flight *c, struct flights_seen *seen)
{
	while (g->nr && g->end[0] <= c->begin) {
		g->nr--;
		ends_down(g);
	}
	if (g->nr == g->room) {
		unsigned int room = g->room ? 2 * g->room : 64;
		uint64_t *end;

		if (g->room >= FLIGHTS_OF_GROUP_MAX)
			return 0;
		end = reallocarray(g->end, room, sizeof(*end));
		if (!end)
			return -ENOMEM;
		g->end = end;
		g->room = room;
	}
	ends_up(g, c->end);
	seen->count++;
	seen->sum += g->nr;
	if (g->nr > seen->most)
		seen->most = g->nr;
	return 1;
}

static int tell(struct flights *f, const struct flight *c)
{
	int told = begins(c->group[0], c, c->seen[0]), told_too;

	if (told < 0)
		return told;
	told_too = begins(c->group[1], c, c->seen[1]);
	f->late += !told || !told_too;
	return told_too < 0 ? told_too : 0;
}

/* Counts the waiting command that began first. */
static int pop(struct flights *f)
{
	struct flight first = f->wait[0], moved = f->wait[--f->nr];
	unsigned int at = 0, child;

	while ((child = 2 * at + 1) < f->nr) {
		if (child + 1 < f->nr && f->wait[child + 1].begin < f->wait[child].begin)
			child++;
		if (f->wait[child].begin >= moved.begin)
			break;
		f->wait[at] = f->wait[child];
		at = child;
	}
	f->wait[at] = moved;
	f->frontier = first.begin;
	return tell(f, &first);
}

int flights_add(struct flights *f, const struct flight *command)
{
	unsigned int at;
	int err = 0;

	if (command->begin < f->frontier) {
		f->late++;
		return 0;
	}
	if (!f->wait)
		f->wait = malloc(FLIGHTS_MAX * sizeof(*f->wait));
	if (!f->wait)
		return -ENOMEM;
	if (f->nr == FLIGHTS_MAX)
		err = pop(f);
	if (err)
		return err;
	if (command->begin < f->frontier) {
		f->late++;
		return 0;
	}
	at = f->nr++;
	for (; at && f->wait[(at - 1) / 2].begin > command->begin; at = (at - 1) / 2)
		f->wait[at] = f->wait[(at - 1) / 2];
	f->wait[at] = *command;
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
	*f = (struct flights){.nr = 0};
}

void flights_group_free(struct flights_group *g)
{
	free(g->end);
	*g = (struct flights_group){.nr = 0};
}
