// SPDX-License-Identifier: GPL-2.0-only
/*
 * report --html: what the file has in it, and what it replaces. With NTPROF_HTML=FOLDER in the
 * environment the files stay there: a browser opens them in tests/formats/html.sh.
 */
#include <sys/resource.h>
#include <sys/stat.h>

#include "cli/recordings.h"
#include "core/hash.h"
#include "merge/tcp_history.h"

/* A name that ends a script, a comment, an attribute and a style sheet. */
#define NAME "</script></style>--><img src=x onerror=\"alert(1)\" '>"

static char folder[128];
static char *page;

static int setup(void **state)
{
	const char *kept = getenv("NTPROF_HTML");

	snprintf(folder, sizeof(folder), "%s", kept ?: "/tmp/ntprof-html.XXXXXX");
	if (!kept && !mkdtemp(folder))
		return -1;
	return find_program(state);
}

static int teardown(void **state)
{
	return getenv("NTPROF_HTML") ? 0 : rmdir(folder);
}

static char *path_of(const char *name)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void read_page(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t size = 0;

	assert_non_null(f);
	free(page);
	page = NULL;
	assert_true(getdelim(&page, &size, '\0', f) > 0);
	fclose(f);
	if (!getenv("NTPROF_HTML"))
		unlink(path);
}

static void name_queue(struct queue_info *q)
{
	snprintf(q->subsysnqn, sizeof(q->subsysnqn), "%s", NAME);
	snprintf(q->hostnqn, sizeof(q->hostnqn), "%s", NAME);
	snprintf(q->address, sizeof(q->address), "%s", NAME);
}

static bool some_fail(struct nt_record *r)
{
	if (r->cid % 5 == 0)
		r->status = 0x281;
	return true;
}

static void hostile(struct recording f[2], unsigned int commands)
{
	struct traffic_config c = traffic_of_one_queue();

	for (unsigned int i = 0; i < 2; i++) {
		f[i] = (struct recording){.edit = some_fail, .edit_queue = name_queue};
		snprintf(f[i].header.hostname, sizeof(f[i].header.hostname), "%s", NAME);
		snprintf(f[i].header.kernel, sizeof(f[i].header.kernel), "%s", NAME);
		snprintf(f[i].header.selection, sizeof(f[i].header.selection), "%s", NAME);
	}
	c.commands = commands;
	recordings_make(f, &c);
}

static void names_are_text(void **state)
{
	struct recording f[2];
	struct result r;

	hostile(f, 500);
	RUN(&r, "report", f[0].path, f[1].path, "--html", path_of("hostile.html"), "--nqn", NAME);
	assert_int_equal(r.status, 0);
	assert_string_equal(r.err, "");
	read_page(path_of("hostile.html"));
	assert_lacks(page, "<img");
	assert_lacks(page, "onerror=\"");
	assert_contains(page, "&lt;/script&gt;&lt;/style&gt;--&gt;&lt;img src=x onerror=&quot;");
	recordings_free(f, 2);
}

/* Recordings of hosts and targets with states of TCP, and of a host with events. */
static struct recording *eventful;
static unsigned int seen[NT_SIDES];

static bool with_events(struct nt_record *r)
{
	static const uint16_t states[] = {NT_PATH_RESETTING, NT_PATH_CONNECTING, NT_PATH_LIVE};
	const unsigned int number = seen[r->side]++;
	const uint64_t ns = r->points[r->side == NT_HOST ? NT_H_SEND_CMD : NT_T_CMD];
	struct stream_event e = {.type = STREAM_TCP};

	if (number % 20 == 0) {
		e.tcp.slot = r->slot;
		e.tcp.gen = r->gen;
		e.tcp.ns = ns;
		e.tcp.state = (struct nt_tcp_state){
			.srtt_us = 100 + number,
			.snd_cwnd = 10 + number / 100,
			.total_retrans = number / 50,
			.jiffies = 1000 + number,
			.bytes_sent = 4096 * number,
		};
		recording_put(&eventful[r->side], &e);
	}
	if (r->side == NT_HOST && number % 100 == 50) {
		e = (struct stream_event){.type = STREAM_PATH};
		e.path.ns = ns;
		e.path.instance = 1;
		e.path.kind = number < 300 ? NT_PATH_STATE : NT_PATH_TIMEOUT;
		e.path.state = number < 300 ? states[number / 100] : 0;
		e.path.qid = number < 300 ? 0 : 1;
		snprintf(e.path.subsysnqn, sizeof(e.path.subsysnqn), "%s", NAME);
		recording_put(&eventful[NT_HOST], &e);
	}
	return true;
}

/* The host has 5 connections more than a recording has room for, before those of the target. */
static bool with_connections(struct nt_record *r)
{
	struct stream_event e = {.type = STREAM_TCP, .tcp = {.gen = 1, .ns = 1}};
	const unsigned int nr = r->side == NT_HOST ? TCP_HISTORY_QUEUES + 5 : 1;

	if (!seen[r->side]++)
		for (; e.tcp.slot < nr; e.tcp.slot++)
			recording_put(&eventful[r->side], &e);
	return true;
}

static void connections_past_the_limit_are_counted_for_each_recording(void **state)
{
	struct recording f[2] = {{.edit = with_connections}, {.edit = with_connections}};
	struct traffic_config c = traffic_of_one_queue();
	static struct result r;

	eventful = f;
	memset(seen, 0, sizeof(seen));
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path);
	assert_int_equal(r.status, 0);
	assert_contains(r.out, ": TCP connections and times that found no room 5\n");
	assert_null(strstr(strstr(r.out, "found no room") + 1, "found no room"));
	recordings_free(f, 2);
}

static void keep_output(const char *name, const char *text)
{
	FILE *f = fopen(path_of(name), "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Browsers and protoc look at these files, too: tests/formats. */
static void events_and_tcp_have_marks_curves_and_tables(void **state)
{
	struct recording f[2] = {{.edit = with_events, .edit_queue = name_queue},
				 {.edit = with_events, .edit_queue = name_queue}};
	static const char *const names[] = {"db1", "array"};
	struct traffic_config c = traffic_of_one_queue();
	static struct result r;
	char *trace;

	eventful = f;
	for (unsigned int i = 0; i < 2; i++)
		snprintf(f[i].header.hostname, sizeof(f[i].header.hostname), "%s", names[i]);
	memset(seen, 0, sizeof(seen));
	recordings_make(f, &c);
	trace = strdup(path_of("events.trace"));
	RUN(&r, "report", f[0].path, f[1].path, "--html", path_of("events.html"), "--perfetto",
	    trace, "--tcp", "--format=json");
	assert_int_equal(r.status, 0);
	assert_string_equal(r.err, "");
	if (getenv("NTPROF_HTML"))
		keep_output("events.json", r.out);
	else
		unlink(trace);
	free(trace);
	read_page(path_of("events.html"));
	assert_contains(page, "<title>1: nvme1 resetting</title>");
	assert_contains(page,
			"<title>4: nvme1 timeout: queue 1, command id 0, opcode 0x00</title>");
	assert_contains(page, "<table id='merged-events'");
	assert_contains(page, "id='merged-tcp-0-over-time-0'");
	assert_contains(page, "<table id='merged-tcp-0-rows'");
	assert_contains(page, "<table id='merged-tcp-1-rows'");
	assert_lacks(page, "<img");
	/* Of one side alone. */
	RUN(&r, "report", f[0].path, "--html", path_of("host-events.html"));
	assert_int_equal(r.status, 0);
	read_page(path_of("host-events.html"));
	assert_contains(page, "<title>1: nvme1 resetting</title>");
	assert_contains(page, "<table id='input0-tcp-0-rows'");
	assert_lacks(page, "input0-tcp-1");
	recordings_free(f, 2);
}

static bool with_endless_events(struct nt_record *r)
{
	struct stream_event e = {.type = STREAM_PATH};

	e.path.ns = r->points[NT_H_SEND_CMD];
	recording_put(&eventful[NT_HOST], &e);
	return true;
}

static void of_endless_events_the_last_have_marks_and_the_others_are_counted(void **state)
{
	struct recording f[2] = {{.edit = with_endless_events}, {.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	eventful = f;
	c.commands = 1500;
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--html", path_of("endless.html"));
	assert_int_equal(r.status, 0);
	read_page(path_of("endless.html"));
	assert_contains(page, "<p>Earlier events that have no mark: 1450</p>");
	assert_contains(page, "<th scope=row data-v=50>50<td");
	assert_lacks(page, "<th scope=row data-v=51>");
	recordings_free(f, 2);
}

/* The host's queue, and 299 more that have states and nothing else. */
static bool with_many_connections(struct nt_record *r)
{
	struct stream_event e = {.type = STREAM_TCP};

	for (unsigned int i = 0; r->side == NT_HOST && !seen[NT_HOST] && i < 300; i++) {
		e.tcp.slot = r->slot + i;
		e.tcp.gen = r->gen;
		e.tcp.ns = r->points[NT_H_SEND_CMD];
		e.tcp.state.snd_cwnd = 10;
		recording_put(&eventful[NT_HOST], &e);
	}
	seen[r->side]++;
	return true;
}

static void tcp_connections_without_room_are_counted(void **state)
{
	struct recording f[2] = {{.edit = with_many_connections}, {.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	char *trace = strdup(path_of("many.trace"));
	struct result r;

	eventful = f;
	memset(seen, 0, sizeof(seen));
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--html", path_of("many.html"), "--perfetto",
	    trace);
	assert_int_equal(r.status, 0);
	assert_string_equal(r.err, "ntprof-bpf: 44 TCP connections found no room in the trace, "
				   "which has those of 256\n");
	read_page(path_of("many.html"));
	assert_contains(page, "<p>200 more.</p>");
	unlink(trace);
	free(trace);
	recordings_free(f, 2);
}

/* One connection of a host and a target, each with a slot of its own. */
static bool with_a_state(struct nt_record *r)
{
	struct stream_event e = {.type = STREAM_TCP};

	e.tcp.slot = r->slot;
	e.tcp.gen = r->gen;
	e.tcp.ns = r->points[r->side == NT_HOST ? NT_H_SEND_CMD : NT_T_CMD];
	e.tcp.state.snd_cwnd = 10;
	recording_put(&eventful[2 * (r->slot % 100 - 1) + r->side], &e);
	return true;
}

static void tcp_of_many_recordings_is_counted(void **state)
{
	struct recording f[6] = {{.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	for (unsigned int i = 0; i < 6; i++) {
		f[i].edit = with_a_state;
		c.stream[i] = c.stream[i % 2];
	}
	for (unsigned int i = 0; i < 3; i++) {
		c.queue[i] = c.queue[0];
		c.queue[i].host = 2 * i;
		c.queue[i].target = 2 * i + 1;
		c.queue[i].slot = i + 1;
	}
	c.queue[1].nqn = "nqn.2024-01.org.example:two";
	c.queue[2].nqn = "nqn.2024-01.org.example:three";
	c.nr_streams = 6;
	c.nr_queues = 3;
	c.commands = 3000;
	eventful = f;
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, f[2].path, f[3].path, f[4].path, f[5].path,
	    "--html", path_of("six.html"));
	assert_int_equal(r.status, 0);
	read_page(path_of("six.html"));
	assert_contains(page, "<table id='merged-tcp-3-rows'");
	assert_lacks(page, "<table id='merged-tcp-4-rows'");
	assert_contains(page, "<p>Further recordings of TCP connections: 2</p>");
	recordings_free(f, 6);
}

static bool without_a_beginning(struct nt_record *r)
{
	if (r->side != NT_HOST)
		return true;
	with_a_state(r);
	r->points[NT_H_SUBMIT] = r->points[NT_H_QUEUE_RQ] = 0;
	return true;
}

/* Merged commands of which none has a time at which it began: there is no axis of time. */
static void tcp_without_a_beginning_of_any_command_has_no_part(void **state)
{
	struct recording f[2] = {{.edit = without_a_beginning}, {.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	eventful = f;
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--html", path_of("timeless.html"));
	assert_int_equal(r.status, 0);
	read_page(path_of("timeless.html"));
	assert_contains(page, "id='merged-verdict'");
	assert_lacks(page, "<h2>TCP</h2>");
	recordings_free(f, 2);
}

static void recordings_without_events_and_tcp_have_no_such_parts(void **state)
{
	struct recording f[2];
	struct result r;

	hostile(f, 100);
	RUN(&r, "report", f[0].path, f[1].path, "--html", path_of("without.html"));
	assert_int_equal(r.status, 0);
	read_page(path_of("without.html"));
	assert_lacks(page, "Events of controllers");
	assert_lacks(page, "<h2>TCP</h2>");
	assert_lacks(page, "class=ev");
	recordings_free(f, 2);
}

static void other_outputs_stay_as_they_are(void **state)
{
	static char *const options[] = {"--format=text", "--format=json", "--slowest=2"};
	struct recording f[2];
	struct result with, without;

	hostile(f, 100);
	for (unsigned int i = 0; i < ARRAY_SIZE(options); i++) {
		RUN(&without, "report", f[0].path, f[1].path, options[i]);
		RUN(&with, "report", f[0].path, f[1].path, options[i], "--html",
		    path_of("other.html"));
		assert_int_equal(with.status, 0);
		assert_string_equal(with.out, without.out);
	}
	unlink(path_of("other.html"));
	recordings_free(f, 2);
}

static void one_side_has_its_own_stages(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.edit = NULL}};
	struct result r;

	recordings_make(f, &c);
	for (unsigned int side = 0; side < 2; side++) {
		RUN(&r, "report", f[side].path, "--html",
		    path_of(side ? "target.html" : "host.html"));
		assert_int_equal(r.status, 0);
		read_page(path_of(side ? "target.html" : "host.html"));
		assert_contains(page, side ? "network_<wbr>and_<wbr>host"
					   : "network_<wbr>and_<wbr>target");
		assert_contains(page, "<h2>Heat map</h2>");
		assert_contains(page, "<h2>Fast and slow commands</h2>");
		assert_contains(page, "<h2>Slowest</h2>");
		assert_contains(page, side ? "<td class=t>exec<td" : "<td class=t>queue_rq<td");
	}
	recordings_free(f, 2);
}

static bool on_two_disks(struct nt_record *r)
{
	r->nsid = 1 + r->cid % 2;
	return true;
}

/* Where there is one namespace its rows would be those of the controller. */
static void namespaces_have_rows_where_there_are_several(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	for (unsigned int several = 0; several < 2; several++) {
		struct recording f[2] = {{.edit = several ? on_two_disks : NULL},
					 {.edit = several ? on_two_disks : NULL}};

		recordings_make(f, &c);
		for (unsigned int nr = 1; nr <= 2; nr++) {
			unlink(path_of("disks.html"));
			RUN(&r, "report", "--html", path_of("disks.html"), f[0].path,
			    nr > 1 ? f[1].path : "-v");
			assert_int_equal(r.status, 0);
			read_page(path_of("disks.html"));
			assert_contains(page, "<h3>controllers</h3>");
			if (!several) {
				assert_lacks(page, "<h3>namespaces</h3>");
				continue;
			}
			assert_contains(page, "<h3>namespaces</h3>");
			assert_contains(page, "<td class=n data-v=1>1<td class=t>read");
			assert_contains(page, "<td class=n data-v=2>2<td class=t>read");
		}
		recordings_free(f, 2);
	}
}

static bool nothing(struct nt_record *r)
{
	return false;
}

static void an_empty_recording_has_a_report(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.edit = nothing}, {.edit = nothing}};
	struct result r;

	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, "--html", path_of("empty.html"));
	assert_int_equal(r.status, 0);
	read_page(path_of("empty.html"));
	assert_contains(page, "What was recorded");
	recordings_free(f, 2);
}

static bool only_the_first(struct nt_record *r)
{
	return !seen[r->side]++;
}

/* Axes have labels, a point without a neighbour can be seen, and half a command is in no band. */
static void a_single_command_can_be_seen(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.edit = only_the_first}, {.edit = only_the_first}};
	struct result r;
	char *curve;

	memset(seen, 0, sizeof(seen));
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, "--html", path_of("one.html"));
	assert_int_equal(r.status, 0);
	read_page(path_of("one.html"));
	assert_contains(page, "h8'/>");
	assert_contains(page, "<h2>Heat map</h2>");
	assert_lacks(page, "<h2>Fast and slow commands</h2>");
	curve = strstr(page, "over-time-0'");
	assert_non_null(curve);
	*strstr(curve, "</svg>") = '\0';
	assert_contains(curve, "class=e>200us</text>");
	recordings_free(f, 2);
}

/* Nor has the navigation links to parts that are not there. */
static void a_selection_of_nothing_is_said(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.edit = NULL}};
	struct result r;

	recordings_make(f, &c);
	for (unsigned int nr = 1; nr <= 2; nr++) {
		RUN(&r, "report", "--html", path_of("none.html"), "--where", "latency>100s",
		    f[0].path, nr > 1 ? f[1].path : "-v");
		assert_int_equal(r.status, 0);
		read_page(path_of("none.html"));
		assert_contains(page, nr > 1 ? "Selected: 0 of 500 merged commands."
					     : "Selected: 0 of 500 commands.");
		assert_contains(page, "<section id=recordings>");
		assert_lacks(page, "heat-map");
	}
	recordings_free(f, 2);
}

/* The text's line on slow commands, and a table for the bars. */
static void the_answer_says_where_slow_commands_come_from(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.edit = NULL}};
	struct result r;
	char *line, *end;

	c.commands = 5000;
	recordings_make(f, &c);
	RUN(&r, "report", f[0].path, f[1].path, "--html", path_of("slow.html"));
	assert_int_equal(r.status, 0);
	read_page(path_of("slow.html"));
	line = strstr(r.out, "the slowest ");
	assert_non_null(line);
	end = strchr(line, '\n');
	assert_non_null(end);
	*end = '\0';
	assert_contains(page, "<p class=why>");
	assert_contains(strstr(page, "<p class=why>"), line);
	assert_contains(page, "<table id='merged-bands-read' class=sort>");
	assert_contains(strstr(page, "merged-bands-read"),
			"<tr><th scope=row>network_transmission");
	recordings_free(f, 2);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void only_a_report_is_replaced(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.edit = NULL}};
	char *path = strdup(path_of("file.html"));
	struct result r;

	recordings_make(f, &c);
	write_file(path, "something else");
	RUN(&r, "report", f[0].path, "--html", path);
	assert_int_equal(r.status, 1);
	assert_contains(r.err, "it is there already, and is no such report\n");
	assert_string_equal(r.out, "");
	read_page(path);
	assert_string_equal(page, "something else");
	unlink(path);
	for (unsigned int i = 0; i < 2; i++) {
		RUN(&r, "report", f[0].path, "--html", path);
		assert_int_equal(r.status, 0);
	}
	unlink(path);
	RUN(&r, "report", f[0].path, "--html", "/nowhere/file.html");
	assert_int_equal(r.status, 1);
	assert_string_equal(r.err, "ntprof-bpf: --html /nowhere/file.html: "
				   "No such file or directory\n");
	free(path);
	recordings_free(f, 2);
}

/* It is not read first: that would wait for a writer. */
static void a_message_says_why_a_file_is_not_written(void **state)
{
	const char *path = path_of("full.html");
	struct recording f[2] = {{.edit = NULL}};
	struct rlimit all, limit;
	char message[300];
	struct result r;

	hostile(f, 100);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
	signal(SIGXFSZ, SIG_IGN);
	limit = all;
	limit.rlim_cur = 20000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	RUN(&r, "report", f[0].path, f[1].path, "--format=csv", "--html", (char *)path);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
	assert_int_equal(r.status, 1);
	snprintf(message, sizeof(message), "ntprof-bpf: --html %s: %s\n", path, strerror(EFBIG));
	assert_string_equal(r.err, message);
	assert_int_equal(access(path, F_OK), -1);
	recordings_free(f, 2);
}

static void a_fifo_gets_the_report(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.edit = NULL}};
	char *path = strdup(path_of("fifo"));
	struct result r;
	int status;
	pid_t pid;

	recordings_make(f, &c);
	assert_int_equal(mkfifo(path, 0600), 0);
	pid = fork();
	if (!pid) {
		alarm(TIMEOUT_SECONDS);
		execlp("grep", "grep", "-q", "</html>", path, (char *)NULL);
		_exit(127);
	}
	RUN(&r, "report", f[0].path, "--html", path);
	assert_int_equal(r.status, 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	unlink(path);
	free(path);
	recordings_free(f, 2);
}

/* Runs the report, whose options end with a FIFO, of which 10 bytes are read at the most. */
static void run_to_a_reader_that_leaves(struct result *r, char **words, const char *path)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		alarm(TIMEOUT_SECONDS);
		close(open(path, O_RDONLY));
		_exit(0);
	}
	run_words(r, words);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Otherwise nobody would learn that a file is not whole. */
static void a_fifo_whose_reader_leaves_is_a_failure(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	struct recording f[2] = {{.edit = NULL}};
	char *path = strdup(path_of("fifo"));
	char *const options[] = {"--html", "--perfetto", "--fio-job"};
	struct result r;
	int out[2];

	/* More than a pipe takes. */
	c.commands = 1000;
	recordings_make(f, &c);
	assert_int_equal(mkfifo(path, 0600), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(options); i++) {
		char *words[] = {"report", f[0].path, options[i], path, NULL};
		char message[300];

		run_to_a_reader_that_leaves(&r, words, path);
		assert_int_equal(r.status, 1);
		snprintf(message, sizeof(message), "ntprof-bpf: %s %s: %s\n", options[i], path,
			 strerror(EPIPE));
		assert_contains(r.err, message);
	}
	run_to_a_reader_that_leaves(
		&r,
		(char *[]){"report", "--html", path, "--compare", f[0].path, "--", f[1].path, NULL},
		path);
	assert_int_equal(r.status, 2);
	assert_contains(r.err, strerror(EPIPE));
	/* The reader of the output may have seen enough. */
	assert_int_equal(pipe(out), 0);
	close(out[0]);
	run_words_to(&r, out[1], (char *[]){"report", f[0].path, NULL});
	close(out[1]);
	assert_int_equal(r.status, 0);
	assert_string_equal(r.err, "");
	unlink(path);
	free(path);
	recordings_free(f, 2);
}

/* Nor is one that another user has put there, which might never have a writer. */
static void a_fifo_of_another_user_is_refused(void **state)
{
	struct traffic_config c = traffic_of_one_queue();
	char *path = strdup(path_of("shared/fifo")), *shared = strdup(path_of("shared"));
	struct recording f[2] = {{.edit = NULL}};
	struct result r;

	if (geteuid())
		skip();
	recordings_make(f, &c);
	assert_int_equal(mkdir(shared, 0700), 0);
	assert_int_equal(chmod(shared, 01777), 0);
	assert_int_equal(mkfifo(path, 0666), 0);
	assert_int_equal(chown(path, 1234, 1234), 0);
	RUN(&r, "report", f[0].path, "--html", path);
	assert_int_equal(r.status, 1);
	assert_contains(r.err, "Operation not permitted\n");
	unlink(path);
	rmdir(shared);
	free(path);
	free(shared);
	recordings_free(f, 2);
}

/* The file does not grow with the recording. */
static void a_long_recording_has_no_larger_file(void **state)
{
	size_t size[2];

	for (unsigned int i = 0; i < 2; i++) {
		struct recording f[2] = {{.edit = with_events}, {.edit = with_events}};
		struct traffic_config c = traffic_of_one_queue();
		struct result r;

		eventful = f;
		memset(seen, 0, sizeof(seen));
		c.commands = i ? 100000 : 20000;
		recordings_make(f, &c);
		RUN(&r, "report", f[0].path, f[1].path, "--html", path_of("long.html"));
		assert_int_equal(r.status, 0);
		read_page(path_of("long.html"));
		size[i] = strlen(page);
		recordings_free(f, 2);
	}
	assert_true(size[1] < 2 * size[0]);
	assert_true(size[1] < 1 << 20);
}

static void a_trace_has_room_for_few_commands(void **state)
{
	struct recording f[2] = {{.edit = NULL}};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	c.commands = 1000;
	recordings_make(f, &c);
	for (unsigned int max = 1; max <= 4; max++) {
		char option[32], left_out[64];

		snprintf(option, sizeof(option), "--perfetto-max=%u", max);
		snprintf(left_out, sizeof(left_out), "%u commands found no room", 1000 - max);
		RUN(&r, "report", f[0].path, f[1].path, "--perfetto", path_of("few"), option);
		assert_int_equal(r.status, 0);
		if (max == 1)
			assert_contains(r.err, left_out);
		assert_contains(r.err, " commands found no room");
		unlink(path_of("few"));
	}
	recordings_free(f, 2);
}

/* Of 64 bits, and each at a place of its own. */
static bool at_any_time(struct nt_record *r)
{
	struct stream_event e = {.type = STREAM_TCP};

	e.tcp.slot = r->slot;
	e.tcp.gen = r->gen;
	e.tcp.ns = hash_mix(seen[r->side]++);
	e.tcp.state.srtt_us = e.tcp.state.total_retrans = (uint32_t)e.tcp.ns;
	recording_put(&eventful[r->side], &e);
	e = (struct stream_event){.type = STREAM_PATH, .path.ns = hash_mix(seen[r->side])};
	if (r->side == NT_HOST)
		recording_put(&eventful[NT_HOST], &e);
	for (unsigned int i = 0; i < NT_POINTS_MAX; i++)
		if (r->points[i])
			r->points[i] += hash_mix(r->points[i] + i) >> r->cid % 3;
	return true;
}

/* They are nonsense, and so are the figures; the sanitizers see what is computed from them. */
static void times_that_no_clock_has_do_no_harm(void **state)
{
	static char *const options[] = {"--commands", "--slowest=9", "--format=csv", "--detail",
					"--by=op,size"};
	struct recording f[2] = {{.edit = at_any_time}, {.edit = at_any_time}};
	struct traffic_config c = traffic_of_one_queue();
	struct result r;

	eventful = f;
	c.commands = 300;
	recordings_make(f, &c);
	for (unsigned int i = 0; i < ARRAY_SIZE(options); i++) {
		for (unsigned int side = 0; side < 2; side++) {
			RUN(&r, "report", f[side].path, options[i], "--html=/dev/null",
			    "--perfetto=/dev/null");
			assert_string_equal(r.err, "");
			assert_int_equal(r.status, 0);
		}
	}
	recordings_free(f, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_text),
		cmocka_unit_test(connections_past_the_limit_are_counted_for_each_recording),
		cmocka_unit_test(events_and_tcp_have_marks_curves_and_tables),
		cmocka_unit_test(of_endless_events_the_last_have_marks_and_the_others_are_counted),
		cmocka_unit_test(tcp_connections_without_room_are_counted),
		cmocka_unit_test(tcp_of_many_recordings_is_counted),
		cmocka_unit_test(tcp_without_a_beginning_of_any_command_has_no_part),
		cmocka_unit_test(recordings_without_events_and_tcp_have_no_such_parts),
		cmocka_unit_test(other_outputs_stay_as_they_are),
		cmocka_unit_test(one_side_has_its_own_stages),
		cmocka_unit_test(namespaces_have_rows_where_there_are_several),
		cmocka_unit_test(an_empty_recording_has_a_report),
		cmocka_unit_test(a_single_command_can_be_seen),
		cmocka_unit_test(a_selection_of_nothing_is_said),
		cmocka_unit_test(the_answer_says_where_slow_commands_come_from),
		cmocka_unit_test(only_a_report_is_replaced),
		cmocka_unit_test(a_message_says_why_a_file_is_not_written),
		cmocka_unit_test(a_fifo_gets_the_report),
		cmocka_unit_test(a_fifo_whose_reader_leaves_is_a_failure),
		cmocka_unit_test(a_fifo_of_another_user_is_refused),
		cmocka_unit_test(a_long_recording_has_no_larger_file),
		cmocka_unit_test(a_trace_has_room_for_few_commands),
		cmocka_unit_test(times_that_no_clock_has_do_no_harm),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
