/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of a block, which is what the view shows of an interval or of the whole run. One file
 * each; view.c puts them together.
 */
#ifndef NTPROF_VIEW_BLOCK_H
#define NTPROF_VIEW_BLOCK_H

#include <stdbool.h>
#include <stdio.h>

#include "core/stats.h"

/* Powers of two that the buckets of a histogram cover; the last one has no upper bound. */
#define VIEW_OCTAVES (NT_MAX_BITS + 1)

/* At most 8 characters of a duration, and the terminating 0. */
#define VIEW_DURATION 9

/**
 * struct block - what is shown, and how
 * @s: what was seen
 * @summary: of the whole run, else of the last interval
 * @unicode: bars of Unicode blocks
 * @width: columns there are
 * @seconds: what rates divide by
 * @low, @high: octaves from the shortest to the longest latency of the run, @high exclusive; common
 *              to all rows, so that one can compare them, and to all blocks, so that none jumps.
 *              Equal if there was no command yet.
 */
struct block {
	const struct stats *s;
	bool summary;
	bool unicode;
	unsigned int width;
	double seconds;
	unsigned int low;
	unsigned int high;
};

/** block_hist() - the histogram of a row that the block shows */
static inline const struct hist *block_hist(const struct block *b, const struct stats_row *row)
{
	return b->summary ? &row->total : &row->interval;
}

/** block_stage() - the histogram of a stage that the block shows */
static inline const struct hist *block_stage(const struct block *b, enum nt_op op,
					     unsigned int stage)
{
	return b->summary ? &b->s->stage_total[op][stage] : &b->s->stage_interval[op][stage];
}

/** block_commands() - commands of an operation that the block shows, all queues together */
uint64_t block_commands(const struct block *b, enum nt_op op);

/** octaves_count() - sum up a histogram's buckets by powers of two; element 0 also counts 0 ns */
void octaves_count(const struct hist *h, uint64_t counts[VIEW_OCTAVES]);

/** octave_bound() - the text of an octave's lower bound, e.g. "8.19us"; "inf" for VIEW_OCTAVES */
char *octave_bound(char *buf, size_t size, unsigned int octave);

/**
 * row_label() - a row's controller, with "#2" where one of that name had another peer before
 * @s: whose rows, sorted by controller and peer
 * @index: of the row
 * @buf: filled
 * @size: of @buf
 */
void row_label(const struct stats *s, size_t index, char *buf, size_t size);

/** row_queue() - "1", or "all" where queues share a histogram */
void row_queue(const struct stats_row *row, char *buf, size_t size);

/**
 * block_rows() - one row a controller, queue and operation that had commands
 * @f: where the rows go
 * @legend: where to explain the histograms in the rows and give the controllers' NQNs
 */
void block_rows(const struct block *b, FILE *f, FILE *legend);

/** block_stages() - where the time goes, stage by stage, of every operation that had commands */
void block_stages(const struct block *b, FILE *f);

/** block_histograms() - full-size histograms of every row */
void block_histograms(const struct block *b, FILE *f);

#endif /* NTPROF_VIEW_BLOCK_H */
