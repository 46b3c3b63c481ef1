// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verb trace. Each command has a line of key=value pairs: what it was, its latency, its points
 * in nanoseconds after the first one, and its stages in nanoseconds. A command that is in flight
 * for long has an additional line before that.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/announced_names.h"
#include "cli/confine.h"
#include "cli/options.h"
#include "cli/run.h"
#include "cli/transport.h"
#include "cli/verbs.h"
#include "core/names.h"
#include "core/time.h"
#include "view/commands.h"
#include "view/csv.h"
#include "view/event.h"
#include "view/json_block.h"
#include "view/json_report.h"
#include "view/losses.h"
#include "view/view.h"

/* Room for lines that wait for a slow reader: about 10,000. */
#define BUFFER_BYTES (4u << 20)
/*
 * How long a command is in flight before it gets a line of its own, if --slower does not set that.
 */
#define OVERDUE_NS 5000000000ULL
#define OVERDUE "5s"

/**
 * struct trace_options - the options of the verb trace
 * @run: side, threshold and the other options of each run
 * @count: end after this many commands; 0: never
 * @summary: print also the summary of the run, on standard error
 * @histogram: the summary has full-size histograms
 * @format: format of a command
 * @events: print a line when a command begins and one when it ends
 * @admin: @events for admin and fabrics commands
 * @raw: print whole submission queue entries
 * @origin: print where commands come from
 */
struct trace_options {
	struct run_options run;
	uint64_t count;
	bool summary;
	bool histogram;
	enum output_format format;
	bool events;
	bool admin;
	bool raw;
	bool origin;
};

struct trace {
	const struct trace_options *o;
	struct output *out;
	FILE *line; /* stream into @text, of @size bytes */
	char *text;
	size_t size;
	struct view_options view;     /* of standard error */
	bool begun;		      /* the header of CSV is written */
	struct announced_names names; /* of disks; for events */
	uint64_t printed;
	uint64_t left_out;
	uint64_t untold; /* left out since the last written line */
};

/* Return: 0 or a negative errno. */
static int print_one(const struct trace *t, const struct tracer *tracer, const char *controller,
		     const struct nt_record *r, const struct instant *now)
{
	struct command_line l;
	struct origin o;

	command_line_of_side(&l, controller, r, tracer_missing(tracer), now);
	l.has_origin = t->o->origin;
	if (l.has_origin && ORIGIN_OF(r->flags)) {
		tracer_origin(tracer, ORIGIN_OF(r->flags), &o);
		l.origin = &o;
	}
	if (t->o->format == FORMAT_JSON)
		return json_command_write(t->line, &l);
	if (t->o->format == FORMAT_CSV)
		csv_command(t->line, &l);
	else
		command_line_print(&l, t->line);
	return 0;
}

/* Fills in the disk of a command. Return: 0 or -ENOMEM */
static int find_disk(struct trace *t, const struct tracer *tracer, struct event_row *row)
{
	const struct device_name *disk;
	struct device_name d;
	struct queue_info q;

	if (announced_names_queue(&t->names, tracer, row->r, &q) < 0 ||
	    announced_names_device(&t->names, row->r, &d) < 0)
		return -ENOMEM;
	disk = places_device_of(t->names.places, row->r);
	if (disk && disk->name[0])
		row->disk = disk->name;
	return 0;
}

static int print_event(const struct trace *t, const struct event_row *row)
{
	if (t->o->format == FORMAT_JSON)
		return json_write(t->line, event_json(row));
	event_print(row, t->line);
	return 0;
}

/* Return: 0, -ENOMEM, or the result of output_put() for the lines in @t->line. */
static int put_lines(struct trace *t)
{
	if (fflush(t->line))
		return -ENOMEM;
	return output_put(t->out, t->text, t->size, 1);
}

/*
 * CSV has no line for losses; its reader learns from the end how many are missing. Return: 0 or
 * -ENOMEM
 */
static int print_lost(const struct trace *t, const struct event_row *row)
{
	return t->o->format == FORMAT_CSV ? 0 : print_event(t, row);
}

/*
 * The first line after a gap is preceded by one that says how many were left out. Return: 0 or
 * -ENOMEM
 */
static int print_untold(const struct trace *t, const struct event_row *next)
{
	struct event_row slow;

	if (!t->untold)
		return 0;
	event_init_slow(&slow, t->untold, next);
	return print_lost(t, &slow);
}

/* Return: 0 or -ENOMEM */
static int print_any(struct trace *trace, const struct tracer *t, const struct nt_record *r)
{
	bool lost = r->flags & NT_F_LOST;
	uint32_t missing = tracer_missing(t);
	char controller[32] = "";
	struct instant now = instant_now();
	struct event_row row;
	struct origin o;
	int err;

	if (!lost)
		tracer_controller_name(t, r, controller, sizeof(controller));
	event_init(&row, controller, r, missing, &now);
	err = print_untold(trace, &row);
	if (err)
		return err;
	if (lost)
		return print_lost(trace, &row);
	if (!trace->o->events)
		return print_one(trace, t, controller, r, &now);
	row.raw = trace->o->raw;
	if (trace->o->origin && ORIGIN_OF(r->flags)) {
		tracer_origin(t, ORIGIN_OF(r->flags), &o);
		row.origin = &o;
	}
	return find_disk(trace, t, &row) ?: print_event(trace, &row);
}

static int print_record(void *context, const struct tracer *t, const struct nt_record *r)
{
	struct trace *trace = context;
	int err;

	rewind(trace->line);
	if (print_any(trace, t, r) || (err = put_lines(trace)) == -ENOMEM)
		return -ENOMEM;
	/* run() reports the output's error and ends the run; until then more records may come. */
	if (err) {
		trace->left_out += err != -EPIPE;
		trace->untold++;
		return 0;
	}
	trace->untold = 0;
	/* The command has another line at its end, which is counted. */
	if (r->flags & (NT_F_BEGUN | NT_F_LOST | NT_F_IN_FLIGHT))
		return 0;
	return trace->o->count && ++trace->printed >= trace->o->count;
}

static uint64_t left_out(void *context)
{
	const struct trace *trace = context;

	return trace->left_out;
}

/*
 * Called after each round of events: lines come out in time, and those of one round with one write.
 */
static void flush_lines(void *context)
{
	const struct trace *trace = context;

	output_flush(trace->out);
}

static void cut(void *context)
{
	const struct trace *trace = context;
	struct output_rest rest;

	if (!output_cut(trace->out, &rest) && rest.pieces)
		fprintf(stderr, "the last %u lines are left out\n", rest.pieces);
}

/* Writes the header of CSV once, also if the module never comes. Return: 0 or -ENOMEM. */
static int put_header(struct trace *t)
{
	if (t->o->format != FORMAT_CSV || t->begun)
		return 0;
	t->begun = true;
	rewind(t->line);
	csv_commands_header(t->line, t->o->run.side, t->o->origin);
	return put_lines(t) == -ENOMEM ? -ENOMEM : 0;
}

/*
 * If the reader does not take this line, it has missed others as well, which is reported. Return: 0
 * or -ENOMEM.
 */
static int print_end(struct trace *t, const struct stats *s)
{
	struct json_object *o;

	if (t->o->format != FORMAT_JSON)
		return 0;
	o = json_new("end");
	json_put_time(o);
	json_put(o, "losses", json_losses(s->counters_total));
	rewind(t->line);
	return json_write(t->line, o) || put_lines(t) == -ENOMEM ? -ENOMEM : 0;
}

/* Prints how many commands the lines lack. */
static int print_losses(void *context, const struct stats *s)
{
	struct trace *trace = context;
	int err = put_header(trace) ?: print_end(trace, s);

	if (err)
		return err;
	if (!trace->o->summary) {
		losses_print_some(s, stderr);
		return 0;
	}
	trace->view.out = stderr;
	return view_summary(s, &trace->view);
}

static int begin(void *context, const struct tracer *t)
{
	struct trace *trace = context;

	enum nt_source source = tracer_source(t);

	fprintf(stderr, "%s of %s\n", source_name(source),
		source == NT_CORE ? "nvme_core" : driver_name(trace->o->run.side));
	return put_header(trace);
}

static void waiting(void *context)
{
	struct trace *trace = context;

	fprintf(stderr, WAITING_FOR_MODULE "%s: %s\n",
		module_traced(trace->o->run.side, trace->o->run.transports),
		module_load(trace->o->run.side, trace->o->run.transports));
	/* If memory ran out, the header is tried again when tracing begins, or at the end. */
	trace->begun = !put_header(trace);
}

static int trace(const struct trace_options *o)
{
	struct run_callbacks callbacks = {
		.select = run_selects(&o->run),
		.begin = begin,
		.record = print_record,
		.events = o->events,
		.origins = o->origin ? NT_ORIGIN_PLACE | NT_ORIGIN_TASK : 0,
		.origins_pass = true,
		.tells_lost = o->format != FORMAT_CSV,
		.waiting = waiting,
		.end = print_losses,
		.output_name = "standard output",
		.left_out = left_out,
		.round = flush_lines,
		.cut = cut,
	};
	struct trace t = {.o = o};
	int status = EXIT_FAILURE;

	confine_begin(o->run.verbose);
	t.out = output_new(STDOUT_FILENO, BUFFER_BYTES);
	t.line = open_memstream(&t.text, &t.size);
	if (t.out && t.line && !announced_names_init(&t.names)) {
		callbacks.output = t.out;
		view_setup(&t.view, stderr);
		t.view.histogram = o->histogram;
		status = run(&o->run, &callbacks, &t);
	} else {
		fprintf(stderr, "ntprof-bpf: %s\n", strerror(errno));
	}
	announced_names_free(&t.names);
	if (t.line)
		fclose(t.line);
	free(t.text);
	output_free(t.out);
	return status;
}

enum { KEY_SUMMARY = 0x100, KEY_EVENTS, KEY_ADMIN, KEY_RAW, KEY_ORIGIN };

enum {
	CHILD_RUN,
	CHILD_COMMANDS,
	CHILD_HISTOGRAM,
	CHILD_FORMAT,
	CHILD_ENDED,
	CHILD_SELECT,
	CHILD_TRANSPORT
};

/* Refuses options that need the end of a command. */
static void check_events(const struct argp_state *state, struct trace_options *o)
{
	const char *option = o->admin ? "--admin" : "--events";

	if (o->raw && !o->events)
		options_error(state, "--raw is for --events and --admin: it shows what a command "
				     "begins with");
	if (!o->events)
		return;
	/* No lines for commands in flight for long, because each has a line when it begins. */
	o->run.overdue_ns = 0;
	if (o->run.only.failed || o->run.only.slower_ns)
		options_error(state,
			      "%s shows commands when they begin: --failed and --slower are "
			      "for lines of whole commands",
			      option);
	if (o->format == FORMAT_CSV)
		options_error(state, "%s has --format text and json", option);
	if (o->admin && o->run.only.by.ops)
		options_error(state, "--admin is of the operations admin and fabrics: leave out "
				     "--op");
	if (o->admin)
		o->run.only.by.ops = 1u << NT_OP_ADMIN | 1u << NT_OP_FABRICS;
}

static error_t parse_trace(int key, char *arg, struct argp_state *state)
{
	struct trace_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_RUN] = &o->run;
		state->child_inputs[CHILD_TRANSPORT] = &o->run;
		state->child_inputs[CHILD_COMMANDS] = &o->count;
		state->child_inputs[CHILD_HISTOGRAM] = &o->histogram;
		state->child_inputs[CHILD_FORMAT] = &o->format;
		state->child_inputs[CHILD_ENDED] = &o->run.only;
		state->child_inputs[CHILD_SELECT] = &o->run.only;
		break;
	case KEY_SUMMARY:
		o->summary = true;
		break;
	case KEY_ADMIN:
		o->admin = true;
		o->events = true;
		break;
	case KEY_ORIGIN:
		o->origin = true;
		break;
	case KEY_EVENTS:
		o->events = true;
		break;
	case KEY_RAW:
		o->raw = true;
		break;
	case ARGP_KEY_END:
		transport_options_end(state, &o->run);
		check_events(state, o);
		if (o->origin && o->run.side == NT_TARGET)
			options_error(state, "--origin: only the host knows where commands come "
					     "from: trace --host --origin");
		if (o->run.only.slower_ns)
			o->run.overdue_ns = o->run.only.slower_ns;
		if (o->histogram && !o->summary)
			options_error(state,
				      "--histogram is for the live view and for trace --summary");
		/* A command that takes as long as that begins before its burst or ends after it. */
		if (burst_any(&o->run.burst) && o->run.only.slower_ns >= o->run.burst.on_ns)
			options_error(state, "no command that takes as long as --slower is whole "
					     "in a burst: ON has to be longer than that");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option trace_options[] = {
	{"summary", KEY_SUMMARY, NULL, 0,
	 "End with the live view's summary of the same commands, on standard error; --histogram is "
	 "for this summary",
	 SECTION_SHOW},
	{"events", KEY_EVENTS, NULL, 0,
	 "Print a line when a command begins, with the fields of its submission queue entry, and one when it ends",
	 SECTION_SHOW},
	{"admin", KEY_ADMIN, NULL, 0,
	 "Print a line when an admin or fabrics command begins, and one when it ends",
	 SECTION_SHOW},
	{"raw", KEY_RAW, NULL, 0,
	 "With --events or --admin: print as well the rest of each submission queue entry, in hexadecimal: dwords 2, 3 and 10 to 15, metadata and data pointers",
	 SECTION_SHOW},
	{"origin", KEY_ORIGIN, NULL, 0,
	 "With --host: print as well from which CPU and cgroup each command comes, and which process submitted it",
	 SECTION_SHOW},
	{NULL, 0, NULL, 0,
	 "A command that is still in flight after " OVERDUE
	 ", or the TIME of --slower, gets a line that says so, once, and another one when it ends.",
	 SECTION_NOTES},
	{0},
};

static const struct argp_child trace_children[] = {
	[CHILD_RUN] = {.argp = &run_argp},
	[CHILD_COMMANDS] = {.argp = &commands_argp},
	[CHILD_HISTOGRAM] = {.argp = &histogram_argp},
	[CHILD_FORMAT] = {.argp = &format_argp},
	[CHILD_ENDED] = {.argp = &ended_argp},
	[CHILD_SELECT] = {.argp = &select_argp},
	[CHILD_TRANSPORT] = {.argp = &transport_argp},
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
	       "  ntprof-bpf trace --host --admin   what hosts and targets say to each other\n"
	       "                                    besides I/O\n"
	       "  ntprof-bpf trace --host -d 10 --summary >commands.txt\n"
	       "                                    those of 10 seconds into a file, and what\n"
	       "                                    they add up to on the terminal",
};

static int main_trace(int argc, char **argv)
{
	struct trace_options o = {.run = RUN_OPTIONS_DEFAULT};

	o.run.overdue_ns = OVERDUE_NS;
	options_parse(&trace_argp, argc, argv, &o);
	return trace(&o);
}

const struct verb verb_trace = {
	.name = "trace",
	.summary = "one line a command",
	.argp = &trace_argp,
	.main = main_trace,
};
