// SPDX-License-Identifier: GPL-2.0-only
#include "cli/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/names.h"

/* How soon a module that has just been loaded is noticed. */
#define MODULE_POLL_NS 50000000ULL

struct run {
	const struct options *o;
	const struct run_callbacks *cb;
	void *context;
	struct tracer *t;
	struct stats s;
	int epoll_fd;
	int signal_fd;
	int interval_fd;
	int module_fd;
	int end_fd;
	int drain_fd;
	int adapt_fd;
	int record_result;
};

static void complain(const struct run *r, enum tracer_status status, const char *detail)
{
	char text[512];

	tracer_explain(status, r->o->side, detail, text, sizeof(text));
	fprintf(stderr, "ntprof-bpf: %s\n", text);
}

static int watch(struct run *r, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	if (fd < 0)
		return -errno;
	return epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

/* Makes a timer fire @ns from now, and then again and again if @periodic. */
static void timer_arm(int fd, uint64_t ns, bool periodic)
{
	struct timespec t = {.tv_sec = (time_t)(ns / 1000000000),
			     .tv_nsec = (long)(ns % 1000000000)};
	struct itimerspec it = {.it_value = t};

	if (periodic)
		it.it_interval = t;
	timerfd_settime(fd, 0, &it, NULL);
}

/* Return: the timer's fd, or -1. */
static int timer_new(uint64_t ns, bool periodic)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

	if (fd >= 0)
		timer_arm(fd, ns, periodic);
	return fd;
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGWINCH);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static void on_record(void *context, const struct nt_record *rec)
{
	struct run *r = context;

	if (!r->record_result)
		r->record_result = r->cb->record(r->context, r->t, rec);
}

/* Return: 0 or a negative errno. */
static int watch_records(struct run *r)
{
	if (tracer_fd(r->t) < 0)
		return 0;
	r->drain_fd = timer_new(TRACER_DRAIN_NS, true);
	return watch(r, r->drain_fd) ?: watch(r, tracer_fd(r->t));
}

/* Return: 0 when tracing or still waiting for the module, else 1 with a message printed. */
static int try_open(struct run *r)
{
	struct tracer_options to = {
		.side = r->o->side,
		.source = r->o->source,
		.select = r->cb->select,
		.slower_ns = r->o->slower_ns,
		.sample = r->o->sample,
		.no_histograms = r->cb->no_histograms,
		.on_record = on_record,
		.context = r,
		.verbose = r->o->verbose,
	};
	enum tracer_status status;
	char detail[256];

	status = tracer_open(&r->t, &to, detail, sizeof(detail));
	if (status == TRACER_NO_MODULE) {
		if (r->module_fd < 0) {
			r->module_fd = timer_new(MODULE_POLL_NS, true);
			r->cb->waiting(r->context);
			return watch(r, r->module_fd) ? 1 : 0;
		}
		return 0;
	}
	if (status) {
		complain(r, status, detail);
		return 1;
	}
	if (r->module_fd >= 0) {
		close(r->module_fd);
		r->module_fd = -1;
	}
	/* Loading took its time: intervals and the duration are those of tracing. */
	timer_arm(r->interval_fd, r->o->interval_ns, true);
	if (r->end_fd >= 0)
		timer_arm(r->end_fd, r->o->duration_ns, false);
	r->adapt_fd = timer_new(TRACER_ADAPT_NS, true);
	if (watch(r, r->adapt_fd) || watch(r, tracer_clock_fd(r->t)) || watch_records(r)) {
		fprintf(stderr, "ntprof-bpf: cannot wait for events: %s\n", strerror(errno));
		return 1;
	}
	return r->cb->begin && r->cb->begin(r->context, r->t) ? 1 : 0;
}

static int collect(struct run *r)
{
	int err;

	stats_begin_interval(&r->s);
	if (!r->t)
		return 0;
	tracer_clock_update(r->t);
	err = tracer_collect(r->t, &r->s);
	if (err)
		fprintf(stderr, "ntprof-bpf: cannot read what was counted: %s\n", strerror(-err));
	return err;
}

static uint64_t expirations(int fd)
{
	uint64_t n = 0;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

/* Return: 0 to go on, 1 to end, a negative errno on trouble that has been told. */
static int on_interval(struct run *r)
{
	int ret;

	if (!expirations(r->interval_fd))
		return 0;
	ret = collect(r);
	if (ret)
		return ret;
	return r->cb->interval ? r->cb->interval(r->context, &r->s) : 0;
}

static int on_signal(struct run *r)
{
	struct signalfd_siginfo si;
	int ret = 0;

	while (!ret && read(r->signal_fd, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo != SIGWINCH)
			ret = 1;
		else if (r->cb->resize)
			ret = r->cb->resize(r->context, &r->s);
	}
	return ret;
}

static int handle(struct run *r, int fd)
{
	if (fd == r->signal_fd)
		return on_signal(r);
	if (fd == r->interval_fd)
		return on_interval(r);
	if (fd == r->end_fd)
		return 1;
	if (fd == r->module_fd) {
		expirations(fd);
		return try_open(r) ? -ECANCELED : 0;
	}
	if (r->cb->fd && fd == r->cb->fd(r->context))
		return r->cb->ready(r->context);
	if (r->t && fd == r->adapt_fd) {
		expirations(fd);
		tracer_adapt(r->t);
		return 0;
	}
	if (r->t && fd == tracer_clock_fd(r->t)) {
		tracer_clock_update(r->t);
		return 0;
	}
	if (r->t && (fd == tracer_fd(r->t) || fd == r->drain_fd)) {
		int ret = tracer_drain(r->t);

		if (fd == r->drain_fd)
			expirations(fd);
		return ret < 0 ? ret : r->record_result;
	}
	return 0;
}

static int loop(struct run *r)
{
	for (;;) {
		struct epoll_event e[8];
		int n = epoll_wait(r->epoll_fd, e, 8, -1);

		if (n < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < n; i++) {
			int ret = handle(r, e[i].data.fd);

			if (ret)
				return ret;
		}
	}
}

/* Nothing is counted after this: what is in the kernel by now is the whole run. */
static int finish(struct run *r)
{
	int err;

	if (r->t) {
		tracer_detach(r->t);
		tracer_drain(r->t);
	}
	err = collect(r);
	if (err)
		return err;
	if (r->t)
		r->s.counters_total[COUNTER_IN_FLIGHT] = tracer_in_flight(r->t);
	return r->cb->end(r->context, &r->s);
}

int run(const struct options *o, const struct run_callbacks *callbacks, void *context)
{
	struct run r = {
		.o = o,
		.cb = callbacks,
		.context = context,
		.epoll_fd = -1,
		.signal_fd = -1,
		.interval_fd = -1,
		.module_fd = -1,
		.end_fd = -1,
		.drain_fd = -1,
		.adapt_fd = -1,
	};
	enum tracer_status status;
	struct utsname u;
	char detail[256];
	int ret;

	status = tracer_check(detail, sizeof(detail));
	if (status) {
		complain(&r, status, detail);
		return EXIT_FAILURE;
	}
	r.s.side = o->side;
	r.s.driver = "";
	r.s.source = source_name(o->source);
	r.s.sample = o->sample;
	if (!uname(&u))
		snprintf(r.s.kernel, sizeof(r.s.kernel), "%s", u.release);

	r.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	r.signal_fd = open_signals();
	r.interval_fd = timer_new(o->interval_ns, true);
	if (o->duration_ns)
		r.end_fd = timer_new(o->duration_ns, false);
	ret = watch(&r, r.signal_fd);
	if (!ret)
		ret = watch(&r, r.interval_fd);
	if (!ret && o->duration_ns)
		ret = watch(&r, r.end_fd);
	if (!ret && callbacks->fd)
		ret = watch(&r, callbacks->fd(context));
	if (ret) {
		fprintf(stderr, "ntprof-bpf: cannot wait for events: %s\n", strerror(-ret));
		goto out;
	}
	ret = try_open(&r) ? -ECANCELED : 0;
	if (!ret)
		ret = loop(&r);
	if (ret >= 0)
		ret = finish(&r);
	else if (ret != -ECANCELED)
		fprintf(stderr, "ntprof-bpf: %s\n", strerror(-ret));
out:
	tracer_close(r.t);
	stats_free(&r.s);
	if (r.module_fd >= 0)
		close(r.module_fd);
	if (r.end_fd >= 0)
		close(r.end_fd);
	if (r.drain_fd >= 0)
		close(r.drain_fd);
	if (r.adapt_fd >= 0)
		close(r.adapt_fd);
	if (r.interval_fd >= 0)
		close(r.interval_fd);
	if (r.signal_fd >= 0)
		close(r.signal_fd);
	if (r.epoll_fd >= 0)
		close(r.epoll_fd);
	return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
