// SPDX-License-Identifier: GPL-2.0-only
#include "serve/path_series.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "serve/series.h"

/* A controller has some ten: 25 controllers. Each takes as much as its labels have room. */
#ifndef PATH_SERIES_MAX
#define PATH_SERIES_MAX 256
#endif

/*
 * @names: length of the labels up to the controller's names
 * @last: number of its last event, of all
 * @over: the controller was deleted, or another one has its number
 */
struct path_count {
	char labels[EXPOSITION_LABELS_LEN];
	size_t names;
	unsigned int instance;
	uint64_t n;
	uint64_t created_ms;
	uint64_t last;
	bool over;
};

/**
 * struct path_series - all series
 * @count: @nr, PATH_SERIES_MAX at most. One of a controller that is over gives way to another, and
 *         what it counted is added to @gone.
 * @others: events for which there is no series
 * @began_ms: when counting began; @since_ms, @now_ms: when the last interval did, and ended
 */
struct path_series {
	const char *side_label;
	struct path_count *count;
	size_t nr;
	uint64_t others;
	uint64_t gone;
	uint64_t lost;
	uint64_t taken; /* &path_events.total then */
	uint64_t counted;
	uint64_t began_ms;
	uint64_t since_ms;
	uint64_t now_ms;
};

struct path_series *path_series_new(const char *side_label, uint64_t now_ms)
{
	struct path_series *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->side_label = side_label;
	t->began_ms = t->now_ms = now_ms;
	return t;
}

/* Return: length of those up to the controller's names */
static size_t labels_make(const struct path_series *t, char *labels, const char *controller,
			  const char *subsysnqn, const char *event, const char *state)
{
	size_t names;

	snprintf(labels, EXPOSITION_LABELS_LEN, "%s", t->side_label);
	exposition_label(labels, "controller", controller);
	exposition_label(labels, "subsysnqn", subsysnqn);
	names = strlen(labels);
	exposition_label(labels, "event", event);
	exposition_label(labels, "state", state ?: "");
	return names;
}

static bool is_last(const struct nt_path_event *e)
{
	return e->kind == NT_PATH_STATE &&
	       (e->state == NT_PATH_DELETING || e->state == NT_PATH_DELETING_NOIO ||
		e->state == NT_PATH_DEAD);
}

/* Return: the place of a new series, or NULL: there is no room */
static struct path_count *place_for(struct path_series *t)
{
	struct path_count *first = NULL;

	if (t->nr < PATH_SERIES_MAX)
		return ARRAY_INSERT(t->count, t->nr, t->nr);
	for (size_t i = 0; i < t->nr; i++)
		if (t->count[i].over && (!first || t->count[i].last < first->last))
			first = &t->count[i];
	if (first)
		t->gone += first->n;
	return first;
}

/* Names that are shown alike are one series: a page must not have one twice. */
static void count_event(struct path_series *t, const struct nt_path_event *e)
{
	struct path_count *of = NULL, new = {.instance = e->instance, .created_ms = t->since_ms};
	char controller[32];

	snprintf(controller, sizeof(controller), "nvme%u", e->instance);
	new.names = labels_make(t, new.labels, controller, series_own_name(e->subsysnqn),
				path_event_name(e->kind), path_event_state(e));
	for (size_t i = 0; i < t->nr; i++) {
		struct path_count *c = &t->count[i];

		if (c->instance != e->instance)
			continue;
		c->over = is_last(e) || c->names != new.names ||
			  memcmp(c->labels, new.labels, new.names) != 0;
		if (!strcmp(c->labels, new.labels))
			of = c;
	}
	if (!of) {
		of = place_for(t);
		if (of)
			*of = new;
	}
	if (!of) {
		t->others++;
		return;
	}
	of->n++;
	of->last = ++t->counted;
	of->over = is_last(e);
}

void path_series_take(struct path_series *t, const struct path_events *p, uint64_t now_ms)
{
	const uint64_t new = p->total - t->taken;
	const size_t kept = new < p->nr ? (size_t) new : p->nr;

	t->since_ms = t->now_ms;
	t->now_ms = now_ms;
	t->others += new - kept;
	for (size_t i = p->nr - kept; i < p->nr; i++)
		count_event(t, path_events_at(p, i));
	t->taken = p->total;
	t->lost = p->lost;
}

static void put_rest(const struct path_series *t, const struct exposition *e, const char *name,
		     uint64_t n)
{
	char labels[EXPOSITION_LABELS_LEN];

	labels_make(t, labels, name, name, name, "");
	if (n)
		exposition_value(e, labels, n);
}

void path_series_put(const struct path_series *t, struct exposition *e)
{
	struct exposition of;

	if (!t->taken && !t->lost)
		return;
	exposition_begin(e, METRIC_PATH_EVENTS);
	of = *e;
	for (size_t i = 0; i < t->nr; i++) {
		of.created_ms = t->count[i].created_ms;
		exposition_value(&of, t->count[i].labels, t->count[i].n);
	}
	of.created_ms = t->began_ms;
	put_rest(t, &of, SERIES_OTHER, t->others);
	put_rest(t, &of, SERIES_GONE, t->gone);
	exposition_begin(e, METRIC_PATH_EVENTS_LOST);
	exposition_value(e, t->side_label, t->lost);
}

void path_series_free(struct path_series *t)
{
	if (t)
		free(t->count);
	free(t);
}
