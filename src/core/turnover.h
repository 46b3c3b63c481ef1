/* SPDX-License-Identifier: GPL-2.0-only */
/* How many series of a page may give way to others within an hour. */
#ifndef NTPROF_CORE_TURNOVER_H
#define NTPROF_CORE_TURNOVER_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct turnover - limits how many series give way to those of other labels: to as many in an hour
 * as there may be at a time
 *
 * A scraper keeps each series that it has seen for hours. A host may connect by ever new names.
 *
 * @max: most series at a time
 * @left: how many may give way now, times the milliseconds of an hour
 */
struct turnover {
	uint64_t max;
	uint64_t left;
};

/** turnover_init() - as many as there may be at a time */
void turnover_init(struct turnover *t, unsigned int max);

/** turnover_add() - the clock went from @since_ms to @now_ms; if it was set back, nothing is added
 */
void turnover_add(struct turnover *t, uint64_t since_ms, uint64_t now_ms);

/** turnover_any() - whether a series may give way now */
bool turnover_any(const struct turnover *t);

/** turnover_take() - a series has given way, which turnover_any() allowed */
void turnover_take(struct turnover *t);

#endif /* NTPROF_CORE_TURNOVER_H */
