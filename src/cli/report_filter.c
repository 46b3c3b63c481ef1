// SPDX-License-Identifier: GPL-2.0-only
#include "cli/report_filter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/verbs.h"
#include "core/text.h"

enum { KEY_TIME = 0x100, KEY_WHERE, KEY_MAX_INFLIGHT, KEY_PID, KEY_COMM };

/* A number of commands, or of bytes if it has a unit. */
static void parse_max_inflight(struct filter *f, const char *arg, struct argp_state *state)
{
	if (!arg[strspn(arg, "0123456789")])
		f->max_in_flight =
			(uint32_t)options_count(state, "--max-inflight", arg, UINT32_MAX);
	else if (parse_size(arg, &f->max_bytes) || !f->max_bytes)
		options_error(state,
			      "--max-inflight %s: neither a number of commands from 1 on nor one "
			      "of bytes, such as 64K",
			      arg);
}

static error_t parse_filter(int key, char *arg, struct argp_state *state)
{
	struct filter *f = state->input;
	const char *wrong;

	switch (key) {
	case KEY_TIME:
		wrong = filter_time(f, arg);
		if (wrong)
			options_error(state, "--time %s: %s", arg, wrong);
		select_said(&f->select, "time", arg);
		break;
	case KEY_WHERE:
		wrong = filter_where(f, arg);
		if (wrong)
			options_error(state, "--where '%s': %s", arg, wrong);
		select_said(&f->select, "where", arg);
		break;
	case KEY_MAX_INFLIGHT:
		parse_max_inflight(f, arg, state);
		select_said(&f->select, "max-inflight", arg);
		break;
	case KEY_PID:
		wrong = select_pid(&f->select, arg);
		if (wrong)
			options_error(state, "--pid %s: %s", arg, wrong);
		select_said(&f->select, "pid", arg);
		break;
	case KEY_COMM:
		wrong = select_comm(&f->select, arg);
		if (wrong)
			options_error(state, "--comm '%s': %s", arg, wrong);
		select_said(&f->select, "comm", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_option filter_options[] = {
	{"time", KEY_TIME, "FROM-TO", OPTION_REPEATS,
	 "Only commands that began in that time after their recording did, or by its wall clock: FROM-TO or FROM..TO, "
	 "such as 10-12.5s, 14:03-14:05, 2026-11-22T14:03.. or -30s.., the last 30 s; of merged ones the host's. FROM "
	 "or TO can be left out",
	 SECTION_SELECT},
	{"where", KEY_WHERE, "CONDITION", OPTION_REPEATS,
	 "Only commands of which a stage, or the latency, took such a time: 'network_transmission>1ms', or with >=, "
	 "<, <= or =; or 'retransmitted': bytes were on their way when TCP sent again (record --tcp). Given several times, "
	 "all of them",
	 SECTION_SELECT},
	{"max-inflight", KEY_MAX_INFLIGHT, "N", OPTION_REPEATS,
	 "Only commands that found fewer than N others in flight on their queue when they began: with 1 those that "
	 "had the queue to themselves; of merged ones the host's. With a unit (64K, 1M) less than so many bytes of "
	 "their data",
	 SECTION_SELECT},
	{"pid", KEY_PID, "PID", OPTION_REPEATS,
	 "Only commands of a host that this process submitted, such as 4711 (record --origin)",
	 SECTION_SELECT},
	{"comm", KEY_COMM, "NAME", 0,
	 "Only commands of a host that a process of this name submitted, such as postgres (record --origin)",
	 SECTION_SELECT},
	{0},
};

const struct argp filter_argp = {.options = filter_options, .parser = parse_filter};

static bool asked(const struct report *r)
{
	return r->filter && (r->filter->max_in_flight || r->filter->max_bytes);
}

int report_depths_add(struct report *r, unsigned int i, const struct nt_record *rec)
{
	if (!asked(r))
		return 0;
	if (!r->depths)
		r->depths = calloc(r->nr, sizeof(*r->depths));
	if (!r->depths)
		return -ENOMEM;
	if (!r->depths[i])
		r->depths[i] = depths_new(r->filter->max_in_flight, r->filter->max_bytes);
	return r->depths[i] ? depths_add(r->depths[i], rec) : -ENOMEM;
}

int report_depths_finish(struct report *r)
{
	int err = 0;

	for (unsigned int i = 0; !err && r->depths && i < r->nr; i++)
		err = r->depths[i] ? depths_finish(r->depths[i]) : 0;
	return err;
}

void report_depths_mark(const struct report *r, unsigned int i, struct stream_event *e)
{
	if (asked(r) && e->type == STREAM_RECORD &&
	    !(r->depths && r->depths[i] && depths_take(r->depths[i])))
		e->record.flags |= NT_F_CROWDED;
}

bool report_depths_lack(const struct report *r)
{
	for (unsigned int i = 0; asked(r) && i < r->nr; i++) {
		const struct input *in = &r->inputs[i];

		if (in->begun && in->again && in->header.sample <= 1)
			continue;
		if (!in->again)
			message("--max-inflight: %s is no file, which can be read twice", in->path);
		else if (in->begun)
			message("--max-inflight: %s is a sample: it does not have all commands "
				"that were in flight",
				in->path);
		else
			continue;
		return true;
	}
	return false;
}

void report_depths_told(const struct report *r)
{
	for (unsigned int i = 0; r->depths && i < r->nr; i++)
		if (r->depths[i] && depths_unknown(r->depths[i]))
			message("--max-inflight: of %" PRIu64 " commands of %s it is not known "
				"what was in flight; they are left out",
				depths_unknown(r->depths[i]), r->inputs[i].path);
}

void report_depths_free(struct report *r)
{
	for (unsigned int i = 0; r->depths && i < r->nr; i++)
		depths_free(r->depths[i]);
	free(r->depths);
	r->depths = NULL;
}
