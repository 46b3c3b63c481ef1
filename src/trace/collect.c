// SPDX-License-Identifier: GPL-2.0-only
#include "trace/collect.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/names.h"
#include "core/segments.h"
#include "core/time.h"
#include "trace/connections.h"
#include "trace/disks.h"
#include "trace/give_back.h"
#include "trace/histograms.h"
#include "trace/in_flight.h"
#include "trace/missed.h"
#include "trace/path_events.h"
#include "trace/private.h"
#include "trace/probes.h"
#include "trace/tcp_state.h"

int collect_init(struct tracer *t)
{
	t->swept_gen = calloc(t->nr_slots, sizeof(*t->swept_gen));
	t->began_ns = monotonic_ns();
	return t->swept_gen ? 0 : -ENOMEM;
}

void collect_free(struct tracer *t)
{
	free(t->swept_gen);
}

uint64_t collect_in_flight(struct tracer *t)
{
	in_flight_bury(t);
	return in_flight_count(t);
}

/* The number of queues with commands past a limit: that many bits are set. */
static uint32_t queues_past(const struct tracer *t, enum nt_past_id past)
{
	const struct nt_past *p = &t->object.past[past];
	uint32_t n = 0;

	for (unsigned int i = 0; i < NT_PAST_QUEUES / 64; i++)
		n += (uint32_t)__builtin_popcountll(
			__atomic_load_n(&p->queues[i], __ATOMIC_RELAXED));
	return n;
}

static void collect_past(struct tracer *t, struct stats *s)
{
	static const struct {
		enum nt_counter counter;
		enum nt_past_id past;
	} kinds[] = {{NT_CNT_NO_SLOT, NT_PAST_SLOTS}, {NT_CNT_HIST_FULL, NT_PAST_HISTS}};

	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++)
		if (s->counters_interval[kinds[i].counter])
			s->counters_queues[kinds[i].counter] = queues_past(t, kinds[i].past);
}

static void collect_counters(struct tracer *t, struct stats *s)
{
	for (unsigned int i = 0; i < NT_COUNTERS_NR; i++) {
		uint64_t now = i == NT_CNT_DIED ? t->died : 0;

		for (unsigned int cpu = 0; cpu < t->cpus && cpu < NT_CPUS; cpu++)
			now += __atomic_load_n(&t->object.counters[cpu].n[i], __ATOMIC_RELAXED);
		s->counters_interval[i] = now - t->counters_seen[i];
		t->counters_seen[i] = now;
	}
	if (!t->quiet) {
		s->counters_interval[COUNTER_PROBE_MISSED] =
			missed_total(t) - t->counters_seen[COUNTER_PROBE_MISSED];
		t->counters_seen[COUNTER_PROBE_MISSED] +=
			s->counters_interval[COUNTER_PROBE_MISSED];
		missed_joins_tell(t);
	}
	if (t->o.bursts) {
		s->counters_interval[COUNTER_BURST_EDGE] = s->counters_interval[NT_CNT_NO_START];
		s->counters_total[COUNTER_BURST_EDGE] += s->counters_interval[NT_CNT_NO_START];
		s->counters_interval[NT_CNT_NO_START] = 0;
	}
	for (unsigned int i = 0; i < COUNTER_IN_FLIGHT; i++)
		s->counters_total[i] += s->counters_interval[i];
	collect_past(t, s);
}

/* Commands that were in flight when a burst ended. Their rows have been filled before. */
static void collect_edges(struct tracer *t, struct stats *s)
{
	uint64_t n = t->edges_due ? in_flight_cut_off(t) : 0;

	t->edges_due = false;
	s->counters_interval[COUNTER_BURST_EDGE] += n;
	s->counters_total[COUNTER_BURST_EDGE] += n;
}

/*
 * The time for which programs have measured until @now. Attaching and detaching take long, and do
 * not count.
 */
static uint64_t measured_ns(const struct tracer *t, uint64_t now)
{
	return t->measured_ns + (t->measures ? (t->detached_ns ?: now) - t->attached_ns : 0);
}

static void collect_times(struct tracer *t, struct stats *s, uint64_t now)
{
	uint64_t measured = measured_ns(t, now);

	s->seconds = (double)(measured - t->collected_ns) / 1e9;
	s->elapsed = (double)measured / 1e9;
	s->passed = (double)(now - t->began_ns) / 1e9;
	s->bursts = t->bursts;
	s->burst_began_ns = t->burst_began_ns;
	s->burst_ended_ns = t->burst_ended_ns;
	t->collected_ns = measured;
}

static void collect_alikes(struct tracer *t, struct stats *s)
{
	for (unsigned int i = 0; i < NT_ALIKE; i++) {
		uint32_t now = __atomic_load_n(&t->object.alikes[i], __ATOMIC_RELAXED);

		s->alike_interval[i] = now - t->alikes_seen[i];
		s->alike_total[i] += s->alike_interval[i];
		t->alikes_seen[i] = now;
	}
}

/* The last interval has everything. */
static bool is_quiet(struct tracer *t, uint64_t now)
{
	if (!t->detached && now - t->looked_ns < STATS_QUIET_NS && !in_flight_any(t))
		return true;
	t->looked_ns = now;
	return false;
}

/* A program that is counting one may have noted an earlier interval. */
static int errors_rows(struct tracer *t, struct stats *s)
{
	const struct nt_control *c = t->object.control;

	if (t->quiet &&
	    (int32_t)(__atomic_load_n(&c->failed, __ATOMIC_RELAXED) - (c->epoch - 2)) < 0)
		return 0;
	return trace_errors_collect(t, s);
}

static int collect_histograms(struct tracer *t, struct stats *s, uint32_t epoch, uint64_t now)
{
	if (t->o.no_histograms)
		return 0;
	if (!t->quiet)
		connections_count(t, s);
	return histograms_rows(t, s, epoch)   ?:
	       in_flight_rows(t, s, now)      ?:
	       errors_rows(t, s)	      ?:
	       histograms_stages(t, s, epoch) ?:
	       connections_fold(t, s, now);
}

int collect_all(struct tracer *t, struct stats *s)
{
	uint64_t now = monotonic_ns();
	uint32_t epoch;
	int err;

	s->side = t->o.side;
	s->driver = module_traced(t->o.side, t->o.transports);
	s->source = source_name(t->source);
	s->counted = t->object.knobs->count_all;
	s->waiting_at_device = in_flight_knows_device(t);
	s->probes = t->attached;
	s->looked_ns = now;
	collect_times(t, s, now);
	if (t->calls)
		ring_buffer__consume(t->calls);
	if (t->o.stages && in_flight_any(t))
		t->idle = false;
	s->path_events.lost = path_events_collect(t, now);
	epoch = __atomic_fetch_add(&t->object.control->epoch, 1, __ATOMIC_RELAXED);
	s->quiet = t->quiet = is_quiet(t, now);
	/*
	 * After tracer_detach(), commands whose connection closes stay in the last count of those
	 * in flight.
	 */
	if (!t->detached) {
		in_flight_bury(t);
		in_flight_untrack(t);
	}
	collect_counters(t, s);
	collect_alikes(t, s);
	err = collect_histograms(t, s, epoch, now);
	stats_lacks(s, t->missing);
	err = err ?: tcp_collect(t, s, now) ?: disks_collect(t, s, now);
	collect_edges(t, s);
	connections_tidy(t);
	if (!t->detached)
		give_back(t);
	return err;
}
