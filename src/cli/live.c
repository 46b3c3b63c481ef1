// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/browser.h"
#include "cli/group_options.h"
#include "cli/options.h"
#include "cli/run.h"
#include "cli/verbs.h"
#include "core/rights.h"
#include "peer/live_merge.h"
#include "trace/announce.h"
#include "view/peers_start.h"
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
 * @groups: what rows are of
 * @format: what blocks look like
 * @peers, @nr_peers: commands that bring a target's stream, or files
 * @peer_as_root: also where somebody else called sudo
 * @interval: one was given
 * @limits: what network and drives can carry
 */
struct live_options {
	struct run_options run;
	uint64_t count;
	bool histogram;
	struct group_options groups;
	enum output_format format;
	char *peers[PEERS_MAX];
	unsigned int nr_peers;
	bool peer_as_root;
	bool interval;
	struct limits limits;
};

struct live {
	const struct live_options *o;
	struct view_options view;
	struct look look;
	struct limits limits;
	struct browser browser;
	const struct stats *seen; /* what is on the screen; NULL: nothing yet */
	struct live_merge *peers; /* NULL without */
	struct peers_told told;
	bool terminal; /* somebody sees standard error at once */
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

/* A peer may ask for a password at the terminal, or does so. */
static bool starting(const struct live *l)
{
	return l->peers && (!live_merge_settled(l->peers) || live_merge_asking(l->peers));
}

/* The screen is not drawn meanwhile. */
static bool held_back(const struct live *l)
{
	return l->view.redraw && starting(l);
}

/* At a terminal, before anything is drawn there. */
static void tell_messages(struct live *l)
{
	if (l->terminal && starting(l))
		peers_print_messages(l->peers, &l->told, stderr);
}

/* Of the same interval once more. */
static int draw_again(struct live *l)
{
	int err;

	if (!l->seen || !l->view.redraw || held_back(l))
		return 0;
	l->view.again = true;
	err = taken(l, view_interval(l->seen, &l->view));
	l->view.again = false;
	return err;
}

static int show_interval(void *context, const struct stats *s)
{
	struct live *l = context;
	bool hold = held_back(l);
	int err = limits_interval(&l->limits, s);

	if (!err && !hold && !l->look.paused)
		err = taken(l, view_interval(s, &l->view));

	l->seen = s;
	if (l->terminal && starting(l))
		peers_print_waiting(l->peers, &l->told, hold, stderr);
	if (!err && l->peers)
		err = live_merge_interval(l->peers);
	/* It has read what peers say, too. */
	if (!err)
		tell_messages(l);
	if (err || hold)
		return err;
	return l->o->count && ++l->shown >= l->o->count;
}

/* The run's own signals, which are blocked: another one of them means that nobody wants to wait for the peers. */
static int finish_peers(struct live_merge *peers)
{
	sigset_t set;
	int fd, err;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	err = live_merge_finish(peers, fd);
	if (fd >= 0)
		close(fd);
	return err;
}

/* A terminal's, each of which replaces the one before, are not missed. */
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
	err = l->peers ? finish_peers(l->peers) : 0;
	if (!err)
		err = limits_summary(&l->limits, s);
	if (err)
		return err;
	err = view_summary(s, &l->view);
	/* It is worth more than the blocks that nobody has read. */
	if (err == -EAGAIN && !take_back(l))
		err = view_summary(s, &l->view);
	return taken(l, err) < 0 ? err : 0;
}

static void failed(void *context)
{
	struct live *l = context;

	browser_leave(&l->browser);
	if (l->peers)
		live_merge_fail(l->peers);
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

/* When it is known that there will be a run: who may not trace starts no peer. */
static int start_peers(struct live *l)
{
	struct peer_user user = {.other = false};

	if (!l->o->peer_as_root && peer_user_find(&user)) {
		fprintf(stderr, "ntprof-bpf: SUDO_UID and SUDO_GID do not say who called sudo; "
				"--peer-as-root runs the peers as root\n");
		errno = ECANCELED;
		return -1;
	}
	l->peers = live_merge_new(l->o->peers, l->o->nr_peers, &user);
	if (!l->peers) {
		fprintf(stderr, "ntprof-bpf: cannot start the peers: %s\n", strerror(errno));
		errno = ECANCELED;
		return -1;
	}
	l->view.peers = l->peers;
	if (l->view.redraw)
		live_merge_let_skip(l->peers);
	return 0;
}

/* Return: a descriptor for what the verb waits for by itself, or -1 with errno set. */
static int open_own(void *context)
{
	struct live *l = context;

	if (l->o->nr_peers && start_peers(l))
		return -1;
	errno = -browser_open(&l->browser, &l->look, l->view.redraw);
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
	if (l->peers)
		tell_messages(l);
	wish = browser_ready(&l->browser, l->seen);
	if (wish == PRESSED_QUIT)
		return 1;
	return wish == PRESSED_DRAW ? draw_again(l) : 0;
}

/* Whatever has happened, somebody else may have the terminal now, or nobody any more. */
static void settle(void *context)
{
	struct live *l = context;

	if (l->view.redraw && browser_update(&l->browser, !starting(l)))
		draw_again(l);
}

static uint64_t pace(void *context)
{
	const struct live *l = context;

	return l->look.interval_ns ?: l->o->run.interval_ns;
}

/* What peers send is taken all the same. */
static bool paused(void *context)
{
	struct live *l = context;

	if (l->look.paused && l->peers && live_merge_tend(l->peers))
		return false;
	return l->look.paused;
}

static int resize(void *context, const struct stats *s)
{
	struct live *l = context;

	(void)s;
	view_resize(&l->view);
	return draw_again(l);
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
		.cut = cut,
		/* Peers' commands are of another user, and have the terminal when they ask. */
		.keeps = o->nr_peers ? RIGHTS_ALL : 0,
	};
	struct live l = {.o = o, .limits = o->limits};
	int status;

	view_setup(&l.view, stdout);
	view_format(&l.view, o->format);
	l.view.histogram = o->histogram;
	if (o->groups.by || o->groups.stats || o->groups.choice.scale.on)
		l.view.choice = l.look.choice = &o->groups.choice;
	l.view.output = output_new(STDOUT_FILENO, BUFFER_BYTES);
	if (!l.view.output) {
		fprintf(stderr, "ntprof-bpf: %s\n", strerror(errno));
		return EXIT_FAILURE;
	}
	callbacks.output = l.view.output;
	l.view.limits = limits_any(&l.limits) ? &l.limits : NULL;
	l.view.look = &l.look;
	l.look.interval_ns = burst_any(&o->run.burst) ? 0 : o->run.interval_ns;
	l.browser.epoll_fd = l.browser.keyboard_fd = l.browser.timer_fd = -1;
	l.terminal = isatty(STDERR_FILENO);
	status = run(&o->run, &callbacks, &l);
	browser_close(&l.browser);
	live_merge_free(l.peers);
	announced_free(&l.announced);
	limits_free(&l.limits);
	output_free(l.view.output);
	return status;
}

enum { KEY_PEER = 0x100, KEY_PEER_AS_ROOT };

enum {
	CHILD_RUN,
	CHILD_BLOCKS,
	CHILD_HISTOGRAM,
	CHILD_FORMAT,
	CHILD_SELECT,
	CHILD_LIMITS,
	CHILD_GROUP
};

static error_t parse_live(int key, char *arg, struct argp_state *state)
{
	struct live_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_RUN] = &o->run;
		state->child_inputs[CHILD_BLOCKS] = &o->count;
		state->child_inputs[CHILD_HISTOGRAM] = &o->histogram;
		state->child_inputs[CHILD_FORMAT] = &o->format;
		state->child_inputs[CHILD_SELECT] = &o->run.only;
		state->child_inputs[CHILD_LIMITS] = &o->limits;
		o->groups.who = GROUP_LIVE;
		state->child_inputs[CHILD_GROUP] = &o->groups;
		break;
	case 'i':
		o->interval = true;
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
	case KEY_PEER_AS_ROOT:
		o->peer_as_root = true;
		break;
	case ARGP_KEY_END:
		group_options_end(&o->groups);
		o->run.by_other = group_has(&o->groups.choice.grouping.by, GROUP_CTRL) ||
				  group_has(&o->groups.choice.grouping.by, GROUP_NQN) ||
				  group_has(&o->groups.choice.grouping.by, GROUP_HOST);
		if (o->interval && burst_any(&o->run.burst))
			options_error(state,
				      "--interval and --burst: with bursts, each has a block");
		if (o->peer_as_root && !o->nr_peers)
			options_error(state, "--peer-as-root is for --peer");
		if (o->nr_peers && o->run.side == NT_TARGET)
			options_error(state, "--peer is for the live view of the host: "
					     "ntprof-bpf --host --peer ...");
		if (o->format == FORMAT_CSV && o->nr_peers)
			options_error(state, "--format csv is of the queues of this machine: with "
					     "--peer take json");
		if (o->format == FORMAT_CSV && limits_any(&o->limits))
			options_error(state, "--network-limit and --drive-limit are for --format "
					     "text and json");
		if (o->format == FORMAT_CSV && o->histogram)
			options_error(state, "--histogram is for --format text and json");
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
	{"interval", 'i', "TIME", 0, "Show a block every TIME (default 1s)", SECTION_RUN},
	{"peer", KEY_PEER, "COMMAND", 0,
	 "With --host: run COMMAND, which brings the target's stream, and show where the time goes in "
	 "ten stages; a file or a FIFO will do as well. Can be given for several targets. What "
	 "becomes of a peer is shown; the host's own view and the exit status do not depend on it. "
	 "Under sudo, COMMAND runs as the user who called it",
	 SECTION_RUN},
	{"peer-as-root", KEY_PEER_AS_ROOT, NULL, 0,
	 "Run the commands of --peer as root also under sudo", SECTION_RUN},
	{0},
};

static const struct argp_child live_children[] = {
	[CHILD_RUN] = {.argp = &run_argp},
	[CHILD_BLOCKS] = {.argp = &blocks_argp},
	[CHILD_HISTOGRAM] = {.argp = &histogram_argp},
	[CHILD_FORMAT] = {.argp = &format_argp},
	[CHILD_SELECT] = {.argp = &select_argp},
	[CHILD_LIMITS] = {.argp = &limits_argp},
	[CHILD_GROUP] = {.argp = &group_argp},
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
