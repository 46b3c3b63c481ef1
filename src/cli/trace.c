// SPDX-License-Identifier: GPL-2.0-only
/*
 * One line a command, in key=value pairs: what it was, its latency, its points in nanoseconds after
 * the first one, and its stages in nanoseconds.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/options.h"
#include "cli/run.h"
#include "cli/verbs.h"
#include "core/names.h"
#include "core/segments.h"
#include "view/view.h"

/**
 * struct trace_options - what the verb trace was asked
 * @run: side, threshold and what else every run has
 * @count: end after this many commands; 0 is never
 * @summary: print the summary of the run as well, on standard error
 * @histogram: with full-size histograms
 */
struct trace_options {
	struct run_options run;
	uint64_t count;
	bool summary;
	bool histogram;
};

struct trace {
	const struct trace_options *o;
	uint64_t printed;
};

static int print_record(void *context, const struct tracer *t, const struct nt_record *r)
{
	uint64_t stage[NT_STAGES_MAX], first = 0, last = 0;
	struct trace *trace = context;
	uint8_t into[NT_STAGES_MAX];
	char controller[32], name[256];

	for (unsigned int i = 0; i < points_nr(r->side); i++) {
		if (!r->points[i])
			continue;
		if (!first)
			first = r->points[i];
		last = r->points[i];
	}
	tracer_controller_name(t, r, controller, sizeof(controller));
	printf("%" PRIu64 ".%09" PRIu64
	       " %s %s q%u cid=0x%04x op=%s opcode=0x%02x shape=%s nsid=%u "
	       "slba=%" PRIu64 " length=%u status=0x%x",
	       (uint64_t)(first / 1000000000), (uint64_t)(first % 1000000000), side_name(r->side),
	       controller, r->qid, r->cid, op_name(r->op), r->opcode, shape_name(r->shape), r->nsid,
	       (uint64_t)r->slba, r->length, r->status);
	if (r->flags & NT_F_REQUEUED)
		printf(" requeued");
	if (r->flags & NT_F_NO_CQE)
		printf(" no_cqe");
	if (r->flags & NT_F_CANCELLED)
		printf(" cancelled");
	printf(" latency=%" PRIu64 " |", last - first);
	for (unsigned int i = 0; i < points_nr(r->side); i++)
		if (r->points[i])
			printf(" %s=%" PRIu64, point_name(r->side, i),
			       (uint64_t)r->points[i] - first);
	printf(" |");
	if (record_stages_joined(r, tracer_missing(t), into, stage)) {
		for (unsigned int i = 0; i < stages_nr(r->side); i++)
			if (into[i] == i)
				printf(" %s=%" PRIu64,
				       stage_joined_name(r->side, into, i, name, sizeof(name)),
				       stage[i]);
	} else {
		printf(" unsplit");
	}
	printf("\n");
	if (ferror(stdout))
		return -EIO;
	return trace->o->count && ++trace->printed >= trace->o->count;
}

/* What a reader has to know of what is not in the lines. */
static int print_losses(void *context, const struct stats *s)
{
	const struct trace *trace = context;
	struct view_options view;

	if (trace->o->summary) {
		view_setup(&view, stderr);
		view.histogram = trace->o->histogram;
		return view_summary(s, &view) || fflush(stdout) ? -EIO : 0;
	}
	for (unsigned int i = 0; i < COUNTERS_NR; i++)
		if (s->counters_total[i])
			fprintf(stderr, "%s %" PRIu64 "  # %s\n", counter_name(i),
				s->counters_total[i], counter_help(i));
	return fflush(stdout) ? -EIO : 0;
}

static int begin(void *context, const struct tracer *t)
{
	const struct trace *trace = context;

	fprintf(stderr, "%s of %s\n", source_name(tracer_source(t)),
		driver_name(trace->o->run.side));
	return 0;
}

static void waiting(void *context)
{
	const struct trace *trace = context;

	fprintf(stderr, "waiting for module %s\n", driver_name(trace->o->run.side));
}

static int trace(const struct trace_options *o)
{
	const struct run_callbacks callbacks = {
		.select = o->run.slower_ns ? NT_SELECT_SLOWER : NT_SELECT_ALL,
		.begin = begin,
		.record = print_record,
		.waiting = waiting,
		.end = print_losses,
	};
	struct trace t = {.o = o};

	return run(&o->run, &callbacks, &t);
}

enum { KEY_SLOWER = 0x100, KEY_SUMMARY };

enum { CHILD_RUN, CHILD_COMMANDS, CHILD_HISTOGRAM };

static error_t parse_trace(int key, char *arg, struct argp_state *state)
{
	struct trace_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_RUN] = &o->run;
		state->child_inputs[CHILD_COMMANDS] = &o->count;
		state->child_inputs[CHILD_HISTOGRAM] = &o->histogram;
		break;
	case KEY_SLOWER:
		o->run.slower_ns = options_time(state, "--slower", arg, 1, "1ns");
		break;
	case KEY_SUMMARY:
		o->summary = true;
		break;
	case ARGP_KEY_END:
		if (o->histogram && !o->summary)
			options_error(state,
				      "--histogram is for the live view and for trace --summary");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option trace_options[] = {
	{"slower", KEY_SLOWER, "TIME", 0, "Only commands that took TIME or longer", SECTION_RUN},
	{"summary", KEY_SUMMARY, NULL, 0,
	 "End with the live view's summary of the same commands, on standard error; --histogram is "
	 "for this summary",
	 SECTION_RUN},
	{0},
};

static const struct argp_child trace_children[] = {
	[CHILD_RUN] = {.argp = &run_argp},
	[CHILD_COMMANDS] = {.argp = &commands_argp},
	[CHILD_HISTOGRAM] = {.argp = &histogram_argp},
	{0},
};

static const struct argp trace_argp = {
	.options = trace_options,
	.parser = parse_trace,
	.children = trace_children,
	.doc = "Print one line a command: what it was, its latency, its points and its stages, in "
	       "nanoseconds.\n"
	       "\v"
	       "Examples:\n"
	       "  ntprof-bpf trace --host -n 100    each of the next 100 commands\n"
	       "  ntprof-bpf trace --target --slower 2ms\n"
	       "                                    each command that took 2 ms or more\n"
	       "  ntprof-bpf trace --host -d 10 --summary >commands.txt\n"
	       "                                    those of 10 seconds into a file, and what\n"
	       "                                    they add up to on the terminal",
};

static int main_trace(int argc, char **argv)
{
	struct trace_options o = {.run = RUN_OPTIONS_DEFAULT};

	options_parse(&trace_argp, argc, argv, &o);
	return trace(&o);
}

const struct verb verb_trace = {
	.name = "trace",
	.summary = "one line a command",
	.argp = &trace_argp,
	.main = main_trace,
};
