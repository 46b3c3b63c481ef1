/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes samples as text: OpenMetrics 1.0, and the older text format of Prometheus (0.0.4) for those who read only
 * that. Numbers are whole in what they are counted in (nanoseconds, bytes), and are written exactly.
 */
#ifndef NTPROF_SERVE_EXPOSITION_H
#define NTPROF_SERVE_EXPOSITION_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "core/hist.h"
#include "serve/metrics.h"

enum exposition_format { EXPOSITION_OPENMETRICS, EXPOSITION_PROMETHEUS, EXPOSITION_FORMATS };

/*
 * Bounds of histograms: 2^LOWEST to 2^HIGHEST nanoseconds, each power of two between, and +Inf. Buckets of core/buckets.h
 * lie between them, so that none is split: a duration of exactly a bound is counted above it.
 */
#define EXPOSITION_LOWEST 10
#define EXPOSITION_HIGHEST NT_MAX_BITS
#define EXPOSITION_BUCKETS (EXPOSITION_HIGHEST - EXPOSITION_LOWEST + 2)

/**
 * struct exposition_hist - what a scraper has been told of a histogram
 * @below: how many durations were below each bound; the last one is how many there were
 * @sum: nanoseconds
 */
struct exposition_hist {
	uint64_t below[EXPOSITION_BUCKETS];
	unsigned __int128 sum;
};

/**
 * exposition_grow() - bring up to date what is told
 * @told: what was told the last time, zeroes at first
 * @h: what there is
 *
 * A scraper takes a counter that falls for one that began anew. Who collects while commands end may count one too much
 * and take it back (trace/collect.c): such a figure stays what it was until it is more.
 */
void exposition_grow(struct exposition_hist *told, const struct exposition_hist *h);

/** exposition_add() - add a histogram to @sum */
void exposition_add(struct exposition_hist *sum, const struct hist *h);

/**
 * struct exposition - where to, and as what
 * @f: stream
 * @created_ms: since when counters count: milliseconds since 1970
 * @metric: whose samples come now
 */
struct exposition {
	FILE *f;
	enum exposition_format format;
	uint64_t created_ms;
	const struct metric *metric;
};

/** exposition_content_type() - for the header of that name */
const char *exposition_content_type(enum exposition_format format);

/** exposition_begin() - the lines before a metric's samples, all of which follow at once */
void exposition_begin(struct exposition *e, enum metric_id id);

/**
 * exposition_value() - a sample of a counter or gauge, or the one of an info, which is 1
 * @labels: of exposition_label(), "" without
 */
void exposition_value(const struct exposition *e, const char *labels, uint64_t n);

/** exposition_with() - the same with one label more than @labels, which is @name="@text" */
void exposition_with(const struct exposition *e, const char *labels, const char *name,
		     const char *text, uint64_t n);

/** exposition_ns() - the same of nanoseconds, in seconds */
void exposition_ns(const struct exposition *e, const char *labels, uint64_t ns);

/** exposition_ratio() - a share, 1 / @parts */
void exposition_ratio(const struct exposition *e, const char *labels, uint32_t parts);

/* OpenMetrics 1.0, "Exemplars": names and values of its labels together. */
#define EXPOSITION_EXEMPLAR_LEN 128

/**
 * struct exposition_exemplar - one of the durations of a histogram
 * @ns: it; 0: there is none
 * @at_ms: when it was observed: milliseconds since 1970
 */
struct exposition_exemplar {
	char labels[EXPOSITION_EXEMPLAR_LEN];
	uint64_t ns;
	uint64_t at_ms;
};

/**
 * exposition_hist() - the samples of a histogram
 * @exemplar: one of its durations, or NULL. The older format has none
 */
void exposition_hist(const struct exposition *e, const char *labels,
		     const struct exposition_hist *h, const struct exposition_exemplar *exemplar);

/** exposition_end() - nothing follows */
void exposition_end(const struct exposition *e);

/* The longest that labels of one sample are: two NQNs of NT_NQN_LEN bytes, of which each may take six, and ours. */
#define EXPOSITION_LABELS_LEN 4096

/**
 * exposition_label() - append a label to @labels
 * @labels: of EXPOSITION_LABELS_LEN bytes; "" at first
 * @text: its value, any bytes. What is no UTF-8 or hidden is replaced (TEXT_SEEN); backslashes and quotes are escaped. One that is longer than an NQN can be is cut
 */
void exposition_label(char *labels, const char *name, const char *text);

#endif /* NTPROF_SERVE_EXPOSITION_H */
