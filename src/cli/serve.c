// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cli/http.h"
#include "cli/notify.h"
#include "cli/options.h"
#include "cli/run.h"
#include "cli/timer.h"
#include "cli/verbs.h"
#include "core/names.h"
#include "core/time.h"

/* Where nobody says otherwise: this machine only, and apart for its two sides. */
#define LISTEN_HOST "127.0.0.1:10998"
#define LISTEN_TARGET "127.0.0.1:10999"

/* The shortest interval, in nanoseconds and in words. */
#define INTERVAL_MIN_NS 100000000ULL
#define INTERVAL_MIN "100ms"

/**
 * struct serve_options - what the verb serve was asked
 * @run: side, selection and what else every run has
 * @listen: where; NULL: as usual
 * @by_queue: series are apart by queue
 */
struct serve_options {
	struct run_options run;
	const char *listen;
	bool by_queue;
};

struct serve {
	const struct serve_options *o;
	struct http *http;
	struct page *page;
	const struct tracer *t; /* NULL while the module is waited for */
	const struct stats *s;	/* NULL before the first collection */
	uint64_t started_ms;
	uint64_t began_ms;
	int epoll_fd; /* of the scrapers and of the watchdog */
	int watchdog_fd;
};

static uint64_t now_ms(void)
{
	return (uint64_t)(realtime_ns() / 1000000);
}

static int render(void *context, enum exposition_format format, char **text, size_t *size)
{
	struct serve *v = context;
	struct process_cost process;
	struct cost cost = {0};
	const struct page_source from = {
		.s = v->s,
		.cost = &cost,
		.process = &process,
		.scrapes = http_scrapes(v->http),
		.tracing = v->t && tracer_measures(v->t),
		.began_ms = v->began_ms,
		.started_ms = v->started_ms,
	};

	process_cost(&process);
	if (v->t)
		tracer_cost(v->t, &cost);
	return page_render(v->page, &from, format, text, size);
}

/* Return: 0, or -1 with errno set. */
static int watch(const struct serve *v, int fd)
{
	struct epoll_event e = {.events = EPOLLIN};

	return epoll_ctl(v->epoll_fd, EPOLL_CTL_ADD, fd, &e);
}

/* Return: a descriptor, or -1 with errno set. */
static int open_own(void *context)
{
	struct serve *v = context;
	const char *listen = v->o->listen;
	char why[128];

	if (!listen)
		listen = v->o->run.side == NT_HOST ? LISTEN_HOST : LISTEN_TARGET;
	v->http = http_open(listen, render, v, why, sizeof(why));
	if (!v->http) {
		fprintf(stderr, "ntprof-bpf: cannot listen at %s: %s\n", listen, why);
		errno = ECANCELED;
		return -1;
	}
	v->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	v->watchdog_fd = timer_new(notify_watchdog_ns(), true);
	if (v->epoll_fd < 0 || v->watchdog_fd < 0 || watch(v, http_fd(v->http)) ||
	    watch(v, v->watchdog_fd))
		return -1;
	return v->epoll_fd;
}

/* Who tells the watchdog is the loop that drains and collects: where that hangs, nobody does. */
static int take_own(void *context)
{
	const struct serve *v = context;

	if (timer_fired(v->watchdog_fd))
		notify(NOTIFY_ALIVE);
	return http_ready(v->http);
}

static int begin(void *context, const struct tracer *t)
{
	struct serve *v = context;

	v->t = t;
	v->began_ms = now_ms();
	http_stale(v->http);
	fprintf(stderr, "serving %s\n", http_address(v->http));
	notify(NOTIFY_READY NOTIFY_STATUS "Tracing\n");
	return 0;
}

static int collected(void *context, const struct stats *s)
{
	struct serve *v = context;

	v->s = s;
	http_stale(v->http);
	return 0;
}

/* Others that are started behind this one need not wait for a module that may never come. */
static void waiting(void *context)
{
	const struct serve *v = context;

	fprintf(stderr, WAITING_FOR_MODULE "%s; serving %s meanwhile\n",
		driver_name(v->o->run.side), http_address(v->http));
	notify(NOTIFY_READY NOTIFY_STATUS "Waiting for the driver's module\n");
}

static int end(void *context, const struct stats *s)
{
	(void)context;
	(void)s;
	notify(NOTIFY_STOPPING);
	return 0;
}

static int serve(const struct serve_options *o)
{
	const struct run_callbacks callbacks = {
		.select = NT_SELECT_NONE,
		.fd = open_own,
		.ready = take_own,
		.begin = begin,
		.interval = collected,
		.interval_is_time = true,
		.waiting = waiting,
		.end = end,
	};
	struct serve v = {.o = o, .started_ms = now_ms(), .epoll_fd = -1, .watchdog_fd = -1};
	int status = EXIT_FAILURE;

	v.began_ms = v.started_ms;
	v.page = page_new(o->run.side, o->by_queue);
	if (v.page)
		status = run(&o->run, &callbacks, &v);
	else
		fprintf(stderr, "ntprof-bpf: %s\n", strerror(errno));
	http_close(v.http);
	if (v.watchdog_fd >= 0)
		close(v.watchdog_fd);
	if (v.epoll_fd >= 0)
		close(v.epoll_fd);
	page_free(v.page);
	return status;
}

enum { KEY_LISTEN = 0x100, KEY_BY };

enum { CHILD_RUN, CHILD_SELECT };

static error_t parse_serve(int key, char *arg, struct argp_state *state)
{
	struct serve_options *o = state->input;
	const char *wrong;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_RUN] = &o->run;
		state->child_inputs[CHILD_SELECT] = &o->run.only;
		break;
	case 'i':
		o->run.interval_ns =
			options_time(state, "--interval", arg, INTERVAL_MIN_NS, INTERVAL_MIN);
		break;
	case KEY_LISTEN:
		wrong = http_check(arg);
		if (wrong)
			options_error(state, "--listen %s: %s", arg, wrong);
		o->listen = arg;
		break;
	case KEY_BY:
		if (strcmp(arg, "queue"))
			options_error(state, "--by %s: not queue", arg);
		o->by_queue = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option serve_options[] = {
	{"interval", 'i', "TIME", 0,
	 "Collect every TIME (default 1s): what is served is as old as that at most", SECTION_RUN},
	{"listen", KEY_LISTEN, "ADDRESS", 0,
	 "Serve at ADDRESS, which is numbers and a port (127.0.0.1:10998, [::1]:0), or unix:PATH "
	 "(default: " LISTEN_HOST " with --host, " LISTEN_TARGET " with --target)",
	 SECTION_RUN},
	{"by", KEY_BY, "LABEL", 0, "Label series with this as well: queue", SECTION_RUN},
	{0},
};

static const struct argp_child serve_children[] = {
	[CHILD_RUN] = {.argp = &run_argp},
	[CHILD_SELECT] = {.argp = &select_argp},
	{0},
};

static const struct argp serve_argp = {
	.options = serve_options,
	.parser = parse_serve,
	.children = serve_children,
	.doc = "Serve latencies, stages, errors and losses to Prometheus and others who read "
	       "OpenMetrics, at /metrics, until a signal comes.\n"
	       "\v"
	       "Examples:\n"
	       "  ntprof-bpf serve --host           at http://127.0.0.1:10998/metrics\n"
	       "  ntprof-bpf serve --target --listen unix:/run/ntprof-bpf.sock\n"
	       "                                    through a Unix socket\n"
	       "  ntprof-bpf serve --host --by queue --sample 100\n"
	       "                                    series by queue, one command in 100 is\n"
	       "                                    measured, all are counted",
};

static int main_serve(int argc, char **argv)
{
	struct serve_options o = {.run = RUN_OPTIONS_DEFAULT};

	/* A target's controllers are called by ids that several subsystems may have. */
	o.run.by_other = true;
	options_parse(&serve_argp, argc, argv, &o);
	return serve(&o);
}

const struct verb verb_serve = {
	.name = "serve",
	.summary = "latencies, stages and losses for Prometheus, by HTTP",
	.argp = &serve_argp,
	.main = main_serve,
};
