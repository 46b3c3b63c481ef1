// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verb paths: prints once which way the commands of each controller of this host go, from CPUs
 * to the network card. It traces nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/verbs.h"
#include "core/output.h"
#include "core/queue_map.h"
#include "trace/queue_sockets.h"
#include "view/queue_map.h"

#define SYSFS "/sys"
#define PROC "/proc"

/**
 * struct paths_options - the options of the verb paths
 * @verbose: print libbpf's messages
 */
struct paths_options {
	enum output_format format;
	unsigned int verbose;
};

/* Adds sockets. @missing: set to why there are none, "" otherwise. Return: 0 or -ENOMEM. */
static int connect_queues(const struct paths_options *o, struct queue_map *m, char *missing,
			  size_t size)
{
	struct nt_queue_socket *sockets;
	enum tracer_status status;
	char detail[256] = "";
	size_t nr;
	int err;

	missing[0] = '\0';
	if (!m->nr)
		return 0;
	status = queue_sockets_read(&sockets, &nr, o->verbose, detail, sizeof(detail));
	if (status) {
		tracer_explain(status, NT_HOST, detail, missing, size);
		return 0;
	}
	err = queue_map_connect(m, SYSFS, PROC, sockets, nr);
	free(sockets);
	return err;
}

static int print(const struct paths_options *o, const struct queue_map *m, const char *missing)
{
	if (o->format == FORMAT_JSON)
		return queue_map_print_json(m, missing[0] ? missing : NULL, stdout);
	if (o->format == FORMAT_CSV)
		queue_map_print_csv(m, stdout);
	else if (m->nr)
		queue_map_print(m, stdout);
	else
		puts("no NVMe/TCP controller is connected");
	if (missing[0]) {
		fflush(stdout);
		fprintf(stderr,
			"ntprof-bpf: sockets, io_cpu and what lies behind them are missing: %s\n",
			missing);
	}
	return 0;
}

static int paths(const struct paths_options *o)
{
	struct queue_map m = {.nr = 0};
	char missing[512];
	int err;

	err = queue_map_read(&m, SYSFS) ?: connect_queues(o, &m, missing, sizeof(missing));
	if (!err)
		err = print(o, &m, missing) ?: standard_output_finish();
	if (err)
		fprintf(stderr, "ntprof-bpf: %s\n", strerror(-err));
	queue_map_free(&m);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

enum { CHILD_FORMAT };

static error_t parse_paths(int key, char *arg, struct argp_state *state)
{
	struct paths_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_FORMAT] = &o->format;
		break;
	case 'v':
		o->verbose++;
		break;
	case ARGP_KEY_ARG:
		options_no_word(state, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option paths_options[] = {
	{"verbose", 'v', NULL, 0, "Print messages of libbpf, the library that loads the program",
	 SECTION_OTHER},
	{0},
};

static const struct argp_child paths_children[] = {
	[CHILD_FORMAT] = {.argp = &format_argp},
	{0},
};

static const struct argp paths_argp = {
	.options = paths_options,
	.parser = parse_paths,
	.children = paths_children,
	.doc = "Show, once, the NVMe/TCP controllers of this host, and for each of their queues: the "
	       "CPUs that submit to it, the CPU of its worker (io_cpu), both ends of its connection, "
	       "the network card, the CPUs of the card's interrupt for it, and the card's NUMA node. "
	       "It works without I/O. A '-' is not known: this kernel does not tell it.\n"
	       "\v"
	       "Examples:\n"
	       "  ntprof-bpf paths                  the map\n"
	       "  ntprof-bpf paths --format json    for programs",
};

static int main_paths(int argc, char **argv)
{
	struct paths_options o = {.verbose = 0};

	options_parse(&paths_argp, argc, argv, &o);
	return paths(&o);
}

const struct verb verb_paths = {
	.name = "paths",
	.summary = "queues with their CPUs, sockets and network cards",
	.argp = &paths_argp,
	.main = main_paths,
};
