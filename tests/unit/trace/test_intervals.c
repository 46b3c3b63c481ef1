// SPDX-License-Identifier: GPL-2.0-only
/*
 * The figures of each interval that come from histograms which programs fill: the shared one, and
 * those of stages.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/names.h"
#include "core/segments.h"
#include "trace/histograms.h"
#include "trace/private.h"

#define FIRST 40u /* the first interval */
#define SHARED 2
#define ITEMS 8
#define OP NT_OP_WRITE
#define NR 3 /* the item that has the stages of this operation */
#define CPUS 4
#define IDLE 10 /* intervals after which an item goes back, and one more */

static struct {
	struct tracer t;
	struct stats s;
	struct nt_knobs knobs;
	struct nt_hist shared[SHARED];
	struct nt_stage_hists stages[ITEMS];
	struct nt_stages_of stages_of[NT_CPUS];
	struct nt_pool ring;
	__u16 numbers[NT_FREE_MAX];
	uint32_t epoch;
} m;

static void *bank_add(struct pool *p, uint32_t nr)
{
	return p->item_bytes && !nr ? m.stages : NULL;
}

static bool bank_remove(struct pool *p, uint32_t nr)
{
	return false;
}

static int setup(void **state)
{
	struct pool *p = &m.t.object.pools[NT_POOL_STAGES];

	memset(&m, 0, sizeof(m));
	m.epoch = FIRST;
	m.knobs.shared_mask = SHARED - 1;
	m.t.o.side = NT_HOST;
	m.t.cpus = CPUS;
	for (unsigned int i = 0; i < NT_STAGES_MAX; i++)
		m.t.into[i] = (uint8_t)i;
	m.t.object.knobs = &m.knobs;
	m.t.object.hists_shared = m.shared;
	m.t.object.stages_of = m.stages_of;
	*p = (struct pool){.ring = &m.ring,
			   .numbers = m.numbers,
			   .add = bank_add,
			   .remove = bank_remove,
			   .per_bank = ITEMS,
			   .item_bytes = sizeof(struct nt_stage_hists),
			   .max_banks = 1};
	assert_int_equal(pool_init(p), 0);
	p->bank[0] = (char *)m.stages;
	p->nr_banks = p->nr_there = 1;
	p->items[NR] = POOL_OUT;
	m.stages[NR].h[0].key = 1 + OP;
	return histograms_init(&m.t);
}

static int teardown(void **state)
{
	histograms_free(&m.t);
	pool_close(&m.t.object.pools[NT_POOL_STAGES]);
	stats_free(&m.s);
	return 0;
}

/* As a program does. @epoch: the interval that it notes */
static void count_head(struct nt_hist_head *h, uint64_t ns, uint32_t epoch)
{
	if (h->max_epoch[epoch & 1] != epoch)
		h->max[epoch & 1] = 0;
	h->max_epoch[epoch & 1] = epoch;
	if (h->max[epoch & 1] < ns)
		h->max[epoch & 1] = ns;
	h->sum += ns;
}

static void count_in(struct nt_hist *h, uint64_t ns, uint32_t epoch)
{
	count_head(&h->head, ns, epoch);
	h->buckets[nt_bucket(ns)]++;
	h->bytes += 512;
}

static void count_stage(struct nt_stage_hist *h, uint64_t ns, uint32_t epoch)
{
	count_head(&h->head, ns, epoch);
	h->buckets[NT_STAGE_BUCKET(nt_bucket(ns))]++;
}

/* Ends an interval. Return: the row of the shared histogram */
static const struct stats_row *collect(void)
{
	stats_begin_interval(&m.s);
	assert_int_equal(histograms_rows(&m.t, &m.s, m.epoch), 0);
	assert_int_equal(histograms_stages(&m.t, &m.s, m.epoch), 0);
	m.epoch++;
	return stats_others(&m.s, NT_OP_OTHER);
}

static void assert_hist(const struct hist *h, uint64_t count, uint64_t sum, uint64_t bytes,
			uint64_t max)
{
	assert_int_equal(h->count, count);
	assert_true(h->sum == sum);
	assert_int_equal(h->bytes, bytes);
	assert_int_equal(h->max, max);
}

static void each_interval_has_what_is_new(void **state)
{
	const struct stats_row *r;

	count_in(&m.shared[0], 500, FIRST);
	count_in(&m.shared[1], 300, FIRST);
	r = collect();
	assert_hist(&r->interval, 2, 800, 1024, 500);
	assert_int_equal(r->interval.buckets[nt_bucket(300)], 1);
	r = collect();
	assert_hist(&r->interval, 0, 0, 0, 0);
	assert_hist(&r->total, 2, 800, 1024, 500);
	count_in(&m.shared[1], 100, m.epoch);
	count_in(&m.shared[1], 100, m.epoch);
	r = collect();
	assert_hist(&r->interval, 2, 200, 1024, 100);
	assert_int_equal(r->interval.buckets[nt_bucket(100)], 2);
	assert_hist(&r->total, 4, 1000, 2048, 500);
}

/* The counts of programs have 32 bits. */
static void a_count_that_goes_around_is_no_loss(void **state)
{
	const struct stats_row *r;

	m.shared[0].buckets[nt_bucket(500)] = UINT32_MAX;
	m.shared[0].sum = 1;
	collect();
	count_in(&m.shared[0], 500, m.epoch);
	count_in(&m.shared[0], 500, m.epoch);
	r = collect();
	assert_int_equal(r->interval.count, 2);
	assert_int_equal(r->total.count, (uint64_t)UINT32_MAX + 2);
}

static uint64_t end_of_bucket(uint64_t ns)
{
	return nt_bucket_low(nt_bucket(ns) + 1) - 1;
}

/* The longest duration is exact where its program noted it for this interval or the next one. */
static void the_maximum_is_exact_as_far_as_it_is_known(void **state)
{
	struct nt_hist *h = &m.shared[0];

	count_in(h, 900, m.epoch + 1);
	assert_int_equal(collect()->interval.max, 900);
	/* It is known only up to the end of its bucket where another interval was noted. */
	count_in(h, 900, m.epoch - 2);
	assert_int_equal(collect()->interval.max, end_of_bucket(900));
	/* One that was noted and is not counted yet is not that of this interval. */
	count_in(h, 900, m.epoch);
	h->max[m.epoch & 1] = 100000;
	assert_int_equal(collect()->interval.max, end_of_bucket(900));
	/* The last bucket has no end. */
	count_in(h, 1ULL << 40, m.epoch);
	assert_int_equal(collect()->interval.max, 1ULL << 40);
}

/* A program was interrupted between noting the maximum of the last interval and counting. */
static void a_late_maximum_is_that_of_the_next_interval(void **state)
{
	struct nt_hist *h = &m.shared[0];

	count_in(h, 500, m.epoch);
	assert_int_equal(collect()->interval.max, 500);
	count_in(h, 900, m.epoch - 1);
	assert_int_equal(collect()->interval.max, 900);
	/* The earlier content says nothing of this interval. */
	count_in(h, 700, m.epoch);
	assert_int_equal(collect()->interval.max, 700);
	h->buckets[nt_bucket(703)]++;
	h->sum += 703;
	assert_int_equal(collect()->interval.max, end_of_bucket(703));
}

static void commands_outside_the_sample_are_taken_alone(void **state)
{
	const struct stats_row *r;

	m.shared[1].others = 10;
	m.shared[1].other_bytes = 5000;
	r = collect();
	assert_int_equal(r->others_interval.commands, 10);
	assert_int_equal(r->others_interval.bytes, 5000);
	assert_int_equal(r->interval.count, 0);
	m.shared[1].others += 3;
	m.shared[1].other_bytes += 700;
	m.shared[0].others = 1;
	m.shared[0].other_bytes = 20;
	r = collect();
	assert_int_equal(r->others_interval.commands, 4);
	assert_int_equal(r->others_interval.bytes, 720);
	assert_int_equal(r->others_total.commands, 14);
	assert_int_equal(r->others_total.bytes, 5720);
	r = collect();
	assert_int_equal(r->others_interval.commands, 0);
}

static struct nt_stage_hist *stage(unsigned int i)
{
	return &m.stages[NR].h[i];
}

static unsigned int stage_that(bool may_be_absent)
{
	for (unsigned int i = 0; i < stages_nr(NT_HOST); i++)
		if (stage_may_be_absent(NT_HOST, i) == may_be_absent)
			return i;
	fail();
	return 0;
}

/* As many commands pass all stages but @but, in this interval. */
static void pass(unsigned int commands, unsigned int but)
{
	for (unsigned int i = 0; i < stages_nr(NT_HOST); i++)
		for (unsigned int k = 0; i != but && k < commands; k++)
			count_stage(stage(i), 1000, m.epoch);
	stage(0)->max_epoch[m.epoch & 1] = m.epoch;
}

/* In a stage that a command does not pass, it takes no time. */
static void a_stage_that_is_not_passed_takes_no_time(void **state)
{
	const unsigned int absent = stage_that(true), always = stage_that(false);
	const struct hist *h = m.s.stage_interval[OP];

	pass(5, absent);
	collect();
	assert_hist(&h[always], 5, 5000, 0, 1000);
	assert_hist(&h[absent], 5, 0, 0, 0);
	assert_int_equal(h[absent].buckets[0], 5);
	collect();
	assert_int_equal(h[absent].count, 0);
	assert_int_equal(m.s.stage_total[OP][absent].count, 5);
	/* Two of them have passed it after all, and were only not counted yet. */
	count_stage(stage(absent), 700, m.epoch);
	count_stage(stage(absent), 700, m.epoch);
	stage(0)->max_epoch[m.epoch & 1] = m.epoch;
	collect();
	assert_int_equal(m.s.stage_total[OP][absent].count, 5);
	assert_int_equal(m.s.stage_total[OP][absent].buckets[0], 3);
	assert_true(m.s.stage_total[OP][absent].sum == 1400);
	for (unsigned int op = 0; op < NT_OPS_NR; op++)
		assert_int_equal(m.s.stage_total[op][always].count, op == OP ? 5 : 0);
	/* That interval has two too many, so the next one has two less, and no fewer than none. */
	assert_int_equal(h[absent].count, 2);
	pass(1, absent);
	collect();
	assert_int_equal(h[absent].count, 0);
	pass(3, absent);
	collect();
	assert_int_equal(h[absent].count, 2);
	assert_int_equal(m.s.stage_total[OP][absent].count, 9);
}

/* One that every command passes, and one that is joined with another one, lack nothing. */
static void only_absent_stages_get_zeros(void **state)
{
	const unsigned int absent = stage_that(true), always = stage_that(false);

	pass(5, always);
	collect();
	assert_int_equal(m.s.stage_total[OP][always].count, 0);
	assert_int_equal(m.s.stage_total[OP][absent].count, 5);
	teardown(NULL);
	setup(NULL);
	m.t.into[absent] = (uint8_t)always;
	pass(5, absent);
	collect();
	assert_int_equal(m.s.stage_total[OP][always].count, 5);
	assert_int_equal(m.s.stage_total[OP][absent].count, 0);
}

/* After ten intervals without use nothing leads to it any more, and after another one it goes. */
static void stages_without_use_go_back(void **state)
{
	const uint8_t *item = &m.t.object.pools[NT_POOL_STAGES].items[NR];

	m.stages_of[1].at[OP] = NR;
	m.stages_of[2].at[OP] = NR + 1;
	for (unsigned int round = 0; round < 2; round++) {
		pass(1, NT_STAGES_MAX);
		/* A program may note the interval before; so it counts as used for two more. */
		for (unsigned int i = 0; i < IDLE + 2; i++) {
			assert_int_equal(*item, POOL_OUT);
			assert_int_equal(m.stages_of[1].at[OP], NR);
			collect();
		}
	}
	while (*item == POOL_OUT && m.epoch < FIRST + 100)
		collect();
	assert_int_equal(*item, POOL_UNUSED);
	assert_int_equal(m.stages_of[1].at[OP], 0);
	assert_int_equal(m.stages_of[2].at[OP], NR + 1);
	/* A program that had found it before has used it once more. */
	count_stage(stage(1), 1000, m.epoch);
	collect();
	assert_int_equal(m.s.stage_interval[OP][1].count, 1);
	assert_int_equal(*item, POOL_FREE);
	assert_int_equal(stage(0)->key, 0);
	assert_int_equal(m.s.stage_total[OP][1].count, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(each_interval_has_what_is_new),
		TEST(a_count_that_goes_around_is_no_loss),
		TEST(the_maximum_is_exact_as_far_as_it_is_known),
		TEST(a_late_maximum_is_that_of_the_next_interval),
		TEST(commands_outside_the_sample_are_taken_alone),
		TEST(a_stage_that_is_not_passed_takes_no_time),
		TEST(only_absent_stages_get_zeros),
		TEST(stages_without_use_go_back),
	};

	return cmocka_run_group_tests_name("histograms", tests, NULL, NULL);
}
