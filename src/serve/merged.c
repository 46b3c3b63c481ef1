// SPDX-License-Identifier: GPL-2.0-only
#include "serve/merged.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/counters.h"
#include "core/names.h"

/*
 * X(identifier, name): what became of records, by the names of the live view; see struct
 * live_merge_counts.
 */
#define RESULTS(X)                  \
	X(MATCHED, matched)         \
	X(HOST_ONLY, host_only)     \
	X(TARGET_ONLY, target_only) \
	X(AMBIGUOUS, ambiguous)     \
	X(STRAYS, strays)           \
	X(PAST_LIMITS, past_limits) \
	X(EARLY, early)

/* X(identifier, name): what a merge counts that is not as it should be. */
#define LOSSES(X)                           \
	X(CANCELLED, cancelled)             \
	X(ERRORS, errors)                   \
	X(UNSPLIT, unsplit)                 \
	X(ARRIVAL_JOINED, arrival_joined)   \
	X(NEGATIVE_STAGES, negative_stages) \
	X(CROWDED_OUT, crowded_out)         \
	X(IN_CROWD, in_crowd)

#define ENUM(id, name) NR_##id,
enum { RESULTS(ENUM) NR_RESULTS };
enum { LOSSES(ENUM) NR_LOSSES };

/* The time that has no stage, named as in the table of the live view. */
#define UNSPLIT_STAGE "unsplit"

/*
 * The highest values that scrapers have seen of figures that may fall: a record may move from one
 * connection to another, and a peer may report anything. Totals of commands only grow, so they are
 * not here.
 */
struct merged {
	uint64_t results[NR_RESULTS];
	uint64_t peer_losses[PEERS_MAX][COUNTERS_NR];
};

void merged_fill(struct merged_source *from, const struct live_merge *l)
{
	const struct peer *p;

	*from = (struct merged_source){.totals = live_merge_totals(l, true)};
	live_merge_counts(l, &from->counts);
	for (; (p = live_merge_peer(l, from->nr)); from->nr++)
		peer_about(p, &from->peer[from->nr]);
}

struct merged *merged_new(void)
{
	return calloc(1, sizeof(struct merged));
}

static uint64_t grown(uint64_t *told, uint64_t now)
{
	if (*told < now)
		*told = now;
	return *told;
}

/*
 * Writes a histogram of an operation, or of @stage in it if that is not NULL, with these labels
 * besides @labels.
 */
static void put_hist(const struct exposition *e, const char *labels, unsigned int op,
		     const char *stage, const struct hist *h)
{
	struct exposition_hist sum = {.sum = 0};
	char more[EXPOSITION_LABELS_LEN];

	if (!h->count)
		return;
	exposition_add(&sum, h);
	snprintf(more, sizeof(more), "%s", labels);
	exposition_label(more, "operation", op_name((enum nt_op)op));
	if (stage)
		exposition_label(more, "stage", stage);
	exposition_hist(e, more, &sum, NULL);
}

static void put_latencies(struct exposition *e, const char *labels, const struct totals *t)
{
	exposition_begin(e, METRIC_MERGED_DURATION);
	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		put_hist(e, labels, op, NULL, &t->latency[op]);
}

static void put_stages(struct exposition *e, const char *labels, const struct totals *t)
{
	exposition_begin(e, METRIC_MERGED_STAGE_DURATION);
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		for (unsigned int i = 0; i < t->nr_stages[op]; i++)
			put_hist(e, labels, op, t->stage[op][i]->name, &t->stage[op][i]->time);
		put_hist(e, labels, op, UNSPLIT_STAGE, &t->unsplit_latency[op]);
	}
}

static void put_results(struct merged *m, struct exposition *e, const char *labels,
			const struct live_merge_counts *n)
{
	exposition_begin(e, METRIC_MERGED_RECORDS);
#define PUT(id, name) \
	exposition_with(e, labels, "result", #name, grown(&m->results[NR_##id], n->name));
	RESULTS(PUT)
#undef PUT
}

static void put_losses(struct exposition *e, const char *labels, const struct merged_source *from)
{
	static const char *const names[NR_LOSSES] = {
#define NAME(id, name) [NR_##id] = #name,
		LOSSES(NAME)
#undef NAME
	};
	const struct totals *t = from->totals;
	uint64_t n[NR_LOSSES] = {
		[NR_CANCELLED] = t->cancelled,
		[NR_UNSPLIT] = t->unsplit,
		[NR_ARRIVAL_JOINED] = t->joined,
		[NR_NEGATIVE_STAGES] = t->negative,
		[NR_CROWDED_OUT] = from->counts.crowded_out,
		[NR_IN_CROWD] = from->counts.in_crowd,
	};

	for (size_t i = 0; i < t->errors.nr; i++)
		n[NR_ERRORS] += t->errors.row[i].total;
	exposition_begin(e, METRIC_MERGED_LOSSES);
	for (unsigned int i = 0; i < NR_LOSSES; i++)
		exposition_with(e, labels, "reason", names[i], n[i]);
}

static void peer_labels(char *labels, const char *others, unsigned int i)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", i + 1);
	snprintf(labels, EXPOSITION_LABELS_LEN, "%s", others);
	exposition_label(labels, "peer", number);
}

static void put_info(const struct exposition *e, const char *labels, const struct peer_about *a)
{
	char more[EXPOSITION_LABELS_LEN];

	if (!a->header)
		return;
	snprintf(more, sizeof(more), "%s", labels);
	exposition_label(more, "hostname", a->header->hostname);
	exposition_label(more, "kernel", a->header->kernel);
	exposition_value(e, more, 1);
}

static void put_states(const struct exposition *e, const char *labels, const struct peer_about *a)
{
	static const char *const names[PEER_STATES_NR] = {
#define NAME(id, name) [PEER_##id] = name,
		PEER_STATES(NAME)
#undef NAME
	};

	for (unsigned int i = 0; i < PEER_STATES_NR; i++)
		exposition_with(e, labels, "state", names[i], a->state == i);
}

static void put_peer_losses(uint64_t told[COUNTERS_NR], const struct exposition *e,
			    const char *labels, const struct peer_about *a)
{
	for (unsigned int i = 0; i < COUNTERS_NR; i++)
		if (i != COUNTER_IN_FLIGHT && grown(&told[i], a->losses->count[i]))
			exposition_with(e, labels, "reason", counter_name(i), told[i]);
	exposition_with(e, labels, "reason", "unknown_frames", a->skipped);
	exposition_with(e, labels, "reason", "longer_frames", a->longer);
}

static void put_peers(struct merged *m, struct exposition *e, const char *others,
		      const struct merged_source *from)
{
	static const enum metric_id ids[] = {METRIC_PEER,	   METRIC_PEER_STATE,
					     METRIC_PEER_RESTARTS, METRIC_PEER_SILENT,
					     METRIC_PEER_RECORDS,  METRIC_PEER_LOSSES};

	for (size_t k = 0; k < ARRAY_SIZE(ids); k++) {
		exposition_begin(e, ids[k]);
		for (unsigned int i = 0; i < from->nr; i++) {
			const struct peer_about *a = &from->peer[i];
			char labels[EXPOSITION_LABELS_LEN];

			peer_labels(labels, others, i);
			if (ids[k] == METRIC_PEER)
				put_info(e, labels, a);
			else if (ids[k] == METRIC_PEER_STATE)
				put_states(e, labels, a);
			else if (ids[k] == METRIC_PEER_RESTARTS)
				exposition_value(e, labels, a->restarts);
			else if (ids[k] == METRIC_PEER_SILENT)
				exposition_ns(e, labels, a->silent_ns);
			else if (ids[k] == METRIC_PEER_RECORDS)
				exposition_value(e, labels, a->records);
			else
				put_peer_losses(m->peer_losses[i], e, labels, a);
		}
	}
}

void merged_put(struct merged *m, struct exposition *e, const char *labels,
		const struct merged_source *from)
{
	put_latencies(e, labels, from->totals);
	put_stages(e, labels, from->totals);
	put_results(m, e, labels, &from->counts);
	put_losses(e, labels, from);
	exposition_begin(e, METRIC_MERGED_UNDECIDED);
	exposition_value(e, labels, from->counts.undecided);
	put_peers(m, e, labels, from);
}

void merged_free(struct merged *m)
{
	free(m);
}
