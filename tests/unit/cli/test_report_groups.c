// SPDX-License-Identifier: GPL-2.0-only
/* The verb report with --by, --every and --stats, for made-up recordings. */
#include "cli/recordings.h"

#include <inttypes.h>

#include "merge/places.h"

#define COMMANDS 700u

static struct traffic_config two_queues(void)
{
	struct traffic_config c = traffic_of_one_queue();

	c.queue[1] = c.queue[0];
	c.queue[1].qid = 2;
	c.queue[1].slot = 2;
	c.nr_queues = 2;
	c.commands = COMMANDS;
	c.stream[0].offset_ns = c.stream[1].offset_ns = 0;
	c.stream[0].drift_ppm = c.stream[1].drift_ppm = 0;
	return c;
}

static unsigned int made;

static bool only_host(struct nt_record *r)
{
	return r->side == NT_HOST;
}

static bool some_fail(struct nt_record *r)
{
	if (++made % 10 == 0)
		r->status = 0x281;
	return true;
}

/* Field @n of a line of CSV without quotes. */
static const char *field(const char *line, unsigned int n, char *buf, size_t size)
{
	while (n--)
		line += strcspn(line, ",") + 1;
	snprintf(buf, size, "%.*s", (int)strcspn(line, ",\r\n"), line);
	return buf;
}

static unsigned int column_of(const char *csv, const char *name)
{
	char buf[64];
	unsigned int n = 0;

	while (strcmp(field(csv, n, buf, sizeof(buf)), name) != 0)
		assert_true(n++ < 64);
	return n;
}

/* The sum of a column over all rows of a kind. */
static uint64_t add_up(const char *csv, const char *kind, const char *column)
{
	unsigned int n = column_of(csv, column), k = column_of(csv, "row");
	uint64_t sum = 0;
	char buf[64];

	for (const char *l = strchr(csv, '\n') + 1; *l; l = strchr(l, '\n') + 1)
		if (!strcmp(field(l, k, buf, sizeof(buf)), kind))
			sum += strtoull(field(l, n, buf, sizeof(buf)), NULL, 10);
	return sum;
}

static void groups_add_up_to_all_by_every_key(void **state)
{
	static char *const keys[] = {"ctrl",
				     "nqn",
				     "host",
				     "queue",
				     "op",
				     "size",
				     "nsid",
				     "status",
				     "opcode",
				     "source",
				     "op,size",
				     "ctrl,queue,op",
				     "status,source,nsid,host"};
	struct recording f[] = {{.edit = some_fail}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r;

	made = 0;
	recordings_make(f, &c);
	for (size_t i = 0; i < 4 * ARRAY_SIZE(keys); i++) {
		char *key = keys[i / 4], *every = i & 1 ? "1ms" : "1h";
		bool status = strstr(key, "status");

		if (i & 2)
			RUN(&r, "report", f[0].path, "--by", key, "--every", every, "--format=csv");
		else
			RUN(&r, "report", f[0].path, f[1].path, "--by", key, "--every", every,
			    "--format=csv");
		assert_int_equal(r.status, 0);
		assert_string_equal(r.err, "");
		assert_int_equal(add_up(r.out, "group", "commands"),
				 add_up(r.out, "total", "commands"));
		assert_int_equal(add_up(r.out, "group", "failed"),
				 add_up(r.out, "total", "failed"));
		assert_int_equal(add_up(r.out, "total", "failed"), status ? 0 : COMMANDS / 10);
		assert_int_equal(add_up(r.out, "total", "commands"),
				 status ? COMMANDS : COMMANDS - COMMANDS / 10);
	}
	/* The number is the same without groups. */
	RUN(&r, "report", f[0].path, f[1].path, "--format=json");
	assert_contains(r.out, "\"commands\":630,");
	recordings_free(f, 2);
}

/* Commands of each operation in turn, and of sizes around two bounds. */
static bool of_many_kinds(struct nt_record *r)
{
	static const struct {
		enum nt_op op;
		__u8 opcode;
		__u32 length, nsid;
	} kinds[] = {
		{NT_OP_READ, 0x02, 4096, 1},	  {NT_OP_WRITE, 0x01, 4097, 1},
		{NT_OP_FLUSH, 0x00, 0, 1},	  {NT_OP_DISCARD, 0x09, 16, 1},
		{NT_OP_OTHER, 0x05, 65536, 1},	  {NT_OP_OTHER, 0x7d, 65537, 1},
		{NT_OP_OTHER, 0x81, 0, 1},	  {NT_OP_OTHER, 0x82, 0, 1},
		{NT_OP_ADMIN, 0x06, 4096, 1},	  {NT_OP_ADMIN, 0xc1, 0, 1},
		{NT_OP_FABRICS, 0x7f, 1024, 1},	  {NT_OP_FABRICS, 0x7f, UINT32_MAX, 0xf0},
		{NT_OP_WRITE_ZEROES, 0x08, 0, 1}, {NT_OP_OTHER, 0x7f, 0, 1},
	};
	unsigned int i = made++ % ARRAY_SIZE(kinds);

	r->op = (__u8)kinds[i].op;
	r->opcode = kinds[i].opcode;
	r->length = kinds[i].length;
	r->nsid = kinds[i].nsid;
	return true;
}

static void a_group_of_an_opcode_has_its_name(void **state)
{
	static const char *const rows[] = {
		"flush,50,",
		"write,50,",
		"read,50,",
		"compare,50,",
		"write_zeroes,50,",
		"dataset_management,50,",
		"zone_append,50,",
		"reserved_0x7f,50,",
		"vendor_specific_0x81,50,",
		"identify,50,",
		"vendor_specific_0x82,50",
		"admin_0xc1,50,",
		"connect,50,",
		"fabrics_0xf0,50,",
	};
	struct recording f[] = {{.edit = of_many_kinds}, {.edit = only_host}};
	struct traffic_config c = two_queues();
	static struct result r;
	char text[64];

	made = 0;
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, "--by", "opcode", "--format=csv");
	assert_string_equal(r.err, "");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(text, sizeof(text), ",group,%s", rows[i]);
		assert_contains(r.out, text);
	}
	assert_contains(r.out, ",total,,700,");
	RUN(&r, "report", f[0].path, "--by", "opcode", "--format=json");
	assert_contains(r.out, "\"by\":[\"opcode\"]");
	assert_contains(r.out, "\"opcode\":\"zone_append\"");
	recordings_free(f, 2);
}

static void sizes_are_in_classes_up_to_each_bound(void **state)
{
	static char *const wrong[] = {
		"",	  "x",	   "4k,4k",
		"64k,4k", "4G",	   "4k,",
		"-1",	  "4k-8k", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"};
	struct recording f[] = {{.edit = of_many_kinds}, {.edit = only_host}};
	struct traffic_config c = two_queues();
	static struct result r;

	made = 0;
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, "--by", "size", "--size-classes", "4k,64k", "--format=csv");
	assert_string_equal(r.err, "");
	assert_contains(r.out, ",group,<=4k,500,");
	assert_contains(r.out, ",group,<=64k,100,");
	assert_contains(r.out, ",group,>64k,100,");
	RUN(&r, "report", f[0].path, "--by", "size", "--size-classes", "0,4097", "--format=json");
	assert_contains(r.out, "\"by\":[\"size_class\"]");
	assert_contains(r.out, "\"size_class\":\"<=0\",\"commands\":300,");
	assert_contains(r.out, "\"size_class\":\"<=4097\",\"commands\":250,");
	assert_contains(r.out, "\"size_class\":\">4097\",\"commands\":150,");
	RUN(&r, "report", f[0].path, "--by", "size,op", "--size-classes=1M,2G", "--every=1ms");
	assert_contains(r.out, "<=1M");
	assert_contains(r.out, ">2G");
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		RUN(&r, "report", "x.ntp", "--by=size", "--size-classes", wrong[i]);
		assert_int_equal(r.status, EX_USAGE);
		assert_contains(r.err, "--size-classes ");
	}
	RUN(&r, "report", "x.ntp", "--by=op", "--size-classes=4k");
	assert_int_equal(r.status, EX_USAGE);
	assert_contains(r.err, "--size-classes is for --by size");
	recordings_free(f, 2);
}

/* A host's recording of @nr connections: each has a command, and then each has another one. */
static void crowd_make(struct recording *f, unsigned int nr)
{
	const struct traffic_config c = two_queues();
	struct stream_event q = {.type = STREAM_QUEUE}, e = {.type = STREAM_RECORD};
	uint64_t ns;

	recording_begin(f, &c, 0);
	ns = traffic_clock(&c.stream[0], TRAFFIC_EPOCH_NS);
	q.queue = (struct queue_info){.gen = 1, .qid = 1, .cntlid = 1};
	snprintf(q.queue.subsysnqn, sizeof(q.queue.subsysnqn), "nqn.a");
	snprintf(q.queue.address, sizeof(q.queue.address), "traddr=a,trsvcid=1");
	e.record = (struct nt_record){
		.side = NT_HOST, .op = NT_OP_READ, .qid = 1, .cntlid = 1, .gen = 1, .nsid = 1};
	for (unsigned int i = 0; i < 2 * nr; i++) {
		q.queue.slot = e.record.slot = i % nr;
		if (i < nr)
			recording_put(f, &q);
		for (unsigned int k = 0; k < NT_HOST_POINTS_NR; k++)
			e.record.points[k] = (ns += 10);
		recording_put(f, &e);
	}
	e = (struct stream_event){.type = STREAM_END};
	e.end.clock = recording_clock(f, &c.stream[0], TRAFFIC_EPOCH_NS + SECOND);
	recording_put(f, &e);
	stream_writer_free(f->w);
}

static void names_of_connections_past_the_limit_are_counted_and_shown(void **state)
{
	static const char said[] = "names of connections and disks that gave way to later ones";
	static struct result r;

	for (unsigned int past = 0; past < 2; past++) {
		struct recording f = {.edit = NULL};

		crowd_make(&f, PLACES_MAX + past);
		RUN(&r, "report", f.path, "--by", "path");
		assert_int_equal(r.status, 0);
		if (past)
			assert_contains(r.out, "that gave way to later ones 1\n");
		else
			assert_lacks(r.out, said);
		RUN(&r, "report", f.path, "--by", "path", "--format=json");
		assert_contains(r.out, past ? "\"names_gone\":1," : "\"names_gone\":0,");
		RUN(&r, "report", f.path, "--by", "path", "--format=csv");
		assert_int_equal(add_up(r.out, "group", "commands"), 2 * (PLACES_MAX + past));
		recordings_free(&f, 1);
	}
}

/* Two arrays, of which the stages of one are those of its own commands, not of all. */
static bool slow_at_two(struct nt_record *r)
{
	for (unsigned int i = NT_T_DONE; r->side == NT_TARGET && r->qid == 2 && i < NT_POINTS_MAX;
	     i++)
		r->points[i] += r->points[i] ? 5 * MS : 0;
	for (unsigned int i = NT_H_RX; r->side == NT_HOST && r->qid == 2 && i < NT_POINTS_MAX; i++)
		r->points[i] += r->points[i] ? 5 * MS : 0;
	return true;
}

static void each_group_has_its_own_stages(void **state)
{
	struct recording f[] = {{.edit = slow_at_two}, {.edit = slow_at_two}};
	struct traffic_config c = two_queues();
	static struct result r;
	const char *row;

	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--by", "queue", "--op", "read", "--format=text");
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "  most time in ");
	row = strstr(r.out, "\n    2  ");
	assert_non_null(row);
	assert_contains(row, "  target_subsystem ");
	RUN(&r, "report", f[0].path, f[1].path, "--by", "queue", "--op", "read", "--format=json");
	assert_contains(r.out, "\"longest_stage\":\"target_subsystem\",\"longest_share\":0.9");
	assert_contains(r.out, "\"stages\":{\"blk_submission\":");
	RUN(&r, "report", f[0].path, "--by", "queue", "--op", "read", "--format=json");
	assert_contains(r.out, "\"longest_stage\":\"network_and_target\",\"longest_share\":0.9");
	recordings_free(f, 2);
}

static void an_interval_is_what_time_selects(void **state)
{
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result all, one;
	unsigned int rows = 0;

	recordings_make(f, &c);
	RUN(&all, "report", f[0].path, f[1].path, "--every", "1ms", "--stats", "min,p50,max,mean",
	    "--format=csv");
	assert_int_equal(all.status, 0);
	for (const char *l = strchr(all.out, '\n') + 1; !strncmp(l, "merged,group,", 13);
	     l = strchr(l, '\n') + 1, rows++) {
		char from[32], time[80], expected[256], *at;
		double seconds = strtod(
			field(l, column_of(all.out, "from_seconds"), from, sizeof(from)), NULL);

		snprintf(time, sizeof(time), "--time=%.3f-%.3f", seconds, seconds + 0.001);
		RUN(&one, "report", f[0].path, f[1].path, time, "--every", "1ms", "--stats",
		    "min,p50,max,mean", "--format=csv");
		/*
		 * All but rates are equal, and so is the number of commands that began before and
		 * were still in flight.
		 */
		for (const char *name = "commands"; name;
		     name = strcmp(name, "mean") ? "mean" : NULL) {
			unsigned int n = column_of(all.out, name);
			char a[64];

			field(l, n, a, sizeof(a));
			field(strchr(one.out, '\n') + 1, n, expected, sizeof(expected));
			assert_string_equal(a, expected);
		}
		at = strstr(one.out, "\nmerged,total,");
		assert_non_null(at);
		assert_int_equal(add_up(one.out, "total", "commands"),
				 add_up(one.out, "group", "commands"));
	}
	assert_uint_in_range(rows, 3, 1000);
	recordings_free(f, 2);
}

static void figures_are_those_that_are_asked_for(void **state)
{
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--stats", "p99.90,min,p7", "--format=csv");
	assert_contains(r.out, "max_in_flight,p99_9,min,p7,longest_stage,longest_share\r\n");
	/* 700 commands are too few for p99.9, but not for the other percentiles. */
	assert_contains(r.out, "merged,total,,");
	assert_true(add_up(r.out, "total", "p99_9") == 0 && add_up(r.out, "total", "p7") > 0);
	RUN(&r, "report", f[0].path, "--stats", "p99.90,min,p7");
	assert_contains(r.out, "  p99.9 ");
	assert_contains(r.out, "\ntotal ");
	assert_contains(r.out, "\nread ");
	RUN(&r, "report", f[0].path, f[1].path, "--stats", "p99.90,min", "--format=json");
	assert_contains(r.out, "\"p99_9\":null,\"min\":");
	recordings_free(f, 2);
}

/* A host that has 20 commands at once, and then four a second. */
static bool slow_down(struct nt_record *r)
{
	uint64_t later;

	if (r->side != NT_HOST)
		return false;
	later = ++made < 20 ? 0 : (made - 20) * SECOND / 4;
	for (unsigned int i = 0; i < NT_HOST_POINTS_NR; i++)
		if (r->points[i])
			r->points[i] += later;
	return true;
}

static void lows_are_of_whole_seconds(void **state)
{
	struct recording f[] = {{.edit = slow_down}, {.edit = only_host}};
	struct traffic_config c = two_queues();
	static struct result r;

	made = 0;
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, "--stats", "iops-p1,p50,iops-p0.10", "--format=csv");
	assert_string_equal(r.err, "");
	assert_contains(r.out, "max_in_flight,iops_p1,p50,iops_p0_1,longest_stage,");
	RUN(&r, "report", f[0].path, "--by=ctrl", "--stats", "iops-p1,iops-p0.1", "--format=json");
	assert_contains(r.out, "\"iops_p1\":4,\"iops_p0_1\":null");
	RUN(&r, "report", f[0].path, "--by=ctrl", "--stats", "iops-p50", "--every=2s",
	    "--format=json", "--time", "10-20");
	assert_contains(r.out, "\"iops_p50\":4");
	RUN(&r, "report", f[0].path, "--stats", "iops-p1");
	assert_contains(r.out, "  iops-p1  ");
	/* The table of stages has figures of latency. */
	assert_contains(r.out, "mean      p50      p99      max    share\n");
	recordings_free(f, 2);
}

static void lows_are_refused_where_there_are_none(void **state)
{
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}},
			 g[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r;

	recordings_make(f, &c);
	recordings_make(g, &c);
	RUN(&r, "report", f[0].path, g[0].path, f[1].path, "--stats=iops-p1");
	assert_int_equal(r.status, EXIT_FAILURE);
	assert_contains(r.err, "--stats iops-p1: the seconds of several hosts' recordings are not");
	RUN(&r, "report", f[0].path, g[0].path, "--stats=iops-p1");
	assert_int_equal(r.status, EXIT_SUCCESS);
	RUN(&r, "report", f[0].path, "--detail", "--stats=mean,iops-p0.10");
	assert_int_equal(r.status, EX_USAGE);
	assert_contains(r.err, "--stats iops-p0.1 is of groups");
	RUN(&r, "report", f[0].path, "--detail", "--stats=iops-p1", "--by=op");
	assert_int_equal(r.status, EXIT_SUCCESS);
	RUN(&r, "live", "--host", "--stats=iops-p1");
	assert_int_equal(r.status, EX_USAGE);
	assert_contains(r.err, "--stats iops-p1 is for report");
	RUN(&r, "report", f[0].path, "--stats=iops-p0");
	assert_int_equal(r.status, EX_USAGE);
	RUN(&r, "report", f[0].path, "--stats=iops-");
	assert_int_equal(r.status, EX_USAGE);
	RUN(&r, "report", f[0].path, "--stats=iops-p1,iops-p1.0");
	assert_contains(r.err, "one is there twice");
	recordings_free(f, 2);
	recordings_free(g, 2);
}

static void what_is_in_flight_is_not_known_of_a_sample(void **state)
{
	struct recording f[] = {{.edit = NULL}, {.header = {.sample = 10}}};
	struct traffic_config c = two_queues();
	static struct result r;
	char text[32];

	recordings_make(f, &c);
	for (unsigned int i = 0; i < 2; i++) {
		RUN(&r, "report", f[i].path, "--by=op", "--format=csv");
		assert_int_equal(r.status, 0);
		for (const char *l = strchr(r.out, '\n') + 1; *l; l = strchr(l, '\n') + 1) {
			field(l, column_of(r.out, "max_in_flight"), text, sizeof(text));
			assert_int_equal(!text[0], i);
			field(l, column_of(r.out, "mean_in_flight"), text, sizeof(text));
			assert_int_equal(!text[0], i);
			field(l, column_of(r.out, "mean"), text, sizeof(text));
			assert_true(text[0]);
		}
	}
	recordings_free(f, 2);
}

static void groups_of_nothing_are_said_to_be_none(void **state)
{
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--op", "fabrics", "--by", "op");
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "selected: nothing, of 700 merged commands\n");
	RUN(&r, "report", f[0].path, f[1].path, "--op", "fabrics", "--by", "op", "--every", "1s",
	    "--format=json");
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "\"rows\":[],\"others\":null,\"total\":{\"row\":\"total\"");
	RUN(&r, "report", f[0].path, "--op", "fabrics", "--every", "1s", "--format=csv");
	assert_int_equal(r.status, 0);
	recordings_free(f, 2);
}

/* The same sums as in the lines for scripts: "merged_stage OP STAGE MEAN P50 P99 MAX SUM". */
static void stages_are_the_main_table_of_csv(void **state)
{
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r, lines;
	char op[64], stage[64], sum[64], want[256];
	unsigned int nr = 0;

	recordings_make(f, &c);
	RUN(&lines, "report", f[0].path, f[1].path, "--format=lines");
	RUN(&r, "report", f[0].path, f[1].path, "--format=csv");
	assert_int_equal(r.status, 0);
	for (const char *l = strchr(r.out, '\n') + 1; *l; l = strchr(l, '\n') + 1, nr++) {
		const char *at;

		assert_memory_equal(l, "merged,", strlen("merged,"));
		field(l, column_of(r.out, "op"), op, sizeof(op));
		field(l, column_of(r.out, "stage"), stage, sizeof(stage));
		field(l, column_of(r.out, "sum"), sum, sizeof(sum));
		snprintf(want, sizeof(want), "merged_stage %s %s ", op, stage);
		assert_contains(lines.out, want);
		at = strstr(lines.out, want);
		snprintf(want, sizeof(want), "%.*s", (int)strcspn(at, "\n"), at);
		assert_string_equal(strrchr(want, ' ') + 1, sum);
	}
	assert_true(nr >= 10);
	RUN(&r, "report", f[1].path, "--format=csv");
	assert_int_equal(r.status, 0);
	snprintf(want, sizeof(want), "\n%s,read,target_subsystem,target,", f[1].path);
	assert_contains(r.out, want);
	recordings_free(f, 2);
}

static void details_are_of_each_shape(void **state)
{
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--detail", "--stats", "p50");
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "\nr2t_write    network send_data rx ");
	assert_contains(r.out, "\nread         target  exec      done ");
	assert_contains(r.out, "\nmerged_stage ");
	RUN(&r, "report", f[1].path, "--detail", "--by=op", "--format=json");
	assert_contains(r.out, "\"details\":[{\"shape\":\"read\",\"side\":\"target\",");
	assert_contains(r.out, "\"groups\":{\"by\":[\"op\"]");
	RUN(&r, "report", f[0].path, f[1].path, "--detail", "--format=csv");
	assert_contains(r.out, "\nmerged,r2t_write,host,send_cmd,r2t_rx,");
	recordings_free(f, 2);
}

/* They end early, so their times are no latency. */
static void failed_commands_are_in_no_details(void **state)
{
	struct recording f[] = {{.edit = some_fail}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r;
	uint64_t sum = 0;
	char buf[64];

	made = 0;
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--detail", "--format=csv");
	for (const char *l = r.out; *l; l = strchr(l, '\n') + 1)
		if (!strcmp(field(l, column_of(r.out, "from_point"), buf, sizeof(buf)), "submit"))
			sum += strtoull(field(l, column_of(r.out, "commands"), buf, sizeof(buf)),
					NULL, 10);
	assert_int_equal(sum, COMMANDS - COMMANDS / 10);
	recordings_free(f, 2);
}

/* Checks that the table of stages has these figures, in this order, and no others. */
static void assert_stage_table(const char *out)
{
	assert_contains(out, " min    p99.9    share\n");
}

static void figures_are_of_stages_as_well(void **state)
{
	struct traffic_config c = two_queues();
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	static struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--stats", "min,p99.9");
	assert_int_equal(r.status, 0);
	assert_stage_table(r.out);
	assert_contains(r.out, "network_transmission");
	RUN(&r, "report", f[0].path, "--stats", "min,p99.9");
	assert_int_equal(r.status, 0);
	assert_stage_table(r.out);
	/* Groups that the user asks for have the mean of each. */
	RUN(&r, "report", f[0].path, f[1].path, "--stats", "min,p99.9", "--by", "queue");
	assert_contains(strstr(r.out, "\nmean of each stage\n"), "\nnetwork_transmission network ");
	RUN(&r, "report", f[0].path, f[1].path, "--stats", "min,p99.9", "--format", "json");
	assert_int_equal(r.status, 0);
	assert_contains(strstr(r.out, "\"stage\":\"network_transmission\""), "\"p99_9\":");
	recordings_free(f, 2);
}

static bool of_one_origin(struct nt_record *r)
{
	if (r->side == NT_HOST)
		r->flags |= 1u << NT_F_ORIGIN_SHIFT;
	return true;
}

static void commands_are_by_process(void **state)
{
	struct recording f[] = {{.header = {.origins = NT_ORIGIN_PLACE | NT_ORIGIN_TASK},
				 .cgroup = "/db",
				 .edit = of_one_origin},
				{.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r;

	c.commands = 20;
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--by=pid,comm", "--format=csv");
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "merged,group,77,/db,");
	RUN(&r, "report", f[0].path, f[1].path, "--commands");
	assert_contains(r.out, " | from cpu=0 pid=77 comm=/db cgroup=/db\n");
	RUN(&r, "report", f[0].path, f[1].path, "--commands", "--format=csv");
	assert_contains(r.out, ",cpu,pid,comm,cgroup");
	assert_contains(r.out, ",0,77,/db,/db");
	RUN(&r, "report", f[0].path, f[1].path, "--commands", "--format=json");
	assert_contains(r.out,
			"\"origin\":{\"cpu\":0,\"pid\":77,\"comm\":\"/db\",\"cgroup\":\"/db\"}");
	RUN(&r, "report", f[0].path, f[1].path, "--slowest=1");
	assert_contains(r.out, "\n  from cpu=0 pid=77 comm=/db cgroup=/db\n");
	RUN(&r, "report", f[0].path, f[1].path, "--slowest=1", "--format=json");
	assert_contains(r.out, "\"pid\":77");
	/* A target knows none of it. */
	RUN(&r, "report", f[1].path, "--commands");
	assert_lacks(r.out, " | from");
	recordings_free(f, 2);
	/* An older program recorded CPUs and cgroups alone. */
	f[0] = (struct recording){.header = {.origins = NT_ORIGIN_PLACE}, .cgroup = "/db"};
	f[1] = (struct recording){.edit = NULL};
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--by=cgroup,comm", "--cgroup=/db");
	assert_int_equal(r.status, EXIT_FAILURE);
	assert_contains(r.err, "--by comm: ");
	assert_contains(r.err, "record --host --origin");
	RUN(&r, "report", f[0].path, f[1].path, "--cgroup=/db", "--comm=/db", "--by=cpu");
	assert_int_equal(r.status, EXIT_FAILURE);
	assert_contains(r.err, "--comm: ");
	RUN(&r, "report", f[0].path, f[1].path, "--by=cgroup,cpu");
	assert_int_equal(r.status, 0);
	recordings_free(f, 2);
}

static void what_no_recording_tells_is_refused_with_what_does(void **state)
{
	static char *const of_origin[] = {"--by=cgroup", "--by=op,cpu", "--cgroup=/a",
					  "--by=pid",	 "--pid=77",	"--comm=fio"};
	static char *const of_host[] = {"--by=path", "--by=cpu,op", "--cgroup=/",
					"--by=comm", "--pid=1",	    "--comm=x"};
	struct recording f[] = {{.header = {.selection = "--op read --size 4k"}}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r;

	recordings_make(f, &c);
	for (size_t i = 0; i < ARRAY_SIZE(of_origin); i++) {
		RUN(&r, "report", f[0].path, f[1].path, of_origin[i]);
		assert_int_equal(r.status, EXIT_FAILURE);
		assert_string_equal(r.out, "");
		assert_contains(r.err, f[0].path);
		assert_contains(r.err, "record --host --origin");
		RUN(&r, "report", f[1].path, of_host[i]);
		assert_int_equal(r.status, EXIT_FAILURE);
		assert_contains(r.err, "only a host's recording tells it");
	}
	RUN(&r, "report", f[0].path, f[1].path, "--by=device,path", "--format=csv");
	assert_int_equal(r.status, 0);
	/* The report says that these were not all commands. */
	RUN(&r, "report", f[0].path, f[1].path);
	assert_contains(r.out, "recorded were only commands of --op read --size 4k");
	RUN(&r, "report", f[0].path, f[1].path, "--format=json");
	assert_contains(r.out, "\"selection\":\"--op read --size 4k\"");
	recordings_free(f, 2);
}

/* Checks the line that begins with @words: whether it says that the limit was near. */
static void assert_limit(const char *out, const char *words, bool near)
{
	const char *line = strstr(out, words), *mark;

	assert_non_null(line);
	mark = strstr(line, "# within 90 % of its limit over the whole run");
	assert_int_equal(mark && mark < strchr(line + 1, '\n'), near);
}

static void traffic_near_a_limit_is_marked(void **state)
{
	struct traffic_config c = two_queues();
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	static struct result r, one;
	uint64_t intervals;
	const char *line;

	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--network-limit=0.000001", "--drive-limit=1000000",
	    "--op=flush");
	assert_int_equal(r.status, 0);
	assert_limit(r.out, "limit network reads ", true);
	assert_limit(r.out, "limit drive nvme0 ", false);
	/* There was traffic in each second. */
	line = strstr(r.out, "limit network reads ");
	assert_int_equal(sscanf(line, "limit network reads %*s %*s %*s %" SCNu64, &intervals), 1);
	assert_true(intervals > 0);
	/* Targets' recordings have the same data, and count if there is no host's recording. */
	RUN(&one, "report", f[1].path, "--network-limit=0.000001");
	assert_limit(one.out, "limit network reads ", true);
	RUN(&one, "report", f[0].path, "--network-limit=0.000001", "--format=json");
	assert_contains(one.out, "\"limit\":\"network\",\"group\":\"reads\"");
	RUN(&one, "report", f[0].path, "--network-limit=1", "--by=op", "--format=csv");
	assert_int_equal(one.status, EX_USAGE);
	recordings_free(f, 2);
}

static void options_that_are_of_no_use_are_refused(void **state)
{
	static char *const wrong[][3] = {
		{"--by=op", "--commands", "--format=csv"},
		{"--by=op", "--detail", "--format=csv"},
		{"--by=disc"},
		{"--by=disk,device"},
		{"--by=op,op"},
		{"--by="},
		{"--every=1us"},
		{"--stats=p100"},
		{"--stats=p0"},
		{"--stats=median"},
		{"--stats=p99.12345678"},
		{"--stats="},
		{"--stats=p50,p50.0"},
	};
	static struct result r;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		char *words[] = {"report",    "/nowhere/f", wrong[i][0],
				 wrong[i][1], wrong[i][2],  NULL};

		run_words(&r, words);
		assert_int_equal(r.status, EX_USAGE);
		assert_string_equal(r.out, "");
		assert_true(strlen(r.err) > 20);
	}
}

/* A host's read each second, and @events: the state that nvme0 gets 1 ms apart, from 1.2 s on. */
static void stalled_recording(struct recording *f, unsigned int events)
{
	const struct stream_header h = {.side = NT_HOST, .source = "stock", .hostname = "m"};
	struct stream_event e = {.type = STREAM_CLOCK, .clock = {10 * SECOND, WALL_NS}};

	f->fd = memfd_create("recording", 0);
	snprintf(f->path, sizeof(f->path), "/proc/%d/fd/%d", (int)getpid(), f->fd);
	f->w = stream_writer_new(f->fd, &h);
	recording_put(f, &e);
	for (uint64_t i = 0; i < 4; i++) {
		e = (struct stream_event){.type = STREAM_RECORD};
		e.record = (struct nt_record){.qid = 1, .op = NT_OP_READ, .side = NT_HOST};
		e.record.points[NT_H_SUBMIT] = (10 + i) * SECOND;
		e.record.points[NT_H_COMPLETE] = (10 + i) * SECOND + MS;
		recording_put(f, &e);
		for (unsigned int k = 0; i == 1 && k < events; k++) {
			e = (struct stream_event){.type = STREAM_PATH};
			e.path.ns = 11200 * MS + k * MS;
			e.path.state = k % NT_PATH_STATES_NR;
			snprintf(e.path.subsysnqn, sizeof(e.path.subsysnqn), "\033[2Jnqn");
			recording_put(f, &e);
		}
	}
	e = (struct stream_event){.type = STREAM_END, .end.clock = {14 * SECOND, WALL_NS}};
	recording_put(f, &e);
	stream_writer_free(f->w);
}

static void events_of_controllers_stand_between_the_rows_of_intervals(void **state)
{
	static struct result r;
	struct recording f = {0};
	const char *second, *third, *event;

	stalled_recording(&f, 4);
	RUN(&r, "report", f.path, "--every", "1s", "--format=text");
	assert_int_equal(r.status, 0);
	second = strstr(r.out, "1.000");
	event = strstr(r.out, "  at 1.203 s: nvme0 connecting\n");
	third = strstr(r.out, "2.000");
	assert_non_null(strstr(r.out, "  at 1.200 s: nvme0 new\n"));
	assert_true(second && event && third && second < event && event < third);
	/* Without intervals they are a part of their own. */
	RUN(&r, "report", f.path, "--format=text");
	assert_non_null(strstr(r.out, ": 4\n  at 1.200 s: nvme0 new\n"));
	RUN(&r, "report", f.path, "--format=json");
	assert_non_null(strstr(r.out, "\"path_events_past\":0"));
	assert_non_null(strstr(r.out, "\"event\":\"state\",\"state\":\"connecting\""));
	close(f.fd);
	/* They are of no use to those who count: CSV has the rows alone. */
	stalled_recording(&f, 0);
	RUN(&r, "report", f.path, "--format=text");
	assert_lacks(r.out, "events of");
	close(f.fd);
}

static void endless_events_of_one_recording_leave_those_of_another(void **state)
{
	struct recording few = {0}, many = {0};
	static struct result r;

	stalled_recording(&few, 4);
	stalled_recording(&many, 2 * PATH_EVENTS_MAX);
	RUN(&r, "report", few.path, many.path, "--every", "1s", "--format=text");
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "  at 1.203 s: m nvme0 connecting\n");
	snprintf(r.err, sizeof(r.err), "too old to be kept: %d\n", PATH_EVENTS_MAX);
	assert_contains(r.out, r.err);
	close(few.fd);
	close(many.fd);
}

static void of_endless_events_of_controllers_the_last_are_kept(void **state)
{
	static struct result r;
	struct recording f = {0};

	stalled_recording(&f, 50000);
	RUN(&r, "report", f.path, "--format=text");
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.out, "the last 20:\n"));
	assert_non_null(strstr(r.out, "too old to be kept: 49000\n"));
	close(f.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_add_up_to_all_by_every_key),
		cmocka_unit_test(a_group_of_an_opcode_has_its_name),
		cmocka_unit_test(sizes_are_in_classes_up_to_each_bound),
		cmocka_unit_test(names_of_connections_past_the_limit_are_counted_and_shown),
		cmocka_unit_test(each_group_has_its_own_stages),
		cmocka_unit_test(an_interval_is_what_time_selects),
		cmocka_unit_test(figures_are_those_that_are_asked_for),
		cmocka_unit_test(lows_are_of_whole_seconds),
		cmocka_unit_test(lows_are_refused_where_there_are_none),
		cmocka_unit_test(what_is_in_flight_is_not_known_of_a_sample),
		cmocka_unit_test(groups_of_nothing_are_said_to_be_none),
		cmocka_unit_test(stages_are_the_main_table_of_csv),
		cmocka_unit_test(details_are_of_each_shape),
		cmocka_unit_test(failed_commands_are_in_no_details),
		cmocka_unit_test(figures_are_of_stages_as_well),
		cmocka_unit_test(traffic_near_a_limit_is_marked),
		cmocka_unit_test(commands_are_by_process),
		cmocka_unit_test(what_no_recording_tells_is_refused_with_what_does),
		cmocka_unit_test(options_that_are_of_no_use_are_refused),
		cmocka_unit_test(events_of_controllers_stand_between_the_rows_of_intervals),
		cmocka_unit_test(endless_events_of_one_recording_leave_those_of_another),
		cmocka_unit_test(of_endless_events_of_controllers_the_last_are_kept),
	};

	return cmocka_run_group_tests_name("report in groups", tests, find_program, NULL);
}
