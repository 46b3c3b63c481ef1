// SPDX-License-Identifier: GPL-2.0-only
/*
 * Conditions of a flight recorder: which are accepted, which are refused and where, and when they
 * become true.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "core/array.h"
#include "serve/when.h"

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
		{"errors>", 8},
		{"errors>x1", 8},
		{"p0>1ms", 1},
		{"p0.00000001>1ms", 1},
		{"p99.99999999>1ms", 1},
		{"p429.6>1ms", 1},
		{"p99x>1ms", 1},
		{"p9.9e1>1ms", 1},
		{"p099>1ms", 1},
		{"p100>1ms", 1},
		{"p>1ms", 1},
		{"p99>1ms over", 13},
		{"p99>1ms over 0", 14},
		{"p99>1ms over 11m", 14},
		{"oldest>1s extra", 11},
		{"state", 6},
		{"state>1", 6},
		{"state=", 7},
		{"state=connected", 7},
		{"state(read)=live", 6},
		{"state=live over 10s", 12},
		{"p99                                                              >1ms", 1},
		{"latency>111111111111111111111111111111111111111111111111111ms", 9},
	};

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

static void blanks_and_long_names_are_understood(void **state)
{
	struct when w;

	parse(&w, "\tp64.07 (write_zeroes)\t>\t1ms\tover 10m ,\terrors(read)>1\t");
	assert_int_equal(w.nr, 2);
	assert_int_equal(w.condition[0].op, NT_OP_WRITE_ZEROES);
	assert_int_equal(w.condition[0].parts, 640700000);
	assert_int_equal(w.condition[0].over_ns, 600 * S);
	assert_string_equal(w.condition[0].text, "p64.07 (write_zeroes)\t>\t1ms\tover 10m");
	assert_string_equal(w.condition[1].text, "errors(read)>1");
}

/* The text is a label of metrics, whose room ends it. */
static void a_condition_has_63_bytes_at_most(void **state)
{
	struct when w = {.nr = 0};
	char text[80];
	size_t at;

	snprintf(text, sizeof(text), "errors%*s1", 63 - 7, ">");
	assert_int_equal(strlen(text), 63);
	assert_null(when_parse(&w, text, &at));
	assert_string_equal(w.condition[0].text, text);
	snprintf(text, sizeof(text), "  errors%*s1", 64 - 7, ">");
	assert_non_null(when_parse(&w, text, &at));
	assert_int_equal(at, 3);
	assert_int_equal(w.nr, 1);
}

static void there_is_room_for_so_many(void **state)
{
	struct when w = {.nr = 0};
	char text[32];
	size_t at;

	for (unsigned int i = 0; i <= WHEN_CONDITIONS_MAX; i++) {
		snprintf(text, sizeof(text), "errors>%u", i);
		assert_int_equal(!when_parse(&w, text, &at), i < WHEN_CONDITIONS_MAX);
	}
	assert_int_equal(w.nr, WHEN_CONDITIONS_MAX);
	assert_null(when_parse(&w, "errors>15", &at));
}

/* The text is a label of a metric, which may have only one sample with it. */
static void a_condition_that_comes_twice_is_one(void **state)
{
	struct when w = {.nr = 0};
	size_t at;

	assert_null(when_parse(&w, "errors>0, latency>5ms,errors>0 ,errors>1", &at));
	assert_int_equal(w.nr, 3);
	assert_null(when_parse(&w, "latency>5ms", &at));
	assert_int_equal(w.nr, 3);
	assert_string_equal(w.condition[2].text, "errors>1");
	assert_non_null(when_parse(&w, "errors>0,errors>0,nothing>1", &at));
	assert_int_equal(at, 19);
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

/* The first of the conditions that a command makes true is reported, and each of them holds. */
static void a_command_may_make_several_conditions_true(void **state)
{
	struct nt_record slow = took(10 * MS, NT_OP_READ, 1);
	struct stats s = {.seconds = 1};
	struct when w;

	parse(&w, "errors>0,oldest>1ms,p50>1ms,latency>5ms,latency(read)>1ms");
	assert_ptr_equal(when_record(&w, &slow), &w.condition[3]);
	assert_null(when_interval(&w, &s, 10 * S));
	for (unsigned int i = 0; i < w.nr; i++)
		assert_int_equal(w.condition[i].before, i > 2);
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

static void a_state_is_reported_with_its_event(void **state)
{
	struct stats s = {.side = NT_HOST, .seconds = 1};
	struct nt_path_event e = {.state = NT_PATH_RESETTING};
	struct when w;

	parse(&w, "state=connecting, errors>0, state=dead");
	assert_null(when_event(&w, &e));
	/* The same number is something else in an event of another kind. */
	e = (struct nt_path_event){.kind = NT_PATH_ANA, .state = NT_PATH_CONNECTING};
	assert_null(when_event(&w, &e));
	e.kind = NT_PATH_STATE;
	assert_ptr_equal(when_event(&w, &e), &w.condition[0]);
	/* A storm of them is one trigger, also over the end of an interval. */
	for (unsigned int i = 0; i < 10000; i++)
		assert_null(when_event(&w, &e));
	assert_null(when_interval(&w, &s, 10 * S));
	assert_null(when_event(&w, &e));
	assert_null(when_interval(&w, &s, 11 * S));
	assert_null(when_interval(&w, &s, 12 * S));
	assert_ptr_equal(when_event(&w, &e), &w.condition[0]);
	e.state = NT_PATH_DEAD;
	assert_ptr_equal(when_event(&w, &e), &w.condition[2]);
	when_free(&w);
	stats_free(&s);
}

static void errors_and_age_are_of_intervals(void **state)
{
	struct stats s = {.side = NT_HOST, .seconds = 1};
	struct when w;

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

/* They may be an I/O queue's, but admin commands are none's. */
static void errors_that_are_nobody_s_count(void **state)
{
	struct stats s = {.side = NT_TARGET, .seconds = 1};
	struct when w;

	parse(&w, "errors>0");
	assert_int_equal(errors_add(&s.errors, "", "", 0, NT_OP_FABRICS, 0x182, 1), 0);
	assert_int_equal(errors_add(&s.errors, "cntlid 1", "", 0, NT_OP_OTHER, 1, 1), 0);
	assert_null(when_interval(&w, &s, 10 * S));
	stats_begin_interval(&s);
	assert_int_equal(errors_add(&s.errors, "", "", 0, NT_OP_OTHER, ERRORS_OTHER, 1), 0);
	assert_ptr_equal(when_interval(&w, &s, 11 * S), &w.condition[0]);
	when_free(&w);
	stats_free(&s);
}

/* An interval counts if some part of it lies within the time. */
static void a_time_ends_with_the_interval_that_began_in_it(void **state)
{
	struct stats s = {.side = NT_HOST, .seconds = 1};
	struct when w;

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

static void error(struct stats *s)
{
	assert_int_equal(errors_add(&s->errors, "nvme0", "nqn", 1, NT_OP_READ, 0x281, 1), 0);
}

/*
 * Intervals of @seconds, from 100 s on, with an error in the first @errors of them. Return: after
 * how many intervals the condition was true for the last time; 0: never
 */
static unsigned int true_until(const char *condition, double seconds, unsigned int errors,
			       unsigned int intervals)
{
	struct stats s = {.side = NT_HOST};
	unsigned int last = 0;
	struct when w;

	parse(&w, condition);
	for (unsigned int i = 1; i <= intervals; i++) {
		stats_begin_interval(&s);
		s.seconds = seconds;
		if (i <= errors)
			error(&s);
		when_interval(&w, &s, 100 * S + (uint64_t)(i * seconds * 1000) * MS);
		last = w.condition[0].before ? i : last;
	}
	when_free(&w);
	stats_free(&s);
	return last;
}

/* The time is kept in parts, whose number does not depend on that of the intervals. */
static void a_time_is_as_long_for_any_interval(void **state)
{
	/* An interval of a part each, and then parts that are used again. */
	assert_int_equal(true_until("errors>0 over 64s", 1, 1, 150), 65);
	assert_int_equal(true_until("errors>0 over 2s", 1, 1, 150), 3);
	/* Several intervals of a part. */
	assert_int_equal(true_until("errors>0 over 16s", 0.125, 1, 400), 129);
	assert_int_equal(true_until("errors>1 over 64s", 0.5, 1, 10), 0);
	assert_int_equal(true_until("errors>1 over 64s", 0.5, 2, 10), 10);
}

/* Only the rows of the operation count, wherever the oldest of them is. */
static void the_oldest_command_is_that_of_any_row(void **state)
{
	static const uint64_t oldest[][2] = {{5 * S, 0}, {0, 5 * S}, {5 * S, 1 * S}};
	struct stats s = {.side = NT_HOST, .seconds = 1};
	struct when w;

	fill(&s, NT_OP_READ, 1, MS);
	fill(&s, NT_OP_WRITE, 1, MS);
	fill(&s, NT_OP_FLUSH, 1, MS);
	for (unsigned int i = 0; i < ARRAY_SIZE(oldest); i++) {
		s.rows[0]->waiting.oldest_ns = oldest[i][0];
		s.rows[1]->waiting.oldest_ns = oldest[i][1];
		parse(&w, "oldest>4s,oldest(flush)>0s");
		assert_ptr_equal(when_interval(&w, &s, 10 * S), &w.condition[0]);
		assert_false(w.condition[1].before);
		when_free(&w);
	}
	stats_free(&s);
}

/* Past the limit of rows, those of an operation are together; its queues are I/O queues. */
static void what_shares_a_row_counts_by_its_operation(void **state)
{
	struct stats s = {.side = NT_TARGET, .seconds = 1};
	struct stats_row *r;
	struct when w;

	for (unsigned int op = 0; op < NT_OPS_NR; op++) {
		const bool io = op < NT_OP_OTHER;

		stats_begin_interval(&s);
		r = stats_row(&s, STATS_OTHERS, "", 0, (enum nt_op)op, true);
		assert_non_null(r);
		r->waiting.oldest_ns = 5 * S;
		parse(&w, "oldest>4s");
		assert_ptr_equal(when_interval(&w, &s, 10 * S), io ? &w.condition[0] : NULL);
		when_free(&w);
		r->waiting.oldest_ns = 0;
		for (unsigned int i = 0; i < 100; i++)
			hist_count(&r->interval, 5 * S);
		parse(&w, "p50>4s");
		assert_ptr_equal(when_interval(&w, &s, 10 * S), io ? &w.condition[0] : NULL);
		when_free(&w);
	}
	stats_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_understood),
		cmocka_unit_test(nonsense_is_refused_where_it_is),
		cmocka_unit_test(blanks_and_long_names_are_understood),
		cmocka_unit_test(a_condition_has_63_bytes_at_most),
		cmocka_unit_test(there_is_room_for_so_many),
		cmocka_unit_test(a_condition_that_comes_twice_is_one),
		cmocka_unit_test(a_slow_command_is_told_once),
		cmocka_unit_test(a_command_may_make_several_conditions_true),
		cmocka_unit_test(a_condition_without_an_operation_is_of_io),
		cmocka_unit_test(a_percentile_is_of_its_time),
		cmocka_unit_test(errors_and_age_are_of_intervals),
		cmocka_unit_test(errors_that_are_nobody_s_count),
		cmocka_unit_test(a_state_is_reported_with_its_event),
		cmocka_unit_test(a_time_ends_with_the_interval_that_began_in_it),
		cmocka_unit_test(a_time_is_as_long_for_any_interval),
		cmocka_unit_test(the_oldest_command_is_that_of_any_row),
		cmocka_unit_test(what_shares_a_row_counts_by_its_operation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
