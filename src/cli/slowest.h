/* SPDX-License-Identifier: GPL-2.0-only */
/* The slowest command of each operation in an interval, for the page of serve: of those that are in its histograms. */
#ifndef NTPROF_CLI_SLOWEST_H
#define NTPROF_CLI_SLOWEST_H

#include "core/record.h"
#include "serve/page.h"
#include "trace/tracer.h"

/**
 * struct slowest - all zero at first
 * @ns: of those in @record, which is of the interval that is under way; 0: none
 * @told: of the last one that has ended
 */
struct slowest {
	uint64_t ns[NT_OPS_NR];
	struct nt_record record[NT_OPS_NR];
	struct page_slow told[NT_OPS_NR];
};

/** slowest_record() - a command has ended */
void slowest_record(struct slowest *s, const struct nt_record *r);

/** slowest_interval() - an interval has ended */
void slowest_interval(struct slowest *s, const struct tracer *t);

#endif /* NTPROF_CLI_SLOWEST_H */
