/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine's names of the places where its commands come from and go to: disks, paths to
 * controllers, CPUs and cgroups. They belong to one recording, or to a tracer. Memory is bounded:
 * entries that were told first and are not in use are dropped, and their places then have no name.
 */
#ifndef NTPROF_MERGE_PLACES_H
#define NTPROF_MERGE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "core/group.h"
#include "core/select.h"
#include "merge/connection.h"
#include "merge/groups.h"
#include "shared/points.h"

/* The most connections, and the most namespaces, that are known at a time. */
#ifndef PLACES_MAX
#define PLACES_MAX 65536u
#endif

struct places;

/** places_new() - no places yet; NULL when memory ran out */
struct places *places_new(void);

/** places_queue(), places_device(), places_origin() - add one; Return: 0 or -ENOMEM */
int places_queue(struct places *p, const struct queue_info *q);
int places_device(struct places *p, const struct device_name *d);
int places_origin(struct places *p, const struct origin *o);

/** places_forget() - drop a connection that has no more records */
void places_forget(struct places *p, uint32_t slot, uint32_t gen);

/** places_gave_way() - number of entries that were dropped; @p may be NULL */
uint64_t places_gave_way(const struct places *p);

/**
 * places_ask() - whether the device of a record still has to be added
 * @d: then filled with that device, except for @name
 *
 * Return: false if the device was added before, if the command belongs to no device, or if its
 * connection or the connection's subsystem is not known.
 */
bool places_ask(const struct places *p, const struct nt_record *r, struct device_name *d);

/**
 * places_device_of() - the device of a record, valid until more are added; NULL if it is not known
 */
const struct device_name *places_device_of(const struct places *p, const struct nt_record *r);

/** places_ends() - the ends of a record's connection; NULL if it was not announced */
const struct queue_ends *places_ends(const struct places *p, const struct nt_record *r);

/**
 * places_name() - fill the keys of @name that are places and are in @by; @r: the command's record
 */
void places_name(const struct places *p, const struct group_by *by, const struct nt_record *r,
		 struct group_name *name);

/** places_origin_of() - where a command comes from; NULL if that is not known */
const struct origin *places_origin_of(const struct places *p, const struct nt_record *r);

/** places_cpu() - the CPU that submitted a command; ORIGIN_NO_CPU if it is not known */
uint16_t places_cpu(const struct places *p, const struct nt_record *r);

/**
 * places_ctrl() - fill @name with the name of a record's controller; empty if it is not known
 * @machine: its machine if there are several, or NULL
 */
void places_ctrl(const struct places *p, enum nt_side side, const struct nt_record *r,
		 const char *machine, struct group_name *name);

/**
 * places_takes() - whether a command is of the selected cgroup, process and device, if any are
 * selected: see &struct select
 */
bool places_takes(const struct places *p, const struct select *s, const struct nt_record *r);

/**
 * places_takes_far() - places_takes() for a command that only the target has recorded; its device
 * is looked up among those that @host knows
 */
bool places_takes_far(const struct places *host, const struct select *s,
		      const struct merge_connection *c, const struct nt_record *r);

/**
 * places_devices() - list the names of all devices
 * @device: NULL, or a device to look for, with or without "/dev/" in front
 * @buf: filled with the names, each once, as far as they fit
 *
 * Return: whether @device is one of them.
 */
bool places_devices(const struct places *p, const char *device, char *buf, size_t size);

/** places_free() - release; NULL is fine */
void places_free(struct places *p);

/*
 * Names a recorded command by the keys of --by, and adds it to the group of that name. Both sides
 * may have recorded the command, or only one.
 */

/**
 * struct group_recorder - the recording that a command is from
 * @machine: name of its host, if there are several hosts; NULL: "nvme0" is enough
 * @source: [side] where the points are from; NULL for a side that is not there
 * @stream: number of the host's stream, or of the only one. Controllers of two streams are
 *          different ones, even if their names are the same.
 * @began_ns: when the recording began, its own clock
 * @to_common: is added to its times, to get those of the common clock
 * @sample: one command in this many was measured; 0 and 1: every one
 * @places: the recording's names of devices, paths and origins; NULL: none
 * @split: the stages of the command; NULL: not known
 */
struct group_recorder {
	const char *machine;
	const char *source[NT_SIDES];
	unsigned int stream;
	uint64_t began_ns;
	int64_t to_common;
	uint32_t sample;
	const struct places *places;
	const struct group_split *split;
};

/** group_name_merged() - fill @name with the keys of @by; @r: the host's record */
void group_name_merged(struct group_name *name, const struct group_by *by,
		       const struct merge_connection *c, const struct nt_record *r,
		       const struct group_recorder *who);

/**
 * group_name_side() - the same for a command of one side; @q: NULL if its queue was not announced
 */
void group_name_side(struct group_name *name, const struct group_by *by, enum nt_side side,
		     const struct queue_info *q, const struct nt_record *r,
		     const struct group_recorder *who);

/**
 * groups_add_record() - count a command in the group of this name
 * @r: its record; its latency counts. That of a failed command counts only where groups are by
 *     status.
 *
 * Return: 0 or -ENOMEM.
 */
int groups_add_record(struct groups *g, const struct group_name *name, const struct nt_record *r,
		      const struct group_recorder *who);

/*
 * The machines that the streams come from, as the headers of the streams describe them: their
 * names, the points that their kernels lack. The caller numbers the streams.
 */

/*
 * Room for a host name of Linux (__NEW_UTS_LEN), the end of a label in parentheses, and the
 * terminator.
 */
#define MACHINE_NAME_LEN (64 + 1 + MACHINE_LABEL_MAX + 1 + 1)
#define MACHINE_LABEL_MAX 40

/**
 * struct machine - the machine of one stream
 * @known: its header has come; if not, all else is 0
 * @name: host name, for display
 * @sample: about one command in this many was measured; 0 and 1: every one
 * @missing: bits of the points that no probe gives there
 */
struct machine {
	bool known;
	enum nt_side side;
	char name[MACHINE_NAME_LEN];
	uint32_t sample;
	uint32_t missing;
};

/**
 * struct machines - all of them; all zero at the beginning
 * @machine: [stream] of @nr streams
 * @told: how often machines_set() was called
 */
struct machines {
	struct machine *machine;
	unsigned int nr;
	unsigned int told;
};

/** machines_init() - begin with @nr unknown machines; Return: 0 or -ENOMEM */
int machines_init(struct machines *m, unsigned int nr);

/**
 * machines_set() - set the machine of a stream, when its header has come
 * @m: machines
 * @stream: number of the stream, below @nr
 * @what: copied, without @known
 * @label: "a.ntp", "peer 2": becomes the name if that is empty, and a part of it if another machine
 *         of the same side has the same name
 */
void machines_set(struct machines *m, unsigned int stream, const struct machine *what,
		  const char *label);

/**
 * machines_get() - the machine of a stream; if @m is NULL, or has no such stream, one whose @known
 * is false
 */
const struct machine *machines_get(const struct machines *m, unsigned int stream);

/** machines_free() - release */
void machines_free(struct machines *m);

#endif /* NTPROF_MERGE_PLACES_H */
