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

/* Connections, and namespaces, that are known at a time. */
#ifndef PLACES_MAX
#define PLACES_MAX 4096u
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

/** places_takes() - whether a command is of the cgroup that is selected, if one is: see &select.cgroup */
bool places_takes(const struct places *p, const struct select *s, const struct nt_record *r);

/** places_free() - release; NULL is fine */
void places_free(struct places *p);

#endif /* NTPROF_MERGE_PLACES_H */
