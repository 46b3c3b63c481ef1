/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes samples as text: OpenMetrics 1.0, and the older text format of Prometheus (0.0.4) for
 * clients that read only that. Numbers are integers in the unit in which they are counted
 * (nanoseconds, bytes), and are written exactly.
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
 * Bounds of histograms: each power of two from 2^LOWEST to 2^HIGHEST nanoseconds, and +Inf. No
 * bucket of core/buckets.h is split by them. A duration that equals a bound is counted above the
 * bound.
 */
#define EXPOSITION_LOWEST 10
#define EXPOSITION_HIGHEST NT_MAX_BITS
#define EXPOSITION_BUCKETS (EXPOSITION_HIGHEST - EXPOSITION_LOWEST + 2)

/**
 * struct exposition_hist - a histogram as scrapers have seen it
 * @below: number of durations below each bound; the last one is the number of all
 * @sum: nanoseconds
 */
struct exposition_hist {
	uint64_t below[EXPOSITION_BUCKETS];
	unsigned __int128 sum;
};

/**
 * exposition_grow() - raise the figures of a histogram to the present ones
 * @told: the figures that scrapers have seen; all zeroes at first
 * @h: the present figures
 *
 * A scraper takes a counter that falls for one that was reset. While commands end, a collection may
 * count one too many and take it back in the next one (trace/collect.c). Such a figure stays until
 * the present one is higher.
 */
void exposition_grow(struct exposition_hist *told, const struct exposition_hist *h);

/** exposition_add() - add a histogram to @sum */
void exposition_add(struct exposition_hist *sum, const struct hist *h);

/**
 * struct exposition - the output and its format
 * @f: stream
 * @created_ms: when counters began to count: milliseconds since 1970
 * @metric: the metric that the next samples are of
 */
struct exposition {
	FILE *f;
	enum exposition_format format;
	uint64_t created_ms;
	const struct metric *metric;
};

/** exposition_content_type() - the value of the header Content-Type */
const char *exposition_content_type(enum exposition_format format);

/**
 * exposition_begin() - write the lines before the samples of a metric, which have to follow at once
 */
void exposition_begin(struct exposition *e, enum metric_id id);

/**
 * exposition_value() - write a sample of a counter or gauge, or the sample of an info, which is 1
 * @labels: from exposition_label(); "" without labels
 */
void exposition_value(const struct exposition *e, const char *labels, uint64_t n);

/** exposition_with() - the same, with the additional label @name="@text" */
void exposition_with(const struct exposition *e, const char *labels, const char *name,
		     const char *text, uint64_t n);

/** exposition_ns() - the same for nanoseconds, which are written as seconds */
void exposition_ns(const struct exposition *e, const char *labels, uint64_t ns);

/** exposition_ratio() - write 1 / @parts */
void exposition_ratio(const struct exposition *e, const char *labels, uint32_t parts);

/* Limit for names and values of an exemplar's labels together: OpenMetrics 1.0, "Exemplars". */
#define EXPOSITION_EXEMPLAR_LEN 128

/**
 * struct exposition_exemplar - one of the durations of a histogram
 * @ns: the duration; 0: there is none
 * @at_ms: when it was observed: milliseconds since 1970
 */
struct exposition_exemplar {
	char labels[EXPOSITION_EXEMPLAR_LEN];
	uint64_t ns;
	uint64_t at_ms;
};

/**
 * exposition_hist() - write the samples of a histogram
 * @exemplar: one of its durations, or NULL; left out in the older format
 */
void exposition_hist(const struct exposition *e, const char *labels,
		     const struct exposition_hist *h, const struct exposition_exemplar *exemplar);

/** exposition_end() - write the end of the text */
void exposition_end(const struct exposition *e);

/*
 * Room for the labels of one sample: two NQNs of NT_NQN_LEN bytes, each of which may take six, and
 * the others.
 */
#define EXPOSITION_LABELS_LEN 4096

/**
 * exposition_label() - append a label to @labels
 * @labels: EXPOSITION_LABELS_LEN bytes; "" at first
 * @text: its value, any bytes: hidden characters and bytes that are not UTF-8 are replaced
 *        (TEXT_SEEN), backslashes and quotes are escaped, and what is longer than the longest NQN
 *        is cut
 */
void exposition_label(char *labels, const char *name, const char *text);

#endif /* NTPROF_SERVE_EXPOSITION_H */
