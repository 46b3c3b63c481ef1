/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who the commands of a tracer's records are: connections, and the devices of their namespaces, each told once, when the
 * first record of it comes.
 */
#ifndef NTPROF_CLI_NAMING_H
#define NTPROF_CLI_NAMING_H

#include "merge/places.h"
#include "trace/announce.h"

/* A namespace of a connection that needs no look-up any more: by slot. */
struct naming_seen {
	uint32_t gen;
	uint32_t nsid;
};

/** struct naming - begins with naming_init() */
struct naming {
	struct announced announced;
	struct places *places;
	struct naming_seen *seen;
	uint32_t nr_seen;
	bool origin_told[ORIGIN_OTHERS + 1];
};

/** naming_init() - Return: 0 or -ENOMEM; naming_free() is due in either case */
int naming_init(struct naming *n);

/**
 * naming_queue() - whether a record's connection is new, or more is known of it
 * @q: filled where it is
 *
 * Return: 1 if so, 0 if not, -ENOMEM.
 */
int naming_queue(struct naming *n, const struct tracer *t, const struct nt_record *r,
		 struct queue_info *q);

/** naming_device() - after naming_queue(): the same of its namespace's device; one that cannot be found is not asked for again */
int naming_device(struct naming *n, const struct nt_record *r, struct device_name *d);

/** naming_origin() - the same of where it comes from, if records say that */
int naming_origin(struct naming *n, const struct tracer *t, const struct nt_record *r,
		  struct origin *o);

/** naming_free() - release */
void naming_free(struct naming *n);

#endif /* NTPROF_CLI_NAMING_H */
