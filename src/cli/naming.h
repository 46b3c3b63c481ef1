/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names for the records of a tracer: of connections, of the devices of their namespaces, and of
 * origins. Each is announced once, with its first record.
 */
#ifndef NTPROF_CLI_NAMING_H
#define NTPROF_CLI_NAMING_H

#include "merge/places.h"
#include "trace/announce.h"

/*
 * [slot]: the connection and its namespace that were looked up last, for which nothing is left to
 * do.
 */
struct naming_seen {
	uint32_t gen;
	uint32_t nsid;
};

/** struct naming - what was announced; begins with naming_init() */
struct naming {
	struct announced announced;
	struct places *places;
	struct naming_seen *seen;
	uint32_t nr_seen;
	bool origin_told[ORIGIN_OTHERS + 1];
};

/** naming_init() - begin; naming_free() is due in either case. Return: 0 or -ENOMEM */
int naming_init(struct naming *n);

/**
 * naming_queue() - whether a record's connection is new, or more of it is known than before
 * @q: filled if so
 *
 * Return: 1 if so, 0 if not, -ENOMEM.
 */
int naming_queue(struct naming *n, const struct tracer *t, const struct nt_record *r,
		 struct queue_info *q);

/**
 * naming_device() - the same for the device of the record's namespace; call it after naming_queue()
 *
 * A device that cannot be found is not looked up again.
 */
int naming_device(struct naming *n, const struct nt_record *r, struct device_name *d);

/** naming_origin() - the same for the record's origin, if records have one */
int naming_origin(struct naming *n, const struct tracer *t, const struct nt_record *r,
		  struct origin *o);

/** naming_free() - release */
void naming_free(struct naming *n);

#endif /* NTPROF_CLI_NAMING_H */
