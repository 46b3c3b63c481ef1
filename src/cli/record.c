// SPDX-License-Identifier: GPL-2.0-only
/* The verb record: writes what one side sees as a stream, to a file or a pipe. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/announced_names.h"
#include "cli/confine.h"
#include "cli/interval_options.h"
#include "cli/options.h"
#include "cli/run.h"
#include "cli/transport.h"
#include "cli/verbs.h"
#include "core/names.h"
#include "core/rights.h"
#include "core/text.h"
#include "core/time.h"
#include "core/transport.h"
#include "stream/destination.h"
#include "stream/stream.h"
#include "stream/writer.h"

/* The command line of the verb record. */

/**
 * struct record_options - the options of the verb record
 * @run: side and the other options of each run
 * @count: end after this many commands; 0: never
 * @output: path; "-": standard output
 * @names_itself: the path is of this program's own making
 * @command: record for as long as this command runs, whose words end with NULL; or NULL
 * @force: replace an existing file
 * @origins: records have the origins of their commands, see &tracer_options.origins
 * @max_bytes: end before the stream gets larger than this; 0: never
 * @buffer_bytes: room for frames that wait for the reader
 */
struct record_options {
	struct run_options run;
	uint64_t count;
	const char *output;
	char **command;
	bool names_itself;
	bool force;
	unsigned int origins;
	uint64_t max_bytes;
	uint64_t buffer_bytes;
};

#define BUFFER_BYTES_MAX (1ULL << 30)
/* The least size of a stream: for a header, a frame of some records, and NEXT_BYTES. */
#define MAX_BYTES_MIN (64ULL << 10)
/*
 * More than may come before the size is looked at again, and the end: a record with the frames that
 * it needs, or those of an interval, and three times all losses, of 4 KiB at most.
 */
#define NEXT_BYTES (16ULL << 10)

enum { KEY_FORCE = 0x100, KEY_MAX_SIZE, KEY_BUFFER, KEY_ORIGIN, KEY_TCP, KEY_DISKS };

enum { CHILD_RUN, CHILD_COMMANDS, CHILD_ENDED, CHILD_SELECT, CHILD_TRANSPORT };

static error_t parse_record(int key, char *arg, struct argp_state *state)
{
	struct record_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_RUN] = &o->run;
		state->child_inputs[CHILD_TRANSPORT] = &o->run;
		state->child_inputs[CHILD_COMMANDS] = &o->count;
		state->child_inputs[CHILD_ENDED] = &o->run.only;
		state->child_inputs[CHILD_SELECT] = &o->run.only;
		break;
	case 'o':
		o->output = arg;
		break;
	case KEY_ORIGIN:
		o->origins = NT_ORIGIN_PLACE | NT_ORIGIN_TASK;
		break;
	case KEY_TCP:
		o->run.tcp = true;
		break;
	case KEY_DISKS:
		o->run.disks = true;
		break;
	case KEY_FORCE:
		o->force = true;
		break;
	case KEY_MAX_SIZE:
		if (parse_size(arg, &o->max_bytes) || o->max_bytes < MAX_BYTES_MIN)
			options_error(state, "--max-size %s: not a size of 64K at least", arg);
		break;
	case KEY_BUFFER:
		if (parse_size(arg, &o->buffer_bytes) || o->buffer_bytes < STREAM_BUFFER_MIN ||
		    o->buffer_bytes > BUFFER_BYTES_MAX)
			options_error(state, "--buffer %s: not a size from 256K to 1G", arg);
		break;
	case ARGP_KEY_ARG:
		if (!state->quoted || state->next <= state->quoted)
			options_error(state,
				      "too many arguments: '%s'; a command to record comes behind "
				      "--, such as record -- fio job.fio",
				      arg);
		o->command = &state->argv[state->next - 1];
		state->next = state->argc;
		break;
	case ARGP_KEY_END:
		transport_options_end(state, &o->run);
		interval_options_end(state, &o->run);
		if (o->command && o->output && !strcmp(o->output, "-"))
			options_error(state,
				      "-o -: standard output is the command's: take -o FILE");
		if (o->origins && o->run.side == NT_TARGET)
			options_error(state, "--origin: only the host knows where commands come "
					     "from: record --host --origin");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option record_options[] = {
	{"output", 'o', "FILE", OPTION_ACTS,
	 "Write the stream to FILE (default: ntprof-HOST-SIDE-TIME.ntp in this folder); - is standard output",
	 SECTION_OUTPUT},
	{"force", KEY_FORCE, NULL, OPTION_ACTS,
	 "Replace FILE if it exists, once the recording has begun. Pipes and character devices are "
	 "written to, not replaced",
	 SECTION_OUTPUT},
	{"origin", KEY_ORIGIN, NULL, 0,
	 "With --host: record as well from which CPU and cgroup each command comes, and which process submitted it, for "
	 "report --by cpu,cgroup,pid,comm and --cgroup",
	 SECTION_OUTPUT},
	{"tcp", KEY_TCP, NULL, 0,
	 "Record as well the state of each queue's TCP connection each second, and when it sent a segment again: for "
	 "report --tcp, and --where retransmitted",
	 SECTION_OUTPUT},
	{"disks", KEY_DISKS, NULL, 0,
	 "With --target: record as well who uses the disks behind it, hosts and cgroups of the target itself, for report --slowest",
	 SECTION_OUTPUT},
	{"max-size", KEY_MAX_SIZE, "SIZE", 0,
	 "End before the stream is larger than SIZE (a number, or with K, M or G), 64K at least",
	 SECTION_OUTPUT},
	{"buffer", KEY_BUFFER, "SIZE", 0,
	 "Keep up to SIZE (default 4M) for a reader that is slow; further records are left out, and "
	 "counted as reader_slow",
	 SECTION_OUTPUT},
	{0},
};

static const struct argp_child record_children[] = {
	[CHILD_RUN] = {.argp = &run_argp},
	[CHILD_COMMANDS] = {.argp = &commands_argp},
	[CHILD_ENDED] = {.argp = &ended_argp},
	[CHILD_SELECT] = {.argp = &select_argp},
	[CHILD_TRANSPORT] = {.argp = &transport_argp},
	{0},
};

static const struct argp record_argp = {
	.options = record_options,
	.parser = parse_record,
	.children = record_children,
	.args_doc = "[-- COMMAND [ARGUMENT...]]",
	.doc = "Write the record of every NVMe/TCP command into a file or a pipe, for the verb report, or for "
	       "the live view's --peer: until Ctrl-C, or for as long as COMMAND runs.\n"
	       "\v"
	       "Exit status: that of COMMAND; 3 if no NVMe command was seen.\n"
	       "\n"
	       "Examples:\n"
	       "  ntprof-bpf record --host -- fio job.fio\n"
	       "                                    while fio runs\n"
	       "  ntprof-bpf record --host -o host.ntp -d 60\n"
	       "                                    those of a minute\n"
	       "  ntprof-bpf record --target -o target.ntp --max-size 2G\n"
	       "                                    until Ctrl-C, or until 2 GiB are written\n"
	       "  ntprof-bpf record --target -o - | zstd >target.ntp.zst\n"
	       "                                    into a pipe",
};

/* How long a record may wait before it is written; the reader of a pipe sees this delay. */
#define FLUSH_NS 200000000ULL
/*
 * Room for frames that wait for a slow reader: twice the ring buffer of the BPF programs, about
 * 120,000 records.
 */
#define BUFFER_BYTES (4ULL << 20)
/* How long tracing waits until the header is written. */
#define HEADER_NS 100000000ULL
/* Time between two lines of progress, if the line cannot be redrawn in place. */
#define PROGRESS_SECONDS 10

/* How long a command that was asked to end is waited for. */
#define COMMAND_MS 2000
/* Exit statuses of a shell, for a command that it cannot run, or does not find. */
enum { NOT_RUN = 126, NOT_FOUND = 127 };
/* The exit status of a run that saw no command. */
#define SAW_NONE 3

struct recording {
	const struct record_options *o;
	pid_t command;
	int go_fd;	/* a byte starts the command */
	int command_fd; /* readable when it has ended */
	struct destination to;
	struct output *out;
	const struct tracer *t;
	unsigned int transports; /* that it traces, see core/transport.h */
	struct stream_writer *w;
	uint64_t header_bytes;
	struct announced_names announced_names;
	struct stream_event end;
	uint64_t losses;
	uint64_t resent_lost;
	uint64_t bursts;   /* in the stream so far */
	uint64_t disks_ns; /* until when the stream has who used disks */
	double elapsed;
	double told;
	bool terminal;
	bool full;
	bool refused; /* the file could not get its name */
};

/* Return: whether what comes next, and then the end, might make the stream too large. */
static bool is_full(struct recording *r)
{
	r->full |= r->o->max_bytes && stream_bytes(r->w) + NEXT_BYTES > r->o->max_bytes;
	return r->full;
}

/*
 * If the output has failed, the recording ends and run() prints the reason. Other errors are
 * returned.
 */
static int stop_on(const struct recording *r, int err)
{
	return err < 0 && output_error(r->out) ? 1 : err;
}

static int write_clock(struct recording *r)
{
	struct stream_event e = {.type = STREAM_CLOCK};
	e.clock = instant_now();
	return stream_write(r->w, &e);
}

/* @new: positive if there is something to write, or an error */
static int tell(struct recording *r, struct stream_event *e, enum stream_type type, int new)
{
	if (new <= 0)
		return new;
	e->type = type;
	return stream_write(r->w, e);
}

/*
 * Writes the connection before its first record, and the device before the first record of a
 * namespace. This is called for each record and an event is large, so an event is filled only if it
 * is needed.
 */
static int tell_names(struct recording *r, const struct nt_record *rec)
{
	struct stream_event e;
	int err;

	err = tell(r, &e, STREAM_QUEUE,
		   announced_names_queue(&r->announced_names, r->t, rec, &e.queue));
	if (!err)
		err = tell(r, &e, STREAM_DEVICE,
			   announced_names_device(&r->announced_names, rec, &e.device));
	if (!err && r->o->origins)
		err = tell(r, &e, STREAM_ORIGIN,
			   announced_names_origin(&r->announced_names, r->t, rec, &e.origin));
	return err;
}

/* Writes the header, which is complete only when it is known where the points come from. */
static int write_header(struct recording *r, enum nt_source source)
{
	struct stream_header h;

	stream_describe(&h, &r->o->run, source);
	h.origins = (uint8_t)r->o->origins;
	h.missing = r->t ? tracer_missing(r->t) : 0;
	r->w = stream_writer_to(r->out, &h);
	if (!r->w)
		return -errno;
	r->header_bytes = stream_bytes(r->w);
	return stream_flush(r->w);
}

/* A file gets its name when its header is written. */
static int name_file(struct recording *r)
{
	int err;

	if (!r->w || r->refused || output_written(r->out) < r->header_bytes)
		return 0;
	err = destination_commit(&r->to);
	if (err) {
		r->refused = true;
		fprintf(stderr, "ntprof-bpf: cannot create %s: %s\n", r->o->output, strerror(-err));
	}
	return err;
}

/*
 * Makes the process that will be the command, before this one gives up any right: it waits until
 * tracing has begun. Return: 0 or a negative errno
 */
static int command_prepare(struct recording *r)
{
	int go[2];
	char c;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	r->go_fd = go[1];
	r->command = fork();
	if (r->command < 0)
		return -errno;
	if (r->command) {
		close(go[0]);
		return 0;
	}
	close(go[1]);
	if (read(go[0], &c, 1) != 1)
		_exit(EXIT_SUCCESS);
	execvp(r->o->command[0], r->o->command);
	message("cannot run %s: %s", r->o->command[0], strerror(errno));
	_exit(errno == ENOENT ? NOT_FOUND : NOT_RUN);
}

static int open_command(void *context)
{
	struct recording *r = context;

	r->command_fd = pidfd_open(r->command, 0);
	return r->command_fd;
}

static int command_ended(void *context)
{
	return 1;
}

/*
 * Waits for the command; where the recording is over before it, it is asked to end. Return: its
 * exit status as a shell has it, 0 if it had to be asked
 */
static int command_finish(struct recording *r)
{
	struct pollfd p = {.fd = r->command_fd, .events = POLLIN};
	int status = 0;
	bool asked;

	/* One that was not started ends now. */
	close(r->go_fd);
	asked = p.fd >= 0 && !poll(&p, 1, 0);
	if (asked)
		kill(r->command, SIGTERM);
	if (asked && !poll(&p, 1, COMMAND_MS)) {
		message("%s still runs", r->o->command[0]);
		return 0;
	}
	waitpid(r->command, &status, 0);
	if (asked)
		return 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int begin(void *context, const struct tracer *t)
{
	struct recording *r = context;
	int err;

	r->t = t;
	r->disks_ns = instant_now().monotonic_ns;
	r->transports = tracer_transports(t);
	err = write_header(r, tracer_source(t));
	if (!err)
		err = write_clock(r);
	if (!err)
		err = stream_flush(r->w);
	/* If the output has failed, run() notices by itself. */
	if (err)
		return output_error(r->out) ? 0 : err;
	output_settle(r->out, -1, HEADER_NS);
	if (r->o->names_itself)
		fprintf(stderr, "recording into %s\n", r->o->output);
	err = name_file(r);
	if (!err && r->o->command && write(r->go_fd, "", 1) != 1)
		err = -errno;
	return err;
}

static int record(void *context, const struct tracer *t, const struct nt_record *rec)
{
	struct recording *r = context;
	int err;

	r->t = t;
	/* There is no stream without a header: the output has failed. */
	if (!r->w)
		return 1;
	if (stream_left_out(r->w))
		return 0;
	err = tell_names(r, rec);
	if (!err)
		err = stream_write_record(r->w, rec);
	/* If the output has failed, more records may come until the run ends. */
	if (err && output_error(r->out)) {
		stream_leave_out(r->w);
		return 0;
	}
	if (err)
		return err;
	if (is_full(r))
		return 1;
	return r->o->count && stream_records(r->w) >= r->o->count;
}

/* One that has no room is counted with the records. */
static int path_event(void *context, const struct nt_path_event *path)
{
	const struct stream_event e = {.type = STREAM_PATH, .path = *path};
	struct recording *r = context;

	if (!r->w || stream_left_out(r->w))
		return 0;
	return stop_on(r, stream_write(r->w, &e)) ?: is_full(r);
}

static uint64_t left_out(void *context)
{
	const struct recording *r = context;

	return r->w ? stream_reader_slow(r->w) : 0;
}

static uint64_t names_gone(void *context)
{
	const struct recording *r = context;

	return places_gave_way(r->announced_names.places);
}

static void losses_of(const struct stats *s, struct stream_losses *l)
{
	memcpy(l->count, s->counters_total, sizeof(l->count));
	l->unknown = 0;
}

static uint64_t losses_sum(const struct stats *s)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < COUNTERS_NR; i++)
		n += counter_is_loss(i) ? s->counters_total[i] : 0;
	return n;
}

static void tell_progress(struct recording *r, bool last)
{
	if (!last && ((!r->terminal && r->elapsed < r->told + PROGRESS_SECONDS) || !console_idle()))
		return;
	r->told = r->elapsed;
	fprintf(stderr,
		"%s%s: %" PRIu64 " commands, %" PRIu64 " bytes, %" PRIu64 " losses, %.0f s%s",
		r->terminal ? "\r" : "", side_name(r->o->run.side), r->w ? stream_records(r->w) : 0,
		r->w ? stream_bytes(r->w) : 0, r->losses, r->elapsed,
		r->terminal && !last ? "\033[K" : "\n");
	/* A line without an end would wait for more. */
	fflush(stderr);
}

/* Writes when a burst was, after its records. */
static int write_burst(struct recording *r, const struct stats *s)
{
	const struct stream_event e = {
		.type = STREAM_BURST,
		.burst = {.began_ns = s->burst_began_ns, .ended_ns = s->burst_ended_ns},
	};

	if (s->bursts == r->bursts)
		return 0;
	r->bursts = s->bursts;
	return stream_write(r->w, &e);
}

static bool fits(struct recording *r, size_t bytes)
{
	return output_room(r->out) > bytes && !is_full(r);
}

/*
 * Writes what TCP sent again, and the states of the connections where they have been read. Without
 * room for them the reader is slow: those of the next second say the same.
 */
static int write_tcp(struct recording *r, const struct tcp_rows *t)
{
	struct stream_event e = {.type = STREAM_RESENT};
	uint64_t now = instant_now().monotonic_ns;
	int err = 0;

	r->resent_lost = t->resent_lost;
	for (size_t i = 0; i < t->nr_resent && !err && fits(r, STREAM_FRAME_MAX); i++) {
		e.resent = t->resent[i];
		err = stream_write(r->w, &e);
	}
	e.type = STREAM_TCP;
	for (size_t i = 0; i < t->nr && !err && fits(r, STREAM_FRAME_MAX); i++) {
		e.tcp = (struct stream_tcp){.slot = t->row[i].slot,
					    .gen = t->row[i].gen,
					    .ns = now,
					    .state = t->row[i].now};
		err = stream_write(r->w, &e);
	}
	return err;
}

/*
 * Writes who used the target's disks since the last time: all of it, or nothing where the reader is
 * slow, as shares of a part would be wrong.
 */
static int write_disks(struct recording *r, const struct disk_rows *d)
{
	struct stream_event e = {.type = STREAM_DISK};
	uint64_t from = r->disks_ns;
	int err = 0;

	r->disks_ns = instant_now().monotonic_ns;
	if (!fits(r, STREAM_FRAME_MAX + d->nr * sizeof(e.disk)))
		return 0;
	for (size_t i = 0; i < d->nr && !err && !is_full(r); i++) {
		const struct disk_row *row = &d->row[i];

		if (!row->interval.requests)
			continue;
		e.disk = (struct disk_sample){.from_ns = from,
					      .to_ns = r->disks_ns,
					      .user = (uint16_t)row->user,
					      .requests = row->interval.requests,
					      .bytes = row->interval.bytes,
					      .ns = (uint64_t)row->interval.ns};
		snprintf(e.disk.disk, sizeof(e.disk.disk), "%s", row->disk);
		snprintf(e.disk.who, sizeof(e.disk.who), "%s", row->who);
		err = stream_write(r->w, &e);
	}
	return err;
}

static int interval(void *context, const struct stats *s)
{
	struct stream_event e = {.type = STREAM_LOSSES};
	struct recording *r = context;
	int err;

	if (!r->t || !r->w)
		return 0;
	err = write_burst(r, s) ?: write_tcp(r, &s->tcp) ?: write_disks(r, &s->disks);
	losses_of(s, &e.losses);
	if (!err)
		err = stream_write(r->w, &e);
	if (!err)
		err = write_clock(r);
	if (!err)
		err = stream_flush(r->w);
	if (!err)
		err = name_file(r);
	r->losses = losses_sum(s);
	r->elapsed = s->elapsed;
	tell_progress(r, false);
	return stop_on(r, err) ?: is_full(r);
}

static int end(void *context, const struct stats *s)
{
	struct recording *r = context;
	int err = 0;

	r->losses = losses_sum(s);
	r->elapsed = s->elapsed;
	r->end = (struct stream_event){.type = STREAM_END, .end.clock = instant_now()};
	losses_of(s, &r->end.end.losses);
	/* The run ended before the module was loaded: the stream has no records. */
	if (!r->w)
		err = write_header(r, r->o->run.source);
	if (!err && r->t)
		err = write_burst(r, s) ?: write_tcp(r, &s->tcp) ?: write_disks(r, &s->disks);
	if (!err)
		err = stream_write(r->w, &r->end);
	if (!err)
		err = stream_flush(r->w);
	return stop_on(r, err) < 0 ? err : 0;
}

/* Leaves out the frames that the output has not begun to write, and counts them. */
static void cut(void *context)
{
	struct recording *r = context;
	uint64_t before = r->w ? stream_reader_slow(r->w) : 0;

	if (!r->w)
		return;
	stream_cut(r->w, &r->end);
	r->losses += stream_reader_slow(r->w) - before;
}

/* Called when nothing more is written. */
static int over(void *context)
{
	struct recording *r = context;
	int err = name_file(r);

	if (!r->w)
		return err;
	tell_progress(r, true);
	if (r->resent_lost)
		fprintf(stderr,
			"times at which TCP sent a segment again that found no room: %" PRIu64 "\n",
			r->resent_lost);
	if (r->full)
		fprintf(stderr, "ended: --max-size is reached\n");
	return err;
}

static void waiting(void *context)
{
	const struct recording *r = context;

	fprintf(stderr, WAITING_FOR_MODULE "%s: %s\n",
		module_traced(r->o->run.side, r->o->run.transports),
		module_load(r->o->run.side, r->o->run.transports));
}

/* Return: whether @fd is a terminal; a message has been printed then. */
static bool is_terminal(int fd)
{
	if (!isatty(fd))
		return false;
	fprintf(stderr, "ntprof-bpf: a stream is not for a terminal: use -o FILE or a pipe\n");
	return true;
}

/* Return: 0, or a negative errno with a message on standard error. */
static int open_output(struct recording *r)
{
	const char *path = r->o->output, *kind;
	int err = destination_open(&r->to, path, r->o->force);

	/* For example /dev/stdout. */
	if (!err && is_terminal(r->to.fd)) {
		destination_close(&r->to);
		return -ENOTTY;
	}
	if (!err) {
		r->out = output_new(r->to.fd, r->o->buffer_bytes);
		if (r->out)
			return 0;
		err = -errno;
		destination_close(&r->to);
	}
	kind = destination_refuses(path);
	if (kind)
		fprintf(stderr, "ntprof-bpf: cannot write to %s: it is %s\n", path, kind);
	else if (err == -EPERM)
		fprintf(stderr,
			"ntprof-bpf: cannot write to %s: it is another user's, in a folder that others may write to\n",
			path);
	else
		fprintf(stderr, "ntprof-bpf: cannot create %s: %s%s\n", path, strerror(-err),
			err == -EEXIST ? " (--force replaces it)" : "");
	return err;
}

static int record_into(const struct record_options *o)
{
	struct run_callbacks callbacks = {
		.select = run_selects(&o->run),
		.no_histograms = true,
		.origins = o->origins,
		.begin = begin,
		.record = record,
		.with_path_events = true,
		.path_event = path_event,
		.interval = interval,
		.interval_is_time = true,
		.waiting = waiting,
		.end = end,
		.output_name = strcmp(o->output, "-") ? o->output : "standard output",
		.left_out = left_out,
		.names_gone = names_gone,
		.cut = cut,
		.over = over,
		/* The file gets its name in a folder that may belong to another user. */
		.keeps = RIGHT(CAP_DAC_OVERRIDE),
	};
	struct recording r = {
		.o = o,
		.go_fd = -1,
		.command_fd = -1,
		.terminal = isatty(STDERR_FILENO),
		.transports = NT_OF_TCP,
	};
	char names[TRANSPORTS_TEXT_LEN];
	int status, err;

	/*
	 * No progress if the stream goes to standard output, as its reader sees the progress. A
	 * peer's standard error is for what the stream does not contain.
	 */
	if (!strcmp(o->output, "-"))
		r.told = HUGE_VAL;
	if (!strcmp(o->output, "-") && is_terminal(STDOUT_FILENO))
		return EXIT_FAILURE;
	if (announced_names_init(&r.announced_names)) {
		fprintf(stderr, "ntprof-bpf: %s\n", strerror(ENOMEM));
		announced_names_free(&r.announced_names);
		return EXIT_FAILURE;
	}
	if (o->command) {
		callbacks.fd = open_command;
		callbacks.ready = command_ended;
		callbacks.ends_processes = true;
		err = command_prepare(&r);
		if (err) {
			fprintf(stderr, "ntprof-bpf: cannot run a command: %s\n", strerror(-err));
			announced_names_free(&r.announced_names);
			return EXIT_FAILURE;
		}
	}
	confine_begin(o->run.verbose);
	if (!run_check(&o->run) || open_output(&r)) {
		announced_names_free(&r.announced_names);
		return EXIT_FAILURE;
	}
	callbacks.output = r.out;
	status = run(&o->run, &callbacks, &r);
	if (o->command) {
		int ended = command_finish(&r);

		status = status ?: ended;
	}
	/* The reader of a stream sees that by itself. */
	if (!status && strcmp(o->output, "-") != 0 && (!r.w || !stream_records(r.w))) {
		const bool tcp = r.transports == NT_OF_TCP;

		fprintf(stderr,
			"ntprof-bpf: no command was seen: nothing was %s over %s%s%s, "
			"or nothing that was asked for\n",
			o->run.side == NT_HOST ? "sent" : "served", tcp ? "NVMe/TCP" : "NVMe (",
			tcp ? "" : transports_text(r.transports, names, sizeof(names)),
			tcp ? "" : ")");
		status = SAW_NONE;
	}
	stream_writer_free(r.w);
	announced_names_free(&r.announced_names);
	output_free(r.out);
	err = destination_close(&r.to);
	if (err && !status) {
		fprintf(stderr, "ntprof-bpf: cannot write to %s: %s\n", o->output, strerror(-err));
		status = EXIT_FAILURE;
	}
	return status;
}

/* In UTC, so that names of two machines are in order. */
static const char *default_name(enum nt_side side, char *buf, size_t size)
{
	char host[sizeof(((struct utsname *)0)->nodename)] = "";
	time_t now = time(NULL);
	struct utsname u;
	struct tm tm;

	if (!uname(&u))
		snprintf(host, sizeof(host), "%s", u.nodename);
	for (char *c = host; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(".-_", *c))
			*c = '_';
	gmtime_r(&now, &tm);
	snprintf(buf, size, "ntprof-%s-%s-%04d%02d%02dT%02d%02d%02dZ.ntp", host, side_name(side),
		 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	return buf;
}

static int main_record(int argc, char **argv)
{
	struct record_options o = {.run = RUN_OPTIONS_DEFAULT, .buffer_bytes = BUFFER_BYTES};

	char name[NAME_MAX];

	options_parse(&record_argp, argc, argv, &o);
	o.run.interval_ns = FLUSH_NS;
	if (!o.output) {
		o.output = default_name(o.run.side, name, sizeof(name));
		o.names_itself = true;
	}
	return record_into(&o);
}

const struct verb verb_record = {
	.name = "record",
	.summary = "the record of every command into a file or a pipe",
	.argp = &record_argp,
	.main = main_record,
};
