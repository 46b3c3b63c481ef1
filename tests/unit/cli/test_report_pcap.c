// SPDX-License-Identifier: GPL-2.0-only
/* report --pcap-filter: the connection of a slow command on each machine, and when it was there. */
#include "cli/recordings.h"
#include "view/pcap.h"

static const struct queue_ends *host_ends, *target_ends;

static void host_queue(struct queue_info *q)
{
	if (host_ends)
		q->ends = *host_ends;
}

static void target_queue(struct queue_info *q)
{
	if (target_ends)
		q->ends = *target_ends;
}

/* Reports the slowest of a recording whose target is @ahead ns ahead by its wall clock. */
static void report_slowest(struct result *r, int64_t ahead, char *option)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.edit_queue = host_queue},
				 {.edit_queue = target_queue, .wall_ns = ahead}};

	recordings_make(f, &c);
	RUN(r, "report", f[0].path, f[1].path, option, "--slowest=1", "--format=text");
	assert_int_equal(r->status, 0);
	recordings_free(f, 2);
}

/* The times of the filter behind @at, in nanoseconds after 2024-01-01. */
static void times_of(const char *at, int64_t *from, int64_t *to)
{
	long long s[2];
	long ns[2];

	assert_non_null(at);
	at = strstr(at, "frame.time_epoch>=");
	assert_non_null(at);
	assert_int_equal(sscanf(at, "frame.time_epoch>=%lld.%9ld && frame.time_epoch<=%lld.%9ld'\n",
				&s[0], &ns[0], &s[1], &ns[1]),
			 4);
	*from = s[0] * 1000000000 + ns[0] - WALL_NS;
	*to = s[1] * 1000000000 + ns[1] - WALL_NS;
}

static void each_machine_has_its_addresses_and_its_wall_clock(void **state)
{
	static const struct queue_ends host = {"192.0.2.7", "192.0.2.1", 40001, 4420};
	static const struct queue_ends target = {"2001:db8::1", "2001:db8::7", 4420, 40002};
	int64_t from[2], to[2];
	struct result r;
	const char *at;

	host_ends = &host;
	target_ends = &target;
	report_slowest(&r, 3600 * (int64_t)SECOND, "--pcap-filter=2");
	at = strstr(r.out, "\npackets of ");
	assert_non_null(at);
	assert_contains(at, "\n    tcpdump    'tcp and host 192.0.2.7 and port 40001 and host "
			    "192.0.2.1 and port 4420'\n");
	assert_contains(at, "\n    Wireshark  'ip.addr==192.0.2.7 && ip.addr==192.0.2.1 && "
			    "tcp.port==40001 && tcp.port==4420 && frame.time_epoch>=");
	assert_contains(at,
			"\n    Wireshark  'ipv6.addr==2001:db8::1 && ipv6.addr==2001:db8::7 && ");
	times_of(at, &from[0], &to[0]);
	times_of(strstr(at, "ipv6.addr"), &from[1], &to[1]);
	for (unsigned int i = 0; i < 2; i++)
		assert_true(to[i] > from[i] + 2 * (int64_t)MS && to[i] < from[i] + (int64_t)SECOND);
	/* The target got it after the host had it, and its clock is an hour ahead. */
	from[1] -= 3600 * (int64_t)SECOND;
	to[1] -= 3600 * (int64_t)SECOND;
	assert_true(from[0] > -2 * (int64_t)MS && from[0] <= from[1] && to[1] <= to[0]);
	at = strstr(at + 1, "\npackets of ");
	assert_non_null(at);
	assert_null(strstr(at + 1, "\npackets of "));
}

static void without_addresses_it_is_said(void **state)
{
	struct result r;

	host_ends = target_ends = NULL;
	report_slowest(&r, 0, "--pcap-filter=1");
	assert_contains(r.out,
			"\n    tcpdump    not known: the recording has no addresses and ports "
			"of the queue\n    Wireshark  'frame.time_epoch>=");
}

static void a_name_in_place_of_an_address_is_not_shown(void **state)
{
	static const struct queue_ends wrong = {"1'; rm x; '", "192.0.2.1", 40001, 4420};
	struct result r;

	host_ends = target_ends = &wrong;
	report_slowest(&r, 0, "--pcap-filter=1");
	assert_lacks(r.out, "rm x");
	assert_contains(r.out, "tcpdump    not known");
}

/* The sanitizer fails this test where a time overflows. */
static void times_of_a_broken_recording_are_not_known(void **state)
{
	static const struct instant first = {1, INT64_MIN}, last = {2, INT64_MAX};
	const struct pcap_side side[NT_SIDES] = {
		[NT_HOST] = {.machine = "h", .clock = {&first, &last}}};
	struct slow_command c = {.alone = true};
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	c.host.points[NT_H_SUBMIT] = 1ULL << 62;
	c.host.points[NT_H_COMPLETE] = 1ULL << 63;
	pcap_print(&c, side, f);
	fclose(f);
	assert_contains(text, "when it was on its way is not known");
	free(text);
}

static void it_is_for_text(void **state)
{
	struct result r;

	RUN(&r, "report", "x.ntp", "--pcap-filter=1", "--format=json");
	assert_int_equal(r.status, EX_USAGE);
	assert_contains(r.err, "--pcap-filter is for --format text");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_machine_has_its_addresses_and_its_wall_clock),
		cmocka_unit_test(without_addresses_it_is_said),
		cmocka_unit_test(a_name_in_place_of_an_address_is_not_shown),
		cmocka_unit_test(times_of_a_broken_recording_are_not_known),
		cmocka_unit_test(it_is_for_text),
	};

	return cmocka_run_group_tests_name("report --pcap-filter", tests, find_program, NULL);
}
