// SPDX-License-Identifier: GPL-2.0-only
#include "cli/flight.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/notify.h"
#include "cli/options.h"
#include "cli/run.h"
#include "core/text.h"
#include "serve/folder.h"
#include "serve/ring.h"
#include "trace/announce.h"

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
	{"keep", KEY_KEEP, "TIME", 0,
	 "Keep the records of the last TIME, and write them to a file when --when is true, at SIGUSR1 and at the end",
	 SECTION_RUN},
	{"keep-bytes", KEY_KEEP_BYTES, "SIZE", 0,
	 "Keep them in SIZE of memory at most (default 64M); what does not fit goes before its time, and is counted",
	 SECTION_RUN},
	{"after", KEY_AFTER, "TIME", 0,
	 "A file goes on for TIME after what set it off (default 5s)", SECTION_RUN},
	{"when", KEY_WHEN, "WHEN", 0,
	 "Write a file when this becomes true: latency>5ms, p99(read)>2ms over 10s, errors>0 or oldest>1s; several with "
	 "commas, or again",
	 SECTION_RUN},
	{"dir", KEY_DIR, "DIR", 0,
	 "Write files into the folder DIR (default: what systemd says, $STATE_DIRECTORY)",
	 SECTION_RUN},
	{"files", KEY_FILES, "N", 0,
	 "Have N files of this side at most (default 16): the oldest is removed for another one",
	 SECTION_RUN},
	{"bytes", KEY_BYTES, "SIZE", 0, "Have files of SIZE together at most (default 1G)",
	 SECTION_RUN},
	{"keep-free", KEY_KEEP_FREE, "SIZE", 0,
	 "Leave SIZE of the file system free for others (default: 15 % of it, no more than 4G): with less, a file takes the room "
	 "of older ones only",
	 SECTION_RUN},
	{0},
};

const struct argp flight_argp = {.options = flight_options, .parser = parse_flight};

static void tell(void *context, bool failed, const char *line)
{
	journal(failed ? JOURNAL_WARNING : JOURNAL_NOTICE, "%s", line);
}

struct recorder *flight_open(struct flight_options *o, enum nt_side side)
{
	const char *folder = o->recorder.folder;
	struct recorder *r = recorder_new(&o->recorder, side, tell, NULL);

	if (!r)
		fprintf(stderr, "ntprof-bpf: cannot keep files in %s: %s\n", folder,
			folder_error(-errno));
	return r;
}

void flight_begin(struct recorder *r, const struct run_options *o, const struct tracer *t)
{
	struct stream_header h;

	stream_describe(&h, o, tracer_source(t));
	h.missing = tracer_missing(t);
	recorder_begin(r, &h);
}

void flight_record(struct recorder *r, struct announced_names *n, const struct tracer *t,
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

void flight_change(struct recorder *r, struct flight_options *o)
{
	const char *folder = o->recorder.folder;
	int err = recorder_change(r, &o->recorder);

	if (err)
		journal(JOURNAL_WARNING, "cannot keep files in %s: %s; all is as it was", folder,
			folder_error(err));
}
