/* SPDX-License-Identifier: GPL-2.0-only */
/* What happened to a host's controllers, as lines for people and as columns. */
#ifndef NTPROF_VIEW_PATH_EVENTS_H
#define NTPROF_VIEW_PATH_EVENTS_H

#include <json-c/json_object.h>
#include <stdio.h>

#include "core/path_events.h"
#include "core/stats.h"
#include "view/columns.h"

enum path_event_column {
	PATH_EVENT_AT,
	PATH_EVENT_CONTROLLER,
	PATH_EVENT_SUBSYSTEM,
	PATH_EVENT_KIND,
	PATH_EVENT_STATE,
	PATH_EVENT_ATTEMPTS,
	PATH_EVENT_QUEUES,
	PATH_EVENT_GROUP,
	PATH_EVENT_QUEUE,
	PATH_EVENT_COMMAND,
	PATH_EVENT_OPCODE,
};

/* Rows are struct nt_path_event. */
extern const struct columns path_event_columns;

/**
 * path_events_print() - print the last five, the newest first, with their age
 * @s: an interval that has just ended, or the whole run
 * @all: of the whole run, otherwise of the interval
 */
void path_events_print(const struct stats *s, bool all, FILE *f);

/**
 * struct path_line - an event of a recording
 * @after_ns: when, after the first command of the recording began
 * @machine: its name, from outside; "": there is only one
 */
struct path_line {
	const struct nt_path_event *e;
	int64_t after_ns;
	const char *machine;
};

/** struct path_lines - @nr of them, in the order of time after path_lines_sort() */
struct path_lines {
	struct path_line *line;
	size_t nr;
};

void path_lines_sort(struct path_lines *p);

/**
 * path_lines_print() - print those from number @from on that are before @until_ns
 *
 * Return: number of the first one that is not.
 */
size_t path_lines_print(const struct path_lines *p, size_t from, int64_t until_ns, FILE *f);

/** path_lines_print_last() - print the last ones, and how many there are; @input: from outside */
void path_lines_print_last(const struct path_lines *p, const char *input, FILE *f);

/** path_events_json() - those from number @from on, as an array */
struct json_object *path_events_json(const struct path_events *p, size_t from);

#endif /* NTPROF_VIEW_PATH_EVENTS_H */
