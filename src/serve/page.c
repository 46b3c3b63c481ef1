// SPDX-License-Identifier: GPL-2.0-only
#include "serve/page.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "core/segments.h"
#include "core/statuses.h"
#include "serve/series.h"

#define NS_PER_SECOND 1e9

#define CODE_NUMBER(code) [PAGE_CODE_##code] = (code),

unsigned int page_code(enum page_code code)
{
	static const unsigned int numbers[PAGE_CODES_NR] = {PAGE_CODES(CODE_NUMBER)};

	return numbers[code];
}

/* @told: what scrapers know of the stages, which only grows */
struct page {
	enum nt_side side;
	bool by_queue;
	struct series_table *rows;
	struct series_table *errors;
	struct exposition_hist told[NT_OPS_NR][NT_STAGES_MAX];
	struct merged *merged;
	char side_label[32];
};

typedef char labels_t[EXPOSITION_LABELS_LEN];

static void queue_label(const struct page *p, char *labels, unsigned int qid, bool known)
{
	char text[16];

	if (!p->by_queue)
		return;
	snprintf(text, sizeof(text), "%u", qid);
	exposition_label(labels, "queue", known ? text : SERIES_OTHER);
}

/*
 * The labels of a row. A host's peer is the subsystem, a target's the host.
 * @controller: "" where several are one
 */
static void row_labels(const struct page *p, labels_t labels, const char *controller,
		       const char *peer, const char *subsystem, unsigned int qid, const char *op)
{
	const bool known = controller[0] != '\0', host = p->side == NT_HOST;

	snprintf(labels, EXPOSITION_LABELS_LEN, "%s", p->side_label);
	exposition_label(labels, "controller", known ? controller : SERIES_OTHER);
	exposition_label(labels, "subsysnqn", !known ? SERIES_OTHER : host ? peer : subsystem);
	if (!host)
		exposition_label(labels, "hostnqn", known ? peer : SERIES_OTHER);
	exposition_label(labels, "operation", op);
	queue_label(p, labels, qid, known);
}

/* Of the controller of an error: some command of it has ended well, or will. */
static const char *subsystem_of(const struct stats *s, const struct error_count *e)
{
	for (size_t i = 0; i < s->nr_rows; i++)
		if (!strcmp(s->rows[i]->controller, e->controller) &&
		    !strcmp(s->rows[i]->peer, e->peer))
			return s->rows[i]->other;
	return "";
}

/* Of one status more. */
static void error_labels(const struct page *p, labels_t labels, const struct stats *s,
			 const struct error_count *e)
{
	const bool known = e->status != ERRORS_OTHER;
	const char *name = known ? status_name(e->op, e->status) : SERIES_OTHER;
	char number[16];

	row_labels(p, labels, e->controller, e->peer, subsystem_of(s, e), e->qid, op_name(e->op));
	if (!strcmp(name, "unknown")) {
		snprintf(number, sizeof(number), "0x%x", (unsigned int)e->status);
		name = number;
	}
	exposition_label(labels, "status", name);
}

struct page *page_new(enum nt_side side, bool by_queue)
{
	struct page *p = calloc(1, sizeof(*p));
	labels_t labels;

	if (!p)
		return NULL;
	p->side = side;
	p->by_queue = by_queue;
	snprintf(p->side_label, sizeof(p->side_label), "side=\"%s\"", side_name(side));
	row_labels(p, labels, "", "", "", 0, SERIES_OTHER);
	p->rows = series_new(labels);
	exposition_label(labels, "status", SERIES_OTHER);
	p->errors = series_new(labels);
	p->merged = merged_new();
	if (p->rows && p->errors && p->merged)
		return p;
	page_free(p);
	return NULL;
}

static void take_row(struct series *to, const struct stats_row *r)
{
	exposition_add(&to->now.hist, &r->total);
	to->now.all.commands += r->total.count + r->others_total.commands;
	to->now.all.bytes += r->total.bytes + r->others_total.bytes;
	to->now.waiting.commands += r->waiting.commands;
	to->now.waiting.at_device += r->waiting.at_device;
	if (to->now.waiting.oldest_ns < r->waiting.oldest_ns)
		to->now.waiting.oldest_ns = r->waiting.oldest_ns;
}

/* The command is an exemplar of its row. */
static void take_slow(struct series *to, const struct stats_row *r, const struct page_slow *slow)
{
	struct exposition_exemplar *x = &to->now.slow;
	char labels[EXPOSITION_LABELS_LEN] = "", number[16];

	if (!slow->ns || r->shared || slow->qid != r->qid ||
	    strcmp(slow->controller, r->controller) != 0)
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

static int take_rows(struct page *p, const struct stats *s, const struct page_slow *slow)
{
	const struct series *one;
	size_t at = 0;
	labels_t labels;

	series_begin(p->rows);
	for (size_t i = 0; i < s->nr_rows; i++) {
		const struct stats_row *r = s->rows[i];
		struct series *to;

		row_labels(p, labels, r->shared ? "" : r->controller, r->peer, r->other, r->qid,
			   r->shared ? SERIES_OTHER : op_name(r->op));
		to = series_get(p->rows, labels);
		if (!to)
			return -ENOMEM;
		take_row(to, r);
		if (slow)
			take_slow(to, r, &slow[r->op]);
	}
	while ((one = series_next(p->rows, &at)))
		exposition_grow(&((struct series *)one)->told, &one->now.hist);
	return 0;
}

static int take_errors(struct page *p, const struct stats *s)
{
	labels_t labels;

	series_begin(p->errors);
	for (size_t i = 0; i < s->errors.nr; i++) {
		struct series *to;

		error_labels(p, labels, s, &s->errors.row[i]);
		to = series_get(p->errors, labels);
		if (!to)
			return -ENOMEM;
		to->now.errors += s->errors.row[i].total;
	}
	return 0;
}

/* What is written, and of what. */
struct writing {
	struct exposition e;
	const struct page *p;
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
	exposition_ratio(&w->e, w->p->side_label, s->sample);
}

/* A metric of each row. */
static void put_rows(struct writing *w, enum metric_id id)
{
	const struct series *s;
	size_t at = 0;

	exposition_begin(&w->e, id);
	while ((s = series_next(id == METRIC_ERRORS ? w->p->errors : w->p->rows, &at))) {
		if (id == METRIC_COMMAND_DURATION)
			exposition_hist(&w->e, s->labels, &s->told, &s->now.slow);
		else if (id == METRIC_COMMANDS)
			exposition_value(&w->e, s->labels, s->now.all.commands);
		else if (id == METRIC_BYTES)
			exposition_value(&w->e, s->labels, s->now.all.bytes);
		else if (id == METRIC_ERRORS)
			exposition_value(&w->e, s->labels, s->now.errors);
		else if (id == METRIC_IN_FLIGHT)
			exposition_value(&w->e, s->labels, s->now.waiting.commands);
		else if (id == METRIC_OLDEST)
			exposition_ns(&w->e, s->labels, s->now.waiting.oldest_ns);
		else if (id == METRIC_AT_DEVICE)
			exposition_value(&w->e, s->labels, s->now.waiting.at_device);
	}
}

static void put_stage(const struct writing *w, const struct exposition_hist *told, unsigned int op,
		      const uint8_t into[NT_STAGES_MAX], unsigned int stage)
{
	char name[STAGE_NAME_LEN];
	labels_t labels;

	if (!told->below[EXPOSITION_BUCKETS - 1] || into[stage] != stage)
		return;
	snprintf(labels, sizeof(labels), "%s", w->p->side_label);
	exposition_label(labels, "operation", op_name(op));
	exposition_label(labels, "stage",
			 stage_joined_name(w->p->side, into, stage, name, sizeof(name)));
	exposition_hist(&w->e, labels, told, NULL);
}

static void put_stages(struct writing *w, struct page *p)
{
	const struct stats *s = w->from->s;
	uint8_t into[NT_STAGES_MAX];

	stages_join(p->side, s->missing, into);
	exposition_begin(&w->e, METRIC_STAGE_DURATION);
	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		for (unsigned int i = 0; i < stages_nr(p->side); i++) {
			struct exposition_hist now = {.sum = 0};

			exposition_add(&now, &s->stage_total[op][i]);
			exposition_grow(&p->told[op][i], &now);
			put_stage(w, &p->told[op][i], op, into, i);
		}
	}
}

/* Counters that have a metric of their own, and the others by their names. */
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

/* Of those that are past a limit. */
static void put_loss_queues(struct writing *w)
{
	const uint32_t *queues = w->from->s->counters_queues;

	exposition_begin(&w->e, METRIC_LOSS_QUEUES);
	put_with(w, "reason", counter_name(NT_CNT_NO_SLOT), queues[NT_CNT_NO_SLOT]);
	put_with(w, "reason", counter_name(NT_CNT_HIST_FULL), queues[NT_CNT_HIST_FULL]);
}

static void put_stats(struct writing *w, struct page *p)
{
	const struct stats *s = w->from->s;

	put_rows(w, METRIC_COMMAND_DURATION);
	put_stages(w, p);
	put_rows(w, METRIC_COMMANDS);
	put_rows(w, METRIC_BYTES);
	put_rows(w, METRIC_ERRORS);
	put_counters(w);
	put_loss_queues(w);
	put_rows(w, METRIC_IN_FLIGHT);
	put_rows(w, METRIC_OLDEST);
	if (s->waiting_at_device)
		put_rows(w, METRIC_AT_DEVICE);
	put(w, METRIC_CONTROLLERS, s->controllers);
	put(w, METRIC_QUEUES, s->queues);
	put(w, METRIC_FOLDED, series_folded(p->rows) + series_folded(p->errors));
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
	/* What follows is of the process. */
	w->e.created_ms = w->from->started_ms;
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

	put(w, METRIC_KEPT, k->records);
	exposition_begin(&w->e, METRIC_KEPT_SECONDS);
	exposition_ns(&w->e, w->p->side_label, (uint64_t)(k->seconds * NS_PER_SECOND));
	put(w, METRIC_KEPT_BYTES, k->memory_bytes);
	put(w, METRIC_KEPT_LEFT_OUT, k->left_out);
	exposition_begin(&w->e, METRIC_TRIGGERS);
	for (unsigned int i = 0; i < TRIGGERS_MAX; i++)
		if (k->trigger_name[i])
			put_with(w, "trigger", k->trigger_name[i], k->triggers[i]);
	exposition_begin(&w->e, METRIC_FILES);
	put_with(w, "result", "written", k->written);
	put_with(w, "result", "failed", k->failed);
	put_with(w, "result", "removed", k->removed);
	put(w, METRIC_FILES_NOW, k->files);
	put(w, METRIC_FILES_BYTES, k->disk_bytes);
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
		.e = {.format = format, .created_ms = from->began_ms}, .p = p, .from = from};
	int err = from->s ? take_rows(p, from->s, from->slow) ?: take_errors(p, from->s) : 0;
	bool failed;

	if (err)
		return err;
	*text = NULL;
	w.e.f = open_memstream(text, size);
	if (!w.e.f)
		return -ENOMEM;
	put_infos(&w);
	if (from->s)
		put_stats(&w, p);
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
	series_free(p->errors);
	merged_free(p->merged);
	free(p);
}
