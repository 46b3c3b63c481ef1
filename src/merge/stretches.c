// SPDX-License-Identifier: GPL-2.0-only
#include "merge/stretches.h"

#include <math.h>
#include <string.h>

/* Student's t. */

/*
 * The continued fraction of the incomplete beta function (NIST Digital Library of Mathematical
 * Functions, 8.17.22), by the method of Lentz.
 */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), f;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	f = d;
	for (int m = 1; m < 500; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step = 1;

		for (int i = 0; i < 2; i++) {
			double term = i ? odd : even;

			d = 1 + term * d;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = 1 + term / c;
			c = fabs(c) < tiny ? tiny : c;
			step = c * d;
			f *= step;
		}
		if (fabs(step - 1) < 1e-12)
			break;
	}
	return f;
}

static double beta_incomplete(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_quantile(double outside, double freedom)
{
	double low = 0, high = 1e9;

	/* P(|T| > t) is the incomplete beta function of freedom / (freedom + t^2). */
	for (int i = 0; i < 100; i++) {
		double t = (low + high) / 2;

		if (beta_incomplete(freedom / 2, 0.5, freedom / (freedom + t * t)) > outside)
			low = t;
		else
			high = t;
	}
	return high;
}

/* The length of stretches. */

static double covariance(const double *series, unsigned int nr, double mean, unsigned int lag)
{
	double sum = 0;

	for (unsigned int i = 0; i + lag < nr; i++)
		sum += (series[i] - mean) * (series[i + lag] - mean);
	return sum / nr;
}

unsigned int stretch_length(const double *series, unsigned int nr)
{
	double mean = 0, bound = 2 * sqrt(log10(nr) / nr), spread = 0, slope = 0, all;
	unsigned int quiet = 5, last = 0, reach = (unsigned int)ceil(sqrt(nr)) + quiet, width;
	unsigned int longest = nr / STRETCHES_MIN;

	if (nr < 2 * quiet || !longest)
		return 1;
	for (unsigned int i = 0; i < nr; i++)
		mean += series[i] / nr;
	all = covariance(series, nr, mean, 0);
	if (all <= 0)
		return 1;
	/* The last lag with a correlation, before so many without one. */
	for (unsigned int lag = 1; lag < reach && lag < nr && lag <= last + quiet; lag++)
		if (fabs(covariance(series, nr, mean, lag)) > bound * all)
			last = lag;
	if (!last)
		return 1;
	if (last + quiet >= reach)
		return longest;
	width = 2 * last < reach ? 2 * last : reach;
	spread = all;
	for (unsigned int lag = 1; lag <= width && lag < nr; lag++) {
		double share = (double)lag / width;
		double weight = share <= 0.5 ? 1 : 2 * (1 - share);
		double r = covariance(series, nr, mean, lag);

		spread += 2 * weight * r;
		slope += 2 * weight * lag * r;
	}
	if (spread <= 0)
		return 1;
	return (unsigned int)fmin(longest,
				  ceil(cbrt(1.5 * slope * slope / (spread * spread) * nr)));
}

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

void stretches_draw(uint16_t *weight, unsigned int nr, unsigned int length, uint64_t *state)
{
	memset(weight, 0, nr * sizeof(*weight));
	for (unsigned int left = nr; left;) {
		unsigned int from = (unsigned int)(next_random(state) % (nr - length + 1));
		unsigned int many = length < left ? length : left;

		for (unsigned int i = 0; i < many; i++)
			weight[from + i]++;
		left -= many;
	}
}
