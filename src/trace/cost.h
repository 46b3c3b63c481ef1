/* SPDX-License-Identifier: GPL-2.0-only */
/* What a tracer costs: see core/cost.h. */
#ifndef NTPROF_TRACE_COST_H
#define NTPROF_TRACE_COST_H

#include <stddef.h>

#include "core/cost.h"

struct bpf_map;
struct tracer;

/** cost_map_bytes() - locked memory of a map, with its values for all CPUs that there may be */
size_t cost_map_bytes(const struct tracer *t, const struct bpf_map *m);

/** cost_fill() - see tracer_cost() */
void cost_fill(const struct tracer *t, struct cost *c);

#endif /* NTPROF_TRACE_COST_H */
