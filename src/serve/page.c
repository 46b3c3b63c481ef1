// SPDX-License-Identifier: GPL-2.0-only
#include "serve/page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/counters.h"
#include "core/hash.h"
#include "core/names.h"
#include "core/segments.h"
#include "serve/series.h"
#include "serve/path_series.h"
#include "serve/tcp_series.h"

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000ULL + (uint64_t)t->tv_usec * 1000;
}

void process_cost(struct process_cost *c)
{
	struct rusage u;
	unsigned long long resident;
	FILE *f;

	*c = (struct process_cost){0};
	if (!getrusage(RUSAGE_SELF, &u))
		c->cpu_ns = ns_of(&u.ru_utime) + ns_of(&u.ru_stime);
	f = fopen("/proc/self/statm", "re");
	if (!f)
		return;
	/* The second number is the resident set in pages: proc(5), /proc/PID/statm. */
	if (fscanf(f, "%*u %llu", &resident) == 1)
		c->resident_bytes = resident * (uint64_t)sysconf(_SC_PAGESIZE);
	fclose(f);
}

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
	struct stream_losses peer_losses[PEERS_MAX];
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

static void put_merged_stages(struct exposition *e, const char *labels, const struct totals *t)
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

static void put_peer_losses(struct stream_losses *told, const struct exposition *e,
			    const char *labels, const struct peer_about *a)
{
	for (unsigned int i = 0; i < COUNTERS_NR; i++)
		if (i != COUNTER_IN_FLIGHT && grown(&told->count[i], a->losses->count[i]))
			exposition_with(e, labels, "reason", counter_name(i), told->count[i]);
	exposition_with(e, labels, "reason", "unknown_losses",
			grown(&told->unknown, a->losses->unknown));
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
				put_peer_losses(&m->peer_losses[i], e, labels, a);
		}
	}
}

void merged_put(struct merged *m, struct exposition *e, const char *labels,
		const struct merged_source *from)
{
	put_latencies(e, labels, from->totals);
	put_merged_stages(e, labels, from->totals);
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

#define NS_PER_SECOND 1e9

/* Hosts ask this one for subsystems. It has no commands but admin and fabrics ones. */
#define DISCOVERY_NQN "nqn.2014-08.org.nvmexpress.discovery"

#define CODE_NUMBER(code) [PAGE_CODE_##code] = (code),

unsigned int page_code(enum page_code code)
{
	static const unsigned int numbers[PAGE_CODES_NR] = {PAGE_CODES(CODE_NUMBER)};

	return numbers[code];
}

/* @stages: [stage of the side] series by controller, or by subsystem on a target */
struct page {
	enum nt_side side;
	bool by_queue;
	struct series_table *rows;
	struct series_table *stages[NT_STAGES_MAX];
	struct merged *merged;
	struct tcp_series *tcp;
	struct path_series *path;
	char side_label[32];
};

typedef char labels_t[EXPOSITION_LABELS_LEN];

/* What a queue's rows share, for labels. @peer: on a host the subsystem, on a target the host */
struct who {
	const char *controller;
	const char *peer;
	const char *other;
	unsigned int qid;
};

static struct who who_of(const char *controller, const char *peer, const char *other,
			 unsigned int qid)
{
	return (struct who){controller, series_own_name(peer), series_own_name(other), qid};
}

static const char *subsystem_of(const struct page *p, const struct who *w)
{
	return p->side == NT_HOST ? w->peer : w->other;
}

/* All labels but the operation; not a target's controller, whose id changes at each connect. */
static void group_labels(const struct page *p, labels_t labels, const struct who *w,
			 const char *queue)
{
	snprintf(labels, EXPOSITION_LABELS_LEN, "%s", p->side_label);
	if (p->side == NT_HOST)
		exposition_label(labels, "controller", w->controller);
	exposition_label(labels, "subsysnqn", subsystem_of(p, w));
	if (p->side == NT_TARGET)
		exposition_label(labels, "hostnqn", w->peer);
	if (p->by_queue)
		exposition_label(labels, "queue", queue);
}

/* Labels of a group that takes the rows of several others: the value of each is @what. */
static void group_labels_of_all(const struct page *p, labels_t labels, const char *what)
{
	group_labels(p, labels, &(struct who){what, what, what, 0}, what);
}

/* Labels of a controller's stages but for the operation and the stage. */
static void stage_labels(const struct page *p, labels_t labels, const struct who *w)
{
	snprintf(labels, EXPOSITION_LABELS_LEN, "%s", p->side_label);
	if (p->side == NT_HOST)
		exposition_label(labels, "controller", w->controller);
	exposition_label(labels, "subsysnqn", subsystem_of(p, w));
}

/* Bits of the operations that a queue can have. Their errors begin as 0, before there are any. */
static uint32_t operations_of(const struct page *p, const struct who *w)
{
	const uint32_t admin = 1u << NT_OP_ADMIN | 1u << NT_OP_FABRICS;

	if (!strcmp(subsystem_of(p, w), DISCOVERY_NQN))
		return admin;
	if (!p->by_queue)
		return (1u << NT_OPS_NR) - 1;
	return w->qid ? ((1u << NT_OPS_NR) - 1) & ~(1u << NT_OP_ADMIN) : admin;
}

/* A table for each stage. Together they have at most @series series. Return: 0 or -ENOMEM */
static int stages_new(struct page *p, unsigned int series, uint64_t now_ms)
{
	static const char *const all[] = {SERIES_OTHER, SERIES_GONE};
	labels_t labels[2];

	for (unsigned int i = 0; i < 2; i++)
		stage_labels(p, labels[i], &(struct who){all[i], all[i], all[i], 0});
	for (unsigned int i = 0; i < stages_nr(p->side); i++) {
		p->stages[i] = series_new(series / stages_nr(p->side),
					  SERIES_BYTES_MAX / stages_nr(p->side), labels[0],
					  labels[1], now_ms);
		if (!p->stages[i])
			return -ENOMEM;
	}
	return 0;
}

struct page *page_new(enum nt_side side, bool by_queue, unsigned int series, uint64_t now_ms)
{
	struct page *p = calloc(1, sizeof(*p));
	labels_t others, gone;

	if (!p)
		return NULL;
	p->side = side;
	p->by_queue = by_queue;
	snprintf(p->side_label, sizeof(p->side_label), "side=\"%s\"", side_name(side));
	group_labels_of_all(p, others, SERIES_OTHER);
	group_labels_of_all(p, gone, SERIES_GONE);
	p->rows = series_new(series, SERIES_BYTES_MAX, others, gone, now_ms);
	p->merged = merged_new();
	p->tcp = tcp_series_new(side, p->side_label, now_ms);
	p->path = path_series_new(p->side_label, now_ms);
	if (p->rows && p->merged && p->tcp && p->path && !stages_new(p, series, now_ms))
		return p;
	page_free(p);
	return NULL;
}

static struct series_group *group_of(struct page *p, const struct who *w, uint32_t *at)
{
	labels_t labels;
	char queue[16];

	snprintf(queue, sizeof(queue), "%u", w->qid);
	group_labels(p, labels, w, queue);
	return series_group(p->rows, labels, operations_of(p, w), at);
}

static struct series_group *group_of_row(struct page *p, struct stats_row *r)
{
	const struct who w = who_of(r->controller, r->peer, r->other, r->qid);
	struct series_group *g;

	if (r->shared)
		return series_others(p->rows);
	g = r->series_of ? series_group_at(p->rows, r->series, r->series_of) : NULL;
	if (g)
		return g;
	g = group_of(p, &w, &r->series);
	r->series_of = g ? g->id : 0;
	return g;
}

/* Makes the command an exemplar of its row. */
static void take_slow(struct series *to, const struct stats_row *r, const struct page_slow *slow)
{
	struct exposition_exemplar *x = &to->now.slow;
	char labels[EXPOSITION_LABELS_LEN] = "", number[16];

	if (!slow->ns || r->shared || slow->qid != r->qid || slow->slot != r->slot ||
	    slow->who != r->who || strcmp(slow->controller, r->controller) != 0)
		return;
	snprintf(number, sizeof(number), "%u", slow->cid);
	exposition_label(labels, "cid", number);
	snprintf(number, sizeof(number), "%u", slow->qid);
	exposition_label(labels, "queue", number);
	if (slow->stage[0])
		exposition_label(labels, "stage", slow->stage);
	if (strlen(labels) >= sizeof(x->labels))
		return;
	strcpy(x->labels, labels);
	x->ns = slow->ns;
	x->at_ms = slow->ended_ms;
}

/* Adds the new counts of a row, and its waiting commands. Return: 0 or -ENOMEM */
static int take_row(struct page *p, struct stats_row *r, const struct page_slow *slow)
{
	struct series_group *g = group_of_row(p, r);
	struct series *to;

	if (!g)
		return -ENOMEM;
	if (hist_empty(&r->interval) && !r->others_interval.commands && !r->waiting.commands)
		return 0;
	to = series_count(p->rows, g, r->op);
	if (!hist_empty(&r->interval))
		exposition_add(&to->hist, &r->interval);
	to->all.commands += r->interval.count + r->others_interval.commands;
	to->all.bytes += r->interval.bytes + r->others_interval.bytes;
	waiting_add(&to->now.waiting, &r->waiting);
	if (slow)
		take_slow(to, r, &slow[r->op]);
	return 0;
}

static int take_error(struct page *p, const struct error_count *e)
{
	const struct who w = who_of(e->controller, e->peer, e->other, e->qid);
	struct series_group *g;
	uint32_t at;

	if (!e->interval)
		return 0;
	g = e->controller[0] ? group_of(p, &w, &at) : series_others(p->rows);
	if (!g)
		return -ENOMEM;
	return series_error(p->rows, series_count(p->rows, g, e->op), e->status, e->interval);
}

static void hist_add(struct exposition_hist *to, const struct exposition_hist *h)
{
	for (unsigned int b = 0; b < EXPOSITION_BUCKETS; b++)
		to->below[b] += h->below[b];
	to->sum += h->sum;
}

static bool hist_any(const struct exposition_hist *h)
{
	return h->below[EXPOSITION_BUCKETS - 1] || h->sum;
}

/* Takes what a controller's stages have out of those of all commands. Return: 0 or -ENOMEM */
static int take_stages_of(struct page *p, const struct stats_stages *of,
			  struct exposition_hist rest[NT_STAGES_MAX])
{
	const struct who w = who_of(of->controller, of->peer, of->other, 0);
	labels_t labels;
	uint32_t at;

	stage_labels(p, labels, &w);
	for (unsigned int i = 0; i < stages_nr(p->side); i++) {
		struct exposition_hist now = {.sum = 0};
		struct series_group *g;

		exposition_add(&now, &of->interval[i]);
		if (!hist_any(&now))
			continue;
		g = series_group(p->stages[i], labels, 0, &at);
		if (!g)
			return -ENOMEM;
		hist_add(&series_count(p->stages[i], g, of->op)->hist, &now);
		for (unsigned int b = 0; b < EXPOSITION_BUCKETS; b++)
			rest[i].below[b] -= now.below[b];
		rest[i].sum -= now.sum;
	}
	return 0;
}

/* Commands that are in no controller's stages are counted with the others. */
static int take_stages(struct page *p, const struct stats *s, uint64_t now_ms)
{
	for (unsigned int i = 0; i < stages_nr(p->side); i++)
		series_begin(p->stages[i], now_ms);
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		struct exposition_hist rest[NT_STAGES_MAX] = {{.sum = 0}};
		int err = 0;

		for (unsigned int i = 0; i < stages_nr(p->side); i++)
			exposition_add(&rest[i], &s->stage_interval[op][i]);
		for (size_t k = 0; !err && k < s->nr_stages; k++)
			err = s->stages[k]->op == op ? take_stages_of(p, s->stages[k], rest) : 0;
		if (err)
			return err;
		for (unsigned int i = 0; i < stages_nr(p->side); i++) {
			struct series_group *others = series_others(p->stages[i]);

			if (hist_any(&rest[i]))
				hist_add(&series_count(p->stages[i], others, op)->hist, &rest[i]);
		}
	}
	return 0;
}

int page_collect(struct page *p, const struct stats *s, const struct page_slow *slow,
		 uint64_t now_ms)
{
	int err = 0;

	tcp_series_take(p->tcp, &s->tcp, now_ms);
	path_series_take(p->path, &s->path_events, now_ms);
	series_begin(p->rows, now_ms);
	for (size_t i = 0; !err && i < s->nr_rows; i++)
		err = take_row(p, s->rows[i], slow);
	for (size_t i = 0; !err && i < s->errors.nr; i++)
		err = take_error(p, &s->errors.row[i]);
	return err ?: take_stages(p, s, now_ms);
}

/* The output, and what it is made from. */
struct writing {
	struct exposition e;
	struct page *p;
	const struct page_source *from;
};

static void put(struct writing *w, enum metric_id id, uint64_t n)
{
	exposition_begin(&w->e, id);
	exposition_value(&w->e, w->p->side_label, n);
}

static void put_with(const struct writing *w, const char *name, const char *value, uint64_t n)
{
	exposition_with(&w->e, w->p->side_label, name, value, n);
}

static void put_infos(struct writing *w)
{
	const struct stats *s = w->from->s;
	labels_t labels = "";

	exposition_begin(&w->e, METRIC_BUILD);
	exposition_label(labels, "version", NTPROF_VERSION);
	exposition_value(&w->e, labels, 1);
	put(w, METRIC_TRACING, w->from->tracing);
	if (!s)
		return;
	snprintf(labels, sizeof(labels), "%s", w->p->side_label);
	exposition_label(labels, "source", s->source);
	exposition_label(labels, "driver", s->driver);
	exposition_label(labels, "kernel", s->kernel);
	exposition_begin(&w->e, METRIC_TRACER);
	exposition_value(&w->e, labels, 1);
	exposition_begin(&w->e, METRIC_SAMPLE);
	exposition_ratio(&w->e, w->p->side_label, 1, s->sample);
	exposition_begin(&w->e, METRIC_POINTS);
	put_with(w, "points", s->ends ? "ends" : "all", 1);
	exposition_begin(&w->e, METRIC_STAGES_RATIO);
	exposition_ratio(&w->e, w->p->side_label, s->stages_burst.on_ns, s->stages_burst.every_ns);
}

static const char *status_text(enum nt_op op, uint16_t status, char number[16])
{
	const char *name = status == ERRORS_OTHER ? SERIES_OTHER : status_name(op, status);

	if (strcmp(name, "unknown") != 0)
		return name;
	snprintf(number, 16, "0x%x", (unsigned int)status);
	return number;
}

/* Left out until a scraper knows the sum of the errors, whose first value is 0. */
static void put_statuses(const struct exposition *e, const char *labels, const struct series *s,
			 enum nt_op op)
{
	char number[16];

	for (unsigned int i = 0; s->errors && i < s->nr_status; i++)
		exposition_with(e, labels, "status", status_text(op, s->status[i].status, number),
				s->status[i].n);
}

static void put_series(const struct exposition *e, enum metric_id id, const char *labels,
		       struct series *s, enum nt_op op)
{
	if (id == METRIC_COMMAND_DURATION && s->hist.below[EXPOSITION_BUCKETS - 1]) {
		exposition_hist(e, labels, &s->hist, &s->now.slow);
	} else if (id == METRIC_COMMANDS) {
		exposition_value(e, labels, s->all.commands);
	} else if (id == METRIC_BYTES) {
		exposition_value(e, labels, s->all.bytes);
	} else if (id == METRIC_ERRORS) {
		exposition_value(e, labels, s->errors);
		s->told = true;
	} else if (id == METRIC_STATUSES) {
		put_statuses(e, labels, s, op);
	} else if (id == METRIC_IN_FLIGHT) {
		exposition_value(e, labels, s->now.waiting.commands);
	} else if (id == METRIC_OLDEST) {
		exposition_ns(e, labels, s->now.waiting.oldest_ns);
	} else if (id == METRIC_AT_DEVICE) {
		exposition_value(e, labels, s->now.waiting.at_device);
	}
}

/* Writes a metric of each series. Shared series come last, and only if they are used. */
static void put_rows(struct writing *w, enum metric_id id)
{
	const struct series_group *g, *others = series_others(w->p->rows);
	struct exposition e;
	size_t at = 0;

	exposition_begin(&w->e, id);
	e = w->e;
	for (bool last = false; (g = series_next(w->p->rows, &at));) {
		last |= g == others;
		for (unsigned int op = 0; op < NT_OPS_NR; op++) {
			labels_t labels;

			if (!g->of[op] || (last && !g->of[op]->used))
				continue;
			snprintf(labels, sizeof(labels), "%s", g->labels);
			exposition_label(labels, "operation", op_name(op));
			e.created_ms = g->of[op]->created_ms;
			put_series(&e, id, labels, g->of[op], (enum nt_op)op);
		}
	}
}

static void put_stage(const struct writing *w, unsigned int stage, const char *name)
{
	const struct series_table *t = w->p->stages[stage];
	struct exposition e = w->e;
	const struct series_group *g;
	size_t at = 0;

	while ((g = series_next(t, &at))) {
		for (unsigned int op = 0; op < NT_OPS_NR; op++) {
			labels_t labels;

			if (!g->of[op] || !g->of[op]->hist.below[EXPOSITION_BUCKETS - 1])
				continue;
			snprintf(labels, sizeof(labels), "%s", g->labels);
			exposition_label(labels, "operation", op_name(op));
			exposition_label(labels, "stage", name);
			e.created_ms = g->of[op]->created_ms;
			exposition_hist(&e, labels, &g->of[op]->hist, NULL);
		}
	}
}

static void put_stages(struct writing *w)
{
	const enum nt_side side = w->p->side;
	uint8_t into[NT_STAGES_MAX];
	char name[STAGE_NAME_LEN];

	stages_join(side, w->from->s->missing, into);
	exposition_begin(&w->e, METRIC_STAGE_DURATION);
	for (unsigned int i = 0; i < stages_nr(side); i++)
		if (into[i] == i)
			put_stage(w, i, stage_joined_name(side, into, i, name, sizeof(name)));
}

/* Writes the counters with a metric of their own, and the others as reasons of losses. */
static void put_counters(struct writing *w)
{
	static const struct {
		unsigned int counter;
		enum metric_id id;
	} own[] = {
		{NT_CNT_REQUEUED, METRIC_RETRIES},
		{NT_CNT_TIMEOUTS, METRIC_TIMEOUTS},
		{NT_CNT_FAILOVERS, METRIC_FAILOVERS},
	};
	const uint64_t *total = w->from->s->counters_total;
	bool told[COUNTERS_NR] = {[COUNTER_IN_FLIGHT] = true};

	for (unsigned int i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		put(w, own[i].id, total[own[i].counter]);
		told[own[i].counter] = true;
	}
	exposition_begin(&w->e, METRIC_LOSSES);
	for (unsigned int i = 0; i < COUNTERS_NR; i++)
		if (!told[i])
			put_with(w, "reason", counter_name(i), total[i]);
}

/* Queues that are past a limit. */
static void put_loss_queues(struct writing *w)
{
	const uint32_t *queues = w->from->s->counters_queues;

	exposition_begin(&w->e, METRIC_LOSS_QUEUES);
	put_with(w, "reason", counter_name(NT_CNT_NO_SLOT), queues[NT_CNT_NO_SLOT]);
	put_with(w, "reason", counter_name(NT_CNT_HIST_FULL), queues[NT_CNT_HIST_FULL]);
}

static size_t folded(const struct page *p)
{
	size_t n = series_folded(p->rows) + tcp_series_folded(p->tcp);

	for (unsigned int i = 0; i < stages_nr(p->side); i++)
		n += series_folded(p->stages[i]);
	return n;
}

static bool has_series(const struct page *p, const struct stats_row *r)
{
	const struct series_group *g =
		r->series_of ? series_group_at(p->rows, r->series, r->series_of) : NULL;

	for (unsigned int op = 0; g && op < NT_OPS_NR; op++)
		if (g->of[op])
			return true;
	return false;
}

/*
 * Once each: the labels of a connection that ended may be there beside those of the controller that
 * has its name now, but rows are sorted by that name.
 */
static void put_controllers(struct writing *w, const struct page *p)
{
	const struct stats *s = w->from->s;
	const char *last = "";
	labels_t labels;

	exposition_begin(&w->e, METRIC_CONTROLLER);
	for (size_t i = 0; p->side == NT_HOST && i < s->nr_rows; i++) {
		const struct stats_row *r = s->rows[i];

		if (r->shared || r->ended_ns || !strcmp(r->controller, last) || !has_series(p, r))
			continue;
		last = r->controller;
		snprintf(labels, sizeof(labels), "%s", p->side_label);
		exposition_label(labels, "controller", r->controller);
		exposition_label(labels, "subsysnqn", series_own_name(r->peer));
		exposition_label(labels, "transport", transport_name(r->transport));
		exposition_value(&w->e, labels, 1);
	}
}

static void put_stats(struct writing *w, struct page *p)
{
	const struct stats *s = w->from->s;

	put_rows(w, METRIC_COMMAND_DURATION);
	put_stages(w);
	put_rows(w, METRIC_COMMANDS);
	put_rows(w, METRIC_BYTES);
	put_rows(w, METRIC_ERRORS);
	put_rows(w, METRIC_STATUSES);
	put_counters(w);
	put_loss_queues(w);
	put_rows(w, METRIC_IN_FLIGHT);
	put_rows(w, METRIC_OLDEST);
	if (s->waiting_at_device)
		put_rows(w, METRIC_AT_DEVICE);
	put(w, METRIC_CONTROLLERS, s->controllers);
	put_controllers(w, p);
	put(w, METRIC_QUEUES, s->queues);
	put(w, METRIC_FOLDED, folded(p));
	put(w, METRIC_ROWS_GONE, s->rows_gone);
	put(w, METRIC_PROGRAMS, w->from->measures ? s->probes : 0);
}

static void put_programs(struct writing *w, enum metric_id id)
{
	const struct cost *c = w->from->cost;
	labels_t labels;

	exposition_begin(&w->e, id);
	for (unsigned int i = 0; i < c->nr; i++) {
		snprintf(labels, sizeof(labels), "%s", w->p->side_label);
		exposition_label(labels, "program", c->program[i].name);
		if (id == METRIC_RUNS)
			exposition_value(&w->e, labels, c->program[i].runs);
		else
			exposition_ns(&w->e, labels, c->program[i].ns);
	}
}

static void put_costs(struct writing *w)
{
	put(w, METRIC_MAPS, w->from->cost->map_bytes);
	if (w->from->cost->counts_runs) {
		put_programs(w, METRIC_RUNS);
		put_programs(w, METRIC_RUN_TIME);
	}
	exposition_begin(&w->e, METRIC_CPU);
	exposition_ns(&w->e, "", w->from->process->cpu_ns);
	exposition_begin(&w->e, METRIC_RESIDENT);
	exposition_value(&w->e, "", w->from->process->resident_bytes);
	exposition_begin(&w->e, METRIC_STARTED);
	exposition_ns(&w->e, "", w->from->started_ms * 1000000);
}

static void put_kept(struct writing *w)
{
	const struct keep_counts *k = w->from->kept;
	labels_t labels;

	put(w, METRIC_KEPT, k->records);
	exposition_begin(&w->e, METRIC_KEPT_SECONDS);
	exposition_ns(&w->e, w->p->side_label, (uint64_t)(k->seconds * NS_PER_SECOND));
	put(w, METRIC_KEPT_BYTES, k->memory_bytes);
	put(w, METRIC_KEPT_LEFT_OUT, k->left_out);
	put(w, METRIC_KEPT_UNNAMED, k->unnamed);
	exposition_begin(&w->e, METRIC_TRIGGERS);
	for (unsigned int i = 0; i < TRIGGERS_MAX; i++)
		if (k->trigger_name[i])
			put_with(w, "trigger", k->trigger_name[i], k->triggers[i]);
	exposition_begin(&w->e, METRIC_FILES);
	put_with(w, "result", "written", k->written);
	put_with(w, "result", "failed", k->failed);
	put_with(w, "result", "removed", k->removed);
	exposition_begin(&w->e, METRIC_NEWEST_FILE);
	if (k->newest) {
		snprintf(labels, sizeof(labels), "%s", w->p->side_label);
		exposition_label(labels, "file", k->newest);
		exposition_ns(&w->e, labels, (uint64_t)k->newest_ns);
	}
	put(w, METRIC_FILES_NOW, k->files);
	put(w, METRIC_FILES_BYTES, k->disk_bytes);
	exposition_begin(&w->e, METRIC_DISK_WAIT);
	exposition_ns(&w->e, w->p->side_label, (uint64_t)(k->disk_seconds * NS_PER_SECOND));
}

static void put_disks(struct writing *w, const struct disk_rows *d)
{
	labels_t labels;

	for (enum metric_id id = METRIC_DISK_REQUESTS; d->nr && id <= METRIC_DISK_TIME; id++) {
		exposition_begin(&w->e, id);
		for (size_t i = 0; i < d->nr; i++) {
			const struct disk_row *row = &d->row[i];
			struct exposition e = w->e;

			snprintf(labels, sizeof(labels), "%s", w->p->side_label);
			exposition_label(labels, "disk", row->disk);
			exposition_label(labels, "by", disk_user_name(row->user));
			exposition_label(labels, "who", row->who);
			e.created_ms = row->created_ms ?: e.created_ms;
			if (id == METRIC_DISK_TIME)
				exposition_ns(&e, labels, row->total.ns);
			else
				exposition_value(&e, labels,
						 id == METRIC_DISK_REQUESTS ? row->total.requests
									    : row->total.bytes);
		}
	}
}

static void put_scrapes(struct writing *w)
{
	const struct page_scrapes *s = w->from->scrapes;
	char code[16];

	put(w, METRIC_CONNECTIONS, s->connections);
	exposition_begin(&w->e, METRIC_RESPONSES);
	for (unsigned int i = 0; i < PAGE_CODES_NR; i++) {
		snprintf(code, sizeof(code), "%u", page_code(i));
		put_with(w, "code", code, s->responses[i]);
	}
	put(w, METRIC_OVERDUE, s->overdue);
	put(w, METRIC_DISPLACED, s->displaced);
}

int page_render(struct page *p, const struct page_source *from, enum exposition_format format,
		char **text, size_t *size)
{
	struct writing w = {
		.e = {.format = format, .created_ms = from->started_ms}, .p = p, .from = from};
	bool failed;

	*text = NULL;
	w.e.f = open_memstream(text, size);
	if (!w.e.f)
		return -ENOMEM;
	put_infos(&w);
	if (from->s)
		put_stats(&w, p);
	tcp_series_put(p->tcp, &w.e);
	if (from->s)
		put_disks(&w, &from->s->disks);
	path_series_put(p->path, &w.e);
	if (from->kept)
		put_kept(&w);
	if (from->merged)
		merged_put(p->merged, &w.e, p->side_label, from->merged);
	put_costs(&w);
	put_scrapes(&w);
	exposition_end(&w.e);
	failed = ferror(w.e.f);
	if (!fclose(w.e.f) && !failed)
		return 0;
	free(*text);
	return -ENOMEM;
}

void page_free(struct page *p)
{
	if (!p)
		return;
	series_free(p->rows);
	for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
		series_free(p->stages[i]);
	merged_free(p->merged);
	tcp_series_free(p->tcp);
	path_series_free(p->path);
	free(p);
}
