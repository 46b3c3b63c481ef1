// SPDX-License-Identifier: GPL-2.0-only
#include "run.h"
#include "verbs.h"
#include "view.h"

static int show_interval(void *context, const struct stats *s)
{
	return view_interval(s, context);
}

static int show_summary(void *context, const struct stats *s)
{
	return view_summary(s, context);
}

static int resize(void *context, const struct stats *s)
{
	struct view_options *view = context;

	view_resize(view);
	return view->redraw ? view_interval(s, view) : 0;
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
	struct view_options view;

	view_setup(&view, stdout);
	view.histogram = o->histogram;
	return run(o, &callbacks, &view);
}
