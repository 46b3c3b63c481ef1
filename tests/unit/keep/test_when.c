// SPDX-License-Identifier: GPL-2.0-only
/*
 * Conditions of a flight recorder: which are accepted, which are refused and where, and when they
 * become true.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "keep/when.h"

#define MS 1000000ULL
#define S 1000000000ULL

static void parse(struct when *w, const char *text)
{
	const char *wrong;
	size_t at;

	*w = (struct when){.nr = 0};
	wrong = when_parse(w, text, &at);
	if (wrong)
		fail_msg("%s: at %zu: %s", text, at, wrong);
}

static void what_is_written_is_understood(void **state)
{
	struct when w;

	(void)state;
	parse(&w,
	      "latency>5ms, p99.9(read) > 2ms over 10s,errors>0,oldest(write)>1.5s , errors(flush)>3 over 1m");
	assert_int_equal(w.nr, 5);
	assert_int_equal(w.condition[0].kind, WHEN_LATENCY);
	assert_int_equal(w.condition[0].op, NT_OPS_NR);
	assert_int_equal(w.condition[0].limit, 5 * MS);
	assert_string_equal(w.condition[0].text, "latency>5ms");
	assert_int_equal(w.condition[1].kind, WHEN_PERCENTILE);
	assert_int_equal(w.condition[1].op, NT_OP_READ);
	assert_int_equal(w.condition[1].parts, 999000000);
	assert_int_equal(w.condition[1].limit, 2 * MS);
	assert_int_equal(w.condition[1].over_ns, 10 * S);
	assert_string_equal(w.condition[1].text, "p99.9(read) > 2ms over 10s");
	assert_int_equal(w.condition[2].kind, WHEN_ERRORS);
	assert_int_equal(w.condition[2].limit, 0);
	assert_int_equal(w.condition[3].kind, WHEN_OLDEST);
	assert_int_equal(w.condition[3].op, NT_OP_WRITE);
	assert_int_equal(w.condition[3].limit, 1500 * MS);
	assert_string_equal(w.condition[3].text, "oldest(write)>1.5s");
	assert_int_equal(w.condition[4].limit, 3);
	assert_int_equal(w.condition[4].over_ns, 60 * S);
}

static void nonsense_is_refused_where_it_is(void **state)
{
	static const struct {
		const char *text;
		size_t at;
	} cases[] = {
		{"", 1},
		{"slow", 1},
		{"latency", 8},
		{"latency<5ms", 8},
		{"latency>", 9},
		{"latency>5parsec", 9},
		{"latency>-5ms", 9},
		{"latency(reed)>5ms", 9},
		{"latency(read>5ms", 13},
		{"latency>5ms over 10s", 13},
		{"latency>5ms;errors>0", 12},
		{"latency>5ms,", 13},
		{"latency>5ms,,errors>0", 13},
		{"latency>5ms, errors>x", 21},
		{"errors>1.5", 8},
		{"errors>99999999999999999999", 8},
		{"p0>1ms", 1},
		{"p100>1ms", 1},
		{"p>1ms", 1},
		{"p99>1ms over", 13},
		{"p99>1ms over 0", 14},
		{"p99>1ms over 11m", 14},
		{"oldest>1s extra", 11},
		{"p99                                                              >1ms", 1},
		{"latency>111111111111111111111111111111111111111111111111111ms", 9},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct when w = {.nr = 0};
		size_t at;

		if (!when_parse(&w, cases[i].text, &at))
			fail_msg("'%s' is taken", cases[i].text);
		if (at != cases[i].at)
			fail_msg("'%s' is refused at %zu, not at %zu", cases[i].text, at,
				 cases[i].at);
	}
}

static void there_is_room_for_so_many(void **state)
{
	struct when w = {.nr = 0};
	size_t at;

	(void)state;
	for (unsigned int i = 0; i < WHEN_CONDITIONS_MAX; i++)
		assert_null(when_parse(&w, "errors>0", &at));
	assert_non_null(when_parse(&w, "errors>0", &at));
	assert_int_equal(w.nr, WHEN_CONDITIONS_MAX);
}

static struct nt_record took(uint64_t ns, enum nt_op op, unsigned int qid)
{
	return (struct nt_record){
		.side = NT_HOST,
		.op = (uint8_t)op,
		.qid = (uint16_t)qid,
		.points = {[NT_H_SUBMIT] = S, [NT_H_COMPLETE] = S + ns},
	};
}

/*
 * A condition is reported once each time it becomes true. In between it has to be false for an
 * interval.
 */
static void a_slow_command_is_told_once(void **state)
{
	struct nt_record slow = took(5 * MS + 1, NT_OP_READ, 1), fast = took(5 * MS, NT_OP_READ, 1);
	struct nt_record write = took(S, NT_OP_WRITE, 1), admin = took(S, NT_OP_ADMIN, 0);
	struct stats s = {.seconds = 1};
	struct when w;

	(void)state;
	parse(&w, "latency(read)>5ms,latency>100ms");
	assert_null(when_record(&w, &fast));
	assert_null(when_record(&w, &admin));
	assert_ptr_equal(when_record(&w, &slow), &w.condition[0]);
	assert_null(when_record(&w, &slow));
	assert_ptr_equal(when_record(&w, &write), &w.condition[1]);
	assert_null(when_interval(&w, &s, 10 * S));
	assert_null(when_record(&w, &slow));
	assert_null(when_interval(&w, &s, 11 * S));
	assert_null(when_interval(&w, &s, 12 * S));
	assert_ptr_equal(when_record(&w, &slow), &w.condition[0]);
	when_free(&w);
}

/* Connect and admin commands may take long by design, so conditions on them have to name them. */
static void a_condition_without_an_operation_is_of_io(void **state)
{
	static const struct {
		unsigned int op, qid;
		bool io;
	} cases[] = {
		{NT_OP_READ, 1, true},	 {NT_OP_WRITE, 1, true},    {NT_OP_FLUSH, 9, true},
		{NT_OP_OTHER, 1, true},	 {NT_OP_FABRICS, 1, false}, {NT_OP_FABRICS, 0, false},
		{NT_OP_ADMIN, 0, false}, {NT_OP_ADMIN, 1, false},   {NT_OP_READ, 0, false},
	};
	struct when w;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct nt_record r = took(6 * MS, (enum nt_op)cases[i].op, cases[i].qid);

		parse(&w, "latency>5ms");
		assert_int_equal(when_record(&w, &r) != NULL, cases[i].io);
		when_free(&w);
	}
	parse(&w, "latency(fabrics)>5ms,latency(admin)>5ms");
	assert_ptr_equal(when_record(&w, &(struct nt_record){0}), NULL);
	for (unsigned int i = 0; i < 2; i++) {
		struct nt_record r = took(6 * MS, i ? NT_OP_ADMIN : NT_OP_FABRICS, 0);

		assert_ptr_equal(when_record(&w, &r), &w.condition[i]);
	}
	when_free(&w);
}

static void fill(struct stats *s, enum nt_op op, unsigned int n, uint64_t ns)
{
	struct stats_row *r = stats_row(s, "nvme0", "nqn", 1, op, false);

	assert_non_null(r);
	for (unsigned int i = 0; i < n; i++)
		hist_count(&r->interval, ns);
}

static void a_percentile_is_of_its_time(void **state)
{
	struct stats s = {.side = NT_HOST, .seconds = 1};
	uint64_t now = 100 * S;
	struct when w;

	(void)state;
	parse(&w, "p99(read)>2ms over 10s");
	/* With fewer than a hundred commands there is no 99th percentile. */
	fill(&s, NT_OP_READ, 99, 50 * MS);
	fill(&s, NT_OP_WRITE, 1000, 50 * MS);
	assert_null(when_interval(&w, &s, now));
	stats_begin_interval(&s);
	s.seconds = 1;
	fill(&s, NT_OP_READ, 1, 50 * MS);
	assert_ptr_equal(when_interval(&w, &s, now += S), &w.condition[0]);
	/*
	 * It stays true as long as these commands are within ten seconds, give or take an interval.
	 */
	for (unsigned int i = 0; i < 9; i++) {
		stats_begin_interval(&s);
		s.seconds = 1;
		assert_null(when_interval(&w, &s, now += S));
		assert_true(w.condition[0].before || i > 7);
	}
	for (unsigned int i = 0; i < 4; i++) {
		stats_begin_interval(&s);
		s.seconds = 1;
		assert_null(when_interval(&w, &s, now += S));
	}
	assert_false(w.condition[0].before);
	/* Of 10,000 commands, 99 may be slow. */
	stats_begin_interval(&s);
	s.seconds = 1;
	fill(&s, NT_OP_READ, 9901, MS);
	fill(&s, NT_OP_READ, 99, 50 * MS);
	assert_null(when_interval(&w, &s, now += S));
	stats_begin_interval(&s);
	s.seconds = 1;
	fill(&s, NT_OP_READ, 2, 50 * MS);
	assert_ptr_equal(when_interval(&w, &s, now += S), &w.condition[0]);
	when_free(&w);
	stats_free(&s);
}

static void errors_and_age_are_of_intervals(void **state)
{
	struct stats s = {.side = NT_HOST, .seconds = 1};
	struct when w;

	(void)state;
	parse(&w, "errors>1 over 3s,oldest>1s");
	assert_int_equal(errors_add(&s.errors, "nvme0", "nqn", 1, NT_OP_READ, 0x281, 1), 0);
	assert_null(when_interval(&w, &s, 10 * S));
	stats_begin_interval(&s);
	assert_null(when_interval(&w, &s, 11 * S));
	stats_begin_interval(&s);
	assert_int_equal(errors_add(&s.errors, "nvme0", "nqn", 1, NT_OP_READ, 0x281, 1), 0);
	s.seconds = 1;
	assert_ptr_equal(when_interval(&w, &s, 12 * S), &w.condition[0]);
	stats_begin_interval(&s);
	fill(&s, NT_OP_READ, 1, MS);
	s.rows[0]->waiting.oldest_ns = S + 1;
	assert_ptr_equal(when_interval(&w, &s, 60 * S), &w.condition[1]);
	assert_null(when_interval(&w, &s, 61 * S));
	s.rows[0]->waiting.oldest_ns = S;
	assert_null(when_interval(&w, &s, 62 * S));
	s.rows[0]->waiting.oldest_ns = 2 * S;
	assert_ptr_equal(when_interval(&w, &s, 63 * S), &w.condition[1]);
	when_free(&w);
	stats_free(&s);
}

/* An interval counts if some part of it lies within the time. */
static void a_time_ends_with_the_interval_that_began_in_it(void **state)
{
	struct stats s = {.side = NT_HOST, .seconds = 1};
	struct when w;

	(void)state;
	parse(&w, "errors>0 over 10s");
	assert_int_equal(errors_add(&s.errors, "nvme0", "nqn", 1, NT_OP_READ, 0x281, 1), 0);
	assert_ptr_equal(when_interval(&w, &s, 100 * S), &w.condition[0]);
	for (uint64_t now = 101; now <= 112; now++) {
		stats_begin_interval(&s);
		s.seconds = 1;
		assert_null(when_interval(&w, &s, now * S));
		assert_int_equal(w.condition[0].before, now <= 110);
	}
	when_free(&w);
	stats_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_understood),
		cmocka_unit_test(nonsense_is_refused_where_it_is),
		cmocka_unit_test(there_is_room_for_so_many),
		cmocka_unit_test(a_slow_command_is_told_once),
		cmocka_unit_test(a_condition_without_an_operation_is_of_io),
		cmocka_unit_test(a_percentile_is_of_its_time),
		cmocka_unit_test(errors_and_age_are_of_intervals),
		cmocka_unit_test(a_time_ends_with_the_interval_that_began_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
