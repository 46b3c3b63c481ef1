/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The series of rows: a bounded number of label sets, in the order in which they came, and one for all that came later.
 * Who has a series of its own keeps it, so that no counter falls because another row has come.
 */
#ifndef NTPROF_SERVE_SERIES_H
#define NTPROF_SERVE_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/errors.h"
#include "core/stats.h"
#include "serve/exposition.h"

/* What a scraper keeps for long; a histogram is 30 samples. Those of rows, and those of errors. */
#ifndef SERIES_MAX
#define SERIES_MAX 256
#endif

/* In place of a controller, and of all that is not known of a series that is of several rows. */
#define SERIES_OTHER "other"

struct series_table;

/**
 * struct series - what rows of the same labels come to
 * @labels: of exposition_label()
 * @told: histogram, which only grows
 * @now: as of the last collection; zeroed by series_begin()
 */
struct series {
	char *labels;
	struct exposition_hist told;
	struct {
		struct exposition_hist hist;
		struct workload all;
		struct waiting waiting;
		struct exposition_exemplar slow;
		uint64_t errors;
	} now;
};

/** series_new() - none yet, and that of the others; NULL when memory ran out */
struct series_table *series_new(const char *labels_of_others);

/** series_begin() - zero what is of one collection */
void series_begin(struct series_table *t);

/** series_get() - the one of @labels, or that of the others where there are too many. NULL when memory ran out */
struct series *series_get(struct series_table *t, const char *labels);

/** series_folded() - how many different label sets the others are of */
size_t series_folded(const struct series_table *t);

/**
 * series_next() - one after the other, in the order in which they came; that of the others is last, and only there if it
 * is of something
 * @at: 0 at first
 *
 * Return: NULL after the last one.
 */
const struct series *series_next(const struct series_table *t, size_t *at);

/** series_free() - release; NULL is fine */
void series_free(struct series_table *t);

#endif /* NTPROF_SERVE_SERIES_H */
