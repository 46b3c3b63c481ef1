/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine's names of the places where its commands come from and go to: disks, paths to
 * controllers, CPUs and cgroups. They belong to one recording, or to a tracer. Memory is bounded:
 * the oldest entries are dropped, and their places then have no name.
 */
#ifndef NTPROF_MERGE_PLACES_H
#define NTPROF_MERGE_PLACES_H

#include "core/device.h"
#include "core/group.h"
#include "core/origin.h"
#include "core/queue.h"
#include "core/select.h"
#include "merge/connection.h"

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

/**
 * places_ask() - find the device that has to be added before the device of a record has a name
 * @d: filled except for @name
 *
 * Return: whether there is one: the record's connection is known and it can have a device, which
 * was not added yet.
 */
bool places_ask(const struct places *p, const struct nt_record *r, struct device_name *d);

/**
 * places_name() - fill the keys of @name that are places and are in @by; @r: the command's record
 */
void places_name(const struct places *p, const struct group_by *by, const struct nt_record *r,
		 struct group_name *name);

/**
 * places_ctrl() - fill @name with the name of a record's controller; empty if it is not known
 * @machine: its machine if there are several, or NULL
 */
void places_ctrl(const struct places *p, enum nt_side side, const struct nt_record *r,
		 const char *machine, struct group_name *name);

/**
 * places_takes() - whether a command is of the selected cgroup and device, if any are selected: see
 * &struct select
 */
bool places_takes(const struct places *p, const struct select *s, const struct nt_record *r);

/**
 * places_takes_far() - places_takes() for a target's record without one of the host, by the host's
 * names of devices
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

#endif /* NTPROF_MERGE_PLACES_H */
