/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A selection of commands as people write it, and whether recorded commands are in it. The same one goes to the
 * BPF programs: core/selection.h.
 */
#ifndef NTPROF_CORE_SELECT_H
#define NTPROF_CORE_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/origin.h"
#include "core/queue.h"
#include "core/selection.h"

/* What a stream has room for: options as they were said. Longer ones are cut, which shows. */
#define SELECT_SAID_LEN 256

/**
 * struct select - which commands
 * @by: what is known of them when they begin
 * @failed: those that did not end well
 * @slower_ns: those that took as long or longer
 * @device: those of this device; NULL: of any. Where commands are traced, once select_device() has made it a part of @by;
 *          recorded ones are known by the names that the recording has for devices
 * @device_origin: where that was said, "FILE:LINE"; NULL: on the command line
 * @cgroup: those of this one, and of cgroups below it, see cgroup_path(); "": of any. Once select_cgroup() has made it a part of
 *          @by, where commands are traced
 * @cgroup_origin: as @device_origin
 * @said: all of that as it was said, "" where nothing was
 */
struct select {
	struct nt_selection by;
	bool failed;
	uint64_t slower_ns;
	const char *device;
	const char *device_origin;
	char cgroup[ORIGIN_CGROUP_LEN];
	const char *cgroup_origin;
	char said[SELECT_SAID_LEN];
};

/** select_said() - note an option of a selection that is taken; @arg: its argument, or NULL */
void select_said(struct select *s, const char *option, const char *arg);

/**
 * select_ctrl() and the others - read the argument of an option
 * @s: what it gives is added: numbers, ranges and words may be given several at a time, with commas, and again.
 *     Of names of subsystems and hosts there is one, the last
 * @text: the argument
 *
 * select_ctrl() takes nvmeN and controller ids; select_size() sizes as parse_size() has them; all but select_op() and
 * select_ctrl() ranges, such as 4k-128k.
 *
 * Return: NULL, or why it is none, in words that follow it.
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
 * select_device() - commands of a device only: of its namespace, by its controller, or by all of its subsystem
 * @s: all else that is given is in it already
 * @sysfs: see device_find()
 * @path: the device
 *
 * Return: NULL, or why it is none, in words that follow it.
 */
const char *select_device(struct nt_selection *s, const char *sysfs, const char *path);

/** select_cgroup() - commands of the cgroup only, on this machine; Return: NULL, or why it is none */
const char *select_cgroup(struct nt_selection *s, const char *path);

/** selects_queue() - whether commands of a queue of @side are selected, as far as the queue says it */
bool selects_queue(const struct nt_selection *s, enum nt_side side, const struct queue_info *q);

/**
 * selects_record() - whether a command is selected that has ended
 * @s: its queue is selected
 * @r: its record
 */
bool selects_record(const struct select *s, const struct nt_record *r);

#endif /* NTPROF_CORE_SELECT_H */
