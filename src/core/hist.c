// SPDX-License-Identifier: GPL-2.0-only
#include "core/hist.h"

#include <float.h>
#include <string.h>

bool hist_empty(const struct hist *h)
{
	return !h->count && !h->sum;
}

void hist_account(struct hist *h, uint64_t count, unsigned __int128 sum, uint64_t bytes,
		  uint64_t max)
{
	h->count += count;
	h->sum += sum;
	h->bytes += bytes;
	if (max > h->max)
		h->max = max;
}

void hist_merge(struct hist *into, const struct hist *from)
{
	if (hist_empty(from))
		return;
	hist_account(into, from->count, from->sum, from->bytes, from->max);
	for (unsigned int b = 0; b < NT_BUCKETS; b++)
		into->buckets[b] += from->buckets[b];
}

/*
 * 99.9 is not a binary fraction. A product that is a few ulps above a whole number must not become
 * the next rank.
 */
static uint64_t percentile_rank(uint64_t count, double percent)
{
	double exact = percent / 100 * (double)count * (1 - 4 * DBL_EPSILON);
	uint64_t rank;

	if (exact >= (double)count)
		return count;
	rank = exact > 0 ? (uint64_t)exact : 0;
	return (double)rank < exact || !rank ? rank + 1 : rank;
}

static uint64_t bucket_middle(const struct hist *h, unsigned int bucket)
{
	uint64_t low = nt_bucket_low(bucket), middle;

	/* The last bucket has no upper bound, so the longest duration takes its place. */
	if (bucket == NT_OVERFLOW_BUCKET)
		middle = low + (h->max > low ? (h->max - low) / 2 : 0);
	else
		middle = low + (nt_bucket_low(bucket + 1) - low) / 2;
	return middle < h->max ? middle : h->max;
}

uint64_t hist_percentile(const struct hist *h, double percent)
{
	uint64_t rank, seen = 0;

	if (!h->count)
		return 0;
	rank = percentile_rank(h->count, percent);
	for (unsigned int b = 0; b < NT_BUCKETS; b++) {
		seen += h->buckets[b];
		if (seen >= rank)
			return bucket_middle(h, b);
	}
	return h->max;
}

uint32_t hist_parts_parse(const char *text)
{
	static const char digits[] = "0123456789";
	size_t whole, rest = 0;
	uint64_t parts = 0;

	if (*text++ != 'p')
		return 0;
	whole = strspn(text, digits);
	if (!whole || whole > 2)
		return 0;
	if (text[whole] == '.')
		rest = strspn(text + whole + 1, digits);
	if (text[whole] && (!rest || rest > HIST_PERCENT_DIGITS || text[whole + 1 + rest]))
		return 0;
	for (size_t i = 0; i < whole; i++)
		parts = parts * 10 + (uint64_t)(text[i] - '0');
	for (size_t i = 0; i < HIST_PERCENT_DIGITS; i++)
		parts = parts * 10 + (uint64_t)(i < rest ? text[whole + 1 + i] - '0' : 0);
	return (uint32_t)parts;
}

bool hist_tells(const struct hist *h, uint32_t parts)
{
	uint32_t rest = HIST_PARTS - parts, least = parts < rest ? parts : rest;

	return h->count >= 2 && h->count >= (HIST_PARTS - 1) / least + 1;
}

uint64_t hist_min(const struct hist *h)
{
	for (unsigned int b = 0; b < NT_BUCKETS; b++)
		if (h->buckets[b])
			return nt_bucket_low(b);
	return 0;
}

double hist_mean(const struct hist *h)
{
	return h->count ? (double)h->sum / (double)h->count : 0;
}
