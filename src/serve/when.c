// SPDX-License-Identifier: GPL-2.0-only
#include "serve/when.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/names.h"
#include "core/path_events.h"
#include "core/segments.h"
#include "core/text.h"

#define NS_PER_SECOND 1e9

static const char *parse_kind(struct words *r, struct when_condition *c)
{
	static const struct {
		const char *name;
		enum when_kind kind;
	} kinds[] = {{"latency", WHEN_LATENCY},
		     {"errors", WHEN_ERRORS},
		     {"oldest", WHEN_OLDEST},
		     {"state", WHEN_STATE}};
	char word[WORD_LEN];

	words_next(r, word);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(word, kinds[i].name) != 0)
			continue;
		c->kind = kinds[i].kind;
		return NULL;
	}
	c->kind = WHEN_PERCENTILE;
	c->parts = hist_parts_parse(word);
	return c->parts ? NULL
			: "neither latency, a percentile such as p99, errors, oldest nor state";
}

static const char *parse_op(struct words *r, struct when_condition *c)
{
	char word[WORD_LEN];

	c->op = NT_OPS_NR;
	if (!words_take(r, '('))
		return NULL;
	words_next(r, word);
	c->op = op_named(word);
	if (c->op == NT_OPS_NR)
		return "no operation (such as read or write)";
	return words_take(r, ')') ? NULL : "no closing bracket";
}

/* The state of a controller: "=connecting". */
static const char *parse_state(struct words *r, struct when_condition *c)
{
	char word[WORD_LEN];

	if (!words_take(r, '='))
		return "not '=', which comes here";
	words_next(r, word);
	c->op = NT_OPS_NR;
	c->limit = path_state_named(word);
	return c->limit < NT_PATH_STATES_NR
		       ? NULL
		       : "no state of a controller (such as connecting, resetting or live)";
}

static const char *parse_limit(struct words *r, struct when_condition *c)
{
	char word[WORD_LEN], *end;

	words_next(r, word);
	if (c->kind != WHEN_ERRORS)
		return parse_seconds(word, &c->limit) ? "not a time (such as 5ms)" : NULL;
	errno = 0;
	c->limit = strtoull(word, &end, 10);
	return errno || *end || !isdigit((unsigned char)word[0]) ? "not a whole number" : NULL;
}

static const char *parse_over(struct words *r, struct when_condition *c)
{
	const char *before = r->p;
	char word[WORD_LEN];

	words_next(r, word);
	if (strcmp(word, "over") != 0) {
		r->p = before;
		return NULL;
	}
	if (c->kind != WHEN_PERCENTILE && c->kind != WHEN_ERRORS)
		return "'over' is for percentiles and errors";
	words_next(r, word);
	if (parse_seconds(word, &c->over_ns) || !c->over_ns)
		return "not a time (such as 10s)";
	return c->over_ns > WHEN_OVER_MAX_NS ? "too long, the most is " WHEN_OVER_MAX : NULL;
}

/* Keeps the text with the blanks in it, but without those around it. */
static const char *keep_text(struct when_condition *c, const char *from, const char *to)
{
	size_t n = (size_t)(to - from);

	if (n >= sizeof(c->text))
		return "too long for a condition";
	memcpy(c->text, from, n);
	c->text[n] = '\0';
	return NULL;
}

static const char *parse_condition(struct words *r, struct when_condition *c)
{
	const char *from = r->p + strspn(r->p, " \t"), *wrong;

	*c = (struct when_condition){.text = ""};
	wrong = parse_kind(r, c) ?: c->kind == WHEN_STATE ? parse_state(r, c) : parse_op(r, c);
	if (wrong)
		return wrong;
	if (c->kind != WHEN_STATE && !words_take(r, '>'))
		return "not '>', which comes here";
	wrong = c->kind == WHEN_STATE ? NULL : parse_limit(r, c) ?: parse_over(r, c);
	if (wrong)
		return wrong;
	r->at = from;
	return keep_text(c, from, r->p);
}

static bool has(const struct when *w, const char *text)
{
	for (unsigned int i = 0; i < w->nr; i++)
		if (!strcmp(w->condition[i].text, text))
			return true;
	return false;
}

const char *when_parse(struct when *w, const char *text, size_t *at)
{
	struct words r = {.p = text, .blanks = true};
	const char *wrong = NULL;

	do {
		struct when_condition c;

		wrong = parse_condition(&r, &c);
		/* The text is a label: the same text twice would be two samples of one series. */
		if (!wrong && has(w, c.text))
			continue;
		if (!wrong && w->nr == WHEN_CONDITIONS_MAX)
			wrong = "too many, the most are 16 conditions";
		if (!wrong)
			w->condition[w->nr++] = c;
	} while (!wrong && words_take(&r, ','));
	if (!wrong && !words_take(&r, '\0'))
		wrong = "neither a comma nor the end";
	*at = (size_t)(r.at - text) + 1;
	return wrong;
}

/* Whether a condition applies to operation @op of queue @qid. */
static bool is_of(const struct when_condition *c, unsigned int op, unsigned int qid)
{
	if (c->op != NT_OPS_NR)
		return c->op == op;
	return qid && op != NT_OP_ADMIN && op != NT_OP_FABRICS;
}

const struct when_condition *when_record(struct when *w, const struct nt_record *r)
{
	const struct when_condition *made = NULL;
	uint64_t ns = record_latency_ns(r);

	for (unsigned int i = 0; i < w->nr; i++) {
		struct when_condition *c = &w->condition[i];

		if (c->kind != WHEN_LATENCY || c->now || ns <= c->limit || !is_of(c, r->op, r->qid))
			continue;
		c->now = true;
		if (!c->before && !made)
			made = c;
	}
	return made;
}

const struct when_condition *when_event(struct when *w, const struct nt_path_event *e)
{
	const struct when_condition *made = NULL;

	for (unsigned int i = 0; e->kind == NT_PATH_STATE && i < w->nr; i++) {
		struct when_condition *c = &w->condition[i];

		if (c->kind != WHEN_STATE || c->now || c->limit != e->state)
			continue;
		c->now = true;
		if (!c->before && !made)
			made = c;
	}
	return made;
}

/*
 * Rows without room are shared by operation, but for NT_OP_OTHER, which may be of admin queues as
 * well.
 */
static bool is_of_row(const struct when_condition *c, const struct stats_row *r)
{
	return is_of(c, r->op, r->qid || (r->shared && r->op != NT_OP_OTHER));
}

static void gather_latencies(const struct when_condition *c, const struct stats *s,
			     struct hist *into)
{
	for (size_t i = 0; i < s->nr_rows; i++)
		if (is_of_row(c, s->rows[i]))
			hist_merge(into, &s->rows[i]->interval);
}

/* Errors without a controller found no room in the programs: they count as an I/O queue's. */
static uint64_t count_errors(const struct when_condition *c, const struct stats *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->errors.nr; i++) {
		const struct error_count *e = &s->errors.row[i];

		if (is_of(c, e->op, e->qid || !e->controller[0]))
			n += e->interval;
	}
	return n;
}

static uint64_t oldest(const struct when_condition *c, const struct stats *s)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < s->nr_rows; i++)
		if (is_of_row(c, s->rows[i]) && s->rows[i]->waiting.oldest_ns > ns)
			ns = s->rows[i]->waiting.oldest_ns;
	return ns;
}

/* The part for an interval that began at @began_ns. */
static struct when_part *part_of(struct when_condition *c, uint64_t began_ns)
{
	struct when_part *p = &c->part[c->newest];

	if (p->began_ns && began_ns - p->began_ns < c->over_ns / WHEN_PARTS)
		return p;
	c->newest = (c->newest + 1) % (WHEN_PARTS + 1);
	p = &c->part[c->newest];
	*p = (struct when_part){.began_ns = began_ns ?: 1};
	return p;
}

/* Adds the interval to @c's parts, and sums up in @sum the parts that are not too old. */
static void sum_up(struct when_condition *c, const struct stats *s, uint64_t now_ns,
		   struct when_part *sum)
{
	uint64_t length = (uint64_t)(s->seconds * NS_PER_SECOND), began;
	struct when_part *p;

	if (!c->over_ns) {
		gather_latencies(c, s, &sum->latencies);
		sum->errors = count_errors(c, s);
		return;
	}
	if (!c->part)
		c->part = calloc(WHEN_PARTS + 1, sizeof(*c->part));
	/* Without memory the condition is never true. */
	if (!c->part)
		return;
	began = now_ns > length ? now_ns - length : 0;
	p = part_of(c, began);
	gather_latencies(c, s, &p->latencies);
	p->errors += count_errors(c, s);
	for (unsigned int i = 0; i <= WHEN_PARTS; i++) {
		p = &c->part[i];
		if (!p->began_ns || now_ns - p->began_ns > c->over_ns + length)
			continue;
		hist_merge(&sum->latencies, &p->latencies);
		sum->errors += p->errors;
	}
}

static bool holds(struct when_condition *c, const struct stats *s, uint64_t now_ns)
{
	struct when_part sum = {.errors = 0};

	if (c->kind == WHEN_OLDEST)
		return oldest(c, s) > c->limit;
	sum_up(c, s, now_ns, &sum);
	if (c->kind == WHEN_ERRORS)
		return sum.errors > c->limit;
	return hist_tells(&sum.latencies, c->parts) &&
	       hist_percentile(&sum.latencies, (double)c->parts / HIST_PARTS_OF_PERCENT) > c->limit;
}

const struct when_condition *when_interval(struct when *w, const struct stats *s, uint64_t now_ns)
{
	const struct when_condition *made = NULL;

	for (unsigned int i = 0; i < w->nr; i++) {
		struct when_condition *c = &w->condition[i];

		if (c->kind != WHEN_LATENCY && c->kind != WHEN_STATE) {
			c->now = holds(c, s, now_ns);
			if (c->now && !c->before && !made)
				made = c;
		}
		c->before = c->now;
		c->now = false;
	}
	return made;
}

void when_go_on(struct when *w, struct when *before)
{
	for (unsigned int i = 0; i < w->nr; i++) {
		for (unsigned int k = 0; k < before->nr; k++) {
			struct when_condition c = w->condition[i];

			if (strcmp(c.text, before->condition[k].text) != 0)
				continue;
			w->condition[i] = before->condition[k];
			before->condition[k] = c;
		}
	}
}

void when_free(struct when *w)
{
	for (unsigned int i = 0; i < w->nr; i++)
		free(w->condition[i].part);
	*w = (struct when){.nr = 0};
}
