/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The histogram of a group, in the buckets that the user has asked for (--min-latency,
 * --bucket-shift).
 */
#ifndef NTPROF_VIEW_GROUP_HISTOGRAMS_H
#define NTPROF_VIEW_GROUP_HISTOGRAMS_H

#include <stdio.h>

#include "view/columns_groups.h"
#include "view/json.h"

/**
 * struct canvas - where a histogram is drawn: the output, its columns, and whether bars are Unicode
 * blocks
 */
struct canvas {
	FILE *f;
	unsigned int width;
	bool unicode;
};

/**
 * group_histogram_print() - print a group's name and its histogram; nothing if it has no commands
 */
void group_histogram_print(const struct queue_row *q, const struct group_table *t,
			   const struct group_choice *c, const struct canvas *canvas);

/**
 * group_histogram_json() - an array with [from, to, commands] for every bucket that is not empty
 */
struct json_object *group_histogram_json(const struct hist *h, const struct scale *s);

#endif /* NTPROF_VIEW_GROUP_HISTOGRAMS_H */
