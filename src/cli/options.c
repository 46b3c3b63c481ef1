// SPDX-License-Identifier: GPL-2.0-only
#include "cli/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "cli/standard_output.h"
#include "core/array.h"
#include "core/burst.h"
#include "core/names.h"
#include "core/text.h"
#include "core/units.h"
#include "view/json_schema.h"

/* The shortest duration, in nanoseconds and as users write it. */
#define DURATION_MIN_NS 100000000ULL
#define DURATION_MIN "100ms"
/* Room for a message: an argument, which may be a path or a command, and the words around it. */
#define MESSAGE_LEN 8192
/* A smaller sample than one command in this many shows nothing of use. */
#define SAMPLE_MAX 1000000u

const char *argp_program_version = "ntprof-bpf " NTPROF_VERSION;

/* File-wide, because argp's parsers could get at it only through the input of each verb. */
static const char *const *line_origins;
static int line_words;

void options_origins(const char *const *origins, int nr)
{
	line_origins = origins;
	line_words = origins ? nr : 0;
}

/* A word from the file contains its argument, so argp has consumed one word only. */
const char *options_origin(const struct argp_state *state)
{
	int at = state->next - 1;

	return at > 0 && at < line_words ? line_origins[at] : NULL;
}

void options_parse(const struct argp *argp, int argc, char **argv, void *result)
{
	argp_err_exit_status = EX_USAGE;
	argp_parse(argp, argc, argv, 0, NULL, result);
}

void options_error(const struct argp_state *state, const char *format, ...)
{
	const char *origin = options_origin(state);
	char message[MESSAGE_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	fprintf(stderr, "ntprof-bpf: %s%s%s", origin ?: "", origin ? ": " : "",
		text_harmless(message));
	fprintf(stderr, "\nTry `%s --help' for more information.\n", state->name);
	exit(EX_USAGE);
}

void options_device(const struct argp_state *state, struct select *s)
{
	const char *wrong = s->device ? select_device(&s->by, "/sys", s->device) : NULL;

	if (wrong)
		options_error(state, "%s%s--device %s: %s", s->device_origin ?: "",
			      s->device_origin ? ": " : "", s->device, wrong);
}

void options_no_word(const struct argp_state *state, const char *word)
{
	options_error(state, "too many arguments: '%s'", word);
}

uint64_t options_time(const struct argp_state *state, const char *option, const char *text,
		      uint64_t least, const char *least_text)
{
	uint64_t ns = 0;

	if (parse_seconds(text, &ns))
		options_error(state, "%s %s: not a time (such as 5, 0.5, 200ms or 2m)", option,
			      text);
	if (ns < least)
		options_error(state, "%s %s: too short, the least is %s", option, text, least_text);
	return ns;
}

uint64_t options_count(const struct argp_state *state, const char *option, const char *text,
		       uint64_t most)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end || end == text || *text < '0' || *text > '9' || n == 0)
		options_error(state, "%s %s: not a positive whole number", option, text);
	if (n > most)
		options_error(state, "%s %s: too many, the most is %llu", option, text,
			      (unsigned long long)most);
	return n;
}

enum {
	KEY_HOST = 0x100,
	KEY_TARGET,
	KEY_SOURCE,
	KEY_SAMPLE,
	KEY_HISTOGRAM,
	KEY_FORMAT,
	KEY_JSON_SCHEMA,
	KEY_BURST,
	KEY_CONFIG,
};

static error_t parse_side(int key, char *arg, struct argp_state *state)
{
	enum nt_side *side = state->input, named = key == KEY_HOST ? NT_HOST : NT_TARGET;

	if (key != KEY_HOST && key != KEY_TARGET)
		return ARGP_ERR_UNKNOWN;
	if (*side != NT_SIDES && *side != named)
		options_error(state, "--host and --target are two sides: run it once for each");
	*side = named;
	return 0;
}

static const struct argp_option side_options[] = {
	{"host", KEY_HOST, NULL, 0, "This machine is the NVMe/TCP host (initiator)", SECTION_SIDE},
	{"target", KEY_TARGET, NULL, 0, "This machine is the NVMe/TCP target", SECTION_SIDE},
	{0},
};

const struct argp side_argp = {.options = side_options, .parser = parse_side};

static error_t parse_source(int key, char *arg, struct argp_state *state)
{
	enum nt_source *source = state->input;

	if (key != KEY_SOURCE)
		return ARGP_ERR_UNKNOWN;
	for (*source = 0; *source < NT_SOURCES; ++*source)
		if (!strcmp(arg, source_name(*source)))
			return 0;
	options_error(state, "--source %s: neither tracepoints nor stock", arg);
}

static const struct argp_option source_options[] = {
	{"source", KEY_SOURCE, "SOURCE", 0,
	 "Take points from the tracepoints of a patched driver, or from stock probes that need no "
	 "patch: tracepoints or stock (default: tracepoints where the driver has them)",
	 SECTION_SIDE},
	{0},
};

const struct argp source_argp = {.options = source_options, .parser = parse_source};

/* At the end of a line: look up the cgroup that commands are selected by, if there is one. */
static void options_cgroup(const struct argp_state *state, struct run_options *o)
{
	const char *origin = o->only.cgroup_origin, *wrong = NULL;

	if (!o->only.cgroup[0])
		return;
	if (o->side == NT_TARGET)
		wrong = "only the host knows whose I/O a command is, where the same works";
	else
		wrong = select_cgroup(&o->only.by, o->only.cgroup);
	if (wrong)
		options_error(state, "%s%s--cgroup %s: %s", origin ?: "", origin ? ": " : "",
			      o->only.cgroup, wrong);
}

/* The file's options are in the line already. */
static error_t parse_config(int key, char *arg, struct argp_state *state)
{
	return key == KEY_CONFIG ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp_option config_options[] = {
	{"config", KEY_CONFIG, "FILE", 0,
	 "Take options from FILE: section [all] and that of this verb, with long options as keys; or one that is "
	 "ntprof's. The command line takes precedence",
	 SECTION_RUN},
	{0},
};

const struct argp config_argp = {.options = config_options, .parser = parse_config};

static error_t parse_measure(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;

	switch (key) {
	case KEY_SAMPLE:
		o->sample = (uint32_t)options_count(state, "--sample", arg, SAMPLE_MAX);
		return 0;
	case 'd':
		o->duration_ns =
			options_time(state, "--duration", arg, DURATION_MIN_NS, DURATION_MIN);
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option measure_options[] = {
	{"sample", KEY_SAMPLE, "N", 0,
	 "Measure about one command in N, which costs less: the others are at most counted. Host and "
	 "target pick the same ones if they are given the same N",
	 SECTION_RUN},
	{"duration", 'd', "TIME", 0, "End after TIME", SECTION_RUN},
	{"verbose", 'v', NULL, 0, "Explain what is loaded and what it costs, on standard error",
	 SECTION_VERBOSE},
	{NULL, 0, NULL, 0,
	 "TIME is a number of seconds, or a number with a unit: ns, us, ms, s, m or h.",
	 SECTION_NOTES},
	{0},
};

const struct argp measure_argp = {.options = measure_options, .parser = parse_measure};

enum { RUN_SIDE, RUN_SOURCE, RUN_MEASURE };

static error_t parse_run(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;
	const char *wrong;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[RUN_SIDE] = &o->side;
		state->child_inputs[RUN_SOURCE] = &o->source;
		state->child_inputs[RUN_MEASURE] = o;
		break;
	case KEY_BURST:
		wrong = burst_parse(arg, &o->burst);
		if (wrong)
			options_error(state, "--burst %s: %s", arg, wrong);
		break;
	case ARGP_KEY_ARG:
		options_no_word(state, arg);
	case ARGP_KEY_END:
		if (o->side == NT_SIDES)
			options_error(state, "say which side this machine is: --host or --target");
		if (o->side == NT_TARGET && o->only.by.instances.nr)
			options_error(state, "--ctrl nvmeN is what a host calls it: a target knows "
					     "controllers by their ids, such as --ctrl 1");
		if (o->side == NT_TARGET && o->only.device)
			options_error(state, "--device is what a host calls it: a target knows "
					     "namespaces by --nqn and --nsid");
		options_device(state, &o->only);
		options_cgroup(state, o);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option run_options[] = {
	{"burst", KEY_BURST, "ON/EVERY", 0,
	 "Measure for the time ON in each time EVERY, such as 1s/60s, and cost nothing in between. Bursts "
	 "begin at multiples of the wall clock, so host and target burst together if their clocks agree. "
	 "ON, and what is left of EVERY, are " BURST_MIN " at least",
	 SECTION_RUN},
	{NULL, 0, NULL, 0,
	 "Options that begin with Only select commands, all that are in each of them; numbers, ranges of them and words can be given several at a "
	 "time, with commas.",
	 SECTION_NOTES},
	{0},
};

static const struct argp_child run_children[] = {
	[RUN_SIDE] = {.argp = &side_argp},
	[RUN_SOURCE] = {.argp = &source_argp},
	[RUN_MEASURE] = {.argp = &measure_argp},
	{.argp = &config_argp},
	{0},
};

const struct argp run_argp = {
	.options = run_options,
	.parser = parse_run,
	.children = run_children,
};

static error_t parse_count(int key, char *arg, struct argp_state *state)
{
	uint64_t *count = state->input;

	if (key != 'n')
		return ARGP_ERR_UNKNOWN;
	*count = options_count(state, "--count", arg, UINT64_MAX);
	return 0;
}

static const struct argp_option blocks_options[] = {
	{"count", 'n', "N", 0, "End after N blocks", SECTION_RUN},
	{0},
};

static const struct argp_option commands_options[] = {
	{"count", 'n', "N", 0, "End after N commands", SECTION_RUN},
	{0},
};

const struct argp blocks_argp = {.options = blocks_options, .parser = parse_count};
const struct argp commands_argp = {.options = commands_options, .parser = parse_count};

static error_t parse_histogram(int key, char *arg, struct argp_state *state)
{
	if (key != KEY_HISTOGRAM)
		return ARGP_ERR_UNKNOWN;
	*(bool *)state->input = true;
	return 0;
}

static const struct argp_option histogram_options[] = {
	{"histogram", KEY_HISTOGRAM, NULL, 0,
	 "Print full-size histograms of every queue and operation", SECTION_RUN},
	{0},
};

const struct argp histogram_argp = {.options = histogram_options, .parser = parse_histogram};

static void print_schema(void) __attribute__((noreturn));

static void print_schema(void)
{
	int err = json_schema_print(stdout);

	if (!err)
		err = standard_output_finish();
	if (err)
		fprintf(stderr, "ntprof-bpf: cannot print the schema: %s\n", strerror(-err));
	exit(err ? EXIT_FAILURE : EXIT_SUCCESS);
}

static error_t parse_format(int key, char *arg, struct argp_state *state)
{
	static const char *const names[] = {
		[FORMAT_TEXT] = "text",
		[FORMAT_JSON] = "json",
		[FORMAT_CSV] = "csv",
	};
	enum output_format *format = state->input;

	if (key == KEY_JSON_SCHEMA)
		print_schema();
	if (key != KEY_FORMAT)
		return ARGP_ERR_UNKNOWN;
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(arg, names[i])) {
			*format = (enum output_format)i;
			return 0;
		}
	}
	options_error(state, "--format %s: neither text nor json nor csv", arg);
}

static const struct argp_option format_options[] = {
	{"format", KEY_FORMAT, "FORMAT", 0,
	 "text (default); json: an object a line, numbers in nanoseconds and bytes; csv: a header, and a "
	 "line for each row",
	 SECTION_RUN},
	{"json-schema", KEY_JSON_SCHEMA, NULL, 0,
	 "Print the JSON Schema of --format json, and exit", SECTION_NOTES},
	{0},
};

const struct argp format_argp = {.options = format_options, .parser = parse_format};
