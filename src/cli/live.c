// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/announced_names.h"
#include "cli/browser.h"
#include "cli/confine.h"
#include "cli/interval_options.h"
#include "cli/options.h"
#include "cli/peering.h"
#include "cli/run.h"
#include "cli/transport.h"
#include "cli/verbs.h"
#include "core/array.h"
#include "core/controllers.h"
#include "core/names.h"
#include "core/rights.h"
#include "core/time.h"
#include "merge/groups.h"
#include "merge/places.h"
#include "peer/live_merge.h"
#include "view/limits.h"
#include "view/peers.h"
#include "view/view.h"

/* The command line of the verb live. */

/**
 * struct live_options - the options of the verb live
 * @run: side, interval and the other options of each run
 * @count: end after this many blocks; 0: never
 * @histogram: print full-size histograms
 * @groups: the groups that rows are made of
 * @format: format of the blocks
 * @peers: the commands that bring the other side's streams
 * @interval: --interval was given
 * @limits: the rates that network and drives can carry
 */
struct live_options {
	struct run_options run;
	uint64_t count;
	bool histogram;
	struct group_options groups;
	enum output_format format;
	struct peer_options peers;
	bool interval;
	struct limits limits;
};

/* The shortest interval, in nanoseconds and as users write it. */
#define INTERVAL_MIN_NS 100000000ULL
#define INTERVAL_MIN "100ms"

enum {
	CHILD_RUN,
	CHILD_STAGES,
	CHILD_BLOCKS,
	CHILD_GROUP,
	CHILD_HISTOGRAM,
	CHILD_FORMAT,
	CHILD_SELECT,
	CHILD_LIMITS,
	CHILD_PEER,
	CHILD_TRANSPORT,
};

/* Refuses group keys that only a host knows of a command. */
static void check_groups(const struct argp_state *state, const struct live_options *o)
{
	enum group_key key = group_by_needs(&o->groups.choice.grouping.by, GROUP_OF_HOST);

	if (o->run.side == NT_TARGET && key != GROUP_KEYS_NR)
		options_error(state,
			      "--by %s: only the host knows it, where the same works: ntprof-bpf "
			      "--host --by %s",
			      group_key_name(key), group_key_name(key));
}

static error_t parse_live(int key, char *arg, struct argp_state *state)
{
	struct live_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_RUN] = &o->run;
		state->child_inputs[CHILD_TRANSPORT] = &o->run;
		state->child_inputs[CHILD_STAGES] = &o->run;
		state->child_inputs[CHILD_BLOCKS] = &o->count;
		state->child_inputs[CHILD_HISTOGRAM] = &o->histogram;
		state->child_inputs[CHILD_FORMAT] = &o->format;
		state->child_inputs[CHILD_SELECT] = &o->run.only;
		state->child_inputs[CHILD_LIMITS] = &o->limits;
		o->groups.who = GROUP_LIVE;
		state->child_inputs[CHILD_GROUP] = &o->groups;
		state->child_inputs[CHILD_PEER] = &o->peers;
		break;
	case 'i':
		o->interval = true;
		o->run.interval_ns =
			options_time(state, "--interval", arg, INTERVAL_MIN_NS, INTERVAL_MIN);
		break;
	case ARGP_KEY_END:
		transport_options_end(state, &o->run);
		interval_options_end(state, &o->run);
		group_options_end(&o->groups);
		o->run.by_other = group_has(&o->groups.choice.grouping.by, GROUP_CTRL) ||
				  group_has(&o->groups.choice.grouping.by, GROUP_NQN) ||
				  group_has(&o->groups.choice.grouping.by, GROUP_HOST);
		if (o->interval && burst_any(&o->run.burst))
			options_error(state,
				      "--interval and --burst: with bursts, each has a block");
		check_groups(state, o);
		peer_options_end(state, &o->peers, o->run.side, o->run.fine);
		if (o->peers.nr && o->run.transports && !(o->run.transports & NT_OF_TCP))
			options_error(state, "--peer is for NVMe/TCP: a target's stream has no "
					     "commands of other transports");
		if (o->format == FORMAT_CSV && o->peers.nr)
			options_error(state, "--format csv is of the queues of this machine: with "
					     "--peer take json");
		if (o->format == FORMAT_CSV && limits_any(&o->limits))
			options_error(state, "--network-limit and --drive-limit are for --format "
					     "text and json");
		if (o->format == FORMAT_CSV && o->histogram)
			options_error(state, "--histogram is for --format text and json");
		if (o->format == FORMAT_CSV && o->run.tcp)
			options_error(state, "--tcp is for --format text and json");
		if (o->format == FORMAT_CSV && o->run.disks)
			options_error(state, "--disks is for --format text and json");
		if (o->format == FORMAT_CSV && o->groups.choice.scale.on)
			options_error(state,
				      "--min-latency and --bucket-shift are for --format text "
				      "and json");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option live_options[] = {
	{"interval", 'i', "TIME", 0, "Show a block every TIME (default 1s)", SECTION_TIME},
	{0},
};

static const struct argp_child live_children[] = {
	[CHILD_RUN] = {.argp = &run_argp},
	[CHILD_STAGES] = {.argp = &interval_argp},
	[CHILD_BLOCKS] = {.argp = &blocks_argp},
	[CHILD_HISTOGRAM] = {.argp = &histogram_argp},
	[CHILD_FORMAT] = {.argp = &format_argp},
	[CHILD_SELECT] = {.argp = &select_argp},
	[CHILD_LIMITS] = {.argp = &limits_argp},
	[CHILD_GROUP] = {.argp = &group_argp},
	[CHILD_PEER] = {.argp = &peer_argp},
	[CHILD_TRANSPORT] = {.argp = &transport_argp},
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
	       "  ntprof-bpf --host --sample 100    one command in a hundred; all are counted\n"
	       "  ntprof-bpf --host --burst 1s/60s  for one second a minute\n"
	       "  ntprof-bpf --target --by host     a row for each host that is connected\n"
	       "  ntprof-bpf --host --peer 'ssh root@target ntprof-bpf record --target -o -'\n"
	       "                                    both machines together, in ten stages\n"
	       "  ntprof-bpf --target --peer root@host\n"
	       "                                    the same, seen from the target",
};

/* Adds the records of a live view to its groups: see merge/groups.h. */

/**
 * struct grouped_records - all zeroes: there are no such groups
 * @queue: [slot] the connection that has it, if a record has announced it
 */
struct grouped_records {
	struct live_groups *live_groups;
	struct group_by by;
	struct announced_names announced_names;
	struct queue_info *queue;
	uint32_t nr_queues;
};

/**
 * grouped_records_open() - begin, with groups by these keys; grouped_records_close() is due in any
 * case. Return: 0 or -ENOMEM
 */
static int grouped_records_open(struct grouped_records *t, const struct group_by *by)
{
	t->by = *by;
	t->live_groups = live_groups_new(by);
	return announced_names_init(&t->announced_names) ?: t->live_groups ? 0 : -ENOMEM;
}

/* Return: 0 or -ENOMEM. */
static int keep_queue(struct grouped_records *t, const struct queue_info *q)
{
	if (ARRAY_REACH(t->queue, t->nr_queues, q->slot))
		return -ENOMEM;
	t->queue[q->slot] = *q;
	return 0;
}

/** grouped_records_record() - call when a command has ended. Return: 0 or -ENOMEM */
static int grouped_records_record(struct grouped_records *t, const struct tracer *tracer,
				  const struct nt_record *r)
{
	struct group_recorder who = {.places = t->announced_names.places};
	const struct queue_info *queue = NULL;
	struct group_name name;
	struct device_name d;
	struct queue_info q;
	struct origin o;
	int new = announced_names_queue(&t->announced_names, tracer, r, &q);

	if (new < 0 || (new &&keep_queue(t, &q)) ||
	    (group_has(&t->by, GROUP_DEVICE) &&
	     announced_names_device(&t->announced_names, r, &d) < 0) ||
	    (group_by_origins(&t->by) &&
	     announced_names_origin(&t->announced_names, tracer, r, &o) < 0))
		return -ENOMEM;
	if (r->slot < t->nr_queues && t->queue[r->slot].gen == r->gen)
		queue = &t->queue[r->slot];
	who.source[r->side] = source_name(tracer_source(tracer));
	group_name_side(&name, &t->by, r->side, queue, r, &who);
	return live_groups_add(t->live_groups, &name, r);
}

/** grouped_records_close() - release; fine if it was not opened */
static void grouped_records_close(struct grouped_records *t)
{
	live_groups_free(t->live_groups);
	announced_names_free(&t->announced_names);
	free(t->queue);
}

/* On fewer lines the table may have room for one row. */
#define LINES_OF_ROWS 16
/* Blocks that wait for the slow reader of a pipe: some hundred of 80 columns. */
#define BUFFER_BYTES (1u << 20)

struct live {
	const struct live_options *o;
	struct view_options view;
	struct view_state state;
	struct limits limits;
	struct controllers controllers;
	struct stalls stalls;
	struct stage_memory memory[2];
	struct browser browser;
	const struct stats *seen; /* statistics on the screen; NULL: none yet */
	bool due;		  /* the terminal has not taken the last screen */
	struct peering peering;
	struct live_merge *peers; /* the merge of @peering; NULL without peers */
	bool terminal;		  /* standard error is one */
	struct group_choice choice;
	struct grouped_records grouped_records;
	uint64_t shown;
	uint64_t left_out;
};

/* Notes whether the terminal shows the screen now: messages would be drawn over. */
static void screen_noted(const struct live *l)
{
	browser_screen(l->view.entered);
	console_hold(l->view.entered && l->terminal);
}

/* Leaves the screen before its time: the run fails. */
static void screen_leave(struct live *l)
{
	if (!l->view.entered || output_put(l->view.output, SCREEN_LEAVE, strlen(SCREEN_LEAVE), 0))
		return;
	output_flush(l->view.output);
	l->view.entered = false;
	screen_noted(l);
}

/*
 * A block that the terminal does not take is drawn again as soon as the terminal takes it. The
 * reader of a pipe misses the block.
 */
static int taken(struct live *l, int err)
{
	l->due = err == -EAGAIN && l->view.redraw;
	if (l->view.entered)
		screen_noted(l);
	if (err == -EAGAIN) {
		l->left_out += !l->view.redraw;
		return 0;
	}
	/* run() prints why the output failed. */
	return err && output_error(l->view.output) ? 1 : err;
}

static uint64_t left_out(void *context)
{
	const struct live *l = context;

	return l->left_out;
}

static uint64_t names_gone(void *context)
{
	const struct live *l = context;

	return places_gave_way(l->grouped_records.announced_names.places);
}

/* Draws the same interval again. */
static int redraw_now(struct live *l)
{
	int err;

	if (!l->seen || !l->view.redraw)
		return 0;
	l->view.again = true;
	err = taken(l, view_interval(l->seen, &l->view));
	l->view.again = false;
	return err;
}

static int show_interval(void *context, const struct stats *s)
{
	struct live *l = context;
	int err = limits_interval(&l->limits, s)
			  ?: controllers_look(&l->controllers, "/sys", s, monotonic_ns());

	stalls_look(&l->stalls, s, monotonic_ns());
	if (!err && l->choice.live_groups)
		err = live_groups_interval(l->grouped_records.live_groups, s);
	/* Only a screen shows it. */
	if (!err && l->view.redraw)
		err = stats_remember(s, monotonic_ns());
	if (!err && l->view.redraw && l->choice.live_groups)
		err = live_groups_remember(l->grouped_records.live_groups, s, monotonic_ns());
	if (!err && !l->state.paused)
		err = taken(l, view_interval(s, &l->view));

	l->seen = s;
	if (!err && l->peers)
		err = live_merge_interval(l->peers);
	if (err)
		return err;
	return l->o->count && ++l->shown >= l->o->count;
}

/*
 * Drops blocks that are not written yet. At a terminal they are not reported, because each replaces
 * the one before.
 */
static int take_back(const struct live *l)
{
	struct output_rest rest;
	int err = output_cut(l->view.output, &rest);

	if (!err && rest.pieces && !l->view.redraw)
		fprintf(stderr, "the last %u block%s left out\n", rest.pieces,
			rest.pieces == 1 ? " is" : "s are");
	return err;
}

static void cut(void *context)
{
	take_back(context);
}

static int show_summary(void *context, const struct stats *s)
{
	struct live *l = context;
	int err;

	browser_leave(&l->browser);
	err = peering_finish(&l->peering);
	if (!err)
		err = limits_summary(&l->limits, s);
	if (!err && l->choice.live_groups)
		err = live_groups_finish(l->grouped_records.live_groups);
	if (err)
		return err;
	err = view_summary(s, &l->view);
	/* The summary is worth more than blocks that have not been read. */
	if (err == -EAGAIN && !take_back(l))
		err = view_summary(s, &l->view);
	return taken(l, err) < 0 ? err : 0;
}

static void failed(void *context)
{
	struct live *l = context;

	browser_leave(&l->browser);
	screen_leave(l);
}

static int take_record(void *context, const struct tracer *t, const struct nt_record *r)
{
	struct live *l = context;
	int ret = 0;

	if (l->choice.live_groups)
		ret = grouped_records_record(&l->grouped_records, t, r);
	return ret ?: peering_record(&l->peering, t, r);
}

static int start_peers(struct live *l)
{
	struct peer_user user;

	if (peering_user(&l->o->peers, &user)) {
		errno = ECANCELED;
		return -1;
	}
	if (peering_start(&l->peering, &l->o->peers, l->o->run.side, &user, false))
		return -1;
	l->peers = l->peering.merge;
	l->view.peers = l->peers;
	return 0;
}

/* Return: a descriptor for the verb's own sources of events, or -1 with errno set. */
static int open_own(void *context)
{
	struct live *l = context;

	if (l->o->peers.nr && start_peers(l))
		return -1;
	errno = -browser_open(&l->browser, &l->state, l->view.redraw);
	/* Without a keyboard no signal is handled, so that screen might stay. */
	l->view.alternate = l->browser.keyboard_fd >= 0;
	if (!errno && l->peers)
		errno = -browser_add(&l->browser, live_merge_fd(l->peers));
	return errno ? -1 : l->browser.epoll_fd;
}

static int take_own(void *context)
{
	struct live *l = context;
	int err = l->peers ? live_merge_ready(l->peers) : 0;
	enum pressed_wish wish;

	if (err)
		return err;
	wish = browser_ready(&l->browser, l->seen);
	if (wish == PRESSED_QUIT)
		return 1;
	return wish == PRESSED_DRAW ? redraw_now(l) : 0;
}

/*
 * Return: whether the terminal now takes the screen that it did not take. While paused, or with a
 * long interval, nothing else would draw it for a long time.
 */
static bool retry(const struct live *l)
{
	return l->due && output_idle(l->view.output);
}

/*
 * Called after each round of events: another process may have the terminal now, or none any more.
 */
static void settle(void *context)
{
	struct live *l = context;
	bool back;

	if (!l->view.redraw)
		return;
	back = browser_update(&l->browser);
	/* It was left when this program was stopped. */
	l->view.entered &= !back;
	if (back || retry(l))
		redraw_now(l);
}

static uint64_t pace(void *context)
{
	const struct live *l = context;

	return l->state.interval_ns ?: l->o->run.interval_ns;
}

/* The peers' streams are read also while paused. */
static bool paused(void *context)
{
	struct live *l = context;

	if (l->state.paused && l->peers && live_merge_tend(l->peers))
		return false;
	return l->state.paused;
}

static int resize(void *context, const struct stats *s)
{
	struct live *l = context;

	view_resize(&l->view);
	return redraw_now(l);
}

/* Prints nothing, as every block of the view says that the module is missing. */
static void waiting(void *context)
{
}

static int live(const struct live_options *o)
{
	bool records =
		group_by_needs(&o->groups.choice.grouping.by, GROUP_OF_RECORD) != GROUP_KEYS_NR;
	struct run_callbacks callbacks = {
		.with_path_events = true,
		.select = o->peers.nr || records ? NT_SELECT_ALL : NT_SELECT_NONE,
		.origins = group_by_origins(&o->groups.choice.grouping.by),
		.record = take_record,
		.fd = open_own,
		.ready = take_own,
		.round = settle,
		.interval = show_interval,
		.pace = pace,
		.skip = paused,
		.resize = resize,
		.waiting = waiting,
		.end = show_summary,
		.failed = failed,
		.output_name = "standard output",
		.left_out = left_out,
		.names_gone = names_gone,
		.cut = cut,
		/*
		 * The peers' commands may run as another user, and get the terminal when they ask
		 * for a password.
		 */
		.keeps = o->peers.nr ? RIGHTS_ALL : 0,
	};
	struct live l = {.o = o, .limits = o->limits, .choice = o->groups.choice};
	int status;

	view_setup(&l.view, stdout);
	view_format(&l.view, o->format);
	l.view.histogram = o->histogram;
	if (o->groups.by || o->groups.stats || o->groups.choice.scale.on)
		l.view.choice = l.state.choice = &l.choice;
	if (!o->peers.nr)
		confine_begin(o->run.verbose);
	l.view.output = output_new(STDOUT_FILENO, BUFFER_BYTES);
	if (!l.view.output ||
	    (records && grouped_records_open(&l.grouped_records, &l.choice.grouping.by))) {
		fprintf(stderr, "ntprof-bpf: %s\n", strerror(errno));
		grouped_records_close(&l.grouped_records);
		output_free(l.view.output);
		return EXIT_FAILURE;
	}
	l.choice.live_groups = l.grouped_records.live_groups;
	callbacks.output = l.view.output;
	l.view.limits = limits_any(&l.limits) ? &l.limits : NULL;
	l.view.memory = l.memory;
	l.view.controllers = l.state.controllers = &l.controllers;
	l.view.stalls = &l.stalls;
	l.view.state = &l.state;
	/* Then it is the slowest row, and not the busiest. */
	if (l.view.redraw && l.view.lines < LINES_OF_ROWS)
		l.state.sort = VIEW_SORT_P99;
	l.state.interval_ns = burst_any(&o->run.burst) ? 0 : o->run.interval_ns;
	l.browser.epoll_fd = l.browser.keyboard_fd = l.browser.timer_fd = -1;
	l.terminal = isatty(STDERR_FILENO);
	callbacks.shows_start = l.terminal && l.view.redraw;
	status = run(&o->run, &callbacks, &l);
	/* The terminal has not taken the summary. */
	if (l.view.entered && write(STDOUT_FILENO, SCREEN_LEAVE, strlen(SCREEN_LEAVE)) < 0)
		status = EXIT_FAILURE;
	browser_close(&l.browser);
	peering_close(&l.peering);
	grouped_records_close(&l.grouped_records);
	limits_free(&l.limits);
	controllers_free(&l.controllers);
	stage_memory_free(&l.memory[0]);
	stage_memory_free(&l.memory[1]);
	output_free(l.view.output);
	return status;
}

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
