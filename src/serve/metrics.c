// SPDX-License-Identifier: GPL-2.0-only
#include "serve/metrics.h"

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
