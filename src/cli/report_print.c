// SPDX-License-Identifier: GPL-2.0-only
#include "cli/report_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "core/names.h"
#include "core/segments.h"
#include "core/text.h"
#include "merge/places.h"
#include "view/commands.h"
#include "view/connections.h"
#include "view/csv.h"
#include "view/groups.h"
#include "view/json_report.h"
#include "view/numbers.h"
#include "view/stages.h"
#include "view/streams.h"
#include "view/view.h"

/*
 * Room for the device names in the message that a device was not found: those of the first input
 * that has any.
 */
#define DEVICES_LEN 512

static uint64_t after(const struct report *r, const struct merge_connection *c, uint64_t ns)
{
	uint64_t began = unmatched_began_ns(r->unmatched, c->host_stream);

	return ns > began ? ns - began : 0;
}

void report_groups_seen(struct report *r, const struct merge_connection *c,
			const struct nt_record *host)
{
	uint64_t first = after(r, c, record_begin_ns(host) ?: record_last_ns(host));
	uint64_t last = after(r, c, record_last_ns(host));

	if (first < r->first_ns || r->nr_matched == 1)
		r->first_ns = first;
	if (last > r->last_ns)
		r->last_ns = last;
}

static bool several_hosts(const struct report *r)
{
	unsigned int hosts = 0;

	for (unsigned int i = 0; i < r->nr; i++)
		hosts += r->inputs[i].begun && r->inputs[i].header.side == NT_HOST;
	return hosts > 1;
}

int report_groups_add(struct report *r, const struct merge_connection *c,
		      const struct nt_record *host, const struct nt_record *target)
{
	const struct input *from = &r->inputs[c->host_stream];
	const struct input *to = target ? &r->inputs[c->target_stream] : NULL;
	struct group_recorder who = {
		.machine = group_has(&r->choice->grouping.by, GROUP_CTRL) && several_hosts(r)
				   ? machines_get(&r->machines, c->host_stream)->name
				   : NULL,
		.source = {[NT_HOST] = from->header.source},
		.stream = c->host_stream,
		.began_ns = unmatched_began_ns(r->unmatched, c->host_stream),
		.to_common = from->to_common,
		.sample = from->header.sample,
		.places = r->places[c->host_stream],
	};
	struct group_name name;

	/*
	 * A merged command is in both samples, so the smaller sample counts, which has the larger
	 * number.
	 */
	if (to && to->header.sample > who.sample)
		who.sample = to->header.sample;
	if (to)
		who.source[NT_TARGET] = to->header.source;
	group_name_merged(&name, &r->choice->grouping.by, c, host, &who);
	return groups_add_record(r->groups, &name, host, &who);
}

bool report_lacks(const struct report *r)
{
	static const struct group_by none;
	const struct group_by *by = r->choice ? &r->choice->grouping.by : &none;
	bool cgroup = r->filter && r->filter->select.cgroup[0], begun = false, host = false;
	enum group_key of_host = group_by_needs(by, GROUP_OF_HOST);
	enum group_key of_origin = group_by_needs(by, GROUP_OF_ORIGIN);
	const char *option = cgroup ? "--cgroup" : "--by ", *key = "";

	for (unsigned int i = 0; i < r->nr; i++) {
		const struct input *in = &r->inputs[i];

		begun |= in->begun;
		if (!in->begun || in->header.side != NT_HOST)
			continue;
		host = true;
		if (in->header.origins || (of_origin == GROUP_KEYS_NR && !cgroup))
			continue;
		key = cgroup ? "" : group_key_name(of_origin);
		fprintf(stderr,
			"ntprof-bpf: %s%s: %s does not tell it: record it with ntprof-bpf record "
			"--host --origin\n",
			option, key, in->path);
		return true;
	}
	if (!begun || host || (of_host == GROUP_KEYS_NR && !cgroup))
		return false;
	key = cgroup ? "" : group_key_name(of_host);
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

/* Return: 0 or -ENOMEM. */
static int report_groups_finish(struct report *r)
{
	uint64_t from = r->first_ns, to = r->last_ns, burst = 0;

	if (r->filter)
		filter_bounds(r->filter, &from, &to);
	for (unsigned int i = 0; i < r->nr; i++)
		if (r->matched[i] && r->inputs[i].header.side == NT_HOST && r->burst_ns[i] > burst)
			burst = r->burst_ns[i];
	return groups_finish(r->groups, from, to, burst);
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

static unsigned int count_of(const struct report *r, enum nt_side side)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < r->nr; i++)
		n += r->inputs[i].begun && r->inputs[i].header.side == side;
	return n;
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
		csv_commands_header(stdout, NT_SIDES);
}

/* One of @host and @target may be NULL. */
void report_command(struct report *r, const struct merge_connection *c,
		    const struct nt_record *host, const struct nt_record *target, bool ambiguous)
{
	struct command_line l;

	command_line_merged(&l, &r->machines, c, host, target, ambiguous);
	if (r->format == FORMAT_JSON)
		r->result = json_write(stdout, json_command(&l));
	else if (r->format == FORMAT_CSV)
		csv_command(stdout, &l);
	else
		command_line_print(&l, stdout);
}

/* Says which commands the figures below count. @what: "merged commands" */
static void print_selected(uint64_t taken, uint64_t of, const char *what)
{
	if (taken)
		printf("selected: %" PRIu64 " of %" PRIu64 " %s; losses are of all\n", taken, of,
		       what);
	else
		printf("selected: nothing, of %" PRIu64 " %s\n", of, what);
}

/* Prints each stream without a matched command: the reason, and its own figures. */
static int print_unmatched(struct report *r)
{
	struct view_options v;

	view_setup(&v, stdout);
	v.redraw = false;
	for (unsigned int i = 0; i < r->nr; i++) {
		const struct input *in = &r->inputs[i];
		int err;

		if (!in->begun || !unmatched_is(r->unmatched, i))
			continue;
		printf("\n");
		inputs_print_unmatched(in, r->unmatched, i, &r->machines, stdout);
		if (r->filter) {
			uint64_t of, taken = unmatched_taken(r->unmatched, i, &of);

			print_selected(taken, of, "commands");
		}
		if (r->details)
			details_print(unmatched_details(r->unmatched, i), r->figures, stdout);
		if (r->choice) {
			struct groups *g = unmatched_groups(r->unmatched, i);

			if (!g)
				return -ENOMEM;
			groups_print(g, r->choice, stdout, v.columns, v.unicode);
			if (!r->with_stages)
				continue;
			printf("\n");
			stages_print_side(unmatched_stats(r->unmatched, i, in->header.kernel,
							  in->losses.count),
					  true, &r->choice->figures, stdout, v.columns, v.unicode);
			continue;
		}
		err = view_summary(
			unmatched_stats(r->unmatched, i, in->header.kernel, in->losses.count), &v);
		if (err)
			return err;
	}
	return 0;
}

static int print_json(struct report *r)
{
	const struct json_report j = {
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
	};

	totals_sort(&r->merged);
	return json_write(stdout, json_report(&j));
}

static int print_text(struct report *r)
{
	struct view_options v;
	int err;

	view_setup(&v, stdout);
	for (unsigned int i = 0; i < r->nr; i++)
		inputs_print(&r->inputs[i], stdout);
	err = connections_print(r->merge, &r->machines, stdout);
	if (err)
		return err;
	connections_print_strays(r->merge, stdout);
	if (r->cut)
		printf("records of one side only that no burst of the other side was there for: %" PRIu64
		       "\n",
		       r->cut);
	if (r->limits)
		limits_print_summary(r->limits, stdout);
	if (r->filter && r->nr_matched)
		print_selected(r->nr_taken, r->nr_matched, "merged commands");
	if (r->groups && r->nr_taken) {
		printf("\n");
		groups_print(r->groups, r->choice, stdout, v.columns, v.unicode);
	}
	if (r->merged.commands && (!r->groups || r->with_stages)) {
		printf("\n");
		stages_print_merged(&r->merged, r->choice ? &r->choice->figures : NULL, stdout,
				    v.columns, v.unicode);
		printf("\n");
		err = connections_print_stages(&r->merged, stdout);
		if (err)
			return err;
	}
	if (r->details && r->nr_taken) {
		printf("\n");
		details_print(r->details, r->figures, stdout);
	}
	/* If the target answered no command, the host may have given up all merged commands. */
	if (!r->groups && (r->merged.commands || r->merged.cancelled || r->merged.errors.nr)) {
		printf("\n");
		err = numbers_print_merged(&r->merged, stdout);
		if (err)
			return err;
	}
	totals_sort(&r->merged);
	for (unsigned int i = 0; i < r->merged.nr_slowest; i++) {
		printf("\n");
		story_print(&r->merged.slowest[i], stdout);
	}
	return print_unmatched(r);
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

int report_print(struct report *r)
{
	int err = r->groups ? report_groups_finish(r) : 0;

	if (!err && r->limited)
		err = report_limits_finish(r);
	if (err)
		return err;
	if (r->format == FORMAT_JSON)
		return print_json(r);
	if (r->format == FORMAT_CSV && r->groups)
		return report_groups_csv(r);
	if (r->format == FORMAT_CSV && r->details)
		return print_details_csv(r);
	/* In CSV, the lines of commands are all, and they are printed already. */
	return r->format == FORMAT_CSV ? 0 : print_text(r);
}
