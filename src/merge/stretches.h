/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The statistics of series that depend on their own past: how long the stretches have to be that
 * the moving-block bootstrap draws, the draws, and quantiles of Student's t. Sources are in
 * compare.h.
 */
#ifndef NTPROF_MERGE_STRETCHES_H
#define NTPROF_MERGE_STRETCHES_H

#include <stdint.h>

/* With fewer stretches than this nothing is said. */
#define STRETCHES_MIN 6u
/* The first state of draws, so that two runs say the same. */
#define STRETCHES_SEED 0x6e7470726f660001ULL

/**
 * stretch_length() - how many blocks a stretch has to have for a series of a number in each block
 * @series: @nr of them
 *
 * Return: at least 1; @nr / STRETCHES_MIN at most, also where the series is too short to tell.
 */
unsigned int stretch_length(const double *series, unsigned int nr);

/**
 * stretches_draw() - draw as many blocks as there are, in stretches of @length
 * @weight: filled with how often each of @nr blocks is drawn
 * @state: of the random numbers
 */
void stretches_draw(uint16_t *weight, unsigned int nr, unsigned int length, uint64_t *state);

/** student_quantile() - t for which P(|T| > t) is @outside, at @freedom degrees of freedom */
double student_quantile(double outside, double freedom);

#endif /* NTPROF_MERGE_STRETCHES_H */
