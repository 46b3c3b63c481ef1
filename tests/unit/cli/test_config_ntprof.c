// SPDX-License-Identifier: GPL-2.0-only
/* The keys of ntprof's configuration file: which values they take, and the options that they
 * become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/config_ntprof.h"
#include "core/array.h"

static void keys_are_found_in_their_sections(void **state)
{
	assert_int_equal(ntprof_key("Workload", "IO_SIZE"), NTPROF_IO_SIZE);
	assert_int_equal(ntprof_key("wORKLOAD", "io_size"), NTPROF_IO_SIZE);
	assert_int_equal(ntprof_key("Profiling", "IO_SIZE"), NTPROF_KEYS);
	assert_int_equal(ntprof_key("Workload", "IO"), NTPROF_KEYS);
	assert_string_equal(ntprof_key_name(NTPROF_IO_SIZE), "IO_SIZE");
	assert_true(ntprof_section("report"));
	assert_true(ntprof_section("Execution"));
	assert_false(ntprof_section("Reports"));
}

static void a_value_is_of_its_keys_kind(void **state)
{
	static const struct {
		enum ntprof_key key;
		const char *value;
		bool right;
	} cases[] = {
		{NTPROF_IS_ONLINE, "true", true},
		{NTPROF_IS_ONLINE, "FALSE", true},
		{NTPROF_IS_ONLINE, "1", true},
		{NTPROF_IS_ONLINE, "0", true},
		{NTPROF_IS_ONLINE, "yes", false},
		{NTPROF_IS_ONLINE, "", false},
		{NTPROF_SESSION_NAME, "nvme0n1", true},
		{NTPROF_SESSION_NAME, "", false},
		{NTPROF_FREQUENCY, "1", true},
		{NTPROF_FREQUENCY, "010", true},
		{NTPROF_FREQUENCY, "0", false},
		{NTPROF_FREQUENCY, "00", false},
		{NTPROF_FREQUENCY, "", false},
		{NTPROF_FREQUENCY, "1s", false},
		{NTPROF_FREQUENCY, "-1", false},
		{NTPROF_MIN_IO_SIZE, "4K", true},
		{NTPROF_MIN_IO_SIZE, "4294967295", true},
		{NTPROF_MIN_IO_SIZE, "4294967296", false},
		{NTPROF_MIN_IO_SIZE, "4G", false},
		{NTPROF_MIN_IO_SIZE, "all", false},
		{NTPROF_IO_SIZE, "ALL", true},
		{NTPROF_IO_SIZE, "4K , 8K", true},
		{NTPROF_IO_SIZE, "4K,", false},
		{NTPROF_IO_SIZE, "4K,x", false},
		{NTPROF_IO_SIZE, "x,4K", false},
		{NTPROF_NETWORK_BANDWIDTH_LIMIT, "inf", true},
		{NTPROF_NETWORK_BANDWIDTH_LIMIT, "0.5", true},
		{NTPROF_NETWORK_BANDWIDTH_LIMIT, "0", false},
		{NTPROF_NETWORK_BANDWIDTH_LIMIT, "0.0", false},
		{NTPROF_NETWORK_BANDWIDTH_LIMIT, "1.2.3", false},
		{NTPROF_NETWORK_BANDWIDTH_LIMIT, "1e3", false},
		{NTPROF_NETWORK_BANDWIDTH_LIMIT, ".", false},
		{NTPROF_NETWORK_BANDWIDTH_LIMIT, "", false},
		{NTPROF_IO_TYPE, "Both", true},
		{NTPROF_IO_TYPE, "flush", false},
		{NTPROF_IO_TYPE, "min", false},
		{NTPROF_AGGREGATION, "dist", true},
		{NTPROF_AGGREGATION, "read", false},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ntprof_file f = {0};

		if (!ntprof_set(&f, cases[i].key, cases[i].value, 7) != cases[i].right)
			fail_msg("%s = %s is %s", ntprof_key_name(cases[i].key), cases[i].value,
				 cases[i].right ? "refused" : "taken");
		assert_int_equal(f.key[cases[i].key].line, 7);
	}
}

static void a_value_has_room_or_is_refused(void **state)
{
	struct ntprof_file f = {0};
	char value[NTPROF_ARG_LEN + 1];

	memset(value, 'x', sizeof(value));
	value[NTPROF_ARG_LEN] = '\0';
	assert_non_null(ntprof_set(&f, NTPROF_SESSION_NAME, value, 1));
	assert_int_equal(f.key[NTPROF_SESSION_NAME].line, 0);
	value[NTPROF_ARG_LEN - 1] = '\0';
	assert_null(ntprof_set(&f, NTPROF_SESSION_NAME, value, 1));
	assert_string_equal(f.key[NTPROF_SESSION_NAME].value, value);
}

struct setting {
	enum ntprof_key key;
	const char *value;
};

/* Compares the options of these keys with "NAME=ARG" and a blank for each. */
static void assert_options(const struct setting settings[3], const char *side, const char *expected)
{
	struct ntprof_option options[NTPROF_KEYS + 1];
	struct ntprof_file f = {0};
	char text[1024] = "";

	for (unsigned int i = 0; i < 3 && settings[i].value; i++)
		assert_null(ntprof_set(&f, settings[i].key, settings[i].value, i + 1));
	ntprof_options(&f, side, options);
	for (const struct ntprof_option *o = options; o->name; o++) {
		strcat(text, o->name);
		strcat(text, "=");
		strcat(text, o->arg);
		strcat(text, " ");
	}
	assert_string_equal(text, expected);
}

#define DISTRIBUTION "p10,p50,p70,p80,p90,p95,p99,p99.9"

static void keys_become_options(void **state)
{
	static const struct {
		struct setting settings[3];
		const char *options;
	} cases[] = {
		{{{NTPROF_SESSION_NAME, "nvme0n1"}}, "device=/dev/nvme0n1 "},
		{{{NTPROF_SESSION_NAME, "/dev/nvme0n1"}}, "device=/dev/nvme0n1 "},
		{{{NTPROF_SESSION_NAME, "All"}}, ""},
		{{{NTPROF_IO_TYPE, "READ"}}, "op=read "},
		{{{NTPROF_IO_TYPE, "both"}}, "op=read,write "},
		{{{NTPROF_IO_SIZE, "4K , 8K"}}, "size=4K,8K "},
		{{{NTPROF_IO_SIZE, "all"}}, ""},
		{{{NTPROF_MIN_IO_SIZE, "4K"}}, "size=4K-4294967295 "},
		{{{NTPROF_MAX_IO_SIZE, "8K"}}, "size=0-8K "},
		{{{NTPROF_MIN_IO_SIZE, "4K"}, {NTPROF_MAX_IO_SIZE, "8K"}}, "size=4K-8K "},
		{{{NTPROF_MIN_IO_SIZE, "4K"}, {NTPROF_IO_SIZE, "1K"}}, "size=4K-4294967295 "},
		{{{NTPROF_MAX_IO_SIZE, "4K"}, {NTPROF_IO_SIZE, "1K"}}, "size=0-4K "},
		{{{NTPROF_NETWORK_BANDWIDTH_LIMIT, "100"}}, "network-limit=100 "},
		{{{NTPROF_NETWORK_BANDWIDTH_LIMIT, "INF"}}, ""},
		{{{NTPROF_NVME_DRIVE_BANDWIDTH_LIMIT, "inf"}}, ""},
		{{{NTPROF_NVME_DRIVE_BANDWIDTH_LIMIT, "50"}}, "drive-limit=50 "},
		{{{NTPROF_IS_ONLINE, "true"}}, ""},
		{{{NTPROF_DATA_DIR, "/tmp"}}, "output=/tmp/host.ntp "},
		{{{NTPROF_TIME_INTERVAL, "5"}}, "interval=5 "},
		{{{NTPROF_FREQUENCY, "10"}}, "sample=10 "},
		{{{NTPROF_BUFFER_SIZE, "64"}}, "buffer=64M "},
		{{{NTPROF_AGGREGATION, "avg"}}, "stats=mean "},
		{{{NTPROF_AGGREGATION, "dist"}}, "stats=" DISTRIBUTION " "},
		{{{NTPROF_ENABLE_LATENCY_DISTRIBUTION, "true"}}, "stats=" DISTRIBUTION " "},
		{{{NTPROF_ENABLE_LATENCY_DISTRIBUTION, "false"}}, ""},
		{{{NTPROF_ENABLE_LATENCY_DISTRIBUTION, "1"}, {NTPROF_AGGREGATION, "min"}},
		 "stats=min," DISTRIBUTION " "},
		{{{NTPROF_ENABLE_LATENCY_DISTRIBUTION, "1"}, {NTPROF_AGGREGATION, "dist"}},
		 "stats=" DISTRIBUTION " "},
		{{{NTPROF_ENABLE_GROUP_BY_SIZE, "true"},
		  {NTPROF_ENABLE_GROUP_BY_TYPE, "TRUE"},
		  {NTPROF_ENABLE_GROUP_BY_SESSION, "1"}},
		 "by=size,op,nqn "},
		{{{NTPROF_ENABLE_GROUP_BY_SIZE, "0"}, {NTPROF_ENABLE_GROUP_BY_TYPE, "1"}},
		 "by=op "},
		{{{NTPROF_ENABLE_THROUGHPUT, "true"}}, ""},
		{{{NTPROF_FREQUENCY, "10"}, {NTPROF_IO_TYPE, "write"}}, "op=write sample=10 "},
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		assert_options(cases[i].settings, "host", cases[i].options);
}

static void a_recording_is_named_after_its_side(void **state)
{
	static const struct setting settings[3] = {{NTPROF_DATA_DIR, "/data"}};

	assert_options(settings, "target", "output=/data/target.ntp ");
	assert_options(settings, "", "");
}

/* The line of the first of several keys is the one that a message names. */
static void an_option_of_several_keys_knows_the_first(void **state)
{
	struct ntprof_option options[NTPROF_KEYS + 1];
	struct ntprof_file f = {0};

	assert_null(ntprof_set(&f, NTPROF_ENABLE_GROUP_BY_SIZE, "0", 1));
	assert_null(ntprof_set(&f, NTPROF_ENABLE_GROUP_BY_TYPE, "1", 2));
	assert_null(ntprof_set(&f, NTPROF_ENABLE_GROUP_BY_SESSION, "1", 3));
	ntprof_options(&f, "host", options);
	assert_string_equal(options[0].name, "by");
	assert_int_equal(options[0].key, NTPROF_ENABLE_GROUP_BY_TYPE);
	assert_null(options[1].name);
}

static void only_false_is_offline_or_not_to_be_shown(void **state)
{
	struct ntprof_file f = {0};

	assert_int_equal(ntprof_offline(&f), 0);
	assert_null(ntprof_set(&f, NTPROF_IS_ONLINE, "True", 4));
	assert_int_equal(ntprof_offline(&f), 0);
	assert_null(ntprof_set(&f, NTPROF_IS_ONLINE, "false", 5));
	assert_int_equal(ntprof_offline(&f), 5);
	assert_false(ntprof_always(&f, NTPROF_IS_ONLINE));
	assert_false(ntprof_always(&f, NTPROF_ENABLE_THROUGHPUT));
	assert_null(ntprof_set(&f, NTPROF_ENABLE_THROUGHPUT, "1", 6));
	assert_false(ntprof_always(&f, NTPROF_ENABLE_THROUGHPUT));
	assert_null(ntprof_set(&f, NTPROF_ENABLE_THROUGHPUT, "0", 6));
	assert_true(ntprof_always(&f, NTPROF_ENABLE_THROUGHPUT));
	/* These have options of their own, or are no booleans. */
	assert_null(ntprof_set(&f, NTPROF_ENABLE_GROUP_BY_SIZE, "false", 7));
	assert_false(ntprof_always(&f, NTPROF_ENABLE_GROUP_BY_SIZE));
	assert_null(ntprof_set(&f, NTPROF_FREQUENCY, "1", 8));
	assert_false(ntprof_always(&f, NTPROF_FREQUENCY));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_found_in_their_sections),
		cmocka_unit_test(a_value_is_of_its_keys_kind),
		cmocka_unit_test(a_value_has_room_or_is_refused),
		cmocka_unit_test(keys_become_options),
		cmocka_unit_test(a_recording_is_named_after_its_side),
		cmocka_unit_test(an_option_of_several_keys_knows_the_first),
		cmocka_unit_test(only_false_is_offline_or_not_to_be_shown),
	};

	return cmocka_run_group_tests_name("configuration of ntprof", tests, NULL, NULL);
}
