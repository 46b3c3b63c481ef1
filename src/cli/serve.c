// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/announced_names.h"
#include "cli/config.h"
#include "cli/confine.h"
#include "cli/notify.h"
#include "cli/interval_options.h"
#include "cli/options.h"
#include "cli/peering.h"
#include "cli/run.h"
#include "cli/slowest.h"
#include "cli/transport.h"
#include "cli/verbs.h"
#include "core/names.h"
#include "core/rights.h"
#include "core/text.h"
#include "core/time.h"
#include "core/timer.h"
#include "core/transport.h"
#include "serve/folder.h"
#include "serve/http.h"
#include "serve/recorder.h"
#include "serve/ring.h"
#include "serve/series.h"
#include "trace/announce.h"

/* The options of the flight recorder (serve/recorder.h), a child of the argp table of serve. */

/**
 * struct flight_options - the options
 * @recorder: see there; &recorder_options.folder is NULL if there is no recorder
 * @first: the first option that needs a recorder, for the error message if there is none
 */
struct flight_options {
	struct recorder_options recorder;
	const char *first;
};

#define FLIGHT_OPTIONS_DEFAULT                                \
	{                                                     \
		.recorder = {                                 \
			.after_ns = 5000000000ULL,            \
			.memory_bytes = 64ULL << 20,          \
			.files = 16,                          \
			.disk_bytes = 1ULL << 30,             \
			.keep_free = FOLDER_KEEP_FREE_DEFAULT \
		}                                             \
	}

/* One day, which a machine with little traffic may keep. --keep-bytes limits the memory. */
#define KEEP_MAX_NS (86400 * 1000000000ULL)
#define KEEP_MIN_NS 1000000000ULL
/*
 * In memory and on disk. With less than BYTES_MIN, a file would not hold one second of a busy
 * machine.
 */
#define KEEP_BYTES_MAX (64ULL << 30)
#define BYTES_MIN (1ULL << 20)
/* A larger value is taken for a mistake. */
#define KEEP_FREE_MAX (1ULL << 40)

/* Bytes. A block of the ring has more, a row of a connection less. */
#define LARGE_BLOCK (64 << 10)

enum {
	KEY_KEEP = 0x100,
	KEY_KEEP_BYTES,
	KEY_AFTER,
	KEY_WHEN,
	KEY_DIR,
	KEY_FILES,
	KEY_BYTES,
	KEY_KEEP_FREE
};

static uint64_t parse_bytes(const struct argp_state *state, const char *option, const char *text,
			    uint64_t least, uint64_t most, const char *range)
{
	uint64_t bytes;

	if (parse_size(text, &bytes) || bytes < least || bytes > most)
		options_error(state, "%s %s: not a size %s", option, text, range);
	return bytes;
}

/*
 * The folder that systemd made: systemd.exec(5), StateDirectory=. NULL if there is none, or more
 * than one.
 */
static const char *state_folder(void)
{
	const char *folders = getenv("STATE_DIRECTORY");

	return folders && *folders && !strchr(folders, ':') ? folders : NULL;
}

static void check_all(const struct argp_state *state, struct flight_options *o)
{
	if (!o->recorder.keep_ns) {
		if (o->first)
			options_error(state, "%s is for what --keep keeps", o->first);
		return;
	}
	if (!o->recorder.folder)
		o->recorder.folder = state_folder();
	if (!o->recorder.folder)
		options_error(state, "--keep needs a folder for its files: --dir DIR");
}

static error_t parse_flight(int key, char *arg, struct argp_state *state)
{
	static const char *const names[] = {"--keep", "--keep-bytes", "--after", "--when",
					    "--dir",  "--files",      "--bytes", "--keep-free"};
	struct flight_options *o = state->input;
	struct recorder_options *r = &o->recorder;
	const char *wrong;
	size_t at;

	if (key > KEY_KEEP && key <= KEY_KEEP_FREE && !o->first)
		o->first = names[key - KEY_KEEP];
	switch (key) {
	case KEY_KEEP:
		r->keep_ns = options_time(state, "--keep", arg, KEEP_MIN_NS, "1s");
		if (r->keep_ns > KEEP_MAX_NS)
			options_error(state, "--keep %s: too long, the most is 24h", arg);
		break;
	case KEY_KEEP_BYTES:
		r->memory_bytes = parse_bytes(state, "--keep-bytes", arg, RING_BYTES_MIN,
					      KEEP_BYTES_MAX, "from 4M to 64G");
		break;
	case KEY_AFTER:
		r->after_ns = options_time(state, "--after", arg, 0, "0");
		if (r->after_ns > KEEP_MAX_NS)
			options_error(state, "--after %s: too long, the most is 24h", arg);
		break;
	case KEY_WHEN:
		wrong = when_parse(&r->when, arg, &at);
		if (wrong)
			options_error(state, "--when %s: at character %zu: %s", arg, at, wrong);
		break;
	case KEY_DIR:
		r->folder = arg;
		break;
	case KEY_FILES:
		r->files = (unsigned int)options_count(state, "--files", arg, FOLDER_FILES_MAX);
		break;
	case KEY_BYTES:
		r->disk_bytes =
			parse_bytes(state, "--bytes", arg, BYTES_MIN, UINT64_MAX, "of 1M at least");
		break;
	case KEY_KEEP_FREE:
		r->keep_free =
			parse_bytes(state, "--keep-free", arg, 0, KEEP_FREE_MAX, "from 0 to 1024G");
		break;
	case ARGP_KEY_END:
		check_all(state, o);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option flight_options[] = {
	{"keep", KEY_KEEP, "TIME", OPTION_ACTS | OPTION_RELOADS,
	 "Keep the records of the last TIME, and write them to a file when --when is true, at SIGUSR1 and at the end",
	 SECTION_FLIGHT},
	{"keep-bytes", KEY_KEEP_BYTES, "SIZE", OPTION_ACTS | OPTION_RELOADS,
	 "Keep them in SIZE of memory at most (default 64M); the oldest are dropped and counted",
	 SECTION_FLIGHT},
	{"after", KEY_AFTER, "TIME", OPTION_ACTS | OPTION_RELOADS,
	 "Keep recording TIME after the trigger (default 5s)", SECTION_FLIGHT},
	{"when", KEY_WHEN, "WHEN", OPTION_ACTS | OPTION_RELOADS,
	 "Write a file when this becomes true: latency>5ms, p99(read)>2ms over 10s, errors>0, oldest>1s or state=connecting; several with "
	 "commas, or again",
	 SECTION_FLIGHT},
	{"dir", KEY_DIR, "DIR", OPTION_ACTS | OPTION_RELOADS,
	 "Write files into the folder DIR (default: what systemd says, $STATE_DIRECTORY)",
	 SECTION_FLIGHT},
	{"files", KEY_FILES, "N", OPTION_ACTS | OPTION_RELOADS,
	 "Have N files of this side at most (default 16): the oldest is removed for another one",
	 SECTION_FLIGHT},
	{"bytes", KEY_BYTES, "SIZE", OPTION_ACTS | OPTION_RELOADS,
	 "Have files of SIZE together at most (default 1G)", SECTION_FLIGHT},
	{"keep-free", KEY_KEEP_FREE, "SIZE", OPTION_ACTS | OPTION_RELOADS,
	 "Leave SIZE of the file system free for others (default: 15 % of it, no more than 4G): with less, a file takes the room "
	 "of older ones only",
	 SECTION_FLIGHT},
	{0},
};

static const struct argp flight_argp = {.options = flight_options, .parser = parse_flight};

/* The command line of serve. */

/* The defaults: this machine only, and a port for each side. */
#define LISTEN_HOST "127.0.0.1:10998"
#define LISTEN_TARGET "127.0.0.1:10999"

/**
 * struct serve_options - the options of the verb serve
 * @run: side, selection and the other options of each run
 * @flight: the flight recorder
 * @peers: the commands that bring the other side's streams
 * @listen: address; NULL: LISTEN_HOST or LISTEN_TARGET
 * @by_queue: each queue has its own series
 * @series: most rows with series of their own
 */
struct serve_options {
	struct run_options run;
	struct flight_options flight;
	struct peer_options peers;
	const char *listen;
	bool by_queue;
	unsigned int series;
};

/* The shortest interval, in nanoseconds and as users write it. */
#define INTERVAL_MIN_NS 100000000ULL
#define INTERVAL_MIN "100ms"

/*
 * Unless the command line says something else: all commands are counted by their ends, at a price
 * that is paid for months, and a part of them has stages.
 */
static const struct burst stages_default = {.on_ns = 1000000000ULL, .every_ns = 15000000000ULL};

enum { KEY_LISTEN = 0x100, KEY_BY, KEY_SERIES };

enum { CHILD_RUN, CHILD_STAGES, CHILD_SELECT, CHILD_FLIGHT, CHILD_PEER, CHILD_TRANSPORT };

/* Which options need records of commands, which have all points or two; NULL: none. */
static const char *needs_records(const struct serve_options *o)
{
	if (o->flight.recorder.keep_ns)
		return "--keep";
	return o->peers.nr ? "--peer" : NULL;
}

/* Called when the options of all tables are known. */
static void choose_points(struct serve_options *o)
{
	if (o->run.points || burst_any(&o->run.stages) || burst_any(&o->run.burst) ||
	    needs_records(o))
		return;
	o->run.ends = true;
	o->run.stages = stages_default;
}

static error_t parse_serve(int key, char *arg, struct argp_state *state)
{
	struct serve_options *o = state->input;
	const char *wrong;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_RUN] = &o->run;
		state->child_inputs[CHILD_TRANSPORT] = &o->run;
		state->child_inputs[CHILD_STAGES] = &o->run;
		state->child_inputs[CHILD_SELECT] = &o->run.only;
		state->child_inputs[CHILD_FLIGHT] = &o->flight;
		state->child_inputs[CHILD_PEER] = &o->peers;
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
		if (!strcmp(arg, "nsid") || !strcmp(arg, "device"))
			options_error(state,
				      "--by %s: histograms in the kernel are not by namespace; "
				      "--nsid and --device select one, and live and report have "
				      "--by %s",
				      arg, arg);
		if (strcmp(arg, "queue"))
			options_error(state, "--by %s: not queue", arg);
		o->by_queue = true;
		break;
	case KEY_SERIES:
		o->series = (unsigned int)options_count(state, "--series", arg, SERIES_MAX);
		break;
	case ARGP_KEY_END:
		transport_options_end(state, &o->run);
		interval_options_end(state, &o->run);
		if (o->flight.recorder.keep_ns && burst_any(&o->run.burst))
			options_error(
				state,
				"--keep and --burst: what makes a command slow is mostly between "
				"two bursts, where nothing is recorded");
		peer_options_end(state, &o->peers, o->run.side, o->run.fine);
		if (o->peers.nr && o->run.transports && !(o->run.transports & NT_OF_TCP))
			options_error(state, "--peer is for NVMe/TCP: a target's stream has no "
					     "commands of other transports");
		choose_points(o);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option serve_options[] = {
	{"interval", 'i', "TIME", OPTION_RELOADS,
	 "Collect every TIME (default 1s): what is served is as old as that at most", SECTION_TIME},
	{"listen", KEY_LISTEN, "ADDRESS", OPTION_ACTS,
	 "Serve at ADDRESS, which is numbers and a port (127.0.0.1:10998, [::1]:0), :PORT (at all IPv4 addresses of this "
	 "machine), or unix:PATH "
	 "(default: " LISTEN_HOST " with --host, " LISTEN_TARGET " with --target)",
	 SECTION_OUTPUT},
	{"by", KEY_BY, "LABEL", OPTION_REPEATS, "Label series with this as well: queue",
	 SECTION_OUTPUT},
	{"series", KEY_SERIES, "N", 0,
	 "Have series for N label sets at most (default 256): reads and writes come first, and what "
	 "is left is together",
	 SECTION_OUTPUT},
	{0},
};

static const struct argp_child serve_children[] = {
	[CHILD_RUN] = {.argp = &run_argp},
	[CHILD_STAGES] = {.argp = &interval_argp},
	[CHILD_SELECT] = {.argp = &select_argp},
	[CHILD_FLIGHT] = {.argp = &flight_argp},
	[CHILD_PEER] = {.argp = &peer_argp},
	[CHILD_TRANSPORT] = {.argp = &transport_argp},
	{0},
};

static const struct argp serve_argp = {
	.options = serve_options,
	.parser = parse_serve,
	.children = serve_children,
	.doc = "Serve latencies, stages, errors and losses to Prometheus and others who read "
	       "OpenMetrics, at /metrics, until a signal comes. Without --points, --stages, --burst, "
	       "--keep and --peer it is --points ends --stages 1s/15s: counts and latencies are of "
	       "all commands, stages of a fifteenth of the time.\n"
	       "\v"
	       "Examples:\n"
	       "  ntprof-bpf serve --host           at http://127.0.0.1:10998/metrics\n"
	       "  ntprof-bpf serve --target --listen unix:/run/ntprof-bpf.sock\n"
	       "                                    through a Unix socket\n"
	       "  ntprof-bpf serve --host --by queue --sample 100\n"
	       "                                    series by queue, one command in 100 is\n"
	       "                                    measured, all are counted\n"
	       "  ntprof-bpf serve --host --points all\n"
	       "                                    all commands have stages, for about\n"
	       "                                    twice the price\n"
	       "  ntprof-bpf serve --host --keep 30s --dir /var/lib/ntprof-bpf\n"
	       "                                    and the records of 30 seconds before and\n"
	       "                                    5 after SIGUSR1, or what --when says\n"
	       "  ntprof-bpf serve --host --peer 'ssh target ntprof-bpf record --target -o -'\n"
	       "                                    and ten stages of both machines together",
};

/**
 * serve_parse() - parse a command line into @o; a wrong one ends the process, see options_parse()
 */
static void serve_parse(int argc, char **argv, struct serve_options *o)
{
	*o = (struct serve_options){.run = RUN_OPTIONS_DEFAULT,
				    .flight = FLIGHT_OPTIONS_DEFAULT,
				    .series = SERIES_DEFAULT};
	o->run.awaits_tcp = true;
	/*
	 * A target's controllers are named by ids, which several subsystems may have. So rows need
	 * both NQNs.
	 */
	o->run.by_other = true;
	o->run.disks_hourly = true;
	options_parse(&serve_argp, argc, argv, o);
}

/**
 * struct serve_change - what SIGHUP changes: the options that are OPTION_RELOADS
 * @flight: all of it can, except whether there is a recorder
 * @folder: its folder points here
 */
struct serve_change {
	uint64_t interval_ns;
	struct flight_options flight;
	char folder[PATH_MAX];
};

/* Runs in the child process of config_reload(). */
static void parse_again(int argc, char **argv, void *context, void *result)
{
	const struct serve_options *was = context;
	struct serve_change *c = result;
	struct serve_options is;

	serve_parse(argc, argv, &is);
	if (!was->flight.recorder.keep_ns != !is.flight.recorder.keep_ns)
		journal(JOURNAL_WARNING,
			"--keep, which is there or not, is another now, which takes "
			"a restart: it stays");
	*c = (struct serve_change){.interval_ns = is.run.interval_ns, .flight = is.flight};
	if (is.flight.recorder.folder)
		snprintf(c->folder, sizeof(c->folder), "%s", is.flight.recorder.folder);
}

/**
 * serve_reload() - read the command line and the file of --config again
 * @o: the options with which the process began
 * @c: filled
 *
 * Options that have changed but need a restart are named in a message, and stay as they were.
 *
 * Return: 0, or a negative errno with a message printed: all options stay as they were.
 */
static int serve_reload(const struct serve_options *o, struct serve_change *c)
{
	int err = config_reload(parse_again, (void *)o, c, sizeof(*c));

	if (err == -ENOENT)
		journal(JOURNAL_WARNING, "SIGHUP: there is no configuration to read");
	else if (err)
		journal(JOURNAL_WARNING,
			"SIGHUP: the configuration is not taken%s%s; all is as it was",
			err == -ECANCELED ? "" : ": ", err == -ECANCELED ? "" : strerror(-err));
	if (err)
		return err;
	c->flight.recorder.folder = c->folder;
	c->flight.first = NULL;
	return 0;
}

/* The flight recorder of a run. */

/* How long the end of the run waits for the disk to take the last file. */
#define FLIGHT_PATIENCE_NS 10000000000ULL

/* Its messages go to the journal. */
static void tell(void *context, bool failed, const char *line)
{
	journal(failed ? JOURNAL_WARNING : JOURNAL_NOTICE, "%s", line);
}

/* Takes over the conditions in @o. Return: NULL with a message on standard error if that failed. */
static struct recorder *flight_open(struct flight_options *o, enum nt_side side)
{
	const char *folder = o->recorder.folder;
	struct recorder *r = recorder_new(&o->recorder, side, tell, NULL);

	if (!r)
		fprintf(stderr, "ntprof-bpf: cannot keep files in %s: %s\n", folder,
			folder_error(-errno));
	return r;
}

/* Called when tracing has begun. */
static void flight_begin(struct recorder *r, const struct run_options *o, const struct tracer *t)
{
	struct stream_header h;

	stream_describe(&h, o, tracer_source(t));
	h.missing = tracer_missing(t);
	recorder_begin(r, &h);
}

/* A command has ended. @n: the connections and devices that are known already */
static void flight_record(struct recorder *r, struct announced_names *n, const struct tracer *t,
			  const struct nt_record *rec)
{
	struct device_name d;
	struct queue_info q;

	/* The recorder forgets connections without records, and then asks for them again. */
	if (recorder_record(r, rec)) {
		announce_describe(t, rec, &q);
		recorder_queue(r, &q);
	}
	announced_names_queue(n, t, rec, &q);
	if (announced_names_device(n, rec, &d) > 0)
		recorder_device(r, &d);
}

/* Uses other options from now on. Return: 0, or a negative errno with a message. */
static int flight_change(struct recorder *r, struct flight_options *o)
{
	const char *folder = o->recorder.folder;
	int err = recorder_change(r, &o->recorder);

	if (err)
		journal(JOURNAL_WARNING, "cannot keep files in %s: %s; all is as it was", folder,
			folder_error(err));
	return err;
}

/**
 * struct serve - a run of the verb serve
 * @recorder: NULL without --keep
 * @announced_names: the connections and devices that @recorder knows
 * @user: the user that runs the peers' commands
 * @signal_fd: SIGUSR1 and SIGHUP
 * @interval_ns: from the last time that the configuration was read
 */
struct serve {
	const struct serve_options *o;
	struct recorder *recorder;
	struct announced_names announced_names;
	struct http *http;
	struct page *page;
	const struct tracer *t; /* NULL until the module is loaded */
	const struct stats *s;	/* NULL until the first collection */
	uint64_t started_ms;
	uint64_t interval_ns;
	struct peer_user user;
	struct peering peering;
	struct peer_news news;
	struct changes changes;
	struct slowest slowest;
	int epoll_fd; /* has the three below, the HTTP server and the peers */
	int watchdog_fd;
	int tend_fd; /* peers are tended, however long an interval is */
	int signal_fd;
	uint64_t watchdog_ns; /* until the next ping */
};

/* How often peers are looked after: those that are over are started again after 2 s at first. */
#define TEND_NS 1000000000ULL
/* A ping that found no room is sent again after this part of the time between two. */
#define PINGS_AGAIN 10

static uint64_t now_ms(void)
{
	return (uint64_t)(realtime_ns() / 1000000);
}

static int render(void *context, enum exposition_format format, char **text, size_t *size)
{
	struct serve *v = context;
	struct process_cost process;
	struct keep_counts kept = {0};
	struct merged_source merged = {.nr = 0};
	struct cost cost = {0};
	const struct page_source from = {
		.s = v->s,
		.cost = &cost,
		.process = &process,
		.scrapes = http_scrapes(v->http),
		.kept = v->recorder ? &kept : NULL,
		.merged = v->peering.merge ? &merged : NULL,
		.tracing = v->t,
		.measures = v->t && tracer_measures(v->t),
		.started_ms = v->started_ms,
	};

	process_cost(&process);
	if (v->recorder)
		recorder_counts(v->recorder, &kept);
	if (v->peering.merge)
		merged_fill(&merged, v->peering.merge);
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
	char why[256];

	if (!listen)
		listen = v->o->run.side == NT_HOST ? LISTEN_HOST : LISTEN_TARGET;
	v->http = http_open(listen, render, v, why, sizeof(why));
	if (!v->http) {
		fprintf(stderr, "ntprof-bpf: cannot listen at %s: %s\n", listen, why);
		errno = ECANCELED;
		return -1;
	}
	notify_open();
	v->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	v->watchdog_ns = notify_watchdog_ns();
	v->watchdog_fd = timer_new(v->watchdog_ns, true);
	if (v->epoll_fd < 0 || v->watchdog_fd < 0 || watch(v, http_fd(v->http)) ||
	    watch(v, v->watchdog_fd) || watch(v, v->signal_fd))
		return -1;
	if (v->o->peers.nr &&
	    (peering_start(&v->peering, &v->o->peers, v->o->run.side, &v->user, true) ||
	     watch(v, live_merge_fd(v->peering.merge)) ||
	     (v->tend_fd = timer_new(TEND_NS, true)) < 0 || watch(v, v->tend_fd)))
		return -1;
	confine_begin(v->o->run.verbose);
	return v->epoll_fd;
}

static void read_again(struct serve *v)
{
	struct serve_change c;

	notify(NOTIFY_RELOADING);
	if (!serve_reload(v->o, &c) && (!v->recorder || !c.flight.recorder.keep_ns ||
					!flight_change(v->recorder, &c.flight))) {
		v->interval_ns = c.interval_ns;
		http_stale(v->http);
		journal(JOURNAL_NOTICE, "read the configuration again");
	}
	notify(NOTIFY_READY);
}

/*
 * One signal, as others may come as fast as they are taken; clients have their turn in between.
 * Signals of the same number that came before they were read are one signal.
 */
static void take_signals(struct serve *v)
{
	struct signalfd_siginfo si;

	if (read(v->signal_fd, &si, sizeof(si)) != sizeof(si))
		return;
	if (si.ssi_signo == SIGHUP)
		read_again(v);
	else if (v->recorder)
		recorder_trigger(v->recorder, TRIGGER_SIGNAL);
	else
		journal(JOURNAL_WARNING, "SIGUSR1: nothing is kept without --keep");
}

/* Return: 0 or a negative errno. */
static int take_peers(struct serve *v)
{
	int err;

	if (!v->peering.merge)
		return 0;
	if (!timer_fired(v->tend_fd))
		return live_merge_ready(v->peering.merge);
	err = live_merge_tend(v->peering.merge);
	peer_news_tell(&v->news, v->peering.merge);
	return err;
}

/*
 * Ping the watchdog from the main loop, so that a hung loop misses it; soon again if others fill
 * the manager's socket.
 */
static void ping(struct serve *v)
{
	const uint64_t ns = notify_watchdog_ns();

	timer_pace(v->watchdog_fd, &v->watchdog_ns,
		   notify(NOTIFY_ALIVE) == -EAGAIN ? ns / PINGS_AGAIN : ns);
}

static int take_own(void *context)
{
	struct serve *v = context;

	if (timer_fired(v->watchdog_fd))
		ping(v);
	take_signals(v);
	return take_peers(v) ?: http_ready(v->http);
}

static int begin(void *context, const struct tracer *t)
{
	struct serve *v = context;

	v->t = t;
	if (v->recorder)
		flight_begin(v->recorder, &v->o->run, t);
	http_stale(v->http);
	fprintf(stderr, "serving %s\n", http_address(v->http));
	notify(NOTIFY_READY NOTIFY_STATUS "Tracing\n");
	return 0;
}

static int collected(void *context, const struct stats *s)
{
	struct serve *v = context;
	char line[160];
	int err = 0;

	v->s = s;
	if (v->t &&
	    changes_look(&v->changes, s->controllers, changes_slept_ns(), line, sizeof(line)))
		journal(JOURNAL_NOTICE, "%s", line);
	if (v->recorder)
		recorder_interval(v->recorder, s);
	if (v->recorder && v->t)
		slowest_interval(&v->slowest, v->t);
	err = page_collect(v->page, s, v->recorder ? v->slowest.told : NULL, now_ms());
	if (err)
		return err;
	if (v->peering.merge) {
		err = live_merge_add_up(v->peering.merge);
		peer_news_tell(&v->news, v->peering.merge);
	}
	http_stale(v->http);
	return err;
}

static int take_record(void *context, const struct tracer *t, const struct nt_record *rec)
{
	struct serve *v = context;

	if (v->recorder) {
		slowest_record(&v->slowest, rec);
		flight_record(v->recorder, &v->announced_names, t, rec);
	}
	return peering_record(&v->peering, t, rec);
}

static uint64_t names_gone(void *context)
{
	const struct serve *v = context;

	return places_gave_way(v->announced_names.places);
}

static int path_event(void *context, const struct nt_path_event *e)
{
	const struct serve *v = context;

	if (v->recorder)
		recorder_event(v->recorder, e);
	return 0;
}

static void work(void *context)
{
	const struct serve *v = context;

	if (v->recorder)
		recorder_work(v->recorder);
}

static uint64_t pace(void *context)
{
	const struct serve *v = context;

	return v->interval_ns;
}

/*
 * Which transports a service has must not depend on what was loaded first when the machine booted.
 * So without --transport it waits for TCP, and says here how to have the others.
 */
static void tell_of_others(const struct run_options *o)
{
	unsigned int others =
		o->side == NT_HOST && !o->transports ? transports_there("/sys") & NT_NOT_OF_TCP : 0;
	char text[TRANSPORTS_TEXT_LEN];

	if (others)
		fprintf(stderr,
			"this machine has other controllers, which need no waiting: --transport %s\n",
			transports_text(others, text, sizeof(text)));
}

/*
 * Report READY now: services that start after this one must not wait for a module that may never
 * come.
 */
static void waiting(void *context)
{
	const struct serve *v = context;

	fprintf(stderr, WAITING_FOR_MODULE "%s: %s; serving %s meanwhile\n",
		module_traced(v->o->run.side, v->o->run.transports),
		module_load(v->o->run.side, v->o->run.transports), http_address(v->http));
	tell_of_others(&v->o->run);
	notify(NOTIFY_READY NOTIFY_STATUS "Waiting for the driver's module\n");
}

static void ended(void *context)
{
	const struct serve *v = context;

	notify(NOTIFY_STOPPING);
	if (v->recorder)
		recorder_finish(v->recorder, FLIGHT_PATIENCE_NS);
}

static int end(void *context, const struct stats *s)
{
	struct serve *v = context;

	ended(v);
	return peering_finish(&v->peering);
}

static void failed(void *context)
{
	ended(context);
}

static void ignore(int signal)
{
}

/*
 * Blocks SIGHUP, which would end the run, and SIGUSR1, which would end the process. Return: a
 * descriptor of both, or -1 with errno set
 */
static int open_signals(void)
{
	struct sigaction hup = {.sa_handler = SIG_DFL}, taken = {.sa_handler = ignore};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	/* If nohup(1) has set SIGHUP to be ignored, it stays ignored. */
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler != SIG_IGN &&
	    !sigaction(SIGHUP, &taken, NULL))
		sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

static int serve(struct serve_options *o)
{
	struct run_callbacks callbacks = {
		.select =
			o->flight.recorder.keep_ns || o->peers.nr ? NT_SELECT_ALL : NT_SELECT_NONE,
		.record = take_record,
		.with_path_events = true,
		.path_event = path_event,
		.names_gone = names_gone,
		.fd = open_own,
		.ready = take_own,
		.begin = begin,
		.interval = collected,
		.interval_is_time = true,
		.pace = pace,
		.round = work,
		.waiting = waiting,
		.end = end,
		.failed = failed,
	};
	struct serve v = {
		.o = o, .started_ms = now_ms(), .epoll_fd = -1, .watchdog_fd = -1, .tend_fd = -1};
	int status = EXIT_FAILURE;

	if (o->peers.nr && peering_user(&o->peers, &v.user))
		return EXIT_FAILURE;
	if (needs_records(o) && !o->run.points && !burst_any(&o->run.burst) &&
	    !burst_any(&o->run.stages))
		journal(JOURNAL_NOTICE,
			"%s: each command has all of its points, which costs three times as much "
			"as its ends or more: see --points",
			needs_records(o));
	v.user.bare = !o->peers.as_root;
	callbacks.ends_processes = o->peers.nr;
	callbacks.keeps = (o->peers.nr && v.user.other ? RIGHT(CAP_KILL) : 0) |
			  (config_searches() ? RIGHT(CAP_DAC_READ_SEARCH) : 0);
	v.interval_ns = o->run.interval_ns;
	v.signal_fd = open_signals();
	v.page = page_new(o->run.side, o->by_queue, o->series, v.started_ms);
	if (v.signal_fd < 0 || !v.page) {
		fprintf(stderr, "ntprof-bpf: %s\n", strerror(errno));
		goto out;
	}
	if (o->flight.recorder.keep_ns) {
		v.recorder = flight_open(&o->flight, o->run.side);
		if (!v.recorder)
			goto out;
		if (announced_names_init(&v.announced_names)) {
			fprintf(stderr, "ntprof-bpf: %s\n", strerror(ENOMEM));
			goto out;
		}
	}
	status = run(&o->run, &callbacks, &v);
out:
	peering_close(&v.peering);
	http_close(v.http);
	if (v.signal_fd >= 0)
		close(v.signal_fd);
	if (v.watchdog_fd >= 0)
		close(v.watchdog_fd);
	if (v.tend_fd >= 0)
		close(v.tend_fd);
	if (v.epoll_fd >= 0)
		close(v.epoll_fd);
	recorder_free(v.recorder);
	announced_names_free(&v.announced_names);
	page_free(v.page);
	return status;
}

/*
 * A freed large block raises the C library's threshold for large blocks. The next ones come from
 * the heap, where small blocks that stay longer leave holes between them. Then the process grows
 * for hours. A threshold that was set does not move (mallopt(3)).
 */
static void keep_large_blocks_apart(void)
{
	mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
}

static int main_serve(int argc, char **argv)
{
	struct serve_options o;

	keep_large_blocks_apart();
	serve_parse(argc, argv, &o);
	return serve(&o);
}

const struct verb verb_serve = {
	.name = "serve",
	.summary = "latencies, stages and losses for Prometheus, by HTTP",
	.argp = &serve_argp,
	.main = main_serve,
};
