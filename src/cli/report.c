// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verb report: reads the streams of any number of hosts and targets side by side, merges them, and
 * tells what came of it. Needs neither root nor BPF; memory does not grow with the streams.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/report_print.h"
#include "cli/verbs.h"
#include "merge/apart.h"
#include "merge/axis.h"
#include "merge/edges.h"
#include "merge/lineup.h"
#include "merge/machines.h"
#include "merge/merge.h"
#include "merge/totals.h"
#include "stream/input.h"

/* How far one stream is read before the others may be behind it. */
#define STEP_NS 1000000
/* How many steps are taken before the clocks are looked at again: they drift. */
#define STEPS_PER_CORRECTION 1000
/* More hosts and targets than anybody would look at together. */
#define FILES_MAX 256u
/* More stories than anybody would read. */
#define SLOWEST_MAX 1000u

/**
 * struct report_options - what the verb report was asked
 * @files, @nr_files: the streams to read
 * @slowest: tell the story of so many of the slowest commands
 * @commands: print a line for each command
 * @filter: which commands are told of
 * @format: what it looks like
 */
struct report_options {
	char **files;
	unsigned int nr_files;
	unsigned int slowest;
	bool commands;
	struct filter filter;
	enum output_format format;
};

static uint32_t missing_of(const struct report *r, unsigned int stream)
{
	return machines_get(&r->machines, stream)->missing;
}

static bool takes_matched(struct report *r, const struct merge_connection *c,
			  const struct nt_record *host, const struct nt_record *target)
{
	const uint32_t missing[NT_SIDES] = {
		[NT_HOST] = missing_of(r, c->host_stream),
		[NT_TARGET] = missing_of(r, c->target_stream),
	};

	return !r->filter || filter_takes_matched(r->filter, c, host, target, missing,
						  apart_began_ns(r->apart, c->host_stream));
}

static bool takes_single(const struct report *r, const struct merge_connection *c,
			 const struct nt_record *rec)
{
	unsigned int stream = rec->side == NT_HOST ? c->host_stream : c->target_stream;

	return !r->filter || filter_takes_single(r->filter, c, rec, missing_of(r, stream),
						 apart_began_ns(r->apart, stream));
}

static void on_matched(void *context, const struct merge_connection *c,
		       const struct nt_record *host, const struct nt_record *target)
{
	struct report *r = context;

	if (!r->matched[c->host_stream] || !r->matched[c->target_stream]) {
		r->matched[c->host_stream] = r->matched[c->target_stream] = true;
		apart_matched(r->apart, c->host_stream, c->target_stream);
	}
	r->nr_matched++;
	if (!takes_matched(r, c, host, target))
		return;
	r->nr_taken++;
	if (r->commands)
		report_command(r, c, host, target, false);
	if (totals_add(&r->merged, c, host, target))
		r->result = -ENOMEM;
}

static void on_single(void *context, const struct merge_connection *c, const struct nt_record *rec,
		      bool ambiguous)
{
	struct report *r = context;
	bool host = rec->side == NT_HOST;

	r->cut += !ambiguous && edges_cut(r->edges, c, rec);
	if (!takes_single(r, c, rec))
		return;
	if (r->commands)
		report_command(r, c, host ? rec : NULL, host ? NULL : rec, ambiguous);
	if (host)
		totals_add_single(&r->merged, c, rec);
}

/* The header of an input has come. Return: 0 or -ENOMEM. */
static int tell_machine(struct report *r, unsigned int i)
{
	const struct stream_header *h = &r->inputs[i].header;
	struct machine m = {.side = h->side, .sample = h->sample, .missing = h->missing};
	struct apart_header a = {
		.side = h->side,
		.sample = h->sample,
		.missing = h->missing,
		.figures = true,
		.filter = r->filter,
	};

	snprintf(m.name, sizeof(m.name), "%s", h->hostname);
	machines_set(&r->machines, i, &m, r->inputs[i].path);
	snprintf(a.boot_id, sizeof(a.boot_id), "%s", h->boot_id);
	return apart_begin(r->apart, i, &a);
}

static int take_burst(struct report *r, unsigned int i, const struct stream_event *e)
{
	return edges_burst(r->edges, i, e->burst.began_ns, e->burst.ended_ns);
}

static int take_apart(struct report *r, unsigned int i, const struct stream_event *e)
{
	if (e->type == STREAM_RECORD)
		return r->matched[i] ? 0 : apart_record(r->apart, i, &e->record);
	if (e->type == STREAM_CLOCK)
		apart_clock(r->apart, i, &e->clock);
	if (e->type == STREAM_BURST)
		apart_burst(r->apart, i, burst_length_ns(&e->burst));
	/* Of what can be read twice all are known by now. */
	if (e->type == STREAM_BURST && !r->inputs[i].again)
		return take_burst(r, i, e);
	return e->type == STREAM_QUEUE ? apart_queue(r->apart, i, &e->queue) : 0;
}

static int take(struct report *r, unsigned int i, const struct stream_event *e)
{
	int err = take_apart(r, i, e);

	/* Of a side alone nothing is matched, but lines of commands come from the merge, too. */
	if (err || (r->alone[i] && !r->commands))
		return err;
	if (e->type == STREAM_QUEUE)
		return merge_queue(r->merge, i, r->inputs[i].header.side, &e->queue);
	if (e->type == STREAM_RECORD)
		return merge_record(r->merge, i, &e->record) ?: r->result;
	return 0;
}

/* The one that is the furthest behind. */
static struct input *behind(struct report *r)
{
	struct input *least = NULL;

	for (unsigned int i = 0; i < r->nr; i++)
		if (!r->inputs[i].ended && (!least || r->inputs[i].now < least->now))
			least = &r->inputs[i];
	return least;
}

/* What the merge has learnt of the clocks by now is better than what the streams began with. */
static int correct_all(struct report *r)
{
	int64_t *to_common = calloc(r->nr, sizeof(*to_common));
	bool *linked = calloc(r->nr, sizeof(*linked));
	int err = to_common && linked ? 0 : -ENOMEM;

	for (unsigned int i = 0; !err && i < r->nr; i++)
		to_common[i] = r->inputs[i].to_common;
	if (!err)
		err = axis_correct(r->merge, r->nr, to_common, linked);
	for (unsigned int i = 0; !err && i < r->nr; i++) {
		r->inputs[i].to_common = to_common[i];
		r->inputs[i].lined_up |= linked[i];
	}
	free(to_common);
	free(linked);
	return err;
}

/* Reads all there is. Damage ends one input; what was whole before it counts. */
static int read_all(struct report *r)
{
	struct input *in;
	unsigned int steps = 0;

	while ((in = behind(r))) {
		int64_t until = in->now < INT64_MAX - STEP_NS ? in->now + STEP_NS : INT64_MAX;
		struct stream_event e;

		while (input_read(in, &e)) {
			int err = take(r, (unsigned int)(in - r->inputs), &e);

			if (err)
				return err;
			if (in->now >= until)
				break;
		}
		if (in->ended)
			merge_end(r->merge, (unsigned int)(in - r->inputs));
		if (++steps % STEPS_PER_CORRECTION == 0) {
			int err = correct_all(r);

			if (err)
				return err;
		}
	}
	merge_finish(r->merge);
	return r->result;
}

/*
 * Reads every stream once, and finds out which are alone. Streams that can be read again are lined up by
 * what they have in common; for the others the wall clocks have to do until the merge knows better.
 */
static int prepare(struct report *r)
{
	struct lineup *l = lineup_new(r->nr);
	int64_t *to_common = calloc(r->nr, sizeof(*to_common));
	unsigned int sides[NT_SIDES] = {0};
	int err = l && to_common ? 0 : -ENOMEM;

	for (unsigned int i = 0; !err && i < r->nr; i++) {
		struct input *in = &r->inputs[i];
		struct stream_event e;

		if (!in->again)
			continue;
		while (!err && input_read(in, &e)) {
			if (e.type == STREAM_RECORD)
				err = lineup_add(l, i, &e.record);
			else if (e.type == STREAM_BURST)
				err = take_burst(r, i, &e);
		}
		to_common[i] = in->to_common;
		if (in->begun)
			sides[in->header.side]++;
		if (!err)
			err = input_rewind(in);
	}
	if (!err)
		err = lineup_solve(l, to_common);
	for (unsigned int i = 0; !err && i < r->nr; i++) {
		struct input *in = &r->inputs[i];
		struct stream_event e;

		if (in->again) {
			in->to_common = to_common[i];
			in->lined_up = true;
		}
		/* Its header says which side a pipe is of. */
		if (input_read(in, &e) && !in->again)
			sides[in->header.side]++;
	}
	for (unsigned int i = 0; !err && i < r->nr; i++) {
		struct input *in = &r->inputs[i];

		if (!in->begun)
			continue;
		err = merge_stream(r->merge, i, in->header.side);
		if (err)
			break;
		r->alone[i] = !sides[in->header.side == NT_HOST ? NT_TARGET : NT_HOST];
		err = tell_machine(r, i);
	}
	free(to_common);
	lineup_free(l);
	return err;
}

static int open_inputs(struct report *r, char *const *paths)
{
	for (unsigned int i = 0; i < r->nr; i++) {
		int err = input_open(&r->inputs[i], paths[i]);

		if (err) {
			fprintf(stderr, "ntprof-bpf: cannot read %s: %s\n", paths[i],
				strerror(-err));
			return err;
		}
		/* Every command of it would be there twice. */
		for (unsigned int k = 0; k < i; k++) {
			if (input_same(&r->inputs[i], &r->inputs[k])) {
				fprintf(stderr, "ntprof-bpf: %s and %s are the same file\n",
					paths[k], paths[i]);
				return -EINVAL;
			}
		}
	}
	return 0;
}

/* What is wrong with an input has been printed among the rest; here it is for whoever reads only errors. */
static int status_of(const struct report *r)
{
	int status = EXIT_SUCCESS;

	for (unsigned int i = 0; i < r->nr; i++) {
		const struct input *in = &r->inputs[i];

		if (!stream_error(in->reader)[0])
			continue;
		fprintf(stderr, "ntprof-bpf: %s: %s\n", in->path, stream_error(in->reader));
		if (input_failed(in))
			status = EXIT_FAILURE;
	}
	return status;
}

static int report(const struct report_options *o)
{
	struct report r = {.nr = o->nr_files, .commands = o->commands, .format = o->format};
	struct filter filter = o->filter;
	struct merge_callbacks callbacks = {
		.matched = on_matched, .single = on_single, .context = &r};
	int status = EXIT_FAILURE, err;

	if (filter_any(&filter))
		r.filter = &filter;
	r.inputs = calloc(r.nr, sizeof(*r.inputs));
	r.alone = calloc(r.nr, sizeof(*r.alone));
	r.matched = calloc(r.nr, sizeof(*r.matched));
	r.apart = apart_new(r.nr);
	r.edges = edges_new(r.nr);
	r.merge = merge_new(&callbacks);
	for (unsigned int i = 0; r.inputs && i < r.nr; i++)
		r.inputs[i].fd = -1;
	err = r.inputs && r.alone && r.matched && r.apart && r.edges && r.merge
		      ? totals_init(&r.merged, o->slowest)
		      : -ENOMEM;
	if (!err)
		err = machines_init(&r.machines, r.nr);
	r.merged.machines = &r.machines;
	if (!err && open_inputs(&r, o->files))
		goto out;
	report_begin(&r);
	if (!err)
		err = prepare(&r);
	if (!err)
		err = read_all(&r);
	if (!err)
		err = report_print(&r);
	if (!err && (fflush(stdout) || ferror(stdout)))
		err = errno ? -errno : -EIO;
	if (err)
		fprintf(stderr, "ntprof-bpf: cannot report: %s\n", strerror(-err));
	else
		status = status_of(&r);
out:
	merge_free(r.merge);
	totals_free(&r.merged);
	machines_free(&r.machines);
	for (unsigned int i = 0; i < r.nr; i++) {
		if (r.inputs)
			input_close(&r.inputs[i]);
	}
	apart_free(r.apart);
	edges_free(r.edges);
	free(r.matched);
	free(r.inputs);
	free(r.alone);
	return status;
}

enum { KEY_SLOWEST = 0x100, KEY_COMMANDS, KEY_TIME, KEY_WHERE };

enum { CHILD_FORMAT, CHILD_SELECT, CHILD_ENDED };

static error_t parse_report(int key, char *arg, struct argp_state *state)
{
	struct report_options *o = state->input;
	const char *wrong;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_FORMAT] = &o->format;
		state->child_inputs[CHILD_SELECT] = &o->filter.select;
		state->child_inputs[CHILD_ENDED] = &o->filter.select;
		break;
	case KEY_SLOWEST:
		o->slowest = (unsigned int)options_count(state, "--slowest", arg, SLOWEST_MAX);
		break;
	case KEY_COMMANDS:
		o->commands = true;
		break;
	case KEY_TIME:
		wrong = filter_time(&o->filter, arg);
		if (wrong)
			options_error(state, "--time %s: %s", arg, wrong);
		break;
	case KEY_WHERE:
		wrong = filter_where(&o->filter, arg);
		if (wrong)
			options_error(state, "--where '%s': %s", arg, wrong);
		break;
	case ARGP_KEY_ARGS:
		o->files = &state->argv[state->next];
		o->nr_files = (unsigned int)(state->argc - state->next);
		if (o->nr_files > FILES_MAX)
			options_error(state, "report takes %u files at most", FILES_MAX);
		break;
	case ARGP_KEY_NO_ARGS:
		options_error(state, "report needs the files that record has written");
	case ARGP_KEY_END:
		options_device(state, &o->filter.select);
		if (o->format == FORMAT_CSV && !o->commands)
			options_error(state, "--format csv is of --commands: all else has several "
					     "tables, which json has");
		if (o->format == FORMAT_CSV && o->slowest)
			options_error(state, "--slowest is for --format text and json");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option report_options[] = {
	{"slowest", KEY_SLOWEST, "N", 0, "Tell the story of the N slowest commands", SECTION_RUN},
	{"commands", KEY_COMMANDS, NULL, 0, "First of all print a line for each command",
	 SECTION_RUN},
	{"time", KEY_TIME, "FROM-TO", 0,
	 "Only commands that began in that time after their recording did, of merged ones the host's; FROM or TO "
	 "can be left out",
	 SECTION_SELECT},
	{"where", KEY_WHERE, "CONDITION", 0,
	 "Only commands of which a stage, or the latency, took such a time: 'network_transmission>1ms', or with >=, "
	 "<, <= or =. Given several times, all of them",
	 SECTION_SELECT},
	{NULL, 0, NULL, 0,
	 "Options that begin with Only select commands: all figures but losses are of those that are in each of "
	 "them. Numbers, ranges of them and words can be given several at a time, with commas.",
	 SECTION_NOTES},
	{0},
};

static const struct argp_child report_children[] = {
	[CHILD_FORMAT] = {.argp = &format_argp},
	[CHILD_SELECT] = {.argp = &select_argp},
	[CHILD_ENDED] = {.argp = &ended_argp},
	{.argp = &config_argp},
	{0},
};

static const struct argp report_argp = {
	.options = report_options,
	.parser = parse_report,
	.children = report_children,
	.args_doc = "FILE...",
	.doc = "Bring the recorded sides together, of any number of hosts and targets, in any order of "
	       "the files, and show where the time went in ten stages; of one side alone, and of what "
	       "does not match, that side's stages. Needs neither root nor BPF.\n"
	       "\v"
	       "Examples:\n"
	       "  ntprof-bpf report host.ntp target.ntp\n"
	       "                                    where the time went, both sides together\n"
	       "  ntprof-bpf report host.ntp target.ntp --slowest 3\n"
	       "                                    and the story of the 3 slowest commands\n"
	       "  ntprof-bpf report host.ntp target.ntp --op read --size 4k\n"
	       "                                    only reads of 4 KiB\n"
	       "  ntprof-bpf report host.ntp target.ntp --where 'network_transmission>1ms'\n"
	       "                                    only what took long on its way\n"
	       "  ntprof-bpf report host.ntp --commands\n"
	       "                                    one side, and a line for each command",
};

static int main_report(int argc, char **argv)
{
	struct report_options o = {0};

	options_parse(&report_argp, argc, argv, &o);
	return report(&o);
}

const struct verb verb_report = {
	.name = "report",
	.summary = "what was recorded, both sides together, in ten stages",
	.argp = &report_argp,
	.main = main_report,
};
