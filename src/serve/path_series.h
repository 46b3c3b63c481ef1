/* SPDX-License-Identifier: GPL-2.0-only */
/* The counters of what happened to a host's controllers. */
#ifndef NTPROF_SERVE_PATH_SERIES_H
#define NTPROF_SERVE_PATH_SERIES_H

#include "core/path_events.h"
#include "serve/exposition.h"

struct path_series;

/** path_series_new() - no series yet; @side_label: the label "side"; NULL: no memory */
struct path_series *path_series_new(const char *side_label, uint64_t now_ms);

/**
 * path_series_take() - count the events that were added since the last call
 *
 * Past PATH_SERIES_MAX series, those of controllers that are over give way to new ones; what they
 * counted is in one series, called SERIES_GONE. Events for which there is no series, and those that
 * are not kept any more, are in one called SERIES_OTHER.
 */
void path_series_take(struct path_series *t, const struct path_events *p, uint64_t now_ms);

/** path_series_put() - write the metrics, if there was any event */
void path_series_put(const struct path_series *t, struct exposition *e);

/** path_series_free() - release; NULL is fine */
void path_series_free(struct path_series *t);

#endif /* NTPROF_SERVE_PATH_SERIES_H */
