// SPDX-License-Identifier: GPL-2.0-only
#include "run.h"
#include "verbs.h"
#include "view.h"

struct live {
	const struct options *o;
	struct view_options view;
	uint64_t shown;
};

static int show_interval(void *context, const struct stats *s)
{
	struct live *l = context;
	int err = view_interval(s, &l->view);

	return err ? err : l->o->count && ++l->shown >= l->o->count;
}

static int show_summary(void *context, const struct stats *s)
{
	struct live *l = context;

	return view_summary(s, &l->view);
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
	static const struct run_callbacks callbacks = {
		.select = NT_SELECT_NONE,
		.interval = show_interval,
		.resize = resize,
		.waiting = waiting,
		.end = show_summary,
	};
	struct live live = {.o = o};

	view_setup(&live.view, stdout);
	live.view.histogram = o->histogram;
	return run(o, &callbacks, &live);
}
