// SPDX-License-Identifier: GPL-2.0-only
#include "trace/collect.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/names.h"
#include "core/segments.h"
#include "core/time.h"
#include "trace/connections.h"
#include "trace/errors.h"
#include "trace/in_flight.h"
#include "trace/private.h"
#include "trace/probes.h"

int collect_init(struct tracer *t)
{
	size_t value = sizeof(struct nt_stage_hists) > sizeof(struct nt_hist)
			       ? sizeof(struct nt_stage_hists)
			       : sizeof(struct nt_hist);

	t->percpu = calloc(t->cpus, value);
	t->hist_seen = calloc(t->nr_hists, sizeof(*t->hist_seen));
	t->stage_seen = calloc(NT_OPS_NR * NT_STAGES_MAX, sizeof(*t->stage_seen));
	t->swept_gen = calloc(t->nr_slots, sizeof(*t->swept_gen));
	t->began_ns = monotonic_ns();
	return t->percpu && t->hist_seen && t->stage_seen && t->swept_gen ? 0 : -ENOMEM;
}

void collect_free(struct tracer *t)
{
	free(t->percpu);
	free(t->hist_seen);
	free(t->stage_seen);
	free(t->swept_gen);
}

static const struct nt_hist *hist_of_cpu(const void *first, size_t stride, unsigned int cpu)
{
	return (const void *)((const char *)first + cpu * stride);
}

/* Whether the durations of a histogram have grown: those of commands, which are never 0. */
static bool hist_grown(const struct tracer *t, const void *at, size_t stride,
		       const struct hist_seen *seen)
{
	uint64_t sum = 0;

	for (unsigned int cpu = 0; cpu < t->cpus; cpu++)
		sum += hist_of_cpu(at, stride, cpu)->sum;
	return sum != seen->sum;
}

/*
 * Adds what is new in one histogram, the sum over CPUs minus what was seen before, to an interval
 * and a total.
 * @at: the histogram on the first CPU; @stride bytes to the next CPU's
 * @epoch: the interval that has just ended; the next one may have begun on some CPU
 * Return: how many durations
 */
static uint64_t hist_take(const struct tracer *t, const void *at, size_t stride, uint32_t epoch,
			  struct hist_seen *seen, struct hist *interval, struct hist *total)
{
	uint64_t max = 0, sum = 0, bytes = 0, count = 0;
	unsigned int highest = 0;

	for (unsigned int cpu = 0; cpu < t->cpus; cpu++) {
		const struct nt_hist *h = hist_of_cpu(at, stride, cpu);

		sum += h->sum;
		bytes += h->bytes;
		for (int i = 0; i < 2; i++)
			if (h->max_epoch[i] - epoch <= 1 && h->max[i] > max)
				max = h->max[i];
	}
	for (unsigned int b = 0; b < NT_BUCKETS; b++) {
		uint32_t now = 0, more;

		for (unsigned int cpu = 0; cpu < t->cpus; cpu++)
			now += hist_of_cpu(at, stride, cpu)->buckets[b];
		more = now - seen->buckets[b];
		if (!more)
			continue;
		seen->buckets[b] = now;
		interval->buckets[b] += more;
		total->buckets[b] += more;
		count += more;
		highest = b;
	}
	/* A command that ended while we read may be in one of the two and not yet in the other. */
	if (max < nt_bucket_low(highest) ||
	    (highest < NT_OVERFLOW_BUCKET && max >= nt_bucket_low(highest + 1)))
		max = nt_bucket_low(highest + 1) - 1;
	hist_account(interval, count, sum - seen->sum, bytes - seen->bytes, count ? max : 0);
	hist_account(total, count, sum - seen->sum, bytes - seen->bytes, count ? max : 0);
	seen->sum = sum;
	seen->bytes = bytes;
	return count;
}

/*
 * Whether something may have been counted since the last time: a histogram notes in which interval
 * it was last used, and who is about to count may have been on the way for longer than that.
 * @seen: the interval at whose end it was looked at the last time
 */
static bool hist_touched(const struct tracer *t, const void *at, size_t stride, uint32_t epoch,
			 uint32_t *seen)
{
	bool recently = *seen + 1 == epoch;

	*seen = epoch;
	if (!recently)
		return true;
	for (unsigned int cpu = 0; cpu < t->cpus; cpu++) {
		const struct nt_hist *h = hist_of_cpu(at, stride, cpu);

		for (int i = 0; i < 2; i++)
			if (h->max_epoch[i] - (epoch - 1) <= 2)
				return true;
	}
	return false;
}

/* Commands that ended and are not in the sample: the sum over CPUs. */
static struct workload others_of(const struct tracer *t, const void *at, size_t stride)
{
	struct workload sum = {0};

	for (unsigned int cpu = 0; cpu < t->cpus; cpu++) {
		sum.commands += hist_of_cpu(at, stride, cpu)->others;
		sum.bytes += hist_of_cpu(at, stride, cpu)->other_bytes;
	}
	return sum;
}

static void others_take(struct stats_row *row, const struct workload *now, struct hist_seen *seen)
{
	row->others_interval.commands += now->commands - seen->others.commands;
	row->others_interval.bytes += now->bytes - seen->others.bytes;
	row->others_total.commands += now->commands - seen->others.commands;
	row->others_total.bytes += now->bytes - seen->others.bytes;
	seen->others = *now;
}

/* @id: whose it is; NULL: of all that have none */
static int collect_hist(struct tracer *t, struct stats *s, uint32_t at, uint32_t epoch,
			const struct queue_ident *id, enum nt_op op, bool shared)
{
	struct hist_seen *seen = &t->hist_seen[at];
	const size_t stride = sizeof(struct nt_hist);
	struct workload others;
	struct stats_row *row;
	bool grown;

	if (bpf_map_lookup_elem(t->hists_fd, &at, t->percpu))
		return -errno;
	grown = hist_touched(t, t->percpu, stride, epoch, &seen->epoch) &&
		hist_grown(t, t->percpu, stride, seen);
	others = others_of(t, t->percpu, stride);
	if (!grown && others.commands == seen->others.commands)
		return 0;
	row = stats_row_of(s, id->controller, id->peer, id->other, id->qid, op, shared);
	if (!row)
		return -ENOMEM;
	others_take(row, &others, seen);
	if (grown)
		hist_take(t, t->percpu, stride, epoch, seen, &row->interval, &row->total);
	return 0;
}

static int collect_rows(struct tracer *t, struct stats *s, uint32_t epoch)
{
	static const struct queue_ident others = {.controller = "(others)"};
	uint32_t used = __atomic_load_n(&t->object.control->hists_used, __ATOMIC_RELAXED);
	int err;

	if (!used && !t->object.control->counters[NT_CNT_HIST_FULL])
		return 0;
	for (uint32_t slot = 0; slot < t->nr_slots; slot++) {
		if (!t->object.queues[slot].object)
			continue;
		for (uint32_t bank = 0; bank < 2; bank++) {
			const struct queue_ident *id = connections_identify(t, slot, bank);

			for (uint32_t op = 0; id && op < NT_OPS_NR; op++) {
				uint32_t at = t->object.queues[slot].hist[bank][op];

				if (!at)
					continue;
				t->ops_seen |= 1u << op;
				err = collect_hist(t, s, at - 1, epoch, id, op, false);
				if (err)
					return err;
			}
		}
	}
	if (t->object.control->counters[NT_CNT_HIST_FULL])
		return collect_hist(t, s, t->nr_hists - 1, epoch, &others, NT_OP_OTHER, true);
	return 0;
}

static void hist_add_zeros(struct hist *h, int64_t zeros)
{
	if (zeros < 0 && h->buckets[0] < (uint64_t)-zeros)
		return;
	hist_account(h, (uint64_t)zeros, 0, 0, 0);
	h->buckets[0] += (uint64_t)zeros;
}

/*
 * A stage that a command's shape does not pass takes it no time, which the kernel does not count.
 * What ends while we read may be in some stages and not in others yet: then the next time takes
 * back what was too much.
 */
static void count_not_passed(struct tracer *t, struct stats *s, uint32_t op)
{
	uint64_t most = 0;

	for (unsigned int i = 0; i < stages_nr(t->o.side); i++)
		if (t->stage_counted[op][i] > most)
			most = t->stage_counted[op][i];
	for (unsigned int i = 0; i < stages_nr(t->o.side); i++) {
		uint64_t not_passed = most - t->stage_counted[op][i];
		int64_t zeros = (int64_t)(not_passed - t->stage_zeros[op][i]);

		if (!zeros || !stage_may_be_absent(t->o.side, i) || t->into[i] != i)
			continue;
		hist_add_zeros(&s->stage_interval[op][i], zeros);
		hist_add_zeros(&s->stage_total[op][i], zeros);
		t->stage_zeros[op][i] = not_passed;
	}
}

static int collect_stages(struct tracer *t, struct stats *s, uint32_t epoch)
{
	for (uint32_t op = 0; op < NT_OPS_NR; op++) {
		if (!(t->ops_seen & 1u << op) && !t->object.control->counters[NT_CNT_HIST_FULL])
			continue;
		if (bpf_map_lookup_elem(t->stages_fd, &op, t->percpu))
			return -errno;
		if (!hist_touched(t, t->percpu, sizeof(struct nt_stage_hists), epoch,
				  &t->stage_epoch[op]))
			continue;
		for (unsigned int i = 0; i < stages_nr(t->o.side); i++) {
			const struct nt_stage_hists *first = t->percpu;

			t->stage_counted[op][i] +=
				hist_take(t, &first->h[i], sizeof(*first), epoch,
					  &t->stage_seen[op * NT_STAGES_MAX + i],
					  &s->stage_interval[op][i], &s->stage_total[op][i]);
		}
		count_not_passed(t, s, op);
	}
	return 0;
}

uint64_t collect_in_flight(struct tracer *t)
{
	in_flight_bury(t);
	return in_flight_count(t);
}

uint64_t collect_missed(int fd)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	return fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) ? 0 : info.recursion_misses;
}

/* Finds the programs that run, and the "nested" twins of those that have one. */
static void find_programs(struct tracer *t)
{
	struct bpf_program *p;

	bpf_object__for_each_program (p, t->object.obj) {
		const char *name = bpf_program__name(p);
		struct bpf_program *twin;
		char twin_name[64];

		if (bpf_program__fd(p) < 0 || probe_stands_in(name) ||
		    t->nr_running == TRACER_PROGRAMS_MAX)
			continue;
		snprintf(twin_name, sizeof(twin_name), "%s_nested", name);
		twin = bpf_object__find_program_by_name(t->object.obj, twin_name);
		t->running[t->nr_running].fd = bpf_program__fd(p);
		t->running[t->nr_running++].twin_fd = twin ? bpf_program__fd(twin) : -1;
	}
}

/*
 * Runs that the kernel skipped because the same program was running on that CPU already. Of a
 * program and its "nested" twin one may be skipped without loss: an event is missed by both at most
 * as often as by the one that missed fewer.
 */
static uint64_t missed_runs(struct tracer *t)
{
	uint64_t missed = 0;

	if (!t->nr_running)
		find_programs(t);
	for (unsigned int i = 0; i < t->nr_running; i++) {
		uint64_t n = collect_missed(t->running[i].fd), of_twin = n;

		if (n && t->running[i].twin_fd >= 0)
			of_twin = collect_missed(t->running[i].twin_fd);
		missed += n < of_twin ? n : of_twin;
	}
	return missed;
}

static void collect_counters(struct tracer *t, struct stats *s)
{
	for (unsigned int i = 0; i < NT_COUNTERS_NR; i++) {
		uint64_t now = __atomic_load_n(&t->object.control->counters[i], __ATOMIC_RELAXED);

		s->counters_interval[i] = now - t->counters_seen[i];
		t->counters_seen[i] = now;
	}
	s->counters_interval[COUNTER_PROBE_MISSED] =
		missed_runs(t) - t->counters_seen[COUNTER_PROBE_MISSED];
	t->counters_seen[COUNTER_PROBE_MISSED] += s->counters_interval[COUNTER_PROBE_MISSED];
	if (t->o.bursts) {
		s->counters_interval[COUNTER_BURST_EDGE] = s->counters_interval[NT_CNT_NO_START];
		s->counters_total[COUNTER_BURST_EDGE] += s->counters_interval[NT_CNT_NO_START];
		s->counters_interval[NT_CNT_NO_START] = 0;
	}
	for (unsigned int i = 0; i < COUNTER_IN_FLIGHT; i++)
		s->counters_total[i] += s->counters_interval[i];
}

/* Commands that were in flight when a burst ended; after their rows have been filled with them. */
static void collect_edges(struct tracer *t, struct stats *s)
{
	uint64_t n = t->edges_due ? in_flight_cut_off(t) : 0;

	t->edges_due = false;
	s->counters_interval[COUNTER_BURST_EDGE] += n;
	s->counters_total[COUNTER_BURST_EDGE] += n;
}

/* How long it was measured until @now. */
static uint64_t measured_ns(const struct tracer *t, uint64_t now)
{
	if (!t->o.bursts)
		return now - t->began_ns;
	return t->measured_ns + (t->measures ? now - t->resumed_ns : 0);
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

static int collect_histograms(struct tracer *t, struct stats *s, uint32_t epoch, uint64_t now)
{
	int err;

	if (t->o.no_histograms)
		return 0;
	connections_count(t, s);
	err = collect_rows(t, s, epoch) ?: in_flight_rows(t, s, now);
	if (!err)
		err = trace_errors_collect(t, s);
	return err ? err : collect_stages(t, s, epoch);
}

int collect_all(struct tracer *t, struct stats *s)
{
	uint64_t now = monotonic_ns();
	uint32_t epoch;
	int err;

	s->side = t->o.side;
	s->driver = driver_name(t->o.side);
	s->source = source_name(t->source);
	s->missing = t->missing;
	s->counted = t->object.knobs->count_all;
	s->waiting_at_device = in_flight_knows_device(t);
	s->probes = t->attached;
	collect_times(t, s, now);
	epoch = __atomic_fetch_add(&t->object.control->epoch, 1, __ATOMIC_RELAXED);
	/* Else what dies now is in flight in the last count of that. */
	if (!t->detached)
		in_flight_bury(t);
	collect_counters(t, s);
	collect_alikes(t, s);
	err = collect_histograms(t, s, epoch, now);
	collect_edges(t, s);
	return err;
}
