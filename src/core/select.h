/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A selection of commands as users write it, and whether recorded commands are in it. The BPF
 * programs get the same selection: shared/selection.h.
 */
#ifndef NTPROF_CORE_SELECT_H
#define NTPROF_CORE_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "shared/selection.h"

/*
 * Room, here and in the header of a stream, for the options as the user wrote them. Longer ones are
 * cut and end with "...".
 */
#define SELECT_SAID_LEN 256

/**
 * struct select - which commands
 * @by: conditions on facts known when a command begins
 * @failed: only commands that did not end successfully
 * @slower_ns: only commands that took this long or longer
 * @device: only commands of this device; NULL: of any. Where commands are traced, select_device()
 *          makes it a part of @by. Recorded commands are matched by the device names in the
 *          recording
 * @device_transports: of its controllers, see &device.transports; 0: there is none
 * @device_origin: where the option was given, "FILE:LINE"; NULL: on the command line
 * @cgroup: only commands of this cgroup and of cgroups below it, see cgroup_path(); "": of any.
 *          Where commands are traced, select_cgroup() makes it a part of @by
 * @cgroup_origin: as @device_origin
 * @pids, @comm: only commands that such a process submitted, and one of that name, see &struct
 *         origin; only of recorded commands
 * @said: all of these options as the user wrote them, "" if there are none; what a shell would not
 *        take as it is has quotes
 */
struct select {
	struct nt_selection by;
	bool failed;
	uint64_t slower_ns;
	const char *device;
	unsigned int device_transports;
	const char *device_origin;
	char cgroup[ORIGIN_CGROUP_LEN];
	const char *cgroup_origin;
	struct nt_ranges pids;
	char comm[ORIGIN_COMM_LEN];
	char said[SELECT_SAID_LEN];
};

/**
 * select_said() - append an accepted option of a selection to @said; @arg: its argument, or NULL
 */
void select_said(struct select *s, const char *option, const char *arg);

/** select_told() - whether @said is whole */
bool select_told(const char *said);

/**
 * select_ctrl() and the others - read the argument of an option
 * @s: the values are added here. Numbers, ranges and words may be several, separated by commas, and
 *     the option may be repeated. Names of subsystems and hosts are single: the last one counts
 * @text: the argument
 *
 * select_ctrl() takes nvmeN and controller ids; select_size() takes sizes as parse_size() does. All
 * except select_op() and select_ctrl() take ranges, such as 4k-128k.
 *
 * Return: NULL, or why the text is wrong, in words that follow the text in a message.
 */
const char *select_ctrl(struct nt_selection *s, const char *text);
const char *select_nqn(struct nt_selection *s, const char *text);
const char *select_hostnqn(struct nt_selection *s, const char *text);
const char *select_nsid(struct nt_selection *s, const char *text);
const char *select_queue(struct nt_selection *s, const char *text);
const char *select_op(struct nt_selection *s, const char *text);
const char *select_size(struct nt_selection *s, const char *text);
const char *select_lba(struct nt_selection *s, const char *text);

/**
 * select_device() - select only commands of a device: of its namespace, by its controller, or by
 * all controllers of its subsystem
 * @s: already contains all other options
 * @sysfs: see device_find()
 * @path: the device
 * @transports: filled, see &device.transports
 *
 * Return: NULL, or why the device cannot be selected, in words that follow the path in a message.
 */
const char *select_device(struct nt_selection *s, const char *sysfs, const char *path,
			  unsigned int *transports);

/**
 * select_cgroup() - select only commands of the cgroup, on this machine
 *
 * Return: NULL, or why the cgroup cannot be selected.
 */
const char *select_cgroup(struct nt_selection *s, const char *path);

/** select_pid(), select_comm() - read the argument of an option; Return: as select_ctrl() */
const char *select_pid(struct select *s, const char *text);
const char *select_comm(struct select *s, const char *text);

/** selects_origin() - whether @s selects a command by where it comes from; @o: NULL: not known */
bool selects_origin(const struct select *s, const struct origin *o);

/**
 * selects_queue() - whether @s selects commands of a queue of @side, as far as it depends on the
 * queue
 */
bool selects_queue(const struct nt_selection *s, enum nt_side side, const struct queue_info *q);

/**
 * selects_record() - whether @s selects a command that has ended
 * @s: selects its queue
 * @r: its record
 */
bool selects_record(const struct select *s, const struct nt_record *r);

#endif /* NTPROF_CORE_SELECT_H */
