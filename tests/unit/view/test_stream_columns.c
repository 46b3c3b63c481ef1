// SPDX-License-Identifier: GPL-2.0-only
/* What each column says of a recorded stream, of a peer and of how records have matched. */
#include "streams.h"

#include "core/array.h"
#include "view/row_cells.h"
#include "view/streams.h"

static void an_input_is_described_by_its_header_and_by_what_was_read(void **state)
{
	static const char *const cells[] = {
		"path a.ntp",
		"side target",
		"hostname a target",
		"kernel 6.1.0",
		"source tracepoints",
		"sample 3",
		"selection --op read --size 4k",
		"commands 77",
		"duration_seconds 2.500",
		"began 2024-01-01T00:00:00.000000000Z",
		"ended 2024-01-01T00:00:03.000000000Z",
		"bursts 4",
		"measured_seconds 1.500",
		"unknown_losses 9",
		"names_gone 8",
		"tcp_past 7",
		"unknown_frames 2",
		"longer_frames 1",
	};
	struct bytes b = small_stream(), c = with_frame(&b, 4711, "x", 1),
		     d = with_frame(&c, 4712, "y", 1), e = with_bytes(&d, STREAM_END, "z", 1);
	struct input in = {
		.path = "a.ntp",
		.begun = true,
		.header = header,
		.names_gone = 8,
		.tcp_past = 7,
		.losses = {.unknown = 9},
		.clock = {.monotonic_ns = 500000000, .realtime_ns = 1704067200000000000},
		.first_ns = 1000000000,
		.last_ns = 3500000000,
		.records = 77,
		.bursts = 4,
		.burst_ns = 1500000000,
	};
	struct stream_event event;
	int fd;

	in.reader = reader_of(e.p, e.n, &fd);
	while (stream_read(in.reader, &event) == 1)
		;
	assert_int_equal(stream_skipped(in.reader), 2);
	assert_int_equal(stream_longer(in.reader), 1);
	assert_cells(&input_columns, &in, cells);
	reader_done(in.reader, fd);
	free(b.p);
	free(c.p);
	free(d.p);
	free(e.p);
}

static void an_input_that_has_not_begun_has_a_path(void **state)
{
	static const char *const cells[] = {
		"path a.ntp",	      "side -",		  "hostname -",	  "kernel -",
		"source -",	      "sample -",	  "selection -",  "commands -",
		"duration_seconds -", "began -",	  "ended -",	  "bursts -",
		"measured_seconds -", "unknown_losses -", "names_gone -", "tcp_past -",
		"unknown_frames -",   "longer_frames -",
	};
	/* As of an earlier reading. */
	const struct input in = {.path = "a.ntp", .header = header, .records = 3};

	assert_cells(&input_columns, &in, cells);
}

static void what_is_usual_of_an_input_is_left_out(void **state)
{
	static const char *const cells[] = {
		"path -",
		"side host",
		"hostname h",
		"kernel 6",
		"source stock",
		"sample -",
		"selection -",
		"commands 0",
		"duration_seconds 0.000",
		"began -",
		"ended -",
		"bursts -",
		"measured_seconds -",
		"unknown_losses -",
		"names_gone -",
		"tcp_past -",
		"unknown_frames -",
		"longer_frames -",
	};
	struct input in = {
		.path = "-",
		.begun = true,
		.header = {.side = NT_HOST, .source = "stock", .hostname = "h", .kernel = "6"},
	};
	struct bytes b = small_stream();
	int fd;

	in.reader = reader_of(b.p, b.n, &fd);
	for (in.header.sample = 0; in.header.sample < 2; in.header.sample++)
		assert_cells(&input_columns, &in, cells);
	reader_done(in.reader, fd);
	free(b.p);
}

static void a_peer_is_described_by_its_stream_and_its_end(void **state)
{
	static const char *const cells[] = {
		"peer 2",	    "source ssh target",
		"state stalled",    "silent_seconds 4.500",
		"why late",	    "exit_status 3",
		"signal 9",	    "message a line",
		"side target",	    "hostname a target",
		"kernel 6.1.0",	    "commands 55",
		"sample 3",	    "selection --op read --size 4k",
		"unknown_losses 5", "unknown_frames 6",
		"longer_frames 7",
	};
	const struct stream_losses losses = {.unknown = 5};
	const struct peer_row row = {
		.number = 2,
		.about = {.source = "ssh target",
			  .state = PEER_STALLED,
			  .silent_ns = 4500000000,
			  .why = "late",
			  .exit_status = 3,
			  .signal = 9,
			  .header = &header,
			  .losses = &losses,
			  .records = 55,
			  .skipped = 6,
			  .longer = 7},
		.message = "a line",
	};

	assert_cells(&peer_columns, &row, cells);
}

static void a_peer_that_has_sent_nothing_has_a_source_and_a_state(void **state)
{
	static const char *const cells[] = {
		"peer 1",	   "source ssh target", "state starting",   "silent_seconds -",
		"why -",	   "exit_status -",	"signal -",	    "message -",
		"side -",	   "hostname -",	"kernel -",	    "commands -",
		"sample -",	   "selection -",	"unknown_losses -", "unknown_frames -",
		"longer_frames -",
	};
	const struct peer_row row = {
		.number = 1,
		.about = {.source = "ssh target", .silent_ns = 1, .records = 3, .why = ""},
	};

	assert_cells(&peer_columns, &row, cells);
}

static void all_commands_of_a_peer_need_no_sample_and_no_selection(void **state)
{
	struct stream_header of_all = {.side = NT_TARGET};
	const struct peer_row row = {.about = {.source = "", .why = "", .header = &of_all}};
	struct value v;

	for (of_all.sample = 0; of_all.sample < 2; of_all.sample++) {
		columns_get(&peer_columns, ABOUT_SAMPLE, &row, &v);
		assert_true(v.none);
	}
	columns_get(&peer_columns, ABOUT_SELECTION, &row, &v);
	assert_true(v.none);
	columns_get(&peer_columns, ABOUT_COMMANDS, &row, &v);
	assert_false(v.none);
}

static void each_state_of_a_peer_has_its_name(void **state)
{
	static const char *const names[] = {"starting", "waiting", "running", "stalled",
					    "ended",	"died",	   "refused"};
	struct peer_row row = {.about = {.why = ""}};
	struct value v;

	for (unsigned int i = 0; i < PEER_STATES_NR; i++) {
		row.about.state = (enum peer_state)i;
		columns_get(&peer_columns, ABOUT_STATE, &row, &v);
		assert_string_equal(v.text, names[i]);
	}
}

/* What should not be is left out where it is 0; the rest is there in any case. */
static void records_are_counted_by_what_became_of_them(void **state)
{
	static const char *const some[] = {
		"matched 1", "host_only 2",   "target_only 3", "ambiguous 4", "undecided 5",
		"strays 6",  "past_limits 7", "crowded_out 8", "in_crowd 9",  "early 10",
	};
	static const char *const zero[] = {
		"matched 0", "host_only 0",   "target_only 0", "ambiguous 0", "undecided 0",
		"strays -",  "past_limits -", "crowded_out -", "in_crowd -",  "early 0",
	};
	const struct live_merge_counts counts = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, none = {0};

	assert_cells(&matching_columns, &counts, some);
	assert_cells(&matching_columns, &none, zero);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_input_is_described_by_its_header_and_by_what_was_read),
		cmocka_unit_test(an_input_that_has_not_begun_has_a_path),
		cmocka_unit_test(what_is_usual_of_an_input_is_left_out),
		cmocka_unit_test(a_peer_is_described_by_its_stream_and_its_end),
		cmocka_unit_test(a_peer_that_has_sent_nothing_has_a_source_and_a_state),
		cmocka_unit_test(all_commands_of_a_peer_need_no_sample_and_no_selection),
		cmocka_unit_test(each_state_of_a_peer_has_its_name),
		cmocka_unit_test(records_are_counted_by_what_became_of_them),
	};

	return cmocka_run_group_tests_name("columns of streams", tests, NULL, NULL);
}
