// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verb report with a selection: its figures are those of a recording of only the selected
 * commands.
 */
#include "cli/recordings.h"

#include <inttypes.h>

#define COMMANDS 700u /* their lines fit into a struct result */

/* The wanted commands: counted in the host's recording, or the only ones in a recording. */
static bool (*wanted)(const struct nt_record *r);
static unsigned int nr_wanted;

static bool count_wanted(struct nt_record *r)
{
	nr_wanted += wanted(r);
	return true;
}

static bool only_wanted(struct nt_record *r)
{
	return wanted(r);
}

static struct traffic_config two_queues(void)
{
	struct traffic_config c = traffic_of_one_queue();

	c.queue[1] = c.queue[0];
	c.queue[1].qid = 2;
	c.queue[1].slot = 2;
	c.nr_queues = 2;
	c.commands = COMMANDS;
	return c;
}

static bool is_read(const struct nt_record *r)
{
	return r->op == NT_OP_READ;
}

static bool is_write(const struct nt_record *r)
{
	return r->op == NT_OP_WRITE;
}

static bool is_queue_2(const struct nt_record *r)
{
	return r->qid == 2;
}

static bool is_large_write(const struct nt_record *r)
{
	return r->op == NT_OP_WRITE && r->length > 8192;
}

static bool is_low(const struct nt_record *r)
{
	return r->op != NT_OP_DISCARD && r->op != NT_OP_FLUSH && r->slba < 1ULL << 34;
}

static bool is_any(const struct nt_record *r)
{
	return true;
}

static bool is_none(const struct nt_record *r)
{
	return false;
}

static const struct selection_case {
	char *words[5];
	bool (*wanted)(const struct nt_record *r);
} cases[] = {
	{{"--op", "read"}, is_read},
	{{"--op", "write"}, is_write},
	{{"--queue", "2"}, is_queue_2},
	{{"--op=write", "--size", "8193-4095M"}, is_large_write},
	{{"--lba", "0-0x3ffffffff"}, is_low},
	{{"--ctrl", "nvme0"}, is_any},
	{{"--ctrl", "1"}, is_any},
	{{"--ctrl", "2"}, is_none},
	{{"--nqn", "nqn.2024-01.org.example:one"}, is_any},
	{{"--nqn", "nqn.2024-01.org.example:two"}, is_none},
	{{"--hostnqn", "nqn.none"}, is_none},
	{{"--nsid", "1"}, is_any},
	{{"--nsid", "2-9"}, is_none},
	{{"--failed"}, is_none},
	{{"--slower", "1ns"}, is_any},
	{{"--slower", "1h"}, is_none},
	{{"--time", "-1h"}, is_any},
	{{"--time", "1h-"}, is_none},
	{{"--where", "latency>=1ns"}, is_any},
};

static void report_with(struct result *r, const struct selection_case *k, char *a, char *b,
			bool commands)
{
	char *words[WORDS_MAX] = {"report", a};
	unsigned int n = 2;

	if (b)
		words[n++] = b;
	if (commands)
		words[n++] = "--commands";
	for (unsigned int i = 0; k->words[i]; i++)
		words[n++] = k->words[i];
	run_words(r, words);
	assert_int_equal(r->status, 0);
	assert_string_equal(r->err, "");
}

static unsigned int lines_with(const char *text, const char *part)
{
	unsigned int n = 0;

	for (text = strstr(text, part); text; text = strstr(text + 1, part))
		n++;
	return n;
}

static void assert_selected(const struct result *r, unsigned int of, const char *what)
{
	char line[128];

	if (nr_wanted)
		snprintf(line, sizeof(line), "selected: %u of %u %s; losses are of all\n",
			 nr_wanted, of, what);
	else
		snprintf(line, sizeof(line), "selected: nothing, of %u %s", of, what);
	assert_contains(r->out, line);
}

static void as_many_as_were_recorded_under_that_condition(void **state)
{
	static struct result r;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct recording f[] = {{.edit = count_wanted}, {.edit = NULL}};
		struct traffic_config c = two_queues();

		wanted = cases[i].wanted;
		nr_wanted = 0;
		recordings_make(f, &c);
		report_with(&r, &cases[i], f[0].path, f[1].path, true);
		assert_selected(&r, COMMANDS, "merged commands");
		assert_int_equal(lines_with(r.out, " op="), nr_wanted);
		report_with(&r, &cases[i], f[0].path, NULL, true);
		assert_selected(&r, COMMANDS, "commands");
		assert_int_equal(lines_with(r.out, " op="), nr_wanted);
		recordings_free(f, 2);
	}
}

/* The text from the first line on that has @part. */
static const char *beginning_with(const struct result *r, const char *part)
{
	const char *at = strstr(r->out, part);

	if (!at)
		fail_msg("no '%s' in:\n%s", part, r->out);
	return at;
}

static void figures_are_those_of_what_is_selected(void **state)
{
	static const struct selection_case all = {{NULL}, is_any};
	static const char begin[] = "\nmerged_stage ";
	static struct result some, only;

	for (size_t i = 0; i < 5; i++) {
		struct recording f[] = {
			{.header = {.hostname = "h"}},
			{.header = {.hostname = "t"}},
		};
		struct recording g[] = {
			{.header = {.hostname = "h"}, .edit = only_wanted},
			{.header = {.hostname = "t"}, .edit = only_wanted},
		};
		struct traffic_config c = two_queues();

		wanted = cases[i].wanted;
		recordings_make(f, &c);
		recordings_make(g, &c);
		report_with(&some, &cases[i], f[0].path, f[1].path, false);
		report_with(&only, &all, g[0].path, g[1].path, false);
		assert_string_equal(beginning_with(&some, begin), beginning_with(&only, begin));
		recordings_free(f, 2);
		recordings_free(g, 2);
	}
}

static void a_selection_that_matches_nothing_says_so(void **state)
{
	static const struct selection_case k = {{"--op", "fabrics"}, is_none};
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r;

	recordings_make(f, &c);
	report_with(&r, &k, f[0].path, f[1].path, false);
	assert_contains(r.out, "selected: nothing, of 700 merged commands\n");
	/* Matching is reported for all commands, not only for those selected. */
	assert_contains(r.out, " queue 1: matched ");
	report_with(&r, &k, f[1].path, NULL, false);
	assert_contains(r.out, "selected: nothing, of 700 commands\n");
	RUN(&r, "report", f[0].path, f[1].path, "--op", "fabrics", "--format=json");
	assert_contains(r.out, "\"selected\":{\"commands\":0,\"of\":700}");
	recordings_free(f, 2);
}

/* The time of a stage in a line of --commands; -1 if the line does not have it. */
static int64_t took(const char *line, const char *end, const char *stage)
{
	char name[64];
	const char *at;

	snprintf(name, sizeof(name), " %s=", stage);
	at = strstr(line, name);
	return at && at < end ? strtoll(at + strlen(name), NULL, 10) : -1;
}

static void conditions_are_of_the_stages_that_lines_of_commands_have(void **state)
{
	static const char *const stages[] = {"network_transmission", "target_subsystem",
					     "nvme_tcp_submission", "latency"};
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r;

	recordings_make(f, &c);
	for (size_t i = 0; i < ARRAY_SIZE(stages); i++) {
		struct selection_case k = {{"--where", NULL}, NULL};
		char text[96];
		int64_t sum = 0;

		report_with(&r, &(struct selection_case){{NULL}, NULL}, f[0].path, f[1].path, true);
		for (const char *l = strstr(r.out, " op="); l; l = strstr(l + 1, " op="))
			sum += took(l, strchr(l, '\n'), stages[i]);
		nr_wanted = 0;
		for (const char *l = strstr(r.out, " op="); l; l = strstr(l + 1, " op="))
			nr_wanted += took(l, strchr(l, '\n'), stages[i]) > sum / COMMANDS;
		assert_uint_in_range(nr_wanted, 1, COMMANDS - 1);
		snprintf(text, sizeof(text), "%s>%" PRId64 "ns", stages[i], sum / COMMANDS);
		k.words[1] = text;
		report_with(&r, &k, f[0].path, f[1].path, false);
		assert_selected(&r, COMMANDS, "merged commands");
		nr_wanted = COMMANDS - nr_wanted;
		snprintf(text, sizeof(text), "%s<=%" PRId64 "ns", stages[i], sum / COMMANDS);
		report_with(&r, &k, f[0].path, f[1].path, false);
		assert_selected(&r, COMMANDS, "merged commands");
	}
	recordings_free(f, 2);
}

static bool count_slow_submission(struct nt_record *r)
{
	nr_wanted += r->points[NT_H_QUEUE_RQ] - r->points[NT_H_SUBMIT] > 1000;
	return true;
}

static void conditions_of_one_side_are_of_its_own_stages(void **state)
{
	static const struct selection_case host = {{"--where", "blk_submission>1us"}, NULL};
	static const struct selection_case both = {{"--where", "network_transmission>0"}, NULL};
	struct recording f[] = {{.edit = count_slow_submission}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r;

	nr_wanted = 0;
	c.stream[0].drift_ppm = c.stream[1].drift_ppm = 0;
	recordings_make(f, &c);
	assert_uint_in_range(nr_wanted, 1, COMMANDS - 1);
	report_with(&r, &host, f[0].path, NULL, false);
	assert_selected(&r, COMMANDS, "commands");
	/*
	 * The target has no stage of that name, and the network's stage is unknown without the
	 * other side.
	 */
	nr_wanted = 0;
	report_with(&r, &host, f[1].path, NULL, false);
	assert_selected(&r, COMMANDS, "commands");
	report_with(&r, &both, f[0].path, NULL, false);
	assert_selected(&r, COMMANDS, "commands");
	recordings_free(f, 2);
}

static uint64_t until_ns;

static bool has_begun(struct nt_record *r)
{
	nr_wanted += r->points[NT_H_SUBMIT] - TRAFFIC_EPOCH_NS < until_ns;
	return true;
}

static void time_is_after_the_beginning_of_the_recording(void **state)
{
	struct recording f[] = {{.edit = has_begun}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	struct selection_case first = {{"--time", "-3ms"}, NULL};
	struct selection_case second = {{"--time", "3ms-"}, NULL};
	static struct result r;

	until_ns = 3 * MS;
	nr_wanted = 0;
	c.stream[0].offset_ns = c.stream[1].offset_ns = 0;
	c.stream[0].drift_ppm = c.stream[1].drift_ppm = 0;
	recordings_make(f, &c);
	assert_uint_in_range(nr_wanted, 1, COMMANDS - 1);
	report_with(&r, &first, f[0].path, f[1].path, false);
	assert_selected(&r, COMMANDS, "merged commands");
	report_with(&r, &first, f[0].path, NULL, false);
	assert_selected(&r, COMMANDS, "commands");
	RUN(&r, "report", f[0].path, "--time", "-3ms", "--format=json");
	assert_contains(r.out, "\"elapsed_seconds\":0.00");
	nr_wanted = COMMANDS - nr_wanted;
	report_with(&r, &second, f[0].path, f[1].path, false);
	assert_selected(&r, COMMANDS, "merged commands");
	recordings_free(f, 2);
}

/* Copies as much of a file into a pipe as that holds. Return: whether there is any. */
static bool copy_some(int from, int to)
{
	char bytes[4096];
	ssize_t n = pread(from, bytes, sizeof(bytes), 0);

	return n > 0 && write(to, bytes, (size_t)n) == n;
}

/* The wall clock of a recording that begins at midnight. */
static void time_of_the_wall_clock_is_that_of_the_recording(void **state)
{
	struct recording f[] = {{.edit = has_begun}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	struct selection_case first = {{"--time", "..2024-01-01T00:00:00.003Z"}, NULL};
	struct selection_case second = {{"--time", "00:00:00.003-"}, NULL};
	struct selection_case last = {{"--time", "-1h.."}, NULL};
	static struct result r;
	char fifo[] = "/tmp/test_report_time.XXXXXX";
	int p[2];

	until_ns = 3 * MS;
	nr_wanted = 0;
	c.stream[0].offset_ns = c.stream[1].offset_ns = 0;
	c.stream[0].drift_ppm = c.stream[1].drift_ppm = 0;
	recordings_make(f, &c);
	setenv("TZ", "UTC0", 1);
	report_with(&r, &first, f[0].path, f[1].path, false);
	assert_selected(&r, COMMANDS, "merged commands");
	nr_wanted = COMMANDS - nr_wanted;
	report_with(&r, &second, f[0].path, f[1].path, false);
	assert_selected(&r, COMMANDS, "merged commands");
	nr_wanted = COMMANDS;
	report_with(&r, &last, f[0].path, f[1].path, false);
	assert_selected(&r, COMMANDS, "merged commands");
	report_with(&r, &last, f[1].path, NULL, false);
	assert_selected(&r, COMMANDS, "commands");
	unsetenv("TZ");
	RUN(&r, "report", f[0].path, "--time", "25:00-");
	assert_int_equal(r.status, EX_USAGE);
	assert_contains(r.err, "--time 25:00-: not FROM-TO or FROM..TO");
	/* The end of a pipe is not known before it is read. */
	assert_int_equal(pipe(p), 0);
	assert_true(copy_some(f[0].fd, p[1]));
	close(p[1]);
	snprintf(fifo, sizeof(fifo), "/dev/fd/%d", p[0]);
	RUN(&r, "report", fifo, "--time", "-30s..");
	assert_int_equal(r.status, EXIT_FAILURE);
	assert_contains(r.err, " is no file, so its end is not known before it is read");
	close(p[0]);
	recordings_free(f, 2);
}

static void json_says_of_how_many_the_figures_are(void **state)
{
	static const struct selection_case all = {{"--format=json"}, is_any};
	static const struct selection_case k = {{"--format=json", "--op", "read"}, is_read};
	struct recording f[] = {{.edit = count_wanted}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r;
	char text[96];

	wanted = is_read;
	nr_wanted = 0;
	recordings_make(f, &c);
	snprintf(text, sizeof(text), "\"selected\":{\"commands\":%u,\"of\":%u}", nr_wanted,
		 COMMANDS);
	report_with(&r, &k, f[0].path, f[1].path, false);
	assert_contains(r.out, text);
	report_with(&r, &k, f[1].path, NULL, false);
	assert_contains(r.out, text);
	report_with(&r, &all, f[0].path, f[1].path, false);
	assert_contains(r.out, "\"selected\":null");
	recordings_free(f, 2);
}

static bool namespace_of_queue(struct nt_record *r)
{
	r->nsid = r->qid;
	nr_wanted += r->qid == 2;
	return true;
}

/*
 * A device is called as its recording calls it. Merged commands have the host's name; those of a
 * target alone have the name of the device behind the namespace.
 */
static void a_device_is_known_by_its_name_in_the_recording(void **state)
{
	struct recording f[] = {
		{.edit = namespace_of_queue, .device = {"nvme3n1", "nvme3n2"}},
		{.edit = namespace_of_queue, .device = {"/dev/nvme3n2", "/srv/disk"}},
	};
	static const struct {
		char *device;
		unsigned int files; /* bits */
		bool second;	    /* device of the second namespace; otherwise of none */
	} of[] = {
		{"/dev/nvme3n2", 3, true}, {"nvme3n2", 3, true},    {"/dev/nvme3n2", 1, true},
		{"/srv/disk", 2, true},	   {"/srv/disk", 3, false}, {"/dev/nvme3n3", 3, false},
		{"disk", 2, false},
	};
	struct traffic_config c = two_queues();
	static struct result r;
	char text[80];

	nr_wanted = 0;
	recordings_make(f, &c);
	nr_wanted /= 2;
	assert_uint_in_range(nr_wanted, 1, COMMANDS - 1);
	snprintf(text, sizeof(text), "selected: %u of %u ", nr_wanted, COMMANDS);
	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		if (of[i].files == 3)
			RUN(&r, "report", f[0].path, f[1].path, "--device", of[i].device);
		else
			RUN(&r, "report", f[of[i].files - 1].path, "--device", of[i].device);
		assert_int_equal(r.status, of[i].second ? EXIT_SUCCESS : EXIT_FAILURE);
		if (of[i].second) {
			assert_contains(r.out, text);
			continue;
		}
		assert_string_equal(r.out, "");
		assert_contains(r.err, of[i].device);
		assert_contains(r.err, of[i].files == 3 ? "there are nvme3n1, nvme3n2\n"
							: "there are /dev/nvme3n2, /srv/disk\n");
	}
	recordings_free(f, 2);
}

/* Every third command of a host is of process 77. */
static bool of_process(struct nt_record *r)
{
	static unsigned int nr;

	if (r->side == NT_HOST && nr++ % 3 == 0) {
		r->flags |= 1u << NT_F_ORIGIN_SHIFT;
		nr_wanted++;
	}
	return true;
}

static void a_process_is_known_by_its_number_and_name(void **state)
{
	static char *const right[] = {"--pid=77", "--pid=1,70-80", "--comm=postgres"};
	static char *const none[] = {"--pid=76", "--pid=4294967295", "--comm=postgre",
				     "--comm=postgres: wal"};
	static char *const wrong[] = {
		"--pid=0", "--pid=0-99",       "--pid=-1", "--pid=x",
		"--pid=",  "--pid=4294967296", "--comm=",  "--comm=a name that is too long"};
	struct recording f[] = {{.header = {.origins = NT_ORIGIN_PLACE | NT_ORIGIN_TASK},
				 .cgroup = "postgres",
				 .edit = of_process},
				{.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r;

	nr_wanted = 0;
	recordings_make(f, &c);
	for (size_t i = 0; i < ARRAY_SIZE(right); i++) {
		RUN(&r, "report", f[0].path, f[1].path, right[i]);
		assert_selected(&r, COMMANDS, "merged commands");
		RUN(&r, "report", f[0].path, right[i], "--by=comm", "--every=1ms", "--slowest=2");
		assert_selected(&r, COMMANDS, "commands");
	}
	RUN(&r, "report", f[0].path, f[1].path, "--pid=77", "--comm=postgres", "--why");
	assert_selected(&r, COMMANDS, "merged commands");
	nr_wanted = 0;
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		RUN(&r, "report", f[0].path, f[1].path, none[i]);
		assert_selected(&r, COMMANDS, "merged commands");
	}
	/* Both have to be so. */
	RUN(&r, "report", f[0].path, f[1].path, "--pid=77", "--comm=fio");
	assert_selected(&r, COMMANDS, "merged commands");
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		RUN(&r, "report", f[0].path, wrong[i]);
		assert_int_equal(r.status, EX_USAGE);
	}
	RUN(&r, "trace", "--host", "--pid=77");
	assert_int_equal(r.status, EX_USAGE);
	assert_contains(r.err, "--pid is an option of report, not of trace");
	recordings_free(f, 2);
}

static void a_recording_without_names_of_devices_says_so(void **state)
{
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = two_queues();
	static struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--device", "/dev/nvme0n1");
	assert_int_equal(r.status, EXIT_FAILURE);
	assert_contains(r.err, "no names of devices: take --nqn and --nsid");
	recordings_free(f, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_were_recorded_under_that_condition),
		cmocka_unit_test(figures_are_those_of_what_is_selected),
		cmocka_unit_test(a_selection_that_matches_nothing_says_so),
		cmocka_unit_test(conditions_are_of_the_stages_that_lines_of_commands_have),
		cmocka_unit_test(conditions_of_one_side_are_of_its_own_stages),
		cmocka_unit_test(time_is_after_the_beginning_of_the_recording),
		cmocka_unit_test(time_of_the_wall_clock_is_that_of_the_recording),
		cmocka_unit_test(json_says_of_how_many_the_figures_are),
		cmocka_unit_test(a_device_is_known_by_its_name_in_the_recording),
		cmocka_unit_test(a_process_is_known_by_its_number_and_name),
		cmocka_unit_test(a_recording_without_names_of_devices_says_so),
	};

	return cmocka_run_group_tests_name("report with a selection", tests, find_program, NULL);
}
