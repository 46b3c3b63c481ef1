/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names for the records of a tracer: of connections, of the devices of their namespaces, and of
 * origins. Each is announced once, with its first record.
 */
#ifndef NTPROF_CLI_ANNOUNCED_NAMES_H
#define NTPROF_CLI_ANNOUNCED_NAMES_H

#include "merge/places.h"
#include "trace/announce.h"

/*
 * [slot]: the connection and its namespace that were looked up last, for which nothing is left to
 * do.
 */
struct announced_names_seen {
	uint32_t gen;
	uint32_t nsid;
};

/** struct announced_names - the announced names; begins with announced_names_init() */
struct announced_names {
	struct announced announced;
	struct places *places;
	struct announced_names_seen *seen;
	uint32_t nr_seen;
	bool origin_told[ORIGIN_OTHERS + 1];
};

/** announced_names_init() - begin; announced_names_free() is due in either case. Return: 0 or
 * -ENOMEM */
int announced_names_init(struct announced_names *n);

/**
 * announced_names_queue() - whether a record's connection is new, or more of it is known than
 * before
 * @q: filled if so
 *
 * Return: 1 if so, 0 if not, -ENOMEM.
 */
int announced_names_queue(struct announced_names *n, const struct tracer *t,
			  const struct nt_record *r, struct queue_info *q);

/**
 * announced_names_device() - the same for the device of the record's namespace; call it after
 * announced_names_queue()
 *
 * A device that cannot be found is not looked up again. For a command that was refused before its
 * namespace mattered none is looked up.
 */
int announced_names_device(struct announced_names *n, const struct nt_record *r,
			   struct device_name *d);

/** announced_names_origin() - the same for the record's origin, if records have one */
int announced_names_origin(struct announced_names *n, const struct tracer *t,
			   const struct nt_record *r, struct origin *o);

/** announced_names_free() - release */
void announced_names_free(struct announced_names *n);

#endif /* NTPROF_CLI_ANNOUNCED_NAMES_H */
