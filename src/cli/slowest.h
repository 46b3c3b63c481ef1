/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slowest command of each operation in an interval, for the page of serve. Only commands that
 * are in the page's histograms count.
 */
#ifndef NTPROF_CLI_SLOWEST_H
#define NTPROF_CLI_SLOWEST_H

#include "serve/page.h"
#include "shared/record.h"
#include "trace/tracer.h"

/**
 * struct slowest - all zeroes at first
 * @ns: latency of @record
 * @record: the slowest command of the present interval; none if @ns is 0
 * @told: the slowest commands of the last interval
 */
struct slowest {
	uint64_t ns[NT_OPS_NR];
	struct nt_record record[NT_OPS_NR];
	struct page_slow told[NT_OPS_NR];
};

/** slowest_record() - call when a command has ended */
void slowest_record(struct slowest *s, const struct nt_record *r);

/** slowest_interval() - call when an interval has ended */
void slowest_interval(struct slowest *s, const struct tracer *t);

#endif /* NTPROF_CLI_SLOWEST_H */
