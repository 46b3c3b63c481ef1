// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verb stacks: shows the kernel paths by which commands come to a driver, with the number and
 * the latency of the commands of each path. It counts in the kernel and prints at its end.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/verbs.h"
#include "cli/written.h"
#include "core/names.h"
#include "core/output.h"
#include "core/paths.h"
#include "core/time.h"
#include "core/timer.h"
#include "core/transport.h"
#include "trace/kernel.h"
#include "trace/stacks.h"
#include "trace/tracer.h"
#include "view/flame.h"
#include "view/paths.h"

/* The default number of stacks. */
#define SHOWN 5
#define SHOWN_TEXT "5"

/**
 * struct stacks_options - the options of the verb stacks
 * @run: only its duration, its selection and @verbose are used
 * @shown: number of stacks to print
 * @some: @shown was given
 * @folded: print folded stacks only
 * @svg: a file for a flame graph; NULL: none
 * @format: format of the output
 */
struct stacks_options {
	struct run_options run;
	uint64_t shown;
	bool some;
	bool folded;
	const char *svg;
	enum output_format format;
};

static const char *name_of(const void *context, uint64_t address)
{
	return symbols_find(context, address);
}

static int complain(enum tracer_status status, const char *detail)
{
	char text[512];

	tracer_explain(status, NT_HOST, detail, text, sizeof(text));
	fprintf(stderr, "ntprof-bpf: %s\n", text);
	return EXIT_FAILURE;
}

/* Waits until the time is over or a signal comes. Return: 0 or a negative errno. */
static int wait_for_end(int signal_fd, uint64_t duration_ns)
{
	struct pollfd fds[] = {
		{.fd = signal_fd, .events = POLLIN},
		{.fd = -1, .events = POLLIN},
	};
	struct signalfd_siginfo si;
	int err = 0;

	if (duration_ns) {
		fds[1].fd = timer_new(duration_ns, false);
		if (fds[1].fd < 0)
			return -errno;
	}
	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR) {
			err = -errno;
			break;
		}
		if (fds[1].revents)
			break;
		/* SIGWINCH is of no interest. */
		if (fds[0].revents && read(signal_fd, &si, sizeof(si)) == sizeof(si) &&
		    si.ssi_signo != SIGWINCH)
			break;
	}
	if (fds[1].fd >= 0)
		close(fds[1].fd);
	return err;
}

/* Return: 0 or a negative errno. */
static int print(const struct stacks_options *o, const struct paths *paths,
		 const struct paths_run *run)
{
	int err = 0;

	if (o->folded)
		err = paths_print_folded(paths, stdout);
	else if (o->format == FORMAT_JSON)
		err = paths_print_json(paths, run, stdout);
	else if (o->format == FORMAT_CSV)
		err = paths_print_csv(paths, stdout);
	else
		paths_print(paths, run, o->shown, stdout);
	/* These formats have no place for losses. */
	if (o->folded || o->format == FORMAT_CSV)
		paths_print_losses(paths, stderr);
	return err ?: standard_output_finish();
}

/* Prints a message. Return: -ECANCELED */
static int no_names(int err)
{
	fprintf(stderr, "ntprof-bpf: cannot read names of functions from %s: %s\n", SYMBOLS_FILE,
		strerror(-err));
	return -ECANCELED;
}

/*
 * Counts until the end, and then prints. @svg: also there, if it is open. Return: 0 or a negative
 * errno; -ECANCELED: a message was printed
 */
static int count(const struct stacks_options *o, struct stacks *s, int signal_fd,
		 struct written *svg)
{
	struct paths paths = {0};
	struct paths_run run = {.sample = o->run.sample};
	uint64_t begin = monotonic_ns();
	struct symbols *symbols = NULL;
	struct utsname u;
	int err;

	err = wait_for_end(signal_fd, o->run.duration_ns);
	stacks_detach(s);
	run.elapsed_ns = monotonic_ns() - begin;
	if (!err) {
		symbols = symbols_read(SYMBOLS_FILE);
		err = symbols ? stacks_read(s, &paths, name_of, symbols) : no_names(-errno);
	}
	run.kernel = uname(&u) ? "unknown" : u.release;
	if (!err && svg->f)
		err = flame_print(&paths, &run, svg->f) ?: written_finish(svg);
	if (!err)
		err = print(o, &paths, &run);
	paths_free(&paths);
	symbols_free(symbols);
	return err;
}

static int stacks(const struct stacks_options *o)
{
	const unsigned int transports =
		o->run.transports
			?: transports_default("/sys", kernel_has_module(driver_name(NT_HOST)));
	enum tracer_status status;
	struct written svg = {"--svg", FLAME_BEGINS, sizeof(FLAME_BEGINS) - 1, .f = NULL};
	struct stacks *s = NULL;
	int signal_fd = -1, err;
	char detail[256];

	err = symbols_check(SYMBOLS_FILE);
	/* If this process may not trace, that is the message to print (below). */
	if (err && !tracer_check(detail, sizeof(detail))) {
		no_names(err);
		return EXIT_FAILURE;
	}
	if (o->svg && !written_open(&svg, o->svg))
		return EXIT_FAILURE;
	status = stacks_open(&s, o->run.sample, transports, o->run.verbose, detail, sizeof(detail));
	if (status) {
		written_close(&svg);
		return complain(status, detail);
	}
	signal_fd = signals_open();
	err = signal_fd < 0 ? -errno : 0;
	if (err)
		goto out;
	fprintf(stderr, "counting the stacks of %s(); %s\n",
		transports == NT_OF_TCP	 ? "nvme_tcp_queue_rq"
		: transports & NT_OF_TCP ? "nvme_tcp_queue_rq() and nvme_setup_cmd"
					 : "nvme_setup_cmd",
		o->run.duration_ns ? "Ctrl-C ends it early" : "Ctrl-C ends it");
	err = count(o, s, signal_fd, &svg);
out:
	if (err && err != -ECANCELED)
		fprintf(stderr, "ntprof-bpf: %s\n", strerror(-err));
	if (signal_fd >= 0)
		close(signal_fd);
	stacks_close(s);
	written_close(&svg);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

enum { KEY_HOST = 0x100, KEY_TRANSPORT, KEY_PATHS, KEY_FOLDED, KEY_SVG };

enum { CHILD_FORMAT, CHILD_MEASURE };

static error_t parse_stacks(int key, char *arg, struct argp_state *state)
{
	struct stacks_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_FORMAT] = &o->format;
		state->child_inputs[CHILD_MEASURE] = &o->run;
		break;
	case KEY_HOST:
		break;
	case KEY_TRANSPORT:
		o->run.transports = transports_parse(arg);
		if (!o->run.transports)
			options_error(state, TRANSPORTS_WRONG, arg);
		break;
	case KEY_PATHS:
		o->shown = options_count(state, "--paths", arg, UINT32_MAX);
		o->some = true;
		break;
	case KEY_FOLDED:
		o->folded = true;
		break;
	case KEY_SVG:
		if (!*arg || !strcmp(arg, "-"))
			options_error(state, "--svg needs the name of a file");
		o->svg = arg;
		break;
	case ARGP_KEY_ARG:
		options_no_word(state, arg);
	case ARGP_KEY_END:
		if (o->folded && o->format != FORMAT_TEXT)
			options_error(state, "--folded is a format of its own: leave out --format");
		if (o->some && (o->folded || o->format != FORMAT_TEXT))
			options_error(state,
				      "--paths is for the text: other formats have all of them");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option stacks_options[] = {
	{"host", KEY_HOST, NULL, 0,
	 "This machine is the host (initiator), which is the only side that this is for",
	 SECTION_WATCH},
	{"transport", KEY_TRANSPORT, "TRANSPORTS", 0,
	 "Count commands to controllers of these transports, with commas: tcp, pcie, rdma, fc, loop and other (default tcp; "
	 "on a machine where nvme-tcp is not loaded, what other controllers there are)",
	 SECTION_WATCH},
	{"paths", KEY_PATHS, "N", 0,
	 "Print the stacks of the N paths of most commands (default " SHOWN_TEXT ")", SECTION_SHOW},
	{"folded", KEY_FOLDED, NULL, 0,
	 "Print a line for each path, as flamegraph.pl reads it: its kind, its functions, its commands",
	 SECTION_OUTPUT},
	{"svg", KEY_SVG, "FILE", OPTION_ACTS,
	 "Also write a flame graph to FILE, which a browser shows: a click zooms, names can be searched for",
	 SECTION_OUTPUT},
	{0},
};

static const struct argp_child stacks_children[] = {
	[CHILD_FORMAT] = {.argp = &format_argp},
	[CHILD_MEASURE] = {.argp = &measure_argp},
	{.argp = &config_argp},
	{0},
};

static const struct argp stacks_argp = {
	.options = stacks_options,
	.parser = parse_stacks,
	.children = stacks_children,
	.doc = "Count by which kernel path commands come to a driver: issued at once, out of an I/O "
	       "scheduler, when a plug is flushed, by a kernel thread, again. Each kind with how many "
	       "came that way and how long they took; and the stacks.\n"
	       "\v"
	       "Examples:\n"
	       "  ntprof-bpf stacks --host -d 10    ten seconds\n"
	       "  ntprof-bpf stacks --host -d 10 --svg stacks.svg\n"
	       "                                    as a picture, for a browser\n"
	       "  ntprof-bpf stacks --host -d 60 --sample 100 --format json\n"
	       "                                    one command in 100, for programs",
};

static int main_stacks(int argc, char **argv)
{
	struct stacks_options o = {.shown = SHOWN};

	options_parse(&stacks_argp, argc, argv, &o);
	return stacks(&o);
}

const struct verb verb_stacks = {
	.name = "stacks",
	.summary = "which kernel paths submit commands",
	.argp = &stacks_argp,
	.main = main_stacks,
};
