/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which cache lines the commands of two CPUs share in a steady state, where all queues, histograms
 * and states are there. A line that one CPU writes and another one uses goes back and forth between
 * them. Include it before everything else.
 *
 * LINES_OF: "bpf/host.h" or "bpf/target.h". LINES_SLOT(): the slot of the first or the second of
 * two queues
 */
#ifndef NTPROF_TESTS_BPF_LINES_H
#define NTPROF_TESTS_BPF_LINES_H

#include "bpf/accesses.h"

#include LINES_OF

/* Commands of each kind, before all is there, and then: each slot of a ring of 128 is used. */
#define LINES_WARM 2
#define LINES_ROUNDS 130

/* How programs were loaded, and which commands come. */
struct lines_how {
	const char *name;
	bool ends, bursts, selects, records, fine, joins, fails;
	__u32 sample_below;
};

/*
 * The memory of programs. Those of a side follow, as LINES() or NULL. What all CPUs write is one
 * line: a ring buffer has a lock.
 */
/* clang-format off */
#define LINES(name, what) {name, &(what), sizeof(what), 0}
#define LINES_OF_ALL(name, what) {name, &(what), sizeof(what), 1}
#define LINES_FROM(name, member) {name, &(member), ACCESSES_LINE, 0}
#define LINES_PLACES(...)							\
	LINES_FROM("tracked", nt_control.tracked),				\
	LINES_FROM("looked_ns", nt_control.seen_offset),			\
	LINES("control", nt_control),						\
	LINES("counters", nt_counters),						\
	LINES("pools", nt_pools),						\
	LINES("free", nt_free),							\
	LINES("past", nt_past),							\
	LINES_OF_ALL("alikes", nt_alikes),					\
	LINES("hist_buckets", nt_hist_index),					\
	LINES("hists", nt_first_hists),						\
	LINES("shared_stages", nt_stages_of),					\
	LINES("stages", nt_first_stages),					\
	LINES("cmds", nt_first_cmds),						\
	LINES("index", nt_index),						\
	LINES("slots", nt_slot_index),						\
	LINES_FROM("pdu_time", kernel.queues[LINES_SLOT(0)].pdu_time),		\
	LINES_FROM("pdu_time", kernel.queues[LINES_SLOT(1)].pdu_time),		\
	LINES("queues", kernel.queues),						\
	LINES("learned", kernel.learned),					\
	LINES("addresses", kernel.kernel_queues),				\
	LINES("names", kernel.names),						\
	LINES("controllers", kernel.controllers),				\
	LINES("joins", kernel.joins),						\
	LINES("workers", kernel.workers),					\
	LINES("outs", kernel.storage),						\
	LINES("taken", kernel.taken),						\
	LINES_OF_ALL("errors", kernel.errors),					\
	LINES_OF_ALL("ring", kernel.records),					\
	__VA_ARGS__,								\
	LINES(NULL, kernel),							\
	LINES(NULL, m),								\
	LINES(NULL, banks),							\
	LINES(NULL, run)
/* clang-format on */

/* Between the ends, commands of one queue are handled by its worker, on a CPU of its own. */
#define LINES_WORKER 2

/* A command of each kind begins and ends on @cpu. @of: queue 0 or 1. @worker: CPU of the rest */
static void lines_pass(unsigned int cpu, unsigned int of, unsigned int worker);

static const struct accesses_place *lines_places(unsigned int *nr);

/* Programs run on @cpu from now on. */
static void lines_on(unsigned int cpu)
{
	kernel.cpu = cpu;
	accesses_of(cpu);
}

static void lines_pass_all(bool together, unsigned int rounds)
{
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		for (unsigned int i = 0; i < rounds; i++)
			lines_pass(cpu, together ? 0 : cpu, together ? LINES_WORKER : cpu);
}

/*
 * Passes commands until all is there, and then counts what further ones use.
 * @together: all are of one queue; otherwise each CPU has a queue
 */
static void lines_count(bool together)
{
	unsigned int nr;
	const struct accesses_place *places = lines_places(&nr);

	accesses_begin(places, nr);
	lines_pass_all(together, LINES_WARM);
	accesses_begin(places, nr);
	lines_pass_all(together, LINES_ROUNDS);
}

static void lines_knobs(const struct lines_how *how)
{
	static const struct nt_selection ops = {.ops = 1u << NT_OP_READ | 1u << NT_OP_WRITE};

	nt_knobs.ends = how->ends;
	nt_knobs.stages = how->bursts;
	nt_knobs.fine = nt_knobs.workers = how->fine;
	nt_knobs.select = how->records ? NT_SELECT_ALL : NT_SELECT_NONE;
	knobs_select(how->selects ? &ops : NULL);
	knobs_sample(how->sample_below, true);
	nt_control.began_ns = nt_control.epoch = 1;
	nt_control.burst = how->bursts;
}

static void lines_expect(const struct lines_how *how, unsigned int cpu, unsigned int other,
			 const char *expected)
{
	const char *shared = accesses_shared(cpu, other);

	if (strcmp(shared, expected) != 0)
		fail_msg("%s: CPUs %u and %u share '%s', not '%s'", how->name, cpu, other, shared,
			 expected);
}

/* All that begins has ended, and has been counted with all of its stages. */
static void lines_are_of_commands(const struct lines_how *how, unsigned int kinds)
{
	const unsigned int passed = 2 * (LINES_WARM + LINES_ROUNDS) * (kinds - how->selects);

	assert_int_equal(latencies(), how->sample_below == 1 || how->fails ? 0 : passed);
	assert_int_equal(counted(NT_CNT_POINT_MISSING), 0);
}

/*
 * What CPUs share. @apart: two with a queue each. @ends: two on which commands of one queue end.
 * @worker: one of these, and that of the queue's worker.
 */
struct lines_case {
	struct lines_how how;
	const char *apart, *ends, *worker;
};

/*
 * What others see in the order in which programs do it: see in_order(). Tests compile programs as
 * for arm64, where each needs a barrier.
 */
static int is_in_flight(const void *at)
{
	return in_flight(at);
}

static int is_not_in_flight(const void *at)
{
	return !in_flight(at);
}

/* clang-format off */
#define LINES_MEMBERS_OF(array, nr, type, from, to)					\
	{(array), sizeof(type), nr, __builtin_offsetof(type, from),			\
	 __builtin_offsetof(type, to) + sizeof(((type *)0)->to) - __builtin_offsetof(type, from)}
#define LINES_MEMBERS(array, type, from, to)						\
	LINES_MEMBERS_OF(array, sizeof(array) / (sizeof(type)), type, from, to)
#define LINES_OF_CONTROL(from, to) LINES_MEMBERS_OF(&nt_control, 1, struct nt_control, from, to)
#define LINES_MEMBER(array, type, member) LINES_MEMBERS(array, type, member, member)
#define LINES_HIST(what, array, type)							\
	{.name = what ": longest, count",						\
	 .first = LINES_MEMBER(array, type, max), .then = LINES_MEMBER(array, type, buckets)},	\
	{.name = what ": count, sum",							\
	 .first = LINES_MEMBER(array, type, buckets), .then = LINES_MEMBER(array, type, sum)},	\
	{.name = what ": longest, interval",						\
	 .first = LINES_MEMBER(array, type, max), .then = LINES_MEMBER(array, type, max_epoch)}
static struct accesses_order lines_orders[] = {
	{.name = "command: record, owner",
	 .first = LINES_MEMBER(nt_first_cmds, struct nt_cmd, r),
	 .then = LINES_MEMBER(nt_first_cmds, struct nt_cmd, owner), .then_when = is_not_in_flight},
	{.name = "command: end, record of the next one",
	 .first = LINES_MEMBER(nt_first_cmds, struct nt_cmd, owner), .first_when = is_in_flight,
	 .then = LINES_MEMBER(nt_first_cmds, struct nt_cmd, r)},
	LINES_HIST("latencies", nt_first_hists, struct nt_hist),
	LINES_HIST("stages", nt_first_stages, struct nt_stage_hist),
	{.name = "pool: taken, given", .loads = 1,
	 .first = LINES_MEMBER(nt_pools, struct nt_pool, taken),
	 .then = LINES_MEMBER(nt_pools, struct nt_pool, given)},
	{.name = "pool: given, number", .loads = 1,
	 .first = LINES_MEMBER(nt_pools, struct nt_pool, given),
	 .then = {nt_free, sizeof(nt_free), 1, 0, sizeof(nt_free)}},
	{.name = "queue: who it is, that it is known",
	 .first = LINES_MEMBERS(kernel.queues, struct nt_queue, qid, sqsize),
	 .then = LINES_MEMBER(kernel.queues, struct nt_queue, identified)},
};
/* clang-format on */

/* All of them were seen, and none the other way round. */
static void lines_are_in_order(struct accesses_order *orders, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++) {
		if (!orders[i].seen)
			fail_msg("%s: never", orders[i].name);
		if (orders[i].wrong)
			fail_msg("%s: %u of %u without a barrier", orders[i].name, orders[i].wrong,
				 orders[i].seen);
	}
	accesses_order(NULL, 0);
}

/* All is made anew, and programs are loaded as @how says, with points of @source. */
static void lines_begin(unsigned int source, const struct lines_how *how);

/* Commands share just the lines of a case. @kinds: of commands that pass */
static void lines_check(const struct lines_case *c, unsigned int source, unsigned int kinds,
			bool together)
{
	lines_begin(source, &c->how);
	lines_count(together);
	lines_expect(&c->how, 0, 1, together ? c->ends : c->apart);
	if (together)
		lines_expect(&c->how, 0, LINES_WORKER, c->worker);
	lines_are_of_commands(&c->how, kinds);
}

/* The first commands of two queues, and those of the next interval, are seen in order. */
static void lines_check_order(unsigned int source, const struct lines_how *how)
{
	const unsigned int nr = sizeof(lines_orders) / sizeof(lines_orders[0]);

	lines_begin(source, how);
	for (unsigned int i = 0; i < nr; i++)
		lines_orders[i].seen = lines_orders[i].wrong = 0;
	accesses_order(lines_orders, nr);
	lines_pass_all(false, LINES_WARM);
	nt_control.epoch++;
	lines_pass_all(false, LINES_WARM);
	lines_are_in_order(lines_orders, nr);
}

#endif /* NTPROF_TESTS_BPF_LINES_H */
