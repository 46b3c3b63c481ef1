// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verb probes: shows which points this kernel offers, which are missing, and what the user
 * could do. It does not trace.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "core/array.h"
#include "core/names.h"
#include "core/output.h"
#include "core/segments.h"
#include "trace/kernel.h"
#include "trace/probes.h"
#include "trace/tracer.h"
#include "view/json.h"

/* Exit statuses, as in the help text; the worst one of the sides that were asked for. */
enum { LOOK_FULL = 0, LOOK_ERROR = 1, LOOK_PARTIAL = 2, LOOK_NONE = 3 };

/**
 * struct probes_options - the options of the verb probes
 * @side: NT_SIDES: both
 * @source: where points should come from; NT_SOURCES: the best source that there is
 * @json: print JSON
 * @checks: check this machine as well, and @peers
 * @verbose: print which ways are not taken, and why
 */
struct probes_options {
	enum nt_side side;
	enum nt_source source;
	bool json;
	bool verbose;
	bool checks;
	struct peer_options peers;
};

struct probes_report {
	const struct probes_options *o;
	enum nt_side side;
	enum nt_source source;
	uint32_t given;	  /* points that there are, as bits */
	uint32_t missing; /* missing points that bound stages, as bits */
	int status;
	int loaded;		   /* see tracer_look() */
	bool more;		   /* a side has been printed before this one */
	struct json_object *sides; /* the output, for JSON */
};

/* Whether loading was tried and how it went: words to follow "source stock". */
static const char *tried(const struct probes_report *l, char *buf, size_t size)
{
	if (!l->loaded)
		return ", loaded";
	if (l->loaded == -ENOENT)
		return "";
	if (l->loaded == -EACCES)
		return ", not tried: that takes root";
	snprintf(buf, size, ", but it cannot be loaded: %s", strerror(-l->loaded));
	return buf;
}

static const char *exit_words(int status)
{
	return status == LOOK_FULL ? "full" : status == LOOK_PARTIAL ? "partial" : "none";
}

/* What the user could do about missing points; "" if none are missing. */
static const char *advice(const struct probes_report *l, struct probes *p, char *buf, size_t size)
{
	const char *file = l->side == NT_HOST ? "nvme-tcp" : "nvmet-tcp";

	buf[0] = '\0';
	if (!probes_module_loaded(p))
		snprintf(buf, size, "%s, and look again", driver_load(l->side));
	else if (!probes_module_btf(p))
		snprintf(buf, size,
			 "run a %s built with type information, as the distribution's own is",
			 file);
	else if (l->status != LOOK_FULL)
		snprintf(
			buf, size,
			"run a newer kernel, or a %s with the patches that come with the source of "
			"ntprof-bpf: its tracepoints give every point",
			file);
	return buf;
}

/* Why a way is not taken. */
static const char *passed_over(const struct probes_report *l, struct probes *p,
			       const struct probe_way *w, char *why, size_t size)
{
	if (probes_works(p, w, why, size))
		snprintf(why, size, "%s",
			 w->source == l->source	 ? "is there, but a better way is as well"
			 : w->source == NT_CORE	 ? "is there; for --transport pcie and others"
			 : w->source == NT_STOCK ? "is there; --source stock takes it"
						 : "is there; --source tracepoints takes it");
	return why;
}

/* Names of the stages that @point bounds, with ", " between them. */
static const char *stages_at(enum nt_side side, unsigned int point, char *buf, size_t size)
{
	uint32_t bits = segments_stages_at(side, point);
	unsigned int used = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < stages_nr(side); i++)
		if (bits & 1u << i && used < size)
			used += (unsigned int)snprintf(buf + used, size - used, "%s%s",
						       used ? ", " : "", stage_name(side, i));
	return buf;
}

/*
 * Prints the ways to @point other than @chosen with the reason why each is not taken, and the
 * stages that it bounds.
 */
static void print_others(const struct probes_report *l, struct probes *p, unsigned int point,
			 const struct probe_way *chosen)
{
	char buf[512];

	for (size_t k = 0; k < probe_ways_nr; k++) {
		const struct probe_way *w = &probe_ways[k];

		if (w == chosen || w->side != l->side || !(w->points & 1u << point))
			continue;
		printf("             not %s %s: %s\n", source_name(w->source), w->sees,
		       passed_over(l, p, w, buf, sizeof(buf)));
	}
	printf("             stages: %s\n",
	       *stages_at(l->side, point, buf, sizeof(buf)) ? buf : "none, records only");
}

/* Prints why no way of the source gives @point, each reason once. */
static void print_missing(const struct probes_report *l, struct probes *p, unsigned int point)
{
	char all[1024] = "", why[512];
	size_t used = 0;

	for (size_t k = 0; k < probe_ways_nr && used < sizeof(all); k++) {
		const struct probe_way *w = &probe_ways[k];

		if (w->source != l->source || w->side != l->side || !(w->points & 1u << point) ||
		    probes_works(p, w, why, sizeof(why)) || strstr(all, why))
			continue;
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", used ? "; " : ": ",
					 why);
	}
	printf("missing%s%s\n", *all ? all : ": only tracepoints give it",
	       segments_stages_at(l->side, point) ? "" : "; no stage needs it");
}

/* The functions of the driver of PCIe that write doorbells, and those that call them. */
static const char *const doorbells[] = {
	"nvme_write_sq_db", "nvme_ring_cq_doorbell", "nvme_submit_cmds", "nvme_commit_rqs",
	"nvme_queue_rq",    "nvme_poll_cq",	     "nvme_irq",
};

/* Which functions a program could see doorbells by. No point is taken from one. */
static void print_doorbells(void)
{
	unsigned int can = 0;
	char text[256] = "", *line = NULL;
	size_t size = 0;
	FILE *f;

	if (!kernel_has_module("nvme"))
		return;
	f = kernel_traceable();
	while (f && getline(&line, &size, f) > 0)
		for (unsigned int i = 0; i < ARRAY_SIZE(doorbells); i++)
			if (!strncmp(line, doorbells[i], strlen(doorbells[i])) &&
			    strstr(line + strlen(doorbells[i]), " [nvme]") ==
				    line + strlen(doorbells[i]))
				can |= 1u << i;
	free(line);
	for (unsigned int i = 0; i < ARRAY_SIZE(doorbells); i++)
		if (can & 1u << i)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s()",
				 doorbells[i]);
	printf("  doorbells of PCIe: %s%s\n",
	       !f	 ? "not known: the kernel shows its list of functions to root alone"
	       : can & 3 ? "no point is taken, but these can be traced:"
	       : can	 ? "none of the functions that write them can be traced, but around them:"
			 : "none of the functions that write them can be traced",
	       f ? text : "");
	if (f)
		fclose(f);
}

/* What there is for commands of other transports than TCP. */
static void print_core(struct probes *p)
{
	char why[512] = "";

	for (size_t k = 0; k < probe_ways_nr && !*why; k++)
		if (probe_ways[k].source == NT_CORE)
			probes_works(p, &probe_ways[k], why, sizeof(why));
	printf("  other transports: %s\n",
	       *why ? why
		    : "submit, queue_rq, cqe and complete, from tracepoints of nvme_core (--transport)");
	printf("  sq_head of PCIe: %s\n", probes_has(p, PROBE_SQ)
						  ? "tracepoint nvme_sq, for trace --events"
						  : "the kernel has no tracepoint nvme_sq");
	print_doorbells();
}

static void print_text(const struct probes_report *l, struct probes *p)
{
	char buf[512], name[256];
	uint8_t into[NT_STAGES_MAX];

	printf("%s%s, %s: coverage is %s, source %s%s\n", l->more ? "\n" : "", side_name(l->side),
	       driver_name(l->side), exit_words(l->status), source_name(l->source),
	       tried(l, buf, sizeof(buf)));
	if (*advice(l, p, buf, sizeof(buf)))
		printf("  to do: %s\n", buf);
	for (unsigned int i = 0; i < points_nr(l->side); i++) {
		const struct probe_way *chosen = probes_way(p, l->source, i);

		printf("  %-9s  ", point_name(l->side, i));
		if (chosen)
			printf("%s\n", chosen->sees);
		else
			print_missing(l, p, i);
		if (l->o->verbose)
			print_others(l, p, i, chosen);
	}
	stages_join(l->side, l->missing, into);
	printf("  stages:");
	for (unsigned int i = 0; l->status != LOOK_NONE && i < stages_nr(l->side); i++)
		if (into[i] == i)
			printf(" %s", stage_joined_name(l->side, into, i, name, sizeof(name)));
	printf("%s\n", l->status == LOOK_NONE ? " none" : "");
	if (l->side == NT_HOST)
		print_core(p);
}

/* A list from names with ", " between them. */
static struct json_object *json_names(char *names)
{
	struct json_object *list = json_array();

	for (char *name, *rest = names; (name = strsep(&rest, ","));) {
		name += strspn(name, " ");
		if (*name)
			json_append(list, json_text(name));
	}
	return list;
}

/* @why: reason why the way is not taken; NULL: it is taken */
static struct json_object *json_way(const struct probe_way *w, const char *why)
{
	struct json_object *o = json_empty();

	json_put(o, "source", json_text(source_name(w->source)));
	json_put(o, "sees", json_text(w->sees));
	if (why)
		json_put(o, "passed_over", json_text(why));
	return o;
}

static struct json_object *json_point(const struct probes_report *l, struct probes *p,
				      unsigned int point)
{
	const struct probe_way *chosen = probes_way(p, l->source, point);
	struct json_object *o = json_empty(), *others = json_array();
	char buf[512];

	json_put(o, "point", json_text(point_name(l->side, point)));
	json_put(o, "probe", chosen ? json_way(chosen, NULL) : NULL);
	for (size_t k = 0; k < probe_ways_nr; k++) {
		const struct probe_way *w = &probe_ways[k];

		if (w != chosen && w->side == l->side && w->points & 1u << point)
			json_append(others, json_way(w, passed_over(l, p, w, buf, sizeof(buf))));
	}
	json_put(o, "alternatives", others);
	stages_at(l->side, point, buf, sizeof(buf));
	json_put(o, "stages", json_names(buf));
	return o;
}

static struct json_object *json_side(const struct probes_report *l, struct probes *p)
{
	struct json_object *o = json_empty(), *points = json_array(), *stages = json_array();
	uint8_t into[NT_STAGES_MAX];
	char buf[512];

	json_put(o, "side", json_text(side_name(l->side)));
	json_put(o, "driver", json_text(driver_name(l->side)));
	json_put(o, "loaded", json_flag(probes_module_loaded(p)));
	json_put(o, "source", json_text(source_name(l->source)));
	json_put(o, "coverage", json_text(exit_words(l->status)));
	json_put(o, "tried", json_flag(l->loaded != -ENOENT && l->loaded != -EACCES));
	for (unsigned int i = 0; i < points_nr(l->side); i++)
		json_append(points, json_point(l, p, i));
	stages_join(l->side, l->missing, into);
	for (unsigned int i = 0; l->status != LOOK_NONE && i < stages_nr(l->side); i++)
		if (into[i] == i)
			json_append(stages, json_text(stage_joined_name(l->side, into, i, buf,
									sizeof(buf))));
	json_put(o, "points", points);
	json_put(o, "stages", stages);
	json_put(o, "to_do", json_text(advice(l, p, buf, sizeof(buf))));
	return o;
}

/*
 * LOOK_FULL means that the programs were loaded. Without root it means that all points are there
 * according to the kernel's type information (BTF).
 */
static void look_at(void *context, struct probes *p, int loaded)
{
	struct probes_report *l = context;
	uint32_t vital = probe_vital_points(l->side);

	l->source = l->o->source < NT_SOURCES ? l->o->source : probes_source(p);
	l->given = probes_points(p, l->source);
	l->missing = segments_points(l->side) & ~l->given;
	l->loaded = loaded;
	l->status = !l->missing ? LOOK_FULL : vital & ~l->given ? LOOK_NONE : LOOK_PARTIAL;
	if (loaded && loaded != -EACCES)
		l->status = LOOK_NONE;
	if (l->o->json)
		json_append(l->sides, json_side(l, p));
	else
		print_text(l, p);
}

/* Return: 0, -ENOMEM or the error of writing. */
static int print_json(const char *kernel, struct json_object *checks, struct json_object *sides)
{
	struct json_object *o = json_new("probes");

	json_put(o, "kernel", json_text(kernel));
	json_put(o, "checks", checks);
	json_put(o, "sides", sides);
	return json_write(stdout, o);
}

/* Return: the results for JSON, or NULL. @peers_ok: set to false if a peer is not as it should be
 */
static struct json_object *check(const struct probes_options *o, bool *peers_ok)
{
	const struct doctor d = {.side = o->side,
				 .sys = "/sys",
				 .peers = &o->peers,
				 .patience_ns = DOCTOR_PATIENCE_NS};
	struct json_object *list = o->json ? json_array() : NULL, *row;
	struct doctor_line l;

	for (unsigned int n = 0; doctor_check(&d, n, &l); n++) {
		if (!l.text[0])
			continue;
		*peers_ok = *peers_ok && (l.ok || !doctor_peer(n));
		if (!o->json) {
			printf("%-6s %-11s  %s\n",
			       l.ok	? "ok"
			       : l.note ? "note"
					: "wrong",
			       l.name, l.text);
			fflush(stdout);
			continue;
		}
		row = json_empty();
		json_put(row, "check", json_text(l.name));
		json_put(row, "ok", json_flag(l.ok));
		json_put(row, "says", json_text(l.text));
		json_append(list, row);
	}
	if (!o->json)
		putchar('\n');
	return list;
}

static int probes(const struct probes_options *o)
{
	enum nt_side first = o->side == NT_SIDES ? NT_HOST : o->side;
	enum nt_side last = o->side == NT_SIDES ? NT_TARGET : o->side;
	struct probes_report l = {.o = o};
	struct json_object *checks = NULL;
	bool peers_ok = true;
	int worst = LOOK_FULL, err = 0;
	struct utsname u;
	char text[512];
	bool old;

	if (uname(&u))
		return LOOK_ERROR;
	if (o->checks)
		checks = check(o, &peers_ok);
	old = kernel_too_old();
	if (old || access("/sys/kernel/btf/vmlinux", R_OK)) {
		tracer_explain(old ? TRACER_OLD_KERNEL : TRACER_NO_BTF, first, u.release, text,
			       sizeof(text));
		fprintf(stderr, "ntprof-bpf: %s\n", text);
		json_object_put(checks);
		return old ? LOOK_NONE : LOOK_ERROR;
	}
	if (o->json)
		l.sides = json_array();
	else
		printf("kernel %s\n", u.release);
	for (l.side = first; l.side <= last; l.side++) {
		const struct tracer_options wanted = {
			.side = l.side,
			.source = o->source,
			.select = NT_SELECT_ALL,
			.verbose = o->verbose,
		};
		err = tracer_look(&wanted, look_at, &l);
		if (err) {
			fprintf(stderr, "ntprof-bpf: cannot look at this kernel: %s\n",
				strerror(-err));
			json_object_put(l.sides);
			json_object_put(checks);
			return LOOK_ERROR;
		}
		if (l.status > worst)
			worst = l.status;
		l.more = true;
	}
	if (o->json)
		err = print_json(u.release, checks, l.sides);
	if (!err)
		err = standard_output_finish();
	if (err)
		fprintf(stderr, "ntprof-bpf: cannot print: %s\n", strerror(-err));
	if (!peers_ok && worst == LOOK_FULL)
		worst = LOOK_ERROR;
	return err ? LOOK_ERROR : worst;
}

enum { KEY_FORMAT = 0x100, KEY_CHECKS };

enum { CHILD_SIDE, CHILD_SOURCE, CHILD_PEER };

static error_t parse_probes(int key, char *arg, struct argp_state *state)
{
	struct probes_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_SIDE] = &o->side;
		state->child_inputs[CHILD_SOURCE] = &o->source;
		state->child_inputs[CHILD_PEER] = &o->peers;
		break;
	case KEY_CHECKS:
		o->checks = true;
		break;
	case ARGP_KEY_END:
		peer_options_end(state, &o->peers, o->side, false);
		o->checks |= o->peers.nr != 0;
		break;
	case KEY_FORMAT:
		if (strcmp(arg, "text") && strcmp(arg, "json"))
			options_error(state, "--format %s: neither text nor json", arg);
		o->json = !strcmp(arg, "json");
		break;
	case 'v':
		o->verbose = true;
		break;
	case ARGP_KEY_ARG:
		options_no_word(state, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option probes_options[] = {
	{"checks", KEY_CHECKS, NULL, 0,
	 "Also check this machine, and each --peer: the driver, controllers, BTF, rights, iostats, the clock, free disk space. "
	 "doctor is short for it",
	 SECTION_SHOW},
	{"format", KEY_FORMAT, "FORMAT", 0, "text (default) or json", SECTION_OUTPUT},
	{"verbose", 'v', NULL, 0,
	 "For each point, also show the probes that were not taken, and why", SECTION_SHOW},
	{0},
};

static const struct argp_child probes_children[] = {
	[CHILD_SIDE] = {.argp = &side_argp},
	[CHILD_SOURCE] = {.argp = &source_argp},
	[CHILD_PEER] = {.argp = &peer_argp},
	{0},
};

static const struct argp probes_argp = {
	.options = probes_options,
	.parser = parse_probes,
	.children = probes_children,
	.doc = "Show what this kernel offers, without tracing anything: for each point the probe that "
	       "would be taken, and which stages follow. As root, all of them are loaded, and what "
	       "the kernel refuses gives way to the next best. Without a side, of both.\n"
	       "\v"
	       "Exit status: 0 if the kernel gives every point that a stage begins or ends\n"
	       "with, 2 if it gives some, 3 if too few to trace; of two sides the worse; 1\n"
	       "on an error, or if a peer cannot be reached.\n"
	       "Points that no stage needs, such as data_done, do not count.\n"
	       "\n"
	       "Examples:\n"
	       "  ntprof-bpf probes                 both sides, the best probes that there are\n"
	       "  ntprof-bpf probes --target --source stock\n"
	       "                                    the target, without a patch\n"
	       "  ntprof-bpf doctor --peer root@target\n"
	       "                                    what this machine and a target need\n"
	       "  ntprof-bpf probes -v              also why other ways were passed over\n"
	       "  ntprof-bpf probes --format json   for programs",
};

static int main_probes(int argc, char **argv)
{
	struct probes_options o = {.side = NT_SIDES, .source = NT_SOURCES};

	options_parse(&probes_argp, argc, argv, &o);
	return probes(&o);
}

const struct verb verb_probes = {
	.name = "probes",
	.summary = "what this kernel offers, and what is missing",
	.argp = &probes_argp,
	.main = main_probes,
};
