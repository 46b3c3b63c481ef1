// SPDX-License-Identifier: GPL-2.0-only
#include "cli/report_print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/report_groups.h"
#include "cli/report_limits.h"
#include "view/command.h"
#include "view/connections.h"
#include "view/csv.h"
#include "view/details.h"
#include "view/groups.h"
#include "view/inputs.h"
#include "view/json_commands.h"
#include "view/json_report.h"
#include "view/numbers.h"
#include "view/stages.h"
#include "view/story.h"
#include "view/view.h"

void report_begin(const struct report *r)
{
	if (r->format == FORMAT_CSV && r->commands)
		csv_commands_header(stdout, NT_SIDES);
}

/* One of @host and @target may be NULL. */
void report_command(struct report *r, const struct merge_connection *c,
		    const struct nt_record *host, const struct nt_record *target, bool ambiguous)
{
	const struct machines *m = &r->machines;

	if (r->format == FORMAT_JSON)
		r->result = json_write(stdout, json_command_merged(m, c, host, target, ambiguous));
	else if (r->format == FORMAT_CSV)
		csv_command_merged(stdout, m, c, host, target, ambiguous);
	else
		command_print_merged(stdout, m, c, host, target, ambiguous);
}

/* Says of which commands the figures below are. @what: "merged commands" */
static void print_selected(uint64_t taken, uint64_t of, const char *what)
{
	if (taken)
		printf("selected: %" PRIu64 " of %" PRIu64 " %s; losses are of all\n", taken, of,
		       what);
	else
		printf("selected: nothing, of %" PRIu64 " %s\n", of, what);
}

/* Prints each stream of which nothing was matched: the reason, and its own figures. */
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
