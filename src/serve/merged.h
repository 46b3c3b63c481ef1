/* SPDX-License-Identifier: GPL-2.0-only */
/* The metrics of peers, and of merged commands: see serve/page.h. */
#ifndef NTPROF_SERVE_MERGED_H
#define NTPROF_SERVE_MERGED_H

#include "merge/totals.h"
#include "peer/live_merge.h"
#include "serve/exposition.h"

/**
 * struct merged_source - what the metrics are made of
 * @totals: of all merged commands
 * @counts: what became of records
 * @peer: @nr of them
 */
struct merged_source {
	const struct totals *totals;
	struct live_merge_counts counts;
	struct peer_about peer[PEERS_MAX];
	unsigned int nr;
};

/** merged_fill() - fill @from; valid until the peers are read again */
void merged_fill(struct merged_source *from, const struct live_merge *l);

struct merged;

/**
 * merged_new() - state for merged_put(): the figures that scrapers have seen; NULL if memory ran
 * out
 */
struct merged *merged_new(void);

/**
 * merged_put() - write the metrics
 * @m: updated
 * @labels: labels of each sample, from exposition_label()
 */
void merged_put(struct merged *m, struct exposition *e, const char *labels,
		const struct merged_source *from);

/** merged_free() - release; NULL is fine */
void merged_free(struct merged *m);

#endif /* NTPROF_SERVE_MERGED_H */
