// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options that select commands. They have the same names and arguments in all verbs that have
 * them.
 */
#include "cli/options.h"
#include "core/cgroup.h"

enum {
	KEY_CTRL = 0x100,
	KEY_NQN,
	KEY_HOSTNQN,
	KEY_NSID,
	KEY_QUEUE,
	KEY_OP,
	KEY_SIZE,
	KEY_LBA,
	KEY_DEVICE,
	KEY_CGROUP,
	KEY_FAILED,
	KEY_SLOWER,
};

static const struct argp_option select_options[] = {
	{"ctrl", KEY_CTRL, "CTRL", 0,
	 "Only commands of this controller: nvmeN, as the host calls it, or the number that is its id, which both "
	 "sides know",
	 SECTION_SELECT},
	{"nqn", KEY_NQN, "NQN", 0, "Only commands of the subsystem of this name", SECTION_SELECT},
	{"hostnqn", KEY_HOSTNQN, "HOSTNQN", 0, "Only commands of the host of this name",
	 SECTION_SELECT},
	{"nsid", KEY_NSID, "NSID", 0, "Only commands of this namespace, by its id", SECTION_SELECT},
	{"queue", KEY_QUEUE, "QUEUE", 0, "Only commands of these queues, such as 3 or 3,5-7",
	 SECTION_SELECT},
	{"op", KEY_OP, "OP", 0, "Only these operations, such as read or read,write",
	 SECTION_SELECT},
	{"size", KEY_SIZE, "SIZE", 0, "Only commands with so much data, such as 4k or 4k-128k",
	 SECTION_SELECT},
	{"lba", KEY_LBA, "LBA", 0, "Only commands that begin at these LBAs, such as 0-2047",
	 SECTION_SELECT},
	{"device", KEY_DEVICE, "DEVICE", 0,
	 "Only commands of this disk of the host, such as /dev/nvme0n1; with multipath, by all of its paths",
	 SECTION_SELECT},
	{"cgroup", KEY_CGROUP, "PATH", 0,
	 "Only commands of a host whose I/O is that of this cgroup, or of one below it, such as system.slice/db.service",
	 SECTION_SELECT},
	{0},
};

/* In the order of the keys of select_options. */
static const char *(*const parsers[])(struct nt_selection *s, const char *text) = {
	select_ctrl,  select_nqn, select_hostnqn, select_nsid,
	select_queue, select_op,  select_size,	  select_lba,
};

static error_t parse_select(int key, char *arg, struct argp_state *state)
{
	struct select *s = state->input;
	const char *wrong;

	if (key == KEY_DEVICE) {
		s->device = arg;
		s->device_origin = options_origin(state);
		select_said(s, "device", arg);
		return 0;
	}
	if (key == KEY_CGROUP) {
		wrong = cgroup_path(arg, s->cgroup, sizeof(s->cgroup));
		if (wrong)
			options_error(state, "--cgroup %s: %s", arg, wrong);
		s->cgroup_origin = options_origin(state);
		select_said(s, "cgroup", arg);
		return 0;
	}
	if (key < KEY_CTRL || key > KEY_LBA)
		return ARGP_ERR_UNKNOWN;
	wrong = parsers[key - KEY_CTRL](&s->by, arg);
	if (wrong)
		options_error(state, "--%s %s: %s", select_options[key - KEY_CTRL].name, arg,
			      wrong);
	select_said(s, select_options[key - KEY_CTRL].name, arg);
	return 0;
}

const struct argp select_argp = {.options = select_options, .parser = parse_select};

static error_t parse_ended(int key, char *arg, struct argp_state *state)
{
	struct select *s = state->input;

	switch (key) {
	case KEY_FAILED:
		s->failed = true;
		select_said(s, "failed", NULL);
		return 0;
	case KEY_SLOWER:
		s->slower_ns = options_time(state, "--slower", arg, 1, "1ns");
		select_said(s, "slower", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option ended_options[] = {
	{"failed", KEY_FAILED, NULL, 0,
	 "Only commands with a status other than success, and those that the host gave up",
	 SECTION_SELECT},
	{"slower", KEY_SLOWER, "TIME", 0, "Only commands that took TIME or longer", SECTION_SELECT},
	{0},
};

const struct argp ended_argp = {.options = ended_options, .parser = parse_ended};
