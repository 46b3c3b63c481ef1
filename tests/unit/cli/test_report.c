// SPDX-License-Identifier: GPL-2.0-only
/* Output of the verb report for recordings, from the files to the text. */
#include "cli/recordings.h"

#include <pty.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

static bool never_completed(struct nt_record *r)
{
	r->points[NT_H_COMPLETE] = 0;
	r->flags |= NT_F_CANCELLED;
	return true;
}

static void a_recording_in_which_nothing_ended_has_a_duration(void **state)
{
	struct recording f[] = {{.edit = never_completed}, {.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", f[0].path);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "\nno command ended well\n");
	assert_contains(r.out, "500 commands within 0.0");
	recordings_free(f, 2);
}

/* A damaged stream may have points in any order. */
static bool backwards(struct nt_record *r)
{
	r->points[NT_H_SUBMIT] = r->points[NT_H_COMPLETE] + 10 * SECOND;
	return true;
}

static void a_recording_that_ends_before_it_begins_lasted_no_time(void **state)
{
	struct recording f[] = {{.edit = backwards}, {.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", f[0].path);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "500 commands within 0.000 s\n");
	recordings_free(f, 2);
}

static void a_command_whose_points_run_backwards_has_no_latency(void **state)
{
	struct recording f[] = {{.edit = backwards}, {.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	c.commands = 20;
	recordings_make(f, &c);
	RUN(&r, "report", "--commands", f[0].path, f[1].path);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, " latency=0 ");
	assert_lacks(r.out, " latency=1844674406");
	recordings_free(f, 2);
}

#define H_SEND_CMD (1u << NT_H_SEND_CMD)
#define T_DONE (1u << NT_T_DONE)

static bool without_send_cmd(struct nt_record *r)
{
	r->points[NT_H_SEND_CMD] = 0;
	return true;
}

static bool without_done(struct nt_record *r)
{
	r->points[NT_T_DONE] = 0;
	return true;
}

/* The sum of the last numbers of all lines that begin with @word. */
static int64_t sum_of(const char *text, const char *word)
{
	int64_t sum = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *end;

		line += *line == '\n';
		end = strchr(line, '\n');
		if (!end || strncmp(line, word, strlen(word)))
			continue;
		while (end > line && end[-1] != ' ')
			end--;
		sum += strtoll(end, NULL, 10);
	}
	return sum;
}

/* Reports both sides; one or both lack a point; @joined: name of the joined stages. */
static void report_joined(uint32_t host_lacks, uint32_t target_lacks, const char *joined)
{
	struct recording f[] = {
		{.header = {.hostname = "h", .missing = host_lacks},
		 .edit = host_lacks ? without_send_cmd : NULL},
		{.header = {.hostname = "t", .missing = target_lacks},
		 .edit = target_lacks ? without_done : NULL},
	};
	struct traffic_config c = traffic_of_one_queue();
	char wanted[128];
	struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--slowest", "1");
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "stages of 500 merged commands; they add up");
	assert_contains(r.out, "unsplit 0\n");
	snprintf(wanted, sizeof(wanted), "%s: its kernel lacks the points send_cmd\n", f[0].path);
	assert_int_equal(!strstr(r.out, wanted), !host_lacks);
	snprintf(wanted, sizeof(wanted), "%s: its kernel lacks the points done\n", f[1].path);
	assert_int_equal(!strstr(r.out, wanted), !target_lacks);
	snprintf(wanted, sizeof(wanted), "merged_stage read %s ", joined);
	assert_contains(r.out, wanted);
	/* The story of the slowest command has the name as well. */
	snprintf(wanted, sizeof(wanted), "  %s ", joined);
	assert_contains(r.out, wanted);
	assert_int_equal(sum_of(r.out, "merged_stage "), sum_of(r.out, "merged "));
	assert_int_not_equal(sum_of(r.out, "merged "), 0);
	RUN(&r, "report", f[0].path, f[1].path, "--commands");
	snprintf(wanted, sizeof(wanted), " %s=", joined);
	assert_contains(r.out, wanted);
	assert_lacks(r.out, "| unsplit");
	recordings_free(f, 2);
}

static void stages_beside_a_point_that_one_side_lacks_are_joined(void **state)
{
	report_joined(H_SEND_CMD, 0, "nvme_tcp_submission+network_transmission");
	report_joined(0, T_DONE, "target_subsystem+nvmet_tcp_completion");
}

static void stages_beside_points_that_both_sides_lack_are_joined(void **state)
{
	report_joined(H_SEND_CMD, T_DONE, "nvme_tcp_submission+network_transmission");
	report_joined(H_SEND_CMD, T_DONE, "target_subsystem+nvmet_tcp_completion");
}

static void stages_beside_a_missing_point_are_joined_in_a_report_of_one_side(void **state)
{
	struct recording f[] = {
		{.edit = NULL},
		{.header = {.missing = T_DONE}, .edit = without_done},
	};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", f[1].path);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "stage read target_subsystem+nvmet_tcp_completion ");
	assert_lacks(r.out, "stage read target_subsystem ");
	recordings_free(f, 2);
}

/* The host's recording; TCP sends a segment again just after its 10th command was sent. */
static struct recording *resending;
static unsigned int until_resent;

static bool resent_meanwhile(struct nt_record *r)
{
	struct stream_event e = {.type = STREAM_RESENT};

	if (--until_resent)
		return true;
	e.resent = (struct nt_resent){
		.slot = r->slot, .gen = r->gen, .ns = r->points[NT_H_SEND_CMD] + 1};
	recording_put(resending, &e);
	e = (struct stream_event){.type = STREAM_TCP};
	e.tcp.slot = r->slot;
	e.tcp.gen = r->gen;
	e.tcp.ns = r->points[NT_H_SEND_CMD];
	e.tcp.state.srtt_us = 77;
	e.tcp.state.total_retrans = 1;
	recording_put(resending, &e);
	return true;
}

static void commands_that_waited_for_what_tcp_sent_again_are_selected_and_counted(void **state)
{
	struct recording f[] = {{.edit = resent_meanwhile}, {.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	resending = &f[0];
	until_resent = 10;
	recordings_make(f, &c);
	RUN(&r, "report", "--where", "retransmitted", "--commands", "--tcp", f[0].path, f[1].path);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, " retransmitted latency=");
	assert_contains(r.out, " of 500 merged commands; losses are of all\n");
	RUN(&r, "report", "--tcp", f[0].path, f[1].path);
	assert_contains(r.out, "merged commands that waited for what TCP sent again: ");
	assert_lacks(r.out, "what TCP sent again: 0\n");
	RUN(&r, "report", "--tcp", "--format", "json", f[0].path, f[1].path);
	assert_contains(r.out, "\"tcp\":[[{");
	assert_contains(r.out, "\"srtt\":77000");
	RUN(&r, "report", "--tcp", f[1].path);
	assert_contains(r.out, "no recording has the state of its TCP connections");
	recordings_free(f, 2);
}

static bool with_joined_arrival(struct nt_record *r)
{
	r->flags |= NT_F_ARRIVAL_JOINED;
	return true;
}

static void what_rests_on_arrivals_that_are_not_known_is_told(void **state)
{
	struct recording f[] = {{.edit = NULL}, {.edit = with_joined_arrival}};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", "--commands", f[0].path, f[1].path);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, "\n500 of them may have arrived earlier than shown");
	assert_contains(r.out, "they are 100.0 % of network_transmission\n");
	assert_contains(r.out, "arrival_joined 500 network ");
	assert_contains(r.out, " arrival_joined latency=");
	recordings_free(f, 2);
}

/*
 * If one side has all points, the stages of its commands add up in each format, and its controller
 * has a name.
 */
static void commands_of_one_side_have_its_stages_and_its_controller(void **state)
{
	static const struct {
		const char *text, *json, *csv;
	} expect[NT_SIDES] = {
		[NT_HOST] = {" host_only nvme", "\"controller\":\"nvme", ",host_only,nvme"},
		[NT_TARGET] = {" target_only nqn.", "\"controller\":\"cntlid ",
			       ",target_only,cntlid "},
	};
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	c.commands = 20;
	recordings_make(f, &c);
	for (unsigned int i = 0; i < NT_SIDES; i++) {
		RUN(&r, "report", "--commands", f[i].path);
		assert_int_equal(r.status, 0);
		assert_contains(r.out, expect[i].text);
		assert_lacks(r.out, " unsplit\n");
		for (const char *at = r.out; (at = strstr(at, " latency=")); at++) {
			uint64_t sum = strtoull(at + strlen(" latency="), NULL, 10);
			const char *stage = strstr(at, "| stages ");

			assert_non_null(stage);
			for (stage = strchr(stage, '='); stage; stage = strpbrk(stage + 1, "=\n")) {
				if (*stage == '\n')
					break;
				sum -= strtoull(stage + 1, NULL, 10);
			}
			assert_int_equal(sum, 0);
		}
		RUN(&r, "report", "--commands", "--format=json", f[i].path);
		assert_contains(r.out, expect[i].json);
		assert_lacks(r.out, "\"stages\":null");
		RUN(&r, "report", "--commands", "--format=csv", f[i].path);
		assert_contains(r.out, expect[i].csv);
		assert_contains(r.out, ",send_response,cpu,pid,comm,cgroup\r\n");
		/* The last stage is the target's, and so is the stage before it of a write. */
		assert_int_equal(strstr(r.out, ",,,,,\r\n") != NULL, i == NT_HOST);
	}
	recordings_free(f, 2);
}

/* Unknown values are null, as 0 would be a number. */
static void what_a_recording_does_not_say_is_null(void **state)
{
	static const char *const unknown[] = {"probes",		  "controllers", "queues",
					      "interval_seconds", "in_flight",	 "left"};
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", "--format=json", f[0].path);
	assert_int_equal(r.status, 0);
	for (unsigned int i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		char null[64];

		snprintf(null, sizeof(null), "\"%s\":null", unknown[i]);
		assert_contains(r.out, null);
	}
	RUN(&r, "report", f[0].path);
	assert_lacks(r.out, "0 probes");
	assert_lacks(r.out, "0 queues");
	recordings_free(f, 2);
}

static bool only_queue_1(struct nt_record *r)
{
	return r->qid == 1;
}

/*
 * The connections H1-T1 and H2-T2. Each host knows only its own target; both hosts have the same
 * name.
 */
static struct traffic_config pairs_config(void)
{
	struct traffic_config c = traffic_of_one_queue();

	c.stream[2] = (struct traffic_stream){NT_HOST, 3 * (int64_t)SECOND, 0};
	c.stream[3] = (struct traffic_stream){NT_TARGET, 900 * (int64_t)SECOND, 100};
	c.nr_streams = 4;
	c.queue[1] = c.queue[0];
	c.queue[1].host = 2;
	c.queue[1].target = 3;
	c.queue[1].nqn = "nqn.2024-01.org.example:two";
	c.nr_queues = 2;
	c.commands = 4000;
	c.think_ns = 8 * MS;
	return c;
}

static void connections_name_their_machines(void **state)
{
	struct recording f[] = {
		{.header = {.hostname = "web"}},
		{.header = {.hostname = "stor\033a"}},
		{.header = {.hostname = "web"}},
		{.header = {.hostname = ""}},
	};
	struct traffic_config c = pairs_config();
	const char *line;
	char wanted[256];
	struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, f[2].path, f[3].path);
	assert_int_equal(r.status, 0);
	line = strstr(r.out, "\nconnection nqn.2024-01.org.example:one cntlid 1 queue 1: matched ");
	assert_non_null(line);
	assert_non_null(strstr(line, "; host "));
	assert_memory_equal(strstr(line, "; host "), "; host web, target stor\\x1ba\n", 29);
	line = strstr(r.out, "\nconnection nqn.2024-01.org.example:two cntlid 1 queue 1: matched ");
	assert_non_null(line);
	snprintf(wanted, sizeof(wanted), "; host web(%s), target %s\n", f[2].path, f[3].path);
	assert_contains(line, wanted);
	/* The lines of their stages differ in the same way, for people and for scripts. */
	assert_contains(r.out, "\nweb  ");
	line = strstr(r.out, "\nmerged_queue nqn.2024-01.org.example:two 1 1 read ");
	assert_non_null(line);
	snprintf(wanted, sizeof(wanted), " web(%s) %s\n", f[2].path, f[3].path);
	assert_contains(line, wanted);
	recordings_free(f, 4);
}

static void a_connection_of_one_side_names_that_side(void **state)
{
	struct recording f[] = {
		{.header = {.hostname = "web"}},
		{.header = {.hostname = "stor"}},
	};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	c.queue[1] = c.queue[0];
	c.queue[1].qid = 2;
	c.queue[1].slot = 2;
	c.nr_queues = 2;
	/* The target has no records of the second queue. */
	f[1].edit = only_queue_1;
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path);
	assert_contains(r.out, " target only 0, ambiguous 0; host web\n");
	recordings_free(f, 2);
}

/* Changes each record, so that a selection finds none. */
static bool elsewhere(struct nt_record *r)
{
	r->slba += 1ULL << 50;
	r->length += 512;
	return true;
}

static void recordings_that_do_not_match_are_each_told_with_the_reason(void **state)
{
	struct recording f[] = {
		{.header = {.hostname = "web"}},
		{.header = {.hostname = "stor"}, .edit = elsewhere},
	};
	struct traffic_config c = traffic_of_one_queue();
	char wanted[256];
	struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path);
	assert_int_equal(r.status, 0);
	snprintf(wanted, sizeof(wanted),
		 "%s: nothing of it is matched, with target stor: no command ", f[0].path);
	assert_contains(r.out, wanted);
	snprintf(wanted, sizeof(wanted), "%s: nothing of it is matched, with host web: no command ",
		 f[1].path);
	assert_contains(r.out, wanted);
	assert_contains(r.out, "\nstage read network_and_target ");
	assert_contains(r.out, "\nstage read send_response ");
	assert_contains(r.out, "\nconnection ");
	assert_lacks(r.out, "\nmerged ");
	recordings_free(f, 2);
}

static void a_host_that_does_not_match_is_told_beside_those_that_do(void **state)
{
	struct recording f[] = {
		{.header = {.hostname = "web"}},
		{.header = {.hostname = "stor"}},
		{.header = {.hostname = "mail"}},
		{.header = {.hostname = "none"}},
	};
	struct traffic_config c = pairs_config();
	char wanted[256];
	struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, f[2].path);
	assert_int_equal(r.status, 0);
	snprintf(wanted, sizeof(wanted),
		 "%s: nothing of it is matched, with target stor: they have no subsystem in common",
		 f[2].path);
	assert_contains(r.out, wanted);
	assert_contains(r.out, "\nmerged read ");
	assert_contains(r.out, "\nstage read network_and_target ");
	assert_lacks(r.out, "\nstage read send_response ");
	recordings_free(f, 4);
}

static void one_side_alone_says_that_the_other_is_not_there(void **state)
{
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", f[0].path);
	assert_contains(r.out, ": host only; add the target's recording for network and target "
			       "stages\nwrite: p50 ");
	assert_contains(r.out, "\nstage read network_and_target ");
	RUN(&r, "report", f[1].path);
	assert_contains(r.out, ": target only; add the host's recording for network and host "
			       "stages\nwrite: p50 ");
	/* A recording has neither probes nor today's date. */
	assert_lacks(r.out, "probes");
	assert_lacks(r.out, "summary of");
	recordings_free(f, 2);
}

static void assert_text(const char *out, bool text, bool lines)
{
	assert_int_equal(!strncmp(out, "write: p50 ", strlen("write: p50 ")), text);
	assert_int_equal(!!strstr(out, "\nhost  "), text);
	assert_int_equal(!!strstr(out, "\nmerged_stage read "), lines);
	assert_int_equal(!!strstr(out, "connection nqn."), lines);
	assert_int_equal(!!strstr(out, "\nnegative_stages 0 "), lines);
}

/* Reads all that the program prints on a terminal. */
static void run_at_terminal(char *text, char **words)
{
	size_t nr = 0;
	ssize_t n = 1;
	int terminal;
	pid_t pid = forkpty(&terminal, NULL, NULL, NULL);

	assert_true(pid >= 0);
	if (!pid) {
		alarm(TIMEOUT_SECONDS);
		execv(program, words);
		_exit(127);
	}
	for (; n > 0; nr += n > 0 ? (size_t)n : 0)
		n = read(terminal, text + nr, TEXT_MAX - 1 - nr);
	text[nr] = '\0';
	close(terminal);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void lines_for_scripts_are_behind_the_text_of_a_pipe_only(void **state)
{
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path);
	assert_text(r.out, true, true);
	RUN(&r, "report", f[0].path, f[1].path, "--format=text");
	assert_text(r.out, true, false);
	RUN(&r, "report", f[0].path, f[1].path, "--format=lines");
	assert_text(r.out, false, true);
	RUN(&r, "report", f[0].path, "--format=lines");
	assert_lacks(r.out, ": p50 ");
	assert_contains(r.out, "\nstage read network_and_target ");
	RUN(&r, "report", f[0].path, f[1].path, "--format=text", "-v");
	assert_contains(r.out, "\nconnection nqn.");
	RUN(&r, "report", f[0].path, f[1].path, "--format=lines", "--by=op");
	assert_int_equal(r.status, EX_USAGE);
	RUN(&r, "trace", "--host", "--format=lines");
	assert_int_equal(r.status, EX_USAGE);
	run_at_terminal(r.out, (char *[]){"ntprof-bpf", "report", f[0].path, f[1].path, NULL});
	assert_text(r.out, true, false);
	recordings_free(f, 2);
}

/* The host's wall clock is an hour ahead of the target's. */
static void what_was_recorded_says_when(void **state)
{
	struct recording f[] = {{.wall_ns = 3600 * (int64_t)SECOND}, {.wall_ns = 0}};
	struct traffic_config c = traffic_of_one_queue();
	char wanted[128];
	struct result r;

	recordings_make(f, &c);
	setenv("TZ", "Europe/Vienna", 1);
	RUN(&r, "report", f[0].path, f[1].path, "--slowest", "1");
	unsetenv("TZ");
	snprintf(wanted, sizeof(wanted), "\n%s: recorded 2024-01-01 02:00:00.000 +0100 to 2024-",
		 f[0].path);
	assert_contains(r.out, wanted);
	snprintf(wanted, sizeof(wanted), "\n%s: recorded 2024-01-01 01:00:00.000 +0100 to 2024-",
		 f[1].path);
	assert_contains(r.out, wanted);
	assert_contains(r.out, "\n  at 2024-01-01 02:00:0");
	RUN(&r, "report", f[0].path, f[1].path, "--slowest=1", "--commands", "--format=json");
	assert_contains(
		r.out,
		"{\"type\":\"command\",\"schema_version\":1,\"time\":\"2024-01-01T01:00:00.");
	assert_contains(
		r.out,
		"\"slowest\":[{\"type\":\"command\",\"schema_version\":1,\"time\":\"2024-01-01T01:00:0");
	assert_contains(r.out, "\"began\":\"2024-01-01T01:00:00.000000000Z\",\"ended\":\"2024-");
	assert_lacks(r.out, "\"time\":null");
	RUN(&r, "report", f[1].path, "--commands", "--format=csv");
	assert_contains(r.out, "type,time,monotonic_ns,seen,");
	assert_contains(r.out, "\r\ncommand,2024-01-01T00:00:00.");
	recordings_free(f, 2);
}

/* A queue of which all records were matched has no column of others. */
static void a_controller_is_one_line_whatever_its_queues(void **state)
{
	struct recording f[] = {
		{.header = {.hostname = "web"}},
		{.header = {.hostname = "stor"}},
	};
	struct traffic_config c = traffic_of_one_queue();
	const char *line;
	struct result r;

	c.queue[1] = c.queue[0];
	c.queue[1].qid = 2;
	c.queue[1].slot = 2;
	c.nr_queues = 2;
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--format=text");
	line = strstr(r.out, "\nhost  target  controller  subsystem ");
	assert_non_null(line);
	assert_contains(line, "  queues  merged\nweb   stor    nvme0 ");
	assert_contains(line, "       2     500\n\n");
	assert_lacks(line, "host only");
	f[0].told[0] = f[0].told[1] = f[1].told[0] = f[1].told[1] = false;
	recordings_free(f, 2);
	f[1].edit = only_queue_1;
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--format=text");
	assert_contains(r.out, "  queues  merged  host only\n");
	recordings_free(f, 2);
}

/* The disk is full long before the report ends, and errno is lost by then. */
static void a_full_disk_is_called_so_when_it_is_full_early(void **state)
{
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	static struct result r;

	assert_true(full >= 0);
	recordings_make(f, &c);
	run_words_to(&r, full, (char *[]){"report", f[0].path, f[1].path, "--commands", NULL});
	close(full);
	assert_int_equal(r.status, EXIT_FAILURE);
	assert_string_equal(r.err, "ntprof-bpf: cannot report: No space left on device\n");
	recordings_free(f, 2);
}

/* Its recorder was killed, or still writes. */
static void a_recording_that_breaks_off_is_no_failure(void **state)
{
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	recordings_make(f, &c);
	assert_int_equal(ftruncate(f[0].fd, lseek(f[0].fd, 0, SEEK_END) - 4), 0);
	RUN(&r, "report", f[0].path, f[1].path);
	assert_contains(r.err, f[0].path);
	assert_int_equal(r.status, 0);
	recordings_free(f, 2);
}

/* "report | head": the reader needs no more. */
static void a_reader_that_has_seen_enough_is_no_error(void **state)
{
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	static struct result r;
	int p[2];

	assert_int_equal(pipe(p), 0);
	close(p[0]);
	recordings_make(f, &c);
	run_words_to(&r, p[1], (char *[]){"report", f[0].path, f[1].path, "--commands", NULL});
	close(p[1]);
	assert_int_equal(r.status, 0);
	assert_string_equal(r.err, "");
	recordings_free(f, 2);
}

/* Starts a process that opens both FIFOs, the first one first, and then writes both recordings. */
static pid_t feed_both(const struct recording *f, char path[2][64])
{
	pid_t pid = fork();
	int fd[2];

	assert_true(pid >= 0);
	if (pid)
		return pid;
	alarm(TIMEOUT_SECONDS);
	for (unsigned int i = 0; i < 2; i++)
		fd[i] = open(path[i], O_WRONLY);
	for (unsigned int i = 0; i < 2; i++) {
		off_t from = 0;

		while (sendfile(fd[i], f[i].fd, &from, 1 << 16) > 0)
			;
	}
	_exit(0);
}

static void two_fifos_of_one_process_are_read_in_either_order(void **state)
{
	struct recording f[] = {{.edit = NULL}, {.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	char folder[] = "/tmp/test_report.XXXXXX", path[2][64];
	static struct result r;

	recordings_make(f, &c);
	assert_non_null(mkdtemp(folder));
	for (unsigned int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/%u", folder, i);
		assert_int_equal(mkfifo(path[i], 0600), 0);
	}
	for (unsigned int first = 0; first < 2; first++) {
		pid_t pid = feed_both(f, path);

		RUN(&r, "report", path[first], path[!first]);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		assert_int_equal(r.status, 0);
		assert_contains(r.out, "matched 500, host only 0, target only 0,");
	}
	for (unsigned int i = 0; i < 2; i++)
		unlink(path[i]);
	rmdir(folder);
	recordings_free(f, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_in_which_nothing_ended_has_a_duration),
		cmocka_unit_test(a_full_disk_is_called_so_when_it_is_full_early),
		cmocka_unit_test(a_recording_that_ends_before_it_begins_lasted_no_time),
		cmocka_unit_test(a_command_whose_points_run_backwards_has_no_latency),
		cmocka_unit_test(stages_beside_a_point_that_one_side_lacks_are_joined),
		cmocka_unit_test(stages_beside_points_that_both_sides_lack_are_joined),
		cmocka_unit_test(stages_beside_a_missing_point_are_joined_in_a_report_of_one_side),
		cmocka_unit_test(
			commands_that_waited_for_what_tcp_sent_again_are_selected_and_counted),
		cmocka_unit_test(what_rests_on_arrivals_that_are_not_known_is_told),
		cmocka_unit_test(commands_of_one_side_have_its_stages_and_its_controller),
		cmocka_unit_test(what_a_recording_does_not_say_is_null),
		cmocka_unit_test(connections_name_their_machines),
		cmocka_unit_test(a_connection_of_one_side_names_that_side),
		cmocka_unit_test(recordings_that_do_not_match_are_each_told_with_the_reason),
		cmocka_unit_test(a_host_that_does_not_match_is_told_beside_those_that_do),
		cmocka_unit_test(one_side_alone_says_that_the_other_is_not_there),
		cmocka_unit_test(lines_for_scripts_are_behind_the_text_of_a_pipe_only),
		cmocka_unit_test(what_was_recorded_says_when),
		cmocka_unit_test(a_controller_is_one_line_whatever_its_queues),
		cmocka_unit_test(a_recording_that_breaks_off_is_no_failure),
		cmocka_unit_test(a_reader_that_has_seen_enough_is_no_error),
		cmocka_unit_test(two_fifos_of_one_process_are_read_in_either_order),
	};

	return cmocka_run_group_tests_name("report", tests, find_program, NULL);
}
