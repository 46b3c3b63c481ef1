// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verb record: everything that one side sees, as a stream, into a file or a pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/run.h"
#include "cli/verbs.h"
#include "core/names.h"
#include "core/time.h"
#include "core/units.h"
#include "stream/stream.h"
#include "stream/writer.h"
#include "trace/announce.h"

/* How long a record may wait before it is written: what a reader at the other end of a pipe feels. */
#define FLUSH_NS 200000000ULL
/* How often progress is told where it cannot be redrawn in place. */
#define PROGRESS_SECONDS 10

/**
 * struct record_options - what the verb record was asked
 * @run: side and what else every run has
 * @count: end after this many commands; 0 is never
 * @output: where to, "-" is standard output
 * @force: replace a file that exists
 * @max_bytes: end before the stream gets larger; 0 is never
 */
struct record_options {
	struct run_options run;
	uint64_t count;
	const char *output;
	bool force;
	uint64_t max_bytes;
};

struct recorder {
	const struct record_options *o;
	int fd;
	const struct tracer *t;
	struct stream_writer *w;
	struct announced announced;
	uint64_t records;
	double told;
	bool terminal;
	bool reader_gone;
	bool full;
};

static void describe(struct stream_header *h, const struct run_options *o, enum nt_source source)
{
	struct utsname u;
	FILE *f;

	*h = (struct stream_header){.side = o->side, .sample = o->sample};
	snprintf(h->source, sizeof(h->source), "%s", source_name(source));
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

/* What stops the recording, told apart: a reader that left is no failure of ours. */
static int stop_on(struct recorder *r, int err)
{
	if (err != -EPIPE)
		return err;
	r->reader_gone = true;
	return 1;
}

static int write_clock(struct recorder *r)
{
	struct stream_event e = {.type = STREAM_CLOCK};
	e.clock = instant_now();
	return stream_write(r->w, &e);
}

/* The first record of a connection is preceded by who it is. */
static int tell_queue(struct recorder *r, const struct nt_record *rec)
{
	struct stream_event e;
	int new = announce(&r->announced, r->t, rec, &e.queue);

	e.type = STREAM_QUEUE;
	return new > 0 ? stream_write(r->w, &e) : new;
}

/* The header comes first, and is complete when it is known where the points come from. */
static int write_header(struct recorder *r, enum nt_source source)
{
	struct stream_header h;

	describe(&h, &r->o->run, source);
	h.missing = r->t ? tracer_missing(r->t) : 0;
	r->w = stream_writer_new(r->fd, &h);
	return r->w ? 0 : -errno;
}

static int begin(void *context, const struct tracer *t)
{
	struct recorder *r = context;
	int err;

	r->t = t;
	err = write_header(r, tracer_source(t));
	if (!err)
		err = write_clock(r);
	if (err && err != -EPIPE)
		fprintf(stderr, "ntprof-bpf: cannot write to %s: %s\n", r->o->output,
			strerror(-err));
	return stop_on(r, err);
}

static int record(void *context, const struct tracer *t, const struct nt_record *rec)
{
	struct recorder *r = context;
	int err = 0;

	r->t = t;
	if (!announced_already(&r->announced, rec))
		err = tell_queue(r, rec);
	if (!err)
		err = stream_write_record(r->w, rec);
	if (err)
		return stop_on(r, err);
	if (r->o->max_bytes && stream_bytes(r->w) + STREAM_FRAME_MAX >= r->o->max_bytes) {
		r->full = true;
		return 1;
	}
	r->records++;
	return r->o->count && r->records >= r->o->count;
}

static void losses_of(const struct stats *s, struct stream_losses *l)
{
	memcpy(l->count, s->counters_total, sizeof(l->count));
	l->unknown = 0;
}

static uint64_t losses_sum(const struct stats *s)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < COUNTER_IN_FLIGHT; i++)
		n += s->counters_total[i];
	return n;
}

static void tell_progress(struct recorder *r, const struct stats *s, bool last)
{
	if (!r->terminal && !last && s->elapsed < r->told + PROGRESS_SECONDS)
		return;
	r->told = s->elapsed;
	fprintf(stderr,
		"%s%s: %" PRIu64 " commands, %" PRIu64 " bytes, %" PRIu64 " losses, %.0f s%s",
		r->terminal ? "\r" : "", side_name(r->o->run.side), r->records,
		r->w ? stream_bytes(r->w) : 0, losses_sum(s), s->elapsed,
		r->terminal && !last ? "\033[K" : "\n");
}

static int interval(void *context, const struct stats *s)
{
	struct stream_event e = {.type = STREAM_LOSSES};
	struct recorder *r = context;
	int err;

	if (!r->t)
		return 0;
	losses_of(s, &e.losses);
	err = stream_write(r->w, &e);
	if (!err)
		err = write_clock(r);
	if (!err)
		err = stream_flush(r->w);
	tell_progress(r, s, false);
	return stop_on(r, err);
}

static int end(void *context, const struct stats *s)
{
	struct stream_event e = {.type = STREAM_END};
	struct recorder *r = context;
	int err = 0;

	/* Ended before the module came: a stream without records. */
	if (!r->w)
		err = write_header(r, r->o->run.source);
	if (!err && !r->reader_gone) {
		e.end.records = r->records;
		e.end.clock = instant_now();
		losses_of(s, &e.end.losses);
		err = stream_write(r->w, &e);
		if (!err)
			err = stream_flush(r->w);
	}
	tell_progress(r, s, true);
	if (r->reader_gone)
		fprintf(stderr, "ended: the reader is gone\n");
	else if (r->full)
		fprintf(stderr, "ended: --max-size is reached\n");
	return stop_on(r, err) < 0 ? err : 0;
}

static void waiting(void *context)
{
	const struct recorder *r = context;

	fprintf(stderr, "waiting for module %s\n", driver_name(r->o->run.side));
}

/*
 * A file of ours, made anew and readable by its owner only; or a FIFO that is there already. Never
 * what a symbolic link points to. Return: fd, or -1 with errno set.
 */
static int open_output(const char *path, bool force)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return dup(STDOUT_FILENO);
	if (!lstat(path, &st)) {
		if (S_ISFIFO(st.st_mode))
			return open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
		if (!force) {
			errno = EEXIST;
			return -1;
		}
		if (S_ISDIR(st.st_mode)) {
			errno = EISDIR;
			return -1;
		}
		if (unlink(path))
			return -1;
	}
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static int record_into(const struct record_options *o)
{
	static const struct run_callbacks callbacks = {
		.select = NT_SELECT_ALL,
		.no_histograms = true,
		.begin = begin,
		.record = record,
		.interval = interval,
		.waiting = waiting,
		.end = end,
	};
	struct recorder r = {.o = o, .terminal = isatty(STDERR_FILENO)};
	int fd, status;

	if (!strcmp(o->output, "-") && isatty(STDOUT_FILENO)) {
		fprintf(stderr,
			"ntprof-bpf: a stream is not for a terminal: use -o FILE or a pipe\n");
		return EXIT_FAILURE;
	}
	signal(SIGPIPE, SIG_IGN);
	fd = open_output(o->output, o->force);
	if (fd < 0) {
		fprintf(stderr, "ntprof-bpf: cannot create %s: %s%s\n", o->output, strerror(errno),
			errno == EEXIST ? " (--force replaces it)" : "");
		return EXIT_FAILURE;
	}
	r.fd = fd;
	status = run(&o->run, &callbacks, &r);
	stream_writer_free(r.w);
	announced_free(&r.announced);
	if (close(fd) && !status) {
		fprintf(stderr, "ntprof-bpf: cannot write to %s: %s\n", o->output, strerror(errno));
		status = EXIT_FAILURE;
	}
	return status;
}

enum { KEY_FORCE = 0x100, KEY_MAX_SIZE };

enum { CHILD_RUN, CHILD_COMMANDS };

static error_t parse_record(int key, char *arg, struct argp_state *state)
{
	struct record_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_RUN] = &o->run;
		state->child_inputs[CHILD_COMMANDS] = &o->count;
		break;
	case 'o':
		o->output = arg;
		break;
	case KEY_FORCE:
		o->force = true;
		break;
	case KEY_MAX_SIZE:
		if (parse_size(arg, &o->max_bytes) || !o->max_bytes)
			options_error(state, "--max-size %s: not a size (such as 4096, 100M or 2G)",
				      arg);
		break;
	case ARGP_KEY_END:
		if (!o->output)
			options_error(state, "record needs -o FILE, or -o - for standard output");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option record_options[] = {
	{"output", 'o', "FILE", 0, "Write the stream to FILE; - is standard output", SECTION_RUN},
	{"force", KEY_FORCE, NULL, 0, "Replace FILE if it exists", SECTION_RUN},
	{"max-size", KEY_MAX_SIZE, "SIZE", 0,
	 "End before the stream is larger than SIZE (a number, or with K, M or G)", SECTION_RUN},
	{0},
};

static const struct argp_child record_children[] = {
	[CHILD_RUN] = {.argp = &run_argp},
	[CHILD_COMMANDS] = {.argp = &commands_argp},
	{0},
};

static const struct argp record_argp = {
	.options = record_options,
	.parser = parse_record,
	.children = record_children,
	.doc = "Write the record of every command into a file or a pipe, for the verb report, or for "
	       "the live view's --peer.\n"
	       "\v"
	       "Examples:\n"
	       "  ntprof-bpf record --host -o host.ntp -d 60\n"
	       "                                    those of a minute\n"
	       "  ntprof-bpf record --target -o target.ntp --max-size 2G\n"
	       "                                    until Ctrl-C, or until 2 GiB are written\n"
	       "  ntprof-bpf record --target -o - | zstd >target.ntp.zst\n"
	       "                                    into a pipe",
};

static int main_record(int argc, char **argv)
{
	struct record_options o = {.run = RUN_OPTIONS_DEFAULT};

	options_parse(&record_argp, argc, argv, &o);
	o.run.interval_ns = FLUSH_NS;
	return record_into(&o);
}

const struct verb verb_record = {
	.name = "record",
	.summary = "the record of every command into a file or a pipe",
	.argp = &record_argp,
	.main = main_record,
};
