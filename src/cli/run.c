// SPDX-License-Identifier: GPL-2.0-only
#include "cli/run.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <sysexits.h>
#include <unistd.h>

#include "cli/confine.h"
#include "core/names.h"
#include "core/output.h"
#include "core/rights.h"
#include "core/time.h"
#include "core/timer.h"
#include "core/transport.h"
#include "trace/kernel.h"

void stream_describe(struct stream_header *h, const struct run_options *o, enum nt_source source)
{
	struct utsname u;
	FILE *f;

	*h = (struct stream_header){.side = o->side, .sample = o->sample};
	snprintf(h->source, sizeof(h->source), "%s", source_name(source));
	snprintf(h->selection, sizeof(h->selection), "%s", o->only.said);
	snprintf(h->program, sizeof(h->program), "ntprof-bpf " NTPROF_VERSION);
	if (!uname(&u)) {
		snprintf(h->hostname, sizeof(h->hostname), "%s", u.nodename);
		snprintf(h->kernel, sizeof(h->kernel), "%s", u.release);
	}
	f = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (f) {
		if (fgets(h->boot_id, sizeof(h->boot_id), f))
			h->boot_id[strcspn(h->boot_id, "\n")] = '\0';
		fclose(f);
	}
}

/* Fills what is known of @s before tracing begins; the rest stays as it is. */
static void stats_describe(struct stats *s, const struct run_options *o)
{
	struct utsname u;

	s->side = o->side;
	s->driver = "";
	s->transports = o->transports;
	s->source = source_name(o->source);
	s->sample = o->sample;
	s->ends = o->ends;
	s->stages_burst = o->stages;
	s->selected = nt_selects_by(&o->only.by);
	s->burst = o->burst;
	/* A target's controllers are known by their subsystem. */
	s->by_other = o->by_other || o->side == NT_TARGET;
	if (o->disks_hourly)
		disk_rows_hourly(&s->disks);
	if (!uname(&u))
		snprintf(s->kernel, sizeof(s->kernel), "%s", u.release);
}

#define CONSOLE_BUFFER (1u << 20)
/* How long a message waits for room, as --verbose prints much at once. */
#define ROOM_PATIENCE_NS 100000000ULL
/* How long the last messages wait for a terminal if the end is in a hurry. */
#define CONSOLE_PATIENCE_NS 100000000ULL

/*
 * File-wide, as a process has one standard error.
 * @lost: bytes that found no room since the last message about lost bytes
 * @held: messages are not written yet; @kept: they are @nr_kept bytes
 * @waited_at: bytes written when a message last waited for room; until more is written, no other
 *             message waits
 */
static struct {
	struct output *output;
	FILE *before;
	uint64_t lost;
	bool held;
	char *kept;
	size_t nr_kept;
	uint64_t waited_at;
} console;

/* The message about lost bytes stands where they are missing. */
static int tell_lost(struct output *o)
{
	char text[80];
	int n, err;

	if (!console.lost)
		return 0;
	n = snprintf(text, sizeof(text),
		     "\n(messages of %" PRIu64 " bytes were lost: standard error was not read)\n",
		     console.lost);
	err = output_put(o, text, (size_t)n, 0);
	if (!err)
		console.lost = 0;
	return err;
}

static int put(struct output *o, const char *text, size_t n)
{
	return tell_lost(o) ?: output_put(o, text, n, 0);
}

static void write_message(const char *text, size_t n)
{
	struct output *o = console.output;
	int err = put(o, text, n);

	if (err == -EAGAIN && console.waited_at != output_written(o)) {
		output_settle(o, -1, ROOM_PATIENCE_NS);
		console.waited_at = output_written(o);
		err = put(o, text, n);
	}
	if (err)
		console.lost += n;
	output_flush(o);
}

static void keep_message(const char *text, size_t n)
{
	char *grown = console.nr_kept + n <= CONSOLE_BUFFER
			      ? realloc(console.kept, console.nr_kept + n)
			      : NULL;

	if (!grown) {
		console.lost += n;
		return;
	}
	memcpy(grown + console.nr_kept, text, n);
	console.kept = grown;
	console.nr_kept += n;
}

/* Return success also for lost bytes, because a stream with an error flag takes no more. */
static ssize_t console_write(void *cookie, const char *text, size_t n)
{
	if (console.held)
		keep_message(text, n);
	else
		write_message(text, n);
	return (ssize_t)n;
}

int console_open(void)
{
	const cookie_io_functions_t functions = {.write = console_write};
	struct output *o = output_new(STDERR_FILENO, CONSOLE_BUFFER);
	FILE *f;

	if (!o)
		return -errno;
	f = fopencookie(NULL, "w", functions);
	if (!f) {
		output_free(o);
		return -ENOMEM;
	}
	/*
	 * Write whole lines: a line is put together from parts, and other processes write to the
	 * terminal, too.
	 */
	setvbuf(f, NULL, _IOLBF, BUFSIZ);
	console.output = o;
	console.lost = 0;
	console.waited_at = UINT64_MAX;
	console.before = stderr;
	stderr = f;
	return 0;
}

void console_hold(bool hold)
{
	console.held = hold;
	if (hold || !console.nr_kept)
		return;
	write_message(console.kept, console.nr_kept);
	free(console.kept);
	console.kept = NULL;
	console.nr_kept = 0;
}

bool console_idle(void)
{
	return !console.output || output_idle(console.output);
}

void console_close(int hurry_fd)
{
	FILE *f = stderr;
	int err;

	if (!console.output)
		return;
	stderr = console.before;
	fclose(f);
	console_hold(false);
	err = output_settle(console.output, hurry_fd, CONSOLE_PATIENCE_NS);
	if (!err && console.lost && !tell_lost(console.output))
		output_settle(console.output, hurry_fd, CONSOLE_PATIENCE_NS);
	output_free(console.output);
	console.output = NULL;
}

/* How often to check whether the module has been loaded. */
#define MODULE_POLL_NS 50000000ULL
/* After a signal: time for the output to write what it has, and then for the end. */
#define END_PATIENCE_NS 250000000ULL

/* The run closes the descriptors of sources before OWN_SOURCES; @t and @cb own the others. */
enum source {
	SIGNAL,
	INTERVAL,
	END,
	MODULE,
	DRAIN,
	ADAPT,
	BURST,
	OWN_SOURCES,
	CLOCK = OWN_SOURCES,
	CALLS,
	RECORDS,
	VERB,
	OUTPUT,
	SOURCES_NR,
};

struct run {
	const struct run_options *o;
	const struct run_callbacks *cb;
	void *context;
	struct tracer *t;
	struct stats s;
	int epoll_fd;
	int fds[SOURCES_NR]; /* -1: there is none */
	uint64_t pace_ns;    /* between two intervals */
	uint64_t adapt_ns;   /* between two calls of tracer_adapt(); 0: it is not called */
	uint64_t keeps;	     /* see cli/confine.h */
	int record_result;
	bool starting; /* on_starting() has printed a line */
	bool in_burst; /* of all points */
	bool hurry;    /* a signal has come */
};

static void complain(const struct run *r, enum tracer_status status, const char *detail)
{
	char text[512];

	tracer_explain(status, r->o->side, detail, text, sizeof(text));
	fprintf(stderr, "ntprof-bpf: %s\n", text);
}

/* Takes over @fd for @source, even on failure. Return: 0 or a negative errno. */
static int watch(struct run *r, enum source source, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = source};

	r->fds[source] = fd;
	if (fd < 0)
		return -errno;
	return epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

/* Closes one of the run's own sources, if it is there. */
static void unwatch(struct run *r, enum source source)
{
	if (r->fds[source] < 0)
		return;
	epoll_ctl(r->epoll_fd, EPOLL_CTL_DEL, r->fds[source], NULL);
	close(r->fds[source]);
	r->fds[source] = -1;
}

static void on_record(void *context, const struct nt_record *rec)
{
	struct run *r = context;

	if (!r->record_result)
		r->record_result = r->cb->record(r->context, r->t, rec);
}

static void on_path_event(void *context, const struct nt_path_event *e)
{
	struct run *r = context;

	if (!r->record_result)
		r->record_result = path_events_add(&r->s.path_events, e);
	if (!r->record_result && r->cb->path_event)
		r->record_result = r->cb->path_event(r->context, e);
}

/* Return: 0 or a negative errno. */
static int watch_records(struct run *r)
{
	if (tracer_fd(r->t) < 0)
		return 0;
	return watch(r, DRAIN, timer_new(TRACER_DRAIN_NS, true))
		       ?: watch(r, RECORDS, tracer_fd(r->t));
}

/* When there are bursts: of all that is traced, or of all points. */
static const struct burst *schedule(const struct run *r)
{
	return burst_any(&r->o->stages) ? &r->o->stages : &r->o->burst;
}

/*
 * Arms the timer for the start or the end of the next burst. Where attaching has taken longer than
 * the burst, this one goes on for its length, and not until the next one ends.
 */
static void burst_arm(const struct run *r)
{
	const struct burst *b = schedule(r);
	int64_t now;

	/* The timer does not tell that the clock was set back before it was armed. */
	do {
		int64_t next;

		now = realtime_ns();
		next = burst_next_ns(b, now);
		if (r->in_burst && !burst_left_ns(b, now) && next > now + (int64_t)b->on_ns)
			next = now + (int64_t)b->on_ns;
		timer_arm_wall(r->fds[BURST], next);
	} while (realtime_ns() < now);
}

/* Between two bursts there is nothing to poll in the kernel, and polling would cost CPU time. */
static void poll_kernel(struct run *r, bool on)
{
	if (r->fds[DRAIN] >= 0)
		timer_arm(r->fds[DRAIN], on ? TRACER_DRAIN_NS : 0, true);
	timer_pace(r->fds[ADAPT], &r->adapt_ns, on ? TRACER_ADAPT_NS : 0);
}

/* Return: 0, 1 or a negative errno, as callbacks do. */
static int burst_begin(struct run *r)
{
	enum tracer_status status;
	char detail[256];

	status = tracer_resume(r->t, detail, sizeof(detail));
	if (status) {
		complain(r, status, detail);
		return -ECANCELED;
	}
	r->in_burst = true;
	if (burst_any(&r->o->stages))
		return 0;
	poll_kernel(r, true);
	/* Only in the first burst: later, a busy machine may take long to attach programs. */
	if (!r->s.bursts && !burst_left_ns(&r->o->burst, realtime_ns())) {
		fprintf(stderr, "ntprof-bpf: --burst is too short: it was over before all programs "
				"were attached (-v tells how long that takes)\n");
		return -ECANCELED;
	}
	return 0;
}

/* Reads all that the burst has left in the kernel. Return: 0 or a negative errno */
static int burst_end(struct run *r)
{
	int ret;

	tracer_pause(r->t);
	r->in_burst = false;
	if (burst_any(&r->o->stages))
		return 0;
	poll_kernel(r, false);
	do
		ret = tracer_drain(r->t);
	while (ret > 0);
	return ret;
}

static bool bursts_are_intervals(const struct run *r)
{
	return burst_any(&r->o->burst) && !r->cb->interval_is_time;
}

static void leave_intervals_to_bursts(struct run *r)
{
	if (bursts_are_intervals(r))
		timer_arm(r->fds[INTERVAL], 0, false);
}

/* The first burst begins at the next multiple of the period. Return: 0 or 1 */
static int start_bursts(struct run *r)
{
	if (watch(r, BURST, timer_new_wall())) {
		fprintf(stderr, "ntprof-bpf: cannot wait for bursts: %s\n", strerror(errno));
		return 1;
	}
	if (burst_any(&r->o->burst))
		poll_kernel(r, false);
	burst_arm(r);
	return 0;
}

static void on_starting(void *context, unsigned int programs)
{
	struct run *r = context;

	if (!r->cb->shows_start)
		return;
	fprintf(stderr, "\rattaching up to %u probes...", programs);
	fflush(stderr);
	r->starting = true;
}

/* Takes back what on_starting() has printed: a message, or the screen, stands there next. */
static void started(struct run *r)
{
	if (!r->starting)
		return;
	r->starting = false;
	fputs("\r\033[K", stderr);
	fflush(stderr);
}

/* A recording's interval is shorter; see &tracer_options.tcp_every_ns. */
#define TCP_EVERY_NS 950000000ULL

const char *transports_lack(const struct run_options *o, unsigned int transports)
{
	if (transports & NT_OF_TCP)
		return NULL;
	if (o->fine)
		return "--points fine is for NVMe/TCP: others have no PDUs, and no worker for each queue";
	if (o->tcp)
		return "--tcp is for NVMe/TCP: others have no TCP connections";
	if (o->source < NT_SOURCES)
		return "--source is for NVMe/TCP: others have one source, the tracepoints of nvme_core";
	return NULL;
}

/*
 * The transports to trace. Where none was asked for, that is TCP, whether or not its driver is
 * loaded yet; but of a machine that has only controllers of other transports, these, unless
 * &run_options.awaits_tcp.
 */
static unsigned int transports_now(const struct run_options *o)
{
	if (o->transports || o->side == NT_TARGET)
		return o->transports ?: NT_OF_TCP;
	return transports_default("/sys", o->awaits_tcp || kernel_has_module(driver_name(NT_HOST)));
}

/* Return: 0 if tracing, or still waiting for the module; else 1 with a message printed. */
static int try_open(struct run *r)
{
	struct tracer_options to = {
		.side = r->o->side,
		.source = r->o->source,
		.transports = transports_now(r->o),
		.select = r->cb->select,
		.only = r->o->only,
		.overdue_ns = r->o->overdue_ns,
		.sample = r->o->sample,
		.no_histograms = r->cb->no_histograms,
		.events = r->cb->events,
		.tells_lost = r->cb->tells_lost,
		.origins = r->cb->origins,
		.origins_pass = r->cb->origins_pass,
		.ends = r->o->ends,
		.fine = r->o->fine,
		.disks = r->o->disks,
		.tcp = r->o->tcp,
		.tcp_every_ns = r->cb->no_histograms ? TCP_EVERY_NS : 0,
		.stages = burst_any(&r->o->stages),
		.bursts = burst_any(&r->o->burst),
		.on_record = on_record,
		.on_path_event = r->cb->with_path_events ? on_path_event : NULL,
		.starting = on_starting,
		.context = r,
		.verbose = r->o->verbose,
	};
	const char *lack = transports_lack(r->o, to.transports);
	enum tracer_status status;
	char detail[256];
	int err;

	if (lack) {
		fprintf(stderr, "ntprof-bpf: %s\n", lack);
		return 1;
	}
	r->s.transports = to.transports;
	status = tracer_open(&r->t, &to, detail, sizeof(detail));
	started(r);
	if (status == TRACER_NO_MODULE) {
		if (r->fds[MODULE] >= 0)
			return 0;
		r->cb->waiting(r->context);
		return watch(r, MODULE, timer_new(MODULE_POLL_NS, true)) ? 1 : 0;
	}
	if (status) {
		complain(r, status, detail);
		return 1;
	}
	unwatch(r, MODULE);
	/* Loading took time, but intervals and the duration begin with tracing. */
	timer_arm(r->fds[INTERVAL], r->pace_ns, true);
	leave_intervals_to_bursts(r);
	if (r->o->duration_ns)
		timer_arm(r->fds[END], r->o->duration_ns, false);
	r->adapt_ns = TRACER_ADAPT_NS;
	err = watch(r, ADAPT, timer_new(r->adapt_ns, true))	 ?:
	      watch(r, CLOCK, tracer_clock_fd(r->t))		 ?:
	      watch(r, CALLS, tracer_calls_fd(r->t))		 ?:
	      watch_records(r);
	if (err) {
		fprintf(stderr, "ntprof-bpf: cannot wait for events: %s\n", strerror(-err));
		return 1;
	}
	confine(r->keeps, r->cb->ends_processes, r->o->verbose);
	if (r->cb->begin && r->cb->begin(r->context, r->t))
		return 1;
	return burst_any(schedule(r)) ? start_bursts(r) : 0;
}

/* @so_far: a callback of the verb, or NULL */
static void count_own(struct run *r, unsigned int counter, uint64_t (*so_far)(void *context))
{
	uint64_t *total = &r->s.counters_total[counter];
	uint64_t now = so_far ? so_far(r->context) : 0;

	r->s.counters_interval[counter] = now - *total;
	*total = now;
}

static int collect(struct run *r)
{
	int err = 0;

	stats_begin_interval(&r->s);
	if (r->t) {
		tracer_clock_update(r->t);
		err = tracer_collect(r->t, &r->s);
		path_events_interval(&r->s.path_events);
	}
	/* After tracer_collect(), which adds the interval's counters to the totals. */
	count_own(r, COUNTER_READER_SLOW, r->cb->left_out);
	count_own(r, COUNTER_NAMES_GONE, r->cb->names_gone);
	if (err)
		fprintf(stderr, "ntprof-bpf: cannot read what was counted: %s\n", strerror(-err));
	return err;
}

/* Return: 0, 1 or a negative errno, as callbacks do. */
static int show_interval(struct run *r)
{
	int ret = collect(r);

	if (ret)
		return ret;
	return r->cb->interval ? r->cb->interval(r->context, &r->s) : 0;
}

static int on_interval(struct run *r)
{
	if (!timer_fired(r->fds[INTERVAL]) || (r->cb->skip && r->cb->skip(r->context)))
		return 0;
	return show_interval(r);
}

/* The timer of bursts fired, or the wall clock was set. */
static int on_burst(struct run *r)
{
	bool on = burst_left_ns(schedule(r), realtime_ns()) != 0;
	bool fired = timer_fired(r->fds[BURST]) != 0;
	int ret = 0;

	/* A burst whose begin was missed is left out: detaching was slow, or the clock was set. */
	if (on && fired && !r->in_burst && tracer_has_worked(r->t))
		ret = burst_begin(r);
	else if (!on && r->in_burst && burst_any(&r->o->stages))
		ret = burst_end(r);
	else if (!on && r->in_burst)
		ret = burst_end(r) ?: r->record_result ?: show_interval(r);
	burst_arm(r);
	return ret;
}

static int on_signal(struct run *r)
{
	struct signalfd_siginfo si;
	int ret = 0;

	while (!ret && read(r->fds[SIGNAL], &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo != SIGWINCH)
			r->hurry = true;
		else if (r->cb->resize)
			ret = r->cb->resize(r->context, &r->s);
		if (r->hurry)
			ret = 1;
	}
	return ret;
}

/* The time is over, or the output has failed; hand_over() reports a failure. */
static int on_over(struct run *r)
{
	return 1;
}

static int on_module(struct run *r)
{
	timer_fired(r->fds[MODULE]);
	return try_open(r) ? -ECANCELED : 0;
}

static int on_records(struct run *r)
{
	int ret = tracer_drain(r->t);

	return ret < 0 ? ret : r->record_result;
}

static int on_drain(struct run *r)
{
	timer_fired(r->fds[DRAIN]);
	return on_records(r);
}

static int on_adapt(struct run *r)
{
	uint64_t next;

	timer_fired(r->fds[ADAPT]);
	next = tracer_adapt(r->t);
	if (r->adapt_ns)
		timer_pace(r->fds[ADAPT], &r->adapt_ns, next);
	return r->record_result;
}

static int on_clock(struct run *r)
{
	tracer_clock_update(r->t);
	return 0;
}

static int on_verb(struct run *r)
{
	return r->cb->ready(r->context);
}

/* Return: 0 to go on, 1 to end, -ECANCELED if a message was printed, or another negative errno. */
static int loop(struct run *r)
{
	static int (*const handlers[SOURCES_NR])(struct run *) = {
		[SIGNAL] = on_signal, [INTERVAL] = on_interval, [END] = on_over,
		[MODULE] = on_module, [DRAIN] = on_drain,	[ADAPT] = on_adapt,
		[CLOCK] = on_clock,   [CALLS] = on_adapt,	[RECORDS] = on_records,
		[VERB] = on_verb,     [OUTPUT] = on_over,	[BURST] = on_burst,
	};

	for (;;) {
		struct epoll_event e[SOURCES_NR];
		int n = epoll_wait(r->epoll_fd, e, SOURCES_NR, -1);

		if (n < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < n; i++) {
			int ret = handlers[e[i].data.u32](r);

			if (ret)
				return ret;
		}
		if (r->cb->round)
			r->cb->round(r->context);
		if (r->cb->pace && !bursts_are_intervals(r))
			timer_pace(r->fds[INTERVAL], &r->pace_ns, r->cb->pace(r->context));
	}
}

/* Nothing is counted after this: the kernel now has the figures of the whole run. */
static int finish(struct run *r)
{
	uint64_t in_flight = 0;
	int err;

	if (r->t && r->in_burst && burst_any(&r->o->stages))
		burst_end(r);
	if (r->t && burst_any(&r->o->burst)) {
		burst_end(r);
	} else if (r->t) {
		tracer_detach(r->t);
		/* A command that ends in between is drained, and not counted as in flight. */
		do
			in_flight = tracer_in_flight(r->t);
		while (tracer_drain(r->t) > 0);
	}
	err = collect(r);
	if (err)
		return err;
	if (r->t)
		r->s.counters_total[COUNTER_IN_FLIGHT] = in_flight;
	return r->cb->end(r->context, &r->s);
}

/* Waits until all is written, but not for long after a signal. Return: as output_settle(). */
static int settle(const struct run *r)
{
	if (!r->cb->output)
		return 0;
	return output_settle(r->cb->output, r->hurry ? -1 : r->fds[SIGNAL], END_PATIENCE_NS);
}

/* Tracing is over. @ret: how the run ended; Return: how it ends with its output. */
static int hand_over(struct run *r, int ret)
{
	sigset_t set;
	int err, again, over;

	/* Keep the descriptor, but without SIGWINCH. */
	signals_that_end(&set);
	if (r->fds[SIGNAL] >= 0)
		signalfd(r->fds[SIGNAL], &set, 0);
	err = settle(r);
	if (err && err != -EPIPE && r->cb->cut) {
		r->cb->cut(r->context);
		r->hurry = true;
		again = settle(r);
		if (again == -EPIPE)
			err = again;
	}
	over = r->cb->over ? r->cb->over(r->context) : 0;
	if (err == -EPIPE)
		fprintf(stderr, "ended: the reader is gone\n");
	if (!err || err == -EPIPE || err == -ETIMEDOUT)
		return ret < 0 ? ret : over;
	fprintf(stderr, "ntprof-bpf: cannot write to %s: %s\n", r->cb->output_name, strerror(-err));
	return err;
}

/* Return: 0 or a negative errno. */
static int watch_from_the_start(struct run *r)
{
	int err;

	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll_fd < 0)
		return -errno;
	err = watch(r, SIGNAL, signals_open()) ?: watch(r, INTERVAL, timer_new(r->pace_ns, true));
	if (!err && r->o->duration_ns)
		err = watch(r, END, timer_new(r->o->duration_ns, false));
	if (!err && r->cb->fd)
		err = watch(r, VERB, r->cb->fd(r->context));
	if (!err && r->cb->output)
		err = watch(r, OUTPUT, output_event_fd(r->cb->output));
	return err;
}

bool run_check(const struct run_options *o)
{
	const struct run r = {.o = o};
	enum tracer_status status;
	char detail[256];

	status = tracer_check(detail, sizeof(detail));
	if (status)
		complain(&r, status, detail);
	return !status;
}

int run(const struct run_options *o, const struct run_callbacks *callbacks, void *context)
{
	struct run r = {.o = o, .cb = callbacks, .context = context, .epoll_fd = -1};
	int ret;

	if (burst_any(&o->stages) && callbacks->select != NT_SELECT_NONE) {
		fprintf(stderr,
			"ntprof-bpf: --stages: records of commands have all points or none: "
			"with --peer, --keep and groups by what only records have, take "
			"--points\n");
		return EX_USAGE;
	}
	if (!run_check(o))
		return EXIT_FAILURE;
	r.pace_ns = o->interval_ns;
	/* To read a cgroup's name, it is opened by its id, which needs this capability. */
	r.keeps =
		callbacks->keeps |
		(callbacks->origins & NT_ORIGIN_PLACE || o->disks ? RIGHT(CAP_DAC_READ_SEARCH) : 0);
	stats_describe(&r.s, o);
	for (int i = 0; i < SOURCES_NR; i++)
		r.fds[i] = -1;
	/* The console has a thread; see confine_begin(). */
	ret = watch_from_the_start(&r) ?: console_open();
	if (ret) {
		if (ret != -ECANCELED)
			fprintf(stderr, "ntprof-bpf: cannot wait for events: %s\n", strerror(-ret));
		goto out;
	}
	/*
	 * Scrapers and peers are read from here on, also while the module is waited for. The kernel
	 * shows the addresses of its functions to those with CAP_SYSLOG: see trace/load.c.
	 */
	confine_loading(r.keeps,
			(o->fine || o->disks) && o->side == NT_TARGET ? RIGHT(CAP_SYSLOG) : 0,
			callbacks->ends_processes);
	ret = try_open(&r) ? -ECANCELED : 0;
	if (!ret)
		ret = loop(&r);
	if (ret >= 0)
		ret = finish(&r);
	else if (ret != -ECANCELED)
		fprintf(stderr, "ntprof-bpf: %s\n", strerror(-ret));
out:
	if (ret < 0 && callbacks->failed)
		callbacks->failed(context);
	tracer_close(r.t);
	stats_free(&r.s);
	ret = hand_over(&r, ret);
	console_close(r.hurry ? -1 : r.fds[SIGNAL]);
	for (int i = 0; i < OWN_SOURCES; i++)
		unwatch(&r, i);
	if (r.epoll_fd >= 0)
		close(r.epoll_fd);
	return ret < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
