// SPDX-License-Identifier: GPL-2.0-only
/* Percentiles against exact ones, merging, and the keys and order of rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/counters.h"
#include "core/array.h"
#include "core/names.h"
#include "core/stats.h"

#define MANY 20000

static void hist_add(struct hist *h, uint64_t ns, uint64_t bytes)
{
	h->count++;
	h->sum += ns;
	h->bytes += bytes;
	if (ns > h->max)
		h->max = ns;
	h->buckets[nt_bucket(ns)]++;
}

/* About as many values between 1 and 2 ns as between 34 and 69 s. */
static uint64_t log_uniform(void)
{
	uint64_t low = 1ull << (random() % NT_MAX_BITS);

	return low + ((uint64_t)random() << 31 ^ (uint64_t)random()) % low;
}

static int uint64_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Nearest rank, in whole numbers. @permyriad: percent * 100 */
static uint64_t exact_percentile(const uint64_t *sorted, size_t n, unsigned int permyriad)
{
	size_t rank = (n * permyriad + 9999) / 10000;

	return sorted[(rank ? rank : 1) - 1];
}

static void percentiles_are_within_the_buckets_error_of_the_exact_ones(void **state)
{
	static const unsigned int permyriads[] = {1,	10,   100,  2500, 5000,
						  9000, 9900, 9990, 9999, 10000};
	static const size_t sizes[] = {1, 2, 3, 7, 10, 99, 100, 101, 999, 1000, 1001, 10000, MANY};
	uint64_t *ns = calloc(MANY, sizeof(*ns));

	assert_non_null(ns);
	for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
		struct hist h = {0};

		for (size_t i = 0; i < sizes[s]; i++) {
			ns[i] = log_uniform();
			hist_add(&h, ns[i], 0);
		}
		qsort(ns, sizes[s], sizeof(*ns), uint64_compare);
		for (size_t i = 0; i < ARRAY_SIZE(permyriads); i++) {
			uint64_t exact = exact_percentile(ns, sizes[s], permyriads[i]);
			uint64_t got = hist_percentile(&h, permyriads[i] / 100.0);
			uint64_t off = got > exact ? got - exact : exact - got;

			assert_true(off * 64 <= exact);
			assert_true(got <= h.max);
		}
	}
	free(ns);
}

static void percentiles_below_32_ns_are_exact(void **state)
{
	struct hist h = {0};

	for (unsigned int ns = 1; ns <= 20; ns++)
		hist_add(&h, ns, 0);
	assert_int_equal(hist_percentile(&h, 50), 10);
	assert_int_equal(hist_percentile(&h, 50.1), 11);
	assert_int_equal(hist_percentile(&h, 90), 18);
	assert_int_equal(hist_percentile(&h, 95), 19);
	assert_int_equal(hist_percentile(&h, 100), 20);
	assert_int_equal(hist_percentile(&h, 0.001), 1);
}

/* 99.9 / 100 * 1000 is slightly more than 999 in binary floating point. */
static void rank_of_a_whole_number_is_not_rounded_up(void **state)
{
	for (unsigned int thousands = 1; thousands < 300; thousands++) {
		struct hist h = {0};

		h.count = 1000ull * thousands;
		h.buckets[10] = 999ull * thousands;
		h.buckets[20] = thousands;
		h.max = 20;
		assert_int_equal(hist_percentile(&h, 99.9), 10);
		assert_int_equal(hist_percentile(&h, 99.91), 20);
	}
}

static void percentile_never_exceeds_the_longest(void **state)
{
	struct hist h = {0};

	hist_add(&h, 1ull << 20, 0);
	assert_int_equal(hist_percentile(&h, 50), 1ull << 20);
	assert_int_equal(hist_percentile(&h, 100), 1ull << 20);
}

static void durations_past_the_last_bucket_lie_between_it_and_the_longest(void **state)
{
	struct hist h = {0};
	uint64_t p;

	hist_add(&h, 1ull << 36, 0);
	hist_add(&h, 3ull << 36, 0);
	p = hist_percentile(&h, 99);
	assert_true(p >= 1ull << 36 && p <= 3ull << 36);
	/* The result is the middle of the last bound and the longest duration. */
	assert_int_equal(p, nt_bucket_low(NT_OVERFLOW_BUCKET) / 2 + (3ull << 35));
}

static void empty_histogram_is_all_zero(void **state)
{
	struct hist h = {0};

	assert_int_equal(hist_percentile(&h, 50), 0);
	assert_int_equal(hist_percentile(&h, 100), 0);
	assert_true(hist_mean(&h) == 0);
}

static void percentile_needs_a_duration_above_it(void **state)
{
	static const struct {
		uint32_t parts;
		uint64_t needed;
	} known[] = {{500000000, 2},	{900000000, 10},	 {950000000, 20}, {990000000, 100},
		     {999000000, 1000}, {999999999, 1000000000}, {100000000, 10}, {10000000, 100}};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct hist h = {.count = known[i].needed};

		assert_true(hist_tells(&h, known[i].parts));
		h.count--;
		assert_false(hist_tells(&h, known[i].parts));
		h.count = UINT64_MAX;
		assert_true(hist_tells(&h, known[i].parts));
		h.count = 0;
		assert_false(hist_tells(&h, known[i].parts));
	}
}

static void mean_is_exact(void **state)
{
	struct hist h = {0};

	hist_add(&h, 1000, 0);
	hist_add(&h, 1001, 0);
	assert_true(hist_mean(&h) == 1000.5);
}

static void merged_histogram_equals_one_that_counted_all(void **state)
{
	struct hist a = {0}, b = {0}, all = {0}, b_before;

	for (int i = 0; i < 1000; i++) {
		uint64_t ns = log_uniform();

		hist_add(i % 3 ? &a : &b, ns, 4096);
		hist_add(&all, ns, 4096);
	}
	b_before = b;
	hist_merge(&a, &b);
	assert_memory_equal(&a, &all, sizeof(a));
	assert_memory_equal(&b, &b_before, sizeof(b));
	hist_merge(&a, &(struct hist){0});
	assert_memory_equal(&a, &all, sizeof(a));
}

static void same_identity_gives_the_same_row(void **state)
{
	struct stats s = {0};
	struct stats_row *row = stats_row(&s, "nvme0", "nqn.a", 1, NT_OP_READ, false);

	assert_non_null(row);
	assert_string_equal(row->controller, "nvme0");
	assert_string_equal(row->peer, "nqn.a");
	assert_int_equal(row->qid, 1);
	assert_int_equal(row->op, NT_OP_READ);
	assert_false(row->shared);
	assert_int_equal(row->interval.count, 0);
	assert_int_equal(row->total.count, 0);
	assert_ptr_equal(stats_row(&s, "nvme0", "nqn.a", 1, NT_OP_READ, false), row);
	assert_ptr_not_equal(stats_row(&s, "nvme1", "nqn.a", 1, NT_OP_READ, false), row);
	assert_ptr_not_equal(stats_row(&s, "nvme0", "nqn.b", 1, NT_OP_READ, false), row);
	assert_ptr_not_equal(stats_row(&s, "nvme0", "nqn.a", 2, NT_OP_READ, false), row);
	assert_ptr_not_equal(stats_row(&s, "nvme0", "nqn.a", 1, NT_OP_WRITE, false), row);
	assert_ptr_not_equal(stats_row(&s, "nvme0", "nqn.a", 1, NT_OP_READ, true), row);
	assert_int_equal(s.nr_rows, 6);
	assert_ptr_equal(stats_row(&s, "nvme0", "nqn.a", 1, NT_OP_READ, false), row);
	assert_int_equal(s.nr_rows, 6);
	stats_free(&s);
}

static void names_too_long_to_keep_still_find_their_row(void **state)
{
	struct stats s = {0};
	char controller[100], peer[NT_NQN_LEN + 100];
	struct stats_row *row;

	memset(controller, 'c', sizeof(controller) - 1);
	controller[sizeof(controller) - 1] = '\0';
	memset(peer, 'p', sizeof(peer) - 1);
	peer[sizeof(peer) - 1] = '\0';
	row = stats_row(&s, controller, peer, 1, NT_OP_READ, false);
	assert_non_null(row);
	assert_ptr_equal(stats_row(&s, controller, peer, 1, NT_OP_READ, false), row);
	assert_int_equal(s.nr_rows, 1);
	stats_free(&s);
}

static void rows_are_sorted_by_controller_peer_queue_and_operation(void **state)
{
	static const struct {
		const char *controller;
		const char *peer;
		uint16_t qid;
		enum nt_op op;
		bool shared;
	} sorted[] = {
		{"nvme0", "nqn.a", 0, NT_OP_ADMIN, false},
		{"nvme0", "nqn.a", 1, NT_OP_READ, false},
		{"nvme0", "nqn.a", 1, NT_OP_WRITE, false},
		{"nvme0", "nqn.a", 2, NT_OP_READ, false},
		{"nvme0", "nqn.a", 10, NT_OP_READ, false},
		{"nvme0", "nqn.a", 0, NT_OP_READ, true},
		{"nvme0", "nqn.b", 1, NT_OP_READ, false},
		{"nvme2", "nqn.a", 1, NT_OP_READ, false},
		{"nvme10", "nqn.a", 1, NT_OP_READ, false},
		{"nvme11", "nqn.a", 1, NT_OP_READ, false},
	};
	size_t order[ARRAY_SIZE(sorted)];

	for (int round = 0; round < 100; round++) {
		struct stats s = {0};

		for (size_t i = 0; i < ARRAY_SIZE(sorted); i++)
			order[i] = i;
		for (size_t i = ARRAY_SIZE(sorted) - 1; i > 0; i--) {
			size_t j = (size_t)random() % (i + 1), t = order[i];

			order[i] = order[j];
			order[j] = t;
		}
		for (size_t i = 0; i < ARRAY_SIZE(sorted); i++)
			assert_non_null(stats_row(&s, sorted[order[i]].controller,
						  sorted[order[i]].peer, sorted[order[i]].qid,
						  sorted[order[i]].op, sorted[order[i]].shared));
		assert_int_equal(s.nr_rows, ARRAY_SIZE(sorted));
		for (size_t i = 0; i < ARRAY_SIZE(sorted); i++) {
			assert_string_equal(s.rows[i]->controller, sorted[i].controller);
			assert_string_equal(s.rows[i]->peer, sorted[i].peer);
			assert_int_equal(s.rows[i]->qid, sorted[i].qid);
			assert_int_equal(s.rows[i]->op, sorted[i].op);
			assert_int_equal(s.rows[i]->shared, sorted[i].shared);
		}
		stats_free(&s);
	}
}

static void rows_stay_where_they_are_while_others_come(void **state)
{
	struct stats s = {0};
	struct stats_row *first = stats_row(&s, "nvme500", "", 1, NT_OP_READ, false);
	char name[32];

	assert_non_null(first);
	first->total.count = 42;
	for (int i = 999; i >= 0; i--) {
		snprintf(name, sizeof(name), "nvme%d", i);
		assert_non_null(stats_row(&s, name, "", 1, NT_OP_READ, false));
	}
	assert_int_equal(s.nr_rows, 1000);
	assert_ptr_equal(s.rows[500], first);
	assert_int_equal(first->total.count, 42);
	stats_free(&s);
}

static void new_interval_keeps_the_totals(void **state)
{
	struct stats s = {0};
	struct stats_row *row = stats_row(&s, "nvme0", "", 1, NT_OP_READ, false);

	assert_non_null(row);
	hist_add(&row->interval, 1000, 1);
	hist_add(&row->total, 1000, 1);
	hist_add(&s.stage_interval[NT_OP_READ][0], 1000, 0);
	hist_add(&s.stage_total[NT_OP_READ][0], 1000, 0);
	s.counters_interval[NT_CNT_DIED] = 1;
	s.counters_total[NT_CNT_DIED] = 1;
	stats_begin_interval(&s);
	assert_int_equal(row->interval.count, 0);
	assert_int_equal(row->interval.max, 0);
	assert_int_equal(row->interval.buckets[nt_bucket(1000)], 0);
	assert_int_equal(row->total.count, 1);
	assert_int_equal(s.stage_interval[NT_OP_READ][0].count, 0);
	assert_int_equal(s.stage_total[NT_OP_READ][0].count, 1);
	assert_int_equal(s.counters_interval[NT_CNT_DIED], 0);
	assert_int_equal(s.counters_total[NT_CNT_DIED], 1);
	stats_free(&s);
	assert_int_equal(s.nr_rows, 0);
	assert_null(s.rows);
}

static struct stats_row *read_of(struct stats *s, unsigned int controller, uint16_t qid)
{
	char name[16];

	snprintf(name, sizeof(name), "nvme%u", controller);
	return stats_row(s, name, "", qid, NT_OP_READ, false);
}

/* All queues of a controller have the same ones, and none has those of another one. */
static void stages_are_those_of_the_rows_controller(void **state)
{
	struct stats s = {0};
	struct stats_row *row[] = {read_of(&s, 9, 1), read_of(&s, 10, 1), read_of(&s, 9, 2),
				   stats_row(&s, "nvme9", "", 1, NT_OP_WRITE, false)};
	struct stats_stages *of[4];

	for (int i = 0; i < 4; i++) {
		if (i != 2)
			assert_null(stats_stages_find(&s, row[i]));
		of[i] = stats_stages_make(&s, row[i]);
		assert_non_null(of[i]);
	}
	assert_int_equal(s.nr_stages, 3);
	assert_ptr_equal(of[0], of[2]);
	for (int i = 0; i < 4; i++)
		assert_ptr_equal(stats_stages_find(&s, row[i]), of[i]);
	assert_null(stats_stages_make(&s, stats_others(&s, NT_OP_OTHER)));
	hist_add(&of[0]->interval[1], 1000, 0);
	hist_add(&of[0]->total[1], 1000, 0);
	stats_begin_interval(&s);
	assert_int_equal(of[0]->interval[1].count, 0);
	assert_int_equal(of[0]->total[1].count, 1);
	stats_free(&s);
	assert_int_equal(s.nr_stages, 0);
}

/* If there are too many, the ones that have counted nothing for longest are given up. */
static void stages_beyond_the_last_are_in_no_controllers(void **state)
{
	struct stats s = {0};
	struct stats_row *row;

	for (unsigned int i = 0; i < STATS_STAGES_MAX; i++)
		assert_non_null(stats_stages_make(&s, read_of(&s, i, 1)));
	row = read_of(&s, STATS_STAGES_MAX, 1);
	assert_null(stats_stages_make(&s, row));
	assert_true(row->unstaged_interval && row->unstaged_total);
	stats_begin_interval(&s);
	assert_true(!row->unstaged_interval && row->unstaged_total);
	for (unsigned int i = 0; i < STATS_STAGES_MAX; i++)
		stats_stages_find(&s, read_of(&s, i, 1))->idle = i != 7;
	stats_stages_find(&s, read_of(&s, 40, 1))->idle = 2;
	assert_non_null(stats_stages_make(&s, row));
	assert_int_equal(s.nr_stages, STATS_STAGES_MAX);
	assert_null(stats_stages_find(&s, read_of(&s, 40, 1)));
	assert_true(read_of(&s, 40, 1)->unstaged_total);
	assert_false(read_of(&s, 7, 1)->unstaged_total);
	stats_free(&s);
}

static void what_waits_is_counted_with_its_oldest_and_forgotten_with_the_interval(void **state)
{
	struct nt_record r = {.side = NT_TARGET, .points = {[NT_T_RX] = 500, [NT_T_CMD] = 600}};
	struct stats s = {.side = NT_TARGET};
	struct stats_row *row = stats_row(&s, "cntlid 1", "", 1, NT_OP_READ, false);

	assert_non_null(row);
	stats_wait(row, &r, true, 1000);
	r.points[NT_T_EXEC] = 700;
	stats_wait(row, &r, true, 1000);
	r.points[NT_T_DONE] = 800;
	stats_wait(row, &r, true, 1000);
	/* Its other points are still those of the command before. */
	r.points[NT_T_DONE] = 0;
	stats_wait(row, &r, false, 1000);
	r.points[NT_T_RX] = 0;
	stats_wait(row, &r, true, 1000);
	/* It arrived slightly after the look, or at an unknown time. */
	r.points[NT_T_RX] = 1001;
	stats_wait(row, &r, true, 1000);
	r.points[NT_T_RX] = r.points[NT_T_CMD] = 0;
	stats_wait(row, &r, true, 1000);
	assert_int_equal(row->waiting.commands, 7);
	assert_int_equal(row->waiting.oldest_ns, 500);
	assert_int_equal(row->waiting.at_device, 4);
	stats_begin_interval(&s);
	assert_int_equal(row->waiting.commands, 0);
	assert_int_equal(row->waiting.oldest_ns, 0);
	assert_int_equal(row->waiting.at_device, 0);
	stats_free(&s);
}

static void a_sample_is_fair_where_chance_explains_it(void **state)
{
	static const struct {
		uint32_t sample;
		uint64_t measured, others;
		unsigned int distinct;
		bool unfair;
	} known[] = {
		{0, 1000, 0, 1, false},
		{1, 1000, 0, 1, false},
		{100, 600, 59400, 256, false},
		{100, 500, 59500, 256, false},
		{100, 700, 59300, 256, false},
		{100, 0, 60000, 0, true},
		{100, 3750, 56250, 256, true},
		{100, 0, 100, 0, false},
		{100, 0, 0, 0, false},
		{2, 50, 50, 1, false},
		{2, 100, 0, 1, true},
		{16, 4000, 60000, 100, false},
		/* The number is about right, but there are few distinct commands, which repeat. */
		{16, 4000, 60000, 16, true},
		{100, 600, 59400, 5, true},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct stats s = {.sample = known[i].sample, .counted = true};
		struct stats_row *row = stats_row(&s, "nvme0", "", 1, NT_OP_READ, false);
		uint64_t measured, all;

		assert_non_null(row);
		row->total.count = known[i].measured;
		row->others_total.commands = known[i].others;
		for (uint64_t k = 0; k < known[i].measured; k++)
			s.alike_total[k % known[i].distinct]++;
		assert_int_equal(stats_sample(&s, true, &measured, &all), known[i].unfair);
		assert_int_equal(measured, known[i].measured);
		assert_int_equal(all, known[i].measured + known[i].others);
		assert_false(stats_sample(&s, false, &measured, &all));
		assert_int_equal(all, 0);
		stats_free(&s);
	}
}

static void every_counter_has_its_own_name_and_a_help_text(void **state)
{
	for (unsigned int i = 0; i < COUNTERS_NR; i++) {
		assert_string_not_equal(counter_name(i), "unknown");
		assert_true(strlen(counter_help(i)) > 10);
		for (unsigned int j = 0; j < i; j++)
			assert_string_not_equal(counter_name(i), counter_name(j));
	}
	assert_string_equal(counter_name(NT_CNT_CANCELLED), "cancelled");
	assert_string_equal(counter_name(COUNTER_PROBE_MISSED), "probe_missed");
	assert_string_equal(counter_name(COUNTER_IN_FLIGHT), "in_flight");
}

static void operations_and_sides_have_their_names(void **state)
{
	assert_string_equal(side_name(NT_HOST), "host");
	assert_string_equal(side_name(NT_TARGET), "target");
	assert_string_equal(op_name(NT_OP_READ), "read");
	assert_string_equal(op_name(NT_OP_WRITE_ZEROES), "write_zeroes");
	assert_string_equal(op_name(NT_OP_FABRICS), "fabrics");
	assert_string_equal(shape_name(NT_SHAPE_R2T_WRITE), "r2t_write");
}

static bool is_dead(const void *context, const struct stats_row *row)
{
	return row->who != 0;
}

static struct stats_row *dead_row(struct stats *s, unsigned int i, uint64_t commands)
{
	char name[32];
	struct stats_row *r;

	snprintf(name, sizeof(name), "cntlid %u", i);
	r = stats_row(s, name, "nqn", 1, i % 2 ? NT_OP_WRITE : NT_OP_READ, false);
	assert_non_null(r);
	r->who = 1;
	r->total.count = r->total.buckets[i % NT_BUCKETS] = commands;
	r->others_total = (struct workload){commands, 4096};
	return r;
}

static const struct stats_row *gone(const struct stats *s, enum nt_op op)
{
	for (size_t i = 0; i < s->nr_rows; i++)
		if (!strcmp(s->rows[i]->controller, STATS_GONE) && s->rows[i]->op == op)
			return s->rows[i];
	return NULL;
}

static void rows_of_connections_that_ended_go_after_a_minute(void **state)
{
	struct stats s = {0};
	const uint64_t now = 5000000000;

	dead_row(&s, 0, 3);
	dead_row(&s, 1, 5)->who = 0;
	dead_row(&s, 2, 7)->waiting.commands = 1;
	assert_int_equal(stats_fold(&s, now, is_dead, NULL), 0);
	assert_int_equal(stats_fold(&s, now + STATS_ENDED_NS - 1, is_dead, NULL), 0);
	assert_int_equal(s.nr_rows, 3);
	assert_int_equal(stats_fold(&s, now + STATS_ENDED_NS, is_dead, NULL), 0);
	assert_int_equal(s.nr_rows, 3);
	assert_int_equal(s.rows_gone, 1);
	assert_int_equal(gone(&s, NT_OP_READ)->total.count, 3);
	assert_int_equal(gone(&s, NT_OP_READ)->total.buckets[0], 3);
	assert_int_equal(gone(&s, NT_OP_READ)->others_total.commands, 3);
	assert_int_equal(gone(&s, NT_OP_READ)->others_total.bytes, 4096);
	assert_null(gone(&s, NT_OP_WRITE));
	stats_free(&s);
}

/* It is another one of the same name. */
static void a_row_that_is_used_again_has_a_minute_again(void **state)
{
	struct stats s = {0};
	struct stats_row *r = dead_row(&s, 0, 3);

	assert_int_equal(stats_fold(&s, 1, is_dead, NULL), 0);
	r->interval.count = 1;
	assert_int_equal(stats_fold(&s, 2, is_dead, NULL), 0);
	r->interval.count = 0;
	assert_int_equal(stats_fold(&s, 3 + STATS_ENDED_NS, is_dead, NULL), 0);
	assert_int_equal(s.nr_rows, 1);
	assert_int_equal(s.rows_gone, 0);
	stats_free(&s);
}

/* Those that ended first go first, as many as are too many, and those that ended with the last of
 * them. */
static void no_more_rows_wait_for_their_minute_than_the_limit(void **state)
{
	struct stats s = {0};

	for (unsigned int i = 0; i < STATS_ENDED_MAX; i++) {
		dead_row(&s, i, 1);
		if (i < 2)
			assert_int_equal(stats_fold(&s, 10 + i, is_dead, NULL), 0);
	}
	assert_int_equal(stats_fold(&s, 100, is_dead, NULL), 0);
	assert_int_equal(s.nr_rows, STATS_ENDED_MAX);
	dead_row(&s, STATS_ENDED_MAX, 1);
	assert_int_equal(stats_fold(&s, 200, is_dead, NULL), 0);
	assert_int_equal(s.rows_gone, 1);
	assert_int_equal(gone(&s, NT_OP_READ)->total.count, 1);
	assert_null(gone(&s, NT_OP_WRITE));
	stats_free(&s);
}

/* Alerts and conditions ask for reads, and leave out admin commands. */
static void rows_past_the_limit_are_one_of_each_operation(void **state)
{
	struct stats s = {0};
	struct stats_row *others, *admin;

	for (unsigned int i = 0; i < STATS_ROWS_MAX; i++)
		assert_false(dead_row(&s, i, 1)->shared);
	others = dead_row(&s, STATS_ROWS_MAX, 1);
	assert_true(others->shared);
	assert_string_equal(others->controller, STATS_OTHERS);
	assert_ptr_equal(dead_row(&s, STATS_ROWS_MAX + 2, 1), others);
	assert_false(dead_row(&s, 7, 1)->shared);
	assert_int_equal(s.nr_rows, STATS_ROWS_MAX + 1);
	assert_int_equal(others->op, NT_OP_READ);
	admin = stats_row(&s, "cntlid 1", "nqn.x", 0, NT_OP_ADMIN, false);
	assert_true(admin->shared);
	assert_int_equal(admin->op, NT_OP_ADMIN);
	stats_free(&s);
}

static void who_only_connects_leaves_half_of_the_rows_to_reads(void **state)
{
	struct stats s = {0};
	unsigned int i = 0;

	while (!stats_row(&s, "cntlid 1", "nqn.x", (uint16_t)i, NT_OP_FABRICS, false)->shared)
		i++;
	assert_int_equal(i, STATS_ROWS_CONNECTING);
	for (i = 0; i < STATS_ROWS_CONNECTING - 1; i++)
		assert_false(dead_row(&s, i, 1)->shared);
	assert_true(dead_row(&s, i, 1)->shared);
	stats_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_within_the_buckets_error_of_the_exact_ones),
		cmocka_unit_test(percentiles_below_32_ns_are_exact),
		cmocka_unit_test(rank_of_a_whole_number_is_not_rounded_up),
		cmocka_unit_test(percentile_never_exceeds_the_longest),
		cmocka_unit_test(durations_past_the_last_bucket_lie_between_it_and_the_longest),
		cmocka_unit_test(empty_histogram_is_all_zero),
		cmocka_unit_test(percentile_needs_a_duration_above_it),
		cmocka_unit_test(mean_is_exact),
		cmocka_unit_test(merged_histogram_equals_one_that_counted_all),
		cmocka_unit_test(same_identity_gives_the_same_row),
		cmocka_unit_test(names_too_long_to_keep_still_find_their_row),
		cmocka_unit_test(rows_are_sorted_by_controller_peer_queue_and_operation),
		cmocka_unit_test(rows_stay_where_they_are_while_others_come),
		cmocka_unit_test(new_interval_keeps_the_totals),
		cmocka_unit_test(stages_are_those_of_the_rows_controller),
		cmocka_unit_test(stages_beyond_the_last_are_in_no_controllers),
		cmocka_unit_test(
			what_waits_is_counted_with_its_oldest_and_forgotten_with_the_interval),
		cmocka_unit_test(a_sample_is_fair_where_chance_explains_it),
		cmocka_unit_test(every_counter_has_its_own_name_and_a_help_text),
		cmocka_unit_test(operations_and_sides_have_their_names),
		cmocka_unit_test(rows_of_connections_that_ended_go_after_a_minute),
		cmocka_unit_test(a_row_that_is_used_again_has_a_minute_again),
		cmocka_unit_test(no_more_rows_wait_for_their_minute_than_the_limit),
		cmocka_unit_test(rows_past_the_limit_are_one_of_each_operation),
		cmocka_unit_test(who_only_connects_leaves_half_of_the_rows_to_reads),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
