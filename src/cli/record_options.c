// SPDX-License-Identifier: GPL-2.0-only
#include "cli/record_options.h"

#include "core/units.h"
#include "stream/writer.h"

#define BUFFER_BYTES_MAX (1ULL << 30)

enum { KEY_FORCE = 0x100, KEY_MAX_SIZE, KEY_BUFFER, KEY_ORIGIN };

enum { CHILD_RUN, CHILD_COMMANDS, CHILD_ENDED, CHILD_SELECT };

static error_t parse_record(int key, char *arg, struct argp_state *state)
{
	struct record_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[CHILD_RUN] = &o->run;
		state->child_inputs[CHILD_COMMANDS] = &o->count;
		state->child_inputs[CHILD_ENDED] = &o->run.only;
		state->child_inputs[CHILD_SELECT] = &o->run.only;
		break;
	case 'o':
		o->output = arg;
		break;
	case KEY_ORIGIN:
		o->origins = true;
		break;
	case KEY_FORCE:
		o->force = true;
		break;
	case KEY_MAX_SIZE:
		if (parse_size(arg, &o->max_bytes) || !o->max_bytes)
			options_error(state, "--max-size %s: not a size (such as 4096, 100M or 2G)",
				      arg);
		break;
	case KEY_BUFFER:
		if (parse_size(arg, &o->buffer_bytes) || o->buffer_bytes < STREAM_BUFFER_MIN ||
		    o->buffer_bytes > BUFFER_BYTES_MAX)
			options_error(state, "--buffer %s: not a size from 256K to 1G", arg);
		break;
	case ARGP_KEY_END:
		if (o->origins && o->run.side == NT_TARGET)
			options_error(state, "--origin: only the host knows where commands come "
					     "from: record --host --origin");
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
	{"force", KEY_FORCE, NULL, 0,
	 "Replace FILE if it exists, once the recording has begun. Pipes and character devices are "
	 "written to, not replaced",
	 SECTION_RUN},
	{"origin", KEY_ORIGIN, NULL, 0,
	 "With --host: record as well from which CPU and cgroup each command comes, for report --by cpu,cgroup and "
	 "--cgroup",
	 SECTION_RUN},
	{"max-size", KEY_MAX_SIZE, "SIZE", 0,
	 "End before the stream is larger than SIZE (a number, or with K, M or G)", SECTION_RUN},
	{"buffer", KEY_BUFFER, "SIZE", 0,
	 "Keep up to SIZE (default 4M) for a reader that is slow; further records are left out, and "
	 "counted as reader_slow",
	 SECTION_RUN},
	{0},
};

static const struct argp_child record_children[] = {
	[CHILD_RUN] = {.argp = &run_argp},
	[CHILD_COMMANDS] = {.argp = &commands_argp},
	[CHILD_ENDED] = {.argp = &ended_argp},
	[CHILD_SELECT] = {.argp = &select_argp},
	{0},
};

const struct argp record_argp = {
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
