// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/run.h"
#include "cli/verbs.h"
#include "peer/live_merge.h"
#include "trace/announce.h"
#include "view/view.h"

/* The shortest interval, in nanoseconds and in words. */
#define INTERVAL_MIN_NS 100000000ULL
#define INTERVAL_MIN "100ms"

/* Blocks that wait for a pipe's reader that is slow: some hundred of 80 columns. */
#define BUFFER_BYTES (1u << 20)

/**
 * struct live_options - what the verb live was asked
 * @run: side, interval and what else every run has
 * @count: end after this many blocks; 0 is never
 * @histogram: print full-size histograms
 * @peers, @nr_peers: commands that bring a target's stream, or files
 */
struct live_options {
	struct run_options run;
	uint64_t count;
	bool histogram;
	char *peers[PEERS_MAX];
	unsigned int nr_peers;
};

struct live {
	const struct live_options *o;
	struct view_options view;
	struct live_merge *peers; /* NULL without */
	struct announced announced;
	bool lacks_told; /* the peers' merge knows which points this machine lacks */
	uint64_t shown;
	uint64_t left_out;
};

/* A block that a terminal does not take is shown anew with the next one; a pipe's reader misses it. */
static int taken(struct live *l, int err)
{
	if (err == -EAGAIN) {
		l->left_out += !l->view.redraw;
		return 0;
	}
	/* What it failed of run() tells. */
	return err && output_error(l->view.output) ? 1 : err;
}

static uint64_t left_out(void *context)
{
	const struct live *l = context;

	return l->left_out;
}

static int show_interval(void *context, const struct stats *s)
{
	struct live *l = context;
	int err = taken(l, view_interval(s, &l->view));

	if (!err && l->peers)
		err = live_merge_interval(l->peers);
	return err ? err : l->o->count && ++l->shown >= l->o->count;
}

static int show_summary(void *context, const struct stats *s)
{
	struct live *l = context;
	int err = l->peers ? live_merge_finish(l->peers) : 0;
	struct output_rest rest;

	if (err)
		return err;
	err = view_summary(s, &l->view);
	/* It is worth more than the blocks that nobody has read. */
	if (err == -EAGAIN && !output_cut(l->view.output, &rest))
		err = view_summary(s, &l->view);
	return taken(l, err) < 0 ? err : 0;
}

static int take_record(void *context, const struct tracer *t, const struct nt_record *r)
{
	struct live *l = context;
	struct queue_info q;
	int ret;

	if (!l->lacks_told) {
		live_merge_lacks(l->peers, tracer_missing(t));
		l->lacks_told = true;
	}
	ret = announce(&l->announced, t, r, &q);
	if (ret > 0)
		ret = live_merge_queue(l->peers, &q);
	return ret ?: live_merge_record(l->peers, r);
}

static int peers_fd_of(void *context)
{
	const struct live *l = context;

	return live_merge_fd(l->peers);
}

static int take_peers(void *context)
{
	const struct live *l = context;

	return live_merge_ready(l->peers);
}

static int resize(void *context, const struct stats *s)
{
	struct live *l = context;

	view_resize(&l->view);
	return l->view.redraw ? taken(l, view_interval(s, &l->view)) : 0;
}

/* The view says it by itself, in every block. */
static void waiting(void *context)
{
	(void)context;
}

static int live(const struct live_options *o)
{
	struct run_callbacks callbacks = {
		.select = o->nr_peers ? NT_SELECT_ALL : NT_SELECT_NONE,
		.record = take_record,
		.fd = o->nr_peers ? peers_fd_of : NULL,
		.ready = take_peers,
		.interval = show_interval,
		.resize = resize,
		.waiting = waiting,
		.end = show_summary,
		.output_name = "standard output",
		.left_out = left_out,
	};
	struct live l = {.o = o};
	int status;

	view_setup(&l.view, stdout);
	l.view.histogram = o->histogram;
	l.view.output = output_new(STDOUT_FILENO, BUFFER_BYTES);
	if (!l.view.output) {
		fprintf(stderr, "ntprof-bpf: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	callbacks.output = l.view.output;
	if (o->nr_peers) {
		l.peers = live_merge_new(o->peers, o->nr_peers);
		if (!l.peers) {
			fprintf(stderr, "ntprof-bpf: cannot start the peers: %s\n",
				strerror(errno));
			output_free(l.view.output);
			return EXIT_FAILURE;
		}
		l.view.peers = l.peers;
	}
	status = run(&o->run, &callbacks, &l);
	live_merge_free(l.peers);
	announced_free(&l.announced);
	output_free(l.view.output);
	return status;
}

enum { KEY_PEER = 0x100 };

enum { CHILD_RUN, CHILD_BLOCKS, CHILD_HISTOGRAM };

static error_t parse_live(int key, char *arg, struct argp_state *state)
{
	struct live_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_RUN] = &o->run;
		state->child_inputs[CHILD_BLOCKS] = &o->count;
		state->child_inputs[CHILD_HISTOGRAM] = &o->histogram;
		break;
	case 'i':
		o->run.interval_ns =
			options_time(state, "--interval", arg, INTERVAL_MIN_NS, INTERVAL_MIN);
		break;
	case KEY_PEER:
		if (!arg[0])
			options_error(state, "--peer needs a command, a file or a FIFO");
		if (o->nr_peers == PEERS_MAX)
			options_error(state, "at most %u times --peer", PEERS_MAX);
		o->peers[o->nr_peers++] = arg;
		break;
	case ARGP_KEY_END:
		if (o->nr_peers && o->run.side == NT_TARGET)
			options_error(state, "--peer is for the live view of the host: "
					     "ntprof-bpf --host --peer ...");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option live_options[] = {
	{"interval", 'i', "TIME", 0, "Show a block every TIME (default 1s)", SECTION_RUN},
	{"peer", KEY_PEER, "COMMAND", 0,
	 "With --host: run COMMAND, which brings the target's stream, and show where the time goes in "
	 "ten stages; a file or a FIFO will do as well. Can be given for several targets. What "
	 "becomes of a peer is shown; the host's own view and the exit status do not depend on it",
	 SECTION_RUN},
	{0},
};

static const struct argp_child live_children[] = {
	[CHILD_RUN] = {.argp = &run_argp},
	[CHILD_BLOCKS] = {.argp = &blocks_argp},
	[CHILD_HISTOGRAM] = {.argp = &histogram_argp},
	{0},
};

static const struct argp live_argp = {
	.options = live_options,
	.parser = parse_live,
	.children = live_children,
	.doc = "Show latency histograms per queue, and the stages that latencies are made of, block "
	       "after block until Ctrl-C; then those of the whole run. The verb's name can be left "
	       "out.\n"
	       "\v"
	       "Examples:\n"
	       "  ntprof-bpf --host                 the commands this machine sends\n"
	       "  ntprof-bpf --target               the commands this machine serves\n"
	       "  ntprof-bpf --host -i 5 -n 12      a block every 5 seconds, for a minute\n"
	       "  ntprof-bpf --host -d 30 --histogram >report.txt\n"
	       "                                    30 seconds, with full-size histograms,\n"
	       "                                    into a file\n"
	       "  ntprof-bpf --host --sample 100    one command in a hundred\n"
	       "  ntprof-bpf --host --peer 'ssh root@target ntprof-bpf record --target -o -'\n"
	       "                                    both machines together, in ten stages",
};

static int main_live(int argc, char **argv)
{
	struct live_options o = {.run = RUN_OPTIONS_DEFAULT};

	options_parse(&live_argp, argc, argv, &o);
	return live(&o);
}

const struct verb verb_live = {
	.name = "live",
	.summary = "histograms and stages, block after block",
	.argp = &live_argp,
	.main = main_live,
};
