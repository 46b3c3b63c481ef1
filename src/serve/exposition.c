// SPDX-License-Identifier: GPL-2.0-only
#include "serve/exposition.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "core/text.h"
#include "shared/record.h"

#define METRIC_ROW(id, name, type, unit, labels, help) \
	[METRIC_##id] = {name, METRIC_##type, unit, labels, help},

const struct metric *metric_of(enum metric_id id)
{
	static const struct metric metrics[METRICS_NR] = {METRICS(METRIC_ROW)};

	return &metrics[id];
}

const char *metric_type_name(enum metric_type type)
{
	static const char *const names[METRIC_TYPES] = {
		[METRIC_COUNTER] = "counter",
		[METRIC_GAUGE] = "gauge",
		[METRIC_HISTOGRAM] = "histogram",
		[METRIC_INFO] = "info",
	};

	return names[type];
}

#define NS_PER_SECOND UINT64_C(1000000000)

/* Room for one label's value, before and after escaping. */
#define VALUE_LEN (NT_NQN_LEN * TEXT_UTF8_GROWS + 1)
#define ESCAPED_LEN (2 * VALUE_LEN)
_Static_assert(EXPOSITION_LABELS_LEN > 2 * ESCAPED_LEN + 1024, "any two and ours have room");

const char *exposition_content_type(enum exposition_format format)
{
	static const char *const types[EXPOSITION_FORMATS] = {
		[EXPOSITION_OPENMETRICS] =
			"application/openmetrics-text; version=1.0.0; charset=utf-8",
		[EXPOSITION_PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8",
	};

	return types[format];
}

void exposition_add(struct exposition_hist *sum, const struct hist *h)
{
	uint64_t below = 0;
	unsigned int b = 0;

	for (unsigned int i = 0; i < EXPOSITION_BUCKETS; i++) {
		unsigned int end = i + 1 < EXPOSITION_BUCKETS
					   ? nt_bucket(1ULL << (EXPOSITION_LOWEST + i))
					   : NT_BUCKETS;

		for (; b < end; b++)
			below += h->buckets[b];
		sum->below[i] += below;
	}
	sum->sum += h->sum;
}

static void grow(uint64_t *told, uint64_t now)
{
	if (*told < now)
		*told = now;
}

void exposition_grow(struct exposition_hist *told, const struct exposition_hist *h)
{
	for (unsigned int i = 0; i < EXPOSITION_BUCKETS; i++)
		grow(&told->below[i], h->below[i]);
	if (told->sum < h->sum)
		told->sum = h->sum;
}

/* The end of a sample's name. In 0.0.4 the family has the name of its samples. */
static const char *suffix(enum metric_type type)
{
	return type == METRIC_COUNTER ? "_total" : type == METRIC_INFO ? "_info" : "";
}

void exposition_begin(struct exposition *e, enum metric_id id)
{
	const struct metric *m = metric_of(id);
	const bool open = e->format == EXPOSITION_OPENMETRICS;
	const char *after = open ? "" : suffix(m->type);
	const char *type = !open && m->type == METRIC_INFO ? "gauge" : metric_type_name(m->type);

	e->metric = m;
	fprintf(e->f, "# TYPE %s%s %s\n", m->name, after, type);
	if (open && m->unit[0])
		fprintf(e->f, "# UNIT %s %s\n", m->name, m->unit);
	/* Our help texts have no backslash and no line feed. 0.0.4 does not escape quotes. */
	fprintf(e->f, "# HELP %s%s ", m->name, after);
	for (const char *c = m->help; *c; c++)
		fprintf(e->f, open && *c == '"' ? "\\%c" : "%c", *c);
	fputc('\n', e->f);
}

/*
 * Writes the start of a line: name, labels and the space before the value. @more: another label, or
 * NULL
 */
static void sample(const struct exposition *e, const char *after, const char *labels,
		   const char *more)
{
	fprintf(e->f, "%s%s", e->metric->name, after);
	if (labels[0] || more)
		fprintf(e->f, "{%s%s%s}", labels, labels[0] && more ? "," : "", more ?: "");
	fputc(' ', e->f);
}

/* Writes exact seconds, with at least one decimal and without trailing zeros. */
static char *seconds(char *buf, size_t size, unsigned __int128 ns)
{
	int len = snprintf(buf, size, "%" PRIu64 ".%09" PRIu64, (uint64_t)(ns / NS_PER_SECOND),
			   (uint64_t)(ns % NS_PER_SECOND));

	while (buf[len - 1] == '0' && buf[len - 2] != '.')
		buf[--len] = '\0';
	return buf;
}

/* Writes when a counter or histogram began to count. */
static void created(const struct exposition *e, const char *labels)
{
	if (e->format != EXPOSITION_OPENMETRICS)
		return;
	sample(e, "_created", labels, NULL);
	fprintf(e->f, "%" PRIu64 ".%03" PRIu64 "\n", e->created_ms / 1000, e->created_ms % 1000);
}

static void value(const struct exposition *e, const char *labels, const char *text)
{
	sample(e, suffix(e->metric->type), labels, NULL);
	fprintf(e->f, "%s\n", text);
	if (e->metric->type == METRIC_COUNTER)
		created(e, labels);
}

void exposition_value(const struct exposition *e, const char *labels, uint64_t n)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	value(e, labels, text);
}

void exposition_with(const struct exposition *e, const char *labels, const char *name,
		     const char *text, uint64_t n)
{
	char more[EXPOSITION_LABELS_LEN];

	snprintf(more, sizeof(more), "%s", labels);
	exposition_label(more, name, text);
	exposition_value(e, more, n);
}

void exposition_ns(const struct exposition *e, const char *labels, unsigned __int128 ns)
{
	char text[32];

	value(e, labels, seconds(text, sizeof(text), ns));
}

void exposition_ratio(const struct exposition *e, const char *labels, uint64_t part, uint64_t whole)
{
	char text[32];

	snprintf(text, sizeof(text), "%.9g", whole ? (double)part / (double)whole : 1.0);
	value(e, labels, text);
}

/* Writes the exemplar after the bucket that counts it: the lowest one with a bound above it. */
static void exemplar_at(const struct exposition *e, const struct exposition_exemplar *x,
			unsigned int bucket)
{
	const uint64_t low = bucket ? 1ULL << (EXPOSITION_LOWEST + bucket - 1) : 0;
	const bool last = bucket == EXPOSITION_BUCKETS - 1;
	char text[32];

	if (e->format == EXPOSITION_OPENMETRICS && x && x->ns && x->ns >= low &&
	    (last || x->ns < 1ULL << (EXPOSITION_LOWEST + bucket)))
		fprintf(e->f, " # {%s} %s %" PRIu64 ".%03" PRIu64, x->labels,
			seconds(text, sizeof(text), x->ns), x->at_ms / 1000, x->at_ms % 1000);
	fputc('\n', e->f);
}

void exposition_hist(const struct exposition *e, const char *labels,
		     const struct exposition_hist *h, const struct exposition_exemplar *exemplar)
{
	const uint64_t count = h->below[EXPOSITION_BUCKETS - 1];
	char bound[48], text[32];

	for (unsigned int i = 0; i + 1 < EXPOSITION_BUCKETS; i++) {
		snprintf(bound, sizeof(bound), "le=\"%s\"",
			 seconds(text, sizeof(text), 1ULL << (EXPOSITION_LOWEST + i)));
		sample(e, "_bucket", labels, bound);
		fprintf(e->f, "%" PRIu64, h->below[i]);
		exemplar_at(e, exemplar, i);
	}
	sample(e, "_bucket", labels, "le=\"+Inf\"");
	fprintf(e->f, "%" PRIu64, count);
	exemplar_at(e, exemplar, EXPOSITION_BUCKETS - 1);
	sample(e, "_count", labels, NULL);
	fprintf(e->f, "%" PRIu64 "\n", count);
	sample(e, "_sum", labels, NULL);
	fprintf(e->f, "%s\n", seconds(text, sizeof(text), h->sum));
	created(e, labels);
}

void exposition_end(const struct exposition *e)
{
	if (e->format == EXPOSITION_OPENMETRICS)
		fputs("# EOF\n", e->f);
}

void exposition_label(char *labels, const char *name, const char *text)
{
	size_t used = strlen(labels), len;
	char clean[VALUE_LEN], escaped[ESCAPED_LEN], *to = escaped;

	text_copy(clean, sizeof(clean), text, TEXT_SEEN);
	for (const char *from = clean; *from; from++) {
		if (*from == '\\' || *from == '"')
			*to++ = '\\';
		*to++ = *from;
	}
	*to = '\0';
	len = strlen(name) + (size_t)(to - escaped) + strlen(",=\"\"");
	if (used + len >= EXPOSITION_LABELS_LEN)
		return;
	snprintf(labels + used, EXPOSITION_LABELS_LEN - used, "%s%s=\"%s\"", used ? "," : "", name,
		 escaped);
}
