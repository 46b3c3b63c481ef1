// SPDX-License-Identifier: GPL-2.0-only
#include "cli/report_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"
#include "merge/places.h"
#include "view/commands.h"
#include "view/connections.h"
#include "view/csv.h"
#include "view/groups.h"
#include "view/head.h"
#include "view/histograms.h"
#include "view/html.h"
#include "view/json_report.h"
#include "view/losses.h"
#include "view/numbers.h"
#include "view/path_events.h"
#include "view/pcap.h"
#include "view/rows.h"
#include "view/stages.h"
#include "view/streams.h"
#include "view/tcp_table.h"
#include "view/verdict.h"
#include "view/view.h"
#include "view/why.h"

/*
 * Room for the device names in the message that a device was not found: those of the first input
 * that has any.
 */
#define DEVICES_LEN 512

/* When the first command of an input began; of one without commands, when the recording did. */
static uint64_t began_ns(const struct report *r, unsigned int i)
{
	return unmatched_began_ns(r->unmatched, i) ?: r->inputs[i].clock.monotonic_ns;
}

/*
 * The events of an input, sorted by time. MERGE_NO_STREAM: of all inputs that have matched records.
 * Return: 0 or -ENOMEM
 */
static int path_lines_make(const struct report *r, unsigned int input, struct path_lines *p)
{
	*p = (struct path_lines){.line = calloc(r->path_events.nr + 1, sizeof(*p->line))};
	if (!p->line)
		return -ENOMEM;
	for (size_t i = 0; i < r->path_events.nr; i++) {
		const struct nt_path_event *e = path_events_at(&r->path_events, i);

		if (input == MERGE_NO_STREAM ? !r->matched[e->input] : input != e->input)
			continue;
		p->line[p->nr++] = (struct path_line){
			.e = e,
			.after_ns = (int64_t)(e->ns - began_ns(r, e->input)),
			.machine = report_several_hosts(r)
					   ? machines_get(&r->machines, e->input)->name
					   : "",
		};
	}
	path_lines_sort(p);
	return 0;
}

static unsigned int count_of(const struct report *r, enum nt_side side)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < r->nr; i++)
		n += r->inputs[i].begun && r->inputs[i].header.side == side;
	return n;
}

/* All parts of origins, bits NT_ORIGIN_*. */
#define ORIGINS (NT_ORIGIN_PLACE | NT_ORIGIN_TASK)

/*
 * The first option that asks for one of these parts of origins, or that is --by with a key that has
 * one of @bits. @key: set to that key, else to "". Return: NULL if there is none
 */
static const char *asks_for(const struct report *r, unsigned int parts, unsigned int bits,
			    const char **key)
{
	static const struct group_by none;
	static const struct select all;
	const struct group_by *by = r->choice ? &r->choice->grouping.by : &none;
	const struct select *s = r->filter ? &r->filter->select : &all;
	const struct {
		const char *option;
		bool given;
		unsigned int part;
	} selects[] = {
		{"--cgroup", s->cgroup[0], NT_ORIGIN_PLACE},
		{"--pid", s->pids.nr, NT_ORIGIN_TASK},
		{"--comm", s->comm[0], NT_ORIGIN_TASK},
	};
	enum group_key needs = group_by_needs(by, bits);

	*key = "";
	for (size_t i = 0; i < ARRAY_SIZE(selects); i++)
		if (selects[i].given && selects[i].part & parts)
			return selects[i].option;
	if (needs == GROUP_KEYS_NR)
		return NULL;
	*key = group_key_name(needs);
	return "--by ";
}

bool report_lacks(const struct report *r)
{
	bool begun = false, host = false;
	const char *option, *key;
	unsigned int lacks;

	if (r->choice && r->choice->grouping.seconds && count_of(r, NT_HOST) > 1 &&
	    count_of(r, NT_TARGET)) {
		fprintf(stderr,
			"ntprof-bpf: --stats %s: the seconds of several hosts' recordings are not "
			"the same ones: report the targets' alone, or one host at a time\n",
			figures_low(&r->choice->figures)->title);
		return true;
	}
	for (unsigned int i = 0; i < r->nr; i++) {
		const struct input *in = &r->inputs[i];

		if (r->filter && filter_needs_end(r->filter) && !in->again) {
			fprintf(stderr,
				"ntprof-bpf: --time: %s is no file, so its end is not known before "
				"it is read\n",
				in->path);
			return true;
		}
		begun |= in->begun;
		if (!in->begun || in->header.side != NT_HOST)
			continue;
		host = true;
		lacks = ORIGINS & ~in->header.origins;
		option = asks_for(r, lacks, GROUP_OF(lacks), &key);
		if (!option)
			continue;
		fprintf(stderr,
			"ntprof-bpf: %s%s: %s does not tell it: record it with ntprof-bpf record "
			"--host --origin\n",
			option, key, in->path);
		return true;
	}
	option = begun && !host ? asks_for(r, ORIGINS, GROUP_OF_HOST, &key) : NULL;
	if (!option)
		return false;
	fprintf(stderr, "ntprof-bpf: %s%s: only a host's recording tells it, and none is there\n",
		option, key);
	return true;
}

/*
 * For merged commands the host's names of devices count. The target's count only if there is no
 * recording of a host.
 */
bool report_no_device(const struct report *r)
{
	const struct select *s = r->filter ? &r->filter->select : NULL;
	char names[DEVICES_LEN] = "", shown[DEVICES_LEN];
	bool host = false, begun = false;

	if (!s || !s->device)
		return false;
	for (unsigned int i = 0; i < r->nr; i++)
		host |= r->inputs[i].begun && r->inputs[i].header.side == NT_HOST;
	for (unsigned int i = 0; i < r->nr; i++) {
		const struct input *in = &r->inputs[i];

		if (!in->begun || (host && in->header.side != NT_HOST))
			continue;
		begun = true;
		if (places_devices(r->places[i], s->device, shown, sizeof(shown)))
			return false;
		if (!names[0])
			text_copy(names, sizeof(names), shown, TEXT_MARK);
	}
	/* If no input is a recording, another message says so. */
	if (!begun)
		return false;
	fprintf(stderr, "ntprof-bpf: %s%s--device %s: ", s->device_origin ?: "",
		s->device_origin ? ": " : "",
		text_copy(shown, sizeof(shown), s->device, TEXT_MARK));
	if (names[0])
		fprintf(stderr, "no %s recording has it: there are %s\n",
			host ? "host's" : "target's", names);
	else
		fprintf(stderr, "the recording has no names of devices: take --nqn and --nsid\n");
	return true;
}

/*
 * The time that the filter takes of any host's recording: each has its own clock. Return: how much
 * of it, if it is not all
 */
static uint64_t bounds_of_hosts(const struct report *r, uint64_t *from, uint64_t *to)
{
	uint64_t first = UINT64_MAX, last = 0, taken = 0;

	for (unsigned int i = 0; i < r->nr; i++) {
		uint64_t begin = *from, end = *to, part;

		if (!r->inputs[i].begun || r->inputs[i].header.side != NT_HOST)
			continue;
		part = filter_bounds(unmatched_span(r->unmatched, i),
				     unmatched_began_ns(r->unmatched, i), &begin, &end);
		taken = part > taken ? part : taken;
		first = begin < first ? begin : first;
		last = end > last ? end : last;
	}
	*from = first > *from && first != UINT64_MAX ? first : *from;
	*to = last < *to ? last : *to;
	return taken;
}

static int report_groups_finish(struct report *r)
{
	uint64_t from = r->first_ns, to = r->last_ns, burst = 0, taken = 0;

	if (r->filter)
		taken = bounds_of_hosts(r, &from, &to);
	for (unsigned int i = 0; i < r->nr; i++)
		if (r->matched[i] && r->inputs[i].header.side == NT_HOST && r->burst_ns[i] > burst)
			burst = r->burst_ns[i];
	return groups_finish(r->groups, from, to, burst ?: taken);
}

/*
 * Prints all groups: of merged commands, and of each input without a match. Return: 0 or -ENOMEM.
 */
static int report_groups_csv(struct report *r)
{
	groups_csv_header(r->choice, stdout);
	if (r->nr_matched)
		groups_csv(r->groups, r->choice, "merged", stdout);
	for (unsigned int i = 0; i < r->nr; i++) {
		struct groups *g;

		if (!r->inputs[i].begun || !unmatched_is(r->unmatched, i))
			continue;
		g = unmatched_groups(r->unmatched, i);
		if (!g)
			return -ENOMEM;
		groups_csv(g, r->choice, r->inputs[i].path, stdout);
	}
	return 0;
}

/* The default interval of the live view. */
#define INTERVAL_NS 1000000000ULL

int report_limits_open(struct report *r)
{
	const struct grouping how = {.by = {.nr = 2, .key = {GROUP_CTRL, GROUP_OP}},
				     .every_ns = INTERVAL_NS};

	r->limited = groups_new(&how);
	return r->limited ? 0 : -ENOMEM;
}

int report_limits_record(struct report *r, unsigned int i, const struct nt_record *rec)
{
	const struct input *in = &r->inputs[i];
	uint64_t began = unmatched_began_ns(r->unmatched, i), end = record_last_ns(rec);
	const struct group_command c = {
		.after_ns = end > began ? end - began : 0,
		.bytes = rec->length,
		.stands_for = in->header.sample > 1 ? in->header.sample : 1,
	};
	struct group_name name;

	if ((in->header.side == NT_TARGET && count_of(r, NT_HOST)) ||
	    status_is_error(rec->status) || (rec->flags & NT_F_CANCELLED))
		return 0;
	if (c.after_ns > r->limited_ns)
		r->limited_ns = c.after_ns;
	places_ctrl(r->places[i], in->header.side, rec,
		    count_of(r, in->header.side) > 1 ? machines_get(&r->machines, i)->name : NULL,
		    &name);
	name.op = rec->op;
	return groups_add(r->limited, &name, &c);
}

/* Return: 0 or -ENOMEM. */
static int report_limits_finish(struct report *r)
{
	return groups_finish(r->limited, 0, r->limited_ns, 0)
		       ?: limits_groups(r->limits, r->limited);
}

void report_begin(const struct report *r)
{
	if (r->format == FORMAT_CSV && r->commands)
		csv_commands_header(stdout, NT_SIDES, true);
}

/* One of @host and @target may be NULL. */
void report_command(struct report *r, const struct merge_connection *c,
		    const struct nt_record *host, const struct nt_record *target, bool ambiguous)
{
	struct command_line l;

	command_line_merged(&l, &r->machines, c, host, target, ambiguous,
			    &r->inputs[host ? c->host_stream : c->target_stream].clock);
	l.origin = host ? places_origin_of(r->places[c->host_stream], host) : NULL;
	l.has_origin = true;
	if (r->format == FORMAT_JSON)
		r->result = json_command_write(stdout, &l);
	else if (r->format == FORMAT_CSV)
		csv_command(stdout, &l);
	else
		command_line_print(&l, stdout);
}

/* Says which commands the figures below count. @what: "merged commands" */
static void print_selected(const struct report *r, uint64_t taken, uint64_t of, const char *what)
{
	const struct nt_selection *by = &r->filter->select.by;

	if (taken)
		printf("selected: %" PRIu64 " of %" PRIu64 " %s; losses are of all\n", taken, of,
		       what);
	else
		printf("selected: nothing, of %" PRIu64 " %s%s\n", of, what,
		       by->subsysnqn[0] || by->hostnqn[0]
			       ? "; the name of a subsystem or host is to be given whole, as below"
			       : "");
}

/* Of the commands of hosts that have a match at all. */
static double matched_share(const struct report *r)
{
	uint64_t matched = 0, all = 0;

	for (unsigned int i = 0; i < merge_connections(r->merge); i++) {
		const struct merge_connection *c = merge_connection(r->merge, i);

		if (!c->matched)
			continue;
		matched += c->matched;
		all += c->matched + c->host_only + c->ambiguous;
	}
	return all ? (double)matched / (double)all : 1;
}

/* @stream: an input alone; MERGE_NO_STREAM: merged commands. */
static struct why_view why_of(const struct report *r, unsigned int stream)
{
	bool merged = stream == MERGE_NO_STREAM;
	struct instant clock = {.monotonic_ns = 0};
	unsigned int hosts = 0;

	for (unsigned int i = r->nr; i-- > 0;)
		if (merged ? r->inputs[i].header.side == NT_HOST : i == stream) {
			clock = r->inputs[i].clock;
			if (merged && clock.monotonic_ns)
				clock.monotonic_ns += (uint64_t)r->inputs[i].to_common;
			hosts++;
		}

	return (struct why_view){
		.why = merged ? r->why : unmatched_slow(r->unmatched, stream),
		.host = merged || r->inputs[stream].header.side == NT_HOST,
		.target = merged || r->inputs[stream].header.side == NT_TARGET,
		.machines = &r->machines,
		.matched = merged ? matched_share(r) : 1,
		.files = r->files,
		.nr_files = r->nr,
		.clock = clock,
		.clock_of = merged ? NT_HOST : (enum nt_side)r->inputs[stream].header.side,
		.one_clock = hosts == 1,
		.selected = r->filter ? r->filter->select.said : NULL,
	};
}

static void print_why(const struct report *r, unsigned int stream, const struct view_options *v)
{
	const struct why_view w = why_of(r, stream);

	if (!w.why)
		return;
	if (r->with_why)
		why_print(&w, stdout, v->columns);
	else
		why_print_brief(&w, stdout, v->columns);
}

static struct json_report data_of(struct report *r)
{
	return (struct json_report){
		.inputs = r->inputs,
		.nr = r->nr,
		.unmatched = r->unmatched,
		.merge = r->merge,
		.machines = &r->machines,
		.cut = r->cut,
		.merged = &r->merged,
		.filtered = r->filter,
		.nr_matched = r->nr_matched,
		.nr_taken = r->nr_taken,
		.choice = r->choice,
		.limits = r->limits,
		.groups = r->groups,
		.figures = r->figures,
		.details = r->details,
		.blocked = r->blocked,
		.tcp = r->with_tcp ? &r->tcp : NULL,
		.nr_retransmitted = r->nr_retransmitted,
		.path_events = &r->path_events,
	};
}

/* Of each input, and behind them of merged commands. Return: NULL when memory ran out */
static struct why_view *all_why(const struct report *r)
{
	struct why_view *why = calloc(r->nr + 1, sizeof(*why));

	for (unsigned int i = 0; why && i < r->nr; i++)
		why[i] = why_of(r, i);
	if (why)
		why[r->nr] = why_of(r, MERGE_NO_STREAM);
	return why;
}

static int print_json(struct report *r)
{
	struct why_view *why = r->with_why ? all_why(r) : NULL;
	struct json_report j = data_of(r);
	int err;

	if (r->with_why && !why)
		return -ENOMEM;
	j.why = why;
	err = json_write(stdout, json_report(&j));
	free(why);
	return err;
}

/* Says what is not in the trace. */
static int write_trace(struct report *r)
{
	const struct perfetto_about about = {
		.m = &r->machines,
		.inputs = r->inputs,
		.t = r->nr_matched ? r->timeline : NULL,
		.tcp = &r->tcp,
		.events = &r->path_events,
	};
	uint64_t left_out, connections;
	int err = perfetto_write(r->perfetto, &about, r->trace, &left_out, &connections);

	if (!err && left_out)
		fprintf(stderr,
			"ntprof-bpf: %" PRIu64 " commands found no room in the trace: see "
			"--perfetto-max\n",
			left_out);
	if (!err && connections)
		fprintf(stderr,
			"ntprof-bpf: %" PRIu64
			" TCP connections found no room in the trace, which has those of %u\n",
			connections, PERFETTO_CONNECTIONS);
	return err;
}

/* Writes the file of pictures. */
static int write_html(struct report *r)
{
	struct why_view *why = all_why(r);
	struct json_report j = data_of(r);
	int err;

	if (!why)
		return -ENOMEM;
	j.tcp = &r->tcp;
	j.why = why;
	err = html_report(r->html, &j, r->timeline);
	free(why);
	return err;
}

/* Begins a part of the text: parts have an empty line in between. */
static void part(bool *any)
{
	if (*any)
		printf("\n");
	*any = true;
}

/* The first recording of a host of which something is matched, whose clock figures are by; or NULL
 */
static const struct input *first_host(const struct report *r)
{
	for (unsigned int i = 0; i < r->nr; i++)
		if (r->matched[i] && r->inputs[i].header.side == NT_HOST)
			return &r->inputs[i];
	return NULL;
}

/* What seconds after the beginning of a recording are by its wall clock. */
static void print_beginning(const struct report *r, unsigned int input)
{
	const struct input *in = input == MERGE_NO_STREAM ? first_host(r) : &r->inputs[input];
	char when[LOCAL_TIME_LEN];
	int64_t wall;

	wall = in ? instant_wall(&in->clock, began_ns(r, (unsigned int)(in - r->inputs))) : 0;
	if (!wall)
		return;
	printf("from: seconds after %s, when ", local_time_format(when, wall));
	text_print(stdout, in->path, TEXT_HEX);
	printf(" began\n");
}

/* With the events of controllers between the rows of intervals. Return: 0 or -ENOMEM */
static int print_groups(const struct report *r, const struct groups *g, unsigned int input,
			const struct view_options *v)
{
	struct path_lines p;
	int err = path_lines_make(r, input, &p);

	if (!err)
		groups_print(g, r->choice, stdout, v->columns, v->unicode, &p);
	if (!err && r->choice->grouping.every_ns)
		print_beginning(r, input);
	free(p.line);
	return err;
}

/* The last events of controllers, where no intervals have had them. Return: 0 or -ENOMEM */
static int print_path_events(const struct report *r, bool *any)
{
	const bool between = r->choice && r->choice->grouping.every_ns;
	struct path_lines p = {.nr = 0};
	int err = 0;

	for (unsigned int i = 0; !err && !between && i < r->nr; i++) {
		err = path_lines_make(r, i, &p);
		if (!err && p.nr) {
			part(any);
			path_lines_print_last(&p, r->inputs[i].path, stdout);
		}
		free(p.line);
	}
	if (r->path_events.total > r->path_events.nr)
		printf("events of controllers that are too old to be kept: %" PRIu64 "\n",
		       r->path_events.total - r->path_events.nr);
	return err;
}

/* Prints what a stream without a matched command shows by itself, and why nothing is matched. */
static int print_alone(struct report *r, unsigned int i, const struct view_options *v, bool *any)
{
	const struct input *in = &r->inputs[i];
	const struct stats *s =
		unmatched_stats(r->unmatched, i, in->header.kernel, in->losses.count);
	const struct figures *figures = r->choice ? &r->choice->figures : NULL;
	struct groups *g;
	struct block b;
	int err;

	part(any);
	inputs_print_unmatched(in, r->unmatched, i, &r->machines, stdout);
	if (r->filter) {
		uint64_t of, taken = unmatched_taken(r->unmatched, i, &of);

		print_selected(r, taken, of, "commands");
	}
	head_print_unfair(s, stdout);
	err = verdict_print_side(s, machines_get(&r->machines, i)->name, stdout, v->columns);
	if (err)
		return err;
	if (r->with_why)
		part(any);
	print_why(r, i, v);
	if (r->details) {
		part(any);
		details_print(unmatched_details(r->unmatched, i), r->figures, stdout);
	}
	if (r->choice) {
		g = unmatched_groups(r->unmatched, i);
		if (!g)
			return -ENOMEM;
		part(any);
		err = print_groups(r, g, i, v);
		if (err || !r->with_stages)
			return err;
	}
	part(any);
	stages_print_side(s, true, STAGES_WHERE, figures, stdout, v->columns, v->unicode);
	if (r->choice)
		return 0;
	part(any);
	block_init(&b, s, true, v->unicode, v->columns);
	err = rows_print(&b, stdout, stdout);
	errors_print_interval(&s->errors, stdout, v->columns);
	return err;
}

static struct pcap_side pcap_side(const struct report *r, unsigned int stream,
				  const struct nt_record *rec)
{
	const struct input *in = &r->inputs[stream];

	return (struct pcap_side){
		.machine = machines_get(&r->machines, stream)->name,
		.clock = {&in->clock, &in->last_clock},
		.ends = places_ends(r->places[stream], rec),
	};
}

static void print_pcap(struct report *r, bool *any)
{
	bool complete = true;

	for (unsigned int i = 0; i < r->pcap; i++) {
		const struct slow_command *c = &r->merged.slowest[i];
		struct pcap_side side[NT_SIDES] = {
			[NT_HOST] = pcap_side(r, c->connection.host_stream, &c->host)};

		if (!c->alone)
			side[NT_TARGET] = pcap_side(r, c->connection.target_stream, &c->target);
		part(any);
		complete &= pcap_print(c, side, stdout);
	}
	if (complete)
		return;
	part(any);
	puts("filters without TCP sequence numbers show more of the connection: record both "
	     "machines with --points fine");
}

/* The answer, and the tables that it is from. */
static int print_merged(struct report *r, const struct view_options *v, bool *any)
{
	const struct totals *m = &r->merged;
	bool some = m->commands || m->cancelled || m->errors.nr;
	int err = 0;

	if (some || r->limits || (r->filter && r->nr_matched))
		part(any);
	if (r->filter && r->nr_matched)
		print_selected(r, r->nr_taken, r->nr_matched, "merged commands");
	if (some)
		err = verdict_print_merged(m, stdout, v->columns);
	if (!err && some && r->with_why)
		part(any);
	if (!err && some)
		print_why(r, MERGE_NO_STREAM, v);
	if (r->limits)
		limits_print_summary(r->limits, stdout);
	if (!err && r->groups && r->nr_taken) {
		part(any);
		err = print_groups(r, r->groups, MERGE_NO_STREAM, v);
	}
	if (!err && m->commands && (!r->groups || r->with_stages)) {
		part(any);
		stages_print_merged(m, STAGES_WHERE, r->choice ? &r->choice->figures : NULL, stdout,
				    v->columns, v->unicode);
	}
	if (!err && r->details && r->nr_taken) {
		part(any);
		details_print(r->details, r->figures, stdout);
	}
	for (unsigned int i = 0; !err && i < m->nr_slowest; i++) {
		part(any);
		story_print(&m->slowest[i], &r->inputs[m->slowest[i].connection.host_stream].clock,
			    stdout, v->columns);
		story_print_blocked(blocked_of(r->blocked, i), !m->slowest[i].alone, stdout);
	}
	if (!err && m->nr_slowest)
		puts("\nntprof-bpf(8) says what each stage and point is");
	if (!err)
		print_pcap(r, any);
	return err;
}

static int print_connections(struct report *r, const struct view_options *v, bool *any)
{
	int err;

	if (merge_connections(r->merge))
		part(any);
	err = connections_print_controllers(r->merge, &r->machines, stdout, v->columns);
	if (!err && r->verbose && r->merged.commands) {
		part(any);
		err = connections_print_stages(&r->merged, NULL, NULL, stdout, WRAP_NEVER);
	}
	if (!err && r->verbose && r->format == FORMAT_TEXT) {
		part(any);
		err = connections_print(r->merge, &r->machines, stdout);
	}
	return err;
}

/* The connections of all recordings that have their states. */
static void print_tcp(struct report *r, const struct view_options *v, bool *any)
{
	for (unsigned int i = 0; i < r->nr; i++) {
		struct tcp_rows rows = {.asked = true};

		tcp_history_rows(&r->tcp, i, &rows);
		if (rows.nr) {
			part(any);
			printf("TCP of %s ", side_name(r->inputs[i].header.side));
			text_print(stdout, machines_get(&r->machines, i)->name, TEXT_HEX);
			printf(": the longest srtt, the smallest cwnd, and the most that waited; the rest is of "
			       "the end, and of all the time\n");
			tcp_print(&rows, stdout, v->columns);
		}
		tcp_rows_free(&rows);
	}
	if (!r->why->has_tcp) {
		part(any);
		printf("no recording has the state of its TCP connections: record --tcp\n");
	}
}

/* What was recorded, and what of it is in no figure above. */
static void print_inputs(const struct report *r, FILE *f)
{
	const struct input *host = first_host(r);

	for (unsigned int i = 0; i < r->nr; i++)
		inputs_print(&r->inputs[i], r->matched[i] && host != &r->inputs[i] ? host : NULL,
			     f);
	connections_print_strays(r->merge, f);
	if (r->cut)
		fprintf(f,
			"records of one side only that no burst of the other side was there for: %" PRIu64
			"\n",
			r->cut);
}

static void print_not_counted(const struct totals *m, const struct view_options *v)
{
	errors_print_interval(&m->errors, stdout, v->columns);
	if (m->cancelled)
		printf("commands that the host gave up, which are in no latency: %" PRIu64 "\n",
		       m->cancelled);
	if (m->negative)
		printf("stages below 0, because clocks drift apart: %" PRIu64 ", the worst %" PRId64
		       "ns\n",
		       m->negative, m->most_negative);
}

static int print_text(struct report *r)
{
	struct view_options v;
	bool any = false;
	int err;

	view_setup(&v, stdout);
	err = print_merged(r, &v, &any);
	for (unsigned int i = 0; !err && i < r->nr; i++)
		if (r->inputs[i].begun && unmatched_is(r->unmatched, i))
			err = print_alone(r, i, &v, &any);
	if (!err)
		err = print_connections(r, &v, &any);
	if (!err)
		err = print_path_events(r, &any);
	if (err)
		return err;
	if (r->with_tcp)
		print_tcp(r, &v, &any);
	part(&any);
	print_inputs(r, stdout);
	if (r->tcp.any_resent)
		printf("merged commands that waited for what TCP sent again: %" PRIu64 "\n",
		       r->nr_retransmitted);
	print_not_counted(&r->merged, &v);
	return 0;
}

/* Lines for scripts. Groups and intervals between points have none: CSV is for them. */
static int print_lines(struct report *r)
{
	const struct totals *m = &r->merged;
	int err;

	if (r->format == FORMAT_LINES) {
		print_inputs(r, stdout);
		if (r->limits)
			limits_print_summary(r->limits, stdout);
		if (r->filter && r->nr_matched)
			print_selected(r, r->nr_taken, r->nr_matched, "merged commands");
	} else {
		printf("\n");
	}
	err = connections_print(r->merge, &r->machines, stdout);
	/* If the target answered no command, the host may have given up all merged commands. */
	if (!err && !r->groups && (m->commands || m->cancelled || m->errors.nr))
		err = numbers_print_merged(m, stdout);
	for (unsigned int i = 0; !err && !r->groups && i < r->nr; i++) {
		const struct input *in = &r->inputs[i];
		const struct stats *s;

		if (!in->begun || !unmatched_is(r->unmatched, i))
			continue;
		s = unmatched_stats(r->unmatched, i, in->header.kernel, in->losses.count);
		inputs_print_unmatched(in, r->unmatched, i, &r->machines, stdout);
		numbers_print_side(s, stdout);
		errors_print_run(&s->errors, "error", stdout);
		losses_print_run(s, stdout);
	}
	return err;
}

static int print_details_csv(const struct report *r)
{
	details_csv_header(r->figures, stdout);
	details_csv(r->details, r->figures, "merged", stdout);
	for (unsigned int i = 0; i < r->nr; i++)
		if (r->inputs[i].begun && unmatched_is(r->unmatched, i))
			details_csv(unmatched_details(r->unmatched, i), r->figures,
				    r->inputs[i].path, stdout);
	return 0;
}

static void print_stages_csv(const struct stage_rows *rows, const char *of)
{
	for (unsigned int i = 0; i < rows->nr; i++)
		csv_row_of(of, &stage_columns, &rows->row[i], stdout);
}

/* The main table: the stages of each operation, of merged commands and of each input alone. */
static int print_main_csv(const struct report *r)
{
	struct stage_rows *rows = calloc(1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	csv_header_of("input", &stage_columns, stdout);
	columns_stages_merged(rows, &r->merged);
	print_stages_csv(rows, "merged");
	for (unsigned int i = 0; i < r->nr; i++) {
		const struct input *in = &r->inputs[i];

		if (!in->begun || !unmatched_is(r->unmatched, i))
			continue;
		columns_stages_of_side(
			rows, unmatched_stats(r->unmatched, i, in->header.kernel, in->losses.count),
			true);
		print_stages_csv(rows, in->path);
	}
	free(rows);
	return 0;
}

static void show_slowest(struct report *r, unsigned int most)
{
	if (r->merged.nr_slowest > most)
		r->merged.nr_slowest = most;
}

/*
 * Reads a recording once more. @names: for those of queues and disks, which come with the first
 * record; otherwise for what others did, some of it before that. Return: 0 or a negative errno
 */
static int read_again(struct report *r, unsigned int i, bool names)
{
	int err = input_rewind(&r->inputs[i]);
	struct stream_event e;

	while (!err && input_read(&r->inputs[i], &e)) {
		if (e.type == STREAM_QUEUE && names)
			err = blocked_queue(r->blocked, i, &e.queue);
		else if (e.type == STREAM_DEVICE && names)
			err = blocked_device(r->blocked, i, &e.device);
		else if (e.type == STREAM_DISK && !names)
			blocked_use(r->blocked, i, &e.disk);
		else if (e.type == STREAM_RECORD && !names)
			blocked_record(r->blocked, i, &e.record);
	}
	return err;
}

/*
 * Reads the recordings once more, for what others did while the slowest commands waited; not if one
 * is a pipe. Return: 0 or a negative errno
 */
static int read_blocked(struct report *r)
{
	int err = 0;

	for (unsigned int i = 0; i < r->nr; i++)
		if (!r->inputs[i].again)
			return 0;
	r->blocked = blocked_new(r->merged.slowest, r->merged.nr_slowest);
	if (!r->blocked)
		return -ENOMEM;
	for (unsigned int i = 0; !err && i < r->nr; i++)
		err = read_again(r, i, true) ?: read_again(r, i, false);
	return err;
}

int report_print(struct report *r)
{
	int err = r->groups ? report_groups_finish(r) : 0;

	for (unsigned int i = 0; i < r->nr; i++) {
		r->inputs[i].names_gone = places_gave_way(r->places[i]);
		r->inputs[i].tcp_past = tcp_history_past(&r->tcp, i);
	}
	if (!err && r->limited)
		err = report_limits_finish(r);
	totals_sort(&r->merged);
	for (unsigned int i = 0; i < r->merged.nr_slowest; i++) {
		struct slow_command *c = &r->merged.slowest[i];

		const struct device_name *disk =
			c->alone ? NULL
				 : places_device_of(r->places[c->connection.target_stream],
						    &c->target);

		c->origin = places_origin_of(r->places[c->connection.host_stream], &c->host);
		c->disk = disk ? disk->name : NULL;
	}
	if (r->pcap > r->merged.nr_slowest)
		r->pcap = r->merged.nr_slowest;
	/* Each output shows as many of the slowest as it is asked for. */
	show_slowest(r, r->slowest ?: HTML_SLOWEST);
	if (!err && r->html)
		err = write_html(r);
	show_slowest(r, r->slowest);
	if (!err && r->merged.nr_slowest)
		err = read_blocked(r);
	if (!err && r->trace)
		err = write_trace(r);
	if (err)
		return err;
	if (r->format == FORMAT_JSON)
		return print_json(r);
	if (r->format == FORMAT_CSV && r->groups)
		return report_groups_csv(r);
	if (r->format == FORMAT_CSV && r->details)
		return print_details_csv(r);
	/* In CSV, the lines of commands are all, and they are printed already. */
	if (r->format == FORMAT_CSV)
		return r->commands ? 0 : print_main_csv(r);
	if (r->format != FORMAT_LINES)
		err = print_text(r);
	return err || r->format == FORMAT_TEXT ? err : print_lines(r);
}
