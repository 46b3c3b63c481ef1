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
	/*
	 * The target got it after the host had it, and its clock is an hour ahead. Its answer was
	 * on its way until the host had that.
	 */
	from[1] -= 3600 * (int64_t)SECOND;
	to[1] -= 3600 * (int64_t)SECOND;
	assert_true(from[0] > -2 * (int64_t)MS && from[0] <= from[1] && to[1] >= to[0]);
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

/* A command, the ends of its connection on the host, and what is said of it. */
struct filtered {
	struct slow_command c;
	struct queue_ends host;
	bool complete;
	char *text;
};

/* At WALL_NS + 1 s it began, and it took a second. */
static void filter(struct filtered *x)
{
	static const struct instant clock = {SECOND, WALL_NS};
	struct queue_ends target = {.local_port = x->host.remote_port,
				    .remote_port = x->host.local_port};
	const struct pcap_side side[NT_SIDES] = {
		[NT_HOST] = {.machine = "h", .clock = {&clock, &clock}, .ends = &x->host},
		[NT_TARGET] = {.machine = "t", .clock = {&clock, &clock}, .ends = &target}};
	size_t size;
	FILE *f = open_memstream(&x->text, &size);

	assert_non_null(f);
	memcpy(target.local, x->host.remote, sizeof(target.local));
	memcpy(target.remote, x->host.local, sizeof(target.remote));
	x->c.host.points[NT_H_SUBMIT] = x->c.target.points[NT_T_RX] = 2 * SECOND;
	x->c.host.points[NT_H_COMPLETE] = x->c.target.points[NT_T_SENT] = 3 * SECOND;
	x->c.target.side = NT_TARGET;
	x->c.target.length = x->c.host.length;
	x->c.target.opcode = x->c.host.opcode;
	x->complete = pcap_print(&x->c, side, f);
	fclose(f);
}

#define V4                             \
	.host = {                      \
		.local = "192.0.2.7",  \
		.remote = "192.0.2.1", \
		.local_port = 40001,   \
		.remote_port = 4420,   \
	}
#define V6                               \
	.host = {                        \
		.local = "2001:db8::7",  \
		.remote = "2001:db8::1", \
		.local_port = 40001,     \
		.remote_port = 4420,     \
	}
#define OPCODE_WRITE 1
#define OPCODE_READ 2

/* Both ranges are about the wrap-around. */
static struct filtered inline_write(void)
{
	return (struct filtered){
		.c.host = {.op = NT_OP_WRITE,
			   .opcode = OPCODE_WRITE,
			   .length = 4096,
			   .seq[NT_HF_OUT] = 0xffffff00},
		.c.target = {.op = NT_OP_WRITE, .seq[NT_TF_OUT] = 5},
		V4,
	};
}

static struct filtered r2t_write(void)
{
	return (struct filtered){
		.c.host = {.op = NT_OP_WRITE,
			   .opcode = OPCODE_WRITE,
			   .length = 131072,
			   .points[NT_H_SEND_DATA] = 2 * SECOND,
			   .seq = {[NT_HF_OUT] = 10000000, [NT_HF_DATA_OUT] = 20000000}},
		.c.target = {.op = NT_OP_WRITE,
			     .points[NT_T_SEND_R2T] = 2 * SECOND,
			     .seq = {[NT_TF_OUT] = 30000100, [NT_TF_R2T_OUT] = 30000000}},
		V6,
	};
}

static struct filtered read_without_the_host(void)
{
	return (struct filtered){
		.c.host = {.op = NT_OP_READ, .opcode = OPCODE_READ, .length = 4096},
		.c.target = {.op = NT_OP_READ, .seq[NT_TF_OUT] = 3000000000},
		V4,
	};
}

static void segments_are_those_of_the_commands_bytes(void **state)
{
	struct filtered x = inline_write();

	filter(&x);
	assert_true(x.complete);
	assert_contains(
		x.text,
		"\n  host h\n    tcpdump    'tcp and host 192.0.2.7 and port 40001 and host "
		"192.0.2.1 and port 4420 and ((src host 192.0.2.7 and src port 40001 and "
		"(tcp[4:4] - 4294967040 < 4176 or 4294967040 - tcp[4:4] < ip[2:2] - ((ip[0] & 15) "
		"<< 2) - ((tcp[12] & 240) >> 2))) or (src host 192.0.2.1 and src port 4420 and "
		"(tcp[4:4] - 5 < 28 or 5 - tcp[4:4] < ip[2:2] - ((ip[0] & 15) << 2) - "
		"((tcp[12] & 240) >> 2))))'\n");
	assert_contains(
		x.text,
		"\n    Wireshark  'ip.addr==192.0.2.7 && ip.addr==192.0.2.1 && tcp.port==40001 && "
		"tcp.port==4420 && ((ip.src==192.0.2.7 && tcp.srcport==40001 && "
		"((tcp.seq_raw>=4294967040 || tcp.seq_raw<3920) || (tcp.seq_raw<4294967040 && "
		"tcp.len>4294967040 - tcp.seq_raw))) || (ip.src==192.0.2.1 && tcp.srcport==4420 && "
		"((tcp.seq_raw>=5 && tcp.seq_raw<33) || (tcp.seq_raw<5 && tcp.len>5 - "
		"tcp.seq_raw) || (tcp.seq_raw>2147483648 && tcp.len>{4294967295 - tcp.seq_raw} + "
		"6)))) && frame.time_epoch>=");
	/* What the target sends is what it sends in its own capture, too. */
	assert_contains(x.text,
			"\n  target t\n    tcpdump    'tcp and host 192.0.2.1 and port 4420 "
			"and host 192.0.2.7 and port 40001 and ((src host 192.0.2.1 and "
			"src port 4420 and (tcp[4:4] - 5 < 28 or ");
	free(x.text);
}

static void an_r2t_write_has_two_ranges_each_way(void **state)
{
	struct filtered x = r2t_write();

	filter(&x);
	assert_true(x.complete);
	assert_contains(x.text,
			"(src host 2001:db8::7 and src port 40001 and (ip6[44:4] - 10000000 "
			"< 76 or 10000000 - ip6[44:4] < ip6[4:2] - ((ip6[52] & 240) >> 2) "
			"or ip6[44:4] - 20000000 < 132128 or ");
	assert_contains(x.text, "(src host 2001:db8::1 and src port 4420 and (ip6[44:4] - 30000000 "
				"< 28 or 30000000 - ip6[44:4] < ip6[4:2] - ((ip6[52] & 240) >> 2) "
				"or ip6[44:4] - 30000100 < 28 or ");
	assert_contains(x.text, "(ipv6.src==2001:db8::7 && tcp.srcport==40001 && "
				"((tcp.seq_raw>=10000000 && tcp.seq_raw<10000076) || ");
	free(x.text);
	/* Without one of the two numbers, any segment may have its bytes. */
	x.c.host.seq[NT_HF_DATA_OUT] = 0;
	x.c.target.seq[NT_TF_R2T_OUT] = 0;
	filter(&x);
	assert_false(x.complete);
	assert_lacks(x.text, "ip6[");
	assert_lacks(x.text, "seq_raw");
	free(x.text);
}

static void a_direction_without_numbers_is_shown_as_a_whole(void **state)
{
	struct filtered x = read_without_the_host();

	filter(&x);
	assert_false(x.complete);
	assert_contains(x.text,
			" and ((src host 192.0.2.7 and src port 40001) or (src host "
			"192.0.2.1 and src port 4420 and (tcp[4:4] - 3000000000 < 4156 or ");
	assert_contains(x.text, "&& ((ip.src==192.0.2.7 && tcp.srcport==40001) || "
				"(ip.src==192.0.2.1 && tcp.srcport==4420 && ((tcp.seq_raw>=");
	free(x.text);
}

/* On the target an answer may leave the socket later than the last point. */
static void the_target_has_the_time_of_the_host(void **state)
{
	struct filtered x = inline_write();

	x.c.latency = 5 * SECOND;
	filter(&x);
	assert_contains(strstr(x.text, "\n  target t"),
			"frame.time_epoch<=1704067206.001000000'\n");
	free(x.text);
	x.c.host.seq[NT_HF_OUT] = x.c.target.seq[NT_TF_OUT] = 0;
	filter(&x);
	assert_contains(strstr(x.text, "\n  target t"),
			"frame.time_epoch<=1704067206.001000000'\n");
	free(x.text);
}

static void lengths_of_a_broken_recording_are_bounded(void **state)
{
	struct filtered x = inline_write();

	x.c.host.length = UINT32_MAX;
	filter(&x);
	assert_contains(x.text, "tcp[4:4] - 4294967040 < 2147483647 or ");
	free(x.text);
}

static bool with_numbers(struct nt_record *r)
{
	r->seq[0] = r->cid + 1u;
	r->seq[1] = r->cid + 2u;
	return true;
}

static void without_numbers_it_says_how_to_get_them(void **state)
{
	static const struct queue_ends ends = {"192.0.2.7", "192.0.2.1", 40001, 4420};
	static const char how[] = "record both machines with --points fine";
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	host_ends = target_ends = &ends;
	for (unsigned int which = 0; which < 4; which++) {
		struct recording f[2] = {
			{.edit_queue = host_queue, .edit = which & 1 ? with_numbers : NULL},
			{.edit_queue = target_queue, .edit = which & 2 ? with_numbers : NULL}};

		recordings_make(f, &c);
		RUN(&r, "report", f[0].path, f[1].path, "--pcap-filter=2", "--format=text");
		assert_int_equal(r.status, 0);
		if (which == 3)
			assert_lacks(r.out, how);
		else
			assert_ptr_equal(strstr(strstr(r.out, how) + 1, how), NULL);
		assert_int_equal(!!strstr(r.out, "tcp[4:4]"), which != 0);
		recordings_free(f, 2);
	}
}

/* For tests/formats/filters.sh: in the folder NTPROF_FILTERS, as it is printed. */
static void filters_are_written(void **state)
{
	struct filtered all[] = {inline_write(), r2t_write(), read_without_the_host()};
	static const char *const name[] = {"inline_write", "r2t_write", "read_without_the_host"};
	const char *folder = getenv("NTPROF_FILTERS");
	char path[512];

	for (unsigned int i = 0; folder && i < 3; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s.txt", folder, name[i]);
		f = fopen(path, "w");
		assert_non_null(f);
		filter(&all[i]);
		fputs(all[i].text, f);
		free(all[i].text);
		assert_int_equal(fclose(f), 0);
	}
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
		cmocka_unit_test(segments_are_those_of_the_commands_bytes),
		cmocka_unit_test(an_r2t_write_has_two_ranges_each_way),
		cmocka_unit_test(a_direction_without_numbers_is_shown_as_a_whole),
		cmocka_unit_test(the_target_has_the_time_of_the_host),
		cmocka_unit_test(lengths_of_a_broken_recording_are_bounded),
		cmocka_unit_test(without_numbers_it_says_how_to_get_them),
		cmocka_unit_test(filters_are_written),
		cmocka_unit_test(it_is_for_text),
	};

	return cmocka_run_group_tests_name("report --pcap-filter", tests, find_program, NULL);
}
