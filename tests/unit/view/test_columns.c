// SPDX-License-Identifier: GPL-2.0-only
/* The tables of columns: names, units and values, and how a value becomes text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/names.h"
#include "view/columns.h"
#include "view/columns_queues.h"
#include "view/commands.h"
#include "view/connections.h"
#include "view/groups.h"
#include "view/head.h"
#include "view/histograms.h"
#include "view/limits.h"
#include "view/lines.h"
#include "view/losses.h"
#include "view/stages.h"
#include "view/streams.h"

static const struct columns *const tables[] = {
	&run_columns,	  &queue_columns,      &operation_columns,     &stage_columns,
	&loss_columns,	  &scale_columns,      &merged_columns,	       &connection_columns,
	&merging_columns, &stray_columns,      &matching_columns,      &input_columns,
	&peer_columns,	  &command_columns,    &command_stage_columns, &point_columns,
	&pair_columns,	  &population_columns, &sample_columns,	       &error_columns,
	&limit_columns,	  &controller_columns, &waiting_columns,       &origin_columns,
};

/* A name has lower case letters, digits and underscores, and begins with a letter. */
static bool is_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

	return name && name[0] && strchr(letters, name[0]) &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name);
}

static void tables_have_names_of_their_own(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		assert_true(is_name(tables[i]->name));
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(tables[i]->name, tables[k]->name);
	}
}

static void columns_have_unique_names_of_lower_case_and_underscores(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		const struct columns *t = tables[i];

		assert_true(t->nr > 0);
		for (unsigned int c = 0; c < t->nr; c++) {
			if (!is_name(t->column[c].name))
				fail_msg("column %u of %s has a bad name", c, t->name);
			for (unsigned int k = 0; k < c; k++)
				if (!strcmp(t->column[c].name, t->column[k].name))
					fail_msg("%s has two columns %s", t->name,
						 t->column[c].name);
		}
	}
}

static void columns_have_a_heading_a_unit_and_a_value(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		for (unsigned int c = 0; c < tables[i]->nr; c++) {
			const struct column *column = &tables[i]->column[c];

			assert_true(column->title && column->title[0]);
			assert_true(!column->brief ||
				    strlen(column->brief) < strlen(column->title));
			assert_true(column->unit < UNITS_NR);
			assert_true(column->get || column->type != MEMBER_NONE);
			/* Columns of codes, and only these, have a number of digits. */
			assert_int_equal(column->digits != 0, column->unit == UNIT_CODE);
		}
	}
}

/* Names and texts are strings, everything else is a number. */
static void assert_values_are_of_their_units(const struct columns *t, const void *row)
{
	for (unsigned int c = 0; c < t->nr; c++) {
		bool words = t->column[c].unit == UNIT_NAME || t->column[c].unit == UNIT_TEXT;
		struct value v;

		memset(&v, 0xff, sizeof(v));
		columns_get(t, c, row, &v);
		if ((v.type == VALUE_TEXT) != words)
			fail_msg("%s of %s is %sa text", t->column[c].name, t->name,
				 words ? "not " : "");
		if (v.none && !words)
			assert_true(value_number(&v) == 0 || t->column[c].unit == UNIT_SECONDS ||
				    t->column[c].unit == UNIT_COUNT);
	}
}

static void values_are_numbers_unless_they_are_words(void **state)
{
	static struct stats s = {.side = NT_HOST, .driver = "nvme_tcp", .source = "stock"};
	static struct hist h;
	static struct stage_rows stages;
	static struct totals totals;
	static struct input input;
	const struct hist_row operation = {.h = &h, .op = NT_OP_READ};
	const struct loss_row loss = {.counter = NT_CNT_DIED, .total = 1};
	const struct error_count error = {.controller = "nvme0", .status = 6, .total = 1};
	const struct scale_row octaves = octaves_row(3, 5, 7);
	const struct merge_connection connection = {.offset_low = -4, .offset_high = 4};
	const struct totals_row total = {
		.connection = &connection, .op = NT_OP_READ, .commands = 1};
	const struct merged_row merged = {.t = &total, .connection = &connection};
	const struct pair_row pair = {machines_get(NULL, 0), machines_get(NULL, 0)};
	const struct live_merge_counts counts = {.matched = 1};
	const struct peer_row peer = {1, {.source = "x", .why = ""}, "m"};
	const struct nt_record r = {.side = NT_HOST};
	const struct limit_row limit = {.limit = "drive", .group = "nvme0", .near = true};
	const struct command_stage_row stage = {"s", 1, 2};
	const struct point_row point = {.stage = ""};
	struct merge *merge = merge_new(&(struct merge_callbacks){0});
	struct command_row command;
	struct queue_row queue = {.row = NULL};

	assert_non_null(merge);
	assert_non_null(stats_row(&s, "nvme0", "nqn", 1, NT_OP_READ, false));
	hist_count(&s.rows[0]->total, 1000);
	assert_true(columns_queues_next(&queue, &s, true));
	columns_stages_of_side(&stages, &s, true);
	assert_int_equal(stages.nr, NT_HOST_STAGES_NR - 1); /* those of TCP */
	input.path = "a";
	columns_command_merged(&command, &connection, &r, NULL, false);
	assert_values_are_of_their_units(&limit_columns, &limit);
	assert_values_are_of_their_units(&run_columns, &s);
	assert_values_are_of_their_units(&queue_columns, &queue);
	assert_values_are_of_their_units(&operation_columns, &operation);
	assert_values_are_of_their_units(&stage_columns, &stages.row[0]);
	assert_values_are_of_their_units(&population_columns, &stages);
	assert_values_are_of_their_units(&loss_columns, &loss);
	assert_values_are_of_their_units(&error_columns, &error);
	assert_values_are_of_their_units(&scale_columns, &octaves);
	assert_values_are_of_their_units(&merged_columns, &merged);
	assert_values_are_of_their_units(&connection_columns, &connection);
	assert_values_are_of_their_units(&pair_columns, &pair);
	assert_values_are_of_their_units(&merging_columns, &totals);
	assert_values_are_of_their_units(&stray_columns, merge);
	assert_values_are_of_their_units(&matching_columns, &counts);
	assert_values_are_of_their_units(&input_columns, &input);
	assert_values_are_of_their_units(&peer_columns, &peer);
	assert_values_are_of_their_units(&command_columns, &command);
	assert_values_are_of_their_units(&command_stage_columns, &stage);
	assert_values_are_of_their_units(&point_columns, &point);
	merge_free(merge);
	stats_free(&s);
}

static struct value value_of(const struct columns *t, const char *name, const void *row)
{
	struct value v = {.type = VALUE_TEXT};

	for (unsigned int c = 0; c < t->nr; c++)
		if (!strcmp(t->column[c].name, name))
			columns_get(t, c, row, &v);
	return v;
}

/* Sums have 128 bits. One that 64 bits cannot hold is shown as the most that they can. */
static void a_sum_above_64_bits_is_no_small_one(void **state)
{
	const __int128 large = (__int128)9 << 62;
	static struct detail_table details;
	static struct detail detail = {.of = DETAIL_HOST, .time = {.count = 9}};
	struct hist h = {.count = 9, .sum = (unsigned __int128)large};
	struct stage_row stage = {.base = {.h = &h, .op = NT_OP_READ}, .stage = "s", .sum = -large};
	struct detail_row row = {.d = &detail};
	struct totals_row total = {.op = NT_OP_READ,
				   .commands = 9,
				   .latency_ns = (unsigned __int128)large,
				   .unsplit_ns = (unsigned __int128)large,
				   .split = 9};
	const struct merged_row merged = {.t = &total};
	struct totals totals = {.joined_network_ns = -large};

	total.sum[0] = large;
	detail.time.sum = (unsigned __int128)large;
	row.base = (struct hist_row){.h = &detail.time, .op = NT_OP_READ};
	detail_table_make(&details, &(struct figures){.nr = 0});
	assert_true(value_of(&operation_columns, "sum", &stage.base).natural == UINT64_MAX);
	assert_true(value_of(&stage_columns, "sum", &stage).integer == INT64_MIN);
	stage.sum = large;
	assert_true(value_of(&stage_columns, "sum", &stage).integer == INT64_MAX);
	assert_true(value_of(&details.columns, "sum", &row).integer == INT64_MAX);
	assert_true(value_of(&details.columns, "mean", &row).real == (double)(1ULL << 62));
	assert_true(value_of(&merged_columns, "mean", &merged).real == (double)(1ULL << 62));
	assert_true(value_of(&merged_columns, "unsplit_sum", &merged).natural == UINT64_MAX);
	assert_true(value_of(&merged_columns, "blk_submission_sum", &merged).integer == INT64_MAX);
	assert_true(value_of(&merging_columns, "joined_network", &totals).integer == INT64_MIN);
}

/* A table with fields of every type. */
struct fields {
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	__u64 kernel_u64;
	int64_t s64;
	double real;
	char text[8];
};

static void fields_are_read_whole(void **state)
{
	static const struct column column[] = {
		{"u8", "u8", .unit = UNIT_COUNT, COLUMN_FIELD(struct fields, u8)},
		{"u16", "u16", .unit = UNIT_COUNT, COLUMN_FIELD(struct fields, u16)},
		{"u32", "u32", .unit = UNIT_COUNT, COLUMN_FIELD(struct fields, u32)},
		{"u64", "u64", .unit = UNIT_COUNT, COLUMN_FIELD(struct fields, u64)},
		{"k64", "k64", .unit = UNIT_COUNT, COLUMN_FIELD(struct fields, kernel_u64)},
		{"s64", "s64", .unit = UNIT_NANOSECONDS, COLUMN_FIELD(struct fields, s64)},
		{"real", "real", .unit = UNIT_SECONDS, COLUMN_FIELD(struct fields, real)},
		{"text", "text", .unit = UNIT_TEXT, COLUMN_FIELD(struct fields, text)},
	};
	static const char *const expected[] = {
		"255",
		"65535",
		"4294967295",
		"18446744073709551615",
		"18446744073709551614",
		"-9000000000",
		"2.50",
		"a\\x1b",
	};
	const struct columns t = COLUMNS("fields", column);
	const struct fields row = {
		UINT8_MAX,	UINT16_MAX,  UINT32_MAX, UINT64_MAX,
		UINT64_MAX - 1, -9000000000, 2.5,	 "a\033",
	};
	char cell[CELL_LEN];
	struct value v;

	for (unsigned int c = 0; c < t.nr; c++) {
		columns_get(&t, c, &row, &v);
		assert_string_equal(cell_exact(cell, sizeof(cell), &column[c], &v, 2), expected[c]);
	}
}

/* A row whose members may have no value. */
struct absent {
	const struct fields *fields;
	const char *pointer;
	uint32_t flags;
	bool unknown;
	uint64_t ns;
	unsigned __int128 large;
	__int128 low;
};

static bool is_unknown(const void *row)
{
	return ((const struct absent *)row)->unknown;
}

static void members_may_have_no_value(void **state)
{
	static const struct column column[] = {
		COLUMN("at", COUNT, COLUMN_AT(struct absent, fields, u16)),
		COLUMN("text", TEXT, COLUMN_AT(struct absent, fields, text), .least = 1),
		COLUMN("pointer", TEXT, COLUMN_FIELD(struct absent, pointer)),
		COLUMN("flag", FLAG, COLUMN_FIELD(struct absent, flags), .arg = 4, .least = 1),
		COLUMN("flags", COUNT, COLUMN_FIELD(struct absent, flags), .least = 5),
		COLUMN("op", NAME, COLUMN_FIELD(struct absent, unknown), .words = WORD_OP,
		       .none = is_unknown),
		COLUMN("s", SECONDS, COLUMN_FIELD(struct absent, ns), .least = 1),
		COLUMN("large", COUNT, COLUMN_FIELD(struct absent, large), .least = 1),
		COLUMN("low", COUNT, COLUMN_FIELD(struct absent, low), .none = is_unknown),
	};
	static const char *const expected[] = {
		"65535",
		"a",
		"b",
		"",
		"7",
		"read",
		"1.50",
		"18446744073709551615",
		"-9223372036854775808",
	};
	const struct columns t = COLUMNS("absent", column);
	const struct fields fields = {.u16 = UINT16_MAX, .text = "a"};
	const struct absent none = {.flags = 3, .unknown = true};
	const struct absent all = {
		&fields,
		"b",
		7,
		false,
		1500000000,
		(unsigned __int128)1 << 100,
		-((__int128)1 << 100),
	};
	char cell[CELL_LEN];
	struct value v;

	for (unsigned int c = 0; c < t.nr; c++) {
		columns_get(&t, c, &none, &v);
		assert_true(v.none);
		columns_get(&t, c, &all, &v);
		assert_false(v.none);
		assert_string_equal(cell_exact(cell, sizeof(cell), &column[c], &v, 2), expected[c]);
	}
}

static struct value natural(uint64_t n)
{
	return (struct value){.type = VALUE_NATURAL, .natural = n};
}

static struct value real(double n)
{
	return (struct value){.type = VALUE_REAL, .real = n};
}

static struct value text(const char *s)
{
	return (struct value){.type = VALUE_TEXT, .text = s};
}

static void each_unit_has_its_text(void **state)
{
	const struct {
		enum unit unit;
		struct value v;
		const char *people, *exact;
	} known[] = {
		{UNIT_NAME, text("read"), "read", "read"},
		{UNIT_TEXT, text("nqn\n\\"), "nqn\\x0a\\x5c", "nqn\\x0a\\x5c"},
		{UNIT_FLAG, natural(1), "", ""},
		{UNIT_NUMBER, natural(65535), "65535", "65535"},
		{UNIT_NUMBER, text("all"), "all", "all"},
		{UNIT_CODE, natural(0x2a), "0x002a", "0x002a"},
		{UNIT_COUNT, natural(1234567), "1234567", "1234567"},
		{UNIT_COUNT, real(0.654), "0.65", "0.65"},
		{UNIT_BYTES, natural(4096), "4096", "4096"},
		{UNIT_NANOSECONDS, natural(12345), "12.3us", "12345"},
		{UNIT_NANOSECONDS, real(870.2), "870ns", "870.20"},
		{UNIT_NANOSECONDS, text("inf"), "inf", "inf"},
		{UNIT_SECONDS, real(1.5), "1.50", "1.50"},
		{UNIT_INSTANT, natural(12000000034), "12.000000034", "12.000000034"},
		{UNIT_SHARE, real(0.576), "57.6 %", "0.58"},
		{UNIT_PER_SECOND, real(1600), "1600", "1600.00"},
		{UNIT_PER_SECOND, real(0), "0", "0.00"},
		{UNIT_BYTES_PER_SECOND, real(6553600), "6.55", "6553600.00"},
		{UNIT_PPM, real(-1.25), "-1.25", "-1.25"},
	};
	bool seen[UNITS_NR] = {false};
	char cell[CELL_LEN];

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		const struct column c = {.unit = known[i].unit, .digits = 4};

		seen[c.unit] = true;
		assert_string_equal(cell_format(cell, sizeof(cell), &c, &known[i].v),
				    known[i].people);
		assert_string_equal(cell_exact(cell, sizeof(cell), &c, &known[i].v, 2),
				    known[i].exact);
	}
	for (unsigned int u = 0; u < UNITS_NR; u++)
		if (!seen[u])
			fail_msg("no text is known of the unit %u", u);
}

static void what_there_is_not_is_a_dash_for_people_and_0_for_scripts(void **state)
{
	const struct column c = {.unit = UNIT_NANOSECONDS};
	struct value v = natural(0);
	char cell[CELL_LEN];

	v.none = true;
	assert_string_equal(cell_format(cell, sizeof(cell), &c, &v), "-");
	assert_string_equal(cell_exact(cell, sizeof(cell), &c, &v, 0), "0");
}

static void stages_that_are_one_are_one_row(void **state)
{
	static struct stats s = {.side = NT_HOST, .driver = "nvme_tcp", .source = "stock"};
	static struct stage_rows rows;

	hist_count(&stats_row(&s, "nvme0", "", 1, NT_OP_READ, false)->interval, 1000);
	s.missing = 1u << NT_H_QUEUE_RQ;
	columns_stages_of_side(&rows, &s, true);
	assert_int_equal(rows.nr, 0);
	columns_stages_of_side(&rows, &s, false);
	assert_int_equal(rows.nr, NT_HOST_STAGES_NR - 2);
	assert_string_equal(rows.row[0].stage, "blk_submission+nvme_tcp_submission");
	stats_free(&s);
}

static void stages_that_nobody_knows_keep_their_names(void **state)
{
	static struct stats s = {.side = NT_TARGET, .driver = "nvmet_tcp", .source = "stock"};
	static struct stage_rows rows;

	hist_count(&stats_row(&s, "cntlid 1", "", 1, NT_OP_READ, false)->interval, 1000);
	s.missing = 1u << NT_T_RX;
	columns_stages_of_side(&rows, &s, false);
	assert_int_equal(rows.nr, NT_TARGET_STAGES_NR);
	assert_true(rows.row[NT_TS_NSTACK_SUBMISSION].unknown);
	assert_string_equal(rows.row[NT_TS_NSTACK_SUBMISSION].stage, "nstack_submission");
	assert_false(rows.row[NT_TS_TARGET_SUBSYSTEM].unknown);
	stats_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_have_names_of_their_own),
		cmocka_unit_test(columns_have_unique_names_of_lower_case_and_underscores),
		cmocka_unit_test(columns_have_a_heading_a_unit_and_a_value),
		cmocka_unit_test(values_are_numbers_unless_they_are_words),
		cmocka_unit_test(a_sum_above_64_bits_is_no_small_one),
		cmocka_unit_test(fields_are_read_whole),
		cmocka_unit_test(members_may_have_no_value),
		cmocka_unit_test(each_unit_has_its_text),
		cmocka_unit_test(what_there_is_not_is_a_dash_for_people_and_0_for_scripts),
		cmocka_unit_test(stages_that_are_one_are_one_row),
		cmocka_unit_test(stages_that_nobody_knows_keep_their_names),
	};

	return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}
