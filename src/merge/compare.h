/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two recordings compared: by how much latencies and stages have shifted, and how sure that is.
 * Knows neither files nor screens.
 *
 * Commands depend on each other: a slow second has thousands of slow commands. So what is drawn
 * again and again is not commands but stretches of time: the moving-block bootstrap (H. R. Künsch,
 * Annals of Statistics 17, 1989), with a fixed seed. A stretch is a second or longer, as long as
 * the latency depends on what it was before (D. N. Politis and H. White, Econometric Reviews 23,
 * 2004; corrected by A. Patton, 2009).
 *
 * Intervals are the shift -/+ the standard error of the bootstrap times a quantile of Student's t,
 * with the degrees of freedom of Welch and Satterthwaite, where a recording has as many
 * observations as it has stretches. The percentile and BCa methods (B. Efron and R. Tibshirani,
 * An Introduction to the Bootstrap, 1993, chapters 13 and 14) need tens of thousands of draws at
 * the levels that follow, and are too narrow where there are few stretches.
 *
 * There are many figures, and one in a hundred would be outside of an interval of 99 % by chance.
 * So all intervals of a comparison hold together with a probability of 99 % (C. E. Bonferroni): one
 * half of the 1 % is shared by all figures of latencies, the other half by all figures of stages.
 *
 * Effect size: P(A > B), the probability that a command of one recording takes longer than one of
 * the other (A. Vargha and H. D. Delaney, 2000).
 */
#ifndef NTPROF_MERGE_COMPARE_H
#define NTPROF_MERGE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merge/blocks.h"

/* How many times stretches are drawn: a standard error is within 5 % then. */
#define COMPARE_DRAWS 200u
/* A percentile needs this many commands above it in either recording; all figures, as many in all.
 */
#define COMPARE_BEYOND_MIN 20u
/* A load is another one if it differs by more than this share, and not by chance. */
#define COMPARE_LOAD_SHARE 0.10
/* The least share of the commands that has to be found under equal load to be compared. */
#define COMPARE_OVERLAP_MIN 0.20
#define COMPARE_TOLERANCE 0.05
/*
 * A latency or a stage has shifted if it has surely done so by more than this part of the mean
 * latency. Two runs of one machine differ by some ns in stages that take less than 1 us, surely and
 * always, and by a few ten-thousandths in what a disk takes.
 */
#define COMPARE_LEAST 0.001
/* Operations and classes of sizes that are compared. */
#define COMPARE_KINDS_MAX BLOCKS_KINDS_MAX

enum compare_when { COMPARE_BEFORE, COMPARE_AFTER, COMPARE_WHENS };

/* X(identifier, name, parts of HIST_PARTS; 0: the mean) */
#define COMPARE_FIGURES(X)        \
	X(MEAN, "mean", 0)        \
	X(P50, "p50", 500000000u) \
	X(P90, "p90", 900000000u) \
	X(P99, "p99", 990000000u) \
	X(P99_9, "p99.9", 999000000u)

#define COMPARE_FIGURE_ENUM(id, name, parts) COMPARE_##id,
enum compare_figure { COMPARE_FIGURES(COMPARE_FIGURE_ENUM) COMPARE_FIGURES_NR };

/*
 * Where commands are matched by load, these figures are compared. A command's latency does not
 * depend on the number in flight alone: they may all wait for one disk, or be on their way. That
 * shows in the tail first.
 */
#define COMPARE_MATCHED_NR COMPARE_P99

/** compare_figure_name() - static string */
const char *compare_figure_name(enum compare_figure figure);

/* What is known of a shift. */
enum compare_finding { COMPARE_UNKNOWN, COMPARE_SAME, COMPARE_FASTER, COMPARE_SLOWER };

/**
 * struct compare_shift - a figure before and after; nanoseconds
 * @finding: COMPARE_UNKNOWN: there are too few commands for it, or too little time
 * @low, @high: the interval of the shift, which is @value[COMPARE_AFTER] - @value[COMPARE_BEFORE]
 */
struct compare_shift {
	enum compare_finding finding;
	double value[COMPARE_WHENS];
	double error[COMPARE_WHENS];
	double freedom;
	double low;
	double high;
};

/**
 * struct compare_duration - the latency or a stage of the commands of a kind
 * @there: both recordings have it
 * @greater: P(after > before), half of the equal ones included
 */
struct compare_duration {
	bool there;
	double greater;
	struct compare_shift of[COMPARE_FIGURES_NR];
};

/* Why nothing is said of commands of a kind. */
enum compare_why { COMPARE_COMPARED, COMPARE_ONLY_ONE, COMPARE_FEW, COMPARE_SHORT, COMPARE_APART };

/**
 * struct compare_kind - an operation and a class of sizes
 * @least, @most: the smallest and the greatest size in both recordings
 * @commands: in each recording
 * @overlap: the share of them that is compared, where it is matched by load; else 1
 * @stretch_seconds, @stretches: of each recording: how long what is drawn is, and how many there
 * are
 */
struct compare_kind {
	enum nt_op op;
	uint8_t size;
	uint32_t least;
	uint32_t most;
	enum compare_why why;
	uint64_t commands[COMPARE_WHENS];
	double overlap;
	double stretch_seconds[COMPARE_WHENS];
	double stretches[COMPARE_WHENS];
	struct compare_duration of[BLOCKS_DURATIONS];
};

/* The load of a recording; in flight are the mean number, reads a share of the commands. */
enum compare_load_kind {
	COMPARE_LOAD_RATE,
	COMPARE_LOAD_BYTES,
	COMPARE_LOAD_DEPTH,
	COMPARE_LOAD_SIZE,
	COMPARE_LOAD_READS,
	COMPARE_LOADS_NR
};

/** struct compare_load - @differs: by more than COMPARE_LOAD_SHARE, and not by chance */
struct compare_load {
	double value[COMPARE_WHENS];
	bool differs;
};

/**
 * struct compare - a comparison
 * @blocks: the recordings; filled by the caller
 * @sample: of each, one command in so many was measured; 0 and 1: every one
 * @only: the side of both recordings that can be compared; NT_SIDES: all that is there
 * @tolerance: a share of the figure before
 * @loads_differ: so that latencies may differ for that reason alone
 * @by_depth: so commands are only compared with those that found as many in flight
 * @kind: @nr_kinds of them, those that took most time first
 * @figures, @stages: how many intervals hold together
 */
struct compare {
	struct blocks blocks[COMPARE_WHENS];
	uint32_t sample[COMPARE_WHENS];
	enum nt_side only;
	double tolerance;
	bool loads_differ;
	bool by_depth;
	struct compare_load load[COMPARE_LOADS_NR];
	struct compare_kind *kind;
	unsigned int nr_kinds;
	unsigned int figures;
	unsigned int stages;
};

/* What the answer is, the most telling one last. */
enum compare_outcome {
	COMPARE_NOTHING,    /* nothing can be said */
	COMPARE_NO_SHIFT,   /* no latency has surely shifted */
	COMPARE_IMPROVED,   /* some got faster, none slower */
	COMPARE_WORSE,	    /* some got slower; it is not sure that by more than the tolerance */
	COMPARE_REGRESSION, /* some got slower by more than the tolerance */
};

/**
 * struct compare_answer - the answer, or what there is to say of one kind
 * @kind: the kind that it is about; NULL: none
 * @figure: the figure of its latency that has shifted
 * @duration: the stage that has shifted most in that direction, or in any if the latency has not
 *            shifted, and the figure of it; BLOCKS_LATENCY if no stage surely has
 */
struct compare_answer {
	enum compare_outcome outcome;
	const struct compare_kind *kind;
	enum compare_figure figure;
	unsigned int duration;
	enum compare_figure stage_figure;
};

/** compare_kind_answer() - what there is to say of a kind */
struct compare_answer compare_kind_answer(const struct compare *c, const struct compare_kind *k);

/** compare_answer() - that of the kind with the most telling outcome */
struct compare_answer compare_answer(const struct compare *c);

/**
 * compare_unseen() - the greatest shift of a mean that the recordings may have had without being
 * seen, as a share of the mean before; 0: none was compared
 */
double compare_unseen(const struct compare *c);

/**
 * compare_again() - whether both recordings have to be read once more to be compared
 *
 * That is so if their stages are not joined alike, or if their loads differ. Then @c->blocks are
 * prepared for that, and empty. Return: 1, 0 or -ENOMEM.
 */
int compare_again(struct compare *c);

/** compare_solve() - fill in all results. Return: 0 or -ENOMEM */
int compare_solve(struct compare *c);

/** compare_above() - whether a figure has become slower by more than the tolerance, surely */
bool compare_above(const struct compare *c, const struct compare_shift *s);

/** compare_free() - release all but @c itself */
void compare_free(struct compare *c);

#endif /* NTPROF_MERGE_COMPARE_H */
