/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a machine calls the places that its commands come from and go to: disks, paths to controllers, CPUs and cgroups.
 * Of one recording, or of a tracer. Memory is bounded: what was told first gives way, and has no name then.
 */
#ifndef NTPROF_MERGE_PLACES_H
#define NTPROF_MERGE_PLACES_H

#include "core/device.h"
#include "core/group.h"
#include "core/origin.h"
#include "core/queue.h"
#include "core/select.h"
#include "merge/connection.h"

/* Connections, and namespaces, that are known at a time. */
#ifndef PLACES_MAX
#define PLACES_MAX 65536u
#endif

struct places;

/** places_new() - knows nothing; NULL when memory ran out */
struct places *places_new(void);

/** places_queue(), places_device(), places_origin() - one is told of; Return: 0 or -ENOMEM */
int places_queue(struct places *p, const struct queue_info *q);
int places_device(struct places *p, const struct device_name *d);
int places_origin(struct places *p, const struct origin *o);

/**
 * places_ask() - which device is to be told for a record to have a name for its own
 * @d: filled but for @name
 *
 * Return: whether there is one: its connection is known, its namespace has a device, which was not told yet.
 */
bool places_ask(const struct places *p, const struct nt_record *r, struct device_name *d);

/** places_name() - fill what @name is @by of them; @r: whose command it is */
void places_name(const struct places *p, const struct group_by *by, const struct nt_record *r,
		 struct group_name *name);

/**
 * places_ctrl() - @name is filled with what a record's controller is called, and else empty
 * @machine: whose it is, where there are several; or NULL
 */
void places_ctrl(const struct places *p, enum nt_side side, const struct nt_record *r,
		 const char *machine, struct group_name *name);

/** places_takes() - whether a command is of the cgroup, and the device, that are selected, if they are: see &struct select */
bool places_takes(const struct places *p, const struct select *s, const struct nt_record *r);

/** places_takes_far() - the same of a record of the other side, of which the host has none, by what @host calls its device */
bool places_takes_far(const struct places *host, const struct select *s,
		      const struct merge_connection *c, const struct nt_record *r);

/**
 * places_devices() - what devices are called that were told
 * @device: NULL, or one that is looked for, with or without "/dev/" in front
 * @buf: filled with their names, each once, as far as they fit
 *
 * Return: whether it is one of them.
 */
bool places_devices(const struct places *p, const char *device, char *buf, size_t size);

/** places_free() - release; NULL is fine */
void places_free(struct places *p);

#endif /* NTPROF_MERGE_PLACES_H */
