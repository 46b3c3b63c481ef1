// SPDX-License-Identifier: GPL-2.0-only
#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <output.schema.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "cli/verbs.h"
#include "core/device.h"
#include "core/hash.h"
#include "core/names.h"
#include "core/text.h"
#include "core/time.h"
#include "core/transport.h"
#include "peer/child.h"
#include "trace/kernel.h"
#include "view/limits.h"

/* The shortest duration, in nanoseconds and as users write it. */
#define DURATION_MIN_NS 100000000ULL
#define DURATION_MIN "100ms"
/* Room for a message: an argument, which may be a path or a command, and the words around it. */
#define MESSAGE_LEN 8192
/* A smaller sample than one command in this many shows nothing of use. */
#define SAMPLE_MAX 1000000u

/* File-wide, because argp's parsers could get at it only through the input of each verb. */
static const char *const *line_origins;
static int line_words;

void options_origins(const char *const *origins, int nr)
{
	line_origins = origins;
	line_words = origins ? nr : 0;
}

/* A word from the file contains its argument, so argp has consumed one word only. */
static const char *options_origin(const struct argp_state *state)
{
	int at = state->next - 1;

	return at > 0 && at < line_words ? line_origins[at] : NULL;
}

/* The help text: argp's, but for its list of options, which would be in order of the alphabet. */

#define HELP_COLUMNS 79
#define HELP_TEXT_COLUMN 29

/* Prints words, after @at columns of the line, and further lines from @column on. */
static void print_wrapped(unsigned int column, unsigned int at, const char *text)
{
	if (at && at >= column) {
		putchar('\n');
		at = 0;
	}
	printf("%*s", (int)(column - at), "");
	at = column;
	while (*text) {
		unsigned int length = (unsigned int)strcspn(text, " ");

		if (at > column && at + 1 + length > HELP_COLUMNS) {
			printf("\n%*s", (int)column, "");
			at = column;
		}
		at += (unsigned int)printf("%s%.*s", at > column ? " " : "", (int)length, text);
		text += length + (text[length] == ' ');
	}
	putchar('\n');
}

static void print_option(const struct argp_option *o)
{
	char letter[] = {'-', (char)o->key, ',', '\0'};
	int at;

	if (!o->name) {
		putchar('\n');
		print_wrapped(0, 0, o->doc);
		return;
	}
	at = printf("  %3s --%s%s%s", o->key > ' ' && o->key <= '~' ? letter : "", o->name,
		    o->arg ? "=" : "", o->arg ?: "");
	print_wrapped(HELP_TEXT_COLUMN, (unsigned int)at, o->doc);
}

/* @heading: printed before the first option; set to NULL then */
static void print_section(const struct argp *argp, int section, const char **heading)
{
	for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++) {
		if (o->group != section || o->flags & OPTION_HIDDEN)
			continue;
		if (*heading)
			printf("\n%s:\n", *heading);
		*heading = NULL;
		print_option(o);
	}
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		print_section(c->argp, section, heading);
}

static void print_help(const struct argp_state *state) __attribute__((noreturn));

static void print_help(const struct argp_state *state)
{
	static const char *const headings[] = {
		[SECTION_WATCH] = "What to watch",
		[SECTION_SELECT] = "Which commands",
		[SECTION_SHOW] = "What to show",
		[SECTION_TIME] = "When, how long, how many",
		[SECTION_FLIGHT] = "Flight recorder",
		[SECTION_OUTPUT] = "Output",
		[SECTION_OTHER] = "Other",
		[SECTION_NOTES] = NULL,
	};

	argp_state_help(state, stdout, ARGP_HELP_SHORT_USAGE | ARGP_HELP_PRE_DOC);
	for (int i = SECTION_WATCH; i <= SECTION_NOTES; i++) {
		const char *heading = headings[i];

		print_section(state->root_argp, i, &heading);
	}
	putchar('\n');
	argp_state_help(state, stdout, ARGP_HELP_POST_DOC);
	exit(EXIT_SUCCESS);
}

enum { KEY_USAGE = 0x100 };

static error_t parse_standard(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'h':
	case '?':
		print_help(state);
	case KEY_USAGE:
		argp_state_help(state, stdout, ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		return 0;
	case 'V':
		puts("ntprof-bpf " NTPROF_VERSION);
		exit(EXIT_SUCCESS);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option standard_options[] = {
	{"help", 'h', NULL, 0, "Print this text", SECTION_OTHER},
	{NULL, '?', NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, SECTION_OTHER},
	{"usage", KEY_USAGE, NULL, 0, "Print the options in brief", SECTION_OTHER},
	{"version", 'V', NULL, 0, "Print the version", SECTION_OTHER},
	{0},
};

const struct argp standard_argp = {.options = standard_options, .parser = parse_standard};

void options_parse(const struct argp *argp, int argc, char **argv, void *result)
{
	const struct argp_child children[] = {{.argp = argp}, {.argp = &standard_argp}, {0}};
	/* Without a parser, @result is the input of the first child. */
	const struct argp all = {.children = children};

	argp_err_exit_status = EX_USAGE;
	argp_parse(&all, argc, argv, ARGP_NO_HELP, NULL, result);
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

/* At the end of a line: looks up the device that commands are selected by, if there is one. */
static void options_device(const struct argp_state *state, struct select *s)
{
	const char *wrong = NULL;

	if (s->device)
		wrong = select_device(&s->by, "/sys", s->device, &s->device_transports);
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
	KEY_POINTS,
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
	{"host", KEY_HOST, NULL, 0,
	 "Watch the commands that this machine sends: it is the NVMe/TCP host (initiator)",
	 SECTION_WATCH},
	{"target", KEY_TARGET, NULL, 0,
	 "Watch the commands that this machine serves: it is the NVMe/TCP target", SECTION_WATCH},
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
	 SECTION_OTHER},
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
	 SECTION_OTHER},
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
		o->verbose++;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option measure_options[] = {
	{"duration", 'd', "TIME", 0, "End after TIME", SECTION_TIME},
	{"sample", KEY_SAMPLE, "N", 0,
	 "Measure about one command in N, which costs less: the others are at most counted. Host and "
	 "target pick the same ones if they are given the same N",
	 SECTION_TIME},
	{"verbose", 'v', NULL, OPTION_REPEATS,
	 "Explain what is loaded and what it costs, on standard error; -vv also has the messages of libbpf",
	 SECTION_OTHER},
	{NULL, 0, NULL, 0,
	 "TIME is a number of seconds, or a number with a unit: ns, us, ms, s, m or h.",
	 SECTION_NOTES},
	{0},
};

const struct argp measure_argp = {.options = measure_options, .parser = parse_measure};

/* Where no side was named: that whose driver is loaded. */
static enum nt_side side_of_driver(const struct argp_state *state)
{
	bool host = kernel_has_module(driver_name(NT_HOST));
	bool target = kernel_has_module(driver_name(NT_TARGET));

	if (host && target)
		options_error(state, "this machine is both: take --host for the commands that it "
				     "sends, or --target for those that it serves");
	if (!host && !target && transports_there("/sys"))
		return NT_HOST;
	if (!host && !target)
		options_error(state, "no driver of NVMe/TCP is loaded: modprobe nvme-tcp on a "
				     "host, modprobe nvmet-tcp on a target; with --host or "
				     "--target the program waits for it");
	return host ? NT_HOST : NT_TARGET;
}

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
	case KEY_POINTS:
		o->ends = !strcmp(arg, "ends");
		o->fine = !strcmp(arg, "fine");
		o->points = true;
		if (!o->ends && !o->fine && strcmp(arg, "all") != 0)
			options_error(state, "--points %s: neither ends, all nor fine", arg);
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
			o->side = side_of_driver(state);
		if (o->side == NT_TARGET && o->only.by.instances.nr)
			options_error(state, "--ctrl nvmeN is what a host calls it: a target knows "
					     "controllers by their ids, such as --ctrl 1");
		if (o->side == NT_TARGET && o->only.device)
			options_error(state, "--device is what a host calls it: a target knows "
					     "namespaces by --nqn and --nsid");
		if (o->fine && burst_any(&o->burst))
			options_error(state, "--points fine and --burst: what waits in a socket "
					     "between bursts is not seen");
		options_device(state, &o->only);
		options_cgroup(state, o);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option run_options[] = {
	{"points", KEY_POINTS, "POINTS", 0,
	 "all: each point of a command (default but for serve); ends: only where it begins and where it ends, for a third of the "
	 "price: latencies, errors and records as before, and of the stages those that these points bound; fine: all, when TCP sends "
	 "a PDU, and what is waited for in the network's stack and until a worker runs, and what a target's disk takes, which splits stages that both machines saw",
	 SECTION_TIME},
	{"burst", KEY_BURST, "ON/EVERY", 0,
	 "Trace for ON out of every EVERY, such as 1s/60s, at no cost in between. Bursts "
	 "begin at multiples of the wall clock, so host and target burst together if their clocks agree. "
	 "ON, and what is left of EVERY, are " BURST_MIN " at least",
	 SECTION_TIME},
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
	{"count", 'n', "N", 0, "End after N blocks", SECTION_TIME},
	{0},
};

static const struct argp_option commands_options[] = {
	{"count", 'n', "N", 0, "End after N commands", SECTION_TIME},
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
	 "Print full-size histograms of every queue and operation", SECTION_SHOW},
	{0},
};

const struct argp histogram_argp = {.options = histogram_options, .parser = parse_histogram};

static void print_schema(void) __attribute__((noreturn));

static void print_schema(void)
{
	int err;

	fputs(output_schema, stdout);
	err = standard_output_finish();
	if (err)
		fprintf(stderr, "ntprof-bpf: cannot print the schema: %s\n", strerror(-err));
	exit(err ? EXIT_FAILURE : EXIT_SUCCESS);
}

/* @nr: how many of the names the verb has */
static error_t parse_format_of(int key, const char *arg, struct argp_state *state, unsigned int nr,
			       const char *wrong)
{
	static const char *const names[] = {
		[FORMAT_TEXT] = "text",
		[FORMAT_JSON] = "json",
		[FORMAT_CSV] = "csv",
		[FORMAT_LINES] = "lines",
	};
	enum output_format *format = state->input;

	if (key == KEY_JSON_SCHEMA)
		print_schema();
	if (key != KEY_FORMAT)
		return ARGP_ERR_UNKNOWN;
	for (unsigned int i = 0; i < nr; i++) {
		if (!strcmp(arg, names[i])) {
			*format = (enum output_format)i;
			return 0;
		}
	}
	options_error(state, "--format %s: %s", arg, wrong);
}

static error_t parse_format(int key, char *arg, struct argp_state *state)
{
	return parse_format_of(key, arg, state, FORMAT_CSV + 1, "neither text nor json nor csv");
}

static error_t parse_report_format(int key, char *arg, struct argp_state *state)
{
	return parse_format_of(key, arg, state, FORMAT_LINES + 1,
			       "neither text nor lines nor json nor csv");
}

#define JSON_SCHEMA_OPTION                                                                 \
	{                                                                                  \
		"json-schema", KEY_JSON_SCHEMA, NULL, 0,                                   \
			"Print the JSON Schema of --format json, and exit", SECTION_OUTPUT \
	}

static const struct argp_option format_options[] = {
	{"format", KEY_FORMAT, "FORMAT", 0,
	 "text (default); json: an object a line, numbers in nanoseconds and bytes; csv: a header, and a "
	 "line for each row",
	 SECTION_OUTPUT},
	JSON_SCHEMA_OPTION,
	{0},
};

static const struct argp_option report_format_options[] = {
	{"format", KEY_FORMAT, "FORMAT", 0,
	 "text: for people; lines: for scripts, words and numbers with blanks in between; json: an object a line, "
	 "numbers in nanoseconds and bytes; csv: a header, and a line for each row. The default is text, with lines "
	 "behind it where the output is no terminal",
	 SECTION_OUTPUT},
	JSON_SCHEMA_OPTION,
	{0},
};

const struct argp format_argp = {.options = format_options, .parser = parse_format};
const struct argp report_format_argp = {.options = report_format_options,
					.parser = parse_report_format};

/*
 * The options for the groups that rows are made of, and for their figures. They are the same in all
 * verbs that have them.
 */

/* A little below the longest latency that histograms can tell apart. */
#define MIN_LATENCY_MAX_NS 60000000000ULL

enum { KEY_BY = 0x100, KEY_CLASSES, KEY_STATS, KEY_MIN_LATENCY, KEY_BUCKET_SHIFT };

static const struct argp_option group_options[] = {
	{"by", KEY_BY, "KEYS", OPTION_REPEATS,
	 "A row for each group of commands that have these in common, with commas: ctrl, nqn (subsystem), host, queue, op, "
	 "source, size, opcode, nsid (namespace), status, device (disk), and of a host's commands path, cgroup, container, cpu, pid and "
	 "comm (the process that submitted them, and its name). From size on a live view takes the record of each command, which costs more",
	 SECTION_SHOW},
	{"size-classes", KEY_CLASSES, "SIZES", 0,
	 "--by size has a row for all sizes up to each of these, and one for those above, such as 4k,64k",
	 SECTION_SHOW},
	{"stats", KEY_STATS, "FIGURES", OPTION_REPEATS,
	 "Figures that rows of groups have, with commas, of latency: mean, min, max and percentiles such as p99.9 (default "
	 "mean,p50,p99,max); in a report also lows of IOPS, such as iops-p1: the rate that 1 % of the seconds do not exceed",
	 SECTION_SHOW},
	{"min-latency", KEY_MIN_LATENCY, "TIME", 0,
	 "Show a histogram of each group of commands, in fine buckets from TIME on: what is below is in one bucket, and "
	 "each next one ends twice as far from TIME",
	 SECTION_SHOW},
	{"bucket-shift", KEY_BUCKET_SHIFT, "N", 0,
	 "Show a histogram of each group of commands, whose first fine bucket is 2^N microseconds wide (default 0)",
	 SECTION_SHOW},
	{0},
};

static unsigned int shift_of(const struct argp_state *state, const char *arg)
{
	size_t digits = strspn(arg, "0123456789");
	unsigned long n = strtoul(arg, NULL, 10);

	if (!digits || digits > 2 || arg[digits] || n > SCALE_SHIFT_MAX)
		options_error(state, "--bucket-shift %s: not a number from 0 to %u", arg,
			      SCALE_SHIFT_MAX);
	return (unsigned int)n;
}

static error_t parse_group(int key, char *arg, struct argp_state *state)
{
	struct group_options *o = state->input;
	char why[GROUP_WRONG_LEN] = "";
	const struct figure *low;
	const char *wrong;

	switch (key) {
	case KEY_BY:
		o->by = true;
		if (!group_by_parse(&o->choice.grouping.by, arg, why))
			options_error(state, "--by %s: %s", arg, why);
		return 0;
	case KEY_CLASSES:
		wrong = group_bounds_parse(&o->choice.grouping.by, arg);
		if (wrong)
			options_error(state, "--size-classes %s: %s", arg, wrong);
		return 0;
	case ARGP_KEY_END:
		low = figures_low(&o->choice.figures);
		o->choice.grouping.seconds = low;
		if (low && o->who == GROUP_LIVE)
			options_error(state, "--stats %s is for report: it takes many seconds",
				      low->title);
		if (o->choice.grouping.by.nr_bounds &&
		    !group_has(&o->choice.grouping.by, GROUP_SIZE))
			options_error(state, "--size-classes is for --by size");
		return 0;
	case KEY_STATS:
		o->stats = true;
		wrong = figures_parse(&o->choice.figures, arg);
		if (wrong)
			options_error(state, "--stats %s: %s", arg, wrong);
		return 0;
	case KEY_MIN_LATENCY:
		o->choice.scale.on = true;
		o->choice.scale.min_ns = options_time(state, "--min-latency", arg, 0, "0");
		if (o->choice.scale.min_ns > MIN_LATENCY_MAX_NS)
			options_error(state, "--min-latency %s: 60s is the most", arg);
		return 0;
	case KEY_BUCKET_SHIFT:
		o->choice.scale.on = true;
		o->choice.scale.shift = shift_of(state, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp group_argp = {.options = group_options, .parser = parse_group};

void group_options_end(struct group_options *o)
{
	char wrong[GROUP_WRONG_LEN] = "";

	if ((o->stats || o->choice.scale.on) && !o->by && !o->choice.grouping.every_ns)
		group_by_parse(&o->choice.grouping.by,
			       o->who == GROUP_LIVE ? "ctrl,queue,op" : "op", wrong);
}

/* The options for the rates that network and drives can carry. */

#define BYTES_PER_MB 1e6

enum { KEY_NETWORK_LIMIT = 0x100, KEY_DRIVE_LIMIT };

/* Return: bytes per second. */
static double parse_limit(const struct argp_state *state, const char *option, const char *text)
{
	double rate = 0;
	char *end = NULL;

	/* strtod() would also take hexadecimal, infinity and leading space. */
	if (strspn(text, "0123456789.") == strlen(text))
		rate = strtod(text, &end);
	if (!end || end == text || *end || !(rate > 0))
		options_error(state, "%s %s: not a rate in MB/s (such as 1250)", option, text);
	return rate * BYTES_PER_MB;
}

static error_t parse_limits(int key, char *arg, struct argp_state *state)
{
	struct limits *l = state->input;

	switch (key) {
	case KEY_NETWORK_LIMIT:
		l->network = parse_limit(state, "--network-limit", arg);
		return 0;
	case KEY_DRIVE_LIMIT:
		l->drive = parse_limit(state, "--drive-limit", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option limits_options[] = {
	{"network-limit", KEY_NETWORK_LIMIT, "RATE", 0,
	 "Mark reads, or writes, that come within 90 % of RATE: what the network carries in each direction, in MB/s "
	 "(10^6 bytes)",
	 SECTION_SHOW},
	{"drive-limit", KEY_DRIVE_LIMIT, "RATE", 0,
	 "Mark controllers that come within 90 % of RATE: what the drive of one does, in MB/s (10^6 bytes)",
	 SECTION_SHOW},
	{0},
};

const struct argp limits_argp = {.options = limits_options, .parser = parse_limits};

/*
 * The options that select commands. They have the same names and arguments in all verbs that have
 * them.
 */

enum {
	KEY_CTRL = 0x100,
	KEY_NQN,
	KEY_HOSTNQN,
	KEY_NSID,
	KEY_QUEUE,
	KEY_OP,
	KEY_SIZE,
	KEY_LBA,
	KEY_DEVICE,
	KEY_CGROUP,
	KEY_FAILED,
	KEY_SLOWER,
};

static const struct argp_option select_options[] = {
	{"ctrl", KEY_CTRL, "CTRL", OPTION_REPEATS,
	 "Only commands of this controller: nvmeN, as the host calls it, or the number that is its id, which both "
	 "sides know",
	 SECTION_SELECT},
	{"nqn", KEY_NQN, "NQN", 0, "Only commands of the subsystem of this name", SECTION_SELECT},
	{"hostnqn", KEY_HOSTNQN, "HOSTNQN", 0, "Only commands of the host of this name",
	 SECTION_SELECT},
	{"nsid", KEY_NSID, "NSID", OPTION_REPEATS, "Only commands of this namespace, by its id",
	 SECTION_SELECT},
	{"queue", KEY_QUEUE, "QUEUE", OPTION_REPEATS,
	 "Only commands of these queues, such as 3 or 3,5-7", SECTION_SELECT},
	{"op", KEY_OP, "OP", OPTION_REPEATS, "Only these operations, such as read or read,write",
	 SECTION_SELECT},
	{"size", KEY_SIZE, "SIZE", OPTION_REPEATS,
	 "Only commands with so much data, such as 4k or 4k-128k", SECTION_SELECT},
	{"lba", KEY_LBA, "LBA", OPTION_REPEATS,
	 "Only commands that begin at these LBAs, such as 0-2047", SECTION_SELECT},
	{"device", KEY_DEVICE, "DEVICE", 0,
	 "Only commands of this disk of the host, such as /dev/nvme0n1; with multipath, by all of its paths",
	 SECTION_SELECT},
	{"cgroup", KEY_CGROUP, "PATH", 0,
	 "Only commands of a host whose I/O is that of this cgroup, or of one below it, such as system.slice/db.service",
	 SECTION_SELECT},
	{0},
};

/* In the order of the keys of select_options. */
static const char *(*const parsers[])(struct nt_selection *s, const char *text) = {
	select_ctrl,  select_nqn, select_hostnqn, select_nsid,
	select_queue, select_op,  select_size,	  select_lba,
};

static error_t parse_select(int key, char *arg, struct argp_state *state)
{
	struct select *s = state->input;
	const char *wrong;

	if (key == KEY_DEVICE) {
		s->device = arg;
		s->device_origin = options_origin(state);
		select_said(s, "device", arg);
		return 0;
	}
	if (key == KEY_CGROUP) {
		wrong = cgroup_path(arg, s->cgroup, sizeof(s->cgroup));
		if (wrong)
			options_error(state, "--cgroup %s: %s", arg, wrong);
		s->cgroup_origin = options_origin(state);
		select_said(s, "cgroup", arg);
		return 0;
	}
	if (key < KEY_CTRL || key > KEY_LBA)
		return ARGP_ERR_UNKNOWN;
	wrong = parsers[key - KEY_CTRL](&s->by, arg);
	if (wrong)
		options_error(state, "--%s %s: %s", select_options[key - KEY_CTRL].name, arg,
			      wrong);
	select_said(s, select_options[key - KEY_CTRL].name, arg);
	return 0;
}

const struct argp select_argp = {.options = select_options, .parser = parse_select};

static error_t parse_ended(int key, char *arg, struct argp_state *state)
{
	struct select *s = state->input;

	switch (key) {
	case KEY_FAILED:
		s->failed = true;
		select_said(s, "failed", NULL);
		return 0;
	case KEY_SLOWER:
		s->slower_ns = options_time(state, "--slower", arg, 1, "1ns");
		select_said(s, "slower", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option ended_options[] = {
	{"failed", KEY_FAILED, NULL, 0,
	 "Only commands with a status other than success, and those that the host gave up",
	 SECTION_SELECT},
	{"slower", KEY_SLOWER, "TIME", 0, "Only commands that took TIME or longer", SECTION_SELECT},
	{0},
};

const struct argp ended_argp = {.options = ended_options, .parser = parse_ended};

enum { KEY_PEER = 0x100, KEY_PEER_AS_ROOT };

static error_t parse_peer(int key, char *arg, struct argp_state *state)
{
	struct peer_options *o = state->input;

	switch (key) {
	case KEY_PEER:
		if (!arg[0])
			options_error(state, "--peer needs a host, a command, a file or a FIFO");
		if (o->nr == PEERS_MAX)
			options_error(state, "at most %u times --peer", PEERS_MAX);
		o->source[o->nr++] = arg;
		break;
	case KEY_PEER_AS_ROOT:
		o->as_root = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option peer_options[] = {
	{"peer", KEY_PEER, "PEER", OPTION_REPEATS | OPTION_ACTS,
	 "Show where the time goes in ten stages, with the stream of the other side. PEER is a machine "
	 "that ssh(1) reaches (HOST or USER@HOST), or a command that prints its stream, a file or a FIFO. Give it "
	 "once for each machine of the other side. A peer that fails "
	 "is shown, and changes neither this machine's own figures nor the exit status. "
	 "Under sudo, ssh or the command runs as the user who called it",
	 SECTION_WATCH},
	{"peer-as-root", KEY_PEER_AS_ROOT, NULL, OPTION_ACTS,
	 "Run the commands of --peer as root also under sudo; those of serve with its capabilities",
	 SECTION_WATCH},
	{0},
};

const struct argp peer_argp = {.options = peer_options, .parser = parse_peer};

/* Whether it is HOST or USER@HOST. A file of that name is a file. */
static bool is_machine(const char *source)
{
	const char *at = strchr(source, '@'), *host = at ? at + 1 : source;

	return *source != '-' && *source != '@' && isalnum((unsigned char)*host) &&
	       !source[strspn(source, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-:@")] &&
	       (!at || !strchr(at + 1, '@')) && access(source, F_OK) != 0;
}

/* Whether ssh(1) logs in as root, unless its configuration says otherwise. */
static bool logs_in_as_root(const struct peer_options *o, const char *source)
{
	struct peer_user user = {.other = false};

	if (strchr(source, '@'))
		return !strncmp(source, "root@", strlen("root@"));
	return !geteuid() && (o->as_root || (!peer_user_find(&user) && !user.other));
}

/* Replaces names of machines by the commands that they stand for. */
static void expand_machines(const struct argp_state *state, struct peer_options *o,
			    const char *side, bool fine)
{
	/* They are needed until the program ends. */
	static char *commands[ARRAY_SIZE(o->source)];

	for (unsigned int i = 0; i < o->nr; i++) {
		const char *source = o->source[i];

		if (!is_machine(source))
			continue;
		if (asprintf(&commands[i], "ssh %s %sntprof-bpf record --%s%s -o -", source,
			     logs_in_as_root(o, source) ? "" : "sudo -n ", side,
			     fine ? " --points fine" : "") < 0)
			options_error(state, "no memory for --peer");
		o->source[i] = commands[i];
		o->machine[i] = source;
	}
}

void peer_options_end(const struct argp_state *state, struct peer_options *o, enum nt_side side,
		      bool fine)
{
	if (o->as_root && !o->nr)
		options_error(state, "--peer-as-root is for --peer");
	if (fine && !o->nr)
		options_error(state,
			      "--points fine is for record, trace and --peer: it splits what "
			      "both machines saw of a command");
	expand_machines(state, o, side_name(side == NT_TARGET ? NT_HOST : NT_TARGET), fine);
}

/* Room for two paths, and the words around them. */
#define PATH_MESSAGE_LEN (2 * PATH_MAX + 256)

void message(const char *format, ...)
{
	char text[PATH_MESSAGE_LEN];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "ntprof-bpf: %s\n", text_harmless(text));
}
