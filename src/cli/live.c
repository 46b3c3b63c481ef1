// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/browser.h"
#include "cli/live_options.h"
#include "cli/peering.h"
#include "cli/run.h"
#include "cli/grouped_records.h"
#include "cli/verbs.h"
#include "core/rights.h"
#include "peer/live_merge.h"
#include "view/peers_start.h"
#include "view/view.h"

/* Blocks that wait for the slow reader of a pipe: some hundred of 80 columns. */
#define BUFFER_BYTES (1u << 20)

struct live {
	const struct live_options *o;
	struct view_options view;
	struct view_state state;
	struct limits limits;
	struct browser browser;
	const struct stats *seen; /* statistics on the screen; NULL: none yet */
	bool due;		  /* the terminal has not taken the last screen */
	struct peering peering;
	struct live_merge *peers; /* the merge of @peering; NULL without peers */
	struct peers_told told;
	bool terminal; /* the user sees standard error at once */
	struct group_choice choice;
	struct grouped_records grouped_records;
	uint64_t shown;
	uint64_t left_out;
};

/*
 * A block that the terminal does not take is drawn again as soon as the terminal takes it. The
 * reader of a pipe misses the block.
 */
static int taken(struct live *l, int err)
{
	l->due = err == -EAGAIN && l->view.redraw;
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

/* Return: whether a peer may ask for a password at the terminal, or does so now. */
static bool starting(const struct live *l)
{
	return l->peers && (!live_merge_settled(l->peers) || live_merge_asking(l->peers));
}

/* Return: whether the screen must not be drawn for that reason. */
static bool held_back(const struct live *l)
{
	return l->view.redraw && starting(l);
}

/* Prints the peers' messages at a terminal, before the first screen is drawn. */
static void tell_messages(struct live *l)
{
	if (l->terminal && starting(l))
		peers_print_messages(l->peers, &l->told, stderr);
}

/* Draws the same interval again. */
static int redraw_now(struct live *l)
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

	if (!err && l->choice.live_groups)
		err = live_groups_interval(l->grouped_records.live_groups, s);
	if (!err && !hold && !l->state.paused)
		err = taken(l, view_interval(s, &l->view));

	l->seen = s;
	if (l->terminal && starting(l))
		peers_print_waiting(l->peers, &l->told, hold, stderr);
	if (!err && l->peers)
		err = live_merge_interval(l->peers);
	/* live_merge_interval() has read the peers' messages as well. */
	if (!err)
		tell_messages(l);
	if (err || hold)
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
	if (l->peers)
		live_merge_fail(l->peers);
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
	if (peering_start(&l->peering, &l->o->peers, &user, false))
		return -1;
	l->peers = l->peering.merge;
	l->view.peers = l->peers;
	if (l->view.redraw)
		live_merge_let_skip(l->peers);
	return 0;
}

/* Return: a descriptor for the verb's own sources of events, or -1 with errno set. */
static int open_own(void *context)
{
	struct live *l = context;

	if (l->o->peers.nr && start_peers(l))
		return -1;
	errno = -browser_open(&l->browser, &l->state, l->view.redraw);
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

	if (l->view.redraw && (browser_update(&l->browser, !starting(l)) || retry(l)))
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
		.select = o->peers.nr || records ? NT_SELECT_ALL : NT_SELECT_NONE,
		.origins = group_by_needs(&o->groups.choice.grouping.by, GROUP_OF_ORIGIN) !=
			   GROUP_KEYS_NR,
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
	l.view.state = &l.state;
	l.state.interval_ns = burst_any(&o->run.burst) ? 0 : o->run.interval_ns;
	l.browser.epoll_fd = l.browser.keyboard_fd = l.browser.timer_fd = -1;
	l.terminal = isatty(STDERR_FILENO);
	status = run(&o->run, &callbacks, &l);
	browser_close(&l.browser);
	peering_close(&l.peering);
	grouped_records_close(&l.grouped_records);
	limits_free(&l.limits);
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
