// SPDX-License-Identifier: GPL-2.0-only
#include "cli/options.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "core/names.h"
#include "core/units.h"

#define SECOND 1000000000ULL

const char *argp_program_version = "ntprof-bpf " NTPROF_VERSION;

static const char doc[] =
	"Show where the time of NVMe/TCP commands goes: latency histograms per queue, and stages.\n"
	"\v"
	"Examples:\n"
	"  ntprof-bpf --host                 live view of the commands this machine sends\n"
	"  ntprof-bpf --target               live view of the commands this machine serves\n"
	"  ntprof-bpf --host -i 5 -n 12      a block every 5 seconds, for a minute\n"
	"  ntprof-bpf --host -d 30 --histogram >report.txt\n"
	"                                    30 seconds, with full-size histograms, into a file\n"
	"  ntprof-bpf --host --peer 'ssh root@target ntprof-bpf record --target -o -'\n"
	"                                    both machines together: where the time goes, in ten stages\n"
	"  ntprof-bpf trace --host -n 100    one line for each of the next 100 commands\n"
	"  ntprof-bpf record --host -o host.ntp -d 60\n"
	"                                    raw records of a minute, for later\n"
	"  ntprof-bpf report host.ntp target.ntp --slowest 3\n"
	"                                    where the time went, in ten stages, both sides together\n"
	"  ntprof-bpf probes                 what this kernel offers; the exit status is 0 if it gives\n"
	"                                    every point, 2 if some, 3 if too few to trace\n"
	"  ntprof-bpf trace --target --slower 2ms\n"
	"                                    one line for each command that took 2 ms or more\n"
	"\n"
	"It needs no patch. Patched nvme-tcp and nvmet-tcp modules have tracepoints, which cost less:\n"
	"see kernel_patches/README.md. Ctrl-C ends the run and prints its summary.";

enum {
	KEY_HOST = 0x100,
	KEY_TARGET,
	KEY_HISTOGRAM,
	KEY_SLOWER,
	KEY_SUMMARY,
	KEY_FORCE,
	KEY_PEER,
	KEY_SLOWEST,
	KEY_COMMANDS,
	KEY_MAX_SIZE,
	KEY_SOURCE,
	KEY_FORMAT,
	KEY_SAMPLE,
};

static const struct argp_option argp_options[] = {
	{"host", KEY_HOST, NULL, 0, "Trace this machine as NVMe/TCP host (initiator)", 1},
	{"target", KEY_TARGET, NULL, 0, "Trace this machine as NVMe/TCP target", 1},
	{"source", KEY_SOURCE, "SOURCE", 0,
	 "Take points from the tracepoints of a patched driver, or from stock probes that need no "
	 "patch: tracepoints or stock (default: tracepoints where the driver has them)",
	 1},
	{"interval", 'i', "TIME", 0, "Live view: show a block every TIME (default 1s)", 2},
	{"duration", 'd', "TIME", 0, "End after TIME", 2},
	{"count", 'n', "N", 0, "End after N blocks (live view) or N commands (trace, record)", 2},
	{"histogram", KEY_HISTOGRAM, NULL, 0,
	 "Live view: print full-size histograms of every queue and operation", 2},
	{"slower", KEY_SLOWER, "TIME", 0, "Trace: only commands that took TIME or longer", 2},
	{"sample", KEY_SAMPLE, "N", 0,
	 "Measure about one command in N, which costs the others next to nothing. Host and target pick the "
	 "same ones if they are given the same N",
	 2},
	{"peer", KEY_PEER, "COMMAND", 0,
	 "Live view of the host: run COMMAND, which brings the target's stream, and show where the time "
	 "goes in ten stages; a file or a FIFO will do as well. Can be given for several targets. What "
	 "becomes of a peer is shown; the host's own view and the exit status do not depend on it",
	 2},
	{"summary", KEY_SUMMARY, NULL, 0,
	 "Trace: end with the live view's summary of the same commands, on standard error", 2},
	{"output", 'o', "FILE", 0, "Record: write the stream to FILE; - is standard output", 2},
	{"force", KEY_FORCE, NULL, 0, "Record: replace FILE if it exists", 2},
	{"max-size", KEY_MAX_SIZE, "SIZE", 0,
	 "Record: end before the stream is larger than SIZE (a number, or with K, M or G)", 2},
	{"slowest", KEY_SLOWEST, "N", 0, "Report: tell the story of the N slowest commands", 2},
	{"commands", KEY_COMMANDS, NULL, 0, "Report: first of all print a line for each command",
	 2},
	{"format", KEY_FORMAT, "FORMAT", 0, "Probes: text (default) or json", 2},
	{"verbose", 'v', NULL, 0, "Explain what is loaded and what it costs, on standard error", 3},
	{NULL, 0, NULL, 0,
	 "TIME is a number of seconds, or a number with a unit: us, ms, s, m or h.", 4},
	{0},
};

struct parse {
	struct options *o;
	bool host, target, interval;
};

static uint64_t time_argument(struct argp_state *state, const char *option, const char *text,
			      uint64_t least, const char *least_text)
{
	uint64_t ns = 0;

	if (parse_seconds(text, &ns))
		argp_error(state, "%s %s: not a time (such as 5, 0.5, 200ms or 2m)", option, text);
	if (ns < least)
		argp_error(state, "%s %s: too short, the least is %s", option, text, least_text);
	return ns;
}

static uint64_t count_argument(struct argp_state *state, const char *option, const char *text,
			       uint64_t most)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end || end == text || *text < '0' || *text > '9' || n == 0)
		argp_error(state, "%s %s: not a positive whole number", option, text);
	if (n > most)
		argp_error(state, "%s %s: too many, the most is %llu", option, text,
			   (unsigned long long)most);
	return n;
}

static enum nt_source source_argument(struct argp_state *state, const char *text)
{
	for (unsigned int i = 0; i < NT_SOURCES; i++)
		if (!strcmp(text, source_name(i)))
			return i;
	argp_error(state, "--source %s: neither tracepoints nor stock", text);
	return NT_SOURCES;
}

static enum verb verb_of(struct argp_state *state, const char *name)
{
	if (!strcmp(name, "trace"))
		return VERB_TRACE;
	if (!strcmp(name, "record"))
		return VERB_RECORD;
	if (!strcmp(name, "report"))
		return VERB_REPORT;
	if (!strcmp(name, "probes"))
		return VERB_PROBES;
	argp_error(
		state,
		"unknown verb '%s': use none for the live view, or trace, record, report or probes",
		name);
	return VERBS_NR;
}

static void check_report(const struct parse *p, struct argp_state *state)
{
	const struct options *o = p->o;

	if (!o->nr_files)
		argp_error(state, "report needs the files that record has written");
	if (o->nr_files > REPORT_FILES_MAX)
		argp_error(state, "report takes %u files at most", REPORT_FILES_MAX);
	if (p->host || p->target)
		argp_error(state, "report: the files say which side they are of");
	if (p->interval || o->duration_ns || o->count || o->slower_ns || o->histogram ||
	    o->summary || o->output || o->force || o->max_bytes || o->nr_peers || o->json ||
	    o->source != NT_SOURCES || o->sample)
		argp_error(state, "report takes only --slowest, --commands and files");
}

static void check(struct parse *p, struct argp_state *state)
{
	struct options *o = p->o;

	if (o->verb == VERB_REPORT) {
		check_report(p, state);
		return;
	}
	if (o->nr_peers && (o->verb != VERB_LIVE || p->target))
		argp_error(state,
			   "--peer is for the live view of the host: ntprof-bpf --host --peer ...");
	if (o->slowest || o->commands)
		argp_error(state, "--slowest and --commands are for report only");
	if (p->host && p->target)
		argp_error(state, "--host and --target are two sides: run it once for each");
	o->any_side = !p->host && !p->target && o->verb == VERB_PROBES;
	if (!p->host && !p->target && !o->any_side)
		argp_error(state, "say which side this machine is: --host or --target");
	o->side = p->host ? NT_HOST : NT_TARGET;
	if (o->json && o->verb != VERB_PROBES)
		argp_error(state, "--format is for probes only");
	if (o->verb == VERB_PROBES && (o->duration_ns || o->count || o->sample))
		argp_error(
			state,
			"probes only looks: it takes neither --duration nor --count nor --sample");
	if (o->verb != VERB_LIVE && p->interval)
		argp_error(state, "--interval is for the live view only");
	if (o->histogram && o->verb != VERB_LIVE && !o->summary)
		argp_error(state, "--histogram is for the live view and for trace --summary");
	if (o->summary && o->verb != VERB_TRACE)
		argp_error(state, "--summary is for trace: the live view always ends with it");
	if (o->slower_ns && o->verb != VERB_TRACE)
		argp_error(state, "--slower is for trace only");
	if (o->verb == VERB_RECORD && !o->output)
		argp_error(state, "record needs -o FILE, or -o - for standard output");
	if (o->verb != VERB_RECORD && (o->output || o->force || o->max_bytes))
		argp_error(state, "--output, --force and --max-size are for record only");
}

static error_t parse_one(int key, char *arg, struct argp_state *state)
{
	struct parse *p = state->input;

	switch (key) {
	case KEY_HOST:
		p->host = true;
		break;
	case KEY_TARGET:
		p->target = true;
		break;
	case 'i':
		p->interval = true;
		p->o->interval_ns = time_argument(state, "--interval", arg, SECOND / 10, "100ms");
		break;
	case 'd':
		p->o->duration_ns = time_argument(state, "--duration", arg, SECOND / 10, "100ms");
		break;
	case 'n':
		p->o->count = count_argument(state, "--count", arg, UINT64_MAX);
		break;
	case KEY_HISTOGRAM:
		p->o->histogram = true;
		break;
	case KEY_SLOWER:
		p->o->slower_ns = time_argument(state, "--slower", arg, 1, "1ns");
		break;
	case 'o':
		p->o->output = arg;
		break;
	case KEY_FORCE:
		p->o->force = true;
		break;
	case KEY_MAX_SIZE:
		if (parse_size(arg, &p->o->max_bytes) || !p->o->max_bytes)
			argp_error(state, "--max-size %s: not a size (such as 4096, 100M or 2G)",
				   arg);
		break;
	case KEY_SOURCE:
		p->o->source = source_argument(state, arg);
		break;
	case KEY_FORMAT:
		if (strcmp(arg, "text") && strcmp(arg, "json"))
			argp_error(state, "--format %s: neither text nor json", arg);
		p->o->json = !strcmp(arg, "json");
		break;
	case KEY_SUMMARY:
		p->o->summary = true;
		break;
	case 'v':
		p->o->verbose = true;
		break;
	case KEY_PEER:
		if (!arg[0])
			argp_error(state, "--peer needs a command, a file or a FIFO");
		if (p->o->nr_peers == PEERS_MAX)
			argp_error(state, "at most %u times --peer", PEERS_MAX);
		p->o->peers[p->o->nr_peers++] = arg;
		break;
	case KEY_COMMANDS:
		p->o->commands = true;
		break;
	case KEY_SAMPLE:
		p->o->sample = (uint32_t)count_argument(state, "--sample", arg, SAMPLE_MAX);
		break;
	case KEY_SLOWEST:
		p->o->slowest = (unsigned int)count_argument(state, "--slowest", arg, 1000);
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0) {
			p->o->verb = verb_of(state, arg);
			if (p->o->verb != VERB_REPORT)
				break;
			p->o->files = &state->argv[state->next];
			p->o->nr_files = (unsigned int)(state->argc - state->next);
			state->next = state->argc;
			break;
		}
		argp_error(state, "too many arguments: '%s'", arg);
		break;
	case ARGP_KEY_END:
		check(p, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

void options_parse(struct options *o, int argc, char **argv)
{
	static const struct argp argp = {
		.options = argp_options,
		.parser = parse_one,
		.args_doc = "[trace|record|probes]\nreport FILE...",
		.doc = doc,
	};
	struct parse p = {.o = o};

	*o = (struct options){.verb = VERB_LIVE, .interval_ns = SECOND, .source = NT_SOURCES};
	argp_err_exit_status = EX_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &p);
}
