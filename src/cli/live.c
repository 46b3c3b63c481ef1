// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer/live_merge.h"
#include "trace/announce.h"
#include "view/peers.h"
#include "cli/run.h"
#include "cli/verbs.h"
#include "view/view.h"

struct live {
	const struct options *o;
	struct view_options view;
	struct live_merge *peers; /* NULL without */
	struct announced announced;
	uint64_t shown;
};

static int show_interval(void *context, const struct stats *s)
{
	struct live *l = context;
	int err = view_interval(s, &l->view);

	if (!err && l->peers)
		err = live_merge_interval(l->peers);
	return err ? err : l->o->count && ++l->shown >= l->o->count;
}

static int show_summary(void *context, const struct stats *s)
{
	struct live *l = context;
	int err = l->peers ? live_merge_finish(l->peers) : 0;

	return err ? err : view_summary(s, &l->view);
}

static int take_record(void *context, const struct tracer *t, const struct nt_record *r)
{
	struct live *l = context;
	struct queue_info q;
	int ret = announce(&l->announced, t, r, &q);

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
	return l->view.redraw ? view_interval(s, &l->view) : 0;
}

/* The view says it by itself, in every block. */
static void waiting(void *context)
{
	(void)context;
}

int verb_live(const struct options *o)
{
	const struct run_callbacks callbacks = {
		.select = o->nr_peers ? NT_SELECT_ALL : NT_SELECT_NONE,
		.record = take_record,
		.fd = o->nr_peers ? peers_fd_of : NULL,
		.ready = take_peers,
		.interval = show_interval,
		.resize = resize,
		.waiting = waiting,
		.end = show_summary,
	};
	struct live live = {.o = o};
	int status;

	view_setup(&live.view, stdout);
	live.view.histogram = o->histogram;
	if (o->nr_peers) {
		live.peers = live_merge_new(o->peers, o->nr_peers);
		if (!live.peers) {
			fprintf(stderr, "ntprof-bpf: cannot start the peers: %s\n",
				strerror(errno));
			return EXIT_FAILURE;
		}
		live.view.extra = view_peers;
		live.view.context = live.peers;
	}
	status = run(o, &callbacks, &live);
	live_merge_free(live.peers);
	announced_free(&live.announced);
	return status;
}
