// SPDX-License-Identifier: GPL-2.0-only
#include "core/turnover.h"

#define HOUR_MS 3600000ULL

void turnover_init(struct turnover *t, unsigned int max)
{
	*t = (struct turnover){.max = max, .left = max * HOUR_MS};
}

void turnover_add(struct turnover *t, uint64_t since_ms, uint64_t now_ms)
{
	uint64_t ms = now_ms > since_ms ? now_ms - since_ms : 0;

	t->left += t->max * (ms < HOUR_MS ? ms : HOUR_MS);
	if (t->left > t->max * HOUR_MS)
		t->left = t->max * HOUR_MS;
}

bool turnover_any(const struct turnover *t)
{
	return t->left >= HOUR_MS;
}

void turnover_take(struct turnover *t)
{
	t->left -= HOUR_MS;
}
